/* Networks cut into groups: of small ones, with any costs, no cut of all there are costs less; and
 * plans of whole networks hold what they say. */
#include "net/net.h"
#include "tests/kernels/draw.h"
#include "tests/unit/case.h"
#include "tests/unit/net_draw.h"
#include "tileflow/emit.h"

/* ---- random costs --------------------------------------------------------------------------- */
typedef struct {
  const tf_workload *wl;
  uint64_t seed;
  bool forbids;        /* some groups of several ops may not be */
  bool shows;          /* which costs are known */
  bool known[1 << 12]; /* [set of ops], which is its number: asked for its cost */
  int n, asked, at_once, told;
} lots;

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15u;
  return x ^ (x >> 29);
}

static double cost_of_set(const lots *l, unsigned set) {
  const int n = __builtin_popcount(set);
  const double each = 1 + (double)(mix(set * UINT64_C(77777) + l->seed) % 1000) / 1000;
  return each * (n == 1 ? 1 : 0.7 * n);
}

static double least_of_set(const lots *l, unsigned set) {
  const uint64_t lot = mix(set * UINT64_C(31) + l->seed * 7);
  if (l->forbids && (set & (set - 1)) && draw_lot(lot, "forbidden", 4) == 0) return INFINITY;
  return cost_of_set(l, set) * ((double)draw_lot(lot, "least", 101) / 100);
}

static bool meet(void *ctx, const int *ops, int n, int *id, double *least) {
  lots *l = ctx;
  unsigned set = 0;
  for (int i = 0; i < n; i++)
    set |= 1u << ops[i];
  *id = (int)set;
  l->n++;
  *least = least_of_set(l, set);
  return true;
}

static bool cost(void *ctx, int id, double *out) {
  lots *l = ctx;
  l->asked += !l->known[id];
  l->known[id] = true;
  *out = cost_of_set(l, (unsigned)id);
  return true;
}

static bool known(void *ctx, int id, double *out) {
  const lots *l = ctx;
  const double all = cost_of_set(l, (unsigned)id);
  *out =
      l->known[id] ? all : (all + least_of_set(l, (unsigned)id)) / 2; /* more than what was met */
  return l->known[id];
}

/* What may be asked for next is no cost yet: that it is told changes no cut. */
static void ahead(void *ctx, const int *id, int n) {
  lots *l = ctx;
  CHECK(n >= 1 && n <= l->at_once);
  for (int i = 0; i < n; i++)
    CHECK(!l->shows || !l->known[id[i]]);
  l->told += n;
}

/* ---- all cuts there are --------------------------------------------------------------------- */
/* Ops that read what op o makes, or of these those that read it as a view. */
static unsigned readers_by(const tf_workload *wl, int o, bool views) {
  unsigned set = 0;
  for (int k = 0; k < wl->n_ops; k++)
    for (int r = 0; r < wl->ops[k].n_reads; r++) {
      const int z = wl->ops[k].reads[r].tensor, of = wl->tensors[z].view_of - 1;
      if (of == wl->ops[o].out || (!views && z == wl->ops[o].out)) set |= 1u << k;
    }
  return set;
}

static unsigned readers(const tf_workload *wl, int o) { return readers_by(wl, o, false); }

static bool may_be(const tf_workload *wl, unsigned set, bool again) {
  unsigned reached = set & -set, before = 0;
  for (int o = 0; o < wl->n_ops; o++)
    if ((set >> o & 1) && ((readers_by(wl, o, true) & set) ||
                           (!again && (readers(wl, o) & set) && (readers(wl, o) & ~set))))
      return false;
  while (reached != before) {
    before = reached;
    for (int o = 0; o < wl->n_ops; o++) {
      const unsigned near = readers(wl, o) & set;
      if (!(set >> o & 1) || !((reached >> o & 1) || (near & reached))) continue;
      reached |= near | 1u << o;
    }
  }
  return reached == set;
}

/* Whether the sets can run one after the other. */
static bool in_turn(const tf_workload *wl, const unsigned *set, int n) {
  unsigned run = 0, all = (1u << wl->n_ops) - 1;
  for (bool more = true; more;) {
    more = false;
    for (int i = 0; i < n; i++) {
      bool ready = (run & set[i]) == 0;
      for (int o = 0; ready && o < wl->n_ops; o++)
        if (!(run >> o & 1) && !(set[i] >> o & 1)) ready = !(readers(wl, o) & set[i]);
      if (!ready) continue;
      run |= set[i];
      more = true;
    }
  }
  return run == all;
}

/* Puts op o into each set so far, and into one of its own. */
static double best_cut(const lots *l, int max_ops, unsigned *set, int n, int o) {
  double best = INFINITY, sum = 0;
  if (o == l->wl->n_ops) {
    for (int i = 0; i < n; i++) {
      if (__builtin_popcount(set[i]) > max_ops || isinf(least_of_set(l, set[i])) ||
          !may_be(l->wl, set[i], false))
        return INFINITY;
      sum += cost_of_set(l, set[i]);
    }
    return in_turn(l->wl, set, n) ? sum : INFINITY;
  }
  for (int i = 0; i <= n; i++) {
    if (i == n) set[n] = 0;
    set[i] |= 1u << o;
    best = fmin(best, best_cut(l, max_ops, set, i == n ? n + 1 : n, o + 1));
    set[i] &= ~(1u << o);
  }
  return best;
}

