# None of these tensors says 8 bits: with --dtype int8 all are bytes but those that are said to be wider.
cat >$OUT/said.yaml <<'Y'
architecture:
  memories:
  - {name: DRAM}
  - {name: L1, capacity: 32 KiB}
  compute: [{name: core, ops: [mac, add, mul]}]
workload:
  dims: {m: 20, n: 33, k: 40}
  tensors: {scale: {word-bits: 32}, R: {word-bits: 16}}
  ops:
  - S[m,n] += A[m,k] * B[k,n]
  - Y[m,n] = S[m,n] * scale[n] + R[m,n] + b[n]
Y
tileflow emit $OUT/said.yaml --isa portable --dtype int8 --evals 200 --no-test -o $OUT/said --quiet && grep -o 'const [a-z0-9_]* \*[A-Za-z]*' $OUT/said/kernel.h | sort -u
