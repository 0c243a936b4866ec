/* The strategies of `tune` where a time is computed: the longer of the model's cycles and those of the kernel's inner
 * parts. So nothing is noise, and twenty seeds cost nothing; what a strategy knows of real times it cannot show here.
 * CSV on stdout: for each number of schedules, the geometric mean over the seeds of the best found over the best of
 * all, and how many seeds are within 5 % of that.
 *
 *     tune_ways CASE FILE... [--set NAME=VALUE]...     files and settings as tune has them; CASE: the first column
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tileflow/tileflow.h"
#include "tune/way/way.h"

enum { WAYS = 4, SEEDS = 20, ASKED = 100, BATCH = 4, FILES = 8, SETTINGS = 16 };
static const char *const names[WAYS] = {"sa-q", "sa", "cga", "random"};
static const char *const isas[] = {"avx512"};

static double model(void *ctx, const int32_t *row) {
  tf_diags *d = tf_diags_new();
  tf_tree *t = tune_decode(ctx, row);
  tf_model *m = t ? tf_model_new(t, d) : NULL;
  tf_result r;
  const double cycles = m && tf_model_eval(m, NULL, &r) && r.feasible ? r.cycles : INFINITY;
  tf_model_free(m);
  tf_tree_free(t);
  tf_diags_free(d);
  return cycles;
}

static double cost(void *ctx, const int32_t *row) {
  tf_diags *d = tf_diags_new();
  tf_tree *t = tune_decode(ctx, row);
  const tf_emit_options o = {.isa = isas[0], .choices = tune_choices(ctx, row)};
  const double inner = t ? tf_emit_cycles(t, NULL, &o, d) : -1;
  tf_tree_free(t);
  tf_diags_free(d);
  return inner < 0 ? INFINITY : fmax(model(ctx, row), inner);
}

/* The best after each schedule; infinite where the strategy has no more. */
static void walk(const tf_spec *spec, const tune_way *way, int seed, double best[ASKED]) {
  tf_diags *d = tf_diags_new();
  tune_space *s = tune_space_new(spec->arch, spec->workload, 1, isas, NULL, d);
  tune_world w = {.s = s,
                  .arena = tf_arena_new(),
                  .rng = tf_rng_new((uint64_t)seed, 0x74756e65),
                  .model = model,
                  .kernel = cost,
                  .ctx = s};
  void *state = s ? way->make(&w) : NULL;
  const size_t width = s ? (size_t)s->space.n : 0;
  int32_t *rows = calloc(BATCH * width + 1, sizeof *rows);
  double least = INFINITY;
  for (int k = 0, n = state != NULL; k < ASKED; k += BATCH) {
    for (int i = 0; n && i < BATCH; i++)
      n = way->ask(state, &rows[(size_t)i * width]) ? n + 1 : 0;
    for (int i = 0; i < BATCH; i++) {
      const double c = n ? cost(s, &rows[(size_t)i * width]) : INFINITY;
      least = fmin(least, c);
      best[k + i] = least;
      if (n) way->tell(state, &rows[(size_t)i * width], c);
    }
  }
  free(rows);
  tf_arena_free(w.arena);
  tune_space_free(s);
  tf_diags_free(d);
}

static void print(const char *what, const char *way, double best[SEEDS][ASKED], double least) {
  for (int k = 0; k < ASKED; k++) {
    double sum = 0;
    int near = 0;
    for (int s = 0; s < SEEDS; s++) {
      sum += log(best[s][k] / least);
      near += best[s][k] <= 1.05 * least;
    }
    printf("%s,%s,%d,%.4f,%d\n", what, way, k + 1, exp(sum / SEEDS), near);
  }
}

int main(int argc, char **argv) {
  static double best[WAYS][SEEDS][ASKED];
  const char *files[FILES];
  tf_setting set[SETTINGS];
  size_t n_files = 0, n_set = 0;
  double least = INFINITY;
  for (int i = 2; i < argc; i++) {
    char *is = strchr(argv[i], '=');
    if (is && n_set < SETTINGS) {
      *is = 0;
      set[n_set++] = (tf_setting){.name = argv[i], .value = is + 1};
    } else if (strcmp(argv[i], "--set") != 0 && n_files < FILES) {
      files[n_files++] = argv[i];
    }
  }
  tf_diags *d = tf_diags_new();
  tf_spec *spec = n_files ? tf_spec_read(files, n_files, set, n_set, d) : NULL;
  for (int w = 0; spec && w < WAYS; w++)
    for (int s = 0; s < SEEDS; s++) {
      walk(spec, tune_way_named(names[w]), s + 1, best[w][s]);
      least = fmin(least, best[w][s][ASKED - 1]);
    }
  for (int w = 0; spec && w < WAYS; w++)
    print(argv[1], names[w], best[w], least);
  char *said = tf_diags_text(d);
  if (!spec) fprintf(stderr, "usage: tune_ways CASE FILE... [--set NAME=VALUE]...\n%s", said ? said : "");
  free(said);
  const int failed = !spec;
  tf_spec_free(spec);
  tf_diags_free(d);
  return failed;
}
