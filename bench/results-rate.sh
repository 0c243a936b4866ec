#!/bin/sh
# Evaluations a second, one by one and in batches, and what one takes by itself: writes docs/results/rate.csv, rate-instructions.csv and
# rate-each.csv, and docs/RESULTS-rate.md.
#   bench/results-rate.sh TILEFLOW [PART...]
# PART is one of: measure instructions each report (all of them if none is named).  measure keeps the rows of other machines.
set -u
. "$(dirname "$0")/lib.sh"
begin "$(dirname "$0")/.." "${1:?usage: $0 TILEFLOW [PART...]}"
shift
[ $# -gt 0 ] || set -- measure instructions each report
bench=$(dirname "$tool")/bench/bench_batch
rates=docs/results/rate.csv
counts=docs/results/rate-instructions.csv

# Both ways in turns in one run, processor time; of five runs that with the median of the times gained.
measure() {
  cpu=$(this_cpu) load=$(load_now) commit=$(commit_now) day=$(date -u +%F)
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

# Drawn mappings whose counts do not divide, each by itself.
each() {
  "$(dirname "$tool")/bench/bench_each" arch-specs/edge.yaml 250 1 >"$scratch/each.csv" 2>/dev/null || exit 1
  cp "$scratch/each.csv" docs/results/rate-each.csv
}

# of_one WAY TREE: instructions of one evaluation; 300 rounds of 64 rows less 100, by callgrind
of_one() {
  for rounds in 100 300; do
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$bench" "$1" "$2" $rounds 2>&1 | sed -n 's/.*Collected : //p'
  done | awk '{ n[NR] = $1 } END { printf "%.0f", (n[2] - n[1]) / (200 * 64) }'
}

instructions() {
  command -v valgrind >/dev/null || { echo "$0: no valgrind: the instructions stay those of before" >&2; return; }
  {
    echo "case,one_by_one,batch"
    echo "two-op chain 3 levels,$(of_one one two),$(of_one batch two)"
    echo "seven-op attention,$(of_one one seven),$(of_one batch seven)"
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
  cat <<'T'

## One evaluation by itself

Drawn problems with lengths up to a thousand and up to a million, and mappings of them that `search --strategy random` draws, whose trip counts
hardly ever divide ([results/rate-each.csv](results/rate-each.csv), `bench_each`; at most 40 loops, edge machine). Microseconds of processor
time, the model prepared for this one mapping: median, 99th of 100, worst. *By sums*: those that the quick count counts. *Read*: what reading the text
and checking its rules takes before; where an intermediate's scope lies inside of another's, steps that differ are compared one by one.

| Kind | lengths up to | mappings | by sums | median | 99th | worst | read, median | 99th | worst |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|
T
  awk -F, 'NR > 1 { printf "| %s | %d | %d | %d | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f |\n", $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 }' docs/results/rate-each.csv
  cat bench/results-rate.md
}

report() { into docs/RESULTS-rate.md page; }

for part; do
  case $part in
  measure | instructions | each | report) $part ;;
  *) echo "$0: no part '$part'" >&2 && exit 2 ;;
  esac
done
