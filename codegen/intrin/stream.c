/* Products of some tens of rows by a large b with neighbours along n, which comes from far: b
 * streams through the core in panels as wide as a tile.  While its tiles multiply by one panel,
 * each packs a part of the next one (rows of b have a large stride, and conflict in few sets of the
 * caches), a row every few steps, and prefetches rows a little further on: so slowly that their own
 * loads do not wait for miss buffers, and so few that they stay in those sets.  Panels that the
 * caller has laid out are prefetched, each tile a part of one column of lines. */
#include "codegen/intrin/tile.h"

enum { LINE_BYTES = 64, SLOWEST = 4 };

typedef struct {
  const tf_micro_kernel *kernel;
  const tf_micro_streamed *s;
  const char *name;
  int lanes, unroll;
  int tiles;   /* of rows */
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
  const bool fits = k->group == 1 ? !kernel->prefix && kernel->form == TF_MICRO_VECTORS
                                  : k->group == 2 && k->b == IR_BF16 && k->leaves == IR_BF16 &&
                                        kernel->form == TF_MICRO_VECTORS;
  const int across = tf_micro_streamed_across(t);
  return fits && t->lanes > 1 && m > tf_micro_few_rows(t->registers) &&
         tiles_of(t->registers, m, across) > 1;
}

static int64_t wide_of(const stream *x) { return (int64_t)x->lanes * x->s->across; }

/* What the t-th tile of rows does beside its own product: it lays a part of the next panel, or
 * prefetches it. */
static void side_work(FILE *out, const stream *x, bool lays, int t) {
  const int group = x->kernel->kernel.group, column = t / x->slow;
  if (lays)
    fprintf(out,
            "next + %d * share * next_k, next_k, to + %lld * share, rows - %d * share < share ? "
            "rows - %d * share : share",
            t * group, (long long)(t * group * wide_of(x)), t, t);
  else if (column < x->columns)
    fprintf(out, "(uintptr_t)next + (uintptr_t)(k / %d * %d + k * %d), %d", x->slow,
            t % x->slow * LINE_BYTES, column * LINE_BYTES, LINE_BYTES);
  else
    fputs("(uintptr_t)next, 0", out);
}

/* All rows by a panel of n columns, tile by tile. */
static bool panel(FILE *out, tf_micro *u, const stream *x, int64_t n, bool lays) {
  const ir_kernel *k = &x->kernel->kernel;
  const int64_t low = x->s->m / x->tiles, more = x->s->m % x->tiles;
  tf_tile t = {.kernel = x->kernel,
               .lanes = x->lanes,
               .across = (int)((n + x->lanes - 1) / x->lanes),
               .part = (int)(n % x->lanes),
               .unroll = x->unroll,
               .prefetches = lays ? 0 : x->slow,
               .lays = lays ? x->tiles : 0};
  for (t.rows = (int)low; t.rows <= low + (more > 0); t.rows++)
    if (!tf_micro_tile(out, u, t)) return false;
  fprintf(out,
          "\n"
          "static APART void %s_%lld%s(int64_t k, const %s *a, int64_t a_m, int64_t a_k, const %s "
          "*b, float *c, int64_t c_m, int add, const %s *next",
          x->name, (long long)n, lays ? "_lays" : "", tf_micro_type(k->a), tf_micro_type(k->b),
          tf_micro_type(k->b));
  if (lays)
    fprintf(
        out,
        ", int64_t next_k, %s *to, int64_t rows) {\n  const int64_t share = (rows + %d) / %d;\n",
        tf_micro_type(k->b), x->tiles - 1, x->tiles);
  else
    fputs(") {\n", out);
  int64_t i = 0;
  for (int at = 0; at < x->tiles; at++, i += t.rows) {
    char name[64];
    t.rows = (int)(low + (at < more));
    tf_tile_name(&t, name);
    fprintf(out, "  %s(k, a + %lld * a_m, a_m, a_k, b, %lld, c + %lld * c_m, c_m, add, ", name,
            (long long)i, (long long)(k->group * wide_of(x)), (long long)i);
    side_work(out, x, lays, at);
    fputs(");\n", out);
  }
  fputs("}\n", out);
  return true;
}

/* Lays a panel of n columns without a tile beside: the first, and narrow ones; of pairs zeros up to
 * whole vectors. */
static void lay(FILE *out, const stream *x) {
  const ir_kernel *k = &x->kernel->kernel;
  const long long wide = wide_of(x);
  fprintf(out,
          "\nstatic APART void %s_lay(int64_t k, const %s *b, int64_t b_k, int64_t n, %s *to) {\n"
          "  for (int64_t p = 0; p < k; p++, to += %lld) {\n",
          x->name, tf_micro_type(k->b), tf_micro_type(k->b), k->group * wide);
  if (k->group == 1)
    fputs("    for (int64_t q = 0; q < n; q++) to[q] = b[p * b_k + q];\n", out);
  else
    fprintf(out,
            "    bf16_pairs_of_bf16(to, b + 2 * p * b_k, b + (2 * p + 1) * b_k, n);\n"
            "    for (int64_t q = 2 * n; q < %lld; q++) to[q] = 0;\n",
            2 * wide);
  fputs("  }\n}\n", out);
}

