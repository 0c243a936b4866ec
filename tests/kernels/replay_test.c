/* The texts of a fixed corpus of kernels and programs, of all targets, by their hashes: what a
 * change that is to change no text must leave, and one that is meant to change some shows.
 *
 * - replay_test FILE: compares with the lines of FILE; with TF_UPDATE_GOLDEN set, writes them
 * - replay_test FILE --write DIR: writes each text into a file of DIR, too: `diff -r` of the
 * folders of two builds
 *
 * A line of FILE is a case: hash, bytes, its name.  What is drawn depends on its seed alone. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kernels/draw.h"
#include "tests/npu/draw.h"
#include "tileflow/emit.h"
#include "tileflow/tree.h"

typedef struct {
  FILE *lines;
  const char *dir; /* NULL: no texts are written */
  long cases, texts;
  bool ok;
} replay;

/* FNV-1a. */
static uint64_t hash_on(uint64_t h, const char *text) {
  for (; *text; text++)
    h = (h ^ (unsigned char)*text) * UINT64_C(1099511628211);
  return h;
}

/* A text of a case becomes part of its hash, and a file. */
static void add_text(replay *r, const char *name, const char *file, const char *text,
                     uint64_t *hash, size_t *bytes) {
  *hash = hash_on(hash_on(*hash, file), text);
  *bytes += strlen(text);
  r->texts++;
  if (!r->dir) return;
  char path[400];
  snprintf(path, sizeof path, "%.200s/%.80s-%.80s", r->dir, name, file);
  FILE *out = fopen(path, "w");
  r->ok &= out && fputs(text, out) >= 0;
  r->ok &= out && fclose(out) == 0;
}

/* One tree for one target: the files of its kernel, if it prints any, its loops, and what its
 * mapping costs there; or why not. */
static void one(replay *r, const tf_tree *tree, const char *target, const tf_emit_options *o,
                const char *name) {
  uint64_t hash = UINT64_C(14695981039346656037);
  size_t bytes = 0;
  char cost[40];
  tf_diags *d = tf_diags_new();
  tf_emitted *e = tf_emit_prints(target) ? tf_emit(tree, target, o, d) : NULL;
  for (int i = 0; e && i < e->n; i++)
    add_text(r, name, e->file[i].name, e->file[i].text, &hash, &bytes);
  char *ir = tf_emit_ir(tree, target, o, d);
  if (ir) add_text(r, name, "loops", ir, &hash, &bytes);
  snprintf(cost, sizeof cost, "%.9g\n", ir ? tf_emit_cycles(tree, target, o, d) : -1);
  add_text(r, name, "cycles", cost, &hash, &bytes);
  char *why = tf_diags_text(d);
  if (why && *why) add_text(r, name, "why", why, &hash, &bytes);
  fprintf(r->lines, "%016" PRIx64 " %7zu %s\n", hash, bytes, name);
  r->cases++;
  free(why);
  free(ir);
  tf_emitted_free(e);
  tf_diags_free(d);
}

/* ---- random trees, for CPUs and GPUs ---- */
#define KEY(key, what) key,
static const char *const isas[] = {TF_ISAS(KEY) "multi"};
static const char *const dtypes[] = {"f32", "bf16", "int8"};
#undef KEY
enum { N_ISAS = sizeof isas / sizeof *isas };

/* One case in three has choices made for the generator. */
static tf_choices choices_of(uint64_t seed) {
  tf_choices all = {{0}};
  for (int c = 0; c < TF_N_CHOICES && draw_lot(seed, "choices", 3) == 0; c++) {
    const tf_choice_row *row = tf_choice_at((tf_choice)c);
    uint64_t n = 0;
    while (row->value[n])
      n++;
    all.at[c] = (signed char)draw_lot(seed, row->name, n);
  }
  return all;
}

static void for_cpu(replay *r, const tf_tree *tree, uint64_t seed, const char *name) {
  char whole[100];
  const char *isa = isas[draw_lot(seed, "isa", N_ISAS)], *dtype = dtypes[draw_lot(seed, "type", 3)];
  const tf_emit_options o = {.isa = isa, .dtype = dtype, .choices = choices_of(seed)};
  snprintf(whole, sizeof whole, "cpu-%s-%s-%s", isa, dtype, name);
  one(r, tree, "cpu", &o, whole);
}

static void for_gpu(replay *r, const tf_tree *tree, uint64_t seed, const char *name) {
  static const struct {
    const char *isa;
    uint64_t types;
    const char *type[6];
  } chips[] = {{"sm_80", 5, {"f32", "bf16", "int8", "f16", "tf32"}},
               {"sm_90a", 6, {"f32", "bf16", "int8", "f16", "tf32", "f8"}},
               {"wmma", 2, {"bf16", "f16"}},
               {NULL, 3, {"f32", "bf16", "f16"}}};
  const size_t at = draw_lot(seed, "chip", 4);
  const char *chip = chips[at].isa,
             *dtype = chips[at].type[draw_lot(seed, "gpu type", chips[at].types)];
  const char *target = chip ? "cuda" : "opencl";
  char whole[100];
  const tf_emit_options o = {.isa = chip, .dtype = dtype};
  snprintf(whole, sizeof whole, "%s-%s-%s-%s", target, chip ? chip : "device", dtype, name);
  one(r, tree, target, &o, whole);
}

