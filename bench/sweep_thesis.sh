#!/bin/sh
# The points of docs/results/sweep/thesis.csv (tileflow results thesis.tfdb --csv) beside the best of each row of docs/results/solve.csv: a table
# of docs/RESULTS-sweep.md, on stdout.
#   bench/sweep_thesis.sh
set -u
cd "$(dirname "$0")/.." || exit 2
echo "| | products | attention |"
echo "|---|--:|--:|"
awk -F, 'NR == FNR { least = 0; for (c = 3; c <= 12; c += c == 10 ? 2 : 7) if ($c + 0 > 0 && (!least || $c + 0 < least)) least = $c + 0
    best[$1 "-" $2] = least; next }
  FNR > 1 && $6 + 0 > 0 { shape = $4; sub(/-g/, "/g", shape); k = $3 " " ($4 ~ /^gemm/); r = $6 / best[$3 "-" shape]
    n[k]++; sum[k] += log(r); if (r > most[k]) most[k] = r }
  function cell(k) { return sprintf("%.3f (%.3f at most)", exp(sum[k] / n[k]), most[k]) }
  END { printf "| Cloud | %s | %s |\n| Edge | %s | %s |\n", cell("cloud 1"), cell("cloud 0"), cell("edge 1"), cell("edge 0") }' \
  docs/results/solve.csv docs/results/sweep/thesis.csv