/* One panel of the loops, and which is next: `whole` columns are in panels as wide as a tile. */
static void panel_step(FILE *out, const stream *x) {
  const tf_micro_streamed *s = x->s;
  const char *const type = tf_micro_type(x->kernel->kernel.b);
  const long long wide = wide_of(x), whole = s->n - s->n % wide, group = x->kernel->kernel.group,
                  n = s->n;
  fprintf(out,
          "        const int64_t steps = k - p < most ? k - p : most;\n"
          "        int64_t j_next = j + %lld, p_next = p;\n"
          "        if (j_next >= to) j_next = from, p_next = p + steps;\n"
          "        if (p_next >= k) j_next = to, p_next = 0;\n"
          "        const int last = j_next >= %lld;\n"
          "        if (last) j_next = j, p_next = p;\n",
          wide, n);
  const char *const at = "        const %s *const %s = panels ? panels + (%s / %lld * rows + %s) * "
                         "%lld : b + %lld * %s * b_k + %s;\n";
  fprintf(out, at, type, "here", "j", wide, "p", wide * group, group, "p", "j");
  fprintf(out, at, type, "there", "j_next", wide, "p_next", wide * group, group, "p_next",
          "j_next");
  fprintf(out,
          "        if (!panels && !ready) %s_lay(steps, here, b_k, %lld - j < %lld ? %lld - j : "
          "%lld, room);\n"
          "        ready = !panels && !last && j < %lld && j_next < %lld;\n",
          x->name, n, wide, n, wide, whole, whole);
  static const char args[] =
      "(steps, a + p * a_k, a_m, a_k, panels ? here : room, c + j, c_m, add || p > 0, there";
  if (whole)
    fprintf(out,
            "        if (ready)\n"
            "          %s_%lld_lays%s, b_k, other, k - p_next < most ? k - p_next : most);\n"
            "        else if (j < %lld)\n          %s_%lld%s);\n",
            x->name, wide, args, whole, x->name, wide, args);
  if (whole < n)
    fprintf(out, "        %s\n          %s_%lld%s);\n", whole ? "else" : "", x->name, n - whole,
            args);
  fprintf(out,
          "        if (ready) {\n          %s *const was = room;\n"
          "          room = other, other = was;\n        }\n",
          type);
}

/* Steps of k of a panel: of float32 sums no more than a run. */
static long long steps_of(const stream *x, int64_t steps) {
  return x->kernel->kernel.a == IR_F32 && steps > TF_MICRO_RUN ? TF_MICRO_RUN : steps;
}

/* Panel by panel of a strip, for each part of k; then the next strip. */
static void strips(FILE *out, const stream *x) {
  const tf_micro_streamed *s = x->s;
  const ir_kernel *k = &x->kernel->kernel;
  const char *const type = tf_micro_type(k->b);
  const long long strip = s->strip, n = s->n;
  fprintf(
      out,
      "\n/* %lld rows by %lld columns of b, which streams past */\n"
      "static APART void %s(int64_t k, const %s *a, int64_t a_m, int64_t a_k, const %s *b, int64_t "
      "b_k, const %s *panels, int64_t rows, %s *room, float *c, int64_t c_m, int add) {\n"
      "  %s *other = room + %lld;\n"
      "  const int64_t most = panels ? %lld : %lld; /* steps; what is laid out here stays in the "
      "first cache */\n"
      "  int ready = 0; /* whether the panel at hand stands in room */\n",
      (long long)s->m, n, x->name, tf_micro_type(k->a), type, type, type, type,
      (long long)(s->steps * k->group * wide_of(x)), steps_of(x, 2 * s->steps),
      steps_of(x, s->steps));
  fprintf(out,
          "  for (int64_t from = 0; from < %lld; from += %lld) {\n"
          "    const int64_t to = from + %lld < %lld ? from + %lld : %lld;\n"
          "    for (int64_t p = 0; p < k; p += most)\n"
          "      for (int64_t j = from; j < to; j += %lld) {\n",
          n, strip, strip, n, strip, n, (long long)wide_of(x));
  panel_step(out, x);
  fputs("      }\n  }\n}\n", out);
}

const char *tf_micro_stream(FILE *out, tf_micro *u, const tf_micro_streamed *s) {
  const tf_micro_isa *isa = tf_micro_of(u);
  char name[96];
  bool anew;
  snprintf(name, sizeof name, "stream_%s_%lld_%lld_%lld_%lld", s->kernel->name, (long long)s->m,
           (long long)s->n, (long long)s->steps, (long long)s->strip);
  const char *kept = tf_micro_name(u, name, &anew);
  if (!kept || !anew) return kept;
  stream x = {tf_micro_kernel_of(s->kernel), s, kept, isa->lanes, tf_micro_unroll(u), 0, 0, 0};
  const int64_t wide = wide_of(&x);
  x.tiles = (int)tiles_of(isa->registers, s->m, s->across);
  x.columns = columns_of(s->kernel, x.lanes, s->across);
  x.slow = x.tiles / x.columns;
  x.slow = x.slow < 1 ? 1 : x.slow > SLOWEST ? SLOWEST : x.slow;
  if (s->n >= wide && (!panel(out, u, &x, wide, false) || !panel(out, u, &x, wide, true)))
    return NULL;
  if (s->n % wide && !panel(out, u, &x, s->n % wide, false)) return NULL;
  lay(out, &x);
  strips(out, &x);
  return kept;
}
