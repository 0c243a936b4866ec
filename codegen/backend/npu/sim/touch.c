/* Enumerates the elements that instructions access, in the order of their dims. */
#include "codegen/backend/npu/sim/touch.h"

bool npu_cursor_next(const npu_instr *i, npu_cursor *c) {
  for (int k = i->n_dims - 1; k >= 0; k--) {
    const npu_dim *d = &i->dim[k];
    const bool on = ++c->at[k] < d->count;
    const int64_t by = on ? 1 : 1 - d->count;
    for (int o = 0; o < 4; o++)
      c->off[o] += by * d->step[o];
    c->high += by * d->high;
    c->wide += by * d->wide;
    if (on) return true;
    c->at[k] = 0;
  }
  return false;
}

void npu_sides(const npu_instr *i, int operand, int64_t *rows, int64_t *columns) {
  *rows = operand == 2 ? i->mad.n : i->mad.m;
  *columns = operand ? i->mad.k : i->mad.n;
}

npu_layout npu_layout_of(const npu_cube *c, const npu_instr *i, int operand) {
  int64_t rows, columns;
  npu_sides(i, operand, &rows, &columns);
  npu_layout l = {operand == 2 ? c->n : c->m, operand ? c->k : c->n, i->mad.ld[operand], c->rows,
                  operand == 2};
  if (!l.ld) l.ld = (columns + l.columns - 1) / l.columns * l.rows * l.columns;
  return l;
}

int64_t npu_element(const npu_layout *l, int64_t row, int64_t column) {
  if (l->flat) return l->rows_are_k ? column * l->ld + row : row * l->ld + column;
  return row / l->rows * l->ld + column / l->columns * l->rows * l->columns +
         row % l->rows * l->columns + column % l->columns;
}

static int64_t begin_of(const tf_npu *p, const npu_operand *o) {
  return npu_begin_of(o) + (o->tensor >= 0 ? p->tensor[o->tensor].offset : 0);
}

static void touch_mad(const tf_npu *p, const npu_instr *i, npu_each each, void *ctx) {
  for (int k = 2; k >= 0; k--) {
    const npu_operand *o = k ? &i->from[k - 1] : &i->to;
    const npu_layout l = npu_layout_of(&p->machine.cube, i, k);
    int64_t rows, columns;
    npu_sides(i, k, &rows, &columns);
    for (int64_t r = 0; r < rows; r++)
      for (int64_t c = 0; c < columns; c++)
        each(ctx, i, k, begin_of(p, o) + npu_element(&l, r, c) * npu_type_bytes(o->type));
  }
}

/* Whether the window's source is inside the image there, rather than padding. */
static bool in_image(const npu_instr *i, const npu_cursor *c) {
  const int64_t high = i->window.origin[0] + c->high, wide = i->window.origin[1] + c->wide;
  return i->op != NPU_LOAD ||
         (high >= 0 && high < i->window.size[0] && wide >= 0 && wide < i->window.size[1]);
}

void npu_touch(const tf_npu *p, const npu_instr *i, npu_each each, void *ctx) {
  npu_cursor c = {.high = 0};
  if (i->op == NPU_MAD) {
    touch_mad(p, i, each, ctx);
    return;
  }
  do
    for (int k = npu_facts_of(i->op)->sources; k >= 0; k--) {
      const npu_operand *o = k ? &i->from[k - 1] : &i->to;
      if (o->memory >= 0 && (k == 0 || in_image(i, &c)))
        each(ctx, i, k, begin_of(p, o) + c.off[k] * npu_type_bytes(o->type));
    }
  while (npu_cursor_next(i, &c));
}
