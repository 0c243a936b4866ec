#!/bin/sh
# Where users stumbled in their first hours, each once more: what they typed, and that it now works or says what to do.
#   stumbles.sh TOOL, in the root of the sources
set -u
. "$(dirname "$0")/../lib.sh"
cd "$dir" || exit 2

# try WHAT STATUS PATTERN COMMAND...: ends with that status and, where there is a pattern, says something that it matches
try() {
  what=$1 status=$2 pattern=$3
  shift 3
  begun=$(date +%s%N)
  "$@" >said 2>&1 </dev/null
  got=$?
  printf '%6d ms  %s\n' $((($(date +%s%N) - begun) / 1000000)) "$what"
  [ $got -eq "$status" ] && { [ -z "$pattern" ] || grep -q -e "$pattern" said; } && return
  echo "FAILED: exit status $got, wanted $status and '$pattern': $*"
  cat said
  failed=$((failed + 1))
}

cat >machine.yaml <<'YAML'
params: {pes: 8, sram: 64}
architecture:
  name: chip
  memories:
  - {name: DRAM, bandwidth: 8}
  - {name: SRAM, capacity: sram KiB, bandwidth: {read: 32, write: 16}}
  - {name: Regs, mesh: [pes, pes], capacity: 32}
  compute:
  - {name: array, ops: [mac], below: Regs}
  - {name: lanes, ops: [add, mul], below: SRAM, mesh: [8]}
YAML
cat >product.yaml <<'YAML'
workload:
  name: product
  dims: {k: 64, c: 64, p: 14, q: 14}
  ops:
  - O[k,p,q] += I[c,p,q] * W[k,c]
YAML
cat >softmax.yaml <<'YAML'
params: {m: 16}
workload:
  name: softmax
  dims: {m: m, l: 16}
  ops:
  - X[m] max= S[m,l]
  - E[m,l] = exp(S[m,l] - X[m])
YAML
cat >chain.yaml <<'YAML'
workload:
  name: chain
  dims: {m: 64, n: 64}
  ops:
  - B[m,n] = A[m,n] * 2
  - C[m,n] = B[m,n] + 1
YAML
cat >shar.yaml <<'YAML'
mapping: |
  DRAM for m=8
    Shar
      SRAM for m=8 n=8 spatial n=8@x
        op B
      SRAM for m=8 n=8 spatial n=8@x
        op C
YAML
cat >big.yaml <<'YAML'
mapping: |
  DRAM for k=64
    SRAM
      Regs for c=64 p=14 q=14
        op O
YAML
cat >plain.yaml <<'YAML'
workload:
  name: attention
  dims: {m: 8, l: 8, a: 8, b: 8}
  ops:
  - S[m,l] += Q[m,a] * K[l,a]
  - X[m] max= S[m,l]
  - E[m,l] = exp(S[m,l] - X[m])
  - Z[m] += E[m,l]
  - O[m,b] += E[m,l] / Z[m] * V[l,b]
YAML
cat >sweep.yaml <<'YAML'
sweep:
  name: chips
  architectures: machine.yaml
  workloads: product.yaml
  over: {pes: [4, 8], sram: [16, 64]}
  method: closed
YAML

echo "The architect"
try "mesh: [8] is a mesh" 0 "3 memories, 2 units" "$tool" check machine.yaml product.yaml
try "all kinds that units lack, of all ops at once" 2 "runs op 'E': none lists sub, exp" "$tool" check machine.yaml softmax.yaml
grep -q "runs op 'X': none lists max" said || { echo "FAILED: of the first op alone"; failed=$((failed + 1)); }
try "a param and a dim of one name" 0 "2 ops on 2 dims" "$tool" check softmax.yaml
try "an intermediate that is written and read by nobody" 0 "keep B@SRAM" "$tool" eval machine.yaml chain.yaml shar.yaml
try "a mapping that Timeloop can read" 0 "" "$tool" solve machine.yaml product.yaml --evals 5000 --exportable timeloop --mapping out.yaml --quiet
try "and it exports" 0 "" "$tool" export machine.yaml product.yaml out.yaml --to timeloop -o timeloop
try "a sweep" 0 "on the front" "$tool" sweep sweep.yaml --store chips.tfdb
if command -v gnuplot >/dev/null; then
  try "plot says how rows are chosen" 2 "where chooses rows" "$tool" plot chips.tfdb --as heat --x pes --y pes --z cycles -o heat.svg
  try "and chooses them" 0 "" "$tool" plot chips.tfdb --as lines --x pes --y cycles --where "sram == 16" -o lines.svg
