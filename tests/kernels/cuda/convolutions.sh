#!/bin/sh
# Convolutions on tensor cores, compiled as C++ and run by `make emulate` in their folders, against the workload in double: rows of a
# product are pixels along several dims.  Those that must be of warpgroups are, others say why not.
# usage: convolutions.sh TILEFLOW.  Exit 77: no C++ compiler.
set -e
. "$(dirname "$0")/plant.sh"

# NAME TYPE DIMS OPS BLOCKS TILE [WHY]: one op, or two, the second of which is done at the first one's points; TENSORS are those with a pad.
convolution() {
  name=$1 type=$2
  {
    printf 'workload:\n  name: %s\n  dims: {%s}\n  tensors: {%s}\n  ops:\n%s\nmapping: |\n  HBM for %s\n' "$1" "$3" "$TENSORS" "$4" "$5"
    case $4 in
    *'C['*) printf '    Seq keep C@SMEM\n      SMEM for %s\n        op C\n      SMEM for %s\n        op O\n' "$6" "$(echo "$6" | sed 's/ [crs]=[0-9]*//g')" ;;
    *) printf '    SMEM for %s\n      op O\n' "$6" ;;
    esac
  } >"$work/$name.yaml"
  prepare "$name" --dtype "$type" --isa "${isa:-sm_90a}"
  TILEFLOW_SEED=2 "$work/$name/emulate" >"$work/said" 2>&1 || { echo "FAIL: $name"; cat "$work/said"; exit 1; } # after `make`'s own
  why=$(sed -n 's/.*No warpgroups: \(.*\)\. \*\/$/\1/p' "$work/$name/kernel.cu")
  [ "$why" = "$7" ] || { echo "FAIL: $name: of warpgroups, or why not: '$why', not '$7'"; exit 1; }
  echo "$name: $(sed -n '/error/p' "$work/said" | tr '\n' ' ') $why"
}

has() { grep -q "$2" "$work/$1/kernel.cu" || { echo "FAIL: $1: no $2"; exit 1; }; }

TENSORS='I: {pad: [0, 1, 1, 0]}'
window='I[n,p+r-1,q+s-1,c]'
# 98 of 128 rows, in clusters; the last blocks reach behind the image.
convolution same bf16 'n: 2, p: 16, q: 14, k: 64, c: 64, r: 3, s: 3' "  - O[n,p,q,k] += $window * W[k,r,s,c]" 'n=2 p=3' 'p=7 q=14 k=64 c=64 r=3 s=3'
# A bias, what is added, and a relu at the pixels; both warpgroups' halves of the box leave by boxes; a block's last sum in two pieces.
convolution behind f16 'n: 1, p: 12, q: 16, k: 72, c: 72, r: 3, s: 3' "  - C[n,p,q,k] += $window * W[k,r,s,c]
  - O[n,p,q,k] = max(C[n,p,q,k] + b[k] + X[n,p,q,k], 0)" 'p=2' 'p=8 q=16 k=72 c=72 r=3 s=3'
has behind store_box
# Blocks in turn.
convolution turns bf16 'n: 3, p: 8, q: 8, k: 64, c: 64, r: 3, s: 3' "  - C[n,p,q,k] += $window * W[k,r,s,c]
  - O[n,p,q,k] = max(C[n,p,q,k] + b[k], 0)" 'n=3' 'p=8 q=8 k=64 c=64 r=3 s=3'
