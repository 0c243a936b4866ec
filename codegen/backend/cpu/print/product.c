/* Prints nests that are products: a block product of codegen/intrin/micro.h for each length that
 * the ranges can have. */
#include <inttypes.h>

#include "codegen/backend/cpu/print/print.h"
#include "model/input/dims.h"

static void a_argument(c_printer *c, const tf_op *op, const ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  const bool groups = p->kernel->group > 1;
  if (p->pairs.transposed >= 0) {
    c_transposed_at(c, op, s, false);
    if (groups)
      fprintf(c->out, ", k_wide, %d", p->kernel->group);
    else
      fprintf(c->out, ", 1, %" PRId64, c_transposed_rows(s));
  } else if (p->pairs.copy >= 0) {
    fprintf(c->out, "%s_pack%d, k_wide, %d", c->p->buffers[p->pairs.copy].id, p->pairs.copy,
            p->kernel->group);
  } else {
    fputc('&', c->out), c_place(c, op, p->a);
    fputs(", ", c->out), c_step(c, op, p->a, op->dims[p->m]);
    if (groups)
      fprintf(c->out, ", %d", p->kernel->group);
    else
      fputs(", ", c->out), c_step(c, op, p->a, op->dims[p->k]);
  }
}

static void b_of_nest(c_printer *c, const tf_op *op, const cpu_product *p) {
  if (p->slab) {
    c_slab_argument(c, op, p);
  } else if (p->pack >= 0) {
    fprintf(c->out, "%s_pack%d, ", c->p->buffers[p->pack].id, p->pack);
    if (p->kernel->group > 1)
      fprintf(c->out, "n_wide * %d", p->kernel->group);
    else
      fputs("n_wide", c->out);
  } else {
    fputc('&', c->out), c_place(c, op, p->b);
    fputs(", ", c->out), c_step(c, op, p->b, op->dims[p->k]);
  }
}

/* The arguments b and its step along k; `offered`: as a caller has packed it. */
static void b_argument(c_printer *c, const tf_op *op, const ir_stmt *s, bool offered) {
  const cpu_product *p = cpu_of(s)->product;
  if (offered)
    c_offered_at(c, op, p, NULL), fprintf(c->out, ", %" PRId64, p->pairs.pitch * p->kernel->group);
  else
    b_of_nest(c, op, p);
}

/* Whether rows of a are read in place from an argument, contiguous along k. */
static bool far_a(const c_printer *c, const tf_op *op, const cpu_product *p) {
  const tf_ref *ref = &op->reads[p->a];
  const ir_buffer *a = c_buffer(c, op, p->a);
  if (p->pairs.transposed >= 0 || p->pairs.copy >= 0 || a->role != IR_ARGUMENT || !a->rank)
    return false;
  const tf_index *inner = &ref->index[tf_inner_rank(&c->wl->tensors[ref->tensor])];
  return inner->n_terms == 1 && tf_index_coef(inner, op->dims[p->k]) == 1;
}

/* Whether the sums go, rounded, to rows in the layout of the next product's kernel. */
static bool rounds_into_operand(const ir_stmt *s) {
  return cpu_of(s)->rounded_for && cpu_of(s)->rounded_for->kind == IR_NEST;
}

/* The arguments c and its step from row to row. */
static void c_argument(c_printer *c, const tf_op *op, const ir_stmt *s) {
  const ir_stmt *next = cpu_of(s)->rounded_for;
  if (next && rounds_into_operand(s)) {
    const cpu_product *q = cpu_of(next)->product;
    const int64_t n = s->range[cpu_of(s)->product->n].most, by = q->kernel->k_round;
    c_pack_name(c, q->pairs.copy), fprintf(c->out, ", %" PRId64, (n + by - 1) / by * by);
    return;
  }
  fputc('&', c->out);
  if (cpu_of(s)->map)
    op = &c->wl->ops[cpu_of(s)->map->op]; /* the output's dims are those of the map */
  if (next)
    c_element_of(c, next->save.to);
  else
    c_place(c, op, -1);
  fputs(", ", c->out);
  if (next)
    c_step_of(c, next->save.to, op->dims[cpu_of(s)->product->m]);
  else
    c_step(c, op, -1, op->dims[cpu_of(s)->product->m]);
}

/* name(k, a, a_m, a_k, b, b_k, c, c_m, add), what it prefetches, and the rows of a that it
 * computes; it does not prefetch operands that another product has prefetched. */
