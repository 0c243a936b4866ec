/* Whether trip counts reach the ranges: the rule that check, eval and searches share, against every
 * setting of the loops tried one by one with the ranges of the general count. */
#include <inttypes.h>
#include <string.h>

#include "model/cost/state.h"
#include "model/tree/cover.h"
#include "tests/oracle/gen.h"
#include "tests/unit/case.h"
#include "tileflow/model.h"

enum { MOST = 1 << 13, OTHERS = 6 };

typedef struct {
  long rows, covered, beyond; /* rows tried; that cover; that the start alone would have let pass */
} tally;

/* ---- the slow way ---------------------------------------------------------------------------- */
typedef struct {
  const tf_plan *p;
  tf_eval ev;
  int64_t *digits;
  const tf_path *path; /* loops above what is looked at */
} slow;

static bool turn(slow *s) {
  for (int k = s->path->n - 1; k >= 0; k--) {
    int l = s->path->loops[k];
    if (++s->digits[l] < s->ev.trip[l]) return true;
    s->digits[l] = 0;
  }
  return false;
}

static int64_t settings(const slow *s) {
  int64_t n = 1;
  for (int k = 0; k < s->path->n && n <= MOST; k++)
    n *= s->ev.trip[s->path->loops[k]];
  return n;
}

/* Product of the trip counts on dim d from where op o leads. */
static int64_t reach_of(const slow *s, int o, int d) {
  const tf_path *path = &s->p->path[s->p->tree->op_node[o]];
  int64_t n = 1;
  for (int k = s->p->path[s->p->lead[o]].n; k < path->n; k++)
    if (s->p->loops[path->loops[k]].dim == d) n *= s->ev.trip[path->loops[k]];
  return n;
}

typedef enum { SHORT, COVERS, UNKNOWN } verdict;

/* One dim of one op: its longest range, and with every loop at its start. */
static verdict slow_dim(slow *s, int o, int d, int64_t *longest, int64_t *start) {
  int up = s->p->tree->nodes[s->p->lead[o]].parent;
  *longest = *start = s->p->wl->dims[d].extent;
  if (up >= 0) {
    s->path = &s->p->path[up];
    if (settings(s) > MOST) return UNKNOWN;
    *longest = *start = tf_dim_range(&s->ev, o, d, up, s->digits).len;
    while (turn(s)) {
      int64_t len = tf_dim_range(&s->ev, o, d, up, s->digits).len;
      *longest = len > *longest ? len : *longest;
    }
  }
  return *longest <= reach_of(s, o, d) ? COVERS : SHORT;
}

/* Readers first: where they are short, what they need of others means nothing. */
static verdict slow_all(slow *s, tf_cover *c, tally *t) {
  const tf_facts *f = s->p->facts;
  verdict all = COVERS;
  bool start_passes = true;
  for (int k = s->p->wl->n_ops - 1; k >= 0 && all == COVERS; k--) {
    int o = f->leaf_op[k];
    for (int i = 0; i < s->p->wl->ops[o].n_dims; i++) {
      int64_t longest, start;
      verdict v = slow_dim(s, o, s->p->wl->ops[o].dims[i], &longest, &start);
      if (v == UNKNOWN) return v;
      if (v == SHORT) all = SHORT;
      start_passes &= start <= reach_of(s, o, s->p->wl->ops[o].dims[i]);
      CHECK_I64(tf_cover_longest(c, o, i, INT64_MAX), longest);
    }
  }
  t->beyond += start_passes && all == SHORT;
  return all;
}

/* ---- who is asked ---------------------------------------------------------------------------- */
static bool has_code(const tf_diags *d, tf_code code) {
  for (size_t i = 0; i < tf_diags_count(d); i++)
    if (tf_diags_at(d, i)->code == code) return true;
  return false;
}

/* Whether the rules of trees say what `covers` does of these trip counts, unless they find
 * something else amiss. */
static void check_rules(const test_case *e, const int64_t *trips, bool covers) {
  const tf_plan *p = e->model->plan;
  for (int l = 0; l < p->n_loops; l++)
    e->tree->nodes[p->loops[l].node].loops[p->loops[l].slot].trip = trips[l];
  char *text = tf_tree_text(e->tree);
  tf_diags *d = tf_diags_new();
  tf_tree *t = tf_tree_parse(text, (tf_loc){0}, e->spec->arch, e->spec->workload, d);
  CHECK(covers ? !has_code(d, TF_E_COVER) : t == NULL);
  tf_tree_free(t);
  tf_diags_free(d);
  free(text);
}

