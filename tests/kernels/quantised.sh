#!/bin/sh
# Kernels whose tensors of 8 bits are int8 and whose others are float32: products summed in int32, then scaled, rounded and stored
# as int8 by one pass over what is summed; each compiled by CC and held against its reference in double, and its sums are int32.
#   tests/kernels/quantised.sh TILEFLOW CC
tool=$(realpath "${1:?usage: $0 TILEFLOW CC}") || exit 2
cc=${2:-cc}
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
arch=arch-specs/xeon-gold-6240.yaml
bad=0

# workload NAME DIMS TENSORS OP..
workload() {
  file=$work/$1.yaml
  printf 'workload:\n  name: %s\n  dims: {%s}\n  tensors: {%s}\n  ops:\n' "$1" "$2" "$3" >"$file"
  shift 3
  printf '  - "%s"\n' "$@" >>"$file"
}
byte='word-bits: 8'
workload product 'm: 37, n: 50, k: 70' "A: {$byte}, B: {$byte}, Y: {$byte}" 'S[m,n] += A[m,k] * B[k,n]' \
  'Y[m,n] = min(max(round(S[m,n] * (scale[n] * 0.0000217)) + 3, -128), 127)'
workload window 'c: 18, k: 20, y: 7, x: 9, u: 3, v: 3' "I: {$byte, pad: [0, 1, 1]}, W: {$byte}, Y: {$byte}" \
  'S[k,y,x] += I[c,y+u-1,x+v-1] * W[k,c,u,v]' 'Y[k,y,x] = min(max(round(relu(S[k,y,x] + bias[k]) * 0.00137), -128), 127)'
workload map 'm: 19, n: 45' "A: {$byte}, Y: {$byte}" 'Y[n,m] = min(max(round((A[m,n] - 7) * 0.31 + x[n]), -128), 127)'
workload wide 'm: 20, n: 33, k: 40' "A: {$byte}, B: {$byte}" 'S[m,n] += A[m,k] * B[k,n]' 'Y[m,n] = S[m,n] * scale[n] + R[m,n]'
workload mixed 'm: 20, n: 33, k: 40' "A: {$byte}" 'Y[m,n] += A[m,k] * B[k,n]'
workload free 'm: 19, n: 45' "A: {$byte}, Y: {$byte}" 'Y[m,n] = max(round(A[m,n] * x[n]), -128)'
workload best 'm: 20, k: 40' "A: {$byte}, Y: {$byte}" 'Y[m] max= A[m,k] * s[k]'
workload unsigned 'c: 18, k: 20, y: 7, x: 9, u: 3, v: 3' "I: {$byte, unsigned: true, pad: [0, 1, 1]}, W: {$byte}, Y: {$byte}" \
  'S[k,y,x] += I[c,y+u-1,x+v-1] * W[k,c,u,v]' 'Y[k,y,x] = min(max(round(relu(S[k,y,x] + bias[k]) * 0.00137), 0), 255)'
workload points 'c: 18, k: 20, y: 7, x: 9' "I: {$byte, unsigned: true}, W: {$byte}, Y: {$byte}" \
  'S[k,y,x] += I[c,y,x] * W[k,c]' 'Y[k,y,x] = min(max(round(S[k,y,x] * scale[k] * 0.00137) + 100, 0), 255)'
# of every other pixel; rows of a vector and a part, and of less than one, where the others are not laid out
for n in 11 7; do
  workload strided$n "c: 64, k: 64, y: 20, x: $n" "I: {$byte, unsigned: true}, W: {$byte}, Y: {$byte}" \
    'S[k,y,x] += I[c,2*y,2*x] * W[k,c]' 'Y[k,y,x] = min(max(round(S[k,y,x] * scale[k] * 0.00137) + 100, 0), 255)'
done
workload pool 'c: 5, y: 4, x: 6, u: 2, v: 2' "I: {$byte, unsigned: true}, Y: {$byte}" \
  'Y[c,y,x] max= select(0 <= 2*y+u-1, I[c,2*y+u,2*x+v], -inf)' 'R[c,y,x] = I[c,2*y,2*x] * 0.5'
