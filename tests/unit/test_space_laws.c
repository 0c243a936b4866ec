/* Laws that any two results obey, on random small problems with odd extents and tight memories: new
 * names, another order of the lines and exchanged axes change nothing in what solver and search
 * find; what is proved of a machine is not above what is proved of a smaller one; and no search
 * beats a proof, whatever its seed or objective. test_space_laws [CASES] [SEED] */
#include "base/rng.h"
#include "search/common/canon.h"
#include "tests/unit/case.h"
#include "tileflow/solve.h"

/* ---- problems ------------------------------------------------------------------------------- */
/* Dims are $x, tensors @X. */
static const struct {
  const char *ops, *dims;
  int most; /* longest extent */
} kinds[] = {
    {"@C[$m,$l] += @A[$m,$k] * @B[$k,$l]", "mkl", 16},
    {"@y[$m] += @A[$m,$k] * @x[$k]", "mk", 24},
    {"@C[$m,$l] += @A[$m,$k] * @B[$k,$l];@E[$m,$n] += @C[$m,$l] * @D[$l,$n]", "mkln", 12},
    {"@C[$m,$l] += @A[$m,$k] * @B[$k,$l];@E[$m,$n] += @C[$m,$l] * @D[$l,$n];@G[$m,$p] += @E[$m,$n] "
     "* @F[$n,$p]",
     "mklnp", 7},
    {"@S[$m,$l] += @Q[$m,$k] * @K[$k,$l];@X[$m] max= @S[$m,$l];@E[$m,$l] = exp(@S[$m,$l] - "
     "@X[$m]);@Z[$m] += @E[$m,$l];@O[$m,$n] += @E[$m,$l] / @Z[$m] * @V[$l,$n]",
     "mkln", 6},
    {"@O[$f,$p] += @I[$c, $p + $r] * @W[$f,$c,$r]", "fpcr", 9},
    {"@O[$f,$p] += @I[$c, 2*$p + $r - 1] * @W[$f,$c,$r]", "fpcr", 7},
    {"@M[$p] += @I[$p + $r] * @W[$r];@O[$x] += @M[$x + $u] * @V[$u]", "ruxp", 5},
    {"@C[$m,$l] += @A[$m,$k] * @B[$k,$l];@D[$m,$l] += @F[$m,$j] * @G[$j,$l];@E[$m,$l] = @C[$m,$l] "
     "+ @D[$m,$l]",
     "mklj", 7},
    {"@C[$m,$l] += @A[$m,$k] * @B[$k,$l];@D[$m,$j] += @A[$m,$k] * @F[$k,$j]", "mklj", 7},
};
enum { KINDS = sizeof kinds / sizeof kinds[0], DIMS = 8, OPS = 8 };

typedef struct {
  int kind, n_dims, n_ops, memories;
  int extent[DIMS];
  int capacity[3], mesh[4][2];
  bool buffered, multicast;
} problem;

static problem draw(tf_rng *r) {
  problem p = {.kind = (int)tf_rng_below(r, KINDS), .memories = 2 + (int)tf_rng_below(r, 2)};
  p.n_dims = (int)strlen(kinds[p.kind].dims);
  for (const char *s = kinds[p.kind].ops; s; s = strchr(s, ';') ? strchr(s, ';') + 1 : NULL)
    p.n_ops++;
  for (int i = 0; i < p.n_dims; i++)
    p.extent[i] = 1 + (int)tf_rng_below(r, (uint32_t)kinds[p.kind].most);
  if (p.kind == 7) p.extent[3] = p.extent[2] + p.extent[1] - 1; /* makes as much as is read */
  for (int l = 1; l < p.memories; l++)
    p.capacity[l] = 8 + (int)tf_rng_below(r, l == 1 && p.memories == 3 ? 192 : 96);
  for (int l = 0; l < 4; l++)
    for (int a = 0; a < 2; a++)
      p.mesh[l][a] = 1 + (int)tf_rng_below(r, 3);
  p.buffered = tf_rng_below(r, 3) == 0;
  p.multicast = tf_rng_below(r, 2);
  return p;
}

/* How it is written down. */
typedef struct {
  bool renamed, turned;
  int dims[DIMS], ops[OPS]; /* order of the lines */
  int larger;               /* 1: capacities doubled; 2: meshes; 0: as it is */
} way;

static way plainly(void) {
  way w = {0};
  for (int i = 0; i < DIMS; i++)
    w.dims[i] = w.ops[i] = i;
  return w;
}

static void shuffle(tf_rng *r, int *list, int n) {
  for (int i = n - 1; i > 0; i--) {
    const int k = (int)tf_rng_below(r, (uint32_t)i + 1), x = list[i];
    list[i] = list[k];
    list[k] = x;
  }
}

