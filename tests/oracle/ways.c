/* Which way counts what: workloads with lengths of up to a million, and mappings of them as the
 * cases' own, are counted by closed sums, class by class of steps, or by a walk; in so many
 * microseconds of processor time, the model prepared. Where a walk of so many steps is enough, the
 * figures are held against it. */
#define _DEFAULT_SOURCE /* CLOCK_THREAD_CPUTIME_ID */
#include "tests/oracle/ways.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/oracle/gen.h"
#include "tileflow/tileflow.h"

enum { MOST_WALKED = 300000, TURNS = 3, N_WAYS = 4, ROOM = 4096, LONGEST = 1000000 };

/* A dim `@` has any length, `#` that of the dim before it, all others their own. */
typedef struct {
  const char *name, *dims, *more;
} kind;

static const kind kinds[] = {
    {"product", "m: @, n: @, k: @", "  ops:\n  - C[m,n] += A[m,k] * B[k,n]\n"},
    {"chain of two", "m: @, k: @, l: @, n: @",
     "  ops:\n  - C[m,l] += A[m,k] * B[k,l]\n  - E[m,n] += C[m,l] * D[l,n]\n"},
    {"chain of three", "m: @, k: @, l: @, n: @, q: @",
     "  ops:\n  - C[m,l] += A[m,k] * B[k,l]\n  - E[m,n] += C[m,l] * D[l,n]\n"
     "  - G[m,q] += E[m,n] * F[n,q]\n"},
    {"attention", "m: @, l: @, a: @, n: @",
     "  ops:\n  - S[m,l] += Q[m,a] * K[l,a]\n  - X[m] max= S[m,l]\n"
     "  - E[m,l] = exp(S[m,l] - X[m])\n"
     "  - Z[m] += E[m,l]\n  - P[m,l] = E[m,l] / Z[m]\n  - O[m,n] += P[m,l] * V[l,n]\n"},
    {"two products of one input", "m: @, k: @, x: @, y: @",
     "  ops:\n  - C[m,x] += A[m,k] * B[k,x]\n  - E[m,y] += A[m,k] * D[k,y]\n"},
    {"numbers", "m: @, n: @",
     "  ops:\n  - N[] max= A[m,n]\n  - S[] = N[] * G[]\n  - E[m,n] = A[m,n] * S[]\n"
     "  - Z[] += E[m,n]\n  - P[m,n] = E[m,n] / Z[]\n"},
    {"convolution", "p: @, q: @, k: @, c: @, r: 3, s: 3",
     "  ops:\n  - \"O[k,p,q] += I[c,p+r,q+s] * W[k,c,r,s]\"\n"},
    {"padded convolution", "p: @, q: @, k: @, c: @, r: 3, s: 3",
     "  tensors: {I: {pad: [0, 1, 1]}}\n  ops:\n"
     "  - \"O[k,p,q] += I[c,p+r-1,q+s-1] * W[k,c,r,s]\"\n"},
    {"two convolutions", "h: @, p: -, k: @, c: @, n: @, r: 3, t: 3",
     "  ops:\n  - \"T[k,h] += I[c,h+r] * V[k,c,r]\"\n  - \"O[n,p] += T[k,p+t] * W[n,k,t]\"\n"},
    {"two padded convolutions", "h: @, p: #, k: @, c: @, n: @, r: 3, t: 3",
     "  tensors: {I: {pad: [0, 1]}, T: {pad: [0, 1]}}\n  ops:\n"
     "  - \"T[k,h] += I[c,h+r-1] * V[k,c,r]\"\n"
     "  - \"O[n,p] += T[k,p+t-1] * W[n,k,t]\"\n"},
    {"two padded convolutions in a plane",
     "h: @, p: #, w: @, q: #, k: @, c: @, n: @, r: 3, s: 3, t: 3, u: 3",
     "  tensors: {I: {pad: [0, 1, 1]}, T: {pad: [0, 1, 1]}}\n"
     "  ops:\n  - \"T[k,h,w] += I[c,h+r-1,w+s-1] * V[k,c,r,s]\"\n"
     "  - \"O[n,p,q] += T[k,p+t-1,q+u-1] * W[n,k,t,u]\"\n"},
};

typedef struct {
  int n;
  double us[ROOM];
  uint64_t worst;
} times;

typedef struct {
  const kind *of;
  ways_hooks hooks;
  times by[N_WAYS]; /* closed sums, by class, walked, beyond a walk */
  long refused, differ, compared;
} tally;

/* ---- one draw ------------------------------------------------------------------------------- */

/* Lengths of all magnitudes alike; all dims together have fewer than 2^58 points. */
static int64_t draw_length(tf_rng *g, double *left) {
  const double length = floor(pow(fmin(LONGEST, *left), tf_rng_unit(g)) + 0.5);
  *left /= length;
  return (int64_t)length;
}

static void write_workload(tf_rng *g, const kind *k, page *p) {
  double left = 2e15; /* windows of 3 come on top */
  int64_t last = 0;
  page_say(p, "workload:\n  name: w\n  dims: {");
  for (const char *c = k->dims; *c; c++)
    if (*c == '@')
      page_say(p, "%" PRId64, last = draw_length(g, &left) + (strchr(c, '-') ? 2 : 0));
    else if (*c == '#' || *c == '-')
      page_say(p, "%" PRId64, last - (*c == '-' ? 2 : 0));
    else
      page_say(p, "%c", *c);
  page_say(p, "}\n%s", k->more);
}

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* Both add up whole words; only where times follow are they rounded. */
static bool near(double a, double b) { return fabs(a - b) <= 1e-12 * (fabs(a) + fabs(b)); }

