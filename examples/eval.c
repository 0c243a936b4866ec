/* Reads files that hold an architecture, a workload and a mapping, evaluates the mapping, and
 * prints its cycles and the words that pass through the outermost memory.
 *   eval FILE... */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <tileflow/tileflow.h>

/* Row 0 of the counts is the outermost memory. */
static void print(const tf_spec *spec, const tf_result *r) {
  int64_t words = 0;
  for (int z = 0; z < spec->workload->n_tensors; z++)
    words += r->counts[z].read + r->counts[z].update;
  printf("%s on %s: %.0f cycles, %" PRId64 " words through %s\n", spec->workload->name,
         spec->arch->name, r->cycles, words, spec->arch->memories[0].name);
}

/* False, with the reasons in d, if the mapping cannot be read or evaluated. */
static bool evaluate(const tf_spec *spec, tf_diags *d) {
  tf_tree *tree =
      tf_tree_parse(spec->mapping_text, spec->mapping_at, spec->arch, spec->workload, d);
  tf_model *model = tree ? tf_model_new(tree, d) : NULL;
  tf_result result;
  bool ok = model && tf_model_eval(model, NULL, &result);
  if (ok) print(spec, &result);
  tf_model_free(model);
  tf_tree_free(tree);
  return ok;
}

int main(int argc, char **argv) {
  tf_diags *d = tf_diags_new();
  if (!d) return 1;
  tf_spec *spec = tf_spec_read((const char *const *)argv + 1, (size_t)argc - 1, NULL, 0, d);
  bool ok = false;
  if (spec && spec->arch && spec->workload && spec->mapping_text)
    ok = evaluate(spec, d);
  else if (spec)
    fputs("eval: the files must hold an architecture, a workload and a mapping\n", stderr);
  char *text = tf_diags_text(d);
  if (text) fputs(text, stderr);
  free(text);
  tf_spec_free(spec);
  tf_diags_free(d);
  return ok ? 0 : 2;
}
