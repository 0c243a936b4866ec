/* Tiles of arguments in shared memory: a sum is divided along its longest dim, and the boxes that a
 * piece reads are copied while the previous piece is summed. */
#include "codegen/backend/cuda/pass/pass.h"

enum { LONGEST = 32, SHORTEST = 4, MOST_WORDS = 4096, LEAST_REUSE = 8, MOST_READS = 8, SLOTS = 2 };

typedef struct {
  const ir_stmt *s;
  const tf_op *op;
  int k;              /* position of the op's dim that is divided ... */
  int64_t step, trip; /* ... into `trip` pieces of `step` */
  int n;
  int read[MOST_READS], buffer[MOST_READS];
} plan;

static void set_ranges(lowering *w, const plan *t, const ir_range *r) {
  for (int i = 0; i < t->op->n_dims; i++)
    *lower_range(w, t->s->op, t->op->dims[i]) = r[i];
}

/* Elements of the box that a piece reads. */
static int64_t box_words(const lowering *w, const plan *t, const tf_ref *ref) {
  int64_t words = 1;
  for (int r = 0; r < w->plan->wl->tensors[ref->tensor].rank; r++) {
    int64_t most = 1;
    for (int i = 0; i < ref->index[r].n_terms; i++)
      for (int k = 0; k < t->op->n_dims; k++)
        if (t->op->dims[k] == ref->index[r].terms[i].dim)
          most += ref->index[r].terms[i].coef * ((k == t->k ? t->step : t->s->range[k].most) - 1);
    if (most > MOST_WORDS) return INT64_MAX;
    words *= most;
    if (words > MOST_WORDS) return INT64_MAX;
  }
  return words;
}

/* Whether the read accesses boxes of an argument: no padding, no negative coefficient. */
static bool has_boxes(const lowering *w, const plan *t, int i) {
  const tf_ref *ref = &t->op->reads[i];
  const tf_tensor *z = &w->plan->wl->tensors[ref->tensor];
  bool can = z->producer < 0 && z->rank > 0;
  for (int r = 0; r < z->rank; r++) {
    can &= z->pad[r] == 0;
    for (int k = 0; k < ref->index[r].n_terms; k++)
      can &= ref->index[r].terms[k].coef > 0;
  }
  for (int k = 0; k < t->op->n_reads; k++)
    can &= k == i || t->op->reads[k].tensor != ref->tensor;
  return can;
}

/* Whether the nest reads each element often enough for staging to pay. */
static bool is_reused(const lowering *w, const plan *t, int i) {
  int64_t points = t->step;
  for (int k = 0; k < t->op->n_dims; k++)
    if (k != t->k) points *= t->s->range[k].most;
  const int64_t box = box_words(w, t, &t->op->reads[i]);
  return box < INT64_MAX && points / box >= LEAST_REUSE;
}

/* Whether the tiles fit beside those of earlier nests, where a block has the least memory that any
 * device guarantees. */
static bool has_room(const lowering *w, const plan *t) {
  const int bytes = ir_bytes(w->p->machine.data) * SLOTS;
  int64_t room = cu_shared_bytes(w->p);
  for (int i = 0; i < w->p->n_buffers; i++)
    if (w->p->buffers[i].role == IR_COPIED) room -= cu_bytes(&w->p->buffers[i]);
  for (int i = 0; i < t->n; i++)
    room -= box_words(w, t, &t->op->reads[t->read[i]]) * bytes;
  return room >= 0 || !cu_is_least(w->p);
}

static plan plan_of(const lowering *w, const ir_stmt *s) {
  plan t = {.s = s, .op = &w->plan->wl->ops[s->op], .k = -1};
  if (s->kind != IR_NEST || t.op->reduce == TF_ASSIGN || t.op->n_reads > MOST_READS) return t;
  for (int k = t.op->n_out_dims; k < t.op->n_dims; k++)
    if (t.k < 0 || s->range[k].most > s->range[t.k].most) t.k = k;
  if (t.k < 0) return t;
  for (t.step = LONGEST; t.step >= SHORTEST && !t.n; t.step /= 2) {
    for (int i = 0; i < t.op->n_reads; i++)
      if (has_boxes(w, &t, i) && is_reused(w, &t, i)) t.read[t.n++] = i;
    if (!has_room(w, &t)) t.n = 0;
  }
  t.step = 2 * t.step < s->range[t.k].most ? 2 * t.step : s->range[t.k].most;
  if (!t.n) return t;
  t.trip = (s->range[t.k].most + t.step - 1) / t.step;
  return t;
}

