/* One register tile: c += a b with all of c in registers, as C text over the operations of
 * codegen/intrin/isa.c. */
#include <string.h>

#include "codegen/intrin/tile.h"

int tf_micro_rows(int registers, int across) {
  int rows = (registers - across - 1) / across;
  return rows > 14 ? 14 : rows < 1 ? 1 : rows;
}

void tf_micro_best(int registers, int *rows, int *across) {
  *rows = *across = 1;
  for (int n = 1; 3 * n + 2 <= registers; n++) {
    int m = (registers - n - 2) / n / 2 * 2;
    if ((long)m * n * (*rows + *across) > (long)*rows * *across * (m + n)) {
      *rows = m;
      *across = n;
    }
  }
}

/* Loads per row and step of k: one of a for each panel, and those of b, which all rows of a tile
 * share. */
static double loads(int registers, int64_t vectors, int64_t panels) {
  const int64_t narrow = vectors / panels, wider = vectors % panels;
  double sum = (double)panels;
  if (wider) sum += (double)(wider * (narrow + 1)) / tf_micro_rows(registers, (int)narrow + 1);
  return sum + (double)((panels - wider) * narrow) / tf_micro_rows(registers, (int)narrow);
}

int tf_micro_across(const tf_choices *c) {
  static const int across[] = {0, 1, 2, 3, 4, 6};
  return across[(int)c->at[TF_CHOICE_TILE]];
}

int64_t tf_micro_panels(int registers, int64_t vectors, int across) {
  int rows, most;
  if (across) return (vectors + across - 1) / across;
  tf_micro_best(registers, &rows, &most);
  const int64_t best = (vectors + most - 1) / most, fewer = (vectors + most) / (most + 1);
  return loads(registers, vectors, fewer) < 0.95 * loads(registers, vectors, best)
             ? fewer
             : best; /* for a smaller gain the last register is not worth it */
}

enum { ROWS_A_POINTER = 4 };

int tf_tile_step(const tf_tile *t) { return t->kernel->form == TF_MICRO_SQUARES ? 2 : 1; }

void tf_tile_name(const tf_tile *t, char *name) {
  const char *kernel = t->kernel->prefix ? t->kernel->kernel.name : "";
  const char *beside = t->lays ? "_lays" : t->prefetches ? "_prefetches" : "";
  char every[16] = "";
  if (t->lays || t->prefetches > 1)
    snprintf(every, sizeof every, "%d", t->lays ? t->lays : t->prefetches);
  snprintf(name, 64, "tile_%.20s%s%d_%d_%d%s%s%s%s%.16s", kernel, *kernel ? "_" : "", t->rows,
           t->across, t->part, t->rounds ? "_rounds" : "", beside, every, t->map.name ? "_" : "",
           t->map.name ? t->map.name : "");
}

ir_type tf_tile_stores(const tf_tile *t) {
  const ir_kernel *k = &t->kernel->kernel;
  return t->map.name ? t->map.type : t->rounds ? k->leaves : k->c;
}

bool tf_tile_in_runs(const tf_tile *t) {
  const ir_kernel *k = &t->kernel->kernel;
  return !t->rounds && k->a == IR_F32 && k->b == IR_F32 && t->kernel->form == TF_MICRO_VECTORS;
}

/* Declares where rows of a are, and the correction for the 128 added to a, which is stored after b.
 */
static void declare(FILE *out, const tf_tile *t) {
  const bool excess = t->kernel->kernel.lifts;
  if (excess)
    fputs("  const int32_t *const excess = (const int32_t *)(const void *)(b + k * b_k);\n", out);
  for (int i = ROWS_A_POINTER; i < t->rows; i += ROWS_A_POINTER)
    fprintf(out, "  const %s *a%d = a + %d * a_m;\n", tf_micro_type(t->kernel->kernel.a), i, i);
}

/* Sets the sums to 0; `type`: declares them. */
static void zero_sums(FILE *out, const tf_tile *t, bool type) {
  const char *sums = t->kernel->sums;
  for (int i = 0; i < t->rows; i += tf_tile_step(t))
    for (int j = 0; j < t->across; j++)
      fprintf(out, "  %s%sc%d_%d = %s_zero();\n", type ? sums : "", type ? " " : "", i, j, sums);
}

static bool cut(const tf_tile *t, int j) { return j == t->across - 1 && t->part; }

static void load_b(FILE *out, const tf_tile *t, int j) {
  const char *prefix = t->kernel->prefix ? t->kernel->prefix : "vec";
  const bool part = cut(t, j) && t->kernel->kernel.group == 1;
  fprintf(out, "    const %s%s b%d = %s_load%s(b + %d", prefix, t->kernel->prefix ? "s" : "", j,
          prefix, part ? "_part" : "", j * t->lanes * t->kernel->kernel.group);
  if (part) fprintf(out, ", %d", t->part);
  fputs(");\n", out);
}

