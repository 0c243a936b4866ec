#!/bin/sh
# Kernels of warpgroups (sm_90a), compiled as C++ and run by `make emulate` in their folders, against the workload in double; those that
# must be of warpgroups are, others say why not; and what boxes cannot take is refused by the kernel's error code.
# usage: groups.sh TILEFLOW.  Exit 77: no C++ compiler.
set -e
. "$(dirname "$0")/plant.sh"

# NAME, TYPE, why it is not of warpgroups ('': it is); the workload and its mapping on stdin.
check() {
  cat >"$work/$1.yaml"
  prepare "$1" --dtype "$2" --isa sm_90a
  TILEFLOW_SEED=2 "$work/$1/emulate" >"$work/said" 2>&1 || { echo "FAIL: $1"; cat "$work/said"; exit 1; } # after `make`'s own
  why=$(sed -n 's/.*No warpgroups: \(.*\)\. \*\/$/\1/p' "$work/$1/kernel.cu")
  [ "$why" = "$3" ] || { echo "FAIL: $1: of warpgroups, or why not: '$why', not '$3'"; exit 1; }
  echo "$1: $(sed -n '/error/p' "$work/said" | tr '\n' ' ') $why"
}

# A product of operands as they stand: NAME TYPE A B [DIMS [BLOCKS TILE [WHY]]]
product() {
  check "$1" "$2" "${8:-}" <<Y
workload:
  name: $1
  dims: {${5:-m: 200, n: 136, k: 136}}
  ops:
  - "C[m,n] += $3 * $4"
mapping: |
  HBM for ${6:-m=2}
    SMEM for ${7:-m=100 n=136 k=136}
      op C
Y
}
product nn bf16 'A[m,k]' 'B[k,n]'
product nt f16 'A[m,k]' 'B[n,k]'
product tn bf16 'A[k,m]' 'B[k,n]' 'm: 200, n: 136, k: 136' 'm=2' 'm=104 n=136 k=136'
product tt f16 'A[k,m]' 'B[n,k]' 'm: 200, n: 136, k: 136' 'm=2' 'm=104 n=136 k=136'
product aside bf16 'A[k,m]' 'B[k,n]' 'm: 200, n: 136, k: 136' 'm=2' 'm=100 n=136 k=136' 'boxes that do not begin on 16 bytes'
product wide bf16 'A[m,k]' 'B[k,n]' 'm: 300, n: 512, k: 72' 'm=3 n=2' 'm=128 n=256 k=72'
product odd bf16 'A[m,k]' 'B[k,n]' 'm: 100, n: 129, k: 72' 'm=1' 'm=100 n=129 k=72' 'an operand whose rows do not begin on 16 bytes, or of more than five ranks'
product few bf16 'A[m,k]' 'B[k,n]' 'm: 32, n: 128, k: 72' 'm=1' 'm=32 n=128 k=72' 'blocks that have not 33 to 192 rows'
# Blocks in turn: five and six for two multiprocessors, in all four orders of operands; few rows; a step of several products is no turn.
product turns-nn bf16 'A[m,k]' 'B[k,n]' 'm: 296, n: 192, k: 328' 'm=5' 'm=64 n=192 k=328'
product turns-nt f16 'A[m,k]' 'B[n,k]' 'm: 192, n: 512, k: 72' 'm=3 n=2' 'm=64 n=256 k=72'
product turns-tn bf16 'A[k,m]' 'B[k,n]' 'm: 200, n: 96, k: 136' 'm=5' 'm=40 n=96 k=136'
product turns-tt f16 'A[k,m]' 'B[n,k]' 'm: 40, n: 24, k: 520' 'm=1' 'm=40 n=24 k=520'
product turns-float8 f8 'A[m,k]' 'B[n,k]' 'm: 64, n: 32, k: 64' 'm=1' 'm=64 n=32 k=64' 'blocks of float8 that have not 65 to 128 rows'
attention "h: 2, m: 64, l: 128, a: 64, n: 64" "for h=2 l=2" "stream X Z O" 64 64 64 64 | check turns-attention bf16 'steps of several products in blocks that have not 65 to 128 rows'
for turns in nn nt tn tt; do
  grep -q blocks_begun "$work/turns-$turns/kernel.cu" || { echo "FAIL: turns-$turns: no turns"; exit 1; }
