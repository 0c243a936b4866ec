/* Random cases of all kinds (kind_of): emitted, compiled with warnings as errors, run, and held
 * against double. Instruction set, type, choices, compiler and sanitizers are drawn of the case's
 * seed, each by itself: --one SEED is the same case again. emit_test [--cases N] [--seed S] [--one
 * SEED] [--keep] [--isa NAME] [--dtype NAME] [--names]
 * [--text] [--avx512] [--panels] [--pinned]
 * --names: tensors, dims and ops are called what C, C++ or the kernel itself call something;
 * kernel.h is compiled as C++, too.
 * --text: each case is emitted for every instruction set, those that this computer cannot run among
 * them, and nothing is compiled: what the builds with asserts and sanitizers are to see of the
 * generator.
 * --panels: products of two inputs alone, of which the second may be laid out once for many calls.
 * --thin: products that skip zeros alone.  --spelled: softmaxes spelled in any way alone.
 * --divided: indices with / and % alone.  --homes: inputs and outputs that live in inner memories,
 * for the most part.
 * --laid: arguments of all cases in another order, or in blocks.
 * --target cuda (in its emulation), opencl: the same for them, where they have kernels.
 * --pinned: of the seed the workload and the mapping alone: the generator's own choices, compiled
 * by cc with sanitizers.
 * --tcc: by hand, many at once: the portable kernel by tcc, which compiles in no time and optimizes
 * nothing.
 * --avx512: its instruction sets, and AMX, in plain C, on a computer that has AVX2 but not them;
 * else skipped. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "tests/kernels/draw.h"
#include "tests/kernels/hostile.h"
#include "tileflow/emit.h"
#include "tileflow/tree.h"

typedef struct {
  long equal, wrong, refused, packed, blocked, prefetches, ahead, windows, merged, places, few,
      streams, once, offered, thin, handed, cut, unable;
  bool keep, clang, gcc, cpp, xsmm, shown, text, plain, panels, thinned, spelled, divided, homes,
      tcc, pinned, laid;
  const char *isa, *dtype; /* NULL: drawn */
  const char *target;      /* cuda, opencl; NULL: cpu */
  uint64_t seed;
  hostile *names; /* NULL: as they are drawn */
} session;

static bool have(const char *what) {
  char command[128];
  snprintf(command, sizeof command, "command -v %s >/dev/null", what);
  return system(command) == 0;
}

static bool write_files(const tf_emitted *e, const char *dir) {
  char path[128];
  for (int i = 0; i < e->n; i++) {
    snprintf(path, sizeof path, "%s/%s", dir, e->file[i].name);
    FILE *f = fopen(path, "w");
    if (!f || fputs(e->file[i].text, f) < 0 || fclose(f) != 0) return false;
  }
  return true;
}

/* Instruction sets that a computer with AVX2 alone runs in plain C: tests/kernels/x86. */
static bool in_plain_c(const char *isa) {
  return (!strncmp(isa, "avx512", 6) || !strcmp(isa, "amx")) && !tf_emit_runs("avx512") &&
         tf_emit_runs("avx2");
}

/* AMX, where there is none, in an emulation: tests/kernels/amx_emulation.h. */
static bool without_tiles(const char *isa) {
  return !strcmp(isa, "amx") && !tf_emit_runs(isa) &&
         (tf_emit_runs("avx512_bf16") || in_plain_c(isa));
}

static bool can_run(const char *isa) {
  return tf_emit_runs(isa) || (without_tiles(isa) && !in_plain_c(isa));
}

/* Whether kernels of the set run here at all, if need be in plain C, for which SIMDe has to be
 * installed. */
static bool can_run_named(const char *isa) {
  return in_plain_c(isa) ? access("/usr/include/simde/x86/avx512.h", R_OK) == 0 : can_run(isa);
}

