/* Prints ops over rows of contiguous elements: sums of a row, and maps and sums fused over it,
 * element by element or as vectors. */
#include <inttypes.h>

#include "codegen/backend/cpu/print/print.h"
#include "codegen/intrin/math.h"
#include "model/input/dims.h"

/* Whether the op sums contiguous elements unchanged, as row_sum and similar functions do. */
bool c_is_row_sum(const c_printer *c, const tf_op *op) {
  bool known =
      op->reduce == TF_REDUCE_ADD || op->reduce == TF_REDUCE_MAX || op->reduce == TF_REDUCE_MIN;
  if (!known || op->n_dims != op->n_out_dims + 1 || op->n_expr != 1 ||
      op->expr[0].what != TF_X_READ)
    return false;
  const tf_tensor *z = &c->wl->tensors[op->reads[0].tensor];
  for (int r = 0; r < z->rank; r++)
    if (z->pad[r]) return false;
  const ir_type type = c_buffer(c, op, 0)->type;
  const bool can = type == IR_F32 || (type == IR_I32 && tf_micro_lanes(c->micro) > 1);
  return z->rank > 0 && can && c_buffer(c, op, -1)->type == IR_F32 &&
         c_runs_along(c, op, op->dims[op->n_out_dims], false);
}

/* The sum in `all` becomes the output, or is combined with it. */
void c_store_sum(c_printer *c, const tf_op *op, const ir_stmt *s) {
  c_indent(c);
  c_element(c, op, -1), fputs(" = ", c->out);
  bool sign = op->reduce == TF_REDUCE_ADD;
  if (s->nest.finite) {
    fprintf(c->out, "greater(all, fresh ? %s : ", c_start(s, op->reduce)), c_element(c, op, -1),
        fputc(')', c->out);
  } else if (s->nest.n_resets) {
    fputs("fresh ? all : ", c->out);
    if (!sign) fprintf(c->out, "%s(all, ", c_combine(op->reduce));
    c_element(c, op, -1);
    fputs(sign ? " + all" : ")", c->out);
  } else {
    fputs("all", c->out);
  }
  fputs(";\n", c->out);
}

void c_row_sum(c_printer *c, const tf_op *op, const ir_stmt *s, int open) {
  static const char *const name[] = {
      [TF_REDUCE_ADD] = "sum", [TF_REDUCE_MAX] = "max", [TF_REDUCE_MIN] = "min"};
  const char *dim = c->p->dim_id[op->dims[op->n_out_dims]];
  const ir_range *r = &s->range[op->n_out_dims];
  for (int k = open; k < op->n_out_dims; k++)
    c_loop(c, op, s, k);
  if (c_buffer(c, op, 0)->type != IR_F32) {
    c_row_vectors(c, &s, 1, op->n_out_dims);
    c_close(c, op->n_out_dims - open);
    return;
  }
  c_indent(c);
  fprintf(c->out, "const int64_t d_%s = ", dim), c_atom(c->out, c->p, r->lo), fputs(";\n", c->out);
  c_indent(c);
  fprintf(c->out, "const float all = row_%s(&", name[op->reduce]), c_place(c, op, 0),
      fputs(", ", c->out);
  c_atom(c->out, c->p, r->hi), fprintf(c->out, " - d_%s);\n", dim);
  c_store_sum(c, op, s);
  c_close(c, op->n_out_dims - open);
}

/* Whether the nest is a map over a contiguous row, its first `open` dims being set. */
static bool is_row_map(const c_printer *c, const ir_stmt *s, int open) {
  const tf_op *op = &c->wl->ops[s->op];
  return op->reduce == TF_ASSIGN && op->n_out_dims == open + 1 &&
         c_runs_along(c, op, op->dims[open], true);
}

/* ---- as vectors ----------------------------------------------------------------------------- */

static bool unpadded(const tf_tensor *z) {
  for (int r = 0; r < z->rank; r++)
    if (z->pad[r]) return false;
  return true;
}

/* Whether a row of it can be loaded: it has no borders, or only along its last rank, where lanes
 * outside are zeros. */
static bool can_load(const c_printer *c, const tf_op *op, int ref, int dim) {
  const tf_tensor *z = &c->wl->tensors[op->reads[ref].tensor];
  return unpadded(z) ||
         (z->rank > 0 && tf_index_coef(&op->reads[ref].index[z->rank - 1], dim) == 1);
}

