/* Reads an architecture, a workload and a mapping, evaluates, prints cycles and DRAM words. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <tileflow/tileflow.h>

static int complain(tf_diags *d) {
  char *text = tf_diags_text(d);
  fputs(text ? text : "out of memory\n", stderr);
  free(text);
  tf_diags_free(d);
  return 2;
}

static void print(const tf_spec *spec, const tf_result *r) {
  int64_t words = 0;
  for (int z = 0; z < spec->workload->n_tensors; z++)
    words += r->counts[z].read + r->counts[z].update;
  printf("%s on %s: %.0f cycles, %" PRId64 " words through %s\n", spec->workload->name,
         spec->arch->name, r->cycles, words, spec->arch->memories[0].name);
}

int main(int argc, char **argv) {
  tf_diags *d = tf_diags_new();
  tf_spec *spec = tf_spec_read((const char *const *)argv + 1, (size_t)(argc - 1), NULL, 0, d);
  if (!spec)
    return complain(d);
  if (!spec->arch || !spec->workload || !spec->mapping_text) {
    fputs("usage: eval ARCH.yaml WORKLOAD.yaml MAPPING.yaml\n", stderr);
    return 2;
  }
  tf_tree *tree =
      tf_tree_parse(spec->mapping_text, spec->mapping_at, spec->arch, spec->workload, d);
  tf_model *model = tree ? tf_model_new(tree, d) : NULL;
  tf_result result;
  if (!model)
    return complain(d);
  bool ok = tf_model_eval(model, NULL, &result);
  if (ok)
    print(spec, &result);
  tf_model_free(model);
  tf_tree_free(tree);
  tf_spec_free(spec);
  tf_diags_free(d);
  return ok ? 0 : 1;
}
