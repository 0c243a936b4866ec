/* tileflow emit, of a network's plan. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/os/interrupt.h"
#include "cli/os/safe_dir.h"
#include "cli/session/input.h"
#include "cli/session/session.h"
#include "cli/session/session_network.h"
#include "tileflow/net.h"

/* The text of the first file that `is` holds of; text NULL: there is none.  To be freed. */
static tf_text first(const cli_input *in, bool (*is)(const tf_text *t)) {
  for (size_t i = 0; i < in->n_files; i++) {
    if (!strcmp(in->files[i], "-")) continue;
    tf_diags *d = tf_diags_new(); /* what cannot be read is reported by the full reader */
    const tf_text t = d ? tf_text_read(in->files[i], d) : (tf_text){0};
    tf_diags_free(d);
    if (t.text && is(&t)) return t;
    free((void *)(uintptr_t)t.text);
  }
  return (tf_text){0};
}

static bool has(const cli_input *in, bool (*is)(const tf_text *t)) {
  const tf_text t = first(in, is);
  free((void *)(uintptr_t)t.text);
  return t.text;
}

/* A model begins with the number of its version's field. */
static bool is_model(const tf_text *t) { return t->len > 0 && t->text[0] == 8; }

bool cli_has_plan(const cli_input *in) { return has(in, tf_net_has_plan); }
bool cli_has_model(const cli_input *in) { return has(in, is_model); }

bool cli_plan_target(const cli_input *in, char *target, size_t size) {
  static const char key[] = "\n  target: ";
  const tf_text t = first(in, tf_net_has_plan);
  const char *at = t.text ? strstr(t.text, key) : NULL;
  if (at)
    snprintf(target, size, "%.*s", (int)strcspn(at + sizeof key - 1, " \r\n"), at + sizeof key - 1);
  free((void *)(uintptr_t)t.text);
  return at;
}

cli_text cli_network_targets(void) {
  cli_text all = {0};
  const char *name;
  for (int i = 0; (name = tf_emit_target(i, NULL)); i++)
    if (tf_emit_able(name, TF_EMIT_NETWORKS))
      cli_printf(&all, "%s%s", all.text ? " or " : "", name);
  return all;
}

void cli_note_unused_isa(const char *target, const char *isa, const char *dtype) {
  const char *why = tf_emit_isa_unused(target, isa, dtype);
  if (why) fprintf(stderr, "note: %s\n", why);
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

/* The spec of the files; for a plan alone, of those that it names, if their contents are unchanged
 * since it was made. */
static tf_spec *read_all(const cli_input *in, const plan_files *f, tf_text **texts, tf_diags *d) {
  if (!cli_read_texts(in, texts, d)) return NULL;
  if (f->named && !tf_net_inputs_same(f->named, *texts, d)) return NULL;
  return cli_spec_of(in, *texts, d);
}

/* Where the files go, and what they are. */
typedef struct {
  const char *out;
  const tf_emit_options *o;
  const tf_net_opts *plan; /* target: of the kernels; the rest where no plan is given */
} wanted;

/* The plan that is given, or one that is made.  NULL with an error in d, or on a stop. */
static tf_net_plan *plan_of(const tf_spec *s, const tf_text *given, const wanted *w, tf_diags *d) {
  if (given) {
    tf_net_plan *p = tf_net_plan_read(s->arch, s->workload, given, d);
    if (!p || !*p->target || !strcmp(p->target, w->plan->target)) return p;
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "the plan is for kernels of --target %s, not of '%.40s'",
            p->target, w->plan->target);
    tf_net_plan_free(p);
    return NULL;
  }
  if (s->mapping_text) {
    tf_fail(d, s->mapping_at, TF_E_USAGE,
            "a network has a mapping for each of its groups, in a plan, not one");
    return NULL;
  }
  cli_hold_interrupt(CLI_GRACE);
  tf_net_plan *p = tf_net_plan_of(s->arch, s->workload, w->plan, d);
  cli_release_interrupt();
  return p;
}

static cli_status write_network(const tf_spec *s, const tf_net_plan *p, const wanted *w, bool quiet,
                                tf_diags *d) {
  const char *target = w->plan->target;
  tf_emit_options o = *w->o;
  if (!o.isa && *p->isa) o.isa = p->isa;
  if (!o.dtype && *p->dtype) o.dtype = p->dtype;
  tf_emitted *e = tf_net_emit(p, s->arch, s->workload, target, &o, d);
  bool there = true;
  const bool ok = e && cli_safe_dir(w->out, e->file, (size_t)e->n, &there);
  if (ok && !quiet)
    printf("%s: %s for %s, %d groups, %d kernels.  Next: make -C", w->out, s->workload->name,
           tf_emit_able(target, TF_EMIT_HERE) ? o.isa : target, p->n, p->n_distinct);
  if (ok && !quiet) cli_print_word_and(w->out, " test\n");
  tf_emitted_free(e);
  return ok ? CLI_DONE : there ? CLI_BAD_INPUT : CLI_FAILED;
}

static cli_status emit_all(const cli_input *in, const plan_files *f, const wanted *w, tf_diags *d) {
  tf_text *texts = NULL;
  tf_spec *s = read_all(in, f, &texts, d);
  const bool all = s && cli_has_sections(s, d);
  tf_net_plan *p = all ? plan_of(s, cli_find_plan(in, texts), w, d) : NULL;
  cli_status status = CLI_BAD_INPUT;
  if (p)
    status = write_network(s, p, w, in->quiet, d);
  else if (all && tf_diags_errors(d) == 0)
    status = CLI_INTERRUPTED;
  tf_net_plan_free(p);
  tf_spec_free(s);
  cli_free_texts(texts, in->n_files);
  return status;
}

static cli_status emit(const cli_input *in, const wanted *w, tf_diags *d) {
  plan_files f = {.in = *in};
  const bool alone = in->n_files == 1 && cli_has_plan(in);
  cli_status status = CLI_BAD_INPUT;
  if (alone) f.in.files = NULL;
  if (!alone || add_files(in, &f, d)) status = emit_all(&f.in, &f, w, d);
  if (alone) free(f.in.files);
  tf_net_inputs_free(f.named);
  return status;
}

cli_status cli_emit_network(const cli_input *in, const char *out, const tf_emit_options *o,
                            const tf_net_opts *plan) {
  tf_diags *d = cli_diags();
  if (!d) return CLI_FAILED;
  const cli_status status = emit(in, &(wanted){out, o, plan}, d);
  if (status == CLI_BAD_INPUT) cli_complain(d);
  if (status == CLI_INTERRUPTED) fputs("tileflow: interrupted; nothing is written\n", stderr);
  tf_diags_free(d);
  return status;
}
