/* Nests of the CPU that are no products: rows of a window's tile and what they cost, against slow
 * twins; and what sums down columns take before their rows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/case.h"
#include "tests/unit/page.h"
#include "tileflow/emit.h"

static const char machine[] =
    "architecture:\n  name: core\n  clock: 1 GHz\n  memories:\n  - {name: DRAM, bandwidth: 8}\n"
    "  - {name: L1, capacity: 1 MiB, bandwidth: 32}\n  compute:\n"
    "  - {name: u, ops: [mac, add, select], below: L1, mesh: [16, 1]}\n"
    "  core: {tile: 20, ports: 2, gather: 2}\n";

/* Sums over windows: 16 rows of 16 sums each over r x s elements, at columns s + r * slope of row +
 * r, or of a row that no other row of sums reads. */
typedef struct {
  int line, r, s;
  int own;    /* whether rows share nothing */
  int slope;  /* of columns with r */
  int reads;  /* alike but for where they begin */
  int places; /* along columns, of one read; 0: without borders */
  int tall;   /* rows of a tile */
  const char *op, *tensor;
} window;

static const window windows[] = {
    {__LINE__, 3, 3, 0, 0, 1, 0, 4, "I[p + r, q + s]", ""},
    {__LINE__, 3, 3, 0, 0, 1, 3, 4, "I[p + r, q + s - 1]", "I: {shape: [20, 16], pad: [0, 1]}"},
    {__LINE__, 16, 1, 1, 1, 1, 0, 2, "I[r, p, q + r + s]", ""},
    {__LINE__, 8, 1, 1, 1, 2, 8, 2, "I[r, p, q + r + s] + I[r, p, q + r + s - 8]",
     "I: {shape: [8, 16, 16], pad: [0, 0, 16]}"},
    {__LINE__, 16, 1, 1, 1, 2, 16, 1, "I[r, p, q + r + s] + I[r, p, q + r + s - 16]",
     "I: {shape: [16, 16, 16], pad: [0, 0, 16]}"},
    {__LINE__, 4, 2, 1, 0, 1, 0, 4, "I[r, p, q + s]", ""},
};

/* Elements that the tile's rows read, each once. */
static int loads_of(const window *w) {
  int seen[4 * 64][3], n = 0;
  for (int t = 0; t < w->tall; t++)
    for (int r = 0; r < w->r; r++)
      for (int s = 0; s < w->s; s++) {
        const int at[3] = {w->own ? r : t + r, w->own ? t : 0, s + r * w->slope};
        bool before = false;
        for (int i = 0; i < n; i++)
          before |= !memcmp(seen[i], at, sizeof at);
        if (!before) memcpy(seen[n++], at, sizeof at);
      }
  return n * w->reads;
}

static double cycles_of(const window *w) {
  const double tiles = 16.0 / w->tall, sums = w->r * w->s * w->tall;
  return tiles * ((sums + loads_of(w)) / 2 + 20) + 2.0 * w->places * w->reads;
}

/* Sums that a tile has, by the text. */
static int tall_of(const char *text) {
  int n = 0;
  char name[32];
  do
    snprintf(name, sizeof name, "vec sum%d = ", n++);
  while (strstr(text, name));
  return n - 1;
}

/* Of kernel.c; NULL: there is none. */
static const char *text_of(const tf_emitted *k) {
  for (int f = 0; k && f < k->n; f++)
    if (!strcmp(k->file[f].name, "kernel.c")) return k->file[f].text;
  return NULL;
}

