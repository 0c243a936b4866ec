/* Registers that ptxas will give a thread of a part, before it says so: at each statement the fragments that are live
 * there, what of it is in flight, and addresses; the most of all. */
#include "codegen/target/cuda/pass/pass.h"

#include <math.h>

/* Registers of a thread, fitted to what ptxas of nvcc 13.0 says for sm_80 of 205 kernels: the thesis's chains and
 * attention, layers of workloads/models and random workloads, in bf16, tf32, int8 and float32 (bench/cuda/sass.py
 * says how near it comes to others).  Figures that the fit took to be nothing are left out. */
static const double
    /* A product, besides fragments and what is in flight; */
    PRODUCT = 11.2,
    /* operands that ptxas loads ahead at most; */
    MOST_LOADED = 40.6,
    /* sixteen rows of a warp beyond the first; */
    EACH_SIDE = 0.7,
    /* sixteen rows that are in no tile; */
    EACH_FAR = 19.3,
    /* bytes that are put together one by one: of sixteen rows, of columns. */
    GATHERED_A = 22, GATHERED_B = 20,
    /* A region's map; a tensor of it in memory, a coordinate. */
    MAP = 11.7, EACH_READ = 16.2, EACH_COUNTED = 2.8,
    /* A sum of a thread's own, besides what is in flight; each of its points, a read of global memory, a rank of what
     * is read, a range that may end early. */
    SUM = 9.2, EACH_SUM = 0.74, EACH_GLOBAL = 6.3, EACH_RANK = 2.15, EACH_UNEVEN = 4.6,
    /* A copy of an element at a time. */
    COPY = 37.4,
    /* Other statements; each of their points up to so many, a range that may end early. */
    POINTS = 13.6, EACH_POINT = 1.05, MOST_POINTS = 16, EACH_UNEVEN_POINT = 10.2,
    /* Where results in parts are put together; each part up to so many. */
    MERGE = 15.4, EACH_PART = 0.43, MOST_PARTS = 8,
    /* Beside all: a piece that is copied to a tile, a value of a loop up to so many. */
    EACH_PIECE = 0.21, EACH_LET = 0.35, MOST_LETS = 60,
    /* Tiles of stacked rows: where each stands, and where elements are put together, one by one. */
    STACKED = 30, APART = 66,
    /* What every kernel has. */
    LEAST = 12;

/* The statements of a part that compute or copy, in order, and its loops as runs of them. */
typedef struct {
  int first, last;
} run;
typedef struct {
  const ir_program *p;
  int n, n_loops;
  const ir_stmt **leaf; /* [n] */
  bool *region;         /* [n] it stands in a region */
  double *live;         /* [n] numbers of fragments in a lane */
  run *loop;            /* [n_loops] */
} lane;

static bool is_leaf(const ir_stmt *s) { return ir_facts_of(s)->points || s->kind == IR_COPY; }

static void count(const ir_body *b, int *leaves, int *loops) {
  for (int i = 0; i < b->n; i++) {
    *leaves += is_leaf(b->s[i]);
    *loops += b->s[i]->kind == IR_FOR;
    count(&b->s[i]->body, leaves, loops);
  }
}

static void collect(lane *t, const ir_body *b, bool region) {
  for (int i = 0; i < b->n; i++) {
    const ir_stmt *s = b->s[i];
    const int first = t->n;
    if (is_leaf(s)) t->region[t->n] = region, t->leaf[t->n++] = s;
    collect(t, &s->body, region || (s->kind == IR_FOR && cu_is_region(t->p, s)));
    if (s->kind == IR_FOR && s->loop.map == IR_SERIAL) t->loop[t->n_loops++] = (run){first, t->n - 1};
  }
}

static bool open_lane(lane *t, const ir_program *p, const ir_stmt *part) {
  const ir_body whole = {.n = 1, .s = (ir_stmt *[]){(ir_stmt *)part}};
  int leaves = 0, loops = 0;
  count(&whole, &leaves, &loops);
  *t = (lane){.p = p};
  t->leaf = TF_ARRAY(p->arena, const ir_stmt *, (size_t)leaves + 1);
  t->region = TF_ARRAY(p->arena, bool, (size_t)leaves + 1);
  t->live = TF_ARRAY(p->arena, double, (size_t)leaves + 1);
  t->loop = TF_ARRAY(p->arena, run, (size_t)loops + 1);
  if (!t->leaf || !t->region || !t->live || !t->loop) return false;
  collect(t, &whole, false);
  return true;
}

