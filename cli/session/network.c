/* tileflow emit, of a network's plan. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/os/safe_dir.h"
#include "cli/session/input.h"
#include "cli/session/network.h"

bool cli_has_plan(const cli_input *in) {
  bool has = false;
  for (size_t i = 0; i < in->n_files && !has; i++) {
    if (!strcmp(in->files[i], "-")) continue;
    tf_diags *d = tf_diags_new(); /* what cannot be read is told by whoever reads it all */
    const tf_text t = d ? tf_text_read(in->files[i], d) : (tf_text){0};
    has = tf_net_has_plan(&t);
    free((void *)(uintptr_t)t.text);
    tf_diags_free(d);
  }
  return has;
}

static cli_status emit(const cli_input *in, const char *out, const tf_emit_options *o, tf_diags *d) {
  tf_text *texts;
  tf_spec *s = cli_read_texts(in, &texts, d) ? cli_spec_of(in, texts, d) : NULL;
  const tf_text *plan = cli_find_plan(in, texts);
  tf_net_plan *p = NULL;
  if (s && !s->arch) tf_fail(d, (tf_loc){0}, TF_E_MISSING, "no file has a section 'architecture'");
  if (s && !s->workload) tf_fail(d, (tf_loc){0}, TF_E_MISSING, "no file has a section 'workload'");
  if (s && s->arch && s->workload && plan) p = tf_net_plan_read(s->arch, s->workload, plan, d);
  tf_emitted *e = p ? tf_net_emit_cpu(p, s->arch, s->workload, o, d) : NULL;
  bool there = true;
  const bool ok = e && cli_safe_dir(out, e->file, (size_t)e->n, &there);
  if (ok && !in->quiet)
    printf("%s: %s for %s, %d groups, %d kernels.  Next: make -C %s test\n", out, s->workload->name, o->isa, p->n,
           p->n_distinct, out);
  tf_emitted_free(e);
  tf_net_plan_free(p);
  tf_spec_free(s);
  cli_free_texts(texts, in->n_files);
  return ok ? CLI_DONE : there ? CLI_BAD_INPUT : CLI_FAILED;
}

cli_status cli_emit_network(const cli_input *in, const char *out, const tf_emit_options *o) {
  tf_diags *d = tf_diags_new();
  if (!d) cli_complain(NULL);
  if (!d) return CLI_FAILED;
  const cli_status status = emit(in, out, o, d);
  if (status == CLI_BAD_INPUT) cli_complain(d);
  tf_diags_free(d);
  return status;
}
