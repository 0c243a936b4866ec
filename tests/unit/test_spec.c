/* model/yaml and model/input: what is read comes out as docs/FORMATS.md says.  Malformed input is
 * tests/bad's. */
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/arena.h"
#include "model/input/kinds.h"
#include "model/input/masked.h"
#include "model/input/table/area.h"
#include "model/input/table/energy.h"
#include "model/input/table/spread.h"
#include "model/yaml/node.h"
#include "tests/unit/case.h"
#include "tileflow/spec.h"

/* Reads one text; prints its errors where there should be none. */
static tf_spec *read_text(const char *text, const tf_setting *set, size_t n_set, tf_diags *d) {
  tf_text t = {"test.yaml", text, strlen(text)};
  tf_spec *s = tf_spec_read_texts(&t, 1, set, n_set, d);
  char *errors = tf_diags_text(d);
  if (!s && errors) printf("%s", errors);
  free(errors);
  return s;
}

/* The same of a text that is printed. */
static tf_spec *read_printed(tf_diags *d, const char *fmt, ...) TF_PRINTF(2, 3);
static tf_spec *read_printed(tf_diags *d, const char *fmt, ...) {
  char text[600];
  va_list ap;
  va_start(ap, fmt);
  const int n = vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  return CHECK(n >= 0 && n < (int)sizeof text) ? read_text(text, NULL, 0, d) : NULL;
}

/* ---- YAML --------------------------------------------------------------------------- */
/* Bytes off.. of the value of key `x` stand at line:col of the file. */
static void test_places(void) {
  static const struct {
    int line;
    const char *in;
    size_t off;
    uint32_t at_line, at_col;
  } rows[] = {
      {__LINE__, "x: abc", 2, 1, 6},
      {__LINE__, "x: abc", 3, 1, 7},
      {__LINE__, "x: 'a''bc'", 3, 1, 9},
      {__LINE__, "x: \"a\\tbc\"", 2, 1, 8},
      {__LINE__, "x: \"\\u00e9b\"", 2, 1, 11},
      {__LINE__, "x: \"a\\x41\\n b\"", 4, 1, 13},
      {__LINE__, "x: ab\n  cd\n  ef", 6, 3, 3},
      {__LINE__, "x: 'ab\n\n  cd'", 3, 3, 3},
      {__LINE__, "x: \"ab\\\n   cd\"", 2, 2, 4},
      {__LINE__, "x: |\n  ab\n  cd\n", 0, 2, 3},
      {__LINE__, "x: |\n  ab\n  cd\n", 3, 3, 3},
      {__LINE__, "x: |\n  ab\n    cd\n", 5, 3, 5},
      {__LINE__, "x: | # note\n\n  ab\n", 1, 3, 3},
      {__LINE__, "x: |2\n    ab\n", 2, 2, 5},
      {__LINE__, "x: |\r\n  ab\r\n  cd\r\n", 4, 3, 4},
      {__LINE__, "x: >\n  ab\n  cd\n", 3, 3, 3},
      {__LINE__, "x: &anchor abc", 1, 1, 13},
      {__LINE__, "x: !tag \"abc\"", 1, 1, 11},
      {__LINE__, "\xc3\xa9: 1\nx: \xc3\xa9 b", 3, 2, 6},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tf_arena *a = tf_arena_new();
    tf_diags *d = tf_diags_new();
    const tf_ynode *root = tf_yaml_read(a, 1, rows[i].in, strlen(rows[i].in), d);
    const tf_ynode *x = root ? tf_ymap_get(root, "x") : NULL;
    if (CHECK_ROW(&rows[i], x != NULL)) {
      tf_loc at = tf_ynode_place(x, rows[i].off, 1);
      CHECK_ROW_I64(&rows[i], at.line, rows[i].at_line);
      CHECK_ROW_I64(&rows[i], at.col, rows[i].at_col);
    }
    tf_diags_free(d);
    tf_arena_free(a);
  }
}

static void test_tree(void) {
  static const char text[] = "a: [1, !T {b: c}]\nd: &p e\nf: *p\n";
  tf_arena *a = tf_arena_new();
  tf_diags *d = tf_diags_new();
  const tf_ynode *root = tf_yaml_read(a, 1, text, strlen(text), d);
  const tf_ynode *list = tf_ymap_get(root, "a");
  CHECK(root->kind == TF_Y_MAP && root->n == 3 && root->weight == 11);
  CHECK(list->kind == TF_Y_LIST && list->n == 2 && list->at.col == 4 && list->at.len == 14);
  CHECK_TEXT(list->items[1]->tag, "!T");
  CHECK_TEXT(tf_ymap_get(list->items[1], "b")->text, "c");
  CHECK(tf_ymap_get(root, "f") == tf_ymap_get(root, "d"));
  CHECK(tf_ymap_get(root, "z") == NULL);
  tf_diags_free(d);
  tf_arena_free(a);
}

