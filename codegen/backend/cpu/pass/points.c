/* Cost of nests that are not matrix products, by the loops that the printer writes for them:
 * windows, rows of maps, sums along rows, and scalar loops, with dependent additions. */
#include "codegen/backend/cpu/note/transposition.h"
#include "codegen/backend/cpu/note/window.h"
#include "codegen/backend/cpu/pass/cost.h"
#include "codegen/backend/cpu/pass/pass.h"
#include "model/input/dims.h"
#include "tileflow/tree.h"

typedef struct {
  const tf_workload *wl;
  const tf_op *op;
  const ir_stmt *s;
  const tf_core *core;
  double lanes;
  int registers;
} points;

static double vectors(const points *p, int k) {
  const double lanes = p->lanes, n = (double)p->s->range[k].most;
  return (double)(int64_t)((n + lanes - 1) / lanes);
}

/* Number of points of the op's dims from..to-1. */
static double settings(const points *p, int from, int to) {
  double n = 1;
  for (int k = from; k < to; k++)
    n *= (double)p->s->range[k].most;
  return n;
}

static double calls(const tf_op *op) {
  double n = 0;
  for (int i = 0; i < op->n_expr; i++)
    n += op->expr[i].what == TF_X_CALL;
  return n > 0 ? n : 1;
}

/* Whether the op's k-th dim moves one of the first `to` ranks of the read. */
static bool moves(const points *p, int read, int k, int to) {
  for (int r = 0; r < to; r++)
    for (int t = 0; t < p->op->reads[read].index[r].n_terms; t++)
      if (p->op->reads[read].index[r].terms[t].dim == p->op->dims[k]) return true;
  return false;
}

/* Reads that the k-th dim moves with a stride other than 1: their vectors are gathered. */
static int gathered_reads(const points *p, int k) {
  int n = 0;
  for (int i = 0; i < p->op->n_reads; i++) {
    const tf_ref *ref = &p->op->reads[i];
    const int rank = p->wl->tensors[ref->tensor].rank;
    bool steps = false;
    for (int t = 0; rank > 0 && t < ref->index[rank - 1].n_terms; t++)
      steps |= ref->index[rank - 1].terms[t].dim == p->op->dims[k] &&
               ref->index[rank - 1].terms[t].coef != 1;
    n += steps || moves(p, i, k, rank - 1);
  }
  return n;
}

/* Cycles to compute the lanes that are inside, for each position along a padded last rank: before
 * the rows of a nest, and again wherever the indices hoisted out of it change. */
static double lane_mask_cycles(const points *p) {
  const tf_op *op = p->op;
  const int lane = op->n_out_dims - 1;
  double places = 0, anew = 1;
  for (int i = 0; i < op->n_reads; i++) {
    const int last = p->wl->tensors[op->reads[i].tensor].rank - 1;
    if (cpu_window_kind(p->wl, p->s, i) == CPU_LANES &&
        p->wl->tensors[op->reads[i].tensor].pad[last])
      places += cpu_window_places(p->wl, p->s, i, last);
  }
  for (int k = 0; k < lane - 1; k++) {
    bool moves = false;
    for (int i = 0; i < op->n_reads; i++)
      moves |= !cpu_read_moves(p->wl, op, i, lane - 1) && cpu_read_moves(p->wl, op, i, k);
    if (moves) anew *= (double)p->s->range[k].most;
  }
  return places * anew * vectors(p, lane) * p->core->gather;
}

/* Cycles in which a window waits for parts of rows from an outer memory: it prefetches them, but
 * lines at both ends of a part are fetched twice. */
static double partial_row_waits(const points *p) {
  enum { HIDDEN = 2 }; /* the other half is hidden by the prefetch */
  const int last = p->op->n_out_dims - 1;
  double n = 0;
  for (int i = 0; i < cpu_of(p->s)->n_prefetches; i++) {
    const cpu_prefetch *a = &cpu_of(p->s)->prefetches[i];
    const tf_op *op = &p->wl->ops[a->nest->op];
    const tf_tensor *z = &p->wl->tensors[a->read < 0 ? op->out : op->reads[a->read].tensor];
    if (p->s->range[last].most < p->wl->dims[op->dims[last]].extent && z->rank > 1)
      n += settings(p, 0, last);
  }
  return n * p->core->page_crossing / HIDDEN;
}

