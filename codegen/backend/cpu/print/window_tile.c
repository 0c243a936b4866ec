/* Prints one tile of a window: loads, each element once, sums, and maps of these. */
#include <inttypes.h>
#include <stdlib.h>

#include "codegen/backend/cpu/print/window.h"
#include "codegen/intrin/math.h"

void c_window_open_at(c_printer *c, const c_window *w, cpu_at at) {
  int64_t rest = at.tap;
  c_line(c, "{\n");
  c->depth++;
  for (int k = w->op->n_dims - 1; k >= w->op->n_out_dims; k--) {
    const char *dim = c_dim_name(c, w->op, k);
    ir_atom lo = w->s->range[k].lo;
    lo.off += rest % w->s->range[k].most;
    rest /= w->s->range[k].most;
    c_indent(c);
    fprintf(c->out, "const int64_t d_%s = ", dim), c_atom(c->out, c->p, lo);
    fprintf(c->out, "; (void)d_%s;\n", dim);
  }
  if (w->row < 0 || at.row < 0) return;
  const char *dim = c_dim_name(c, w->op, w->row);
  c_indent(c);
  fprintf(c->out, "const int64_t d_%s = o_%s + %d; (void)d_%s;\n", dim, dim, at.row, dim);
}

const char *c_lanes_of(ir_type t) {
  return t == IR_BF16  ? "wide"
         : t == IR_U8  ? "u8"
         : t == IR_I8  ? "i8"
         : t == IR_I32 ? "whole"
                       : "load";
}

/* "NAME(&place", for elements of that width, `step` apart. */
static void open_load(c_printer *c, const tf_op *op, int i, int64_t step) {
  fprintf(c->out, "%s_lanes%s(&", c_lanes_of(c_buffer(c, op, i)->type),
          step == 1   ? ""
          : step == 2 ? "_2"
                      : "_step");
  c_place(c, op, i);
}

void c_window_load(c_printer *c, const c_window *w, int i) {
  const cpu_window_read kind = cpu_window_kind(c->wl, w->s, i);
  const int64_t step = kind == CPU_LANES ? cpu_window_step(c->wl, w->s, i) : 0;
  if (kind == CPU_STEADY) {
    fputs("vec_splat(", c->out), c_element_as(c, w->op, i, IR_F32);
    return;
  }
  open_load(c, w->op, i, step);
  if (kind == CPU_ACROSS)
    fputs(", ", c->out), c_step(c, w->op, i, w->op->dims[w->lane]);
  else if (step > 2)
    fprintf(c->out, ", %" PRId64, step);
}

void c_window_lanes(c_printer *c, const c_window *w, int i, int tap) {
  const tf_tensor *z = &c->wl->tensors[w->op->reads[i].tensor];
  const int last = z->rank - 1;
  int first = 0;
  if (!z->pad[last]) {
    fputs("all", c->out);
    return;
  }
  while (cpu_window_offset(c->wl, w->s, i, last, (cpu_at){0, first}) !=
         cpu_window_offset(c->wl, w->s, i, last, (cpu_at){0, tap}))
    first++;
  fprintf(c->out, "l%d_%d", i, first);
}

bool c_window_there(c_printer *c, const c_window *w, int i) {
  const tf_ref *ref = &w->op->reads[i];
  const tf_tensor *z = &c->wl->tensors[ref->tensor];
  bool any = false;
  for (int r = 0; r < z->rank - 1; r++) {
    if (!z->pad[r]) continue;
    fputs(any ? " && " : "", c->out), c_index(c, &ref->index[r]);
    fprintf(c->out, " >= %" PRId64 " && ", z->lo[r]), c_index(c, &ref->index[r]);
    fprintf(c->out, " < %" PRId64, z->lo[r] + z->extent[r]);
    any = true;
  }
  if (any) fputs(" ? ", c->out);
  return any;
}

/* ---- bytes in groups of up to four neighbours ----------------------------------------------- */

/* The number of neighbours that are multiplied at once. */
static int group_size(const c_window *w) {
  return w->fours < 0 ? 1 : (int)w->s->range[w->op->n_dims - 1].most;
}

