/* Links of networks (model/cost/network.h) against a walk that takes every word along every link,
 * and against the figures that another model publishes. */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "model/cost/network.h"
#include "model/eval/hooks.h"
#include "tests/unit/case.h"

static bool near(double a, double b) { return fabs(a - b) <= 1e-9 * (1 + fabs(b)); }

/* ---- AccelForge ----------------------------------------------------------------------------- */

/* All instances of a mesh's row, as one loop whose steps share a word fills them from one end. */
static tf_net_side row_of(int64_t n) {
  tf_net_line l = {.topology = TF_MESH, .side = n, .n = 1, .trip = {n}, .shared = {true}};
  return tf_net_along(&l);
}

/* AccelForge, tests/isl/distributed/multicast/test_cases.yaml: in an 8 x 8 mesh each instance holds
 * a word that all of its row need.  From a place within a row the way goes to both ends, each a row
 * of its own. */
static void check_accelforge(void) {
  double total = 0, multicast = 0, latency = 0;
  for (int y = 0; y < 8; y++)
    for (int x = 0; x < 8; x++) {
      const tf_net_side left = row_of(x + 1), right = row_of(8 - x);
      total += left.alone.hops * (x + 1) + right.alone.hops * (8 - x);
      multicast += left.all.hops + right.all.hops;
      latency = fmax(latency, fmax(left.all.hops, right.all.hops));
    }
  CHECK(near(total, 1344) && near(multicast, 448) && near(latency, 7));
}

/* ---- a walk --------------------------------------------------------------------------------- */

enum { NODES = 16, LINKS = 4 * NODES * NODES * NODES };

typedef struct {
  double words[LINKS], hops;
  bool taken[LINKS]; /* by the word at hand */
  bool once;         /* a link that it has taken it does not take again */
} walk;

/* A link of side a (row or column `at`) from one number to another. */
static void take(walk *w, int a, int64_t at, int64_t from, int64_t to, double part) {
  const int64_t link = ((a * NODES + at) * NODES + from) * NODES + to;
  if (w->once && w->taken[link]) return;
  w->taken[link] = true;
  w->words[link] += part;
  w->hops += part;
}

static void go(walk *w, const tf_net_line *l, int a, int64_t at, int64_t to, double part) {
  int64_t leaves = 1;
  while (leaves < l->side)
    leaves *= 2;
  if (l->topology == TF_TREE) { /* nodes as in a heap */
    for (int64_t n = leaves + to; n > 1; n /= 2)
      take(w, a, at, n / 2, n, part);
    return;
  }
  const bool back = l->topology == TF_TORUS && 2 * to > l->side;
  for (int64_t x = 0; x != to;) {
    const int64_t next = back ? (x + l->side - 1) % l->side : x + 1;
    take(w, a, at, x, next, part);
    x = next;
  }
}

/* The digits of a setting of the loops of both sides: where it stands, which word it needs, whether
 * it is the first that needs it. */
typedef struct {
  int64_t at[2], word;
  bool first;
} setting;

static int64_t settings_of(const tf_net_line side[2]) {
  int64_t n = 1;
  for (int a = 0; a < 2; a++)
    for (int j = 0; j < side[a].n; j++)
      n *= side[a].trip[j];
  return n;
}

static setting setting_of(const tf_net_line side[2], int64_t i) {
  setting s = {{0, 0}, 0, true};
  for (int a = 0; a < 2; a++) {
    int64_t stride = 1;
    for (int j = side[a].n - 1; j >= 0; j--) {
      const int64_t digit = i % side[a].trip[j];
      i /= side[a].trip[j];
      s.at[a] += digit * stride;
      stride *= side[a].trip[j];
      if (side[a].shared[j])
        s.first &= digit == 0;
      else
        s.word = s.word * side[a].trip[j] + digit;
    }
  }
  return s;
}

enum { ALONE, ALL, FIRST };