/* Whether float32 holds all that the op computes of its dims alone. */
static bool dims_are_exact(const tf_workload *wl, const tf_op *op) {
  bool exact = true;
  for (int i = 0; i < op->n_expr; i++)
    exact &= op->expr[i].what != TF_X_DIM || wl->dims[op->expr[i].dim].extent <= 1 << 20;
  return exact;
}

/* Whether elements of a type can be loaded as vectors of float32. */
static bool loads_as_vectors(const c_printer *c, ir_type t) {
  return t == IR_F32 || t == IR_I32 || t == IR_BF16 ||
         (ir_is_byte(t) && tf_micro_takes_bytes(c->micro));
}

bool c_takes_vectors(const c_printer *c, ir_type t) {
  return t == IR_F32 || (t == IR_BF16 && c->p->machine.real->leaves == IR_BF16) ||
         (ir_is_byte(t) && tf_micro_takes_bytes(c->micro));
}

/* Whether all operations of the map exist for vectors of float32. */
static bool can_be_vectors(const c_printer *c, const ir_stmt *s, int open) {
  const tf_op *op = &c->wl->ops[s->op];
  bool can = tf_micro_lanes(c->micro) > 1 && is_row_map(c, s, open) &&
             c_takes_vectors(c, c_buffer(c, op, -1)->type) && op->n_reads < 64;
  for (int i = 0; can && i < op->n_reads; i++)
    can = loads_as_vectors(c, c_buffer(c, op, i)->type) && can_load(c, op, i, op->dims[open]);
  for (int i = 0; can && i < op->n_expr; i++)
    can = op->expr[i].what != TF_X_CALL || tf_micro_vector_name((int)op->expr[i].call);
  return can && dims_are_exact(c->wl, op);
}

/* Other maps are left to the compiler, which vectorises them as well. Of those printed as vectors
 * it would make three shorter vectors of the lanes left at a row's end, where an exponential takes
 * as long in each as in a whole one; of rows of bfloat16 up to 15 scalar elements with a branch for
 * each ReLU, which data-dependent signs mispredict; of rows of bytes up to 31, each with a
 * division. */
bool c_is_vector_row(const c_printer *c, const ir_stmt *s, int open) {
  const tf_op *op = &c->wl->ops[s->op];
  const ir_type out = c_buffer(c, op, -1)->type;
  const uint32_t exponentials = 1u << TF_K_EXP | 1u << TF_K_SIGMOID | 1u << TF_K_SILU;
  return can_be_vectors(c, s, open) &&
         (op->kinds & exponentials || out == IR_BF16 || ir_is_byte(out));
}

/* Whether s reads the results of the ops before it at the current element only, no sums. */
static bool reads_in_row(const c_printer *c, const ir_stmt *const *all, int n, const tf_op *op,
                         int open) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < op->n_reads; k++) {
      const tf_op *maker = &c->wl->ops[all[i]->op];
      if (op->reads[k].tensor != maker->out) continue;
      const tf_index *ix = &op->reads[k].index[open];
      if (maker->reduce != TF_ASSIGN || ix->n_terms != 1 || ix->c != 0 || ix->terms[0].coef != 1 ||
          ix->terms[0].dim != c->wl->ops[all[0]->op].dims[open])
        return false;
    }
  return true;
}

static bool same_row(const c_printer *c, const ir_stmt *first, const ir_stmt *s, int open) {
  const ir_range *a = &first->range[open], *b = &s->range[open];
  return c->wl->ops[s->op].dims[open] == c->wl->ops[first->op].dims[open] &&
         ir_same(a->lo, b->lo) && ir_same(a->hi, b->hi);
}

/* Whether s is a sum over the row of what one of the n ops before computes. */
static bool is_sum_of(const c_printer *c, const ir_stmt *const *all, int n, const ir_stmt *s,
                      int open) {
  const tf_op *op = &c->wl->ops[s->op];
  if (op->n_out_dims != open || !c_is_row_sum(c, op)) return false;
  for (int i = 0; i < n; i++)
    if (c->wl->ops[all[i]->op].reduce == TF_ASSIGN &&
        c->wl->ops[all[i]->op].out == op->reads[0].tensor)
      return true;
  return false;
}

