/* Fuses conversions into the products before them. If a product's output is next copied, as another
 * type, into rows that another product reads or into an output, its tiles store the rounded sums
 * there directly. Likewise, if the only reader of int32 sums is a map that requantises them to
 * bytes (bias, scale, zero point, limits), the tiles compute it and store the bytes. */
#include "codegen/backend/cpu/note/window.h"
#include "codegen/backend/cpu/pass/pass.h"
#include "codegen/intrin/micro.h"

static const tf_op *op_of(const lowering *w, const ir_stmt *s) { return &w->plan->wl->ops[s->op]; }

/* Whether one tile sums over all that the nest sums. */
static bool one_tile_sums_all(const lowering *w, const ir_stmt *s, const cpu_product *p) {
  const tf_op *op = op_of(w, s);
  if (p->kind == CPU_PAIRS) return !p->pairs.steps && op->n_dims == op->n_out_dims + 1;
  int64_t steps = 1;
  for (int k = op->n_out_dims; k < op->n_dims; k++) {
    const int64_t group = k == p->channels.groups ? p->kernel->group : 1;
    if (__builtin_mul_overflow(steps, (s->range[k].most + group - 1) / group, &steps)) return false;
  }
  return p->kind == CPU_CHANNELS && steps <= TF_MICRO_PART;
}

/* A product whose sums are complete when its tiles end. */
static bool is_whole(const lowering *w, const ir_stmt *s) {
  const cpu_product *p = cpu_product_of(s);
  if (!p || s->nest.n_resets > 0 || !one_tile_sums_all(w, s, p)) return false;
  const ir_buffer *b = &w->p->buffers[w->p->buffer_of[op_of(w, s)->out]];
  return b->role == IR_BOX && b->type == p->kernel->c;
}

static bool can_round(const ir_stmt *s) {
  return cpu_product_of(s)->kernel->leaves != cpu_product_of(s)->kernel->c;
}

static bool saves(const lowering *w, const ir_stmt *s, const ir_stmt *next) {
  if (next->kind != IR_SAVE || next->op != s->op ||
      next->save.from != w->p->buffer_of[op_of(w, s)->out])
    return false;
  bool all = w->p->buffers[next->save.to].type == cpu_of(s)->product->kernel->leaves;
  for (int k = 0; k < op_of(w, s)->n_out_dims; k++)
    all &= lower_same_range(&s->range[k], &next->range[k]);
  return all;
}

/* Whether `next` copies rows of a, in its kernel's layout, that are exactly the rows of s. */
static bool copies_rows_of(const lowering *w, const ir_stmt *s, const ir_stmt *next) {
  const tf_op *op = op_of(w, s);
  const cpu_product *p = cpu_of(s)->product, *q = cpu_product_of(next);
  if (p->kind != CPU_PAIRS || !q || q->kind != CPU_PAIRS || q->pairs.copy < 0 ||
      q->pairs.keep_copy || q->kernel->a != p->kernel->leaves || next->nest.from)
    return false;
  const tf_op *reader = op_of(w, next);
  const tf_ref *a = &reader->reads[q->a];
  const tf_tensor *z = &w->plan->wl->tensors[op->out];
  if (a->tensor != op->out || z->n_consumers != 1 || reader->reads[q->b].tensor == op->out)
    return false;
  bool all = reader->dims[q->m] == op->dims[p->m] && reader->dims[q->k] == op->dims[p->n];
  for (int r = 0; all && r < z->rank; r++) {
    const tf_index *ix = &a->index[r];
    const int k = lower_find_dim(reader, op->dims[r]);
    const bool matrix = r == p->m || r == p->n;
    all = lower_is_dim(ix, op->dims[r]) && k >= 0 &&
          lower_same_range(&s->range[r], &next->range[k]) &&
          (matrix ? s->range[r].exact : s->range[r].most == 1);
  }
  /* padding of rows: a kernel of tiles fills it with zeros; rows after the last may hold anything,
   * as their sums are not used */
  return all && (p->kernel->m_round > 1 || s->range[p->n].most % q->kernel->k_round == 0);
}

/* Whether the kernel holds int32 sums in vectors, which can be converted to float32 and bytes. */
static bool maps_sums(const lowering *w, const ir_kernel *k) {
  const tf_micro_kernel *of = tf_micro_kernel_of(k);
  return k->c == IR_I32 && of && of->form == TF_MICRO_VECTORS &&
         w->p->machine.lanes >= TF_MICRO_BYTES_LANES &&
         (!of->lanes || of->lanes == w->p->machine.lanes);
}

