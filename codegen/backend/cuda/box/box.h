/* Boxes of an output's points: how much of each of its dims a block has where the rows of a product
 * are points of several dims together (pixels of images). */
#ifndef CODEGEN_BACKEND_CUDA_BOX_BOX_H
#define CODEGEN_BACKEND_CUDA_BOX_BOX_H
#include "tileflow/spec.h"

/* Dims that a box may be longer than 1 along; of those that it is chosen from, at most. */
enum { CU_BOX_SIDES = 3, CU_BOX_DIMS = 8 };

/* The dims of a product's output that its rows' operand has alone, in the output's order, and how
 * much of each a block has; column: the longest that the other operand has alone. */
typedef struct {
  int rows, column; /* rows: the read whose rows they are */
  int n, dim[CU_BOX_DIMS];
  int64_t side[CU_BOX_DIMS];
} cu_box;

/* Whether an index of the read moves with the dim. */
bool cu_box_moves(const tf_workload *wl, const tf_ref *ref, int dim);
/* Whether the dim is a digit of the index: it goes between the steps of another one, as f < st in
 * st * t + f, so that no two settings of both share an element.  A transposed convolution's phases
 * are such, of its weights. */
bool cu_box_is_digit(const tf_workload *wl, const tf_index *ix, int dim);
/* Of some index of the read. */
bool cu_box_has_digit(const tf_workload *wl, const tf_ref *ref, int dim);
/* Whether some index of the read is more than a dim: several of them, steps of more than one, or a
 * shift. */
bool cu_box_is_window(const tf_workload *wl, const tf_ref *ref);
/* How many coordinates of a rank are read where each of its dims has length[dim] settings. */
int64_t cu_box_span(const tf_index *ix, int64_t extent, const int64_t *length);
/* Whether a product has rows and columns.  Rows are those of the operand that has the more dims of
 * the output alone; of two that have as many, of the one that does not have the last. */
bool cu_box_find(const tf_workload *wl, const tf_op *op, cu_box *b);
/* Sets the sides: of at most so many points, the fewest boxes, those with ragged ends counted
 * somewhat more; then what reads least, and has most neighbours. */
void cu_box_fit(const tf_workload *wl, const tf_op *op, int64_t points, cu_box *b);

/* A depthwise convolution: each channel by itself, of which there may be several outputs. */
enum { CU_MOST_TAPS = 64, CU_MOST_OUTPUTS = 16, CU_LEAST_CHANNELS = 16 };
typedef struct {
  int read;                  /* that moves as the window does; the other one is the weights */
  int channels, along, rows; /* positions among the op's dims: of channels; of pixels, the innermost
                                and the next (-1: there is none) */
  int outputs;               /* and of a channel's outputs; -1: it has one */
  int rank;                  /* of the input, along which the channels are */
  int64_t taps;              /* elements of the window */
} cu_depthwise;
/* False: the op is none, or its window has more elements than are unrolled. */
bool cu_depthwise_find(const tf_workload *wl, const tf_op *op, cu_depthwise *t);
#endif
