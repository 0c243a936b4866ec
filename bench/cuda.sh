#!/bin/sh
# CUDA kernels on a machine with a GPU: builds, checks and times all in one go.  CSV on stdout, with lines that begin with # behind it.
#   bench/cuda.sh TILEFLOW [CASE]     CASE: only this, or all of a pattern, 'gemm*'
#   ARCH=sm_90     what nvcc compiles for (native: the GPU that is here)
#   ARCH_SPEC=FILE the architecture that mappings are planned for (arch-specs/h100.yaml)
#   PYTHON=python3 with PyTorch, for the figures beside ours, in float32 without TF32, or in the type that the case's name ends with: cuBLAS;
#                  two calls of it for chains; SDPA with each of its back ends; Triton (what torch.compile makes), where it is there
#   CUOBJDUMP=FILE to count what stands in the machine code
# Where there is nvcc and no GPU the kernels are compiled, and the state is `compiled`.
# `case` may be gemm-*-wmma: the baseline (`--isa wmma`), bf16 by the fragments of C++; or *-sm90a*: bf16 by warpgroups (`--isa sm_90a`), which an
# H100 or H200 alone runs.  Exit: 1 where a kernel is wrong.
#
# Which questions it answers:
#   gemm-8192-wmma-large          what the thesis's instruction comes to, beside which all else stands (61 TFLOP/s were published)
#   layer-attention-decode-bf16   do four parts of the keys read 67 MB at the rate of memory (22 us, if that is 90 % of 3.35 TB/s); of a product: gated-mlp
#   gemm-8192-bf16-large          are 450 TFLOP/s of bfloat16 reached on an H100, and what share of cuBLAS is that; -f16, -tf32, -int8: of the others
#   gemm-8192-sm90a-large, attention-d128-16384-sm90a-large, ...: the same by warpgroups: what wgmma and TMA gain over mma.sync (-bf16)
#   attention-d128-16384-bf16-large, -causal, attention-d64-...: 330, 290, 290 TFLOP/s, and SDPA's flash and cuDNN beside them
#   chain-gN, attention-gN        (N 1 to 12, and -bf16) 1.5 times PyTorch's best; 1.3 times two calls of cuBLAS where memory bounds
#   layer-NAME-bf16               layers of language models (workloads/models) as the target plans them, beside PyTorch's and Triton's: what two products on
#                                 one input in one kernel gain (gated-mlp), what row sums by single threads cost (norm-product), and one
#                                 query on one warp of each of 128 blocks, and what puts their parts together (attention-decode)
#   ranks-gemm, ranks-attention   time beside the model's cycles of 20 mappings: Spearman's coefficient (0.8), and what the model's first choice
#                                 takes of the best (1.1)
#   dram, l2, model               bytes that the profiler (ncu) counts for a call, and those of HBM by the model: R2 behind all rows (0.97)
#   registers, spilled, mma, ...  what ptxas and the machine code say: spills, registers beside those that the target's cost expects (# lines); instructions of tensor cores as many as the fragments need
# Columns: case, contestant, state (ok; else what is missing, or what failed), seconds, GFLOP/s, registers, spilled bytes; in the machine code
# instructions of tensor cores, loads of matrices, asynchronous copies; bytes as said.
set -u
tileflow=${1:?usage: $0 TILEFLOW [CASE]} word=${2:-*}
case $tileflow in /*) ;; *) tileflow=$PWD/$tileflow ;; esac
cd "$(dirname "$0")/.." || exit 2
spec=${ARCH_SPEC:-arch-specs/h100.yaml} python=${PYTHON:-python3} failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

nvcc=yes gpu=yes torch=yes
command -v nvcc >/dev/null || { nvcc=; echo "$0: no nvcc: nothing is compiled" >&2; }
nvidia-smi -L >/dev/null 2>&1 || { gpu=; echo "$0: no GPU: nothing is run" >&2; }
[ "$gpu" ] && "$python" -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null || torch=
[ "$torch" ] || echo "$0: no PyTorch with CUDA: no figures beside ours" >&2
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1)
arch=${ARCH:-$([ "$gpu" ] && echo native || echo sm_80)}
cuobjdump=${CUOBJDUMP:-cuobjdump}
echo "case,contestant,state,seconds,gflops,registers,spilled,mma,ldsm,ldgsts,dram,l2,model"

# Instructions of a kind in the kernel's machine code.
count() { "$cuobjdump" -sass "$1" 2>/dev/null | grep -c "$2"; }

# Bytes of DRAM and L2 in the first call of a folder's bench, as the profiler counts them: "DRAM,L2".
profiled() {
  command -v ncu >/dev/null || { echo ,; return; }
  (cd "$1" && ncu --csv --print-units base --launch-count "$(grep -c '^static __global__' kernel.cu)" \
    --metrics dram__bytes.sum,lts__t_bytes.sum ./bench 2>/dev/null) |
    awk -F'","' '/dram__bytes/ { gsub(/[",]/, "", $NF); d += $NF } /lts__t_bytes/ { gsub(/[",]/, "", $NF); l += $NF } END { print d "," l }'
}

# Bytes of HBM by the model for the mapping that a folder was made from: modelled FOLDER WORKLOAD
modelled() {
  { echo "mapping: |"; sed -n '/^## Mapping/,/^## /s/^    /  /p' "$1/README.md"; } >"$1/mapping.yaml"
  sed '/^mapping:/,$d' "$2" >"$1/workload.yaml"
  "$tileflow" eval --csv - "$spec" "$1/workload.yaml" "$1/mapping.yaml" 2>/dev/null |
    awk -F, -v bytes="$bytes" '$4 == "level" && ++n == 1 { printf "%.0f", ($11 + $12) * bytes }'
}

# The types of a case, by its name: tileflow's, bytes of a word.
type_of() {
  case $1 in
  *-bf16* | *-wmma* | *-sm90a*) dtype=bf16 bytes=2 ;;
  *-f16*) dtype=f16 bytes=2 ;;
  *-tf32*) dtype=tf32 bytes=4 ;;
  *-int8*) dtype=int8 bytes=1 ;;
  *) dtype=f32 bytes=4 ;;
  esac
}

# ours NAME WORKLOAD: leaves the seconds in $took
ours() {
  name=$1 dir=$work/$1 took=''
  line() { echo "$name,tileflow,$1,${2:-},${3:-},${registers:-},${spilled:-},${code:-,,},${moved:-,,}"; }
  registers='' spilled='' code='' moved=''
  type_of "$name"
  isa='' on=$arch
  case $name in *-wmma*) isa='--isa wmma' ;; *-sm90a*) isa='--isa sm_90a' on=sm_90a ;; esac
  # shellcheck disable=SC2086 # an option and its word, or nothing
  "$tileflow" emit --quiet "$spec" "$2" --target cuda --dtype "$dtype" $isa -o "$dir" >&2 || { line "not emitted"; failed=1; return; }
  [ "$nvcc" ] || { line "no nvcc"; return; }
  make -s -C "$dir" ARCH="$on" NVCCFLAGS='-O3 -Xptxas -v' libkernel.a >"$dir/said" 2>&1 || { cat "$dir/said" >&2; line "not compiled"; failed=1; return; }
  registers=$(sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' "$dir/said" | sort -n | tail -1)
  spilled=$(sed -n 's/.* \([0-9]*\) bytes spill stores.*/\1/p' "$dir/said" | sort -n | tail -1)
  expected=$(sed -n 's/.*Some \([0-9]*\) registers are expected.*/\1/p' "$dir/kernel.cu" | sort -n | tail -1)
  counts=$(sed -n 's/.*machine code \([0-9]*\) MMA, \([0-9]*\) LDSM, \([0-9]*\) LDGSTS.*/\1 \2 \3/p' "$dir/kernel.cu" |
    awk '{ a += $1; b += $2; c += $3 } END { if (NR) print a "," b "," c; else print ",," }')
  [ "$expected" ] && echo "# $name: $registers registers, $expected expected; $counts instructions (mma, ldsm, ldgsts) expected"
  command -v "$cuobjdump" >/dev/null &&
    code=$(count "$dir/kernel.o" '[HI]G\{0,1\}MMA'),$(count "$dir/kernel.o" LDSM),$(count "$dir/kernel.o" LDGSTS)
  [ "$code" ] && [ "$counts" != ,, ] && [ "$code" != "$counts" ] && echo "# $name: machine code has $code"
  moved=,,$(modelled "$dir" "$2")
  [ "$gpu" ] || { line compiled; return; }
  [ "$on" != sm_90a ] || [ "$capability" = 9.0 ] || { line "no sm_90a"; return; }
  # the plain reference of a large product would take hours: its check is left to the small cases
  case $name in
  *-large*) ;;
  *) make -s -C "$dir" ARCH="$on" test >"$dir/said" 2>&1 || { cat "$dir/said" >&2; line wrong; failed=1; return; } ;;
  esac
  make -s -C "$dir" ARCH="$on" bench >"$dir/said" 2>&1 && "$dir/bench" >"$dir/took" || { cat "$dir/said" >&2; line "not timed"; failed=1; return; }
  moved=$(profiled "$dir"),${moved##*,}
  took=$(awk '{print $2}' "$dir/took")
  line ok "$took" "$(awk '{print $4}' "$dir/took")"
  echo "$moved" | awk -F, '$1 && $3 { print $1, $3 }' >>"$work/bytes"
}

