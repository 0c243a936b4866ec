/* Element expressions and their sums, maxima and so on, on the vector unit: an operation for each call, over the whole
 * box. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "codegen/target/npu/pass/pass.h"

static int op_of(tf_kind k) {
  switch (k) {
#define ROW(kind)                                                                                                      \
  case TF_K_##kind: return NPU_##kind
    ROW(ADD);
    ROW(SUB);
    ROW(MUL);
    ROW(DIV);
    ROW(MAX);
    ROW(MIN);
    ROW(NEG);
    ROW(EXP);
    ROW(LOG);
    ROW(SQRT);
    ROW(TANH);
    ROW(ERF);
    ROW(SIGMOID);
    ROW(SILU);
    ROW(RELU);
    ROW(GELU);
    ROW(ABS);
    ROW(LT);
    ROW(LE);
    ROW(EQ);
    ROW(NE);
#undef ROW
  case TF_K_SELECT: return NPU_SEL;
  case TF_K_COPY:
  case TF_K_MAC:
  case TF_N_KINDS: break; /* units count them; no expression calls them */
  }
  return NPU_MOV;
}

/* ---- operands -------------------------------------------------------------------------------------------------- */
static npu_term number(double v) { return (npu_term){.o = {.memory = -1, .tensor = -1, .number = v}}; }

static npu_term read_value(npu_build *b, const tf_op *op, int read, const tf_ival *range, const npu_bank *k) {
  const tf_ref *ref = &op->reads[read];
  const tf_tensor *z = &b->p->wl->tensors[ref->tensor];
  npu_term v = number(0);
  int64_t x[TF_MAX_RANK];
  tf_ival box[TF_MAX_RANK];
  for (int r = 0; r < z->rank; r++) {
    x[r] = ref->index[r].c;
    box[r] = (tf_ival){x[r], 1};
    for (int t = 0; t < ref->index[r].n_terms; t++)
      for (int i = 0; i < op->n_dims; i++) {
        if (op->dims[i] != ref->index[r].terms[t].dim) continue;
        const int64_t coef = ref->index[r].terms[t].coef;
        x[r] += coef * range[i].lo;
        v.step[i] += coef * k->stride[r];
        box[r].lo += coef * (coef > 0 ? range[i].lo : range[i].lo + range[i].len - 1);
        box[r].len += (coef > 0 ? coef : -coef) * (range[i].len - 1);
      }
    if (z->pad[r]) npu_stop(b, ref->at, "the vector unit does not read padding, as of '%.40s'", z->name);
  }
  if (!npu_bank_whole(k, box)) npu_stop(b, ref->at, "'%.40s' would have a seam where it is read", z->name);
  v.o = npu_operand_at(b, k, npu_bank_at(k, x));
  return v;
}

static npu_term out_value(const npu_build *b, const tf_op *op, const tf_ival *range, const npu_bank *k) {
  npu_term v = number(0);
  int64_t x[TF_MAX_RANK];
  for (int r = 0; r < op->n_out_dims; r++) {
    x[r] = range[r].lo;
    v.step[r] = k->stride[r];
  }
  v.o = npu_operand_at(b, k, npu_bank_at(k, x));
  return v;
}

/* The place of the i-th value within the expression, in float32, over all of the op's dims. */
static npu_term temp_value(npu_build *b, int o, int i, const tf_ival *range) {
  const tf_op *op = &b->p->wl->ops[o];
  if (i >= NPU_TEMPS || (b->temp[o * NPU_TEMPS + i] < 0 && b->n_banks == NPU_BANKS)) {
    npu_stop(b, op->at, "an expression of more than %d parts, or too many places", NPU_TEMPS);
    return number(0);
  }
  int *at = &b->temp[o * NPU_TEMPS + i];
  if (*at < 0) {
    *at = b->n_banks;
    b->bank[b->n_banks++] = (npu_bank){.memory = b->t.machine.vector.memory,
                                       .tensor = op->out,
                                       .level = -1,
                                       .type = NPU_F32,
                                       .rank = op->n_dims,
                                       .slots = 1,
                                       .owner = -1};
  }
  const int turned = npu_bank_turned(b, *at);
  if (turned < 0) return number(0);
  npu_bank *k = &b->bank[turned];
  npu_bank_open(b, k, range);
  npu_term v = number(0);
  memcpy(v.step, k->stride, sizeof v.step);
  v.o = (npu_operand){.memory = k->memory, .tensor = -1, .type = NPU_F32, .at = k->at};
  return v;
}

