/* Inference of lengths: the ranges of producers below a scope (bounds inference). */
#include "model/tree/infer.h"
#include "search/space/build.h"

/* Adds one reader's box in rank r: 1 + sum of |coef| * (len - 1). */
static void add_rank(tf_space_build *b, tf_sinfer *s, tf_srank *ranks, int reader,
                     const tf_index *x) {
  tf_sterm *terms = tf_space_array(b, (size_t)x->n_terms, sizeof *terms);
  if (b->bad) return;
  for (int j = 0; j < x->n_terms; j++) {
    int64_t coef = x->terms[j].coef < 0 ? -x->terms[j].coef : x->terms[j].coef;
    terms[j] = (tf_sterm){tf_slot_of(b->f, reader, x->terms[j].dim),
                          coef > INT32_MAX / 2 ? INT32_MAX / 2 : (int32_t)coef};
  }
  ranks[s->n_ranks++] = (tf_srank){x->n_terms, terms, s->clip, 0};
}

static void by_readers(tf_space_build *b, tf_sinfer *s, int scope, int o, int rank) {
  const tf_workload *wl = b->f->wl;
  const tf_tensor *z = &wl->tensors[wl->ops[o].out];
  size_t n = 0;
  for (int i = 0; i < z->n_consumers; i++)
    n += (size_t)wl->ops[z->consumers[i]].n_reads;
  tf_srank *ranks = tf_space_array(b, n, sizeof *ranks);
  if (b->bad) return;
  s->ranks = ranks;
  for (int i = 0; i < z->n_consumers; i++) {
    int c = z->consumers[i];
    if (!tf_op_below(b->f, c, scope)) continue;
    for (int r = 0; r < wl->ops[c].n_reads && !b->bad; r++)
      if (wl->ops[c].reads[r].tensor == wl->ops[o].out)
        add_rank(b, s, ranks, c, &wl->ops[c].reads[r].index[rank]);
  }
}

/* The slot whose length a reduced dim of op o (its i-th) takes, if it is streamed; -1: the dim is
 * whole. */
static int leader_slot(const tf_facts *f, int scope, int o, int i) {
  int dim = f->wl->ops[o].dims[i];
  const tf_range_from from = tf_range_source(f, o, dim, scope);
  if (from.rule != TF_BY_LEADER) return -1;
  int slot = tf_slot_of(f, from.source, dim);
  return slot >= 0 ? slot : f->dim_from[o] + i;
}

static void infer_op(tf_space_build *b, int scope, int o, tf_sinfer *list, int *n) {
  const tf_op *op = &b->f->wl->ops[o];
  for (int i = 0; i < op->n_dims; i++) {
    tf_sinfer *s = &list[(*n)++];
    *s = (tf_sinfer){.slot = b->f->dim_from[o] + i,
                     .copy = -1,
                     .clip = (int32_t)b->f->wl->dims[op->dims[i]].extent};
    if (i < op->n_out_dims)
      by_readers(b, s, scope, o, i);
    else
      s->copy = leader_slot(b->f, scope, o, i);
  }
}

void tf_space_infer(tf_space_build *b, int scope, int i) {
  const tf_facts *f = b->f;
  tf_decision *d = &b->t->decision[i];
  int n = d->n_infer, more = 0;
  for (int k = f->leaf_from[scope]; k < f->leaf_end[scope]; k++)
    more += f->wl->ops[f->leaf_op[k]].n_dims;
  tf_sinfer *list = tf_space_array(b, (size_t)(n + more), sizeof *list);
  if (b->bad) return;
  for (int k = 0; k < n; k++)
    list[k] = d->infer[k];
  for (int k = f->wl->n_ops - 1; k >= 0 && !b->bad; k--) {
    int o = f->wl->topo[k];
    if (!tf_op_below(f, o, scope) || tf_leads(f, o, scope)) continue;
    infer_op(b, scope, o, list, &n);
    b->t->known[o] = i;
  }
  d->infer = list;
  d->n_infer = n;
}
