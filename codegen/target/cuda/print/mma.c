/* A product of fragments: for each 16 of the sum, rows of a and columns of b come from tiles in shared memory (by
 * ldmatrix), from fragments, or from wherever they stand, an element at a time. */
#include <inttypes.h>

#include "codegen/target/cuda/pass/pass.h"
#include "codegen/target/cuda/print/cuda.h"

typedef struct {
  const ir_stmt *s;
  const tf_op *op;
  const ir_fragments *f;
  const ir_buffer *out;
} product;

static const ir_buffer *from(const c_printer *c, const product *t, int read) {
  return &c->p->buffers[t->s->nest.from ? t->s->nest.from[read] : c->p->buffer_of[t->op->reads[read].tensor]];
}

static bool is_tile(const ir_buffer *b) { return b->matrix && b->role == IR_COPIED; }

static void difference(c_printer *c, ir_atom a, ir_atom b) {
  fputs("(int)(", c->out), c_atom(c->out, c->p, a), fputs(" - (", c->out), c_atom(c->out, c->p, b), fputs("))", c->out);
}

/* Where along the tile's rank the operand's dim begins. */
static void begin(c_printer *c, const product *t, const ir_buffer *b, int k, int rank) {
  difference(c, t->s->range[k].lo, b->base[rank]);
}

/* "&TILE[(slot * pieces + spot<..>(row, piece)) * 8]", with what follows the row's and the piece's begin. */
static void spot(c_printer *c, const product *t, const ir_buffer *b, int row_dim, const char *row, int col_dim,
                 const char *piece) {
  const cu_tile tile = cu_tile_of(b);
  fprintf(c->out, "&%s[((", b->id), c_atom(c->out, c->p, b->slot);
  fprintf(c->out, ") * %" PRId64 " + spot<%" PRId64 ", %d, %d>(", tile.rows * tile.pitch, tile.pitch, tile.shift,
          tile.mask);
  begin(c, t, b, row_dim, b->rows), fprintf(c->out, ", %s, ", row);
  begin(c, t, b, col_dim, b->columns), fprintf(c->out, " / 8 + %s)) * 8]", piece);
}

/* Whether neighbours of the tile run along k. */
static bool along_k(const product *t, int read, const ir_buffer *b) {
  return t->op->reads[read].index[b->columns].terms[0].dim == t->op->dims[t->f->k];
}

static void a_of_tile(c_printer *c, const product *t, const ir_buffer *b) {
  const bool k = along_k(t, t->f->a, b);
  c_indent(c);
  fprintf(c->out, "load_matrices%s(fa[tm], ", k ? "" : "_turned");
  if (k)
    spot(c, t, b, t->f->m, "16 * tm + LANE % 16", t->f->k, "2 * tk + LANE / 16");
  else
    spot(c, t, b, t->f->k, "16 * tk + LANE / 16 * 8 + LANE % 8", t->f->m, "2 * tm + LANE / 8 % 2");
  fputs(");\n", c->out);
}

static void b_of_tile(c_printer *c, const product *t, const ir_buffer *b) {
  const bool k = along_k(t, t->f->b, b);
  c_indent(c);
  fprintf(c->out, "load_matrices%s(fb, ", k ? "" : "_turned");
  if (k)
    spot(c, t, b, t->f->n, "8 * tn + LANE / 16 * 8 + LANE % 8", t->f->k, "2 * tk + LANE / 8 % 2");
  else
    spot(c, t, b, t->f->k, "16 * tk + LANE % 16", t->f->n, "tn + LANE / 16");
  fputs(");\n", c->out);
}

static bool is_ragged(const ir_range *r) { return !r->exact || r->most % 16; }

/* Zero behind the end of the sum: what it is multiplied with may be no number. */
static void a_of_fragment(c_printer *c, const product *t, const ir_buffer *b) {
  const ir_range *k = &t->s->range[t->f->k];
  for (int i = 0; i < 4; i++) {
    c_indent(c);
    fprintf(c->out, "fa[tm][%d] = pack(", i);
    for (int e = 0; e < 2; e++) {
      if (e) fputs(", ", c->out);
      if (is_ragged(k)) {
        c_atom(c->out, c->p, k->lo);
        fprintf(c->out, " + 16 * tk + 2 * (LANE %% 4) + %d < ", i / 2 * 8 + e), c_atom(c->out, c->p, k->hi);
        fputs(" ? ", c->out);
      }
      fprintf(c->out, "%s[tm][2 * tk + %d][%d]%s", b->id, i / 2, i % 2 * 2 + e, is_ragged(k) ? " : 0.0f" : "");
    }
    fputs(");\n", c->out);
  }
}

static void set(c_printer *c, const product *t, int k, const char *more) {
  const char *dim = c_dim_name(c, t->op, k);
  c_indent(c);
  fprintf(c->out, "const int64_t d_%s = ", dim), c_atom(c->out, c->p, t->s->range[k].lo);
  fprintf(c->out, "%s;\n%*s(void)d_%s;\n", more, 2 * c->depth, "", dim);
}

