/* Prints the code of a warp's lanes in a region. A fragment of 16 rows and 8 columns is 4 numbers
 * in each lane: those of rows LANE / 4 and 8 below, columns 2 * (LANE % 4) and the next. A matrix
 * is NAME[16 rows: tm][8 columns: tn][2 * th + te]; a column vector has its number of a row,
 * NAME[tm][th], in each of the four lanes of the row. */
#include <inttypes.h>
#include <string.h>

#include "codegen/backend/cuda/pass/pass.h"
#include "codegen/backend/cuda/print/cuda.h"

/* Positions of the statement's dims: of rows; of columns (-1: none). */
typedef struct {
  const ir_stmt *s;
  const tf_op *op;
  int m, c;
  bool memory, puts; /* it accesses memory; it writes memory */
  bool nearest; /* points of a panel that leaves, and stacked rows, are computed beyond the end as
                   copies of the last one, without a branch */
  bool whole;   /* all columns of the fragments are known to exist */
} shape;

bool cu_fragment_element(c_printer *c, const ir_buffer *b) {
  if (b->space != CU_FRAGMENT) return false;
  fprintf(c->out, cu_column_rank(b) < 0 ? "%s[tm][th]" : "%s[tm][tn][2 * th + te]", b->id);
  return true;
}

void cu_fragments(c_printer *c, const ir_stmt *warps) {
  for (int i = 0; i < c->p->n_buffers; i++) {
    const ir_buffer *b = &c->p->buffers[i];
    if (b->space != CU_FRAGMENT || !cu_touches(c->p, warps->body.s, warps->body.n, i)) continue;
    c_indent(c);
    if (cu_is_wmma(c->p)) {
      fprintf(c->out, "wmma_sums %s_wmma[%" PRId64 "][%" PRId64 "];\n", b->id,
              b->extent[cu_row_rank(b)] / 16, b->extent[cu_column_rank(b)] / 16);
      continue;
    }
    fprintf(c->out, "%s %s[%" PRId64 "]", c_type(b->type), b->id, cu_matrix_rows(b) / 16);
    if (cu_column_rank(b) >= 0)
      fprintf(c->out, "[%" PRId64 "][4];\n", b->extent[cu_column_rank(b)] / 8);
    else
      fprintf(c->out, "[2];\n%*s(void)%s;\n", 2 * c->depth, "",
              b->id); /* a maximum may be unused after the last step */
  }
}

/* The dim at a rank of the access; -1: none alone. */
static int dim_at(const c_printer *c, const cu_access *a, int r) {
  if (a->ref) return cu_single_dim(&a->ref->index[r]);
  return c->wl->ops[c->wl->tensors[c->p->buffers[a->buffer].tensor].producer].dims[r];
}

static shape shape_of(const c_printer *c, const ir_stmt *s) {
  shape t = {.s = s, .op = &c->wl->ops[s->op], .m = -1, .c = -1};
  cu_access a[CU_MOST_ACCESSES];
  const int n = cu_accesses(c->p, s, a);
  for (int i = 0; i < n; i++) {
    const ir_buffer *b = &c->p->buffers[a[i].buffer];
    t.memory |= b->space != CU_FRAGMENT;
    t.puts |= b->space != CU_FRAGMENT && a[i].writes;
    if (b->space != CU_FRAGMENT) continue;
    t.m = lower_find_dim(t.op, dim_at(c, &a[i], cu_row_rank(b)));
    if (cu_column_rank(b) >= 0) t.c = lower_find_dim(t.op, dim_at(c, &a[i], cu_column_rank(b)));
  }
  for (int k = 0; k < ir_n_ranges(c->p, s) && t.c < 0; k++)
    if (k != t.m && !ir_is_stacked(s, k) && s->range[k].most > 1) t.c = k;
  return t;
}

static int64_t steps(const ir_range *r, int64_t by) { return (r->most + by - 1) / by; }

/* "const int64_t d_DIM = lo + ...;", limited to the range's last, if one is given. */
static void set_dim(c_printer *c, const shape *t, int k, const char *more, const ir_range *within) {
  const char *dim = c_dim_name(c, t->op, k);
  c_indent(c);
  fprintf(c->out, "const int64_t d_%s = %s", dim, within ? "least(" : "");
  c_atom(c->out, c->p, t->s->range[k].lo);
  fputs(more, c->out);
  if (within) fputs(", ", c->out), c_atom(c->out, c->p, within->hi), fputs(" - 1)", c->out);
  fprintf(c->out, ";\n%*s(void)d_%s;\n", 2 * c->depth, "", dim);
}