done
# The pipe that the cost has of it: as many steps and tiles as are seen.  nn: five blocks.
pipe() { sed -n "s/.*\"steps\": \([0-9]*\), \"ring\": \([0-9]*\),.*\"in_turns\": $3.*/\1 \2/p" "$work/$1/manifest.json" | awk -v blocks="$2" '{ n = $1 * int((blocks + 1) / 2); print $1 * blocks, $2 < n ? $2 : n }'; }
seen() { TILEFLOW_WORDS=1 "$work/$1/emulate" | sed -n 's/^rings: \([0-9]*\) tiles came, at most \([0-9]*\) at a time/\1 \2/p'; }
for each in 'turns-nn 5 true' 'turns-nt 6 true' 'nn 2 false' 'wide 6 false'; do
  # shellcheck disable=SC2086 # three words
  set -- $each
  [ "$(pipe "$1" "$2" "$3")" = "$(seen "$1")" ] || { echo "FAIL: $1: '$(seen "$1")' tiles, and at a time, not '$(pipe "$1" "$2" "$3")'"; exit 1; }
done
product cut bf16 'A[m,k]' 'B[k,n]' 'm: 72, n: 128, k: 96' 'k=2' 'm=72 n=128 k=48'
# Of bytes: parts of the sum of 128 and the rest of one; blocks that add to sums of blocks before; what instructions do not take.
product float8 f8 'A[m,k]' 'B[n,k]' 'm: 200, n: 128, k: 272' 'm=2' 'm=100 n=128 k=272'
product float8-cut f8 'A[m,k]' 'B[n,k]' 'm: 100, n: 48, k: 512' 'k=2' 'm=100 n=48 k=256'
product float8-turned f8 'A[m,k]' 'B[k,n]' 'm: 128, n: 64, k: 64' 'm=1' 'm=128 n=64 k=64' 'bytes whose neighbours do not run along the sum'
product float8-odd f8 'A[m,k]' 'B[n,k]' 'm: 128, n: 64, k: 72' 'm=1' 'm=128 n=64 k=72' 'an operand whose rows do not begin on 16 bytes, or of more than five ranks'
product float8-wide f8 'A[m,k]' 'B[n,k]' 'm: 100, n: 144, k: 64' 'm=1' 'm=100 n=144 k=64'
g++ -std=c++17 -w -DTILEFLOW_EMULATE -I"$work/float8" -o "$work/float8/twin" \
  -x c++ "$(dirname "$0")/float8.hpp" && "$work/float8/twin" || { echo "FAIL: float8 and its definition"; exit 1; }
check bias bf16 '' <<'Y'
workload:
  name: bias
  dims: {h: 2, m: 130, n: 64, k: 64}
  ops:
  - "C[h,m,n] += A[h,m,k] * B[n,k]"
  - "D[h,m,n] = max(C[h,m,n] + b[n], 0)"
mapping: |
  HBM for h=2 m=2
    Seq keep C@SMEM
      SMEM for m=65 n=64 k=64
        op C
      SMEM for m=65 n=64
        op D
Y

# Blocks in clusters of two, each of which brings half of B: three panels of 64 columns across the sum, and 160 rows along it.
machine=pairs
pair() {
  product "$1" bf16 'A[m,k]' "$2" "$3" "$4" "$5"
  grep -q 'START_CLUSTERS(part0' "$work/$1/kernel.cu" || { echo "FAIL: $1: no clusters"; exit 1; }
}
pair pair 'B[k,n]' 'm: 456, n: 192, k: 328' 'm=4' 'm=128 n=192 k=328'
pair pair-turned 'B[n,k]' 'm: 200, n: 320, k: 136' 'm=2 n=2' 'm=100 n=160 k=136'
# Of attention each brings half of the keys and values, and its own queries; with a causal mask blocks leave out other steps, and are alone.
in_pairs() {
  check "$1" bf16 ''
  [ "$(grep -c 'START_CLUSTERS(part0' "$work/$1/kernel.cu") $(grep -c '^ *load_box_for_all' "$work/$1/kernel.cu")" = "$2" ] ||
    { echo "FAIL: $1: not '$2' clusters, tiles for both"; exit 1; }
}
attention "h: 3, m: 256, l: 320, a: 72, n: 64" "for h=3 m=2 l=5" "stream X Z O" 128 64 72 64 | in_pairs pair-attention '1 3'
# README.md has it as the tree that runs: who brings which tiles, and what is done with them.
sed -n '/^      Pipe/,/^$/p' "$work/pair-attention/README.md" | sed 's/ takes [0-9.]* cycles.*//; s/, [0-9.]* cycles a step//' >"$work/tree"
cat >"$work/wanted" <<'Y'
      Pipe: a step
        bring: a warpgroup
          Q, 128 x 128
          for l=5
            K, 64 x 128, into a ring of 6, half of it for both of a cluster
            V, 64 x 64, into a ring of 6, half of it for both of a cluster
        take: two warpgroups
          for l=5
            S multiplied, X kept, X, Z corrected, O corrected, E, Z, P, O multiplied, O divided
          O stored

