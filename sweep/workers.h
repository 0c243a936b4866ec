/* Workers in other processes: each is represented by a thread here, which takes pieces from the
 * source like any worker. */
#ifndef SWEEP_WORKERS_H
#define SWEEP_WORKERS_H
#include "sweep/sweep_source.h"

/* One such worker; the context of its thread. */
typedef struct {
  sweep_source *source;
  int worker;
} sweep_mate;
void *sweep_mate_work(void *ctx);
#endif
