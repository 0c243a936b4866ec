#!/bin/sh
# Whose words enter the first cache, tensor by tensor, by the sets of Cachegrind's cache and without sets.  CSV on stdout; minutes.
#   bench/movement/whose.sh FOLDER WHO     FOLDER: a case that beside.sh left in TILES=DIR; WHO: fused, parts, openblas, onednn
# The memory accesses that Valgrind's Lackey traces, in a cache of whose.c.
set -eu
beside=$(realpath "${1:?usage: $0 FOLDER WHO}/beside")
who=${2:?usage: $0 FOLDER WHO}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
gcc -std=c17 -O2 "$(dirname "$0")/whose.c" -o "$work/whose"
valgrind --tool=none --quiet "$beside" "$who" 2 where >"$work/places" # Valgrind gives the same addresses in each run
mkfifo "$work/trace"
"$work/whose" "$work/places" <"$work/trace" &
valgrind --tool=lackey --trace-mem=yes --log-fd=9 "$beside" "$who" 2 where 9>"$work/trace" >"$work/again"
cmp -s "$work/places" "$work/again" || { echo "$0: the arrays are elsewhere in the second run" >&2; exit 1; }
wait $!
