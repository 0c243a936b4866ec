/* Which products tensor cores compute, and the layout of their matrices in shared memory. */
#include "codegen/backend/cuda/box/box.h"
#include "codegen/backend/cuda/pass/region.h"

/* The longest dim, of positions from..to-1, with at least `least` settings that moves exactly the
 * reads of `which` (bit by read); -1: none. */
static int longest(const ir_program *p, const ir_stmt *s, int from, int to, unsigned which,
                   int64_t least) {
  const tf_op *op = &p->tree->workload->ops[s->op];
  int best = -1;
  for (int k = from; k < to; k++) {
    unsigned moved = 0;
    for (int i = 0; i < 2; i++)
      moved |= (unsigned)cu_box_moves(p->tree->workload, &op->reads[i], op->dims[k]) << i;
    if (moved == which && s->range[k].most >= least &&
        (best < 0 || s->range[k].most > s->range[best].most))
      best = k;
  }
  return best;
}

int cu_source_of(const ir_program *p, const ir_stmt *s, int read) {
  return s->nest.from ? s->nest.from[read]
                      : p->buffer_of[p->tree->workload->ops[s->op].reads[read].tensor];
}

/* If only one row exists: a dim that moves the rows' operand and has one setting here, as a head's
 * row in decoding without a dim of queries. */
static int single_row(const ir_program *p, const ir_stmt *s, int a) {
  const tf_op *op = &p->tree->workload->ops[s->op];
  for (int k = 0; k < op->n_out_dims; k++)
    if (s->range[k].most == 1 && cu_box_moves(p->tree->workload, &op->reads[a], op->dims[k]))
      return k;
  return -1;
}

/* Columns are the output's innermost dim, if only one operand has it. */
static int columns_of(const ir_program *p, const ir_stmt *s, cu_matrices *t) {
  const int last = p->tree->workload->ops[s->op].n_out_dims - 1;
  for (t->b = 0; t->b < 2; t->b++)
    if (longest(p, s, last, last + 1, 1u << t->b, 2) == last) return last;
  t->b = 1;
  return longest(p, s, 0, last + 1, 2, 2);
}

/* Whether some index of the read contains an output dim and a reduced one, or has steps; digits: a
 * digit of an output dim counts, too. */
static bool is_window(const tf_workload *wl, const tf_op *op, const tf_ref *ref, bool digits) {
  bool any = false;
  for (int r = 0; r < wl->tensors[ref->tensor].rank; r++) {
    bool out = false, more = false;
    for (int i = 0; i < ref->index[r].n_terms; i++) {
      const int dim = ref->index[r].terms[i].dim;
      const bool is_out = lower_find_dim(op, dim) < op->n_out_dims;
      out |= is_out && (digits || !cu_box_is_digit(wl, &ref->index[r], dim)),
          more |= !is_out || ref->index[r].terms[i].coef > 1;
    }
    any |= out && more;
  }
  return any;
}

/* Whether the dim is an index of its own in both operands. */
static bool is_alone(const tf_workload *wl, const tf_op *op, int dim) {
  int alone = 0;
  for (int i = 0; i < 2; i++)
    for (int r = 0; r < wl->tensors[op->reads[i].tensor].rank; r++)
      alone += cu_single_dim(&op->reads[i].index[r]) == dim;
  return alone == 2;
}

/* The longest reduced dim that is an index of its own in both operands. */
static int64_t channels_of(const tf_workload *wl, const tf_op *op) {
  int64_t most = 0;
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    if (is_alone(wl, op, op->dims[k]) && wl->dims[op->dims[k]].extent > most)
      most = wl->dims[op->dims[k]].extent;
  return most;
}

/* Limits: the length of one product's sum over a window and its channels; columns of a phase, below
 * which it is no product by itself; and rows of all phases and their channels together. */
enum { CHANNELS = 8, LEAST_SUM = 16, MOST_SUM = 512, COLUMNS = 8, MOST_PHASES = 64 };

/* The length of one product's sum: the longest reduced dims, the first among equals, become steps
 * until it is at most MOST_SUM. stepped (NULL: not asked for): by position, which dims these
 * are. */
