#include "search/common/order.h"

#include <string.h>

#include "search/common/complete.h"

/* Colour refinement (Weisfeiler-Leman): colours are hashes of what a dim, a tensor and an op are,
 * refined round by round by the colours of what they touch.  Things of equal colour are taken to be
 * interchangeable. */
enum { ROUNDS_MOST = 12 };

typedef struct {
  const tf_workload *wl;
  uint64_t *dim, *tensor, *op;    /* colours */
  uint64_t *dim2, *tensor2, *op2; /* of the round being computed */
  bool *dim_met, *tensor_met, *op_met;
  int n_dims, n_tensors, n_ops; /* in order so far */
  tf_order *out;
} sorter;

static uint64_t mix(uint64_t h, uint64_t v) { return tf_hash(h, &v, sizeof v); }
static uint64_t mix_int(uint64_t h, int64_t v) { return mix(h, (uint64_t)v); }

/* ---- initial colours ------------------------------------------------------------------------ */
static uint64_t color_of_tensor(const tf_tensor *z) {
  uint64_t h = mix_int(mix_int(TF_HASH_START, z->rank), z->word_bits);
  for (int r = 0; r < z->rank; r++)
    h = mix_int(mix_int(mix_int(h, z->extent[r]), z->pad[r]), z->lo[r]);
  return mix_int(h, z->view_of > 0);
}

static uint64_t color_of_op(const tf_op *o) {
  uint64_t h = mix_int(mix_int(mix_int(TF_HASH_START, o->reduce), o->kinds), o->n_dims);
  for (int i = 0; i < o->n_expr; i++) {
    const tf_expr *x = &o->expr[i];
    h = mix_int(mix_int(h, x->what), x->what == TF_X_CALL ? (int)x->call : -1);
    h = mix_int(h, x->what == TF_X_READ ? x->ref : -1);
    h = tf_hash(h, &x->number, sizeof x->number);
    for (int k = 0; x->what == TF_X_CALL && k < x->n_args; k++)
      h = mix_int(h, x->arg[k]);
  }
  return h;
}

/* ---- rounds --------------------------------------------------------------------------------- */
/* Terms are summed, as their order does not matter. */
static uint64_t color_of_index(const sorter *s, const tf_index *x) {
  uint64_t sum = 0;
  for (int t = 0; t < x->n_terms; t++)
    sum += mix_int(mix(TF_HASH_START, s->dim[x->terms[t].dim]), x->terms[t].coef);
  return mix_int(mix(TF_HASH_START, sum), x->c);
}

static uint64_t color_of_ref(const sorter *s, const tf_ref *r) {
  uint64_t h = mix(TF_HASH_START, s->tensor[r->tensor]);
  for (int i = 0; i < s->wl->tensors[r->tensor].rank; i++)
    h = mix(h, color_of_index(s, &r->index[i]));
  return h;
}

static uint64_t next_of_op(const sorter *s, int o) {
  const tf_op *op = &s->wl->ops[o];
  uint64_t h = mix(s->op[o], s->tensor[op->out]), reduced = 0;
  for (int i = 0; i < op->n_out_dims; i++)
    h = mix(h, s->dim[op->dims[i]]);
  for (int i = op->n_out_dims; i < op->n_dims; i++)
    reduced += mix(TF_HASH_START, s->dim[op->dims[i]]);
  h = mix(h, reduced);
  for (int k = 0; k < op->n_reads; k++)
    h = mix(h, color_of_ref(s, &op->reads[k]));
  for (int i = 0; i < op->n_expr; i++)
    if (op->expr[i].what == TF_X_DIM) h = mix(h, s->dim[op->expr[i].dim]);
  return h;
}

/* Mixes the colour of op o into those of the dims and tensors that it touches. */
static void mix_op(sorter *s, int o) {
  const tf_op *op = &s->wl->ops[o];
  for (int i = 0; i < op->n_dims; i++)
    s->dim2[op->dims[i]] += mix_int(s->op[o], i < op->n_out_dims ? i : -1);
  s->tensor2[op->out] += mix_int(s->op[o], -1);
  for (int k = 0; k < op->n_reads; k++) {
    const tf_ref *ref = &op->reads[k];
    s->tensor2[ref->tensor] += mix_int(s->op[o], k);
    for (int r = 0; r < s->wl->tensors[ref->tensor].rank; r++)
      for (int t = 0; t < ref->index[r].n_terms; t++)
        s->dim2[ref->index[r].terms[t].dim] +=
            mix_int(mix_int(mix_int(s->op[o], k), r), ref->index[r].terms[t].coef);
  }
  for (int i = 0; i < op->n_expr; i++)
    if (op->expr[i].what == TF_X_DIM) s->dim2[op->expr[i].dim] += mix_int(mix_int(s->op[o], -2), i);
}

static void round_of(sorter *s) {
  const tf_workload *wl = s->wl;
  memset(s->dim2, 0, (size_t)wl->n_dims * sizeof *s->dim2);
  memset(s->tensor2, 0, (size_t)wl->n_tensors * sizeof *s->tensor2);
  for (int o = 0; o < wl->n_ops; o++)
    s->op2[o] = next_of_op(s, o);
  memcpy(s->op, s->op2, (size_t)wl->n_ops * sizeof *s->op);
  for (int o = 0; o < wl->n_ops; o++)
    mix_op(s, o);
  for (int d = 0; d < wl->n_dims; d++)
    s->dim[d] = mix(s->dim[d], s->dim2[d]);
  for (int z = 0; z < wl->n_tensors; z++)
    s->tensor[z] = mix(s->tensor[z], s->tensor2[z]);
}

