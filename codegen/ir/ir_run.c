/* The interpreter: slow, in double precision, and with every access checked. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/ir/machine.h"
#include "tileflow/tree.h"

typedef ir_interpreter machine;

static int64_t atom(const machine *m, ir_atom a) { return ir_atom_value(m, a); }

/* IF: whether its body runs. */
static bool may_enter(const machine *m, const ir_stmt *s) {
  for (int i = 0; i < s->guard.n; i++)
    if (atom(m, s->guard.range[i].lo) < atom(m, s->guard.range[i].hi)) return true;
  return false;
}

static void run_body(machine *m, const ir_body *b);

/* ---- concurrent steps: a team that goes through a body statement by statement.  What holds no
 * barrier runs to its end in one step after the other; at a barrier all steps meet.  race_check.c
 * detects data races between them. */

/* A step of all the mapped loops around: its variables and buffers. */
typedef struct {
  int64_t *var;
  double **data; /* [buffer] its own where each step of one of the loops has such a space; else that
                    of the surroundings */
  ir_step_id who;
} instance;

typedef struct {
  int n;
  instance *member;
} team;

static void become(machine *m, const instance *i) {
  m->var = i->var, m->data = i->data, m->who = i->who;
}

/* Whether each step of the loop has its own copy of the buffer. */
static bool is_own(const ir_program *p, const ir_stmt *loop, int buffer) {
  const ir_buffer *b = &p->buffers[buffer];
  return b->shares < 0 && b->role != IR_ARGUMENT &&
         p->platform->spaces[b->space].map == loop->loop.map;
}

static double *nothing(int64_t words) {
  double *data = malloc((size_t)(words ? words : 1) * sizeof *data);
  for (int64_t i = 0; data && i < words; i++)
    data[i] = NAN;
  return data;
}

