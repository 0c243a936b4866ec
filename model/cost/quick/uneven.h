/* The quick count with remainders: the same sums in closed form, over the few kinds of digits that
 * differ (full tiles, the last one of each loop, instances without a last one).  Its time is loops
 * times classes of entries, whatever the extents. */
#ifndef MODEL_COST_QUICK_UNEVEN_H
#define MODEL_COST_QUICK_UNEVEN_H
#include "model/cost/quick/even.h"
#include "model/cost/view.h"

typedef struct tf_uneven tf_uneven;
struct tf_model;

/* The tables that do not depend on trip counts; NULL when memory runs out. */
tf_uneven *tf_uneven_new(tf_arena *a, const tf_plan *p, const tf_views *w, const tf_even *e);
/* Fills the results of tf_even_count.  False if it does not apply to these trip counts (a sibling
 * leaves instances idle that another one uses), or they do not cover the ranges; then only the
 * parts marked by m->partly_counted are counted. */
bool tf_uneven_count(struct tf_model *m);
/* The same in two steps, for trees of which the closed sums count a part: scopes that retain. First
 * the steps and instances of nodes, if m->partly_counted; true: of all.  After the other nodes have
 * theirs, slices; true: all of them. */
bool tf_uneven_nodes(struct tf_model *m);
bool tf_uneven_slices(struct tf_model *m);
/* Fills the sizes that tf_even_count or tf_uneven_count fill, and nothing else.  False if the quick
 * count does not apply to these trip counts, or cannot compute sizes alone. */
bool tf_quick_sizes(struct tf_model *m);

/* ---- count.c -------------------------------------------------------------------------------- */
/* Fills the values of products and ranges; true if the quick count applies to the trip counts and
 * they cover the ranges.  uneven: the last tile of a range may be partial. */
bool tf_even_values(struct tf_model *m, bool uneven);
/* Whether ops that share a loop split the same range. */
bool tf_even_together(const struct tf_model *m);
/* Whether the content that c->prev left of slice v is still there. */
bool tf_even_survives(const struct tf_model *m, const tf_even_slice *v, const tf_reuse_case *c);
/* Whether loops put several slices of intermediate z into one instance at home. */
bool tf_even_home_brings(const struct tf_model *m, int z);
/* Fills the words of intermediate z at home. */
void tf_even_home_uneven(struct tf_model *m, int z);

/* ---- uneven_home.c -------------------------------------------------------------------------- */
/* Elements that one instance of a spatial loop which distributes intermediate z at home takes. */
int64_t tf_even_cut_step(const struct tf_model *m, int z, int l);
/* Fills its words if loops put several slices into one instance, of which the last may be shorter.
 */
void tf_uneven_home(struct tf_model *m, int z);
#endif
