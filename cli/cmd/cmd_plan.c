/* tileflow plan: a network cut into fused groups, each mapped. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/draw/draw_network.h"
#include "cli/os/interrupt.h"
#include "cli/os/meter.h"
#include "cli/os/safe_write.h"
#include "cli/page/page.h"
#include "cli/report/plan_report.h"
#include "cli/session/input.h"
#include "cli/session/session.h"
#include "cli/session/session_network.h"
#include "cli/session/trials.h"
#include "tileflow/tree.h"

typedef struct {
  cli_input in;
  cli_figures figures;
  cli_looking look;
  cli_page page;
  int64_t max_ops;
  bool recompute;
  const char *out, *target, *isa, *dtype, *report, *tuned, *explorer, *node_data;
} plan_options;
static const cli_slot slots[] = {
    CLI_FIGURES_AT(plan_options, figures),
    CLI_OBJECTIVE_OF_GROUPS(plan_options, look.objective),
    CLI_AT(plan_options, SEED, look.seed),
    CLI_AT(plan_options, THREADS, look.threads),
    CLI_AT(plan_options, EVALS, look.evals),
    CLI_AT(plan_options, MAX_OPS, max_ops),
    CLI_AT(plan_options, RECOMPUTE, recompute),
    CLI_AT(plan_options, TIME_LIMIT, look.time_limit),
    CLI_AT_SAYS(plan_options, OUT, out, "write the plan there (-o, too)"),
    CLI_AT(plan_options, REPORT, report),
    CLI_AT(plan_options, EXPLORER, explorer),
    CLI_AT(plan_options, NODE_DATA, node_data),
    CLI_PAGE_AT(plan_options, page),
    CLI_AT_WORDS(
        plan_options, TARGET, target, "cpu|cuda|npu",
        "what the groups' kernels are for; if not given, groups are planned by the model alone"),
    CLI_AT(plan_options, ISA, isa),
    CLI_AT_SAYS(plan_options, DTYPE, dtype,
                "type of the kernels' data: f32 or bf16, for cuda also tf32 and f16, as emit is "
                "told; f32 if not given"),
    CLI_AT_SAYS(plan_options, TUNED, tuned,
                "give groups the mapping and choices of the fastest kernel that tune has measured "
                "on this computer, from its store")};

static const tf_loc nowhere = {0};

/* ---- found ---------------------------------------------------------------------------------- */
static void show(void *ctx, const tf_progress *p) {
  char groups[48];
  snprintf(groups, sizeof groups, "%s groups mapped", cli_count(p->shapes).s);
  cli_meter_show(ctx, p->evals, p->seconds, groups);
}

static const char *isa_of(const plan_options *o) {
  if (!o->target) return NULL;
  return o->isa || !tf_emit_able(o->target, TF_EMIT_HERE) ? o->isa : tf_emit_isa(o->dtype);
}

/* What measured() needs. */
typedef struct {
  const plan_options *o;
  const tf_arch *arch;
} store_of;

/* The group's fastest kernel in the store, unless that is of another instruction set. */
static tf_tree *measured(void *ctx, const tf_workload *group, tf_choices *choices, tf_diags *d) {
  const store_of *s = ctx;
  const char *isa = NULL;
  tf_tree *t = cli_measured_mapping(s->o->tuned, &(tf_spec){.arch = s->arch, .workload = group},
                                    s->o->dtype, &isa, choices, d);
  if (!t || (isa && !strcmp(isa, isa_of(s->o)))) return t;
  tf_tree_free(t);
  *choices = (tf_choices){{0}};
  return NULL;
}

static tf_net_plan *find_plan(const plan_options *o, const tf_spec *s, tf_diags *d) {
  cli_meter m = cli_meter_new(o->in.quiet);
  store_of store = {o, s->arch};
  const tf_net_opts opts = {.objective = o->look.objective,
                            .target = o->target,
                            .isa = isa_of(o),
                            .dtype = o->dtype,
                            .known = o->tuned ? measured : NULL,
                            .known_ctx = &store,
                            .max_ops = o->max_ops > 1000 ? 1000 : (int)o->max_ops,
                            .recompute = o->recompute,
                            .budget = {.max_evals = o->look.evals,
                                       .time_limit = o->look.time_limit,
                                       .threads = o->look.threads,
                                       .seed = o->look.seed,
                                       .stop = cli_interrupted,
                                       .progress = m.enabled ? show : NULL,
                                       .ctx = &m}};
  cli_hold_interrupt(CLI_GRACE);
  tf_net_plan *p = tf_net_plan_of(s->arch, s->workload, &opts, d);
  cli_release_interrupt();
  cli_meter_end(&m);
  return p;
}

