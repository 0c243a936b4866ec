#!/bin/sh
# Emitted kernels of the shapes of current models beside PyTorch, in one process with it: CSV on stdout, as bench/kernels/run.sh.
#   bench/kernels/models.sh TILEFLOW f32|bf16 [CASE...]    CASE: of models_peer.py (all), or a pattern, 'attention*'
#   PYTHON=FILE    a Python that has PyTorch (python3); where it has not, it says so, and exits 3
#   THREADS=N      threads of each (1); ISA, ARCH: as bench/kernels/run.sh takes them
#   ROUNDS=N       in which contestants take turns (11)
#   KERNELS=DIR    keeps what was planned from one call to the next
set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/torch_lib.sh"
begin_torch "$@"
shift 2
[ $# -gt 0 ] || set -- '*'
threads=${THREADS:-1}
# The threads of both are those of one OpenMP: two would wait for work on the same cores.
export OMP_NUM_THREADS="$threads" MKL_NUM_THREADS="$threads" TORCHINDUCTOR_CACHE_DIR="$scratch/inductor"
failed=0 w=workloads/models d=workloads/dataflows/cpu
host "$threads"
if [ "$threads" = 1 ]; then openmp=-fopenmp-simd pin="taskset -c 0"; else openmp=-fopenmp pin=; fi

asked() {
  for word in $words; do
    # shellcheck disable=SC2254 # a pattern
    case $1 in $word) return 0 ;; esac
  done
  return 1
}

# model NAME KIND WORKLOAD [MAPPING]: a line for models_peer.py; none where there is no such file
model() {
  name=$1 kind=$2 files="$3 ${4:-}"
  [ -e "$3" ] && asked "$name" || return 0
  # shellcheck disable=SC2086 # two files
  emitted "$host" "$files" --dtype "$dtype" ${ISA:+--isa "$ISA"} && shared_kernel "$scratch/$name.so" $openmp ||
    { echo "$0: no kernel for $name" >&2; failed=1; return; }
  cp "$scratch/k/manifest.json" "$scratch/$name.json"
  echo "$name$suffix $kind $scratch/$name.so $scratch/$name.json $(fields | tr '\n' ' ')" >>"$scratch/cases"
}

words=$*
set -f # patterns are ours to match
: >"$scratch/cases"
model attention-long attention $w/attention-long.yaml
model attention-long-stream attention $w/attention-long.yaml $d/attention-long-stream.yaml
model attention-mask causal $w/attention-mask.yaml
model causal causal $w/causal.yaml
model attention-decode attention $w/attention-decode.yaml
model gated-mlp gated $w/gated-mlp.yaml
model mlp mlp workloads/mlp.yaml
model norm-product norm $w/norm-product.yaml
model depthwise-separable depthwise workloads/depthwise-separable.yaml
model depthwise-28 depthwise $w/depthwise-28.yaml
model bottleneck bottleneck workloads/resnet-bottleneck.yaml
echo "case,contestant,seconds,gflops,share_of_peak,times_slower,beside"
mkl_of_all
preload="$preload $(gcc -print-file-name=libgomp.so.1)"
LD_PRELOAD=$preload $pin "$python" bench/kernels/models_peer.py "$dtype" "$scratch/cases" || failed=1
exit $failed
