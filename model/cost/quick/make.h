/* Internal to the quick count: the state while tables that do not depend on trip counts are
 * built. */
#ifndef MODEL_COST_QUICK_MAKE_H
#define MODEL_COST_QUICK_MAKE_H
#include "model/cost/quick/even.h"

enum { TF_EVEN_READS = 64 }; /* most reads of one tensor by the ops below one node */

typedef struct {
  tf_arena *a;
  const tf_plan *p;
  tf_even *e;
  int cap_products, cap_ranges, cap_reads, cap_terms, cap_covers, cap_equals, cap_pairs, cap_fixed,
      cap_chains, cap_others, cap_singles;
  int *range_of; /* [op * n_dims * n_nodes ...] 1 + the range of an op's dim at a node; 0: not made
                    yet */
  int *whole;    /* [dim] 1 + the range of its whole extent */
  int *chain;    /* [op * n_loops + loop] product of the loops below that loop on the op's chain */
  bool ok, oom;
} tf_even_maker;

/* Makes room for one more element of `size` bytes after list[n]. */
void *tf_even_grow(tf_even_maker *k, void *list, int n, int *cap, size_t size);

/* Appends a value to even->name[]; the index of the new element, 0 when memory has run out. */
#define TF_EVEN_PUSH(k, name, ...)                                                                 \
  (((k)->e->name =                                                                                 \
        tf_even_grow((k), (k)->e->name, (k)->e->n_##name, &(k)->cap_##name, sizeof *(k)->e->name)) \
       ? ((k)->e->name[(k)->e->n_##name] = __VA_ARGS__, (k)->e->n_##name++)                        \
       : 0)

/* Adds chains and steps, and the conditions that chains cover their ranges. */
void tf_even_chains(tf_even_maker *k);
/* The range of dim d of op o on entry to node n (index into even->ranges). */
int tf_even_range_at(tf_even_maker *k, int o, int d, int n);
/* The same for rank `rank` of a slice: the hull of what it touches. */
int tf_even_touched(tf_even_maker *k, const tf_slice *s, int rank);
/* By how many of its steps the loop at path position pos moves the lower end of the range. */
int64_t tf_even_shift_of(const tf_even_range *r, int pos);
#endif
