/* Counts of a part's machine code, statement by statement, with the unrolling that the printer asks
 * for: multiplications of tensor cores, loads of matrices (ldmatrix), asynchronous copies; the
 * registers of a thread; and what a warp issues for a product. */
#include "codegen/backend/cuda/pass/pass.h"

#include <math.h>

/* Instructions of a warp, counted in machine code of loops with products (bench/cuda/issue.py): for
 * the lane's row and piece of an operand, along the sum or turned; for the swizzled address of a
 * piece of a row from which lanes load matrices, if other rows' distances are constant or
 * counted. */
static const double lane_place = 8, lane_turned = 5, matrix_place = 3, matrix_counted = 5;
/* To test whether the sum is empty; to begin a product whose addresses depend on the warp's keys,
 * as only some warps work; and a factor of multiplications on sm_90 whose lower rows are zero, for
 * which the compiler copies registers. */
static const double sum_tested = 10, product_begin = 22, row_half = 1.5;
/* For an element that lanes read from a tile one by one, of four bytes and of one; to round one to
 * tf32. */
static const double element_word = 4.2, element_byte = 2.6, element_rounded = 2.4;
/* Of warpgroups: for a product with its descriptors, for one that follows another in a step, and
 * for each surrounding loop whose first step is tested. */
static const double multiply_described = 5, ring_second = 14, ring_fresh = 3;

static int64_t up(int64_t n, int64_t by) { return (n + by - 1) / by; }

static const tf_op *op_of_nest(const ir_program *p, const ir_stmt *s) {
  return &p->tree->workload->ops[s->op];
}

bool cu_is_loaded(const ir_program *p, const ir_stmt *s, int read) {
  const cu_matrices *f = cu_of(s)->fragments;
  const tf_op *op = op_of_nest(p, s);
  const cu_mma *mma = cu_mma_for(p, op);
  const ir_buffer *b = &p->buffers[s->nest.from[read]], *a = &p->buffers[s->nest.from[f->a]];
  if (!cu_is_matrix(b) || b->role != IR_COPIED) return false;
  if (cu_across(b)) return true;
  if (op->reads[read].index[cu_column_rank(b)].terms[0].dim != op->dims[f->k]) return mma->turns;
  return read == f->a || a->space != CU_FRAGMENT || mma->kernel.group > 1;
}

int64_t cu_sum_length(const ir_program *p, const ir_stmt *s) {
  const cu_matrices *f = cu_of(s)->fragments;
  const ir_stack *across = s->nest.from ? cu_across(&p->buffers[s->nest.from[f->b]]) : NULL;
  return across ? ir_stack_rows(across) : s->range[f->k].most;
}

/* An operand that is neither a fragment nor loaded by ldmatrix. */
static bool is_gathered(const ir_program *p, const ir_stmt *s, int read) {
  return p->buffers[s->nest.from[read]].space != CU_FRAGMENT && !cu_is_loaded(p, s, read);
}

int64_t cu_steps_at_a_time(const ir_program *p, const ir_stmt *s) {
  enum { MANY = 8, SOME = 4 };
  const cu_mma *mma = cu_mma_for(p, op_of_nest(p, s));
  const cu_matrices *f = cu_of(s)->fragments;
  const int64_t all = up(cu_sum_length(p, s), mma->kernel.k_round);
  const bool gathers = is_gathered(p, s, f->a) || is_gathered(p, s, f->b);
  /* fragments are indexed by constants */
  const bool apart =
      mma->kernel.group != 2 && gathers && p->buffers[s->nest.from[f->a]].space != CU_FRAGMENT;
  if (cu_is_widened(p, op_of_nest(p, s)) || apart) return 1;
  const bool loads = cu_is_loaded(p, s, f->a) && cu_is_loaded(p, s, f->b);
  return mma->kernel.group == 2 && loads && !mma->wmma && all >= MANY ? SOME : all;
}