/* Each word once (how ALL, FIRST) or each copy once. */
static void run(walk *w, const tf_net_line side[2], int how) {
  const int64_t n = settings_of(side);
  int64_t words = 0;
  memset(w, 0, sizeof *w);
  w->once = how == ALL;
  for (int64_t i = 0; i < n; i++)
    words = setting_of(side, i).word + 1 > words ? setting_of(side, i).word + 1 : words;
  for (int64_t word = 0; word < words; word++) {
    memset(w->taken, 0, sizeof w->taken);
    for (int64_t i = 0; i < n; i++) {
      const setting s = setting_of(side, i);
      if (s.word != word || (how == FIRST && !s.first)) continue;
      const double part = 1 / (double)(how == ALONE ? n : words);
      go(w, &side[0], 0, 0, s.at[0], part);
      go(w, &side[1], 1, s.at[0], s.at[1], part);
    }
  }
}

static void check_route(const walk *w, const tf_net_route *r) {
  double most = 0, said = 0;
  for (int i = 0; i < LINKS; i++)
    most = fmax(most, w->words[i]);
  for (int i = 0; i < 4; i++)
    said = fmax(said, r->cross[i]);
  CHECK(near(w->hops, r->hops));
  CHECK(near(most, said));
}

static void draw(tf_rng *g, tf_topology t, tf_net_line *l) {
  int64_t used = 1;
  *l = (tf_net_line){.topology = t, .n = (int)tf_rng_below(g, 4)};
  for (int j = 0; j < l->n; j++) {
    l->trip[j] = 1 + tf_rng_below(g, 3);
    if (used * l->trip[j] > 8) l->trip[j] = 1;
    used *= l->trip[j];
    l->shared[j] = tf_rng_below(g, 2);
  }
  l->side = used + tf_rng_below(g, (uint32_t)(9 - used));
}

static void check_walks(void) {
  static const tf_topology kinds[] = {TF_MESH, TF_TORUS, TF_TREE};
  static walk w;
  tf_rng g = tf_rng_new(1, 1);
  for (int i = 0; i < 400; i++) {
    tf_net_line side[2];
    draw(&g, kinds[i % 3], &side[0]);
    draw(&g, kinds[i % 3], &side[1]);
    const tf_net_routes r = tf_net_across(side);
    run(&w, side, ALONE);
    check_route(&w, &r.alone);
    run(&w, side, ALL);
    check_route(&w, &r.all);
    run(&w, side, FIRST);
    check_route(&w, &r.first);
    for (int a = 0; a < 2; a++) {
      double most = 0;
      for (int64_t k = 0; k < settings_of(side); k++) {
        memset(&w, 0, sizeof w);
        go(&w, &side[a], 0, 0, setting_of(side, k).at[a], 1);
        most = fmax(most, w.hops);
      }
      CHECK(near(most, (double)tf_net_farthest(&side[a])));
    }
  }
}

/* A word that six instances share, and one of its own for each. */
static void check_one_hop(void) {
  tf_net_line side[2] = {{.topology = TF_BUS, .side = 3, .n = 1, .trip = {3}, .shared = {true}},
                         {.topology = TF_BUS, .side = 2, .n = 1, .trip = {2}, .shared = {true}}};
  tf_net_routes r = tf_net_across(side);
  CHECK(near(r.all.hops, 1) && near(r.alone.hops, 1) && near(r.shared, 6) && r.one_way);
  side[0].topology = side[1].topology = TF_CROSSBAR;
  r = tf_net_across(side);
  CHECK(near(r.all.hops, 6) && near(r.all.cross[0], 1) && near(r.all.cross[1], 1) && !r.one_way);
  CHECK(near(r.alone.hops, 1) && near(r.alone.cross[0], 1) && near(r.alone.cross[1], 1.0 / 6));
}

/* ---- neighbours ----------------------------------------------------------------------------- */

/* Words of I and W, as the head of an example works them out: read of the outer memory, fill of the
 * inner one, handed on; words x hops, and those of the busiest link. */
