/* Values, elements and expressions in C. */
#include <inttypes.h>
#include <math.h>

#include "codegen/backend/cpu/print/print.h"
#include "codegen/intrin/math.h"

void c_indent(c_printer *c) { fprintf(c->out, "%*s", 2 * c->depth, ""); }

void c_atom(FILE *out, const ir_program *p, ir_atom a) {
  if (a.var < 0)
    fprintf(out, "%" PRId64, a.off);
  else if (a.off)
    fprintf(out, "%s %c %" PRId64, p->var_name[a.var], a.off < 0 ? '-' : '+',
            a.off < 0 ? -a.off : a.off);
  else
    fputs(p->var_name[a.var], out);
}

static void sum(c_printer *c, const ir_expr *e) {
  for (int i = 0; i < e->n; i++) {
    if (i) fputs(" + ", c->out);
    if (e->coef[i] != 1) fprintf(c->out, "%" PRId64 " * ", e->coef[i]);
    if (e->coef[i] != 1 && e->arg[i].off) fputc('(', c->out);
    c_atom(c->out, c->p, e->arg[i]);
    if (e->coef[i] != 1 && e->arg[i].off) fputc(')', c->out);
  }
}

static void call(c_printer *c, const char *name, const ir_expr *e) {
  fprintf(c->out, "%s(", name);
  for (int i = 0; i < e->n; i++) {
    if (i) fputs(", ", c->out);
    c_atom(c->out, c->p, e->arg[i]);
  }
  fputc(')', c->out);
}

/* name(mask, rank, steps, box): the end of what a mask leaves of the box. */
static void print_seen(c_printer *c, const ir_expr *e) {
  const ir_buffer *b = &c->p->buffers[e->arg[0].off];
  fprintf(c->out, "%s(%s, %d, (const int64_t[]){", c_seen_name(b->type), b->id, b->rank);
  for (int r = 0; r < b->rank; r++)
    fputs(r ? ", " : "", c->out), c_stride(c, b, r);
  fputs("}, (const int64_t[]){", c->out);
  for (int i = 1; i < e->n; i++) {
    const ir_atom at = e->arg[i];
    fputs(i > 1 ? ", " : "", c->out);
    c_atom(c->out, c->p, (ir_atom){at.var, at.off - b->base[(i - 1) / 2].off});
  }
  fputs("})", c->out);
}

void c_let(c_printer *c, const ir_stmt *s) {
  c_indent(c);
  fprintf(c->out, "const int64_t %s = ", c->p->var_name[s->let.var]);
  switch (s->let.expr.fn) {
  case IR_SUM: sum(c, &s->let.expr); break;
  case IR_MIN: call(c, "least", &s->let.expr); break;
  case IR_MAX: call(c, "most", &s->let.expr); break;
  case IR_PICK: call(c, "pick", &s->let.expr); break;
  case IR_SEEN: print_seen(c, &s->let.expr); break;
  case IR_MOD:
  case IR_DIV:
    fputc('(', c->out), c_atom(c->out, c->p, s->let.expr.arg[0]);
    fprintf(c->out, ") %c %" PRId64, s->let.expr.fn == IR_MOD ? '%' : '/', s->let.expr.arg[1].off);
    break;
  }
  fputs(";\n", c->out);
}

int64_t c_rank_step(const ir_buffer *b, int r) {
  int64_t step = b->block.length && r != b->block.rank ? b->block.length : 1;
  for (int k = r + 1; k < b->rank; k++)
    step *= b->block.length && k == b->block.rank
                ? (b->extent[k] + b->block.length - 1) / b->block.length
                : b->extent[k] + (k == b->rank - 1 ? b->gap : 0);
  return step;
}

void c_stride(c_printer *c, const ir_buffer *b, int r) {
  if (b->role == IR_ARGUMENT && r < b->rank - 1)
    fprintf(c->out, "%s_s%d", b->id, r);
  else
    fprintf(c->out, "%" PRId64, c_rank_step(b, r));
}

static void close_rank(c_printer *c, const ir_buffer *b, int r) {
  ir_atom base = b->base[r];
  if (base.var >= 0 || base.off) {
    fputs(" - (", c->out);
    c_atom(c->out, c->p, base);
    fputc(')', c->out);
  }
  fputc(')', c->out);
  if (r < b->rank - 1 || b->block.length) fputs(" * ", c->out), c_stride(c, b, r);
}

