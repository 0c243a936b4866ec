# What best refuses, before it looks: all of it, with its place; a file that is there is written over with --force alone.
try() { tileflow "$@" 2>&1; echo "status $?"; }
cp arch-specs/edge.yaml workloads/gemm-chain/g5.yaml tests/golden/in/chain-open.yaml $OUT && cd $OUT || exit
arch=edge.yaml work=g5.yaml
echo mine >there.yaml
try best
try best $arch $work -o there.yaml --evals 0 --objective speed
try best $arch $work -o $work --force
try best $arch $work -o none/best.yaml
try best $work
try best chain-open.yaml
cat there.yaml
try best $arch $work --evals 100 -o there.yaml --force --quiet
sed -n 1,2p there.yaml