static void count_product(const ir_program *p, const ir_stmt *s, cu_counts *n) {
  const tf_op *op = op_of_nest(p, s);
  const cu_mma *mma = cu_mma_for(p, op);
  const cu_matrices *f = cu_of(s)->fragments;
  const ir_buffer *out = &p->buffers[p->buffer_of[op->out]];
  const int64_t rows = cu_matrix_rows(out) / CU_FRAGMENT_SIDE,
                columns = out->extent[cu_column_rank(out)] / CU_FRAGMENT_SIDE,
                at_a_time = cu_steps_at_a_time(p, s),
                steps = at_a_time + up(cu_sum_length(p, s), mma->kernel.k_round) %
                                        at_a_time; /* the remaining steps, separately */
  n->multiplied += steps * rows * up(s->range[f->n].most, 8) *
                   (cu_is_widened(p, op) ? 2 : 1); /* of 16 rows by 8 columns */
  if (cu_is_loaded(p, s, f->a)) n->loaded += steps * rows;
  if (cu_is_loaded(p, s, f->b)) n->loaded += steps * columns;
}

bool cu_is_by_rows(const cu_tile *t) {
  const int64_t at_once = CU_WARPS * CU_LANES / t->pieces;
  return at_once % 8 == 0 && t->rows % at_once == 0;
}

/* The length that a range always has where it is not empty; -1: it varies. */
static int64_t constant_length(const ir_range *r) {
  if (r->hi.var == r->lo.var) return r->hi.off - r->lo.off;
  return r->exact || (r->other == r->most && !r->more[0] && !r->more[1]) ? r->most : -1;
}

int cu_lengths_of(const ir_program *p, const ir_stmt *s, const cu_tile *t) {
  const ir_buffer *to = &p->buffers[s->copy.to];
  const ir_range *r[] = {&s->range[cu_row_rank(to)], &s->range[cu_column_rank(to)]};
  const int64_t whole[] = {t->rows, t->pieces * 16 / ir_bytes(to->type)};
  bool full = true, known = true;
  for (int i = 0; i < 2; i++) {
    const int64_t n = constant_length(r[i]);
    full &= (n < 0 ? r[i]->most : n) >= whole[i];
    known &= n >= 0;
  }
  return !full ? CU_SOME : known ? CU_FULL : CU_FULL | CU_SOME;
}

int64_t cu_row_alignment(const ir_program *p, const ir_stmt *s) {
  const ir_buffer *to = &p->buffers[s->copy.to], *from = &p->buffers[s->copy.from];
  const tf_tensor *z = &p->tree->workload->tensors[from->tensor];
  const int last = from->rank - 1;
  const ir_range *r = &s->range[last];
  int64_t row = from->role == IR_ARGUMENT ? z->extent[last] : from->extent[last] + from->gap;
  if (cu_has_contiguous_rows(p, s)) { /* rows, and where steps begin in them */
    row = cu_dense_step(p, from, cu_stack(to)->axis[0]);
    for (int k = 0; k < cu_across(to)->n; k++)
      if (s->range[cu_across(to)->axis[k]].lo.var >= 0) row |= ir_stack_rows(cu_across(to));
    row *= ir_bytes(from->type);
    return row % 16 ? row & -row : 16;
  }
  if (from->rank < 2 || cu_column_rank(to) != last) return 16;
  row |= r->lo.var < 0 ? r->lo.off : r->most; /* all pieces of a row are as long as most are */
  row *= ir_bytes(from->type);
  return row % 16 ? row & -row : 16;
}

int64_t cu_dense_step(const ir_program *p, const ir_buffer *from, int rank) {
  int64_t step = 1;
  if (from->role != IR_ARGUMENT) {
    for (int r = rank + 1; r < from->rank; r++)
      step *= from->extent[r] + (r == from->rank - 1 ? from->gap : 0);
    return step;
  }
  for (int r = rank + 1; r < from->rank; r++)
    step *= p->tree->workload->tensors[from->tensor].extent[r];
  return step;
}

/* Whether the array is so small that the compiler indexes it with 32 bits. */
static bool is_short(const ir_program *p, const ir_buffer *from) {
  const int64_t most = INT32_MAX / 2, first = p->tree->workload->tensors[from->tensor].extent[0];
  return first <= most / cu_dense_step(p, from, 0);
}

ir_stack cu_places(const ir_program *p, const ir_stmt *s) {
  const ir_buffer *to = &p->buffers[s->copy.to];
  const ir_stack *sum = cu_across(to), *rows = cu_stack(to);
  ir_stack t = {.n = 0, .first = ir_number(0)};
  for (int i = 0; i < sum->n; i++) {
    bool may = p->tree->workload->tensors[to->tensor].pad[sum->axis[i]] != 0;
    for (int k = 0; k < rows->n; k++)
      may |= rows->axis[k] == sum->axis[i];
    if (may)
      t.axis[t.n] = sum->axis[i], t.length[t.n] = sum->length[i], t.step[t.n++] = sum->step[i];
  }
  return t;
}