static double sum_length(const tf_workload *wl, const tf_op *op, bool *stepped) {
  double all = 1;
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    all *= (double)wl->dims[op->dims[k]].extent;
  for (int64_t below = INT64_MAX; all > MOST_SUM;) {
    int64_t longest = 1;
    for (int k = op->n_out_dims; k < op->n_dims; k++) {
      const int64_t n = wl->dims[op->dims[k]].extent;
      if (n < below && n > longest) longest = n;
    }
    for (int k = op->n_out_dims; k < op->n_dims && all > MOST_SUM; k++)
      if (wl->dims[op->dims[k]].extent == longest) {
        all /= (double)longest;
        if (stepped) stepped[k] = true;
      }
    below = longest;
  }
  return all;
}

bool cu_has_few_channels(const tf_workload *wl, const tf_op *op) {
  return channels_of(wl, op) < CHANNELS && sum_length(wl, op, NULL) >= LEAST_SUM;
}

void cu_find_stepped(const tf_workload *wl, const tf_op *op, bool *stepped) {
  sum_length(wl, op, stepped);
}

/* The number of output dims that move only this read; last: positions of the last one and the one
 * before. */
static int own_dims_of(const tf_workload *wl, const tf_op *op, int read, int last[2]) {
  int n = 0;
  for (int k = 0; k < op->n_out_dims; k++)
    if (cu_box_moves(wl, &op->reads[read], op->dims[k]) &&
        !cu_box_moves(wl, &op->reads[1 - read], op->dims[k]))
      last[0] = last[1], last[1] = k, n++;
  return n;
}

/* The input of a 1 x 1 convolution whose pixels are its last ranks and the output's last dims, in
 * rows too short to be columns of a product; the other read is contiguous along the only sum. -1:
 * the op is none. */
static int has_short_rows(const tf_workload *wl, const tf_op *op) {
  enum { SHORT = 64 };
  for (int i = 0; i < 2 && op->n_dims == op->n_out_dims + 1; i++) {
    const tf_ref *in = &op->reads[i], *weights = &op->reads[1 - i];
    const int rank = wl->tensors[in->tensor].rank, last = wl->tensors[weights->tensor].rank - 1,
              n = op->n_out_dims;
    int own[2] = {-1, -1}, columns[2];
    if (rank < 3 || last < 1 || own_dims_of(wl, op, i, own) < 2 ||
        own_dims_of(wl, op, 1 - i, columns) != 1)
      continue;
    if (own[0] != n - 2 || own[1] != n - 1 || wl->dims[op->dims[n - 1]].extent >= SHORT) continue;
    if (cu_single_dim(&in->index[rank - 1]) == op->dims[n - 1] &&
        cu_single_dim(&in->index[rank - 2]) == op->dims[n - 2] &&
        cu_single_dim(&weights->index[last]) == op->dims[n] && channels_of(wl, op) >= CHANNELS)
      return i;
  }
  return -1;
}

int cu_window(const tf_workload *wl, const tf_op *op) {
  if (!ir_is_product(op) || op->n_reads != 2) return -1;
  const int pixels = has_short_rows(wl, op);
  if (pixels >= 0) return pixels;
  bool first = is_window(wl, op, &op->reads[0], true),
       second = is_window(wl, op, &op->reads[1], true);
  const bool phases = first && second; /* one read may be a window while the other has phases */
  if (phases)
    first = is_window(wl, op, &op->reads[0], false),
    second = is_window(wl, op, &op->reads[1], false);
  const int window = first ? 0 : 1;
  if (first == second) return -1;
  int64_t columns = 0;
  for (int k = 0; k < op->n_out_dims; k++) {
    const int d = op->dims[k];
    const bool own =
        !cu_box_moves(wl, &op->reads[window], d) && cu_box_moves(wl, &op->reads[1 - window], d);
    if (own && !(phases && cu_box_has_digit(wl, &op->reads[1 - window], d)) &&
        wl->dims[d].extent > columns)
      columns = wl->dims[d].extent;
  }
  const bool enough = columns >= (phases ? COLUMNS : 1);
  return enough && (channels_of(wl, op) >= CHANNELS || cu_has_few_channels(wl, op)) ? window : -1;
}

/* The rows that all output dims of the weights are together, if they move nothing else and some is
 * a digit; 0: not so. */