static void index_text(c_printer *c, const tf_index *ix) {
  bool first = true;
  for (int t = 0; t < ix->n_terms; t++) {
    int64_t k = ix->terms[t].coef;
    fprintf(c->out, "%s", first ? k < 0 ? "-" : "" : k < 0 ? " - " : " + ");
    if (k != 1 && k != -1) fprintf(c->out, "%" PRId64 " * ", k < 0 ? -k : k);
    fprintf(c->out, "d_%s", c->p->dim_id[ix->terms[t].dim]);
    first = false;
  }
  if (first)
    fprintf(c->out, "%" PRId64, ix->c);
  else if (ix->c)
    fprintf(c->out, " %c %" PRId64, ix->c < 0 ? '-' : '+', ix->c < 0 ? -ix->c : ix->c);
}

void c_index(c_printer *c, const tf_index *ix) {
  fputc('(', c->out), index_text(c, ix), fputc(')', c->out);
}

/* "NAME[", and the current slot. */
static void open_element(c_printer *c, const ir_buffer *b) {
  fprintf(c->out, "%s[", b->id);
  if (b->slots > 1)
    fprintf(c->out, "%" PRId64 " * (", b->words), c_atom(c->out, c->p, b->slot),
        fputs(") + ", c->out);
}

static void scalar_element(c_printer *c, const ir_buffer *b) {
  fprintf(c->out, "%s[", b->id), c_atom(c->out, c->p, b->slots > 1 ? b->slot : ir_number(0)),
      fputc(']', c->out);
}

/* The condition under which the read is not padding; false: it never is. */
static bool borders(c_printer *c, const tf_ref *ref) {
  const tf_tensor *z = &c->wl->tensors[ref->tensor];
  bool any = false;
  for (int r = 0; r < z->rank; r++) {
    if (!z->pad[r]) continue;
    fputs(any ? " && " : "(", c->out);
    index_text(c, &ref->index[r]);
    fprintf(c->out, " >= %" PRId64 " && ", z->lo[r]);
    index_text(c, &ref->index[r]);
    fprintf(c->out, " < %" PRId64, z->lo[r] + z->extent[r]);
    any = true;
  }
  return any;
}

/* The element itself, without a test of borders. */
static void read_place(c_printer *c, const tf_ref *ref) {
  const ir_buffer *b = &c->p->buffers[c->p->buffer_of[ref->tensor]];
  if (c->own && c->own(c, b)) return;
  if (b->rank == 0) scalar_element(c, b);
  for (int r = 0; r < b->rank; r++) {
    if (r == 0) open_element(c, b);
    fputs(r ? " + (" : "(", c->out);
    index_text(c, &ref->index[r]);
    close_rank(c, b, r);
  }
  if (b->rank) fputc(']', c->out);
}

/* The opening of a conversion from type `from` to `to`. */
static const char *opened(ir_type from, ir_type to) {
  if (from == to || to == IR_I16) return "";
  if (to == IR_F32) return ir_is_coded(from) ? "wide(" : "(float)(";
  if (to == IR_F8) return from == IR_F32 ? "narrow_e4m3(" : "narrow_e4m3((float)";
  return ir_is_half(to) ? from == IR_F32 ? "narrow(" : "narrow((float)" : "(";
}

void c_at(c_printer *c, const ir_buffer *b, int last, ir_type type) {
  const char *around = opened(b->type, type);
  fputs(around, c->out);
  for (int r = 0; r < b->rank; r++) {
    if (r == 0) open_element(c, b);
    fputs(r ? " + (" : "(", c->out);
    if (r == last)
      fputc('x', c->out);
    else
      fprintf(c->out, "x%d", r);
    close_rank(c, b, r);
  }
  fputc(']', c->out);
  if (*around) fputc(')', c->out);
}

static void read_element(c_printer *c, const tf_ref *ref, ir_type to) {
  if (c->row_tensors >> (ref->tensor % 64) & 1 && c->wl->tensors[ref->tensor].producer >= 0) {
    fprintf(c->out, "v_%s", c->p->tensor_id[ref->tensor]);
    return;
  }
  const ir_buffer *buffer = &c->p->buffers[c->p->buffer_of[ref->tensor]];
  const char *around = opened(buffer->type, to);
  fputs(around, c->out);
  bool guarded = borders(c, ref);
  if (guarded) fputs(" ? ", c->out);
  read_place(c, ref);
  if (guarded) fputs(buffer->type == IR_F32 ? " : 0.0f)" : " : 0)", c->out);
  if (*around) fputc(')', c->out);
}

