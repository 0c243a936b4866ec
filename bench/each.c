/* What one evaluation takes, by itself: drawn workloads with extents up to 10^6, uneven mappings of
 * them that a search draws, each read and checked, and counted (the model prepared for one
 * evaluation), in processor time.
 *
 *     bench_each ARCH [PROBLEMS [SEED]]
 */
#define _DEFAULT_SOURCE /* erand48 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/run.h"
#include "tileflow/tileflow.h"

enum { TURNS = 5, MAPPINGS = 4, LOOPS = 40 };

/* A kind: its ops, and what else the workload says; a dim is a letter of `dims`, and `twins` has
 * pairs of letters, of which the first is as long as the second. */
typedef struct {
  const char *name, *dims, *twins, *more;
} kind;

static const kind kinds[] = {
    {"product", "mnk", "", "  ops:\n  - C[m,n] += A[m,k] * B[k,n]\n"},
    {"chain", "mkln", "", "  ops:\n  - C[m,l] += A[m,k] * B[k,l]\n  - E[m,n] += C[m,l] * D[l,n]\n"},
    {"attention", "mlan", "",
     "  ops:\n  - S[m,l] += Q[m,a] * K[l,a]\n  - X[m] max= S[m,l]\n"
     "  - E[m,l] = exp(S[m,l] - X[m])\n"
     "  - Z[m] += E[m,l]\n  - O[m,n] += E[m,l] / Z[m] * V[l,n]\n"},
    {"padded convolution", "kcpq", "",
     "  tensors:\n    I: {pad: [0, 1, 1]}\n  ops:\n"
     "  - O[k,p,q] += I[c, p + r - 1, q + s - 1] * W[k,c,r,s]\n"},
    {"two padded convolutions", "kcmpq", "ypxq",
     "  tensors:\n    I: {pad: [0, 1, 1]}\n    T: {pad: [0, 1, 1]}\n  ops:\n"
     "  - T[m,y,x] += I[c, y + r - 1, x + s - 1] * W[m,c,r,s]\n"
     "  - O[k,p,q] += T[m, p + r - 1, q + s - 1] * V[k,m,r,s]\n"},
};

typedef struct {
  double *of, *read; /* [n] */
  int n, walked;
  double worst;
  char at[2048]; /* the problem and the mapping that took longest */
} times;

static int ascending(const void *a, const void *b) {
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* The least of a few turns: seconds to read and check the text, and from its tree to figures. */
static double time_of(const tf_spec *s, const char *text, double *read, bool *sums, int *loops) {
  double least = INFINITY;
  *read = INFINITY;
  for (int i = 0; i < TURNS; i++) {
    const double begin = bench_now();
    tf_diags *d = tf_diags_new();
    tf_tree *tree = tf_tree_parse(text, (tf_loc){0}, s->arch, s->workload, d);
    const double start = bench_now();
    if (start - begin < *read) *read = start - begin;
    tf_model *m = tree ? tf_model_new(tree, d) : NULL;
    tf_result r;
    if (!m || !tf_model_eval(m, NULL, &r)) bench_die(d);
    *sums = tf_model_quick(m);
    *loops = tf_model_n_loops(m);
    tf_model_free(m);
    const double took = bench_now() - start;
    if (took < least) least = took;
    tf_tree_free(tree);
    tf_diags_free(d);
  }
  return least;
}

/* Lengths of all magnitudes alike; points of all dims together stay below 2^63. */
static void draw_text(unsigned short r[3], const kind *k, double most, char *to, size_t room) {
  int n = snprintf(to, room, "workload:\n  name: w\n  dims: {");
  double left = 5e17;
  for (const char *c = k->dims; *c; c++) {
    const double length = floor(pow(fmin(most, left), erand48(r)) + 0.5);
    n += snprintf(to + n, room - (size_t)n, "%c: %.0f, ", *c, length);
    for (const char *t = k->twins; *t; t += 2)
      if (t[1] == *c) n += snprintf(to + n, room - (size_t)n, "%c: %.0f, ", *t, length);
    left /= length;
  }
  snprintf(to + n, room - (size_t)n, "%s}\n%s", strchr(k->dims, 'q') ? "r: 3, s: 3" : "", k->more);
}

/* Mappings that a random search finds of one problem: each timed. */
static void time_problem(tf_text arch, const kind *k, unsigned short r[3], double most,
                         times *out) {
  char text[600];
  draw_text(r, k, most, text, sizeof text);
  tf_diags *d = tf_diags_new();
  const tf_text files[] = {arch, {"workload", text, strlen(text)}};
  const tf_search_opts o = {
      .strategy = "random",
      .budget = {.seed = (uint64_t)nrand48(r), .threads = 1, .max_evals = 200},
      .variants = MAPPINGS};
  tf_spec *s = tf_spec_read_texts(files, 2, NULL, 0, d);
  tf_search_result *found = s ? tf_search_run(s->arch, s->workload, NULL, &o, d) : NULL;
  if (!found) bench_die(d);
  for (int i = 0; i < found->n_variants && i < MAPPINGS; i++) {
    bool sums;
    int loops;
    double read;
    const double t = time_of(s, found->variants[i].text, &read, &sums, &loops);
    if (loops > LOOPS) continue;
    out->walked += !sums;
    out->read[out->n] = read;
    out->of[out->n++] = t;
    if (t > out->worst) {
      out->worst = t;
      snprintf(out->at, sizeof out->at, "%.600s%.1400s", text, found->variants[i].text);
    }
  }
  tf_search_free(found);
  tf_spec_free(s);
  tf_diags_free(d);
}

/* Median, 99th of 100, worst, in us. */
static void print_times(double *t, int n) {
  qsort(t, (size_t)n, sizeof *t, ascending);
  printf(",%.1f,%.1f,%.1f", 1e6 * t[n / 2], 1e6 * t[n * 99 / 100], 1e6 * t[n - 1]);
}

static char *read_whole(const char *path, size_t *n) {
  FILE *f = fopen(path, "rb");
  char *text = malloc(1 << 20);
  *n = f && text ? fread(text, 1, 1 << 20, f) : 0;
  if (f) fclose(f);
  return text;
}

int main(int argc, char **argv) {
  const int problems = argc > 2 ? atoi(argv[2]) : 200;
  const uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
  size_t n = 0;
  char *machine = argc > 1 ? read_whole(argv[1], &n) : NULL;
  if (!n || problems < 1) {
    fprintf(stderr, "usage: %s ARCH [PROBLEMS [SEED]]\n", argv[0]);
    free(machine);
    return 2;
  }
  printf("kind,extents up to,mappings,by sums,count median us,99 of 100,worst,read median us,99 of "
         "100,worst\n");
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    for (double most = 1e3; most <= 1e6; most *= 1e3) {
      unsigned short r[3] = {(unsigned short)seed, (unsigned short)(seed >> 16), (unsigned short)k};
      const size_t room = (size_t)problems * MAPPINGS;
      times t = {.of = calloc(room, sizeof *t.of), .read = calloc(room, sizeof *t.read)};
      for (int i = 0; t.of && t.read && i < problems; i++)
        time_problem((tf_text){argv[1], machine, n}, &kinds[k], r, most, &t);
      if (t.n) {
        printf("%s,%g,%d,%d", kinds[k].name, most, t.n, t.n - t.walked);
        print_times(t.of, t.n);
        print_times(t.read, t.n);
        printf("\n");
        fprintf(stderr, "# worst of %s up to %g:\n%s\n", kinds[k].name, most, t.at);
      }
      free(t.read);
      free(t.of);
    }
  free(machine);
  return 0;
}
