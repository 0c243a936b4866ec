/* The capacity bound of a workload: the sum of its ops' capacity curves, plus the tensors that no
 * curve counts. */
#include "search/bound/bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/locale.h"
#include "model/demand/demand.h"
#include "model/input/dims.h"

/* The range of an op's dim as an affine map of a dim of the op that leads where the op runs: range
 * of dim `root`, times coef, plus c.  Not even: ranges of two runs may overlap. */
typedef struct {
  int root; /* -1: constant */
  int64_t coef, c;
  bool even;
} dim_map;

typedef struct {
  const tf_workload *wl;
  int word_bits;
  tf_demand need;
  bool *counted;     /* [tensor] in the curve of some op */
  bool *needs;       /* [op * n_ops + other] op depends on `other` */
  dim_map *dim_maps; /* [op * TF_B_DIMS + slot] */
  tf_b_curve all;
} slope;

/* ---- which tensors an op's curve counts -------------------------------------------------------
 */
/* The op's dims that index a reference, as bits; false unless each rank is one dim, each dim in one
 * rank, and all indices are inside the tensor. */
static bool single_dims(const slope *s, int o, const tf_ref *ref, unsigned *dims) {
  const tf_tensor *z = &s->wl->tensors[ref->tensor];
  const tf_op *op = &s->wl->ops[o];
  *dims = 0;
  for (int r = 0; r < z->rank; r++) {
    if (z->pad[r] > 0 || ref->index[r].n_terms > 1) return false;
    if (ref->index[r].n_terms == 0) continue;
    int d = tf_op_slot(op, ref->index[r].terms[0].dim);
    if (d < 0 || d >= TF_B_DIMS || (*dims >> d & 1) || !s->dim_maps[o * TF_B_DIMS + d].even)
      return false;
    *dims |= 1u << d;
  }
  return true;
}

/* The map of what an index reads, from the map of the reader's dim. */
static dim_map map_of_read(const slope *s, int reader, const tf_index *ix) {
  if (ix->n_terms == 0) return (dim_map){-1, 0, ix->c, true};
  int d = tf_op_slot(&s->wl->ops[reader], ix->terms[0].dim);
  if (ix->n_terms > 1 || d < 0 || d >= TF_B_DIMS) return (dim_map){-1, 0, 0, false};
  dim_map of = s->dim_maps[reader * TF_B_DIMS + d];
  of.even &= !__builtin_mul_overflow(of.coef, ix->terms[0].coef, &of.coef);
  of.even &= !__builtin_mul_overflow(of.c, ix->terms[0].coef, &of.c) &&
             !__builtin_add_overflow(of.c, ix->c, &of.c);
  return of;
}

static bool same_map(const dim_map *a, const dim_map *b) {
  return a->even && b->even && a->root == b->root && a->coef == b->coef && a->c == b->c;
}

/* The map of the i-th output dim of op o: even where all readers give the same one, and no border
 * clips it. */
static dim_map map_of_output(const slope *s, int o, int i) {
  const tf_op *op = &s->wl->ops[o];
  const tf_tensor *made = &s->wl->tensors[op->out];
  dim_map of = {op->dims[i], 1, 0, true};
  bool first = true;
  for (int c = 0; c < made->n_consumers; c++)
    for (int r = 0; r < s->wl->ops[made->consumers[c]].n_reads; r++) {
      const tf_ref *ref = &s->wl->ops[made->consumers[c]].reads[r];
      if (ref->tensor != op->out) continue;
      dim_map here = map_of_read(s, made->consumers[c], &ref->index[i]);
      if (!first)
        of.even &= same_map(&of, &here);
      else
        of = here;
      first = false;
    }
  int64_t all = of.root < 0 ? 1 : s->wl->dims[of.root].extent;
  of.even &= tf_demanded(&s->need, o, op->dims[i]) == all;
  return of;
}

static void find_dim_maps(slope *s) {
  for (int k = s->wl->n_ops - 1; k >= 0; k--) {
    int o = s->wl->topo[k];
    const tf_op *op = &s->wl->ops[o];
    for (int i = 0; i < op->n_dims && i < TF_B_DIMS; i++)
      s->dim_maps[o * TF_B_DIMS + i] =
          i < op->n_out_dims ? map_of_output(s, o, i) : (dim_map){op->dims[i], 1, 0, true};
  }
}

