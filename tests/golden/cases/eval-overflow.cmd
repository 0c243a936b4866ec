# A count beyond 2^63 - 1 is an error, never a wrapped figure: of one tensor, of a memory, and of a unit.
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
cat >two.yaml <<'END'
architecture:
  memories: [{name: DRAM}]
  compute: [{name: vector, ops: [mul]}]
workload:
  name: two
  dims: {m: 2147483648, n: 2147483648}
  ops: ["T[m,n] = A[m] * B[n]", "O[m,n] = T[m,n] * A[m]"]
mapping: |
  DRAM
    Seq
      DRAM for m=2147483648 n=2147483648
        op T
      DRAM for m=2147483648 n=2147483648
        op O
END
tileflow eval two.yaml
