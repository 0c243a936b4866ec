#!/bin/sh
# Faults planted in the text of seven kernels, a product and streamed attention of bfloat16, the same attention on the plain
# units, the first two with their sums in parts, the product by the fragments of C++, and four products in one kernel: the emulator, or the comparison behind it, finds each within 50 seeds.  Races it finds whatever the order.
# usage: faults.sh TILEFLOW [STEP]     every STEP-th of them (1: all).  Exit 77: no C++ compiler.
step=${2:-1}
. "$(dirname "$0")/plant.sh"
gemm "m: 70, n: 96, k: 200" "for m=1" "for m=70 n=96 k=200" >"$work/product.yaml"
attention "h: 2, m: 40, l: 60, a: 24, n: 40" "for h=2 l=3" "stream X Z O" 40 20 24 40 >"$work/attention.yaml"
cp "$work/attention.yaml" "$work/plain.yaml"
# Both once more, with their sums in parts.
sed 's/k: 200/k: 400/; s/HBM for m=1/HBM spatial k=2@x/' "$work/product.yaml" >"$work/product-parts.yaml"
sed 's/l: 60/l: 120/; s/HBM for h=2 l=3/HBM for h=2 l=2\n    HBM for l=3/; /^    *Seq/s/^/  /; /^      SMEM/s/^/  /; /^        op/s/^/  /' "$work/attention.yaml" >"$work/attention-parts.yaml"
cp "$work/product.yaml" "$work/wmma.yaml"
# Four products that one kernel computes one after the other, with their tiles in the same places: five pieces of the sum in four slots.
{
  printf 'workload:\n  name: several\n  dims: {m: 128, n: 48, k: 320}\n  ops:\n'
  for i in 1 2 3 4; do echo "  - C$i[m,n] += A$i[m,k] * B$i[k,n]"; done
  printf 'mapping: |\n  HBM for m=2\n    Seq\n'
  for i in 1 2 3 4; do printf '      SMEM for m=64 n=48 k=320\n        op C%d\n' $i; done
} >"$work/several.yaml"
prepare product --dtype bf16
prepare attention --dtype bf16
prepare plain --dtype f32
prepare product-parts --dtype bf16
prepare attention-parts --dtype bf16
prepare wmma --dtype bf16 --isa wmma
prepare several --dtype bf16