/* Whether two evaluations of one tree have the same figures. */
static bool same(const tf_spec *s, const tf_tree *t, const tf_result *a, const tf_result *b) {
  const size_t counts = (size_t)(s->arch->n_memories * s->workload->n_tensors);
  bool ok =
      !memcmp(a->counts, b->counts, counts * sizeof *a->counts) &&
      (!a->lines || !memcmp(a->lines->counts, b->lines->counts, counts * sizeof *a->counts)) &&
      near(a->cycles, b->cycles) && near(a->energy_pj, b->energy_pj) && a->points == b->points &&
      a->skipped == b->skipped;
  for (int n = 0; n < t->n_nodes && ok; n++)
    ok = a->nodes[n].runs == b->nodes[n].runs && a->nodes[n].held == b->nodes[n].held &&
         near(a->nodes[n].cycles, b->nodes[n].cycles);
  for (int l = 0; l < s->arch->n_memories && ok; l++)
    ok = (!a->lines || near(a->lines->cycles[l], b->lines->cycles[l])) &&
         a->levels[l].peak == b->levels[l].peak &&
         a->levels[l].instances == b->levels[l].instances &&
         near(a->levels[l].hops, b->levels[l].hops);
  return ok;
}

static void walk_too(tally *k, const tf_spec *s, const tf_tree *t, const tf_result *r,
                     uint64_t seed, const page *p) {
  tf_diags *d = tf_diags_new();
  tf_model *twin = tf_model_new(t, d);
  tf_result walked;
  k->hooks.walk(twin);
  tf_model_walk_limit(twin, MOST_WALKED);
  if (tf_model_eval(twin, NULL, &walked)) {
    k->compared++;
    if (!same(s, t, r, &walked)) {
      k->differ++;
      printf("# seed %" PRIu64 ": sums and walk differ\n%s\n", seed, p->text);
    }
  }
  tf_model_free(twin);
  tf_diags_free(d);
}

/* Counts one mapping.  False: it is refused, or too large for any way. */
static bool draw(tally *k, uint64_t seed, bool compare) {
  tf_rng g = tf_rng_new(seed, 11);
  page p = {.len = 0};
  unsigned features = 0;
  gen_input(&g, &p, &features, k->hooks.features);
  p.len = (size_t)(strstr(p.text, "workload:") - p.text);
  write_workload(&g, k->of, &p);
  if (gen_with_lines) gen_layouts(&g, &p);
  if (!gen_mapping(&g, &p, &features)) return false;
  tf_diags *d = tf_diags_new();
  const tf_text text = {"case", p.text, p.len};
  tf_spec *s = tf_spec_read_texts(&text, 1, NULL, 0, d);
  tf_tree *t = s ? tf_tree_parse(s->mapping_text, s->mapping_at, s->arch, s->workload, d) : NULL;
  tf_model *m = t ? tf_model_new(t, d) : NULL;
  tf_result r = {.overflow = true};
  double least = INFINITY;
  bool ok = false;
  if (m) tf_model_walk_limit(m, MOST_WALKED);
  for (int i = 0; m && i < TURNS; i++) {
    const double begin = now_us();
    ok = tf_model_eval(m, NULL, &r);
    least = fmin(least, now_us() - begin);
    if (least > 1e5) break;
  }
  const bool gave_up = m && !ok && tf_model_gave_up(m);
  if (ok || gave_up) {
    times *of = &k->by[gave_up ? 3 : tf_model_quick(m) ? 0 : k->hooks.walked(m) ? 2 : 1];
    if (!of->n || least > of->us[0]) of->worst = seed;
    if (of->n < ROOM) of->us[of->n++] = least;
    if (of->n > 1 && of->us[0] < least) of->us[of->n - 1] = of->us[0], of->us[0] = least;
    if (ok && compare && !k->hooks.walked(m)) walk_too(k, s, t, &r, seed, &p);
  }
  tf_model_free(m);
  tf_tree_free(t);
  tf_spec_free(s);
  tf_diags_free(d);
  return ok || gave_up;
}

/* ---- the table ------------------------------------------------------------------------------ */

static int ascending(const void *a, const void *b) {
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

static void print_row(tally *k) {
  static const char *const name[] = {"closed sums", "by class", "walked", "beyond"};
  printf("%s:", k->of->name);
  for (int w = 0; w < N_WAYS; w++) {
    times *t = &k->by[w];
    if (!t->n) continue;
    qsort(t->us, (size_t)t->n, sizeof *t->us, ascending);
    printf("  %d %s (%.0f, %.0f, %.0f us; seed %" PRIu64 ")", t->n, name[w], t->us[t->n / 2],
           t->us[t->n * 99 / 100], t->us[t->n - 1], t->worst);
  }
  printf("  %ld held against the walk, %ld differ\n", k->compared, k->differ);
}

/* That name, or what it is part of if no kind is called so. */
static bool is_asked(const char *name, const char *only) {
  bool exact = false;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    exact |= !strcmp(kinds[i].name, only);
  return exact ? !strcmp(name, only) : strstr(name, only) != NULL;
}

long ways_print(long each, uint64_t seed, const char *only, bool compare, ways_hooks hooks) {
  long differ = 0;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    tally *k = calloc(1, sizeof *k);
    if (!k) abort();
    k->of = &kinds[i];
    k->hooks = hooks;
    for (uint64_t n = 0, taken = 0; is_asked(kinds[i].name, only) && taken < (uint64_t)each; n++)
      taken += draw(k, seed * 1000000000 + n, compare);
    if (is_asked(kinds[i].name, only)) print_row(k);
    differ += k->differ;
    free(k);
    fflush(stdout);
  }
  return differ;
}
