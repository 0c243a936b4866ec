#include "codegen/backend/cuda/box/box.h"

#include <string.h>

#include "base/checked.h"

enum { MOST_DIMS = 64 };
/* Relative costs of a box: if it does not divide its dim, as the last boxes have idle rows and code
 * of their own; and if it has more rows than a warpgroup and its halves are no boxes, as results
 * then leave element by element. */
static const double ragged_cost = 0.05, scattered_cost = 0.05;
enum { HALF = 64 };

bool cu_box_moves(const tf_workload *wl, const tf_ref *ref, int dim) {
  bool any = false;
  for (int r = 0; r < wl->tensors[ref->tensor].rank; r++)
    for (int i = 0; i < ref->index[r].n_terms; i++)
      any |= ref->index[r].terms[i].dim == dim;
  return any;
}

bool cu_box_is_window(const tf_workload *wl, const tf_ref *ref) {
  bool any = false;
  for (int r = 0; r < wl->tensors[ref->tensor].rank; r++) {
    const tf_index *ix = &ref->index[r];
    any |= ix->n_terms > 1 || (ix->n_terms == 1 && (ix->terms[0].coef != 1 || ix->c != 0));
  }
  return any;
}

bool cu_box_is_digit(const tf_workload *wl, const tf_index *ix, int dim) {
  bool here = false, steps = false;
  for (int i = 0; i < ix->n_terms; i++) {
    if (ix->terms[i].dim == dim)
      here = ix->terms[i].coef == 1;
    else
      steps |= ix->terms[i].coef > 1 && ix->terms[i].coef >= wl->dims[dim].extent;
  }
  return here && steps && ix->n_terms == 2;
}

bool cu_box_has_digit(const tf_workload *wl, const tf_ref *ref, int dim) {
  bool any = false;
  for (int r = 0; r < wl->tensors[ref->tensor].rank; r++)
    any |= cu_box_is_digit(wl, &ref->index[r], dim);
  return any;
}

int64_t cu_box_span(const tf_index *ix, int64_t extent, const int64_t *length) {
  int64_t span = 1, settings = 1;
  for (int i = 0; i < ix->n_terms; i++) {
    const int64_t coef = ix->terms[i].coef < 0 ? -ix->terms[i].coef : ix->terms[i].coef;
    span += coef * (length[ix->terms[i].dim] - 1);
    if (settings <= extent) settings *= length[ix->terms[i].dim];
  }
  if (settings < span) span = settings; /* the steps do not touch every coordinate */
  return span < extent ? span : extent;
}

/* ---- rows and columns of the product -------------------------------------------------------- */

/* The output's dims with several settings that one read has and the other has not; NULL: they are
 * only counted. A digit (cu_box_is_digit) beside a window of the other read has one setting in a
 * block. */
static int own_dims(const tf_workload *wl, const tf_op *op, int read, int *dim) {
  int n = 0;
  for (int k = 0; k < op->n_out_dims; k++) {
    const int d = op->dims[k];
    const bool own =
        wl->dims[d].extent > 1 && cu_box_moves(wl, &op->reads[read], d) &&
        !cu_box_moves(wl, &op->reads[1 - read], d) &&
        !(cu_box_has_digit(wl, &op->reads[read], d) && cu_box_is_window(wl, &op->reads[1 - read]));
    if (own && dim && n < CU_BOX_DIMS) dim[n] = d;
    n += own;
  }
  return n;
}

static int longest_own(const tf_workload *wl, const tf_op *op, int read) {
  int dim[CU_BOX_DIMS], best = -1;
  const int n = own_dims(wl, op, read, dim);
  for (int i = 0; i < n && i < CU_BOX_DIMS; i++)
    if (best < 0 || wl->dims[dim[i]].extent > wl->dims[best].extent) best = dim[i];
  return best;
}

bool cu_box_find(const tf_workload *wl, const tf_op *op, cu_box *b) {
  *b = (cu_box){.rows = 0, .column = -1};
  if (op->n_reads != 2 || op->n_out_dims < 1) return false;
  const int first = own_dims(wl, op, 0, NULL), second = own_dims(wl, op, 1, NULL);
  const bool last = cu_box_moves(wl, &op->reads[0], op->dims[op->n_out_dims - 1]);
  b->rows = first < second || (first == second && last);
  b->n = own_dims(wl, op, b->rows, b->dim);
  b->column = longest_own(wl, op, 1 - b->rows);
  for (int i = 0; i < CU_BOX_DIMS; i++)
    b->side[i] = 1;
  return b->n > 0 && b->n <= CU_BOX_DIMS && b->column >= 0;
}