main='/static __global__/,/^}/'
fault product 'a group too many left' 's/copy_wait<1>/copy_wait<2>/'
fault product 'no wait' "$main s/copy_wait<1>();//"
fault product 'no barrier behind the wait' "$main {/copy_wait<1>/{n;d;};}"
fault product 'two slots for three pieces' 's/(i_k_[0-9]* + 2) % 3/(i_k_8 + 2) % 2/'
fault product 'the slot before' 's/= (i_k_\([0-9]*\)) % 3/= (i_k_\1 + 2) % 3/'
fault product 'the slot that is being filled' 's/= (i_k_\([0-9]*\)) % 3/= (i_k_\1 + 1) % 3/'
fault product 'a group that never ends' "0,/^ *copy_end();/s/^ *copy_end();//"
fault product 'swizzle left out where rows are read' '/load_matrices(/s/spot<8, 0, 7>/spot<8, 0, 0>/'
fault product 'half a swizzle where columns are read' '/load_matrices_turned(/s/spot<16, 0, 7>/spot<16, 0, 3>/'
fault product 'another swizzle where rows are written' '/copy_piece(/s/spot<8, 0, 7>/spot<8, 1, 7>/'
fault product 'another pitch where columns are read' '/load_matrices_turned(/s/spot<16, 0, 7>/spot<17, 0, 7>/'
fault product 'not turned' "$main s/load_matrices_turned/load_matrices/"
fault product 'turned' "$main s/load_matrices(fa/load_matrices_turned(fa/"
fault product 'eight rows twice' '/load_matrices(fa/s/lane % 16/lane % 8/'
fault product 'the same eight of the sum twice' '/load_matrices(fa/s/ + lane \/ 16)/)/'
fault product 'an address off its 16 bytes' '/load_matrices(fa/s/)) \* 8\]/)) * 8 + 1]/'
fault product 'a step of the sum left out' "$main s/tk < 4/tk < 3/"
fault product 'the wrong half of columns' 's/fa\[tm\], fb + 2/fa[tm], fb + 0/'
fault product 'sums in the wrong place' 's/\[tn + 1\], fa/[tn + 0], fa/'
fault product 'sums that do not start' "$main {/zero_fragments/d;}"
fault product 'sums that start in each piece' "$main s/^ *for (int tk = 0;/zero_fragments<(int)(sizeof C_sums \/ 4)>(\&C_sums[0][0][0]);\n&/"
fault product 'two warps do the same columns' 's/\(columns_[0-9]* = (\)i_m_1)/\1i_m_1 \& 6)/'
fault product 'slots that overlap' 's/\* 1024 + spot/* 512 + spot/'
fault product 'half of the threads copy rows' 's/row = thread \/ 16,/row = thread \/ 32,/'
fault product 'every row is the first' 's/at += 16 \* stride;//'
fault product 'a barrier that one warp leaves out' "$main s/^        __syncthreads();/        if (threadIdx.y) __syncthreads();/"
fault product 'half of a warp does not load' "$main s/^\( *\)load_matrices(fa/\1if (LANE < 16) load_matrices(fa/"
fault product 'rows eight apart changed about' 's/8 \* th + lane \/ 4/8 * (1 - th) + lane \/ 4/'
fault product 'neighbours changed about' 's/\[2 \* th\], \(C_sums\[tm\]\[tn\]\)\[2 \* th + 1\]/[2 * th + 1], \1[2 * th]/'
fault attention 'a group too many left' "$main s/copy_wait<3>/copy_wait<4>/"
fault attention 'values are not waited for' "$main {/nest\|P \*\//,\$s/copy_wait<3>();//;}"
fault attention 'no barrier behind waits' "$main {/copy_wait<3>/{n;d;};}"
fault attention 'half of the query comes' "$main s/row < rows ? /row < 16 ? /"
fault attention 'sums are not corrected' "$main s/\*= exp_near(.*)/*= 1.0f/"
fault attention 'the maximum before is not kept' "$main s/X_before\[tm\]\[th\] = X\[tm\]\[th\];//"
fault attention 'half of the lanes of a row' "$main s/, of_lane(sum, LANE ^ 2)/, sum/"
fault attention 'lanes of another row' "$main s/LANE ^ 1/LANE ^ 4/"
fault attention 'keys behind the end count' "$main s/if (d_l >= .*) continue;//"
fault attention 'the other half of the row is multiplied' "$main s/2 \* tk + 1\]/2 * tk + 0]/"
fault attention 'not divided' "$main s/ \*= 1.0f \/ Z\[tm\]\[th\]//"
fault attention 'the keys of the step before' "$main s/= (i_l_\([0-9]*\)) % 3/= (i_l_\1 + 2) % 3/"
fault plain 'no barrier behind the maximum' "$main {/{ \/\* X \*\//,/{ \/\* E \*\//s/__syncthreads();//;}"
fault plain 'a row that two threads make' "$main s/= 5 \* i_m_/= 4 * i_m_/"
fault plain 'copies that nobody waits for' "$main s/copy_wait<1>();//"
fault plain 'the tile that is being filled' "$main s/now_\([0-9]*\) = (i_a_\([0-9]*\)) % 2/now_\1 = (i_a_\2 + 1) % 2/"
behind='/ part1(/,/^}/'
fault product-parts 'both parts in one place' 's/\* (part_[0-9]*)\(.*\] = \)/* (0)\1/'
fault product-parts 'a part that is left out' 's/for (int64_t part_\([0-9]*\) = 0/for (int64_t part_\1 = 1/'
fault product-parts 'all blocks have the first part' 's/= part_[0-9]*;/= 0;/'
fault product-parts 'put together first, then summed' '/START(part0/{h;d;};/START(part1/G'
fault product-parts 'fewer blocks than parts' 's/START(part0, 2,/START(part0, 1,/; s/blockIdx.x; \(i_[a-z0-9_]*\) < 2/blockIdx.x; \1 < 1/'
fault attention-parts 'no part is corrected' "$behind s/ \* expf(.*)//"
fault attention-parts 'parts are corrected by the other' "$behind s/expf(X_parts\([0-9]*\)\[80 \* (part_\([0-9]*\))/expf(X_parts\1[80 * (1 - part_\2)/"
fault attention-parts 'no barrier between the maximum and what it corrects' "$behind {/__syncthreads/d;}"
fault attention-parts 'a part begins with what the one before has' 's/const int fresh = i_l_[0-9]* == 0;/const int fresh = i_l_1 == 0 \&\& part_6 == 0;/'
fault attention-parts 'sums are not divided' "$behind s/ = sum \/ .*;/ = narrow(sum);/; s/narrow(sum \/ .*);/narrow(sum);/"
fault wmma 'columns for rows' "$main s/wmma_a<wmma_rows>/wmma_a<wmma_columns>/"
fault wmma 'rows nearer than they stand' "$main s/\(wmma_load(fa.*\), 72)/\1, 64)/"
fault wmma 'a pitch that is none' "$main s/\(wmma_load(fb.*\), 136)/\1, 132)/"
fault wmma 'an address off its 32 bytes' "$main s/wmma_load(fa\[tm\], &\(.*\)\],/wmma_load(fa[tm], \&\1 + 8],/"
fault wmma 'sums that do not start' "$main s/wmma_zero(.*;/;/"
fault wmma 'one fragment of columns twice' "$main s/, fb\[tn\])/, fb[0])/"
fault wmma 'the first fragments only' "$main s/wmma_unload(&\(.*\), C_sums_wmma\[tm\]\[tn\]/wmma_unload(\&\1, C_sums_wmma[0][tn]/"
fault wmma 'no room behind the tiles' 's/wmma_room + threadIdx.y \* 256/wmma_room + (threadIdx.y + 1) * 256/'
fault wmma 'half of a warp multiplies' "$main s/wmma_multiply/if (LANE < 16) wmma_multiply/"
fault wmma 'no barrier behind the wait' "$main {/copy_wait<1>/{n;d;};}"
fault several 'no barrier between products whose tiles have one place' "$main s/^    __syncthreads();//"
fault several 'tiles of one product that overlap' "$main s/\(B1_tile.*shared + \)[0-9]*/\14096/"
finish
