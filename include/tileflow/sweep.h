/* Sweeps: a grid of machines and workloads, one result a point, in a store that survives (docs/HOWTO-sweep.md). */
#ifndef TILEFLOW_SWEEP_H
#define TILEFLOW_SWEEP_H
#include "tileflow/search.h"

/* How a point's figures are found; key in the section. */
#define TF_SWEEP_METHODS(X) X(BOUND, "bound") X(EVAL, "eval") X(CLOSED, "closed") X(SOLVE, "solve") X(SEARCH, "search")
typedef enum {
#define X(id, key) TF_SWEEP_##id,
  TF_SWEEP_METHODS(X)
#undef X
      TF_N_SWEEP_METHODS
} tf_sweep_method;
const char *tf_sweep_method_key(int method); /* NULL past the last */

/* What the front is of; key, column of the store.  All are to be small. */
#define TF_GOALS(X)                                                                                                    \
  X(CYCLES, "cycles", "cycles")                                                                                        \
  X(SECONDS, "seconds", "seconds")                                                                                     \
  X(ENERGY, "energy", "energy_pj")                                                                                     \
  X(EDP, "edp", "edp") X(TRAFFIC, "traffic", "traffic_words") X(AREA, "area", "area_um2")
typedef enum {
#define X(id, key, column) TF_GOAL_##id,
  TF_GOALS(X)
#undef X
      TF_N_GOALS
} tf_goal;
const char *tf_goal_key(int goal);    /* NULL past the last */
const char *tf_goal_column(int goal); /* the same */

/* A file of the grid. */
typedef struct {
  const char *name; /* of its section; where two files give the same name, the file's */
  const char *file; /* as the sweep names it */
  double weight;    /* of a workload */
} tf_sweep_file;

/* Params that walk together; several where they are zipped. */
typedef struct {
  int n_params, n;
  const char **params; /* [n_params] */
  double *values;      /* [n * n_params] */
  bool of_workload;    /* they are a workload's: else the machine's */
} tf_sweep_axis;

/* Points are numbered machine * n_cases + case.  A machine is an architecture with params of its own, the architecture
 * outermost, then the axes in the order of the section, the last fastest; a case is a workload with its params, and a
 * mapping where the sweep has some, in the same order. */
typedef struct {
  const char *name;
  tf_sweep_method method;
  int n_goals;
  tf_goal goals[TF_N_GOALS];
  double within;  /* a machine is not solved where a result is, at no more area, at most this share above its bounds */
  bool geometric; /* a machine's score is the weighted geometric mean over its workloads; else their weighted sum */
  int n_archs, n_workloads, n_mappings;
  tf_sweep_file *archs, *workloads, *mappings;
  int n_axes;
  tf_sweep_axis *axes;
  int64_t n_machines, n_cases;
  int64_t n_works, *works; /* cases that pass the conditions, ascending; a machine has a row for each of these */
} tf_sweep_grid;

/* What a machine or a case is made of: the files, and the position on each axis (-1: not one of its axes). */
enum { TF_SWEEP_AXES = 32 };
typedef struct {
  int arch, workload, mapping; /* mapping -1: none */
  int at[TF_SWEEP_AXES];
} tf_sweep_place;
tf_sweep_place tf_sweep_place_of(const tf_sweep_grid *g, int64_t point);

/* ---- results ------------------------------------------------------------------------ */
#define TF_POINT_STATES(X)                                                                                             \
  X(FOUND, "found")     /* figures are those of a mapping; method bound: the bounds */                                 \
  X(NONE, "none")       /* no mapping that fits was found */                                                           \
  X(SKIPPED, "skipped") /* its machine's bounds are beaten by a result: not looked for */                              \
  X(INVALID, "invalid") /* these params give no sound input, or the mapping does not stand; see message */
typedef enum {
#define X(id, key) TF_POINT_##id,
  TF_POINT_STATES(X)
#undef X
      TF_N_POINT_STATES
} tf_point_state;
const char *tf_point_state_key(int state); /* NULL past the last */

/* A count of one tensor in one memory. */
typedef struct {
  const char *level, *tensor;
  tf_counts words;
} tf_sweep_count;

typedef struct {
  int64_t point;
  tf_point_state state;
  double figures[TF_N_GOALS]; /* NAN where there is none; area: whatever the state, where the input is sound */
  double bounds[TF_N_GOALS];  /* of all mappings on this machine */
  double held_words;          /* NAN: not known */
  bool proved;                /* no mapping of the solver's space is better */
  int64_t evals;
  double took;                                /* seconds */
  const char *bottleneck, *message, *mapping; /* NULL: none */
  int n_counts;
  const tf_sweep_count *counts;
} tf_sweep_row;

/* ---- the store ---------------------------------------------------------------------- */
typedef struct tf_sweep tf_sweep;
typedef struct tf_store tf_store;

/* Reads the section `sweep` and all files that it names, from the folder of the file that has it; the other files join
 * every point.  Borrows the settings.  NULL with every error in d. */
tf_sweep *tf_sweep_read(const char *const *paths, size_t n_paths, const tf_setting *set, size_t n_set, tf_diags *d);
void tf_sweep_free(tf_sweep *s);
const tf_sweep_grid *tf_sweep_grid_of(const tf_sweep *s);

