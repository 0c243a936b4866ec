/* What a kernel has, as parameters of other frameworks.  Names are those of their documents (the
 * rows' sources, looked up on 2026-11-28); what values mean where the documents leave it open was
 * read in their sources: Triton's tutorials 03 and 06 (pid to rows and columns in groups),
 * TileLang's rasterization2DRow (rows run first in a panel), Helion's FlatProgramIDs and
 * L2GroupingProgramIDs (the first of loop_orders runs fastest; groups are of the two fastest), and
 * CUTLASS's PersistentTileSchedulerSm90 (AlongN: a swizzle of rows, then along columns; at most 8)
 * and GemmIdentityThreadblockSwizzle (so many columns, then along rows). */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "codegen/backend/hints/hints.h"

/* ---- texts ---------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static void put(hint_words *w, const char *name,
                                                      const char *format, ...) {
  if (w->n == HINT_MOST_WORDS) return;
  hint_word *word = &w->word[w->n++];
  va_list rest;
  word->name = name;
  va_start(rest, format);
  vsnprintf(word->value, sizeof word->value, format, rest);
  va_end(rest);
}

static void put_number(hint_words *w, const char *name, int64_t value) {
  put(w, name, "%" PRId64, value);
}

/* Appends a sentence to the remark. */
__attribute__((format(printf, 2, 3))) static void remark(hint_words *w, const char *format, ...) {
  const size_t n = strlen(w->remark);
  va_list rest;
  va_start(rest, format);
  int at = snprintf(w->remark + n, sizeof w->remark - n, n ? "  " : "");
  vsnprintf(w->remark + n + at, sizeof w->remark - n - (size_t)at, format, rest);
  va_end(rest);
}

static int64_t power_up(int64_t n, int64_t least) {
  int64_t power = least;
  while (power < n)
    power *= 2;
  return power;
}

static int64_t power_down(int64_t n) {
  int64_t power = 1;
  while (2 * power <= n)
    power *= 2;
  return power;
}

static const hint_product *last(const hint_kernel *k) { return &k->product[k->n_products - 1]; }
static bool is_fused(const hint_kernel *k) {
  return k->kind == HINT_CHAIN || k->kind == HINT_ATTENTION;
}

/* Kernels without a product, for which frameworks have no tensor-core kernel; true: nothing else is
 * to be said. */
static bool has_no_product(const hint_kernel *k, hint_words *w) {
  if (k->kind == HINT_MERGE)
    remark(w, "Puts the parts of split sums together; the kernel that splits them does so in their "
              "forms.");
  if (k->kind == HINT_POINTS)
    remark(w, "No product on tensor cores: memory bounds such kernels, and nothing here is worth a "
              "schedule; or ask for --dtype bf16, f16, tf32, int8 or f8.");
  return k->kind == HINT_MERGE || k->kind == HINT_POINTS;
}

/* ---- Triton --------------------------------------------------------------------------------- */

/* A side of a tile for tl.arange and tl.dot: a power of two, at least 16. */
static void put_side(hint_words *w, const char *name, int64_t value) {
  const int64_t side = power_up(value, CU_FRAGMENT_SIDE);
  put_number(w, name, side);
  if (side != value)
    remark(w, "%s is %" PRId64 " here; Triton takes powers of two from 16.", name, value);
}

static int64_t warps_of(const hint_kernel *k, hint_words *w) {
  const int64_t warps = k->groups ? (k->in_turns ? 1 : k->groups) * CU_GROUP_WARPS : k->warps;
  if (k->groups == 3)
    remark(w, "Three warpgroups multiply here; the number of warps is a power of two there.");
  if (k->in_turns)
    remark(w, "Two warpgroups have blocks in turn here; there, of 4 warps each, two programs are "
              "on a multiprocessor.");
  return power_down(warps);
}

