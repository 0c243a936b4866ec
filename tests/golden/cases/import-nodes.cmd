# Timeloop 0.4: tagged nodes, merge keys, parallel scratchpads, loops of containers; Accelergy's tables from a file of their own.
tileflow import tests/data/import/conv-04.yaml tests/data/import/conv-tables.yaml -o "$OUT/native.yaml"
sed '/^#/d' "$OUT/native.yaml"
tileflow eval "$OUT/native.yaml" | tail -n +2
tileflow eval "$OUT/native.yaml" --json - --quiet | grep area
