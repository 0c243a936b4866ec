# A tile whose words are used further in from what another child left: nobody uses it, so that all of it is fetched.
cat >$OUT/left.yaml <<'E'
architecture:
  memories:
  - {name: L0}
  - name: L1
    gating: [{target: [R], on: [D], tiles: true}]
  - {name: L2, network: {multicast: false}}
  - {name: L3}
  compute: [{name: u, ops: [mac, max], mesh: [2, 1]}]
workload:
  dims: {m: 5, l: 3, k: 5, n: 2}
  tensors: {D: {density: 0.1}}
  ops:
  - C[m,l] += A[m,k] * B[k,l]
  - R[m,l] = max(C[m,l], 0)
  - E[m,n] += R[m,l] * D[l,n]
mapping: |
  L1 for l=3
    L1 for n=2
      Seq
        L1 for m=5 k=5
          op C
        L3 for m=5
          op R
        L2
          L3 for m=5
            op E
E
tileflow eval $OUT/left.yaml | sed -n '/^What zeros/,$p'