/* Whether some output dim of op o is not even, so that its runs may overlap. */
static bool overlaps(const slope *s, int o) {
  for (int i = 0; i < s->wl->ops[o].n_out_dims && i < TF_B_DIMS; i++)
    if (!s->dim_maps[o * TF_B_DIMS + i].even) return true;
  return false;
}

/* Which ops each op depends on, directly or not, in topological order. */
static void find_needs(slope *s) {
  const tf_workload *wl = s->wl;
  for (int k = 0; k < wl->n_ops; k++) {
    bool *mine = &s->needs[(size_t)wl->topo[k] * (size_t)wl->n_ops];
    for (int r = 0; r < wl->ops[wl->topo[k]].n_reads; r++) {
      int maker = wl->tensors[wl->ops[wl->topo[k]].reads[r].tensor].producer;
      if (maker < 0) continue;
      mine[maker] = true;
      for (int o = 0; o < wl->n_ops; o++)
        mine[o] |= s->needs[(size_t)maker * (size_t)wl->n_ops + (size_t)o];
    }
  }
}

/* Whether the op reduces a dim that some op which it does not depend on has, too: then a streamed
 * scope may tile that dim. */
static bool shares_reduced(const slope *s, int o) {
  const tf_workload *wl = s->wl;
  const tf_op *op = &wl->ops[o];
  const bool *needed = &s->needs[(size_t)o * (size_t)wl->n_ops];
  for (int i = op->n_out_dims; i < op->n_dims; i++)
    for (int other = 0; other < wl->n_ops; other++)
      if (other != o && !needed[other] && tf_op_slot(&wl->ops[other], op->dims[i]) >= 0)
        return true;
  return false;
}

static double weight(const slope *s, int z) {
  return (double)s->wl->tensors[z].word_bits / s->word_bits;
}

static double words_of(const tf_b_op *b, unsigned dims) {
  double n = 1;
  for (int d = 0; d < b->n_dims; d++)
    if (dims >> d & 1) n *= (double)b->extent[d];
  return n;
}

static void add_tensor(slope *s, tf_b_op *b, int z, unsigned dims, bool out, bool stays) {
  if (b->n == TF_B_TENSORS) return;
  b->tensor[b->n++] = (tf_b_tensor){.dims = dims,
                                    .words = stays ? 0 : words_of(b, dims),
                                    .weight = weight(s, z),
                                    .out = out,
                                    .on_chip = stays};
  if (!stays) s->counted[z] = true;
}

/* Adds inputs that this op alone reads, by one reference.  Others are left out, as several ops may
 * share one load. */
static void add_reads(slope *s, int o, tf_b_op *b) {
  const tf_op *op = &s->wl->ops[o];
  for (int r = 0; r < op->n_reads; r++) {
    int z = op->reads[r].tensor;
    const tf_tensor *t = &s->wl->tensors[z];
    unsigned dims;
    bool own = t->producer < 0 && t->n_consumers == 1;
    if (own && tf_op_times_read(op, z) == 1 && single_dims(s, o, &op->reads[r], &dims))
      add_tensor(s, b, z, dims, false, false);
  }
}

/* Adds the output: it leaves the chip, or stays on it (`stays`). */
static void add_output(slope *s, int o, bool stays, tf_b_op *b) {
  const tf_op *op = &s->wl->ops[o];
  unsigned dims = 0;
  if (tf_op_times_read(op, op->out) || (stays && shares_reduced(s, o)) ||
      (!stays && overlaps(s, o)))
    return;
  for (int i = 0; i < op->n_out_dims && i < TF_B_DIMS; i++)
    dims |= 1u << i;
  add_tensor(s, b, op->out, dims, true, stays);
}

/* ---- one op --------------------------------------------------------------------------------- */
/* The capacity curve of one op.  An op without tensors to count, with too many dims or without
 * points has the empty one: nothing held, nothing moved. */
static void curve_of(slope *s, int o, bool stays, tf_b_curve *out) {
  const tf_op *op = &s->wl->ops[o];
  tf_b_op b = {.n_dims = op->n_dims < TF_B_DIMS ? op->n_dims : TF_B_DIMS};
  bool empty =
      op->n_dims > TF_B_DIMS ||
      (s->need.masked && s->need.mask.fully_masked[o]); /* the mask may leave out whole blocks */
  for (int i = 0; i < b.n_dims; i++) {
    b.extent[i] = tf_demanded(&s->need, o, op->dims[i]);
    empty |= b.extent[i] == 0;
  }
  if (!empty) {
    add_output(s, o, stays, &b);
    add_reads(s, o, &b);
  }
  if (b.n == 0)
    tf_b_add(out, 0, 0);
  else
    tf_b_op_curve(&b, out);
}