/* Ops of the set that are left to others: one that has not run reads them, and so does the set, or
 * such an op of it. */
static unsigned left_over(const tf_workload *wl, unsigned set, unsigned run) {
  unsigned left = 0, before;
  do {
    before = left;
    for (int o = 0; o < wl->n_ops; o++)
      if ((set >> o & 1) && (readers(wl, o) & set) && (readers(wl, o) & ((~set & ~run) | left)))
        left |= 1u << o;
  } while (left != before);
  return left;
}

/* The least that the rest costs, over all groups that may come next, with ops made again. */
static double best_again(const lots *l, int max_ops, unsigned run, double *memo) {
  const unsigned rest = ((1u << l->wl->n_ops) - 1) & ~run;
  if (!rest || memo[run] > 0) return memo[run];
  memo[run] = INFINITY;
  for (unsigned set = rest; set; set = (set - 1) & rest) {
    bool ready = __builtin_popcount(set) <= max_ops && isfinite(least_of_set(l, set));
    for (int o = 0; ready && o < l->wl->n_ops; o++)
      if (rest >> o & 1 && !(set >> o & 1)) ready = !(readers(l->wl, o) & set);
    const unsigned left = ready ? left_over(l->wl, set, run) : 0;
    if (!ready || __builtin_popcount(left) > NET_MOST_AGAIN || !may_be(l->wl, set, true)) continue;
    memo[run] =
        fmin(memo[run], cost_of_set(l, set) + best_again(l, max_ops, run | (set & ~left), memo));
  }
  return memo[run];
}

/* The best of the same costs, with ops made again: their number. */
static int test_again(const lots *l, int max_ops, net_cost_source source, tf_diags *d) {
  tf_arena *a = tf_arena_new();
  net_cuts cuts = {0};
  double memo[1 << 9] = {0}, sum = 0;
  unsigned run = 0;
  int again = 0;
  source.recompute = true;
  CHECK(net_partition(a, l->wl, max_ops, &source, &cuts, d) && cuts.exact);
  CHECK_NEAR(cuts.cost, best_again(l, max_ops, 0, memo), 1e-12);
  for (int i = 0; i < cuts.n; i++) {
    const unsigned set = (unsigned)cuts.id[i];
    CHECK(!(run & set) && cuts.first[i + 1] - cuts.first[i] == __builtin_popcount(set));
    again += __builtin_popcount(left_over(l->wl, set, run));
    run |= set & ~left_over(l->wl, set, run);
    sum += cost_of_set(l, set);
  }
  CHECK(run == (1u << l->wl->n_ops) - 1);
  CHECK_NEAR(sum, cuts.cost, 1e-12);
  tf_arena_free(a);
  return again;
}

/* Returns how many ops are made again where they may be. */
static int test_best(uint64_t seed) {
  test_case e = case_of(net_arch, net_draw_text(seed, 3 + (int)draw_lot(seed, "ops", 6)));
  static lots l;
  l = (lots){.wl = e.spec->workload, .seed = seed};
  l.forbids = draw_lot(seed, "forbids", 3) == 0;
  l.shows = draw_lot(seed, "shows", 2);
  l.at_once = (int)draw_lot(seed, "at once", 4);
  const net_cost_source source = {.meet = meet,
                                  .cost = cost,
                                  .known = l.shows ? known : NULL,
                                  .ahead = ahead,
                                  .at_once = l.at_once,
                                  .ctx = &l};
  const int max_ops = 1 + (int)draw_lot(seed, "most ops", 5);
  tf_arena *a = tf_arena_new();
  net_cuts cuts = {0};
  unsigned set[16];
  CHECK(net_partition(a, l.wl, max_ops, &source, &cuts, e.d));
  CHECK(cuts.exact && cuts.window >= l.wl->n_ops && l.asked <= l.n &&
        (l.at_once > 1 || l.told == 0));
  CHECK_NEAR(cuts.cost, best_cut(&l, max_ops, set, 0, 0), 1e-12);
  double sum = 0;
  unsigned run = 0;
  for (int i = 0; i < cuts.n; i++) {
    unsigned one = 0;
    for (int k = cuts.first[i]; k < cuts.first[i + 1]; k++)
      one |= 1u << cuts.op[k];
    for (int o = 0; o < l.wl->n_ops; o++)
      CHECK(((run | one) >> o & 1) || !(readers(l.wl, o) & one));
    CHECK(one && !(run & one) && one == (unsigned)cuts.id[i]);
    run |= one;
    sum += cost_of_set(&l, one);
  }
  CHECK(run == (1u << l.wl->n_ops) - 1);
  CHECK_NEAR(sum, cuts.cost, 1e-12);
  const int again = test_again(&l, max_ops, source, e.d);
  tf_arena_free(a);
  case_drop(&e);
  return again;
}

