/* Bounds inference: from where the range of an op's dim comes on entry to a node, and intervals.
 *
 * The rules stand here, once.  Three passes apply them, each to values of another kind, and none can do another's work:
 *   model/tree/range.c        intervals of all ops together, on one walk down the tree at one setting of the loops: the
 *                             checks ask for every range at every node, before there is a plan
 *   model/flow/range.c        the interval of one dim at one node, at any setting; and the loops on which it depends
 *   model/cost/quick/range.c  products of trip counts, made once a tree, so that an evaluation only multiplies
 * Lowering (codegen/lower) applies them to expressions of the IR. */
#ifndef MODEL_TREE_INFER_H
#define MODEL_TREE_INFER_H
#include "model/spec/dims.h"
#include "model/tree/facts.h"

/* lo .. lo + len - 1; len <= 0: empty. */
typedef struct {
  int64_t lo, len;
} tf_ival;

/* The range around both; one that is empty does not count. */
static inline tf_ival tf_around(tf_ival a, tf_ival b) {
  if (a.len <= 0) return b;
  if (b.len <= 0) return a;
  int64_t lo = a.lo < b.lo ? a.lo : b.lo;
  int64_t ha = a.lo + a.len, hb = b.lo + b.len;
  return (tf_ival){lo, (ha > hb ? ha : hb) - lo};
}

static inline tf_ival tf_common_part(tf_ival a, tf_ival b) {
  int64_t lo = a.lo > b.lo ? a.lo : b.lo;
  int64_t end = a.lo + a.len < b.lo + b.len ? a.lo + a.len : b.lo + b.len;
  return end > lo ? (tf_ival){lo, end - lo} : (tf_ival){0, 0};
}

/* What of rank r of the tensor there is of v: reads may pass its borders. */
static inline tf_ival tf_clip(const tf_tensor *z, int r, tf_ival v) {
  int64_t lo = v.lo > z->lo[r] ? v.lo : z->lo[r];
  int64_t end = v.lo + v.len, top = z->lo[r] + z->extent[r];
  end = end < top ? end : top;
  return (tf_ival){lo, end > lo ? end - lo : 0};
}

/* An index so far, with one more term, coef * d, where d is not empty.  Values stay within what the workload's reader
 * checked: the tensor and its pad. */
static inline tf_ival tf_index_plus(tf_ival v, int64_t coef, tf_ival d) {
  int64_t reach = coef * (d.len - 1);
  return (tf_ival){v.lo + coef * d.lo + (reach < 0 ? reach : 0), v.len + (reach < 0 ? -reach : reach)};
}

/* From where a range comes. */
typedef enum {
  TF_BY_LOOPS,   /* the op leads: what entered the node from which it leads, split by the loops since */
  TF_BY_READERS, /* a dim of its output: around what the ops below the node read of it */
  TF_BY_LEADER,  /* reduced and streamed by a scope at or below the node: the range of facts->stream_leader[op] */
  TF_BY_EXTENT   /* reduced otherwise: whole */
} tf_range_rule;

static inline tf_range_rule tf_rule_of(const tf_facts *f, int o, int d, int n) {
  if (tf_leads(f, o, n)) return TF_BY_LOOPS;
  if (tf_out_rank(&f->wl->ops[o], d) >= 0) return TF_BY_READERS;
  bool streams = f->stream_scope[o] >= 0 && tf_is_above(f, n, f->stream_scope[o]);
  return streams && f->stream_leader[o] >= 0 && f->stream_leader[o] != o ? TF_BY_LEADER : TF_BY_EXTENT;
}

/* One read of what an op makes, by an op below a node. */
typedef struct {
  int consumer; /* number among the tensor's consumers */
  int op, ref;  /* op's read `ref` */
} tf_read_below;

/* The next read of what op o makes below node n, from {0, -1, -1} on; false: there is none. */
static inline bool tf_next_read(const tf_facts *f, int o, int n, tf_read_below *at) {
  const int out = f->wl->ops[o].out;
  const tf_tensor *z = &f->wl->tensors[out];
  for (; at->consumer < z->n_consumers; at->consumer++, at->ref = -1) {
    at->op = z->consumers[at->consumer];
    if (!tf_op_below(f, at->op, n)) continue;
    while (++at->ref < f->wl->ops[at->op].n_reads)
      if (f->wl->ops[at->op].reads[at->ref].tensor == out) return true;
  }
  return false;
}
/* `for` over them. */
#define TF_EACH_READ(f, o, n, at) for (tf_read_below at = {0, -1, -1}; tf_next_read((f), (o), (n), &at);)
#endif