static void call_with(c_printer *c, const tf_op *op, const ir_stmt *s, const tf_micro_ahead *ahead,
                      const int64_t size[2], bool offered) {
  const int64_t m = size[0], n = size[1];
  const cpu_product *p = cpu_of(s)->product;
  const bool prefetches = cpu_of(s)->n_prefetches > 0, rounds = cpu_of(s)->rounded_for != NULL;
  const ir_stmt *map = cpu_of(s)->map;
  char as[16];
  const char *name =
      map ? tf_micro_block_map(c->blocks, c->micro, p->kernel, size, prefetches,
                               c_map_of_sums(c, map, as))
      : ahead
          ? tf_micro_block_ahead(c->blocks, c->micro, p->kernel, size, prefetches, rounds, ahead)
          : tf_micro_block(c->blocks, c->micro, p->kernel, m, n, prefetches, rounds);
  if (!name) {
    c->failed = true;
    return;
  }
  fprintf(c->out, "%s(%s, ", name, p->kernel->group > 1 ? "n_g" : "n_k");
  a_argument(c, op, s);
  fputs(", ", c->out), b_argument(c, op, s, offered);
  fputs(", ", c->out), c_argument(c, op, s);
  fputs(", add", c->out);
  if (far_a(c, op, p) && !(cpu_of(s)->prefetched >> (1 + p->a) & 1)) fputs(" | FAR_A", c->out);
  const tf_op *leaves = map ? &c->wl->ops[map->op] : op;
  if ((c_buffer(c, leaves, -1)->role == IR_ARGUMENT ||
       (cpu_of(s)->rounded_for && cpu_of(s)->rounded_for->kind == IR_SAVE)) &&
      !(cpu_of(s)->prefetched & 1))
    fputs(" | FAR_C", c->out);
  if (rounds_into_operand(s)) fputs(" | FILLS", c->out);
  if (prefetches) fprintf(c->out, ", far, %d", c_far_boxes(c, s));
  fputs(map ? ", &map);\n" : ahead ? ", &of);\n" : ");\n", c->out);
}

/* A product that streams b: panels that the caller has packed, if there are any, else the whole
 * box. */
static void call_stream(c_printer *c, const tf_op *op, const ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  const tf_micro_streamed st = {
      p->kernel,           s->range[p->m].most,
      s->range[p->n].most, (int)(p->pairs.pitch / tf_micro_lanes(c->micro)),
      p->pairs.steps,      p->pairs.strip};
  const char *name = tf_micro_stream(c->blocks, c->micro, &st);
  if (!name) {
    c->failed = true;
    return;
  }
  c_indent(c);
  fprintf(c->out, "%s(%s, ", name, p->kernel->group > 1 ? "n_g" : "n_k");
  a_argument(c, op, s);
  fputs(", &", c->out), c_place(c, op, p->b);
  fputs(", ", c->out), c_step(c, op, p->b, op->dims[p->k]);
  fputs(", ", c->out);
  if (c_offers(c, p))
    c_pack_name(c, p->pairs.panels), fputs(" ? ", c->out), c_offered_at(c, op, p, NULL),
        fputs(" : ", c->out);
  fprintf(c->out, "NULL, %" PRId64 ", ", c->wl->dims[op->dims[p->k]].extent / p->kernel->group);
  c_pack_name(c, p->pack);
  fputs(", &", c->out), c_place(c, op, -1);
  fputs(", ", c->out), c_step(c, op, -1, op->dims[p->m]);
  fputs(", add);\n", c->out);
}

static void call(c_printer *c, const tf_op *op, const ir_stmt *s, const tf_micro_ahead *ahead,
                 int64_t m, int64_t n) {
  const int64_t size[2] = {m, n};
  if (c_offers(c, cpu_of(s)->product)) {
    fputs("if (", c->out), c_pack_name(c, cpu_of(s)->product->pairs.panels), fputs(") ", c->out);
    call_with(c, op, s, ahead, size, true);
    c_line(c, "else ");
  }
  call_with(c, op, s, ahead, size, false);
}

int c_lengths(const ir_range *r, int64_t *v) {
  int n = 2;
  v[0] = r->most;
  v[1] = r->other;
  for (int i = 0; n < C_MOST_LENGTHS && r->more[i]; i++)
    v[n++] = r->more[i];
  return r->exact || r->other == r->most ? 1 : n;
}

