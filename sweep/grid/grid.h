/* A sweep as it was read: the grid, its files, and how a point becomes an input. */
#ifndef SWEEP_GRID_GRID_H
#define SWEEP_GRID_GRID_H
#include "base/sha256.h"
#include "sweep/section/section.h"

/* A file, read once. */
typedef struct {
  const char *path; /* from the folder of the sweep, as messages and the store name it */
  tf_text text;
  const tf_ynode *root;
  const tf_ynode *params;              /* its section; NULL: none */
  bool arch, workload, mapping, sweep; /* sections that it has */
  tf_loc at;                           /* where the sweep names it */
  double weight;
  const char *name; /* of its section */
} sweep_input;

typedef struct {
  int n;
  sweep_input *at;
} sweep_inputs;

/* What makes a sweep what it is, for the store: the same facts, the same rows. */
typedef struct {
  const char *key, *value;
} sweep_fact;

struct tf_sweep {
  tf_sweep_grid grid; /* first, so that its address is the sweep's */
  tf_arena *arena;
  sweep_section section;
  sweep_inputs base, archs, workloads, mappings; /* base: join every point.  Lists: n 0, it is in base */
  const tf_setting *set;                         /* of the command line */
  size_t n_set;
  int *axis_of;     /* [section.n_over] its axis */
  int *column_of;   /* [section.n_over] its place among the axis's params */
  bool *of_machine; /* [section.n_where] the condition is on machines; else on cases */
  int n_facts;
  sweep_fact *facts;
};

/* Whether a machine, or a case, passes the conditions on it. */
bool sweep_machine_holds(const tf_sweep *s, int64_t machine);
bool sweep_case_holds(const tf_sweep *s, int64_t case_no);

/* The input of a point: what its files say with its params.  NULL with the errors in d. */
tf_spec *sweep_point_spec(const tf_sweep *s, int64_t point, tf_diags *d);
/* The weight of a case's workload. */
double sweep_case_weight(const tf_sweep_grid *g, int64_t case_no);

/* What the files and the settings of the command line say, without their values: sweep_load fills the grid. */
bool sweep_load(tf_sweep *s, const char *folder, tf_diags *d);
/* The facts of a loaded sweep. */
bool sweep_facts(tf_sweep *s);

/* Reads a file of the sweep, whose text lives as long as the arena; false with the errors in d. */
bool sweep_input_read(tf_sweep *s, const char *folder, const char *path, sweep_input *out, tf_diags *d);
/* Whether one of the files has the param (NAME), or the section and one of them the param (arch.NAME). */
bool sweep_has_param(const sweep_input *const *files, int n, const char *name);
#endif
