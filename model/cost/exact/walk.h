/* The exact walk: every step, and one instance of each kind in it (model/flow/kinds.h). */
#ifndef MODEL_COST_EXACT_WALK_H
#define MODEL_COST_EXACT_WALK_H
#include "model/cost/state.h"

enum { TF_WALK_MAX = 20000000 };

/* Fills everything that the general count fills, and the peaks of boxes, by walking the execution;
 * for the settings for which ev->irregular is set.  False: out of memory, or more than m->walk_max
 * steps. */
bool tf_walk(struct tf_model *m);
#endif