has turns blocks_begun
has turns store_box
# In steps of 2, weights with columns innermost.
TENSORS='I: {pad: [0, 1, 1, 0], shape: [2, 28, 28, 128]}'
convolution stride bf16 'n: 2, p: 14, q: 14, k: 32, c: 128, r: 3, s: 3' '  - O[n,p,q,k] += I[n,2*p+r-1,2*q+s-1,c] * W[r,s,c,k]' 'n=2 p=2' 'p=7 q=14 k=32 c=128 r=3 s=3'
# Dilated; ends that boxes do not divide, of both dims and of the sum.
TENSORS='I: {pad: [0, 2, 2, 0]}'
convolution dilated f16 'n: 1, p: 20, q: 20, k: 40, c: 72, r: 3, s: 3' '  - O[n,p,q,k] += I[n,p+2*r-2,q+2*s-2,c] * W[k,r,s,c]' 'p=3 q=2' 'p=8 q=16 k=40 c=72 r=3 s=3'
# 1 x 1: pixels of two images.
TENSORS=
convolution point bf16 'n: 4, p: 7, q: 7, k: 64, c: 136' '  - O[n,p,q,k] += I[n,p,q,c] * W[c,k]' 'n=2' 'n=2 p=7 q=7 k=64 c=136'
# Grouped, of 16 channels; along one dim; along three.
TENSORS='I: {pad: [0, 1, 1, 0, 0]}'
convolution grouped bf16 'n: 1, p: 14, q: 14, g: 3, k: 16, c: 16, r: 3, s: 3' '  - O[n,p,q,g,k] += I[n,p+r-1,q+s-1,g,c] * W[g,k,r,s,c]' 'g=3 p=2' 'p=7 q=14 k=16 c=16 r=3 s=3'
TENSORS='I: {pad: [0, 2, 0]}'
convolution line f16 'n: 2, p: 200, k: 64, c: 64, r: 5' '  - O[n,p,k] += I[n,p+r-2,c] * W[k,r,c]' 'n=2 p=2' 'p=100 k=64 c=64 r=5'
TENSORS='I: {pad: [0, 1, 1, 1, 0]}'
convolution volume bf16 'n: 1, t: 4, p: 8, q: 8, k: 64, c: 32, u: 3, r: 3, s: 3' '  - O[n,t,p,q,k] += I[n,t+u-1,p+r-1,q+s-1,c] * W[k,u,r,s,c]' 't=2' 't=2 p=8 q=8 k=64 c=32 u=3 r=3 s=3'
# Depthwise: pairs of channels from a box of the input in shared memory; two blocks' halves of an odd number of channels; steps of 2, dilated,
# along one dim; channels with two outputs each; channels before pixels.
TENSORS='I: {pad: [0, 1, 1, 0]}'
convolution depthwise bf16 'n: 2, p: 13, q: 19, c: 40, r: 3, s: 3' '  - O[n,p,q,c] += I[n,p+r-1,q+s-1,c] * W[r,s,c]' 'n=2 p=2 q=3' 'p=7 q=7 c=40 r=3 s=3'
has depthwise 'get_pair(two, at'
TENSORS='I: {pad: [0, 2, 2, 0], shape: [2, 17, 23, 75]}'
convolution pairs f16 'n: 2, p: 9, q: 12, c: 75, r: 3, s: 2' '  - O[n,p,q,c] += I[n,2*p+2*r-2,2*q+s-2,c] * W[c,r,s]' 'n=2 c=2' 'p=9 q=12 c=38 r=3 s=2'
has pairs 'get_pair(two, at'
TENSORS='I: {pad: [0, 2, 0]}'
convolution row bf16 'n: 2, p: 130, c: 24, r: 5' '  - O[n,p,c] += I[n,p+r-2,c] * W[r,c]' 'n=2 p=2' 'p=65 c=24 r=5'
has row 'get_pair(two, at'
TENSORS='I: {pad: [0, 1, 1, 0]}'
convolution several bf16 'n: 1, p: 9, q: 9, c: 20, m: 2, r: 3, s: 3' '  - O[n,p,q,c,m] += I[n,p+r-1,q+s-1,c] * W[r,s,c,m]' 'p=3' 'p=3 q=9 c=20 m=2 r=3 s=3' 'it does more than a region of warps can'
has several 'get_pair(two, at'
TENSORS='I: {pad: [0, 0, 1, 1]}'
convolution first f16 'n: 2, p: 9, q: 13, c: 40, r: 3, s: 3' '  - O[n,c,p,q] += I[n,c,p+r-1,q+s-1] * W[c,r,s]' 'n=2 q=2' 'p=9 q=7 c=40 r=3 s=3'
has first 'get_pair(two, at'
# Transposed, with a stride of 2: a phase's pixels have every other of the weights, of which the last may be behind the tensor's end.
TENSORS='I: {pad: [0, 1, 1, 0]}'
phases='  - C[n,f,g,p,q,k] += I[n,p-r,q-s,c] * W[k,2*r+f,2*s+g,c]
  - O[n,p,f,q,g,k] = C[n,f,g,p,q,k]'
convolution phases bf16 'n: 2, p: 16, q: 14, f: 2, g: 2, k: 64, c: 32, r: 2, s: 2' "$phases" 'n=2 f=2 g=2 p=2' 'p=8 q=14 k=64 c=32 r=2 s=2'
TENSORS='I: {pad: [0, 1, 1, 0]}, W: {pad: [1, 1, 0, 0], shape: [3, 3, 40, 64]}'
convolution phases-turned f16 'n: 1, p: 14, q: 14, f: 2, g: 2, k: 64, c: 40, r: 2, s: 2' "$(echo "$phases" | sed 's/W\[.*/W[2*r+f,2*s+g,c,k]/')" 'f=2 g=2 p=2' 'p=7 q=14 k=64 c=40 r=2 s=2' \
  'columns of a product that are no matrix of a tensor'
# What boxes do not take: channels that are not innermost, in either operand; longer steps.
TENSORS='I: {pad: [0, 0, 1, 1]}'
convolution planes bf16 'n: 1, p: 14, q: 28, k: 64, c: 32, r: 3, s: 3' '  - O[n,k,p,q] += I[n,c,p+r-1,q+s-1] * W[k,r,s,c]' 'p=2 q=2' 'p=7 q=14 k=64 c=32 r=3 s=3' \
  "rows of several dims whose operand does not have the sum's neighbours side by side (channels last)"
TENSORS='I: {pad: [0, 1, 1, 0]}'
convolution apart bf16 'n: 2, p: 16, q: 14, k: 64, c: 32, r: 3, s: 3' "  - O[n,p,q,k] += $window * W[k,c,r,s]" 'n=2 p=3' 'p=7 q=14 k=64 c=32 r=3 s=3' \
  'columns of a product that are no matrix of a tensor'
