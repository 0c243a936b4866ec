/* Nothing is below what is proved: random machines and workloads (padded, strided, dilated,
 * reversed, outputs longer than inputs, dims of one step, tensors that several read), and of each
 * the mappings that searches meet, held against every bound.  What is touched is held against a
 * count of every point. test_below [CASES [SEED]] */
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "tests/unit/case.h"
#include "tileflow/tileflow.h"

static int pick(tf_rng *r, int lo, int hi) {
  return lo + (int)tf_rng_below(r, (uint32_t)(hi - lo + 1));
}

/* ---- machines -------------------------------------------------------------------------------- */
/* units: 1, or what the meshes give. */
static void draw_arch(tf_rng *r, bool alone, char *out, size_t size) {
  static const char *const overlaps[] = {"perfect", "double-buffer", "none"};
  int n = pick(r, 1, 4);
  int at = snprintf(out, size, "architecture:\n  name: a\n  overlap: %s\n  memories:\n",
                    overlaps[pick(r, 0, 2)]);
  for (int l = 0; l < n; l++) {
    at += snprintf(out + at, size - (size_t)at, "  - {name: M%d", l);
    if (l)
      at +=
          snprintf(out + at, size - (size_t)at, ", capacity: %d", pick(r, 2, 16) << pick(r, 0, 3));
    if (l && !alone)
      at += snprintf(out + at, size - (size_t)at, ", mesh: [%d, %d]", pick(r, 1, 2), pick(r, 1, 2));
    int ports = pick(r, 0, 3);
    if (ports == 1) at += snprintf(out + at, size - (size_t)at, ", bandwidth: %d", pick(r, 1, 4));
    if (ports == 2)
      at += snprintf(out + at, size - (size_t)at, ", bandwidth: {read: %d, write: %d}",
                     pick(r, 1, 4), pick(r, 1, 4));
    if (l && !pick(r, 0, 3))
      at += snprintf(out + at, size - (size_t)at, ", network: {multicast: false, reduce: %s}",
                     pick(r, 0, 1) ? "true" : "false");
    if (!pick(r, 0, 3))
      at += snprintf(out + at, size - (size_t)at, ", leakage: %d pJ", pick(r, 1, 30));
    at += snprintf(out + at, size - (size_t)at, "}\n");
  }
  at += snprintf(out + at, size - (size_t)at,
                 "  compute:\n"
                 "  - {name: u, ops: [mac, add, sub, mul, div, max, exp], below: M%d, mesh: [%d, "
                 "%d], pipeline: %d}\n",
                 n - 1, alone ? 1 : pick(r, 1, 3), alone ? 1 : pick(r, 1, 2),
                 pick(r, 0, 1) * pick(r, 1, 20));
  if (!alone && !pick(r, 0, 2))
    snprintf(out + at, size - (size_t)at, "  - {name: v, ops: [mac], below: M%d, rate: 2}\n",
             pick(r, 0, n - 1));
}

/* ---- workloads ------------------------------------------------------------------------------ */
/* An index of one or two dims, with a stride, a dilation, a sign, a shift. */
static void draw_index(tf_rng *r, const char *p, const char *q, char *out, size_t size) {
  int a = pick(r, 1, 3), b = pick(r, 1, 3), c = pick(r, -2, 2);
  const char *sign = pick(r, 0, 5) ? "" : "-";
  if (q && pick(r, 0, 5))
    snprintf(out, size, "%s%d*%s%s%d*%s+%d", sign, a, p, pick(r, 0, 5) ? "+" : "-", b, q, c);
  else
    snprintf(out, size, "%s%d*%s+%d", sign, a, p, c);
}

/* How much every reading may lie outside. */
static int draw_pad(tf_rng *r) { return pick(r, 0, 2) ? pick(r, 1, 4) : 0; }

/* Whether a dim of one letter stands in the ops. */
static bool is_used(const char *ops, char dim) {
  for (const char *p = strstr(ops, "ops:") + 4; *p; p++)
    if (*p == dim && strchr("[,*+- ", p[-1]) && strchr("],*+- ", p[1])) return true;
  return false;
}

