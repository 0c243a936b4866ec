/* What is kept of what was found: the best shapes, and the Pareto front. */
#ifndef SEARCH_ARCHIVE_H
#define SEARCH_ARCHIVE_H
#include "tileflow/search.h"

enum { TF_PARETO_MAX = 256 };

/* Takes a copy into the list of at most `room`, ascending value, one for each shape (shapes[] beside
 * it).  False if memory ran out. */
bool tf_keep_best(tf_found *list, uint64_t *shapes, int *n, int room, const tf_found *f,
                  uint64_t shape);
/* Adds a copy to the front unless another is at least as good in cycles, energy, traffic and words
 * held; takes out what it beats.  A full front lets none in.  False if memory ran out. */
bool tf_keep_pareto(tf_found *front, int *n, const tf_found *f);
#endif
