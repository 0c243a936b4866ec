/* A mapping over time, as intervals: what loads, works and stores when, and what each memory holds
 * (docs/FORMATS.md). */
#ifndef TILEFLOW_TRACE_H
#define TILEFLOW_TRACE_H
#include "tileflow/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* id, as files name it */
#define TF_TRACES(X)                                                                               \
  X(LOAD, "load")                                                                                  \
  X(WORK, "work")                                                                                  \
  X(STORE, "store")                                                                                \
  X(HOLD, "hold")

typedef enum {
#define X(id, key) TF_TRACE_##id,
  TF_TRACES(X)
#undef X
      TF_N_TRACES
} tf_trace_kind;

/* Times are in cycles from the start.  A load or a store occupies a port of a memory, on behalf of
 * a Tile or an op; an op occupies its units; a memory holds a tensor. */
typedef struct {
  tf_trace_kind kind;
  int level;  /* memory; -1: units */
  int unit;   /* of work; otherwise -1 */
  int node;   /* the tree node on whose behalf */
  int tensor; /* the tensor held; otherwise -1 */
  double begin, end;
  double words; /* words through the ports, or held in one instance, in words of the memory; for
                   work: points */
} tf_interval;

typedef struct {
  int n;
  tf_interval *at; /* in the order of the tree, then of time */
  int64_t most;    /* most runs that are shown one by one */
  double cycles;   /* total time */
  bool whole;      /* every run of every node is shown by itself */
} tf_trace;

/* The trace of the tree with its own trip counts, which is evaluated for it: the model's last
 * result is then the tree's. Up to `most` runs of a Tile's child are shown one by one; of others
 * the sum over a run of the Tile around them.  Where the model knows only sums over many runs, each
 * run gets the same share.  NULL with an error in d if the tree cannot be counted, or memory ran
 * out. */
TF_API tf_trace *tf_trace_of(tf_model *m, int64_t most, tf_diags *d);
TF_API void tf_trace_free(tf_trace *t);
TF_API const char *tf_trace_key(tf_trace_kind kind);

#ifdef __cplusplus
}
#endif
#endif
