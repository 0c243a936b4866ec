/* Tiles whose lanes run along channels: elements of a are broadcast from any address, and the tile
 * is transposed when it is stored, so that rows of c are as long as the tile is high. */
#include <stdlib.h>
#include <string.h>

#include "codegen/intrin/tile.h"

enum { LINE = 64 }; /* bytes of a cache line */

typedef struct {
  int rows, across, lanes, unroll;
  int64_t step;
  bool a_in_memory; /* a is in memory, not in a cache */
  int64_t row_length,
      a_pitch;      /* elements of a joined row of the output, 0: not joined; pitch of rows of a */
  bool dense;       /* joined rows of the output are contiguous */
  int64_t first;    /* the index of the tile's first element, where the tile depends on it */
  int64_t block;    /* above 0: c is blocked and not transposed: the stride of its elements */
  bool prefetches;  /* prefetches a part of the next panels */
  bool rounds;      /* stores sums rounded to what the kernel leaves */
  tf_micro_map map; /* stores what it makes of the sums */
  bool runs; /* k may be longer than TF_MICRO_RUN, of which sums of float32 are made at a time */
  const ir_kernel *kernel;
  int window[2]; /* rows and columns of the window with which k ends, of which borders leave a part
                    out */
  ir_border column, row; /* of size 0: they leave out nothing */
} shape;

/* ---- what borders leave out ----------------------------------------------------------------- */

/* Whether the window's rows of a call are its arguments. */
static bool says_rows(const shape *s) { return s->row.size > 0 && !s->row_length; }

/* Whether element i of the tile has an element of a at that position of the window. */
static bool has(const shape *s, int i, int r, int c) {
  const int64_t e = s->first + i;
  return ir_is_inside(&s->column, s->row_length ? e % s->row_length : e, c) &&
         (!s->row_length || ir_is_inside(&s->row, e / s->row_length, r));
}

/* Whether borders leave out positions of some of the tile's elements, all of which it knows. */
static bool is_cut(const shape *s) {
  for (int r = 0; r < s->window[0]; r++)
    for (int c = 0; c < s->window[1]; c++)
      for (int i = 0; i < s->rows; i++)
        if (!has(s, i, r, c)) return true;
  return false;
}

/* "_W_X_Y_Z", of which each number may be negative. */
static void border_name(const ir_border *b, char *name, size_t room) {
  const int64_t part[] = {b->start, b->stride, b->dilation, b->size};
  for (int i = 0; i < 4; i++) {
    const size_t n = strlen(name);
    snprintf(name + n, room - n, "_%s%lld", part[i] < 0 ? "m" : "",
             (long long)(part[i] < 0 ? -part[i] : part[i]));
  }
}

/* The offset of element i of the tile in a; and in c. */
static int64_t in_a(const shape *s, int i) {
  return s->row_length ? (s->first + i) / s->row_length * s->a_pitch +
                             (s->first + i) % s->row_length * s->step
                       : i * s->step;
}

static void in_c(FILE *out, const shape *s, int i) {
  const int64_t step = s->block ? s->block : 1,
                at = s->row_length ? (s->first + i) % s->row_length : i;
  if (s->dense)
    fprintf(out, "c + %lld", (long long)((s->first + i) * step));
  else if (s->row_length)
    fprintf(out, "c + %lld * c_p + %lld", (long long)((s->first + i) / s->row_length),
            (long long)(at * step));
  else
    fprintf(out, "c + %lld", (long long)(at * step));
}

/* The end of the piece that starts at i: at most one vector, within one row of the output, or in
 * rows without gaps. */
static int piece(const shape *s, int i) {
  int end = i + s->lanes < s->rows ? i + s->lanes : s->rows;
  while (s->row_length && !s->dense &&
         (s->first + end - 1) / s->row_length != (s->first + i) / s->row_length)
    end--;
  return end;
}

