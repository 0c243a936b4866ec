# What comes with tileflow, by name: printed, copied, listed; names of none and of several.
try() { tileflow "$@" 2>&1; echo "status $?"; }
tileflow example | sed '/^They lie in/d' | awk 'length > 100 { print } END { print (NR > 100) }'
tileflow example | sed 's/^  *//' | grep -E '^(arch-specs/edge|examples/matmul|workloads/attention/g(2|10))\.yaml'
tileflow example edge | cmp - arch-specs/edge.yaml && tileflow example product.npu | cmp - examples/product.npu && echo same
tileflow example attention/g1 -o $OUT/g1.yaml && tileflow example edge -o $OUT/edge.yaml
tileflow best $OUT/edge.yaml $OUT/g1.yaml --evals 300 | sed 1q
cd $OUT || exit
try example attention/g1 -o g1.yaml
try example attention/g1 -o g1.yaml --force
try example g1
try example edg nonsense arch-specs/nothing.yaml
try example edge g1 -o a.yaml
try example edge -o none/a.yaml
