/* grad --step: parameters after a step against the update rule in plain C, with gradients by finite
 * differences of the forward workload in double; what is made again changes nothing. */
#include "base/rng.h"
#include "tests/kernels/whole.h"
#include "tests/unit/case.h"
#include "tests/unit/page.h"
#include "tileflow/grad.h"

static const double rate = 0.013, unbias = 1.7;

static int find(const tf_workload *wl, const char *before, const char *name, const char *behind) {
  char text[120];
  snprintf(text, sizeof text, "%s%s%s", before, name, behind);
  for (int t = 0; t < wl->n_tensors; t++)
    if (!strcmp(wl->tensors[t].name, text)) return t;
  return -1;
}

/* Of an element: the same for the same name. */
static double value_of(const char *name, int64_t i) {
  uint64_t seed = (uint64_t)i + 1;
  for (; *name; name++)
    seed = seed * 1099511628211u + (unsigned char)*name;
  tf_rng rng = tf_rng_new(seed, 3);
  return 0.2 + tf_rng_unit(&rng);
}

typedef struct {
  tf_spec *fore, *step;
  double **in, **out;
} pair;

static bool open_pair(pair *p, const char *text, const tf_grad_options *o, tf_diags *d) {
  *p = (pair){.fore = case_spec(text, d)};
  char *yaml = p->fore ? tf_grad(p->fore->workload, o, d) : NULL;
  p->step = yaml ? case_spec(yaml, d) : NULL;
  free(yaml);
  if (!p->step) return false;
  p->in = whole_new(p->fore->workload);
  p->out = whole_new(p->step->workload);
  return p->in && p->out;
}

static void close_pair(pair *p) {
  if (p->fore) whole_free(p->fore->workload, p->in);
  if (p->step) whole_free(p->step->workload, p->out);
  tf_spec_free(p->fore);
  tf_spec_free(p->step);
}

static void fill(const tf_workload *wl, double **data) {
  for (int t = 0; t < wl->n_tensors; t++) {
    const tf_tensor *z = &wl->tensors[t];
    for (int64_t i = 0; z->producer < 0 && i < whole_words(z); i++)
      data[t][i] = value_of(z->name, i);
    if (!strcmp(z->name, "rate")) data[t][0] = rate;
    if (!strcmp(z->name, "unbias")) data[t][0] = unbias;
  }
  whole_run(wl, data);
}

/* The sum of all outputs. */
static double loss(const tf_workload *wl, double **data) {
  double sum = 0;
  whole_run(wl, data);
  for (int t = 0; t < wl->n_tensors; t++)
    for (int64_t i = 0; wl->tensors[t].producer >= 0 && !wl->tensors[t].n_consumers &&
                        i < whole_words(&wl->tensors[t]);
         i++)
      sum += data[t][i];
  return sum;
}

static double slope(const pair *p, int t, int64_t i) {
  const tf_workload *f = p->fore->workload;
  const double at = p->in[t][i], step = 1e-5;
  p->in[t][i] = at + step;
  const double above = loss(f, p->in);
  p->in[t][i] = at - step;
  const double below = loss(f, p->in);
  p->in[t][i] = at;
  return (above - below) / (2 * step);
}

static bool close_to(double got, double want) {
  return fabs(got - want) <= 1e-6 * (1 + fabs(want));
}

/* One element of parameter t. */
static bool right_at(const pair *p, tf_update kind, int t, int64_t i) {
  const tf_workload *s = p->step->workload;
  const char *name = p->fore->workload->tensors[t].name;
  const double g = slope(p, t, i), old = p->in[t][i], got = p->out[find(s, "", name, "_next")][i];
  if (kind == TF_UPDATE_SGD) return close_to(got, old - rate * g);
  const double mean = 0.9 * value_of(s->tensors[find(s, "mean_", name, "")].name, i) + 0.1 * g;
  const double square =
      0.999 * value_of(s->tensors[find(s, "square_", name, "")].name, i) + 0.001 * g * g;
  return close_to(p->out[find(s, "mean_", name, "_next")][i], mean) &&
         close_to(p->out[find(s, "square_", name, "_next")][i], square) &&
         close_to(got, old - rate * mean / (sqrt(square) * unbias + 1e-8));
}

