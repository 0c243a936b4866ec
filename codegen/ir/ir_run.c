/* The interpreter: slow, in double precision, and with every access checked. */
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/ir/machine.h"
#include "tileflow/tree.h"

enum { MAX_RANK = 16, MAX_READS = 16 };

typedef ir_running machine;

static int64_t atom(const machine *m, ir_atom a) { return ir_number_of(m, a); }

bool ir_fault(machine *m, const char *fmt, ...) {
  if (m->ok && m->size) {
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(m->why, m->size, fmt, ap);
    va_end(ap);
  }
  return m->ok = false;
}

int ir_place_of(const ir_program *p, int buffer) {
  return p->buffers[buffer].shares >= 0 ? p->buffers[buffer].shares : buffer;
}

static int64_t value(const machine *m, const ir_expr *e) {
  int64_t v = e->fn == IR_SUM ? 0 : atom(m, e->arg[0]);
  if (e->fn == IR_MOD) return v % e->arg[1].off;
  if (e->fn == IR_DIV) return v / e->arg[1].off;
  if (e->fn == IR_PICK) return atom(m, e->arg[0]) < atom(m, e->arg[1]) ? atom(m, e->arg[2]) : atom(m, e->arg[3]);
  for (int i = 0; i < e->n; i++) {
    int64_t a = atom(m, e->arg[i]);
    v = e->fn == IR_SUM ? v + e->coef[i] * a : e->fn == IR_MIN ? (a < v ? a : v) : (a > v ? a : v);
  }
  return v;
}

static const char *name_of(const machine *m, int buffer) { return m->p->buffers[buffer].name; }

/* The offset of the coordinates in a slot whose box begins at `base`; -1 (and a fault) outside the buffer. */
static int64_t place(machine *m, int buffer, int64_t slot, const ir_atom *base, const int64_t *at) {
  const ir_buffer *b = &m->p->buffers[buffer];
  bool in = slot >= 0 && slot < b->slots;
  int64_t i = slot;
  for (int r = 0; r < b->rank; r++) {
    int64_t x = at[r] - atom(m, base[r]);
    in &= x >= 0 && x < b->extent[r];
    i = i * b->extent[r] + x;
  }
  return in || ir_fault(m, "'%s' is touched outside of its box", b->name) ? i : -1;
}

static bool watched(machine *m, int buffer, const char *fault) {
  return !fault || ir_fault(m, *fault ? "'%s' %s" : "out of memory", name_of(m, buffer), fault);
}

/* The element at those coordinates; NULL (and a fault) where it must not be accessed. */
static double *element(machine *m, int buffer, const int64_t *at, bool writes) {
  const ir_buffer *b = &m->p->buffers[buffer];
  const int64_t i = place(m, buffer, atom(m, b->slot), b->base, at);
  if (i >= 0 && m->watch) watched(m, buffer, ir_watch_touch(m->watch, ir_place_of(m->p, buffer), i, writes, m->who));
  return m->ok ? &m->data[buffer][i] : NULL;
}

/* IR_SEEN. */
static int64_t seen(machine *m, const ir_expr *e) {
  const int buffer = (int)e->arg[0].off, last = m->p->buffers[buffer].rank - 1;
  int64_t at[MAX_RANK], lo[MAX_RANK] = {0}, hi[MAX_RANK], end;
  bool more = true;
  for (int r = 0; r <= last; r++) {
    at[r] = lo[r] = atom(m, e->arg[1 + 2 * r]), hi[r] = atom(m, e->arg[2 + 2 * r]);
    more &= lo[r] < hi[r];
  }
  end = lo[last];
  while (more && m->ok) {
    const double *v = element(m, buffer, at, false);
    if (v && *v != -INFINITY && at[last] >= end) end = at[last] + 1;
    more = false;
    for (int r = last; r >= 0 && !more; r--) {
      more = ++at[r] < hi[r];
      if (!more) at[r] = lo[r];
    }
  }
  return end;
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
  const double *v = element(m, buffer, at, false);
  if (m->counts) m->counts->buffer[buffer].read++;
  return v ? *v : 0;
}

/* The element of the op's output at a point. */
static double *result(machine *m, const tf_op *op, const int64_t *point) {
  int64_t at[MAX_RANK];
  for (int r = 0; r < op->n_out_dims; r++)
    at[r] = point[op->dims[r]];
  return element(m, m->p->buffer_of[op->out], at, true);
}