Y
diff "$work/wanted" "$work/tree" || { echo "FAIL: pair-attention: another tree"; exit 1; }
attention "h: 2, m: 256, l: 256, a: 64, n: 64" "for h=2 m=2 l=4" "T@SMEM stream X Z O" 128 64 64 64 | causal 128 64 | in_pairs pair-causal '0 0'
in_pairs pair-chain '1 3' <<'Y'
workload:
  name: chain
  dims: {m: 256, l: 256, k: 64, n: 96}
  ops:
  - "C[m,l] += A[m,k] * B[k,l]"
  - "R[m,l] = max(C[m,l], 0)"
  - "E[m,n] += R[m,l] * D[l,n]"
mapping: |
  HBM for m=2 l=4
    Seq keep C@SMEM R@SMEM
      SMEM for m=128 l=64 k=64
        op C
      SMEM for m=128 l=64
        op R
      SMEM for m=128 n=96 l=64
        op E
Y
# Three warpgroups have 129 to 192 rows: in clusters, the last block with fewer; with a mask.
attention "h: 2, m: 328, l: 192, a: 64, n: 64" "for h=2 m=2 l=3" "stream X Z O" 192 64 64 64 | in_pairs pair-three '1 2'
machine=gpu
attention "h: 1, m: 400, l: 320, a: 64, n: 64" "for h=1 m=3 l=5" "T@SMEM stream X Z O" 136 64 64 64 | causal 136 64 | check three-causal bf16 ''
attention "h: 1, m: 384, l: 256, a: 64, n: 128" "for h=1 m=2 l=2" "stream X Z O" 192 128 64 128 | check three-wide bf16 'more sums in blocks of more than 128 rows than registers hold'
for three in pair-three three-causal; do
  grep -q '__launch_bounds__(512, 1)' "$work/$three/kernel.cu" || { echo "FAIL: $three: not three warpgroups"; exit 1; }
done

# Two blocks for each sum, which goes in four steps of a ring; what puts the parts together is no product, and needs no reason.
check split bf16 '' <<'Y'
workload:
  name: split
  dims: {m: 128, n: 64, k: 512}
  ops:
  - "C[m,n] += A[m,k] * B[k,n]"
mapping: |
  HBM spatial k=2@x
    SMEM for m=128 n=64 k=256
      op C
Y
# A is longer than the first sum, which must not have what is behind its end.
check longer bf16 'a sum in steps that neither fill instructions nor end where the tensor does' <<'Y'
workload:
  name: longer
  dims: {m: 128, n: 64, k: 40, j: 64}
  ops:
  - "C[m,n] += A[m,k] * B[k,n]"
  - "D[m,n] += A[m,j] * B[j,n]"
mapping: |
  HBM for m=1
    Seq
      SMEM for m=128 n=64 k=40
        op C
      SMEM for m=128 n=64 j=64
        op D
Y

# What TMA does not take: an array off its 16 bytes, rows that are 2 bytes longer.
cat >"$work/ask.c" <<'C'
#include <stdio.h>
#include <stdlib.h>

#include "kernel.h"