/* "multi": of which its test takes each. */
static const char *isa_of(const session *s, uint64_t seed) {
  if (s->tcc) return "portable";
  if (s->isa) return s->isa;
  if (s->plain) return draw_isa(seed, in_plain_c, NULL);
  if (draw_lot(seed, "the widest lanes", 8) == 0 && tf_emit_runs("avx512")) return "avx512";
  return draw_isa(seed, can_run, tf_emit_runs("sse2") ? "multi" : NULL);
}

/* Those that have units for a type get that type more often. */
static const char *dtype_of(const char *isa, uint64_t seed) {
  static const char *const all[] = {"f32", "bf16", "int8", "f32"};
  if (strstr(isa, "vnni")) return "int8";
  const bool units = !strcmp(isa, "avx512_bf16") || !strcmp(isa, "amx");
  return units ? all[1 + draw_lot(seed, "type of units", 2)] : all[draw_lot(seed, "type", 4)];
}

static bool tcc_runs(const char *dir) {
  char command[256];
  snprintf(command, sizeof command,
           "cd %s && tcc -o t test.c kernel.c $(ls laid.c 2>/dev/null) -lm >said 2>&1 && ./t "
           ">>said 2>&1 || { cat said; false; }",
           dir);
  return system(command) == 0;
}

static const char warnings[] = "-Wall -Wextra -Wno-unknown-pragmas -Wno-pass-failed -Werror";

/* Whether gcc compiles the kernel at -O2, the level at which most build, without a warning: it has
 * some that clang, sanitizers and other levels have not. */
static bool gcc_is_silent(const char *dir) {
  char command[512];
  snprintf(command, sizeof command,
           "make -s -C %s CC=gcc OPENMP=-fopenmp 'CFLAGS=-O2 %s' libkernel.a && rm %s/*.o "
           "%s/libkernel.a",
           dir, warnings, dir, dir);
  return system(command) == 0;
}

static bool compile_and_run(const session *s, const char *dir, const char *isa, uint64_t seed) {
  char command[1024], flags[512], here[256];
  if (s->tcc) return tcc_runs(dir);
  const bool sanitized = s->pinned || draw_lot(seed, "sanitized", 5) == 0;
  const char *cc = !s->pinned && s->clang && draw_lot(seed, "clang", 2) ? "clang" : "cc";
  if (!getcwd(here, sizeof here)) return false;
  const bool threads = strcmp(cc, "clang") != 0 && (s->pinned || draw_lot(seed, "threads", 3) == 0);
  const char *openmp = threads ? "OPENMP=-fopenmp" : "OPENMP=-fopenmp-simd";
  snprintf(flags, sizeof flags, "%s %s",
           sanitized ? "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all" : "-O2",
           warnings);
  if (s->gcc && (sanitized || !strcmp(cc, "clang")) && !gcc_is_silent(dir)) return false;
  const bool tiles = without_tiles(isa) ||
                     (!strcmp(isa, "multi") && tf_emit_runs("avx512") && without_tiles("amx"));
  if (tiles || in_plain_c(isa)) { /* as it is, it must at least compile */
    snprintf(command, sizeof command,
             "make -s -C %s CC=%s '%s' 'CFLAGS=%s' libkernel.a && rm %s/*.o", dir, cc, openmp,
             flags, dir);
    if (system(command) != 0) return false;
  }
  size_t n = strlen(flags);
  if (tiles)
    snprintf(flags + n, sizeof flags - n, " -include %.200s/tests/kernels/amx_emulation.h", here);
  char emulation[300] = "";
  if (in_plain_c(isa))
    snprintf(emulation, sizeof emulation, "sh %.200s/tests/kernels/x86/cc.sh ", here);
  snprintf(command, sizeof command,
           "make -s -C %s 'CC=%s%s' '%s' 'CFLAGS=%s' test >%s/said 2>&1 || { cat %s/said; false; }",
           dir, emulation, cc, openmp, flags, dir, dir);
  return system(command) == 0;
}

static bool holds(const tf_emitted *e, const char *text) {
  bool any = false;
  for (int i = 0; e && i < e->n; i++)
    any |= !strncmp(e->file[i].name, "kernel", 6) && strstr(e->file[i].text, text);
  return any;
}