static bool sums(const c_printer *c, const ir_stmt *const *all, int n) {
  for (int i = 0; i < n; i++)
    if (c->wl->ops[all[i]->op].reduce != TF_ASSIGN) return true;
  return false;
}

/* Whether s can be fused into the loop of the n ops before: maps and, if all maps are vectors,
 * sums. */
static bool joins_row(const c_printer *c, const ir_stmt *const *all, int n, const ir_stmt *s,
                      int open) {
  const tf_op *op = &c->wl->ops[s->op];
  const bool map = is_row_map(c, s, open);
  if (op->n_dims <= open || !same_row(c, all[0], s, open)) return false;
  if (!map && !is_sum_of(c, all, n, s, open)) return false;
  for (int i = 0; (!map || sums(c, all, n)) && i <= n; i++) {
    const ir_stmt *other = i < n ? all[i] : s;
    if (c->wl->ops[other->op].reduce == TF_ASSIGN && !can_be_vectors(c, other, open)) return false;
  }
  return reads_in_row(c, all, n, op, open);
}

/* Whether only ops of the row read the map's result, so that it needs no memory. */
static bool needs_no_memory(const c_printer *c, const ir_stmt *const *all, int n,
                            const tf_op *map) {
  const tf_tensor *z = &c->wl->tensors[map->out];
  if (c_buffer(c, map, -1)->role == IR_KEPT) return false;
  if (map->out == c->rounded_only) return true;
  for (int i = 0; i < z->n_consumers; i++) {
    bool inside = false;
    for (int k = 0; k < n; k++)
      inside |= all[k]->op == z->consumers[i];
    if (!inside) return false;
  }
  return z->n_consumers > 0;
}

bool c_moves_with(const c_printer *c, const tf_ref *ref, int dim) {
  for (int r = 0; r < c->wl->tensors[ref->tensor].rank; r++)
    for (int t = 0; t < ref->index[r].n_terms; t++)
      if (ref->index[r].terms[t].dim == dim) return true;
  return false;
}

/* Reads that the row does not move, except the divisor: they are hoisted out of the loop, where no
 * store can alias them. */
static uint64_t steady_reads(const c_printer *c, const tf_op *op, const ir_stmt *s, int dim) {
  uint64_t all = 0;
  int divisor = c_steady_divisor(c, op, s, dim);
  for (int i = 0; i < op->n_reads && i < 64; i++)
    if (i != divisor && i != s->nest.divides && !c_moves_with(c, &op->reads[i], dim))
      all |= UINT64_C(1) << i;
  return all;
}

void c_hoist_steady(c_printer *c, const tf_op *op, const ir_stmt *s, int dim, bool vectors) {
  const char *name = c->p->tensor_id[op->out],
             *type = vectors       ? "vec"
                     : c->as_int32 ? "int32_t"
                                   : "float",
             *open = vectors ? "vec_splat(" : "";
  int divisor = c_steady_divisor(c, op, s, dim);
  uint64_t steady = steady_reads(c, op, s, dim);
  for (int i = 0; i < op->n_reads && i < 64; i++) {
    if (i != divisor && !(steady >> i & 1)) continue;
    if (i == divisor) {
      c_take_divisor(c, op, i, vectors);
      continue;
    }
    c_indent(c);
    fprintf(c->out, "const %s s_%s_%d = %s", type, name, i, open);
    c_element(c, op, i), fputs(vectors ? ");\n" : ";\n", c->out);
  }
}

/* Prints s with its hoisted reads. */
static void with_steady(c_printer *c, const ir_stmt *s, int dim) {
  const tf_op *op = &c->wl->ops[s->op];
  c->inverse = c_steady_divisor(c, op, s, dim), c->inverse_of = op;
  c->steady = steady_reads(c, op, s, dim), c->steady_of = op;
}

static void without_steady(c_printer *c) { c->inverse = -1, c->steady = 0; }

static void names_of(c_printer *c, const ir_stmt *const *all, int n) {
  c_line(c, "{ /*");
  for (int i = 0; i < n; i++)
    fprintf(c->out, " %s", c->wl->ops[all[i]->op].name);
  fputs(" */\n", c->out);
  c->depth++;
}

