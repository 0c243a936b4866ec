/* Recognises depthwise convolutions whose channels are contiguous. */
#include "codegen/backend/cuda/box/box.h"

/* Whether the read's last index is the dim alone. */
static bool ends_with(const tf_workload *wl, const tf_ref *ref, int dim) {
  const int rank = wl->tensors[ref->tensor].rank;
  const tf_index *last = rank ? &ref->index[rank - 1] : NULL;
  return last && last->n_terms == 1 && last->terms[0].dim == dim && last->terms[0].coef == 1 &&
         last->c == 0 && wl->tensors[ref->tensor].pad[rank - 1] == 0;
}

/* Whether all other indices of the read have positive steps, and none of them has the channel. */
static bool steps_forward(const tf_workload *wl, const tf_ref *ref, int channel) {
  bool on = true;
  for (int r = 0; r < wl->tensors[ref->tensor].rank - 1; r++)
    for (int i = 0; i < ref->index[r].n_terms; i++)
      on &= ref->index[r].terms[i].coef > 0 && ref->index[r].terms[i].dim != channel;
  return on;
}

static int64_t taps_of(const tf_workload *wl, const tf_op *op) {
  int64_t taps = 1;
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    if (__builtin_mul_overflow(taps, wl->dims[op->dims[k]].extent, &taps)) return INT64_MAX;
  return taps;
}

/* Whether that read has a window, and no pixel dim moves the other read. */
static bool has_window(const tf_workload *wl, const tf_op *op, int read) {
  const tf_ref *in = &op->reads[read], *weights = &op->reads[1 - read];
  const int channel = op->dims[op->n_out_dims - 1];
  bool is = cu_box_is_window(wl, in) && ends_with(wl, in, channel) &&
            steps_forward(wl, in, channel) && cu_box_moves(wl, weights, channel);
  for (int k = 0; k < op->n_out_dims - 1; k++)
    is &= wl->dims[op->dims[k]].extent == 1 || !cu_box_moves(wl, weights, op->dims[k]);
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    is &= cu_box_moves(wl, in, op->dims[k]) && cu_box_moves(wl, weights, op->dims[k]);
  for (int r = 0; r < wl->tensors[weights->tensor].rank; r++)
    is &= wl->tensors[weights->tensor].pad[r] == 0;
  return is;
}

bool cu_depthwise_find(const tf_workload *wl, const tf_op *op, cu_depthwise *t) {
  *t = (cu_depthwise){.read = -1, .channels = op->n_out_dims - 1, .pixel = -1, .pixel_row = -1};
  if (op->n_reads != 2 || op->reduce != TF_REDUCE_ADD || op->n_out_dims < 2 ||
      op->reads[0].tensor == op->reads[1].tensor)
    return false;
  for (int i = 0; i < 2 && t->read < 0; i++)
    if (has_window(wl, op, i)) t->read = i;
  if (t->read < 0 || op->n_dims == op->n_out_dims || taps_of(wl, op) > CU_MOST_TAPS) return false;
  t->taps = taps_of(wl, op);
  for (int k = t->channels - 1; k >= 0; k--) {
    if (wl->dims[op->dims[k]].extent == 1 || !cu_box_moves(wl, &op->reads[t->read], op->dims[k]))
      continue;
    if (t->pixel < 0)
      t->pixel = k;
    else if (t->pixel_row < 0)
      t->pixel_row = k;
  }
  return t->pixel >= 0 && wl->tensors[op->reads[t->read].tensor].rank - 1 <= CU_BOX_DIMS;
}
