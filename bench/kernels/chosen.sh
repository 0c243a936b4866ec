#!/bin/sh
# The model's first choice beside the best of N kernels that `emit --measure N` times, one core, processor time: CSV on
# stdout.
#   bench/kernels/chosen.sh TILEFLOW [N [WORKLOAD...]]     N: 50
set -eu
tileflow=$(realpath "${1:?usage: $0 TILEFLOW [N [WORKLOAD...]]}")
most=${2:-50}
cd "$(dirname "$0")/../.."
[ $# -gt 2 ] && shift 2 || set -- workloads/gemm-chain/g1.yaml workloads/gemm-chain/g5.yaml workloads/gemm-chain/g10.yaml workloads/attention/g1.yaml \
  workloads/attention/g7.yaml workloads/conv-chain/c2.yaml workloads/conv-chain/c4.yaml workloads/conv-chain-relu/c6.yaml \
  workloads/matmul-exp-matmul.yaml workloads/conv/yolo-c8.yaml
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export OMP_NUM_THREADS=1
gcc -O2 -shared -fPIC bench/kernels/own_time.c -o "$dir/own_time.so"
echo "workload,kernels,first_seconds,best_seconds,best_rank,best_over_first"
for workload; do
  rm -rf "$dir/k"
  LD_PRELOAD=$dir/own_time.so "$tileflow" emit arch-specs/host-template.yaml "$workload" --target cpu --evals 20000 --seed 1 --measure "$most" -o "$dir/k" --quiet || continue
  awk -v workload="$workload" '
    /"measured": \{/ { inside = 1; match($0, /"rank": [0-9]+/); rank = substr($0, RSTART + 8, RLENGTH - 8); next }
    inside && /"seconds": [0-9]/ {
      t = $0; sub(/.*"seconds": /, "", t); sub(/}.*/, "", t); t += 0
      if (!n++) first = t
      if (!best || t < best) best = t
    }
    END { printf "%s,%d,%.6g,%.6g,%d,%.3f\n", workload, n, first, best, rank, best / first }' "$dir/k/manifest.json"
done
