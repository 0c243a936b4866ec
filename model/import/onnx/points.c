/* Nodes that compute element by element. */
#include <math.h>
#include <string.h>

#include "model/import/onnx/onnx.h"

enum { MOST_INPUTS = 16 };

/* The inputs of the node, broadcast: axes of the result, and each input's element there. */
typedef struct {
  int n, rank;
  ox_axis axis[OX_RANK];
  const ox_axis *out[OX_RANK];
  ox_expr *x[MOST_INPUTS];
} points;

static bool join(ox_net *g, points *p, const ox_value *const *v) {
  const int n = p->n;
  for (int i = 0; i < n; i++)
    if (v[i]->rank > p->rank) p->rank = v[i]->rank;
  for (int k = 0; k < p->rank; k++) {
    for (int i = 0; i < n; i++) {
      const int j = k - (p->rank - v[i]->rank);
      const int64_t extent = j < 0 ? 1 : ox_extent(v[i], j),
                    has = p->axis[k].n ? p->axis[k].cut[p->axis[k].n - 1] : 1;
      if (extent == 1) continue;
      if (has > 1 && has != extent)
        return ox_fail(g, TF_E_SHAPE, "axes of %lld and %lld elements", (long long)has,
                       (long long)extent);
      if (!ox_join(g, &p->axis[k], v[i], j)) return false;
    }
    if (p->axis[k].n == 0 && !ox_cut(g, &p->axis[k], 1)) return false;
    if (!ox_open(g, &p->axis[k])) return false;
    p->out[k] = &p->axis[k];
  }
  return true;
}

static bool read_operands(ox_net *g, points *p) {
  const ox_value *v[MOST_INPUTS] = {NULL};
  *p = (points){.n = (int)g->node->n_input};
  while (p->n > 0 && !*g->node->input[p->n - 1])
    p->n--;
  const int n = p->n;
  if (p->n < 1 || p->n > MOST_INPUTS)
    return ox_fail(g, TF_E_LIMIT, "%d inputs; 1 to %d can be", p->n, MOST_INPUTS);
  for (int i = 0; i < n; i++)
    if (!(v[i] = ox_input(g, (size_t)i))) return false;
  if (n == 2 && !ox_check_axis(g, v[0], v[1])) return false;
  ox_begin(g);
  if (!join(g, p, v)) return false;
  for (int i = 0; i < n; i++)
    if (!(p->x[i] = ox_read(g, v[i], p->out + p->rank - v[i]->rank))) return false;
  return true;
}

/* type: of the result, where it has one of its own */
static bool end_as(ox_net *g, points *p, ox_expr *e, int type) {
  ox_value v = {0};
  if (!ox_make(g, g->node->output[0], "=", e, p->out, p->rank, &v)) return false;
  v.type = type;
  return ox_give(g, 0, &v);
}

static bool end(ox_net *g, points *p, ox_expr *e) { return end_as(g, p, e, OX_T_BOOL); }

static ox_expr *call_number(ox_net *g, const char *call, ox_expr *a, double b) {
  return ox_call(g, call, a, ox_number(g, b), NULL);
}

/* One call of the language, or an operator between all inputs. */
static bool call(ox_net *g) {
  const char *type = g->node->op_type, *name = ox_kind_of(type)->call;
  points p;
  if (!read_operands(g, &p)) return false;
  if (strchr("+-*/", name[0]) && strcmp(type, "Sum") != 0 && p.n != 2)
    return ox_fail(g, TF_E_SHAPE, "two inputs are needed");
  if (!strcmp(name, "select") && p.n != 3) return ox_fail(g, TF_E_SHAPE, "three inputs are needed");
  const bool between = strchr("+-*/", name[0]) || !strcmp(name, "max") || !strcmp(name, "min");
  if (!between)
    return end(g, &p, ox_call(g, name, p.x[0], p.n > 1 ? p.x[1] : NULL, p.n > 2 ? p.x[2] : NULL));
  ox_expr *e = p.x[0];
  for (int i = 1; i < p.n; i++)
    e = ox_call(g, name, e, p.x[i], NULL);
  return end(g, &p, e);
}