static void draw_work(tf_rng *r, char *out, size_t size) {
  char i[40], j[40], ops[500];
  draw_index(r, "p", "r", i, sizeof i);
  draw_index(r, "x", "q", j, sizeof j);
  int n = pick(r, 0, 9), pad = draw_pad(r), pad2 = draw_pad(r);
  static const char *const texts[] = {
      "  tensors: {I: {pad: [%d]}}\n  ops: ['O[p] += I[%s] * W[r]']\n",
      "  tensors: {I: {pad: [%d, 0]}}\n  ops: ['O[k,p] += I[%s, c] * W[k,r,c]']\n",
      "  tensors: {I: {pad: [%d]}}\n  ops: ['O[p,k] += I[%s] * I[p] * W[r,k]']\n",
      "  tensors: {I: {pad: [%d, %d]}}\n  ops: ['O[p,x] += I[%s, %s] * W[r,q]']\n",
      "  tensors: {I: {pad: [%d]}, Y: {pad: [%d]}}\n"
      "  ops: ['Y[p] += I[%s] * W[r]', 'O[x] += Y[%s] * V[q]']\n",
      "  tensors: {I: {pad: [0, %d]}, Y: {pad: [0, %d]}}\n"
      "  ops: ['Y[k,p] += I[c, %s] * W[k,c,r]', 'O[x,c] += Y[k, %s] * V[c,k,q]']\n",
      "  tensors: {I: {pad: [%d]}}\n  ops: ['Y[p] += I[%s] * I[2*r+1]', 'O[p] = Y[p] * I[p]']\n",
      "  ops: ['C[p,x] += A[p,k] * B[2*k+1,x]', 'E[p,c] += C[p,x] * D[x,c]']\n",
      "  ops: ['S[p,x] += Q[p,k] * K[x,k]', 'X[p] max= S[p,x]', 'F[p,x] = exp(S[p,x] - X[p])', "
      "'Z[p] += F[p,x]', 'P[p,x] = F[p,x] / Z[p]', 'O[p,c] += P[p,x] * V[x,c]']\n",
      "  ops: ['C[p,k] += A[p,p] * B[x,k] * G[p+x,x]']\n",
  };
  if (n == 3)
    snprintf(ops, sizeof ops, texts[n], pad, pad2, i, j);
  else if (n == 4 || n == 5)
    snprintf(ops, sizeof ops, texts[n], pad, pad2 + 4, i, j);
  else if (n < 7)
    snprintf(ops, sizeof ops, texts[n], pad, i);
  else
    snprintf(ops, sizeof ops, "%s", texts[n]);
  int at = snprintf(out, size, "workload:\n  name: w\n  dims: {");
  for (int k = 0, some = 0; k < 6; k++) {
    int extent = pick(r, 1, "644535"[k] - '0');
    if (is_used(ops, "pqrkcx"[k]))
      at += snprintf(out + at, size - (size_t)at, "%s%c: %d", some++ ? ", " : "", "pqrkcx"[k],
                     extent);
  }
  snprintf(out + at, size - (size_t)at, "}\n%s", ops);
}

/* ---- every point ---------------------------------------------------------------------------- */
enum { MOST_TOUCHED = 1 << 14 };

typedef struct {
  const tf_workload *wl;
  unsigned char *mark[16]; /* [tensor] elements: needed of what ops make, read of inputs */
} marks;

/* The element that a reference reads at a point; -1: outside. */
static int64_t element(const tf_workload *wl, const tf_ref *ref, const int64_t *at) {
  const tf_tensor *t = &wl->tensors[ref->tensor];
  int64_t flat = 0;
  for (int r = 0; r < t->rank; r++) {
    int64_t x = ref->index[r].c;
    for (int k = 0; k < ref->index[r].n_terms; k++)
      x += ref->index[r].terms[k].coef * at[ref->index[r].terms[k].dim];
    if (x < t->lo[r] || x >= t->lo[r] + t->extent[r]) return -1;
    flat = flat * t->extent[r] + x - t->lo[r];
  }
  return flat;
}