/* Whether some product's lanes run along channels: arguments can be packed beforehand; whether what
 * stands between two has channels in blocks. */
static bool packs(const tf_emitted *e) { return holds(e, "static void pack("); }
static bool blocks(const tf_emitted *e) { return holds(e, "in_block("); }
/* Whether panels are prefetched. */
static bool prefetches(const tf_emitted *e) { return holds(e, "uintptr_t ahead = "); }
/* Whether a product makes rows that it reads. */
static bool makes_ahead(const tf_emitted *e) { return holds(e, "const ahead0 *of"); }

/* Whether a sum goes over a window in lanes; whether rows of a product may be one. */
static bool windows(const tf_emitted *e) { return holds(e, "const lanes all = "); }
static bool merges(const tf_emitted *e) { return holds(e, "const int whole = 1"); }

/* Identifiers of the kernel as it is become names for the next. */
static void gather(hostile *h, const tf_emitted *e) {
  for (int i = 0; e && i < e->n; i++)
    if (strstr(e->file[i].name, ".c") || strstr(e->file[i].name, ".h"))
      hostile_gather(h, e->file[i].text);
}

static bool header_is_cpp(const char *dir) {
  char command[300];
  snprintf(command, sizeof command,
           "echo '#include \"%s/kernel.h\"' | c++ -x c++ -std=gnu++17 -Wall -Wextra -Wpedantic "
           "-Werror -fsyntax-only -",
           dir);
  return system(command) == 0;
}

static void count_text(session *s, const tf_emitted *e) {
  s->packed += packs(e);
  s->blocked += blocks(e);
  s->prefetches += prefetches(e);
  s->ahead += makes_ahead(e);
  s->windows += windows(e);
  s->merged += merges(e);
  s->places += holds(e, "const int64_t place = ");
  s->few += holds(e, ": few rows */");
  s->streams += holds(e, ", which streams past */");
  s->offered += holds(e, "static void offer(");
  s->thin += holds(e, "that are not zero by rows of");
  s->once += holds(e, "_of = NULL;\n    for (") || holds(e, "_of = NULL;\n  for (");
}

/* One case in three makes random choices for the generator. */
static tf_choices choices_of(uint64_t seed) {
  tf_choices all = {{0}};
  tf_rng rng = tf_rng_new(seed, 0x63686f69);
  const bool any = draw_lot(seed, "choices", 3) == 0;
  for (int c = 0; any && c < TF_N_CHOICES; c++) {
    uint32_t n = 0;
    while (tf_choice_at((tf_choice)c)->value[n])
      n++;
    all.at[c] = (signed char)tf_rng_below(&rng, n);
  }
  return all;
}

static bool emitted_equal(session *s, const tf_tree *tree, tf_diags *d, uint64_t seed) {
  char dir[] = "/tmp/tf_emit_XXXXXX", command[64];
  tf_emit_options o = {.isa = isa_of(s, seed)};
  o.dtype = s->dtype ? s->dtype : dtype_of(o.isa, seed);
  if (!s->pinned) {
    o.micro = s->xsmm && draw_lot(seed, "micro", 7) == 0 ? "libxsmm" : NULL;
    o.choices = choices_of(seed);
  }
  tf_emitted *e = tf_emit_cpu(tree, &o, d);
  if (s->names) {
    gather(s->names, e);
    tf_emitted_free(e);
    hostile_rename(s->names, (tf_workload *)tree->workload);
    e = tf_emit_cpu(tree, &o, d);
  }
  bool ok = e && mkdtemp(dir) && write_files(e, dir) && compile_and_run(s, dir, o.isa, seed);
  ok = ok && (!s->names || !s->cpp || header_is_cpp(dir));
  if (ok) count_text(s, e);
  tf_emitted_free(e);
  snprintf(command, sizeof command, "rm -r %s", dir);
  if (!ok || s->keep)
    printf("# %s, %s, %s, %s\n", o.isa, o.dtype, o.micro ? o.micro : "own", dir);
  else
    ok = system(command) == 0;
  return ok;
}

