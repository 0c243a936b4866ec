# Of faults.sh and groups_faults.sh, which set step: kernels for a small machine, and faults planted in their text.
. "$(dirname "$0")/begin.sh"

cat >"$work/gpu.yaml" <<'A'
architecture:
  name: gpu
  clock: 1 GHz
  multiprocessor: {latency: 5000} # three pieces on their way
  memories:
  - {name: HBM, bandwidth: 64}
  - {name: SMEM, capacity: 4 MiB, bandwidth: 64, mesh: [8, 8]}
  compute:
  - {name: u, ops: [mac, add, sub, div, max, exp, select], below: SMEM, mesh: [16, 16]}
A

# The same with a network that brings data to several multiprocessors at once: blocks may form clusters.
sed 's/mesh: \[8, 8\]/&, network: {multicast: true, reduce: false}/' "$work/gpu.yaml" >"$work/pairs.yaml"

# KERNEL OPTION...: for $machine (gpu), emitted from its file, compiled for the emulator, and right as it is.
prepare() {
  kernel=$1
  shift
  "$tileflow" emit --quiet "$work/${machine:-gpu}.yaml" "$work/$kernel.yaml" --target cuda "$@" -o "$work/$kernel" || exit 1
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
