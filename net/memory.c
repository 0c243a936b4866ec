/* Placement of the tensors between groups; independent groups. */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/locale.h"
#include "codegen/ir/ir.h"
#include "net/net.h"

enum { ALIGN = 64 };

typedef struct {
  tf_arena *a;
  const tf_net_plan *plan;
  const tf_workload *wl;
  int bytes_each, n;
  net_block *block;
  int *tensor;   /* [n] tensor of each block */
  int *group_of; /* [n_ops] group of each op */
} laying;

/* Bytes of the tensor, rounded up; false if they exceed 2^62. */
static bool size_of(const laying *l, const tf_tensor *z, int64_t *size) {
  int64_t n = 1;
  for (int r = 0; r < z->rank; r++)
    if (!tf_mul(n, z->extent[r], &n)) return false;
  const int each =
      l->bytes_each == 1 ? ir_bytes(ir_type_held(l->wl, (int)(z - l->wl->tensors))) : l->bytes_each;
  if (!tf_mul(n, each ? 8 * each : z->word_bits, &n) || n > INT64_MAX / 2) return false;
  *size = ((n + 7) / 8 + ALIGN - 1) / ALIGN * ALIGN;
  return true;
}

/* Adds the tensor's live range, from the group that produces it to the last that reads it; if no
 * other group reads it there is none. */
static bool add_block(laying *l, int z) {
  const tf_tensor *t = &l->wl->tensors[z];
  if (t->producer < 0 || t->view_of) return true;
  net_block b = {.from = l->group_of[t->producer], .to = l->group_of[t->producer]};
  for (int k = 0; k < t->n_consumers; k++)
    if (l->group_of[t->consumers[k]] > b.to) b.to = l->group_of[t->consumers[k]];
  if (b.to == b.from) return true;
  if (!size_of(l, t, &b.size)) return false;
  l->tensor[l->n] = z;
  l->block[l->n++] = b;
  return true;
}

static bool sums_fit(const laying *l) {
  int64_t sum = 0;
  for (int i = 0; i < l->n; i++)
    if (!tf_add(sum, l->block[i].size, &sum)) return false;
  return true;
}

static bool lay(laying *l, tf_net_memory *out, tf_diags *d) {
  const size_t n = (size_t)l->wl->n_tensors;
  l->block = TF_ARRAY(l->a, net_block, n);
  l->tensor = TF_ARRAY(l->a, int, n);
  l->group_of = TF_ARRAY(l->a, int, (size_t)l->wl->n_ops);
  int64_t *offset = TF_ARRAY(l->a, int64_t, n);
  out->offset = calloc(n, sizeof *out->offset);
  if (!l->block || !l->tensor || !l->group_of || !offset || !out->offset)
    return tf_out_of_memory(d);
  for (int i = 0; i < l->plan->n; i++)
    for (int o = 0; o < l->plan->groups[i].group->workload->n_ops; o++)
      l->group_of[l->plan->groups[i].group->op[o]] = i;
  bool fits = true;
  for (int z = 0; z < l->wl->n_tensors; z++) {
    out->offset[z] = -1;
    fits = fits && add_block(l, z);
  }
  if (!fits || !sums_fit(l))
    return tf_fail(d, l->wl->at, TF_E_OVERFLOW,
                   "what passes between groups is past 2^63 - 1 bytes");
  if (!net_place(l->a, l->block, l->n, offset, &out->bytes)) return tf_out_of_memory(d);
  out->least = net_most_alive(l->block, l->n);
  for (int i = 0; i < l->n; i++)
    out->offset[l->tensor[i]] = offset[i];
  for (int z = 0; z < l->wl->n_tensors; z++)
    if (l->wl->tensors[z].view_of) out->offset[z] = out->offset[l->wl->tensors[z].view_of - 1];
  return true;
}

bool tf_net_memory_of(const tf_net_plan *p, const tf_workload *wl, int bytes_each,
                      tf_net_memory *out, tf_diags *d) {
  TF_IN_C_LOCALE;
  laying l = {.a = tf_arena_new(), .plan = p, .wl = wl, .bytes_each = bytes_each};
  *out = (tf_net_memory){0};
  const bool ok = l.a ? lay(&l, out, d) : tf_out_of_memory(d);
  tf_arena_free(l.a);
  if (!ok) tf_net_memory_free(out);
  return ok;
}