bool cu_is_gathered(const ir_program *p, const ir_stmt *s) {
  const ir_buffer *to = &p->buffers[s->copy.to], *from = &p->buffers[s->copy.from];
  if (!cu_stack(to) || to->type != from->type || from->block.length || !is_short(p, from))
    return false;
  const cu_tile t = cu_tile_of(to);
  if (cu_across(to)) {
    enum { BITS = 64 };
    const ir_stack places = cu_places(p, s);
    return t.rows <= (int64_t)CU_WARPS * CU_LANES && ir_stack_rows(&places) <= BITS &&
           !cu_has_contiguous_rows(p, s);
  }
  const ir_range *r = &s->range[cu_column_rank(to)];
  const int64_t columns = cu_matrix_columns(to);
  return cu_column_rank(to) < to->rank - 1 && constant_length(r) == columns &&
         columns * ir_bytes(to->type) % 16 == 0;
}

bool cu_has_contiguous_rows(const ir_program *p, const ir_stmt *s) {
  const ir_buffer *to = &p->buffers[s->copy.to], *from = &p->buffers[s->copy.from];
  const ir_stack *sum = cu_across(to);
  if (!sum || cu_stack(to)->n != 1 || cu_stack(to)->step[0] != 1 || from->type != to->type ||
      from->block.length || !is_short(p, from))
    return false;
  int64_t inner = 1;
  bool together = ir_bytes(to->type) == 2;
  for (int i = sum->n - 1; i >= 0 && together; inner *= sum->length[i--])
    together = sum->step[i] * cu_dense_step(p, from, sum->axis[i]) == inner &&
               sum->axis[i] != cu_stack(to)->axis[0];
  /* a window as wide as its image crosses its borders */
  const tf_tensor *z = from->role == IR_ARGUMENT ? &p->tree->workload->tensors[from->tensor] : NULL;
  for (int r = 0; z && r < z->rank; r++)
    together = together && !z->pad[r];
  return together;
}

int64_t cu_sharers(const ir_program *p, const ir_stmt *s) {
  enum { SECTOR = 2 }; /* pieces in a memory transaction */
  const cu_tile t = cu_tile_of(&p->buffers[s->copy.to]);
  const int64_t all = CU_WARPS * CU_LANES;
  int64_t rows = CU_LANES;
  while (rows < t.rows && rows < all)
    rows *= 2;
  return cu_has_contiguous_rows(p, s) && all / rows < SECTOR ? SECTOR : all / rows;
}

int64_t cu_share_of(const ir_program *p, const ir_stmt *s) {
  const cu_tile t = cu_tile_of(&p->buffers[s->copy.to]);
  const int64_t sharers = cu_sharers(p, s);
  return up(t.pieces, sharers) * up(t.rows * sharers, (int64_t)CU_WARPS * CU_LANES);
}

/* A tile's pieces of 16 bytes, one for each thread at a time, for full tiles and partial ones;
 * other copies loop over elements. */
static void count_copy(const ir_program *p, const ir_stmt *s, cu_counts *n) {
  const ir_buffer *to = &p->buffers[s->copy.to];
  if (!cu_is_matrix(to)) {
    n->copied += ir_bytes(to->type) == 4;
    return;
  }
  const cu_tile t = cu_tile_of(to);
  if (to->type != p->buffers[s->copy.from].type) return; /* through registers */
  enum { WORDS = 2 * 4 }; /* if rows do not begin at multiples of 16 bytes */
  if (cu_has_contiguous_rows(p, s))
    n->copied += (cu_row_alignment(p, s) < 16 ? 0 : cu_share_of(p, s)) + WORDS;
  if (cu_across(to) || (cu_stack(to) && cu_column_rank(to) < to->rank - 1))
    return; /* gathered element by element */
  const bool twice =
      !cu_stack(to) && cu_is_by_rows(&t) && cu_lengths_of(p, s, &t) == (CU_FULL | CU_SOME);
  n->copied += up(t.rows * t.pieces, (int64_t)CU_WARPS * CU_LANES) * ((twice ? 2 : 1) + WORDS);
}

