/* Layouts of slices in memories with lines, and totals of their lines. */
#include "model/cost/exact/lines.h"

static const int64_t *room_of(const struct tf_model *m, int i) {
  return &(m->lines->noting ? m->lines->room : m->rank_len)[m->views->rank_at[i]];
}

bool tf_lines_own(const struct tf_model *m, int i, tf_places *p) {
  const tf_slice *s = &m->plan->slices[i];
  return tf_places_make(&m->plan->arch->memories[s->level], &m->plan->wl->tensors[s->tensor],
                        room_of(m, i), p);
}

bool tf_lines_up(const struct tf_model *m, int i, tf_places *p) {
  const tf_slice *s = &m->plan->slices[i];
  const tf_tensor *z = &m->plan->wl->tensors[s->tensor];
  const int64_t *room = z->extent;
  const int tile =
      m->plan->home_level[s->tensor] == s->above ? -1 : tf_plan_mtile(m->plan, s->node, s->above);
  const tf_view *v = tile < 0 ? NULL : &m->views->node[tile];
  for (int k = v ? v->first : 0; v && k < v->first + v->n_slices; k++)
    if (m->plan->slices[k].tensor == s->tensor) room = room_of(m, k);
  return tf_places_make(&m->plan->arch->memories[s->above], z, room, p);
}

static bool add_checked(int64_t *to, int64_t v) { return !__builtin_add_overflow(*to, v, to); }

static bool add_move(tf_move *to, const tf_move *v) {
  return add_checked(&to->fill, v->fill) && add_checked(&to->drain, v->drain) &&
         add_checked(&to->read, v->read) && add_checked(&to->update, v->update);
}

void tf_lines_add(struct tf_model *m, int i, const tf_move *lines, const tf_move *cycles) {
  m->lines->failed |=
      !add_move(&m->lines->moved[i], lines) || !add_move(&m->lines->cycles[i], cycles);
}
