/* Steps of a loop over keys that a mask leaves nothing of: warpgroups leave them out. */
#include "codegen/target/cuda/pass/pass.h"

static const tf_op *op_of(const ir_program *p, const ir_stmt *s) { return &p->tree->workload->ops[s->op]; }

/* Whether the rows of the statement's dim q are those of the warps: 16 a warp. */
static bool has_rows(const ir_program *p, const ir_stmt *warps, const ir_stmt *s, int q) {
  const ir_range *rows = &s->range[low_find_dim(op_of(p, s), q)];
  bool has = false;
  for (int i = 0; i < warps->body.n; i++) {
    const ir_stmt *let = warps->body.s[i];
    if (let->kind != IR_LET || let->let.var != rows->lo.var || rows->lo.off != 0) continue;
    const ir_expr *e = &let->let.expr;
    for (int k = 0; e->fn == IR_SUM && k < e->n; k++)
      has |= e->arg[k].var == warps->loop.var && e->coef[k] == CU_FRAGMENT_SIDE;
  }
  return has;
}

const ir_stmt *cu_mask_of(const ir_program *p, const ir_stmt *warps, const ir_stmt *loop, tf_mask *m) {
  if (!tf_mask_find(p->tree->workload, p->arena, m) || m->l != loop->loop.dim) return NULL;
  const ir_stmt *mask = NULL;
  for (int i = 0; i < loop->body.n; i++) {
    const ir_stmt *s = loop->body.s[i];
    if (s->kind == IR_NEST && !m->in[s->op] && !m->vain[s->op]) return NULL;
    if (s->kind == IR_NEST && s->op == m->op) mask = s;
  }
  const bool has = mask && low_find_dim(op_of(p, mask), m->q) >= 0 && low_find_dim(op_of(p, mask), m->l) >= 0;
  return has && has_rows(p, warps, mask, m->q) ? mask : NULL;
}

cu_left cu_steps_left(const ir_program *p, const ir_stmt *warps, const ir_stmt *loop) {
  tf_mask m;
  const ir_stmt *mask = cu_mask_of(p, warps, loop, &m);
  if (!mask) return (cu_left){1, 1, 1};
  const int64_t keys = mask->range[low_find_dim(op_of(p, mask), m.l)].most, q = p->tree->workload->dims[m.q].extent;
  const int64_t each = warps->loop.trip * CU_FRAGMENT_SIDE;
  int64_t left = 0, most = 1, cut = 0, blocks = 0;
  for (int64_t row = 0; row < q; row += each) {
    const int64_t rows = q - row < each ? q - row : each;
    int64_t steps = 0;
    for (int64_t step = 0; step < loop->loop.trip; step++) {
      const int64_t pairs = tf_mask_pairs(&m, row, rows, step * keys, keys);
      steps += pairs != 0;
      cut += pairs != 0 && pairs != rows * keys;
    }
    left += steps ? steps : 1;
    most = steps > most ? steps : most;
    blocks++;
  }
  const double trip = (double)loop->loop.trip;
  return (cu_left){(double)left / (double)blocks / trip, (double)most / trip, (double)cut / (double)left};
}
