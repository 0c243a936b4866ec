/* Intermediates with readers inside and outside of a nested scope, below loops of any trip counts:
 * those whose readers take different steps may leave one of them without what it reads. */
#include <stdio.h>

#include "tests/kernels/draw.h"

/* A maker and a reader in the inner scope, a reader outside of it; `above`: dims that all may be
 * split by above the outer scope, `inside`: above the inner one; the dims of each op. */
typedef struct {
  const char *dims, *tensors, *ops[3], *above, *inside, *own[3], *name;
} fork;
static const fork all[] = {
    {"m: @, k: 2, x: 3, y: @",
     NULL,
     {"C[m,x] += A[m,k] * B[k,x]", "E[m,y] += C[m,x] * D[x,y]", "F[m,x] = C[m,x] * 2"},
     "m",
     "my",
     {"mkx", "myx", "mx"},
     "CEF"},
    {"m: @, f: @",
     NULL,
     {"T[m] = I[m] * 2", "U[m,f] = T[m] + G[f]", "O[m] = T[m] * 3"},
     "m",
     "mf",
     {"m", "mf", "m"},
     "TUO"},
    {"p: @, q: 9, r: 3",
     NULL,
     {"T[q] = I[q] * 2", "U[p] += T[p+r] * W[r]", "O[p] = T[p+1] * 3"},
     "p",
     "p",
     {"q", "pr", "p"},
     "TUO"},
    {"p: 6, q: 8, r: 3",
     "{T: {pad: [1]}}",
     {"T[q] = I[q] * 2", "U[p] += T[p+r-1] * W[r]", "O[p] = T[p] * 3"},
     "p",
     "p",
     {"q", "pr", "p"},
     "TUO"},
    {"m: @, n: @, k: 2",
     NULL,
     {"C[m,n] += A[m,k] * B[k,n]", "R[m,n] = max(C[m,n], 0)", "Y[m,n] = C[m,n] + X[m,n]"},
     "mn",
     "mn",
     {"mnk", "mn", "mn"},
     "CRY"},
};
enum { N_ALL = sizeof all / sizeof *all };

/* Loops of some of these dims, of few steps; of all of them, of many, where they are an op's own.
 */
static void loops(tf_rng *g, page *p, const char *dims, bool own) {
  bool any = false;
  for (; *dims; dims++) {
    if (!own && tf_rng_below(g, 3) == 0) continue;
    int trip = own ? rng_between(g, 1, tf_rng_below(g, 3) ? 9 : 3) : rng_between(g, 2, 4);
    page_say(p, "%s %c=%d", any ? "" : " for", *dims, trip);
    any = true;
  }
  page_say(p, "\n");
}

void draw_forks(page *p, uint64_t seed) {
  tf_rng g = tf_rng_new(seed, 13);
  const fork *w = &all[tf_rng_below(&g, N_ALL)];
  *p = (page){.len = 0};
  page_say(p, "architecture:\n  memories:\n  - {name: L0}\n  - {name: L1}\n  compute:\n"
              "  - {name: u, ops: [mac, add, sub, mul, max], below: L1}\nworkload:\n  dims: {");
  for (const char *c = w->dims; *c; c++)
    if (*c == '@')
      page_say(p, "%d", rng_between(&g, 1, 7));
    else
      page_say(p, "%c", *c);
  page_say(p, "}\n");
  if (w->tensors) page_say(p, "  tensors: %s\n", w->tensors);
  page_say(p, "  ops:\n  - \"%s\"\n  - \"%s\"\n  - \"%s\"\nmapping: |\n  L0", w->ops[0], w->ops[1],
           w->ops[2]);
  loops(&g, p, w->above, false);
  page_say(p, "    Seq\n      L0");
  loops(&g, p, w->inside, false);
  page_say(p, "        Seq\n          L1");
  loops(&g, p, w->own[0], true);
  page_say(p, "            op %c\n          L1", w->name[0]);
  loops(&g, p, w->own[1], true);
  page_say(p, "            op %c\n      L1", w->name[1]);
  loops(&g, p, w->own[2], true);
  page_say(p, "        op %c\n", w->name[2]);
}