void c_row_maps(c_printer *c, const ir_stmt *const *all, int n, int open) {
  const int dim = c->wl->ops[all[0]->op].dims[open];
  names_of(c, all, n);
  for (int i = 0; i < n; i++)
    c_hoist_steady(c, &c->wl->ops[all[i]->op], all[i], dim, false);
  if (open == c->wl->ops[all[0]->op].n_out_dims - 1)
    c_line(c, "#pragma omp simd\n"); /* contiguous */
  c_loop(c, &c->wl->ops[all[0]->op], all[0], open);
  for (int i = 0; i < n; i++) {
    const tf_op *op = &c->wl->ops[all[i]->op];
    char where[80];
    snprintf(where, sizeof where, "const float v_%s", c->p->tensor_id[op->out]);
    bool local = op->reduce == TF_ASSIGN && needs_no_memory(c, all, n, op);
    with_steady(c, all[i], dim);
    c_accumulate(c, op, local ? where : NULL, all[i]->nest.divides);
    without_steady(c);
    if (local) c->row_tensors |= UINT64_C(1) << (op->out % 64);
  }
  c->row_tensors = 0;
  c_close(c, 2);
}

static void vector_value(c_printer *c, const tf_op *op, int i, int skip, bool part);

static const char *loads(ir_type t) {
  return t == IR_I32  ? "vec_whole"
         : t == IR_U8 ? "vec_of_u8"
         : t == IR_I8 ? "vec_of_i8"
                      : "vec_load";
}
static const char *stores(ir_type t) {
  return t == IR_BF16 ? "bf16_round"
         : t == IR_U8 ? "vec_to_u8"
         : t == IR_I8 ? "vec_to_i8"
                      : "vec_store";
}

/* A read of a row that may lie beyond borders, or cross them. */
static void padded_read(c_printer *c, const tf_op *op, int ref, bool part) {
  const tf_ref *at = &op->reads[ref];
  const tf_tensor *z = &c->wl->tensors[at->tensor];
  const int last = z->rank - 1;
  bool asked = false;
  fputc('(', c->out);
  for (int r = 0; r < last; r++) {
    if (!z->pad[r]) continue;
    fputs(asked ? " && " : "", c->out), c_index(c, &at->index[r]);
    fprintf(c->out, " >= %" PRId64 " && ", z->lo[r]), c_index(c, &at->index[r]);
    fprintf(c->out, " < %" PRId64, z->lo[r] + z->extent[r]);
    asked = true;
  }
  fprintf(c->out, "%s%s_lanes(&", asked ? " ? " : "", c_lanes_of(c_buffer(c, op, ref)->type));
  c_place(c, op, ref), fputs(", lanes_within(", c->out), c_index(c, &at->index[last]);
  fprintf(c->out, ", 1, %" PRId64 ", %" PRId64 ", %s))%s)", z->lo[last],
          z->lo[last] + z->extent[last], part ? "rest" : "LANES", asked ? " : vec_zero()" : "");
}

static void vector_read(c_printer *c, const tf_op *op, int ref, bool part) {
  const int z = op->reads[ref].tensor;
  if (c->steady >> ref & 1) {
    fprintf(c->out, "s_%s_%d", c->p->tensor_id[op->out], ref);
  } else if (c->row_tensors >> (z % 64) & 1 && c->wl->tensors[z].producer >= 0) {
    fprintf(c->out, "v_%s", c->p->tensor_id[z]);
  } else if (!unpadded(&c->wl->tensors[z])) {
    padded_read(c, op, ref, part);
  } else {
    if (c_buffer(c, op, ref)->type == IR_BF16) {
      fputs("wide_lanes(&", c->out), c_place(c, op, ref);
      fputs(part ? ", lanes_between(0, rest))" : ", lanes_between(0, LANES))", c->out);
      return;
    }
    fprintf(c->out, "%s%s(&", loads(c_buffer(c, op, ref)->type), part ? "_part" : ""),
        c_place(c, op, ref);
    fputs(part ? ", rest)" : ")", c->out);
  }
}

/* Whether the expression consists of numbers and dims that the row does not move. */
static bool is_steady(const tf_op *op, int i, int dim) {
  const tf_expr *e = &op->expr[i];
  if (e->what != TF_X_CALL) return e->what == TF_X_NUMBER || (e->what == TF_X_DIM && e->dim != dim);
  bool all = true;
  for (int k = 0; k < e->n_args; k++)
    all = all && is_steady(op, e->arg[k], dim);
  return all;
}

