/* Products with few rows, whose b is read once and in place: they are limited by memory bandwidth.
 * If operands are contiguous along k, each sum has a vector of its own, reduced to one number at
 * the end; if b is contiguous along n, several rows of b at once are added into a row of c, which
 * stays in cache.
 *
 * A single row reads b as four streams, each a quarter of its rows: hardware prefetchers follow
 * long streams best, so that software need not prefetch. With more rows a core's reorder buffer is
 * full of multiply-adds, and holds few loads ahead: then rows of b are read side by side, and the
 * next ones are prefetched.
 *
 * Rows whose sums do not fit in the registers at once are cut into tiles of nearly equal height.
 * Each in turn uses a few rows of b, which stay in a cache until all have used them. */
#include <inttypes.h>

#include "codegen/intrin/tile.h"

enum { MOST_KEYS = 8, LEAST_STEPS = 6, STREAMS = 4, TILE_KEYS = 4, TILE_WIDE = 2, HELD = 4 };

static const char *letter(ir_type t) { return t == IR_BF16 ? "bf16" : "f32"; }

int tf_micro_few_rows(int registers) { return registers / 4; }

/* Loads a vector of that type from `at`; `part`: only the first `rest` lanes, others are 0. */
static void load(FILE *out, ir_type t, const char *at, bool part) {
  if (t == IR_BF16)
    fprintf(out, "wide_lanes(%s, lanes_between(0, %s))", at, part ? "rest" : "LANES");
  else
    fprintf(out, part ? "vec_load_part(%s, rest)" : "vec_load(%s)", at);
}

static void number(FILE *out, ir_type t, const char *at) {
  fprintf(out, t == IR_BF16 ? "wide(%s)" : "%s", at);
}

static void arguments(FILE *out, const tf_micro_few *f) {
  fprintf(out,
          "int64_t k, const %s *a, int64_t a_m, int64_t a_k, const %s *b, int64_t b_step, float "
          "*c, int64_t c_m",
          tf_micro_type(f->a), tf_micro_type(f->b));
}

/* The product: `by` rows of b at once, `apart` from each other, the rest one by one. */
static void product_loop(FILE *out, const tf_micro_few *f, const char *name, char at, char all,
                         int by, const char *call) {
  fprintf(out, "static APART void %s(", name), arguments(out, f);
  fprintf(out, ", int64_t n, int add) {\n  const int64_t whole = %c - %c %% %d, ", all, all, by);
  if (f->rows == 1)
    fprintf(out, "apart = whole / %d;\n  for (int64_t %c = 0; %c < apart; %c++) ", by, at, at, at);
  else
    fprintf(out, "apart = 1;\n  for (int64_t %c = 0; %c < whole; %c += %d) ", at, at, at, by);
  fprintf(out, call, name, by);
  if (by > 1) {
    fprintf(out, "  for (int64_t %c = whole; %c < %c; %c++) ", at, at, all, at),
        fprintf(out, call, name, 1);
  }
  fputs("}\n", out);
}

/* ---- contiguous along k --------------------------------------------------------------------- */

/* How a tile's operands are loaded and added to its sums. */
typedef struct {
  const char *pairs; /* prefix of the operations of a kernel of pairs of bfloat16; NULL: vectors of
                        float32 */
  const char *fours; /* the function that adds up the lanes of four vectors */
} dot_words;

/* to[i]: the sum of the i-th vector's lanes. */
static void fours_text(FILE *out, const char *name, const char *shuffle) {
  fprintf(out, "\nstatic inline void %s(float *to, vec a, vec b, vec c, vec d) {\n", name);
  if (shuffle)
    fprintf(out,
            "  const vec e = vec_add(%s_unpacklo_ps(a, c), %s_unpackhi_ps(a, c)), f = "
            "vec_add(%s_unpacklo_ps(b, d), %s_unpackhi_ps(b, d));\n"
            "  float part[LANES];\n"
            "  vec_store(part, vec_add(%s_unpacklo_ps(e, f), %s_unpackhi_ps(e, f)));\n"
            "  for (int i = 0; i < 4; i++) to[i] = part[i];\n"
            "  for (int at = 4; at < LANES; at += 4)\n"
            "    for (int i = 0; i < 4; i++) to[i] += part[at + i];\n",
            shuffle, shuffle, shuffle, shuffle, shuffle, shuffle);
  else
    fputs("  to[0] = vec_sum(a), to[1] = vec_sum(b), to[2] = vec_sum(c), to[3] = vec_sum(d);\n",
          out);
  fputs("}\n", out);
}

