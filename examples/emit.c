/* From an architecture and a workload to a fused kernel in C: what `tileflow emit ARCH WORKLOAD -o
 * DIR` writes. emit DIR FILE... */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <tileflow/tileflow.h>

static bool write_file(const char *dir, const tf_emitted_file *f) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", dir, f->name);
  FILE *out = fopen(path, "wx");
  bool ok = out && fputs(f->text, out) >= 0;
  return out && fclose(out) == 0 && ok;
}

/* False, with the reasons in d unless a file cannot be written or nothing fits. */
static bool emit(const tf_spec *spec, const char *dir, tf_diags *d) {
  const tf_planner_opts o = {.budget.seed = 1};
  tf_planned *plan = tf_planner_run(spec->arch, spec->workload, NULL, &o, d);
  tf_emitted *kernel = plan && plan->tree ? tf_planned_emit(plan, &o, d) : NULL;
  bool ok = kernel && mkdir(dir, 0777) == 0;
  for (int i = 0; ok && i < kernel->n; i++)
    ok = write_file(dir, &kernel->file[i]);
  if (ok) printf("%s: %s, %.0f cycles predicted\n", dir, spec->workload->name, plan->result.cycles);
  tf_emitted_free(kernel);
  tf_planned_free(plan);
  return ok;
}

int main(int argc, char **argv) {
  tf_diags *d = tf_diags_new();
  if (argc < 3 || !d) return 2;
  tf_spec *spec = tf_spec_read((const char *const *)argv + 2, (size_t)argc - 2, NULL, 0, d);
  bool ok = spec && spec->arch && spec->workload && emit(spec, argv[1], d);
  char *text = tf_diags_text(d);
  if (text) fputs(text, stderr);
  free(text);
  tf_spec_free(spec);
  tf_diags_free(d);
  return ok ? 0 : 1;
}