typedef struct {
  const char *path;
  int64_t read[2], fill[2], handed[2];
  double hops, busiest;
  int64_t alone[2]; /* read without peers */
} example;

static int tensor_of(const tf_workload *wl, const char *name) {
  int z = 0;
  while (strcmp(wl->tensors[z].name, name) != 0)
    z++;
  return z;
}

static void check_example(const example *x, bool peers) {
  size_t len;
  char *text = case_file(x->path, &len), *key = strstr(text, ", peers: true");
  test_case e = {0};
  if (!CHECK(key != NULL)) return;
  if (!peers) memset(key, ' ', strlen(", peers: true"));
  case_read(&e, text);
  if (CHECK(case_evaluate(&e))) {
    const int n = e.spec->workload->n_tensors;
    for (int k = 0; k < 2; k++) {
      const int z = tensor_of(e.spec->workload, k ? "W" : "I");
      CHECK_I64(e.r.counts[z].read, peers ? x->read[k] : x->alone[k]);
      CHECK_I64(e.r.counts[n + z].fill, x->fill[k]);
      CHECK_I64(e.r.counts[n + z].drain, peers ? x->handed[k] : 0);
    }
    if (peers) CHECK(near(e.r.levels[1].hops, x->hops));
    if (peers)
      CHECK(near(e.r.levels[1].link_cycles * e.spec->arch->memories[1].link_bw, x->busiest));
    CHECK(e.r.cycles >= e.r.levels[1].link_cycles);
  }
  case_drop(&e);
  free(text);
}

/* What one branch has made in a core, and another reads in the core beside it, passes between the
 * two. */
static void check_made(bool peers) {
  size_t len;
  char *text = case_file("examples/neighbours.yaml", &len), *key = strstr(text, ", peers: true");
  test_case e = {0};
  if (!CHECK(key != NULL)) return;
  if (!peers) memset(key, ' ', strlen(", peers: true"));
  case_read(&e, text);
  if (CHECK(case_evaluate(&e))) {
    const int z = tensor_of(e.spec->workload, "T"), n = e.spec->workload->n_tensors;
    CHECK_I64(e.r.counts[z].update, 16);
    CHECK_I64(e.r.counts[z].read, peers ? 0 : 6);
    CHECK_I64(e.r.counts[n + z].fill, 6);
    CHECK_I64(e.r.counts[n + z].drain, peers ? 22 : 16);
  }
  case_drop(&e);
  free(text);
}

static void check_examples(void) {
  static const example all[] = {
      {"examples/systolic-row.yaml", {18, 3}, {48, 48}, {30, 45}, 345, 20, {48, 3}},
      {"examples/halo.yaml", {100, 9}, {144, 36}, {44, 27}, 215, 61, {144, 9}},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    check_example(&all[i], true);
    check_example(&all[i], false);
  }
  check_made(true);
  check_made(false);
}

/* A product on cores that hand inputs on: how transfers overlap, the topology, trip counts. */
static const char alike[] =
    "architecture:\n  name: a\n  clock: 1 GHz\n  overlap: %s\n  memories:\n"
    "  - {name: D, bandwidth: 8}\n"
    "  - {name: C, mesh: [4, 8], bandwidth: {read: 3, write: 2}, energy: {read: 1 pJ, write: 2 pJ, "
    "drain: 3 pJ},\n"
    "     network: {topology: %s, width: 2, energy-per-hop: 1 pJ, peers: true}}\n"
    "  - {name: R, mesh: [4, 4], bandwidth: 1}\n  compute:\n"
    "  - {name: u, ops: [mac], below: R}\nworkload:\n"
    "  name: w\n  dims: {m: 48, n: 24, k: 12}\n  ops:\n"
    "  - \"T[m,n] += A[m,k] * B[k,n]\"\nmapping: |\n"
    "  D for m=%d n=%d spatial m=%d@x n=%d@x m=%d@y k=%d@y\n"
    "    C for k=%d n=%d spatial m=%d@x n=%d@y\n"
    "      R for m=%d n=%d k=%d\n        op T\n";

