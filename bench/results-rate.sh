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

Mappings that the model evaluates in a second of processor time, one thread, both ways in turns; of five runs (Xeon: three)
the one with the median gain. `bench/results-rate.sh` writes this page from [results/rate.csv](results/rate.csv).

| Tree | one by one | `tf_model_eval_batch` | times | processor |
|---|--:|--:|--:|---|
T
  awk -F, 'NR > 1 { printf "| %s | %.2f million/s | %.2f million/s | %.0f | %s |\n", $1, $2 / 1e6, $3 / 1e6, $4, $5 }' $rates
  cat <<'T'

The goal of eight times is reached, that of ten million a second is not. Instructions of one evaluation, by callgrind with AVX2 (the
processors above have AVX-512; [results/rate-instructions.csv](results/rate-instructions.csv)):

| Tree | one by one | in a batch | times |
|---|--:|--:|--:|
T
  awk -F, 'NR > 1 { printf "| %s | %d | %d | %.1f |\n", $1, $2, $3, $2 / $3 }' $counts
  cat <<'T'

## One evaluation by itself

Problems are drawn with lengths up to a thousand and up to a million, on the edge machine. `search --strategy random` draws their mappings, whose trip counts
hardly ever divide. Microseconds of processor time with the model prepared for one mapping ([results/rate-each.csv](results/rate-each.csv), `bench_each`). *By
sums*: mappings that closed sums count. *Read*: reading the mapping and checking its rules, step by step where scopes nest and needed and made differ.

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
