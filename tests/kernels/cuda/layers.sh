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
  from=$work/$name.yaml
  [ -f "$from" ] || from=workloads/models/$name.yaml
  cp "$from" "$at.yaml"
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
layer gated-mlp f16 "U V Y" G 0 tokens=40 width=136 inner=200
layer gated-mlp tf32 "U V Y" "" 1 tokens=24 width=96 inner=2048
layer norm-product f16 Y "" 0 tokens=40 width=96 out=88
layer causal-grouped bf16 "S O" "" 0 kv_heads=2 group=2 seq=70 qk_dim=32 v_dim=24
layer attention-decode bf16 "S O" "" 3 heads=2 kv_seq=4096 qk_dim=16 v_dim=24
# Warps have keys of every step each, and its sums are a part.
sed -n '/warp i_m_[0-9]* < 8/,$p' "$work/attention-decode-bf16.ir" | grep -q 'keys_[0-9]* = sum(l_[0-9]*, 16 \* i_m_' || { echo "FAIL: attention-decode: warps do not share keys"; failed=1; }

# Decoding without a dim of queries: a row for each head; and with the heads of a group as rows.
sed 's/, m: seq//; s/,m,/,/g; s/,m\]/]/g' workloads/models/attention-decode.yaml >"$work/decode-heads.yaml"
layer decode-heads bf16 "S O" "" 3 heads=3 kv_seq=4096 qk_dim=16 v_dim=24
layer decode-heads tf32 "S O" "" 3 heads=3 kv_seq=200 qk_dim=40 v_dim=24
sed 's/, m: seq//; s/,m,/,/g; s/,m\]/]/g; /select/d; s/T\[/S[/g;' workloads/models/causal-grouped.yaml >"$work/decode-groups.yaml"
layer decode-groups bf16 "S O" "" 0 kv_heads=2 group=3 seq=200 qk_dim=32 v_dim=24

# Heads of attention projected: two dims are summed over, one of them step by step; a residual, and what norms rows of more columns than
# a block has: a kernel of its own.
cat >"$work/heads-out.yaml" <<'Y'
params: {tokens: 512, width: 1024, heads: 8, v_dim: 128}
workload:
  name: heads-out
  dims: {t: tokens, d: width, h: heads, a: v_dim}
  ops:
  - Y[t,d] += O[h,t,a] * W[h,a,d]
  - R[t,d] = Y[t,d] + X[t,d]
  - S[t] += R[t,d] * R[t,d]
  - F[t] = 1 / sqrt(S[t] / width + 0.00001)
  - N[t,d] = R[t,d] * F[t] * G[d]
Y
layer heads-out bf16 Y "" 0 tokens=70 width=136 heads=3 v_dim=40
layer heads-out tf32 Y "" 0 tokens=40 width=72 heads=3 v_dim=24
cat >"$work/logits.yaml" <<'Y'
params: {tokens: 64, width: 1024, words: 8192}
workload:
  name: logits
  dims: {t: tokens, d: width, v: words}
  ops:
  - S[t,v] += X[t,d] * W[v,d]
  - M[t] max= S[t,v]
  - E[t,v] = exp(S[t,v] - M[t])
  - Z[t] += E[t,v]
  - P[t,v] = E[t,v] / Z[t]
Y
layer logits bf16 S "" 0 tokens=20 width=40 words=2000
[ $failed = 0 ]
