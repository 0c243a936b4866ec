#!/bin/sh
# CUDA kernels on a machine with a GPU: builds, checks and times all in one go.  CSV on stdout, with lines that begin with # behind it.
#   bench/cuda.sh TILEFLOW [CASE]              CASE: only this, or all of a pattern, 'gemm*'
#   bench/cuda.sh --emit DIR TILEFLOW [CASE]   only writes the kernels below DIR, for a machine that has a GPU but no tileflow; there
#   bench/cuda.sh --run DIR [CASE]             compiles them side by side (JOBS), checks them, and times them one after the other
# Where a command may take ten minutes: after --emit, one --run each of 'gemm*', 'attention-d*', 'attention-g*', 'chain*', 'layer*', 'ranks*'.
#   ARCH=sm_90     what nvcc compiles for (native: the GPU that is here)
#   ARCH_SPEC=FILE the architecture that mappings are planned for (arch-specs/h100.yaml)
#   PYTHON=python3 with PyTorch, for the figures beside ours, in float32 without TF32, or in the type that the case's name ends with: cuBLAS;
#                  two calls of it for chains; SDPA with each of its back ends; Triton (what torch.compile makes), where it is there
#   CUOBJDUMP=FILE to count what stands in the machine code
# Where there is nvcc and no GPU the kernels are compiled, and the state is `compiled`.
# `case` may be gemm-*-wmma: the baseline (`--isa wmma`), bf16 by the fragments of C++; or *-sm90a*: bf16 by warpgroups (`--isa sm_90a`), or *-f8: float8 by them, which an
# H100 or H200 alone runs.  Exit: 1 where a kernel is wrong.
#
# Which questions it answers:
#   gemm-8192-wmma-large          what the thesis's instruction comes to, beside which all else stands (61 TFLOP/s were published)
#   layer-attention-decode-bf16   do four parts of the keys read 67 MB at the rate of memory (22 us, if that is 90 % of 3.35 TB/s); of a product: gated-mlp
#   gemm-8192-bf16-large          are 450 TFLOP/s of bfloat16 reached on an H100, and what share of cuBLAS is that; -f16, -tf32, -int8: of the others
#   gemm-8192-sm90a-large, attention-d128-16384-sm90a-large, ...: the same by warpgroups: what wgmma and TMA gain over mma.sync (-bf16)
#   gemm-8192-f8-large            float8 by warpgroups, sums in parts of 128, beside torch._scaled_mm (whose outputs are bfloat16; ours are float32)
#   attention-d128-16384-bf16-large, -causal, attention-d64-...: 330, 290, 290 TFLOP/s, and SDPA's flash and cuDNN beside them
#   chain-gN, attention-gN        (N 1 to 12, and -bf16) 1.5 times PyTorch's best; 1.3 times two calls of cuBLAS where memory bounds
#   layer-NAME-bf16               layers of language models (workloads/models) as the target plans them, beside PyTorch's and Triton's: what two products on
#                                 one input in one kernel gain (gated-mlp), what row sums by single threads cost (norm-product), and one
#                                 query on one warp of each of 128 blocks, and what puts their parts together (attention-decode)
#   ranks-gemm-bf16, -sm90a, ranks-attention-..   time beside the target's cycles of 20 mappings: Spearman's coefficient (0.8), and what its first choice
#                                 takes of the best (1.1)
#   dram, l2, model               bytes that the profiler (ncu) counts for a call, and those of HBM by the model: R2 behind all rows (0.97)
#   registers, spilled, mma, ...  what ptxas and the machine code say: spills, registers beside those that the target's cost expects (# lines); instructions of tensor cores as many as the fragments need
#   predicted                   seconds that the target expects; # lines say how far off they are, and how far after one calibration of all
# Columns: case, contestant, state (ok; else what is missing, or what failed), seconds, GFLOP/s, registers, spilled bytes; in the machine code
# instructions of tensor cores, loads of matrices, asynchronous copies; bytes as said; seconds expected.
set -u
usage() { echo "usage: $0 TILEFLOW [CASE] | --emit DIR TILEFLOW [CASE] | --run DIR [CASE]" >&2; exit 2; }
whole() { case $1 in /*) echo "$1" ;; *) echo "$PWD/$1" ;; esac; }
[ $# -gt 0 ] || usage
phases='emit run' work='' tileflow=''
case $1 in
--emit) [ $# -ge 3 ] || usage; phases=emit work=$(whole "$2") && shift 2 ;;
--run) [ $# -ge 2 ] || usage; phases=run work=$(whole "$2") && shift ;;
esac
[ "$phases" = run ] || tileflow=$(whole "$1")
word=${2:-*}
cd "$(dirname "$0")/.." || exit 2
spec=${ARCH_SPEC:-arch-specs/h100.yaml} python=${PYTHON:-python3} jobs=${JOBS:-$(nproc)} failed=0
[ "$work" ] || { work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT; }
mkdir -p "$work" || exit 2
rm -f "$work"/bytes "$work"/times "$work"/theirs "$work"/*.pairs

nvcc=yes gpu=yes torch=yes
command -v nvcc >/dev/null || { nvcc=; echo "$0: no nvcc: nothing is compiled" >&2; }
nvidia-smi -L >/dev/null 2>&1 || { gpu=; echo "$0: no GPU: nothing is run" >&2; }
[ "$gpu" ] && "$python" -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null || torch=
[ "$torch" ] || echo "$0: no PyTorch with CUDA: no figures beside ours" >&2
[ ! "$gpu" ] || command -v ncu >/dev/null || echo "$0: no ncu: bytes of DRAM and L2 are not counted" >&2
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1)
arch=${ARCH:-$([ "$gpu" ] && echo native || echo sm_80)}
cuobjdump=${CUOBJDUMP:-cuobjdump}

# Instructions of a kind in the kernel's machine code.
count() { "$cuobjdump" -sass "$1" 2>/dev/null | grep -c "$2"; }

# Bytes of DRAM and L2 in the first call of a folder's bench, as the profiler counts them: "DRAM,L2".
profiled() {
  command -v ncu >/dev/null || { echo ,; return; }
  (cd "$1" && ncu --csv --print-units base --clock-control none --launch-count "$(grep -c '^static __global__' kernel.cu)" \
    --metrics dram__bytes.sum,lts__t_bytes.sum ./bench 2>/dev/null) |
    awk -F'","' '/dram__bytes/ { gsub(/[",]/, "", $NF); d += $NF } /lts__t_bytes/ { gsub(/[",]/, "", $NF); l += $NF } END { print d "," l }'
}

# A number of a folder's manifest.
manifest() { sed -n 's/.*"'"$2"'": \([0-9.e+-]*\).*/\1/p' "$1/manifest.json" | head -1; }

# Bytes that the outermost memory reads and takes, by the model; of products of bytes outputs have four.
modelled() {
  sed -n '/"levels": \[/,/\]/p' "$1/manifest.json" | sed -n 's/.*"read": \([0-9]*\), "update": \([0-9]*\).*/\1 \2/p' | head -1 |
    awk -v bytes="$bytes" '{ printf "%.0f", $1 * bytes + $2 * (bytes == 1 ? 4 : bytes) }'
}

# The types of a case, by its name: tileflow's, bytes of a word.
type_of() {
  case $1 in
  *-f8*) dtype=f8 bytes=1 ;;
  *-bf16* | *-wmma* | *-sm90a*) dtype=bf16 bytes=2 ;;
  *-f16*) dtype=f16 bytes=2 ;;
  *-tf32*) dtype=tf32 bytes=4 ;;
  *-int8*) dtype=int8 bytes=1 ;;
  *) dtype=f32 bytes=4 ;;
  esac
}

