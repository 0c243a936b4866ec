/* The space of mappings: every row of genes is a legal tree, every walk through its decisions gives
 * trip counts that cover the extents and fit what the constraints speak of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "model/tree/cover.h"
#include "search/common/complete.h"
#include "search/space/build.h"
#include "search/space/shape.h"
#include "search/space/trips.h"
#include "tests/oracle/gen.h"
#include "tests/unit/case.h"
#include "tests/unit/check.h"
#include "tileflow/model.h"
#include "tileflow/search.h"

typedef struct {
  int walks, dead, refused, capacity, fanout, illegal, probed;
  int unlawful; /* rows that the model counts and the rules of trees refuse: made again, or not
                   found (SEMANTICS D9) */
} tally;

static void count_violations(const tf_result *r, tally *n) {
  bool capacity = false, fanout = false;
  for (int i = 0; i < r->n_violations; i++) {
    capacity |= r->violations[i].code == TF_E_CAPACITY;
    fanout |= r->violations[i].code == TF_E_FANOUT;
  }
  n->capacity += capacity;
  n->fanout += fanout;
}

static void tell_refused(const tf_trips *t, const tf_tree *tree, tally *n) {
  char *text = tf_tree_text(tree);
  n->refused++;
  printf("refused:");
  for (int l = 0; l < t->n_loops; l++)
    printf(" %" PRId64, t->trips[l]);
  printf("\n%s", text);
  free(text);
}

/* The rule of cover as the space asks it, before decision i, beside a walk down the tree. */
static void compare_probe(tf_trips *t, int i, tally *n) {
  if (!tf_trips_probe(t, i)) return;
  tf_cover_begin(t->cover, t->probe, t->rest);
  for (int s = 0; s < t->n_slots; s++) {
    CHECK_I64(t->steps[s], t->cover->reach[s].steps);
    CHECK_I64(t->bound[s], t->cover->reach[s].bound);
  }
  n->probed += t->program != NULL;
}

static void walk(tf_tree *tree, tf_rng *rng, tally *n) {
  tf_diags *d = tf_diags_new();
  tf_trips *t = tf_trips_new(tree, d);
  tf_model *m = tf_model_new(tree, d);
  int32_t domain[TF_DOMAIN_MAX];
  CHECK(t && m);
  if (m) tf_model_walk_limit(m, 0);
  for (int k = 0; t && m && k < 4; k++) {
    tf_trips_begin(t);
    int i = 0;
    for (; i < t->space.n; i++) {
      int count = tf_space_domain(&t->space, i, domain);
      if (!count) break;
      if (tf_rng_below(rng, 4) == 0) compare_probe(t, i, n);
      tf_trips_take(t, i, domain[tf_rng_below(rng, (uint32_t)count)]);
    }
    if (i == t->space.n) compare_probe(t, i, n);
    n->walks++;
    n->dead += i < t->space.n;
    if (i < t->space.n) continue;
    tf_result r;
    bool counted = tf_model_eval(m, t->trips, &r), failed = false;
    tf_tree *whole = tf_complete(tree, t->trips, &failed);
    if (counted) count_violations(&r, n);
    if (!counted && !r.overflow) tell_refused(t, tree, n);
    n->unlawful += counted && !whole;
    tf_tree_free(whole);
  }
  tf_trips_free(t);
  tf_model_free(m);
  tf_diags_free(d);
}

/* Without an order, a row is varied, and is of a kind, as with one in which every gene was read. */
static void vary_without_order(const tf_shapes *sh, uint64_t lot) {
  tf_arena *a = tf_arena_new();
  tf_space *s = a ? tf_shapes_space(a, sh) : NULL;
  int32_t *one = s ? TF_ARRAY(a, int32_t, (size_t)s->n + 1) : NULL,
          *other = s ? TF_ARRAY(a, int32_t, (size_t)s->n + 1) : NULL;
  uint32_t *all = s ? TF_ARRAY(a, uint32_t, (size_t)s->n + 1) : NULL;
  if (!CHECK(one && other && all)) return;
  tf_rng rng = tf_rng_new(lot, 2);
  for (int i = 0; i < s->n; i++) {
    all[i] = (uint32_t)i + 1;
    one[i] = other[i] = tf_shapes_draw(sh, i, &rng);
  }
  for (int k = 0; k < 40; k++) {
    tf_rng again = rng;
    tf_space_vary(s, &rng, NULL, one);
    tf_space_vary(s, &again, all, other);
    CHECK(!memcmp(one, other, (size_t)s->n * sizeof *one));
    CHECK(s->kind->niche(s, one, NULL) == s->kind->niche(s, other, all));
  }
  tf_arena_free(a);
}

