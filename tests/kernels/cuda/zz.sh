#!/bin/sh
# Faults planted in the text of eight kernels of warpgroups (sm_90a): in bfloat16 four products, of which two have their blocks in turn, one in clusters, and streamed attention, one causal, one in clusters; a product in float8: the emulator, or the
# comparison behind it, finds each within 50 seeds.
# usage: groups_faults.sh TILEFLOW [STEP]     every STEP-th of them (1: all).  Exit 77: no C++ compiler.
step=${2:-1}
. "$(dirname "$0")/plant.sh"

# Six pieces of the sum in a ring of four, three blocks of rows for two multiprocessors, three panels of columns.
gemm "m: 296, n: 192, k: 328" "for m=3" "for m=128 n=192 k=328" >"$work/product.yaml"
attention "h: 3, m: 128, l: 192, a: 64, n: 64" "for h=3 l=3" "stream X Z O" 128 64 64 64 >"$work/attention.yaml"


attention "h: 2, m: 256, l: 256, a: 64, n: 64" "for h=2 m=2 l=4" "T@SMEM stream X Z O" 128 64 64 64 | causal 128 64 >"$work/causal.yaml"
gemm "m: 456, n: 192, k: 328" "for m=4" "for m=128 n=192 k=328" >"$work/pair.yaml"
machine=pairs prepare pair --dtype bf16 --isa sm_90a
attention "h: 3, m: 256, l: 320, a: 64, n: 64" "for h=3 m=2 l=5" "stream X Z O" 128 64 64 64 >"$work/together.yaml"
machine=pairs prepare together --dtype bf16 --isa sm_90a
prepare causal --dtype bf16 --isa sm_90a
gemm "m: 296, n: 192, k: 328" "for m=5" "for m=64 n=192 k=328" >"$work/turns.yaml"

cat >"$work/mapped.yaml" <<'Y'
workload:
  name: mapped
  dims: {m: 384, n: 128, k: 320}
  ops:
  - "C[m,n] += A[m,k] * B[k,n]"
  - "D[m,n] = max(C[m,n] + V[m], 0)"
mapping: |
  HBM for m=6
    Seq keep C@SMEM
      SMEM for m=64 n=128 k=320
        op C
      SMEM for m=64 n=128
        op D
Y
machine=pairs prepare mapped --dtype bf16 --isa sm_90a
# Its quotient makes all numbers positive: a long sum that is not in parts then loses what it adds.
cat >"$work/float8.yaml" <<'Y'
workload:
  name: float8
  dims: {m: 512, n: 32, k: 2048}
  ops:
  - "C[m,n] += A[m,k] * B[n,k]"
  - "D[m,n] = C[m,n] / 64"
mapping: |
  HBM for m=4
    Seq keep C@SMEM
      SMEM for m=128 n=32 k=2048
        op C
      SMEM for m=128 n=32
        op D
Y


main='/static __global__/,/^}/' asks='/asks for tiles/,/multiply them/' uses='/multiply them/,/^}/'
fault causal 'tiles of a step that nobody takes' "$asks s/ < 128) break/ < 192) break/"
finish
