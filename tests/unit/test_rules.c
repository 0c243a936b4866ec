/* Heron's rules (tune/rules): the systems that the notes on its code print, derived; the numbers of
 * their solutions against sums written down by hand and against plain backtracking. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/check.h"
#include "tileflow/tune.h"
#include "tune/rules/rules.h"

#define CACHES                                                                                     \
  "architecture:\n  memories:\n  - {name: DRAM}\n  - {name: L3}\n  - {name: L2}\n  - {name: "      \
  "L1}\n  - {name: REG}\n"                                                                         \
  "  compute:\n  - {name: fma, ops: [mac, add], below: REG}\n"
#define ONE_CACHE                                                                                  \
  "architecture:\n  memories:\n  - {name: DRAM}\n  - {name: L1}\n  - {name: REG}\n"                \
  "  compute:\n  - {name: fma, ops: [mac, add], below: REG}\n"
#define CALL(name, m, n)                                                                           \
  "- name: " name                                                                                  \
  "\n  intrinsic: wmma::mma_sync\n  compute: D[i1, i2] += A[i1, r1] * B[r1, i2]\n  sizes: {i1: " m \
  ", i2: " n                                                                                       \
  ", r1: 2}\n  operands: {A: {memory: SMEM}, B: {memory: SMEM}}\n  below: REG\n  throughput: 1\n"
#define SCRATCHPAD(words)                                                                          \
  "architecture:\n  memories:\n  - {name: DRAM}\n  - {name: SMEM, capacity: " words                \
  "}\n  - {name: REG}\n"                                                                           \
  "  compute:\n  - {name: tensor, ops: [mac, add], below: REG}\ninstructions:\n"
#define DENSE(i, j, k)                                                                             \
  "workload:\n  dims: {i: " i ", j: " j ", k: " k "}\n  ops:\n  - dense[i,j] += A[i,k] * B[j,k]\n"

static tf_spec *read_spec(const char *text, tf_diags *d) {
  const tf_text t = {"case.yaml", text, strlen(text)};
  return tf_spec_read_texts(&t, 1, NULL, 0, d);
}

static int rising(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines in their order, each once its text ends, comments left out; in place. */
static int sorted(char *text, char *line[256]) {
  int n = 0;
  for (char *p = strtok(text, "\n"); p && n < 256; p = strtok(NULL, "\n"))
    if (*p != '#') line[n++] = p;
  qsort(line, (size_t)n, sizeof *line, rising);
  return n;
}

static char *file_text(const char *path) {
  FILE *f = fopen(path, "r");
  char *text = calloc(1, 1 << 16);
  if (f && text) text[fread(text, 1, (1 << 16) - 1, f)] = '\0';
  if (f) fclose(f);
  return text;
}

static int lines_with(const char *text, const char *what) {
  int n = 0;
  for (const char *p = text; (p = strstr(p, what)); p++)
    n++;
  return n;
}

/* Factors of 2^6 in four parts, of which the last ones, from place `at` on, are split in four once
 * more. */
static int64_t two_chains(int at) {
  int64_t all = 0;
  for (int a = 0; a <= 6; a++)
    for (int b = 0; a + b <= 6; b++)
      for (int c = 0; a + b + c <= 6; c++) {
        const int part[] = {a, b, c, 6 - a - b - c};
        int left = 0;
        for (int k = at + 1; k < 4; k++)
          left += part[k];
        all += (left + 1) * (left + 2) * (left + 3) / 6;
      }
  return all;
}

static void test_dump(void) {
  tf_diags *d = tf_diags_new();
  tf_spec *spec = read_spec(CACHES DENSE("64", "64", "64"), d);
  tf_space_size size;
  char *text = file_text("tests/data/heron-gemm64.csp"), *want[256], *have[256], number[32];
  CHECK(tf_tune_rules(spec, &size, d));
  const tf_space_form *f = &size.form[0];
  CHECK_I64(size.n, 1);
  CHECK(!strcmp(f->name, "cpu"));
  CHECK_I64(f->knobs, 5);
  CHECK_I64(f->variables, 45);
  CHECK_I64(lines_with(f->text, "PROD "), 16);
  CHECK_I64(lines_with(f->text, ".outer in ") + lines_with(f->text, ".inner in ") +
                lines_with(f->text, ".fused in "),
            31);
  int64_t all = 0;
  for (int at = 0; at < 4; at++)
    all += two_chains(at) * two_chains(at);
  snprintf(number, sizeof number, "%lld",
           (long long)(all * 84 * 6 * 7 * 7 * 2)); /* k in four; the free knobs */
  CHECK(!strcmp(f->fit, number));
  const int n = sorted(text, want), m = sorted(f->text, have);
  CHECK_I64(m, n);
  for (int k = 0; k < n && k < m; k++)
    CHECK(!strcmp(have[k], want[k]));
  tf_space_size_free(&size);
  free(text);
  tf_spec_free(spec);
  tf_diags_free(d);
}

