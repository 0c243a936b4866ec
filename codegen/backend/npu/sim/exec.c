/* Executes instructions on data. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/backend/npu/sim/run.h"
#include "codegen/backend/npu/sim/touch.h"

static double value_at(const npu_run *r, const npu_operand *o, int64_t at) {
  const uint8_t *b = r->bytes[o->memory] + at;
  if (o->type == NPU_F16) {
    uint16_t h;
    memcpy(&h, b, sizeof h);
    return (double)npu_from_half(h);
  }
  float x;
  memcpy(&x, b, sizeof x);
  return (double)x;
}

static void put_at(npu_run *r, const npu_operand *o, int64_t at, double v) {
  uint8_t *b = r->bytes[o->memory] + at;
  const float x = (float)v;
  const uint16_t h = npu_to_half(x);
  if (o->type == NPU_F16)
    memcpy(b, &h, sizeof h);
  else
    memcpy(b, &x, sizeof x);
}

static double load(npu_run *r, int queue, const npu_step *s, int operand, int64_t at) {
  npu_reads(r, queue, s, operand, at);
  return value_at(r, npu_operand_of(npu_instr_of(r, s), operand), at);
}

static void store(npu_run *r, int queue, const npu_step *s, int64_t at, double v) {
  npu_writes(r, queue, s, at);
  put_at(r, &npu_instr_of(r, s)->to, at, v);
}

/* Whether the operand's whole box is inside. */
static bool box_inside(npu_run *r, const npu_step *s, int operand) {
  const npu_instr *i = npu_instr_of(r, s);
  int64_t lo = 0, hi = 1;
  const int64_t size = npu_type_bytes(npu_operand_of(i, operand)->type);
  for (int k = 0; k < i->n_dims; k++) {
    const int64_t far = (i->dim[k].count - 1) * i->dim[k].step[operand];
    *(far < 0 ? &lo : &hi) += far;
  }
  return npu_inside(r, s, operand, lo * size, hi * size);
}

static void run_copy(npu_run *r, int queue, const npu_step *s) {
  const npu_instr *i = npu_instr_of(r, s);
  const int64_t to = npu_type_bytes(i->to.type), from = npu_type_bytes(i->from[0].type);
  npu_cursor c = {.high = 0};
  if (!box_inside(r, s, 0) || !box_inside(r, s, 1)) return;
  do
    store(r, queue, s, s->place[0] + to * c.off[0],
          load(r, queue, s, 1, s->place[1] + from * c.off[1]));
  while (npu_cursor_next(i, &c));
}

/* A copy of a window: zeros where it is outside of the image. */
static void window(npu_run *r, int queue, const npu_step *s) {
  const npu_instr *i = npu_instr_of(r, s);
  const int64_t to = npu_type_bytes(i->to.type), from = npu_type_bytes(i->from[0].type);
  npu_cursor c = {.high = s->place[2], .wide = s->place[3]};
  if (!box_inside(r, s, 0)) return;
  do {
    double v = 0;
    const int64_t at = s->place[1] + from * c.off[1];
    if (c.high >= 0 && c.high < i->window.size[0] && c.wide >= 0 && c.wide < i->window.size[1]) {
      if (!npu_inside(r, s, 1, at - s->place[1], at - s->place[1] + from)) return;
      v = load(r, queue, s, 1, at);
    }
    store(r, queue, s, s->place[0] + to * c.off[0], v);
  } while (npu_cursor_next(i, &c));
}

