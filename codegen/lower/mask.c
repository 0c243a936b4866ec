/* Skips what a mask leaves nothing of (model/input/masked.h): T = select(l <= q + c, .., -inf)
 * below a softmax, or T = .. + Mask[q,l], of which a run finds out where it is -inf.
 *
 * There, the outputs of the group's ops are not needed.  With whole rows, elements from the block's
 * last q + c + 1 on (behind the last that is not -inf) are not computed: all ops of the group end
 * there, in the scope above them, for its range of q; each reads only what another has computed.
 * With streamed rows, a block of l that no q of the block sees is skipped with all that is computed
 * for it; running values start at the first block that is not skipped (by data, the first is
 * never). */
#include "codegen/lower/lower.h"
#include "model/input/dims.h"

/* The innermost scope with all ops that the mask makes void below it; -1: there is none. */
static int scope_of(const lowering *w, const tf_mask *m) {
  int found = -1;
  for (int n = 0; n < w->plan->tree->n_nodes; n++) {
    bool all = w->plan->tree->nodes[n].kind == TF_SCOPE;
    for (int k = 0; all && k < w->plan->wl->n_ops; k++)
      all = !m->constant_outside[k] || tf_plan_above(w->plan, n, w->plan->tree->op_node[k]);
    if (all) found = n;
  }
  return found;
}

/* Whether the mask's data can be -inf. */
static bool holds_infinities(const lowering *w, const tf_mask *m) {
  const ir_type type =
      w->p->buffers[w->p->buffer_of[w->plan->facts->wl->ops[m->op].reads[m->mask_read].tensor]]
          .type;
  return type == IR_F32 || type == IR_BF16;
}

/* One by position, if there is any: it costs nothing. */
void lower_mask_find(lowering *w) {
  const tf_workload *wl = w->plan->facts->wl; /* as the model sees it */
  w->mask = (lower_mask){.scope = -1};
  if (!w->target->skips || w->plan->n_retains) return;
  for (int i = 0; i < 2 * wl->n_ops && w->mask.scope < 0; i++) {
    const bool by_data = i >= wl->n_ops;
    const int o = i % wl->n_ops;
    lower_mask m = {.limit = ir_number(0), .first = ir_number(0)};
    if (by_data ? !tf_mask_added(wl, o, w->p->arena, &m.band) || !holds_infinities(w, &m.band)
                : !tf_mask_of(wl, o, w->p->arena, &m.band))
      continue;
    m.scope = scope_of(w, &m.band);
    if (m.scope >= 0) w->mask = m;
  }
}

/* ---- what a block of rows sees -------------------------------------------------------------- */

/* The common range of the dim of all ops that the mask makes void; NULL: they differ. */
static const ir_range *common(lowering *w, int dim) {
  const ir_range *r = NULL;
  for (int o = 0; o < w->plan->wl->n_ops; o++) {
    if (!w->mask.band.constant_outside[o]) continue;
    const ir_range *mine = lower_range(w, o, dim);
    if (r && !lower_same_range(r, mine)) return NULL;
    r = mine;
  }
  return r;
}

static const tf_ref *data_of(const lowering *w) {
  return &w->plan->facts->wl->ops[w->mask.band.op].reads[w->mask.band.mask_read];
}

/* Whether all ops that the mask makes void have one block of rows, and keys *l; *q: of rows, by
 * position. */
static bool block_of(lowering *w, const ir_range **q, const ir_range **l) {
  const tf_mask *m = &w->mask.band;
  *l = common(w, m->l);
  if (!*l || !(*l)->exact) return false;
  if (m->mask_read < 0) return (*q = common(w, m->q)) && (*q)->never_empty;
  const tf_ref *ref = data_of(w);
  bool one = true;
  for (int r = 0; r < w->plan->wl->tensors[ref->tensor].rank - 1; r++) {
    if (ref->index[r].n_terms == 0) continue;
    const ir_range *rows = common(w, ref->index[r].terms[0].dim);
    one &= rows && rows->never_empty;
  }
  return one;
}

