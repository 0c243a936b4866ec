/* What is kept of what was found: the best shapes, and the Pareto front. */
#ifndef SEARCH_COMMON_ARCHIVE_H
#define SEARCH_COMMON_ARCHIVE_H
#include "tileflow/search.h"

enum { TF_PARETO_MAX = 256 };

/* Which of two mappings is the better one: less than 0 if a is.  By the objective; of equal ones by energy, then by
 * words through the outermost memory, cycles, words held. */
int tf_figures_order(double a_value, const tf_figures *a, double b_value, const tf_figures *b);
/* The same, and at last by the text: 0 only for the same mapping. */
int tf_found_order(const tf_found *a, const tf_found *b);

void tf_found_clear(tf_found *f);

/* Takes a copy of the text, and the tree itself, into the list of at most `room`, best first, one for each shape
 * (shapes[] beside it); f keeps its tree where it does not stay in the list.  False if memory ran out. */
bool tf_keep_best(tf_found *list, uint64_t *shapes, int *n, int room, tf_found *f, uint64_t shape);
/* Adds a copy without the tree to the front unless another is at least as good in cycles, energy, traffic and words
 * held; takes out what it beats.  A full front lets none in.  False if memory ran out. */
bool tf_keep_pareto(tf_found *front, int *n, const tf_found *f);
#endif
