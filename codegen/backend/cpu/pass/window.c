/* Sums and maxima over small windows that are no matrix products: depthwise convolution, pooling.
 * Lanes run along the output's last dim, columns or channels; maps that follow are fused while the
 * sums are in registers. */
#include "codegen/backend/cpu/note/window.h"
#include "codegen/backend/cpu/pass/pass.h"
#include "codegen/intrin/micro.h"
#include "model/input/dims.h"

enum {
  MAPS_MOST = 4,
  EXACT_MOST = 1 << 24
}; /* maps fused; integers up to there are exact in float32 */

static const tf_op *op_of(const lowering *w, const ir_stmt *s) { return &w->plan->wl->ops[s->op]; }
static const ir_buffer *buffer_of(const lowering *w, int z) {
  return &w->p->buffers[w->p->buffer_of[z]];
}

static bool float_in_order(const ir_buffer *b) {
  return (b->type == IR_F32 || b->type == IR_BF16) && !b->block.length;
}

static bool takes_bytes(const lowering *w, const ir_buffer *b) {
  return ir_is_byte(b->type) && !b->block.length && w->p->machine.lanes >= TF_MICRO_BYTES_LANES;
}

/* Bytes too, if vectors can load them. */
static bool in_order(const lowering *w, const ir_buffer *b) {
  return float_in_order(b) || takes_bytes(w, b);
}

/* Whether lanes of float32 can hold the sums exactly: int32 sums whose products of bytes float32
 * holds; the maximum or minimum of bytes. */
static bool can_sum(const lowering *w, const tf_op *op) {
  const ir_buffer *out = buffer_of(w, op->out);
  if (takes_bytes(w, out)) return op->reduce == TF_REDUCE_MAX || op->reduce == TF_REDUCE_MIN;
  if (out->block.length || (out->type != IR_F32 && out->type != IR_I32)) return false;
  return out->type == IR_F32 ||
         ir_sums_within(w->plan->wl, op, buffer_of(w, op->reads[0].tensor)->type,
                        buffer_of(w, op->reads[1].tensor)->type, EXACT_MOST);
}

/* The lanes inside a padded last rank are computed once for all rows, so that they may depend on
 * the lanes' dim only. */
static bool asks_lanes_alone(const lowering *w, const tf_op *op, int i) {
  const tf_tensor *z = &w->plan->wl->tensors[op->reads[i].tensor];
  const tf_index *last = &op->reads[i].index[z->rank - 1];
  bool alone = true;
  for (int t = 0; z->pad[z->rank - 1] && t < last->n_terms; t++)
    for (int k = 0; k < op->n_out_dims - 1; k++)
      alone &= last->terms[t].dim != op->dims[k];
  return alone;
}

static bool can_read(const lowering *w, const ir_stmt *s, int i) {
  const tf_workload *wl = w->plan->wl;
  const tf_op *op = op_of(w, s);
  const cpu_window_read kind = cpu_window_kind(wl, s, i);
  const int64_t step = cpu_window_step(wl, s, i);
  if (!in_order(w, buffer_of(w, op->reads[i].tensor))) return false;
  if (kind == CPU_STEADY) return true;
  if (kind == CPU_LANES) return step > 0 && asks_lanes_alone(w, op, i);
  return step == 0 && !cpu_read_moves(wl, op, i, op->n_out_dims - 2) &&
         !lower_padded(&wl->tensors[op->reads[i].tensor]);
}

/* Whether the op sums sums, differences and products of its reads; or a read alone, if that is
 * float32 read in place. */
static bool is_sum_of_products(const lowering *w, const tf_op *op) {
  bool can = op->reduce == TF_REDUCE_ADD || op->reduce == TF_REDUCE_MAX ||
             op->reduce == TF_REDUCE_MIN,
       fills = false;
  if (can) cpu_window_value(w->plan->wl, op, &fills);
  if (fills)
    return float_in_order(buffer_of(w, op->reads[0].tensor)) &&
           buffer_of(w, op->out)->type == IR_F32;
  for (int i = 0; can && i < op->n_expr; i++)
    can = op->expr[i].what == TF_X_NUMBER || op->expr[i].what == TF_X_READ ||
          op->expr[i].call == TF_K_MUL || op->expr[i].call == TF_K_ADD ||
          op->expr[i].call == TF_K_SUB;
  return can;
}