static bool enter(machine *m, const ir_stmt *loop, const instance *outside, int64_t step,
                  instance *in) {
  const ir_program *p = m->p;
  const size_t vars = (size_t)p->n_vars + 1, buffers = (size_t)p->n_buffers + 1;
  *in = (instance){malloc(vars * sizeof *in->var), malloc(buffers * sizeof *in->data),
                   ir_step_id_of(outside->who, loop->loop.map, step)};
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

static void leave(const machine *m, const ir_stmt *loop, instance *in) {
  for (int i = 0; in->var && in->data && i < m->p->n_buffers; i++)
    if (is_own(m->p, loop, i)) free(in->data[i]);
  free(in->var);
  free(in->data);
}

static void run_team(machine *m, const team *t, const ir_body *b);

/* Loops whose steps cannot meet at a barrier (blocks of a grid): one after the other, each with its
 * own memory spaces. All have ended after the loop. */
static void run_alone(machine *m, const ir_stmt *loop, const instance *outside) {
  for (int64_t i = 0; i < loop->loop.trip && m->ok; i++) {
    instance in;
    for (int k = 0; k < m->p->platform->n_spaces; k++)
      if (m->p->platform->spaces[k].map == loop->loop.map) ir_race_forget(m->races, k);
    if (enter(m, loop, outside, i, &in)) become(m, &in), run_body(m, &loop->body);
    leave(m, loop, &in);
  }
  ir_race_sync(m->races, loop->loop.map, ir_step_id_of(outside->who, loop->loop.map, 0));
  become(m, outside);
}

/* Each member of the team enters the loop; its steps form a larger team, and meet at the end of the
 * loop. */
static void run_loop(machine *m, const team *t, const ir_stmt *loop) {
  const int64_t n = t->n * loop->loop.trip;
  team in = {0, calloc((size_t)n + 1, sizeof *in.member)};
  if (!in.member) {
    ir_fault(m, "out of memory");
    return;
  }
  for (int64_t i = 0; i < n && m->ok; i++)
    enter(m, loop, &t->member[i / loop->loop.trip], i % loop->loop.trip, &in.member[in.n++]);
  run_team(m, &in, &loop->body);
  for (int i = 0; i < t->n && m->ok; i++)
    ir_race_sync(m->races, loop->loop.map, ir_step_id_of(t->member[i].who, loop->loop.map, 0));
  for (int i = 0; i < in.n; i++)
    leave(m, loop, &in.member[i]);
  free(in.member);
}

/* A guard around a barrier must let in all steps or none. */
static void run_if(machine *m, const team *t, const ir_stmt *s) {
  int all = 0;
  for (int i = 0; i < t->n; i++)
    become(m, &t->member[i]), all += may_enter(m, s);
  if (all == t->n)
    run_team(m, t, &s->body);
  else if (all)
    ir_fault(m, "barrier: %d of %d steps come to it", all, t->n);
}

/* Runs a barrier, or a statement that contains one. */
static void run_meeting(machine *m, const team *t, const ir_stmt *s) {
  if (s->kind == IR_BARRIER) {
    for (int i = 0; i < t->n; i++)
      ir_race_sync(m->races, s->barrier.map, t->member[i].who);
  } else if (s->kind == IR_IF) {
    run_if(m, t, s);
  } else if (ir_is_parallel(s)) {
    run_loop(m, t, s);
  } else {
    for (int64_t i = 0; i < s->loop.trip && m->ok; i++) {
      for (int k = 0; k < t->n; k++)
        t->member[k].var[s->loop.var] = i;
      run_team(m, t, &s->body);
    }
  }
}

static void run_team(machine *m, const team *t, const ir_body *b) {
  for (int i = 0; i < b->n && m->ok; i++) {
    const ir_stmt *s = b->s[i];
    if (s->kind == IR_BARRIER || ir_has(&s->body, IR_BARRIER)) {
      run_meeting(m, t, s);
      continue;
    }
    for (int k = 0; k < t->n && m->ok; k++)
      become(m, &t->member[k]), run_body(m, &(ir_body){1, &b->s[i]});
  }
}

static void run_parallel(machine *m, const ir_stmt *loop) {
  instance outside = {m->var, m->data, m->who};
  if (!ir_map_of(loop->loop.map)->meets)
    run_alone(m, loop, &outside);
  else
    run_loop(m, &(team){1, &outside}, loop);
  become(m, &outside);
}

/* ---- statements ----------------------------------------------------------------------------- */

static void loop(machine *m, const ir_stmt *s) {
  if (m->races && ir_is_parallel(s)) {
    run_parallel(m, s);
    return;
  }
  for (int64_t i = 0; i < s->loop.trip && m->ok; i++) {
    m->var[s->loop.var] = i;
    run_body(m, &s->body);
  }
}

/* Whether the statement manages the contents of a memory, so that concurrent steps must run it one
 * at a time. */
static bool one_at_a_time(machine *m, const ir_stmt *s) {
  return !m->who || ir_fault(m, "%s: by steps side by side", ir_facts_of(s)->name);
}

static void step(machine *m, const ir_stmt *s) {
  switch (s->kind) {
  case IR_LET: ir_run_let(m, s); break;
  case IR_KEEP:
    if (one_at_a_time(m, s)) ir_run_keep(m, s);
    break;
  case IR_STAGE:
    if (one_at_a_time(m, s)) ir_run_stage(m, s);
    break;
  case IR_FORGET:
    if (one_at_a_time(m, s)) ir_run_forget(m, s);
    break;
  case IR_COPY: ir_run_copy(m, s); break;
  case IR_WAIT: ir_race_complete(m->races, s->wait.queue, m->who, s->wait.left, m->data); break;
  case IR_BARRIER:
    ir_fault(m, "barrier: no %s is around", ir_map_of(s->barrier.map)->name);
    break; /* run_meeting has those that a loop is around */
  case IR_FOR: loop(m, s); break;
  case IR_IF:
    if (may_enter(m, s)) run_body(m, &s->body);
    break;
  case IR_TOGETHER:
    run_body(m, &s->body);
    break; /* one nest after the other gives the same values */
  case IR_NEST:
  case IR_SAVE:
  case IR_CARRY:
  case IR_CORRECT:
  case IR_DIVIDE:
  case IR_MERGE: ir_run_points(m, s); break;
  }
}

static void run_body(machine *m, const ir_body *b) {
  for (int i = 0; i < b->n && m->ok; i++)
    step(m, b->s[i]);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static bool open_buffers(machine *m, double *const *data) {
  const ir_program *p = m->p;
  for (int i = 0; i < p->n_buffers; i++) {
    const ir_buffer *b = &p->buffers[i];
    if (b->shares >= 0) continue;
    int64_t words = b->words * b->slots;
    m->data[i] = b->role == IR_ARGUMENT ? data[b->tensor]
                                        : malloc((size_t)(words ? words : 1) * sizeof *m->data[i]);
    if (b->role == IR_KEPT) m->held[i] = calloc((size_t)b->slots, sizeof **m->held);
    if (!m->data[i] || (b->role == IR_KEPT && !m->held[i])) return false;
    for (int64_t k = 0; b->role != IR_ARGUMENT && k < words; k++)
      m->data[i][k] = NAN; /* so that reading it before it is computed shows */
  }
  for (int i = 0; i < p->n_buffers; i++)
    m->data[i] = m->data[ir_place_of(p, i)];
  return true;
}

static void close(machine *m) {
  const ir_program *p = m->p;
  for (int i = 0; m->data && i < p->n_buffers; i++)
    if (p->buffers[i].role != IR_ARGUMENT && p->buffers[i].shares < 0) free(m->data[i]);
  for (int i = 0; m->held && i < p->n_buffers; i++)
    free(m->held[i]);
  ir_race_free(m->races);
  free(m->held);
  free(m->staged);
  free(m->noted);
  free(m->data);
  free(m->var);
}

bool ir_run_why(const ir_program *p, double *const *data, const ir_counts *counts, char *why,
                size_t size) {
  machine m = {
      .p = p, .wl = p->tree->workload, .counts = counts, .ok = true, .why = why, .size = size};
  const bool watch = ir_race_needed(&p->body);
  const ir_notes *notes =
      counts && p->platform->notes && p->platform->notes->begin ? p->platform->notes : NULL;
  m.var = calloc((size_t)p->n_vars + 1, sizeof *m.var);
  m.data = calloc((size_t)p->n_buffers + 1, sizeof *m.data);
  if (notes) m.noted = notes->begin(p, counts->buffer);
  m.held = calloc((size_t)p->n_buffers + 1, sizeof *m.held);
  m.staged = calloc((size_t)p->n_buffers + 1, sizeof *m.staged);
  m.races = watch ? ir_race_new(p) : NULL;
  const bool room = m.var && m.data && (m.noted || !notes) && m.held && m.staged &&
                    (m.races || !watch) && open_buffers(&m, data);
  if (!room || m.wl->n_dims > 256) ir_fault(&m, room ? "more than 256 dims" : "out of memory");
  if (m.ok) run_body(&m, &p->body);
  const int left = m.ok && watch ? ir_race_pending(m.races) : -1;
  if (left >= 0) ir_fault(&m, "nobody has waited for a copy into '%s'", p->buffers[left].name);
  close(&m);
  return m.ok;
}

bool ir_run(const ir_program *p, double *const *data, const ir_counts *counts) {
  return ir_run_why(p, data, counts, NULL, 0);
}