static bool dot_words_of(FILE *out, tf_micro *u, const tf_micro_few *f, dot_words *w) {
  bool anew;
  const tf_micro_kernel *k = f->a == IR_BF16 && f->b == IR_BF16 ? tf_pairs_of(u) : NULL;
  w->pairs = k ? k->prefix : NULL;
  w->fours = tf_micro_name(u, "sums_of_four", &anew);
  if (anew) fours_text(out, w->fours, tf_micro_of(u)->shuffle);
  return w->fours != NULL;
}

static void load_dot(FILE *out, const dot_words *w, ir_type t, const char *at, bool part) {
  if (w->pairs)
    fprintf(out, part ? "%s_load_part(%s, rest)" : "%s_load(%s)", w->pairs, at);
  else
    load(out, t, at, part);
}

/* One vector of each row of a and b, added to all sums. */
static void dot_step(FILE *out, const tf_micro_few *f, const dot_words *w, int keys, bool part,
                     bool fetch) {
  char at[48];
  const char *type = w->pairs ? w->pairs : "vec", *plural = w->pairs ? "s" : "";
  for (int i = 0; i < f->rows; i++) {
    snprintf(at, sizeof at, "a + %d * a_m + p", i);
    fprintf(out, "    const %s%s x%d = ", type, plural, i), load_dot(out, w, f->a, at, part),
        fputs(";\n", out);
  }
  for (int j = 0; j < keys; j++) {
    snprintf(at, sizeof at, "b + %d * b_step + p", j);
    fprintf(out, "    const %s%s y%d = ", type, plural, j), load_dot(out, w, f->b, at, part),
        fputs(";\n", out);
    if (fetch) fprintf(out, "    FETCH(b + %d * b_step + p, 0);\n", j + keys);
    for (int i = 0; i < f->rows; i++)
      fprintf(out, "    s%d_%d = %s_%s(x%d, y%d, s%d_%d);\n", i, j, type, w->pairs ? "add" : "fma",
              i, j, i, j);
  }
}

/* Sums of all rows and keys, four at a time. */
static void dot_store(FILE *out, const tf_micro_few *f, const dot_words *w, int keys) {
  enum { FOUR = 4 };
  const int all = f->rows * keys;
  for (int at = 0; at < all; at += FOUR) {
    const bool four = all - at >= FOUR;
    if (four) {
      fprintf(out, "  %s(t", w->fours);
      for (int e = at; e < at + FOUR; e++)
        fprintf(out, ", s%d_%d", e / keys, e % keys);
      fputs(");\n", out);
    }
    for (int e = at; e < at + FOUR && e < all; e++) {
      const int i = e / keys, j = e % keys;
      fprintf(out, "  c[%d * c_m + %d * c_n] = (add ? c[%d * c_m + %d * c_n] : 0.0f) + ", i, j, i,
              j);
      if (four)
        fprintf(out, "t[%d];\n", e - at);
      else
        fprintf(out, "vec_sum(s%d_%d);\n", i, j);
    }
  }
}

/* Whole vectors, those of a run at a time, whose sums are added up in memory. */
static void dot_runs(FILE *out, const tf_micro_few *f, const dot_words *w, int keys, bool fetch) {
  const int all = f->rows * keys;
  fprintf(out,
          "  const int64_t whole = k / LANES * LANES;\n  vec total[%d];\n"
          "  int begun = 0;\n  for (;;) {\n"
          "  const int64_t end = whole - p > %d * LANES ? p + %d * LANES : whole;\n"
          "  for (; p < end; p += LANES) {\n",
          all, TF_MICRO_RUN, TF_MICRO_RUN);
  dot_step(out, f, w, keys, false, fetch);
  fputs("  }\n  if (p == whole) break;\n", out);
  for (int e = 0; e < all; e++) {
    const int i = e / keys, j = e % keys;
    fprintf(out,
            "  total[%d] = begun ? vec_add(total[%d], s%d_%d) : s%d_%d;\n  s%d_%d = vec_zero();\n",
            e, e, i, j, i, j, i, j);
  }
  fputs("  begun = 1;\n  }\n  if (begun) {\n", out);
  for (int e = 0; e < all; e++)
    fprintf(out, "  s%d_%d = vec_add(total[%d], s%d_%d);\n", e / keys, e % keys, e, e / keys,
            e % keys);
  fputs("  }\n", out);
}

