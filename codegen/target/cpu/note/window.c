/* How the reads of a window sum are addressed. */
#include "codegen/target/cpu/note/window.h"

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
  int64_t off = op->n_out_dims > 1 ? at.row * coef_of(ix, op->dims[op->n_out_dims - 2]) : 0, tap = at.tap;
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

/* Equal for equal places of read i, and else as good as never. */
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
      before |= cpu_window_offset(wl, s, i, r, (cpu_at){0, k}) == cpu_window_offset(wl, s, i, r, (cpu_at){0, j});
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
      any |= wl->tensors[op->reads[i].tensor].pad[r] && coef_of(&op->reads[i].index[r], op->dims[k]);
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
