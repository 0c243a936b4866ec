/* The state of an exact walk: the settings of its loops, and the instances of a node. */
#ifndef MODEL_COST_EXACT_WALKER_H
#define MODEL_COST_EXACT_WALKER_H
#include "model/cost/exact/store.h"

typedef struct {
  struct tf_model *m;
  const tf_plan *p;
  tf_eval *ev;
  int64_t *cur;
  tf_flow *
      entered;           /* [views->n_entered] words that the busiest instance moves, by rows of the
                            Tile: integers, so that fast-forwarding can find the increment of one iteration */
  const tf_kinds *kinds; /* [loop] the settings of spatial loops that are walked */
  tf_store *st;
  int64_t *was; /* [node * TF_MAX_PATH + position] setting of the temporal loops at the previous
                   step; for masks only */
  int *stepped; /* [node] the outermost loop whose setting has changed; -1: none */
  struct tf_fast_forward *fast_forward; /* fast_forward.h; NULL: every iteration is walked */
  int64_t budget;
  int64_t first; /* words that the first instance of the current moment loads */
  bool more; /* a later one has loaded more at some moment, or some have taken words from others */
  struct tf_handed *handed; /* model/cost/peers.h, by instance of the current node; NULL: no memory
                               takes words from neighbours */
  bool left_out;            /* the mask skips the current step: only its points are counted */
  bool ok;
} tf_walker;

/* Sets the ranges of retained ops to what this instance computes, while their scope runs. */
void tf_walker_force_made(tf_walker *e);
/* Sets a loop. */
void tf_walker_set(tf_walker *e, int l, int64_t to);
/* Sets the spatial loops above node n to the first instance. */
void tf_walker_first(tf_walker *e, int n);
/* Advances them to the next kind of instance; false after the last, with the first set again. */
bool tf_walker_next(tf_walker *e, int n);
#endif