/* A divisor of what is left, which it takes. */
static int divisor(tf_rng *g, int *left, int most) {
  int d = 1;
  for (int k = 2; k <= most; k++)
    if (*left % k == 0 && tf_rng_below(g, 2)) d = k;
  *left /= d;
  return d;
}

static void check_same(const tf_workload *wl, const tf_arch *arch, const tf_result *a,
                       const tf_result *b) {
  for (int i = 0; i < arch->n_memories * wl->n_tensors; i++)
    CHECK(!memcmp(&a->counts[i], &b->counts[i], sizeof a->counts[i]));
  for (int l = 0; l < arch->n_memories; l++) {
    CHECK(near(a->levels[l].hops, b->levels[l].hops));
    CHECK(near(a->levels[l].link_cycles, b->levels[l].link_cycles));
    CHECK(near(a->levels[l].cycles, b->levels[l].cycles));
  }
  CHECK(near(a->cycles, b->cycles) && near(a->energy_pj, b->energy_pj));
}

/* The closed form of what neighbours hand on is the walk's, word by word; *many: inputs that were
 * handed on. */
static void check_closed_form(tf_rng *g, int *many) {
  static const char *const overlap[] = {"perfect", "double-buffer", "none"};
  int m = 48, n = 24, k = 12, t[13];
  const char *how = overlap[tf_rng_below(g, 3)], *topology = tf_rng_below(g, 2) ? "mesh" : "torus";
  int *const of[] = {&m, &n, &m, &n, &m, &k, &k, &n, &m, &n};
  static const int most[] = {6, 4, 2, 2, 4, 2, 6, 4, 4, 4};
  for (int i = 0; i < 10; i++)
    t[i] = divisor(g, of[i], most[i]);
  char text[2048];
  snprintf(text, sizeof text, alike, how, topology, t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7],
           t[8], t[9], m, n, k);
  test_case e = {0};
  case_read(&e, text);
  tf_model *twin = CHECK(case_evaluate(&e)) ? tf_model_new(e.tree, e.d) : NULL;
  tf_result r;
  if (CHECK(twin != NULL)) {
    tf_model_to_walk(twin);
    CHECK(tf_model_quick(e.model) && tf_model_eval(twin, NULL, &r) && !tf_model_quick(twin));
    check_same(e.spec->workload, e.spec->arch, &e.r, &r);
    for (int z = 0; z < e.spec->workload->n_tensors; z++)
      *many += !strchr("T", *e.spec->workload->tensors[z].name) &&
               e.r.counts[e.spec->workload->n_tensors + z].drain;
  }
  tf_model_free(twin);
  case_drop(&e);
}

static void check_closed_forms(void) {
  enum { CASES = 300 };
  tf_rng g = tf_rng_new(20261129, 3);
  int many = 0;
  for (int i = 0; i < CASES; i++)
    check_closed_form(&g, &many);
  CHECK(many > CASES / 2);
}

/* Units that read and update past the memory that links lead to: in each of 3 steps A's element
 * goes to each of two chips, B's 4 to both, 8 sums of C leave, and come back first but in the
 * first. */
static void check_past(const char *network, double hops, double busiest) {
  static const char past[] = "architecture:\n"
                             "  memories:\n"
                             "  - {name: Slice}\n"
                             "  - {name: Chip, mesh: [2, 1], network: {%s, width: 1}}\n"
                             "  compute: [{name: u, ops: [mac], mesh: [4, 1]}]\n"
                             "workload:\n"
                             "  dims: {m: 2, n: 4, k: 3}\n"
                             "  ops: ['C[m,n] += A[m,k] * B[k,n]']\n"
                             "mapping: |\n"
                             "  Slice spatial m=2@x\n"
                             "    Chip for k=3 spatial n=4@x bypass A B C\n"
                             "      op C\n";
  char text[1000];
  test_case e = {0};
  snprintf(text, sizeof text, past, network);
  case_read(&e, text);
  if (CHECK(case_evaluate(&e))) {
    CHECK(near(e.r.levels[1].hops, hops));
    CHECK(near(e.r.levels[1].link_cycles, busiest));
    CHECK(e.r.cycles >= busiest);
  }
  case_drop(&e);
}

