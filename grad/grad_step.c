/* Training steps. */
#include "grad/grad_step.h"

#include <stdio.h>

/* ---- updates ------------------------------------------------------------------------------ */
static const gr_expr *product(gr_draft *d, const gr_expr *a, const gr_expr *b) {
  return gr_call(d, TF_K_MUL, a, b, NULL);
}

static const gr_expr *sum(gr_draft *d, const gr_expr *a, const gr_expr *b) {
  return gr_call(d, TF_K_ADD, a, b, NULL);
}

/* A tensor of the shape and width of `like`. */
static int add_like(gr_draft *d, const char *before, int like, const char *behind) {
  const gr_tensor z = d->tensors[like];
  char name[300];
  snprintf(name, sizeof name, "%s%.250s%s", before, z.name, behind);
  return gr_add_tensor(d, name, z.rank, z.extent, z.word_bits);
}

/* NAME_T_next = share * NAME_T + rest * new, from a new input NAME_T. */
static int add_running(gr_draft *d, const char *name, int t, const int *home, double share,
                       double rest, const gr_expr *new) {
  const int old = add_like(d, name, t, ""), next = add_like(d, name, t, "_next");
  const gr_expr *kept = product(d, gr_number(d, share), gr_read_at(d, old, home));
  gr_add_op(d, next, home, TF_ASSIGN, sum(d, kept, product(d, gr_number(d, rest), new)));
  return next;
}

typedef struct {
  int rate, unbias; /* tensors without ranks */
} scales;

/* What is taken from each parameter, before the rate. */
static const gr_expr *adam(gr_draft *d, const scales *x, int t, const int *home, const gr_expr *g) {
  const int mean = add_running(d, "mean_", t, home, 0.9, 0.1, g);
  const int square = add_running(d, "square_", t, home, 0.999, 0.001, product(d, g, g));
  const gr_expr *root = gr_call(d, TF_K_SQRT, gr_read_at(d, square, home), NULL, NULL);
  const gr_expr *size = product(d, root, gr_read_at(d, x->unbias, home));
  return gr_call(d, TF_K_DIV, gr_read_at(d, mean, home), sum(d, size, gr_number(d, 1e-8)), NULL);
}

/* update[t]: the op that makes T_next; -1: none. */
static void add_updates(gr_draft *d, const gr_stepping *s, int *update) {
  const int64_t none[1] = {0};
  scales x = {.rate = gr_add_tensor(d, "rate", 0, none, 0)};
  if (s->kind == TF_UPDATE_ADAM) x.unbias = gr_add_tensor(d, "unbias", 0, none, 0);
  for (int t = 0; t < d->wl->n_tensors && !d->failed; t++) {
    update[t] = -1;
    if (s->gradient[t] < 0) continue;
    const int *home = s->home[t];
    const gr_expr *g = gr_read_at(d, s->gradient[t], home);
    if (s->kind == TF_UPDATE_ADAM) g = adam(d, &x, t, home, g);
    const int next = add_like(d, "", t, "_next");
    const gr_expr *step = product(d, gr_read_at(d, x.rate, home), g);
    gr_add_op(d, next, home, TF_ASSIGN, gr_call(d, TF_K_SUB, gr_read_at(d, t, home), step, NULL));
    update[t] = d->n_ops - 1;
  }
}

/* ---- what is recomputed --------------------------------------------------------------------- */
/* Adds the copy of each forward op whose tensor is recomputed, and lets the backward ops read it.
 */
static void add_again(gr_draft *d, const gr_stepping *s, int n_forward, int *to) {
  for (int t = 0; t < d->wl->n_tensors && !d->failed; t++)
    if (s->again[t]) to[t] = add_like(d, "again_", t, "");
  for (int o = s->n_backward; o < n_forward && !d->failed; o++) {
    const gr_op op = d->ops[o];
    if (!s->again[op.out]) continue;
    d->at = op.at;
    gr_add_op(d, to[op.out], op.left, op.reduce, gr_swap_reads(d, op.e, to));
  }
  for (int o = 0; o < d->n_ops && !d->failed; o++)
    if (o < s->n_backward || o >= n_forward) d->ops[o].e = gr_swap_reads(d, d->ops[o].e, to);
}

/* ---- seeds ----------------------------------------------------------------------------------- */
/* Reads of single numbers that are 1 become the number.  (Of a tensor with ranks an op would lose
 * its loops.) */