/* Sets the dims with one setting; if such a dim may be empty the rest is inside an `if`. Returns
 * how many were opened. */
static int open_single(c_printer *c, const shape *t) {
  int opened = 0;
  for (int k = 0; k < ir_n_ranges(c->p, t->s); k++) {
    if (k == t->m || k == t->c || ir_is_stacked(t->s, k)) continue;
    const ir_range *r = &t->s->range[k];
    if (!r->exact) {
      c_line(c, "if (");
      c_atom(c->out, c->p, r->lo), fputs(" < ", c->out), c_atom(c->out, c->p, r->hi),
          fputs(") {\n", c->out);
      c->depth++, opened++;
    }
    set_dim(c, t, k, "", NULL);
  }
  return opened;
}

/* Whether fragments may extend beyond the end of the range. */
static bool is_ragged(const ir_range *r, int64_t by) { return !r->exact || r->most % by; }

/* Whether points beyond the ends are computed from the nearest ones: of a box that leaves, which
 * has none of them. Without branches no register is kept for what a branch might have set. */
static bool is_near(const shape *t) { return t->nearest && !t->s->stack; }

static void unrolled(c_printer *c, const char *var, int64_t trip, int64_t by) {
  c_line(c, "#pragma unroll\n");
  c_indent(c);
  fprintf(c->out, "for (int %s = 0; %s < %" PRId64 "; %s += %" PRId64 ") {\n", var, var, trip, var,
          by);
  c->depth++;
}

/* Whether warps may have rows beyond the stack's: warpgroups have 64 each. */
static bool has_rows_behind(const c_printer *c, const ir_stack *t) {
  return !c->of_groups || ir_stack_rows(t) % CU_TURN_ROWS != 0;
}

/* Whether a dim of the stack may end before the box, or (`empty`) be empty. */
static bool has_ragged_dims(const shape *t, bool empty) {
  bool any = false;
  for (int i = 0; i < t->s->stack->n; i++) {
    const ir_range *r = &t->s->range[t->s->stack->axis[i]];
    any |= empty ? !r->never_empty : !r->exact;
  }
  return any;
}

/* For stacked rows: the row's number, and its coordinate along each dim. */
static void set_stacked(c_printer *c, const shape *t) {
  const ir_stack *stack = t->s->stack;
  int64_t inner = ir_stack_rows(stack);
  c_line(c, t->nearest && has_rows_behind(c, stack) ? "const int row = (int)least(("
                                                    : "const int row = (int)(");
  c_atom(c->out, c->p, stack->first), fputs(") + 16 * tm + 8 * th + lane / 4", c->out);
  if (t->nearest && has_rows_behind(c, stack)) fprintf(c->out, ", %" PRId64 ")", inner - 1);
  fputs(";\n", c->out);
  for (int i = 0; i < stack->n; i++) {
    char more[80];
    inner /= stack->length[i];
    int n = snprintf(more, sizeof more, " + row");
    if (inner > 1) n += snprintf(more + n, sizeof more - (size_t)n, " / %" PRId64, inner);
    if (i) snprintf(more + n, sizeof more - (size_t)n, " %% %" PRId64, stack->length[i]);
    const ir_range *r = &t->s->range[stack->axis[i]];
    set_dim(c, t, stack->axis[i], more, t->nearest && !r->exact ? r : NULL);
  }
}

/* With at most eight rows the lower half of a fragment is unused. */
static int open_rows(c_printer *c, const shape *t) {
  if (t->s->stack) {
    unrolled(c, "tm", t->s->stack->count / 16, 1);
    unrolled(c, "th", 2, 1);
    set_stacked(c, t);
    return 2;
  }
  unrolled(c, "tm", steps(&t->s->range[t->m], 16), 1);
  unrolled(c, "th", steps(&t->s->range[t->m], 8) > 1 ? 2 : 1, 1);
  set_dim(c, t, t->m, " + 16 * tm + 8 * th + lane / 4",
          t->nearest && is_ragged(&t->s->range[t->m], 16) ? &t->s->range[t->m] : NULL);
  return 2;
}

