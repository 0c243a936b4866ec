/* Matrix products, determinants, and sums of products whose axes are named by letters. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/import/onnx/onnx.h"

/* Cuts the axis like both values', and gives it dims; false: their extents differ. */
static bool common(ox_net *g, ox_axis *axis, const ox_value *a, int i, const ox_value *b, int k) {
  const int64_t m = ox_extent(a, i), n = ox_extent(b, k);
  if (m != n && m != 1 && n != 1)
    return ox_fail(g, TF_E_SHAPE, "'%.60s' has %lld elements along axis %d where '%.60s' has %lld",
                   a->name, (long long)m, i, b->name, (long long)n);
  return ox_cut(g, axis, 1) && (m == 1 || ox_join(g, axis, a, i)) &&
         (n == 1 || ox_join(g, axis, b, k)) && ox_open(g, axis);
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
    if (!(p < 0   ? alone(g, &axis[i], &b, q)
          : q < 0 ? alone(g, &axis[i], &a, p)
                  : common(g, &axis[i], &a, p, &b, q)))
      return false;
    if (p >= 0) in[0][p] = &axis[i];
    if (q >= 0) in[1][q] = &axis[i];
  }
  ox_axis *const m = &axis[rank - 2], *const n = &axis[rank - 1];
  if (ox_extent(&a, a.rank - 1) != ox_extent(&b, b.rank - 2))
    return ox_fail(g, TF_E_SHAPE, "rows of %lld elements times columns of %lld",
                   (long long)ox_extent(&a, a.rank - 1), (long long)ox_extent(&b, b.rank - 2));
  if (!alone(g, m, &a, a.rank - 2) || !alone(g, n, &b, b.rank - 1) ||
      !common(g, &k, &a, a.rank - 1, &b, b.rank - 2))
    return false;
  in[0][a.rank - 2] = m, in[0][a.rank - 1] = &k;
  in[1][b.rank - 2] = &k, in[1][b.rank - 1] = n;
  int n_made = 0;
  for (int i = 0; i < rank; i++)
    if (!(i == rank - 2 && row) && !(i == rank - 1 && column)) made[n_made++] = &axis[i];
  ox_expr *x = ox_read(g, &a, in[0]), *y = ox_read(g, &b, in[1]);
  return ox_make(g, g->node->output[0], "+=", y ? ox_call(g, "*", x, y, NULL) : NULL, made, n_made,
                 &out) &&
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
    return ox_fail(g, TF_E_SHAPE, "rows of %lld elements times columns of %lld",
                   (long long)ox_extent(&v[0], 1), (long long)ox_extent(&v[1], 0));
  const bool bias = ox_has(g, 2);
  if (bias && !ox_placed(g, 2, &v[2])) return false;
  if (bias && v[2].rank > 2) return ox_fail(g, TF_E_RANK, "a bias of %d axes", v[2].rank);
  if (!alone(g, &m, &v[0], 0) || !alone(g, &n, &v[1], 1) || !common(g, &k, &v[0], 1, &v[1], 0))
    return false;
  ox_expr *x = ox_read(g, &v[0], a), *y = ox_read(g, &v[1], b);
  const char *name = g->node->output[0];
  ox_expr *sum = y ? ox_call(g, "*", x, y, NULL) : NULL;
  const double alpha = ox_float(g, "alpha", 1);
  if (!ox_make(g, bias || alpha != 1 ? ox_part(g, "product") : name, "+=", sum, c, 2, &out))
    return false;
  if (!bias && alpha == 1) return ox_give(g, 0, &out);
  ox_expr *e = scaled(g, ox_read(g, &out, c), alpha);
  if (bias) {
    const ox_axis *at[2];
    for (int i = 0; i < v[2].rank; i++) {
      at[i] = c[2 - v[2].rank + i];
      if (ox_extent(&v[2], i) == 1) continue;
      if (ox_extent(&v[2], i) != ox_extent(&out, 2 - v[2].rank + i))
        return ox_fail(g, TF_E_SHAPE, "a bias of %lld elements", (long long)ox_extent(&v[2], i));
      if (v[2].n[i] > 1 || at[i]->n_dims > 1)
        return ox_fail(g, TF_E_SHAPE, "a bias that a reshape cut");
    }
    ox_expr *z = ox_read(g, &v[2], at);
    e = z ? ox_call(g, "+", e, scaled(g, z, ox_float(g, "beta", 1)), NULL) : NULL;
  }
  return ox_make(g, name, "=", e, c, 2, &out) && ox_give(g, 0, &out);
}

/* ---- Einsum --------------------------------------------------------------------------------- */
/* Of one or two operands: a sum of products whose axes are named by letters. */

