/* Products of few rows and a large operand b, as in decoding, which read b once and in place:
 * packing b would take longer than multiplying, which is limited by memory bandwidth. Weights are
 * treated so for more rows, too, in tiles. With fewer rows still b may be small, unless it is
 * weights, which are packed once; and an output that has no dim for its single row has no other
 * product kernel. */
#include <limits.h>

#include "codegen/backend/cpu/pass/pass.h"
#include "codegen/intrin/micro.h"

static bool reads(const lowering *w, const tf_op *op, int read, int k) {
  const tf_ref *ref = &op->reads[read];
  return lower_reads_dim(ref, w->plan->wl->tensors[ref->tensor].rank, op->dims[k]);
}

/* How often the whole workload uses an element of b. */
static int64_t uses_of_b(const lowering *w, const tf_op *op, int b) {
  int64_t n = 1;
  for (int k = 0; k < op->n_dims; k++)
    if (!reads(w, op, b, k) && __builtin_mul_overflow(n, w->plan->wl->dims[op->dims[k]].extent, &n))
      return INT64_MAX;
  return n;
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t words_of(const tf_tensor *z) {
  int64_t words = 1;
  for (int r = 0; r < z->rank; r++)
    if (__builtin_mul_overflow(words, z->extent[r], &words)) return INT64_MAX;
  return words;
}

/* Whether elements adjacent along the op's k-th dim are adjacent in the operand, and the dim moves
 * no other rank. */
static bool runs(const lowering *w, const tf_op *op, int read, int k) {
  const tf_ref *ref = &op->reads[read];
  const int last = w->plan->wl->tensors[ref->tensor].rank - 1;
  if (last < 0 || lower_reads_dim(ref, last, op->dims[k])) return false;
  for (int t = 0; t < ref->index[last].n_terms; t++)
    if (ref->index[last].terms[t].dim == op->dims[k]) return ref->index[last].terms[t].coef == 1;
  return false;
}

/* Whether the sums' buffer is float32; sums that are stored as bfloat16 are computed in one. */
static bool is_real(const lowering *w, int z) {
  const ir_type type = w->p->buffers[w->p->buffer_of[z]].type;
  return (type == IR_F32 || type == IR_BF16) && !lower_padded(&w->plan->wl->tensors[z]);
}

static bool has_rows(const lowering *w, const tf_op *op, int b) {
  for (int k = 0; k < op->n_out_dims; k++)
    if (reads(w, op, 1 - b, k) && !reads(w, op, b, k)) return true;
  return false;
}

/* The reduced dim along which the kernel runs: one along which both operands are contiguous or, if
 * b is contiguous along the output's last dim, the longest; -1: none. */
static int sum_of(const lowering *w, const tf_op *op, int b) {
  int longest = -1;
  for (int k = op->n_out_dims; k < op->n_dims; k++) {
    if (!reads(w, op, b, k) || !reads(w, op, 1 - b, k)) continue;
    if (runs(w, op, b, k) && runs(w, op, 1 - b, k)) return k;
    const int64_t n = w->plan->wl->dims[op->dims[k]].extent;
    if (longest < 0 || n > w->plan->wl->dims[op->dims[longest]].extent) longest = k;
  }
  return runs(w, op, b, op->n_out_dims - 1) ? longest : -1;
}

/* Whether the contiguous dim is long enough to fill vectors. */
static bool is_long(const lowering *w, const tf_op *op, int b, int k) {
  const int along = runs(w, op, b, k) ? k : op->n_out_dims - 1;
  return w->plan->wl->dims[op->dims[along]].extent >= w->p->machine.lanes;
}

/* Whether more rows than the registers hold are faster in tiles over b in place than over packed
 * panels. b must be weights, which come from memory, as other layers evict them between calls; and
 * multiplying must not take more than a few times as long as reading, or no longer than that, where
 * the kernel of panels multiplies groups. Reducing lanes at the end of each sum counts like some
 * vectors. The number of rows is limited, as each tile has a call of its own in the code, and rows
 * of a lie on the stack (READS: arch-specs/cores/fitted.csv). */
static bool tiles_pay(const lowering *w, const tf_op *op, int b, int k) {
  enum { READS = 4, VECTORS = 32, ROWS = 128 };
  const tf_arch *a = w->plan->arch;
  const tf_tensor *z = &w->plan->wl->tensors[op->reads[b].tensor];
  const ir_machine *t = &w->p->machine;
  const double each = (double)sizeof(float) /
                      ir_bytes(w->p->buffers[w->p->buffer_of[op->reads[b].tensor]].type),
               reads = t->real && t->real->group > 1 ? 1 : READS;
  if (z->producer >= 0 || z->rank != 2 || op->n_dims != 3 || op->n_out_dims != 2 ||
      !has_rows(w, op, b))
    return false;
  if (runs(w, op, b, k) && w->plan->wl->dims[op->dims[k]].extent < (int64_t)VECTORS * t->lanes)
    return false;
  const int64_t rows = uses_of_b(w, op, b);
  return rows <= ROWS &&
         (double)rows <= reads * a->core.ports * t->lanes / (each * a->memories[0].read_bw);
}

/* Whether such weights, contiguous along n, are streamed in panels (codegen/intrin/stream.c): there
 * are enough rows that multiplying takes longer than reading, and few enough that they stay in the
 * close memory. */
bool lower_streams(const lowering *w, int o, int b, const ir_range *range) {
  enum { ROWS = 128 };
  const tf_op *op = &w->plan->wl->ops[o];
  const tf_tensor *z = &w->plan->wl->tensors[op->reads[b].tensor];
  const ir_kernel *kernel = w->p->machine.real;
  if (!kernel || z->producer >= 0 || z->rank != 2 || op->n_dims != 3 || op->n_out_dims != 2 ||
      !has_rows(w, op, b) || !runs(w, op, b, 1) || lower_is_whole(w, o) || lower_padded(z) ||
      lower_padded(&w->plan->wl->tensors[op->reads[1 - b].tensor]))
    return false;
  for (int k = 0; k < 3; k++)
    if (!range[k].exact) return false;
  return w->p->buffers[w->p->buffer_of[op->reads[b].tensor]].type == kernel->b &&
         range[2].most % kernel->k_round == 0 && words_of(z) > lower_close_words(w->plan->arch) &&
         range[0].most <= ROWS && tf_micro_streams(&w->p->machine, kernel, range[0].most);
}

/* Columns of a panel. If nests have all columns, or whole panels, as many as a tile is wide; else
 * the most that divide a nest's columns, if that is at least half a tile: all nests then begin with
 * a panel, and panels can be packed beforehand. */
static int64_t panel_of(const lowering *w, const ir_stmt *nest, const cpu_product *p) {
  const int64_t lanes = w->p->machine.lanes,
                wide = (int64_t)tf_micro_streamed_across(&w->p->machine) * lanes,
                n = nest->range[p->n].most,
                all = w->plan->wl->dims[w->plan->wl->ops[nest->op].dims[p->n]].extent;
  for (int64_t by = wide; n < all && by >= wide / 2; by -= lanes)
    if (n % by == 0) return by;
  return wide;
}

/* Columns of a row of b in one page, if rows lie in more pages than the TLB has entries: a strip
 * then uses the whole page before its entry is evicted; else 1. */
static int64_t columns_in_page(const lowering *w, const ir_stmt *nest, const cpu_product *p) {
  const tf_core *core = &w->plan->arch->core;
  const tf_op *op = &w->plan->wl->ops[nest->op];
  const int64_t bytes = ir_bytes(p->kernel->b);
  const double row = (double)(w->plan->wl->dims[op->dims[p->n]].extent * bytes),
               pages = (double)nest->range[p->k].most * (row < core->page ? row / core->page : 1);
  return pages > core->tlb_entries ? (int64_t)core->page / bytes : 1;
}

/* Sizes a streamed panel: packed here, it stays in the first cache while all tiles use it. Strips
 * are as wide as the close memory can hold sums for, if a does not fit there, or pages. */
void lower_stream(const lowering *w, const ir_stmt *nest, cpu_product *p) {
  enum { EACH = 8 }; /* groups of k are a multiple of this */
  const int64_t close = lower_close_words(w->plan->arch), m = nest->range[p->m].most,
                k = nest->range[p->k].most / p->kernel->group;
  p->pairs.pitch = panel_of(w, nest, p);
  const int64_t first = (int64_t)(w->plan->arch->core.l1_resident / (double)sizeof(float)),
                most = smaller(first / p->pairs.pitch, close / 4 / m),
                parts = most > EACH ? (k + most - 1) / most : 1;
  p->pairs.steps = most > EACH ? ((k + parts - 1) / parts + EACH - 1) / EACH * EACH : EACH;
  const int64_t sums = close / 4 / m,
                strip = m * k > close ? sums : smaller(sums, columns_in_page(w, nest, p)),
                panels = strip / p->pairs.pitch;
  p->pairs.strip = (panels > 1 ? panels : 1) * p->pairs.pitch;
}

/* Whether there are at most half as many rows as registers can hold sums for: with more, packing a
 * small b pays, even from the second cache. */
static bool is_fewer(const lowering *w, const tf_op *op, int b) {
  return uses_of_b(w, op, b) <= tf_micro_few_rows(w->p->machine.registers) / 2;
}

/* Whether the op, of whose reads its output's last dim moves b alone, is such a product; k: the
 * position of the reduced dim along which the kernel runs, all others being outside. */
static bool is_few(const lowering *w, int o, int b, int *k) {
  const tf_op *op = &w->plan->wl->ops[o];
  if (w->p->machine.lanes < 2 || !is_real(w, op->out) || !is_real(w, op->reads[0].tensor) ||
      !is_real(w, op->reads[1].tensor) || (*k = sum_of(w, op, b)) < 0)
    return false;
  if (uses_of_b(w, op, b) > tf_micro_few_rows(w->p->machine.registers) && !tiles_pay(w, op, b, *k))
    return false;
  if (op->n_dims > op->n_out_dims + 1 && !is_long(w, op, b, *k)) return false;
  const tf_tensor *z = &w->plan->wl->tensors[op->reads[b].tensor];
  const bool is_far = words_of(z) > lower_close_words(w->plan->arch),
             weights = z->producer < 0 && z->rank == 2;
  if (!has_rows(w, op, b) || (!is_far && !weights && is_fewer(w, op, b)))
    return is_long(w, op, b, *k);
  return is_far;
}

bool lower_spreads(const lowering *w, int o) {
  const tf_tree *t = w->plan->tree;
  for (int n = t->nodes[t->op_node[o]].parent; n >= 0; n = t->nodes[n].parent)
    for (int k = t->nodes[n].n_temporal; t->nodes[n].kind == TF_TILE && k < t->nodes[n].n_loops;
         k++)
      if (t->nodes[n].level + 1 < w->plan->arch->n_memories &&
          w->run.trip[w->plan->first_loop[n] + k] > 1)
        return true;
  return false;
}

bool lower_skinny_or_streamed(const lowering *w, int o, int b, bool *tiles) {
  enum { DIMS = 3 };
  int k;
  const tf_op *op = &w->plan->wl->ops[o];
  ir_range range[DIMS] = {0};
  for (k = 0; k < DIMS && k < op->n_dims; k++)
    range[k] = w->cur[o * w->plan->wl->n_dims + op->dims[k]];
  const bool streams = lower_streams(w, o, b, range);
  *tiles = streams || uses_of_b(w, op, b) > tf_micro_few_rows(w->p->machine.registers);
  return (streams || is_few(w, o, b, &k)) && (w->in_parallel || !lower_spreads(w, o));
}

/* Whether b takes at most half of the outermost cache, so that each use comes from there. */
static bool is_held(const lowering *w, const ir_stmt *nest, const cpu_product *p) {
  const tf_arch *a = w->plan->arch;
  const tf_op *op = &w->plan->wl->ops[nest->op];
  for (int i = 0; i < 2; i++)
    if (w->p->buffers[w->p->buffer_of[op->reads[i].tensor]].type != IR_F32) return false;
  if (a->n_memories < 2 || p->skinny.along_k || p->m < 0 || !nest->range[p->n].exact) return false;
  const tf_memory *cache = &a->memories[1];
  return cache->capacity_words <= 0 ||
         (double)words_of(&w->plan->wl->tensors[op->reads[p->b].tensor]) * (double)sizeof(float) <=
             (double)cache->capacity_words * cache->word_bits / 8 / 2;
}

static int columns(int64_t n) { return n < 1 ? 1 : n > INT_MAX ? INT_MAX : (int)n; }

bool lower_skinny(const lowering *w, const ir_stmt *nest, cpu_product *p) {
  static const ir_kernel kernel = {"f32", IR_F32, IR_F32, IR_F32, 1, 1, 1, 1, IR_F32, false};
  int k;
  const ir_buffer *c = &w->p->buffers[w->p->buffer_of[w->plan->wl->ops[nest->op].out]];
  if (!is_few(w, nest->op, p->b, &k) || c->type != IR_F32) return false;
  p->kernel = &kernel;
  p->kind = CPU_SKINNY;
  p->k = k;
  p->skinny.along_k = runs(w, &w->plan->wl->ops[nest->op], p->b, k);
  /* of the close half of the memory a quarter for rows of b; sums may take the other half, too, as
   * they are accessed in order */
  const int64_t close = lower_close_words(w->plan->arch),
                rows = p->m < 0 ? 1 : nest->range[p->m].most;
  p->skinny.held = is_held(w, nest, p);
  p->skinny.strip = columns(close / 4 / TF_MICRO_FEW_STEPS);
  p->skinny.block = columns(2 * close / rows);
  return true;
}