void c_window_bytes(c_printer *c, const c_window *w) {
  const tf_ref *ref = &w->op->reads[w->fours];
  const int last = c->wl->tensors[ref->tensor].rank - 1;
  c_line(c, "bytes there;\n");
  c_window_open_at(c, w, (cpu_at){-1, 0});
  c_line(c, "there = bytes_within("), c_index(c, &ref->index[last]);
  fprintf(c->out, ", %" PRId64 ");\n", c->wl->tensors[ref->tensor].extent[last]);
  c_close(c, 1);
}

void c_window_four(c_printer *c, const c_window *w, int i, int tap) {
  const int beside = group_size(w);
  if (tap % beside) return;
  c_indent(c);
  fprintf(c->out, "fours_uis x%d_0_%d;\n{\n", i, tap);
  c->depth++;
  for (int k = 0; k < beside; k++) {
    c_indent(c);
    fprintf(c->out, "int w%d;\n", k);
    c_window_open_at(c, w, (cpu_at){-1, tap + k});
    c_indent(c);
    fprintf(c->out, "w%d = ", k), c_place(c, w->op, i), fputs(";\n", c->out);
    c_close(c, 1);
  }
  c_indent(c);
  fprintf(c->out, "x%d_0_%d = four(w0, w1, %s, %s);\n", i, tap, beside > 2 ? "w2" : "0",
          beside > 3 ? "w3" : "0");
  c_close(c, 1);
}

/* The bytes at a position and their neighbours, to the end of the statement; ask: as in
 * c_window_take. */
static void take_neighbours(c_printer *c, const c_window *w, bool ask) {
  const bool asked =
      ask && cpu_window_kind(c->wl, w->s, w->fours) == CPU_LANES && c_window_there(c, w, w->fours);
  fputs(cpu_window_step(c->wl, w->s, w->fours) == 2 ? "neighbours_2(&" : "neighbours(&", c->out);
  c_place(c, w->op, w->fours);
  fputs(asked ? ", there) : ivec_zero();\n" : ", there);\n", c->out);
}

/* ---- places --------------------------------------------------------------------------------- */

void c_window_take(c_printer *c, const c_window *w, int i, int tap, bool ask) {
  const cpu_window_read kind = cpu_window_kind(c->wl, w->s, i);
  const tf_tensor *z = &c->wl->tensors[w->op->reads[i].tensor];
  const bool asked = ask && kind == CPU_LANES && c_window_there(c, w, i),
             fills = cpu_of(w->s)->window->selects_identity && kind == CPU_LANES,
             some = fills && z->pad[z->rank - 1];
  char none[48] = "vec_zero()";
  if (fills) snprintf(none, sizeof none, "vec_splat(%s)", c_identity(w->op->reduce));
  if (some) fputs("lanes_or(", c->out);
  c_window_load(c, w, i);
  if (kind != CPU_STEADY) fputs(", ", c->out), c_window_lanes(c, w, i, tap);
  fputc(')', c->out);
  if (some) fputs(", ", c->out), c_window_lanes(c, w, i, tap), fprintf(c->out, ", %s)", none);
  if (asked) fprintf(c->out, " : %s", none);
  fputs(";\n", c->out);
}

static void name_of(c_printer *c, const c_window *w, int i, cpu_at at) {
  if (c_window_before(c, w, i)) at.row = 0;
  const cpu_at first = cpu_window_first(c->wl, w->s, i, at);
  fprintf(c->out, "x%d_%d_%d", i, first.row, first.tap);
}

/* Loads for this position that no earlier one has made. */
static void load_place(c_printer *c, const c_window *w, cpu_at at, bool *taken) {
  for (int i = 0; i < w->op->n_reads; i++) {
    if (c_window_before(c, w, i)) continue;
    const cpu_at first = cpu_window_first(c->wl, w->s, i, at);
    bool *there = &taken[(i * w->rows + first.row) * w->taps + first.tap];
    if (*there) continue;
    *there = true;
    const bool fours = w->fours == i;
    c_line(c, fours ? "fours_uis " : "vec "), name_of(c, w, i, at), fputs(";\n", c->out);
    c_window_open_at(c, w, at);
    c_indent(c);
    name_of(c, w, i, at), fputs(" = ", c->out);
    fours ? take_neighbours(c, w, !w->inside) : c_window_take(c, w, i, at.tap, !w->inside);
    c_close(c, 1);
  }
}

/* ---- sums ----------------------------------------------------------------------------------- */

