#include "codegen/ir/race_check.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { WHO_BITS = 20, DEEPEST = 3 }; /* depth 0 is for loops with sequential steps */

typedef struct {
  ir_step_id writer, reader; /* the last ones ... */
  bool several; /* ... if several steps have read: the step inside whose loops they all are */
  int64_t written, read; /* time of the access; 0: never */
  int filling, leaving;  /* by pending copies: being filled, being read */
} element;

/* A synchronisation: all steps of a loop at a depth, entered by step `group`, synchronised. */
typedef struct {
  int depth;
  ir_step_id group;
  int64_t time;
} sync_point;

typedef struct {
  int queue, to, from;
  ir_step_id who;
  int64_t group, to_at, from_at;
} sent;

typedef struct {
  int queue;
  ir_step_id who;
  int64_t groups; /* number of groups that ended */
} counter;

struct ir_races {
  const ir_program *p;
  element **elements; /* [buffer] its elements; NULL: each step has its own buffer */
  int64_t time;
  sync_point *syncs;
  sent *sent;
  counter *counters;
  int64_t n_syncs, n_sent, n_counters;
};

static int shift_of(int depth) { return WHO_BITS * (DEEPEST - depth); }

ir_step_id ir_step_id_of(ir_step_id who, ir_map map, int64_t step) {
  return who | (ir_step_id)(step + 1) << shift_of(ir_map_of(map)->depth);
}

/* The step that entered the loop at the depth. */
static ir_step_id entering_step(ir_step_id who, int depth) {
  return who >> (shift_of(depth) + WHO_BITS) << (shift_of(depth) + WHO_BITS);
}

/* Whether `of` is a step of a loop that `who` entered, or `who` itself. */
static bool entered(ir_step_id who, ir_step_id of) {
  for (int depth = 1; depth <= DEEPEST; depth++)
    if (entering_step(of, depth) == who) return true;
  return who == of;
}

bool ir_race_needed(const ir_body *b) {
  bool any = false;
  for (int i = 0; i < b->n; i++) {
    const ir_stmt *s = b->s[i];
    any |= s->kind == IR_COPY || s->kind == IR_WAIT || s->kind == IR_BARRIER ||
           (ir_is_parallel(s) && s->loop.map != IR_THREAD) || ir_race_needed(&s->body);
  }
  return any;
}

ir_races *ir_race_new(const ir_program *p) {
  ir_races *w = calloc(1, sizeof *w);
  if (!w) return NULL;
  *w = (ir_races){
      .p = p, .time = 1, .elements = calloc((size_t)p->n_buffers + 1, sizeof *w->elements)};
  bool ok = w->elements != NULL;
  for (int i = 0; ok && i < p->n_buffers; i++) {
    const ir_buffer *b = &p->buffers[i];
    const ir_map_facts *map = ir_map_of(p->platform->spaces[b->space].map);
    if (b->shares >= 0 || map->meets) continue;
    w->elements[i] = calloc((size_t)(b->words * b->slots) + 1, sizeof **w->elements);
    ok = w->elements[i] != NULL;
  }
  if (ok) return w;
  ir_race_free(w);
  return NULL;
}

void ir_race_free(ir_races *w) {
  for (int i = 0; w && w->elements && i < w->p->n_buffers; i++)
    free(w->elements[i]);
  if (w) free(w->elements), free(w->syncs), free(w->sent), free(w->counters);
  free(w);
}

/* Whether an access by `one` at time `when` (several: by steps inside it) happens before one by
 * `other` now. */
static bool in_order(const ir_races *w, ir_step_id one, bool several, int64_t when,
                     ir_step_id other) {
  if (!when || entered(other, one) || (!several && entered(one, other))) return true;
  for (int64_t i = 0; i < w->n_syncs; i++) {
    const sync_point *m = &w->syncs[i];
    if (m->time > when && entering_step(one, m->depth) == m->group &&
        entering_step(other, m->depth) == m->group)
      return true;
  }
  return false;
}

/* The innermost step inside whose loops both are. */
static ir_step_id common(ir_step_id a, ir_step_id b) {
  int depth = DEEPEST;
  while (a != b)
    a = entering_step(a, depth), b = entering_step(b, depth), depth--;
  return a;
}

