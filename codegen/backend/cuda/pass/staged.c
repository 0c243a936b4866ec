/* Plans which operands of a region's products are copied to shared memory, in which pieces, and how
 * many at a time. */
#include <math.h>

#include "codegen/backend/cuda/pass/region.h"

/* Bytes of the longest sum whose operands are copied as a whole in a loop; pieces in flight, at
 * most; steps of a loop that are present at once, if they take few bytes. */
enum { MOST_WHOLE = 512, MOST_STAGES = 4, AHEAD = 3 };

static const tf_multiprocessor *multiprocessor_of(const cu_region *g) {
  return &g->p->tree->arch->multiprocessor;
}

/* Bytes along k that are multiplied at a time, of longer sums: a row of banks, so that a column of
 * pieces in eight rows has no bank conflicts; at least a piece. */
static int64_t step_bytes(const cu_region *g) {
  return multiprocessor_of(g)->banks < 16 ? 16 : (int64_t)multiprocessor_of(g)->banks / 16 * 16;
}

/* Bytes of tiles of a block, limited by a block's memory and by its share of the
 * multiprocessor's. */
static int64_t most_bytes(const cu_region *g) {
  const tf_memory *home = &g->p->tree->arch->memories[cu_home(g->p->tree->arch)];
  const double own = multiprocessor_of(g)->memory - multiprocessor_of(g)->reserve,
               given = (double)home->capacity_words * home->word_bits / 8;
  const int64_t other = CU_WMMA_ROOM; /* other uses of a block's shared memory */
  return (int64_t)(given > 0 && given < own ? given : own) - other;
}

/* Bytes of tiles with which two blocks fit on a multiprocessor. */
static int64_t few_bytes(const cu_region *g) {
  return (int64_t)(multiprocessor_of(g)->memory / 2 - multiprocessor_of(g)->reserve);
}

static const tf_op *op_of_work(const cu_region *g, const cu_work *t) {
  return &g->p->tree->workload->ops[t->s->op];
}

static int64_t length_of(const cu_region *g, const cu_work *t, int dim) {
  const tf_op *op = op_of_work(g, t);
  if (dim == op->dims[t->roles.k]) return cu_padded_sum(g->p, t->step);
  if (dim == g->dim_m) return g->rows * g->warps_m;
  if (dim == op->dims[t->roles.n])
    return g->dim_n >= 0 ? g->columns * g->warps_n : cu_sides_up(t->s->range[t->roles.n].most);
  return 1;
}

/* Whether the index is a dim of the operand's matrix alone; *other: false, if the index has a dim
 * of the matrix otherwise. */
static bool is_side(const cu_region *g, const cu_work *t, int i, const tf_index *ix, bool *other) {
  const tf_op *op = op_of_work(g, t);
  const int x = op->dims[i ? t->roles.n : t->roles.m], k = op->dims[t->roles.k];
  for (int j = 0; j < ix->n_terms; j++)
    *other &= ix->terms[j].dim != x && ix->terms[j].dim != k && ix->terms[j].coef > 0;
  const int dim = cu_single_dim(ix);
  return dim >= 0 && (dim == x || dim == k);
}

/* Whether the buffer is in global memory, where a tile can be copied from. The block may have
 * written it, but not in the same region (region.c's may_write): a barrier stands between. */
static bool is_outside(const cu_region *g, int buffer) {
  const ir_buffer *b = &g->p->buffers[buffer];
  int parts = 0;
  if (b->role == IR_ARGUMENT) return g->p->tree->workload->tensors[b->tensor].producer < 0;
  for (int i = 0; i < g->p->body.n; i++)
    parts += cu_touches(g->p, &g->p->body.s[i], 1, buffer) > 0;
  return parts > 1 && b->space == CU_GLOBAL && b->type == g->p->machine.data && !cu_is_matrix(b);
}

