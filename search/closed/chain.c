/* Chains of ops: which loop moves what, footprints, Algorithm 1 of the thesis. */
#include "search/closed/chain.h"

#include <math.h>
#include <string.h>

#include "model/input/dims.h"

static int index_of(const tf_chain *c, int op) {
  for (int k = 0; k < c->n_ops; k++)
    if (c->ops[k] == op) return k;
  return -1;
}

static tf_c_length constant_length(double one) {
  tf_c_length l = {.one = one};
  return l;
}

static bool add_loop(tf_chain *c, int dim, int op) {
  if (c->n_loops == TF_C_LOOPS) return false;
  c->loops[c->n_loops++] = (tf_c_loop){dim, op, c->wl->dims[dim].extent, 0};
  return true;
}

static bool is_constant(const tf_c_length *l) {
  for (int i = 0; i < TF_C_LOOPS; i++)
    if (l->per[i] != 0) return false;
  return true;
}

static void note_loops(tf_c_length *l) {
  for (int i = 0; i < TF_C_LOOPS; i++)
    l->loops |= (uint32_t)(l->per[i] != 0) << i;
}

/* Fills tf_c_length.loops everywhere. */
static void find_loops(tf_chain *c) {
  for (int i = 0; i < c->n_uses; i++)
    for (int r = 0; r < c->uses[i].rank; r++)
      note_loops(&c->uses[i].len[r]);
  for (int k = 0; k < c->n_ops; k++)
    for (int i = 0; i < c->wl->ops[c->ops[k]].n_dims; i++)
      note_loops(&c->range[k][i]);
}

/* The extent of an index expression for dims of the lengths len[]. */
static tf_c_length span(const tf_op *op, const tf_index *ix, const tf_c_length *len) {
  tf_c_length all = constant_length(1);
  for (int t = 0; t < ix->n_terms; t++) {
    double c = fabs((double)ix->terms[t].coef);
    for (int i = 0; i < op->n_dims; i++) {
      if (op->dims[i] != ix->terms[t].dim) continue;
      all.one += c * (len[i].one - 1);
      for (int l = 0; l < TF_C_LOOPS; l++)
        all.per[l] += c * len[i].per[l];
    }
  }
  return all;
}

/* The term-by-term maximum of two lengths; a constant one is at most the extent. */
static void widen(tf_c_length *to, const tf_c_length *by) {
  to->one = fmax(to->one, by->one);
  for (int l = 0; l < TF_C_LOOPS; l++)
    to->per[l] = fmax(to->per[l], by->per[l]);
}

/* Lengths of a producer's output dims: what its consumers in the chain read (bounds inference). */
static void infer(tf_chain *c, int k) {
  const tf_op *op = &c->wl->ops[c->ops[k]];
  for (int i = 0; i < op->n_out_dims; i++)
    c->range[k][i] = constant_length(-INFINITY);
  for (int j = k + 1; j < c->n_ops; j++) {
    const tf_op *reader = &c->wl->ops[c->ops[j]];
    for (int r = 0; r < reader->n_reads; r++)
      for (int i = 0; reader->reads[r].tensor == op->out && i < op->n_out_dims; i++) {
        tf_c_length read = span(reader, &reader->reads[r].index[i], c->range[j]);
        widen(&c->range[k][i], &read);
      }
  }
  for (int i = 0; i < op->n_out_dims; i++) {
    double extent = (double)c->wl->dims[op->dims[i]].extent;
    if (isinf(c->range[k][i].one) || (is_constant(&c->range[k][i]) && c->range[k][i].one > extent))
      c->range[k][i] = constant_length(extent);
  }
}

static int shared_loop(const tf_chain *c, int dim) {
  for (int l = 0; l < c->n_shared; l++)
    if (c->loops[l].dim == dim) return l;
  return -1;
}

/* Dim lengths below the shared loops: those of the last op by its loops, others by inference. A dim
 * that another op reduces follows the shared loop over it, if there is one. */
static void find_ranges(tf_chain *c) {
  for (int k = c->n_ops - 1; k >= 0; k--) {
    const tf_op *op = &c->wl->ops[c->ops[k]];
    bool last = k == c->n_ops - 1;
    if (!last) infer(c, k);
    for (int i = last ? 0 : op->n_out_dims; i < op->n_dims; i++) {
      int l = shared_loop(c, op->dims[i]);
      c->range[k][i] = constant_length(l < 0 ? (double)c->wl->dims[op->dims[i]].extent : 0);
      if (l >= 0) c->range[k][i].per[l] = 1;
    }
  }
}

