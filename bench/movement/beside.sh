#!/bin/sh
# What enters each cache, ours beside OpenBLAS and oneDNN (thesis Fig. 3.11 a to c): the chains of two products G1 to G12 fused, and
# product by product.  CSV on stdout; half an hour.
#   bench/movement/beside.sh TILEFLOW [CASE...]
# Counted by Cachegrind, which knows AVX2 and no AVX-512, in caches of 48 KiB, 512 KiB and 1 MiB: three.yaml.  Of a batch as many
# are taken as make C larger than the last one; chains that are the same then are counted once.  The kernels are of the tiles by
# which the model says that fewest words enter the first cache, of those that fill no more than WAYS (10) of its 12 ways.
# TILES=DIR keeps what was made and counted in DIR.
# Needs Debian's libdnnl-dev and libopenblas-dev (peers only: the product does not).
set -eu
. "$(dirname "$0")/../lib.sh"
begin "$(dirname "$0")/../.." "${1:?usage: $0 TILEFLOW [CASE...]}"
shift
[ $# -gt 0 ] || set -- 1 2 3 4 5 6 7 8 9 10 11 12
most=360448 # words of C: 1.375 MiB
dir=${TILES:-$scratch/beside}
mkdir -p "$dir"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE DNNL_MAX_CPU_ISA ONEDNN_MAX_CPU_ISA
for g; do
  f=workloads/gemm-chain/g${g#G}.yaml
  echo "G${g#G} $(value "$f" batch) $(value "$f" M) $(value "$f" N) $(value "$f" K) $(value "$f" L)"
done | awk -v most=$most '{
  cut = int((most + $3 * $6 - 1) / ($3 * $6)); if ($2 > cut) $2 = cut
  shape = $2 " " $3 " " $4 " " $5 " " $6
  if (!seen[shape]++) print $1, shape }' >"$dir/cases"
# shellcheck disable=SC2016 # expanded by the inner shell
xargs -P 2 -L 1 sh -c 'sh bench/movement/beside_one.sh "$0" "$1/$2" "$2" "$3" "$4" "$5" "$6" "$7"' "$tool" "$dir" <"$dir/cases" >"$dir/said"
echo "case,who,references,l1_words,l2_words,l3_words,predicted_l1,predicted_l2,predicted_l3"
while read -r case rest; do cat "$dir/$case/rows"; done <"$dir/cases"