void tf_net_memory_free(tf_net_memory *m) {
  if (!m) return;
  free(m->offset);
  *m = (tf_net_memory){0};
}

/* ---- the order of groups -------------------------------------------------------------------- */
typedef struct {
  const tf_workload *wl;
  const net_cuts *c;
  int *group_of;    /* [n_ops] group of each op */
  int *place;       /* [groups] where it stands in an order */
  net_block *block; /* [n_tensors] */
} ordering;

/* The largest sum of live blocks, in bits, if it is below 2^63. */
static int64_t most_of(ordering *x, const int *order) {
  int n = 0;
  for (int i = 0; i < x->c->n; i++)
    x->place[order[i]] = i;
  for (int z = 0; z < x->wl->n_tensors; z++) {
    const tf_tensor *t = &x->wl->tensors[z];
    if (t->producer < 0 || t->view_of) continue;
    net_block b = {.from = x->place[x->group_of[t->producer]]};
    for (int k = 0; k < t->n_consumers; k++)
      if (x->place[x->group_of[t->consumers[k]]] > b.to)
        b.to = x->place[x->group_of[t->consumers[k]]];
    if (b.to <= b.from || !tf_mul(tf_tensor_words(t), t->word_bits, &b.size)) continue;
    if (b.size > INT64_MAX / (x->wl->n_tensors + 1)) return INT64_MAX;
    x->block[n++] = b;
  }
  return net_most_alive(x->block, n);
}

static bool may_run(const ordering *x, const bool *done, int g) {
  for (int i = x->c->first[g]; i < x->c->first[g + 1]; i++) {
    const tf_op *op = &x->wl->ops[x->c->op[i]];
    for (int k = 0; k < op->n_reads; k++) {
      const int maker = x->wl->tensors[op->reads[k].tensor].producer;
      if (maker >= 0 && x->group_of[maker] != g && !done[x->group_of[maker]]) return false;
    }
  }
  return true;
}

/* Repeatedly picks, of the groups that may run, the one whose first op comes first in the
 * workload. */
static void order_by_ops(ordering *x, bool *done, int *order) {
  int n = 0, from = 0; /* all before that op have run */
  for (int i = from; n < x->c->n; i++) {
    const int g = x->group_of[x->wl->topo[i]];
    if (done[g] || !may_run(x, done, g)) continue;
    done[g] = true;
    order[n++] = g;
    while (from < x->wl->n_ops && done[x->group_of[x->wl->topo[from]]])
      from++;
    i = from - 1;
  }
}

static bool put_groups(tf_arena *a, net_cuts *c, const int *order, int n_ops) {
  net_cuts to = {.n = c->n, .cost = c->cost, .window = c->window, .exact = c->exact};
  to.first = TF_ARRAY(a, int, (size_t)c->n + 1);
  to.op = TF_ARRAY(a, int, (size_t)n_ops);
  to.id = TF_ARRAY(a, int, (size_t)c->n);
  if (!to.first || !to.op || !to.id) return false;
  for (int i = 0, at = 0; i < c->n; i++) {
    const int g = order[i], n = c->first[g + 1] - c->first[g];
    memcpy(to.op + at, c->op + c->first[g], (size_t)n * sizeof *to.op);
    to.id[i] = c->id[g];
    to.first[i + 1] = at += n;
  }
  *c = to;
  return true;
}

bool net_order(tf_arena *a, const tf_workload *wl, net_cuts *c) {
  const size_t n = (size_t)c->n;
  if (c->first[c->n] > wl->n_ops) return true; /* ops made again: as they were found */
  ordering x = {.wl = wl,
                .c = c,
                .group_of = TF_ARRAY(a, int, (size_t)wl->n_ops),
                .place = TF_ARRAY(a, int, n),
                .block = TF_ARRAY(a, net_block, (size_t)wl->n_tensors)};
  bool *done = TF_ARRAY(a, bool, n);
  int *found = TF_ARRAY(a, int, n), *order = TF_ARRAY(a, int, n);
  if (!x.group_of || !x.place || !x.block || !done || !found || !order) return false;
  for (int g = 0; g < c->n; g++) {
    found[g] = g;
    for (int i = c->first[g]; i < c->first[g + 1]; i++)
      x.group_of[c->op[i]] = g;
  }
  order_by_ops(&x, done, order);
  return most_of(&x, order) >= most_of(&x, found) || put_groups(a, c, order, wl->n_ops);
}

