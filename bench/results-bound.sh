#!/bin/sh
# The ski-slope of four workloads: writes docs/results/slope.csv and docs/img/bound/ski-slope.svg.
#   bench/results-bound.sh TILEFLOW
set -u
. "$(dirname "$0")/lib.sh"
begin "$(dirname "$0")/.." "${1:?usage: $0 TILEFLOW}"
mkdir -p docs/img/bound
for work in gemm gemm-chain/g1 attention/g1 conv-chain/c3; do
  "$tool" bound arch-specs/edge.yaml workloads/$work.yaml --csv "$scratch/one.csv" --quiet || exit 1
  [ -f "$scratch/all.csv" ] || head -n 1 "$scratch/one.csv" >"$scratch/all.csv"
  tail -n +2 "$scratch/one.csv" >>"$scratch/all.csv"
done
mv "$scratch/all.csv" docs/results/slope.csv
sh plots/figures.sh "$tool"