/* Random shapes, and from starts of every depth, and walks through the trip counts of each. */
static void try_shapes(const tf_spec *s, int shapes, uint64_t lot, bool show, tally *n) {
  tf_diags *d = tf_diags_new();
  tf_shapes *sh = tf_shapes_new(s->arch, s->workload, d);
  CHECK(sh != NULL);
  vary_without_order(sh, lot);
  int genes_n = tf_shapes_genes(sh);
  int32_t *genes = calloc((size_t)genes_n, sizeof *genes);
  tf_reads reads = {calloc((size_t)genes_n, sizeof *reads.order), 0};
  tf_rng rng = tf_rng_new(lot, 1);
  for (int k = 0; k < shapes; k++) {
    int seed = k % 4 == 3 ? -1 : k * 5 % tf_shapes_seeds(sh);
    if (seed >= 0) tf_shapes_seed(sh, seed, &rng, genes);
    for (int i = 0; seed < 0 && i < genes_n; i++)
      genes[i] = tf_shapes_draw(sh, i, &rng);
    tf_tree *t = tf_shapes_tree(sh, genes, &reads);
    CHECK(t != NULL);
    if (!t) {
      n->illegal++;
      continue;
    }
    if (show && k < 20) {
      char *text = tf_tree_text(t);
      fprintf(stderr, "%s\n", text);
      free(text);
    }
    walk(t, &rng, n);
    tf_tree_free(t);
  }
  free(genes);
  free(reads.order);
  tf_shapes_free(sh);
  tf_diags_free(d);
}

static void tell(const char *what, const tally *n) {
  fprintf(stderr, "%s: walks %d dead %d refused %d unlawful %d capacity %d fanout %d illegal %d\n",
          what, n->walks, n->dead, n->refused, n->unlawful, n->capacity, n->fanout, n->illegal);
}

static void try_files(const char *arch, const char *work, int shapes, bool show) {
  const char *paths[] = {arch, work};
  tf_diags *d = tf_diags_new();
  tf_spec *s = tf_spec_read(paths, 2, NULL, 0, d);
  tally n = {0};
  if (CHECK(s)) try_shapes(s, shapes, 7, show, &n);
  if (show) tell(work, &n);
  CHECK_I64(n.refused, 0);
  CHECK_I64(n.dead, 0);
  tf_spec_free(s);
  tf_diags_free(d);
}

/* ---- drawn machines and workloads ----------------------------------------------------------- */
/* A mapping as it is given, but for some counts that are left open. */
static void try_given(const tf_spec *s, tf_rng *rng, tally *n) {
  tf_diags *d = tf_diags_new();
  tf_tree *t = tf_tree_parse(s->mapping_text, s->mapping_at, s->arch, s->workload, d);
  for (int i = 0; t && i < t->n_nodes; i++)
    for (int k = 0; k < t->nodes[i].n_loops; k++)
      if (tf_rng_below(rng, 2)) {
        t->nodes[i].loops[k].trip = 0;
        t->open = true;
      }
  if (t) walk(t, rng, n);
  tf_tree_free(t);
  tf_diags_free(d);
}

static void try_drawn(uint64_t first, int cases, bool show) {
  tally n = {0}, given = {0};
  for (uint64_t seed = first; seed < first + (uint64_t)cases; seed++) {
    static page p;
    unsigned features = seed % 2 ? 1U << GEN_PAD : 0;
    const char *kind;
    test_case e = {0};
    p.len = 0;
    CHECK(gen_case(seed, &p, &features, &kind));
    case_read(&e, p.text);
    tf_rng rng = tf_rng_new(seed, 3);
    int refused = n.refused + given.refused;
    if (e.spec) try_shapes(e.spec, 4, seed, false, &n);
    if (e.tree) try_given(e.spec, &rng, &given);
    if (n.refused + given.refused > refused) printf("seed %" PRIu64 ":\n%s", seed, p.text);
    case_drop(&e);
  }
  if (show) tell("drawn", &n);
  if (show) tell("given", &given);
  CHECK_I64(n.refused, 0);
  CHECK_I64(given.refused, 0);
  CHECK(n.unlawful * 50 <= n.walks);
  CHECK(n.dead * 50 <= n.walks && n.walks > 10 * cases);
  CHECK(n.probed > n.walks);
}

