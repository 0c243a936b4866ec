/* A block product cut into register tiles: panels of nearly equal width, rows of nearly equal
 * height. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "codegen/intrin/tile.h"

enum { LINE_BYTES = 64 }; /* of a cache line */

typedef struct {
  const tf_micro_kernel *kernel;
  int lanes;
  int64_t m, n;
  bool rounds, prefetches;
  tf_micro_map map;
  const tf_micro_ahead *ahead; /* rows that the tiles of the first panel also compute; NULL: none */
  char name[96];
} block;

struct tf_micro {
  const tf_micro_isa *isa;
  const tf_micro_source *source;
  int across, unroll; /* across: 0: the generator's own */
  tf_tile *tiles;
  block **blocks; /* one allocation each, as their names are handed out */
  char **names;   /* of other functions, one allocation each */
  size_t n_tiles, n_blocks, n_names;
};

tf_micro *tf_micro_new(const tf_micro_isa *isa, const tf_micro_source *source,
                       const tf_choices *choices) {
  static const int unrolls[] = {1, 2, 4};
  tf_micro *u = calloc(1, sizeof *u);
  if (u) {
    u->isa = isa;
    u->source = source;
    u->across = choices ? tf_micro_across(choices) : 0;
    u->unroll = choices ? unrolls[(int)choices->at[TF_CHOICE_UNROLL]] : 1;
  }
  return u;
}

void tf_micro_free(tf_micro *u) {
  for (size_t i = 0; u && i < u->n_blocks; i++)
    free(u->blocks[i]);
  for (size_t i = 0; u && i < u->n_names; i++)
    free(u->names[i]);
  if (u) {
    free(u->names);
    free(u->tiles);
    free(u->blocks);
  }
  free(u);
}

int tf_micro_lanes(const tf_micro *u) { return u->isa->lanes; }
int tf_micro_unroll(const tf_micro *u) { return u->unroll; }

void tf_micro_prologue(FILE *out, const tf_micro_isa *isa) {
  fprintf(out,
          "#if !(%s)\n#error \"compile with %s\"\n#endif\n"
          "/* Tiles stay functions of their own: inlined where all strides are known, their sums "
          "get spilled. */\n"
          "#if defined(__GNUC__)\n#define APART __attribute__((noinline))\n"
          "#define FETCH(p, writes) __builtin_prefetch((const void *)(p), writes)\n"
          "#else\n#define APART\n#define FETCH(p, writes) ((void)(p))\n#endif\n%senum { LANES = ",
          isa->machine, *isa->flags ? isa->flags : "a compiler for this machine",
          isa->headers ? isa->headers : "");
  if (isa->lanes_of)
    fputs(isa->lanes_of, out);
  else
    fprintf(out, "%d", isa->lanes);
  fprintf(out, " };\n%s", isa->text);
  fputs("#if !defined(FMA_TO) /* c += x b */\n#define FMA_TO(c, x, b) ((c) = vec_fma(x, b, c))\n"
        "#define LEAVE(d, c) const vec d = (c)\n#endif\n",
        out);
  fprintf(
      out,
      "enum { ADDS = 1, FAR_A = 2, FAR_C = 4, FILLS = 8 };\n"
      "/* Rows to be prefetched: they come from afar, and no stream tells the machine where a row "
      "ends. */\n"
      "static inline void fetch_rows(uintptr_t from, int64_t step, int64_t rows, int64_t bytes) {\n"
      "  for (int64_t i = 0; i < rows; i++)\n"
      "    for (int64_t j = 0; j < bytes; j += %d) FETCH(from + (uintptr_t)(i * step + j), 0);\n"
      "}\n",
      LINE_BYTES);
  tf_prefetch_text(out);
}

const tf_micro_isa *tf_micro_of(const tf_micro *u) { return u->isa; }

/* Divides `total` into `count` nearly equal parts: the first `*more` have `*size` + 1, the others
 * `*size`. */
static void share(int64_t total, int64_t count, int64_t *size, int64_t *more) {
  *size = total / count;
  *more = total % count;
}

bool tf_micro_tile(FILE *out, tf_micro *u, tf_tile t) {
  for (size_t i = 0; i < u->n_tiles; i++) {
    const tf_tile *o = &u->tiles[i];
    if (o->kernel == t.kernel && o->rows == t.rows && o->across == t.across && o->part == t.part &&
        o->rounds == t.rounds && o->map.name == t.map.name && o->prefetches == t.prefetches &&
        o->lays == t.lays)
      return true;
  }
  if (!TF_GROW(u->tiles, u->n_tiles)) return false;
  u->tiles[u->n_tiles++] = t;
  if (t.kernel->form == TF_MICRO_TILES)
    tf_amx_print(out, &t);
  else if (t.kernel->form == TF_MICRO_OUTER)
    tf_sme_print(out, &t);
  else
    tf_tile_print(out, &t, NULL);
  return true;
}

