# CUDA's kernels in other frameworks' words: text to stdout, and a folder with JSON; a split product, and attention
tileflow emit arch-specs/h100.yaml workloads/gemm.yaml --set M=128 --set N=128 --set K=16384 --target hints --dtype bf16 --quiet
tileflow emit arch-specs/h100.yaml workloads/models/causal.yaml --target hints --dtype bf16 --isa sm_90a --quiet -o "$OUT/k"
sed '/"tileflow"/d' "$OUT/k/hints.json"
