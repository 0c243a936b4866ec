/* Fuzzes what plot reads, JSON, CSV, logs of searches, and what it makes of them: any bytes, in any
 * kind of figure, give a chart that is written as CSV and as a script, or errors.  With
 * -DTF_FUZZ_STANDALONE a main draws the samples of tests/fuzz/plot, the files it is given, and the
 * samples again with bytes changed and cut off. */
#include <string.h>
#include <unistd.h>

#include "cli/plot/plot.h"
#define TF_FUZZ_OWN_MAIN
#include "tests/fuzz/standalone.h"

/* The columns of tests/fuzz/plot/table.csv; others find none of them. */
static const plot_choice choices[] = {
    {.x = "x", .y = "y", .z = "z"}, {.x = "x", .y = "y", .by = "by,z"}, {.y = "words"}, {0}};

static bool draw(const plot_kind *kind, const plot_input *in, size_t n, const plot_choice *w,
                 tf_diags *d) {
  plot_chart c = {0};
  cli_text csv = {0}, script = {0};
  const size_t errors = tf_diags_errors(d);
  bool ok = kind->draw(in, n, w, &c, d);
  if (c.bad || ok != (tf_diags_errors(d) == errors)) abort();
  if (ok) {
    plot_csv(&c, &csv);
    plot_script(&c, w, "data.csv", "figure.svg", &script);
    if (!csv.len || !script.len || csv.bad || script.bad) abort();
  }
  cli_text_free(&csv);
  cli_text_free(&script);
  plot_chart_free(&c);
  return ok;
}

static void read_and_draw(const char *path) {
  const char *files[] = {path, path};
  const cli_input from = {.files = files, .n_files = 2};
  tf_diags *d = tf_diags_new();
  plot_input *in = NULL;
  if (!d) abort();
  bool ok = plot_inputs_read(&from, &in, d);
  if (ok != (tf_diags_errors(d) == 0)) abort();
  for (int k = 0; ok && plot_kind_at(k); k++)
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
      draw(plot_kind_at(k), in, 1 + i % 2, &choices[i], d);
  plot_inputs_free(in, from.n_files);
  free(tf_diags_text(d));
  tf_diags_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[64];
  snprintf(path, sizeof path, "/tmp/fuzz-plot-%ld", (long)getpid());
  FILE *f = fopen(path, "wb");
  if (!f) abort();
  if (size) fwrite(data, 1, size, f);
  fclose(f);
  read_and_draw(path);
  unlink(path);
  return 0;
}

#ifdef TF_FUZZ_STANDALONE
/* In the root of the sources. */
static const char *const samples[] = {"eval.json",  "diff.json", "bound.json", "trace.csv",
                                      "search.log", "table.csv", "slope.csv"};

static void vary(const char *path) {
  enum { ROOM = 1 << 16, TRIES = 60 };
  uint8_t *data = malloc(ROOM);
  FILE *f = fopen(path, "rb");
  size_t n = f && data ? fread(data, 1, ROOM, f) : 0;
  if (n == 0) abort();
  fclose(f);
  for (size_t i = 0; i < TRIES; i++) {
    size_t at = i * 7919 % n;
    uint8_t was = data[at];
    data[at] = (uint8_t) "0,\"-.e\nx{]"[i % 10];
    LLVMFuzzerTestOneInput(data, n);
    data[at] = was;
    if (i % 4 == 0) LLVMFuzzerTestOneInput(data, at);
  }
  free(data);
}

/* Each sample is one that a kind of figure is made for. */
static void draw_sample(const char *path, const char *as, const plot_choice *w) {
  const cli_input from = {.files = &path, .n_files = 1};
  tf_diags *d = tf_diags_new();
  plot_input *in = NULL;
  if (!d || !plot_inputs_read(&from, &in, d)) abort();
  bool drawn = false;
  for (int k = 0; plot_kind_at(k); k++)
    drawn |= !strcmp(plot_kind_at(k)->name, as) && draw(plot_kind_at(k), in, 1, w, d);
  if (!drawn) abort();
  plot_inputs_free(in, 1);
  tf_diags_free(d);
}

int main(int argc, char **argv) {
  static const char *const as[] = {"roofline",    "diff",   "slope", "timeline",
                                   "convergence", "pareto", "slope"};
  for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
    char path[80];
    snprintf(path, sizeof path, "tests/fuzz/plot/%s", samples[i]);
    draw_sample(path, as[i], &choices[strcmp(as[i], "pareto") ? 3 : 0]);
    vary(path);
  }
  return run_files(argc - 1, argv + 1);
}
#endif