static bool negative(ox_net *g) {
  points p;
  return read_operands(g, &p) && end(g, &p, ox_call(g, "-", ox_number(g, 0), p.x[0], NULL));
}

static bool mean(ox_net *g) {
  points p;
  if (!read_operands(g, &p)) return false;
  ox_expr *e = p.x[0];
  for (int i = 1; i < p.n; i++)
    e = ox_call(g, "+", e, p.x[i], NULL);
  return end(g, &p, call_number(g, "/", e, p.n));
}

static bool reciprocal(ox_net *g) {
  points p;
  return read_operands(g, &p) && end(g, &p, ox_call(g, "/", ox_number(g, 1), p.x[0], NULL));
}

/* x times itself, n times, by squares. */
static ox_expr *whole_power(ox_net *g, ox_expr *x, int n) {
  if (n == 1) return x;
  ox_expr *half = whole_power(g, x, n / 2), *e = ox_call(g, "*", half, half, NULL);
  return n % 2 ? ox_call(g, "*", e, x, NULL) : e;
}

/* Whole powers and halves by products and roots; others by logarithms, as numbers below 0 have none
 * of these. */
static ox_expr *power_of(ox_net *g, ox_expr *x, double n) {
  enum { MOST = 16 };
  const double size = fabs(n);
  if (n == 0) return ox_number(g, 1);
  if (n < 0) return ox_call(g, "/", ox_number(g, 1), power_of(g, x, size), NULL);
  if (size == 0.5) return ox_call(g, "sqrt", x, NULL, NULL);
  if (size == floor(size) && size <= MOST) return whole_power(g, x, (int)size);
  if (size == floor(size)) return NULL;
  return ox_call(g, "exp", call_number(g, "*", ox_call(g, "log", x, NULL, NULL), n), NULL, NULL);
}

/* 1 where the condition holds, else 0; which is all that language and network know of truth. */
static ox_expr *truth(ox_net *g, const char *call, ox_expr *a, ox_expr *b) {
  return ox_call(g, "select", ox_call(g, call, a, b, NULL), ox_number(g, 1), ox_number(g, 0));
}

/* Whether it is never negative. */
static bool never_negative(const ox_net *g, const ox_expr *e) {
  return e->kind == OX_READ ? g->tensor[e->tensor].positive
                            : e->kind == OX_NUMBER && e->number >= 0;
}

/* By logarithms, where nothing has none: of what is never negative, to any power; of other data, to
 * whole powers that are known, with the sign that odd ones have. */
static bool power_of_data(ox_net *g, points *p) {
  const ox_value *a = ox_input(g, 0), *b = ox_input(g, 1);
  ox_expr *x = p->x[0], *n = p->x[1];
  const bool positive = never_negative(g, x);
  if (!a || !b) return false;
  if (ox_is_integer(a->type))
    return ox_fail(g, TF_E_TYPE, "of whole numbers to a power that is data");
  if (!positive && !b->number)
    return ox_fail(g, TF_E_NAME, "data that may be below 0 to a power that is data");
  double *odd = positive ? NULL : ox_numbers_room(g, ox_size(b));
  for (int64_t i = 0; odd && i < ox_size(b); i++) {
    if (b->number[i] != floor(b->number[i]))
      return ox_fail(g, TF_E_NAME, "data that may be below 0 to the power of %g", b->number[i]);
    odd[i] = fmod(fabs(b->number[i]), 2);
  }
  ox_expr *size = positive ? x : ox_call(g, "abs", x, NULL, NULL);
  ox_expr *e =
      ox_call(g, "exp", ox_call(g, "*", n, ox_call(g, "log", size, NULL, NULL), NULL), NULL, NULL);
  if (!positive) {
    int64_t shape[OX_RANK];
    ox_value table;
    for (int k = 0; k < b->rank; k++)
      shape[k] = ox_extent(b, k);
    if (!odd || !ox_table(g, "odd", b->rank, shape, odd, &table)) return false;
    ox_expr *turn = ox_call(g, "*", ox_read(g, &table, p->out + p->rank - b->rank),
                            truth(g, "<", x, ox_number(g, 0)), NULL);
    e = ox_call(g, "select", turn, ox_call(g, "-", ox_number(g, 0), e, NULL), e);
  }
  return end(g, p,
             ox_call(g, "select", ox_call(g, "==", n, ox_number(g, 0), NULL), ox_number(g, 1), e));
}