/* Where row i of a is: from the pointer to one of the rows above it. */
static void row_of_a(FILE *out, int i) {
  const int base = i / ROWS_A_POINTER * ROWS_A_POINTER;
  if (base)
    fprintf(out, "a%d[%d * a_m]", base, i - base);
  else
    fprintf(out, "a[%d * a_m]", i);
}

/* A register that holds two rows has the last one twice where their number is odd. */
static void take_a(FILE *out, const tf_tile *t, int i) {
  const char *prefix = t->kernel->prefix;
  if (prefix)
    fprintf(out, "    const %ss x%d = %s_%s(&", prefix, i, prefix,
            t->kernel->kernel.lifts ? "lift" : "splat");
  else
    fprintf(out, "    const vec x%d = vec_splat(", i);
  row_of_a(out, i);
  if (tf_tile_step(t) == 2) fputs(", &", out), row_of_a(out, i + 1 < t->rows ? i + 1 : i);
  fputs(");\n", out);
}

/* One group of k; prefetches: it prefetches a line. */
static void step(FILE *out, const tf_tile *t, bool prefetches) {
  const char *prefix = t->kernel->prefix;
  for (int j = 0; j < t->across; j++)
    load_b(out, t, j);
  for (int i = 0; i < t->rows; i += tf_tile_step(t)) {
    take_a(out, t, i);
    for (int j = 0; j < t->across; j++)
      fprintf(out, "    c%d_%d = %s_%s(x%d, b%d, c%d_%d);\n", i, j, prefix ? prefix : "vec",
              prefix ? "add" : "fma", i, j, i, j);
  }
  if (prefetches) fputs("    PREFETCH(prefetch);\n    prefetch += each;\n", out);
  fputs("    a += a_k;\n    b += b_k;\n", out);
  for (int i = ROWS_A_POINTER; i < t->rows; i += ROWS_A_POINTER)
    fprintf(out, "    a%d += a_k;\n", i);
}

/* Lays one row of the next panel side by side, or the rows of a group, and prefetches one that far
 * behind it. */
static void lay_row(FILE *out, const tf_tile *t, const char *open) {
  enum { LINE_BYTES = 64, AHEAD = 48 }; /* steps of k, in which a line arrives from memory */
  const ir_kernel *k = &t->kernel->kernel;
  const int wide = t->across * t->lanes, bytes = ir_bytes(k->b),
            ahead = AHEAD / t->lays > 1 ? AHEAD / t->lays : 2;
  fputs(open, out);
  if (k->group == 1)
    for (int j = 0; j < t->across; j++)
      fprintf(out, "    vec_store(to + %d, vec_load(from + %d));\n", j * t->lanes, j * t->lanes);
  else
    fprintf(out, "    bf16_pairs_of_bf16(to, from, from + from_k, %d);\n", wide);
  for (int g = 0; g < k->group; g++)
    for (int at = 0; at <= wide * bytes; at += LINE_BYTES) /* rows need not begin with a line */
      fprintf(out, "    PREFETCH((uintptr_t)from + (uintptr_t)(%d * from_k) + %d);\n",
              (k->group * ahead + g) * bytes, at < wide * bytes ? at : wide * bytes - 1);
  fprintf(out, "    from += %d * from_k, to += %d;\n  }\n", k->group, k->group * wide);
}

/* Steps of k with one row laid beside each `lays` of them. */
static void steps_beside(FILE *out, const tf_tile *t) {
  fprintf(out, "  for (; rows > 0 && k >= %d; rows--, k -= %d) {\n", t->lays, t->lays);
  lay_row(out, t, "  {\n");
  fprintf(out, "  for (int i = 0; i < %d; i++) {\n", t->lays);
  step(out, t, false);
  fputs("  }\n  }\n", out);
}

/* Register i, j is loaded from c, or stored: `what`, with `value`. */
static void in_c(FILE *out, const tf_tile *t, const char *what, int i, int j, const char *value) {
  const char *of = !strcmp(what, "round") ? t->kernel->prefix : t->kernel->sums;
  const bool squares = tf_tile_step(t) == 2;
  fprintf(out, "%s_%s%s(c + %d * c_m + %d", of, what,
          squares     ? "_square"
          : cut(t, j) ? "_part"
                      : "",
          i, j * t->lanes);
  if (squares) fputs(", c_m", out);
  if (*value) fprintf(out, ", %s", value);
  if (squares)
    fprintf(out, ", %d, %d", t->rows - i < 2 ? 1 : 2, cut(t, j) ? t->part : t->lanes);
  else if (cut(t, j))
    fprintf(out, ", %d", t->part);
  fputs(")", out);
}