/* Adds the op's curve.  An intermediate either stays on the chip or passes through the outermost
 * memory: the minimum of both. */
static void add_op(slope *s, int o) {
  const tf_tensor *z = &s->wl->tensors[s->wl->ops[o].out];
  bool inner = z->n_consumers > 0;
  tf_b_curve here = {0};
  curve_of(s, o, inner, &here);
  if (inner) {
    bool before = s->counted[s->wl->ops[o].out];
    curve_of(s, o, false, &here);
    s->counted[s->wl->ops[o].out] = before;
    tf_b_tidy(&here);
  }
  tf_b_sum(&s->all, &here);
  free(here.step);
}

/* ---- the whole ------------------------------------------------------------------------------ */
/* Words of the tensors in no curve, each once.  False if they exceed 2^63 - 1. */
static bool rest(slope *s, double *words) {
  const tf_workload *wl = s->wl;
  *words = 0;
  for (int z = 0; z < wl->n_tensors; z++) {
    const tf_tensor *t = &wl->tensors[z];
    int64_t n = 1;
    if (s->counted[z] || (t->producer >= 0 && t->n_consumers > 0)) continue;
    if (t->producer < 0 && (n = tf_demand_touched(&s->need, z)) < 0) return false;
    if (t->producer >= 0 && (n = tf_demand_made(&s->need, z)) < 0) return false;
    *words += (double)n;
  }
  return true;
}

/* Words are integers; the factor allows for rounding of sums. */
static double whole_words(double words) { return ceil(words * (1 - 1e-12)); }

static bool sum_curves(slope *s, tf_diags *d) {
  double more;
  find_dim_maps(s);
  find_needs(s);
  tf_b_add(&s->all, 0, 0);
  for (int k = 0; k < s->wl->n_ops; k++)
    add_op(s, s->wl->topo[k]);
  if (!rest(s, &more)) return tf_fail(d, s->wl->at, TF_E_OVERFLOW, "a bound passes 2^63 - 1");
  for (int i = 0; i < s->all.n; i++)
    s->all.step[i].words = whole_words(s->all.step[i].words + more);
  tf_b_tidy(&s->all); /* rounding may have made points equal */
  return (!s->all.failed && s->all.n > 0) || tf_out_of_memory(d);
}

static bool prepare(slope *s, const tf_workload *wl, int word_bits) {
  s->wl = wl, s->word_bits = word_bits;
  s->counted = calloc((size_t)wl->n_tensors + 1, sizeof *s->counted);
  s->needs = calloc((size_t)wl->n_ops * (size_t)wl->n_ops + 1, sizeof *s->needs);
  s->dim_maps = calloc((size_t)wl->n_ops * TF_B_DIMS + 1, sizeof *s->dim_maps);
  return tf_demand_of(wl, &s->need) && s->counted && s->needs && s->dim_maps;
}

tf_bound_slope *tf_bound_slope_of(const tf_workload *wl, int word_bits, tf_diags *d) {
  TF_IN_C_LOCALE;
  slope s = {0};
  if (!tf_no_views(wl, d)) return NULL;
  tf_bound_slope *out = calloc(1, sizeof *out);
  bool ok = out && prepare(&s, wl, word_bits);
  if (!ok) tf_out_of_memory(d);
  ok = ok && sum_curves(&s, d);
  if (ok) {
    *out = (tf_bound_slope){s.all.n, s.all.step, -1};
    for (int o = 0; o < wl->n_ops; o++)
      if (wl->ops[o].n_dims > TF_B_DIMS) out->left_out = o;
  } else {
    free(s.all.step);
    free(out);
    out = NULL;
  }
  tf_demand_free(&s.need);
  free(s.counted);
  free(s.needs);
  free(s.dim_maps);
  return out;
}

void tf_bound_slope_free(tf_bound_slope *s) {
  if (!s) return;
  free(s->steps);
  free(s);
}

double tf_bound_at(const tf_bound_slope *s, double capacity) {
  int lo = 0, hi = s->n; /* binary search for the first step beyond the capacity */
  while (lo < hi) {
    int mid = (lo + hi) / 2;
    if (s->steps[mid].capacity <= capacity)
      lo = mid + 1;
    else
      hi = mid;
  }
  return s->steps[lo ? lo - 1 : 0].words;
}
