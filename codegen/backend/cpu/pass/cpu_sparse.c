/* Recognises products whose mapping skips the zeros of an operand that is structured sparse: n of
 * every m elements along the sum, or whole blocks. */
#include "codegen/backend/cpu/pass/pass.h"
#include "codegen/intrin/micro.h"
#include "model/sparse/sparse.h"

static int64_t parts(int64_t n, int64_t by) { return (n + by - 1) / by; }

/* The reads of op o whose zeros skip its points: where a sparsity rule of its unit names them, or
 * one of the memory that serves the unit an operand. Streamed ops run as if there were no rules. */
static uint64_t skipping_reads(const lowering *w, int o) {
  const tf_plan *p = w->plan;
  if (!p->sparse || p->stream_scope[o] >= 0 || p->stream[o].node >= 0) return 0;
  uint64_t on = tf_sparse_on(p->sparse, &p->arch->units[p->unit[o]].skipping, o, -1);
  for (int r = 0; r < p->wl->ops[o].n_reads; r++) {
    const tf_slice *s = &p->slices[p->op_slice[o] + r];
    on |= tf_sparse_on(p->sparse, &p->arch->memories[s->above].skipping, o, s->tensor);
  }
  return on;
}

/* The position among the op's dims of the one that alone moves rank r of the read, by one element a
 * step; -1: there is none. */
static int dim_at(const tf_op *op, const tf_ref *ref, int r) {
  for (int k = 0; k < op->n_dims; k++)
    if (lower_is_dim(&ref->index[r], op->dims[k])) return k;
  return -1;
}

/* Whether a is an argument of two ranks, moved by m and k alone, whose zeros have the pattern n of
 * m along k, or form blocks. */
static bool is_packed(const lowering *w, const tf_op *op, cpu_product *p) {
  const tf_ref *ref = &op->reads[p->a];
  const tf_tensor *a = &w->plan->wl->tensors[ref->tensor];
  const tf_density *d = &a->density;
  const bool blocks = d->fall == TF_FALL_TILES;
  if ((d->fall != TF_FALL_BLOCKS && !blocks) || a->producer >= 0 || a->rank != 2 || lower_padded(a))
    return false;
  const int along = blocks ? dim_at(op, ref, 0) < op->n_out_dims : d->rank;
  p->k = dim_at(op, ref, along);
  p->m = dim_at(op, ref, 1 - along);
  p->sparse.nonzeros = (int)(blocks ? d->tile[along] : d->n),
  p->sparse.block_length = (int)(blocks ? d->tile[along] : d->m);
  p->sparse.block = blocks ? (int)d->tile[1 - along] : 0;
  p->sparse.share = d->share;
  return p->k >= op->n_out_dims && p->m >= 0 && p->m < op->n_out_dims &&
         (blocks ? d->tile[along] <= UINT8_MAX + 1 && d->tile[1 - along] <= UINT8_MAX + 1
                 : d->m <= UINT8_MAX + 1) &&
         a->lo[0] == 0 && a->lo[1] == 0;
}

/* Whether nests consist of whole rows of blocks. */
static bool has_blocks(const lowering *w, const ir_range *m, int rows) {
  const bool whole = m->lo.var < 0 && m->lo.off == 0;
  return m->exact && m->most % rows == 0 && (whole || lower_span_of(w, m->lo).multiple % rows == 0);
}

/* Whether b has a contiguous row for each element of the sum, read in place, and the output has
 * contiguous rows, too. */
static bool has_rows(const lowering *w, const tf_op *op, const cpu_product *p) {
  const tf_ref *ref = &op->reads[p->b];
  const tf_tensor *b = &w->plan->wl->tensors[ref->tensor];
  const int n = op->dims[p->n];
  if (!b->rank || lower_padded(b) || lower_reads_dim(ref, b->rank - 1, n) ||
      lower_reads_dim(ref, b->rank, op->dims[p->m]))
    return false;
  const tf_index *last = &ref->index[b->rank - 1];
  return last->n_terms == 1 && last->terms[0].dim == n && last->terms[0].coef == 1 &&
         lower_reads_dim(ref, b->rank - 1, op->dims[p->k]);
}

static bool are_floats(const lowering *w, const tf_op *op) {
  const int tensors[] = {op->out, op->reads[0].tensor, op->reads[1].tensor};
  bool all = w->p->machine.data == IR_F32 && w->p->machine.lanes > 1;
  for (int i = 0; i < 3; i++)
    all &= w->p->buffers[w->p->buffer_of[tensors[i]]].type == IR_F32;
  return all;
}

/* The depth of parts of k: b's columns of a tile, with what else the tile uses, stay in the first
 * cache while all rows use them; and each nest begins with a part. 0: there is no such depth. */
