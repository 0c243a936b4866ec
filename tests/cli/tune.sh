#!/bin/sh
# tune with a compiler: killed by SIGKILL and gone on with, nothing measured twice or lost; what emit makes of the store
# and of a schedule; a compiler that fails.
#   tune.sh TOOL, in the root of the sources
set -u
. "$(dirname "$0")/../lib.sh"
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
  "$tool" tune $what --strategy random --trials 4 --store a.db --csv a.csv --json a.json --schedule best.txt >said 2>&1 || fail "going on"
  for part in '"origin": "tune"' '"objective": "seconds"' '"measurements": 5' '"invalid": 0' '"stopped_by": "budget"' '"levels": \['; do
    grep -q "$part" a.json || fail "no $part in tune --json"
  done
  [ "$(trials a.csv)" -eq 5 ] || fail "$(trials a.csv) trials, not 5"
  "$tool" tune $what --strategy random --trials 4 --store a.db --csv b.csv >said 2>&1 || fail "again"
  cmp -s a.csv b.csv || fail "what was measured is measured again"
  grep -q "5 from the store" said || fail "all is in the store already"
  "$tool" $(sed -n 's/^  tileflow \(emit .* --tuned a.db\) -o kernel$/\1/p' said) --no-test -o next >next.txt 2>&1 || fail "the command that is named next"
  grep -q ',ran,' a.csv || fail "no kernel ran"

  "$tool" emit $what --no-test --tuned a.db -o tuned >said 2>&1 || fail "emit --tuned"
  cmp -s next/kernel.c tuned/kernel.c || fail "the command named next emits another kernel"
  make -s -C tuned OPENMP= test >said 2>&1 || fail "the tuned kernel's test"
  if [ -s best.txt ]; then
    "$tool" emit $what --no-test --schedule best.txt -o scheduled >said 2>&1 || fail "emit --schedule"
    cmp -s tuned/kernel.c scheduled/kernel.c || fail "the schedule's kernel is not the store's"
  fi
  "$tool" emit ${what%24}48 --tuned a.db -o other >said 2>&1 && fail "another workload has nothing in the store"
  grep -q E_STORE said || fail "another workload: no E_STORE"

  # the space: what it says of itself is read back as constraints of the same form, and leaves as many
  "$tool" tune $what --space >space.csp 2>said || fail "--space"
  grep -q '^# of them satisfy every constraint: [1-9]' space.csp || fail "--space: no size"
  sed -n '/^# whole/,/^# [^wso]/p' space.csp | grep -E '^(PROD|SUM|EQ|LE|SELECT) [^_]*$' >whole.csp
  "$tool" tune $what --space --constraints whole.csp >again.csp 2>said || fail "--space --constraints"
  [ "$(grep -m 1 'of them' again.csp)" = "$(grep -m 1 'of them' space.csp)" ] || fail "its own constraints leave another number"
  "$tool" tune $what --space --rules >rules.csp 2>said || fail "--space --rules"
  grep -q '^# cpu: 5 knobs, 45 variables, 23 constraints (16 PROD' rules.csp || fail "--rules: $(head -1 rules.csp)"
  for wrong in "--rules" "--space --trials 3" "--space --rules --constraints whole.csp" "--space --constraints none"; do
    "$tool" tune $what $wrong >said 2>&1
    [ $? -eq 2 ] || fail "tune $wrong is taken"
  done

  # each step of the ladder is read back by emit, the last one is what emit chooses, and its kernel is right
  "$tool" explain $what --ladder --measure --json ladder.json >ladder.txt 2>said || fail "explain --ladder"
  awk '/^# step/ { f = sprintf("step%d.txt", ++n) } f { print >f }' ladder.txt
  [ -s step2.txt ] || fail "a ladder of one step"
  [ "$(grep -c '"verdict": "ran"' ladder.json)" -eq "$(ls step*.txt | wc -l)" ] || fail "not each step of the ladder ran"
  for step in step*.txt; do
    "$tool" emit $what --no-test --schedule $step -o "${step%.txt}" >said 2>&1 || fail "emit of $step"
    make -s -C "${step%.txt}" OPENMP= test >said 2>&1 || fail "the test of $step"
  done
  "$tool" emit $what --no-test -o first >said 2>&1 || fail "emit"
  cmp -s first/kernel.c "${step%.txt}/kernel.c" || fail "the ladder does not end with what emit chooses"
  "$tool" explain $what step1/manifest.json --ladder >said 2>&1 && fail "a ladder beside a mapping"
  "$tool" explain $what --measure >said 2>&1 && fail "--measure without --ladder"
  sed '/- name: DRAM/a\    capacity: 4 KiB' "$root/arch-specs/host-template.yaml" >small.yaml # holds no tensor of these
  scn="small.yaml $root/workloads/operators/scn.yaml --set M=256 --set K=512 --evals 100"
  "$tool" emit $scn -o none >/dev/null 2>of-emit && fail "emit has a mapping where the ladder is to have none"
  "$tool" explain $scn --ladder --measure >said 2>&1 && fail "a ladder to no mapping"
  cmp -s said of-emit || fail "where nothing fits, the ladder says something else than emit"

  net="$root/arch-specs/host-template.yaml $root/workloads/mlp.yaml --set tokens=8 --set width=16 --set inner=24"
  "$tool" plan $net --target cpu --max-ops 2 --evals 60 -o plan.yaml >said 2>&1 || fail "plan"
  "$tool" tune $net plan.yaml --strategy random --trials 1 --store net.db >said 2>&1 || fail "tune of a plan's groups"
  "$tool" plan $net --target cpu --max-ops 2 --evals 60 --tuned net.db -o again.yaml >said 2>&1 || fail "plan --tuned"
  grep -q '^[1-9] of the different groups have the mapping that was measured$' said || fail "plan --tuned takes none"
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

  # killed at moments spread over the run: a compiler whose programs say a time that follows from the kernel's text
  cat >quick-cc <<EOF