static void put_op(FILE *f, const char *s, const way *w) {
  for (; *s && *s != ';'; s++) {
    if (*s != '$' && *s != '@') {
      fputc(*s, f);
      continue;
    }
    const bool dim = *s == '$';
    s++;
    if (w->renamed)
      fprintf(f, "%s%c", dim ? "along_" : "T_", dim ? 'a' + 'z' - *s : *s);
    else
      fputc(*s, f);
  }
}

static void put_problem(FILE *f, const problem *p, const way *w) {
  static const char *const names[2][3] = {{"A", "B", "C"}, {"Store", "Bank", "Alpha"}};
  const int x = w->turned, wide = w->larger == 2 ? 2 : 1;
  fprintf(f,
          "architecture:\n  name: a\n  clock: 1 GHz\n  word-bits: 16\n%s  memories:\n"
          "  - {name: %s, bandwidth: 4, energy: 64 pJ}\n",
          p->buffered ? "  overlap: double-buffer\n" : "", names[w->renamed][0]);
  for (int l = 1; l < p->memories; l++)
    fprintf(f, "  - {name: %s, capacity: %d, bandwidth: 8, energy: %d pJ, mesh: [%d, %d]%s}\n",
            names[w->renamed][l], p->capacity[l] * (w->larger == 1 ? 2 : 1), 8 / l,
            p->mesh[l][x] * wide, p->mesh[l][!x],
            p->multicast ? "" : ", network: {multicast: false, reduce: false}");
  fprintf(f,
          "  compute:\n"
          "  - {name: u, ops: [mac, add, sub, mul, div, max, exp], below: %s, mesh: [%d, %d], "
          "energy: 1 pJ}\n",
          names[w->renamed][p->memories - 1], p->mesh[0][x], p->mesh[0][!x]);
  fprintf(f, "workload:\n  name: w\n  dims: {");
  for (int i = 0, n = 0; i < DIMS; i++) {
    if (w->dims[i] >= p->n_dims) continue;
    const char name[] = {'$', kinds[p->kind].dims[w->dims[i]], 0};
    fprintf(f, "%s", n++ ? ", " : "");
    put_op(f, name, w);
    fprintf(f, ": %d", p->extent[w->dims[i]]);
  }
  fprintf(f, "}\n  ops:\n");
  for (int i = 0; i < OPS; i++) {
    const char *s = kinds[p->kind].ops;
    for (int k = 0; s && k < w->ops[i]; k++)
      s = strchr(s, ';') ? strchr(s, ';') + 1 : NULL;
    if (!s) continue;
    fprintf(f, "  - ");
    put_op(f, s, w);
    fprintf(f, "\n");
  }
}

/* ---- what is found -------------------------------------------------------------------------- */
typedef struct {
  bool read, found, proved;
  double value, bound, space_bound;
  tf_figures figures;
  int64_t evals;
  char *mapping; /* in canonical names */
} found;

static void clear(found *f) { free(f->mapping); }

static void note(found *f, const tf_spec *s, const tf_tree *t, tf_diags *d) {
  tf_canon *c = tf_canon_new(s->arch, s->workload, d);
  tf_tree *own = c ? tf_canon_tree(c, t, d) : NULL;
  f->found = true;
  f->mapping = own ? tf_tree_text(own) : NULL;
  tf_tree_free(own);
  tf_canon_free(c);
}

enum { EVALS_SOLVED = 4000, EVALS_SEARCHED = 2000 };

static found solve(const char *text, tf_objective goal, int64_t evals) {
  tf_diags *d = tf_diags_new();
  tf_spec *s = case_spec(text, d);
  const tf_solve_opts o = {
      .objective = goal, .budget = {.threads = 1, .max_evals = evals}, .after = evals};
  tf_solve_result *r = s ? tf_solve_exact(s->arch, s->workload, &o, d) : NULL;
  found f = {.read = s != NULL};
  if (r)
    f.proved = r->proved, f.value = r->value, f.bound = r->bound, f.space_bound = r->space_bound,
    f.figures = r->figures, f.evals = r->evals;
  if (r && r->tree) note(&f, s, r->tree, d);
  if (!s) case_complain(d);
  tf_solve_free(r);
  tf_spec_free(s);
  tf_diags_free(d);
  return f;
}

static found search(const char *text, tf_objective goal, uint64_t seed, int64_t evals) {
  tf_diags *d = tf_diags_new();
  tf_spec *s = case_spec(text, d);
  const tf_search_opts o = {
      .objective = goal, .budget = {.threads = 1, .max_evals = evals, .seed = seed}, .keep = 2};
  tf_search_result *r = s ? tf_search_run(s->arch, s->workload, NULL, &o, d) : NULL;
  found f = {.read = s != NULL};
  if (r) f.evals = r->evals;
  if (r && r->n_best) {
    f.value = r->best[0].value;
    f.figures = r->best[0].figures;
    note(&f, s, r->best[0].tree, d);
  }
  tf_search_free(r);
  tf_spec_free(s);
  tf_diags_free(d);
  return f;
}

