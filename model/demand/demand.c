/* Propagates needed coordinates from the outputs back to the inputs. */
#include "model/demand/demand.h"
#include "model/input/dims.h"
#include "tileflow/model.h"

const tf_coords *tf_demand_dims(const tf_demand *d, int op) { return &d->sets[op * d->wl->n_dims]; }

int64_t tf_demanded(const tf_demand *d, int op, int dim) {
  return tf_coords_count(&tf_demand_dims(d, op)[dim]);
}

double tf_demanded_points(const tf_demand *d, int op) {
  const bool masked = d->masked && d->mask.fully_masked[op];
  double points = masked ? tf_demanded_pairs(d, op) : 1;
  for (int k = 0; k < d->wl->ops[op].n_dims; k++) {
    const int dim = d->wl->ops[op].dims[k];
    if (!masked || (dim != d->mask.l && dim != d->mask.q))
      points *= (double)tf_demanded(d, op, dim);
  }
  return points;
}

double tf_demanded_pairs(const tf_demand *d, int op) {
  const tf_coords *l = &tf_demand_dims(d, op)[d->mask.l], *q = &tf_demand_dims(d, op)[d->mask.q];
  double pairs = 0;
  if (l->step != 1 || q->step != 1) return 0;
  for (int i = 0; i < l->n; i++)
    for (int j = 0; j < q->n; j++)
      pairs +=
          (double)tf_mask_pairs(&d->mask, q->run[j].lo, q->run[j].n, l->run[i].lo, l->run[i].n);
  return pairs;
}

double tf_demand_share(const tf_workload *wl) {
  tf_demand d;
  double least = 1;
  const bool ok = tf_demand_of(wl, &d);
  for (int o = 0; ok && d.masked && o < wl->n_ops; o++) {
    double all = 1;
    for (int k = 0; k < wl->ops[o].n_dims; k++)
      all *= (double)tf_demanded(&d, o, wl->ops[o].dims[k]);
    if (d.mask.fully_masked[o] && all > 0 && tf_demanded_points(&d, o) < least * all)
      least = tf_demanded_points(&d, o) / all;
  }
  tf_demand_free(&d);
  return ok ? least : 0;
}

int64_t tf_demand_made(const tf_demand *d, int z) {
  const tf_tensor *t = &d->wl->tensors[z];
  const bool masked = d->masked && d->mask.fully_masked[t->producer];
  int64_t n = 1;
  for (int r = 0; r < t->rank; r++)
    if (__builtin_mul_overflow(
            n, masked ? tf_demanded(d, t->producer, d->wl->ops[t->producer].dims[r]) : t->extent[r],
            &n))
      return -1;
  return n;
}

/* Elements of x at a distance of `least` to `most` from some element of y, where the extents sum to
 * `reach`. */
static tf_coords near(const tf_demand *d, const tf_coords *x, const tf_coords *y, int64_t least,
                      int64_t most, int64_t reach) {
  if (least < -reach) least = -reach;
  if (most > reach) most = reach;
  const tf_coords by = tf_coords_range(d->arena, least, most < least ? 0 : most - least + 1);
  const tf_coords around = tf_coords_sum(d->arena, y, &by);
  return tf_coords_meet(d->arena, x, &around);
}

/* Removes coordinates of op o's dims that have no needed partner in the mask's band. */
static void cut_band(tf_demand *d, int o) {
  const tf_mask *m = &d->mask;
  if (!d->masked || !m->fully_masked[o]) return;
  const int64_t reach = d->wl->dims[m->l].extent + d->wl->dims[m->q].extent;
  tf_coords *l = &d->sets[o * d->wl->n_dims + m->l], *q = &d->sets[o * d->wl->n_dims + m->q];
  const tf_coords all = *l;
  *l = near(d, l, q, m->lo, m->hi, reach);
  *q = near(d, q, &all, -m->hi, -m->lo, reach);
}

bool tf_demand_in_band(const tf_demand *d, int o, const tf_ref *ref) {
  bool l = false, q = false;
  if (!d->masked || !d->mask.fully_masked[o]) return false;
  for (int r = 0; r < d->wl->tensors[ref->tensor].rank; r++) {
    l |= tf_index_coef(&ref->index[r], d->mask.l) != 0;
    q |= tf_index_coef(&ref->index[r], d->mask.q) != 0;
  }
  return l && q;
}

/* Whether dim `dim` also occurs in another rank of the reference. */
static bool elsewhere(const tf_ref *ref, int rank, int r, int dim) {
  for (int s = 0; s < rank; s++)
    if (s != r && tf_index_coef(&ref->index[s], dim)) return true;
  return false;
}

/* What rank r of a reference touches.  Dims that also occur in other ranks are fixed, so that all
 * combinations over the ranks are touched. */
