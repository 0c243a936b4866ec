/* Systems of constraints (tune/csp): against enumeration on random small ones, Heron's dump of gemm
 * 64^3, exact numbers of splits, and messages of the text format. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/check.h"
#include "tune/csp/csp.h"

enum { VARS = 6, SEEN = 20000 };

/* ---- all solutions of a small system, by trying everything ----------------------------------- */
typedef struct {
  const csp *s;
  int n, twice, wrong;
  int64_t (*row)[VARS];
} seen;

static int place(const seen *e, const int64_t *value) {
  for (int k = 0; k < e->n; k++)
    if (!memcmp(e->row[k], value, (size_t)e->s->n_vars * sizeof *value)) return k;
  return -1;
}

static bool note(void *ctx, const int64_t *value) {
  seen *e = ctx;
  e->twice += place(e, value) >= 0;
  e->wrong += !csp_holds(e->s, value);
  if (e->n < SEEN) memcpy(e->row[e->n++], value, (size_t)e->s->n_vars * sizeof *value);
  return true;
}

static void try_all(seen *e, int v, int64_t *value) {
  const csp_var *x = &e->s->var[v];
  if (v == e->s->n_vars) {
    if (csp_holds(e->s, value)) note(e, value);
    return;
  }
  for (int64_t i = x->lo; i <= x->hi; i++) { /* csp_holds knows the gaps of sets */
    value[v] = i;
    try_all(e, v + 1, value);
  }
}

/* ---- random small systems -------------------------------------------------------------------- */
static int some(tf_rng *rng, int n) { return (int)tf_rng_below(rng, (uint32_t)n); }

static void draw_var(csp *s, tf_rng *rng, int i) {
  char name[16];
  snprintf(name, sizeof name, "v%d", i);
  if (some(rng, 2)) {
    int64_t lo = some(rng, 3);
    csp_range(s, name, i < 3, lo, lo + some(rng, 7));
    return;
  }
  int64_t value[8];
  int n = 0;
  for (int64_t x = some(rng, 3); n < 1 + some(rng, 6) || n == 0; x += 1 + some(rng, 3))
    value[n++] = x;
  csp_set(s, name, i < 3, n, value);
}

static csp *draw(tf_arena *a, tf_rng *rng) {
  csp *s = csp_new(a);
  const int n = 3 + some(rng, VARS - 2);
  for (int i = 0; i < n; i++)
    draw_var(s, rng, i);
  for (int r = 1 + some(rng, 4); r > 0; r--) {
    const csp_kind kind = (csp_kind)some(rng, CSP_N_KINDS);
    const int one = kind == CSP_EQ || kind == CSP_LE;
    int list[4], most = one ? 1 : kind == CSP_SELECT ? 3 + some(rng, 2) : 2 + some(rng, 2);
    for (int k = 0; k < most; k++)
      list[k] = some(rng, n);
    csp_add(s, kind, some(rng, n), most, list);
  }
  csp_ready(s);
  return s;
}

static void test_sampler(const csp *s, const seen *all, tf_rng *rng) {
  int64_t value[VARS];
  bool *met = calloc((size_t)all->n + 1, sizeof *met);
  int found = 0;
  const csp_answer want = all->n ? CSP_FOUND : CSP_NONE;
  for (int k = 0; met && k < 40 * all->n + 1; k++) {
    if (!CHECK_I64(csp_sample(s, NULL, rng, value), want) || !all->n) break;
    const int at = place(all, value);
    if (!CHECK(at >= 0)) break;
    found += !met[at];
    met[at] = true;
  }
  if (all->n && all->n <= 6)
    CHECK_I64(found, all->n); /* 40 draws each: a uniform lot misses one in 10^14 */
  free(met);
}

/* A child keeps the system; what both parents agree in, it has from them where no key is given up.
 */
