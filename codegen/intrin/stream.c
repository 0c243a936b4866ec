/* Products of some tens of rows by a large b with neighbours along n, which comes from far: b streams through the core
 * in panels as wide as a tile.  The first tile of rows lays its panel side by side for the others (rows of b stand far
 * apart, in few sets of the caches), and these prefetch the next panel, each a part of one column of its lines: so
 * slowly that their own loads do not wait for miss buffers.  (Measured on Zen 5, 64 rows by 2048 x 8192 from DRAM,
 * share of the peak: packed by itself and prefetched not at all 69 %, by the next three tiles 76 %, by the next six 82
 * %; packed by the first tile as well 88 %.) */
#include "codegen/intrin/tile.h"

enum { LINE_BYTES = 64, SLOWEST = 4 };

typedef struct {
  const tf_micro_kernel *kernel;
  const tf_micro_streamed *s;
  const char *name;
  int lanes, across, unroll;
  int columns; /* of a panel's lines, for each group of k */
  int slow;    /* steps in which a tile prefetches one line */
} stream;

/* Bytes of b for one n in a group of k. */
static int group_bytes(const ir_kernel *k) { return k->group * ir_bytes(k->b); }

int tf_micro_streamed_across(const ir_machine *t) {
  int rows, across;
  tf_micro_best(t->registers, &rows, &across);
  const int chosen = tf_micro_across(&t->choices);
  return chosen ? chosen : across;
}

static int columns_of(const ir_kernel *k, int lanes, int across) {
  return (lanes * across * group_bytes(k) + LINE_BYTES - 1) / LINE_BYTES;
}

static int64_t tiles_of(int registers, int64_t m, int across) {
  const int most = tf_micro_rows(registers, across);
  return (m + most - 1) / most;
}

bool tf_micro_streams(const ir_machine *t, const ir_kernel *k, int64_t m) {
  const tf_micro_kernel *kernel = tf_micro_kernel_of(k);
  const bool fits = k->group == 1
                        ? !kernel->prefix && kernel->form == TF_MICRO_VECTORS
                        : k->group == 2 && k->b == IR_BF16 && k->leaves == IR_BF16 && kernel->form == TF_MICRO_VECTORS;
  const int across = tf_micro_streamed_across(t);
  return fits && t->lanes > 1 && tiles_of(t->registers, m, across) > columns_of(k, t->lanes, across);
}

/* The tile of `rows` of a panel whose last vector has `part` lanes. */
static tf_tile tile_of(const stream *x, int64_t rows, int across, int part, bool lays) {
  return (tf_tile){x->kernel, x->lanes, (int)rows, across, part, false, x->unroll, lays ? 0 : x->slow, lays};
}

/* The u-th piece of the next panel's lines: where it begins. */
static void piece(FILE *out, const stream *x, int u) {
  const int group = x->kernel->kernel.group, row = x->columns / group, column = u / x->slow;
  if (u >= x->columns * x->slow)
    fputs("next, 0", out);
  else
    fprintf(out, "next + %d * part + (uintptr_t)(packed ? %d * k * %d : %d * b_k * %d + %d), line", u % x->slow, column,
            LINE_BYTES, column / row, ir_bytes(x->kernel->kernel.b), column % row * LINE_BYTES);
}

static void call(FILE *out, const stream *x, const tf_tile *t, int64_t i, int u) {
  char name[64];
  tf_tile_name(t, name);
  fprintf(out, "%s(k, a + %lld * a_m, a_m, a_k, %s, %s, c + %lld * c_m, c_m, add, ", name, (long long)i,
          t->lays ? "b" : "from", t->lays ? "b_k" : "step", (long long)i);
  if (t->lays)
    fputs("room", out);
  else
    piece(out, x, u);
  fputs(");\n", out);
}

/* Groups of two rows of b side by side, zeros where the last vector is not whole. */
static void lay_pairs(FILE *out, int64_t n, int64_t wide) {
  fprintf(out,
          "  for (int64_t p = 0; !packed && p < k; p++) {\n"
          "    bf16_pairs_of_bf16(room + p * %lld, b + 2 * p * b_k, b + (2 * p + 1) * b_k, %lld);\n",
          (long long)(2 * wide), (long long)n);
  if (n % wide)
    fprintf(out, "    for (int64_t q = %lld; q < %lld; q++) room[p * %lld + q] = 0;\n", (long long)(2 * n),
            (long long)(2 * wide), (long long)(2 * wide));
  fputs("  }\n", out);
}

