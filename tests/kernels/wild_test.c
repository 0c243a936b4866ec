/* Random kernels on numbers of all kinds: -inf for masks, infinities, what is not a number, huge and subnormal ones,
 * scores far apart.  Emitted for each instruction set, compiled (NEON by a cross compiler, run by an emulator), and
 * held, element by element, against the workload's meaning in double. wild_test [--cases N] [--seed S] [--one SEED]
 * [--keep] [--isa NAME] [--dtype NAME] [--sanitize]: kernels of this computer are compiled with sanitizers of addresses
 * and of undefined behaviour. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/kernels/bounded.h"
#include "tests/kernels/draw.h"
#include "tests/kernels/whole.h"
#include "tileflow/emit.h"

enum { SETS = 12 }; /* of data, for each kernel */

typedef struct {
  long kernels, wrong, refused, finite, infinite, nan, unknown;
  bool keep, sanitize;
  const char *isa, *dtype;
} session;

typedef struct {
  const tf_workload *wl;
  bool half; /* inputs and outputs are bfloat16 */
  bool sanitize;
  const char *dir, *isa;
  bounded_rounding by;
} setting;

static bool have(const char *what) {
  char command[128];
  snprintf(command, sizeof command, "command -v %s >/dev/null", what);
  return system(command) == 0;
}

static bool is_input(const tf_tensor *z) { return z->producer < 0; }
static bool is_output(const tf_tensor *z) { return z->producer >= 0 && z->n_consumers == 0; }

/* ---- data ------------------------------------------------------------------------------------------------- */

static double even(tf_rng *g) { return (double)tf_rng_below(g, 2000001) / 1000000 - 1; } /* -1 to 1 */

typedef enum { NEAR, WIDE, MASK, MASK_ONE, HOLES, ENDLESS, VAST, SMALL, MIXED, DRAWS } draw_kind;

/* Element i of n, of which `row` are neighbours along the last rank. */
static double number(tf_rng *g, draw_kind kind, int64_t i, int64_t row, int64_t lead) {
  switch (kind) {
  case WIDE: return even(g) * 41.6; /* of deviation 24 */
  case MASK: return i % row < lead || tf_rng_below(g, 3) == 0 ? -INFINITY : 0;
  case MASK_ONE: return i % row == lead ? 0 : -INFINITY;
  case HOLES: return tf_rng_below(g, 40) ? even(g) : NAN;
  case ENDLESS: return tf_rng_below(g, 60) ? even(g) : tf_rng_below(g, 2) ? INFINITY : -INFINITY;
  case VAST: return even(g) * 1e36;
  case SMALL: return even(g) * 1e-39;
  case MIXED: return number(g, (draw_kind)tf_rng_below(g, MIXED), i, row, lead);
  default: return even(g);
  }
}

static float as_bf16(float v) {
  uint32_t u;
  memcpy(&u, &v, sizeof u);
  if (isnan(v)) return v;
  u = (u + 0x7fff + (u >> 16 & 1)) & 0xffff0000U;
  memcpy(&v, &u, sizeof v);
  return v;
}

/* Half of the inputs are plain, so that not all is lost to what the others have. */
static void fill(const setting *t, int z, tf_rng *g, bounded *data) {
  const tf_tensor *x = &t->wl->tensors[z];
  const int64_t n = whole_words(x), row = x->extent[x->rank - 1], lead = (int64_t)tf_rng_below(g, (uint32_t)row + 1);
  const draw_kind kind = tf_rng_below(g, 2) ? NEAR : (draw_kind)tf_rng_below(g, DRAWS);
  const draw_kind one = tf_rng_below(g, 4) == 0 ? MASK : kind; /* a row by itself */
  const int64_t which = (int64_t)tf_rng_below(g, (uint32_t)(n / row));
  for (int64_t i = 0; i < n; i++) {
    const bool masked = i / row == which && one == MASK;
    const float v = (float)number(g, masked ? MASK : kind, i, row, masked ? row : lead);
    data[i] = (bounded){t->half ? as_bf16(v) : v, 0};
    if (fabs(data[i].v) < t->by.tiny)
      data[i].e = fabs(data[i].v); /* units that multiply bfloat16 take subnormal numbers as 0 */
  }
}

static bool write_words(const setting *t, FILE *f, const bounded *data, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    const float v = (float)data[i].v;
    uint32_t u;
    memcpy(&u, &v, sizeof u);
    const uint16_t half = (uint16_t)(isnan(v) ? 0x7fc0 : u >> 16);
    if (fwrite(t->half ? (const void *)&half : &v, t->half ? sizeof half : sizeof v, 1, f) != 1) return false;
  }
  return true;
}

static bool read_word(const setting *t, FILE *f, double *v) {
  uint32_t u = 0;
  uint16_t half;
  float w;
  if (fread(t->half ? (void *)&half : &u, t->half ? sizeof half : sizeof u, 1, f) != 1) return false;
  if (t->half) u = (uint32_t)half << 16;
  memcpy(&w, &u, sizeof w);
  *v = w;
  return true;
}

