/* How the reads of a sum over a window are addressed. */
#include "codegen/backend/cpu/note/window.h"

#include <math.h>

#include "model/input/dims.h"

static int64_t coef_of(const tf_index *ix, int dim) {
  int64_t coef = 0;
  for (int t = 0; t < ix->n_terms; t++)
    if (ix->terms[t].dim == dim) coef += ix->terms[t].coef;
  return coef;
}

static const tf_op *op_of(const tf_workload *wl, const ir_stmt *s) { return &wl->ops[s->op]; }

bool cpu_read_moves(const tf_workload *wl, const tf_op *op, int i, int k) {
  bool any = false;
  for (int r = 0; k >= 0 && r < wl->tensors[op->reads[i].tensor].rank; r++)
    any |= coef_of(&op->reads[i].index[r], op->dims[k]) != 0;
  return any;
}

int64_t cpu_window_step(const tf_workload *wl, const ir_stmt *s, int i) {
  const tf_op *op = op_of(wl, s);
  const int rank = wl->tensors[op->reads[i].tensor].rank;
  return rank ? coef_of(&op->reads[i].index[rank - 1], op->dims[op->n_out_dims - 1]) : 0;
}

cpu_window_read cpu_window_kind(const tf_workload *wl, const ir_stmt *s, int i) {
  const tf_op *op = op_of(wl, s);
  const int lane = op->n_out_dims - 1, rank = wl->tensors[op->reads[i].tensor].rank;
  if (!cpu_read_moves(wl, op, i, lane)) return CPU_STEADY;
  for (int r = 0; r < rank - 1; r++)
    if (coef_of(&op->reads[i].index[r], op->dims[lane])) return CPU_ACROSS;
  return CPU_LANES;
}

int64_t cpu_window_offset(const tf_workload *wl, const ir_stmt *s, int i, int r, cpu_at at) {
  const tf_op *op = op_of(wl, s);
  const tf_index *ix = &op->reads[i].index[r];
  int64_t off = op->n_out_dims > 1 ? at.row * coef_of(ix, op->dims[op->n_out_dims - 2]) : 0,
          tap = at.tap;
  for (int k = op->n_dims - 1; k >= op->n_out_dims; k--) {
    off += tap % s->range[k].most * coef_of(ix, op->dims[k]);
    tap /= s->range[k].most;
  }
  return off;
}

cpu_at cpu_window_first(const tf_workload *wl, const ir_stmt *s, int i, cpu_at at) {
  const int rank = wl->tensors[op_of(wl, s)->reads[i].tensor].rank, taps = cpu_of(s)->window->taps;
  for (int n = 0; n < at.row * taps + at.tap; n++) {
    const cpu_at before = {n / taps, n % taps};
    bool same = true;
    for (int r = 0; same && r < rank; r++)
      same = cpu_window_offset(wl, s, i, r, before) == cpu_window_offset(wl, s, i, r, at);
    if (same) return before;
  }
  return at;
}

/* A key of the element that read i accesses at the place: the same for the same element, and
 * practically never for others. */
static uint64_t place_of(const tf_workload *wl, const ir_stmt *s, int i, cpu_at at) {
  uint64_t place = 0;
  for (int r = 0; r < wl->tensors[op_of(wl, s)->reads[i].tensor].rank; r++)
    place = place * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)cpu_window_offset(wl, s, i, r, at);
  return place;
}

int cpu_window_loads(const tf_workload *wl, const ir_stmt *s, int i, int rows) {
  const int taps = cpu_of(s)->window->taps;
  uint64_t seen[CPU_WINDOW_ROWS * CPU_WINDOW_TAPS];
  int n = 0;
  for (int place = 0; place < rows * taps; place++) {
    const uint64_t at = place_of(wl, s, i, (cpu_at){place / taps, place % taps});
    bool before = false;
    for (int k = 0; k < n && !before; k++)
      before = seen[k] == at;
    if (!before) seen[n++] = at;
  }
  return n;
}

