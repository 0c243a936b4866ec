/* Stages and primitives of schedules as Heron has them (Bi et al., ASPLOS 2023; Treaseven's notes
 * on its code): a stage is a tensor that is computed or copied in loops of its own, a primitive
 * changes its loops, and each primitive adds what it asks to one system of constraints. */
#ifndef TUNE_RULES_RULES_STAGE_H
#define TUNE_RULES_RULES_STAGE_H
#include "tileflow/spec.h"
#include "tune/csp/csp.h"

enum { RULE_AXES = 16, RULE_PLACES = 12, RULE_NAME = 96 };

/* A loop that is not split any further, and its variable. */
typedef struct {
  int dim;  /* of the workload */
  bool sum; /* of the op's reduced dims */
  int var;
  char name[RULE_NAME];
} rule_axis;

typedef struct {
  char name[RULE_NAME];
  int n_axes;
  rule_axis axis[RULE_AXES];
  int n_places;                     /* loops behind which another stage can be computed */
  int left[RULE_PLACES][RULE_AXES]; /* what is left of each axis there */
  int16_t tensor;                   /* the tensor that it holds, or -1 */
} rule_stage;

typedef struct {
  csp *s;
  const tf_workload *wl;
  int n_splits, n_fused;
  bool bad;      /* memory ran out, or a limit was exceeded */
  bool too_long; /* a name */
} rule_system;

void rule_add(rule_system *r, csp_kind kind, int v, int n, const int *list);
/* "STAGEwhat" as a variable of that range. */
int rule_range(rule_system *r, const rule_stage *of, const char *what, bool knob, int64_t lo,
               int64_t hi);
int rule_number(rule_system *r, int64_t value);

/* An axis of the stage; its variable is bound by whoever calls. */
void rule_axis_new(rule_system *r, rule_stage *st, int dim, bool sum, bool copy);
/* The axis is as long as its dim. */
void rule_whole(rule_system *r, const rule_axis *x);
/* split: the axis becomes .outer and .inner, PROD; the axis is .inner from then on.  Returns the
 * variable of .outer. */
int rule_split(rule_system *r, rule_stage *st, int axis);
/* A band of loops: the outer parts of all axes (sums: of those of sums, too), then a place.  fuse:
 * they become one loop, PROD, whose variable is returned; else -1. */
int rule_band(rule_system *r, rule_stage *st, bool sums, bool fuse);
/* The place behind the innermost loop. */
void rule_innermost(rule_system *r, rule_stage *st);
/* cache_read, cache_write: the knob that says at which place of `in` the stage will be computed. */
int rule_position(rule_system *r, const rule_stage *in, const char *scope);
/* compute_at: each axis of the stage is what is left of that dim at the chosen place, SELECT. */
void rule_compute_at(rule_system *r, rule_stage *st, const rule_stage *in, int position);
/* The divisors of the longest of its axes: the lengths that tiles may have. */
int rule_tile_knob(rule_system *r, const rule_stage *st, const char *what);
#endif
