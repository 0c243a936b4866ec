/* Scopes of more children than any count of them is likely to have room for, below loops or not. */
#include "tests/oracle/gen.h"

enum { LEAST = 65, MOST = 72 };

const char gen_many_name[] = "many ops";

/* One after the other, or side by side. */
const char *gen_many(tf_rng *g, page *p) {
  int n = rng_between(g, LEAST, MOST);
  bool row = rng_chance(g, 3);
  page_say(p, "workload:\n  name: w\n  dims: {m: %d}\n  ops:\n", rng_between(g, 1, 3));
  for (int i = 0; i < n; i++)
    if (row && i)
      page_say(p, "  - \"E%d[m] = exp(E%d[m])\"\n", i, i - 1);
    else
      page_say(p, "  - \"E%d[m] = exp(X%d[m])\"\n", i, i);
  return gen_many_name;
}

void gen_many_mapping(tf_rng *g, page *p, const tf_arch *arch, const tf_workload *wl) {
  const bool row = wl->ops[1].reads[0].tensor == wl->ops[0].out;
  int unit = 0;
  while (!(arch->units[unit].kinds >> TF_K_EXP & 1))
    unit++;
  const int last = arch->units[unit].below, m = (int)wl->dims[0].extent,
            split = rng_chance(g, 2) ? 1 : m;
  const char *kind = row ? "Pipe" : rng_chance(g, 2) ? "Para" : "Pipe";
  page_say(p, "  L0");
  if (split > 1)
    page_say(p, rng_chance(g, 3) ? " for m=%d" : " spatial m=%d@%c", split,
             rng_chance(g, 2) ? 'x' : 'y');
  page_say(p, "\n    %s\n", kind);
  for (int i = 0; i < wl->n_ops; i++) {
    page_say(p, "      L%d", rng_between(g, 0, last));
    if (split == 1 && m > 1) page_say(p, " for m=%d", m);
    page_say(p, "\n        op %s\n", wl->ops[i].name);
  }
}
