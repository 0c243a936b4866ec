#!/bin/sh
# Predicted against counted movement where the two products are not fused (thesis Fig. 3.11 f): tiles as run.sh draws them, the second
# product after all of the first.  CSV on stdout; minutes.
#   bench/movement/apart.sh TILEFLOW [TILES]     so many tiles (150)
# TILES=DIR keeps what was made and counted in DIR.
set -eu
. "$(dirname "$0")/../lib.sh"
begin "$(dirname "$0")/../.." "${1:?usage: $0 TILEFLOW [TILES]}"
tiles=${2:-150}
side=288
dir=${TILES:-$scratch/apart}
mkdir -p "$dir"

# All tiles from these lengths that fit twice, and whose panels do not, the last ones either: what streams through comes again each time.
awk -v side=$side -v tiles="$tiles" -v capacity=12288 -v panel=6144 "$(cat bench/movement/lengths.awk)"'
  BEGIN {
    for (i = 1; i <= nm; i++) for (j = 1; j <= nl; j++) for (a = 1; a <= nk; a++) for (b = 1; b <= nn; b++) {
      m = M[i]; l = L[j]; k = K[a]; n = N[b]
      if (side % m || side % l || k * l > panel || l * n > panel) continue
      if (2 * (m * l + larger(k * (m + l), n * (m + l))) > capacity || side * (m + l) <= capacity) continue
      row[++found] = m " " l " " k " " n " apart"
    }
    seed = 20261128
    for (i = 1; i <= tiles && i <= found; i++) { # the start of a shuffle
      j = i + int(draw() * (found - i + 1))
      swap = row[i]; row[i] = row[j]; row[j] = swap
      print i, "ml", row[i]
    }
  }' >"$dir/tiles"

# shellcheck disable=SC2016 # expanded by the inner shell
xargs -P 2 -L 1 sh -c 'sh bench/movement/one.sh "$0" "$1/$3" "$2" "$4" "$5" "$6" "$7" "$8" "$9"' "$tool" "$dir" $side <"$dir/tiles" >&2
echo "order,m,l,k,n,words_needed,predicted_words,measured_words,last_level_words"
while read -r id rest; do cut -d, -f 2-10 "$dir/$id/row"; done <"$dir/tiles"
