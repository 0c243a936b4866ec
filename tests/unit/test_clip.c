/* The quick ways where borders clip boxes (model/cost/quick/clip.c, uneven_clip.c), or cut what a
 * producer computes (uneven_range.c), against the sums over settings and, where that is short
 * enough, the exact walk: random convolutions with strides, dilations and padding, whose chains of
 * loops divide or leave a remainder. */
#include <stdlib.h>

#include "base/rng.h"
#include "model/cost/quick/uneven_plan.h"
#include "model/cost/state.h"
#include "tests/unit/check.h"
#include "tests/unit/page.h"

static int pick(tf_rng *g, int lo, int hi) {
  return lo + (int)tf_rng_below(g, (uint32_t)(hi - lo + 1));
}

static const char *truth(tf_rng *g) { return pick(g, 0, 3) ? "true" : "false"; }

/* ---- a problem ------------------------------------------------------------------------------ */
enum { DIMS = 11, P = 2, Q, N = 6, X, Y, T, U };
static const char names[] =
    "kcpqrsnxytu"; /* n: what a second op makes; x, y, t, u: by a window, too */

typedef struct {
  int extent[DIMS], left[DIMS];
  bool two, depthwise;
  bool divides; /* trip counts do */
  bool made;    /* the second op's window reaches past what the first one makes */
} problem;

static void machine(tf_rng *g, page *p) {
  static const char *const overlaps[] = {"double-buffer", "perfect", "none"};
  say(p, "architecture:\n  name: a\n  clock: 1 GHz\n  overlap: %s\n  memories:\n",
      overlaps[pick(g, 0, 2)]);
  for (int l = 0; l < 3; l++) {
    say(p, "  - {name: L%d, bandwidth: {read: %d, write: %d}", l, pick(g, 1, 4), pick(g, 1, 4));
    if (l) say(p, ", mesh: [4, 4], network: {multicast: %s, reduce: %s}", truth(g), truth(g));
    say(p, "}\n");
  }
  say(p,
      "  compute:\n"
      "  - {name: u, ops: [mac, max], below: L2, mesh: [4, 4], network: {multicast: %s, reduce: "
      "%s}}\n",
      truth(g), truth(g));
}

static void index_of(tf_rng *g, page *p, char at, char tap, int most) {
  int stride = pick(g, 1, pick(g, 1, 3)), dilation = pick(g, 1, pick(g, 1, 2));
  say(p, ", %d*%c + %d*%c - %d", stride, at, dilation, tap, pick(g, 0, most));
}

/* A window reaches past the input by `pad` or less at either end; without a shape it covers what is
 * read but for that. */
static void workload(tf_rng *g, page *p, problem *w) {
  int windows[] = {pick(g, 1, 4), pick(g, 1, 3)}, pad = pick(g, 1, 2);
  *w = (problem){.extent = {pick(g, 1, 4), pick(g, 1, 3), pick(g, 3, w->made ? 20 : 12),
                            pick(g, 3, 6), windows[0], windows[1], pick(g, 1, 3)},
                 .depthwise = pick(g, 0, 2) == 0,
                 .divides = w->divides,
                 .made = w->made,
                 .two = w->made || pick(g, 0, 2) == 0};
  w->extent[X] = w->extent[P], w->extent[Y] = w->extent[Q], w->extent[T] = 3,
  w->extent[U] = pick(g, 1, 3);
  say(p, "workload:\n  name: w\n  dims: {");
  for (int d = 0; d < DIMS; d++)
    if ((d != 1 || !w->depthwise) && (d != N || w->two) && (d < X || w->made))
      say(p, "%s%c: %d", d ? ", " : "", names[d], w->extent[d]);
  say(p, "}\n  tensors: {I: {pad: [0, %d, %d]}", pad, pick(g, 0, 1));
  if (w->made) say(p, ", T: {pad: [0, 1, 1]}");
  say(p, "}\n  ops:\n  - \"T[k,p,q] += I[%c", w->depthwise ? 'k' : 'c');
  index_of(g, p, 'p', 'r', pad);
  index_of(g, p, 'q', 's', 1);
  say(p, "] * W[k,r,s%s]\"\n", w->depthwise ? "" : ",c");
  if (w->made)
    say(p, "  - \"O[n,x,y] += T[k,x+t-1,y+u-1] * V[n,k,t,u]\"\n");
  else if (w->two)
    say(p, "  - \"O[n,p,q] += T[k,p,q] * V[n,k]\"\n");
}

