/* Prints copies to shared memory of matrices whose rows are pixels of images, or whose columns are
 * a window and its channels. If the sum is not contiguous, a thread gathers the elements of its
 * pieces at distances that are constants for dense arrays, and stores each piece at once;
 * neighbouring threads have neighbouring pixels. */
#include <inttypes.h>
#include <string.h>

#include "codegen/backend/cuda/pass/pass.h"
#include "codegen/backend/cuda/print/cuda.h"

enum { THREADS = CU_WARPS * CU_LANES };

static int per_piece(const ir_buffer *b) { return 16 / ir_bytes(b->type); }

/* Whether elements are widened in the copy. */
static bool is_widened(const c_printer *c, const ir_stmt *s) {
  return c->p->buffers[s->copy.to].type != c->p->buffers[s->copy.from].type;
}

static const ir_buffer *from_of(const c_printer *c, const ir_stmt *s) {
  return &c->p->buffers[s->copy.from];
}

static int64_t extent(const c_printer *c, const ir_buffer *from, int r) {
  return from->role == IR_ARGUMENT ? c->wl->tensors[from->tensor].extent[r] : from->extent[r];
}

static void stride(c_printer *c, const ir_buffer *from, int r) {
  if (from->role == IR_ARGUMENT)
    fprintf(c->out, "%s_s%d", from->id, r);
  else
    fprintf(c->out, "%" PRId64, c_rank_step(from, r));
}

/* "if (..) {" for dense arrays, whose distances are constants; and the other case. */
static void open_dense(c_printer *c, const ir_buffer *from) {
  c_line(c, "if (true");
  for (int r = 0; r < from->rank - 1 && from->role == IR_ARGUMENT; r++)
    if (extent(c, from, r) > 1)
      fprintf(c->out, " && %s_s%d == %" PRId64, from->id, r, cu_dense_step(c->p, from, r));
  fputs(") { /* dense */\n", c->out);
  c->depth++;
}
static void turn_else(c_printer *c) {
  c->depth--;
  c_line(c, "} else {\n");
  c->depth++;
}

static void open_turns(c_printer *c, const char *name, int64_t n) {
  c_line(c, "#pragma unroll\n");
  c_indent(c);
  fprintf(c->out, "for (int %s = 0; %s < %" PRId64 "; %s++) {\n", name, name, n, name);
  c->depth++;
}

/* "lo - base" of a rank: where the tile begins. */
static void first(c_printer *c, const ir_stmt *s, int r) {
  fputc('(', c->out), c_atom(c->out, c->p, s->range[r].lo), fputs(" - (", c->out);
  c_atom(c->out, c->p, from_of(c, s)->base[r]), fputs("))", c->out);
}

/* The same for columns that are a window: the first position, from which others may have negative
 * offsets. */
static void first_place(c_printer *c, const ir_stmt *s, int r) {
  const ir_stack *sum = cu_across(&c->p->buffers[s->copy.to]);
  int64_t back = 0;
  for (int i = 0; i < sum->n; i++)
    if (sum->axis[i] == r && sum->step[i] < 0) back -= (sum->length[i] - 1) * sum->step[i];
  first(c, s, r);
  if (back) fprintf(c->out, " + %" PRId64, back);
}

/* "TILE[((slot) * pieces + spot<..>(0, row, piece)) * elements]". */
static void place(c_printer *c, const ir_stmt *s, const ir_buffer *to, const cu_tile *t) {
  fprintf(c->out, "%s[((", to->id), c_atom(c->out, c->p, s->copy.slot);
  fprintf(c->out, ") * %" PRId64 " + spot<%" PRId64 ", %d, %d>(0, row, piece)) * %d]",
          t->rows * t->pitch, t->pitch, t->shift, t->mask, per_piece(to));
}

/* "if (.. < ..) {": no range is empty. */
static void open_there(c_printer *c, const ir_stmt *s, const ir_buffer *to, const char *also) {
  c_line(c, "if (");
  fputs(also, c->out);
  for (int r = 0; r < to->rank; r++) {
    if (s->range[r].exact) continue;
    fputs(" && ", c->out), c_atom(c->out, c->p, s->range[r].lo), fputs(" < ", c->out);
    c_atom(c->out, c->p, s->range[r].hi);
  }
  fputs(") {\n", c->out);
  c->depth++;
}

