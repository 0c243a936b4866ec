#!/bin/sh
# Which kernels the target plans for `--isa sm_90a` where no mapping is given: products, chains and attention of some size are warpgroups'
# on h100 and h200, and so are convolutions; large products and attention without a mask, of width 128, have clusters.  Decoding, whose single query fills no warpgroup, stays with mma.sync, in parts.
# usage: choice.sh TILEFLOW
tileflow=$1 failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# NAME WHAT-KERNEL.CU-HAS, the workload on stdin
plan() {
  cat >"$work/$1.yaml"
  for gpu in h100 h200; do
    "$tileflow" emit --quiet arch-specs/$gpu.yaml "$work/$1.yaml" --target cuda --dtype bf16 --isa sm_90a -o "$work/$1-$gpu" || { failed=1; continue; }
    grep -q "$2" "$work/$1-$gpu/kernel.cu" || { echo "FAIL: $1 on $gpu has no $2"; failed=1; }
    echo "$1 on $gpu: $(sed -n 's/^On .* cycles, \([0-9.e+]*\) us, .*; bound by \([a-z0-9]*\)\..*/\1 us, bound by \2/p' "$work/$1-$gpu/README.md")"
  done
}

for n in 2048 4096 8192; do
  printf 'workload:\n  name: p\n  dims: {m: %d, n: %d, k: %d}\n  ops:\n  - "C[m,n] += A[m,k] * B[k,n]"\n' $n $n $n | plan product-$n START_CLUSTERS.part
done
# attention HEADS LENGTH WIDTH [causal]
attention() {
  mask='S[h,m,l]' started=START_CLUSTERS
  [ "$3" = 64 ] && started="START_[A-Z]*" # rows of three warpgroups may be an odd number of blocks: the last of a head and the first of the next have no keys in common
  [ "${4:-}" ] && mask='select(l <= m, S[h,m,l], -inf)' started=START_ROLES
  plan "attention-$2-d$3${4:+-causal}" "$started(part[0-9]" <<Y
workload:
  name: attention
  dims: {h: $1, m: $2, l: $2, a: $3, n: $3}
  ops:
  - "S[h,m,l] += Q[h,m,a] * K[h,l,a]"
  - "T[h,m,l] = $mask"
  - "X[h,m] max= T[h,m,l]"
  - "E[h,m,l] = exp(T[h,m,l] - X[h,m])"
  - "Z[h,m] += E[h,m,l]"
  - "P[h,m,l] = E[h,m,l] / Z[h,m]"
  - "O[h,m,n] += P[h,m,l] * V[h,l,n]"
Y
}
for width in 64 128; do
  for length in 512 2048 16384; do
    attention $((16384 / length * 16)) $length $width
    attention $((16384 / length * 16)) $length $width causal
  done
done
plan mlp multiply_wait <<'Y'
workload:
  name: mlp
  dims: {m: 4096, k: 2048, h: 8192, n: 2048}
  ops:
  - "U[m,h] += X[m,k] * W[k,h]"
  - "H[m,h] = gelu(U[m,h])"
  - "Y[m,n] += H[m,h] * V[h,n]"
Y
# conv SIZE CHANNELS WINDOW STRIDE: a layer of ResNet-50, with what stands behind it
conv() {
  plan "conv-$3x$3-$2-$1" setmaxnreg <<Y
workload:
  name: conv
  dims: {n: 32, p: $1, q: $1, k: $2, c: $2, r: $3, s: $3}
  tensors: {I: {pad: [0, $(($3 / 2)), $(($3 / 2)), 0], shape: [32, $(($1 * $4)), $(($1 * $4)), $2]}}
  ops:
  - "O[n,p,q,k] += I[n,p*$4+r-$(($3 / 2)),q*$4+s-$(($3 / 2)),c] * W[k,r,s,c]"
  - "B[n,p,q,k] = O[n,p,q,k] * S[k] + T[k]"
  - "Y[n,p,q,k] = relu(B[n,p,q,k])"
Y
}
conv 56 64 3 1
conv 28 128 3 2
conv 14 256 3 1
conv 7 512 3 1
conv 28 256 1 2
plan decode 'for (int64_t slot_' <workloads/models/attention-decode.yaml
[ $failed = 0 ]
