/* Parts of printed nests: loops, lines, starts of sums, divisors. */
#include <inttypes.h>

#include "codegen/backend/cpu/print/print.h"

static const char *const identities[] = {
    [TF_ASSIGN] = "0.0f",          [TF_REDUCE_ADD] = "0.0f",     [TF_REDUCE_MUL] = "1.0f",
    [TF_REDUCE_MAX] = "-INFINITY", [TF_REDUCE_MIN] = "INFINITY",
};

const char *c_identity(tf_reduce r) { return identities[r]; }
const char *c_start(const ir_stmt *s, tf_reduce r) {
  return s->nest.finite ? "-3.40282347e38f" : identities[r];
}

void c_loop(c_printer *c, const tf_op *op, const ir_stmt *s, int k) { c_loop_by(c, op, s, k, 1); }

void c_loop_by(c_printer *c, const tf_op *op, const ir_stmt *s, int k, int by) {
  const char *dim = c->p->dim_id[op->dims[k]];
  c_indent(c);
  fprintf(c->out, "for (int64_t d_%s = ", dim);
  c_atom(c->out, c->p, s->range[k].lo);
  fprintf(c->out, "; d_%s < ", dim);
  c_atom(c->out, c->p, s->range[k].hi);
  if (by == 1)
    fprintf(c->out, "; d_%s++) {\n", dim);
  else
    fprintf(c->out, "; d_%s += %d) {\n", dim, by);
  c->depth++;
}

void c_close(c_printer *c, int n) {
  while (n-- > 0) {
    c->depth--;
    c_indent(c);
    fputs("}\n", c->out);
  }
}

void c_line(c_printer *c, const char *text) {
  c_indent(c);
  fputs(text, c->out);
}

/* Whether neighbours along dim are neighbours in every operand that moves with it. */
bool c_runs_along(const c_printer *c, const tf_op *op, int dim, bool in_output) {
  if (in_output && (!op->n_out_dims || op->dims[op->n_out_dims - 1] != dim)) return false;
  for (int i = 0; i < op->n_reads; i++) {
    const tf_ref *ref = &op->reads[i];
    int rank = c->wl->tensors[ref->tensor].rank;
    for (int r = 0; r < rank; r++)
      for (int t = 0; t < ref->index[r].n_terms; t++)
        if (ref->index[r].terms[t].dim == dim && (r < rank - 1 || ref->index[r].terms[t].coef != 1))
          return false;
  }
  return true;
}

/* "out = combine(out, value);" */
void c_accumulate(c_printer *c, const tf_op *op, const char *acc, int skip) {
  c_indent(c);
  if (acc)
    fputs(acc, c->out);
  else
    c_element(c, op, -1);
  fputs(" = ", c->out);
  if (op->reduce == TF_ASSIGN) {
    ir_type type = acc ? IR_F32 : c_buffer(c, op, -1)->type;
    c_round(c, type), c_value(c, op, skip), c_rounded(c, type);
  } else {
    bool sign = op->reduce == TF_REDUCE_ADD || op->reduce == TF_REDUCE_MUL;
    if (!sign) /* the value first: if it is NaN, it gives way to what is there */
      fprintf(c->out, "%s(", c_combine(op->reduce)), c_value(c, op, skip), fputs(", ", c->out);
    if (acc)
      fputs(acc, c->out);
    else
      c_element(c, op, -1);
    if (sign)
      fprintf(c->out, " %s ", c_combine(op->reduce)), c_value(c, op, skip);
    else
      fputc(')', c->out);
  }
  fputs(";\n", c->out);
}

void c_is_fresh(c_printer *c, const ir_stmt *s) {
  for (int i = 0; i < s->nest.n_resets; i++) {
    if (i) fputs(" && ", c->out);
    c_atom(c->out, c->p, s->nest.resets[i]);
    fputs(" == 0", c->out);
  }
}