/* Loops with more steps than happen: of 8 chips 3 have work.  A's 60 words go to all three, 20 of
 * B's to each, and 12 sums come from each.  past: the chips' own memory is passed by. */
static void check_some_in_use(bool past) {
  static const char some[] = "architecture:\n"
                             "  memories:\n"
                             "  - {name: Slice}\n"
                             "  - {name: Chip, mesh: [8, 1], network: {topology: mesh, width: 1}}\n"
                             "  - {name: Buffer}\n"
                             "  compute: [{name: u, ops: [mac]}]\n"
                             "workload:\n"
                             "  dims: {m: 6, n: 6, k: 10}\n"
                             "  ops: ['C[m,n] += A[m,k] * B[k,n]']\n"
                             "mapping: |\n"
                             "  Slice spatial n=8@x\n"
                             "    Chip%s\n"
                             "      Buffer for n=2 m=6 k=10\n"
                             "        op C\n";
  char text[1000];
  test_case e = {0};
  snprintf(text, sizeof text, some, past ? " bypass A B C" : "");
  case_read(&e, text);
  if (CHECK(case_evaluate(&e))) {
    CHECK(near(e.r.levels[1].hops, 2 * 60 + 3 * 20 + 3 * 12));
    CHECK(near(e.r.levels[1].link_cycles, 60 + 2 * 20));
    tf_bounds b; /* 120 words pass one link but what the first chip uses: T >= 120 (1 - T / 360) */
    CHECK(tf_bounds_of(e.spec->arch, e.spec->workload, &b) && fabs(b.cycles - 90) < 1e-6);
  }
  case_drop(&e);
}

/* A convolution on cores that hand windows on, of any lengths. */
static const char windows[] =
    "architecture:\n  name: a\n  clock: 1 GHz\n  overlap: %s\n  memories:\n"
    "  - {name: D, bandwidth: 8}\n"
    "  - {name: C, mesh: [4, 4], bandwidth: {read: 3, write: 2}, energy: {read: 1 pJ, write: 2 pJ, "
    "drain: 3 pJ},\n"
    "     network: {topology: %s, width: 2, energy-per-hop: 1 pJ, peers: true}}\n"
    "  - {name: R, bandwidth: 1}\n  compute:\n"
    "  - {name: u, ops: [mac], below: R}\nworkload:\n"
    "  name: w\n  dims: {p: %d, q: %d, k: 3, c: 5, r: %d}\n  tensors: {I: {pad: [0, %d, 0]}}\n"
    "  ops:\n  - \"O[k,p,q] += I[c,p+r-%d,q] * W[k,c,r]\"\nmapping: |\n"
    "  D for c=%d p=%d q=%d spatial p=%d@x q=%d@y\n"
    "    C for p=%d r=%d c=%d\n"
    "      R for k=3 c=%d p=%d q=%d r=%d\n        op O\n";

/* A trip count, of which the rest is left. */
static int part(tf_rng *g, int *left, int most) {
  const int all = *left < most ? *left : most, t = 1 + (int)tf_rng_below(g, (uint32_t)all);
  *left = (*left + t - 1) / t;
  return t;
}

/* A walk of the mapping counts the same; returns whether it was counted without one. */
static bool counts_as_walked(const char *text) {
  test_case e = {0};
  case_read(&e, text);
  tf_model *twin = CHECK(case_evaluate(&e)) ? tf_model_new(e.tree, e.d) : NULL;
  tf_result walked;
  if (CHECK(twin != NULL)) {
    tf_model_to_walk(twin);
    CHECK(tf_model_eval(twin, NULL, &walked) && tf_model_walked(twin) > 0);
    check_same(e.spec->workload, e.spec->arch, &e.r, &walked);
  }
  const bool summed = e.model && tf_model_walked(e.model) == 0;
  tf_model_free(twin);
  case_drop(&e);
  return summed;
}

