/* What streaming leaves out of the steps (SEMANTICS D11), found by trying numbers: which power of a
 * running sum a value holds, whether an op without it is one of its operands or a number, and which
 * sums are divided at the end. */
#include <math.h>
#include <string.h>

#include "tests/oracle/oracle.h"

enum { TRIES = 256, OTHER = 99 }; /* so many that a condition as `l == m` is met */

/* Numbers for operands and coordinates: none is a power of another, or a product of a few. */
static double draw(int what, int try) {
  const double x = sin(12.9898 * what + 78.233 * try + 1) * 43758.5453;
  return 0.5 + (x - floor(x));
}

static double call(tf_kind kind, double a, double b, double c) {
  switch (kind) {
  case TF_K_COPY: return a;
  case TF_K_ADD: return a + b;
  case TF_K_SUB: return a - b;
  case TF_K_MUL: return a * b;
  case TF_K_DIV: return a / b;
  case TF_K_NEG: return -a;
  case TF_K_EXP: return exp(a);
  case TF_K_MAX: return a > b ? a : b;
  case TF_K_MIN: return a < b ? a : b;
  case TF_K_SELECT: return a != 0 ? b : c;
  case TF_K_LT: return a < b;
  case TF_K_LE: return a <= b;
  case TF_K_EQ: return a == b;
  case TF_K_NE: return a != b;
  default: return NAN;
  }
}

static double value(const tf_op *op, int i, const double *read, int try) {
  const tf_expr *e = &op->expr[i];
  double arg[3] = {0, 0, 0};
  if (e->what == TF_X_NUMBER) return e->number;
  if (e->what == TF_X_READ) return read[e->ref];
  if (e->what == TF_X_DIM) return floor(7 * draw(500 + e->dim, try));
  for (int k = 0; k < e->n_args; k++)
    arg[k] = value(op, e->arg[k], read, try);
  return call(e->call, arg[0], arg[1], arg[2]);
}

/* With which power the op's value grows as its operands grow with theirs; OTHER: with none. */
static int power_of(const tf_op *op, const int *power) {
  int found = 0;
  bool any = false;
  for (int t = 0; t < TRIES; t++) {
    double one[MAX_OPS], two[MAX_OPS];
    for (int r = 0; r < op->n_reads; r++) {
      one[r] = draw(op->reads[r].tensor, t);
      if (power[op->reads[r].tensor] == OTHER) return OTHER;
      two[r] = ldexp(one[r], power[op->reads[r].tensor]);
    }
    const double a = value(op, op->n_expr - 1, one, t), b = value(op, op->n_expr - 1, two, t);
    if (a == 0 && b == 0) continue;
    const double k = log2(b / a);
    if (k != floor(k) || (any && k != found)) return OTHER;
    found = (int)k;
    any = true;
  }
  return found;
}

static bool leaves(const oracle *o, int z, int scope) {
  bool read = false, out = false;
  for (int q = 0; q < o->wl->n_ops; q++)
    for (int r = 0; r < o->wl->ops[q].n_reads; r++) {
      if (o->wl->ops[q].reads[r].tensor != z) continue;
      read = true;
      out |= !op_below(o, q, scope);
    }
  return out || !read;
}

/* Whether op q reads what holds a power of a sum at the sum's own row, and keeps the dims of that
 * row (D11); `rows`, bits by dim: on which of them a tensor's power depends. */
static bool keeps_rows(const oracle *o, int q, int k, const int *power, uint64_t *rows) {
  const tf_op *op = &o->wl->ops[q];
  bool ok = true;
  uint64_t own = 0;
  for (int r = 0; r < op->n_reads; r++) {
    const int z = op->reads[r].tensor;
    for (int p = 0; power[z] != 0 && p < o->wl->tensors[z].rank; p++) {
      const tf_index *ix = &op->reads[r].index[p];
      const int dim = o->wl->ops[o->wl->tensors[z].producer].dims[p];
      if (!(rows[z] >> dim & 1)) continue;
      ok &= ix->n_terms == 1 && ix->c == 0 && ix->terms[0].coef == 1 && ix->terms[0].dim == dim;
      own |= UINT64_C(1) << dim;
    }
  }
  for (int d = 0; d < op->n_out_dims; d++)
    rows[op->out] |= own & (UINT64_C(1) << op->dims[d]);
  return ok && (k == 0 || rows[op->out] == own);
}

/* Follows the sum of op z: which sums it divides, and what holds a power of it.  Whether it may
 * wait. */