/* The same for a tile that also computes rows. */
static bool print_ahead(FILE *out, tf_micro *u, tf_tile t, const tf_micro_ahead *ahead) {
  char tile[64], name[128];
  bool anew;
  tf_tile_name(&t, tile);
  snprintf(name, sizeof name, "%.60s_%s", ahead->name, tile);
  if (!tf_micro_name(u, name, &anew)) return false;
  if (anew) tf_tile_print(out, &t, ahead);
  return true;
}

/* How the rows of a panel of `across` vectors are cut into tiles. */
static void cut_rows(const tf_micro *u, const block *b, int across, int64_t *size, int64_t *more,
                     int64_t *count) {
  const int most =
      tf_micro_rows(u->isa->registers, across) * (b->kernel->form == TF_MICRO_SQUARES ? 2 : 1);
  *count = (b->m + most - 1) / most;
  share(b->m, *count, size, more);
}

static tf_tile tile_of(const tf_micro *u, const block *b, int rows, int across, int part) {
  return (tf_tile){.kernel = b->kernel,
                   .lanes = b->lanes,
                   .rows = rows,
                   .across = across,
                   .part = part,
                   .rounds = b->rounds,
                   .map = b->map,
                   .mm = u->isa->shuffle,
                   .unroll = u->unroll,
                   .prefetches = b->prefetches};
}

static bool panel_tiles(FILE *out, tf_micro *u, const block *b, int64_t from, int64_t to,
                        int across, int part) {
  int64_t size, more, count;
  bool ok = true;
  cut_rows(u, b, across, &size, &more, &count);
  for (int high = more ? 1 : 0; from < to && ok && high >= (count == more ? 1 : 0); high--) {
    const tf_tile t = tile_of(u, b, (int)size + high, across, part);
    const bool first = from == 0 && b->ahead, others = from > 0 || to > (int64_t)across * b->lanes;
    ok = (!first || print_ahead(out, u, t, b->ahead)) &&
         ((first && !others) || tf_micro_tile(out, u, t));
  }
  return ok;
}

/* Prefetches around the tile's call, rather than in its body, which would keep all the addresses in
 * registers that the sums need.  The lines of c are prefetched if the tile writes without reading
 * them; the first panel prefetches the rows of a for the next tile, after the last one those of the
 * next block. */
static void run_of_rows(FILE *out, int64_t from, int64_t to, const tf_tile *t, bool first) {
  char name[64], column[32] = "j";
  const ir_kernel *k = &t->kernel->kernel;
  const int c_bytes = ir_bytes(tf_tile_stores(t));
  if (from == to) return;
  tf_tile_name(t, name);
  if (k->group > 1) snprintf(column, sizeof column, "j * %d", k->group);
  fprintf(out, "    for (int64_t i = %lld; i < %lld; i += %d) {\n", (long long)from, (long long)to,
          t->rows);
  if (first)
    fprintf(out,
            "      if (j == 0 && add & FAR_A) fetch_rows((uintptr_t)a + (uintptr_t)((i + %d) * a_m "
            "* %d), a_m * %d, %d, k * %d);\n",
            t->rows, ir_bytes(k->a), ir_bytes(k->a), t->rows, k->group * ir_bytes(k->a));
  fprintf(out,
          "      if ((add & (ADDS | FAR_C)) == FAR_C) fetch_rows((uintptr_t)(c + i * c_m + j), c_m "
          "* %d, %d, %d);\n",
          c_bytes, t->rows, t->across * t->lanes * c_bytes);
  if (t->prefetches) fputs("      prefetch_next(&prefetch);\n", out);
  if (tf_tile_in_runs(t))
    fprintf(out,
            "      for (int64_t p = 0; p < k; p += run)\n"
            "        %s(k - p < run ? k - p : run, a + i * a_m + p * a_k, a_m, a_k, b + p * b_k + "
            "j, b_k, c + i * c_m + j, c_m, (add & ADDS) | (p > 0)%s);\n"
            "    }\n",
            name,
            t->prefetches ? ", prefetch.from + (uintptr_t)p * prefetch.each, prefetch.each" : "");
  else
    fprintf(
        out,
        "      %s(k, a + i * a_m, a_m, a_k, b + %s, b_k, c + i * c_m + j, c_m, add & ADDS%s%s);\n"
        "    }\n",
        name, column, t->prefetches ? ", prefetch.from, prefetch.each" : "",
        t->map.name ? ", map, i, j" : "");
}