static void test_children(const csp *s, const seen *all, tf_rng *rng) {
  int64_t child[VARS];
  for (int k = 0; k < 8 && all->n > 1; k++) {
    const int64_t *a = all->row[some(rng, all->n)], *b = all->row[some(rng, all->n)];
    const csp_parents p = {a, b, s->n_knobs, s->knob};
    CHECK_I64(csp_cross(s, rng, &p, k % 2, child), CSP_FOUND);
    CHECK(csp_holds(s, child));
    if (k % 2) continue;
    for (int i = 0; i < s->n_knobs;
         i++) /* the parents themselves are left: nothing had to be given up */
      CHECK(child[s->knob[i]] == a[s->knob[i]] || child[s->knob[i]] == b[s->knob[i]]);
  }
}

/* Notes all solutions that propagation leaves: each variable in turn gets its values, or half its
 * range.  Returns how many. */
static int64_t each_below(seen *out, tf_arena *a, const csp_state *from) {
  const csp *s = out->s;
  int64_t value[CSP_SET_MAX], told = 0;
  csp_state to;
  int v = 0;
  while (v < s->n_vars && from->left[v].lo == from->left[v].hi)
    v++;
  if (v == s->n_vars) {
    for (v = 0; v < s->n_vars; v++)
      value[v] = from->left[v].lo;
    if (csp_holds(s, value)) note(out, value);
    return csp_holds(s, value);
  }
  const csp_left is = from->left[v];
  const int64_t mid = is.lo + (is.hi - is.lo) / 2;
  const int n = csp_values(s, from, v, CSP_SET_MAX, value);
  if (!CHECK(csp_state_new(s, a, &to))) return 0;
  for (int k = 0; k < (n < 0 ? 2 : n); k++) {
    csp_state_copy(s, &to, from);
    if (n < 0 ? csp_narrow(s, &to, v, k ? mid + 1 : is.lo, k ? is.hi : mid) &&
                    csp_propagate_all(s, &to)
              : csp_fix(s, &to, v, value[k]))
      told += each_below(out, a, &to);
  }
  return told;
}

static int64_t each(seen *out) {
  tf_arena *a = tf_arena_new();
  csp_state whole;
  const int64_t n = csp_state_new(out->s, a, &whole) && csp_propagate_all(out->s, &whole)
                        ? each_below(out, a, &whole)
                        : 0;
  tf_arena_free(a);
  return n;
}

/* The numbers of all solutions, and of what the knobs are in them. */
static void test_count(const csp *s, const seen *all) {
  csp_total n;
  int knobs = 0;
  CHECK_I64(csp_count(s, false, 100000, &n), all->n ? CSP_FOUND : CSP_NONE);
  CHECK_I64((int64_t)n, all->n);
  for (int i = 0; i < all->n; i++) {
    bool before = false;
    for (int j = 0; j < i && !before; j++) {
      before = true;
      for (int k = 0; k < s->n_knobs; k++)
        before &= all->row[i][s->knob[k]] == all->row[j][s->knob[k]];
    }
    knobs += !before;
  }
  CHECK_I64(csp_count(s, true, 100000, &n), all->n ? CSP_FOUND : CSP_NONE);
  CHECK_I64((int64_t)n, knobs);
}

static void test_random(int cases) {
  seen want = {0}, got = {0};
  want.row = calloc(SEEN, sizeof *want.row);
  got.row = calloc(SEEN, sizeof *got.row);
  tf_rng rng = tf_rng_new(18, 1);
  int solvable = 0;
  for (int k = 0; want.row && got.row && k < cases; k++) {
    tf_arena *a = tf_arena_new();
    const csp *s = draw(a, &rng);
    int64_t value[VARS];
    want.s = got.s = s;
    want.n = got.n = 0;
    try_all(&want, 0, value);
    if (want.n < SEEN / 20) {
      CHECK_I64(each(&got), want.n);
      for (int i = 0; i < got.n; i++)
        if (!CHECK(place(&want, got.row[i]) >= 0)) break;
      test_count(s, &want);
      test_sampler(s, &want, &rng);
      test_children(s, &want, &rng);
      solvable += want.n > 0;
    }
    tf_arena_free(a);
  }
  CHECK_I64(got.twice + got.wrong, 0);
  CHECK(solvable > cases / 4);
  free(want.row);
  free(got.row);
}