/* ---- the size of a box ---------------------------------------------------------------------- */

typedef struct {
  const tf_workload *wl;
  const tf_op *op;
  cu_box current, best;
  int64_t length[MOST_DIMS]; /* of a box along each dim */
  double least, reads;       /* of the best */
} fit;

/* Coordinates at which all boxes together read the rows' operand. */
static double read_by_all(fit *t, double boxes) {
  const tf_ref *ref = &t->op->reads[t->current.rows];
  const tf_tensor *z = &t->wl->tensors[ref->tensor];
  for (int i = 0; i < t->current.n; i++)
    t->length[t->current.dim[i]] = t->current.side[i];
  for (int r = 0; r < z->rank; r++)
    boxes *= (double)cu_box_span(&ref->index[r], z->extent[r] + 2 * z->pad[r], t->length);
  return boxes;
}

/* Whether the current box has more contiguous elements than the best one: inner dims are longer. */
static bool is_longer(const fit *t) {
  for (int i = t->current.n - 1; i >= 0; i--)
    if (t->current.side[i] != t->best.side[i]) return t->current.side[i] > t->best.side[i];
  return false;
}

/* Whether each warpgroup's half of the rows is a box. */
static bool has_halves(const cu_box *b) {
  int64_t rows = 1, inner = 1;
  for (int i = b->n - 1; i >= 0; i--) {
    if (b->side[i] > 1) inner = rows;
    rows *= b->side[i];
  }
  return rows <= HALF || (rows == 2 * HALF && HALF % inner == 0);
}

static void find_own_dims(fit *t) {
  double boxes = 1, worth = has_halves(&t->current) ? 1 : 1 + scattered_cost;
  for (int i = 0; i < t->current.n; i++) {
    const int64_t extent = t->wl->dims[t->current.dim[i]].extent;
    boxes *= (double)tf_ceil_div(extent, t->current.side[i]);
    if (extent % t->current.side[i]) worth += ragged_cost;
  }
  worth *= boxes;
  if (t->least > 0 && worth > t->least) return;
  const double reads = read_by_all(t, boxes);
  const bool alike = t->least > 0 && worth >= t->least;
  if (alike && (reads > t->reads || (reads >= t->reads && !is_longer(t)))) return;
  t->least = worth, t->reads = reads;
  t->best = t->current;
}

/* Tries the lengths of the i-th dim that are the least for their number of boxes along it. */
static void try_lengths(fit *t, int i, int64_t room, int longer) {
  if (i == t->current.n) {
    find_own_dims(t);
    return;
  }
  const int64_t extent = t->wl->dims[t->current.dim[i]].extent;
  for (int64_t side = extent < room ? extent : room; side > 0; side--) {
    const int64_t left = room / side;
    if (tf_ceil_div(extent, tf_ceil_div(extent, side)) != side ||
        (side > 1 && longer == CU_BOX_SIDES))
      continue;
    t->current.side[i] = side;
    try_lengths(t, i + 1, left, longer + (side > 1));
  }
}

void cu_box_fit(const tf_workload *wl, const tf_op *op, int64_t points, cu_box *b) {
  fit t = {.wl = wl, .op = op, .current = *b};
  if (wl->n_dims > MOST_DIMS) return;
  for (int d = 0; d < wl->n_dims; d++)
    t.length[d] = 1;
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    t.length[op->dims[k]] = wl->dims[op->dims[k]].extent;
  try_lengths(&t, 0, points < 1 ? 1 : points, 0);
  memcpy(b->side, t.best.side, sizeof b->side);
}

int64_t cu_box_even(int64_t extent, int64_t most) {
  const int64_t least = tf_ceil_div(extent, most);
  for (int64_t n = least; n <= 2 * least && n <= extent; n++)
    if (extent % n == 0) return extent / n;
  return most;
}

int64_t cu_box_least(int64_t extent, int64_t most) {
  return tf_ceil_div(extent, tf_ceil_div(extent, most));
}