static const char *form_of_triton(const hint_kernel *k) {
  switch (k->kind) {
  case HINT_PRODUCT: return "tutorial 03, matrix multiplication";
  case HINT_CONVOLUTION: return "tutorial 03 with rows that are pixels (implicit GEMM)";
  case HINT_SIDE_BY_SIDE: return "tutorial 03 with an accumulator for each product";
  case HINT_CHAIN:
    return "tutorial 06 without the softmax: BLOCK_N is of the intermediate's columns";
  case HINT_ATTENTION: return "tutorial 06, fused attention";
  default: return NULL;
  }
}

static void split_keys(const hint_kernel *k, hint_words *w, const char *name) {
  if (k->split > 1 && is_fused(k)) {
    put_number(w, name, k->split);
    remark(w, "Keys are split among blocks, each with a maximum and sums of its own, which another "
              "kernel puts together (flash decoding).");
  }
  if (k->key_warps > 1)
    remark(w,
           "%" PRId64 " warps share the keys of a step, as parts of their own; theirs lie as the "
           "compiler has them.",
           k->key_warps);
}

static void say_triton(const ir_program *p, const hint_kernel *k, hint_words *w) {
  const hint_order o = hint_order_of(p, k);
  if (has_no_product(k, w)) return;
  w->form = form_of_triton(k);
  put_side(w, "BLOCK_M", k->product[0].rows);
  put_side(w, "BLOCK_N", k->product[0].columns);
  if (k->kind != HINT_ATTENTION) put_side(w, "BLOCK_K", k->product[0].depth);
  if (k->kind == HINT_CHAIN) put_side(w, "BLOCK_D", last(k)->columns);
  if (!is_fused(k)) put_number(w, "GROUP_M", o.columns_first ? 1 : o.group);
  if (!is_fused(k) && k->split > 1) put_number(w, "SPLIT_K", k->split);
  split_keys(k, w, "SPLIT_KV");
  put_number(w, "num_warps", warps_of(k, w));
  put_number(w, "num_stages", k->stages);
  put_number(w, "num_ctas", 1);
  if (o.columns_first && o.group < o.total && !is_fused(k))
    remark(w, "Columns run first, %" PRId64 " of %" PRId64 ": swap m and n for groups of them.",
           o.group, o.total);
  if (k->cluster)
    remark(w, "Two blocks are a cluster here, and share tiles by multicast; num_ctas=2 would "
              "divide one block instead.");
  if (k->skips)
    remark(w, "Steps that the mask leaves nothing of are left out (STAGE of the tutorial).");
}

/* ---- TileLang ------------------------------------------------------------------------------- */

static void say_tilelang(const ir_program *p, const hint_kernel *k, hint_words *w) {
  const hint_order o = hint_order_of(p, k);
  if (has_no_product(k, w)) return;
  w->form = k->kind == HINT_ATTENTION     ? "examples/flash_attention"
            : k->kind == HINT_CONVOLUTION ? "examples/convolution"
            : k->kind == HINT_CHAIN ? "T.gemm twice, the first one's columns in T.Pipelined's steps"
                                    : "examples/gemm";
  put_number(w, "block_M", cu_sides_up(k->product[0].rows));
  put_number(w, "block_N", cu_sides_up(k->product[0].columns));
  if (k->kind != HINT_ATTENTION) put_number(w, "block_K", k->product[0].depth);
  if (k->kind == HINT_CHAIN) put_number(w, "block_D", last(k)->columns);
  put_number(w, "num_stages", k->stages > 1 ? k->stages : 0);
  put_number(w, "threads",
             CU_LANES * (k->groups ? (k->in_turns ? 1 : k->groups) * CU_GROUP_WARPS : k->warps));
  if (!is_fused(k) && o.group > 1 &&
      !(o.columns_first && o.group == o.total)) { /* which is the order of blockIdx.x */
    put_number(w, "panel_size", o.group);
    put(w, "order", o.columns_first ? "\"column\"" : "\"row\"");
  }
  if (!is_fused(k) && k->split > 1)
    put_number(w, "split_k", k->split), w->form = "examples/gemm_splitk";
  split_keys(k, w, "num_split");
  if (k->groups) remark(w, "The warpgroup that brings tiles is added by the compiler.");
  if (k->in_turns)
    remark(
        w,
        "Its warpgroups do not take blocks in turn: two blocks on a multiprocessor come nearest.");
  if (k->cluster) remark(w, "Two blocks are a cluster here, and share tiles by multicast.");
}

