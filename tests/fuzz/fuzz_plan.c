/* Fuzzes the reader of plans: any bytes beside a small machine and network give a plan, which
 * written and read again is the same, or located errors; and so do the files that it names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/standalone.h"
#include "tileflow/net.h"

static const char machine[] = "architecture:\n"
                              "  name: a\n"
                              "  clock: 1 GHz\n"
                              "  memories:\n"
                              "  - {name: M, bandwidth: 1}\n"
                              "  - {name: L, capacity: 64, bandwidth: 4}\n"
                              "  compute:\n"
                              "  - {name: u, ops: [mac, add, mul], below: L}\n"
                              "workload:\n"
                              "  name: net\n"
                              "  dims: {m: 8, n: 8, k: 8}\n"
                              "  ops:\n"
                              "  - first[m,n] += x[m,k] * w[k,n]\n"
                              "  - second[m,n] = first[m,n] + b[n]\n"
                              "  - third[m,n] = second[m,n] * second[m,n]\n"
                              "  - fourth[m,n] = second[m,n] + third[m,n]\n";

static tf_net_plan *read_plan(const tf_spec *s, const char *text, size_t size) {
  tf_diags *d = tf_diags_new();
  const tf_text t = {"fuzz.yaml", text, size};
  if (!d) abort();
  tf_net_plan *p = tf_net_plan_read(s->arch, s->workload, &t, d);
  if ((p == NULL) != (tf_diags_errors(d) > 0)) abort();
  free(tf_diags_text(d));
  tf_diags_free(d);
  return p;
}

static void read_inputs(const char *text, size_t size) {
  tf_diags *d = tf_diags_new();
  const tf_text t = {"fuzz.yaml", text, size};
  if (!d) abort();
  tf_net_inputs *in = tf_net_inputs_read(&t, d);
  if ((in == NULL) != (tf_diags_errors(d) > 0)) abort();
  tf_net_inputs_free(in);
  tf_diags_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *copy = malloc(size + 1);
  tf_diags *d = tf_diags_new();
  const tf_text t = {"machine.yaml", machine, sizeof machine - 1};
  tf_spec *s = d ? tf_spec_read_texts(&t, 1, NULL, 0, d) : NULL;
  if (!copy || !s) abort();
  if (size) memcpy(copy, data, size);
  copy[size] = '\0';
  read_inputs(copy, size);
  tf_net_plan *p = read_plan(s, copy, size);
  char *text = p ? tf_net_plan_text(p, s->arch, s->workload) : NULL;
  tf_net_plan *again = text ? read_plan(s, text, strlen(text)) : NULL;
  char *twice = again ? tf_net_plan_text(again, s->arch, s->workload) : NULL;
  if (p && (!twice || strcmp(text, twice) != 0)) abort();
  free(text);
  free(twice);
  tf_net_plan_free(p);
  tf_net_plan_free(again);
  tf_spec_free(s);
  tf_diags_free(d);
  free(copy);
  return 0;
}