/* ---- what parts of groups tell -------------------------------------------------------------- */
/* What is known of a group; `some`: its mapping, where it has one. */
static net_cost drawn_cost(uint64_t lot, tf_tree *some) {
  const double value = 1 + (double)draw_lot(lot, "value", 100),
               farther = draw_lot(lot, "farther", 2) ? 4 : 2.5;
  return (net_cost){.known = draw_lot(lot, "known", 2),
                    .expected = true,
                    .least = 1,
                    .value = value,
                    .tree = draw_lot(lot, "mapped", 4) ? some : NULL,
                    .kernel = draw_lot(lot, "waits", 3) ? value : value / 2,
                    .baseline = draw_lot(lot, "far", 3) ? value : value / farther};
}

/* Sets of ops with random costs, all of which are told of one: beside those that hold, each
 * compared op by op. */
static void test_parts(uint64_t seed) {
  enum { OPS = 8, SETS = 40 };
  test_case e = case_of(net_arch, net_draw_text(seed, OPS));
  test_case beyond =
      case_of(net_arch, "workload:\n  name: w\n  dims: {m: 8, n: 12}\n  ops:\n  - A[m] = X[m] * 2\n"
                        "  - C[n] = A[n - 2] + 1\n  tensors: {A: {pad: [2]}}\n");
  test_case within =
      case_of(net_arch, "workload:\n  name: w\n  dims: {m: 8}\n  ops:\n  - A[m] = X[m] * 2\n"
                        "  - C[m] = A[m] + 1\n");
  tf_group groups[] = {{.workload = within.spec->workload}, {.workload = beyond.spec->workload}};
  const int n_ops = e.spec->workload->n_ops;
  net_costs c = {
      .wl = e.spec->workload, .d = e.d, .entry = calloc(SETS, sizeof *c.entry), .n = SETS};
  tf_tree *some = (tf_tree *)&c; /* a group that has a mapping: it is not looked at */
  unsigned set[SETS];            /* of positions in the order */
  for (int i = 0; i < SETS; i++) {
    const uint64_t lot = mix(seed * SETS + (uint64_t)i);
    int ops[32], n = 0;
    set[i] = 1 + (unsigned)(lot % ((1u << n_ops) - 1));
    for (int k = 0; k < n_ops; k++)
      if (set[i] >> k & 1) ops[n++] = c.wl->topo[k];
    c.entry[i] = drawn_cost(lot, some);
    c.entry[i].group = &groups[draw_lot(lot, "beyond", 2)];
    for (int k = 0; k < n_ops; k++)
      c.entry[i].alone += set[i] >> k & 1 ? 1 + k : 0;
    CHECK(net_note_place(&c, i, ops, n));
  }
  for (int i = 0; i < SETS; i++) {
    double least = 1, cost;
    bool first = true;
    for (int k = 0; k < i; k++)
      first &= set[k] != set[i];
    for (int k = 0; k < SETS && first; k++) {
      const net_cost *part = &c.entry[k];
      bool again = set[k] == set[i],
           tells = part->known && part->tree && part->kernel == part->value;
      for (int before = 0; before < k; before++)
        again |= set[before] == set[k];
      if (again || (set[k] & ~set[i]) || !part->known || !part->tree) continue;
      double all = part->kernel;
      for (int o = 0; o < n_ops; o++)
        all += (set[i] & ~set[k]) >> o & 1 ? 1 + o : 0;
      if (tells && part->value <= 3 * part->baseline) least = fmax(least, 0.99 * all);
      if (part->group == &groups[1] && part->value > 2 * part->baseline)
        least = fmax(least, 0.6 * part->value);
    }
    const bool known = net_cost_known(&c, i, &cost);
    CHECK(known == c.entry[i].known);
    if (first) CHECK_NEAR(cost, known ? c.entry[i].value : least, 1e-9);
  }
  net_parts_free(&c.parts);
  free(c.entry);
  case_drop(&e);
  case_drop(&beyond);
  case_drop(&within);
}

/* ---- ops side by side ----------------------------------------------------------------------- */
static bool meet_any(void *ctx, const int *ops, int n, int *id, double *least) {
  (void)ops, (void)n;
  ++*(int *)ctx;
  *id = 0;
  *least = 1;
  return true;
}

static bool cost_one(void *ctx, int id, double *out) {
  (void)ctx, (void)id;
  *out = 1;
  return true;
}

/* Ops that do not read each other, and one that reads all of them, or none: sets of them are looked
 * at where they may become a group, and windows are such that these are few, whatever the size of
 * groups.  Every group costs 1. */
