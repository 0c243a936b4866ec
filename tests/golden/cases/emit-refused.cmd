# Where a target makes none of the mappings found, it says why, though --quiet was asked for, and does not blame the memories.
root=$PWD
cd $OUT
cat >conv.yaml <<'Y'
workload:
  name: conv
  dims: {k: 8, c: 8, p: 14, r: 3}
  ops:
  - "O[k,p] += I[c,p+r] * W[k,c,r]"
Y
tileflow emit $root/arch-specs/rtl-core.yaml conv.yaml --target npu --evals 300 --quiet -o k