/* ---- a mapping ------------------------------------------------------------------------------ */
static int trip_of(tf_rng *g, int n, bool divides) {
  int d = pick(g, 1, n);
  while (divides && n % d)
    d--;
  return d;
}

static void tile(tf_rng *g, page *p, int indent, int level, problem *w, const char *dims,
                 bool all) {
  char spatial[128] = "";
  int turn = pick(g, 0, DIMS - 1), n = 0;
  say(p, "  %*sL%d", indent, "", level);
  for (int i = 0; i < DIMS; i++) {
    int d = (i + turn) % DIMS, trip = all ? w->left[d] : trip_of(g, w->left[d], w->divides);
    if (!strchr(dims, names[d]) || trip == 1) continue;
    w->left[d] = (w->left[d] + trip - 1) / trip;
    if (trip <= 4 && pick(g, 0, 2) == 0)
      snprintf(spatial + strlen(spatial), sizeof spatial - strlen(spatial), " %c=%d@%c", names[d],
               trip, pick(g, 0, 1) ? 'x' : 'y');
    else
      say(p, "%s %c=%d", n++ ? "" : " for", names[d], trip);
  }
  say(p, "%s%s\n", *spatial ? " spatial" : "", spatial);
}

static void nest(tf_rng *g, page *p, int indent, int above, problem *w, const char *dims,
                 const char *op) {
  int n = pick(g, 1, 3), level = above;
  for (int i = 0; i < n; i++, indent += 2)
    tile(g, p, indent, level = pick(g, level, 2), w, dims, i == n - 1);
  say(p, "  %*sop %s\n", indent, "", op);
}

static void mapping(tf_rng *g, page *p, problem *w) {
  static const char *const scopes[] = {"Seq", "Shar", "Pipe"};
  const char *dims = w->depthwise ? "kpqrs" : "kcpqrs";
  memcpy(w->left, w->extent, sizeof w->left);
  say(p, "mapping: |\n");
  if (!w->two) {
    nest(g, p, 0, 0, w, dims, "T");
    return;
  }
  int level = pick(g, 0, 1);
  tile(g, p, 0, 0, w, w->made ? pick(g, 0, 7) ? "xyk" : "xykt" : "pqk", false);
  tile(g, p, 2, level, w, w->made ? "nxy" : "npq", false);
  say(p, "      %s\n", scopes[pick(g, 0, 2)]);
  problem own = *w;
  for (int d = P; d <= Q && w->made; d++) {
    const int read = w->left[d + X - P] + w->left[d + T - P] - 1;
    own.left[d] = read < w->extent[d] ? read : w->extent[d];
  }
  nest(g, p, 6, level, &own, dims, "T");
  own = *w;
  nest(g, p, 6, level, &own, w->made ? "nxytuk" : "npqk", "O");
}

/* ---- three ways ----------------------------------------------------------------------------- */
enum { QUICK, SUMS, WALK, WAYS };
enum { WALK_MOST = 3000 };

typedef struct {
  tf_model *model[WAYS];
  tf_result r[WAYS];
  bool ok[WAYS];
} ways;

static bool close_to(double a, double b) { return a - b <= 1e-9 * b && b - a <= 1e-9 * b; }

