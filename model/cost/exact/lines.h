/* Lines that accesses touch, and the cycles that banks need for them (docs/SEMANTICS.md section 9).
 */
#ifndef MODEL_COST_EXACT_LINES_H
#define MODEL_COST_EXACT_LINES_H
#include "model/cost/exact/line_log.h"
#include "model/cost/state.h"
#include "model/layout/sum.h"

/* Creates m->lines where some memory has lines; false if memory ran out. */
bool tf_lines_new(struct tf_model *m);
void tf_lines_free(struct tf_lines *l);
void tf_lines_clear(struct tf_model *m);
/* The layout of slice i in its own memory, or in the serving one; needs rank_len (or, while a walk
 * records, room). */
bool tf_lines_own(const struct tf_model *m, int i, tf_places *p);
bool tf_lines_up(const struct tf_model *m, int i, tf_places *p);
/* Words that enter an instance in a walk: its box less what it has; fresh: counted for those that
 * share it, first: counted at all. */
void tf_lines_enter(struct tf_model *m, int i, const tf_ival *box, const tf_ival *has, bool fresh,
                    bool first);
/* A unit's access in the current step of the walk; the end of the step. */
void tf_lines_access(struct tf_model *m, int i, size_t server, const tf_ival *point, bool reads);
void tf_lines_step(struct tf_model *m, int i);
/* Adds lines and cycles to the moves of slice i. */
void tf_lines_add(struct tf_model *m, int i, const tf_move *lines, const tf_move *cycles);
/* Fills the lines of nodes, and the result. */
void tf_lines_ports(struct tf_model *m);
#endif
