/* The quick count, and all results derived from it, compiled once per tree to a program for many
 * rows of trip counts (tape.h): the same sums in the same order as in count.c, cells.c, ports.c,
 * latency.c, energy.c and resource.c, hence bit-identical. */
#ifndef MODEL_COST_QUICK_LANES_H
#define MODEL_COST_QUICK_LANES_H
#include "model/cost/quick/even.h"
#include "model/cost/quick/tape.h"
#include "model/cost/state.h"

/* The results of the program: whether the quick count applies to the row (if not, the others are
 * invalid), whether it fits (of a tree with Para or Pipe, the memories only), the figures of a
 * tf_brief, and the sum of the nodes' cycles of a tf_quick_row. */
enum {
  TF_LANE_COUNTS,
  TF_LANE_FITS,
  TF_LANE_CYCLES,
  TF_LANE_ENERGY,
  TF_LANE_TRAFFIC,
  TF_LANE_HELD,
  TF_LANE_NODES,
  TF_LANE_OUT
};

/* ---- inside ---------------------------------------------------------------------------------- */

/* Numbers of values: the fields of tf_move, tf_ports and tf_overlapping for one row. */
typedef struct {
  int fill, drain, read, update;
} tf_lane_move;
typedef struct {
  int read, write;
} tf_lane_ports;
typedef struct {
  int first, last; /* nodes */
  int room;
} tf_lane_overlapping;

/* The range that the first instance touches in the whole run, and how far a step of each spatial
 * loop moves it. */
typedef struct {
  int lo, len, *shift; /* [n_loops] */
} tf_lane_met;

typedef struct tf_lane_sum tf_lane_sum;
typedef struct tf_lane_kinds tf_lane_kinds;
enum { TF_LANE_SUMS = 1024, TF_LANE_KINDS = 1024 };

/* A program being written; lists as in struct tf_model. */
typedef struct {
  const struct tf_model *m;
  const tf_plan *p;
  tf_scribe *s;
  int *value, *lo, *len, *outer, *steps, *width, *class_steps, *box, *rank_len, *home_words,
      *in_use, *need, *cycles, *points;
  tf_lane_move *moves, *flows; /* flows: reals */
  tf_lane_ports *cells, *below, *concurrent, *hidden;
  tf_lane_overlapping *overlaps;
  tf_lane_met *met;  /* [(op * n_dims + dim) * n_nodes + node] of ranges; by NULL: not found yet */
  tf_lane_sum *sums; /* [TF_LANE_SUMS] (lanes_uneven.c) */
  tf_lane_kinds *kinds;    /* [TF_LANE_KINDS] */
  tf_arena *arena;         /* released after compilation */
  int counts, fits, zero;  /* zero: of the reals */
  bool kept;               /* count the bits that formats keep */
  const tf_mem_part *part; /* count only this part of a memory; NULL: all of it */
  bool failed;             /* memory has run out */
} tf_lanes;

/* Input l is the trip count of loop l.  NULL for trees that must be counted row by row (padded
 * tensors, streamed reductions), or when memory runs out.  uneven: writes the counts of rows with
 * remainders (tf_lanes_uneven, for a model with m->uneven to which it applies); NULL: only rows
 * that divide evenly count, by a much shorter program. */
tf_tape *tf_lanes_new(const struct tf_model *m, void (*uneven)(tf_lanes *w));

static inline int tf_l(tf_lanes *w, tf_tape_op op, int a, int b) {
  return tf_tape_make(w->s, op, a, b, 0);
}
static inline int tf_l_int(tf_lanes *w, int64_t x) { return tf_tape_int(w->s, x); }
static inline int tf_l_real(tf_lanes *w, double x) { return tf_tape_real(w->s, x); }
static inline int tf_l_to(tf_lanes *w, int a) { return tf_tape_make(w->s, TF_T_TO, a, 0, 0); }
static inline int tf_l_sel(tf_lanes *w, int c, int a, int b) {
  return tf_tape_make(w->s, TF_T_SEL, a, b, c);
}
/* From here on the row counts only if the condition holds. */
static inline void tf_l_must(tf_lanes *w, int condition) {
  w->counts = tf_l(w, TF_T_AND, w->counts, condition);
}
/* An upper limit for all counts: sums of words in bits stay far below 2^63, and quotients are
 * exact. */
#define TF_LANE_MOST 0x1p48
/* Requires a real to be below it. */
static inline void tf_l_small(tf_lanes *w, int a) {
  tf_l_must(w, tf_l(w, TF_T_BELOW, a, tf_l_real(w, TF_LANE_MOST)));
}

/* A list of loops, of which those with one step are ignored. */
typedef struct {
  int n, loop[TF_MAX_PATH];
} tf_lane_loops;
/* Whether loop i of one list and loop j of the other are equal. */
typedef int tf_lane_alike(tf_lanes *w, const void *of, int i, int j);
/* Whether the loops of both lists are pairwise equal: computed for each tail of one list and each
 * of the other, from the ends (lanes.c). */
int tf_lanes_paired(tf_lanes *w, const tf_lane_loops *a, const tf_lane_loops *b,
                    tf_lane_alike *same, const void *of);

/* Words of input or output z, which lives in an inner memory, in each instance of its home: value
 * for value as in home.c (lanes.c). */
int tf_lanes_at_home(tf_lanes *w, int z);

/* Range i if loops divide, given the values of the ranges before it; a home; the words of a slice
 * in class c of its entries, added to the cells of its Tile; whether the loops of both slices below
 * position n are equal (lanes.c). */
void tf_lanes_range(tf_lanes *w, int i);
void tf_lanes_home(tf_lanes *w, int z);
/* tf_instance_part: the part of a length that one spatial loop gives to an instance. */
int tf_lanes_cut(tf_lanes *w, int len, int loop);
void tf_lanes_put(tf_lanes *w, int i, int c, const tf_lane_move *v);
int tf_lanes_same_layout(tf_lanes *w, const tf_even_slice *v, const tf_even_slice *q, int n);
/* The counts of rows with remainders, and whether the tree is of a kind that has them
 * (lanes_uneven.c). */
bool tf_lanes_uneven_apply(const struct tf_model *m);
void tf_lanes_uneven(tf_lanes *w);

/* Write the counts (lanes.c), the capacity checks, cycles and energy (lanes_cost.c); each needs the
 * previous ones. */
void tf_lanes_fits(tf_lanes *w);
int tf_lanes_cycles(tf_lanes *w);
int tf_lanes_energy(tf_lanes *w, int cycles);
int tf_lanes_traffic(tf_lanes *w);
int tf_lanes_nodes(tf_lanes *w, int cycles);
int tf_lanes_held(tf_lanes *w);
#endif
