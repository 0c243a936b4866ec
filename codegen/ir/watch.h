/* What must not happen where steps run side by side and copies are under way: the interpreter asks at every access. */
#ifndef CODEGEN_IR_WATCH_H
#define CODEGEN_IR_WATCH_H
#include "codegen/ir/ir.h"

/* A step of the mapped loops around: 1 + the number of its step at each depth of IR_MAPS, 0 where there is no such loop
 * around.  0: outside of all. */
typedef uint64_t ir_who;
/* The who of a step, by number, of a loop that `who` has entered. */
ir_who ir_who_of(ir_who who, ir_map map, int64_t step);

typedef struct ir_watch ir_watch;

/* Whether the program has anything to watch: copies, waits, barriers, loops mapped to more than threads. */
bool ir_watch_wants(const ir_body *b);
/* NULL: out of memory. */
ir_watch *ir_watch_new(const ir_program *p);
void ir_watch_free(ir_watch *w);

/* Step `who` reads or writes an element of the buffer (which takes no other's place).  What is wrong with that; NULL:
 * nothing.  Of two steps the accesses are in order if a meeting came in between, or one of them entered the loop that
 * the other is a step of; else one that writes is a fault. */
const char *ir_watch_touch(ir_watch *w, int buffer, int64_t at, bool writes, ir_who who);
/* All steps of the loop mapped to `map` that `who` is a step of, or has entered, have met. */
void ir_watch_meet(ir_watch *w, ir_map map, ir_who who);
/* Nobody has touched what is in the space. */
void ir_watch_renew(ir_watch *w, int space);

/* Copies, of `who` in a queue, element by element; with `ends` a group ends.  As ir_watch_touch; "" where memory ran
 * out. */
const char *ir_watch_send(ir_watch *w, int queue, ir_who who, int to, int64_t to_at, int from, int64_t from_at);
void ir_watch_end_group(ir_watch *w, int queue, ir_who who);
/* All groups but the `left` latest come: moves the elements in data[buffer]. */
void ir_watch_come(ir_watch *w, int queue, ir_who who, int left, double *const *data);
/* The buffer that a copy which nobody has waited for fills; -1: there is none. */
int ir_watch_under_way(const ir_watch *w);
#endif
