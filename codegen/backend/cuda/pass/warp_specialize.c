/* Warp specialisation as a pipe: who brings tiles is busy with the next ones while who takes them
 * multiplies, as far ahead as the ring between them is deep; and two that take blocks in turn. */
#include <math.h>

#include "codegen/backend/cuda/pass/pass.h"

/* Either is busy all the time, or each tile of a full ring is brought anew when it has been taken.
 */
double cu_pipe_each(const cu_pipe *p) {
  const double busy = p->brings > p->takes ? p->brings : p->takes;
  const double round = (p->brings + p->latency + p->takes) / p->depth;
  return busy > round ? busy : round;
}

/* Blocks one behind the other; in turns: one's steps behind the other's, and what is behind a block
 * until its own warpgroup's next turn, or longer. */
double cu_pipe_all(const cu_pipe *p) {
  const double steps = p->steps * cu_pipe_each(p), fill = p->latency + p->brings;
  if (!p->in_turns) return fill + p->blocks * (steps + p->behind);
  const double before = p->behind > steps ? floor((p->blocks - 1) / 2) * (steps + p->behind) +
                                                fmod(p->blocks - 1, 2) * steps
                                          : (p->blocks - 1) * steps;
  return fill + before + steps + p->behind;
}
