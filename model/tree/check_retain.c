/* What a retaining scope leaves unmade must not be missed: of the ops that serve a retained tensor, those whose results
 * others read, too (docs/DECISIONS.md 9, 21). */
#include <string.h>

#include "model/tree/check.h"

typedef struct {
  const tf_checker *c;
  bool *retained; /* [tensor] */
  bool *seen;     /* [op * n_nodes + node] */
} retaining;

static int limit_of(retaining *q, int o, int n);

/* The retained tensor by which the range of op o, which does not lead at node n, shrinks where it is still there; -1:
 * none. */
static int limit_inferred(retaining *q, int o, int n) {
  const tf_facts *f = q->c->f;
  const int out = f->wl->ops[o].out;
  const tf_tensor *z = &f->wl->tensors[out];
  if (q->retained[out] && n == f->home_scope[out]) return out;
  for (int i = 0; i < z->n_consumers; i++) {
    int by = tf_op_below(f, z->consumers[i], n) ? limit_of(q, z->consumers[i], n) : -1;
    if (by >= 0) return by;
  }
  return -1;
}

/* The same of any op; what was found of an op at a node once is not looked for again: it was none. */
static int limit_of(retaining *q, int o, int n) {
  const tf_facts *f = q->c->f;
  bool *seen = &q->seen[o * f->tree->n_nodes + n];
  if (*seen) return -1;
  *seen = true;
  if (!tf_leads(f, o, n)) return limit_inferred(q, o, n);
  int up = f->tree->nodes[f->lead[o]].parent;
  return up < 0 ? -1 : limit_of(q, o, up);
}

static void report(const retaining *q, int o, int reader, int by) {
  const tf_checker *c = q->c;
  tf_fail(
      c->diags, tf_leaf(c, o)->at, TF_E_ORDER,
      "'%.50s' is not made where '%.50s', which is retained, is still there: retain it, too, or let its readers share "
      "one scope",
      tf_tensor_name(c, c->f->wl->ops[o].out), tf_tensor_name(c, by));
  tf_note(c->diags, tf_leaf(c, reader)->at, "op '%.60s' reads it here", tf_op_name(c, reader));
}

/* Readers outside of a nested scope need what op o makes there, whether or not those in the scope do. */
static void check(retaining *q, int o) {
  const tf_facts *f = q->c->f;
  const tf_tensor *z = &f->wl->tensors[f->wl->ops[o].out];
  const int home = f->home_scope[f->wl->ops[o].out];
  if (home < 0 || q->retained[f->wl->ops[o].out]) return;
  for (int n = f->tree->nodes[f->lead[o]].parent; n > home; n = f->tree->nodes[n].parent)
    for (int i = 0; i < z->n_consumers; i++) {
      if (tf_op_below(f, z->consumers[i], n)) continue;
      int by = limit_inferred(q, o, n);
      if (by < 0) continue;
      report(q, o, z->consumers[i], by);
      return;
    }
}

bool tf_check_retained(const tf_checker *c) {
  const tf_facts *f = c->f;
  retaining q = {.c = c, .retained = TF_ARRAY(c->arena, bool, (size_t)f->wl->n_tensors)};
  bool any = false;
  for (int n = 0; q.retained && n < f->tree->n_nodes; n++)
    for (int k = 0; k < f->tree->nodes[n].n_retain; k++)
      any = q.retained[f->tree->nodes[n].retain[k].tensor] = true;
  if (!q.retained || !any) return q.retained != NULL;
  q.seen = TF_ARRAY(c->arena, bool, (size_t)f->wl->n_ops *(size_t)f->tree->n_nodes);
  for (int o = 0; q.seen && o < f->wl->n_ops; o++) {
    memset(q.seen, 0, (size_t)f->wl->n_ops * (size_t)f->tree->n_nodes);
    check(&q, o);
  }
  return q.seen != NULL;
}
