/* Nodes that compute element by element. */
#include <math.h>
#include <string.h>

#include "model/import/onnx/onnx.h"

enum { MOST_INPUTS = 16 };

/* The inputs of the node beside each other: axes of the result, and each input's element there. */
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
      const int64_t extent = j < 0 ? 1 : ox_extent(v[i], j), has = p->axis[k].n ? p->axis[k].cut[p->axis[k].n - 1] : 1;
      if (extent == 1) continue;
      if (has > 1 && has != extent)
        return ox_fail(g, TF_E_SHAPE, "axes of %lld and %lld elements", (long long)has, (long long)extent);
      if (!ox_join(g, &p->axis[k], v[i], j)) return false;
    }
    if (p->axis[k].n == 0 && !ox_cut(g, &p->axis[k], 1)) return false;
    if (!ox_open(g, &p->axis[k])) return false;
    p->out[k] = &p->axis[k];
  }
  return true;
}

static bool begin(ox_net *g, points *p) {
  const ox_value *v[MOST_INPUTS] = {NULL};
  *p = (points){.n = (int)g->node->n_input};
  while (p->n > 0 && !ox_has(g, (size_t)p->n - 1))
    p->n--;
  const int n = p->n;
  if (p->n < 1 || p->n > MOST_INPUTS) return ox_fail(g, TF_E_LIMIT, "%d inputs; 1 to %d can be", p->n, MOST_INPUTS);
  for (int i = 0; i < n; i++)
    if (!(v[i] = ox_input(g, (size_t)i))) return false;
  ox_begin(g);
  if (!join(g, p, v)) return false;
  for (int i = 0; i < n; i++)
    if (!(p->x[i] = ox_read(g, v[i], p->out + p->rank - v[i]->rank))) return false;
  return true;
}

static bool end(ox_net *g, points *p, ox_expr *e) {
  ox_value v;
  return ox_make(g, g->node->output[0], "=", e, p->out, p->rank, &v) && ox_give(g, 0, &v);
}

static ox_expr *with(ox_net *g, const char *call, ox_expr *a, double b) {
  return ox_call(g, call, a, ox_number(g, b), NULL);
}

/* One call of the language, or an operator between all inputs. */
static bool call(ox_net *g) {
  const char *name = ox_kind_of(g->node->op_type)->call;
  points p;
  if (!begin(g, &p)) return false;
  const bool between = strchr("+-*/", name[0]) || !strcmp(name, "max") || !strcmp(name, "min");
  if (!between) return end(g, &p, ox_call(g, name, p.x[0], p.n > 1 ? p.x[1] : NULL, p.n > 2 ? p.x[2] : NULL));
  ox_expr *e = p.x[0];
  for (int i = 1; i < p.n; i++)
    e = ox_call(g, name, e, p.x[i], NULL);
  return end(g, &p, e);
}

static bool negative(ox_net *g) {
  points p;
  return begin(g, &p) && end(g, &p, ox_call(g, "-", ox_number(g, 0), p.x[0], NULL));
}

static bool mean(ox_net *g) {
  points p;
  if (!begin(g, &p)) return false;
  ox_expr *e = p.x[0];
  for (int i = 1; i < p.n; i++)
    e = ox_call(g, "+", e, p.x[i], NULL);
  return end(g, &p, with(g, "/", e, p.n));
}

static bool reciprocal(ox_net *g) {
  points p;
  return begin(g, &p) && end(g, &p, ox_call(g, "/", ox_number(g, 1), p.x[0], NULL));
}

static bool power(ox_net *g) {
  points p;
  if (!begin(g, &p)) return false;
  ox_expr *const x = p.x[0];
  if (p.n != 2 || p.x[1]->what != OX_NUMBER) return ox_fail(g, TF_E_NAME, "a power that is no number");
  const double n = p.x[1]->number;
  if (n == 1) return end(g, &p, x);
  if (n == 2) return end(g, &p, ox_call(g, "*", x, x, NULL));
  if (n == 3) return end(g, &p, ox_call(g, "*", ox_call(g, "*", x, x, NULL), x, NULL));
  if (n == 0.5) return end(g, &p, ox_call(g, "sqrt", x, NULL, NULL));
  if (n == -0.5) return end(g, &p, ox_call(g, "/", ox_number(g, 1), ox_call(g, "sqrt", x, NULL, NULL), NULL));
  if (n == -1) return end(g, &p, ox_call(g, "/", ox_number(g, 1), x, NULL));
  return ox_fail(g, TF_E_RANGE, "to the power of %g; known: 1, 2, 3, 0.5, -0.5, -1", n);
}