/* ---- groups that may run concurrently ------------------------------------------------------- */
/* Bytes of the arena or, of an argument of the network, the whole tensor. */
typedef struct {
  int64_t from, to;
  int argument; /* number of the tensor; -1: in the arena */
  bool written;
} touched;

/* The accesses of all groups: group i's from first[i] on. */
typedef struct {
  touched *touches;
  int *first;
  const bool *scratch;
} touching;

static void touch(touching *w, const tf_net_plan *p, const tf_workload *wl, const net_sharing *s,
                  int i) {
  const tf_group *g = p->groups[i].group;
  int n = w->first[i];
  for (int t = 0; t < g->workload->n_tensors; t++) {
    const tf_tensor *inside = &g->workload->tensors[t];
    const int z = g->tensor[t], whole = wl->tensors[z].view_of ? wl->tensors[z].view_of - 1 : z;
    const bool made = inside->producer >= 0;
    const int64_t at = s->memory->offset[z];
    if (made && inside->n_consumers > 0) continue; /* it stays in the group */
    w->touches[n++] =
        at < 0 ? (touched){0, 1, whole, made}
               : (touched){at, at + tf_tensor_words(&wl->tensors[whole]) * s->bytes_each, -1, made};
  }
  w->first[i + 1] = n;
}

static bool collide(const touching *w, int i, int j) {
  if (w->scratch[i] && w->scratch[j]) return true;
  for (const touched *x = &w->touches[w->first[i]]; x < &w->touches[w->first[i + 1]]; x++)
    for (const touched *y = &w->touches[w->first[j]]; y < &w->touches[w->first[j + 1]]; y++)
      if ((x->written || y->written) && x->argument == y->argument && x->from < y->to &&
          y->from < x->to)
        return true;
  return false;
}

/* The branch that continues with group i: that of the last group on which it depends, or a branch
 * whose last group is done by then; a new one; the first. */
static int branch_for(const net_branches *b, int i, const bool *behind, const int *last) {
  int own = -1, idle = -1;
  for (int l = 0; l < b->n; l++) {
    if (behind[last[l]] && (own < 0 || last[l] > last[own])) own = l;
    for (int j = i - 1; j >= 0 && idle < 0; j--)
      if (behind[j] && b->done[(size_t)j * (size_t)b->groups + (size_t)last[l]]) idle = l;
  }
  if (own >= 0) return own;
  if (idle >= 0) return idle;
  return b->n < NET_MOST_BRANCHES ? b->n : 0;
}

bool net_branches_of(tf_arena *a, const tf_net_plan *p, const tf_workload *wl, const net_sharing *s,
                     net_branches *b) {
  const size_t n = (size_t)p->n;
  int last[NET_MOST_BRANCHES] = {0};
  *b = (net_branches){.groups = p->n, .branch = TF_ARRAY(a, int, n)};
  b->done = TF_ARRAY(a, bool, n *n);
  b->waits = TF_ARRAY(a, bool, n *n);
  bool *behind = TF_ARRAY(a, bool, n);
  size_t most = 0;
  for (int i = 0; i < p->n; i++)
    most += (size_t)p->groups[i].group->workload->n_tensors;
  touching w = {.touches = TF_ARRAY(a, touched, most),
                .first = TF_ARRAY(a, int, n + 1),
                .scratch = s->scratch};
  if (!b->branch || !b->done || !b->waits || !behind || !w.touches || !w.first) return false;
  for (int i = 0; i < p->n; i++) {
    touch(&w, p, wl, s, i);
    bool *done = b->done + (size_t)i * n, *waits = b->waits + (size_t)i * n;
    for (int j = 0; j < i; j++)
      behind[j] = collide(&w, i, j);
    const int l = b->branch[i] = branch_for(b, i, behind, last);
    if (l < b->n) {
      memcpy(done, b->done + (size_t)last[l] * n, n * sizeof *done);
      done[last[l]] = true;
    }
    for (int j = i - 1; j >= 0; j--) {
      if (!behind[j] || done[j]) continue;
      waits[j] = done[j] = true;
      for (size_t k = 0; k < n; k++)
        done[k] |= b->done[(size_t)j * n + k];
    }
    if (l == b->n) b->n++;
    last[l] = i;
  }
  return true;
}
