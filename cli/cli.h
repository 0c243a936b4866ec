/* The command line: exit status, what the user asked for, what one run holds. */
#ifndef CLI_CLI_H
#define CLI_CLI_H
#include "tileflow/tileflow.h"

typedef enum {
  CLI_DONE = 0,
  CLI_FAILED = 1,    /* the tool or the machine */
  CLI_BAD_INPUT = 2, /* usage or files */
  CLI_INFEASIBLE = 3,
  CLI_INTERRUPTED = 130 /* what a search or a solver found until then is printed */
} cli_status;

/* What the arguments of every command say. */
typedef struct {
  const char **files;
  size_t n_files, n_first; /* n_first: of diff, files before "--"; 0: none was given */
  tf_setting *set;
  size_t n_set;
  bool quiet;
  bool fileless;     /* it has enough to do without files */
  bool stdout_taken; /* one of the results goes to stdout, so that nothing else may */
} cli_input;

/* Where the figures go: a path, "-" for stdout, NULL if not asked for. */
typedef struct {
  const char *json, *csv;
} cli_figures;

/* How a command finds a mapping. */
typedef struct {
  tf_objective objective;
  const char *strategy; /* NULL: the rule */
  uint64_t seed;
  int threads;       /* 0: one for each processor */
  int64_t evals;     /* 0: no bound */
  double time_limit; /* 0: none */
  const char *log;   /* of search alone, as `resume` */
  bool resume;
} cli_looking;

typedef struct {
  const char **at;
  size_t n;
} cli_paths;

/* How a mapping was found: the JSON member `search` (docs/FORMATS.md). */
typedef struct {
  const char *method, *objective; /* method: exact, closed, ga-mcts, ... */
  double value, bound;            /* bound: proved for every mapping, or for those of the space */
  bool proved;                    /* none of these is better */
  bool space;                     /* of the solver's space (docs/HOWTO-solve.md), not of every mapping */
  int64_t evaluations;
  double seconds;
  int threads;
  uint64_t seed;
  const char *stopped_by;
  tf_closed_figures closed; /* orders 0: another method */
} cli_found;

/* Mappings that a search begins with.  Starts as {0}. */
typedef struct {
  int n;
  tf_tree **tree;
} cli_starts;
/* Everything one run reads and makes.  result, bounds and why are valid after cli_evaluate. */
typedef struct {
  const cli_input *in;
  tf_diags *diags;
  tf_spec *spec;
  tf_tree *tree; /* NULL unless all three sections are there */
  tf_model *model;
  tf_result result;
  tf_bounds bounds;
  tf_why why;         /* none where causes are not known (tf_why_of) */
  const char *origin; /* given, solve, search */
  cli_found found;    /* method is NULL where the mapping is given */
  cli_starts starts;
  int64_t spent; /* of the search's evaluations, before it began */
  tf_search_result *search;
} cli_session;

/* New diagnostics; NULL where memory ran out, which has been told. */
tf_diags *cli_diags(void);
/* Prints the diagnostics to stderr; of NULL, and where some were lost for it: that memory ran out. */
void cli_complain(const tf_diags *d);
#endif
