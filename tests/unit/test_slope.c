/* test_slope [RANDOM [SEED]]
 * The bound on words for a capacity, held against all executions of tiny programs, one word and one
 * point at a time: a shortest path through the states of what is on chip and what is done.  And
 * against mappings. */
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "tests/unit/case.h"
#include "tileflow/tileflow.h"

enum { MOST_BITS = 26, MAX_ELEMENTS = 20, MAX_POINTS = 16, MAX_READS = 4 };

/* Points of the last op: each updates one element and reads others.  Intermediates are made of one
 * point each, anew wherever its inputs are at hand. */
typedef struct {
  int n_elements, n_points;
  bool output[MAX_ELEMENTS];
  int n_from[MAX_ELEMENTS], from[MAX_ELEMENTS][MAX_READS]; /* of an intermediate: what makes it */
  int out[MAX_POINTS], n_reads[MAX_POINTS], read[MAX_POINTS][MAX_READS];
} program;

/* -1: it lies in the padding. */
static int element(const tf_workload *wl, const int *first, const tf_ref *ref, const int64_t *at) {
  const tf_tensor *t = &wl->tensors[ref->tensor];
  int64_t flat = 0;
  for (int r = 0; r < t->rank; r++) {
    int64_t x = ref->index[r].c - t->lo[r];
    for (int k = 0; k < ref->index[r].n_terms; k++)
      x += ref->index[r].terms[k].coef * at[ref->index[r].terms[k].dim];
    if (x < 0 || x >= t->extent[r]) return -1;
    flat = flat * t->extent[r] + x;
  }
  return first[ref->tensor] + (int)flat;
}

static int made(const tf_workload *wl, const int *first, const tf_op *op, const int64_t *at) {
  int64_t flat = 0;
  for (int r = 0; r < op->n_out_dims; r++)
    flat = flat * wl->tensors[op->out].extent[r] + at[op->dims[r]];
  return first[op->out] + (int)flat;
}

static program program_of(const tf_workload *wl) {
  program p = {.n_elements = 0};
  int first[8];
  for (int z = 0; z < wl->n_tensors; z++) {
    int64_t n = 1;
    for (int r = 0; r < wl->tensors[z].rank; r++)
      n *= wl->tensors[z].extent[r];
    first[z] = p.n_elements;
    for (int64_t i = 0; i < n; i++)
      p.output[p.n_elements++] = wl->tensors[z].producer >= 0 && !wl->tensors[z].n_consumers;
  }
  for (int o = 0; o < wl->n_ops; o++) {
    const tf_op *op = &wl->ops[o];
    bool last = !wl->tensors[op->out].n_consumers;
    int64_t at[64] = {0};
    for (bool more = true; more;) {
      int e = made(wl, first, op, at), i = p.n_points;
      for (int k = 0; k < op->n_reads; k++) {
        int f = element(wl, first, &op->reads[k], at);
        if (f < 0) continue;
        if (last)
          p.read[i][p.n_reads[i]++] = f;
        else
          p.from[e][p.n_from[e]++] = f;
      }
      if (last) p.out[p.n_points++] = e;
      more = false;
      for (int d = op->n_dims - 1; d >= 0 && !more; d--) {
        more = ++at[op->dims[d]] < wl->dims[op->dims[d]].extent;
        if (!more) at[op->dims[d]] = 0;
      }
    }
  }
  return p;
}

/* ---- the shortest path -------------------------------------------------------------- */
/* A state: points done, elements on chip, intermediates written to memory.  Words only grow:
 * levels, one after another. */
typedef struct {
  const program *p;
  int capacity, n_mid, mid[MAX_ELEMENTS];
  unsigned char *seen;
} walk;

static int bits(uint32_t x) { return __builtin_popcount(x); }

static uint32_t pack(const walk *w, uint32_t done, uint32_t chip, uint32_t spilled) {
  return (spilled << w->p->n_elements | chip) << w->p->n_points | done;
}

static bool touched(const program *p, uint32_t done, int e) {
  for (int i = 0; i < p->n_points; i++)
    if (done >> i & 1 && p->out[i] == e) return true;
  return false;
}

/* Words to have an element at hand for one use, without keeping it: on chip none, else one to read
 * it; an intermediate may be made of its parts. */
