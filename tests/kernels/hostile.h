/* Names that C, C++, their libraries and our own kernels have already, for tensors, dims and ops.
 */
#ifndef TESTS_KERNELS_HOSTILE_H
#define TESTS_KERNELS_HOSTILE_H
#include "tileflow/spec.h"

enum { HOSTILE_MOST = 4000 };
typedef struct {
  int n, at;
  char *name[HOSTILE_MOST];
} hostile;

void hostile_begin(hostile *h);
void hostile_add(hostile *h, const char *name, size_t n);
/* The identifiers of an emitted file join. */
void hostile_gather(hostile *h, const char *text);
/* Gives all of the workload other names, which must live as long. */
void hostile_rename(hostile *h, tf_workload *wl);
void hostile_end(hostile *h);
#endif