/* The index of a rank in the stack; -1: it is none of its ranks. */
static int place_in(const ir_stack *t, int rank) {
  int at = -1;
  for (int i = 0; i < t->n; i++)
    if (t->axis[i] == rank) at = i;
  return at;
}

/* " + NUMBER / inner % length * step" for the parts that run along the rank. */
static void part_of(c_printer *c, const ir_stack *t, int rank, const char *number) {
  int64_t inner = 1;
  for (int i = t->n - 1; i >= 0; inner *= t->length[i--])
    if (t->axis[i] == rank)
      fprintf(c->out, " + %s / %" PRId64 " %% %" PRId64 " * %" PRId64, number, inner, t->length[i],
              t->step[i]);
}

/* ---- channels are a rank -------------------------------------------------------------------- */

/* The common part of the rows' addresses: "const T *const from", the first element along the sum,
 * and along other ranks the first one of the block inside the tensor; and whether all rows are
 * aligned to 16 bytes. */
static void stacked_origin(c_printer *c, const ir_stmt *s, const ir_buffer *to) {
  const ir_buffer *from = from_of(c, s);
  c_indent(c);
  fprintf(c->out, "const %s *const from = %s + ", c_type(from->type), from->id);
  first(c, s, cu_column_rank(to));
  if (cu_column_rank(to) < to->rank - 1) fputs(" * ", c->out), stride(c, from, cu_column_rank(to));
  fputs(";\n", c->out);
  if (cu_column_rank(to) < to->rank - 1) return;
  c_line(c, "const bool whole = ((uintptr_t)from");
  for (int r = 0; r < to->rank - 1; r++)
    fputs(" | (uintptr_t)", c->out), stride(c, from, r), fputs(" * sizeof *from", c->out);
  fprintf(c->out, ") %% %d == 0;\n", is_widened(c, s) ? per_piece(to) : 16);
}

/* "const TYPE x1 = .., x2 = ..;": the row's coordinate along each rank; "const bool there = ..":
 * whether it is in the box and in the tensor. */
static void stacked_row(c_printer *c, const ir_stmt *s, const ir_buffer *to, const char *type) {
  const bool is_short = strcmp(type, "int") == 0;
  for (int r = 0; r < to->rank; r++) {
    if (r == cu_column_rank(to)) continue;
    c_indent(c), fprintf(c->out, "const %s x%d = %s", type, r, is_short ? "(int)" : "");
    first(c, s, r);
    if (place_in(cu_stack(to), r) >= 0) part_of(c, cu_stack(to), r, "row");
    fputs(";\n", c->out);
  }
  c_indent(c);
  fprintf(c->out, "const bool there = row < %" PRId64, ir_stack_rows(cu_stack(to)));
  for (int r = 0; r < to->rank; r++)
    if (r != cu_column_rank(to))
      fprintf(c->out, " && x%d >= 0 && x%d < %" PRId64, r, r, extent(c, from_of(c, s), r));
  fputs(";\n", c->out);
}

/* Opens the loop over a thread's pieces; if channels are not innermost, neighbouring threads have
 * neighbouring pixels. */
static void open_pieces(c_printer *c, const cu_tile *t, bool apart) {
  const int64_t pieces = t->rows * t->pieces, by = apart ? t->rows : t->pieces;
  c_line(c, "const int thread = thread_here();\n");
  open_turns(c, "j", (pieces + THREADS - 1) / THREADS);
  c_line(c, "const int i = thread + j * THREADS;\n");
  if (pieces % THREADS) c_indent(c), fprintf(c->out, "if (i >= %" PRId64 ") break;\n", pieces);
  c_indent(c);
  fprintf(c->out, "const int row = i %s %" PRId64 ", piece = i %s %" PRId64 ";\n",
          apart ? "%" : "/", by, apart ? "/" : "%", by);
}