/* Multiplies `keys` rows of b by all of a, and stores sums c_n apart; `fetch`: prefetches as many
 * after them. */
static void dot_tile(FILE *out, const tf_micro_few *f, const dot_words *w, const char *name,
                     int keys, bool fetch) {
  const char *each = w->pairs ? "2 * LANES" : "LANES";
  fprintf(out, "static APART void %s_%d(", name, keys), arguments(out, f),
      fputs(", int64_t c_n, int add) {\n", out);
  fputs("  int64_t p = 0;\n  (void)a_m, (void)a_k, (void)b_step, (void)c_m;\n", out);
  if (f->rows * keys >= 4) fputs("  float t[4];\n", out);
  for (int i = 0; i < f->rows; i++)
    for (int j = 0; j < keys; j++)
      fprintf(out, "  vec s%d_%d = vec_zero();\n", i, j);
  if (f->a == IR_F32 && f->b == IR_F32) {
    dot_runs(out, f, w, keys, fetch);
  } else {
    fprintf(out, "  for (; p + %s <= k; p += %s) {\n", each, each);
    dot_step(out, f, w, keys, false, fetch);
    fputs("  }\n", out);
  }
  fputs("  if (p < k) {\n    const int rest = (int)(k - p);\n", out);
  dot_step(out, f, w, keys, true, false);
  fputs("  }\n", out);
  dot_store(out, f, w, keys);
  fputs("}\n", out);
}

static void dots(FILE *out, const tf_micro_few *f, const dot_words *w, const char *name,
                 int registers) {
  int keys = (registers - f->rows - 2) / f->rows;
  keys = f->rows == 1 ? STREAMS : keys < 1 ? 1 : keys > MOST_KEYS ? MOST_KEYS : keys;
  dot_tile(out, f, w, name, 1, f->rows > 1);
  if (keys > 1) dot_tile(out, f, w, name, keys, f->rows > 1);
  const char *call =
      "%s_%d(k, a, a_m, a_k, b + j * b_step, apart * b_step, c + j, c_m, apart, add);\n";
  product_loop(out, f, name, 'j', 'n', keys, call);
}

/* ---- contiguous along n --------------------------------------------------------------------- */

/* One vector of the rows of c, each with the sum of the steps added to it: it has fewer additions
 * one after the other than if it took in each of them. A vector of b is loaded once, into a
 * register: as a memory operand of each row's multiply-add it would be loaded for each, twice where
 * it straddles cache lines. */
static void add_step(FILE *out, const tf_micro_few *f, int steps, bool part) {
  char at[48];
  for (int i = 0; i < f->rows; i++)
    fprintf(out, "    vec s%d = vec_zero();\n", i);
  for (int q = 0; q < steps; q++) {
    snprintf(at, sizeof at, "b + %d * b_step + j", q);
    fprintf(out, "    const vec y%d = ", q), load(out, f->b, at, part), fputs(";\n", out);
    if (!part && f->rows > 1) fprintf(out, "    FETCH(b + %d * b_step + j, 0);\n", q + steps);
    for (int i = 0; i < f->rows; i++)
      fprintf(out,
              f->rows > 1 ? "    FMA_TO(s%d, x%d_%d, y%d);\n"
                          : "    s%d = vec_fma(x%d_%d, y%d, s%d);\n",
              i, i, q, q, i);
  }
  for (int i = 0; i < f->rows; i++)
    fprintf(
        out,
        "    vec_store%s(c + %d * c_m + j, add ? vec_add(%s(c + %d * c_m + j%s), s%d) : s%d%s);\n",
        part ? "_part" : "", i, part ? "vec_load_part" : "vec_load", i, part ? ", rest" : "", i, i,
        part ? ", rest" : "");
}

/* Adds `steps` rows of b to all of c; several rows prefetch as many after them. */
static void add_tile(FILE *out, const tf_micro_few *f, const char *name, int steps) {
  char at[64];
  fprintf(out, "static APART void %s_%d(", name, steps), arguments(out, f),
      fputs(", int64_t n, int add) {\n", out);
  fputs("  int64_t j = 0;\n  (void)k, (void)a_m, (void)a_k, (void)b_step, (void)c_m;\n", out);
  for (int i = 0; i < f->rows; i++)
    for (int q = 0; q < steps; q++) {
      snprintf(at, sizeof at, "a[%d * a_m + %d * a_k]", i, q);
      fprintf(out, "  const vec x%d_%d = vec_splat(", i, q), number(out, f->a, at),
          fputs(");\n", out);
    }
  fputs("  for (; j + LANES <= n; j += LANES) {\n", out);
  add_step(out, f, steps, false);
  fputs("  }\n  if (j < n) {\n    const int rest = (int)(n - j);\n", out);
  add_step(out, f, steps, true);
  fputs("  }\n}\n", out);
}

