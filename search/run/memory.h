/* Learning and forgetting; see task.h for what is known. */
#ifndef SEARCH_RUN_MEMORY_H
#define SEARCH_RUN_MEMORY_H
#include "search/run/task.h"

/* Takes in what a task found.  False if memory ran out. */
bool tf_memory_learn(tf_memory_of_search *m, const tf_task *t);
void tf_memory_clear(tf_memory_of_search *m);
#endif
