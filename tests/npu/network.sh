#!/bin/sh
# Networks for the NPU: planned, emitted as one program, run by value in the simulator against the network in double, with cycles
# expected beside those simulated; a plan read back makes the same folder.
# usage: network.sh TILEFLOW.  Exit 77: no C compiler.
set -u
[ $# -eq 1 ] || { echo "usage: $0 TILEFLOW" >&2; exit 2; }
tileflow=$(realpath "$1") || exit 2
cd "$(dirname "$0")/../.." || exit 2
command -v cc >/dev/null && command -v make >/dev/null || { echo "no C compiler"; exit 77; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failed=0

fail() { echo "FAIL: $*"; failed=1; }

# number KEY FILE: of the first line with the key.
number() { sed -n "s/.*\"$1\": \([0-9.e+]*\).*/\1/p" "$2" | head -n 1; }

# simulate NAME GROUPS ARCH FILE OPTION...: GROUPS, or any
simulate() {
  name=$1 groups=$2 arch=$3 file=$4 at=$work/$1
  shift 4
  "$tileflow" plan --quiet "$arch" "$file" --target npu "$@" --evals 20 --threads 1 -o "$at.plan.yaml" || { fail "$name: no plan"; return; }
  "$tileflow" emit --quiet "$at.plan.yaml" -o "$at" || { fail "$name: not emitted"; return; }
  made=$(grep -c '"ops":' "$at/manifest.json")
  [ "$groups" = any ] || [ "$made" = "$groups" ] || fail "$name: $made groups, not $groups"
  make -s -C "$at" simulate CC=cc CFLAGS="-O0 -Wall -Wextra -Wno-unused-function -Werror" TILEFLOW="$tileflow" >"$at.said" 2>&1 || { fail "$name"; cat "$at.said"; return; }
  expected=$(number cycles "$at/manifest.json") cycles=$(number cycles "$at/simulated.json")
  awk -v e="$expected" -v c="$cycles" 'BEGIN { exit !(c > 0 && e > 0.9 * c && e < 1.1 * c) }' || fail "$name: $expected cycles are expected, $cycles simulated"
  echo "$name: $made groups, $expected cycles expected, $cycles simulated; $(grep error "$at.said" | tr '\n' ' ')"
}

# of NAME GROUPS ARCH OPTION...: of the workload on stdin
of() {
  name=$1 groups=$2 arch=$3
  shift 3
  cat >"$work/$name.yaml"
  simulate "$name" "$groups" "$arch" "$work/$name.yaml" "$@"
}

# Products whose results pass through global memory, three of them alive at once; each queue goes on into the next group.
of gated 4 arch-specs/npu.yaml --max-ops 1 <<'Y'
workload:
  name: gated
  dims: {m: 24, k: 32, h: 40, n: 16}
  ops:
  - "U[m,h] += X[m,k] * A[k,h]"
  - "V[m,h] += X[m,k] * B[k,h]"
  - "G[m,h] = silu(U[m,h]) * V[m,h]"
  - "Y[m,n] += G[m,h] * C[h,n]"
Y
"$tileflow" emit --quiet arch-specs/npu.yaml "$work/gated.yaml" "$work/gated.plan.yaml" --target npu -o "$work/again"
diff -r -x README.md -x data -x network -x check -x 'simulated.json' -x 'unrolled.*' "$work/gated" "$work/again" || fail "of a plan read with its files the folder is another"
said=$("$tileflow" emit --quiet "$work/gated.plan.yaml" --target cpu -o "$work/cpu" 2>&1) && fail "a plan for npu is emitted for cpu"
[ "$said" = "tileflow: error[E_USAGE]: the plan is for kernels of --target npu, not of 'cpu'" ] || fail "$said"
awk '/"alone"/ && !n++ { match($0, /"cycles": [0-9.]*/); c = substr($0, RSTART + 10, RLENGTH - 10); match($0, /"alone": [0-9.]*/)
  exit !(c + 0 < substr($0, RSTART + 9, RLENGTH - 9) + 0) }' "$work/gated/manifest.json" || fail "gated: groups do not overlap"

# In long loops some steps alone are timed; the group behind one waits for what the others wrote.  What is dead lends its bytes.
of long 5 arch-specs/npu.yaml --max-ops 1 <<'Y'
workload:
  name: long
  dims: {m: 1024, k: 64, k2: 96, k3: 64}
  ops:
  - "A[m,k2] += X[m,k] * U[k,k2]"
  - "B[m,k2] = relu(A[m,k2] + a[k2])"
  - "C[m,k3] += B[m,k2] * V[k2,k3]"
  - "D[m,k3] = relu(C[m,k3] + c[k3])"
  - "E[m] += D[m,k3]"
Y
of lent any arch-specs/npu.yaml --max-ops 2 <"$work/long.yaml"
[ "$(awk '$1 == "tensor" && $5 == "tmp" { n += $6 == "at" ? $4 : -$4 } END { print (n > 0) }' "$work/long/network.npu")" = 1 ] || fail "long: no bytes are used twice: $(grep 'tmp' "$work/long/network.npu")"

# Rows of one tensor are queries, keys and values of each head; the input has a rank that nobody goes along.
of block 3 arch-specs/npu.yaml <<'Y'
workload:
  name: block
  dims: {t: 24, s: 24, d: 32, e: 96, h: 2, a: 16, b: 16, i: 64, c: 32}
  tensors:
    x: {shape: [2, 24, 32]}
  ops:
  - "u[t] += x[1,t,d]"
  - "v[t] = u[t] * 0.03125"
  - "w[t] += (x[1,t,d] - v[t]) * (x[1,t,d] - v[t])"
  - "n[t,d] = (x[1,t,d] - v[t]) / sqrt(w[t] * 0.03125 + 0.00001) * g[d]"
  - "q[t,e] += n[t,d] * Wq[d,e]"
  - "S[h,t,s] += q[t,16 * h + a] * q[s,16 * h + a + 32]"
  - "M[h,t] max= S[h,t,s]"
  - "P[h,t,s] = exp((S[h,t,s] - M[h,t]) / 4)"
  - "Z[h,t] += P[h,t,s]"
  - "N[h,t,s] = P[h,t,s] / Z[h,t]"
  - "O[h,t,b] += N[h,t,s] * q[s,16 * h + b + 64]"
  - "p[t,c] += O[h,t,b] * Wo[16 * h + b,c]"
  - "r[t,c] = p[t,c] + x[1,t,c]"
  - "f[t,i] += r[t,c] * Wi[c,i]"
  - "G[t,i] = gelu(f[t,i])"
  - "o[t,d] += G[t,i] * Wf[i,d]"
  - "z[t,d] = o[t,d] + r[t,d]"
Y

# A vector is a row; what it is read as has fewer ranks than where it stands.
of vectors 2 arch-specs/npu.yaml --max-ops 1 <<'Y'
workload:
  name: vectors
  dims: {a: 2, b: 2, c: 8, s: 16, n: 32}
  ops:
  - "A[a,b,c] += x[a,b,s] * K[a,s,c]"
  - "Y[n] += A[a,b,c] * W[16 * a + 8 * b + c,n]"
Y

# A block with a shortcut; the second convolution reads beyond what the first made, words are wide in between.
of residual any arch-specs/ascend910.yaml --max-ops 3 <<'Y'
workload:
  name: residual
  dims: {c: 16, k: 16, l: 16, h: 8, w: 8, i: 8, j: 8, r: 3, s: 3, u: 3, v: 3, n: 16}
  tensors:
    x: {pad: [0, 1, 1]}
    B: {pad: [0, 1, 1]}
    E: {word-bits: 32}
  ops:
  - "A[k,h,w] += x[c,h+r-1,w+s-1] * Wa[k,c,r,s]"
  - "B[k,h,w] = relu(A[k,h,w] * ga[k] + ba[k])"
  - "C[l,i,j] += B[k,i+u-1,j+v-1] * Wb[l,k,u,v]"
  - "D[l,i,j] = relu(C[l,i,j] + x[l,i,j])"
  - "E[l] += D[l,i,j]"
  - "F[n] += E[l] * Wf[l,n]"
Y

# A model has views, and is planned where no plan is given.
"$tileflow" emit --quiet arch-specs/npu.yaml tests/data/onnx/part-of-input.onnx --target npu --evals 20 -o "$work/model" && [ -f "$work/model/network.npu" ] || fail "a model is no network"

# A network's program without loops may be longer than other files.
{ cat examples/product.npu; yes "# which is a comment of this program, and so does nothing" | head -n 320000; } >"$work/large.npu"
[ "$(wc -c <"$work/large.npu")" -gt 16777216 ] || fail "the program is of less than 16 MiB"
said=$("$tileflow" npu "$work/large.npu" --timing) && [ "$said" = "$("$tileflow" npu examples/product.npu --timing)" ] || fail "a program of 18 MB is not as one without its comments"
exit $failed