static void made_element(c_printer *c, const ir_buffer *b, const tf_op *maker) {
  if (c->own && c->own(c, b)) return;
  if (b->rank == 0) scalar_element(c, b);
  for (int r = 0; r < b->rank; r++) {
    if (r == 0) open_element(c, b);
    fprintf(c->out, "%sd_%s", r ? " + (" : "(", c->p->dim_id[maker->dims[r]]);
    close_rank(c, b, r);
  }
  if (b->rank) fputc(']', c->out);
}

const ir_buffer *c_buffer(const c_printer *c, const tf_op *op, int ref) {
  return &c->p->buffers[c->p->buffer_of[ref < 0 ? op->out : op->reads[ref].tensor]];
}

/* Prints an element that belongs to a row that is computed ahead; false: it does not. */
static bool print_row_element(c_printer *c, const tf_op *op, int ref) {
  for (int i = 0; i < c->n_row_at; i++)
    if (c->row_at[i].op == op && c->row_at[i].ref == ref) {
      fprintf(c->out, "at%d[", i);
      fprintf(c->out, c->row_at[i].moves ? "d_%s]" : "0]", c->p->dim_id[c->row_dim]);
      return true;
    }
  return false;
}

void c_place(c_printer *c, const tf_op *op, int ref) {
  if (print_row_element(c, op, ref)) return;
  if (ref >= 0)
    read_place(c, &op->reads[ref]);
  else
    made_element(c, c_buffer(c, op, -1), op);
}

void c_elements(c_printer *c, const tf_op *op, int ref, int dim, const char *call,
                const char *none) {
  const bool guarded = borders(c, &op->reads[ref]);
  fprintf(c->out, "%s%s(&", guarded ? " ? " : "", call);
  read_place(c, &op->reads[ref]), fputs(", ", c->out), c_step(c, op, ref, dim);
  if (guarded)
    fprintf(c->out, ") : %s)", none);
  else
    fputc(')', c->out);
}

void c_element_as(c_printer *c, const tf_op *op, int ref, ir_type type) {
  if (!print_row_element(c, op, ref)) read_element(c, &op->reads[ref], type);
}

void c_element(c_printer *c, const tf_op *op, int ref) {
  if (ref < 0)
    c_place(c, op, ref);
  else
    c_element_as(c, op, ref, c->as_int32 ? IR_I32 : IR_F32);
}

const char *c_type(ir_type t) { return tf_micro_type(t); }

void c_round(c_printer *c, ir_type t) {
  fputs(ir_is_half(t) ? "narrow("
        : t == IR_F8  ? "narrow_e4m3("
        : t == IR_I8  ? "(int8_t)("
        : t == IR_U8  ? "(uint8_t)("
                      : "",
        c->out);
}
void c_rounded(c_printer *c, ir_type t) {
  fputs(ir_is_coded(t) || ir_is_byte(t) ? ")" : "", c->out);
}

void c_element_of(c_printer *c, int buffer) {
  const ir_buffer *b = &c->p->buffers[buffer];
  made_element(c, b, &c->wl->ops[c->wl->tensors[b->tensor].producer]);
}

static void step_in(c_printer *c, const ir_buffer *b, const tf_op *op, int ref, int dim) {
  bool any = false;
  for (int r = 0; r < b->rank; r++) {
    int64_t coef = ref < 0 && op->dims[r] == dim;
    for (int t = 0; ref >= 0 && t < op->reads[ref].index[r].n_terms; t++)
      if (op->reads[ref].index[r].terms[t].dim == dim) coef = op->reads[ref].index[r].terms[t].coef;
    if (!coef) continue;
    fprintf(c->out, "%s", any ? " + " : "");
    if (coef != 1) fprintf(c->out, "%" PRId64 " * ", coef);
    c_stride(c, b, r);
    any = true;
  }
  if (!any) fputc('0', c->out);
}

const char *c_dim_name(const c_printer *c, const tf_op *op, int k) {
  return c->p->dim_id[op->dims[k]];
}

void c_pack_name(c_printer *c, int buffer) {
  fprintf(c->out, "%s_pack%d", c->p->buffers[buffer].id, buffer);
}

void c_step(c_printer *c, const tf_op *op, int ref, int dim) {
  step_in(c, c_buffer(c, op, ref), op, ref, dim);
}

