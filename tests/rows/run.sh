#!/bin/sh
# Rows added to the tables of commands, fields of a sweep, importers and passes over a network (tests/CMakeLists.txt) work
# without another edit, and are not there without them.
#   run.sh TOOL_WITH_ROWS TOOL, in the root of the sources
set -u
with=$(realpath "$1") tool=$(realpath "$2")
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
failed=0

# has WORDS COMMAND...: they are in what it prints.  lacks STATUS WORDS COMMAND...: it ends with that status and those words.
has() {
  words=$1
  shift
  "$@" >"$dir/said" 2>&1 && grep -qF -- "$words" "$dir/said" && return
  echo "'$words' is not in what this prints: $*"
  cat "$dir/said"
  failed=$((failed + 1))
}
lacks() {
  status=$1 words=$2
  shift 2
  "$@" >"$dir/said" 2>&1
  [ $? -eq "$status" ] && grep -qF -- "$words" "$dir/said" && return
  echo "no exit status $status with '$words': $*"
  cat "$dir/said"
  failed=$((failed + 1))
}

# a command: its run, its option, its help, the nearest name
has 'toy: 16777216 points for each of 1' "$with" toy examples/matmul-small.yaml
has 'toy: 4194304 points for each of 4' "$with" toy examples/matmul-small.yaml --threads 4
has 'tileflow toy ' "$with" --help
has 'how many share the work' "$with" toy --help
lacks 2 "did you mean 'toy'" "$with" toyy
lacks 2 "no command 'toy'" "$tool" toy examples/matmul-small.yaml

# a field of a sweep: of 3 x 3 x 2 machines those with the first value of each param, or two
sed "s|matmul|$PWD/examples/matmul|; s|edge-family.yaml|$PWD/examples/edge-family.yaml|; s|{files: matmul|{files: $PWD/examples/matmul|; /where:/d" \
  examples/sweep.yaml >"$dir/all.yaml"
for n in 1 2; do
  sed "s/method: search/method: bound\n  first: $n/; /objectives/d" "$dir/all.yaml" >"$dir/first$n.yaml"
  has "$((n * n * n)) machines" "$with" sweep "$dir/first$n.yaml" --store "$dir/$n.tfdb"
done
lacks 2 "'first'" "$tool" sweep "$dir/first1.yaml" --store "$dir/none.tfdb"

# an importer
echo 'toy 4 6 8' >"$dir/a.toy"
has 'dims: {m: 4, k: 6, l: 8}' "$with" import "$dir/a.toy"
has 'toy: 192 points' "$with" toy "$dir/a.toy"
echo 'toy 4 6' >"$dir/b.toy"
lacks 2 'a toy has three extents' "$with" import "$dir/b.toy"
lacks 2 'error[' "$tool" import "$dir/a.toy"

# a pass over a network: after those of the house
has 'toy of ' "$with" plan arch-specs/edge.yaml examples/matmul-small.yaml --evals 20
lacks 0 'DRAM' "$tool" plan arch-specs/edge.yaml examples/matmul-small.yaml --evals 20
grep -q 'toy of' "$dir/said" && { echo "the tool has the pass of the test"; failed=$((failed + 1)); }

[ $failed -eq 0 ] && echo "a row each: command, field of a sweep, importer, pass over a network"
exit $failed
