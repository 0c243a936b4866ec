/* Lists of names (bypass, keep, retain, stream) are sets: trees that differ in the order of names
 * alone are legal together, and count the same. */
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "model/tree/build.h"
#include "model/tree/facts.h"
#include "tests/oracle/gen.h"
#include "tests/unit/case.h"
#include "tileflow/model.h"

enum { CASES = 6000, DRAWN = 300, MOST_NAMES = 8 };

typedef struct {
  long legal, streams, apart; /* trees; of them with two names in a `stream`, and with names that
                                 lead from two nodes */
} tally;

/* ---- the same tree in another order --------------------------------------------------------- */
static void shuffle(tf_rng *g, int *order, int n) {
  for (int i = 0; i < n; i++)
    order[i] = i;
  for (int i = n - 1; i > 0; i--) {
    const int k = rng_between(g, 0, i), last = order[i];
    order[i] = order[k];
    order[k] = last;
  }
}

static void add_names(tf_build *b, tf_rng *g, const tf_named *list, int n,
                      void (*add)(tf_build *b, tf_named z)) {
  int order[MOST_NAMES];
  if (n > MOST_NAMES) return;
  shuffle(g, order, n);
  for (int i = 0; i < n; i++)
    add(b, list[order[i]]);
}

/* A copy of the tree, the names of each node in an order of their own; NULL: a rule refuses it. */
static tf_tree *reordered(const tf_tree *t, tf_rng *g) {
  tf_build *b = tf_build_new(t->arch, t->workload, NULL);
  for (int i = 0; b && i < t->n_nodes; i++) {
    const tf_node *n = &t->nodes[i];
    tf_node bare = *n;
    bare.n_bypass = bare.n_keep = bare.n_retain = bare.n_stream = 0;
    tf_build_node(b, &bare);
    add_names(b, g, n->bypass, n->n_bypass, tf_build_bypass);
    add_names(b, g, n->retain, n->n_retain, tf_build_retain);
    add_names(b, g, n->stream, n->n_stream, tf_build_stream);
    for (int k = n->n_keep; k-- > 0;)
      tf_build_keep(b, n->keep[k]);
    for (int k = 0; k < n->n_loops; k++)
      tf_build_loop(b, n->loops[k]);
  }
  return tf_build_tree(b);
}

/* ---- what is compared ----------------------------------------------------------------------- */
static void count_streams(const tf_tree *t, tally *all) {
  tf_arena *a = tf_arena_new();
  const tf_facts *f = tf_facts_new(a, t);
  bool two = false, apart = false;
  for (int i = 0; f && i < t->n_nodes; i++) {
    int lead = -1;
    two |= t->nodes[i].n_stream > 1;
    for (int k = 0; k < t->nodes[i].n_stream; k++) {
      const int o = t->workload->tensors[t->nodes[i].stream[k].tensor].producer;
      if (!tf_leads(f, o, i)) continue;
      apart |= lead >= 0 && lead != f->lead[o];
      lead = f->lead[o];
    }
  }
  all->legal++;
  all->streams += two;
  all->apart += apart;
  tf_arena_free(a);
}

static bool same_counts(const tf_workload *wl, int n_memories, const tf_result *a,
                        const tf_result *b) {
  return a->feasible == b->feasible && a->overflow == b->overflow && a->cycles == b->cycles &&
         a->energy_pj == b->energy_pj &&
         !memcmp(a->counts, b->counts,
                 (size_t)n_memories * (size_t)wl->n_tensors * sizeof *a->counts);
}

static bool same(const tf_tree *a, const tf_tree *b) {
  tf_diags *d = tf_diags_new();
  tf_model *m[2] = {tf_model_new(a, d), tf_model_new(b, d)};
  tf_result r[2];
  bool counted[2], equal;
  for (int i = 0; i < 2; i++)
    counted[i] = m[i] && tf_model_eval(m[i], NULL, &r[i]);
  equal = counted[0] == counted[1] &&
          (!counted[0] || same_counts(a->workload, a->arch->n_memories, &r[0], &r[1]));
  tf_model_free(m[0]);
  tf_model_free(m[1]);
  tf_diags_free(d);
  return equal;
}

static void check(const tf_tree *t, tf_rng *g, const page *p, tally *all) {
  count_streams(t, all);
  tf_tree *other = reordered(t, g);
  const bool equal = other && same(t, other);
  CHECK(equal);
  if (!equal) printf("%s\n%s", other ? "other counts" : "refused in another order", p->text);
  tf_tree_free(other);
}

