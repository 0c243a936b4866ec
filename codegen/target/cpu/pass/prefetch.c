/* What products prefetch while they multiply: the operands of the following product in the same loop; the last
 * product, those of the first one in the next iteration.  Only arguments, and only if they are small enough to be
 * still in cache by then. */
#include "codegen/target/cpu/pass/pass.h"

enum {
  MOST_PRODUCTS = 16, /* of a loop */
  MOST_LOOPS = 64,    /* surrounding it */
  SHARE = 2           /* prefetched data may take one part in so many of the close memory */
};

typedef struct {
  lowering *w;
  const ir_stmt **let;  /* [var] the let that sets it; NULL: another statement */
  int loop[MOST_LOOPS]; /* variables of the surrounding loops, outermost first */
  int n_loops;
} prefetching;

/* A product of one pair of matrices in a register-tile kernel. */
static bool may_prefetch(const lowering *w, const ir_stmt *s) {
  const cpu_product *p = cpu_product_of(s);
  if (!p || p->way != CPU_PAIRS || p->slab || p->pairs.steps || p->kernel->m_round > 1) return false;
  bool one = true;
  for (int k = 0; k < w->plan->wl->ops[s->op].n_dims; k++)
    one &= cpu_is_matrix(p, k) || s->range[k].most == 1;
  return one;
}

/* The product's dim that moves rank r of the operand; -1: none, -2: several, or not by one per step. */
static int only_dim(const tf_op *op, const cpu_product *p, int read, int r) {
  int found = -1;
  if (read < 0) return cpu_is_matrix(p, r) ? r : -1;
  const tf_index *ix = &op->reads[read].index[r];
  for (int t = 0; t < ix->n_terms; t++)
    for (int k = 0; k < op->n_dims; k++)
      if (op->dims[k] == ix->terms[t].dim && cpu_is_matrix(p, k))
        found = found == -1 && ix->terms[t].coef == 1 ? k : -2;
  return found;
}

/* Whether the operand's box consists of contiguous rows of an argument, and not too many of them. */
static bool is_far(const lowering *w, const ir_stmt *s, int read) {
  const tf_op *op = &w->plan->wl->ops[s->op];
  const int z = read < 0 ? op->out : op->reads[read].tensor, rank = w->plan->wl->tensors[z].rank;
  if (!rank || w->p->buffers[w->p->buffer_of[z]].role != IR_ARGUMENT || low_padded(&w->plan->wl->tensors[z]))
    return false;
  if (s->nest.from && read >= 0 && s->nest.from[read] != w->p->buffer_of[z]) return false;
  if (read == cpu_of(s)->product->a && cpu_of(s)->product->pairs.transposed >= 0) return false;
  int64_t words = 1;
  int matrix = 0;
  for (int r = 0; r < rank; r++) {
    const int k = only_dim(op, cpu_of(s)->product, read, r);
    if (k == -2 || (k == -1 && r == rank - 1)) return false;
    if (k < 0) continue;
    matrix++;
    words *= s->range[k].most;
    if (words > low_close_words(w->plan->arch) / SHARE) return false;
  }
  return matrix == 2;
}

/* How far a step of the loop moves the value; false: not known. */
static bool moves(const prefetching *a, ir_atom v, int loop, int64_t *by) {
  *by = v.var == loop;
  const ir_stmt *let = v.var < 0 ? NULL : a->let[v.var];
  for (int i = 0; let && i < let->let.expr.n; i++) {
    int64_t one;
    if (!moves(a, let->let.expr.arg[i], loop, &one) || (one && let->let.expr.fn != IR_SUM)) return false;
    if (one) *by += let->let.expr.coef[i] * one;
  }
  return true;
}

static bool holds(const tf_op *op, int read, int rank, int k) {
  return read < 0 ? k < op->n_out_dims : low_reads_dim(&op->reads[read], rank, op->dims[k]);
}