static void test_side_by_side(int n, bool joined, int max_ops, int window, int groups) {
  static char text[1 << 14];
  char *p = text + sprintf(text, "workload:\n  name: w\n  dims: {m: 8}\n  ops:\n");
  for (int i = 0; i < n; i++)
    p += sprintf(p, "  - A%d[m] = X[m] * %d\n", i, i + 2);
  if (joined) p += sprintf(p, "  - S[m] = A0[m]");
  for (int i = 1; joined && i < n; i++)
    p += sprintf(p, " + A%d[m]", i);
  sprintf(p, "\n");
  test_case e = case_of(net_arch, text);
  tf_arena *a = tf_arena_new();
  net_cuts cuts = {0};
  int met = 0;
  const net_cost_source source = {.meet = meet_any, .cost = cost_one, .ctx = &met};
  CHECK(net_partition(a, e.spec->workload, max_ops, &source, &cuts, e.d));
  CHECK_I64(cuts.n, groups);
  CHECK_I64(cuts.window, window);
  CHECK(met >= n && met <= 100000);
  tf_arena_free(a);
  case_drop(&e);
}

/* ---- plans ---------------------------------------------------------------------------------- */
/* The tensor that has the words. */
static int whose(const tf_workload *wl, int z) {
  return wl->tensors[z].view_of ? wl->tensors[z].view_of - 1 : z;
}

static void check_plan(const test_case *e, const tf_net_plan *p) {
  const tf_workload *wl = e->spec->workload;
  tf_figures sum = {0};
  int ops = 0;
  bool made[NET_MOST] = {false};
  for (int i = 0; i < p->n; i++) {
    const tf_net_group *g = &p->groups[i];
    tf_model *m = tf_model_new(g->tree, e->d);
    tf_result r;
    if (!CHECK(m && tf_model_eval(m, NULL, &r) && r.feasible)) case_complain(e->d);
    CHECK(m && r.cycles == g->figures.cycles && r.energy_pj == g->figures.energy_pj);
    CHECK(g->figures.cycles >= g->bounds.cycles * (1 - 1e-9) && g->like <= i);
    sum.cycles += g->figures.cycles;
    sum.traffic_words += g->figures.traffic_words;
    for (int o = 0; o < g->group->workload->n_ops; o++, ops++)
      made[wl->ops[g->group->op[o]].out] = true;
    for (int z = 0; z < g->group->workload->n_tensors; z++) /* what it reads was made before */
      CHECK(wl->tensors[g->group->tensor[z]].producer < 0 || made[whose(wl, g->group->tensor[z])]);
    tf_model_free(m);
  }
  CHECK_I64(ops, wl->n_ops);
  CHECK(sum.cycles == p->total.cycles && sum.traffic_words == p->total.traffic_words);
  CHECK(p->total.cycles >= p->parts.cycles * (1 - 1e-9) &&
        p->parts.cycles >= p->bounds.cycles * (1 - 1e-9));
  CHECK(p->total.traffic_words >= (double)p->parts.traffic_words &&
        p->parts.traffic_words >= p->bounds.traffic_words);
}

/* Written and read back it is the same plan. */
static void check_text(const test_case *e, const tf_net_plan *p) {
  char *text = tf_net_plan_text(p, e->spec->arch, e->spec->workload);
  const tf_text t = {"plan.yaml", text, text ? strlen(text) : 0};
  tf_net_plan *back = text ? tf_net_plan_read(e->spec->arch, e->spec->workload, &t, e->d) : NULL;
  CHECK(tf_net_has_plan(&t));
  if (!CHECK(back && back->n == p->n && back->objective == p->objective)) case_complain(e->d);
  for (int i = 0; back && i < p->n; i++) {
    CHECK(case_same_tree(back->groups[i].tree, p->groups[i].tree));
    CHECK(back->groups[i].like == p->groups[i].like);
  }
  CHECK(back && back->total.cycles == p->total.cycles &&
        back->total.energy_pj == p->total.energy_pj);
  tf_net_plan_free(back);
  free(text);
}

static void check_memory(const test_case *e, const tf_net_plan *p) {
  tf_net_memory m;
  CHECK(tf_net_memory_of(p, e->spec->workload, 4, &m, e->d));
  CHECK(m.bytes >= m.least);
  for (int z = 0; z < e->spec->workload->n_tensors; z++) {
    CHECK(m.offset[z] < m.bytes && (m.offset[z] < 0 || m.offset[z] % 64 == 0));
    CHECK(m.offset[z] == m.offset[whose(e->spec->workload, z)]);
  }
  tf_net_memory_free(&m);
}

static void test_plan(uint64_t seed) {
  test_case e = case_of(net_arch, net_draw_text(seed, 6));
  tf_net_opts o = {.objective = draw_lot(seed, "objective", 2) ? TF_LATENCY : TF_TRAFFIC,
                   .max_ops = 4};
  o.budget = (tf_budget){.max_evals = 60, .seed = 1, .threads = 1};
  tf_net_plan *p = tf_net_plan_of(e.spec->arch, e.spec->workload, &o, e.d);
  if (CHECK(p != NULL)) {
    check_plan(&e, p);
    check_text(&e, p);
    check_memory(&e, p);
  } else {
    case_complain(e.d);
  }
  tf_net_plan_free(p);
  case_drop(&e);
}

