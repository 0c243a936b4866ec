#!/bin/sh
# One case of bench/movement/beside.sh: its rows on stdout, kept in FOLDER/rows.
#   bench/movement/beside_one.sh TILEFLOW FOLDER CASE BATCH M N K L
set -eu
tileflow=$1 dir=$2 case=$3 batch=$4 m=$5 n=$6 k=$7 l=$8
here=$(dirname "$0")
. "$here/../lib.sh"
mkdir -p "$dir"
[ ! -e "$dir/rows" ] || { cat "$dir/rows" && exit; }
cache=$((${WAYS:-10} * 1024)) # words of the first cache that tiles may fill: of 12 ways; sets do not share alike
panel=6144                   # words of the second operand below which emit ends the loops: half of the first cache (codegen/backend/cpu/pass/product.c)

workload() { # NAME DIMS OP...: its file
  name=$1 dims=$2
  shift 2
  { printf 'workload:\n  name: %s\n  dims: {b: %s, m: %s, %s}\n  ops:\n' "$name" "$batch" "$m" "$dims" && printf '  - %s\n' "$@"; } >"$dir/$name.yaml"
}
c_op='C[b,m,l] += A[b,m,k] * B[b,k,l]' e_op='E[b,m,n] += C[b,m,l] * D[b,l,n]'
workload fused "k: $k, l: $l, n: $n" "$c_op" "$e_op"
workload first "k: $k, l: $l" "$c_op"
workload second "l: $l, n: $n" "$e_op"

steps() { echo $((($1 + $2 - 1) / $2)); }
# nest INDENT OP J R TM TJ TR: a tile of TM rows, TJ columns (dim J), TR of the sum (dim R)
nest() {
  printf '%sL1 for %s=%s m=%s %s=%s\n%s  REG for m=4 spatial %s=8@x %s=2@y\n%s    op %s\n' \
    "$1" "$3" $(($6 / 16)) $(($5 / 4)) "$4" "$7" "$1" "$3" "$3" "$1" "$2"
}
# fused TM TL: both products of a tile of C before the next one.  The rows of A and E stay in the first cache while l goes round.
fused() {
  printf '  DRAM for b=%s m=%s\n    L3\n      L2 for l=%s\n        Shar keep C@L1\n' "$batch" "$(steps "$m" "$1")" $((l / $2))
  nest '          ' C l k "$1" "$2" "$k"
  nest '          ' E n l "$1" "$n" "$2"
}
# alone OP J R SIZE_J SIZE_R TM TJ TR: a product by itself
alone() {
  printf '  DRAM for b=%s m=%s\n    L3\n' "$batch" "$(steps "$m" "$6")"
  inner '      ' "$@"
}
# inner INDENT OP J R SIZE_J SIZE_R TM TJ TR: of this, what is in the second cache
inner() {
  printf '%sL2 for %s=%s %s=%s\n' "$1" "$3" $(($5 / $8)) "$4" $(($6 / $9))
  nest "$1  " "$2" "$3" "$4" "$7" "$8" "$9"
}
# kept FIRST SECOND: both products, one after the other, C in the third cache between them
kept() {
  printf '  DRAM\n    Seq keep C@L3\n      L3 for b=%s m=%s\n' "$batch" "$(steps "$m" "${1%% *}")"
  # shellcheck disable=SC2086 # a tile's sizes
  inner '        ' C l k "$l" "$k" $1
  printf '      L3 for b=%s m=%s\n' "$batch" "$(steps "$m" "${2%% *}")"
  # shellcheck disable=SC2086
  inner '        ' E n l "$n" "$l" $2
}

# entering NAME [WORKLOAD]: of its mapping, the words that enter L1, L2 and L3.  Nothing where it does not fit.
entering() {
  "$tileflow" eval "$here/three.yaml" "$dir/${2:-$1}.yaml" "$dir/$1-mapping.yaml" --csv - --quiet 2>>"$dir/said" | awk -F, -f "$here/entering.awk" |
    awk '{ enter[$1] += $3 } END { if (NR) printf "%.0f,%.0f,%.0f\n", enter["L1"], enter["L2"], enter["L3"] }'
}
divisors() { awk -v n="$1" -v step="$2" 'BEGIN { for (i = step; i <= n; i += step) if (n % i == 0) print i }'; }
# fits STAYING STREAMED: while the next streamed tile comes in, the old one is younger than what is to stay, so that it needs room twice
fits() { [ $(($1 + 2 * $2)) -le $cache ]; }
# better NAME TILE: the mapping on stdin, if fewer words enter the first cache than by the best so far
better() {
  { echo 'mapping: |' && cat; } >"$dir/$1-mapping.yaml"
  words=$(entering "$1")
  [ -n "$words" ] && [ "${words%%,*}" -lt "$least" ] || return 0
  least=${words%%,*} tile=$2
}

# The tiles by which the model says that fewest words enter the first cache, of those that emit keeps: it ends the loops as soon as the panel
# of B or D is small, so that nothing inside is cut.  Fused: k and n whole.
least=1000000000000 tile=
for tm in $(seq 4 4 64); do for tl in $(divisors "$l" 16); do
  if [ $((k * tl)) -gt $panel ] || [ $((n * tl)) -gt $panel ]; then continue; fi
  fits $((tm * (k + n + tl))) $((tl * (k + n))) || continue
  fused "$tm" "$tl" >"$dir/try" && better fused "$tm $tl" <"$dir/try"