static void mark_reads(marks *m, const tf_op *op) {
  int64_t at[64] = {0};
  for (bool more = true; more;) {
    int64_t made = 0;
    for (int r = 0; r < op->n_out_dims; r++)
      made = made * m->wl->tensors[op->out].extent[r] + at[op->dims[r]];
    for (int k = 0; k < op->n_reads && m->mark[op->out][made]; k++) {
      int64_t e = element(m->wl, &op->reads[k], at);
      if (e >= 0) m->mark[op->reads[k].tensor][e] = 1;
    }
    more = false;
    for (int d = op->n_dims - 1; d >= 0 && !more; d--) {
      more = ++at[op->dims[d]] < m->wl->dims[op->dims[d]].extent;
      if (!more) at[op->dims[d]] = 0;
    }
  }
}

/* What is touched of each input, exactly; a chain's bound may be lower. */
static void check_touched(const tf_workload *wl, const char *text) {
  marks m = {.wl = wl};
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    m.mark[z] = calloc(1, MOST_TOUCHED);
    if (t->producer >= 0 && !t->n_consumers) memset(m.mark[z], 1, MOST_TOUCHED);
  }
  for (int k = wl->n_ops - 1; k >= 0; k--)
    mark_reads(&m, &wl->ops[wl->topo[k]]);
  for (int z = 0; z < wl->n_tensors; z++) {
    int64_t words = 0, all = 0;
    for (int e = 0; e < MOST_TOUCHED; e++)
      words += m.mark[z][e];
    bool ok = wl->tensors[z].producer >= 0 || (CHECK(tf_bounds_input(wl, z, &all)) &&
                                               (wl->n_ops > 1 ? all <= words : all == words));
    if (!CHECK(ok))
      printf("%s%s: %d touched, %d said\n", text, wl->tensors[z].name, (int)words, (int)all);
  }
  for (int z = 0; z < wl->n_tensors; z++)
    free(m.mark[z]);
}

/* ---- mappings ------------------------------------------------------------------------------- */
typedef struct {
  const tf_spec *spec;
  tf_bounds bounds;
  tf_bound_slope *nested; /* of machines with one unit; NULL: others */
  int mappings, tight;    /* met, and of these how many at the bound of their own words on chip */
} machine;

static bool below(double value, double bound) { return value < bound * (1 - 1e-9); }

/* One mapping against every bound; the words on chip are its own, not the machine's. */
static bool check_mapping(machine *m, const char *text, tf_diags *d) {
  const tf_arch *a = m->spec->arch;
  const tf_workload *wl = m->spec->workload;
  tf_tree *tree = tf_tree_parse(text, (tf_loc){0}, a, wl, d);
  tf_model *model = tree ? tf_model_new(tree, d) : NULL;
  tf_result r;
  bool ok = CHECK(model && tf_model_eval(model, NULL, &r) && r.feasible);
  if (ok) {
    double traffic = 0, held = 0;
    for (int z = 0; z < wl->n_tensors; z++)
      traffic += (double)(r.counts[z].read + r.counts[z].update);
    for (int l = 1; l < a->n_memories; l++)
      held += (double)r.levels[l].peak * (double)r.levels[l].instances;
    double phases = tf_slope_bound(wl, held + tf_slope_hand(a, wl)),
           nested = m->nested ? tf_bound_at(m->nested, held) : 0;
    bool compared = CHECK(!below(r.cycles, m->bounds.cycles)) &&
                    CHECK(!below(r.energy_pj, m->bounds.energy_pj));
    ok = compared && CHECK(!below(traffic, (double)m->bounds.traffic_words)) &&
         CHECK(!below(traffic, phases)) && CHECK(!below(traffic, nested));
    if (!ok)
      printf("%g cycles, at least %g; %g pJ, %g; %g words, %g, with %g on chip %g by phases, %g "
             "nested\n"
             "%s",
             r.cycles, m->bounds.cycles, r.energy_pj, m->bounds.energy_pj, traffic,
             (double)m->bounds.traffic_words, held, phases, nested, text);
    m->mappings++;
    m->tight += traffic <= fmax(phases, nested) * (1 + 1e-9);
  }
  tf_model_free(model);
  tf_tree_free(tree);
  return ok;
}