/* What names of functions say of a kernel's type. */
static const char *kind(const ir_kernel *k) {
  return k->a == IR_F32 ? "" : k->c == IR_I32 ? "_int8" : "_bf16";
}

/* Prefix of the operations on sums. */
static const char *sums(const shape *s) { return tf_micro_kernel_of(s->kernel)->sums; }
static bool of_ints(const shape *s) { return s->kernel->c == IR_I32; }
static const char *type_of_c(const shape *s) {
  return tf_micro_type(s->map.name ? s->map.type : s->rounds ? s->kernel->leaves : s->kernel->c);
}

/* Appends what rows and their tiles have in common. */
static void name_more(const shape *s, char *name, size_t room) {
  char block[32] = "", window[32] = "";
  const size_t n = strlen(name);
  if (s->block) snprintf(block, sizeof block, "_to%lld", (long long)s->block);
  if (s->window[0])
    snprintf(window, sizeof window, "_w%dx%d%s", s->window[0], s->window[1],
             says_rows(s) ? "_rows" : "");
  snprintf(name + n, room - n, "_s%lld%s%s%s%s%s%s%s%.16s", (long long)s->step,
           s->a_in_memory ? "_far" : "", block, s->rounds ? "_rounded" : "", s->runs ? "_runs" : "",
           s->prefetches ? "_prefetches" : "", window, s->map.name ? "_" : "",
           s->map.name ? s->map.name : "");
}

enum { NAME = 192 }; /* characters of a function's name */

static void tile_name(const shape *s, char *name) {
  snprintf(name, NAME, "channels%s_%d_%d", kind(s->kernel), s->rows, s->across);
  name_more(s, name, NAME);
  const bool cut = is_cut(s);
  if (s->row_length)
    snprintf(name + strlen(name), NAME - strlen(name), "_%lld_of_%lld_by_%lld%s",
             (long long)s->first, (long long)s->row_length, (long long)s->a_pitch,
             s->dense ? "_dense" : "");
  else if (cut)
    snprintf(name + strlen(name), NAME - strlen(name), "_%lld", (long long)s->first);
  if (cut && s->column.size) border_name(&s->column, name, NAME);
  if (cut && s->row_length && s->row.size) border_name(&s->row, name, NAME);
}

/* ---- transposed stores ---------------------------------------------------------------------- */

/* Transposes 4 x 4 within each 128 bits: of rows 4 g .. 4 g + 3 of x, element j of every four goes
 * to t<4 g + j>. */
static void transpose_quads(FILE *out, int lanes, const char *mm) {
  for (int g = 0; g < lanes; g += 4) {
    for (int h = 0; h < 2; h++)
      fprintf(out, "  const vec l%d = %s_unpacklo_ps(x%d, x%d), h%d = %s_unpackhi_ps(x%d, x%d);\n",
              g + h, mm, g + 2 * h, g + 2 * h + 1, g + h, mm, g + 2 * h, g + 2 * h + 1);
    for (int j = 0; j < 4; j++)
      fprintf(out, "  const vec t%d = %s_shuffle_ps(%c%d, %c%d, %s);\n", g + j, mm,
              j < 2 ? 'l' : 'h', g, j < 2 ? 'l' : 'h', g + 1, j % 2 ? "0xee" : "0x44");
  }
}

/* Gathers the 128-bit parts of t<j>, t<4 + j>, ...: column 4 L + j consists of the L-th part of
 * each. */