fi

try "plot of inputs says what it draws" 2 "eval FILE... --json" "$tool" plot machine.yaml product.yaml --as timeline -o timeline.svg
[ "$(grep -c 'error\[' said)" -eq 2 ] || { echo "FAILED: an error for each line"; failed=$((failed + 1)); }
try "best: mapping, bound, gap, what limits it, what next" 0 "^Next:" "$tool" best machine.yaml product.yaml --evals 2000
for word in "No mapping at all" "The bottleneck is" "10 % fewer cycles" "tileflow explain"; do
  grep -q "$word" said || { echo "FAILED: best does not say '$word'"; failed=$((failed + 1)); }
done
cp said first
try "the same inputs give the same bytes" 0 "" sh -c "'$tool' best machine.yaml product.yaml --evals 2000 | cmp - first"
try "a mapping that does not fit is named first" 3 "^INFEASIBLE" "$tool" explain machine.yaml product.yaml big.yaml
try "no ladder where there is no kernel says why" 0 "" "$tool" explain "$root/arch-specs/edge.yaml" product.yaml --ladder

echo "The engineer"
host=$root/arch-specs/host-template.yaml
cat >layer.yaml <<'YAML'
workload:
  name: layer
  dims: {m: 64, n: 64, k: 64}
  ops:
  - C[m,n] += A[m,k] * B[k,n]
YAML
if command -v make >/dev/null && command -v cc >/dev/null; then
  try "a kernel" 0 "Next: make -C kernel test" "$tool" emit "$host" layer.yaml -o kernel
  try "the README has a call" 0 "kernel_dense(&args)" cat kernel/README.md
  link=$(sed -n 's/^    make libkernel.a && //p' kernel/README.md)
  cat >kernel/program.c <<'C'
#include "kernel.h"
static float A[4096], B[4096], C[4096];
int main(void) {
  kernel_args args = {.A = A, .B = B, .C = C};
  kernel_dense(&args);
  return kernel(&args, 0, 0);
}
C
  try "and a line that links it" 0 "" sh -c "cd kernel && make -s libkernel.a && $link && ./program"
  try "softmax divided in the last product" 0 "Next: make -C plain test" "$tool" emit "$host" plain.yaml --evals 500 -o plain
  try "is right" 0 "O: error [0-9.]*e-0[78]" make -s -C plain test
  try "a benchmark says on how many threads" 0 "threads" sh -c "cd kernel && make -s bench && ./bench"
  try "tune ends with what to do next" 0 "emit .*--tuned" "$tool" tune "$host" layer.yaml --trials 1 --store tuned.tfdb
fi

echo "The student"
try "a count moves as two words are exchanged" 0 "" "$tool" eval "$root/examples/matmul.yaml" --csv before.csv --quiet
sed 's/DRAM for m=\([0-9]*\) n=\([0-9]*\)/DRAM for n=\2 m=\1/' "$root/examples/matmul.yaml" >moved.yaml
try "and the report says why" 0 "steps outside of it" "$tool" eval moved.yaml
try "stages of Pipe that share a unit are both on the timeline" 0 "" "$tool" eval "$root/arch-specs/edge.yaml" \
  "$root/workloads/attention/g1.yaml" "$root/workloads/dataflows/edge/attention-tileflow.yaml" --trace pipe.csv --quiet
try "whom to cite" 0 "Size" cat "$root/CITATION.cff"
try "an error's code has a page" 0 "trip counts" "$tool" why E_COVER
try "an expression with a comma in braces" 2 "a text with a comma needs quotes" \
  sh -c "printf 'architecture:\n  memories: [{name: M, bandwidth: {read: min(1, 2)}}]\n  compute: [{name: u, ops: [mac]}]\n' | '$tool' check -"
echo "stumbles: $failed left"
[ $failed -eq 0 ]
