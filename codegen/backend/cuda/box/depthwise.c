/* Recognises depthwise convolutions. */
#include "codegen/backend/cuda/box/box.h"

/* The rank of which the dim is the index, alone, without padding; -1. */
static int rank_of(const tf_workload *wl, const tf_ref *ref, int dim) {
  for (int r = 0; r < wl->tensors[ref->tensor].rank; r++) {
    const tf_index *ix = &ref->index[r];
    if (ix->n_terms == 1 && ix->terms[0].dim == dim && ix->terms[0].coef == 1 && ix->c == 0 &&
        wl->tensors[ref->tensor].pad[r] == 0)
      return r;
  }
  return -1;
}

/* Whether all indices but the channels' have positive steps, and none of them has the channel. */
static bool steps_forward(const tf_workload *wl, const tf_ref *ref, int rank, int channel) {
  bool on = true;
  for (int r = 0; r < wl->tensors[ref->tensor].rank; r++)
    for (int i = 0; i < ref->index[r].n_terms && r != rank; i++)
      on &= ref->index[r].terms[i].coef > 0 && ref->index[r].terms[i].dim != channel;
  return on;
}

/* Whether the dim is summed beside a pixel, as a place of the window; a channel that is summed is
 * an index by itself. */
static bool is_place(const tf_op *op, const tf_workload *wl, const tf_ref *in, int dim) {
  bool beside = wl->dims[dim].extent == 1;
  for (int r = 0; r < wl->tensors[in->tensor].rank; r++)
    for (int i = 0; i < in->index[r].n_terms; i++)
      for (int k = 0; k < op->n_out_dims && in->index[r].terms[i].dim == dim; k++)
        for (int j = 0; j < in->index[r].n_terms; j++)
          beside |= in->index[r].terms[j].dim == op->dims[k];
  return beside;
}

static int64_t taps_of(const tf_workload *wl, const tf_op *op) {
  int64_t taps = 1;
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    if (__builtin_mul_overflow(taps, wl->dims[op->dims[k]].extent, &taps)) return INT64_MAX;
  return taps;
}

/* Whether that read has a window, each channel's by itself, and no pixel dim moves the other read.
 * Sets where channels are, and their outputs. */
static bool has_window(const tf_workload *wl, const tf_op *op, int read, int k, cu_depthwise *t) {
  const tf_ref *in = &op->reads[read], *weights = &op->reads[1 - read];
  const int channel = op->dims[k];
  *t = (cu_depthwise){.read = read, .channels = k, .pixel = -1, .pixel_row = -1, .outputs = -1};
  t->rank = rank_of(wl, in, channel);
  bool is = t->rank >= 0 && cu_box_is_window(wl, in) && steps_forward(wl, in, t->rank, channel) &&
            cu_box_moves(wl, weights, channel);
  for (int i = 0; i < op->n_out_dims && is; i++) {
    const bool moves = cu_box_moves(wl, in, op->dims[i]);
    if (i == k || wl->dims[op->dims[i]].extent == 1) continue;
    is = moves != cu_box_moves(wl, weights, op->dims[i]) && (moves || t->outputs < 0);
    if (!moves) t->outputs = i;
  }
  for (int i = op->n_out_dims; i < op->n_dims; i++)
    is = is && cu_box_moves(wl, in, op->dims[i]) && cu_box_moves(wl, weights, op->dims[i]) &&
         is_place(op, wl, in, op->dims[i]);
  for (int r = 0; r < wl->tensors[weights->tensor].rank; r++)
    is &= wl->tensors[weights->tensor].pad[r] == 0;
  return is;
}

bool cu_depthwise_find(const tf_workload *wl, const tf_op *op, cu_depthwise *t) {
  if (op->n_reads != 2 || op->reduce != TF_REDUCE_ADD || op->n_out_dims < 2 ||
      op->reads[0].tensor == op->reads[1].tensor || op->n_dims == op->n_out_dims)
    return false;
  bool is = false;
  for (int k = op->n_out_dims - 1; k >= 0 && !is; k--)
    is = has_window(wl, op, 0, k, t) || has_window(wl, op, 1, k, t);
  if (!is || taps_of(wl, op) > CU_MOST_TAPS) return false;
  t->taps = taps_of(wl, op);
  for (int k = op->n_out_dims - 1; k >= 0; k--) {
    if (k == t->channels || wl->dims[op->dims[k]].extent == 1 ||
        !cu_box_moves(wl, &op->reads[t->read], op->dims[k]))
      continue;
    if (t->pixel < 0)
      t->pixel = k;
    else if (t->pixel_row < 0)
      t->pixel_row = k;
  }
  /* lanes have channels, and each all outputs of its own */
  const bool may = (t->outputs < 0 && t->channels == op->n_out_dims - 1) ||
                   wl->dims[op->dims[t->channels]].extent >= CU_LEAST_CHANNELS,
             few = t->outputs < 0 || wl->dims[op->dims[t->outputs]].extent <= CU_MOST_OUTPUTS;
  return may && few && t->pixel >= 0 &&
         wl->tensors[op->reads[t->read].tensor].rank - 1 <= CU_BOX_DIMS;
}