static bool same(const found *a, const found *b) {
  return a->found == b->found && a->proved == b->proved && a->value == b->value &&
         a->bound == b->bound && a->space_bound == b->space_bound && a->evals == b->evals &&
         a->figures.energy_pj == b->figures.energy_pj && a->figures.cycles == b->figures.cycles &&
         (!a->found || (a->mapping && b->mapping && !strcmp(a->mapping, b->mapping)));
}

/* ---- laws ----------------------------------------------------------------------------------- */
static int64_t n_found, n_proved, n_beaten;

static char *write_down(const problem *p, const way *w) {
  char *text = NULL;
  FILE *f = case_text(&text);
  put_problem(f, p, w);
  fclose(f);
  return text;
}

static void complain(const char *law, const char *a, const char *b, const found *x,
                     const found *y) {
  printf("%s: %.17g, then %.17g\n%s%s\n%s%s\n", law, x->value, y->value, a,
         x->mapping ? x->mapping : "", b, y->mapping ? y->mapping : "");
}

/* Written down in another way, the same is found. */
static void check_same(const problem *p, const char *text, const way *w, const char *law,
                       tf_objective goal, const found of[2]) {
  char *other = write_down(p, w);
  found f[2] = {solve(other, goal, EVALS_SOLVED), search(other, goal, 1, EVALS_SEARCHED)};
  for (int k = 0; k < 2; k++) {
    if (!CHECK(same(&of[k], &f[k]))) complain(law, text, other, &of[k], &f[k]);
    clear(&f[k]);
  }
  free(other);
}

/* What is proved of a larger machine is not above what is found for the smaller one. */
static void check_larger(const problem *p, const char *text, int how, tf_objective goal,
                         const found *small) {
  way w = plainly();
  w.larger = how;
  char *other = write_down(p, &w);
  found f = solve(other, goal, EVALS_SOLVED);
  if (!CHECK(!f.proved || !small->found || f.value <= small->value * (1 + 1e-9)))
    complain("larger", text, other, small, &f);
  clear(&f);
  free(other);
}

/* No search is below what is proved: of the value, and of the bound for all mappings. */
static void check_proof(const char *text, tf_objective goal, const found *by, tf_rng *r) {
  found f = search(text, goal, 2 + tf_rng_below(r, 1000), 3 * EVALS_SEARCHED);
  if (!CHECK(!f.found || f.value >= by->bound * (1 - 1e-9))) complain("proof", text, text, by, &f);
  if (!CHECK(!f.found || !by->proved || f.value >= by->value * (1 - 1e-9)))
    complain("proof", text, text, by, &f);
  n_beaten += f.found && by->found && f.value < by->value * (1 - 1e-9);
  clear(&f);
}

static void check_case(uint64_t seed, int64_t i) {
  tf_rng r = tf_rng_new(seed, (uint64_t)i);
  const problem p = draw(&r);
  const tf_objective goal = (tf_objective)tf_rng_below(&r, TF_N_OBJECTIVES);
  way w = plainly();
  char *text = write_down(&p, &w);
  found f[2] = {solve(text, goal, EVALS_SOLVED), search(text, goal, 1, EVALS_SEARCHED)};
  CHECK(f[0].read);
  n_found += f[0].found;
  n_proved += f[0].proved;
  shuffle(&r, w.dims, DIMS);
  shuffle(&r, w.ops, OPS);
  check_same(&p, text, &w, "reordered", goal, f);
  w = plainly();
  w.renamed = true;
  check_same(&p, text, &w, "renamed", goal, f);
  w = plainly();
  w.turned = true;
  check_same(&p, text, &w, "turned", goal, f);
  check_larger(&p, text, 1 + (int)tf_rng_below(&r, 2), goal, &f[0]);
  check_proof(text, goal, &f[0], &r);
  for (int k = 0; k < 2; k++)
    clear(&f[k]);
  free(text);
}

#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__)
enum { CASES = 16 };
#else
enum { CASES = 4 };
#endif

int main(int argc, char **argv) {
  const int64_t cases = argc > 1 ? atoll(argv[1]) : CASES;
  const uint64_t seed = argc > 2 ? (uint64_t)atoll(argv[2]) : 1;
  for (int64_t i = 0; i < cases; i++)
    check_case(seed, i);
  CHECK(n_found > 0);
  if (argc > 1)
    printf("%lld problems: %lld with a mapping, %lld proved of all; a search found better than "
           "%lld of the others\n",
           (long long)cases, (long long)n_found, (long long)n_proved, (long long)n_beaten);
  return check_report();
}
