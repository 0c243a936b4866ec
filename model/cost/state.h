/* The parts of an evaluation, in the order in which they are filled. */
#ifndef MODEL_COST_STATE_H
#define MODEL_COST_STATE_H
#include "model/cost/open.h"
#include "model/cost/view.h"
#include "model/flow/range.h"
#include "model/layout/place.h"

/* Words that one slice moves over the run: at its own level, and at the level that serves it. */
typedef struct {
  int64_t fill, drain;  /* own level; none for leaves (ops) */
  int64_t read, update; /* serving level */
} tf_move;

/* The same words, for the ports of the busiest instance: fill and drain of the slice's own memory,
 * read and update of the serving one (busy.c). */
typedef struct {
  double fill, drain, read, update;
} tf_flow;

/* Words that enter: over all instances, over sharing groups, and (for results of ops below) for the
 * first time. */
typedef struct {
  int64_t all, groups, first;
} tf_entry;

/* Words through the two ports of one instance of a memory, in words of that memory. */
typedef struct {
  double read, write;
} tf_ports;

static inline double tf_port_time(tf_port_rate p, tf_ports w) {
  double read = w.read * p.read, write = w.write * p.write;
  return p.one_port ? read + write : read > write ? read : write;
}

/* Where transfers overlap steps: the m-tiles at and below a node whose entries come first and last
 * (-1: none); the first load of the first; and the time at the node's end during which only the
 * last step of the last works. */
typedef struct {
  int first, last;
  double load, room;
} tf_overlapping;

/* Points by which streaming corrects running results, or divides at the end: on which unit, and how
 * many units. */
typedef struct {
  int64_t points, units;
  int unit;
} tf_correction;

/* A part of a mesh: its sides in X and Y. */
typedef struct {
  int64_t side[2];
  int node; /* what stands in it */
} tf_rect;

/* Where a node stands on a mesh that stages share: the corner of its rectangle in its scope's, and
 * of a scope the sides of all its rectangles together; 0: it places nothing. */
typedef struct {
  int64_t at[2], block[2];
} tf_spot;

/* Words that each instance moves, if a walk has seen a later one load more than the first: row k is
 * that of the k-th kind of instance of every memory (model/flow/kinds.h).  The busiest is then the
 * maximum over the rows (busy.c). */
typedef struct {
  tf_arena *arena;
  int n;            /* rows */
  tf_flow *flows;   /* [n * n_slices] */
  tf_flow *entered; /* [n * views->n_entered] of the flows, by rows of the Tile */
  tf_ports *cells;  /* [n * views->n_cells] */
  double *rescaled; /* [n * 2 * n_ops] rescaled_flow */
  tf_ports *below;  /* [views->n_passes] of the current row */
  tf_ports
      *most; /* [views->n_passes] the maximum over the rows, of passes in an m-tile's instances */
} tf_each;

enum { TF_MAX_SHELF = 4096 }; /* shelves in shelves are tried up to this length (mesh.c) */

/* What is counted of a held tensor: its words; the words that a format is expected to keep; those
 * if no element is zero; those that are exceeded with a given probability. */
typedef enum { TF_SIZE_WORDS, TF_SIZE_KEPT, TF_SIZE_MOST, TF_SIZE_LIKELY } tf_sizing;

/* A unit's access to an operand in the current step of the walk, at the instance that serves it. */
typedef struct {
  size_t server;
  bool reads; /* a result: it is also read */
  int64_t coords[TF_MAX_RANK];
} tf_line_access;

/* Where memories have lines (exact/lines.h, eval/lines_even.h). */
struct tf_lines {
  tf_move *moved, *cycles;      /* [n_slices] lines, and cycles of banks, as words in moves */
  tf_ports *below, *concurrent; /* [views->n_passes] cycles of banks, as words in below and
                                   concurrent of the model */
  int64_t *room;                /* [views->n_ranks] largest extents held by m-tiles, by rank */
  bool noting;                  /* a walk records every access */
  bool walked;                  /* a walk has recorded them */
  bool failed;                  /* a sum exceeds 2^63 - 1, or there is too much to examine */
  tf_line_set set;
  tf_line_access *step; /* accesses of one operand in a step */
  int64_t n_step;
  struct tf_line_log *log; /* exact/line_log.h; NULL: nothing is recorded yet */
  tf_lines_result res;
};