static bool check_search(machine *m, tf_objective objective, const char *strategy, int evals,
                         tf_diags *d) {
  tf_search_opts o = {.strategy = strategy,
                      .objective = objective,
                      .budget.seed = (uint64_t)evals,
                      .budget.threads = 1,
                      .budget.max_evals = evals,
                      .variants = 20};
  tf_search_result *r = tf_search_run(m->spec->arch, m->spec->workload, NULL, &o, d);
  bool ok = true;
  for (int i = 0; r && i < r->n_best && ok; i++)
    ok = check_mapping(m, r->best[i].text, d);
  for (int i = 0; r && i < r->n_pareto && ok; i++)
    ok = check_mapping(m, r->pareto[i].text, d);
  for (int i = 0; r && i < r->n_variants && i < 20 && ok; i++)
    ok = check_mapping(m, r->variants[i].text, d);
  tf_search_free(r);
  return ok;
}

/* What the solver proves, no search may beat where it holds for every mapping. */
static bool check_solver(machine *m, tf_objective objective, tf_diags *d) {
  tf_solve_opts o = {
      .objective = objective, .budget.threads = 1, .budget.max_evals = 600, .alone = true};
  tf_solve_result *r = tf_solve_exact(m->spec->arch, m->spec->workload, &o, d);
  bool ok = true;
  if (r && r->tree) {
    char *text = tf_tree_text(r->tree);
    ok = CHECK(!below(r->value, r->bound)) && check_mapping(m, text, d);
    CHECK(!r->proved || r->value <= r->bound * (1 + 1e-9));
    free(text);
  }
  tf_solve_free(r);
  return ok;
}

static void check_case(tf_rng *rng, int i, int evals, int *mappings, int *tight) {
  static const char *const strategies[] = {"ga-mcts", "random"};
  char arch[1200], work[900];
  bool alone = tf_rng_below(rng, 2);
  draw_arch(rng, alone, arch, sizeof arch);
  draw_work(rng, work, sizeof work);
  tf_text texts[2] = {{"a.yaml", arch, strlen(arch)}, {"w.yaml", work, strlen(work)}};
  tf_diags *d = tf_diags_new();
  tf_spec *s = tf_spec_read_texts(texts, 2, NULL, 0,
                                  d); /* an input all in the padding, or the like, is refused */
  if (s) {
    machine m = {.spec = s,
                 .nested = alone ? tf_bound_slope_of(s->workload, s->arch->word_bits, d) : NULL};
    tf_objective objective =
        (tf_objective[]){TF_LATENCY, TF_ENERGY, TF_EDP, TF_TRAFFIC, TF_TRAFFIC}[pick(rng, 0, 4)];
    check_touched(s->workload, work);
    bool ok =
        CHECK(tf_bounds_on_chip(s->arch, s->workload, &m.bounds, d)) && CHECK(!alone || m.nested);
    ok = ok && check_search(&m, objective, strategies[tf_rng_below(rng, 2)], evals, d);
    if (ok && tf_rng_below(rng, 4) == 0) ok = check_solver(&m, objective, d);
    if (!ok) printf("case %d:\n%s%s", i, arch, work);
    *mappings += m.mappings;
    *tight += m.tight;
    tf_bound_slope_free(m.nested);
  }
  tf_spec_free(s);
  tf_diags_free(d);
}

/* ---- what was once proved and was not so ---------------------------------------------------- */
typedef struct {
  int line;
  const char *work;
  int64_t least; /* words that pass at least, counted by hand */
  double cycles; /* points, at one a cycle */
} known;