static int64_t rows_of_phases(const tf_workload *wl, const tf_op *op, int weights) {
  bool digits = false;
  int64_t rows = 1;
  int n = 0;
  for (int k = 0; k < op->n_out_dims; k++) {
    const int d = op->dims[k];
    if (!cu_box_moves(wl, &op->reads[weights], d) || wl->dims[d].extent == 1) continue;
    digits |= cu_box_has_digit(wl, &op->reads[weights], d);
    if (cu_box_moves(wl, &op->reads[1 - weights], d) ||
        __builtin_mul_overflow(rows, wl->dims[d].extent, &rows) || ++n > IR_MOST_STACKED)
      return 0;
  }
  return digits && n > 1 ? rows : 0;
}

int cu_stacked_phases(const tf_workload *wl, const tf_op *op) {
  const int last = op->n_out_dims - 1;
  if (!ir_is_product(op) || op->n_reads != 2 || last < 0 || cu_window(wl, op) >= 0) return -1;
  const int weights = cu_box_moves(wl, &op->reads[0], op->dims[last]) ? 1 : 0;
  const int64_t rows = rows_of_phases(wl, op, weights);
  const bool is = rows >= COLUMNS && rows <= MOST_PHASES &&
                  is_window(wl, op, &op->reads[1 - weights], false) &&
                  !cu_box_moves(wl, &op->reads[weights], op->dims[last]) &&
                  wl->dims[op->dims[last]].extent >= COLUMNS && channels_of(wl, op) >= CHANNELS;
  return is ? weights : -1;
}

bool cu_is_depthwise(const tf_workload *wl, const tf_op *op, cu_depthwise *t) {
  return cu_depthwise_find(wl, op, t) &&
         (t->outputs < 0 || wl->dims[op->dims[t->outputs]].extent < COLUMNS ||
          cu_window(wl, op) < 0);
}

bool cu_depthwise_of(const ir_program *p, const ir_stmt *s, cu_depthwise *t) {
  const tf_workload *wl = p->tree->workload;
  const tf_op *op = &wl->ops[s->op];
  if (s->kind != IR_NEST || !ir_is_half(p->machine.data) || !cu_mma_of(p) || cu_is_wmma(p) ||
      !ir_is_product(op) || s->nest.divides >= 0 || !cu_is_depthwise(wl, op, t))
    return false;
  const int z = op->reads[t->read].tensor;
  const ir_buffer *in = &p->buffers[s->nest.from ? s->nest.from[t->read] : p->buffer_of[z]];
  const int by = op->reads[1 - t->read].tensor;
  const ir_buffer *weights =
      &p->buffers[s->nest.from ? s->nest.from[1 - t->read] : p->buffer_of[by]];
  bool is = wl->tensors[by].producer < 0 && weights->role == IR_ARGUMENT &&
            weights->type == p->machine.data && wl->tensors[z].producer < 0 &&
            in->role == IR_ARGUMENT && in->type == p->machine.data;
  for (int i = 0; i < s->nest.n_resets; i++)
    is &= s->nest.resets[i].var < 0;
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    is &= s->range[k].exact && s->range[k].lo.var < 0 && s->range[k].lo.off == 0 &&
          s->range[k].most == wl->dims[op->dims[k]].extent;
  return is;
}

/* Limits for channels that are not contiguous: the length of one product's sum, and how few
 * channels count as few. */
enum { MOST_CHUNK_SUM = 160, FEW_SUM = 64, MOST_CHUNK = 64, LEAST_CHUNK = 8 };

/* Whether the dim is a term of exactly one index of the read. */
static bool is_term_once(const tf_workload *wl, const tf_ref *ref, int dim) {
  int found = 0;
  for (int r = 0; r < wl->tensors[ref->tensor].rank; r++)
    for (int i = 0; i < ref->index[r].n_terms; i++)
      if (ref->index[r].terms[i].dim == dim) found++;
  return found == 1;
}

/* The position of the channels, if they are the first reduced dim, the weights' last ranks are the
 * other reduced ones, whole and in the op's order, and channels are not the input's last rank; -1:
 * not so. */
static int channels_before_window(const tf_workload *wl, const tf_op *op, int window) {
  const tf_ref *in = &op->reads[window], *weights = &op->reads[1 - window];
  const tf_tensor *w = &wl->tensors[weights->tensor];
  const int first = op->n_out_dims, n = op->n_dims - first, last = wl->tensors[in->tensor].rank - 1;
  bool ok = n > 0 && n < w->rank && last >= 0 && is_alone(wl, op, op->dims[first]) &&
            lower_find_dim(op, cu_single_dim(&in->index[last])) != first;
  for (int k = 0; k < n && ok; k++) {
    const int r = w->rank - n + k, dim = op->dims[first + k];
    ok = is_term_once(wl, in, dim) && is_term_once(wl, weights, dim) && !w->pad[r] &&
         (k == 0 ||
          (cu_single_dim(&weights->index[r]) == dim && w->extent[r] == wl->dims[dim].extent));
  }
  return ok ? first : -1;
}

