/* Sweeps: a grid of machines and workloads, one result per point, in a persistent store
 * (docs/HOWTO-sweep.md). */
#ifndef TILEFLOW_SWEEP_H
#define TILEFLOW_SWEEP_H
#include "tileflow/search.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the figures of a point are found; key in the section. */
#define TF_SWEEP_METHODS(X)                                                                        \
  X(BOUND, "bound") X(EVAL, "eval") X(CLOSED, "closed") X(SOLVE, "solve") X(SEARCH, "search")
typedef enum {
#define X(id, key) TF_SWEEP_##id,
  TF_SWEEP_METHODS(X)
#undef X
      TF_N_SWEEP_METHODS
} tf_sweep_method;
TF_API const char *tf_sweep_method_key(int method); /* NULL past the last */

/* The objectives of the front; key, column of the store.  All are minimised. */
#define TF_GOALS(X)                                                                                \
  X(CYCLES, "cycles", "cycles")                                                                    \
  X(SECONDS, "seconds", "seconds")                                                                 \
  X(ENERGY, "energy", "energy_pj")                                                                 \
  X(EDP, "edp", "edp") X(TRAFFIC, "traffic", "traffic_words") X(AREA, "area", "area_um2")
typedef enum {
#define X(id, key, column) TF_GOAL_##id,
  TF_GOALS(X)
#undef X
      TF_N_GOALS
} tf_goal;
TF_API const char *tf_goal_key(int goal);    /* NULL past the last */
TF_API const char *tf_goal_column(int goal); /* the same */

/* A file of the grid. */
typedef struct {
  const char *name; /* of its section; if two files have the same name, the file's name */
  const char *file; /* as the sweep writes it */
  double weight;    /* of a workload */
} tf_sweep_file;

/* An axis: params that vary together; several if they are zipped. */
typedef struct {
  int n_params, n;
  const char **params; /* [n_params] */
  double *values;      /* [n * n_params] */
  bool of_workload;    /* they belong to a workload; otherwise to the machine */
} tf_sweep_axis;

/* Points are numbered machine * n_cases + case.  A machine is an architecture with its own params:
 * the architecture varies slowest, then the axes in the order of the section, the last one fastest.
 * A case is a workload with its params, and a mapping if the sweep has some, in the same order. */
typedef struct {
  const char *name;
  tf_sweep_method method;
  int n_goals;
  tf_goal goals[TF_N_GOALS];
  double within;  /* a machine is not solved if some result of no more area is at most this share
                     above its bounds */
  bool geometric; /* a machine's score is the weighted geometric mean over its workloads; otherwise
                     their weighted sum */
  int n_archs, n_workloads, n_mappings;
  tf_sweep_file *archs, *workloads, *mappings;
  int n_axes;
  tf_sweep_axis *axes;
  int64_t n_machines, n_cases;
  int64_t n_passing; /* machines that meet the conditions */
  int64_t n_jobs,
      *jobs; /* cases that meet the conditions, ascending; a machine has a row for each of them */
} tf_sweep_grid;

/* The components of a machine or a case: its files, and its position on each axis (-1: not one of
 * its axes). */
enum { TF_SWEEP_AXES = 32 };
typedef struct {
  int arch, workload, mapping; /* mapping -1: none */
  int at[TF_SWEEP_AXES];
} tf_sweep_place;
TF_API tf_sweep_place tf_sweep_place_of(const tf_sweep_grid *g, int64_t point);

/* ---- results ------------------------------------------------------------------------ */
#define TF_POINT_STATES(X)                                                                         \
  X(FOUND, "found")     /* figures of a mapping; method bound: the bounds */                       \
  X(NONE, "none")       /* no mapping that fits was found */                                       \
  X(SKIPPED, "skipped") /* some result dominates its machine's bounds: not searched */             \
  X(INVALID,                                                                                       \
    "invalid") /* these params give no valid input, or the mapping is illegal; see message */
