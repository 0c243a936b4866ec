/* Prints the code of a thread at its points. Sums are in registers: loops over short dims of the
 * output are unrolled inside those over reduced dims. */
#include <inttypes.h>
#include <string.h>

#include "codegen/backend/cuda/pass/pass.h"
#include "codegen/backend/cuda/print/cuda.h"

enum { MOST_SUMS = 32, LONGEST = 8 };

/* Positions of the output's dims whose points have a register each; the others have loops. */
typedef struct {
  const ir_stmt *s;
  const tf_op *op;
  int n, dim[2];
} sums;

static bool is_unrolled(const sums *t, int k) {
  bool any = false;
  for (int i = 0; i < t->n; i++)
    any |= t->dim[i] == k;
  return any;
}

static sums sums_of(const c_printer *c, const ir_stmt *s) {
  sums t = {.s = s, .op = &c->wl->ops[s->op]};
  int64_t all = 1;
  for (int k = t.op->n_out_dims - 1; k >= 0 && t.n < 2; k--) {
    const int64_t most = s->range[k].most;
    if (most < 2 || most > LONGEST || all * most > MOST_SUMS) continue;
    all *= most;
    t.dim[t.n++] = k;
  }
  return t;
}

/* Opens the loops over registers; points beyond the end are replaced by the last one, or (checked)
 * skipped. */
static int open_sums(c_printer *c, const sums *t, bool checked) {
  int opened = 0;
  for (int i = t->n - 1; i >= 0; i--, opened++) {
    const ir_range *r = &t->s->range[t->dim[i]];
    const char *dim = c_dim_name(c, t->op, t->dim[i]);
    c_line(c, "#pragma unroll\n");
    c_indent(c);
    fprintf(c->out, "for (int t%d = 0; t%d < %" PRId64 "; t%d++) {\n", i, i, r->most, i);
    c->depth++;
    c_indent(c);
    fprintf(c->out, "const int64_t d_%s = %s", dim, r->exact || checked ? "" : "least(");
    c_atom(c->out, c->p, r->lo);
    fprintf(c->out, " + t%d", i);
    if (!r->exact && !checked)
      fputs(", ", c->out), c_atom(c->out, c->p, r->hi), fputs(" - 1)", c->out);
    fprintf(c->out, ";\n%*s(void)d_%s;\n", 2 * c->depth, "", dim);
    if (r->exact || !checked) continue;
    c_indent(c);
    fprintf(c->out, "if (d_%s >= ", dim), c_atom(c->out, c->p, r->hi),
        fputs(") continue;\n", c->out);
  }
  return opened;
}

/* Opens loops over those of positions from..to that have no registers. */
static int open_loops(c_printer *c, const sums *t, int from, int to) {
  int opened = 0;
  for (int k = from; k < to; k++) {
    if (is_unrolled(t, k)) continue;
    if (k == t->op->n_dims - 1 && t->op->reduce != TF_ASSIGN)
      c_line(c, "#pragma unroll 4\n"); /* not all steps */
    c_loop(c, t->op, t->s, k);
    opened++;
  }
  return opened;
}

static const char *const acc[] = {"sum", "sum[t0]", "sum[t1][t0]"};

/* Combines the current sum with the element in memory. */
static void combine_old(c_printer *c, const tf_op *op) {
  const bool sign = op->reduce == TF_REDUCE_ADD || op->reduce == TF_REDUCE_MUL;
  if (!sign) fprintf(c->out, "%s(", c_combine(op->reduce));
  fputs("sum", c->out), sign ? fprintf(c->out, " %s ", c_combine(op->reduce)) : fputs(", ", c->out),
      c_element(c, op, -1);
  if (!sign) fputc(')', c->out);
}

static void start(c_printer *c, const sums *t) {
  c_indent(c);
  fputs(c->as_int32 ? "int32_t sum" : "float sum", c->out);
  for (int i = t->n - 1; i >= 0; i--)
    fprintf(c->out, "[%" PRId64 "]", t->s->range[t->dim[i]].most);
  fputs(";\n", c->out);
  const int opened = open_sums(c, t, false);
  c_indent(c);
  fprintf(c->out, "%s = %s%s", acc[t->n], t->s->nest.n_resets ? "fresh ? " : "",
          c->as_int32 ? "0" : c_start(t->s, t->op->reduce));
  if (t->s->nest.n_resets) fputs(" : ", c->out), c_element(c, t->op, -1);
  fputs(";\n", c->out);
  c_close(c, opened);
}

