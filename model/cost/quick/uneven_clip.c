/* Borders of padded inputs that clip tiles of loops with a remainder.  At equivalent settings
 * (uneven_sum.c) tiles have one length, and so do the parts found; their places are a grid, over
 * which grid.c sums the parts within borders. */
#include "model/cost/quick/uneven_plan.h"

#include "model/tree/infer.h"

#define MOST 0x1p60 /* limit for intermediate sums */

static tf_ival whole(const tf_even *e, const tf_even_range *r);

/* The same for a range that others are made of: where it is padding alone, an op makes the nearest
 * element. */
static tf_ival whole_of(const tf_even *e, int range) {
  const tf_even_range *r = &e->ranges[range];
  const tf_ival all = whole(e, r);
  return r->made && r->from < r->to ? tf_hull(all, tf_clamped(all, r->from, r->to)) : all;
}

/* The hull of a range over all settings. */
static tf_ival whole(const tf_even *e, const tf_even_range *r) {
  if (r->what == TF_WHOLE) return (tf_ival){0, r->len};
  if (r->what == TF_PART) return whole_of(e, r->base);
  tf_ival all = {0, 0};
  for (int i = r->first; i < r->first + r->n; i++) {
    tf_ival one = {e->reads[i].c, 1};
    for (int t = e->reads[i].first; t < e->reads[i].first + e->reads[i].n; t++)
      one = tf_index_plus(one, e->terms[t].coef, whole_of(e, e->terms[t].range));
    all = tf_hull(all, one);
  }
  return all;
}

bool tf_uneven_reaches(const tf_even *e, const tf_even_range *r) {
  if (r->from == r->to) return false;
  const tf_ival all = whole(e, r);
  return all.lo < r->from || all.lo + all.len > r->to;
}

bool tf_uneven_within(const tf_even *e, const tf_even_range *r) {
  const tf_ival all = whole(e, r);
  return all.lo + all.len <= r->to;
}

bool tf_uneven_cut(const tf_even *e, int range) {
  const tf_even_range *r = &e->ranges[range];
  if (tf_uneven_fixed(r)) return false;
  bool any = r->what == TF_HULL && r->made && tf_uneven_reaches(e, r);
  if (r->what == TF_PART) return tf_uneven_cut(e, r->base);
  for (int i = r->first; r->what == TF_HULL && i < r->first + r->n; i++)
    for (int t = e->reads[i].first; t < e->reads[i].first + e->reads[i].n; t++)
      any |= tf_uneven_cut(e, e->terms[t].range);
  return any;
}

static int64_t size(int64_t v) { return v < 0 ? -v : v; }

/* Whether two settings of the loops at these positions are both cut at the lower end of range r,
 * and so begin at one place; or are beyond its upper end, where the last element represents
 * both. */
static bool begin_together(const struct tf_model *m, const tf_path *path, const tf_even_range *r,
                           uint64_t positions) {
  const tf_ival all = whole(m->even, r);
  const int64_t before = r->from - all.lo, after = all.lo + all.len - r->to,
                over = before > after ? before : after;
  bool any = false;
  for (uint64_t left = r->moves & positions; left; left &= left - 1) {
    const int k = __builtin_ctzll(left), l = path->loops[k];
    if (m->ev.trip[l] > 1) any |= size(r->shift[k] * m->value[m->even->step[l]]) <= over;
  }
  return any;
}

bool tf_uneven_meets(const struct tf_model *m, const tf_path *path, int range, uint64_t positions) {
  const tf_even *e = m->even;
  const tf_even_range *r = &e->ranges[range];
  if (r->what == TF_WHOLE || !(r->moves & positions)) return false;
  if (r->what == TF_PART) return tf_uneven_meets(m, path, r->base, positions);
  bool any = false;
  for (int i = r->first; i < r->first + r->n; i++)
    for (int t = e->reads[i].first; t < e->reads[i].first + e->reads[i].n; t++)
      any |= tf_uneven_meets(m, path, e->terms[t].range, positions);
  if (!tf_uneven_reaches(e, r)) return any;
  const tf_ival all = tf_common_part(whole(e, r), (tf_ival){r->from, r->to - r->from});
  return any || m->len[range] >= all.len || (r->made && begin_together(m, path, r, positions));
}

bool tf_uneven_places(const tf_even_range *r, const tf_alike *a, int64_t len, tf_clip_places *p) {
  double all = 1;
  p->grid.n = 0;
  p->at = -r->from;
  p->extent = r->to - r->from;
  p->each = 1;
  for (uint64_t left = a->positions; left; left &= left - 1) {
    const int k = __builtin_ctzll(left);
    const int64_t by = r->moves >> k & 1 ? r->shift[k] * a->node->step[k] : 0;
    p->at += by * (a->digit[k] - (k == a->stepping));
    if (a->count[k] == 1) continue;
    all *= (double)a->count[k];
    if (by)
      p->at += tf_grid_add(&p->grid, by, a->count[k]);
    else
      p->each *= a->count[k];
  }
  for (int i = 0; i < a->join->n; i++) {
    all *= (double)a->join->trip[i];
    tf_grid_add(&p->grid, a->join->step[i], a->join->trip[i]);
  }
  p->at += a->join->n ? a->join->at : 0;
  tf_grid_sum_up(&p->grid);
  return all * ((double)len + (double)p->extent + 2 * (double)p->grid.span[0]) < MOST;
}

/* Adds a loop whose step is no shorter than those before.  False: its boxes are between those of
 * other loops, not at the same places. */
static bool add_places(tf_join *j, int64_t step, int64_t trip) {
  int64_t span = 0;
  for (int i = 0; i < j->n; i++)
    span += j->step[i] * (j->trip[i] - 1);
  const int last = j->n - 1;
  if (j->n && step % j->step[last] == 0 && step / j->step[last] <= j->trip[last]) {
    j->trip[last] += (trip - 1) * (step / j->step[last]);
    return true;
  }
  j->step[j->n] = step;
  j->trip[j->n++] = trip;
  return step > span;
}

bool tf_uneven_more(const tf_join *all, int64_t by, tf_join *more) {
  int64_t span = 0;
  *more = *all;
  for (int i = 0; i < all->n; i++)
    span += all->step[i] * (all->trip[i] - 1);
  if (by > span) return true;
  if (all->n != 1 || by % all->step[0] != 0) return false;
  more->trip[0] = more->count = by / all->step[0];
  more->at += (all->trip[0] - more->trip[0]) * all->step[0];
  return more->count > 0;
}

bool tf_uneven_join(const struct tf_model *m, int node, const tf_even_range *r, uint64_t positions,
                    tf_join *j) {
  const tf_path *path = &m->plan->path[node];
  tf_grid sorted = {.n = 0};
  bool ok = true;
  *j = (tf_join){.count = 1};
  for (uint64_t left = positions; left; left &= left - 1) {
    const int k = __builtin_ctzll(left);
    j->at += tf_grid_add(&sorted, r->shift[k] * m->uneven->node[node].step[k],
                         m->ev.trip[path->loops[k]]);
  }
  for (int i = sorted.n - 1; i >= 0 && ok; i--)
    ok = add_places(j, sorted.step[i], sorted.trip[i]);
  for (int i = 0; i < j->n; i++)
    j->count *= j->trip[i];
  return ok;
}