static void test_windows(void) {
  for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
    const window *w = &windows[i];
    page p = {.len = 0};
    say(&p, "workload:\n  name: w\n  dims: {p: 16, q: 16, r: %d, s: %d}\n", w->r, w->s);
    if (*w->tensor) say(&p, "  tensors:\n    %s\n", w->tensor);
    say(&p, "  ops:\n  - \"O[p,q] += %s\"\n", w->op);
    test_case e = case_of(machine, p.text);
    page map = {.len = 0};
    say(&map, "DRAM\n  L1 for p=16 r=%d s=%d spatial q=16@x\n    op O\n", w->r, w->s);
    tf_tree *t = tf_tree_parse(map.text, (tf_loc){0}, e.spec->arch, e.spec->workload, e.d);
    const tf_emit_options o = {.isa = "avx512"};
    tf_emitted *k = t ? tf_emit(t, "cpu", &o, e.d) : NULL;
    const char *text = text_of(k);
    if (!CHECK(text)) case_complain(e.d);
    if (text) CHECK_ROW_I64(w, tall_of(text), w->tall);
    if (t) CHECK_ROW_NEAR(w, tf_emit_cycles(t, "cpu", &o, e.d), cycles_of(w), 1e-9);
    tf_emitted_free(k);
    tf_tree_free(t);
    case_drop(&e);
  }
}

/* Prefix sums by a mask: what is masked is read before the row, and not under the condition. */
static void test_steady(void) {
  test_case e = case_of(machine, "workload:\n  name: scan\n  dims: {m: 4, a: 64, e: 64}\n  ops:\n"
                                 "  - S[m,a] += select(e < a, P[m,e], 0)\n");
  tf_tree *t = tf_tree_parse("DRAM\n  L1 for m=4 e=64 a=4 spatial a=16@x\n    op S\n", (tf_loc){0},
                             e.spec->arch, e.spec->workload, e.d);
  tf_emitted *k = t ? tf_emit(t, "cpu", &(tf_emit_options){.isa = "avx512"}, e.d) : NULL;
  const char *text = text_of(k), *taken = text ? strstr(text, "const float s_S_0 = P[") : NULL,
             *row = text ? strstr(text, "? s_S_0 :") : NULL;
  if (!CHECK(text)) case_complain(e.d);
  CHECK(taken && row && taken < row);
  tf_emitted_free(k);
  tf_tree_free(t);
  case_drop(&e);
}

/* Of maps of rows whose elements need not be there, by the order of their loops: asked anew for
 * each run of the loop that moves them, not in the loops inside of it. */
static void test_asked(void) {
  static const struct {
    int line;
    const char *output;
    int anew;
  } rows[] = {{__LINE__, "i,b,j", 4}, {__LINE__, "b,i,j", 4 * 8}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    page p = {.len = 0};
    say(&p,
        "workload:\n  name: turned\n  dims: {i: 4, b: 8, j: 16}\n  tensors:\n"
        "    D: {shape: [8, 16], pad: [0, 16]}\n"
        "  ops:\n  - \"O[%s] = D[b, j - i] + D[b, j - i + 16]\"\n",
        rows[i].output);
    test_case e = case_of(machine, p.text);
    tf_tree *t = tf_tree_parse("DRAM\n  L1 for i=4 b=8 spatial j=16@x\n    op O\n", (tf_loc){0},
                               e.spec->arch, e.spec->workload, e.d);
    const double cycles =
        t ? tf_emit_cycles(t, "cpu", &(tf_emit_options){.isa = "avx512"}, e.d) : -1;
    if (!CHECK(t)) case_complain(e.d);
    CHECK_ROW_NEAR(&rows[i], cycles, 4 * 8 * (3 + 8) + 2.0 * 2 * rows[i].anew,
                   1e-9); /* two reads, element: 2 */
    tf_tree_free(t);
    case_drop(&e);
  }
}

/* Maps of short rows that ask for each element whether it is there go along what asks nothing, if
 * that is longer. */
