/* Bounds inference at one setting of all loops (docs/SEMANTICS.md section 1). */
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/oracle.h"
#include "tests/oracle/written.h"

/* Far from every border: full tiles, no clipping (for the effect of a loop alone). */
static bool unbounded(const oracle *o) { return o->steps < 0; }

static span span_of_both(span a, span b) {
  if (a.len <= 0 || b.len <= 0) return a.len <= 0 ? b : a;
  int64_t end = a.lo + a.len > b.lo + b.len ? a.lo + a.len : b.lo + b.len;
  int64_t lo = a.lo < b.lo ? a.lo : b.lo;
  return (span){lo, end - lo};
}

int64_t step(const oracle *o, int op, place p) {
  place path[MAX_PATH];
  int n = path_to(o, o->tree->op_node[op], path);
  int64_t size = 1;
  bool inside = false;
  for (int i = 0; i < n; i++) {
    if (inside && loop_of(o, path[i])->dim == loop_of(o, p)->dim) size *= loop_of(o, path[i])->trip;
    inside |= path[i].node == p.node && path[i].slot == p.slot;
  }
  return size;
}

/* Of the op's dims those of an index; range: those of all its dims, asked for once, as each may ask
 * for those of its readers, and these for theirs. */
static span index_span(const tf_op *p, const tf_index *ix, const span *range) {
  span s = {ix->c, 1};
  for (int i = 0; i < ix->n_terms; i++) {
    int k = 0;
    while (p->dims[k] != ix->terms[i].dim)
      k++;
    span d = range[k];
    int64_t c = ix->terms[i].coef, last = d.lo + d.len - 1;
    if (d.len <= 0) return (span){0, 0};
    int64_t a = c * d.lo, b = c * last;
    s.lo += a < b ? a : b;
    s.len += a < b ? b - a : a - b;
  }
  return s;
}

static bool has_dim(const tf_op *p, int dim) {
  bool has = false;
  for (int i = 0; i < p->n_dims; i++)
    has |= p->dims[i] == dim;
  return has;
}

/* The outermost node at which the op leads. */
static int lead_of(const oracle *o, int op) {
  int n = o->tree->op_node[op];
  while (o->tree->nodes[n].parent >= 0 && leads(o, op, o->tree->nodes[n].parent))
    n = o->tree->nodes[n].parent;
  return n;
}

/* Whether all ops below a spatial loop that have its dim lead from one node, and split ranges of
 * one length by one step. */
static bool alike_below(const oracle *o, place p) {
  const int dim = loop_of(o, p)->dim;
  int64_t len = -1, by = -1;
  int lead = -1;
  bool alike = true;
  for (int op = 0; op < o->wl->n_ops; op++) {
    if (!op_below(o, op, p.node) || !has_dim(&o->wl->ops[op], dim)) continue;
    const int64_t l = dim_range(o, op, dim, p.node).len, b = step(o, op, p);
    alike &= len < 0 || (l == len && b == by && lead == lead_of(o, op));
    len = l, by = b, lead = lead_of(o, op);
  }
  return alike;
}

bool splits_alike(oracle *o) {
  bool alike = true;
  memset(o->digit, 0, sizeof o->digit);
  for (int n = 0; n < o->tree->n_nodes; n++)
    for (int k = 0; k < o->tree->nodes[n].n_loops; k++)
      if (o->tree->nodes[n].loops[k].axis != TF_TEMPORAL && o->tree->nodes[n].loops[k].trip > 1)
        alike &= alike_below(o, (place){n, k});
  return alike;
}

static box reach_of(const oracle *o, int op, int ref, int n);

static span clipped(const oracle *o, int z, int rank, span s) {
  if (unbounded(o) || o->no_borders) return s;
  int64_t lo = o->wl->tensors[z].lo[rank], end = lo + o->wl->tensors[z].extent[rank];
  int64_t from = s.lo > lo ? s.lo : lo, to = s.lo + s.len < end ? s.lo + s.len : end;
  return (span){from, to > from ? to - from : 0};
}

/* The part of what a read reaches that is inside, or the element nearest to it. */
static span nearest(const oracle *o, int z, int rank, span s) {
  if (unbounded(o) || o->no_borders) return s;
  const int64_t lo = o->wl->tensors[z].lo[rank], end = lo + o->wl->tensors[z].extent[rank];
  if (s.lo >= end) return (span){end - 1, 1};
  if (s.lo + s.len <= lo) return (span){lo, 1};
  return clipped(o, z, rank, s);
}