static void body(const ir_program *p, const ir_body *b, cu_counts *n) {
  for (int i = 0; i < b->n; i++) {
    const ir_stmt *s = b->s[i];
    if (s->kind == IR_NEST && cu_of(s)->fragments) count_product(p, s, n);
    if (s->kind == IR_COPY) count_copy(p, s, n);
    body(p, &s->body, n);
  }
}

cu_counts cu_count(const ir_program *p, const ir_stmt *part) {
  cu_counts n = {0, 0, 0};
  body(p, &part->body, &n);
  return n;
}

/* Registers: the maximum, over all statements, of the fragments that are live, the operands in
 * flight, and addresses. Each figure follows from how the kernel is printed. No compiler is asked:
 * that would take seconds for each of hundreds of mappings, and results must not depend on whether
 * there is one. */

enum {
  /* Of every thread: warp, lane and block (4), the addresses of shared memory and of the current
   * tile (2), a loop's step and end, of 64 bits each, and six temporaries. */
  THREAD = 16,
  /* An array in global memory: its address and that of the current row, of 64 bits each. */
  ARRAY = 4,
  /* A range that may end early: its end and the value compared with it, of 64 bits each. */
  ENDS = 4,
  /* A dim of points that are not contiguous: its coordinate, of 64 bits, and its length, by which
   * numbers are divided. */
  PLACE = 3,
  /* Loads in flight at most: the compiler unrolls a loop of unknown length by four, and a thread
   * has 32 points at most; later loads wait for a free register. */
  FLIGHT = 32,
  /* The result of an instruction for float8, before it is added to the sums. */
  PART = 4,
  /* A register of four bytes that are not adjacent: each byte has a register while it is loaded. */
  APART = 4,
  /* A tile that is copied while others are multiplied: its source, the distance to the next step's
   * and the row's end, of 64 bits each; its destination. */
  TILE = 7,
  /* For stacked rows: the address of each piece of a thread, as pixels are not equidistant. */
  PIXEL = 2,
  /* Two rows of a fragment are stored, or loaded, at a time: each has an address. */
  ROWS = 4,
};

/* The statements of a part that compute or copy, in order, and its loops as ranges of them. */
typedef struct {
  int first, last;
} run;
typedef struct {
  const ir_program *p;
  int n, n_loops;
  const ir_stmt **leaf; /* [n] */
  bool *region;         /* [n] it stands in a region */
  double *live;         /* [n] registers of live fragments */
  run *loop;            /* [n_loops] */
} lane;

static bool is_leaf(const ir_stmt *s) { return ir_facts_of(s)->points || s->kind == IR_COPY; }

static void count_leaves(const ir_body *b, int *leaves, int *loops) {
  for (int i = 0; i < b->n; i++) {
    *leaves += is_leaf(b->s[i]);
    *loops += b->s[i]->kind == IR_FOR;
    count_leaves(&b->s[i]->body, leaves, loops);
  }
}

static void collect(lane *t, const ir_body *b, bool region) {
  for (int i = 0; i < b->n; i++) {
    const ir_stmt *s = b->s[i];
    const int first = t->n;
    if (is_leaf(s)) t->region[t->n] = region, t->leaf[t->n++] = s;
    collect(t, &s->body, region || (s->kind == IR_FOR && cu_is_region(t->p, s)));
    if (s->kind == IR_FOR && s->loop.map == IR_SERIAL)
      t->loop[t->n_loops++] = (run){first, t->n - 1};
  }
}

static bool open_lane(lane *t, const ir_program *p, const ir_stmt *part) {
  const ir_body whole = {.n = 1, .s = (ir_stmt *[]){(ir_stmt *)part}};
  int leaves = 0, loops = 0;
  count_leaves(&whole, &leaves, &loops);
  *t = (lane){.p = p};
  t->leaf = TF_ARRAY(p->arena, const ir_stmt *, (size_t)leaves + 1);
  t->region = TF_ARRAY(p->arena, bool, (size_t)leaves + 1);
  t->live = TF_ARRAY(p->arena, double, (size_t)leaves + 1);
  t->loop = TF_ARRAY(p->arena, run, (size_t)loops + 1);
  if (!t->leaf || !t->region || !t->live || !t->loop) return false;
  collect(t, &whole, false);
  return true;
}