static int words_at_hand(const walk *w, uint32_t chip, uint32_t spilled, int e) {
  const program *p = w->p;
  int best = 1, parts = 0;
  if (chip >> e & 1) return 0;
  if (!p->n_from[e]) return 1;
  for (int m = 0; m < w->n_mid; m++)
    if (w->mid[m] == e && !(spilled >> m & 1)) best = 99;
  for (int k = 0; k < p->n_from[e]; k++)
    parts += words_at_hand(w, chip, spilled, p->from[e][k]);
  return parts < best ? parts : best;
}

/* Steps that cost `words`: 0, into this level, 1 into the next, ...; a point may cost several, so
 * each level keeps its own queue. */
enum { MAX_STEP = 8 };
typedef struct {
  uint32_t *at;
  size_t n, room;
} level;

static void put(level *l, uint32_t s) {
  if (l->n == l->room) {
    l->room = l->room ? 2 * l->room : 1024;
    l->at = realloc(l->at, l->room * sizeof *l->at);
  }
  l->at[l->n++] = s;
}

static void step(const walk *w, level *next, uint32_t s) {
  const program *p = w->p;
  uint32_t done = s & ((1u << p->n_points) - 1),
           chip = s >> p->n_points & ((1u << p->n_elements) - 1);
  uint32_t spilled = s >> (p->n_points + p->n_elements);
  for (int e = 0; e < p->n_elements; e++) {
    int mid = -1;
    for (int m = 0; m < w->n_mid; m++)
      if (w->mid[m] == e) mid = m;
    if (chip >> e & 1) { /* given up: an output that has been worked on is written first */
      put(&next[p->output[e] && touched(p, done, e)], pack(w, done, chip & ~(1u << e), spilled));
      if (mid >= 0 && !(spilled >> mid & 1))
        put(&next[1], pack(w, done, chip, spilled | 1u << mid));
    } else if (bits(chip) < w->capacity) { /* taken in */
      int words = p->output[e] ? touched(p, done, e) : words_at_hand(w, chip, spilled, e);
      if (words < MAX_STEP) put(&next[words], pack(w, done, chip | 1u << e, spilled));
    }
  }
  for (int i = 0; i < p->n_points; i++) {
    if (done >> i & 1) continue;
    int e = p->out[i],
        words = chip >> e & 1
                    ? 0
                    : 1 + touched(p, done, e); /* read, if it was met before, and written */
    for (int k = 0; k < p->n_reads[i]; k++)
      words += words_at_hand(w, chip, spilled, p->read[i][k]);
    if (words < MAX_STEP) put(&next[words], pack(w, done | 1u << i, chip, spilled));
  }
}

/* The least words of any execution: outputs still on chip in the end are written. */
static int least(const program *p, int capacity) {
  walk w = {.p = p, .capacity = capacity};
  for (int e = 0; e < p->n_elements; e++)
    if (p->n_from[e]) w.mid[w.n_mid++] = e;
  int all_bits = p->n_points + p->n_elements + w.n_mid, best = 1 << 20;
  if (!CHECK(all_bits <= MOST_BITS)) return 0;
  w.seen = calloc((size_t)1 << all_bits, 1);
  level next[64] = {{NULL, 0, 0}};
  put(&next[0], 0);
  for (int words = 0; words < 64 - MAX_STEP && words < best; words++) {
    for (size_t i = 0; i < next[words].n; i++) {
      uint32_t s = next[words].at[i], done = s & ((1u << p->n_points) - 1);
      if (w.seen[s]) continue;
      w.seen[s] = 1;
      int rest = 0;
      for (int e = 0; e < p->n_elements; e++)
        rest += (s >> (p->n_points + e) & 1) && p->output[e];
      if (done == (1u << p->n_points) - 1 && words + rest < best) best = words + rest;
      step(&w, next + words, s);
    }
  }
  for (int i = 0; i < 64; i++)
    free(next[i].at);
  free(w.seen);
  return best;
}

