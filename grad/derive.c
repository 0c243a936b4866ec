/* Reverse mode within one op: from the op's reduction down to its reads. */
#include "grad/derive.h"

#include <stdio.h>

#include "model/input/dims.h"

static const gr_expr *mul(gr_draft *d, const gr_expr *a, const gr_expr *b) {
  return gr_call(d, TF_K_MUL, a, b, NULL);
}
static const gr_expr *one_of(gr_draft *d, tf_kind kind, const gr_expr *a) {
  return gr_call(d, kind, a, NULL, NULL);
}
static const gr_expr *two_of(gr_draft *d, tf_kind kind, const gr_expr *a, const gr_expr *b) {
  return a && b ? gr_call(d, kind, a, b, NULL) : NULL;
}
static const gr_expr *select_of(gr_draft *d, const gr_expr *c, const gr_expr *a, const gr_expr *b) {
  return a && b && c ? gr_call(d, TF_K_SELECT, c, a, b) : NULL;
}

/* The op's own tensor at its point. */
static const gr_expr *out_at(gr_draft *d, const tf_op *op, int tensor) {
  int slots[TF_MAX_RANK];
  for (int r = 0; r < op->n_out_dims; r++)
    slots[r] = GR_SLOT + r;
  return gr_read_at(d, tensor, slots);
}

const gr_expr **gr_values(gr_draft *d, const tf_op *op) {
  const gr_expr **value = tf_arena_array(d->arena, (size_t)op->n_expr, sizeof *value);
  bool ok = value != NULL;
  for (int i = 0; ok && i < op->n_expr; i++) {
    const tf_expr *x = &op->expr[i];
    const gr_expr *arg[3] = {NULL, NULL, NULL};
    for (int k = 0; x->what == TF_X_CALL && k < x->n_args; k++)
      arg[k] = value[x->arg[k]];
    if (x->what == TF_X_NUMBER) value[i] = gr_number(d, x->number);
    if (x->what == TF_X_READ) {
      const tf_ref *ref = &op->reads[x->ref];
      value[i] = gr_read(d, ref->tensor, gr_ref_forms(d, op, ref));
    }
    if (x->what == TF_X_DIM) value[i] = gr_place(d, gr_form(d, GR_SLOT + tf_op_slot(op, x->dim)));
    if (x->what == TF_X_CALL) value[i] = gr_call(d, x->call, arg[0], arg[1], arg[2]);
    ok = value[i] != NULL;
  }
  return ok || gr_fail_memory(d) ? value : NULL;
}

/* ---- functions ------------------------------------------------------------------------ */
/* adj times the derivative of silu(u), which is v: u times the sigmoid. */
static const gr_expr *through_silu(gr_draft *d, const gr_expr *adj, const gr_expr *u,
                                   const gr_expr *v) {
  const gr_expr *s = one_of(d, TF_K_SIGMOID, u);
  return mul(d, adj, two_of(d, TF_K_ADD, s, mul(d, v, two_of(d, TF_K_SUB, gr_number(d, 1), s))));
}

/* The same of gelu: the normal distribution's share below u, and u times its density. */
static const gr_expr *through_gelu(gr_draft *d, const gr_expr *adj, const gr_expr *u) {
  const gr_expr *erf = one_of(d, TF_K_ERF, mul(d, gr_number(d, 0.70710678118654752), u));
  const gr_expr *below = mul(d, gr_number(d, 0.5), two_of(d, TF_K_ADD, gr_number(d, 1), erf));
  const gr_expr *bell = one_of(d, TF_K_EXP, mul(d, gr_number(d, -0.5), mul(d, u, u)));
  return mul(d, adj,
             two_of(d, TF_K_ADD, below, mul(d, mul(d, gr_number(d, 0.3989422804014327), u), bell)));
}

static const gr_expr *through_abs(gr_draft *d, const gr_expr *adj, const gr_expr *u) {
  const gr_expr *below = select_of(d, u, gr_number(d, -1), gr_number(d, 0));
  return mul(d, adj, select_of(d, one_of(d, TF_K_RELU, u), gr_number(d, 1), below));
}

/* adj where a is greater than b (for a maximum; less for a minimum), 0 elsewhere; ties go to the
 * first. */
static const gr_expr *to_greater(gr_draft *d, tf_kind kind, int k, const gr_expr *adj,
                                 const gr_expr *const u[]) {
  const gr_expr *zero = gr_number(d, 0);
  const gr_expr *over =
      kind == TF_K_MAX ? two_of(d, TF_K_SUB, u[1], u[0]) : two_of(d, TF_K_SUB, u[0], u[1]);
  const gr_expr *second = one_of(d, TF_K_RELU, over);
  return k == 0 ? select_of(d, second, zero, adj) : select_of(d, second, adj, zero);
}

