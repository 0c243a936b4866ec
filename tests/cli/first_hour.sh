#!/bin/sh
# An architect's first hour: three chips by five workloads of one's own, each with params, are checked, searched, evaluated, bounded,
# compared and drawn without one refusal, and every figure keeps to its bound.
#   first_hour.sh TOOL, in the root of the sources
set -u
. "$(dirname "$0")/../lib.sh"
cd "$dir" || exit 2

# chip NAME SIDE KIB GB/s OVERLAP
chip() {
  cat >"$1.yaml" <<YAML
params: {side: $2, kib: $3, dram: $4}
architecture:
  name: $1
  clock: 1 GHz
  word-bits: 16
  overlap: $5
  memories:
  - {name: DRAM, bandwidth: dram GB/s}
  - {name: Buffer, capacity: kib KiB, bandwidth: {read: 4 * side, write: 2 * side}}
  - {name: RF, mesh: [side, side], capacity: 16, bandwidth: 4}
  compute:
  - {name: array, ops: [mac], below: RF}
  - {name: vector, ops: [add, sub, mul, div, max, exp], below: Buffer, mesh: [side, 1]}
YAML
}
chip small 8 64 16 double-buffer
chip wide 16 128 32 perfect
chip plain 12 96 24 none

# work NAME PARAMS DIMS TENSORS OP...
work() {
  name=$1
  printf 'params: {%s}\nworkload:\n  name: %s\n  dims: {%s}\n%s  ops:\n' "$2" "$1" "$3" "${4:+  tensors: $4
}" >"$name.yaml"
  shift 4
  for op in "$@"; do printf '  - "%s"\n' "$op"; done >>"$name.yaml"
}
work projections 'rows: 32, side: 64' 'm: rows, n: side, d: side' '' \
  'Q[m,n] += X[m,d] * WQ[d,n]' 'K[m,n] += X[m,d] * WK[d,n]' 'V[m,n] += X[m,d] * WV[d,n]'
work attention 'seq: 48, width: 16' 'm: seq, l: seq, a: width, n: width' '' 'S[m,l] += Q[m,a] * K[l,a]' 'X[m] max= S[m,l]' \
  'E[m,l] = exp(S[m,l] - X[m])' 'Z[m] += E[m,l]' 'P[m,l] = E[m,l] / Z[m]' 'O[m,n] += P[m,l] * V[l,n]'
work mlp 'rows: 20, side: 30' 'm: rows, k: side, h: 2 * side, n: side' '' 'H[m,h] += A[m,k] * U[k,h]' 'R[m,h] = max(H[m,h], 0)' \
  'O[m,n] += R[m,h] * W[h,n]'
work separable 'size: 14, channels: 12' 'c: channels, k: 2 * channels, p: size, q: size, r: 3, s: 3' '{I: {pad: [0, 1, 1]}}' \
  'D[c,p,q] += I[c,p+r-1,q+s-1] * F[c,r,s]' 'O[k,p,q] += D[c,p,q] * G[k,c]'
work strided 'size: 8' 'k: 6, c: 4, p: size, q: size, r: 3, s: 3' '{I: {pad: [0, 1, 1]}}' \
  'O[k,p,q] += I[c,2*p+r-1,2*q+s-1] * W[k,c,r,s]'

# run COMMAND...: must succeed and say nothing on stderr
run() {
  if ! "$tool" "$@" >out.txt 2>err.txt || [ -s err.txt ]; then
    echo "tileflow $*"
    cat err.txt
    failed=$((failed + 1))
  fi
}
# number KEY FILE: its first value below "bounds" (KEY bounds.X) or at the top
cycles() { sed -n 's/^  "cycles": \([0-9.e+]*\),*$/\1/p' "$1"; }
bound() { sed -n '/"bounds": {/,/}/s/.*"cycles": \([0-9.e+]*\).*/\1/p' "$1"; }

for chip in small wide plain; do
  for work in projections attention mlp separable strided; do
    run check $chip.yaml $work.yaml
    run search $chip.yaml $work.yaml --evals 1500 --seed 2 --threads 1 --mapping found.yaml --json found.json --quiet
    run eval $chip.yaml $work.yaml found.yaml --json again.json --csv again.csv
    [ "$(cycles found.json)" = "$(cycles again.json)" ] || { echo "$chip, $work: eval says other cycles than search"; failed=$((failed + 1)); }
    awk -v v="$(cycles again.json)" -v b="$(bound again.json)" 'BEGIN { exit !(v >= b && b > 0) }' ||
      { echo "$chip, $work: $(cycles again.json) cycles, bound $(bound again.json)"; failed=$((failed + 1)); }
    awk '/"levels"/ { on = 1 } /"compute"/ { on = 0 } on && /"cycles":/ { gsub(/[^0-9.e+]/, "", $2); print $2 }' again.json |
      awk -v v="$(cycles again.json)" '$1 > v * (1 + 1e-9) { exit 1 }' || { echo "$chip, $work: a port above 100 %"; failed=$((failed + 1)); }
    run search $chip.yaml $work.yaml --evals 300 --seed 3 --threads 1 --start found.yaml --set kib=256 --mapping larger.yaml --quiet
    run diff found.yaml larger.yaml $chip.yaml $work.yaml
    run tree $chip.yaml $work.yaml found.yaml --svg tree.svg
  done
  run solve $chip.yaml strided.yaml --evals 3000 --threads 1 --quiet
  run bound $chip.yaml mlp.yaml --evals 50 --threads 1 --csv slope.csv --quiet --set arch.side=10 --set workload.rows=10
done
echo "first hour: $failed refusals"
[ $failed = 0 ]