static void value(c_printer *c, const c_window *w, int i, cpu_at at) {
  const tf_expr *e = &w->op->expr[i];
  if (e->what == TF_X_NUMBER) {
    fputs("vec_splat(", c->out), c_number(c, e->number), fputc(')', c->out);
  } else if (e->what == TF_X_READ) {
    name_of(c, w, e->ref, at);
  } else {
    fprintf(c->out, "%s(", tf_micro_vector_name((int)e->call)), value(c, w, e->arg[0], at);
    fputs(", ", c->out), value(c, w, e->arg[1], at), fputc(')', c->out);
  }
}

static void add_up(c_printer *c, const c_window *w, cpu_at at) {
  static const char *const combine[] = {
      [TF_REDUCE_ADD] = "vec_add", [TF_REDUCE_MAX] = "vec_max", [TF_REDUCE_MIN] = "vec_min"};
  const tf_op *op = w->op;
  const int summed = cpu_of(w->s)->window->value;
  const tf_expr *root = &op->expr[summed];
  c_indent(c);
  if (w->fours >= 0) {
    fprintf(c->out, "all%d = fours_ui_add(", at.row), name_of(c, w, w->fours, at),
        fputs(", ", c->out);
    name_of(c, w, 1 - w->fours, at), fprintf(c->out, ", all%d);\n", at.row);
    return;
  }
  fprintf(c->out, "sum%d = ", at.row);
  if (op->reduce == TF_REDUCE_ADD && root->what == TF_X_CALL && root->call == TF_K_MUL) {
    fputs("vec_fma(", c->out), value(c, w, root->arg[0], at);
    fputs(", ", c->out), value(c, w, root->arg[1], at);
  } else {
    fprintf(c->out, "%s(", combine[op->reduce]), value(c, w, summed, at);
  }
  fprintf(c->out, ", sum%d);\n", at.row); /* second: a NaN gives way to it */
}

/* Declares the sums, which start over, or continue where an outer loop has begun them. */
static void declare_sums(c_printer *c, const c_window *w) {
  for (int t = 0; t < w->rows; t++) {
    c_indent(c);
    if (w->fours >= 0) {
      fprintf(c->out, "ivec all%d = ivec_zero();\n", t);
      continue;
    }
    fprintf(c->out, "vec sum%d = vec_splat(%s);\n", t, c_start(w->s, w->op->reduce));
    if (!w->s->nest.n_resets) continue;
    c_line(c, "if (!fresh) {\n");
    c->depth++;
    c_window_open_at(c, w, (cpu_at){t, 0});
    c_indent(c);
    fprintf(c->out, "sum%d = %s_lanes(&", t, c_lanes_of(c_buffer(c, w->op, -1)->type));
    c_place(c, w->op, -1), fputs(", all);\n", c->out);
    c_close(c, 2);
  }
}

/* ---- maps ----------------------------------------------------------------------------------- */

static void map_value(c_printer *c, const c_window *w, const tf_op *op, int i, int t);

static void map_call(c_printer *c, const c_window *w, const tf_op *op, const tf_expr *e, int t) {
  const bool limit = e->call == TF_K_MAX || e->call == TF_K_MIN;
  const int number = limit ? c_number_of(op, e) : -1;
  fprintf(c->out, "%s%s(%s", tf_micro_vector_name((int)e->call), limit && number < 0 ? "_of" : "",
          e->call == TF_K_NEG ? "vec_splat(-0.0f), " : "");
  map_value(c, w, op, e->arg[number == 0], t);
  for (int k = 1; k < e->n_args; k++)
    fputs(", ", c->out), map_value(c, w, op, e->arg[number == 0 ? 0 : k], t);
  fputs(e->call == TF_K_RELU ? ", vec_zero())" : ")", c->out);
}

/* A value of the map; results of the window or of a map before are in registers. */
static void map_value(c_printer *c, const c_window *w, const tf_op *op, int i, int t) {
  const tf_expr *e = &op->expr[i];
  const cpu_window *v = cpu_of(w->s)->window;
  if (e->what == TF_X_CALL) {
    map_call(c, w, op, e, t);
    return;
  }
  if (e->what == TF_X_NUMBER) {
    fputs("vec_splat(", c->out), c_number(c, e->number), fputc(')', c->out);
    return;
  }
  const int z = op->reads[e->ref].tensor;
  if (z == w->op->out) {
    fprintf(c->out, "sum%d", t);
    return;
  }
  for (int m = 0; m < v->n_maps; m++)
    if (c->wl->ops[v->maps[m]->op].out == z) {
      fprintf(c->out, "map%d_%d", m, t);
      return;
    }
  if (!cpu_read_moves(c->wl, op, e->ref, w->lane)) {
    fputs("vec_splat(", c->out), c_element_as(c, op, e->ref, IR_F32), fputc(')', c->out);
    return;
  }
  open_load(c, op, e->ref, 1), fputs(", all)", c->out);
}

