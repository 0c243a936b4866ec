# For the random kernels of GPUs' targets.

# An architecture, on stdout.
gpu() {
  cat <<'A'
architecture:
  name: gpu
  clock: 1 GHz
  memories:
  - {name: HBM, bandwidth: 64}
  - {name: SMEM, capacity: 4 MiB, bandwidth: 64, mesh: [8, 8]}
  compute:
  - {name: u, ops: [mac, add, sub, mul, div, max, min, neg, exp, log, sqrt, tanh, erf, sigmoid, relu, gelu, silu, abs, floor, ceil, round, trunc, sin, cos, fmod, select], below: SMEM, mesh: [16, 16]}
A
}

# A file that the oracle drew, on stdout, with room in its memories and for its blocks.
oracle() { sed 's/, capacity: [^,}]*//; s/mesh: \[[0-9]*, [0-9]*\]/mesh: [64, 64]/; /mesh:/!s/^\(  - {name: L[1-9].*\)}$/\1, mesh: [64, 64]}/' "$1"; }
