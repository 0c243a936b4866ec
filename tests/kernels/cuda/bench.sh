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
[ "$(wc -l <"$work/smoke.tsv")" = 44 ] || fail "44 small cases"
has 'smoke-*' setmaxnreg 28
has 'smoke-conv-*' setmaxnreg 4
has 'smoke-conv-*' START_CLUSTERS.part 1
has 'smoke-conv-*' blocks_begun 1
has 'smoke-conv-*' 'store_box(&' 2
has 'smoke-conv-*-sm90a' 'for (int64_t part_' 1
has 'smoke-attention-*' setmaxnreg 8
has 'smoke-f8-*' setmaxnreg 4
has 'smoke-*' START_CLUSTERS.part 8
has 'smoke-product-*' blocks_begun 2

python3 tests/kernels/cuda/bench_test.py || failed=1

# tiny NAME KIND DTYPE DIMS OP...; pads: what inputs may be read outside of
pads=''
tiny() {
  name=$1 kind=$2 dtype=$3 dims=$4
  shift 4
  {
    printf 'workload:\n  name: tiny\n  dims: {%s}\n  tensors: {%s}\n  ops:\n' "$dims" "$pads"
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
pads='I: {pad: [0, 1, 1, 0], shape: [2, 16, 16, 32]}'
tiny conv-sm90a conv-s2-p1-d1 bf16 "n: 2, p: 8, q: 8, k: 32, c: 32, r: 3, s: 3" "O[n,p,q,k] += I[n,p*2+r-1,q*2+s-1,c] * W[k,r,s,c]"
tiny residual conv-residual bf16 "n: 2, p: 16, q: 16, k: 16, c: 32, r: 3, s: 3" "O[n,p,q,k] += I[n,p+r-1,q+s-1,c] * W[k,r,s,c]" \
  "B[n,p,q,k] = O[n,p,q,k] * S[k] + T[k]" "A[n,p,q,k] = B[n,p,q,k] + R[n,p,q,k]" "Y[n,p,q,k] = relu(A[n,p,q,k])"
pads='I: {pad: [0, 2, 0, 0], shape: [2, 40, 2, 16]}'
tiny conv-grouped conv-grouped-s1-p2-d2 bf16 "n: 2, p: 40, g: 2, k: 24, c: 16, r: 3" "O[n,p,g,k] += I[n,p+r*2-2,g,c] * W[g,k,r,c]"
pads='I: {pad: [0, 0, 0, 0, 0], shape: [2, 5, 6, 7, 16]}'
tiny conv-3d conv-s2-p0-d1 f16 "n: 2, t: 3, p: 3, q: 4, k: 24, c: 16" "O[n,t,p,q,k] += I[n,t*2,p*2,q*2,c] * W[k,c]"
pads=''
python3 bench/cuda/run.py --emulate "$work/tiny" 2>"$work/said" || { cat "$work/said"; fail "small cases beside PyTorch"; }
[ "$(grep -c ',tileflow,ok,' "$work/tiny/results.csv")" = 15 ] || { cat "$work/said"; fail "fifteen small kernels are right"; }
python3 bench/cuda/report.py "$work/tiny" >/dev/null || fail "the report"
exit $failed
