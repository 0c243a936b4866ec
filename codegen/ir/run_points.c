/* What the interpreter does at points: every access is checked. */
#include <float.h>
#include <math.h>
#include <stdarg.h>

#include "codegen/ir/machine.h"

enum { MAX_READS = 16 };

typedef ir_interpreter machine;

static int64_t atom(const machine *m, ir_atom a) { return ir_atom_value(m, a); }

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
  if (e->fn == IR_PICK)
    return atom(m, e->arg[0]) < atom(m, e->arg[1]) ? atom(m, e->arg[2]) : atom(m, e->arg[3]);
  for (int i = 0; i < e->n; i++) {
    int64_t a = atom(m, e->arg[i]);
    v = e->fn == IR_SUM ? v + e->coef[i] * a : e->fn == IR_MIN ? (a < v ? a : v) : (a > v ? a : v);
  }
  return v;
}

int64_t ir_offset_in(machine *m, int buffer, int64_t slot, const ir_atom *base, const int64_t *at) {
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

bool ir_report_race(machine *m, int buffer, const char *fault) {
  return !fault ||
         ir_fault(m, *fault ? "'%s' %s" : "out of memory", m->p->buffers[buffer].name, fault);
}

double *ir_element(machine *m, int buffer, const int64_t *at, bool writes) {
  const ir_buffer *b = &m->p->buffers[buffer];
  const int64_t i = ir_offset_in(m, buffer, atom(m, b->slot), b->base, at);
  if (i >= 0 && m->races)
    ir_report_race(m, buffer,
                   ir_race_access(m->races, ir_place_of(m->p, buffer), i, writes, m->who));
  return m->ok ? &m->data[buffer][i] : NULL;
}

/* IR_SEEN. */
static int64_t seen(machine *m, const ir_expr *e) {
  const int buffer = (int)e->arg[0].off, last = m->p->buffers[buffer].rank - 1;
  int64_t at[IR_MAX_RANK], lo[IR_MAX_RANK] = {0}, hi[IR_MAX_RANK], end;
  bool more = true;
  for (int r = 0; r <= last; r++) {
    at[r] = lo[r] = atom(m, e->arg[1 + 2 * r]), hi[r] = atom(m, e->arg[2 + 2 * r]);
    more &= lo[r] < hi[r];
  }
  end = lo[last];
  while (more && m->ok) {
    const double *v = ir_element(m, buffer, at, false);
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
  int64_t at[IR_MAX_RANK];
  for (int r = 0; r < z->rank; r++) {
    at[r] = ref->index[r].c;
    for (int t = 0; t < ref->index[r].n_terms; t++)
      at[r] += ref->index[r].terms[t].coef * point[ref->index[r].terms[t].dim];
  }
  if (!inside(z, at)) return 0;
  const double *v = ir_element(m, buffer, at, false);
  if (m->counts) m->counts->buffer[buffer].read++;
  return v ? *v : 0;
}

/* The element of the op's output at a point. */
static double *result(machine *m, const tf_op *op, const int64_t *point) {
  int64_t at[IR_MAX_RANK];
  for (int r = 0; r < op->n_out_dims; r++)
    at[r] = point[op->dims[r]];
  return ir_element(m, m->p->buffer_of[op->out], at, true);
}

static double value_at_point(machine *m, int buffer, const int64_t *point) {
  int64_t at[IR_MAX_RANK];
  const tf_op *maker = &m->wl->ops[m->wl->tensors[m->p->buffers[buffer].tensor].producer];
  for (int r = 0; r < maker->n_out_dims; r++)
    at[r] = point[maker->dims[r]];
  const double *v = ir_element(m, buffer, at, false);
  return v ? *v : 0;
}

static void nest_point(machine *m, const ir_stmt *s, const int64_t *point, bool fresh) {
  const tf_op *op = &m->wl->ops[s->op];
  double read[MAX_READS], *out = result(m, op, point);
  for (int i = 0; i < op->n_reads; i++)
    read[i] =
        i == s->nest.divides
            ? 1
            : operand(m, op, i,
                      s->nest.from ? s->nest.from[i] : m->p->buffer_of[op->reads[i].tensor], point);
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
  int64_t at[IR_MAX_RANK];
  (void)fresh;
  for (int r = 0; r < op->n_out_dims; r++)
    at[r] = point[op->dims[r]];
  double *to = ir_element(m, s->save.to, at, true);
  if (to) *to = value_at_point(m, s->save.from, point);
}

static void carry_point(machine *m, const ir_stmt *s, const int64_t *point, bool fresh) {
  const tf_op *op = &m->wl->ops[s->op];
  int64_t at[IR_MAX_RANK];
  (void)fresh;
  for (int r = 0; r < op->n_out_dims; r++)
    at[r] = point[op->dims[r]];
  double *to = ir_element(m, s->carry.to, at, true);
  double *from =
      to && s->carry.from >= 0 ? ir_element(m, s->carry.from, at, s->carry.clears) : NULL;
  if (to) *to = from ? *to + *from : 0;
  if (from && s->carry.clears) *from = 0;
}

static void correct_point(machine *m, const ir_stmt *s, const int64_t *point, bool fresh) {
  const tf_op *op = &m->wl->ops[s->op];
  double *out = result(m, op, point);
  int64_t at[IR_MAX_RANK];
  (void)fresh;
  for (int r = 0; r < op->n_out_dims; r++)
    at[r] = point[op->dims[r]];
  for (int i = -1; out && i < s->correct.n_carries; i++) {
    double *to = i < 0 ? out : ir_element(m, s->correct.carries[i], at, true);
    if (to)
      *to *= exp(s->correct.rate * (value_at_point(m, s->correct.before, point) -
                                    value_at_point(m, s->correct.after, point)));
  }
}

static void divide_point(machine *m, const ir_stmt *s, const int64_t *point, bool fresh) {
  double *out = result(m, &m->wl->ops[s->op], point);
  (void)fresh;
  if (out) *out /= value_at_point(m, s->divide.divisor, point);
}

static void merge_point(machine *m, const ir_stmt *s, const int64_t *point, bool fresh) {
  const tf_op *op = &m->wl->ops[s->op];
  double sum = ir_identity(op->reduce);
  int64_t at[IR_MAX_RANK];
  (void)fresh;
  for (int64_t i = 0; i < s->merge.parts && m->ok; i++) {
    m->var[s->merge.part] = i;
    double v = value_at_point(m, s->merge.from, point);
    if (s->merge.before >= 0)
      v *= exp(s->merge.rate * (value_at_point(m, s->merge.before, point) -
                                value_at_point(m, s->merge.after, point)));
    sum = ir_combine(op->reduce, sum, v);
  }
  if (s->merge.divisor >= 0) sum /= value_at_point(m, s->merge.divisor, point);
  for (int r = 0; r < op->n_out_dims; r++)
    at[r] = point[op->dims[r]];
  double *to = ir_element(m, s->merge.to, at, true);
  if (to) *to = sum;
}

bool ir_range_allows(const ir_range *r, int64_t n) {
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
    row = row * s->stack->length[i] + point[op->dims[s->stack->axis[i]]] -
          atom(m, s->range[s->stack->axis[i]].lo);
  row -= atom(m, s->stack->first);
  return row >= 0 && row < s->stack->count;
}

static void walk_from(machine *m, const ir_stmt *s, int n_dims, int k, int64_t *point, at_point *at,
                      bool fresh) {
  const tf_op *op = &m->wl->ops[s->op];
  if (k == n_dims) {
    if (!s->stack || is_in_rows(m, s, point)) at(m, s, point, fresh);
    return;
  }
  int64_t lo = atom(m, s->range[k].lo), hi = atom(m, s->range[k].hi);
  if (!ir_range_allows(&s->range[k], hi - lo))
    ir_fault(m, "%s: a length of %lld", op->name, (long long)(hi - lo));
  for (int64_t i = lo; i < hi && m->ok; i++) {
    point[op->dims[k]] = i;
    walk_from(m, s, n_dims, k + 1, point, at, fresh);
  }
}

static void walk(machine *m, const ir_stmt *s, at_point *at, bool fresh) {
  int64_t point[256];
  walk_from(m, s, ir_n_ranges(m->p, s), 0, point, at, fresh);
}

static void nest(machine *m, const ir_stmt *s) {
  if (m->noted && s->note)
    m->p->platform->notes->enter(m->noted, m->p, m->var, m->counts->buffer, s);
  bool fresh = true;
  for (int i = 0; i < s->nest.n_resets; i++)
    fresh &= atom(m, s->nest.resets[i]) == 0;
  walk(m, s, nest_point, fresh);
}

void ir_run_let(machine *m, const ir_stmt *s) {
  m->var[s->let.var] = s->let.expr.fn == IR_SEEN ? seen(m, &s->let.expr) : value(m, &s->let.expr);
}

void ir_run_points(machine *m, const ir_stmt *s) {
  switch (s->kind) {
  case IR_NEST: nest(m, s); break;
  case IR_SAVE: walk(m, s, save_point, false); break;
  case IR_CARRY: walk(m, s, carry_point, false); break;
  case IR_CORRECT:
    if (atom(m, s->correct.resets) != 0) walk(m, s, correct_point, false);
    break;
  case IR_DIVIDE:
    if (atom(m, s->divide.last) == s->divide.end) walk(m, s, divide_point, false);
    break;
  case IR_MERGE: walk(m, s, merge_point, false); break;
  default: break;
  }
}
