#!/bin/sh
# Networks for a GPU: planned, emitted, compiled as C++ and run in the emulator, against the network in double (test.c) and against
# themselves with memory on the device (test_device.c); a plan read back is the same plan, and makes the same folder.  Where nvcc is, it
# compiles one of them, too.
# usage: network.sh TILEFLOW.  Exit 77: no C++ compiler.
failed=0
. "$(dirname "$0")/begin.sh"

fail() { echo "FAIL: $*"; failed=1; }

# NAME GROUPS KERNELS OPTION...: of the workload on stdin; GROUPS: the ops of some groups of the plan, as it lists them; KERNELS: how many
# differ, or any
network() {
  name=$1 groups=$2 kernels=$3 at=$work/$1
  shift 3
  cat >"$at.yaml"
  "$tileflow" plan --quiet arch-specs/h100.yaml "$at.yaml" --target cuda "$@" --evals 40 --threads 2 -o "$at.plan.yaml" || { fail "$name: no plan"; return; }
  for ops in $groups; do
    grep -q "ops: \[$(echo "$ops" | sed 's/,/, /g')\]" "$at.plan.yaml" || fail "$name: no group of $ops in the plan: $(grep ops: "$at.plan.yaml")"
  done
  "$tileflow" emit --quiet "$at.plan.yaml" -o "$at" || { fail "$name: not emitted"; return; }
  [ "$kernels" = any ] || [ "$(find "$at" -name 'g*.cu' | wc -l)" = "$kernels" ] || fail "$name: $(find "$at" -name 'g*.cu' | wc -l) kernels, not $kernels"
  make -s -j2 -C "$at" emulate CXX=g++ CXXFLAGS="-O0 -Wall -Wextra -Wno-unused-function -Werror" >"$at.said" 2>&1 || { fail "$name"; cat "$at.said"; }
  echo "$name: $(grep error "$at.said" | tr '\n' ' ')"
}

# Weights of both products are of one shape: one kernel for both.
network mlp "A,B C,D" 1 --dtype f16 --max-ops 2 <<'Y'
workload:
  name: mlp
  dims: {m: 20, k: 24, k2: 24, k3: 24}
  ops:
  - "A[m,k2] += X[m,k] * U[k,k2]"
  - "B[m,k2] = relu(A[m,k2] + a[k2])"
  - "C[m,k3] += B[m,k2] * V[k2,k3]"
  - "D[m,k3] = relu(C[m,k3] + c[k3])"
Y

# A plan is read as it was written, with the type of its kernels; and is for no other target.
"$tileflow" plan arch-specs/h100.yaml "$work/mlp.yaml" "$work/mlp.plan.yaml" | grep -q '2 groups, 1 of them different' || fail "the plan of mlp is not read"
"$tileflow" emit --quiet arch-specs/h100.yaml "$work/mlp.yaml" "$work/mlp.plan.yaml" --target cuda --dtype f16 -o "$work/again"
diff -r -x '*.o' -x README.md -x emulate -x emulate_device "$work/mlp" "$work/again" || fail "of a plan read with its files the folder is another"
said=$("$tileflow" emit --quiet "$work/mlp.plan.yaml" --target cpu -o "$work/cpu" 2>&1) && fail "a plan for cuda is emitted for cpu"
[ "$said" = "tileflow: error[E_USAGE]: the plan is for kernels of --target cuda, not of 'cpu'" ] || fail "$said"

# Without a plan a model gets one.
"$tileflow" emit --quiet arch-specs/h100.yaml tests/data/onnx/part-of-input.onnx --target cuda --evals 20 -o "$work/model" && [ -f "$work/model/network.cu" ] || fail "a model is no network"

# Rows of one tensor, made in the same kernel, are queries, keys and values of each head; the input has a rank that nobody goes along.
network block "q,S,M,P,Z,N,O" 3 --dtype bf16 --isa sm_90a <<'Y'
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

# Rows whose products exceed float16 between kernels: its test draws smaller numbers, and says so.
network large "N" any --dtype f16 --max-ops 1 <<'Y'
workload:
  name: large
  dims: {t: 4, a: 32, b: 48, c: 48}
  ops:
  - "A[t,b] += x[t,a] * W[a,b]"
  - "B[t,c] += A[t,b] * V[b,c]"
  - "Q[t] += B[t,c] * B[t,c]"
  - "N[t,c] = B[t,c] / sqrt(Q[t] / 48 + 0.01)"
Y
grep -q 'numbers are divided by 2^2,' "$work/large.said" || fail "large: $(cat "$work/large.said")"

# Products that have nothing of each other are in two branches of the graph, which the emulation runs in another order.
network gated "U V" 3 --dtype bf16 --max-ops 1 <<'Y'
workload:
  name: gated
  dims: {m: 24, k: 32, h: 40, n: 16}
  ops:
  - "U[m,h] += X[m,k] * A[k,h]"
  - "V[m,h] += X[m,k] * B[k,h]"
  - "G[m,h] = silu(U[m,h]) * V[m,h]"
  - "Y[m,n] += G[m,h] * C[h,n]"
Y
grep -q 'BRANCHES = 2 }' "$work/gated/network.cu" || fail "gated: $(grep 'BRANCHES =' "$work/gated/network.cu")"
grep 'run_.*g->at' "$work/gated/network.cu" | head -n 1 | grep -q run_2 || fail "gated: the emulation runs the first group first"

# Vectors are rows, so that tensor cores multiply them; one is a row of an input.
network vectors "A,B C,Y" any --dtype bf16 --isa sm_90a <<'Y'
workload:
  name: vectors
  dims: {k: 64, h: 96, n: 48}
  tensors:
    r: {shape: [2, 48]}
  ops:
  - "A[h] += x[k] * W[k,h]"
  - "B[h] = relu(A[h] + b[h])"
  - "C[n] += B[h] * V[h,n]"
  - "Y[n] = C[n] + r[1,n]"
Y
grep -q '^ *multiply_bf16(' "$work"/vectors/g*.cu || fail "vectors: products are on the plain units"

network convolutions "" any --dtype f16 <<'Y'
workload:
  name: convolutions
  dims: {c: 3, k: 8, l: 8, h: 12, w: 12, i: 6, j: 6, r: 3, s: 3, u: 3, v: 3, n: 10}
  tensors:
    x: {pad: [0, 1, 1]}
    B: {pad: [0, 1, 1]}
  ops:
  - "A[k,h,w] += x[c,h+r-1,w+s-1] * Wa[k,c,r,s]"
  - "B[k,h,w] = relu(A[k,h,w] * ga[k] + ba[k])"
  - "C[l,i,j] += B[k,2 * i+u-1,2 * j+v-1] * Wb[l,k,u,v]"
  - "D[l,i,j] = relu(C[l,i,j])"
  - "E[l] += D[l,i,j]"
  - "F[n] += E[l] * Wf[l,n]"
  - "y[n] = F[n] * 0.02777777777777778 + f[n]"
Y

if command -v "${NVCC:-nvcc}" >/dev/null; then
  make -s -C "$work/block" ARCH=sm_90a NVCC="${NVCC:-nvcc}" libnetwork.so bench >"$work/said" 2>&1 || { fail "nvcc does not compile block"; cat "$work/said"; }
fi
exit $failed
