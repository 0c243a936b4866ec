/* The general count: sums over classes of settings (sums.h), for trip counts that do not divide
 * evenly. */
#ifndef MODEL_COST_GENERAL_GENERAL_H
#define MODEL_COST_GENERAL_GENERAL_H
#include "model/cost/general/sums.h"
#include "model/cost/state.h"

/* Creates what only the general count and the walk need, once.  False: out of memory. */
bool tf_general_ready(struct tf_model *m);
/* Fill steps and widths; then moves, cells, op points; rescaled; except for what m->partly_counted
 * marks as counted.  False on overflow. */
bool tf_count_nodes(struct tf_model *m);
bool tf_count_slices(struct tf_model *m);
bool tf_count_rescaled(struct tf_model *m);
/* Whether several instances may share what a slice moves. */
bool tf_count_shares(const tf_eval *ev, const tf_slice *s);
/* What enters slice s in class c of its entries.  False on overflow. */
bool tf_count_class(struct tf_model *m, const tf_slice *s, const tf_reuse_case *c, bool share,
                    tf_entry *e);

/* Fills the sizes of the slices of m-tiles, and of intermediates at home. */
void tf_sizes(struct tf_model *m);
void tf_home_sizes(struct tf_model *m);
/* The box that the runs of intermediate z's home scope leave in one memory, in the given ranks,
 * with the loops above the scope at `digits`: box[TF_MAX_RANK].  h: the retaining scope whose runs
 * determine what is computed; NULL: none. */
void tf_home_box(struct tf_model *m, int z, const struct tf_retain *h, uint64_t ranks,
                 const int64_t *digits, tf_ival *box);
/* The number of such runs; tf_home_box visits each of them where borders clip ranges. */
double tf_home_runs(const struct tf_model *m, int z);
enum { TF_MOST_RUNS = 4096 };

/* The same sizes, and the instances of nodes in use at once, if borders clip boxes.  Sets
 * ev->irregular where only the walk can count. */
void tf_border_sizes(struct tf_model *m);
void tf_border_homes(struct tf_model *m);
/* The longest range of dim d at op o's leaf. */
int64_t tf_border_range(struct tf_model *m, int o, int d);
int64_t tf_border_width(struct tf_model *m, int n);
#endif
