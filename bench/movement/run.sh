#!/bin/sh
# Predicted against measured movement and time (thesis Fig. 3.11 d and e): hundreds of tiles of a chain of two products, in two
# orders of the outer loops.  CSV on stdout; minutes.
#   bench/movement/run.sh TILEFLOW [TILES [TIGHT]]     so many tiles in each order (150) that fit, and that fit barely (25)
# Each tile's kernel is emitted for AVX2 and run once under Cachegrind, which counts the lines that enter a cache of 48 KiB; then
# all run by themselves in turn, on one core, each beside a loop of multiply-adds on registers (best of five medians).
# TILES=DIR keeps the tiles' programs in DIR.
set -eu
. "$(dirname "$0")/../lib.sh"
begin "$(dirname "$0")/../.." "${1:?usage: $0 TILEFLOW [TILES [TIGHT]]}"
tiles=${2:-150} tight=${3:-25}
side=288 # the thesis's 2048: no matrix fits the first cache, no panel of one either
dir=${TILES:-$scratch/tiles} # TILES: a folder that stays: what it has is not made again
mkdir -p "$dir"

# All tiles from these lengths that touch between a tenth of the cache and all of it, in a random order that is always the same.
awk -v side=$side -v tiles="$tiles" -v tight="$tight" -v capacity=12288 -v panel=6144 "$(cat bench/movement/lengths.awk)"'
  BEGIN {
    for (i = 1; i <= nm; i++) for (j = 1; j <= nl; j++) for (a = 1; a <= nk; a++) for (b = 1; b <= nn; b++) {
      m = M[i]; l = L[j]; k = K[a]; n = N[b]
      if (k * l > panel || l * n > panel) continue        # a nest holds no more (codegen/backend/cpu/pass/product.c)
      kept = m * l; streamed = larger(k * (m + l), n * (m + l))
      if (kept + streamed > capacity) continue
      called = kept + 2 * streamed > capacity ? "tight" : "fits"
      if (kept + 2 * streamed < capacity / 10) continue
      row[called, ++found[called]] = m " " l " " k " " n " " called
    }
    seed = 20261121
    for (o = 0; o < 2; o++) for (c = 0; c < 2; c++) {
      called = c ? "tight" : "fits"
      want = c ? tight : tiles
      for (i = 1; i <= want && i <= found[called]; i++) { # the start of a shuffle
        j = i + int(draw() * (found[called] - i + 1))
        swap = row[called, i]; row[called, i] = row[called, j]; row[called, j] = swap
        print ++id, (o ? "lm" : "ml"), row[called, i]
      }
    }
  }' >"$dir/tiles"

# shellcheck disable=SC2016 # expanded by the inner shell
xargs -P 2 -L 1 sh -c 'sh bench/movement/one.sh "$0" "$1/$3" "$2" "$4" "$5" "$6" "$7" "$8" "$9"' "$tool" "$dir" $side <"$dir/tiles" >&2

echo "kind,order,m,l,k,n,words_needed,predicted_words,measured_words,last_level_words,predicted_cycles,seconds,share_of_peak"
# Five passes over all: what else the machine does comes and goes, and only ever slows one down.
rm -f "$dir"/*/took
for pass in 1 2 3 4 5; do
  while read -r id rest; do
    taskset -c $((pass % $(nproc))) "$dir/$id/driver" time >>"$dir/$id/took"
  done <"$dir/tiles"
done
while read -r id rest; do
  echo "$(cat "$dir/$id/row"),$(sort -k 2,2gr "$dir/$id/took" | head -n 1 | tr ' ' ,)"
done <"$dir/tiles"