static void add_to_c(FILE *out, const tf_tile *t) {
  fputs("  if (add & ADDS) {\n", out);
  for (int i = 0; i < t->rows; i += tf_tile_step(t))
    for (int j = 0; j < t->across; j++) {
      fprintf(out, "    c%d_%d = %s_add(", i, j, t->kernel->sums);
      in_c(out, t, "load", i, j, "");
      fprintf(out, ", c%d_%d);\n", i, j);
    }
  fputs("  }\n", out);
}

/* Added last: sums that begin with it would wait for it, and for copies of it in each row. */
static void add_excess(FILE *out, const tf_tile *t) {
  const char *sums = t->kernel->sums;
  for (int i = 0; i < t->rows; i += tf_tile_step(t))
    for (int j = 0; j < t->across; j++)
      fprintf(out, "  c%d_%d = %s_add(c%d_%d, %s_load(excess + %d));\n", i, j, sums, i, j, sums,
              j * t->lanes);
}

/* The map of the sums goes to c. */
static void leave_as_map(FILE *out, const tf_tile *t) {
  const char *const name = t->map.name;
  fprintf(out, "  const %s of = *map;\n  (void)add;\n", name);
  for (int i = 0; i < t->rows; i++)
    for (int j = 0; j < t->across; j++) {
      const int column = j * t->lanes;
      fprintf(out,
              "  %s_store%s(&of, c + %d * c_m + %d, %s_cvtepi32_ps(c%d_%d), row + %d, column + %d",
              name, cut(t, j) ? "_part" : "", i, column, t->mm, i, j, i, column);
      if (cut(t, j)) fprintf(out, ", %d", t->part);
      fputs(");\n", out);
    }
}

/* The sums go to c, or are added to what is there. */
static void leave(FILE *out, const tf_tile *t) {
  char sum[32];
  if (t->kernel->kernel.lifts) add_excess(out, t);
  if (t->map.name) {
    leave_as_map(out, t);
    return;
  }
  if (t->rounds)
    fputs("  (void)add;\n", out);
  else
    add_to_c(out, t);
  for (int i = 0; i < t->rows; i += tf_tile_step(t))
    for (int j = 0; j < t->across; j++) {
      snprintf(sum, sizeof sum, "c%d_%d", i, j);
      fputs("  ", out), in_c(out, t, t->rounds ? "round" : "store", i, j, sum), fputs(";\n", out);
    }
}

/* Computes all rows before k ends: a row has words / lanes vectors, and `steps` times the rows of a
 * tile is at most the number of lanes, of which each group of k computes some.  Where a step takes
 * too long for that, they are computed before it begins. */
static void rows_beside(FILE *out, const tf_tile *t, const tf_micro_ahead *h) {
  const int steps = t->lanes / t->kernel->kernel.group / t->rows;
  const long long run = h->words / t->lanes * steps;
  fprintf(out, "  if (from < to) {\n%s  }\n  for (int64_t i = from; i < to; i++) {\n%s", h->begin,
          h->open);
  fprintf(out, "  int64_t %s = 0;\n  for (; %s + LANES <= %lld; %s += LANES) {\n", h->place,
          h->place, (long long)h->words, h->place);
  for (int s = 0; s < steps; s++) {
    fputs("    {\n", out);
    step(out, t, t->prefetches);
    fputs("    }\n", out);
  }
  fprintf(out, "%s  }\n  k -= %lld;\n%s", h->vector, run, h->close);
  if (tf_tile_in_runs(t)) {
    fprintf(out, "  if ((run += %lld) >= %d) {\n", run, TF_MICRO_RUN);
    leave(out, t), zero_sums(out, t, false);
    fputs("  add = ADDS, run = 0;\n  }\n", out);
  }
  fputs("  }\n", out);
}

/* As many steps of k as the variable says. */
static void steps(FILE *out, const tf_tile *t, const char *k) {
  const int unroll = t->prefetches > t->unroll ? t->prefetches : t->unroll;
  if (unroll > 1) {
    fprintf(out, "  for (; %s >= %d; %s -= %d) {\n", k, unroll, k, unroll);
    for (int i = 0; i < unroll; i++) {
      fputs("    {\n", out);
      step(out, t, t->prefetches && i % t->prefetches == 0);
      fputs("    }\n", out);
    }
    fputs("  }\n", out);
  }
  fprintf(out, "  for (; %s > 0; %s--) {\n", k, k);
  step(out, t, t->prefetches == 1);
  fputs("  }\n", out);
}

/* Rows that are computed beside take the first steps of k, then run after run of the others follow.
 */
