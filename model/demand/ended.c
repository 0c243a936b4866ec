/* Collects the facts of one op for its first loads and last stores. */
#include "model/demand/ended.h"

#include <math.h>

#include "model/input/dims.h"

/* Its dims longer than 1, shortest first, as the last one takes all that is left of the mesh.
 * place[i]: of dim i of the op; -1: it is 1. */
static bool find_dims(tf_ended *s, const tf_demand *d, int o, int *place) {
  const tf_op *op = &d->wl->ops[o];
  if (op->n_dims > TF_ENDED_DIMS) return false;
  for (int i = 0; i < op->n_dims; i++) {
    const int64_t e = d->wl->dims[op->dims[i]].extent;
    if (tf_demanded(d, o, op->dims[i]) != e) return false;
    place[i] = -1;
    if (e > 1) {
      int at = s->n++;
      for (; at > 0 && s->extent[at - 1] > e; at--)
        s->extent[at] = s->extent[at - 1];
      s->extent[at] = e;
      for (int k = 0; k < i; k++)
        place[k] += place[k] >= at;
      place[i] = at;
    }
  }
  s->behind[s->n] = 1;
  for (int k = s->n - 1; k >= 0; k--)
    s->behind[k] = s->behind[k + 1] * (double)s->extent[k];
  return true;
}

/* Adds rank r of the tensor, by its index (NULL: the output, dim r of the op).  False: its form is
 * not handled. */
static bool add_rank(tf_ended_part *p, const tf_workload *wl, const tf_op *op, const tf_tensor *t,
                     int r, const tf_index *ix, const int *place) {
  const tf_term own = {.dim = ix ? 0 : op->dims[r],
                       .coef = 1}; /* an input may have more ranks than the op dims */
  const int n = ix ? ix->n_terms : 1;
  int64_t lo = ix ? ix->c : 0, hi = lo;
  if (p->n_ranks == TF_ENDED_RANKS) return false;
  p->rank[p->n_ranks] = 0;
  for (int k = 0; k < n; k++) {
    const tf_term *term = ix ? &ix->terms[k] : &own;
    const int slot = tf_op_slot(op, term->dim);
    int64_t reach;
    if (slot < 0 || !term->coef) return false;
    if (__builtin_mul_overflow(wl->dims[term->dim].extent - 1, term->coef, &reach)) return false;
    if (__builtin_add_overflow(*(reach < 0 ? &lo : &hi), reach, reach < 0 ? &lo : &hi))
      return false;
    if (place[slot] < 0) continue;
    if (p->dims >> place[slot] & 1) return false;
    p->dims |= 1u << place[slot];
    p->rank[p->n_ranks] |= 1u << place[slot];
  }
  const double last = (double)t->lo[r] + (double)t->extent[r] - 1;
  p->outside[p->n_ranks++] = fmax(0, (double)t->lo[r] - (double)lo) + fmax(0, (double)hi - last);
  return true;
}

/* Adds the tensor, by its only reference (NULL: the output), if its words are known. */
static void add_part(tf_ended *s, const tf_arch *a, const tf_demand *d, int o, const tf_ref *ref,
                     const int *place) {
  const tf_workload *wl = d->wl;
  const tf_op *op = &wl->ops[o];
  const int z = ref ? ref->tensor : op->out;
  const tf_tensor *t = &wl->tensors[z];
  const int64_t words = ref ? tf_demand_touched(d, z) : tf_demand_made(d, z);
  tf_ended_part p = {.words = (double)words,
                     .bits = t->word_bits,
                     .weight = (double)t->word_bits / s->memory->word_bits,
                     .out = !ref,
                     .own = t->n_consumers <= 1};
  if (s->n_parts == TF_ENDED_TENSORS || tf_arch_home(a, t) != 0 || words < 0) return;
  for (int r = 0; r < t->rank; r++)
    if (!add_rank(&p, wl, op, t, r, ref ? &ref->index[r] : NULL, place)) return;
  s->parts[s->n_parts++] = p;
}

static bool is_read_once(const tf_op *op, int i) {
  for (int k = 0; k < op->n_reads; k++)
    if (k != i && op->reads[k].tensor == op->reads[i].tensor) return false;
  return op->reads[i].tensor != op->out;
}

bool tf_ended_of(const tf_arch *a, const tf_demand *d, const tf_end *e, tf_ended *s) {
  const tf_workload *wl = d->wl;
  const tf_op *op = &wl->ops[e->op];
  const tf_unit *unit = &a->units[e->unit];
  int place[TF_ENDED_DIMS];
  *s = (tf_ended){.memory = &a->memories[0],
                  .rate = unit->rate,
                  .fill = unit->pipeline,
                  .alone = wl->n_ops == 1};
  if (!find_dims(s, d, e->op, place)) return false;
  if ((e->sides & TF_END_STORES) && !wl->tensors[op->out].n_consumers)
    add_part(s, a, d, e->op, NULL, place);
  for (int i = 0; i < op->n_reads && (e->sides & TF_END_LOADS); i++)
    if (is_read_once(op, i) && wl->tensors[op->reads[i].tensor].producer < 0)
      add_part(s, a, d, e->op, &op->reads[i], place);
  return true;
}
