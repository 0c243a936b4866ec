/* Random kernels on numbers of all kinds: -inf for masks, infinities, what is not a number, huge
 * and subnormal ones, scores far apart.  Emitted for each instruction set, compiled (NEON by a
 * cross compiler, run by an emulator), and held, element by element, against the workload's meaning
 * in double. wild_test [--cases N] [--seed S] [--one SEED]
 * [--keep] [--isa NAME] [--dtype NAME] [--kind NAME] [--sanitize]: kernels of this computer alone,
 * with sanitizers of addresses and of undefined behaviour, by -O1: by -O2 some take twice as long
 * to compile, and what is looked for is in the text. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codegen/ir/ir.h"
#include "tests/kernels/bounded.h"
#include "tests/kernels/draw.h"
#include "tests/kernels/whole.h"
#include "tileflow/emit.h"
#include "tileflow/tree.h"

enum { SETS = 12 }; /* of data, for each kernel */

typedef struct {
  long kernels, wrong, shown, refused, finite, infinite, nan, unknown, right[16]; /* by kind */
  bool keep, sanitize;
  const char *isa, *dtype;
} session;

typedef struct {
  const tf_workload *wl;
  ir_type data; /* of inputs and outputs; IR_I8: of those that are bytes, and the others are what
                   kernels hold them as */
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

static ir_type type_of(const setting *t, int z) {
  return t->data == IR_I8 ? ir_type_held(t->wl, z) : t->data;
}

static int64_t bytes_of(const setting *t, int z) {
  const ir_type type = type_of(t, z);
  return whole_words(&t->wl->tensors[z]) * ir_bytes(type);
}

/* ---- data ----------------------------------------------------------------------------------- */

static double even(tf_rng *g) {
  return (double)tf_rng_below(g, 2000001) / 1000000 - 1;
} /* -1 to 1 */

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

/* Whole numbers of a tensor of bytes, within what the workload promises; one in three at an end. */
static void fill_bytes(const tf_tensor *x, tf_rng *g, bounded *data) {
  const int64_t least = x->ranged    ? x->least
                        : x->no_sign ? 0
                                     : INT8_MIN,
                most = x->ranged ? x->most : least + UINT8_MAX;
  for (int64_t i = 0; i < whole_words(x); i++) {
    const int64_t any = least + (int64_t)tf_rng_below(g, (uint32_t)(most - least + 1));
    const uint32_t where = tf_rng_below(g, 6);
    data[i] = (bounded){(double)(where == 0 ? least : where == 1 ? most : any), 0};
  }
}

/* Half of the inputs are plain (in one set of three, all of them), so that not all is lost to what
 * the others have. */
static void fill(const setting *t, int z, tf_rng *g, bool plain, bounded *data) {
  const tf_tensor *x = &t->wl->tensors[z];
  if (x->word_bits <= 8) {
    fill_bytes(x, g, data);
    return;
  }
  const int64_t n = whole_words(x), row = x->extent[x->rank - 1],
                lead = (int64_t)tf_rng_below(g, (uint32_t)row + 1);
  const draw_kind kind = plain || tf_rng_below(g, 2) ? NEAR : (draw_kind)tf_rng_below(g, DRAWS);
  const draw_kind one = !plain && tf_rng_below(g, 4) == 0 ? MASK : kind; /* a row by itself */
  const int64_t which = (int64_t)tf_rng_below(g, (uint32_t)(n / row));
  for (int64_t i = 0; i < n; i++) {
    const bool masked = i / row == which && one == MASK;
    const float v = (float)number(g, masked ? MASK : kind, i, row, masked ? row : lead);
    data[i] = (bounded){t->data == IR_BF16 ? as_bf16(v) : v, 0};
    if (fabs(data[i].v) < t->by.tiny)
      data[i].e = fabs(data[i].v); /* units that multiply bfloat16 take subnormal numbers as 0 */
  }
}

static bool write_words(const setting *t, FILE *f, int z, const bounded *data) {
  const ir_type type = type_of(t, z);
  for (int64_t i = 0; i < whole_words(&t->wl->tensors[z]); i++) {
    const float v = (float)data[i].v;
    uint32_t u;
    memcpy(&u, &v, sizeof u);
    const uint16_t half = (uint16_t)(isnan(v) ? 0x7fc0 : u >> 16);
    const unsigned char byte = ir_is_byte(type) ? (unsigned char)(int)v : 0;
    const void *at = ir_is_byte(type)  ? (const void *)&byte
                     : type == IR_BF16 ? (const void *)&half
                                       : &v;
    if (fwrite(at, (size_t)ir_bytes(type), 1, f) != 1) return false;
  }
  return true;
}

static bool read_word(ir_type type, FILE *f, double *v) {
  unsigned char byte[4] = {0};
  int32_t whole;
  uint32_t u;
  uint16_t half;
  float w;
  if (fread(byte, (size_t)ir_bytes(type), 1, f) != 1) return false;
  memcpy(&u, byte, sizeof u);
  memcpy(&half, byte, sizeof half);
  memcpy(&whole, byte, sizeof whole);
  if (type == IR_BF16) u = (uint32_t)half << 16;
  memcpy(&w, &u, sizeof w);
  *v = type == IR_U8    ? byte[0]
       : type == IR_I8  ? (signed char)byte[0]
       : type == IR_I32 ? whole
                        : (double)w;
  return true;
}

/* ---- a kernel and its program --------------------------------------------------------------- */

/* Arguments are pointers with the strides behind each, inputs first: their names do not matter. */
static void program(FILE *f, const setting *t) {
  int word = 0;
  fputs("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
        "#include \"kernel.h\"\nint main(void) {\n  kernel_args args;\n"
        "  void *at[64], *work;\n"
        "  memset(&args, 0, sizeof args);\n  kernel_dense(&args);\n"
        "  if (!(work = malloc(kernel_workspace()))) return 2;\n",
        f);
  for (int out = 0; out < 2; out++)
    for (int z = 0; z < t->wl->n_tensors; z++) {
      const tf_tensor *x = &t->wl->tensors[z];
      if (!(out ? is_output(x) : is_input(x))) continue;
      fprintf(
          f,
          "  if (!(at[%d] = malloc(%lld))) return 2;\n  memcpy((char *)&args + %d, &at[%d], 8);\n",
          z, (long long)bytes_of(t, z), 8 * word, z);
      word += x->rank > 1 ? x->rank : 1;
    }
  fprintf(f, "  for (int set = 0; set < %d; set++) {\n", SETS);
  for (int out = 0; out < 2; out++) {
    for (int z = 0; z < t->wl->n_tensors; z++) {
      const tf_tensor *x = &t->wl->tensors[z];
      if (!(out ? is_output(x) : is_input(x))) continue;
      fprintf(f, "    if (!%s(at[%d], %lld, 1, %s)) return 3;\n", out ? "fwrite" : "fread", z,
              (long long)bytes_of(t, z), out ? "stdout" : "stdin");
    }
    if (!out)
      fputs("    memset(work, 0xff, kernel_workspace());\n"
            "    if (kernel(&args, work, kernel_workspace()) != kernel_done) return 4;\n",
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
  return !strcmp(isa, "neon")  ? "qemu-aarch64"
         : !strcmp(isa, "sme") ? "qemu-aarch64 -cpu max,sme512=on"
                               : NULL;
}

static bool compile_and_run(const setting *t, uint64_t seed) {
  const bool clang = draw_lot(seed, "clang", 2) && have("clang");
  const char *arm = emulator(t->isa), *cc = arm     ? "aarch64-linux-gnu-gcc -static"
                                            : clang ? "clang"
                                                    : "cc";
  const bool sanitize = t->sanitize && !arm;
  const char *seen = sanitize ? " -fsanitize=address,undefined -fno-sanitize-recover=all" : "";
  char command[1000];
  snprintf(
      command, sizeof command,
      "cd %s && make -s 'CC=%s' OPENMP=-fopenmp-simd 'CFLAGS=-O%d -Wall -Wextra -Wpedantic "
      "-Wno-pass-failed -Werror%s' libkernel.a >said 2>&1 && %s -O1%s -o wild wild.c libkernel.a "
      "-lm && ASAN_OPTIONS=detect_leaks=0 %s ./wild <in >out || { cat said; false; }",
      t->dir, cc, sanitize ? 1 : 2 + (int)draw_lot(seed, "level", 2), seen, cc, seen,
      arm ? arm : "");
  return system(command) == 0;
}

/* ---- holding -------------------------------------------------------------------------------- */

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
    const ir_type type = is_output(x) ? type_of(t, z) : IR_F32;
    for (int64_t i = 0; is_output(x) && i < whole_words(x); i++) {
      double v;
      if (!read_word(type, out, &v)) return false;
      count(s, data[z][i]);
      const bool holds = type == IR_I32
                             ? data[z][i].v == v
                             : bounded_holds(data[z][i], v); /* sums of bytes are exact */
      if (!holds && wrong++ < 3)
        printf("# set %d, %s[%lld]: %.9g, should be %.9g within %.3g\n", set, x->name, (long long)i,
               v, data[z][i].v, data[z][i].e);
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
      fill(t, z, &g, set % 3 == 0, data[z]);
      ok = held || write_words(t, f, z, data[z]);
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
  ok = ok && each_set(s, t, seed, data, false) && compile_and_run(t, seed) &&
       each_set(s, t, seed, data, true);
  for (int z = 0; data && z < t->wl->n_tensors; z++)
    free(data[z]);
  free(data);
  return ok;
}

/* Not SME, of whose sums of bytes (smopa) qemu 7.2 leaves out half (sme_emulation.h). */
static bool can_run_bytes(const char *isa) {
  const bool emulated = emulator(isa) && have("qemu-aarch64") && have("aarch64-linux-gnu-gcc");
  return tf_emit_runs(isa) || (emulated && strcmp(isa, "sme") != 0);
}

/* Of float32 the same kernels as without. */
static bool can_run(const char *isa) {
  const bool emulated = emulator(isa) && have("qemu-aarch64") && have("aarch64-linux-gnu-gcc");
  return !strstr(isa, "vnni") && (tf_emit_runs(isa) || emulated);
}

/* No others: sanitizers are not in what the cross compiler makes. */
static bool can_sanitize(const char *isa) { return !emulator(isa) && can_run(isa); }
static bool can_sanitize_bytes(const char *isa) { return !emulator(isa) && can_run_bytes(isa); }

/* The instruction set of a case. */
static const char *isa_for(const session *s, bool bytes, uint64_t seed) {
  if (s->isa) return s->isa;
  if (s->sanitize) return draw_isa(seed, bytes ? can_sanitize_bytes : can_sanitize, NULL);
  return draw_isa(seed, bytes ? can_run_bytes : can_run, NULL);
}

/* Four in five of what has bytes are kernels of bytes; of the others, those of units that multiply
 * bfloat16, and one in five. */
static const char *type_for(const session *s, const char *isa, bool bytes, uint64_t seed) {
  const bool units = !strcmp(isa, "avx512_bf16") || !strcmp(isa, "amx") || !strcmp(isa, "sme");
  if (s->dtype) return s->dtype;
  if (bytes && draw_lot(seed, "bytes", 5)) return "int8";
  return units || draw_lot(seed, "type", 5) == 0 ? "bf16" : "f32";
}

static bool emitted_right(session *s, const drawn *c, uint64_t seed) {
  char dir[] = "/tmp/tf_wild_XXXXXX", command[64];
  const bool bytes = draw_named_kind(seed) == DRAW_BYTES || draw_named_kind(seed) == DRAW_CHAINS;
  tf_emit_options with = {.isa = isa_for(s, bytes, seed)};
  with.dtype = type_for(s, with.isa, bytes, seed);
  const bool units = !strcmp(with.isa, "avx512_bf16") || !strcmp(with.isa, "amx") ||
                     !strcmp(with.isa, "sme"),
             half = !strcmp(with.dtype, "bf16");
  setting t = {c->spec->workload,
               half                          ? IR_BF16
               : !strcmp(with.dtype, "int8") ? IR_I8
                                             : IR_F32,
               s->sanitize,
               dir,
               with.isa,
               {4e-7, half ? 8e-3 : 0,
                units  ? 1.3e-38
                : half ? 1e-40
                       : 3e-45,
                false, false, false}};
  tf_emitted *e = tf_emit_cpu(c->tree, &with, c->diags);
  for (int i = 0; e && i < e->n; i++)
    t.by.floored |= strstr(e->file[i].text, "fresh ? -3.40282347e38f") != NULL;
  const bool ok = e && mkdtemp(dir) && right(s, &t, e, seed);
  tf_emitted_free(e);
  snprintf(command, sizeof command, "rm -r %s", dir);
  if (!ok || s->keep)
    printf("# %s, %s, %s\n", with.isa, with.dtype, dir);
  else if (system(command) != 0)
    return false;
  return ok;
}

/* ---- maps of sums of bytes: in tiles, and by a pass of their own ---------------------------- */

/* A product of bytes and what makes bytes of its sums; apart: another op reads the sums, too, so
 * that these are stored.  Limits are passed, and halves met; tiles are cut in the middle. */
static void draw_map(page *p, uint64_t seed, bool apart) {
  static const struct {
    const char *of, *least, *most;
  } maps[] = {{"round((S[%s] + b[f]) * u[f])", "-128", "127"},
              {"round(S[%s] * (u[f] * 0.0021)) + 3", "-128", "127"},
              {"round(relu(S[%s]) * 0.5)", "0", "255"},
              {"round(relu(S[%s] + b[f]) * 0.00137) + 100", "0", "255"},
              {"round((S[%s] - 100) * 0.25) - 7", "0", "100"},
              {"round(-S[%s] * u[f])", "-128", "127"}};
  tf_rng g = tf_rng_new(seed, 61);
  const bool image = tf_rng_below(&g, 2), units = image && tf_rng_below(&g, 2);
  const int which = (int)tf_rng_below(&g, 6), window = units && tf_rng_below(&g, 2) ? 3 : 1,
            f = rng_between(&g, units ? 16 : 1, 70), x = rng_between(&g, 1, 40),
            y = rng_between(&g, 1, 5), c = rng_between(&g, 1, 40), by = rng_between(&g, 1, 3),
            lanes = units ? 16 : 1;
  const int no_sign = maps[which].least[0] == '0', fs = (f + by - 1) / by,
            each = (fs + lanes - 1) / lanes;
  const char *at = image ? "f,y,x" : "x,f";
  char map[64];
  p->len = 0;
  page_say(p,
           "architecture:\n  name: a\n  clock: 1 GHz\n  memories:\n"
           "  - {name: L0, bandwidth: 1}\n  - {name: L1, bandwidth: 1}\n"
           "  - {name: L2, bandwidth: 1}\n  compute:\n"
           "  - {name: u, ops: [mac, add, sub, mul, max, min, neg, relu, round], below: L2, "
           "mesh: [16, 1]}\n"
           "workload:\n  name: w\n  dims: {f: %d, x: %d, c: %d",
           f, x, c);
  if (image) page_say(p, ", y: %d", y);
  if (window > 1) page_say(p, ", r: 3, s: 3");
  page_say(p, "}\n  tensors:\n    A: {word-bits: 8, unsigned: true%s}\n    B: {word-bits: 8}\n",
           !image       ? ""
           : window > 1 ? ", pad: [0, 1, 1]"
                        : "");
  page_say(p, "    Y: {word-bits: 8%s}\n  ops:\n  - \"S[%s] += %s\"\n",
           no_sign ? ", unsigned: true" : "", at,
           !image       ? "A[x,c] * B[c,f]"
           : window > 1 ? "A[c,y+r-1,x+s-1] * B[f,c,r,s]"
                        : "A[c,y,x] * B[f,c]");
  snprintf(map, sizeof map, maps[which].of, at);
  page_say(p, "  - \"Y[%s] = min(max(%s, %s), %s)\"\n", at, map, maps[which].least,
           maps[which].most);
  if (apart) page_say(p, "  - \"T[%s] = S[%s] * 2\"\n", at, at);
  page_say(p, "mapping: |\n  L0 for f=%d\n    L1\n      Seq\n        L2 for f=%d x=%d c=%d", by,
           each, x, c);
  if (image) page_say(p, " y=%d", y);
  if (window > 1) page_say(p, " r=3 s=3");
  if (units) page_say(p, " spatial f=%d@x", lanes);
  page_say(p, "\n          op S\n");
  for (int k = 0; k < 1 + apart; k++) {
    page_say(p, "        L2 for f=%d x=%d", units ? each * lanes : fs, x);
    if (image) page_say(p, " y=%d", y);
    page_say(p, "\n          op %s\n", k ? "T" : "Y");
  }
}

/* The bytes of Y in all that the program wrote; NULL: there is not so much. */
static unsigned char *bytes_of_y(const setting *t) {
  FILE *f = opened(t, "out", "r");
  long n = 0, each = 0, from = 0;
  for (int z = 0; z < t->wl->n_tensors; z++)
    if (is_output(&t->wl->tensors[z])) {
      if (!strcmp(t->wl->tensors[z].name, "Y")) from = each, n = (long)bytes_of(t, z);
      each += (long)bytes_of(t, z);
    }
  unsigned char *y = malloc((size_t)(n * SETS) + 1);
  bool ok = f && y && n > 0;
  for (int set = 0; ok && set < SETS; set++)
    ok = fseek(f, set * each + from, SEEK_SET) == 0 &&
         fread(y + set * n, 1, (size_t)n, f) == (size_t)n;
  if (closed(f, ok)) return y;
  free(y);
  return NULL;
}

/* Y of one of the two workloads; *inside: how many of its maps tiles compute. */
static unsigned char *one_map(session *s, const char *isa, uint64_t seed, bool apart, long *n,
                              int *inside) {
  char dir[] = "/tmp/tf_wild_XXXXXX", command[64];
  drawn c = {.diags = tf_diags_new()};
  unsigned char *y = NULL;
  draw_map(&c.text, seed, apart);
  const tf_text text = {"map", c.text.text, c.text.len};
  c.spec = tf_spec_read_texts(&text, 1, NULL, 0, c.diags);
  if (c.spec)
    c.tree = tf_tree_parse(c.spec->mapping_text, c.spec->mapping_at, c.spec->arch, c.spec->workload,
                           c.diags);
  const tf_emit_options with = {.isa = isa, .dtype = "int8"};
  tf_emitted *e = c.tree ? tf_emit_cpu(c.tree, &with, c.diags) : NULL;
  setting t = {c.spec ? c.spec->workload : NULL, IR_I8, s->sanitize, dir, isa, {.tiny = 3e-45}};
  bounded **data = e ? calloc((size_t)t.wl->n_tensors, sizeof *data) : NULL;
  bool ok = data && mkdtemp(dir) && write_files(&t, e);
  for (int z = 0; ok && z < t.wl->n_tensors; z++)
    ok = (data[z] = calloc((size_t)whole_words(&t.wl->tensors[z]), sizeof **data)) != NULL;
  if (ok && each_set(s, &t, seed, data, false) && compile_and_run(&t, seed)) y = bytes_of_y(&t);
  for (int i = 0; e && i < e->n; i++)
    *inside += strstr(e->file[i].text, "_store(&of, ") != NULL;
  for (int z = 0; y && z < t.wl->n_tensors; z++)
    if (!strcmp(t.wl->tensors[z].name, "Y")) *n = SETS * (long)bytes_of(&t, z);
  for (int z = 0; data && z < t.wl->n_tensors; z++)
    free(data[z]);
  free(data);
  if (!y) draw_print(&c, seed);
  snprintf(command, sizeof command, "rm -rf %s", dir);
  if (e && !s->keep && system(command) != 0) ok = false;
  tf_emitted_free(e);
  draw_close(&c);
  return y;
}

/* Bytes that tiles make of their sums are, bit by bit, those that a pass by itself makes of sums in
 * memory. */
static void maps_alike(session *s, uint64_t seed, long cases) {
  static const char *const isas[] = {"avx2", "avx512", "avx512_vnni"};
  int inside = 0, apart = 0, ran = 0;
  for (long i = 0; i < cases; i++) {
    const uint64_t one = seed * UINT64_C(1000000007) + (uint64_t)i;
    const char *isa = s->isa ? s->isa : isas[draw_lot(one, "isa", 3)];
    long n[2] = {0, 1};
    if (!tf_emit_runs(isa)) continue;
    unsigned char *y[2] = {one_map(s, isa, one, false, &n[0], &inside),
                           one_map(s, isa, one, true, &n[1], &apart)};
    if (!y[0] || !y[1] || n[0] != n[1] || memcmp(y[0], y[1], (size_t)n[0]) != 0) {
      printf("# map %llu for %s: bytes differ\n", (unsigned long long)one, isa);
      s->wrong++;
    }
    ran++;
    free(y[0]), free(y[1]);
  }
  if (ran)
    printf("# maps of sums: %d of %d in tiles, %d of those whose sums are read\n", inside, ran,
           apart);
  if (apart > 0 || (ran >= 4 && 6 * inside < ran)) s->wrong++;
}

/* Kinds of cases: names, and what a seed of each has set. */
static const struct {
  const char *name;
  uint64_t flag;
  int often; /* in so many of LOTS */
} kinds[] = {{"stream", DRAW_STREAM, 1},
             {"rows", DRAW_ROWS, 1},
             {"spelled", DRAW_SPELLED, 1},
             {"experts", DRAW_NAMED(DRAW_EXPERTS), 2},
             {"scans", DRAW_NAMED(DRAW_SCANS), 2},
             {"heads", DRAW_NAMED(DRAW_HEADS), 2},
             {"bytes", DRAW_NAMED(DRAW_BYTES), 2},
             {"norms", DRAW_NAMED(DRAW_NORMS), 2},
             {"windows", DRAW_NAMED(DRAW_WINDOWS), 2},
             {"convolutions", DRAW_NAMED(DRAW_CONVS), 2},
             {"routed", DRAW_NAMED(DRAW_ROUTED), 2},
             {"chains", DRAW_NAMED(DRAW_CHAINS), 2},
             {"transposed", DRAW_NAMED(DRAW_TRANSPOSED), 2},
             {"wild", DRAW_WILD, 3}};
enum { KINDS = sizeof kinds / sizeof *kinds, LOTS = 26 };

/* Of which kind a case is: drawn before its seed is, so that one that is refused makes no kind
 * rarer. */
static int kind_of(uint64_t lot) {
  int left = (int)draw_lot(lot, "kind", LOTS), k = 0;
  while ((left -= kinds[k].often) >= 0)
    k++;
  return k;
}

static int kind_of_seed(uint64_t seed) {
  const uint64_t named = UINT64_C(15) << 48;
  int k = 0;
  while (k < KINDS - 1 &&
         (kinds[k].flag & named ? (seed & named) != kinds[k].flag : !(seed & kinds[k].flag)))
    k++;
  return k;
}

/* Mappings of the named kinds keep all rules: what is refused says so. */
static bool one(session *s, uint64_t seed) {
  drawn c;
  draw(&c, seed);
  const bool usable = c.tree && draw_can_emit(&c), named = draw_named_kind(seed) >= 0;
  const int k = kind_of_seed(seed);
  if (!usable) {
    s->refused++;
    s->wrong += named;
  } else if (emitted_right(s, &c, seed)) {
    s->kernels++;
    s->right[k]++;
  } else {
    s->wrong++;
  }
  if ((usable && s->wrong > s->shown) || (!usable && named))
    draw_print(&c, seed), s->shown = s->wrong;
  draw_close(&c);
  return usable;
}

static void say(const session *s) {
  for (int k = 0; k < KINDS; k++)
    printf("%s%s %ld", k ? ", " : "# right, by kind: ", kinds[k].name, s->right[k]);
  printf("\n"
         "wild: %ld kernels right, %ld wrong; %ld mappings refused; elements: %ld finite, %ld "
         "infinite, %ld not a number, %ld that nobody can tell\n",
         s->kernels, s->wrong, s->refused, s->finite, s->infinite, s->nan, s->unknown);
}

int main(int argc, char **argv) {
  session s = {0};
  const draw_plan plan = draw_options(argc, argv, 24);
  int only = -1;
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (!strcmp(argv[i], "--keep")) s.keep = true;
    if (!strcmp(argv[i], "--sanitize")) s.sanitize = true;
    if (!strcmp(argv[i], "--isa")) s.isa = value;
    if (!strcmp(argv[i], "--dtype")) s.dtype = value;
    for (int k = 0; !strcmp(argv[i], "--kind") && k < KINDS; k++)
      if (!strcmp(value, kinds[k].name)) only = k;
  }
  const uint64_t first = plan.seed * UINT64_C(1000000007) % DRAW_THIN; /* kinds are bits beyond */
  uint64_t turn = 0, at = first;
  if (plan.only) one(&s, plan.only);
  for (; !plan.only && turn < (uint64_t)plan.cases && s.refused < 10 * plan.cases; at++) {
    turn += one(&s, at | kinds[only < 0 ? kind_of(first + turn) : only].flag);
  }
  if (!plan.only && (only < 0 || kinds[only].flag == DRAW_NAMED(DRAW_CHAINS)))
    maps_alike(&s, plan.seed, plan.cases < 8 ? 4 : plan.cases / 4);
  say(&s);
  return s.wrong != 0 || s.kernels == 0;
}