static tf_coords part_of(const tf_demand *d, int o, const tf_ref *ref, int r, bool *together) {
  const tf_tensor *t = &d->wl->tensors[ref->tensor];
  const tf_index *ix = &ref->index[r];
  tf_coords s = tf_coords_range(d->arena, ix->c, 1);
  for (int k = 0; k < ix->n_terms; k++) {
    tf_coords of = tf_demand_dims(d, o)[ix->terms[k].dim];
    if (elsewhere(ref, t->rank, r, ix->terms[k].dim)) {
      *together = true;
      if (of.n) of = tf_coords_range(d->arena, of.run[0].lo, 1);
    }
    tf_coords term = tf_coords_scale(d->arena, &of, ix->terms[k].coef);
    s = tf_coords_sum(d->arena, &s, &term);
  }
  return tf_coords_clip(d->arena, &s, t->lo[r], t->lo[r] + t->extent[r] - 1);
}

bool tf_demand_part(const tf_demand *d, int o, const tf_ref *ref, tf_coords *part) {
  bool together = false;
  for (int r = 0; r < d->wl->tensors[ref->tensor].rank; r++)
    part[r] = part_of(d, o, ref, r, &together);
  return !together;
}

static double words_of_part(const tf_coords *part, int rank) {
  double n = 1;
  for (int r = 0; r < rank; r++)
    n *= (double)tf_coords_count(&part[r]);
  return n;
}

/* Adds the box of one more reference.  Boxes that differ in one rank merge into one; otherwise the
 * larger one is kept. */
static void add_reference(const tf_demand *d, tf_coords *all, const tf_coords *part, int rank) {
  int differ = 0, where = 0;
  for (int r = 0; r < rank; r++)
    if (!tf_coords_same(&all[r], &part[r])) differ++, where = r;
  if (differ == 1) {
    all[where] = tf_coords_join(d->arena, &all[where], &part[where]);
  } else if (differ > 1 && words_of_part(part, rank) > words_of_part(all, rank)) {
    for (int r = 0; r < rank; r++)
      all[r] = part[r];
  }
}

/* The output dims of op o, from the ops that read its output.  If the band cuts corners off a
 * reader, nothing is known to be needed, unless the mask cuts the same corners off op o. */
static bool infer(tf_demand *d, int o) {
  const tf_workload *wl = d->wl;
  const tf_op *op = &wl->ops[o];
  const tf_tensor *made = &wl->tensors[op->out];
  tf_coords *all = TF_ARRAY(d->arena, tf_coords, (size_t)made->rank + 1);
  tf_coords *part = TF_ARRAY(d->arena, tf_coords, (size_t)made->rank + 1);
  bool first = true;
  if (!all || !part) return false;
  for (int c = 0; c < made->n_consumers; c++)
    for (int k = 0; k < wl->ops[made->consumers[c]].n_reads; k++) {
      const tf_ref *ref = &wl->ops[made->consumers[c]].reads[k];
      if (ref->tensor != op->out || tf_demanded_points(d, made->consumers[c]) <= 0) continue;
      if (tf_demand_in_band(d, made->consumers[c], ref) && !d->mask.fully_masked[o]) continue;
      tf_demand_part(d, made->consumers[c], ref, first ? all : part);
      if (!first) add_reference(d, all, part, made->rank);
      first = false;
    }
  for (int r = 0; r < op->n_out_dims; r++)
    d->sets[o * wl->n_dims + op->dims[r]] = first ? tf_coords_range(d->arena, 0, 0) : all[r];
  return true;
}

bool tf_demand_of(const tf_workload *wl, tf_demand *d) {
  *d = (tf_demand){.wl = wl, .arena = tf_arena_new()};
  if (d->arena) d->sets = TF_ARRAY(d->arena, tf_coords, (size_t)wl->n_ops * (size_t)wl->n_dims + 1);
  if (!d->sets) return false;
  d->masked = tf_mask_find(wl, d->arena, &d->mask);
  for (int i = wl->n_ops - 1; i >= 0; i--) {
    int o = wl->topo[i];
    const tf_op *op = &wl->ops[o];
    for (int k = 0; k < op->n_dims; k++)
      d->sets[o * wl->n_dims + op->dims[k]] =
          tf_coords_range(d->arena, 0, wl->dims[op->dims[k]].extent);
    if (wl->tensors[op->out].n_consumers > 0 && !tf_is_viewed(wl, op->out) && !infer(d, o))
      return false;
    cut_band(d, o);
  }
  return true;
}

void tf_demand_free(tf_demand *d) { tf_arena_free(d->arena); }

double tf_bounds_units(const tf_arch *a, int unit) {
  const tf_unit *u = &a->units[unit];
  double n = (double)u->mesh[0] * (double)u->mesh[1];
  for (int l = 1; l <= u->below; l++)
    n *= (double)a->memories[l].mesh[0] * (double)a->memories[l].mesh[1];
  return n;
}
