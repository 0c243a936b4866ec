/* A product of a warpgroup: its 64 rows by up to 256 columns, 32 bytes of the sum at a time.
 * Operands are tiles of panels of 128 bytes a row, given by descriptors; rows may also be
 * fragments. Along the sum (K-major) a step is 32 bytes of a panel, and eight rows are 1024 bytes;
 * across it (MN-major, 16-bit types only) a step is 16 rows, and 64 rows or columns are a panel.
 * Float8 is multiplied in parts of a ring's step, whose partial sums are then added to the sums. */
#include <inttypes.h>

#include "codegen/backend/cuda/print/group.h"

enum { SUM = 16, /* of 16-bit types */ EIGHT = 8 * CU_PANEL, GROUP = 64 };

typedef struct {
  const cu_groups *g;
  const ir_stmt *s;
  const tf_op *op;
  const cu_matrices *f;
  const ir_buffer *out;
  int64_t steps; /* of the sum */
  bool parts;    /* products make partial sums, which are added to the sums */
} product;

static const ir_buffer *from(const c_printer *c, const product *t, int read) {
  return &c->p->buffers[t->s->nest.from[read]];
}

/* Whether the tile is contiguous along the sum. */
static bool along(const product *t, int read, const ir_buffer *b) {
  return t->op->reads[read].index[cu_column_rank(b)].terms[0].dim == t->op->dims[t->f->k];
}

/* The ring that fills the buffer. */
static int ring_of(const product *t, int read) {
  const int b = t->s->nest.from[read];
  for (int i = 0; i < t->g->n; i++)
    for (int k = 0; k < t->g->ring[i].n_copies; k++)
      if (t->g->ring[i].copy[k]->copy.to == b) return i;
  return 0;
}

/* "matrix_at(shared + .., along, leading, step)" for step tk; of a: the warpgroup's rows. */
static void matrix(c_printer *c, const product *t, int read, bool rows) {
  const ir_buffer *b = from(c, t, read);
  const int64_t panel = cu_matrix_rows(b) * CU_PANEL;
  const int ring = ring_of(t, read);
  const bool k = along(t, read, b);
  const int64_t group =
      k ? GROUP * CU_PANEL : panel; /* from one warpgroup's rows to the next one's */
  fprintf(c->out, "matrix_at(shared + %" PRId64 " + at_%d * %" PRId64,
          t->g->tile[t->s->nest.from[read]], ring, cu_bytes(b) / b->slots);
  if (rows && !t->g->in_turns) fprintf(c->out, " + threadIdx.y / 4 * %" PRId64, group);
  if (k)
    fprintf(c->out, ", tk / 4 * %" PRId64 " + tk %% 4 * %d", panel, CU_STEP_BYTES);
  else
    fprintf(c->out, ", tk * %d", SUM * CU_PANEL);
  fprintf(c->out, ", %" PRId64 ", %d)", k ? (int64_t)16 : panel, EIGHT);
}

static bool is_ragged(const ir_range *k) { return !k->exact || k->most % SUM; }

/* Rows that are fragments: the lanes' sums, rounded, with zeros beyond the end of the sum. */
static void rows_of_fragment(c_printer *c, const product *t, const ir_buffer *b) {
  const ir_range *k = &t->s->range[t->f->k];
  c_line(c, "#pragma unroll\n");
  c_indent(c), fprintf(c->out, "for (int tk = 0; tk < %" PRId64 "; tk++) {\n", t->steps);
  c->depth++;
  for (int i = 0; i < 4; i++) {
    c_indent(c), fprintf(c->out, "fa[tk][%d] = pack(", i);
    for (int e = 0; e < 2; e++) {
      if (e) fputs(", ", c->out);
      if (is_ragged(k)) {
        c_atom(c->out, c->p, k->lo),
            fprintf(c->out, " + %d * tk + 2 * (LANE %% 4) + %d < ", SUM, i / 2 * 8 + e);
        c_atom(c->out, c->p, k->hi), fputs(" ? ", c->out);
      }
      fprintf(c->out, "%s[0][2 * tk + %d][%d]%s", b->id, i / 2, i % 2 * 2 + e,
              is_ragged(k) ? " : 0.0f" : "");
    }
    fputs(");\n", c->out);
  }
  c_close(c, 1);
}

/* Whether the dim at that position runs along rows or columns. */
static bool is_of_matrix(const product *t, int k) {
  return k == t->f->m || k == t->f->n || ir_is_stacked(t->s, k);
}

/* Opens dims with one setting; if one is empty, or the sum is, nothing is multiplied. */
static int open_single(c_printer *c, const product *t) {
  int opened = 0;
  for (int k = 0; k < t->op->n_dims; k++) {
    const ir_range *r = &t->s->range[k];
    if (is_of_matrix(t, k) || (k == t->f->k ? r->never_empty : r->exact)) continue;
    c_line(c, "if ("), c_atom(c->out, c->p, r->lo), fputs(" < ", c->out),
        c_atom(c->out, c->p, r->hi);
    fputs(") {\n", c->out), c->depth++, opened++;
  }
  return opened;
}

static bool has_open(const product *t) {
  bool open = false;
  for (int k = 0; k < t->op->n_dims; k++)
    open |= !is_of_matrix(t, k) && k != t->f->k && !t->s->range[k].exact;
  return open;
}

