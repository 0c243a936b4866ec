/* Streamed reductions (online softmax; SEMANTICS D11): if a running maximum rises from one run of
 * its scope to the next, sums made with the previous one are multiplied by exp(before - after);
 * division by a sum waits for the last run. */
#include "codegen/backend/npu/pass/pass.h"
#include "model/flow/online.h"

static int named_op(const npu_build *b, int n, int i) {
  return b->p->wl->tensors[b->p->tree->nodes[n].stream[i].tensor].producer;
}

/* The op of the running maximum of scope n; -1: none. */
static int maximum(const npu_build *b, int n) {
  int x = -1;
  for (int i = 0; i < b->p->tree->nodes[n].n_stream; i++)
    if (b->p->wl->ops[named_op(b, n, i)].reduce == TF_REDUCE_MAX) x = named_op(b, n, i);
  return x;
}

static bool below(const npu_build *b, int child, int o) {
  return tf_plan_above(b->p, child, b->p->tree->op_node[o]);
}

/* The position of the op's dim among another's output dims; -1: none. */
static int out_position(const tf_op *op, int dim) {
  for (int i = 0; i < op->n_out_dims; i++)
    if (op->dims[i] == dim) return i;
  return -1;
}

bool npu_stream_check(npu_build *b, int n) {
  const tf_node *t = &b->p->tree->nodes[n];
  const tf_op *ops = b->p->wl->ops;
  const int x = maximum(b, n);
  if (t->n_stream && !tf_plan_drops(t)) npu_stop(b, t->at, "of scopes Seq alone streams");
  if (t->n_stream && b->t.machine.vector.queue < 0)
    npu_stop(b, t->at, "what is streamed is corrected by a vector unit");
  if (b->ok && x >= 0 && b->t.memory_of[b->p->stream[x].above] != b->t.machine.vector.memory)
    npu_stop(b, t->at, "'%.40s' has to be kept in the vector unit's memory", ops[x].name);
  for (int i = 0; i < t->n_stream; i++) {
    const int o = named_op(b, n, i);
    bool beside = false; /* it must be computed before it can be corrected */
    for (int c = 0; c < t->n_children && x >= 0 && o != x; c++)
      beside |= below(b, t->children[c], o) && below(b, t->children[c], x);
    if (beside || (o != x && ops[o].reduce == TF_REDUCE_MAX))
      npu_stop(b, t->stream[i].at,
               "'%.40s' cannot be corrected by the running maximum of its scope", ops[o].name);
  }
  return b->ok;
}

/* ---- places --------------------------------------------------------------------------------- */
/* The bank in the vector unit's memory in which that box of op o's output is corrected; NULL: too
 * many. */
static npu_bank *correction_bank(npu_build *b, int o, npu_type type, const tf_ival *box) {
  int *at = &b->fixing[o];
  if (*at < 0 && b->n_banks == NPU_BANKS)
    npu_stop(b, (tf_loc){0}, "more than %d places of tensors", NPU_BANKS);
  if (!b->ok) return NULL;
  if (*at < 0) {
    *at = b->n_banks;
    b->bank[b->n_banks++] = (npu_bank){.memory = b->t.machine.vector.memory,
                                       .tensor = b->p->wl->ops[o].out,
                                       .level = -1,
                                       .type = type,
                                       .rank = b->p->wl->ops[o].n_out_dims,
                                       .doubled = b->t.doubled,
                                       .slots = 1,
                                       .owner = -1};
  }
  const int turned = npu_bank_turned(b, *at);
  if (turned < 0) return NULL;
  npu_bank_open(b, &b->bank[turned], box);
  return &b->bank[turned];
}

/* The op's output at the scope that streams it: its box, the bank that holds it, and the one in
 * which it is corrected. */
typedef struct {
  int o;
  tf_ival box[TF_MAX_RANK];
  npu_bank *held, *bank;
} running;

static bool fetch(npu_build *b, int o, running *r) {
  const tf_slice *s = &b->p->stream[o];
  r->o = o;
  for (int i = 0; i < b->p->wl->ops[o].n_out_dims; i++)
    r->box[i] = tf_slice_rank(&b->ev, s, i, b->cur);
  npu_flush(b, s->tensor, s->above + 1);
  const int at = b->ok ? npu_bank_of(b, s->tensor, b->t.memory_of[s->above], s->above) : -1;
  if (at < 0) return false;
  r->held = r->bank = &b->bank[at];
  if (r->held->memory == b->t.machine.vector.memory) return true;
  r->bank = correction_bank(b, o, r->held->type, r->box);
  if (r->bank) npu_move(b, r->held, r->bank, r->box);
  return r->bank && b->ok;
}

