/* Internal to the count of uneven loops: ranks of padded inputs, whose boxes borders clip. */
#ifndef MODEL_COST_QUICK_UNEVEN_CLIP_H
#define MODEL_COST_QUICK_UNEVEN_CLIP_H
#include "model/cost/quick/grid.h"
#include "model/cost/quick/uneven_plan.h"
#include "model/cost/state.h"

/* The different places to which loops bring a box, from `at` on: a grid. */
typedef struct {
  int n;
  int64_t step[TF_MAX_PATH], trip[TF_MAX_PATH];
  int64_t at, count;
} tf_join;

/* Settings at which tiles are alike but for their place: a loop at a position has `alike` digits from `digit` on. */
typedef struct {
  const tf_path *path;
  uint64_t positions; /* those that may have other digits than 0 */
  int carry;          /* of the loop there places are told by the digit before; -1: none */
  const int64_t *digit, *alike;
  const tf_join *join; /* beside these */
} tf_alike;

/* The places of a rank's boxes at such settings. */
typedef struct {
  tf_grid grid;
  int64_t at, extent; /* the first place, in the tensor; its extent */
  int64_t each;       /* settings with the same place */
} tf_clip_places;

/* Whether boxes of the range reach beyond the tensor at some setting. */
bool tf_uneven_reaches(const tf_even *e, const tf_even_range *r);
/* Fills the places of boxes of a range, less what v says of each.  False: sums of lengths up to len could overflow. */
bool tf_uneven_places(const struct tf_model *m, const tf_even_range *r, const tf_alike *a, int64_t len,
                      tf_clip_places *p);
/* Fills the places to which the loops at these positions bring a box of the range.  False: they are no grid. */
bool tf_uneven_join(const struct tf_model *m, const tf_path *path, const tf_even_range *r, uint64_t positions,
                    tf_join *j);
#endif
