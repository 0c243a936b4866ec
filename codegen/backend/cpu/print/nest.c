/* Nests that are evaluated point by point: the innermost loop is one that compilers vectorise. */
#include <inttypes.h>

#include "codegen/backend/cpu/note/transposition.h"
#include "codegen/backend/cpu/note/window.h"
#include "codegen/backend/cpu/print/print.h"

/* A map, element by element along one of its dims; tests of padding that do not depend on that dim
 * are hoisted. */
static void map_rows(c_printer *c, const tf_op *op, const ir_stmt *s, int open) {
  const int row = cpu_map_row(c->wl, s, open, tf_micro_lanes(c->micro));
  for (int k = open; k < op->n_dims; k++)
    if (k != row) c_loop(c, op, s, k);
  c_row_maps(c, &s, 1, row);
  c_close(c, op->n_dims - open - 1);
}

/* Loops over all dims of the output outside of the reduction, with one vector of elements along the
 * last of them. */
static void along_output(c_printer *c, const tf_op *op, const ir_stmt *s, int open) {
  int last = op->n_out_dims - 1, opened = 0;
  if (op->reduce == TF_ASSIGN && !c_is_vector_row(c, s, last)) {
    map_rows(c, op, s, open);
    return;
  }
  for (int k = open; k < last; k++, opened++)
    c_loop(c, op, s, k);
  if (op->reduce != TF_ASSIGN) {
    if (s->nest.n_resets) {
      c_line(c, "if (fresh) {\n");
      c->depth++;
    }
    c_loop(c, op, s, last);
    c_indent(c);
    c_element(c, op, -1);
    fprintf(c->out, " = %s;\n", c_start(s, op->reduce));
    c_close(c, 1 + (s->nest.n_resets > 0));
  }
  for (int k = last + 1; k < op->n_dims; k++, opened++)
    c_loop(c, op, s, k);
  if (c_is_vector_row(c, s, last))
    c_row_vectors(c, &s, 1, last);
  else
    c_row_maps(c, &s, 1, last);
  c_close(c, opened);
}

/* Squares of words through registers. */
static bool transposition(c_printer *c, const tf_op *op, const ir_stmt *s, int open) {
  cpu_transposition t;
  if (!cpu_transposes_words(c->p, op, &t) || t.row < open || t.word < open ||
      s->range[t.row].most < CPU_LEAST_ROW)
    return false;
  const char *row = c_dim_name(c, op, t.row), *word = c_dim_name(c, op, t.word);
  if (t.by_line) c_loop_by(c, op, s, t.word, CPU_LINE_WORDS);
  for (int k = open; k < op->n_dims; k++)
    if (k != t.row && k != t.word) c_loop(c, op, s, k);
  c_indent(c), fprintf(c->out, "const int64_t d_%s = ", row);
  c_atom(c->out, c->p, s->range[t.row].lo);
  if (!t.by_line) fprintf(c->out, ", d_%s = ", word), c_atom(c->out, c->p, s->range[t.word].lo);
  fputs(";\n", c->out);
  c_line(c, t.by_line ? "transpose_tile((const char *)&" : "transpose_words(&");
  c_place(c, op, 0), fputs(", 4 * (", c->out), c_step(c, op, 0, op->dims[t.row]);
  fputs(t.by_line ? "), (char *)&" : "), &", c->out), c_place(c, op, -1);
  fputs(", 4 * (", c->out), c_step(c, op, -1, op->dims[t.word]);
  fputs("), ", c->out), c_atom(c->out, c->p, s->range[t.row].hi);
  fprintf(c->out, " - d_%s, %s", row, t.by_line ? "least(TILE_WORDS, " : "");
  c_atom(c->out, c->p, s->range[t.word].hi);
  fprintf(c->out, " - d_%s%s);\n", word, t.by_line ? ")" : "");
  c_close(c, op->n_dims - open - (t.by_line ? 1 : 2));
  return true;
}

