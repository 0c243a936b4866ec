#!/bin/sh
# The story of the seed mlc-introduction on this computer, one core: each step as a mapping that is predicted and as code that is timed.
# CSV on stdout.
#   bench/story/run.sh TILEFLOW
set -eu
. "$(dirname "$0")/../lib.sh"
begin "$(dirname "$0")/../.." "${1:?usage: $0 TILEFLOW}"
export OMP_NUM_THREADS=1
workload=workloads/matmul-exp-matmul.yaml
scalar="-O2 -fno-tree-vectorize -fno-tree-slp-vectorize -march=native"
vector="-O3 -march=native"

# predicted CORE MAPPING-FILE: cycles, words into the first cache, words through DRAM
predicted() {
  "$tool" eval "bench/story/$1.yaml" $workload "$2" --quiet --csv "$scratch/counts.csv"
  awk -F, '$4 == "total" { cycles = $18 } $4 == "level" && $5 == "L1" { near = $10 + $13 } $4 == "level" && $5 == "DRAM" { far = $11 + $12 }
    END { printf "%.0f,%.0f,%.0f", cycles, near, far }' "$scratch/counts.csv"
}

# step NAME CORE MAPPING-FILE: what the driver prints, behind what is predicted
step() { echo "$1,$(predicted "$2" "$3"),$(taskset -c 0 "$scratch/driver")"; }

# nest STEP FLAGS: compiles it
nest() {
  # shellcheck disable=SC2086 # one word a flag
  gcc -std=c17 $2 -DSTEP="$1" -I . -c bench/story/nests.c -o "$scratch/nests.o" &&
    gcc -std=gnu17 -O2 -march=native -I . bench/story/driver.c "$scratch/nests.o" -o "$scratch/driver" -lm
}

# kernel_of ARGUMENT...: emits and compiles
kernel_of() {
  rm -rf "$scratch/kernel"
  "$tool" emit $workload "$@" --target cpu -o "$scratch/kernel" --quiet --no-test
  flags=$(flags_of "$scratch/kernel")
  # shellcheck disable=SC2086
  gcc -std=c17 -O3 $flags -fopenmp-simd -c "$scratch/kernel/kernel.c" -o "$scratch/kernel.o" &&
    gcc -std=gnu17 -O2 -march=native -DKERNEL -I . -I "$scratch/kernel" bench/story/driver.c "$scratch/kernel.o" -o "$scratch/driver" -lm
}

echo "step,predicted_cycles,words_into_first_cache,words_of_dram,seconds,share_of_peak"
m=bench/story/mappings
nest 1 "$scalar" && step naive scalar $m/1-naive.yaml
nest 2 "$scalar" && step reordered scalar $m/2-reordered.yaml
nest 3 "$scalar" && step tiled scalar $m/3-tiled.yaml
nest 4 "$scalar" && step fused scalar $m/4-fused.yaml
nest 4 "$vector" && step vectorised vector $m/5-vectorised.yaml
nest 5 "$vector" && step packed vector $m/5-vectorised.yaml
kernel_of bench/story/vector.yaml $m/6-registers.yaml && step "in registers (emit)" vector $m/6-registers.yaml
kernel_of bench/story/vector.yaml --evals 100000 --seed 1 && {
  echo "mapping: |" >"$scratch/planned.yaml"
  sed -n '/^## Mapping/,/^## Prediction/s/^    /  /p' "$scratch/kernel/README.md" >>"$scratch/planned.yaml"
  step "planned (emit)" vector "$scratch/planned.yaml"
}
