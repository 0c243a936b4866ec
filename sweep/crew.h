/* Workers in other processes: a thread here for each, which takes pieces from the source as any worker does. */
#ifndef SWEEP_CREW_H
#define SWEEP_CREW_H
#include "sweep/source.h"

/* One of them; ctx of its thread. */
typedef struct {
  sweep_source *source;
  int worker;
} sweep_mate;
void *sweep_mate_work(void *ctx);
#endif
