/* Bounds inference: what determines the range of an op's dim on entry to a node; and intervals.
 *
 * The rules are given here, once.  Three passes apply them to different kinds of values, and none
 * can replace another:
 *
 * - model/tree/range.c: intervals of all ops together, on one walk down the tree at one setting of
 *   the loops: the checks need every range at every node, before there is a plan
 * - model/flow/range.c: the interval of one dim at one node, at any setting; and the loops on which
 *   it depends
 * - model/cost/quick/range.c: products of trip counts, built once per tree, so that an evaluation
 *   only multiplies
 *
 * unit.test_range checks that the three agree on random mappings.  search/space/probe.c writes the
 * first down once a tree, at the start of all loops, and unit.test_space compares it with that.
 * Lowering (codegen/lower) applies the rules to expressions of the IR, whose kernels are run
 * (kernels.*). */
#ifndef MODEL_TREE_INFER_H
#define MODEL_TREE_INFER_H
#include "model/input/dims.h"
#include "model/tree/facts.h"

/* lo .. lo + len - 1; len <= 0: empty. */
typedef struct {
  int64_t lo, len;
} tf_ival;

/* Elements of a box. */
static inline int64_t tf_ival_volume(const tf_ival *box, int rank) {
  int64_t n = 1;
  for (int r = 0; r < rank; r++)
    n *= box[r].len > 0 ? box[r].len : 0;
  return n;
}

/* The smallest interval that holds both; an empty one is ignored. */
static inline tf_ival tf_hull(tf_ival a, tf_ival b) {
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

/* v clipped to rank r of the tensor: reads may reach beyond its borders. */
static inline tf_ival tf_clip(const tf_tensor *z, int r, tf_ival v) {
  int64_t lo = v.lo > z->lo[r] ? v.lo : z->lo[r];
  int64_t end = v.lo + v.len, top = z->lo[r] + z->extent[r];
  end = end < top ? end : top;
  return (tf_ival){lo, end > lo ? end - lo : 0};
}

/* What is left of v, which is not empty, between from and to - 1; the element nearest to it if
 * nothing is. */
static inline tf_ival tf_clamped(tf_ival v, int64_t from, int64_t to) {
  int64_t lo = v.lo < from ? from : v.lo < to ? v.lo : to - 1;
  int64_t end = v.lo + v.len < to ? v.lo + v.len : to;
  return (tf_ival){lo, end > lo ? end - lo : 1};
}

/* What a read of v, which is not empty, asks of the op that makes the tensor. */
static inline tf_ival tf_asked(const tf_tensor *z, int r, tf_ival v) {
  return tf_clamped(v, z->lo[r], z->lo[r] + z->extent[r]);
}

/* An index so far, plus one more term, coef * d, where d is not empty.  Values stay within what the
 * workload's reader has checked: the tensor and its padding. */
static inline tf_ival tf_index_plus(tf_ival v, int64_t coef, tf_ival d) {
  int64_t reach = coef * (d.len - 1);
  return (tf_ival){v.lo + coef * d.lo + (reach < 0 ? reach : 0),
                   v.len + (reach < 0 ? -reach : reach)};
}

/* What determines the range of a dim. */
typedef struct {
  enum {
    TF_BY_LOOPS,   /* the op leads: what entered the node from which it leads, split by the loops
                      since */
    TF_BY_READERS, /* rank `source` of its output: the hull of what ops below the node read */
    TF_BY_LEADER,  /* reduced, and streamed by a scope at or below the node: as op `source`, which
                      has the dim */
    TF_BY_EXTENT   /* reduced otherwise: the whole extent */
  } rule;
  int source;
} tf_range_from;

/* For dim d of op o on entry to node n. */
static inline tf_range_from tf_range_source(const tf_facts *f, int o, int d, int n) {
  if (tf_leads(f, o, n)) return (tf_range_from){TF_BY_LOOPS, -1};
  int rank = tf_out_rank(&f->wl->ops[o], d), leader = f->stream_leader[o];
  if (rank >= 0) return (tf_range_from){TF_BY_READERS, rank};
  bool follows = leader >= 0 && leader != o && tf_is_above(f, n, f->stream_scope[o]) &&
                 tf_dim_slot(f, leader, d) >= 0;
  return follows ? (tf_range_from){TF_BY_LEADER, leader} : (tf_range_from){TF_BY_EXTENT, -1};
}

/* One read of an op's output by an op below a node: an iterator. */
typedef struct {
  int op, ref; /* op's read `ref` */
  int tensor;  /* the tensor that is read; and the position among its consumers: */
  const int *consumer, *end;
} tf_read_below;

/* Advances to the next one below node n; false: there is none. */
static inline bool tf_next_read(const tf_facts *f, int n, tf_read_below *at) {
  for (;; at->ref = -1) {
    if (at->ref < 0) {
      if (at->consumer == at->end) return false;
      at->op = *at->consumer++;
      if (!tf_op_below(f, at->op, n)) continue;
    }
    const tf_op *op = &f->wl->ops[at->op];
    while (++at->ref < op->n_reads)
      if (op->reads[at->ref].tensor == at->tensor) return true;
  }
}

/* An iterator before the first read of op o's output. */
static inline tf_read_below tf_reads_of(const tf_facts *f, int o) {
  const tf_tensor *z = &f->wl->tensors[f->wl->ops[o].out];
  return (tf_read_below){-1, -1, f->wl->ops[o].out, z->consumers, z->consumers + z->n_consumers};
}
/* Loops over each read below node n of op o's output. */
#define TF_EACH_READ(f, o, n, at)                                                                  \
  for (tf_read_below at = tf_reads_of((f), (o)); tf_next_read((f), (n), &at);)
#endif