static void gather_quads(FILE *out, int lanes) {
  for (int j = 0; j < 4; j++)
    if (lanes == 4)
      fprintf(out, "  const vec y%d = t%d;\n", j, j);
    else if (lanes == 8)
      fprintf(out,
              "  const vec y%d = _mm256_permute2f128_ps(t%d, t%d, 0x20), y%d = "
              "_mm256_permute2f128_ps(t%d, t%d, 0x31);\n",
              j, j, j + 4, j + 4, j, j + 4);
    else
      fprintf(out,
              "  const vec p%d = _mm512_shuffle_f32x4(t%d, t%d, 0x88), q%d = "
              "_mm512_shuffle_f32x4(t%d, t%d, 0xdd);\n"
              "  const vec r%d = _mm512_shuffle_f32x4(t%d, t%d, 0x88), s%d = "
              "_mm512_shuffle_f32x4(t%d, t%d, 0xdd);\n"
              "  const vec y%d = _mm512_shuffle_f32x4(p%d, r%d, 0x88), y%d = "
              "_mm512_shuffle_f32x4(q%d, s%d, 0x88);\n"
              "  const vec y%d = _mm512_shuffle_f32x4(p%d, r%d, 0xdd), y%d = "
              "_mm512_shuffle_f32x4(q%d, s%d, 0xdd);\n",
              j, j, j + 4, j, j, j + 4, j, j + 8, j + 12, j, j + 8, j + 12, j, j, j, j + 4, j, j,
              j + 8, j, j, j + 12, j, j);
}

/* Whether sums have another name once the loop is over: the one over all steps alone makes them as
 * FMA_TO says. */
static bool leaves(const shape *s) { return !s->runs && s->across > 1 && s->kernel->group == 1; }

/* Stores rows from .. to - 1 of the tile's j-th vectors transposed: c[(j * lanes + l) * c_n + i] =
 * or += lane l of row i. */
static void print_square(FILE *out, const shape *s, const char *mm, int from, int to, int j) {
  fputs("  {\n", out);
  for (int i = 0; i < s->lanes; i++)
    if (from + i < to)
      fprintf(out,
              of_ints(s)  ? "  const vec x%d = ivec_as_vec(c%d_%d);\n"
              : leaves(s) ? "  const vec x%d = d%d_%d;\n"
                          : "  const vec x%d = c%d_%d;\n",
              i, from + i, j);
    else
      fprintf(out, "  const vec x%d = vec_zero();\n", i);
  transpose_quads(out, s->lanes, mm);
  gather_quads(out, s->lanes);
  const char *part = to - from < s->lanes ? "_part" : "";
  char count[16] = "";
  if (*part) snprintf(count, sizeof count, ", %d", to - from);
  fprintf(out, "  %s *to = ", type_of_c(s)), in_c(out, s, from),
      fprintf(out, " + %d * c_n;\n", j * s->lanes);
  for (int l = 0; l < s->lanes; l++, fputs("  to += c_n;\n", out)) {
    char y[32];
    snprintf(y, sizeof y, of_ints(s) ? "ivec_of_vec(y%d)" : "y%d", l);
    if (s->map.name)
      fprintf(out, "  if (n > %d) %s_store%s(&of, to, %s_cvtepi32_ps(%s), %d, 0%s);\n",
              j * s->lanes + l, s->map.name, part, mm, y, j * s->lanes + l, count);
    else if (s->rounds)
      fprintf(out, "  if (n > %d) %s_round%s(to, %s%s);\n", j * s->lanes + l,
              tf_micro_kernel_of(s->kernel)->prefix, part, y, count);
    else
      fprintf(out,
              "  if (n > %d) %s_store%s(to, add & ADDS ? %s_add(%s, %s_load%s(to%s)) : %s%s);\n",
              j * s->lanes + l, sums(s), part, sums(s), y, sums(s), part, count, y, count);
  }
  fputs("  }\n", out);
}

static void print_transposed(FILE *out, const shape *s, const char *mm) {
  if (s->map.name) fprintf(out, "  const %s of = *map;\n  (void)add;\n", s->map.name);
  for (int i = 0; leaves(s) && i < s->rows; i++)
    for (int j = 0; j < s->across; j++)
      fprintf(out, "  LEAVE(d%d_%d, c%d_%d);\n", i, j, i, j);
  for (int i = 0; i < s->rows; i = piece(s, i))
    for (int j = 0; j < s->across; j++)
      print_square(out, s, mm, i, piece(s, i), j);
}