/* Whether the states of a program are few enough for a walk through all. */
static bool is_small(const tf_workload *wl, int bits) {
  int64_t n = 0;
  for (int z = 0; z < wl->n_tensors; z++) {
    int64_t words = 1;
    for (int r = 0; r < wl->tensors[z].rank; r++)
      words *= wl->tensors[z].extent[r];
    n += words * (wl->tensors[z].producer >= 0 && wl->tensors[z].n_consumers ? 2 : 1);
  }
  for (int o = 0; o < wl->n_ops; o++) {
    int64_t points = wl->tensors[wl->ops[o].out].n_consumers ? 0 : 1;
    for (int k = 0; k < wl->ops[o].n_dims; k++)
      points *= wl->dims[wl->ops[o].dims[k]].extent;
    n += points;
  }
  return n <= bits;
}

/* Capacities 1 .. most.  False where the text is refused (an input all in the padding), or takes
 * more bits for a state. */
static bool check_tiny(const char *text, int most, int bits) {
  tf_diags *d = tf_diags_new();
  tf_spec *s = case_spec(text, d);
  bool walked = s && is_small(s->workload, bits);
  if (walked) {
    program p = program_of(s->workload);
    int before = 1 << 20;
    for (int c = 1; c <= most; c++) {
      int exact = least(&p, c);
      double bound = tf_slope_bound(s->workload, c + tf_slope_operands(s->workload));
      if (!CHECK(bound <= exact))
        printf("%s capacity %d: bound %.0f, an execution takes %d\n", text, c, bound, exact);
      CHECK(exact < 1 << 20 && exact <= before);
      before = exact;
    }
    CHECK(before >= tf_slope_bound(s->workload, INFINITY));
  }
  tf_spec_free(s);
  tf_diags_free(d);
  return walked;
}

/* Convolutions with strides, dilations, signs, shifts and padding: outputs longer than inputs,
 * fewer outputs than taps, reads that leave holes; and what is read of an intermediate with them.
 */
static int pick(tf_rng *r, int lo, int hi) {
  return lo + (int)tf_rng_below(r, (uint32_t)(hi - lo + 1));
}

static void check_random(int cases, uint64_t seed) {
  int walked = 0;
  tf_rng rng = tf_rng_new(seed, 1);
  for (int i = 0; i < cases; i++) {
    int p = pick(&rng, 1, 4), r = pick(&rng, 1, 3), a = pick(&rng, 1, 3), b = pick(&rng, 1, 3),
        c = pick(&rng, -2, 1), pad = pick(&rng, 0, 3);
    char text[400];
    const char *sign = pick(&rng, 0, 3) ? "+" : "-";
    if (pick(&rng, 0, 3))
      snprintf(text, sizeof text,
               "workload:\n  dims: {p: %d, r: %d}\n  tensors: {I: {pad: [%d]}}\n  ops:\n"
               "  - O[p] += I[%d*p%s%d*r+%d] * W[r]\n",
               p, r, pad, a, sign, b, c);
    else
      snprintf(text, sizeof text,
               "workload:\n  dims: {m: %d, k: 2, p: %d}\n  tensors: {C: {pad: [%d]}}\n"
               "  ops:\n  - C[m] += A[m,k]\n  - O[p] = C[%d*p+%d] * D[p]\n",
               pick(&rng, 1, 3), pick(&rng, 1, 3), 12, a, c);
    walked += check_tiny(text, 5, 19);
  }
  CHECK(walked * 3 > cases);
}

/* ---- mappings ------------------------------------------------------------------------- */
static const char *const chains[] = {
    "  - C[m,l,n] += A[m,k] * B[k,l,n]\n",
    "  - O[m,l] += I[k, 2*m + n] * W[l,k,n]\n",
    "  - C[m,l] += A[m,k] * B[k,l]\n  - E[m,n] += C[m,l] * D[l,n]\n",
    ("  - S[m,l] += A[m,k] * B[k,l]\n  - E[m,l] = exp(S[m,l])\n  - Z[m] += E[m,l]\n"
     "  - O[m,n] += E[m,l] * V[l,n]\n"),
    "  - Y[l,m] += I[k, m + n] * W[l,k,n]\n  - Z[p,q] += Y[l, q + n] * U[p,l,n]\n",
};