/* The number of positions of the window; 0: too many, or not constant. */
static int taps_of(const tf_op *op, const ir_stmt *s) {
  int64_t n = 1;
  for (int k = op->n_out_dims; k < op->n_dims; k++) {
    if (!s->range[k].exact || s->range[k].most > CPU_WINDOW_TAPS) return 0;
    n *= s->range[k].most;
    if (n > CPU_WINDOW_TAPS) return 0;
  }
  return (int)n;
}

/* Whether the last reduced dim is contiguous while lanes along the output would be strided: such
 * sums are vectorised along the reduced row instead. */
static bool sums_rows(const lowering *w, const ir_stmt *s) {
  const tf_workload *wl = w->plan->wl;
  const tf_op *op = op_of(w, s);
  bool across = false, along = true;
  for (int i = 0; i < op->n_reads; i++) {
    const tf_ref *ref = &op->reads[i];
    const int rank = wl->tensors[ref->tensor].rank, dim = op->dims[op->n_dims - 1];
    across |= cpu_window_kind(wl, s, i) == CPU_ACROSS;
    for (int t = 0; rank > 0 && t < ref->index[rank - 1].n_terms; t++)
      along &= ref->index[rank - 1].terms[t].dim != dim || ref->index[rank - 1].terms[t].coef == 1;
    along &= rank == 0 || !lower_reads_dim(ref, rank - 1, dim);
  }
  return across && along;
}

static bool is_window(const lowering *w, const ir_stmt *s) {
  const tf_op *op = op_of(w, s);
  if (s->kind != IR_NEST || cpu_of(s)->product || s->nest.from || s->nest.divides >= 0 ||
      !is_sum_of_products(w, op) || op->n_out_dims < 1 || taps_of(op, s) < 2 || sums_rows(w, s))
    return false;
  bool can = can_sum(w, op), any = false;
  for (int i = 0; can && i < op->n_reads; i++) {
    can = can_read(w, s, i);
    any |= cpu_window_kind(w->plan->wl, s, i) == CPU_LANES;
  }
  return can && any;
}

/* ---- maps ----------------------------------------------------------------------------------- */

static bool reads_at(const tf_op *map, int i, const tf_op *maker) {
  bool at = true;
  for (int r = 0; at && r < maker->n_out_dims; r++)
    at = lower_is_dim(&map->reads[i].index[r], maker->dims[r]);
  return at;
}

static bool made_by(const lowering *w, const ir_stmt *s, const cpu_window *v, int z,
                    const tf_op **maker) {
  *maker = op_of(w, s)->out == z ? op_of(w, s) : NULL;
  for (int i = 0; i < v->n_maps; i++)
    if (op_of(w, v->maps[i])->out == z) *maker = op_of(w, v->maps[i]);
  return *maker;
}

/* Whether the map covers exactly the points of s's output, and its other reads are contiguous. */
static bool can_map(const lowering *w, const ir_stmt *s, const cpu_window *v, const ir_stmt *map) {
  if (map->kind != IR_NEST || cpu_of(map)->product || map->nest.from || map->nest.divides >= 0)
    return false;
  static const uint32_t maps = 1u << TF_K_ADD | 1u << TF_K_SUB | 1u << TF_K_MUL | 1u << TF_K_DIV |
                               1u << TF_K_MAX | 1u << TF_K_MIN | 1u << TF_K_NEG | 1u << TF_K_RELU |
                               1u << TF_K_EXP | 1u << TF_K_SIGMOID | 1u << TF_K_SILU |
                               1u << TF_K_ROUND;
  const tf_op *op = op_of(w, map), *of = op_of(w, s), *maker;
  const ir_buffer *out = buffer_of(w, op->out);
  bool can = op->reduce == TF_ASSIGN && op->n_dims == of->n_out_dims &&
             op->n_out_dims == of->n_out_dims &&
             ((out->type == IR_F32 && !out->block.length) ||
              takes_bytes(w, out)), /* bytes are rounded */
      any = false;
  for (int k = 0; can && k < op->n_dims; k++)
    can = op->dims[k] == of->dims[k] && lower_same_range(&map->range[k], &s->range[k]);
  for (int i = 0; can && i < op->n_expr; i++)
    can = op->expr[i].what == TF_X_NUMBER || op->expr[i].what == TF_X_READ ||
          (op->expr[i].what == TF_X_CALL && maps >> op->expr[i].call & 1);
  for (int i = 0; can && i < op->n_reads; i++) {
    const bool made = made_by(w, s, v, op->reads[i].tensor, &maker);
    const cpu_window_read kind = cpu_window_kind(w->plan->wl, map, i);
    any |= made;
    can = made ? reads_at(op, i, maker)
               : float_in_order(buffer_of(w, op->reads[i].tensor)) &&
                     (kind == CPU_STEADY ||
                      (kind == CPU_LANES && cpu_window_step(w->plan->wl, map, i) == 1 &&
                       !lower_padded(&w->plan->wl->tensors[op->reads[i].tensor])));
  }
  return can && any;
}

