/* Words that pass the parts of memories: those of each slice, in the part that holds the tensor at
 * the Tile that serves or takes them. */
#include "base/checked.h"
#include "model/cost/state.h"
#include "model/flow/online.h"

static tf_part_result *row_of(struct tf_model *m, int level, const tf_mem_part *part) {
  return part ? &m->res.levels[level].parts[part - m->plan->arch->memories[level].parts.list]
              : NULL;
}

/* The part of the memory that serves slice i. */
static const tf_mem_part *serving(const struct tf_model *m, int i) {
  const tf_slice *s = tf_slice_at(m->plan, i);
  const int tile = m->views->server[i];
  const tf_view *v = tile < 0 ? NULL : &m->views->node[tile];
  for (int k = v ? v->first : 0; v && k < v->first + v->n_slices; k++)
    if (m->plan->slices[k].tensor == s->tensor) return m->views->part[k];
  return m->plan->home_level[s->tensor] == s->above ? m->views->at_home[s->tensor] : NULL;
}

static void serve(tf_part_result *r, int64_t read, int64_t update, double ratio) {
  if (!r) return;
  r->read = tf_sat_add(r->read, read);
  r->update = tf_sat_add(r->update, update);
  r->own.read += (double)read * ratio;
  r->own.update += (double)update * ratio;
}

static void add_to_part(tf_part_result *r, int64_t fill, int64_t drain, double ratio) {
  if (!r) return;
  r->fill = tf_sat_add(r->fill, fill);
  r->drain = tf_sat_add(r->drain, drain);
  r->own.fill += (double)fill * ratio;
  r->own.drain += (double)drain * ratio;
}

/* Adds the corrections of op o's running result, in the part of the memory that serves it. */
static void correct(struct tf_model *m, int o, int64_t read, int64_t update) {
  const tf_plan *p = m->plan;
  const int level = p->stream[o].above;
  serve(row_of(m, level, serving(m, p->n_slices + o)), read, update,
        m->views->ratio[level * p->wl->n_tensors + p->wl->ops[o].out]);
}

/* Adds the corrections of streaming (stream.c). */
static void add_corrections(struct tf_model *m, int o) {
  const tf_plan *p = m->plan;
  const int z = p->online->divided_by[o];
  if (p->stream_scope[o] >= 0 && p->wl->ops[o].reduce == TF_REDUCE_ADD)
    correct(m, o, m->rescaled[2 * o], m->rescaled[2 * o]);
  if (z < 0) return;
  correct(m, o, m->rescaled[2 * o + 1], m->rescaled[2 * o + 1]);
  correct(m, z, m->rescaled[2 * z + 1], 0);
}

static void clear(struct tf_model *m) {
  for (int l = 0; l < m->plan->arch->n_memories; l++)
    for (int i = 0; i < m->plan->arch->memories[l].parts.n; i++) {
      tf_part_result *r = &m->res.levels[l].parts[i];
      *r = (tf_part_result){.peak = r->peak};
    }
}

void tf_parts_fill(struct tf_model *m) {
  const tf_plan *p = m->plan;
  const int nt = p->wl->n_tensors;
  if (!m->views->parts) return;
  clear(m);
  for (int i = 0; i < p->n_slices; i++) {
    const tf_slice *s = &p->slices[i];
    const tf_move *v = &m->moves[i];
    serve(row_of(m, s->above, serving(m, i)), v->read, v->update,
          m->views->ratio[s->above * nt + s->tensor]);
    if (s->leaf) continue;
    add_to_part(row_of(m, s->level, m->views->part[i]), v->fill, v->drain,
                m->views->ratio[s->level * nt + s->tensor]);
  }
  for (int o = 0; o < p->wl->n_ops && p->online; o++)
    add_corrections(m, o);
}