static void fold_seeds(gr_draft *d, int *to) {
  for (int o = 0; o < d->n_ops; o++) {
    const gr_op *op = &d->ops[o];
    const bool one =
        op->e->node.what == TF_X_NUMBER && op->e->node.number == 1 && op->reduce == TF_ASSIGN;
    if (one && d->tensors[op->out].rank == 0) to[op->out] = GR_ONE;
  }
  for (int o = 0; o < d->n_ops && !d->failed; o++)
    d->ops[o].e = gr_swap_reads(d, d->ops[o].e, to);
}

/* ---- order ----------------------------------------------------------------------------------- */
typedef struct {
  gr_draft *d;
  bool *needed; /* [n_tensors] */
  bool *done;   /* [n_ops] */
  gr_op *ops;
  int n;
} order;

static void mark(void *ctx, const gr_expr *read) {
  order *x = ctx;
  const int maker = x->d->tensors[read->tensor].producer;
  if (x->needed[read->tensor]) return;
  x->needed[read->tensor] = true;
  if (maker >= 0) gr_each_read(x->d->ops[maker].e, mark, x);
}

static void schedule_op(order *x, int op);

static void run_maker(void *ctx, const gr_expr *read) {
  order *x = ctx;
  if (x->d->tensors[read->tensor].producer >= 0)
    schedule_op(x, x->d->tensors[read->tensor].producer);
}

/* The op, behind what it needs. */
static void schedule_op(order *x, int op) {
  if (x->done[op]) return;
  x->done[op] = true;
  gr_each_read(x->d->ops[op].e, run_maker, x);
  x->ops[x->n++] = x->d->ops[op];
}

static void need_made(order *x, int tensor) {
  if (x->needed[tensor]) return;
  x->needed[tensor] = true;
  if (x->d->tensors[tensor].producer >= 0)
    gr_each_read(x->d->ops[x->d->tensors[tensor].producer].e, mark, x);
}

static bool put_in_order(gr_draft *d, const gr_stepping *s, int n_forward, const int *update) {
  order x = {.d = d,
             .needed = tf_arena_array(d->arena, (size_t)d->n_tensors, sizeof *x.needed),
             .done = tf_arena_array(d->arena, (size_t)d->n_ops, sizeof *x.done),
             .ops = TF_ARRAY(d->arena, gr_op, (size_t)d->n_ops)};
  if (!x.needed || !x.done || !x.ops) return gr_fail_memory(d);
  for (int t = 0; t < d->wl->n_tensors; t++) {
    if (s->of[t]) need_made(&x, t);
    if (update[t] >= 0) need_made(&x, d->ops[update[t]].out);
  }
  for (int o = s->n_backward; o < n_forward; o++)
    if (x.needed[d->ops[o].out]) schedule_op(&x, o);
  for (int o = 0; o < s->n_backward; o++) {
    if (x.needed[d->ops[o].out]) schedule_op(&x, o);
    for (int t = 0; t < d->wl->n_tensors; t++)
      if (update[t] >= 0 && s->gradient[t] == d->ops[o].out) schedule_op(&x, update[t]);
  }
  for (int t = 0; t < d->wl->n_tensors; t++)
    if (update[t] >= 0) schedule_op(&x, update[t]);
  d->ops = x.ops;
  d->n_ops = d->room_ops = x.n;
  for (int t = 0; t < d->n_tensors; t++)
    d->tensors[t].producer = -1;
  for (int o = 0; o < d->n_ops; o++)
    d->tensors[d->ops[o].out].producer = o;
  return true;
}

bool gr_step(gr_draft *d, const gr_stepping *s) {
  const int n_forward = d->n_ops, n = d->wl->n_tensors;
  int *update = TF_ARRAY(d->arena, int, (size_t)n);
  if (!update) return gr_fail_memory(d);
  add_updates(d, s, update);
  int room = d->n_tensors + n, *to = TF_ARRAY(d->arena, int, (size_t)room),
      *same = TF_ARRAY(d->arena, int, (size_t)room);
  if (!to || !same) return gr_fail_memory(d);
  for (int t = 0; t < room; t++)
    to[t] = same[t] = t;
  if (!d->failed) add_again(d, s, n_forward, to);
  if (!d->failed) fold_seeds(d, same);
  return !d->failed && put_in_order(d, s, n_forward, update);
}

tf_update tf_update_of(const char *name) {
  if (!strcmp(name, "sgd")) return TF_UPDATE_SGD;
  return !strcmp(name, "adam") ? TF_UPDATE_ADAM : TF_UPDATE_NONE;
}
