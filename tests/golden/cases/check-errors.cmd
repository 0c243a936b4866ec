# Every error of every file in one run; status 2.
cd $OUT
cat >bad.yaml <<'END'
architecture:
  memories: [{name: DRAM, capcity: 4}, {name: L1, capacity: 64 KiX}]
  compute: [{name: matrix, ops: [mac]}]
END
cat >worse.yaml <<'END'
workload:
  dims: {m: 4}
  ops: ["C[m] += A[m,j]"]
END
tileflow check bad.yaml worse.yaml
