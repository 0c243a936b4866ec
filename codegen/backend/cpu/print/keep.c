/* Prints what scopes retain: keep_part of parts.h compares boxes and moves rows. */
#include <inttypes.h>

#include "codegen/backend/cpu/print/print.h"

static const char text[] =
    "#include <string.h>\n"
    "/* A buffer holds the box held[1 + 2 r] .. held[2 + 2 r] - 1 of a tensor, or nothing (held[0] "
    "is 0).  Of the box `need` (2 r, 2 r + 1)\n"
    " * that part stays which need not be made again, moved to where its place in the box is; made "
    "is the rest.  Only a box can be made:\n"
    " * where several ranks reach beyond what is held, and where the length of the rest is none of "
    "`only` (4 a rank, the first 0: any),\n"
    " * all is made.  Then the buffer holds `need`. */\n"
    "static inline void move_part(char *data, int64_t size, int64_t rank, const int64_t *extent, "
    "const int64_t *need, const int64_t *held,\n"
    "                             const int64_t *lo, const int64_t *hi) {\n"
    "  int64_t by = 0, rows = 1, step = size * extent[rank - 1], words = hi[rank - 1] - lo[rank - "
    "1];\n"
    "  for (int64_t r = 0; r < rank; r++) by = by * extent[r] + need[2 * r] - held[1 + 2 * r];\n"
    "  for (int64_t r = 0; r + 1 < rank; r++) rows *= hi[r] - lo[r];\n"
    "  /* what moves down goes from the first row on, else from the last: no row is written before "
    "it is read */\n"
    "  for (int64_t i = 0; i < rows && by != 0; i++) {\n"
    "    int64_t left = by > 0 ? i : rows - 1 - i, row = 0, times = 1;\n"
    "    for (int64_t r = rank - 2; r >= 0; r--) {\n"
    "      row += times * (lo[r] + left % (hi[r] - lo[r]) - held[1 + 2 * r]);\n"
    "      left /= hi[r] - lo[r];\n"
    "      times *= extent[r];\n"
    "    }\n"
    "    char *from = data + row * step + size * (lo[rank - 1] - held[2 * rank - 1]);\n"
    "    memmove(from - size * by, from, (size_t)(size * words));\n"
    "  }\n"
    "}\n\n"
    "static inline void keep_part(void *data, int64_t size, int64_t rank, const int64_t *extent, "
    "const int64_t *need, const int64_t *only,\n"
    "                             int64_t *held, int64_t *made) {\n"
    "  int64_t lo[16], hi[16], beyond = held[0] ? 0 : 2, open = 0;\n"
    "  for (int64_t r = 0; r < rank; r++)\n"
    "    if (need[2 * r] >= need[2 * r + 1]) {\n"
    "      for (r = 0; r < rank; r++) made[2 * r] = made[2 * r + 1] = need[2 * r];\n"
    "      return;\n"
    "    }\n"
    "  for (int64_t r = 0; r < rank; r++) {\n"
    "    made[2 * r] = need[2 * r], made[2 * r + 1] = need[2 * r + 1];\n"
    "    lo[r] = most(need[2 * r], held[1 + 2 * r]), hi[r] = least(need[2 * r + 1], held[2 + 2 * "
    "r]);\n"
    "    if (lo[r] == need[2 * r] && hi[r] == need[2 * r + 1]) continue;\n"
    "    beyond += lo[r] < hi[r] ? 1 : 2, open = r;\n"
    "  }\n"
    "  if (beyond == 0)\n"
    "    for (int64_t r = 0; r < rank; r++) made[2 * r + 1] = made[2 * r];\n"
    "  if (beyond == 1) {\n"
    "    int64_t from = need[2 * open], to = need[2 * open + 1], whole = to - from;\n"
    "    if (lo[open] == from) from = hi[open];\n"
    "    else if (hi[open] == to) to = lo[open];\n"
    "    int fits = only[4 * open] == 0;\n"
    "    for (int64_t i = 0; i < 4; i++) fits |= only[4 * open + i] == to - from;\n"
    "    if (to - from == whole || !fits) beyond = 2;\n"
    "    else made[2 * open] = from, made[2 * open + 1] = to;\n"
    "  }\n"
    "  if (beyond < 2) move_part((char *)data, size, rank, extent, need, held, lo, hi);\n"
    "  held[0] = 1;\n"
    "  for (int64_t r = 0; r < 2 * rank; r++) held[1 + r] = need[r];\n"
    "}\n\n";