/* Opens an `if` for each range over registers that may be empty. Returns how many were opened. */
static int open_some(c_printer *c, const sums *t) {
  int opened = 0;
  for (int i = 0; i < t->n; i++) {
    const ir_range *r = &t->s->range[t->dim[i]];
    if (r->exact) continue;
    c_line(c, "if (");
    c_atom(c->out, c->p, r->lo), fputs(" < ", c->out), c_atom(c->out, c->p, r->hi),
        fputs(") {\n", c->out);
    c->depth++, opened++;
  }
  return opened;
}

/* A loop in steps of `steps` along position k, from where the one before ended. */
static void open_steps(c_printer *c, const sums *t, int k, int steps) {
  const char *dim = c_dim_name(c, t->op, k);
  c_indent(c), fprintf(c->out, "for (; d_%s + %d <= ", dim, steps),
      c_atom(c->out, c->p, t->s->range[k].hi);
  fprintf(c->out, "; d_%s += %d) {\n", dim, steps);
  c->depth++;
}

/* A sum of products of bytes: with the device's dot product (DOT) several elements of position k at
 * a time, then the rest; otherwise one by one. */
static void dots(c_printer *c, const sums *t, int k) {
  static const char none[] = "(char4)(0)";
  const int along = t->op->dims[k];
  int loops = 0;
  for (int d = t->op->n_out_dims; d < t->op->n_dims; d++)
    if (d != k) c_loop(c, t->op, t->s, d), loops++;
  c_line(c, "{\n"), c->depth++;
  c_indent(c), fprintf(c->out, "int64_t d_%s = ", c_dim_name(c, t->op, k));
  c_atom(c->out, c->p, t->s->range[k].lo), fputs(";\n#ifdef DOT\n", c->out);
  open_steps(c, t, k, c->p->machine.whole->k_round);
  const int fours = open_sums(c, t, false);
  c_indent(c), fprintf(c->out, "%s += DOT(", acc[t->n]),
      c_elements(c, t->op, 0, along, "FOUR", none);
  fputs(", ", c->out), c_elements(c, t->op, 1, along, "FOUR", none), fputs(");\n", c->out);
  c_close(c, fours + 1);
  fputs("#endif\n", c->out);
  open_steps(c, t, k, 1);
  const int ones = open_sums(c, t, false);
  c_accumulate(c, t->op, acc[t->n], -1);
  c_close(c, ones + 2 + loops);
}

static void sum(c_printer *c, const ir_stmt *s) {
  const sums t = sums_of(c, s);
  c->as_int32 = c_buffer(c, t.op, -1)->type == IR_I32;
  c_fresh_flag(c, s);
  int opened = open_some(c, &t) + open_loops(c, &t, 0, t.op->n_out_dims);
  start(c, &t);
  const int dot = cu_dot_of(c->p, s);
  if (dot >= 0) {
    dots(c, &t, dot);
  } else {
    const int loops = open_loops(c, &t, t.op->n_out_dims, t.op->n_dims),
              inner = open_sums(c, &t, false);
    c_accumulate(c, t.op, acc[t.n], s->nest.divides);
    c_close(c, inner + loops);
  }
  const int last = open_sums(c, &t, true);
  c_indent(c);
  c_element(c, t.op, -1), fprintf(c->out, " = %s;\n", acc[t.n]);
  c_close(c, last + opened);
  c->as_int32 = false;
}

/* Lanes share the loop over the longest reduced dim: each takes every 32nd step; then their sums
 * are added. */
static void sum_by_lanes(c_printer *c, const ir_stmt *s) {
  const sums t = {.s = s, .op = &c->wl->ops[s->op]};
  const tf_reduce r = t.op->reduce;
  const int longest = cu_longest_sum(c->p, s);
  c_fresh_flag(c, s);
  const int opened = open_loops(c, &t, 0, t.op->n_out_dims);
  c_indent(c), fprintf(c->out, "float sum = %s;\n", c_start(s, r));
  for (int k = t.op->n_out_dims; k < t.op->n_dims; k++) {
    if (k != longest) {
      c_loop(c, t.op, s, k);
      continue;
    }
    const char *dim = c_dim_name(c, t.op, k);
    c_indent(c), fprintf(c->out, "for (int64_t d_%s = LANE + ", dim),
        c_atom(c->out, c->p, s->range[k].lo);
    fprintf(c->out, "; d_%s < ", dim), c_atom(c->out, c->p, s->range[k].hi),
        fprintf(c->out, "; d_%s += 32) {\n", dim);
    c->depth++;
  }
  c_accumulate(c, t.op, "sum", s->nest.divides);
  c_close(c, t.op->n_dims - t.op->n_out_dims);
  for (int lane = CU_LANES / 2; lane; lane /= 2) {
    char other[48];
    snprintf(other, sizeof other, "of_lane(sum, LANE ^ %d)", lane);
    c_line(c, "sum = "), cu_combine(c, r, "sum", other), fputs(";\n", c->out);
  }
  c_line(c, "if (LANE == 0) {\n");
  c->depth++;
  if (s->nest.n_resets) c_line(c, "if (!fresh) sum = "), combine_old(c, t.op), fputs(";\n", c->out);
  c_indent(c), c_element(c, t.op, -1), fputs(" = sum;\n", c->out);
  c_close(c, 1 + opened);
}

