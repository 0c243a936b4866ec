#!/bin/sh
# One case of chosen.sh: its row.
#   bench/kernels/chosen_one.sh TILEFLOW N CLOCK.so CASE
# ARCH: the computer's description; KERNELS: the folder that keeps rows
set -u
. "$(dirname "$0")/../lib.sh"
begin "$(dirname "$0")/../.." "$1"
most=$2 workload=${4%:*} dtype=f32
[ "$workload" = "$4" ] || dtype=${4##*:}
row=$KERNELS/row-$({ cat "$tool" "$ARCH" "$workload" && echo "$most $dtype"; } | sha256sum | cut -c 1-16)
if [ -e "$row" ]; then cat "$row" && exit; fi
unset KERNELS # kernels are planned and timed anew
export LD_PRELOAD="$3"
emitted "$ARCH" "$workload" --dtype "$dtype" && mv "$scratch/k" "$scratch/first" &&
  emitted "$ARCH" "$workload" --dtype "$dtype" --measure "$most" || { echo "$0: nothing for $4" >&2; exit 1; }
figures=$(awk '
  /"measured": \{/ { inside = 1; match($0, /"rank": [0-9]+/); rank = substr($0, RSTART + 8, RLENGTH - 8); next }
  inside && /"seconds": [0-9]/ {
    t = $0; sub(/.*"seconds": /, "", t); sub(/}.*/, "", t); t += 0
    if (!n++) first = t
    if (!best || t < best) best = t
  }
  END { printf "%d,%.6g,%.6g,%d %d", n, first, best, rank, (best ? 0.2 / best : 3) }' "$scratch/k/manifest.json")
rounds=${figures#* } figures=${figures% *}
[ "$rounds" -gt 3 ] || rounds=3
[ "$rounds" -lt 31 ] || rounds=31
# seconds_of FOLDER: of its kernel as it is called; what it takes on packed weights is another line
seconds_of() { "$scratch/$1/bench" "$rounds" | sed -n 's/^kernel \([0-9.e+-]*\) s,.*/\1/p'; }
if cmp -s "$scratch/first/kernel.c" "$scratch/k/kernel.c"; then
  again=1
else
  for which in first k; do make -s -C "$scratch/$which" bench >/dev/null || exit 1; done
  turn=0
  while [ $turn -lt 11 ]; do
    turn=$((turn + 1))
    echo "$(seconds_of first) $(seconds_of k)"
  done >"$scratch/turns"
  again=$(awk 'NF == 2 && $1 > 0 { print $2 / $1 }' "$scratch/turns" | sort -g | sed -n 6p)
  [ -n "$again" ] || { echo "$0: nothing for $4" >&2; exit 1; }
fi
into "$row" printf '%s,%s,%.3f\n' "$4" "$figures" "$again" && cat "$row"