void c_fresh_flag(c_printer *c, const ir_stmt *s) {
  if (!s->nest.n_resets) return;
  c_indent(c);
  fputs("const int fresh = ", c->out);
  if (c->step)
    fputc(c->step == C_STEP_FIRST ? '1' : '0', c->out);
  else if (c->row_at)
    fputs("of->fresh", c->out);
  else
    c_is_fresh(c, s);
  fputs(";\n", c->out);
}

ir_atom c_fresh_of(const tf_op *op, const ir_stmt *s, int k) {
  int i = 0;
  if (s->range[k].lo.var < 0) return s->range[k].lo;
  for (int d = op->n_out_dims; d < k; d++)
    i += s->range[d].lo.var >= 0;
  return s->nest.resets[i];
}

/* The read by which the whole is divided and which the innermost loop does not move; -1: none. */
int c_steady_divisor(const c_printer *c, const tf_op *op, const ir_stmt *s, int dim) {
  const tf_expr *root = &op->expr[op->n_expr - 1];
  if (root->what != TF_X_CALL || root->call != TF_K_DIV || op->expr[root->arg[1]].what != TF_X_READ)
    return -1;
  int ref = op->expr[root->arg[1]].ref;
  if (ref == s->nest.divides) return -1;
  for (int r = 0; r < c->wl->tensors[op->reads[ref].tensor].rank; r++)
    for (int t = 0; t < op->reads[ref].index[r].n_terms; t++)
      if (op->reads[ref].index[r].terms[t].dim == dim) return -1;
  return ref;
}

void c_take_divisor(c_printer *c, const tf_op *op, int divisor, bool vectors) {
  const char *name = c->p->tensor_id[op->out], *type = vectors ? "vec" : "float",
             *open = vectors ? "vec_splat(" : "", *close = vectors ? ")" : "";
  const bool power = c_has_power(c, op, divisor);
  if (power) {
    c_indent(c);
    fprintf(c->out, "const %s power_%s = %spower_for(", type, name, open),
        c_element(c, op, divisor), fprintf(c->out, ")%s;\n", close);
  }
  c_indent(c);
  fprintf(c->out, "const %s inverse_%s = %s1.0f / ", type, name, open);
  if (power)
    fputc('(', c->out), c_element(c, op, divisor), fputs(" * power_for(", c->out),
        c_element(c, op, divisor), fputs("))", c->out);
  else
    c_element(c, op, divisor);
  fprintf(c->out, "%s;\n", close);
}

void c_origin(c_printer *c, const tf_op *op, const ir_stmt *s, int k) {
  c_indent(c);
  fprintf(c->out, "const int64_t d_%s = ", c->p->dim_id[op->dims[k]]);
  c_atom(c->out, c->p, s->range[k].lo);
  fputs(";\n", c->out);
  c_indent(c);
  fprintf(c->out, "(void)d_%s;\n",
          c->p->dim_id[op->dims[k]]); /* an operand that was packed need not test it */
}

void c_length(c_printer *c, const ir_range *r) {
  if (r->exact) {
    fprintf(c->out, "%" PRId64, r->most);
    return;
  }
  c_atom(c->out, c->p, r->hi);
  fputs(" - (", c->out);
  c_atom(c->out, c->p, r->lo);
  fputc(')', c->out);
}

void c_place_of_panel(c_printer *c, const ir_stmt *s, const int64_t *shift) {
  const cpu_product *p = cpu_of(s)->product;
  const tf_op *op = &c->wl->ops[s->op];
  int64_t step = c->p->buffers[p->pack].slots;
  bool any = false;
  for (int k = 0; k < op->n_dims; k++) {
    if (p->pairs.slots_along[k] < 2) continue;
    step /= p->pairs.slots_along[k];
    fprintf(c->out, "%s(d_%s", any ? " + " : "", c_dim_name(c, op, k)), any = true;
    if (shift && shift[k]) fprintf(c->out, " + %" PRId64, shift[k]);
    fprintf(c->out, ") / %" PRId64 " * %" PRId64, cpu_is_matrix(p, k) ? s->range[k].most : 1, step);
  }
}
