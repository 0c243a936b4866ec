#!/bin/sh
# One tile of bench/movement/run.sh or apart.sh: emits, compiles, counts; leaves FOLDER/driver and a line in FOLDER/row.
#   bench/movement/one.sh TILEFLOW FOLDER SIDE ORDER M L K N CALLED
# ORDER: ml or lm, the outer loops; M L K N: the tile.  CALLED: fits, or tight for a tile that fits as long as what streams through
# is not charged twice; or apart, the second product after all of the first.
set -eu
tileflow=$1 dir=$2 side=$3 order=$4 m=$5 l=$6 k=$7 n=$8 called=$9
here=$(dirname "$0")
. "$here/../lib.sh"
mkdir -p "$dir"
[ ! -e "$dir/row" ] || [ ! -e "$dir/driver" ] || exit 0

steps() { echo $((($1 + $2 - 1) / $2)); }
case $order in
ml) loops="m=$(steps "$side" "$m") l=$(steps "$side" "$l")" ;;
lm) loops="l=$(steps "$side" "$l") m=$(steps "$side" "$m")" ;;
*) exit 2 ;;
esac
tall=$(steps "$m" 6) # tiles of registers down: no more than 6 rows each (Eq. 3.4)
rows=$((m / tall))
[ $((rows * tall)) -eq "$m" ] || { echo "$0: $m rows are not $tall alike" >&2; exit 2; }

case $called in
apart) above='  L2
    Seq keep C@L2' each="$loops " ;;
*) above="  L2 for $loops
    Seq keep C@L1" each= ;;
esac
cat >"$dir/mapping.yaml" <<MAPPING
mapping: |
$above
      L2 for ${each}k=$(steps "$side" "$k")
        L1 for l=$((l / 16)) m=$tall k=$k
          REG for m=$rows spatial l=8@x l=2@y
            op C
      L2 for ${each}n=$(steps "$side" "$n")
        L1 for n=$((n / 16)) m=$tall l=$l
          REG for m=$rows spatial n=8@x n=2@y
            op E
MAPPING
[ "$called" = tight ] && double=false || double=true
sed "s/double-buffered: true/double-buffered: $double/" "$here/core.yaml" >"$dir/core.yaml"
set -- "$dir/core.yaml" "$here/../../workloads/gemm-chain/g1.yaml" "$dir/mapping.yaml" \
  --set batch=1 --set "M=$side" --set "N=$side" --set "K=$side" --set "L=$side" --quiet
"$tileflow" eval "$@" --csv "$dir/counts.csv"
[ -e "$dir/kernel" ] || "$tileflow" emit "$@" --target cpu --isa avx2 --no-test -o "$dir/kernel"
# Valgrind takes a multiply-add apart in C, lane by lane: where no time is taken, a product and a sum load and store the same.
[ "$called" != apart ] || sed -i 's/_mm256_fmadd_ps(a, b, c)/_mm256_add_ps(_mm256_mul_ps(a, b), c)/' "$dir/kernel/parts.h"
flags=$(flags_of "$dir/kernel")
# shellcheck disable=SC2086 # one word a flag
gcc -std=c17 -O3 $flags -c "$dir/kernel/kernel.c" -o "$dir/kernel.o"
# shellcheck disable=SC2086
gcc -std=gnu17 -O2 $flags -DSIDE="$side" -I "$dir/kernel" -I "$here/../.." "$here/driver.c" "$dir/kernel.o" -o "$dir/driver" -lm
[ ! -e "$dir/row" ] || { rm -rf "$dir/kernel" && exit 0; }
timeout 300 valgrind --tool=cachegrind --cache-sim=yes --D1=49152,12,64 --LL=2097152,16,64 \
  --cachegrind-out-file="$dir/counted" "$dir/driver" count >"$dir/said" 2>&1

# Words that enter the cache: what is read of inputs and partial sums, and room made for sums (of C, where it is kept below).  Cachegrind counts lines that
# enter, whether for a read or a write; those of functions of kernel.o.
nm "$dir/kernel.o" | awk '{ print $3 }' >"$dir/functions"
awk -F, -v OFS=, -v row="$called,$order,$m,$l,$k,$n" '
  FILENAME == ARGV[1] { ours[$1] = 1; next }
  FILENAME == ARGV[2] {
    if ($4 == "total") cycles = $18
    if ($4 == "level" && $5 == "L1") need = $9
    if ($4 == "tensor" && $5 == "L1") enter += ($6 == "E" ? 0 : $10) + ($6 ~ /[CE]/ ? $13 : 0)
    next
  }
  /^events:/ { count = split($0, name, " "); next }
  /^fn=/ { in_kernel = (substr($0, 4) in ours); next }
  in_kernel && /^[0-9]/ {
    split($0, value, " ")
    for (i = 2; i <= count; i++) event[name[i]] += value[i]
  }
  END { print row, need, enter, 16 * (event["D1mr"] + event["D1mw"]), 16 * (event["DLmr"] + event["DLmw"]), cycles }
' "$dir/functions" "$dir/counts.csv" "$dir/counted" >"$dir/row.new"
mv "$dir/row.new" "$dir/row"
rm -rf "$dir/kernel" "$dir/counted"
