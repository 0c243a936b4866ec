# Of faults.sh and groups_faults.sh, which set tileflow, step and work: kernels for a small machine, and faults planted in their text.

cat >"$work/gpu.yaml" <<'A'
architecture:
  name: gpu
  clock: 1 GHz
  multiprocessor: {latency: 5000} # three pieces on their way
  memories:
  - {name: HBM, bandwidth: 64}
  - {name: SMEM, capacity: 4 MiB, bandwidth: 64, mesh: [8, 8]}
  compute:
  - {name: u, ops: [mac, add, sub, div, max, exp], below: SMEM, mesh: [16, 16]}
A

# write_product DIMS HBM SMEM: product.yaml, with the trip counts of the two memories.
write_product() {
  cat >"$work/product.yaml" <<Y
workload:
  name: product
  dims: {$1}
  ops:
  - "C[m,n] += A[m,k] * B[k,n]"
mapping: |
  HBM for $2
    SMEM for $3
      op C
Y
}

# write_attention DIMS HBM M L A N: attention.yaml, streamed; M, L, A and N are the trip counts of a block.
write_attention() {
  {
    cat <<Y
workload:
  name: attention
  dims: {$1}
  ops:
  - "S[h,m,l] += Q[h,m,a] * K[h,l,a]"
  - "X[h,m] max= S[h,m,l]"
  - "E[h,m,l] = exp(S[h,m,l] - X[h,m])"
  - "Z[h,m] += E[h,m,l]"
  - "P[h,m,l] = E[h,m,l] / Z[h,m]"
  - "O[h,m,n] += P[h,m,l] * V[h,l,n]"
mapping: |
  HBM for $2
    Seq keep S@SMEM X@SMEM E@SMEM Z@SMEM P@SMEM stream X Z O
Y
    for op in "S m=$3 l=$4 a=$5" "X m=$3 l=$4" "E m=$3 l=$4" "Z m=$3 l=$4" "P m=$3 l=$4" "O m=$3 n=$6 l=$4"; do
      echo "      SMEM for ${op#* }"
      echo "        op ${op%% *}"
    done
  } >"$work/attention.yaml"
}

# KERNEL OPTION...: emitted from its file, compiled for the emulator, and right as it is.
prepare() {
  kernel=$1
  shift
  "$tileflow" emit --quiet "$work/gpu.yaml" "$work/$kernel.yaml" --target cuda "$@" -o "$work/$kernel" || exit 1
  make -s -C "$work/$kernel" emulate CXX=g++ CXXFLAGS=-O0 >"$work/said" 2>&1 || { cat "$work/said"; exit 1; }
}

number=0 planted=0 lost=0
# KERNEL, what is wrong, and the edit of its text that makes it so.
fault() {
  number=$((number + 1))
  [ $(((number - 1) % step)) = 0 ] || return 0
  planted=$((planted + 1))
  at=$work/$1
  sed "$3" "$at/kernel.cu" >"$at/fault.cu"
  if cmp -s "$at/kernel.cu" "$at/fault.cu"; then echo "FAIL: $1: $2: the text has no such place" && lost=$((lost + 1)) && return 0; fi
  g++ -std=c++17 -DTILEFLOW_EMULATE -w -O0 -x c++ -c -o "$at/fault.o" "$at/fault.cu" &&
    g++ -o "$at/fault" "$at/emulate-test.o" "$at/fault.o" -lm || { lost=$((lost + 1)); return 0; }
  seed=1
  while [ $seed -le 50 ]; do
    TILEFLOW_SEED=$seed timeout 20 "$at/fault" >"$work/said" 2>&1 || break
    seed=$((seed + 1))
  done
  why=$(grep -o 'emulation.*\|error.*norm' "$work/said" | head -1)
  [ $seed -le 50 ] && [ "$why" ] && echo "$1: $2: seed $seed, $why" && return 0 # what hangs or crashes is not found
  echo "FAIL: $1: $2: not found in 50 seeds"
  lost=$((lost + 1))
}

finish() {
  echo "$planted faults planted, $lost not found"
  [ "$lost" = 0 ]
}