/* Tiles of some rows by one vector. Elements that the windows of a tile share are loaded once. */
static double window_cycles(const points *p) {
  const tf_op *op = p->op;
  const int lane = op->n_out_dims - 1, most = cpu_window_rows(p->wl, p->s, p->registers);
  const double rows = lane > 0 ? (double)p->s->range[lane - 1].most : 1,
               tall = rows < most ? rows : most, taps = cpu_of(p->s)->window->taps;
  const double tiles = (double)(int64_t)((rows + tall - 1) / tall) * vectors(p, lane) *
                       settings(p, 0, lane > 0 ? lane - 1 : 0);
  double loads = 0;
  for (int i = 0; i < op->n_reads; i++)
    loads += cpu_window_kind(p->wl, p->s, i) == CPU_STEADY ? taps
             : cpu_window_kind(p->wl, p->s, i) == CPU_ACROSS
                 ? taps * p->lanes
                 : cpu_window_loads(p->wl, p->s, i, (int)tall);
  const int fours = cpu_of(p->s)->window->fours;
  if (fours >= 0) { /* neighbours are loaded, interleaved in two steps, added up at once, and
                       converted to float32; so little depends on each other that the next tile
                       begins before */
    const double beside = (double)p->s->range[op->n_dims - 1].most,
                 each = cpu_window_loads(p->wl, p->s, fours, (int)tall) / beside;
    return tiles * (taps / beside * tall + 3 * each + 2 * tall) / p->core->ports;
  }
  const double sums = cpu_of(p->s)->window->selects_identity ? 1
                      : op->n_expr > 1 && op->reduce == TF_REDUCE_ADD
                          ? calls(op)
                          : calls(op) + (op->n_expr > 1);
  return tiles * ((taps * tall * sums + loads) / p->core->ports + p->core->tile) +
         lane_mask_cycles(p) + partial_row_waits(p);
}

/* Vectors of a map of sums that lie in registers: those of many vectors are independent, so that
 * all ports work. */
static double fused_vectors(const points *p) {
  const int row = p->op->n_out_dims - 1;
  return settings(p, 0, row) * vectors(p, row) / p->core->ports;
}

/* A map whose innermost loop is not that of its output's last dim: element by element. */
static double along_other(const points *p, int row) {
  const double n = (double)p->s->range[row].most;
  return settings(p, 0, p->op->n_dims) / n * (n * p->op->n_expr + p->core->row);
}

/* Cycles to test which elements of a row are inside, again wherever an index into a padded rank
 * changes. */
static double row_mask_cycles(const points *p) {
  const int last = p->op->n_out_dims - 1;
  double all = 0;
  for (int i = 0; i < p->op->n_reads; i++) {
    const tf_ref *ref = &p->op->reads[i];
    double anew = 0, loops = 1;
    for (int k = 0; k < p->op->n_dims; k++) {
      if (k == last) continue;
      loops *= (double)p->s->range[k].most;
      for (int r = 0; r < p->wl->tensors[ref->tensor].rank; r++)
        if (p->wl->tensors[ref->tensor].pad[r] && tf_index_coef(&ref->index[r], p->op->dims[k]))
          anew = loops;
    }
    all += anew * vectors(p, last) * p->core->gather;
  }
  return all;
}

/* Vector operations of a map. Maps to bytes are printed as vectors (print/rows.c), with one
 * operation for each call in the expression and more for a quotient; all others are left to the
 * compiler, with one for each operand, too. */
static double map_steps(const ir_program *of, const points *p) {
  enum { QUOTIENT = 7 };
  const ir_buffer *out = &of->buffers[of->buffer_of[p->op->out]];
  if (!ir_is_byte(out->type) || p->lanes < TF_MICRO_BYTES_LANES) return p->op->n_expr;
  double more = 0;
  for (int i = 0; i < p->op->n_expr; i++)
    more += p->op->expr[i].what == TF_X_CALL && p->op->expr[i].call == TF_K_DIV ? QUOTIENT : 0;
  return calls(p->op) + more;
}

