/* The general count: sums over classes of settings (sums.h), for trip counts that do not divide evenly. */
#ifndef MODEL_COST_GENERAL_GENERAL_H
#define MODEL_COST_GENERAL_GENERAL_H
#include "model/cost/general/sums.h"
#include "model/cost/state.h"

/* Makes what only this way of counting, and the walk, need; done once.  False: out of memory. */
bool tf_general_ready(struct tf_model *m);
/* Fill moves, cells, op points; steps, widths.  False on overflow. */
bool tf_count_all(struct tf_model *m);
/* Fills treated.  False on overflow. */
bool tf_count_treated(struct tf_model *m);
/* Whether several instances may share what a slice moves. */
bool tf_count_shares(const tf_eval *ev, const tf_slice *s);
/* What enters slice s in class c of its entries.  False on overflow. */
bool tf_count_class(struct tf_model *m, const tf_slice *s, const tf_pclass *c, bool share, tf_entry *e);

/* Sizes of m-tiles' slices, and of intermediates at home. */
void tf_sizes(struct tf_model *m);
void tf_home_sizes(struct tf_model *m);
/* What runs of intermediate z's home scope that share a memory leave there of the ranks asked for, loops above the
 * scope at the digits: a box[TF_MAX_RANK].  h: the retaining scope whose runs decide what is made of it, NULL: none. */
void tf_home_box(struct tf_model *m, int z, const struct tf_retain *h, uint64_t ranks, const int64_t *digits,
                 tf_ival *box);
/* How many such runs: tf_home_box looks at each where borders cut ranges. */
double tf_home_runs(const struct tf_model *m, int z);
enum { TF_MOST_RUNS = 4096 };

/* The same sizes, and instances of node n in use at once, where borders clip boxes.  What only the walk can tell
 * sets ev->irregular. */
void tf_border_sizes(struct tf_model *m);
void tf_border_homes(struct tf_model *m);
/* The longest range of dim d that is left at op o's leaf. */
int64_t tf_border_range(struct tf_model *m, int o, int d);
int64_t tf_border_width(struct tf_model *m, int n);
/* Whether an op may have nothing to do for a whole step: all that is read of its output is padding. */
bool tf_border_empties(struct tf_model *m);
#endif