static const known knowns[] = {
    /* reads at -1, 2, 5 and 8 of a tensor of 0 .. 7 (V3) */
    {__LINE__, "dims: {p: 4, r: 1}, ops: ['O[p] += I[3*p+r-1] * W[r]'], tensors: {I: {pad: [1]}}",
     2 + 1 + 4, 4},
    /* three inputs, five outputs (V4) */
    {__LINE__, "dims: {p: 5, r: 3}, ops: ['O[p] += I[p+r-2] * W[r]'], tensors: {I: {pad: [2]}}",
     3 + 3 + 5, 15},
    /* every second row of C is needed, and so every second of A */
    {__LINE__, "dims: {m: 9, k: 4, x: 5}, ops: ['C[m] += A[m,k]', 'E[x] = exp(C[2*x])']", 20 + 5,
     25},
    /* one odd row in two of B */
    {__LINE__, "dims: {m: 2, n: 3, k: 4}, ops: ['C[m,n] += A[m,k] * B[2*k+1,n]']", 8 + 12 + 6, 24},
    /* two references to A, six apart: 0 .. 3 and 6 .. 9 */
    {__LINE__, "dims: {m: 4}, ops: ['C[m] = A[m] + A[m+6]']", 8 + 4, 4},
    /* a diagonal */
    {__LINE__, "dims: {m: 4, k: 3}, ops: ['C[m,k] += A[m,m] * B[k]']", 4 + 3 + 12, 12},
};

static void check_known(const known *k) {
  char text[700];
  snprintf(text, sizeof text,
           "architecture: {name: a, memories: [{name: M}, {name: L, capacity: 64}], compute: "
           "[{name: u, ops: [mac, exp, add], below: L}]}\n"
           "workload: {%s}\n",
           k->work);
  tf_text t = {"text", text, strlen(text)};
  tf_diags *d = tf_diags_new();
  tf_spec *s = tf_spec_read_texts(&t, 1, NULL, 0, d);
  tf_bounds b;
  if (CHECK_ROW(k, s && tf_bounds_of(s->arch, s->workload, &b))) {
    CHECK_ROW_I64(k, b.traffic_words, k->least);
    CHECK_ROW_NEAR(k, b.cycles, k->cycles, 1e-12);
    const tf_slope_opts o = {
        .word_bits = 16, .budget.max_evals = 300, .budget.threads = 1, .hand = 12};
    tf_slope *p = tf_slope_of(s->workload, &o, d);
    for (int i = 0; CHECK_ROW(k, p != NULL) && i < p->n; i++)
      CHECK_ROW(k, p->at[i].bound <= p->at[i].attained && p->at[i].all_units <= p->at[i].bound &&
                       p->at[i].all_units >= (double)k->least);
    tf_slope_free(p);
  }
  tf_spec_free(s);
  tf_diags_free(d);
}

/* ---- pipelines ------------------------------------------------------------------------------ */
/* Of each op, once: one product meets the bound, and so do two in a row. */
static const struct {
  int line;
  const char *overlap, *ops;
  double bound, best;
} fills[] = {
    {__LINE__, "double-buffer", "'C[m,n] += A[m,k] * B[k,n]'", 24 + 7, 24 + 7},
    {__LINE__, "none", "'C[m,n] += A[m,k] * B[k,n]'", 24 + 7, 24 + 7},
    {__LINE__, "perfect", "'C[m,n] += A[m,k] * B[k,n]'", 24, 24},
    {__LINE__, "none", "'C[m,n] += A[m,k] * B[k,n]', 'E[m,l] += C[m,n] * D[n,l]'", 24 + 6 + 2 * 7,
     24 + 6 + 2 * 7},
};