/* All rows by one panel of n columns. */
static bool panel(FILE *out, tf_micro *u, const stream *x, int64_t n) {
  const ir_kernel *k = &x->kernel->kernel;
  const int64_t wide = (int64_t)x->lanes * x->across, m = x->s->m;
  const int across = (int)((n + x->lanes - 1) / x->lanes), part = (int)(n % x->lanes);
  const int64_t tiles = tiles_of(tf_micro_of(u)->registers, m, x->across), low = m / tiles, more = m % tiles;
  const tf_tile first = tile_of(x, low + (more > 0), across, part, k->group == 1),
                high = tile_of(x, low + 1, across, part, false), rest = tile_of(x, low, across, part, false);
  if (!tf_micro_tile(out, u, first) || !tf_micro_tile(out, u, rest) || (more && !tf_micro_tile(out, u, high)))
    return false;
  fprintf(out,
          "\nstatic APART void %s_%lld(int64_t k, const %s *a, int64_t a_m, int64_t a_k, const %s *b, int64_t b_k, int "
          "packed, %s *room, float *c, int64_t c_m, int add, uintptr_t next) {\n",
          x->name, (long long)n, tf_micro_type(k->a), tf_micro_type(k->b), tf_micro_type(k->b));
  fprintf(out,
          "  const %s *const from = packed ? b : room;\n  const int64_t step = packed ? %lld : %lld;\n"
          "  const uintptr_t line = packed ? %d : (uintptr_t)(%d * b_k), part = (uintptr_t)(k / %d) * line;\n",
          tf_micro_type(k->b), (long long)(k->group * wide),
          (long long)(k->group == 1 ? across * x->lanes : k->group * wide), LINE_BYTES, group_bytes(k), x->slow);
  if (k->group == 2) lay_pairs(out, n, wide);
  int64_t i = 0;
  for (int t = 0; t < tiles; t++) {
    const tf_tile *now = t < more ? &high : &rest;
    fputs(t ? "  " : k->group == 1 ? "  if (packed) " : "  ", out);
    call(out, x, now, i, t ? t - 1 : x->columns * x->slow);
    if (t == 0 && k->group == 1) fputs("  else ", out), call(out, x, &first, i, 0);
    i += now->rows;
  }
  fputs("}\n", out);
  return true;
}

/* Panel by panel of a strip, for each part of k; then the next strip. */
static void strips(FILE *out, const stream *x) {
  const tf_micro_streamed *s = x->s;
  const ir_kernel *k = &x->kernel->kernel;
  const long long wide = (long long)x->lanes * x->across, n = s->n, whole = n - n % wide;
  fprintf(out,
          "\n/* %lld rows by %lld columns of b, which streams past */\n"
          "static APART void %s(int64_t k, const %s *a, int64_t a_m, int64_t a_k, const %s *b, int64_t b_k, const %s "
          "*panels, int64_t rows, %s *room, float *c, int64_t c_m, int add) {\n",
          (long long)s->m, n, x->name, tf_micro_type(k->a), tf_micro_type(k->b), tf_micro_type(k->b),
          tf_micro_type(k->b));
  fprintf(out,
          "  for (int64_t from = 0; from < %lld; from += %lld) {\n"
          "    const int64_t to = from + %lld < %lld ? from + %lld : %lld;\n"
          "    for (int64_t p = 0; p < k; p += %lld)\n      for (int64_t j = from; j < to; j += %lld) {\n",
          n, (long long)s->strip, (long long)s->strip, n, (long long)s->strip, n, (long long)s->steps, wide);
  fprintf(out,
          "        const int64_t steps = k - p < %lld ? k - p : %lld;\n"
          "        int64_t j_next = j + %lld, p_next = p;\n"
          "        if (j_next >= to) j_next = from, p_next = p + steps;\n"
          "        if (p_next >= k) j_next = to, p_next = 0;\n"
          "        if (j_next >= %lld) j_next = j, p_next = p;\n",
          (long long)s->steps, (long long)s->steps, wide, n);
  const char *const at =
      "        const %s *const %s = panels ? panels + (%s / %lld * rows + %s) * %lld : b + %d * %s * "
      "b_k + %s;\n";
  fprintf(out, at, tf_micro_type(k->b), "here", "j", wide, "p", wide * k->group, k->group, "p", "j");
  fprintf(out, at, tf_micro_type(k->b), "there", "j_next", wide, "p_next", wide * k->group, k->group, "p_next",
          "j_next");
  static const char call_of[] =
      "%s_%lld(steps, a + p * a_k, a_m, a_k, here, b_k, panels != NULL, room, c + j, c_m, add "
      "|| p > 0, (uintptr_t)there);\n";
  if (whole) {
    fprintf(out, whole < n ? "        if (j < %lld) " : "        ", whole);
    fprintf(out, call_of, x->name, wide);
  }
  if (whole < n) fputs(whole ? "        else " : "        ", out), fprintf(out, call_of, x->name, n - whole);
  fputs("      }\n  }\n}\n", out);
}

const char *tf_micro_stream(FILE *out, tf_micro *u, const tf_micro_streamed *s) {
  const tf_micro_isa *isa = tf_micro_of(u);
  char name[96];
  bool anew;
  snprintf(name, sizeof name, "stream_%s_%lld_%lld_%lld_%lld", s->kernel->name, (long long)s->m, (long long)s->n,
           (long long)s->steps, (long long)s->strip);
  const char *kept = tf_micro_name(u, name, &anew);
  if (!kept || !anew) return kept;
  stream x = {tf_micro_kernel_of(s->kernel), s, kept, isa->lanes, s->across, tf_micro_unroll(u), 0, 0};
  const int64_t wide = (int64_t)x.lanes * x.across, tiles = tiles_of(isa->registers, s->m, x.across);
  x.columns = columns_of(s->kernel, x.lanes, x.across);
  x.slow = (int)((tiles - 1) / x.columns);
  x.slow = x.slow < 1 ? 1 : x.slow > SLOWEST ? SLOWEST : x.slow;
  if ((s->n >= wide && !panel(out, u, &x, wide)) || (s->n % wide && !panel(out, u, &x, s->n % wide))) return NULL;
  strips(out, &x);
  return kept;
}
