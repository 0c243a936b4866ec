/* How an output is divided into pieces, and what passes ask about that. */
#include "codegen/backend/cuda/box/box.h"
#include "codegen/backend/cuda/pass/pass.h"

#include <string.h>

enum { MOST_POINTS = 16 * 1024 }; /* of the output, for one nest; stage.c divides sums */

int64_t cu_shared_bytes(const ir_program *p) {
  return cu_is_least(p) ? CU_LEAST_BYTES : CU_SHARED_BYTES;
}

/* Whether a loop over blocks of the op is still to be lowered. */
static bool awaits_blocks(const lowering *w, int o) {
  const tf_plan *p = w->plan;
  const int home = cu_home(p->arch);
  bool awaits = false;
  for (int n = p->tree->nodes[p->tree->op_node[o]].parent; n >= 0; n = p->tree->nodes[n].parent)
    for (int k = 0; p->tree->nodes[n].kind == TF_TILE && k < p->tree->nodes[n].n_loops; k++) {
      const int l = p->first_loop[n] + k;
      awaits |= w->var_of[l] < 0 && w->run.trip[l] > 1 && p->loops[l].axis != TF_TEMPORAL &&
                p->tree->nodes[n].level + 1 == home;
    }
  return awaits;
}

/* The read of a convolution for tensor cores that has the window; -1: none. */
static int window_of(const ir_program *p, const tf_op *op) {
  cu_depthwise t;
  if (ir_is_half(p->machine.data) && cu_is_depthwise(p->tree->workload, op, &t)) return -1;
  return cu_mma_of(p) && !cu_is_wmma(p) ? cu_window(p->tree->workload, op) : -1;
}

/* Whether a convolution's pixels and columns are no more than a block multiplies at a time, of one
 * group and one setting of columns' digits. */
static bool is_block_of_pixels(const ir_program *p, const tf_op *op, int window,
                               const int64_t *most) {
  const tf_workload *wl = p->tree->workload;
  int64_t rows = 1, columns = 1;
  bool one = true;
  for (int k = 0; k < op->n_out_dims; k++) {
    const bool moves = cu_box_moves(wl, &op->reads[window], op->dims[k]);
    one &= most[k] == 1 || !moves || !cu_box_moves(wl, &op->reads[1 - window], op->dims[k]);
    one &= most[k] == 1 || !cu_box_has_digit(wl, &op->reads[1 - window], op->dims[k]);
    one &= !__builtin_mul_overflow(moves ? rows : columns, most[k], moves ? &rows : &columns);
  }
  return one && rows <= CU_GROUP_ROWS && columns <= CU_GROUP_COLUMNS;
}

bool lower_cuda_close_by(const lowering *w, int o) {
  const tf_op *op = &w->plan->wl->ops[o];
  const int window = window_of(w->p, op);
  int64_t points = 1, last = 1, most[256];
  if (awaits_blocks(w, o)) return false;
  for (int k = 0; k < op->n_out_dims; k++) {
    most[k] = last = w->cur[o * w->plan->wl->n_dims + op->dims[k]].most;
    if (__builtin_mul_overflow(points, last, &points)) return false;
  }
  if (window >= 0) return is_block_of_pixels(w->p, op, window, most);
  /* as much as warpgroups multiply at a time, no more of a larger output */
  const bool three =
      last <= CU_PIECE_MATRIX && w->plan->wl->n_ops > 1; /* warpgroups: two for a product alone */
  if (cu_may_group(w->p) && last <= cu_group_columns(w->p) && last > CU_FRAGMENT_SIDE)
    return points / last <= (three ? CU_THREE_ROWS : CU_GROUP_ROWS);
  return points <= MOST_POINTS;
}

bool lower_cuda_narrow(const lowering *w, int z) {
  const tf_workload *wl = w->plan->wl;
  const tf_tensor *t = &wl->tensors[z];
  bool may = cu_mma_of(w->p) && ir_is_half(w->p->machine.data) && w->plan->home_level[z] == 0;
  for (int i = 0; i < t->n_consumers && may; i++) {
    const tf_op *op = &wl->ops[t->consumers[i]];
    may = ir_is_product(op) && (op->reads[0].tensor == z) != (op->reads[1].tensor == z);
  }
  return may;
}

