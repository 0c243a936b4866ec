/* The interpreter: slow, in double, and sure of every access. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "codegen/ir/copies.h"
#include "codegen/ir/stage.h"

enum { MAX_RANK = 16, MAX_READS = 16 };

typedef struct {
  const ir_program *p;
  const tf_workload *wl;
  int64_t *var;
  double **data;           /* [buffer] */
  const ir_counts *counts; /* NULL: none */
  ir_kept *kept;           /* [buffer] what scratch holds that lasts */
  ir_staged *staged;       /* [buffer] */
  ir_held **held;          /* [buffer] what each slot holds; NULL: not retained */
  bool ok;
} machine;

static int64_t atom(const machine *m, ir_atom a) { return a.var < 0 ? a.off : m->var[a.var] + a.off; }

static int64_t value(const machine *m, const ir_expr *e) {
  int64_t v = e->fn == IR_SUM ? 0 : atom(m, e->arg[0]);
  if (e->fn == IR_PICK) return atom(m, e->arg[0]) < atom(m, e->arg[1]) ? atom(m, e->arg[2]) : atom(m, e->arg[3]);
  for (int i = 0; i < e->n; i++) {
    int64_t a = atom(m, e->arg[i]);
    v = e->fn == IR_SUM ? v + e->coef[i] * a : e->fn == IR_MIN ? (a < v ? a : v) : (a > v ? a : v);
  }
  return v;
}

/* The element at those coordinates; NULL (and a fault) outside the buffer. */
static double *element(machine *m, int buffer, const int64_t *at) {
  const ir_buffer *b = &m->p->buffers[buffer];
  int64_t i = atom(m, b->slot);
  m->ok &= i >= 0 && i < b->slots;
  for (int r = 0; r < b->rank; r++) {
    int64_t x = at[r] - atom(m, b->base[r]);
    m->ok &= x >= 0 && x < b->extent[r];
    i = i * b->extent[r] + x;
  }
  return m->ok ? &m->data[buffer][i] : NULL;
}

static bool inside(const tf_tensor *z, const int64_t *at) {
  bool in = true;
  for (int r = 0; r < z->rank; r++)
    in &= at[r] >= z->lo[r] && at[r] < z->lo[r] + z->extent[r];
  return in;
}

static double operand(machine *m, const tf_op *op, int i, int buffer, const int64_t *point) {
  const tf_ref *ref = &op->reads[i];
  const tf_tensor *z = &m->wl->tensors[ref->tensor];
  int64_t at[MAX_RANK];
  for (int r = 0; r < z->rank; r++) {
    at[r] = ref->index[r].c;
    for (int t = 0; t < ref->index[r].n_terms; t++)
      at[r] += ref->index[r].terms[t].coef * point[ref->index[r].terms[t].dim];
  }
  if (!inside(z, at)) return 0;
  const double *v = element(m, buffer, at);
  if (m->counts) m->counts->buffer[buffer].read++;
  return v ? *v : 0;
}

/* Where the op's output stands at a point. */
static double *result(machine *m, const tf_op *op, const int64_t *point) {
  int64_t at[MAX_RANK];
  for (int r = 0; r < op->n_out_dims; r++)
    at[r] = point[op->dims[r]];
  return element(m, m->p->buffer_of[op->out], at);
}

static double of(machine *m, int buffer, const int64_t *point) {
  int64_t at[MAX_RANK];
  const tf_op *maker = &m->wl->ops[m->wl->tensors[m->p->buffers[buffer].tensor].producer];
  for (int r = 0; r < maker->n_out_dims; r++)
    at[r] = point[maker->dims[r]];
  const double *v = element(m, buffer, at);
  return v ? *v : 0;
}

static void nest_point(machine *m, const ir_stmt *s, const int64_t *point, bool fresh) {
  const tf_op *op = &m->wl->ops[s->op];
  double read[MAX_READS], *out = result(m, op, point);
  for (int i = 0; i < op->n_reads; i++)
    read[i] = i == s->nest.divides
                  ? 1
                  : operand(m, op, i, s->nest.from ? s->nest.from[i] : m->p->buffer_of[op->reads[i].tensor], point);
  if (!out) return;
  bool first = fresh;
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    first &= point[op->dims[k]] == 0;
  double v = ir_value(op, read, s->nest.divides);
  if (m->counts) {
    ir_count *c = &m->counts->buffer[m->p->buffer_of[op->out]];
    c->written++;
    c->read += op->reduce != TF_ASSIGN && !first;
    m->counts->points[s->op]++;
  }
  const double none = s->nest.finite ? -DBL_MAX : ir_identity(op->reduce);
  *out = op->reduce == TF_ASSIGN ? v : ir_combine(op->reduce, first ? none : *out, v);
}