int cpu_window_places(const tf_workload *wl, const ir_stmt *s, int i, int r) {
  int n = 0;
  for (int j = 0; j < cpu_of(s)->window->taps; j++) {
    bool before = false;
    for (int k = 0; k < j; k++)
      before |= cpu_window_offset(wl, s, i, r, (cpu_at){0, k}) ==
                cpu_window_offset(wl, s, i, r, (cpu_at){0, j});
    n += !before;
  }
  return n;
}

int cpu_window_rows(const tf_workload *wl, const ir_stmt *s, int registers) {
  const tf_op *op = op_of(wl, s);
  int rows = CPU_WINDOW_ROWS, one = 0, all = 0;
  for (int i = 0; i < op->n_reads; i++) {
    if (!cpu_read_moves(wl, op, i, op->n_out_dims - 2)) continue;
    one += cpu_window_loads(wl, s, i, 1);
    all += cpu_window_loads(wl, s, i, CPU_WINDOW_ROWS);
  }
  while (rows > 1 && all == CPU_WINDOW_ROWS * one && rows * one > registers)
    rows--;
  return rows;
}

/* Whether the op's k-th dim leads into the padding of a read. */
static bool reads_padding(const tf_workload *wl, const tf_op *op, int k) {
  bool any = false;
  for (int i = 0; i < op->n_reads; i++)
    for (int r = 0; r < wl->tensors[op->reads[i].tensor].rank; r++)
      any |=
          wl->tensors[op->reads[i].tensor].pad[r] && coef_of(&op->reads[i].index[r], op->dims[k]);
  return any;
}

int cpu_map_row(const tf_workload *wl, const ir_stmt *s, int open, int lanes) {
  const tf_op *op = op_of(wl, s);
  const int last = op->n_out_dims - 1;
  int row = last;
  if (2 * s->range[last].most >= lanes || !reads_padding(wl, op, last)) return last;
  for (int k = open; k < last; k++)
    if (s->range[k].most > s->range[row].most && !reads_padding(wl, op, k)) row = k;
  return row;
}

/* ---- values chosen beyond borders ----------------------------------------------------------- */

/* The coefficient of the dim in expression i, a sum of dims times numbers; dim -1: the constant. */
static bool moves_by(const tf_op *op, int i, int dim, double *by) {
  const tf_expr *e = &op->expr[i];
  double a, b;
  *by = e->what == TF_X_NUMBER && dim < 0 ? e->number : e->what == TF_X_DIM && e->dim == dim;
  if (e->what == TF_X_NUMBER || e->what == TF_X_DIM) return true;
  if (e->what == TF_X_CALL && e->call == TF_K_NEG) {
    const bool can = moves_by(op, e->arg[0], dim, &a);
    *by = can ? -a : 0;
    return can;
  }
  if (e->what != TF_X_CALL || e->n_args != 2 || !moves_by(op, e->arg[0], dim, &a) ||
      !moves_by(op, e->arg[1], dim, &b))
    return false;
  const tf_expr *x = &op->expr[e->arg[0]], *y = &op->expr[e->arg[1]];
  if (e->call == TF_K_MUL && x->what == TF_X_NUMBER) *by = x->number * b;
  if (e->call == TF_K_MUL && x->what != TF_X_NUMBER) *by = a * y->number;
  if (e->call == TF_K_ADD || e->call == TF_K_SUB) *by = e->call == TF_K_ADD ? a + b : a - b;
  return e->call == TF_K_ADD || e->call == TF_K_SUB ||
         (e->call == TF_K_MUL && (x->what == TF_X_NUMBER || y->what == TF_X_NUMBER));
}

/* A border of the read's tensor: the first or last element of a rank. */
typedef struct {
  const tf_workload *wl;
  const tf_op *op;
  const tf_ref *ref;
  uint64_t low, high; /* ranks whose borders the condition names */
} borders;

