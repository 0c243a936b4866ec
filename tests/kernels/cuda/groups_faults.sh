#!/bin/sh
# Faults planted in the text of nine kernels of warpgroups (sm_90a): in bfloat16 four products, of which two have their blocks in turn, one in clusters, and streamed attention, one causal, one in clusters, one of three warpgroups; a product in float8: the emulator, or the
# comparison behind it, finds each within 50 seeds.
# usage: groups_faults.sh TILEFLOW [STEP]     every STEP-th of them (1: all).  Exit 77: no C++ compiler.
step=${2:-1}
. "$(dirname "$0")/plant.sh"

# Six pieces of the sum in a ring of four, three blocks of rows for two multiprocessors, three panels of columns.
gemm "m: 296, n: 192, k: 328" "for m=3" "for m=128 n=192 k=328" >"$work/product.yaml"
attention "h: 3, m: 128, l: 192, a: 64, n: 64" "for h=3 l=3" "stream X Z O" 128 64 64 64 >"$work/attention.yaml"
prepare product --dtype bf16 --isa sm_90a
prepare attention --dtype bf16 --isa sm_90a
attention "h: 2, m: 256, l: 256, a: 64, n: 64" "for h=2 m=2 l=4" "T@SMEM stream X Z O" 128 64 64 64 | causal 128 64 >"$work/causal.yaml"
gemm "m: 456, n: 192, k: 328" "for m=4" "for m=128 n=192 k=328" >"$work/pair.yaml"
machine=pairs prepare pair --dtype bf16 --isa sm_90a
attention "h: 3, m: 256, l: 320, a: 64, n: 64" "for h=3 m=2 l=5" "stream X Z O" 128 64 64 64 >"$work/together.yaml"
machine=pairs prepare together --dtype bf16 --isa sm_90a
prepare causal --dtype bf16 --isa sm_90a
attention "h: 3, m: 192, l: 192, a: 64, n: 64" "for h=3 l=3" "stream X Z O" 192 64 64 64 >"$work/three.yaml"
prepare three --dtype bf16 --isa sm_90a
gemm "m: 296, n: 192, k: 328" "for m=5" "for m=64 n=192 k=328" >"$work/turns.yaml"
prepare turns --dtype bf16 --isa sm_90a
cat >"$work/mapped.yaml" <<'Y'
workload:
  name: mapped
  dims: {m: 384, n: 128, k: 320}
  ops:
  - "C[m,n] += A[m,k] * B[k,n]"
  - "D[m,n] = max(C[m,n] + V[m], 0)"
mapping: |
  HBM for m=6
    Seq keep C@SMEM
      SMEM for m=64 n=128 k=320
        op C
      SMEM for m=64 n=128
        op D
Y
machine=pairs prepare mapped --dtype bf16 --isa sm_90a
# Its quotient makes all numbers positive: a long sum that is not in parts then loses what it adds.
cat >"$work/float8.yaml" <<'Y'
workload:
  name: float8
  dims: {m: 512, n: 32, k: 2048}
  ops:
  - "C[m,n] += A[m,k] * B[n,k]"
  - "D[m,n] = C[m,n] / 64"
mapping: |
  HBM for m=4
    Seq keep C@SMEM
      SMEM for m=128 n=32 k=2048
        op C
      SMEM for m=128 n=32
        op D
Y
prepare float8 --dtype f8 --isa sm_90a