/* Opens the store of this sweep, making it where there is none.  A file that is no store, is damaged, of a newer
 * version or of other inputs is an error (E_STORE) that says what differs, and is left as it is.  NULL with the errors
 * in d. */
tf_store *tf_store_of(const char *path, const tf_sweep *s, tf_diags *d);
/* Opens a store that is there; writing is not needed. */
tf_store *tf_store_open(const char *path, tf_diags *d);
void tf_store_close(tf_store *s);
const tf_sweep_grid *tf_store_grid(const tf_store *s);

/* Calls row for each result, ascending by point; false of it ends the walk.  Texts of a row live until the call
 * returns; counts are not given.  False with an error in d where the file cannot be read. */
bool tf_store_rows(tf_store *s, bool (*row)(void *ctx, const tf_sweep_row *r), void *ctx, tf_diags *d);
/* The mapping of a point, malloc'd; NULL: it has none. */
char *tf_store_mapping(tf_store *s, int64_t point, tf_diags *d);
/* Takes the rows of another store of the same sweep that this one lacks, and those of points that it skipped.  *taken:
 * how many. */
bool tf_store_merge(tf_store *s, const char *path, int64_t *taken, tf_diags *d);

/* ---- running ------------------------------------------------------------------------ */
typedef struct {
  int64_t done, total; /* points: in the store, of the grid (or of the shard) */
  int64_t found;       /* since it began */
  double seconds;
  double best; /* of the first objective, one machine's score; INFINITY: none yet */
  int front;   /* machines that no other beats; -1: too many to follow */
} tf_sweep_progress;

/* A message between processes that work on one sweep. */
typedef struct {
  char *at; /* owned */
  size_t n, room, read;
} tf_bytes;
void tf_bytes_free(tf_bytes *b);

/* Other processes of the same build that were given the same files, each of which runs tf_sweep_serve. */
typedef struct {
  int n;                                                                /* 0: none */
  bool (*ask)(void *ctx, int worker, tf_bytes *what, tf_bytes *answer); /* 0 .. n - 1, each from a thread of its own;
                                                                           sends and waits; an empty message is not
                                                                           answered. False: it is not there any more */
  void *ctx;
} tf_sweep_crew;

typedef struct {
  int threads; /* 0: one for each processor */
  tf_sweep_crew crew;
  int shard, shards;       /* this process takes every shards-th machine, from the shard-th (1 .. shards); 0: all */
  bool full;               /* points are solved that bounds would skip, too */
  double time_limit;       /* seconds, after which no point is begun; 0: none */
  bool (*stop)(void *ctx); /* may be NULL: a point under way is given up, too */
  void (*progress)(void *ctx, const tf_sweep_progress *p); /* may be NULL */
  void *ctx;
} tf_sweep_opts;

/* Finds what the store lacks.  The rows are the same with any number of threads, and however often it was stopped or
 * killed on the way.  False with an error in d; what was found until then is in the store. */
bool tf_sweep_run(const tf_sweep *s, tf_store *store, const tf_sweep_opts *o, tf_sweep_progress *last, tf_diags *d);
/* Works for a process that runs the sweep, as one of its crew: `listen` waits for what it asks (an empty message: the
 * end), `answer` sends what was found.  Of the options only `stop` counts.  False: it was stopped, or memory ran out.
 */
typedef struct {
  bool (*listen)(void *ctx, tf_bytes *what);
  bool (*answer)(void *ctx, const tf_bytes *found);
  void *ctx;
} tf_sweep_owner;
bool tf_sweep_serve(const tf_sweep *s, const tf_sweep_owner *owner, const tf_sweep_opts *o);

/* ---- machines and their front --------------------------------------------------------- */
typedef struct {
  int64_t machine;
  double score[TF_N_GOALS]; /* by goal; area: its own.  NAN: not all its points have a mapping */
  double bound[TF_N_GOALS]; /* no mappings on this machine score less; NAN: not known */
  double gap[TF_N_GOALS]; /* of a machine of the front: how much less (0.2: a sixth) another one could still have while
                             no worse in the others; 0: proved */
  bool front;             /* none is better in one objective and no worse in the others */
} tf_sweep_machine;

typedef struct {
  int64_t n;                                   /* machines of which the store has a row */
  tf_sweep_machine *machines;                  /* ascending */
  int64_t points, by_state[TF_N_POINT_STATES]; /* rows */
  int64_t n_front, proved;                     /* proved: of these, with gap 0 */
  int64_t skipped, beaten, open; /* machines not on the front: never solved; solved, though bounds alone leave them out;
                                    those that a better mapping could still bring there */
} tf_sweep_summary;

/* Scores all machines.  NULL with an error in d. */
tf_sweep_summary *tf_sweep_summary_of(tf_store *s, tf_diags *d);
void tf_sweep_summary_free(tf_sweep_summary *s);

/* ---- conditions ------------------------------------------------------------------------ */
typedef struct tf_condition tf_condition;
/* A condition on the columns of `results --csv`: "l1_kib <= 512 and cycles < 1e6 and workload == 'g1'".  NULL with
 * located errors in d. */
tf_condition *tf_condition_read(const char *text, const tf_store *s, tf_diags *d);
bool tf_condition_holds(const tf_condition *c, const tf_sweep_grid *g, const tf_sweep_row *r);
void tf_condition_free(tf_condition *c);
#endif