static bool power(ox_net *g) {
  points p;
  if (!read_operands(g, &p)) return false;
  if (p.n != 2) return ox_fail(g, TF_E_SHAPE, "two inputs are needed");
  if (p.x[1]->kind == OX_NUMBER) {
    const double n = p.x[1]->number;
    if (ox_is_integer(ox_find(g, g->node->input[0])->type) && !(n >= 0 && n == floor(n)))
      return ox_fail(
          g, TF_E_TYPE,
          "of whole numbers to the power of %g cuts, which the workload language cannot say", n);
    ox_expr *e = power_of(g, p.x[0], p.x[1]->number);
    return e        ? end(g, &p, e)
           : g->oom ? false
                    : ox_fail(g, TF_E_RANGE, "to the power of %g; whole ones are known up to 16",
                              p.x[1]->number);
  }
  if (p.x[0]->kind != OX_NUMBER || !(p.x[0]->number > 0)) return power_of_data(g, &p);
  return end(g, &p,
             ox_call(g, "exp", call_number(g, "*", p.x[1], log(p.x[0]->number)), NULL, NULL));
}

static bool compare(ox_net *g) {
  const char *type = g->node->op_type;
  points p;
  if (!read_operands(g, &p)) return false;
  if (p.n != 2) return ox_fail(g, TF_E_SHAPE, "two inputs are needed");
  const bool swapped = !strncmp(type, "Greater", 7);
  return end(g, &p, truth(g, ox_kind_of(type)->call, p.x[swapped], p.x[!swapped]));
}

/* Not, And, Or, Xor of what is 0 or 1. */
static bool logic(ox_net *g) {
  const char *type = g->node->op_type;
  points p;
  if (!read_operands(g, &p)) return false;
  if (p.n != (strcmp(type, "Not") ? 2 : 1)) return ox_fail(g, TF_E_SHAPE, "%d inputs", p.n);
  ox_expr *a = p.x[0], *b = p.n > 1 ? p.x[1] : NULL;
  if (!strcmp(type, "Not")) return end(g, &p, ox_call(g, "-", ox_number(g, 1), a, NULL));
  if (!strcmp(type, "And")) return end(g, &p, ox_call(g, "*", a, b, NULL));
  if (!strcmp(type, "Or")) return end(g, &p, ox_call(g, "max", a, b, NULL));
  return end(g, &p, ox_call(g, "abs", ox_call(g, "-", a, b, NULL), NULL, NULL));
}

static bool sign(ox_net *g) {
  points p;
  if (!read_operands(g, &p)) return false;
  ox_expr *above = truth(g, "<", ox_number(g, 0), p.x[0]),
          *below = truth(g, "<", p.x[0], ox_number(g, 0));
  return end(g, &p, ox_call(g, "-", above, below, NULL));
}

static ox_expr *truncated(ox_net *g, ox_expr *x) { return ox_call(g, "trunc", x, NULL, NULL); }

/* A quotient; of whole numbers it is cut. */
static bool quotient(ox_net *g) {
  points p;
  if (!read_operands(g, &p)) return false;
  if (p.n != 2) return ox_fail(g, TF_E_SHAPE, "two inputs are needed");
  ox_expr *e = ox_call(g, "/", p.x[0], p.x[1], NULL);
  return end(g, &p, ox_is_integer(ox_find(g, g->node->input[0])->type) ? truncated(g, e) : e);
}

/* What a division leaves: with the sign of what is divided, or, where the two differ, moved by the
 * divisor to its. */
