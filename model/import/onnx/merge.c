/* Simplifies the graph: elementwise ops with a single reader are merged into it, GELU in several
 * nodes becomes gelu, unread ops are dropped. */
#include <math.h>
#include <string.h>

#include "model/import/onnx/onnx.h"

/* ---- expressions ---------------------------------------------------------------------------- */

static int nodes(const ox_expr *e) {
  int n = 1;
  for (int i = 0; i < e->n_args; i++)
    n += nodes(e->arg[i]);
  return n;
}

static void count_reads(ox_net *g, const ox_expr *e, int by) {
  if (e->kind == OX_READ) g->tensor[e->tensor].reads += by;
  for (int i = 0; i < e->n_args; i++)
    count_reads(g, e->arg[i], by);
}

static ox_expr *find_read(ox_expr *e, int tensor) {
  if (e->kind == OX_READ && e->tensor == tensor) return e;
  for (int i = 0; i < e->n_args; i++) {
    ox_expr *found = find_read(e->arg[i], tensor);
    if (found) return found;
  }
  return NULL;
}

static bool same_index(const ox_index *a, const ox_index *b) {
  bool same = a->n == b->n && a->c == b->c;
  for (int i = 0; i < a->n && same; i++)
    same = a->dim[i] == b->dim[i] && a->coef[i] == b->coef[i];
  return same;
}

static bool same_expr(const ox_net *g, const ox_expr *a, const ox_expr *b) {
  if (a->kind != b->kind || a->n_args != b->n_args) return false;
  if (a->kind == OX_NUMBER) return a->number == b->number;
  if (a->kind == OX_PLACE) return same_index(a->index, b->index);
  bool equal = a->kind == OX_READ ? a->tensor == b->tensor : !strcmp(a->call, b->call);
  for (int r = 0; a->kind == OX_READ && equal && r < g->tensor[a->tensor].rank; r++)
    equal = same_index(&a->index[r], &b->index[r]);
  for (int i = 0; i < a->n_args && equal; i++)
    equal = same_expr(g, a->arg[i], b->arg[i]);
  return equal;
}

/* ---- padded inputs -------------------------------------------------------------------------- */

static void read_other(ox_expr *e, int tensor, int other) {
  if (e->kind == OX_READ && e->tensor == tensor) e->tensor = other;
  for (int i = 0; i < e->n_args; i++)
    read_other(e->arg[i], tensor, other);
}

bool ox_even_pads(ox_net *g) {
  for (int z = 0, all_of = g->n_tensors; z < all_of; z++) {
    const int n = g->n_tensors;
    ox_tensor *t = &g->tensor[z];
    bool uneven = false;
    for (int r = 0; r < t->rank && t->op < 0; r++)
      uneven |= t->pad[r] != t->read_before[r];
    if (!uneven) continue;
    ox_value v = {.name = t->from};
    ox_whole(&v, z, t->rank, t->shape);
    for (int i = 0; i < g->n_ops; i++)
      read_other(g->op[i].value, z, n);
    if (!ox_copy(g, &v, t->from)) return false;
    memcpy(g->tensor[n].pad, t->pad, sizeof t->pad);
    memset(t->pad, 0, sizeof t->pad);
  }
  return true;
}

/* ---- one op into another -------------------------------------------------------------------- */

static bool add_to(ox_index *x, const ox_index *y, int64_t times) {
  x->c += y->c * times;
  for (int i = 0; i < y->n; i++) {
    int at = 0;
    while (at < x->n && x->dim[at] != y->dim[i])
      at++;
    if (at == OX_FACTORS) return false;
    if (at == x->n) x->dim[x->n++] = y->dim[i], x->coef[at] = 0;
    x->coef[at] += y->coef[i] * times;
  }
  return true;
}

/* e with index[k] in place of the op's k-th dim; NULL: out of memory, or an index of too many
 * terms. */
static ox_expr *substituted(ox_net *g, const ox_op *op, const ox_expr *e, const ox_index *index) {
  ox_expr *new = TF_NEW(g->arena, ox_expr);
  if (!new) return NULL;
  *new = *e;
  for (int i = 0; i < e->n_args; i++)
    if (!(new->arg[i] = substituted(g, op, e->arg[i], index))) return NULL;
  if (e->kind != OX_READ && e->kind != OX_PLACE) return new;
  const int rank = e->kind == OX_PLACE ? 1 : g->tensor[e->tensor].rank;
  new->index = TF_ARRAY(g->arena, ox_index, (size_t)rank + 1);
  for (int r = 0; r < rank && new->index; r++) {
    new->index[r].c = e->index[r].c;
    for (int i = 0; i < e->index[r].n; i++)
      for (int k = 0; k < op->n_out; k++)
        if (op->dim[k] == e->index[r].dim[i] &&
            !add_to(&new->index[r], &index[k], e->index[r].coef[i]))
          return NULL;
  }
  return new->index ? new : NULL;
}

