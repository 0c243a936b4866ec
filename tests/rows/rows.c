/* What the rows do. */
#include "tests/rows/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool toy_first(tf_reader *r, const tf_ynode *node, sweep_section *out) {
  int64_t n = 0;
  if (!node) return true;
  if (!tf_read_int(r, node, "first", 1, SWEEP_MAX_VALUES, &n)) return false;
  for (int i = 0; i < out->n_over; i++)
    if (out->over[i].n > n) out->over[i].n = (int)n;
  return true;
}

bool toy_is(const tf_text *text) { return text->len > 4 && !memcmp(text->text, "toy ", 4); }

bool toy_is_root(const tf_ynode *root) { return (void)root, false; }

char *toy_import(const tf_text *texts, size_t n, const tf_setting *set, size_t n_set, tf_diags *d) {
  long long m, k, l;
  char *out = malloc(200);
  (void)set, (void)n_set;
  if (out && n == 1 && sscanf(texts[0].text, "toy %lld %lld %lld", &m, &k, &l) == 3) {
    snprintf(out, 200,
             "workload:\n  name: toy\n  dims: {m: %lld, k: %lld, l: %lld}\n  ops:\n"
             "  - C[m,l] += A[m,k] * B[k,l]\n",
             m, k, l);
    return out;
  }
  free(out);
  tf_fail(d, (tf_loc){0}, TF_E_SYNTAX, "a toy has three extents");
  return NULL;
}

bool toy_pass(net_planning *s) {
  for (int i = 0; i < s->plan->n; i++) {
    tf_net_group *g = &s->plan->groups[i];
    snprintf(g->bottleneck, sizeof g->bottleneck, "toy of %d", g->group->workload->n_ops);
  }
  return true;
}
