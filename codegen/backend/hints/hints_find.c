/* Reads off a lowered kernel's statements what a block computes. */
#include "codegen/backend/cuda/print/group.h"
#include "codegen/backend/hints/hints.h"

/* ---- products ------------------------------------------------------------------------------- */

/* A walk through a part: the statements that matter, and what surrounds them. */
typedef struct {
  const ir_program *p;
  hint_kernel *k;
  const ir_stmt *warps; /* the surrounding loop over warps with fragments; NULL: none */
  const ir_stmt *warps_of[HINT_MOST_PRODUCTS]; /* likewise for each product */
  bool maxima, merges;
} finder;

static void note_product(finder *f, const ir_stmt *s) {
  hint_kernel *k = f->k;
  if (k->n_products == HINT_MOST_PRODUCTS) return;
  f->warps_of[k->n_products] = f->warps;
  k->product[k->n_products++].nest = s;
}

/* Whether steps of the loop in which a mask leaves nothing are skipped. */
static bool skips(const finder *f, const ir_stmt *loop) {
  tf_mask m;
  return cu_of(loop)->skips_steps ||
         (f->warps && loop->loop.map == IR_SERIAL && cu_mask_of(f->p, f->warps, loop, &m));
}

static void visit(finder *f, const ir_body *b) {
  for (int i = 0; i < b->n; i++) {
    const ir_stmt *s = b->s[i], *before = f->warps;
    if (s->kind == IR_FOR && cu_is_region(f->p, s)) f->warps = s;
    if (s->kind == IR_NEST && cu_of(s)->fragments) note_product(f, s);
    if (s->kind == IR_NEST && f->p->tree->workload->ops[s->op].reduce == TF_REDUCE_MAX)
      f->maxima = true;
    if (s->kind == IR_MERGE) f->merges = true;
    if (s->kind == IR_FOR && skips(f, s)) f->k->skips = true;
    if (ir_facts_of(s)->points && f->k->op < 0) f->k->op = s->op;
    visit(f, &s->body);
    f->warps = before;
  }
}

/* The buffer from which a product reads rows or columns. */
static int operand(const ir_program *p, const ir_stmt *s, int read) {
  return s->nest.from ? s->nest.from[read]
                      : p->buffer_of[p->tree->workload->ops[s->op].reads[read].tensor];
}

static const tf_op *op_of_product(const ir_program *p, const hint_product *h) {
  return &p->tree->workload->ops[h->nest->op];
}

int hint_row_dim(const ir_program *p, const hint_product *h) {
  return op_of_product(p, h)->dims[cu_of(h->nest)->fragments->m];
}
int hint_column_dim(const ir_program *p, const hint_product *h) {
  return op_of_product(p, h)->dims[cu_of(h->nest)->fragments->n];
}

static bool is_chained(const ir_program *p, const hint_kernel *k) {
  bool any = false;
  for (int i = 1; i < k->n_products; i++)
    any |=
        p->buffers[operand(p, k->product[i].nest, cu_of(k->product[i].nest)->fragments->a)].space ==
        CU_FRAGMENT;
  return any;
}

static hint_kind kind_of(const finder *f) {
  const hint_kernel *k = f->k;
  if (!k->n_products) return f->merges ? HINT_MERGE : HINT_POINTS;
  const ir_stmt *s = k->product[0].nest;
  if (is_chained(f->p, k)) return f->maxima ? HINT_ATTENTION : HINT_CHAIN;
  if (k->n_products > 1) return HINT_SIDE_BY_SIDE;
  return s->stack || cu_window(f->p->tree->workload, &f->p->tree->workload->ops[s->op]) >= 0
             ? HINT_CONVOLUTION
             : HINT_PRODUCT;
}

/* ---- tiles ---------------------------------------------------------------------------------- */

/* Ranges of a statement in one setting of the surrounding loops; false if a condition skips it
 * there. */
typedef struct {
  int64_t lo[HINT_MOST_WARPS], hi[HINT_MOST_WARPS];
  int n;
} spans;

static bool is_empty(const cu_values *v, const ir_stmt *s) {
  bool any = false;
  for (int i = 0; i < s->guard.n; i++)
    any |= cu_value(v, s->guard.range[i].lo) < cu_value(v, s->guard.range[i].hi);
  return !any;
}

/* Sets the lets on the way to the statement; true: it is reached, and runs. */
static bool reach_statement(cu_values *v, const ir_body *b, const ir_stmt *to) {
  const int n = v->n;
  for (int i = 0; i < b->n; i++) {
    const ir_stmt *s = b->s[i];
    if (s == to) return true;
    if (s->kind == IR_LET && !cu_let(v, s)) return false;
    if ((s->kind != IR_IF || !is_empty(v, s)) && reach_statement(v, &s->body, to)) return true;
  }
  v->n = n;
  return false;
}

