/* Operands of products as tiles in blocks: the roles of ranks, and transfers between blocks and
 * rows. */
#include <string.h>

#include "codegen/backend/npu/pass/pass.h"

static const tf_op *op_of_bank(const npu_build *b, const npu_bank *k) {
  return &b->p->wl->ops[k->op];
}

static npu_side side_of(const npu_build *b, const npu_bank *k, int i) {
  return npu_side_of(b->p->wl, op_of_bank(b, k), k->role, k->dims[i]);
}

void npu_operand_dims(const npu_build *b, npu_bank *k) {
  const tf_op *op = op_of_bank(b, k);
  k->rank = 0;
  for (int i = 0; i < op->n_dims; i++)
    if (k->role ? npu_read_has(b->p->wl, op, k->role - 1, op->dims[i]) : i < op->n_out_dims)
      k->dims[k->rank++] = i;
}

/* ---- moving --------------------------------------------------------------------------------- */
/* A rectangle of a matrix: a row dim and a column dim of the operand vary from `point` on, the
 * others are fixed. */
typedef struct {
  npu_bank *blocks, *rows;
  bool out;
  npu_tile t;
  int side[2];                /* the operand's dims along its rows and columns; -1: a single one */
  int64_t step[2];            /* the stride of each in the bank with rows */
  int64_t first[2];           /* row and column of the matrix at `point` */
  int64_t matrix;             /* its number */
  int64_t point[TF_MAX_RANK]; /* values of the operand's dims */
  int64_t base[TF_MAX_RANK];  /* coordinates of the tensor there */
  int64_t by[2][TF_MAX_RANK]; /* and how far they move from one row, one column to the next */
  int edge[2];  /* ranks of the tensor that are read beyond its border, in padding; -1: none */
  bool outside; /* all of it is beyond, along a rank that does not move */
} piece;

/* Divides n elements, from `from` on: those that fill up the first block, then whole blocks, then
 * the rest. */
static void divide_by_blocks(int64_t from, int64_t n, int64_t by, int64_t part[3]) {
  const int64_t head = from % by ? (by - from % by < n ? by - from % by : n) : 0;
  part[0] = head;
  part[1] = (n - head) / by * by;
  part[2] = n - head - part[1];
}

/* A part of a side: n elements from `off` on, relative to the rectangle's first. */
typedef struct {
  int64_t begin, n;
} span;

/* The step of coordinate r of the tensor for one step of the operand's dim i (-1: none). */
static int64_t coef(const npu_build *b, const npu_bank *k, int r, int i) {
  if (i < 0) return 0;
  const tf_op *op = op_of_bank(b, k);
  if (!k->role) return r == i;
  const tf_index *ix = &op->reads[k->role - 1].index[r];
  for (int t = 0; t < ix->n_terms; t++)
    if (ix->terms[t].dim == op->dims[k->dims[i]]) return ix->terms[t].coef;
  return 0;
}

static int64_t step_of(const npu_build *b, const npu_bank *blocks, const npu_bank *rows, int i) {
  int64_t step = 0;
  for (int r = 0; r < rows->rank; r++)
    step += coef(b, blocks, r, i) * rows->stride[r];
  return step;
}

/* Coordinate r of the rectangle's element `down` rows and `right` columns from `point`. */
static int64_t coordinate(const piece *q, int r, int64_t down, int64_t right) {
  return q->base[r] + down * q->by[0][r] + right * q->by[1][r];
}

static bool is_edge(const piece *q, int r) { return r == q->edge[0] || r == q->edge[1]; }

/* Coordinates of `point`. */
static void find_base(const npu_build *b, piece *q) {
  const npu_bank *k = q->blocks;
  const tf_tensor *z = &b->p->wl->tensors[q->rows->tensor];
  q->outside = false;
  for (int r = 0; r < q->rows->rank; r++) {
    q->base[r] = k->role ? op_of_bank(b, k)->reads[k->role - 1].index[r].c : 0;
    for (int i = 0; i < k->rank; i++)
      q->base[r] += coef(b, k, r, i) * q->point[i];
    q->outside |= q->edge[0] >= 0 && !is_edge(q, r) && !q->by[0][r] && !q->by[1][r] &&
                  (q->base[r] < z->lo[r] || q->base[r] >= z->lo[r] + z->extent[r]);
  }
}

/* What the part reads of the tensor along rank r, without padding: coordinates are linear, so that
 * its corners determine it. */
static tf_ival extent(const npu_build *b, const piece *q, int r, span row, span column) {
  const tf_tensor *z = &b->p->wl->tensors[q->rows->tensor];
  int64_t lo = INT64_MAX, hi = INT64_MIN;
  for (int corner = 0; corner < 4; corner++) {
    const int64_t x = coordinate(q, r, row.begin + (corner & 1 ? row.n - 1 : 0),
                                 column.begin + (corner & 2 ? column.n - 1 : 0));
    lo = x < lo ? x : lo;
    hi = x > hi ? x : hi;
  }
  return tf_common_part((tf_ival){lo, hi - lo + 1}, (tf_ival){z->lo[r], z->extent[r]});
}

