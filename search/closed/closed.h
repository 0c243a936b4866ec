/* The closed-form solver's parts (docs/HOWTO-solve.md): tiles of one loop order in real numbers, their rounding, what
 * is spread over instances, and the tree. */
#ifndef SEARCH_CLOSED_CLOSED_H
#define SEARCH_CLOSED_CLOSED_H
#include "base/arena.h"
#include "search/closed/chain.h"

enum { TF_C_LEVELS = 8 };

/* Memories top + 1 .. top + n below a Tile of memory `top`, and one loop order for all their Tiles. */
typedef struct {
  const tf_chain *chain;
  tf_scope kind;                          /* of the scope below the shared loops; of no matter for one op */
  int n;                                  /* levels, 1 ..; own loops are cut only at the last one */
  int n_order, order[TF_C_LOOPS];         /* loops, outer first; the others are not cut */
  double spread[TF_C_LEVELS][TF_C_LOOPS]; /* [level]: instances side by side along the loop, all levels to there */
  double low[TF_C_LOOPS];                 /* least tile of a loop, alpha of Eq. 3.18 */
  bool late[TF_C_LOOPS];                  /* cut at the last level alone, as own loops are: windows */
  bool pin[TF_C_LOOPS];                   /* tiles are the least: a loop that moves all alike gains nothing */
  bool reloads;                           /* partial sums that come back count, too */
  double need[TF_C_LEVELS][TF_C_LOOPS];   /* whole-numbered tiles are multiples of it; 0 is 1 */
  double capacity[TF_C_LEVELS];           /* words of word_bits of an instance; INFINITY: no limit */
  double word_bits[TF_C_LEVELS];
  bool twice[TF_C_LEVELS];  /* tiles are double-buffered */
  double rate[TF_C_LEVELS]; /* words a cycle into the level, all instances together */
} tf_c_problem;

typedef struct {
  double tile[TF_C_LEVELS][TF_C_LOOPS]; /* of one instance */
} tf_c_tiles;

/* Whether level d's Tile has loop l, one of the order. */
bool tf_c_has(const tf_c_problem *p, int d, int l);

/* Eq. 3.21 in real numbers: tiles for which the slowest level is fastest (one level: least traffic, Eq. 3.14).  cost:
 * cycles of the slowest level.  False: not even the least tiles fit. */
bool tf_c_solve(const tf_c_problem *p, tf_c_tiles *t, double *cost);
/* The same by Lagrange's multiplier with pencil and paper, where the problem is the thesis's: two products, order m l,
 * k, n. */
bool tf_c_solve_gemm(const tf_c_problem *p, tf_c_tiles *t, double *cost);

/* Eq. 3.18: tiles of m and l for C[m,l] = A[m,k] B[k,l], E[m,n] = C D where k and n have tiles of alpha; where an
 * extent is shorter than the tile, it is the tile and the other dim takes what is left. */
void tf_c_gemm_tiles(double m, double l, double capacity, double alpha, double *tile_m, double *tile_l);

/* Words into the first level in real numbers, no step rounded up: DV* of Eq. 3.18 and 3.19. */
double tf_c_real_words(const tf_c_problem *p, const tf_c_tiles *t);

/* Words that the levels move with whole-numbered tiles, and whether these fit. */
double tf_c_cost(const tf_c_problem *p, const tf_c_tiles *t);
double tf_c_level_words(const tf_c_problem *p, const tf_c_tiles *t, int level);
bool tf_c_fits(const tf_c_problem *p, const tf_c_tiles *t, int level);

/* Whole-numbered tiles near real ones: of the divisors next to them below and above, those that fit and move least. */
bool tf_c_round(const tf_c_problem *p, const tf_c_tiles *real, tf_c_tiles *whole);
/* The thesis's: rounded down, divisors or not (first level). */
void tf_c_round_down(const tf_c_problem *p, const tf_c_tiles *real, tf_c_tiles *whole);
/* Eq. 3.19: how many times the volume in real numbers it may be for tiles rounded down.  The thesis's is for tensors
 * that one loop moves again; where several do, their factors multiply. */
double tf_c_round_limit(const tf_c_problem *p, const tf_c_tiles *real);

/* ---- intra-tile parameters ---------------------------------------------------------------------- */
/* Eq. 3.4: registers of a block of MI by NI sums, MII of A: the most multiply-adds per load as KI grows.  MII divides
 * MI and is at least 2, so that one is loaded while the other is used. */
typedef struct {
  int mi, ni, mii;
} tf_c_micro;
tf_c_micro tf_c_micro_cpu(int registers);
/* Eq. 3.7: M2 = N2 = lanes; M1 = N1 is the most that fits: sums, and operands K1 = 1 deep, in `words`. */
int tf_c_micro_npu(int lanes, int64_t words);

/* ---- spreading ------------------------------------------------------------------------------------ */
/* Up to two dims on each axis of a mesh; factors divide the lengths. */
typedef struct {
  int n;
  int slot[4], axis[4]; /* which length */
  int64_t factor[4];
} tf_c_spread;
/* Fills the mesh as far as factors of the lengths allow; of equal fills the one over fewer reduced dims, then the one
 * that needs the fewest words for the points it does at once, the density of Eq. 3.6.  use[i]: 0 not, 1 yes, 2 reduced;
 * words[]: for each tensor the lengths that index it, as bits. */
tf_c_spread tf_c_fill(const int64_t mesh[2], const int64_t *len, const int *use, int n, const uint64_t *words,
                      int n_words);
#endif
