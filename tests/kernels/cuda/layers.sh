#!/bin/sh
# Layers of a current language model, small, planned for an H100: `emit` finds a mapping in which every product but those of one row goes
# to tensor cores, what one kernel leaves for the next is rounded where nobody wants more, and the emulator makes what the workload says.
# usage: layers.sh TILEFLOW.  Exit 77: no C++ compiler.
tileflow=$1 failed=0
command -v g++ >/dev/null || { echo "SKIP: no g++"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# NAME TYPE "PRODUCT..." "NARROW..." PARAM=VALUE...: the products that are in fragments; intermediates that cross from kernel to kernel rounded
layer() {
  name=$1 type=$2 products=$3 narrow=$4 at=$work/$1-$2
  shift 4
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
  make -s -C "$at" emulate CXX=g++ CXXFLAGS="-O0 -Wall -Wextra -Wno-unused-function -Werror" >"$at.said" 2>&1 || { cat "$at.said"; failed=1; }
  echo "$name $type: $(sed -n '/error/p' "$at.said" | tr '\n' ' ')"
}
layer gated-mlp bf16 "U V Y" G tokens=24 width=96 inner=200
layer gated-mlp tf32 "U V Y" "" tokens=24 width=96 inner=200
layer norm-product f16 Y "" tokens=40 width=96 out=88
layer causal-grouped bf16 "S O" "" kv_heads=2 group=2 seq=70 qk_dim=32 v_dim=24
layer attention-decode bf16 "" "" heads=3 kv_seq=200 qk_dim=32 v_dim=40
[ $failed = 0 ]