int64_t cu_chunk(const tf_workload *wl, const tf_op *op) {
  const int window = cu_window(wl, op);
  const int channels =
      window < 0 || cu_has_few_channels(wl, op) ? -1 : channels_before_window(wl, op, window);
  if (channels < 0) return 0;
  int64_t places = 1;
  for (int k = channels + 1; k < op->n_dims; k++)
    if (__builtin_mul_overflow(places, wl->dims[op->dims[k]].extent, &places)) return 0;
  const int64_t extent = wl->dims[op->dims[channels]].extent;
  int64_t chunk = MOST_CHUNK;
  while (chunk > LEAST_CHUNK && (chunk > MOST_CHUNK_SUM / places || extent % chunk))
    chunk /= 2;
  /* steps of a short sum have as much latency as others: a longer one of any length is better */
  for (int64_t more = chunk; chunk * places < FEW_SUM && more <= MOST_CHUNK; more += LEAST_CHUNK)
    if (extent % more == 0 && more * places <= MOST_CHUNK_SUM) chunk = more;
  return places <= MOST_SUM / LEAST_CHUNK && extent % chunk == 0 ? chunk : 0;
}

/* Whether both operands are contiguous along the sum. */
static bool is_along_sum(const tf_workload *wl, const tf_op *op) {
  bool along = true;
  for (int i = 0; i < op->n_reads; i++) {
    const int last = wl->tensors[op->reads[i].tensor].rank - 1;
    const int k = last < 0 ? -1 : lower_find_dim(op, cu_single_dim(&op->reads[i].index[last]));
    along &= k >= op->n_out_dims;
  }
  return along;
}

const cu_mma *cu_mma_for(const ir_program *p, const tf_op *op) {
  const tf_workload *wl = p->tree->workload;
  const cu_mma *mma = cu_mma_of(p);
  if (!mma || mma->kernel.a != IR_F8) return mma;
  const bool bytes = lower_is_of_inputs(wl, op) && (cu_window(wl, op) >= 0 || is_along_sum(wl, op));
  enum { BF16 = 0 }; /* its row in the table */
  return bytes ? mma : cu_mma_at(BF16);
}

bool cu_is_widened(const ir_program *p, const tf_op *op) {
  return cu_may_group(p) && cu_mma_for(p, op)->kernel.a == IR_F8;
}

/* Integers are multiplied only if their sums are integers, too. */
static bool is_type(const ir_program *p, const tf_op *op, const cu_mma *mma) {
  return mma->kernel.c != IR_I32 || p->buffers[p->buffer_of[op->out]].type == IR_I32;
}

/* The window's read, if the statement is a convolution for tensor cores; else -1. */
static int window_at(const ir_program *p, const ir_stmt *s) {
  return s->kind == IR_NEST && s->nest.divides < 0
             ? cu_window(p->tree->workload, &p->tree->workload->ops[s->op])
             : -1;
}

bool cu_roles_of_pixels(const ir_program *p, const ir_stmt *s, cu_matrices *t) {
  const int window = window_at(p, s);
  if (!cu_mma_of(p) || window < 0 || !is_type(p, &p->tree->workload->ops[s->op], cu_mma_of(p)))
    return false;
  const tf_op *op = &p->tree->workload->ops[s->op];
  const int n = op->n_out_dims;
  *t = (cu_matrices){.a = window, .b = 1 - window, .k = -1};
  t->n =
      longest(p, s, n - 1, n, 1u << t->b, 2) == n - 1 ? n - 1 : longest(p, s, 0, n, 1u << t->b, 2);
  t->m = longest(p, s, 0, n, 1u << t->a, 1);
  for (int k = n; k < op->n_dims; k++)
    if ((is_alone(p->tree->workload, op, op->dims[k]) ||
         cu_has_few_channels(p->tree->workload, op)) &&
        s->range[k].most > 1 && (t->k < 0 || s->range[k].most > s->range[t->k].most))
      t->k = k;
  return t->m >= 0 && t->n >= 0 && t->k >= 0;
}

