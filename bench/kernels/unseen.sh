#!/bin/sh
# Kernels of workloads drawn at random beside PyTorch, one thread, processor time: each is emitted, held against its own test and a float64
# evaluation, and timed in turn with PyTorch's ways; rows are added to CSV, and what stands there is not done again.
#   bench/kernels/unseen.sh TILEFLOW f32|bf16|int8 CSV SEED NUMBER [KIND...]     NUMBER of each KIND: of unseen.py (all)
#   COMPILED=1     torch.compile, too: half a minute a case;  UNTESTED=1  without the kernels' own tests
#   PYTHON, ARCH   as bench/kernels/models.sh takes them;  KERNELS=DIR  keeps the kernels
set -u
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/torch_lib.sh"
unseen_csv=$(realpath -m "${3:?a file for the rows}")
begin_torch "$@"
shift 3
export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 TORCHINDUCTOR_CACHE_DIR="$scratch/inductor"
host 1
mkl_of_all
mkdir -p "${KERNELS:-$scratch}/unseen"
preload="$preload $(gcc -print-file-name=libgomp.so.1)"
LD_PRELOAD=$preload taskset -c "${CORE:-0}" "$python" bench/kernels/unseen.py "$tool" "$host" "${KERNELS:-$scratch}/unseen" "$unseen_csv" "$dtype" "$@"