static int open_columns(c_printer *c, const shape *t) {
  unrolled(c, "tn", steps(&t->s->range[t->c], 8), 1);
  if (c->panel) c_indent(c), fprintf(c->out, "if (tn / %d != tp) continue;\n", c->panel);
  unrolled(c, "te", 2, 1);
  set_dim(c, t, t->c, " + 8 * tn + 2 * (lane % 4) + te",
          is_near(t) && is_ragged(&t->s->range[t->c], 8) ? &t->s->range[t->c] : NULL);
  return 2;
}

static void is_beyond_end(c_printer *c, const shape *t, int k) {
  fprintf(c->out, "d_%s >= ", c_dim_name(c, t->op, k));
  c_atom(c->out, c->p, t->s->range[k].hi);
}

static bool has_ragged_rows(const c_printer *c, const shape *t) {
  if (!t->s->stack) return !t->nearest && is_ragged(&t->s->range[t->m], 16);
  return !t->nearest && (has_rows_behind(c, t->s->stack) || has_ragged_dims(t, false));
}

/* The condition that the row does not exist: "d_m >= end", or, in a stack, that it is beyond the
 * box or the end of a dim. */
static void row_is_beyond_end(c_printer *c, const shape *t) {
  const ir_stack *stack = t->s->stack;
  if (!stack) {
    is_beyond_end(c, t, t->m);
    return;
  }
  const char *join = "";
  if (has_rows_behind(c, stack))
    fprintf(c->out, "row >= %" PRId64, ir_stack_rows(stack)), join = " || ";
  for (int i = 0; i < stack->n; i++)
    if (!t->s->range[stack->axis[i]].exact)
      fputs(join, c->out), is_beyond_end(c, t, stack->axis[i]), join = " || ";
}

static void skip_rows(c_printer *c, const shape *t) {
  if (!has_ragged_rows(c, t)) return;
  c_line(c, "if ("), row_is_beyond_end(c, t), fputs(") continue;\n", c->out);
}

/* Whether the columns' end is known to the kernel alone. */
static bool has_end(const shape *t) { return t->c >= 0 && !t->s->range[t->c].exact && !t->whole; }

/* Columns left from the lane's first one on: one comparison of a point's number, of 32 bits. */
static void set_end(c_printer *c, const shape *t) {
  if (!has_end(t)) return;
  c_line(c, "const int end = (int)(");
  c_atom(c->out, c->p, t->s->range[t->c].hi), fputs(" - (", c->out);
  c_atom(c->out, c->p, t->s->range[t->c].lo), fputs(")) - 2 * (lane % 4);\n", c->out);
}

/* Skips columns beyond the end of the range: memory has none there, and a sum must not include
 * them. */
static void skip_columns(c_printer *c, const shape *t) {
  if (t->c < 0 || t->whole || !is_ragged(&t->s->range[t->c], 8)) return;
  if (has_end(t)) {
    c_line(c, "if (8 * tn + te >= end) continue;\n");
    return;
  }
  c_line(c, "if ("); /* machine code tests the last columns alone */
  fprintf(c->out, "8 * tn + 2 * (lane %% 4) + te >= %" PRId64 ") continue;\n",
          t->s->range[t->c].most);
}

/* ---- statements ----------------------------------------------------------------------------- */

static void factor(c_printer *c, const ir_stmt *s) {
  if (s->kind == IR_CORRECT) {
    fputs(" *= ", c->out),
        c_correction(c, "exp_near", s->correct.rate, s->correct.before, s->correct.after);
  } else {
    fputs(c->may_invert ? " *= 1.0f / " : " /= ", c->out), c_element_of(c, s->divide.divisor);
  }
}

static void element(c_printer *c, const shape *t) {
  if (t->s->kind == IR_NEST) {
    c_accumulate(c, t->op, NULL, t->s->nest.divides);
    return;
  }
  c_indent(c);
  if (t->s->kind == IR_SAVE) {
    const ir_type type = c->p->buffers[t->s->save.to].type;
    c_element_of(c, t->s->save.to), fputs(" = ", c->out), c_round(c, type);
    c_element_of(c, t->s->save.from), c_rounded(c, type);
  } else {
    c_element(c, t->op, -1), factor(c, t->s);
  }
  fputs(";\n", c->out);
}