/* ---- numbers ------------------------------------------------------------------------ */
/* A param whose value is used as an extent. */
static void test_params(void) {
  static const struct {
    int line;
    const char *expr;
    int64_t want;
  } rows[] = {
      {__LINE__, "12", 12},
      {__LINE__, "2*seq/4", 256},
      {__LINE__, "1e3", 1000},
      {__LINE__, "7 - 2 - 1", 4},
      {__LINE__, "2 + 3*4", 14},
      {__LINE__, "(2 + 3)*4", 20},
      {__LINE__, "-(-3)", 3},
      {__LINE__, "'- -3'", 3},
      {__LINE__, "7/2*2", 7},
      {__LINE__, "ceil(7/2)", 4},
      {__LINE__, "floor(7/2)", 3},
      {__LINE__, "'min(seq, 3)'", 3},
      {__LINE__, "'max(seq, 3)'", 512},
      {__LINE__, "later + 1", 42},
      {__LINE__, "2.5*4", 10},
      {__LINE__, ".5*4", 2},
      {__LINE__, "'seq'", 512},
      {__LINE__, "\"seq * 2\"", 1024},
      {__LINE__, "1/3*3", 1},
      {__LINE__, "ceil(seq/100)*2", 12},
      {__LINE__, "9223372036854775807", INT64_MAX},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tf_diags *d = tf_diags_new();
    tf_spec *s = read_printed(d,
                              "params: {x: %s, seq: 512, later: 41}\n"
                              "workload: {dims: {m: x}, ops: [\"C[] += A[m]\"]}\n",
                              rows[i].expr);
    if (CHECK_ROW(&rows[i], s != NULL))
      CHECK_ROW_I64(&rows[i], s->workload->dims[0].extent, rows[i].want);
    tf_spec_free(s);
    tf_diags_free(d);
  }
}

static void test_settings(void) {
  static const char text[] = "params: {a: 1, b: a*2}\n"
                             "workload: {dims: {m: a, n: b}, ops: [\"C[m] += A[m,n]\"]}\n";
  tf_setting set[] = {{"a", "b/4"}, {"b", "40"}};
  tf_diags *d = tf_diags_new();
  tf_spec *s = read_text(text, set, 2, d);
  if (CHECK(s != NULL)) {
    CHECK_I64(s->workload->dims[0].extent, 10);
    CHECK_I64(s->workload->dims[1].extent, 40);
  }
  tf_spec_free(s);
  tf_diags_free(d);
}

/* ---- architecture ------------------------------------------------------------------- */
static const char EDGE[] =
    "architecture:\n"
    "  name: edge\n"
    "  clock: 2 GHz\n"
    "  word-bits: 16\n"
    "  overlap: perfect\n"
    "  technology: 16 nm\n"
    "  memories:\n"
    "  - name: DRAM\n"
    "    bandwidth: 60 GB/s\n"
    "    energy: {read: 200 pJ, write: 0.1 nJ}\n"
    "    latency: 50 ns\n"
    "  - name: L1\n"
    "    mesh: [2, n]\n"
    "    capacity: 4*kib KiB\n"
    "    bandwidth: {read: 8}\n"
    "    network: {multicast: false, energy-per-hop: 2 pJ}\n"
    "    double-buffered: true\n"
    "    word-bits: 8\n"
    "    issue: 3\n"
    "  - name: L0\n"
    "    capacity: 6\n"
    "    energy: 1 pJ\n"
    "  compute:\n"
    "  - {name: matrix, ops: [mac], mesh: [n + 1], rate: 0.5, energy: 0.5 pJ, pipeline: 7}\n"
    "  - {name: vector, ops: [add, exp], below: L1, mesh: [32, 3],\n"
    "     network: {reduce: false}}\n"
    "params: {kib: 2, n: 3}\n";

static void test_memories(const tf_arch *a) {
  const tf_memory *m = a->memories;
  CHECK_NEAR(m[0].read_bw, 15, 1e-12); /* 60e9 / 2 bytes / 2e9 */
  CHECK(m[0].one_port && m[0].write_bw == m[0].read_bw && m[0].capacity_words == -1);
  CHECK(m[0].read_pj == 200 && m[0].write_pj == 100 && !m[0].energy_from_table);
  CHECK_NEAR(m[0].latency, 100, 1e-12);
  CHECK(m[0].mesh[0] == 1 && m[0].mesh[1] == 1 && m[0].multicast && m[0].reduce);
  CHECK(m[1].mesh[0] == 2 && m[1].mesh[1] == 3 && m[1].mesh_at.line == 13);
  CHECK_I64(m[1].capacity_words, 8192);
  CHECK(m[1].capacity_at.line == 14 && m[1].capacity_at.col == 15 && m[1].capacity_at.len == 9);
  CHECK(m[1].read_bw == 8 && isinf(m[1].write_bw) && !m[1].one_port);
  CHECK(!m[1].multicast && m[1].reduce && m[1].hop_pj == 2 && m[1].double_buffered);
  CHECK(m[1].word_bits == 8 && m[1].issue == 3 && m[1].energy_from_table);
  CHECK(isinf(m[2].read_bw) && m[2].capacity_words == 6 && m[2].read_pj == 1);
}

