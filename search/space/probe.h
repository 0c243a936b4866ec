/* The rule of cover at the start of all loops, compiled for one tree (probe.c). */
#ifndef SEARCH_SPACE_PROBE_H
#define SEARCH_SPACE_PROBE_H
#include "search/space/build.h"

typedef struct tf_probe tf_probe;

/* NULL: memory ran out, or loops are nested deeper than is traced. */
tf_probe *tf_probe_new(tf_space_build *b);
/* Whether nothing overflows if no product of counts exceeds this one. */
bool tf_probe_can(const tf_probe *p, double product);
/* Fills `steps` and `bound`, from the counts in `probe` and the lengths in `rest`. */
void tf_probe_run(tf_probe *p, tf_trips *t);
#endif
