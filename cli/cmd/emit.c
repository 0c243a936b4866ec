/* tileflow emit: the mapping as a folder of source code. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/os/interrupt.h"
#include "cli/os/safe_dir.h"
#include "cli/os/safe_write.h"
#include "cli/report/report.h"
#include "cli/session/measure.h"

static const tf_loc nowhere = {0};

/* The command line that makes the same files. */
static void reproduce(const cli_options *o, const char *isa, cli_text *t) {
  cli_printf(t, "tileflow emit");
  for (size_t i = 0; i < o->n_files; i++)
    cli_printf(t, " %s", o->files[i]);
  for (size_t i = 0; i < o->n_set; i++)
    cli_printf(t, " --set %s=%s", o->set[i].name, o->set[i].value);
  cli_printf(t, " --target cpu --isa %s", isa);
  if (o->measure) cli_printf(t, " --measure %d", o->measure);
  if (o->dtype) cli_printf(t, " --dtype %s", o->dtype);
  if (o->micro) cli_printf(t, " --micro %s", o->micro);
  if (o->name) cli_printf(t, " --name %s", o->name);
  if (o->out) cli_printf(t, " -o %s", o->out);
}

static cli_status dump(const cli_session *s, const cli_options *o) {
  const tf_emit_options e = {.isa = o->isa, .dtype = o->dtype};
  char *ir = tf_emit_ir(s->tree, o->target, o->isa ? &e : NULL, s->diags);
  if (!ir) return CLI_BAD_INPUT;
  bool ok = fputs(ir, stdout) >= 0;
  free(ir);
  return ok ? CLI_DONE : CLI_FAILED;
}

static cli_status write_all(const cli_options *o, const tf_emitted *e) {
  cli_dir_file *files = calloc((size_t)e->n, sizeof *files);
  bool there = false, ok = files != NULL;
  for (int i = 0; ok && i < e->n; i++)
    files[i] = (cli_dir_file){e->file[i].name, e->file[i].text};
  ok = ok && cli_safe_dir(o->out, files, (size_t)e->n, &there);
  free(files);
  return ok ? CLI_DONE : there ? CLI_BAD_INPUT : CLI_FAILED;
}

static void say(const cli_session *s, const cli_options *o, const char *isa, const cli_measured *m) {
  if (m->n) cli_measured_print(m);
  printf("%s: %s for %s.  Next: make -C %s test\n", o->out, s->tree->workload->name, isa, o->out);
}

static cli_status emit(const cli_session *s, const cli_options *o, const cli_measured *m) {
  const char *isa = o->isa ? o->isa : tf_emit_isa(o->dtype);
  cli_text command = {0};
  reproduce(o, isa, &command);
  tf_emit_options e = {.isa = isa,
                       .dtype = o->dtype,
                       .micro = o->micro,
                       .name = o->name,
                       .version = TILEFLOW_VERSION,
                       .command = command.text,
                       .result = &s->result,
                       .measured = m->of,
                       .n_measured = m->n,
                       .chosen = m->chosen};
  tf_emitted *files = tf_emit_cpu(s->tree, &e, s->diags);
  cli_status status = files ? write_all(o, files) : CLI_BAD_INPUT;
  if (status == CLI_DONE && !o->quiet && !o->dump_ir) say(s, o, isa, m);
  tf_emitted_free(files);
  cli_text_free(&command);
  return status;
}

/* What a plan may take.  It ends by what it tries, never by the clock: the same command gives the same kernel on a busy
 * machine.  The effort (tf_model_effort; some three seconds a million) ends it where borders inside a chain make
 * evaluations dear. */
enum { PLAN_EVALS = 100000, PLAN_EFFORT = 1500000, FEW = 64, ENOUGH = 3000, ENOUGH_EFFORT = 500000 };

/* Whether a search of so many evaluations finds a completion of the template that fits. */
static bool suits_within(const cli_session *s, const char *text, int64_t evals) {
  tf_diags *d = tf_diags_new();
  tf_loc at = d ? (tf_loc){tf_diags_add_file(d, "template", text, strlen(text)), 1, 1, 1} : nowhere;
  tf_tree *t = d ? tf_tree_parse(text, at, s->spec->arch, s->spec->workload, d) : NULL;
  tf_search_opts o = {.objective = TF_LATENCY,
                      .budget.seed = 1,
                      .budget.threads = 1,
                      .budget.max_evals = evals,
                      .budget.max_effort = ENOUGH_EFFORT};
  tf_search_result *r = t ? tf_search_run(s->spec->arch, s->spec->workload, t, &o, d) : NULL;
  bool found = r && r->n_best > 0;
  tf_search_free(r);
  tf_tree_free(t);
  tf_diags_free(d);
  return found;
}

static bool suits(const cli_session *s, const char *text) {
  return suits_within(s, text, FEW) || suits_within(s, text, ENOUGH);
}

static cli_status no_memory(void) {
  fputs("tileflow: error[E_LIMIT]: out of memory\n", stderr);
  return CLI_FAILED;
}