enum { LETTERS = 52, MOST_OPERANDS = 2, LONGEST = 200 };

typedef struct {
  int n; /* operands */
  char of[MOST_OPERANDS + 1]
         [OX_RANK]; /* letters of each operand's axes, then of the result's, as numbers */
  int rank[MOST_OPERANDS + 1];
  ox_value v[MOST_OPERANDS];
  ox_axis axis[LETTERS];
} sum;

static int letter(char c) { return islower((unsigned char)c) ? c - 'a' : 26 + c - 'A'; }

static bool bad_equation(ox_net *g, const char *text, const char *fmt, ...) TF_PRINTF(3, 4);
static bool bad_equation(ox_net *g, const char *text, const char *fmt, ...) {
  char why[120];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(why, sizeof why, fmt, ap);
  va_end(ap);
  return ox_fail(g, TF_E_SYNTAX, "equation '%.60s': %s", text, why);
}

/* Reads the letters of an operand, or of the result (k MOST_OPERANDS), up to what is none. */
static bool read_letters(ox_net *g, sum *s, int k, const char *equation, const char **text) {
  char who[20] = "the result", *out = s->of[k];
  int *n = &s->rank[k];
  if (k < MOST_OPERANDS) snprintf(who, sizeof who, "operand %d", k + 1);
  for (*n = 0; isalpha((unsigned char)**text); ++*text) {
    if (*n == OX_RANK) return bad_equation(g, equation, "%s has more than %d axes", who, OX_RANK);
    if (memchr(out, letter(**text), (size_t)*n))
      return bad_equation(g, equation, "'%c' stands twice in %s, %s", **text, who,
                          k < MOST_OPERANDS ? "which takes a diagonal: not known"
                                            : "where it can stand once");
    out[(*n)++] = (char)letter(**text);
  }
  return **text != '.' ||
         bad_equation(g, equation, "'...' in %s: axes without a letter are not known", who);
}

/* Without '->' the result has the letters that stand once, in order of the alphabet, capitals
 * first; false: too many.
 */
static bool implied(sum *s) {
  int many[LETTERS] = {0};
  for (int i = 0; i < s->n; i++)
    for (int k = 0; k < s->rank[i]; k++)
      many[(int)s->of[i][k]]++;
  for (int k = 0; k < LETTERS; k++) {
    const int at = (k + 26) % LETTERS;
    if (many[at] != 1) continue;
    if (s->rank[MOST_OPERANDS] == OX_RANK) return false;
    s->of[MOST_OPERANDS][s->rank[MOST_OPERANDS]++] = (char)at;
  }
  return true;
}

static bool parse(ox_net *g, sum *s) {
  const char *given = ox_text(g, "equation", ""), *at;
  char text[LONGEST] = "";
  size_t n = 0;
  for (at = given; *at && n + 1 < sizeof text; at++)
    if (*at != ' ') text[n++] = *at;
  text[n] = '\0';
  at = text;
  for (s->n = 0; s->n < MOST_OPERANDS;) {
    if (!read_letters(g, s, s->n, given, &at)) return false;
    s->n++;
    if (*at != ',') break;
    if (s->n == MOST_OPERANDS)
      return bad_equation(g, given, "more than %d operands are not known", MOST_OPERANDS);
    at++;
  }
  if (!*at) return implied(s) || ox_fail(g, TF_E_LIMIT, "more than %d axes", OX_RANK);
  if (strncmp(at, "->", 2) != 0)
    return bad_equation(g, given, "'%c' where ',' or '->' was to be expected",
                        isprint((unsigned char)*at) ? *at : '?');
  at += 2;
  if (!read_letters(g, s, MOST_OPERANDS, given, &at)) return false;
  return !*at ||
         bad_equation(g, given, "'%c' in the result", isprint((unsigned char)*at) ? *at : '?');
}

/* Gives each letter an axis that is cut like those of both operands. */
static bool open_letters(ox_net *g, sum *s) {
  for (int i = 0; i < s->n; i++)
    for (int k = 0; k < s->rank[i]; k++) {
      ox_axis *a = &s->axis[(int)s->of[i][k]];
      const int64_t extent = ox_extent(&s->v[i], k), has = a->n ? a->cut[a->n - 1] : 1;
      if (has > 1 && extent > 1 && has != extent)
        return ox_fail(g, TF_E_SHAPE, "axes of %lld and %lld elements have one letter",
                       (long long)has, (long long)extent);
      if (!ox_cut(g, a, 1) || (extent > 1 && !ox_join(g, a, &s->v[i], k))) return false;
    }
  for (int k = 0; k < LETTERS; k++)
    if (s->axis[k].n && !ox_open(g, &s->axis[k])) return false;
  return true;
}

