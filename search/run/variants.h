/* The best mappings of one task, not only the very best: what a caller may want to try on a machine. */
#ifndef SEARCH_RUN_VARIANTS_H
#define SEARCH_RUN_VARIANTS_H
#include "search/run/task.h"

/* Whether a completion of this value is among the opts->variants best of the task. */
bool tf_variants_want(const tf_task *t, double value);
/* Takes the completion in where it is. */
void tf_variants_offer(tf_task *t, double value, const tf_figures *f, const int64_t *trips);
/* Writes the texts of those that the parser lets pass; the others have none. */
void tf_variants_finish(tf_task *t, const tf_tree *open);
void tf_variants_clear(tf_task *t);
#endif
