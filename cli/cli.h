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

/* What the arguments after the command say.  A path is NULL if not asked for, "-" for stdout.
 */
typedef struct {
  const char **files;
  size_t n_files, n_first; /* n_first: of diff, files before "--"; 0: none was given */
  tf_setting *set;
  size_t n_set;
  const char **start; /* files with mappings that a search begins with */
  size_t n_start;
  const char *json, *csv, *svg, *dot, *mapping, *pareto, *log, *out, *root;
  const char *target, *isa, *dtype, *micro, *name; /* of emit */
  const char *format;                              /* of export */
  int measure;                                     /* kernels to time; 0: none */
  int variants; /* mappings that a search keeps besides the best; not said, but asked for by commands */
  bool quiet, help, resume, host, dump_ir;
  /* of a search */
  tf_objective objective;
  const char *strategy; /* NULL: the rule */
  const char *method;   /* of solve; NULL: the first of cli_method */
  uint64_t seed;
  int threads;       /* 0: one for each processor */
  int64_t evals;     /* 0: no bound */
  int64_t effort;    /* no option: a bound by what evaluations take (tf_budget.max_effort); 0: none */
  double time_limit; /* 0: none */
} cli_options;

/* Mappings that a search keeps for each kernel that is to be timed: many mappings make the same kernel. */
enum { CLI_VARIANTS = 64 };

/* How a mapping was found: the JSON member `search` (contract/cli.md). */
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

/* Mappings that a search begins with, as text.  Starts as {0}. */
typedef struct {
  int n;
  char **text;
} cli_starts;
/* Takes the text's ownership.  False: out of memory. */
bool cli_starts_add(cli_starts *s, char *text);
void cli_starts_free(cli_starts *s);

/* Everything one run reads and makes.  result, bounds and why are valid after cli_evaluate. */
typedef struct {
  tf_diags *diags;
  tf_spec *spec;
  tf_tree *tree; /* NULL unless all three sections are there */
  tf_model *model;
  tf_result result;
  tf_bounds bounds;
  tf_why why;         /* none where causes are not known (tf_why_of) */
  const char *origin; /* given, solve, search */
  cli_found found;    /* method is NULL where the mapping is given */
  char *found_text;   /* the mapping found */
  cli_starts starts;
  int64_t spent; /* of the search's evaluations, before it began */
  tf_search_result *search;
} cli_session;

/* Reads the files and, where all three sections are given, the tree.  Errors go to stderr.
 * To be closed whatever it returns. */
cli_status cli_open(cli_session *s, const cli_options *o);
/* cli_open, then evaluates; where no mapping is given, or some of it is open, one is searched for
 * first. */
cli_status cli_evaluate(cli_session *s, const cli_options *o);
void cli_close(cli_session *s);

/* The steps of cli_evaluate behind cli_open, for commands that look for a mapping themselves. */
cli_status cli_check_sections(cli_session *s);
/* Evaluates s->tree. */
cli_status cli_count_words(cli_session *s);
/* Makes `text` the mapping of the session; takes its ownership. */
cli_status cli_adopt(cli_session *s, char *text, const char *origin);
/* No figure is below what no mapping can beat.  A feasible result, the value found, or a row of the slope that is below
 * is a bug of the tool: says so, and what to send, and returns CLI_FAILED. */
cli_status cli_check_bounds(const cli_session *s);
cli_status cli_check_slope(const tf_slope *p);
/* Where no mapping is given: solves for a short while, and where that proves no mapping searches, beginning with what
 * the solver found. The options may name a strategy of the search; then nothing is solved. */
cli_status cli_find(cli_session *s, const cli_options *o);
/* Searches, beginning with what formulas give, too, so that what is found hangs less on the seed.  Not so where the
 * options name a strategy. */
cli_status cli_search_after_formulas(cli_session *s, const cli_options *o);
/* Searches as the options say, beginning with s->starts, and adopts what was found; a progress line on a
 * terminal. */
cli_status cli_search(cli_session *s, const cli_options *o);

/* Name of the k-th method of solve; NULL past the last. */
const char *cli_method(int k);

/* Prints the diagnostics to stderr. */
void cli_complain(const tf_diags *d);
#endif
