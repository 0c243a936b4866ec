/* The largest extents of slices, and of intermediates at home: those of the first step, except with
 * borders (border.c). */
#include "base/checked.h"
#include "model/cost/general/general.h"

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Words of intermediate z that the first iteration of its home scope leaves in one instance: no
 * other iteration leaves more. */
static int64_t first_home_words(struct tf_model *m, int z) {
  tf_ival box[TF_MAX_RANK];
  tf_home_box(m, z, NULL, ~UINT64_C(0), m->scratch.zero, box);
  return tf_home_share(m, z, box);
}

void tf_home_sizes(struct tf_model *m) {
  const tf_plan *p = m->plan;
  const bool varies = p->cuts || m->ev.parts;
  if (varies) tf_border_homes(m);
  for (int z = 0; z < p->wl->n_tensors && !varies; z++)
    if (p->home_scope[z] >= 0) m->home_words[z] = first_home_words(m, z);
}

void tf_sizes(struct tf_model *m) {
  const tf_plan *p = m->plan;
  for (int n = 0; n < p->tree->n_nodes; n++)
    m->at_once[n] = -1;
  if (p->clips || m->ev.parts) {
    tf_border_sizes(m);
    return;
  }
  for (int i = 0; i < p->n_tile_slices; i++) {
    const tf_slice *s = &p->slices[i];
    int64_t *len = &m->rank_len[m->views->rank_at[i]];
    if (m->partly_counted && m->counted[i]) continue;
    m->box[i] = 1;
    for (int r = 0; r < p->wl->tensors[s->tensor].rank; r++) {
      len[r] = least(tf_slice_rank(&m->ev, s, r, m->scratch.zero).len,
                     p->wl->tensors[s->tensor].extent[r]);
      m->box[i] = tf_sat_mul(m->box[i], len[r]);
    }
  }
}
