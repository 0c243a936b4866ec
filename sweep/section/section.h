/* The section `sweep` as written, before any file that it names is opened. */
#ifndef SWEEP_SECTION_SECTION_H
#define SWEEP_SECTION_SECTION_H
#include "sweep/section/section_expr.h"
#include "tileflow/sweep.h"

/* A file or a glob. */
typedef struct {
  const char *text;
  tf_loc at;
  double weight;
} sweep_pattern;

typedef struct {
  int n;
  sweep_pattern *pattern;
  tf_loc key; /* place of the list */
} sweep_patterns;

/* A param and its values. */
typedef struct {
  const char *name; /* arch.NAME, workload.NAME, NAME */
  tf_loc at;
  int n;
  double *values;
  int zip; /* first param with which it is zipped; itself: none */
} sweep_over;

typedef struct {
  sweep_expr *expr; /* over the params of `over`, by index */
  const char *text;
  tf_loc at;
} sweep_where;

typedef struct {
  const char *name;
  tf_loc at;
  tf_sweep_method method;
  tf_loc method_at;
  int n_goals;
  tf_goal goals[TF_N_GOALS];
  bool geometric;
  double within;                             /* 0: not given */
  sweep_patterns archs, workloads, mappings; /* n 0: not given */
  int n_over;
  sweep_over *over;
  bool over_is_whole; /* it was read without errors */
  int n_where;
  sweep_where *where;
  int64_t evals; /* 0: not given */
  uint64_t seed;
  bool counts; /* whether counts by level and tensor are stored, too */
} sweep_section;

enum { SWEEP_MAX_VALUES = 1000000, SWEEP_MAX_POINTS = 1000000000 };

/* Every error in r->diags; false then. */
bool sweep_section_read(tf_reader *r, const tf_ynode *node, sweep_section *out);
#endif