/* A condition as a vector mask. */
static void vector_truth(c_printer *c, const tf_op *op, int i, int skip, bool part) {
  const tf_expr *e = &op->expr[i];
  const char *sign = e->what == TF_X_CALL ? c_comparison(e->call) : NULL;
  fputs("(vec_truth)(", c->out);
  vector_value(c, op, sign ? e->arg[0] : i, skip, part);
  fprintf(c->out, " %s ", sign ? sign : "!=");
  if (sign)
    vector_value(c, op, e->arg[1], skip, part);
  else
    fputs("vec_zero()", c->out);
  fputc(')', c->out);
}

static void vector_choice(c_printer *c, const tf_op *op, const tf_expr *e, int skip, bool part) {
  fputs("vec_choose(", c->out), vector_truth(c, op, e->arg[0], skip, part);
  for (int k = 1; k < 3; k++)
    fputs(", ", c->out), vector_value(c, op, e->arg[k], skip, part);
  fputc(')', c->out);
}

static void vector_arguments(c_printer *c, const tf_op *op, const tf_expr *e, int skip, bool part) {
  const bool inverse = e->call == TF_K_DIV && c->inverse >= 0 && e == &op->expr[op->n_expr - 1];
  const bool low = e->call == TF_K_EXP && ir_is_low(c->wl, op, e->arg[0]);
  const bool brief = low && op->out == c->rounded_only &&
                     e == &op->expr[op->n_expr - 1]; /* its value is rounded at once */
  const bool limit = e->call == TF_K_MAX || e->call == TF_K_MIN;
  const int number = limit ? c_number_of(op, e) : -1;
  const bool power = inverse && c_has_power(c, op, c->inverse);
  if (power) fputs("vec_mul(", c->out);
  fprintf(c->out, "%s%s(",
          inverse ? "vec_mul"
          : brief ? "vec_exp_brief"
          : low   ? "vec_exp_low"
                  : tf_micro_vector_name((int)e->call),
          limit && number < 0 ? "_of" : "");
  if (e->call == TF_K_NEG) fputs("vec_splat(-0.0f), ", c->out);
  vector_value(c, op, e->arg[number == 0], skip, part);
  if (e->call == TF_K_RELU) fputs(", vec_zero()", c->out);
  if (inverse) fprintf(c->out, ", inverse_%s", c->p->tensor_id[op->out]);
  for (int k = 1; !inverse && k < e->n_args; k++)
    fputs(", ", c->out), vector_value(c, op, e->arg[number == 0 ? 0 : k], skip, part);
  fputc(')', c->out);
  if (power) fprintf(c->out, ", power_%s)", c->p->tensor_id[op->out]);
}

static void vector_value(c_printer *c, const tf_op *op, int i, int skip, bool part) {
  const tf_expr *e = &op->expr[i];
  if (e == c->round_last)
    vector_value(c, op, e->arg[0], skip, part);
  else if (e->what == TF_X_CALL && is_steady(op, i, c->vector_dim))
    fputs("vec_splat(", c->out), c_part(c, op, i), fputc(')', c->out);
  else if (e->what == TF_X_CALL && e->call == TF_K_SELECT)
    vector_choice(c, op, e, skip, part);
  else if (e->what == TF_X_CALL && c_comparison(e->call))
    fputs("vec_choose(", c->out), vector_truth(c, op, i, skip, part),
        fputs(", vec_splat(1.0f), vec_zero())", c->out);
  else if (e->what == TF_X_CALL)
    vector_arguments(c, op, e, skip, part);
  else if (e->what == TF_X_NUMBER)
    fputs("vec_splat(", c->out), c_number(c, e->number), fputc(')', c->out);
  else if (e->what == TF_X_DIM)
    fprintf(c->out, e->dim == c->vector_dim ? "vec_from(d_%s)" : "vec_splat((float)d_%s)",
            c->p->dim_id[e->dim]);
  else if (e->ref == skip)
    fputs("vec_splat(1.0f)", c->out);
  else
    vector_read(c, op, e->ref, part);
}

void c_rows_value(c_printer *c, const ir_stmt *s, int dim, bool part) {
  const tf_op *op = &c->wl->ops[s->op];
  c->vector_dim = dim;
  with_steady(c, s, dim);
  vector_value(c, op, op->n_expr - 1, s->nest.divides, part);
  without_steady(c);
}

