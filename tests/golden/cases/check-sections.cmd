# A line for each section that was read, whichever there are.
tileflow check arch-specs/edge.yaml
tileflow check workloads/attention/g1.yaml
tileflow check tests/golden/in/softmax.yaml
sed -n '/^mapping/,$p' tests/golden/in/chain.yaml >$OUT/mapping.yaml
tileflow check $OUT/mapping.yaml
tileflow check $OUT/mapping.yaml arch-specs/edge.yaml
tileflow check tests/golden/in/chain.yaml --quiet
sed 's/m=32$/m=?/' tests/golden/in/chain.yaml >$OUT/open.yaml
tileflow check $OUT/open.yaml
echo 'params: {a: 1}' >$OUT/params.yaml
tileflow check $OUT/params.yaml
