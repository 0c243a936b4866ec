#!/bin/sh
# Emitted kernels against libraries, interleaved in one run, one core: CSV on stdout.
#   bench/kernels/run.sh TILEFLOW [WORD]     only the cases whose name holds WORD
# Needs Debian's libdnnl-dev libopenblas-dev libxsmm-dev (peers only: the product does not).  The mapping is the one `emit` plans
# by itself: no tuning run.  Columns: case, contestant, seconds, GFLOP/s, share of a register-only FMA peak, times our time.
set -u
tileflow=$(realpath "${1:?usage: $0 TILEFLOW [WORD]}") || exit 2
word=${2:-}
cd "$(dirname "$0")/../.." || exit 2
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
libraries="-ldnnl -lopenblas -lxsmm -lblas -lm -ldl -lpthread"
arch=${ARCH:-arch-specs/host-template.yaml}

# build DRIVER WORKLOAD FLAG...: emits, compiles kernel and driver into $dir/k
build() {
  driver=$1 workload=$2
  shift 2
  rm -rf "$dir/k"
  "$tileflow" emit "$arch" "$workload" --evals 100000 --time-limit 10 --seed 1 --target cpu -o "$dir/k" --quiet || return 1
  flags=$(sed -n 's/^ALL = -std=c17 \(.*\) \$(CFLAGS).*/\1/p' "$dir/k/Makefile")
  cp "$dir/shape.h" "$dir/k/" || return 1
  # shellcheck disable=SC2086 # one word a flag
  gcc -std=c17 -O3 $flags -fopenmp-simd -I "$dir/k" -c "$dir/k/kernel.c" -o "$dir/k/kernel.o" &&
    gcc -std=gnu17 -O3 $flags -fopenmp-simd "$@" -I "$dir/k" -I bench/kernels "bench/kernels/$driver.c" "$dir/k/kernel.o" \
      -o "$dir/k/versus" $libraries
}

# value FILE NAME: a parameter of a workload file
value() { sed -n "s/^params:.*[{ ]$2: \([0-9]*\).*/\1/p" "$1"; }

# chain CASE WORKLOAD FLAG...
chain() {
  name=$1 workload=$2
  case $name in *"$word"*) ;; *) return ;; esac
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
  build gemm_chain "$workload" $flag && taskset -c 0 "$dir/k/versus" "$name"
}

echo "case,contestant,seconds,gflops,share_of_peak,times_slower"
for g in 1 2 3 4 5 6 7 8 9 10 11 12; do
  chain "G$g" "workloads/gemm-chain/g$g.yaml"
  chain "G$g-softmax" "workloads/attention/g$g.yaml" softmax
done