void c_step_of(c_printer *c, int buffer, int dim) {
  const ir_buffer *b = &c->p->buffers[buffer];
  step_in(c, b, &c->wl->ops[c->wl->tensors[b->tensor].producer], -1, dim);
}

/* ---- expressions ---------------------------------------------------------------------------- */

static void expression(c_printer *c, const tf_op *op, int i, int skip);

void c_number(c_printer *c, double v) {
  if (isinf(v))
    fputs(v < 0 ? "-INFINITY" : "INFINITY", c->out);
  else
    fprintf(c->out, "%#.9gf", v);
}

void c_correction(c_printer *c, const char *exp, double rate, int before, int after) {
  fprintf(c->out, "%s(", exp);
  if (rate != 1) c_number(c, rate), fputs(" * (", c->out);
  c_element_of(c, before), fputs(" - ", c->out), c_element_of(c, after);
  fputs(rate != 1 ? "))" : ")", c->out);
}

static void infix(c_printer *c, const tf_op *op, const tf_expr *e, const char *sign, int skip) {
  fputc('(', c->out);
  expression(c, op, e->arg[0], skip);
  fprintf(c->out, " %s ", sign);
  expression(c, op, e->arg[1], skip);
  fputc(')', c->out);
}

static void function(c_printer *c, const tf_op *op, const tf_expr *e, const char *name, int skip) {
  fprintf(c->out, "%s(", name);
  for (int k = 0; k < e->n_args; k++) {
    if (k) fputs(", ", c->out);
    expression(c, op, e->arg[k], skip);
  }
  fputc(')', c->out);
}

/* An argument that is never positive, an element minus its row's maximum, goes to fast_exp_low. If
 * rounding could make it positive (near), exp_below gets both operands, and multiplies and
 * subtracts at once. */
static void exponential(c_printer *c, const tf_op *op, const tf_expr *e, const char *name,
                        int skip) {
  const tf_expr *x = &op->expr[e->arg[0]];
  const bool low = ir_is_low(c->wl, op, e->arg[0]);
  if (low && c->may_invert && x->what == TF_X_CALL)
    function(c, op, x, "exp_below", skip);
  else
    function(c, op, e, low ? "fast_exp_low" : name, skip);
}

int c_number_of(const tf_op *op, const tf_expr *e) {
  for (int k = e->n_args - 1; k >= 0; k--)
    if (op->expr[e->arg[k]].what == TF_X_NUMBER) return k;
  return -1;
}

/* The number is the second argument: a NaN in the first gives way to it. */
static void limit(c_printer *c, const tf_op *op, const tf_expr *e, const char *name, int skip) {
  const int number = c_number_of(op, e);
  fprintf(c->out, "%s%s(", name, number < 0 ? "_of" : "");
  expression(c, op, e->arg[number == 0], skip);
  fputs(", ", c->out);
  expression(c, op, e->arg[number != 0], skip);
  fputc(')', c->out);
}

/* Whether the expression is an integer made of dims, which int32 holds exactly. */
static bool is_whole_form(const tf_op *op, int i) {
  const tf_expr *e = &op->expr[i];
  if (e->what == TF_X_NUMBER)
    return e->number >= -1e9 && e->number <= 1e9 && (double)(int64_t)e->number == e->number;
  if (e->what != TF_X_CALL) return e->what == TF_X_DIM;
  bool all =
      e->call == TF_K_ADD || e->call == TF_K_SUB || e->call == TF_K_MUL || e->call == TF_K_NEG;
  for (int k = 0; all && k < e->n_args; k++)
    all = is_whole_form(op, e->arg[k]);
  return all;
}

static void whole_form(c_printer *c, const tf_op *op, int i) {
  const tf_expr *e = &op->expr[i];
  if (e->what == TF_X_DIM) {
    fprintf(c->out, "d_%s", c->p->dim_id[e->dim]);
  } else if (e->what == TF_X_NUMBER) {
    fprintf(c->out, "INT64_C(%" PRId64 ")", (int64_t)e->number);
  } else {
    fputs(e->call == TF_K_NEG ? "(-" : "(", c->out);
    whole_form(c, op, e->arg[0]);
    if (e->n_args > 1) {
      fputs(e->call == TF_K_ADD ? " + " : e->call == TF_K_SUB ? " - " : " * ", c->out);
      whole_form(c, op, e->arg[1]);
    }
    fputc(')', c->out);
  }
}