/* The best that solver and search find on a machine, and its bound; whether they find any. */
static bool check_machine(const char *ops, const int *x, int i) {
  char text[1024];
  int cap1 = 6 + i * 7 % 90, cap2 = 3 + i % 5, mesh = 1 + i % 2, wide = i % 4 ? 2 : 1;
  bool conv = strstr(ops, "q + n") != NULL;
  char q[32]; /* sometimes fewer than Y has: then no mapping makes the rest of it */
  snprintf(q, sizeof q, ", p: 3, q: %d", x[0] - x[3] + 1 - (i % 3 == 0 && x[0] > x[3]));
  snprintf(
      text, sizeof text,
      "architecture:\n  memories:\n  - {name: DRAM}\n  - {name: L1, capacity: %d, mesh: [%d, 1]}\n"
      "  - {name: L0, capacity: %d}\n  compute:\n"
      "  - {name: u, ops: [mac, add, exp], mesh: [%d, %d]}\n"
      "workload:\n  dims: {m: %d, l: %d, k: %d, n: %d%s}\n  ops:\n%s",
      cap1, mesh, cap2, wide, mesh, x[0], x[1], x[2], x[3], conv ? q : "", ops);
  bool found = false;
  tf_diags *d = tf_diags_new();
  tf_spec *s = case_spec(text, d);
  char *said = s ? NULL : tf_diags_text(d);
  if (said) printf("%s", said);
  free(said);
  if (CHECK(s != NULL)) {
    int units = mesh * wide * mesh;
    double capacity = mesh * (cap1 + cap2) + units * tf_slope_operands(s->workload);
    double bound = tf_slope_bound(s->workload, capacity), best = INFINITY;
    tf_solve_opts so = {
        .objective = TF_TRAFFIC, .budget.threads = 1, .budget.max_evals = 3000, .alone = true};
    tf_search_opts go = {
        .objective = TF_TRAFFIC, .budget.threads = 1, .budget.max_evals = 1500, .budget.seed = 1};
    tf_solve_result *r = tf_solve_exact(s->arch, s->workload, &so, d);
    tf_search_result *g = tf_search_run(s->arch, s->workload, NULL, &go, d);
    if (r && r->tree) best = r->value;
    if (g && g->n_best && g->best[0].value < best) best = g->best[0].value;
    found = best < INFINITY;
    tf_bound_slope *p = units == 1 ? tf_bound_slope_of(s->workload, 16, d) : NULL;
    double nested = p ? tf_bound_at(p, mesh * (cap1 + cap2)) : 0;
    if (!CHECK((p || units > 1) && bound <= best && nested <= best))
      printf("%sbound %.0f, of nested loops %.0f, a mapping takes %.0f\n", text, bound, nested,
             best);
    tf_bound_slope_free(p);
    tf_solve_free(r);
    tf_search_free(g);
  }
  tf_spec_free(s);
  tf_diags_free(d);
  return found;
}

static void check_machines(int n) {
  int found = 0;
  for (int i = 0; i < n; i++) {
    const int x[4] = {2 + i % 7, 2 + i * 3 % 5, 1 + i % 4, 1 + i * 5 % (i % 7 < 1 ? 2 : 3)};
    found += check_machine(chains[i % 5], x, i);
  }
  CHECK(found * 10 > 6 * n); /* else nothing was held against the bounds */
}

/* One matrix product: the constants of Smith and van de Geijn; never more with more on chip; and
 * the words of the table. */
static void check_product(void) {
  tf_diags *d = tf_diags_new();
  tf_spec *s = case_spec(
      "workload:\n  dims: {m: 512, l: 512, k: 64}\n  ops:\n  - C[m,l] += A[m,k] * B[k,l]\n", d);
  if (!CHECK(s != NULL)) return;
  double before = INFINITY;
  for (int i = 2; i < 20; i++) {
    double c = ldexp(1, i), bound = tf_slope_bound(s->workload, c),
           known = 2.0 * 512 * 512 * 64 / sqrt(c) - 2 * c;
    CHECK(bound <= before && bound >= 327680);
    CHECK(bound >= 0.98 * known); /* phases have whole words */
    before = bound;
  }
  const tf_slope_opts so = {
      .word_bits = 16, .own = 3000, .budget.max_evals = 20000, .budget.threads = 1};
  tf_slope *p = tf_slope_of(s->workload, &so, d);
  if (CHECK(p && p->n > 5)) {
    bool own = false;
    for (int i = 0; i < p->n; i++) {
      own |= p->at[i].capacity == 3000;
      CHECK(p->at[i].attained >= p->at[i].bound && p->at[i].attained <= 1.8 * p->at[i].bound);
      CHECK(i == 0 || (p->at[i].attained <= p->at[i - 1].attained &&
                       p->at[i].capacity > p->at[i - 1].capacity));
    }
    CHECK(own);
    CHECK(p->at[p->n - 1].attained <= 327680 && p->compulsory >= 327680);
  }
  tf_slope_free(p);
  tf_spec_free(s);
  tf_diags_free(d);
}