main='/static __global__/,/^}/' asks='/asks for tiles/,/multiply them/' uses='/multiply them/,/^}/'
fault product 'the ring is filled before it is given back' "$asks s/barrier_wait(empty_0 + at_0, turn_0 ^ 1);//"
fault product 'the wrong turn of what is given back' "$asks s/turn_0 ^ 1)/turn_0)/"
fault product 'tiles are not waited for' "$uses s/barrier_wait(full_0 + at_0, turn_0);//"
fault product 'the turn before of tiles' "$uses s/barrier_wait(full_0 + at_0, turn_0)/barrier_wait(full_0 + at_0, turn_0 ^ 1)/"
fault product 'half of the bytes are expected' "$asks s/barrier_expect(full_0 + at_0, \([0-9]*\))/barrier_expect(full_0 + at_0, \1 \/ 2)/"
fault product 'more bytes are expected than come' "$asks s/barrier_expect(full_0 + at_0, \([0-9]*\))/barrier_expect(full_0 + at_0, \1 + 16)/"
fault product 'a box is left out' "$asks {/load_box.*+ 128)/d;}"
fault product 'given back before products have read it' "$uses {s/if (i_k_[0-9]* && LANE == 0) barrier_arrive(empty_0 + (at_0 ? at_0 : 4) - 1)/if (LANE == 0) barrier_arrive(empty_0 + at_0)/; s/^ *if (LANE == 0) barrier_arrive(empty_0 + (at_0.*//;}"
fault product 'the last tiles are not given back' "$uses s/^ *if (LANE == 0) barrier_arrive(empty_0 + (at_0.*//"
fault product 'two groups of products left' "$uses s/multiply_wait<1>/multiply_wait<2>/"
fault product 'never given back' "$uses s/barrier_arrive(empty_0 + (at_0 ? at_0 : 4) - 1)/(void)0/"
fault product 'given back by one warp alone' "$uses s/LANE == 0) barrier_arrive/THREAD == 0) barrier_arrive/"
fault product 'given back by every lane' "$uses s/LANE == 0) barrier_arrive/true) barrier_arrive/"
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
fault product 'both warpgroups have the same rows' "$uses s/threadIdx.y \/ 4 \* 8192, tk/0 * 8192, tk/"
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
fault product 'a tensor that is longer than it is' 's/const int64_t extent\[\] = {328, 296}/const int64_t extent[] = {328, 350}/'
fault attention 'queries are not waited for' "$uses s/barrier_wait(full_0 + at_0, turn_0);//"
fault attention 'queries are not given back' "$uses s/if (LANE == 0) barrier_arrive(empty_0 + at_0);//"
fault attention 'keys of the step before' "$uses s/at_1 \* 8192, tk/(at_1 + 1) % 2 * 8192, tk/"
fault attention 'values are not waited for' "$uses s/barrier_wait(full_2 + at_2, turn_2);//"
fault attention 'the other half of a row is multiplied' "$uses s/\[2 \* tk + 1\]/[2 * tk + 0]/"
fault attention 'rows eight apart changed about' "$uses s/\(fa\[tk\]\[0\] = pack(P[a-z_]*\[0\]\[2 \* tk + 0\]\)\[0\]/\1[2]/"
fault attention 'rows of products that are too wide' "$uses s/multiply_rows<64/multiply_rows<128/"
fault attention 'scores that are still being made' "$uses s/multiply_wait<1>/multiply_wait<2>/"
fault attention 'sums that are still being made' "$uses s/multiply_wait<0>/multiply_wait<1>/"
fault attention 'rows rounded while a product reads them' "$uses {/O_sums\[0\]\[0\]\[0\], fa/,/fa\[tk\]\[0\]/s/multiply_wait<0>();//;}"
fault three 'the next warpgroup is not let on' "$uses s/turn_pass(4 + (threadIdx.y \/ 4 + 1) % 3);//"
fault three 'no warpgroup begins' "$uses s/if (threadIdx.y \/ 4 == 2) turn_pass(4);//"
fault three 'all warpgroups begin' "$uses s/if (threadIdx.y \/ 4 == 2) turn_pass(4);/turn_pass(4);/"
fault three 'the last turn is not taken' "$uses s/if (threadIdx.y \/ 4 == 0) turn_wait(4);//"
fault three 'all wait for the same turn' "$uses s/turn_wait(4 + threadIdx.y \/ 4)/turn_wait(4)/"
fault three 'rows of two warpgroups are the same' "$uses s/threadIdx.y \/ 4 \* 8192/threadIdx.y \/ 4 % 2 * 8192/"
fault attention 'sums are not corrected' "$uses s/if (any_lane(/if (false \&\& any_lane(/"
fault attention 'sums start over in the third step' "$uses s/== 0 + 1) || tk/== 0 + 2) || tk/"
fault attention 'sums that start where they go on' "$uses s/(3 - 0 == 1)/true/"
fault causal 'a step too few' "$main s/ < 128) break/ < 64) break/"
fault causal 'tiles of a step that nobody takes' "$asks s/ < 128) break/ < 192) break/"
fault causal 'tiles of a step that do not come' "$uses s/ < 128) break/ < 192) break/"
fault causal 'a step is taken as whole that is not' "$uses s/ > 1) {/ > 65) {/"
fault causal 'a key too many of a step that is not whole' "$uses s/ahead > last/ahead > last + 1/"
fault causal 'a block is done twice, another never' "$main s/round % 2 ? gridDim.x - 1 - blockIdx.x : blockIdx.x/round % 2 ? 0 : blockIdx.x/"
fault causal 'who asks for tiles goes to and fro, who multiplies does not' "$asks s/round % 2 ? gridDim.x - 1 - blockIdx.x : blockIdx.x/blockIdx.x/"
fault causal 'keys of the first step left out' "$uses s/= first;/= first + 1;/"
for turns in turns mapped; do
  fault $turns 'no order of turns' "$uses {s/turn_wait([^;]*);//; s/turn_pass([^;]*);//;}"
  fault $turns 'turns are not waited for' "$uses s/turn_wait(3 + threadIdx.y \/ 4);//"
  fault $turns 'the turn is passed on before tiles have come' "$uses {s/turn_wait(3 + threadIdx.y \/ 4);/& turn_pass(4 - threadIdx.y \/ 4);/; s/^ *turn_pass(4 - threadIdx.y \/ 4);//;}"
  fault $turns 'the turn is never passed on' "$uses s/turn_pass(4 - threadIdx.y \/ 4);//"
  fault $turns 'no warpgroup begins' "$uses s/if (threadIdx.y \/ 4 == 1) turn_pass(3);//"
  fault $turns 'both warpgroups begin' "$uses s/if (threadIdx.y \/ 4 == 1) turn_pass(3);/turn_pass(3 + threadIdx.y \/ 4);/"
  fault $turns 'both wait for the same turn' "$uses s/turn_wait(3 + threadIdx.y \/ 4)/turn_wait(3)/"
  fault $turns 'the last turn is not taken' "$uses s/if (blocks_begun % 2 == .*turn_wait.*//"
  fault $turns 'the last turn is taken by the other' "$uses s/if (blocks_begun % 2 == /if (blocks_begun % 2 != /"
  fault $turns 'both have all blocks' "$uses s/if (blocks_begun++ % 2 != /if (blocks_begun++ % 2 != 3 \&\& false \&\& 0 != /"
  fault $turns 'both have the same blocks' "$uses s/if (blocks_begun++ % 2 != (int)threadIdx.y \/ 4)/if (blocks_begun++ % 2 != 0)/"
  fault $turns 'tiles of the other are not passed by' "$uses s/at_0 += [0-9]*, turn_0.*//"
  fault $turns 'a tile too few passed by' "$uses s/at_0 += \([0-9]*\),/at_0 += \1 - 1,/"
  fault $turns 'the turn of the ring does not change where tiles are passed by' "$uses s/turn_0 ^= (unsigned)[^,]*,//"
  fault $turns 'both warpgroups must give back' "$main s/\(barrier_init(empty_0 + i, [0-9]*\))/\1 * 2)/"
  fault $turns 'half of a warpgroup is enough' "$main s/\(barrier_init(empty_0 + i, [0-9]*\))/\1 \/ 2)/"
  fault $turns 'tiles given back before they are read' "$uses s/multiply_wait<1>/multiply_wait<2>/"
  fault $turns 'sums that are still being made' "$uses s/multiply_wait<0>();//"
  fault $turns 'panels of one for both' "$uses s/threadIdx.y \/ 4 \* 16384 + turn/0 + turn/"