double tf_cost_conflicts(const tf_core *core, double lines, int64_t apart) {
  enum { LINE = 64 };
  int64_t step = (int64_t)core->page, rest = step > 0 ? apart % step : 0;
  while (rest) { /* rows begin at multiples of the greatest common divisor of page and distance */
    const int64_t next = step % rest;
    step = rest, rest = next;
  }
  const double stay = core->l1_resident / (double)(step > LINE ? step : LINE);
  return lines > stay ? 1 - stay / lines : 0;
}

/* Bytes between the elements of the read that neighbours along the op's k-th dim access. */
static int64_t step_of(const points *p, const ir_program *of, int read, int k) {
  const tf_ref *ref = &p->op->reads[read];
  const tf_tensor *z = &p->wl->tensors[ref->tensor];
  int64_t words = 0, each = ir_bytes(of->buffers[of->buffer_of[ref->tensor]].type);
  for (int r = z->rank - 1; r >= 0; each *= z->extent[r--])
    words += tf_index_coef(&ref->index[r], p->op->dims[k]) * each;
  return words;
}

/* Cycles in which a map waits for lines of arguments that it reads across rows half a page or more
 * apart, which no hardware prefetcher follows: lines fetched for one element are evicted by
 * conflicts before its neighbours are read. */
static double conflict_waits(const points *p, const ir_program *of) {
  const int last = p->op->n_out_dims - 1;
  const double line = p->core->line / (double)sizeof(float);
  double n = 0;
  for (int i = 0; i < p->op->n_reads; i++) {
    const int t = p->op->reads[i].tensor;
    const int64_t step = step_of(p, of, i, last);
    if (of->buffers[of->buffer_of[t]].role == IR_ARGUMENT && (double)step >= p->core->page / 2)
      n += tf_cost_conflicts(p->core, (double)p->s->range[last].most, step);
  }
  return n * settings(p, 0, p->op->n_dims) * line / p->core->stream;
}

/* Rows of the output as vectors. */
static double along_output(const points *p, double n_expr) {
  const int last = p->op->n_out_dims - 1;
  const double rows = settings(p, 0, last) * settings(p, p->op->n_out_dims, p->op->n_dims);
  return rows *
             (vectors(p, last) * (n_expr + gathered_reads(p, last) * p->lanes / 2) + p->core->row) +
         row_mask_cycles(p);
}

/* Whether an earlier read of the op is of the same elements. */
static bool is_read_before(const points *p, int read) {
  const tf_ref *b = &p->op->reads[read];
  for (int i = 0; i < read; i++) {
    const tf_ref *a = &p->op->reads[i];
    bool same = a->tensor == b->tensor;
    for (int r = 0; same && r < p->wl->tensors[b->tensor].rank; r++) {
      same = a->index[r].c == b->index[r].c && a->index[r].n_terms == b->index[r].n_terms;
      for (int t = 0; same && t < b->index[r].n_terms; t++)
        same = a->index[r].terms[t].dim == b->index[r].terms[t].dim &&
               a->index[r].terms[t].coef == b->index[r].terms[t].coef;
    }
    if (same) return true;
  }
  return false;
}

/* Whether rows of the tensor are half a page apart or more. */
static bool rows_are_apart(const points *p, const ir_program *of, int tensor) {
  const tf_tensor *z = &p->wl->tensors[tensor];
  const ir_buffer *b = &of->buffers[of->buffer_of[tensor]];
  return (double)z->extent[z->rank - 1] * ir_bytes(b->type) >= p->core->page / 2;
}

/* Cycles in which a nest waits for the start of each row along the op's dim `along`, where rows are
 * parts of a large argument's: the hardware prefetcher cannot foresee where the next one begins,
 * and no product prefetches them. It follows sums from row to row where these are near each other.
 */
