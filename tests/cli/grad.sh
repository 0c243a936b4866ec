#!/bin/sh
# Gradients end in code: written, read back and checked, searched for with a small budget, emitted for the CPU, and the
# kernel's own test run against the workload in double.
#   grad.sh TOOL CC, in the root of the sources
set -u
. "$(dirname "$0")/../lib.sh"
cc=$2
arch=$(realpath arch-specs/edge.yaml) || exit 2
cd "$dir" || exit 2

# through NAME [ISA]: the workload on stdin
through() {
  cat >"$1.yaml"
  "$tool" grad "$1.yaml" -o "$1-back.yaml" && "$tool" check "$arch" "$1-back.yaml" &&
    "$tool" search "$arch" "$1-back.yaml" --evals 200 --threads 1 --quiet --mapping "$1-map.yaml" &&
    "$tool" emit "$arch" "$1-back.yaml" "$1-map.yaml" --isa "${2:-portable}" --quiet --no-test -o "$1" && make -s -C "$1" CC="$cc" test &&
    return
  echo "$1: failed"
  failed=$((failed + 1))
}

through attention <<'WORKLOAD'
workload:
  dims: {h: 2, m: 16, l: 16, a: 8, n: 8}
  ops:
  - S[h,m,l] += Q[h,m,a] * K[h,l,a]
  - X[h,m] max= S[h,m,l]
  - D[h,m,l] = S[h,m,l] - X[h,m]
  - E[h,m,l] = exp(D[h,m,l])
  - Z[h,m] += E[h,m,l]
  - P[h,m,l] = E[h,m,l] / Z[h,m]
  - O[h,m,n] += P[h,m,l] * V[h,l,n]
WORKLOAD
through strided <<'WORKLOAD'
workload:
  dims: {c: 4, k: 16, p: 6, q: 6, r: 3, s: 3, x: 13, y: 14}
  tensors: {A: {pad: [0, 0, 1]}}
  ops:
  - {name: act, expr: "A[c,x,y] = relu(X[c,x,y])"}
  - Y[k,p,q] += A[c,2*p + r,2*q + 2*s - 1] * W[k,c,r,s]
WORKLOAD
# which element is the extreme: that a value is computed twice, with and without fused multiply-adds, decides nothing
through extremes multi <<'WORKLOAD'
workload:
  dims: {m: 7, l: 19}
  ops:
  - X[m] max= S[m,l] * 0.3
  - Y[m] min= sigmoid(S[m,l] - C[l])
  - Z[m] += relu(X[m] - Y[m]) * D[m,l]
WORKLOAD
exit $failed
