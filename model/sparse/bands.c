#include "model/sparse/bands.h"

#include <math.h>

#include "model/input/dims.h"
#include "model/input/masked.h"

enum { MOST_SEEDS = 8 };

/* An op that selects by position, and what follows from its value outside of the band. */
typedef struct {
  tf_mask mask;
  double *value; /* [tensor] outside; NAN: not known */
} seed;

struct tf_bands {
  tf_arena *arena;
  const tf_workload *wl;
  bool *even; /* [op] */
  int *of;    /* [tensor] the seed of its band; -1: it has none */
  int masked; /* the op whose mask leaves steps out; -1: none */
  int n;
  seed seeds[MOST_SEEDS];
};

tf_bands *tf_bands_new(tf_arena *a, const tf_workload *wl) {
  tf_bands *b = TF_NEW(a, tf_bands);
  tf_mask m;
  if (!b) return NULL;
  *b = (tf_bands){.arena = a,
                  .wl = wl,
                  .even = TF_ARRAY(a, bool, (size_t)wl->n_ops),
                  .of = TF_ARRAY(a, int, (size_t)wl->n_tensors)};
  if (!b->even || !b->of) return NULL;
  tf_even_ops(wl, b->even);
  for (int z = 0; z < wl->n_tensors; z++)
    b->of[z] = -1;
  b->masked = tf_mask_find(wl, a, &m) ? m.op : -1;
  return tf_arena_failed(a) ? NULL : b;
}

bool tf_bands_masked(const tf_bands *b) { return b->masked >= 0; }

/* Begins a seed where op o is one.  Beside a mask that leaves steps out no other counts, as what it
 * leaves to these steps is not known. */
static void begin_seed(tf_bands *b, int o) {
  seed *s = &b->seeds[b->n];
  double outside;
  if (b->n == MOST_SEEDS || (b->masked >= 0 && b->masked != o) ||
      !tf_mask_band(b->wl, o, &s->mask, &outside))
    return;
  s->value = TF_ARRAY(b->arena, double, (size_t)b->wl->n_tensors);
  if (!s->value) return;
  for (int z = 0; z < b->wl->n_tensors; z++)
    s->value[z] = NAN;
  s->value[b->wl->ops[o].out] = outside;
  b->n++;
}

/* Follows the seed into op o. */
static void follow(const tf_bands *b, seed *s, int o) {
  const tf_op *op = &b->wl->ops[o];
  bool reads = false;
  for (int r = 0; r < op->n_reads; r++)
    reads |= !isnan(s->value[op->reads[r].tensor]);
  if (reads && o != s->mask.op && op->reduce == TF_ASSIGN)
    s->value[op->out] = tf_mask_outside(b->wl, op, &s->mask, s->value);
}

/* Whether all that op o reads beside what the seed tells has no zeros, and nothing of this twice.
 */
static bool others_full(const tf_bands *b, const seed *s, int o, const double *share) {
  const tf_op *op = &b->wl->ops[o];
  bool full = true;
  for (int r = 0; r < op->n_reads; r++) {
    const int z = op->reads[r].tensor;
    full &= isnan(s->value[z]) ? share[z] >= 1 : tf_op_times_read(op, z) == 1;
  }
  return full;
}

/* Whether each element of the tensor is read equally often. */
static bool read_evenly(const tf_bands *b, int z) {
  bool all = !tf_is_viewed(b->wl, z);
  for (int o = 0; o < b->wl->n_ops; o++)
    for (int r = 0; r < b->wl->ops[o].n_reads; r++) {
      const tf_ref *ref = &b->wl->ops[o].reads[r];
      if (ref->tensor == z) all = all && b->even[o] && tf_is_plain(b->wl, &b->wl->tensors[z], ref);
    }
  return all;
}

/* The seed's band in the result of op o, whose dims have ranks p and q. */
static bool fill(const tf_bands *b, const seed *s, int o, tf_density *d) {
  const tf_op *op = &b->wl->ops[o];
  const tf_mask *m = &s->mask;
  const tf_tensor *t = &b->wl->tensors[op->out];
  const int l = tf_out_rank(op, m->l), q = tf_out_rank(op, m->q);
  if (l < 0 || q < 0 || l == q) return false;
  const tf_band of = q < l ? (tf_band){q, l, -m->lo, m->hi} : (tf_band){l, q, m->hi, -m->lo};
  *d = (tf_density){.fall = TF_FALL_KNOWN, .share = 1};
  return tf_band_rows(&of, t) && tf_band_fill(&of, t, b->arena, d) && d->n_runs && d->share < 1;
}

bool tf_bands_made(tf_bands *b, int o, const double *share, double point, tf_density *d) {
  const int z = b->wl->ops[o].out;
  int n = 0, at = -1;
  begin_seed(b, o);
  for (int i = 0; i < b->n; i++) {
    follow(b, &b->seeds[i], o);
    if (b->seeds[i].value[z] == 0) n++, at = i;
  }
  if (n != 1 || point <= 0 || !others_full(b, &b->seeds[at], o, share) || !read_evenly(b, z) ||
      !fill(b, &b->seeds[at], o, d))
    return false;
  b->of[z] = at;
  return true;
}

/* Whether the reference has the band's dims where what makes the tensor has them. */
static bool at_band(const tf_bands *b, const tf_ref *ref) {
  const tf_mask *m = &b->seeds[b->of[ref->tensor]].mask;
  const tf_op *maker = &b->wl->ops[b->wl->tensors[ref->tensor].producer];
  return ref->index[tf_out_rank(maker, m->l)].terms[0].dim == m->l &&
         ref->index[tf_out_rank(maker, m->q)].terms[0].dim == m->q;
}

bool tf_bands_met(const tf_bands *b, int o, const double *share) {
  const tf_op *op = &b->wl->ops[o];
  int at = -1;
  for (int r = 0; r < op->n_reads; r++) {
    const int z = op->reads[r].tensor;
    if (share[z] >= 1) continue;
    if (b->of[z] < 0 || (at >= 0 && at != b->of[z]) || !at_band(b, &op->reads[r])) return false;
    at = b->of[z];
  }
  if (at < 0 || op->reduce == TF_ASSIGN || op->reduce == TF_REDUCE_MUL) return false;
  const tf_mask *m = &b->seeds[at].mask;
  const int64_t q = b->wl->dims[m->q].extent, l = b->wl->dims[m->l].extent;
  const bool by_l = tf_out_rank(op, m->l) < 0, by_q = tf_out_rank(op, m->q) < 0;
  return (!by_l || by_q || tf_mask_q_meets(m, 0, q, 0, l)) &&
         (!by_q || by_l || tf_mask_l_meets(m, 0, q, 0, l)) && (by_l || by_q);
}