/* Whether the operand is a matrix in global memory with contiguous rows. */
bool cu_find_tile(const cu_region *g, const cu_work *t, int i, cu_operand *side) {
  const tf_op *op = op_of_work(g, t);
  const tf_ref *ref = &op->reads[i ? t->roles.b : t->roles.a];
  const tf_tensor *z = &g->p->tree->workload->tensors[ref->tensor];
  side->rows = -1;
  const int from = cu_source_of(g->p, t->s, i ? t->roles.b : t->roles.a);
  if (!is_outside(g, from) || z->rank < 2) return false;
  for (int r = 0; r < z->rank; r++) {
    bool other = true;
    const bool is = is_side(g, t, i, &ref->index[r], &other);
    if (z->pad[r] || (!is && !other) || (is && r < z->rank - 1 && side->rows >= 0) ||
        (r == z->rank - 1 && !is))
      return false;
    if (is && r < z->rank - 1) side->rows = r;
  }
  side->columns = z->rank - 1;
  return side->rows >= 0 &&
         ref->index[side->rows].terms[0].dim != ref->index[z->rank - 1].terms[0].dim;
}

/* The dim of the stack in the index, and its step between rows; -1: none. False: there are several,
 * a negative step, or a dim of the columns or the sum. */
static bool stacked_in(const cu_region *g, const cu_work *t, const tf_index *ix, int *dim,
                       int64_t *step) {
  const tf_op *op = op_of_work(g, t);
  bool ok = true;
  *dim = -1;
  for (int i = 0; i < ix->n_terms && ok; i++) {
    const int x = ix->terms[i].dim;
    ok = x != op->dims[t->roles.n] && x != op->dims[t->roles.k];
    if (!cu_is_row(g, x)) continue;
    ok &= *dim < 0 && ix->terms[i].coef > 0;
    *dim = x, *step = ix->terms[i].coef;
  }
  return ok;
}

bool cu_find_stack(const cu_region *g, const cu_work *t, cu_operand *side) {
  const tf_op *op = op_of_work(g, t);
  const tf_ref *ref = &op->reads[t->roles.a];
  const tf_tensor *z = &g->p->tree->workload->tensors[ref->tensor];
  int at[IR_MOST_STACKED], n = 0;
  int64_t step[IR_MOST_STACKED];
  side->columns = -1;
  if (!is_outside(g, cu_source_of(g->p, t->s, t->roles.a))) return false;
  for (int r = 0; r < z->rank; r++) {
    int dim = -1;
    int64_t by = 1;
    if (cu_single_dim(&ref->index[r]) == op->dims[t->roles.k] && side->columns < 0 && !z->pad[r]) {
      side->columns = r;
      continue;
    }
    if (!stacked_in(g, t, &ref->index[r], &dim, &by)) return false;
    if (dim < 0) continue;
    if (n == g->n_stack || dim != g->stack_dim[n]) return false;
    step[n] = by, at[n++] = r;
  }
  if (n < g->n_stack || side->columns < 0) return false;
  ir_stack *stack = cu_stack_of(g, at, g->rows * g->warps_m, ir_number(0));
  for (int i = 0; stack && i < n; i++)
    stack->step[i] = step[i];
  side->stack = stack, side->rows = at[n - 1];
  return stack != NULL;
}

/* The rank and the coefficient of the dim, if it is a term of one index of the read only, with a
 * positive coefficient. */
static bool term_of(const cu_region *g, const tf_ref *ref, int dim, int *rank, int64_t *by) {
  int found = 0;
  for (int r = 0; r < g->p->tree->workload->tensors[ref->tensor].rank; r++)
    for (int i = 0; i < ref->index[r].n_terms; i++)
      if (ref->index[r].terms[i].dim == dim) found++, *rank = r, *by = ref->index[r].terms[i].coef;
  return found == 1 && *by != 0;
}

/* The stack of these dims of the product, in that order (with their ranges' lengths), in the read's
 * ranks; NULL: the read has not all of them. */
static ir_stack *stack_over(const cu_region *g, const tf_op *op, const tf_ref *ref, int n,
                            const int *dim, const ir_range *range) {
  ir_stack *stack = n > 0 && n <= IR_MOST_STACKED ? TF_NEW(g->p->arena, ir_stack) : NULL;
  bool ok = stack != NULL;
  if (ok) *stack = (ir_stack){.n = n, .first = ir_number(0)};
  for (int i = 0; i < n && ok; i++) {
    ok = term_of(g, ref, dim[i], &stack->axis[i], &stack->step[i]) &&
         (stack->step[i] > 0 || lower_find_dim(op, dim[i]) >= op->n_out_dims);
    stack->length[i] = range[i].most;
  }
  return ok ? stack : NULL;
}