/* The offset of the part's first element, or what it would be in padding if the bank continued
 * there. */
static int64_t offset_of(const npu_build *b, const piece *q, span row, span column, bool *seam) {
  const npu_bank *k = q->rows;
  int64_t x[TF_MAX_RANK], back = 0;
  tf_ival box[TF_MAX_RANK];
  bool none = false;
  for (int r = 0; r < k->rank; r++) {
    box[r] = extent(b, q, r, row, column);
    none |= box[r].len <= 0;
    x[r] = box[r].lo;
    back += (x[r] - coordinate(q, r, row.begin, column.begin)) * k->stride[r];
  }
  *seam = !none && !npu_bank_whole(k, box);
  return none ? npu_slot_at(k) : npu_bank_at(k, x) - back * npu_type_bytes(k->type);
}

/* A row from which on the window goes over nothing of so many. */
static int64_t behind(const piece *q, span row, span column, int64_t rows) {
  const int64_t down = (row.n - 1) * q->by[0][q->edge[0]],
                right = (column.n - 1) * q->by[1][q->edge[0]];
  return rows - (down < 0 ? down : 0) - (right < 0 ? right : 0);
}

/* Makes the transfer go element by element, with zeros beyond the tensor's border. */
static void go_by_element(const npu_build *b, const piece *q, npu_instr *i, span row, span column) {
  const tf_tensor *z = &b->p->wl->tensors[q->rows->tensor];
  i->op = NPU_LOAD;
  for (int e = 0; e < 2; e++) {
    const int r = q->edge[e];
    i->window.origin[e] = r < 0 ? 0 : coordinate(q, r, row.begin, column.begin) - z->lo[r];
    i->window.size[e] = r < 0 ? 1 : z->extent[r];
  }
  if (q->outside) i->window.origin[0] = behind(q, row, column, i->window.size[0]);
}

/* Transfers a part of the rectangle that consists of whole blocks, or of one, along each side. */
static void transfer(npu_build *b, const piece *q, span row, span column) {
  const npu_tile *t = &q->t;
  const int64_t down = q->first[0] + row.begin, right = q->first[1] + column.begin;
  const int64_t in = q->matrix * t->words + down / t->high * t->line +
                     right / t->wide * t->high * t->wide + down % t->high * t->wide +
                     right % t->wide;
  bool seam;
  const npu_operand blocks =
      npu_operand_at(b, q->blocks, npu_slot_at(q->blocks) + in * npu_type_bytes(q->blocks->type));
  const npu_operand flat = npu_operand_at(b, q->rows, offset_of(b, q, row, column, &seam));
  npu_instr *i = npu_copy(b, q->out ? flat : blocks, q->out ? blocks : flat, q->blocks->tensor);
  if (!i) return;
  if (q->edge[0] >= 0) go_by_element(b, q, i, row, column);
  const int64_t high = row.n > t->high ? t->high : row.n,
                wide = column.n > t->wide ? t->wide : column.n;
  const int64_t count[4] = {row.n / high, column.n / wide, high, wide};
  const int64_t of[4] = {t->line, t->high * t->wide, t->wide, 1}, by[4] = {high, wide, 1, 1};
  for (int k = 0; k < 4; k++) {
    int64_t edge[2] = {0, 0};
    const int64_t at = by[k] * q->step[k % 2];
    for (int e = 0; e < 2; e++)
      edge[e] = q->edge[e] < 0 ? 0 : by[k] * q->by[k % 2][q->edge[e]];
    npu_dim_add(b, i,
                (npu_dim){count[k], {q->out ? at : of[k], q->out ? of[k] : at}, edge[0], edge[1]});
  }
}

static void put_rectangle(npu_build *b, const piece *q, span row, span column) {
  int64_t down[3], right[3], r = row.begin, c;
  divide_by_blocks(q->first[0] + row.begin, row.n, q->t.high, down);
  divide_by_blocks(q->first[1] + column.begin, column.n, q->t.wide, right);
  for (int i = 0; i < 3; r += down[i++]) {
    c = column.begin;
    for (int j = 0; j < 3; c += right[j++])
      if (down[i] && right[j]) transfer(b, q, (span){r, down[i]}, (span){c, right[j]});
  }
}

/* Halves the part until no seam of the bank with rows is inside. */
static void put_parts(npu_build *b, const piece *q, span row, span column) {
  bool seam;
  offset_of(b, q, row, column, &seam);
  if (!seam) {
    put_rectangle(b, q, row, column);
  } else if (row.n > 1) {
    put_parts(b, q, (span){row.begin, row.n / 2}, column);
    put_parts(b, q, (span){row.begin + row.n / 2, row.n - row.n / 2}, column);
  } else {
    put_parts(b, q, row, (span){column.begin, column.n / 2});
    put_parts(b, q, row, (span){column.begin + column.n / 2, column.n - column.n / 2});
  }
}

/* The dims of a side are nested in the op's order, but the longest reduced one is innermost: long
 * runs need few transfers. Both operands agree, as they have the same ranges of reduced dims. */
