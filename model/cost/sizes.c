/* Largest extents of slices, and of intermediates at home: far from every border, so no clipping. */
#include "model/cost/state.h"

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static int64_t sat_mul(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_mul_overflow(a, b, &r) ? INT64_MAX : r;
}

/* Elements by which the spatial loops that select an instance narrow dim d of z's producer, of `len`. */
static int64_t narrowed(struct tf_model *m, int z, int d, int64_t len) {
  const tf_plan *p = m->plan;
  int leaf = p->tree->op_node[p->wl->tensors[z].producer];
  int tile = tf_plan_mtile(p, leaf, p->home_level[z]);
  const tf_path *path = &p->path[leaf];
  for (int k = 0; k < path->n && tile >= 0; k++) {
    const tf_ploop *l = &p->loops[path->loops[k]];
    int64_t trip = m->run.trip[path->loops[k]], step = tf_step(&m->run, path->loops[k]);
    if (tf_plan_above(p, p->home_scope[z], l->node) && !tf_plan_above(p, tile, l->node) &&
        l->axis != TF_TEMPORAL && trip > 1 && l->dim == d)
      len -= least(len, trip * step) - least(len, step);
  }
  return len;
}

/* The slice of intermediate z that one iteration of its home scope leaves in one instance. */
static int64_t home_slice(struct tf_model *m, int z) {
  const tf_plan *p = m->plan;
  const tf_tensor *t = &p->wl->tensors[z];
  int64_t words = 1;
  for (int r = 0; r < t->rank; r++) {
    int d = p->wl->ops[t->producer].dims[r];
    int64_t len = tf_dim_range(&m->run, t->producer, d, p->home_scope[z], m->scratch.zero).len;
    words = sat_mul(words, least(narrowed(m, z, d, len), t->extent[r]));
  }
  return words;
}

static int64_t whole(const tf_tensor *t) {
  int64_t words = 1;
  for (int r = 0; r < t->rank; r++)
    words = sat_mul(words, t->extent[r]);
  return words;
}

void tf_sizes(struct tf_model *m) {
  const tf_plan *p = m->plan;
  m->run.noclip = true;
  for (int z = 0; z < p->wl->n_tensors; z++)
    m->home_words[z] = p->home_scope[z] >= 0 ? home_slice(m, z) : whole(&p->wl->tensors[z]);
  for (int i = 0; i < p->n_tile_slices; i++) {
    const tf_slice *s = &p->slices[i];
    for (int r = 0; r < p->wl->tensors[s->tensor].rank; r++)
      m->rank_len[m->views->rank_at[i] + r] =
          least(tf_slice_rank(&m->run, s, r, m->scratch.zero).len, p->wl->tensors[s->tensor].extent[r]);
  }
  m->run.noclip = false;
}
