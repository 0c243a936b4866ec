#!/bin/sh
# What nvcc makes of kernels of warpgroups: no spills, no more registers than a third of a multiprocessor's threads may have, and in the
# machine code as many products (HGMMA, of float8 QGMMA), boxes that come (UTMALDG) and leave (UTMASTG), and changes of registers (USETMAXREG) as kernel.cu predicts,
# and no barrier of the GPU's memory in loops.
# usage: groups_code.sh TILEFLOW.  Exit 77: no nvcc (tools.sh).
tileflow=$1 failed=0
. "$(dirname "$0")/tools.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What the file predicts of all its kernels, or what its code has, of one word.
predicted() { grep -o "[0-9]* $1" "$work/$2/kernel.cu" | awk '{ n += $1 } END { print n + 0 }'; }
counted() { "$cuobjdump" -sass "$work/$2/kernel.o" | grep -c "[^A-Z]$1"; }

# NAME ARCHITECTURE FILE...
look() {
  name=$1
  shift
  "$tileflow" emit --quiet "$@" --target cuda --dtype "${dtype:-bf16}" --isa sm_90a -o "$work/$name" || { failed=1; return; }
  make -s -C "$work/$name" NVCC="$nvcc" NVCCFLAGS='-O3 -Xptxas -v' kernel.o >"$work/said" 2>&1 || { cat "$work/said"; failed=1; return; }
  spilled=$(sed -n 's/.* \([0-9]*\) bytes spill stores.*/\1/p' "$work/said" | sort -n | tail -1)
  [ "$spilled" = 0 ] || { echo "FAIL: $name: $spilled bytes are spilled"; failed=1; }
  [ "$(predicted HGMMA "$name")$(predicted QGMMA "$name")" != 00 ] || { echo "FAIL: $name: not of warpgroups"; failed=1; }
  grep -q serialized "$work/said" && { echo "FAIL: $name: products wait for each other"; failed=1; }
  all=
  [ "$cuobjdump" ] && for word in HGMMA QGMMA UTMALDG UTMASTG USETMAXREG; do
    want=$(predicted $word "$name") got=$(counted $word "$name")
    [ "$want" = "$got" ] || { echo "FAIL: $name: $got $word, $want predicted"; failed=1; }
    all="$all $got $word"
  done
  # Barriers of the whole GPU's memory: where a cluster meets, at the start and at the end, and never in a loop.
  [ "$cuobjdump" ] && all="$all $(counted MEMBAR.ALL.GPU "$name") MEMBAR" && [ "$(counted MEMBAR.ALL.GPU "$name")" -gt 2 ] && { echo "FAIL: $name: barriers of the GPU's memory in loops"; failed=1; }
  echo "$name: $(sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' "$work/said" | sort -n | tail -1) registers, $spilled bytes spilled,$all"
}

# product MxNxK OPERAND OPERAND
product() {
  m=${1%%x*} k=${1##*x} n=${1#*x}
  n=${n%x*}
  cat >"$work/p.yaml" <<Y
workload:
  name: product
  dims: {m: $m, n: $n, k: $k}
  ops:
  - "C[m,n] += $2 * $3"
Y
  look "product-$1-$2-$3" arch-specs/h100.yaml "$work/p.yaml"
}
product 2048x2048x2048 'A[m,k]' 'B[k,n]'
product 2048x2048x2048 'A[m,k]' 'B[n,k]'
product 4096x4096x4096 'A[k,m]' 'B[n,k]'
product 8192x8192x8192 'A[m,k]' 'B[k,n]'
grep -q 'START_CLUSTERS(part0' "$work/product-8192x8192x8192-A[m,k]-B[k,n]/kernel.cu" || { echo "FAIL: 8192^3 without clusters"; failed=1; }
dtype=f8
product 4096x4096x2048 'A[m,k]' 'B[n,k]'
dtype=bf16
cat >"$work/gelu.yaml" <<'Y'
workload:
  name: gelu
  dims: {m: 8192, n: 4096, k: 4096}
  ops:
  - "C[m,n] += A[m,k] * B[k,n]"
  - "D[m,n] = gelu(C[m,n] + b[n])"
Y
look gelu arch-specs/h100.yaml "$work/gelu.yaml"
# Of 8 heads, blocks as high as warpgroups take are too few for all multiprocessors, and those of smaller instructions as fast.
look causal arch-specs/h100.yaml workloads/models/causal.yaml --set heads=32
for model in causal-grouped sliding-window attention-long; do
  look "$model" arch-specs/h100.yaml "workloads/models/$model.yaml"
done
# A convolution of 3 x 3, of boxes that leave blocks' last rows out.
cat >"$work/convolution.yaml" <<'Y'
workload:
  name: convolution
  dims: {n: 8, p: 56, q: 56, k: 64, c: 64, r: 3, s: 3}
  tensors: {I: {pad: [0, 1, 1, 0]}}
  ops:
  - "C[n,p,q,k] += I[n,p+r-1,q+s-1,c] * W[k,r,s,c]"
  - "O[n,p,q,k] = max(C[n,p,q,k] + b[k], 0)"
mapping: |
  HBM for n=8 p=8 q=4
    Seq keep C@SMEM
      SMEM for p=7 q=14 k=64 c=64 r=3 s=3
        op C
      SMEM for p=7 q=14 k=64
        op O
Y
look convolution arch-specs/h100.yaml "$work/convolution.yaml"
exit $failed
