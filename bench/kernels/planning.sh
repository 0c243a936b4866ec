#!/bin/sh
# What `emit` takes to plan and write each kernel of RESULTS-cpu.md's kinds, one core, processor time, the least of three: CSV on stdout.
#   bench/kernels/planning.sh TILEFLOW [OLDER]     OLDER: another build of it, in turn with the first; else its column is empty
set -u
usage="usage: $0 TILEFLOW [OLDER]"
. "$(dirname "$0")/../lib.sh"
older=${2:+$(realpath "$2")}
begin "$(dirname "$0")/../.." "${1:?$usage}"
host 1

# seconds_of TOOL WORKLOAD: user time
seconds_of() {
  rm -rf "$scratch/k"
  bash -c 'TIMEFORMAT=%U; time "$@"' sh "$1" emit "$host" "$2" --seed 1 --target cpu -o "$scratch/k" --quiet --no-test 2>&1 | tail -n 1
}

# least_of TOOL WORKLOAD: of three, if there is such a tool
least_of() {
  [ -z "$1" ] || { seconds_of "$@" && seconds_of "$@" && seconds_of "$@"; } | sort -g | head -n 1
}

echo "workload,seconds,older_seconds"
for name in gemm gemm-chain/g1 gemm-chain/g5 gemm-chain/g10 attention/g1 attention/g7 attention/g12 matmul-exp-matmul mlp models/gated-mlp \
  models/norm-product models/causal models/causal-grouped models/sliding-window models/attention-mask models/attention-long \
  models/attention-decode conv/yolo-c8 conv/resnet18-c8 conv-chain/c2 conv-chain/c4 conv-chain/c6 conv-chain-relu/c1 resnet-bottleneck \
  depthwise-separable models/depthwise-28; do
  echo "$name,$(least_of "$tool" workloads/$name.yaml),$(least_of "$older" workloads/$name.yaml)"
done