static bool try_row(test_case *e, slow *s, tf_cover *c, const int64_t *trips, tally *t) {
  memcpy(s->ev.trip, trips, (size_t)s->p->n_loops * sizeof *trips);
  if (!tf_eval_steps(&s->ev)) return true;
  tf_cover_begin(c, trips, NULL);
  int failures = check_failed;
  verdict v = slow_all(s, c, t);
  if (v == UNKNOWN) return true;
  CHECK(tf_cover_all(c, trips) == (v == COVERS));
  bool counted = tf_model_eval(e->model, trips, &e->r);
  CHECK(v == COVERS ? counted || e->r.overflow : !counted && !e->r.overflow);
  check_rules(e, trips, v == COVERS);
  t->rows++;
  t->covered += v == COVERS;
  return check_failed == failures;
}

/* The text's own trip counts, and others drawn around them. */
static void try_text(const char *text, uint64_t seed, const char *of, tally *t) {
  test_case e = {0};
  case_read(&e, text);
  tf_arena *a = tf_arena_new();
  if (e.model && a) {
    slow s = {.p = e.model->plan};
    size_t n = (size_t)s.p->n_loops + 1;
    s.digits = TF_ARRAY(a, int64_t, n);
    s.ev = (tf_eval){.plan = s.p,
                     .trip = TF_ARRAY(a, int64_t, n),
                     .step = TF_ARRAY(a, int64_t, n * (size_t)s.p->wl->n_ops)};
    int64_t *trips = TF_ARRAY(a, int64_t, n);
    tf_cover *c = tf_cover_new(a, s.p->facts);
    tf_rng g = tf_rng_new(seed, 9);
    tf_model_walk_limit(e.model, 0);
    for (int k = 0; c && k < OTHERS; k++) {
      for (int l = 0; l < s.p->n_loops; l++) {
        int64_t own = e.model->own_trip[l];
        trips[l] = k && rng_chance(&g, 3)
                       ? rng_between(&g, own > 2 ? (int)own - 2 : 1, (int)own + 2)
                       : own;
      }
      if (try_row(&e, &s, c, trips, t)) continue;
      printf("seed %" PRIu64 "%s, row %d:", seed, of, k);
      for (int l = 0; l < s.p->n_loops; l++)
        printf(" %" PRId64, trips[l]);
      printf("\n%s", text);
    }
  }
  tf_arena_free(a);
  case_drop(&e);
}

static void try_case(uint64_t seed, bool padded, tally *t) {
  static page p;
  unsigned features = padded ? 1U << GEN_PAD : 0;
  const char *kind;
  p.len = 0;
  CHECK(gen_case(seed, &p, &features, &kind));
  try_text(p.text, seed, padded ? " padded" : "", t);
}

/* T1 is asked for its row c = 6 and, outside, for b = 3: b = 2 is the nearest. So T0's two readers
 * want 5 and 7, further apart than 6 and 7 without borders. */
static void readers_apart(tally *t) {
  static const char text[] = "architecture:\n"
                             "  memories:\n"
                             "  - {name: M0}\n"
                             "  compute:\n"
                             "  - {name: U0, ops: [add, copy]}\n"
                             "workload:\n"
                             "  dims: {b: 3, c: 9, d: 1, e: 1}\n"
                             "  tensors:\n"
                             "    T0: {pad: [1]}\n"
                             "    T1: {pad: [0, 1]}\n"
                             "  ops:\n"
                             "  - T0[c] = I0[c]\n"
                             "  - T1[c,b] = T0[b + 3] + T0[c + 1]\n"
                             "  - T2[d,e] = T1[e + 6,2*d + 3]\n"
                             "mapping: |\n"
                             "  M0\n"
                             "    Seq\n"
                             "      M0 for c=3\n"
                             "        op T0\n"
                             "      M0\n"
                             "        op T1\n"
                             "      M0\n"
                             "        op T2\n";
  const long before = t->rows;
  for (uint64_t seed = 1; seed <= 4; seed++)
    try_text(text, seed, " of readers apart", t);
  CHECK(t->rows > before);
}

/* test_cover [CASES [FIRST SEED]] */
int main(int argc, char **argv) {
  uint64_t cases = argc > 1 ? strtoull(argv[1], NULL, 10) : 300,
           first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  tally t = {0};
  for (uint64_t seed = first; seed < first + cases; seed++) {
    try_case(seed, false, &t);
    try_case(seed, true, &t);
  }
  if (argc > 1)
    printf("rows %ld, covered %ld, short but not at the start %ld\n", t.rows, t.covered, t.beyond);
  readers_apart(&t);
  CHECK(t.rows > (long)cases * OTHERS && t.covered > t.rows / 5 && t.beyond > 0);
  return check_report();
}
