/* Predicts when a program ends: every instruction begins as soon as its queue is free and its
 * operands are ready. Of a mapping's long loops a few steps are evaluated, and the others are taken
 * to last as long. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/backend/npu/pass/bytes.h"
#include "codegen/backend/npu/pass/pass.h"

/* When the last accesses of a piece end, and the queues that they are in. */
typedef struct {
  double written, read;
  int writer, reader;
} moment;

struct npu_clock {
  bool loose; /* operands' runs are loose (npu_runs) */
  double queue[NPU_QUEUES], mad_end, vector_end;
  double first[NPU_QUEUES], busy[NPU_QUEUES]; /* the begin of each queue's first instruction; the
                                                 total time of its instructions */
  npu_pieces memory[NPU_MEMORIES];
};

static double later(double a, double b) {
  return a > b ? a : b;
} /* of finite numbers: fmax would be a call */

/* ---- accesses of an instruction ------------------------------------------------------------- */
enum { RUNS = 96 };
/* An instruction whose operands determine `time`, and which is then recorded as their latest
 * access: its first runs, and how many it has. */
typedef struct {
  npu_clock *c;
  double time;
  int queue, n;
  struct {
    int operand, memory;
    int64_t at, end;
  } run[RUNS];
} access;

static void wait(void *ctx, int operand, int memory, int64_t at, int64_t end) {
  access *a = ctx;
  npu_pieces *of = &a->c->memory[memory];
  if (a->n < RUNS) {
    a->run[a->n].operand = operand, a->run[a->n].memory = memory;
    a->run[a->n].at = at, a->run[a->n].end = end;
  }
  a->n++;
  npu_pieces_cut(of, at, end);
  for (; at < end; at = npu_pieces_next(of, at)) {
    const moment *m = npu_pieces_value(of, at);
    a->time = later(a->time, operand ? m->written : later(m->written, m->read));
  }
}

static void note(void *ctx, int operand, int memory, int64_t at, int64_t end) {
  access *a = ctx;
  npu_pieces *of = &a->c->memory[memory];
  if (!operand)
    *(moment *)npu_pieces_join(of, at, end) = (moment){.written = a->time, .writer = a->queue};
  for (; operand && at < end; at = npu_pieces_next(of, at)) {
    moment *m = npu_pieces_value(of, at);
    if (a->time >= m->read) m->read = a->time, m->reader = a->queue;
  }
}

/* Notes all runs, those of the operand that is written last. */
static void note_all(access *a, const tf_npu *p, const npu_instr *i, int sources) {
  for (int k = sources; k >= 0 && a->n > RUNS; k--)
    npu_runs(p, i, k, a->c->loose, note, a);
  for (int r = a->n - 1; r >= 0 && a->n <= RUNS; r--)
    note(a, a->run[r].operand, a->run[r].memory, a->run[r].at, a->run[r].end);
}

/* ---- time ----------------------------------------------------------------------------------- */
/* A product and a vector operation share a port, as in the simulator (sim/run.c). */
static void share_port(npu_clock *c, const npu_machine *m, const npu_instr *i, double begin,
                       double *end) {
  const double part = m->vector.port;
  if (i->op == NPU_MAD) {
    const double beside = c->vector_end - begin, left = *end - begin;
    if (beside > 0) *end += left <= beside * (1 - part) ? left * part / (1 - part) : beside * part;
    c->mad_end = *end;
  } else if (npu_is_vector(i->op)) {
    const double left = c->mad_end - begin, beside = *end - begin;
    c->vector_end = *end;
    if (left <= 0) return;
    const double more = left <= beside * (1 - part) ? left * part / (1 - part) : beside * part;
    c->mad_end += more;
    c->busy[m->cube.queue] += more;
    c->queue[m->cube.queue] = later(c->queue[m->cube.queue], c->mad_end);
  }
}

