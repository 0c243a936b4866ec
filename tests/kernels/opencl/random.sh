#!/bin/sh
# Random kernels in OpenCL C against the workload in double, on the first device that there is: those that random.sh of CUDA draws.
# usage: random.sh TILEFLOW [CASES [FIRST SEED [TYPE...]]]: of these types of data.  With CUDA_TEST, which draws them, half are of whatever the
# oracle draws: small workloads, any tree.  Dot products of int8, half of the time, as they are where the device has an extension for them.  Exit 77: no OpenCL device.
tileflow=$1 cases=${2:-12} first=${3:-1}
[ $# -gt 3 ] && shift 3 || set -- f32 f32 bf16 f32 f16 int8
draw=$(dirname "$0")/../cuda
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export POCL_CACHE_DIR="$work/cache"
. "$draw/gpu.sh"
. "$draw/lot.sh"
gpu >"$work/gpu.yaml"
others=0
[ "${CUDA_TEST:-}" ] && others=$((cases / 2)) && mkdir "$work/drawn" && { "$CUDA_TEST" --yaml "$work/drawn" --cases $others --seed "$first" || exit 1; }

wrong=0 refused=0 seed=$first
while [ "$seed" -lt $((first + cases)) ]; do
  at=$work/$seed arch=$work/gpu.yaml
  pick "$seed" 1 "$@"
  dtype=$pick
  if [ $((seed - first)) -lt $others ]; then
    arch= # which has memories as few and as small as the oracle likes them
    oracle "$work/drawn/$((seed - first + 1)).yaml" >"$at.yaml"
  else
    awk -v seed="$seed" -f "$draw/draw.awk" >"$at.yaml"
  fi
  lot "$seed" 2 2
  # shellcheck disable=SC2086 # the file has an architecture of its own
  "$tileflow" emit --quiet $arch "$at.yaml" --target opencl --dtype "$dtype" -o "$at" 2>"$at.said" &&
    { [ "$dtype" != int8 ] || [ "$lot" = 0 ] || sed -i 's/defined(DOT_BY_HAND)/1/' "$at/kernel.c"; } &&
    make -s -C "$at" test CFLAGS="-O1 -Wall -Wextra -Werror" >"$at.said" 2>&1 || {
    if grep -q 'not run: no OpenCL device\|CL/cl.h: No such\|cannot find -lOpenCL' "$at.said"; then
      echo "SKIP: $(grep -m 1 'not run\|No such\|cannot find' "$at.said")"
      exit 77
    fi
    grep -q 'blocks of a grid keep nothing\|error\[E_FANOUT\]' "$at.said" && refused=$((refused + 1))
  } || {
    echo "FAIL: seed $seed $dtype"
    cat "$at.said" "$at.yaml"
    wrong=$((wrong + 1))
    [ "${KEEP:-}" ] && cp -r "$at" "$at.yaml" "$KEEP"
  }
  rm -rf "$at"
  seed=$((seed + 1))
done
echo "$cases random kernels, $wrong wrong, $refused that emit refuses"
[ "$wrong" = 0 ]