static void nest(c_printer *c, const ir_stmt *s) {
  const sums none = {.s = s, .op = &c->wl->ops[s->op]};
  if (none.op->reduce != TF_ASSIGN && c->lanes_share_sums) {
    sum_by_lanes(c, s);
    return;
  }
  if (none.op->reduce != TF_ASSIGN) {
    sum(c, s);
    return;
  }
  const int opened = open_loops(c, &none, 0, none.op->n_out_dims);
  c_accumulate(c, none.op, NULL, s->nest.divides);
  c_close(c, opened);
}

/* Combines the parts of a sum, one after the other. */
static void merge(c_printer *c, const ir_stmt *s, const tf_op *op) {
  const ir_type type = c->p->buffers[s->merge.from].type, to = c->p->buffers[s->merge.to].type;
  const bool sign = op->reduce == TF_REDUCE_ADD || op->reduce == TF_REDUCE_MUL;
  const char *part = c->p->var_name[s->merge.part];
  c_indent(c);
  fprintf(c->out, "%s sum = %s;\n", c_type(type),
          type == IR_I32 ? "0" : c_start(&(ir_stmt){0}, op->reduce));
  if (s->merge.parts > 8) c_line(c, "#pragma unroll 8\n"); /* independent loads */
  c_indent(c);
  fprintf(c->out, "for (int64_t %s = 0; %s < %" PRId64 "; %s++) {\n", part, part, s->merge.parts,
          part);
  c->depth++;
  c_line(c, "sum = ");
  if (sign)
    fprintf(c->out, "sum %s ", c_combine(op->reduce));
  else
    fprintf(c->out, "%s(sum, ", c_combine(op->reduce));
  c_element_of(c, s->merge.from);
  if (s->merge.before >= 0) {
    fputs(" * ", c->out), c_correction(c, "expf", s->merge.rate, s->merge.before, s->merge.after);
  }
  fputs(sign ? ";\n" : ");\n", c->out);
  c_close(c, 1);
  c_indent(c);
  c_element_of(c, s->merge.to), fputs(" = ", c->out), c_round(c, to), fputs("sum", c->out);
  if (s->merge.divisor >= 0) fputs(" / ", c->out), c_element_of(c, s->merge.divisor);
  c_rounded(c, to), fputs(";\n", c->out);
}

static void over(c_printer *c, const ir_stmt *s) {
  const sums none = {.s = s, .op = &c->wl->ops[s->op]};
  if (s->kind == IR_MERGE) {
    const int loops = open_loops(c, &none, 0, none.op->n_out_dims);
    merge(c, s, none.op);
    c_close(c, loops);
    return;
  }
  const int opened = c_open_when(c, s) + open_loops(c, &none, 0, none.op->n_out_dims);
  c_indent(c);
  if (s->kind == IR_SAVE) {
    const ir_type type = c->p->buffers[s->save.to].type;
    c_element_of(c, s->save.to), fputs(" = ", c->out), c_round(c, type);
    c_element_of(c, s->save.from), c_rounded(c, type);
  } else if (s->kind == IR_CORRECT) {
    c_element(c, none.op, -1), fputs(" *= ", c->out);
    c_correction(c, "expf", s->correct.rate, s->correct.before, s->correct.after);
  } else {
    c_element(c, none.op, -1), fputs(" /= ", c->out), c_element_of(c, s->divide.divisor);
  }
  fputs(";\n", c->out);
  c_close(c, opened);
}

void cu_points(c_printer *c, const ir_stmt *s) {
  if (cu_of(s)->fused) return;
  c_line(c, "{ /* ");
  fprintf(c->out, "%s */\n", c->wl->ops[s->op].name);
  c->depth++;
  if (cu_of(s)->window)
    cu_window_points(c, s);
  else if (s->kind == IR_NEST)
    nest(c, s);
  else
    over(c, s);
  c_close(c, 1);
}
