/* A sweep as read: the grid, its files, and how a point becomes an input. */
#ifndef SWEEP_GRID_GRID_H
#define SWEEP_GRID_GRID_H
#include "base/sha256.h"
#include "sweep/section/section.h"

/* A file, read once. */
typedef struct {
  const char *path; /* relative to the folder of the sweep, as in messages and the store */
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
  sweep_input *input;
} sweep_inputs;

/* The facts that identify a sweep, for the store. */
typedef struct {
  const char *key, *value;
} sweep_fact;

struct tf_sweep {
  tf_sweep_grid grid; /* must be first: a pointer to it is converted to one to the sweep */
  tf_arena *arena;
  sweep_section section;
  sweep_inputs base, archs, workloads,
      mappings;          /* base: part of every point.  Lists with n 0: in base */
  const tf_setting *set; /* of the command line */
  size_t n_set;
  int *axis_of;     /* [section.n_over] its axis */
  int *column_of;   /* [section.n_over] its position among the axis's params */
  bool *of_machine; /* [section.n_where] whether the condition is on machines; otherwise on cases */
  int n_facts;
  sweep_fact *facts;
};

/* Whether a machine, or a case, meets its conditions. */
bool sweep_machine_holds(const tf_sweep *s, int64_t machine);
bool sweep_case_holds(const tf_sweep *s, int64_t case_no);

/* The input of a point: its files with its params.  NULL with the errors in d. */
tf_spec *sweep_point_spec(const tf_sweep *s, int64_t point, tf_diags *d);
/* The weight of a case's workload. */
double sweep_case_weight(const tf_sweep_grid *g, int64_t case_no);

/* Reads the files and the settings of the command line, without evaluating them, and fills the
 * grid. */
bool sweep_load(tf_sweep *s, const char *folder, tf_diags *d);
/* The facts of a loaded sweep. */
bool sweep_facts(tf_sweep *s);
#define SWEEP_PASSING                                                                              \
  "machines" /* how many meet the conditions; stores of before 2026-11-24 lack it */

/* Reads a file of the sweep; its text lives as long as the arena.  False with the errors in d. */
bool sweep_input_read(tf_sweep *s, const char *folder, const char *path, sweep_input *out,
                      tf_diags *d);
/* Whether the file has a param of that name; whether one of the files has the param (NAME), or has
 * the section and one of them the param (arch.NAME). */
bool sweep_file_has(const sweep_input *in, const char *name);
bool sweep_has_param(const sweep_input *const *files, int n, const char *name);
#endif