done; done
fused_tile=$tile
tiled() { # NAME OP J R SIZE_J SIZE_R: $tile, of a product by itself
  least=1000000000000 tile=
  for tm in $(seq 4 4 64); do for tj in $(divisors "$5" 16); do for tr in $(divisors "$6" 16); do
    [ $((tj * tr)) -le $panel ] || continue
    if [ "$tr" -eq "$6" ]; then # rows of the first operand stay
      if [ "$tj" -ge "$5" ] || ! fits $((tm * tr)) $((tj * (tm + tr))); then continue; fi
    elif [ $((tj * $6)) -le $panel ] || ! fits $((tm * tj)) $((tr * (tm + tj))); then # sums stay
      continue
    fi
    alone "$2" "$3" "$4" "$5" "$6" "$tm" "$tj" "$tr" >"$dir/try" && better "$1" "$tm $tj $tr" <"$dir/try"
  done; done; done
}
tiled first C l k "$l" "$k"
first=$tile
tiled second E n l "$n" "$l"
second=$tile
echo "$case: fused $fused_tile, apart $first and $second" >&2

# shellcheck disable=SC2086 # a tile's sizes
{
  { echo 'mapping: |' && fused $fused_tile; } >"$dir/fused-mapping.yaml"
  { echo 'mapping: |' && alone C l k "$l" "$k" $first; } >"$dir/first-mapping.yaml"
  { echo 'mapping: |' && alone E n l "$n" "$l" $second; } >"$dir/second-mapping.yaml"
  { echo 'mapping: |' && kept "$first" "$second"; } >"$dir/kept-mapping.yaml"
}
for part in fused first second; do
  rm -rf "${dir:?}/$part"
  "$tileflow" emit "$here/three.yaml" "$dir/$part.yaml" "$dir/$part-mapping.yaml" --target cpu --isa avx2 --name $part --no-test --quiet -o "$dir/$part"
done

echo "enum { BATCH = $batch, M = $m, N = $n, K = $k, L = $l };" >"$dir/shape.h"
set --
for part in fused first second; do
  flags=$(flags_of "$dir/$part")
  # Valgrind takes a multiply-add apart in C, lane by lane: a product and a sum in its place load and store the same.
  sed -i 's/_mm256_fmadd_ps(a, b, c)/_mm256_add_ps(_mm256_mul_ps(a, b), c)/' "$dir/$part/parts.h"
  # shellcheck disable=SC2086 # one word a flag
  gcc -std=c17 -O3 $flags -ffp-contract=off -c "$dir/$part/kernel.c" -o "$dir/$part.o"
  cp "$dir/$part/kernel.h" "$dir/$part.h"
  set -- "$@" "$dir/$part.o"
done
gcc -std=gnu17 -O2 -I "$dir" -I "$here/../.." "$here/beside.c" "$@" -o "$dir/beside" -ldnnl -lopenblas -lm
"$dir/beside" check

# counted WHO PARTS: references to data, and lines that enter the first, second and third cache.  Cachegrind has two caches: each is
# behind the first in a run of its own.
counted() {
  for last in 524288 1048576; do
    timeout 3600 valgrind --tool=cachegrind --cache-sim=yes --D1=49152,12,64 --LL=$last,16,64 --cachegrind-out-file="$dir/counted" \
      "$dir/beside" "$1" "$2" >"$dir/valgrind" 2>&1 || { cat "$dir/valgrind" >&2 && return 1; }
    awk '/^summary:/ { print $5 + $8, $6 + $9, $7 + $10 }' "$dir/counted"
  done | awk '{ references = $1; l1 = $2; last[NR] = $3 } END { printf "%.0f %.0f %.0f %.0f\n", references, l1, last[1], last[2] }'
}
# row WHO PREDICTED: what Cachegrind counts of both products, in words
row() {
  cat "$dir/$1-2" "$dir/$1-0" | awk -v who="$case,$1" -v predicted="$2" '
    NR == 1 { split($0, more) } NR == 2 { split($0, less) }
    END { printf "%s,%.0f,%.0f,%.0f,%.0f,%s\n", who, more[1] - less[1], 16 * (more[2] - less[2]), 16 * (more[3] - less[3]), 16 * (more[4] - less[4]), predicted }'
}
for who in fused parts openblas onednn; do
  for parts in 0 2; do
    [ -s "$dir/$who-$parts" ] || { counted $who $parts >"$dir/new" && mv "$dir/new" "$dir/$who-$parts"; }
  done
done
{
  row fused "$(entering fused)"
  apart=$(entering kept fused) # if C fits, it does not leave
  row parts "${apart:-$({ entering first && entering second; } | awk -F, '{ for (i = 1; i <= 3; i++) s[i] += $i } END { printf "%.0f,%.0f,%.0f", s[1], s[2], s[3] }')}"
  row openblas ,,
  row onednn ,,
} >"$dir/rows.new"
mv "$dir/rows.new" "$dir/rows"
cat "$dir/rows"