done
fault mapped 'rows as if both multiplied together' "$uses s/= threadIdx.y % 4;/= threadIdx.y;/"
fault pair 'one block alone is asked for its tiles' "$uses s/LANE < 2) barrier_arrive_at/LANE < 1) barrier_arrive_at/"
fault pair 'the other block is never told' "$uses s/- 1, LANE)/- 1, member)/"
fault pair 'a block that there is not' "$uses s/LANE < 2) barrier_arrive_at/LANE < 3) barrier_arrive_at/"
fault pair 'the warps of one block are enough' "$main s/barrier_init(empty_0 + i, 16)/barrier_init(empty_0 + i, 8)/"
fault pair 'both blocks bring the same half' "$asks s/member \* 32/0 * 32/"
fault pair 'both halves at one place' "$asks s/member \* 4096/0 * 4096/"
fault pair 'a half for its own block alone' "$asks s/load_box_for_all/load_box/"
fault pair 'rows of one block for both' "$asks s/load_box(shared/load_box_for_all(shared/"
fault pair 'half of the bytes are expected' "$asks s/barrier_expect(full_0 + at_0, 40960)/barrier_expect(full_0 + at_0, 28672)/"
fault pair 'a block begins before the other has its barriers' "$main s/^  cluster_meet();\$/  __syncthreads();/"
fault pair 'a block ends before the other has done with it' "$main s/^  cluster_meet(); .*//"
fault pair 'boxes of all rows' 's/const int box\[\] = {64, 32}/const int box[] = {64, 64}/'
fault pair 'tiles are given back while they are read' "$uses s/multiply_wait<1>/multiply_wait<2>/"
fault together 'one block alone is asked for its keys' "$uses s/LANE < 2) barrier_arrive_at(empty_1/LANE < 1) barrier_arrive_at(empty_1/"
fault together 'values are given back to their own block alone' "$uses s/barrier_arrive_at(empty_2 + at_2, LANE)/barrier_arrive_at(empty_2 + at_2, member)/"
fault together 'queries of one block for both' "$asks s/load_box(shared/load_box_for_all(shared/"
fault together 'both blocks bring the same keys' "$asks s/full_1 + at_1\(.*\)member \* 32/full_1 + at_1\10 * 32/"
fault together 'half of the values' "$asks s/barrier_expect(full_2 + at_2, 8192)/barrier_expect(full_2 + at_2, 4096)/"
fault together 'keys are given back while they are read' "$uses s/multiply_wait<1>/multiply_wait<2>/"
fault together 'the warps of one block are enough' "$main s/barrier_init(empty_1 + i, 16)/barrier_init(empty_1 + i, 8)/"
fault together 'a block ends before the other has done with it' "$main s/^  cluster_meet(); .*//"
fault float8 'sums of all that are not in parts' "$uses {s/(part/(\&C[0][0][0]/; s/tk > 0)/!fresh || tk > 0)/; /add_part/d;}"
fault float8 'each part is all' "$uses s/part, fresh)/part, true)/"
fault float8 'sums that do not start' "$uses s/part, fresh)/part, false)/"
fault float8 'parts that go on' "$uses s/tk > 0)/true)/"
fault float8 'parts that start in each instruction' "$uses s/tk > 0)/false)/"
fault float8 'parts that are still being made' "$uses s/multiply_wait<0>/multiply_wait<1>/"
fault float8 'tiles given back while they are read' "$uses s/multiply_wait<0>();/;/"
fault float8 'steps of halves' "$uses s/tk % 4 \* 32/tk % 4 * 64/"
fault float8 'boxes of half the rows' 's/const int box\[\] = {128, 128}/const int box[] = {128, 64}/'
fault float8 'an operand turned' "$uses s/multiply_tiles<32, 0, 0>/multiply_tiles<32, 0, 1>/"
fault float8 'half of the bytes are expected' "$asks s/barrier_expect(full_0 + at_0, \([0-9]*\))/barrier_expect(full_0 + at_0, \1 \/ 2)/"
fault float8 'a step of the sum left out' "$uses s/tk < 4/tk < 3/"
finish
