#!/bin/sh
# Chains of matrix products, attention and chains of convolutions as tileflow emits them for an NPU, simulated: on one core of the Ascend 910, or on
# ARCH, beside op by op, each through global memory.  Writes a CSV: cycles simulated, those that emit expects and the model's, with how far off these
# are; the busiest queue, and what part of the time it waits between its first and last instruction; the share of the time that the cube works.
# CHAINS: some of the three.  What is simulated is exact, however busy the computer is.
#   bench/npu.sh TILEFLOW > docs/results/npu.csv
#   ARCH=arch-specs/npu.yaml bench/npu.sh TILEFLOW > docs/results/npu-small.csv
set -u
. "$(dirname "$0")/lib.sh"
begin "$(dirname "$0")/.." "${1:?usage: $0 TILEFLOW > docs/results/npu.csv}"

# All 32 cores work at once on parts of their own, and each has a 32nd of what they share.
arch=${ARCH:-$scratch/core.yaml}
sed 's/bandwidth: 1.2 TB\/s/bandwidth: 37.5 GB\/s/; s/bandwidth: 4 TB\/s/bandwidth: 125 GB\/s/' arch-specs/ascend910.yaml >"$scratch/core.yaml"
[ "$(grep -c '37.5 GB/s\|125 GB/s' "$scratch/core.yaml")" = 2 ] || { echo "$0: ascend910.yaml has other bandwidths" >&2; exit 1; }

# predicted KEY: of the manifest.
predicted() {
  sed -n "s/.*\"predicted\": {.*\"$1\": \"*\([^,\"}]*\).*/\1/p" "$scratch/k/manifest.json"
}

# simulate WORKLOAD: $cycles, $expected, $model, $queue, $stall, $cube (cycles), $fused of what is emitted for it.
simulate() {
  rm -rf "$scratch/k"
  "$tool" emit "$arch" "$1" --target npu --seed 1 --quiet -o "$scratch/k" || exit 1
  "$tool" npu "$scratch/k/kernel.npu" --timing --json "$scratch/run.json" >"$scratch/report" || exit 1
  cycles=$(sed -n 's/^  "cycles": \([0-9.e+]*\).*/\1/p' "$scratch/run.json")
  cube=$(awk -F '[:,]' '/"name"/ { name = $2 } /"busy"/ && name ~ /"cube"/ { print $2 }' "$scratch/run.json")
  expected=$(predicted cycles)
  model=$(predicted model_cycles)
  queue=$(predicted queue)
  stall=$(predicted stall)
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

echo "chain,case,cycles,expected,error,model,model_error,queue,stall_share,fused,cube_share,apart,speed_up"
for chain in ${CHAINS:-gemm-chain attention conv-chain}; do
  for file in $(ls workloads/$chain/*.yaml | sort -V); do
    simulate "$file"
    set -- "$cycles" "$expected" "$model" "$queue" "$stall" "$fused" "$cube"
    n=1
    apart=0
    while op "$file" $n && [ -s "$scratch/op.yaml" ]; do
      simulate "$scratch/op.yaml"
      apart=$(awk -v a="$apart" -v c="$cycles" 'BEGIN { printf "%.0f", a + c }')
      n=$((n + 1))
    done
    awk -v chain=$chain -v name="$(basename "$file" .yaml)" -v c="$1" -v e="$2" -v m="$3" -v q="$4" -v s="$5" -v fused="$6" -v cube="$7" -v apart="$apart" 'BEGIN {
      printf "%s,%s,%.0f,%.0f,%.4f,%.0f,%.4f,%s,%.3f,%s,%.3f,%s,%.3f\n", chain, name, c, e, c / e - 1, m, c / m - 1, q, s / c, fused, cube / c, apart, apart / c }'
  done
done
