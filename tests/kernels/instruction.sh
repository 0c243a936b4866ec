#!/bin/sh
# Instructions that stand in a file alone, which no source of tileflow names, are what emitted kernels call: u8 by s8 on
# Arm (under qemu), s16 by s16 on AVX-512 where the computer has VNNI.  Beside them Arm's dot and I8MM, which come with
# the sources in the same way, and SME's outer products, whose vectors another file makes longer or shorter: with others
# than a kernel was made for it does not run.  Each kernel is compiled, run, and held against its reference.
#   tests/kernels/instruction.sh TILEFLOW
set -u
tileflow=$1
dir=$(mktemp -d) || exit 2
trap 'rm -r "$dir"' EXIT
bad=0
ran=0

cat >"$dir/usdot.yaml" <<'END'
instructions:
- name: usdot
  compute: Acc[j] += Left[k] * Right[j, k]
  sizes: {j: 4, k: 4}
  operands: {Left: {type: u8}, Right: {type: s8}, Acc: {type: s32}}
  emit:
    isa: neon
    call: vusdotq_s32(Acc, vreinterpretq_u8_s32(Left), vreinterpretq_s8_s32(Right))
    flags: -march=armv8.2-a+i8mm
    defines: __ARM_FEATURE_MATMUL_INT8
END
# The page's, as it stands there.
awk '/^```/ { n += /yaml/; inside = n == 3 && /yaml/; next } inside' docs/HOWTO-instruction.md >"$dir/words.yaml"
cat >"$dir/conv.yaml" <<'END'
workload:
  dims: {n: 1, k: 21, p: 7, q: 9, c: 11, r: 3, s: 3}
  ops:
  - O[n,k,p,q] += I[n,c,p+r,q+s] * W[k,c,r,s]
END
cat >"$dir/chain.yaml" <<'END'
workload:
  dims: {m: 37, n: 29, k: 43, l: 19}
  ops:
  - C[m,n] += A[m,k] * B[k,n]
  - E[m,l] += C[m,n] * D[n,l]
END

# try ISA CALL CC RUNNER FILE...: the kernels of both workloads, of $type
type=int8
try() {
  isa=$1 call=$2 cc=$3 runner=$4
  shift 4
  for workload in conv chain; do
    out=$dir/$isa-$call-$workload
    rm -rf "$out"
    "$tileflow" emit arch-specs/edge.yaml "$dir/$workload.yaml" "$@" --isa "$isa" --dtype $type --evals 200 --no-test \
      --quiet --out "$out" >"$dir/said" 2>&1 || { cat "$dir/said"; bad=1; continue; }
    grep -q "$call" "$out/parts.h" "$out/kernel.c" || { echo "$isa, $workload: no $call in the kernel"; bad=1; }
    make -C "$out" test CC="$cc" >"$dir/said" 2>&1
    if [ ! -x "$out/test" ]; then cat "$dir/said"; bad=1; continue; fi
    $runner "$out/test" >"$dir/said" 2>&1 || { echo "$isa, $call, $workload:"; cat "$dir/said"; bad=1; }
    ran=$((ran + 1))
  done
}

if command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null; then
  try neon vusdotq_s32 "aarch64-linux-gnu-gcc -static" qemu-aarch64 "$dir/usdot.yaml"
  try neon_dot vdotq_s32 "aarch64-linux-gnu-gcc -static" qemu-aarch64
  try neon_i8mm vmmlaq_s32 "aarch64-linux-gnu-gcc -static" qemu-aarch64
  try sme smopa "aarch64-linux-gnu-gcc -static -include $PWD/tests/kernels/sme_emulation.h" "qemu-aarch64 -cpu max,sme512=on"
  type=bf16
  try sme bfmopa "aarch64-linux-gnu-gcc -static" "qemu-aarch64 -cpu max,sme512=on"
  type=f32
  try sme fmopa "aarch64-linux-gnu-gcc -static" "qemu-aarch64 -cpu max,sme512=on"
  qemu-aarch64 -cpu max,sme256=on "$dir/sme-fmopa-chain/test" >"$dir/said"
  [ $? = 2 ] || { echo "vectors of 256 bits, where the kernel has 512:"; cat "$dir/said"; bad=1; }
  for bits in 128 256; do
    sed "s/^params: {svl: 512}/params: {svl: $bits}/" arch-specs/instructions/arm.yaml >"$dir/arm.yaml"
    try sme fmopa "aarch64-linux-gnu-gcc -static" "qemu-aarch64 -cpu max,sme$bits=on" "$dir/arm.yaml"
  done
  type=int8
fi
if grep -qw avx512_vnni /proc/cpuinfo 2>/dev/null; then
  try avx512 _mm512_dpwssd_epi32 cc env "$dir/words.yaml"
fi
[ $bad -eq 0 ] || exit 1
[ $ran -gt 0 ] || { echo "SKIP: neither qemu-aarch64 nor AVX-512 VNNI"; exit 77; }
echo "$ran kernels"
