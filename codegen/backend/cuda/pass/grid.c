/* Maps work to blocks of the grid: the outermost loops whose steps write disjoint data, merged into
 * one loop; otherwise tiles of an output; otherwise a single block. */
#include "codegen/backend/cuda/pass/pass.h"

/* The tree's loop of an IR_FOR; -1: none. */
static int loop_of(const lowering *w, const ir_stmt *s) {
  for (int l = 0; s->kind == IR_FOR && l < w->plan->n_loops; l++)
    if (w->var_of[l] == s->loop.var) return l;
  return -1;
}

static bool can_spread(const lowering *w, const ir_stmt *s) {
  const int l = loop_of(w, s);
  return l >= 0 && lower_independent(w, w->plan->loops[l].node, l);
}

/* The step of a loop within the block's number; `inner`: steps of the loops inside it. */
static ir_atom step_of(lowering *w, ir_atom block, int64_t inner, int64_t trip, bool outermost) {
  ir_atom step = inner == 1 ? block : lower_divmod(w, "block", IR_DIV, block, inner);
  return outermost ? step : lower_divmod(w, "block", IR_MOD, step, trip);
}

/* The dim of rows of the first product in the body; -1: none. */
static int rows_below(const lowering *w, const ir_body *b) {
  cu_matrices t;
  int dim = -1;
  for (int i = 0; i < b->n && dim < 0; i++)
    dim = b->s[i]->kind == IR_NEST && cu_roles(w->p, b->s[i], &t)
              ? w->plan->wl->ops[b->s[i]->op].dims[t.m]
              : rows_below(w, &b->s[i]->body);
  return dim;
}

/* If blocks may form clusters: the innermost loop over rows, whose steps become neighbouring
 * blocks, as these share columns. -1: none. */
static int rows_loop(const lowering *w, ir_stmt *const *chain, int n) {
  const int home = cu_home(w->plan->arch);
  if (n < 1 || !cu_may_group(w->p) || !home || !w->plan->arch->memories[home].multicast) return -1;
  const int dim = rows_below(w, &chain[n - 1]->body);
  int found = -1;
  for (int i = 0; i < n; i++)
    if (chain[i]->loop.dim == dim) found = i;
  return found;
}

/* Loops whose steps become blocks, and how many blocks a step of each spans. */
enum { MOST_LOOPS = 64, MOST_DEALT = 1 << 16 };
typedef struct {
  int n;
  ir_stmt *loop[MOST_LOOPS];
  int64_t stride[MOST_LOOPS], whole; /* whole: number of blocks */
} nest;

/* Sets strides, from the innermost loop of the last class on. */
static void order_loops(nest *t, const int *class, int n_classes) {
  int64_t each = 1;
  for (int k = n_classes - 1; k >= 0; k--)
    for (int i = t->n - 1; i >= 0; i--)
      if (class[i] == k) t->stride[i] = each, each *= t->loop[i]->loop.trip;
}

/* The range of rows that a block has. */
static int64_t rows_of(const nest *t, int dim, int64_t block) {
  int64_t r = 0;
  for (int i = 0; i < t->n; i++)
    if (t->loop[i]->loop.dim == dim)
      r = r * t->loop[i]->loop.trip + block / t->stride[i] % t->loop[i]->loop.trip;
  return r;
}

/* The longest queue, relative to the mean, where blocks are dealt to multiprocessors in alternating
 * order, from the last one (group_kernel.c); work: of a block of each range of rows. */
static double unevenness(const nest *t, int dim, const double *work, int64_t n_queues,
                         double *queue) {
  double most = 0, all = 0;
  for (int64_t q = 0; q < n_queues; q++)
    queue[q] = 0;
  for (int64_t rank = 0; rank < t->whole; rank++) {
    const int64_t at = rank % n_queues, q = rank / n_queues % 2 ? n_queues - 1 - at : at;
    const double w = work[rows_of(t, dim, t->whole - 1 - rank)];
    queue[q] += w, all += w;
    if (queue[q] > most) most = queue[q];
  }
  return all > 0 ? most * (double)n_queues / all : 1;
}

/* Work of a block for each range of rows, in keys: those that the mask leaves, plus some for its
 * start and end. */
static double *work_by_rows(const lowering *w, const nest *t, const tf_mask *m) {
  enum { ENDS = 128 };
  int64_t n = 1;
  for (int i = 0; i < t->n; i++)
    if (t->loop[i]->loop.dim == m->q) n *= t->loop[i]->loop.trip;
  const int64_t keys = w->plan->wl->dims[m->l].extent,
                rows = (w->plan->wl->dims[m->q].extent + n - 1) / n;
  double *work = n <= MOST_DEALT ? TF_ARRAY(w->p->arena, double, (size_t)n) : NULL;
  for (int64_t r = 0; work && r < n; r++)
    work[r] = ENDS + (double)tf_mask_pairs(m, r * rows, rows, 0, keys) / (double)rows;
  return work;
}

/* Orders blocks of unequal length because of a mask: rows are placed outside as few other loops as
 * keep the queues even, since blocks of the loops inside (the heads of attention) run concurrently,
 * and L2 has to hold their keys. False: blocks are equal. */
