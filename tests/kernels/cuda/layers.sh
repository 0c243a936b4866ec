#!/bin/sh
# Layers of a current language model, small, planned for an H100: `emit` finds a mapping in which every product goes to tensor cores,
# those of one row, too; what one kernel leaves for the next is rounded where nobody wants more, and the emulator makes what the workload says.
# usage: layers.sh TILEFLOW.  Exit 77: no C++ compiler.
failed=0
. "$(dirname "$0")/begin.sh"

# NAME TYPE "PRODUCT..." "NARROW..." MERGES PARAM=VALUE...: the products that are in fragments; intermediates that cross from kernel to kernel
# rounded; results that are summed in parts, each another block's
layer() {
  name=$1 type=$2 products=$3 narrow=$4 merges=$5 at=$work/$1-$2
  shift 5
  cp "workloads/models/$name.yaml" "$at.yaml"
  for param; do
    sed -i "s/\([{ ]\)${param%=*}: [0-9]*/\1${param%=*}: ${param#*=}/" "$at.yaml"
  done
  "$tileflow" emit --quiet arch-specs/h100.yaml "$at.yaml" --target cuda --dtype "$type" --dump-ir -o "$at" >"$at.ir" || { failed=1; return; }
  for op in $products; do
    grep -q "^buffer ${op}[_a-z]* .*in fragments" "$at.ir" || { echo "FAIL: $name $type: $op is not on tensor cores"; failed=1; }
  done
  for tensor in $narrow; do
    grep -q "POINTER(uint16_t) const ${tensor} = (uint16_t \*)(workspace" "$at/kernel.cu" || { echo "FAIL: $name $type: $tensor is not rounded"; failed=1; }
  done
  [ "$(grep -c '^ *merge' "$at.ir")" = "$merges" ] || { echo "FAIL: $name $type: not $merges results in parts"; failed=1; }
  make -s -C "$at" emulate CXX=g++ CXXFLAGS="-O0 -Wall -Wextra -Wno-unused-function -Werror" >"$at.said" 2>&1 || { cat "$at.said"; failed=1; }
  echo "$name $type: $(sed -n '/error/p' "$at.said" | tr '\n' ' ')"
}
layer gated-mlp bf16 "U V Y" "" 1 tokens=16 width=24 inner=8192 # one kernel, the inner dim in steps and in parts
layer gated-mlp f16 "U V Y" G 0 tokens=16 width=136 inner=1024
layer gated-mlp tf32 "U V Y" "" 0 tokens=24 width=96 inner=200
layer norm-product f16 Y "" 0 tokens=40 width=96 out=88
layer causal-grouped bf16 "S O" "" 0 kv_heads=2 group=2 seq=70 qk_dim=32 v_dim=24
layer attention-decode bf16 "S O" "" 3 heads=2 kv_seq=4096 qk_dim=16 v_dim=24
[ $failed = 0 ]
