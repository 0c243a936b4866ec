/* Channels last (NHWC): for a GPU, tensors between the groups of a network have the channels of
 * convolutions innermost, and so do their weights, as tensor cores read them; arguments of the
 * network keep their caller's layout. */
#include <string.h>

#include "model/input/dims.h"
#include "net/net.h"

enum { PIECE = 8 }; /* channels that are moved at once (16 bytes); fewer would not be aligned */

typedef struct {
  const tf_workload *wl;
  int *last;  /* [n_tensors] the rank that becomes innermost; -1: the network's layout */
  bool *free; /* [n_tensors] its layout is not fixed from outside the groups */
} layouts;

static bool reads_dim(const layouts *l, const tf_ref *ref, int dim) {
  for (int r = 0; r < l->wl->tensors[ref->tensor].rank; r++)
    for (int k = 0; k < ref->index[r].n_terms; k++)
      if (ref->index[r].terms[k].dim == dim) return true;
  return false;
}

/* The rank of the tensor read whose index is the dim alone; -1: none. */
static int rank_of(const layouts *l, const tf_ref *ref, int dim) {
  for (int r = 0; r < l->wl->tensors[ref->tensor].rank; r++)
    if (tf_index_is_dim(&ref->index[r], dim)) return r;
  return -1;
}

/* Whether the index runs along an image: it has an output dim that does not move the weights. */
static bool is_pixel(const layouts *l, const tf_op *op, const tf_index *x, const tf_ref *weights) {
  for (int k = 0; k < x->n_terms; k++) {
    const int slot = tf_op_slot(op, x->terms[k].dim);
    if (slot < op->n_out_dims && !reads_dim(l, weights, x->terms[k].dim)) return true;
  }
  return false;
}

/* Whether the index runs along a window: it has a reduced dim. */
static bool is_window(const tf_op *op, const tf_index *x) {
  for (int k = 0; k < x->n_terms; k++)
    if (tf_op_slot(op, x->terms[k].dim) >= op->n_out_dims) return true;
  return false;
}

/* The image's rank of channels, which precedes those of pixels: reduced, and a rank of the weights,
 * too. -1: the op is no convolution with channels first. */
static int channels_of(const layouts *l, const tf_op *op, const tf_ref *image,
                       const tf_ref *weights) {
  int r = l->wl->tensors[image->tensor].rank - 1, pixels = 0;
  bool window = false;
  for (; r >= 0 && is_pixel(l, op, &image->index[r], weights); r--, pixels++)
    window |= is_window(op, &image->index[r]);
  if (r < 0 || !(pixels > 1 || (pixels && window)) || image->index[r].n_terms != 1) return -1;
  const int dim = image->index[r].terms[0].dim;
  const bool sums = tf_op_slot(op, dim) >= op->n_out_dims && tf_index_is_dim(&image->index[r], dim);
  return sums && rank_of(l, weights, dim) >= 0 ? r : -1;
}

/* The same for the convolution's output. */
static int columns_of(const layouts *l, const tf_op *op, const tf_ref *image,
                      const tf_ref *weights) {
  int r = op->n_out_dims - 1;
  while (r >= 0 && reads_dim(l, image, op->dims[r]) && !reads_dim(l, weights, op->dims[r]))
    r--;
  const bool is = r >= 0 && r + 1 < op->n_out_dims && !reads_dim(l, image, op->dims[r]);
  return is && rank_of(l, weights, op->dims[r]) >= 0 ? r : -1;
}

static void move(layouts *l, int t, int rank) {
  const tf_tensor *z = &l->wl->tensors[t];
  if (rank >= 0 && l->free[t] && l->last[t] < 0 && rank + 1 < z->rank &&
      z->extent[rank] % PIECE == 0)
    l->last[t] = rank;
}

/* The image among the two operands of a convolution with channels first; -1: there is none. */
static int image_of(const layouts *l, const tf_op *op) {
  if (op->reduce != TF_REDUCE_ADD || op->n_reads != 2 || op->kinds != 1u << TF_K_MAC) return -1;
  for (int i = 0; i < 2; i++)
    if (channels_of(l, op, &op->reads[i], &op->reads[!i]) >= 0) return i;
  return -1;
}

/* Whether the op runs along the tensor read as along its output: maps, windows, channel-wise
 * ops. */
static bool goes_along(const layouts *l, const tf_op *op, const tf_ref *ref) {
  if (l->wl->tensors[ref->tensor].rank != op->n_out_dims) return false;
  for (int r = 0; r < op->n_out_dims; r++) {
    bool has = false;
    for (int k = 0; k < ref->index[r].n_terms; k++)
      has |= ref->index[r].terms[k].dim == op->dims[r];
    if (!has) return false;
  }
  return true;
}

