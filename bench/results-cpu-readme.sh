#!/bin/sh
# The README's tables of emitted kernels, from docs/results/cpu-*.csv, on stdout; tests/docs.sh compares.
set -u
cd "$(dirname "$0")/.." || exit 2
titles="chains=two products;softmax=attention;conv=two convolutions;conv-relu=two convolutions, ReLU between;yolo=layers of YOLO, batch 1;\
resnet=layers of ResNet-18, batch 16;bf16=two products, bfloat16;bf16-softmax=attention, bfloat16;int8=two products, int8;int8-softmax=attention from int8;\
int8-product=one product, int8;torch=two products and attention;torch-bf16=the same in bfloat16"
echo "| Cases | number | oneDNN | libxsmm | OpenBLAS | PyTorch | best of all | least |"
echo "|---|--:|--:|--:|--:|--:|--:|--:|"
# shellcheck disable=SC2046 # files
awk -v mode=readme -v titles="$titles" -f bench/kernels/tables.awk $(echo "$titles" | tr ';' '\n' | sed 's|=.*||; s|.*|docs/results/cpu-&.csv|')
echo
echo "| Shape | float32 | bfloat16 |"
echo "|---|--:|--:|"
awk -v mode=shapes -f bench/kernels/tables.awk docs/results/cpu-models.csv docs/results/cpu-models-bf16.csv
