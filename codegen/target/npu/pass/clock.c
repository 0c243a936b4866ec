/* When a mapping's program will have ended: every instruction begins as soon as its queue is free and what it touches
 * has been written and read; of long loops a few steps are looked at, and the rest takes as long as these did. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/target/npu/pass/pass.h"
#include "codegen/target/npu/sim/touch.h"

/* Bytes that are looked at as one: those to which a memory aligns operands; if exact, elements; but a memory has at
 * most so many pieces. */
enum { ELEMENT = 2, MOST_PIECES = 1 << 20, MOST_EXACT = 1 << 22 };
/* Steps of a loop before the ones that are measured, in which queues run ahead of each other as far as slots allow;
 * and how many are measured. */
enum { AHEAD = NPU_SLOTS, MEASURED = NPU_SLOTS };

/* When those who wrote or read it last will have. */
typedef struct {
  double written, read;
} piece;

struct npu_clock {
  bool exact;
  double queue[NPU_QUEUES], mad_end, vector_end;
  int64_t size[NPU_MEMORIES], n[NPU_MEMORIES]; /* of a piece, in bytes; how many */
  piece *at[NPU_MEMORIES];
};

static double later(double a, double b) { return a > b ? a : b; } /* of numbers: fmax would be a call */

/* What is done with pieces `from` to `to` of a memory: they are waited for until *time, or noted with it. */
typedef struct {
  npu_clock *c;
  void (*each)(npu_clock *c, int memory, int64_t from, int64_t to, double *time);
  double *time;
} visit;

/* ---- what an instruction touches ------------------------------------------------------------------------------- */
static void wait_written(npu_clock *c, int m, int64_t from, int64_t to, double *time) {
  for (int64_t k = from; k <= to; k++)
    *time = later(*time, c->at[m][k].written);
}

static void wait_all(npu_clock *c, int m, int64_t from, int64_t to, double *time) {
  for (int64_t k = from; k <= to; k++)
    *time = later(*time, later(c->at[m][k].written, c->at[m][k].read));
}

static void note_written(npu_clock *c, int m, int64_t from, int64_t to, double *time) {
  for (int64_t k = from; k <= to; k++)
    c->at[m][k].written = *time;
}

static void note_read(npu_clock *c, int m, int64_t from, int64_t to, double *time) {
  for (int64_t k = from; k <= to; k++)
    c->at[m][k].read = later(c->at[m][k].read, *time);
}

/* The bytes from `first` to `last`, both counted. */
static void run_of(const visit *v, int memory, int64_t first, int64_t last) {
  v->each(v->c, memory, first / v->c->size[memory], last / v->c->size[memory], v->time);
}

static void touch_product(const visit *v, const tf_npu *p, const npu_instr *i, int k) {
  const npu_operand *o = k ? &i->from[k - 1] : &i->to;
  const npu_layout l = npu_layout_of(&p->machine.cube, i, k);
  const int64_t bytes = npu_type_bytes(o->type), line = l.flat && !l.turned ? 1 : l.rows;
  int64_t rows, columns;
  npu_sides(i, k, &rows, &columns);
  const int64_t lines = l.turned ? columns : (rows + line - 1) / line;
  for (int64_t r = 0; r < lines; r++) {
    const int64_t first = l.turned ? npu_element(&l, 0, r) : npu_element(&l, r * line, 0);
    const int64_t end = rows < (r + 1) * line ? rows : (r + 1) * line;
    const int64_t last = l.turned ? npu_element(&l, rows - 1, r) : npu_element(&l, end - 1, columns - 1);
    run_of(v, o->memory, o->at + first * bytes, o->at + (last + 1) * bytes - 1);
  }
}

/* Of `count` elements that begin at `at` and go on by `step`, the first and the last inside of 0 .. in - 1. */
static void keep_inside(int64_t at, int64_t step, int64_t in, int64_t *first, int64_t *last) {
  while (*first <= *last && (at + *first * step < 0 || at + *first * step >= in))
    ++*first;
  while (*first <= *last && (at + *last * step < 0 || at + *last * step >= in))
    --*last;
}

