/* Largest extents of slices, and of intermediates at home: at the first step, but for borders (border.c). */
#include <string.h>

#include "model/cost/general/general.h"

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t sat_mul(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_mul_overflow(a, b, &r) ? INT64_MAX : r;
}

/* Dim d of z's producer, of `len`, as far as one instance of z's home has it. */
static int64_t narrowed(struct tf_model *m, int z, int d, int64_t len) {
  const tf_plan *p = m->plan;
  int leaf = p->tree->op_node[p->wl->tensors[z].producer];
  const tf_path *path = &p->path[leaf];
  for (int k = 0; k < path->n; k++)
    if (tf_plan_selects(p, z, path->loops[k]) && p->loops[path->loops[k]].dim == d)
      len = tf_cut(len, m->ev.trip[path->loops[k]], tf_step(&m->ev, path->loops[k]));
  return len;
}

static tf_ival hull(tf_ival a, tf_ival b) {
  if (a.len <= 0 || b.len <= 0) return a.len > 0 ? a : b;
  int64_t lo = least(a.lo, b.lo), end = -least(-a.lo - a.len, -b.lo - b.len);
  return (tf_ival){lo, end - lo};
}

enum { TF_EVERY_INSTANCE = 64 };

/* Dim d of z's producer at z's home scope, in all instances that the loops from path position k on bring into
 * one memory: the range around the first and last of each that ask for anything (a border may leave nothing), and the
 * middle. */
static tf_ival brought(struct tf_model *m, int z, int d, int k, int64_t *cur) {
  const tf_plan *p = m->plan;
  const tf_path *path = &p->path[p->home_scope[z]];
  while (k < path->n &&
         (!tf_plan_brings(p, z, path->loops[k]) || p->loops[path->loops[k]].op < 0 || m->ev.trip[path->loops[k]] <= 1))
    k++;
  if (k >= path->n) return tf_dim_range(&m->ev, p->wl->tensors[z].producer, d, p->home_scope[z], cur);
  int64_t *digit = &cur[path->loops[k]], n;
  *digit = 0;
  n = tf_turns(&m->ev, path->loops[k], cur);
  tf_ival all = {0, 0}, one = {0, 0};
  int64_t first = 0, last = n - 1;
  for (; first < n && one.len <= 0; first++) {
    *digit = first;
    all = one = brought(m, z, d, k + 1, cur);
  }
  for (one.len = 0; last >= first && one.len <= 0; last--) {
    *digit = last;
    all = hull(all, one = brought(m, z, d, k + 1, cur));
  }
  if (first <= n / 2 && n / 2 <= last) {
    *digit = n / 2;
    all = hull(all, brought(m, z, d, k + 1, cur));
  }
  *digit = 0;
  return all;
}

/* The slice of intermediate z that one iteration of its home scope leaves in one instance. */
int64_t tf_home_words(struct tf_model *m, int z, const int64_t *digits) {
  const tf_plan *p = m->plan;
  const tf_tensor *t = &p->wl->tensors[z];
  int64_t words = 1, *cur = m->scratch.cur;
  memcpy(cur, digits, (size_t)p->n_loops * sizeof *cur);
  for (int r = 0; r < t->rank; r++) {
    int d = p->wl->ops[t->producer].dims[r];
    tf_ival v = brought(m, z, d, 0, cur);
    words = sat_mul(words, v.len > 0 ? least(narrowed(m, z, d, v.len), t->extent[r]) : 0);
  }
  return words;
}

void tf_home_sizes(struct tf_model *m) {
  const tf_plan *p = m->plan;
  bool first = !p->cuts && !m->ev.irregular; /* the first step has the largest */
  if (!first) tf_border_homes(m);
  for (int z = 0; z < p->wl->n_tensors && first; z++)
    if (p->home_scope[z] >= 0) m->home_words[z] = tf_home_words(m, z, m->scratch.zero);
}

void tf_sizes(struct tf_model *m) {
  const tf_plan *p = m->plan;
  for (int n = 0; n < p->tree->n_nodes; n++)
    m->at_once[n] = -1;
  if (p->clips) {
    tf_border_sizes(m);
    return;
  }
  for (int i = 0; i < p->n_tile_slices; i++) {
    const tf_slice *s = &p->slices[i];
    int64_t *len = &m->rank_len[m->views->rank_at[i]];
    m->box[i] = 1;
    for (int r = 0; r < p->wl->tensors[s->tensor].rank; r++) {
      len[r] = least(tf_slice_rank(&m->ev, s, r, m->scratch.zero).len, p->wl->tensors[s->tensor].extent[r]);
      m->box[i] = sat_mul(m->box[i], len[r]);
    }
  }
}