/* How the operand's box moves with the innermost loop that moves it; NULL: none, or not known. */
static int64_t *shift_of(const prefetching *a, const ir_stmt *s, int read) {
  const tf_workload *wl = a->w->plan->wl;
  const tf_op *op = &wl->ops[s->op];
  const int rank = wl->tensors[read < 0 ? op->out : op->reads[read].tensor].rank;
  int64_t *shift = TF_ARRAY(a->w->p->arena, int64_t, (size_t)op->n_dims);
  for (int l = a->n_loops - 1; shift && l >= 0; l--) {
    bool any = false;
    for (int k = 0; k < op->n_dims; k++) {
      if (!holds(op, read, rank, k)) continue;
      if (!moves(a, s->range[k].lo, a->loop[l], &shift[k])) return NULL;
      any |= shift[k] != 0;
    }
    if (any) return shift;
  }
  return NULL;
}

/* Whether the ranges of statement `to` of the body are known earlier, at `at`. */
static bool known(const prefetching *a, const ir_body *b, int at, int to) {
  const ir_stmt *s = b->s[to];
  bool all = true;
  for (int i = at; i < to; i++)
    for (int k = 0; k < a->w->plan->wl->ops[s->op].n_dims; k++)
      all &=
          b->s[i]->kind != IR_LET || (s->range[k].lo.var != b->s[i]->let.var && s->range[k].hi.var != b->s[i]->let.var);
  return all;
}

/* Lets statement `from` prefetch what `to` needs: in the same iteration if it is later, else in the next. */
static void prefetch(const prefetching *a, const ir_body *b, int from, int to) {
  lowering *w = a->w;
  ir_stmt *s = b->s[from], *next = b->s[to];
  const tf_op *op = &w->plan->wl->ops[next->op];
  const int operand[] = {cpu_of(next)->product->a, cpu_of(next)->product->b, -1};
  cpu_prefetch *prefetches = TF_ARRAY(w->p->arena, cpu_prefetch, 3);
  int64_t *none = TF_ARRAY(w->p->arena, int64_t, (size_t)op->n_dims);
  if (low_failed(w) || (to > from && !known(a, b, from, to))) return;
  for (int i = 0; i < 3; i++) {
    const int64_t *shift = is_far(w, next, operand[i]) ? shift_of(a, next, operand[i]) : NULL;
    if (!shift) continue;
    cpu_note *note = cpu_edit(w->p, s);
    if (!note) return;
    prefetches[note->n_prefetches++] = (cpu_prefetch){next, operand[i], to > from ? none : shift};
    if (!(note = cpu_edit(w->p, next))) return; /* it may be the same statement */
    note->prefetched |= 1U << (1 + operand[i]);
  }
  cpu_note *note = cpu_edit(w->p, s);
  if (note) note->prefetches = prefetches;
}

static void in_turn(const prefetching *a, const ir_body *b) {
  int all[MOST_PRODUCTS], n = 0;
  for (int i = 0; i < b->n && n < MOST_PRODUCTS; i++)
    if (may_prefetch(a->w, b->s[i])) all[n++] = i;
  for (int i = 0; i < n; i++)
    prefetch(a, b, all[i], all[(i + 1) % n]);
}

static void walk(prefetching *a, const ir_body *b) {
  for (int i = 0; i < b->n; i++) {
    const ir_stmt *s = b->s[i];
    const bool loop = s->kind == IR_FOR && a->n_loops < MOST_LOOPS;
    if (loop) a->loop[a->n_loops++] = s->loop.var;
    if (loop && s->loop.trip > 1) in_turn(a, &s->body);
    walk(a, &s->body);
    a->n_loops -= loop;
  }
}

static void find_lets(const ir_stmt **let, const ir_body *b) {
  for (int i = 0; i < b->n; i++) {
    if (b->s[i]->kind == IR_LET) let[b->s[i]->let.var] = b->s[i];
    find_lets(let, &b->s[i]->body);
  }
}

void low_prefetch(lowering *w) {
  prefetching a = {.w = w, .let = TF_ARRAY(w->p->arena, const ir_stmt *, (size_t)w->p->n_vars + 1)};
  if (low_failed(w) || w->p->machine.lanes < 2 || w->p->machine.choices.at[TF_CHOICE_PREFETCH]) return;
  find_lets(a.let, &w->p->body);
  walk(&a, &w->p->body);
}
