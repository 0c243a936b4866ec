/* The runs of bytes that an instruction accesses; and memories divided where runs begin and end. */
#include "codegen/backend/npu/pass/bytes.h"

#include <stdlib.h>
#include <string.h>

#include "codegen/backend/npu/sim/touch.h"

/* ---- runs ----------------------------------------------------------------------------------- */
/* An operand whose runs are enumerated. */
typedef struct {
  const npu_instr *i;
  int operand, memory;
  int64_t begin, bytes; /* byte of element 0; bytes of an element */
  int64_t gap;          /* the most elements between two runs that are merged into one */
  npu_run_do visit;
  void *ctx;
} walker;

static void run_of(const walker *w, int64_t element, int64_t count) {
  const int64_t first = w->begin + element * w->bytes;
  w->visit(w->ctx, w->operand, w->memory, first / NPU_UNIT, (first + count * w->bytes) / NPU_UNIT);
}

/* Joins contiguous elements into one run. */
typedef struct {
  int64_t from, count;
} joined;

static void join(const walker *w, joined *j, int64_t from, int64_t count) {
  const bool goes_on = j->count && from == j->from + j->count;
  if (!goes_on && j->count) run_of(w, j->from, j->count);
  *j = goes_on ? (joined){j->from, j->count + count} : (joined){from, count};
}

/* A line of blocks from `row` on, of which so many rows exist: whole blocks, then the existing part
 * of the last. */
static void line_runs(const walker *w, const npu_layout *l, joined *j, int64_t row, int64_t rows,
                      int64_t columns) {
  const int64_t end = w->gap ? columns : columns / l->columns * l->columns;
  const bool whole = w->gap || rows == l->rows;
  if (whole && end)
    join(w, j, npu_element(l, row, 0),
         npu_element(l, row + rows - 1, end - 1) + 1 - npu_element(l, row, 0));
  for (int64_t c = 0; c < end && !whole; c += l->columns)
    join(w, j, npu_element(l, row, c), rows * l->columns);
  for (int64_t r = row; r < row + rows && end < columns; r++)
    join(w, j, npu_element(l, r, end), columns - end);
}

/* Loosely: lines of blocks with everything between their first and last element. */
static void product_runs(const walker *w, const npu_cube *cube) {
  const npu_layout l = npu_layout_of(cube, w->i, w->operand);
  int64_t rows, columns;
  joined j = {0, 0};
  npu_sides(w->i, w->operand, &rows, &columns);
  for (int64_t r = 0; r < rows && !l.flat; r += l.rows)
    line_runs(w, &l, &j, r, rows - r < l.rows ? rows - r : l.rows, columns);
  for (int64_t r = 0; r < (l.rows_are_k ? columns : rows) && l.flat; r++)
    join(w, &j, l.rows_are_k ? npu_element(&l, 0, r) : npu_element(&l, r, 0),
         l.rows_are_k ? rows : columns);
  run_of(w, j.from, j.count);
}

/* The operand's dims that move it, largest step first; a negative step is replaced by a positive
 * one from the other end. */
typedef struct {
  int n;
  struct {
    int64_t count, step;
  } dim[NPU_DIMS];
} steps;

static void add_step(steps *s, int64_t count, int64_t step, walker *w) {
  if (step < 0) {
    w->begin += (count - 1) * step * w->bytes;
    step = -step;
  }
  int at = s->n++;
  for (; at > 0 && s->dim[at - 1].step < step; at--)
    s->dim[at] = s->dim[at - 1];
  s->dim[at].count = count, s->dim[at].step = step;
}

/* The number of contiguous elements: removes the dims that span them from the end of the list. */
static int64_t take_run(steps *s, int64_t gap) {
  int64_t count = 1;
  for (; s->n > 0 && s->dim[s->n - 1].step - count <= gap; s->n--)
    count += (s->dim[s->n - 1].count - 1) * s->dim[s->n - 1].step;
  return count;
}

