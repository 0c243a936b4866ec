# What one element keeps alive of ranks that drop nothing counts in the room but for a doubt, which is no less than what is expected.
cat >"$OUT/rows.yaml" <<'END'
architecture:
  word-bits: 16
  memories:
  - {name: DRAM}
  - {name: Buffer, format: [{ranks: [bitmask, uncompressed, offsets]}]}
  compute: [{name: mac, ops: [mac]}]
workload:
  dims: {m: 64, n: 8, k: 1}
  tensors:
    A: {density: 0.02}
  ops: ["C[m] += A[m,n,k] * B[k]"]
mapping: |
  DRAM
    Buffer for m=64 n=8
      op C
END
tileflow eval "$OUT/rows.yaml" --json - --quiet | grep -E '"(held|most|likely)_words"'