/* Whether a tile can read operand i of the map: the sums themselves; or float32 that is either the
 * same for all lanes of a register or, if lanes run along n, contiguous there. */
static bool tile_can_read(const lowering *w, const ir_stmt *s, const ir_stmt *map, int i) {
  const tf_workload *wl = w->plan->wl;
  const tf_op *op = op_of(w, map), *of = op_of(w, s);
  const cpu_product *p = cpu_product_of(s);
  const tf_ref *ref = &op->reads[i];
  const tf_tensor *z = &wl->tensors[ref->tensor];
  const ir_buffer *b = &w->p->buffers[w->p->buffer_of[ref->tensor]];
  if (ref->tensor == of->out) {
    bool at = true;
    for (int r = 0; r < of->n_out_dims; r++)
      at &= lower_is_dim(&ref->index[r], of->dims[r]);
    return at;
  }
  const cpu_window_read kind = cpu_window_kind(wl, map, i);
  if (b->type != IR_F32 || b->block.length || lower_padded(z)) return false;
  if (p->kind == CPU_CHANNELS)
    return kind == CPU_STEADY &&
           !(p->channels.joined && cpu_read_moves(wl, op, i, op->n_out_dims - 2));
  return kind == CPU_STEADY || (kind == CPU_LANES && cpu_window_step(wl, map, i) == 1);
}

/* Whether `next` is the only reader of the sums of s and makes bytes of them in operations that
 * print/rows.c can print as vectors, with the same functions as for rows, so that results are equal
 * bit by bit. */
static bool requantises(const lowering *w, const ir_stmt *s, const ir_stmt *next) {
  static const uint32_t calls = 1u << TF_K_ADD | 1u << TF_K_SUB | 1u << TF_K_MUL | 1u << TF_K_MAX |
                                1u << TF_K_MIN | 1u << TF_K_NEG | 1u << TF_K_RELU |
                                1u << TF_K_ROUND;
  enum { MOST_READS = 6 };
  const tf_op *of = op_of(w, s), *op;
  const cpu_product *p = cpu_product_of(s);
  if (next->kind != IR_NEST || cpu_of(next)->product || cpu_of(next)->window ||
      cpu_of(next)->fused || next->nest.from || next->nest.divides >= 0)
    return false;
  op = op_of(w, next);
  const ir_buffer *out = &w->p->buffers[w->p->buffer_of[op->out]];
  bool can = maps_sums(w, p->kernel) && op->reduce == TF_ASSIGN && op->n_dims == of->n_out_dims &&
             op->n_out_dims == of->n_out_dims && op->n_reads <= MOST_READS &&
             w->plan->wl->tensors[of->out].n_consumers == 1 && ir_is_byte(out->type) &&
             !out->block.length && (out->role == IR_ARGUMENT || out->role == IR_BOX);
  for (int k = of->n_out_dims; can && k < of->n_dims; k++)
    can = s->range[k].never_empty;
  for (int k = 0; can && k < op->n_dims; k++)
    can = op->dims[k] == of->dims[k] && lower_same_range(&next->range[k], &s->range[k]);
  for (int i = 0; can && i < op->n_expr; i++)
    can = op->expr[i].what == TF_X_NUMBER || op->expr[i].what == TF_X_READ ||
          (op->expr[i].what == TF_X_CALL && calls >> op->expr[i].call & 1);
  bool any = false;
  for (int i = 0; can && i < op->n_reads; i++)
    can = tile_can_read(w, s, next, i), any |= op->reads[i].tensor == of->out;
  return can && any;
}

static void round_in(lowering *w, const ir_body *body) {
  for (int i = 0; i < body->n; i++) {
    ir_stmt *s = body->s[i], *next = NULL;
    round_in(w, &s->body);
    for (int k = i + 1; k < body->n && !next; k++)
      if (body->s[k]->kind != IR_LET) next = body->s[k];
    if (!next || !is_whole(w, s)) continue;
    const bool map = requantises(w, s, next);
    if (!map && !(can_round(s) && (saves(w, s, next) || copies_rows_of(w, s, next)))) continue;
    cpu_note *n = cpu_edit(w->p, s), *done = cpu_edit(w->p, next);
    if (lower_failed(w)) return;
    if (map) {
      n->map = next, done->map_of = s, done->fused = true;
      continue;
    }
    n->rounded_for = next;
    *(next->kind == IR_NEST ? &done->copied : &done->fused) = true;
  }
}

void lower_fuse_rounding(lowering *w) { round_in(w, &w->p->body); }