typedef enum {
#define X(id, key) TF_POINT_##id,
  TF_POINT_STATES(X)
#undef X
      TF_N_POINT_STATES
} tf_point_state;
TF_API const char *tf_point_state_key(int state); /* NULL past the last */

/* A count of one tensor in one memory. */
typedef struct {
  const char *level, *tensor;
  tf_counts words;
} tf_sweep_count;

typedef struct {
  int64_t point;
  tf_point_state state;
  double figures[TF_N_GOALS]; /* NAN: none; area: in any state, if the input is valid */
  double bounds[TF_N_GOALS];  /* lower bounds for all mappings on this machine */
  double held_words;          /* NAN: not known */
  bool proved;                /* no mapping of the solver's space is better */
  int64_t evals;
  double took;                                /* in seconds */
  const char *bottleneck, *message, *mapping; /* NULL: none */
  int64_t mapping_of; /* the point whose own search found the mapping, where that is another one;
                         -1: this one */
  int n_counts;
  const tf_sweep_count *counts;
} tf_sweep_row;

/* ---- the store ---------------------------------------------------------------------- */
typedef struct tf_sweep tf_sweep;
typedef struct tf_store tf_store;

/* Reads the section `sweep` and all files that it names, relative to the folder of the file that
 * has it; the other files belong to every point.  Borrows the settings.  NULL with every error in
 * d. */
TF_API tf_sweep *tf_sweep_read(const char *const *paths, size_t n_paths, const tf_setting *set,
                               size_t n_set, tf_diags *d);
TF_API void tf_sweep_free(tf_sweep *s);
TF_API const tf_sweep_grid *tf_sweep_grid_of(const tf_sweep *s);

/* Opens the store of this sweep, or creates it.  A file that is no store, is damaged, of a newer
 * version, or of other inputs is an error (E_STORE) that says what differs, and is left unchanged.
 * NULL with the errors in d. */
TF_API tf_store *tf_store_of(const char *path, const tf_sweep *s, tf_diags *d);
/* Opens an existing store; read access is enough. */
TF_API tf_store *tf_store_open(const char *path, tf_diags *d);
TF_API void tf_store_close(tf_store *s);
TF_API const tf_sweep_grid *tf_store_grid(const tf_store *s);

/* Calls row for each result, by ascending point, until it returns false.  Texts of a row live until
 * the call returns; counts are not given.  False with an error in d where the file cannot be read.
 */
TF_API bool tf_store_rows(tf_store *s, bool (*row)(void *ctx, const tf_sweep_row *r), void *ctx,
                          tf_diags *d);
/* The mapping of a point, malloc'd, the caller frees; NULL: none. */
TF_API char *tf_store_mapping(tf_store *s, int64_t point, tf_diags *d);
/* Copies from another store of the same sweep the rows that this one lacks, or has as skipped.
 * *taken: how many. */
TF_API bool tf_store_merge(tf_store *s, const char *path, int64_t *taken, tf_diags *d);

/* ---- running ------------------------------------------------------------------------ */
typedef struct {
  int64_t done, total; /* points in the store; points of the grid (or of the shard) */
  int64_t found;       /* since this run began */
  double seconds;
  double best; /* the best score of a machine by the first objective; INFINITY: none yet */
  int front;   /* number of machines on the front; -1: too many to track */
  int64_t tried, to_try; /* points at which mappings of other machines were tried, once all are
                            found; of how many */
} tf_sweep_progress;

/* A message between processes that work on one sweep. */
typedef struct {
  char *at; /* owned */
  size_t n, room, read;
} tf_bytes;
TF_API void tf_bytes_free(tf_bytes *b);

/* Other processes of the same build with the same files, each of which runs tf_sweep_serve. */
typedef struct {
  int n; /* 0: none */
  bool (*ask)(void *ctx, int worker, tf_bytes *what,
              tf_bytes *answer); /* worker: 0 .. n - 1, each called from a thread of its own; sends
                                    `what` and waits for the answer; an empty message has no answer.
                                    False: the process is gone */
  void *ctx;
} tf_sweep_workers;

