/* Interprets loops whose steps run concurrently.  The steps form a team that goes through a body statement by
 * statement: what holds no barrier runs to its end in one step after the other; at a barrier all steps meet.
 * race_check.c detects data races between them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/ir/machine.h"

/* A step of all the mapped loops around: its variables and buffers. */
typedef struct {
  int64_t *var;
  double *
      *data; /* [buffer] its own where each step of one of the loops has such a space; else that of the surroundings */
  ir_who who;
} instance;

typedef struct {
  int n;
  instance *at;
} team;

static void become(ir_running *m, const instance *i) { m->var = i->var, m->data = i->data, m->who = i->who; }

/* Whether each step of the loop has its own copy of the buffer. */
static bool is_own(const ir_program *p, const ir_stmt *loop, int buffer) {
  const ir_buffer *b = &p->buffers[buffer];
  return b->shares < 0 && b->role != IR_ARGUMENT && p->platform->spaces[b->space].of == loop->loop.map;
}

static double *nothing(int64_t words) {
  double *data = malloc((size_t)(words ? words : 1) * sizeof *data);
  for (int64_t i = 0; data && i < words; i++)
    data[i] = NAN;
  return data;
}

static bool enter(ir_running *m, const ir_stmt *loop, const instance *outside, int64_t step, instance *in) {
  const ir_program *p = m->p;
  const size_t vars = (size_t)p->n_vars + 1, buffers = (size_t)p->n_buffers + 1;
  *in = (instance){malloc(vars * sizeof *in->var), malloc(buffers * sizeof *in->data),
                   ir_who_of(outside->who, loop->loop.map, step)};
  if (!in->var || !in->data) return ir_fault(m, "out of memory");
  memcpy(in->var, outside->var, vars * sizeof *in->var);
  memcpy(in->data, outside->data, buffers * sizeof *in->data);
  in->var[loop->loop.var] = step;
  for (int i = 0; i < p->n_buffers; i++) {
    if (!is_own(p, loop, i)) continue;
    in->data[i] = m->ok ? nothing(p->buffers[i].words * p->buffers[i].slots) : NULL;
    if (!in->data[i]) ir_fault(m, "out of memory");
  }
  for (int i = 0; i < p->n_buffers; i++)
    in->data[i] = in->data[ir_place_of(p, i)];
  return m->ok;
}

static void leave(const ir_running *m, const ir_stmt *loop, instance *in) {
  for (int i = 0; in->var && in->data && i < m->p->n_buffers; i++)
    if (is_own(m->p, loop, i)) free(in->data[i]);
  free(in->var);
  free(in->data);
}

static void run_team(ir_running *m, const team *t, const ir_body *b);

/* Loops whose steps cannot meet at a barrier (blocks of a grid): one after the other, each with its own memory spaces.
 * All have ended after the loop. */
static void run_alone(ir_running *m, const ir_stmt *loop, const instance *outside) {
  for (int64_t i = 0; i < loop->loop.trip && m->ok; i++) {
    instance in;
    for (int k = 0; k < m->p->platform->n_spaces; k++)
      if (m->p->platform->spaces[k].of == loop->loop.map) ir_watch_renew(m->watch, k);
    if (enter(m, loop, outside, i, &in)) become(m, &in), ir_run_body(m, &loop->body);
    leave(m, loop, &in);
  }
  ir_watch_meet(m->watch, loop->loop.map, ir_who_of(outside->who, loop->loop.map, 0));
  become(m, outside);
}

/* Each member of the team enters the loop; its steps form a larger team, and meet at the end of the loop. */
static void run_loop(ir_running *m, const team *t, const ir_stmt *loop) {
  const int64_t n = t->n * loop->loop.trip;
  team in = {0, calloc((size_t)n + 1, sizeof *in.at)};
  if (!in.at) {
    ir_fault(m, "out of memory");
    return;
  }
  for (int64_t i = 0; i < n && m->ok; i++)
    enter(m, loop, &t->at[i / loop->loop.trip], i % loop->loop.trip, &in.at[in.n++]);
  run_team(m, &in, &loop->body);
  for (int i = 0; i < t->n && m->ok; i++)
    ir_watch_meet(m->watch, loop->loop.map, ir_who_of(t->at[i].who, loop->loop.map, 0));
  for (int i = 0; i < in.n; i++)
    leave(m, loop, &in.at[i]);
  free(in.at);
}

/* A guard around a barrier must let in all steps or none. */
static void run_if(ir_running *m, const team *t, const ir_stmt *s) {
  int all = 0;
  for (int i = 0; i < t->n; i++)
    become(m, &t->at[i]), all += ir_may_enter(m, s);
  if (all == t->n)
    run_team(m, t, &s->body);
  else if (all)
    ir_fault(m, "barrier: %d of %d steps come to it", all, t->n);
}

/* Runs a barrier, or a statement that contains one. */
static void run_meeting(ir_running *m, const team *t, const ir_stmt *s) {
  if (s->kind == IR_BARRIER) {
    for (int i = 0; i < t->n; i++)
      ir_watch_meet(m->watch, s->barrier.map, t->at[i].who);
  } else if (s->kind == IR_IF) {
    run_if(m, t, s);
  } else if (ir_is_parallel(s)) {
    run_loop(m, t, s);
  } else {
    for (int64_t i = 0; i < s->loop.trip && m->ok; i++) {
      for (int k = 0; k < t->n; k++)
        t->at[k].var[s->loop.var] = i;
      run_team(m, t, &s->body);
    }
  }
}

static void run_team(ir_running *m, const team *t, const ir_body *b) {
  for (int i = 0; i < b->n && m->ok; i++) {
    const ir_stmt *s = b->s[i];
    if (s->kind == IR_BARRIER || ir_has(&s->body, IR_BARRIER)) {
      run_meeting(m, t, s);
      continue;
    }
    for (int k = 0; k < t->n && m->ok; k++)
      become(m, &t->at[k]), ir_run_body(m, &(ir_body){1, &b->s[i]});
  }
}

void ir_run_parallel(ir_running *m, const ir_stmt *loop) {
  instance outside = {m->var, m->data, m->who};
  if (!ir_map_of(loop->loop.map)->meets)
    run_alone(m, loop, &outside);
  else
    run_loop(m, &(team){1, &outside}, loop);
  become(m, &outside);
}