static bool modulus(ox_net *g) {
  const bool cut = ox_int(g, "fmod", 0) != 0;
  points p;
  if (!read_operands(g, &p)) return false;
  if (p.n != 2) return ox_fail(g, TF_E_SHAPE, "two inputs are needed");
  ox_expr *rest = ox_call(g, "fmod", p.x[0], p.x[1], NULL);
  if (cut) return end(g, &p, rest);
  ox_expr *apart = ox_call(g, "<", ox_call(g, "*", rest, p.x[1], NULL), ox_number(g, 0), NULL);
  return end(g, &p, ox_call(g, "select", apart, ox_call(g, "+", rest, p.x[1], NULL), rest));
}

static bool tangent(ox_net *g) {
  points p;
  if (!read_operands(g, &p)) return false;
  return end(g, &p,
             ox_call(g, "/", ox_call(g, "sin", p.x[0], NULL, NULL),
                     ox_call(g, "cos", p.x[0], NULL, NULL), NULL));
}

static ox_expr *clamped(ox_net *g, ox_expr *x, double least, double most) {
  return call_number(g, "min", call_number(g, "max", x, least), most);
}

/* Bounds are inputs, or before opset 11 attributes. */
static bool clip(ox_net *g) {
  points p;
  if (!read_operands(g, &p)) return false;
  ox_expr *e = p.x[0];
  const bool least = ox_has(g, 1), most = ox_has(g, 2);
  if (least) e = ox_call(g, "max", e, p.x[1], NULL);
  if (most) e = ox_call(g, "min", e, p.x[2], NULL);
  if (ox_attribute(g, "min")) e = call_number(g, "max", e, ox_float(g, "min", 0));
  if (ox_attribute(g, "max")) e = call_number(g, "min", e, ox_float(g, "max", 0));
  return end(g, &p, e);
}

static bool clip_checked(ox_net *g) {
  if (!ox_has(g, 1) && ox_has(g, 2)) { /* begin() takes inputs up to the last that is given */
    const ox_value *most = ox_input(g, 2);
    if (!most || !most->number || ox_size(most) != 1)
      return ox_fail(g, TF_E_OPEN, "an upper bound that is not known");
    const ox_value *v = ox_input(g, 0);
    points p = {.n = 1};
    ox_begin(g);
    if (!v || !join(g, &p, &v)) return false;
    return end(g, &p, call_number(g, "min", ox_read(g, v, p.out), most->number[0]));
  }
  return clip(g);
}

static bool leaky(ox_net *g) {
  points p;
  if (!read_operands(g, &p)) return false;
  ox_expr *x = p.x[0], *slope = p.n > 1 ? p.x[1] : ox_number(g, ox_float(g, "alpha", 0.01));
  ox_expr *below = ox_call(g, "*", slope, ox_call(g, "min", x, ox_number(g, 0), NULL), NULL);
  return end(g, &p, ox_call(g, "+", ox_call(g, "relu", x, NULL, NULL), below, NULL));
}

static bool elu(ox_net *g) {
  points p;
  if (!read_operands(g, &p)) return false;
  ox_expr *x = p.x[0], *low = ox_call(g, "exp", call_number(g, "min", x, 0), NULL, NULL);
  ox_expr *below =
      ox_call(g, "*", ox_number(g, ox_float(g, "alpha", 1)), call_number(g, "-", low, 1), NULL);
  return end(g, &p, ox_call(g, "+", ox_call(g, "relu", x, NULL, NULL), below, NULL));
}

/* gamma * x above 0, gamma * alpha * (exp(x / beta) - 1) below. */
static bool scaled_elu(ox_net *g) {
  const bool celu = !strcmp(g->node->op_type, "Celu");
  const double alpha = ox_float(g, "alpha", celu ? 1 : 1.67326319217681884765625),
               gamma = celu ? 1 : ox_float(g, "gamma", 1.05070102214813232421875);
  points p;
  if (!read_operands(g, &p)) return false;
  ox_expr *x = p.x[0], *in = call_number(g, "min", x, 0),
          *low = ox_call(g, "exp", celu ? call_number(g, "/", in, alpha) : in, NULL, NULL);
  ox_expr *below = call_number(g, "*", call_number(g, "-", low, 1), alpha);
  return end(
      g, &p,
      call_number(g, "*", ox_call(g, "+", ox_call(g, "relu", x, NULL, NULL), below, NULL), gamma));
}

