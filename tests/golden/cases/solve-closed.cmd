# The closed form: its figures beside the model's, the mapping, the JSON's keys; the same bytes twice.
tileflow solve arch-specs/edge.yaml workloads/gemm-chain/g1.yaml --method closed | sed '/^cycles/,$d'
tileflow solve arch-specs/edge.yaml workloads/conv-chain/c7.yaml --method closed --objective traffic | sed '/^cycles/,$d'
tileflow solve arch-specs/edge.yaml workloads/gemm-chain/g10.yaml --method closed --json $OUT/a.json --mapping $OUT/a.yaml --quiet
grep -v '"seconds"' $OUT/a.json | sed -n '/"search"/,$p'
cat $OUT/a.yaml
tileflow eval arch-specs/edge.yaml workloads/gemm-chain/g10.yaml $OUT/a.yaml --json - | grep '"cycles"' | head -1
