#!/bin/sh
# The lint of fences (lint.awk) over the text of kernels for sm_90a: none of those that are emitted lacks one, random ones neither, and of faults
# planted in their text each is told, without compiling or running anything.
# usage: lint.sh TILEFLOW [CASES [FIRST SEED]]
tileflow=$1 cases=${2:-12} first=${3:-1} failed=0 planted=0 lost=0 boxed=0
here=$(dirname "$0")
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
. "$here/workloads.sh"
. "$here/gpu.sh"
gpu >"$work/gpu.yaml"
lint() { awk -f "$here/lint.awk" "$1"; }

# NAME, with the workload on stdin: its text has boxes that leave.
emit() {
  cat >"$work/$1.yaml"
  "$tileflow" emit --quiet "$work/gpu.yaml" "$work/$1.yaml" --target cuda --isa sm_90a --dtype bf16 -o "$work/$1" || { failed=1; return; }
  grep -q '^ *store_box' "$work/$1/kernel.cu" || { echo "FAIL: $1: no boxes leave"; failed=1; }
  lint "$work/$1/kernel.cu" || { echo "FAIL: $1"; failed=1; }
}
gemm "m: 296, n: 192, k: 328" "for m=3" "for m=128 n=192 k=328" | emit product
gemm "m: 192, n: 128, k: 192" "for m=3" "for m=64 n=128 k=192" | emit turns
attention "h: 2, m: 128, l: 192, a: 64, n: 64" "for h=2 l=3" "stream X Z O" 128 64 64 64 | emit attention

# NAME, what is wrong, and the edit that makes it so.
fault() {
  planted=$((planted + 1))
  sed "$3" "$work/$1/kernel.cu" >"$work/fault.cu"
  cmp -s "$work/$1/kernel.cu" "$work/fault.cu" && { echo "FAIL: $1: $2: the text has no such place"; lost=$((lost + 1)); return; }
  said=$(lint "$work/fault.cu") && { echo "FAIL: $1: $2: not told"; lost=$((lost + 1)); return; }
  echo "$1: $2: $(echo "$said" | head -1)"
}
for name in product turns attention; do
  fault $name 'no fence' '/__global__/,/^}/s/proxy_fence();//'
  fault $name 'a fence by some threads alone' '/__global__/,/^}/s/proxy_fence();/if (LANE == 0) proxy_fence();/'
  fault $name 'a fence before the write' '/__global__/,/^}/{s/proxy_fence();//; s/^\( *\)\(unsigned char \*const panel\)/\1proxy_fence();\n\1\2/;}'
  fault $name 'a fence behind the barrier' '/__global__/,/^}/{/proxy_fence/{N; s/\( *proxy_fence();\)\n\(.*\)/\2\n\1/;};}'
  fault $name 'no barrier behind the fence' '/__global__/,/^}/{/proxy_fence/{n;d;};}'
  fault $name 'a barrier by one warpgroup alone' '/__global__/,/^}/{/proxy_fence/{n;s/group_meet/if (threadIdx.y < 4) group_meet/;};}'
  fault $name 'a write behind the fence' '/__global__/,/^}/s/^\( *\)proxy_fence();/&\n\1put_staged(panel, 0, 0, NULL);/'
  fault $name 'a write behind the barrier' '/__global__/,/^}/{/proxy_fence/{n; s/$/ \n put_staged(panel, 0, 0, NULL);/;};}'
done

. "$here/lot.sh"
seed=$first
while [ "$seed" -lt $((first + cases)) ]; do
  bytes=
  pick "$seed" 1 bf16 f16 f8
  [ "$pick" = f8 ] && bytes=1
  awk -v seed="$seed" -v groups=1 -v bytes=$bytes -f "$here/draw.awk" >"$work/r.yaml"
  "$tileflow" emit --quiet "$work/gpu.yaml" "$work/r.yaml" --target cuda --isa sm_90a --dtype "$pick" -o "$work/r$seed" || failed=1
  lint "$work/r$seed/kernel.cu" || { echo "FAIL: seed $seed"; failed=1; }
  grep -q '^ *store_box' "$work/r$seed/kernel.cu" && boxed=$((boxed + 1))
  seed=$((seed + 1))
done
echo "$planted faults planted, $lost not told; $cases random kernels, $boxed of them with boxes that leave"
[ $failed = 0 ] && [ $lost = 0 ]
