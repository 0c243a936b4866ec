/* Kinds of instances: settings of a spatial loop at which instances do the same work, at shifted
 * positions.
 *
 * If a dim indexes ranks by itself alone, and all ops split it by the same steps, an op's range
 * along it is a tile of the extent: a whole one, or one that the extent cuts off.  A range of one
 * length that enters a spatial loop gives whole tiles to the first instances, at most one partial
 * tile to the next, and nothing to the others; so the settings fall into a few kinds for each
 * length that may enter.  One instance of a kind is walked, and its moves count as often as the
 * kind has instances: the time of a walk depends on the number of kinds, not on the width of a
 * mesh. */
#ifndef MODEL_FLOW_KINDS_H
#define MODEL_FLOW_KINDS_H
#include "model/flow/range.h"

enum { TF_MOST_KINDS = 16 };

/* The kinds of one loop, each a run of settings. */
typedef struct tf_kinds {
  bool each; /* every setting is a kind of its own */
  int n;     /* otherwise the number of kinds */
  /* they begin at these settings; first[n] is the trip count */
  int64_t first[TF_MOST_KINDS + 1];
} tf_kinds;

/* Which kind begins at this setting. */
static inline int tf_kind_of(const tf_kinds *k, int64_t at) {
  int i = 0;
  if (k->each) return (int)at;
  while (k->first[i] != at)
    i++;
  return i;
}

/* The first setting of the next kind; the trip count after the last. */
static inline int64_t tf_kind_next(const tf_kinds *k, int64_t at) {
  return k->each ? at + 1 : k->first[tf_kind_of(k, at) + 1];
}

/* Kinds of a loop of that trip count. */
static inline int64_t tf_kind_count(const tf_kinds *k, int64_t trip) {
  return k->each ? trip : k->n;
}
#endif