static void issue(npu_clock *c, const tf_npu *p, const npu_instr *i) {
  const int sources = npu_facts_of(i->op)->sources;
  access a;
  a.c = c, a.time = c->queue[i->queue], a.queue = i->queue, a.n = 0;
  for (int k = 0; k <= sources; k++)
    npu_runs(p, i, k, c->loose, wait, &a);
  const double begin = a.time;
  a.time += npu_cycles_of(&p->machine, i);
  if (p->machine.vector.port > 0) share_port(c, &p->machine, i, begin, &a.time);
  if (c->busy[i->queue] == 0) c->first[i->queue] = begin;
  c->busy[i->queue] += a.time - begin;
  c->queue[i->queue] = a.time;
  note_all(&a, p, i, sources);
}

void npu_clock_run(npu_build *b) {
  for (size_t k = 0; k < b->out->n; k++)
    issue(b->clock, b->out, &b->out->instr[k]);
  npu_count_made(b);
}

void npu_count_made(npu_build *b) {
  b->length += (double)b->out->n;
  b->out->n = 0;
}

static double latest(const double *queue) {
  double end = 0;
  for (int q = 0; q < NPU_QUEUES; q++)
    end = later(end, queue[q]);
  return end;
}

double npu_clock_end(const npu_clock *c) { return latest(c->queue); }

npu_terms npu_clock_terms(const npu_clock *c) {
  int q = 0;
  for (int i = 1; i < NPU_QUEUES; i++)
    q = c->busy[i] > c->busy[q] ? i : q;
  const double end = npu_clock_end(c), wait = c->queue[q] - c->first[q] - c->busy[q];
  return (npu_terms){.cycles = end,
                     .queue = q,
                     .fill = c->first[q],
                     .busy = c->busy[q],
                     .stall = wait > 0 ? wait : 0,
                     .drain = end - c->queue[q]};
}

const double *npu_clock_queues(const npu_clock *c) { return c->queue; }

/* Assigns times to the units from `at` up to `end`, interpolated between those of their
 * neighbours. */
static void interpolate_times(npu_pieces *of, int64_t at, int64_t end, moment before,
                              moment after) {
  enum { PARTS = 16 };
  const int64_t len = end - at;
  for (int k = 0; k < PARTS; k++) {
    const int64_t a = at + len * k / PARTS, e = at + len * (k + 1) / PARTS;
    const double time = before.written + (after.written - before.written) * (k + 1) / PARTS;
    if (a < e)
      *(moment *)npu_pieces_join(of, a, e) = (moment){.written = time, .writer = after.writer};
  }
}

void npu_clock_fill(npu_clock *c, int64_t at, int64_t end, const double *since) {
  npu_pieces *of = &c->memory[0];
  moment before = {.written = -1}, after;
  int64_t from = at;
  npu_pieces_cut(of, at, end);
  for (int64_t next = at; at < end; at = next) {
    next = npu_pieces_next(of, at);
    after = *(moment *)npu_pieces_value(of, at);
    if (after.written <= since[after.writer]) continue;
    if (from < at) interpolate_times(of, from, at, before.written < 0 ? after : before, after);
    before = after;
    from = next;
  }
  if (before.written >= 0 && from < end) interpolate_times(of, from, end, before, before);
}

/* ---- loops ---------------------------------------------------------------------------------- */
static void note_state(const npu_build *b, npu_loop_timing *pace) {
  memcpy(pace->queue, b->clock->queue, sizeof pace->queue);
  memcpy(pace->busy, b->clock->busy, sizeof pace->busy);
  pace->length = b->length;
  pace->n_banks = b->n_banks;
  for (int i = 0; i < b->n_banks; i++) {
    pace->held[i] = b->bank[i].held;
    for (int r = 0; r < b->bank[i].rank && b->bank[i].held; r++)
      pace->lo[i][r] = b->bank[i].box[r].lo;
  }
}

/* Banks that held a box before and after the measured steps get the box that they would hold after
 * `times` as many steps more: each bound moves on by as much as it moved. */
