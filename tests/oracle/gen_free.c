/* Workloads drawn freely: up to five ops, whose reads have indices of any form (strides, turned,
 * constant), of tensors made before or of new ones, with padding, several readers and several
 * outputs. */
#include <stdio.h>

#include "tests/oracle/gen.h"

enum { N_DIMS = 5, MOST_OPS = 5, MOST_RANK = 3, MOST_SPAN = 12, MOST_WIDE = 24 };

typedef struct {
  int rank, extent[MOST_RANK], pad[MOST_RANK];
  bool read;
} made;

typedef struct {
  tf_rng *g;
  int extent[N_DIMS];
  int dims[MOST_RANK], n_dims; /* that the op at hand may use */
  unsigned used, ever;         /* dims: by its reads; by any op */
  made t[MOST_OPS];
  int n_made, n_inputs;
} maker;

/* The terms of an index, and what they reach from 0 on. */
typedef struct {
  char text[64];
  int lo, hi;
  unsigned dims;
} terms;

static terms draw_terms(const maker *f) {
  static const int coef[] = {1, 1, 1, 1, 2, 3, -1, -2};
  terms x = {.lo = 0};
  const int n = rng_chance(f->g, 6) ? 0 : rng_chance(f->g, 3) ? 2 : 1;
  for (int i = 0, len = 0; i < n; i++) {
    const int d = f->dims[rng_between(f->g, 0, f->n_dims - 1)], k = coef[rng_between(f->g, 0, 7)];
    if (x.dims >> d & 1) continue;
    const int far = k * (f->extent[d] - 1);
    *(far < 0 ? &x.lo : &x.hi) += far;
    x.dims |= 1U << d;
    len += snprintf(x.text + len, sizeof x.text - (size_t)len, " + %d*d%d", k, d);
  }
  return x;
}

/* An index within the extent and its padding, not in the padding alone: then the op that makes it
 * might never run. */
static void write_within(maker *f, page *p, int extent, int pad) {
  for (int i = 0; i < 20; i++) {
    const terms x = draw_terms(f);
    const int slack = extent + 2 * pad - (x.hi - x.lo + 1);
    const int from = rng_between(f->g, 0, slack > 0 ? slack : 0) - pad; /* the first that is read */
    if (slack < 0 || from >= extent || from + x.hi - x.lo < 0) continue;
    page_say(p, "%d%s", from - x.lo, x.text);
    f->used |= x.dims;
    return;
  }
  page_say(p, "%d", rng_between(f->g, 0, extent - 1));
}

/* An index of a tensor that takes its extents from it. */
static void write_span(maker *f, page *p) {
  terms x = draw_terms(f);
  while (x.hi - x.lo >= (gen_wide ? MOST_WIDE : MOST_SPAN))
    x = draw_terms(f);
  page_say(p, "%d%s", (rng_chance(f->g, 5) ? rng_between(f->g, 1, 2) : 0) - x.lo, x.text);
  f->used |= x.dims;
}

/* A read of what an op has made, best of what nobody has read; or of an input. */
static void write_read(maker *f, page *p) {
  int z = rng_chance(f->g, 3) ? -1 : rng_between(f->g, 0, f->n_made) - 1;
  for (int i = 0; i < f->n_made && rng_chance(f->g, 2); i++)
    z = f->t[i].read ? z : i;
  if (z < 0) {
    const int rank = rng_between(f->g, 1, 2);
    page_say(p, "I%d[", f->n_inputs++);
    for (int r = 0; r < rank; r++)
      page_say(p, r ? ", " : ""), write_span(f, p);
  } else {
    page_say(p, "T%d[", z);
    for (int r = 0; r < f->t[z].rank; r++)
      page_say(p, r ? ", " : ""), write_within(f, p, f->t[z].extent[r], f->t[z].pad[r]);
    f->t[z].read = true;
  }
  page_say(p, "]");
}

/* The left side: dims that the reads have, not all of them where the op reduces. */
static void write_output(maker *f, page *p, bool reduces, made *out) {
  int n = __builtin_popcount(f->used), keep = reduces && n > 1 ? rng_between(f->g, 1, n - 1) : n;
  *out = (made){.rank = 0};
  page_say(p, "  - \"T%d[", f->n_made);
  const int turn = rng_between(f->g, 0, N_DIMS - 1), pads = rng_chance(f->g, 4);
  for (int i = 0; i < N_DIMS && out->rank < keep; i++) {
    const int d = (turn + i) % N_DIMS;
    if (!(f->used >> d & 1)) continue;
    page_say(p, out->rank ? ", d%d" : "d%d", d);
    out->pad[out->rank] = pads ? rng_between(f->g, 0, 2) : 0;
    out->extent[out->rank++] = f->extent[d];
  }
}

static void draw_op(maker *f, page *p) {
  /* each needs one kind of unit */
  static const struct {
    const char *assign, *before, *between, *after;
  } kinds[] = {{"+=", "", " * ", ""}, {"+=", "", " * ", ""},    {"=", "", " + ", ""},
               {"=", "", " - ", ""},  {"=", "max(", ", ", ")"}, {"=", "", " * ", ""},
               {"+=", "", NULL, ""},  {"max=", "", NULL, ""},   {"=", "exp(", NULL, ")"}};
  const int kind = rng_between(f->g, 0, sizeof kinds / sizeof *kinds - 1);
  page expr;
  f->n_dims = rng_between(f->g, 1, MOST_RANK);
  const int from = rng_between(f->g, 0, N_DIMS - 1);
  for (int i = 0; i < f->n_dims; i++)
    f->dims[i] = (from + i) % N_DIMS;
  for (f->used = 0; !f->used;) {
    expr.len = 0;
    page_say(&expr, "%s", kinds[kind].before);
    write_read(f, &expr);
    if (kinds[kind].between) page_say(&expr, "%s", kinds[kind].between), write_read(f, &expr);
  }
  made out;
  write_output(f, p, *kinds[kind].assign != '=', &out);
  page_say(p, "] %s %s%s\"\n", kinds[kind].assign, expr.text, kinds[kind].after);
  f->ever |= f->used;
  f->t[f->n_made++] = out;
}

void gen_free(tf_rng *g, page *p) {
  maker f = {.g = g};
  page ops = {.len = 0};
  for (int d = 0; d < N_DIMS; d++)
    f.extent[d] = gen_extent(g, 5);
  for (int n = rng_between(g, 1, MOST_OPS); f.n_made < n;)
    draw_op(&f, &ops);
  page_say(p, "workload:\n  name: w\n  dims: {");
  for (int d = 0, n = 0; d < N_DIMS; d++)
    if (f.ever >> d & 1) page_say(p, "%sd%d: %d", n++ ? ", " : "", d, f.extent[d]);
  page_say(p, "}\n  tensors: {");
  for (int z = 0; z < f.n_made; z++) {
    page_say(p, "%sT%d: {pad: [", z ? ", " : "", z);
    for (int r = 0; r < f.t[z].rank; r++)
      page_say(p, "%s%d", r ? ", " : "", f.t[z].pad[r]);
    page_say(p, "]}");
  }
  page_say(p, "}\n  ops:\n%s", ops.text);
}