static void sums(FILE *out, const tf_micro_few *f, const char *name, int registers) {
  int steps = (registers - f->rows - 2) / f->rows / 2 * 2;
  /* where the registers do not hold all of a, it is broadcast from a cache: storing rows of c more
   * often costs more */
  steps = f->rows == 1                 ? STREAMS
          : steps < LEAST_STEPS        ? LEAST_STEPS
          : steps > TF_MICRO_FEW_STEPS ? TF_MICRO_FEW_STEPS
                                       : steps;
  add_tile(out, f, name, 1);
  if (steps > 1) add_tile(out, f, name, steps);
  const char *call = "%s_%d(k, a + p * a_k, a_m, apart * a_k, b + p * b_step, apart * b_step, c, "
                     "c_m, n, add || p > 0);\n";
  product_loop(out, f, name, 'p', 'k', steps, call);
}

/* ---- sums in registers ---------------------------------------------------------------------- */

bool tf_micro_few_hold(const ir_machine *t, int64_t rows) {
  const ir_kernel *k = t->real;
  return k && t->lanes > 1 && k->a == IR_F32 && k->b == IR_F32 && k->group == 1 &&
         tf_micro_kernel_of(k)->form == TF_MICRO_VECTORS && rows >= HELD &&
         rows <= tf_micro_few_rows(t->registers);
}

/* Vectors of a tile: as many as leave registers for all rows' sums, in panels as equal as they can
 * be. */
static int held_across(const tf_micro_few *f, int registers, int lanes) {
  enum { MOST = 6 };
  int64_t most = 1;
  while (most < MOST && tf_micro_rows(registers, (int)most + 1) >= f->rows)
    most++;
  const int64_t vectors = (f->columns + lanes - 1) / lanes, panels = (vectors + most - 1) / most;
  return (int)((vectors + panels - 1) / panels);
}

/* Tiles walk down b in place, a run of its rows at a time: hardware prefetchers do not follow such
 * short pieces of rows into memory, so that b must be in a cache. */
static bool held_sums(FILE *out, tf_micro *u, const tf_micro_few *f, const char *name) {
  const tf_micro_isa *isa = tf_micro_of(u);
  const int lanes = isa->lanes, across = held_across(f, isa->registers, lanes);
  const long long wide = (long long)across * lanes, n = f->columns, whole = n - n % wide;
  tf_tile t = {.kernel = tf_micro_kernel_of(f->held),
               .lanes = lanes,
               .rows = f->rows,
               .unroll = tf_micro_unroll(u)};
  char tile[2][64] = {"", ""};
  for (int rest = 0; rest < 2; rest++) {
    const long long columns = rest ? n - whole : wide;
    if (rest ? !columns : !whole) continue;
    t.across = (int)((columns + lanes - 1) / lanes), t.part = (int)(columns % lanes);
    if (!tf_micro_tile(out, u, t)) return false;
    tf_tile_name(&t, tile[rest]);
  }
  fprintf(out, "static APART void %s(", name), arguments(out, f);
  fprintf(out,
          ", int64_t n, int add) {\n  (void)n;\n  for (int64_t p = 0; p < k; p += %d) {\n"
          "    const int64_t steps = k - p < %d ? k - p : %d;\n",
          TF_MICRO_RUN, TF_MICRO_RUN, TF_MICRO_RUN);
  static const char args[] =
      "(steps, a + p * a_k, a_m, a_k, b + p * b_step + j, b_step, c + j, c_m, add || p > 0);\n";
  if (whole)
    fprintf(out, "    for (int64_t j = 0; j < %lld; j += %lld) %s%s", whole, wide, tile[0], args);
  if (whole < n) fprintf(out, "    const int64_t j = %lld;\n    %s%s", whole, tile[1], args);
  fputs("  }\n}\n", out);
  return true;
}

/* ---- more rows than the registers hold ------------------------------------------------------ */

/* How many tiles the rows are cut into; *high: the height of the first *more, one more than that of
 * the others. */
