/* Rows of trip counts evaluated in batches and one by one, in turns in the same run: evaluations
 * per second of processor time, which other programs on the machine do not change.  Each row is the
 * tree's own with the trip counts of two loops of one dim swapped at random.
 *
 * - bench_batch [SECONDS]
 * - bench_batch one|batch two|seven|homes ROUNDS: only that way on that tree, ROUNDS times 64 rows:
 *   to count instructions
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/run.h"
#include "bench/trees.h"
#include "tileflow/tileflow.h"

enum { ROWS = 64 };

typedef struct {
  tf_diags *d;
  tf_spec *spec;
  tf_tree *tree;
  tf_model *model;
  int n_loops;
  int64_t *rows;
} bench;

/* Swaps the trip counts of loops of one Tile and of its child that have the same dim and axis. */
static void swap_pairs(const tf_tree *t, int64_t *row, unsigned which) {
  for (int n = 0, at = 0; n + 1 < t->n_nodes;
       at += t->nodes[n].kind == TF_TILE ? t->nodes[n].n_loops : 0, n++) {
    const tf_node *up = &t->nodes[n], *down = &t->nodes[n + 1];
    if (up->kind != TF_TILE || down->kind != TF_TILE) continue;
    for (int i = 0; i < up->n_loops; i++)
      for (int k = 0; k < down->n_loops; k++, which = which >> 1 | which << 31)
        if (up->loops[i].dim == down->loops[k].dim && up->loops[i].axis == down->loops[k].axis &&
            which & 1) {
          int64_t was = row[at + i];
          row[at + i] = row[at + up->n_loops + k];
          row[at + up->n_loops + k] = was;
        }
  }
}

static bench begin(const char *text) {
  bench b = {.d = tf_diags_new()};
  tf_text texts[2] = {{"arch", bench_arch, strlen(bench_arch)}, {"wl", text, strlen(text)}};
  b.spec = tf_spec_read_texts(texts, 2, NULL, 0, b.d);
  if (!b.spec) bench_die(b.d);
  b.tree =
      tf_tree_parse(b.spec->mapping_text, b.spec->mapping_at, b.spec->arch, b.spec->workload, b.d);
  b.model = b.tree ? tf_model_new(b.tree, b.d) : NULL;
  if (!b.model) bench_die(b.d);
  b.n_loops = tf_model_n_loops(b.model);
  b.rows = calloc((size_t)(ROWS * b.n_loops), sizeof *b.rows);
  if (!b.rows) exit(1);
  for (int r = 0; r < ROWS; r++) {
    int l = 0;
    for (int i = 0; i < b.tree->n_nodes; i++)
      for (int k = 0; b.tree->nodes[i].kind == TF_TILE && k < b.tree->nodes[i].n_loops; k++)
        b.rows[r * b.n_loops + l++] = b.tree->nodes[i].loops[k].trip;
    swap_pairs(b.tree, &b.rows[r * b.n_loops], (unsigned)r * 2654435761u);
  }
  return b;
}

static void end(bench *b) {
  free(b->rows);
  tf_model_free(b->model);
  tf_tree_free(b->tree);
  tf_spec_free(b->spec);
  tf_diags_free(b->d);
}

static void one_by_one(bench *b) {
  tf_result r;
  for (int i = 0; i < ROWS; i++)
    if (!tf_model_eval(b->model, &b->rows[i * b->n_loops], &r) || !tf_model_quick(b->model))
      exit(1);
}

static void in_batches(bench *b) {
  tf_brief out[ROWS];
  tf_model_eval_batch(b->model, b->rows, ROWS, out);
  for (int i = 0; i < ROWS; i++)
    if (!out[i].counted) exit(1);
}

static double rate(bench *b, void (*way)(bench *), double seconds) {
  way(b); /* what the first call prepares is not counted */
  double start = bench_now(), t = start;
  int64_t n = 0;
  for (; t - start < seconds; t = bench_now(), n += ROWS)
    way(b);
  return (double)n / (t - start);
}

/* Attention whose keys and values live in L1. */
static const char *at_home(void) {
  static char text[sizeof bench_attention + 64];
  const int before = (int)(strstr(bench_attention, "mapping:") - bench_attention);
  snprintf(text, sizeof text, "%.*shome: {K: L1, V: L1}\n%s", before, bench_attention,
           bench_attention + before);
  return text;
}

int main(int argc, char **argv) {
  static const char *const name[] = {"two-op chain, 3 levels", "seven-op attention",
                                     "the same, two inputs at home"};
  const char *const text[] = {bench_chain, bench_attention, at_home()};
  if (argc > 3) {
    bench b = begin(text[!strcmp(argv[2], "seven") ? 1 : !strcmp(argv[2], "homes") ? 2 : 0]);
    for (int64_t i = strtoll(argv[3], NULL, 10); i > 0; i--)
      (!strcmp(argv[1], "one") ? one_by_one : in_batches)(&b);
    end(&b);
    return 0;
  }
  double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
  printf("case,one_by_one_per_s,batch_per_s,times\n");
  for (int i = 0; i < 3; i++) {
    bench b = begin(text[i]);
    double one = rate(&b, one_by_one, seconds), batch = rate(&b, in_batches, seconds);
    printf("%s,%.0f,%.0f,%.1f\n", name[i], one, batch, batch / one);
    end(&b);
  }
  return 0;
}
