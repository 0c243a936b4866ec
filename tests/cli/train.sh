#!/bin/sh
# A training step from the workload to code: weighed, the fastest that fits written, planned, emitted, and the emitted
# test run, which holds loss and parameters against the step in double.
#   train.sh TOOL CC, in the root of the sources
set -u
. "$(dirname "$0")/../lib.sh"
cc=$2
arch=$(realpath arch-specs/edge.yaml) || exit 2
cd "$dir" || exit 2
cat >deep.yaml <<'WORKLOAD'
workload:
  name: deep
  dims: {m: 16, k: 16, l: 16}
  ops:
  - H1[m,l] += X[m,k] * W1[k,l]
  - G1[m,l] = tanh(H1[m,l])
  - H2[m,l] += G1[m,k] * W2[k,l]
  - G2[m,l] = tanh(H2[m,l])
  - H3[m,l] += G2[m,k] * W3[k,l]
  - L[] += H3[m,l] * H3[m,l]
WORKLOAD
fail() {
  echo "$*"
  failed=$((failed + 1))
}
weigh() { "$tool" train "$arch" deep.yaml --of L --by W1,W2,W3 --evals 20 --threads 1 "$@"; }

weigh --step adam -o step.yaml --json step.json >said || fail "train: exit status $?"
grep -q 'H1 + G1  Many+One' said || fail "train says nothing of the first pair"
grep -q '"words_saved": 1024' step.json || fail "the first pair saves 4 tensors of 256 words"
"$tool" plan "$arch" step.yaml --target cpu --evals 20 --threads 1 --quiet -o plan.yaml &&
  "$tool" emit "$arch" step.yaml plan.yaml --isa portable --quiet --no-test -o code && make -s -C code CC="$cc" test >made 2>&1 &&
  grep -q 'W1_next: error' made || fail "the step does not end in code: $(cat made 2>/dev/null)"

weigh --memory 1 --quiet 2>said
[ $? -eq 3 ] && grep -q 'needs 1 bytes or less between groups: the least has' said || fail "nothing fits a byte: $(cat said)"
weigh --step rms 2>said
[ $? -eq 2 ] && grep -q "sgd or adam, not 'rms'" said || fail "--step rms: $(cat said)"
"$tool" train "$arch" deep.yaml --of L 2>said
[ $? -eq 2 ] && grep -q 'what --by names' said || fail "no --by: $(cat said)"
"$tool" grad deep.yaml --of L --by W1 --step sgd --again X 2>said
[ $? -eq 2 ] && grep -q "cannot be made again, and 'X' is one" said || fail "--again X: $(cat said)"
"$tool" grad deep.yaml --again G1 2>said
[ $? -eq 2 ] && grep -q 'again is for a step' said || fail "--again alone: $(cat said)"
exit $failed
