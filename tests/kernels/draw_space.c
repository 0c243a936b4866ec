/* Sums over windows of one to three dims of space, in every layout that networks are written in:
 * channels first or last, in groups (a rank of their own, or one with the channels) or not, one
 * image or a batch of them, weights in any order, steps and spread windows of each dim, a border or
 * none; and mappings that walk any of the dims outside, in any order.  Each attribute is drawn by
 * itself. */
#include <stdio.h>

#include "tests/kernels/draw.h"

enum { MOST = 3, DIMS = 2 * MOST + 4 };

typedef struct {
  int out, window, step, apart, pad;
} axis;

typedef struct {
  int n_axes;
  axis at[MOST];
  int batch, groups, k, c; /* batch, groups: 0: there is no such dim */
  bool last,
      joint; /* channels are the last rank; groups and channels are one rank of image and weights */
  int weights; /* the order of their ranks */
} space;

static const char *const along[] = {"x", "y", "z"}, *const within[] = {"r", "s", "t"};

static axis draw_axis(tf_rng *g, int most) {
  axis a = {.out = rng_between(g, 1, most)};
  a.window = rng_between(g, 1, 3);
  a.step = rng_between(g, 1, 2);
  a.apart = rng_between(g, 1, 2);
  if (tf_rng_below(g, 2)) a.pad = rng_between(g, 0, (a.window - 1) * a.apart);
  if ((a.out - 1) * a.step + (a.window - 1) * a.apart + 1 - 2 * a.pad < 1) a.pad = 0;
  return a;
}

static space draw_of(tf_rng *g) {
  static const int most[] = {12, 6, 3}; /* along each of one, two or three axes */
  space s = {.n_axes = rng_between(g, 1, MOST)};
  for (int i = 0; i < s.n_axes; i++)
    s.at[i] = draw_axis(g, most[s.n_axes - 1]);
  s.batch = tf_rng_below(g, 3)   ? rng_between(g, 1, 3)
            : tf_rng_below(g, 3) ? 0
                                 : rng_between(g, 17, 40);
  s.groups = tf_rng_below(g, 3) ? 0 : rng_between(g, 1, 3);
  s.k = tf_rng_below(g, 2) ? 16 : rng_between(g, 1, 40);
  s.c = tf_rng_below(g, 2) ? 16 : rng_between(g, 1, 40);
  s.last = tf_rng_below(g, 2);
  s.joint = tf_rng_below(g, 2);
  s.weights = rng_between(g, 0, 2);
  return s;
}

/* Ranks of an array, one behind the other. */
typedef struct {
  page *p;
  const char *before; /* what comes next */
} list;

static void rank(list *l, const char *what) {
  page_say(l->p, "%s%s", l->before, what);
  l->before = ", ";
}

static void number(list *l, int n) {
  char text[16];
  snprintf(text, sizeof text, "%d", n);
  rank(l, text);
}

/* Channels of the image or of the weights, with what stands for their groups. */
static void channels(list *l, const space *s, const char *dim, int n) {
  char text[32];
  snprintf(text, sizeof text, "%d*g + %s", n, dim);
  if (s->groups && !s->joint) rank(l, "g");
  rank(l, s->groups && s->joint ? text : dim);
}

static void axes(list *l, const space *s, const char *const *name) {
  for (int i = 0; i < s->n_axes; i++)
    rank(l, name[i]);
}

static void image(list *l, const space *s) {
  if (s->batch) rank(l, "b");
  if (!s->last) channels(l, s, "c", s->c);
  for (int i = 0; i < s->n_axes; i++) {
    const axis *a = &s->at[i];
    char text[48];
    const int n =
        snprintf(text, sizeof text, "%d*%s + %d*%s", a->step, along[i], a->apart, within[i]);
    if (a->pad) snprintf(text + n, sizeof text - (size_t)n, " - %d", a->pad);
    rank(l, text);
  }
  if (s->last) channels(l, s, "c", s->c);
}

static void weights(list *l, const space *s) {
  const bool behind = s->weights == 1; /* channels out are the last rank, as in HWIO */
  if (!behind) channels(l, s, "k", s->k);
  if (s->weights == 0) rank(l, "c");
  axes(l, s, within);
  if (s->weights > 0) rank(l, "c");
  if (behind) channels(l, s, "k", s->k);
}

static void output(list *l, const space *s) {
  if (s->batch) rank(l, "b");
  if (!s->last && s->groups) rank(l, "g");
  if (!s->last) rank(l, "k");
  axes(l, s, along);
  if (s->last && s->groups) rank(l, "g");
  if (s->last) rank(l, "k");
}

