#!/bin/sh
# Emitted kernels against libraries, interleaved in one run: CSV on stdout.
#   bench/kernels/run.sh TILEFLOW GROUP [CASE]     GROUP: chains softmax exponent conv conv-relu yolo resnet, in float32;
#                                                  bf16 bf16-softmax int8 int8-softmax int8-product, chains in other types.
#                                                  CASE: only this, or all of a pattern, 'G1[0-2]'
#   THREADS=N      on N cores (1)
#   ISA=NAME       for this instruction set (the best for the type that this computer has; amx where it has AMX)
#   ARCH=FILE      for this computer (what `tileflow import --host` says, with N cores)
#   DNNL_ROOT=DIR  oneDNN (2 or 3) from there, with include and lib, not Debian's; MKL_ROOT=DIR: MKL from there takes part, too
# Needs Debian's libdnnl-dev libopenblas-dev libxsmm-dev (peers only: the product does not).  The mapping is the one `emit` plans
# by itself: no tuning run.  Columns: case, contestant, seconds, GFLOP/s (or Gop/s), share of a peak on registers alone, times the time of
# `beside`, which is ours.
set -u
usage="usage: $0 TILEFLOW GROUP [CASE]"
. "$(dirname "$0")/../lib.sh"
group=${2:?$usage} word=${3:-*}
begin "$(dirname "$0")/../.." "${1:?$usage}"
threads=${THREADS:-1}
# OpenBLAS is called on one thread, and every library takes the best kernels that it has for this computer.
export OMP_NUM_THREADS="$threads" OPENBLAS_NUM_THREADS=1
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE DNNL_MAX_CPU_ISA ONEDNN_MAX_CPU_ISA LIBXSMM_TARGET
if [ "$threads" = 1 ]; then openmp=-fopenmp-simd pin="taskset -c 0"; else openmp=-fopenmp pin=; fi
if [ -n "${DNNL_ROOT:-}" ]; then
  flags_dnnl="-I $DNNL_ROOT/include -L $DNNL_ROOT/lib -Wl,-rpath,$DNNL_ROOT/lib"
else
  flags_dnnl=
fi
export MKL_THREADING_LAYER=SEQUENTIAL
libraries="-ldnnl -lopenblas -lxsmmext -lxsmm -lblas -lm -ldl -lpthread"
failed=0
host "$threads"

# beside NAME DRIVER DTYPE WORKLOAD FLAG...: emits, compiles, compares, times; $scratch/shape.h says how large it is
beside() {
  name=$1 driver=$2 dtype=$3 workload=$4
  shift 4
  # shellcheck disable=SC2086,SC2154 # one word a flag; lib.sh sets tool, scratch and flags
  emitted "$host" "$workload" --dtype "$dtype" ${ISA:+--isa "$ISA"} &&
    cp "$scratch/shape.h" "$scratch/k/" &&
    if grep -q '^int kernel_pack(' "$scratch/k/kernel.h"; then set -- "$@" -DPACKED; fi &&
    gcc -std=c17 -O3 $flags $openmp -I "$scratch/k" -c "$scratch/k/kernel.c" -o "$scratch/k/kernel.o" &&
    gcc -std=gnu17 -O3 $flags -fopenmp "$@" -I "$scratch/k" -I bench/kernels $flags_dnnl "bench/kernels/$driver.c" "$scratch/k/kernel.o" \
      -o "$scratch/k/versus" $libraries &&
    $pin "$scratch/k/versus" "$name" || { echo "$0: no figures for $name" >&2; failed=1; }
}

asked() { case $1 in $word) ;; *) return 1 ;; esac; }