/* Pieces of 16 bytes of the rows; if channels are not innermost each is gathered from elements. */
static void pieces(c_printer *c, const ir_stmt *s, const ir_buffer *to, const cu_tile *t) {
  const ir_buffer *from = from_of(c, s);
  const bool apart = cu_column_rank(to) < to->rank - 1;
  const int per = per_piece(to);
  open_pieces(c, t, apart);
  stacked_row(c, s, to, "int64_t");
  c_line(c, is_widened(c, s) ? "copy_wide" : "copy");
  fputs(apart ? "_apart(&" : is_widened(c, s) ? "(&" : "_piece(&", c->out), place(c, s, to, t);
  fprintf(c->out, ",\n%*sthere ? from", 2 * c->depth + 11, "");
  for (int r = 0; r < to->rank; r++) {
    if (r != cu_column_rank(to)) fprintf(c->out, " + x%d", r);
    if (r != cu_column_rank(to) && r < to->rank - 1) fputs(" * ", c->out), stride(c, from, r);
  }
  fprintf(c->out, " + piece * %d", per);
  if (apart) fputs(" * ", c->out), stride(c, from, cu_column_rank(to));
  fprintf(c->out, " : from, ");
  if (apart) stride(c, from, cu_column_rank(to)), fputs(", ", c->out);
  fprintf(c->out, "there ? (int)least(columns - piece * %d, %d) : 0%s);\n", per, per,
          apart ? "" : ", whole");
  c_close(c, 1);
}

/* Whole pieces, gathered at known distances. */
static void dense_pieces(c_printer *c, const ir_stmt *s, const ir_buffer *to, const cu_tile *t) {
  const ir_buffer *from = from_of(c, s);
  const int64_t step = cu_dense_step(c->p, from, cu_column_rank(to));
  open_pieces(c, t, true);
  stacked_row(c, s, to, "int");
  c_indent(c), fprintf(c->out, "copy_steps<%" PRId64 ">(&", step), place(c, s, to, t);
  fprintf(c->out, ", there ? from");
  for (int r = 0; r < to->rank; r++)
    if (r != cu_column_rank(to))
      fprintf(c->out, " + x%d * %" PRId64, r, cu_dense_step(c->p, from, r));
  fprintf(c->out, " + piece * %" PRId64 " : from, there);\n", per_piece(to) * step);
  c_close(c, 1);
}

static void of_channels(c_printer *c, const ir_stmt *s, const ir_buffer *to, const cu_tile *t) {
  const ir_range *columns = &s->range[cu_column_rank(to)];
  c_indent(c), fputs("const int64_t columns = ", c->out), c_atom(c->out, c->p, columns->hi);
  fputs(" - (", c->out), c_atom(c->out, c->p, columns->lo), fputs(");\n", c->out);
  stacked_origin(c, s, to);
  c_line(c, "if (columns > 0");
  for (int r = 0; r < to->rank; r++) {
    if (r == cu_column_rank(to) || s->range[r].exact) continue;
    fputs(" && ", c->out), c_atom(c->out, c->p, s->range[r].lo), fputs(" < ", c->out);
    c_atom(c->out, c->p, s->range[r].hi);
  }
  fputs(") {\n", c->out);
  c->depth++;
  if (cu_is_gathered(c->p, s)) {
    open_dense(c, from_of(c, s));
    dense_pieces(c, s, to, t);
    turn_else(c);
    pieces(c, s, to, t);
    c_close(c, 1);
  } else {
    pieces(c, s, to, t);
  }
  c_close(c, 1);
}

/* ---- columns are a window and its channels -------------------------------------------------- */

/* "const int64_t x0 = ..": the coordinates of element k of the row; "const bool there = ..". */
static void across_element(c_printer *c, const ir_stmt *s, const ir_buffer *to) {
  for (int r = 0; r < to->rank; r++) {
    c_indent(c), fprintf(c->out, "const int64_t x%d = ", r), first_place(c, s, r);
    part_of(c, cu_stack(to), r, "row"), part_of(c, cu_across(to), r, "k"), fputs(";\n", c->out);
  }
  c_indent(c);
  fprintf(c->out, "const bool there = row < %" PRId64 " && k < %" PRId64,
          ir_stack_rows(cu_stack(to)), ir_stack_rows(cu_across(to)));
  for (int r = 0; r < to->rank; r++)
    fprintf(c->out, " && x%d >= 0 && x%d < %" PRId64, r, r, extent(c, from_of(c, s), r));
  fputs(";\n", c->out);
}

