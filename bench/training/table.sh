#!/bin/sh
# The table of docs/HOWTO-train.md from docs/results/training.csv (bench/training/run.py --csv), on stdout.
#   bench/training/table.sh [FILE.csv]
set -u
rows=$(realpath "${1:-$(dirname "$0")/../../docs/results/training.csv}") || exit 2
awk -F, '
  function of(column) { return $at[column] }
  NR == 1 {
    for (i = 1; i <= NF; i++) at[$i] = i
    print "| step | update | ops (groups) | plan, s | ours, ms | eager, ms | `torch.compile`, ms | eager / ours | compiled / ours | error |"
    print "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    next
  }
  {
    printf "| %s | %s | %d (%d) | %.1f | %.3g | %.3g | %.3g | %.2f | %.2f | %s |\n", of("network"), of("step"), of("ops"), of("groups"), of("plan_s"), of("ours_ms"),
      of("eager_ms"), of("compile_ms"), of("over_eager"), of("over_compile"), of("error")
    eager += log(of("over_eager")); compiled += log(of("over_compile")); n++
  }
  END { if (n) printf "| geometric mean of %d | | | | | | | %.2f | %.2f | |\n", n, exp(eager / n), exp(compiled / n) }' "$rows"