# emit NAME WORKLOAD
emit() {
  type_of "$1"
  isa=''
  case $1 in *-wmma*) isa='--isa wmma' ;; *-sm90a* | *-f8*) isa='--isa sm_90a' ;; esac
  rm -rf "${work:?}/$1"
  # shellcheck disable=SC2086 # an option and its word, or nothing
  "$tileflow" emit --quiet "$spec" "$2" --target cuda --dtype "$dtype" $isa -o "$work/$1" >&2 || { failed=1; return; }
  rm -f "$work/$1/emulate.hpp" "$work/$1/hopper.hpp" # for machines without a GPU
}

# What a case's folder is compiled for; whether it can run on the GPU that is here.
built_for() { case $1 in *-sm90a* | *-f8*) grep -q sm_90a "$work/$1/Makefile" && echo sm_90a || echo sm_90 ;; *) echo "$arch" ;; esac; }
can_run() { [ "$(built_for "$1")" != sm_90a ] || [ "$capability" = 9.0 ]; }

# Compiles all of the cases' folders, side by side, and runs the tests of those whose plain reference does not take hours (large).
build_all() {
  [ "$nvcc" ] || return
  for dir in "$work"/*/; do
    name=$(basename "$dir")
    # shellcheck disable=SC2254 # a pattern
    case ${name#ranked-} in $word | ${word#ranks-}*) ;; *) continue ;; esac
    targets=bench
    case $name in *-large*) ;; *) [ "$gpu" ] && can_run "$name" && targets='bench test' ;; esac
    echo "$name $(built_for "$name") $targets"
  done | xargs -P "$jobs" -L 1 sh -c 'dir=$0/$1 arch=$2; shift 2
    make -s -C "$dir" ARCH="$arch" NVCCFLAGS="-O3 -Xptxas -v" libkernel.a >"$dir/said" 2>&1 && touch "$dir/compiled" || exit 0
    for each in "$@"; do timeout 300 make -s -C "$dir" ARCH="$arch" "$each" >"$dir/said-$each" 2>&1 && touch "$dir/done-$each"; done; exit 0' "$work"
}

# ours NAME: leaves the seconds in $took
ours() {
  name=$1 dir=$work/$1 took='' registers='' spilled='' code='' moved='' expected=''
  line() { echo "$name,tileflow,$1,${2:-},${3:-},${registers:-},${spilled:-},${code:-,,},${moved:-,,},$expected"; }
  type_of "$name"
  [ -f "$dir/kernel.cu" ] || { line "not emitted"; failed=1; return; }
  [ "$nvcc" ] || { line "no nvcc"; return; }
  expected=$(manifest "$dir" kernel_seconds)
  [ -f "$dir/compiled" ] || { cat "$dir/said" >&2; line "not compiled"; failed=1; return; }
  registers=$(sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' "$dir/said" | sort -n | tail -1)
  spilled=$(sed -n 's/.* \([0-9]*\) bytes spill stores.*/\1/p' "$dir/said" | sort -n | tail -1)
  some=$(sed -n 's/.*Some \([0-9]*\) registers are expected.*/\1/p' "$dir/kernel.cu" | sort -n | tail -1)
  counts=$(sed -n 's/.*machine code \([0-9]*\) MMA, \([0-9]*\) LDSM, \([0-9]*\) LDGSTS.*/\1 \2 \3/p' "$dir/kernel.cu" |
    awk '{ a += $1; b += $2; c += $3 } END { if (NR) print a "," b "," c; else print ",," }')
  [ "$some" ] && echo "# $name: $registers registers, $some expected; $counts instructions (mma, ldsm, ldgsts) expected"
  command -v "$cuobjdump" >/dev/null &&
    code=$(count "$dir/kernel.o" '[HIQ]G\{0,1\}MMA'),$(count "$dir/kernel.o" LDSM),$(count "$dir/kernel.o" LDGSTS)
  [ "$code" ] && [ "$counts" != ,, ] && [ "$code" != "$counts" ] && echo "# $name: machine code has $code"
  moved=,,$(modelled "$dir")
  [ "$gpu" ] || { line compiled; return; }
  can_run "$name" || { line "no sm_90a"; return; }
  case $name in
  *-large*) ;;
  *) [ -f "$dir/done-test" ] || { cat "$dir/said-test" >&2; line wrong; failed=1; return; } ;;
  esac
  [ -f "$dir/done-bench" ] && "$dir/bench" >"$dir/took" || { cat "$dir/said-bench" >&2; line "not timed"; failed=1; return; }
  moved=$(profiled "$dir"),${moved##*,}
  took=$(awk '{print $2}' "$dir/took")
  line ok "$took" "$(awk '{print $4}' "$dir/took")"
  echo "$moved" | awk -F, '$1 && $3 { print $1, $3 }' >>"$work/bytes"
  echo "$took $expected" >>"$work/times"
}

