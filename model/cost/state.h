/* The parts of an evaluation, in the order in which they are filled. */
#ifndef MODEL_COST_STATE_H
#define MODEL_COST_STATE_H
#include "model/cost/open.h"
#include "model/cost/view.h"
#include "model/flow/range.h"

/* Words one slice moves, over the run: at its own level and at the level that serves it. */
typedef struct {
  int64_t fill, drain;  /* own level; op leaves: none */
  int64_t read, update; /* serving level */
} tf_move;

/* Words that enter: by instance, by sharing group, and (where ops below make them) for the first time. */
typedef struct {
  int64_t all, groups, first;
} tf_entry;

/* Words through the two ports of one memory, in words of that memory. */
typedef struct {
  double read, write;
} tf_ports;

/* Cycles per word of a memory's ports, over all its instances in use. */
typedef struct {
  double read, write;
  bool one_port; /* the words of both pass one after the other */
} tf_pace;

static inline double tf_port_time(tf_pace p, tf_ports w) {
  double read = w.read * p.read, write = w.write * p.write;
  return p.one_port ? read + write : read > write ? read : write;
}

/* Where transfers overlap steps: the m-tiles with entries that come first and last at and below a node (-1: none), and,
 * of such an m-tile itself, its first load and the work of one step. */
typedef struct {
  int first, last;
  double load, work;
} tf_head;

/* Points by which streaming corrects what was made so far, or divides at the end: on which unit, on how many of them.
 */
typedef struct {
  int64_t points, units;
  int unit;
} tf_correction;

struct tf_model {
  tf_arena *arena;
  tf_plan *plan;
  tf_views *views;
  tf_eval ev;
  int64_t walk_max;       /* steps the exact walk may take */
  int64_t *own_trip;      /* [n_loops] the tree's trip counts */
  struct tf_cover *cover; /* whether trip counts reach; made with scratch.boxes */
  tf_scratch scratch;
  tf_move *moves;      /* [n_slices] */
  tf_ports *cells;     /* [views->n_cells] of a Tile: what passes its legs, [row * n_legs + leg];
                          row: the steps in which that loop carries, the last row: the first step */
  double *class_steps; /* [views->n_rows] overlap double-buffer, of a Tile: steps in which the loop of each row carries;
                          the last row: 1, the first step */
  tf_head *heads;      /* [n_nodes] overlap double-buffer */
  tf_ports *below;     /* [views->n_passes] words that the node and those below it cause there */
  int64_t *in_use;     /* [views->n_passes] instances in use at once; 0: it has none of its own */
  tf_correction *corrections; /* [2 * op] of every run of the scope that streams op, [2 * op + 1] its late divisions */
  int64_t *steps;             /* [n_nodes] moments */
  int64_t *width;             /* [n_nodes] most instances of the path's spatial loops in use at once */
  bool by_steps;              /* cells are read: the architecture overlaps step by step */
  int64_t *rank_len;          /* [views->n_ranks] largest extents of m-tile slices */
  int64_t *box;               /* [n_tile_slices] their words; saturates */
  int64_t *at_once;           /* [node] most bits an m-tile holds at one moment; -1: its largest slices meet */
  int64_t *home_words;        /* [n_tensors] slice of one iteration of the home scope; inputs, outputs: all */
  int64_t *treated;           /* [2 * op] words of a streamed output corrected in every run of the scope,
                                 [2 * op + 1] in one run a production */
  struct tf_most *most;       /* general/most.h; NULL: no borders, or not made so far */
  struct tf_even *even;       /* what the quick count needs; NULL: it never applies */
  bool quick;                 /* it did, the last time */
  int64_t walked;             /* steps that the walk took, the last time; 0: it was not asked */
  bool starved;               /* there was no memory for something outside the arena */
  bool gave_up;               /* only the walk could have counted, and did not, the last time */
  bool all_points;            /* steps that a mask leaves nothing of count like others */
  bool quick_only;            /* nothing else is tried where it might */
  struct tf_tape *lanes;      /* quick/lanes.h; NULL: not made so far, or the tree has none */
  bool lanes_made;
  const tf_open *open;       /* what is not decided; NULL: all is */
  int64_t *value, *lo, *len; /* of even's products and ranges */
  int64_t *outer;            /* [n_loops] moments of the loops outside it */
  int clipped;               /* the m-tile of the last slice that quick/clip.c counted; -1: none */
  tf_result res;             /* arrays */
  struct tf_why_log *log;    /* of what follows */
  /* The exact walk tells every entry of slice i in one instance, loops where scratch.cur says; NULL: nobody asks. */
  void (*note)(struct tf_model *m, int i, const tf_move *v);
  int entry_class; /* while it tells: the class of the entry, in slice i's classes */
};

/* What slice s, in memory mem, moves for what enters. */
tf_move tf_move_of(const tf_slice *s, const tf_memory *mem, tf_entry e);
/* Fills class_steps of the Tiles with entries, by multiplying trip counts: right where nothing idles. */
void tf_class_steps(struct tf_model *m);
/* Adds what slice i moves in class c of its entries to the cells of its Tile; needs class_steps. */
void tf_cells_add(struct tf_model *m, int i, int c, const tf_move *v);
/* The same for one row of its Tile. */
void tf_cells_add_row(struct tf_model *m, int i, int row, const tf_move *v);
/* Takes out of the moves and points what streaming puts off to the last step. */
void tf_defer_divisions(struct tf_model *m);
/* Streaming's corrections: points on their units, and what they add to the counts (DECISIONS 11). */
bool tf_count_stream(struct tf_model *m);
/* Adds the words of the corrections to what their scopes cause. */
void tf_stream_ports(struct tf_model *m);
/* Fills below and in_use. */
void tf_ports_fill(struct tf_model *m);
/* Of a pass (of views); needs tf_ports_fill. */
tf_pace tf_pace_at(const struct tf_model *m, int pass);
/* The longest time that a port needs for what node n and those below it cause, of those that bind (all: of all of
 * them): no completion takes less. */
double tf_busiest_port(const struct tf_model *m, int n, bool all);
/* What Tile v's own entries move through one of its legs, over the run. */
tf_ports tf_leg_ports(const struct tf_model *m, const tf_view *v, int leg);
/* Time of op o's points, and of its corrections, on the units that run them. */
double tf_work_time(const struct tf_model *m, int o);
/* Instances and cycles of memory l over the whole run; *writes: its write port is the busier one. */
void tf_level_ports(struct tf_model *m, int l, bool *writes);
/* Of what all runs that share a memory leave in `box`, the words that one instance of z's home has. */
int64_t tf_home_share(struct tf_model *m, int z, const tf_ival *box);
/* Peaks, violations. */
void tf_resources(struct tf_model *m, tf_result *out);
/* Cycles of every node, ports, instances, bottleneck. */
void tf_latency(struct tf_model *m, tf_result *out);
void tf_energy(struct tf_model *m, tf_result *out);
#endif
