/* Prints prefetching by a product while it multiplies (codegen/intrin/prefetch.c), and by the tiles
 * of a window. */
#include <inttypes.h>

#include "codegen/backend/cpu/print/window.h"
#include "model/input/dims.h"

static bool is_in_box(const c_printer *c, const tf_op *op, int read, int k) {
  bool any = read < 0 && k < op->n_out_dims;
  for (int r = 0; read >= 0 && r < c_buffer(c, op, read)->rank; r++)
    for (int t = 0; t < op->reads[read].index[r].n_terms; t++)
      any |= op->reads[read].index[r].terms[t].dim == op->dims[k];
  return any;
}

static void origin(c_printer *c, const tf_op *op, const cpu_prefetch *a) {
  for (int k = 0; k < op->n_dims; k++)
    if (is_in_box(c, op, a->read, k)) c_origin(c, op, a->nest, k);
}

/* The distance in bytes by which the box moves. */
static void print_distance(c_printer *c, const tf_op *op, const cpu_prefetch *a) {
  for (int k = 0; k < op->n_dims; k++) {
    if (!a->shift[k]) continue;
    fprintf(c->out, " + (uintptr_t)(%" PRId64 " * (",
            a->shift[k] * ir_bytes(c_buffer(c, op, a->read)->type)),
        c_step(c, op, a->read, op->dims[k]);
    fputs("))", c->out);
  }
}

/* far[i]: the panel that the caller has packed, if it has, or else what follows. */
static void print_offered(c_printer *c, int i, const cpu_prefetch *a) {
  const cpu_product *p = cpu_of(a->nest)->product;
  c_indent(c);
  fprintf(c->out, "far[%d] = ", i);
  if (!p || a->read != p->b || !c_offers(c, p)) return;
  c_pack_name(c, p->pairs.panels), fputs(" ? far_box((uintptr_t)(", c->out);
  c_offered_at(c, &c->wl->ops[a->nest->op], p, a->shift);
  fprintf(c->out, "), 1, %" PRId64 ", 0) : ",
          cpu_panel_words(p, a->nest->range[p->k].most) * ir_bytes(p->kernel->b));
}

/* far[i]: a panel that is packed by then, and kept. */
static void print_packed(c_printer *c, int i, const cpu_prefetch *a) {
  const tf_op *op = &c->wl->ops[a->nest->op];
  const ir_buffer *b = &c->p->buffers[cpu_of(a->nest)->product->pack];
  c_line(c, "{\n");
  c->depth++;
  origin(c, op, a);
  print_offered(c, i, a);
  fputs("far_box((uintptr_t)(", c->out), c_pack_name(c, cpu_of(a->nest)->product->pack);
  fputs("_all + (", c->out), c_place_of_panel(c, a->nest, a->shift);
  fprintf(c->out, ") %% %" PRId64 " * %" PRId64 "), 1, %" PRId64 ", 0);\n", b->slots, b->words,
          b->words * ir_bytes(b->type));
  c_close(c, 1);
}

static int rank_of(const c_printer *c, const cpu_prefetch *a) {
  return c_buffer(c, &c->wl->ops[a->nest->op], a->read)->rank;
}

static int64_t boxes_of(const c_printer *c, const cpu_prefetch *a) {
  int64_t boxes;
  cpu_box_rows(&c->wl->ops[a->nest->op], a->nest, a->read, rank_of(c, a), &boxes);
  return boxes;
}

/* "&PLACE" at the start of the current box. */
static void first_address(c_printer *c, const tf_op *op, const cpu_prefetch *a) {
  fputs("far_box((uintptr_t)&", c->out), c_place(c, op, a->read);
  print_distance(c, op, a);
}

/* The rows of one box, or of several: one for each setting of the dims that are neither rows nor
 * along them. */