static void calls(c_printer *c, const tf_op *op, const ir_stmt *s, const tf_micro_ahead *ahead) {
  const ir_range *m = &s->range[cpu_of(s)->product->m], *n = &s->range[cpu_of(s)->product->n];
  int64_t mv[C_MOST_LENGTHS], nv[C_MOST_LENGTHS];
  int n_m = c_lengths(m, mv), n_n = c_lengths(n, nv);
  if (cpu_of(s)->product->pairs.merged) {
    for (int i = 0; i < n_m; i++) {
      c_line(c, "if (whole");
      if (!m->exact) fprintf(c->out, " && n_m == %" PRId64, mv[i]);
      fputs(") {\n", c->out);
      c->depth++;
      c_indent(c);
      call(c, op, s, ahead, mv[i], nv[0] * s->range[cpu_of(s)->product->n - 1].most);
      c_close(c, 1);
    }
    c_line(c, "if (!whole) {\n");
    c->depth++;
  }
  for (int i = 0; i < n_m; i++)
    for (int j = 0; j < n_n; j++) {
      c_indent(c);
      if (!m->exact || !n->exact) {
        fputs("if (", c->out);
        if (!m->exact) fprintf(c->out, "n_m == %" PRId64, mv[i]);
        if (!m->exact && !n->exact) fputs(" && ", c->out);
        if (!n->exact) fprintf(c->out, "n_n == %" PRId64, nv[j]);
        fputs(") {\n", c->out);
        c->depth++;
        c_indent(c);
      }
      call(c, op, s, ahead, mv[i], nv[j]);
      c_close(c, !m->exact || !n->exact);
    }
  c_close(c, cpu_of(s)->product->pairs.merged);
}

void c_add_flag(c_printer *c, const tf_op *op, const ir_stmt *s) {
  bool any = false;
  c_indent(c);
  fputs("const int add = ", c->out);
  for (int k = op->n_out_dims; k < op->n_dims; k++) {
    bool at_zero = s->range[k].lo.var < 0 && k == cpu_of(s)->product->k;
    if (at_zero) continue;
    const ir_atom lo = s->range[k].lo, fresh = c_fresh_of(op, s, k);
    fprintf(c->out, "%sd_%s", any ? " || " : "", c->p->dim_id[op->dims[k]]);
    if (!ir_same(lo, fresh))
      fputs(" - (", c->out), c_atom(c->out, c->p, lo), fputs(") + ", c->out),
          c_atom(c->out, c->p, fresh);
    fputs(" != 0", c->out);
    any = true;
  }
  fputs(any ? ";\n" : "0;\n", c->out);
}

static void wide(c_printer *c, const char *to, const char *from, int by) {
  c_indent(c);
  if (by == 1)
    fprintf(c->out, "const int64_t %s = %s;\n", to, from);
  else
    fprintf(c->out, "const int64_t %s = (%s + %d) / %d * %d;\n", to, from, by - 1, by, by);
  c_indent(c);
  fprintf(c->out, "(void)%s;\n", to);
}

/* The block product for each combination of lengths, with their padding. */
static void all_lengths(c_printer *c, const tf_op *op, const ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  const ir_range *m = &s->range[p->m], *n = &s->range[p->n];
  const char *n_name = c->p->dim_id[op->dims[p->n]], *k_name = c->p->dim_id[op->dims[p->k]];
  const bool panels = p->pack >= 0 && !p->slab && !p->pairs.steps, groups = p->kernel->group > 1,
             copies = p->pairs.copy >= 0 && !cpu_of(s)->producer && !cpu_of(s)->copied;
  c_indent(c);
  fprintf(c->out, "const int64_t ");
  if (!m->exact || copies) fputs("n_m = ", c->out), c_length(c, m), fputs(", ", c->out);
  if (!n->exact || panels) fputs("n_n = ", c->out), c_length(c, n), fputs(", ", c->out);
  fputs("n_k = ", c->out), c_length(c, &s->range[p->k]);
  if (panels) fprintf(c->out, ", o_%s = d_%s", n_name, n_name);
  if (panels || copies) fprintf(c->out, ", o_%s = d_%s", k_name, k_name);
  if (copies)
    fprintf(c->out, ", o_%s = d_%s", c->p->dim_id[op->dims[p->m]], c->p->dim_id[op->dims[p->m]]);
  fputs(";\n", c->out);
  if (panels) {
    c_indent(c);
    fprintf(c->out, "(void)o_%s, (void)o_%s;\n", n_name, k_name);
  }
  if (p->pairs.copy >= 0 || groups) wide(c, "k_wide", "n_k", p->kernel->k_round);
  if (copies && p->kernel->m_round > 1) wide(c, "m_wide", "n_m", p->kernel->m_round);
  if (panels) {
    c_indent(c);
    fprintf(c->out, "const int64_t n_wide = %" PRId64 ";\n", p->pairs.pitch);
  }
  if (!groups) return;
  c_indent(c);
  fprintf(c->out, "const int64_t n_g = k_wide / %d;\n", p->kernel->group);
}