static bool thresholded(ox_net *g) {
  points p;
  if (!read_operands(g, &p)) return false;
  ox_expr *above = ox_call(g, "<", ox_number(g, ox_float(g, "alpha", 1)), p.x[0], NULL);
  return end(g, &p, ox_call(g, "select", above, p.x[0], ox_number(g, 0)));
}

/* exp(x) and exp(-x), their half sum, and that times tanh(x), which loses nothing where x is small.
 */
static bool hyperbolic(ox_net *g) {
  points p;
  if (!read_operands(g, &p)) return false;
  ox_expr *x = p.x[0], *minus = ox_call(g, "-", ox_number(g, 0), x, NULL);
  ox_expr *sum =
      ox_call(g, "+", ox_call(g, "exp", x, NULL, NULL), ox_call(g, "exp", minus, NULL, NULL), NULL);
  ox_expr *half = call_number(g, "*", sum, 0.5);
  return end(g, &p,
             strcmp(g->node->op_type, "Sinh")
                 ? half
                 : ox_call(g, "*", ox_call(g, "tanh", x, NULL, NULL), half, NULL));
}

/* x times a polynomial of x * x, whose coefficients are given from the highest on. */
static ox_expr *odd_series(ox_net *g, ox_expr *x, const double *of, int n) {
  ox_expr *square = ox_call(g, "*", x, x, NULL), *e = ox_number(g, of[0]);
  for (int i = 1; i < n; i++)
    e = call_number(g, "+", ox_call(g, "*", e, square, NULL), of[i]);
  return ox_call(g, "*", x, e, NULL);
}

/* By logarithms; where x is small, and little is left of it in them, by a series. */
static bool inverse_hyperbolic(ox_net *g) {
  static const double sinh_of[] = {105. / 3456, -15. / 336, 3. / 40, -1. / 6, 1},
                      tanh_of[] = {1. / 9, 1. / 7, 1. / 5, 1. / 3, 1};
  const bool sine = !strcmp(g->node->op_type, "Asinh");
  points p;
  if (!read_operands(g, &p)) return false;
  ox_expr *x = p.x[0], *size = ox_call(g, "abs", x, NULL, NULL), *whole;
  if (sine) {
    ox_expr *root =
        ox_call(g, "sqrt", call_number(g, "+", ox_call(g, "*", x, x, NULL), 1), NULL, NULL);
    ox_expr *log = ox_call(g, "log", ox_call(g, "+", size, root, NULL), NULL, NULL);
    whole = ox_call(g, "select", ox_call(g, "<", x, ox_number(g, 0), NULL),
                    ox_call(g, "-", ox_number(g, 0), log, NULL), log);
  } else {
    ox_expr *ratio =
        ox_call(g, "/", call_number(g, "+", x, 1), ox_call(g, "-", ox_number(g, 1), x, NULL), NULL);
    whole = call_number(g, "*", ox_call(g, "log", ratio, NULL, NULL), 0.5);
  }
  ox_expr *series = odd_series(g, x, sine ? sinh_of : tanh_of, 5);
  return end(g, &p,
             ox_call(g, "select", ox_call(g, "<", size, ox_number(g, 0.2), NULL), series, whole));
}

static bool inverse_cosine(ox_net *g) {
  points p;
  if (!read_operands(g, &p)) return false;
  ox_expr *x = p.x[0],
          *square = ox_call(g, "*", call_number(g, "-", x, 1), call_number(g, "+", x, 1), NULL);
  ox_expr *sum = ox_call(g, "+", x, ox_call(g, "sqrt", square, NULL, NULL), NULL);
  return end(g, &p, ox_call(g, "log", sum, NULL, NULL));
}