/* Whether the warp has a part of it: warps whose rows or columns are beyond the block's have
 * none. */
static bool has_points(const cu_values *v, const ir_stmt *s, int n) {
  bool all = true;
  for (int d = 0; d < n; d++)
    all = all && cu_value(v, s->range[d].lo) < cu_value(v, s->range[d].hi);
  return all;
}

/* Start and end, over all warps that execute it, of their ranges along position `at`, in the first
 * block. */
static void span(const finder *f, const ir_stmt *warps, const ir_stmt *s, int at, spans *all) {
  const hint_kernel *k = f->k;
  all->n = 0;
  for (int64_t w = 0; warps && w < warps->loop.trip && all->n < HINT_MOST_WARPS; w++) {
    cu_values v = {.n = 0};
    if (!cu_set(&v, warps->loop.var, w) || !reach_statement(&v, &k->part->body, s) ||
        !has_points(&v, s, ir_n_ranges(f->p, s)))
      continue;
    all->lo[all->n] = cu_value(&v, s->range[at].lo),
    all->hi[all->n++] = cu_value(&v, s->range[at].hi);
  }
}

static int64_t length(const spans *a) {
  int64_t lo = a->n ? a->lo[0] : 0, hi = a->n ? a->hi[0] : 0;
  for (int i = 1; i < a->n; i++) {
    if (a->lo[i] < lo) lo = a->lo[i];
    if (a->hi[i] > hi) hi = a->hi[i];
  }
  return hi - lo;
}

static bool is_same(const spans *a) {
  bool same = true;
  for (int i = 1; i < a->n; i++)
    same = same && a->lo[i] == a->lo[0];
  return same;
}

/* The part of a convolution's window that one step sums over: settings of the sum's dims that are
 * no steps of a loop. */
static int64_t depth_of(const ir_program *p, const hint_product *h) {
  const tf_op *op = op_of_product(p, h);
  int64_t all = 1;
  for (int d = op->n_out_dims; d < op->n_dims; d++)
    all *= h->nest->range[d].most;
  return all;
}

static void measure(finder *f, int i) {
  hint_kernel *k = f->k;
  hint_product *h = &k->product[i];
  const cu_matrices *t = cu_of(h->nest)->fragments;
  spans m, n;
  span(f, f->warps_of[i], h->nest, t->m, &m), span(f, f->warps_of[i], h->nest, t->n, &n);
  h->rows = h->nest->stack ? ir_stack_rows(h->nest->stack) : length(&m);
  h->columns = length(&n);
  h->depth = depth_of(f->p, h);
  h->warp_rows = h->nest->stack ? h->nest->stack->count : h->nest->range[t->m].most;
  h->warp_columns = h->nest->range[t->n].most;
  if (i) return;
  k->warps = m.n;
  k->key_warps = k->kind == HINT_ATTENTION && is_same(&m) && !is_same(&n) ? n.n : 1;
}

/* The least number of tiles side by side, among the operands that have several. */
static int64_t stages_of(const ir_program *p, const hint_kernel *k) {
  int64_t least = 0;
  for (int i = 0; i < k->n_products; i++)
    for (int side = 0; side < 2; side++) {
      const cu_matrices *t = cu_of(k->product[i].nest)->fragments;
      const ir_buffer *b = &p->buffers[operand(p, k->product[i].nest, side ? t->b : t->a)];
      if (b->role == IR_COPIED && b->slots > 1 && (!least || b->slots < least)) least = b->slots;
    }
  return least ? least : 1;
}

/* Parts into which the op's sums are split, which a later part combines; 1: they are not split. */
static int64_t parts_of(const ir_body *b, int op) {
  int64_t parts = 1;
  for (int i = 0; i < b->n; i++) {
    if (b->s[i]->kind == IR_MERGE && b->s[i]->op == op) return b->s[i]->merge.parts;
    const int64_t below = parts_of(&b->s[i]->body, op);
    if (below > parts) parts = below;
  }
  return parts;
}

/* ---- the order of blocks -------------------------------------------------------------------- */

enum { MOST_DIMS = 16 };
typedef struct {
  int n;
  int64_t origin[MOST_DIMS];
} origin;

static origin origin_of(const ir_program *p, const hint_kernel *k, int64_t number) {
  const ir_stmt *s = k->product[0].nest;
  const int n = p->tree->workload->ops[s->op].n_dims;
  cu_values v = {.n = 0};
  origin o = {.n = n < MOST_DIMS ? n : MOST_DIMS};
  if (k->part->loop.map == IR_BLOCK) cu_set(&v, k->part->loop.var, number);
  if (!reach_statement(&v, &k->part->body, s)) return o;
  for (int d = 0; d < o.n; d++)
    o.origin[d] = cu_value(&v, s->range[d].lo);
  return o;
}