/* The first and the last statement that access each buffer; {-1, -1}: none. */
static run *find_touches(const lane *t) {
  run *is = TF_ARRAY(t->p->arena, run, (size_t)t->p->n_buffers + 1);
  for (int b = 0; is && b < t->p->n_buffers; b++)
    is[b] = (run){-1, -1};
  for (int i = 0; is && i < t->n; i++) {
    cu_access a[CU_MOST_ACCESSES];
    const int n = t->leaf[i]->kind == IR_COPY ? 0 : cu_accesses(t->p, t->leaf[i], a);
    for (int k = 0; k < n; k++) {
      run *at = &is[a[k].buffer];
      *at = (run){at->first < 0 ? i : at->first, i};
    }
  }
  return is;
}

/* A fragment is live from the first statement that accesses it to the last; throughout a loop that
 * it outlives. */
static bool find_live(lane *t) {
  const run *touches = find_touches(t);
  for (int b = 0; touches && b < t->p->n_buffers; b++) {
    const ir_buffer *at = &t->p->buffers[b];
    run is = touches[b];
    if (at->space != CU_FRAGMENT || is.first < 0) continue;
    for (int k = 0; k < t->n_loops; k++) {
      const run l = t->loop[k];
      const bool within = is.first >= l.first && is.last <= l.last,
                 apart = is.last < l.first || is.first > l.last;
      if (within || apart) continue;
      if (l.first < is.first) is.first = l.first;
      if (l.last > is.last) is.last = l.last;
    }
    for (int i = is.first; i <= is.last; i++)
      t->live[i] += (double)(cu_matrix_rows(at) *
                             (cu_column_rank(at) < 0 ? 4 : at->extent[cu_column_rank(at)])) /
                    CU_LANES;
  }
  return touches;
}

/* ---- one statement -------------------------------------------------------------------------- */

static const tf_op *op_of(const lane *t, const ir_stmt *s) {
  return &t->p->tree->workload->ops[s->op];
}

static const ir_buffer *from(const lane *t, const ir_stmt *s, int read) {
  return &t->p->buffers[s->nest.from ? s->nest.from[read]
                                     : t->p->buffer_of[op_of(t, s)->reads[read].tensor]];
}

/* Registers of an operand in a step of the sum, `each` for sixteen rows or columns, and the
 * addresses of the lane's pieces: loads of the next step reuse registers that are no longer
 * needed. */
static double operand_registers(const lane *t, const ir_stmt *s, int read, double sides,
                                double each) {
  const ir_buffer *b = from(t, s, read);
  if (b->space == CU_FRAGMENT) return 0; /* its rows are counted as live */
  if (cu_is_loaded(t->p, s, read)) return sides * (each + 1);
  const double apart = cu_mma_for(t->p, op_of(t, s))->kernel.group == 4 ? APART : 1;
  return sides * (each * apart + (b->space == CU_SHARED ? 1 : ROWS));
}

static double product_registers(const lane *t, const ir_stmt *s) {
  const cu_matrices *f = cu_of(s)->fragments;
  const ir_buffer *out = &t->p->buffers[t->p->buffer_of[op_of(t, s)->out]];
  const double rows = (double)cu_matrix_rows(out) / CU_FRAGMENT_SIDE,
               columns = (double)out->extent[cu_column_rank(out)] / CU_FRAGMENT_SIDE;
  const double parts = cu_mma_for(t->p, op_of(t, s))->kernel.a == IR_F8 ? PART : 0;
  return parts + fmin(FLIGHT + 4 * rows, operand_registers(t, s, f->a, rows, 4) +
                                             operand_registers(t, s, f->b, columns, 4));
}

/* The number of operands in global memory. */
static int arrays_of(const lane *t, const ir_stmt *s) {
  int n = 0;
  for (int i = 0; s->kind == IR_NEST && i < op_of(t, s)->n_reads; i++) {
    const ir_buffer *b = from(t, s, i);
    n += b->space != CU_FRAGMENT && b->space != CU_SHARED;
  }
  return n;
}

static int uneven(const lane *t, const ir_stmt *s) {
  int n = 0;
  for (int k = 0; k < ir_n_ranges(t->p, s); k++)
    n += !s->range[k].exact;
  return n;
}

