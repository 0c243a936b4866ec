#!/bin/sh
# Faults planted in the text of two kernels of warpgroups (sm_90a), a product and streamed attention of bfloat16: the emulator, or the
# comparison behind it, finds each within 50 seeds.
# usage: groups_faults.sh TILEFLOW [STEP]     every STEP-th of them (1: all).  Exit 77: no C++ compiler.
tileflow=$1 step=${2:-1}
command -v g++ >/dev/null || { echo "SKIP: no g++"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/plant.sh"

# Six pieces of the sum in a ring of four, two blocks of rows, three panels of columns.
gemm "m: 200, n: 192, k: 328" "for m=2" "for m=128 n=192 k=328" >"$work/product.yaml"
attention "h: 3, m: 128, l: 192, a: 64, n: 64" "for h=3 l=3" "stream X Z O" 128 64 64 64 >"$work/attention.yaml"
prepare product --dtype bf16 --isa sm_90a
prepare attention --dtype bf16 --isa sm_90a

main='/static __global__/,/^}/' asks='/asks for tiles/,/multiply them/' uses='/multiply them/,/^}/'
fault product 'the ring is filled before it is given back' "$asks s/barrier_wait(empty_0 + at_0, turn_0 ^ 1);//"
fault product 'the wrong turn of what is given back' "$asks s/turn_0 ^ 1)/turn_0)/"
fault product 'tiles are not waited for' "$uses s/barrier_wait(full_0 + at_0, turn_0);//"
fault product 'the turn before of tiles' "$uses s/barrier_wait(full_0 + at_0, turn_0)/barrier_wait(full_0 + at_0, turn_0 ^ 1)/"
fault product 'half of the bytes are expected' "$asks s/barrier_expect(full_0 + at_0, \([0-9]*\))/barrier_expect(full_0 + at_0, \1 \/ 2)/"
fault product 'more bytes are expected than come' "$asks s/barrier_expect(full_0 + at_0, \([0-9]*\))/barrier_expect(full_0 + at_0, \1 + 16)/"
fault product 'a box is left out' "$asks {/load_box.*+ 128)/d;}"
fault product 'given back before products have read it' "$uses {s/multiply_end();/multiply_end(); if (LANE == 0) barrier_arrive(empty_0 + at_0);/; s/^ *if (LANE == 0) barrier_arrive(empty_0 + at_0);\$//;}"
fault product 'never given back' "$uses s/if (LANE == 0) barrier_arrive(empty_0 + at_0);//"
fault product 'given back by one warp alone' "$uses s/if (LANE == 0) barrier_arrive/if (THREAD == 0) barrier_arrive/"
fault product 'given back by every lane' "$uses s/if (LANE == 0) barrier_arrive/barrier_arrive/"
fault product 'one warp is enough to give back' "$main s/barrier_init(empty_0 + i, 8)/barrier_init(empty_0 + i, 1)/"
fault product 'an arrival too many is waited for' "$main s/barrier_init(full_0 + i, 1)/barrier_init(full_0 + i, 2)/"
fault product 'a barrier that is not made' "$main s/for (int i = 0; i < 4; i++) barrier_init/for (int i = 0; i < 3; i++) barrier_init/"
fault product 'barriers that boxes do not know' "$main s/barrier_known();//"
fault product 'barriers that threads do not know' "$main s/__syncthreads();//"
fault product 'a shorter ring for those who multiply' "$uses s/++at_0 == 4/++at_0 == 3/"
fault product 'a ring whose turns do not change' "$asks s/, turn_0 ^= 1//"
fault product 'registers without a fence' "$uses s/multiply_begin();//"
fault product 'sums are not waited for' "$uses s/multiply_wait<0>();//"
fault product 'a group of products too many left' "$uses s/multiply_wait<0>/multiply_wait<1>/"
fault product 'a group of products that does not end' "$uses s/multiply_end();//"
fault product 'eight rows of a are 512 bytes' "$uses s/tk % 4 \* 32, 16, 1024/tk % 4 * 32, 16, 512/"
fault product 'eight steps of the sum of b are 2048 bytes' "$uses s/tk \* 2048, 8192, 1024/tk * 2048, 8192, 2048/"
fault product 'panels of b overlap' "$uses s/tk \* 2048, 8192, 1024/tk * 2048, 4096, 1024/"
fault product 'half a step along the sum' "$uses s/tk % 4 \* 32/tk % 4 * 16/"
fault product 'b is not turned' "$uses s/multiply_tiles<192, 0, 1>/multiply_tiles<192, 0, 0>/"
fault product 'a is turned' "$uses s/multiply_tiles<192, 0, 1>/multiply_tiles<192, 1, 1>/"
fault product 'a descriptor without swizzle' 's/ | (uint64_t)1 << 62//'
fault product 'both warpgroups have the same rows' "$uses s/threadIdx.y \/ 4 \* 8192 + tk/0 * 8192 + tk/"
fault product 'sums that do not start' "$uses s/!fresh || tk > 0/true/"
fault product 'sums that start in each piece' "$uses s/!fresh || tk > 0/tk > 0/"
fault product 'a step of the sum left out' "$uses s/tk < 4/tk < 3/"
fault product 'boxes do not see what threads wrote' "$uses s/proxy_fence();//"
fault product 'sent off before all have written' "$uses {/proxy_fence/{n;d;};}"
fault product 'written before the panel has left' "$uses s/store_wait<1>();/;/"
fault product 'written before others know that it has left' "$uses {/store_wait<1>/{n;d;};}"
fault product 'a group that leaves does not end' "$uses s/, store_end()//"
fault product 'a block that does not wait for what leaves' "$uses s/store_wait<0>();/;/"
fault product 'both warpgroups send the same rows' "$uses s/threadIdx.y \/ 4 \* 64)/threadIdx.y * 0)/"
fault product 'panels that leave are not swizzled' 's/(eight ^ row % 8)/(eight)/'
fault product 'eight threads too many meet' "$uses s/group_meet(1 + threadIdx.y \/ 4, 128)/group_meet(1, 128)/"
fault product 'nobody comes to a barrier for all' "$uses s/group_meet(1 + threadIdx.y \/ 4, 128)/group_meet(1 + threadIdx.y \/ 4, 256)/"
fault product 'more registers than there are' "$uses s/registers_more<232>/registers_more<240>/"
fault product 'registers that nobody gave' "$asks s/registers_fewer<40>();//"
fault product 'a tile off its 1024 bytes' "$asks s/load_box(shared + 0 /load_box(shared + 128 /"
fault product 'tiles of a ring that overlap' "$asks s/at_0 \* 24576/at_0 * 16384/"
fault product 'coordinates changed about' "$asks s/(int)(k_\([0-9]*\) - (0)), (int)(m_\([0-9]*\) - (0))/(int)(m_\2 - (0)), (int)(k_\1 - (0))/"
fault product 'boxes of half the rows' 's/const int box\[\] = {64, 128}/const int box[] = {64, 64}/'
fault product 'a tensor that is longer than it is' 's/const int64_t extent\[\] = {328, 200}/const int64_t extent[] = {328, 300}/'
fault attention 'queries are not waited for' "$uses s/barrier_wait(full_0 + at_0, turn_0);//"
fault attention 'queries are not given back' "$uses s/if (LANE == 0) barrier_arrive(empty_0 + at_0);//"
fault attention 'keys of the step before' "$uses s/at_1 \* 8192 + tk/(at_1 + 1) % 2 * 8192 + tk/"
fault attention 'values are not waited for' "$uses s/barrier_wait(full_2 + at_2, turn_2);//"
fault attention 'the other half of a row is multiplied' "$uses s/\[2 \* tk + 1\]/[2 * tk + 0]/"
fault attention 'rows eight apart changed about' "$uses s/\(fa\[tk\]\[0\] = pack(P[a-z_]*\[0\]\[2 \* tk + 0\]\)\[0\]/\1[2]/"
fault attention 'rows of products that are too wide' "$uses s/multiply_rows<64/multiply_rows<128/"
finish