/* ---- Helion --------------------------------------------------------------------------------- */

/* Dims of the outer hl.tile: all of a batch as one, rows, columns, parts of the sum. */
enum { BATCH, ROWS, COLUMNS, PARTS, SIDES };
static int tile_of(const ir_program *p, const hint_kernel *k, int dim) {
  const hint_product *h = &k->product[0];
  const ir_stack *t = h->nest->stack;
  const tf_op *op = &p->tree->workload->ops[h->nest->op];
  bool row = dim == hint_row_dim(p, h), out = false;
  for (int i = 0; t && i < t->n; i++)
    row |= dim == op->dims[t->axis[i]];
  for (int d = 0; d < op->n_out_dims; d++)
    out |= dim == op->dims[d];
  return row ? ROWS : dim == hint_column_dim(p, h) ? COLUMNS : out ? BATCH : PARTS;
}

static bool has_batch(const ir_program *p, const hint_kernel *k) {
  const tf_op *op = &p->tree->workload->ops[k->product[0].nest->op];
  bool any = false;
  for (int d = 0; d < op->n_out_dims; d++)
    any |= tile_of(p, k, op->dims[d]) == BATCH && p->tree->workload->dims[op->dims[d]].extent > 1;
  return any;
}

/* The order of the outer tiles, fastest first, in which blocks go; whether rows and columns are the
 * two fastest. */
static bool put_orders(const ir_program *p, const hint_kernel *k, bool batch, hint_words *w) {
  const bool there[SIDES] = {batch, true, !is_fused(k), !is_fused(k) && k->split > 1};
  int at[SIDES], n = 0, order[SIDES], found = 0;
  bool taken[SIDES] = {false};
  for (int s = 0; s < SIDES; s++)
    at[s] = n, n += there[s];
  for (int i = 0; i < k->n_digits + SIDES; i++) {
    const int s = i >= k->n_digits      ? i - k->n_digits
                  : k->digit[i].dim < 0 ? PARTS
                                        : tile_of(p, k, k->digit[i].dim);
    if (there[s] && !taken[s]) order[found++] = s;
    taken[s] = true;
  }
  char text[HINT_TEXT];
  int length = 0;
  for (int i = 0; i < found; i++)
    length +=
        snprintf(text + length, sizeof text - (size_t)length, "%s%d", i ? ", " : "", at[order[i]]);
  if (n > 1) put(w, "loop_orders", "[[%s]]", text);
  return n > 1 && order[0] + order[1] == ROWS + COLUMNS && order[0] != BATCH && order[1] != BATCH;
}

static void say_helion(const ir_program *p, const hint_kernel *k, hint_words *w) {
  const hint_product *h = &k->product[0];
  const hint_order o = hint_order_of(p, k);
  if (has_no_product(k, w)) return;
  const bool batch = has_batch(p, k);
  char sizes[HINT_TEXT];
  const int at =
      snprintf(sizes, sizeof sizes, "[%s%" PRId64 ", %" PRId64, batch ? "1, " : "",
               power_up(h->rows, CU_FRAGMENT_SIDE), power_up(h->columns, CU_FRAGMENT_SIDE));
  if (k->kind != HINT_ATTENTION)
    snprintf(sizes + at, sizeof sizes - (size_t)at, ", %" PRId64,
             power_up(h->depth, CU_FRAGMENT_SIDE));
  w->form = k->kind == HINT_ATTENTION ? "examples/attention.py"
            : k->kind == HINT_CONVOLUTION
                ? "hl.tile over pixels and channels, rows loaded by their indices"
            : k->kind == HINT_CHAIN
                ? "hl.tile over rows; in it the intermediate's columns; in these the sum"
            : k->split > 1 ? "examples/matmul_split_k.py"
            : batch        ? "examples/bmm.py"
                           : "examples/matmul.py";
  put(w, "block_sizes", "%s]", sizes);
  const bool beside = put_orders(p, k, batch, w);
  if (!is_fused(k))
    put(w, "l2_groupings", "[%" PRId64 "]", beside && o.group < o.total ? o.group : 1);
  put_number(w, "num_warps", warps_of(k, w));
  put_number(w, "num_stages", k->stages);
  put(w, "indexing", k->groups ? "\"tensor_descriptor\"" : "\"pointer\"");
  put(w, "pid_type", k->groups ? "\"persistent_interleaved\"" : "\"flat\"");
  if (!is_fused(k) && k->split > 1) put_number(w, "split_k", k->split);
  if (is_fused(k) && k->split > 1)
    remark(w, "Keys are split among %" PRId64 " blocks here, which the example has not.", k->split);
  if (k->key_warps > 1) remark(w, "%" PRId64 " warps share the keys of a step.", k->key_warps);
  if (k->cluster) remark(w, "Two blocks are a cluster here, and share tiles by multicast.");
}

