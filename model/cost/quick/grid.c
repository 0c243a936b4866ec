/* Sums over places at equal steps: see grid.h.  A clipped length is a sum of four hinges,
 *       h(lo + len) - h(lo + len - E) - h(lo) + h(lo - E),   h(x) = max(0, x).
 * A sum of hinges over an arithmetic grid is a sum of a few arithmetic series: only loops that
 * cross the border have to be visited step by step. */
#include "model/cost/quick/grid.h"

int64_t tf_grid_add(tf_grid *g, int64_t step, int64_t trip) {
  const int64_t size = step < 0 ? -step : step;
  int k = g->n++;
  for (; k > 0 && g->step[k - 1] < size; k--) {
    g->step[k] = g->step[k - 1];
    g->trip[k] = g->trip[k - 1];
  }
  g->step[k] = size;
  g->trip[k] = trip;
  return step < 0 ? step * (trip - 1) : 0;
}

void tf_grid_sum_up(tf_grid *g) {
  g->all[g->n] = 1;
  g->span[g->n] = g->sum[g->n] = 0;
  for (int i = g->n - 1; i >= 0; i--) {
    g->all[i] = g->trip[i] * g->all[i + 1];
    g->span[i] = g->step[i] * (g->trip[i] - 1) + g->span[i + 1];
    g->sum[i] = g->trip[i] * g->sum[i + 1] +
                g->all[i + 1] * (g->trip[i] * (g->trip[i] - 1) / 2) * g->step[i];
  }
}

/* Sum of max(0, at + place) over the loops from i on. */
static int64_t hinge(const tf_grid *g, int i, int64_t at) {
  if (at >= 0) return g->all[i] * at + g->sum[i];
  if (at + g->span[i] <= 0) return 0;
  int64_t step = g->step[i], n = g->trip[i], below = -at - g->span[i + 1];
  int64_t d = below >= 0 ? below / step + 1 : 0, whole = (-at + step - 1) / step, sum = 0;
  whole = whole < n ? whole : n;
  for (; d < whole; d++)
    sum += hinge(g, i + 1, at + step * d);
  int64_t left = n - d;
  return left <= 0 ? sum
                   : sum + left * (g->all[i + 1] * at + g->sum[i + 1]) +
                         g->all[i + 1] * (left * (d + n - 1) / 2) * step;
}

int64_t tf_grid_clipped(const tf_grid *g, int64_t lo, int64_t len, int64_t extent) {
  return len <= 0 ? 0
                  : hinge(g, 0, lo + len) - hinge(g, 0, lo + len - extent) - hinge(g, 0, lo) +
                        hinge(g, 0, lo - extent);
}

/* The distance from [first, last] to the nearest place, over the loops from i on. */
static int64_t nearest(const tf_grid *g, int i, int64_t at, int64_t first, int64_t last) {
  if (at >= first) return at > last ? at - last : 0;
  if (i == g->n) return first - at;
  if (at + g->span[i] <= last) return at + g->span[i] >= first ? 0 : first - at - g->span[i];
  int64_t step = g->step[i], best = INT64_MAX, below = first - at - g->span[i + 1];
  int64_t d = below > 0 ? (below - 1) / step
                        : 0; /* the last place below; then those inside, and the first beyond */
  for (; d < g->trip[i] && best > 0; d++) {
    int64_t now = nearest(g, i + 1, at + step * d, first, last);
    best = now < best ? now : best;
    if (at + step * d > last) break;
  }
  return best;
}

int64_t tf_grid_longest(const tf_grid *g, int64_t lo, int64_t len, int64_t extent) {
  const int64_t over = extent - len, most = over > 0 ? len : extent;
  const int64_t off = nearest(g, 0, lo, over < 0 ? over : 0, over > 0 ? over : 0);
  return off < most ? most - off : 0;
}