/* Tiles of a product that sums over a window and its few channels at once: a row has all elements
 * of its sum, in the same order for both operands. */
static bool find_across(const cu_region *g, const cu_work *t, int i, cu_operand *side) {
  const tf_op *op = op_of_work(g, t);
  const tf_ref *ref = &op->reads[i ? t->roles.b : t->roles.a];
  int dim[IR_MOST_STACKED], n = 0;
  ir_range range[IR_MOST_STACKED];
  if (!is_outside(g, cu_source_of(g->p, t->s, i ? t->roles.b : t->roles.a))) return false;
  for (int k = op->n_out_dims; k < op->n_dims; k++) {
    if (t->s->range[k].most == 1) continue;
    if (n == IR_MOST_STACKED) return false;
    range[n] = t->s->range[k], dim[n++] = op->dims[k];
  }
  ir_stack *sum = stack_over(g, op, ref, n, dim, range);
  ir_stack *rows = i ? stack_over(g, op, ref, 1, &op->dims[t->roles.n], &t->s->range[t->roles.n])
                     : stack_over(g, op, ref, g->n_stack, g->stack_dim, g->stack);
  if (!rows || !sum) return false;
  rows->count = i ? length_of(g, t, op->dims[t->roles.n]) : g->rows * g->warps_m;
  sum->count = cu_padded_sum(g->p, ir_stack_rows(sum));
  side->stack = rows, side->across = sum;
  side->rows = rows->axis[rows->n - 1], side->columns = sum->axis[sum->n - 1];
  return true;
}

/* Whether the index has neither of the two dims; or, with one of them, it alone, or columns with
 * steps beside dims of one setting each (pixels of a window). */
static bool is_column(const cu_work *t, const tf_op *op, const tf_index *ix, int64_t *step) {
  const int n = op->dims[t->roles.n], k = op->dims[t->roles.k];
  bool ok = true, has_n = false, has_k = false;
  for (int j = 0; j < ix->n_terms; j++) {
    const int d = ix->terms[j].dim, at = lower_find_dim(op, d);
    has_k |= d == k;
    if (d == n) ok &= !has_n && ix->terms[j].coef > 0, has_n = true, *step = ix->terms[j].coef;
    ok &= d == n || d == k || t->s->range[at].most == 1;
  }
  return has_k ? cu_single_dim(ix) == k : !has_n || ok;
}

/* Whether the columns of a convolution are a matrix in global memory that is not contiguous along
 * the sum: weights with the window innermost, or pixels beside stacked phases of the weights. */
static bool find_columns(const cu_region *g, const cu_work *t, cu_operand *side) {
  const tf_op *op = op_of_work(g, t);
  const tf_ref *ref = &op->reads[t->roles.b];
  const int n = op->dims[t->roles.n], k = op->dims[t->roles.k];
  int64_t step = 1;
  side->rows = side->columns = -1;
  if (!g->stacked || !is_outside(g, cu_source_of(g->p, t->s, t->roles.b))) return false;
  for (int r = 0; r < g->p->tree->workload->tensors[ref->tensor].rank; r++) {
    if (!is_column(t, op, &ref->index[r], &step)) return false;
    for (int j = 0; j < ref->index[r].n_terms; j++) {
      int *const at = ref->index[r].terms[j].dim == n   ? &side->rows
                      : ref->index[r].terms[j].dim == k ? &side->columns
                                                        : NULL;
      if (at && *at >= 0) return false;
      if (at) *at = r;
    }
  }
  ir_stack *stack = side->rows >= 0 && side->columns >= 0 ? TF_NEW(g->p->arena, ir_stack) : NULL;
  if (!stack) return false;
  *stack = (ir_stack){.n = 1,
                      .axis = {side->rows},
                      .length = {t->s->range[t->roles.n].most},
                      .step = {step},
                      .count = length_of(g, t, n),
                      .first = ir_number(0)};
  side->stack = stack;
  return true;
}