/* ---- exact numbers --------------------------------------------------------------------------- */
/* Ordered products of n factors: of each prime's exponent e, C(e + n - 1, n - 1). */
static int64_t splits(int64_t of, int n) {
  int64_t all = 1;
  for (int64_t p = 2; of > 1; p++) {
    int64_t ways = 1;
    for (int e = 1; of % p == 0; e++, of /= p)
      ways = ways * (e + n - 1) / e;
    all *= ways;
  }
  return all;
}

static csp *factors(tf_arena *a, int64_t of, int n) {
  csp *s = csp_new(a);
  int list[4];
  char name[16];
  for (int i = 0; i < n; i++) {
    snprintf(name, sizeof name, "f%d", i);
    list[i] = csp_range(s, name, true, 1, of);
  }
  csp_add(s, CSP_PROD, csp_number(s, of), n, list);
  csp_ready(s);
  return s;
}

static void test_splits(void) {
  static const struct {
    int line;
    int64_t of;
    int n;
    int64_t want;
  } row[] = {
      {__LINE__, 1024, 4, 286}, {__LINE__, 1024, 3, 66}, {__LINE__, 112, 4, 140},
      {__LINE__, 7, 4, 4},      {__LINE__, 1, 4, 1},     {__LINE__, 60, 2, 12},
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    tf_arena *a = tf_arena_new();
    CHECK_ROW_I64(&row[i], splits(row[i].of, row[i].n), row[i].want);
    seen all = {.s = factors(a, row[i].of, row[i].n), .row = calloc(SEEN, sizeof *all.row)};
    CHECK_ROW_I64(&row[i], each(&all), row[i].want);
    CHECK_ROW_I64(&row[i], all.twice + all.wrong, 0);
    free(all.row);
    tf_arena_free(a);
  }
}

/* Thousands of choices stand one upon the other: the walk needs no stack for them. */
static void test_deep(void) {
  enum { DEEP = 100 };
  tf_arena *a = tf_arena_new();
  csp *s = csp_new(a);
  char name[16];
  for (int i = 0; i < DEEP; i++) {
    snprintf(name, sizeof name, "v%d", i);
    csp_range(s, name, true, 0, INT64_C(1) << 60);
  }
  CHECK(csp_ready(s));
  tf_rng rng = tf_rng_new(3, 1);
  int64_t value[DEEP];
  CHECK_I64(csp_sample(s, NULL, &rng, value), CSP_FOUND);
  CHECK(csp_holds(s, value));
  tf_arena_free(a);
}

/* ---- Heron's dump ---------------------------------------------------------------------------- */
static char *file_text(const char *path) {
  FILE *f = fopen(path, "r");
  char *text = calloc(1, 1 << 16);
  if (f && text) text[fread(text, 1, (1 << 16) - 1, f)] = '\0';
  if (f) fclose(f);
  return text;
}

static csp *read_text(tf_arena *a, const char *text, tf_diags *d) {
  return csp_read(a, NULL, tf_diags_add_file(d, "gemm.csp", text, strlen(text)), text, strlen(text),
                  d);
}

static int count_rules(const csp *s, csp_kind kind) {
  int n = 0;
  for (int r = 0; r < s->n_rules; r++)
    n += s->rule[r].kind == kind;
  return n;
}