/* Whether the expression is a number. */
static bool is_number(const tf_op *op, int i, double *number) {
  const tf_expr *e = &op->expr[i];
  if (e->what == TF_X_CALL && e->call == TF_K_NEG && op->expr[e->arg[0]].what == TF_X_NUMBER) {
    *number = -op->expr[e->arg[0]].number;
    return true;
  }
  *number = e->number;
  return e->what == TF_X_NUMBER;
}

/* Records the border that "number <= expression" (or the reverse, `low`) tests; false: none. */
static bool note_border(borders *b, double number, int i, bool low) {
  const tf_tensor *z = &b->wl->tensors[b->ref->tensor];
  double at, by;
  if (!moves_by(b->op, i, -1, &at)) return false;
  for (int r = 0; r < z->rank; r++) {
    const tf_index *ix = &b->ref->index[r];
    const double last = (double)z->lo[r] + (low ? 0 : (double)z->extent[r] - 1);
    bool same = number + (double)ix->c - at == last;
    for (int k = 0; same && k < b->op->n_dims; k++)
      same = moves_by(b->op, i, b->op->dims[k], &by) &&
             by == (double)tf_index_coef(ix, b->op->dims[k]);
    if (!same) continue;
    *(low ? &b->low : &b->high) |= UINT64_C(1) << r;
    return true;
  }
  return false;
}

/* Whether the condition tests borders of the tensor and nothing else, all of which must be kept. */
static bool keeps_borders(borders *b, int i) {
  const tf_expr *e = &b->op->expr[i];
  double x, y;
  if (e->what != TF_X_CALL || e->n_args != 2) return false;
  const bool left = is_number(b->op, e->arg[0], &x), right = is_number(b->op, e->arg[1], &y);
  const double less = e->call == TF_K_LT ? 1 : 0;
  if (e->call == TF_K_MIN) return keeps_borders(b, e->arg[0]) && keeps_borders(b, e->arg[1]);
  if (e->call == TF_K_NE && right && y == 0) return keeps_borders(b, e->arg[0]);
  if (e->call != TF_K_LE && e->call != TF_K_LT) return false;
  return left    ? note_border(b, x + less, e->arg[1], true)
         : right ? note_border(b, y - less, e->arg[0], false)
                 : false;
}

/* Whether the condition names every border that the read can cross. */
static bool names_all(const borders *b) {
  const tf_tensor *z = &b->wl->tensors[b->ref->tensor];
  bool all = z->rank <= 64;
  for (int r = 0; all && r < z->rank; r++) {
    const tf_index *ix = &b->ref->index[r];
    int64_t least = ix->c, most = ix->c;
    for (int t = 0; t < ix->n_terms; t++) {
      const int64_t far = ix->terms[t].coef * (b->wl->dims[ix->terms[t].dim].extent - 1);
      *(far < 0 ? &least : &most) += far;
    }
    all = (least >= z->lo[r] || (b->low >> r & 1)) &&
          (most < z->lo[r] + z->extent[r] || (b->high >> r & 1));
  }
  return all;
}

static bool is_identity(tf_reduce reduce, double number) {
  if (reduce == TF_REDUCE_ADD) return number == 0;
  return isinf(number) &&
         (reduce == TF_REDUCE_MAX ? number < 0 : reduce == TF_REDUCE_MIN && number > 0);
}

int cpu_window_value(const tf_workload *wl, const tf_op *op, bool *fills) {
  const tf_expr *root = &op->expr[op->n_expr - 1];
  *fills = false;
  if (op->n_reads != 1 || root->what != TF_X_CALL || root->call != TF_K_SELECT)
    return op->n_expr - 1;
  borders b = {.wl = wl, .op = op, .ref = &op->reads[0]};
  double none;
  *fills = op->expr[root->arg[1]].what == TF_X_READ && is_number(op, root->arg[2], &none) &&
           is_identity(op->reduce, none) && keeps_borders(&b, root->arg[0]) && names_all(&b);
  return *fills ? root->arg[1] : op->n_expr - 1;
}