cu_sides cu_sides_of(const ir_program *p, const ir_stmt *s) {
  cu_sides at = {p->tree->workload->ops[s->op].n_out_dims - 1, -1};
  for (int k = 0; k < at.lanes; k++)
    if (s->range[k].most > 1 && (at.rows < 0 || s->range[k].most >= s->range[at.rows].most))
      at.rows = k;
  return at;
}

int cu_longest_sum(const ir_program *p, const ir_stmt *s) {
  const tf_op *op = &p->tree->workload->ops[s->op];
  int best = -1;
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    if (best < 0 || s->range[k].most > s->range[best].most) best = k;
  return best;
}

bool cu_lanes_share(const ir_program *p, const ir_stmt *s) {
  const tf_op *op = &p->tree->workload->ops[s->op];
  const int longest =
      s->kind == IR_NEST && op->reduce != TF_ASSIGN && !cu_is_least(p) ? cu_longest_sum(p, s) : -1;
  const cu_sides at = cu_sides_of(p, s);
  int64_t lanes = at.lanes < 0 ? 1 : s->range[at.lanes].most;
  if (at.rows < 0)
    lanes = (lanes + CU_ROWS - 1) / CU_ROWS; /* one dim is distributed over warps and lanes */
  return longest >= 0 && s->range[longest].most >= CU_LANES && lanes <= CU_LANES / 4 &&
         p->buffers[p->buffer_of[op->out]].type != IR_I32;
}

int64_t cu_window_side(const cu_depthwise *t, int k) {
  enum { EACH = 8 }; /* pixels of a lane */
  if (k == t->channels) return CU_PIECE_LANES;
  if (k == t->outputs) return CU_MOST_OUTPUTS;
  if (k == t->pixel) return t->pixel_row >= 0 ? EACH : EACH * CU_ROWS;
  return k == t->pixel_row ? CU_ROWS : 1;
}

/* Equal pieces of a depthwise convolution, each with a multiple of eight channels. */
static int64_t depthwise_piece(cu_depthwise t, const ir_stmt *s, int k) {
  if (t.pixel_row >= 0 && s->range[t.pixel_row].most == 1) t.pixel_row = -1;
  const int64_t most = cu_window_side(&t, k), pieces = (s->range[k].most + most - 1) / most;
  if (pieces < 2) return most;
  const int64_t even = (s->range[k].most + pieces - 1) / pieces;
  return k == t.channels ? (even + 7) / 8 * 8 : even;
}

bool cu_is_multiplied(const ir_program *p, const tf_op *op) {
  const tf_workload *wl = p->tree->workload;
  const tf_tensor *z = &wl->tensors[op->out];
  bool is = false;
  for (int i = 0; i < z->n_consumers; i++)
    is |= ir_is_product(&wl->ops[z->consumers[i]]);
  return is;
}

double cu_places_of(const ir_program *p, const ir_stmt *s) {
  enum { BOTH = 12, BORDER = 3 };
  const tf_workload *wl = p->tree->workload;
  const tf_op *op = &wl->ops[s->op];
  bool window = false, padded = false;
  for (int i = 0; s->kind == IR_NEST && ir_is_product(op) && i < op->n_reads; i++) {
    const tf_tensor *z = &wl->tensors[op->reads[i].tensor];
    const int from = s->nest.from ? s->nest.from[i] : p->buffer_of[op->reads[i].tensor];
    if (p->buffers[from].role == IR_COPIED || !cu_box_is_window(wl, &op->reads[i])) continue;
    window = true;
    for (int r = 0; r < z->rank; r++)
      padded |= z->pad[r] != 0;
  }
  return (window ? BOTH : 0) + (padded ? BORDER : 0);
}

/* Sums, for which each position of the window is read once for all pixels that use it; weights, two
 * 16-bit values each; and the stores: fitted to 34 kernels (bench/cuda/depthwise.py). */
