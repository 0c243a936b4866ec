/* Detects data races between concurrent steps and pending copies: the interpreter calls it at every
 * access. */
#ifndef CODEGEN_IR_RACE_CHECK_H
#define CODEGEN_IR_RACE_CHECK_H
#include "codegen/ir/ir.h"

/* Identifies a step of the enclosing mapped loops: 1 + its number at each depth of IR_MAPS, 0 where
 * there is no such loop. 0: outside of all. */
typedef uint64_t ir_step_id;
/* The identity of a step, by number, of a loop that `who` enters. */
ir_step_id ir_step_id_of(ir_step_id who, ir_map map, int64_t step);

typedef struct ir_races ir_races;

/* Whether the program needs the check: it has copies, waits, barriers, or loops mapped to more than
 * threads. */
bool ir_race_needed(const ir_body *b);
/* NULL: out of memory. */
ir_races *ir_race_new(const ir_program *p);
void ir_race_free(ir_races *w);

/* Step `who` reads or writes an element of the buffer (one that shares no other's memory).  Returns
 * what is wrong with that; NULL: nothing.  Accesses of two steps are ordered if they synchronised
 * in between, or if one step is inside a loop that the other entered; if they are not ordered, and
 * one writes, that is a race. */
const char *ir_race_access(ir_races *w, int buffer, int64_t at, bool writes, ir_step_id who);
/* All steps of the loop mapped to `map` around `who`, or entered by it, synchronise. */
void ir_race_sync(ir_races *w, ir_map map, ir_step_id who);
/* Forgets all accesses to the space. */
void ir_race_forget(ir_races *w, int space);

/* Copies an element asynchronously, on behalf of `who` in a queue; `ends` ends the group.  Returns
 * as ir_race_access;
 * "" where memory ran out. */
const char *ir_race_copy(ir_races *w, int queue, ir_step_id who, int to, int64_t to_at, int from,
                         int64_t from_at);
void ir_race_end_group(ir_races *w, int queue, ir_step_id who);
/* Completes all groups but the latest `left`: moves their elements in data[buffer]. */
void ir_race_complete(ir_races *w, int queue, ir_step_id who, int left, double *const *data);
/* A buffer that is being filled by a copy which has not been waited for; -1: there is none. */
int ir_race_pending(const ir_races *w);
#endif