/* What ops below n ask of op's output in that rank. */
static span wanted(const oracle *o, int op, int rank, int n) {
  int z = o->wl->ops[op].out;
  span s = {0, 0};
  for (int c = 0; c < o->wl->n_ops; c++)
    for (int r = 0; r < o->wl->ops[c].n_reads && op_below(o, c, n); r++) {
      if (o->wl->ops[c].reads[r].tensor != z) continue;
      box b = reach_of(o, c, r, n);
      if (!b.empty) s = span_of_both(s, nearest(o, z, rank, b.rank[rank]));
    }
  return s;
}

static int rank_of(const oracle *o, int op, int dim) {
  for (int r = 0; r < o->wl->ops[op].n_out_dims; r++)
    if (o->wl->ops[op].dims[r] == dim) return r;
  return -1;
}

static bool leads_stream(const oracle *o, int scope, int op) {
  const tf_node *s = &o->tree->nodes[scope];
  for (int k = 0; k < s->n_stream; k++)
    if (o->wl->ops[op].out == s->stream[k].tensor) return leads(o, op, scope);
  return false;
}

/* What the named reductions that lead in a streaming scope take of the dim on entry to n.
 * Choice: where several lead and their own loops split the dim differently, the hull. */
static span streamed(const oracle *o, int scope, int dim, int n) {
  span all = {0, 0};
  bool any = false;
  for (int i = 0; i < o->wl->n_ops; i++)
    if (leads_stream(o, scope, i)) {
      all = span_of_both(all, dim_range(o, i, dim, n));
      any = true;
    }
  return any ? all : (span){0, o->wl->dims[dim].extent};
}

/* What a run of the scope n that retains z makes of it, in the instance at hand; NULL: none that is
 * known. */
static const box *made_anew(const oracle *o, int z, int n) {
  if (z == o->whole || unbounded(o) || !o->kept[z] || !o->kept[z]->open || n != home_scope(o, z))
    return NULL;
  const uint64_t key = instance_key(o, n);
  for (int i = 0; i < o->kept[z]->n; i++)
    if (o->kept[z]->key[i] == key) return &o->kept[z]->made[i];
  return NULL;
}

static span produced(const oracle *o, int op, int dim, int n) {
  int rank = rank_of(o, op, dim), scope = stream_scope(o, op);
  const box *made = rank >= 0 ? made_anew(o, o->wl->ops[op].out, n) : NULL;
  if (made) return made->empty ? (span){0, 0} : made->rank[rank];
  if (rank >= 0) return wanted(o, op, rank, n);
  if (scope >= 0 && below(o, scope, n) && !leads_stream(o, scope, op))
    return streamed(o, scope, dim, n);
  return (span){0, o->wl->dims[dim].extent};
}

/* Whether a temporal loop with steps decides the range of op's dim at node n. */
static bool decided_in_time(const oracle *o, int op, int dim, int n) {
  const int up = o->tree->nodes[n].parent;
  bool any = false;
  if (leads(o, op, n)) {
    const tf_node *t = up < 0 ? NULL : &o->tree->nodes[up];
    for (int k = 0; t && leads(o, op, up) && k < t->n_loops; k++)
      any |= t->loops[k].dim == dim && t->loops[k].axis == TF_TEMPORAL && t->loops[k].trip > 1;
    return any || (up >= 0 && decided_in_time(o, op, dim, up));
  }
  const int rank = rank_of(o, op, dim);
  for (int c = 0; c < o->wl->n_ops && rank >= 0; c++)
    for (int r = 0; r < o->wl->ops[c].n_reads && op_below(o, c, n); r++) {
      const tf_ref *ref = &o->wl->ops[c].reads[r];
      for (int i = 0; ref->tensor == o->wl->ops[op].out && i < ref->index[rank].n_terms; i++)
        any |= decided_in_time(o, c, ref->index[rank].terms[i].dim, n);
    }
  return any;
}

bool wanders(const oracle *o, int op, int dim) {
  const int up = o->tree->nodes[lead_of(o, op)].parent;
  return up >= 0 && decided_in_time(o, op, dim, up);
}

static span part(const oracle *o, span s, int64_t digit, int64_t size) {
  int64_t lo = s.lo + digit * size, end = s.lo + s.len;
  if (unbounded(o)) return (span){lo, size};
  int64_t to = lo + size < end ? lo + size : end;
  return (span){lo, to > lo ? to - lo : 0};
}

span dim_range(const oracle *o, int op, int dim, int n) {
  if (!leads(o, op, n)) return produced(o, op, dim, n);
  int up = o->tree->nodes[n].parent;
  if (up < 0) return (span){0, o->wl->dims[dim].extent};
  span s = dim_range(o, op, dim, up);
  const tf_node *t = &o->tree->nodes[up];
  for (int k = 0; t->kind == TF_TILE && leads(o, op, up) && k < t->n_loops; k++)
    if (t->loops[k].dim == dim && !(o->everywhere && wanders(o, op, dim)))
      s = part(o, s, o->digit[up][k], step(o, op, (place){up, k}));
  return s;
}