static int cut(const tf_micro_few *f, int registers, int *high, int *more) {
  const int most =
      f->along_k ? (registers - 1) / (TILE_KEYS + 1) : tf_micro_rows(registers, TILE_WIDE);
  const int count = (f->rows + most - 1) / most;
  *high = f->rows / count + 1;
  *more = f->rows % count;
  return count;
}

/* Rows of c by some rows of b: each walks along them with its sums in vectors of their own. */
static void dots_in_tiles(FILE *out, const tf_micro_few *f, const dot_words *w, const char *name,
                          int registers) {
  int high, more;
  const int count = cut(f, registers, &high, &more);
  tf_micro_few tile = *f;
  for (tile.rows = high - (more == 0); tile.rows >= high - (more < count); tile.rows--) {
    char part[80];
    snprintf(part, sizeof part, "%s_of_%d", name, tile.rows);
    dot_tile(out, &tile, w, part, 1, false), dot_tile(out, &tile, w, part, TILE_KEYS, false);
  }
  fprintf(out, "static APART void %s(", name), arguments(out, f);
  fprintf(out,
          ", int64_t n, int add) {\n  const int64_t whole = n - n %% %d;\n"
          "  for (int64_t j = 0; j < n; j += j < whole ? %d : 1) {\n",
          TILE_KEYS, TILE_KEYS);
  for (int keys = TILE_KEYS; keys > 0; keys -= TILE_KEYS - 1) {
    fprintf(out, keys > 1 ? "    if (j < whole) {\n" : "    } else {\n");
    for (int t = 0, i = 0, r; t < count; t++, i += r) {
      r = high - (t >= more);
      fprintf(out,
              "      %s_of_%d_%d(k, a + %d * a_m, a_m, a_k, b + j * b_step, b_step, c + %d * c_m + "
              "j, c_m, 1, add);\n",
              name, r, keys, i, i);
    }
  }
  fputs("    }\n  }\n}\n", out);
}

/* `wide` vectors of a tile's rows of c, to which `steps` rows of b are added. */
static void sum_step(FILE *out, const tf_micro_few *f, int steps, int wide, bool part) {
  char at[64];
  for (int i = 0; i < f->rows; i++)
    for (int v = 0; v < wide; v++)
      fprintf(out, "    vec s%d_%d = vec_zero();\n", i, v);
  for (int q = 0; q < steps; q++) {
    for (int v = 0; v < wide; v++) {
      snprintf(at, sizeof at, "b + %d * b_step + j + %d * LANES", q, v);
      fprintf(out, "    const vec y%d_%d = ", q, v), load(out, f->b, at, part), fputs(";\n", out);
    }
    for (int i = 0; i < f->rows; i++) {
      fprintf(out, "    const vec x%d_%d = vec_splat(x[%d * x_step + %d]);\n", i, q, q, i);
      for (int v = 0; v < wide; v++)
        fprintf(out, "    s%d_%d = vec_fma(x%d_%d, y%d_%d, s%d_%d);\n", i, v, i, q, q, v, i, v);
    }
  }
  for (int i = 0; i < f->rows; i++)
    for (int v = 0; v < wide; v++)
      fprintf(out,
              "    vec_store%s(c + %d * c_m + j + %d * LANES, add ? vec_add(%s(c + %d * c_m + j + "
              "%d * LANES%s), s%d_%d) : s%d_%d%s);\n",
              part ? "_part" : "", i, v, part ? "vec_load_part" : "vec_load", i, v,
              part ? ", rest" : "", i, v, i, v, part ? ", rest" : "");
}

/* Adds `steps` rows of b, multiplied by x[step * x_step + row], to n columns of the tile's rows. */
static void sum_tile(FILE *out, const tf_micro_few *f, const char *name, int steps) {
  fprintf(out,
          "static APART void %s_%d(const float *x, int64_t x_step, const %s *b, int64_t b_step, "
          "float *c, int64_t c_m, int64_t n, int add) {\n"
          "  int64_t j = 0;\n  (void)x_step, (void)b_step, (void)c_m;\n",
          name, steps, tf_micro_type(f->b));
  for (int wide = TILE_WIDE; wide > 0; wide--) {
    fprintf(out, "  for (; j + %d * LANES <= n; j += %d * LANES) {\n", wide, wide);
    sum_step(out, f, steps, wide, false);
    fputs("  }\n", out);
  }
  fputs("  if (j < n) {\n    const int rest = (int)(n - j);\n", out);
  sum_step(out, f, steps, 1, true);
  fputs("  }\n}\n", out);
}