/* adj times the derivative of the call by its argument k; u: the arguments, v: its value. */
static const gr_expr *by_argument(gr_draft *d, tf_kind kind, int k, const gr_expr *adj,
                                  const gr_expr *const u[], const gr_expr *v) {
  const gr_expr *one = gr_number(d, 1), *zero = gr_number(d, 0);
  switch (kind) {
  case TF_K_ADD: return adj;
  case TF_K_SUB: return k == 0 ? adj : one_of(d, TF_K_NEG, adj);
  case TF_K_MUL: return mul(d, adj, u[1 - k]);
  case TF_K_DIV:
    return k == 0 ? two_of(d, TF_K_DIV, adj, u[1])
                  : one_of(d, TF_K_NEG, two_of(d, TF_K_DIV, mul(d, adj, v), u[1]));
  case TF_K_MAX:
  case TF_K_MIN: return to_greater(d, kind, k, adj, u);
  case TF_K_SELECT: return k == 1 ? select_of(d, u[0], adj, zero) : select_of(d, u[0], zero, adj);
  case TF_K_NEG: return one_of(d, TF_K_NEG, adj);
  case TF_K_EXP: return mul(d, adj, v);
  case TF_K_LOG: return two_of(d, TF_K_DIV, adj, u[0]);
  case TF_K_SQRT: return two_of(d, TF_K_DIV, mul(d, gr_number(d, 0.5), adj), v);
  case TF_K_TANH: return mul(d, adj, two_of(d, TF_K_SUB, one, mul(d, v, v)));
  case TF_K_ERF: /* 2 / sqrt(pi) exp(-u u) */
    return mul(d, mul(d, gr_number(d, 1.1283791670955126), adj),
               one_of(d, TF_K_EXP, one_of(d, TF_K_NEG, mul(d, u[0], u[0]))));
  case TF_K_SIGMOID: return mul(d, mul(d, adj, v), two_of(d, TF_K_SUB, one, v));
  case TF_K_RELU: return select_of(d, v, adj, zero);
  case TF_K_SILU: return through_silu(d, adj, u[0], v);
  case TF_K_GELU: return through_gelu(d, adj, u[0]);
  case TF_K_ABS: return through_abs(d, adj, u[0]);
  case TF_K_SIN: return mul(d, adj, one_of(d, TF_K_COS, u[0]));
  case TF_K_COS: return one_of(d, TF_K_NEG, mul(d, adj, one_of(d, TF_K_SIN, u[0])));
  case TF_K_FMOD: /* u - trunc(u / w) w */
    return k == 0 ? adj
                  : one_of(d, TF_K_NEG,
                           mul(d, adj, one_of(d, TF_K_TRUNC, two_of(d, TF_K_DIV, u[0], u[1]))));
  case TF_K_FLOOR: /* steps and conditions, which no derivative goes through: whoever calls asks for
                      none */
  case TF_K_CEIL:
  case TF_K_ROUND:
  case TF_K_TRUNC:
  case TF_K_LT:
  case TF_K_LE:
  case TF_K_EQ:
  case TF_K_NE:
  case TF_K_COPY:
  case TF_K_MAC:
  case TF_N_KINDS: break;
  }
  return adj;
}

/* ---- reductions ------------------------------------------------------------------------- */
/* A helper op that reduces e over the op's reduced dims, with the shape of its output. */
static int reduced(gr_draft *d, const tf_op *op, const char *prefix, tf_reduce reduce,
                   const gr_expr *e) {
  const gr_tensor *out = &d->tensors[op->out];
  char name[300];
  snprintf(name, sizeof name, "%s_%.250s", prefix, out->name);
  int t = gr_add_tensor(d, name, out->rank, out->extent, out->word_bits);
  gr_add_reduced(d, op, t, reduce, e);
  return t;
}

static void count_read(void *ctx, const gr_expr *read) {
  (void)read;
  ++*(int *)ctx;
}

static bool reads(const gr_expr *e) {
  int n = 0;
  gr_each_read(e, count_read, &n);
  return n > 0;
}

/* Whether ops that compute the value get the same number: rounding, fused multiply-adds and the
 * functions of vectors may make two of it, so it is read, chosen, or of places alone. */
static bool is_exact(const gr_expr *e) {
  static const uint32_t kinds = 1u << TF_K_SELECT | 1u << TF_K_NEG | 1u << TF_K_ABS |
                                1u << TF_K_RELU | 1u << TF_K_MAX | 1u << TF_K_MIN | 1u << TF_K_LT |
                                1u << TF_K_LE | 1u << TF_K_EQ | 1u << TF_K_NE;
  static const uint32_t of_places = 1u << TF_K_ADD | 1u << TF_K_SUB | 1u << TF_K_MUL;
  if (e->node.what != TF_X_CALL) return true;
  bool exact = kinds >> e->node.call & 1 || (of_places >> e->node.call & 1 && !reads(e));
  for (int k = 0; exact && k < e->node.n_args; k++)
    exact = is_exact(e->arg[k]);
  return exact;
}