/* Ops beside it, over 70 dims that come before its own, move words of their own alone. */
static void check_beside(const char *dims, const char *ops) {
  char *text;
  double bound[2][8], once = 0;
  for (int many = 0; many < 2; many++) {
    FILE *f = case_text(&text);
    fprintf(f, "workload:\n  dims: {");
    for (int i = 0; i < 70 && many; i++)
      fprintf(f, "z%d: 1, ", i);
    fprintf(f, "%s}\n  ops:\n", dims);
    for (int i = 0; i < 70 && many; i++)
      fprintf(f, "  - F%d[z%d] = exp(G%d[z%d])\n", i, i, i, i);
    fprintf(f, "%s", ops);
    fclose(f);
    tf_diags *d = tf_diags_new();
    tf_spec *s = case_spec(text, d);
    if (CHECK(s != NULL)) {
      once = tf_slope_bound(s->workload, INFINITY);
      for (int i = 0; i < 8; i++)
        bound[many][i] = tf_slope_bound(s->workload, (double)(16 << 2 * i));
    }
    tf_spec_free(s);
    tf_diags_free(d);
    free(text);
  }
  CHECK(bound[0][0] > once);
  for (int i = 0; i < 8; i++)
    CHECK(bound[1][i] == fmax(bound[0][i], once));
}

static void check_many_dims(void) {
  check_beside("m: 512, l: 512, k: 512", "  - C[m,l] += A[m,k] * B[k,l]\n");
  check_beside("m: 256, l: 128, k: 64, n: 64",
               "  - C[m,l] += A[m,k] * B[k,l]\n  - D[m,l] = exp(C[m,l])\n"
               "  - E[m,n] += D[m,l] * V[l,n]\n");
  check_beside("o: 64, c: 32, p: 28, q: 28, r: 3, s: 3",
               "  - O[o,p,q] += I[c,p + r - 1,q + s - 1] * W[o,c,r,s]\n"
               "  tensors: {I: {pad: [0, 1, 1]}}\n");
}

/* test_slope [CASES [SEED [MACHINES]]] */
int main(int argc, char **argv) {
  check_product();
  check_many_dims();
  check_machines(argc > 3 ? atoi(argv[3]) : 100);
  CHECK(check_tiny("workload:\n  dims: {m: 2, l: 2, k: 2}\n  ops:\n  - C[m,l] += A[m,k] * B[k,l]\n",
                   6, MOST_BITS));
  CHECK(check_tiny("workload:\n  dims: {m: 4, k: 2}\n  ops:\n  - C[m] += A[m,k] * B[k]\n", 6,
                   MOST_BITS));
  CHECK(check_tiny("workload:\n  dims: {p: 4, r: 2}\n  ops:\n  - O[p] += I[p + r] * W[r]\n", 6,
                   MOST_BITS));
  CHECK(check_tiny("workload:\n  dims: {m: 2, l: 2, k: 1, n: 1}\n  ops:\n"
                   "  - C[m,l] += A[m,k] * B[k,l]\n  - E[m,n] += C[m,l] * D[l,n]\n",
                   6, MOST_BITS));
  CHECK(check_tiny("workload:\n  dims: {m: 2, l: 2, n: 1}\n  ops:\n"
                   "  - C[m,l] = A[m,l] * B[l]\n  - E[m,n] += C[m,l] * D[l,n]\n",
                   4, MOST_BITS));
  check_random(argc > 1 ? atoi(argv[1]) : 60, argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
  return check_report();
}
