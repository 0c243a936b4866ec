/* Internal to the quick count: one slice in an evaluation, and its sums with borders. */
#ifndef MODEL_COST_QUICK_CLIP_H
#define MODEL_COST_QUICK_CLIP_H
#include "model/cost/quick/even.h"
#include "model/cost/state.h"

/* A slice in this evaluation. */
typedef struct {
  const tf_even_slice *v;
  int64_t len[TF_MAX_RANK];
  int64_t box;
  int64_t instances, groups; /* copies of one step: all instances; sharing ones counted once */
  int64_t servers;           /* instances of the serving memory */
  int64_t served, asks;      /* copies below each of them: all; sharing ones counted once */
  bool small;                /* no count of the slice exceeds 2^57 */
} tf_piece;

/* Computes range i, of a padded rank, clipped by borders if no loop moves it.  False if the quick
 * count does not apply: an op's range is split differently from step to step, or some read may be
 * wholly in the padding while others are not. */
bool tf_clip_range(struct tf_model *m, int i);
/* Whether borders clip slice i; if they do, whether it was counted, or the quick count does not
 * apply. */
typedef enum { TF_UNCLIPPED, TF_COUNTED, TF_GIVEN_UP } tf_clipped;
tf_clipped tf_clip_tile(struct tf_model *m, int i, const tf_piece *x);
tf_clipped tf_clip_leaf(struct tf_model *m, int i, const tf_piece *x, bool multicast);

/* ---- boxes at one setting --------------------------------------------------------------- */
/* The range of one read, [*lo, *end), ignoring borders. */
void tf_even_read_at(const struct tf_model *m, const tf_even_read *r, int64_t *lo, int64_t *end);
/* Product of the trip counts of n loops. */
int64_t tf_even_turns(const struct tf_model *m, const int *loops, int n);
/* Advances `by`, in each rank that loop l moves, by so many of its steps. */
void tf_even_advance(const struct tf_model *m, const tf_even_loop *l, int64_t steps, int64_t *by);
/* The position of the box that an entry of class c finds, relative to its own box, without borders,
 * and its extents.  by: the shift of x by its loops.  False: nothing is found. */
bool tf_even_before(const struct tf_model *m, const tf_reuse_case *c, const tf_piece *x,
                    const int64_t *by, int64_t *lo, int64_t *len);
/* Words found when a slice enters in class c; by: the position of the previous step's box. */
int64_t tf_even_found(const struct tf_model *m, const tf_reuse_case *c, const tf_piece *x,
                      const int64_t *by);
#endif
