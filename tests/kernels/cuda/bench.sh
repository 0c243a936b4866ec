#!/bin/sh
# bench/cuda.sh where there is no GPU: its smallest cases by the emulator, each kind of case at a small size beside PyTorch on the CPU if there
# is one (PYTHON), workers that hang, crash and talk nonsense, and a second run that finds all done.
# usage: bench.sh TILEFLOW.  Exit 77: no C++ compiler, or no python3.
set -u
command -v python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }
. "$(dirname "$0")/begin.sh"
failed=0
fail() { echo "FAIL: $*"; failed=1; }
sum() { cksum <"$work/dry/results.csv"; }

PYTHON=python3 sh bench/cuda.sh --emulate "$work/dry" "$tileflow" 'smoke-3[1-3]-*' >"$work/report" 2>"$work/said" || { cat "$work/said"; fail "small cases"; }
[ "$(grep -c ',tileflow,ok,' "$work/dry/results.csv")" = 3 ] || { cat "$work/said"; fail "three small kernels are right"; }
grep -q 'share of 3 small random kernels that are right | >= 1 | 1 | met' "$work/report" || fail "what the report says of them"
before=$(sum)
PYTHON=python3 python3 bench/cuda/run.py --emulate "$work/dry" 2>/dev/null
[ "$before" = "$(sum)" ] || fail "a second run has something left to do"

# What smoke says of its cases is so: all of warpgroups but twelve, attention, clusters, turns and float8 among them.
mkdir "$work/smoke"
(
  all=$work work=$work/smoke word='smoke-*' spec=arch-specs/h100.yaml
  . bench/cuda/cases.sh
  smoke >"$all/smoke.tsv"
)
# PATTERN of names, WHAT their text has, how many at least
has() {
  # shellcheck disable=SC2086 # a pattern
  n=$(cd "$work/smoke" && grep -l "$2" $1/kernel.cu 2>/dev/null | wc -l)
  [ "$n" -ge "$3" ] || fail "of $1 $n have $2, not $3"
}
[ "$(wc -l <"$work/smoke.tsv")" = 36 ] || fail "36 small cases"
has 'smoke-*' setmaxnreg 24
has 'smoke-attention-*' setmaxnreg 8
has 'smoke-f8-*' setmaxnreg 4
has 'smoke-*' START_CLUSTERS.part 8
has 'smoke-product-*' blocks_begun 2

python3 tests/kernels/cuda/bench_test.py || failed=1

# tiny NAME KIND DTYPE DIMS OP...
tiny() {
  name=$1 kind=$2 dtype=$3 dims=$4
  shift 4
  {
    printf 'workload:\n  name: tiny\n  dims: {%s}\n  ops:\n' "$dims"
    for op; do echo "  - \"$op\""; done
  } >"$work/tiny/$name.yaml"
  isa=
  case $name in *-sm90a | *-f8) isa='--isa sm_90a' ;; esac
  # shellcheck disable=SC2086 # an option and its word, or nothing
  "$tileflow" emit --quiet arch-specs/h200.yaml "$work/tiny/$name.yaml" --target cuda --dtype "$dtype" $isa -o "$work/tiny/$name" || fail "$name is not written"
  cp "$work/tiny/$name"/*.hpp "$work/tiny/"
  printf 'tiny\t%s\t%s\t1\n' "$name" "$kind" >>"$work/tiny/cases.tsv"
}
"${PYTHON:-python3}" -c 'import torch' 2>/dev/null || { echo "no PyTorch: no contestants"; exit $failed; }
mkdir "$work/tiny"
square="m: 128, n: 64, k: 64"
tiny gemm-sm90a gemm bf16 "$square" "C[m,n] += A[m,k] * B[k,n]"
tiny gemm-tf32 gemm tf32 "$square" "C[m,n] += A[m,k] * B[k,n]"
tiny gemm-f16 gemm f16 "$square" "C[m,n] += A[m,k] * B[k,n]"
tiny gemm-int8 gemm-int8 int8 "$square" "C[m,n] += A[m,k] * B[k,n]"
tiny gemm-f8 gemm-f8 f8 "$square" "C[m,n] += A[m,k] * B[n,k]"
tiny chain-f32 chain f32 "b: 2, m: 32, l: 24, k: 16, n: 16" "C[b,m,l] += A[b,m,k] * B[b,k,l]" "E[b,m,n] += C[b,m,l] * D[b,l,n]"
softmax="X[h,m] max= T[h,m,l];E[h,m,l] = exp(T[h,m,l] - X[h,m]);Z[h,m] += E[h,m,l];P[h,m,l] = E[h,m,l] / Z[h,m];O[h,m,n] += P[h,m,l] * V[h,l,n]"
dims="h: 2, m: 64, l: 64, a: 32, n: 32"
IFS=';'
# shellcheck disable=SC2086 # split
{
  tiny attention attention bf16 "$dims" "T[h,m,l] += Q[h,m,a] * K[h,l,a]" $softmax
  tiny attention-causal attention-causal bf16 "$dims" "S[h,m,l] += Q[h,m,a] * K[h,l,a]" "T[h,m,l] = select(l <= m, S[h,m,l], -inf)" $softmax
  tiny attention-mask attention-mask bf16 "$dims" "S[h,m,l] += Q[h,m,a] * K[h,l,a]" "T[h,m,l] = S[h,m,l] * 0.17677669529663687 + Mask[m,l]" $softmax
}
unset IFS
tiny linear-gelu linear-gelu bf16 "$square" "H[m,n] += X[m,k] * W[k,n]" "Y[m,n] = gelu(H[m,n] + B[n])"
tiny two-products two-products bf16 "m: 64, k: 32, l: 64, n: 32" "H[m,l] += X[m,k] * W1[k,l]" "G[m,l] = gelu(H[m,l])" "Y[m,n] += G[m,l] * W2[l,n]"
python3 bench/cuda/run.py --emulate "$work/tiny" 2>"$work/said" || { cat "$work/said"; fail "small cases beside PyTorch"; }
[ "$(grep -c ',tileflow,ok,' "$work/tiny/results.csv")" = 11 ] || { cat "$work/said"; fail "eleven small kernels are right"; }
python3 bench/cuda/report.py "$work/tiny" >/dev/null || fail "the report"
exit $failed