/* Each element of the output in a scalar, point by point. */
static void into_scalar(c_printer *c, const tf_op *op, const ir_stmt *s, int open) {
  int opened = 0, reduced = 0;
  for (int k = open; k < op->n_out_dims; k++, opened++)
    c_loop(c, op, s, k);
  c_indent(c);
  const ir_type type = c_buffer(c, op, -1)->type;
  const bool wide = type == IR_F32 && op->reduce == TF_REDUCE_ADD; /* for any length, and as fast */
  fprintf(c->out, "%s sum = %s%s", wide ? "double" : c_type(type),
          s->nest.n_resets ? "fresh ? " : "", wide ? "0.0" : c_start(s, op->reduce));
  if (s->nest.n_resets) fputs(" : ", c->out), c_element(c, op, -1);
  fputs(";\n", c->out);
  for (int k = op->n_out_dims; k < op->n_dims; k++, reduced++)
    c_loop(c, op, s, k);
  c_accumulate(c, op, "sum", s->nest.divides);
  c_close(c, reduced);
  c_indent(c);
  c_element(c, op, -1);
  fputs(wide ? " = (float)sum;\n" : " = sum;\n", c->out);
  c_close(c, opened);
}

static int reduced_neighbours(const c_printer *c, const tf_op *op) {
  for (int k = op->n_dims - 1; k >= op->n_out_dims; k--)
    if (c_runs_along(c, op, op->dims[k], false)) return k;
  return -1;
}

void c_nest(c_printer *c, const ir_stmt *s, int open) {
  const tf_op *op = &c->wl->ops[s->op];
  int last = op->n_out_dims - 1;
  bool sum = op->reduce != TF_ASSIGN;
  c_line(c, "{ /* ");
  fprintf(c->out, "%s */\n", op->name);
  c->depth++;
  if (sum) c_fresh_flag(c, s);
  c->as_int32 = sum && c_buffer(c, op, -1)->type == IR_I32;
  const bool maps =
      cpu_of(s)->window && cpu_of(s)->window->n_maps > 0; /* which the window prints */
  if (sum && !maps && c_is_row_sum(c, op)) {
    c_row_sum(c, op, s, open);
    c_close(c, 1);
    return;
  }
  if (cpu_of(s)->window) {
    c_window_nest(c, s);
    c_close(c, 1);
    return;
  }
  if (sum && c_is_value_sum(c, s)) {
    c_value_sum(c, s, open);
    c_close(c, 1);
    return;
  }
  if (!sum && transposition(c, op, s, open)) {
    c_close(c, 1);
    return;
  }
  bool wide =
      last >= open && (c_runs_along(c, op, op->dims[last], true) || reduced_neighbours(c, op) < 0);
  if (sum ? wide : last >= open)
    along_output(c, op, s, open);
  else if (!sum)
    c_accumulate(c, op, NULL, s->nest.divides);
  else
    into_scalar(c, op, s, open);
  c->as_int32 = false;
  c_close(c, 1);
}

void c_together(c_printer *c, const ir_stmt *s) {
  if (cpu_of(s)->overlapped) return; /* the product after it prints it */
  const ir_stmt *const *all = (const ir_stmt *const *)s->body.s;
  const int open = s->together.n_common;
  for (int k = 0; k < open; k++)
    c_loop(c, &c->wl->ops[all[0]->op], all[0], k);
  for (int i = 0, n; i < s->body.n; i += n) {
    n = 1;
    if (c_is_deferred_quotient(c, all[i])) continue;
    const int joined = c_joined(c, all + i, s->body.n - i, open);
    if (joined)
      n = joined, c_row(c, all + i, n, open);
    else
      c_nest(c, all[i], open);
  }
  c_close(c, open);
}

/* ---- streams -------------------------------------------------------------------------------- */

/* Whether the buffer's element is the same for neighbours along the output's last dim. */
static bool steady_along(const c_printer *c, const tf_op *op, int buffer) {
  const tf_op *maker = &c->wl->ops[c->wl->tensors[c->p->buffers[buffer].tensor].producer];
  for (int r = 0; r < maker->n_out_dims; r++)
    if (maker->dims[r] == op->dims[op->n_out_dims - 1]) return false;
  return true;
}

/* Whether DIVIDE multiplies by the inverse of its divisor: see c_has_power. */
static bool inverts(const c_printer *c, const ir_stmt *s) {
  return s->kind == IR_DIVIDE && ir_is_share_sum(c->wl, c->p->buffers[s->divide.divisor].tensor);
}

/* The factor of CORRECT, or the divisor of DIVIDE. */
static void factor(c_printer *c, const ir_stmt *s) {
  if (s->kind == IR_DIVIDE) {
    if (inverts(c, s)) fputs("1.0f / ", c->out);
    c_element_of(c, s->divide.divisor);
    return;
  }
  c_correction(c, "fast_exp_low", s->correct.rate, s->correct.before, s->correct.after);
}

