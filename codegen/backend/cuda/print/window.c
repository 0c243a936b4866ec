/* Prints a depthwise convolution from a tile of its input: a lane has two neighbouring channels,
 * and sums in registers for its pixels; loops over the window are unrolled, so that an element that
 * several pixels use is read once. */
#include <inttypes.h>

#include "codegen/backend/cuda/pass/pass.h"
#include "codegen/backend/cuda/print/cuda.h"

typedef struct {
  const ir_stmt *s;
  const tf_op *op;
  const cu_window_nest *t;
  const ir_buffer *tile;
} window;

static const ir_buffer *weights_of(c_printer *c, const window *t) {
  return c_buffer(c, t->op, 1 - t->t->depthwise.read);
}

static const ir_range *pixels_of(const window *t) { return &t->s->range[t->t->depthwise.pixel]; }
static int64_t pixels(const window *t) { return pixels_of(t)->most; }

/* The stride of a rank in the tile, in elements. */
static int64_t step_of(const window *t, int rank) {
  const ir_stack *rows = cu_stack(t->tile);
  int64_t step = cu_tile_of(t->tile).pitch * 16 / ir_bytes(t->tile->type);
  for (int i = rows->n - 1; i >= 0 && rows->axis[i] != rank; i--)
    step *= rows->length[i];
  for (int i = 0; i < rows->n; i++)
    if (rows->axis[i] == rank) return step;
  return 0;
}

/* "const T *const at = &TILE[..]": the element of the first pixel and the first position of the
 * window. */
static void origin(c_printer *c, const window *t) {
  const tf_ref *in = &t->op->reads[t->t->depthwise.read];
  c_indent(c);
  fprintf(c->out, "const %s *const at = &%s[d_%s - (", c_type(t->tile->type), t->tile->id,
          c_dim_name(c, t->op, t->t->depthwise.channels));
  c_atom(c->out, c->p, t->tile->base[t->t->depthwise.rank]), fputc(')', c->out);
  for (int r = 0; r < t->tile->rank; r++) {
    if (!step_of(t, r)) continue;
    fprintf(c->out, " + (%" PRId64, in->index[r].c);
    for (int i = 0; i < in->index[r].n_terms; i++) {
      const int k = lower_find_dim(t->op, in->index[r].terms[i].dim);
      if (k < t->op->n_out_dims)
        fprintf(c->out, " + %" PRId64 " * d_%s", in->index[r].terms[i].coef,
                c_dim_name(c, t->op, k));
    }
    fputs(" - (", c->out), c_atom(c->out, c->p, t->tile->base[r]);
    fprintf(c->out, ")) * %" PRId64, step_of(t, r));
  }
  fputs("];\n", c->out);
}

/* " + d * STEP" for each rank that the dim moves. */
static void moved(c_printer *c, const window *t, int dim, const char *by) {
  const tf_ref *in = &t->op->reads[t->t->depthwise.read];
  int64_t step = 0;
  for (int r = 0; r < t->tile->rank; r++)
    for (int i = 0; i < in->index[r].n_terms; i++)
      if (in->index[r].terms[i].dim == dim) step += in->index[r].terms[i].coef * step_of(t, r);
  if (step) fprintf(c->out, " + %s * %" PRId64, by, step);
}

static void open_unrolled(c_printer *c, const char *type, const char *name, int64_t n) {
  c_line(c, "#pragma unroll\n"), c_indent(c);
  fprintf(c->out, "for (%s %s = 0; %s < %" PRId64 "; %s++) {\n", type, name, name, n, name);
  c->depth++;
}

/* The two weights of a window's position, "more" elements apart, or (beyond the last channel)
 * one. */
static void weights(c_printer *c, const window *t) {
  c_indent(c), fprintf(c->out, "const %s *const of = &", c_type(weights_of(c, t)->type));
  c_place(c, t->op, 1 - t->t->depthwise.read), fputs(";\n", c->out);
  c_line(c, "READS(of, 2), READS(of + more, 2);\n");
  c_line(c, "const float w0 = wide(*of), w1 = wide(of[more]);\n");
}

