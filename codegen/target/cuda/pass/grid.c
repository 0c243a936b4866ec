/* Maps work to blocks of the grid: the outermost loops whose steps write disjoint data, merged into one loop;
 * otherwise tiles of an output; otherwise a single block. */
#include "codegen/target/cuda/pass/pass.h"

/* The loop of the tree that an IR_FOR stems from; -1: none. */
static int loop_of(const lowering *w, const ir_stmt *s) {
  for (int l = 0; s->kind == IR_FOR && l < w->plan->n_loops; l++)
    if (w->var_of[l] == s->loop.var) return l;
  return -1;
}

static bool can_spread(const lowering *w, const ir_stmt *s) {
  const int l = loop_of(w, s);
  return l >= 0 && low_independent(w, w->plan->loops[l].node, l);
}

/* The only loop of a body, which may have lets before it; NULL: there is no such loop. */
static ir_stmt *only_loop(const ir_body *b) {
  for (int i = 0; i < b->n; i++)
    if (b->s[i]->kind != IR_LET) return i == b->n - 1 && b->s[i]->kind == IR_FOR ? b->s[i] : NULL;
  return NULL;
}

/* The step of a loop, of `trip` steps, within the block's number; `inner`: steps of the loops inside it. */
static ir_atom step_of(lowering *w, ir_atom block, int64_t inner, int64_t trip, bool outermost) {
  ir_atom step = inner == 1 ? block : low_by(w, "block", IR_DIV, block, inner);
  return outermost ? step : low_by(w, "block", IR_MOD, step, trip);
}

/* The dim of rows of the first product below; -1: none. */
static int rows_below(const lowering *w, const ir_body *b) {
  ir_fragments t;
  int dim = -1;
  for (int i = 0; i < b->n && dim < 0; i++)
    dim = b->s[i]->kind == IR_NEST && cu_roles(w->p, b->s[i], &t) ? w->plan->wl->ops[b->s[i]->op].dims[t.m]
                                                                  : rows_below(w, &b->s[i]->body);
  return dim;
}

/* The innermost loop over rows, whose steps neighbours among blocks are, if they may form clusters: these have columns
 * in common.  -1: none. */
static int rows_loop(const lowering *w, ir_stmt *const *chain, int n) {
  const int home = cu_home(w->plan->arch);
  if (!w->p->machine.groups || !home || !w->plan->arch->memories[home].multicast) return -1;
  const int dim = rows_below(w, &chain[n - 1]->body);
  int found = -1;
  for (int i = 0; i < n; i++)
    if (chain[i]->loop.dim == dim) found = i;
  return found;
}

/* Nested loops whose steps are independent. */
static void spread_loops(lowering *w, ir_stmt *s) {
  ir_stmt *chain[64];
  int64_t inner = 1, all = 1;
  int n = 0;
  for (ir_stmt *at = s; at && n < 64 && can_spread(w, at) && !__builtin_mul_overflow(all, at->loop.trip, &all);
       at = only_loop(&at->body))
    chain[n++] = at, inner = all;
  low_mark mark;
  const int fast = rows_loop(w, chain, n);
  const int64_t first = fast < 0 ? 1 : chain[fast]->loop.trip, whole = inner;
  const ir_atom block = cu_open_for(w, IR_BLOCK, s->loop.dim, inner, &mark);
  for (int i = 0; i < n; i++) {
    const int64_t trip = chain[i]->loop.trip;
    inner /= trip;
    const int64_t each = i < fast || fast < 0 ? inner : i == fast ? 1 : inner * first;
    cu_set_var(w, chain[i]->loop.var, step_of(w, block, each, trip, each * trip == whole));
    for (int k = 0; k < chain[i]->body.n; k++)
      if (i == n - 1 || chain[i]->body.s[k]->kind == IR_LET) cu_again(w, chain[i]->body.s[k], NULL);
  }
  low_close(w, mark);
}

void cu_spread_points(lowering *w, const ir_stmt *s, const ir_stmt *save) {
  const tf_op *op = &w->plan->wl->ops[s->op];
  int64_t trip[256], inner = 1;
  low_mark mark;
  ir_range *r = cu_ranges(w, s);
  for (int k = 0; k < op->n_out_dims; k++) {
    const int64_t piece = cu_piece(w->p, s, k);
    trip[k] = s->range[k].most > piece ? (s->range[k].most + piece - 1) / piece : 1;
    inner *= trip[k]; /* at most as many as points of the output */
  }
  const ir_atom block = cu_open_for(w, IR_BLOCK, op->n_dims ? op->dims[0] : 0, inner, &mark);
  bool outermost = true;
  for (int k = 0; k < op->n_out_dims && !low_failed(w); k++) {
    if (trip[k] == 1) continue;
    inner /= trip[k];
    r[k] = low_split(w, w->p->dim_id[op->dims[k]], r[k], step_of(w, block, inner, trip[k], outermost),
                     cu_piece(w->p, s, k), trip[k]);
    outermost = false;
  }
  if (!low_failed(w)) cu_again(w, s, r);
  if (save && !low_failed(w)) cu_narrow(w, save, r), cu_again(w, save, r);
  low_close(w, mark);
}

static void refuse_kept(lowering *w) {
  for (int z = 0; z < w->plan->wl->n_tensors; z++)
    if (w->keeps[z])
      tf_fail(w->d, w->plan->tree->nodes[w->plan->home_scope[z]].at, TF_E_RETAIN,
              "blocks of a grid keep nothing from run to run of a scope: leave out 'retain %.40s'",
              w->plan->wl->tensors[z].name);
}

void low_cuda_grid(lowering *w) {
  ir_body *b = &w->p->body, new = {0, NULL};
  low_mark mark = low_open(w, &new), block;
  refuse_kept(w);
  w->n_lets = 0;
  for (int i = 0; i < b->n; i++) {
    ir_stmt *s = b->s[i];
    if (s->kind == IR_LET)
      cu_again(w, s, NULL);
    else if (can_spread(w, s))
      spread_loops(w, s);
    else if (ir_facts_of(s)->points) {
      const ir_stmt *save = cu_saved_by(w->p, b, i);
      cu_spread_points(w, s, save);
      i += save != NULL;
    } else {
      cu_open_for(w, IR_BLOCK, 0, 1, &block);
      cu_again(w, s, NULL);
      low_close(w, block);
    }
  }
  low_close(w, mark);
  *b = new;
}
