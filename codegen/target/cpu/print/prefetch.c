/* Prefetching by a product while it multiplies (codegen/intrin/prefetch.c). */
#include <inttypes.h>

#include "codegen/target/cpu/print/print.h"

/* The dim of the product that moves the rank; -1: none. */
static int dim_along(const tf_op *op, const cpu_product *p, int read, int rank) {
  const int all[] = {p->m, p->n, p->k};
  for (int i = 0; i < 3; i++) {
    if (read < 0 && all[i] == rank) return all[i];
    for (int t = 0; read >= 0 && t < op->reads[read].index[rank].n_terms; t++)
      if (op->reads[read].index[rank].terms[t].dim == op->dims[all[i]]) return all[i];
  }
  return -1;
}

static bool stands_in(const c_printer *c, const tf_op *op, int read, int k) {
  bool any = read < 0 && k < op->n_out_dims;
  for (int r = 0; read >= 0 && r < c_buffer(c, op, read)->rank; r++)
    for (int t = 0; t < op->reads[read].index[r].n_terms; t++)
      any |= op->reads[read].index[r].terms[t].dim == op->dims[k];
  return any;
}

static void origin(c_printer *c, const tf_op *op, const cpu_prefetch *a) {
  for (int k = 0; k < op->n_dims; k++)
    if (stands_in(c, op, a->read, k)) c_origin(c, op, a->nest, k);
}

/* How much further the box will be, in bytes. */
static void further(c_printer *c, const tf_op *op, const cpu_prefetch *a) {
  for (int k = 0; k < op->n_dims; k++) {
    if (!a->shift[k]) continue;
    fprintf(c->out, " + (uintptr_t)(%" PRId64 " * (", a->shift[k] * ir_bytes(c_buffer(c, op, a->read)->type)),
        c_step(c, op, a->read, op->dims[k]);
    fputs("))", c->out);
  }
}

/* far[i] is the panel that the caller has laid out, if there is one, or what follows. */
static void offered(c_printer *c, int i, const cpu_prefetch *a) {
  const cpu_product *p = cpu_of(a->nest)->product;
  c_indent(c);
  fprintf(c->out, "far[%d] = ", i);
  if (a->read != p->b || !c_offers(c, p)) return;
  c_pack_name(c, p->pairs.panels), fputs(" ? far_box((uintptr_t)(", c->out);
  c_offered_at(c, &c->wl->ops[a->nest->op], p, a->shift);
  fprintf(c->out, "), 1, %" PRId64 ", 0) : ", cpu_panel_words(p, a->nest->range[p->k].most) * ir_bytes(p->kernel->b));
}

/* For what is packed by then, and kept. */
static void packed(c_printer *c, int i, const cpu_prefetch *a) {
  const tf_op *op = &c->wl->ops[a->nest->op];
  const ir_buffer *b = &c->p->buffers[cpu_of(a->nest)->product->pack];
  c_line(c, "{\n");
  c->depth++;
  origin(c, op, a);
  offered(c, i, a);
  fputs("far_box((uintptr_t)(", c->out), c_pack_name(c, cpu_of(a->nest)->product->pack);
  fputs("_all + (", c->out), c_place_of_panel(c, a->nest, a->shift);
  fprintf(c->out, ") %% %" PRId64 " * %" PRId64 "), 1, %" PRId64 ", 0);\n", b->slots, b->words,
          b->words * ir_bytes(b->type));
  c_close(c, 1);
}

static void box(c_printer *c, int i, const cpu_prefetch *a) {
  const tf_op *op = &c->wl->ops[a->nest->op];
  const ir_buffer *b = c_buffer(c, op, a->read);
  const ir_range *range = a->nest->range;
  int rows = -1;
  for (int r = 0; r + 1 < b->rank; r++)
    if (dim_along(op, cpu_of(a->nest)->product, a->read, r) >= 0)
      rows = dim_along(op, cpu_of(a->nest)->product, a->read, r);
  c_line(c, "{\n");
  c->depth++;
  origin(c, op, a);
  offered(c, i, a);
  fputs("far_box((uintptr_t)&", c->out), c_place(c, op, a->read);
  further(c, op, a);
  fputs(", ", c->out), c_length(c, &range[rows]);
  fprintf(c->out, ", %d * (", ir_bytes(b->type)),
      c_length(c, &range[dim_along(op, cpu_of(a->nest)->product, a->read, b->rank - 1)]);
  fprintf(c->out, "), %d * (", ir_bytes(b->type)), c_step(c, op, a->read, op->dims[rows]);
  fputs("));\n", c->out);
  c_close(c, 1);
}

void c_prefetch(c_printer *c, const ir_stmt *s) {
  if (!cpu_of(s)->n_prefetches) return;
  c_indent(c);
  fprintf(c->out, "far_rows far[%d];\n", cpu_of(s)->n_prefetches);
  for (int i = 0; i < cpu_of(s)->n_prefetches; i++) {
    const cpu_prefetch *a = &cpu_of(s)->prefetches[i];
    const cpu_product *p = cpu_of(a->nest)->product;
    if (a->read == p->b && p->pairs.places)
      packed(c, i, a);
    else
      box(c, i, a);
  }
}
