/* Lines that will be wanted soon, asked for while tiles multiply: text for parts.h.  Each step of a tile asks for one line at most, since
 * more of them at once take the places in which the tile's own lines are waited for. */
#include "codegen/micro_tile.h"

static const char text[] =
  "/* Rows of bytes, `step` apart. */\n"
  "typedef struct {\n"
  "  uintptr_t from;\n"
  "  int64_t rows, bytes, step;\n"
  "} far_rows;\n"
  "static inline far_rows far_box(uintptr_t from, int64_t rows, int64_t bytes, int64_t step) {\n"
  "  return rows > 1 && step == bytes ? (far_rows){from, 1, rows * bytes, step} : (far_rows){from, rows, bytes, step};\n"
  "}\n"
  "/* Pieces of such rows, one for each tile: it asks from `from` on, `each` further in every step. */\n"
  "typedef struct {\n"
  "  const far_rows *box;\n"
  "  int64_t boxes, row;\n"
  "  uintptr_t from, end, piece, each;\n"
  "} asking;\n"
  "static inline int64_t pieces(const far_rows *box, int64_t boxes, int64_t piece) {\n"
  "  int64_t all = 0;\n"
  "  for (int64_t i = 0; i < boxes; i++)\n"
  "    all += box[i].rows * ((box[i].bytes + piece - 1) / piece);\n"
  "  return all;\n"
  "}\n"
  "/* For so many tiles of k steps.  What does not fit into these is not asked for. */\n"
  "static inline asking ask_for(const far_rows *box, int64_t boxes, int64_t tiles, int64_t k) {\n"
  "  int64_t piece = LINE, longest = 0;\n"
  "  for (int64_t i = 0; i < boxes; i++) longest = box[i].bytes > longest ? box[i].bytes : longest;\n"
  "  while (piece < k * LINE && piece < longest && pieces(box, boxes, piece) > tiles) piece += LINE;\n"
  "  return (asking){box, boxes, 0, 0, 0, (uintptr_t)piece, (uintptr_t)((piece + k - 1) / k)};\n"
  "}\n"
  "/* The first piece of the next row; where there is none, one address for ever. */\n"
  "static APART void ask_row(asking *w) {\n"
  "  while (w->boxes && w->row >= w->box->rows) w->box++, w->boxes--, w->row = 0;\n"
  "  if (w->boxes) {\n"
  "    w->from = w->box->from + (uintptr_t)(w->row++ * w->box->step);\n"
  "    w->end = w->from + (uintptr_t)w->box->bytes;\n"
  "  } else {\n"
  "    w->from = (uintptr_t)w, w->end = UINTPTR_MAX, w->piece = w->each = 0;\n"
  "  }\n"
  "}\n"
  "static inline void ask_next(asking *w) {\n"
  "  w->from += w->piece;\n"
  "  if (w->from >= w->end) ask_row(w);\n"
  "}\n";

void tf_ask_text(FILE *out) {
  fputs("enum { LINE = 64 }; /* bytes */\n"
        "#if defined(ASK) /* a test's */\n"
        "#elif defined(__GNUC__)\n#define ASK(p) __builtin_prefetch((const void *)(p), 0)\n"
        "#else\n#define ASK(p) ((void)(p))\n#endif\n", out);
  fputs(text, out);
}