static void check_fills(void) {
  for (size_t i = 0; i < sizeof fills / sizeof fills[0]; i++) {
    char text[700];
    tf_diags *d = tf_diags_new();
    snprintf(text, sizeof text,
             "architecture: {name: a, overlap: %s, memories: [{name: M}, {name: L}], compute: "
             "[{name: u, ops: [mac], below: L, pipeline: 7}]}\n"
             "workload: {dims: {m: 2, n: 3, k: 4%s}, ops: [%s]}\n",
             fills[i].overlap, strchr(fills[i].ops, 'E') ? ", l: 1" : "", fills[i].ops);
    tf_spec *s = case_spec(text, d);
    tf_bounds b;
    CHECK_ROW(&fills[i], s && tf_bounds_of(s->arch, s->workload, &b));
    CHECK_ROW_NEAR(&fills[i], b.cycles, fills[i].bound, 1e-12);
    const tf_search_opts o = {.objective = TF_LATENCY,
                              .budget = {.seed = 1, .threads = 1, .max_evals = 3000}};
    tf_search_result *r = s ? tf_search_run(s->arch, s->workload, NULL, &o, d) : NULL;
    if (CHECK_ROW(&fills[i], r && r->n_best))
      CHECK_ROW_NEAR(&fills[i], r->best[0].value, fills[i].best, 1e-12);
    tf_search_free(r);
    tf_spec_free(s);
    tf_diags_free(d);
  }
}

/* ---- first loads ---------------------------------------------------------------------------- */
/* An attention that loads a quarter of K before its first product, and V, but for 34 cycles of it,
 * behind the last of its scores: no bound may have all of K, or of V, arrive before the units begin
 * (docs/HOWTO-bound.md). */
static const char quarters[] =
    "DRAM spatial m=2@x m=2@y\n  Seq keep S@L1\n    DRAM for a=4\n"
    "      L1 for m=4 l=64 a=2 spatial m=32@x l=4@y a=8@y\n        L0 bypass S\n"
    "          op S\n    DRAM for m=2\n      L1 for m=16 bypass O\n        Pipe\n          Seq\n";
static const char product[] =
    "          L1 for n=16 spatial n=2@x l=16@x n=2@y l=16@y\n            L0 for m=4 bypass O\n"
    "              op O\n";

static void check_first_loads(void) {
  static const char *const paths[] = {"arch-specs/edge.yaml", "workloads/attention/g10.yaml"};
  char text[1500];
  int n = snprintf(text, sizeof text, "%s", quarters);
  for (const char *op = "XDEZP"; *op; op++)
    n += snprintf(text + n, sizeof text - (size_t)n,
                  "            L1 for l=11 spatial m=4@x l=8@x l=3@y\n              op %c\n", *op);
  snprintf(text + n, sizeof text - (size_t)n, "%s", product);
  tf_diags *d = tf_diags_new();
  tf_spec *s = tf_spec_read(paths, 2, NULL, 0, d);
  tf_tree *t = s ? tf_tree_parse(text, (tf_loc){0}, s->arch, s->workload, d) : NULL;
  tf_model *m = t ? tf_model_new(t, d) : NULL;
  tf_bounds b;
  tf_result r;
  const double products = 2.0 * 512 * 256 * 64 / 4096, words_of_k = 256 * 64;
  if (CHECK(m && tf_model_eval(m, NULL, &r) && r.feasible &&
            tf_bounds_of(s->arch, s->workload, &b))) {
    CHECK(r.cycles >= b.cycles && b.cycles >= products);
    CHECK(r.cycles < products + words_of_k / 30);
  }
  tf_model_free(m);
  tf_tree_free(t);
  tf_spec_free(s);
  tf_diags_free(d);
}

/* Products whose first load and last store count: no mapping takes less, and the best found takes
 * just that of some. */
enum { PRODUCTS = 24, OF_A_PRODUCT = 1500, EXACT = 1 };

