# One screen: what was found, its bound, the gap, what is proved and where, the mapping, what limits it, what next; -o writes the mapping.
arch=arch-specs/edge.yaml work=workloads/gemm-chain/g5.yaml
tileflow best $arch $work --evals 3000
tileflow best $arch $work --evals 3000 --threads 1 -o $OUT/best.yaml --json $OUT/best.json --quiet
tileflow eval $arch $work $OUT/best.yaml --json $OUT/eval.json --quiet
for f in best eval; do sed -n 's/^  "cycles": /cycles /p' $OUT/$f.json; done
sed -n '/"search": {/,$p' $OUT/best.json | grep -v seconds
check_json <$OUT/best.json
tileflow best $arch $work --evals 3000 -o - | cmp - $OUT/best.yaml && echo the same