/* Searches what is open in the session's mapping, or all mappings; what is found joins the candidates. */
static cli_status look(cli_session *s, const cli_options *o, cli_candidates *c) {
  char *template = s->found_text;
  s->found_text = NULL;
  cli_options said = *o;
  said.variants = (o->measure > 32 ? o->measure : 32) * CLI_VARIANTS;
  if (!said.evals && !(said.time_limit > 0)) { /* the template leaves little to look for */
    said.evals = PLAN_EVALS;
    said.effort = PLAN_EFFORT;
  }
  /* Of mappings that keep the units busy alike, the one that moves less has the larger blocks. */
  if (said.objective == TF_LATENCY) said.objective = TF_EDP;
  tf_search_free(s->search);
  s->search = NULL;
  cli_status status = cli_search(s, &said);
  free(template);
  if (status == CLI_DONE && cli_interrupted(NULL))
    status = CLI_INTERRUPTED; /* all the looking, not only the search at hand */
  if (status == CLI_DONE && !cli_candidates_add(c, s->search->variants, s->search->n_variants)) return no_memory();
  return status;
}

/* Another form of the template, if it suits: more to choose from.  What was adopted stays so. */
static cli_status look_further(cli_session *s, const cli_options *o, cli_candidates *c, tf_template form) {
  char *text = tf_search_template(s->spec->arch, s->spec->workload, form);
  if (!text || !suits(s, text)) {
    free(text);
    return CLI_DONE;
  }
  char *adopted = s->found_text;
  s->found_text = NULL;
  cli_status status = cli_adopt(s, text, "search");
  if (status == CLI_DONE) status = look(s, o, c);
  if (status != CLI_DONE) {
    free(adopted);
    return status;
  }
  free(s->found_text);
  return cli_adopt(s, adopted, "search");
}

/* Of what was found, the mapping whose kernel promises most. */
static cli_status choose(cli_session *s, const cli_options *o, cli_candidates *c) {
  cli_choose(s, o, c);
  if (c->n == 0) return CLI_DONE; /* emitting the best says why nothing can be emitted */
  size_t bytes = strlen(c->at[0].text) + 1;
  char *text = malloc(bytes), *before = s->found_text;
  if (!text) return no_memory();
  memcpy(text, c->at[0].text, bytes);
  cli_status status = cli_adopt(s, text, s->origin);
  free(before);
  return status;
}

/* Where no mapping is given: all ops fused, as far as they can be, and the search fills in the trip counts.  Where the
 * blocks of all ops fit close to the core at once, so be it; else the best of all forms in which they pass through. */
static cli_status plan(cli_session *s, const cli_options *o, cli_candidates *c) {
  cli_status status = cli_check_sections(s);
  int form = 0;
  const bool given = s->tree;
  for (; status == CLI_DONE && !s->tree && form < TF_N_TEMPLATES; form++) {
    char *text = tf_search_template(s->spec->arch, s->spec->workload, (tf_template)form);
    if (text && suits(s, text))
      status = cli_adopt(s, text, "search");
    else
      free(text);
  }
  if (status == CLI_DONE && (!s->tree || s->tree->open)) status = look(s, o, c);
  const bool whole = form == TF_TEMPLATE_WHOLE + 1;
  for (; status == CLI_DONE && !given && (o->measure || !whole) && form < TF_N_TEMPLATES; form++)
    status = look_further(s, o, c, (tf_template)form);
  if (status == CLI_DONE && c->n > 0) status = choose(s, o, c);
  return status == CLI_DONE ? cli_count_words(s) : status;
}

/* A mapping without open parts is its own only candidate. */
static cli_status measure(cli_session *s, const cli_options *o, cli_candidates *c, cli_measured *m) {
  if (c->n == 0) {
    tf_found given = {.text = tf_tree_text(s->tree)};
    bool ok = given.text && cli_candidates_add(c, &given, 1);
    free(given.text);
    if (!ok) return no_memory();
  }
  cli_candidates_sort(c);
  cli_status status = cli_measure(s, o, c, m);
  if (status != CLI_DONE || !m->text) return status;
  tf_model_free(s->model);
  s->model = NULL;
  char *text = m->text, *before = s->found_text;
  m->text = NULL;
  status = cli_adopt(s, text, s->origin);
  free(before);
  return status == CLI_DONE ? cli_count_words(s) : status;
}

cli_status cmd_emit(const cli_options *o) {
  cli_session s;
  cli_candidates c = {0};
  cli_measured m = {0};
  cli_status status = cli_open(&s, o);
  if (status == CLI_DONE) status = plan(&s, o, &c);
  if (status == CLI_DONE) status = cli_report_violations(&s, CLI_DONE);
  if (status == CLI_DONE && o->measure) status = measure(&s, o, &c, &m);
  if (status == CLI_DONE) {
    if (o->dump_ir) status = dump(&s, o);
    if (status == CLI_DONE && o->out) status = emit(&s, o, &m);
    if (status == CLI_BAD_INPUT && tf_diags_errors(s.diags)) cli_complain(s.diags);
  }
  if (status == CLI_INTERRUPTED) fputs("tileflow: interrupted; nothing is written\n", stderr);
  cli_candidates_free(&c);
  cli_measured_free(&m);
  cli_close(&s);
  return status;
}