static double points(const ox_net *g, const ox_op *op) {
  double n = 1;
  for (int k = 0; k < op->n_out; k++)
    n *= (double)g->dim[op->dim[k]].extent;
  return n;
}

static bool is_elementwise(const ox_op *op) { return !op->gone && !strcmp(op->reduce, "="); }

/* The number of views of the tensor that some op reads; all of them come after the op that produces
 * it. */
static int views_read(const ox_net *g, int tensor) {
  int n = 0;
  for (int z = 0; z < g->n_tensors; z++)
    n += g->tensor[z].view_of == tensor + 1 && g->tensor[z].reads > 0;
  return n;
}

/* Whether it is computed of coordinates alone, which costs nothing wherever it is. */
static bool is_of_places(const ox_expr *e) {
  bool all = e->kind != OX_READ;
  for (int i = 0; i < e->n_args && all; i++)
    all = is_of_places(e->arg[i]);
  return all;
}

/* How many reads of what ops make it has. */
static int reads_made(const ox_net *g, const ox_expr *e) {
  int n = e->kind == OX_READ && g->tensor[e->tensor].op >= 0;
  for (int i = 0; i < e->n_args; i++)
    n += reads_made(g, e->arg[i]);
  return n;
}

/* Whether it makes bytes of what is wider. */
static bool makes_bytes(const ox_net *g, const ox_op *a) {
  const ox_tensor *t = &g->tensor[a->out];
  return t->bits > 0 && t->bits <= 8 && reads_made(g, a->value) > 0;
}

/* first: bytes stay what they are.  Then such are merged that do not meet others: of two
 * convolutions whose results are added one waits, and as bytes. */
static bool can_merge(const ox_net *g, const ox_op *a, const ox_op *b, bool first) {
  const ox_tensor *t = &g->tensor[a->out];
  const bool places = is_of_places(a->value);
  bool can = is_elementwise(a) && !t->result &&
             (places || (t->reads == 1 && points(g, a) == points(g, b))) &&
             nodes(a->value) + nodes(b->value) <= OX_NODES && !views_read(g, a->out) &&
             !(first ? makes_bytes(g, a) : makes_bytes(g, a) && reads_made(g, b->value) > 1);
  for (int r = 0; r < t->rank; r++)
    can &= t->pad[r] == 0;
  return can;
}

/* Whether the read accesses its tensor elsewhere than some read of it in e. */
static bool reads_elsewhere(const ox_net *g, const ox_expr *read, const ox_expr *e) {
  if (e->kind == OX_READ && e->tensor == read->tensor && !same_expr(g, e, read)) return true;
  for (int i = 0; i < e->n_args; i++)
    if (reads_elsewhere(g, read, e->arg[i])) return true;
  return false;
}

/* Whether a reads some tensor that b reads elsewhere: a merged op would have to hold two parts of
 * it (the gates of an LSTM are 512 elements apart), which no small memory can. */
static bool reads_apart(const ox_net *g, const ox_expr *a, const ox_expr *b) {
  if (a->kind == OX_READ && reads_elsewhere(g, a, b)) return true;
  for (int i = 0; i < a->n_args; i++)
    if (reads_apart(g, a->arg[i], b)) return true;
  return false;
}

static bool merge_into(ox_net *g, ox_op *b, const ox_expr *e, bool first) {
  for (int i = 0; i < e->n_args; i++)
    if (merge_into(g, b, e->arg[i], first)) return true;
  if (e->kind != OX_READ || g->tensor[e->tensor].op < 0) return false;
  ox_op *a = &g->op[g->tensor[e->tensor].op];
  if (!can_merge(g, a, b, first)) return false;
  ox_expr *at = find_read(b->value, e->tensor), *new = substituted(g, a, a->value, at->index);
  if (!new || reads_apart(g, new, b->value)) return false;
  a->gone = --g->tensor[a->out].reads == 0;
  if (!a->gone) count_reads(g, new, 1);
  *at = *new;
  return true;
}

/* ---- conditions ----------------------------------------------------------------------------- */

static bool is_number(const ox_expr *e, double x) { return e->kind == OX_NUMBER && e->number == x; }

/* The condition of which e is 1 or 0; NULL: it is none, or out of memory. */
static ox_expr *condition_of(ox_net *g, ox_expr *e) {
  if (e->kind != OX_CALL) return NULL;
  if (!strcmp(e->call, "select") && is_number(e->arg[1], 1) && is_number(e->arg[2], 0)) {
    ox_expr *inner = condition_of(g, e->arg[0]);
    return inner ? inner : e->arg[0];
  }
  if (strcmp(e->call, "*") != 0) return NULL;
  ox_expr *a = condition_of(g, e->arg[0]), *b = condition_of(g, e->arg[1]);
  return a && b ? ox_call(g, "and", a, b, NULL) : NULL;
}

