# A count beyond 2^63 - 1 is an error, never a wrapped figure: of one tensor, and of a memory.
cat >$OUT/huge.yaml <<'END'
params: {depth: 1048576}
architecture:
  memories: [{name: DRAM}]
  compute: [{name: matrix, ops: [mac]}]
workload:
  name: huge
  dims: {m: 2097152, n: 2097152, k: depth}
  ops: ["C[m,n] += A[m,k] * B[k,n]"]
mapping: |
  DRAM for m=2097152 n=2097152 k=1048576
    op C
END
cd $OUT && tileflow eval huge.yaml --set depth=4194304
tileflow eval huge.yaml
