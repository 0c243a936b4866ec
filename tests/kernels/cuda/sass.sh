#!/bin/sh
# What stands in machine code of the products of tensor cores, of ldmatrix and cp.async is what the target counts (pass/cuda_count.c), nothing
# spills, and its bench is compiled: products of all types, streamed attention, of one query in parts, on sm_80.
# Chains of the thesis whose intermediate has 208 or 256 columns spill nothing, nor does float8 by mma.sync on sm_90a.
# usage: sass.sh TILEFLOW.  Exit 77: no nvcc (tools.sh).
tileflow=$1 failed=0
. "$(dirname "$0")/tools.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/workloads.sh"

# NAME TYPE, a workload with its mapping, or without, on stdin
check() {
  at=$work/$1-$2
  cat >"$at.yaml"
  # shellcheck disable=SC2086 # an option and its word, or nothing
  "$tileflow" emit --quiet "${arch:-arch-specs/h100.yaml}" "$at.yaml" --target cuda --dtype "$2" ${isa:-} -o "$at" || { failed=1; return; }
  "$nvcc" -std=c++17 -O3 -arch="${code:-sm_80}" -Xptxas -v -c -o "$at/kernel.o" "$at/kernel.cu" 2>"$at/said" || { cat "$at/said"; failed=1; return; }
  want=$(sed -n 's/.*machine code \([0-9]*\) MMA, \([0-9]*\) LDSM, \([0-9]*\) LDGSTS.*/\1 \2 \3/p' "$at/kernel.cu" |
    awk '{ a += $1; b += $2; c += $3 } END { print a, b, c }')
  got=$want
  [ "$cuobjdump" ] && got=$("$cuobjdump" -sass "$at/kernel.o" | awk '/[HI]MMA/ { a++ } /LDSM/ { b++ } /LDGSTS/ { c++ } END { print a + 0, b + 0, c + 0 }')
  spilled=$(sed -n 's/.* \([0-9]*\) bytes spill stores.*/\1/p' "$at/said" | sort -n | tail -1)
  used=$(sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' "$at/said" | sort -n | tail -1)
  some=$(sed -n 's/.*Some \([0-9]*\) registers.*/\1/p' "$at/kernel.cu" | sort -n | tail -1)
  echo "$1 $2: mma, ldsm, ldgsts $got; $want expected; $used registers, $some expected; $spilled bytes spilled"
  [ "$got" = "$want" ] && [ "$spilled" = 0 ] || failed=1
}

# bench.cu, whose arrays are of the type, is compiled and linked as its Makefile does.
for type in bf16 f16 tf32 int8; do
  gemm "m: 1024, n: 1024, k: 1024" "for m=8 n=8 k=16" "for m=128 n=128 k=64" >"$work/gemm.yaml"
  check gemm $type <"$work/gemm.yaml"
  make -s -C "$work/gemm-$type" NVCC="$nvcc" ARCH=sm_80 bench >"$work/said" 2>&1 || { cat "$work/said"; failed=1; }
done
check attention-long bf16 <workloads/models/attention-long.yaml
check attention-decode bf16 <workloads/models/attention-decode.yaml
for n in 5 7 10; do
  check chain-g$n bf16 <workloads/gemm-chain/g$n.yaml
done
check chain-g10 tf32 <workloads/gemm-chain/g10.yaml
# A convolution of 3 x 3, whose weights come whole or, behind the last step, not at all; and a transposed one's phases.
check convolution bf16 <<'Y'
workload:
  name: convolution
  dims: {n: 32, p: 28, q: 28, k: 128, c: 128, r: 3, s: 3}
  tensors: {I: {pad: [0, 1, 1, 0]}}
  ops:
  - "O[n,p,q,k] += I[n,p+r-1,q+s-1,c] * W[k,r,s,c]"
Y
check phases bf16 <<'Y'
workload:
  name: phases
  dims: {c: 64, i: 28, f: 2, j: 28, g: 2, k: 64, t: 2, u: 2}
  tensors: {I: {pad: [0, 1, 1]}, W: {pad: [0, 0, 1, 1], shape: [64, 64, 3, 3]}}
  ops:
  - "P[f,g,c,i,j] += I[k,i-t,j-u] * W[k,c,2*t+f,2*u+g]"
  - "O[c,i,f,j,g] = P[f,g,c,i,j]"
Y
case $(cat "$work/phases-bf16/kernel.cu") in *'machine code 0 MMA'*) echo "FAIL: phases: no tensor cores"; failed=1 ;; esac
# First and last layers of table 4.2, of three channels: two whose phases are a product together, and one that spilled.
for case in c2d-1 t2d-1 t3d-1; do
  kind=$(sed -n "s/^\([^,]*\),$case,.*/\1/p" workloads/operators/cases.csv)
  set=$(sed -n "s/^[^,]*,$case,//p" workloads/operators/cases.csv | sed 's/[^ ]*=/--set &/g')
  arch=arch-specs/a100.yaml isa=$set check $case bf16 <"workloads/operators/$kind.yaml"
  grep -q 'machine code [1-9]' "$work/$case-bf16/kernel.cu" || { echo "FAIL: $case: no tensor cores"; failed=1; }
done
# float8 by mma.sync on Hopper, where each product of bytes is two of halves: as the f8 cases of smoke in bench/cuda/cases.sh
. "$(dirname "$0")/gpu.sh"
gpu | sed 's/mesh: \[8, 8\]/&, network: {multicast: true, reduce: false}/' >"$work/pairs.yaml"
awk -v seed=11 -v kind=product -v groups=1 -v bytes=1 -f "$(dirname "$0")/draw.awk" >"$work/smoke.yaml"
arch=$work/pairs.yaml isa='--isa sm_90a' code=sm_90a check smoke-11 f8 <"$work/smoke.yaml"
[ $failed = 0 ]
