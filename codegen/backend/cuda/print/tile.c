/* A matrix on its way to shared memory: all threads of the block, a piece of 16 bytes each in turn.  What a
 * box that is not empty has not of the tile becomes zero. */
#include <inttypes.h>
#include <string.h>

#include "codegen/backend/cuda/pass/pass.h"
#include "codegen/backend/cuda/print/cuda.h"

static void length(c_printer *c, const char *name, const ir_range *r) {
  c_indent(c);
  fprintf(c->out, "const int64_t %s = ", name);
  c_atom(c->out, c->p, r->hi), fputs(" - (", c->out), c_atom(c->out, c->p, r->lo), fputs(");\n", c->out);
}

/* The number of rows to be copied: 0 where the range of another rank is empty. */
static void rows(c_printer *c, const ir_stmt *s, const ir_buffer *to) {
  length(c, "there", &s->range[cu_row_rank(to)]);
  length(c, "columns", &s->range[cu_column_rank(to)]);
  c_line(c, "const int64_t rows = ");
  for (int r = 0; r < to->rank; r++) {
    if (r == cu_row_rank(to) || r == cu_column_rank(to) || s->range[r].exact) continue;
    c_atom(c->out, c->p, s->range[r].hi), fputs(" <= ", c->out), c_atom(c->out, c->p, s->range[r].lo);
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

/* The part of the address of a row's first element that is the same for all rows. */
static void origin(c_printer *c, const ir_stmt *s, const ir_buffer *to) {
  const ir_buffer *from = &c->p->buffers[s->copy.from];
  c_indent(c);
  fprintf(c->out, "const %s *const from = %s", c_type(from->type), from->id);
  for (int r = 0; r < from->rank; r++) {
    fputs(" + (", c->out), c_atom(c->out, c->p, s->range[r].lo), fputs(" - (", c->out);
    c_atom(c->out, c->p, from->base[r]), fputs("))", c->out);
    if (r < from->rank - 1) fputs(" * ", c->out), stride(c, from, r);
  }
  fprintf(c->out, ";\n%*sconst int64_t stride = ", 2 * c->depth, ""), stride(c, from, cu_row_rank(to)),
      fputs(";\n", c->out);
}

static int per_piece(const ir_buffer *b) { return 16 / ir_bytes(b->type); }

/* Whether elements become wider on their way. */
static bool is_widened(const c_printer *c, const ir_stmt *s) {
  return c->p->buffers[s->copy.to].type != c->p->buffers[s->copy.from].type;
}

static void open_turns(c_printer *c, int64_t n) {
  c_line(c, "#pragma unroll\n");
  c_indent(c);
  fprintf(c->out, "for (int j = 0; j < %" PRId64 "; j++) {\n", n);
  c->depth++;
}

/* All pieces of a thread, one after the other: no branch but those around. */
static void turns(c_printer *c, const cu_tile *t, int per, int64_t at_once, const char *how, const char *much) {
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

/* A thread stays at its piece of a row and goes from row to row: the bank that a piece is in hangs on the row mod 8. */
static void by_rows(c_printer *c, const ir_stmt *s, const cu_tile *t, int64_t at_once) {
  const ir_buffer *to = &c->p->buffers[s->copy.to];
  const int per = per_piece(to);
  c_indent(c);
  fprintf(c->out,
          "const int thread = thread_here(), row = thread / %" PRId64 ", left = (int)least(columns - thread %% %" PRId64
          " * %d, %d);\n",
          t->pieces, t->pieces, per, per);
  c_indent(c);
  fprintf(c->out, "const %s *at = from + row * stride + thread %% %" PRId64 " * %d;\n",
          c_type(c->p->buffers[s->copy.from].type), t->pieces, per);
  c_indent(c);
  fprintf(c->out, "%s *const place = &%s[((", c_type(to->type), to->id), c_atom(c->out, c->p, s->copy.slot);
  fprintf(c->out, ") * %" PRId64 " + spot<%" PRId64 ", %d, %d>(0, row, thread %% %" PRId64 ")) * %d];\n",
          t->rows * t->pitch, t->pitch, t->shift, t->mask, t->pieces, per);
  c_indent(c);
  fprintf(c->out, "const int here = (int)least(rows - row, %" PRId64 "), bytes = left > 0 ? left * %d : 0;\n", t->rows,
          16 / per);
  c_line(c, "(void)here, (void)bytes;\n");
  const int lengths = cu_lengths_of(c->p, s, t);
  const bool wide = is_widened(c, s);
  if (wide || lengths == (CU_FULL | CU_SOME)) {
    c_indent(c);
    fprintf(c->out, "if (whole && rows >= %" PRId64 " && columns >= %" PRId64 ") {\n", t->rows, t->pieces * per);
    turns(c, t, per, at_once, wide ? "eight" : "16",
          wide ? "8" : "16"); /* a constant length: few instructions a piece */
  }
  if (!wide) {
    c_line(c, lengths == (CU_FULL | CU_SOME) ? "} else if (whole) {\n" : "if (whole) {\n");
    turns(c, t, per, at_once, "16", lengths == CU_FULL ? "16" : "here ? bytes : 0");
  }
  c_line(c, "} else {\n");
  turns(c, t, per, at_once, wide ? "wide" : "elements", wide ? "here ? left : 0, whole" : "here ? left : 0");
  c_line(c, "}\n");
}

/* Opens the loop in which a thread has the i-th of so many pieces. */
static void open_pieces(c_printer *c, int64_t pieces) {
  c_line(c, "const int thread = thread_here();\n");
  open_turns(c, (pieces + CU_WARPS * CU_LANES - 1) / (CU_WARPS * CU_LANES));
  c_line(c, "const int i = thread + j * THREADS;\n");
  if (pieces % (CU_WARPS * CU_LANES)) c_indent(c), fprintf(c->out, "if (i >= %" PRId64 ") break;\n", pieces);
}

static void by_pieces(c_printer *c, const ir_stmt *s, const cu_tile *t) {
  const ir_buffer *to = &c->p->buffers[s->copy.to];
  const int64_t pieces = t->rows * t->pieces;
  const int per = per_piece(to);
  open_pieces(c, pieces);
  c_indent(c);
  fprintf(c->out, "const int row = i / %" PRId64 ", piece = i %% %" PRId64 ";\n", t->pieces, t->pieces);
  c_line(c, is_widened(c, s) ? "copy_wide(&" : "copy_piece(&");
  fprintf(c->out, "%s[((", to->id), c_atom(c->out, c->p, s->copy.slot);
  fprintf(c->out,
          ") * %" PRId64 " + spot<%" PRId64 ", %d, %d>(0, row, piece)) * %d], from + row * stride + piece * %d,\n%*s"
          "row < rows ? (int)least(columns - piece * %d, %d) : 0, whole);\n",
          t->rows * t->pitch, t->pitch, t->shift, t->mask, per, per, 2 * c->depth + 11, "", per, per);
  c_close(c, 1);
}

/* ---- stacked rows ---------------------------------------------------------------------------------------- */

/* The place of a rank in the stack; -1: it is not one of its ranks. */
static int place_in(const ir_stack *t, int rank) {
  int at = -1;
  for (int i = 0; i < t->n; i++)
    if (t->at[i] == rank) at = i;
  return at;
}

/* Where rows begin that are nowhere else: "const T *const from", the sum's first element, all other ranks at the first
 * one of the block's that is in the tensor; and whether all rows stand on 16 bytes. */
static void stacked_origin(c_printer *c, const ir_stmt *s, const ir_buffer *to) {
  const ir_buffer *from = &c->p->buffers[s->copy.from];
  c_indent(c);
  fprintf(c->out, "const %s *const from = %s + (", c_type(from->type), from->id);
  c_atom(c->out, c->p, s->range[cu_column_rank(to)].lo), fputs(" - (", c->out);
  c_atom(c->out, c->p, from->base[cu_column_rank(to)]), fputs("))", c->out);
  if (cu_column_rank(to) < to->rank - 1) fputs(" * ", c->out), stride(c, from, cu_column_rank(to));
  fputs(";\n", c->out);
  if (cu_column_rank(to) < to->rank - 1) return;
  c_line(c, "const bool whole = ((uintptr_t)from");
  for (int r = 0; r < to->rank - 1; r++)
    fputs(" | (uintptr_t)", c->out), stride(c, from, r), fputs(" * sizeof *from", c->out);
  fprintf(c->out, ") %% %d == 0;\n", is_widened(c, s) ? per_piece(to) : 16);
}

/* "const int64_t x1 = .., x2 = ..;": where the row is along each rank; "const bool there = ..": whether it is in the
 * box and in the tensor. */
static void stacked_row(c_printer *c, const ir_stmt *s, const ir_buffer *to) {
  const ir_buffer *from = &c->p->buffers[s->copy.from];
  const ir_stack *t = cu_stack(to);
  for (int r = 0; r < to->rank; r++) {
    const int k = place_in(t, r);
    if (r == cu_column_rank(to)) continue;
    int64_t inner = 1;
    for (int i = k + 1; k >= 0 && i < t->n; i++)
      inner *= t->length[i];
    c_indent(c);
    fprintf(c->out, "const int64_t x%d = ", r), c_atom(c->out, c->p, s->range[r].lo), fputs(" - (", c->out);
    c_atom(c->out, c->p, from->base[r]), fputc(')', c->out);
    if (k >= 0) fprintf(c->out, " + row / %" PRId64 " %% %" PRId64 " * %" PRId64, inner, t->length[k], t->step[k]);
    fputs(";\n", c->out);
  }
  c_indent(c);
  fprintf(c->out, "const bool there = row < %" PRId64, ir_stack_rows(t));
  for (int r = 0; r < to->rank; r++)
    if (r != cu_column_rank(to))
      fprintf(c->out, " && x%d >= 0 && x%d < %" PRId64, r, r,
              from->role == IR_ARGUMENT ? c->wl->tensors[from->tensor].extent[r] : from->extent[r]);
  fputs(";\n", c->out);
}

/* Pieces of 16 bytes of the rows; where channels are not innermost each is put together of elements, and neighbouring
 * threads have neighbouring pixels. */
static void stacked(c_printer *c, const ir_stmt *s, const ir_buffer *to, const cu_tile *t) {
  const ir_buffer *from = &c->p->buffers[s->copy.from];
  const bool apart = cu_column_rank(to) < to->rank - 1;
  const int64_t pieces = t->rows * t->pieces;
  const int per = per_piece(to);
  open_pieces(c, pieces);
  c_indent(c);
  fprintf(c->out, "const int row = i %s %" PRId64 ", piece = i %s %" PRId64 ";\n", apart ? "%" : "/",
          apart ? t->rows : t->pieces, apart ? "/" : "%", apart ? t->rows : t->pieces);
  stacked_row(c, s, to);
  c_line(c, is_widened(c, s) ? "copy_wide" : "copy");
  fputs(apart ? "_apart(&" : is_widened(c, s) ? "(&" : "_piece(&", c->out);
  fprintf(c->out, "%s[((", to->id), c_atom(c->out, c->p, s->copy.slot);
  fprintf(c->out, ") * %" PRId64 " + spot<%" PRId64 ", %d, %d>(0, row, piece)) * %d],\n%*sthere ? from",
          t->rows * t->pitch, t->pitch, t->shift, t->mask, per, 2 * c->depth + 11, "");
  for (int r = 0; r < to->rank; r++) {
    if (r != cu_column_rank(to)) fprintf(c->out, " + x%d", r);
    if (r != cu_column_rank(to) && r < to->rank - 1) fputs(" * ", c->out), stride(c, from, r);
  }
  fprintf(c->out, " + piece * %d", per);
  if (apart) fputs(" * ", c->out), stride(c, from, cu_column_rank(to));
  fprintf(c->out, " : from, ");
  if (apart) stride(c, from, cu_column_rank(to)), fputs(", ", c->out);
  fprintf(c->out, "there ? (int)least(columns - piece * %d, %d) : 0%s);\n", per, per, apart ? "" : ", whole");
  c_close(c, 1);
}

/* " + NUMBER / inner % length * step" for what goes along the rank. */
static void part_of(c_printer *c, const ir_stack *t, int rank, const char *number) {
  int64_t inner = 1;
  for (int i = t->n - 1; i >= 0; inner *= t->length[i--])
    if (t->at[i] == rank)
      fprintf(c->out, " + %s / %" PRId64 " %% %" PRId64 " * %" PRId64, number, inner, t->length[i], t->step[i]);
}

/* "const int64_t x0 = ..": where element k of the row is along each rank; "const bool there = ..". */
static void across_element(c_printer *c, const ir_stmt *s, const ir_buffer *to) {
  const ir_buffer *from = &c->p->buffers[s->copy.from];
  for (int r = 0; r < to->rank; r++) {
    c_indent(c), fprintf(c->out, "const int64_t x%d = ", r), c_atom(c->out, c->p, s->range[r].lo);
    fputs(" - (", c->out), c_atom(c->out, c->p, from->base[r]), fputc(')', c->out);
    part_of(c, cu_stack(to), r, "row"), part_of(c, cu_across(to), r, "k"), fputs(";\n", c->out);
  }
  c_indent(c);
  fprintf(c->out, "const bool there = row < %" PRId64 " && k < %" PRId64, ir_stack_rows(cu_stack(to)),
          ir_stack_rows(cu_across(to)));
  for (int r = 0; r < to->rank; r++)
    fprintf(c->out, " && x%d >= 0 && x%d < %" PRId64, r, r,
            from->role == IR_ARGUMENT ? c->wl->tensors[from->tensor].extent[r] : from->extent[r]);
  fputs(";\n", c->out);
}

/* Elements of the rows, one by one, where columns are a window and its channels. */
static void across(c_printer *c, const ir_stmt *s, const ir_buffer *to, const cu_tile *t) {
  const ir_buffer *from = &c->p->buffers[s->copy.from];
  const int per = per_piece(to);
  c_indent(c), fprintf(c->out, "const %s *const from = %s;\n", c_type(from->type), from->id);
  c_line(c, "#pragma unroll 1\n"), c_indent(c);
  fprintf(c->out, "for (int i = thread_here(); i < %" PRId64 "; i += THREADS) {\n", t->rows * t->pieces);
  c->depth++;
  c_indent(c), fprintf(c->out, "const int row = i %% %" PRId64 ", piece = i / %" PRId64 ";\n", t->rows, t->rows);
  c_indent(c), fprintf(c->out, "%s *const place = &%s[((", c_type(to->type), to->id);
  c_atom(c->out, c->p, s->copy.slot);
  fprintf(c->out, ") * %" PRId64 " + spot<%" PRId64 ", %d, %d>(0, row, piece)) * %d];\n", t->rows * t->pitch, t->pitch,
          t->shift, t->mask, per);
  open_turns(c, per);
  c_indent(c), fprintf(c->out, "const int k = piece * %d + j;\n", per);
  across_element(c, s, to);
  c_indent(c), fputs("copy_one(place + j, there ? from", c->out);
  for (int r = 0; r < to->rank; r++) {
    fprintf(c->out, " + x%d", r);
    if (r < to->rank - 1) fputs(" * ", c->out), stride(c, from, r);
  }
  fputs(" : from, there);\n", c->out);
  c_close(c, 2);
}

static void across_copy(c_printer *c, const ir_stmt *s) {
  const ir_buffer *to = &c->p->buffers[s->copy.to];
  const cu_tile t = cu_tile_of(to);
  c_line(c, "{ /* copy ");
  fprintf(c->out, "%s */\n", to->name);
  c->depth++;
  across(c, s, to, &t);
  c_close(c, 1);
  if (s->copy.ends) c_line(c, "copy_end();\n");
}

static void stacked_copy(c_printer *c, const ir_stmt *s) {
  const ir_buffer *to = &c->p->buffers[s->copy.to];
  const cu_tile t = cu_tile_of(to);
  c_line(c, "{ /* copy ");
  fprintf(c->out, "%s */\n", to->name);
  c->depth++;
  length(c, "columns", &s->range[cu_column_rank(to)]);
  stacked_origin(c, s, to);
  c_line(c, "if (columns > 0");
  for (int r = 0; r < to->rank; r++) {
    if (r == cu_column_rank(to) || s->range[r].exact) continue;
    fputs(" && ", c->out), c_atom(c->out, c->p, s->range[r].lo), fputs(" < ", c->out);
    c_atom(c->out, c->p, s->range[r].hi);
  }
  fputs(") {\n", c->out);
  c->depth++;
  stacked(c, s, to, &t);
  c_close(c, 2);
  if (s->copy.ends) c_line(c, "copy_end();\n");
}

void cu_tile_copy(c_printer *c, const ir_stmt *s) {
  const ir_buffer *to = &c->p->buffers[s->copy.to];
  if (cu_stack(to)) {
    cu_across(to) ? across_copy(c, s) : stacked_copy(c, s);
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
  fprintf(c->out, "const bool whole = ((uintptr_t)from | (uintptr_t)stride * sizeof *from) %% %d == 0;\n",
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
