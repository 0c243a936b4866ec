/* What products prefetch while they multiply: the operands of the next product in the same loop,
 * and what maps between the two access; the last product prefetches those of the next iteration.
 * Only arguments, and only if they are small enough to stay cached until then. Windows prefetch the
 * next image while they go over one, as their columns of vectors form no stream that hardware would
 * follow. */
#include "codegen/backend/cpu/note/window.h"
#include "codegen/backend/cpu/pass/pass.h"

enum {
  MOST_PRODUCTS = 16, /* of a loop */
  MOST_LOOPS = 64,    /* surrounding it */
  MOST_READS = 30,    /* of a map */
  MOST_BOXES = 32,    /* of rows, of what a map reads */
  SHARE = 2           /* prefetched data may take 1 / SHARE of the close memory */
};

typedef struct {
  lowering *w;
  const ir_stmt **let;  /* [var] the let that sets it; NULL: another statement */
  int loop[MOST_LOOPS]; /* variables of the surrounding loops, outermost first */
  int n_loops;
  int64_t room; /* words that a product may still prefetch for maps */
} prefetching;

/* A product of kind PAIRS in a kernel of register tiles. */
static bool may_prefetch(const lowering *w, const ir_stmt *s) {
  const cpu_product *p = cpu_product_of(s);
  if (!p || p->kind != CPU_PAIRS || p->slab || p->pairs.steps || p->kernel->m_round > 1)
    return false;
  bool one = true;
  for (int k = 0; k < w->plan->wl->ops[s->op].n_dims; k++)
    one &= cpu_is_matrix(p, k) || s->range[k].most == 1;
  return one;
}

/* A map between products: it accesses rows as short as the product's panel is narrow, whose starts
 * the hardware prefetcher cannot foresee. */
static bool is_map(const lowering *w, const ir_stmt *s) {
  if (s->kind != IR_NEST || cpu_of(s)->product || cpu_of(s)->window || cpu_of(s)->fused)
    return false;
  const tf_op *op = &w->plan->wl->ops[s->op];
  return op->reduce == TF_ASSIGN && op->n_dims == op->n_out_dims && op->n_reads < MOST_READS;
}

/* Whether the read stays within the tensor, whose borders other reads may cross. */
static bool stays_inside(const tf_workload *wl, const tf_ref *ref) {
  const tf_tensor *z = &wl->tensors[ref->tensor];
  bool inside = true;
  for (int r = 0; inside && r < z->rank; r++) {
    const tf_index *ix = &ref->index[r];
    inside = ix->n_terms == 1 && ix->c == 0 && ix->terms[0].coef == 1 && z->lo[r] == 0 &&
             wl->dims[ix->terms[0].dim].extent <= z->extent[r];
  }
  return inside;
}

/* Words of the operand's box, if it consists of contiguous rows of an argument, and few of them;
 * else 0. */
static int64_t prefetched_words(const lowering *w, const ir_stmt *s, int read) {
  const cpu_product *p = cpu_of(s)->product;
  const tf_op *op = &w->plan->wl->ops[s->op];
  const int z = read < 0 ? op->out : op->reads[read].tensor, rank = w->plan->wl->tensors[z].rank;
  if (!rank || w->p->buffers[w->p->buffer_of[z]].role != IR_ARGUMENT) return 0;
  if (lower_padded(&w->plan->wl->tensors[z]) &&
      (p || (read >= 0 && !stays_inside(w->plan->wl, &op->reads[read]))))
    return 0;
  if (s->nest.from && read >= 0 && s->nest.from[read] != w->p->buffer_of[z]) return 0;
  if (p && read == p->a && p->pairs.transposed >= 0) return 0;
  int64_t words = 1, boxes;
  int moved = 0;
  for (int r = 0; r < rank; r++) {
    const int k = cpu_box_dim(op, s, read, r);
    if (k == -2 || (k == -1 && r == rank - 1)) return 0;
    if (k < 0) continue;
    moved++;
    words *= s->range[k].most;
    if (words > lower_close_words(w->plan->arch) / SHARE) return 0;
  }
  if (p ? moved != 2 : moved < 2) return 0;
  cpu_box_rows(op, s, read, rank, &boxes);
  return boxes <= MOST_BOXES ? words : 0;
}