/* Adds an own loop for each dim that no shared loop tiles. */
static bool add_own(tf_chain *c, int own[TF_C_OPS][TF_C_DIMS]) {
  for (int k = 0; k < c->n_ops; k++)
    for (int i = 0; i < c->wl->ops[c->ops[k]].n_dims; i++) {
      own[k][i] = -1;
      if (!is_constant(&c->range[k][i]) || c->range[k][i].one <= 1) continue;
      own[k][i] = c->n_loops;
      if (!add_loop(c, c->wl->ops[c->ops[k]].dims[i], c->ops[k])) return false;
      c->loops[own[k][i]].extent = (int64_t)c->range[k][i].one;
    }
  return true;
}

/* Whether the tensor is an input or output of the chain; for a chain of one op every tensor is. */
static bool is_io(const tf_chain *c, int tensor) {
  int producer = c->wl->tensors[tensor].producer;
  return c->n_ops == 1 || producer < 0 || c->wl->tensors[tensor].n_consumers == 0;
}

/* Adds the use of a tensor by the k-th op; own[] says which dims have own loops. */
static bool add_use(tf_chain *c, int k, int tensor, const int *own) {
  const tf_op *op = &c->wl->ops[c->ops[k]];
  const tf_tensor *z = &c->wl->tensors[tensor];
  if (c->n_uses == TF_C_USES || z->rank > TF_C_RANKS) return false;
  tf_c_use *u = &c->uses[c->n_uses];
  *u = (tf_c_use){.op = c->ops[k],
                  .tensor = tensor,
                  .rank = z->rank,
                  .io = is_io(c, tensor),
                  .out = op->out == tensor,
                  .bits = z->word_bits,
                  .all = true};
  for (int j = 0; j < c->n_ops; j++)
    u->all &= tf_op_touches(&c->wl->ops[c->ops[j]], tensor);
  for (int j = 0; j < c->n_uses; j++)
    u->is_repeat |= c->uses[j].tensor == tensor;
  tf_c_length len[TF_C_DIMS];
  for (int i = 0; i < op->n_dims; i++) {
    len[i] = c->range[k][i];
    if (own[i] >= 0 &&
        u->io) { /* intermediates are whole in the scope's home, whatever the own loops are */
      len[i] = constant_length(0);
      len[i].per[own[i]] = 1;
    }
  }
  for (int r = 0; r < z->rank; r++)
    u->len[r] = u->out ? len[r] : constant_length(-INFINITY);
  for (int i = 0; i < op->n_reads; i++)
    for (int r = 0; op->reads[i].tensor == tensor && r < z->rank; r++) {
      tf_c_length read = span(op, &op->reads[i].index[r], len);
      widen(&u->len[r], &read);
    }
  for (int r = 0; r < z->rank; r++)
    for (int l = 0; l < c->n_loops; l++)
      if (u->len[r].per[l] != 0) u->moves |= 1u << l;
  c->n_uses++;
  return true;
}

static bool add_uses(tf_chain *c, int own[TF_C_OPS][TF_C_DIMS]) {
  for (int k = 0; k < c->n_ops; k++) {
    const tf_op *op = &c->wl->ops[c->ops[k]];
    for (int i = 0; i < op->n_reads; i++) {
      bool known = op->reads[i].tensor == op->out;
      for (int j = 0; j < i; j++)
        known |= op->reads[j].tensor == op->reads[i].tensor;
      if (!known && !add_use(c, k, op->reads[i].tensor, own[k])) return false;
    }
    if (!add_use(c, k, op->out, own[k])) return false;
  }
  return true;
}

static void find_ops(tf_chain *c, int own[TF_C_OPS][TF_C_DIMS]) {
  for (int k = 0; k < c->n_ops; k++)
    for (int i = 0; i < c->wl->ops[c->ops[k]].n_dims; i++)
      for (int l = 0; l < c->n_loops; l++)
        if (l == own[k][i] || c->range[k][i].per[l] != 0) c->loops[l].ops |= 1u << k;
}

bool tf_chain_of(const tf_workload *wl, int op, const bool *shared, tf_chain *c) {
  memset(c, 0, sizeof *c);
  c->wl = wl;
  if (op < 0 && wl->n_ops > TF_C_OPS) return false;
  for (int k = 0; k < wl->n_ops; k++) {
    if (op >= 0 && wl->topo[k] != op) continue;
    if (wl->ops[wl->topo[k]].n_dims > TF_C_DIMS) return false;
    c->ops[c->n_ops++] = wl->topo[k];
  }
  if (c->n_ops == 0) return false;
  const tf_op *last = &wl->ops[c->ops[c->n_ops - 1]];
  for (int i = 0; i < last->n_dims; i++)
    if (wl->dims[last->dims[i]].extent > 1 && (c->n_ops == 1 || shared[last->dims[i]]) &&
        !add_loop(c, last->dims[i], -1))
      return false;
  c->n_shared = c->n_loops;
  find_ranges(c);
  int own[TF_C_OPS][TF_C_DIMS];
  if (!add_own(c, own) || !add_uses(c, own)) return false;
  find_ops(c, own);
  find_loops(c);
  return index_of(c, c->ops[0]) == 0;
}

