#!/bin/sh
# onnx's node tests on this build: docs/results/onnx-nodes.csv and docs/RESULTS-onnx.md anew.
#   bench/onnx/run.sh TILEFLOW [FOLDER]     FOLDER: of the virtual environment, made there if it is not; needs the network then
# Exits 1 if a test differs or crashes, or if onnx's definitions are newer than those that model/import/onnx/schema.c knows.
set -eu
[ $# -ge 1 ] || { sed -n '2,4s/^# *//p' "$0" >&2; exit 2; }
tool=$(realpath "$1")
venv=${2:-${TMPDIR:-/tmp}/tileflow-onnx}
cd "$(dirname "$0")/../.."
[ -x "$venv/bin/python" ] || {
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet onnx==1.23.2 onnxruntime==1.32.0 numpy
}
"$venv/bin/python" bench/onnx/schema.py
failed=0
"$venv/bin/python" bench/onnx/nodes.py "$tool" docs/results/onnx-nodes.csv || failed=1
sh bench/onnx/page.sh >docs/RESULTS-onnx.md
exit $failed
