#!/bin/sh
# CUDA kernels, compiled as C++ and run by `make emulate` in their folders, against the workload in double; and the words that they copy
# against the model's for the mapping.  Exit 77: no C++ compiler.
# usage: run.sh TILEFLOW
set -e
. "$(dirname "$0")/begin.sh"
. tests/kernels/cuda/gpu.sh

arch() { gpu | sed 's/mesh: \[8, 8\]/&, network: {multicast: false, reduce: false}/'; }

# What the kernel moved between global memory and its blocks, of each tensor named: as many words as the model says for HBM; `T:once`: each
# word of T once, where the kernel keeps what the mapping loads again.
words() {
  "$tileflow" eval --csv - "$work/$1.yaml" >"$work/model" 2>/dev/null || [ $? = 3 ]
  for tensor in $2; do
    awk -F, -v tensor="${tensor%:*}" -v once="${tensor#*:}" -v name="$1" '
      FNR == NR { if ($4 == "tensor" && $5 == "HBM" && $6 == tensor) want = once == "once" ? $9 : $11 + ($11 ? 0 : $12); next }
      !seen && $1 ~ "^words " tensor ":" { gsub(/[^0-9,]/, ""); split($0, n, ","); got = n[1] + n[2] + n[3]; seen = 1 }
      END { if (!seen || got != want) { print "FAIL: " name ": " got " words of " tensor ", the model has " want; exit 1 } }' \
      "$work/model" "$work/said" || { cat "$work/said"; exit 1; }
  done
}

# NAME, TENSORS, OPTION..., then the workload and its mapping on stdin: emitted, compiled, run, its words counted.
check() {
  name=$1 tensors=$2
  shift 2
  { arch; cat; } >"$work/$name.yaml"
  "$tileflow" emit --quiet "$work/$name.yaml" --target cuda "$@" -o "$work/$name"
  set -- "$name"
  TILEFLOW_WORDS=1 make -s -C "$work/$1" emulate CXX=g++ CXXFLAGS="-O0 -Wall -Wextra -Wno-unused-function -Werror" >"$work/said" 2>&1 ||
    { echo "FAIL: $1"; cat "$work/said"; exit 1; }
  words "$name" "$tensors"
  echo "$name: $(sed -n '/error/p' "$work/said" | tr '\n' ' ')"
}

gemm "m: 140, n: 150, k: 43" "spatial m=3@x n=3@y" "for m=47 n=50 k=43" | check gemm "A B C"
# Blocks as large as the target would make them itself: smaller ones it takes together.
large=$(gemm "m: 250, n: 251, k: 21" "spatial m=2@x n=2@y" "for m=125 n=126 k=21")
echo "$large" | check gemm-int8 "A B C" --dtype int8
echo "$large" | check gemm-tf32 "A B C" --dtype tf32

# Four blocks for the sums of each output, and a kernel that puts them together.
echo "$large" | sed 's/k: 21/k: 84/; s/n=2@y/n=2@y k=4@x/' | check split "A B" --dtype bf16

# Four blocks for the sums of the last product alone, which the kernel that puts them together divides.
for dtype in f32 bf16; do
  check divided-$dtype "V" --dtype $dtype <<'EOF'
workload:
  name: divided
  dims: {m: 20, l: 96, n: 12}
  ops:
  - "X[m] max= S[m,l]"
  - "E[m,l] = exp(0.5 * (S[m,l] - X[m]))"
  - "Z[m] += E[m,l]"
  - "O[m,n] += E[m,l] / Z[m] * V[l,n]"
mapping: |
  HBM
    Seq stream X Z O
      SMEM for m=20 l=96
        op X
      SMEM for m=20 l=96
        op E
      SMEM for m=20 l=96
        op Z
      HBM spatial l=4@x
        SMEM for m=20 l=24 n=12
          op O
EOF
done

# The baseline takes 64 x 128 at a time, and B again for the rows below.
echo "$large" | check wmma "A C" --dtype bf16 --isa wmma

# Nine products: a kernel each where they have nothing in common, else one, in which each has its tiles where those of the one before it were.
# No GPU has room for all at a time.
for dims in "$(seq -s, 9 | sed 's/\([0-9]\)/m\1: 256, k\1: 256, n\1: 256/g')" "m: 256, k: 256, n: 256"; do
  {
    arch
    printf 'workload:\n  name: nine\n  dims: {%s}\n  ops:\n' "$dims"
    for i in 1 2 3 4 5 6 7 8 9; do
      j=$i
      [ "$dims" = "m: 256, k: 256, n: 256" ] && j=
      echo "  - \"C$i[m$j,n$j] += A$i[m$j,k$j] * B$i[k$j,n$j]\""
    done
  } >"$work/nine.yaml"
  rm -rf "$work/nine"
  "$tileflow" emit --quiet "$work/nine.yaml" --target cuda --dtype bf16 -o "$work/nine"
  awk -F'[:,]' '/"shared_words"/ { words = $2 + 0 } END { if (!words || words > 163 * 256) { print "FAIL: nine products share " words " words"; exit 1 } }' "$work/nine/manifest.json"