#!/bin/sh
out=a.out last=
for x; do
  [ "\$last" = -o ] && out=\$x
  last=\$x
done
sum=\$(cksum <kernel.c | cut -c 1-6)
printf '#!/bin/sh\necho "kernel 0 s, 0 GFLOP/s, 1 thread, 0.000%s1 s of"\n' "\$sum" >"\$out" && chmod +x "\$out"
EOF
  chmod +x quick-cc
  for way in random sa-q; do
    run="$what --strategy $way --trials 16"
    CC="$dir/quick-cc" "$tool" tune $run --store whole-$way.db --csv whole.csv --quiet >said 2>&1 || fail "$way, left alone"
    for moment in 0.05 0.15 0.25 0.3 0.4; do
      CC="$dir/quick-cc" "$tool" tune $run --store cut-$way.db --quiet >said 2>&1 &
      process=$!
      sleep $moment
      kill -KILL $process 2>/dev/null
      wait $process 2>/dev/null
    done
    CC="$dir/quick-cc" "$tool" tune $run --store cut-$way.db --csv cut.csv --quiet >said 2>&1 || fail "$way, gone on with"
    cmp -s whole.csv cut.csv || fail "$way: killed and gone on with, its trials are others"
    [ "$(cut -d , -f 3 whole.csv | sort -u | wc -l)" -gt 3 ] || fail "$way: the kernels' times do not differ"
  done

  # a group that no schedule has, as registers hold two words: told, and the others are tuned
  cat >parts.yaml <<EOF
architecture:
  name: small
  clock: 1 GHz
  memories:
  - {name: DRAM, bandwidth: 1}
  - {name: L1, capacity: 1 KiB, bandwidth: 4}
  - {name: REG, capacity: 2, bandwidth: 16}
  compute:
  - {name: u, ops: [mac, add, mul], below: REG}
workload:
  name: parts
  dims: {a: 8, b: 6, e: 4, f: 5}
  ops: ["W[f] += V[e,f] * Q[e]", "T[a,b] = X[a,b] + 1"]
plan:
  network: parts
  architecture: small
  objective: latency
  groups:
  - ops: [W]
    mapping: |
      DRAM
        L1 for e=4 f=5
          op W
  - ops: [T]
    mapping: |
      DRAM
        L1 for a=8 b=6
          REG
            op T
EOF
  CC="$dir/quick-cc" "$tool" tune parts.yaml --trials 1 --store parts.db >said 2>&1 ||
    fail "one group of a plan has no schedule: the others are tuned"
  grep -q 'note: group 1 is not tuned: no schedule of parts.1 fits small' said || fail "a group without a schedule: why"
  grep -q '^    2     1       2 .* T$' said || fail "the group after one without a schedule is tuned"
  echo 'this is no database, and long enough for one to be looked for in it' >no.db
  CC="$dir/quick-cc" "$tool" tune parts.yaml --trials 1 --store no.db >said 2>&1
  [ $? -eq 2 ] || fail "a plan, into what is no store: exit status 2"
  grep -q 'no.db: error\[E_STORE\]' said || fail "a plan, into what is no store: why"

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