static void runs_ahead(FILE *out, const tf_tile *t, const tf_micro_ahead *ahead) {
  fputs("  int64_t run = 0;\n", out);
  zero_sums(out, t, true);
  rows_beside(out, t, ahead);
  fprintf(out, "  do {\n  int64_t left = k + run > %d ? %d - run : k;\n  k -= left;\n",
          TF_MICRO_RUN, TF_MICRO_RUN);
  steps(out, t, "left");
  leave(out, t), zero_sums(out, t, false);
  fputs("  add = ADDS, run = 0;\n  } while (k > 0);\n}\n", out);
}

void tf_tile_print(FILE *out, const tf_tile *t, const tf_micro_ahead *ahead) {
  char name[64];
  const ir_kernel *k = &t->kernel->kernel;
  tf_tile_name(t, name);
  fprintf(
      out,
      "\nstatic APART void %s%s%s(int64_t k, const %s *a, int64_t a_m, int64_t a_k, const %s *b,\n"
      "                        int64_t b_k, %s *c, int64_t c_m, int add%s",
      ahead ? ahead->name : "", ahead ? "_" : "", name, tf_micro_type(k->a), tf_micro_type(k->b),
      tf_micro_type(tf_tile_stores(t)),
      t->prefetches ? ", uintptr_t prefetch, uintptr_t each" : "");
  if (t->lays)
    fprintf(out, ", const %s *from, int64_t from_k, %s *to, int64_t rows", tf_micro_type(k->b),
            tf_micro_type(k->b));
  if (ahead) fprintf(out, ", const %s *of, int64_t from, int64_t to", ahead->name);
  if (t->map.name) fprintf(out, ", const %s *map, int64_t row, int64_t column", t->map.name);
  fputs(") {\n", out);
  declare(out, t);
  if (ahead && tf_tile_in_runs(t)) {
    runs_ahead(out, t, ahead);
    return;
  }
  zero_sums(out, t, true);
  if (ahead) rows_beside(out, t, ahead);
  if (t->lays) steps_beside(out, t);
  steps(out, t, "k");
  if (t->lays) lay_row(out, t, "  for (; rows > 0; rows--) {\n");
  leave(out, t);
  fputs("}\n", out);
}

/* `total`: reduces a vector's lanes to one; `rest`: adds one more element. */
static void row_text(FILE *out, const char *name, const char *op, const char *none,
                     const char *total, const char *rest) {
  fprintf(out,
          "static inline float row_%s(const float *x, int64_t n) {\n"
          "  vec a = vec_splat(%s), b = a, c = a, d = a;\n"
          "  int64_t i = 0;\n"
          "  for (; n - i >= 4 * LANES; i += 4 * LANES) {\n"
          "    a = %s(vec_load(x + i), a);\n"
          "    b = %s(vec_load(x + i + LANES), b);\n"
          "    c = %s(vec_load(x + i + 2 * LANES), c);\n"
          "    d = %s(vec_load(x + i + 3 * LANES), d);\n"
          "  }\n"
          "  for (; n - i >= LANES; i += LANES) a = %s(vec_load(x + i), a);\n"
          "  float all = %s(%s(%s(a, b), %s(c, d)));\n",
          name, none, op, op, op, op, op, total, op, op, op);
  fprintf(out, "  for (; i < n; i++) all = %s;\n  return all;\n}\n", rest);
}

void tf_micro_rows_text(FILE *out, int lanes) {
  row_text(out, "sum_of_run", "vec_add", "0.0f", "vec_sum", "all + x[i]");
  fprintf(out,
          "static inline float row_sum(const float *x, int64_t n) {\n"
          "  double all = 0;\n"
          "  for (; n > %d * LANES; n -= %d * LANES, x += %d * LANES) all += row_sum_of_run(x, %d "
          "* LANES);\n"
          "  return (float)(all + row_sum_of_run(x, n));\n}\n",
          4 * TF_MICRO_RUN, 4 * TF_MICRO_RUN, 4 * TF_MICRO_RUN, 4 * TF_MICRO_RUN);
  row_text(out, "max", "vec_max", "-INFINITY", "vec_most", "greater(x[i], all)");
  row_text(out, "min", "vec_min", "INFINITY", "vec_least", "smaller(x[i], all)");
  fputs("static inline vec vec_keep(vec v, vec other, int n) {\n"
        "  float lane[LANES];\n"
        "  vec_store(lane, other);\n"
        "  vec_store_part(lane, v, n);\n"
        "  return vec_load(lane);\n}\n",
        out);
  if (lanes > 1)
    fputs("#include <string.h>\n"
          "static inline vec vec_whole_part(const int32_t *p, int n) {\n"
          "  int32_t lane[LANES] = {0};\n"
          "  memcpy(lane, p, (size_t)n * sizeof *p);\n"
          "  return vec_whole(lane);\n}\n",
          out);
}
