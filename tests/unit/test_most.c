/* The most that is held, and used, at once where borders clip boxes (model/cost/general/border.c,
 * most.c) against the walk, which meets every moment: convolutions with wide padding, under more
 * settings of their loops than can all be tried. */
#include <stdlib.h>

#include "base/rng.h"
#include "model/cost/state.h"
#include "tests/unit/check.h"
#include "tests/unit/page.h"

static int pick(tf_rng *g, int lo, int hi) {
  return lo + (int)tf_rng_below(g, (uint32_t)(hi - lo + 1));
}
static bool chance(tf_rng *g, int n) { return pick(g, 1, n) == 1; }

/* ---- a workload ----------------------------------------------------------------------------- */

/* stride * at + dilation * tap - shift, so many of each, over a tensor padded by `pad`. */
typedef struct {
  int stride, dilation, taps, out, shift, pad;
} window;

static int reach(const window *w) {
  return w->stride * (w->out - 1) + w->dilation * (w->taps - 1) + 1;
}

static window over_input(tf_rng *g, int most) {
  window w = {pick(g, 1, 4), pick(g, 1, 5), pick(g, 1, 6), pick(g, 1, most), 0, 0};
  const int room = (reach(&w) - 1) / 2;
  w.shift = w.pad = room > 1 ? pick(g, 1, room) : room;
  return w;
}

/* Over `in` elements that an op makes. */
static window over_made(tf_rng *g, int in) {
  window w = {pick(g, 1, 3), pick(g, 1, 3), pick(g, 1, 4), 1, 0, 0};
  w.shift = w.pad = pick(g, 0, in);
  while (reach(&w) + w.stride - w.shift <= in + w.pad)
    w.out++;
  w.shift = w.shift < reach(&w) ? w.shift : reach(&w) - 1;
  while (reach(&w) - w.shift > in + w.pad)
    w.pad++;
  return w;
}

enum { DIMS = 10 };
static const char names[] = "kprqsnxtyu";

typedef struct {
  int extent[DIMS];
  bool two, flat;
} problem;

static void write_index(page *p, const window *w, char at, char tap) {
  say(p, ", %d*%c + %d*%c - %d", w->stride, at, w->dilation, tap, w->shift);
}

static problem workload(tf_rng *g, page *p) {
  const bool two = chance(g, 2), flat = !chance(g, 3);
  const window a = over_input(g, flat ? 150 : 16), b = over_input(g, 6), c = over_made(g, a.out),
               d = over_made(g, b.out);
  const problem w = {{pick(g, 1, 3), a.out, a.taps, flat ? 1 : b.out, flat ? 1 : b.taps,
                      pick(g, 1, 2), c.out, c.taps, flat ? 1 : d.out, flat ? 1 : d.taps},
                     two,
                     flat};
  say(p, "workload:\n  name: w\n  dims: {k: %d", w.extent[0]);
  for (int i = 1; i < (two ? DIMS : 5); i++)
    if (!flat || !strchr("qsyu", names[i])) say(p, ", %c: %d", names[i], w.extent[i]);
  say(p, "}\n  tensors: {W: {word-bits: %d}, I: {word-bits: %d, pad: [%d", 8 * pick(g, 1, 4),
      8 * pick(g, 1, 4), a.pad);
  if (!flat) say(p, ", %d", b.pad);
  if (two) say(p, "]}, T: {word-bits: %d, pad: [0, %d", 8 * pick(g, 1, 4), c.pad);
  if (two && !flat) say(p, ", %d", d.pad);
  say(p, "]}}\n  ops:\n  - \"T[k,p%s] += I[", flat ? "" : ",q");
  page index = {.len = 0};
  write_index(&index, &a, 'p', 'r');
  if (!flat) write_index(&index, &b, 'q', 's');
  say(p, "%s] * W[k,r%s]\"\n", index.text + 2, flat ? "" : ",s");
  if (!two) return w;
  say(p, "  - \"O[n,x%s] += T[k", flat ? "" : ",y");
  write_index(p, &c, 'x', 't');
  if (!flat) write_index(p, &d, 'y', 'u');
  say(p, "] * V[n,k,t%s]\"\n", flat ? "" : ",u");
  return w;
}

static void machine(tf_rng *g, page *p) {
  say(p, "architecture:\n  name: a\n  clock: 1 GHz\n  overlap: perfect\n  memories:\n"
         "  - {name: L0}\n");
  for (int l = 1; l < 3; l++)
    say(p, "  - {name: L%d, mesh: [4, 4]%s}\n", l, chance(g, 3) ? ", double-buffered: true" : "");
  say(p, "  compute:\n  - {name: u, ops: [mac], below: L2, mesh: [4, 4]}\n");
}

/* ---- a mapping ------------------------------------------------------------------------------ */

static void tile(tf_rng *g, page *p, int indent, int level, int *left, const char *dims, bool all) {
  char spatial[128] = "";
  int n = 0;
  say(p, "  %*sL%d", indent, "", level);
  for (int turn = pick(g, 0, DIMS - 1), i = 0; i < DIMS; i++) {
    const int d = (i + turn) % DIMS;
    int trip = all || chance(g, 2) ? left[d] : pick(g, 1, left[d]);
    if (!strchr(dims, names[d]) || trip == 1 || (!all && chance(g, 2))) continue;
    const int rest = (left[d] + trip - 1) / trip;
    trip = (left[d] + rest - 1) / rest; /* what the rest needs */
    left[d] = rest;
    if (trip <= 4 && chance(g, 3))
      snprintf(spatial + strlen(spatial), sizeof spatial - strlen(spatial), " %c=%d@%c", names[d],
               trip, chance(g, 2) ? 'x' : 'y');
    else if (trip > 1)
      say(p, "%s %c=%d", n++ ? "" : " for", names[d], trip);
  }
  say(p, "%s%s\n", *spatial ? " spatial" : "", spatial);
}