static void test_arch(void) {
  tf_diags *d = tf_diags_new();
  tf_spec *s = read_text(EDGE, NULL, 0, d);
  if (!CHECK(s != NULL)) return;
  const tf_arch *a = s->arch;
  CHECK_TEXT(a->name, "edge");
  CHECK(a->clock_hz == 2e9 && a->word_bits == 16 && a->technology_nm == 16);
  CHECK(a->overlap == TF_OVERLAP_PERFECT && a->n_memories == 3 && a->n_units == 2);
  test_memories(a);
  const tf_unit *u = a->units;
  CHECK(u[0].kinds == (1u << TF_K_MAC | 1u << TF_K_COPY) && u[0].below == 2);
  CHECK(u[0].mesh[0] == 4 && u[0].mesh[1] == 1); /* [X] */
  CHECK(u[0].rate == 0.5 && u[0].pj == 0.5 && u[0].pipeline == 7 && !u[0].energy_from_table);
  CHECK(u[1].below == 1 && u[1].mesh[0] == 32 && u[1].mesh[1] == 3 && u[1].rate == 1);
  CHECK(u[1].multicast && !u[1].reduce && u[1].energy_from_table && u[1].at.line == 25);
  CHECK(s->workload == NULL && s->mapping_text == NULL);
  tf_spec_free(s);
  tf_diags_free(d);
}

/* Each figure of a core, of a multiprocessor, is read into its own field, and is as usual where it
 * is left out. */
static void test_figures(const char *what, const char *const *key, int n, const double *usual,
                         size_t at) {
  for (int i = 0; i < n; i++) {
    tf_diags *d = tf_diags_new();
    tf_spec *s = read_printed(
        d, "architecture: {%s: {%s: 3}, memories: [{name: M}], compute: [{name: u, ops: [mac]}]}",
        what, key[i]);
    const double *got = s ? (const double *)(const void *)((const char *)s->arch + at) : NULL;
    for (int k = 0; CHECK(got) && k < n; k++)
      CHECK(got[k] == (k == i ? 3 : usual[k]) && usual[k] != 3);
    tf_spec_free(s);
    tf_diags_free(d);
  }
}

static void test_core(void) {
#define KEY(kind, key, type, field, size, usual, left, words) key,
#define PART(kind, key, left, words)
  static const char *const core[] = {TF_CORE_KEYS(KEY, PART)};
  static const char *const multiprocessor[] = {TF_MULTIPROCESSOR_KEYS(KEY, PART)};
#undef KEY
#undef PART
  enum { N = sizeof core / sizeof *core, M = sizeof multiprocessor / sizeof *multiprocessor };
  const tf_core usual = tf_core_usual();
  const tf_multiprocessor h100 = tf_multiprocessor_usual();
  CHECK(sizeof usual == N * sizeof(double) && usual.tile == 20 && usual.page == 4096 &&
        usual.store == 32);
  CHECK(sizeof h100 == M * sizeof(double) && h100.plain == 128 && h100.memory == 228 * 1024 &&
        h100.share == 0.63);
  test_figures("core", core, N, &usual.tile, offsetof(tf_arch, core));
  test_figures("multiprocessor", multiprocessor, M, &h100.plain, offsetof(tf_arch, multiprocessor));
}

/* The usual figures are those of a file, which says each. */
static void test_core_file(void) {
#define KEY(kind, key, type, field, size, usual, left, words) key,
#define PART(kind, key, left, words)
  static const char *const core[] = {TF_CORE_KEYS(KEY, PART)};
#undef KEY
#undef PART
  const tf_core usual = tf_core_usual();
  size_t len;
  char *text = case_file("arch-specs/cores/zen5.yaml", &len);
  tf_diags *d = tf_diags_new();
  tf_spec *s = read_text(text, NULL, 0, d);
  if (CHECK(s && s->arch)) CHECK(!memcmp(&s->arch->core, &usual, sizeof usual));
  for (size_t i = 0; i < sizeof core / sizeof *core; i++) {
    char line[40];
    snprintf(line, sizeof line, "\n    %s: ", core[i]);
    if (!CHECK(strstr(text, line))) printf("zen5.yaml lacks %s\n", core[i]);
  }
  tf_spec_free(s);
  tf_diags_free(d);
  free(text);
}