static double of(machine *m, int buffer, const int64_t *point) {
  int64_t at[MAX_RANK];
  const tf_op *maker = &m->wl->ops[m->wl->tensors[m->p->buffers[buffer].tensor].producer];
  for (int r = 0; r < maker->n_out_dims; r++)
    at[r] = point[maker->dims[r]];
  const double *v = element(m, buffer, at, false);
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
    first &= point[op->dims[k]] == atom(m, s->range[k].lo);
  double v = ir_value(op, read, point, s->nest.divides);
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
  double *to = element(m, s->save.to, at, true);
  if (to) *to = of(m, s->save.from, point);
}

static void carry_point(machine *m, const ir_stmt *s, const int64_t *point, bool fresh) {
  const tf_op *op = &m->wl->ops[s->op];
  int64_t at[MAX_RANK];
  (void)fresh;
  for (int r = 0; r < op->n_out_dims; r++)
    at[r] = point[op->dims[r]];
  double *to = element(m, s->carry.to, at, true);
  double *from = to && s->carry.from >= 0 ? element(m, s->carry.from, at, s->carry.clears) : NULL;
  if (to) *to = from ? *to + *from : 0;
  if (from && s->carry.clears) *from = 0;
}

static void correct_point(machine *m, const ir_stmt *s, const int64_t *point, bool fresh) {
  const tf_op *op = &m->wl->ops[s->op];
  double *out = result(m, op, point);
  int64_t at[MAX_RANK];
  (void)fresh;
  for (int r = 0; r < op->n_out_dims; r++)
    at[r] = point[op->dims[r]];
  for (int i = -1; out && i < s->correct.n_carries; i++) {
    double *to = i < 0 ? out : element(m, s->correct.carries[i], at, true);
    if (to) *to *= exp(s->correct.rate * (of(m, s->correct.before, point) - of(m, s->correct.after, point)));
  }
}

static void divide_point(machine *m, const ir_stmt *s, const int64_t *point, bool fresh) {
  double *out = result(m, &m->wl->ops[s->op], point);
  (void)fresh;
  if (out) *out /= of(m, s->divide.by, point);
}

static void merge_point(machine *m, const ir_stmt *s, const int64_t *point, bool fresh) {
  const tf_op *op = &m->wl->ops[s->op];
  double sum = ir_identity(op->reduce);
  int64_t at[MAX_RANK];
  (void)fresh;
  for (int64_t i = 0; i < s->merge.parts && m->ok; i++) {
    m->var[s->merge.part] = i;
    double v = of(m, s->merge.from, point);
    if (s->merge.before >= 0) v *= exp(s->merge.rate * (of(m, s->merge.before, point) - of(m, s->merge.after, point)));
    sum = ir_combine(op->reduce, sum, v);
  }
  if (s->merge.by >= 0) sum /= of(m, s->merge.by, point);
  for (int r = 0; r < op->n_out_dims; r++)
    at[r] = point[op->dims[r]];
  double *to = element(m, s->merge.to, at, true);
  if (to) *to = sum;
}

/* Whether the length n is one that the range may have. */
static bool may_be(const ir_range *r, int64_t n) {
  bool known = n <= 0 || n == r->most || n == r->other;
  for (size_t i = 0; i < sizeof r->more / sizeof *r->more; i++)
    known |= n == r->more[i];
  return r->exact ? n == r->most : n <= r->most && (r->other == 0 || known);
}

/* Called at each point; fresh: reductions start over. */
typedef void at_point(machine *m, const ir_stmt *s, const int64_t *point, bool fresh);

/* Whether the point is in one of the rows that the statement does. */
static bool is_in_rows(const machine *m, const ir_stmt *s, const int64_t *point) {
  const tf_op *op = &m->wl->ops[s->op];
  int64_t row = 0;
  for (int i = 0; i < s->stack->n; i++)
    row = row * s->stack->length[i] + point[op->dims[s->stack->at[i]]] - atom(m, s->range[s->stack->at[i]].lo);
  row -= atom(m, s->stack->first);
  return row >= 0 && row < s->stack->count;
}

static void walk_from(machine *m, const ir_stmt *s, int n_dims, int k, int64_t *point, at_point *at, bool fresh) {
  const tf_op *op = &m->wl->ops[s->op];
  if (k == n_dims) {
    if (!s->stack || is_in_rows(m, s, point)) at(m, s, point, fresh);
    return;
  }
  int64_t lo = atom(m, s->range[k].lo), hi = atom(m, s->range[k].hi);
  if (!may_be(&s->range[k], hi - lo)) ir_fault(m, "%s: a length of %lld", op->name, (long long)(hi - lo));
  for (int64_t i = lo; i < hi && m->ok; i++) {
    point[op->dims[k]] = i;
    walk_from(m, s, n_dims, k + 1, point, at, fresh);
  }
}