/* The first and the last statement that touch each buffer; {-1, -1}: none. */
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

/* A fragment is live from the first statement that touches it to the last; in all of a loop that it outlives. */
static bool find_live(lane *t) {
  const run *touches = find_touches(t);
  for (int b = 0; touches && b < t->p->n_buffers; b++) {
    const ir_buffer *at = &t->p->buffers[b];
    run is = touches[b];
    if (at->space != CU_FRAGMENT || is.first < 0) continue;
    for (int k = 0; k < t->n_loops; k++) {
      const run l = t->loop[k];
      const bool within = is.first >= l.first && is.last <= l.last, apart = is.last < l.first || is.first > l.last;
      if (within || apart) continue;
      if (l.first < is.first) is.first = l.first;
      if (l.last > is.last) is.last = l.last;
    }
    for (int i = is.first; i <= is.last; i++)
      t->live[i] += (double)(ir_matrix_rows(at) * (at->columns < 0 ? 4 : at->extent[at->columns])) / CU_LANES;
  }
  return touches;
}

/* ---- one statement --------------------------------------------------------------------------------------- */

static const tf_op *op_of(const lane *t, const ir_stmt *s) { return &t->p->tree->workload->ops[s->op]; }

static const ir_buffer *from(const lane *t, const ir_stmt *s, int read) {
  return &t->p->buffers[s->nest.from ? s->nest.from[read] : t->p->buffer_of[op_of(t, s)->reads[read].tensor]];
}

/* Operands that are loaded ahead, until so many are in flight; where they are no matrices in shared memory, an element
 * at a time, with addresses of rows. */
static double of_product(const lane *t, const ir_stmt *s) {
  const cu_matrices *f = cu_of(s)->fragments;
  const ir_buffer *out = &t->p->buffers[t->p->buffer_of[op_of(t, s)->out]], *a = from(t, s, f->a);
  const cu_mma *mma = cu_mma_of(t->p);
  const bool made = a->space == CU_FRAGMENT; /* its rows are: nothing is loaded of them */
  const double rows = (double)ir_matrix_rows(out) / CU_FRAGMENT_SIDE, eights = (double)out->extent[out->columns] / 8,
               steps = (double)cu_steps_at_a_time(t->p, s);
  const double loaded = steps * ((made ? 0 : 4 * rows) + 2 * eights);
  const bool bytes = mma->kernel.group == 4, far = !made && !(a->matrix && a->role == IR_COPIED);
  const double gathered =
      (!made && !cu_is_loaded(t->p, s, f->a) ? GATHERED_A * rows : 0) + (!cu_is_loaded(t->p, s, f->b) ? GATHERED_B : 0);
  return PRODUCT + (loaded < MOST_LOADED ? loaded : MOST_LOADED) + EACH_SIDE * (rows - 1) + (bytes ? gathered : 0) +
         (far ? EACH_FAR * rows : 0);
}

/* Operands that are in global memory; ranks of those that are not in registers. */
typedef struct {
  int global, ranks;
} operands;

static operands operands_of(const lane *t, const ir_stmt *s) {
  operands n = {0, 0};
  for (int i = 0; s->kind == IR_NEST && i < op_of(t, s)->n_reads; i++) {
    const ir_buffer *b = from(t, s, i);
    if (b->space == CU_FRAGMENT) continue;
    n.global += b->space != CU_SHARED, n.ranks += b->rank;
  }
  return n;
}

/* A region's map, or save. */
static double of_map(const lane *t, const ir_stmt *s) {
  const tf_op *op = op_of(t, s);
  int counted = 0;
  for (int i = 0; i < op->n_expr; i++)
    counted += op->expr[i].what == TF_X_DIM;
  return MAP + EACH_READ * operands_of(t, s).global + EACH_COUNTED * counted;
}

