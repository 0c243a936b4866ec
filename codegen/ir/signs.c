/* What can be derived about the values of an expression before it is evaluated. */
#include "codegen/ir/ir.h"
#include "model/input/dims.h"

/* Whether `top` reads the maximum over the row that `of` reads an element of. */
static bool is_most_of(const tf_workload *wl, const tf_ref *top, const tf_ref *of) {
  const tf_tensor *x = &wl->tensors[top->tensor], *z = &wl->tensors[of->tensor];
  const tf_op *maker = x->producer < 0 ? NULL : &wl->ops[x->producer];
  if (!maker || maker->reduce != TF_REDUCE_MAX || maker->n_expr != 1 ||
      maker->expr[0].what != TF_X_READ)
    return false;
  bool same = maker->reads[0].tensor == of->tensor;
  for (int r = 0; same && r < x->rank; r++)
    same = tf_index_is_dim(&top->index[r], maker->dims[r]);
  for (int r = 0; same && r < z->rank; r++)
    same = tf_index_same(&maker->reads[0].index[r], &of->index[r]) && !z->pad[r];
  return same;
}

bool ir_is_low(const tf_workload *wl, const tf_op *op, int i) {
  const tf_expr *e = &op->expr[i];
  if (e->what == TF_X_READ) {
    const int maker = wl->tensors[op->reads[e->ref].tensor].producer;
    const tf_op *from = maker < 0 ? NULL : &wl->ops[maker];
    return from && from->reduce == TF_ASSIGN && from->expr[from->n_expr - 1].what == TF_X_CALL &&
           ir_is_low(wl, from, from->n_expr - 1);
  }
  if (e->what != TF_X_CALL || e->call != TF_K_SUB) return false;
  const tf_expr *a = &op->expr[e->arg[0]], *b = &op->expr[e->arg[1]];
  return a->what == TF_X_READ && b->what == TF_X_READ &&
         is_most_of(wl, &op->reads[b->ref], &op->reads[a->ref]);
}

static bool has_dim(const int *dims, int n, int dim) {
  bool any = false;
  for (int i = 0; i < n; i++)
    any |= dims[i] == dim;
  return any;
}

/* The op that computes what ref reads, if it reads the element at the same point; NULL: another
 * element, or an input. */
static const tf_op *made_there(const tf_workload *wl, const tf_ref *ref) {
  const tf_tensor *z = &wl->tensors[ref->tensor];
  const tf_op *maker = z->producer < 0 ? NULL : &wl->ops[z->producer];
  for (int r = 0; maker && r < z->rank; r++)
    if (!tf_index_is_dim(&ref->index[r], maker->dims[r])) maker = NULL;
  return maker;
}

/* The read of the row maximum, where op is the exponential of an element minus that maximum; NULL:
 * otherwise. */
static const tf_ref *top_of(const tf_workload *wl, const tf_op *op) {
  const tf_expr *root = op->n_expr ? &op->expr[op->n_expr - 1] : NULL;
  if (!root || op->reduce != TF_ASSIGN || root->what != TF_X_CALL || root->call != TF_K_EXP ||
      !ir_is_low(wl, op, root->arg[0]))
    return NULL;
  const tf_expr *difference = &op->expr[root->arg[0]];
  if (difference->what == TF_X_READ) {
    op = made_there(wl, &op->reads[difference->ref]);
    difference = op ? &op->expr[op->n_expr - 1] : NULL;
  }
  const bool plain =
      difference && difference->what == TF_X_CALL &&
      difference->call == TF_K_SUB; /* otherwise the difference is computed by an op before */
  return plain ? &op->reads[op->expr[difference->arg[1]].ref] : NULL;
}

bool ir_is_share_sum(const tf_workload *wl, int z) {
  const tf_op *sum = wl->tensors[z].producer < 0 ? NULL : &wl->ops[wl->tensors[z].producer];
  if (!sum || sum->reduce != TF_REDUCE_ADD || sum->n_expr != 1 || sum->expr[0].what != TF_X_READ)
    return false;
  const tf_op *terms = made_there(wl, &sum->reads[0]);
  const tf_ref *top = terms ? top_of(wl, terms) : NULL;
  for (int k = 0; top && k < terms->n_out_dims;
       k++) { /* the sum is over the same dims as the maximum */
    bool kept = false;
    for (int r = 0; r < wl->tensors[top->tensor].rank; r++)
      kept |= tf_index_is_dim(&top->index[r], terms->dims[k]);
    if (kept != has_dim(sum->dims, sum->n_out_dims, terms->dims[k])) top = NULL;
  }
  return top != NULL;
}