static void save_point(machine *m, const ir_stmt *s, const int64_t *point, bool fresh) {
  const tf_op *op = &m->wl->ops[s->op];
  int64_t at[MAX_RANK];
  (void)fresh;
  for (int r = 0; r < op->n_out_dims; r++)
    at[r] = point[op->dims[r]];
  double *to = element(m, s->save.to, at);
  if (to) *to = of(m, s->save.from, point);
}

static void correct_point(machine *m, const ir_stmt *s, const int64_t *point, bool fresh) {
  double *out = result(m, &m->wl->ops[s->op], point);
  (void)fresh;
  if (out) *out *= exp(of(m, s->correct.before, point) - of(m, s->correct.after, point));
}

static void divide_point(machine *m, const ir_stmt *s, const int64_t *point, bool fresh) {
  double *out = result(m, &m->wl->ops[s->op], point);
  (void)fresh;
  if (out) *out /= of(m, s->divide.by, point);
}

/* Whether a range has a length that it may have. */
static bool may_be(const ir_range *r, int64_t n) {
  bool known = n <= 0 || n == r->most || n == r->rest;
  for (size_t i = 0; i < sizeof r->also / sizeof *r->also; i++)
    known |= n == r->also[i];
  return r->exact ? n == r->most : n <= r->most && (r->rest == 0 || known);
}

/* What is done at each point; fresh: reductions start over. */
typedef void at_point(machine *m, const ir_stmt *s, const int64_t *point, bool fresh);

static void walk_from(machine *m, const ir_stmt *s, int n_dims, int k, int64_t *point, at_point *at, bool fresh) {
  const tf_op *op = &m->wl->ops[s->op];
  if (k == n_dims) {
    at(m, s, point, fresh);
    return;
  }
  int64_t lo = atom(m, s->range[k].lo), hi = atom(m, s->range[k].hi);
  m->ok &= may_be(&s->range[k], hi - lo);
  for (int64_t i = lo; i < hi && m->ok; i++) {
    point[op->dims[k]] = i;
    walk_from(m, s, n_dims, k + 1, point, at, fresh);
  }
}

static void walk(machine *m, const ir_stmt *s, at_point *at, bool fresh) {
  int64_t point[256];
  walk_from(m, s, ir_n_ranges(m->p, s), 0, point, at, fresh);
}

static void run(machine *m, const ir_body *b);

static bool may(const machine *m, const ir_stmt *s) {
  for (int i = 0; i < s->guard.n; i++)
    if (atom(m, s->guard.range[i].lo) < atom(m, s->guard.range[i].hi)) return true;
  return false;
}

static void keep(machine *m, const ir_stmt *s) {
  const int buffer = s->keep.buffer;
  const ir_buffer *b = &m->p->buffers[buffer];
  const ir_range *made = s->keep.made;
  const int64_t slot = atom(m, b->slot);
  ir_need need = {.lo = {0}};
  for (int r = 0; r < b->rank; r++) {
    need.lo[r] = atom(m, s->range[r].lo), need.hi[r] = atom(m, s->range[r].hi);
    m->ok &= may_be(&s->range[r], need.hi[r] - need.lo[r]) && slot >= 0 && slot < b->slots;
  }
  m->ok = m->ok && ir_keep(b, made, &m->held[buffer][slot], m->data[buffer] + slot * b->words, &need,
                           m->counts ? &m->counts->buffer[buffer] : NULL);
  for (int r = 0; r < b->rank; r++) {
    if (ir_same(made[r].lo, s->range[r].lo)) continue;
    m->var[made[r].lo.var] = need.new_lo[r];
    m->var[made[r].hi.var] = need.new_hi[r];
  }
}

static void forget_slots(machine *m, int buffer, int64_t slot, int64_t n) {
  for (int64_t i = 0; i < n && m->held[buffer]; i++)
    m->held[buffer][slot + i].any = false;
}

typedef struct {
  machine *m;
  int buffer;
} origin;

static double *from_outside(void *ctx, const int64_t *at) {
  origin *o = ctx;
  return element(o->m, o->buffer, at);
}

static ir_held box_of(const machine *m, const ir_range *r, int rank) {
  ir_held h = {.any = true};
  for (int i = 0; i < rank; i++) {
    h.lo[i] = atom(m, r[i].lo), h.hi[i] = atom(m, r[i].hi);
    h.any &= h.lo[i] < h.hi[i];
  }
  return h;
}

static void stage(machine *m, const ir_stmt *s) {
  const int buffer = s->stage.buffer;
  const ir_buffer *b = &m->p->buffers[buffer];
  const ir_range *ahead = s->stage.ahead;
  ir_held now = box_of(m, s->range, b->rank), then = {.any = false};
  if (ahead && atom(m, s->stage.last) == 0) then = box_of(m, ahead, b->rank);
  origin o = {m, s->stage.from};
  m->staged[buffer].node = s->stage.node;
  m->ok = m->ok && ir_stage(b, &m->staged[buffer], m->data[buffer], &now, ahead ? &then : NULL, from_outside, &o,
                            m->counts ? &m->counts->buffer[buffer] : NULL);
  for (int r = 0; r < b->rank; r++)
    m->var[b->base[r].var] = now.lo[r];
  if (b->slots > 1) m->var[b->slot.var] = m->staged[buffer].half;
}

