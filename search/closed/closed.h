/* Parts of the closed-form solver (docs/HOWTO-solve.md): real-valued tiles of one loop order, their
 * rounding, spatial unrolling, and the tree. */
#ifndef SEARCH_CLOSED_CLOSED_H
#define SEARCH_CLOSED_CLOSED_H
#include "base/arena.h"
#include "search/closed/chain.h"

enum { TF_C_LEVELS = 8 };

/* A problem: one loop order for the Tiles of memories top + 1 .. top + n, below a Tile of memory
 * `top`. */
typedef struct {
  const tf_chain *chain;
  tf_scope kind; /* of the scope below the shared loops; unused for one op */
  int n;         /* number of levels, 1 ..; own loops are tiled at the last one only */
  int n_order, order[TF_C_LOOPS]; /* loops, outermost first; those outside it are not tiled */
  double spread[TF_C_LEVELS][TF_C_LOOPS]; /* [level]: instances along the loop, product over all
                                             levels up to this one */
  double low[TF_C_LOOPS];                 /* least tile of a loop: alpha of Eq. 3.18 */
  bool late[TF_C_LOOPS]; /* tiled at the last level only, like own loops: windows */
  bool pin[TF_C_LOOPS];  /* the tile is fixed at its least: the loop moves every tensor, so that
                            larger tiles save nothing */
  bool reloads;          /* count partial sums that are loaded again, too */
  double need[TF_C_LEVELS][TF_C_LOOPS]; /* integer tiles are multiples of it; 0 means 1 */
  double capacity[TF_C_LEVELS]; /* of one instance, in words of word_bits; INFINITY: no limit */
  double word_bits[TF_C_LEVELS];
  bool twice[TF_C_LEVELS];  /* tiles are double-buffered */
  double rate[TF_C_LEVELS]; /* words a cycle into the level, all instances together */
} tf_c_problem;

static inline double tf_c_extent(const tf_c_problem *p, int l) {
  return (double)p->chain->loops[l].extent;
}

typedef struct {
  double tile[TF_C_LEVELS][TF_C_LOOPS]; /* per instance */
} tf_c_tiles;

/* Whether level d's Tile has a loop l of the order. */
bool tf_c_has(const tf_c_problem *p, int d, int l);

/* Eq. 3.21 in real numbers: the tiles that minimise the time of the slowest level (for one level:
 * the traffic, Eq. 3.14).  cost: cycles of the slowest level.  False: not even the least tiles fit.
 */
bool tf_c_solve(const tf_c_problem *p, tf_c_tiles *t, double *cost);
/* The same by an analytical Lagrange multiplier, where the problem is the thesis's: two products,
 * order m l, k, n. */
bool tf_c_solve_gemm(const tf_c_problem *p, tf_c_tiles *t, double *cost);

/* Words into the first level in real numbers, trip counts not rounded up: DV* of Eq. 3.18 and 3.19.
 */
double tf_c_real_words(const tf_c_problem *p, const tf_c_tiles *t);

/* Cycles of the slowest level with integer tiles, the cost of tf_c_solve. */
double tf_c_cost(const tf_c_problem *p, const tf_c_tiles *t);
/* Words into one level with integer tiles; whether the level holds them. */
double tf_c_level_words(const tf_c_problem *p, const tf_c_tiles *t, int level);
bool tf_c_fits(const tf_c_problem *p, const tf_c_tiles *t, int level);
/* Words that the level holds: of the innermost with Seq those of the largest op, else of all ops
 * together. Intermediates count what one iteration of the scope produces. */
double tf_c_held(const tf_c_problem *p, const tf_c_tiles *t, int level);

/* Integer tiles near real ones, rounded up and down: to divisors, and at the first level to tiles
 * with a shorter last one.  Of the combinations that fit, the one that moves least. */
bool tf_c_round(const tf_c_problem *p, const tf_c_tiles *real, tf_c_tiles *whole);
/* Eq. 3.19: the ratio by which tiles rounded down may exceed the real-valued volume.  The thesis
 * derives it for tensors that one loop reloads; where several do, their factors multiply. */
double tf_c_round_limit(const tf_c_problem *p, const tf_c_tiles *real);

/* ---- intra-tile parameters ------------------------------------------------------------------- */
/* Eq. 3.4, register blocking: an MI x NI block of sums with MII registers for A that gives the most
 * multiply-adds per load for large KI.  MII divides MI and is at least 2, so that one is loaded
 * while another is used. */
typedef struct {
  int mi, ni, mii;
} tf_c_micro;
tf_c_micro tf_c_micro_cpu(int registers);
/* Eq. 3.7: M2 = N2 = lanes; the largest M1 = N1 whose sums, and operands with K1 = 1, fit in
 * `words`. */
int tf_c_micro_npu(int lanes, int64_t words);

/* ---- spatial unrolling ----------------------------------------------------------------------- */
/* Up to two dims on each axis of a mesh, with factors that divide their lengths. */
typedef struct {
  int n;
  int slot[4], axis[4]; /* slot: index of the length */
  int64_t factor[4];
} tf_c_spread;
/* A mesh; one_side: a dim is spread along one of its sides at most. */
typedef struct {
  const int64_t *size;
  bool one_side;
} tf_c_mesh;
/* Fills the mesh as far as factors of the lengths allow.  Ties go to fewer reduced dims, then to
 * the fewest words for the points computed at once (the density of Eq. 3.6).  use[i]: 0 not
 * allowed, 1 allowed, 2 reduced; words[]: for each tensor the lengths that index it, as bits. */
tf_c_spread tf_c_fill(const tf_c_mesh *mesh, const int64_t *len, const int *use, int n,
                      const uint64_t *words, int n_words);
#endif
