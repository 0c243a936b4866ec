#!/bin/sh
# Random kernels, compiled as C++ and run in the emulator, against the workload in double: products, chains and attention in all orders
# of dims (draw.awk), and, with CUDA_TEST, which draws them, as many of whatever the oracle draws: small workloads, any tree.
# GROUPS_ISA=sm_90a: such as warpgroups may take, of which more than a third must be theirs.
# Type, architecture and kind of a case are drawn each by itself; one in four has no mapping of its own, but the one that emit finds.
# KIND=conv (product, chain, attention, net): that kind alone, all drawn by draw.awk; net: networks, planned, each with several kernels.
# TALLY=FILE: a row is added for each, `isa,type,kind,seed,kernels,right|wrong|refused`.
# usage: random.sh TILEFLOW [CASES [FIRST SEED [TYPE...]]]: of these types of data, all if none is given; TYPE-wmma: by the fragments of C++.  Exit 77: no C++ compiler.
. "$(dirname "$0")/begin.sh"
cases=${2:-8} first=${3:-1}
[ $# -gt 3 ] && shift 3 || set -- bf16 f16 int8 tf32 f32 f8 bf16-wmma
here=$(dirname "$0")
flags="-O0 -Wall -Wextra -Wno-unused-function -Werror"

. "$here/gpu.sh"
. "$here/lot.sh"
gpu >"$work/gpu.yaml"
# multiprocessors to which data can come at once, so that blocks may form clusters
sed 's/mesh: \[8, 8\]/&, network: {multicast: true, reduce: false}/' "$work/gpu.yaml" >"$work/pairs.yaml"
others=0
[ "${CUDA_TEST:-}" ] && [ ! "${KIND:-}" ] && others=$((cases / 2)) && mkdir "$work/drawn" && { "$CUDA_TEST" --yaml "$work/drawn" --cases $others --seed "$first" || exit 1; }

# The folder of a case; of a network that is planned, kernels of all its groups.
write() {
  # shellcheck disable=SC2086 # the file may have an architecture of its own
  if [ "$kind" = net ]; then
    "$tileflow" plan --quiet arch-specs/h100.yaml "$at.yaml" --target cuda --dtype "$dtype" ${isa:+--isa $isa} --evals 30 --threads 1 -o "$at.plan.yaml" &&
      "$tileflow" emit --quiet "$at.plan.yaml" -o "$at"
  else
    "$tileflow" emit --quiet $arch "$at.yaml" --target cuda --dtype "${dtype%-wmma}" ${isa:+--isa $isa} -o "$at"
  fi
}

wrong=0 refused=0 split=0 seed=$first groups=0 pairs=0 turns=0
while [ "$seed" -lt $((first + cases)) ]; do
  at=$work/$seed arch=$work/gpu.yaml own=1
  pick "$seed" 1 "$@"
  dtype=$pick
  lot "$seed" 2 2
  [ "${GROUPS_ISA:-}" ] && [ "$lot" = 1 ] && arch=$work/pairs.yaml
  lot "$seed" 3 4
  [ ! "${GROUPS_ISA:-}" ] && [ "$lot" = 0 ] && own=
  if [ $((seed - first)) -lt $others ]; then
    # an architecture of its own, which has memories as few and as small as the oracle likes them
    kind=oracle
    oracle "$work/drawn/$((seed - first + 1)).yaml" >"$at.yaml"
    [ "$own" ] && arch= || { sed -n '/^workload:/,$p' "$at.yaml" >"$at.w" && mv "$at.w" "$at.yaml"; }
  else
    bytes=
    [ "${GROUPS_ISA:-}" ] && [ "$dtype" = f8 ] && bytes=1
    awk -v seed="$seed" -v groups="${GROUPS_ISA:+1}" -v bytes=$bytes -v kind="${KIND:-}" -f "$here/draw.awk" >"$at.yaml"
    kind=$(sed -n '1s/^# //p' "$at.yaml")
  fi
  [ "$own" ] || sed -i '/^mapping:/,$d' "$at.yaml"
  isa=${GROUPS_ISA:-}
  case $dtype in *-wmma) isa=wmma ;; esac
  what=right
  write 2>"$at.said" && {
    # the emulation is the same for all: compiled once
    [ -f "$work/emulate.hpp.gch" ] || g++ -std=c++17 -DTILEFLOW_EMULATE -Wno-unknown-pragmas $flags -x c++-header -o "$work/emulate.hpp.gch" "$at/emulate.hpp"
    ln "$work/emulate.hpp.gch" "$at/"
    TILEFLOW_SEED=$seed make -s -C "$at" emulate CXX=g++ CFLAGS=-O0 CXXFLAGS="$flags" >"$at.said" 2>&1
  } || { grep -q 'blocks of a grid keep nothing\|error\[E_FANOUT\]' "$at.said" && refused=$((refused + 1)) what=refused; } || {
    what=wrong
    echo "FAIL: seed $seed $dtype"
    cat "$at.said" "$at.yaml"
    wrong=$((wrong + 1))
  }
  [ "${TALLY:-}" ] && echo "${isa:-sm_80},${dtype%-wmma},$kind,$seed,$(find "$at" -name '*.cu' ! -name bench.cu ! -name network.cu 2>/dev/null | wc -l),$what" >>"$TALLY"
  grep -q 'for (int64_t part_' "$at/kernel.cu" 2>/dev/null && split=$((split + 1))
  [ -f "$at/hopper.hpp" ] && groups=$((groups + 1))
  grep -q START_CLUSTERS.part "$at/kernel.cu" 2>/dev/null && pairs=$((pairs + 1))
  grep -q blocks_begun "$at/kernel.cu" 2>/dev/null && turns=$((turns + 1))
  rm -rf "$at"
  seed=$((seed + 1))
done
echo "$cases random kernels, $split of them with sums in parts, $wrong wrong, $refused that emit refuses${GROUPS_ISA:+, $groups of warpgroups, $pairs with clusters, $turns in turn}"
[ "$wrong" = 0 ] && { [ ! "${GROUPS_ISA:-}" ] || [ $((groups * 3)) -gt "$cases" ]; }
