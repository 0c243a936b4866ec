# Layouts found with the mapping: what is proved holds however tensors lie, value and gap are of the mapping shown.
sed '/^layout:/,$d' examples/banked.yaml >$OUT/bare.yaml
said() { sed -n '/^  "search": {/,/^  }/p' $OUT/said.json | grep -E '"(method|value|bound|proved|space_proved|stopped_by|of|evaluations|value_before)":'; }
tileflow best $OUT/bare.yaml --evals 2000 --json $OUT/said.json -o $OUT/found.yaml | sed '/^DRAM/q'
said
tileflow eval $OUT/bare.yaml $OUT/found.yaml | grep '^cycles'
sed '/^layout:/,$d; s/64/10/g' examples/banked.yaml >$OUT/small.yaml
tileflow best $OUT/small.yaml --evals 2000 --objective traffic --json $OUT/said.json | sed '/^DRAM/q'
said
# Another layout of the mapping given; the commands that come next.
sed -n '/^layout:/,/^mapping:/p' examples/banked.yaml | sed '/^mapping/d' >$OUT/lie.yaml
printf 'mapping: |\n  DRAM for m=2\n    Buffer for n=10 k=10 spatial m=5@x\n      op C\n' >$OUT/map.yaml
tileflow best $OUT/small.yaml $OUT/map.yaml --evals 1 | grep -E 'given|layout|lay|Next'
tileflow best $OUT/small.yaml $OUT/lie.yaml $OUT/map.yaml --evals 1 | sed -n '/Next/,/eval/p' | sed "s,$OUT/,,g"
cat $OUT/lie.yaml $OUT/map.yaml >$OUT/both.yaml
tileflow best $OUT/small.yaml $OUT/both.yaml --evals 1 | sed -n '/Next/,/eval/p' | sed "s,$OUT/,,g"
cat $OUT/small.yaml $OUT/both.yaml >$OUT/all.yaml
tileflow best $OUT/all.yaml --evals 1 | sed -n '/Next/,/eval/p' | sed "s,$OUT/,,g"
tileflow search $OUT/bare.yaml --evals 400 | sed 2q