/* Stores the corrected values; copies further in become invalid. */
static void put_back(npu_build *b, const running *r) {
  const tf_slice *s = &b->p->stream[r->o];
  if (r->bank != r->held) npu_move(b, r->bank, r->held, r->box);
  r->held->dirty |= r->held->owner >= 0;
  for (int i = 0; i < b->n_banks; i++)
    if (b->bank[i].tensor == s->tensor && b->bank[i].turn == b->turn && b->bank[i].level > s->above)
      b->bank[i].held = false;
}

/* The bank of `by`'s output (or of its factor) as an operand over the dims of op o's output. */
static npu_term term_of(const npu_build *b, const npu_bank *k, int by, int o, const tf_ival *box) {
  const tf_op *op = &b->p->wl->ops[o], *other = &b->p->wl->ops[by];
  npu_term v = {.step = {0}};
  int64_t x[TF_MAX_RANK];
  for (int i = 0; i < other->n_out_dims; i++) {
    const int in = out_position(op, other->dims[i]);
    x[i] = box[in].lo;
    v.step[in] = k->stride[i];
  }
  v.o = npu_operand_at(b, k, npu_bank_at(k, x));
  return v;
}

/* held = held op by, element by element. */
static void combine(npu_build *b, npu_op what, const running *r, const npu_bank *by, int maker) {
  const npu_term to = term_of(b, r->bank, r->o, r->o, r->box);
  const npu_term from[2] = {to, term_of(b, by, maker, r->o, r->box)};
  npu_vector_add(b, r->o, what, r->box, b->p->wl->ops[r->o].n_out_dims, &to, from);
}

/* ---- before and after a child --------------------------------------------------------------- */
void npu_stream_before(npu_build *b, int n, int child) {
  const int x = maximum(b, n);
  running r;
  if (x < 0 || !below(b, child, x) || npu_stream_begins(b, x) || !fetch(b, x, &r)) return;
  npu_bank *before = correction_bank(b, x, NPU_F32, r.box);
  if (!before) return;
  const npu_term to = term_of(b, before, x, x, r.box), from = term_of(b, r.bank, x, x, r.box);
  npu_vector_add(b, x, NPU_MOV, r.box, b->p->wl->ops[x].n_out_dims, &to, &from);
}

/* The factor of the maximum's change in the exponent, the same for all sums that follow maximum x
 * (model/tree/check_stream.c). */
static double rate_of(const npu_build *b, int x) {
  double rate = 1;
  for (int o = 0; o < b->p->wl->n_ops; o++)
    if (b->p->online->maximum[o] == x) rate = b->p->online->rate[o];
  return rate;
}

/* Multiplies all sums of the scope by exp(rate * (before - after)). */
static void correct(npu_build *b, int n, int x) {
  running r;
  if (!fetch(b, x, &r) || b->fixing[x] < 0) return;
  const npu_bank *factor = &b->bank[npu_bank_turned(b, b->fixing[x])];
  const npu_term f = term_of(b, factor, x, x, r.box),
                 from[2] = {f, term_of(b, r.bank, x, x, r.box)};
  const int dims = b->p->wl->ops[x].n_out_dims;
  const double rate = rate_of(b, x);
  const npu_term scaled[2] = {f, {.o = {.memory = -1, .tensor = -1, .number = rate}}};
  npu_vector_add(b, x, NPU_SUB, r.box, dims, &f, from);
  if (rate != 1) npu_vector_add(b, x, NPU_MUL, r.box, dims, &f, scaled);
  npu_vector_add(b, x, NPU_EXP, r.box, dims, &f, &f);
  for (int i = 0; i < b->p->tree->nodes[n].n_stream; i++) {
    const int o = named_op(b, n, i);
    if (b->p->online->maximum[o] != x || !fetch(b, o, &r)) continue;
    combine(b, NPU_MUL, &r, factor, x);
    put_back(b, &r);
  }
}

static void divide(npu_build *b, int o, int z) {
  running sum, by;
  if (!fetch(b, z, &by) || !fetch(b, o, &sum)) return;
  combine(b, NPU_DIV, &sum, by.bank, z);
  put_back(b, &sum);
}

void npu_stream_after(npu_build *b, int n, int child) {
  const tf_node *t = &b->p->tree->nodes[n];
  const int x = maximum(b, n);
  if (x >= 0 && below(b, child, x) && !npu_stream_begins(b, x)) correct(b, n, x);
  for (int i = 0; i < t->n_stream && b->ok; i++) {
    const int o = named_op(b, n, i), z = b->p->online->divided_by[o];
    if (z >= 0 && below(b, child, o) && npu_stream_ends(b, o)) divide(b, o, z);
  }
}