const char *ir_race_access(ir_races *w, int buffer, int64_t at, bool writes, ir_step_id who) {
  element *e = w->elements[buffer] ? &w->elements[buffer][at] : NULL;
  if (!e) return NULL;
  if (e->filling)
    return writes ? "is written while a copy fills it"
                  : "is read before its copy has been waited for";
  if (writes && e->leaving) return "is written while a copy reads it";
  if (!in_order(w, e->writer, false, e->written, who))
    return writes ? "is written by two steps side by side"
                  : "is read by a step while another writes it";
  if (writes && !in_order(w, e->reader, e->several, e->read, who))
    return "is written by a step while another reads it";
  if (writes) {
    e->writer = who, e->written = w->time;
    return NULL;
  }
  e->several = !in_order(w, e->reader, e->several, e->read, who);
  e->reader = e->several ? common(e->reader, who) : who;
  e->read = w->time;
  return NULL;
}

void ir_race_sync(ir_races *w, ir_map map, ir_step_id who) {
  const int depth = ir_map_of(map)->depth;
  const ir_step_id group = entering_step(who, depth);
  w->time++;
  for (int64_t i = 0; i < w->n_syncs; i++)
    if (w->syncs[i].depth == depth && w->syncs[i].group == group) {
      w->syncs[i].time = w->time;
      return;
    }
  if (!TF_GROW(w->syncs, w->n_syncs)) return; /* later accesses then appear as faults */
  w->syncs[w->n_syncs++] = (sync_point){depth, group, w->time};
}

void ir_race_forget(ir_races *w, int space) {
  for (int i = 0; i < w->p->n_buffers; i++)
    if (w->elements[i] && w->p->buffers[i].space == space)
      memset(w->elements[i], 0,
             (size_t)(w->p->buffers[i].words * w->p->buffers[i].slots) * sizeof **w->elements);
}

/* NULL: out of memory. */
static counter *groups_of(ir_races *w, int queue, ir_step_id who) {
  for (int64_t i = 0; i < w->n_counters; i++)
    if (w->counters[i].queue == queue && w->counters[i].who == who) return &w->counters[i];
  if (!TF_GROW(w->counters, w->n_counters)) return NULL;
  w->counters[w->n_counters] = (counter){queue, who, 0};
  return &w->counters[w->n_counters++];
}

const char *ir_race_copy(ir_races *w, int queue, ir_step_id who, int to, int64_t to_at, int from,
                         int64_t from_at) {
  const counter *c = groups_of(w, queue, who);
  if (!c || !TF_GROW(w->sent, w->n_sent)) return "";
  const char *fault = ir_race_access(w, from, from_at, false, who);
  if (!fault) fault = ir_race_access(w, to, to_at, true, who);
  if (fault) return fault;
  if (w->elements[from]) w->elements[from][from_at].leaving++;
  if (w->elements[to]) w->elements[to][to_at].filling++;
  w->sent[w->n_sent++] = (sent){queue, to, from, who, c->groups, to_at, from_at};
  return NULL;
}

void ir_race_end_group(ir_races *w, int queue, ir_step_id who) {
  counter *c = groups_of(w, queue, who);
  if (c) c->groups++;
}

void ir_race_complete(ir_races *w, int queue, ir_step_id who, int left, double *const *data) {
  const counter *c = groups_of(w, queue, who);
  int64_t n = 0;
  for (int64_t i = 0; c && i < w->n_sent; i++) {
    const sent s = w->sent[i];
    if (s.queue != queue || s.who != who || s.group >= c->groups - left) {
      w->sent[n++] = s;
      continue;
    }
    data[s.to][s.to_at] = data[s.from][s.from_at];
    if (w->elements[s.from]) w->elements[s.from][s.from_at].leaving--;
    if (w->elements[s.to])
      w->elements[s.to][s.to_at].filling--, w->elements[s.to][s.to_at].written = w->time;
  }
  if (c) w->n_sent = n;
}

int ir_race_pending(const ir_races *w) { return w->n_sent ? w->sent[0].to : -1; }
