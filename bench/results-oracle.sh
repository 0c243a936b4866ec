#!/bin/sh
# Random cases by hand, with seeds of one's own: the model beside the walk of the execution (plain cases, padded, masked), and mappings
# beside their bounds.  Each part adds a row to docs/results/oracle.csv when it ends, of which bench/validate.sh makes a table.
#   bench/results-oracle.sh TILEFLOW SEED PLAIN PADDED MASKED BOUNDS       numbers of cases
# 33334 33333 33333 10000 take some 20 minutes of processor time.  SAVE=DIR: a folder for cases that differ, as `tileflow eval` reads them.
# Exits 1 if any differs.
set -u
. "$(dirname "$0")/lib.sh"
[ $# -eq 6 ] || { sed -n '2,6s/^# *//p' "$0" >&2; exit 2; }
begin "$(dirname "$0")/.." "$1"
tests=$(dirname "$tool")/tests rows=docs/results/oracle.csv commit=$(commit_now)
[ -e $rows ] || echo "what,seed,cases,compared,differ,minutes,date,commit" >$rows
failed=0

# add WHAT SEED CASES COMMAND...: `N cases equal, M differ` or `N passed, M failed` of what it says is what was compared.
add() {
  what=$1 seed=$2 cases=$3
  shift 3
  [ "$cases" -gt 0 ] || return 0
  "$@" >"$scratch/said" 2>&1 || failed=1
  cat "$scratch/said"
  times >"$scratch/times" # in a pipe it would be a shell of its own, without children
  now=$(awk 'END { split($1, t, /[ms]/); print 60 * t[1] + t[2] }' "$scratch/times")
  found=$(sed -n 's/^\(oracle: \)\{0,1\}\([0-9]*\) \(cases equal\|passed\), \([0-9]*\) \(differ\|failed\).*/\2,\4/p' "$scratch/said")
  echo "$what,$seed,$cases,${found:--,-},$(awk -v a="${before:-0}" -v b="$now" 'BEGIN { printf "%.1f", (b - a) / 60 }'),$(date -u +%F),$commit" >>$rows
  before=$now
}

oracle() { "$tests/oracle_test" ${SAVE:+--save "$SAVE"} "$@"; }
add "random cases" "$2" "$3" oracle --cases "$3" --seed "$2" --coverage
add "with padding" $(($2 + 1)) "$4" oracle --cases "$4" --seed $(($2 + 1)) --padded
add "mappings beside their bounds" $(($2 + 2)) "$6" "$tests/test_below" "$6" $(($2 + 2))
add "with masks" $(($2 + 3)) "$5" oracle --cases "$5" --seed $(($2 + 3)) --masked
exit $failed
