/* Sums over a result that several reports show. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/report/report.h"

static bool add_checked(int64_t *sum, int64_t n) { return !__builtin_add_overflow(*sum, n, sum); }

bool cli_sum_counts(const cli_session *s, int level, tf_counts *sum) {
  int n = s->spec->workload->n_tensors;
  bool fits = true;
  *sum = (tf_counts){0};
  for (int z = 0; z < n; z++) {
    const tf_counts *c = &s->result.counts[level * n + z];
    fits = add_checked(&sum->fill, c->fill) && add_checked(&sum->read, c->read) &&
           add_checked(&sum->update, c->update) && add_checked(&sum->drain, c->drain) && fits;
  }
  return fits;
}

tf_counts cli_level_counts(const cli_session *s, int level) {
  tf_counts sum;
  cli_sum_counts(s, level, &sum);
  return sum;
}

static double scale(const cli_session *s, int level, int z) {
  return (double)s->spec->workload->tensors[z].word_bits / s->spec->arch->memories[level].word_bits;
}

static void add_words(cli_words *sum, double k, const tf_counts *c) {
  sum->fill += k * (double)c->fill;
  sum->read += k * (double)c->read;
  sum->update += k * (double)c->update;
  sum->drain += k * (double)c->drain;
  sum->peak += k * (double)c->peak;
}

cli_words cli_tensor_words(const cli_session *s, int level, int z) {
  cli_words w = {0};
  add_words(&w, scale(s, level, z), &s->result.counts[level * s->spec->workload->n_tensors + z]);
  w.peak = ceil(w.peak);
  return w;
}

cli_words cli_level_words(const cli_session *s, int level) {
  cli_words w = {0};
  for (int z = 0; z < s->spec->workload->n_tensors; z++)
    add_words(&w, scale(s, level, z), &s->result.counts[level * s->spec->workload->n_tensors + z]);
  w.peak = (double)s->result.levels[level].peak;
  return w;
}

cli_words cli_node_words(const cli_session *s, int n) {
  const tf_node_result *r = &s->result.nodes[n];
  cli_words w = {0};
  for (int i = 0; i < s->why.n; i++)
    if (s->why.rows[i].node == n && s->why.rows[i].level >= 0)
      add_words(&w, scale(s, s->why.rows[i].level, s->why.rows[i].tensor), &s->why.rows[i].words);
  if (!s->why.n) w = (cli_words){.fill = (double)r->loads, .drain = (double)r->stores};
  w.peak = (double)r->held;
  return w;
}

bool cli_word_sizes_differ(const cli_session *s) {
  const int bits = s->spec->arch->memories[0].word_bits;
  bool differ = false;
  for (int l = 0; l < s->spec->arch->n_memories; l++)
    differ |= s->spec->arch->memories[l].word_bits != bits;
  for (int z = 0; z < s->spec->workload->n_tensors; z++)
    differ |= s->spec->workload->tensors[z].word_bits != bits;
  return differ;
}

void cli_put_word_sizes(const tf_arch *a, cli_text *out) {
  cli_printf(out, "Words are those of the memory that holds them, whatever the tensor's size:");
  for (int l = 0; l < a->n_memories; l++)
    cli_printf(out, "%s %s %d bits", l ? "," : "", a->memories[l].name, a->memories[l].word_bits);
  cli_printf(out, ".\n");
}

bool cli_is_bottleneck(const cli_session *s, const char *name, bool unit) {
  const char *bottleneck = s->result.bottleneck;
  const size_t len = strlen(name);
  if (strncmp(bottleneck, name, len) != 0) return false;
  const char *what = bottleneck + len;
  if (unit) return !strcmp(what, " compute");
  return !*what || !strcmp(what, " read") ||
         !strcmp(what, " write"); /* a network's name is printed as it is */
}

double cli_outer_traffic(const cli_session *s) {
  const tf_counts sum = cli_level_counts(s, 0);
  return (double)sum.read + (double)sum.update;
}

double cli_all_units(const tf_arch *a) {
  double n = 0;
  for (int u = 0; u < a->n_units; u++)
    n += tf_bounds_units(a, u);
  return n;
}

const char *cli_masked_line(const tf_workload *wl) {
  return tf_workload_masked(wl)
             ? "Reports, bounds and searches leave out steps that a mask leaves nothing of."
             : NULL;
}

const char *cli_zeros_line(const tf_spec *s) {
  return tf_zeros_matter(s->arch, s->workload)
             ? "Cycles and energies, bounds of them too, are expectations of what zeros leave; "
               "words count as if there were no zeros."
             : NULL;
}