static int innermost(const npu_build *b, const npu_bank *k, const tf_ival *box, npu_side side) {
  int found = -1;
  for (int i = 0; i < k->rank; i++) {
    if (side_of(b, k, i) != side || box[i].len == 1) continue;
    if (found < 0 || k->dims[i] < op_of_bank(b, k)->n_out_dims || box[i].len > box[found].len)
      found = i;
  }
  return found;
}

static void place_in_matrix(const npu_build *b, piece *q, const tf_ival *box) {
  const npu_bank *k = q->blocks;
  int64_t at[3] = {0, 0, 0};
  find_base(b, q);
  for (int i = 0; i < k->rank; i++)
    if (i != q->side[0] && i != q->side[1]) {
      int64_t *side = &at[side_of(b, k, i)];
      *side = *side * box[i].len + (q->point[i] - box[i].lo);
    }
  q->matrix = at[NPU_BATCH];
  q->first[0] = at[NPU_ROW] * (q->side[0] < 0 ? 1 : box[q->side[0]].len);
  q->first[1] = at[NPU_COLUMN] * (q->side[1] < 0 ? 1 : box[q->side[1]].len);
}

static bool next(const piece *q, const tf_ival *box, int64_t *x) {
  for (int i = q->blocks->rank - 1; i >= 0; i--) {
    if (i == q->side[0] || i == q->side[1]) continue;
    if (++x[i] < box[i].lo + box[i].len) return true;
    x[i] = box[i].lo;
  }
  return false;
}

/* The number of ranks along which the box crosses the tensor's border, and the first two. */
static int edges_of(const npu_build *b, piece *q, const tf_ival *box) {
  const npu_bank *k = q->blocks;
  const tf_tensor *z = &b->p->wl->tensors[q->rows->tensor];
  int n = 0;
  q->edge[0] = q->edge[1] = -1;
  for (int r = 0; r < z->rank; r++) {
    int64_t lo = k->role ? op_of_bank(b, k)->reads[k->role - 1].index[r].c : 0, hi;
    for (int i = 0; i < k->rank; i++)
      lo += coef(b, k, r, i) * box[i].lo;
    hi = lo;
    for (int i = 0; i < k->rank; i++) {
      const int64_t far = coef(b, k, r, i) * (box[i].len - 1);
      *(far < 0 ? &lo : &hi) += far;
    }
    if (lo >= z->lo[r] && hi < z->lo[r] + z->extent[r]) continue;
    if (n < 2) q->edge[n] = r;
    n++;
  }
  return n;
}

/* Where a box is read beyond the border along more ranks than a window has: those that rows and
 * columns move; along the others a piece is inside, or outside as a whole.  False: these are more,
 * too. */
static bool moving_edges(const npu_build *b, piece *q) {
  int n = 0;
  q->edge[0] = q->edge[1] = -1;
  for (int r = 0; r < b->p->wl->tensors[q->rows->tensor].rank; r++) {
    if (!q->by[0][r] && !q->by[1][r]) continue;
    if (n < 2) q->edge[n] = r;
    n++;
  }
  if (n == 0) q->edge[0] = 0;
  return n <= 2;
}

/* The ranks along which some box of the op crosses the tensor's border: all its transfers are
 * windows over these, so that steps of a loop differ only in places. If these are more than a
 * window can have, those of this box. */
static bool find_edges(npu_build *b, piece *q, const tf_ival *box) {
  const tf_op *op = op_of_bank(b, q->blocks);
  const tf_tensor *z = &b->p->wl->tensors[q->rows->tensor];
  tf_ival whole[TF_MAX_RANK];
  for (int i = 0; i < q->blocks->rank; i++)
    whole[i] = (tf_ival){0, b->p->wl->dims[op->dims[q->blocks->dims[i]]].extent};
  if (edges_of(b, q, whole) <= 2 || moving_edges(b, q) || edges_of(b, q, box) <= 2) return true;
  npu_stop(b, z->at, "'%.40s' is read beyond its border along more than two ranks", z->name);
  return false;
}

void npu_move_blocks(npu_build *b, npu_bank *blocks, npu_bank *rows, const tf_ival *box, bool out) {
  if (b->dry || !b->ok) return;
  piece q = {.blocks = blocks, .rows = rows, .out = out, .t = npu_tile_of(b, blocks, box)};
  for (int i = 0; i < blocks->rank; i++)
    q.point[i] = box[i].lo;
  for (int k = 0; k < 2; k++) {
    q.side[k] = innermost(b, blocks, box, k ? NPU_COLUMN : NPU_ROW);
    q.step[k] = step_of(b, blocks, rows, q.side[k]);
    for (int r = 0; r < rows->rank; r++)
      q.by[k][r] = coef(b, blocks, r, q.side[k]);
  }
  if (!find_edges(b, &q, box)) return;
  const span all[2] = {{0, q.side[0] < 0 ? 1 : box[q.side[0]].len},
                       {0, q.side[1] < 0 ? 1 : box[q.side[1]].len}};
  do {
    place_in_matrix(b, &q, box);
    put_parts(b, &q, all[0], all[1]);
  } while (next(&q, box, q.point) && b->ok);
}
