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