/* Whether a block has pixels along several dims, or along one with steps: they are then stacked
 * rows (region.c). */
static bool has_pixels(const ir_program *p, const ir_stmt *s, int window) {
  const tf_workload *wl = p->tree->workload;
  const tf_op *op = &wl->ops[s->op];
  const tf_ref *in = &op->reads[window];
  int n = 0;
  bool alone = true;
  for (int r = 0; r < wl->tensors[in->tensor].rank; r++)
    for (int i = 0; i < in->index[r].n_terms; i++) {
      const int k = lower_find_dim(op, in->index[r].terms[i].dim);
      if (k >= op->n_out_dims || s->range[k].most == 1) continue;
      if (cu_box_moves(wl, &op->reads[1 - window], op->dims[k])) continue;
      n++, alone &= cu_single_dim(&in->index[r]) == op->dims[k];
    }
  return n > 1 || (n == 1 && !alone);
}

int64_t cu_chunk_of(const ir_program *p, const ir_stmt *s) {
  const tf_workload *wl = p->tree->workload;
  const int window = window_at(p, s);
  const cu_mma *mma = cu_mma_of(p);
  if (window < 0 || !mma || !ir_is_half(mma->kernel.a) || mma->wmma) return 0;
  const tf_op *op = &wl->ops[s->op];
  const int64_t chunk = cu_chunk(wl, op);
  bool ok = chunk > 0 && has_pixels(p, s, window);
  for (int k = op->n_out_dims; k < op->n_dims && ok; k++) {
    const ir_range *r = &s->range[k];
    ok = r->exact &&
         (k == op->n_out_dims ? r->most % chunk == 0 : r->most == wl->dims[op->dims[k]].extent);
  }
  return ok ? chunk : 0;
}

int64_t cu_padded_sum(const ir_program *p, int64_t n) {
  const int64_t k = cu_mma_of(p)->kernel.k_round, by = k > CU_FRAGMENT_SIDE ? k : CU_FRAGMENT_SIDE;
  return (n + by - 1) / by * by;
}

bool cu_roles(const ir_program *p, const ir_stmt *s, cu_matrices *t) {
  const tf_op *op = &p->tree->workload->ops[s->op];
  const cu_mma *mma = cu_mma_of(p);
  if (!mma || s->kind != IR_NEST || !ir_is_product(op) || s->nest.divides >= 0 ||
      !is_type(p, op, mma))
    return false;
  t->n = columns_of(p, s, t);
  t->a = 1 - t->b;
  t->m = longest(p, s, 0, op->n_out_dims, 1u << t->a,
                 1); /* a single row, too: reading its b is what takes time */
  if (t->m < 0) t->m = single_row(p, s, t->a);
  t->k = longest(p, s, op->n_out_dims, op->n_dims, 3, 2);
  return t->n >= 0 && t->m >= 0 && t->k >= 0;
}

bool cu_is_across(const cu_region *g, const cu_work *t) {
  const tf_workload *wl = g->p->tree->workload;
  const tf_op *op = &wl->ops[t->s->op];
  if (!g->stacked || cu_window(wl, op) < 0) return false;
  return cu_has_few_channels(wl, op) || t->s->range[op->n_out_dims].most == cu_chunk_of(g->p, t->s);
}

bool cu_is_row(const cu_region *g, int dim) {
  bool is = !g->stacked && dim == g->dim_m;
  for (int i = 0; i < g->n_stack; i++)
    is |= dim == g->stack_dim[i];
  return is;
}

ir_stack *cu_stack_of(const cu_region *g, const int *at, int64_t count, ir_atom first) {
  ir_stack *t = TF_NEW(g->p->arena, ir_stack);
  if (!t) return NULL;
  *t = (ir_stack){.n = g->n_stack, .count = count, .first = first};
  for (int i = 0; i < g->n_stack; i++)
    t->axis[i] = at[i], t->length[i] = g->stack[i].most, t->step[i] = 1;
  return t;
}

cu_tile cu_tile_of(const ir_buffer *b) {
  cu_tile t = {.rows = cu_matrix_rows(b),
               .pieces = (cu_matrix_columns(b) * ir_bytes(b->type) + 15) / 16};
  t.pitch = t.pieces;
  if (!cu_is_plain(b) && t.pieces % 8 == 0)
    t.mask = 7;
  else if (!cu_is_plain(b) && (t.pieces == 4 || t.pieces == 2))
    t.shift = t.pieces == 4 ? 1 : 2, t.mask = (int)t.pieces - 1;
  else
    t.pitch |= 1;
  return t;
}

