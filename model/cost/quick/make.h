/* Inside even.h: what is at hand while the values that do not depend on trip counts are gathered. */
#ifndef MODEL_COST_QUICK_MAKE_H
#define MODEL_COST_QUICK_MAKE_H
#include "model/cost/quick/even.h"

enum { TF_EVEN_READS = 64 }; /* reads of one tensor by the ops below one node */

typedef struct {
  tf_arena *a;
  const tf_plan *p;
  tf_even *e;
  int cap_products, cap_ranges, cap_reads, cap_terms, cap_covers, cap_equals, cap_pairs, cap_fixed;
  int *at;    /* [op * n_dims * n_nodes ...] range of an op's dim at a node, + 1; 0: not made */
  int *whole; /* [dim] range of its extent, + 1 */
  int *chain; /* [op * n_loops + loop] product below that loop on the op's path */
  bool ok, oom;
} tf_even_maker;

/* Room for one more of `size` bytes behind list[n]. */
void *tf_even_grow(tf_even_maker *k, void *list, int n, int *cap, size_t size);

/* Appends a value to even->name[]; the index of the new element, 0 when memory has run out. */
#define TF_EVEN_PUSH(k, name, ...)                                                                                     \
  (((k)->e->name = tf_even_grow((k), (k)->e->name, (k)->e->n_##name, &(k)->cap_##name, sizeof *(k)->e->name))          \
       ? ((k)->e->name[(k)->e->n_##name] = __VA_ARGS__, (k)->e->n_##name++)                                            \
       : 0)

/* Chains, steps and what the chains must cover. */
void tf_even_chains(tf_even_maker *k);
/* The range of dim d of op o on entry to node n (index into even->ranges). */
int tf_even_range_at(tf_even_maker *k, int o, int d, int n);
/* The same for rank `rank` of a slice: around its touches. */
int tf_even_touched(tf_even_maker *k, const tf_slice *s, int rank);
/* By how many steps the loop at path position pos moves the lower end of the range. */
int64_t tf_even_shift_of(const tf_even_range *r, int pos);
#endif