static void test_short_rows(void) {
  static const struct {
    int line, c;
    const char *row;
  } rows[] = {{__LINE__, 4, "d_c"}, {__LINE__, 3, "d_s"}, {__LINE__, 20, "d_c"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    page p = {.len = 0}, map = {.len = 0};
    say(&p,
        "workload:\n  name: shift\n  dims: {q: 6, c: %d, s: 3}\n  tensors:\n"
        "    I: {shape: [6, %d, 3], pad: [1, 0, 0]}\n"
        "  ops:\n  - \"O[q,c,s] = I[q + s - 1, c, s]\"\n",
        rows[i].c, rows[i].c);
    say(&map, "DRAM\n  L1 for q=6 c=%d s=3\n    op O\n", rows[i].c);
    test_case e = case_of(machine, p.text);
    tf_tree *t = tf_tree_parse(map.text, (tf_loc){0}, e.spec->arch, e.spec->workload, e.d);
    tf_emitted *k = t ? tf_emit(t, "cpu", &(tf_emit_options){.isa = "avx512"}, e.d) : NULL;
    const char *text = text_of(k), *last = NULL;
    if (!CHECK(text)) case_complain(e.d);
    for (const char *loop = text; loop && (loop = strstr(loop, "for (int64_t d_"));)
      last = loop += strlen("for (int64_t ");
    CHECK_ROW(&rows[i], last && !strncmp(last, rows[i].row, strlen(rows[i].row)));
    tf_emitted_free(k);
    tf_tree_free(t);
    case_drop(&e);
  }
}

/* Cycles of a map that turns m rows of n words. */
static double turned(int m, int n) {
  page p = {.len = 0}, map = {.len = 0};
  say(&p, "workload:\n  name: turned\n  dims: {m: %d, n: %d}\n  ops:\n  - O[n,m] = X[m,n] + A[n]\n",
      m, n);
  say(&map, "DRAM\n  L1 for n=%d m=%d spatial m=16@x\n    op O\n", n, m / 16);
  test_case e = case_of(machine, p.text);
  tf_tree *t = tf_tree_parse(map.text, (tf_loc){0}, e.spec->arch, e.spec->workload, e.d);
  const double cycles = t ? tf_emit_cycles(t, "cpu", &(tf_emit_options){.isa = "avx512"}, e.d) : -1;
  if (!CHECK(t)) case_complain(e.d);
  tf_tree_free(t);
  case_drop(&e);
  return cycles;
}

/* The share of m lines, so many bytes apart, for which a cache of eight pages has no place: it
 * finds them by where a line lies in its page. */
static double share_gone(int m, int apart) {
  enum { PAGE = 4096, LINE = 64, WAYS = 8 };
  int held[PAGE / LINE] = {0}, stay = 0;
  for (int i = 0; i < m; i++)
    stay += held[i * apart % PAGE / LINE]++ < WAYS;
  return 1 - (double)stay / m;
}

/* Rows that a map reads across: lines that it needs again are gone where rows are half a page apart
 * or more. */
static void test_gone(void) {
  static const struct {
    int line, m, n;
  } rows[] = {
      {__LINE__, 256, 768}, {__LINE__, 32, 768}, {__LINE__, 256, 1024}, {__LINE__, 512, 528}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const double near = turned(rows[i].m, 256) / 256 * rows[i].n,
                 lines = (double)rows[i].n * rows[i].m * share_gone(rows[i].m, 4 * rows[i].n);
    CHECK_ROW_NEAR(&rows[i], turned(rows[i].m, rows[i].n), near + lines * 16 / 2,
                   1e-9); /* words of a line, stream: 2 */
  }
}

/* Cycles of two sums of rows of 65,536 words, which share `parts` steps along rows; *cut:
 * whether the text has a loop over parts of rows. */
static double summed(int parts, bool *cut) {
  page map = {.len = 0};
  test_case e = case_of(machine, "workload:\n  name: sums\n  dims: {m: 16, k: 65536}\n  ops:\n"
                                 "  - S[m] += A[m,k]\n  - T[m] += B[m,k]\n");
  const int k = 65536 / parts / 64;
  say(&map, "DRAM for k=%d\n  Seq\n    DRAM for k=64\n      L1 for m=16 k=%d\n        op S\n",
      parts, k);
  say(&map, "    DRAM for k=64\n      L1 for m=16 k=%d\n        op T\n", k);
  tf_tree *t = tf_tree_parse(map.text, (tf_loc){0}, e.spec->arch, e.spec->workload, e.d);
  const tf_emit_options o = {.isa = "avx512"};
  tf_emitted *files = t ? tf_emit(t, "cpu", &o, e.d) : NULL;
  const double cycles = t ? tf_emit_cycles(t, "cpu", &o, e.d) : -1;
  if (!CHECK(text_of(files))) case_complain(e.d);
  *cut = text_of(files) && strstr(text_of(files), "for (int64_t i_k_");
  tf_emitted_free(files);
  tf_tree_free(t);
  case_drop(&e);
  return cycles;
}

/* What sums read once passes by in whole rows, whatever the mapping's own loops are; where a loop
 * that ops share cuts them, each part waits for its start. */
static void test_long_rows(void) {
  enum { ROWS = 16, ROW = 8, PAGE_CROSSING = 60 };
  bool whole_cut, parts_cut;
  const double whole = summed(1, &whole_cut), parts = summed(4, &parts_cut);
  CHECK(!whole_cut && parts_cut);
  CHECK_NEAR(parts - whole, 2.0 * ROWS * (4 * (ROW + PAGE_CROSSING) - ROW), 1e-9);
}

/* ---- what a call is expected to take, recounted from the text -------------------------------- */
typedef struct {
  double simple, access, quotient, root, trig, row;
} recount;

static const char *const part_names[] = {"simple", "access", "quotient", "root", "trig", "row"};

static double calls_in(const char *text, const char *name) {
  double n = 0;
  for (; (text = strstr(text, name)); text += strlen(name))
    n++;
  return n;
}

/* What one vector of the statement does: operands in memory, and what stands outside of their
 * indices. */
static recount one_vector(const char *statement, size_t len) {
  char outside[256] = "";
  recount v = {.row = 0};
  size_t n = 0;
  int depth = 0;
  for (size_t i = 0; i < len && n < sizeof outside - 1; i++) {
    v.access += statement[i] == '[';
    depth += (statement[i] == '[') - (statement[i] == ']');
    if (!depth) outside[n++] = statement[i];
  }
  outside[n] = '\0';
  v.simple = calls_in(outside, " + ") + calls_in(outside, " - ") + calls_in(outside, " * ") +
             calls_in(outside, "greater_of(");
  v.quotient = calls_in(outside, " / ");
  v.root = calls_in(outside, "sqrtf(");
  v.trig = calls_in(outside, "sinf(");
  return v;
}

/* The whole of a kernel that is one nest of loops around one statement, of 16 lanes. */
static recount recounted(const char *text) {
  double runs = 1, last = 1;
  const char *at = strstr(text, "static void run("), *statement = at ? strstr(at, " Y[") : NULL;
  for (; at && statement && (at = strstr(at, "for (int64_t d_")) && at < statement; at++) {
    runs *= last;
    last = atof(strstr(at, " < ") + 3);
  }
  if (!statement) return (recount){.row = -1};
  recount v = one_vector(statement, (size_t)(strchr(statement, ';') - statement));
  const double vectors = runs * (double)(((int)last + 15) / 16);
  return (recount){v.simple * vectors, v.access * vectors, v.quotient * vectors,
                   v.root * vectors,   v.trig * vectors,   runs};
}

/* A part in manifest.json; 0: it is not there. */
static double part_in(const char *manifest, const char *name) {
  char key[32];
  snprintf(key, sizeof key, "\"%s\": ", name);
  const char *parts = strstr(manifest, "\"kernel_parts\""), *at = parts ? strstr(parts, key) : NULL;
  return at ? atof(at + strlen(key)) : 0;
}

static const char *manifest_of(const tf_emitted *k) {
  for (int f = 0; k && f < k->n; f++)
    if (!strcmp(k->file[f].name, "manifest.json")) return k->file[f].text;
  return "";
}

/* The case's kernel of the mapping, with the model's counts; *e: what is expected of it. */
static tf_emitted *expect(test_case *c, const char *mapping, tf_expected *e) {
  tf_tree *t = tf_tree_parse(mapping, (tf_loc){0}, c->spec->arch, c->spec->workload, c->d);
  tf_result r;
  tf_model *m = t ? tf_model_new(t, c->d) : NULL;
  const tf_emit_options o = {.isa = "avx512", .result = &r};
  const bool ok = m && tf_model_eval(m, NULL, &r) && tf_emit_expected(t, "cpu", &o, e, c->d);
  tf_emitted *k = ok ? tf_emit(t, "cpu", &o, c->d) : NULL;
  if (!CHECK(k)) case_complain(c->d);
  tf_model_free(m);
  tf_tree_free(t);
  return k;
}

static const char units[] =
    "architecture:\n  name: core\n  clock: 1 GHz\n  memories:\n  - {name: DRAM, bandwidth: 8}\n"
    "  - {name: L1, capacity: 1 MiB, bandwidth: 32}\n  compute:\n"
    "  - {name: u, ops: [mac, add, sub, mul, div, max, sqrt, sin, select], below: L1, mesh: [16, "
    "2], rate: "
    "%s}\n";

/* The mapping that has all loops of the op, whose name is Y, in the inner memory. */
static const char *all_inside(const tf_workload *wl) {
  static page map;
  map = (page){.len = 0};
  say(&map, "DRAM\n  L1 for");
  for (int d = 0; d < wl->n_dims; d++)
    say(&map, " %s=%d", wl->dims[d].name, (int)wl->dims[d].extent);
  say(&map, "\n    op Y\n");
  return map.text;
}

static void test_expected_maps(void) {
  static const char *const maps[] = {"X[m,n] + A[n] * X[m,n]", "sqrt(X[m,n]) - 2",
                                     "max(X[m,n], B[m]) * sin(X[m,n])", "X[m,n] / (A[n] + 1)"};
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
    page arch = {.len = 0}, p = {.len = 0};
    tf_expected x;
    say(&arch, units, "1");
    say(&p, "workload:\n  name: w\n  dims: {m: 12, n: 160}\n  ops:\n  - \"Y[m,n] = %s\"\n",
        maps[i]);
    test_case e = case_of(arch.text, p.text);
    tf_emitted *k = expect(&e, "DRAM\n  L1 for m=12 n=10 spatial n=16@x\n    op Y\n", &x);
    const char *text = text_of(k), *manifest = manifest_of(k);
    const recount all = text ? recounted(text) : (recount){.row = -1};
    const double want[] = {all.simple, all.access, all.quotient, all.root, all.trig, all.row};
    for (size_t n = 0; text && n < sizeof want / sizeof *want; n++)
      if (!CHECK_NEAR(part_in(manifest, part_names[n]), want[n], 1e-5))
        fprintf(stderr, "%s of %s\n", part_names[n], maps[i]);
    tf_emitted_free(k);
    case_drop(&e);
  }
}