TENSORS=
convolution far bf16 'n: 1, p: 16, q: 16, k: 64, c: 32' '  - O[n,p,q,k] += I[n,9*p,9*q,c] * W[k,c]' 'p=2 q=2' 'p=8 q=8 k=64 c=32' \
  'rows in steps of more than 8, or across more than 256 elements'

# By mma.sync: rows of a tile come from pixels, pieces of 16 bytes of channels at a time, or an element where these stand apart; so do
# weights with the window innermost.
isa=sm_80
TENSORS='I: {pad: [0, 1, 1, 0]}'
convolution mma-behind bf16 'n: 2, p: 12, q: 14, k: 40, c: 72, r: 3, s: 3' "  - C[n,p,q,k] += $window * W[k,r,s,c]
  - O[n,p,q,k] = max(C[n,p,q,k] + b[k] + X[n,p,q,k], 0)" 'n=2 p=3' 'p=5 q=14 k=40 c=72 r=3 s=3'
TENSORS='I: {pad: [0, 2, 2, 0], shape: [1, 24, 24, 32]}'
convolution mma-steps tf32 'n: 1, p: 12, q: 12, k: 32, c: 32, r: 3, s: 3' '  - O[n,p,q,k] += I[n,2*p+2*r-2,2*q+2*s-2,c] * W[r,s,c,k]' 'p=2' 'p=6 q=12 k=32 c=32 r=3 s=3'
TENSORS='I: {pad: [0, 0, 1, 1]}'
convolution mma-planes f16 'n: 2, p: 14, q: 14, k: 48, c: 40, r: 3, s: 3' '  - O[n,k,p,q] += I[n,c,p+r-1,q+s-1] * W[k,c,r,s]' 'n=2 p=2' 'p=7 q=14 k=48 c=40 r=3 s=3'
convolution mma-bytes int8 'n: 1, p: 14, q: 14, k: 48, c: 64, r: 3, s: 3' '  - O[n,k,p,q] += I[n,c,p+r-1,q+s-1] * W[k,r,s,c]' 'p=2' 'p=7 q=14 k=48 c=64 r=3 s=3'
# Of three channels: all of the window in one sum.
TENSORS='I: {pad: [0, 3, 3, 0], shape: [1, 28, 28, 3]}'
convolution mma-first bf16 'n: 1, p: 14, q: 14, k: 24, c: 3, r: 7, s: 7' '  - O[n,p,q,k] += I[n,2*p+r-3,2*q+s-3,c] * W[k,r,s,c]' 'p=2' 'p=7 q=14 k=24 c=3 r=7 s=7'
has mma-first copy_one
# And of so large a window that it is gone through in steps of one dim.
TENSORS='I: {pad: [0, 0, 3, 3, 3], shape: [1, 3, 4, 16, 16]}'
convolution mma-volume bf16 'n: 1, k: 16, o: 2, p: 8, q: 8, c: 3, t: 7, r: 7, s: 7' '  - O[n,k,o,p,q] += I[n,c,2*o+t-3,2*p+r-3,2*q+s-3] * W[k,c,t,r,s]' 'p=2' 'o=2 p=4 q=8 k=16 c=3 t=7 r=7 s=7'
has mma-volume copy_one
TENSORS='I: {pad: [0, 0, 1, 1]}, W: {pad: [0, 0, 1, 1], shape: [40, 24, 3, 3]}'
convolution mma-phases f16 'n: 1, p: 12, q: 14, f: 2, g: 2, k: 24, c: 40, r: 2, s: 2' '  - C[n,f,g,k,p,q] += I[n,c,p-r,q-s] * W[c,k,2*r+f,2*s+g]
  - O[n,k,p,f,q,g] = C[n,f,g,k,p,q]' 'f=2 g=2 p=2' 'p=6 q=14 k=24 c=40 r=2 s=2'
TENSORS=
convolution mma-images bf16 'n: 6, p: 7, q: 7, k: 64, c: 72' '  - O[n,p,q,k] += I[n,p,q,c] * W[c,k]' 'n=3' 'n=2 p=7 q=7 k=64 c=72'
for each in behind steps planes bytes phases images; do
  has "mma-$each" 'load_matrices(fa'
  has "mma-$each" 'row / [0-9]* % [0-9]*'
done

# What the emulator finds in a text that is wrong.
step=1
fault stride 'a box that takes each pixel' 's/each\[\] = {1, 2, 2, 1}/each[] = {1, 1, 1, 1}/'
fault stride 'a box as long as its rows alone' 's/box\[\] = {64, 28, 14, 1}/box[] = {64, 14, 7, 1}/'
fault stride 'rows behind the box are stored' 's/if (row >= 98) continue;//'
fault stride 'no padding' 's/(int)(\(lo_[0-9]*\) - 1 - (0))/(int)(\1 - (0))/'
fault mma-behind 'rows of another width' 's/ + row % 14/ + row % 13/'
fault mma-behind 'pixels outside of the tensor' 's/ && x1 >= 0//'
finish
