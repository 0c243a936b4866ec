#!/bin/sh
# The same inputs give the same bytes, whatever the clock and the number of threads: every command that searches, with a
# clock that leaps by an hour each time it is asked.
#   tests/cli/clock.sh TILEFLOW
set -u
tool=$(realpath "$1") || exit 2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
cat >"$scratch/leap.c" <<'END'
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *now) {
  static long asked;
  (void)id;
  now->tv_sec = 3600 * __atomic_add_fetch(&asked, 1, __ATOMIC_RELAXED);
  now->tv_nsec = 0;
  return 0;
}
END
${CC:-cc} -shared -fPIC -o "$scratch/leap.so" "$scratch/leap.c" || { echo "SKIP: no compiler"; exit 77; }
cat >"$scratch/p.yaml" <<'END'
architecture:
  name: a
  clock: 1 GHz
  word-bits: 16
  memories:
  - {name: DRAM, bandwidth: 4, energy: 64 pJ}
  - {name: L1, capacity: 96, bandwidth: 8, energy: 2 pJ, mesh: [1, 2]}
  compute:
  - {name: u, ops: [mac, exp], below: L1, mesh: [2, 2], energy: 1 pJ}
workload:
  name: w
  dims: {m: 7, k: 9, l: 5, n: 6}
  ops: ["C[m,l] += A[m,k] * B[k,l]", "P[m,l] = exp(C[m,l])", "E[m,n] += P[m,l] * D[l,n]"]
END
failed=0

# same NAME COMMAND...: with the usual clock and one thread, with one that leaps and two
same() {
  name=$1
  shift
  (cd "$scratch" && "$tool" "$@" --threads 1 >one.txt 2>one.err) || { echo "$name: fails"; failed=$((failed + 1)); }
  (cd "$scratch" && LD_PRELOAD=$scratch/leap.so "$tool" "$@" --threads 2 >two.txt 2>two.err)
  for part in txt err; do
    grep -v '"seconds"\|"threads"' "$scratch/one.$part" >"$scratch/one.cut"
    grep -v '"seconds"\|"threads"' "$scratch/two.$part" >"$scratch/two.cut"
    cmp -s "$scratch/one.cut" "$scratch/two.cut" && continue
    echo "$name: a leaping clock changes what it says"
    diff "$scratch/one.cut" "$scratch/two.cut" | head -20
    failed=$((failed + 1))
  done
}

# a clock that leaps would end whatever has a limit in seconds: with one it does
(cd "$scratch" && LD_PRELOAD=$scratch/leap.so "$tool" search p.yaml --time-limit 5 --threads 1 >two.txt 2>&1)
grep -q 'stopped by time\|none of' "$scratch/two.txt" || { echo "the clock does not leap"; failed=$((failed + 1)); }

same "search, no limit" search p.yaml --json -
for command in tree solve; do
  same "$command" $command p.yaml --evals 9000 --json -
done
for objective in latency energy edp traffic; do
  same "eval, $objective" eval p.yaml --objective $objective --evals 3000
done
same explain explain p.yaml --evals 2000
same bound bound p.yaml --evals 2000
same plan plan p.yaml --evals 500
echo "clock: $failed failed"
[ $failed -eq 0 ]
