#!/bin/sh
# Every workload file and every dataflow, emitted, compiled, run and held against double.  Takes half an hour.
#   tests/kernels/all.sh TILEFLOW [WORD [OPTION...]]      only those whose path holds WORD; options go to emit: --dtype bf16
# A dataflow's own comment says which files it goes with; a workload on its own gets the mapping a short search finds.
set -u
tileflow=$(realpath "${1:?usage: $0 TILEFLOW [WORD]}") || exit 2
word=${2:-}
shift $(($# < 2 ? $# : 2))
options=$*
cd "$(dirname "$0")/../.." || exit 2
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
right=0 wrong=0 unfit=0

# try NAME FILE...
try() {
  name=$1
  shift
  rm -rf "$dir/k"
  # shellcheck disable=SC2086 # one word an option
  if "$tileflow" emit "$@" $options --target cpu -o "$dir/k" --quiet --no-test >"$dir/said" 2>&1 &&
    make -s -C "$dir/k" 'CFLAGS=-O3 -Wall -Wextra -Werror' test >>"$dir/said" 2>&1; then
    right=$((right + 1))
    echo "$name: $(grep -h error "$dir/said" | tr '\n' ' ')"
  elif grep -q 'error\[E_CAPACITY\]' "$dir/said"; then
    unfit=$((unfit + 1))
    echo "$name: does not fit"
  else
    wrong=$((wrong + 1))
    echo "$name: FAILED"
    head -n 5 "$dir/said"
  fi
}

for f in workloads/dataflows/*/*.yaml; do
  case $f in *"$word"*) ;; *) continue ;; esac
  files=$(sed -n 's/^# tileflow eval //p' "$f" | head -n 1)
  # shellcheck disable=SC2086 # one word a file
  [ -n "$files" ] && try "$f" $files
done
for f in workloads/*.yaml workloads/*/*.yaml; do
  case $f in *"$word"*) ;; *) continue ;; esac
  try "$f" arch-specs/host-template.yaml "$f" --evals 3000 --seed 1
done
echo "$right right, $wrong wrong, $unfit that do not fit"
[ $wrong -eq 0 ]
