/* Nests that are products: a block product of codegen/micro.h for each length that the ranges can have. */
#include <inttypes.h>

#include "codegen/print_c.h"

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
    c_line(c, "}\n");
  }
}

static void slab_name(c_printer *c, const ir_product *p) { fprintf(c->out, "%s_pack%d", c->p->buffers[p->pack].name, p->pack); }

/* Elements of one phase of a row: all of it where n does not stride. */
static int64_t phase_words(const ir_product *p, int rank) { return (p->slab[rank - 1].most + p->stride - 1) / p->stride; }

static int64_t slab_step(const ir_product *p, int rank, int r) {
  int64_t step = r == rank - 1 ? 1 : phase_words(p, rank) * p->stride;
  for (int k = r + 1; k < rank - 1; k++)
    step *= p->slab[k].most;
  return step;
}

static void open_rank(c_printer *c, const ir_range *v, int r) {
  c_indent(c);
  fprintf(c->out, "for (int64_t x%d = ", r), c_atom(c->out, c->p, v->lo);
  fprintf(c->out, "; x%d < ", r), c_atom(c->out, c->p, v->hi), fprintf(c->out, "; x%d++) {\n", r);
  c->depth++;
}

static void fill_row(c_printer *c, const ir_buffer *b, const ir_product *p, int last) {
  for (int64_t phase = 0; phase < p->stride; phase++) {
    c_line(c, "{\n");
    c->depth++;
    c_indent(c);
    fprintf(c->out, "float *to_row = row + %" PRId64 ";\n", phase * phase_words(p, last + 1));
    c_indent(c);
    fprintf(c->out, "int64_t x = first + %" PRId64 ";\n", phase);
    c_indent(c);
    fprintf(c->out, "for (; x < from; x += %" PRId64 ") *to_row++ = 0.0f;\n", p->stride);
    c_indent(c);
    fprintf(c->out, "for (; x < to; x += %" PRId64 ") *to_row++ = ", p->stride);
    c_at(c, b, last);
    fputs(";\n", c->out);
    c_indent(c);
    fprintf(c->out, "for (; x < end; x += %" PRId64 ") *to_row++ = 0.0f;\n", p->stride);
    c->depth--;
    c_line(c, "}\n");
  }
}

/* Fills the slab row by row: zeros, what is there, zeros. */
static void fill_slab(c_printer *c, const tf_op *op, const ir_product *p) {
  const tf_tensor *z = &c->wl->tensors[op->reads[p->b].tensor];
  const ir_buffer *b = &c->p->buffers[c->p->buffer_of[op->reads[p->b].tensor]];
  int last = z->rank - 1;
  for (int r = 0; r < last; r++)
    open_rank(c, &p->slab[r], r);
  c_indent(c);
  fputs("float *const row = ", c->out), slab_name(c, p);
  for (int r = 0; r < last; r++) {
    fprintf(c->out, " + (x%d - (", r), c_atom(c->out, c->p, p->slab[r].lo);
    fprintf(c->out, ")) * %" PRId64, slab_step(p, z->rank, r));
  }
  fputs(";\n", c->out);
  c_indent(c);
  fputs("const int64_t first = ", c->out), c_atom(c->out, c->p, p->slab[last].lo);
  fputs(", end = ", c->out), c_atom(c->out, c->p, p->slab[last].hi);
  bool any = false;
  fputs(";\n", c->out);
  c_indent(c);
  fputs("const int there = ", c->out);
  for (int r = 0; r < last; r++)
    if (z->pad[r]) {
      fprintf(c->out, "%sx%d >= %" PRId64 " && x%d < %" PRId64, any ? " && " : "", r, z->lo[r], r, z->lo[r] + z->extent[r]);
      any = true;
    }
  fputs(any ? ";\n" : "1;\n", c->out);
  c_indent(c);
  fprintf(c->out, "const int64_t from = there ? most(first, %" PRId64 ") : end, to = there ? most(from, least(end, %" PRId64 ")) : end;\n",
          z->lo[last], z->lo[last] + z->extent[last]);
  fill_row(c, b, p, last);
  for (int r = 0; r < last; r++) {
    c->depth--;
    c_line(c, "}\n");
  }
}

/* &slab[...] at the point of the nest, and the step along k. */
static void slab_argument(c_printer *c, const tf_op *op, const ir_product *p) {
  const tf_ref *ref = &op->reads[p->b];
  int rank = c->wl->tensors[ref->tensor].rank;
  int64_t step = 0;
  slab_name(c, p);
  for (int r = 0; r < rank; r++) {
    const bool phases = r == rank - 1 && p->stride > 1;
    fputs(phases ? " + phase(" : " + (", c->out), c_index(c, &ref->index[r]), fputs(" - (", c->out);
    c_atom(c->out, c->p, p->slab[r].lo);
    if (phases)
      fprintf(c->out, "), %" PRId64 ", %" PRId64 ")", p->stride, phase_words(p, rank));
    else
      fprintf(c->out, ")) * %" PRId64, slab_step(p, rank, r));
    for (int t = 0; t < ref->index[r].n_terms; t++)
      if (ref->index[r].terms[t].dim == op->dims[p->k]) step += ref->index[r].terms[t].coef * slab_step(p, rank, r);
  }
  fprintf(c->out, ", %" PRId64, step);
}

