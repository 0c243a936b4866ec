# Read by the scripts beside it that put emitted kernels into PyTorch's process: . "$(dirname "$0")/torch_lib.sh", behind bench/lib.sh

# has_torch: ends the script with status 3 where $python has no PyTorch.
has_torch() {
  "$python" -c 'import torch' 2>/dev/null && return
  echo "$0: $python has no PyTorch: skipped (PYTHON=FILE names one that has)" >&2
  exit 3
}

# begin_torch TILEFLOW f32|bf16 [CASE...]: begins as `begin` does; $dtype, $suffix of the names of its cases, and $python, which has
# PyTorch and takes the instruction sets that it likes.
begin_torch() {
  torch_usage="usage: $0 TILEFLOW f32|bf16 [CASE...]"
  dtype=${2:?$torch_usage} python=${PYTHON:-python3} suffix=
  [ "$dtype" = f32 ] || suffix=-$dtype
  begin "$(dirname "$0")/../.." "${1:?$torch_usage}"
  has_torch
  unset DNNL_MAX_CPU_ISA ONEDNN_MAX_CPU_ISA ATEN_CPU_CAPABILITY
}

# mkl_of_all: $preload, a library behind which MKL takes its kernels for AVX-512 on processors of other makers, too.
mkl_of_all() {
  preload=
  if grep -q -w avx512f /proc/cpuinfo && ! grep -q GenuineIntel /proc/cpuinfo; then
    gcc -O2 -shared -fPIC bench/kernels/mkl_any.c -o "$scratch/mkl_any.so" && preload=$scratch/mkl_any.so
  fi
}

# fields: the names of the arguments in $scratch/k/kernel.h, in its order.
fields() { sed -n 's,^  \(const \)\{0\,1\}[a-z0-9_]* \*\([A-Za-z0-9_]*\); /\* [0-9].*,\2,p' "$scratch/k/kernel.h"; }

# shared_kernel FILE FLAG...: the kernel in $scratch/k as a shared library that peer.py calls
shared_kernel() {
  shared_file=$1
  shift
  fields | sed 's/.*/BIND(&)/' >"$scratch/k/bind.h"
  if grep -q '^int kernel_pack(' "$scratch/k/kernel.h"; then set -- "$@" -DPACKED; fi
  # shellcheck disable=SC2086,SC2154 # one word a flag; lib.sh sets flags and scratch
  gcc -std=gnu17 -O3 $flags "$@" -shared -fPIC -I "$scratch/k" -I bench/kernels bench/kernels/torch_shim.c "$scratch/k/kernel.c" -o "$shared_file" -lm
}