static void for_loops(replay *r, const tf_tree *tree, uint64_t seed, const char *name) {
  const char *target = draw_lot(seed, "loops", 2) ? "staged" : "model";
  char whole[100];
  snprintf(whole, sizeof whole, "%s-%s", target, name);
  one(r, tree, target, &(tf_emit_options){0}, whole);
}

/* A mapping that the target itself proposes for the case's workload, if it does. */
static void for_form(replay *r, const tf_tree *tree, uint64_t seed, const char *name) {
  char whole[100];
  const char *target = draw_lot(seed, "forms", 2) ? "cuda" : "npu";
  tf_tree *form = tf_emit_form(target, tree->arch, tree->workload, (int)draw_lot(seed, "form", 12));
  snprintf(whole, sizeof whole, "form-%s-%s", target, name);
  if (form) one(r, form, target, &(tf_emit_options){0}, whole);
  tf_tree_free(form);
}

/* `n` trees of one kind, each for a CPU, a GPU and as loops alone. */
static void trees(replay *r, const char *kind, uint64_t bit, int n) {
  for (uint64_t seed = 1; n > 0; seed++) {
    char name[60];
    drawn c;
    draw(&c, (seed * 1000000007) | bit);
    if (c.tree) {
      snprintf(name, sizeof name, "%s-%d", kind, (int)seed);
      for_cpu(r, c.tree, seed, name);
      for_gpu(r, c.tree, seed, name);
      if (n % 4 == 0) for_loops(r, c.tree, seed, name);
      for_form(r, c.tree, seed, name);
      n--;
    }
    draw_close(&c);
  }
}

/* ---- the NPU's ---- */
static void cores(replay *r, int n) {
  for (uint64_t seed = 1; n > 0; seed++) {
    static char text[8192];
    char name[60];
    draw_npu(seed, text, sizeof text);
    tf_diags *d = tf_diags_new();
    const tf_text t = {"case", text, strlen(text)};
    tf_spec *s = tf_spec_read_texts(&t, 1, NULL, 0, d);
    tf_tree *tree =
        s ? tf_tree_parse(s->mapping_text, s->mapping_at, s->arch, s->workload, d) : NULL;
    snprintf(name, sizeof name, "npu-%d", (int)seed);
    if (tree) one(r, tree, "npu", &(tf_emit_options){0}, name), n--;
    tf_tree_free(tree);
    tf_spec_free(s);
    tf_diags_free(d);
  }
}

static void all(replay *r) {
  static const struct {
    const char *name;
    uint64_t bit;
    int n;
  } kinds[] = {
      {"any", 0, 120},           {"conv", DRAW_CONV, 90},     {"rows", DRAW_ROWS, 60},
      {"wild", DRAW_WILD, 16},   {"forks", DRAW_FORKS, 16},   {"window", DRAW_WINDOW, 40},
      {"few", DRAW_FEW, 40},     {"stream", DRAW_STREAM, 60}, {"panels", DRAW_PANELS, 40},
      {"dealt", DRAW_DEALT, 16}, {"space", DRAW_SPACE, 60},   {"spelled", DRAW_SPELLED, 60}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    trees(r, kinds[i].name, kinds[i].bit, kinds[i].n);
  cores(r, 120);
}

/* ---- the file of hashes ---- */
static char *read_all(const char *path) {
  FILE *f = fopen(path, "r");
  char *text = NULL;
  size_t room = 0;
  if (!f) return NULL;
  if (getdelim(&text, &room, '\0', f) < 0) free(text), text = NULL;
  fclose(f);
  return text;
}

static bool write_all(const char *path, const char *text) {
  FILE *f = fopen(path, "w");
  const bool put = f && fputs(text, f) >= 0;
  return f && fclose(f) == 0 && put;
}

/* Lines of `a` that are not in `b`, with the sign before them; how many. */
static int lines_without(const char *a, const char *b, char sign) {
  int n = 0;
  for (const char *end; *a && (end = strchr(a, '\n')); a = end + 1) {
    char line[200];
    snprintf(line, sizeof line, "%.*s\n", (int)(end - a), a);
    if (!strstr(b, line) && n++ < 20) printf("%c %s", sign, line);
  }
  return n;
}

static int compare(const char *path, const char *got) {
  char *want = getenv("TF_UPDATE_GOLDEN") ? NULL : read_all(path);
  if (getenv("TF_UPDATE_GOLDEN")) return write_all(path, got) ? 0 : (perror(path), 1);
  if (!want) return perror(path), 1;
  const int gone = lines_without(want, got, '-'), come = lines_without(got, want, '+');
  free(want);
  if (gone + come)
    printf("%d texts are others than in %s.  To see them: `replay_test %s --write DIR` of both "
           "builds, and diff -r.  If they are meant to be others: TF_UPDATE_GOLDEN=1\n",
           come, path, path);
  return gone + come > 0;
}

int main(int argc, char **argv) {
  if (argc < 2 || (argc == 4 && strcmp(argv[2], "--write") != 0))
    return fputs("replay_test FILE [--write DIR]\n", stderr), 2;
  char *got = NULL;
  size_t size = 0;
  replay r = {.lines = open_memstream(&got, &size), .dir = argc == 4 ? argv[3] : NULL, .ok = true};
  if (!r.lines) return perror("replay_test"), 1;
  all(&r);
  if (fclose(r.lines) != 0 || !r.ok) return perror("replay_test"), 1;
  const int status = compare(argv[1], got);
  printf("replay: %ld cases, %ld texts\n", r.cases, r.texts);
  free(got);
  return status;
}
