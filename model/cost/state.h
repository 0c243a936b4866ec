/* The parts of an evaluation, in the order in which they are filled. */
#ifndef MODEL_COST_STATE_H
#define MODEL_COST_STATE_H
#include "model/cost/sums.h"

/* Words one slice moves, over the run: at its own level and at the level that serves it. */
typedef struct {
  int64_t fill, drain;    /* own level; op leaves: none */
  int64_t read, update;   /* serving level */
} tf_move;

struct tf_model {
  tf_arena *arena;
  tf_plan *plan;
  tf_run run;
  tf_scratch scratch;
  tf_move *moves;         /* [n_slices] */
  int64_t *class_words;   /* [sum of n_class] words one class enters, all instances */
  int *class_first;       /* [n_tile_slices] */
  int64_t *steps;         /* [n_nodes] moments */
  int64_t *width;         /* [n_nodes] most instances of the path's spatial loops in use at once */
  tf_result res;          /* arrays */
};

/* Fill moves, counts, op points; steps and widths.  False on overflow. */
bool tf_count_all(struct tf_model *m);
/* Takes out of the moves and points what streaming puts off to the last step. */
void tf_defer_divisions(struct tf_model *m);
/* Streaming's corrections, added to points and counts (DECISIONS 11). */
bool tf_count_stream(struct tf_model *m);
/* Peaks, instances, violations. */
bool tf_resources(struct tf_model *m, tf_result *out);
/* Cycles of every node, ports, bottleneck. */
void tf_latency(struct tf_model *m, tf_result *out);
void tf_energy(struct tf_model *m, tf_result *out);
/* Everything tf_count_all fills, and peaks of boxes, by walking the execution; for the settings that
 * run->irregular names. */
bool tf_walk_exact(struct tf_model *m);
#endif