struct tf_model {
  tf_arena *arena;
  tf_plan *plan;
  tf_views *views;
  tf_eval ev;
  int64_t walk_max; /* most steps of an exact walk */
  bool to_walk;     /* evaluations walk, even where a count applies */
  bool to_sum;      /* the quick count is not used */
  bool estimates;   /* where the walk gives up, whole tiles are counted */
  bool fills;       /* the quick count takes partial tiles to be whole */
  bool fits_first;  /* the quick count omits mappings that do not fit */
  bool whole_tiles; /* the quick count takes every step to have a whole tile, even beyond a range */
  int64_t *own_trip;      /* [n_loops] the tree's trip counts */
  struct tf_cover *cover; /* whether trip counts cover the ranges; created with scratch.boxes */
  tf_scratch scratch;
  tf_move *moves;  /* [n_slices] */
  tf_flow *flows;  /* [n_slices] */
  tf_ports *cells; /* [views->n_cells] per Tile, words through its legs, [row * n_legs + leg]; row:
                      the steps in which that loop steps; the last row: the first step */
  double *class_steps; /* [views->n_rows] with double buffering, per Tile: the number of steps in
                          which the loop of each row steps; the last row: 1, the first step */
  tf_overlapping *overlaps; /* [n_nodes] with double buffering */
  tf_ports *hidden; /* [views->n_legs] with double buffering, per Tile: words of its first load that
                       pass the leg before the Tile begins */
  tf_ports *below;  /* [views->n_passes] words that the node and those below it move in the busiest
                       instance */
  tf_ports *concurrent; /* [views->n_passes] of its children that run at once in instances of their
                      own, the busiest */
  int64_t *in_use;      /* [views->n_passes] instances in use at once; 0: none of its own */
  tf_correction *corrections; /* [2 * op] in every run of the scope that streams op, [2 * op + 1]
                                 its deferred divisions */
  int64_t *steps;             /* [n_nodes] moments */
  int64_t *width;     /* [n_nodes] the most instances of the path's spatial loops in use at once */
  bool first_busiest; /* the busiest instance counts: the first, or as `each` says (busy.c); else
                         the mean one */
  struct tf_peers
      *peers; /* peers.h; NULL: no memory takes words from its neighbours, or there was no walk */
  tf_each *each;     /* NULL: the first instance is the busiest, or the mean one counts */
  bool by_steps;     /* cells are needed: the architecture overlaps step by step */
  int64_t *rank_len; /* [views->n_ranks] largest extents of m-tile slices */
  int64_t *box;      /* [n_tile_slices] their words; saturating */
  int64_t *at_once;  /* [node] the most bits that an m-tile holds at one moment; -1: its slices are
                        largest at the same moment */
  int64_t *home_digit;          /* [n_loops] settings used by home.c */
  bool *home_stand;             /* [n_loops] used by home.c: false */
  const tf_slice **home_slices; /* [n_at_home] those of one tensor */
  int64_t *home_words; /* [n_tensors] slice of one iteration of the home scope; inputs and outputs:
                          the whole tensor */
  int64_t *rescaled; /* [2 * op] words of a streamed output rescaled in every run of the scope, [2 *
                        op + 1] in one run per production */
  double *rescaled_flow;    /* [2 * op] the same in the busiest instance that holds them */
  struct tf_most *most;     /* general/most.h; NULL: no borders, or not created yet */
  struct tf_even *even;     /* tables of the quick count; NULL: it never applies */
  struct tf_uneven *uneven; /* its tables for partial tiles; NULL: not created yet */
  bool partly_counted; /* in this evaluation closed sums have counted the nodes and slices marked
                  here; the rest is left to the general count */
  bool *counted_node;  /* [n_nodes] */
  bool *counted;       /* [n_slices + n_ops] slices, and streamed outputs */
  /* [n_slices] if partly counted, of what neighbours hand on: positions of loops at whose first
   * step alone a retaining scope enters the slice; ~0: not known */
  uint64_t *still;
  bool quick;       /* whether the last evaluation was a quick one */
  bool partial;     /* the quick count may have had partial tiles */
  bool mixed_steps; /* at these trip counts, ops that share a loop advance by different steps */
  int64_t walked;   /* steps that the last evaluation walked; 0: none */
  int64_t chosen;   /* settings at which the sums over digits added a box, including cached ones */
  bool estimated;   /* the last evaluation took tiles to be whole */
  bool starved;     /* an allocation outside the arena failed */
  bool gave_up;     /* the last evaluation needed a walk, and did not make it */
  tf_sizing sizing; /* what is counted of held tensors */
  double doubt;     /* LIKELY: the probability that a tile exceeds its size */
  const bool *in_blocks;   /* LIKELY: [tensor] all m-tiles hold whole blocks of its density */
  const tf_mem_part *part; /* count only this part of the memory; NULL: all of it */
  bool means;              /* the mean instance counts */
  struct tf_model *bare;   /* without `retain` (model/eval/bare.h); NULL: not created, or no use */
  bool bare_made, as_bare; /* as_bare: the last evaluation was made by that model */
  bool *holding;          /* [n_loops] of `bare`: steps of the loop find part of what is retained */
  struct tf_zeros *zeros; /* zeros.h; NULL: zeros save nothing */
  struct tf_lines *lines; /* NULL: no memory has lines */
  struct tf_tape *lanes;  /* quick/lanes.h; NULL: not created yet, or not applicable */
  bool lanes_made;
  struct tf_tape *uneven_lanes; /* the same for rows that leave remainders */
  bool uneven_lanes_made;
  const tf_open *open;       /* the undecided part; NULL: none */
  int64_t *value, *lo, *len; /* values of even's products and ranges */
  int64_t *outer;            /* [n_loops] moments of the loops outside the loop */
  tf_rect *rects;            /* [n_ops] rectangles on a mesh while it is placed */
  tf_spot *spots;   /* [mesh * n_nodes + node] where stages stand on networks; NULL: nowhere */
  double **columns; /* [level] words on the links of each column (network.c); NULL: all alike */
  uint32_t placed;  /* levels whose stages have found their places */
  int clipped;      /* the m-tile of the last slice that quick/clip.c counted; -1: none */
  tf_result res;    /* its arrays */
  struct tf_why_log *log; /* for `note` */
  /* Called by the exact walk for every entry of slice i in one instance, with the loops at
   * scratch.cur; NULL: not called. */
  void (*note)(struct tf_model *m, int i, const tf_move *v);
  /* The words that `note` has added up in a row; NULL: there is no such row.  A NULL function: the
   * walk must report every entry. */
  tf_counts *(*noted)(struct tf_model *m, int row);
  int entry_class; /* during `note`: the class of the entry among slice i's classes */
};