/* The rounding of the op, if only limits by integers follow it: as these do not change which
 * integer it gives, it can be left to the conversion of the store. NULL: there is none. */
static const tf_expr *last_rounding(const tf_op *op) {
  const tf_expr *e = &op->expr[op->n_expr - 1];
  bool most = false, least = false;
  while (e->what == TF_X_CALL && (e->call == TF_K_MIN || e->call == TF_K_MAX)) {
    const int number = c_number_of(op, e);
    if (number < 0) return NULL;
    const double limit = op->expr[e->arg[number]].number;
    if (limit < INT8_MIN || limit > UINT8_MAX || limit != (int)limit) return NULL;
    *(e->call == TF_K_MIN ? &most : &least) = true;
    e = &op->expr[e->arg[number == 0]];
  }
  return most && least && e->what == TF_X_CALL && e->call == TF_K_ROUND ? e : NULL;
}

/* ---- maps of a product's sums --------------------------------------------------------------- */

/* Whether read i of the map is another than the sums: the map's type has a member for it. */
static bool is_extra_read(const c_printer *c, const ir_stmt *map, int i) {
  return c->wl->ops[map->op].reads[i].tensor != c->wl->ops[cpu_of(map)->map_of->op].out;
}

static void store_of_map(c_printer *c, const ir_stmt *map, const char *name, bool part) {
  const tf_op *op = &c->wl->ops[map->op];
  const int dim = op->dims[op->n_out_dims - 1];
  const ir_type to = c_buffer(c, op, -1)->type;
  fprintf(c->out,
          "#if defined(__GNUC__) /* a tile has as many calls as vectors */\n"
          "__attribute__((always_inline, unused))\n#endif\n"
          "static inline void %s_store%s(const %s *of, %s *c, vec v_%s, int64_t i, int64_t j%s) {\n"
          "  (void)of, (void)i, (void)j;\n",
          name, part ? "_part" : "", name, c_type(to),
          c->p->tensor_id[c->wl->ops[cpu_of(map)->map_of->op].out], part ? ", int rest" : "");
  for (int i = 0; i < op->n_reads; i++) {
    if (!is_extra_read(c, map, i)) continue;
    const bool moves = c_moves_with(c, &op->reads[i], dim);
    fprintf(c->out, "  const vec s_%s_%d = %s(of->x%d%si * of->x%d_by%s%s);\n",
            c->p->tensor_id[op->out], i,
            !moves ? "vec_splat"
            : part ? "vec_load_part"
                   : "vec_load",
            i, moves ? " + " : "[", i, moves ? " + j" : "]", moves && part ? ", rest" : "");
    c->steady |= UINT64_C(1) << i;
  }
  if (part) fprintf(c->out, "  %s lane[LANES];\n", c_type(to));
  c->round_last = last_rounding(op);
  fprintf(c->out, "  %s(%s, ",
          !c->round_last ? stores(to)
          : to == IR_U8  ? "vec_near_u8"
                         : "vec_near_i8",
          part ? "lane" : "c");
  c->vector_dim = dim;
  c->row_tensors = UINT64_C(1) << (c->wl->ops[cpu_of(map)->map_of->op].out % 64);
  vector_value(c, op, op->n_expr - 1, -1, part);
  c->row_tensors = c->steady = 0, c->round_last = NULL;
  fputs(part ? ");\n  memcpy(c, lane, (size_t)rest);\n}\n" : ");\n}\n", c->out);
}

tf_micro_map c_map_of_sums(c_printer *c, const ir_stmt *map, char as[16]) {
  const tf_op *op = &c->wl->ops[map->op];
  const tf_micro_map is = {as, c_buffer(c, op, -1)->type};
  char name[32];
  bool anew;
  snprintf(as, 16, "map%d", map->op);
  snprintf(name, sizeof name, "%s_store", as);
  if (!tf_micro_name(c->micro, name, &anew)) c->failed = true;
  if (!anew) return is;
  FILE *const out = c->out;
  c->out = c->blocks;
  fprintf(c->out, "\n/* %s, as it leaves a tile */\ntypedef struct {\n", op->name);
  for (int i = 0; i < op->n_reads; i++)
    if (is_extra_read(c, map, i)) fprintf(c->out, "  const float *x%d;\n  int64_t x%d_by;\n", i, i);
  fprintf(c->out, "  int none;\n} %s;\n", as);
  store_of_map(c, map, as, false);
  store_of_map(c, map, as, true);
  c->out = out;
  return is;
}