static bool of_a(const c_printer *c, const tf_op *op, const ir_product *p, int k) {
  const tf_ref *ref = &op->reads[p->a];
  for (int r = 0; r < c->wl->tensors[ref->tensor].rank; r++)
    for (int t = 0; t < ref->index[r].n_terms; t++)
      if (ref->index[r].terms[t].dim == op->dims[k]) return true;
  return false;
}

/* The step of the op's k-th dim in the box of a that is laid out anew; 0: it does not move a. */
static int64_t turned_step(const c_printer *c, const tf_op *op, const ir_stmt *s, int k) {
  const ir_product *p = s->product;
  if (k == p->m) return 1;
  int64_t step = s->range[p->m].most;
  if (k == p->k) return step;
  step *= s->range[p->k].most;
  for (int i = op->n_dims - 1; i > k; i--)
    if (i != p->m && i != p->k && of_a(c, op, p, i)) step *= s->range[i].most;
  return of_a(c, op, p, k) ? step : 0;
}

/* Where the point stands in it, the dims `with` m and k or without. */
static void turned_at(c_printer *c, const tf_op *op, const ir_stmt *s, bool with) {
  const ir_product *p = s->product;
  fprintf(c->out, "%s_pack%d", c->p->buffers[p->turned].name, p->turned);
  for (int k = 0; k < op->n_dims; k++) {
    int64_t step = turned_step(c, op, s, k);
    if (!step || (!with && (k == p->m || k == p->k))) continue;
    fprintf(c->out, " + (d_%s - (", c->wl->dims[op->dims[k]].name), c_atom(c->out, c->p, s->range[k].lo);
    fprintf(c->out, ")) * %" PRId64, step);
  }
}

static void turn_a(c_printer *c, const tf_op *op, const ir_stmt *s) {
  const ir_product *p = s->product;
  int opened = 0;
  c_line(c, "{\n");
  c->depth++;
  for (int k = 0; k < op->n_dims; k++)
    if (of_a(c, op, p, k)) origin(c, op, s, k);
  c_indent(c);
  fputs("const float *const from = &", c->out), c_element(c, op, p->a), fputs(";\n", c->out);
  c_indent(c);
  fprintf(c->out, "if (from != %s_pack%d_of) {\n", c->p->buffers[p->turned].name, p->turned);
  c->depth++;
  c_indent(c);
  fprintf(c->out, "%s_pack%d_of = from;\n", c->p->buffers[p->turned].name, p->turned);
  for (int pass = 0; pass < 3; pass++) /* m innermost, k around it */
    for (int k = 0; k < op->n_dims; k++) {
      bool now = pass == 0 ? k != p->m && k != p->k : pass == 1 ? k == p->k : k == p->m;
      if (now && of_a(c, op, p, k)) c_loop(c, op, s, k), opened++;
    }
  c_indent(c);
  fputs("*(", c->out), turned_at(c, op, s, true), fputs(") = ", c->out), c_element(c, op, p->a), fputs(";\n", c->out);
  c_close(c, opened + 2);
}

/* name(k, a, a_m, a_k, b, b_k, c, c_m, add) */
static void call(c_printer *c, const tf_op *op, const ir_stmt *s, int64_t m, int64_t n) {
  const ir_product *p = s->product;
  const char *name = tf_micro_block(c->blocks, c->micro, m, n);
  if (!name) {
    c->failed = true;
    return;
  }
  fprintf(c->out, "%s(n_k, ", name);
  if (p->turned >= 0) {
    turned_at(c, op, s, false);
    fprintf(c->out, ", 1, %" PRId64, s->range[p->m].most);
  } else {
    fputc('&', c->out), c_element(c, op, p->a);
    fputs(", ", c->out), c_step(c, op, p->a, op->dims[p->m]);
    fputs(", ", c->out), c_step(c, op, p->a, op->dims[p->k]);
  }
  if (p->slab) {
    fputs(", ", c->out), slab_argument(c, op, p);
  } else if (p->pack >= 0) {
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
  c_line(c, "{ /* ");
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
  bool panels = p->pack >= 0 && !p->slab;
  if (!n->exact || panels) fputs("n_n = ", c->out), length(c, n), fputs(", ", c->out);
  fputs("n_k = ", c->out), length(c, &s->range[p->k]);
  if (panels) fprintf(c->out, ", o_%s = d_%s, o_%s = d_%s", n_name, n_name, k_name, k_name);
  fputs(";\n", c->out);
  if (p->turned >= 0) turn_a(c, op, s);
  if (p->slab) fill_slab(c, op, p);
  for (int k = 0; k < op->n_dims; k++)
    if (k != p->m && k != p->n && k != p->k) c_loop(c, op, s, k);
  bool may_be_empty = !s->range[p->k].some;
  if (may_be_empty) {
    c_line(c, "if (n_k > 0) {\n");
    c->depth++;
  }
  add_flag(c, op, s);
  if (panels) pack(c, op, s);
  calls(c, op, s);
  if (may_be_empty) {
    c->depth--;
    c_line(c, "}\n");
  }
  for (int k = 0; k < op->n_dims; k++)
    if (k != p->m && k != p->n && k != p->k) c_close(c, 1);
  c->depth--;
  c_line(c, "}\n");
}