static void test_heron(void) {
  tf_arena *a = tf_arena_new();
  tf_diags *d = tf_diags_new();
  char *text = file_text("tests/data/heron-gemm64.csp");
  const csp *s = read_text(a, text, d);
  if (!CHECK(s != NULL)) return;
  int constants = 0, derived = 0;
  for (int v = 0; v < s->n_vars; v++) {
    const char *name = s->var[v].name;
    const size_t len = strlen(name);
    constants += s->var[v].constant;
    derived +=
        strstr(name, "fused") ||
        (len > 6 && (!strcmp(name + len - 6, ".outer") || !strcmp(name + len - 6, ".inner")));
  }
  CHECK_I64(s->n_knobs, 5);
  CHECK_I64(s->n_vars - constants, 45);
  CHECK_I64(derived, 31);
  CHECK_I64(count_rules(s, CSP_PROD), 16);
  const int fused = csp_find(s, "dense_i.inner.outer.j.inner.outer.fused", 39);
  CHECK_I64(s->var[fused].hi, 1000000);

  csp_state st;
  csp_state_new(s, a, &st);
  CHECK(csp_propagate_all(s, &st));
  CHECK_I64(st.left[fused].hi, 64 * 64); /* what the domain of a million comes to */
  tf_rng rng = tf_rng_new(4, 1);
  const size_t n = (size_t)s->n_vars;
  int64_t *value = TF_ARRAY(a, int64_t, n), *other = TF_ARRAY(a, int64_t, n),
          *was = TF_ARRAY(a, int64_t, n);
  for (int k = 0; k < 200; k++) {
    CHECK_I64(csp_sample(s, NULL, &rng, value), CSP_FOUND);
    CHECK(csp_holds(s, value));
    if (k)
      CHECK_I64(csp_cross(s, &rng, &(csp_parents){value, was, s->n_knobs, s->knob}, k % 2, other),
                CSP_FOUND);
    if (k) CHECK(csp_holds(s, other));
    memcpy(was, value, (size_t)s->n_vars * sizeof *was);
  }
  char *again = csp_text(s);
  tf_arena *b = tf_arena_new();
  const csp *t = read_text(b, again, d);
  if (CHECK(t != NULL)) {
    char *twice = csp_text(t);
    CHECK(!strcmp(again, twice));
    free(twice);
  }
  free(again);
  free(text);
  tf_arena_free(a);
  tf_arena_free(b);
  tf_diags_free(d);
}

/* ---- the text's messages --------------------------------------------------------------------- */
static void test_messages(void) {
  static const struct {
    int line;
    const char *text, *want;
  } row[] = {
      {__LINE__, "knob a in {1,2}\nPROD b = a a\n", "gemm.csp:2:6: error[E_NAME]: no variable 'b'"},
      {__LINE__, "knob tile in {1,2}\nEQ tiel = 1\n", "did you mean 'tile'?"},
      {__LINE__, "knob a in {1,2}\nknob a in 1..2\n",
       "gemm.csp:2:6: error[E_DUP]: 'a' is a variable already"},
      {__LINE__, "knob a in {2,1}\n",
       "gemm.csp:1:14: error[E_RANGE]: the values of a set ascend: 1 does not follow 2"},
      {__LINE__, "knob a in 3..2\n", "gemm.csp:1:11: error[E_RANGE]: nothing lies between 3 and 2"},
      {__LINE__, "konb a in 1..2\n",
       "gemm.csp:1:1: error[E_KEY]: no kind of line begins with 'konb', did you mean 'knob'?"},
      {__LINE__, "var a in 1..2\nLE a = 1\n",
       "gemm.csp:2:6: error[E_SYNTAX]: expected '<=', not '='"},
      {__LINE__, "var a in 1..2\nEQ a = 1 2\n",
       "a rule of this kind has 1 on its right, this one 2"},
      {__LINE__, "var a in 1..2 3\n",
       "gemm.csp:1:15: error[E_SYNTAX]: expected the line's end, not '3'"},
      {__LINE__, "var a in 1..99999999999999999999\n", "numbers end at 2^58"},
      {__LINE__, "var a in 1..4\nIN a {7}\n", "none of these is left for 'a'"},
      {__LINE__, "var a in 1..4\nSUM a =\n", "has at least 1 on its right, this one 0"},
      {__LINE__, "var PROD in 1..4\n", "'PROD' cannot name a variable"},
      {__LINE__, "var a in {1,2\nvar b in {\n",
       "gemm.csp:2:11: error[E_SYNTAX]: expected a number, not the line's end"},
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    tf_arena *a = tf_arena_new();
    tf_diags *d = tf_diags_new();
    CHECK_ROW(&row[i], !read_text(a, row[i].text, d));
    char *said = tf_diags_text(d);
    if (!strstr(said, row[i].want)) printf("%s", said);
    CHECK_ROW(&row[i], strstr(said, row[i].want) != NULL);
    free(said);
    tf_diags_free(d);
    tf_arena_free(a);
  }
}

int main(int argc, char **argv) {
  test_random(argc > 1 ? atoi(argv[1]) : 600);
  test_splits();
  test_deep();
  test_heron();
  test_messages();
  return check_report();
}
