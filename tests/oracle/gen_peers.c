/* Windows that slide in step: places of an output spread over neighbours, whose taps follow each
 * other in time, so that what one needs another has held. */
#include <stdio.h>
#include <string.h>

#include "tests/oracle/gen.h"

const char gen_peers_name[] = "sliding in step";

const char *gen_peers(tf_rng *g, page *p) {
  const int p_by = rng_between(g, 1, 2), from = rng_between(g, 2, 3), pad = rng_chance(g, 4);
  page_say(p, "workload:\n  name: w\n  dims: {p: %d, q: %d, k: %d, r: %d, t: %d}\n",
           rng_between(g, from, 9), rng_between(g, 1, 4), rng_between(g, 1, 2),
           rng_between(g, from, 4), rng_between(g, 1, 3));
  if (pad) page_say(p, "  tensors: {I: {pad: [%d, 0]}}\n", pad);
  page_say(p, "  ops:\n  - \"O[k,p,q] += I[%d*p+r-%d,q+t] * W[k,r,t]\"\n", p_by, pad);
  return gen_peers_name;
}

typedef struct {
  tf_rng *g;
  const tf_workload *wl;
  int64_t left[8]; /* [dim] */
} windows;

/* Loops of one Tile: each dim takes all that is left, or a part of it, or nothing.  spread:
 * instances in X over which the Tile may spread; 0: none. */
static void loops(windows *w, page *p, bool all, int64_t spread) {
  char spatial[128] = "";
  const int n = w->wl->n_dims, turn = rng_between(w->g, 0, n - 1);
  bool any = false;
  for (int i = 0; i < n; i++) {
    const int d = (turn + i) % n;
    const bool p_dim = *w->wl->dims[d].name == 'p',
               place = spread && (p_dim || rng_chance(w->g, 3)),
               fills = place && p_dim && spread <= w->left[d] && rng_chance(w->g, 2);
    int64_t trip = w->left[d];
    if (!all && !place && rng_chance(w->g, 2)) continue;
    if (fills)
      trip = spread;
    else if (!all && rng_chance(w->g, 2))
      trip = rng_between(w->g, 1, (int)trip);
    w->left[d] = (w->left[d] + trip - 1) / trip;
    if (trip == 1) continue;
    if (place) {
      const size_t at = strlen(spatial);
      snprintf(spatial + at, sizeof spatial - at, " %s=%d@%c", w->wl->dims[d].name, (int)trip,
               !fills && rng_chance(w->g, 4) ? 'y' : 'x');
      continue;
    }
    page_say(p, "%s %s=%d", any ? "" : " for", w->wl->dims[d].name, (int)trip);
    any = true;
  }
  page_say(p, "%s%s\n", *spatial ? " spatial" : "", spatial);
}

void gen_peers_mapping(tf_rng *g, page *p, const tf_arch *arch, const tf_workload *wl) {
  windows w = {.g = g, .wl = wl};
  int unit = 0, level = 0;
  while (!(arch->units[unit].kinds >> TF_K_MAC & 1))
    unit++;
  for (int d = 0; d < wl->n_dims; d++)
    w.left[d] = wl->dims[d].extent;
  const int last = arch->units[unit].below;
  for (; level < last; level++) {
    page_say(p, "  %*sL%d", 2 * level, "", level);
    loops(&w, p, false, level == 0 || rng_chance(g, 2) ? arch->memories[level + 1].mesh[0] : 0);
  }
  page_say(p, "  %*sL%d", 2 * level, "", level);
  loops(&w, p, true, 0);
  page_say(p, "  %*sop %s\n", 2 * level + 2, "", wl->ops[0].name);
}