# windows of each channel by itself: rows of several vectors, of a vector and a part, of less than one; steps of 1, 2 and 3
deep() {
  workload "$1" "c: 5, p: $2, q: $3, r: 3, s: $4" "X: {$byte, unsigned: $5, pad: [0, 1, 1]}, W: {$byte}, Y: {$byte}" \
    "S[c,p,q] += X[c,$6*p+r-1,$6*q+s-1] * W[c,r,s]" "Y[c,p,q] = min(max(round((S[c,p,q] + b[c]) * 0.00137) + 3, $7), $8)"
}
deep deep1 9 37 3 true 1 0 255
deep deep2 5 19 5 true 2 0 255
deep deep3 7 7 3 false 1 -128 127
deep deep4 3 12 5 true 3 0 255
# sums of 514 products are at most 2^24, which float32 holds; of more they may be beyond
for n in 57 58; do
  workload sums$n "c: $n, y: 5, x: 40, r: 3, s: 3" "X: {$byte, unsigned: true, pad: [0, 1, 1]}, W: {$byte}" \
    'S[y,x] += X[c,y+r-1,x+s-1] * W[c,r,s]' 'Y[y,x] = S[y,x] * scale[x]'
done
workload inside 'm: 20, n: 33, k: 40' "A: {$byte}, Q: {$byte}, B: {$byte}" 'Q[m,k] = min(max(round(A[m,k] * x[k]), 0), 255)' \
  'S[m,n] += Q[m,k] * B[k,n]'
cp workloads/quantised/gemm-gelu.yaml "$work"

# each NAME ISA: emitted, compiled, run; the types of its arguments are those that were asked for
each() {
  rm -rf "$work/code"
  CC=$cc "$tool" emit $arch "$work/$1.yaml" --dtype int8 --isa "$2" -o "$work/code" >"$work/said" 2>&1 ||
    { echo "$1 for $2 fails:"; cat "$work/said"; bad=1; return; }
  for want in $3; do
    grep -q "${want%:*} \*${want#*:};" "$work/code/kernel.h" || { echo "$1: ${want#*:} is not of type ${want%:*}"; bad=1; }
  done
  echo "$1 for $2 passes its test"
}
grep -q avx2 /proc/cpuinfo && isa=avx2 || isa=portable
[ $isa = portable ] || each product portable 'int8_t:A int8_t:B float:scale int8_t:Y'
each product $isa 'int8_t:A int8_t:B float:scale int8_t:Y'
each window $isa 'int8_t:I float:bias int8_t:Y'
each unsigned $isa 'uint8_t:I int8_t:W uint8_t:Y'
each unsigned portable 'uint8_t:I uint8_t:Y'
each points $isa 'uint8_t:I uint8_t:Y'
each strided11 $isa 'uint8_t:I uint8_t:Y'
each strided7 $isa 'uint8_t:I uint8_t:Y'
[ $isa = portable ] || grep -q '; x1 += 2) {' "$work"/code/*.c || { echo "strided7: pixels between are laid out, too"; bad=1; }
each pool $isa 'uint8_t:I uint8_t:Y float:R'
for n in 1 2 3 4; do
  each deep$n $isa 'int8_t:W float:b'
  [ $isa = portable ] || grep -q ' store_[ui]8_lanes(&' "$work/code/kernel.c" || { echo "deep$n: elements are asked for one by one"; bad=1; }
done
each sums57 $isa 'uint8_t:X'
each sums58 $isa 'uint8_t:X'
! grep -q ' store_whole_lanes(&' "$work/code/kernel.c" || { echo "sums58: summed in float32, which is not exact"; bad=1; }
each inside $isa 'int8_t:A int8_t:B float:S'
each map $isa 'int8_t:A float:x int8_t:Y'
each wide $isa 'int8_t:B float:R float:Y'
each free $isa 'int8_t:A float:Y'
each mixed $isa 'int8_t:A float:B float:Y'
each best $isa 'int8_t:A float:s float:Y'
each gemm-gelu $isa 'int8_t:A float:scale float:bias int8_t:Y'
exit $bad