/* Whether its box is the same in all steps of the region's loops. */
bool cu_is_lasting(const cu_region *g, const cu_work *t, int i) {
  const tf_ref *ref = &op_of_work(g, t)->reads[i ? t->roles.b : t->roles.a];
  bool lasting = t->loop && t->trip == 1;
  for (int r = 0; r < g->p->tree->workload->tensors[ref->tensor].rank; r++)
    for (int j = 0; j < ref->index[r].n_terms; j++) {
      const ir_range *at =
          &t->s->range[lower_find_dim(op_of_work(g, t), ref->index[r].terms[j].dim)];
      lasting &=
          (at->lo.var < 0 || !g->inside[at->lo.var]) && (at->hi.var < 0 || !g->inside[at->hi.var]);
    }
  return lasting;
}

static void find_bytes(const cu_region *g, const cu_work *t, int i, cu_operand *side) {
  const tf_ref *ref = &op_of_work(g, t)->reads[i ? t->roles.b : t->roles.a];
  int64_t extent[2] = {
      side->stack ? side->stack->count : length_of(g, t, ref->index[side->rows].terms[0].dim),
      side->across ? side->across->count : length_of(g, t, ref->index[side->columns].terms[0].dim)};
  const cu_layout layout = {
      .note = {&cu_no_layout}, .rows = 0, .columns = 1, .plain = cu_is_wmma(g->p)};
  side->bytes = cu_bytes(&(ir_buffer){.role = IR_COPIED,
                                      .note = &layout.note,
                                      .extent = extent,
                                      .type = cu_mma_for(g->p, op_of_work(g, t))->kernel.a,
                                      .slots = 1});
}

/* The outermost of the region's loops that only step through the product's sum; NULL: there are
 * other statements, too. */
static const ir_stmt *steps_of(const cu_region *g, const cu_work *t) {
  for (int i = 0; i < g->n && g->stacked; i++) {
    const ir_stmt *inner = g->s[i]->kind == IR_FOR ? g->s[i] : NULL;
    for (const ir_stmt *next = inner; next; next = cu_only_loop(&next->body))
      inner = next;
    int products = 0, others = 0;
    for (int k = 0; inner && k < inner->body.n; k++)
      products += inner->body.s[k] == t->s,
          others += inner->body.s[k] != t->s && inner->body.s[k]->kind != IR_LET;
    if (products && !others) return g->s[i];
  }
  return NULL;
}

/* Pieces of the product's sum in all of its loops. */
static int64_t pieces_of(const cu_work *t) {
  int64_t n = t->trip;
  for (const ir_stmt *in = t->steps; in; in = cu_only_loop(&in->body))
    n *= in->loop.trip;
  return n;
}

/* As many stages as it takes for one piece to arrive while those before it are multiplied. */
static int stages_of(const cu_region *g, const cu_work *t) {
  const double m = (double)(g->rows * g->warps_m),
               n = (double)length_of(g, t, op_of_work(g, t)->dims[t->roles.n]);
  const double k = (double)cu_padded_sum(g->p, t->step),
               multiplied = m * n * k / (cu_rate(g->p) * multiprocessor_of(g)->share);
  double bytes = 0;
  for (int i = 0; i < 2; i++)
    bytes += t->side[i].tile && !t->side[i].lasting ? (double)t->side[i].bytes : 0;
  const double others =
      (multiprocessor_of(g)->latency + bytes / multiprocessor_of(g)->l2) / multiplied;
  const int64_t pieces = pieces_of(t), most = pieces < MOST_STAGES ? pieces : MOST_STAGES;
  const int64_t n_stages = others < MOST_STAGES ? 1 + (int64_t)ceil(others) : MOST_STAGES;
  return (int)(n_stages < most ? n_stages : most);
}