/* The command as a comment, then the plan. */
static bool write_plan(const plan_options *o, const cli_plan *p) {
  cli_text t = {0};
  cli_printf(&t, "# tileflow plan");
  for (size_t i = 0; i < o->in.n_files; i++)
    cli_printf(&t, " %s", o->in.files[i]);
  for (size_t i = 0; i < o->in.n_set; i++)
    cli_printf(&t, " --set %s=%s", o->in.set[i].name, o->in.set[i].value);
  char *text = tf_net_plan_text(p->plan, p->spec->arch, p->spec->workload);
  cli_printf(&t, "\n%s", text ? text : "");
  t.bad = t.bad || !text;
  free(text);
  bool named = true; /* what was read from a pipe cannot be read again */
  for (size_t i = 0; i < o->in.n_files; i++)
    named = named && strcmp(o->in.files[i], "-") != 0;
  char *files = named ? tf_net_inputs_text(p->texts, o->in.n_files, o->in.set, o->in.n_set) : NULL;
  cli_printf(&t, "%s", files ? files : "");
  t.bad = t.bad || (named && !files);
  free(files);
  return cli_put_text(o->out, &t);
}

/* ---- written -------------------------------------------------------------------------------- */
static bool draw(const plan_options *o, const cli_plan *p) {
  cli_text t = {0};
  const size_t n = strlen(o->report);
  cli_draw_network(p, n > 5 && !strcmp(o->report + n - 5, ".html"), &t);
  return cli_put_text(o->report, &t);
}

static bool write_explorer(const plan_options *o, const cli_plan *p) {
  cli_text graphs = {0}, data = {0};
  bool ok = true;
  if (o->explorer) {
    cli_explorer_graphs(p, &graphs);
    ok = cli_put_text(o->explorer, &graphs);
  }
  if (o->node_data) {
    cli_explorer_data(p, &data);
    ok = cli_put_text(o->node_data, &data) && ok;
  }
  return ok;
}

static bool write_files(const plan_options *o, const cli_plan *p) {
  cli_text json = {0}, csv = {0}, text = {0};
  bool ok = !o->out || write_plan(o, p);
  if (o->figures.json) {
    cli_plan_json(p, &json);
    ok = cli_put_text(o->figures.json, &json) && ok;
  }
  if (o->figures.csv) {
    cli_plan_csv(p, &csv);
    ok = cli_put_text(o->figures.csv, &csv) && ok;
  }
  if (o->report) ok = draw(o, p) && ok;
  ok = write_explorer(o, p) && ok;
  if (o->page.html) ok = cli_page_plan(o->page.html, p) && ok;
  if (o->in.quiet || o->in.stdout_taken) return ok;
  cli_plan_text(p, &text);
  return cli_put_text("-", &text) && ok;
}

/* Checks the totals against their lower bounds: one below its bound would be a bug of the tool. */
static bool respects_bounds(const tf_net_plan *p) {
  const double slack = 1 - 1e-9;
  const bool ok = p->total.cycles >= p->bounds.cycles * slack &&
                  p->total.energy_pj >= p->bounds.energy_pj * slack &&
                  p->total.traffic_words >= (double)p->bounds.traffic_words;
  if (!ok)
    fputs("tileflow: this plan costs less than what no execution can beat: a bug of tileflow, "
          "please report it\n",
          stderr);
  return ok;
}

static cli_status report(const plan_options *o, cli_plan *all, tf_diags *d) {
  tf_net_memory memory;
  if (!tf_net_memory_of(all->plan, all->spec->workload, 0, &memory, d)) return CLI_BAD_INPUT;
  all->memory = &memory;
  const bool ok = respects_bounds(all->plan) && write_files(o, all);
  all->memory = NULL;
  tf_net_memory_free(&memory);
  return ok ? CLI_DONE : CLI_FAILED;
}

