# Certificates: what solve writes; the head is the same whatever is found; what has none is refused, and nothing written.
tileflow solve arch-specs/edge.yaml workloads/gemm.yaml --set M=60 --set N=77 --set K=90 --evals 5000 --threads 1 --quiet --certificate $OUT/a
cat $OUT/a
tileflow solve arch-specs/edge.yaml workloads/gemm.yaml --set M=60 --set N=77 --set K=90 --evals 300 --threads 1 --quiet --certificate - | sed '/^tile /,$d' >$OUT/head
sed '/^tile /,$d' $OUT/a | cmp - $OUT/head && echo one head
tileflow solve arch-specs/edge.yaml workloads/conv-chain/c7.yaml --certificate $OUT/none
ls $OUT