static void test_arch_defaults(void) {
  tf_diags *d = tf_diags_new();
  tf_spec *s = read_text("architecture: {memories: [{name: M}], compute: [{name: u, ops: [mac]}]}",
                         NULL, 0, d);
  if (!CHECK(s != NULL)) return;
  CHECK(s->arch->clock_hz == 1e9 && s->arch->word_bits == 16 && s->arch->technology_nm == 45);
  CHECK(s->arch->overlap == TF_OVERLAP_DOUBLE_BUFFER);
  CHECK(s->arch->memories[0].latency == 0 && !s->arch->memories[0].double_buffered);
  CHECK_NEAR(s->arch->memories[0].read_pj, 487.5, 1e-12);
  CHECK_NEAR(s->arch->units[0].pj, 1.5, 1e-12);
  tf_spec_free(s);
  tf_diags_free(d);
}

/* The measured points come out as published; the rest is monotone. */
static void test_energy_table(void) {
  CHECK_NEAR(tf_table_word_pj(8192, 64, 45, false), 10, 1e-12);
  CHECK_NEAR(tf_table_word_pj(32768, 64, 45, false), 20, 1e-12);
  CHECK_NEAR(tf_table_word_pj(1048576, 64, 45, false), 100, 1e-12);
  CHECK_NEAR(tf_table_word_pj(0, 64, 7, true), 1950, 1e-12);
  CHECK_NEAR(tf_table_point_pj(1u << TF_K_ADD, 32, 45), 0.9, 1e-12);
  CHECK_NEAR(tf_table_point_pj(1u << TF_K_MUL, 32, 45), 3.7, 1e-12);
  for (int bytes = 16; bytes < 1000000000; bytes *= 2) {
    double less = tf_table_word_pj(bytes, 16, 45, false);
    CHECK(less > 0 && less < tf_table_word_pj(2.0 * bytes, 16, 45, false));
  }
}

/* What a source says of a point of its own comes out; what it does not speak of stays as certain as
 * the table. */
static void test_spread(void) {
  const tf_spread dram = tf_spread_word(0, 7, true), buffer = tf_spread_word(8192, 7, false);
  CHECK_NEAR(dram.low * 1950, 3.97 * 64, 1e-9);
  CHECK_NEAR(dram.high * 1950, 2600, 1e-9);
  CHECK_NEAR(buffer.high * tf_table_word_pj(8192, 64, 7, false), 7.5, 1e-9);
  CHECK_NEAR(tf_spread_word(1048576, 7, false).low * tf_table_word_pj(1048576, 64, 7, false), 14,
             1e-9);
  CHECK_NEAR(tf_spread_word(131072, 45, false).low * tf_table_word_pj(131072, 64, 45, false), 26.16,
             1e-9);
  CHECK_NEAR(tf_spread_word(102400, 65, false).high * tf_table_word_pj(102400, 64, 45, false), 36,
             1e-9);
  CHECK_NEAR(tf_spread_word(1 << 22, 45, false).high, 1, 1e-12);
  const uint32_t mac = 1u << TF_K_MAC, exponent = 1u << TF_K_EXP;
  const tf_spread bytes = tf_spread_point(mac, 8, 45), floats = tf_spread_point(mac, 32, 7);
  CHECK_NEAR(bytes.low * tf_table_point_pj(mac, 8, 45), 0.23, 1e-9);
  CHECK_NEAR(bytes.high * tf_table_point_pj(mac, 8, 40), 0.8465, 1e-9);
  CHECK_NEAR(tf_spread_point(mac, 16, 7).high * tf_table_point_pj(mac, 16, 7) / (12.7 / 4 + 0.105),
             7.0 / 40, 1e-3);
  CHECK_NEAR(floats.low * tf_table_point_pj(mac, 32, 7) / 3.2, 7.0 / 45, 1e-9);
  CHECK_NEAR(tf_spread_point(exponent, 32, 40).high * tf_table_point_pj(exponent, 32, 40), 5 * 52.0,
             1e-9);
  CHECK_NEAR(tf_spread_point(mac, 64, 45).high, 1, 1e-12);
}

/* A buffer's area goes by the published bit of its node, a unit of whole numbers is the smaller. */
static void test_spread_area(void) {
  tf_diags *d = tf_diags_new();
  tf_spec *s =
      read_text("architecture: {technology: 7 nm, word-bits: 8, memories: [{name: M}, {name: B, "
                "capacity: 1 MiB, bandwidth: 8}], compute: [{name: u, ops: [mac], rate: 2}]}",
                NULL, 0, d);
  if (!CHECK(s != NULL)) return;
  const tf_spread cells = tf_spread_memory_area(s->arch, 1),
                  unit = tf_spread_unit_area(s->arch, s->arch->units);
  CHECK_NEAR(cells.high * 0.346 * 7 * 7 / 45 / 45, 0.027, 1e-9);
  CHECK_NEAR(cells.low, 1, 1e-12);
  CHECK_NEAR(unit.low * tf_table_unit_um2(s->arch, s->arch->units) * 45 * 45 / 7 / 7,
             2 * (36 + 282), 1e-6);
  CHECK_NEAR(tf_spread_memory_area(s->arch, 0).high, 1, 1e-12);
  tf_spec_free(s);
  tf_diags_free(d);
}