/* The sums over kinds of settings are the walk's, word by word, where loops leave remainders and
 * windows slide from one core to the next; *counted: mappings that were not walked. */
static void check_window(tf_rng *g, int *counted, int longest) {
  static const char *const overlap[] = {"perfect", "double-buffer", "none"};
  const int pad = tf_rng_below(g, 4) == 0;
  int p = 3 + (int)tf_rng_below(g, (uint32_t)longest), q = 1 + (int)tf_rng_below(g, 9), c = 5;
  int r = 2 + (int)tf_rng_below(g, 3), t[8];
  const int dims[] = {p, q, r};
  int *const of[] = {&c, &p, &q, &p, &q, &p, &r, &c};
  static const int most[] = {3, 9, 3, 4, 4, 9, 4, 3};
  for (int i = 0; i < 8; i++)
    t[i] = part(g, of[i], most[i]);
  char text[2048];
  snprintf(text, sizeof text, windows, overlap[tf_rng_below(g, 3)],
           tf_rng_below(g, 2) ? "mesh" : "torus", dims[0], dims[1], dims[2], pad, pad, t[0], t[1],
           t[2], t[3], t[4], t[5], t[6], t[7], c, p, q, r);
  *counted += counts_as_walked(text);
}

static void check_windows(void) {
  enum { CASES = 250, LONG = 30 };
  tf_rng g = tf_rng_new(20261130, 3);
  int counted = 0;
  for (int i = 0; i < CASES; i++)
    check_window(&g, &counted, 20);
  for (int i = 0; i < LONG; i++)
    check_window(&g, &counted, 400);
  CHECK(counted > (CASES + LONG) * 9 / 10);
}

/* Two ops on cores that hand words on, with remainders.  What sums must know of each: units that
 * share by chance, padding, readers that ask for unlike parts, loops that split what readers need,
 * a scope that retains. */
static const char cores[] =
    "architecture:\n  name: a\n  memories:\n  - {name: D, bandwidth: 8}\n"
    "  - {name: C, mesh: [4, 4], bandwidth: {read: 3, write: 2},\n"
    "     network: {topology: mesh, width: 2, energy-per-hop: 1 pJ, peers: true}}\n"
    "  - {name: R, bandwidth: 1}\n  compute:\n"
    "  - {name: u, ops: [mac, add], below: R, mesh: [4, 4], network: {multicast: true}}\n"
    "workload:\n  name: w\n  dims: {p: %d, k: 3, %s}\n  %s\nmapping: |\n%s";
static const struct {
  int p;
  const char *dims, *ops, *mapping;
} special[] = {
    {57, "t: 2", "ops: ['T[k,p] += I[p+t] * V[k,t]']",
     "  D for p=5 spatial p=3@x\n    C for k=3\n"
     "      R for p=2 t=2 spatial p=2@x t=2@y\n        op T\n"},
    {59, "h: 59, r: 2, t: 3",
     "tensors: {T: {pad: [0, 1]}}\n"
     "  ops: ['T[k,h] += I[h+r] * V[k,r]', 'O[p] += T[k,p+t-1] * W[k,t]']",
     "  D for p=5 spatial p=3@x\n    Shar\n      C for k=3 r=2\n        R for h=6\n"
     "          op T\n      C for k=3 t=3\n        R for p=4\n          op O\n"},
    {59, "h: 61, r: 2, t: 3",
     "ops: ['T[k,h] += I[h+r] * V[k,r]', 'O[k,p] += T[k,p+t] * W[k,t]', 'Q[k,p] = T[k,p] + 1']",
     "  D for p=5 spatial p=3@x\n    Shar\n      C for k=3 r=2 h=6 bypass T\n"
     "        R bypass T\n          op T\n      C for k=3 t=3\n        R for p=4 bypass T\n"
     "          op O\n      C for k=3 bypass T\n        R for p=4 bypass T\n          op Q\n"},
    {59, "h: 61, r: 2, t: 3", "ops: ['T[k,h] += I[h+r] * V[k,r]', 'O[p] += T[k,p+t] * W[k,t]']",
     "  D for p=5 k=3\n    Shar\n      C for r=2 spatial h=2@x bypass T\n"
     "        R for h=7 bypass T\n          op T\n      C for t=3\n        R for p=12\n"
     "          op O\n"},
    {11, "h: 23, r: 2", "ops: ['T[h,p] += A[h,k] * B[k,p]', 'O[h,r] += T[h,p] * F[p,r]']",
     "  D for h=4 r=2\n    Shar retain T\n      C for k=3 spatial p=3@x h=2@y bypass T\n"
     "        R for p=4 h=3\n          op T\n      C for p=11 spatial h=3@y\n"
     "        R for h=2\n          op O\n"},
};

