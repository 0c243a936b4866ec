#!/bin/sh
# Emitted kernels beside PyTorch, one core, in one process with it: CSV on stdout, as bench/kernels/run.sh.
#   bench/kernels/torch.sh TILEFLOW f32|bf16 [CASE...]     G1 to G12 with and without softmax, or those named: G1 G1-softmax
#   PYTHON=FILE    a Python that has PyTorch (python3); where it has not, it says so, and exits 3:
#                    python3 -m venv /tmp/torch && /tmp/torch/bin/pip install torch numpy
set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/torch_lib.sh"
begin_torch "$@"
shift 2
each="1 2 3 4 5 6 7 8 9 10 11 12"
[ $# -gt 0 ] || set -- $(for g in $each; do echo "G$g"; done; for g in $each; do echo "G$g-softmax"; done)
export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 TORCHINDUCTOR_CACHE_DIR="$scratch/inductor"
host 1

for name; do
  kind=chain
  g=${name%-softmax} g=g${g#G}
  f=workloads/gemm-chain/$g.yaml
  case $name in *-softmax) kind=softmax f=workloads/attention/$g.yaml ;; esac
  emitted "$host" "$f" --dtype "$dtype" ${ISA:+--isa "$ISA"} || continue
  shared_kernel "$scratch/$name.so" -fopenmp-simd || continue
  if [ $kind = softmax ]; then
    echo "$name$suffix $scratch/$name.so $kind $(($(value "$f" batch) * $(value "$f" heads))) $(value "$f" seq) $(value "$f" v_dim)" \
      "$(value "$f" qk_dim) $(value "$f" kv_seq)"
  else
    echo "$name$suffix $scratch/$name.so $kind $(value "$f" batch) $(value "$f" M) $(value "$f" N) $(value "$f" K) $(value "$f" L)"
  fi
done >"$scratch/cases"
echo "case,contestant,seconds,gflops,share_of_peak,times_slower,beside"
mkl_of_all
LD_PRELOAD=$preload taskset -c 0 "$python" bench/kernels/torch_peer.py "$dtype" "$scratch/cases"