static void print_blocks(FILE *out, const shape *s) {
  for (int i = 0; i < s->rows; i++) {
    fputs("  {\n  float *const to = ", out), in_c(out, s, i), fputs(";\n", out);
    for (int j = 0; j < s->across; j++)
      fprintf(out,
              "  vec_store(to + %d, add & ADDS ? vec_add(c%d_%d, vec_load(to + %d)) : c%d_%d);\n",
              j * s->lanes, i, j, j * s->lanes, i, j);
    fputs("  }\n", out);
  }
}

static void print_by_element(FILE *out, const shape *s) {
  const int width = s->across * s->lanes;
  fprintf(out, "  %s sums[%d];\n", type_of_c(s), s->rows * width);
  for (int i = 0; i < s->rows; i++)
    for (int j = 0; j < s->across; j++)
      fprintf(out, "  %s_store(sums + %d, c%d_%d);\n", sums(s), (i * s->across + j) * s->lanes, i,
              j);
  for (int i = 0; i < s->rows; i = piece(s, i)) {
    fprintf(out,
            "  for (int64_t j = 0; j < n; j++)\n    for (int64_t i = 0; i < %d; i++) {\n"
            "      %s *const to = ",
            piece(s, i) - i, type_of_c(s));
    in_c(out, s, i);
    fprintf(
        out,
        " + i + j * c_n;\n      *to = (add & ADDS ? *to : %s) + sums[(%d + i) * %d + j];\n    }\n",
        of_ints(s) ? "0" : "0.0f", i, width);
  }
}

/* Prefetches both ends of each piece of c. */
static void prefetch_rows(FILE *out, const shape *s) {
  fputs("  for (int64_t j = 0; j < n && add & FAR_C; j++) {\n", out);
  for (int i = 0; i < s->rows; i = piece(s, i)) {
    if (!s->map.name) /* bytes rarely reach into a second line */
      fputs("    FETCH(", out), in_c(out, s, i), fputs(" + j * c_n, 1);\n", out);
    fputs("    FETCH(", out), in_c(out, s, piece(s, i) - 1), fputs(" + j * c_n, 1);\n", out);
  }
  fputs("  }\n", out);
}

/* More arguments: what the 128 that are too much in each element of a come to; what to prefetch;
 * the window's rows. */
static const char excess[] = ", const int32_t *excess",
                  prefetched[] = ", uintptr_t ahead, int64_t by",
                  window_rows[] = ", int64_t from, int64_t to";
static void map_argument(FILE *out, const shape *s) {
  if (s->map.name) fprintf(out, ", const %s *map", s->map.name);
  fputs(") {\n", out);
}
static const char *more_of(const shape *s) { return s->kernel->lifts ? excess : ""; }

/* One step of k: of position r, c of the window. */
static void print_step(FILE *out, const shape *s, int r, int c) {
  const bool groups = s->kernel->group > 1;
  const char *const of = groups ? tf_micro_kernel_of(s->kernel)->prefix : "vec",
                    *const type = groups ? "s" : "", *const add = groups ? "add" : "fma";
  fprintf(out, "    const %s *const x = a + *at++;\n", tf_micro_type(s->kernel->a));
  /* what the next tile adds to this one's elements of a; rows are too short for the hardware
   * prefetcher to see a stream */
  const int64_t word = ir_bytes(s->kernel->a), bytes = s->rows * s->step * word;
  for (int64_t i = 0; s->a_in_memory && i < bytes; i += LINE)
    fprintf(out, "    FETCH((uintptr_t)x + %lld, 0);\n",
            (long long)(2 * bytes - s->step * word - i));
  const int wide = s->lanes * s->kernel->group;
  for (int j = 0; j < s->across; j++)
    fprintf(out, "    const %s%s b%d = %s_load(b + %d);\n", of, type, j, of, j * wide);
  for (int i = 0; i < s->rows; i++) {
    if (!has(s, i, r, c)) continue;
    fprintf(out,
            groups ? "    const %s%s x%d = %s_splat(x + %lld);\n"
                   : "    const %s%s x%d = %s_splat(x[%lld]);\n",
            of, type, i, of, (long long)in_a(s, i));
    for (int j = 0; j < s->across; j++)
      if (groups || s->across == 1)
        fprintf(out, "    c%d_%d = %s_%s(x%d, b%d, c%d_%d);\n", i, j, of, add, i, j, i, j);
      else
        fprintf(out, "    FMA_TO(c%d_%d, x%d, b%d);\n", i, j, i, j);
  }
  if (s->prefetches) fputs("    FETCH(ahead, 0);\n    ahead += (uintptr_t)by;\n", out);
  fprintf(out, "    b += %d;\n", s->across * wide);
}

