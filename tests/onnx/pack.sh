#!/bin/sh
# From ONNX files to libraries that know their weights, held against onnxruntime's outputs (pack.py).  Exit 77: no Python.
#   tests/onnx/pack.sh TILEFLOW CC
tool=$(realpath "${1:?usage: $0 TILEFLOW CC}") || exit 2
cd "$(dirname "$0")/../.." || exit 2
command -v python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }
python3 tests/onnx/pack.py "$tool" "$2" tests/data/onnx/up-17.onnx tests/data/onnx/self-17.onnx tests/data/onnx/qkv-17.onnx tests/data/onnx/part-of-input.onnx tests/data/onnx/mob-17.onnx tests/data/onnx/q-network.onnx tests/data/onnx/q-operators.onnx
