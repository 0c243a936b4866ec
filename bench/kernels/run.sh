#!/bin/sh
# Emitted kernels against libraries, interleaved in one run: CSV on stdout.
#   bench/kernels/run.sh TILEFLOW [WORD]     only the cases whose name begins with WORD
#   THREADS=N                                on N cores (1)
# Needs Debian's libdnnl-dev libopenblas-dev libxsmm-dev (peers only: the product does not).  The mapping is the one `emit` plans
# by itself: no tuning run.  Columns: case, contestant, seconds, GFLOP/s, share of a register-only FMA peak, times our time.
set -u
tileflow=$(realpath "${1:?usage: $0 TILEFLOW [WORD]}") || exit 2
word=${2:-}
cd "$(dirname "$0")/../.." || exit 2
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
threads=${THREADS:-1}
export OMP_NUM_THREADS="$threads" OPENBLAS_NUM_THREADS="$threads"
if [ "$threads" = 1 ]; then openmp=-fopenmp-simd pin="taskset -c 0"; else openmp=-fopenmp pin=; fi
libraries="-ldnnl -lopenblas -lxsmm -lblas -lm -ldl -lpthread"
arch=${ARCH:-arch-specs/host-template.yaml}

# build DRIVER WORKLOAD FLAG...: emits, compiles kernel and driver into $dir/k
build() {
  driver=$1 workload=$2
  shift 2
  rm -rf "$dir/k"
  "$tileflow" emit "$arch" "$workload" --evals 100000 --time-limit 60 --seed 1 --target cpu -o "$dir/k" --quiet || return 1
  flags=$(sed -n 's/^ALL = -std=c17 \(.*\) \$(CFLAGS).*/\1/p' "$dir/k/Makefile")
  cp "$dir/shape.h" "$dir/k/" || return 1
  # shellcheck disable=SC2086 # one word a flag
  gcc -std=c17 -O3 $flags $openmp -I "$dir/k" -c "$dir/k/kernel.c" -o "$dir/k/kernel.o" &&
    gcc -std=gnu17 -O3 $flags -fopenmp "$@" -I "$dir/k" -I bench/kernels "bench/kernels/$driver.c" "$dir/k/kernel.o" \
      -o "$dir/k/versus" $libraries
}

# value FILE NAME: a parameter of a workload file
value() { sed -n "s/^params:.*[{ ]$2: \([0-9]*\).*/\1/p" "$1"; }

asked() { case $1 in "$word"*) ;; *) return 1 ;; esac; }

# chain CASE WORKLOAD FLAG...
chain() {
  name=$1 workload=$2
  asked "$name" || return
  if [ "$#" -gt 2 ]; then
    b=$(($(value "$workload" batch) * $(value "$workload" heads)))
    set -- "$@" "$(value "$workload" seq)" "$(value "$workload" v_dim)" "$(value "$workload" qk_dim)" "$(value "$workload" kv_seq)"
    shift 3
    flag=-DSOFTMAX
  else
    b=$(value "$workload" batch)
    set -- "$(value "$workload" M)" "$(value "$workload" N)" "$(value "$workload" K)" "$(value "$workload" L)"
    flag=-DPLAIN
  fi
  echo "enum { BATCH = $b, M = $1, N = $2, K = $3, L = $4 };" >"$dir/shape.h"
  build gemm_chain "$workload" $flag && $pin "$dir/k/versus" "$name"
}

# exponent CASE WORKLOAD: product, exp, product
exponent() {
  name=$1 workload=$2
  asked "$name" || return
  echo "enum { BATCH = 1, M = $(value "$workload" M), N = $(value "$workload" N), K = $(value "$workload" K), L = $(value "$workload" L) };" \
    >"$dir/shape.h"
  build gemm_chain "$workload" -DEXPONENT && $pin "$dir/k/versus" "$name"
}

# window B C H W F R STRIDE: an initialiser of conv.c's, same padding
window() { echo "{$1, $2, $3, $4, $5, $3 / $7, $4 / $7, $6, $7, $6 / 2}"; }

# convolutions CASE WORKLOAD FLAG...: two in a row
convolutions() {
  name=$1 workload=$2
  shift 2
  asked "$name" || return
  v() { value "$workload" "$1"; }
  {
    echo "#define FIRST $(window "$(v batch)" "$(v IC)" "$(v H)" "$(v W)" "$(v OC1)" "$(v k1)" "$(v st1)")"
    echo "#define SECOND $(window "$(v batch)" "$(v OC1)" "$(v H)/$(v st1)" "$(v W)/$(v st1)" "$(v OC2)" "$(v k2)" "$(v st2)")"
  } >"$dir/shape.h"
  build conv "$workload" -DCHAIN "$@" && $pin "$dir/k/versus" "$name"
}

# layer CASE WORKLOAD: one
layer() {
  name=$1 workload=$2
  asked "$name" || return
  v() { value "$workload" "$1"; }
  echo "#define FIRST $(window "$(v batch)" "$(v C)" "$(v H)" "$(v W)" "$(v K)" "$(v R)" "$(v st)")" >"$dir/shape.h"
  build conv "$workload" && $pin "$dir/k/versus" "$name"
}

echo "case,contestant,seconds,gflops,share_of_peak,times_slower"
for g in 1 2 3 4 5 6 7 8 9 10 11 12; do
  chain "G$g" "workloads/gemm-chain/g$g.yaml"
  chain "G$g-softmax" "workloads/attention/g$g.yaml" softmax
done
exponent matmul-exp-matmul workloads/matmul-exp-matmul.yaml
for c in 1 2 3 4 5 6 7 8; do
  convolutions "C$c" "workloads/conv-chain/c$c.yaml"
  convolutions "C$c-relu" "workloads/conv-chain-relu/c$c.yaml" -DRELU
done
for c in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do layer "YOLO-C$c" "workloads/conv/yolo-c$c.yaml"; done
for c in 0 1 2 3 4 5 6 7 8 9 10 11; do layer "ResNet-C$c" "workloads/conv/resnet18-c$c.yaml"; done
