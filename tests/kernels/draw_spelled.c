/* Softmax between two products, spelled in any way, its keys in steps or whole. */
#include <stdio.h>
#include <string.h>

#include "tests/kernels/draw.h"
#include "tests/oracle/gen_spelled.h"

static int parts(int n, int by) { return (n + by - 1) / by; }

typedef struct {
  page *p;
  const spelled *s;
  int rows, keys; /* what is left of m and l for an op's own loops */
} speller;

/* The op's own loops over what is left, outer ones in any order. */
static void leaf(const speller *w, int i, int indent) {
  page_say(w->p, "%*sL2 for", indent, "");
  for (const char *d = w->s->op[i].dims; *d; d++)
    page_say(w->p, " %c=%d", *d,
             *d == 'm'   ? w->rows
             : *d == 'l' ? w->keys
             : *d == 'a' ? w->s->a
             : *d == 'n' ? w->s->n_dim
                         : 1);
  page_say(w->p, "\n%*s  op %c\n", indent, "", w->s->op[i].name);
}

/* Neighbours in scopes of their own, now and then. */
static void leaves(const speller *w, tf_rng *g, int indent) {
  for (int i = 0; i < w->s->n && !w->s->op[i].behind;) {
    int n = rng_chance(g, 6) ? rng_between(g, 2, 3) : 1;
    while (i + n > w->s->n || w->s->op[i + n - 1].behind)
      n--;
    if (n > 1) page_say(w->p, "%*sSeq\n", indent, "");
    for (int k = 0; k < n; k++)
      leaf(w, i + k, indent + (n > 1 ? 2 : 0));
    i += n;
  }
}

void draw_spelled_work(page *p, tf_rng *g, int most) {
  spelled s;
  spell(g, p, (spelled_may){SPELLED_ROWS, true, true, most}, &s);
  const int last = s.n - 1, m_trip = parts(s.m, rng_between(g, 1, s.m));
  const int l_trip = rng_chance(g, 6) ? 1 : parts(s.l, rng_between(g, 1, s.l));
  const speller w = {p, &s, parts(s.m, m_trip), parts(s.l, l_trip)};
  page_say(p, "mapping: |\n  L0 for m=%d", m_trip);
  if (s.b) page_say(p, " b=%d", s.b);
  page_say(p, "\n");
  const int in = s.op[last].behind ? 4 : 2;
  if (in == 4) page_say(p, "    Seq\n");
  page_say(p, "%*sL0 for l=%d\n%*sL1\n%*sSeq", in + 2, "", l_trip, in + 4, "", in + 6, "");
  page_say(p, l_trip > 1 || rng_chance(g, 2) ? " stream%s\n" : "\n", s.streamed);
  leaves(&w, g, in + 8);
  if (in == 4) leaf(&w, last, 6);
}

void draw_spelled(page *p, uint64_t seed) {
  tf_rng g = tf_rng_new(seed, 41);
  p->len = 0;
  page_say(p, "architecture:\n  name: a\n  clock: 1 GHz\n%s",
           rng_chance(&g, 2) ? DRAW_SMALL_PAGES : "");
  page_say(p,
           "  memories:\n  - {name: L0, bandwidth: 1}\n"
           "  - {name: L1, bandwidth: 1, capacity: %d}\n  - {name: L2, bandwidth: 1}\n"
           "  compute:\n"
           "  - {name: u, ops: [mac, add, sub, mul, div, max, min, exp, neg, select], below: L2, "
           "mesh: [1, 1]}\n",
           1 << rng_between(&g, 4, 14));
  draw_spelled_work(p, &g, rng_chance(&g, 3) ? 70 : 20);
}