static void forget(machine *m, const ir_stmt *s) {
  if (s->forget.buffer >= 0) {
    ir_staged *staged = &m->staged[s->forget.buffer];
    if (staged->node < s->forget.node || staged->node >= m->p->tree->nodes[s->forget.node].end) return;
    staged->held[0].any = staged->held[1].any = staged->ahead = false;
    return;
  }
  int buffer = m->p->buffer_of[s->forget.tensor];
  if (s->forget.n_slots)
    forget_slots(m, buffer, atom(m, s->forget.slot), s->forget.n_slots);
  else
    forget_slots(m, buffer, 0, m->p->buffers[buffer].slots);
}

static void nest(machine *m, const ir_stmt *s) {
  if (m->counts && s->nest.product) ir_count_copies(&(ir_at){m->p, m->var, m->counts->buffer, m->kept}, s);
  bool fresh = true;
  for (int i = 0; i < s->nest.n_fresh; i++)
    fresh &= atom(m, s->nest.fresh[i]) == 0;
  walk(m, s, nest_point, fresh);
}

static void step(machine *m, const ir_stmt *s) {
  switch (s->kind) {
  case IR_LET: m->var[s->let.var] = value(m, &s->let.expr); break;
  case IR_KEEP: keep(m, s); break;
  case IR_STAGE: stage(m, s); break;
  case IR_FORGET: forget(m, s); break;
  case IR_FOR:
    for (int64_t i = 0; i < s->loop.trip && m->ok; i++) {
      m->var[s->loop.var] = i;
      run(m, &s->body);
    }
    break;
  case IR_IF:
    if (may(m, s)) run(m, &s->body);
    break;
  case IR_TOGETHER: run(m, &s->body); break; /* in turn: the same values */
  case IR_NEST: nest(m, s); break;
  case IR_SAVE: walk(m, s, save_point, false); break;
  case IR_CORRECT:
    if (atom(m, s->correct.fresh) != 0) walk(m, s, correct_point, false);
    break;
  case IR_DIVIDE:
    if (atom(m, s->divide.last) == s->divide.at) walk(m, s, divide_point, false);
    break;
  }
}

static void run(machine *m, const ir_body *b) {
  for (int i = 0; i < b->n && m->ok; i++)
    step(m, b->s[i]);
}

bool ir_run(const ir_program *p, double *const *data, const ir_counts *counts) {
  machine m = {.p = p, .wl = p->tree->workload, .counts = counts, .ok = true};
  m.var = calloc((size_t)p->n_vars + 1, sizeof *m.var);
  m.data = calloc((size_t)p->n_buffers + 1, sizeof *m.data);
  m.kept = calloc((size_t)p->n_buffers + 1, sizeof *m.kept);
  m.held = calloc((size_t)p->n_buffers + 1, sizeof *m.held);
  m.staged = calloc((size_t)p->n_buffers + 1, sizeof *m.staged);
  m.ok = m.var && m.data && m.kept && m.held && m.staged && m.wl->n_dims <= 256;
  for (int i = 0; i < p->n_buffers && m.ok; i++) {
    const ir_buffer *b = &p->buffers[i];
    if (b->shares >= 0) continue;
    int64_t words = b->words * b->slots;
    m.data[i] = b->role == IR_ARGUMENT ? data[b->tensor] : malloc((size_t)(words ? words : 1) * sizeof *m.data[i]);
    if (b->role == IR_KEPT) m.held[i] = calloc((size_t)b->slots, sizeof **m.held);
    m.ok = m.data[i] != NULL && (b->role != IR_KEPT || m.held[i]);
    for (int64_t k = 0; m.ok && b->role != IR_ARGUMENT && k < words; k++)
      m.data[i][k] = NAN; /* what is read before it is made shows */
  }
  for (int i = 0; i < p->n_buffers && m.ok; i++)
    if (p->buffers[i].shares >= 0) m.data[i] = m.data[p->buffers[i].shares];
  if (m.ok && counts) ir_count_packs(p, counts->buffer);
  if (m.ok) run(&m, &p->body);
  for (int i = 0; m.data && i < p->n_buffers; i++)
    if (p->buffers[i].role != IR_ARGUMENT && p->buffers[i].shares < 0) free(m.data[i]);
  for (int i = 0; m.held && i < p->n_buffers; i++)
    free(m.held[i]);
  free(m.held);
  free(m.staged);
  free(m.kept);
  free(m.data);
  free(m.var);
  return m.ok;
}
