# Neighbours that hand words on: the examples, as text and JSON, explained; without; what searches and what refuses.
tileflow eval examples/systolic-row.yaml
tileflow eval examples/halo.yaml
tileflow eval examples/halo.yaml --json - | grep -A4 '"network"'
tileflow eval examples/halo.yaml --json - | grep -B3 -A3 '"drain": 44'
sed 's/, peers: true//' examples/halo.yaml >$OUT/alone.yaml
tileflow eval $OUT/alone.yaml | grep -E '^DRAM|^SRAM|^ +[IW] '
tileflow diff $OUT/alone.yaml examples/halo.yaml | sed -n '/words/,/^$/p'
sed '/^mapping/,$d' examples/halo.yaml >$OUT/open.yaml
(cd $OUT && tileflow solve open.yaml 2>&1)
tileflow best $OUT/open.yaml --evals 2000 | sed -n 1,12p
tileflow export examples/halo.yaml --to timeloop -o "$OUT/t" 2>&1 | grep peers
