# TileFlow's files: sizes that no file gives are open params, names that it gives one value a warning, where C stays.
D=tests/data/tileflow/13-test-attention
tileflow import $D/arch/edge.yaml $D/prob/attention.yaml $D/map/chimera.yaml -o "$OUT/open.yaml"
cat "$OUT/open.yaml"
tileflow check "$OUT/open.yaml" --set size_B=1 --set size_H=2 --set size_M=64 --set size_N=16 --set size_A=16 --set size_L=64 | sed 's/^.*open/open/'
D=tests/data/tileflow
tileflow import $D/12-test-fused-cnn/fused-layer.yaml
tileflow import $D/rtl-validation/arch/arch.yaml $D/rtl-validation/prob/prob-gemm.yaml $D/rtl-validation/map/map-gemm.yaml --quiet \
  --set M=64 --set N=32 --set K=32 --set MO=2 --set MI=2 --set SX=16 --set KO=1 --set KI=2 --set SY=16 --set NO=1 --set NI=32 |
  sed -n '/^mapping/,$p'