/* x drawn towards 0 by the bias, and 0 from -lambd to lambd. */
static bool shrink(ox_net *g) {
  const double most = ox_float(g, "lambd", 0.5), bias = ox_float(g, "bias", 0);
  points p;
  if (!read_operands(g, &p)) return false;
  ox_expr *x = p.x[0], *below = ox_call(g, "<", x, ox_number(g, -most), NULL),
          *above = ox_call(g, "<", ox_number(g, most), x, NULL);
  ox_expr *rest = ox_call(g, "select", above, call_number(g, "-", x, bias), ox_number(g, 0));
  return end(g, &p, ox_call(g, "select", below, call_number(g, "+", x, bias), rest));
}

static bool infinite(ox_net *g) {
  const bool low = ox_int(g, "detect_negative", 1) != 0,
             high = ox_int(g, "detect_positive", 1) != 0;
  points p;
  if (!read_operands(g, &p)) return false;
  ox_expr *x = p.x[0], *inf = ox_number(g, (double)INFINITY);
  if (!low && !high) return end(g, &p, truth(g, "<", ox_number(g, 1), ox_number(g, 0)));
  if (low && high) x = ox_call(g, "abs", x, NULL, NULL);
  return end(g, &p, truth(g, "==", x, high ? inf : ox_number(g, -(double)INFINITY)));
}

static bool not_a_number(ox_net *g) {
  points p;
  return read_operands(g, &p) && end(g, &p, truth(g, "!=", p.x[0], p.x[0]));
}

static bool softsign(ox_net *g) {
  points p;
  return read_operands(g, &p) &&
         end(g, &p,
             ox_call(g, "/", p.x[0], call_number(g, "+", ox_call(g, "abs", p.x[0], NULL, NULL), 1),
                     NULL));
}

static bool swish(ox_net *g) {
  points p;
  if (!read_operands(g, &p)) return false;
  ox_expr *in = call_number(g, "*", p.x[0], ox_float(g, "alpha", 1));
  return end(g, &p, ox_call(g, "*", p.x[0], ox_call(g, "sigmoid", in, NULL, NULL), NULL));
}

static bool hard_sigmoid(ox_net *g) {
  points p;
  if (!read_operands(g, &p)) return false;
  ox_expr *line = call_number(g, "+", call_number(g, "*", p.x[0], ox_float(g, "alpha", 0.2)),
                              ox_float(g, "beta", 0.5));
  return end(g, &p, clamped(g, line, 0, 1));
}

static bool hard_swish(ox_net *g) {
  points p;
  if (!read_operands(g, &p)) return false;
  return end(g, &p,
             ox_call(g, "*", p.x[0],
                     call_number(g, "/", clamped(g, call_number(g, "+", p.x[0], 3), 0, 6), 6),
                     NULL));
}

/* log(exp(x) + 1), as the larger of x and 0 and what of exp is left of it, which is never too
 * large. */
static ox_expr *softplus_of(ox_net *g, ox_expr *x) {
  ox_expr *least = ox_call(g, "-", ox_number(g, 0), ox_call(g, "abs", x, NULL, NULL), NULL);
  ox_expr *rest =
      ox_call(g, "log", call_number(g, "+", ox_call(g, "exp", least, NULL, NULL), 1), NULL, NULL);
  return ox_call(g, "+", ox_call(g, "relu", x, NULL, NULL), rest, NULL);
}

static bool softplus(ox_net *g) {
  points p;
  return read_operands(g, &p) && end(g, &p, softplus_of(g, p.x[0]));
}

static bool mish(ox_net *g) {
  points p;
  if (!read_operands(g, &p)) return false;
  return end(g, &p,
             ox_call(g, "*", p.x[0], ox_call(g, "tanh", softplus_of(g, p.x[0]), NULL, NULL), NULL));
}

