# The figures that docs/HOWTO-arch.md quotes.
tileflow bound examples/npu.yaml examples/npu-gemm.yaml --json - | grep -A 3 bounds
tileflow eval examples/npu.yaml examples/npu-gemm.yaml | sed -n 3p
tileflow eval examples/npu.yaml examples/npu-gemm.yaml --set spad_kib=128 2>/dev/null | sed -n 2,3p
