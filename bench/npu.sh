#!/bin/sh
# Chains of matrix products, attention and chains of convolutions on one core of the simulated Ascend 910: as tileflow emits them, and op by op, each
# through global memory.  Writes a CSV: cycles simulated and the model's, the share of the time that the cube works.  CHAINS: some of the three.
#   bench/npu.sh TILEFLOW > docs/results/npu.csv
set -u
. "$(dirname "$0")/lib.sh"
begin "$(dirname "$0")/.." "${1:?usage: $0 TILEFLOW > docs/results/npu.csv}"

# All 32 cores work at once on parts of their own, and each has a 32nd of what they share.
arch=$scratch/core.yaml
sed 's/bandwidth: 1.2 TB\/s/bandwidth: 37.5 GB\/s/; s/bandwidth: 4 TB\/s/bandwidth: 125 GB\/s/' arch-specs/ascend910.yaml >"$arch"
[ "$(grep -c '37.5 GB/s\|125 GB/s' "$arch")" = 2 ] || { echo "$0: ascend910.yaml has other bandwidths" >&2; exit 1; }

# simulate WORKLOAD: $cycles, $predicted, $cube (cycles), $fused of what is emitted for it.
simulate() {
  rm -rf "$scratch/k"
  "$tool" emit "$arch" "$1" --target npu --seed 1 --quiet -o "$scratch/k" || exit 1
  "$tool" npu "$scratch/k/kernel.npu" --timing --json "$scratch/run.json" >"$scratch/report" || exit 1
  cycles=$(sed -n 's/^  "cycles": \([0-9.e+]*\).*/\1/p' "$scratch/run.json")
  cube=$(awk -F '[:,]' '/"name"/ { name = $2 } /"busy"/ && name ~ /"cube"/ { print $2 }' "$scratch/run.json")
  predicted=$(sed -n 's/.*"model_cycles": \([0-9.e+]*\).*/\1/p' "$scratch/k/manifest.json")
  fused=no
  grep -q '"mapping": ".* keep ' "$scratch/k/manifest.json" && fused=yes
}

# op WORKLOAD N: the N-th op alone, with the dims and tensors that it has, which stand on one line or on one each.
op() {
  awk -v n="$2" '
    function kept(entry, name) { name = entry; sub(/:.*/, "", name); gsub(/ /, "", name); return line ~ "(^|[^A-Za-z0-9_])" name "([^A-Za-z0-9_]|$)" }
    /^  - / && ++k == n { line = $0 }
    /^params:|^workload:|^  name:/ { head = head $0 "\n" }
    /^  [a-z]+:/ { part = $1 }
    /^  dims: [{]/ { flow = $0; gsub(/^  dims: [{]|[}]$/, "", flow); count = split(flow, entry, /, /) }
    /^    [A-Za-z]/ { sub(/ *#.*/, ""); if (part == "dims:") entry[++count] = substr($0, 5); else if (part == "tensors:") tensor[++tensors] = $0 }
    END {
      if (line == "") exit
      printf "%s  dims:\n", head
      for (i = 1; i <= count; i++) if (kept(entry[i])) print "    " entry[i]
      for (i = 1; i <= tensors; i++) if (kept(tensor[i])) { if (!any++) print "  tensors:"; print tensor[i] }
      printf "  ops:\n%s\n", line
    }' "$1" >"$scratch/op.yaml"
}

echo "chain,case,cycles,predicted,error,fused,cube_share,apart,speed_up"
for chain in ${CHAINS:-gemm-chain attention conv-chain}; do
  for file in $(ls workloads/$chain/*.yaml | sort -V); do
    simulate "$file"
    set -- "$cycles" "$predicted" "$cube" "$fused"
    n=1
    apart=0
    while op "$file" $n && [ -s "$scratch/op.yaml" ]; do
      simulate "$scratch/op.yaml"
      apart=$(awk -v a="$apart" -v c="$cycles" 'BEGIN { printf "%.0f", a + c }')
      n=$((n + 1))
    done
    awk -v chain=$chain -v name="$(basename "$file" .yaml)" -v c="$1" -v p="$2" -v cube="$3" -v fused="$4" -v apart="$apart" 'BEGIN {
      printf "%s,%s,%.0f,%.0f,%.4f,%s,%.3f,%s,%s\n", chain, name, c, p, c / p - 1, fused, cube / c, apart, sprintf("%.3f", apart / c) }'
  done
done