# theirs NAME GFLOP SETUP CONTESTANT=EXPRESSION...: PyTorch's, in turns.  sdpa(BACK END, causal): attention of Q, K, V; triton: what
# torch.compile makes of the expression.
theirs() {
  [ "$torch" ] || { echo "$1,torch,no PyTorch with CUDA,,,,,,,,,,"; return; }
  "$python" - "$@" <<'P' || echo "$1,torch,failed,,,,,,,,,,"
import sys, torch
import torch.nn.functional as F
name, gflop, setup = sys.argv[1:4]
torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = "-tf32" in name
types = {"-bf16": torch.bfloat16, "-f16": torch.float16, "-int8": torch.int8, "-wmma": torch.bfloat16, "-sm90a": torch.bfloat16}
type = next((t for end, t in types.items() if end in name), torch.float32)
def r(*shape):
    x = torch.randn(*shape, device="cuda")
    return (x * 32).clamp(-127, 127).to(type) if type == torch.int8 else x.to(type)
def sdpa(back_end, causal=False):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    with sdpa_kernel(getattr(SDPBackend, back_end)):
        return F.scaled_dot_product_attention(Q, K, V, scale=1.0, is_causal=causal)
exec(setup)
runs = {}
for each in sys.argv[4:]:
    who, what = each.split("=", 1)
    try:
        f = eval("lambda: " + what)
        if who == "triton":
            f = torch.compile(f, mode="max-autotune-no-cudagraphs")
        for i in range(3):
            f()
        torch.cuda.synchronize()
        runs[who] = (f, [])
    except Exception as e:
        print(f"{name},{who},does not run: {str(e).replace(',', ';').splitlines()[0][:60] if str(e) else 'failed'},,,,,,,,,,")
for i in range(31):
    for f, took in runs.values():
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        a.record(); f(); b.record(); b.synchronize()
        took.append(a.elapsed_time(b) / 1e3)
for who, (f, took) in runs.items():
    t = sorted(took)[15]
    print(f"{name},{who},ok,{t:.6g},{float(gflop) / t:.6g},,,,,,,,")
P
}

