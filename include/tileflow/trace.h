/* A mapping at work as intervals of time: what loads, works and stores when, and which memory holds what meanwhile
 * (docs/FORMATS.md). */
#ifndef TILEFLOW_TRACE_H
#define TILEFLOW_TRACE_H
#include "tileflow/model.h"

/* id, as files name it */
#define TF_TRACES(X)                                                                                                   \
  X(LOAD, "load")                                                                                                      \
  X(WORK, "work")                                                                                                      \
  X(STORE, "store")                                                                                                    \
  X(HOLD, "hold")

typedef enum {
#define X(id, key) TF_TRACE_##id,
  TF_TRACES(X)
#undef X
      TF_N_TRACES
} tf_trace_kind;

/* Times in cycles from the start.  A load or a store keeps a port of a memory busy, on behalf of a Tile or an op; an op
 * works on its units; a memory holds a tensor. */
typedef struct {
  tf_trace_kind kind;
  int level;  /* memory; -1: units */
  int unit;   /* of work, else -1 */
  int node;   /* of the tree, on behalf of which */
  int tensor; /* held, else -1 */
  double begin, end;
  double words; /* through the ports, or held in one instance, in words of the memory; work: points */
} tf_interval;

typedef struct {
  int n;
  tf_interval *at; /* in the order of the tree, then of time */
  int64_t most;    /* runs that are shown apart */
  double cycles;   /* the whole */
  bool whole;      /* every run of every node is shown by itself */
} tf_trace;

/* Of the tree with its own trip counts, which is evaluated for it: the model's last result is that of the tree then.
 * Runs of a Tile's child are shown each by itself where there are at most `most`; of others the sum over a run of what
 * is around them.  Where the model knows sums over many runs alone, each has the same share.  NULL with an error in d
 * if the tree cannot be counted, or memory ran out. */
tf_trace *tf_trace_of(tf_model *m, int64_t most, tf_diags *d);
void tf_trace_free(tf_trace *t);
const char *tf_trace_key(tf_trace_kind kind);
#endif
