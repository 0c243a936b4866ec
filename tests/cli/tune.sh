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

  net="$root/arch-specs/host-template.yaml $root/workloads/mlp.yaml --set tokens=8 --set width=16 --set inner=24"
  "$tool" plan $net --target cpu --max-ops 2 --evals 60 -o plan.yaml >said 2>&1 || fail "plan"
  "$tool" tune $net plan.yaml --strategy random --trials 1 --store net.db >said 2>&1 || fail "tune of a plan's groups"
  "$tool" plan $net --target cpu --max-ops 2 --evals 60 --tuned net.db -o again.yaml >said 2>&1 || fail "plan --tuned"
  grep -q '^2 of the different groups have the mapping that was measured$' said || fail "plan --tuned takes none"
  "$tool" plan $net --target cpu --max-ops 2 --evals 60 --tuned a.db >said 2>&1 || fail "plan --tuned with another's store"
  grep -q '^0 of the different groups' said || fail "plan --tuned takes what is not there"
  "$tool" plan $net plan.yaml --target cpu --tuned net.db >said 2>&1 && fail "--tuned of a plan that is given"
  "$tool" tune $net plan.yaml --trials 1 >said 2>&1 && fail "groups are tuned without a store"
  grep -q 'into a --store' said || fail "groups without a store: why"
  CC=false "$tool" tune $net plan.yaml --strategy random --trials 1 --store c.db >said 2>&1
  [ $? -eq 1 ] || fail "a plan of which no kernel can be compiled: exit status 1"
  grep -q 'none of the kernels could be compiled' said || fail "a plan of which no kernel can be compiled: why"
  "$tool" emit $net again.yaml -o network >said 2>&1 || fail "emit of a tuned plan"
  make -s -C network OPENMP= test >said 2>&1 || fail "the tuned network's test"

  CC=false "$tool" tune $what --strategy random --trials 1 --csv c.csv >said 2>&1
  [ $? -eq 1 ] || fail "a compiler that fails: exit status 1"
  [ "$(grep -c 'not-compiled' c.csv)" -eq 2 ] || fail "a compiler that fails is told of each kernel"

  # a kernel that never ends: its compiler makes a test that loops.  env: a shell starts what runs beside it with Ctrl-C ignored
  cat >endless-cc <<EOF
#!/bin/sh
out=a.out
while [ \$# -gt 0 ]; do [ "\$1" = -o ] && out=\$2; shift; done
printf '#!/bin/sh\necho \$\$ >"$dir/pid"\nwhile :; do sleep 0.01; done\n' >"\$out" && chmod +x "\$out"
EOF
  chmod +x endless-cc
  CC="$dir/endless-cc" env --default-signal=INT "$tool" tune $what --strategy random --trials 1 --quiet >said 2>&1 &
  process=$!
  n=0
  until [ -s pid ] || [ $n -ge 1500 ]; do sleep 0.02; n=$((n + 1)); done
  [ -s pid ] || fail "the endless test never began"
  kill -INT $process
  wait $process
  [ $? -eq 130 ] || fail "Ctrl-C while a test runs: exit status 130"
  n=0
  while [ $n -lt 500 ] && grep -q '^State:[[:space:]]*[^Z[:space:]]' "/proc/$(cat pid)/status" 2>/dev/null; do # Z: dead, not yet asked for
    sleep 0.01
    n=$((n + 1))
  done
  if [ $n -eq 500 ]; then
    fail "Ctrl-C left the test running"
    kill -KILL "$(cat pid)"
  fi
}
[ $failed -eq 0 ] && echo "tune: killed, gone on with, emitted"
exit $failed
