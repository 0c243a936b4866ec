#!/bin/sh
# A residual block of 34 GB on a machine with 16 MiB on chip: the search finds slabs of which nothing passes through L3 twice,
# and the loop that runs them is emitted, scaled down, and computes what the block does.
#   tests/cli/tlf.sh TILEFLOW
set -u
. "$(dirname "$0")/../lib.sh"
cd "$dir" || exit 2
fail() {
  echo "$*"
  exit 1
}
# The value of a key of the JSON document, the first of that name.
value() {
  sed -n "s/^ *\"$1\": \([0-9.]*\).*/\1/p" "$2" | head -n 1
}

# The trip counts of rows, batches and output channels are left to the search.
sed '/^#/d; s/n=32 p=512/n=? p=?/; s/p=4/p=?/; s/p=2/p=?/; s/for o=4$/for o=?/; s/ o=2 / o=? /; s/spatial o=64@x/o=? spatial o=32@x/' \
  "$root/examples/tlf-block.yaml" >open.yaml
[ "$(grep -c '?' open.yaml)" = 12 ] || fail "trip counts that should be open are not"
"$tool" search open.yaml --objective traffic --evals 300 --threads 1 --json found.json --quiet || fail "nothing found that fits"
words=$(($(value read found.json) + $(value update found.json)))
[ "$words" = 17179939584 ] || fail "found: $words words through L3, not input, output and weights once"

# Op by op each tensor between two ops is written and read again.
sed '/^mapping/,$d' "$root/examples/tlf-block.yaml" >block.yaml
"$tool" plan block.yaml --max-ops 1 --evals 20 --threads 1 --json alone.json --quiet || fail "no plan op by op"
words=$(value traffic_words alone.json)
[ "${words%.*}" -ge 103079215104 ] && [ "${words%.*}" -le 103500000000 ] || fail "op by op: $words words, not 412.3 GB"

# `plan` finds the slabs itself: all ten ops in one group, and nothing passes twice.
"$tool" plan block.yaml --objective traffic --max-ops 10 --evals 100 --threads 1 --json whole.json --quiet || fail "no plan of slabs"
words=$(value traffic_words whole.json)
[ "${words%.*}" = 17179939584 ] || fail "planned: $words words through L3, not input, output and weights once"
[ "$(grep -c '"like"' whole.json)" = 1 ] || fail "planned: several groups"

# Scaled down, counted by hand: input and output of 48 words each, 68 of weights.
small=$root/tests/data/tlf-block-small.yaml
"$tool" eval "$small" --json small.json --quiet || fail "the small block does not fit"
words=$(($(value read small.json) + $(value update small.json)))
[ "$words" = 164 ] || fail "scaled down: $words words, not 164"
"$tool" emit "$small" --target cpu --isa portable -o code --quiet --no-test || fail "not emitted"
grep -q 'for (int64_t i_p_0 = 0; i_p_0 < 3; i_p_0++)' code/kernel.c || fail "no loop over slabs"
make -C code test CFLAGS=-O1 >said 2>&1 || fail "$(cat said)"

# So does a plan of the small block: its loop is emitted, and it computes what the block does.
sed '/^mapping/,$d' "$small" >small.yaml
"$tool" plan small.yaml --objective traffic --max-ops 10 --evals 100 --threads 1 -o small.plan.yaml --json small.json --quiet || fail "the small block has no plan"
words=$(value traffic_words small.json)
[ "${words%.*}" -le 180 ] || fail "planned, scaled down: $words words, more than 1.1 times 164"
"$tool" emit small.yaml small.plan.yaml --target cpu --isa portable -o planned --quiet || fail "the plan was not emitted"
grep -q 'for (int64_t i_p_[0-9]* = 0; i_p_[0-9]* < [23]; ' planned/g1.c || fail "no loop over slabs in the plan"
make -C planned test CFLAGS=-O1 >said 2>&1 || fail "$(cat said)"
