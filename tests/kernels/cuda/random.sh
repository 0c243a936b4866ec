#!/bin/sh
# Random kernels (draw.awk), compiled as C++ and run in the emulator, against the workload in double.
# usage: random.sh TILEFLOW [CASES [FIRST SEED [TYPE...]]]: types of data in turn, all if none is given.  Exit 77: no C++ compiler.
tileflow=$1 cases=${2:-8} first=${3:-1}
[ $# -gt 3 ] && shift 3 || set -- bf16 f16 int8 tf32 f32
here=$(dirname "$0")
command -v g++ >/dev/null || { echo "SKIP: no g++"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/gpu.yaml" <<'A'
architecture:
  name: gpu
  clock: 1 GHz
  memories:
  - {name: HBM, bandwidth: 64}
  - {name: SMEM, capacity: 4 MiB, bandwidth: 64, mesh: [8, 8]}
  compute:
  - {name: u, ops: [mac, add, sub, mul, div, max, exp, relu, gelu, select, sqrt], below: SMEM, mesh: [16, 16]}
A
wrong=0 seed=$first
while [ "$seed" -lt $((first + cases)) ]; do
  at=$work/$seed dtype=$1
  awk -v seed="$seed" -f "$here/draw.awk" >"$at.yaml"
  "$tileflow" emit --quiet "$work/gpu.yaml" "$at.yaml" --target cuda --dtype "$dtype" -o "$at" 2>"$at.said" &&
    TILEFLOW_SEED=$seed make -s -C "$at" emulate CXX=g++ CXXFLAGS="-O0 -Wall -Wextra -Wno-unused-function -Werror" >"$at.said" 2>&1 || {
    echo "FAIL: seed $seed $dtype"
    cat "$at.said" "$at.yaml"
    wrong=$((wrong + 1))
  }
  rm -rf "$at"
  seed=$((seed + 1))
  shift
  set -- "$@" "$dtype"
done
echo "$cases random kernels, $wrong wrong"
[ "$wrong" = 0 ]
