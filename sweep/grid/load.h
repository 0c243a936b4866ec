/* Expansion of globs. */
#ifndef SWEEP_GRID_LOAD_H
#define SWEEP_GRID_LOAD_H
#include "sweep/grid/grid.h"

typedef struct {
  int n;
  const char **path; /* relative to the folder, sorted */
} sweep_paths;

/* A text without * ? [ is taken literally, whether or not the file exists.  False: out of memory.
 */
bool sweep_paths_of(tf_arena *a, const char *folder, const char *text, sweep_paths *out);
#endif