/* ---- CUTLASS -------------------------------------------------------------------------------- */

static void put_shape(hint_words *w, const char *name, const char *format, int64_t m, int64_t n,
                      int64_t k) {
  put(w, name, format, m, n, k);
}
#define SHAPE_3 "\"Shape<_%" PRId64 ",_%" PRId64 ",_%" PRId64 ">\""
#define SHAPE_2 "\"GemmShape<%" PRId64 ", %" PRId64 ", %" PRId64 ">\""

static void say_hopper(const ir_program *p, const hint_kernel *k, hint_words *w) {
  const hint_product *h = &k->product[0];
  const hint_order o = hint_order_of(p, k);
  const bool conv = k->kind == HINT_CONVOLUTION;
  const int64_t rows = k->in_turns ? CU_TURN_ROWS : CU_GROUP_ROWS,
                swizzle = power_down(o.group < 8 ? o.group : 8);
  if (k->kind == HINT_CHAIN || k->kind == HINT_SIDE_BY_SIDE) {
    remark(w, "No collective of sm_90 has two products of one block; each by itself, or a mainloop "
              "of one's own.");
    return;
  }
  w->form = k->kind == HINT_ATTENTION ? "examples/88_hopper_fmha"
            : conv                    ? "conv::collective::CollectiveBuilder (NHWC)"
                                      : "gemm::collective::CollectiveBuilder";
  put_shape(w, "TileShape", SHAPE_3, rows, h->columns,
            k->kind == HINT_ATTENTION ? last(k)->columns : h->depth);
  if (k->kind != HINT_ATTENTION)
    put(w, "ClusterShape", k->cluster ? "\"Shape<_2,_1,_1>\"" : "\"Shape<_1,_1,_1>\"");
  put(w, "KernelSchedule", "\"%s%s\"",
      conv ? "KernelImplicitTmaWarpSpecializedSm90" : "KernelTmaWarpSpecialized",
      k->in_turns ? "Pingpong" : "Cooperative");
  if (k->kind != HINT_ATTENTION) {
    put(w, "EpilogueSchedule",
        k->in_turns ? "\"TmaWarpSpecialized\"" : "\"TmaWarpSpecializedCooperative\"");
    put(w, "StageCount", "\"StageCount<%" PRId64 ">\"", k->stages);
  } else {
    remark(w, "Stages are kStagesQ and kStagesKV there: %" PRId64 " of keys and values here.",
           k->stages);
  }
  if (k->kind == HINT_PRODUCT) {
    const bool grouped = o.group < o.total;
    put(w, "raster_order", "\"%s\"", o.columns_first == grouped ? "AlongM" : "AlongN");
    put_number(w, "max_swizzle_size", grouped ? swizzle : 1);
  }
  if (k->split > 1 && k->kind == HINT_PRODUCT)
    put(w, "TileScheduler", "\"StreamKScheduler\""), put_number(w, "splits", k->split);
  if (h->rows != rows)
    remark(w,
           "Blocks have %" PRId64
           " rows here; a schedule of two consumer warpgroups has 64 for each.",
           h->rows);
  if (k->kind == HINT_ATTENTION && k->split > 1)
    remark(w, "Keys are split among %" PRId64 " blocks here, which the example has not.", k->split);
}

