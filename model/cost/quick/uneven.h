/* The quick count where loops leave a remainder: the same sums, over the few kinds of digits that
 * differ (full tiles, the last one of each loop, instances without a last one), in closed form.
 * Cost: loops times classes of entries, whatever the extents. */
#ifndef MODEL_COST_QUICK_UNEVEN_H
#define MODEL_COST_QUICK_UNEVEN_H
#include "model/cost/quick/even.h"
#include "model/cost/view.h"

typedef struct tf_uneven tf_uneven;
struct tf_model;

/* What does not depend on trip counts; NULL when memory runs out. */
tf_uneven *tf_uneven_new(tf_arena *a, const tf_plan *p, const tf_views *w, const tf_even *e);
/* Fills what tf_even_count fills.  False where it does not apply to these trip counts (siblings of
 * which one leaves instances idle that the other uses), or they do not cover the ranges; then it
 * has counted what m->partly says. */
bool tf_uneven_count(struct tf_model *m);
/* The same in two steps, for trees of which the closed sums count a part: scopes that retain. First
 * the steps and instances of nodes, if m->partly; true: of all.  Once other nodes have theirs, too,
 * slices; true: all of them. */
bool tf_uneven_nodes(struct tf_model *m);
bool tf_uneven_slices(struct tf_model *m);
/* Fills the sizes that tf_even_count or tf_uneven_count fill, and nothing else.  False where the
 * quick count does not apply to these trip counts, or does not tell sizes alone. */
bool tf_quick_sizes(struct tf_model *m);

/* ---- count.c -------------------------------------------------------------------------------- */
/* Fills the values of products and ranges, and tells whether the quick count applies to the trip
 * counts and these cover the ranges.  uneven: the last tile of a range may be partial. */
bool tf_even_values(struct tf_model *m, bool uneven);
/* Whether ops that share a loop split the same range. */
bool tf_even_together(const struct tf_model *m);
/* Whether what c->prev left of slice v is still there. */
bool tf_even_survives(const struct tf_model *m, const tf_even_slice *v, const tf_reuse_case *c);
/* Whether loops bring several slices of intermediate z into one instance at home. */
bool tf_even_home_brings(const struct tf_model *m, int z);
/* Fills the words of intermediate z at home. */
void tf_even_home_uneven(struct tf_model *m, int z);

/* ---- uneven_home.c -------------------------------------------------------------------------- */
/* The same where loops bring several slices, the last of which may be shorter, into one instance.
 */
void tf_uneven_home(struct tf_model *m, int z);
#endif