static void walk(machine *m, const ir_stmt *s, at_point *at, bool fresh) {
  int64_t point[256];
  walk_from(m, s, ir_n_ranges(m->p, s), 0, point, at, fresh);
}

bool ir_may_enter(const machine *m, const ir_stmt *s) {
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
    if (!may_be(&s->range[r], need.hi[r] - need.lo[r]) || slot < 0 || slot >= b->slots)
      ir_fault(m, "keep %s: a box that it cannot have", b->name);
  }
  if (m->ok && !ir_keep(b, made, &m->held[buffer][slot], m->data[buffer] + slot * b->words, &need,
                        m->counts ? &m->counts->buffer[buffer] : NULL))
    ir_fault(m, "out of memory");
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
  return element(o->m, o->buffer, at, false);
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
  if (m->ok && !ir_stage(b, &m->staged[buffer], m->data[buffer], &now, ahead ? &then : NULL,
                         (ir_source){from_outside, &o}, m->counts ? &m->counts->buffer[buffer] : NULL))
    ir_fault(m, "stage %s: the source lacks some of its tile", b->name);
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
  if (m->noted && s->note) m->p->platform->notes->enter(m->noted, m->p, m->var, m->counts->buffer, s);
  bool fresh = true;
  for (int i = 0; i < s->nest.n_resets; i++)
    fresh &= atom(m, s->nest.resets[i]) == 0;
  walk(m, s, nest_point, fresh);
}

/* Whether the element is in the tensor's padding. */
static bool is_padding(const tf_tensor *z, const int64_t *at) {
  bool padding = false;
  for (int r = 0; r < z->rank; r++) {
    const bool in = at[r] >= z->lo[r] && at[r] < z->lo[r] + z->extent[r];
    if (!in && (at[r] < z->lo[r] - z->pad[r] || at[r] >= z->lo[r] + z->extent[r] + z->pad[r])) return false;
    padding |= !in;
  }
  return padding;
}

/* ---- asynchronous copies
 * -------------------------------------------------------------------------------------------- */

/* Sends one element from its current place to its place in the tile; what is in the padding is nowhere, and nobody
 * reads it. */
static void send(machine *m, const ir_stmt *s, const int64_t *at) {
  const ir_buffer *from = &m->p->buffers[s->copy.from];
  if (is_padding(&m->wl->tensors[from->tensor], at)) return;
  ir_atom lo[MAX_RANK];
  for (int r = 0; r < from->rank; r++)
    lo[r] = s->range[r].lo;
  const int64_t i = place(m, s->copy.from, atom(m, from->slot), from->base, at),
                k = place(m, s->copy.to, atom(m, s->copy.slot), lo, at);
  if (!m->ok) return;
  watched(m, s->copy.to,
          ir_watch_send(m->watch, s->copy.queue, m->who, s->copy.to, k, ir_place_of(m->p, s->copy.from), i));
  if (m->counts) m->counts->buffer[s->copy.to].copied++;
}

static void copy(machine *m, const ir_stmt *s) {
  const int rank = m->p->buffers[s->copy.to].rank;
  const ir_held box = box_of(m, s->range, rank);
  const int64_t part = s->copy.parts > 1 ? atom(m, s->copy.part) : 0;
  int64_t at[MAX_RANK], i = 0;
  bool more = box.any;
  memcpy(at, box.lo, sizeof at);
  while (more && m->ok) {
    if (s->copy.parts <= 1 || i++ % s->copy.parts == part) send(m, s, at);
    more = false;
    for (int r = rank - 1; r >= 0 && !more; r--) {
      more = ++at[r] < box.hi[r];
      if (!more) at[r] = box.lo[r];
    }
  }
  if (s->copy.ends) ir_watch_end_group(m->watch, s->copy.queue, m->who);
}

/* ---- statements ------------------------------------------------------------------------------------------ */

static void loop(machine *m, const ir_stmt *s) {
  if (m->watch && ir_is_parallel(s)) {
    ir_run_parallel(m, s);
    return;
  }
  for (int64_t i = 0; i < s->loop.trip && m->ok; i++) {
    m->var[s->loop.var] = i;
    ir_run_body(m, &s->body);
  }
}

/* Whether the statement manages the contents of a memory, so that concurrent steps must run it one at a time. */
static bool one_at_a_time(machine *m, const ir_stmt *s) {
  return !m->who || ir_fault(m, "%s: by steps side by side", ir_facts_of(s)->name);
}