/* ---- Algorithm 1 ---------------------------------------------------------------------------- */
double tf_chain_length(const tf_c_length *l, const double *s) {
  double n = l->one;
  for (uint32_t rest = l->loops; rest; rest &= rest - 1)
    n += l->per[__builtin_ctz(rest)] * s[__builtin_ctz(rest)];
  return n;
}

double tf_chain_footprint(const tf_c_use *u, const double *s) {
  double words = 1;
  for (int r = 0; r < u->rank; r++)
    words *= tf_chain_length(&u->len[r], s);
  return words;
}

static double steps(const tf_chain *c, int l, const double *s) {
  return ceil((double)c->loops[l].extent / s[l] - 1e-9);
}

/* Whether loop l is around op k: its own, or one shared by op k and those after it. */
static bool loop_of(const tf_chain *c, int l, int k) { return c->loops[l].ops >> k & 1; }

static double volume_of(const tf_chain *c, const tf_c_use *u, int k, const int *order, int n,
                        const double *s) {
  double words = tf_chain_footprint(u, s);
  bool keep = true;
  for (int i = n - 1; i >= 0; i--) {
    if (!loop_of(c, order[i], k)) continue; /* an own loop of an earlier op */
    if (u->moves >> order[i] & 1) keep = false;
    if (!keep) words *= steps(c, order[i], s);
  }
  return words;
}

void tf_chain_algorithm1(const tf_chain *c, const int *order, int n, const double *s,
                         double *volume, double *use) {
  *volume = *use = 0;
  for (int k = 0; k < c->n_ops; k++) {
    double held = 0;
    for (int i = 0; i < c->n_uses; i++) {
      const tf_c_use *u = &c->uses[i];
      if (u->op != c->ops[k]) continue;
      held += tf_chain_footprint(u, s);
      if (u->io) *volume += volume_of(c, u, k, order, n, s);
    }
    *use = fmax(*use, held);
  }
}

/* ---- words that the tree moves --------------------------------------------------------------- */
/* The ranges that the loops split, and their steps. */
typedef struct {
  const double *extent, *steps;
} nest;

/* The sum of a rank's lengths over all steps of its loops; the last steps may be shorter. */
static double sum_over_steps(const tf_c_length *len, const nest *t) {
  double all = len->one, product = 1;
  for (uint32_t rest = len->loops; rest; rest &= rest - 1)
    product *= t->steps[__builtin_ctz(rest)];
  all *= product;
  for (uint32_t rest = len->loops; rest; rest &= rest - 1) {
    const int l = __builtin_ctz(rest);
    all += len->per[l] * t->extent[l] * product / t->steps[l];
  }
  return all;
}

static double tree_words(const tf_chain *c, const tf_c_use *u, tf_scope kind, const int *order,
                         int n, const nest *t, bool reloads) {
  const int k = index_of(c, u->op);
  double words = 1, once;
  bool keep = true, dropped = tf_scope_at(kind)->drops && c->n_ops > 1 && !u->all;
  for (int r = 0; r < u->rank; r++)
    words *= sum_over_steps(&u->len[r], t);
  once = words;
  for (int pass = 1; pass >= 0; pass--) /* the op's own loops are inside the shared ones */
    for (int i = n - 1; i >= 0; i--) {
      bool own = c->loops[order[i]].op >= 0;
      if (own != (pass == 1) || (own && c->loops[order[i]].op != c->ops[k])) continue;
      if (t->steps[order[i]] <= 1) continue;
      if (u->moves >> order[i] & 1 || (dropped && !own)) keep = false;
      if (!keep && !(u->moves >> order[i] & 1)) words *= t->steps[order[i]];
    }
  return reloads && u->out ? 2 * words - once : words;
}

double tf_chain_words_in(const tf_chain *c, const double *extent, tf_scope kind, const int *order,
                         int n, const double *s, bool reloads) {
  double all = 0, taken[TF_C_LOOPS];
  const nest t = {extent, taken};
  for (int l = 0; l < c->n_loops; l++)
    taken[l] = ceil(extent[l] / s[l] - 1e-9);
  for (int i = 0; i < c->n_uses; i++) {
    const tf_c_use *u = &c->uses[i];
    if (u->io && !(u->is_repeat && !tf_scope_at(kind)->drops && u->all))
      all += tree_words(c, u, kind, order, n, &t, reloads);
  }
  return all;
}

double tf_chain_words(const tf_chain *c, tf_scope kind, const int *order, int n, const double *s,
                      bool reloads) {
  double extent[TF_C_LOOPS];
  for (int l = 0; l < c->n_loops; l++)
    extent[l] = (double)c->loops[l].extent;
  return tf_chain_words_in(c, extent, kind, order, n, s, reloads);
}
