/* The extra work of streaming reductions (DECISIONS 11): running maxima and sums are corrected once
 * per run of the scope that streams them, and the division waits for the last run. */
#include "model/cost/state.h"

/* Work on every element of o's running output: points, and a read and an update where it is held. */
static bool correct(struct tf_model *m, int o, bool once, bool in_place) {
  const tf_plan *p = m->plan;
  int64_t words = m->treated[2 * o + once];
  tf_counts *c = &m->res.counts[p->stream[o].above * p->wl->n_tensors + p->wl->ops[o].out];
  bool ok = !__builtin_add_overflow(m->res.ops[o].points, words, &m->res.ops[o].points);
  ok &= !__builtin_add_overflow(m->res.ops[o].recomputed, words, &m->res.ops[o].recomputed);
  if (in_place) {
    ok &= !__builtin_add_overflow(c->read, words, &c->read);
    ok &= !__builtin_add_overflow(c->update, words, &c->update);
  }
  return ok;
}

/* Op o divides by the sum of op z: inside the steps it hands its operand on. */
static void defer_division(struct tf_model *m, int o, int z) {
  const tf_plan *p = m->plan;
  const tf_op *op = &p->wl->ops[o];
  m->res.ops[o].points = m->res.ops[o].recomputed = 0;
  for (int i = 0; i < op->n_reads; i++)
    if (op->reads[i].tensor == p->wl->ops[z].out)
      m->moves[p->op_slice[o] + i] = (tf_move){0, 0, 0, 0};
}

void tf_defer_divisions(struct tf_model *m) {
  for (int o = 0; o < m->plan->wl->n_ops; o++)
    if (m->plan->divides[o] >= 0)
      defer_division(m, o, m->plan->divides[o]);
}

static bool reads_output(const tf_op *op, int z) {
  for (int i = 0; i < op->n_reads; i++)
    if (op->reads[i].tensor == z)
      return true;
  return false;
}

/* The divisions that op o put off: one per element of each sum that reads what it makes. */
static bool divide_late(struct tf_model *m, int o) {
  const tf_plan *p = m->plan;
  int z = p->divides[o];
  int64_t words = m->treated[2 * z + 1];
  for (int q = 0; q < p->wl->n_ops; q++)
    if (p->stream_scope[q] >= 0 && reads_output(&p->wl->ops[q], p->wl->ops[o].out) &&
        !correct(m, q, true, true))
      return false;
  tf_counts *c = &m->res.counts[p->stream[z].above * p->wl->n_tensors + p->wl->ops[z].out];
  return !__builtin_add_overflow(c->read, words, &c->read);
}

bool tf_count_stream(struct tf_model *m) {
  const tf_plan *p = m->plan;
  for (int o = 0; o < p->wl->n_ops; o++) {
    if (p->stream_scope[o] >= 0 &&
        !correct(m, o, false, p->wl->ops[o].reduce == TF_REDUCE_ADD))
      return false;
    if (p->divides[o] >= 0 && !divide_late(m, o))
      return false;
  }
  return true;
}
