#!/bin/sh
# CUDA kernels, compiled as C++ and run by `make emulate` in their folders, against the workload in double.  Exit 77: no C++ compiler.
# usage: run.sh TILEFLOW
set -e
tileflow=$1
command -v g++ >/dev/null || { echo "SKIP: no g++"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

arch() {
  cat <<'A'
architecture:
  name: gpu
  clock: 1 GHz
  memories:
  - {name: HBM, bandwidth: 64}
  - {name: SMEM, capacity: 4 MiB, bandwidth: 64, mesh: [8, 8]}
  compute:
  - {name: u, ops: [mac, add, sub, mul, div, max, exp, relu], below: SMEM, mesh: [16, 16]}
A
}

# NAME, then the workload and its mapping on stdin: emitted, compiled, run.
check() {
  { arch; cat; } >"$work/$1.yaml"
  "$tileflow" emit --quiet "$work/$1.yaml" --target cuda -o "$work/$1"
  make -s -C "$work/$1" emulate CXX=g++ CXXFLAGS="-O1 -Wall -Wextra -Wno-unused-function -Werror" >"$work/said" 2>&1 ||
    { echo "FAIL: $1"; cat "$work/said"; exit 1; }
  echo "$1: $(tr '\n' ' ' <"$work/said")"
}

check gemm <<'Y'
workload:
  name: gemm
  dims: {m: 70, n: 90, k: 75}
  ops:
  - "C[m,n] += A[m,k] * B[k,n]"
mapping: |
  HBM for m=2 n=2
    SMEM for m=35 n=45 k=75
      op C
Y

check chain <<'Y'
workload:
  name: chain
  dims: {b: 2, m: 67, l: 40, k: 33, n: 50}
  ops:
  - "C[b,m,l] += A[b,m,k] * B[b,k,l]"
  - "R[b,m,l] = relu(C[b,m,l])"
  - "E[b,m,n] += R[b,m,l] * D[b,l,n]"
mapping: |
  HBM for b=2 m=3
    Seq keep C@SMEM R@SMEM
      SMEM for m=23 l=40 k=33
        op C
      SMEM for m=23 l=40
        op R
      SMEM for m=23 n=50 l=40
        op E
Y

attention='workload:
  name: attention
  dims: {h: 2, m: 40, l: 36, a: 19, n: 21}
  ops:
  - "S[h,m,l] += Q[h,m,a] * K[h,l,a]"
  - "X[h,m] max= S[h,m,l]"
  - "E[h,m,l] = exp(S[h,m,l] - X[h,m])"
  - "Z[h,m] += E[h,m,l]"
  - "P[h,m,l] = E[h,m,l] / Z[h,m]"
  - "O[h,m,n] += P[h,m,l] * V[h,l,n]"
mapping: |'
ops() {
  for op in "S l=$1 a=19" "X l=$1" "E l=$1" "Z l=$1" "P l=$1" "O n=21 l=$1"; do
    echo "      SMEM for m=20 ${op#* }"
    echo "        op ${op%% *}"
  done
}
{ echo "$attention"; echo "  HBM for h=2 m=2"; echo "    Seq keep S@SMEM X@SMEM E@SMEM Z@SMEM P@SMEM"; ops 36; } | check attention
{ echo "$attention"; echo "  HBM for h=2 m=2 l=3"; echo "    Seq keep S@SMEM X@SMEM E@SMEM Z@SMEM P@SMEM stream X Z O"; ops 12; } | check streamed

check conv <<'Y'
workload:
  name: conv
  dims: {k: 18, c: 10, h: 14, w: 15, r: 3, s: 3}
  tensors:
    I: {pad: [0, 1, 1]}
  ops:
  - "O[k,h,w] += I[c,h+r-1,w+s-1] * W[k,c,r,s]"
mapping: |
  HBM for k=2 h=2
    SMEM for k=9 h=7 w=15 c=10 r=3 s=3
      op O
Y