/* False: the operand has stacked rows, but no tile. */
static bool plan_one(const cu_region *g, cu_work *t) {
  const int64_t k = t->s->range[t->roles.k].most;
  const int a = cu_source_of(g->p, t->s, t->roles.a);
  const cu_mma *mma = cu_mma_for(g->p, op_of_work(g, t));
  const int bytes = ir_bytes(mma->kernel.a);
  t->steps = g->is_fragment[a] ? NULL : steps_of(g, t);
  const bool whole = g->is_fragment[a] || cu_is_across(g, t) || k <= step_bytes(g) / bytes ||
                     (t->loop && !t->steps && k <= MOST_WHOLE / bytes);
  t->step = whole ? k : step_bytes(g) / bytes;
  t->trip = (k + t->step - 1) / t->step;
  bool moves = false;
  for (int i = 0; i < 2; i++) {
    cu_operand *side = &t->side[i];
    const bool stacked = i == 0 && g->stacked;
    side->tile = cu_is_across(g, t) ? find_across(g, t, i, side)
                 : stacked          ? !g->is_fragment[a] && cu_find_stack(g, t, side)
                           : cu_find_tile(g, t, i, side) || (i && find_columns(g, t, side));
    if (mma != cu_mma_of(g->p) && side->across)
      side->tile = false; /* only whole pieces are widened */
    if ((stacked || cu_is_across(g, t)) && !side->tile && !g->is_fragment[a]) return false;
    if (!side->tile) continue;
    side->lasting = cu_is_lasting(g, t, i);
    moves |= !side->lasting;
    find_bytes(g, t, i, side);
  }
  t->prefetches = t->loop && !t->steps && t->trip == 1 && moves;
  t->slots = t->prefetches ? 2 : stages_of(g, t);
  return true;
}

static int64_t bytes_of(const cu_region *g) {
  int64_t sum = 0;
  for (int i = 0; i < g->n_work; i++)
    for (int k = 0; k < 2; k++)
      if (cu_has_own_tile(&g->work[i], k))
        sum += g->work[i].side[k].bytes * (g->work[i].side[k].lasting ? 1 : g->work[i].slots);
  return sum;
}

/* Copies one step further ahead in all loops that do, if few bytes are added, so that two blocks
 * still fit on a multiprocessor. */
static void prefetch_further(cu_region *g) {
  const cu_region before = *g;
  for (int i = 0; i < g->n_work; i++)
    if (g->work[i].prefetches && g->work[i].loop->loop.trip >= AHEAD) g->work[i].slots = AHEAD;
  if (bytes_of(g) > few_bytes(g)) *g = before;
}

/* Whether no statement reads another's result. */
static bool are_independent(const cu_region *g) {
  bool apart = true;
  for (int i = 0; i < g->n_points && apart; i++) {
    const ir_stmt *s = g->point[i];
    for (int k = 0; s->kind == IR_NEST && k < g->p->tree->workload->ops[s->op].n_reads && apart;
         k++)
      apart = !g->is_fragment[cu_source_of(g->p, s, k)];
  }
  return apart;
}

/* Products beside each other get the same number of stages. */
static void equalise_stages(cu_region *g) {
  for (int i = g->n_work - 1; i > 0; i--)
    if (g->work[i].shares_rows && g->work[i].slots < g->work[i - 1].slots)
      g->work[i - 1].slots = g->work[i].slots;
  for (int i = 1; i < g->n_work; i++)
    if (g->work[i].shares_rows) g->work[i].slots = g->work[i - 1].slots;
}

/* Independent products whose tiles together leave no room for a second block are better run one
 * after the other, with their tiles in the same memory (share.c). */
bool cu_plan_tiles(cu_region *g) {
  for (int i = 0; i < g->n_work; i++)
    if (!plan_one(g, &g->work[i])) return false;
  cu_find_adjacent(g), equalise_stages(g);
  if (g->n_work > 1 && bytes_of(g) > few_bytes(g) && are_independent(g)) return false;
  for (int i = g->n_work - 1; i >= 0 && bytes_of(g) > most_bytes(g); i--) {
    cu_work *t = &g->work[i];
    if (t->prefetches) t->prefetches = false, t->slots = 1;
    if (t->slots > 2) t->slots = 2;
    equalise_stages(g);
  }
  prefetch_further(g);
  return bytes_of(g) <= most_bytes(g);
}