/* How far a step of the loop moves the value; false: unknown. */
static bool moves(const prefetching *a, ir_atom v, int loop, int64_t *by) {
  *by = v.var == loop;
  const ir_stmt *let = v.var < 0 ? NULL : a->let[v.var];
  for (int i = 0; let && i < let->let.expr.n; i++) {
    int64_t one;
    if (!moves(a, let->let.expr.arg[i], loop, &one) || (one && let->let.expr.fn != IR_SUM))
      return false;
    if (one) *by += let->let.expr.coef[i] * one;
  }
  return true;
}

static bool holds(const tf_op *op, int read, int rank, int k) {
  return read < 0 ? k < op->n_out_dims : lower_reads_dim(&op->reads[read], rank, op->dims[k]);
}

/* How the operand's box moves with the innermost loop that moves it; NULL: none, or unknown. */
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

/* Whether the ranges of s, statement `to` of the body or a part of it, are known at the earlier
 * statement `at`. */
static bool ranges_known_at(const prefetching *a, const ir_body *b, int at, int to,
                            const ir_stmt *s) {
  bool all = true;
  for (int i = at; i < to; i++)
    for (int k = 0; k < a->w->plan->wl->ops[s->op].n_dims; k++)
      all &= b->s[i]->kind != IR_LET ||
             (s->range[k].lo.var != b->s[i]->let.var && s->range[k].hi.var != b->s[i]->let.var);
  return all;
}

/* Adds it to what the statement prefetches. False: out of memory, which the arena remembers. */
static bool note_prefetch(const lowering *w, ir_stmt *s, cpu_prefetch one) {
  cpu_note *note = cpu_edit(w->p, s);
  cpu_prefetch *all =
      note ? TF_ARRAY(w->p->arena, cpu_prefetch, (size_t)note->n_prefetches + 1) : NULL;
  if (!all) return false;
  for (int k = 0; k < note->n_prefetches; k++)
    all[k] = note->prefetches[k];
  all[note->n_prefetches++] = one;
  note->prefetches = all;
  return true;
}

/* Lets statement `from` prefetch what `next` needs, which is statement `to` or a part of it: in the
 * same iteration if that comes later, else in the next. */
static void prefetch(prefetching *a, const ir_body *b, int from, int to, ir_stmt *next) {
  lowering *w = a->w;
  ir_stmt *s = b->s[from];
  const tf_op *op = &w->plan->wl->ops[next->op];
  const cpu_product *p = cpu_of(next)->product;
  const int operand[] = {p ? p->a : 0, p ? p->b : 1, -1}, n = p ? 3 : op->n_reads + 1;
  int64_t *none = TF_ARRAY(w->p->arena, int64_t, (size_t)op->n_dims);
  if (lower_failed(w) || (to > from && !ranges_known_at(a, b, from, to, next))) return;
  for (int i = 0; i < n; i++) {
    const int read = p ? operand[i] : i < op->n_reads ? i : -1;
    const int64_t words = prefetched_words(w, next, read),
                  *shift = words ? shift_of(a, next, read) : NULL;
    if (!shift || (!p && words > a->room)) continue;
    if (!note_prefetch(w, s, (cpu_prefetch){next, read, to > from ? none : shift})) return;
    a->room -= p ? 0 : words;
    cpu_note *note = cpu_edit(w->p, next); /* it may be the same statement */
    if (!note) return;
    note->prefetched |= 1U << (1 + read);
  }
}

/* The maps of statement `to`. */
static void prefetch_maps(prefetching *a, const ir_body *b, int from, int to) {
  ir_stmt *s = b->s[to];
  if (is_map(a->w, s)) prefetch(a, b, from, to, s);
  for (int i = 0; s->kind == IR_TOGETHER && i < s->body.n; i++)
    if (is_map(a->w, s->body.s[i])) prefetch(a, b, from, to, s->body.s[i]);
}

/* The products of the body that prefetch: for maps (maps), or for products of the same kind. */
static int products_of(const prefetching *a, const ir_body *b, bool maps, int all[MOST_PRODUCTS]) {
  int n = 0;
  for (int i = 0; i < b->n && n < MOST_PRODUCTS; i++) {
    const cpu_product *p = cpu_product_of(b->s[i]);
    if (may_prefetch(a->w, b->s[i]) || (maps && p && p->kind == CPU_CHANNELS)) all[n++] = i;
  }
  return n;
}

