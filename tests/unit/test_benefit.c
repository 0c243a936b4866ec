/* What plans say that fusing gains, beside sums and closures over the network's ops; the block of
 * 34 GB (TLF), with two memories, with three, and with a DMA unit. */
#include <math.h>

#include "net/net.h"
#include "tests/unit/case.h"
#include "tests/unit/net_draw.h"
#include "tileflow/tree.h"

static tf_net_plan *plan_of(const test_case *e, tf_objective objective, int max_ops) {
  const tf_net_opts o = {.objective = objective,
                         .max_ops = max_ops,
                         .budget = {.max_evals = 60, .seed = 1, .threads = 1}};
  tf_net_plan *p = tf_net_plan_of(e->spec->arch, e->spec->workload, &o, e->d);
  if (!CHECK(p != NULL)) case_complain(e->d);
  return p;
}

/* ---- what fusing gains ---------------------------------------------------------------------- */
static unsigned ops_of(const tf_net_group *g) {
  unsigned set = 0;
  for (int o = 0; o < g->group->workload->n_ops; o++)
    set |= 1u << g->group->op[o];
  return set;
}

/* What an op reads as the network's tensor, a view being that of which it is one. */
static bool is_read_by(const tf_workload *wl, int maker, int reader) {
  for (int r = 0; r < wl->ops[reader].n_reads; r++)
    if (wl->tensors[wl->ops[reader].reads[r].tensor].producer == maker) return true;
  return false;
}

/* Words that ops of one set make and some of the other read. */
static double words_across(const tf_workload *wl, unsigned from, unsigned to) {
  double words = 0;
  for (int o = 0; o < wl->n_ops; o++) {
    bool read = false;
    for (int k = 0; k < wl->n_ops; k++)
      read |= (to >> k & 1) && is_read_by(wl, o, k);
    if (read && (from >> o & 1)) words += (double)tf_tensor_words(&wl->tensors[wl->ops[o].out]);
  }
  return words;
}

/* Whether a path leads out of the set and back, by closure of who reads whom; and whether an op's
 * output is read inside and outside. */
static bool may_join(const tf_workload *wl, unsigned set) {
  unsigned after[16] = {0};
  for (int round = 0; round < wl->n_ops; round++)
    for (int a = 0; a < wl->n_ops; a++)
      for (int b = 0; b < wl->n_ops; b++)
        if (is_read_by(wl, a, b)) after[a] |= 1u << b | after[b];
  for (int o = 0; o < wl->n_ops; o++)
    for (int a = 0; !(set >> o & 1) && a < wl->n_ops; a++)
      if ((set >> a & 1) && (after[a] >> o & 1) && (after[o] & set)) return false;
  for (int a = 0; a < wl->n_ops; a++) {
    unsigned readers = 0;
    for (int b = 0; b < wl->n_ops; b++)
      readers |= (unsigned)is_read_by(wl, a, b) << b;
    if ((set >> a & 1) && (readers & set) && (readers & ~set)) return false;
  }
  return true;
}

/* A view is read once all of its tensor is there. */
static bool has_view(const tf_workload *wl, unsigned set) {
  for (int o = 0; o < wl->n_ops; o++)
    for (int r = 0; (set >> o & 1) && r < wl->ops[o].n_reads; r++) {
      const tf_tensor *z = &wl->tensors[wl->ops[o].reads[r].tensor];
      if (z->view_of && (set >> z->producer & 1)) return true;
    }
  return false;
}

static int64_t slices_of(const tf_tree *t) {
  int64_t n = 1;
  for (int i = t->op_node[0]; i >= 0; i = t->nodes[i].parent) {
    bool all = t->nodes[i].kind == TF_TILE;
    for (int o = 0; o < t->workload->n_ops; o++)
      all = all && t->op_node[o] > i && t->op_node[o] < t->nodes[i].end;
    for (int k = t->nodes[i].parent; all && k >= 0; k = t->nodes[k].parent)
      all = t->nodes[k].kind == TF_TILE;
    for (int l = 0; all && l < t->nodes[i].n_loops; l++)
      if (t->nodes[i].loops[l].axis == TF_TEMPORAL) n *= t->nodes[i].loops[l].trip;
  }
  return n;
}