const char *c_comparison(tf_kind kind) {
  return kind == TF_K_LT   ? "<"
         : kind == TF_K_LE ? "<="
         : kind == TF_K_EQ ? "=="
         : kind == TF_K_NE ? "!="
                           : NULL;
}

/* A condition in C, in parentheses. */
static void truth(c_printer *c, const tf_op *op, const tf_expr *e, int skip) {
  bool whole = is_whole_form(op, e->arg[0]) && is_whole_form(op, e->arg[1]);
  for (int k = 0; k < 2; k++) {
    fputs(k ? " " : "(", c->out);
    if (k) fprintf(c->out, "%s ", c_comparison(e->call));
    if (whole)
      whole_form(c, op, e->arg[k]);
    else
      expression(c, op, e->arg[k], skip);
  }
  fputc(')', c->out);
}

static void choice(c_printer *c, const tf_op *op, const tf_expr *e, int skip) {
  const tf_expr *condition = &op->expr[e->arg[0]];
  if (op == c->chosen && e == &op->expr[op->n_expr - 1]) { /* masked elements are -inf */
    const tf_expr *yes = &op->expr[e->arg[1]];
    expression(c, op, e->arg[yes->what == TF_X_NUMBER && isinf(yes->number) ? 2 : 1], skip);
    return;
  }
  if (condition->what != TF_X_CALL || !c_comparison(condition->call)) {
    function(c, op, e, "chosen", skip);
    return;
  }
  fputc('(', c->out), truth(c, op, condition, skip), fputs(" ? ", c->out);
  expression(c, op, e->arg[1], skip), fputs(" : ", c->out);
  expression(c, op, e->arg[2], skip), fputc(')', c->out);
}

/* Whether the number and its inverse are both far from the limits of float32. */
static bool is_mild(double v) { return fabs(v) > 1e-30 && fabs(v) < 1e30; }

static void call_text(c_printer *c, const tf_op *op, const tf_expr *e, int skip) {
  const tf_micro_fn *fn = tf_micro_math_find((int)e->call);
  switch (e->call) {
  case TF_K_ADD: infix(c, op, e, "+", skip); return;
  case TF_K_SUB: infix(c, op, e, "-", skip); return;
  case TF_K_MUL: infix(c, op, e, "*", skip); return;
  case TF_K_DIV:
    if (c->inverse >= 0 && op == c->inverse_of && e == &op->expr[op->n_expr - 1]) {
      fputc('(', c->out), expression(c, op, e->arg[0], skip);
      fprintf(c->out, " * inverse_%s", c->p->tensor_id[op->out]);
      if (c_has_power(c, op, c->inverse)) fprintf(c->out, " * power_%s", c->p->tensor_id[op->out]);
      fputc(')', c->out);
      return;
    }
    if (c->may_invert && op->expr[e->arg[1]].what == TF_X_NUMBER &&
        is_mild(op->expr[e->arg[1]].number)) {
      fputc('(', c->out), expression(c, op, e->arg[0], skip), fputs(" * ", c->out);
      c_number(c, 1 / op->expr[e->arg[1]].number), fputc(')', c->out);
      return;
    }
    infix(c, op, e, "/", skip);
    return;
  case TF_K_NEG: function(c, op, e, "-", skip); return;
  case TF_K_MAX: limit(c, op, e, "greater", skip); return;
  case TF_K_MIN: limit(c, op, e, "smaller", skip); return;
  case TF_K_SELECT: choice(c, op, e, skip); return;
  case TF_K_LT:
  case TF_K_LE:
  case TF_K_EQ:
  case TF_K_NE: fputs("(float)", c->out), truth(c, op, e, skip); return;
  case TF_K_EXP: exponential(c, op, e, fn->name, skip); return;
  case TF_K_LOG:
  case TF_K_SQRT:
  case TF_K_TANH:
  case TF_K_ERF:
  case TF_K_SIGMOID:
  case TF_K_RELU:
  case TF_K_GELU:
  case TF_K_SILU:
  case TF_K_FLOOR:
  case TF_K_CEIL:
  case TF_K_ROUND:
  case TF_K_TRUNC:
  case TF_K_SIN:
  case TF_K_COS:
  case TF_K_FMOD:
  case TF_K_ABS: function(c, op, e, fn ? fn->name : "", skip); return;
  case TF_K_COPY: /* counted for units; no expression calls it */
  case TF_K_MAC:
  case TF_N_KINDS: c->failed = true;
  }
}