/* The op's value, of which it matters whether it equals another: stored, where it is not exact. */
static const gr_expr *stored(gr_draft *d, const tf_op *op, const gr_expr *v) {
  if (!v || op->n_dims > TF_MAX_RANK || is_exact(v)) return v;
  char name[300];
  int64_t extent[TF_MAX_RANK];
  int slots[TF_MAX_RANK];
  tf_index map[TF_MAX_OP_DIMS];
  for (int s = 0; s < op->n_dims; s++) {
    extent[s] = d->dims[op->dims[s]].extent;
    slots[s] = GR_SLOT + s;
    map[s] = gr_form(d, op->dims[s]);
  }
  snprintf(name, sizeof name, "value_%.250s", d->tensors[op->out].name);
  const int t = gr_add_tensor(d, name, op->n_dims, extent, d->tensors[op->out].word_bits);
  gr_add_op(d, t, op->dims, TF_ASSIGN, gr_map_expr(d, v, map));
  return gr_read_at(d, t, slots);
}

/* All elements equal to the maximum (or minimum) get an equal share.  Of stored values it is found
 * anew. */
static const gr_expr *share_of_extreme(gr_draft *d, const tf_op *op, const gr_expr *v, int d_out) {
  const gr_expr *zero = gr_number(d, 0), *u = stored(d, op, v);
  const int extreme = u == v ? op->out : reduced(d, op, "best", op->reduce, u);
  const gr_expr *off = two_of(d, TF_K_SUB, u, out_at(d, op, extreme));
  int count = reduced(d, op, "n", TF_REDUCE_ADD, select_of(d, off, zero, gr_number(d, 1)));
  const gr_expr *whole = two_of(d, TF_K_DIV, out_at(d, op, d_out), out_at(d, op, count));
  int share = reduced(d, op, "share", TF_ASSIGN, whole);
  return select_of(d, off, zero, out_at(d, op, share));
}

/* The product of the other factors; if one factor is 0 it cannot be found by division. */
static const gr_expr *product_of_others(gr_draft *d, const tf_op *op, const gr_expr *value,
                                        int d_out) {
  const gr_expr *zero = gr_number(d, 0), *one = gr_number(d, 1), *v = stored(d, op, value);
  int zeros = reduced(d, op, "zeros", TF_REDUCE_ADD, select_of(d, v, zero, one));
  int rest = reduced(d, op, "rest", TF_REDUCE_MUL, select_of(d, v, v, one));
  const gr_expr *n = out_at(d, op, zeros);
  const gr_expr *sole = select_of(d, two_of(d, TF_K_SUB, n, one), zero, out_at(d, op, rest));
  const gr_expr *others = select_of(d, v, two_of(d, TF_K_DIV, out_at(d, op, op->out), v), sole);
  return mul(d, out_at(d, op, d_out), others);
}

/* d_out times the derivative of the op by its expression. */
static const gr_expr *of_reduction(gr_draft *d, const tf_op *op, const gr_expr *v, int d_out) {
  switch (op->reduce) {
  case TF_REDUCE_MUL: return product_of_others(d, op, v, d_out);
  case TF_REDUCE_MAX:
  case TF_REDUCE_MIN: return share_of_extreme(d, op, v, d_out);
  case TF_ASSIGN:
  case TF_REDUCE_ADD: break;
  }
  return out_at(d, op, d_out);
}

/* Steps and comparisons have derivative 0. */
static bool is_flat(tf_kind kind) {
  return kind >= TF_K_LT || kind == TF_K_FLOOR || kind == TF_K_CEIL || kind == TF_K_ROUND ||
         kind == TF_K_TRUNC;
}

bool gr_adjoints(gr_draft *d, const tf_op *op, int d_out, const gr_expr **adjoint) {
  int root = op->n_expr - 1;
  const gr_expr **value = gr_values(d, op);
  const gr_expr **adj = tf_arena_array(d->arena, (size_t)op->n_expr, sizeof *adj);
  if (!value || !adj) return gr_fail_memory(d);
  adj[root] = of_reduction(d, op, value[root], d_out);
  if (op->reduce == TF_ASSIGN) value[root] = out_at(d, op, op->out); /* computed already */
  for (int i = root; i >= 0 && adj[root]; i--) {
    const tf_expr *x = &op->expr[i];
    if (x->what == TF_X_READ) adjoint[x->ref] = adj[i];
    if (x->what != TF_X_CALL || !adj[i] || is_flat(x->call)) continue;
    const gr_expr *u[3] = {NULL, NULL, NULL};
    for (int k = 0; k < x->n_args; k++)
      u[k] = value[x->arg[k]];
    for (int k = x->call == TF_K_SELECT; k < x->n_args; k++)
      if (op->expr[x->arg[k]].what != TF_X_NUMBER && op->expr[x->arg[k]].what != TF_X_DIM)
        adj[x->arg[k]] = by_argument(d, x->call, k, adj[i], u, value[i]);
  }
  return !d->failed;
}
