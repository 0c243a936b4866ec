#!/bin/sh
# The text of the 32 fused kernels on one core of the Ascend 910 (bench/npu.sh has that core): cycles simulated and expected, lines and bytes of
# kernel.npu, and lines that set or wait for a flag.
#   bench/npu-lines.sh TILEFLOW > docs/results/npu-lines.csv
set -u
. "$(dirname "$0")/lib.sh"
begin "$(dirname "$0")/.." "${1:?usage: $0 TILEFLOW > docs/results/npu-lines.csv}"
sed 's/bandwidth: 1.2 TB\/s/bandwidth: 37.5 GB\/s/; s/bandwidth: 4 TB\/s/bandwidth: 125 GB\/s/' arch-specs/ascend910.yaml >"$scratch/core.yaml"
echo "chain,case,cycles,expected,lines,bytes,flags"
for file in $(ls workloads/gemm-chain/*.yaml workloads/attention/*.yaml workloads/conv-chain/*.yaml | sort -V); do
  rm -rf "$scratch/k"
  "$tool" emit "$scratch/core.yaml" "$file" --target npu --seed 1 --threads 1 --quiet -o "$scratch/k" || exit 1
  "$tool" npu "$scratch/k/kernel.npu" --timing --json "$scratch/run.json" >"$scratch/report" || exit 1
  cycles=$(sed -n 's/^  "cycles": \([0-9.e+]*\).*/\1/p' "$scratch/run.json")
  expected=$(sed -n 's/.*"predicted": {"cycles": \([0-9.e+]*\).*/\1/p' "$scratch/k/manifest.json")
  text=$scratch/k/kernel.npu
  echo "$(basename "$(dirname "$file")"),$(basename "$file" .yaml),$cycles,$expected,$(($(wc -l <"$text"))),$(($(wc -c <"$text"))),$(grep -c '^ *\(set\|wait\) ' "$text")"
done