/* Layers that are equal are planned once, and a long graph takes no more of each op than a short
 * one. */
static void test_long(void) {
  static char text[1 << 16];
  int64_t evaluated[2];
  for (int k = 0; k < 2; k++) {
    const int layers = k ? 64 : 4;
    char *p = text + sprintf(text, "workload:\n  name: long\n  dims: {m: 8, n: 8, k: 8}\n  ops:\n");
    for (int i = 0; i < layers; i++) {
      p += sprintf(p, "  - A%d[m,n] += C%d[m,k] * W%d[k,n]\n", i, i, i);
      p += sprintf(p, "  - B%d[m,n] = relu(A%d[m,n] + C%d[m,n])\n", i, i, i);
      p += sprintf(p, "  - C%d[m,n] = B%d[m,n] * 2\n", i + 1, i);
    }
    test_case e = case_of(net_arch, text);
    tf_net_opts o = {.max_ops = 3, .budget = {.max_evals = 20, .seed = 1, .threads = 1}};
    tf_net_plan *p2 = tf_net_plan_of(e.spec->arch, e.spec->workload, &o, e.d);
    CHECK(p2 && p2->n_distinct < p2->n && p2->exact == (k == 0));
    evaluated[k] = p2 ? p2->evaluated : -1;
    tf_net_plan_free(p2);
    case_drop(&e);
  }
  CHECK(evaluated[0] > 0 && evaluated[1] <= 2 * evaluated[0]);
}

/* A core, a wide or a narrow way to DRAM, and a memory that holds all there is. */
static const char core_of[] =
    "architecture:\n  name: core\n  clock: 1 GHz\n  memories:\n  - {name: DRAM, bandwidth: %s}\n"
    "  - {name: L1, capacity: 256 KiB, bandwidth: 4096}\n  compute:\n"
    "  - {name: u, ops: [mac, add, mul, relu], below: L1, mesh: [16, 2]}\n";

/* All of it in L1, narrow tiles, for groups that have a product; nothing is known of others. */
static tf_tree *all_at_once(void *ctx, const tf_workload *group, tf_choices *choices, tf_diags *d) {
  const test_case *e = ctx;
  char text[256], *p = text + sprintf(text, "DRAM\n  L1 for");
  if (group->ops[0].reduce == TF_ASSIGN) return NULL;
  choices->at[TF_CHOICE_TILE] = 1;
  for (int k = 0; k < group->n_dims; k++)
    p += sprintf(p, " %s=%lld", group->dims[k].name, (long long)group->dims[k].extent);
  sprintf(p, "\n    op %s\n", group->ops[0].name);
  return tf_tree_parse(text, (tf_loc){0}, e->spec->arch, group, d);
}

static tf_tree *broken(void *ctx, const tf_workload *group, tf_choices *choices, tf_diags *d) {
  (void)ctx;
  (void)choices;
  tf_fail(d, group->at, TF_E_STORE, "nothing can be read");
  return NULL;
}

/* A plan keeps what is chosen for its kernels: read back, and in what is emitted; groups that
 * choose another thing are no longer alike. */
static void check_chosen(test_case *e, const tf_net_plan *p) {
  const tf_emit_options o = {.isa = "avx512"};
  char *text = tf_net_plan_text(p, e->spec->arch, e->spec->workload);
  tf_net_plan *again =
      tf_net_plan_read(e->spec->arch, e->spec->workload, &(tf_text){"p", text, strlen(text)}, e->d);
  tf_emitted *with = tf_net_emit_cpu(p, e->spec->arch, e->spec->workload, &o, e->d);
  tf_emitted *read =
      again ? tf_net_emit_cpu(again, e->spec->arch, e->spec->workload, &o, e->d) : NULL;
  if (!CHECK(again && with && read)) {
    case_complain(e->d);
    return;
  }
  for (int i = 0; i < p->n; i++)
    CHECK(!memcmp(&p->groups[i].choices, &again->groups[i].choices, sizeof(tf_choices)));
  again->groups[0].choices = (tf_choices){{0}};
  tf_emitted *own = tf_net_emit_cpu(again, e->spec->arch, e->spec->workload, &o, e->d);
  CHECK(!strcmp(with->file[0].text, read->file[0].text));
  CHECK(own && strcmp(with->file[0].text, own->file[0].text) != 0);
  tf_emitted_free(with);
  tf_emitted_free(read);
  tf_emitted_free(own);
  tf_net_plan_free(again);
  strstr(text, "choose: {tile: 1}")[15] = '2'; /* of the first group alone */
  again =
      tf_net_plan_read(e->spec->arch, e->spec->workload, &(tf_text){"p", text, strlen(text)}, e->d);
  CHECK(again && again->groups[2].like == 2 && again->groups[0].choices.at[TF_CHOICE_TILE] == 2);
  tf_net_plan_free(again);
  free(text);
}

/* What is known of a group is its mapping, and that of the groups that are like it; others are
 * searched for. */
