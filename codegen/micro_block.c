/* A block product cut into tiles: panels of nearly equal width, rows of nearly equal height. */
#include <stdlib.h>
#include <string.h>

#include "codegen/micro_tile.h"

typedef struct {
  int64_t m, n;
  char name[64];
} block;

struct tf_micro {
  const tf_micro_isa *isa;
  tf_tile *tiles;
  block **blocks; /* one allocation each: their names are handed out */
  size_t n_tiles, n_blocks;
};

tf_micro *tf_micro_new(const tf_micro_isa *isa) {
  tf_micro *u = calloc(1, sizeof *u);
  if (u)
    u->isa = isa;
  return u;
}

void tf_micro_free(tf_micro *u) {
  for (size_t i = 0; u && i < u->n_blocks; i++)
    free(u->blocks[i]);
  if (u) {
    free(u->tiles);
    free(u->blocks);
  }
  free(u);
}

void tf_micro_prologue(FILE *out, const tf_micro_isa *isa) {
  fprintf(out, "#if !(%s)\n#error \"compile with %s\"\n#endif\n"
               "/* Tiles stay functions of their own: inlined where all strides are known, their sums get spilled. */\n"
               "#if defined(__GNUC__)\n#define APART __attribute__((noinline))\n#else\n#define APART\n#endif\n%s",
          isa->machine, *isa->flags ? isa->flags : "a compiler for this machine", isa->text);
}

/* `total` in `count` nearly equal parts: the first `*more` are `*size` + 1, the rest `*size`. */
static void share(int64_t total, int64_t count, int64_t *size, int64_t *more) {
  *size = total / count;
  *more = total % count;
}

static bool print_tile(FILE *out, tf_micro *u, tf_tile t) {
  for (size_t i = 0; i < u->n_tiles; i++)
    if (u->tiles[i].rows == t.rows && u->tiles[i].across == t.across && u->tiles[i].part == t.part)
      return true;
  tf_tile *grown = realloc(u->tiles, (u->n_tiles + 1) * sizeof *grown);
  if (!grown)
    return false;
  u->tiles = grown;
  u->tiles[u->n_tiles++] = t;
  tf_tile_print(out, &t);
  return true;
}

/* How a panel of that many vectors is cut into tiles of rows. */
static void cut_rows(const tf_micro *u, int64_t m, int across, int64_t *size, int64_t *more, int64_t *count) {
  int most = tf_micro_rows(u->isa->registers, across);
  *count = (m + most - 1) / most;
  share(m, *count, size, more);
}

static bool panel_tiles(FILE *out, tf_micro *u, int64_t m, int across, int part) {
  int64_t size, more, count;
  cut_rows(u, m, across, &size, &more, &count);
  return (!more || print_tile(out, u, (tf_tile){(int)size + 1, across, part})) &&
         (count == more || print_tile(out, u, (tf_tile){(int)size, across, part}));
}

static void run_of_rows(FILE *out, int64_t from, int64_t to, int64_t rows, int across, int part, const char *indent) {
  if (from == to)
    return;
  fprintf(out, "%sfor (int64_t i = %lld; i < %lld; i += %lld)\n%s  " TF_TILE_NAME
               "(k, a + i * a_m, a_m, a_k, b + j, b_k, c + i * c_m + j, c_m, add);\n",
          indent, (long long)from, (long long)to, (long long)rows, indent, (int)rows, across, part);
}

/* The rows of panels that start at columns `from`, ... before `to`, all of that width. */
static void run_of_panels(FILE *out, const tf_micro *u, int64_t m, int64_t from, int64_t to, int across, int part) {
  int64_t size, more, count;
  if (from == to)
    return;
  cut_rows(u, m, across, &size, &more, &count);
  fprintf(out, "  for (int64_t j = %lld; j < %lld; j += %d) {\n", (long long)from, (long long)to,
          across * u->isa->lanes);
  run_of_rows(out, 0, more * (size + 1), size + 1, across, part, "    ");
  run_of_rows(out, more * (size + 1), m, size, across, part, "    ");
  fputs("  }\n", out);
}

static bool print_block(FILE *out, tf_micro *u, const block *b) {
  int lanes = u->isa->lanes, rows, most, part = (int)(b->n % lanes);
  int64_t vectors = (b->n + lanes - 1) / lanes, size, more;
  tf_micro_best(u->isa->registers, &rows, &most);
  int64_t panels = (vectors + most - 1) / most;
  share(vectors, panels, &size, &more);
  /* A cut vector ends the last panel, which is one of the narrow. */
  int64_t whole = panels - (part > 0);
  if ((more && !panel_tiles(out, u, b->m, (int)size + 1, 0)) ||
      (whole > more && !panel_tiles(out, u, b->m, (int)size, 0)) ||
      (part && !panel_tiles(out, u, b->m, (int)size, part)))
    return false;
  fprintf(out, "\n/* c (%lld x %lld) = or += a b */\nstatic void %s(int64_t k, const float *a, int64_t a_m, int64_t a_k,\n"
               "    const float *b, int64_t b_k, float *c, int64_t c_m, int add) {\n",
          (long long)b->m, (long long)b->n, b->name);
  int64_t middle = more * (size + 1) * lanes, last = middle + (whole - more) * size * lanes;
  run_of_panels(out, u, b->m, 0, middle, (int)size + 1, 0);
  run_of_panels(out, u, b->m, middle, last, (int)size, 0);
  run_of_panels(out, u, b->m, last, b->n, (int)size, part);
  fputs("}\n", out);
  return true;
}

const char *tf_micro_block(FILE *out, tf_micro *u, int64_t m, int64_t n) {
  for (size_t i = 0; i < u->n_blocks; i++)
    if (u->blocks[i]->m == m && u->blocks[i]->n == n)
      return u->blocks[i]->name;
  block **grown = m < 1 || n < 1 ? NULL : realloc(u->blocks, (u->n_blocks + 1) * sizeof(block *));
  block *b = grown ? malloc(sizeof *b) : NULL;
  if (grown)
    u->blocks = grown;
  if (!b)
    return NULL;
  b->m = m;
  b->n = n;
  snprintf(b->name, sizeof b->name, "block_%lld_%lld", (long long)m, (long long)n);
  u->blocks[u->n_blocks++] = b;
  return print_block(out, u, b) ? b->name : NULL;
}
