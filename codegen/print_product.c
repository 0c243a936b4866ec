/* Nests that are products: a block product of codegen/micro.h for each length that the ranges can have. */
#include <inttypes.h>

#include "codegen/print_c.h"

static void line(c_printer *c, const char *text) {
  c_indent(c);
  fputs(text, c->out);
}

static void outside(c_printer *c, const tf_op *op, const ir_stmt *s, int k, bool open) {
  const char *dim = c->wl->dims[op->dims[k]].name;
  if (!open) {
    c->depth--;
    line(c, "}\n");
    return;
  }
  c_indent(c);
  fprintf(c->out, "for (int64_t d_%s = ", dim);
  c_atom(c->out, c->p, s->range[k].lo);
  fprintf(c->out, "; d_%s < ", dim);
  c_atom(c->out, c->p, s->range[k].hi);
  fprintf(c->out, "; d_%s++) {\n", dim);
  c->depth++;
}

static void origin(c_printer *c, const tf_op *op, const ir_stmt *s, int k) {
  c_indent(c);
  fprintf(c->out, "const int64_t d_%s = ", c->wl->dims[op->dims[k]].name);
  c_atom(c->out, c->p, s->range[k].lo);
  fputs(";\n", c->out);
}

static void length(c_printer *c, const ir_range *r) {
  if (r->exact) {
    fprintf(c->out, "%" PRId64, r->most);
    return;
  }
  c_atom(c->out, c->p, r->hi);
  fputs(" - (", c->out);
  c_atom(c->out, c->p, r->lo);
  fputc(')', c->out);
}

/* b's box for the dims outside, rows of n side by side; zero where it lies in the padding. */
static void pack(c_printer *c, const tf_op *op, const ir_stmt *s) {
  const ir_product *p = s->product;
  const char *buffer = c->p->buffers[p->pack].name;
  const char *n = c->wl->dims[op->dims[p->n]].name, *k = c->wl->dims[op->dims[p->k]].name;
  if (p->keep) {
    c_indent(c);
    fprintf(c->out, "const float *const from = &");
    c_element(c, op, p->b);
    fprintf(c->out, ";\n");
    c_indent(c);
    fprintf(c->out, "if (from != %s_pack%d_of || n_k != %s_pack%d_k || n_n != %s_pack%d_n) {\n", buffer, p->pack, buffer,
            p->pack, buffer, p->pack);
    c->depth++;
    c_indent(c);
    fprintf(c->out, "%s_pack%d_of = from, %s_pack%d_k = n_k, %s_pack%d_n = n_n;\n", buffer, p->pack, buffer, p->pack,
            buffer, p->pack);
  }
  c_indent(c);
  fprintf(c->out, "for (int64_t p = 0; p < n_k; p++) {\n");
  c->depth++;
  c_indent(c);
  fprintf(c->out, "for (int64_t q = 0; q < n_n; q++) {\n");
  c->depth++;
  c_indent(c);
  fprintf(c->out, "const int64_t d_%s = o_%s + q, d_%s = o_%s + p;\n", n, n, k, k);
  c_indent(c);
  fprintf(c->out, "%s_pack%d[p * n_n + q] = ", buffer, p->pack);
  c_element(c, op, p->b);
  fputs(";\n", c->out);
  for (int i = 0; i < 2 + p->keep; i++) {
    c->depth--;
    line(c, "}\n");
  }
}

/* name(k, a, a_m, a_k, b, b_k, c, c_m, add) */
static void call(c_printer *c, const tf_op *op, const ir_stmt *s, int64_t m, int64_t n) {
  const ir_product *p = s->product;
  const char *name = tf_micro_block(c->blocks, c->micro, m, n);
  if (!name) {
    c->failed = true;
    return;
  }
  fprintf(c->out, "%s(n_k, &", name);
  c_element(c, op, p->a);
  fputs(", ", c->out), c_step(c, op, p->a, op->dims[p->m]);
  fputs(", ", c->out), c_step(c, op, p->a, op->dims[p->k]);
  if (p->pack >= 0) {
    fprintf(c->out, ", %s_pack%d, n_n", c->p->buffers[p->pack].name, p->pack);
  } else {
    fputs(", &", c->out), c_element(c, op, p->b);
    fputs(", ", c->out), c_step(c, op, p->b, op->dims[p->k]);
  }
  fputs(", &", c->out), c_element(c, op, -1);
  fputs(", ", c->out), c_step(c, op, -1, op->dims[p->m]);
  fputs(", add);\n", c->out);
}