# theirs NAME GFLOP SETUP CONTESTANT=EXPRESSION...: PyTorch's, noted for race_all.  sdpa(BACK END, causal): attention of Q, K, V; triton:
# what torch.compile makes of the expression.
theirs() {
  [ "$torch" ] || { echo "$1,torch,no PyTorch with CUDA,,,,,,,,,,,"; return; }
  for each in "$@"; do printf '%s\t' "$each"; done >>"$work/theirs"
  echo >>"$work/theirs"
}

# All that are noted, one case after the other, its contestants in turns.
race_all() {
  [ -f "$work/theirs" ] || return
  "$python" - "$work/theirs" <<'P' || echo ",torch,failed,,,,,,,,,,,"
import sys, torch
import torch.nn.functional as F
types = {"-f8": torch.float8_e4m3fn, "-bf16": torch.bfloat16, "-f16": torch.float16, "-int8": torch.int8, "-wmma": torch.bfloat16, "-sm90a": torch.bfloat16}
def sdpa(back_end, causal=False):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    with sdpa_kernel(getattr(SDPBackend, back_end)):
        return F.scaled_dot_product_attention(Q, K, V, scale=1.0, is_causal=causal)
def r(*shape):
    x = torch.randn(*shape, device="cuda")
    return (x * 32).clamp(-127, 127).to(type) if type == torch.int8 else x.to(type)
for line in open(sys.argv[1]):
    name, gflop, setup, *contestants = line.rstrip("\t\n").split("\t")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = "-tf32" in name
    type = next((t for end, t in types.items() if end in name), torch.float32)
    exec(setup)
    runs = {}
    for each in contestants:
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
            print(f"{name},{who},does not run: {str(e).replace(',', ';').splitlines()[0][:60] if str(e) else 'failed'},,,,,,,,,,,")
    for i in range(31):
        for f, took in runs.values():
            a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            a.record(); f(); b.record(); b.synchronize()
            took.append(a.elapsed_time(b) / 1e3)
    for who, (f, took) in runs.items():
        t = sorted(took)[15]
        print(f"{name},{who},ok,{t:.6g},{float(gflop) / t:.6g},,,,,,,,,", flush=True)
P
}