/* The first panel, where each tile computes the rows of a for the next one.  `after`: rows of the
 * next tile after `to`. */
static void run_of_ahead(FILE *out, int64_t from, int64_t to, const tf_tile *t,
                         const tf_micro_ahead *ahead, int after) {
  const int c_bytes = ir_bytes(t->rounds ? t->kernel->kernel.leaves : IR_F32);
  char name[64];
  if (from == to) return;
  tf_tile_name(t, name);
  fprintf(out, "  for (int64_t i = %lld; i < %lld; i += %d) {\n", (long long)from, (long long)to,
          t->rows);
  fprintf(out,
          "    if ((add & (ADDS | FAR_C)) == FAR_C) fetch_rows((uintptr_t)(c + i * c_m), c_m * %d, "
          "%d, %d);\n",
          c_bytes, t->rows, t->across * t->lanes * c_bytes);
  if (t->prefetches) fputs("    prefetch_next(&prefetch);\n", out);
  fprintf(out,
          "    %s_%s(k, a + i * a_m, a_m, a_k, b, b_k, c + i * c_m, c_m, add & ADDS%s, of, i + %d, "
          "i + %d + (i + %d < %lld ? %d : %d));\n"
          "  }\n",
          ahead->name, name, t->prefetches ? ", prefetch.from, prefetch.each" : "", t->rows,
          t->rows, t->rows, (long long)to, t->rows, after);
}

/* All rows of the panels that start at columns `from`, ... before `to`, which have the same width.
 */
static void run_of_panels(FILE *out, const tf_micro *u, const block *b, int64_t from, int64_t to,
                          int across, int part) {
  int64_t size, more, count;
  if (from == to) return;
  cut_rows(u, b, across, &size, &more, &count);
  const tf_tile high = tile_of(u, b, (int)size + 1, across, part),
                low = tile_of(u, b, (int)size, across, part);
  const int64_t border = more * (size + 1);
  if (b->ahead && from == 0) {
    fprintf(out, "  %s_rows(of, 0, %d);\n", b->ahead->name, more ? high.rows : low.rows);
    run_of_ahead(out, 0, border, &high, b->ahead, border < b->m ? low.rows : 0);
    run_of_ahead(out, border, b->m, &low, b->ahead, 0);
    from += (int64_t)across * b->lanes;
    if (from >= to) return;
  }
  fprintf(out, "  for (int64_t j = %lld; j < %lld; j += %d) {\n", (long long)from, (long long)to,
          across * b->lanes);
  run_of_rows(out, 0, border, &high, from == 0);
  run_of_rows(out, border, b->m, &low, from == 0);
  fputs("  }\n", out);
}

/* AMX: 2 x 2 tiles, fewer at the end of the block. */
static bool print_amx(FILE *out, tf_micro *u, const block *b) {
  enum { SIDE = 16 };
  for (int rows = 1; rows <= 2; rows++)
    for (int across = 1; across <= 2; across++) {
      bool down = rows == 2 ? b->m > SIDE : (b->m + SIDE - 1) / SIDE % 2,
           right = across == 2 ? b->n > SIDE : (b->n + SIDE - 1) / SIDE % 2;
      const tf_tile t = {.kernel = b->kernel,
                         .lanes = b->lanes,
                         .rows = rows,
                         .across = across,
                         .rounds = b->rounds,
                         .unroll = 1};
      if (down && right && !tf_micro_tile(out, u, t)) return false;
    }
  tf_amx_block(out, b->kernel, b->name, b->m, b->n, b->rounds);
  return true;
}

static bool print_outer(FILE *out, tf_micro *u, const block *b) {
  const int side = b->kernel->lanes;
  int across[2];
  tf_sme_across(b->kernel, b->n, across);
  for (int i = 0; i < 2; i++) {
    const tf_tile t = {
        .kernel = b->kernel, .lanes = side, .rows = side, .across = across[i], .unroll = 1};
    if (across[i] && !tf_micro_tile(out, u, t)) return false;
  }
  tf_sme_block(out, b->kernel, b->name, (int64_t[2]){b->m, b->n});
  return true;
}

