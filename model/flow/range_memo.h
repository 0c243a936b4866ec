/* A cache of the ranges of ops' dims at nodes, within one query.  If ops read several earlier ones,
 * the number of paths from an op to the outputs grows exponentially, and without the cache each
 * path would be followed. */
#ifndef MODEL_FLOW_RANGE_MEMO_H
#define MODEL_FLOW_RANGE_MEMO_H
#include "model/flow/range.h"

/* How far a step of a loop moves a range, in such steps; mixed: reads of which it is the hull move
 * differently, or too far. */
typedef struct {
  int64_t distance;
  bool mixed;
} tf_range_shift;

typedef struct {
  uint64_t query; /* the query in which it was found */
  int op_dim, node;
  union {
    tf_ival range;
    uint64_t mask;
    tf_range_shift shift;
    int scope;
    bool asked;
  };
} tf_range_found;

typedef struct tf_range_memo {
  uint64_t query, last_held; /* left: the query at which results were last held */
  uint64_t *
      since; /* [deep] while held: the query since which results at nodes of that depth are valid */
  int deep;
  bool held;
  int64_t walked; /* results computed, for tests */
  size_t n;
  tf_range_found *found; /* [n] */
} tf_range_memo;

/* Creates the plan's cache; none (NULL in the plan) if there are so few paths that following them
 * is faster.  False: out of memory. */
bool tf_range_memo_new(tf_arena *a, tf_plan *p);
/* The same for callers with tf_eval.exact: each range then needs all dims of the op to know whether
 * it has work, so that even short chains of ops have many paths. */
bool tf_range_memo_exact(tf_arena *a, tf_plan *p);

/* Begins a new query: all results are invalid, unless they are held. */
static inline void tf_memo_begin(const tf_plan *p) {
  if (p->memo && !p->memo->held) p->memo->query++;
}

/* For callers that walk the loops and query ranges only: from now on results are valid until a loop
 * on which they depend steps.  tf_memo_step must be called then with the loop's node. */
void tf_memo_hold(const tf_plan *p);
void tf_memo_step(const tf_plan *p, int node);
/* Holds again what was held before tf_memo_release, unless there was a query between. */
void tf_memo_resume(const tf_plan *p);
/* From now on each query starts without cached results. */
void tf_memo_release(const tf_plan *p);

/* Ranges that stay valid from one query to the next, as long as the loops on which they depend keep
 * their settings: sums step the inner loops, and most ranges stay.  Only for queries of current
 * settings, without retention and without a memo; to be reset (tf_keep_forget) for each evaluation,
 * as ranges depend on its trip counts. */
enum { TF_KEEP_LOOPS = 6 };
typedef struct {
  uint64_t since; /* the evaluation in which it was found; 0: never */
  tf_ival range;
  int64_t digit[TF_KEEP_LOOPS];
  int loop[TF_KEEP_LOOPS], n; /* loops on which it depends; n < 0: too many */
  bool noclip, whole;         /* the options then */
} tf_range_kept;

typedef struct tf_range_keep {
  uint64_t evaluation; /* number of the evaluation */
  int n, room;
  int *entry_of; /* [(node * n_ops + op) * n_dims + dim] number of the entry + 1; 0: none */
  tf_range_kept *kept;
} tf_range_keep;

/* NULL: out of memory. */
tf_range_keep *tf_keep_new(tf_arena *a, const tf_plan *p);
static inline void tf_keep_forget(const tf_eval *ev) {
  if (ev->keep) ev->keep->evaluation++;
}

/* The entry for a result; *known: whether it is valid.  Only with a memo.  dim: n_dims for what is
 * of the op alone. */
tf_range_found *tf_memo_find(const tf_plan *p, int op, int dim, int node, bool *known);
/* Marks the entry as valid; the caller has written the result. */
static inline void tf_memo_store(const tf_plan *p, tf_range_found *f, int op, int dim, int node) {
  f->query = p->memo->query, f->op_dim = op * (p->wl->n_dims + 1) + dim, f->node = node;
  p->memo->walked++;
}
#endif