/* The stages of Tensor Cores before their loops are split: 9, 14 variables, m n k = 4096. */
static void test_wmma(void) {
  const char *paths[] = {"arch-specs/v100.yaml", "workloads/operators/gmm.yaml"};
  static const tf_setting set[] = {{"M", "64"}, {"N", "64"}, {"K", "64"}};
  tf_diags *d = tf_diags_new();
  tf_spec *spec = tf_spec_read(paths, 2, set, 3, d);
  tf_arena *a = tf_arena_new();
  rules *r = TF_NEW(a, rules);
  csp_total n;
  if (!CHECK(spec && r)) return;
  *r = (rules){.spec = spec, .op = &spec->workload->ops[0]};
  r->sys = (rule_system){.s = csp_new(a), .wl = spec->workload};
  rules_find_family(r);
  CHECK_I64(r->family.n, 3);
  rules_prepare(r);
  csp *s = r->sys.s;
  CHECK(!r->sys.bad && csp_ready(s));
  int constants = 0;
  for (int v = 0; v < s->n_vars; v++)
    constants += s->var[v].constant;
  CHECK_I64(s->n_vars - constants, 14);
  CHECK_I64(r->n_stages + r->op->n_reads, 9); /* inputs stand where they are */
  const struct {
    const char *name;
    int64_t lo, hi;
  } var[] = {{"wmma_m", 8, 32}, {"wmma_n", 8, 32}, {"wmma_k", 16, 16}, {"wmma_m_wmma_n", 1, 4096}};
  for (int k = 0; k < 4; k++) {
    const int v = csp_find(s, var[k].name, strlen(var[k].name));
    if (!CHECK(v >= 0)) continue;
    CHECK_I64(s->var[v].lo, var[k].lo);
    CHECK_I64(s->var[v].hi, var[k].hi);
  }
  CHECK_I64(csp_count(s, false, 100000, &n), CSP_FOUND);
  CHECK_I64((int64_t)n, 3 * 11 * 11 * 11 * 11); /* three shapes, four positions of 11 */
  rules_schedule(r);
  CHECK(!r->sys.bad && csp_ready(s));
  tf_rng rng = tf_rng_new(5, 1);
  int64_t *value = TF_ARRAY(a, int64_t, (size_t)s->n_vars);
  const int m = csp_find(s, "wmma_m", 6), k = csp_find(s, "wmma_n", 6);
  for (int i = 0; i < 20; i++) {
    CHECK_I64(csp_sample(s, NULL, &rng, value), CSP_FOUND);
    CHECK(csp_holds(s, value));
    CHECK_I64(value[m] * value[k], 256);
  }
  tf_arena_free(a);
  tf_spec_free(spec);
  tf_diags_free(d);
}

/* All solutions by trying every value of one variable after the other. */
static int64_t by_trying(tf_arena *a, const csp *s, const csp_state *from, int v, int64_t *value) {
  int64_t each[CSP_SET_MAX], all = 0;
  csp_state to;
  while (v < s->n_vars && from->left[v].lo == from->left[v].hi)
    v++;
  if (v == s->n_vars) {
    for (v = 0; v < s->n_vars; v++)
      value[v] = from->left[v].lo;
    return csp_holds(s, value);
  }
  const int n = csp_values(s, from, v, CSP_SET_MAX, each);
  if (!CHECK(n >= 0 && csp_state_new(s, a, &to))) return 0;
  for (int k = 0; k < n; k++) {
    csp_state_copy(s, &to, from);
    if (csp_fix(s, &to, v, each[k])) all += by_trying(a, s, &to, v + 1, value);
  }
  return all;
}

/* What would only multiply the number of mappings is fixed: where one tile is cut, and where an
 * instruction is called. */
static const char one_tile[] = "EQ dense_unroll_pragma = 0\n"
                               "EQ dense_vectorize = 0\n"
                               "EQ dense_tileSpatial = 1\n"
                               "EQ dense.global_tileAll = 1\n";
static const char one_call[] = "EQ dense_unroll_pragma = 0\n"
                               "EQ dense_tileSpatial = 1\n"
                               "EQ dense.REG_tileAll = 1\n"
                               "EQ dense_i.outer = 1\n"
                               "EQ dense_i.inner.outer = 1\n"
                               "EQ dense_j.outer = 1\n"
                               "EQ dense_j.inner.outer = 1\n"
                               "EQ dense_i.inner.inner.outer = 1\n"
                               "EQ dense.REG_REG_pos = 0\n"
                               "EQ dense.REG_SMEM_pos = 0\n"
                               "EQ dense.REG_k.outer = 1\n";