static int uneven(const lane *t, const ir_stmt *s) {
  int n = 0;
  for (int k = 0; k < ir_n_ranges(t->p, s); k++)
    n += !s->range[k].exact;
  return n;
}

/* Dims of the output, two short ones, that nvcc unrolls loops over. */
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

/* Points of a thread; of a read's elements those that differ. */
static double points_of(const lane *t, const ir_stmt *s, int read) {
  const unrolled u = unrolled_of(t, s);
  double all = 1;
  for (int i = 0; i < u.n; i++)
    if (read < 0 || reads_dim(t, s, read, u.dim[i])) all *= (double)s->range[u.dim[i]].most;
  return all;
}

/* A sum of a thread's own, of whose last dim four steps are unrolled. */
static double of_sum(const lane *t, const ir_stmt *s) {
  enum { STEPS = 4 };
  const tf_op *op = op_of(t, s);
  const int last = op->n_dims - 1;
  const double steps = fmin(STEPS, (double)s->range[last].most);
  const operands n = operands_of(t, s);
  double loaded = 0;
  for (int i = 0; i < op->n_reads; i++)
    if (from(t, s, i)->space != CU_FRAGMENT) loaded += points_of(t, s, i) * (reads_dim(t, s, i, last) ? steps : 1);
  return SUM + EACH_SUM * points_of(t, s, -1) + fmin(loaded, MOST_LOADED) + EACH_GLOBAL * n.global +
         EACH_RANK * n.ranks + EACH_UNEVEN * uneven(t, s);
}

/* What neither sums nor is in a region. */
static double of_points(const lane *t, const ir_stmt *s) {
  const double here = POINTS + EACH_UNEVEN_POINT * uneven(t, s);
  if (s->kind != IR_MERGE) return here + EACH_POINT * fmin(points_of(t, s, -1), MOST_POINTS);
  return here + MERGE + EACH_PART * fmin((double)s->merge.parts, MOST_PARTS) * (s->merge.before >= 0 ? 2 : 1);
}

/* ---- a part ---------------------------------------------------------------------------------------------- */

/* Pieces of 16 bytes that a thread copies to tiles. */
static double pieces(const ir_buffer *to) {
  const cu_tile tile = cu_tile_of(to);
  return (double)((tile.rows * tile.pieces + CU_WARPS * CU_LANES - 1) / (CU_WARPS * CU_LANES));
}

static int lets_of(const ir_body *b) {
  int n = 0;
  for (int i = 0; i < b->n; i++)
    n += (b->s[i]->kind == IR_LET) + lets_of(&b->s[i]->body);
  return n;
}

/* The most of all statements, and what is kept beside any of them.  Points of threads' own and copies an element at a
 * time matter only where there is nothing, and where there is something, that sums. */
double cu_registers(const ir_program *p, const ir_stmt *part) {
  double most = 0, points = 0, copies = 0, copied = 0, stacked = 0;
  bool sums = false;
  lane t;
  if (!open_lane(&t, p, part) || !find_live(&t)) return p->tree->arch->multiprocessor.most;
  for (int i = 0; i < t.n; i++) {
    const ir_stmt *s = t.leaf[i];
    if (s->kind == IR_COPY) {
      const ir_buffer *to = &p->buffers[s->copy.to];
      if (to->stack && !to->across && s->copy.queue == CU_PIECES)
        stacked = fmax(stacked, to->columns < to->rank - 1 ? APART : STACKED);
      if (to->matrix)
        copied += pieces(to);
      else
        copies = COPY;
    } else if (s->kind == IR_NEST && cu_of(s)->fragments) {
      most = fmax(most, t.live[i] + of_product(&t, s)), sums = true;
    } else if (t.region[i]) {
      most = fmax(most, t.live[i] + of_map(&t, s));
    } else if (s->kind == IR_NEST && op_of(&t, s)->reduce != TF_ASSIGN) {
      most = fmax(most, of_sum(&t, s)), sums = true;
    } else {
      points = fmax(points, of_points(&t, s));
    }
  }
  if (sums) most = fmax(most, copies);
  if (most > 0) most += EACH_PIECE * copied + stacked;
  if (!sums) most = fmax(most, points);
  return fmax(LEAST, most + EACH_LET * fmin(lets_of(&part->body), MOST_LETS));
}
