/* grad: gradients against finite differences of the forward workload, both by plain loops in
 * double. */
#include "base/rng.h"
#include "tests/kernels/whole.h"
#include "tests/unit/case.h"
#include "tests/unit/page.h"
#include "tileflow/grad.h"

static double value_of(uint64_t seed) {
  seed = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
  seed = (seed ^ (seed >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
  return 0.25 + 1.5 * (double)(seed >> 40) / (double)(1 << 24);
}

static int find(const tf_workload *wl, const char *name) {
  for (int t = 0; t < wl->n_tensors; t++)
    if (!strcmp(wl->tensors[t].name, name)) return t;
  return -1;
}

/* The forward workload, its gradient read back, and the data of both. */
typedef struct {
  tf_diags *d;
  tf_spec *fore, *back;
  double **in, **out;
  char *yaml;
} pair;

static bool open_pair(pair *p, const char *text, const tf_grad_options *o) {
  *p = (pair){.d = tf_diags_new()};
  p->fore = case_spec(text, p->d);
  p->yaml = p->fore ? tf_grad(p->fore->workload, o, p->d) : NULL;
  p->back = p->yaml ? case_spec(p->yaml, p->d) : NULL;
  if (!p->back) case_complain(p->d);
  if (!p->back) return false;
  p->in = whole_new(p->fore->workload);
  p->out = whole_new(p->back->workload);
  return p->in && p->out;
}

static void close_pair(pair *p) {
  if (p->fore) whole_free(p->fore->workload, p->in);
  if (p->back) whole_free(p->back->workload, p->out);
  tf_spec_free(p->fore);
  tf_spec_free(p->back);
  tf_diags_free(p->d);
  free(p->yaml);
}

/* Inputs of both; what the forward pass made goes to inputs of the backward one of that name. */
static void fill(pair *p, bool values) {
  const tf_workload *f = p->fore->workload, *b = p->back->workload;
  for (int t = 0; values && t < f->n_tensors; t++)
    for (int64_t i = 0; f->tensors[t].producer < 0 && i < whole_words(&f->tensors[t]); i++)
      p->in[t][i] = value_of((uint64_t)(t * 1000 + i));
  whole_run(f, p->in);
  for (int t = 0; t < b->n_tensors; t++) {
    if (b->tensors[t].producer >= 0) continue;
    int64_t n = whole_words(&b->tensors[t]);
    int same = find(f, b->tensors[t].name);
    for (int64_t i = 0; i < n; i++)
      p->out[t][i] = same >= 0 ? p->in[same][i] : value_of((uint64_t)(77000 + t * 1000 + i)) - 1;
  }
  whole_run(b, p->out);
}

/* The sum of d_O times O over all O that have a d_O among the inputs. */
static double loss(const pair *p) {
  const tf_workload *f = p->fore->workload, *b = p->back->workload;
  double sum = 0;
  for (int t = 0; t < b->n_tensors; t++) {
    const char *name = b->tensors[t].name;
    int o = strncmp(name, "d_", 2) != 0 || b->tensors[t].producer >= 0 ? -1 : find(f, name + 2);
    for (int64_t i = 0; o >= 0 && i < whole_words(&f->tensors[o]); i++)
      sum += p->out[t][i] * p->in[o][i];
  }
  return sum;
}

/* d_T of the input t against differences of the loss; false where one is off. */
static bool right_by(pair *p, int t, double step) {
  const tf_workload *f = p->fore->workload, *b = p->back->workload;
  char name[80];
  snprintf(name, sizeof name, "d_%s", f->tensors[t].name);
  int z = find(b, name);
  bool ok = z >= 0 && whole_words(&b->tensors[z]) == whole_words(&f->tensors[t]);
  for (int64_t i = 0; ok && i < whole_words(&f->tensors[t]); i++) {
    double at = p->in[t][i], above, below;
    p->in[t][i] = at + step;
    whole_run(f, p->in);
    above = loss(p);
    p->in[t][i] = at - step;
    whole_run(f, p->in);
    below = loss(p);
    p->in[t][i] = at;
    double want = (above - below) / (2 * step), got = p->out[z][i];
    ok = fabs(got - want) <= 2e-5 * (1 + fabs(want) + fabs(above));
    if (!ok) printf("%s[%lld]: %.9g, differences give %.9g\n", name, (long long)i, got, want);
  }
  return ok;
}

static bool right(const char *text, const tf_grad_options *o, bool values) {
  pair p;
  bool ok = open_pair(&p, text, o);
  if (ok) fill(&p, values);
  const tf_workload *f = ok ? p.fore->workload : NULL;
  for (int t = 0; ok && t < f->n_tensors; t++)
    if (f->tensors[t].producer < 0) ok = right_by(&p, t, 1e-5);
  if (!ok) printf("%s\n%s\n", text, p.yaml ? p.yaml : "");
  close_pair(&p);
  return ok;
}

/* ---- workloads that are known ------------------------------------------------------------ */
static const struct {
  int line;
  const char *dims, *tensors, *ops;
} known[] = {
    {__LINE__, "m: 3, l: 4, a: 2, n: 2", "",
     "  - S[m,l] += Q[m,a] * K[l,a]\n  - X[m] max= S[m,l]\n  - D[m,l] = S[m,l] - X[m]\n"
     "  - E[m,l] = exp(D[m,l])\n"
     "  - Z[m] += E[m,l]\n  - P[m,l] = E[m,l] / Z[m]\n  - O[m,n] += P[m,l] * V[l,n]\n"},
    {__LINE__, "m: 3, n: 5", "",
     "  - U[m] += A[m,n] * 0.2\n  - C[m,n] = A[m,n] - U[m]\n  - V[m] += C[m,n] * C[m,n] / 5\n"
     "  - R[m] = 1 / sqrt(V[m] + 0.01)\n  - Y[m,n] = C[m,n] * R[m] * G[n] + B[n]\n"},
    {__LINE__, "c: 2, k: 2, j: 2, p: 5, q: 4, r: 3, s: 3",
     "{A: {pad: [0, 1, 1]}, I: {pad: [0, 1, 1]}}",
     "  - T[k,p,q] += I[c,p + r - 1,q + s - 1] * W[k,c,r,s]\n  - A[k,p,q] = gelu(T[k,p,q])\n"
     "  - Y[j,p,q] += A[k,p + r - 1,q + s - 1] * W2[j,k,r,s]\n"},
    {__LINE__, "c: 2, k: 2, p: 4, r: 3, h: 9", "", /* a stride behind a map */
     "  - A[c,h] = X[c,h] * X[c,h]\n  - Y[k,p] += A[c,2*p + r] * W[k,c,r]\n"},
    {__LINE__, "c: 2, p: 4, r: 2", "", "  - Y[p] += I[c,2*p + r] * W[c,r]\n"}, /* split, in order */
    {__LINE__, "k: 9, c: 9, p: 4, q: 3, r: 3, s: 3", "{I: {pad: [0, 1, 1]}}",
     "  - Y[k,p,q] += I[c,2*p + r - 1,2*q + 2*s - 1] * W[k,c,r,s]\n"},
    {__LINE__, "k: 9, p: 5, r: 4", "", "  - Y[k,p] += I[3*p + 2*r + 2] * W[k,r]\n"},
    {__LINE__, "k: 9, p: 5, r: 4", "{I: {pad: [2]}}", "  - Y[k,p] += I[4*p - r - 1] * W[k,r]\n"},
    {__LINE__, "k: 9, p: 5, r: 8", "", "  - Y[k,p] += I[5*p + 3*r] * W[k,r]\n"},
    {__LINE__, "k: 9, p: 5, r: 2", "",
     "  - Y[k,p] += I[4*p + r] * W[k,r]\n"}, /* words that nothing reads */
    {__LINE__, "i: 4, j: 3", "", "  - Y[i] += A[i,i] * A[i,j]\n"},
    {__LINE__, "i: 4, j: 3", "{A: {shape: [7, 6]}}",
     "  - Y[i,j] = A[i + j,i - j + 2] * B[2 - j]\n"},
    {__LINE__, "m: 4, l: 3", "",
     "  - Y[m] += A[m] + B[m,l]\n"}, /* a loop that the gradient has lost */
    {__LINE__, "m: 4, l: 3", "", "  - Y[m] *= A[m,l]\n  - Z[l] min= A[m,l] * B[l]\n"},
    {__LINE__, "m: 4, l: 3", "",
     "  - Y[m,l] = max(A[m], B[l]) + min(A[m], C[l] * 2) + select(A[m] - 5, B[l], A[m])\n"},
    {__LINE__, "m: 4, l: 5, a: 2", "", /* a mask, a window, a slope by distance */
     "  - S[m,l] += Q[m,a] * K[l,a]\n"
     "  - T[m,l] = select(l <= m and m - l < 3, S[m,l] * 0.3 - 0.1 * (m - l), -inf)\n"
     "  - X[m] max= T[m,l]\n  - E[m,l] = exp(T[m,l] - X[m])\n  - Z[m] += E[m,l]\n"
     "  - P[m,l] = E[m,l] / Z[m]\n"
     "  - O[m,a] += P[m,l] * V[l,a]\n"},
    {__LINE__, "m: 4, l: 3", "",
     "  - Y[m] += A[m,l] * (l != m) * (m + 1) - select(A[m,l] < B[l], A[m,l], 2*B[l] - l)\n"},
    {__LINE__, "m: 4, l: 3", "",
     "  - T[m,l] = A[2*m + l] * (m - 2*l + 1)\n  - Y[l] += exp(T[m,l]) / (m + 1)\n"},
    {__LINE__, "m: 4", "",
     "  - A[m] = log(X[m]) + sqrt(X[m]) - tanh(X[m])\n"
     "  - B[m] = erf(A[m]) * sigmoid(X[m]) / relu(X[m] - 0.1)\n"
     "  - Y[m] = abs(B[m] - 0.4) + gelu(-A[m])\n"},
    {__LINE__, "m: 4", "",
     "  - A[m] = sin(X[m] * 3) * cos(X[m])\n"
     "  - Y[m] = fmod(A[m] * 5, 0.7 + X[m] * X[m]) + A[m] * round(X[m])\n"},
    {__LINE__, "m: 4, l: 3", "", "  - G[m] += X[m,l] * W[l]\n  - Y[m] = silu(G[m]) * U[m]\n"},
    {__LINE__, "h: 4, w: 6, c: 2", "", /* depth to space, and a map of it */
     "  - O[h,w,c] = I[h / 2, w / 3, c*6 + (h % 2)*3 + w % 3]\n"
     "  - Y[h,w,c] = exp(O[h,w,c]) * B[c,h % 2]\n"},
    {__LINE__, "h: 4, w: 4, c: 2", "",
     "  - Y[h / 2, w / 2, c*4 + h % 2*2 + w % 2] = I[h,w,c] * I[h,w,c]\n"},
    {__LINE__, "c: 4, y: 3, k: 2, r: 3, h: 6, d: 2",
     "{X: {pad: [0, 1]}}", /* the same behind a window */
     "  - T[c,y] += X[k,y + r - 1] * W[c,k,r]\n  - Y[h,d] = T[d*2 + h % 2, h / 2]\n"},
    {__LINE__, "y: 6, k: 2, r: 3, h: 3, a: 2",
     "{X: {pad: [0, 1]}}", /* a window across what is split: joined again */
     "  - T[y] += X[k,y + r - 1] * W[k,r]\n  - Y[h,a] = T[2*h + a]\n"},
    {__LINE__, "h: 6, m: 3, a: 2", "",
     "  - Y[h,m] += Q[h,m,a] * K[h / 3,m,a]\n"}, /* heads that share keys */
    {__LINE__, "t: 8, a: 2", "", "  - Y[t] += B[t % 4,a] * (t + 1) * B[t / 2,a]\n"}, /* a ring */
    {__LINE__, "m: 4, b: 6", "", /* loops that stand in values alone, and half of a cut loop */
     "  - Y[m] += select(b != 2, Q[m], b * R[]) + P[m / 2]\n"},
    {__LINE__, "m: 3, b: 6", "",
     "  - S[m] += W[b % 2] * Q[m]\n  - Y[m] = S[m] * S[m]\n"
     "  - X[] max= W[b % 2]\n  - Z[] = X[] * X[]\n"},
    {__LINE__, "b: 6", "", "  - P[] *= W[b % 2] + 1\n  - Y[] += P[] * P[] * V[b % 2] * (b / 2)\n"},
    {__LINE__, "g: 3, k: 4, y: 12", "",
     "  - S[g,k] = X[4*g + k]\n  - Y[y] = S[y % 3, y / 3] * y\n"},
};

static void test_known(void) {
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    page p = {.len = 0};
    say(&p, "workload:\n  dims: {%s}\n", known[i].dims);
    if (*known[i].tensors) say(&p, "  tensors: %s\n", known[i].tensors);
    say(&p, "  ops:\n%s", known[i].ops);
    CHECK_ROW(&known[i], right(p.text, &(tf_grad_options){0}, true));
  }
}

/* ---- workloads that are drawn ------------------------------------------------------------- */
static int draw(tf_rng *rng, int n) { return (int)tf_rng_below(rng, (uint32_t)n); }

/* An index of up to two of the dims, whole and not negative from -1 on. */
static void write_index(page *p, tf_rng *rng) {
  static const char *const dims[] = {"i", "j", "k", "r"};
  int a = draw(rng, 4), b = draw(rng, 4), form = draw(rng, 5);
  if (form < 2)
    say(p, "%s", dims[a]);
  else if (form == 2)
    say(p, "%d*%s + %d", 1 + draw(rng, 3), dims[a], draw(rng, 2));
  else
    say(p, "%d*%s + %d*%s", 1 + draw(rng, 4), dims[a], 1 + draw(rng, 3),
        dims[a == b ? (b + 1) % 4 : b]);
}

static void write_drawn(page *p, uint64_t seed) {
  static const char *const sign[] = {"+=", "+=", "+=", "max=", "*="};
  static const char *const function[] = {"", "", "exp", "sigmoid", "tanh", "sqrt"};
  tf_rng rng = tf_rng_new(seed, 1);
  say(p, "workload:\n  dims: {i: %d, j: %d, k: %d, r: %d}\n  ops:\n", 1 + draw(&rng, 4),
      1 + draw(&rng, 3), 1 + draw(&rng, 3), 1 + draw(&rng, 3));
  say(p, "  - T[i,j] %s %s(A[", sign[draw(&rng, 5)], function[draw(&rng, 6)]);
  write_index(p, &rng);
  say(p, ",");
  write_index(p, &rng);
  say(p, "]) * B[");
  write_index(p, &rng);
  say(p, ",k]\n  - U[i,k] %s %s(T[i,j]) * C[", sign[draw(&rng, 3)], function[draw(&rng, 6)]);
  write_index(p, &rng);
  say(p, "] + A[i,");
  write_index(p, &rng);
  say(p, "] / B[j,k]\n  - Y[j,r] += U[i,k] * T[i,j] - D[");
  write_index(p, &rng);
  say(p, "]\n");
}

static void test_drawn(void) {
  for (uint64_t seed = 0; seed < 150; seed++) {
    page p = {.len = 0};
    write_drawn(&p, seed);
    if (!CHECK(right(p.text, &(tf_grad_options){0}, true))) return;
  }
}

/* Quotients and remainders of what the reader can cut; how many of the cases it took. */
static void test_divided(void) {
  enum { WANTED = 40, MOST = 2000 };
  static const int extents[] = {2, 3, 4, 6};
  int taken = 0;
  for (uint64_t seed = 0; seed < MOST && taken < WANTED; seed++) {
    tf_rng rng = tf_rng_new(seed, 2);
    static const char *const dims[] = {"i", "j", "k"};
    page p = {.len = 0};
    say(&p, "workload:\n  dims: {i: %d, j: %d, k: %d}\n  ops:\n  - T[i,j] += exp(A[",
        extents[draw(&rng, 4)], extents[draw(&rng, 4)], extents[draw(&rng, 4)]);
    for (int n = 0; n < 3; n++) {
      const char *a = dims[draw(&rng, 3)], *b = dims[draw(&rng, 3)];
      const int by = 2 + draw(&rng, 2);
      if (draw(&rng, 3))
        say(&p, "%s %s %d + %d*(%s %s %d)", a, draw(&rng, 2) ? "/" : "%", by, 1 + draw(&rng, 3), b,
            draw(&rng, 2) ? "/" : "%", by);
      else
        say(&p, "(%d*%s + %s) %s %d", by, a, b, draw(&rng, 2) ? "/" : "%", 2 * by);
      say(&p, n == 0   ? "]) * B["
              : n == 1 ? ",k,i]\n  - Y[k / 2, k %% 2] += T[i,j] * C["
                       : ",i,j]\n");
    }
    tf_diags *d = tf_diags_new();
    tf_spec *s = case_spec(p.text, d);
    const bool takes = s != NULL;
    tf_spec_free(s);
    tf_diags_free(d);
    if (!takes) continue;
    taken++;
    if (!CHECK(right(p.text, &(tf_grad_options){0}, true))) return;
  }
  CHECK_I64(taken, WANTED);
}

/* ---- where there is no derivative --------------------------------------------------------- */
static void test_subgradients(void) {
  static const char text[] =
      "workload:\n  dims: {m: 4, o: 1}\n  ops:\n  - X[o] max= A[m] + 0 * B[o]\n"
      "  - P[o] *= relu(A[m]) + B[o]\n  - Y[m] = max(A[m], C[m]) + relu(C[m]) + abs(C[m])\n";
  pair p;
  tf_grad_options o = {0};
  if (!CHECK(open_pair(&p, text, &o))) return;
  const tf_workload *f = p.fore->workload;
  const double a[] = {1, 2, 0, 2}, c[] = {0, 2, 0, 3};
  p.in[find(f, "B")][0] = 0;
  for (int i = 0; i < 4; i++) {
    p.in[find(f, "A")][i] = a[i];
    p.in[find(f, "C")][i] = c[i];
  }
  fill(&p, false);
  const tf_workload *b = p.back->workload;
  double dx = p.out[find(b, "d_X")][0];
  const double *dy = p.out[find(b, "d_Y")], *da = p.out[find(b, "d_A")],
               *dc = p.out[find(b, "d_C")];
  CHECK_NEAR(da[0], dy[0], 1e-12); /* beside the maximum; the greater of two */
  CHECK_NEAR(da[1], dx / 2 + dy[1],
             1e-12); /* half of the maximum; the first of two that are alike */
  CHECK_NEAR(da[3], dx / 2, 1e-12);
  CHECK_NEAR(da[2], dy[2], 1e-12); /* relu is flat at 0 */
  CHECK(dc[0] == 0 && dc[2] == 0);
  CHECK_NEAR(dc[3], 3 * dy[3], 1e-12);
  CHECK_NEAR(p.out[find(b, "d_B")][0], 4 * p.out[find(b, "d_P")][0],
             1e-12); /* one factor is 0: the others' product */
  close_pair(&p);
}

/* ---- what is asked for -------------------------------------------------------------------- */
static const char chain[] =
    "workload:\n  dims: {m: 2, k: 3, n: 2}\n  ops:\n  - T[m,n] += A[m,k] * B[k,n]\n"
    "  - {name: act, expr: \"R[m,n] = exp(T[m,n])\"}\n  - Y[m] += R[m,n] * T[m,n]\n"
    "  - Z[m] += R[m,n]\n  - L[k] += C[k,n]\n";

static bool has(const char *text, const char *part) { return text && strstr(text, part) != NULL; }

static void test_asked(void) {
  pair p;
  tf_grad_options o = {.of = "Y", .by = "A,T"};
  CHECK(open_pair(&p, chain, &o));
  CHECK(has(p.yaml, "d_T[m,n] = total_T[m,n]") && has(p.yaml, "d_A[m,k]") && !has(p.yaml, "d_B") &&
        !has(p.yaml, "Z"));
  close_pair(&p);
  o = (tf_grad_options){.of = "Y", .by = "B", .given = "R,T"};
  CHECK(open_pair(&p, chain, &o));
  CHECK(!has(p.yaml, "- T[m,n]") && !has(p.yaml, "act") && has(p.yaml, "R: {shape"));
  if (p.back) fill(&p, true);
  if (p.back) CHECK(right_by(&p, find(p.fore->workload, "B"), 1e-5));
  close_pair(&p);
  o = (tf_grad_options){
      0}; /* what is compared is stored, unless it is the same number wherever it is computed */
  CHECK(open_pair(&p,
                  "workload:\n  dims: {m: 2, l: 3}\n  ops:\n  - X[m] max= A[m,l] * 0.3\n"
                  "  - Y[m] *= A[m,l] - 1\n"
                  "  - Z[m] max= select(l <= m + 1, -B[m,l], -inf)\n",
                  &o));
  CHECK(has(p.yaml, "best_X[m] max= value_X[m,l]") && has(p.yaml, "value_Y[m,l] = A[m,l] - 1") &&
        !has(p.yaml, "value_Z"));
  close_pair(&p);
  o = (tf_grad_options){.of = "R,Y", .by = "A"}; /* a seed that more adds to */
  CHECK(open_pair(&p, chain, &o) && has(p.yaml, "total_R[m,n] = d_R[m,n] + d_Y[m] * T[m,n]"));
  close_pair(&p);
}

/* ---- maxima whose value does not matter ------------------------------------------------------ */
/* ops: behind X[m] max= S[m,l]; flat: their gradient has no part that goes through X. */
static void test_flat(void) {
  static const struct {
    int line;
    bool flat;
    const char *dim, *ops; /* dim: besides m and l */
  } rows[] = {
      {__LINE__, true, "",
       "E[m,l] = exp(S[m,l] - X[m])\n  - Z[m] += E[m,l]\n  - Y[m,l] = E[m,l] / Z[m]\n"},
      {__LINE__, true, ", n: 2",
       "E[m,l] = exp(0.5 * (S[m,l] - X[m]) / 3)\n  - Z[m] += E[m,l]\n"
       "  - O[m,n] += E[m,l] * V[l,n]\n"
       "  - Y[m,n] = O[m,n] / Z[m]\n"},
      {__LINE__, true, "",
       "E[m,l] = exp(select(l <= m, S[m,l] - X[m], -inf))\n  - Z[m] += E[m,l] * (l <= m)\n"
       "  - Y[m,l] = select(l <= m, E[m,l], 0) / Z[m]\n"},
      {__LINE__, true, "",
       "E[m,l] = exp(S[m,l] - X[m])\n  - Z[m] += E[m,l]\n  - Y[m] = log(Z[m]) + X[m]\n"},
      {__LINE__, true, "",
       "E[m,l] = exp(-X[m]) * W[l]\n  - Z[m] max= E[m,l]\n"
       "  - Y[m] += sqrt(E[m,l] * relu(E[m,l])) / Z[m]\n"},
      {__LINE__, false, "", "E[m,l] = exp(S[m,l] - X[m])\n  - Y[m] += E[m,l]\n"},
      {__LINE__, false, "",
       "E[m,l] = exp(S[m,l] - X[m])\n  - Z[m] += E[m,l]\n  - Y[m,l] = E[m,l] / Z[m] + X[m]\n"},
      {__LINE__, false, "",
       "E[m,l] = exp(S[m,l] - X[m])\n  - Z[l] += E[m,l]\n  - Y[m,l] = E[m,l] / Z[l]\n"},
      {__LINE__, false, "",
       "E[m,l] = exp(S[m,l] - X[m])\n  - Z[m] += E[m,l] + 1\n  - Y[m,l] = E[m,l] / Z[m]\n"},
      {__LINE__, false, ", p: 3",
       "E[p,l] = exp(S[p,l] - X[p + 1])\n  - Z[p] += E[p,l]\n  - Y[p,l] = E[p,l] / Z[p]\n"},
      {__LINE__, false, "",
       "E[m,l] = exp(S[m,l] - X[m] * W[l])\n  - Z[m] += E[m,l]\n  - Y[m,l] = E[m,l] / Z[m]\n"},
      {__LINE__, false, "",
       "D[m,l] = S[m,l] - X[m]\n  - Z[m] += D[m,l]\n  - Y[m,l] = exp(D[m,l] - Z[m])\n"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    page text = {.len = 0};
    pair p;
    say(&text, "workload:\n  dims: {m: 4, l: 3%s}\n  ops:\n  - X[m] max= S[m,l]\n  - %s",
        rows[i].dim, rows[i].ops);
    CHECK_ROW(&rows[i], right(text.text, &(tf_grad_options){.of = "Y"}, true));
    if (!CHECK_ROW(&rows[i], open_pair(&p, text.text, &(tf_grad_options){.of = "Y"}))) continue;
    CHECK_ROW(&rows[i], has(p.yaml, "n_X") == !rows[i].flat);
    close_pair(&p);
    if (!CHECK_ROW(&rows[i], open_pair(&p, text.text, &(tf_grad_options){.of = "Y", .by = "X"})))
      continue;
    CHECK_ROW(&rows[i], has(p.yaml, "d_X[m] = 0\n") == rows[i].flat);
    CHECK_ROW(&rows[i],
              !rows[i].flat || p.back->workload->n_ops == 1); /* nothing else is computed for it */
    close_pair(&p);
  }
}

static void test_refused(void) {
  static const struct {
    int line;
    tf_grad_options o;
    tf_code code;
    int errors;
  } rows[] = {
      {__LINE__, {.of = "Q,Yy"}, TF_E_NAME, 2},
      {__LINE__, {.of = "Y", .by = "C"}, TF_E_NAME, 2},
      {__LINE__, {.of = "Y", .by = "Y,A"}, TF_E_DUP, 1},
      {__LINE__, {.of = ""}, TF_E_NAME, 1},
      {__LINE__, {.by = "A,"}, TF_E_NAME, 1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tf_diags *d = tf_diags_new();
    tf_spec *s = case_spec(chain, d);
    char *yaml = tf_grad(s->workload, &rows[i].o, d);
    CHECK_ROW(&rows[i],
              yaml == NULL && tf_diags_count(d) > 0 && tf_diags_at(d, 0)->code == rows[i].code);
    CHECK_ROW_I64(&rows[i], (int64_t)tf_diags_errors(d), rows[i].errors);
    free(yaml);
    tf_spec_free(s);
    tf_diags_free(d);
  }
}

int main(void) {
  test_known();
  test_drawn();
  test_divided();
  test_subgradients();
  test_asked();
  test_flat();
  test_refused();
  return check_report();
}