cu_window_work cu_window_work_of(const ir_program *p, const ir_stmt *s) {
  enum { BEGIN = 50, WEIGHTS = 8, WORDS = 5, PAIRS = 14, ALONE = 32, PLAIN = 3 };
  const double pair = 4.3; /* read, widened, and where it stands */
  const cu_depthwise *t = &cu_of(s)->window->depthwise;
  const tf_op *op = &p->tree->workload->ops[s->op];
  const tf_ref *in = &op->reads[t->read];
  const int last = op->n_out_dims - 1;
  double reads = 1, pixels = (double)s->range[t->pixel].most, others = 1;
  for (int k = 0; k < op->n_out_dims; k++)
    if (k != t->channels && k != t->pixel) others *= (double)s->range[k].most;
  for (int r = 0; r < p->tree->workload->tensors[in->tensor].rank; r++) {
    if (r == t->rank) continue;
    double span = 1, settings = 1;
    for (int i = 0; i < in->index[r].n_terms; i++) {
      const int k = lower_find_dim(op, in->index[r].terms[i].dim);
      if (k < op->n_out_dims && k != t->pixel) continue;
      span += (double)(in->index[r].terms[i].coef * (s->range[k].most - 1));
      settings *= (double)s->range[k].most;
    }
    reads *= span < settings ? span : settings;
  }
  const double sums = 2 * pixels * (double)t->taps,
               leave = t->channels < last && t->pixel < last            ? ALONE
                       : t->channels == last && cu_of(s)->window->pairs ? WORDS
                                                                        : PAIRS,
               issued = sums + pair * reads + WEIGHTS * (double)t->taps + leave * pixels + BEGIN;
  return (cu_window_work){.issued = others * issued,
                          .summed = others * sums,
                          .plain = others * (sums + PLAIN * reads),
                          .read = others * reads};
}

int64_t cu_block(const ir_program *p, const ir_stmt *s, int k) {
  const tf_op *op = &p->tree->workload->ops[s->op];
  const int window = s->kind == IR_NEST ? window_of(p, op) : -1;
  int64_t most[256];
  for (int i = 0; i < op->n_out_dims; i++)
    most[i] = s->range[i].most;
  return window >= 0 && is_block_of_pixels(p, op, window, most) ? most[k] : cu_piece(p, s, k);
}

int64_t cu_piece(const ir_program *p, const ir_stmt *s, int k) {
  const cu_sides at = cu_sides_of(p, s);
  cu_matrices t;
  cu_depthwise d;
  if (cu_depthwise_of(p, s, &d)) return depthwise_piece(d, s, k);
  if (cu_roles(p, s, &t) && cu_may_group(p))
    return k == t.m ? CU_GROUP_ROWS : k == t.n ? cu_group_columns(p) : 1;
  if (cu_roles(p, s, &t) && cu_is_wmma(p))
    return k == t.n ? 4 * CU_WMMA_SIDE : k == t.m ? 2 * CU_WMMA_SIDE : 1;
  if (cu_roles(p, s, &t)) return k == t.m || k == t.n ? CU_PIECE_MATRIX : 1;
  if (k != at.lanes && k != at.rows) return 1;
  if (at.rows < 0) return CU_ROWS * CU_LANES;
  return k == at.rows ? CU_PIECE_ROWS : CU_PIECE_LANES;
}

ir_stmt *cu_only_loop(const ir_body *b) {
  for (int i = 0; i < b->n; i++)
    if (b->s[i]->kind != IR_LET) return i == b->n - 1 && b->s[i]->kind == IR_FOR ? b->s[i] : NULL;
  return NULL;
}

ir_atom cu_open_for(lowering *w, ir_map map, int dim, int64_t trip, lower_mark *mark) {
  ir_stmt *s = lower_add(w, IR_FOR);
  /* Numbers alone are made by one block, of a loop over no dim. */
  const int var = lower_var(w, "i_%s_", w->plan->wl->n_dims ? w->p->dim_id[dim] : "all");
  *mark = (lower_mark){w->into, w->n_lets};
  if (lower_failed(w)) return ir_number(0);
  s->loop.var = var;
  s->loop.dim = dim;
  s->loop.trip = trip;
  s->loop.map = map;
  *mark = lower_open(w, &s->body);
  return (ir_atom){var, 0};
}

ir_range *cu_ranges(lowering *w, const ir_stmt *s) {
  const size_t n = (size_t)ir_n_ranges(w->p, s);
  ir_range *r = TF_ARRAY(w->p->arena, ir_range, n + 1);
  if (r) memcpy(r, s->range, n * sizeof *r);
  return r;
}

ir_stmt *cu_copy_with_ranges(lowering *w, const ir_stmt *s, const ir_range *range) {
  ir_stmt *new = lower_add(w, s->kind);
  if (!new) return NULL;
  *new = *s;
  if (range) new->range = (ir_range *)range;
  return new;
}