static void test_known(void) {
  char core[512];
  snprintf(core, sizeof core, core_of, "16");
  test_case e = case_of(core, "workload:\n  name: w\n  dims: {m: 8, n: 64, k: 64}\n  ops:\n"
                              "  - A[m,n] += X[m,k] * V[k,n]\n  - B[m,n] = relu(A[m,n])\n"
                              "  - C[m,n] += B[m,k] * W[k,n]\n");
  tf_net_opts o = {.max_ops = 1, .budget = {.max_evals = 20, .seed = 1, .threads = 1}};
  o.known = all_at_once;
  o.known_ctx = &e;
  tf_net_plan *p = tf_net_plan_of(e.spec->arch, e.spec->workload, &o, e.d);
  if (!CHECK(p && p->n == 3)) case_complain(e.d);
  if (p) check_plan(&e, p);
  CHECK(p && p->n_known == 1 && p->groups[2].like == 0);
  for (int i = 0; p && i < p->n; i++) {
    CHECK((p->groups[i].tree->nodes[1].n_loops == 3) == (i != 1));
    CHECK_I64(p->groups[i].choices.at[TF_CHOICE_TILE], i != 1);
  }
  if (p) check_chosen(&e, p);
  o.known = broken;
  CHECK(!tf_net_plan_of(e.spec->arch, e.spec->workload, &o, e.d));
  CHECK_I64((int64_t)tf_diags_errors(e.d), 1);
  tf_net_plan_free(p);
  case_drop(&e);
}

/* A section is seen within the text's length alone: no 0 need follow it. */
static void test_has_plan(void) {
  static const char text[] = "a: 1\nplan:\n";
  for (size_t len = 0; len < sizeof text; len++)
    CHECK(tf_net_has_plan(&(tf_text){"t", text, len}) == (len >= 10));
  CHECK(!tf_net_has_plan(&(tf_text){"t", NULL, 0}));
}

static const char two_products[] =
    "workload:\n  name: w\n  dims: {m: 32, n: 64, k: 64, l: 64}\n  ops:\n"
    "  - A[m,k] += X[m,l] * V[l,k]\n  - C[m,n] += A[m,k] * W[k,n]\n";

/* What manifest.json of the mapping's kernel says of a call. */
static double seconds_in_manifest(const tf_tree *t, const char *isa, tf_diags *d) {
  static const char key[] = "\"kernel_seconds\": ";
  tf_result r = {0};
  tf_model *m = tf_model_new(t, d);
  tf_emitted *e = m && tf_model_eval(m, NULL, &r)
                      ? tf_emit(t, "cpu", &(tf_emit_options){.isa = isa, .result = &r}, d)
                      : NULL;
  const char *at = NULL;
  for (int i = 0; e && i < e->n; i++)
    if (!strcmp(e->file[i].name, "manifest.json")) at = strstr(e->file[i].text, key);
  const double seconds = at ? atof(at + sizeof key - 1) : -1;
  tf_emitted_free(e);
  tf_model_free(m);
  return seconds;
}

/* What a plan expects of a group is what its kernel's manifest says, less where the cache has what
 * an earlier group made; the network's is the groups' sum. */
static void check_expected(const test_case *e, const tf_net_plan *p, const char *isa) {
  const double hz = e->spec->arch->clock_hz;
  double sum = 0;
  for (int i = 0; i < p->n; i++) {
    const tf_net_group *g = &p->groups[i];
    const double alone = tf_expected_cycles(&g->expected, 0), want = alone / hz;
    CHECK_NEAR(seconds_in_manifest(g->tree, isa, e->d), want, 1e-5);
    CHECK(g->expected_cycles > 0 && g->expected_cycles <= alone * (1 + 1e-12));
    CHECK(g->expected_cycles >= g->expected.busy && g->expected.busy > 0);
    sum += g->expected_cycles;
  }
  CHECK_NEAR(p->expected_cycles, sum, 1e-9);
}

/* The number of groups of the two products; what each is emitted from must have a kernel. */
static int groups_of(const char *bandwidth, const char *isa, double limit) {
  static char arch[1 << 10];
  snprintf(arch, sizeof arch, core_of, bandwidth);
  test_case e = case_of(arch, two_products);
  const tf_net_opts o = {.isa = isa,
                         .budget = {.max_evals = 40, .time_limit = limit, .seed = 1, .threads = 1}};
  tf_net_plan *p = tf_net_plan_of(e.spec->arch, e.spec->workload, &o, e.d);
  const int n = p ? p->n : -1;
  if (CHECK(p != NULL)) {
    check_plan(&e, p);
    CHECK(p->exact && p->stopped_by == (limit > 0 ? TF_STOP_TIME : TF_STOP_EXHAUSTED));
  }
  if (p && isa) check_expected(&e, p, isa);
  if (p && !isa) CHECK(p->expected_cycles == 0);
  for (int i = 0; i < n && isa; i++)
    CHECK(tf_emit_cycles(p->groups[i].tree, "cpu", &(tf_emit_options){.isa = isa}, e.d) > 0);
  tf_net_plan_free(p);
  case_drop(&e);
  return n;
}