/* The end of those keys that a row of the block sees; by data, of those in l. */
static ir_atom end_of(lowering *w, const ir_range *q, const ir_range *l) {
  if (w->mask.band.mask_read < 0) return lower_sum(w, "seen", ir_number(w->mask.band.hi), 1, q->hi);
  const tf_ref *ref = data_of(w);
  const int rank = w->plan->wl->tensors[ref->tensor].rank;
  ir_range *box = TF_ARRAY(w->p->arena, ir_range, (size_t)rank);
  if (lower_failed(w)) return ir_number(0);
  for (int r = 0; r < rank - 1; r++)
    box[r] = lower_index(w, w->mask.band.op, &ref->index[r]);
  box[rank - 1] = *l;
  return lower_seen(w, w->p->buffer_of[ref->tensor], box);
}

/* The first `by` * i, or the extent, from which no row of the block needs anything; at least `by`.
 */
static ir_atom limit_of(lowering *w, const ir_range *q, const ir_range *l, int64_t by) {
  const int64_t extent = w->plan->wl->dims[w->mask.band.l].extent;
  if (w->mask.band.mask_read < 0 ? w->mask.band.hi >= extent : by >= extent)
    return ir_number(extent);
  ir_atom end = lower_sum(w, "seen", ir_number(by - 1), 1, end_of(w, q, l));
  if (w->mask.band.mask_read >= 0 || w->mask.band.hi < 0)
    end = lower_max(w, "seen", end, ir_number(by));
  const ir_atom times = lower_divmod(w, "seen", IR_DIV, end, by);
  return lower_min(w, "seen", ir_number(extent), lower_sum(w, "seen", ir_number(0), by, times));
}

/* The last `by` * i before which no row of the block needs anything; at most the extent less `by`.
 */
static ir_atom first_of(lowering *w, const ir_range *q, int64_t by) {
  const int64_t extent = w->plan->wl->dims[w->mask.band.l].extent;
  if (w->mask.band.lo <= -w->plan->wl->dims[w->mask.band.q].extent) return ir_number(0);
  ir_atom from = lower_sum(w, "hidden", ir_number(w->mask.band.lo), 1, q->lo);
  from = lower_min(w, "hidden", ir_number(extent - by), lower_max(w, "hidden", from, ir_number(0)));
  return lower_sum(w, "hidden", ir_number(0), by, lower_divmod(w, "hidden", IR_DIV, from, by));
}

/* ---- whole rows ----------------------------------------------------------------------------- */

/* The smallest part of a row, at least a quarter, that divides or is divided by every loop over the
 * row below scope n; 0: none. */
static int64_t part_of_row(const lowering *w, int n, int64_t extent, int64_t alike) {
  const tf_plan *p = w->plan;
  for (int64_t part = ((extent + 3) / 4 + alike - 1) / alike * alike; part < extent;
       part += alike) {
    bool all = true;
    for (int l = 0; l < p->n_loops; l++)
      for (int i = 0; i < p->loops[l].n_leader && p->loops[l].dim == w->mask.band.l; i++) {
        const int64_t step = w->run.step[p->loops[l].leaders[i] * p->n_loops + l];
        all &= !tf_plan_above(p, n, p->loops[l].node) || step % part == 0 || part % step == 0;
      }
    if (all) return part;
  }
  return 0;
}

/* The range of what is computed for these ops.  Products want few lengths, known in advance, so it
 * ends at a multiple of a part of the row. */
static ir_range few_lengths(lowering *w, int n, const ir_range *q, const ir_range *l,
                            int64_t alike) {
  const int64_t extent = w->plan->wl->dims[w->mask.band.l].extent;
  const int64_t part = part_of_row(w, n, extent, alike);
  ir_range r = {.lo = ir_number(0),
                .hi = ir_number(extent),
                .most = extent,
                .never_empty = true,
                .exact = part == 0};
  if (part == 0) return r;
  r.hi = limit_of(w, q, l, part);
  for (int64_t length = part; length < extent; length += part)
    lower_add_length(&r, length);
  return r;
}

static void cut_rows(lowering *w, int n, const ir_range *q, const ir_range *l) {
  enum { ALIKE = 64 }; /* rows end at a multiple of it, as no machine's vector is longer */
  const tf_workload *wl = w->plan->wl;
  w->mask.limit = limit_of(w, q, l, ALIKE);
  w->mask.few = few_lengths(w, n, q, l, ALIKE);
  if (w->mask.limit.var < 0) return; /* the block sees whole rows */
  w->mask.inside = true;
  for (int o = 0; o < wl->n_ops; o++)
    if (w->mask.band.constant_outside[o]) lower_mask_end(w, o);
  lower_infer(w, n); /* the ranges of producers */
}

