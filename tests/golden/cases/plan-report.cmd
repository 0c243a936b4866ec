# The picture of a plan: layers drawn once, arcs to groups further down, names escaped; as a page of HTML by its name.
cat >$OUT/net.yaml <<'END'
workload:
  name: "a<b> & c"
  dims: {m: 64, n: 64}
  ops:
  - T1[m,n] = exp(X[m,n])
  - A1[m,n] += T1[m,k1] * W1[k1,n]
  - T2[m,n] = exp(A1[m,n])
  - A2[m,n] += T2[m,k2] * W2[k2,n]
  - T3[m,n] = exp(A2[m,n])
  - A3[m,n] += T3[m,k3] * W3[k3,n]
  - Y[m,n] = A3[m,n] + T1[m,n]
END
sed -i 's/n: 64}/n: 64, k1: 64, k2: 64, k3: 64}/' $OUT/net.yaml
tileflow plan arch-specs/edge.yaml $OUT/net.yaml --threads 1 --evals 20 --max-ops 1 --quiet -o $OUT/net.plan.yaml --report $OUT/net.html && cat $OUT/net.html
tileflow plan arch-specs/edge.yaml $OUT/net.yaml $OUT/net.plan.yaml --report - | head -n 1
tileflow plan arch-specs/edge.yaml $OUT/net.yaml $OUT/net.plan.yaml --report $OUT/net.yaml 2>&1 | sed "s|'/.*/|'|"
