#!/bin/sh
# Evaluations a second, one by one and in batches: writes docs/results/rate.csv and rate-instructions.csv, and docs/RESULTS-rate.md.
#   bench/results-rate.sh TILEFLOW [PART...]
# PART is one of: measure instructions report (all of them if none is named).  measure keeps the rows of other machines.
set -u
. "$(dirname "$0")/lib.sh"
begin "$(dirname "$0")/.." "${1:?usage: $0 TILEFLOW [PART...]}"
shift
[ $# -gt 0 ] || set -- measure instructions report
bench=$(dirname "$tool")/bench/bench_batch
rates=docs/results/rate.csv
counts=docs/results/rate-instructions.csv

# Both ways in turns in one run, processor time; of five runs that with the median of the times gained.
measure() {
  cpu=$(this_cpu) load=$(load_now) commit=$(git rev-parse --short HEAD) day=$(date -u +%F)
  for turn in 1 2 3 4 5; do "$bench" 1 | tail -n +2 || exit 1; done >"$scratch/runs"
  {
    echo "case,one_by_one_per_s,batch_per_s,times,cpu,date,load_before,commit"
    [ ! -e $rates ] || awk -F, -v cpu="$cpu" 'NR > 1 && $(NF - 3) != cpu' $rates
    for words in "two-op chain, 3 levels" "seven-op attention"; do
      grep "^$words," "$scratch/runs" | awk -F, '{ print $NF, $(NF - 2), $(NF - 1) }' | sort -n | sed -n 3p |
        awk -v case="$(echo "$words" | tr -d ,)" -v rest="$cpu,$day,$load,$commit" '{ printf "%s,%s,%s,%s,%s\n", case, $2, $3, $1, rest }'
    done
  } >"$scratch/rate.csv"
  cp "$scratch/rate.csv" $rates
}

# instructions WAY TREE: of one evaluation; 300 rounds of 64 rows less 100, by callgrind
each() {
  for rounds in 100 300; do
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$bench" "$1" "$2" $rounds 2>&1 | sed -n 's/.*Collected : //p'
  done | awk '{ n[NR] = $1 } END { printf "%.0f", (n[2] - n[1]) / (200 * 64) }'
}

instructions() {
  command -v valgrind >/dev/null || { echo "$0: no valgrind: the instructions stay those of before" >&2; return; }
  {
    echo "case,one_by_one,batch"
    echo "two-op chain 3 levels,$(each one two),$(each batch two)"
    echo "seven-op attention,$(each one seven),$(each batch seven)"
  } >"$scratch/counts.csv"
  cp "$scratch/counts.csv" $counts
}

page() {
  cat <<'T'
# Evaluations a second: one by one, and in batches

Written by `bench/results-rate.sh` from [results/rate.csv](results/rate.csv). Processor time of one thread, the two ways in turns in one run; of
five runs (of the Xeon three) that with the median gain. Other programs kept the machines busy, as the load says.

| Tree | one by one | `tf_model_eval_batch` | times | processor | date | load | commit |
|---|--:|--:|--:|---|---|--:|---|
T
  awk -F, 'NR > 1 { printf "| %s | %.2f million/s | %.2f million/s | %.0f | %s | %s | %s | %s |\n", $1, $2 / 1e6, $3 / 1e6, $4, $5, $6, $7, $8 }' $rates
  cat <<'T'

The goal of eight times is reached, ten million a second are not. Instructions of one evaluation, by callgrind ([results/rate-instructions.csv](results/rate-instructions.csv);
it has AVX2, where the processors have AVX-512), which no neighbour changes:

| Tree | one by one | in a batch | times |
|---|--:|--:|--:|
T
  awk -F, 'NR > 1 { printf "| %s | %d | %d | %.1f |\n", $1, $2, $3, $2 / $3 }' $counts
  cat bench/results-rate.md
}

report() { into docs/RESULTS-rate.md page; }

for part; do
  case $part in
  measure | instructions | report) $part ;;
  *) echo "$0: no part '$part'" >&2 && exit 2 ;;
  esac
done