/* Whether only the maps of the window read the op's result. */
static bool stays_in_registers(const c_printer *c, const cpu_window *v, const tf_op *op) {
  const tf_tensor *z = &c->wl->tensors[op->out];
  bool all = z->n_consumers > 0 && c_buffer(c, op, -1)->role != IR_KEPT;
  for (int i = 0; i < z->n_consumers; i++) {
    bool in = false;
    for (int m = 0; m < v->n_maps; m++)
      in |= v->maps[m]->op == z->consumers[i];
    all &= in;
  }
  return all;
}

static void store(c_printer *c, const tf_op *op, const char *what, int m, int t) {
  const ir_type of = c_buffer(c, op, -1)->type;
  c_indent(c);
  fprintf(c->out, of == IR_F32 ? "store_lanes(&" : "store_%s_lanes(&", c_lanes_of(of)),
      c_place(c, op, -1);
  if (m < 0)
    fprintf(c->out, ", %s%d, all);\n", what, t);
  else
    fprintf(c->out, ", %s%d_%d, all);\n", what, m, t);
}

static void finish(c_printer *c, const c_window *w) {
  const cpu_window *v = cpu_of(w->s)->window;
  for (int t = 0; t < w->rows; t++) {
    if (w->fours >= 0)
      c_indent(c), fprintf(c->out, "const vec sum%d = ivec_as_float(all%d);\n", t, t);
    c_window_open_at(c, w, (cpu_at){t, 0});
    if (!stays_in_registers(c, v, w->op)) store(c, w->op, "sum", -1, t);
    for (int m = 0; m < v->n_maps; m++) {
      const tf_op *op = &c->wl->ops[v->maps[m]->op];
      c_indent(c);
      fprintf(c->out, "const vec map%d_%d = ", m, t), map_value(c, w, op, op->n_expr - 1, t),
          fputs(";\n", c->out);
      if (!stays_in_registers(c, v, op)) store(c, op, "map", m, t);
    }
    c_close(c, 1);
  }
}

/* ---- order of positions --------------------------------------------------------------------- */

/* Orders positions by the elements that they read: by the offset along the last rank, then rank by
 * rank, so that those that read the same element are adjacent. */
static int compare_places(const c_printer *c, const c_window *w, int read, cpu_at a, cpu_at b) {
  const int rank = c->wl->tensors[w->op->reads[read].tensor].rank;
  for (int k = 0; k < rank; k++) {
    const int r = k ? k - 1 : rank - 1;
    const int64_t x = cpu_window_offset(c->wl, w->s, read, r, a),
                  y = cpu_window_offset(c->wl, w->s, read, r, b);
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

static void sort(const c_printer *c, const c_window *w, int read, cpu_at *order) {
  for (int i = 0; i < w->rows * w->taps; i++) {
    const cpu_at at = {i / w->taps, i % w->taps};
    int k = i;
    for (; k > 0 && compare_places(c, w, read, at, order[k - 1]) < 0; k--)
      order[k] = order[k - 1];
    order[k] = at;
  }
}

void c_window_tile(c_printer *c, const c_window *w) {
  const int places = w->rows * w->taps;
  int lead = 0;
  cpu_at *order = malloc((size_t)places * sizeof *order);
  bool *taken = calloc((size_t)(places * w->op->n_reads), sizeof *taken);
  while (cpu_window_kind(c->wl, w->s, lead) != CPU_LANES)
    lead++;
  if (order && taken) {
    sort(c, w, lead, order);
    declare_sums(c, w);
    for (int i = 0; i < places; i++)
      if (order[i].tap % group_size(w) == 0)
        load_place(c, w, order[i], taken), add_up(c, w, order[i]);
    finish(c, w);
  } else {
    c->failed = true;
  }
  free(taken);
  free(order);
}

bool c_window_before(const c_printer *c, const c_window *w, int i) {
  return !cpu_read_moves(c->wl, w->op, i, w->row);
}
