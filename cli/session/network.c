/* tileflow emit, of a network's plan. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/os/safe_dir.h"
#include "cli/session/input.h"
#include "cli/session/network.h"
#include "cli/session/session.h"
#include "tileflow/net.h"

bool cli_has_plan(const cli_input *in) {
  bool has = false;
  for (size_t i = 0; i < in->n_files && !has; i++) {
    if (!strcmp(in->files[i], "-")) continue;
    tf_diags *d = tf_diags_new(); /* what cannot be read is reported by the full reader */
    const tf_text t = d ? tf_text_read(in->files[i], d) : (tf_text){0};
    has = tf_net_has_plan(&t);
    free((void *)(uintptr_t)t.text);
    tf_diags_free(d);
  }
  return has;
}

/* The files that a plan names, followed by the plan; free `files` and `named`. */
typedef struct {
  cli_input in;
  tf_net_inputs *named;
} plan_files;

static bool add_files(const cli_input *in, plan_files *f, tf_diags *d) {
  const tf_text plan = tf_text_read(in->files[0], d);
  size_t n = 0;
  f->named = plan.text ? tf_net_inputs_read(&plan, d) : NULL;
  free((void *)(uintptr_t)plan.text);
  if (!f->named) return false;
  while (tf_net_inputs_path(f->named, n))
    n++;
  f->in.files = calloc(n + 1, sizeof *f->in.files);
  if (!f->in.files) return tf_out_of_memory(d);
  for (size_t i = 0; i < n; i++)
    f->in.files[i] = tf_net_inputs_path(f->named, i);
  f->in.files[n] = in->files[0];
  f->in.n_files = n + 1;
  const tf_setting *set = tf_net_inputs_set(f->named, &n);
  if (in->n_set == 0) {
    f->in.set = (tf_setting *)(uintptr_t)set;
    f->in.n_set = n;
  }
  return true;
}

/* The spec of the files; for a plan alone, of those that it names, if their contents are unchanged since it was
 * made. */
static tf_spec *read_all(const cli_input *in, const plan_files *f, tf_text **texts, tf_diags *d) {
  if (!cli_read_texts(in, texts, d)) return NULL;
  if (f->named && !tf_net_inputs_same(f->named, *texts, d)) return NULL;
  return cli_spec_of(in, *texts, d);
}

/* Where the files go, and what they are. */
typedef struct {
  const char *out, *target;
  const tf_emit_options *o;
} wanted;

static cli_status emit_all(const cli_input *in, const plan_files *f, const wanted *w, tf_diags *d) {
  tf_text *texts = NULL;
  tf_spec *s = read_all(in, f, &texts, d);
  const tf_text *plan = cli_find_plan(in, texts);
  tf_net_plan *p = NULL;
  const bool all = s && cli_has_sections(s, d);
  if (all && plan) p = tf_net_plan_read(s->arch, s->workload, plan, d);
  tf_emitted *e = p ? tf_net_emit(p, s->arch, s->workload, w->target, w->o, d) : NULL;
  bool there = true;
  const bool ok = e && cli_safe_dir(w->out, e->file, (size_t)e->n, &there);
  if (ok && !in->quiet)
    printf("%s: %s for %s, %d groups, %d kernels.  Next: make -C %s test\n", w->out, s->workload->name,
           tf_emit_able(w->target, TF_EMIT_HERE) ? w->o->isa : w->target, p->n, p->n_distinct, w->out);
  tf_emitted_free(e);
  tf_net_plan_free(p);
  tf_spec_free(s);
  cli_free_texts(texts, in->n_files);
  return ok ? CLI_DONE : there ? CLI_BAD_INPUT : CLI_FAILED;
}

static cli_status emit(const cli_input *in, const wanted *w, tf_diags *d) {
  plan_files f = {.in = *in};
  const bool alone = in->n_files == 1;
  cli_status status = CLI_BAD_INPUT;
  if (alone) f.in.files = NULL;
  if (!alone || add_files(in, &f, d)) status = emit_all(&f.in, &f, w, d);
  if (alone) free(f.in.files);
  tf_net_inputs_free(f.named);
  return status;
}

cli_status cli_emit_network(const cli_input *in, const char *out, const char *target, const tf_emit_options *o) {
  tf_diags *d = cli_diags();
  if (!d) return CLI_FAILED;
  const cli_status status = emit(in, &(wanted){out, target, o}, d);
  if (status == CLI_BAD_INPUT) cli_complain(d);
  tf_diags_free(d);
  return status;
}