/* One dim, from where the others stand: of a window what is in the image. */
static void touch_row(const visit *v, const npu_instr *i, const npu_dim *row, const npu_cursor *at, int k,
                      int64_t begin) {
  const npu_operand *o = k ? &i->from[k - 1] : &i->to;
  const int64_t bytes = npu_type_bytes(o->type);
  int64_t first = 0, last = row->count - 1;
  if (i->op == NPU_LOAD && k) {
    keep_inside(i->window.at[0] + at->high, row->high, i->window.in[0], &first, &last);
    keep_inside(i->window.at[1] + at->wide, row->wide, i->window.in[1], &first, &last);
  }
  /* elements that follow on each other as one, others by themselves */
  const int64_t by = row->step[k], from = begin + at->off[k] * bytes, whole = by == 1 ? last - first + 1 : 1;
  for (int64_t e = first; e <= (by ? last : first) && first <= last; e += whole)
    run_of(v, o->memory, from + e * by * bytes, from + (e * by + whole) * bytes - 1);
}

/* Takes the dim along which the operand's elements follow on each other, or the innermost, out of `outer`. */
static npu_dim take_row(npu_instr *outer, int k) {
  int at = outer->n_dims - 1;
  for (int n = 0; n < outer->n_dims; n++)
    if (outer->dim[n].step[k] == 1) at = n;
  const npu_dim one = {.count = 1}, row = at < 0 ? one : outer->dim[at];
  if (at < 0) return row;
  outer->n_dims--;
  memmove(&outer->dim[at], &outer->dim[at + 1], (size_t)(outer->n_dims - at) * sizeof *outer->dim);
  return row;
}

static void touch_operand(const visit *v, const tf_npu *p, const npu_instr *i, int k) {
  const npu_operand *o = k ? &i->from[k - 1] : &i->to;
  npu_cursor at = {.high = 0};
  if (o->memory < 0 || (o->tensor >= 0 && p->tensor[o->tensor].in)) return; /* what is given, nobody waits for */
  if (i->op == NPU_MAD) {
    touch_product(v, p, i, k);
    return;
  }
  npu_instr outer = *i;
  const npu_dim row = take_row(&outer, k);
  do
    touch_row(v, i, &row, &at, k, o->at + (o->tensor >= 0 ? p->tensor_at[o->tensor] : 0));
  while (npu_cursor_next(&outer, &at));
}

/* ---- time -------------------------------------------------------------------------------------------------------- */
/* A product and a vector operation share a port, as in the simulator (sim/run.c). */
static void share_port(npu_clock *c, const npu_machine *m, const npu_instr *i, double begin, double *end) {
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
    c->queue[m->cube.queue] = later(c->queue[m->cube.queue], c->mad_end);
  }
}

static void issue(npu_clock *c, const tf_npu *p, const npu_instr *i) {
  const int sources = npu_facts_of(i->op)->sources;
  double begin = c->queue[i->queue];
  for (int k = 0; k <= sources; k++)
    touch_operand(&(visit){c, k ? wait_written : wait_all, &begin}, p, i, k);
  double end = begin + npu_cycles_of(&p->machine, i);
  if (p->machine.vector.port > 0) share_port(c, &p->machine, i, begin, &end);
  c->queue[i->queue] = end;
  for (int k = sources; k >= 0; k--)
    touch_operand(&(visit){c, k ? note_read : note_written, &end}, p, i, k);
}

void npu_clock_settle(npu_build *b) {
  for (size_t k = 0; k < b->out->n; k++)
    issue(b->clock, b->out, &b->out->instr[k]);
  b->out->n = 0;
}

static double latest(const double *queue) {
  double end = 0;
  for (int q = 0; q < NPU_QUEUES; q++)
    end = later(end, queue[q]);
  return end;
}