/* One element; by: the factor is in the variable `by`. */
static void over_element(c_printer *c, const tf_op *op, const ir_stmt *s, bool by) {
  c_indent(c);
  if (s->kind == IR_SAVE) {
    const ir_type type = c->p->buffers[s->save.to].type;
    c_element_of(c, s->save.to), fputs(" = ", c->out);
    c_round(c, type), c_element_of(c, s->save.from), c_rounded(c, type);
  } else {
    c_element(c, op, -1), fputs(s->kind == IR_DIVIDE && !inverts(c, s) ? " /= " : " *= ", c->out);
    if (by)
      fputs("by", c->out);
    else
      factor(c, s);
  }
  fputs(";\n", c->out);
  for (int i = 0; s->kind == IR_CORRECT && i < s->correct.n_carries; i++) {
    c_indent(c);
    c_element_of(c, s->correct.carries[i]), fputs(" *= ", c->out);
    if (by)
      fputs("by", c->out);
    else
      factor(c, s);
    fputs(";\n", c->out);
  }
}

bool c_open_when(c_printer *c, const ir_stmt *s) {
  if (s->kind == IR_SAVE || (s->kind == IR_DIVIDE && s->divide.last.var < 0)) return false;
  if (c->step == (s->kind == IR_CORRECT ? C_STEP_LATER : C_STEP_LAST)) return false;
  c_line(c, "if (");
  c_atom(c->out, c->p,
         c->step                 ? ir_number(0)
         : s->kind == IR_CORRECT ? s->correct.resets
                                 : s->divide.last);
  if (s->kind == IR_CORRECT)
    fputs(" != 0) { /* the maximum may have risen */\n", c->out);
  else
    fprintf(c->out, " == %" PRId64 ") { /* the last step */\n", s->divide.end);
  c->depth++;
  return true;
}

/* Copies of sums as bfloat16, row by row, with the instruction set's own rounding; false: it has
 * none. */
static bool save_rows(c_printer *c, const ir_stmt *s) {
  const tf_op *op = &c->wl->ops[s->op];
  const ir_buffer *to = &c->p->buffers[s->save.to], *from = &c->p->buffers[s->save.from];
  const int last = op->n_out_dims - 1;
  if (last < 0 || !c_takes_vectors(c, to->type) || to->type != IR_BF16 || from->type != IR_F32)
    return false;
  for (int k = 0; k < last; k++)
    c_loop(c, op, s, k);
  c_line(c, "{\n");
  c->depth++;
  c_origin(c, op, s, last);
  c_line(c, "bf16_round_row(&"), c_element_of(c, s->save.to), fputs(", &", c->out),
      c_element_of(c, s->save.from);
  fputs(", ", c->out), c_atom(c->out, c->p, s->range[last].hi);
  fprintf(c->out, " - d_%s);\n", c_dim_name(c, op, last));
  c_close(c, last + 1);
  return true;
}

void c_carry(c_printer *c, const ir_stmt *s) {
  const tf_op *op = &c->wl->ops[s->op];
  for (int k = 0; k < op->n_out_dims; k++) {
    if (k == op->n_out_dims - 1) c_line(c, "#pragma omp simd\n");
    c_loop(c, op, s, k);
  }
  c_indent(c);
  c_element_of(c, s->carry.to), fputs(s->carry.from < 0 ? " = 0.0f" : " += ", c->out);
  if (s->carry.from >= 0) c_element_of(c, s->carry.from);
  fputs(";\n", c->out);
  if (s->carry.from >= 0 && s->carry.clears) {
    c_indent(c);
    c_element_of(c, s->carry.from), fputs(" = 0.0f;\n", c->out);
  }
  c_close(c, op->n_out_dims);
}

void c_over(c_printer *c, const ir_stmt *s) {
  const tf_op *op = &c->wl->ops[s->op];
  const int last = op->n_out_dims - 1;
  if (s->kind == IR_SAVE && save_rows(c, s)) return;
  const bool by = s->kind != IR_SAVE && last > 0 &&
                  steady_along(c, op, s->kind == IR_CORRECT ? s->correct.after : s->divide.divisor);
  int opened = c_open_when(c, s);
  for (int k = 0; k < op->n_out_dims; k++, opened++) {
    if (k == last && by) c_line(c, "const float by = "), factor(c, s), fputs(";\n", c->out);
    if (k == last) c_line(c, "#pragma omp simd\n");
    c_loop(c, op, s, k);
  }
  over_element(c, op, s, by);
  c_close(c, opened);
}
