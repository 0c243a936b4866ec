/* Evaluations per second of processor time, which a neighbour on the machine does not change: from
 * the text of a mapping, from its tree (both prepare a model for one evaluation), and with the tree
 * fixed and only trip counts changing, as a search needs. Usage: bench_eval [SECONDS] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/run.h"
#include "bench/trees.h"
#include "tileflow/tileflow.h"

/* One evaluation of a tree, all that it needs made for it and thrown away. */
static void evaluate(const tf_tree *tree, tf_diags *d) {
  tf_model *m = tf_model_new(tree, d);
  tf_result r;
  if (!m || !tf_model_eval(m, NULL, &r)) bench_die(d);
  tf_model_free(m);
}

static tf_tree *parse(const tf_spec *s, tf_diags *d) {
  tf_tree *tree = tf_tree_parse(s->mapping_text, s->mapping_at, s->arch, s->workload, d);
  if (!tree) bench_die(d);
  return tree;
}

static double from_text(const tf_spec *s, double seconds) {
  double start = bench_now(), t = start;
  int64_t n = 0;
  for (; t - start < seconds; t = bench_now())
    for (int i = 0; i < 16; i++, n++) {
      tf_diags *d = tf_diags_new();
      tf_tree *tree = parse(s, d);
      evaluate(tree, d);
      tf_tree_free(tree);
      tf_diags_free(d);
    }
  return (double)n / (t - start);
}

static double from_tree(const tf_spec *s, double seconds) {
  tf_diags *d = tf_diags_new();
  tf_tree *tree = parse(s, d);
  double start = bench_now(), t = start;
  int64_t n = 0;
  for (; t - start < seconds; t = bench_now())
    for (int i = 0; i < 16; i++, n++)
      evaluate(tree, d);
  tf_tree_free(tree);
  tf_diags_free(d);
  return (double)n / (t - start);
}

/* Swaps the trip counts of the two outermost loops of one dim, if it has two on the way down. */
static void swap_pair(const tf_tree *t, int64_t *trips) {
  const tf_node *top = &t->nodes[0], *next = &t->nodes[1];
  for (int i = 0; i < top->n_loops; i++)
    for (int k = 0; k < next->n_loops; k++)
      if (top->loops[i].dim == next->loops[k].dim && top->loops[i].axis == next->loops[k].axis) {
        int64_t was = trips[i];
        trips[i] = trips[top->n_loops + k];
        trips[top->n_loops + k] = was;
        return;
      }
}

/* Alternates between the tree's trip counts and those with one pair of loops of a dim swapped. */
static double prepared(const tf_spec *s, double seconds) {
  tf_diags *d = tf_diags_new();
  tf_tree *tree = parse(s, d);
  tf_model *m = tf_model_new(tree, d);
  if (!m) bench_die(d);
  int n_loops = tf_model_n_loops(m), l = 0;
  int64_t *a = calloc((size_t)n_loops, sizeof *a), *b = calloc((size_t)n_loops, sizeof *b);
  for (int i = 0; i < tree->n_nodes; i++)
    for (int k = 0; tree->nodes[i].kind == TF_TILE && k < tree->nodes[i].n_loops; k++)
      a[l++] = tree->nodes[i].loops[k].trip;
  memcpy(b, a, (size_t)n_loops * sizeof *a);
  swap_pair(tree, b);
  double start = bench_now(), t = start;
  int64_t n = 0;
  tf_result r;
  for (; t - start < seconds; t = bench_now())
    for (int i = 0; i < 64; i++, n++)
      if (!tf_model_eval(m, i & 1 ? a : b, &r)) exit(1);
  double rate = (double)n / (t - start);
  free(a);
  free(b);
  tf_model_free(m);
  tf_tree_free(tree);
  tf_diags_free(d);
  return rate;
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    const char *text;
  } row[] = {{"two-op chain, 3 levels", bench_chain}, {"seven-op attention", bench_attention}};
  double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
  printf("case,text_to_counts_per_s,tree_to_counts_per_s,trip_counts_only_per_s\n");
  for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
    tf_diags *d = tf_diags_new();
    tf_text texts[2] = {{"arch", bench_arch, strlen(bench_arch)},
                        {"wl", row[i].text, strlen(row[i].text)}};
    tf_spec *s = tf_spec_read_texts(texts, 2, NULL, 0, d);
    if (!s) bench_die(d);
    printf("%s,%.0f,%.0f,%.0f\n", row[i].name, from_text(s, seconds), from_tree(s, seconds),
           prepared(s, seconds));
    tf_spec_free(s);
    tf_diags_free(d);
  }
  return 0;
}