/* A step, which may be beyond the borders for all of the tile's elements. */
static void print_position(FILE *out, const shape *s, int r, int c) {
  bool any = false;
  for (int i = 0; i < s->rows; i++)
    any |= has(s, i, r, c);
  fputs("    {\n", out);
  if (any)
    print_step(out, s, r, c);
  else
    fprintf(out, "    at++, b += %d%s;\n", s->across * s->lanes * s->kernel->group,
            s->prefetches ? ", ahead += (uintptr_t)by" : "");
  fputs("    }\n", out);
}

/* Steps of the window's columns that are left out: those of so many rows, as text. */
static void print_skip(FILE *out, const shape *s, const char *rows) {
  const int columns = s->window[1];
  fprintf(out, "  at += %d * (%s), b += %d * (%s)", columns, rows,
          columns * s->across * s->lanes * s->kernel->group, rows);
  if (s->prefetches) fprintf(out, ", ahead += (uintptr_t)(%d * (%s) * by)", columns, rows);
  fputs(";\n", out);
}

/* All steps, a window's positions at a time. */
static void print_windows(FILE *out, const shape *s) {
  const bool says = says_rows(s);
  const int rows = s->window[0], columns = s->window[1];
  fprintf(out, "  (void)a;\n  for (; k > 0; k -= %d) {\n",
          rows * columns); /* all may be left out */
  if (says) print_skip(out, s, "from"), fputs("  for (int64_t r = from; r < to; r++) {\n", out);
  for (int r = 0; r < (says ? 1 : rows); r++)
    for (int c = 0; c < columns; c++)
      print_position(out, s, r, c);
  if (says) {
    char rest[32];
    snprintf(rest, sizeof rest, "%d - to", rows);
    fputs("  }\n", out), print_skip(out, s, rest);
  }
  fputs("  }\n", out);
}

static void print_steps(FILE *out, const shape *s) {
  if (s->unroll > 1) {
    fprintf(out, "  for (; k >= %d; k -= %d) {\n", s->unroll, s->unroll);
    for (int i = 0; i < s->unroll; i++)
      print_position(out, s, 0, 0);
    fputs("  }\n", out);
  }
  fputs("  for (; k > 0; k--) {\n", out);
  print_step(out, s, 0, 0);
  fputs("  }\n", out);
}

/* The steps of a run at a time, whose sums are added up in memory. */
static void print_runs(FILE *out, const shape *s) {
  const int positions = s->window[0] ? s->window[0] * s->window[1] : 1,
            run = positions < TF_MICRO_RUN ? TF_MICRO_RUN / positions * positions : positions;
  fprintf(out,
          "  vec total[%d];\n  int begun = 0;\n  int64_t rest = k > %d ? k - %d : 0;\n"
          "  k -= rest;\n  for (;;) {\n",
          s->rows * s->across, run, run);
  (s->window[0] ? print_windows : print_steps)(out, s);
  fputs("  if (!rest) break;\n", out);
  for (int i = 0; i < s->rows; i++)
    for (int j = 0; j < s->across; j++) {
      const int at = i * s->across + j;
      fprintf(
          out,
          "  total[%d] = begun ? vec_add(total[%d], c%d_%d) : c%d_%d;\n  c%d_%d = vec_zero();\n",
          at, at, i, j, i, j, i, j);
    }
  fprintf(out, "  begun = 1, k = rest > %d ? %d : rest, rest -= k;\n  }\n  if (begun) {\n", run,
          run);
  for (int i = 0; i < s->rows; i++)
    for (int j = 0; j < s->across; j++)
      fprintf(out, "  c%d_%d = vec_add(total[%d], c%d_%d);\n", i, j, i * s->across + j, i, j);
  fputs("  }\n", out);
}