static void set_from(c_printer *c, const ir_buffer *from) {
  c_indent(c), fprintf(c->out, "const %s *const from = %s;\n", c_type(from->type), from->id);
}

/* Elements of the rows, one by one. */
static void elements(c_printer *c, const ir_stmt *s, const ir_buffer *to, const cu_tile *t) {
  const ir_buffer *from = from_of(c, s);
  set_from(c, from);
  c_line(c, "#pragma unroll 1\n"), c_indent(c);
  fprintf(c->out, "for (int i = thread_here(); i < %" PRId64 "; i += THREADS) {\n",
          t->rows * t->pieces);
  c->depth++;
  c_indent(c), fprintf(c->out, "const int row = i %% %" PRId64 ", piece = i / %" PRId64 ";\n",
                       t->rows, t->rows);
  c_indent(c), fprintf(c->out, "%s *const place = &", c_type(to->type)), place(c, s, to, t),
      fputs(";\n", c->out);
  open_turns(c, "j", per_piece(to));
  c_indent(c), fprintf(c->out, "const int k = piece * %d + j;\n", per_piece(to));
  across_element(c, s, to);
  c_indent(c), fputs("copy_one(place + j, there ? from", c->out);
  for (int r = 0; r < to->rank; r++) {
    fprintf(c->out, " + x%d", r);
    if (r < to->rank - 1) fputs(" * ", c->out), stride(c, from, r);
  }
  fputs(" : from, there);\n", c->out);
  c_close(c, 2);
}

/* Whether coordinates along the rank may be outside the tensor. */
static bool may_leave(const c_printer *c, const ir_stmt *s, const ir_buffer *to, int r) {
  const ir_buffer *from = from_of(c, s);
  const bool pad = c->wl->tensors[from->tensor].pad[r] != 0;
  return pad || place_in(cu_stack(to), r) >= 0;
}

/* The row's address, "at", and whether each position of the window is in the tensor, a bit of
 * "inside": the same in all steps over channels. */
static void gathered_row(c_printer *c, const ir_stmt *s, const ir_buffer *to) {
  const ir_buffer *from = from_of(c, s);
  const ir_stack places = cu_places(c->p, s);
  const int64_t n = ir_stack_rows(&places);
  for (int r = 0; r < to->rank; r++) {
    c_indent(c), fprintf(c->out, "const int x%d = (int)", r), first_place(c, s, r);
    part_of(c, cu_stack(to), r, "row"), fputs(";\n", c->out);
  }
  c_indent(c), fprintf(c->out, "const %s *const at = %s + (", c_type(from->type), from->id);
  for (int r = 0; r < to->rank; r++)
    fprintf(c->out, "%sx%d * %" PRId64, r ? " + " : "", r, cu_dense_step(c->p, from, r));
  fputs(");\n", c->out);
  c_indent(c), fprintf(c->out, "uint%d_t inside = 0;\n", n > 32 ? 64 : 32);
  open_turns(c, "m", n);
  c_indent(c), fprintf(c->out, "const bool there = row < %" PRId64, ir_stack_rows(cu_stack(to)));
  for (int r = 0; r < to->rank; r++) {
    if (!may_leave(c, s, to, r)) continue;
    fprintf(c->out, " && (unsigned)(x%d", r), part_of(c, &places, r, "m");
    fprintf(c->out, ") < %" PRId64, extent(c, from, r));
  }
  fputs(";\n", c->out);
  c_indent(c), fprintf(c->out, "inside |= (uint%d_t)there << m;\n", n > 32 ? 64 : 32);
  c_close(c, 1);
}

