/* Parts of an architecture's text that the importers of several tools write. */
#ifndef MODEL_IMPORT_COMMON_MACHINE_H
#define MODEL_IMPORT_COMMON_MACHINE_H
#include "model/import/common/import_page.h"

/* The kinds of a unit that runs whatever an op computes, after `[mac`. */
#define TF_KINDS_BUT_MAC                                                                           \
  ", add, sub, mul, div, max, min, neg, exp, log, sqrt, tanh, erf, sigmoid, relu, gelu, silu, "    \
  "abs, floor, ceil, "                                                                             \
  "round, trunc, sin, cos, fmod, select]   "                                                       \
  "# one cycle and one energy, whatever an op computes"

/* A memory's `bandwidth`, words a cycle; 0: no limit.  One port takes both at `read`. */
void tf_page_bandwidth(tf_page *p, bool one_port, double read, double write);
/* A `mesh`, where it is more than one. */
void tf_page_mesh(tf_page *p, int64_t x, int64_t y);
#endif
