# Timeloop 0.4 with constraints and Accelergy's tables: a mapping that search completes, energies per word, areas.
tileflow import tests/data/import/conv-04-constraints.yaml tests/data/import/conv-tables.yaml -o "$OUT/native.yaml"
cat "$OUT/native.yaml"
tileflow check "$OUT/native.yaml" | sed 's/^.*native/native/'