typedef struct {
  int threads; /* 0: one for each processor */
  tf_sweep_workers workers;
  int shard, shards; /* this process takes every shards-th machine, from the shard-th (1 .. shards);
                        0: all */
  bool full;         /* also solve points that bounds would skip */
  double time_limit; /* in seconds; after it no point is begun; 0: none */
  bool (*stop)(void *ctx); /* may be NULL; also interrupts the current point */
  void (*progress)(void *ctx, const tf_sweep_progress *p); /* may be NULL */
  void *ctx;
} tf_sweep_opts;

/* Computes what the store lacks.  Once it has all points (of the shard), the mappings that searches
 * found are tried on every other machine, and a point takes the one that is best there.  The rows
 * are the same with any number of threads, and however often the run was stopped or killed.  False
 * with an error in d; what was computed until then is in the store. */
TF_API bool tf_sweep_run(const tf_sweep *s, tf_store *store, const tf_sweep_opts *o,
                         tf_sweep_progress *last, tf_diags *d);
/* Works for a process that runs the sweep, as one of its workers: `listen` waits for a request (an
 * empty message: the end), `answer` sends the result.  Of the options only `stop` is used.  False:
 * it was stopped, or memory ran out. */
typedef struct {
  bool (*listen)(void *ctx, tf_bytes *what);
  bool (*answer)(void *ctx, const tf_bytes *found);
  void *ctx;
} tf_sweep_owner;
TF_API bool tf_sweep_serve(const tf_sweep *s, const tf_sweep_owner *owner, const tf_sweep_opts *o);

/* ---- machines and their front --------------------------------------------------------- */
typedef struct {
  int64_t machine;
  double score[TF_N_GOALS]; /* by goal; area: its own.  NAN: not all its points have a mapping */
  double bound[TF_N_GOALS]; /* lower bounds on the score for any mappings on this machine; NAN: not
                               known */
  double gap[TF_N_GOALS]; /* of a machine on the front: how much less (0.2: a sixth) another machine
                             of the store could still have in one objective while no worse in the
                             others; 0: nothing */
  bool front;             /* no machine is better in one objective and no worse in the others */
  bool proved;            /* on the front, without a gap, and no machine of the grid is missing */
} tf_sweep_machine;

typedef struct {
  int64_t n; /* machines with a row in the store */
  int64_t
      n_whole; /* those with a row for each workload; n_passing of them: no machine is missing */
  tf_sweep_machine *machines;                  /* by ascending number */
  int64_t points, by_state[TF_N_POINT_STATES]; /* rows */
  int64_t improved; /* rows with the mapping of another machine, which is better than what their own
                       search found */
  int64_t n_front, closed, proved; /* machines on the front; those without a gap; those proved */
  int64_t skipped, beaten,
      open; /* machines not on the front: never solved; solved although bounds alone exclude them;
               could still join the front with a better mapping */
} tf_sweep_summary;

/* Scores all machines.  NULL with an error in d. */
TF_API tf_sweep_summary *tf_sweep_summary_of(tf_store *s, tf_diags *d);
TF_API void tf_sweep_summary_free(tf_sweep_summary *s);

/* ---- conditions ------------------------------------------------------------------------ */
typedef struct tf_condition tf_condition;
/* Reads a condition on the columns of `results --csv`: "l1_kib <= 512 and cycles < 1e6 and workload
 * == 'g1'".  NULL with located errors in d. */
TF_API tf_condition *tf_condition_read(const char *text, const tf_store *s, tf_diags *d);
TF_API bool tf_condition_holds(const tf_condition *c, const tf_sweep_grid *g,
                               const tf_sweep_row *r);
TF_API void tf_condition_free(tf_condition *c);

#ifdef __cplusplus
}
#endif
#endif