/* Kernels of fused products do the same work: they are one group where that saves words that count,
 * and two where words cost next to nothing, or where no time is left to look at the group. */
static void test_kernels(void) {
  CHECK_I64(groups_of("0.5", NULL, 0), 1);
  CHECK_I64(groups_of("0.5", "avx512", 0), 1);
  CHECK_I64(groups_of("4096", "avx512", 0), 2);
  CHECK_I64(groups_of("0.5", "avx512", 1e-9), 2);
}

/* Kernels planned beside each other are those planned one after the other. */
static void test_threads(void) {
  static char arch[1 << 10];
  char *text[2] = {NULL, NULL};
  int64_t evals[2] = {0};
  snprintf(arch, sizeof arch, core_of, "0.5");
  for (int i = 0; i < 2; i++) {
    test_case e = case_of(arch, net_draw_text(7, 7));
    const tf_net_opts o = {.isa = "avx512",
                           .budget = {.max_evals = 40, .seed = 1, .threads = i ? 3 : 1}};
    tf_net_plan *p = tf_net_plan_of(e.spec->arch, e.spec->workload, &o, e.d);
    if (CHECK(p != NULL)) {
      text[i] = tf_net_plan_text(p, e.spec->arch, e.spec->workload);
      evals[i] = p->evals;
    }
    tf_net_plan_free(p);
    case_drop(&e);
  }
  CHECK_TEXT(text[0], text[1]);
  CHECK_I64(evals[0], evals[1]);
  free(text[0]);
  free(text[1]);
}

/* Patches put together, of the four neighbours of one tensor each a channel's quarter: reads partly
 * in the padding are counted slowly, which leaves little effort, and the op gets a mapping all the
 * same. */
static void test_merging(void) {
  static const char patches[] = "workload:\n  name: w\n  dims: {h: 4, w: 4, c: 96}\n  tensors:\n"
                                "    A: {pad: [0, 0, 72], shape: [8, 8, 24]}\n  ops:\n"
                                "  - B[h,w,c] = A[2 * h,2 * w,c] + A[2 * h + 1,2 * w,c - 24] + A[2 "
                                "* h,2 * w + 1,c - 48] + A[2 * h + 1,2 * w + 1,c - 72]\n";
  static const char host[] = "architecture:\n  name: host\n  clock: 3 GHz\n  word-bits: 32\n"
                             "  memories:\n  - {name: DRAM, bandwidth: 5}\n"
                             "  - {name: L3, capacity: 32768 KiB, bandwidth: 4}\n"
                             "  - {name: L2, mesh: [2, 1], capacity: 512 KiB, bandwidth: 6}\n"
                             "  - {name: L1, capacity: 32 KiB, bandwidth: 12}\n"
                             "  - {name: REG, capacity: 128}\n  compute:\n"
                             "  - {name: u, ops: [mac, add, mul], below: REG, mesh: [8, 2]}\n";
  for (int late = 0; late < 2; late++) {
    test_case e = case_of(host, patches);
    tf_net_opts o = {
        .isa = "avx2",
        .budget = {.max_evals = 10, .seed = 1, .threads = 1, .time_limit = late ? 1e-9 : 0}};
    tf_net_plan *p = tf_net_plan_of(e.spec->arch, e.spec->workload, &o, e.d);
    CHECK(p && p->n == 1 && p->groups[0].tree);
    if (p) check_plan(&e, p);
    tf_net_plan_free(p);
    case_drop(&e);
  }
}

/* Time that is up before the first search: a whole plan, by formulas alone where they find
 * mappings, that says so. */
static void test_late(void) {
  test_case e = case_of(net_arch, net_draw_text(5, 6));
  tf_net_opts o = {.max_ops = 4, .budget = {.max_evals = 60, .seed = 1, .threads = 1}};
  tf_net_plan *p = tf_net_plan_of(e.spec->arch, e.spec->workload, &o, e.d);
  CHECK(p && p->stopped_by == TF_STOP_EXHAUSTED);
  o.budget.time_limit = 1e-9;
  tf_net_plan *late = tf_net_plan_of(e.spec->arch, e.spec->workload, &o, e.d);
  CHECK(p && late && late->stopped_by == TF_STOP_TIME && late->evals < p->evals);
  if (late) check_plan(&e, late);
  tf_net_plan_free(p);
  tf_net_plan_free(late);
  case_drop(&e);
}

/* An op that reads a tensor that no memory holds. */
static void test_unmapped(void) {
  test_case e = case_of("architecture:\n  name: tiny\n  clock: 1 GHz\n  memories:\n"
                        "  - {name: DRAM, capacity: 100, bandwidth: 4}\n"
                        "  - {name: L1, capacity: 8, bandwidth: 4}\n"
                        "  compute:\n  - {name: u, ops: [mac, mul], below: L1}\n",
                        "workload:\n  name: w\n  dims: {m: 4, n: 4, k: 16}\n"
                        "  tensors: {A: {shape: [4, 96]}}\n  ops:\n"
                        "  - B[m,n] += A[m,k] * A[n,k + 32]\n  - C[m,n] = B[m,n] * 2\n");
  tf_net_opts o = {.budget = {.max_evals = 20, .seed = 1, .threads = 1}};
  CHECK(!tf_net_plan_of(e.spec->arch, e.spec->workload, &o, e.d));
  char *text = tf_diags_text(e.d);
  CHECK(text && strstr(text, "no mapping of op 'B' was found that fits") && !strstr(text, "'C'"));
  free(text);
  case_drop(&e);
}