static void advance_banks(npu_build *b, const npu_loop_timing *pace, int64_t times) {
  for (int i = 0; i < b->n_banks && i < pace->n_banks; i++)
    for (int r = 0; r < b->bank[i].rank && pace->held[i] && b->bank[i].held && b->bank[i].memory;
         r++) {
      const int64_t by = (b->bank[i].box[r].lo - pace->lo[i][r]) * times;
      b->bank[i].box[r].lo += by;
      b->bank[i].org[r] += by;
    }
}

/* Advances the queues that worked in the measured steps, and what these accessed: all equally where
 * one waits for another; each by its own pace where they do not (as one catches up with work before
 * the loop). */
static void advance_queues(npu_clock *c, const npu_machine *machine, const npu_loop_timing *pace,
                           double work) {
  double since = INFINITY, by[NPU_QUEUES];
  for (int q = 0; q < NPU_QUEUES; q++)
    if (c->queue[q] > pace->queue[q]) since = fmin(since, pace->queue[q]);
  for (int q = 0; q < NPU_QUEUES; q++)
    by[q] = work * (c->queue[q] - pace->queue[q]), c->queue[q] += by[q];
  if (c->mad_end > since) c->mad_end += by[machine->cube.queue];
  if (c->vector_end > since) c->vector_end += by[machine->vector.queue];
  for (int m = 1; m < NPU_MEMORIES; m++)
    for (int64_t at = 0; at < c->memory[m].units; at = npu_pieces_next(&c->memory[m], at)) {
      moment *p = npu_pieces_value(&c->memory[m], at);
      if (p->written > since) p->written += by[p->writer];
      if (p->read > since) p->read += by[p->reader];
    }
}

void npu_clock_begin(const npu_build *b, npu_loop_timing *pace) { pace->length = b->length; }

int64_t npu_clock_step(npu_build *b, npu_loop_timing *pace, int64_t i, int64_t last) {
  npu_clock_run(b);
  if (i == 0) {
    const bool many = b->length - pace->length >= NPU_MANY;
    pace->ahead = many ? NPU_AHEAD_OF_MANY : NPU_AHEAD;
    pace->measured = many ? NPU_MEASURED_OF_MANY : NPU_MEASURED;
  }
  if (last <= pace->ahead + 2 * pace->measured) return 0;
  if (i == pace->ahead - 1) note_state(b, pace);
  return i == pace->ahead + pace->measured - 1 ? (last - 1 - i) / pace->measured * pace->measured
                                               : 0;
}

void npu_clock_pass(npu_build *b, const npu_loop_timing *pace, int64_t steps, double work) {
  for (int q = 0; q < NPU_QUEUES; q++)
    b->clock->busy[q] += work * (b->clock->busy[q] - pace->busy[q]);
  b->length += work * (b->length - pace->length);
  advance_queues(b->clock, &b->out->machine, pace, work);
  advance_banks(b, pace, steps / pace->measured);
}

/* ---- programs ------------------------------------------------------------------------------- */
void npu_clock_free(npu_clock *c) {
  if (c) npu_pieces_free(c->memory);
  free(c);
}

npu_clock *npu_clock_new(const tf_npu *p, bool loose) {
  npu_clock *c = calloc(1, sizeof *c);
  if (c) c->loose = loose;
  if (c && npu_pieces_new(c->memory, p, sizeof(moment))) return c;
  npu_clock_free(c);
  return NULL;
}

double npu_clock_program(const tf_npu *p, tf_diags *d) {
  npu_terms terms;
  return npu_clock_whole(p, &terms, d) ? terms.cycles : -1;
}

bool npu_clock_whole(const tf_npu *p, npu_terms *terms, tf_diags *d) {
  npu_clock *c = npu_clock_new(p, false);
  if (!c) tf_out_of_memory(d);
  for (size_t k = 0; c && k < p->n; k++)
    if (p->instr[k].op != NPU_SET && p->instr[k].op != NPU_WAIT) issue(c, p, &p->instr[k]);
  const bool ok = c;
  if (c) *terms = npu_clock_terms(c);
  npu_clock_free(c);
  return ok;
}