static void test_small(void) {
  static const struct {
    int line;
    const char *spec, *more; /* more: fixes what would only multiply */
  } row[] = {
      {__LINE__, CACHES DENSE("2", "1", "1"), ""},
      {__LINE__, CACHES DENSE("2", "2", "2"), one_tile},
      {__LINE__, ONE_CACHE DENSE("4", "6", "3"), one_tile},
      {__LINE__,
       ONE_CACHE "workload:\n  dims: {i: 4, j: 3}\n  ops:\n  - dense[i,j] = A[i,j] + B[j]\n", ""},
      {__LINE__, SCRATCHPAD("16") CALL("one", "2", "2") DENSE("4", "2", "2"), one_call},
      {__LINE__,
       SCRATCHPAD("20") CALL("one", "2", "1") CALL("other", "1", "2") DENSE("4", "2", "2"),
       one_call},
      {__LINE__,
       SCRATCHPAD("30") CALL("one", "2", "1") CALL("other", "2", "2") DENSE("4", "2", "2"),
       one_call},
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    tf_diags *d = tf_diags_new();
    tf_spec *spec = read_spec(row[i].spec, d);
    tf_arena *a = tf_arena_new();
    tf_space_size size = {0};
    csp_state whole;
    csp_total n = 0;
    if (CHECK_ROW(&row[i], spec && tf_tune_rules(spec, &size, d))) {
      char *text = calloc(1, strlen(size.form[0].text) + strlen(row[i].more) + 1);
      strcat(strcpy(text, size.form[0].text), row[i].more);
      const csp *s =
          csp_read(a, NULL, tf_diags_add_file(d, "all", text, strlen(text)), text, strlen(text), d);
      if (CHECK_ROW(&row[i], s != NULL)) {
        csp_state_new(s, a, &whole);
        const int64_t want =
            csp_propagate_all(s, &whole)
                ? by_trying(a, s, &whole, 0, TF_ARRAY(a, int64_t, (size_t)s->n_vars))
                : 0;
        CHECK_ROW_I64(&row[i], csp_count(s, false, 1000000, &n), CSP_FOUND);
        CHECK_ROW_I64(&row[i], (int64_t)n, want);
        if (getenv("RULES_SAY")) printf("row %d: %lld\n", row[i].line, (long long)want);
      }
      free(text);
    }
    tf_space_size_free(&size);
    tf_arena_free(a);
    tf_spec_free(spec);
    tf_diags_free(d);
  }
}

static void test_refused(void) {
  static const struct {
    int line;
    const char *spec, *want;
  } row[] = {
      {__LINE__,
       CACHES "workload:\n"
              "  dims: {i: 2, abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz: 2}\n"
              "  ops:\n"
              "  - C[i] += A[i,abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz]\n"
              "  - "
              "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz[i,"
              "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz] = C[i] + "
              "A[i,abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz]\n",
       "names of its variables would have more than 95 letters"},
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    tf_diags *d = tf_diags_new();
    tf_spec *spec = read_spec(row[i].spec, d);
    tf_space_size size = {0};
    CHECK_ROW(&row[i], spec && !tf_tune_rules(spec, &size, d));
    char *said = tf_diags_text(d);
    if (!strstr(said, row[i].want)) printf("%s", said);
    CHECK_ROW(&row[i], strstr(said, row[i].want) != NULL);
    free(said);
    tf_space_size_free(&size);
    tf_spec_free(spec);
    tf_diags_free(d);
  }
}

/* A convolution with calls of two points a loop: the loop of an instruction is one that its size
 * divides; fused loops of four dims have numbers where the names would be too long. */
static void test_convolution(void) {
  tf_diags *d = tf_diags_new();
  tf_spec *spec = read_spec(
      SCRATCHPAD("4000") CALL(
          "one", "2", "2") "workload:\n  dims: {n: 1, k: 4, p: 5, q: 4, c: 4, r: 3, s: 3}\n  ops:\n"
                           "  - O[n,k,p,q] += I[n,c,p+r,q+s] * W[k,c,r,s]\n",
      d);
  tf_arena *a = tf_arena_new();
  tf_space_size size = {0};
  if (CHECK(spec && tf_tune_rules(spec, &size, d))) {
    const char *text = size.form[0].text;
    const csp *s =
        csp_read(a, NULL, tf_diags_add_file(d, "all", text, strlen(text)), text, strlen(text), d);
    tf_rng rng = tf_rng_new(6, 1);
    int64_t *value = s ? TF_ARRAY(a, int64_t, (size_t)s->n_vars) : NULL;
    CHECK(!strcmp(size.form[0].name, "scratchpad"));
    CHECK(strstr(text, "_loop") != NULL);
    CHECK(value && csp_sample(s, NULL, &rng, value) == CSP_FOUND && csp_holds(s, value));
  }
  tf_space_size_free(&size);
  tf_arena_free(a);
  tf_spec_free(spec);
  tf_diags_free(d);
}

int main(void) {
  test_dump();
  test_wmma();
  test_small();
  test_refused();
  test_convolution();
  return check_report();
}