static product product_of(const c_printer *c, const cu_groups *g, const ir_stmt *s) {
  product t = {.g = g, .s = s, .op = &c->wl->ops[s->op], .f = cu_of(s)->fragments};
  t.out = c_buffer(c, t.op, -1);
  const int64_t step = CU_STEP_BYTES / ir_bytes(c->p->machine.data);
  t.steps = (s->range[t.f->k].most + step - 1) / step;
  t.parts = cu_has_short_sums(c->p) &&
            (s->nest.n_resets || !s->range[t.f->k].never_empty || has_open(&t));
  return t;
}

bool cu_groups_is_steady(const c_printer *c, const ir_stmt *s) {
  const product t = product_of(c, NULL, s);
  return s->range[t.f->k].never_empty && !has_open(&t);
}

void cu_groups_rows(c_printer *c, const ir_stmt *s, bool declare) {
  const product t = product_of(c, NULL, s);
  if (declare)
    c_indent(c), fprintf(c->out, "uint32_t fa[%" PRId64 "][4];\n", t.steps);
  else
    rows_of_fragment(c, &t, from(c, &t, t.f->a));
}

/* The accumulators: "&C[0][0][0]". */
static void sums(c_printer *c, const product *t) {
  fprintf(c->out, t->parts ? "part" : "&%s[0][0][0]", t->out->id);
}

/* Waits until at most `left` products are incomplete. */
static void wait(c_printer *c, const product *t, int left) {
  c_indent(c), fprintf(c->out, "multiply_wait<%d>();\n", left);
  c_indent(c),
      fprintf(c->out, "sums_hold<%" PRId64 ">(", t->out->extent[cu_column_rank(t->out)] / 2);
  sums(c, t), fputs(");\n", c->out);
}

/* fresh: whether sums start (NULL: as the flag or the step says). */
static void begin_sums(c_printer *c, const product *t, bool some, const char *fresh) {
  const ir_buffer *a = from(c, t, t->f->a), *b = from(c, t, t->f->b);
  const bool fragment = a->space == CU_FRAGMENT, turned_b = !along(t, t->f->b, b);
  const int64_t n = t->out->extent[cu_column_rank(t->out)];
  c_indent(c), fprintf(c->out, "sums_hold<%" PRId64 ">(", n / 2), sums(c, t), fputs(");\n", c->out);
  c_line(c, "multiply_begin();\n");
  c_line(c, "#pragma unroll\n");
  c_indent(c), fprintf(c->out, "for (int tk = 0; tk < %" PRId64 "; tk++)\n", t->steps);
  c->depth++;
  c_indent(c);
  if (fragment)
    fprintf(c->out, "multiply_rows<%" PRId64 ", %d>(", n, turned_b);
  else
    fprintf(c->out, "multiply_tiles<%" PRId64 ", %d, %d>(", n, !along(t, t->f->a, a), turned_b);
  sums(c, t), fputs(fragment ? ", fa[tk], " : ", ", c->out);
  if (!fragment) matrix(c, t, t->f->a, true), fputs(", ", c->out);
  matrix(c, t, t->f->b, false);
  if (!some)
    fputs(", true);\n", c->out);
  else if (fresh || (t->s->nest.n_resets && !t->parts))
    fprintf(c->out, ", !%s || tk > 0);\n", fresh ? fresh : "fresh");
  else
    fputs(", tk > 0);\n", c->out);
  c->depth--;
  c_line(c, "multiply_end();\n");
}

void cu_groups_begin(c_printer *c, const cu_groups *g, const ir_stmt *s, const char *fresh) {
  const product t = product_of(c, g, s);
  c_line(c, "{ /* ");
  fprintf(c->out, "%s */\n", t.op->name);
  c->depth++;
  if (!fresh) c_fresh_flag(c, s);
  begin_sums(c, &t, true, fresh);
  c_close(c, 1);
}

void cu_groups_wait(c_printer *c, const ir_stmt *s, int left) {
  const product t = product_of(c, NULL, s);
  wait(c, &t, left);
}

void cu_groups_product(c_printer *c, const cu_groups *g, const ir_stmt *s) {
  const product t = product_of(c, g, s);
  c_line(c, "{ /* ");
  fprintf(c->out, "%s */\n", t.op->name);
  c->depth++;
  c_fresh_flag(c, s);
  const bool some = s->range[t.f->k].never_empty && !has_open(&t);
  const int64_t n = t.out->extent[cu_column_rank(t.out)];
  if (!some && s->nest.n_resets)
    c_indent(c), fprintf(c->out, "if (fresh) zero_fragments<%" PRId64 ">(&%s[0][0][0]);\n", n / 2,
                         t.out->id);
  const int opened = open_single(c, &t);
  if (from(c, &t, t.f->a)->space == CU_FRAGMENT)
    cu_groups_rows(c, s, true), cu_groups_rows(c, s, false);
  if (t.parts) c_indent(c), fprintf(c->out, "float part[%" PRId64 "];\n", n / 2);
  begin_sums(c, &t, some || t.parts, NULL);
  wait(c, &t, 0);
  if (t.parts) {
    c_indent(c), fprintf(c->out, "add_part<%" PRId64 ">(&%s[0][0][0], part, ", n / 2, t.out->id);
    fputs(some && s->nest.n_resets ? "fresh);\n" : "false);\n", c->out);
  }
  c_close(c, opened + 1);
}
