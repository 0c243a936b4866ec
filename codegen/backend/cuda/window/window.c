#include "codegen/backend/cuda/window/window.h"

#include <stdio.h>

#include "codegen/backend/cuda/pass/pass.h"

/* The box of the input that the nest reads, by rank. */
static ir_range *boxes_of(lowering *w, const ir_stmt *s, const tf_ref *ref) {
  const tf_op *op = &w->plan->wl->ops[s->op];
  const int rank = w->plan->wl->tensors[ref->tensor].rank;
  ir_range *box = TF_ARRAY(w->p->arena, ir_range, (size_t)rank + 1);
  for (int k = 0; k < op->n_dims; k++)
    *lower_range(w, s->op, op->dims[k]) = s->range[k];
  for (int r = 0; r < rank && box; r++)
    box[r] = lower_index(w, s->op, &ref->index[r]);
  return box;
}

/* The rows of a tile: the box without the channels, dense. False: it has more ranks than a stack
 * may. */
static bool rows_of(const ir_range *box, int rank, int channels, ir_stack *rows) {
  *rows = (ir_stack){.count = 1, .first = ir_number(0)};
  for (int r = 0; r < rank; r++) {
    if (box[r].most == 1 || r == channels) continue;
    if (rows->n == IR_MOST_STACKED) return false;
    rows->axis[rows->n] = r, rows->length[rows->n] = box[r].most, rows->step[rows->n++] = 1;
    rows->count *= box[r].most;
  }
  return rows->n > 0;
}

/* Adds a buffer for the box's tile; -1: it does not fit. */
static int open_tile(lowering *w, const tf_ref *ref, int channels, const ir_range *box) {
  const int z = ref->tensor, rank = w->plan->wl->tensors[z].rank;
  ir_stack *rows = TF_NEW(w->p->arena, ir_stack);
  if (!rows || !rows_of(box, rank, channels, rows)) return -1;
  int64_t words = 1;
  for (int r = 0; r < rank; r++)
    words *= box[r].most;
  if (words * ir_bytes(w->p->machine.data) > CU_SHARED_BYTES / 2) return -1;
  cu_grow(w, 1);
  const int at = lower_buffer(w, z, w->plan->wl->tensors[z].name, false, 0);
  char what[32];
  snprintf(what, sizeof what, "tile%d", at);
  char *id = lower_derived(w, w->p->tensor_id[z], what);
  if (lower_failed(w)) return -1;
  ir_buffer *b = &w->p->buffers[at];
  b->id = id;
  b->role = IR_COPIED, b->space = CU_SHARED, b->type = w->p->machine.data, b->words = words;
  for (int r = 0; r < rank; r++)
    b->base[r] = box[r].lo, b->extent[r] = box[r].most;
  cu_set_layout(
      w->p, b,
      (cu_layout){
          .rows = rows->axis[rows->n - 1], .columns = channels, .stack = rows, .plain = true});
  return at;
}

static void copy(lowering *w, const ir_range *box, int from, int tile) {
  ir_stmt *s = lower_add(w, IR_COPY);
  if (!s) return;
  s->range = (ir_range *)box;
  s->copy.to = tile, s->copy.from = from, s->copy.slot = ir_number(0), s->copy.queue = CU_PIECES;
  s->copy.ends = true;
  ir_stmt *wait = lower_add(w, IR_WAIT);
  if (wait) wait->wait.queue = CU_PIECES, wait->wait.left = 0;
}

/* The part of a range that one of so many threads has, at least `least` long. */
static void cut(lowering *w, ir_map map, int dim, ir_range *r, int64_t most, int64_t least) {
  const int64_t even = (r->most + most - 1) / most, step = even > least ? even : least,
                trip = r->most > step ? (r->most + step - 1) / step : 1;
  lower_mark mark;
  const ir_atom thread = cu_open_for(w, map, dim, trip, &mark);
  if (trip > 1) *r = lower_split(w, w->p->dim_id[dim], *r, thread, step, trip);
}

/* Distributes the nest, with the statement that copies its result (NULL: none), over the block's
 * threads. */