/* One row; returns whether it is a pair of which one group is allowed. */
static bool check_benefit(const test_case *e, const tf_net_plan *p, const tf_net_benefit *b,
                          int max_ops) {
  const tf_workload *wl = e->spec->workload;
  const tf_memory *outer = &e->spec->arch->memories[0];
  const unsigned first = ops_of(&p->groups[b->first]), second = ops_of(&p->groups[b->second]);
  const double words = words_across(wl, first, second);
  CHECK_NEAR(b->words, 2 * words, 1e-12);
  CHECK_NEAR(b->cycles, 2 * words / outer->read_bw, 1e-12); /* one port */
  if (b->first == b->second) {
    CHECK(!*b->why && !b->at_least && b->slices == slices_of(p->groups[b->first].tree));
    CHECK(isfinite(b->apart));
    return false;
  }
  const unsigned set = first | second;
  const bool may = may_join(wl, set) && !has_view(wl, set);
  CHECK(may || (*b->why && isinf(b->fused)));
  if (!may || isinf(b->fused)) return false;
  CHECK((*b->why != 0) == (__builtin_popcount(set) > max_ops));
  /* no cut is better by the costs, and longer searches change those of the plan's groups alone */
  if (p->exact && !*b->why && !b->at_least) CHECK(b->apart - b->fused <= 1e-9 * b->apart);
  return true;
}

/* Returns the pairs that may be one group. */
static int test_benefits(uint64_t seed) {
  test_case e = case_of(net_arch, net_draw_text(seed, 7));
  const tf_workload *wl = e.spec->workload;
  const tf_objective objective = seed % 2 ? TF_LATENCY : TF_TRAFFIC;
  tf_net_plan *p = plan_of(&e, objective, 3);
  int may = 0, rows = 0;
  for (int i = 0; p && i < p->n_benefits; i++)
    may += check_benefit(&e, p, &p->benefits[i], 3);
  for (int i = 0; p && i < p->n; i++) {
    rows += p->groups[i].group->workload->n_ops > 1;
    for (int k = 0; k < i; k++)
      rows += words_across(wl, ops_of(&p->groups[k]), ops_of(&p->groups[i])) > 0;
  }
  if (p) CHECK_I64(p->n_benefits, rows);
  tf_net_plan_free(p);
  case_drop(&e);
  return may;
}

/* The ops of a group beside the groups that they are alone, as a plan of groups of one op has them.
 */
static void test_apart(void) {
  static const char chain[] = "workload:\n  name: chain\n  dims: {m: 64, n: 64}\n  ops:\n"
                              "  - B[m,n] = relu(A[m,n])\n  - C[m,n] = B[m,n] * 2\n"
                              "  - D[m,n] = C[m,n] + A[m,n]\n";
  test_case e = case_of(net_arch, chain);
  tf_net_plan *one = plan_of(&e, TF_LATENCY, 3), *each = plan_of(&e, TF_LATENCY, 1);
  if (CHECK(one && each && one->n == 1 && each->n == 3 && one->n_benefits == 1)) {
    CHECK_NEAR(one->benefits[0].apart, each->total.cycles, 1e-9);
    CHECK_NEAR(one->benefits[0].fused, one->total.cycles, 1e-9);
    CHECK(one->benefits[0].apart > 1.5 * one->benefits[0].fused);
    CHECK_I64(each->n_benefits, 2); /* B + C, C + D; A is none's */
    for (int i = 0; i < each->n_benefits; i++)
      CHECK(!strcmp(each->benefits[i].why, "2 ops, of --max-ops 1") &&
            each->benefits[i].apart > each->benefits[i].fused);
  }
  tf_net_plan_free(one);
  tf_net_plan_free(each);
  case_drop(&e);
}

