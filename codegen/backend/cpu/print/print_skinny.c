/* Prints products of few rows (codegen/intrin/micro_skinny.c), for each length of rows. */
#include <inttypes.h>

#include "codegen/backend/cpu/print/print.h"

static void lengths(c_printer *c, const ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  c_line(c, "const int64_t n_n = "), c_length(c, &s->range[p->n]);
  fputs(", n_k = ", c->out), c_length(c, &s->range[p->k]);
  if (p->m >= 0 && !s->range[p->m].exact) fputs(", n_m = ", c->out), c_length(c, &s->range[p->m]);
  fputs(";\n", c->out);
}

/* The step of a single row, which has no dim, is unused. */
static void from_row_to_row(c_printer *c, const tf_op *op, const cpu_product *p, int read) {
  if (p->m < 0)
    fputc('0', c->out);
  else
    c_step(c, op, read, op->dims[p->m]);
}

static void call(c_printer *c, const tf_op *op, const ir_stmt *s, int64_t rows) {
  const cpu_product *p = cpu_of(s)->product;
  const tf_micro_few f = {.rows = (int)rows,
                          .a = c_buffer(c, op, p->a)->type,
                          .b = c_buffer(c, op, p->b)->type,
                          .along_k = p->skinny.along_k,
                          .strip = p->skinny.strip,
                          .block = p->skinny.block,
                          .columns = s->range[p->n].exact ? s->range[p->n].most : 0,
                          .held = p->skinny.held && tf_micro_few_hold(&c->p->machine, rows)
                                      ? c->p->machine.real
                                      : NULL};
  const char *name = tf_micro_few_product(c->blocks, c->micro, &f);
  if (!name) {
    c->failed = true;
    return;
  }
  c_indent(c);
  if (p->m >= 0 && !s->range[p->m].exact) fprintf(c->out, "if (n_m == %" PRId64 ") ", rows);
  fprintf(c->out, "%s(n_k, &", name), c_place(c, op, p->a);
  fputs(", ", c->out), from_row_to_row(c, op, p, p->a);
  fputs(", ", c->out), c_step(c, op, p->a, op->dims[p->k]);
  fputs(", &", c->out), c_place(c, op, p->b);
  fputs(", ", c->out), c_step(c, op, p->b, op->dims[p->skinny.along_k ? p->n : p->k]);
  fputs(", &", c->out), c_place(c, op, -1);
  fputs(", ", c->out), from_row_to_row(c, op, p, -1);
  fputs(", n_n, add);\n", c->out);
}

void c_skinny(c_printer *c, const ir_stmt *s) {
  const tf_op *op = &c->wl->ops[s->op];
  const cpu_product *p = cpu_of(s)->product;
  int64_t rows[C_MOST_LENGTHS] = {1};
  const int n_rows = p->m < 0 ? 1 : c_lengths(&s->range[p->m], rows);
  c_line(c, "{ /* ");
  fprintf(c->out, "%s: %s */\n", op->name, p->m < 0 ? "one row" : "few rows");
  c->depth++;
  if (p->m >= 0) c_origin(c, op, s, p->m);
  c_origin(c, op, s, p->n);
  c_origin(c, op, s, p->k);
  lengths(c, s);
  for (int k = 0; k < op->n_dims; k++)
    if (!cpu_is_matrix(p, k)) c_loop(c, op, s, k);
  c_line(c, "if (n_k > 0) {\n");
  c->depth++;
  c_add_flag(c, op, s);
  for (int i = 0; i < n_rows; i++)
    call(c, op, s, rows[i]);
  c_close(c, 1);
  for (int k = 0; k < op->n_dims; k++)
    if (!cpu_is_matrix(p, k)) c_close(c, 1);
  c_close(c, 1);
}
