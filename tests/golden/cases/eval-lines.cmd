# Lines and banks: the report, the JSON of a memory, and layouts found with a mapping.
tileflow eval examples/banked.yaml
tileflow eval examples/banked.yaml --json - --quiet | grep -A4 bank_cycles
sed '/^layout:/d; /Buffer: {A/d; s/n=8 k=4/n=? k=4/' examples/banked.yaml >$OUT/open.yaml
tileflow search $OUT/open.yaml --evals 400 --threads 1 --mapping $OUT/found.yaml --quiet
cat $OUT/found.yaml
sed '/^mapping:/,$d' $OUT/open.yaml >$OUT/both.yaml
tileflow eval $OUT/both.yaml $OUT/found.yaml | head -4 | tail -2