static void print_box(c_printer *c, int i, const cpu_prefetch *a) {
  const tf_op *op = &c->wl->ops[a->nest->op];
  const ir_buffer *b = c_buffer(c, op, a->read);
  const ir_range *range = a->nest->range;
  int64_t boxes;
  const int rows = cpu_box_rows(op, a->nest, a->read, b->rank, &boxes),
            along = cpu_box_dim(op, a->nest, a->read, b->rank - 1);
  int opened = 1;
  c_line(c, "{\n");
  c->depth++;
  origin(c, op, a);
  if (boxes > 1) c_line(c, "far_rows *to = far + "), fprintf(c->out, "%d;\n", i);
  for (int r = 0; boxes > 1 && r + 1 < b->rank; r++) {
    const int k = cpu_box_dim(op, a->nest, a->read, r);
    if (k < 0 || k == rows) continue;
    c_indent(c);
    fprintf(c->out, "for (int64_t i%d = 0; i%d < ", r, r), c_length(c, &range[k]),
        fprintf(c->out, "; i%d++) {\n", r);
    c->depth++, opened++;
  }
  if (boxes > 1)
    c_line(c, "*to++ = ");
  else
    print_offered(c, i, a);
  first_address(c, op, a);
  for (int r = 0; boxes > 1 && r + 1 < b->rank; r++) {
    const int k = cpu_box_dim(op, a->nest, a->read, r);
    if (k < 0 || k == rows) continue;
    fprintf(c->out, " + (uintptr_t)(%d * i%d * (", ir_bytes(b->type), r),
        c_step(c, op, a->read, op->dims[k]);
    fputs("))", c->out);
  }
  fputs(", ", c->out), c_length(c, &range[rows]);
  fprintf(c->out, ", %d * (", ir_bytes(b->type)), c_length(c, &range[along]);
  fprintf(c->out, "), %d * (", ir_bytes(b->type)), c_step(c, op, a->read, op->dims[rows]);
  fputs("));\n", c->out);
  c_close(c, opened);
}

int c_far_boxes(const c_printer *c, const ir_stmt *s) {
  int64_t n = 0;
  for (int i = 0; i < cpu_of(s)->n_prefetches; i++)
    n += boxes_of(c, &cpu_of(s)->prefetches[i]);
  return (int)n;
}

void c_prefetch(c_printer *c, const ir_stmt *s) {
  const int n = c_far_boxes(c, s);
  int at = 0;
  if (!n) return;
  c_indent(c);
  fprintf(c->out, "far_rows far[%d]%s;\n", n,
          n > cpu_of(s)->n_prefetches ? " = {{0, 0, 0, 0}}" : "");
  for (int i = 0; i < cpu_of(s)->n_prefetches; i++) {
    const cpu_prefetch *a = &cpu_of(s)->prefetches[i];
    const cpu_product *p = cpu_of(a->nest)->product;
    if (p && a->read == p->b && p->pairs.slots_along)
      print_packed(c, at, a);
    else
      print_box(c, at, a);
    at += (int)boxes_of(c, a);
  }
}

/* ---- windows -------------------------------------------------------------------------------- */

enum { MOST_LINES = 4 }; /* that a row of a tile can cover */

/* The distance that a step of the op's k-th dim moves the rank that it moves. */
static int64_t step_of(const c_printer *c, const tf_op *op, int read, int k) {
  int64_t most = read < 0;
  for (int r = 0; read >= 0 && r < c_buffer(c, op, read)->rank; r++)
    if (tf_index_coef(&op->reads[read].index[r], op->dims[k]))
      most = tf_index_coef(&op->reads[read].index[r], op->dims[k]);
  return most < 0 ? -most : most;
}

void c_prefetch_rows(c_printer *c, const c_window *w) {
  for (int i = 0; i < cpu_of(w->s)->n_prefetches; i++) {
    const cpu_prefetch *a = &cpu_of(w->s)->prefetches[i];
    const tf_op *op = &c->wl->ops[a->nest->op];
    const int bytes = ir_bytes(c_buffer(c, op, a->read)->type);
    const int64_t across = step_of(c, op, a->read, w->lane), down = step_of(c, op, a->read, w->row);
    if (across > MOST_LINES || !down) continue;
    c_window_open_at(c, w, (cpu_at){0, w->taps / 2});
    c_indent(c);
    fprintf(c->out, "const uintptr_t far = (uintptr_t)&"), c_place(c, op, a->read),
        print_distance(c, op, a), fputs(";\n", c->out);
    c_indent(c);
    fprintf(c->out, "for (int64_t i = 0; i < %" PRId64 "; i++)\n", w->rows * down);
    c_line(c, across > 1 ? "  for (int j = 0; j < " : "  ");
    if (across > 1) fprintf(c->out, "%" PRId64 "; j++) ", across);
    fprintf(c->out, "FETCH(far + (uintptr_t)(%d * i * (", bytes),
        c_step(c, op, a->read, op->dims[w->row]);
    fprintf(c->out, ")%s", down > 1 ? "" : ")");
    if (down > 1) fprintf(c->out, " / %" PRId64 ")", down);
    if (across > 1) fprintf(c->out, " + (uintptr_t)(%d * j * LANES)", bytes);
    fprintf(c->out, ", %d);\n", a->read < 0);
    c_close(c, 1);
  }
}
