/* Sums, maxima and minima along a row of the values of an expression (squares, products, narrow
 * types), as vectors: four accumulators, so that none waits for the one before. */
#include <inttypes.h>

#include "codegen/backend/cpu/print/print.h"
#include "codegen/intrin/math.h"

enum { SUMS = 4 };

static const char *combine(tf_reduce r) {
  return r == TF_REDUCE_ADD ? "vec_add" : r == TF_REDUCE_MAX ? "vec_max" : "vec_min";
}

/* Whether all operations of a sum, maximum or minimum exist for vectors. */
static bool has_vector_code(const tf_op *op) {
  bool can =
      op->reduce == TF_REDUCE_ADD || op->reduce == TF_REDUCE_MAX || op->reduce == TF_REDUCE_MIN;
  for (int i = 0; can && i < op->n_expr; i++)
    can = op->expr[i].what == TF_X_NUMBER || op->expr[i].what == TF_X_READ ||
          tf_micro_vector_name((int)op->expr[i].call);
  return can && op->n_dims > op->n_out_dims && op->n_reads < 64;
}

bool c_is_value_sum(const c_printer *c, const ir_stmt *s) {
  const tf_op *op = &c->wl->ops[s->op];
  if (tf_micro_lanes(c->micro) < 2 || !has_vector_code(op) || s->nest.divides >= 0 ||
      c_buffer(c, op, -1)->type != IR_F32)
    return false;
  const int dim = op->dims[op->n_dims - 1];
  bool can = c_runs_along(c, op, dim, false) && c_steady_divisor(c, op, s, dim) < 0, any = false;
  for (int i = 0; can && i < op->n_reads; i++) {
    const ir_buffer *b = c_buffer(c, op, i);
    const tf_tensor *z = &c->wl->tensors[op->reads[i].tensor];
    can = (b->type == IR_F32 || b->type == IR_BF16) && !b->block.length;
    for (int r = 0; r < z->rank; r++)
      can &= z->pad[r] == 0;
    any |= c_moves_with(c, &op->reads[i], dim);
  }
  return can && any;
}

/* all_<at> accumulates the current vector. */
static void print_combine(c_printer *c, const ir_stmt *s, int at, bool part) {
  const tf_op *op = &c->wl->ops[s->op];
  c_indent(c);
  fprintf(c->out, "all_%d = %s(%s", at, combine(op->reduce), part ? "vec_keep(" : "");
  c_rows_value(c, s, op->dims[op->n_dims - 1], part);
  if (part) fprintf(c->out, ", vec_splat(%s), rest)", c_identity(op->reduce));
  fprintf(c->out, ", all_%d);\n", at); /* second: a NaN gives way to it */
}

/* Combines the four accumulators. */
static void reduce(c_printer *c, tf_reduce r) {
  fprintf(c->out, "%s(%s(%s(all_0, all_1), %s(all_2, all_3)))",
          r == TF_REDUCE_ADD   ? "vec_sum"
          : r == TF_REDUCE_MAX ? "vec_most"
                               : "vec_least",
          combine(r), combine(r), combine(r));
}

/* Whether a row, or several, may be longer than a run of float32 sums in each lane. */
static bool exceeds_run(const c_printer *c, const ir_stmt *s) {
  const tf_op *op = &c->wl->ops[s->op];
  int64_t n = 1;
  for (int k = op->n_out_dims; k < op->n_dims && n <= INT32_MAX; k++)
    n *= s->range[k].most;
  return op->reduce == TF_REDUCE_ADD && n > (int64_t)SUMS * TF_MICRO_RUN * tf_micro_lanes(c->micro);
}

/* After every run the sums are added to doubles. */
static void flush_run(c_printer *c) {
  c_line(c, "if (++run == ");
  fprintf(c->out, "%d) {\n", TF_MICRO_RUN);
  c->depth++;
  c_line(c, "total += "), reduce(c, TF_REDUCE_ADD), fputs(";\n", c->out);
  c_line(c, "all_0 = all_1 = all_2 = all_3 = vec_zero();\n");
  c_line(c, "run = 0;\n");
  c_close(c, 1);
}

static void loops(c_printer *c, const ir_stmt *s, const char *dim, ir_atom hi) {
  c_indent(c);
  fprintf(c->out, "while (d_%s + %d * LANES <= ", dim, SUMS), c_atom(c->out, c->p, hi),
      fputs(") {\n", c->out);
  c->depth++;
  if (exceeds_run(c, s)) flush_run(c);
  for (int i = 0; i < SUMS; i++) {
    print_combine(c, s, i, false);
    c_indent(c);
    fprintf(c->out, "d_%s += LANES;\n", dim);
  }
  c_close(c, 1);
  c_indent(c);
  fprintf(c->out, "for (; d_%s + LANES <= ", dim), c_atom(c->out, c->p, hi),
      fprintf(c->out, "; d_%s += LANES) {\n", dim);
  c->depth++;
  print_combine(c, s, 0, false);
  c_close(c, 1);
  c_indent(c);
  fprintf(c->out, "if (d_%s < ", dim), c_atom(c->out, c->p, hi), fputs(") {\n", c->out);
  c->depth++;
  c_line(c, "const int rest = (int)("), c_atom(c->out, c->p, hi),
      fprintf(c->out, " - d_%s);\n", dim);
  print_combine(c, s, 0, true);
  c_close(c, 1);
}

void c_value_sum(c_printer *c, const ir_stmt *s, int open) {
  const tf_op *op = &c->wl->ops[s->op];
  const int last = op->n_dims - 1;
  const char *dim = c_dim_name(c, op, last);
  for (int k = open; k < op->n_out_dims; k++)
    c_loop(c, op, s, k);
  c_line(c, "{\n");
  c->depth++;
  for (int i = 0; i < SUMS; i++) {
    c_indent(c);
    fprintf(c->out, "vec all_%d = vec_splat(%s);\n", i, c_identity(op->reduce));
  }
  const bool runs = exceeds_run(c, s);
  if (runs) c_line(c, "double total = 0;\n"), c_line(c, "int run = 0;\n");
  for (int k = op->n_out_dims; k < last; k++) /* sums over several rows */
    c_loop(c, op, s, k);
  c_line(c, "{\n");
  c->depth++;
  c_hoist_steady(c, op, s, op->dims[last], true);
  c_indent(c);
  fprintf(c->out, "int64_t d_%s = ", dim), c_atom(c->out, c->p, s->range[last].lo),
      fputs(";\n", c->out);
  loops(c, s, dim, s->range[last].hi);
  c_close(c, last - op->n_out_dims + 1);
  c_line(c, runs ? "const float all = (float)(total + " : "const float all = ");
  reduce(c, op->reduce), fputs(runs ? ");\n" : ";\n", c->out);
  c_store_sum(c, op, s);
  c_close(c, op->n_out_dims - open + 1);
}