static void threads(lowering *w, const ir_stmt *s, const ir_stmt *save, const cu_depthwise *t,
                    int tile) {
  const tf_op *op = &w->plan->wl->ops[s->op];
  const lower_mark outside = {w->into, w->n_lets};
  const int y = t->pixel_row >= 0 && s->range[t->pixel_row].most > 1 ? t->pixel_row : t->pixel;
  ir_range *r = cu_ranges(w, s);
  int *from = TF_ARRAY(w->p->arena, int, (size_t)op->n_reads + 1);
  cu_window_nest *window = TF_NEW(w->p->arena, cu_window_nest);
  if (lower_failed(w) || !from || !window) return;
  cut(w, IR_WARP, op->dims[y], &r[y], CU_ROWS, 1);
  cut(w, IR_LANE, op->dims[t->channels], &r[t->channels], CU_LANES, 2);
  ir_stmt *nest = cu_copy_with_ranges(w, s, r),
          *leaves = save ? cu_copy_with_ranges(w, save, r) : NULL;
  if (!nest || (save && !leaves)) return;
  for (int i = 0; i < op->n_reads; i++)
    from[i] = s->nest.from ? s->nest.from[i] : w->p->buffer_of[op->reads[i].tensor];
  from[t->read] = tile;
  nest->nest.from = from;
  cu_note *note = cu_edit(w->p, nest), *taken = leaves ? cu_edit(w->p, leaves) : NULL;
  const bool halves = save && ir_is_half(w->p->buffers[save->save.to].type);
  *window = (cu_window_nest){
      .depthwise = *t, .tile = tile, .sums = halves ? save->save.to : -1, .partial = y == t->pixel};
  if (note) note->window = window;
  if (taken) taken->fused = halves;
  lower_close(w, outside);
}

/* Replaces the nest, with the statement that copies its result, by one that reads a tile; false: it
 * cannot. */
static bool nest(lowering *w, const ir_stmt *s, const ir_stmt *save) {
  cu_depthwise t;
  if (!cu_depthwise_of(w->p, s, &t)) return false;
  const tf_ref *ref = &w->plan->wl->ops[s->op].reads[t.read];
  const int from = s->nest.from ? s->nest.from[t.read] : w->p->buffer_of[ref->tensor];
  const ir_range *box = boxes_of(w, s, ref);
  const int tile = box ? open_tile(w, ref, t.rank, box) : -1;
  if (tile < 0) return false;
  copy(w, box, from, tile);
  threads(w, s, save, &t, tile);
  return true;
}

static bool is_even(const ir_body *all, ir_atom a);

/* Whether what the expression comes to is even, given that. */
static bool comes_even(const ir_body *all, const ir_expr *e) {
  bool even =
      e->fn == IR_SUM || e->fn == IR_MIN || e->fn == IR_MAX || e->fn == IR_PICK || e->fn == IR_MOD;
  for (int i = e->fn == IR_PICK ? 2 : 0; i < e->n && even; i++)
    even = (e->fn == IR_SUM && e->coef[i] % 2 == 0) || is_even(all, e->arg[i]);
  return even;
}

/* Whether all that set the variable in the list make it even; found: some do. */
static bool sets_even(const ir_body *all, const ir_body *b, int var, bool *found) {
  bool even = true;
  for (int i = 0; i < b->n && even; i++) {
    const ir_stmt *s = b->s[i];
    if (s->kind == IR_LET && s->let.var == var) *found = true, even = comes_even(all, &s->let.expr);
    even =
        even && !(s->kind == IR_FOR && s->loop.var == var) && sets_even(all, &s->body, var, found);
  }
  return even;
}

/* Whether the value is even in each step of all loops. */
static bool is_even(const ir_body *all, ir_atom a) {
  bool found = a.var < 0;
  return a.off % 2 == 0 && (a.var < 0 || sets_even(all, all, a.var, &found)) && found;
}

/* Notes which nests have their channels two and two. */
static void find_pairs(lowering *w, const ir_body *b) {
  for (int i = 0; i < b->n; i++) {
    const cu_window_nest *t = cu_of(b->s[i])->window;
    find_pairs(w, &b->s[i]->body);
    if (!t) continue;
    const ir_range *c = &b->s[i]->range[t->depthwise.channels];
    cu_window_nest *new = TF_NEW(w->p->arena, cu_window_nest);
    cu_note *note = new ? cu_edit(w->p, b->s[i]) : NULL;
    if (!note) return;
    *new = *t, new->pairs = is_even(&w->p->body, c->lo) && is_even(&w->p->body, c->hi);
    note->window = new;
  }
}

void lower_cuda_window(lowering *w) {
  w->n_lets = 0;
  cu_each_with_save(w, &w->p->body, nest);
  if (!lower_failed(w)) find_pairs(w, &w->p->body);
}