static cli_status plan(const plan_options *o, tf_diags *d) {
  tf_text *texts;
  cli_status status = CLI_BAD_INPUT;
  tf_spec *s = cli_read_texts(&o->in, &texts, d) ? cli_spec_of(&o->in, texts, d) : NULL;
  const tf_text *given = cli_find_plan(&o->in, texts);
  tf_net_plan *p = NULL;
  if (s) cli_has_sections(s, d);
  if (given && o->tuned)
    tf_fail(d, nowhere, TF_E_USAGE,
            "--tuned is for a plan that is made, and a plan is given: leave one out");
  if (s && s->mapping_text)
    tf_fail(d, s->mapping_at, TF_E_USAGE, "a plan has a mapping for each of its groups, not one");
  if (s && tf_diags_errors(d) == 0)
    p = given ? tf_net_plan_read(s->arch, s->workload, given, d) : find_plan(o, s, d);
  cli_plan all = {
      .spec = s, .plan = p, .texts = texts, .given = given != NULL, .tuned = o->tuned != NULL};
  if (p) status = report(o, &all, d);
  if (!p && s && tf_diags_errors(d) == 0) status = CLI_INTERRUPTED;
  tf_net_plan_free(p);
  tf_spec_free(s);
  cli_free_texts(texts, o->in.n_files);
  return status;
}

static void check_plan(void *options, tf_diags *d) {
  const plan_options *o = options;
  cli_refuse_over(o->page.html, o->page.force, d);
  if (o->tuned && !o->target)
    tf_fail(d, nowhere, TF_E_USAGE, "--tuned has measurements of kernels: --target cpu, too");
  cli_text able = cli_network_targets();
  const char *targets = able.text ? able.text : "";
  const bool can = o->target && tf_emit_able(o->target, TF_EMIT_NETWORKS);
  if (o->target && !can)
    tf_fail(d, nowhere, TF_E_USAGE, "plans are made for kernels of --target %s, not of '%.40s'",
            targets, o->target);
  if (o->isa && !o->target)
    tf_fail(d, nowhere, TF_E_USAGE, "--isa says for which kernels: --target %s, too", targets);
  if (o->dtype && !o->target)
    tf_fail(d, nowhere, TF_E_USAGE, "--dtype says for which kernels: --target %s, too", targets);
  if (can && o->isa && tf_emit_isas(o->target) && !tf_emit_owns_isa(o->target, o->isa))
    tf_fail(d, nowhere, TF_E_USAGE, "--target %s has no --isa %.40s: it has %s", o->target, o->isa,
            tf_emit_isas(o->target));
  if (can) tf_net_has_dtype(o->target, o->dtype, d);
  cli_text_free(&able);
}

static cli_status run_plan(const void *options) {
  tf_diags *d = cli_diags();
  if (!d) return CLI_FAILED;
  const plan_options *o = options;
  if (o->target && !o->in.quiet) cli_note_unused_isa(o->target, o->isa, o->dtype);
  const cli_status status = plan(options, d);
  if (status == CLI_BAD_INPUT) cli_complain(d);
  if (status == CLI_INTERRUPTED) fputs("tileflow: interrupted; nothing is written\n", stderr);
  tf_diags_free(d);
  return status;
}

const cli_command cmd_plan = {
    .name = "plan",
    .summary = "cut a network into fused groups, and map each",
    .about = "Reads an architecture and a network (an ONNX model, or a workload of up to 4096 "
             "ops), cuts it into groups of ops that are fused each by itself, by dynamic "
             "programming, and prints what each group costs, the sums beside the lower bound, and "
             "the memory that passes between groups (docs/HOWTO-plan.md).  With --target cpu, cuda "
             "or npu each group gets the mapping whose kernel promises most, not the one of least "
             "cost by the model; with --tuned the one that tune has measured to be the fastest "
             "(tune ARCH NETWORK PLAN --store STORE).  Of a file with a plan (-o wrote it) it "
             "prints the same of that plan.\n"
             "Exit status: 0, 2 for bad input, 130 if interrupted.\n",
    .example = "arch-specs/edge.yaml tests/data/onnx/mob-17.onnx",
    .size = sizeof(plan_options),
    CLI_SLOTS(slots),
    .check = check_plan,
    .run = run_plan,
};