static void print_tile(FILE *out, const shape *s, const char *name, const char *mm) {
  fprintf(out,
          "\n"
          "static APART void %s(int64_t k, const %s *a, const int64_t *at, const %s *b, %s *c, "
          "int64_t c_n, int64_t c_p,\n"
          "                       int64_t n, int add%s%s%s",
          name, tf_micro_type(s->kernel->a), tf_micro_type(s->kernel->b), type_of_c(s), more_of(s),
          s->prefetches ? prefetched : "", says_rows(s) ? window_rows : "");
  map_argument(out, s);
  fprintf(out, "%s%s", s->row_length && !s->dense ? "" : "  (void)c_p;\n",
          s->block ? "  (void)c_n, (void)n;\n" : "");
  if (!s->block) prefetch_rows(out, s);
  for (int i = 0; i < s->rows; i++)
    for (int j = 0; j < s->across; j++)
      if (s->kernel->lifts)
        fprintf(out, "  ivec c%d_%d = ivec_load(excess + %d);\n", i, j, j * s->lanes);
      else
        fprintf(out, "  %s c%d_%d = %s_zero();\n", sums(s), i, j, sums(s));
  if (s->runs)
    print_runs(out, s);
  else
    (s->window[0] ? print_windows : print_steps)(out, s);
  if (s->block)
    print_blocks(out, s);
  else if (mm)
    print_transposed(out, s, mm);
  else
    print_by_element(out, s);
  fputs("}\n", out);
}

/* ---- rows of c ------------------------------------------------------------------------------ */

/* How many of `count` tiles from the one at s->first on are the same function. */
static int64_t same_tiles(shape s, int64_t count) {
  int64_t n = 1;
  if (s.row_length || is_cut(&s)) return n;
  for (; n < count; n++) {
    s.first += s.rows;
    if (is_cut(&s)) break;
  }
  return n;
}

/* Calls the tile for the elements from .. to - 1. */
static bool run_of_tiles(FILE *out, tf_micro *u, FILE *body, int64_t from, int64_t to, shape s) {
  const char *more = s.prefetches ? ", ahead, by" : "",
             *after = s.prefetches ? ", ahead += (uintptr_t)(k * by)" : "",
             *start = s.kernel->lifts ? ", excess" : "", *rows = says_rows(&s) ? ", from, to" : "",
             *map = s.map.name ? ", map" : "";
  char name[NAME];
  bool anew;
  int64_t count;
  for (s.first = from; s.first < to; s.first += count * s.rows) {
    count = same_tiles(s, (to - s.first) / s.rows);
    tile_name(&s, name);
    if (!tf_micro_name(u, name, &anew)) return false;
    if (anew) print_tile(out, &s, name, tf_micro_of(u)->shuffle);
    if (s.row_length)
      fprintf(body, "  %s(k, a, at, b, c, c_n, c_p, n, add%s%s%s)%s;\n", name, start, more, map,
              after);
    else
      fprintf(body,
              "  for (int64_t i = %lld; i < %lld; i += %d) %s(k, a + i * %lld, at, b, c + i * "
              "%lld, c_n, c_p, n, add%s%s%s%s)%s;\n",
              (long long)s.first, (long long)(s.first + count * s.rows), s.rows, name,
              (long long)s.step, (long long)(s.block ? s.block : 1), start, more, rows, map, after);
  }
  return true;
}