/* ---- workload ----------------------------------------------------------------------- */
/* Indices of `n` ints as text, "0 2 1". */
static const char *ints_text(const int *x, int n, char *buf, size_t size) {
  size_t used = 0;
  buf[0] = '\0';
  for (int i = 0; i < n; i++)
    used += (size_t)snprintf(buf + used, size - used, "%s%d", i ? " " : "", x[i]);
  return buf;
}

static void test_attention(void) {
  static const char text[] = "params: {seq: 512, heads: 12}\n"
                             "workload:\n"
                             "  name: self-attention\n"
                             "  dims: {b: 1, h: heads, m: seq, l: seq, a: 64, n: 64}\n"
                             "  tensors: {Q: {word-bits: 8}}\n"
                             "  ops:\n"
                             "  - {name: qk, expr: \"S[b,h,m,l] += Q[b,h,m,a] * K[b,h,l,a]\"}\n"
                             "  - X[b,h,m] max= S[b,h,m,l]\n"
                             "  - D[b,h,m,l] = S[b,h,m,l] - X[b,h,m]\n"
                             "  - E[b,h,m,l] = exp(D[b,h,m,l])\n"
                             "  - Z[b,h,m] += E[b,h,m,l]\n"
                             "  - P[b,h,m,l] = E[b,h,m,l] / Z[b,h,m]\n"
                             "  - O[b,h,m,n] += P[b,h,m,l] * V[b,h,l,n]\n";
  static const uint32_t kinds[] = {1u << TF_K_MAC, 1u << TF_K_MAX, 1u << TF_K_SUB, 1u << TF_K_EXP,
                                   1u << TF_K_ADD, 1u << TF_K_DIV, 1u << TF_K_MAC};
  char buf[64];
  tf_diags *d = tf_diags_new();
  tf_spec *s = read_text(text, NULL, 0, d);
  if (!CHECK(s != NULL)) return;
  const tf_workload *w = s->workload;
  CHECK(w->n_ops == 7 && w->n_dims == 6 && w->n_tensors == 10);
  CHECK_TEXT(w->name, "self-attention");
  CHECK_TEXT(w->ops[0].name, "qk");
  CHECK_TEXT(w->ops[6].name, "O");
  CHECK(w->ops[1].at.line == 8 && w->ops[1].at.col == 5);
  CHECK(w->ops[6].reads[1].at.line == 13 && w->ops[6].reads[1].at.col == 32);
  for (int i = 0; i < 7; i++)
    CHECK_I64(w->ops[i].kinds, kinds[i]);
  CHECK_TEXT(ints_text(w->ops[0].dims, w->ops[0].n_dims, buf, sizeof buf), "0 1 2 3 4");
  CHECK_TEXT(ints_text(w->ops[6].dims, w->ops[6].n_dims, buf, sizeof buf), "0 1 2 5 3");
  CHECK(w->ops[0].n_out_dims == 4 && w->ops[1].reduce == TF_REDUCE_MAX);
  CHECK_TEXT(ints_text(w->topo, 7, buf, sizeof buf), "0 1 2 3 4 5 6");
  const tf_tensor *q = &w->tensors[1], *e = &w->tensors[5];
  CHECK_TEXT(q->name, "Q");
  CHECK(q->word_bits == 8 && q->producer == -1 && q->rank == 4 && q->extent[1] == 12);
  CHECK_TEXT(e->name, "E");
  CHECK(e->producer == 3 && e->word_bits == 16);
  CHECK_TEXT(ints_text(e->consumers, e->n_consumers, buf, sizeof buf), "4 5");
  tf_spec_free(s);
  tf_diags_free(d);
}