static ox_expr *between(ox_net *g, ox_expr *x, double least, double most) {
  return with(g, "min", with(g, "max", x, least), most);
}

/* Bounds are inputs, or before opset 11 attributes. */
static bool clip(ox_net *g) {
  points p;
  if (!begin(g, &p)) return false;
  ox_expr *e = p.x[0];
  const bool least = ox_has(g, 1), most = ox_has(g, 2);
  if (least) e = ox_call(g, "max", e, p.x[1], NULL);
  if (most) e = ox_call(g, "min", e, p.x[2], NULL);
  if (ox_attribute(g, "min")) e = with(g, "max", e, ox_float(g, "min", 0));
  if (ox_attribute(g, "max")) e = with(g, "min", e, ox_float(g, "max", 0));
  return end(g, &p, e);
}

static bool clip_checked(ox_net *g) {
  if (!ox_has(g, 1) && ox_has(g, 2)) { /* begin() takes inputs up to the last that is given */
    const ox_value *most = ox_input(g, 2);
    if (!most || !most->number || ox_size(most) != 1) return ox_fail(g, TF_E_OPEN, "an upper bound that is not known");
    const ox_value *v = ox_input(g, 0);
    points p = {.n = 1};
    ox_begin(g);
    if (!v || !join(g, &p, &v)) return false;
    return end(g, &p, with(g, "min", ox_read(g, v, p.out), most->number[0]));
  }
  return clip(g);
}

static bool leaky(ox_net *g) {
  points p;
  if (!begin(g, &p)) return false;
  ox_expr *x = p.x[0], *slope = p.n > 1 ? p.x[1] : ox_number(g, ox_float(g, "alpha", 0.01));
  ox_expr *below = ox_call(g, "*", slope, ox_call(g, "min", x, ox_number(g, 0), NULL), NULL);
  return end(g, &p, ox_call(g, "+", ox_call(g, "relu", x, NULL, NULL), below, NULL));
}

static bool elu(ox_net *g) {
  points p;
  if (!begin(g, &p)) return false;
  ox_expr *x = p.x[0], *low = ox_call(g, "exp", with(g, "min", x, 0), NULL, NULL);
  ox_expr *below = ox_call(g, "*", ox_number(g, ox_float(g, "alpha", 1)), with(g, "-", low, 1), NULL);
  return end(g, &p, ox_call(g, "+", ox_call(g, "relu", x, NULL, NULL), below, NULL));
}

static bool hard_sigmoid(ox_net *g) {
  points p;
  if (!begin(g, &p)) return false;
  ox_expr *line = with(g, "+", with(g, "*", p.x[0], ox_float(g, "alpha", 0.2)), ox_float(g, "beta", 0.5));
  return end(g, &p, between(g, line, 0, 1));
}

static bool hard_swish(ox_net *g) {
  points p;
  if (!begin(g, &p)) return false;
  return end(g, &p, ox_call(g, "*", p.x[0], with(g, "/", between(g, with(g, "+", p.x[0], 3), 0, 6), 6), NULL));
}

static ox_expr *softplus_of(ox_net *g, ox_expr *x) {
  return ox_call(g, "log", with(g, "+", ox_call(g, "exp", x, NULL, NULL), 1), NULL, NULL);
}

static bool softplus(ox_net *g) {
  points p;
  return begin(g, &p) && end(g, &p, softplus_of(g, p.x[0]));
}

static bool mish(ox_net *g) {
  points p;
  if (!begin(g, &p)) return false;
  return end(g, &p, ox_call(g, "*", p.x[0], ox_call(g, "tanh", softplus_of(g, p.x[0]), NULL, NULL), NULL));
}

static bool gelu(ox_net *g) {
  points p;
  if (!begin(g, &p)) return false;
  ox_expr *x = p.x[0];
  if (strcmp(ox_text(g, "approximate", "none"), "tanh") != 0) return end(g, &p, ox_call(g, "gelu", x, NULL, NULL));
  ox_expr *cube = ox_call(g, "*", ox_call(g, "*", x, x, NULL), x, NULL);
  ox_expr *in = with(g, "*", ox_call(g, "+", x, with(g, "*", cube, 0.044715), NULL), sqrt(2 / 3.14159265358979323846));
  ox_expr *one = with(g, "+", ox_call(g, "tanh", in, NULL, NULL), 1);
  return end(g, &p, ox_call(g, "*", with(g, "*", x, 0.5), one, NULL));
}

const ox_kind ox_points[] = {
    {"Add", call, "+"},
    {"Sub", call, "-"},
    {"Mul", call, "*"},
    {"Div", call, "/"},
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
    {NULL, NULL, NULL},
};