/* A map or a SAVE of a region: loads from memory are in flight for a whole row. */
static double map_registers(const lane *t, const ir_stmt *s) {
  const int arrays = arrays_of(t, s) + (s->kind == IR_SAVE);
  return (ARRAY + ROWS) * arrays + ENDS * uneven(t, s);
}

/* The output's dims, two short ones, whose loops the compiler unrolls. */
typedef struct {
  int n, dim[2];
} unrolled;

static unrolled unrolled_of(const lane *t, const ir_stmt *s) {
  enum { LONGEST = 8, MOST = 32 };
  unrolled u = {.n = 0};
  int64_t all = 1;
  for (int k = op_of(t, s)->n_out_dims - 1; k >= 0 && u.n < 2; k--) {
    const int64_t most = s->range[k].most;
    if (most > 1 && most <= LONGEST && all * most <= MOST) all *= most, u.dim[u.n++] = k;
  }
  return u;
}

static bool reads_dim(const lane *t, const ir_stmt *s, int read, int dim) {
  const tf_ref *ref = &op_of(t, s)->reads[read];
  bool any = false;
  for (int r = 0; r < t->p->tree->workload->tensors[ref->tensor].rank; r++)
    for (int i = 0; i < ref->index[r].n_terms; i++)
      any |= ref->index[r].terms[i].dim == op_of(t, s)->dims[dim];
  return any;
}

/* Points of a thread; of a read, the different elements. */
static double points_of(const lane *t, const ir_stmt *s, int read) {
  const unrolled u = unrolled_of(t, s);
  double all = 1;
  for (int i = 0; i < u.n; i++)
    if (read < 0 || reads_dim(t, s, read, u.dim[i])) all *= (double)s->range[u.dim[i]].most;
  return all;
}

/* A thread's own sum: its points, and loads of four steps of its last dim, which are unrolled. */
static double sum_registers(const lane *t, const ir_stmt *s) {
  enum { UNROLLED = 4 };
  const tf_op *op = op_of(t, s);
  const int last = op->n_dims - 1;
  const double steps = fmin(UNROLLED, (double)s->range[last].most);
  double loaded = 0, places = 0;
  for (int i = 0; i < op->n_reads; i++) {
    if (from(t, s, i)->space == CU_FRAGMENT) continue;
    loaded += points_of(t, s, i) * (reads_dim(t, s, i, last) ? steps : 1);
    places += from(t, s, i)->rank;
  }
  return points_of(t, s, -1) + fmin(loaded, FLIGHT) + ARRAY * arrays_of(t, s) + PLACE * places +
         ENDS * uneven(t, s);
}

/* Statements that neither sum nor are in a region; partial results are loaded side by side, with
 * their maxima if they have any. */
static double point_registers(const lane *t, const ir_stmt *s) {
  const double here =
      fmin(points_of(t, s, -1), FLIGHT) + ARRAY * (1 + arrays_of(t, s)) + ENDS * uneven(t, s);
  if (s->kind != IR_MERGE) return here;
  return here + fmin((double)s->merge.parts, FLIGHT) * (s->merge.before >= 0 ? 2 : 1);
}

/* Whether a tile is gathered element by element, and threads wait for each. */
static bool is_gathered_by_element(const ir_buffer *to) {
  return cu_across(to) || (cu_stack(to) && cu_column_rank(to) < to->rank - 1);
}

/* Pieces of a tile that each thread copies. */
static int64_t pieces_per_thread(const ir_buffer *to) {
  const cu_tile tile = cu_tile_of(to);
  return up(tile.rows * tile.pieces, (int64_t)CU_WARPS * CU_LANES);
}

/* A copy element by element: the coordinates of an element, and a piece's elements in flight;
 * copies of whole pieces overlap with products (tile_registers). */
static double copy_registers(const lane *t, const ir_stmt *s) {
  const ir_buffer *to = &t->p->buffers[s->copy.to];
  if (!cu_is_matrix(to)) return ARRAY + PLACE * to->rank + APART;
  const double places =
      (cu_stack(to) ? cu_stack(to)->n : 0) + (cu_across(to) ? cu_across(to)->n : 0);
  if (to->type != t->p->buffers[s->copy.from].type)
    return fmin(FLIGHT, 2 * (double)pieces_per_thread(to)) + ARRAY + APART;
  const double each = 16.0 / ir_bytes(to->type);
  if (cu_is_gathered(t->p, s))
    return ARRAY + PLACE +
           fmin(FLIGHT,
                (double)(cu_across(to) ? cu_share_of(t->p, s) : pieces_per_thread(to)) * each);
  return is_gathered_by_element(to) ? ARRAY + PLACE * places + each : 0;
}

