#!/bin/sh
# The operators of workloads/operators: each case of cases.csv is evaluated (a mapping is searched for) and has as many points
# as the thesis's table 4.2 says of its kind, and each kind's small case is planned, emitted, compiled and held against a plain evaluation.
#   tests/kernels/operators.sh TILEFLOW [KIND...]      with kinds: these alone
set -u
[ $# -ge 1 ] || { echo "usage: $0 TILEFLOW [KIND...]" >&2; exit 2; }
tool=$(realpath "$1") || exit 2
shift
cd "$(dirname "$0")/../.." || exit 2
arch=arch-specs/host-template.yaml
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failed=0 read=0 run=0

# settings "A=1 B=2": as options
settings() { for s in $1; do printf -- '--set %s ' "$s"; done; }
complain() { echo "$*"; cat "$work/said"; failed=$((failed + 1)); }

# What table 4.2 says of a kind: the least and the most points of its cases, as it rounds them, and how many cases.  (A transposed
# convolution whose stride does not divide the window has weights of zero in some phases, which are laid out first: 176M of t1d-6's
# 236M points have others.  The second op of a bilinear form adds a point for each row, output and l.)
cat >"$work/table" <<'T'
gmv 16e3 1.05e6 6
gmm 32e3 8.6e9 7
bil 1e9 1.1e9 5
c1d 50e6 201e6 7
t1d 50e6 237e6 7
c2d 77e6 3.7e9 15
t2d 77e6 3.7e9 15
c3d 77e6 6.6e9 8
t3d 77e6 6.6e9 8
grp 19e6 925e6 14
dep 250e3 3.62e6 7
dil 100e6 1.22e9 11
T

one() { # kind name settings
  kind=$1 name=$2
  file=workloads/operators/$kind.yaml
  # shellcheck disable=SC2046 # options are meant to split
  "$tool" eval $arch "$file" $(settings "$3") --evals 200 --json - >"$work/said" 2>&1 </dev/null ||
    { complain "eval of $name failed"; return; }
  read=$((read + 1))
  points=$(sed -n 's/^  "points": \([0-9]*\),$/\1/p' "$work/said")
  [ "$name" = small ] || echo "${kind%-strided} ${points:-0}" >>"$work/points"
  [ "$name" = small ] || return
  # shellcheck disable=SC2046
  if "$tool" emit $arch "$file" $(settings "$3") --evals 2000 --no-test -o "$work/$kind" >"$work/said" 2>&1 </dev/null &&
    make -s -C "$work/$kind" CFLAGS=-O1 OPENMP= test >"$work/said" 2>&1; then
    run=$((run + 1))
  else
    complain "the kernel of $kind's small case failed"
  fi
}

: >"$work/points"
while IFS=, read -r kind name set; do
  case $kind in \#*) continue ;; esac
  [ $# -eq 0 ] || case " $* " in *" $kind "*) ;; *) continue ;; esac
  one "$kind" "$name" "$set"
done <workloads/operators/cases.csv

if [ $# -eq 0 ]; then
  awk 'NR == FNR { least[$1] = $2; most[$1] = $3; want[$1] = $4; next }
    $1 in want { n[$1]++; all++; if ($2 < least[$1] + 0 || $2 > most[$1] + 0) { print $1 ": " $2 " points, not in " least[$1] " to " most[$1]; bad = 1 } }
    END { for (k in want) if (n[k] != want[k]) { print k ": " n[k] + 0 " cases, not " want[k]; bad = 1 }
      if (all != 110) bad = 1
      exit bad }' "$work/table" "$work/points" || failed=$((failed + 1))
  set -- workloads/operators/*.yaml
  [ $run -eq $# ] || { echo "$# kinds, but $run small cases held"; failed=$((failed + 1)); }
fi
echo "operators: $read cases evaluated, $run kernels held, $failed failed"
[ $failed -eq 0 ] && [ $run -gt 0 ]