/* ---- ops of several groups ------------------------------------------------------------------ */
/* A plan with ops made again reads back as it was; returns how often ops are made beyond once. */
static int check_again(const char *workload, int max_ops) {
  static const char small[] =
      "architecture:\n  name: small\n  clock: 1 GHz\n  word-bits: 32\n  overlap: double-buffer\n"
      "  memories:\n  - {name: L2, bandwidth: 1}\n"
      "  - {name: L1, capacity: 1 KiB, bandwidth: 64}\n  compute:\n"
      "  - {name: u, below: L1, mesh: [4, 4], ops: [mac, add, mul, relu, max]}\n";
  test_case e = case_of(small, workload);
  const tf_net_opts o = {
      .max_ops = max_ops, .recompute = true, .budget = {.max_evals = 30, .seed = 1, .threads = 1}};
  const tf_workload *wl = e.spec->workload;
  tf_net_plan *p = tf_net_plan_of(e.spec->arch, wl, &o, e.d);
  char *text = p ? tf_net_plan_text(p, e.spec->arch, wl) : NULL;
  const tf_text t = {"plan.yaml", text, text ? strlen(text) : 0};
  tf_net_plan *back = text ? tf_net_plan_read(e.spec->arch, wl, &t, e.d) : NULL;
  int ops = -wl->n_ops;
  if (!CHECK(p && back)) case_complain(e.d);
  for (int i = 0; p && i < p->n; i++)
    ops += p->groups[i].group->workload->n_ops;
  if (p && back && CHECK(p->n == back->n)) CHECK_NEAR(p->total.cycles, back->total.cycles, 1e-12);
  tf_net_plan_free(p);
  tf_net_plan_free(back);
  free(text);
  case_drop(&e);
  return ops;
}

/* T2 is made again by its reader T3's group, and stored by T1's for the others. */
static void test_stored_once(void) {
  CHECK(check_again("workload:\n  name: n\n  dims: {c: 3, p: 16, q: 16, k: 3}\n  ops:\n"
                    "  - T0[c,p,q] = relu(I[c,p,q] + I[c,p,q])\n"
                    "  - T1[c,p,q] = relu(T0[c,p,q] + I[c,p,q])\n"
                    "  - T2[c,p,q] = relu(T0[c,p,q] + I[c,p,q])\n"
                    "  - T3[c,p,q] += T2[k,p,q] * W3[c,k]\n"
                    "  - T4[c,p,q] += T2[k,p,q] * W4[c,k]\n"
                    "  - T5[c,p,q] += T4[k,p,q] * W5[c,k]\n"
                    "  - T6[c,p,q] = relu(T5[c,p,q] + T2[c,p,q])\n",
                    4) == 2);
}

/* ---- the block of 34 GB --------------------------------------------------------------------- */
static const char block_ops[] = "  A2: {pad: [0, 0, 1, 1]}\n  ops:\n"
                                "  - C1[n,k,p,q] += I[n,c,p,q] * W1[k,c]\n"
                                "  - A1[n,k,p,q] = C1[n,k,p,q] * g1[k] + b1[k]\n"
                                "  - A2[n,k,p,q] = relu(A1[n,k,p,q])\n"
                                "  - C2[n,j,p,q] += A2[n,k,p + r - 1,q + s - 1] * W2[j,k,r,s]\n"
                                "  - B1[n,j,p,q] = C2[n,j,p,q] * g2[j] + b2[j]\n"
                                "  - B2[n,j,p,q] = relu(B1[n,j,p,q])\n"
                                "  - C3[n,o,p,q] += B2[n,j,p,q] * W3[o,j]\n"
                                "  - D1[n,o,p,q] = C3[n,o,p,q] * g3[o] + b3[o]\n"
                                "  - D2[n,o,p,q] = D1[n,o,p,q] + I[n,o,p,q]\n"
                                "  - Y[n,o,p,q] = relu(D2[n,o,p,q])\n";

static test_case block_of(const char *memories, const char *unit) {
  static char arch[600], text[2000];
  snprintf(arch, sizeof arch,
           "architecture:\n  name: tlf\n  clock: 1 GHz\n  word-bits: 32\n  overlap: double-buffer\n"
           "  memories:\n%s"
           "  compute:\n  - {name: mac, below: %s, ops: [mac, add, mul, relu]}\n",
           memories, unit);
  snprintf(
      text, sizeof text,
      "workload:\n  name: block\n  dims: {n: 32, p: 1024, q: 1024, c: 256, k: 64, j: 64, o: 256, "
      "r: 3, s: 3}\n  tensors:\n  %s",
      block_ops);
  return case_of(arch, text);
}