done

check chain "A B D E" <<'Y'
workload:
  name: chain
  dims: {b: 2, m: 67, l: 40, k: 33, n: 50}
  ops:
  - "C[b,m,l] += A[b,m,k] * B[b,k,l]"
  - "R[b,m,l] = relu(C[b,m,l])"
  - "E[b,m,n] += R[b,m,l] * D[b,l,n]"
mapping: |
  HBM for b=2 m=3
    Seq keep C@SMEM R@SMEM
      SMEM for m=23 l=40 k=33
        op C
      SMEM for m=23 l=40
        op R
      SMEM for m=23 n=50 l=40
        op E
Y

# What C and E have of a row is together more than the registers hold: C goes to shared memory between them.
check product-product "B D" --dtype bf16 <<'Y'
workload:
  name: product-product
  dims: {m: 64, l: 240, k: 20, n: 100}
  ops:
  - "C[m,l] += A[m,k] * B[k,l]"
  - "E[m,n] += C[m,l] * D[l,n]"
mapping: |
  HBM for m=2
    Seq keep C@SMEM
      SMEM for m=32 l=240 k=20
        op C
      SMEM for m=32 n=100 l=240
        op E
Y

dims="h: 2, m: 40, l: 36, a: 19, n: 21"
attention "$dims" "for h=2 m=2" "" 20 36 19 21 | check attention "Q K V O"
attention "$dims" "for h=2 m=2 l=3" "stream X Z O" 20 12 19 21 >"$work/streamed.text"
check streamed "Q K V" <"$work/streamed.text"
check streamed-bf16 "Q:once K V O:once" --dtype bf16 <"$work/streamed.text"

# Of masked attention only steps of keys are done, and their tiles come, that the mask leaves something of: as many words as the model says,
# which leaves the same out; behind the last key of a block's rows, and before the first of a window. The last rows and keys are fewer.
for mask in "l <= m" "l <= m and m - l < 70" "l - m < 40 and m - l < 40"; do
  attention "h: 2, m: 440, l: 440, a: 24, n: 16" "for h=2 m=4 l=11" "T@SMEM stream X Z O" 128 40 24 16 | causal 128 40 | sed "s/l <= m/$mask/" |
    check masked "K V O:once" --dtype bf16
  grep -q "of steps that are not masked" "$work/masked/kernel.cu" || { echo "FAIL: masked: all steps are done"; exit 1; }
  rm -rf "$work/masked"
done

check conv "" <<'Y'
workload:
  name: conv
  dims: {k: 18, c: 10, h: 14, w: 15, r: 3, s: 3}
  tensors:
    I: {pad: [0, 1, 1]}
  ops:
  - "O[k,h,w] += I[c,h+r-1,w+s-1] * W[k,c,r,s]"
mapping: |
  HBM for k=2 h=2
    SMEM for k=9 h=7 w=15 c=10 r=3 s=3
      op O
Y

# What is too small for its type may be lost, in intermediates, too; by more an output is wrong.
for type in f16 f32; do
  case $type in f16) power=20 small=0x1p-20 ;; *) power=210 small=0x1p-100 ;; esac
  check "tiny-$type" "" --dtype $type <<Y
workload:
  name: tiny
  dims: {i: 32, k: 48, n: 24, p: $power}
  ops:
  - "P[i,k] *= A[i,k,p]"
  - "C[i,n] += P[i,k] * B[k,n]"
mapping: |
  HBM for i=1
    Seq keep P@SMEM
      SMEM for i=32 k=48 p=$power
        op P
      SMEM for i=32 n=24 k=48
        op C
Y
  grep -q 'too small for its type' "$work/said" || { echo "FAIL: tiny-$type: not below its type's numbers"; cat "$work/said"; exit 1; }
  sed -i "s/, got = /&$small + /" "$work/tiny-$type/test.c"
  ! make -s -C "$work/tiny-$type" emulate CXX=g++ >"$work/said" 2>&1 || { echo "FAIL: tiny-$type: $small off is right"; exit 1; }
done
