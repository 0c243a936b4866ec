/* Detects data races between concurrent steps and pending copies: the interpreter calls it at every
 * access. */
#ifndef CODEGEN_IR_RACE_CHECK_H
#define CODEGEN_IR_RACE_CHECK_H
#include "codegen/ir/ir.h"

/* Identifies a step of the mapped loops around: 1 + its number at each depth of IR_MAPS, 0 where
 * there is no such loop. 0: outside of all. */
typedef uint64_t ir_who;
/* The identity of a step, by number, of a loop that `who` enters. */
ir_who ir_who_of(ir_who who, ir_map map, int64_t step);

typedef struct ir_watch ir_watch;

/* Whether the program needs watching: it has copies, waits, barriers, or loops mapped to more than
 * threads. */
bool ir_watch_wants(const ir_body *b);
/* NULL: out of memory. */
ir_watch *ir_watch_new(const ir_program *p);
void ir_watch_free(ir_watch *w);

/* Step `who` reads or writes an element of the buffer (one that shares no other's memory).  Returns
 * what is wrong with that; NULL: nothing.  Accesses of two steps are ordered if they synchronised
 * in between, or if one step is inside a loop that the other entered; if they are not ordered, and
 * one writes, that is a race. */
const char *ir_watch_touch(ir_watch *w, int buffer, int64_t at, bool writes, ir_who who);
/* All steps of the loop mapped to `map` around `who`, or entered by it, synchronise. */
void ir_watch_meet(ir_watch *w, ir_map map, ir_who who);
/* Forgets all accesses to the space. */
void ir_watch_renew(ir_watch *w, int space);

/* Copies an element asynchronously, on behalf of `who` in a queue; `ends` ends the group.  Returns
 * as ir_watch_touch;
 * "" where memory ran out. */
const char *ir_watch_send(ir_watch *w, int queue, ir_who who, int to, int64_t to_at, int from,
                          int64_t from_at);
void ir_watch_end_group(ir_watch *w, int queue, ir_who who);
/* Completes all groups but the latest `left`: moves their elements in data[buffer]. */
void ir_watch_come(ir_watch *w, int queue, ir_who who, int left, double *const *data);
/* A buffer that is being filled by a copy which has not been waited for; -1: there is none. */
int ir_watch_under_way(const ir_watch *w);
#endif
