/* Tiles of a product's operands as blocks: which rank is what, and the way between blocks and rows. */
#include <string.h>

#include "codegen/target/npu/pass/pass.h"

/* The op's dim behind rank r of the operand; -1: a constant. */
static int dim_of(const npu_build *b, const npu_bank *k, int r) {
  const tf_op *op = &b->p->wl->ops[k->op];
  if (!k->role) return op->dims[r];
  const tf_index *ix = &op->reads[k->role - 1].index[r];
  return ix->n_terms ? ix->terms[0].dim : -1;
}

static bool read_has(const tf_op *op, int read, int rank, int dim) {
  bool has = false;
  for (int r = 0; r < rank; r++)
    has |= op->reads[read].index[r].n_terms && op->reads[read].index[r].terms[0].dim == dim;
  return has;
}

npu_side npu_side_of(const npu_build *b, const npu_bank *k, int r) {
  const tf_op *op = &b->p->wl->ops[k->op];
  const int dim = dim_of(b, k, r);
  const bool left = read_has(op, 0, b->p->wl->tensors[op->reads[0].tensor].rank, dim);
  const bool right = read_has(op, 1, b->p->wl->tensors[op->reads[1].tensor].rank, dim);
  bool reduced = true;
  for (int i = 0; i < op->n_out_dims; i++)
    reduced &= op->dims[i] != dim;
  if (dim < 0 || (left && right && !reduced)) return NPU_BATCH;
  return reduced || (!k->role && right) ? NPU_COLUMN : NPU_ROW;
}

npu_tile npu_tile_of(const npu_build *b, const npu_bank *k, const tf_ival *box) {
  const npu_cube *c = &b->t.machine.cube;
  npu_tile t = {1, 1, 1, k->role == 2 ? c->n : c->m, k->role ? c->k : c->n, 0, 0};
  for (int r = 0; r < k->rank; r++) {
    const npu_side side = npu_side_of(b, k, r);
    *(side == NPU_BATCH ? &t.batch : side == NPU_ROW ? &t.rows : &t.columns) *= box[r].len;
  }
  t.line = (t.columns + t.wide - 1) / t.wide * t.high * t.wide;
  t.words = (t.rows + t.high - 1) / t.high * t.line;
  return t;
}

/* ---- moving ------------------------------------------------------------------------------------------------ */
/* A rectangle of a matrix: `at` of the rows bank, elements apart there along rows and columns. */
typedef struct {
  npu_bank *blocks, *rows;
  bool out;
  npu_tile t;
  int64_t matrix;         /* which one */
  int64_t x[TF_MAX_RANK]; /* of its first element */
  int64_t down, right;    /* elements of the rows bank */
} piece;

/* Of n elements from `from` on: how many fill the block they begin in, then whole blocks, then the rest. */
static void cut(int64_t from, int64_t n, int64_t by, int64_t part[3]) {
  const int64_t head = from % by ? (by - from % by < n ? by - from % by : n) : 0;
  part[0] = head;
  part[1] = (n - head) / by * by;
  part[2] = n - head - part[1];
}

/* Part of a side: n elements from `first` of the matrix on, `off` behind the rectangle's first. */
typedef struct {
  int64_t first, n, off;
} span;

/* A part of the rectangle that stands in whole blocks, or in one, along each side. */
static void put(npu_build *b, const piece *q, span row, span column) {
  const npu_tile *t = &q->t;
  const int64_t in = q->matrix * t->words + row.first / t->high * t->line + column.first / t->wide * t->high * t->wide +
                     row.first % t->high * t->wide + column.first % t->wide;
  const npu_operand blocks =
      npu_operand_at(b, q->blocks, npu_slot_at(q->blocks) + in * npu_type_bytes(q->blocks->type));
  const npu_operand flat = npu_operand_at(b, q->rows,
                                          npu_bank_at(q->rows, q->x) + (row.off * q->down + column.off * q->right) *
                                                                           npu_type_bytes(q->rows->type));
  npu_instr *i = npu_copy(b, q->out ? flat : blocks, q->out ? blocks : flat, q->blocks->tensor);
  if (!i) return;
  const int64_t high = row.n > t->high ? t->high : row.n, wide = column.n > t->wide ? t->wide : column.n;
  const int64_t count[4] = {row.n / high, column.n / wide, high, wide};
  const int64_t of[4] = {t->line, t->high * t->wide, t->wide, 1};
  const int64_t at[4] = {high * q->down, wide * q->right, q->down, q->right};
  for (int k = 0; k < 4; k++)
    npu_dim_add(b, i, count[k], q->out ? at[k] : of[k], q->out ? of[k] : at[k], 0, 0);
}

static void put_rectangle(npu_build *b, const piece *q, int64_t row, int64_t rows, int64_t column, int64_t columns) {
  int64_t down[3], right[3], r = 0, c = 0;
  cut(row, rows, q->t.high, down);
  cut(column, columns, q->t.wide, right);
  for (int i = 0; i < 3; r += down[i++]) {
    c = 0;
    for (int j = 0; j < 3; c += right[j++])
      if (down[i] && right[j]) put(b, q, (span){row + r, down[i], r}, (span){column + c, right[j], c});
  }
}

/* The innermost rank of that side that has more than one element; -1: none has. */
static int minor(const npu_build *b, const npu_bank *k, const tf_ival *box, npu_side side) {
  int found = -1;
  for (int r = 0; r < k->rank; r++)
    if (box[r].len > 1 && npu_side_of(b, k, r) == side) found = r;
  return found;
}

static bool next(int rank, const tf_ival *box, int row, int column, int64_t *x) {
  for (int r = rank - 1; r >= 0; r--) {
    if (r == row || r == column) continue;
    if (++x[r] < box[r].lo + box[r].len) return true;
    x[r] = box[r].lo;
  }
  return false;
}

void npu_move_blocks(npu_build *b, npu_bank *blocks, npu_bank *rows, const tf_ival *box, bool out) {
  const int row = minor(b, blocks, box, NPU_ROW), column = minor(b, blocks, box, NPU_COLUMN);
  if (b->dry || !b->ok) return;
  if (!npu_bank_whole(rows, box)) {
    npu_stop(b, (tf_loc){0}, "'%.40s' would have a seam where the cube reads it",
             b->p->wl->tensors[blocks->tensor].name);
    return;
  }
  piece q = {.blocks = blocks, .rows = rows, .out = out, .t = npu_tile_of(b, blocks, box)};
  for (int r = 0; r < blocks->rank; r++)
    q.x[r] = box[r].lo;
  q.down = row >= 0 ? rows->stride[row] : 0;
  q.right = column >= 0 ? rows->stride[column] : 0;
  do {
    int64_t at[3] = {0, 0, 0};
    for (int r = 0; r < blocks->rank; r++) {
      int64_t *side = &at[npu_side_of(b, blocks, r)];
      *side = *side * box[r].len + (q.x[r] - box[r].lo);
    }
    q.matrix = at[NPU_BATCH];
    put_rectangle(b, &q, at[NPU_ROW], row >= 0 ? box[row].len : 1, at[NPU_COLUMN], column >= 0 ? box[column].len : 1);
  } while (next(blocks->rank, box, row, column, q.x) && b->ok);
}
