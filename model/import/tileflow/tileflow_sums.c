/* Outputs that TileFlow indexes by sums of dims, A[h + u]: the consumer's window written into the
 * producer.  Here an output is indexed by plain dims, and what its consumers read of it says how
 * much of it is made. */
#include <stdio.h>
#include <string.h>

#include "model/import/tileflow/tileflow.h"

/* Leaves out dims of extent 1, which move nothing. */
static void drop_ones(const ti_case *c, ti_index *x) {
  int n = 0;
  for (int t = 0; t < x->n; t++)
    if (c->dims[x->term[t].dim].extent != 1) x->term[n++] = x->term[t];
  if (n)
    x->n = n;
  else
    x->n = 1; /* the first stands for all */
}

static bool name_taken(const ti_case *c, const char *name) {
  for (int d = 0; d < c->n_dims; d++)
    if (!strcmp(c->dims[d].name, name)) return true;
  for (int z = 0; z < c->n_tensors; z++)
    if (!strcmp(c->tensors[z].name, name)) return true;
  return false;
}

/* A dim for the sum of two others, one for all outputs that have it; -1 with an error. */
static int sum_dim(ti_case *c, tf_loc at, int a, int b) {
  char name[208];
  for (int d = 0; d < c->n_dims; d++)
    if (c->dims[d].sum[0] == a && c->dims[d].sum[1] == b) return d;
  if (c->n_dims == TI_MAX_DIMS) {
    tf_fail(c->diags, at, TF_E_LIMIT, "more than %d dimensions", TI_MAX_DIMS);
    return -1;
  }
  for (int i = 0; i < 64; i++) {
    snprintf(name, sizeof name, "%.60s_%.60s%.*s", c->dims[a].name, c->dims[b].name, i,
             "________________________________________________________________");
    if (!name_taken(c, name)) break;
  }
  ti_dim s = {.name = tf_arena_strndup(c->arena, name, strlen(name)), .at = at, .sum = {a, b}};
  if (!s.name) {
    ti_no_memory(c);
    return -1;
  }
  if (c->dims[a].extent && c->dims[b].extent) s.extent = c->dims[a].extent + c->dims[b].extent - 1;
  c->dims[c->n_dims] = s;
  return c->n_dims++;
}

/* In what the op reads, the first dim of the sum stands for the sum; the second one may not stand
 * alone. */
static bool rename_reads(ti_case *c, ti_op *op, int a, int b, int sum) {
  for (int r = 0; r < op->n_reads; r++)
    for (int k = 0; k < op->reads[r]->rank; k++) {
      ti_index *x = &op->reads[r]->index[k];
      int n = 0;
      bool first = false, second = false;
      for (int t = 0; t < x->n; t++) {
        first |= x->term[t].dim == a;
        second |= x->term[t].dim == b;
      }
      if (second && !first)
        return tf_fail(c->diags, x->at, TF_E_OUTPUT,
                       "op '%.40s' reads by '%.40s' alone what it makes by '%.40s + %.40s'",
                       op->name, c->dims[b].name, c->dims[a].name, c->dims[b].name);
      for (int t = 0; t < x->n; t++) {
        tl_term term = x->term[t];
        if (term.dim == b) continue;
        if (term.dim == a) term.dim = sum;
        x->term[n++] = term;
      }
      x->n = n;
    }
  return true;
}

static bool name_sum(ti_case *c, ti_op *op, ti_index *x) {
  const tl_term *t = x->term;
  if (x->n != 2 || t[0].coef != 1 || t[1].coef != 1 || t[0].dim == t[1].dim)
    return tf_fail(c->diags, x->at, TF_E_OUTPUT,
                   "a rank of the output of op '%.40s' is one dimension, or the sum of two",
                   op->name);
  int a = t[0].dim, b = t[1].dim, sum = sum_dim(c, x->at, a, b);
  if (sum < 0 || !rename_reads(c, op, a, b, sum)) return false;
  ti_warn(
      c, x->at,
      "'%.40s' of op '%.40s' is made at %s + %s: here the dimension %s, and its reads follow it",
      c->tensors[op->out->tensor].name, op->name, c->dims[a].name, c->dims[b].name,
      c->dims[sum].name);
  c->sums = true;
  op->alias[a] = sum;
  op->alias[b] = -1;
  op->has[a] = op->has[b] = false;
  op->has[sum] = true;
  *x = (ti_index){.n = 1, .term = {{sum, 1}}, .at = x->at};
  return true;
}

static void note_used(ti_case *c, const ti_ref *r) {
  for (int k = 0; k < r->rank; k++)
    for (int t = 0; t < r->index[k].n; t++)
      c->dims[r->index[k].term[t].dim].used = true;
}

bool ti_name_sums(ti_case *c) {
  bool ok = true;
  for (int o = 0; o < c->n_ops; o++) {
    ti_op *op = c->ops[o];
    for (int k = 0; k < op->out->rank; k++) {
      ti_index *x = &op->out->index[k];
      if (x->n > 1) drop_ones(c, x);
      if (x->n != 1 || x->term[0].coef != 1) ok &= name_sum(c, op, x);
    }
    note_used(c, op->out);
    for (int r = 0; r < op->n_reads; r++)
      note_used(c, op->reads[r]);
  }
  for (int d = 0; d < c->n_dims && ok; d++)
    if (!c->dims[d].used && c->dims[d].sum[0] < 0 && c->dims[d].extent != 1)
      ti_warn(c, c->dims[d].at, "left out: dimension '%.40s', by which nothing is indexed",
              c->dims[d].name);
  return ok;
}
