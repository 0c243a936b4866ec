#!/bin/sh
# tune with a compiler: killed by SIGKILL and gone on with, nothing measured twice or lost; what emit makes of the store
# and of a schedule; a compiler that fails.
#   tune.sh TOOL, in the root of the sources
set -u
tool=$(realpath "$1") || exit 2
root=$(pwd)
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
failed=0
cd "$dir" || exit 2
export CFLAGS=-O1 TMPDIR="$dir" # what is killed leaves its folder
what="$root/arch-specs/host-template.yaml $root/workloads/operators/gmm.yaml --set M=32 --set N=16 --set K=24"

fail() {
  echo "$*"
  [ -s said ] && cat said
  failed=$((failed + 1))
}
# how many trials the CSV of a tuning has
trials() { tail -n +2 "$1" | wc -l; }

# shellcheck disable=SC2086 # the arguments are meant to split
{
  "$tool" tune $what --strategy random --trials 4 --store a.db --quiet >said 2>&1 &
  process=$!
  n=0
  while kill -0 $process 2>/dev/null && [ $n -lt 3000 ]; do # killed as soon as something is in the store
    [ -s a.db ] && [ -n "$(strings a.db 2>/dev/null | grep -m 1 '^form whole' || true)" ] && break
    sleep 0.02
    n=$((n + 1))
  done
  kill -KILL $process 2>/dev/null
  wait $process 2>/dev/null
  "$tool" tune $what --strategy random --trials 4 --store a.db --csv a.csv --schedule best.txt >said 2>&1 || fail "going on"
  [ "$(trials a.csv)" -eq 5 ] || fail "$(trials a.csv) trials, not 5"
  "$tool" tune $what --strategy random --trials 4 --store a.db --csv b.csv >said 2>&1 || fail "again"
  cmp -s a.csv b.csv || fail "what was measured is measured again"
  grep -q "5 from the store" said || fail "all is in the store already"
  grep -q ',ran,' a.csv || fail "no kernel ran"

  "$tool" emit $what --tuned a.db -o tuned >said 2>&1 || fail "emit --tuned"
  make -s -C tuned OPENMP= test >said 2>&1 || fail "the tuned kernel's test"
  if [ -s best.txt ]; then
    "$tool" emit $what --schedule best.txt -o scheduled >said 2>&1 || fail "emit --schedule"
    cmp -s tuned/kernel.c scheduled/kernel.c || fail "the schedule's kernel is not the store's"
  fi
  "$tool" emit ${what%24}48 --tuned a.db -o other >said 2>&1 && fail "another workload has nothing in the store"
  grep -q E_STORE said || fail "another workload: no E_STORE"

  CC=false "$tool" tune $what --strategy random --trials 1 --csv c.csv >said 2>&1
  [ $? -eq 1 ] || fail "a compiler that fails: exit status 1"
  [ "$(grep -c 'not-compiled' c.csv)" -eq 2 ] || fail "a compiler that fails is told of each kernel"
}
[ $failed -eq 0 ] && echo "tune: killed, gone on with, emitted"
exit $failed
