/* The space of mappings: every row of genes is a legal tree, every walk through its decisions gives
 * trip counts that cover the extents and fit what the constraints speak of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "search/space/shape.h"
#include "search/space/trips.h"
#include "tests/unit/case.h"
#include "tests/unit/check.h"
#include "tileflow/model.h"
#include "tileflow/search.h"

typedef struct {
  int walks, dead, refused, capacity, fanout, illegal;
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

static void walk(const tf_spec *s, tf_tree *tree, tf_rng *rng, tally *n) {
  tf_diags *d = tf_diags_new();
  tf_trips *t = tf_trips_new(tree, d);
  tf_model *m = tf_model_new(tree, d);
  int32_t domain[TF_DOMAIN_MAX];
  CHECK(t && m);
  if (m) tf_model_walk_limit(m, 0);
  for (int k = 0; t && m && k < 4; k++) {
    t->uneven = k % 2;
    tf_trips_begin(t);
    int i = 0;
    for (; i < t->space.n; i++) {
      int count = tf_trips_domain(t, i, domain);
      if (!count) break;
      tf_trips_take(t, i, domain[tf_rng_below(rng, (uint32_t)count)]);
    }
    n->walks++;
    n->dead += i < t->space.n;
    if (i < t->space.n) continue;
    tf_result r;
    if (!tf_model_eval(m, t->trips, &r))
      n->refused += !r.overflow;
    else
      count_violations(&r, n);
  }
  (void)s;
  tf_trips_free(t);
  tf_model_free(m);
  tf_diags_free(d);
}

static void try_files(const char *arch, const char *work, int shapes, bool show) {
  const char *paths[] = {arch, work};
  tf_diags *d = tf_diags_new();
  tf_spec *s = tf_spec_read(paths, 2, NULL, 0, d);
  CHECK(s != NULL);
  if (!s) return;
  tf_shapes *sh = tf_shapes_new(s->arch, s->workload, d);
  CHECK(sh != NULL);
  int genes_n = tf_shapes_genes(sh);
  int32_t *genes = calloc((size_t)genes_n, sizeof *genes);
  tf_reads reads = {calloc((size_t)genes_n, sizeof *reads.order), 0};
  tf_rng rng = tf_rng_new(7, 1);
  tally n = {0};
  for (int k = 0; k < shapes; k++) {
    int seed = k % 4 == 3 ? -1 : k * 5 % tf_shapes_seeds(sh); /* starts of every depth, and rows by lot */
    if (seed >= 0) tf_shapes_seed(sh, seed, &rng, genes);
    for (int i = 0; seed < 0 && i < genes_n; i++)
      genes[i] = tf_shapes_draw(sh, i, &rng);
    tf_tree *t = tf_shapes_tree(sh, genes, &reads);
    CHECK(t != NULL);
    if (!t) {
      n.illegal++;
      continue;
    }
    if (show && k < 20) {
      char *text = tf_tree_text(t);
      fprintf(stderr, "%s\n", text);
      free(text);
    }
    walk(s, t, &rng, &n);
    tf_tree_free(t);
  }
  if (show)
    fprintf(stderr, "%s %s: genes %d walks %d dead %d refused %d capacity %d fanout %d illegal %d\n", arch, work,
            genes_n, n.walks, n.dead, n.refused, n.capacity, n.fanout, n.illegal);
  /* A range is taken for the rest that its outer loops leave; where loops chosen later overshoot it, what its readers
   * need of a producer grows, and the model refuses trips that no longer cover that. */
  CHECK(n.refused * 10 <= n.walks);
  free(genes);
  free(reads.order);
  tf_shapes_free(sh);
  tf_spec_free(s);
  tf_diags_free(d);
}

/* ---- as many ops as the formats allow ------------------------------------------------------------- */
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
      fprintf(out, "  - T%d[m,%s] += T%d[m,%s] * W%d[%s,%s]\n", i + 1, next, i, last, i, last, next);
    else
      fprintf(out, "  - T%d[m,%s] = relu(T%d[m,%s])\n", i + 1, last, i, last);
  }
  if (fclose(out) != 0) abort();
  static const char arch[] =
      "architecture:\n  name: a\n  clock: 1 GHz\n  word-bits: 16\n  memories:\n  - {name: D, bandwidth: 4}\n"
      "  - {name: B, capacity: 4096, mesh: [2, 1]}\n  - {name: L, capacity: 64, mesh: [2, 2]}\n"
      "  compute:\n  - {name: u, ops: [mac, relu], below: L}\n";
  test_case e = case_of(arch, text);
  free(text);
  return e;
}

/* Every op has a say and a place: shapes of a chain of 200 are legal, their trip counts are searched. */
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
  tf_tree *t = found && found->n_best ? tf_tree_parse(found->best[0].text, (tf_loc){0}, s->arch, s->workload, d) : NULL;
  int ops = 0;
  for (int i = 0; t && i < t->n_nodes; i++)
    ops += t->nodes[i].kind == TF_OP;
  CHECK_I64(ops, OPS);
  tf_tree_free(t);
  tf_search_free(found);
  case_drop(&e);
}

int main(int argc, char **argv) {
  (void)argv;
  bool show = argc > 1;
  try_files("arch-specs/edge.yaml", "workloads/gemm-chain/g1.yaml", 12, show);
  try_files("arch-specs/cloud.yaml", "workloads/attention/g1.yaml", 12, show);
  try_files("arch-specs/edge.yaml", "workloads/conv-chain/c1.yaml", 12, show);
  try_files("arch-specs/cloud.yaml", "workloads/conv-chain-relu/c3.yaml", 10, show);
  try_files("arch-specs/edge.yaml", "workloads/resnet-bottleneck.yaml", 10, show);
  try_files("arch-specs/eyeriss.yaml", "workloads/depthwise-separable.yaml", 10, show);
  try_long_chain();
  return check_report();
}