/* ---- operations ------------------------------------------------------------------------------------------ */
void npu_vector_add(npu_build *b, int o, npu_op what, const tf_ival *range, int n_dims, const npu_term *to,
                    const npu_term *from) {
  if (b->dry || !b->ok) return;
  npu_instr *i = b->steps-- > 0 ? npu_add(b->out, what) : NULL;
  if (!i) {
    npu_stop(b, (tf_loc){0}, "the program would be too long");
    return;
  }
  const int n = npu_facts_of(what)->sources;
  bool aligned = npu_aligned(b, &to->o);
  for (int k = 0; k < n; k++)
    aligned = aligned && (from[k].o.memory < 0 || npu_aligned(b, &from[k].o));
  if (!aligned)
    npu_stop(b, b->p->wl->ops[o].at, "'%.40s' in parts that begin where operands of the vector unit may not",
             b->p->wl->ops[o].name);
  i->queue = b->t.machine.vector.queue;
  i->tag = b->p->wl->ops[o].name;
  i->to = to->o;
  for (int k = 0; k < n; k++)
    i->from[k] = from[k].o;
  for (int k = 0; k < n_dims; k++)
    npu_dim_add(b, i,
                (npu_dim){range[k].len,
                          {to->step[k], from[0].step[k], n > 1 ? from[1].step[k] : 0, n > 2 ? from[2].step[k] : 0},
                          0,
                          0});
}

/* The coordinate of a dim of the op: a number that grows by 1 along it. */
static npu_term coordinate(const tf_op *op, int dim, const tf_ival *range) {
  npu_term v = number(0);
  for (int i = 0; i < op->n_dims; i++)
    if (op->dims[i] == dim) {
      v.o.number = (double)range[i].lo;
      v.step[i] = 1;
    }
  return v;
}

/* Whether the call is the division by a streamed sum, which is left for the end of the stream. */
static bool is_put_off(const npu_build *b, int o, const tf_expr *e) {
  const tf_op *op = &b->p->wl->ops[o];
  const int z = b->p->divides[o];
  return z >= 0 && e->what == TF_X_CALL && e->call == TF_K_DIV && op->expr[e->arg[1]].what == TF_X_READ &&
         op->reads[op->expr[e->arg[1]].ref].tensor == b->p->wl->ops[z].out;
}

/* The value of the whole expression, of which the last call goes to `to` (NULL: to a place of its own). */
static npu_term run_expr(npu_build *b, int o, const tf_ival *range, npu_bank *const *bank, const npu_term *to) {
  const tf_op *op = &b->p->wl->ops[o];
  npu_term v[64];
  for (int i = 0; i < op->n_expr && b->ok; i++) {
    const tf_expr *e = &op->expr[i];
    if (i == 64) npu_stop(b, op->at, "an expression of more than 64 parts");
    if (!b->ok) return number(0);
    v[i] = number(e->what == TF_X_NUMBER ? e->number : 0);
    if (e->what == TF_X_READ) v[i] = read_value(b, op, e->ref, range, bank[e->ref]);
    if (e->what == TF_X_DIM) v[i] = coordinate(op, e->dim, range);
    if (is_put_off(b, o, e)) v[i] = v[e->arg[0]];
    if (e->what != TF_X_CALL || is_put_off(b, o, e)) continue;
    npu_term from[3] = {number(0), number(0), number(0)};
    for (int k = 0; k < e->n_args; k++)
      from[k] = v[e->arg[k]];
    v[i] = to && i == op->n_expr - 1 ? *to : temp_value(b, o, i, range);
    npu_vector_add(b, o, (npu_op)op_of(e->call), range, op->n_dims, &v[i], from);
  }
  return b->ok ? v[op->n_expr - 1] : number(0);
}

static const struct {
  npu_op op;
  double start;
} sums[] = {[TF_REDUCE_ADD] = {NPU_RADD, 0},
            [TF_REDUCE_MUL] = {NPU_RMUL, 1},
            [TF_REDUCE_MAX] = {NPU_RMAX, -INFINITY},
            [TF_REDUCE_MIN] = {NPU_RMIN, INFINITY}};

/* A running maximum starts at the lowest finite number: rows of which a mask has left nothing so far have no difference
 * of infinities, and what is then summed becomes 0 when the first element comes. */
static double start_of(const npu_build *b, int o) {
  const tf_op *op = &b->p->wl->ops[o];
  if (op->reduce != TF_REDUCE_MAX || b->p->stream_scope[o] < 0) return sums[op->reduce].start;
  return npu_type_of(&b->p->wl->tensors[op->out]) == NPU_F16 ? (double)npu_from_half(0xfbff) : -(double)FLT_MAX;
}

void npu_vector_op(npu_build *b, int o, const tf_ival *range, npu_bank *const *bank) {
  const tf_op *op = &b->p->wl->ops[o];
  const npu_term out = out_value(b, op, range, bank[op->n_reads]);
  if (op->reduce == TF_ASSIGN) {
    const npu_term v = run_expr(b, o, range, bank, &out);
    const tf_expr *last = &op->expr[op->n_expr - 1];
    if (last->what != TF_X_CALL || is_put_off(b, o, last)) npu_vector_add(b, o, NPU_MOV, range, op->n_dims, &out, &v);
    return;
  }
  const npu_term start = number(start_of(b, o));
  if (!npu_goes_on(b, o, range)) npu_vector_add(b, o, NPU_MOV, range, op->n_out_dims, &out, &start);
  const npu_term v = run_expr(b, o, range, bank, NULL);
  npu_vector_add(b, o, sums[op->reduce].op, range, op->n_dims, &out, &v);
}