/* However little the parts of a product are expected to take, its multiply-adds that are not by the
 * padding take the units' time: here of units so slow that it is all. */
static void test_expected_at_least(void) {
  enum { P = 7, R = 3, C = 4, K = 16, STEP = 2 };
  int64_t inside = 0;
  for (int p = 0; p < P; p++)
    for (int r = 0; r < R; r++)
      inside += STEP * p + r - 1 >= 0 && STEP * p + r - 1 < STEP * P - 2;
  page arch = {.len = 0}, w = {.len = 0}, map = {.len = 0};
  tf_expected x = {0};
  say(&arch, units, "0.001");
  say(&w,
      "workload:\n  name: w\n  dims: {k: %d, p: %d, q: %d, c: %d, r: %d, s: %d}\n  tensors:\n"
      "    I: {shape: [%d, %d, %d], pad: [0, 2, 2]}\n  ops:\n"
      "  - \"O[k,p,q] += I[c, %d*p + r - 1, %d*q + s - 1] * F[k,c,r,s]\"\n",
      K, P, P, C, R, R, C, STEP * P - 2, STEP * P - 2, STEP, STEP);
  say(&map, "DRAM\n  L1 for p=%d q=%d c=%d r=%d s=%d spatial k=16@x\n    op O\n", P, P, C, R, R);
  test_case e = case_of(arch.text, w.text);
  tf_emitted *k = expect(&e, map.text, &x);
  CHECK_NEAR(x.busy, (double)(inside * inside * C * K) / (16 * 2 * 0.001), 1e-9);
  CHECK(inside < P * R && tf_expected_cycles(&x, 0) >= x.busy);
  tf_emitted_free(k);
  case_drop(&e);
}