/* ---- streamed rows -------------------------------------------------------------------------- */

/* Whether scope n streams all reductions that the mask makes void; *none: no scope streams any of
 * them. */
static bool streams(const lowering *w, int n, bool *none) {
  bool all = true;
  *none = true;
  for (int o = 0; o < w->plan->wl->n_ops; o++) {
    const tf_op *op = &w->plan->wl->ops[o];
    if (!w->mask.band.constant_outside[o]) continue;
    *none &= w->plan->stream_scope[o] < 0;
    if (tf_out_rank(op, w->mask.band.l) < 0) all &= w->plan->stream_scope[o] == n;
  }
  return all && !*none;
}

/* Whether all ops below scope n are void in a block that the mask leaves nothing of. */
static bool all_void(lowering *w, int n) {
  const tf_workload *wl = w->plan->wl;
  bool *void_of = TF_ARRAY(w->p->arena, bool, (size_t)wl->n_ops + 1), all = true;
  for (int i = wl->n_ops - 1; i >= 0 && !lower_failed(w); i--) {
    const int o = wl->topo[i];
    const tf_tensor *z = &wl->tensors[wl->ops[o].out];
    bool fed = z->n_consumers > 0;
    for (int c = 0; c < z->n_consumers; c++)
      fed &= void_of[z->consumers[c]] &&
             tf_plan_above(w->plan, n, w->plan->tree->op_node[z->consumers[c]]);
    void_of[o] = w->mask.band.constant_outside[o] || fed;
    all &= void_of[o] || !tf_plan_above(w->plan, n, w->plan->tree->op_node[o]);
  }
  return all && !lower_failed(w);
}

static void cut_stream(lowering *w, int n, const ir_range *q, const ir_range *l) {
  const int64_t extent = w->plan->wl->dims[w->mask.band.l].extent;
  if (l->lo.var < 0 || extent % l->most != 0 || !all_void(w, n)) return;
  w->mask.visible = *l;
  w->mask.visible.never_empty = w->mask.visible.exact = false;
  if (w->mask.band.mask_read >= 0) {
    w->mask.visible.hi = lower_max(w, "seen", end_of(w, q, l), ir_number(1));
    w->mask.first = ir_number(0);
  } else {
    const ir_atom first = first_of(w, q, l->most), limit = limit_of(w, q, l, l->most);
    if (first.var < 0 && limit.var < 0) return;
    w->mask.visible.lo = lower_max(w, "seen", l->lo, first);
    w->mask.visible.hi = lower_min(w, "seen", l->hi, limit);
    w->mask.first = first;
  }
  w->mask.streaming = true;
}

lower_mark lower_mask_visit(lowering *w, int n) {
  const lower_mark none = {NULL, 0}, mark = {w->into, w->n_lets};
  ir_stmt *s = w->mask.streaming && n == w->mask.scope ? lower_add(w, IR_IF) : NULL;
  if (!s) return none;
  s->guard.n = 1;
  s->guard.range = TF_NEW(w->p->arena, ir_range);
  if (lower_failed(w)) return none;
  *s->guard.range = w->mask.visible;
  lower_open(w, &s->body);
  return mark;
}

bool lower_mask_streams(const lowering *w, int o, int dim) {
  return w->mask.streaming && w->mask.band.constant_outside[o] && dim == w->mask.band.l;
}

ir_atom lower_mask_fresh(lowering *w, int o, int dim, ir_atom lo) {
  return lower_mask_streams(w, o, dim) ? lower_sum(w, "since", lo, -1, w->mask.first) : lo;
}

/* ---- both kinds ----------------------------------------------------------------------------- */

void lower_mask_open(lowering *w, int n) {
  const ir_range *q = NULL, *l;
  bool none;
  if (n != w->mask.scope || w->mask.band.lo > w->mask.band.hi || !block_of(w, &q, &l)) return;
  const ir_range rows = q ? *q : (ir_range){.never_empty = true},
                 keys = *l; /* before any of them is cut */
  if (streams(w, n, &none))
    cut_stream(w, n, &rows, &keys);
  else if (none && lower_mask_whole(w, l))
    cut_rows(w, n, &rows, &keys);
}

void lower_mask_close(lowering *w, int n) {
  if (n == w->mask.scope) w->mask.inside = w->mask.streaming = false;
}
