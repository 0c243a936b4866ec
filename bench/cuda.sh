#!/bin/sh
# CUDA kernels on a machine with a GPU: builds, checks and times all in one go.  CSV on stdout.
#   bench/cuda.sh TILEFLOW [CASE]     CASE: only this, or all of a pattern, 'gemm*'
#   ARCH=sm_90     what nvcc compiles for (native: the GPU that is here)
#   ARCH_SPEC=FILE the architecture that mappings are planned for (arch-specs/a100.yaml)
#   PYTHON=python3 with PyTorch, for the figures beside ours: cuBLAS and SDPA, in float32 without TF32 or in bfloat16 (cases *-bf16*)
#   CUOBJDUMP=FILE to count what stands in the machine code
# Columns: case, contestant, state (ok; else what is missing, or what failed), seconds, GFLOP/s, registers, spilled bytes, and in the machine
# code instructions of tensor cores, loads of matrices, asynchronous copies.
# Where there is nvcc and no GPU the kernels are compiled, and the state is `compiled`.  Exit: 1 where a kernel is wrong.
set -u
tileflow=${1:?usage: $0 TILEFLOW [CASE]} word=${2:-*}
cd "$(dirname "$0")/.." || exit 2
spec=${ARCH_SPEC:-arch-specs/a100.yaml} python=${PYTHON:-python3} failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

nvcc=yes gpu=yes torch=yes
command -v nvcc >/dev/null || { nvcc=; echo "$0: no nvcc: nothing is compiled" >&2; }
nvidia-smi -L >/dev/null 2>&1 || { gpu=; echo "$0: no GPU: nothing is run" >&2; }
[ "$gpu" ] && "$python" -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null || torch=
[ "$torch" ] || echo "$0: no PyTorch with CUDA: no figures beside ours" >&2
arch=${ARCH:-$([ "$gpu" ] && echo native || echo sm_80)}
cuobjdump=${CUOBJDUMP:-cuobjdump}
echo "case,contestant,state,seconds,gflops,registers,spilled,hmma,ldsm,ldgsts"

# Instructions of a kind in the kernel's machine code.
count() { "$cuobjdump" -sass "$1" 2>/dev/null | grep -c "$2"; }

# ours NAME WORKLOAD [MAPPING]
ours() {
  name=$1 dir=$work/$1
  shift
  line() { echo "$name,tileflow,$1,${2:-},${3:-},${registers:-},${spilled:-},${code:-,,}"; }
  registers='' spilled='' code='' dtype=f32
  case $name in *-bf16*) dtype=bf16 ;; esac
  "$tileflow" emit --quiet "$spec" "$@" --target cuda --dtype "$dtype" -o "$dir" >&2 || { line "not emitted"; failed=1; return; }
  [ "$nvcc" ] || { line "no nvcc"; return; }
  make -s -C "$dir" ARCH="$arch" NVCCFLAGS='-O3 -Xptxas -v' libkernel.a >"$dir/said" 2>&1 || { cat "$dir/said" >&2; line "not compiled"; failed=1; return; }
  registers=$(sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' "$dir/said" | sort -n | tail -1)
  spilled=$(sed -n 's/.* \([0-9]*\) bytes spill stores.*/\1/p' "$dir/said" | sort -n | tail -1)
  command -v "$cuobjdump" >/dev/null &&
    code=$(count "$dir/kernel.o" HMMA),$(count "$dir/kernel.o" LDSM),$(count "$dir/kernel.o" LDGSTS)
  [ "$gpu" ] || { line compiled; return; }
  # the plain reference of a large product would take hours: its check is left to the small cases
  case $name in
  *-large) ;;
  *) make -s -C "$dir" ARCH="$arch" test >"$dir/said" 2>&1 || { cat "$dir/said" >&2; line wrong; failed=1; return; } ;;
  esac
  make -s -C "$dir" ARCH="$arch" bench >"$dir/said" 2>&1 && "$dir/bench" >"$dir/took" || { cat "$dir/said" >&2; line "not timed"; failed=1; return; }
  line ok "$(awk '{print $2}' "$dir/took")" "$(awk '{print $4}' "$dir/took")"
}