static void vector(npu_run *r, int queue, const npu_step *s) {
  const npu_instr *i = npu_instr_of(r, s);
  const int sources = npu_facts_of(i->op)->sources, own = npu_is_reduction(i->op);
  npu_cursor c = {.high = 0};
  bool inside = box_inside(r, s, 0);
  for (int k = 1; k <= sources; k++)
    inside = inside && (i->from[k - 1].memory < 0 || box_inside(r, s, k));
  if (!inside) return;
  do {
    double a[4];
    const int64_t to = s->place[0] + npu_type_bytes(i->to.type) * c.off[0];
    if (own) a[0] = load(r, queue, s, 0, to);
    for (int k = 1; k <= sources; k++) {
      const npu_operand *o = &i->from[k - 1];
      a[own + k - 1] = o->memory < 0
                           ? o->number + (double)c.off[k]
                           : load(r, queue, s, k, s->place[k] + npu_type_bytes(o->type) * c.off[k]);
    }
    store(r, queue, s, to, npu_value(i->op, a));
  } while (npu_cursor_next(i, &c));
}

/* ---- the cube ------------------------------------------------------------------------------- */
static void mad_values(npu_run *r, int queue, const npu_step *s, const npu_layout at[3],
                       double *left, double *right) {
  const npu_instr *i = npu_instr_of(r, s);
  const int64_t m = i->mad.m, n = i->mad.n, kk = i->mad.k;
  const int64_t size[3] = {npu_type_bytes(i->to.type), npu_type_bytes(i->from[0].type),
                           npu_type_bytes(i->from[1].type)};
  for (int64_t x = 0; x < m; x++)
    for (int64_t k = 0; k < kk; k++)
      left[x * kk + k] = load(r, queue, s, 1, s->place[1] + size[1] * npu_element(&at[1], x, k));
  for (int64_t y = 0; y < n; y++)
    for (int64_t k = 0; k < kk; k++)
      right[y * kk + k] = load(r, queue, s, 2, s->place[2] + size[2] * npu_element(&at[2], y, k));
  for (int64_t x = 0; x < m; x++)
    for (int64_t y = 0; y < n; y++) {
      const int64_t to = s->place[0] + size[0] * npu_element(&at[0], x, y);
      double sum = i->mad.add ? load(r, queue, s, 0, to) : 0;
      for (int64_t k = 0; k < kk; k++)
        sum += left[x * kk + k] * right[y * kk + k];
      store(r, queue, s, to, sum);
    }
}

static void mad(npu_run *r, int queue, const npu_step *s) {
  const npu_instr *i = npu_instr_of(r, s);
  const int64_t m = i->mad.m, n = i->mad.n, kk = i->mad.k;
  npu_layout at[3];
  int64_t last[3];
  for (int o = 0; o < 3; o++) {
    int64_t rows, columns;
    at[o] = npu_layout_of(&r->p->machine.cube, i, o);
    npu_sides(i, o, &rows, &columns);
    last[o] = npu_element(&at[o], rows - 1, columns - 1);
  }
  bool inside = true;
  for (int o = 0; o < 3; o++)
    inside = npu_inside(r, s, o, 0, (last[o] + 1) * npu_type_bytes(npu_operand_of(i, o)->type)) &&
             inside;
  if (!inside) return;
  double *left = calloc((size_t)(m * kk), sizeof *left),
         *right = calloc((size_t)(n * kk), sizeof *right);
  if (left && right)
    mad_values(r, queue, s, at, left, right);
  else
    r->ok = tf_out_of_memory_at(r->d, i->loc);
  free(left);
  free(right);
}

static int64_t effort(const npu_instr *i) {
  if (i->op != NPU_MAD) return npu_count(i);
  return i->mad.m * i->mad.n + i->mad.m * i->mad.n / 16 * i->mad.k;
}

void npu_exec(npu_run *r, int queue, const npu_step *s) {
  const npu_instr *i = npu_instr_of(r, s);
  if (r->left < 0) return;
  if ((r->left -= effort(i)) < 0)
    r->ok = tf_fail(r->d, i->loc, TF_E_LIMIT, "the program touches more elements than a run may");
  else if (i->op == NPU_MAD)
    mad(r, queue, s);
  else if (i->op == NPU_LOAD)
    window(r, queue, s);
  else if (i->op == NPU_COPY)
    run_copy(r, queue, s);
  else
    vector(r, queue, s);
}
