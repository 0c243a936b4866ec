#!/bin/sh
# Measures what docs/RESULTS-tune.md shows, on a computer that does little besides.  Needs Python with numpy; operators and tuned PyTorch, too.
#   bench/operators/measure.sh TILEFLOW PART...      in the root of the sources
# PART: operators (a quarter of an hour), tuned (hours), whole (half an hour of compilers), sampled, mi-lstm, carried, overlap, live (ten minutes).
# The tool tune_ways is taken from the folder tests beside TILEFLOW.
set -eu
[ $# -ge 2 ] || { echo "usage: $0 TILEFLOW PART..." >&2; exit 2; }
tool=$1
ways=$(dirname "$tool")/tests/tune_ways
results=docs/results/tune
tables() { python3 bench/operators/tables.py "$@"; }
shift
for part; do
  case $part in
  operators) python3 bench/operators/run.py "$tool" docs/results/operators.csv ;;
  tuned) python3 bench/operators/run.py "$tool" docs/results/operators-tuned.csv --tune 6 --strategy cga,sa-q,random,model --by $results-by.csv ;;
  whole)
    tables record "$ways" $results-tables.csv
    tables replay "$ways" $results-tables.csv $results-tables-runs.csv --seeds 10
    ;;
  sampled)
    for isa in avx2 sse2; do
      tables record "$ways" $results-tables-$isa.csv --isa $isa --core 1
      tables replay "$ways" $results-tables-$isa.csv $results-tables-$isa-runs.csv --isa $isa --seeds 10
    done
    ;;
  mi-lstm)
    tables record "$ways" $results-mi-lstm.csv --isa avx2 --core 1 --of bench/operators/mi-lstm
    tables replay "$ways" $results-mi-lstm.csv $results-mi-lstm-runs.csv --isa avx2 --of bench/operators/mi-lstm --lessons $results-tables-avx2.csv
    ;;
  carried)
    python3 bench/operators/carried.py "$ways" $results-carried.csv avx512=$results-tables.csv avx2=$results-tables-avx2.csv sse2=$results-tables-sse2.csv
    ;;
  overlap) python3 bench/operators/overlap.py "$tool" $results-overlap.csv --trials 4 --stages-of $results-stages.csv gmm-3 dep-6 grp-3 cap-1 ;;
  live) python3 bench/operators/live.py "$tool" $results-live.csv gmm-4 dep-6 grp-3 ;;
  *) echo "$0: no part '$part'" >&2 && exit 2 ;;
  esac
done
