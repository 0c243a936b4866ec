#!/bin/sh
# What ONNX graphs become computes what onnxruntime computed (run.py), and weights are held once at most (peak.py).  Exit 77: no Python.
#   tests/onnx/run.sh TILEFLOW
tool=$(realpath "${1:?usage: $0 TILEFLOW}") || exit 2
cd "$(dirname "$0")/../.." || exit 2
command -v python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }
python3 tests/onnx/run.py "$tool" tests/data/onnx && python3 tests/onnx/peak.py "$tool"
