# Layouts of the files that a kernel does not follow: one warning at the first; none where tensors lie by rows.
sed '/^layout:/,/Buffer: {A/d; s/64/8/g; s/n=8 k=4/n=1 k=1/; s/m=8 n=1/m=1 n=1/; s/k=16/k=8/' examples/banked.yaml >$OUT/bare.yaml
try() { printf "$1" >$OUT/lie.yaml; tileflow emit $OUT/bare.yaml $OUT/lie.yaml -o $OUT/$2 --no-test --isa avx2 2>&1 | sed "s,$OUT/,,g"; }
try 'layout:\n  DRAM: {B: [k, n]}\n  Buffer: {B: [n/4, k, n%%4], A: [k, m]}\n' two
try 'layout:\n  DRAM: {B: [k, n]}\n  Buffer: {B: [k, n]}\n' rows
try 'layout: {Buffer: {C: [1, 0]}}\n' one
