#include "codegen/ir/race_check.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { WHO_BITS = 20, DEEPEST = 3 }; /* depth 0 is for loops with sequential steps */

typedef struct {
  ir_who writer, reader; /* the last ones ... */
  bool several; /* ... if several steps have read: the step inside whose loops they all are */
  int64_t written, read; /* time of the access; 0: never */
  int filling, leaving;  /* by pending copies: being filled, being read */
} element;

/* A meeting: all steps of a loop at a depth, entered by step `group`, synchronised. */
typedef struct {
  int depth;
  ir_who group;
  int64_t when;
} meeting;

typedef struct {
  int queue, to, from;
  ir_who who;
  int64_t group, to_at, from_at;
} sent;

typedef struct {
  int queue;
  ir_who who;
  int64_t groups; /* number of groups that ended */
} counter;

struct ir_watch {
  const ir_program *p;
  element **of; /* [buffer] its elements; NULL: each step has its own buffer */
  int64_t now;
  meeting *meetings;
  sent *sent;
  counter *counters;
  int64_t n_meetings, n_sent, n_counters;
};

static int shift_of(int depth) { return WHO_BITS * (DEEPEST - depth); }

ir_who ir_who_of(ir_who who, ir_map map, int64_t step) {
  return who | (ir_who)(step + 1) << shift_of(ir_map_of(map)->depth);
}

/* The step that entered the loop at the depth. */
static ir_who before(ir_who who, int depth) {
  return who >> (shift_of(depth) + WHO_BITS) << (shift_of(depth) + WHO_BITS);
}

/* Whether `of` is a step of a loop that `who` entered, or `who` itself. */
static bool entered(ir_who who, ir_who of) {
  for (int depth = 1; depth <= DEEPEST; depth++)
    if (before(of, depth) == who) return true;
  return who == of;
}

bool ir_watch_wants(const ir_body *b) {
  bool any = false;
  for (int i = 0; i < b->n; i++) {
    const ir_stmt *s = b->s[i];
    any |= s->kind == IR_COPY || s->kind == IR_WAIT || s->kind == IR_BARRIER ||
           (ir_is_parallel(s) && s->loop.map != IR_THREAD) || ir_watch_wants(&s->body);
  }
  return any;
}

ir_watch *ir_watch_new(const ir_program *p) {
  ir_watch *w = calloc(1, sizeof *w);
  if (!w) return NULL;
  *w = (ir_watch){.p = p, .now = 1, .of = calloc((size_t)p->n_buffers + 1, sizeof *w->of)};
  bool ok = w->of != NULL;
  for (int i = 0; ok && i < p->n_buffers; i++) {
    const ir_buffer *b = &p->buffers[i];
    const ir_map_facts *map = ir_map_of(p->platform->spaces[b->space].of);
    if (b->shares >= 0 || map->meets) continue;
    w->of[i] = calloc((size_t)(b->words * b->slots) + 1, sizeof **w->of);
    ok = w->of[i] != NULL;
  }
  if (ok) return w;
  ir_watch_free(w);
  return NULL;
}

void ir_watch_free(ir_watch *w) {
  for (int i = 0; w && w->of && i < w->p->n_buffers; i++)
    free(w->of[i]);
  if (w) free(w->of), free(w->meetings), free(w->sent), free(w->counters);
  free(w);
}

/* Whether an access by `one` at time `when` (several: by steps inside it) happens before one by
 * `other` now. */
static bool in_order(const ir_watch *w, ir_who one, bool several, int64_t when, ir_who other) {
  if (!when || entered(other, one) || (!several && entered(one, other))) return true;
  for (int64_t i = 0; i < w->n_meetings; i++) {
    const meeting *m = &w->meetings[i];
    if (m->when > when && before(one, m->depth) == m->group && before(other, m->depth) == m->group)
      return true;
  }
  return false;
}

/* The innermost step inside whose loops both are. */
static ir_who common(ir_who a, ir_who b) {
  int depth = DEEPEST;
  while (a != b)
    a = before(a, depth), b = before(b, depth), depth--;
  return a;
}

const char *ir_watch_touch(ir_watch *w, int buffer, int64_t at, bool writes, ir_who who) {
  element *e = w->of[buffer] ? &w->of[buffer][at] : NULL;
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
    e->writer = who, e->written = w->now;
    return NULL;
  }
  e->several = !in_order(w, e->reader, e->several, e->read, who);
  e->reader = e->several ? common(e->reader, who) : who;
  e->read = w->now;
  return NULL;
}

void ir_watch_meet(ir_watch *w, ir_map map, ir_who who) {
  const int depth = ir_map_of(map)->depth;
  const ir_who group = before(who, depth);
  w->now++;
  for (int64_t i = 0; i < w->n_meetings; i++)
    if (w->meetings[i].depth == depth && w->meetings[i].group == group) {
      w->meetings[i].when = w->now;
      return;
    }
  if (!TF_GROW(w->meetings, w->n_meetings)) return; /* later accesses then appear as faults */
  w->meetings[w->n_meetings++] = (meeting){depth, group, w->now};
}

void ir_watch_renew(ir_watch *w, int space) {
  for (int i = 0; i < w->p->n_buffers; i++)
    if (w->of[i] && w->p->buffers[i].space == space)
      memset(w->of[i], 0,
             (size_t)(w->p->buffers[i].words * w->p->buffers[i].slots) * sizeof **w->of);
}

/* NULL: out of memory. */
static counter *groups_of(ir_watch *w, int queue, ir_who who) {
  for (int64_t i = 0; i < w->n_counters; i++)
    if (w->counters[i].queue == queue && w->counters[i].who == who) return &w->counters[i];
  if (!TF_GROW(w->counters, w->n_counters)) return NULL;
  w->counters[w->n_counters] = (counter){queue, who, 0};
  return &w->counters[w->n_counters++];
}

const char *ir_watch_send(ir_watch *w, int queue, ir_who who, int to, int64_t to_at, int from,
                          int64_t from_at) {
  const counter *c = groups_of(w, queue, who);
  if (!c || !TF_GROW(w->sent, w->n_sent)) return "";
  const char *fault = ir_watch_touch(w, from, from_at, false, who);
  if (!fault) fault = ir_watch_touch(w, to, to_at, true, who);
  if (fault) return fault;
  if (w->of[from]) w->of[from][from_at].leaving++;
  if (w->of[to]) w->of[to][to_at].filling++;
  w->sent[w->n_sent++] = (sent){queue, to, from, who, c->groups, to_at, from_at};
  return NULL;
}

void ir_watch_end_group(ir_watch *w, int queue, ir_who who) {
  counter *c = groups_of(w, queue, who);
  if (c) c->groups++;
}

void ir_watch_come(ir_watch *w, int queue, ir_who who, int left, double *const *data) {
  const counter *c = groups_of(w, queue, who);
  int64_t n = 0;
  for (int64_t i = 0; c && i < w->n_sent; i++) {
    const sent s = w->sent[i];
    if (s.queue != queue || s.who != who || s.group >= c->groups - left) {
      w->sent[n++] = s;
      continue;
    }
    data[s.to][s.to_at] = data[s.from][s.from_at];
    if (w->of[s.from]) w->of[s.from][s.from_at].leaving--;
    if (w->of[s.to]) w->of[s.to][s.to_at].filling--, w->of[s.to][s.to_at].written = w->now;
  }
  if (c) w->n_sent = n;
}

int ir_watch_under_way(const ir_watch *w) { return w->n_sent ? w->sent[0].to : -1; }