/* Emits the case for a GPU, if it can be, and runs it: CUDA's in the emulation. */
static bool emulated_equal(session *s, const tf_tree *tree, uint64_t seed) {
  static const char *const all[] = {"f32", "bf16", "f16", "int8"};
  char dir[] = "/tmp/tf_emit_XXXXXX", command[160];
  tf_diags *d = tf_diags_new();
  const tf_emit_options o = {.dtype = s->dtype ? s->dtype : all[draw_lot(seed, "type", 4)]};
  tf_emitted *e = tf_emit(tree, s->target, &o, d);
  s->unable += !e;
  bool ok = !e || (mkdtemp(dir) && write_files(e, dir));
  snprintf(command, sizeof command, "make -s -C %s %s >%s.txt || { cat %s.txt; false; }", dir,
           strcmp(s->target, "cuda") ? "test" : "emulate CXXFLAGS=-O0", dir, dir);
  ok = ok && (!e || system(command) == 0);
  snprintf(command, sizeof command, "rm -r %s %s.txt", dir, dir);
  if (!ok || (e && s->keep))
    printf("# %s, %s, %s\n", s->target, o.dtype, dir);
  else
    ok = !e || system(command) == 0;
  tf_emitted_free(e);
  tf_diags_free(d);
  return ok;
}

/* A part at a place drawn of those so far. */
static void put_part(tf_rng *g, tf_laid *l, tf_laid_part part) {
  const int at = (int)tf_rng_below(g, (uint32_t)l->n + 1);
  l->parts[l->n++] = l->parts[at];
  l->parts[at] = part;
}

/* Draws in which order the ranks of each tensor lie in each memory, and which are cut in blocks, of
 * one element to more than there are. */
static void draw_layouts(tf_rng *g, const tf_workload *wl, tf_laids *laid) {
  *laid = (tf_laids){0, calloc((size_t)wl->n_tensors + 1, sizeof *laid->list)};
  for (int z = 0; z < wl->n_tensors && laid->list; z++) {
    const tf_tensor *t = &wl->tensors[z];
    const bool cuts = tf_rng_below(g, 2) == 0;
    tf_laid *l = &laid->list[laid->n];
    *l = (tf_laid){.tensor = {.name = t->known_as ? t->known_as : t->name}};
    l->parts = calloc(2 * (size_t)t->rank + 2, sizeof *l->parts);
    if (!l->parts) return;
    for (int r = 0; r < t->rank; r++) {
      const bool cut = cuts && tf_rng_below(g, 2) == 0;
      const int64_t most = t->extent[r] < 20 ? t->extent[r] + 1 : 20,
                    by = cut ? 1 + tf_rng_below(g, (uint32_t)most) : 1;
      put_part(g, l, (tf_laid_part){r, cut ? TF_LAYOUT_DIV : TF_LAYOUT_WHOLE, by});
      if (cut) put_part(g, l, (tf_laid_part){r, TF_LAYOUT_MOD, by});
    }
    laid->n++;
  }
}

static bool any_in_blocks(const tf_handed *h) {
  bool any = false;
  for (int z = 0; z < h->workload->n_tensors; z++) {
    const tf_laid *l = tf_layout_of(h->arch, &h->workload->tensors[z]);
    any |= l && l->n > h->workload->tensors[z].rank;
  }
  return any;
}

