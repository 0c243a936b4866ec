/* Where borders of padded inputs clip tiles of loops that leave a remainder.  At settings that are alike (uneven_sum.c)
 * tiles have one length, and so has what is found of them; their places are a grid, over which grid.c sums what borders
 * leave. */
#include "model/cost/quick/uneven_clip.h"

#include "model/tree/infer.h"

#define MOST 0x1p60 /* limit for intermediate sums */

/* What all settings together cover of a range. */
static tf_ival whole(const tf_even *e, const tf_even_range *r) {
  if (r->what == TF_WHOLE) return (tf_ival){0, r->len};
  if (r->what == TF_PART) return whole(e, &e->ranges[r->base]);
  tf_ival all = {0, 0};
  for (int i = r->first; i < r->first + r->n; i++) {
    tf_ival one = {e->reads[i].c, 1};
    for (int t = e->reads[i].first; t < e->reads[i].first + e->reads[i].n; t++)
      one = tf_index_plus(one, e->terms[t].coef, whole(e, &e->ranges[e->terms[t].range]));
    all = tf_hull(all, one);
  }
  return all;
}

bool tf_uneven_reaches(const tf_even *e, const tf_even_range *r) {
  if (r->from == r->to) return false;
  const tf_ival all = whole(e, r);
  return all.lo < r->from || all.lo + all.len > r->to;
}

bool tf_uneven_places(const struct tf_model *m, const tf_even_range *r, const tf_alike *a, int64_t len,
                      tf_clip_places *p) {
  double all = 1;
  p->grid.n = 0;
  p->at = -r->from;
  p->extent = r->to - r->from;
  p->each = 1;
  for (uint64_t left = a->positions; left; left &= left - 1) {
    const int k = __builtin_ctzll(left);
    const int64_t by = r->moves >> k & 1 ? r->shift[k] * m->value[m->even->step[a->path->loops[k]]] : 0;
    p->at += by * (a->digit[k] - (k == a->carry));
    if (a->alike[k] == 1) continue;
    all *= (double)a->alike[k];
    if (by)
      p->at += tf_grid_add(&p->grid, by, a->alike[k]);
    else
      p->each *= a->alike[k];
  }
  for (int i = 0; i < a->join->n; i++) {
    all *= (double)a->join->trip[i];
    tf_grid_add(&p->grid, a->join->step[i], a->join->trip[i]);
  }
  p->at += a->join->n ? a->join->at : 0;
  tf_grid_sum_up(&p->grid);
  return all * ((double)len + (double)p->extent + 2 * (double)p->grid.span[0]) < MOST;
}

/* Adds a loop whose step is no shorter than those before.  False: it brings boxes among those of others, not on top. */
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

bool tf_uneven_join(const struct tf_model *m, const tf_path *path, const tf_even_range *r, uint64_t positions,
                    tf_join *j) {
  tf_grid sorted = {.n = 0};
  bool ok = true;
  *j = (tf_join){.count = 1};
  for (uint64_t left = positions; left; left &= left - 1) {
    const int k = __builtin_ctzll(left), l = path->loops[k];
    j->at += tf_grid_add(&sorted, r->shift[k] * m->value[m->even->step[l]], m->ev.trip[l]);
  }
  for (int i = sorted.n - 1; i >= 0 && ok; i--)
    ok = add_places(j, sorted.step[i], sorted.trip[i]);
  for (int i = 0; i < j->n; i++)
    j->count *= j->trip[i];
  return ok;
}
