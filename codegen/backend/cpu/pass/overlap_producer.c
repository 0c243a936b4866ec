/* Overlaps a product with the maps that compute its rows of `a` just before it: the product's
 * kernel computes them one tile ahead. Multiplying leaves most other execution units idle, so that
 * much of the maps' work is hidden. */
#include "codegen/backend/cpu/pass/pass.h"
#include "codegen/intrin/math.h"
#include "codegen/intrin/micro.h"

static const tf_op *op_of(const lowering *w, const ir_stmt *s) { return &w->plan->wl->ops[s->op]; }

static int root_buffer_of(const lowering *w, int z) {
  int b = w->p->buffer_of[z];
  while (w->p->buffers[b].shares >= 0)
    b = w->p->buffers[b].shares;
  return b;
}

/* The first n nests of a TOGETHER, whose rows run along dim. */
typedef struct {
  const lowering *w;
  ir_stmt *const *nest;
  int n, common, dim;
} rows;

/* The last of these nests that produces tensor z; -1: none. */
static int producer_in(const rows *r, int z) {
  int at = -1;
  for (int i = 0; i < r->n; i++)
    if (op_of(r->w, r->nest[i])->out == z) at = i;
  return at;
}

/* Whether every read of nest k is float32 or int32, without borders, and moves with the row by one
 * element or not at all; and outputs of the nests before it at the current element. */
static bool reads_rows(const rows *r, int k) {
  const tf_op *op = op_of(r->w, r->nest[k]);
  bool can = true;
  for (int i = 0; can && i < op->n_reads; i++) {
    const tf_ref *ref = &op->reads[i];
    const tf_tensor *z = &r->w->plan->wl->tensors[ref->tensor];
    const ir_type type = r->w->p->buffers[r->w->p->buffer_of[ref->tensor]].type;
    const bool moves = lower_reads_dim(ref, z->rank, r->dim);
    can = (type == IR_F32 || (type == IR_I32 && moves)) && !lower_padded(z) && z->rank > 0 &&
          !lower_reads_dim(ref, z->rank - 1, r->dim) &&
          (!moves || lower_is_dim(&ref->index[z->rank - 1], r->dim));
    const int made = producer_in(r, ref->tensor);
    if (made < 0 || op_of(r->w, r->nest[made])->reduce != TF_ASSIGN) continue;
    for (int rank = 0; can && rank < z->rank; rank++)
      can = lower_is_dim(&ref->index[rank], op_of(r->w, r->nest[made])->dims[rank]);
  }
  return can;
}

/* Whether nest k, and all nests before it that continue sums, start over at the same time. */
static bool starts_with_others(const rows *r, int k) {
  const ir_stmt *s = r->nest[k];
  bool same = true;
  for (int i = 0; s->nest.n_resets && i < k; i++) {
    const ir_stmt *t = r->nest[i];
    same &= t->nest.n_resets == 0 || t->nest.n_resets == s->nest.n_resets;
    for (int f = 0; same && f < t->nest.n_resets; f++)
      same = ir_same(t->nest.resets[f], s->nest.resets[f]);
  }
  return same;
}

static bool goes_over(const rows *r, int k) {
  const ir_stmt *s = r->nest[k], *first = r->nest[0];
  const tf_op *op = op_of(r->w, s);
  bool over = s->kind == IR_NEST && !cpu_of(s)->product && !s->nest.from &&
              starts_with_others(r, k) && op->n_dims == r->common + 1 &&
              op->dims[r->common] == r->dim && s->range[r->common].exact &&
              lower_same_range(&s->range[r->common], &first->range[r->common]);
  for (int d = 0; over && d < r->common; d++)
    over = op->dims[d] == op_of(r->w, first)->dims[d] &&
           lower_same_range(&s->range[d], &first->range[d]);
  return over && op->n_reads < 64 && r->w->p->buffers[r->w->p->buffer_of[op->out]].type == IR_F32 &&
         reads_rows(r, k);
}

static bool is_sum(const rows *r, int k) {
  const tf_op *op = op_of(r->w, r->nest[k]);
  return (op->reduce == TF_REDUCE_ADD || op->reduce == TF_REDUCE_MAX ||
          op->reduce == TF_REDUCE_MIN) &&
         op->n_out_dims == r->common && r->common > 0 && op->n_expr == 1 &&
         op->expr[0].what == TF_X_READ &&
         lower_reads_dim(&op->reads[0], r->w->plan->wl->tensors[op->reads[0].tensor].rank, r->dim);
}

