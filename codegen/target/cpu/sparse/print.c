/* Products of a's elements that are not zero, and the panels of these. */
#include "codegen/target/cpu/sparse/sparse.h"

#include <inttypes.h>

/* Values from one part of k to the next. */
static int64_t part_of(const c_printer *c, const tf_op *op, const cpu_product *p) {
  return c->wl->dims[op->dims[p->m]].extent * p->sparse.each;
}

void c_pack_sparse(c_printer *c, const cpu_pack *pack) {
  const cpu_product *p = pack->product;
  const tf_op *op = &c->wl->ops[pack->op];
  const char *m = c_dim_name(c, op, p->m), *k = c_dim_name(c, op, p->k);
  const int64_t rows = c->wl->dims[op->dims[p->m]].extent, all = c->wl->dims[op->dims[p->k]].extent,
                deep = p->sparse.deep, at = c->offset[p->sparse.panels];
  const int n = p->sparse.n, of = p->sparse.of;
  if (ir_has_aside(&c->p->body))
    fputs("#if defined(_OPENMP)\n#pragma omp parallel for schedule(static) reduction(| : broken)\n#endif\n", c->out);
  c_indent(c);
  fprintf(c->out, "for (int64_t d_%s = 0; d_%s < %" PRId64 "; d_%s++)\n", m, m, rows, m);
  c->depth++;
  c_indent(c);
  fprintf(c->out, "for (int64_t part = 0; part < %" PRId64 "; part += %" PRId64 ") {\n", all, deep);
  c->depth++;
  c_indent(c);
  fprintf(c->out, "const int64_t first = part / %" PRId64 " * %" PRId64 " + d_%s * %" PRId64 ";\n", deep,
          part_of(c, op, p), m, p->sparse.each);
  c_indent(c);
  fprintf(c->out,
          "float *v = packed + %" PRId64 " + first;\n    uint8_t *at = (uint8_t *)(void *)(packed + %" PRId64
          ") + first;\n",
          at, at + p->sparse.values);
  c_indent(c);
  fprintf(c->out,
          "for (int64_t from = part; from < least(part + %" PRId64 ", %" PRId64 "); from += %d, v += %d, at += %d) {\n",
          deep, all, of, n, n);
  c->depth++;
  c_indent(c);
  fprintf(c->out, "const int64_t end = least(from + %d, %" PRId64 ");\n", of, all);
  c_indent(c);
  fprintf(c->out, "float value[%d];\n", of);
  c_indent(c);
  fprintf(c->out, "uint8_t place[%d];\n", of);
  c_line(c, "int count = 0;\n");
  c_indent(c);
  fprintf(c->out, "for (int64_t d_%s = from; d_%s < end; d_%s++) { /* without a branch */\n", k, k, k);
  c_line(c, "  value[count] = "), c_element_as(c, op, p->a, IR_F32), fputs(";\n", c->out);
  c_indent(c);
  fprintf(c->out, "  place[count] = (uint8_t)(d_%s - from);\n", k);
  c_line(c, "  count += value[count] != 0.0f;\n");
  c_line(c, "}\n");
  c_indent(c);
  fprintf(c->out, "broken |= count > %d;\n", n);
  c_indent(c);
  fprintf(c->out,
          "for (int e = 0; e < %d; e++) v[e] = e < count ? value[e] : 0.0f, at[e] = e < count ? place[e] : 0;\n", n);
  c_close(c, 2);
  c->depth--;
}

static void call(c_printer *c, const tf_op *op, const ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  const char *name = c_sparse_block(c->blocks, c->micro, p), *m = c_dim_name(c, op, p->m), *k = c_dim_name(c, op, p->k);
  if (!name) {
    c->failed = true;
    return;
  }
  c_indent(c);
  fprintf(c->out, "const int64_t first = d_%s / %" PRId64 " * %" PRId64 " + d_%s * %" PRId64 ";\n", k, p->sparse.deep,
          part_of(c, op, p), m, p->sparse.each);
  c_indent(c);
  fprintf(c->out, "%s(n_m, n_n, n_k, ", name), c_pack_name(c, p->sparse.panels);
  fputs(" + first, (const uint8_t *)(const void *)(", c->out), c_pack_name(c, p->sparse.panels);
  fprintf(c->out, " + %" PRId64 ") + first, %" PRId64 ", &", p->sparse.values, part_of(c, op, p));
  c_place(c, op, p->b), fputs(", ", c->out), c_step(c, op, p->b, op->dims[p->k]);
  fputs(", &", c->out), c_place(c, op, -1);
  fputs(", ", c->out), c_step(c, op, -1, op->dims[p->m]);
  fputs(", add, ", c->out), c_pack_name(c, p->sparse.room), fputs(");\n", c->out);
}

void c_sparse(c_printer *c, const ir_stmt *s) {
  const tf_op *op = &c->wl->ops[s->op];
  const cpu_product *p = cpu_of(s)->product;
  c_line(c, "{ /* ");
  fprintf(c->out, "%s: elements of %s that are not zero by rows of %s */\n", op->name,
          c->wl->tensors[op->reads[p->a].tensor].name, c->wl->tensors[op->reads[p->b].tensor].name);
  c->depth++;
  c_origin(c, op, s, p->m);
  c_origin(c, op, s, p->n);
  c_origin(c, op, s, p->k);
  c_line(c, "const int64_t n_m = "), c_length(c, &s->range[p->m]);
  fputs(", n_n = ", c->out), c_length(c, &s->range[p->n]);
  fputs(", n_k = ", c->out), c_length(c, &s->range[p->k]), fputs(";\n", c->out);
  for (int k = 0; k < op->n_dims; k++)
    if (!cpu_is_matrix(p, k)) c_loop(c, op, s, k);
  c_line(c, "if (n_k > 0) {\n");
  c->depth++;
  c_add_flag(c, op, s);
  call(c, op, s);
  c_close(c, 1);
  for (int k = 0; k < op->n_dims; k++)
    if (!cpu_is_matrix(p, k)) c_close(c, 1);
  c_close(c, 1);
}