/* ---- a kernel and its program -------------------------------------------------------------------------------- */

/* Arguments are pointers with the strides behind each, inputs first: their names do not matter. */
static void program(FILE *f, const setting *t) {
  int word = 0;
  fputs("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include \"kernel.h\"\nint main(void) {\n  "
        "kernel_args args;\n  void *at[64], *work;\n"
        "  memset(&args, 0, sizeof args);\n  kernel_dense(&args);\n  if (!(work = malloc(kernel_workspace()))) return "
        "2;\n",
        f);
  for (int out = 0; out < 2; out++)
    for (int z = 0; z < t->wl->n_tensors; z++) {
      const tf_tensor *x = &t->wl->tensors[z];
      if (!(out ? is_output(x) : is_input(x))) continue;
      fprintf(f, "  if (!(at[%d] = malloc(%lld))) return 2;\n  memcpy((char *)&args + %d, &at[%d], 8);\n", z,
              (long long)whole_words(x) * (t->half ? 2 : 4), 8 * word, z);
      word += x->rank > 1 ? x->rank : 1;
    }
  fprintf(f, "  for (int set = 0; set < %d; set++) {\n", SETS);
  for (int out = 0; out < 2; out++) {
    for (int z = 0; z < t->wl->n_tensors; z++) {
      const tf_tensor *x = &t->wl->tensors[z];
      if (!(out ? is_output(x) : is_input(x))) continue;
      fprintf(f, "    if (!%s(at[%d], %lld, 1, %s)) return 3;\n", out ? "fwrite" : "fread", z,
              (long long)whole_words(x) * (t->half ? 2 : 4), out ? "stdout" : "stdin");
    }
    if (!out)
      fputs("    memset(work, 0xff, kernel_workspace());\n    if (kernel(&args, work, kernel_workspace()) != "
            "kernel_done) return 4;\n",
            f);
  }
  fputs("  }\n  return 0;\n}\n", f);
}

static FILE *opened(const setting *t, const char *name, const char *how) {
  char path[160];
  snprintf(path, sizeof path, "%s/%s", t->dir, name);
  return fopen(path, how);
}

static bool closed(FILE *f, bool ok) { return f && fclose(f) == 0 && ok; }

static bool write_files(const setting *t, const tf_emitted *e) {
  bool ok = true;
  for (int i = 0; ok && i < e->n; i++) {
    FILE *f = opened(t, e->file[i].name, "w");
    ok = closed(f, f && fputs(e->file[i].text, f) >= 0);
  }
  FILE *f = opened(t, "wild.c", "w");
  if (f) program(f, t);
  return closed(f, ok);
}

/* What runs Arm's instruction sets; NULL: it is none of them. */
static const char *emulator(const char *isa) {
  return !strcmp(isa, "neon") ? "qemu-aarch64" : !strcmp(isa, "sme") ? "qemu-aarch64 -cpu max,sme512=on" : NULL;
}

static bool compile_and_run(const setting *t, uint64_t seed) {
  const bool clang = draw_lot(seed, "clang", 2) && have("clang");
  const char *arm = emulator(t->isa), *cc = arm ? "aarch64-linux-gnu-gcc -static" : clang ? "clang" : "cc";
  const char *seen = t->sanitize && !arm ? " -fsanitize=address,undefined -fno-sanitize-recover=all" : "";
  char command[1000];
  snprintf(command, sizeof command,
           "cd %s && make -s 'CC=%s' OPENMP=-fopenmp-simd 'CFLAGS=-O%d -Wall -Wextra -Wpedantic -Wno-pass-failed "
           "-Werror%s' libkernel.a >said 2>&1 && "
           "%s -O1%s -o wild wild.c libkernel.a -lm && ASAN_OPTIONS=detect_leaks=0 %s ./wild <in >out || { cat said; "
           "false; }",
           t->dir, cc, 2 + (int)draw_lot(seed, "level", 2), seen, cc, seen, arm ? arm : "");
  return system(command) == 0;
}

/* ---- holding ---------------------------------------------------------------------------------------------------- */

static void count(session *s, bounded of) {
  if (isnan(of.v))
    s->nan++;
  else if (!(of.e < INFINITY))
    s->unknown++;
  else if (isinf(of.v))
    s->infinite++;
  else
    s->finite++;
}

static bool hold_set(session *s, const setting *t, int set, bounded **data, FILE *out) {
  long wrong = 0;
  bounded_run(t->wl, &t->by, data);
  for (int z = 0; z < t->wl->n_tensors; z++) {
    const tf_tensor *x = &t->wl->tensors[z];
    for (int64_t i = 0; is_output(x) && i < whole_words(x); i++) {
      double v;
      if (!read_word(t, out, &v)) return false;
      count(s, data[z][i]);
      if (!bounded_holds(data[z][i], v) && wrong++ < 3)
        printf("# set %d, %s[%lld]: %.9g, should be %.9g within %.3g\n", set, x->name, (long long)i, v, data[z][i].v,
               data[z][i].e);
    }
  }
  return wrong == 0;
}