/* A map that uses the values of dims is excluded: the rows' function gets addresses alone. */
static bool is_map(const rows *r, int k) {
  const tf_op *op = op_of(r->w, r->nest[k]);
  bool can = op->reduce == TF_ASSIGN && op->n_out_dims == r->common + 1;
  for (int i = 0; can && i < op->n_expr; i++) {
    const tf_expr *e = &op->expr[i];
    can = e->what != TF_X_DIM && (e->what != TF_X_CALL || tf_micro_vector_name((int)e->call));
  }
  return can;
}

/* Whether the map is a deferred quotient, stored in place of its operand: nothing to do. */
static bool is_deferred_quotient(const rows *r, int k) {
  const ir_stmt *s = r->nest[k];
  const tf_op *op = op_of(r->w, s);
  const tf_expr *root = &op->expr[op->n_expr - 1];
  if (s->nest.divides < 0 || root->what != TF_X_CALL || op->expr[root->arg[0]].what != TF_X_READ)
    return false;
  return root_buffer_of(r->w, op->reads[op->expr[root->arg[0]].ref].tensor) ==
         root_buffer_of(r->w, op->out);
}

/* Whether nest k reads the result of a sum over the row that nest `from` or a later one computes,
 * so that it must wait for the row's end. */
static bool reads_late(const rows *r, int from, int k) {
  const tf_op *op = op_of(r->w, r->nest[k]);
  bool any = false;
  for (int i = 0; i < op->n_reads; i++)
    for (int m = from; m < k; m++)
      any |= i != r->nest[k]->nest.divides && op->reads[i].tensor == op_of(r->w, r->nest[m])->out &&
             op_of(r->w, r->nest[m])->reduce != TF_ASSIGN;
  return any;
}

/* Requires at most one sum over existing data first, then maps, sums of their outputs, and deferred
 * quotients. Rows can then be computed in two passes, of which the second overlaps with the next
 * row's first. */
static bool two_passes(rows *r) {
  const int n = r->n;
  int k = 0, maps = 0;
  for (r->n = 0; r->n < n && goes_over(r, r->n); r->n++)
    ;
  if (r->n < n) return false;
  const int lead = is_sum(r, 0) ? 1 : 0;
  for (k = lead; k < n && !is_deferred_quotient(r, k); k++) {
    const int made = is_sum(r, k) ? producer_in(r, op_of(r->w, r->nest[k])->reads[0].tensor) : k;
    if ((!is_map(r, k) && (made < lead || made >= k)) || reads_late(r, lead, k)) return false;
    if (!is_map(r, k) && !is_sum(r, k)) return false;
    maps += is_map(r, k);
  }
  for (; k < n; k++)
    if (!is_deferred_quotient(r, k)) return false;
  return maps > 0;
}

/* Whether rows are copied for rounding only; if the kernel takes more rows than there are, the
 * additional ones may hold anything. */
static bool copies_to_round(const cpu_product *p) {
  return p->kernel->a == IR_BF16 && !p->pairs.keep_copy;
}

/* Whether sums of the rows continue earlier ones: rows then come in steps, and computing them ahead
 * gains only if they are rounded, too. */
static bool continues_sums(const rows *r) {
  bool any = false;
  for (int k = 0; k < r->n; k++)
    any |= r->nest[k]->nest.n_resets > 0;
  return any;
}