/* They count without a walk, and the same. */
static void check_special(void) {
  for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
    char text[2048];
    snprintf(text, sizeof text, cores, special[i].p, special[i].dims, special[i].ops,
             special[i].mapping);
    CHECK(counts_as_walked(text));
  }
}

/* Sums over thousands of instances take as long as a walk: a search, which may not walk, leaves
 * such mappings out, and counts those of few instances. */
static void check_many(void) {
  static const char machine[] =
      "architecture:\n  memories:\n  - {name: D}\n"
      "  - {name: C, mesh: [4, 4], network: {topology: mesh, width: 2, peers: true}}\n"
      "  - {name: R, mesh: [16, 16]}\n  compute: [{name: u, ops: [mac]}]\n"
      "workload:\n  dims: {p: 1000, k: 60, t: 3}\n  ops: ['T[k,p] += I[p+t] * V[k,t]']\n"
      "mapping: |\n  D for p=7 spatial p=4@x k=4@y\n    C for t=3 spatial p=%d@x k=%d@y\n"
      "      R for p=%d k=%d\n        op T\n";
  for (int many = 0; many < 2; many++) {
    char text[1000];
    snprintf(text, sizeof text, machine, many ? 16 : 2, many ? 15 : 1, many ? 3 : 18,
             many ? 1 : 15);
    test_case e = {0};
    case_read(&e, text);
    CHECK(case_evaluate(&e) && tf_model_walked(e.model) == 0);
    if (e.model) tf_model_walk_limit(e.model, 0);
    CHECK(case_evaluate(&e) == !many);
    case_drop(&e);
  }
}

/* A product on cores, whose operands have formats, or are as many bits wide as these keep of an
 * element. */
static void read_packed(test_case *e, const int draws[10], bool packed) {
  static const char *const topologies[] = {"mesh", "torus", "tree", "bus", "crossbar"};
  static const char product[] =
      "architecture:\n  memories:\n  - {name: D}\n"
      "  - {name: C, mesh: [4, 4], network: {topology: %s, width: 1, multicast: %s, reduce: %s, "
      "energy-per-hop: 1 pJ}%s}\n"
      "  compute: [{name: u, ops: [mac]}]\n"
      "workload:\n  dims: {m: 16, n: 16, k: 16}\n  tensors: %s\n"
      "  ops: ['C[m,n] += A[m,k] * B[k,n]']\n"
      "mapping: |\n"
      "  D for n=%d k=%d spatial m=%d@x n=%d@y k=%d@x\n"
      "    C for m=%d n=%d k=%d\n"
      "      op C\n";
  char text[2000], tensors[200];
  snprintf(tensors, sizeof tensors,
           packed ? "{A: {density: %d / 16}, B: {density: %d / 16}}"
                  : "{A: {word-bits: %d}, B: {word-bits: %d}}",
           draws[0] + !packed, draws[1] + !packed);
  const int n = 1 << draws[2], k = 1 << draws[3], x = 1 << draws[4], y = 1 << draws[5],
            z = x < 4 ? 1 << draws[6] % 2 : 1;
  snprintf(text, sizeof text, product, topologies[draws[7]], draws[8] ? "true" : "false",
           draws[9] ? "true" : "false",
           packed ? ", format: [{tensors: [A, B], ranks: [bitmask]}]" : "", tensors, n, k, x, y, z,
           16 / x, 16 / n / y, 16 / k / z);
  case_read(e, text);
}

