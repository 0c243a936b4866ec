# A scale or a bias of which nothing says that it is wider becomes bytes, too: one warning, which says how it stays float32.
cat >$OUT/unsaid.yaml <<'Y'
architecture:
  memories:
  - {name: DRAM}
  - {name: L1, capacity: 32 KiB}
  compute: [{name: core, ops: [mac, add, mul]}]
workload:
  dims: {m: 20, n: 33, k: 40}
  ops:
  - S[m,n] += A[m,k] * B[k,n]
  - Y[m,n] = S[m,n] * scale[n] + b[n]
Y
cd $OUT && tileflow emit unsaid.yaml --isa portable --dtype int8 --evals 200 --no-test -o unsaid && tileflow emit unsaid.yaml --isa portable --evals 200 --no-test -o plain
