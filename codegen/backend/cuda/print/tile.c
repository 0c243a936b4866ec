/* Prints copies of a matrix to shared memory: all threads of the block copy a piece of 16 bytes
 * each in turn. If the box is not empty, the part of the tile beyond it is set to zero. */
#include <inttypes.h>
#include <string.h>

#include "codegen/backend/cuda/pass/pass.h"
#include "codegen/backend/cuda/print/cuda.h"

static void length(c_printer *c, const char *name, const ir_range *r) {
  c_indent(c);
  fprintf(c->out, "const int64_t %s = ", name);
  c_atom(c->out, c->p, r->hi), fputs(" - (", c->out), c_atom(c->out, c->p, r->lo),
      fputs(");\n", c->out);
}

/* The number of rows to copy: 0 if the range of another rank is empty. */
static void rows(c_printer *c, const ir_stmt *s, const ir_buffer *to) {
  length(c, "there", &s->range[cu_row_rank(to)]);
  length(c, "columns", &s->range[cu_column_rank(to)]);
  c_line(c, "const int64_t rows = ");
  for (int r = 0; r < to->rank; r++) {
    if (r == cu_row_rank(to) || r == cu_column_rank(to) || s->range[r].exact) continue;
    c_atom(c->out, c->p, s->range[r].hi), fputs(" <= ", c->out),
        c_atom(c->out, c->p, s->range[r].lo);
    fputs(" ? 0 : ", c->out);
  }
  fputs("there;\n", c->out);
}

static void stride(c_printer *c, const ir_buffer *from, int r) {
  if (from->role == IR_ARGUMENT)
    fprintf(c->out, "%s_s%d", from->id, r);
  else
    fprintf(c->out, "%" PRId64, c_rank_step(from, r));
}

/* The part of a row's address that all rows share. */
static void origin(c_printer *c, const ir_stmt *s, const ir_buffer *to) {
  const ir_buffer *from = &c->p->buffers[s->copy.from];
  c_indent(c);
  fprintf(c->out, "const %s *const from = %s", c_type(from->type), from->id);
  for (int r = 0; r < from->rank; r++) {
    fputs(" + (", c->out), c_atom(c->out, c->p, s->range[r].lo), fputs(" - (", c->out);
    c_atom(c->out, c->p, from->base[r]), fputs("))", c->out);
    if (r < from->rank - 1) fputs(" * ", c->out), stride(c, from, r);
  }
  fprintf(c->out, ";\n%*sconst int64_t stride = ", 2 * c->depth, ""),
      stride(c, from, cu_row_rank(to)), fputs(";\n", c->out);
}

static int per_piece(const ir_buffer *b) { return 16 / ir_bytes(b->type); }

/* Whether elements are widened in the copy. */
static bool is_widened(const c_printer *c, const ir_stmt *s) {
  return c->p->buffers[s->copy.to].type != c->p->buffers[s->copy.from].type;
}

static void open_turns(c_printer *c, int64_t n) {
  c_line(c, "#pragma unroll\n");
  c_indent(c);
  fprintf(c->out, "for (int j = 0; j < %" PRId64 "; j++) {\n", n);
  c->depth++;
}

/* All pieces of a thread, one after the other, without branches between them. */
static void turns(c_printer *c, const cu_tile *t, int per, int64_t at_once, const char *how,
                  const char *much) {
  c->depth++;
  open_turns(c, t->rows / at_once);
  c_indent(c);
  fprintf(c->out, "copy_%s(place + j * %" PRId64 ", at, ", how, at_once * t->pitch * per);
  if (strchr(much, '?')) fprintf(c->out, "j * %" PRId64 " < ", at_once);
  fprintf(c->out, "%s);\n", much);
  c_indent(c), fprintf(c->out, "at += %" PRId64 " * stride;\n", at_once);
  c_close(c, 1);
  c->depth--;
}

/* A thread keeps its piece of a row and goes from row to row: the bank of a piece depends on the
 * row mod 8. */