static void nest(tf_rng *g, page *p, int indent, const int *extent, const char *dims,
                 const char *op) {
  int left[DIMS], level = 0;
  memcpy(left, extent, sizeof left);
  for (int n = pick(g, 2, 4), i = 0; i < n; i++, indent += 2)
    tile(g, p, indent, level = i == n - 1 ? 2 : pick(g, level, 2), left, dims, i == n - 1);
  say(p, "  %*sop %s\n", indent, "", op);
}

static void mapping(tf_rng *g, page *p, const problem *w) {
  static const char *const scopes[] = {"Seq", "Shar", "Pipe", "Seq retain T", "Shar retain T"};
  int left[DIMS];
  memcpy(left, w->extent, sizeof left);
  say(p, "mapping: |\n");
  if (!w->two) {
    nest(g, p, 0, w->extent, w->flat ? "kpr" : "kprqs", "T");
    return;
  }
  tile(g, p, 0, 0, left, w->flat ? "nx" : "nxy", false);
  say(p, "    %s\n", scopes[pick(g, 0, 4)]);
  nest(g, p, 4, w->extent, w->flat ? "kpr" : "kprqs", "T");
  nest(g, p, 4, left, w->flat ? "nxkt" : "nxyktu", "O");
}

/* ---- two ways ------------------------------------------------------------------------------- */
enum { SUMS, WALK, WALK_MOST = 60000 };

typedef struct {
  long cases, compared, many;
} tally;

static bool alike(const tf_model *a, const tf_model *b) {
  const tf_plan *p = a->plan;
  const size_t slices = (size_t)p->n_tile_slices;
  bool same =
      memcmp(a->box, b->box, slices * sizeof *a->box) == 0 &&
      memcmp(a->rank_len, b->rank_len, (size_t)a->views->n_ranks * sizeof *a->rank_len) == 0 &&
      memcmp(a->home_words, b->home_words, (size_t)p->wl->n_tensors * sizeof *a->home_words) == 0;
  for (int n = 0; n < p->tree->n_nodes; n++)
    same &= a->width[n] == b->width[n] &&
            (!a->views->node[n].n_slices || !p->clips || a->at_once[n] == b->at_once[n]);
  return same;
}

static double settings(const tf_model *m) {
  double most = 1;
  for (int n = 0; n < m->plan->tree->n_nodes; n++) {
    double now = 1;
    for (int k = 0; k < m->plan->path[n].n && m->views->node[n].n_slices; k++)
      now *= (double)m->ev.trip[m->plan->path[n].loops[k]];
    most = now > most ? now : most;
  }
  return most;
}

static void compare(tf_rng *g, tally *sum) {
  page p = {.len = 0};
  machine(g, &p);
  const problem w = workload(g, &p);
  mapping(g, &p, &w);
  tf_diags *d = tf_diags_new();
  tf_text text = {"case", p.text, p.len};
  tf_spec *s = tf_spec_read_texts(&text, 1, NULL, 0, d);
  tf_tree *t = s ? tf_tree_parse(s->mapping_text, s->mapping_at, s->arch, s->workload, d) : NULL;
  tf_model *m[2] = {NULL, NULL};
  tf_result r;
  bool ok = t != NULL;
  if (!CHECK(s != NULL)) printf("%s%s", p.text, tf_diags_text(d));
  for (int i = 0; ok && i < 2; i++) {
    m[i] = tf_model_new(t, d);
    if (i == SUMS) m[i]->to_sum = true;
    if (i == WALK) m[i]->to_walk = true;
    tf_model_walk_limit(m[i], i == WALK ? WALK_MOST : 0);
    ok = tf_model_eval(m[i], NULL, &r);
    CHECK(tf_model_gave_up(m[i]) == (!ok && r.overflow)); /* nothing here passes 2^63 */
  }
  sum->cases++;
  sum->compared += ok;
  sum->many += ok && settings(m[SUMS]) > 256;
  if (!CHECK(!ok || alike(m[SUMS], m[WALK]))) printf("%s", p.text);
  tf_model_free(m[0]);
  tf_model_free(m[1]);
  tf_tree_free(t);
  tf_spec_free(s);
  tf_diags_free(d);
}

/* test_most [CASES [SEED]] */
int main(int argc, char **argv) {
  const int cases = argc > 1 ? atoi(argv[1]) : 400;
  tally sum = {0, 0, 0};
  tf_rng g = tf_rng_new(argc > 2 ? (uint64_t)atoll(argv[2]) : 1, 19);
  for (int i = 0; i < cases; i++)
    compare(&g, &sum);
  if (argc > 1)
    printf("%ld cases, %ld compared, %ld of more than 256 settings\n", sum.cases, sum.compared,
           sum.many);
  CHECK(sum.compared > cases / 6);
  CHECK(sum.many > cases / 16);
  return check_report();
}