static double row_start_waits(const points *p, const ir_program *of, int along) {
  double n = 0;
  for (int i = along < p->op->n_out_dims ? -1 : 0; i < p->op->n_reads && i < 30; i++) {
    const int t = i < 0 ? p->op->out : p->op->reads[i].tensor, rank = p->wl->tensors[t].rank;
    if (of->buffers[of->buffer_of[t]].role != IR_ARGUMENT || rank < 2 ||
        (cpu_of(p->s)->prefetched >> (1 + i) & 1) ||
        (along >= p->op->n_out_dims && !rows_are_apart(p, of, t)) ||
        p->s->range[along].most >= p->wl->tensors[t].extent[rank - 1] ||
        tf_tensor_words(&p->wl->tensors[t]) <= lower_close_words(of->tree->arch))
      continue;
    if (i < 0 || (tf_index_coef(&p->op->reads[i].index[rank - 1], p->op->dims[along]) == 1 &&
                  !is_read_before(p, i))) {
      double rows = 1;
      for (int k = 0; k < p->op->n_dims; k++)
        if (k != along && (i < 0 || moves(p, i, k, rank - 1))) rows *= (double)p->s->range[k].most;
      n += rows;
    }
  }
  return n * p->core->page_crossing;
}

/* Sums along rows: vectors, and one horizontal sum at the end of each row. */
static double along_sums(const points *p) {
  const int last = p->op->n_dims - 1;
  return settings(p, 0, p->op->n_out_dims) *
         (settings(p, p->op->n_out_dims, last) * vectors(p, last) * p->op->n_expr + p->core->row);
}

static bool padded(const points *p) {
  for (int i = 0; i < p->op->n_reads; i++)
    for (int r = 0; r < p->wl->tensors[p->op->reads[i].tensor].rank; r++)
      if (p->wl->tensors[p->op->reads[i].tensor].pad[r]) return true;
  return false;
}

double tf_cost_points(const ir_program *of, const tf_micro_isa *isa, const tf_core *core,
                      const ir_stmt *s) {
  const tf_workload *wl = of->tree->workload;
  const points p = {wl, &wl->ops[s->op], s, core, isa->lanes, isa->registers};
  const int out = p.op->n_out_dims, all = p.op->n_dims;
  if (cpu_of(s)->window) return window_cycles(&p);
  if (cpu_of(s)->fused) return fused_vectors(&p) * calls(p.op);
  const int row = out > 0 && out == all ? cpu_map_row(wl, s, 0, isa->lanes) : out - 1;
  if (row < out - 1) return along_other(&p, row);
  if (out == all)
    return out > 0 ? along_output(&p, map_steps(of, &p)) + row_start_waits(&p, of, out - 1) +
                         conflict_waits(&p, of)
                   : p.op->n_expr;
  if (gathered_reads(&p, all - 1) == 0 && !padded(&p))
    return along_sums(&p) + row_start_waits(&p, of, all - 1);
  bool neighbours = false;
  for (int k = out; k < all; k++)
    neighbours |= gathered_reads(&p, k) == 0;
  if (out > 0 && (gathered_reads(&p, out - 1) == 0 || !neighbours))
    return along_output(&p, p.op->n_expr);
  return settings(&p, 0, all) * core->latency;
}

/* ---- parts ---------------------------------------------------------------------------------- */

static tf_cost_part part_of(tf_kind call) {
  switch (call) {
  case TF_K_DIV: return TF_COST_QUOTIENT;
  case TF_K_SQRT: return TF_COST_ROOT;
  case TF_K_EXP:
  case TF_K_TANH:
  case TF_K_SIGMOID:
  case TF_K_SILU: return TF_COST_EXP;
  case TF_K_ERF:
  case TF_K_GELU: return TF_COST_ERF;
  case TF_K_LOG:
  case TF_K_SIN:
  case TF_K_COS:
  case TF_K_FMOD: return TF_COST_TRIG;
  default: return TF_COST_SIMPLE;
  }
}

static void access_parts(const ir_program *of, int tensor, double n, double *part) {
  const ir_type type = of->buffers[of->buffer_of[tensor]].type;
  part[TF_COST_ACCESS] += n;
  if (type == IR_BF16) part[TF_COST_NARROW] += n;
  if (ir_is_byte(type)) part[TF_COST_BYTE] += n;
}