/* The lengths that a range can have: `most`, and `rest` where it can be cut short. */
static int lengths(const ir_range *r, int64_t *v) {
  v[0] = r->most;
  v[1] = r->rest;
  return r->exact || r->rest == r->most ? 1 : 2;
}

static void calls(c_printer *c, const tf_op *op, const ir_stmt *s) {
  const ir_range *m = &s->range[s->product->m], *n = &s->range[s->product->n];
  int64_t mv[2], nv[2];
  int n_m = lengths(m, mv), n_n = lengths(n, nv);
  for (int i = 0; i < n_m; i++)
    for (int j = 0; j < n_n; j++) {
      c_indent(c);
      if (!m->exact || !n->exact) {
        fputs("if (", c->out);
        if (!m->exact) fprintf(c->out, "n_m == %" PRId64, mv[i]);
        if (!m->exact && !n->exact) fputs(" && ", c->out);
        if (!n->exact) fprintf(c->out, "n_n == %" PRId64, nv[j]);
        fputs(")\n", c->out);
        c->depth++;
        c_indent(c);
        c->depth--;
      }
      call(c, op, s, mv[i], nv[j]);
    }
}

static void add_flag(c_printer *c, const tf_op *op, const ir_stmt *s) {
  bool any = false;
  c_indent(c);
  fputs("const int add = ", c->out);
  for (int k = op->n_out_dims; k < op->n_dims; k++) {
    bool at_zero = s->range[k].lo.var < 0 && k == s->product->k;
    if (at_zero) continue;
    fprintf(c->out, "%sd_%s != 0", any ? " || " : "", c->wl->dims[op->dims[k]].name);
    any = true;
  }
  fputs(any ? ";\n" : "0;\n", c->out);
}

void c_product(c_printer *c, const ir_stmt *s) {
  const tf_op *op = &c->wl->ops[s->op];
  const ir_product *p = s->product;
  const ir_range *m = &s->range[p->m], *n = &s->range[p->n];
  line(c, "{ /* ");
  fprintf(c->out, "%s: a product over %s, %s and %s */\n", op->name, c->wl->dims[op->dims[p->m]].name,
          c->wl->dims[op->dims[p->n]].name, c->wl->dims[op->dims[p->k]].name);
  c->depth++;
  origin(c, op, s, p->m);
  origin(c, op, s, p->n);
  origin(c, op, s, p->k);
  const char *n_name = c->wl->dims[op->dims[p->n]].name, *k_name = c->wl->dims[op->dims[p->k]].name;
  c_indent(c);
  fprintf(c->out, "const int64_t ");
  if (!m->exact) fputs("n_m = ", c->out), length(c, m), fputs(", ", c->out);
  if (!n->exact || p->pack >= 0) fputs("n_n = ", c->out), length(c, n), fputs(", ", c->out);
  fputs("n_k = ", c->out), length(c, &s->range[p->k]);
  if (p->pack >= 0) fprintf(c->out, ", o_%s = d_%s, o_%s = d_%s", n_name, n_name, k_name, k_name);
  fputs(";\n", c->out);
  for (int k = 0; k < op->n_dims; k++)
    if (k != p->m && k != p->n && k != p->k) outside(c, op, s, k, true);
  bool may_be_empty = !s->range[p->k].some;
  if (may_be_empty) {
    line(c, "if (n_k > 0) {\n");
    c->depth++;
  }
  add_flag(c, op, s);
  if (p->pack >= 0) pack(c, op, s);
  calls(c, op, s);
  if (may_be_empty) {
    c->depth--;
    line(c, "}\n");
  }
  for (int k = 0; k < op->n_dims; k++)
    if (k != p->m && k != p->n && k != p->k) outside(c, op, s, k, false);
  c->depth--;
  line(c, "}\n");
}