/* Whether somebody asks for the number that op makes, which has no rank to tell it by: at the
 * innermost node from n outwards where it does not lead. */
static bool is_asked(const oracle *o, int op, int n) {
  const int z = o->wl->ops[op].out;
  bool any = false;
  if (o->wl->ops[op].n_out_dims > 0 || unbounded(o)) return true;
  while (n >= 0 && leads(o, op, n))
    n = o->tree->nodes[n].parent;
  const box *made = n >= 0 ? made_anew(o, z, n) : NULL;
  if (made) return !made->empty;
  for (int c = 0; c < o->wl->n_ops && n >= 0; c++)
    for (int r = 0; r < o->wl->ops[c].n_reads && op_below(o, c, n) && !any; r++)
      any = o->wl->ops[c].reads[r].tensor == z && !reach_of(o, c, r, n).empty;
  return any || n < 0;
}

bool idle(const oracle *o, int op, int n) {
  if (!is_asked(o, op, n)) return true;
  for (int i = 0; i < o->wl->ops[op].n_dims && !unbounded(o); i++)
    if (dim_range(o, op, o->wl->ops[op].dims[i], n).len <= 0) return true;
  return false;
}

/* What the op reads or writes, whether or not there is such an element. */
static box reach_of(const oracle *o, int op, int ref, int n) {
  const tf_op *p = &o->wl->ops[op];
  int z = ref < 0 ? p->out : p->reads[ref].tensor;
  span range[MAX_DIMS];
  box b = {.empty = !is_asked(o, op, n)};
  for (int i = 0; i < p->n_dims; i++) {
    range[i] = dim_range(o, op, p->dims[i], n);
    b.empty |= range[i].len <= 0 && !unbounded(o);
  }
  for (int r = 0; r < o->wl->tensors[z].rank && !b.empty; r++) {
    const bool text = ref >= 0 && written_in_use() && !unbounded(o);
    if (ref < 0)
      b.rank[r] = range[r];
    else
      b.rank[r] = text ? written_span(o->wl, op, ref, r, range)
                       : index_span(p, &p->reads[ref].index[r], range);
    b.empty |= b.rank[r].len <= 0;
  }
  return b;
}

box op_box(const oracle *o, int op, int ref, int n) {
  const int z = ref < 0 ? o->wl->ops[op].out : o->wl->ops[op].reads[ref].tensor;
  box b = reach_of(o, op, ref, n);
  for (int r = 0; ref >= 0 && r < o->wl->tensors[z].rank && !b.empty; r++) {
    b.rank[r] = clipped(o, z, r, b.rank[r]);
    b.empty |= b.rank[r].len <= 0;
  }
  return b;
}

void join_boxes(const oracle *o, int z, box *all, const box *b) {
  if (b->empty) return;
  for (int r = 0; r < o->wl->tensors[z].rank; r++)
    all->rank[r] = all->empty ? b->rank[r] : span_of_both(all->rank[r], b->rank[r]);
  all->empty = false;
}

box slice(const oracle *o, int n, int z) {
  box all = {.empty = true};
  for (int op = 0; op < o->wl->n_ops; op++) {
    if (!op_below(o, op, n)) continue;
    for (int r = 0; r < o->wl->ops[op].n_reads; r++)
      if (o->wl->ops[op].reads[r].tensor == z) {
        box b = op_box(o, op, r, n);
        join_boxes(o, z, &all, &b);
      }
    if (o->wl->ops[op].out == z) {
      box b = op_box(o, op, -1, n);
      join_boxes(o, z, &all, &b);
    }
  }
  return all;
}

int64_t volume(const oracle *o, int z, const box *b) {
  int64_t v = b->empty ? 0 : 1;
  for (int r = 0; r < o->wl->tensors[z].rank; r++)
    v *= b->empty ? 0 : b->rank[r].len;
  return v;
}

void step_effect(oracle *o, int n, int z, place p, int64_t *shift) {
  int64_t saved[MAX_NODES][16], steps = o->steps;
  memcpy(saved, o->digit, sizeof saved);
  memset(o->digit, 0, sizeof o->digit);
  o->steps = -1;
  box at = slice(o, n, z);
  o->digit[p.node][p.slot] = 1;
  box next = slice(o, n, z);
  o->steps = steps;
  memcpy(o->digit, saved, sizeof saved);
  for (int r = 0; r < o->wl->tensors[z].rank; r++)
    shift[r] = next.rank[r].lo - at.rank[r].lo;
}