static bool gelu(ox_net *g) {
  points p;
  if (!read_operands(g, &p)) return false;
  ox_expr *x = p.x[0];
  const char *how = ox_text(g, "approximate", "none");
  if (strcmp(how, "none") != 0 && strcmp(how, "tanh") != 0)
    return ox_fail(g, TF_E_NAME, "approximate '%.40s'", how);
  if (strcmp(how, "tanh") != 0) return end(g, &p, ox_call(g, "gelu", x, NULL, NULL));
  ox_expr *cube = ox_call(g, "*", ox_call(g, "*", x, x, NULL), x, NULL);
  ox_expr *in = call_number(g, "*", ox_call(g, "+", x, call_number(g, "*", cube, 0.044715), NULL),
                            sqrt(2 / 3.14159265358979323846));
  ox_expr *one = call_number(g, "+", ox_call(g, "tanh", in, NULL, NULL), 1);
  return end(g, &p, ox_call(g, "*", call_number(g, "*", x, 0.5), one, NULL));
}

/* ---- casts ---------------------------------------------------------------------------------- */

/* Whether type `to` has all integers of type `from`. */
static bool type_holds(int to, int from) {
  const bool sign = ox_type_kind_of(to) == OX_SIGNED_KIND,
             has = ox_type_kind_of(from) == OX_SIGNED_KIND;
  return sign || !has ? ox_type_bits(from) + (sign && !has) <= ox_type_bits(to) : false;
}

/* To integers: whole numbers stay what they are, if the type has them; else it keeps their last
 * bits, below 32.  Others are cut first. */
typedef enum { KEPT, CUT, WRAPPED } whole_way; /* what is cut is wrapped, too */
static whole_way way_to_whole(ox_net *g, const ox_value *v, int to) {
  const bool integer = ox_is_integer(v->type);
  if (integer && type_holds(to, v->type)) return KEPT;
  if (ox_type_bits(to) >= 32 || (integer && ox_type_bits(v->type) >= 32))
    ox_remark(g, OX_WHOLE_SUMS);
  if (!integer) return v->tensor >= 0 && g->tensor[v->tensor].whole ? KEPT : CUT;
  return to == OX_T_INT32 || to == OX_T_INT64 ? KEPT : WRAPPED;
}

static bool to_whole(ox_net *g, int to, whole_way way) {
  const ox_value *v = ox_input(g, 0);
  points p = {.n = 1};
  ox_begin(g);
  if (!v || !join(g, &p, &v)) return false;
  ox_expr *x = ox_read(g, v, p.out);
  if (!x) return false;
  ox_expr *whole = way == CUT ? truncated(g, x) : x;
  const double span = ldexp(1, ox_type_bits(to));
  if (ox_type_bits(to) >= 32) return end_as(g, &p, whole, to);
  ox_expr *from =
      ox_type_kind_of(to) == OX_SIGNED_KIND ? call_number(g, "+", whole, span / 2) : whole;
  ox_expr *turns = ox_call(g, "floor", call_number(g, "/", from, span), NULL, NULL);
  return end_as(g, &p, ox_call(g, "-", whole, call_number(g, "*", turns, span), NULL), to);
}

/* Between floats nothing is rounded, which is reported; what the narrower has in full loses
 * nothing. */
static void remark_floats(ox_net *g, int from, int to) {
  const bool narrow = to == OX_T_FLOAT16 || to == OX_T_BFLOAT16,
             wide = from == OX_T_FLOAT || from == OX_T_DOUBLE;
  if (narrow ? from == OX_T_BFLOAT16 || ox_type_bits(from) > ox_type_bits(to) : wide)
    ox_remark(g, OX_NARROW_FLOATS);
}

static bool to_truth(ox_net *g) {
  const ox_value *v = ox_input(g, 0);
  points p = {.n = 1};
  ox_begin(g);
  if (!v || !join(g, &p, &v)) return false;
  ox_expr *x = ox_read(g, v, p.out);
  return x && end(g, &p, truth(g, "!=", x, ox_number(g, 0)));
}