static bool right(const char *text, const tf_grad_options *o) {
  pair p;
  tf_diags *d = tf_diags_new();
  bool ok = open_pair(&p, text, o, d);
  if (!ok) case_complain(d);
  const tf_workload *f = ok ? p.fore->workload : NULL;
  if (ok) fill(f, p.in);
  if (ok) fill(p.step->workload, p.out);
  int n = 0;
  for (int t = 0; ok && t < f->n_tensors; t++) {
    const int same = find(p.step->workload, "", f->tensors[t].name, "");
    for (int64_t i = 0; same >= 0 && i < whole_words(&f->tensors[t]); i++)
      ok = ok && close_to(p.out[same][i], p.in[t][i]);
  }
  for (int t = 0; ok && t < f->n_tensors; t++) {
    if (find(p.step->workload, "", f->tensors[t].name, "_next") < 0) continue;
    for (int64_t i = 0; ok && i < whole_words(&f->tensors[t]); i++, n++)
      ok = right_at(&p, o->step, t, i);
  }
  close_pair(&p);
  tf_diags_free(d);
  return ok && n > 0;
}

/* ---- workloads ------------------------------------------------------------------------------- */
static const struct {
  int line;
  const char *dims, *tensors, *ops, *by, *again;
} rows[] = {
    {__LINE__, "m: 3, k: 4, l: 5, n: 2", "{}",
     "  - H[m,l] += X[m,k] * W1[k,l]\n  - G[m,l] = relu(H[m,l] - B1[l])\n"
     "  - Y[m,n] += G[m,l] * W2[l,n]\n"
     "  - E[m,n] = Y[m,n] + B2[n] - T[m,n]\n  - L[] += E[m,n] * E[m,n]\n",
     "W1,W2,B1,B2", "H,G,E"},
    {__LINE__, "c: 2, k: 2, p: 4, r: 3",
     "{X: {pad: [0, 1]}}", /* a stride: its gradient is put together */
     "  - A[k,p] += X[c,p + r - 1] * W[k,c,r]\n  - B[k,p] = tanh(A[k,p]) + A[k,p]\n"
     "  - L[] += B[k,p] * B[k,p] * V[2*p + k]\n",
     "W,V", "A,B"},
    {__LINE__, "m: 3, l: 3, a: 2, d: 3", "{}",
     "  - Q[m,a] += X[m,d] * WQ[d,a]\n  - K[l,a] += X[l,d] * WK[d,a]\n"
     "  - S[m,l] += Q[m,a] * K[l,a]\n"
     "  - M[m] max= S[m,l]\n  - E[m,l] = exp(S[m,l] - M[m])\n  - Z[m] += E[m,l]\n"
     "  - P[m,l] = E[m,l] / Z[m]\n"
     "  - O[m,d] += P[m,l] * X[l,d]\n  - L[m] += O[m,d] * O[m,d]\n",
     "WQ,WK", "S,E,P"},
    {__LINE__, "b: 2, h: 3, x: 2",
     "{}", /* two steps with the same weights: a gradient from two places */
     "  - A[b,h] += X1[b,x] * W[x,h]\n  - H1[b,h] = tanh(A[b,h])\n  - C[b,h] += X2[b,x] * W[x,h]\n"
     "  - D[b,h] += H1[b,x] * U[x,h]\n  - H2[b,h] = sigmoid(C[b,h] * D[b,h])\n"
     "  - L[] += H2[b,h] * H1[b,h]\n",
     "W,U", "A,H1,C,D"},
    {__LINE__, "m: 3, k: 2", "{}", "  - H[m] += W[k] * 2\n  - L[m] = H[m] + 1\n", "W",
     "H"}, /* a loss with ranks */
};

static void test_known(void) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    page p = {.len = 0};
    say(&p, "workload:\n  dims: {%s}\n  tensors: %s\n  ops:\n%s", rows[i].dims, rows[i].tensors,
        rows[i].ops);
    tf_grad_options o = {.of = "L", .by = rows[i].by};
    for (int k = 0; k < 4; k++) {
      o.step = k % 2 ? TF_UPDATE_ADAM : TF_UPDATE_SGD;
      o.again = k < 2 ? NULL : rows[i].again;
      CHECK_ROW(&rows[i], right(p.text, &o));
    }
  }
}