/* The slot of the current panel, in place of the whole pack. */
static void open_place(c_printer *c, const ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  if (p->pack < 0 || p->slab || !p->pairs.slots_along) return;
  const ir_buffer *b = &c->p->buffers[p->pack];
  c_line(c, "const int64_t place = "), c_place_of_panel(c, s, NULL);
  fputs(";\n", c->out);
  c_indent(c);
  fprintf(c->out, "%s *const ", c_type(b->type)), c_pack_name(c, p->pack), fputs(" = ", c->out);
  c_pack_name(c, p->pack), fprintf(c->out, "_all + place * %" PRId64 ";\n", b->words);
}

/* Prints `whole`: whether all rows can be merged, which the strides of arguments decide. */
static void print_whole(c_printer *c, const tf_op *op, const ir_stmt *s) {
  const cpu_product *p = cpu_of(s)->product;
  const ir_buffer *both[2] = {c_buffer(c, op, -1), c_buffer(c, op, p->b)};
  c_line(c, "const int whole = 1");
  for (int i = 0; i < 2; i++)
    if (both[i]->role == IR_ARGUMENT)
      fprintf(c->out, " && %s_s%d == %" PRId64, both[i]->id, both[i]->rank - 2,
              s->range[p->n].most);
  fputs(";\n", c->out);
}

/* Opens the loop over the op's k-th dim; of merged rows over the first. */
static void open_outside(c_printer *c, const tf_op *op, const ir_stmt *s, int k) {
  if (!cpu_of(s)->product->pairs.merged || k != cpu_of(s)->product->n - 1) {
    c_loop(c, op, s, k);
    return;
  }
  const char *dim = c_dim_name(c, op, k);
  print_whole(c, op, s);
  c_indent(c);
  fprintf(c->out, "for (int64_t d_%s = ", dim), c_atom(c->out, c->p, s->range[k].lo);
  fprintf(c->out, "; d_%s < (whole ? ", dim), c_atom(c->out, c->p, s->range[k].lo);
  fputs(" + 1 : ", c->out), c_atom(c->out, c->p, s->range[k].hi);
  fprintf(c->out, "); d_%s++) {\n", dim);
  c->depth++;
}

void c_product(c_printer *c, const ir_stmt *s) {
  const tf_op *op = &c->wl->ops[s->op];
  const cpu_product *p = cpu_of(s)->product;
  c_line(c, "{ /* ");
  fprintf(c->out, "%s: a product over %s, %s and %s */\n", op->name, c->p->dim_id[op->dims[p->m]],
          c->p->dim_id[op->dims[p->n]], c->p->dim_id[op->dims[p->k]]);
  c->depth++;
  c_prefetch(c, s);
  c_origin(c, op, s, p->m);
  c_origin(c, op, s, p->n);
  c_origin(c, op, s, p->k);
  all_lengths(c, op, s);
  if (p->pairs.transposed >= 0) c_transpose_rows(c, op, s);
  if (p->slab) c_fill_slab(c, op, p);
  for (int k = 0; k < op->n_dims; k++)
    if (!cpu_is_matrix(p, k)) open_outside(c, op, s, k);
  bool may_be_empty = !s->range[p->k].never_empty;
  if (may_be_empty) {
    c_line(c, "if (n_k > 0) {\n");
    c->depth++;
  }
  c_add_flag(c, op, s);
  if (p->pairs.copy >= 0 && !cpu_of(s)->producer && !cpu_of(s)->copied) c_copy_rows(c, op, s);
  open_place(c, s);
  const bool packs = p->pack >= 0 && !p->slab && !p->pairs.steps, offers = packs && c_offers(c, p);
  if (offers) {
    c_line(c, "if (!"), c_pack_name(c, p->pairs.panels), fputs(") {\n", c->out);
    c->depth++;
  }
  if (packs) c_pack_panel(c, op, s);
  c_close(c, offers);
  if (cpu_of(s)->map) c_map_places(c, s, op->dims[p->m]);
  c_ahead *h = cpu_of(s)->producer ? c_ahead_begin(c, s) : NULL;
  if (p->pairs.steps)
    call_stream(c, op, s);
  else
    calls(c, op, s, c_ahead_micro(h));
  c_ahead_free(h);
  c_close(c, may_be_empty);
  for (int k = 0; k < op->n_dims; k++)
    if (!cpu_is_matrix(p, k)) c_close(c, 1);
  c_close(c, 1);
}