/* The image's extents, or (pad) its border, rank by rank. */
static void extents(list *l, const space *s, bool pad) {
  const int all = s->groups && s->joint ? s->groups * s->c : s->c;
  if (s->batch) number(l, pad ? 0 : s->batch);
  for (int at = 0; at < 2; at++) {
    if (at == s->last && s->groups && !s->joint) number(l, pad ? 0 : s->groups);
    if (at == s->last) number(l, pad ? 0 : all);
    for (int i = 0; i < s->n_axes && at == 0; i++) {
      const axis *a = &s->at[i];
      number(l,
             pad ? a->pad : (a->out - 1) * a->step + (a->window - 1) * a->apart + 1 - 2 * a->pad);
    }
  }
}

static void extents_of(page *p, const char *what, const space *s, bool pad) {
  page_say(p, "%s: [", what);
  extents(&(list){p, ""}, s, pad);
  page_say(p, "]");
}

static void workload(page *p, const space *s) {
  page_say(p, "workload:\n  name: w\n  dims: {k: %d, c: %d", s->k, s->c);
  if (s->batch) page_say(p, ", b: %d", s->batch);
  if (s->groups) page_say(p, ", g: %d", s->groups);
  for (int i = 0; i < s->n_axes; i++)
    page_say(p, ", %s: %d, %s: %d", along[i], s->at[i].out, within[i], s->at[i].window);
  page_say(p, "}\n  tensors:\n    I: {");
  extents_of(p, "pad", s, true);
  extents_of(p, ", shape", s, false);
  page_say(p, "}\n  ops:\n  - \"O[");
  output(&(list){p, ""}, s);
  page_say(p, "] += I[");
  image(&(list){p, ""}, s);
  page_say(p, "] * W[");
  weights(&(list){p, ""}, s);
  page_say(p, "]\"\n");
}

/* ---- mappings ------------------------------------------------------------------------------- */

typedef struct {
  const char *name;
  int left; /* of its steps, further in */
  bool sum;
} dim;

static int dims_of(const space *s, dim *d) {
  int n = 0;
  d[n++] = (dim){"k", s->k, false};
  d[n++] = (dim){"c", s->c, true};
  if (s->batch) d[n++] = (dim){"b", s->batch, false};
  if (s->groups) d[n++] = (dim){"g", s->groups, false};
  for (int i = 0; i < s->n_axes; i++) {
    d[n++] = (dim){along[i], s->at[i].out, false};
    d[n++] = (dim){within[i], s->at[i].window, true};
  }
  return n;
}

static void shuffle(tf_rng *g, dim *d, int n) {
  for (int i = n - 1; i > 0; i--) {
    const int k = rng_between(g, 0, i);
    const dim other = d[i];
    d[i] = d[k], d[k] = other;
  }
}

/* Loops over dims in any order; all: those that are left, wholly. */
static void loops(tf_rng *g, page *p, dim *d, int n, bool all, bool sums) {
  const char *word = " for";
  shuffle(g, d, n);
  for (int i = 0; i < n; i++) {
    const int tile = all || tf_rng_below(g, 2) ? 1 : rng_between(g, 1, d[i].left);
    const int trip = (d[i].left + tile - 1) / tile;
    if ((!all && tf_rng_below(g, 2)) || (d[i].sum && !sums) || trip == 1) continue;
    page_say(p, "%s %s=%d", word, d[i].name, trip);
    d[i].left = (d[i].left + trip - 1) / trip;
    word = "";
  }
}

static void mapping(tf_rng *g, page *p, const space *s) {
  dim d[DIMS];
  const int n = dims_of(s, d), lanes = tf_rng_below(g, 2) ? rng_between(g, 2, 4) : 1;
  page_say(p, "mapping: |\n  L0");
  loops(g, p, d, n, false, false);
  page_say(p, "\n    L%d", rng_between(g, 0, 1));
  loops(g, p, d, n, false, true);
  page_say(p, "\n      L1");
  for (int i = 0; i < n && lanes > 1; i++)
    if (d[i].name[0] == 'k') d[i].left = (d[i].left + lanes - 1) / lanes;
  loops(g, p, d, n, true, true);
  if (lanes > 1) page_say(p, " spatial k=%d@x", lanes);
  page_say(p, "\n        op O\n");
}

void draw_space(page *p, uint64_t seed) {
  tf_rng g = tf_rng_new(seed, 41);
  const space s = draw_of(&g);
  p->len = 0;
  page_say(p, "architecture:\n  name: a\n  clock: 1 GHz\n%s",
           tf_rng_below(&g, 2) ? DRAW_SMALL_PAGES : "");
  page_say(p, "  memories:\n  - {name: L0, bandwidth: 1}\n"
              "  - {name: L1, bandwidth: 1, mesh: [2, 2]}\n  compute:\n"
              "  - {name: u, ops: [mac, add, mul], below: L1, mesh: [16, 4]}\n");
  workload(p, &s);
  mapping(&g, p, &s);
}