/* ---- streams that several reductions lead --------------------------------------------------- */
/* Reductions, what reads them, and the scopes around them, all at random; most are refused. */
static const struct {
  const char *name, *text;
  bool reduces, keys; /* it is a reduction; it has dim l */
} op[] = {{"P", "P[m] max= T[m,l]", true, true},
          {"X", "X[m] max= U[m,l]", true, true},
          {"E", "E[m,l] = exp(U[m,l] - X[m])", false, true},
          {"Z", "Z[m] += E[m,l]", true, true},
          {"O", "O[m] += E[m,l] * V[l]", true, true},
          {"R", "R[m] = 2 * P[m]", false, false},
          {"Q", "Q[m] = O[m] / Z[m]", false, false}};
enum { N_OPS = sizeof op / sizeof *op, N_SUMS = N_OPS - 2 };

static void tile(page *p, int indent, const char *level, int m, int l) {
  page_say(p, "  %*s%s", indent, "", level);
  if (m > 1 || l > 1) page_say(p, " for");
  if (m > 1) page_say(p, " m=%d", m);
  if (l > 1) page_say(p, " l=%d", l);
  page_say(p, "\n");
}

static void stream(page *p, tf_rng *g, int from, int to) {
  int order[N_OPS];
  const char *word = " stream ";
  shuffle(g, order, to - from);
  for (int i = 0; i < to - from; i++)
    if (op[from + order[i]].reduces && !rng_chance(g, 4)) {
      page_say(p, "%s%s", word, op[from + order[i]].name);
      word = " ";
    }
}

/* Ops from `from` to `to`, of rows m and keys l that are left to split. */
typedef struct {
  int from, to, m, l;
  bool streamed; /* by a scope above */
} part;

static void group(page *p, tf_rng *g, int indent, part x) {
  const int from = x.from, to = x.to;
  if (to - from == 1) {
    tile(p, indent, "L1", x.m, op[from].keys ? x.l : 1);
    page_say(p, "  %*sop %s\n", indent + 2, "", op[from].name);
    return;
  }
  if (indent == 0 || rng_chance(g, 2)) {
    const int rows = rng_chance(g, 2) ? 2 : 1, keys = rng_chance(g, 2) ? 2 : 1;
    const int by_m = rows < x.m ? rows : 1, by_l = keys < x.l ? keys : 1;
    tile(p, indent, indent ? "L1" : "L0", by_m, by_l);
    x.m /= by_m;
    x.l /= by_l;
    indent += 2;
  }
  page_say(p, "  %*sSeq", indent, "");
  const bool here = !x.streamed && rng_chance(g, 2);
  if (here) stream(p, g, from, to);
  page_say(p, "\n");
  for (int at = from; at < to;) {
    int most = to - at - (at == from), n = rng_between(g, 1, most > 1 ? most : 1);
    group(p, g, indent + 2, (part){at, at + n, x.m, x.l, x.streamed || here});
    at += n;
  }
}

/* With what reads sums and maxima when they are done, or without. */
static void draw_streams(page *p, tf_rng *g) {
  const int n = rng_chance(g, 2) ? N_OPS : rng_between(g, N_SUMS - 1, N_SUMS);
  p->len = 0;
  page_say(p,
           "architecture:\n  name: a\n  clock: 1 GHz\n  memories:\n  - {name: L0, bandwidth: 1}\n"
           "  - {name: L1, bandwidth: 1, capacity: 1 MiB}\n  compute:\n"
           "  - {name: u, ops: [mac, add, sub, mul, div, max, min, exp], below: L1, mesh: [1, 1]}\n"
           "workload:\n  name: w\n  dims: {m: 4, l: 8}\n  ops:\n");
  for (int i = 0; i < n; i++)
    page_say(p, "  - \"%s\"\n", op[i].text);
  page_say(p, "mapping: |\n");
  group(p, g, 0, (part){0, n, 4, 8, false});
}

static void one(const page *p, tf_rng *g, tally *all) {
  test_case e = {0};
  case_read(&e, p->text);
  if (e.tree) check(e.tree, g, p, all);
  case_drop(&e);
}

int main(void) {
  static page p;
  tally streams = {0}, drawn = {0};
  for (int i = 0; i < CASES; i++) {
    tf_rng g = tf_rng_new((uint64_t)i, 31);
    draw_streams(&p, &g);
    one(&p, &g, &streams);
  }
  for (int i = 0; i < DRAWN; i++) {
    tf_rng g = tf_rng_new((uint64_t)i, 32);
    unsigned features = 0;
    const char *kind;
    if (gen_case((uint64_t)i, &p, &features, &kind)) one(&p, &g, &drawn);
  }
  printf("%ld trees, %ld of two streamed, %ld led from two nodes; drawn: %ld, %ld\n", streams.legal,
         streams.streams, streams.apart, drawn.legal, drawn.streams);
  CHECK(streams.apart >= 20 && drawn.streams >= 10);
  return check_report();
}
