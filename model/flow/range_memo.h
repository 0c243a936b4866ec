/* What was found of ops' dims at nodes, within one question about ranges: where ops read several of those before them,
 * the ways from an op to the outputs grow exponentially, and each would be walked anew. */
#ifndef MODEL_FLOW_RANGE_MEMO_H
#define MODEL_FLOW_RANGE_MEMO_H
#include "model/flow/range.h"

typedef struct {
  uint64_t question; /* in which it was found */
  int op_dim, node;
  union {
    tf_ival range;
    uint64_t mask;
    int scope;
  };
} tf_range_found;

typedef struct tf_range_memo {
  uint64_t question;
  int64_t walked; /* answers that were worked out: what tests count */
  size_t n;
  tf_range_found *found; /* [n] */
} tf_range_memo;

/* Makes the plan's memo; NULL where there are so few ways that walking them is faster.  False: out of memory. */
bool tf_range_memo_new(tf_arena *a, tf_plan *p);
/* The same for who asks with tf_eval.exact: each range then asks of all dims of the op whether it has work, so that
 * already short chains of ops have many ways. */
bool tf_range_memo_exact(tf_arena *a, tf_plan *p);

/* A new question: nothing is known. */
static inline void tf_memo_begin(const tf_plan *p) {
  if (p->memo) p->memo->question++;
}

/* The place of an answer, and whether it is there.  Only with a memo. */
tf_range_found *tf_memo_find(const tf_plan *p, int op, int dim, int node, bool *known);
/* Says that the place holds the answer, which the caller has written. */
static inline void tf_memo_store(const tf_plan *p, tf_range_found *f, int op, int dim, int node) {
  f->question = p->memo->question, f->op_dim = op * p->wl->n_dims + dim, f->node = node;
  p->memo->walked++;
}
#endif