/* One rank of an input: where it starts and ends, given its pad and shape. */
static void test_extents(void) {
  static const struct {
    int line;
    const char *index, *row;
    int64_t lo, extent, pad;
  } rows[] = {
      {__LINE__, "p", "", 0, 8, 0},
      {__LINE__, "p + r", "", 0, 10, 0},
      {__LINE__, "2*p + r", "", 0, 17, 0},
      {__LINE__, "stride*p + r - 1", "", -1, 24, 0},
      {__LINE__, "p + r", "pad: [1]", 1, 8, 1},
      {__LINE__, "p + r - 1", "pad: [1]", 0, 8, 1},
      {__LINE__, "p + 3", "", 3, 8, 0},
      {__LINE__, "7 - p", "", 0, 8, 0},
      {__LINE__, "-p", "", -7, 8, 0},
      {__LINE__, "2*p + r", "pad: [1], shape: [16]", 1, 16, 1},
      {__LINE__, "2*p + r - 1", "pad: [1], shape: [16]", 0, 16, 1},
      {__LINE__, "p + 1", "shape: [20]", 0, 20, 0},
      {__LINE__, "(p + r)*2 - p", "", 0, 12, 0},
      {__LINE__, "(stride - 1)/2*p", "", 0, 8, 0},
      {__LINE__, "p + r - r", "", 0, 8, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tf_diags *d = tf_diags_new();
    tf_spec *s = read_printed(d,
                              "params: {stride: 3}\n"
                              "workload: {dims: {p: 8, r: 3}, tensors: {I: {%s}},\n"
                              "  ops: [\"C[p] += I[%s] * W[r]\"]}\n",
                              rows[i].row, rows[i].index);
    if (CHECK_ROW(&rows[i], s != NULL)) {
      const tf_tensor *t = &s->workload->tensors[1];
      CHECK_ROW_I64(&rows[i], t->lo[0], rows[i].lo);
      CHECK_ROW_I64(&rows[i], t->extent[0], rows[i].extent);
      CHECK_ROW_I64(&rows[i], t->pad[0], rows[i].pad);
    }
    tf_spec_free(s);
    tf_diags_free(d);
  }
}

/* Evaluates an expression with every read tensor holding `value`, where all dims are 2. */
static double evaluate(const tf_op *op, double value) {
  double x[64];
  for (int i = 0; i < op->n_expr && i < 64; i++) {
    const tf_expr *e = &op->expr[i];
    double arg[3] = {0};
    for (int k = 0; k < e->n_args; k++)
      arg[k] = x[e->arg[k]];
    x[i] = e->what == TF_X_NUMBER ? e->number
           : e->what == TF_X_READ ? value
           : e->what == TF_X_DIM  ? 2
                                  : tf_kind_apply(e->call, arg);
  }
  return x[op->n_expr - 1];
}

#define BIT(k) (1u << TF_K_##k)
/* op: what stands between the left side and the expression; value at A = 3. */
static void test_elements(void) {
  static const struct {
    int line;
    const char *op, *expr;
    uint32_t kinds;
    int n_expr;
    double value;
  } rows[] = {
      {__LINE__, "=", "A[m]", BIT(COPY), 1, 3},
      {__LINE__, "+=", "A[m]", BIT(ADD), 1, 3},
      {__LINE__, "*=", "A[m]", BIT(MUL), 1, 3},
      {__LINE__, "min=", "A[m]", BIT(MIN), 1, 3},
      {__LINE__, "+=", "A[m]*B[m]", BIT(MAC), 3, 9},
      {__LINE__, "=", "A[m]*B[m]", BIT(MUL), 3, 9},
      {__LINE__, "max=", "A[m]*B[m]", BIT(MUL) | BIT(MAX), 3, 9},
      {__LINE__, "+=", "A[m]*B[m]*A[m]", BIT(MUL) | BIT(ADD), 5, 27},
      {__LINE__, "+=", "exp(A[m])", BIT(EXP) | BIT(ADD), 2, 20.085536923187668},
      {__LINE__, "=", "2 + 3*4", BIT(COPY), 1, 14},
      {__LINE__, "=", "A[m] - 1 - 1", BIT(SUB), 5, 1},
      {__LINE__, "=", "A[m] - (1 - 1)", BIT(SUB), 3, 3},
      {__LINE__, "=", "-A[m]", BIT(NEG), 2, -3},
      {__LINE__, "=", "-2*A[m]", BIT(MUL), 3, -6},
      {__LINE__, "=", "A[m] / sqrt(64)", BIT(DIV), 3, 0.375},
      {__LINE__, "=", "A[m] * scale", BIT(MUL), 3, 1.5},
      {__LINE__, "=", "select(A[m] - 3, 1, max(A[m], 5))", BIT(SELECT) | BIT(SUB) | BIT(MAX), 8, 5},
      {__LINE__, "=", "relu(-A[m]) + abs(-A[m])", BIT(RELU) | BIT(ABS) | BIT(NEG) | BIT(ADD), 7, 3},
      {__LINE__, "=", "sigmoid(A[m] - A[m])", BIT(SIGMOID) | BIT(SUB), 4, 0.5},
      {__LINE__, "=", "silu(A[m] - A[m])", BIT(SILU) | BIT(SUB), 4, 0},
      {__LINE__, "=", "1/A[m]/3", BIT(DIV), 5, 1.0 / 9},
      {__LINE__, "=", "select(m <= 2, A[m], -3)", BIT(SELECT), 6, 3},
      {__LINE__, "=", "select(m < 2, A[m], -3)", BIT(SELECT), 6, -3},
      {__LINE__, "=", "select(m > 1 and m != 5, A[m], 0)", BIT(SELECT), 10, 3},
      {__LINE__, "=", "select(not (m >= 2) or 2*m == 4, A[m], 0)", BIT(SELECT), 14, 3},
      {__LINE__, "=", "select(A[m] > 2, 1, 0)", BIT(SELECT), 6, 1},
      {__LINE__, "=", "A[m] - 0.5 * (m + 1)", BIT(SUB), 7, 1.5},
      {__LINE__, "+=", "A[m] * (A[m] >= m)", BIT(SELECT) | BIT(MUL) | BIT(ADD), 5, 3},
      {__LINE__, "=", "m", BIT(COPY), 1, 2},
      {__LINE__, "=", "min(3 > 2, 2 < 1) + (1 and 0 or not 0)", BIT(COPY), 1, 1},
      {__LINE__, "=", "max(-inf, 2)", BIT(COPY), 1, 2},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tf_diags *d = tf_diags_new();
    tf_spec *s = read_printed(d,
                              "params: {scale: 1/2}\n"
                              "workload: {dims: {m: 4}, ops: [\"C[m] %s %s\"]}\n",
                              rows[i].op, rows[i].expr);
    if (CHECK_ROW(&rows[i], s != NULL)) {
      const tf_op *op = &s->workload->ops[0];
      CHECK_ROW_I64(&rows[i], op->kinds, rows[i].kinds);
      CHECK_ROW_I64(&rows[i], op->n_expr, rows[i].n_expr);
      CHECK_ROW_NEAR(&rows[i], evaluate(op, 3), rows[i].value, 1e-12);
    }
    tf_spec_free(s);
    tf_diags_free(d);
  }
}

/* Ops in any order; a scalar; a tensor read twice by one op. */
static void test_order(void) {
  static const char text[] = "workload:\n"
                             "  dims: {m: 4}\n"
                             "  ops:\n"
                             "  - D[m] = C[m] * T[]\n"
                             "  - T[] += C[m] * C[m]\n"
                             "  - F[m] = A[m]\n"
                             "  - C[m] = A[m]\n";
  char buf[64];
  tf_diags *d = tf_diags_new();
  tf_spec *s = read_text(text, NULL, 0, d);
  if (!CHECK(s != NULL)) return;
  const tf_workload *w = s->workload;
  CHECK_TEXT(ints_text(w->topo, 4, buf, sizeof buf), "2 3 1 0");
  const tf_tensor *c = &w->tensors[1], *t = &w->tensors[2];
  CHECK_TEXT(ints_text(c->consumers, c->n_consumers, buf, sizeof buf), "0 1");
  CHECK(t->rank == 0 && t->producer == 1 && w->ops[1].n_reads == 2 && w->ops[1].n_dims == 1);
  CHECK(w->ops[1].reads[0].tensor == w->ops[1].reads[1].tensor && w->ops[1].n_out_dims == 0);
  CHECK_I64(c->at.line, 7);
  tf_spec_free(s);
  tf_diags_free(d);
}

/* T masks the scores S, which V shows, and rows[].reads is what T reads: only without the view may
 * S be skipped. */
static void test_views(void) {
  static const struct {
    int line;
    const char *reads;
    bool view, fully_masked;
  } rows[] = {
      {__LINE__, "S[m,l]", false, true},
      {__LINE__, "S[m,l] + V[l,m]", true, false},
      {__LINE__, "V[l,m]", true, false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tf_diags *d = tf_diags_new();
    tf_spec *s = read_printed(
        d,
        "workload:\n  dims: {m: 4, l: 6}\n  tensors: {%s}\n  ops:\n  - S[m,l] = A[m,l] * 2\n"
        "  - T[m,l] = select(l <= m, %s, -inf)\n  - X[m] max= T[m,l]\n"
        "  - E[m,l] = exp(T[m,l] - X[m])\n"
        "  - Z[m] += E[m,l]\n",
        rows[i].view ? "V: {view: S, shape: [6, 4]}" : "", rows[i].reads);
    tf_arena *a = tf_arena_new();
    tf_mask m;
    if (CHECK_ROW(&rows[i], s != NULL) && CHECK_ROW(&rows[i], tf_mask_find(s->workload, a, &m))) {
      const tf_workload *wl = s->workload;
      CHECK_ROW(&rows[i],
                m.op == 1 && m.fully_masked[0] == rows[i].fully_masked && m.fully_masked[3]);
      CHECK_ROW_I64(&rows[i], wl->tensors[wl->ops[0].out].n_consumers, 1);
      CHECK_ROW(&rows[i], tf_no_views(wl, d) == !rows[i].view);
    }
    tf_spec_free(s);
    tf_arena_free(a);
    tf_diags_free(d);
  }
}

/* Elements of tensor z that are not zero, told one by one. */
static void check_known(const tf_workload *wl, const char *name, bool (*is)(int, int)) {
  const tf_tensor *t = NULL;
  for (int z = 0; z < wl->n_tensors; z++)
    if (!strcmp(wl->tensors[z].name, name)) t = &wl->tensors[z];
  CHECK(t && t->density.fall == TF_FALL_KNOWN && t->extent[0] == 4 && t->extent[1] == 4);
  if (!t) return;
  int n = 0, run = 0;
  for (int e = 0; e < 16; e++) {
    while (run < t->density.n_runs && t->density.runs[run].to <= e)
      run++;
    const bool in = run < t->density.n_runs && t->density.runs[run].from <= e;
    CHECK(in == is(e / 4, e % 4));
    n += in;
  }
  CHECK(t->density.share * 16 - n < 1e-12 && n - t->density.share * 16 < 1e-12);
}

static bool in_lower(int i, int j) { return j <= i && j >= i - 2; }
static bool in_upper(int i, int j) { return i >= j - 3 && i <= j - 1; }
static bool in_file(int i, int j) {
  return (i == 0 && j == 0) || (i == 3 && j == 3) || (i < 2 && j < 2 && i != j) ||
         (i > 1 && j > 1 && i != j);
}

static void test_known(void) {
  static const char text[] =
      "workload:\n  dims: {i: 4, j: 4}\n  tensors:\n"
      "    A: {density: {band: [i, j], below: 2, above: 0}}\n"
      "    B: {density: {band: [j, i], below: 3, above: -1}}\n"
      "    M: {density: {file: hollow.mtx}}\n    T: {density: {blocks: [2, 4], share: 0.5}}\n"
      "  ops: ['Y[i] += A[i,j] * B[i,j] * M[i,j] * T[i,j]']\n";
  const tf_text one = {"tests/data/sparse/known.yaml", text, sizeof text - 1};
  tf_diags *d = tf_diags_new();
  tf_spec *s = tf_spec_read_texts(&one, 1, NULL, 0, d);
  CHECK(s && s->workload);
  if (s) check_known(s->workload, "A", in_lower);
  if (s) check_known(s->workload, "B", in_upper);
  if (s) check_known(s->workload, "M", in_file);
  tf_spec_free(s);
  tf_diags_free(d);
}

static void test_mapping(void) {
  static const char text[] = "mapping: |\n  DRAM for m=4\n    op C\n";
  tf_text two[] = {{"a.yaml", text, strlen(text)}, {"b.yaml", EDGE, strlen(EDGE)}};
  tf_diags *d = tf_diags_new();
  tf_spec *s = tf_spec_read_texts(two, 2, NULL, 0, d);
  if (!CHECK(s != NULL)) return;
  CHECK_TEXT(s->mapping_text, "DRAM for m=4\n  op C\n");
  CHECK(s->mapping_at.line == 2 && s->mapping_at.col == 3);
  CHECK_TEXT(tf_diags_file_name(d, s->mapping_at.file), "a.yaml");
  CHECK(s->arch && s->arch->at.file != s->mapping_at.file);
  tf_spec_free(s);
  tf_diags_free(d);
}

static void test_nothing(void) {
  tf_diags *d = tf_diags_new();
  tf_spec *s = tf_spec_read(NULL, 0, NULL, 0, d);
  CHECK(s && !s->arch && !s->workload && !s->mapping_text);
  tf_spec_free(s);
  tf_spec_free(NULL);
  tf_diags_free(d);
}

/* Whether every a of n from `a` on has a b of n_b from `b` on with least <= b - a <= most. */
static bool all_meet(int a, int n, int b, int n_b, int least, int most) {
  bool all = true;
  for (int i = a; i < a + n; i++) {
    bool any = false;
    for (int j = b; j < b + n_b; j++)
      any |= j - i >= least && j - i <= most;
    all &= any;
  }
  return all;
}

/* Rows and columns of a mask that keep something, pair by pair. */
static void test_mask_meets(void) {
  for (int lo = -4; lo <= 4; lo++)
    for (int hi = lo; hi <= 4; hi++)
      for (int k = 0; k < 3 * 4 * 3 * 4; k++) {
        const tf_mask m = {.lo = lo, .hi = hi};
        const int q = k % 3, nq = 1 + k / 3 % 4, l = k / 12 % 3, nl = 1 + k / 36;
        CHECK(tf_mask_q_meets(&m, q, nq, l, nl) == all_meet(q, nq, l, nl, lo, hi));
        CHECK(tf_mask_l_meets(&m, q, nq, l, nl) == all_meet(l, nl, q, nq, -hi, -lo));
      }
}

int main(void) {
  test_places();
  test_tree();
  test_mask_meets();
  test_params();
  test_settings();
  test_arch();
  test_core();
  test_core_file();
  test_arch_defaults();
  test_energy_table();
  test_spread();
  test_spread_area();
  test_attention();
  test_extents();
  test_elements();
  test_order();
  test_views();
  test_known();
  test_mapping();
  test_nothing();
  return check_report();
}