static void map(c_printer *c, shape *t) {
  t->nearest = t->s->stack ? c->of_groups && !t->puts && !has_ragged_dims(t, true)
                           : c->panel && t->memory && t->m >= 0;
  if (t->memory && !is_near(t)) set_end(c, t);
  int opened = open_rows(c, t);
  if (t->memory) skip_rows(c, t);
  if (t->puts && t->c < 0) c_line(c, "if (LANE % 4) continue; /* four lanes have it */\n");
  if (t->c >= 0) opened += open_columns(c, t);
  if (t->memory && !is_near(t)) skip_columns(c, t);
  element(c, t);
  c_close(c, opened);
}

/* Whether neighbours in the lane are contiguous in memory, two bytes each. */
static bool saves_pairs(const c_printer *c, const shape *t) {
  if (t->s->kind != IR_SAVE || t->c < 0) return false;
  const ir_buffer *to = &c->p->buffers[t->s->save.to], *from = &c->p->buffers[t->s->save.from];
  return to->space != CU_FRAGMENT && ir_is_half(to->type) && t->c == to->rank - 1 &&
         from->space == CU_FRAGMENT;
}

static void save_pairs(c_printer *c, const shape *t) {
  const char *from = c->p->buffers[t->s->save.from].id;
  int opened = open_rows(c, t);
  skip_rows(c, t);
  unrolled(c, "tn", steps(&t->s->range[t->c], 8), 1);
  set_dim(c, t, t->c, " + 8 * tn + 2 * (lane % 4)", NULL);
  c_line(c, "put_pair(&");
  c_element_of(c, t->s->save.to);
  fprintf(c->out, ", %s[tm][tn][2 * th], %s[tm][tn][2 * th + 1], ", from, from);
  if (t->s->range[t->c].exact) {
    fprintf(c->out, "%" PRId64 " - (8 * tn + 2 * (lane %% 4)));\n", t->s->range[t->c].most);
  } else {
    c_atom(c->out, c->p, t->s->range[t->c].hi);
    fprintf(c->out, " - d_%s);\n", c_dim_name(c, t->op, t->c));
  }
  c_close(c, opened + 1);
}

void cu_combine(c_printer *c, tf_reduce r, const char *a, const char *b) {
  const bool sign = r == TF_REDUCE_ADD || r == TF_REDUCE_MUL;
  fprintf(c->out, sign ? "%s %s %s" : "%s(%s, %s)", sign ? a : c_combine(r),
          sign ? c_combine(r) : a, b);
}

/* A warp of a warpgroup has no other warp to hide latencies while it computes the maximum of its
 * rows, on which everything waits: so it is split into this many independent parts. */
enum { PARTS = 4 };
static bool is_in_parts(const c_printer *c, const shape *t) {
  const bool order = t->op->reduce == TF_REDUCE_MAX || t->op->reduce == TF_REDUCE_MIN;
  return c->of_groups && order && t->c >= 0 && steps(&t->s->range[t->c], 8) >= PARTS;
}

/* A lane's part of a row's sum: "sum", or "part[0]" to "part[3]". */
static void start_row(c_printer *c, const shape *t, bool parts) {
  c_indent(c);
  if (parts)
    fprintf(c->out, "float part[%d] = {", PARTS);
  else
    fputs("float sum = ", c->out);
  for (int i = 0; i < (parts ? PARTS : 1); i++)
    fprintf(c->out, "%s%s", i ? ", " : "", c_start(t->s, t->op->reduce));
  fputs(parts ? "};\n" : ";\n", c->out);
}

static void join_parts(c_printer *c, tf_reduce r) {
  for (int by = PARTS / 2; by; by /= 2)
    for (int i = 0; i < by; i++) {
      char a[24], b[24];
      snprintf(a, sizeof a, "part[%d]", i), snprintf(b, sizeof b, "part[%d]", i + by);
      c_indent(c), fprintf(c->out, "%s = ", a), cu_combine(c, r, a, b), fputs(";\n", c->out);
    }
  c_line(c, "float sum = part[0];\n");
}