/* Runs of `count` elements along the list's dims from the k-th on. */
static void runs_along(const walker *w, const steps *s, int k, int64_t at, int64_t count) {
  if (k == s->n) {
    run_of(w, at, count);
    return;
  }
  for (int64_t e = 0; e < s->dim[k].count; e++, at += s->dim[k].step)
    runs_along(w, s, k + 1, at, count);
}

static void box_runs(walker *w) {
  const int k = w->operand;
  steps s;
  s.n = 0;
  for (int n = 0; n < w->i->n_dims; n++)
    if (w->i->dim[n].count > 1 && w->i->dim[n].step[k])
      add_step(&s, w->i->dim[n].count, w->i->dim[n].step[k], w);
  const int64_t count = take_run(&s, w->gap);
  runs_along(w, &s, 0, 0, count);
}

/* Of `count` elements, at `at` and every `step` further on, the first and the last inside 0 .. in -
 * 1. */
static void keep_inside(int64_t at, int64_t step, int64_t in, int64_t *first, int64_t *last) {
  while (*first <= *last && (at + *first * step < 0 || at + *first * step >= in))
    ++*first;
  while (*first <= *last && (at + *last * step < 0 || at + *last * step >= in))
    --*last;
}

/* Runs along one dim, at one setting of the others: the part inside the image. */
static void window_row(const walker *w, const npu_dim *row, const npu_cursor *at) {
  const npu_instr *i = w->i;
  const int64_t by = row->step[w->operand];
  int64_t first = 0, last = row->count - 1;
  keep_inside(i->window.origin[0] + at->high, row->high, i->window.size[0], &first, &last);
  keep_inside(i->window.origin[1] + at->wide, row->wide, i->window.size[1], &first, &last);
  if (first > last) return;
  if (by == 1 || (by > 0 && by - 1 <= w->gap)) {
    run_of(w, at->off[w->operand] + first * by, (last - first) * by + 1);
    return;
  }
  for (int64_t e = first; e <= (by ? last : first); e++)
    run_of(w, at->off[w->operand] + e * by, 1);
}

/* A window at a border: row by row, along the dim of the smallest step. */
static void window_runs(const walker *w) {
  npu_instr outer = *w->i;
  npu_cursor at = {.high = 0};
  npu_dim row = {.count = 1};
  int k = outer.n_dims - 1;
  for (int n = 0; n < outer.n_dims; n++)
    if (outer.dim[n].step[w->operand] > 0 &&
        outer.dim[n].step[w->operand] < outer.dim[k].step[w->operand])
      k = n;
  if (k >= 0) {
    row = outer.dim[k];
    outer.n_dims--;
    memmove(&outer.dim[k], &outer.dim[k + 1], (size_t)(outer.n_dims - k) * sizeof *outer.dim);
  }
  do
    window_row(w, &row, &at);
  while (npu_cursor_next(&outer, &at));
}

/* Whether a part of the window is outside the image. */
static bool has_border(const npu_instr *i) {
  int64_t lo[2] = {i->window.origin[0], i->window.origin[1]}, hi[2] = {lo[0], lo[1]};
  for (int k = 0; k < i->n_dims; k++) {
    const int64_t by[2] = {i->dim[k].high, i->dim[k].wide};
    for (int e = 0; e < 2; e++)
      *(by[e] < 0 ? &lo[e] : &hi[e]) += by[e] * (i->dim[k].count - 1);
  }
  return lo[0] < 0 || lo[1] < 0 || hi[0] >= i->window.size[0] || hi[1] >= i->window.size[1];
}

/* Elements between single ones that a transfer to the cube reads, which do not matter to loose
 * runs: other taps (of 7 x 7) of the weights, which are filled and refilled together.  Between
 * longer runs, and in the vector unit's memory, others may be written meanwhile. */
enum { NEAR = 48 };

static bool reads_taps(const npu_machine *m, const npu_instr *i, int operand) {
  bool apart = true;
  for (int n = 0; n < i->n_dims; n++)
    apart = apart && (i->dim[n].count == 1 || i->dim[n].step[operand] != 1);
  return operand && apart && (i->op == NPU_COPY || i->op == NPU_LOAD) && i->from[0].memory > 0 &&
         (i->to.memory == m->cube.left || i->to.memory == m->cube.right);
}