/* One case in six hands its arguments over with their ranks in another order, or in blocks. */
static bool handed_equal(session *s, const tf_tree *tree, tf_diags *d, uint64_t seed) {
  tf_arch a = *tree->arch;
  tf_rng g = tf_rng_new(seed, 0x6c616964);
  a.memories = calloc((size_t)a.n_memories, sizeof *a.memories);
  if (!a.memories) return false;
  memcpy(a.memories, tree->arch->memories, (size_t)a.n_memories * sizeof *a.memories);
  for (int l = 0; l < a.n_memories; l++)
    draw_layouts(&g, tree->workload, &a.memories[l].laid);
  tf_handed *h = tf_handed_new(&a, tree->workload);
  tf_tree *copy = h ? tf_tree_copy(tree, h->arch, h->workload, d) : NULL;
  const bool ok =
      copy && (s->target ? emulated_equal(s, copy, seed) : emitted_equal(s, copy, d, seed));
  s->handed += h && h->n > 0;
  s->cut += h && any_in_blocks(h);
  tf_tree_free(copy);
  tf_handed_free(h);
  for (int l = 0; l < a.n_memories; l++) {
    for (int i = 0; i < a.memories[l].laid.n; i++)
      free(a.memories[l].laid.list[i].parts);
    free(a.memories[l].laid.list);
  }
  free(a.memories);
  return ok;
}

/* Emits the case for every instruction set, without looking at the text: what is held is that
 * nothing breaks. */
static bool emitted_for_all(session *s, const tf_tree *tree, tf_diags *d, uint64_t seed) {
#define KEY(key, what) key,
  static const char *const all[] = {TF_ISAS(KEY) "multi"};
  bool ok = true;
  for (size_t i = 0; ok && i < sizeof all / sizeof *all; i++) {
    const uint64_t own = draw_lot(seed, all[i], UINT64_MAX);
    const tf_emit_options o = {
        .isa = all[i], .dtype = dtype_of(all[i], own), .choices = choices_of(own)};
    tf_emitted *e = tf_emit_cpu(tree, &o, d);
    ok = e && e->n > 0;
    if (ok) count_text(s, e);
    tf_emitted_free(e);
  }
  return ok;
}

static bool in_another_order(const session *s, const drawn *c, uint64_t seed) {
  return !s->pinned && !tf_arch_lines(c->spec->arch) &&
         (s->laid || (!s->names && draw_lot(seed, "handed", 6) == 0));
}

/* False where the case's mapping was refused, and another is to be drawn. */
static bool one(session *s, uint64_t seed) {
  drawn c;
  draw(&c, seed);
  bool usable = c.tree && draw_can_emit(&c);
  if (!usable && s->shown) draw_print(&c, seed);
  if (!usable)
    s->refused++;
  else if (s->text                         ? emitted_for_all(s, c.tree, c.diags, seed)
           : in_another_order(s, &c, seed) ? handed_equal(s, c.tree, c.diags, seed)
                                           : emitted_equal(s, c.tree, c.diags, seed))
    s->equal++;
  else if (s->wrong++ < 3)
    draw_print(&c, seed);
  draw_close(&c);
  return usable;
}

/* Of which kind a case is: drawn before its seed is, so that one that is refused makes no kind
 * rarer. */
static uint64_t kind_of(const session *s, uint64_t lot) {
  static const uint64_t sevenths[] = {DRAW_PANELS, DRAW_STREAM, DRAW_FEW, DRAW_DEALT, 0, 0, 0};
  static const uint64_t others[] = {DRAW_CONV,  DRAW_CONV,  DRAW_ROWS, DRAW_ROWS, DRAW_WINDOW,
                                    DRAW_FORKS, DRAW_SPACE, 0,         0,         0};
  if (s->panels) return DRAW_PANELS;
  if (s->thinned) return DRAW_THIN;
  if (s->divided) return DRAW_DIVIDED;
  if (s->spelled || draw_lot(lot, "spelled", 5) == 0) return DRAW_SPELLED;
  if (s->text && draw_lot(lot, "wild", 8) == 0) return DRAW_WILD;
  if (draw_lot(lot, "divided", 10) == 0) return DRAW_DIVIDED;
  if (s->homes || draw_lot(lot, "homes", 12) == 0) return DRAW_HOMES;
  if (draw_lot(lot, "thin", 12) == 0) return DRAW_THIN;
  const uint64_t kind = sevenths[draw_lot(lot, "kind", 7)];
  return kind ? kind : others[draw_lot(lot, "other kind", sizeof others / sizeof *others)];
}

