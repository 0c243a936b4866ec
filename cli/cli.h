/* The command line: exit status, what the user asked for, what one run holds. */
#ifndef CLI_CLI_H
#define CLI_CLI_H
#include "tileflow/best.h"
#include "tileflow/solve.h"
#include "tileflow/why.h"

typedef enum {
  CLI_DONE = 0,
  CLI_FAILED = 1,    /* failure of the tool or the machine */
  CLI_BAD_INPUT = 2, /* wrong usage or files */
  CLI_INFEASIBLE = 3,
  CLI_INTERRUPTED = 130 /* what a search or a solver has found so far is printed */
} cli_status;

/* Arguments that every command has. */
typedef struct {
  const char **files;
  size_t n_files, n_first; /* n_first: for diff, number of files before "--"; 0: no "--" */
  tf_setting *set;
  size_t n_set;
  bool quiet;
  bool fileless;     /* the command can run without files */
  bool stdout_taken; /* a result goes to stdout, so that nothing else may be printed there */
} cli_input;

/* Where the figures go: a path, "-" for stdout, NULL if not asked for. */
typedef struct {
  const char *json, *csv;
} cli_figures;

/* A page of HTML, written as the figures are; force: over a file that is there. */
typedef struct {
  const char *html;
  bool force;
} cli_page;

/* Options of commands that search for a mapping. */
typedef struct {
  tf_objective objective;
  const char *strategy;   /* NULL: the default */
  const char *exportable; /* only mappings that export writes in this format; NULL: any */
  uint64_t seed;
  int threads;       /* 0: one for each processor */
  int64_t evals;     /* 0: no bound */
  double time_limit; /* 0: none */
  const char *log;   /* of search alone, like `resume` */
  bool resume;
  bool front; /* the Pareto front is wanted, too: not only the best */
} cli_looking;

typedef struct {
  const char **items;
  size_t n;
} cli_paths;

/* How a mapping was found: the JSON member `search` (docs/FORMATS.md). */
typedef struct {
  const char *method, *objective; /* method: exact, closed, ga-mcts, ... */
  double value, bound;            /* bound: of every mapping */
  bool proved;                    /* no mapping is better */
  bool space;                     /* the solver's space was searched (docs/HOWTO-solve.md) */
  double space_bound;             /* of its mappings; `bound` where only that is known */
  bool space_proved;              /* the mapping lies in that space, and none there is better */
  bool all_trips;                 /* the space has all trip counts, not only those that divide */
  bool bypasses;                  /* and all bypasses */
  double trips_bound;             /* as of tf_solve_result */
  int64_t evaluations;
  int64_t measurements,
      invalid; /* of tune: kernels, those of them that did not run; 0 and 0 elsewhere */
  double seconds;
  int threads;
  uint64_t seed;
  const char *stopped_by;
  int64_t solver_evals;  /* of `best`: those of the evaluations that the solver took */
  bool laid;             /* layouts were chosen, too: what is proved holds whatever they are */
  double before_layouts; /* value of the mapping that they begin with, as tensors lay */
  int64_t layout_evals;
  const char *layouts_in; /* the file that gave layouts before; NULL: none did */
  bool compared;          /* a mapping was given to begin with: its value, where it fits */
  bool given_fits;
  double given;
  tf_closed_figures closed; /* orders 0: another method was used */
} cli_found;

/* Mappings that a search begins with.  Initialised as {0}. */
typedef struct {
  int n;
  tf_tree **tree;
} cli_starts;
/* Everything that one run reads and computes.  result, bounds and why are valid after cli_evaluate.
 */
typedef struct {
  const cli_input *in;
  tf_diags *diags;
  tf_spec *spec;
  tf_tree *tree; /* NULL unless all three sections were read */
  tf_model *model;
  tf_result result;
  tf_bounds bounds;
  struct {              /* of the kernel that a target makes of the mapping */
    const char *target; /* NULL: none was asked for */
    double cycles;
  } expected;
  tf_why why;         /* empty where causes are not known (tf_why_of) */
  const char *origin; /* given, solve, search or tune */
  cli_found found;    /* method is NULL if the mapping was given */
  cli_starts starts;
  int64_t spent; /* evaluations already spent before the search began */
  tf_search_result *search;
  tf_layouts_result *layouts; /* of the mapping found; NULL: no memory has lines, or it was given */
} cli_session;

/* New diagnostics; NULL where memory ran out, which has been reported. */
tf_diags *cli_diags(void);
/* Prints the diagnostics to stderr; if d is NULL, or lost some to lack of memory, that memory ran
 * out. */
void cli_complain(const tf_diags *d);
/* The status after these errors: a file that cannot be read or written is a failure of the machine.
 */
cli_status cli_status_of(const tf_diags *d);
/* "PATH: error[CODE]: ..." of a file whose text has no part in it; what would move the cursor about
 * is not shown. */
void cli_complain_of(const char *path, tf_code code, const char *fmt, ...) TF_PRINTF(3, 4);
#endif