void c_map_places(c_printer *c, const ir_stmt *product, int rows) {
  const ir_stmt *map = cpu_of(product)->map;
  const tf_op *op = &c->wl->ops[map->op];
  char as[16];
  c_map_of_sums(c, map, as);
  c_indent(c);
  fprintf(c->out, "const %s map = {", as);
  for (int i = 0; i < op->n_reads; i++) {
    if (!is_extra_read(c, map, i)) continue;
    fputc('&', c->out), c_place(c, op, i);
    fputs(", ", c->out), c_step(c, op, i, rows), fputs(", ", c->out);
  }
  fputs("0};\n", c->out);
}

static const char *vector_combine(tf_reduce r, bool across) {
  if (r == TF_REDUCE_ADD) return across ? "vec_sum" : "vec_add";
  if (r == TF_REDUCE_MAX) return across ? "vec_most" : "vec_max";
  return across ? "vec_least" : "vec_min";
}

void c_rows_vector(c_printer *c, const ir_stmt *const *all, int n, int dim, bool part) {
  for (int i = 0; i < n; i++) {
    const tf_op *op = &c->wl->ops[all[i]->op];
    const char *out = c->p->tensor_id[op->out];
    c_indent(c);
    if (op->reduce != TF_ASSIGN) {
      fprintf(c->out, "all_%s = %s(", out, vector_combine(op->reduce, false));
      if (part) fputs("vec_keep(", c->out);
      vector_read(c, op, 0, part);
      if (part) fprintf(c->out, ", vec_splat(%s), rest)", c_identity(op->reduce));
      fprintf(c->out, ", all_%s);\n", out); /* second: a NaN gives way to it */
      continue;
    }
    fprintf(c->out, "const vec v_%s = ", out);
    c_rows_value(c, all[i], dim, part);
    fputs(";\n", c->out);
    c->row_tensors |= UINT64_C(1) << (op->out % 64);
    if (needs_no_memory(c, all, n, op)) continue;
    c_indent(c);
    fprintf(c->out, "%s%s(&", stores(c_buffer(c, op, -1)->type), part ? "_part" : ""),
        c_place(c, op, -1);
    fprintf(c->out, ", v_%s%s);\n", out, part ? ", rest" : "");
  }
  c->row_tensors = 0;
}

/* Whether the row may be longer than a run of float32 sums in each lane: then each run is added to
 * a double. */
static bool exceeds_run(const c_printer *c, const ir_stmt *s) {
  const tf_op *op = &c->wl->ops[s->op];
  return !c->row_at && op->reduce == TF_REDUCE_ADD && op->n_dims > op->n_out_dims &&
         s->range[op->n_out_dims].most > (int64_t)TF_MICRO_RUN * tf_micro_lanes(c->micro);
}

/* After as many vectors as a run has, its sums are added to doubles. */
static void flush_run(c_printer *c, const ir_stmt *const *all, int n) {
  c_line(c, "if (++run == ");
  fprintf(c->out, "%d) {\n", TF_MICRO_RUN);
  c->depth++;
  for (int i = 0; i < n; i++) {
    const char *out = c->p->tensor_id[c->wl->ops[all[i]->op].out];
    if (!exceeds_run(c, all[i])) continue;
    c_indent(c);
    fprintf(c->out, "total_%s += vec_sum(all_%s);\n", out, out);
    c_indent(c);
    fprintf(c->out, "all_%s = vec_zero();\n", out);
  }
  c_line(c, "run = 0;\n");
  c_close(c, 1);
}

void c_rows_open(c_printer *c, const ir_stmt *const *all, int n, int dim) {
  for (int i = 0; i < n; i++) {
    const tf_op *op = &c->wl->ops[all[i]->op];
    if (op->reduce == TF_ASSIGN) {
      c_hoist_steady(c, op, all[i], dim, true);
      continue;
    }
    c_indent(c);
    fprintf(c->out, "vec all_%s = vec_splat(%s);\n", c->p->tensor_id[op->out],
            c_identity(op->reduce));
    if (exceeds_run(c, all[i]))
      c_indent(c), fprintf(c->out, "double total_%s = 0;\n", c->p->tensor_id[op->out]);
  }
}

