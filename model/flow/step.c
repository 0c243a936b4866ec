#include "model/flow/step.h"

#include <math.h>

#include "model/input/kinds.h"

/* Part i of the expression: a constant (else NAN), or the same as an earlier part (else i). */
typedef struct {
  double number;
  int same;
  bool needed;
} part;

static bool is(const part *p, double number) { return p->number == number; }

static void fold_call(const tf_expr *e, part *all, part *at) {
  double arg[3] = {0, 0, 0};
  bool numbers = true;
  for (int k = 0; k < e->n_args; k++) {
    arg[k] = all[e->arg[k]].number;
    numbers &= !isnan(arg[k]);
  }
  if (numbers) {
    at->number = tf_kind_apply(e->call, arg);
    return;
  }
  const bool product = e->call == TF_K_MUL, by_one = product || e->call == TF_K_DIV;
  if (by_one && is(&all[e->arg[1]], 1)) at->same = all[e->arg[0]].same;
  if (product && is(&all[e->arg[0]], 1)) at->same = all[e->arg[1]].same;
}

/* Folds the parts, the root last; marks those that remain. */
static void fold(const tf_op *op, const double *value, part *all) {
  for (int i = 0; i < op->n_expr; i++) {
    const tf_expr *e = &op->expr[i];
    all[i] = (part){NAN, i, false};
    if (e->what == TF_X_NUMBER) all[i].number = e->number;
    if (e->what == TF_X_READ) all[i].number = value[e->ref];
    if (e->what == TF_X_CALL) fold_call(e, all, &all[i]);
  }
  all[all[op->n_expr - 1].same].needed = true;
  for (int i = op->n_expr - 1; i >= 0; i--)
    for (int k = 0; all[i].needed && isnan(all[i].number) && k < op->expr[i].n_args; k++)
      all[all[op->expr[i].arg[k]].same].needed = true;
}

/* Copies the remaining parts of the expression, and their reads. */
static void take_parts(const tf_op *op, const part *all, int *at, tf_op *to, tf_op_step *step) {
  for (int i = 0; i < op->n_reads; i++)
    step->read[i] = -1;
  for (int i = 0; i < op->n_expr; i++) {
    if (!all[i].needed) continue;
    tf_expr e = op->expr[i];
    if (!isnan(all[i].number)) e = (tf_expr){.what = TF_X_NUMBER, .number = all[i].number};
    for (int k = 0; k < e.n_args; k++)
      e.arg[k] = at[all[e.arg[k]].same];
    if (e.what == TF_X_READ) {
      if (step->read[e.ref] < 0)
        to->reads[to->n_reads] = op->reads[e.ref], step->read[e.ref] = to->n_reads++;
      e.ref = step->read[e.ref];
    }
    at[i] = to->n_expr;
    to->expr[to->n_expr++] = e;
  }
}

bool tf_op_step_of(tf_arena *a, const tf_op *op, const double *value, tf_op_step *step) {
  bool any = false;
  *step = (tf_op_step){.op = op};
  for (int i = 0; i < op->n_reads; i++)
    any |= !isnan(value[i]);
  if (!any) return true;
  tf_op *to = TF_NEW(a, tf_op);
  part *all = TF_ARRAY(a, part, (size_t)op->n_expr + 1);
  int *at = TF_ARRAY(a, int, (size_t)op->n_expr + 1);
  step->read = TF_ARRAY(a, int, (size_t)op->n_reads + 1);
  if (!to || !all || !at || !step->read) return false;
  *to = *op;
  to->n_reads = to->n_expr = 0;
  to->reads = TF_ARRAY(a, tf_ref, (size_t)op->n_reads + 1);
  to->expr = TF_ARRAY(a, tf_expr, (size_t)op->n_expr + 1);
  if (!to->reads || !to->expr) return false;
  fold(op, value, all);
  take_parts(op, all, at, to, step);
  step->op = to;
  const int root = (int)to->expr[to->n_expr - 1].what;
  step->number = op->reduce == TF_ASSIGN && root == TF_X_NUMBER;
  step->hands_on = step->number || (op->reduce == TF_ASSIGN && root == TF_X_READ);
  return true;
}