static void say_ampere(const ir_program *p, const hint_kernel *k, hint_words *w) {
  const hint_product *h = &k->product[0], *z = last(k);
  const hint_order o = hint_order_of(p, k);
  const ir_kernel *mma = &cu_mma_of(p)->kernel;
  const int64_t whole = p->tree->workload->dims[hint_column_dim(p, h)].extent;
  if (k->kind == HINT_ATTENTION) {
    w->form = "examples/41_fused_multi_head_attention";
    put_number(w, "kQueriesPerBlock", power_up(h->rows, 32));
    put_number(w, "kKeysPerBlock", power_up(h->columns, 64));
    put_number(w, "kMaxK", z->columns);
    remark(w, "It has blocks of 32 or 64 queries and 64 or 128 keys, no ring of them, and no split "
              "of keys.");
    return;
  }
  if (k->kind == HINT_CHAIN && h->columns < whole) {
    remark(w,
           "Its fused products (examples/13_two_tensor_op_fusion) hold all columns of the "
           "intermediate at a time; here %" PRId64 " of %" PRId64 " come in steps.",
           h->columns, whole);
    return;
  }
  w->form = k->kind == HINT_CHAIN          ? "examples/13_two_tensor_op_fusion"
            : k->kind == HINT_CONVOLUTION  ? "conv::kernel::DefaultConv2dFprop (NHWC)"
            : k->kind == HINT_SIDE_BY_SIDE ? "examples/45_dual_gemm"
                                           : "gemm::device::Gemm";
  put_shape(w, "ThreadblockShape", SHAPE_2, h->rows, h->columns, h->depth);
  put_shape(w, "WarpShape", SHAPE_2, h->warp_rows, h->warp_columns, h->depth);
  if (k->kind == HINT_CHAIN)
    put_shape(w, "ThreadblockShape1", SHAPE_2, z->rows, z->columns, z->depth);
  put_shape(w, "InstructionShape", SHAPE_2, mma->m_round, mma->n_round, mma->k_round);
  put_number(w, "Stages", k->stages);
  put(w, "ThreadblockSwizzle", "\"GemmIdentityThreadblockSwizzle<%" PRId64 ">\"",
      o.columns_first ? power_down(o.group < 8 ? o.group : 8) : 1);
  if (!o.columns_first && o.group < o.total)
    remark(w,
           "Rows run first, %" PRId64 " of %" PRId64 ": its swizzle has groups of columns alone.",
           o.group, o.total);
  if (k->split > 1) put_number(w, "split_k_slices", k->split);
}

static void say_cutlass(const ir_program *p, const hint_kernel *k, hint_words *w) {
  if (has_no_product(k, w)) return;
  if (k->groups)
    say_hopper(p, k, w);
  else
    say_ampere(p, k, w);
}

const hint_framework hint_frameworks[HINT_N_FRAMEWORKS] = {
    {"Triton",
     "triton-lang.org: python-api/generated/triton.Config, getting-started/tutorials/03 and 06 (03 "
     "has BLOCK_SIZE_M for BLOCK_M, GROUP_SIZE_M for GROUP_M)",
     say_triton},
    {"TileLang",
     "github.com/tile-ai/tilelang: examples/gemm/example_gemm_autotune.py, "
     "tilelang/language/annotations.py",
     say_tilelang},
    {"Helion", "github.com/pytorch/helion: helion.Config (helion/runtime/config.py), examples",
     say_helion},
    {"CUTLASS",
     "docs.nvidia.com/cutlass: gemm_api_3x, efficient_gemm; github.com/NVIDIA/cutlass: examples "
     "13, 41, 45, 88",
     say_cutlass},
};