static bool check_product(tf_rng *r) {
  char text[900];
  snprintf(
      text, sizeof text,
      "architecture:\n  name: a\n  overlap: %s\n  memories:\n  - {name: M, bandwidth: %d}\n"
      "  - {name: L, mesh: [%d, %d], capacity: %d}\n  - {name: R, mesh: [%d, %d], capacity: %d}\n"
      "  compute: [{name: u, ops: [mac], below: R}]\nworkload:\n"
      "  dims: {m: %d, n: %d, k: %d}\n  ops: ['C[m,n] += A[m,k] * B[k,n]']\n",
      pick(r, 0, 3) ? "double-buffer" : "none", pick(r, 4, 40), pick(r, 1, 2), pick(r, 1, 2),
      pick(r, 3, 90), pick(r, 1, 3), pick(r, 1, 3), pick(r, 3, 8), pick(r, 1, 19), pick(r, 1, 19),
      pick(r, 1, 19));
  tf_diags *d = tf_diags_new();
  tf_spec *s = case_spec(text, d);
  machine m = {.spec = s};
  bool exact = false;
  if (CHECK(s && tf_bounds_of(s->arch, s->workload, &m.bounds))) {
    const double whole = floor(m.bounds.cycles);
    const tf_search_opts o = {.objective = TF_LATENCY,
                              .goal = m.bounds.cycles,
                              .budget = {.seed = 1, .threads = 1, .max_evals = 8 * OF_A_PRODUCT}};
    tf_search_result *f = tf_search_run(s->arch, s->workload, NULL, &o, d);
    exact = f && f->n_best && whole < m.bounds.cycles &&
            f->best[0].value <= m.bounds.cycles * (1 + 1e-12);
    tf_search_free(f);
    if (!check_search(&m, TF_LATENCY, "random", OF_A_PRODUCT, d)) printf("%s", text);
  }
  tf_spec_free(s);
  tf_diags_free(d);
  return exact;
}

static void check_products(tf_rng *r, bool some_exact) {
  int exact = 0;
  for (int i = 0; i < PRODUCTS; i++)
    exact += check_product(r);
  CHECK(!some_exact || exact >= EXACT);
}

/* ---- several ops ---------------------------------------------------------------------------- */
/* Few ops on two kinds of unit, with little and much memory: what is loaded first, and stored last.
 * Nothing that the search or the solver's own start finds is below the bound, and some of it takes
 * just that. */
enum { OF_FEWS = 3000, EXACT_FEWS = 1 };

static const char *const fews[] = {
    "'C[m,n] += A[m,k] * B[k,n]', 'E[m,l] += C[m,n] * D[n,l]'",
    "'C[m,n] += A[m,k] * B[k,n]', 'E[m,l] += C[m,n] * D[n,l]', 'G[m,o] += E[m,l] * F[l,o]'",
    "'C[m,n] += A[m,k] * B[k,n]', 'G[m,l] += F[m,k] * D[k,l]', 'E[n,l] += C[m,n] * G[m,l]'",
    "'C[m,n] += A[m,k] * B[k,n]', 'X[m,n] = exp(C[m,n])', 'E[m,l] += X[m,n] * D[n,l]'",
    "'C[m,n] += A[m,k] * B[k,n]', 'E[m,l] += A[m,k] * D[k,l]'",
    ("'S[m,n] += A[m,k] * B[n,k]', 'X[m] max= S[m,n]', 'E[m,n] = exp(S[m,n] - X[m])', 'Z[m] += "
     "E[m,n]', 'P[m,n] = E[m,n] / Z[m]', 'O[m,l] += P[m,n] * V[n,l]'"),
    "'C[k,m] += I[n,m+r-1] * W[k,n,r]', 'E[l,m] += C[k,m] * D[l,k]'",
    "'C[k,m] += I[n,m+r-1] * W[k,n,r]', 'E[l,m] += C[k,m+r-1] * D[l,k,r]'",
    "'C[k,m] += I[n,m+r-1] * W[k,n,r]'",
    "'C[k,m] += I[n,2*m+r-1] * W[k,n,r]'",
};