static bool follow(const oracle *o, int z, bool *divides, bool *holds_it) {
  int power[256] = {0};
  uint64_t rows[256] = {0};
  const int scope = stream_scope(o, z);
  bool ok = true;
  power[o->wl->ops[z].out] = 1;
  for (int d = 0; d < o->wl->ops[z].n_out_dims; d++)
    rows[o->wl->ops[z].out] |= UINT64_C(1) << o->wl->ops[z].dims[d];
  for (int i = 0; i < o->wl->n_ops; i++) {
    const int q = o->wl->topo[i];
    const tf_op *op = &o->wl->ops[q];
    bool reads = false;
    divides[q] = holds_it[q] = false;
    for (int r = 0; r < op->n_reads; r++)
      reads |= power[op->reads[r].tensor] != 0;
    if (q == z || !reads || !op_below(o, q, scope)) continue;
    int k = power_of(op, power);
    if (!keeps_rows(o, q, k, power, rows)) k = OTHER;
    if (stream_scope(o, q) >= 0) {
      divides[q] = k == -1;
    } else {
      power[op->out] = k;
      holds_it[q] = k != 0;
      ok &= k != OTHER && (k == 0 || !leaves(o, op->out, scope));
    }
  }
  return ok;
}

/* Which sums may wait: not one that has to be read, nor one of which something holds a power beside
 * that of another. */
static void find_waiting(const oracle *o, bool *waits, int *divided_by, bool *holds_it) {
  bool divides[MAX_OPS], holds[MAX_OPS], again = true;
  for (int z = 0; z < o->wl->n_ops; z++)
    waits[z] = stream_scope(o, z) >= 0 && o->wl->ops[z].reduce == TF_REDUCE_ADD;
  while (again) {
    bool next[MAX_OPS];
    int held[MAX_OPS] = {0};
    again = false;
    memset(holds_it, 0, MAX_OPS);
    for (int q = 0; q < o->wl->n_ops; q++)
      divided_by[q] = -1, next[q] = waits[q];
    for (int z = 0; z < o->wl->n_ops; z++) {
      if (!waits[z]) continue;
      next[z] = follow(o, z, divides, holds);
      for (int q = 0; q < o->wl->n_ops; q++) {
        held[q] += holds[q];
        holds_it[q] |= holds[q];
        if (divides[q]) divided_by[q] = z;
      }
    }
    for (int z = 0; z < o->wl->n_ops; z++) {
      if (!waits[z]) continue;
      follow(o, z, divides, holds);
      for (int q = 0; q < o->wl->n_ops; q++)
        next[z] &= !holds[q] || held[q] < 2;
      again |= !next[z];
    }
    memcpy(waits, next, sizeof next);
  }
}

/* What is left of the op where operands count as stands[tensor], NAN: as themselves. */
static void try_step(const tf_op *op, const double *stands, bool holds_it, late_step *step) {
  bool number = true, same[MAX_OPS];
  double first = NAN;
  for (int r = 0; r < op->n_reads; r++) {
    step->left_out[r] = !isnan(stands[op->reads[r].tensor]);
    same[r] = !step->left_out[r];
  }
  for (int t = 0; t < TRIES; t++) {
    double read[MAX_OPS];
    for (int r = 0; r < op->n_reads; r++)
      read[r] = step->left_out[r] ? stands[op->reads[r].tensor] : draw(r, t);
    const double v = value(op, op->n_expr - 1, read, t);
    for (int r = 0; r < op->n_reads; r++)
      same[r] &= v == read[r];
    if (t == 0) first = v;
    number &= v == first;
  }
  if (op->reduce != TF_ASSIGN || !holds_it) return;
  step->idle = number;
  step->value = first;
  step->no_points = number;
  for (int r = 0; r < op->n_reads; r++)
    step->no_points |= same[r];
}

void find_late(const oracle *o, late_step *step) {
  double stands[256];
  bool holds_it[MAX_OPS];
  int divided_by[MAX_OPS], scope_of[256];
  bool waits[MAX_OPS];
  for (int z = 0; z < o->wl->n_tensors; z++)
    stands[z] = NAN, scope_of[z] = -1;
  find_waiting(o, waits, divided_by, holds_it);
  for (int z = 0; z < o->wl->n_ops; z++)
    if (waits[z]) stands[o->wl->ops[z].out] = 1, scope_of[o->wl->ops[z].out] = stream_scope(o, z);
  for (int i = 0; i < o->wl->n_ops; i++) {
    const int q = o->wl->topo[i];
    const tf_op *op = &o->wl->ops[q];
    double seen[256];
    int scope = -1;
    for (int z = 0; z < o->wl->n_tensors; z++)
      seen[z] = scope_of[z] >= 0 && op_below(o, q, scope_of[z]) ? stands[z] : NAN;
    for (int r = 0; r < op->n_reads; r++)
      if (!isnan(seen[op->reads[r].tensor])) scope = scope_of[op->reads[r].tensor];
    step[q] = (late_step){.divided_by = divided_by[q]};
    if (scope < 0) continue;
    try_step(op, seen, holds_it[q], &step[q]);
    if (step[q].idle) stands[op->out] = step[q].value, scope_of[op->out] = scope;
  }
}
