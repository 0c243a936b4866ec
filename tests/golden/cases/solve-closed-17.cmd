# more ops than the closed form fuses: it says so, with the number, and gives the mapping that fuses nothing
cat >"$OUT/chain.yaml" <<'END'
workload:
  name: chain
  dims: {m: 8, a: 8, b: 8}
  ops:
  - T1[m,b] += A[m,a] * W1[a,b]
  - T2[m,a] += T1[m,b] * W2[b,a]
  - T3[m,b] += T2[m,a] * W3[a,b]
  - T4[m,a] += T3[m,b] * W4[b,a]
  - T5[m,b] += T4[m,a] * W5[a,b]
  - T6[m,a] += T5[m,b] * W6[b,a]
  - T7[m,b] += T6[m,a] * W7[a,b]
  - T8[m,a] += T7[m,b] * W8[b,a]
  - T9[m,b] += T8[m,a] * W9[a,b]
  - T10[m,a] += T9[m,b] * W10[b,a]
  - T11[m,b] += T10[m,a] * W11[a,b]
  - T12[m,a] += T11[m,b] * W12[b,a]
  - T13[m,b] += T12[m,a] * W13[a,b]
  - T14[m,a] += T13[m,b] * W14[b,a]
  - T15[m,b] += T14[m,a] * W15[a,b]
  - T16[m,a] += T15[m,b] * W16[b,a]
  - T17[m,b] += T16[m,a] * W17[a,b]
END
tileflow solve --method closed arch-specs/edge.yaml "$OUT/chain.yaml" --threads 1 | head -2
