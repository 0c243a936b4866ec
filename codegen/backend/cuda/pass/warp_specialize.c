/* Warp specialisation as a pipe: the producer fetches tiles ahead of the consumer, as far as the
 * ring between them is deep; and two consumers that take blocks in turn. */
#include <math.h>

#include "codegen/backend/cuda/pass/pass.h"

/* Cycles of a step: the slower of both, or the round trip of a slot in a full ring, from its
 * release to its next tile. */
double cu_pipe_step(const cu_pipe *p) {
  const double busy = p->producer > p->consumer ? p->producer : p->consumer;
  const double round = (p->producer + p->latency + p->consumer) / p->depth;
  return busy > round ? busy : round;
}

/* Blocks run one after the other. In turn: the steps of one block follow the other's, and the work
 * after a block overlaps with them until its own warpgroup's next turn, or takes longer. */
double cu_pipe_all(const cu_pipe *p) {
  const double steps = p->steps * cu_pipe_step(p), fill = p->latency + p->producer;
  if (!p->in_turns) return fill + p->blocks * (steps + p->epilogue);
  const double before = p->epilogue > steps ? floor((p->blocks - 1) / 2) * (steps + p->epilogue) +
                                                  fmod(p->blocks - 1, 2) * steps
                                            : (p->blocks - 1) * steps;
  return fill + before + steps + p->epilogue;
}