/* Kinds of which kernels rarely take what is expected, and what is like them. */
static void test_unsure(void) {
  static const struct {
    int line;
    const char *dims, *op, *kind;
  } rows[] = {
      {__LINE__, "m: 16, n: 16, u: 16", "Y[m,n] += select(u <= n, X[m,u], 0)", "scan"},
      {__LINE__, "m: 16, n: 16, u: 16", "Y[m,n] max= select(u <= m, X[u,n], -inf)", "scan"},
      {__LINE__, "m: 16, n: 16, u: 16", "Y[m,n] += select(n <= m, Q[m,u] * X[n,u], 0)", ""},
      {__LINE__, "m: 16, n: 16", "Y[n,m] = X[m,n] + B[n]", "turned"},
      {__LINE__, "m: 16, n: 16", "Y[m,n] = X[m,n] + B[m]", ""},
      {__LINE__, "m: 16, n: 16, u: 16", "Y[n,m] += X[m,u] * W[u,n]", ""},
      {__LINE__, "m: 16, n: 16, c: 8, r: 2, s: 2", "Y[2*m + r,2*n + s] += X[c,m,n] * W[c,r,s]",
       "transposed"},
      {__LINE__, "m: 16, n: 16, c: 8, r: 2, s: 2", "Y[m,n] += X[c,m + r,n + s] * W[c,r,s]", ""},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    page arch = {.len = 0}, w = {.len = 0};
    say(&arch, units, "1");
    say(&w, "workload:\n  name: w\n  dims: {%s}\n  ops:\n  - \"%s\"\n", rows[i].dims, rows[i].op);
    test_case e = case_of(arch.text, w.text);
    tf_expected x = {0};
    tf_emitted *k = expect(&e, all_inside(e.spec->workload), &x);
    CHECK_ROW_TEXT(&rows[i], x.unsure ? x.unsure : "", rows[i].kind);
    CHECK_ROW(&rows[i],
              (strstr(manifest_of(k), "\"kernel_unsure\"") != NULL) == (x.unsure != NULL));
    tf_emitted_free(k);
    case_drop(&e);
  }
}