/* Whether memory `level` has lines. */
static inline bool tf_has_lines(const struct tf_model *m, int level) {
  return m->plan->arch->memories[level].line > 0;
}
/* Cycles of banks; a memory with one port adds reads and writes. */
static inline double tf_bank_time(const tf_memory *mem, tf_ports w) {
  if (mem->one_port) return w.read + w.write;
  return w.read > w.write ? w.read : w.write;
}
/* Cycles of banks that a pass needs. */
static inline double tf_lines_time(const struct tf_model *m, int pass) {
  return tf_bank_time(&m->plan->arch->memories[m->views->passes[pass].level],
                      m->lines->below[pass]);
}

/* The model that made the last evaluation. */
static inline const struct tf_model *tf_evaluated(const struct tf_model *m) {
  return m->as_bare ? m->bare : m;
}
/* What slice s, in memory mem, moves for the words that enter. */
tf_move tf_move_of(const tf_slice *s, const tf_memory *mem, tf_entry e);
/* Fills class_steps of the Tiles with entries by multiplying trip counts, which is correct if
 * nothing is idle. */
void tf_class_steps(struct tf_model *m);
/* The same for node n. */
void tf_node_class_steps(struct tf_model *m, int n);
/* Adds what slice i moves in class c of its entries to the cells of its Tile; needs class_steps. */
void tf_cells_add(struct tf_model *m, int i, int c, const tf_flow *v);
/* Adds what slice i moves to a row of its Tile, which begins at `cell`. */
static inline void tf_cell_add(const tf_views *w, int i, tf_ports *cell, const tf_flow *v,
                               double share) {
  const double own = share * w->own[i], up = share * w->up[i];
  tf_ports *leg = &cell[w->leg[i]];
  cell->write += own * v->fill;
  cell->read += own * v->drain;
  leg->read += up * v->read;
  leg->write += up * v->update;
}
/* The same for the entries of all m-tile slices by rows: entered[views->n_entered]. */
void tf_cells_add_all(struct tf_model *m, const tf_flow *entered);
/* Words that an instance moves if all move equally many; needs width. */
tf_flow tf_mean_flow(const struct tf_model *m, int i, const tf_move *v);
/* Words that the busiest instances move; e[TF_N_SIDES]: words that enter slice i; the first
 * instance is the busiest unless they say otherwise. */
