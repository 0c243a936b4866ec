/* Parts of the exact solver.  A template is the shape of a tree with its loop orders left open; the
 * solver chooses one Tile of a template after another (branch), and prunes by bounds of all
 * completions. */
#ifndef SEARCH_EXACT_EXACT_H
#define SEARCH_EXACT_EXACT_H
#include "base/arena.h"
#include "model/tree/facts.h"
#include "search/common/budget_clock.h"
#include "search/common/ops.h"
#include "search/space/trips.h"
#include "tileflow/model.h"
#include "tileflow/solve.h"

enum {
  TF_X_DIMS = 12,  /* most dims of an op that are longer than 1 */
  TF_X_GROUPS = 4, /* most groups of dims whose order is chosen */
  TF_X_TILES = 64, /* most Tiles of a template in which something is chosen */
  TF_X_OPS = 16,
  TF_X_LOOPS = 200,    /* most loops of a Tile */
  TF_X_EXTENT = 720719 /* largest extent: no number up to it has more than TF_X_DIVISORS divisors */
};
#define TF_X_DIVISORS 240

/* A shape: how many Tiles all ops share, and how the ops below them are combined. */
typedef struct {
  int shared;    /* memories 0 .. shared - 1 have a Tile shared by all ops; 0: nothing is fused */
  bool keep;     /* intermediates stay in memory `shared`, in which each op has its own Tile */
  tf_scope kind; /* of the scope below the shared Tiles */
  bool runs;     /* consecutive ops on one kind of unit are in a Seq of their own */
  bool stream;   /* reductions over a dim of the last op are streamed */
} tf_x_shape;

/* A Tile with choices.  For each place that a dim's group can take in the order it has a temporal
 * loop of the dim; at most one of these has a trip count above 1. */
typedef struct {
  int node, level, op; /* op: that it belongs to; -1: shared by all */
  bool last;           /* the last Tile of its op's path: takes all that is left of every dim */
  int n_dims;
  int dims[TF_X_DIMS];  /* dims longer than 1 */
  int slot[TF_X_DIMS];  /* slot in tf_trips, for the op (shared: for the last op) */
  int n_groups;         /* groups whose order is chosen; dims of group -1 are outside the order */
  int group[TF_X_DIMS]; /* [dim] */
  int n_places;         /* length of the sequence that contains every order of the groups (a
                           superpermutation) */
  int place[16];        /* the group at each place of the sequence */
  int temporal[16][TF_X_DIMS]; /* [place][dim] number of the loop; -1: none */
  int outer[TF_X_DIMS];        /* loop of a dim of group -1; in a last Tile, of every dim */
  int64_t mesh[2];             /* instances to spread over; 1: none */
  int spatial[2][TF_X_DIMS];   /* [axis][dim] loop, -1 */
  bool one_side;               /* a dim is spread along one axis at most */
  int first_loop, n_loops;
  bool *open;    /* [n_nodes] still open once this Tile and those before it are chosen */
  bool *settled; /* [n_memories] all m-tiles of the memory, and the homes in it, are closed then */
  bool *open_alone; /* for the first own Tile of its op: as `open`, if no other op's own Tile were
                  chosen; else NULL */
  bool complete;    /* nothing is left to choose then */
  bool bounds;      /* the counts of closed nodes do not depend on open ones */
} tf_x_tile;

typedef struct {
  tf_arena *arena;
  tf_x_shape shape;
  tf_tree *tree;
  const tf_facts *facts;
  int n_tiles;
  tf_x_tile *tiles;      /* shared ones first, then op by op */
  int n_shared;          /* how many are shared */
  int n_paths[TF_X_OPS]; /* [op] indices of the Tiles on its path */
  int path[TF_X_OPS][TF_X_TILES];
  bool *open_below_shared; /* [n_nodes] open once the shared Tiles are chosen */
  bool masked; /* the workload has a mask; all points are counted here all the same (tf_solve_exact)
                */
  bool separable; /* words moved by one op's own Tiles do not depend on other ops, except for
                 intermediates that it finds in its memory */
  int rest[TF_X_OPS][TF_X_DIMS + 4]; /* [op][i-th dim of the op] the loop that takes all that is
                                        left; -1: none */
  int n_loops;
} tf_x_template;

/* The k-th shape for these ops on the architecture; false past the last. */
bool tf_x_shape_at(const tf_arch *arch, const tf_workload *wl, int k, tf_x_shape *out);
/* Its tree with every trip count open; NULL if the rules forbid it. */
tf_tree *tf_x_tree(const tf_arch *arch, const tf_workload *wl, const tf_x_shape *s);

/* A sequence of places that contains every order of n groups; returns its length. */
int tf_x_sequence(int n, int place[16]);
/* Groups dims that index the same tensors, in the order of the dims; group -1: dims that index all.
 * op: for a Tile of that op alone; -1: for a Tile shared by all, with dims of the last op.  Returns
 * the number of groups. */
int tf_x_groups(const tf_workload *wl, int op, const int *dims, int n, int *group);
/* The dims of an op (-1: of the last op) longer than 1, except those to be skipped.  Returns how
 * many; -1: more than TF_X_DIMS. */
enum { TF_X_SKIP_WINDOWS = 1, TF_X_SKIP_REDUCED = 2 /* what other ops reduce */ };
int tf_x_dims(const tf_workload *wl, int op, unsigned skip, int *dims);
/* The dims that a Tile of op (-1: shared) at a level leaves to Tiles further in: windows, except
 * right outside the op's last Tile; and, above a scope, dims that another op reduces, unless that
 * is streamed. */
unsigned tf_x_skips(const tf_arch *arch, const tf_workload *wl, const tf_x_shape *s, int op,
                    int level);

/* NULL without errors in d if the rules forbid the shape; NULL with errors if it exceeds a limit.
 */
tf_x_template *tf_x_template_new(const tf_arch *arch, const tf_workload *wl, const tf_x_shape *s,
                                 tf_diags *d);
void tf_x_template_free(tf_x_template *t);

/* Spatial trip counts, [axis][dim]. */
typedef struct {
  int32_t trips[2][TF_X_DIMS];
} tf_x_spread;

/* Calls take(ctx, s, t, order) for every choice of a Tile, given the length `len` left of each dim.
 * s: spatial trip counts; t[dim]: temporal ones; order[0 .. n_order - 1]: the order of the groups
 * with a loop longer than 1, outermost first.  Prunes: spread or holds return false to skip all
 * choices with that spatial part, or with these lengths.  Stops when take returns false. */
typedef struct {
  void *ctx;
  bool (*spread)(void *ctx, const tf_x_spread *s);
  bool (*holds)(void *ctx, const int32_t *inside); /* inside: lengths below the Tile */
  bool (*take)(void *ctx, const tf_x_spread *s, const int32_t *t, const int *order, int n_order);
} tf_x_visitor;
bool tf_x_choices(const tf_x_tile *tile, const int32_t *len, const tf_x_visitor *v);
/* Writes a choice into the trip counts of the Tile's loops. */
void tf_x_write(const tf_x_tile *tile, const tf_x_spread *s, const int32_t *t, const int *order,
                int n_order, int64_t *trips);

/* The most instances of a mesh that divisors of the lengths can fill (at most two of them on an
 * axis). */
double tf_x_fill(const int64_t mesh[2], const int32_t *len, int n);

#endif
