/* What stands of a part in machine code, statement by statement, as the printer unrolls it: multiplications of tensor
 * cores, loads of matrices (ldmatrix), asynchronous copies. */
#include "codegen/target/cuda/pass/pass.h"

static int64_t up(int64_t n, int64_t by) { return (n + by - 1) / by; }

bool cu_is_loaded(const ir_program *p, const ir_stmt *s, int read) {
  const cu_mma *mma = cu_mma_of(p);
  const cu_matrices *f = cu_of(s)->fragments;
  const tf_op *op = &p->tree->workload->ops[s->op];
  const ir_buffer *b = &p->buffers[s->nest.from[read]], *a = &p->buffers[s->nest.from[f->a]];
  if (!b->matrix || b->role != IR_COPIED) return false;
  if (b->across) return true;
  if (op->reads[read].index[b->columns].terms[0].dim != op->dims[f->k]) return mma->turns;
  return read == f->a || a->space != CU_FRAGMENT || mma->kernel.group > 1;
}

int64_t cu_sum_length(const ir_program *p, const ir_stmt *s) {
  const cu_matrices *f = cu_of(s)->fragments;
  const ir_stack *across = s->nest.from ? p->buffers[s->nest.from[f->b]].across : NULL;
  return across ? ir_stack_rows(across) : s->range[f->k].most;
}

/* An operand that is neither in fragments nor brought by ldmatrix. */
static bool is_gathered(const ir_program *p, const ir_stmt *s, int read) {
  return p->buffers[s->nest.from[read]].space != CU_FRAGMENT && !cu_is_loaded(p, s, read);
}

int64_t cu_steps_at_a_time(const ir_program *p, const ir_stmt *s) {
  enum { MANY = 8, SOME = 4 };
  const cu_mma *mma = cu_mma_of(p);
  const cu_matrices *f = cu_of(s)->fragments;
  const int64_t all = up(cu_sum_length(p, s), mma->kernel.k_round);
  const bool gathers = is_gathered(p, s, f->a) || is_gathered(p, s, f->b);
  if (cu_is_widened(p) || (mma->kernel.group == 4 && gathers)) return 1;
  const bool loads = cu_is_loaded(p, s, f->a) && cu_is_loaded(p, s, f->b);
  return mma->kernel.group == 2 && loads && !mma->wmma && all >= MANY ? SOME : all;
}

static void product(const ir_program *p, const ir_stmt *s, cu_counts *n) {
  const cu_mma *mma = cu_mma_of(p);
  const cu_matrices *f = cu_of(s)->fragments;
  const ir_buffer *out = &p->buffers[p->buffer_of[p->tree->workload->ops[s->op].out]];
  const int64_t rows = ir_matrix_rows(out) / CU_FRAGMENT_SIDE, columns = out->extent[out->columns] / CU_FRAGMENT_SIDE,
                at_a_time = cu_steps_at_a_time(p, s),
                steps = at_a_time + up(cu_sum_length(p, s), mma->kernel.k_round) % at_a_time; /* what is left: apart */
  n->multiplied += steps * rows * up(s->range[f->n].most, 8) * (cu_is_widened(p) ? 2 : 1);    /* 16 rows, 8 columns */
  if (cu_is_loaded(p, s, f->a)) n->loaded += steps * rows;
  if (cu_is_loaded(p, s, f->b)) n->loaded += steps * columns;
}

bool cu_is_by_rows(const cu_tile *t) {
  const int64_t at_once = CU_WARPS * CU_LANES / t->pieces;
  return at_once % 8 == 0 && t->rows % at_once == 0;
}

/* The length of a range that is always the same where there is anything; -1: it is not. */
static int64_t always(const ir_range *r) {
  if (r->hi.var == r->lo.var) return r->hi.off - r->lo.off;
  return r->exact || (r->rest == r->most && !r->also[0] && !r->also[1]) ? r->most : -1;
}

int cu_lengths_of(const ir_program *p, const ir_stmt *s, const cu_tile *t) {
  const ir_buffer *to = &p->buffers[s->copy.to];
  const ir_range *r[] = {&s->range[to->rows], &s->range[to->columns]};
  const int64_t whole[] = {t->rows, t->pieces * 16 / ir_bytes(to->type)};
  bool full = true, known = true;
  for (int i = 0; i < 2; i++) {
    const int64_t n = always(r[i]);
    full &= (n < 0 ? r[i]->most : n) >= whole[i];
    known &= n >= 0;
  }
  return !full ? CU_SOME : known ? CU_FULL : CU_FULL | CU_SOME;
}

int64_t cu_row_begins(const ir_program *p, const ir_stmt *s) {
  const ir_buffer *to = &p->buffers[s->copy.to], *from = &p->buffers[s->copy.from];
  const tf_tensor *z = &p->tree->workload->tensors[from->tensor];
  const int last = from->rank - 1;
  const ir_range *r = &s->range[last];
  int64_t row = from->role == IR_ARGUMENT ? z->extent[last] : from->extent[last] + from->gap;
  if (from->rank < 2 || to->columns != last) return 16;
  row |= r->lo.var < 0 ? r->lo.off : r->most; /* pieces of a row are as long as most are */
  row *= ir_bytes(from->type);
  return row % 16 ? row & -row : 16;
}

/* A tile's pieces of 16 bytes, one a thread at a time, for full tiles and others; other copies go by elements, in
 * loops. */
static void copy(const ir_program *p, const ir_stmt *s, cu_counts *n) {
  const ir_buffer *to = &p->buffers[s->copy.to];
  if (!to->matrix) {
    n->copied += ir_bytes(to->type) == 4;
    return;
  }
  const cu_tile t = cu_tile_of(to);
  if (to->across || (to->stack && to->columns < to->rank - 1)) return; /* put together an element at a time */
  const bool twice = !to->stack && cu_is_by_rows(&t) && cu_lengths_of(p, s, &t) == (CU_FULL | CU_SOME);
  enum { WORDS = 2 * 4 }; /* where rows do not begin on 16 bytes */
  n->copied += up(t.rows * t.pieces, (int64_t)CU_WARPS * CU_LANES) * ((twice ? 2 : 1) + WORDS);
}

static void body(const ir_program *p, const ir_body *b, cu_counts *n) {
  for (int i = 0; i < b->n; i++) {
    const ir_stmt *s = b->s[i];
    if (s->kind == IR_NEST && cu_of(s)->fragments) product(p, s, n);
    if (s->kind == IR_COPY) copy(p, s, n);
    body(p, &s->body, n);
  }
}

cu_counts cu_count(const ir_program *p, const ir_stmt *part) {
  cu_counts n = {0, 0, 0};
  body(p, &part->body, &n);
  return n;
}
