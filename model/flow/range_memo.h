/* A memo of the ranges of ops' dims at nodes, within one question.  Where ops read several earlier
 * ones, the number of paths from an op to the outputs grows exponentially, and without the memo
 * each would be followed. */
#ifndef MODEL_FLOW_RANGE_MEMO_H
#define MODEL_FLOW_RANGE_MEMO_H
#include "model/flow/range.h"

/* How far a step of a loop moves a range, in such steps; mixed: reads of which it is the hull are
 * moved unlike, or too far. */
typedef struct {
  int64_t by;
  bool mixed;
} tf_range_shift;

typedef struct {
  uint64_t question; /* the question in which it was found */
  int op_dim, node;
  union {
    tf_ival range;
    uint64_t mask;
    tf_range_shift shift;
    int scope;
  };
} tf_range_found;

typedef struct tf_range_memo {
  uint64_t question, left; /* left: the question at which answers were last held */
  uint64_t *since; /* [deep] while held: the question from which on answers at nodes of that depth
                      are valid */
  int deep;
  bool held;
  int64_t walked; /* answers computed, for tests */
  size_t n;
  tf_range_found *found; /* [n] */
} tf_range_memo;

/* Creates the plan's memo; none (NULL in the plan) where there are so few paths that following them
 * is faster.  False: out of memory. */
bool tf_range_memo_new(tf_arena *a, tf_plan *p);
/* The same for who asks with tf_eval.exact: each range then asks of all dims of the op whether it
 * has work, so that already short chains of ops have many ways. */
bool tf_range_memo_exact(tf_arena *a, tf_plan *p);

/* Begins a new question: all answers are invalid, unless they are held. */
static inline void tf_memo_begin(const tf_plan *p) {
  if (p->memo && !p->memo->held) p->memo->question++;
}

/* For who walks the loops and asks for ranges alone: from now on answers are valid until a loop
 * that they depend on steps, which tf_memo_step must be told: a loop of that node. */
void tf_memo_hold(const tf_plan *p);
void tf_memo_step(const tf_plan *p, int node);
/* Holds again what was held before tf_memo_release, unless something has been asked between. */
void tf_memo_resume(const tf_plan *p);
/* From now on each question begins anew. */
void tf_memo_release(const tf_plan *p);

/* Ranges that hold from one question to the next, for as long as the loops on which they depend
 * stand where they did: sums step the loops further in, and most ranges stay.  For questions about
 * what loops leave now, without retention and without a memo; a new one (tf_keep_forget) for each
 * evaluation, as they depend on its trip counts. */
enum { TF_KEEP_LOOPS = 6 };
typedef struct {
  uint64_t since; /* the evaluation in which it was found; 0: never */
  tf_ival range;
  int64_t digit[TF_KEEP_LOOPS];
  int loop[TF_KEEP_LOOPS], n; /* on which it depends; n < 0: on too many */
  bool noclip, whole;         /* the options then */
} tf_range_kept;

typedef struct tf_range_keep {
  uint64_t now; /* number of the evaluation */
  int n, room;
  int *at; /* [(node * n_ops + op) * n_dims + dim] number of the entry + 1; 0: none */
  tf_range_kept *kept;
} tf_range_keep;

/* NULL: out of memory. */
tf_range_keep *tf_keep_new(tf_arena *a, const tf_plan *p);
static inline void tf_keep_forget(const tf_eval *ev) {
  if (ev->keep) ev->keep->now++;
}

/* The entry for an answer; *known: whether it is valid.  Only with a memo. */
tf_range_found *tf_memo_find(const tf_plan *p, int op, int dim, int node, bool *known);
/* Marks the entry as valid; the caller has written the answer. */
static inline void tf_memo_store(const tf_plan *p, tf_range_found *f, int op, int dim, int node) {
  f->question = p->memo->question, f->op_dim = op * p->wl->n_dims + dim, f->node = node;
  p->memo->walked++;
}
#endif
