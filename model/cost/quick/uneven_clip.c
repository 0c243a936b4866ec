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
    const int64_t by =
        r->moves >> k & 1 ? r->shift[k] * m->value[m->even->step[a->path->loops[k]]] : 0;
    p->at += by * (a->digit[k] - (k == a->carry));
    if (a->alike[k] == 1) continue;
    all *= (double)a->alike[k];
    if (by)
      p->at += tf_grid_add(&p->grid, by, a->alike[k]);
    else
      p->each *= a->alike[k];
  }
  tf_grid_sum_up(&p->grid);
  return all * ((double)len + (double)p->extent + 2 * (double)p->grid.span[0]) < MOST;
}
