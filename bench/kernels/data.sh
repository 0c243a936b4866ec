#!/bin/sh
# Does the time of an emitted kernel hang on its data?  Attention, the same with a mask, streamed, and softmax as the output, on scores of
# deviation 1, 8 and 24 and masks of -inf, for each instruction set that this computer has: CSV on stdout, as bench/kernels/run.sh; contestants
# are kinds of data, compared with deviation 1.
#   bench/kernels/data.sh TILEFLOW [CASE]     CASE: only those of a pattern, 'masked-*-bf16'; names are KERNEL-ISA-DTYPE
set -u
usage="usage: $0 TILEFLOW [CASE]"
. "$(dirname "$0")/../lib.sh"
word=${2:-*}
begin "$(dirname "$0")/../.." "${1:?$usage}"
export OMP_NUM_THREADS=1
host=arch-specs/host-template.yaml # all have the same loops, those of bench/kernels/data
failed=0

# one KERNEL ISA DTYPE FLAG...
one() {
  name=$1-$2-$3
  # shellcheck disable=SC2254 # a pattern
  case $name in $word) ;; *) return 0 ;; esac
  file=bench/kernels/data/$1.yaml isa=$2 dtype=$3
  shift 3
  # shellcheck disable=SC2086,SC2154 # one word a flag; lib.sh sets scratch and flags
  emitted "$host" "$file" --isa "$isa" --dtype "$dtype" &&
    gcc -std=gnu17 -O3 $flags -fopenmp-simd "$@" -I "$scratch/k" -I bench/kernels bench/kernels/data.c "$scratch/k/kernel.c" -o "$scratch/k/data" -lm &&
    taskset -c 0 "$scratch/k/data" "$name" || { echo "$0: no figures for $name" >&2; failed=1; }
}

# has FLAG: of /proc/cpuinfo
has() { grep -q -w "$1" /proc/cpuinfo; }

# isas DTYPE: those that gain by the type, or all where one gains
isas() {
  echo portable
  has avx2 && echo avx2
  if has avx512f && [ "$1" != int8 ]; then echo avx512; fi
  if has avx512_vnni && [ "$1" = int8 ]; then echo avx512_vnni; fi
  if has avx512_bf16 && [ "$1" = bf16 ]; then echo avx512_bf16; fi
  if has "amx_$1"; then echo amx; fi
}

echo "case,contestant,seconds,gflops,share_of_peak,times_slower,beside"
for dtype in f32 bf16 int8; do
  flag=-DTYPE_$(echo $dtype | tr '[:lower:]' '[:upper:]')
  for isa in $(isas $dtype); do
    one attention "$isa" $dtype "$flag"
    one masked "$isa" $dtype "$flag" -DMASKED
    one stream "$isa" $dtype "$flag" -DMASKED
    one softmax "$isa" $dtype "$flag" -DNO_PRODUCT
  done
done
exit $failed