static void color(sorter *s) {
  const tf_workload *wl = s->wl;
  for (int d = 0; d < wl->n_dims; d++)
    s->dim[d] = mix_int(TF_HASH_START, wl->dims[d].extent);
  for (int z = 0; z < wl->n_tensors; z++)
    s->tensor[z] = color_of_tensor(&wl->tensors[z]);
  for (int o = 0; o < wl->n_ops; o++)
    s->op[o] = color_of_op(&wl->ops[o]);
  for (int k = 0; k < ROUNDS_MOST && k < wl->n_ops + 2; k++)
    round_of(s);
}

/* ---- the order ------------------------------------------------------------------------------ */
static void put_dim(sorter *s, int d) {
  if (!s->dim_met[d]) s->out->dims[s->n_dims++] = d;
  s->dim_met[d] = true;
}

static void put_tensor(sorter *s, int z) {
  if (!s->tensor_met[z]) s->out->tensors[s->n_tensors++] = z;
  s->tensor_met[z] = true;
}

/* Puts the dims of an index that are not in order yet, by colour: a sum may be written in any
 * order. */
static void put_index(sorter *s, const tf_index *x) {
  for (;;) {
    int least = -1;
    for (int t = 0; t < x->n_terms; t++) {
      const int d = x->terms[t].dim;
      if (!s->dim_met[d] && (least < 0 || s->dim[d] < s->dim[least])) least = d;
    }
    if (least < 0) return;
    put_dim(s, least);
  }
}

/* Puts dims in order of their first use: by outputs, then by reads, then by other uses in the
 * expression. */
static void put_op(sorter *s, int o) {
  const tf_op *op = &s->wl->ops[o];
  for (int i = 0; i < op->n_out_dims; i++)
    put_dim(s, op->dims[i]);
  for (int k = 0; k < op->n_reads; k++) {
    for (int r = 0; r < s->wl->tensors[op->reads[k].tensor].rank; r++)
      put_index(s, &op->reads[k].index[r]);
    put_tensor(s, op->reads[k].tensor);
  }
  for (int i = 0; i < op->n_expr; i++)
    if (op->expr[i].what == TF_X_DIM) put_dim(s, op->expr[i].dim);
  put_tensor(s, op->out);
  s->out->ops[s->n_ops++] = o;
}

/* Among the producers of what an op reads, the one with the fewest words that is not in order yet;
 * -1: none. */
static int least_producer(const sorter *s, const tf_op *op) {
  int least = -1;
  int64_t words = 0;
  for (int k = 0; k < op->n_reads; k++) {
    const tf_tensor *z = &s->wl->tensors[op->reads[k].tensor];
    if (z->producer < 0 || s->op_met[z->producer] || (least >= 0 && tf_tensor_words(z) >= words))
      continue;
    least = z->producer, words = tf_tensor_words(z);
  }
  return least;
}

/* Puts an op after the producers of what it reads, the one with the most words last: consecutive
 * ops may be fused, and fusing these saves most. */
static void visit(sorter *s, int o) {
  const tf_op *op = &s->wl->ops[o];
  s->op_met[o] = true;
  for (int p = least_producer(s, op); p >= 0; p = least_producer(s, op))
    visit(s, p);
  put_op(s, o);
}

/* Visits ops whose output no op reads, by colour, each with all that it depends on. */
static void visit_all(sorter *s) {
  for (;;) {
    int least = -1;
    for (int o = 0; o < s->wl->n_ops; o++) {
      const bool end = s->wl->tensors[s->wl->ops[o].out].n_consumers == 0;
      if (end && !s->op_met[o] && (least < 0 || s->op[o] < s->op[least])) least = o;
    }
    if (least < 0) return;
    visit(s, least);
  }
}

/* Puts what no op uses last. */
static void put_rest(sorter *s) {
  for (int d = 0; d < s->wl->n_dims; d++)
    put_dim(s, d);
  for (int z = 0; z < s->wl->n_tensors; z++)
    put_tensor(s, z);
}

bool tf_order_of(tf_arena *a, const tf_workload *wl, tf_order *out) {
  const size_t dims = (size_t)wl->n_dims + 1, tensors = (size_t)wl->n_tensors + 1,
               ops = (size_t)wl->n_ops + 1;
  sorter s = {.wl = wl, .out = out};
  s.dim = TF_ARRAY(a, uint64_t, dims), s.tensor = TF_ARRAY(a, uint64_t, tensors),
  s.op = TF_ARRAY(a, uint64_t, ops);
  s.dim2 = TF_ARRAY(a, uint64_t, dims), s.tensor2 = TF_ARRAY(a, uint64_t, tensors),
  s.op2 = TF_ARRAY(a, uint64_t, ops);
  s.dim_met = TF_ARRAY(a, bool, dims), s.tensor_met = TF_ARRAY(a, bool, tensors),
  s.op_met = TF_ARRAY(a, bool, ops);
  *out = (tf_order){TF_ARRAY(a, int, ops), TF_ARRAY(a, int, tensors), TF_ARRAY(a, int, dims)};
  if (tf_arena_failed(a)) return false;
  color(&s);
  visit_all(&s);
  put_rest(&s);
  return true;
}
