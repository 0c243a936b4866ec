/* Lists by node, gathered once per tree for latency and resources: the slices of an m-tile and the
 * memories that serve them, the ports that a node and those below it use, the meshes that loops
 * fill. */
#ifndef MODEL_COST_VIEW_H
#define MODEL_COST_VIEW_H
#include "model/flow/range.h"

/* A memory that a node's words pass: leg 0 of a Tile is its own. */
typedef struct {
  int level;
  int pass; /* of the node at that level; -1: nothing passes */
} tf_leg;

/* A memory whose ports a node, or one below it, uses. */
typedef struct {
  int node, level;
  int up;   /* pass of the parent at this level; -1: none */
  int from; /* m-tile of the level at or above the node, whose instances count; -1: those of the
               children */
  bool own_instances; /* its instances differ from its siblings', and are in use at the same time */
  bool binds;         /* the port may take longer than the node's children together */
} tf_pass;

typedef struct {
  int first, n_slices; /* m-tile: its slices are [first, first + n) of plan->slices */
  int n_legs;          /* Tile: 1 + serving memories; op: memories that hold its operands */
  int leg;             /* number of its first leg among all nodes' legs */
  tf_leg *legs;
  int n_rows;    /* Tile: temporal loops above it, inner to outer, and the first step */
  int *row_loop; /* [n_rows - 1] loop ids */
  int cell;      /* its first cell, of n_rows * n_legs */
  int row;       /* its first row among all Tiles' rows */
  int first_pass, n_passes;
} tf_view;

/* A mesh that loops fill: instances of memory `level` + 1 (unit -1), or units below memory `level`.
 */
typedef struct {
  int level, unit;
  const int64_t *mesh; /* its size in X and Y */
  int n_loops;         /* spatial loops, path after path; each path ends in -1 */
  int *loops;
} tf_mesh;

/* Cycles per word of a memory's ports. */
typedef struct tf_port_rate {
  double read, write;
  bool one_port; /* reads and writes share one port */
} tf_port_rate;

typedef char tf_label[64];
enum { TF_MAX_LEGS = 64 };

typedef struct tf_views {
  tf_view *node; /* [n_nodes] */
  int n_cells, n_rows, n_legs;
  int *leg;    /* [n_slices] the leg of the slice's node that serves it */
  double *own; /* [n_slices] words of its own level's word width per word of the tensor, as kept by
                  its format */
  double *up;  /* [n_slices] the same for the serving level */
  double *ratio;    /* [level * n_tensors + tensor] */
  bool peers;       /* some memory takes words from its neighbours */
  bool networks;    /* some network has a topology; then: */
  uint64_t *shares; /* [n_slices] spatial loops above the slice's node whose steps need the
                       same box, in one transfer */
  uint64_t *pulled; /* [n_slices] spatial loops whose steps may need the same box, as its parts
                       move differently: see tf_shares_of */
  bool splits;      /* some scope runs its children at once */
  int n_meshes;
  tf_mesh *meshes;
  bool *shared; /* [node * n_memories + level] see tf_shared_instance */
  int n_passes;
  tf_pass *passes; /* children before parents */
  /* [n_slices] pass of the slice's node at its own and at the serving level; leaves have no own */
  int *own_pass, *up_pass;
  /* [n_slices + n_ops] the m-tile whose instances hold the serving memory, of slices and of
   * streamed outputs; -1: there is one instance */
  int *server;
  bool parts;               /* some memory has parts */
  const tf_mem_part **part; /* [n_tile_slices] the part of its memory that holds it; NULL: none */
  const tf_mem_part **at_home; /* [n_tensors] the same where it lives */
  int n_memories;
  tf_port_rate *port_rate; /* [n_memories] */
  double *peak;            /* [n_units] points a cycle of all units of a kind together */
  tf_label *unit_name;     /* [n_units] "matrix compute" */
  tf_label *port_name;     /* [2 * level + is_write] "DRAM read" */
  tf_label *net_name;      /* [n_memories] "Buffer network" */
  int n_ranks;             /* of all m-tile slices together */
  int *rank_at;            /* [n_tile_slices] number of the slice's first rank among these */
  int n_entered;   /* rows of all m-tile slices together: its Tile's, and one of entries after a
                      sibling's */
  int *entered_at; /* [n_tile_slices] number of the slice's first row among these */
} tf_views;

/* Whether op o uses instances of mesh k. */
bool tf_mesh_serves(const tf_plan *p, int o, const tf_mesh *k);

/* Fills passes, and what refers to them; false when memory runs out.  (passes.c) */
bool tf_passes_fill(tf_arena *a, const tf_plan *p, tf_views *w);
/* The pass of node n at a level; -1: none. */
int tf_pass_of(const tf_views *w, int n, int level);

/* NULL when memory runs out. */
tf_views *tf_views_new(tf_arena *a, const tf_plan *p);

/* Words of the memory's ports, and of its network's links, for a word of the tensor: what is kept
 * of it there, with its metadata. */
double tf_kept_words(const tf_plan *p, int tensor, int level);

/* `shares` of slice i at these trip counts: with those of `pulled` that leave the box in
 * place. digit: [n_loops] scratch. */
uint64_t tf_shares_of(const tf_eval *ev, const tf_views *w, int i, int64_t *digit);

/* The instances over which a slice's words are counted: all, the first one of its own memory, and
 * the first one of the memory that serves it. */
enum { TF_ALL, TF_OWN, TF_SERVING, TF_N_SIDES };

/* Path positions of the spatial loops that are then at their first setting; i as for
 * tf_slice_at. */
static inline uint64_t tf_still_of(const tf_plan *p, const tf_views *w, int i, int side) {
  const int below = side == TF_ALL ? -1 : side == TF_OWN ? tf_slice_at(p, i)->node : w->server[i];
  return below < 0 ? 0 : tf_path_spatial(p, below);
}

/* Whether the children of Para or Pipe scope n work in one instance of memory `level` (SEMANTICS
 * D12). */
static inline bool tf_shared_instance(const tf_views *w, int n, int level) {
  return w->shared[n * w->n_memories + level];
}
#endif