/* The kinds of docs/results/cpu-predicted.csv and how many kernels of each came within a quarter,
 * as the rows of arch-specs/cores/fitted.csv have them: all kinds of which fewer than half did. */
static void test_unsure_figures(void) {
  struct {
    char name[32];
    int drawn, within;
  } kinds[32] = {{"", 0, 0}};
  char line[1024], name[32], fitted[1 << 16] = "";
  double ratio;
  int n = 0, rare = 0;
  FILE *in = fopen("docs/results/cpu-predicted.csv", "r");
  while (in && fgets(line, sizeof line, in)) {
    if (sscanf(line, "%*[^,],%31[^,],", name) != 1 || !strcmp(name, "kind")) continue;
    ratio = atof(strrchr(line, ',') + 1);
    int k = 0;
    while (k < n && strcmp(kinds[k].name, name) != 0)
      k++;
    if (!CHECK(k < 32)) break;
    if (k == n) snprintf(kinds[n++].name, sizeof kinds->name, "%s", name);
    kinds[k].drawn++;
    kinds[k].within += ratio <= 1.25 && ratio >= 1 / 1.25;
  }
  if (in) fclose(in);
  CHECK_I64(n, 15);
  in = fopen("arch-specs/cores/fitted.csv", "r");
  if (in) fitted[fread(fitted, 1, sizeof fitted - 1, in)] = '\0', fclose(in);
  for (int k = 0; k < n; k++) {
    if (2 * kinds[k].within >= kinds[k].drawn) continue;
    char key[64] = "expect/kinds.c,KIND_", *at = key + strlen(key);
    for (const char *c = kinds[k].name; *c; c++)
      *at++ = (char)(*c - 'a' + 'A');
    snprintf(at, 3, "],");
    const char *row = strstr(fitted, key);
    if (CHECK(row))
      CHECK_NEAR(atof(row + strlen(key)), (double)kinds[k].within / kinds[k].drawn, 1e-9);
    rare++;
  }
  CHECK_I64(rare, 3);
}

int main(void) {
  test_expected_maps();
  test_expected_at_least();
  test_unsure();
  test_unsure_figures();
  test_windows();
  test_gone();
  test_asked();
  test_short_rows();
  test_long_rows();
  test_steady();
  return check_report();
}
