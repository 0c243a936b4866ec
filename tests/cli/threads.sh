#!/bin/sh
# Sweeps and searches on several threads under the thread sanitizer: no race, and the rows of one thread.
#   cmake -S . -B build-tsan -DCMAKE_C_COMPILER=clang -DTF_TSAN=ON && cmake --build build-tsan --target tileflow
#   tests/cli/threads.sh build-tsan/tileflow        in the root of the sources
# .ci/run does not: it would build all once more.
set -u
. "$(dirname "$0")/../lib.sh"
TSAN_OPTIONS="halt_on_error=0 exitcode=66"
export TSAN_OPTIONS

# clean COMMAND...: no race is told, and the command ends well
clean() {
  "$tool" "$@" >"$dir/said" 2>&1 </dev/null
  status=$?
  [ $status -eq 0 ] && ! grep -q "ThreadSanitizer" "$dir/said" && return
  echo "tileflow $*: status $status"
  head -n 60 "$dir/said"
  failed=$((failed + 1))
}

for threads in 1 4; do
  clean sweep examples/sweep.yaml --set evals=100 --store "$dir/$threads.tfdb" --threads $threads --quiet
  clean sweep examples/sweep.yaml --set evals=100 --store "$dir/$threads.tfdb" --threads $threads --full --quiet
  clean results "$dir/$threads.tfdb" --csv "$dir/$threads.csv" --quiet
done
cmp -s "$dir/1.csv" "$dir/4.csv" || { echo "four threads find other rows than one" && failed=$((failed + 1)); }
# two processes on one store
"$tool" sweep examples/sweep.yaml --set evals=100 --store "$dir/two.tfdb" --threads 2 --quiet >"$dir/other" 2>&1 &
clean sweep examples/sweep.yaml --set evals=100 --store "$dir/two.tfdb" --threads 2 --quiet
wait $! || { echo "the second of two processes:" && head -n 40 "$dir/other" && failed=$((failed + 1)); }
clean sweep docs/results/sweep/solve.yaml docs/results/sweep/two-level.yaml --store "$dir/solve.tfdb" --threads 3 \
  --time-limit 5 --quiet
clean search arch-specs/edge.yaml workloads/attention/g1.yaml --evals 2000 --threads 4 --quiet
clean solve arch-specs/edge.yaml workloads/gemm-chain/g10.yaml --evals 2000 --threads 4 --quiet
echo "threads: $failed failed"
[ $failed -eq 0 ]