/* A chain of 67 exponentials, all infinite from the fifth on: the emitted test must not call what
 * is the same wrong. */
#define OVERFLOWS UINT64_C(990004006930364)

int main(int argc, char **argv) {
  session s = {.clang = have("clang"),
               .gcc = have("gcc"),
               .cpp = have("c++"),
               .xsmm = system("echo '#include <libxsmm.h>' | cc -E - >/dev/null 2>&1") == 0};
  if (!s.xsmm) puts("SKIP: --micro libxsmm: no libxsmm here");
  static hostile names; /* large */
  const draw_plan plan = draw_options(argc, argv, 50);
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (!strcmp(argv[i], "--keep")) s.keep = true;
    if (!strcmp(argv[i], "--text")) s.text = true;
    if (!strcmp(argv[i], "--panels")) s.panels = true;
    if (!strcmp(argv[i], "--thin")) s.thinned = true;
    if (!strcmp(argv[i], "--spelled")) s.spelled = true;
    if (!strcmp(argv[i], "--divided")) s.divided = true;
    if (!strcmp(argv[i], "--homes")) s.homes = true;
    if (!strcmp(argv[i], "--pinned")) s.pinned = true;
    if (!strcmp(argv[i], "--laid")) s.laid = true;
    if (!strcmp(argv[i], "--tcc")) s.tcc = true, s.xsmm = false;
    if (!strcmp(argv[i], "--avx512")) s.plain = true;
    if (!strcmp(argv[i], "--names"))
      hostile_begin(s.names = &names), s.xsmm = false; /* names do not reach its part */
    if (!strcmp(argv[i], "--target")) s.target = value, s.laid = true;
    if (!strcmp(argv[i], "--isa")) s.isa = value;
    if (!strcmp(argv[i], "--dtype")) s.dtype = value;
  }
  if (s.plain && !in_plain_c("avx512")) return puts("SKIP: AVX-512 is here, or AVX2 is not"), 77;
  const char *named = s.plain ? "avx512" : s.isa;
  if (named && !can_run_named(named))
    return puts(in_plain_c(named) ? "SKIP: no SIMDe, by which AVX-512 runs in plain C"
                                  : "SKIP: an instruction set that does not run here"),
           77;
  if (s.names && !s.cpp) puts("SKIP: kernel.h as C++: no c++ here");
  const uint64_t first = plan.seed * UINT64_C(1000000007);
  uint64_t turn = 0, at = first;
  s.shown = plan.show;
  if (plan.only) one(&s, plan.only);
  if (!plan.only && !s.isa && !s.panels && !s.thinned && !s.spelled && !s.divided && !s.names &&
      !s.plain && !s.text && !s.target)
    one(&s, OVERFLOWS);
  for (; !plan.only && turn < (uint64_t)plan.cases; at++)
    turn += one(&s, at | kind_of(&s, first + turn));
  printf(
      "emit: %ld kernels right, %ld wrong; %ld mappings refused; lanes along channels in %ld, "
      "in blocks in %ld, prefetched in %ld, rows ahead in %ld, windows in %ld, rows as one in "
      "%ld, panels in places in %ld, few rows in %ld, b in passing in %ld, rows copied once in "
      "%ld, b laid out once if asked in %ld, zeros skipped in %ld, arguments in another order in "
      "%ld, in blocks in %ld\n",
      s.equal, s.wrong, s.refused, s.packed, s.blocked, s.prefetches, s.ahead, s.windows, s.merged,
      s.places, s.few, s.streams, s.once, s.offered, s.thin, s.handed, s.cut);
  if (s.target) printf("%s: %ld of them have no kernel\n", s.target, s.unable);
  if (s.names) printf("%d names of %d\n", names.at, names.n), hostile_end(&names);
  return s.wrong != 0 || s.equal == 0;
}
