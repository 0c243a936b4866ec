# An instruction set that changes nothing for float32 is noted, unless --quiet
tileflow emit arch-specs/h100.yaml workloads/gemm.yaml --set M=128 --set N=128 --set K=128 --target cuda --isa sm_90a -o "$OUT/k" >/dev/null
tileflow emit arch-specs/h100.yaml workloads/gemm.yaml --set M=128 --set N=128 --set K=128 --target cuda --isa sm_90a --quiet -o "$OUT/l"
