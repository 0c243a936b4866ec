/* Workloads with padding: strides, dilations and windows of every size, in one rank and in two. */
#include "tests/oracle/gen.h"

/* stride * p + dilation * r - shift, padded by `pad`, with so many outputs and taps. */
typedef struct {
  int stride, dilation, taps, out, shift, pad;
} window;

static bool chance(tf_rng *g, int n) { return tf_rng_below(g, (uint32_t)n) == 0; }

static int reach(const window *w) {
  return w->stride * (w->out - 1) + w->dilation * (w->taps - 1) + 1;
}

/* Of an input of any length: it has the reach less the padding, which leaves at least one word. */
static window over_input(tf_rng *g) {
  window w = {.stride = rng_between(g, 1, chance(g, 3) ? 4 : 2),
              .dilation = rng_between(g, 1, chance(g, 3) ? 3 : 1),
              .taps = rng_between(g, 1, 4),
              .out = gen_extent(g, 6)};
  int most = (reach(&w) - 1) / 2;
  w.pad = rng_between(g, 0, most < 3 ? most : 3);
  w.shift = chance(g, 3) ? 0 : w.pad;
  return w;
}

/* Of `in` elements that an op makes, some of which may stay unread. */
static window over_made(tf_rng *g, int in) {
  window w = {.stride = rng_between(g, 1, 3),
              .dilation = rng_between(g, 1, 2),
              .taps = rng_between(g, 1, 3),
              .out = 1};
  w.shift = w.pad = rng_between(g, 0, 3);
  while (w.out < 6 && reach(&w) + w.stride - w.shift <= in + w.pad)
    w.out++;
  w.shift = w.shift < reach(&w) ? w.shift : reach(&w) - 1; /* not the padding alone */
  while (reach(&w) - w.shift > in + w.pad)
    w.pad++;
  return w;
}

static void write_index(page *p, const window *w, const char *at, const char *tap) {
  page_say(p, ", %d*%s + %d*%s - %d", w->stride, at, w->dilation, tap, w->shift);
}

/* Its taps from the last to the first: at one setting of a loop over them it reads elsewhere than
 * the window. */
static void write_reversed(page *p, const window *w, const char *at, const char *tap) {
  page_say(p, ", %d*%s - %d*%s + %d", w->stride, at, w->dilation, tap,
           w->dilation * (w->taps - 1) - w->shift);
}

/* Another reader of the padded input.  apart: of rows and places of its own, so that one of the two
 * may read padding alone. */
static void write_other_reader(page *p, const window *a, const window *b, bool depthwise,
                               int apart) {
  void (*say)(page *, const window *, const char *, const char *) =
      apart ? write_reversed : write_index;
  page_say(p, "  - \"Y[k,p%s] += I[%s", b ? ",q" : "", depthwise ? "k" : "c");
  if (apart) page_say(p, " + %d", apart);
  say(p, a, "p", "r");
  if (b) say(p, b, "q", "s");
  page_say(p, "] * V[k,r%s%s]\"\n", depthwise ? "" : ",c", b ? ",s" : "");
}

void gen_padded(tf_rng *g, page *p) {
  bool two = chance(g, 2), flat = chance(g, 2), depthwise = chance(g, 3), relu = chance(g, 3),
       shared = !two && chance(g, 3);
  const char *pq = flat ? "p" : "p,q", *in = relu ? "R" : "T";
  window a = over_input(g), b = over_input(g), c = over_made(g, a.out), d = over_made(g, b.out);
  const int k = rng_between(g, 1, 3), channels = depthwise ? k : rng_between(g, 1, 3);
  const int apart = shared && chance(g, 2) ? channels : 0;
  page_say(p, "workload:\n  name: w\n  dims: {k: %d, p: %d, r: %d", k, a.out, a.taps);
  if (!depthwise) page_say(p, ", c: %d", channels);
  if (!flat) page_say(p, ", q: %d, s: %d", b.out, b.taps);
  if (two) page_say(p, ", x: %d, t: %d, n: %d", c.out, c.taps, rng_between(g, 1, 3));
  if (two && !flat) page_say(p, ", y: %d, u: %d", d.out, d.taps);
  page_say(p, "}\n  tensors: {I: {pad: [0, %d", a.pad);
  if (!flat) page_say(p, ", %d", b.pad);
  if (two) page_say(p, "]}, %s: {pad: [0, %d", in, c.pad);
  if (two && !flat) page_say(p, ", %d", d.pad);
  page_say(p, "]}}\n  ops:\n  - \"T[k,%s] += I[%s", pq, depthwise ? "k" : "c");
  write_index(p, &a, "p", "r");
  if (!flat) write_index(p, &b, "q", "s");
  page_say(p, "] * W[k,r%s%s]\"\n", depthwise ? "" : ",c", flat ? "" : ",s");
  if (relu) page_say(p, "  - \"R[k,%s] = max(T[k,%s], 0)\"\n", pq, pq);
  if (shared) write_other_reader(p, &a, flat ? NULL : &b, depthwise, apart);
  if (!two) return;
  page_say(p, "  - \"O[n,%s] += %s[k", flat ? "x" : "x,y", in);
  write_index(p, &c, "x", "t");
  if (!flat) write_index(p, &d, "y", "u");
  page_say(p, "] * V[n,k,t%s]\"\n", flat ? "" : ",u");
}
