# The change that explain predicts is made: eval gives the cycles it said, and a tenth less at least.
tileflow explain tests/golden/in/params.yaml --json $OUT/e.json --quiet
factor=$(sed -n 's/.*"factor_for_goal": \([0-9.][0-9.]*\).*/\1/p' $OUT/e.json) # of the buffer alone
said=$(sed -n 's/.*"cycles_at_factor": \([0-9.][0-9.]*\).*/\1/p' $OUT/e.json)
goal=$(sed -n 's/^  "goal": \([0-9.]*\).*/\1/p' $OUT/e.json)
faster=$(awk "BEGIN { printf \"%.15g\", 64 * $factor }")
tileflow eval tests/golden/in/params.yaml --set buffer=$faster --quiet --json $OUT/f.json
have=$(sed -n 's/^  "cycles": \([0-9.]*\).*/\1/p' $OUT/f.json)
echo "buffer=$faster: $have cycles, said $said, goal $goal"
awk "BEGIN { exit !($have <= $goal && $have / $said - 1 < 1e-12 && $said / $have - 1 < 1e-12) }" && echo "it holds"
# Taking no time at all is exactly that.
sed "s/overlap: perfect/overlap: none/" examples/matmul.yaml >"$OUT/soon.yaml"
sed "s/{name: Buffer,/{name: Buffer, latency: 300,/" "$OUT/soon.yaml" >"$OUT/late.yaml"
tileflow explain "$OUT/late.yaml" --json - --quiet | grep -A2 '"latency"'
tileflow eval "$OUT/soon.yaml" --json - --quiet | grep '^  "cycles"'
