# A dim whose extent is the param of its name counts what it counts under another name, and follows --set.
cat >$OUT/same.yaml <<'YAML'
params: {m: 64, n: 64}
workload:
  name: matmul
  dims: {m: m, n: n, k: 64}
  ops:
  - C[m,n] += A[m,k] * B[k,n]
YAML
sed 's/{m: 64, n: 64}/{rows: 64, columns: 64}/; s/m: m, n: n/m: rows, n: columns/' $OUT/same.yaml >$OUT/other.yaml
sed '/^workload/,/^mapping/{/^mapping/!d}' examples/matmul.yaml >$OUT/rest.yaml
for work in same other; do tileflow eval $OUT/rest.yaml $OUT/$work.yaml --json - | grep -v '"seconds"' >$OUT/$work.json; done
cmp $OUT/same.json $OUT/other.json && grep '"points"' $OUT/same.json | sed 1q
tileflow check $OUT/same.yaml --set m=32
tileflow bound $OUT/rest.yaml $OUT/same.yaml --set m=32 --json - 2>&1 | grep traffic | sed 1q