# case_of NAME GFLOP SETUP "CONTESTANT=EXPRESSION;..." WORKLOAD
case_of() {
  # shellcheck disable=SC2254 # a pattern
  case $1 in $word) ;; *) return ;; esac
  [ "$phase" = run ] || { emit "$1" "$5"; return; }
  ours "$1"
  old=$IFS
  IFS=';'
  # shellcheck disable=SC2086 # split
  set -- "$1" "$2" "$3" $4
  IFS=$old
  theirs "$@"
}
sdpa='torch-flash=sdpa("FLASH_ATTENTION");torch-cudnn=sdpa("CUDNN_ATTENTION");torch-efficient=sdpa("EFFICIENT_ATTENTION")'
steps='triton=torch.softmax(Q @ K.transpose(-1, -2), -1) @ V'

# The product of one size, planned, or (M given) in blocks of M x N, K of the sum at a time: gemm_file FILE SIZE [M N K]; of float8 both
# operands stand along the sum.
gemm_file() {
  columns='B[k,n]'
  case $1 in *-f8*) columns='B[n,k]' ;; esac
  cat >"$1" <<Y
workload:
  name: gemm
  dims: {m: $2, n: $2, k: $2}
  ops:
  - "C[m,n] += A[m,k] * $columns"
Y
  [ "${3:-}" ] || return
  cat >>"$1" <<Y