void npu_runs(const tf_npu *p, const npu_instr *i, int operand, bool loose, npu_run_do each,
              void *ctx) {
  const npu_operand *o = operand ? &i->from[operand - 1] : &i->to;
  const npu_tensor *t = o->memory >= 0 && o->tensor >= 0 ? &p->tensor[o->tensor] : NULL;
  if (o->memory < 0 || (t && (t->in || (loose && t->unread)))) return;
  const int64_t bytes = npu_type_bytes(o->type), align = p->machine.memory[o->memory].align;
  walker w = {
      .i = i, .operand = operand, .memory = o->memory, .bytes = bytes, .visit = each, .ctx = ctx};
  w.begin = npu_begin_of(o) + (t ? t->offset : 0);
  w.gap = loose ? (align - 1) / bytes
                : 0; /* another operand may begin after an aligned number of bytes */
  if (loose && reads_taps(&p->machine, i, operand) && w.gap < NEAR) w.gap = NEAR;
  if (i->op == NPU_MAD)
    product_runs(&w, &p->machine.cube);
  else if (i->op == NPU_LOAD && operand && has_border(i))
    window_runs(&w);
  else
    box_runs(&w);
}

/* ---- pieces --------------------------------------------------------------------------------- */
enum { WORD = 64 };

static void set_begin(npu_pieces *p, int64_t at) {
  p->begins[at / WORD] |= UINT64_C(1) << at % WORD;
}

static int64_t begin_of(const npu_pieces *p, int64_t at) {
  int64_t word = at / WORD;
  uint64_t bits = p->begins[word] & ~UINT64_C(0) >> (WORD - 1 - at % WORD);
  while (!bits)
    bits = p->begins[--word]; /* a piece begins at 0 */
  return word * WORD + WORD - 1 - __builtin_clzll(bits);
}

void npu_pieces_divide(npu_pieces *p, int64_t at) {
  memcpy(npu_pieces_value(p, at), npu_pieces_value(p, begin_of(p, at)), p->size);
  set_begin(p, at);
}

int64_t npu_pieces_far(const npu_pieces *p, int64_t at) {
  const int64_t words = p->units / WORD + 1;
  int64_t word = at / WORD + 1;
  while (word < words && !p->begins[word])
    word++;
  return word < words ? word * WORD + __builtin_ctzll(p->begins[word]) : p->units;
}

/* Clears bits from `at` up to `end`. */
static void clear(uint64_t *bits, int64_t at, int64_t end) {
  for (; at < end; at = (at / WORD + 1) * WORD) {
    const uint64_t from = ~UINT64_C(0) << at % WORD;
    bits[at / WORD] &=
        ~(end - at / WORD * WORD < WORD ? from & ~(~UINT64_C(0) << end % WORD) : from);
  }
}

void *npu_pieces_join(npu_pieces *p, int64_t at, int64_t end) {
  npu_pieces_cut(p, at, end);
  clear(p->begins, at + 1, end);
  return npu_pieces_value(p, at);
}

bool npu_pieces_new(npu_pieces *of, const tf_npu *p, size_t size) {
  bool ok = true;
  for (int m = 0; m < p->machine.n_memories; m++) {
    const int64_t bytes = m ? p->machine.memory[m].bytes : p->bytes;
    of[m] = (npu_pieces){.units = bytes / NPU_UNIT + 1, .size = size};
    of[m].begins = calloc((size_t)(of[m].units / WORD + 1), sizeof *of[m].begins);
    of[m].value = malloc((size_t)of[m].units * size); /* most of it is never used */
    ok = ok && of[m].begins && of[m].value;
    if (of[m].value) memset(of[m].value, 0, size);
    if (of[m].begins) set_begin(&of[m], 0);
  }
  return ok;
}

void npu_pieces_free(npu_pieces *of) {
  for (int m = 0; m < NPU_MEMORIES; m++) {
    free(of[m].begins);
    free(of[m].value);
  }
}