/* A piece: element k of the sum has a constant distance from the row. */
static void gathered_piece(c_printer *c, const ir_stmt *s, const ir_buffer *to, const cu_tile *t) {
  const ir_buffer *from = from_of(c, s);
  const ir_stack *sum = cu_across(to), places = cu_places(c->p, s);
  const char *type = c_type(to->type);
  c_indent(c), fprintf(c->out, "%s e[%d];\n", type, per_piece(to));
  open_turns(c, "j", per_piece(to));
  c_indent(c), fprintf(c->out, "const int k = piece * %d + j;\n", per_piece(to));
  c_line(c, "const bool there = ");
  if (ir_stack_rows(sum) < t->pieces * per_piece(to))
    fprintf(c->out, "k < %" PRId64 " && ", ir_stack_rows(sum));
  fputs("(inside >> (0", c->out);
  int64_t inner = 1, weight = 1;
  for (int i = sum->n - 1; i >= 0; inner *= sum->length[i--]) {
    if (place_in(&places, sum->axis[i]) < 0) continue;
    fprintf(c->out, " + k / %" PRId64 " %% %" PRId64 " * %" PRId64, inner, sum->length[i], weight);
    weight *= sum->length[i];
  }
  fputs(") & 1) != 0;\n", c->out);
  c_indent(c), fprintf(c->out, "const %s *const in = at", type);
  for (int r = 0; r < to->rank; r++) {
    if (place_in(sum, r) < 0) continue;
    fputs(" + (0", c->out), part_of(c, sum, r, "k");
    fprintf(c->out, ") * %" PRId64, cu_dense_step(c->p, from, r));
  }
  fputs(";\n", c->out);
  c_indent(c), fputs("PASSES(&", c->out), place(c, s, to, t);
  fprintf(c->out, " + j, in, there ? %d : 0, %d);\n", ir_bytes(to->type), ir_bytes(to->type));
  c_indent(c), fprintf(c->out, "e[j] = there ? *in : %s(0);\n", type);
  c_close(c, 1);
  c_line(c, "put_piece(&"), place(c, s, to, t), fputs(", e);\n", c->out);
}

/* Each thread has a row, and of its pieces a share that its warp determines. */
static void gathered(c_printer *c, const ir_stmt *s, const ir_buffer *to, const cu_tile *t) {
  const int64_t sharers = cu_sharers(c->p, s), rows = THREADS / sharers,
                each = (t->pieces + sharers - 1) / sharers;
  /* pieces up to which a row's address stays in registers for all steps; of a tile without a ring
   * nothing stays, and with thread_here() nvcc 13 spills (c2d-1) */
  enum { FEW = 8 };
  c_indent(c),
      fprintf(c->out, "const int row = %s %% %" PRId64 ", share = row_here() / %" PRId64 ";\n",
              each > FEW && to->slots > 1 ? "thread_here()" : "THREAD", rows, rows / CU_LANES);
  gathered_row(c, s, to);
  open_turns(c, "g", (t->pieces + each - 1) / each);
  c_indent(c), fputs("if (g != share", c->out);
  if (t->rows < rows) fprintf(c->out, " || row >= %" PRId64, t->rows);
  fputs(") continue;\n", c->out);
  open_turns(c, "i", each);
  c_indent(c), fprintf(c->out, "const int piece = g * %" PRId64 " + i;\n", each);
  if (t->pieces % each)
    c_indent(c), fprintf(c->out, "if (piece >= %" PRId64 ") break;\n", t->pieces);
  gathered_piece(c, s, to, t);
  c_close(c, 2);
}