/* All sets: written for the program, and held against what it made. */
static bool each_set(session *s, const setting *t, uint64_t seed, bounded **data, bool held) {
  FILE *f = opened(t, held ? "out" : "in", held ? "r" : "w");
  tf_rng g = tf_rng_new(seed, 17);
  bool ok = f != NULL;
  for (int set = 0; ok && set < SETS; set++) {
    for (int z = 0; z < t->wl->n_tensors && ok; z++) {
      if (!is_input(&t->wl->tensors[z])) continue;
      fill(t, z, &g, data[z]);
      ok = held || write_words(t, f, data[z], whole_words(&t->wl->tensors[z]));
    }
    if (held && ok) ok = hold_set(s, t, set, data, f);
  }
  return closed(f, ok);
}

static bool right(session *s, const setting *t, const tf_emitted *e, uint64_t seed) {
  bounded **data = calloc((size_t)t->wl->n_tensors, sizeof *data);
  bool ok = data && write_files(t, e);
  for (int z = 0; ok && z < t->wl->n_tensors; z++)
    ok = (data[z] = calloc((size_t)whole_words(&t->wl->tensors[z]), sizeof **data)) != NULL;
  ok = ok && each_set(s, t, seed, data, false) && compile_and_run(t, seed) && each_set(s, t, seed, data, true);
  for (int z = 0; data && z < t->wl->n_tensors; z++)
    free(data[z]);
  free(data);
  return ok;
}

static bool can_run(const char *isa) {
  const bool emulated = emulator(isa) && have("qemu-aarch64") && have("aarch64-linux-gnu-gcc");
  return !strstr(isa, "vnni") && (tf_emit_runs(isa) || emulated);
}

static bool emitted_right(session *s, const drawn *c, uint64_t seed) {
  char dir[] = "/tmp/tf_wild_XXXXXX", command[64];
  const tf_emit_options o = {.isa = s->isa ? s->isa : draw_isa(seed, can_run, NULL)};
  tf_emit_options with = o;
  const bool units = !strcmp(o.isa, "avx512_bf16") || !strcmp(o.isa, "amx") || !strcmp(o.isa, "sme");
  with.dtype = s->dtype ? s->dtype : units || draw_lot(seed, "type", 5) == 0 ? "bf16" : "f32";
  const bool half = !strcmp(with.dtype, "bf16");
  setting t = {c->spec->workload,
               half,
               s->sanitize,
               dir,
               o.isa,
               {4e-7, half ? 8e-3 : 0,
                units  ? 1.3e-38
                : half ? 1e-40
                       : 3e-45,
                false, false}};
  tf_emitted *e = tf_emit_cpu(c->tree, &with, c->diags);
  for (int i = 0; e && i < e->n; i++)
    t.by.floored |= strstr(e->file[i].text, "fresh ? -3.40282347e38f") != NULL;
  const bool ok = e && mkdtemp(dir) && right(s, &t, e, seed);
  tf_emitted_free(e);
  snprintf(command, sizeof command, "rm -r %s", dir);
  if (!ok || s->keep)
    printf("# %s, %s, %s\n", o.isa, with.dtype, dir);
  else if (system(command) != 0)
    return false;
  return ok;
}

static bool one(session *s, uint64_t seed) {
  drawn c;
  draw(&c, seed);
  const bool usable = c.tree && draw_can_emit(&c);
  if (!usable)
    s->refused++;
  else if (emitted_right(s, &c, seed))
    s->kernels++;
  else if (s->wrong++ < 3)
    draw_print(&c, seed);
  draw_close(&c);
  return usable;
}

/* Of which kind a case is: drawn before its seed is, so that one that is refused makes no kind rarer. */
static uint64_t kind_of(uint64_t lot) {
  static const uint64_t kinds[] = {DRAW_STREAM, DRAW_ROWS, DRAW_SPELLED};
  const uint64_t kind = draw_lot(lot, "kind", 8);
  return kind < sizeof kinds / sizeof *kinds ? kinds[kind] : DRAW_WILD;
}

int main(int argc, char **argv) {
  session s = {0};
  const draw_plan plan = draw_options(argc, argv, 24);
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (!strcmp(argv[i], "--keep")) s.keep = true;
    if (!strcmp(argv[i], "--sanitize")) s.sanitize = true;
    if (!strcmp(argv[i], "--isa")) s.isa = value;
    if (!strcmp(argv[i], "--dtype")) s.dtype = value;
  }
  const uint64_t first = plan.seed * UINT64_C(1000000007);
  uint64_t turn = 0, at = first;
  if (plan.only) one(&s, plan.only);
  for (; !plan.only && turn < (uint64_t)plan.cases && s.refused < 10 * plan.cases; at++)
    turn += one(&s, at | kind_of(first + turn));
  printf("wild: %ld kernels right, %ld wrong; %ld mappings refused; elements: %ld finite, %ld infinite, %ld not a "
         "number, %ld that nobody can tell\n",
         s.kernels, s.wrong, s.refused, s.finite, s.infinite, s.nan, s.unknown);
  return s.wrong != 0 || s.kernels == 0;
}
