/* Element expressions and their reductions on the vector unit: one operation for each call, over
 * the whole box. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "codegen/backend/npu/pass/pass.h"
#include "model/flow/online.h"

static int vector_op_of(tf_kind k) {
  switch (k) {
#define ROW(kind)                                                                                  \
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
    ROW(FLOOR);
    ROW(CEIL);
    ROW(ROUND);
    ROW(TRUNC);
    ROW(SIN);
    ROW(COS);
    ROW(FMOD);
    ROW(LT);
    ROW(LE);
    ROW(EQ);
    ROW(NE);
#undef ROW
  case TF_K_SELECT: return NPU_SEL;
  case TF_K_COPY:
  case TF_K_MAC:
  case TF_N_KINDS: break; /* counted for units; no expression calls them */
  }
  return NPU_MOV;
}

/* ---- operands ------------------------------------------------------------------------------- */
static npu_term number(double v) {
  return (npu_term){.o = {.memory = -1, .tensor = -1, .number = v}};
}

/* The range that a read accesses along rank r of its tensor. */
static tf_ival read_rank(const tf_op *op, const tf_ref *ref, int r, const tf_ival *range) {
  tf_ival v = {ref->index[r].c, 1};
  for (int t = 0; t < ref->index[r].n_terms; t++)
    for (int i = 0; i < op->n_dims; i++)
      if (op->dims[i] == ref->index[r].terms[t].dim)
        v = tf_index_plus(v, ref->index[r].terms[t].coef, range[i]);
  return v;
}

static npu_term read_value(npu_build *b, const tf_op *op, int read, const tf_ival *range,
                           const npu_bank *k) {
  const tf_ref *ref = &op->reads[read];
  const tf_tensor *z = &b->p->wl->tensors[ref->tensor];
  npu_term v = number(0);
  int64_t x[TF_MAX_RANK];
  for (int r = 0; r < z->rank; r++) {
    const tf_ival at = read_rank(op, ref, r, range);
    x[r] = ref->index[r].c;
    for (int t = 0; t < ref->index[r].n_terms; t++)
      for (int i = 0; i < op->n_dims; i++) {
        if (op->dims[i] != ref->index[r].terms[t].dim) continue;
        x[r] += ref->index[r].terms[t].coef * range[i].lo;
        v.step[i] += ref->index[r].terms[t].coef * k->stride[r];
      }
    if (z->pad[r] && k->memory &&
        (at.lo < k->box[r].lo || at.lo + at.len > k->box[r].lo + k->box[r].len))
      npu_stop(b, ref->at,
               "the vector unit does not read padding of '%.40s', which is made and kept in '%s', "
               "where no zeros are around it: keep it in a memory further out",
               z->name, b->out->machine.memory[k->memory].name);
  }
  v.o = npu_operand_at(b, k, npu_bank_at(k, x));
  return v;
}

static npu_term out_value(const npu_build *b, const tf_op *op, const tf_ival *range,
                          const npu_bank *k) {
  npu_term v = number(0);
  int64_t x[TF_MAX_RANK];
  for (int r = 0; r < op->n_out_dims; r++) {
    x[r] = range[r].lo;
    v.step[r] = k->stride[r];
  }
  v.o = npu_operand_at(b, k, npu_bank_at(k, x));
  return v;
}

/* The i-th temporary of the expression, in float32, over all of the op's dims. */
static npu_term temp_value(npu_build *b, int o, int i, const tf_ival *range) {
  const tf_op *op = &b->p->wl->ops[o];
  if (i >= NPU_TEMPS || (b->temp[o * NPU_TEMPS + i] < 0 && b->n_banks == NPU_BANKS)) {
    npu_stop(b, op->at,
             "an expression of which more than %d values are needed at once, or too many places",
             NPU_TEMPS);
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
                                       .values_of = o + 1,
                                       .owner = -1};
  }
  const int turned = npu_bank_turned(b, *at);
  if (turned < 0) return number(0);
  npu_bank *k = &b->bank[turned];
  npu_bank_open(b, k, range);
  if (k->in_parts) npu_lay_out_part(b, k, range);
  npu_term v = number(0);
  memcpy(v.step, k->stride, sizeof v.step);
  v.o = (npu_operand){.memory = k->memory, .tensor = -1, .type = NPU_F32, .base = k->offset};
  return v;
}