# chain NAME DRIVER DTYPE WORKLOAD FLAG...: two products, by the names of their sizes in the file
chain() {
  asked "$1" || return 0
  f=$4
  case $f in
  */attention/*) sizes="BATCH = $(($(value "$f" batch) * $(value "$f" heads))), M = $(value "$f" seq), N = $(value "$f" v_dim),
    K = $(value "$f" qk_dim), L = $(value "$f" kv_seq)" ;;
  *) sizes="BATCH = $(value "$f" batch | grep . || echo 1), M = $(value "$f" M), N = $(value "$f" N | grep . || echo 1),
    K = $(value "$f" K), L = $(value "$f" L)" ;;
  esac
  echo "enum { $sizes };" >"$scratch/shape.h"
  beside "$@"
}

# window B C H W F R STRIDE: an initialiser of conv.c's, same padding
window() { echo "{$1, $2, $3, $4, $5, $3 / $7, $4 / $7, $6, $7, $6 / 2}"; }

# convolutions NAME WORKLOAD FLAG...: two in a row
convolutions() {
  asked "$1" || return 0
  name=$1 f=$2
  shift 2
  v() { value "$f" "$1"; }
  {
    echo "#define FIRST $(window "$(v batch)" "$(v IC)" "$(v H)" "$(v W)" "$(v OC1)" "$(v k1)" "$(v st1)")"
    echo "#define SECOND $(window "$(v batch)" "$(v OC1)" "$(v H)/$(v st1)" "$(v W)/$(v st1)" "$(v OC2)" "$(v k2)" "$(v st2)")"
  } >"$scratch/shape.h"
  beside "$name" conv f32 "$f" -DCHAIN "$@"
}

# layer NAME WORKLOAD: one
layer() {
  asked "$1" || return 0
  f=$2
  v() { value "$f" "$1"; }
  echo "#define FIRST $(window "$(v batch)" "$(v C)" "$(v H)" "$(v W)" "$(v K)" "$(v R)" "$(v st)")" >"$scratch/shape.h"
  beside "$1" conv f32 "$f"
}

# The first product of a chain by itself.
product_file() {
  {
    grep '^params' "$1"
    printf 'workload:\n  name: product\n  dims: {b: batch, m: M, k: K, l: L}\n  ops:\n  - C[b,m,l] += A[b,m,k] * B[b,k,l]\n'
  } >"$scratch/product.yaml"
}

each_g="1 2 3 4 5 6 7 8 9 10 11 12"
each_c="1 2 3 4 5 6 7 8"
echo "case,contestant,seconds,gflops,share_of_peak,times_slower,beside"
case $group in
chains) for g in $each_g; do chain "G$g" gemm_chain f32 "workloads/gemm-chain/g$g.yaml"; done ;;
softmax) for g in $each_g; do chain "G$g-softmax" gemm_chain f32 "workloads/attention/g$g.yaml" -DSOFTMAX; done ;;
exponent) chain matmul-exp-matmul gemm_chain f32 workloads/matmul-exp-matmul.yaml -DEXPONENT ;;
bf16) for g in $each_g; do chain "G$g-bf16" low_chain bf16 "workloads/gemm-chain/g$g.yaml" -DTYPE_BF16; done ;;
bf16-softmax) for g in $each_g; do chain "G$g-softmax-bf16" low_chain bf16 "workloads/attention/g$g.yaml" -DTYPE_BF16 -DSOFTMAX; done ;;
int8) for g in $each_g; do chain "G$g-int8" low_chain int8 "workloads/gemm-chain/g$g.yaml" -DTYPE_INT8; done ;;
int8-softmax) for g in $each_g; do chain "G$g-softmax-int8" low_chain int8 "workloads/attention/g$g.yaml" -DTYPE_INT8 -DSOFTMAX; done ;;
int8-product)
  for g in $each_g; do
    product_file "workloads/gemm-chain/g$g.yaml"
    chain "G$g-product-int8" low_chain int8 "$scratch/product.yaml" -DTYPE_INT8 -DPRODUCT
  done ;;
conv) for c in $each_c; do convolutions "C$c" "workloads/conv-chain/c$c.yaml"; done ;;
conv-relu) for c in $each_c; do convolutions "C$c-relu" "workloads/conv-chain-relu/c$c.yaml" -DRELU; done ;;
yolo) for c in $each_c 9 10 11 12 13 14 15; do layer "YOLO-C$c" "workloads/conv/yolo-c$c.yaml"; done ;;
resnet) for c in 0 $each_c 9 10 11; do layer "ResNet-C$c" "workloads/conv/resnet18-c$c.yaml"; done ;;
*) echo "$0: no group '$group'" >&2 && exit 2 ;;
esac
exit $failed