/* One group for latency, a part of a bound; the skip is inside, each word passes about once. */
static void test_block(const char *memories, const char *unit, double most) {
  test_case e = block_of(memories, unit);
  tf_net_plan *p = plan_of(&e, TF_LATENCY, 10);
  if (p && CHECK(p->n == 1 && p->n_benefits == 1)) {
    CHECK(p->total.cycles <= most * p->bounds.cycles);
    CHECK(p->total.traffic_words <= 1.05 * (double)p->bounds.traffic_words);
    /* op by op nine tensors are written and read: 6 of 64 channels, 3 of 256 */
    CHECK_NEAR(p->benefits[0].words, 2 * (6 * 64 + 3 * 256) * 32.0 * 1024 * 1024, 1e-12);
    CHECK(p->benefits[0].apart > 2 * p->benefits[0].fused && p->benefits[0].slices > 32);
    CHECK(p->groups[0].recomputed > 0 && p->groups[0].recomputed < 0.1 * p->groups[0].points);
  }
  tf_net_plan_free(p);
  case_drop(&e);
}

/* A DMA unit is a memory of lines: the plan for it takes less time there than one that knows
 * nothing of it, which takes longer than it thinks. */
static void test_granule(void) {
  static const char product[] =
      "workload:\n  name: g\n  dims: {m: 48, n: 40, k: 24}\n  ops:\n"
      "  - B[m,n] += A[m,k] * W[k,n]\n  - C[m,n] = relu(B[m,n] + D[m,n])\n";
  char arch[2][400], *text = NULL;
  test_case e[2];
  for (int i = 0; i < 2; i++) {
    snprintf(arch[i], sizeof arch[i],
             "architecture:\n  name: dma\n  clock: 1 GHz\n  overlap: double-buffer\n  memories:\n"
             "  - {name: L3, bandwidth: 32%s}\n  - {name: L2, capacity: 400}\n  compute:\n"
             "  - {name: u, below: L2, mesh: [8, 8], ops: [mac, add, mul, relu]}\n",
             i ? ", line: 32" : "");
    e[i] = case_of(arch[i], product);
  }
  tf_net_plan *blind = plan_of(&e[0], TF_LATENCY, 2), *knows = plan_of(&e[1], TF_LATENCY, 2);
  if (blind) text = tf_net_plan_text(blind, e[0].spec->arch, e[0].spec->workload);
  const tf_text t = {"plan.yaml", text, text ? strlen(text) : 0};
  tf_net_plan *there =
      text ? tf_net_plan_read(e[1].spec->arch, e[1].spec->workload, &t, e[1].d) : NULL;
  if (CHECK(blind && knows && there)) {
    CHECK(there->total.cycles > 1.5 * blind->total.cycles);
    CHECK(knows->total.cycles < 0.8 * there->total.cycles);
    CHECK(knows->total.cycles >= knows->bounds.cycles);
    CHECK(there->total.traffic_words == blind->total.traffic_words); /* words are words */
  }
  tf_net_plan_free(blind);
  tf_net_plan_free(knows);
  tf_net_plan_free(there);
  free(text);
  case_drop(&e[0]);
  case_drop(&e[1]);
}

int main(void) {
  int may = 0;
  for (uint64_t seed = 1; seed <= 12; seed++)
    may += test_benefits(seed);
  CHECK(may > 5);
  test_apart();
  test_stored_once();
  test_block("  - {name: L3, bandwidth: 64}\n  - {name: L2, capacity: 16 MiB}\n",
             "L2, mesh: [64, 64]", 1.05);
  test_block("  - {name: L3, bandwidth: 64}\n  - {name: L2, capacity: 16 MiB, bandwidth: 4096}\n"
             "  - {name: L1, capacity: 512 KiB}\n",
             "L1, mesh: [64, 64]", 1.15);
  test_granule();
  return check_report();
}