/* Propagates layouts between the reads and the output of such ops until nothing changes. */
static void spread(layouts *l) {
  for (bool more = true; more;) {
    more = false;
    for (int i = 0; i < l->wl->n_ops; i++) {
      const tf_op *op = &l->wl->ops[i];
      for (int k = 0; k < op->n_reads; k++) {
        const int from = op->reads[k].tensor, to = op->out;
        if (!goes_along(l, op, &op->reads[k])) continue;
        const int was = (l->last[from] >= 0) + (l->last[to] >= 0);
        move(l, to, l->last[from]), move(l, from, l->last[to]);
        more |= (l->last[from] >= 0) + (l->last[to] >= 0) > was;
      }
    }
  }
}

/* Weights get the layout of the image, if only such convolutions read them. */
static void move_weights(layouts *l) {
  for (int i = 0; i < l->wl->n_ops; i++) {
    const tf_op *op = &l->wl->ops[i];
    const int image = image_of(l, op);
    if (image < 0) continue;
    const tf_ref *x = &op->reads[image], *w = &op->reads[!image];
    const tf_tensor *z = &l->wl->tensors[w->tensor];
    const int r = channels_of(l, op, x, w);
    if (z->producer >= 0 || z->n_consumers > 1 || z->view_of || l->last[x->tensor] != r) continue;
    l->free[w->tensor] = true;
    move(l, w->tensor, rank_of(l, w, x->index[r].terms[0].dim));
  }
}

bool net_channels_last(tf_arena *a, const tf_workload *wl, const char *target, const char *dtype,
                       const int **last) {
  layouts l = {.wl = wl};
  *last = NULL;
  if (!target || !dtype || !tf_emit_able(target, TF_EMIT_CHANNELS_LAST) ||
      (strcmp(dtype, "bf16") != 0 && strcmp(dtype, "f16") != 0))
    return true;
  l.last = TF_ARRAY(a, int, (size_t)wl->n_tensors);
  l.free = TF_ARRAY(a, bool, (size_t)wl->n_tensors);
  if (!l.last || !l.free) return false;
  for (int t = 0; t < wl->n_tensors; t++) {
    l.last[t] = -1;
    l.free[t] = wl->tensors[t].producer >= 0 && wl->tensors[t].n_consumers > 0;
  }
  for (int t = 0; t < wl->n_tensors; t++)
    if (wl->tensors[t].view_of) l.free[t] = l.free[wl->tensors[t].view_of - 1] = false;
  for (int i = 0; i < wl->n_ops; i++) {
    const tf_op *op = &wl->ops[i];
    const int image = image_of(&l, op);
    if (image < 0) continue;
    const tf_ref *x = &op->reads[image], *w = &op->reads[!image];
    move(&l, x->tensor, channels_of(&l, op, x, w));
    move(&l, op->out, columns_of(&l, op, x, w));
  }
  spread(&l);
  move_weights(&l);
  *last = l.last;
  return true;
}

/* A copy of n elements of `each` bytes with the one at `from` moved to the end. */
static void *with_last(tf_arena *a, const void *array, int n, int from, size_t each) {
  const char *old = array;
  char *all = tf_arena_alloc(a, (size_t)n * each);
  if (!all || !old) return all;
  memcpy(all, old, (size_t)from * each);
  memcpy(all + (size_t)from * each, old + (size_t)(from + 1) * each, (size_t)(n - 1 - from) * each);
  memcpy(all + (size_t)(n - 1) * each, old + (size_t)from * each, each);
  return all;
}

bool net_move_rank(tf_arena *a, tf_tensor *z, int rank) {
  if (rank < 0) return true;
  z->lo = with_last(a, z->lo, z->rank, rank, sizeof *z->lo);
  z->extent = with_last(a, z->extent, z->rank, rank, sizeof *z->extent);
  z->pad = with_last(a, z->pad, z->rank, rank, sizeof *z->pad);
  return z->lo && z->extent && z->pad;
}

/* Permutes the op's dims and indices as its tensors' ranks. */
static bool move_op(tf_arena *a, const tf_workload *wl, tf_op *op, const int *rank) {
  const int out = rank[op->out], n = op->n_out_dims;
  if (out >= 0) {
    const int dim = op->dims[out];
    memmove(op->dims + out, op->dims + out + 1, (size_t)(n - 1 - out) * sizeof *op->dims);
    op->dims[n - 1] = dim;
  }
  for (int k = 0; k < op->n_reads; k++) {
    tf_ref *ref = &op->reads[k];
    const int r = rank[ref->tensor];
    if (r < 0) continue;
    ref->index = with_last(a, ref->index, wl->tensors[ref->tensor].rank, r, sizeof *ref->index);
    if (!ref->index) return false;
  }
  return true;
}

bool net_move_ranks(tf_arena *a, tf_workload *wl, const int *rank) {
  for (int i = 0; i < wl->n_ops; i++)
    if (!move_op(a, wl, &wl->ops[i], rank)) return false;
  for (int t = 0; t < wl->n_tensors; t++)
    if (!net_move_rank(a, &wl->tensors[t], rank[t])) return false;
  return true;
}
