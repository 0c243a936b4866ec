/* The parts of an evaluation, in the order in which they are filled. */
#ifndef MODEL_COST_STATE_H
#define MODEL_COST_STATE_H
#include "model/cost/even.h"
#include "model/cost/sums.h"
#include "model/cost/view.h"

/* Words one slice moves, over the run: at its own level and at the level that serves it. */
typedef struct {
  int64_t fill, drain;    /* own level; op leaves: none */
  int64_t read, update;   /* serving level */
} tf_move;

/* Words through the two ports of one memory, in words of that memory. */
typedef struct {
  double read, write;
} tf_ports;

/* Of a Tile whose transfers overlap its steps: the load that comes first, and the work of one step. */
typedef struct {
  double first_load, work;
} tf_head;

struct tf_model {
  tf_arena *arena;
  tf_plan *plan;
  tf_views *views;
  tf_run run;
  int64_t walk_max;       /* steps the exact walk may take */
  int64_t *own_trip;      /* [n_loops] the tree's trip counts */
  tf_scratch scratch;
  tf_move *moves;         /* [n_slices] */
  tf_ports *cells;        /* [views->n_cells] of a Tile: what passes its legs, [row * n_legs + leg];
                             row: the steps in which that loop carries, the last row: the first step */
  tf_head *heads;         /* [n_nodes] overlap double-buffer: of each Tile that loads, and of those around it */
  int64_t *steps;         /* [n_nodes] moments */
  int64_t *width;         /* [n_nodes] most instances of the path's spatial loops in use at once */
  bool by_steps;          /* cells are read: the architecture overlaps step by step */
  int64_t *rank_len;      /* [views->n_ranks] largest extents of m-tile slices */
  int64_t *box;           /* [n_tile_slices] their words; saturates */
  int64_t *at_once;       /* [node] most bits an m-tile holds at one moment; -1: its largest slices meet */
  int64_t *home_words;    /* [n_tensors] slice of one iteration of the home scope; inputs, outputs: all */
  int64_t *treated;       /* [2 * op] words of a streamed output corrected in every run of the scope,
                             [2 * op + 1] in one run a production */
  tf_even *even;          /* NULL: never applies */
  bool quick;             /* it did, the last time */
  bool quick_only;        /* nothing else is tried where it might */
  const tf_open *open;    /* what is not decided; NULL: all is */
  int64_t *value, *lo, *len; /* of even's products and ranges */
  int64_t *outer;         /* [n_loops] moments of the loops outside it */
  int clipped;            /* the m-tile of the last slice that even_clip.c counted; -1: none */
  tf_result res;          /* arrays */
};

enum { TF_WALK_MAX = 20000000 };

/* Fill moves, cells, op points; steps, widths and sizes.  False on overflow. */
bool tf_count_all(struct tf_model *m);
/* Fills treated.  False on overflow. */
bool tf_count_treated(struct tf_model *m);
/* Sizes of m-tiles' slices, and of intermediates at home. */
void tf_sizes(struct tf_model *m);
void tf_home_sizes(struct tf_model *m);
/* Words of intermediate z's slice at home, loops above its scope at the digits. */
int64_t tf_home_words(struct tf_model *m, int z, const int64_t *digits);
/* The same sizes, and instances of node n in use at once, where borders clip boxes. */
void tf_border_sizes(struct tf_model *m);
void tf_border_homes(struct tf_model *m);
/* The longest range of dim d that is left at op o's leaf. */
int64_t tf_border_range(struct tf_model *m, int o, int d);
int64_t tf_border_width(struct tf_model *m, int n);
/* Whether an op may have nothing to do for a whole step: all that is read of its output is padding. */
bool tf_border_empties(struct tf_model *m);
/* What is left of `len` elements in one of the `trip` instances that take `step` each. */
int64_t tf_cut(int64_t len, int64_t trip, int64_t step);
/* Words of a whole tensor. */
int64_t tf_whole_words(const tf_tensor *t);
/* Adds what slice i moves in class c of its entries to the cells of its Tile. */
void tf_cells_add(struct tf_model *m, int i, int c, const tf_move *v);
/* The same where classes are not known: all steps alike. */
void tf_cells_spread(struct tf_model *m, int i, const tf_move *v);
/* Takes out of the moves and points what streaming puts off to the last step. */
void tf_defer_divisions(struct tf_model *m);
/* Streaming's corrections, added to points and counts (DECISIONS 11). */
bool tf_count_stream(struct tf_model *m);
/* Peaks, violations. */
void tf_resources(struct tf_model *m, tf_result *out);
/* Cycles of every node, ports, instances, bottleneck. */
void tf_latency(struct tf_model *m, tf_result *out);
void tf_energy(struct tf_model *m, tf_result *out);
/* Everything tf_count_all fills, and peaks of boxes, by walking the execution; for the settings that
 * run->irregular names. */
bool tf_walk_exact(struct tf_model *m);
#endif