/* The pieces of a thread's rows, one after the other: all of them whole and aligned to 16 bytes. */
static void contiguous_pieces(c_printer *c, const ir_stmt *s, const ir_buffer *to, const cu_tile *t,
                              bool whole) {
  const int64_t sharers = cu_sharers(c->p, s), rows = THREADS / sharers,
                each = (t->pieces + sharers - 1) / sharers, sum = ir_stack_rows(cu_across(to));
  const int per = per_piece(to);
  c_indent(c), fprintf(c->out, "const int thread = thread_here(), first = thread %% %" PRId64 ";\n",
                       sharers);
  if (!whole) c_line(c, "#pragma unroll 1\n");
  if (whole) c_line(c, "#pragma unroll\n");
  c_indent(c), fprintf(c->out, "for (int turn = 0; turn < %" PRId64 "; turn++) {\n",
                       (t->rows + rows - 1) / rows);
  c->depth++;
  c_indent(c), fprintf(c->out, "const int row = thread / %" PRId64 " + turn * %" PRId64 ";\n",
                       sharers, rows);
  if (t->rows % rows) c_indent(c), fprintf(c->out, "if (row >= %" PRId64 ") break;\n", t->rows);
  c_indent(c), fprintf(c->out, "const %s *const at = row < rows ? from + row * ", c_type(to->type));
  stride(c, from_of(c, s), cu_stack(to)->axis[0]);
  fprintf(c->out, " + first * %d : from;\n", per);
  c_line(c, whole ? "#pragma unroll\n" : "#pragma unroll 1\n");
  c_indent(c), fprintf(c->out, "for (int j = 0; j < %" PRId64 "; j++) {\n", each);
  c->depth++;
  c_indent(c), fprintf(c->out, "const int piece = first + j * %" PRId64 ";\n", sharers);
  if (t->pieces % sharers)
    c_indent(c), fprintf(c->out, "if (piece >= %" PRId64 ") break;\n", t->pieces);
  c_line(c, whole ? "copy_16(&" : "copy_elements(&"), place(c, s, to, t);
  fprintf(c->out, ", at + j * %" PRId64 ", row < rows ? ", sharers * per);
  if (sum == t->pieces * per)
    fprintf(c->out, "%d", whole ? 16 : per);
  else
    fprintf(c->out, "%d * (int)least(most(%" PRId64 " - piece * %d, 0), %d)", whole ? 16 / per : 1,
            sum, per, per);
  fputs(" : 0);\n", c->out);
  c_close(c, 2);
}

/* Rows of contiguous elements, piece by piece: neighbouring threads have neighbouring pieces of a
 * row. */
static void contiguous_rows(c_printer *c, const ir_stmt *s, const ir_buffer *to, const cu_tile *t) {
  const ir_buffer *from = from_of(c, s);
  const int row_rank = cu_stack(to)->axis[0];
  c_indent(c), fprintf(c->out, "const %s *const from = %s", c_type(from->type), from->id);
  for (int r = 0; r < to->rank; r++) {
    fputs(" + ", c->out), first(c, s, r);
    if (r < to->rank - 1) fputs(" * ", c->out), stride(c, from, r);
  }
  fputs(";\n", c->out);
  c_indent(c), fputs("const int rows = (int)(", c->out),
      c_atom(c->out, c->p, s->range[row_rank].hi);
  fputs(" - (", c->out), c_atom(c->out, c->p, s->range[row_rank].lo), fputs("));\n", c->out);
  c_line(c, "if (((uintptr_t)from | (uintptr_t)"), stride(c, from, row_rank);
  fputs(" * sizeof *from) % 16 == 0) {\n", c->out), c->depth++;
  contiguous_pieces(c, s, to, t, true);
  turn_else(c);
  contiguous_pieces(c, s, to, t, false);
  c_close(c, 1);
}

static void across(c_printer *c, const ir_stmt *s, const ir_buffer *to, const cu_tile *t) {
  const bool pieces_of = cu_has_contiguous_rows(c->p, s),
             known = pieces_of || cu_is_gathered(c->p, s);
  open_there(c, s, to, "true");
  if (known) {
    open_dense(c, from_of(c, s));
    (pieces_of ? contiguous_rows : gathered)(c, s, to, t);
    turn_else(c);
  }
  elements(c, s, to, t);
  c_close(c, known ? 2 : 1);
}

void cu_stacked_copy(c_printer *c, const ir_stmt *s) {
  const ir_buffer *to = &c->p->buffers[s->copy.to];
  const cu_tile t = cu_tile_of(to);
  c_line(c, "{ /* copy ");
  fprintf(c->out, "%s */\n", to->name);
  c->depth++;
  (cu_across(to) ? across : of_channels)(c, s, to, &t);
  c_close(c, 1);
  if (s->copy.ends) c_line(c, "copy_end();\n");
}