static int64_t part_depth(const lowering *w, const ir_range *k, int64_t of, int64_t wide) {
  const double stays = w->plan->arch->core.l1_resident / (double)sizeof(float);
  const int64_t most = (int64_t)stays / wide < TF_MICRO_RUN ? (int64_t)stays / wide : TF_MICRO_RUN;
  const bool first = k->lo.var < 0 && k->lo.off == 0;
  int64_t deep = most > of ? most / of * of : of;
  if (first) return parts(parts(k->most, parts(k->most, deep)), of) * of;
  while (deep > of && k->most % deep)
    deep -= of;
  return k->exact && k->most % deep == 0 && lower_span_of(w, k->lo).multiple % k->most == 0 ? deep
                                                                                            : 0;
}

/* Chooses the tile: as wide as registers allow, with tiles of nearly equal width; and enough rows
 * that multiply-adds need not wait for each other. Each element of a costs a load of its value and
 * one of its position. */
static void choose_tile(const lowering *w, const ir_stmt *nest, cpu_product *p) {
  enum { WIDE = 8, NARROW = 6, MANY = 32, ROWS = 4 };
  const ir_machine *t = &w->p->machine;
  const int64_t most = t->registers >= MANY ? WIDE : NARROW,
                vectors = parts(nest->range[p->n].most, t->lanes);
  p->sparse.across = (int)parts(vectors, parts(vectors, most));
  p->sparse.rows = (int)(2 * most / p->sparse.across);
  if (p->sparse.rows > ROWS) p->sparse.rows = ROWS;
}

/* Chooses the tile for blocks, whose rows share loads of b: the most multiply-adds per load of
 * those that fit in the registers beside a row of b and an element of a; rows divide a block's. */
static void choose_block_tile(const lowering *w, const ir_stmt *nest, cpu_product *p) {
  const int64_t vectors = parts(nest->range[p->n].most, w->p->machine.lanes);
  double best = 0;
  for (int across = 1; across <= vectors && across <= 8; across++)
    for (int rows = 1; rows <= p->sparse.block && rows <= 16; rows++) {
      const double each = (double)(rows * across) / (rows + across),
                   tiles = (double)parts(vectors, across) * across;
      if (p->sparse.block % rows || rows * across + across + 1 > w->p->machine.registers) continue;
      if (each * (double)vectors / tiles <= best) continue;
      best = each * (double)vectors / tiles;
      p->sparse.across = across, p->sparse.rows = rows;
    }
}

static bool add_panels(lowering *w, const tf_op *op, cpu_product *p) {
  enum { WORDS_MOST = 1 << 28 };
  const tf_workload *wl = w->plan->wl;
  const int64_t rows = wl->dims[op->dims[p->m]].extent,
                all = parts(wl->dims[op->dims[p->k]].extent, p->sparse.deep);
  const char *name = wl->tensors[op->reads[p->a].tensor].name,
             *id = w->p->tensor_id[op->reads[p->a].tensor];
  p->sparse.row_values = p->sparse.deep / p->sparse.block_length * p->sparse.nonzeros;
  if (rows > WORDS_MOST / all / p->sparse.row_values) return false;
  p->sparse.values = rows * all * p->sparse.row_values;
  p->sparse.starts = p->sparse.block ? rows / p->sparse.block * all + 1 : 0;
  p->sparse.panels = lower_scratch(w, IR_F32, cpu_sparse_words(p), name, id);
  w->p->buffers[p->sparse.panels].space = 0;
  w->p->buffers[p->sparse.panels].role = IR_PANELS;
  p->sparse.part_buffer =
      lower_scratch(w, IR_F32, p->sparse.deep * p->sparse.across * w->p->machine.lanes, name, id);
  return true;
}

bool lower_sparse(lowering *w, const ir_stmt *nest, cpu_product *product) {
  static const ir_kernel kernel = {"f32", IR_F32, IR_F32, IR_F32, 1, 1, 1, 1, IR_F32, false};
  const tf_op *op = &w->plan->wl->ops[nest->op];
  const uint64_t on = skipping_reads(w, nest->op);
  if (!on || op->n_dims != op->n_out_dims + 1 || op->n_out_dims < 2 || nest->nest.from ||
      !are_floats(w, op))
    return false;
  for (int a = 0; a < 2; a++) {
    cpu_product p = {.kind = CPU_SPARSE,
                     .kernel = &kernel,
                     .pack = -1,
                     .a = a,
                     .b = 1 - a,
                     .n = op->n_out_dims - 1};
    if (!(on >> a & 1) || !is_packed(w, op, &p) || p.m == p.n || !has_rows(w, op, &p)) continue;
    if (p.sparse.block && !has_blocks(w, &nest->range[p.m], p.sparse.block)) continue;
    (p.sparse.block ? choose_block_tile : choose_tile)(w, nest, &p);
    p.sparse.deep = part_depth(w, &nest->range[p.k], p.sparse.block_length,
                               (int64_t)p.sparse.across * w->p->machine.lanes);
    if (!p.sparse.deep || !add_panels(w, op, &p)) continue;
    *product = p;
    return true;
  }
  return false;
}
