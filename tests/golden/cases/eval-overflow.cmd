# A count beyond 2^63 - 1 is an error, never a wrapped figure.
cat >$OUT/huge.yaml <<'END'
architecture:
  memories: [{name: DRAM}]
  compute: [{name: matrix, ops: [mac]}]
workload:
  name: huge
  dims: {m: 4000000000, n: 4000000000, k: 4000000000}
  ops: ["C[m,n] += A[m,k] * B[k,n]"]
mapping: |
  DRAM for m=4000000000 n=4000000000 k=4000000000
    op C
END
cd $OUT && tileflow eval huge.yaml
