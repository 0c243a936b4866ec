/* Boxes of an output's points: the length of each dim in a block, where the rows of a product are
 * points of several dims together (pixels of images). */
#ifndef CODEGEN_BACKEND_CUDA_BOX_BOX_H
#define CODEGEN_BACKEND_CUDA_BOX_BOX_H
#include "tileflow/spec.h"

/* At most so many dims are longer than 1 in a box; and so many are candidates. */
enum { CU_BOX_SIDES = 3, CU_BOX_DIMS = 8 };

/* The dims of a product's output that its rows' operand has and the other has not, in the output's
 * order, and their lengths in a block; column: the longest dim that only the other operand has. */
typedef struct {
  int rows, column; /* rows: the read that has the rows */
  int n, dim[CU_BOX_DIMS];
  int64_t side[CU_BOX_DIMS];
} cu_box;

/* Whether an index of the read moves with the dim. */
bool cu_box_moves(const tf_workload *wl, const tf_ref *ref, int dim);
/* Whether the dim is a digit of the index: its settings lie between the steps of another dim, as f
 * < st in st * t + f, so that different settings of both address different elements. Phases of a
 * transposed convolution are digits of its weights. */
bool cu_box_is_digit(const tf_workload *wl, const tf_index *ix, int dim);
/* Whether it is a digit of some index of the read. */
bool cu_box_has_digit(const tf_workload *wl, const tf_ref *ref, int dim);
/* Whether some index of the read is more than one dim with step 1: several dims, a greater step, or
 * a shift. */
bool cu_box_is_window(const tf_workload *wl, const tf_ref *ref);
/* The number of coordinates along a rank between the first and the last one read, where each of its
 * dims has length[dim] settings. */
int64_t cu_box_span(const tf_index *ix, int64_t extent, const int64_t *length);
/* Whether a product has rows and columns. The rows' operand is the one with more of the output's
 * dims to itself; if both have as many, the one without the output's last dim. */
bool cu_box_find(const tf_workload *wl, const tf_op *op, cu_box *b);
/* Chooses the lengths: with at most so many points, the fewest boxes, where ragged ends add to the
 * count; among those the least coordinates read, then the most contiguous elements. */
void cu_box_fit(const tf_workload *wl, const tf_op *op, int64_t points, cu_box *b);
/* The length of equal blocks of a dim, at most `most`, unless that takes more than twice as many
 * blocks as necessary; next: if there are as few blocks as possible, of which the last may be
 * shorter. */
int64_t cu_box_even(int64_t extent, int64_t most);
int64_t cu_box_least(int64_t extent, int64_t most);

/* A depthwise convolution: each channel by itself, with one output or several. */
enum { CU_MOST_TAPS = 64, CU_MOST_OUTPUTS = 16, CU_LEAST_CHANNELS = 16 };
typedef struct {
  int read; /* the read that the window moves; the other one has the weights */
  int channels, pixel, pixel_row; /* positions among the op's dims: channels; pixels, the innermost
                                dim and the next (-1: none) */
  int outputs;                    /* and of a channel's outputs; -1: it has one */
  int rank;                       /* of the input, along which the channels are */
  int64_t taps;                   /* positions of the window */
} cu_depthwise;
/* False: the op is none, or its window has more positions than are unrolled. */
bool cu_depthwise_find(const tf_workload *wl, const tf_op *op, cu_depthwise *t);
#endif