/* All tiles add `steps` rows of b from p on to columns `from`, .. of c, a strip at a time. */
static void sum_strips(FILE *out, const tf_micro_few *f, const char *name, int registers,
                       int steps) {
  int high, more;
  const int count = cut(f, registers, &high, &more);
  fprintf(out,
          "      float x[%d];\n      for (int q = 0; q < %d; q++)\n"
          "        for (int i = 0; i < %d; i++) x[q * %d + i] = ",
          steps * f->rows, steps, f->rows, f->rows);
  number(out, f->a, "a[i * a_m + (p + q) * a_k]");
  fprintf(out,
          ";\n      for (int64_t j = from; j < to; j += %d) {\n"
          "        const int64_t across = to - j < %d ? to - j : %d;\n",
          f->strip, f->strip, f->strip);
  for (int t = 0, i = 0, r; t < count; t++, i += r) {
    r = high - (t >= more);
    fprintf(out,
            "        %s_of_%d_%d(x + %d, %d, b + p * b_step + j, b_step, c + %d * c_m + j, c_m, "
            "across, add || p > 0);\n",
            name, r, steps, i, f->rows, i);
  }
  fputs("      }\n", out);
}

static void sums_in_tiles(FILE *out, const tf_micro_few *f, const char *name, int registers) {
  int high, more;
  const int count = cut(f, registers, &high, &more);
  tf_micro_few tile = *f;
  for (tile.rows = high - (more == 0); tile.rows >= high - (more < count); tile.rows--) {
    char part[80];
    snprintf(part, sizeof part, "%s_of_%d", name, tile.rows);
    sum_tile(out, &tile, part, 1), sum_tile(out, &tile, part, TF_MICRO_FEW_STEPS);
  }
  fprintf(out, "static APART void %s(", name), arguments(out, f);
  fprintf(out,
          ", int64_t n, int add) {\n"
          "  const int64_t blocks = (n + %d) / %d, across = (n + blocks - 1) / (blocks > 0 ? "
          "blocks : 1), whole = k - k %% %d;\n"
          "  for (int64_t from = 0; from < n; from += across) {\n"
          "    const int64_t to = from + across < n ? from + across : n;\n",
          f->block - 1, f->block, TF_MICRO_FEW_STEPS);
  fprintf(out, "    for (int64_t p = 0; p < whole; p += %d) {\n", TF_MICRO_FEW_STEPS);
  sum_strips(out, f, name, registers, TF_MICRO_FEW_STEPS);
  fputs("    }\n    for (int64_t p = whole; p < k; p++) {\n", out);
  sum_strips(out, f, name, registers, 1);
  fputs("    }\n  }\n}\n", out);
}

static bool print(FILE *out, tf_micro *u, const tf_micro_few *f, const dot_words *w,
                  const char *name) {
  const int registers = tf_micro_of(u)->registers;
  const bool tiles = f->rows > tf_micro_few_rows(registers);
  const tf_micro_kernel *pairs = tf_pairs_fit(f) ? tf_pairs_of(u) : NULL;
  fprintf(out, "\n/* %d rows%s by rows of b with neighbours along %s */\n", f->rows,
          tiles ? ", in tiles," : "", f->along_k ? "k" : "n");
  if (f->held) return held_sums(out, u, f, name);
  if (f->along_k)
    (tiles ? dots_in_tiles : dots)(out, f, w, name, registers);
  else if (pairs)
    tf_pairs_print(out, f, pairs, name);
  else
    (tiles ? sums_in_tiles : sums)(out, f, name, registers);
  return true;
}

const char *tf_micro_few_product(FILE *out, tf_micro *u, const tf_micro_few *f) {
  char name[96], columns[32] = "";
  bool anew;
  dot_words w = {0};
  if ((tf_pairs_fit(f) && tf_pairs_of(u)) || f->held)
    snprintf(columns, sizeof columns, "_%s_%" PRId64, f->held ? "held" : "of", f->columns);
  snprintf(name, sizeof name, "%s_%s_%s_%d%s", f->along_k ? "dots" : "sums", letter(f->a),
           letter(f->b), f->rows, columns);
  const char *kept = f->rows < 1 ? NULL : tf_micro_name(u, name, &anew);
  if (!kept || !anew) return kept;
  if (f->along_k && !dot_words_of(out, u, f, &w)) return NULL;
  return print(out, u, f, &w, kept) ? kept : NULL;
}
