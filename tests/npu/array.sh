#!/bin/sh
# The NPU's cube as an array in Verilog, run by Verilator beside the simulator: random products take the same cycles and give the same sums.
#   tests/npu/array.sh TILEFLOW [CASES [M N K]]     the array has M x N units for K pairs (4 x 8 x 4: Verilator has little to compile)
# Exit status 77: no Verilator.
set -u
tool=${1:?usage: $0 TILEFLOW [CASES [M N K]]} cases=${2:-30} m=${3:-4} n=${4:-8} k=${5:-4}
here=$(cd "$(dirname "$0")/array" && pwd)
command -v verilator >/dev/null || { echo "SKIP: no verilator" && exit 77; }
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
verilator --cc --exe --build -Wno-WIDTH -GM="$m" -GN="$n" -GK="$k" -CFLAGS "-DM=$m -DN=$n -DK=$k -O1" --unroll-count 1024 --unroll-stmts 100000 \
  --top-module array "$here/array.v" "$here/main.cpp" -Mdir "$scratch/built" >"$scratch/log" 2>&1 || { tail -20 "$scratch/log" && exit 1; }
"$scratch/built/Varray" "$tool" "$scratch" "$cases"
