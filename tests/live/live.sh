#!/bin/sh
# A program calls a kernel all the time and checks each result, while versions of it are given to it: right ones are
# taken over, what is wrong, crashes, hangs or is damaged is not; nothing of tune --serve that is killed reaches it.
#   tests/live/live.sh TILEFLOW [FLAGS]     FLAGS: of the compiler, for all that runs in the program
set -u
tileflow=$1
flags=${2:--O2}
cc=${CC:-cc}
command -v "$cc" >/dev/null && command -v make >/dev/null || { echo "skipped: no compiler, or no make"; exit 77; }
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) || exit 2
jobs=
finish() { [ -z "$jobs" ] || kill -9 $jobs 2>/dev/null; rm -rf "$dir"; }
trap finish EXIT
fail() { echo "FAILED: $*" >&2; cat "$dir"/*.log >&2 2>/dev/null; exit 1; }
sizes="--set M=24 --set N=20 --set K=16"
product="arch-specs/host-template.yaml workloads/operators/gmm.yaml $sizes"

# The program's kernel is slow on purpose, so that what tune finds is faster however busy the computer is.
cat >"$dir/slow.yaml" <<'Y'
mapping: |
  DRAM for m=24 n=20 k=16
    L3
      L2
        L1
          REG
            op O
Y
# shellcheck disable=SC2086 # the words of $product and $flags
"$tileflow" emit $product "$dir/slow.yaml" --isa portable --live --quiet -o "$dir/k" || fail "emit"
make -s -C "$dir/k" -f live.mk CFLAGS="$flags" OPENMP= >"$dir/make.log" 2>&1 || fail "make -f live.mk"
# shellcheck disable=SC2086
"$cc" -std=gnu17 $flags -I"$dir/k" -o "$dir/program" "$here/program.c" "$dir/k/liblive.a" -lm -ldl -pthread || fail "program.c"

# ---- what is planted ----
n=0
for name in right wrong wrong_packed crashes divides hangs aborts ends beside input fails constructed waits other; do
  "$cc" -std=c17 -O1 -shared -fPIC -I"$dir/k" -DPLANTED=$n -o "$dir/$name" "$here/planted.c" || fail "planted.c"
  n=$((n + 1))
done
make -s -C "$dir/k" -f live.mk next.so >"$dir/make.log" 2>&1 || fail "next.so"
mv "$dir/k/next.so" "$dir/emitted"
size=$(wc -c <"$dir/right")
head -c $((size / 2)) "$dir/right" >"$dir/half"
: >"$dir/empty"
cp "$dir/right" "$dir/again"
echo "no library" >"$dir/text"
printf 'int main(void) { return 0; }\n' >"$dir/none.c"
"$cc" -shared -fPIC -o "$dir/none" "$dir/none.c" || fail "none.c"
(cd "$dir" && ./program k right wrong wrong_packed crashes divides hangs aborts ends beside input fails constructed other half empty text none \
  emitted again) >"$dir/said" 2>/dev/null || fail "program: $(cat "$dir/said")"
cat >"$dir/want" <<'S'
right: taken
wrong: refused
wrong_packed: refused
crashes: refused
divides: refused
hangs: refused
aborts: refused
ends: refused
beside: refused
input: refused
fails: refused
constructed: refused
other: refused
half: refused
empty: refused
text: refused
none: refused
emitted: taken
again: taken
all right, version 3, 16 refused
S
diff "$dir/want" "$dir/said" || fail "what became of the files"

# ---- kill -9 of the process that tries a version ----
PLANTED_PID=$dir/pid "$dir/program" "$dir/k" + 1 >"$dir/said" & program=$!
jobs=$program
mv "$dir/waits" "$dir/k/next.so"
tries=0
while [ ! -s "$dir/pid" ]; do
  tries=$((tries + 1))
  [ $tries -lt 600 ] || fail "no process tries the version"
  sleep 0.1
done
kill -9 "$(cat "$dir/pid")"
wait $program || fail "program: $(cat "$dir/said")"
jobs=
[ "$(cat "$dir/said")" = "all right, version 0, 1 refused" ] || fail "killed while it tried: $(cat "$dir/said")"
rm "$dir/k/next.so"

# ---- kill -9 of tune --serve: what it gave stays, and another one goes on ----
for round in 1 2; do
  "$dir/program" "$dir/k" + 1 >"$dir/said" & program=$!
  # shellcheck disable=SC2086
  "$tileflow" tune $product --trials 1000 --store "$dir/store" --serve "$dir/k" >"$dir/tune.log" 2>&1 & server=$!
  jobs="$program $server"
  wait $program || fail "program: $(cat "$dir/said")"
  kill -9 $server
  wait $server 2>/dev/null
  jobs=
  [ "$(cat "$dir/said")" = "all right, version 1, 0 refused" ] || fail "round $round of serving: $(cat "$dir/said")"
  rm "$dir/k/next.so"
done

# ---- a network, group by group ----
mlp="arch-specs/host-template.yaml workloads/mlp.yaml --set tokens=24 --set width=32 --set inner=48"
# shellcheck disable=SC2086
"$tileflow" plan $mlp --target cpu --max-ops 2 --quiet -o "$dir/plan.yaml" || fail "plan"
# shellcheck disable=SC2086
"$tileflow" emit $mlp "$dir/plan.yaml" --isa portable --live --quiet -o "$dir/net" || fail "emit of the plan"
make -s -C "$dir/net" -f live.mk CFLAGS=-O0 OPENMP= >"$dir/make.log" 2>&1 || fail "make -f live.mk of the network"
sed -i 's/^CFLAGS = .*/CFLAGS = -O1/' "$dir/net/live.flags" # its versions are faster, whatever else they are
# shellcheck disable=SC2086
"$tileflow" tune $mlp "$dir/plan.yaml" --trials 1 --store "$dir/store" --serve "$dir/net" >"$dir/tune.log" 2>&1 || fail "tune of the plan"
grep -q '^served: 1, ' "$dir/tune.log" && "$dir/net/try" "$dir/net/next.so" >"$dir/said" && grep -qx right "$dir/said" ||
  fail "the network was not replaced"

# ---- folders that are none ----
# shellcheck disable=SC2086
"$tileflow" tune $product --trials 1 --serve "$dir" >"$dir/said" 2>&1
[ $? -eq 2 ] && grep -q 'no folder of emit --live' "$dir/said" || fail "a folder of something else: $(cat "$dir/said")"
rm "$dir/k/try"
# shellcheck disable=SC2086
"$tileflow" tune $product --trials 1 --serve "$dir/k" >"$dir/said" 2>&1
[ $? -eq 2 ] && grep -q 'make -C .* -f live.mk' "$dir/said" || fail "a folder that is not built: $(cat "$dir/said")"
echo "live: 19 versions planted, 3 processes killed"
