/* The archive of a search: the best mapping of each shape, and the Pareto front. */
#ifndef SEARCH_COMMON_ARCHIVE_H
#define SEARCH_COMMON_ARCHIVE_H
#include "tileflow/search.h"

enum { TF_PARETO_MAX = 256 };

/* Compares two mappings: negative if a is better.  By the objective; ties by energy, then by words
 * through the outermost memory, cycles, words held. */
int tf_figures_order(double a_value, const tf_figures *a, double b_value, const tf_figures *b);
/* The same; remaining ties are broken by the text, so that 0 means the same mapping. */
int tf_found_order(const tf_found *a, const tf_found *b);

void tf_found_clear(tf_found *f);

/* Inserts f into the list of at most `room` mappings, best first, one per shape (shapes[] beside
 * it).  The text is copied; the tree is taken over if f enters the list, and stays f's otherwise.
 * False if memory ran out. */
bool tf_keep_best(tf_found *list, uint64_t *shapes, int *n, int room, tf_found *f, uint64_t shape);
/* Whether a mapping of the front is as good in each of its figures. */
bool tf_front_has(const tf_found *front, int n, const tf_figures *f);
/* Inserts a copy into the Pareto front of cycles, energy, traffic and words held, unless it is
 * dominated; removes those that it dominates.  A full front admits none.  False if memory ran out.
 */
bool tf_keep_pareto(tf_found *front, int *n, const tf_found *f);
#endif