# case_of NAME GFLOP SETUP "CONTESTANT=EXPRESSION;..." WORKLOAD
case_of() {
  # shellcheck disable=SC2254 # a pattern
  case $1 in $word) ;; *) return ;; esac
  ours "$1" "$5"
  old=$IFS
  IFS=';'
  # shellcheck disable=SC2086 # split
  set -- "$1" "$2" "$3" $4
  IFS=$old
  theirs "$@"
}
sdpa='torch-flash=sdpa("FLASH_ATTENTION");torch-cudnn=sdpa("CUDNN_ATTENTION");torch-efficient=sdpa("EFFICIENT_ATTENTION")'
steps='triton=torch.softmax(Q @ K.transpose(-1, -2), -1) @ V'

# The product of one size in blocks of M x N, K of the sum at a time: gemm_file FILE SIZE M N K
gemm_file() {
  cat >"$1" <<Y
workload:
  name: gemm
  dims: {m: $2, n: $2, k: $2}
  ops:
  - "C[m,n] += A[m,k] * B[k,n]"
mapping: |
  HBM for m=$(($2 / $3)) n=$(($2 / $4)) k=$(($2 / $5))
    SMEM for m=$3 n=$4 k=$5
      op C
Y
}
# gemm NAME SIZE BLOCK K
gemm() {
  gemm_file "$work/$1.yaml" "$2" "$3" "$3" "$4"
  what='torch=A @ B;triton=A @ B'
  case $1 in *-int8*) what='torch=torch._int_mm(A, B)' ;; esac
  case_of "$1" "$(awk "BEGIN { print 2 * $2 ^ 3 / 1e9 }")" "A, B = r($2, $2), r($2, $2)" "$what" "$work/$1.yaml"
}
gemm gemm-1024 1024 64 32
gemm gemm-4096-large 4096 64 32
# Blocks of 128 x 128 on tensor cores.
gemm gemm-1024-bf16 1024 128 64
gemm gemm-8192-bf16-large 8192 128 64
for type in f16 tf32 int8 wmma sm90a; do
  gemm gemm-1024-$type 1024 128 64
  gemm gemm-8192-$type-large 8192 128 64