/* Adds n vectors, or elements, of each of the op's operations. */
static void operation_parts(const points *p, double n, double *part) {
  for (int i = 0; i < p->op->n_expr; i++)
    if (p->op->expr[i].what == TF_X_CALL) part[part_of(p->op->expr[i].call)] += n;
  if (p->op->n_dims > p->op->n_out_dims) part[TF_COST_SIMPLE] += n;
}

static bool reads_narrow_type(const points *p, const ir_program *of) {
  return p->op->n_reads > 0 &&
         ir_bytes(of->buffers[of->buffer_of[p->op->reads[0].tensor]].type) < (int)sizeof(float);
}

/* Elements that a window gathers. */
static void window_parts(const points *p, double runs, double *part) {
  part[TF_COST_WINDOW] += runs * window_cycles(p);
  for (int i = 0; i < p->op->n_reads; i++)
    if (cpu_window_kind(p->wl, p->s, i) == CPU_ACROSS ||
        (cpu_window_kind(p->wl, p->s, i) == CPU_LANES && cpu_window_step(p->wl, p->s, i) > 1))
      part[TF_COST_STRIDED] += runs * settings(p, 0, p->op->n_dims);
}

/* Rows of vectors along the op's k-th dim. */
static void row_parts(const points *p, const ir_program *of, int k, double runs, double *part) {
  const double rows = runs * settings(p, 0, p->op->n_dims) / (double)p->s->range[k].most,
               n = rows * vectors(p, k);
  operation_parts(p, n, part);
  part[TF_COST_ROW] += rows;
  enum { AS_FAST = 2 }; /* words that registers transpose (arch-specs/cores/fitted.csv) */
  cpu_transposition t;
  const double share = cpu_transposes_words(of, p->op, &t) ? 1.0 / AS_FAST : 1;
  part[reads_narrow_type(p, of) ? TF_COST_SCATTER_NARROW : TF_COST_SCATTER] +=
      n * p->lanes * gathered_reads(p, k) * share;
  for (int i = 0; i < p->op->n_reads; i++)
    if (cpu_read_moves(p->wl, p->op, i, k)) access_parts(of, p->op->reads[i].tensor, n, part);
  if (k < p->op->n_out_dims) access_parts(of, p->op->out, n, part);
}

void tf_cost_point_parts(const ir_program *of, const tf_micro_isa *isa, const tf_core *core,
                         const ir_stmt *s, double runs, double *part) {
  const tf_workload *wl = of->tree->workload;
  const points p = {wl, &wl->ops[s->op], s, core, isa->lanes, isa->registers};
  const int out = p.op->n_out_dims, all = p.op->n_dims;
  const int row = out > 0 && out == all ? cpu_map_row(wl, s, 0, isa->lanes) : out - 1;
  bool neighbours = false;
  for (int k = out; k < all; k++)
    neighbours |= gathered_reads(&p, k) == 0;
  if (out > 0 && out == all)
    part[TF_COST_GONE] += runs * (row_start_waits(&p, of, out - 1) + conflict_waits(&p, of));
  if (cpu_of(s)->window)
    window_parts(&p, runs, part);
  else if (cpu_of(s)->fused)
    operation_parts(&p, runs * fused_vectors(&p), part);
  else if (row < out - 1)
    row_parts(&p, of, row, runs, part);
  else if (out > 0 && (out == all || ((gathered_reads(&p, all - 1) || padded(&p)) &&
                                      (gathered_reads(&p, out - 1) == 0 || !neighbours))))
    row_parts(&p, of, out - 1, runs, part);
  else if (out < all && gathered_reads(&p, all - 1) == 0 && !padded(&p) && p.op->n_reads > 0 &&
           !ir_is_byte(of->buffers[of->buffer_of[p.op->reads[0].tensor]].type)) {
    row_parts(&p, of, all - 1, runs, part);
    part[TF_COST_SUM] += runs * settings(&p, 0, out);
  } else
    part[TF_COST_SCALAR] += runs * settings(&p, 0, all);
}