/* Chains of ops of random forms, any of them made again. */
static void test_drawn(void) {
  static const char *const forms[] = {
      "T%d[m,k] += T%d[m,l] * W%d[l,k] * 0.3", "T%d[m,k] = tanh(T%d[m,k]) * W%d[k,k]",
      "T%d[m,k] = exp(0.2 * T%d[m,k]) - W%d[m,k]", "T%d[m,k] += T%d[l,k] * W%d[l,m]"};
  for (uint64_t seed = 0; seed < 60; seed++) {
    tf_rng rng = tf_rng_new(seed, 5);
    page p = {.len = 0}, by = {.len = 0}, again = {.len = 0};
    const int n = 2 + (int)tf_rng_below(&rng, 4);
    say(&p, "workload:\n  dims: {m: 3, l: 3, k: 3}\n  ops:\n");
    for (int i = 1; i <= n; i++) {
      say(&p, "  - ");
      switch (tf_rng_below(&rng, 4)) {
      case 0: say(&p, forms[0], i, i - 1, i); break;
      case 1: say(&p, forms[1], i, i - 1, i); break;
      case 2: say(&p, forms[2], i, i - 1, i); break;
      default: say(&p, forms[3], i, i - 1, i);
      }
      say(&p, "\n");
      say(&by, "%sW%d", i > 1 ? "," : "", i);
      if (tf_rng_below(&rng, 2)) say(&again, "%sT%d", again.len ? "," : "", i);
    }
    say(&p, "  - L[] += T%d[m,k] * T%d[l,k]\n", n, (int)tf_rng_below(&rng, (uint32_t)n + 1));
    const tf_grad_options o = {.of = "L",
                               .by = by.text,
                               .again = again.len ? again.text : NULL,
                               .step = tf_rng_below(&rng, 2) ? TF_UPDATE_ADAM : TF_UPDATE_SGD};
    if (!CHECK(right(p.text, &o))) printf("seed %d\n%s\n", (int)seed, p.text);
  }
}

/* ---- the order ------------------------------------------------------------------------------- */
static int place_of(const tf_workload *wl, const char *name) {
  const int t = find(wl, "", name, "");
  for (int i = 0; t >= 0 && i < wl->n_ops; i++)
    if (wl->topo[i] == wl->tensors[t].producer) return i;
  return -1;
}

/* What is made again stands behind what its reader waits for, and an update behind its gradient. */
static void test_order(void) {
  static const char text[] =
      "workload:\n  dims: {m: 2, k: 2, l: 2, n: 2}\n  ops:\n  - H[m,l] += X[m,k] * W1[k,l]\n"
      "  - G[m,l] = tanh(H[m,l])\n  - Y[m,n] += G[m,l] * W2[l,n]\n  - L[] += Y[m,n] * Y[m,n]\n";
  tf_diags *d = tf_diags_new();
  pair p;
  const tf_grad_options o = {.of = "L", .by = "W1,W2", .again = "H,G", .step = TF_UPDATE_SGD};
  CHECK(open_pair(&p, text, &o, d));
  const tf_workload *s = p.step->workload;
  for (int i = 0; i < s->n_ops; i++)
    CHECK_I64(s->topo[i], i);
  CHECK(place_of(s, "again_H") > place_of(s, "d_Y"));
  CHECK_I64(place_of(s, "again_G"), place_of(s, "again_H") + 1);
  CHECK_I64(place_of(s, "W2_next"), place_of(s, "d_W2") + 1);
  CHECK(place_of(s, "d_L") < 0 && place_of(s, "again_Y") < 0);
  close_pair(&p);
  tf_diags_free(d);
}

static void test_refused(void) {
  static const char text[] = "workload:\n  dims: {m: 2, k: 2}\n  ops:\n"
                             "  - H[m] += X[m,k] * W[k]\n  - L[] += H[m] * H[m]\n";
  static const struct {
    int line;
    tf_grad_options o;
    tf_code code;
  } bad[] = {
      {__LINE__, {.of = "L", .by = "H", .step = TF_UPDATE_SGD}, TF_E_NAME},
      {__LINE__, {.of = "L", .by = "W", .step = TF_UPDATE_SGD, .again = "X"}, TF_E_NAME},
      {__LINE__, {.of = "L", .by = "W", .step = TF_UPDATE_SGD, .again = "h"}, TF_E_NAME},
      {__LINE__, {.of = "L", .step = TF_UPDATE_SGD}, TF_E_USAGE},
      {__LINE__, {.of = "L", .by = "W", .step = TF_UPDATE_SGD, .given = "H"}, TF_E_USAGE},
      {__LINE__, {.of = "L", .by = "W", .again = "H"}, TF_E_USAGE},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    tf_diags *d = tf_diags_new();
    pair p;
    CHECK_ROW(&bad[i], !open_pair(&p, text, &bad[i].o, d) && tf_diags_count(d) == 1 &&
                           tf_diags_at(d, 0)->code == bad[i].code);
    close_pair(&p);
    tf_diags_free(d);
  }
}

int main(void) {
  test_known();
  test_drawn();
  test_order();
  test_refused();
  return check_report();
}