int main(void) {
  kernel_args args = {0};
  kernel_dense(&args);
  args.A_stride[0] += 1;
  uint16_t *a = calloc(200 * 137, 2), *b = calloc(136 * 136, 2), *c = calloc(200 * 136, 2);
  args.A = a, args.B = b, args.C = c;
  const int odd = kernel(&args, NULL, 0);
  args.A_stride[0] -= 1;
  const int even = kernel(&args, NULL, 0);
  printf("%d %d\n", odd, even);
  free(a), free(b), free(c);
  return odd != kernel_bad_argument || even != kernel_done;
}
C
gcc -I"$work/nn" -c -o "$work/ask.o" "$work/ask.c" && g++ -o "$work/ask" "$work/ask.o" "$work/nn/emulate-kernel.o" -lm
"$work/ask" >"$work/said" 2>&1 || { echo "FAIL: strides that boxes cannot take"; cat "$work/said"; exit 1; }

# Tensor maps are kept for calls with the same arrays, and made anew for others; no workspace where none is needed; a code for each cause.
cat >"$work/nn/calls.cc" <<'C'
#include "kernel.cu"

static kernel_args there(const uint16_t *a, const uint16_t *b) {
  kernel_args args = {};
  void *p[3];
  kernel_dense(&args);
  for (int i = 0; i < 3; i++) cudaMalloc(&p[i], 200 * 136 * 2);
  memcpy(p[0], a, 200 * 136 * 2), memcpy(p[1], b, 136 * 136 * 2), memset(p[2], 0, 200 * 136 * 2);
  args.A = (uint16_t *)p[0], args.B = (uint16_t *)p[1], args.C = (uint16_t *)p[2];
  return args;
}

static int call(const kernel_args *args) { return kernel_device(args, NULL, 0, NULL); }

int main() {
  static uint16_t a[200 * 136], b[136 * 136], c[200 * 136], zero[200 * 136];
  for (int i = 0; i < 200 * 136; i++) a[i] = (uint16_t)(0x3f80 + i % 7 * 16), b[i % (136 * 136)] = (uint16_t)(0x3f80 + i % 5 * 16);
  kernel_args host = {}, one = there(a, b), two = there(a, b);
  kernel_dense(&host);
  host.A = a, host.B = b, host.C = c;
  if (kernel_device_workspace() != 0 || kernel(&host, NULL, 0) != kernel_done) return 1;
  while (place_of(&two, sizeof two) == place_of(&one, sizeof one)) two = there(a, b); /* else either would make room for the other */
  kernel_args three = there(a, b);
  while (place_of(&three, sizeof three) != place_of(&one, sizeof one)) three = there(a, b); /* these do */
  const int before = emulation::maps_made;
  const kernel_args *const calls[] = {&one, &one, &two, &one, &three, &three, &one, &two};
  const int made[] = {2, 2, 4, 4, 6, 6, 8, 8};
  for (int i = 0; i < 8; i++) {
    memset(calls[i]->C, 0, sizeof c);
    if (call(calls[i]) != kernel_done || memcmp(calls[i]->C, c, sizeof c) != 0) return printf("call %d is wrong\n", i), 1;
    if (emulation::maps_made - before != made[i]) return printf("call %d: %d maps\n", i, emulation::maps_made - before), 1;
  }
  static const struct {
    const char *error;
    int code;
  } causes[] = {{"1", kernel_bad_argument}, {"2", kernel_no_memory}, {"35", kernel_no_device}, {"98", kernel_no_isa}, {"100", kernel_no_device}, {"209", kernel_no_isa}, {"218", kernel_no_isa}, {"222", kernel_no_isa}, {"701", kernel_no_room}, {"719", kernel_failed}};
  for (const auto &each : causes) {
    setenv("TILEFLOW_AFTER", each.error, 1);
    const int code = call(&one);
    if (code != each.code) return printf("error %s: %d\n", each.error, code), 1;
  }
  unsetenv("TILEFLOW_AFTER");
  setenv("TILEFLOW_BEFORE", "719", 1);
  memset(one.C, 0, sizeof c);
  const int code = call(&one);
  return code != kernel_failed_before || memcmp(one.C, zero, sizeof c) != 0;
}
C
g++ -std=c++17 -w -DTILEFLOW_EMULATE -I"$work/nn" -o "$work/calls" "$work/nn/calls.cc" -lm && "$work/calls" >"$work/said" 2>&1 ||
  { echo "FAIL: repeated calls and codes"; cat "$work/said"; exit 1; }
