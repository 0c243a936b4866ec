/* Savings by zeros in one evaluation (docs/SEMANTICS.md section 8): the shares of accesses and
 * points that remain, by which counts are multiplied when they become time and energy. */
#ifndef MODEL_COST_ZEROS_H
#define MODEL_COST_ZEROS_H
#include "model/cost/state.h"
#include "model/sparse/chunks.h"

/* Remaining shares of the accesses to an op's operand: reads (of a result, those that do not begin
 * a sum), updates, and elements that are updated at all. */
typedef struct {
  double read, update, first;
} tf_left;

/* Whether op o is in a stream, to which rules do not apply. */
static inline bool tf_zeros_stream(const tf_plan *p, int o) {
  return p->stream_scope[o] >= 0 || p->stream[o].node >= 0;
}

/* Numbers are in pairs: for time, and for energy. */
enum { TF_LEFT_TIME, TF_LEFT_ENERGY, TF_N_LEFT };
typedef struct {
  tf_left left[TF_N_LEFT];
} tf_lefts;
typedef struct {
  uint64_t reads[TF_N_LEFT];
} tf_voiders;
typedef struct {
  double share[TF_N_LEFT];
} tf_shares;

/* A tile that an m-tile fetches and that rules may leave out, by the reads of slice i's tile and
 * the rules of the memory that serves it. */
typedef struct {
  int from;           /* the slice of the m-tile that serves it; -1: none */
  tf_voiders voiders; /* reads of `op` whose zeros leave the tile out */
  int op;             /* the op that reads it; -1: several do, or it is produced below */
  bool same_savings;  /* rules of it and of its server save time wherever they save energy */
  bool known;         /* its share can be known; if not, all of it is counted */
  bool known_now;     /* it is known, in this evaluation */
  uint64_t moves;     /* loops above its node that move it */
  uint64_t stay;      /* in this evaluation: temporal loops at whose steps the tile stays */
  int twin;           /* an earlier slice of the m-tile and op, which shares `len`; -1: none */
  int64_t *len;       /* [dim of the op] in this evaluation: the extent that the m-tile has of it */
  uint64_t *dims;     /* [dim of the op] loops above its node that move the dim's range */
  double *any_nonzero; /* [read] in this evaluation: the probability that the elements read while
                   the tile stays are not all zero */
} tf_tiles;
/* Shares of fetched words that remain. */
typedef struct {
  double fill[TF_N_LEFT], read[TF_N_LEFT];
} tf_fetched;

/* Cached shares of the slices that depend on trip counts, by the trip counts of the spatial loops
 * on which they depend. */
enum { TF_LEFTS_KEPT = 8 };
typedef struct {
  bool known, quick, partial, exact;
  int64_t *trips; /* [spatial loop] */
  tf_lefts *left; /* [slice - n_tile_slices] */
} tf_lefts_kept;

struct tf_zeros {
  const tf_sparse *sparse;
  tf_voiders *voiders; /* [slice - n_tile_slices] the op's reads whose zeros leave the access out */
  tf_lefts *left;      /* [slice - n_tile_slices] */
  tf_lefts *ran;       /* [slice - n_tile_slices] the same of the steps that a mask does not leave
                          out, in this evaluation; NULL: none leaves any out, or no band is its */
  bool *turns;      /* [slice - n_tile_slices] depends on trip counts: units may share the access */
  uint64_t *moving; /* [slice - n_tile_slices] loops that move what it touches */
  tf_shares *work;  /* [op] of its points */
  tf_voiders *point_voiders; /* [op] its reads whose zeros leave the point out */
  tf_tiles
      *tiles; /* [slice] of m-tiles, then of leaves (`from` alone); NULL: no rule is of tiles */
  tf_fetched *fetched; /* [tile slice] */
  tf_shares
      *fetched_share;  /* [slice - n_tile_slices] share of its accesses whose tile was fetched */
  tf_shares *own_work; /* [op] `work` without the effect of omitted tiles */
  double *own, *up;    /* [slice] those of the views without the effect of omitted tiles */
  int64_t *still;      /* [loop] settings of 0 */
  bool tiles_upper;    /* some of these shares are bounds, in this evaluation */
  tf_chunks_memo *boxes;
  int n_spatial, *spatial; /* loops */
  int64_t *trips;          /* [spatial loop] */
  tf_lefts_kept kept[TF_LEFTS_KEPT];
  bool any_turns, upper; /* upper: some shares are bounds whatever the trip counts */
  tf_kept res;
};

/* Creates m->zeros; false if memory ran out. */
bool tf_zeros_new(struct tf_model *m);
/* Adds its rules of tiles (tiles/tiles.c), if it has zeros. */
bool tf_tiles_new(struct tf_model *m);
/* Fills the shares of tiles for the current trip counts, and scales the views' weights by them;
 * before anything is counted. */
void tf_tiles_begin(struct tf_model *m);
/* The remaining share of the words that slice i, an op's operand, moves. */
const tf_lefts *tf_zeros_left(const struct tf_model *m, int i);
/* Fills the remaining shares for the current trip counts, and subtracts the savings from the flows;
 * needs moves and flows. */
void tf_zeros_take(struct tf_model *m);
/* Fills the counts of the result; needs the counts of all. */
void tf_zeros_count(struct tf_model *m);

/* The remaining reads of a result, of `read` reads and `update` updates: no more than without
 * zeros, also where the shares are bounds. */
static inline double tf_left_reads(const tf_left *l, double read, double update) {
  const double left = update * l->update - (update - read) * l->first;
  return left > read ? read : left > 0 ? left : 0;
}
/* The share of op o's points that takes time (or energy). */
static inline double tf_zeros_work(const struct tf_model *m, int o, int what) {
  return m->zeros ? m->zeros->work[o].share[what] : 1;
}
#endif