mapping: |
  HBM for m=$(($2 / $3)) n=$(($2 / $4)) k=$(($2 / $5))
    SMEM for m=$3 n=$4 k=$5
      op C
Y
}
# gemm NAME SIZE
gemm() {
  gemm_file "$work/$1.yaml" "$2"
  what='torch=A @ B;triton=A @ B'
  case $1 in *-int8*) what='torch=torch._int_mm(A, B)' ;; *-f8*) what='torch=torch._scaled_mm(A, B.t(), one, one, out_dtype=torch.bfloat16)' ;; esac
  case_of "$1" "$(awk "BEGIN { print 2 * $2 ^ 3 / 1e9 }")" "A, B, one = r($2, $2), r($2, $2), torch.ones((), device='cuda')" "$what" "$work/$1.yaml"
}

# A param of a workload's file.
param() { sed -n "s/^params:.*[{ ]$2: \([0-9]*\).*/\1/p" "$1"; }

# Attention, planned, or (KEYS given) in blocks, the keys streamed: attention_file FILE HEADS LENGTH WIDTH MASK [KEYS QUERIES], both at a
# time; MASK: causal, or nothing
attention_file() {
  scores=S mask=''
  [ "$5" ] && scores=T mask='  - "T[h,m,l] = select(l <= m, S[h,m,l], -inf)"'
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
  - \"O[h,m,n] += P[h,m,l] * V[h,l,n]\""
    [ "${6:-}" ] && echo "mapping: |
  HBM for h=$2 m=$(($3 / $7)) l=$(($3 / $6))
    Seq keep S@SMEM ${mask:+T@SMEM }X@SMEM E@SMEM Z@SMEM P@SMEM stream X Z O"
    for op in "S l=${6:-} a=$4" ${mask:+"T l=${6:-}"} "X l=${6:-}" "E l=${6:-}" "Z l=${6:-}" "P l=${6:-}" "O n=$4 l=${6:-}"; do
      [ "${6:-}" ] || break
      echo "      SMEM for m=$7 ${op#* }"
      echo "        op ${op%% *}"
    done
  } >"$1"
}
# attention_bf16 HEADS LENGTH WIDTH [causal]: of the causal ones half the work counts; by mma.sync, or (kind=sm90a) by warpgroups
attention_bf16() {
  name=attention-d$3-$2${4:+-$4}-$kind all=4 who=$sdpa
  [ "$2" -gt 256 ] && name=$name-large
  [ "${4:-}" ] && all=2 && who=$(echo "$sdpa" | sed 's/")/", True)/g')
  attention_file "$work/$name.yaml" "$1" "$2" "$3" "${4:-}"
  case_of "$name" "$(awk "BEGIN { print $all * $1 * $2 ^ 2 * $3 / 1e9 }")" "Q, K, V = r(1, $1, $2, $3), r(1, $1, $2, $3), r(1, $1, $2, $3)" \
    "$who" "$work/$name.yaml"
}

# Layers of language models, planned: layer NAME GFLOP SETUP CONTESTANTS
layer() {
  case_of "layer-$1-bf16" "$2" "$3" "$4" "workloads/models/$1.yaml"
}
mlp='(F.silu(X @ W1) * (X @ W3)) @ W2'
# ---- the model beside time ----

