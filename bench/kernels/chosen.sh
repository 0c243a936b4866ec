#!/bin/sh
# The model's first choice beside the best of N kernels that `emit --measure N` times, processor time of one thread; as many cases at once
# as there are cores.  CSV on stdout; about a quarter of an hour on two cores.
#   bench/kernels/chosen.sh TILEFLOW [N [CASE...]]     N: 50; CASE: a workload's file, with a type of data where that is not f32: FILE:bf16
#   KEPT=DIR    keeps each row as it is measured, and the description of the computer: a run that was ended goes on with the rest
# first_seconds, best_seconds: as --measure timed them (the best of N noisy times is below the mean of each); best_over_first: the two kernels
# again, in turn, the median of 11 ratios.
set -u
usage="usage: $0 TILEFLOW [N [CASE...]]"
. "$(dirname "$0")/../lib.sh"
begin "$(dirname "$0")/../.." "${1:?$usage}"
most=${2:-50}
w=workloads
[ $# -gt 2 ] && shift 2 || set -- $w/gemm-chain/g1.yaml $w/gemm-chain/g5.yaml $w/gemm-chain/g10.yaml $w/gemm-chain/g4.yaml:bf16 $w/attention/g1.yaml \
  $w/attention/g7.yaml $w/attention/g12.yaml $w/attention/g6.yaml:bf16 $w/conv-chain/c2.yaml $w/conv-chain/c4.yaml $w/conv-chain-relu/c1.yaml \
  $w/matmul-exp-matmul.yaml $w/conv/yolo-c8.yaml $w/conv/resnet18-c10.yaml $w/models/causal.yaml $w/models/attention-decode.yaml \
  $w/models/depthwise-28.yaml $w/models/gated-mlp.yaml $w/models/norm-product.yaml $w/mlp.yaml
export OMP_NUM_THREADS=1 KERNELS="${KEPT:-$scratch/kept}"
mkdir -p "$KERNELS" && host 1
export ARCH="$host"
gcc -O2 -shared -fPIC bench/kernels/own_time.c -o "$scratch/own_time.so" || exit 1
echo "case,kernels,first_seconds,best_seconds,best_rank,best_over_first"
printf '%s\n' "$@" | xargs -P "$(nproc)" -I {} sh bench/kernels/chosen_one.sh "$tool" "$most" "$scratch/own_time.so" {} || exit 1