/* ---- a part --------------------------------------------------------------------------------- */

static double leaf_registers(const lane *t, int i) {
  const ir_stmt *s = t->leaf[i];
  if (s->kind == IR_COPY) return copy_registers(t, s);
  if (s->kind == IR_NEST && cu_of(s)->fragments) return product_registers(t, s);
  if (t->region[i]) return map_registers(t, s);
  return s->kind == IR_NEST && op_of(t, s)->reduce != TF_ASSIGN ? sum_registers(t, s)
                                                                : point_registers(t, s);
}

/* Sources and destinations of each tile's pieces, beside products; they are the same in all steps
 * of a loop. */
static double tile_registers(const lane *t) {
  double all = 0;
  for (int b = 0; b < t->p->n_buffers; b++) {
    const ir_buffer *to = &t->p->buffers[b];
    bool is = false;
    for (int i = 0; i < t->n; i++)
      is |= t->leaf[i]->kind == IR_COPY && t->leaf[i]->copy.to == b && cu_is_matrix(to);
    if (is && cu_across(to))
      all += ARRAY + PIXEL; /* a row's address, and which of its positions are inside */
    if (is && !cu_across(to))
      all += TILE +
             (cu_stack(to) ? PIXEL * (double)pieces_per_thread(to) + PLACE * cu_stack(to)->n : 0);
  }
  return all;
}

/* Warpgroups: the registers of a multiprocessor, divided evenly among all threads of a block, in
 * multiples of eight (setmaxnreg redistributes them). */
static double warpgroup_registers(const ir_program *p, const ir_stmt *part) {
  const double threads = (cu_groups_of(part) + 1) * CU_GROUP_WARPS * CU_LANES;
  return floor(p->tree->arch->multiprocessor.registers / threads / 8) * 8;
}

double cu_registers(const ir_program *p, const ir_stmt *part) {
  double most = 0;
  lane t;
  if (cu_is_groups(part)) return warpgroup_registers(p, part);
  if (!open_lane(&t, p, part) || !find_live(&t)) return p->tree->arch->multiprocessor.most;
  const double tiles = tile_registers(&t);
  for (int i = 0; i < t.n; i++) {
    const bool product = t.leaf[i]->kind == IR_NEST && cu_of(t.leaf[i])->fragments;
    most = fmax(most, t.live[i] + leaf_registers(&t, i) + (product ? tiles : 0));
  }
  return THREAD + most;
}

double cu_store_lines(const ir_program *p, const ir_stmt *s) {
  enum { LINES = 8 }; /* one of each row of a warp's store */
  if (s->kind != IR_SAVE || cu_of(s)->by_boxes) return 0;
  const ir_buffer *to = &p->buffers[s->save.to], *from = &p->buffers[s->save.from];
  const bool pairs = ir_is_half(to->type) && cu_column_rank(from) == to->rank - 1;
  return to->space == CU_GLOBAL ? (double)LINES / CU_LANES / (pairs ? 2 : 1) : 0;
}

/* ---- instructions that a warp issues -------------------------------------------------------- */

/* Whether neighbours of the operand's tile run along the sum. */
static bool is_along(const ir_program *p, const ir_stmt *s, int read) {
  const ir_buffer *from = &p->buffers[s->nest.from[read]];
  const tf_op *op = op_of_nest(p, s);
  return cu_across(from) || op->reads[read].index[cu_column_rank(from)].terms[0].dim ==
                                op->dims[cu_of(s)->fragments->k];
}

/* Loads of an operand's matrices, 16 of its rows or columns at a time, and addresses of one piece
 * of a row: of a step if neighbours run along the sum, else of 16 rows for all steps. Steps that a
 * loop counts are variables. The lane's row and piece stay in registers for all steps of small
 * products that every step makes; addresses of stacked rows are the copy's (tile_pixel). */