static bool alike(const tf_tree *t, const ways *e, int i) {
  const tf_result *a = &e->r[QUICK], *b = &e->r[i];
  int n = t->arch->n_memories * t->workload->n_tensors;
  bool same = memcmp(a->counts, b->counts, (size_t)n * sizeof *a->counts) == 0;
  for (int l = 0; l < t->arch->n_memories; l++)
    same &=
        a->levels[l].peak == b->levels[l].peak && a->levels[l].instances == b->levels[l].instances;
  for (int o = 0; o < t->workload->n_ops; o++)
    same &= a->ops[o].points == b->ops[o].points && a->ops[o].units == b->ops[o].units;
  for (int k = 0; k < t->n_nodes; k++)
    same &= a->nodes[k].runs == b->nodes[k].runs && a->nodes[k].loads == b->nodes[k].loads &&
            a->nodes[k].stores == b->nodes[k].stores && a->nodes[k].held == b->nodes[k].held;
  same &= close_to(a->energy_pj, b->energy_pj);
  return same && (close_to(a->cycles, b->cycles) ||
                  (i == WALK && t->arch->overlap == TF_OVERLAP_DOUBLE_BUFFER));
}

/* Whether a tile may have been partial, and borders clip boxes that loops move. */
static bool partial_clips(const tf_model *m) {
  bool any = false;
  for (int i = 0; m->partial && i < m->plan->n_slices; i++) {
    const tf_uneven_slice *u = &m->uneven->slice[i];
    const uint64_t turning = m->uneven->node[m->plan->slices[i].node].turning;
    for (int g = 0; g < u->self.n; g++)
      any |= (u->self.group[g].clipped || u->self.group[g].cut) &&
             u->self.group[g].positions & turning;
  }
  return any;
}

/* 1 if the quick way counted it, with what it clips. */
static int compare(tf_rng *g, bool divides, bool made, int *walked) {
  page p = {.len = 0};
  problem w = {.divides = divides, .made = made};
  ways e = {.ok = {false}};
  machine(g, &p);
  workload(g, &p, &w);
  mapping(g, &p, &w);
  tf_diags *d = tf_diags_new();
  tf_text text = {"case", p.text, p.len};
  tf_spec *s = tf_spec_read_texts(&text, 1, NULL, 0, d);
  tf_tree *t = s ? tf_tree_parse(s->mapping_text, s->mapping_at, s->arch, s->workload, d) : NULL;
  for (int i = 0; t && i < WAYS; i++) {
    e.model[i] = tf_model_new(t, d);
    if (!CHECK(e.model[i] != NULL)) break;
    if (i == SUMS) e.model[i]->to_sum = true;
    if (i == WALK) e.model[i]->plan->irregular = true;
    tf_model_walk_limit(e.model[i], WALK_MOST);
    e.ok[i] = tf_model_eval(e.model[i], NULL, &e.r[i]);
  }
  bool quick = e.ok[QUICK] && tf_model_quick(e.model[QUICK]);
  bool same =
      !quick || ((!e.ok[SUMS] || alike(t, &e, SUMS)) && (!e.ok[WALK] || alike(t, &e, WALK)));
  if (!CHECK(same)) printf("%s", p.text);
  int clipped = quick && (divides ? e.model[QUICK]->clipped >= 0 : partial_clips(e.model[QUICK]));
  *walked += clipped && e.ok[WALK];
  for (int i = 0; i < WAYS; i++)
    tf_model_free(e.model[i]);
  tf_tree_free(t);
  tf_spec_free(s);
  tf_diags_free(d);
  return clipped;
}

/* test_clip [CASES [SEED]] */
int main(int argc, char **argv) {
  const int cases = argc > 1 ? atoi(argv[1]) : 800;
  tf_rng g = tf_rng_new(argc > 2 ? (uint64_t)atoll(argv[2]) : 1, 11);
  for (int kind = 0; kind < 3; kind++) {
    int clipped = 0, walked = 0;
    for (int i = 0; i < cases; i++)
      clipped += compare(&g, kind == 0, kind == 2, &walked);
    if (argc > 1) printf("%d clipped and counted quickly, %d of them walked\n", clipped, walked);
    CHECK(clipped > (kind < 2 ? cases / 4 : cases / 10));
    CHECK(walked * (kind < 2 ? 20 : 400) > cases);
  }
  return check_report();
}