static bool at_once(void *ctx) {
  (void)ctx;
  return true;
}

static void test_refused(void) {
  test_case e = case_of(net_arch, net_draw_text(3, 5));
  tf_net_opts o = {.budget.stop = at_once};
  CHECK(!tf_net_plan_of(e.spec->arch, e.spec->workload, &o, e.d));
  CHECK_I64((int64_t)tf_diags_errors(e.d), 0);
  o = (tf_net_opts){.objective = TF_EDP, .max_ops = 33};
  CHECK(!tf_net_plan_of(e.spec->arch, e.spec->workload, &o, e.d));
  o.objective = TF_LATENCY;
  CHECK(!tf_net_plan_of(e.spec->arch, e.spec->workload, &o, e.d));
  CHECK_I64((int64_t)tf_diags_errors(e.d), 2);
  case_drop(&e);
}

/* ---- the order of groups -------------------------------------------------------------------- */
/* Bits that are live while the worst group runs, by a walk; -1: a group runs before what it reads
 * is made. */
static int64_t most_live(const tf_workload *wl, const net_cuts *c) {
  int of[64], last = 0;
  int64_t most = 0;
  for (int g = 0; g < c->n; g++)
    for (int i = c->first[g]; i < c->first[g + 1]; i++)
      of[c->op[i]] = g;
  for (int g = 0; g < c->n; g++) {
    int64_t live = 0;
    for (int t = 0; t < wl->n_tensors; t++) {
      const tf_tensor *z = &wl->tensors[t];
      if (z->producer < 0 || z->view_of) continue;
      const int made = last = of[z->producer];
      for (int k = 0; k < z->n_consumers; k++) {
        if (of[z->consumers[k]] < made) return -1;
        if (of[z->consumers[k]] > last) last = of[z->consumers[k]];
      }
      if (last > made && made <= g && g <= last) live += tf_tensor_words(z) * z->word_bits;
    }
    if (live > most) most = live;
  }
  return most;
}

/* A cut into groups of one op, in an order that is drawn: it stays, or becomes that of the
 * workload, which has less live. */
static void test_order(uint64_t seed) {
  test_case e = case_of(net_arch, net_draw_text(seed, 8));
  const tf_workload *wl = e.spec->workload;
  tf_arena *a = tf_arena_new();
  int first[65], op[64], own[64], id[64];
  bool done[64] = {false};
  for (int n = 0; n < wl->n_ops; n++) {
    int ready[64], n_ready = 0;
    for (int o = 0; o < wl->n_ops; o++) {
      bool may = !done[o];
      for (int k = 0; k < wl->ops[o].n_reads; k++) {
        const int maker = wl->tensors[wl->ops[o].reads[k].tensor].producer;
        may = may && (maker < 0 || done[maker]);
      }
      if (may) ready[n_ready++] = o;
    }
    op[n] = id[n] = ready[draw_lot(seed * 64 + (uint64_t)n, "next", (uint64_t)n_ready)];
    own[n] = wl->topo[n];
    done[op[n]] = true;
    first[n] = n;
  }
  first[wl->n_ops] = wl->n_ops;
  net_cuts c = {.n = wl->n_ops, .first = first, .op = op, .id = id};
  const net_cuts found = c, plain = {.n = wl->n_ops, .first = first, .op = own, .id = own};
  CHECK(net_order(a, wl, &c));
  CHECK(most_live(wl, &found) >= 0);
  const bool better = most_live(wl, &plain) < most_live(wl, &found);
  for (int i = 0; i < c.n; i++)
    CHECK(c.op[i] == (better ? own[i] : op[i]) && c.id[i] == c.op[i]);
  tf_arena_free(a);
  case_drop(&e);
}

int main(void) {
  for (uint64_t seed = 0; seed < 60; seed++)
    test_order(seed);
  int again = 0;
  for (uint64_t seed = 1; seed <= 200; seed++)
    again += test_best(seed);
  CHECK(again >= 10);
  for (uint64_t seed = 1; seed <= 50; seed++)
    test_parts(seed);
  test_side_by_side(40, false, 8, 8, 40);
  test_side_by_side(40, false, 32, 8, 40);
  test_side_by_side(22, true, 8, 8, 16);
  for (uint64_t seed = 1; seed <= 6; seed++)
    test_plan(seed);
  test_long();
  test_known();
  test_has_plan();
  test_kernels();
  test_late();
  test_threads();
  test_merging();
  test_unmapped();
  test_refused();
  return check_report();
}