/* Copies the boxes of the step into their slots. */
static void copy_all(lowering *w, const plan *t, ir_atom step, ir_atom slot) {
  ir_range *r = cu_ranges(w, t->s);
  if (lower_failed(w)) return;
  ir_range *const k = &r[t->k];
  const ir_atom lo = lower_sum(w, "from", k->lo, t->step, step);
  *k = (ir_range){.lo = lo,
                  .hi = lower_min(w, "to", k->hi, (ir_atom){lo.var, lo.off + t->step}),
                  .most = t->step};
  set_ranges(w, t, r);
  for (int i = 0; i < t->n; i++) {
    const tf_ref *ref = &t->op->reads[t->read[i]];
    const int rank = w->plan->wl->tensors[ref->tensor].rank;
    ir_range *box = TF_ARRAY(w->p->arena, ir_range, (size_t)rank + 1);
    if (lower_failed(w)) return;
    for (int d = 0; d < rank; d++)
      box[d] = lower_index(w, t->s->op, &ref->index[d]);
    box[0].hi = lower_select(w, "to", *k, box[0].hi, box[0].lo); /* nothing after the last piece */
    box[0].exact = box[0].never_empty = false;
    ir_stmt *s = lower_add(w, IR_COPY);
    if (!s) return;
    s->range = box;
    s->copy.to = t->buffer[i];
    s->copy.from = w->p->buffer_of[ref->tensor];
    s->copy.slot = slot;
    s->copy.ends = i == t->n - 1;
  }
}

static void open_tiles(lowering *w, plan *t) {
  for (int i = 0; i < t->n; i++) {
    const tf_ref *ref = &t->op->reads[t->read[i]];
    char what[32];
    const int at = t->buffer[i] =
        lower_buffer(w, ref->tensor, w->plan->wl->tensors[ref->tensor].name, false, 0);
    if (lower_failed(w)) return;
    ir_buffer *b = &w->p->buffers[at];
    snprintf(what, sizeof what, "tile%d", at);
    b->id = lower_derived(w, w->p->tensor_id[ref->tensor], what);
    b->role = IR_COPIED;
    b->space = CU_SHARED;
    b->slots = SLOTS;
  }
}

/* Sums the current piece, reading the tiles. */
static void sum_piece(lowering *w, const plan *t, ir_atom step, ir_atom slot) {
  ir_range *r = cu_ranges(w, t->s);
  int *from = TF_ARRAY(w->p->arena, int, (size_t)t->op->n_reads + 1);
  if (lower_failed(w)) return;
  r[t->k] = lower_split(w, w->p->dim_id[t->op->dims[t->k]], r[t->k], step, t->step, t->trip);
  set_ranges(w, t, r);
  for (int i = 0; i < t->op->n_reads; i++)
    from[i] = t->s->nest.from ? t->s->nest.from[i] : w->p->buffer_of[t->op->reads[i].tensor];
  for (int i = 0; i < t->n; i++) {
    const tf_ref *ref = &t->op->reads[t->read[i]];
    ir_buffer *b = &w->p->buffers[from[t->read[i]] = t->buffer[i]];
    b->words = 1;
    b->slot = slot;
    for (int d = 0; d < b->rank; d++) {
      const ir_range box = lower_index(w, t->s->op, &ref->index[d]);
      b->base[d] = box.lo;
      b->words *= b->extent[d] = box.most;
    }
  }
  ir_stmt *s = cu_copy_with_ranges(w, t->s, r);
  if (!s) return;
  s->nest.from = from;
  cu_set_resets(w, t->s, s, step);
}

static void stage_nest(lowering *w, const ir_stmt *s) {
  plan t = plan_of(w, s);
  if (!t.n) {
    cu_copy_with_ranges(w, s, NULL);
    return;
  }
  const lower_mark outside = {w->into, w->n_lets};
  lower_mark mark;
  open_tiles(w, &t);
  copy_all(w, &t, ir_number(0), ir_number(0));
  const ir_atom step = cu_open_for(w, IR_SERIAL, t.op->dims[t.k], t.trip, &mark);
  copy_all(w, &t, (ir_atom){step.var, step.off + 1},
           lower_divmod(w, "next", IR_MOD, (ir_atom){step.var, 1}, SLOTS));
  ir_stmt *wait = lower_add(w, IR_WAIT);
  if (wait) wait->wait.left = 1;
  const ir_atom slot = lower_divmod(w, "now", IR_MOD, step, SLOTS);
  sum_piece(w, &t, step, slot);
  lower_close(w, outside);
}

void lower_cuda_stage(lowering *w) {
  int tiles = 0; /* one for each read */
  for (int o = 0; o < w->plan->wl->n_ops; o++)
    tiles += w->plan->wl->ops[o].n_reads;
  w->n_lets = 0;
  cu_grow(w, tiles);
  cu_replace(w, &w->p->body, stage_nest);
}
