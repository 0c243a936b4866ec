/* The rule of cover at the start of all loops, prepared for one tree (probe.c). */
#ifndef SEARCH_SPACE_PROBE_H
#define SEARCH_SPACE_PROBE_H
#include "search/space/build.h"

typedef struct tf_probe tf_probe;

/* NULL: memory ran out, or more loops stand above each other than are traced. */
tf_probe *tf_probe_new(tf_space_build *b);
/* Whether nothing overflows where no product of counts is above this one. */
bool tf_probe_can(const tf_probe *p, double product);
/* Fills `steps` and `bound` for the counts in `probe` and what is left to split in `rest`. */
void tf_probe_run(tf_probe *p, tf_trips *t);
#endif