/* ---- operations ----------------------------------------------------------------------------- */
void npu_vector_add(npu_build *b, int o, npu_op what, const tf_ival *range, int n_dims,
                    const npu_term *to, const npu_term *from) {
  if (b->dry || !b->ok) return;
  npu_instr *i = b->steps-- > 0 ? npu_add(b->out, what) : NULL;
  if (!i) {
    npu_too_long(b);
    return;
  }
  const int n = npu_facts_of(what)->sources;
  bool aligned = npu_aligned(b, &to->o);
  for (int k = 0; k < n && what != NPU_GATHER; k++)
    aligned = aligned && (from[k].o.memory < 0 || npu_aligned(b, &from[k].o));
  if (!aligned)
    npu_stop(
        b, b->p->wl->ops[o].at,
        "'%.40s' in parts of which some begin beside the multiples of %lld bytes at which '%s' "
        "lets operands begin: make its tiles such multiples, or whole, along its tensors' last dim",
        b->p->wl->ops[o].name, (long long)b->out->machine.memory[to->o.memory].align,
        b->out->machine.memory[to->o.memory].name);
  i->queue = b->t.machine.vector.queue;
  i->tag = b->p->wl->ops[o].name;
  i->to = to->o;
  for (int k = 0; k < n; k++)
    i->from[k] = from[k].o;
  for (int k = 0; k < n_dims; k++)
    npu_dim_add(b, i,
                (npu_dim){range[k].len,
                          {to->step[k], from[0].step[k], n > 1 ? from[1].step[k] : 0,
                           n > 2 ? from[2].step[k] : 0},
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

/* The op as it is executed: within a stream, as its steps compute it. */
static const tf_op *executed_op(const npu_build *b, int o) {
  return b->p->online ? b->p->online->step[o].op : &b->p->wl->ops[o];
}

/* The workload's read that corresponds to a read of the executed op. */
static int workload_read(const npu_build *b, int o, int ref) {
  const tf_op_step *step = b->p->online ? &b->p->online->step[o] : NULL;
  int i = 0;
  while (step && step->read && step->read[i] != ref)
    i++;
  return step && step->read ? i : ref;
}

enum { PARTS = 64 };

/* For each part of the expression, the last one that needs its value. */
static void find_last_uses(const tf_op *op, int *last) {
  for (int i = op->n_expr - 1; i >= 0; i--) {
    const tf_expr *e = &op->expr[i];
    if (i == op->n_expr - 1) last[i] = op->n_expr;
    for (int k = 0; k < e->n_args && e->what == TF_X_CALL; k++)
      if (last[e->arg[k]] < i) last[e->arg[k]] = i;
  }
}

/* A temporary for the value of part i, needed until part `until`: one that is free again, or a new
 * one. */
static int place_for(int *busy_until, int i, int until) {
  int at = 0;
  while (at < NPU_TEMPS && busy_until[at] > i)
    at++;
  if (at < NPU_TEMPS) busy_until[at] = until;
  return at;
}

/* Whether the op also reads the tensor at an offset of some elements: at most one of such reads may
 * begin where the box does, which is where operands may. */
static bool is_offset_read(const tf_workload *wl, const tf_op *op, int read) {
  const tf_ref *a = &op->reads[read];
  const int rank = wl->tensors[a->tensor].rank;
  bool beside = false;
  for (int i = 0; i < op->n_reads; i++)
    for (int r = 0; r < rank && op->reads[i].tensor == a->tensor; r++)
      beside |= op->reads[i].index[r].c < a->index[r].c;
  return beside;
}

/* The output's dim with which windows along the dim move; -1: there is none in the index. */
static int window_over(const tf_op *op, const tf_index *ix, int dim) {
  bool has = false;
  int found = -1;
  for (int t = 0; t < ix->n_terms; t++) {
    has |= ix->terms[t].dim == dim;
    for (int k = 0; k < op->n_out_dims; k++)
      if (ix->terms[t].dim == op->dims[k]) found = op->dims[k];
  }
  return has ? found : -1;
}

/* A part that begins within a tile, and what to change: windows that go on with what the step
 * before left are read in parts, and so is a tile of which the op takes smaller ones. */
static void stop_within(npu_build *b, int o, int read, const npu_operand *at) {
  const tf_op *op = &b->p->wl->ops[o];
  const tf_workload *wl = b->p->wl;
  const tf_ref *ref = &op->reads[read];
  const tf_tensor *z = &wl->tensors[ref->tensor];
  const npu_memory *m = &b->out->machine.memory[at->memory];
  const tf_index *last = z->rank ? &ref->index[z->rank - 1] : NULL;
  const int dim = last && last->n_terms ? last->terms[last->n_terms - 1].dim : -1;
  int out = -1;
  for (int i = 0; i < op->n_reads; i++)
    for (int r = 0; r < wl->tensors[op->reads[i].tensor].rank && i != read && out < 0; r++)
      out = window_over(op, &op->reads[i].index[r], dim);
  const long long behind = npu_begin_of(at) % m->align, align = m->align;
  if (out >= 0)
    npu_stop(b, ref->at,
             "'%.20s' is read from %lld bytes behind a multiple of %lld on in '%s', where no "
             "operand begins, as steps along '%.20s' go on with windows along '%.20s': take "
             "'%.20s' whole in '%s'",
             z->name, behind, align, m->name, wl->dims[out].name, wl->dims[dim].name,
             wl->dims[out].name, m->name);
  else
    npu_stop(b, ref->at,
             "'%.20s' is read from %lld bytes behind a multiple of %lld on in '%s', where no "
             "operand begins: make tiles along its last dim multiples of %lld, or whole",
             z->name, behind, align, m->name, (long long)(align / npu_type_bytes(at->type)));
}

/* The read's operand, or, if it is not aligned, a temporary into which its elements are
 * gathered. */
static npu_term read_aligned(npu_build *b, int o, int read, const tf_ival *range, const npu_bank *k,
                             int place) {
  const tf_op *op = &b->p->wl->ops[o];
  npu_term v = read_value(b, op, read, range, k);
  if (!is_offset_read(b->p->wl, op, read)) {
    if (b->ok && !b->dry && v.o.memory >= 0 && !npu_aligned(b, &v.o)) stop_within(b, o, read, &v.o);
    return v;
  }
  const npu_term to = temp_value(b, o, place, range);
  if (!b->ok || b->dry || npu_aligned(b, &v.o)) return v;
  npu_vector_add(b, o, NPU_GATHER, range, op->n_dims, &to, &v);
  return to;
}

/* The value of the whole expression, whose last call writes to `to` (NULL: to a temporary). */
static npu_term run_expr(npu_build *b, int o, const tf_ival *range, npu_bank *const *bank,
                         const npu_term *to) {
  const tf_op *asked = &b->p->wl->ops[o], *op = executed_op(b, o);
  npu_term v[PARTS];
  int last[PARTS] = {0}, busy_until[NPU_TEMPS] = {0};
  if (op->n_expr > PARTS) npu_stop(b, op->at, "an expression of more than %d parts", PARTS);
  if (b->ok) find_last_uses(op, last);
  for (int i = 0; i < op->n_expr && b->ok; i++) {
    const tf_expr *e = &op->expr[i];
    v[i] = number(e->what == TF_X_NUMBER ? e->number : 0);
    if (e->what == TF_X_READ) {
      const int read = workload_read(b, o, e->ref);
      const int place =
          is_offset_read(b->p->wl, asked, read) ? place_for(busy_until, i, last[i]) : 0;
      v[i] = read_aligned(b, o, read, range, bank[read], place);
    }
    if (e->what == TF_X_DIM) v[i] = coordinate(op, e->dim, range);
    if (e->what != TF_X_CALL) continue;
    npu_term from[3] = {number(0), number(0), number(0)};
    for (int k = 0; k < e->n_args; k++)
      from[k] = v[e->arg[k]];
    v[i] = to && i == op->n_expr - 1 ? *to
                                     : temp_value(b, o, place_for(busy_until, i, last[i]), range);
    npu_vector_add(b, o, (npu_op)vector_op_of(e->call), range, op->n_dims, &v[i], from);
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

/* A running maximum starts at the lowest finite number: rows that a mask has left empty so far then
 * have no difference of infinities, and their sums become 0 when the first element comes. */
static double start_of(const npu_build *b, int o) {
  const tf_op *op = &b->p->wl->ops[o];
  if (op->reduce != TF_REDUCE_MAX || b->p->stream_scope[o] < 0) return sums[op->reduce].start;
  return npu_type_of(&b->p->wl->tensors[op->out]) == NPU_F16 ? (double)npu_from_half(0xfbff)
                                                             : -(double)FLT_MAX;
}

/* A dim of the op, with several values, along which some read crosses a seam; -1: none. */
static int seam_dim(const tf_op *op, const tf_ival *range, npu_bank *const *bank) {
  for (int i = 0; i < op->n_reads; i++)
    for (int r = 0; r < bank[i]->rank; r++) {
      const tf_index *ix = &op->reads[i].index[r];
      int longest = -1;
      if (npu_bank_runs(bank[i], r, read_rank(op, &op->reads[i], r, range))) continue;
      for (int t = 0; t < ix->n_terms; t++)
        for (int d = 0; d < op->n_dims; d++)
          if (op->dims[d] == ix->terms[t].dim && (longest < 0 || range[d].len > range[longest].len))
            longest = d;
      if (longest >= 0 && range[longest].len > 1) return longest;
    }
  return -1;
}

/* A dim of the op to be split, *first: the length of the first part; -1: none. */
static int divided(const npu_build *b, int o, const tf_ival *range, npu_bank *const *bank,
                   int64_t *first) {
  const int values = b->temp[o * NPU_TEMPS], seam = seam_dim(&b->p->wl->ops[o], range, bank);
  *first = seam < 0 ? 0 : range[seam].len / 2;
  return seam >= 0 || values < 0 ? seam : npu_part_dim(b, &b->bank[values], range, first);
}

/* The operations of the op for the ranges of its dims; sums that begin here have been set to their
 * start. */
static void run_part(npu_build *b, int o, const tf_ival *range, npu_bank *const *bank) {
  const tf_op *op = &b->p->wl->ops[o];
  int64_t first = 0;
  const int split = b->dry || !b->ok ? -1 : divided(b, o, range, bank, &first);
  if (split >= 0) {
    tf_ival half[TF_MAX_RANK];
    memcpy(half, range, sizeof *range * (size_t)op->n_dims);
    half[split].len = first;
    run_part(b, o, half, bank);
    half[split] = (tf_ival){half[split].lo + first, range[split].len - first};
    run_part(b, o, half, bank);
    return;
  }
  const npu_term out = out_value(b, op, range, bank[op->n_reads]);
  const npu_term v = run_expr(b, o, range, bank, op->reduce == TF_ASSIGN ? &out : NULL);
  const tf_op *done = executed_op(b, o);
  if (op->reduce != TF_ASSIGN)
    npu_vector_add(b, o, sums[op->reduce].op, range, op->n_dims, &out, &v);
  else if (done->expr[done->n_expr - 1].what != TF_X_CALL)
    npu_vector_add(b, o, NPU_MOV, range, op->n_dims, &out, &v);
}

int npu_vector_calls(const npu_build *b, int o) {
  const tf_op *done = executed_op(b, o);
  int calls = b->p->wl->ops[o].reduce != TF_ASSIGN;
  for (int i = 0; i < done->n_expr; i++)
    calls += done->expr[i].what == TF_X_CALL;
  return calls;
}

void npu_vector_op(npu_build *b, int o, const tf_ival *range, npu_bank *const *bank) {
  const tf_op *op = &b->p->wl->ops[o];
  if (b->p->online && b->p->online->step[o].number) return;
  if (op->reduce != TF_ASSIGN && !npu_goes_on(b, o, range)) {
    const npu_term out = out_value(b, op, range, bank[op->n_reads]), start = number(start_of(b, o));
    npu_vector_add(b, o, NPU_MOV, range, op->n_out_dims, &out, &start);
  }
  run_part(b, o, range, bank);
}
