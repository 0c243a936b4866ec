/* Matrix products. */
#include "model/import/onnx/onnx.h"

/* Cuts the axis like both values', and gives it dims; false: their extents differ. */
static bool common(ox_net *g, ox_axis *axis, const ox_value *a, int i, const ox_value *b, int k) {
  const int64_t m = ox_extent(a, i), n = ox_extent(b, k);
  if (m != n && m != 1 && n != 1)
    return ox_fail(g, TF_E_SHAPE, "'%.60s' has %lld elements along axis %d where '%.60s' has %lld", a->name,
                   (long long)m, i, b->name, (long long)n);
  return ox_cut(g, axis, 1) && (m == 1 || ox_join(g, axis, a, i)) && (n == 1 || ox_join(g, axis, b, k)) &&
         ox_open(g, axis);
}

static bool alone(ox_net *g, ox_axis *axis, const ox_value *v, int k) {
  return ox_join(g, axis, v, k) && ox_open(g, axis);
}

/* A vector counts as a matrix of one row (a) or one column (b), and the result lacks that axis. */
static bool as_matrix(ox_net *g, ox_value *v, bool row) {
  if (v->rank != 1) return v->rank > 1 || ox_fail(g, TF_E_RANK, "'%.60s' has no axis", v->name);
  v->rank = 2;
  v->n[1] = row ? v->n[0] : 0;
  v->n[0] = row ? 0 : v->n[0];
  return true;
}

static bool matmul(ox_net *g) {
  ox_value a, b, out;
  if (!ox_placed(g, 0, &a) || !ox_placed(g, 1, &b)) return false;
  const bool row = a.rank == 1, column = b.rank == 1;
  if (a.tensor == b.tensor && !ox_copy(g, &b, ox_part(g, "right")))
    return false; /* two parts of one tensor: each gets its own */
  if (!as_matrix(g, &a, true) || !as_matrix(g, &b, false)) return false;
  ox_axis axis[OX_RANK] = {0}, k = {0};
  const ox_axis *in[2][OX_RANK], *made[OX_RANK];
  const int rank = a.rank > b.rank ? a.rank : b.rank;
  ox_begin(g);
  for (int i = 0; i < rank - 2; i++) {
    const int p = i - (rank - a.rank), q = i - (rank - b.rank);
    if (!(p < 0 ? alone(g, &axis[i], &b, q) : q < 0 ? alone(g, &axis[i], &a, p) : common(g, &axis[i], &a, p, &b, q)))
      return false;
    if (p >= 0) in[0][p] = &axis[i];
    if (q >= 0) in[1][q] = &axis[i];
  }
  ox_axis *const m = &axis[rank - 2], *const n = &axis[rank - 1];
  if (ox_extent(&a, a.rank - 1) != ox_extent(&b, b.rank - 2))
    return ox_fail(g, TF_E_SHAPE, "rows of %lld elements times columns of %lld", (long long)ox_extent(&a, a.rank - 1),
                   (long long)ox_extent(&b, b.rank - 2));
  if (!alone(g, m, &a, a.rank - 2) || !alone(g, n, &b, b.rank - 1) || !common(g, &k, &a, a.rank - 1, &b, b.rank - 2))
    return false;
  in[0][a.rank - 2] = m, in[0][a.rank - 1] = &k;
  in[1][b.rank - 2] = &k, in[1][b.rank - 1] = n;
  int n_made = 0;
  for (int i = 0; i < rank; i++)
    if (!(i == rank - 2 && row) && !(i == rank - 1 && column)) made[n_made++] = &axis[i];
  ox_expr *x = ox_read(g, &a, in[0]), *y = ox_read(g, &b, in[1]);
  return ox_make(g, g->node->output[0], "+=", y ? ox_call(g, "*", x, y, NULL) : NULL, made, n_made, &out) &&
         ox_give(g, 0, &out);
}

static ox_expr *scaled(ox_net *g, ox_expr *e, double by) {
  return by == 1 ? e : ox_call(g, "*", e, ox_number(g, by), NULL);
}

/* alpha * A * B + beta * C */
static bool gemm(ox_net *g) {
  static const int turn[] = {1, 0};
  ox_value v[3], out;
  if (!ox_placed(g, 0, &v[0]) || !ox_placed(g, 1, &v[1])) return false;
  if (v[0].rank != 2 || v[1].rank != 2)
    return ox_fail(g, TF_E_RANK, "operands of %d and %d axes, not 2", v[0].rank, v[1].rank);
  if (ox_int(g, "transA", 0)) ox_permute(&v[0], turn);
  if (ox_int(g, "transB", 0)) ox_permute(&v[1], turn);
  ox_axis m = {0}, n = {0}, k = {0};
  const ox_axis *const a[] = {&m, &k}, *const b[] = {&k, &n}, *const c[] = {&m, &n};
  ox_begin(g);
  if (ox_extent(&v[0], 1) != ox_extent(&v[1], 0))
    return ox_fail(g, TF_E_SHAPE, "rows of %lld elements times columns of %lld", (long long)ox_extent(&v[0], 1),
                   (long long)ox_extent(&v[1], 0));
  const bool bias = ox_has(g, 2);
  if (bias && !ox_placed(g, 2, &v[2])) return false;
  if (bias && v[2].rank > 2) return ox_fail(g, TF_E_RANK, "a bias of %d axes", v[2].rank);
  if (!alone(g, &m, &v[0], 0) || !alone(g, &n, &v[1], 1) || !common(g, &k, &v[0], 1, &v[1], 0)) return false;
  ox_expr *x = ox_read(g, &v[0], a), *y = ox_read(g, &v[1], b);
  const char *name = g->node->output[0];
  ox_expr *sum = y ? ox_call(g, "*", x, y, NULL) : NULL;
  const double alpha = ox_float(g, "alpha", 1);
  if (!ox_make(g, bias || alpha != 1 ? ox_part(g, "product") : name, "+=", sum, c, 2, &out)) return false;
  if (!bias && alpha == 1) return ox_give(g, 0, &out);
  ox_expr *e = scaled(g, ox_read(g, &out, c), alpha);
  if (bias) {
    const ox_axis *at[2];
    for (int i = 0; i < v[2].rank; i++) {
      at[i] = c[2 - v[2].rank + i];
      if (ox_extent(&v[2], i) == 1) continue;
      if (ox_extent(&v[2], i) != ox_extent(&out, 2 - v[2].rank + i))
        return ox_fail(g, TF_E_SHAPE, "a bias of %lld elements", (long long)ox_extent(&v[2], i));
      if (v[2].n[i] > 1 || at[i]->n_dims > 1) return ox_fail(g, TF_E_SHAPE, "a bias that a reshape cut");
    }
    ox_expr *z = ox_read(g, &v[2], at);
    e = z ? ox_call(g, "+", e, scaled(g, z, ox_float(g, "beta", 1)), NULL) : NULL;
  }
  return ox_make(g, name, "=", e, c, 2, &out) && ox_give(g, 0, &out);
}

const ox_kind ox_products[] = {{"MatMul", matmul, NULL}, {"Gemm", gemm, NULL}, {NULL, NULL, NULL}};