/* ---- groups of four bytes ------------------------------------------------------------------ */

/* Whether the innermost reduced dim moves the last rank of read i by one element, and no other
 * rank. */
static bool leads_to_neighbours(const lowering *w, const tf_op *op, int i) {
  const tf_ref *ref = &op->reads[i];
  const int last = w->plan->wl->tensors[ref->tensor].rank - 1, dim = op->dims[op->n_dims - 1];
  bool can = last >= 0 && tf_index_coef(&ref->index[last], dim) == 1;
  for (int r = 0; r < last; r++)
    can &= !tf_index_coef(&ref->index[r], dim);
  for (int k = 0; can && k < op->n_dims;
       k++) /* which columns are inside may depend on lanes and the window alone */
    can = k == op->n_out_dims - 1 || k == op->n_dims - 1 ||
          !tf_index_coef(&ref->index[last], op->dims[k]);
  return can;
}

/* The read of unsigned bytes that are multiplied in groups of four by signed bytes of the other
 * read, which are the same for all lanes and rows; -1: there is none. */
static int fours_of(const lowering *w, const ir_stmt *s) {
  enum { FOUR = 4 };
  const tf_workload *wl = w->plan->wl;
  const tf_op *op = op_of(w, s);
  const int row = op->n_out_dims - 2;
  if (w->p->machine.fours != TF_FOURS_AVX512_VNNI || !ir_is_product(op) || row < 0 ||
      s->nest.n_resets > 0 || buffer_of(w, op->out)->type != IR_I32 ||
      op->n_dims == op->n_out_dims || s->range[op->n_dims - 1].most > FOUR ||
      s->range[op->n_dims - 1].most < 2)
    return -1;
  for (int i = 0; i < 2; i++) {
    const ir_buffer *x = buffer_of(w, op->reads[i].tensor),
                    *by = buffer_of(w, op->reads[1 - i].tensor);
    const int64_t step = cpu_window_step(wl, s, i);
    if (x->type == IR_U8 && by->type == IR_I8 && x->role == IR_ARGUMENT &&
        (step == 1 || step == 2) && cpu_window_kind(wl, s, i) == CPU_LANES &&
        cpu_window_kind(wl, s, 1 - i) == CPU_STEADY && cpu_read_moves(wl, op, i, row) &&
        !cpu_read_moves(wl, op, 1 - i, row) &&
        !lower_padded(&wl->tensors[op->reads[1 - i].tensor]) && leads_to_neighbours(w, op, i))
      return i;
  }
  return -1;
}

/* Makes statement `at` of the body a window, fused with the maps after it. */
static void make_window(lowering *w, ir_body *body, int at) {
  ir_stmt *s = body->s[at];
  cpu_window *v = TF_NEW(w->p->arena, cpu_window);
  const ir_stmt **maps = TF_ARRAY(w->p->arena, const ir_stmt *, MAPS_MOST);
  cpu_note *note = cpu_edit(w->p, s);
  if (lower_failed(w)) return;
  *v = (cpu_window){.taps = taps_of(op_of(w, s), s), .maps = maps, .fours = fours_of(w, s)};
  v->value = cpu_window_value(w->plan->wl, op_of(w, s), &v->selects_identity);
  note->window = v;
  for (int i = at + 1; i < body->n && s->nest.n_resets == 0 && v->n_maps < MAPS_MOST; i++) {
    if (!can_map(w, s, v, body->s[i])) break;
    if (!(note = cpu_edit(w->p, body->s[i]))) return;
    note->fused = true;
    maps[v->n_maps++] = body->s[i];
  }
}

static void windows_in(lowering *w, ir_body *body) {
  for (int i = 0; i < body->n; i++) {
    windows_in(w, &body->s[i]->body);
    if (is_window(w, body->s[i])) make_window(w, body, i);
  }
}

void lower_windows(lowering *w) {
  if (w->p->machine.lanes > 1) windows_in(w, &w->p->body);
}
