/* What nodes whose windows slide share (windows.c). */
#ifndef MODEL_IMPORT_ONNX_WINDOWS_H
#define MODEL_IMPORT_ONNX_WINDOWS_H
#include "model/import/onnx/onnx.h"

enum { OX_SLID = 4 }; /* most axes along which windows slide */

/* Reads n numbers of an attribute, each at least `least`; without it they stay as they are. */
bool ox_window_attribute(ox_net *g, const char *name, int n, int64_t least, int64_t *out);
/* Extents of the weights' windows, from the weights or kernel_shape. */
bool ox_kernel_of(ox_net *g, const ox_value *w, int64_t *kernel);
/* Adds the axis, a step of which moves `times` elements of `step` each, to the index of a rank. */
void ox_add_term(ox_index *x, const ox_axis *a, int64_t step, int64_t times);
/* So many elements before and after a rank are read, as zeros; numbers below 0 ask for none. */
void ox_pad_rank(ox_tensor *t, int rank, int64_t before, int64_t after);
/* Adds the cuts of an axis of `outer` groups of n elements to both axes. */
bool ox_cut_groups(ox_net *g, const ox_value *v, int axis, int64_t n, ox_axis *outer, ox_axis *inner);
/* Adds the node's input k to `out`, whose axes are made[0 .. n - 1], along its channels. */
bool ox_add_bias(ox_net *g, size_t k, const ox_axis *channel, const ox_axis *const *made, int n, ox_value *out);
/* The name of the sum to which a bias is added, or of the result if there is none. */
const char *ox_sum_name(ox_net *g);

/* resample.c: a tensor of numbers computed here, which an op reads; the numbers stay the caller's, in the arena. */
bool ox_table(ox_net *g, const char *part, int rank, const int64_t *shape, const double *number, ox_value *out);
/* Element i of the result along an axis is the sum of `taps` elements at[i * taps + ..] of v, each times its weight; of
 * those below 0 the weight is 0.  Whatever the numbers are, v is replaced by the result of n elements. */
typedef struct {
  int64_t n, taps;
  int64_t *at;
  double *weight;
} ox_blend;
bool ox_blend_room(ox_net *g, int64_t n, int64_t taps, ox_blend *out);
bool ox_mix(ox_net *g, ox_value *v, int axis, const ox_blend *b);
#endif
