#!/bin/sh
# The operators of workloads/operators as kernels for a GPU, planned for an H100 and run in the emulator against the workload in double: the cases of
# cases.csv, the largest of each one's params halved until it has no more points than the emulator makes in seconds.
# usage: operators.sh TILEFLOW [STEP [FIRST [POINTS [TYPE]]]]     every STEP-th case from the FIRST (1 1), of at most POINTS (500000), in TYPE (bf16).
# Exit 77: no C++ compiler.
. "$(dirname "$0")/begin.sh"
step=${2:-1} first=${3:-1} points=${4:-500000} type=${5:-bf16}
flags="-O1 -Wall -Wextra -Wno-unused-function -Werror"

# KIND "PARAM=VALUE ...": these smaller, as options.  Points are at most the product of all but strides, of images H x H and windows win x win (volumes: D x H x H).
smaller() {
  echo "$2" | awk -v kind="$1" -v most="$points" '{
    for (i = 1; i <= NF; i++) { split($i, at, "="); name[i] = at[1]; value[i] = at[2] }
    volume = kind ~ /3d/; image = volume || kind ~ /2d|grp|dep|dil|sho|bcv|cap/
    for (;;) {
      all = kind == "cap" ? 64 : 1; largest = 0
      for (i = 1; i <= NF; i++) {
        fixed = name[i] == "st" || name[i] == "dil"
        all *= fixed ? 1 : value[i] ^ (name[i] == "win" ? 1 + image + volume : name[i] == "H" ? 1 + image : 1)
        if (!fixed && name[i] !~ /^(win|F|G|batch)$/ && (!largest || value[i] > value[largest])) largest = i
      }
      if (all <= most || value[largest] <= 8) break
      value[largest] = int((value[largest] + 1) / 2)
    }
    for (i = 1; i <= NF; i++) printf "--set %s=%s ", name[i], value[i]
  }'
}

failed=0 run=0 tensor=0 n=0
while IFS=, read -r kind name params; do
  case $kind in \#*) continue ;; esac
  n=$((n + 1))
  [ $((n % step)) = $((first % step)) ] || continue
  at=$work/$kind-$name set=$(smaller "$kind" "$params")
  # shellcheck disable=SC2086 # options
  "$tileflow" emit --quiet arch-specs/h100.yaml "workloads/operators/$kind.yaml" $set --target cuda --dtype "$type" -o "$at" >"$at.said" 2>&1 </dev/null && {
    # the emulation is the same for all: compiled once
    [ -f "$work/emulate.hpp.gch" ] || g++ -std=c++17 -DTILEFLOW_EMULATE -Wno-unknown-pragmas $flags -x c++-header -o "$work/emulate.hpp.gch" "$at/emulate.hpp"
    ln "$work/emulate.hpp.gch" "$at/"
    make -s -C "$at" emulate CXX=g++ CFLAGS=-O1 CXXFLAGS="$flags" >"$at.said" 2>&1 </dev/null
  } || {
    echo "FAIL: $kind $name $set"
    cat "$at.said"
    failed=$((failed + 1))
  }
  grep -q 'machine code [1-9][0-9]* MMA' "$at/kernel.cu" 2>/dev/null && tensor=$((tensor + 1)) && units=tensor || units=plain
  echo "$kind $name $set: $units: $(grep error "$at.said" | head -1)"
  run=$((run + 1))
  rm -rf "$at"
done <workloads/operators/cases.csv
echo "$run operators in $type, $tensor of them on tensor cores, $failed wrong"
[ "$run" -gt 0 ] && [ $failed = 0 ]