double npu_clock_end(const npu_clock *c) { return latest(c->queue); }

/* ---- loops --------------------------------------------------------------------------------------------------------
 */
static void note_state(const npu_build *b, npu_pace *pace) {
  memcpy(pace->queue, b->clock->queue, sizeof pace->queue);
  pace->n_banks = b->n_banks;
  for (int i = 0; i < b->n_banks; i++) {
    pace->held[i] = b->bank[i].held;
    for (int r = 0; r < b->bank[i].rank && b->bank[i].held; r++)
      pace->lo[i][r] = b->bank[i].box[r].lo;
  }
}

/* Banks that held a box when measuring began, and do now, hold what they would after `times` as many steps more: what
 * moved, moves on, with its place. */
static void move_on(npu_build *b, const npu_pace *pace, int64_t times) {
  for (int i = 0; i < b->n_banks && i < pace->n_banks; i++)
    for (int r = 0; r < b->bank[i].rank && pace->held[i] && b->bank[i].held && b->bank[i].memory; r++) {
      const int64_t by = (b->bank[i].box[r].lo - pace->lo[i][r]) * times;
      b->bank[i].box[r].lo += by;
      b->bank[i].org[r] += by;
    }
}

/* Queues that worked in the steps measured, and what these touched, are later by so much. */
static void delay(npu_clock *c, const npu_pace *pace, double by) {
  double since = INFINITY;
  for (int q = 0; q < NPU_QUEUES; q++)
    if (c->queue[q] > pace->queue[q]) since = fmin(since, pace->queue[q]);
  for (int q = 0; q < NPU_QUEUES; q++)
    if (c->queue[q] > pace->queue[q]) c->queue[q] += by;
  if (c->mad_end > since) c->mad_end += by;
  if (c->vector_end > since) c->vector_end += by;
  for (int m = 1; m < NPU_MEMORIES; m++)
    for (int64_t k = 0; k < c->n[m]; k++) {
      piece *p = &c->at[m][k];
      if (p->written > since) p->written += by;
      if (p->read > since) p->read += by;
    }
}

int64_t npu_clock_step(npu_build *b, npu_pace *pace, int64_t i, int64_t last) {
  npu_clock_settle(b);
  const int64_t times = (last - 1 - i) / MEASURED;
  if (b->clock->exact || last <= AHEAD + 2 * MEASURED) return 0;
  if (i == AHEAD - 1) note_state(b, pace);
  if (i != AHEAD + MEASURED - 1 || times <= 0) return 0;
  delay(b->clock, pace, (double)times * (latest(b->clock->queue) - latest(pace->queue)));
  move_on(b, pace, times);
  return times * MEASURED;
}

/* ---- all ----------------------------------------------------------------------------------------------------------
 */
npu_clock *npu_clock_new(const tf_npu *p, bool exact) {
  npu_clock *c = calloc(1, sizeof *c);
  bool ok = c != NULL;
  if (c) c->exact = exact;
  for (int m = 0; ok && m < p->machine.n_memories; m++) {
    const int64_t bytes = m ? p->machine.memory[m].bytes : p->tensor_at[p->n_tensors],
                  align = p->machine.memory[m].align;
    c->size[m] = !exact && align > ELEMENT ? align : ELEMENT;
    while (bytes / c->size[m] >= (exact ? MOST_EXACT : MOST_PIECES))
      c->size[m] *= 2;
    c->n[m] = bytes / c->size[m] + 1;
    c->at[m] = calloc((size_t)c->n[m], sizeof *c->at[m]);
    ok = c->at[m] != NULL;
  }
  if (ok) return c;
  npu_clock_free(c);
  return NULL;
}

void npu_clock_free(npu_clock *c) {
  for (int m = 0; c && m < NPU_MEMORIES; m++)
    free(c->at[m]);
  free(c);
}
