#!/bin/sh
# Whole networks become workloads that multiply as often as their shapes say (networks.py).  Exit 77: no Python.
#   tests/onnx/networks.sh TILEFLOW
tool=$(realpath "${1:?usage: $0 TILEFLOW}") || exit 2
cd "$(dirname "$0")/../.." || exit 2
command -v python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }
python3 tests/onnx/networks.py "$tool" tests/data/networks
