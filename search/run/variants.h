/* The several best mappings of one task: for callers that time candidates on a machine. */
#ifndef SEARCH_RUN_VARIANTS_H
#define SEARCH_RUN_VARIANTS_H
#include "search/run/task.h"

/* Whether a completion of this value would be among the opts->variants best of the task. */
bool tf_variants_want(const tf_task *t, double value);
/* Inserts the completion if it is. */
void tf_variants_offer(tf_task *t, double value, const tf_figures *f, const int64_t *trips);
void tf_variants_clear(tf_task *t);
#endif
