#!/bin/sh
# What `tileflow grad` writes, emitted and held against PyTorch's autograd in double: CSV on stdout, exit status 1 where an error is above 1e-5.
#   bench/kernels/grad.sh TILEFLOW [CASE...]     CASE: an operator of workloads/operators at its `small` sizes, or of those below (all)
#   PYTHON=FILE    a Python that has PyTorch (python3); where it has not, it says so, and exits 3
#   ISA, ARCH, ROUNDS: as bench/kernels/run.sh takes them
set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/torch_lib.sh"
begin "$(dirname "$0")/../.." "${1:?usage: $0 TILEFLOW [CASE...]}"
shift
python=${PYTHON:-python3} failed=0
has_torch
export OMP_NUM_THREADS=1
host 1
words=$*
: >"$scratch/cases"

# gradient NAME KIND WORKLOAD SEED NAME=VALUE...: a line for grad_peer.py.  SEED: the tensor that is differentiated; $by: by
# which tensors (all inputs)
gradient() {
  name=$1 kind=$2 workload=$3 of=$4
  shift 4
  case " ${words:-$name} " in *" $name "*) ;; *) return ;; esac
  for param; do
    set -- "$@" --set "$param"
    shift
  done
  "$tool" grad "$workload" --of "$of" ${by:+--by "$by"} "$@" -o "$scratch/$name.yaml" --quiet &&
    emitted "$host" "$scratch/$name.yaml" ${ISA:+--isa "$ISA"} && shared_kernel "$scratch/$name.so" -fopenmp-simd ||
    { echo "$0: no kernel for $name" >&2; failed=1; return; }
  cp "$scratch/k/manifest.json" "$scratch/$name.json"
  echo "$name $kind $scratch/$name.so $scratch/$name.json $(fields | tr '\n' ' ')" >>"$scratch/cases"
}

while IFS=, read -r kind name params; do
  # shellcheck disable=SC2086 # one word a param
  [ "$name" != small ] || gradient "$kind" "$kind" "workloads/operators/$kind.yaml" O $params
done <workloads/operators/cases.csv
w=workloads/models
gradient small-attention attention workloads/attention/g1.yaml O heads=2 seq=24 kv_seq=20 qk_dim=8 v_dim=12
gradient causal causal $w/causal.yaml O heads=2 seq=24 qk_dim=8 v_dim=8
gradient gated-mlp gated $w/gated-mlp.yaml Y tokens=8 width=16 inner=24
gradient mlp mlp workloads/mlp.yaml Y tokens=8 width=16 inner=24
gradient norm-product norm $w/norm-product.yaml Y tokens=8 width=16 out=12
gradient depthwise-separable depthwise workloads/depthwise-separable.yaml Y C=4 K=6 H=10 W=8
gradient bottleneck bottleneck workloads/resnet-bottleneck.yaml Y H=6 W=6 wide=8 narrow=4
gradient conv-chain chain workloads/conv-chain-relu/c1.yaml O IC=4 H=12 W=12 OC1=6 OC2=5
gradient attention attention workloads/attention/g1.yaml O
gradient attention-causal causal $w/causal.yaml O seq=512 qk_dim=64 v_dim=64
by=Q,K,V
gradient attention-mask mask $w/attention-mask.yaml O seq=512 kv_seq=512
echo "case,tensor,relative_error"
"$python" bench/kernels/grad_peer.py "$scratch/cases" || failed=1
exit $failed