static int64_t tiles_of(const tf_micro *u, const block *b, int64_t panels, int64_t size,
                        int64_t more) {
  int64_t ignored, rest, wide = 0, narrow = 0;
  if (more) cut_rows(u, b, (int)size + 1, &ignored, &rest, &wide);
  if (panels > more) cut_rows(u, b, (int)size, &ignored, &rest, &narrow);
  return more * wide + (panels - more) * narrow;
}

static bool print_block(FILE *out, tf_micro *u, const block *b) {
  if (b->kernel->form == TF_MICRO_TILES) return print_amx(out, u, b);
  if (b->kernel->form == TF_MICRO_OUTER) return print_outer(out, u, b);
  const ir_kernel *kernel = &b->kernel->kernel;
  const tf_tile any = tile_of(u, b, 1, 1, 0);
  int lanes = b->lanes, part = (int)(b->n % lanes);
  int64_t vectors = (b->n + lanes - 1) / lanes,
          panels = tf_micro_panels(u->isa->registers, vectors, u->across), size, more;
  share(vectors, panels, &size, &more);
  /* the last panel is a narrow one if it has a partial vector */
  int64_t whole = panels - (part > 0), middle = more * (size + 1) * lanes,
          last = middle + (whole - more) * size * lanes;
  if (!panel_tiles(out, u, b, 0, middle, (int)size + 1, 0) ||
      !panel_tiles(out, u, b, middle, last, (int)size, 0) ||
      !panel_tiles(out, u, b, last, b->n, (int)size, part))
    return false;
  fprintf(out,
          "\n/* c (%lld x %lld) = or += a b%s */\n"
          "static void %s(int64_t k, const %s *a, int64_t a_m, int64_t a_k,\n"
          "    const %s *b, int64_t b_k, %s *c, int64_t c_m, int add%s",
          (long long)b->m, (long long)b->n, b->ahead ? ", and a's rows before they are read" : "",
          b->name, tf_micro_type(kernel->a), tf_micro_type(kernel->b),
          tf_micro_type(tf_tile_stores(&any)),
          b->prefetches ? ", const far_rows *far, int64_t boxes" : "");
  if (b->ahead) fprintf(out, ", const %s *of", b->ahead->name);
  if (b->map.name) fprintf(out, ", const %s *map", b->map.name);
  fputs(") {\n", out);
  if (!b->kernel->prefix && *u->source->ask) {
    fprintf(out,
            "  if (k > %d) { /* the library adds up all that it is given in one sum */\n"
            "    for (int64_t p = 0; p < k; p += %d)\n"
            "      %s(k - p < %d ? k - p : %d, a + p * a_k, a_m, a_k, b + p * b_k, b_k, c, c_m, "
            "add | (p > 0)%s);\n"
            "    return;\n  }\n",
            TF_MICRO_RUN, TF_MICRO_RUN, b->name, TF_MICRO_RUN, TF_MICRO_RUN,
            b->prefetches ? ", far, p ? 0 : boxes" : "");
    fprintf(out, u->source->ask, (long long)b->n, (long long)b->m);
  }
  if (b->prefetches)
    fprintf(out, "  prefetching prefetch = prefetch_from(far, boxes, %lld, k);\n",
            (long long)tiles_of(u, b, panels, size, more));
  if (tf_tile_in_runs(&any))
    fprintf(out,
            "  const int64_t runs = (k + %d) / %d, run = runs > 1 ? (k + runs - 1) / runs : k;\n"
            "  (void)run;\n",
            TF_MICRO_RUN - 1, TF_MICRO_RUN);
  run_of_panels(out, u, b, 0, middle, (int)size + 1, 0);
  run_of_panels(out, u, b, middle, last, (int)size, 0);
  run_of_panels(out, u, b, last, b->n, (int)size, part);
  fputs("}\n", out);
  return true;
}

const char *tf_micro_block(FILE *out, tf_micro *u, const ir_kernel *kernel, int64_t m, int64_t n,
                           bool prefetches, bool rounds) {
  const tf_micro_kernel *k = tf_micro_kernel_of(kernel);
  for (size_t i = 0; i < u->n_blocks; i++)
    if (u->blocks[i]->kernel == k && u->blocks[i]->m == m && u->blocks[i]->n == n &&
        u->blocks[i]->prefetches == prefetches && u->blocks[i]->rounds == rounds)
      return u->blocks[i]->name;
  block *b = k && m >= 1 && n >= 1 && TF_GROW(u->blocks, u->n_blocks) ? malloc(sizeof *b) : NULL;
  if (!b) return NULL;
  *b = (block){.kernel = k,
               .lanes = k->lanes ? k->lanes : u->isa->lanes,
               .m = m,
               .n = n,
               .rounds = rounds,
               .prefetches = prefetches};
  snprintf(b->name, sizeof b->name, "block_%s%s%lld_%lld%s%s", k->prefix ? kernel->name : "",
           k->prefix ? "_" : "", (long long)m, (long long)n, rounds ? "_rounds" : "",
           prefetches ? "_prefetches" : "");
  u->blocks[u->n_blocks++] = b;
  return print_block(out, u, b) ? b->name : NULL;
}

