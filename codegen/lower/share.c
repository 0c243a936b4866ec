/* In-place maps: a map whose operand has no later reader writes over it. */
#include "codegen/lower/lower.h"

/* The nests of one body in order; nests that run fused have the same `step`. */
typedef struct {
  int n;
  struct {
    const ir_stmt *nest;
    int step, common; /* dims over which the nests of its step are fused; 0: it is alone */
  } nests[64];
} order;

static bool list(const ir_body *body, order *l) {
  l->n = 0;
  for (int i = 0; i < body->n; i++) {
    const ir_stmt *s = body->s[i];
    const bool together = s->kind == IR_TOGETHER;
    for (int k = 0; k < (together ? s->body.n : s->kind == IR_NEST); k++) {
      if (l->n == (int)(sizeof l->nests / sizeof *l->nests)) return false;
      l->nests[l->n].nest = together ? s->body.s[k] : s;
      l->nests[l->n].step = i;
      l->nests[l->n++].common = together ? s->together.n_common : 0;
    }
  }
  return true;
}

/* The position of op o in the list; -1: not in it. */
static int place_in_order(const order *l, int o) {
  for (int i = 0; i < l->n; i++)
    if (l->nests[i].nest->op == o) return i;
  return -1;
}

/* Whether op reads z at the point itself in the first n ranks, in each of its reads. */
static bool at_point(const tf_op *op, int z, int n) {
  for (int i = 0; i < op->n_reads; i++)
    for (int r = 0; op->reads[i].tensor == z && r < n; r++) {
      const tf_index *ix = &op->reads[i].index[r];
      if (r >= op->n_out_dims || ix->n_terms != 1 || ix->c != 0 || ix->terms[0].coef != 1 ||
          ix->terms[0].dim != op->dims[r])
        return false;
    }
  return true;
}

static bool same_box(const ir_buffer *a, const ir_buffer *b) {
  bool same = a->role == IR_BOX && b->role == IR_BOX && a->rank == b->rank && a->type == b->type &&
              a->space == b->space;
  for (int r = 0; same && r < a->rank; r++)
    same = a->extent[r] == b->extent[r] && ir_same(a->base[r], b->base[r]);
  return same;
}

/* Whether streams save, correct or divide by the buffer. */
static bool streams(const ir_body *body, int buffer) {
  bool any = false;
  for (int i = 0; i < body->n; i++) {
    const ir_stmt *s = body->s[i];
    if (ir_facts_of(s)->body) any |= streams(&s->body, buffer);
    if (ir_facts_of(s)->points) any |= ir_names(s, buffer);
  }
  return any;
}

/* Whether all readers of z but the map at m have read it before the map writes. */
static bool read_before(const lowering *w, const order *l, int z, int m) {
  const tf_tensor *t = &w->plan->wl->tensors[z];
  for (int i = 0; i < t->n_consumers; i++) {
    int c = place_in_order(l, t->consumers[i]);
    const tf_op *op = &w->plan->wl->ops[t->consumers[i]];
    if (c == m) continue;
    if (c < 0 || c > m) return false;
    if (l->nests[c].step == l->nests[m].step &&
        !at_point(op, z, op->reduce == TF_ASSIGN ? t->rank : l->nests[m].common))
      return false;
  }
  return true;
}

static bool read_after(const lowering *w, const order *l, int z, int m) {
  const tf_tensor *t = &w->plan->wl->tensors[z];
  for (int i = 0; i < t->n_consumers; i++)
    if (place_in_order(l, t->consumers[i]) <= m) return false;
  return t->n_consumers > 0;
}

/* Whether the map at m may write over z, which it reads. */
static bool may_take(const lowering *w, const order *l, int z, int m) {
  const tf_workload *wl = w->plan->wl;
  const tf_op *map = &wl->ops[l->nests[m].nest->op];
  const int from = w->p->buffer_of[z], to = w->p->buffer_of[map->out],
            maker = wl->tensors[z].producer;
  if (maker < 0 || from < 0 || to < 0 || w->plan->home_scope[z] != w->plan->home_scope[map->out])
    return false;
  if (!same_box(&w->p->buffers[from], &w->p->buffers[to]) || w->p->buffers[to].shares >= 0)
    return false;
  int made = place_in_order(l, maker);
  if (made < 0 || made >= m || !at_point(map, z, wl->tensors[z].rank)) return false;
  if (streams(&w->p->body, from) || streams(&w->p->body, to)) return false;
  return read_before(w, l, z, m) && read_after(w, l, map->out, m);
}

static int root(const ir_program *p, int buffer) {
  while (p->buffers[buffer].shares >= 0)
    buffer = p->buffers[buffer].shares;
  return buffer;
}

static void share_in(lowering *w, const ir_body *body) {
  order l;
  for (int i = 0; i < body->n; i++)
    if (body->s[i]->kind == IR_FOR || body->s[i]->kind == IR_IF) share_in(w, &body->s[i]->body);
  if (!list(body, &l)) return;
  for (int m = 0; m < l.n; m++) {
    const tf_op *map = &w->plan->wl->ops[l.nests[m].nest->op];
    for (int i = 0; map->reduce == TF_ASSIGN && i < map->n_reads; i++)
      if (may_take(w, &l, map->reads[i].tensor, m))
        w->p->buffers[w->p->buffer_of[map->out]].shares =
            root(w->p, w->p->buffer_of[map->reads[i].tensor]);
  }
}

void lower_share(lowering *w) { share_in(w, &w->p->body); }