static void draw_few(tf_rng *r, char *text, size_t size) {
  char ops[400];
  snprintf(ops, sizeof ops, "ops: [%s]", fews[pick(r, 0, (int)(sizeof fews / sizeof *fews) - 1)]);
  int at = snprintf(
      text, size,
      "architecture:\n  name: a\n  overlap: %s\n  memories:\n  - {name: M, bandwidth: %d}\n"
      "  - {name: L, mesh: [%d, %d], capacity: %d}\n  - {name: R, mesh: [%d, %d], capacity: %d}\n"
      "  compute:\n  - {name: u, ops: [mac], below: R, pipeline: %d}\n"
      "  - {name: v, ops: [add, sub, div, max, exp], below: L, mesh: [%d, 1]}\n"
      "workload:\n  dims: {",
      pick(r, 0, 3) ? "double-buffer" : "none", pick(r, 1, 12), pick(r, 1, 2), pick(r, 1, 2),
      pick(r, 0, 1) ? 2000 : pick(r, 12, 60), pick(r, 1, 4), pick(r, 1, 4), pick(r, 3, 8),
      pick(r, 0, 1) * pick(r, 0, 5), pick(r, 1, 8));
  for (const char *dim = "mnklo", *first = dim; *dim; dim++) {
    const int extent = pick(r, 1, 12);
    if (is_used(ops, *dim))
      at +=
          snprintf(text + at, size - (size_t)at, "%s%c: %d", dim > first ? ", " : "", *dim, extent);
  }
  if (is_used(ops, 'r')) at += snprintf(text + at, size - (size_t)at, ", r: %d", pick(r, 1, 3));
  at += snprintf(text + at, size - (size_t)at, "}\n");
  if (is_used(ops, 'r'))
    at += snprintf(text + at, size - (size_t)at, "  tensors: {I: {pad: [0, 1]}%s}\n",
                   strstr(ops, "C[k,m+r") ? ", C: {pad: [0, 1]}" : "");
  snprintf(text + at, size - (size_t)at, "  %s\n", ops);
}

/* Whether it is exact where ends count. */
static bool check_few(tf_rng *r) {
  char text[1500];
  draw_few(r, text, sizeof text);
  tf_diags *d = tf_diags_new();
  tf_spec *s = case_spec(text, d);
  machine m = {.spec = s};
  bool exact = false;
  if (s && CHECK(tf_bounds_on_chip(s->arch, s->workload, &m.bounds,
                                   d))) { /* an input all in the padding is refused */
    const tf_solve_opts o = {.objective = TF_LATENCY,
                             .budget = {.seed = 1, .threads = 1, .max_evals = OF_FEWS}};
    tf_solve_result *f = tf_solve_exact(s->arch, s->workload, &o, d);
    bool ok = CHECK(!f || !f->tree || !below(f->value, m.bounds.cycles));
    exact = f && f->proved && floor(m.bounds.cycles) < m.bounds.cycles;
    tf_solve_free(f);
    ok &= check_search(&m, TF_LATENCY, pick(r, 0, 1) ? "random" : "ga-mcts", OF_FEWS / 2, d);
    if (!ok) printf("%s", text);
  }
  tf_spec_free(s);
  tf_diags_free(d);
  return exact;
}

static void check_fews(tf_rng *r, int cases, bool some_exact) {
  int exact = 0;
  for (int i = 0; i < cases && check_failed < 20; i++)
    exact += check_few(r);
  CHECK(!some_exact || exact >= EXACT_FEWS);
  if (!some_exact) printf("%d few ops, %d of them at the bound\n", cases, exact);
}

#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__)
enum { CASES = 120, EVALS = 120, FEWS = 60 };
#else
enum { CASES = 40, EVALS = 60, FEWS = 10 }; /* a debug build takes its time */
#endif

int main(int argc, char **argv) {
  int cases = argc > 1 ? atoi(argv[1]) : CASES, mappings = 0, tight = 0;
  tf_rng r = tf_rng_new(argc > 2 ? strtoull(argv[2], NULL, 10) : 1, 1);
  for (size_t i = 0; i < sizeof knowns / sizeof knowns[0]; i++)
    check_known(&knowns[i]);
  check_fills();
  check_first_loads();
  check_products(&r, argc < 3); /* of other seeds none may be */
  check_fews(&r, argc > 1 ? cases : FEWS, argc < 2 && FEWS > CASES / 3);
  for (int i = 0; i < cases && check_failed < 20; i++)
    check_case(&r, i, EVALS, &mappings, &tight);
  CHECK(mappings > 2 * cases);
  CHECK(tight * 50 > mappings); /* some are at the bound, or it would be idle talk */
  if (argc > 1) printf("%d mappings, %d of them at a bound for what they hold\n", mappings, tight);
  return check_report();
}