void c_rows_close(c_printer *c, const ir_stmt *const *all, int n) {
  for (int i = 0; i < n; i++) {
    const tf_op *op = &c->wl->ops[all[i]->op];
    if (op->reduce == TF_ASSIGN) continue;
    c_line(c, "{\n");
    c->depth++;
    if (n > 1 || c->row_at) c_fresh_flag(c, all[i]); /* for a sum by itself c_nest has printed it */
    c_indent(c);
    const char *out = c->p->tensor_id[op->out];
    if (exceeds_run(c, all[i]))
      fprintf(c->out, "const float all = (float)(total_%s + vec_sum(all_%s));\n", out, out);
    else
      fprintf(c->out, "const float all = %s(all_%s);\n", vector_combine(op->reduce, true), out);
    c_store_sum(c, op, all[i]);
    c_close(c, 1);
  }
}

void c_row_vectors(c_printer *c, const ir_stmt *const *all, int n, int open) {
  const int dim = c->wl->ops[all[0]->op].dims[open];
  const ir_range *r = &all[0]->range[open];
  const char *name = c->p->dim_id[dim];
  names_of(c, all, n);
  c_rows_open(c, all, n, dim);
  bool runs = false;
  for (int i = 0; i < n; i++)
    runs |= c->wl->ops[all[i]->op].reduce == TF_REDUCE_ADD && exceeds_run(c, all[i]);
  if (runs) c_line(c, "int run = 0;\n");
  c_indent(c);
  fprintf(c->out, "int64_t d_%s = ", name), c_atom(c->out, c->p, r->lo), fputs(";\n", c->out);
  c_indent(c);
  fprintf(c->out, "for (; d_%s + LANES <= ", name), c_atom(c->out, c->p, r->hi),
      fprintf(c->out, "; d_%s += LANES) {\n", name);
  c->depth++;
  c_rows_vector(c, all, n, dim, false);
  if (runs) flush_run(c, all, n);
  c_close(c, 1);
  if (!r->exact || r->most % tf_micro_lanes(c->micro)) {
    c_indent(c);
    fprintf(c->out, "if (d_%s < ", name), c_atom(c->out, c->p, r->hi), fputs(") {\n", c->out);
    c->depth++;
    c_indent(c);
    fputs("const int rest = (int)(", c->out), c_atom(c->out, c->p, r->hi),
        fprintf(c->out, " - d_%s);\n", name);
    c_rows_vector(c, all, n, dim, true);
    c_close(c, 1);
  }
  c_rows_close(c, all, n);
  c_close(c, 1);
}

static int root_buffer_of(const ir_program *p, int z) {
  int buffer = p->buffer_of[z];
  while (p->buffers[buffer].shares >= 0)
    buffer = p->buffers[buffer].shares;
  return buffer;
}

bool c_is_deferred_quotient(const c_printer *c, const ir_stmt *s) {
  const tf_op *op = &c->wl->ops[s->op];
  const tf_expr *root = &op->expr[op->n_expr - 1];
  if (s->nest.divides < 0 || op->reduce != TF_ASSIGN || root->what != TF_X_CALL ||
      root->call != TF_K_DIV)
    return false;
  const tf_expr *from = &op->expr[root->arg[0]], *by = &op->expr[root->arg[1]];
  if (from->what != TF_X_READ || by->what != TF_X_READ || by->ref != s->nest.divides) return false;
  return root_buffer_of(c->p, op->reads[from->ref].tensor) == root_buffer_of(c->p, op->out);
}

int c_joined(const c_printer *c, const ir_stmt *const *all, int n, int open) {
  int k = 1;
  if (!is_row_map(c, all[0], open)) return 0;
  while (k < n && !c_is_deferred_quotient(c, all[k]) && joins_row(c, all, k, all[k], open))
    k++;
  return k;
}

void c_row(c_printer *c, const ir_stmt *const *all, int n, int open) {
  bool vectors = true, worth = sums(c, all, n);
  for (int i = 0; i < n; i++) {
    vectors &= c->wl->ops[all[i]->op].reduce != TF_ASSIGN || can_be_vectors(c, all[i], open);
    worth |= c_is_vector_row(c, all[i], open);
  }
  (vectors && worth ? c_row_vectors : c_row_maps)(c, all, n, open);
}
