/* The extra work of streaming reductions (online softmax; SEMANTICS D11): running maxima and sums
 * are corrected once per run of the scope that streams them, and the division is deferred to the
 * last run. */
#include <string.h>

#include "model/cost/state.h"
#include "model/flow/online.h"
#include "model/input/dims.h"

/* The unit that corrects: the first that lists the kind and is at or below every Tile above the
 * scope; else the op's own. */
static int unit_for(const tf_plan *p, int o, tf_kind kind) {
  const tf_tree *t = p->tree;
  int deepest = 0;
  for (int n = p->stream_scope[o]; n >= 0; n = t->nodes[n].parent)
    if (t->nodes[n].kind == TF_TILE && t->nodes[n].level > deepest) deepest = t->nodes[n].level;
  for (int u = 0; u < p->arch->n_units; u++)
    if (p->arch->units[u].kinds >> kind & 1 && p->arch->units[u].below >= deepest) return u;
  return p->unit[o];
}

/* How many units correct: as many as the op below the scope that uses the most; if none does, one
 * per instance of the scope. */
static int64_t units_for(const struct tf_model *m, int scope, int unit) {
  int64_t most = 0;
  for (int q = 0; q < m->plan->wl->n_ops; q++)
    if (m->plan->unit[q] == unit && tf_plan_above(m->plan, scope, m->plan->tree->op_node[q]) &&
        m->res.ops[q].units > most)
      most = m->res.ops[q].units;
  return most ? most : m->width[scope] > 1 ? m->width[scope] : 1;
}

/* Counts work of one kind on every element of o's running output: points, and a read and an update
 * where it is held. */
static bool correct(struct tf_model *m, int o, tf_kind kind, bool once, bool in_place) {
  const tf_plan *p = m->plan;
  int64_t words = m->rescaled[2 * o + once];
  tf_counts *c = &m->res.counts[p->stream[o].above * p->wl->n_tensors + p->wl->ops[o].out];
  int unit = unit_for(p, o, kind);
  tf_correction *k = &m->corrections[2 * o + once];
  *k = (tf_correction){k->points + words, units_for(m, p->stream_scope[o], unit), unit};
  m->res.ops[o].corrections += words;
  bool ok = m->res.ops[o].corrections >= words;
  if (in_place) {
    ok &= !__builtin_add_overflow(c->read, words, &c->read);
    ok &= !__builtin_add_overflow(c->update, words, &c->update);
  }
  return ok;
}

static void drop(struct tf_model *m, int i) {
  m->moves[i] = (tf_move){0, 0, 0, 0};
  m->flows[i] = (tf_flow){0, 0, 0, 0};
  for (int k = 0; m->each && k < m->each->n; k++)
    m->each->flows[k * m->plan->n_slices + i] = (tf_flow){0, 0, 0, 0};
}

/* Replaces op o by its step: reads that are folded are not counted, and copying takes no points. */
static void put_off(struct tf_model *m, int o) {
  const tf_plan *p = m->plan;
  const tf_op *op = &p->wl->ops[o];
  const tf_op_step *step = &p->online->step[o];
  tf_op_result *res = &m->res.ops[o];
  if (step->hands_on) res->points = res->recomputed = res->skipped = 0;
  for (int i = 0; i < op->n_reads && step->read; i++)
    if (step->read[i] < 0) drop(m, p->op_slice[o] + i);
  if (step->number) drop(m, p->op_slice[o] + op->n_reads);
}

void tf_put_off(struct tf_model *m) {
  for (int o = 0; o < m->plan->wl->n_ops && m->plan->online; o++)
    put_off(m, o);
}

/* Divides the sum of op o by that of op z at the end: once per element, for which both are read. */
static bool divide_late(struct tf_model *m, int o, int z) {
  const tf_plan *p = m->plan;
  tf_counts *c = &m->res.counts[p->stream[z].above * p->wl->n_tensors + p->wl->ops[z].out];
  return correct(m, o, TF_K_DIV, true, true) &&
         !__builtin_add_overflow(c->read, m->rescaled[2 * z + 1], &c->read);
}

bool tf_count_stream(struct tf_model *m) {
  const tf_plan *p = m->plan;
  memset(m->corrections, 0, 2 * (size_t)p->wl->n_ops * sizeof *m->corrections);
  for (int o = 0; o < p->wl->n_ops && p->online; o++) {
    const bool sum = p->wl->ops[o].reduce == TF_REDUCE_ADD;
    const int z = p->online->divided_by[o];
    if (p->stream_scope[o] >= 0 && !correct(m, o, sum ? TF_K_MUL : TF_K_EXP, false, sum))
      return false;
    if (z >= 0 && !divide_late(m, o, z)) return false;
  }
  return true;
}

/* Adds words of op o's output, read and updated (or only read), at the memory that holds it at the
 * scope.  If its m-tiles are below the scope, they share the words equally. */
static void add_accesses(struct tf_model *m, int o, double words, bool update) {
  const tf_plan *p = m->plan;
  int level = p->stream[o].above;
  if (m->open && m->open->node[p->stream_scope[o]]) return;
  const int pass = tf_pass_of(m->views, p->stream_scope[o], level);
  double w = words * m->views->ratio[level * p->wl->n_tensors + p->wl->ops[o].out];
  if (m->views->server[p->n_slices + o] < 0 && m->in_use[pass] > 1) w /= (double)m->in_use[pass];
  m->below[pass].read += w;
  m->below[pass].write += update ? w : 0;
}

void tf_stream_ports(struct tf_model *m) {
  const tf_plan *p = m->plan;
  for (int o = 0; o < p->wl->n_ops && p->online; o++) {
    const int z = p->online->divided_by[o];
    if (p->stream_scope[o] >= 0 && p->wl->ops[o].reduce == TF_REDUCE_ADD)
      add_accesses(m, o, m->rescaled_flow[2 * o] + (z >= 0 ? m->rescaled_flow[2 * o + 1] : 0),
                   true);
    if (z >= 0) add_accesses(m, z, m->rescaled_flow[2 * z + 1], false);
  }
}
