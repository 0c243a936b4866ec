# Workloads with their mappings, on stdout, for the tests of this folder.

# gemm DIMS HBM SMEM: a product, with the trip counts of the two memories.
gemm() {
  cat <<Y
workload:
  name: gemm
  dims: {$1}
  ops:
  - "C[m,n] += A[m,k] * B[k,n]"
mapping: |
  HBM $2
    SMEM $3
      op C
Y
}

# attention DIMS HBM STREAM M L A N: HBM has the trip counts of blocks, STREAM is "stream X Z O" or nothing, and M, L, A and N are the
# trip counts within a block.
attention() {
  cat <<Y
workload:
  name: attention
  dims: {$1}
  ops:
  - "S[h,m,l] += Q[h,m,a] * K[h,l,a]"
  - "X[h,m] max= S[h,m,l]"
  - "E[h,m,l] = exp(S[h,m,l] - X[h,m])"
  - "Z[h,m] += E[h,m,l]"
  - "P[h,m,l] = E[h,m,l] / Z[h,m]"
  - "O[h,m,n] += P[h,m,l] * V[h,l,n]"
mapping: |
  HBM $2
    Seq keep S@SMEM X@SMEM E@SMEM Z@SMEM P@SMEM $3
Y
  for op in "S m=$4 l=$5 a=$6" "X m=$4 l=$5" "E m=$4 l=$5" "Z m=$4 l=$5" "P m=$4 l=$5" "O m=$4 n=$7 l=$5"; do
    echo "      SMEM for ${op#* }"
    echo "        op ${op%% *}"
  done
}

# causal M L: attention on stdin with a causal mask between its scores and their maxima; trip counts within a block.
causal() {
  awk -v m="$1" -v l="$2" '
    /max=/ { print "  - \"T[h,m,l] = select(l <= m, S[h,m,l], -inf)\"" }
    /max=|exp/ { gsub(/S\[h,m,l\]/, "T[h,m,l]") }
    { print }
    /op S/ { print "      SMEM for m=" m " l=" l "\n        op T" }'
}
