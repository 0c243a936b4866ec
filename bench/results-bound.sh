#!/bin/sh
# The ski-slope of four workloads: writes docs/results/slope.csv and docs/img/bound/ski-slope.{svg,png}.
#   bench/results-bound.sh TILEFLOW
set -u
[ $# -eq 1 ] || { echo "usage: $0 TILEFLOW" >&2; exit 2; }
tool=$(realpath "$1") || exit 2
cd "$(dirname "$0")/.." || exit 2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
mkdir -p docs/img/bound
for work in gemm gemm-chain/g1 attention/g1 conv-chain/c3; do
  "$tool" bound arch-specs/edge.yaml workloads/$work.yaml --csv "$scratch/one.csv" --quiet || exit 1
  [ -f "$scratch/all.csv" ] || head -n 1 "$scratch/one.csv" >"$scratch/all.csv"
  tail -n +2 "$scratch/one.csv" >>"$scratch/all.csv"
done
mv "$scratch/all.csv" docs/results/slope.csv
gnuplot plots/ski-slope.gp