int64_t cu_bytes(const ir_buffer *b) {
  if (!cu_is_matrix(b) || b->role != IR_COPIED) return b->words * b->slots * ir_bytes(b->type);
  const cu_tile t = cu_tile_of(b);
  return t.rows * t.pitch * 16 * b->slots;
}

static int add_access(cu_access *a, int n, int buffer, const tf_ref *ref, bool writes) {
  a[n] = (cu_access){buffer, ref, writes};
  return n + 1;
}

int cu_accesses(const ir_program *p, const ir_stmt *s, cu_access *a) {
  const tf_op *op = &p->tree->workload->ops[s->op];
  int n = 0;
  if (op->n_reads + 3 > CU_MOST_ACCESSES) return -1;
  if (s->kind == IR_SAVE) {
    n = add_access(a, n, s->save.to, NULL, true);
    return add_access(a, n, s->save.from, NULL, false);
  }
  n = add_access(a, n, p->buffer_of[op->out], NULL, true);
  if (s->kind == IR_CORRECT)
    n = add_access(a, n, s->correct.before, NULL, false),
    n = add_access(a, n, s->correct.after, NULL, false);
  if (s->kind == IR_DIVIDE) n = add_access(a, n, s->divide.divisor, NULL, false);
  for (int i = 0; s->kind == IR_NEST && i < op->n_reads; i++)
    n = add_access(a, n, s->nest.from ? s->nest.from[i] : p->buffer_of[op->reads[i].tensor],
                   &op->reads[i], false);
  return n;
}

static bool touches(const ir_program *p, const ir_stmt *s, int buffer) {
  const tf_op *op = &p->tree->workload->ops[s->op];
  const bool makes = ir_facts_of(s)->points && s->kind != IR_SAVE &&
                     s->kind != IR_MERGE; /* which names what it accesses */
  bool any = ir_names(s, buffer) || (makes && p->buffer_of[op->out] == buffer);
  for (int i = 0; s->kind == IR_NEST && i < op->n_reads; i++)
    any |= (s->nest.from ? s->nest.from[i] : p->buffer_of[op->reads[i].tensor]) == buffer;
  return any;
}

int cu_touches(const ir_program *p, ir_stmt *const *s, int n, int buffer) {
  int found = 0;
  for (int i = 0; i < n; i++)
    found += touches(p, s[i], buffer) + cu_touches(p, s[i]->body.s, s[i]->body.n, buffer);
  return found;
}

const ir_stmt *cu_saved_by(const ir_program *p, const ir_body *b, int i) {
  cu_matrices t;
  cu_depthwise d;
  if (i + 1 >= b->n || (!cu_roles(p, b->s[i], &t) && !cu_depthwise_of(p, b->s[i], &d))) return NULL;
  const ir_stmt *nest = b->s[i], *s = b->s[i + 1];
  const tf_op *op = &p->tree->workload->ops[nest->op];
  const int sums = p->buffer_of[op->out];
  bool ok = s->kind == IR_SAVE && s->op == nest->op && s->save.from == sums &&
            p->buffers[sums].role == IR_BOX && cu_touches(p, p->body.s, p->body.n, sums) == 2;
  for (int k = 0; k < op->n_out_dims && ok; k++)
    ok = ir_same(s->range[k].lo, nest->range[k].lo) && ir_same(s->range[k].hi, nest->range[k].hi);
  for (int k = 0; k < nest->nest.n_resets && ok; k++)
    ok = nest->nest.resets[k].var < 0;
  return ok ? s : NULL;
}

void cu_restrict_save(lowering *w, const ir_stmt *save, const ir_range *r) {
  ir_buffer *b = &w->p->buffers[save->save.from];
  b->words = 1;
  for (int k = 0; k < b->rank; k++)
    b->base[k] = r[k].lo, b->words *= b->extent[k] = r[k].most;
}

bool cu_is_region(const ir_program *p, const ir_stmt *loop) {
  bool any = false;
  for (int i = 0; loop->loop.map == IR_WARP && i < p->n_buffers && !any; i++)
    any = p->buffers[i].space == CU_FRAGMENT && cu_touches(p, loop->body.s, loop->body.n, i) > 0;
  return any;
}