static bool print_rows(FILE *out, tf_micro *u, FILE *body, const char *name, int64_t m, shape s) {
  const int most = tf_micro_rows(tf_micro_of(u)->registers, s.across);
  const int64_t count = (m + most - 1) / most, more = m % count;
  shape high = s, low = s;
  low.rows = (int)(m / count);
  high.rows = low.rows + 1;
  fprintf(body,
          "\n/* %lld elements by up to %d channels */\n"
          "static void %s(int64_t k, const %s *a, const int64_t *at, const %s *b, %s *c, int64_t "
          "c_n, int64_t c_p, int64_t n,\n"
          "                int add%s%s%s",
          (long long)m, s.across * s.lanes, name, tf_micro_type(s.kernel->a),
          tf_micro_type(s.kernel->b), type_of_c(&s), more_of(&s), s.prefetches ? prefetched : "",
          says_rows(&s) ? window_rows : "");
  map_argument(body, &s);
  bool ok = true;
  for (int dense = s.row_length && !s.block && s.lanes > s.row_length; ok && dense >= 0; dense--) {
    high.dense = low.dense = dense;
    if (dense) fprintf(body, "  if (c_p == %lld) {\n", (long long)s.row_length);
    ok = run_of_tiles(out, u, body, 0, more * high.rows, high) &&
         run_of_tiles(out, u, body, more * high.rows, m, low);
    if (dense) fputs("  return;\n  }\n", body);
  }
  fputs("}\n", body);
  return ok;
}

/* Unrolled steps: of integers at least two, as gcc otherwise keeps some of the sums in memory. */
static int unrolled(const tf_micro *u, const ir_kernel *k) {
  const int steps = tf_micro_unroll(u);
  return k->c == IR_I32 && steps < 2 ? 2 : steps;
}

const char *tf_micro_channels(FILE *out, tf_micro *u, const tf_micro_rows_of *r, int panel) {
  const int lanes = tf_micro_of(u)->lanes;
  const shape s = {.across = panel / lanes,
                   .lanes = lanes,
                   .unroll = unrolled(u, r->kernel),
                   .step = r->step * r->kernel->group,
                   .a_in_memory = r->in_memory,
                   .row_length = r->joined > 1 ? r->m : 0,
                   .a_pitch = r->row_pitch,
                   .block = r->block,
                   .prefetches = r->prefetches,
                   .rounds = r->rounds,
                   .map = r->map,
                   .runs = r->k > TF_MICRO_RUN && r->kernel->a == IR_F32 && r->kernel->c == IR_F32,
                   .kernel = r->kernel,
                   .window = {r->window[0], r->window[1]},
                   .column = r->column,
                   .row = r->row};
  char name[NAME], *text = NULL;
  size_t bytes = 0;
  bool anew;
  if (r->m < 1 || s.across < 1 || ((s.rounds || s.map.name) && !tf_micro_of(u)->shuffle))
    return NULL;
  snprintf(name, sizeof name, "channels%s_%lld_by_%d", kind(r->kernel), (long long)r->m, panel);
  name_more(&s, name, sizeof name);
  if (s.row_length)
    snprintf(name + strlen(name), sizeof name - strlen(name), "_times_%lld_by_%lld",
             (long long)r->joined, (long long)r->row_pitch);
  if (s.column.size) border_name(&s.column, name, sizeof name);
  if (s.row_length && s.row.size) border_name(&s.row, name, sizeof name);
  const char *kept = tf_micro_name(u, name, &anew);
  if (!kept || !anew) return kept;
  FILE *body = open_memstream(&text, &bytes);
  bool ok = body && print_rows(out, u, body, name, s.row_length ? r->m * r->joined : r->m, s);
  ok = body && fclose(body) == 0 && ok;
  if (ok) fputs(text, out);
  free(text);
  return ok ? kept : NULL;
}