static void step(machine *m, const ir_stmt *s) {
  switch (s->kind) {
  case IR_LET: m->var[s->let.var] = s->let.expr.fn == IR_SEEN ? seen(m, &s->let.expr) : value(m, &s->let.expr); break;
  case IR_KEEP:
    if (one_at_a_time(m, s)) keep(m, s);
    break;
  case IR_STAGE:
    if (one_at_a_time(m, s)) stage(m, s);
    break;
  case IR_FORGET:
    if (one_at_a_time(m, s)) forget(m, s);
    break;
  case IR_COPY: copy(m, s); break;
  case IR_WAIT: ir_watch_come(m->watch, s->wait.queue, m->who, s->wait.left, m->data); break;
  case IR_BARRIER:
    ir_fault(m, "barrier: no %s is around", ir_map_of(s->barrier.map)->name);
    break; /* handled in parallel_exec.c */
  case IR_FOR: loop(m, s); break;
  case IR_IF:
    if (ir_may_enter(m, s)) ir_run_body(m, &s->body);
    break;
  case IR_TOGETHER: ir_run_body(m, &s->body); break; /* one nest after the other gives the same values */
  case IR_NEST: nest(m, s); break;
  case IR_SAVE: walk(m, s, save_point, false); break;
  case IR_CARRY: walk(m, s, carry_point, false); break;
  case IR_CORRECT:
    if (atom(m, s->correct.resets) != 0) walk(m, s, correct_point, false);
    break;
  case IR_DIVIDE:
    if (atom(m, s->divide.last) == s->divide.at) walk(m, s, divide_point, false);
    break;
  case IR_MERGE: walk(m, s, merge_point, false); break;
  }
}

void ir_run_body(machine *m, const ir_body *b) {
  for (int i = 0; i < b->n && m->ok; i++)
    step(m, b->s[i]);
}

/* ---- the whole ------------------------------------------------------------------------------------------- */

static bool open_buffers(machine *m, double *const *data) {
  const ir_program *p = m->p;
  for (int i = 0; i < p->n_buffers; i++) {
    const ir_buffer *b = &p->buffers[i];
    if (b->shares >= 0) continue;
    int64_t words = b->words * b->slots;
    m->data[i] = b->role == IR_ARGUMENT ? data[b->tensor] : malloc((size_t)(words ? words : 1) * sizeof *m->data[i]);
    if (b->role == IR_KEPT) m->held[i] = calloc((size_t)b->slots, sizeof **m->held);
    if (!m->data[i] || (b->role == IR_KEPT && !m->held[i])) return false;
    for (int64_t k = 0; b->role != IR_ARGUMENT && k < words; k++)
      m->data[i][k] = NAN; /* so that reading it before it is computed shows */
  }
  for (int i = 0; i < p->n_buffers; i++)
    m->data[i] = m->data[ir_place_of(p, i)];
  return true;
}

static void close(machine *m) {
  const ir_program *p = m->p;
  for (int i = 0; m->data && i < p->n_buffers; i++)
    if (p->buffers[i].role != IR_ARGUMENT && p->buffers[i].shares < 0) free(m->data[i]);
  for (int i = 0; m->held && i < p->n_buffers; i++)
    free(m->held[i]);
  ir_watch_free(m->watch);
  free(m->held);
  free(m->staged);
  free(m->noted);
  free(m->data);
  free(m->var);
}

bool ir_run_told(const ir_program *p, double *const *data, const ir_counts *counts, char *why, size_t size) {
  machine m = {.p = p, .wl = p->tree->workload, .counts = counts, .ok = true, .why = why, .size = size};
  const bool watch = ir_watch_wants(&p->body);
  const ir_notes *notes = counts && p->platform->notes && p->platform->notes->begin ? p->platform->notes : NULL;
  m.var = calloc((size_t)p->n_vars + 1, sizeof *m.var);
  m.data = calloc((size_t)p->n_buffers + 1, sizeof *m.data);
  if (notes) m.noted = notes->begin(p, counts->buffer);
  m.held = calloc((size_t)p->n_buffers + 1, sizeof *m.held);
  m.staged = calloc((size_t)p->n_buffers + 1, sizeof *m.staged);
  m.watch = watch ? ir_watch_new(p) : NULL;
  const bool room =
      m.var && m.data && (m.noted || !notes) && m.held && m.staged && (m.watch || !watch) && open_buffers(&m, data);
  if (!room || m.wl->n_dims > 256) ir_fault(&m, room ? "more than 256 dims" : "out of memory");
  if (m.ok) ir_run_body(&m, &p->body);
  const int left = m.ok && watch ? ir_watch_under_way(m.watch) : -1;
  if (left >= 0) ir_fault(&m, "nobody has waited for a copy into '%s'", name_of(&m, left));
  close(&m);
  return m.ok;
}

bool ir_run(const ir_program *p, double *const *data, const ir_counts *counts) {
  return ir_run_told(p, data, counts, NULL, 0);
}