/* ---- as many ops as the formats allow ------------------------------------------------------- */
/* A product, and three functions of its elements, again and again. */
static test_case chain_of(int n_ops) {
  char *text = NULL;
  size_t n = 0;
  FILE *out = open_memstream(&text, &n);
  if (!out) abort();
  fprintf(out, "workload:\n  name: chain\n  dims: {m: 16, n: 8, k: 8}\n  ops:\n");
  for (int i = 0; i < n_ops; i++) {
    const char *last = i / 4 % 2 ? "k" : "n", *next = i / 4 % 2 ? "n" : "k";
    if (i % 4 == 3)
      fprintf(out, "  - T%d[m,%s] += T%d[m,%s] * W%d[%s,%s]\n", i + 1, next, i, last, i, last,
              next);
    else
      fprintf(out, "  - T%d[m,%s] = relu(T%d[m,%s])\n", i + 1, last, i, last);
  }
  if (fclose(out) != 0) abort();
  static const char arch[] =
      "architecture:\n  name: a\n  clock: 1 GHz\n  word-bits: 16\n  memories:\n"
      "  - {name: D, bandwidth: 4}\n"
      "  - {name: B, capacity: 4096, mesh: [2, 1]}\n  - {name: L, capacity: 64, mesh: [2, 2]}\n"
      "  compute:\n  - {name: u, ops: [mac, relu], below: L}\n";
  test_case e = case_of(arch, text);
  free(text);
  return e;
}

/* Every op has a say and a place: shapes of a chain of 200 are legal, their trip counts are
 * searched. */
static void try_long_chain(void) {
  enum { OPS = 200 };
  test_case e = chain_of(OPS);
  tf_diags *d = e.d;
  const tf_spec *s = e.spec;
  tf_search_opts o = {.strategy = "mcts", .budget = {.max_evals = 20, .threads = 1, .seed = 2}};
  tf_search_result *found = tf_search_run(s->arch, s->workload, NULL, &o, d);
  CHECK(found && found->evals == 20);
  tf_search_free(found);
  o.strategy = NULL;
  found = tf_search_run(s->arch, s->workload, NULL, &o, d);
  CHECK(found && found->n_best > 0);
  tf_tree *t = found && found->n_best
                   ? tf_tree_parse(found->best[0].text, (tf_loc){0}, s->arch, s->workload, d)
                   : NULL;
  int ops = 0;
  for (int i = 0; t && i < t->n_nodes; i++)
    ops += t->nodes[i].kind == TF_OP;
  CHECK_I64(ops, OPS);
  tf_tree_free(t);
  tf_search_free(found);
  case_drop(&e);
}

/* Several reads of one tensor, by ops with loops of their own and by one op: the loops above do not
 * move all of them alike. */
static void try_readers(bool show) {
  test_case e = {0};
  tally n = {0};
  case_read(
      &e,
      "architecture:\n  name: a\n  clock: 1 GHz\n  word-bits: 16\n  memories:\n"
      "  - {name: D, bandwidth: 4}\n"
      "  - {name: B, capacity: 4096}\n  - {name: L, capacity: 512, mesh: [4, 2]}\n"
      "  compute:\n  - {name: u, ops: [mac, add, mul, div], below: L}\n"
      "workload:\n  name: w\n  dims: {m: 29, l: 53, k: 7, n: 31, p: 23, q: 19, r: 3}\n  ops:\n"
      "  - T[m,l] += A[m,k] * B[k,l]\n  - Z[m] += T[m,l]\n  - O[m,n] += T[m,l] * V[l,n] / Z[m]\n"
      "  - H[m,p] = T[m,p] + T[m,2*p]\n  - G[m,q] += T[m,q+r] * T[m,q+2*r]\n");
  if (CHECK(e.spec)) try_shapes(e.spec, 60, 5, false, &n);
  if (show) tell("readers", &n);
  CHECK_I64(n.refused, 0);
  CHECK(n.probed > n.walks);
  case_drop(&e);
}