/* What is chosen by a 1 or 0 of a condition is chosen by the condition: a mask of coordinates is
 * seen as one. */
static void choose_by_conditions(ox_net *g, ox_expr *e) {
  if (e->kind == OX_CALL && !strcmp(e->call, "select")) {
    ox_expr *c = condition_of(g, e->arg[0]);
    if (c) e->arg[0] = c;
  }
  for (int i = 0; i < e->n_args; i++)
    choose_by_conditions(g, e->arg[i]);
}

/* ---- GELU ----------------------------------------------------------------------------------- */

static int factors_of(ox_expr *e, ox_expr **out, int n, int most) {
  if (e->kind != OX_CALL || strcmp(e->call, "*") != 0) {
    if (n < most) out[n] = e;
    return n + 1;
  }
  return factors_of(e->arg[1], out, factors_of(e->arg[0], out, n, most), most);
}

static bool nearly(double a, double b) { return fabs(a - b) < 1e-4 * b; }
static bool is_call(const ox_expr *e, const char *call) {
  return e->kind == OX_CALL && !strcmp(e->call, call);
}

/* x of 1 + erf(x / sqrt(2)); NULL: another form. */
static ox_expr *in_erf(ox_expr *e) {
  if (!is_call(e, "+")) return NULL;
  for (int i = 0; i < 2; i++) {
    ox_expr *one = e->arg[i], *erf = e->arg[1 - i];
    if (one->kind != OX_NUMBER || one->number != 1 || !is_call(erf, "erf")) continue;
    ox_expr *in = erf->arg[0];
    if (is_call(in, "/") && in->arg[1]->kind == OX_NUMBER && nearly(in->arg[1]->number, sqrt(2)))
      return in->arg[0];
    for (int k = 0; is_call(in, "*") && k < 2; k++)
      if (in->arg[k]->kind == OX_NUMBER && nearly(in->arg[k]->number, sqrt(0.5)))
        return in->arg[1 - k];
  }
  return NULL;
}

/* 0.5 * x * (1 + erf(x / sqrt(2))), in any order. */
static bool to_gelu(const ox_net *g, ox_expr *e) {
  enum { PARTS = 3 };
  ox_expr *f[PARTS], *x = NULL;
  bool half = false;
  int erf = -1;
  if (!is_call(e, "*") || factors_of(e, f, 0, PARTS) != PARTS) return false;
  for (int i = 0; i < PARTS; i++) {
    if (f[i]->kind == OX_NUMBER && f[i]->number == 0.5) half = true;
    if (in_erf(f[i])) erf = i, x = in_erf(f[i]);
  }
  bool found = false;
  for (int i = 0; i < PARTS && half && erf >= 0; i++)
    found |= i != erf && same_expr(g, f[i], x);
  if (found) *e = (ox_expr){.kind = OX_CALL, .call = "gelu", .n_args = 1, .arg = {x}};
  return found;
}

static void find_gelu(const ox_net *g, ox_expr *e) {
  if (to_gelu(g, e)) return;
  for (int i = 0; i < e->n_args; i++)
    find_gelu(g, e->arg[i]);
}

/* ---- all of them ---------------------------------------------------------------------------- */

static bool drop_some(ox_net *g) {
  bool any = false;
  for (int i = g->n_ops - 1; i >= 0; i--) {
    ox_op *op = &g->op[i];
    const ox_tensor *t = &g->tensor[op->out];
    if (op->gone || t->result || t->reads || views_read(g, op->out)) continue;
    op->gone = any = true;
    count_reads(g, op->value, -1);
  }
  return any;
}

static void drop_unread(ox_net *g) {
  for (int i = 0; i < g->n_tensors; i++)
    g->tensor[i].reads = 0;
  for (int i = 0; i < g->n_ops; i++)
    count_reads(g, g->op[i].value, 1);
  while (drop_some(g)) { /* an op may stand behind its reader: a copy of an input that is padded */
  }
  for (int i = 0; i < g->n_ops; i++)
    if (!g->op[i].gone) g->tensor[g->op[i].out].reads += views_read(g, g->op[i].out);
}

void ox_merge(ox_net *g) {
  drop_unread(g);
  for (int i = 0; i < g->n_ops; i++)
    while (is_elementwise(&g->op[i]) && merge_into(g, &g->op[i], g->op[i].value, true)) {
    }
  for (int i = 0; i < g->n_ops; i++) {
    if (!is_elementwise(&g->op[i])) continue;
    while (merge_into(g, &g->op[i], g->op[i].value, false)) {
    }
    find_gelu(g, g->op[i].value);
    choose_by_conditions(g, g->op[i].value);
  }
}