static double loads_issued(const ir_program *p, const ir_stmt *s, int read, double side,
                           double steps) {
  enum { KEPT = 32 };
  if (!cu_is_loaded(p, s, read)) return 0;
  const cu_matrices *f = cu_of(s)->fragments;
  const ir_buffer *out = &p->buffers[p->buffer_of[op_of_nest(p, s)->out]];
  const double rows = (double)cu_matrix_rows(out) / 16,
               products = steps * rows * (double)up(s->range[f->n].most, 8);
  const bool along = is_along(p, s, read), counted = (double)cu_steps_at_a_time(p, s) < steps,
             kept = cu_stack(&p->buffers[s->nest.from[read]]) ||
                    (products <= KEPT && s->range[f->k].never_empty);
  return steps * side / 16 +
         (counted ? matrix_counted : matrix_place) * (along ? steps : side / 16) +
         (kept    ? 0
          : along ? lane_place
                  : lane_turned);
}

/* Reads of an operand's elements one by one, and rounding to tf32. */
static double elements_issued(const ir_program *p, const ir_stmt *s, int read, double elements) {
  const cu_mma *mma = cu_mma_for(p, op_of_nest(p, s));
  double each = mma->kernel.a == IR_F32 ? element_rounded : 0;
  if (is_gathered(p, s, read)) each += mma->kernel.a == IR_F32 ? element_word : element_byte;
  return elements / CU_LANES * each;
}

/* Whether the product follows another one in a step of the loop, with nothing in between. */
static bool follows_product(const ir_stmt *loop, const ir_stmt *s) {
  bool after = false;
  for (int i = 0; loop && i < loop->body.n && loop->body.s[i] != s; i++) {
    const ir_stmt *t = loop->body.s[i];
    if (t->kind != IR_LET) after = t->kind == IR_NEST && cu_of(t)->fragments;
  }
  return after;
}

/* Multiplications with their descriptors; partial sums of float8 are added up once. */
static cu_step group_step(const ir_program *p, const ir_stmt *s, const ir_stmt *loop,
                          double multiplied, double sums) {
  double all = multiplied * multiply_described;
  if (cu_has_short_sums(p) && s->nest.n_resets) all += sums;
  if (cu_mma_for(p, op_of_nest(p, s))->kernel.a == IR_F8) all += sums;
  if (follows_product(loop, s)) all += ring_second;
  all += ring_fresh * (s->nest.n_resets > 1 ? s->nest.n_resets - 1 : 0);
  return (cu_step){.issued = all, .multiplied = multiplied};
}

cu_step cu_product_step(const ir_program *p, const ir_stmt *s, const ir_stmt *loop, bool begun,
                        bool groups, bool some_warps) {
  const tf_op *op = op_of_nest(p, s);
  const cu_matrices *f = cu_of(s)->fragments;
  const cu_mma *mma = cu_mma_for(p, op);
  const ir_buffer *out = &p->buffers[p->buffer_of[op->out]];
  const bool widened = cu_is_widened(p, op);
  const double m = (double)cu_matrix_rows(out), n = (double)out->extent[cu_column_rank(out)],
               steps = (double)up(cu_sum_length(p, s), mma->kernel.k_round),
               sums = m * n / CU_LANES, eights = (double)up(s->range[f->n].most, 8);
  if (groups) return group_step(p, s, loop, steps * m / 16 * ceil(n / 256), sums);
  const double multiplied = steps * m / 16 * eights * (widened ? 2 : 1);
  double all = multiplied + loads_issued(p, s, f->a, m, steps) +
               loads_issued(p, s, f->b, n, steps) +
               elements_issued(p, s, f->a, m * steps * mma->kernel.k_round) +
               elements_issued(p, s, f->b, n * steps * mma->kernel.k_round);
  /* code for sm_90 branches around setting zeros where others select them, unless they are set
   * before the loop */
  if (!cu_may_group(p) && !begun && s->nest.n_resets) all += sums;
  if (mma->kernel.a == IR_F8) all += sums * steps;
  /* a register of four bytes becomes two of 16-bit floats, and each pair of multiplications starts
   * from zero */
  if (widened) all += steps * (m / 16 * 8 + n / 8 * 4 + m / 16 * n / 8 * 2);
  if (!s->range[f->k].never_empty) all += sum_tested;
  if (some_warps) all += product_begin;
  if (cu_may_group(p) && s->range[f->m].most <= 8 &&
      p->buffers[s->nest.from[f->a]].space == CU_FRAGMENT)
    all += row_half * steps * n / 8;
  return (cu_step){.issued = all, .multiplied = multiplied};
}