/* Whether some letter of an operand is not one of the result. */
static bool sums_up(const sum *s) {
  for (int i = 0; i < s->n; i++)
    for (int k = 0; k < s->rank[i]; k++)
      if (!memchr(s->of[MOST_OPERANDS], s->of[i][k], (size_t)s->rank[MOST_OPERANDS])) return true;
  return false;
}

static ox_expr *read_operand(ox_net *g, sum *s, int i) {
  const ox_axis *at[OX_RANK];
  for (int k = 0; k < s->rank[i]; k++)
    at[k] = ox_extent(&s->v[i], k) > 1 ? &s->axis[(int)s->of[i][k]] : NULL;
  return ox_read(g, &s->v[i], at);
}

static bool einsum(ox_net *g) {
  sum s = {0};
  ox_value out;
  const ox_axis *made[OX_RANK];
  if (!parse(g, &s)) return false;
  if ((size_t)s.n != g->node->n_input)
    return ox_fail(g, TF_E_SHAPE, "%zu operands for an equation of %d", g->node->n_input, s.n);
  for (int i = 0; i < s.n; i++) {
    if (!ox_placed(g, (size_t)i, &s.v[i])) return false;
    if (s.v[i].rank != s.rank[i])
      return ox_fail(g, TF_E_RANK, "%d letters for %d axes", s.rank[i], s.v[i].rank);
  }
  if (s.n > 1 && s.v[0].tensor == s.v[1].tensor && !ox_copy(g, &s.v[1], ox_part(g, "right")))
    return false; /* two parts of one tensor: each gets its own */
  ox_begin(g);
  if (!open_letters(g, &s)) return false;
  for (int k = 0; k < s.rank[MOST_OPERANDS]; k++) {
    made[k] = &s.axis[(int)s.of[MOST_OPERANDS][k]];
    if (!made[k]->n) return ox_fail(g, TF_E_NAME, "a letter of the result that no operand has");
  }
  ox_expr *e = read_operand(g, &s, 0);
  if (e && s.n > 1) {
    ox_expr *b = read_operand(g, &s, 1);
    e = b ? ox_call(g, "*", e, b, NULL) : NULL;
  }
  return ox_make(g, g->node->output[0], sums_up(&s) ? "+=" : "=", e, made, s.rank[MOST_OPERANDS],
                 &out) &&
         ox_give(g, 0, &out);
}

/* ---- determinants --------------------------------------------------------------------------- */

/* Element [i, j] of each matrix, as `m` and both numbers. */
static bool matrix_elements(ox_net *g, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (!ox_run(g, "r%d%d = Gather($0, %d) axis=-2", i, j, i) ||
          !ox_run(g, "m%d%d = Gather(r%d%d, %d) axis=-1", i, j, i, j, j))
        return false;
  return true;
}

/* m[0, a] * m[1, b] - m[0, b] * m[1, a], of rows `from` and the next. */
static bool minor(ox_net *g, const char *name, int from, int a, int b) {
  return ox_run(g, "%s.p = Mul(m%d%d, m%d%d)", name, from, a, from + 1, b) &&
         ox_run(g, "%s.q = Mul(m%d%d, m%d%d)", name, from, b, from + 1, a) &&
         ox_run(g, "%s = Sub(%s.p, %s.q)", name, name, name);
}

static bool determinant(ox_net *g) {
  enum { MOST = 3 };
  const ox_value *v = ox_input(g, 0);
  if (!v) return false;
  const int64_t n = v->rank < 2 ? 0 : ox_extent(v, v->rank - 1);
  if (n < 1 || n > MOST || ox_extent(v, v->rank - 2) != n)
    return ox_fail(g, TF_E_SHAPE, "matrices of up to %d by %d are known", MOST, MOST);
  if (!matrix_elements(g, (int)n)) return false;
  if (n == 1) return ox_run(g, "@0 = Identity(m00)");
  if (n == 2) return minor(g, "d", 0, 0, 1) && ox_run(g, "@0 = Identity(d)");
  return minor(g, "a", 1, 1, 2) && minor(g, "b", 1, 0, 2) && minor(g, "c", 1, 0, 1) &&
         ox_run(g, "ta = Mul(m00, a)") && ox_run(g, "tb = Mul(m01, b)") &&
         ox_run(g, "tc = Mul(m02, c)") && ox_run(g, "ab = Sub(ta, tb)") &&
         ox_run(g, "@0 = Add(ab, tc)");
}

const ox_kind ox_products[] = {{"MatMul", matmul, NULL},
                               {"Gemm", gemm, NULL},
                               {"Einsum", einsum, NULL},
                               {"Det", determinant, NULL},
                               {NULL, NULL, NULL}};
