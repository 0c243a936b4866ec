#!/bin/sh
# Whose words enter the first cache, tensor by tensor, beside what the model says: our kernels of bench/movement/beside.sh, in a cache
# of 12 ways and in one without sets (whose.c).  CSV on stdout; a minute.
#   bench/movement/whose.sh TILEFLOW FOLDER     FOLDER: what beside.sh left in TILES=DIR
# `kept`: the room that kernels are given, where the fused one has its tile of C; `other`: what else is in memory.
set -eu
. "$(dirname "$0")/../lib.sh"
dir=$(realpath "${2:?usage: $0 TILEFLOW FOLDER}")
begin "$(dirname "$0")/../.." "$1"
echo "case,who,tensor,l1_words,l1_words_one_set,predicted_l1"
while read -r case rest; do
  at=$dir/$case
  set --
  for part in fused first second; do
    # shellcheck disable=SC2046 # one word a flag
    gcc -std=c17 -O3 $(flags_of "$at/$part") -fsanitize=thread -c "$at/$part/kernel.c" -o "$scratch/$part.o"
    set -- "$@" "$scratch/$part.o"
  done
  gcc -std=gnu17 -O2 -DWHOSE -I "$at" -I . bench/movement/beside.c bench/movement/whose.c "$@" -o "$scratch/whose" -ldnnl -lopenblas -lm
  for who in fused parts; do
    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 "$scratch/whose" $who 2 >"$scratch/words"
    case $who in fused) maps=fused ;; *) maps="first second" ;; esac
    for map in $maps; do
      "$tool" eval bench/movement/three.yaml "$at/$map.yaml" "$at/$map-mapping.yaml" --csv - --quiet | awk -F, -f bench/movement/entering.awk
    done | awk -v row="$case,$who" 'NR == FNR { if ($1 == "L1") words[$2] += $3; next }
      { split($0, cell, ","); t = cell[1]
        if (row ~ /fused$/) t = t == "C" ? "" : t == "kept" ? "C" : t
        printf "%s,%s,%.0f\n", row, $0, words[t] }' - "$scratch/words"
  done
done <"$dir/cases"