void c_keep_text(FILE *out) { fputs(text, out); }

int64_t c_held_words(const ir_buffer *b) {
  return b->role == IR_KEPT ? b->slots * (1 + 2 * b->rank) : 0;
}

static void box(c_printer *c, const ir_range *r, int n) {
  for (int i = 0; i < n; i++) {
    if (i) fputs(", ", c->out);
    c_atom(c->out, c->p, r[i].lo), fputs(", ", c->out), c_atom(c->out, c->p, r[i].hi);
  }
}

static void lengths(c_printer *c, const ir_range *r, int n) {
  for (int i = 0; i < n; i++) {
    const bool any = r[i].other == 0;
    fprintf(c->out, "%s%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64, i ? ", " : "",
            any ? 0 : r[i].most, r[i].other, any ? 0 : r[i].more[0], any ? 0 : r[i].more[1]);
  }
}

/* The offset of the description of what the current slot holds. */
static void held(c_printer *c, const ir_buffer *b, ir_atom slot) {
  fprintf(c->out, "%s_held", b->id);
  if (slot.var < 0 && slot.off == 0) return;
  fputs(" + ", c->out), fprintf(c->out, "%d * (", 1 + 2 * b->rank), c_atom(c->out, c->p, slot),
      fputc(')', c->out);
}

void c_keep(c_printer *c, const ir_stmt *s) {
  const ir_buffer *b = &c->p->buffers[s->keep.buffer];
  c_indent(c);
  fprintf(c->out, "int64_t %s_made[%d];\n", b->id, 2 * b->rank);
  c_indent(c);
  fprintf(c->out, "keep_part(%s", b->id);
  if (b->slots > 1)
    fprintf(c->out, " + %" PRId64 " * (", b->words), c_atom(c->out, c->p, b->slot),
        fputc(')', c->out);
  fprintf(c->out, ", sizeof *%s, %d, (const int64_t[]){", b->id, b->rank);
  for (int r = 0; r < b->rank; r++)
    fprintf(c->out, "%s%" PRId64, r ? ", " : "", b->extent[r]);
  fputs("}, (const int64_t[]){", c->out), box(c, s->range, b->rank);
  fputs("},\n", c->out);
  c_indent(c);
  fputs("          (const int64_t[]){", c->out), lengths(c, s->keep.missing, b->rank);
  fputs("}, ", c->out), held(c, b, b->slot);
  fprintf(c->out, ", %s_made);\n", b->id);
  for (int r = 0; r < b->rank; r++) {
    if (ir_same(s->keep.missing[r].lo, s->range[r].lo)) continue;
    const char *lo = c->p->var_name[s->keep.missing[r].lo.var],
               *hi = c->p->var_name[s->keep.missing[r].hi.var];
    c_indent(c);
    fprintf(c->out, "const int64_t %s = %s_made[%d], %s = %s_made[%d];\n", lo, b->id, 2 * r, hi,
            b->id, 2 * r + 1);
    c_indent(c);
    fprintf(c->out, "(void)%s, (void)%s;\n", lo, hi);
  }
}

void c_forget(c_printer *c, const ir_stmt *s) {
  const ir_buffer *b = &c->p->buffers[c->p->buffer_of[s->forget.tensor]];
  const int64_t slots = s->forget.n_slots ? s->forget.n_slots : b->slots;
  const ir_atom from = s->forget.n_slots ? s->forget.slot : ir_number(0);
  if (b->role != IR_KEPT || (ir_is_own(c->p, c->p->buffer_of[s->forget.tensor]) && !c->in_parallel))
    return;
  c_indent(c);
  fputs("memset(", c->out), held(c, b, from);
  fprintf(c->out, ", 0, %" PRId64 " * sizeof(int64_t));\n", slots * (1 + 2 * b->rank));
}
