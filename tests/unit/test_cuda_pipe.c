/* A part of warpgroups as a pipe: its formulas against the same, tile by tile. */
#include <math.h>

#include "codegen/backend/cuda/pass/pass.h"
#include "tests/unit/check.h"

enum { CASES = 2000, MOST_STEPS = 64, MANY = 16 };

/* When the last tile has been taken: a place of the ring is free when the tile before in it has
 * been. */
static double step_by_step(const cu_pipe *p) {
  double taken[MOST_STEPS * MANY], asked = 0, free = 0;
  const int n = (int)(p->steps * p->blocks), depth = (int)p->depth;
  for (int i = 0; i < n; i++) {
    asked = fmax(asked, i >= depth ? taken[i - depth] : 0) + p->producer;
    free = taken[i] = fmax(free, asked + p->latency) + p->consumer;
  }
  return free;
}

/* A block's products begin when the other warpgroup's have ended, and its own last block has been
 * done with. */
static double turn_by_turn(double products, double behind, int n) {
  double own[2] = {0, 0}, end = 0;
  for (int i = 0; i < n; i++) {
    end = fmax(end, own[i % 2]) + products;
    own[i % 2] = end + behind;
  }
  return fmax(own[0], own[1]);
}

static unsigned draw(unsigned *state, unsigned n) {
  *state = *state * 1103515245u + 12345u;
  return *state / 65536 % n;
}

int main(void) {
  unsigned state = 1;
  for (int i = 0; i < CASES; i++) {
    const double brings = 1 + draw(&state, 300), takes = 1 + draw(&state, 300),
                 latency = draw(&state, 1200);
    cu_pipe p = {.producer = brings, .consumer = takes, .latency = latency, .blocks = 1};
    p.steps = 1 + draw(&state, MOST_STEPS), p.depth = 1 + draw(&state, 8);
    const double few = step_by_step(&p), each = cu_pipe_step(&p);
    CHECK(fabs(cu_pipe_all(&p) - few) <=
          brings + latency + takes); /* a fill or a drain more or less */
    p.blocks = MANY;
    const double more = step_by_step(&p) - few, n = (MANY - 1) * p.steps;
    CHECK(fabs(more - n * each) <= brings + latency + takes);
    p = (cu_pipe){.steps = 1,
                  .depth = 8,
                  .consumer = takes,
                  .blocks = 1 + draw(&state, 40),
                  .in_turns = true};
    p.epilogue = draw(&state, 900);
    CHECK_NEAR(cu_pipe_all(&p), turn_by_turn(takes, p.epilogue, (int)p.blocks), 1e-12);
  }
  return check_report();
}