tf_flow tf_flow_of(const struct tf_model *m, int i, const tf_entry *e);
/* Fills rescaled_flow of op o as if all instances had the same; needs rescaled and width. */
void tf_rescaled_share(struct tf_model *m, int o);
void tf_flow_add(tf_flow *sum, const tf_flow *v);
/* Room for so many rows, all 0; NULL: out of memory. */
tf_each *tf_each_new(const struct tf_model *m, int n);
void tf_each_free(tf_each *k);
/* The model as if row k were what the busiest instance moves. */
struct tf_model tf_each_model(const struct tf_model *m, int k);
/* Takes the cells of every Tile's legs from the rows in which the total of a leg is largest. */
void tf_each_cells(struct tf_model *m);
/* Removes from the moves and points those that streaming defers or drops. */
void tf_put_off(struct tf_model *m);
/* Adds the corrections of streaming: points on their units, and their words (SEMANTICS D11). */
bool tf_count_stream(struct tf_model *m);
/* Adds the words of the corrections to their scopes; needs in_use. */
void tf_stream_ports(struct tf_model *m);
/* Fills below and in_use. */
void tf_ports_fill(struct tf_model *m);
/* The rate of a pass (of views). */
static inline tf_port_rate tf_port_rate_at(const struct tf_model *m, int pass) {
  return m->views->port_rate[m->views->passes[pass].level];
}
/* A lower bound on node n's time: the longest time that a port needs for the words of n and of
 * those below it, over the passes that bind (all: over all passes).  first: the m-tile whose hidden
 * words have passed before; -1: none have. */
double tf_busiest_port(const struct tf_model *m, int n, bool all, int first);
/* Words that Tile v's own entries move through one of its legs, over the run, in the busiest
 * instance; each direction by itself. */
tf_ports tf_leg_ports(const struct tf_model *m, const tf_view *v, int leg);
/* Time of op o's points, and of its corrections, on the units that run them. */
double tf_work_time(const struct tf_model *m, int o);
/* Instances and busy cycles of memory l over the whole run; *writes: its write port is the busier
 * one. */
void tf_level_ports(struct tf_model *m, int l, bool *writes);
/* The words of `box`, which all runs that share a memory leave, that one instance of z's home
 * holds. */
int64_t tf_home_share(struct tf_model *m, int z, const tf_ival *box);
/* Whether the memory holds the tensor in a format. */
bool tf_is_packed(const struct tf_model *m, int level, int tensor);
/* Bits of a memory, or of `part` of it, for so many words of a tensor, as `sizing` says. */
int64_t tf_held_bits(const struct tf_model *m, int level, int tensor, int64_t words);
/* Whether the held words of slice i, or of a tensor where it lives, count for `part`. */
static inline bool tf_counts_slice(const struct tf_model *m, int i) {
  return !m->part || m->views->part[i] == m->part;
}
static inline bool tf_counts_home(const struct tf_model *m, int z) {
  return !m->part || m->views->at_home[z] == m->part;
}
/* Fills the words of each part of each memory. */
void tf_parts_fill(struct tf_model *m);
/* Bits of inputs and outputs that live in an inner memory, in each of its instances; fills
 * home_words of them. */
int64_t tf_home_bits(struct tf_model *m, int level);
void tf_home_rooms(struct tf_model *m);
/* Words that one instance of the memory must hold at one moment; a tile exceeds its share with
 * probability m->doubt. */
int64_t tf_likely_words(struct tf_model *m, int level);
/* Records what does not fit. */
void tf_violate(tf_result *out, tf_violation v);
/* Records the meshes that are too small. */
void tf_meshes_check(struct tf_model *m, tf_result *out);
/* Fills peaks and violations. */
/* Finds m->spots of a mesh; false, and all 0: the mapping does not fit.  (mesh.c) */
bool tf_mesh_place(struct tf_model *m, int mesh);
void tf_resources(struct tf_model *m, tf_result *out);
/* Fills cycles of every node, ports, instances and the bottleneck. */
void tf_latency(struct tf_model *m, tf_result *out);
void tf_energy(struct tf_model *m, tf_result *out);
#endif