/* An element at a time, from where it stands. */
static void direct(c_printer *c, const product *t, int read, int other, const char *place, const char *of_k,
                   const char *to) {
  c_line(c, "for (int i = 0; i < 4; i++) {\n");
  c->depth++;
  c_line(c, "float two[2];\n");
  set(c, t, other, place);
  c_line(c, "for (int te = 0; te < 2; te++) {\n");
  c->depth++;
  set(c, t, t->f->k, of_k);
  c_indent(c);
  fprintf(c->out, "two[te] = d_%s < ", c_dim_name(c, t->op, other)), c_atom(c->out, c->p, t->s->range[other].hi);
  fprintf(c->out, " && d_%s < ", c_dim_name(c, t->op, t->f->k)), c_atom(c->out, c->p, t->s->range[t->f->k].hi);
  fputs(" ? ", c->out), c_element(c, t->op, read), fputs(" : 0.0f;\n", c->out);
  c_close(c, 1);
  c_indent(c), fprintf(c->out, "%s[i] = pack(two[0], two[1]);\n", to);
  c_close(c, 1);
}

static void load_a(c_printer *c, const product *t) {
  const ir_buffer *b = from(c, t, t->f->a);
  c_indent(c);
  fprintf(c->out, "uint32_t fa[%" PRId64 "][4];\n", t->out->extent[t->out->rows] / 16);
  c_line(c, "#pragma unroll\n");
  c_indent(c);
  fprintf(c->out, "for (int tm = 0; tm < %" PRId64 "; tm++) {\n", t->out->extent[t->out->rows] / 16);
  c->depth++;
  if (is_tile(b))
    a_of_tile(c, t, b);
  else if (b->space == CU_FRAGMENT)
    a_of_fragment(c, t, b);
  else
    direct(c, t, t->f->a, t->f->m, " + 16 * tm + 8 * (i % 2) + LANE / 4",
           " + 16 * tk + 8 * (i / 2) + 2 * (LANE % 4) + te", "fa[tm]");
  c_close(c, 1);
}

static void load_b(c_printer *c, const product *t) {
  const ir_buffer *b = from(c, t, t->f->b);
  c_line(c, "uint32_t fb[4];\n");
  if (is_tile(b))
    b_of_tile(c, t, b);
  else
    direct(c, t, t->f->b, t->f->n, " + 8 * (tn + i / 2) + LANE / 4", " + 16 * tk + 8 * (i % 2) + 2 * (LANE % 4) + te",
           "fb");
}

static void zero(c_printer *c, const product *t, int64_t mt, int64_t nt) {
  if (t->s->nest.n_fresh) c_line(c, "if (fresh) {\n"), c->depth++;
  c_indent(c), fprintf(c->out, "zero_fragments<%" PRId64 ">(&%s[0][0][0]);\n", mt * nt * 4, t->out->id);
  if (t->s->nest.n_fresh) c_close(c, 1);
}

/* Dims with one setting; where one has none, or the sum, there is nothing to do. */
static int open_single(c_printer *c, const product *t) {
  int opened = 0;
  for (int k = 0; k < t->op->n_dims; k++) {
    if (k == t->f->m || k == t->f->n) continue;
    const ir_range *r = &t->s->range[k];
    if (k == t->f->k ? !r->some : !r->exact) {
      c_line(c, "if ("), c_atom(c->out, c->p, r->lo), fputs(" < ", c->out), c_atom(c->out, c->p, r->hi);
      fputs(") {\n", c->out), c->depth++, opened++;
    }
    if (k != t->f->k) set(c, t, k, "");
  }
  return opened;
}

void cu_fragment_product(c_printer *c, const ir_stmt *s) {
  const product t = {s, &c->wl->ops[s->op], s->nest.fragments, c_buffer(c, &c->wl->ops[s->op], -1)};
  const int64_t mt = t.out->extent[t.out->rows] / 16, nt = t.out->extent[t.out->columns] / 8;
  c_fresh_flag(c, s);
  zero(c, &t, mt, nt);
  const int opened = open_single(c, &t);
  c_line(c, "#pragma unroll\n");
  c_indent(c);
  fprintf(c->out, "for (int tk = 0; tk < %" PRId64 "; tk++) {\n", (s->range[t.f->k].most + 15) / 16);
  c->depth++;
  load_a(c, &t);
  c_line(c, "#pragma unroll\n");
  c_indent(c), fprintf(c->out, "for (int tn = 0; tn < %" PRId64 "; tn += 2) {\n", nt);
  c->depth++;
  load_b(c, &t);
  c_line(c, "#pragma unroll\n");
  c_indent(c), fprintf(c->out, "for (int tm = 0; tm < %" PRId64 "; tm++) {\n", mt);
  c->depth++;
  for (int i = 0; i < 2; i++)
    c_indent(c), fprintf(c->out, "multiply_bf16(%s[tm][tn + %d], fa[tm], fb + %d);\n", t.out->id, i, 2 * i);
  c_close(c, 3 + opened);
}