static void expression(c_printer *c, const tf_op *op, int i, int skip) {
  const tf_expr *e = &op->expr[i];
  if (e->what == TF_X_CALL)
    call_text(c, op, e, skip);
  else if (e->what == TF_X_NUMBER)
    c_number(c, e->number);
  else if (e->what == TF_X_DIM)
    fprintf(c->out, "(float)d_%s", c->p->dim_id[e->dim]);
  else if (e->ref == skip)
    fputs("1.0f", c->out);
  else if (op == c->steady_of && c->steady >> e->ref & 1)
    fprintf(c->out, "s_%s_%d", c->p->tensor_id[op->out], e->ref);
  else
    c_element(c, op, e->ref);
}

void c_part(c_printer *c, const tf_op *op, int i) { expression(c, op, i, -1); }

void c_value(c_printer *c, const tf_op *op, int skip) { expression(c, op, op->n_expr - 1, skip); }

const char *c_combine(tf_reduce r) {
  switch (r) {
  case TF_REDUCE_ADD: return "+";
  case TF_REDUCE_MUL: return "*";
  case TF_REDUCE_MAX: return "greater";
  case TF_REDUCE_MIN: return "smaller";
  case TF_ASSIGN: break;
  }
  return "";
}

/* Of a sum of shares (1 to the row's length) the inverse can be taken. Other inverses may leave the
 * range of float32 where quotients do not: then the divisor is multiplied by a power of two first,
 * and products with its inverse once more. */
bool c_has_power(const c_printer *c, const tf_op *op, int divisor) {
  return !ir_is_share_sum(c->wl, op->reads[divisor].tensor);
}

/* ---- the end of what a mask leaves of a box, tested in its data at run time ----------------- */

enum { RANK_MOST = 16 }; /* as for an input */

const char *c_seen_name(ir_type mask) { return mask == IR_BF16 ? "bf16_seen" : "f32_seen"; }

/* Each row is scanned from its end, a piece at a time, down to the end found so far: what counts is
 * the greatest end of all rows. */
static void seen_function(FILE *out, ir_type mask) {
  const char *const none = mask == IR_BF16 ? "0xff80" : "-INFINITY", *const type =
                                                                         tf_micro_type(mask);
  fprintf(out,
          "/* The end of what a mask leaves of a box (from, to; from, to; ..): behind it all of "
          "each row is -inf. */\n"
          "static int64_t %s(const %s *mask, int rank, const int64_t *step, const int64_t *box) {\n"
          "  const int64_t to = box[2 * rank - 1];\n"
          "  int64_t at[%d], end = box[2 * rank - 2];\n"
          "  for (int r = 0; r < rank; r++) at[r] = box[2 * r];\n",
          c_seen_name(mask), type, RANK_MOST);
  fprintf(out,
          "  for (int r = 0; r >= 0 && end < to;) {\n"
          "    const %s *row = mask;\n"
          "    int64_t n = to;\n"
          "    for (int i = 0; i < rank - 1; i++) row += at[i] * step[i];\n"
          "    while (n > end) {\n"
          "      const int64_t from = n - end < 64 ? end : n - 64;\n"
          "      int any = 0;\n"
          "      for (int64_t i = from; i < n; i++) any |= row[i] != %s;\n"
          "      if (any) break;\n"
          "      n = from;\n"
          "    }\n"
          "    while (n > end && row[n - 1] == %s) n--;\n"
          "    end = n;\n",
          type, none, none);
  fputs("    for (r = rank - 2; r >= 0 && ++at[r] >= box[2 * r + 1]; r--) at[r] = box[2 * r];\n"
        "  }\n  return end;\n}\n\n",
        out);
}

/* Whether a value of the body tests a mask of that type. */
static bool tests_mask(const ir_program *p, const ir_body *b, ir_type mask) {
  bool any = false;
  for (int i = 0; i < b->n && !any; i++) {
    const ir_stmt *s = b->s[i];
    any = tests_mask(p, &s->body, mask) || (s->kind == IR_LET && s->let.expr.fn == IR_SEEN &&
                                            p->buffers[s->let.expr.arg[0].off].type == mask);
  }
  return any;
}

void c_seen_text(FILE *out, const ir_program *p, const ir_body *b) {
  static const ir_type masks[] = {IR_F32, IR_BF16};
  for (size_t i = 0; i < sizeof masks / sizeof *masks; i++)
    if (tests_mask(p, b, masks[i])) seen_function(out, masks[i]);
}
