/* What a glob stands for. */
#ifndef SWEEP_GRID_LOAD_H
#define SWEEP_GRID_LOAD_H
#include "sweep/grid/grid.h"

typedef struct {
  int n;
  const char **at; /* from the folder, by name */
} sweep_paths;

/* A text without * ? [ stands for itself, whether or not there is such a file.  False: out of memory. */
bool sweep_paths_of(tf_arena *a, const char *folder, const char *text, sweep_paths *out);
#endif
