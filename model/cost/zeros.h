/* What zeros save in one evaluation (docs/SEMANTICS.md section 8): shares of accesses and points
 * that are left, as numbers by which counts are multiplied where they become time and energy. */
#ifndef MODEL_COST_ZEROS_H
#define MODEL_COST_ZEROS_H
#include "model/cost/state.h"
#include "model/sparse/chunks.h"

/* Of the accesses of an op's operand: reads (of a result, of those that begin nothing), updates,
 * and elements that are updated at all. */
typedef struct {
  double read, update, first;
} tf_left;

/* Whether op o is in a stream, which runs as if there were no rules. */
static inline bool tf_zeros_stream(const tf_plan *p, int o) {
  return p->stream_scope[o] >= 0 || p->stream[o].node >= 0;
}

/* Numbers are in pairs: what takes time, and what takes energy. */
enum { TF_LEFT_TIME, TF_LEFT_ENERGY, TF_N_LEFT };
typedef struct {
  tf_left of[TF_N_LEFT];
} tf_lefts;
typedef struct {
  uint64_t of[TF_N_LEFT];
} tf_voiders;
typedef struct {
  double of[TF_N_LEFT];
} tf_shares;

/* Tiles that an m-tile fetches, where rules may leave them out: what slice i of it is read by, and
 * what rules of the memory that serves it say. */
typedef struct {
  int from;       /* the slice of the m-tile that serves it; -1: none */
  tf_voiders on;  /* reads of `op`, zeros of which leave the tile out */
  int op;         /* the one that reads it; -1: several do, or it is made below */
  bool alike;     /* rules of it and of what serves it save time wherever they save energy */
  bool told;      /* what is left may be told; if not, all of it is counted */
  bool now;       /* it is, in this evaluation */
  uint64_t moves; /* loops above its node that move it */
  uint64_t stay;  /* in this evaluation: temporal loops at whose steps it stays */
  int twin;       /* an earlier slice of the m-tile and op, which shares `len`; -1: none */
  int64_t *len;   /* [dim of the op] in this evaluation: what the m-tile has of it */
  uint64_t *dims; /* [dim of the op] loops above its node that move the dim's range */
  double *some;   /* [read] in this evaluation: the probability that some of what meets the tile is
                     not zero */
} tf_tiles;
/* Shares of words that are left of what is fetched. */
typedef struct {
  double fill[TF_N_LEFT], read[TF_N_LEFT];
} tf_fetched;

/* What is left of the slices that turn, by the trip counts of spatial loops, from which it follows.
 */
enum { TF_LEFTS_KEPT = 8 };
typedef struct {
  bool known, quick, partial, exact;
  int64_t *trips; /* [spatial loop] */
  tf_lefts *left; /* [slice - n_tile_slices] */
} tf_lefts_kept;

struct tf_zeros {
  const tf_sparse *sparse;
  tf_voiders *on; /* [slice - n_tile_slices] the op's reads, zeros of which leave the access out */
  tf_lefts *left; /* [slice - n_tile_slices] */
  bool *turns; /* [slice - n_tile_slices] it follows from trip counts: units may share the access */
  uint64_t *moving;    /* [slice - n_tile_slices] loops that move what it touches */
  tf_shares *work;     /* [op] of its points */
  tf_voiders *void_at; /* [op] its reads, zeros of which leave the point out */
  tf_tiles
      *tiles; /* [slice] of m-tiles, then of leaves (`from` alone); NULL: no rule is of tiles */
  tf_fetched *fetched; /* [tile slice] */
  tf_shares
      *lacked; /* [slice - n_tile_slices] of its accesses, those whose tile has been fetched */
  tf_shares *own_work; /* [op] `work` but for tiles that are left out */
  double *own, *up;    /* [slice] those of the views but for tiles that are left out */
  int64_t *still;      /* [loop] settings of 0 */
  bool tiles_upper;    /* some shares of these are bounds, in this evaluation */
  tf_chunks_memo *boxes;
  int n_spatial, *spatial; /* loops */
  int64_t *trips;          /* [spatial loop] */
  tf_lefts_kept kept[TF_LEFTS_KEPT];
  bool any_turns, upper; /* upper: some shares are bounds whatever the trip counts */
  tf_kept res;
};

/* Creates m->zeros; false if memory ran out. */
bool tf_zeros_new(struct tf_model *m);
/* Its rules of tiles (tiles/tiles.c), if it has zeros. */
bool tf_tiles_new(struct tf_model *m);
/* Fills what they leave for the trip counts at hand, and the views' weights by it; before anything
 * is counted. */
void tf_tiles_begin(struct tf_model *m);
/* What is left of the words that slice i, an op's operand, moves. */
const tf_lefts *tf_zeros_left(const struct tf_model *m, int i);
/* Fills what is left for the trip counts at hand, and takes the rest from the flows; needs moves
 * and flows. */
void tf_zeros_take(struct tf_model *m);
/* Fills the counts of the result; needs the counts of all. */
void tf_zeros_count(struct tf_model *m);

/* Reads of a result that are left of `read` such and `update` updates. */
static inline double tf_left_reads(const tf_left *l, double read, double update) {
  const double left = update * l->update - (update - read) * l->first;
  return left > 0 ? left : 0;
}
/* Of op o's points, those that take time. */
static inline double tf_zeros_work(const struct tf_model *m, int o, int what) {
  return m->zeros ? m->zeros->work[o].of[what] : 1;
}
#endif