/* Cast and CastLike of data. */
static bool cast(ox_net *g) {
  const ox_value *in = ox_input(g, 0);
  ox_value v;
  if (!in) return false;
  const int from = in->type ? in->type : OX_T_FLOAT, to = ox_cast_type(g);
  const ox_type_kind kind = ox_type_kind_of(to);
  if (to == 0) return ox_fail(g, TF_E_TYPE, "to a type that is not said");
  if (from != to && (kind == OX_OTHER_KIND || ox_type_kind_of(from) == OX_OTHER_KIND))
    return ox_fail(g, TF_E_TYPE, "from %s to %s is not known", ox_type_name(from),
                   ox_type_name(to));
  if (from != to && kind == OX_COARSE_KIND)
    return ox_fail(g, TF_E_TYPE,
                   "from %s to %s rounds data, which the workload language cannot say",
                   ox_type_name(from), ox_type_name(to));
  if (from != to && kind == OX_BOOL_KIND) return to_truth(g);
  const whole_way way = from != to && ox_is_integer(to) ? way_to_whole(g, in, to) : KEPT;
  if (way != KEPT) return to_whole(g, to, way);
  if (from != to && kind == OX_FLOAT_KIND) remark_floats(g, from, to);
  if (!ox_placed(g, 0, &v)) return false;
  v.type = to;
  return ox_give(g, 0, &v);
}

const ox_kind ox_points[] = {
    {"Cast", cast, NULL},
    {"CastLike", cast, NULL},
    {"Add", call, "+"},
    {"Sub", call, "-"},
    {"Mul", call, "*"},
    {"Div", quotient, NULL},
    {"Mod", modulus, NULL},
    {"Sum", call, "+"},
    {"Max", call, "max"},
    {"Min", call, "min"},
    {"Relu", call, "relu"},
    {"Sigmoid", call, "sigmoid"},
    {"Tanh", call, "tanh"},
    {"Erf", call, "erf"},
    {"Exp", call, "exp"},
    {"Log", call, "log"},
    {"Sqrt", call, "sqrt"},
    {"Abs", call, "abs"},
    {"Floor", call, "floor"},
    {"Ceil", call, "ceil"},
    {"Round", call, "round"},
    {"Sin", call, "sin"},
    {"Cos", call, "cos"},
    {"Tan", tangent, NULL},
    {"Where", call, "select"},
    {"Neg", negative, NULL},
    {"Mean", mean, NULL},
    {"Reciprocal", reciprocal, NULL},
    {"Pow", power, NULL},
    {"Clip", clip_checked, NULL},
    {"LeakyRelu", leaky, NULL},
    {"PRelu", leaky, NULL},
    {"Elu", elu, NULL},
    {"HardSigmoid", hard_sigmoid, NULL},
    {"HardSwish", hard_swish, NULL},
    {"Softplus", softplus, NULL},
    {"Mish", mish, NULL},
    {"Gelu", gelu, NULL},
    {"Selu", scaled_elu, NULL},
    {"Celu", scaled_elu, NULL},
    {"ThresholdedRelu", thresholded, NULL},
    {"Softsign", softsign, NULL},
    {"Sinh", hyperbolic, NULL},
    {"Cosh", hyperbolic, NULL},
    {"Asinh", inverse_hyperbolic, NULL},
    {"Atanh", inverse_hyperbolic, NULL},
    {"Acosh", inverse_cosine, NULL},
    {"Shrink", shrink, NULL},
    {"IsInf", infinite, NULL},
    {"IsNaN", not_a_number, NULL},
    {"Swish", swish, NULL},
    {"Sign", sign, NULL},
    {"Less", compare, "<"},
    {"LessOrEqual", compare, "<="},
    {"Greater", compare, "<"},
    {"GreaterOrEqual", compare, "<="},
    {"Equal", compare, "=="},
    {"Not", logic, NULL},
    {"And", logic, NULL},
    {"Or", logic, NULL},
    {"Xor", logic, NULL},
    {NULL, NULL, NULL},
};
