/* Serialised pieces of work and results, for processes of one build that share a store's owner. */
#ifndef SWEEP_SWEEP_WIRE_H
#define SWEEP_SWEEP_WIRE_H
#include "sweep/sweep_source.h"

/* Writes a piece, with the mapping that each point begins with.  An empty message: no more work. */
bool sweep_wire_put_piece(tf_bytes *to, const sweep_plan *plan, const sweep_piece *p);

/* Computes all pieces of a message, and answers with a row for each point.  False: stopped, or
 * memory ran out; then the answer is incomplete. */
bool sweep_wire_work(const tf_sweep *s, tf_bytes *from, sweep_memo *memo, const tf_sweep_opts *o,
                     tf_bytes *answer);

/* The next row of an answer, in memory of its own; NULL: there is none, or memory ran out. */
sweep_item *sweep_wire_get(tf_bytes *from);
#endif
