/* Dims that indices divide, `h / 2` and `h % 2`, cut into parts: h = 2 * h_div2 + h_mod2.  Over the
 * parts every index is affine, and no other room has quotients.  A dim is cut for all ops that
 * have it; a tensor that is made along it has a rank for each part: its words and their order stay.
 */
#ifndef MODEL_INPUT_CUT_CUT_H
#define MODEL_INPUT_CUT_CUT_H
#include "model/input/cut/form.h"

/* As reader.h has them, which sees that they are the same. */
enum { TF_CUT_DIMS = 4096, TF_CUT_OP_DIMS = 64, TF_CUT_RANK = 16, TF_CUT_EXPR = 512 };

/* dividend / divisor, rounded down; x % by is x - by * (x / by).  Terms of the dividend name dims
 * and quotients before this one. */
typedef struct {
  tf_index dividend;
  int64_t divisor;
  tf_loc at;
} tf_floor;

/* The left side of an op.  Joined: not every index is a dim alone; then indices are sums of parts
 * that count through the rank, each coordinate once, such as 2 * h + a where a has two steps. */
typedef struct {
  tf_ref ref;
  tf_loc *at; /* [rank] */
  bool joined;
  int n_parts[TF_CUT_RANK]; /* of each rank, found by tf_cut_dims */
} tf_left;

/* A part of a dim: the dim / weight % extent. */
typedef struct {
  int dim;
  int64_t weight, extent;
} tf_part;

typedef struct {
  tf_arena *arena;
  tf_diags *diags;
  tf_workload *wl;
  int n_floors;
  const tf_floor *floors;
  tf_left *left;             /* [n_ops] */
  bool *used, failed;        /* [n_floors] */
  tf_affine *value, *spread; /* [n_floors] quotients over parts; of one rank, while at work */
  /* what tf_cut_dims finds */
  int n_was;
  const tf_dim *was; /* the dims as they are written */
  int n_parts;       /* these are the workload's dims now, those of a dim side by side, */
  tf_part *part;     /* the outermost first */
  tf_loc *because;   /* of a dim that is cut: an index that asked for it */
} tf_cutting;

/* Replaces dims by their parts in all of wl but the ranks of tensors.  False after an error. */
bool tf_cut_dims(tf_cutting *c);
/* Gives tensors that are made along several parts a rank for each, in the order of their words.
 * needs: extents and all that is checked of tensors as they are written.  False after an error. */
bool tf_cut_ranks(tf_cutting *c);

/* The extent of the rank that the op makes, over its parts. */
int64_t tf_cut_extent(const tf_cutting *c, int op, int rank);
/* The dim, as it is written, that the index is, -1: none. */
int tf_cut_whole(const tf_cutting *c, const tf_index *x);
/* What a part is called: h_div2 where h is cut at 2, h_mod2, h_div2mod3 between two cuts. */
void tf_part_name(const tf_cutting *c, int part, char *out, size_t room);
#endif
