#!/bin/sh
# Runs every fuzzer of a TF_FUZZ build, two at a time.
#   tests/fuzz/run.sh BUILD                  as CI does: seed 1 and a number of inputs each, the same inputs each time
#   tests/fuzz/run.sh BUILD SEED SECONDS     looks further: another seed, for so long each
# The malformed and the shipped YAML and ONNX files are the first inputs.  A finding is left in BUILD/findings.
set -u
[ $# -eq 1 ] || [ $# -eq 3 ] || { echo "usage: $0 BUILD [SEED SECONDS]" >&2; exit 2; }
build=$(realpath "$1") || exit 2
seed=${2:-1}
seconds=${3:-}
cd "$(dirname "$0")/../.." || exit 2
mkdir -p "$build/findings" "$build/seeds"
rm -rf "$build/bad"
sh tests/bad/unpack.sh "$build/bad" || exit 2
find "$build/bad/tests/bad" tests/data arch-specs workloads docs \( -name '*.yaml' -o -name '*.onnx' -o -name '*.csp' \) -size -64k |
  while read -r f; do cp "$f" "$build/seeds/$(echo "$f" | tr / _)"; done
for f in tests/fuzz/plot/*; do cp "$f" "$build/seeds/$(echo "$f" | tr / _)"; done # what plot draws
# TileFlow's architecture, problem and mapping as three texts, parted by form feeds
for f in "$build"/bad/tests/bad/import-tileflow/nest_*.yaml tests/data/tileflow/13-test-attention/map*/*.yaml; do
  case $f in
  */tests/bad/*) part=$build/bad/tests/bad/import-tileflow/part_case.yaml; other=/dev/null ;;
  *) part=tests/data/tileflow/13-test-attention/arch/edge.yaml; other=tests/data/tileflow/13-test-attention/prob/attention.yaml ;;
  esac
  { cat "$part"; printf '\f'; cat "$f"; printf '\f'; cat $other; } >"$build/seeds/$(echo "$f" | tr / _)-texts"
done

# Inputs for CI: some 7 seconds on one core.
inputs_of() {
  case $1 in
  fuzz_npu) echo 2500 ;;
  fuzz_csp | fuzz_plot) echo 4500 ;;
  fuzz_tree) echo 10000 ;;
  fuzz_import | fuzz_plan) echo 14000 ;;
  fuzz_search_log) echo 140000 ;;
  *) echo 50000 ;;
  esac
}

# libFuzzer learns words from comparisons, of addresses, too: at fixed addresses where the system allows it.
still=
setarch -R true 2>/dev/null && still="setarch -R"

run_one() {
  name=$1
  corpus=$build/corpus-$name
  [ -n "$seconds" ] || rm -rf "$corpus" # the same inputs each time
  mkdir -p "$corpus"
  limit=${seconds:+-max_total_time=$seconds}
  # reload: no other process adds to the corpus, and looking for its files would depend on the time
  $still "$build/tests/$name" -seed="$seed" "${limit:--runs=$(inputs_of "$name")}" -reload=0 -timeout=30 -rss_limit_mb=2048 \
    -artifact_prefix="$build/findings/$name-" -print_final_stats=1 \
    "$corpus" "$build/seeds" >"$build/$name.log" 2>&1
  status=$?
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$name.log")
  if [ $status -eq 0 ]; then
    echo "$name: ${runs:-0} inputs, no finding"
  else
    tail -n 60 "$build/$name.log"
    echo "$name: failed with status $status, see $build/findings"
    : >"$build/findings/failed"
  fi
}

rm -f "$build/findings/failed"
n=0
for source in tests/fuzz/fuzz_*.c; do
  run_one "$(basename "$source" .c)" &
  n=$((n + 1))
  [ $((n % 2)) -eq 0 ] && wait
done
wait
[ $n -gt 0 ] || { echo "no fuzzers in tests/fuzz" >&2; exit 2; }
[ ! -e "$build/findings/failed" ]