/* ---- branches that run at once -------------------------------------------------------------- */
static test_case pipe_of(void) {
  test_case e = {0};
  case_read(&e,
            "architecture:\n  name: a\n  clock: 1 GHz\n  word-bits: 16\n  memories:\n"
            "  - {name: D, bandwidth: 4}\n"
            "  - {name: B, capacity: 4096}\n  - {name: L, capacity: 64, mesh: [32, 8]}\n"
            "  compute:\n  - {name: u, ops: [mac], below: L}\n"
            "workload:\n  name: w\n  dims: {m: 64, k: 32, l: 32, n: 96}\n  ops:\n"
            "  - S[m,l] += A[m,k] * B[k,l]\n"
            "  - O[m,n] += S[m,l] * C[l,n]\n"
            "mapping: |\n  D for m=?\n    B\n      Pipe\n"
            "        B for m=? k=? spatial l=?@x m=?@y\n          L for l=?\n            op S\n"
            "        B for m=? l=? spatial n=?@x m=?@y\n          L for n=?\n            op O\n");
  return e;
}

/* Asks for the targets to be completed, and says what became of those for the loops along x. */
static void complete_x(tf_trips *t, int32_t first, int32_t second, int32_t x[2]) {
  int32_t row[16], n = 0;
  for (int i = 0; i < t->space.n; i++)
    row[i] = t->decision[i].axis == TF_SPATIAL_X   ? (n++ ? second : first)
             : t->decision[i].axis == TF_SPATIAL_Y ? 8
                                                   : 1;
  t->space.kind->complete(&t->space, row);
  n = 0;
  for (int i = 0; i < t->space.n; i++)
    if (t->decision[i].axis == TF_SPATIAL_X) x[n++] = row[i];
}

/* Of a mesh of 32 x 8 the branch with a quarter of the points should take a quarter; targets that
 * fit stay. */
static void try_shares(void) {
  test_case e = pipe_of();
  tf_trips *t = e.tree ? tf_trips_new(e.tree, e.d) : NULL;
  int32_t x[2];
  if (!CHECK(t && t->space.n < 16)) return;
  for (int i = 0; i < t->space.n; i++) {
    const tf_decision *d = &t->decision[i];
    const bool first = e.tree->workload->tensors[e.tree->workload->ops[d->op].out].n_consumers > 0;
    if (d->axis == TF_SPATIAL_X) CHECK_I64(d->share, first ? 8 : 24);
    if (d->axis == TF_SPATIAL_Y) CHECK_I64(d->share, 8);
  }
  complete_x(t, 32, 32, x);
  CHECK(x[0] == 8 && x[1] == 24);
  complete_x(t, 20, 12, x);
  CHECK(x[0] == 20 && x[1] == 12);
  tf_trips_free(t);
  case_drop(&e);
}

/* test_space [CASES [FIRST SEED]] */
int main(int argc, char **argv) {
  bool show = argc > 1;
  int cases = show ? (int)strtol(argv[1], NULL, 10) : 200;
  try_drawn(argc > 2 ? strtoull(argv[2], NULL, 10) : 1, cases, show);
  try_files("arch-specs/edge.yaml", "workloads/gemm-chain/g1.yaml", 12, show);
  try_files("arch-specs/cloud.yaml", "workloads/attention/g1.yaml", 12, show);
  try_files("arch-specs/edge.yaml", "workloads/conv-chain/c1.yaml", 12, show);
  try_files("arch-specs/cloud.yaml", "workloads/conv-chain-relu/c3.yaml", 10, show);
  try_files("arch-specs/edge.yaml", "workloads/resnet-bottleneck.yaml", 10, show);
  try_files("arch-specs/eyeriss.yaml", "workloads/depthwise-separable.yaml", 10, show);
  try_readers(show);
  try_long_chain();
  try_shares();
  return check_report();
}