static void sums(c_printer *c, const window *t) {
  int loops = 0;
  for (int k = t->op->n_out_dims; k < t->op->n_dims; k++, loops++) {
    char name[160];
    snprintf(name, sizeof name, "d_%.150s", c_dim_name(c, t->op, k));
    open_unrolled(c, "int64_t", name, t->s->range[k].most);
  }
  weights(c, t);
  open_unrolled(c, "int", "t1", pixels(t));
  if (t->t->partial && !pixels_of(t)->exact) {
    c_line(c, "const int64_t here = least(t1, "), c_atom(c->out, c->p, pixels_of(t)->hi);
    fputs(" - 1 - (", c->out), c_atom(c->out, c->p, pixels_of(t)->lo), fputs("));\n", c->out);
  }
  c_line(c, "uint16_t two[2];\n");
  c_line(c, "get_pair(two, at");
  moved(c, t, t->op->dims[t->t->depthwise.pixel],
        t->t->partial && !pixels_of(t)->exact ? "here" : "t1");
  for (int k = t->op->n_out_dims; k < t->op->n_dims; k++) {
    char name[160];
    snprintf(name, sizeof name, "d_%.150s", c_dim_name(c, t->op, k));
    moved(c, t, t->op->dims[k], name);
  }
  fputs(");\n", c->out);
  c_line(c, "sum[t1][0] += wide(two[0]) * w0;\n");
  c_line(c, "sum[t1][1] += wide(two[1]) * w1;\n");
  c_close(c, 1 + loops);
}

/* Opens a loop over the pixels that exist, with t1 as its counter. */
static void open_pixels(c_printer *c, const window *t) {
  const ir_range *q = pixels_of(t);
  const char *along = c_dim_name(c, t->op, t->t->depthwise.pixel);
  open_unrolled(c, "int", "t1", pixels(t));
  c_indent(c), fprintf(c->out, "const int64_t d_%s = ", along), c_atom(c->out, c->p, q->lo);
  fputs(" + t1;\n", c->out);
  if (!q->exact)
    c_indent(c), fprintf(c->out, "if (d_%s >= ", along), c_atom(c->out, c->p, q->hi),
        fputs(") break;\n", c->out);
}

/* Pairs of sums as words, if those of the first pixels stand so, as others then do. */
static void leave_pairs(c_printer *c, const window *t) {
  const char *along = c_dim_name(c, t->op, t->t->depthwise.pixel);
  c_line(c, "bool words = (uintptr_t)&"), c_element_of(c, t->t->sums),
      fputs(" % 4 == 0;\n", c->out);
  if (pixels(t) > 1) {
    c_line(c, "{\n"), c->depth++, c_indent(c);
    fprintf(c->out, "const int64_t next = d_%s + 1, d_%s = next;\n", along, along);
    c_line(c, "words = words && (uintptr_t)&"), c_element_of(c, t->t->sums);
    fputs(" % 4 == 0;\n", c->out), c_close(c, 1);
  }
  for (int i = 0; i < 2; i++) {
    c_line(c, i ? "} else {\n" : "if (words) {\n"), c->depth++;
    open_pixels(c, t);
    c_line(c, i ? "put_pair(&" : "put_word(&"), c_element_of(c, t->t->sums);
    fputs(i ? ", sum[t1][0], sum[t1][1], 2);\n" : ", sum[t1][0], sum[t1][1]);\n", c->out);
    c_close(c, 1 + i), c->depth -= !i;
  }
}

/* Of each channel that is there pairs of pixels, or, where these are no neighbours, one by one:
 * channels are not the output's last dim. */
static void leave_apart(c_printer *c, const window *t) {
  const char *channel = c_dim_name(c, t->op, t->t->depthwise.channels),
             *along = c_dim_name(c, t->op, t->t->depthwise.pixel);
  const bool pairs = t->t->depthwise.pixel == t->op->n_out_dims - 1;
  c_indent(c), fputs("const int64_t channels = ", c->out);
  c_atom(c->out, c->p, t->s->range[t->t->depthwise.channels].hi);
  fprintf(c->out, " - d_%s, first = d_%s, pixels = ", channel, channel);
  c_atom(c->out, c->p, pixels_of(t)->hi), fputs(" - (", c->out);
  c_atom(c->out, c->p, pixels_of(t)->lo), fputs(");\n", c->out);
  open_unrolled(c, "int", "e", 2);
  c_line(c, "if (e >= channels) break;\n"), c_indent(c);
  fprintf(c->out, "const int64_t d_%s = first + e;\n", channel);
  c_line(c, "#pragma unroll\n"), c_indent(c);
  fprintf(c->out, "for (int t1 = 0; t1 < %" PRId64 "; t1 += %d) {\n", pixels(t), pairs ? 2 : 1);
  c->depth++;
  c_line(c, "if (t1 >= pixels) break;\n"), c_indent(c);
  fprintf(c->out, "const int64_t d_%s = ", along), c_atom(c->out, c->p, pixels_of(t)->lo);
  fputs(" + t1;\n", c->out);
  if (pairs)
    c_line(c, "put_pair(&"), c_element_of(c, t->t->sums),
        fprintf(c->out, ", sum[t1][e], sum[t1 + 1 < %" PRId64 " ? t1 + 1 : t1][e], pixels - t1);\n",
                pixels(t));
  else
    c_line(c, "WRITES(&"), c_element_of(c, t->t->sums), fputs(", 2);\n", c->out), c_indent(c),
        c_element_of(c, t->t->sums), fputs(" = narrow(sum[t1][e]);\n", c->out);
  c_close(c, 2);
}