/* Each product prefetches what is needed up to and including the next one. */
static void prefetch_next_products(prefetching *a, const ir_body *b) {
  int all[MOST_PRODUCTS], n = products_of(a, b, true, all);
  for (int i = 0; i < n; i++) {
    a->room = lower_close_words(a->w->plan->arch) / SHARE;
    for (int k = (all[i] + 1) % b->n; k != all[(i + 1) % n]; k = (k + 1) % b->n)
      prefetch_maps(a, b, all[i], k);
  }
  n = products_of(a, b, false, all);
  for (int i = 0; i < n; i++)
    prefetch(a, b, all[i], all[(i + 1) % n], b->s[all[(i + 1) % n]]);
}

/* ---- windows -------------------------------------------------------------------------------- */

static int64_t words_of(const lowering *w, int z) {
  return w->p->buffers[w->p->buffer_of[z]].role == IR_ARGUMENT
             ? tf_tensor_words(&w->plan->wl->tensors[z])
             : 0;
}

/* Words of the largest cache. */
static int64_t cached_words(const tf_arch *a) {
  int64_t most = 0;
  for (int l = 1; l < a->n_memories; l++)
    if (a->memories[l].capacity_words > most) most = a->memories[l].capacity_words;
  return most;
}

/* How an operand of a window's nest, or of a map of its sums, moves to the next image: with the
 * nest's innermost loop over images, else with the innermost surrounding one. */
static int64_t *next_image(const prefetching *a, const ir_stmt *s, int read) {
  const tf_workload *wl = a->w->plan->wl;
  const tf_op *op = &wl->ops[s->op];
  const int rank = wl->tensors[read < 0 ? op->out : op->reads[read].tensor].rank;
  for (int k = op->n_out_dims - 3; k >= 0; k--) {
    if (s->range[k].most < 2 || !holds(op, read, rank, k)) continue;
    int64_t *shift = TF_ARRAY(a->w->p->arena, int64_t, (size_t)op->n_dims);
    if (shift) shift[k] = 1;
    return shift;
  }
  return shift_of(a, s, read);
}

static void note_image(const prefetching *a, ir_stmt *s, const ir_stmt *nest, int read) {
  const int64_t *shift = next_image(a, nest, read);
  if (shift) note_prefetch(a->w, s, (cpu_prefetch){nest, read, shift});
}

/* Lets a window prefetch what does not stay in the close memory; also its output, if both together
 * do not fit in the caches, as prefetching the output costs more than it gains otherwise. */
static void prefetch_window(const prefetching *a, ir_stmt *s) {
  const lowering *w = a->w;
  const cpu_window *v = cpu_of(s)->window;
  const ir_stmt *last = v->n_maps ? v->maps[v->n_maps - 1] : s;
  const tf_op *op = &w->plan->wl->ops[s->op];
  const int out = w->plan->wl->ops[last->op].out;
  int64_t words = words_of(w, out);
  if (op->n_out_dims < 2) return;
  for (int i = 0; i < op->n_reads; i++) {
    const int64_t read = words_of(w, op->reads[i].tensor);
    if (cpu_window_kind(w->plan->wl, s, i) != CPU_LANES || read <= lower_close_words(w->plan->arch))
      continue;
    words += read;
    note_image(a, s, s, i);
  }
  if (words_of(w, out) && words > cached_words(w->plan->arch) / SHARE) note_image(a, s, last, -1);
}

static void walk(prefetching *a, const ir_body *b) {
  for (int i = 0; i < b->n; i++) {
    ir_stmt *s = b->s[i];
    if (cpu_of(s)->window) prefetch_window(a, s);
    const bool loop = s->kind == IR_FOR && a->n_loops < MOST_LOOPS;
    if (loop) a->loop[a->n_loops++] = s->loop.var;
    if (loop && s->loop.trip > 1) prefetch_next_products(a, &s->body);
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

void lower_prefetch(lowering *w) {
  prefetching a = {.w = w, .let = TF_ARRAY(w->p->arena, const ir_stmt *, (size_t)w->p->n_vars + 1)};
  if (lower_failed(w) || w->p->machine.lanes < 2 || w->p->machine.choices.at[TF_CHOICE_PREFETCH])
    return;
  find_lets(a.let, &w->p->body);
  walk(&a, &w->p->body);
}