# theirs NAME EXPRESSION-OF-TENSORS GFLOP SETUP: PyTorch's, in float32
theirs() {
  [ "$torch" ] || { echo "$1,torch,no PyTorch with CUDA,,,,,,,"; return; }
  "$python" - "$@" <<'P' || echo "$1,torch,failed,,,,,,,"
import sys, torch
import torch.nn.functional as F
name, what, gflop, setup = sys.argv[1:5]
torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
type = torch.bfloat16 if "-bf16" in name else torch.float32
r = lambda *shape: torch.randn(*shape, device="cuda").to(type)
exec(setup)
took = []
for i in range(34):
    a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    a.record(); eval(what); b.record(); b.synchronize()
    took.append(a.elapsed_time(b) / 1e3)
t = sorted(took[3:])[15]
print(f"{name},torch,ok,{t:.6g},{float(gflop) / t:.6g},,,,,")
P
}

# case NAME GFLOP SETUP EXPRESSION WORKLOAD [MAPPING]
case_of() {
  name=$1 gflop=$2 setup=$3 what=$4
  shift 4
  # shellcheck disable=SC2254 # a pattern
  case $name in $word) ;; *) return ;; esac
  ours "$name" "$@"
  theirs "$name" "$what" "$gflop" "$setup"
}

# A square product, in blocks of BLOCK x BLOCK, K of the sum at a time.
# gemm NAME SIZE BLOCK K
gemm() {
  cat >"$work/$1.yaml" <<Y
workload:
  name: gemm
  dims: {m: $2, n: $2, k: $2}
  ops:
  - "C[m,n] += A[m,k] * B[k,n]"
mapping: |
  HBM for m=$(($2 / $3)) n=$(($2 / $3)) k=$(($2 / $4))
    SMEM for m=$3 n=$3 k=$4
      op C
Y
  case_of "$1" "$(awk "BEGIN { print 2 * $2 ^ 3 / 1e9 }")" "A, B = r($2, $2), r($2, $2)" "A @ B" "$work/$1.yaml"
}
gemm gemm-1024 1024 64 32
gemm gemm-4096-large 4096 64 32
case_of chain-g1 0.27 'A, B, D = r(8, 512, 64), r(8, 64, 512), r(8, 512, 64)' '(A @ B) @ D' workloads/gemm-chain/g1.yaml
case_of attention-g1 0.54 'Q, K, V = r(1, 8, 512, 64), r(1, 8, 512, 64), r(1, 8, 512, 64)' \
  'F.scaled_dot_product_attention(Q, K, V, scale=1.0)' workloads/attention/g1.yaml

# Blocks of 128 x 128 on tensor cores; attention in blocks of 128 queries, the keys streamed.
gemm gemm-1024-bf16 1024 128 64
gemm gemm-8192-bf16-large 8192 128 64
# HEADS LENGTH WIDTH KEYS-AT-A-TIME
attention_bf16() {
  name=attention-d$3-$2-bf16
  [ "$2" -gt 1024 ] && name=$name-large
  {
    cat <<Y
workload:
  name: attention
  dims: {h: $1, m: $2, l: $2, a: $3, n: $3}
  ops:
  - "S[h,m,l] += Q[h,m,a] * K[h,l,a]"
  - "X[h,m] max= S[h,m,l]"
  - "E[h,m,l] = exp(S[h,m,l] - X[h,m])"
  - "Z[h,m] += E[h,m,l]"
  - "P[h,m,l] = E[h,m,l] / Z[h,m]"
  - "O[h,m,n] += P[h,m,l] * V[h,l,n]"
mapping: |
  HBM for h=$1 m=$(($2 / 128)) l=$(($2 / $4))
    Seq keep S@SMEM X@SMEM E@SMEM Z@SMEM P@SMEM stream X Z O
Y
    for op in "S l=$4 a=$3" "X l=$4" "E l=$4" "Z l=$4" "P l=$4" "O n=$3 l=$4"; do
      echo "      SMEM for m=128 ${op#* }"
      echo "        op ${op%% *}"
    done
  } >"$work/$name.yaml"
  case_of "$name" "$(awk "BEGIN { print 4 * $1 * $2 ^ 2 * $3 / 1e9 }")" "Q, K, V = r(1, $1, $2, $3), r(1, $1, $2, $3), r(1, $1, $2, $3)" \
    'F.scaled_dot_product_attention(Q, K, V, scale=1.0)' "$work/$name.yaml"
}
attention_bf16 8 512 64 64
attention_bf16 16 16384 64 64
attention_bf16 16 16384 128 64
exit $failed