/* Whether product s covers the same rows and outer dims, and its k spans each row. */
static bool takes_rows(const rows *r, const ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  const tf_op *op = op_of(r->w, s), *first = op_of(r->w, r->nest[0]);
  if (p->kind != CPU_PAIRS || p->slab || p->pairs.steps || p->pairs.transposed >= 0 ||
      s->nest.from ||
      !(p->pairs.copy < 0 ? p->kernel->group == 1 && p->kernel->a == IR_F32 && !continues_sums(r)
                          : copies_to_round(p)))
    return false;
  bool same = op->dims[p->m] == first->dims[r->common - 1] && op->dims[p->k] == r->dim &&
              s->range[p->k].exact &&
              lower_same_range(&s->range[p->k], &r->nest[0]->range[r->common]);
  for (int k = 0; same && k < op->n_dims; k++) {
    const int at = lower_find_dim(first, op->dims[k]);
    same = k == p->n || k == p->k ||
           (at >= 0 && at < r->common && k < op->n_out_dims &&
            lower_same_range(&s->range[k], &r->nest[0]->range[at]));
  }
  for (int d = 0; same && d < r->common; d++)
    same = lower_find_dim(op, first->dims[d]) >= 0;
  const int maker = producer_in(r, op->reads[p->a].tensor);
  same = same && maker >= 0 && is_map(r, maker);
  for (int rank = 0; same && rank <= r->common; rank++)
    same = lower_is_dim(&op->reads[p->a].index[rank], op_of(r->w, r->nest[maker])->dims[rank]);
  return same;
}

/* Whether the product's other operands do not overlap with what the rows' nests access. */
static bool has_no_overlap(const rows *r, const ir_stmt *s) {
  const tf_op *op = op_of(r->w, s);
  const int out = root_buffer_of(r->w, op->out),
            b = root_buffer_of(r->w, op->reads[cpu_of(s)->product->b].tensor);
  bool clear = true;
  for (int k = 0; k < r->n; k++) {
    const tf_op *row = op_of(r->w, r->nest[k]);
    clear &= root_buffer_of(r->w, row->out) != out && root_buffer_of(r->w, row->out) != b;
    for (int i = 0; i < row->n_reads; i++)
      clear &= root_buffer_of(r->w, row->reads[i].tensor) != out;
  }
  return clear;
}

/* With 32 registers half of them are free of sums. Rows need more vectors than tiles have rows. */
static bool has_free_registers(const ir_machine *t) { return t->registers >= 32 && t->lanes >= 16; }

/* The nests of the rows of statement s (a single map counts as one); NULL: none, or no memory. */
static ir_stmt *rows_in(lowering *w, ir_stmt *s) {
  if (s->kind == IR_TOGETHER) return s;
  if (s->kind != IR_NEST || cpu_of(s)->product || cpu_of(s)->fused ||
      op_of(w, s)->reduce != TF_ASSIGN || op_of(w, s)->n_out_dims < 2)
    return NULL;
  ir_stmt *all = TF_NEW(w->p->arena, ir_stmt), **one = TF_ARRAY(w->p->arena, ir_stmt *, 1);
  if (lower_failed(w)) return NULL;
  *one = s;
  *all = (ir_stmt){
      .kind = IR_TOGETHER, .together.n_common = op_of(w, s)->n_out_dims - 1, .body = {1, one}};
  return all;
}

/* Marks the statement at `at` to be computed by the product in the next one, if possible. */
static void overlap_producer(lowering *w, const ir_body *body, int at) {
  ir_stmt *const product = body->s[at + 1];
  if (product->kind != IR_NEST || !cpu_of(product)->product || !has_free_registers(&w->p->machine))
    return;
  ir_stmt *all = rows_in(w, body->s[at]);
  const tf_op *last = all ? op_of(w, all->body.s[all->body.n - 1]) : NULL;
  if (!last || all->together.n_common < 1 || last->n_dims != all->together.n_common + 1) return;
  rows r = {w, all->body.s, all->body.n, all->together.n_common,
            last->dims[all->together.n_common]};
  if (all->body.s[0]->range[all->together.n_common].most >
      (int64_t)TF_MICRO_RUN * w->p->machine.lanes)
    return;
  if (!two_passes(&r) || !takes_rows(&r, product) || !has_no_overlap(&r, product)) return;
  cpu_note *rows_of = cpu_edit(w->p, all), *of = cpu_edit(w->p, product);
  if (lower_failed(w)) return;
  rows_of->overlapped = true;
  of->producer = all;
  body->s[at] = all;
}

static void overlap_in_body(lowering *w, const ir_body *body) {
  for (int i = 0; i < body->n; i++) {
    if (body->s[i]->kind == IR_FOR || body->s[i]->kind == IR_IF)
      overlap_in_body(w, &body->s[i]->body);
    if (i + 1 < body->n) overlap_producer(w, body, i);
  }
}

void lower_overlap_producers(lowering *w) {
  if (!w->p->machine.choices.at[TF_CHOICE_AT]) overlap_in_body(w, &w->p->body);
}
