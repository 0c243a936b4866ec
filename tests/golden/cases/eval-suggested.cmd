# The mapping that eval shows to a user without one is evaluated as it stands.
for w in workloads/attention/g1.yaml workloads/conv-chain/c3.yaml workloads/gemm.yaml; do
  tileflow eval arch-specs/edge.yaml $w 2>&1 | sed -n '/^mapping/,$p' >$OUT/m.yaml
  tileflow eval arch-specs/edge.yaml $w $OUT/m.yaml --quiet && echo "$w: evaluated"
done