done

# A param of a workload's file.
param() { sed -n "s/^params:.*[{ ]$2: \([0-9]*\).*/\1/p" "$1"; }

# The thesis's chains and attention, planned, in float32 and on tensor cores.
for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
  file=workloads/gemm-chain/g$n.yaml
  b=$(param $file batch) m=$(param $file M) w=$(param $file N) k=$(param $file K) l=$(param $file L)
  for type in '' -bf16; do
    case_of chain-g$n$type "$(awk "BEGIN { print 2 * $b * $m * $l * ($k + $w) / 1e9 }")" "A, B, D = r($b, $m, $k), r($b, $k, $l), r($b, $l, $w)" \
      'torch=(A @ B) @ D;triton=(A @ B) @ D' $file
  done
  file=workloads/attention/g$n.yaml
  b=$(param $file batch) h=$(param $file heads) m=$(param $file seq) l=$(param $file kv_seq) a=$(param $file qk_dim) w=$(param $file v_dim)
  for type in '' -bf16; do
    case_of attention-g$n$type "$(awk "BEGIN { print 2 * $b * $h * $m * $l * ($a + $w) / 1e9 }")" \
      "Q, K, V = r($b, $h, $m, $a), r($b, $h, $l, $a), r($b, $h, $l, $w)" "$sdpa;$steps" $file
  done
done

# Attention in blocks, the keys streamed: attention_file FILE HEADS LENGTH WIDTH KEYS-AT-A-TIME QUERIES-AT-A-TIME [causal]
attention_file() {
  scores=S mask=''
  [ "${7:-}" ] && scores=T mask='  - "T[h,m,l] = select(l <= m, S[h,m,l], -inf)"'
  {
    echo "workload:
  name: attention
  dims: {h: $2, m: $3, l: $3, a: $4, n: $4}
  ops:
  - \"S[h,m,l] += Q[h,m,a] * K[h,l,a]\"
${mask:+$mask
}  - \"X[h,m] max= ${scores}[h,m,l]\"
  - \"E[h,m,l] = exp(${scores}[h,m,l] - X[h,m])\"
  - \"Z[h,m] += E[h,m,l]\"
  - \"P[h,m,l] = E[h,m,l] / Z[h,m]\"
  - \"O[h,m,n] += P[h,m,l] * V[h,l,n]\"
mapping: |
  HBM for h=$2 m=$(($3 / $6)) l=$(($3 / $5))
    Seq keep S@SMEM ${mask:+T@SMEM }X@SMEM E@SMEM Z@SMEM P@SMEM stream X Z O"
    for op in "S l=$5 a=$4" ${mask:+"T l=$5"} "X l=$5" "E l=$5" "Z l=$5" "P l=$5" "O n=$4 l=$5"; do
      echo "      SMEM for m=$6 ${op#* }"
      echo "        op ${op%% *}"
    done
  } >"$1"
}
# attention_bf16 HEADS LENGTH WIDTH KEYS-AT-A-TIME [causal]: of the causal ones half the work counts; by mma.sync, or (kind=sm90a) by warpgroups
attention_bf16() {
  name=attention-d$3-$2${5:+-$5}-$kind all=4 who=$sdpa
  [ "$2" -gt 1024 ] && name=$name-large
  [ "${5:-}" ] && all=2 && who=$(echo "$sdpa" | sed 's/")/", True)/g')
  attention_file "$work/$name.yaml" "$1" "$2" "$3" "$4" 128 "${5:-}"
  case_of "$name" "$(awk "BEGIN { print $all * $1 * $2 ^ 2 * $3 / 1e9 }")" "Q, K, V = r(1, $1, $2, $3), r(1, $1, $2, $3), r(1, $1, $2, $3)" \
    "$who" "$work/$name.yaml"
}
for kind in bf16 sm90a; do
  attention_bf16 8 512 64 64
  attention_bf16 8 512 64 64 causal
  for width in 64 128; do
    attention_bf16 16 16384 $width 64
    attention_bf16 16 16384 $width 64 causal
  done