static void by_rows(c_printer *c, const ir_stmt *s, const cu_tile *t, int64_t at_once) {
  const ir_buffer *to = &c->p->buffers[s->copy.to];
  const int per = per_piece(to);
  c_indent(c);
  fprintf(c->out,
          "const int thread = thread_here(), row = thread / %" PRId64
          ", left = (int)least(columns - thread %% %" PRId64 " * %d, %d);\n",
          t->pieces, t->pieces, per, per);
  c_indent(c);
  fprintf(c->out, "const %s *at = from + row * stride + thread %% %" PRId64 " * %d;\n",
          c_type(c->p->buffers[s->copy.from].type), t->pieces, per);
  c_indent(c);
  fprintf(c->out, "%s *const place = &%s[((", c_type(to->type), to->id),
      c_atom(c->out, c->p, s->copy.slot);
  fprintf(c->out,
          ") * %" PRId64 " + spot<%" PRId64 ", %d, %d>(0, row, thread %% %" PRId64 ")) * %d];\n",
          t->rows * t->pitch, t->pitch, t->shift, t->mask, t->pieces, per);
  c_indent(c);
  fprintf(c->out,
          "const int here = (int)least(rows - row, %" PRId64
          "), bytes = left > 0 ? left * %d : 0;\n",
          t->rows, 16 / per);
  c_line(c, "(void)here, (void)bytes;\n");
  const int lengths = cu_lengths_of(c->p, s, t);
  const bool wide = is_widened(c, s);
  if (wide || lengths == (CU_FULL | CU_SOME)) {
    c_indent(c);
    fprintf(c->out, "if (whole && rows >= %" PRId64 " && columns >= %" PRId64 ") {\n", t->rows,
            t->pieces * per);
    turns(c, t, per, at_once, wide ? "eight" : "16",
          wide ? "8" : "16"); /* a constant length takes few instructions */
  }
  if (!wide) {
    c_line(c, lengths == (CU_FULL | CU_SOME) ? "} else if (whole) {\n" : "if (whole) {\n");
    turns(c, t, per, at_once, "16", lengths == CU_FULL ? "16" : "here ? bytes : 0");
  }
  c_line(c, "} else {\n");
  turns(c, t, per, at_once, wide ? "wide" : "elements",
        wide ? "here ? left : 0, whole" : "here ? left : 0");
  c_line(c, "}\n");
}

/* Opens the loop over a thread's pieces, of so many in all. */
static void open_pieces(c_printer *c, int64_t pieces) {
  c_line(c, "const int thread = thread_here();\n");
  open_turns(c, (pieces + CU_WARPS * CU_LANES - 1) / (CU_WARPS * CU_LANES));
  c_line(c, "const int i = thread + j * THREADS;\n");
  if (pieces % (CU_WARPS * CU_LANES))
    c_indent(c), fprintf(c->out, "if (i >= %" PRId64 ") break;\n", pieces);
}

static void by_pieces(c_printer *c, const ir_stmt *s, const cu_tile *t) {
  const ir_buffer *to = &c->p->buffers[s->copy.to];
  const int64_t pieces = t->rows * t->pieces;
  const int per = per_piece(to);
  open_pieces(c, pieces);
  c_indent(c);
  fprintf(c->out, "const int row = i / %" PRId64 ", piece = i %% %" PRId64 ";\n", t->pieces,
          t->pieces);
  c_line(c, is_widened(c, s) ? "copy_wide(&" : "copy_piece(&");
  fprintf(c->out, "%s[((", to->id), c_atom(c->out, c->p, s->copy.slot);
  fprintf(c->out,
          ") * %" PRId64 " + spot<%" PRId64
          ", %d, %d>(0, row, piece)) * %d], from + row * stride + piece * %d,\n"
          "%*srow < rows ? (int)least(columns - piece * %d, %d) : 0, whole);\n",
          t->rows * t->pitch, t->pitch, t->shift, t->mask, per, per, 2 * c->depth + 11, "", per,
          per);
  c_close(c, 1);
}

void cu_tile_copy(c_printer *c, const ir_stmt *s) {
  const ir_buffer *to = &c->p->buffers[s->copy.to];
  if (cu_stack(to)) {
    cu_stacked_copy(c, s);
    return;
  }
  const cu_tile t = cu_tile_of(to);
  const int64_t at_once = CU_WARPS * CU_LANES / t.pieces; /* rows */
  c_line(c, "{ /* copy ");
  fprintf(c->out, "%s */\n", to->name);
  c->depth++;
  rows(c, s, to);
  origin(c, s, to);
  c_indent(c);
  fprintf(c->out,
          "const bool whole = ((uintptr_t)from | (uintptr_t)stride * sizeof *from) %% %d == 0;\n",
          is_widened(c, s) ? per_piece(to) : 16);
  c_line(c, "if (rows > 0 && columns > 0) {\n");
  c->depth++;
  if (cu_is_by_rows(&t))
    by_rows(c, s, &t, at_once);
  else
    by_pieces(c, s, &t);
  c_close(c, 2);
  if (s->copy.ends) c_line(c, "copy_end();\n");
}
