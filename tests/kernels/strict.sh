#!/bin/sh
# What emitted files must be beside right: without a warning for gcc and clang, refused with options that break their numbers, an error code and no signal
# where the computer cannot run them, and said where arrays begin.
#   tests/kernels/strict.sh TILEFLOW
set -u
tileflow=$(realpath "${1:?usage: $0 TILEFLOW}") || exit 2
cd "$(dirname "$0")/../.." || exit 2
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
bad=0
fail() { echo "$1" && bad=1; }

cat >"$dir/w.yaml" <<'YAML'
workload:
  name: w
  dims: {m: 5, n: 20, k: 6}
  ops:
  - C[m,n] += A[m,k+3]*B[2*k+1,n]
  - X[m] max= C[m,n]
  - E[m,n] = exp(max(C[m,n], U[n]) - X[m])
  - Z[m] += E[m,n]
  - P[m,n] = E[m,n]/Z[m]
  - Q[m] += P[m,n]
  - R[m,n] = P[m,n]/Q[m]
  - S[m] += T[m,n] < U[n]
YAML

# emit NAME OPTION...
emit() {
  name=$1
  shift
  "$tileflow" emit arch-specs/host-template.yaml "$dir/w.yaml" --target cpu --evals 200 --seed 1 --quiet --no-test -o "$dir/$name" "$@" || fail "$name: not emitted"
}

# compiles NAME COMPILER CFLAGS
compiles() { make -s -B -C "$dir/$1" "CC=$2" OPENMP= "CFLAGS=$3" kernel.o >"$dir/said" 2>&1; }

warnings='-O1 -Wall -Wextra -Wpedantic -Werror'
for isa in portable avx2 avx512 avx512_bf16 amx; do
  case $isa in avx512_bf16 | amx) type=bf16 ;; *) type=f32 ;; esac
  emit $isa --isa $isa --dtype $type
  for cc in gcc clang; do
    command -v $cc >/dev/null || continue
    compiles $isa $cc "$warnings" || fail "$isa, $cc: $(grep -m 1 -E 'error|warning' "$dir/said")"
    for program in test bench; do
      # shellcheck disable=SC2086 # options
      $cc -std=c17 $warnings -fsyntax-only "$dir/$isa/$program.c" 2>"$dir/said" || fail "$isa, $cc, $program.c: $(grep -m 1 -E 'error|warning' "$dir/said")"
    done
    for option in -Ofast -ffinite-math-only; do
      compiles $isa $cc "$option -fsyntax-only" && fail "$isa, $cc: $option is taken"
      grep -q 'compile without -ffast-math' "$dir/said" || fail "$isa, $cc: $option: no word why"
    done
  done
done
grep -q '5 x 6, of which element 0 is at coordinate 0, 3 ' "$dir/portable/kernel.h" || fail "kernel.h does not say where A begins"
grep -q '11 x 20, of which element 0 is at coordinate 1, 0 ' "$dir/portable/kernel.h" || fail "kernel.h does not say where B begins"
grep -q 'take subnormal numbers' "$dir/avx512_bf16/kernel.h" || fail "kernel.h is silent on subnormal numbers"

# Below -O3, too, what vectors leave of a short row that stands deep in loops is right.
cat >"$dir/deep.yaml" <<END
workload:
  name: deep
  dims: {b: 2, c: 3, i: 3, p: 2, j: 3, q: 2, k: 3, n: 5}
  ops:
  - y[b,c,i,p,j,q,k,n] = s[b,i,j,k,20 * c + 10 * p + 5 * q + n] + B[c]
END
"$tileflow" emit arch-specs/host-template.yaml "$dir/deep.yaml" --target cpu --evals 200 --seed 1 --quiet --no-test -o "$dir/deep" || fail "deep: not emitted"
make -s -C "$dir/deep" CFLAGS=-O2 test >"$dir/said" 2>&1 || fail "deep: $(tail -n 1 "$dir/said")"

# A window of neighbours, whose sum could be a row's, has the map behind it.
cat >"$dir/pairs.yaml" <<END
workload:
  name: pairs
  dims: {a: 17, b: 2, c: 2}
  ops:
  - S[a,b] += X[a,2 * b + c]
  - M[a,b] = S[a,b] * 0.5
mapping: |
  DRAM
    Seq
      DRAM for a=17 b=2 c=2
        REG
          op S
      DRAM for a=17 b=2
        REG
          op M
END
"$tileflow" emit arch-specs/host-template.yaml "$dir/pairs.yaml" --target cpu --quiet --no-test -o "$dir/pairs" || fail "pairs: not emitted"
make -s -C "$dir/pairs" CFLAGS=-O1 test >"$dir/said" 2>&1 || fail "pairs: $(tail -n 1 "$dir/said")"

# A computer that has not the instructions: as the macro says, and as an emulator of an old one has it.
if [ "$(uname -m)" = x86_64 ]; then
  echo '#define MACHINE_HAS() 0' >"$dir/none.h"
  for isa in avx2 amx; do
    make -s -C "$dir/$isa" clean
    make -s -C "$dir/$isa" OPENMP= "CFLAGS=-O2 -include $dir/none.h" test >"$dir/said" 2>&1 && fail "$isa: runs where it must not"
    grep -q 'not run: this computer' "$dir/said" || fail "$isa: $(tail -n 1 "$dir/said")"
    make -s -C "$dir/$isa" clean
    command -v qemu-x86_64 >/dev/null || continue
    make -s -C "$dir/$isa" OPENMP= CFLAGS=-O2 libkernel.a && gcc -std=c17 -O1 -o "$dir/$isa/test" "$dir/$isa/test.c" "$dir/$isa/libkernel.a" -lm
    qemu-x86_64 -cpu qemu64 "$dir/$isa/test" >"$dir/said" 2>&1
    grep -q 'not run: this computer' "$dir/said" || fail "$isa, emulated: $(tail -n 1 "$dir/said")"
  done
  # One with the instructions of amx but without its tiles, as they stand behind a filter of system calls.
  echo '#define TILES_ALLOWED() 0' >"$dir/none.h"
  make -s -C "$dir/amx" clean
  make -s -C "$dir/amx" OPENMP= "CFLAGS=-O2 -include $dir/none.h" test >"$dir/said" 2>&1 && fail "amx: runs without tiles"
  grep -q 'not run: this computer' "$dir/said" || fail "amx, no tiles: $(tail -n 1 "$dir/said")"
fi
exit $bad
