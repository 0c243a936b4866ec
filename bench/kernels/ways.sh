#!/bin/sh
# ResNet-18's C0 to C11 in int8 and bfloat16 on one core: the first choice, the planner's choice with either mapping onto the instruction, and N
# random schedules of each mapping, what two models say of them and what they take, beside oneDNN.  CSV on stdout; what there is of it already in
# OLD.csv is kept, the rest is measured.
#   bench/kernels/ways.sh BUILD HOST.yaml N [OLD.csv [LAYER...]]     HOST.yaml: of `tileflow import --host --cores 1`; LAYER: int8-c4
# DNNL_ROOT: oneDNN 3, with include and lib.  BATCH: 1.  Timed under a lock, all kernels of a layer in turn.
set -u
build=$1 host=$2 most=$3 old=${4:-/dev/null}
[ $# -gt 4 ] && shift 4 || set -- $(for t in int8 bf16; do for l in 0 1 2 3 4 5 6 7 8 9 10 11; do echo "$t-c$l"; done; done)
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM
dnnl="-I $DNNL_ROOT/include -L $DNNL_ROOT/lib -Wl,-rpath,$DNNL_ROOT/lib"
gcc -std=gnu17 -O1 -I "$root/include" -I "$build/include" "$root/bench/kernels/ways.c" -L "$build" -Wl,-rpath,"$(cd "$build" && pwd)" -ltileflow -o "$scratch/ways" || exit 1
echo "layer,type,way,lanes,how,predicted,model,kernel,thesis,seconds,least,early,late"
for case in "$@"; do
  type=${case%-*} layer=${case#*-c}
  if grep -q "^C$layer,$type," "$old"; then
    grep "^C$layer,$type," "$old"
    continue
  fi
  at=$scratch/$case file=$root/workloads/conv/resnet18-c$layer.yaml
  sed "s/batch: 16/batch: ${BATCH:-1}/" "$file" >"$scratch/layer.yaml"
  file=$scratch/layer.yaml
  isa=avx512_vnni && [ "$type" = bf16 ] && isa=avx512_bf16
  mkdir "$at" && "$scratch/ways" "$at" "$most" "$type" "$isa" "$host" "$file" "$root/arch-specs/instructions/x86.yaml" >"$at/said" || continue
  number() { sed -n "s/^params:.*[{ ]$1: \([0-9]*\).*/\1/p" "$file"; }
  shape="-DOF_N=${BATCH:-1} -DOF_C=$(number C) -DOF_H=$(number H) -DOF_W=$(number W) -DOF_K=$(number K) -DOF_R=$(number R) -DOF_ST=$(number st) -DOF_PAD=$(($(number R) / 2))"
  n=$(grep -cE "planned|drawn" "$at/said") i=0
  : >"$at/shape.h"
  objects=
  while [ $i -lt $n ]; do
    flags=$(sed -n 's/^ANY = -std=c17 \$(CFLAGS) \$(OPENMP)$//p; s/^ALL = \(.*\)\$(ANY)$/\1/p' "$at/w$i/Makefile")
    [ -s "$at/w$i/kernel.o" ] || nice -n 15 gcc -std=c17 -O3 $flags -c "$at/w$i/kernel.c" -o "$at/w$i/kernel.o" || exit 1
    objects="$objects $at/w$i/kernel.o"
    printf '#include "w%d/kernel.h"\nWAY_BEGIN(%d)\n' "$i" "$i" >>"$at/shape.h"
    grep -q "w${i}_pack(" "$at/w$i/kernel.h" && echo "WAY_PACK($i)" >>"$at/shape.h"
    echo "WAY_END" >>"$at/shape.h"
    i=$((i + 1))
  done
  { echo "static void ready_all(void) {"; i=0; while [ $i -lt $n ]; do echo "  ready$i();"; i=$((i + 1)); done; echo "}"; } >>"$at/shape.h"
  define=-DTYPE_INT8 && [ "$type" = bf16 ] && define=-DTYPE_BF16
  gcc -std=gnu17 -O2 $define $shape -I "$at" -I "$root/bench/kernels" $dnnl "$root/bench/kernels/ways_run.c" $objects -ldnnl -lm -o "$at/run" || exit 1
  rm -rf "$at"/w*/*.c "$at"/w*/kernel.o
done
export OMP_NUM_THREADS=1
flock /tmp/bench.lock sh -c 'for run in "$0"/*/run; do [ -x "$run" ] && timeout 120 "$run" >"${run%run}took"; done' "$scratch"
for case in "$@"; do
  type=${case%-*} layer=${case#*-c} at=$scratch/$case
  [ -s "$at/took" ] || continue
  awk -F, -v of="C$layer,$type" 'NR == FNR { took[$1] = $2 "," $3 "," $4 "," $5; next } FNR > 1 { print of "," $0 "," took[$1] }
    END { print of ",,,oneDNN,,,,," took["oneDNN"] }' "$at/took" "$at/said"
done