/* Stores the sums of pixels and channels that exist. */
static void store_sums(c_printer *c, const window *t) {
  const char *channel = c_dim_name(c, t->op, t->t->depthwise.channels);
  const bool last = t->t->depthwise.channels == t->op->n_out_dims - 1;
  if ((t->t->pairs || !last) && t->t->sums >= 0) {
    (last ? leave_pairs : leave_apart)(c, t);
    return;
  }
  open_pixels(c, t);
  c_indent(c), fputs("const int64_t left = ", c->out);
  c_atom(c->out, c->p, t->s->range[t->t->depthwise.channels].hi);
  fprintf(c->out, " - d_%s;\n", channel);
  if (t->t->sums >= 0) {
    c_line(c, "put_pair(&"), c_element_of(c, t->t->sums),
        fputs(", sum[t1][0], sum[t1][1], left);\n", c->out);
  } else {
    c_indent(c), c_element(c, t->op, -1), fputs(" = sum[t1][0];\n", c->out);
    c_line(c, "if (left > 1) {\n"), c->depth++;
    c_indent(c),
        fprintf(c->out, "const int64_t second = d_%s + 1, d_%s = second;\n", channel, channel);
    c_indent(c), c_element(c, t->op, -1), fputs(" = sum[t1][1];\n", c->out);
    c_close(c, 1);
  }
  c_close(c, 1);
}

void cu_window_points(c_printer *c, const ir_stmt *s) {
  const window t = {s, &c->wl->ops[s->op], cu_of(s)->window,
                    &c->p->buffers[cu_of(s)->window->tile]};
  const int along = t.t->depthwise.pixel, channels = t.t->depthwise.channels;
  int opened = 0;
  for (int k = 0; k < t.op->n_out_dims; k++)
    if (k != along && k != channels) c_loop(c, t.op, s, k), opened++;
  c_line(c, "if ("), c_atom(c->out, c->p, s->range[channels].lo), fputs(" < ", c->out);
  c_atom(c->out, c->p, s->range[channels].hi), fputs(" && ", c->out);
  c_atom(c->out, c->p, s->range[along].lo), fputs(" < ", c->out);
  c_atom(c->out, c->p, s->range[along].hi), fputs(") {\n", c->out), c->depth++;
  for (int i = 0; i < 2; i++) {
    const int k = i ? channels : along;
    c_indent(c), fprintf(c->out, "const int64_t d_%s = ", c_dim_name(c, t.op, k));
    c_atom(c->out, c->p, s->range[k].lo), fputs(";\n", c->out);
    if (k == along) c_line(c, "(void)"), fprintf(c->out, "d_%s;\n", c_dim_name(c, t.op, k));
  }
  origin(c, &t);
  c_line(c, "const int64_t more = ");
  if (!t.t->pairs) {
    fprintf(c->out, "d_%s + 1 >= ", c_dim_name(c, t.op, channels));
    c_atom(c->out, c->p, s->range[channels].hi), fputs(" ? 0 : ", c->out);
  }
  c_step(c, t.op, 1 - t.t->depthwise.read, t.op->dims[channels]), fputs(";\n", c->out);
  c_indent(c), fprintf(c->out, "float sum[%" PRId64 "][2] = {};\n", pixels(&t));
  sums(c, &t);
  store_sums(c, &t);
  c_close(c, 1 + opened);
}
