/* The exact solver's parts: templates (shapes of trees, loop orders left open), the choices of one Tile of a
 * template, and the walk through them. */
#ifndef SEARCH_EXACT_EXACT_H
#define SEARCH_EXACT_EXACT_H
#include "base/arena.h"
#include "model/tree/facts.h"
#include "search/common/ops.h"
#include "search/common/watch.h"
#include "search/space/trips.h"
#include "tileflow/model.h"
#include "tileflow/solve.h"

enum {
  TF_X_DIMS = 12,  /* dims of an op longer than 1 */
  TF_X_GROUPS = 4, /* groups of dims whose order is chosen */
  TF_X_TILES = 64, /* tiles of a template in which something is chosen */
  TF_X_OPS = 16,
  TF_X_LOOPS = 200,    /* loops of a Tile */
  TF_X_EXTENT = 720719 /* no smaller number has more than TF_X_DIVISORS divisors */
};
#define TF_X_DIVISORS 240

/* A shape: how deep the ops share Tiles, and how what is below them is put together. */
typedef struct {
  int shared;    /* memories 0 .. shared - 1 have a Tile that all ops share; 0: nothing is fused */
  bool keep;     /* the intermediates stay in memory `shared`, of which each op has a Tile of its own */
  tf_scope kind; /* of the scope below the shared Tiles */
  bool runs;     /* ops that follow one another on one kind of unit stand in a Seq of their own */
  bool stream;   /* reductions over a dim of the last op are streamed */
} tf_x_shape;

/* A Tile in which something is chosen.  Temporal loops of a dim stand there once for each place that its group can
 * take in the order; at most one of them turns. */
typedef struct {
  int node, level, op; /* op: whose Tile it is, -1: shared */
  bool last;           /* of its op's path: takes the rest of every dim */
  int n_dims;
  int dims[TF_X_DIMS];         /* longer than 1 */
  int slot[TF_X_DIMS];         /* of tf_trips, of the op (shared: of the last op) */
  int n_groups;                /* in the order chosen; dims of group -1 stand outside them */
  int group[TF_X_DIMS];        /* of each dim */
  int n_places;                /* of the sequence that holds every order of the groups */
  int place[16];               /* which group stands there */
  int temporal[16][TF_X_DIMS]; /* [place][dim] loop, -1: none */
  int outer[TF_X_DIMS];        /* loop of a dim of group -1; where last, of every dim */
  int64_t mesh[2];             /* instances, 1: nothing to spread over */
  int spatial[2][TF_X_DIMS];   /* [axis][dim] loop, -1 */
  int first_loop, n_loops;
  bool *open;    /* [n_nodes] nodes open once this Tile and those before it are chosen */
  bool *settled; /* [n_memories] all its m-tiles are closed then, and the homes in it */
  bool *alone;   /* first own Tile of its op: the same, were it the only own Tile that is chosen; else NULL */
  bool complete; /* nothing is left to choose then */
  bool bounds;   /* counts of closed nodes do not depend on what is open */
} tf_x_tile;

typedef struct {
  tf_arena *arena;
  tf_x_shape shape;
  tf_tree *tree;
  const tf_facts *facts;
  int n_tiles;
  tf_x_tile *tiles;      /* shared ones first, then op by op */
  int n_shared;          /* of these, shared */
  int n_paths[TF_X_OPS]; /* per op: its Tiles in tiles[] */
  int path[TF_X_OPS][TF_X_TILES];
  bool *behind; /* [n_nodes] nodes open once the shared Tiles are chosen */
  bool masked;  /* steps are left out, but all points are counted here (tf_solve_exact) */
  bool apart;   /* what one op's own Tiles move depends on no other op's, but for what it finds of an
                   intermediate (tf_x_least) */
  int rest[TF_X_OPS][TF_X_DIMS + 4]; /* [op][i-th dim of the op] loop that takes what is left, -1: none */
  int n_loops;
} tf_x_template;

/* The k-th shape for ops on the architecture; false past the last. */
bool tf_x_shape_at(const tf_arch *arch, const tf_workload *wl, int k, tf_x_shape *out);
/* Its tree, every trip count open; NULL if the rules forbid it. */
tf_tree *tf_x_tree(const tf_arch *arch, const tf_workload *wl, const tf_x_shape *s);

/* The orders of n groups as places of one sequence; returns its length. */
int tf_x_sequence(int n, int place[16]);
/* Groups of dims that the same tensors use, in the order in which the dims stand; group -1: all of them use it.
 * op: a Tile of that op alone, -1: a Tile that all share, dims of the last op.  Returns the number of groups. */
int tf_x_groups(const tf_workload *wl, int op, const int *dims, int n, int *group);
/* Dims longer than 1 of an op (-1: of the last op) but those to be skipped; returns how many, -1: more than
 * TF_X_DIMS. */
enum { TF_X_SKIP_WINDOWS = 1, TF_X_SKIP_REDUCED = 2 /* what other ops reduce */ };
int tf_x_dims(const tf_workload *wl, int op, unsigned skip, int *dims);
/* What a Tile of op (-1: shared) at a level leaves to those further in: windows but right outside the op's last
 * Tile; above a scope what another op reduces, unless that is streamed. */
unsigned tf_x_skips(const tf_arch *arch, const tf_workload *wl, const tf_x_shape *s, int op, int level);

/* NULL without errors in d if the rules forbid the shape; with errors if it is too large. */
tf_x_template *tf_x_template_new(const tf_arch *arch, const tf_workload *wl, const tf_x_shape *s, tf_diags *d);
void tf_x_template_free(tf_x_template *t);

/* Spatial trip counts, [axis][dim]. */
typedef struct {
  int32_t on[2][TF_X_DIMS];
} tf_x_spread;

/* Calls take(ctx, s, t, order) for every choice of a Tile with `len` left of each dim: s: spatial,
 * t[dim] temporal trip counts and an order of the groups that turn (order[0 .. n_order - 1], outer first).
 * enough(ctx, spatial, left): false to leave out a spread and all that goes with it.  Stops where take returns false.
 */
typedef struct {
  void *ctx;
  bool (*spread)(void *ctx, const tf_x_spread *s);
  bool (*holds)(void *ctx, const int32_t *inside); /* inside: lengths below the Tile */
  bool (*take)(void *ctx, const tf_x_spread *s, const int32_t *t, const int *order, int n_order);
} tf_x_visitor;
bool tf_x_choices(const tf_x_tile *tile, const int32_t *len, const tf_x_visitor *v);
/* Writes a choice as trip counts of the Tile's loops. */
void tf_x_write(const tf_x_tile *tile, const tf_x_spread *s, const int32_t *t, const int *order, int n_order,
                int64_t *trips);

int tf_x_divisors(int32_t n, int32_t list[TF_X_DIVISORS]);
/* The most instances of a mesh that divisors of the lengths can fill. */
double tf_x_fill(const int64_t mesh[2], const int32_t *len, int n);

#endif