done

# Layers of language models, planned: layer NAME GFLOP SETUP CONTESTANTS
layer() {
  case_of "layer-$1-bf16" "$2" "$3" "$4" "workloads/models/$1.yaml"
}
mlp='(F.silu(X @ W1) * (X @ W3)) @ W2'
layer gated-mlp 6.44 'X, W1, W3, W2 = r(64, 2048), r(2048, 8192), r(2048, 8192), r(8192, 2048)' "torch=$mlp;triton=$mlp"
norm='F.layer_norm(X, (768,), G, B) @ W'
layer norm-product 1.81 'X, G, B, W = r(512, 768), r(768), r(768), r(768, 2304)' "torch=$norm;triton=$norm"
layer attention-decode 0.0671 'Q, K, V = r(1, 32, 1, 128), r(1, 32, 4096, 128), r(1, 32, 4096, 128)' "$sdpa;$steps"
layer attention-long 17.2 'Q, K, V = r(1, 2, 4096, 128), r(1, 2, 4096, 128), r(1, 2, 4096, 128)' "$sdpa;$steps"
masked='F.scaled_dot_product_attention(Q, K, V, attn_mask=M)'
layer attention-mask 4.29 'Q, K, V, M = r(1, 8, 1024, 128), r(1, 8, 1024, 128), r(1, 8, 1024, 128), r(1024, 1024)' "torch=$masked;triton=$masked"
layer causal 2.15 'Q, K, V = r(1, 8, 1024, 128), r(1, 8, 1024, 128), r(1, 8, 1024, 128)' \
  'torch=F.scaled_dot_product_attention(Q, K, V, is_causal=True)'
layer causal-grouped 8.59 'Q, K, V = r(1, 32, 1024, 128), r(1, 8, 1024, 128), r(1, 8, 1024, 128)' \
  'torch=F.scaled_dot_product_attention(Q, K, V, is_causal=True, enable_gqa=True)'

# ---- the model beside time ----

# Spearman's coefficient of a file's two columns, cycles and seconds, and the seconds of the least cycles over the least seconds.
spearman() {
  sort -g "$1" | awk '{ print NR, $2 }' | sort -g -k 2 | awk -v name="$2" '
    { d += ($1 - NR) ^ 2; if (NR == 1) best = $2; if ($1 == 1) first = $2 }
    END { if (NR > 1) printf "# %s: Spearman %.3f over %d mappings; the model'"'"'s first takes %.3f of the best\n", name, 1 - 6 * d / (NR * (NR ^ 2 - 1)), NR, first / best }'
}
# ranks gemm|attention: 20 mappings
ranks() {
  # shellcheck disable=SC2254 # a pattern
  case ranks-$1 in $word) ;; *) return ;; esac
  [ "$gpu" ] || { echo "ranks-$1,tileflow,no GPU,,,,,,,,,,"; return; }
  xs='32 64 128 256 512' ys='32 64 128 256'
  [ "$1" = attention ] && xs='8 16 32 64 128' ys='16 32 64 128' # what fits shared memory
  for x in $xs; do
    for y in $ys; do
      name=ranked-$1-$x-$y-bf16-large
      if [ "$1" = gemm ]; then gemm_file "$work/$name.yaml" 4096 "$x" "$y" 64; else attention_file "$work/$name.yaml" 16 2048 64 "$y" "$x"; fi
      ours "$name" "$work/$name.yaml"
      cycles=$("$tileflow" eval --csv - "$spec" "$work/$name.yaml" 2>/dev/null | awk -F, '$4 == "total" { print $18 }')
      [ "$took" ] && echo "$cycles $took" >>"$work/$1.pairs"
    done
  done
  [ -f "$work/$1.pairs" ] && spearman "$work/$1.pairs" "ranks-$1"
}
ranks gemm
ranks attention
[ -f "$work/bytes" ] && awk '{ n++; x += $2; y += $1; xx += $2 ^ 2; yy += $1 ^ 2; xy += $1 * $2 }
  END { v = (n * xx - x * x) * (n * yy - y * y); if (n > 2 && v > 0) printf "# bytes of DRAM beside the model'"'"'s: R2 %.4f over %d kernels\n", (n * xy - x * y) ^ 2 / v, n }' "$work/bytes"
exit $failed
