# Workloads of AccelForge: Einsums as text and as lists of tensor accesses, ranks by name, sums, sizes of ranks and ranges of variables, bits.
cat >$OUT/attention.yaml <<'Y'
workload:
  rank_sizes: {B: 2, M: 8, P: 8, H: 4, E: 3*2, D: 24, G: 24}
  bits_per_value: {All: 8, Z: 16}
  persistent_tensors: weight - Intermediates
  einsums:
  - einsum: "I[b, m, d] = I_in[b, m, d]"
    is_copy_operation: True
  - "Q[b, m, h, e] = I[b, m, d] * WQ[h, e, d]"
  - "K[b, m, h, e] = I[b, m, d] * WK[h, e, d]"
  - einsum: "QK[b, m, p, h] = Q[b, m, h, e] * K[b, M: p, h, e]"
    renames: {input: Q}
  - name: Last
    tensor_accesses:
    - {name: QK, projection: {B: b, M: m, P: p, H: h}}
    - {name: Z, projection: [b, m, h], output: True}
  - "S[b, m, h] = Z[b, m, h] + X[b, m, h]"
renames: {einsums: []}
Y
cat >$OUT/window.yaml <<'Y'
workload:
  iteration_space_shape: {n: 0 <= n < 2, unused: 0 <= unused < 5}
  rank_sizes: {C: 3, P: 6, M: 4}
  einsums:
  - name: Conv
    tensor_accesses:
    - {name: I, projection: {N: n, C: c, H: 2 * p + r}}
    - {name: W, projection: [c, m, r]}
    - {name: O, projection: [n, m, p], output: true}
    iteration_space_shape: [0 <= r <= 2]
Y
cat >$OUT/spelt.yaml <<'Y'
workload:
  iteration_space_shape: {_k: 0 <= _k < 6}
  rank_sizes: {M: 4}
  bits_per_value: {All: 2*8}
  einsums:
  - "Z[m] = A[2m + _k]"
Y
tileflow import $OUT/spelt.yaml
tileflow check $OUT/spelt.yaml
tileflow import $OUT/attention.yaml
tileflow check $OUT/attention.yaml
tileflow import $OUT/window.yaml
tileflow check $OUT/window.yaml
try() { printf "$1" >$OUT/bad.yaml; tileflow import $OUT/bad.yaml 2>&1 | sed "s,$OUT/,,g"; }
try 'arch:\n  nodes: []\n'
try 'mapping:\n  nodes:\n  - {tensors: [A], component: Main}\n'
try 'workload:\n  einsums: ["Z[m] = A[m,"]\n'
try 'workload:\n  einsums: ["Z[m] = A[m]"]\n'
try 'workload:\n  rank_sizes: {M: -1}\n  einsums: ["Z[m] = A[m]"]\n'
try 'workload:\n  rank_sizes: {M: 4}\n  bits_per_value: {All - Z: 8}\n  einsums: ["Z[m] = A[m]"]\n'
try 'workload:\n  iteration_space_shape: {m: m < 4}\n  einsums: ["Z[m] = A[m]"]\n'
try 'workload:\n  rank_sizes: {M: 4}\n  einsums: ["Z[m] = A[m; 2]"]\n'
try 'workload:\n  einsums: [{name: Z}]\n'
try 'workload:\n  einsums: [{name: Z, tensor_accesses: [{name: A, projection: [m]}]}]\n'
try 'workload:\n  einsums: [{name: Z, tensor_accesses: [{name: A B, projection: [m]}]}]\n'
try 'workload:\n  einsums: [{tensor_accesses: [{name: A, projection: [m], output: True}, {name: B, projection: [m], output: True}]}]\n'
try 'workload:\n  einsums: ["Z[m] = A[m]"]\n  shapes: 3\n'
try 'workload:\n  einsums: ["Z[m] = A[m + a23456789a23456789a23456789a23456789a23456789a2345678]"]\n'
