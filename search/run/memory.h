/* Adding to and clearing a search's memory; task.h says what it holds. */
#ifndef SEARCH_RUN_MEMORY_H
#define SEARCH_RUN_MEMORY_H
#include "search/run/task.h"

/* Adds what a task found.  False if memory ran out. */
bool tf_memory_learn(tf_memory_of_search *m, const tf_task *t);
/* Remembers a completion of the task's shape.  *is_new: it had not been remembered before.  False
 * if memory ran out. */
bool tf_memory_try(tf_memory_of_search *m, const tf_task *t, const tf_variant *x, bool *is_new);
void tf_memory_clear(tf_memory_of_search *m);
#endif
