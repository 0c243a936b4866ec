#!/bin/sh
# long.sh TOOL: kernels with long sums, of terms whose sums are rounded, within 1e-5 of a plain evaluation in double: each
# emitted test draws 0.1 for one operand and 1 for the other, of which one float32 that took in all terms in turn would be
# off by 4e-5 (4,096 terms) to 3e-3 (2^18).  ISA=NAME: for that instruction set alone; else they take turns.
set -eu
tool=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/host.yaml" <<'END'
architecture:
  name: host
  clock: 3 GHz
  word-bits: 32
  memories:
  - {name: DRAM, bandwidth: 4}
  - {name: L2, bandwidth: 8, capacity: 512 KiB}
  - {name: L1, bandwidth: 16, capacity: 32 KiB}
  - {name: REG, capacity: 128}
  compute:
  - {name: fma, below: REG, mesh: [8, 2], ops: [mac, add, sub, mul, max, min, div, exp]}
END
cases='
product|m: 5, n: 19, k: 4096|"C[m,n] += A[m,k] * B[k,n]"
long|m: 13, n: 40, k: 131072|"C[m,n] += A[m,k] * B[k,n]"
row|n: 24, k: 131072|"C[n] += A[k] * B[k,n]"
rows|m: 3, n: 9, k: 65536|"C[m,n] += A[m,k] * B[n,k]"
dot|k: 262144|"C[] += A[k] * B[k]"
columns|n: 20, k: 65536|"C[n] += A[k,n] * 0.1"
points|m: 3, n: 5, k: 65536|"C[m,n] += A[k,m] * B[k,n] * D[k]"
convolution|f: 16, y: 4, x: 6, c: 1024, u: 3, v: 3|"O[f,y,x] += I[c,y+u,x+v] * W[f,c,u,v]"
chain|m: 4, l: 8, k: 32768, n: 4|"C[m,l] += A[m,k] * B[k,l]", "E[m,n] += C[m,l] * D[l,n]"
softmax|m: 4, l: 32768, a: 4, n: 8|"S[m,l] += Q[m,a] * K[l,a]", "X[m] max= S[m,l]", "E[m,l] = exp(S[m,l] - X[m])", "Z[m] += E[m,l]", "P[m,l] = E[m,l] / Z[m]", "O[m,n] += P[m,l] * V[l,n]"
'
echo 'workload: {name: tiny, dims: {m: 5, n: 5, k: 5}, ops: ["C[m,n] += A[m,k] * B[k,n]"]}' >"$work/tiny.yaml"
isas=portable
for isa in sse2 avx2 avx512; do
  if "$tool" emit "$work/host.yaml" "$work/tiny.yaml" --isa $isa -o "$work/try-$isa" >"$work/said" 2>&1 &&
    make -s -C "$work/try-$isa" CFLAGS=-O1 OPENMP= test >"$work/said" 2>&1; then
    isas="$isas $isa"
  fi
done
[ -z "${ISA:-}" ] || isas=$ISA
turn=0
echo "$cases" | while IFS='|' read -r name dims ops; do
  [ -n "$name" ] || continue
  turn=$((turn + 1))
  # shellcheck disable=SC2086
  set -- $isas
  shift $((turn % $#))
  isa=$1 to="$work/$name"
  printf 'workload: {name: %s, dims: {%s}, ops: [%s]}\n' "$name" "$dims" "$ops" >"$work/$name.yaml"
  "$tool" emit "$work/host.yaml" "$work/$name.yaml" --isa "$isa" -o "$to" >"$work/said" 2>&1 ||
    { cat "$work/said"; exit 1; }
  sed -i 's/^  return (v.*;$/  return tensor % 2 ? 1 : 0.1f;/' "$to/test.c"
  grep -q '0.1f' "$to/test.c" || { echo "$name: its test draws other data"; exit 1; }
  make -s -C "$to" CFLAGS=-O1 OPENMP= test >"$work/said" 2>&1 || { echo "$name, $isa:"; cat "$work/said"; exit 1; }
  echo "$name, $isa: $(tail -n 1 "$work/said")"
done
