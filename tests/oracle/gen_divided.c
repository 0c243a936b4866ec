/* Workloads whose indices divide: reshapes, shuffles, repeats, rings, and any that a cut of dims
 * makes affine. */
#include <stdio.h>

#include "tests/oracle/gen.h"

enum { N_DIMS = 5 };

typedef struct {
  tf_rng *g;
  int extent[N_DIMS];
} drawer;

typedef struct {
  char s[200];
} words;

static const char names[] = "hwcxy";

/* Of the dims from `from` to `to`. */
static words draw(const drawer *d, int from, int to, int depth) {
  words out, a;
  const int dim = rng_between(d->g, from, to), how = depth ? rng_between(d->g, 0, 7) : 0;
  if (how <= 1) return snprintf(out.s, sizeof out.s, "%c", names[dim]), out;
  a = draw(d, from, to, depth - 1);
  if (how <= 5) {
    snprintf(out.s, sizeof out.s, "(%.90s) %c %d", a.s, rng_chance(d->g, 2) ? '/' : '%',
             rng_between(d->g, 2, 4));
  } else {
    const words b = draw(d, from, to, depth - 1);
    snprintf(out.s, sizeof out.s, "%d*(%.80s) + (%.80s)", rng_between(d->g, 1, 4), a.s, b.s);
  }
  return out;
}

static void write_read(const drawer *d, page *p, const char *tensor, int from, int to) {
  const int rank = rng_between(d->g, 1, 2);
  page_say(p, "%s[", tensor);
  for (int r = 0; r < rank; r++)
    page_say(p, "%s%s", r ? ", " : "", draw(d, from, to, rng_between(d->g, 0, 2)).s);
  page_say(p, "]");
}

/* T of h, w, c, perhaps joined in ranks, perhaps with the last one summed; its ranks' extents. */
static int write_first(const drawer *d, page *p, int *extent) {
  const int how = rng_between(d->g, 0, 5), h = d->extent[0], w = d->extent[1], c = d->extent[2];
  int rank = 2;
  page_say(p, "  - \"T[");
  if (how == 0)
    page_say(p, "h, %d*w + c] = ", c), extent[0] = h, extent[1] = w * c;
  else if (how == 1 && h % 2 == 0)
    page_say(p, "h / 2, w, c*2 + h %% 2] = "), extent[0] = h / 2, extent[1] = w, extent[2] = 2 * c,
                                               rank = 3;
  else if (how == 2)
    page_say(p, "h, w] += "), extent[0] = h, extent[1] = w;
  else if (how == 3 && w % 2 == 0)
    page_say(p, "w %% 2, h] max= "), extent[0] = 2, extent[1] = h;
  else
    page_say(p, "h, w, c] = "), extent[0] = h, extent[1] = w, extent[2] = c, rank = 3;
  write_read(d, p, "I", 0, 2);
  page_say(p, " * ");
  if (how == 4)
    write_read(d, p, "I2", 0, 2);
  else
    page_say(p, "J[h, w, c]");
  page_say(p, "\"\n");
  return rank;
}

/* O[x, y], or a sum over y, of T within its extents. */
static void write_second(const drawer *d, page *p, int rank, const int *extent) {
  page_say(p, rng_chance(d->g, 2) ? "  - \"O[x, y] = T[" : "  - \"O[x] += T[");
  for (int r = 0; r < rank; r++)
    page_say(p, "%s(%s) %% %d", r ? ", " : "", draw(d, 3, 4, rng_between(d->g, 0, 1)).s, extent[r]);
  page_say(p, "] * K[x, y]\"\n");
}

static void write_all(drawer *d, page *p) {
  static const int extents[] = {1, 2, 2, 3, 4, 4, 6};
  int extent[3];
  for (int i = 0; i < N_DIMS; i++)
    d->extent[i] = extents[rng_between(d->g, 0, 6)];
  const bool two = rng_chance(d->g, 2);
  page_say(p, "workload:\n  name: w\n  dims: {");
  for (int i = 0; i < (two ? N_DIMS : 3); i++)
    page_say(p, "%s%c: %d", i ? ", " : "", names[i], d->extent[i]);
  page_say(p, "}\n  ops:\n");
  const int rank = write_first(d, p, extent);
  if (two) write_second(d, p, rank, extent);
}

/* Whether the reader takes it, and cuts a dim or makes a rank of several. */
static bool taken(const page *p, size_t from) {
  tf_diags *d = tf_diags_new();
  tf_text t = {"case", p->text + from, p->len - from};
  tf_spec *spec = tf_spec_read_texts(&t, 1, NULL, 0, d);
  bool cut = false;
  for (int i = 0; spec && i < spec->workload->n_dims; i++)
    cut = cut || spec->workload->dims[i].name[1];
  tf_spec_free(spec);
  tf_diags_free(d);
  return cut;
}

void gen_divided(tf_rng *g, page *p) {
  drawer d = {.g = g};
  const size_t from = p->len;
  do {
    p->len = from;
    write_all(&d, p);
  } while (!taken(p, from));
}