/* What formats keep of an element passes the links: as much as of a narrower one. */
static void check_packed(void) {
  enum { CASES = 200 };
  static const int most[10] = {15, 15, 2, 3, 2, 2, 1, 4, 1, 1};
  tf_rng g = tf_rng_new(20261130, 41);
  for (int i = 0; i < CASES; i++) {
    int draws[10];
    for (int d = 0; d < 10; d++)
      draws[d] = (d < 2) + (int)tf_rng_below(&g, (uint32_t)most[d] + (d >= 2));
    test_case left = {0}, narrow = {0};
    read_packed(&left, draws, true);
    read_packed(&narrow, draws, false);
    if (CHECK(case_evaluate(&left) && case_evaluate(&narrow))) {
      CHECK(near(left.r.levels[1].hops, narrow.r.levels[1].hops));
      CHECK(near(left.r.levels[1].link_cycles, narrow.r.levels[1].link_cycles));
      CHECK(left.r.cycles >= left.r.levels[1].link_cycles * (1 - 1e-9));
    }
    case_drop(&left);
    case_drop(&narrow);
  }
}

/* Two stages of n cores each on 8 in a row: 64 words go to each and come back.  The first takes
 * cores 0 to n - 1, the second those beyond, so that its words pass the first's. */
static void check_stages(const char *network, const char *split, double hops, double busiest) {
  static const char stages[] = "architecture:\n"
                               "  memories:\n"
                               "  - {name: Slice}\n"
                               "  - {name: Chip, mesh: [8, 1], network: {%s, width: 1}}\n"
                               "  compute: [{name: u, ops: [exp], mesh: [1, 1]}]\n"
                               "workload:\n"
                               "  dims: {m: 64}\n"
                               "  ops: ['E[m] = exp(X[m])', 'F[m] = exp(E[m])']\n"
                               "mapping: |\n"
                               "  Slice for m=%s\n"
                               "    Pipe\n"
                               "      Slice%s\n"
                               "        Chip\n"
                               "          op E\n"
                               "      Slice%s\n"
                               "        Chip\n"
                               "          op F\n";
  char text[1000];
  test_case e = {0};
  snprintf(text, sizeof text, stages, network, split[0] ? "16" : "64", split, split);
  case_read(&e, text);
  if (CHECK(case_evaluate(&e))) {
    CHECK(near(e.r.levels[1].hops, hops));
    CHECK(near(e.r.levels[1].link_cycles, busiest));
  }
  case_drop(&e);
}

int main(void) {
  check_many();
  check_packed();
  check_some_in_use(false);
  check_some_in_use(true);
  check_past("topology: bus", 6 + 12 + 24 + 16, 58);
  check_past("topology: bus, multicast: false", 6 + 24 + 24 + 16, 70);
  check_past("topology: mesh", 3 + 12 + 12 + 8, 3 + 12 + 8);
  check_past("topology: crossbar", 6 + 24 + 24 + 16, 6 + 12 + 16);
  check_stages("topology: mesh", "", 128, 64);
  check_stages("topology: torus", "", 128, 64);
  check_stages("topology: mesh", " spatial m=4@x", 128 * 1.5 + 128 * 5.5, 48 + 64);
  check_stages("topology: torus", " spatial m=4@x", 128 * 1.5 + 128 * 2.5, 48 + 16);
  check_stages("topology: tree", " spatial m=4@x", 256 * 3, 64);
  check_examples();
  check_closed_forms();
  check_windows();
  check_special();
  check_accelforge();
  check_walks();
  check_one_hop();
  return check_report();
}