const char *tf_micro_block_map(FILE *out, tf_micro *u, const ir_kernel *kernel,
                               const int64_t size[2], bool prefetches, tf_micro_map map) {
  const tf_micro_kernel *k = tf_micro_kernel_of(kernel);
  block b = {.kernel = k,
             .lanes = k->lanes ? k->lanes : u->isa->lanes,
             .m = size[0],
             .n = size[1],
             .prefetches = prefetches,
             .map = map};
  bool anew;
  if (!(b.map.name = tf_micro_name(u, map.name, &anew))) return NULL; /* tiles keep it */
  snprintf(b.name, sizeof b.name, "block_%s_%lld_%lld_%.16s%s", kernel->name, (long long)b.m,
           (long long)b.n, map.name, prefetches ? "_prefetches" : "");
  const char *name = b.m < 1 || b.n < 1 ? NULL : tf_micro_name(u, b.name, &anew);
  if (!name || !anew) return name;
  return print_block(out, u, &b) ? name : NULL;
}

/* Whether all rows must be computed beforehand. A library wants them so. AMX tiles, too: while they
 * multiply, and for some hundred cycles after, a core has one port for 512-bit multiply-adds
 * instead of two, so that computing rows of exp meanwhile takes longer than doing both in turn. */
static bool rows_before(FILE *out, tf_micro *u, const block *b) {
  const ir_kernel *k = &b->kernel->kernel;
  const char *plain = tf_micro_block(out, u, k, b->m, b->n, b->prefetches, b->rounds);
  if (plain)
    fprintf(out,
            "\n"
            "static void %s(int64_t k, const %s *a, int64_t a_m, int64_t a_k, const %s *b, int64_t "
            "b_k,\n"
            "    %s *c, int64_t c_m, int add%s, const %s *of) {\n"
            "  %s_rows(of, 0, %lld);\n  %s(k, a, a_m, a_k, b, b_k, c, c_m, add%s);\n}\n",
            b->name, tf_micro_type(k->a), tf_micro_type(k->b),
            tf_micro_type(b->rounds ? k->leaves : k->c),
            b->prefetches ? ", const far_rows *far, int64_t boxes" : "", b->ahead->name,
            b->ahead->name, (long long)b->m, plain, b->prefetches ? ", far, boxes" : "");
  return plain != NULL;
}

const char *tf_micro_block_ahead(FILE *out, tf_micro *u, const ir_kernel *kernel,
                                 const int64_t size[2], bool prefetches, bool rounds,
                                 const tf_micro_ahead *ahead) {
  const int64_t m = size[0], n = size[1];
  const tf_micro_kernel *k = tf_micro_kernel_of(kernel);
  block b = {.kernel = k,
             .lanes = k->lanes ? k->lanes : u->isa->lanes,
             .m = m,
             .n = n,
             .prefetches = prefetches,
             .rounds = rounds,
             .ahead = ahead};
  bool anew;
  snprintf(b.name, sizeof b.name, "%.40s_%lld_%lld%s%s", ahead->name, (long long)m, (long long)n,
           rounds ? "_rounds" : "", prefetches ? "_prefetches" : "");
  const char *name = m < 1 || n < 1 ? NULL : tf_micro_name(u, b.name, &anew);
  if (!name || !anew) return name;
  const bool before = tf_micro_in_tiles(k) || (!k->prefix && *u->source->ask);
  return (before ? rows_before(out, u, &b) : print_block(out, u, &b)) ? name : NULL;
}

const char *tf_micro_name(tf_micro *u, const char *name, bool *anew) {
  *anew = false;
  for (size_t i = 0; i < u->n_names; i++)
    if (!strcmp(u->names[i], name)) return u->names[i];
  char *copy = TF_GROW(u->names, u->n_names) ? strdup(name) : NULL;
  *anew = copy != NULL;
  if (copy) u->names[u->n_names++] = copy;
  return copy;
}
