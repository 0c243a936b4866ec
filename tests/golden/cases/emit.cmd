# What emit writes, its loops, and that it overwrites nothing.
tileflow emit arch-specs/host-template.yaml workloads/gemm-chain/g1.yaml \
  workloads/dataflows/cpu/gemm-chain-rows.yaml --target cpu --isa avx512 --name g1 -o "$OUT/k" --dump-ir --no-test
ls "$OUT/k"
cat "$OUT/k/manifest.json" "$OUT/k/kernel.h"
sed -n '/^static void run/,$p' "$OUT/k/kernel.c"
echo mine >"$OUT/k/README.md"
tileflow emit arch-specs/host-template.yaml workloads/gemm-chain/g1.yaml \
  workloads/dataflows/cpu/gemm-chain-rows.yaml --target cpu -o "$OUT/k" 2>&1 | sed 's/^.*: error/error/'
cat "$OUT/k/README.md"
