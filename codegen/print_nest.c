/* Nests point by point: the innermost loop is one that compilers turn into vectors. */
#include <inttypes.h>

#include "codegen/print_c.h"

static const char *const identity[] = {
  [TF_ASSIGN] = "0.0f", [TF_REDUCE_ADD] = "0.0f", [TF_REDUCE_MUL] = "1.0f", [TF_REDUCE_MAX] = "-INFINITY",
  [TF_REDUCE_MIN] = "INFINITY",
};

void c_loop(c_printer *c, const tf_op *op, const ir_stmt *s, int k) {
  const char *dim = c->wl->dims[op->dims[k]].name;
  c_indent(c);
  fprintf(c->out, "for (int64_t d_%s = ", dim);
  c_atom(c->out, c->p, s->range[k].lo);
  fprintf(c->out, "; d_%s < ", dim);
  c_atom(c->out, c->p, s->range[k].hi);
  fprintf(c->out, "; d_%s++) {\n", dim);
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
static bool runs_along(const c_printer *c, const tf_op *op, int dim, bool in_output) {
  if (in_output && (!op->n_out_dims || op->dims[op->n_out_dims - 1] != dim)) return false;
  for (int i = 0; i < op->n_reads; i++) {
    const tf_ref *ref = &op->reads[i];
    int rank = c->wl->tensors[ref->tensor].rank;
    for (int r = 0; r < rank; r++)
      for (int t = 0; t < ref->index[r].n_terms; t++)
        if (ref->index[r].terms[t].dim == dim && (r < rank - 1 || ref->index[r].terms[t].coef != 1)) return false;
  }
  return true;
}

/* "out = combine(out, value);" */
static void accumulate(c_printer *c, const tf_op *op, const char *acc, int skip) {
  c_indent(c);
  if (acc) fputs(acc, c->out); else c_element(c, op, -1);
  fputs(" = ", c->out);
  if (op->reduce == TF_ASSIGN) {
    ir_type type = acc ? IR_F32 : c_buffer(c, op, -1)->type;
    c_round(c, type), c_value(c, op, skip), c_rounded(c, type);
  } else {
    bool sign = op->reduce == TF_REDUCE_ADD || op->reduce == TF_REDUCE_MUL;
    if (!sign) fprintf(c->out, "%s(", c_combine(op->reduce, true));
    if (acc) fputs(acc, c->out); else c_element(c, op, -1);
    fprintf(c->out, sign ? " %s " : ", ", c_combine(op->reduce, true));
    c_value(c, op, skip);
    if (!sign) fputc(')', c->out);
  }
  fputs(";\n", c->out);
}

static void fresh_flag(c_printer *c, const ir_stmt *s) {
  if (!s->n_fresh) return;
  c_indent(c);
  fputs("const int fresh = ", c->out);
  for (int i = 0; i < s->n_fresh; i++) {
    if (i) fputs(" && ", c->out);
    c_atom(c->out, c->p, s->fresh[i]);
    fputs(" == 0", c->out);
  }
  fputs(";\n", c->out);
}

/* The read by which the whole is divided and which the innermost loop does not move; -1: none. */
static int steady_divisor(const c_printer *c, const tf_op *op, const ir_stmt *s, int dim) {
  const tf_expr *root = &op->expr[op->n_expr - 1];
  if (root->what != TF_X_CALL || root->call != TF_K_DIV || op->expr[root->arg[1]].what != TF_X_READ) return -1;
  int ref = op->expr[root->arg[1]].ref;
  if (ref == s->divides) return -1;
  for (int r = 0; r < c->wl->tensors[op->reads[ref].tensor].rank; r++)
    for (int t = 0; t < op->reads[ref].index[r].n_terms; t++)
      if (op->reads[ref].index[r].terms[t].dim == dim) return -1;
  return ref;
}

/* All of the output dims, then one vector of elements at a time along the last of them. */
static void along_output(c_printer *c, const tf_op *op, const ir_stmt *s, int open) {
  int last = op->n_out_dims - 1, opened = 0;
  for (int k = open; k < last; k++, opened++)
    c_loop(c, op, s, k);
  if (op->reduce != TF_ASSIGN) {
    if (s->n_fresh) {
      c_line(c, "if (fresh) {\n");
      c->depth++;
    }
    c_loop(c, op, s, last);
    c_indent(c);
    c_element(c, op, -1);
    fprintf(c->out, " = %s;\n", identity[op->reduce]);
    c_close(c, 1 + (s->n_fresh > 0));
  }
  for (int k = last + 1; k < op->n_dims; k++, opened++)
    c_loop(c, op, s, k);
  int divisor = steady_divisor(c, op, s, op->dims[last]);
  if (divisor >= 0) {
    c_line(c, "{\n");
    c->depth++, opened++;
    c_indent(c);
    fprintf(c->out, "const float inverse_%s = 1.0f / ", c->wl->tensors[op->out].name);
    c_element(c, op, divisor), fputs(";\n", c->out);
  }
  c->inverse = divisor, c->inverse_of = op;
  c_line(c, "#pragma omp simd\n");
  c_loop(c, op, s, last);
  accumulate(c, op, NULL, s->divides);
  c->inverse = -1;
  c_close(c, opened + 1);
}

/* Each element of the output in a scalar, point by point. */
static void into_scalar(c_printer *c, const tf_op *op, const ir_stmt *s, int open) {
  int opened = 0, reduced = 0;
  for (int k = open; k < op->n_out_dims; k++, opened++)
    c_loop(c, op, s, k);
  c_indent(c);
  fprintf(c->out, "%s sum = %s%s", c_type(c_buffer(c, op, -1)->type), s->n_fresh ? "fresh ? " : "", identity[op->reduce]);
  if (s->n_fresh) fputs(" : ", c->out), c_element(c, op, -1);
  fputs(";\n", c->out);
  for (int k = op->n_out_dims; k < op->n_dims; k++, reduced++)
    c_loop(c, op, s, k);
  accumulate(c, op, "sum", s->divides);
  c_close(c, reduced);
  c_indent(c);
  c_element(c, op, -1);
  fputs(" = sum;\n", c->out);
  c_close(c, opened);
}

static int reduced_neighbours(const c_printer *c, const tf_op *op) {
  for (int k = op->n_dims - 1; k >= op->n_out_dims; k--)
    if (runs_along(c, op, op->dims[k], false)) return k;
  return -1;
}

/* ---- rows ------------------------------------------------------------------------------------------------- */

/* Whether the op sums neighbours as they are: row_sum and its like do that. */
static bool is_row_sum(const c_printer *c, const tf_op *op) {
  bool known = op->reduce == TF_REDUCE_ADD || op->reduce == TF_REDUCE_MAX || op->reduce == TF_REDUCE_MIN;
  if (!known || op->n_dims != op->n_out_dims + 1 || op->n_expr != 1 || op->expr[0].what != TF_X_READ) return false;
  const tf_tensor *z = &c->wl->tensors[op->reads[0].tensor];
  for (int r = 0; r < z->rank; r++)
    if (z->pad[r]) return false;
  return z->rank > 0 && c_buffer(c, op, 0)->type == IR_F32 && runs_along(c, op, op->dims[op->n_out_dims], false);
}

static void row_sum(c_printer *c, const tf_op *op, const ir_stmt *s, int open) {
  static const char *const name[] = {[TF_REDUCE_ADD] = "sum", [TF_REDUCE_MAX] = "max", [TF_REDUCE_MIN] = "min"};
  const char *dim = c->wl->dims[op->dims[op->n_out_dims]].name;
  const ir_range *r = &s->range[op->n_out_dims];
  for (int k = open; k < op->n_out_dims; k++)
    c_loop(c, op, s, k);
  c_indent(c);
  fprintf(c->out, "const int64_t d_%s = ", dim), c_atom(c->out, c->p, r->lo), fputs(";\n", c->out);
  c_indent(c);
  fprintf(c->out, "const float all = row_%s(&", name[op->reduce]), c_place(c, op, 0), fputs(", ", c->out);
  c_atom(c->out, c->p, r->hi), fprintf(c->out, " - d_%s);\n", dim);
  c_indent(c);
  c_element(c, op, -1), fputs(" = ", c->out);
  if (s->n_fresh) fputs("fresh ? all : ", c->out);
  bool sign = op->reduce == TF_REDUCE_ADD;
  if (s->n_fresh) {
    if (!sign) fprintf(c->out, "%s(", c_combine(op->reduce, true));
    c_element(c, op, -1);
    fputs(sign ? " + all" : ", all)", c->out);
  } else {
    fputs("all", c->out);
  }
  fputs(";\n", c->out);
  c_close(c, op->n_out_dims - open);
}

/* Whether the nest is a map over a row of neighbours, its first `open` dims being set. */
static bool is_row_map(const c_printer *c, const ir_stmt *s, int open) {
  const tf_op *op = &c->wl->ops[s->op];
  return op->reduce == TF_ASSIGN && op->n_out_dims == open + 1 && runs_along(c, op, op->dims[open], true);
}

/* Whether map s can stand in the loop of the maps from first to last - 1: what they make it reads at the very element. */
static bool joins_row(const c_printer *c, ir_stmt *const *all, int first, int last, const ir_stmt *s, int open) {
  const tf_op *op = &c->wl->ops[s->op];
  const ir_range *a = &all[first]->range[open], *b = &s->range[open];
  if (!is_row_map(c, s, open) || op->dims[open] != c->wl->ops[all[first]->op].dims[open] || !ir_same(a->lo, b->lo) ||
      !ir_same(a->hi, b->hi))
    return false;
  for (int i = first; i < last; i++)
    for (int k = 0; k < op->n_reads; k++) {
      const tf_index *ix = &op->reads[k].index[open];
      if (op->reads[k].tensor == c->wl->ops[all[i]->op].out &&
          (ix->n_terms != 1 || ix->c != 0 || ix->terms[0].coef != 1 || ix->terms[0].dim != op->dims[open]))
        return false;
    }
  return true;
}

/* Whether only ops among those from first to last - 1 read what the map makes: then it needs no memory. */
static bool stays_in_row(const c_printer *c, ir_stmt *const *all, int first, int last, const tf_op *map) {
  const tf_tensor *z = &c->wl->tensors[map->out];
  if (c_buffer(c, map, -1)->kept) return false;
  for (int i = 0; i < z->n_consumers; i++) {
    bool inside = false;
    for (int k = first; k < last; k++)
      inside |= all[k]->op == z->consumers[i];
    if (!inside) return false;
  }
  return z->n_consumers > 0;
}

static bool moves_with(const c_printer *c, const tf_ref *ref, int dim) {
  for (int r = 0; r < c->wl->tensors[ref->tensor].rank; r++)
    for (int t = 0; t < ref->index[r].n_terms; t++)
      if (ref->index[r].terms[t].dim == dim) return true;
  return false;
}

/* Reads that the row does not move, but the divisor: taken before the loop, where no store can come between. */
static uint64_t steady_reads(const c_printer *c, const tf_op *op, const ir_stmt *s, int dim) {
  uint64_t all = 0;
  int divisor = steady_divisor(c, op, s, dim);
  for (int i = 0; i < op->n_reads && i < 64; i++)
    if (i != divisor && i != s->divides && !moves_with(c, &op->reads[i], dim)) all |= UINT64_C(1) << i;
  return all;
}

static void take_steady(c_printer *c, const tf_op *op, const ir_stmt *s, int dim) {
  const char *name = c->wl->tensors[op->out].name;
  int divisor = steady_divisor(c, op, s, dim);
  uint64_t steady = steady_reads(c, op, s, dim);
  for (int i = 0; i < op->n_reads && i < 64; i++) {
    if (i != divisor && !(steady >> i & 1)) continue;
    c_indent(c);
    if (i == divisor)
      fprintf(c->out, "const float inverse_%s = 1.0f / ", name);
    else
      fprintf(c->out, "const float s_%s_%d = ", name, i);
    c_element(c, op, i), fputs(";\n", c->out);
  }
}

static void row_maps(c_printer *c, ir_stmt *const *all, int first, int last, int open) {
  c_line(c, "{ /*");
  for (int i = first; i < last; i++)
    fprintf(c->out, " %s", c->wl->ops[all[i]->op].name);
  fputs(" */\n", c->out);
  c->depth++;
  for (int i = first; i < last; i++) {
    const tf_op *op = &c->wl->ops[all[i]->op];
    take_steady(c, op, all[i], op->dims[open]);
  }
  c_line(c, "#pragma omp simd\n");
  c_loop(c, &c->wl->ops[all[first]->op], all[first], open);
  for (int i = first; i < last; i++) {
    const tf_op *op = &c->wl->ops[all[i]->op];
    char where[80];
    snprintf(where, sizeof where, "const float v_%.60s", c->wl->tensors[op->out].name);
    bool local = stays_in_row(c, all, first, last, op);
    c->inverse = steady_divisor(c, op, all[i], op->dims[open]), c->inverse_of = op;
    c->steady = steady_reads(c, op, all[i], op->dims[open]), c->steady_of = op;
    accumulate(c, op, local ? where : NULL, all[i]->divides);
    c->inverse = -1, c->steady = 0;
    if (local) c->in_row |= UINT64_C(1) << (op->out % 64);
  }
  c->in_row = 0;
  c_close(c, 2);
}

void c_nest(c_printer *c, const ir_stmt *s, int open) {
  const tf_op *op = &c->wl->ops[s->op];
  int last = op->n_out_dims - 1;
  bool sum = op->reduce != TF_ASSIGN;
  c_line(c, "{ /* ");
  fprintf(c->out, "%s */\n", op->name);
  c->depth++;
  if (sum) fresh_flag(c, s);
  c->whole = sum && c_buffer(c, op, -1)->type == IR_I32;
  if (sum && is_row_sum(c, op)) {
    row_sum(c, op, s, open);
    c_close(c, 1);
    return;
  }
  bool wide = last >= open && (runs_along(c, op, op->dims[last], true) || reduced_neighbours(c, op) < 0);
  if (sum ? wide : last >= open)
    along_output(c, op, s, open);
  else if (!sum)
    accumulate(c, op, NULL, s->divides);
  else
    into_scalar(c, op, s, open);
  c->whole = false;
  c_close(c, 1);
}

void c_together(c_printer *c, const ir_stmt *s) {
  const ir_stmt *head = s->body.s[0];
  for (int k = 0; k < s->n_common; k++)
    c_loop(c, &c->wl->ops[head->op], head, k);
  for (int i = 0; i < s->body.n;) {
    int to = i + 1;
    if (!is_row_map(c, s->body.s[i], s->n_common)) {
      c_nest(c, s->body.s[i], s->n_common);
    } else {
      while (to < s->body.n && joins_row(c, s->body.s, i, to, s->body.s[to], s->n_common))
        to++;
      row_maps(c, s->body.s, i, to, s->n_common);
    }
    i = to;
  }
  c_close(c, s->n_common);
}

/* ---- streams ------------------------------------------------------------------------------------------ */

void c_over(c_printer *c, const ir_stmt *s) {
  const tf_op *op = &c->wl->ops[s->op];
  int opened = 0;
  if (s->kind != IR_SAVE && (s->kind != IR_DIVIDE || s->last.var >= 0)) {
    c_indent(c);
    fputs("if (", c->out);
    c_atom(c->out, c->p, s->kind == IR_CORRECT ? s->fresh[0] : s->last);
    if (s->kind == IR_CORRECT)
      fputs(" != 0) { /* the maximum may have risen */\n", c->out);
    else
      fprintf(c->out, " == %" PRId64 ") { /* the last step */\n", s->last_at);
    c->depth++, opened++;
  }
  for (int k = 0; k < op->n_out_dims; k++, opened++) {
    if (k == op->n_out_dims - 1) c_line(c, "#pragma omp simd\n");
    c_loop(c, op, s, k);
  }
  c_indent(c);
  if (s->kind == IR_SAVE) {
    c_element_of(c, s->other), fputs(" = ", c->out);
    c_round(c, c->p->buffers[s->other].type), c_element_of(c, s->buffer), c_rounded(c, c->p->buffers[s->other].type);
  } else {
    c_element(c, op, -1);
    fputs(s->kind == IR_CORRECT ? " *= fast_exp(" : " /= ", c->out);
    if (s->kind == IR_CORRECT) c_element_of(c, s->other), fputs(" - ", c->out);
    c_element_of(c, s->buffer);
    if (s->kind == IR_CORRECT) fputc(')', c->out);
  }
  fputs(";\n", c->out);
  c_close(c, opened);
}