/* The only position at which two origins differ; -1: none, -2: several. */
static int differs(const origin *a, const origin *b) {
  int at = -1;
  for (int d = 0; d < a->n; d++)
    if (a->origin[d] != b->origin[d]) at = at == -1 ? d : -2;
  return at;
}

/* How many blocks, `stride` apart, advance along position `at` by `step`. */
static int64_t run_of(const ir_program *p, const hint_kernel *k, int64_t stride, int at,
                      int64_t step) {
  const origin first = origin_of(p, k, 0);
  int64_t n = 1;
  for (; n * stride < k->blocks; n++) {
    const origin o = origin_of(p, k, n * stride);
    const int where = differs(&first, &o);
    if (at < 0 ? where != -1 : where != at || o.origin[at] != first.origin[at] + n * step) break;
  }
  return n;
}

static void order_of(const ir_program *p, hint_kernel *k) {
  const tf_op *op = &p->tree->workload->ops[k->product[0].nest->op];
  const origin first = origin_of(p, k, 0);
  for (int64_t stride = 1; stride < k->blocks && k->n_digits < HINT_MOST_DIGITS;) {
    const origin next = origin_of(p, k, stride);
    const int at = differs(&first, &next);
    if (at == -2) return;
    const int64_t step = at < 0 ? 0 : next.origin[at] - first.origin[at],
                  count = run_of(p, k, stride, at, step);
    k->digit[k->n_digits++] = (hint_digit){at < 0 ? -1 : op->dims[at], count, step};
    stride *= count;
  }
}

/* Whether blocks have different rows along the dim. */
static bool is_row(const ir_program *p, const hint_product *h, int dim) {
  const ir_stack *t = h->nest->stack;
  bool any = dim == hint_row_dim(p, h);
  for (int i = 0; t && i < t->n; i++)
    any |= dim == op_of_product(p, h)->dims[t->axis[i]];
  return any;
}

static bool is_side(const ir_program *p, const hint_kernel *k, int dim, bool columns) {
  const hint_product *h = &k->product[0];
  return dim >= 0 && (columns ? dim == hint_column_dim(p, h) : is_row(p, h, dim));
}

hint_order hint_order_of(const ir_program *p, const hint_kernel *k) {
  hint_order o = {.group = 1, .total = 1};
  int i = 0;
  while (i < k->n_digits && !is_side(p, k, k->digit[i].dim, false) &&
         !is_side(p, k, k->digit[i].dim, true))
    i++;
  o.columns_first = i < k->n_digits && is_side(p, k, k->digit[i].dim, true);
  for (bool run = true; i < k->n_digits; i++) {
    const bool same = is_side(p, k, k->digit[i].dim, o.columns_first);
    run = run && same;
    if (run) o.group *= k->digit[i].count;
    if (same) o.total *= k->digit[i].count;
  }
  return o;
}

/* ---- a kernel ------------------------------------------------------------------------------- */

static int64_t shared_of(const ir_program *p, const ir_stmt *part, int number) {
  cu_groups g;
  return !cu_is_groups(part)                   ? cu_share(p, part, NULL)
         : cu_groups_find(p, part, number, &g) ? g.shared
                                               : 0;
}

void hint_find(const ir_program *p, const ir_stmt *part, int number, hint_kernel *k) {
  const ir_body whole = {.n = 1, .s = (ir_stmt *[]){(ir_stmt *)part}};
  finder f = {.p = p, .k = k};
  *k = (hint_kernel){.part = part, .op = -1, .blocks = 1, .split = 1, .key_warps = 1, .stages = 1};
  if (part->kind == IR_FOR && part->loop.map == IR_BLOCK) k->blocks = part->loop.trip;
  visit(&f, &whole);
  k->kind = kind_of(&f);
  const tf_times t = cu_times_of(p, part);
  k->cycles = t.cycles, k->bound = t.bound;
  k->registers = cu_registers(p, part);
  k->shared = shared_of(p, part, number);
  k->warps = CU_WARPS;
  if (!k->n_products) return;
  k->op = k->product[0].nest->op;
  for (int i = 0; i < k->n_products; i++)
    measure(&f, i);
  if (cu_is_groups(part)) {
    bool *same = TF_ARRAY(p->arena, bool, (size_t)p->n_buffers + 1);
    k->groups = cu_groups_of(part), k->in_turns = cu_is_in_turns(part);
    k->cluster = same && cu_cluster(p, part, same);
  }
  k->stages = stages_of(p, k);
  k->split = parts_of(&p->body, k->product[k->n_products - 1].nest->op) / k->key_warps;
  order_of(p, k);
}