# Of a file's columns, cycles, seconds and which mapping: Spearman's coefficient of the first two, and the seconds of the least cycles, and of
# the planned mapping, over the least seconds.
spearman() {
  sort -g "$1" | awk '{ print NR, $2, $3 }' | sort -g -k 2 | awk -v name="$2" '
    { d += ($1 - NR) ^ 2; if (NR == 1) best = $2; if ($1 == 1) first = $2; if ($3 == "planned") planned = $2 }
    END { if (NR > 1) printf "# %s: Spearman %.3f over %d mappings; the one expected first takes %.3f of the best, what is planned %.3f\n", name, 1 - 6 * d / (NR * (NR ^ 2 - 1)), NR, first / best, planned / best }'
}
# ranks gemm|attention KIND: 20 mappings, and what is planned where none is given
ranks() {
  # shellcheck disable=SC2254 # a pattern
  case ranks-$1-$2 in $word) ;; *) return ;; esac
  [ "$phase" = emit ] || [ "$gpu" ] || { echo "ranks-$1-$2,tileflow,no GPU,,,,,,,,,,,"; return; }
  xs='16 32 64 128 256' ys='32 64 128 256'
  [ "$1" = attention ] && xs='8 16 32 64 128' ys='16 32 64 128' # what fits shared memory
  for x in $xs planned; do
    for y in $ys; do
      blocks="$x $y" name=ranked-$1-$2-$x-$y-large
      [ "$x" = planned ] && blocks='' name=ranked-$1-$2-planned-large
      # shellcheck disable=SC2086 # none, or two
      if [ "$1" = gemm ]; then gemm_file "$work/$name.yaml" 4096 $blocks ${blocks:+64}; else attention_file "$work/$name.yaml" 16 2048 64 '' ${blocks:+"$y" "$x"}; fi
      if [ "$phase" = emit ]; then emit "$name" "$work/$name.yaml"; else
        ours "$name"
        [ "$took" ] && echo "$(manifest "$dir" kernel_cycles) $took $x" >>"$work/$1-$2.pairs"
      fi
      [ "$x" = planned ] && break
    done
  done
  [ ! -f "$work/$1-$2.pairs" ] || spearman "$work/$1-$2.pairs" "ranks-$1-$2"
}

# ---- the cases ----

cases() {
  gemm gemm-1024 1024
  gemm gemm-4096-large 4096
  for type in bf16 f16 tf32 int8 f8 wmma sm90a; do
    gemm gemm-1024-$type 1024
    gemm gemm-8192-$type-large 8192
  done
  gemm gemm-2048-sm90a-large 2048
  gemm gemm-4096-sm90a-large 4096
  # The thesis's chains and attention, in float32 and on tensor cores.
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
  for kind in bf16 sm90a; do
    attention_bf16 8 256 64
    attention_bf16 8 256 64 causal
    for width in 64 128; do
      for length in 512 1024 2048 4096 16384; do
        attention_bf16 $((16 * 16384 / length)) $length $width
        attention_bf16 $((16 * 16384 / length)) $length $width causal
      done
    done
  done
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
  for kind in bf16 sm90a; do
    ranks gemm $kind
    ranks attention $kind
  done
}

for phase in $phases; do
  if [ "$phase" = run ]; then
    echo "case,contestant,state,seconds,gflops,registers,spilled,mma,ldsm,ldgsts,dram,l2,model,predicted"
    build_all
  fi
  cases
done
race_all
[ -f "$work/bytes" ] && awk '{ n++; x += $2; y += $1; xx += $2 ^ 2; yy += $1 ^ 2; xy += $1 * $2 }
  END { v = (n * xx - x * x) * (n * yy - y * y); if (n > 2 && v > 0) printf "# bytes of DRAM beside the model'"'"'s: R2 %.4f over %d kernels\n", (n * xy - x * y) ^ 2 / v, n }' "$work/bytes"
# Each expected time over the measured: the median calibrates all, then how far they are off.
[ -f "$work/times" ] && awk '$1 > 0 && $2 > 0 { print $2 / $1 }' "$work/times" | sort -g | awk '{ at[NR] = $1 }
  END { for (i = 1; i <= NR; i++) { r = at[i] / at[int((NR + 1) / 2)]; if (r > 1 / 1.15 && r < 1.15) near++ }
        if (NR) printf "# times expected: %.3f of those measured in the median of %d kernels; after that calibration %d within 15 %%\n", at[int((NR + 1) / 2)], NR, near }'
exit $failed