static bool order_masked(const lowering *w, nest *t) {
  tf_mask m;
  if (!cu_may_group(w->p) || !tf_mask_find(w->plan->wl, w->p->arena, &m)) return false;
  const int64_t n_queues = cu_multiprocessors(w->p);
  const double *work = work_by_rows(w, t, &m);
  double *queue = TF_ARRAY(w->p->arena, double, (size_t)n_queues);
  int class[MOST_LOOPS], others = 0;
  for (int i = 0; i < t->n; i++)
    others += t->loop[i]->loop.dim != m.q;
  if (others == t->n || !work || !queue) return false;
  for (int outside = t->whole > MOST_DEALT ? 0 : others; outside >= 0; outside--) {
    for (int i = 0, seen = 0; i < t->n; i++)
      class[i] = t->loop[i]->loop.dim == m.q ? 1 : seen++ < outside ? 0 : 2;
    order_loops(t, class, 3);
    if (outside && unevenness(t, m.q, work, n_queues, queue) < 1.05) break;
  }
  return true;
}

/* Rows with columns in common, for clusters, become neighbours. */
static void order_plain(const lowering *w, nest *t) {
  const int fast = rows_loop(w, t->loop, t->n);
  int class[MOST_LOOPS];
  for (int i = 0; i < t->n; i++)
    class[i] = i == fast;
  order_loops(t, class, 2);
}

/* Merges nested loops whose steps are independent into one loop over blocks. */
static void spread_loops(lowering *w, ir_stmt *s) {
  nest t = {.whole = 1};
  int64_t all = 1;
  for (ir_stmt *at = s; at && t.n < MOST_LOOPS && can_spread(w, at) &&
                        !__builtin_mul_overflow(all, at->loop.trip, &all);
       at = cu_only_loop(&at->body))
    t.loop[t.n++] = at, t.whole = all;
  lower_mark mark;
  if (!order_masked(w, &t)) order_plain(w, &t);
  const ir_atom block = cu_open_for(w, IR_BLOCK, s->loop.dim, t.whole, &mark);
  for (int i = 0; i < t.n; i++) {
    const int64_t trip = t.loop[i]->loop.trip;
    cu_set_var(w, t.loop[i]->loop.var,
               step_of(w, block, t.stride[i], trip, t.stride[i] * trip == t.whole));
    for (int k = 0; k < t.loop[i]->body.n; k++)
      if (i == t.n - 1 || t.loop[i]->body.s[k]->kind == IR_LET)
        cu_copy_with_ranges(w, t.loop[i]->body.s[k], NULL);
  }
  lower_close(w, mark);
}

void cu_spread_points(lowering *w, const ir_stmt *s, const ir_stmt *save) {
  const tf_op *op = &w->plan->wl->ops[s->op];
  int64_t trip[256], inner = 1;
  lower_mark mark;
  ir_range *r = cu_ranges(w, s);
  for (int k = 0; k < op->n_out_dims; k++) {
    const int64_t piece = cu_block(w->p, s, k);
    trip[k] = s->range[k].most > piece ? (s->range[k].most + piece - 1) / piece : 1;
    inner *= trip[k]; /* at most as many as the output's points */
  }
  const ir_atom block = cu_open_for(w, IR_BLOCK, op->n_dims ? op->dims[0] : 0, inner, &mark);
  bool outermost = true;
  for (int k = 0; k < op->n_out_dims && !lower_failed(w); k++) {
    if (trip[k] == 1) continue;
    inner /= trip[k];
    r[k] = lower_split(w, w->p->dim_id[op->dims[k]], r[k],
                       step_of(w, block, inner, trip[k], outermost), cu_block(w->p, s, k), trip[k]);
    outermost = false;
  }
  if (!lower_failed(w)) cu_copy_with_ranges(w, s, r);
  if (save && !lower_failed(w)) cu_restrict_save(w, save, r), cu_copy_with_ranges(w, save, r);
  lower_close(w, mark);
}

static void refuse_kept(lowering *w) {
  for (int z = 0; z < w->plan->wl->n_tensors; z++)
    if (w->keeps[z])
      tf_fail(w->d, w->plan->tree->nodes[w->plan->home_scope[z]].at, TF_E_RETAIN,
              "blocks of a grid keep nothing from run to run of a scope: leave out 'retain %.40s'",
              w->plan->wl->tensors[z].name);
}

void lower_cuda_grid(lowering *w) {
  ir_body *b = &w->p->body, new = {0, NULL};
  lower_mark mark = lower_open(w, &new), block;
  refuse_kept(w);
  w->n_lets = 0;
  for (int i = 0; i < b->n; i++) {
    ir_stmt *s = b->s[i];
    if (s->kind == IR_LET)
      cu_copy_with_ranges(w, s, NULL);
    else if (can_spread(w, s))
      spread_loops(w, s);
    else if (ir_facts_of(s)->points) {
      const ir_stmt *save = cu_saved_by(w->p, b, i);
      cu_spread_points(w, s, save);
      i += save != NULL;
    } else {
      cu_open_for(w, IR_BLOCK, 0, 1, &block);
      cu_copy_with_ranges(w, s, NULL);
      lower_close(w, block);
    }
  }
  lower_close(w, mark);
  *b = new;
}