/* Reduces each row: within the lane, then across the four lanes that share it. */
static void reduce_rows(c_printer *c, const shape *t) {
  const tf_reduce r = t->op->reduce;
  const char *out = c_buffer(c, t->op, -1)->id;
  const bool parts = is_in_parts(c, t);
  set_end(c, t);
  int opened = open_rows(c, t);
  start_row(c, t, parts);
  if (t->memory && has_ragged_rows(c, t))
    c_line(c, "if (!("), row_is_beyond_end(c, t), fputs(")) {\n", c->out), c->depth++;
  const int columns = open_columns(c, t);
  skip_columns(c, t);
  c_accumulate(c, t->op, parts ? "part[tn % 2 * 2 + te]" : "sum", t->s->nest.divides);
  c_close(c, columns + (t->memory && has_ragged_rows(c, t)));
  if (parts) join_parts(c, r);
  for (int lane = 1; lane <= 2; lane++) {
    char other[48];
    snprintf(other, sizeof other, "of_lane(sum, LANE ^ %d)", lane);
    c_line(c, "sum = "), cu_combine(c, r, "sum", other), fputs(";\n", c->out);
  }
  char old[96];
  snprintf(old, sizeof old, "%.80s[tm][th]", out);
  c_indent(c), fprintf(c->out, "%s = %s", old, t->s->nest.n_resets ? "fresh ? sum : " : "");
  if (t->s->nest.n_resets)
    cu_combine(c, r, "sum", old);
  else
    fputs("sum", c->out);
  fputs(";\n", c->out);
  c_close(c, opened);
}

/* Columns are tested in the steps alone that do not have all of them. A warpgroup's products are
 * under way, around which a branch would make the compiler wait. */
static void reduce(c_printer *c, const shape *t) {
  if (c->of_groups || !has_end(t) || t->s->range[t->c].most % 8) {
    reduce_rows(c, t);
    return;
  }
  shape whole = *t;
  whole.whole = true;
  c_line(c, "if (");
  c_atom(c->out, c->p, t->s->range[t->c].hi), fputs(" - (", c->out);
  c_atom(c->out, c->p, t->s->range[t->c].lo);
  fprintf(c->out, ") >= %" PRId64 ") {\n", t->s->range[t->c].most);
  c->depth++;
  reduce_rows(c, &whole);
  c->depth--, c_line(c, "} else {\n"), c->depth++;
  reduce_rows(c, t);
  c_close(c, 1);
}

/* Sums in wmma's fragments, copied to the distribution that mma.sync has. */
static void wmma_unload(c_printer *c, const ir_buffer *b) {
  const int64_t mt = b->extent[cu_row_rank(b)] / 16, nt = b->extent[cu_column_rank(b)] / 16;
  c_indent(c);
  fprintf(c->out, "%s %s[%" PRId64 "][%" PRId64 "][4];\n", c_type(b->type), b->id, mt, 2 * nt);
  unrolled(c, "tm", mt, 1);
  unrolled(c, "tn", nt, 1);
  c_indent(c);
  fprintf(c->out, "wmma_unload(&%s[tm][2 * tn], %s_wmma[tm][tn], wmma_room + threadIdx.y * 256);\n",
          b->id, b->id);
  c_close(c, 2);
}

void cu_fragment_points(c_printer *c, const ir_stmt *s) {
  shape t = shape_of(c, s);
  c_line(c, "{ /* ");
  fprintf(c->out, "%s */\n", t.op->name);
  c->depth++;
  if (cu_is_wmma(c->p) && s->kind == IR_SAVE) wmma_unload(c, &c->p->buffers[s->save.from]);
  if (s->kind == IR_NEST && cu_of(s)->fragments) {
    cu_fragment_product(c, s);
    c_close(c, 1);
    return;
  }
  /* warpgroups have registers to keep it, and would spill if it were computed again in the middle
   * of a stream */
  c_line(c, c->of_groups ? "const int lane = LANE;\n" : "const int lane = lane_here();\n");
  int opened = s->kind != IR_NEST && c_open_when(c, s);
  if (s->kind == IR_NEST) c_fresh_flag(c, s);
  opened += open_single(c, &t);
  if (s->kind == IR_NEST && t.op->reduce != TF_ASSIGN)
    reduce(c, &t);
  else if (saves_pairs(c, &t))
    save_pairs(c, &t);
  else
    map(c, &t);
  c_close(c, opened + 1);
}