void cu_replace(lowering *w, ir_body *b, void (*make)(lowering *w, const ir_stmt *s)) {
  ir_body new = {0, NULL};
  lower_mark mark = lower_open(w, &new);
  for (int i = 0; i < b->n; i++) {
    ir_stmt *s = b->s[i];
    if (ir_facts_of(s)->points) {
      make(w, s);
      continue;
    }
    ir_stmt *same = cu_copy_with_ranges(w, s, NULL);
    if (same && ir_facts_of(s)->body && !(s->kind == IR_FOR && s->loop.map == IR_WARP))
      cu_replace(w, &same->body, make);
  }
  lower_close(w, mark);
  *b = new;
}

void cu_grow(lowering *w, int more) {
  ir_buffer *all = TF_ARRAY(w->p->arena, ir_buffer, (size_t)w->p->n_buffers + (size_t)more + 1);
  if (!all) return;
  memcpy(all, w->p->buffers, (size_t)w->p->n_buffers * sizeof *all);
  w->p->buffers = all;
}

void cu_name_reads(lowering *w, const ir_body *b) {
  for (int i = 0; i < b->n && !lower_failed(w); i++) {
    ir_stmt *s = b->s[i];
    cu_name_reads(w, &s->body);
    if (s->kind != IR_NEST || s->nest.from) continue;
    const tf_op *op = &w->plan->wl->ops[s->op];
    int *from = TF_ARRAY(w->p->arena, int, (size_t)op->n_reads + 1);
    for (int k = 0; k < op->n_reads && from; k++)
      from[k] = w->p->buffer_of[op->reads[k].tensor];
    s->nest.from = from;
  }
}

void cu_set_var(lowering *w, int var, ir_atom value) {
  ir_stmt *s = lower_add(w, IR_LET);
  ir_atom *arg = TF_ARRAY(w->p->arena, ir_atom, 1);
  int64_t *coef = TF_ARRAY(w->p->arena, int64_t, 1);
  if (lower_failed(w)) return;
  arg[0] = value;
  coef[0] = 1;
  s->let.var = var;
  s->let.expr = (ir_expr){IR_SUM, 1, arg, coef};
}

void cu_set_resets(lowering *w, const ir_stmt *of, ir_stmt *s, ir_atom step) {
  const tf_op *op = &w->plan->wl->ops[of->op];
  ir_atom *fresh = TF_ARRAY(w->p->arena, ir_atom, (size_t)(op->n_dims + of->nest.n_resets) + 1);
  if (lower_failed(w)) return;
  s->nest.resets = fresh;
  s->nest.n_resets = 0;
  for (int i = 0; of->nest.part && i < of->nest.n_resets; i++)
    fresh[s->nest.n_resets++] = of->nest.resets[i];
  if (of->nest.part && step.var >= 0) fresh[s->nest.n_resets++] = step;
  for (int k = op->n_out_dims; !of->nest.part && k < op->n_dims; k++)
    if (s->range[k].lo.var >= 0) fresh[s->nest.n_resets++] = s->range[k].lo;
}

/* How an operand's elements lie along the dim: 2: contiguous; 1: with a stride, or all the same; 0:
 * padding may begin between them. */
static int lies_along(const tf_workload *wl, const tf_ref *ref, int dim) {
  const tf_tensor *z = &wl->tensors[ref->tensor];
  int lies = 1;
  for (int r = 0; r < z->rank; r++)
    for (int t = 0; t < ref->index[r].n_terms; t++) {
      if (ref->index[r].terms[t].dim != dim) continue;
      if (z->pad[r]) return 0;
      lies = r == z->rank - 1 && ref->index[r].terms[t].coef == 1 ? 2 : 1;
    }
  return lies;
}

int cu_dot_of(const ir_program *p, const ir_stmt *s) {
  const tf_workload *wl = p->tree->workload;
  const ir_kernel *dot = p->machine.whole;
  const tf_op *op = s->kind == IR_NEST ? &wl->ops[s->op] : NULL;
  int best = -1, most = 0;
  if (!op || !dot || dot->m_round > 1 || op->reduce != TF_REDUCE_ADD || op->n_reads != 2 ||
      p->buffers[p->buffer_of[op->out]].type != dot->c)
    return -1;
  for (int k = op->n_out_dims; k < op->n_dims; k++) {
    const int a = lies_along(wl, &op->reads[0], op->dims[k]),
              b = lies_along(wl, &op->reads[1], op->dims[k]);
    if (s->range[k].most < dot->k_round || !a || !b) continue;
    if (a + b > most || (a + b == most && s->range[k].most > s->range[best].most))
      best = k, most = a + b;
  }
  return best;
}