static bool has_boxes(const ir_body *b) {
  bool any = false;
  for (int i = 0; i < b->n; i++)
    any |=
        (b->s[i]->kind == IR_COPY && b->s[i]->copy.queue == CU_BOXES) || has_boxes(&b->s[i]->body);
  return any;
}

int cu_group_warps(int64_t rows) {
  return rows > CU_GROUP_ROWS  ? 3 * CU_GROUP_WARPS
         : rows > CU_TURN_ROWS ? 2 * CU_GROUP_WARPS
                               : CU_GROUP_WARPS;
}

bool cu_is_groups(const ir_stmt *part) {
  return part->kind == IR_FOR && part->loop.map == IR_BLOCK && has_boxes(&part->body);
}

/* Warps of warpgroups that multiply one block. */
static int64_t warps_of(const ir_stmt *part) {
  int64_t warps = 0;
  for (int i = 0; i < part->body.n && cu_is_groups(part); i++)
    if (part->body.s[i]->kind == IR_FOR && part->body.s[i]->loop.map == IR_WARP)
      warps = part->body.s[i]->loop.trip;
  return warps;
}

bool cu_is_in_turns(const ir_stmt *part) { return warps_of(part) == CU_GROUP_WARPS; }

int cu_groups_of(const ir_stmt *part) { return warps_of(part) > 2 * CU_GROUP_WARPS ? 3 : 2; }

/* ---- products with the same rows ------------------------------------------------------------ */

static const tf_op *op_of_work(const cu_region *g, const cu_work *t) {
  return &g->p->tree->workload->ops[t->s->op];
}

static bool is_right_behind(const cu_region *g, const cu_work *x, const cu_work *y) {
  ir_stmt *const *s = x->loop ? x->loop->body.s : g->s;
  const int n = x->loop ? x->loop->body.n : g->n;
  bool is = false;
  for (int i = 0; i + 1 < n && x->loop == y->loop; i++)
    is |= s[i] == x->s && s[i + 1] == y->s;
  return is;
}

static const ir_range *range_along(const cu_region *g, const cu_work *t, int dim) {
  return &t->s->range[lower_find_dim(op_of_work(g, t), dim)];
}

static bool same_ends(const ir_range *a, const ir_range *b) {
  return ir_same(a->lo, b->lo) && ir_same(a->hi, b->hi);
}

/* Whether the rows of both are the same elements of the same array. */
static bool have_same_rows(const cu_region *g, const cu_work *x, const cu_work *y) {
  const tf_ref *a = &op_of_work(g, x)->reads[x->roles.a], *b = &op_of_work(g, y)->reads[y->roles.a];
  bool same = a->tensor == b->tensor &&
              cu_source_of(g->p, x->s, x->roles.a) == cu_source_of(g->p, y->s, y->roles.a) &&
              op_of_work(g, x)->dims[x->roles.k] == op_of_work(g, y)->dims[y->roles.k];
  for (int r = 0; r < g->p->tree->workload->tensors[a->tensor].rank && same; r++) {
    const tf_index *i = &a->index[r], *j = &b->index[r];
    same = i->n_terms == j->n_terms && i->c == j->c;
    for (int t = 0; t < i->n_terms && same; t++)
      same = i->terms[t].dim == j->terms[t].dim && i->terms[t].coef == j->terms[t].coef &&
             same_ends(range_along(g, x, i->terms[t].dim), range_along(g, y, i->terms[t].dim));
  }
  return same;
}

void cu_find_adjacent(cu_region *g) {
  for (int i = 1; i < g->n_work && !g->stacked && !cu_is_wmma(g->p); i++) {
    const cu_work *x = &g->work[i - 1];
    cu_work *y = &g->work[i];
    const bool tiles = x->side[0].tile && y->side[0].tile && !x->side[0].lasting &&
                       !y->side[0].lasting && !x->prefetches && !y->prefetches;
    y->shares_rows = tiles &&
                     cu_mma_for(g->p, op_of_work(g, x)) == cu_mma_for(g->p, op_of_work(g, y)) &&
                     x->step == y->step && x->trip == y->trip && (g->groups || x->trip > 1) &&
                     is_right_behind(g, x, y) && have_same_rows(g, x, y);
  }
}
