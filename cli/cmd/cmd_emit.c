/* tileflow emit: the mapping as a folder of source code. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/os/interrupt.h"
#include "cli/os/meter.h"
#include "cli/os/safe_dir.h"
#include "cli/report/report.h"
#include "cli/session/measure.h"
#include "cli/session/selftest.h"
#include "cli/session/session.h"
#include "cli/session/session_network.h"
#include "cli/session/trials.h"
#include "tileflow/tree.h"
#include "tileflow/version.h"

typedef struct {
  cli_input in;
  cli_looking look;
  const char *out, *target, *isa, *dtype, *micro, *name;
  const char *tuned, *schedule; /* source of the mapping, if it comes from tune */
  tf_choices choices;           /* made by what was tuned */
  int measure;                  /* kernels to time; 0: none */
  bool dump_ir, no_test, live;
  bool own_target; /* none was named */
} emit_options;
static const cli_slot slots[] = {CLI_LOOKING_AT(emit_options, look),
                                 CLI_AT_SAYS(emit_options, OUT, out, "the new folder (-o, too)"),
                                 CLI_AT(emit_options, TARGET, target),
                                 CLI_AT(emit_options, ISA, isa),
                                 CLI_AT(emit_options, DTYPE, dtype),
                                 CLI_AT(emit_options, MICRO, micro),
                                 CLI_AT(emit_options, NAME, name),
                                 CLI_AT(emit_options, MEASURE, measure),
                                 CLI_AT(emit_options, DUMP_IR, dump_ir),
                                 CLI_AT(emit_options, NO_TEST, no_test),
                                 CLI_AT(emit_options, TUNED, tuned),
                                 CLI_AT(emit_options, SCHEDULE, schedule),
                                 CLI_AT(emit_options, REPLACED, live)};

/* Whether kernels are for this computer's processors, whose best instruction set is taken if none
 * is named. */
static bool is_here(const emit_options *o) { return tf_emit_able(o->target, TF_EMIT_HERE); }
/* Whether what is written is for reading: without a folder to stdout. */
static bool is_read(const emit_options *o) { return tf_emit_able(o->target, TF_EMIT_READ); }
static bool is_own_isa(const emit_options *o) {
  return o->isa && tf_emit_owns_isa(o->target, o->isa);
}

static void put_option(cli_text *t, const char *name, const char *value) {
  if (!value) return;
  cli_printf(t, " %s", name);
  cli_put_word(t, value);
}

/* What was said of the search. */
static void put_looking(const cli_looking *l, cli_text *t) {
  if (l->objective != TF_LATENCY) put_option(t, "--objective", tf_objective_key((int)l->objective));
  if (l->seed != 1) cli_printf(t, " --seed %" PRIu64, l->seed);
  if (l->time_limit > 0) cli_printf(t, " --time-limit %g", l->time_limit);
  if (l->evals) cli_printf(t, " --evals %" PRId64, l->evals);
  put_option(t, "--strategy", l->strategy);
}

/* The command line that reproduces the files. */
static void reproduce(const emit_options *o, const char *isa, cli_text *t) {
  cli_printf(t, "tileflow emit");
  for (size_t i = 0; i < o->in.n_files; i++)
    cli_put_word(t, o->in.files[i]);
  for (size_t i = 0; i < o->in.n_set; i++) {
    cli_text word = {0};
    cli_printf(&word, "%s=%s", o->in.set[i].name, o->in.set[i].value);
    put_option(t, "--set", word.text);
    cli_text_free(&word);
  }
  cli_printf(t, " --target %s", o->target);
  if (is_here(o) || is_own_isa(o)) cli_printf(t, " --isa %s", isa);
  put_option(t, "--tuned", o->tuned);
  put_option(t, "--schedule", o->schedule);
  if (o->measure) cli_printf(t, " --measure %d", o->measure);
  put_option(t, "--dtype", o->dtype);
  put_option(t, "--micro", o->micro);
  put_option(t, "--name", o->name);
  put_looking(&o->look, t);
  if (o->live) cli_printf(t, " --live");
  put_option(t, "-o", o->out);
}

/* One run. */
typedef struct {
  const emit_options *o;
  tf_planner_opts plan;
  tf_emit_instrs *instrs; /* of plan */
  cli_text command;       /* of plan */
  cli_meter meter;
  cli_status timed;  /* outcome of timing the kernels */
  tf_handed *handed; /* what the kernel takes where tensors have a layout; NULL: none has */
} job;

static cli_status dump(const tf_planned *p, const job *r, tf_diags *d) {
  const emit_options *o = r->o;
  const tf_emit_options e = {
      .isa = o->isa, .dtype = o->dtype, .instrs = r->instrs, .choices = o->choices};
  char *ir = tf_emit_ir(p->tree, o->target, o->isa || !is_here(o) ? &e : NULL, d);
  if (!ir) return CLI_BAD_INPUT;
  bool ok = fputs(ir, stdout) >= 0;
  free(ir);
  return ok ? CLI_DONE : CLI_FAILED;
}

static void print_next_step(const tf_planned *p, const job *r, bool skips) {
  if (p->n_measured) cli_measured_print(p);
  const char *of = is_here(r->o) ? r->plan.kernel.isa : r->o->target;
  const char *masked = cli_masked_line(p->tree->workload);
  if (masked) puts(masked);
  if (tf_zeros_matter(p->tree->arch, p->tree->workload))
    puts(skips ? "Where the mapping skips zeros that fall n of m, or in blocks, products multiply "
                 "only what is not zero."
               : "The kernel computes every point: zeros save it nothing.");
  if (r->handed && r->handed->n)
    puts("Ranks of arguments stand in the order of the section 'layout': kernel.h has it.");
  if (r->handed && r->handed->n_cut && !is_read(r->o))
    puts("Arguments in blocks are brought into rows, and back, in each call: kernel.h has them.");
  if (tf_arch_lines(p->tree->arch))
    puts("The kernel lays out its copies by itself: lines of memories are not followed.");
  if (is_read(r->o))
    printf("%s: %s for %s.  Next: read %s/hints.txt, or hints.json\n", r->o->out,
           p->tree->workload->name, of, r->o->out);
  else
    printf("%s: %s for %s.  Next: make -C", r->o->out, p->tree->workload->name, of);
  if (!is_read(r->o)) cli_print_word_and(r->o->out, " test\n");
}

/* Of other targets, test.c wants their device. */
static cli_status test(const tf_emitted *e, const tf_planned *p, const job *r) {
  if (r->o->no_test || !is_here(r->o) || cli_is_there(r->o->out)) return CLI_DONE;
  return cli_selftest(e, r->plan.kernel.isa, (double)p->result.points, r->o->in.quiet);
}

static cli_status say(const tf_planned *p, const job *r, tf_diags *d) {
  tf_emitted *e = tf_planned_emit(p, &r->plan, d);
  const bool said = e && fputs(e->file[0].text, stdout) >= 0, made = e != NULL;
  tf_emitted_free(e);
  return said ? CLI_DONE : made ? CLI_FAILED : CLI_BAD_INPUT;
}

static cli_status emit(const tf_planned *p, const job *r, tf_diags *d) {
  tf_emitted *e = tf_planned_emit(p, &r->plan, d);
  bool there = true; /* or bad input of another kind */
  const cli_status tested = e ? test(e, p, r) : CLI_DONE;
  bool ok = e && tested == CLI_DONE && cli_safe_dir(r->o->out, e->file, (size_t)e->n, &there);
  const bool skips = e && e->skips;
  tf_emitted_free(e);
  if (tested != CLI_DONE) return tested;
  if (ok && !r->o->in.quiet && !r->o->dump_ir) print_next_step(p, r, skips);
  return ok ? CLI_DONE : there ? CLI_BAD_INPUT : CLI_FAILED;
}

/* ---- the plan -------------------------------------------------------------------------------- */
static void show(void *ctx, const tf_progress *p) {
  job *r = ctx;
  r->meter.bound = p->bound;
  cli_show_search(&r->meter, p);
}

static bool time_kernels(void *ctx, const tf_emitted *const *kernels, int n, tf_measured *m) {
  job *r = ctx;
  cli_meter_end(&r->meter);
  cli_release_interrupt(); /* timing handles Ctrl-C itself */
  r->timed = cli_measure(kernels, n, m, r->o->in.quiet);
  cli_hold_interrupt(CLI_GRACE);
  return r->timed == CLI_DONE;
}

static tf_planner_opts options_of(job *r, const tf_workload *wl) {
  const emit_options *o = r->o;
  const char *isa = o->isa ? o->isa : tf_emit_isa(o->dtype);
  reproduce(o, isa, &r->command);
  r->meter = cli_meter_new(o->in.quiet);
  r->meter.limit = o->look.time_limit;
  r->meter.max_evals =
      o->look.evals || o->look.time_limit > 0 ? o->look.evals : tf_planner_evals(wl);
  return (tf_planner_opts){.target = o->target,
                           .kernel = {.isa = isa,
                                      .dtype = o->dtype,
                                      .micro = o->micro,
                                      .name = o->name,
                                      .instrs = r->instrs,
                                      .choices = o->choices,
                                      .live = o->live,
                                      .version = TILEFLOW_VERSION,
                                      .command = r->command.text},
                           .objective = o->look.objective,
                           .strategy = o->look.strategy,
                           .budget = {.seed = o->look.seed,
                                      .threads = o->look.threads,
                                      .max_evals = o->look.evals,
                                      .time_limit = o->look.time_limit,
                                      .stop = cli_interrupted,
                                      .progress = r->meter.enabled ? show : NULL,
                                      .ctx = r},
                           .n_time = o->measure,
                           .time = time_kernels};
}

/* Makes the plan's mapping the session's.  refused: if it has none, the planner has said why. */
static cli_status adopt(cli_session *s, tf_planned *p, bool refused) {
  if (!p->tree && refused) {
    cli_complain(s->diags);
    return CLI_INFEASIBLE;
  }
  if (!p->tree) return cli_none_found(s, p->evals, p->stopped_by);
  if (p->found) {
    tf_tree_free(s->tree);
    s->tree = p->found;
    s->origin = "search";
    p->found = NULL;
  }
  s->result = p->result;
  if (cli_interrupted(NULL))
    return CLI_INTERRUPTED; /* Ctrl-C counts at any time, not only during the last search */
  cli_status status = cli_check_result(s);
  return status == CLI_DONE ? cli_report_violations(s, status) : status;
}

static cli_status plan(cli_session *s, job *r, tf_planned **p) {
  if (!tf_emit_suits(r->plan.target, s->spec->arch, s->diags)) {
    cli_complain(s->diags);
    return CLI_BAD_INPUT;
  }
  const size_t said = tf_diags_count(s->diags);
  cli_hold_interrupt(CLI_GRACE);
  *p = tf_planner_run(s->spec->arch, s->spec->workload, s->tree, &r->plan, s->diags);
  cli_release_interrupt();
  cli_meter_end(&r->meter);
  if (*p) return adopt(s, *p, tf_diags_count(s->diags) > said);
  if (r->timed != CLI_DONE) return r->timed;
  cli_complain(s->diags);
  return CLI_BAD_INPUT;
}

static cli_status write_kernels(const tf_planned *p, const job *r, tf_diags *d) {
  cli_status status = r->o->dump_ir ? dump(p, r, d) : CLI_DONE;
  if (status == CLI_DONE && r->o->out) status = emit(p, r, d);
  if (status == CLI_DONE && !r->o->out && !r->o->dump_ir) status = say(p, r, d);
  if (status == CLI_BAD_INPUT && tf_diags_errors(d)) cli_complain(d);
  return status;
}

/* Whether the table of targets has the name; kernels: whether that target prints kernels. */
static bool is_target(const char *name, bool *kernels) {
  const char *row;
  bool any = false;
  for (int i = 0; (row = tf_emit_target(i, NULL)); i++)
    any |= !strcmp(row, name);
  *kernels = tf_emit_prints(name);
  return any;
}

static void no_target(const char *name, tf_diags *d) {
  cli_text known = {0};
  const char *row;
  for (int i = 0; (row = tf_emit_target(i, NULL)); i++)
    cli_printf(&known, "%s%s%s", i ? ", " : "", row,
               tf_emit_prints(row) ? "" : " (its loops alone, with --dump-ir)");
  tf_fail(d, (tf_loc){0}, TF_E_USAGE, "no target '%.40s'; known: %s", name,
          known.text ? known.text : "");
  cli_text_free(&known);
}

/* The first target that can; "none". */
static const char *able(tf_emit_ability what) {
  const char *name;
  for (int i = 0; (name = tf_emit_target(i, NULL)); i++)
    if (tf_emit_able(name, what)) return name;
  return "none";
}

/* Another target's instruction set, or none's. */
static void no_isa(const emit_options *o, tf_diags *d) {
  cli_text whose = {0};
  const char *name;
  for (int i = 0; (name = tf_emit_target(i, NULL)); i++)
    if (tf_emit_isas(name)) cli_printf(&whose, "%s are %s's, ", tf_emit_isas(name), name);
  tf_fail(d, (tf_loc){0}, TF_E_USAGE, "--target %s has no --isa %.40s: %sthe rest %s's", o->target,
          o->isa, whose.text ? whose.text : "", able(TF_EMIT_HERE));
  cli_text_free(&whose);
}

/* Reports options that are there for other targets than this one. */
static void check_able(const emit_options *o, tf_diags *d) {
  const struct {
    bool given;
    tf_emit_ability asks;
    const char *options;
  } row[] = {{o->micro, TF_EMIT_MICRO, "--micro is"}, {o->measure, TF_EMIT_HERE, "--measure is"}};
  if (o->isa && !is_here(o) && !is_own_isa(o)) no_isa(o, d);
  for (size_t i = 0; i < sizeof row / sizeof *row; i++)
    if (row[i].given && !tf_emit_able(o->target, row[i].asks))
      tf_fail(d, (tf_loc){0}, TF_E_USAGE, "%s of --target %s alone", row[i].options,
              able(row[i].asks));
  if (!is_here(o)) tf_emit_has_dtype(o->target, o->dtype, d);
}

static void check_emit(void *options, tf_diags *d) {
  emit_options *o = options;
  o->own_target = !o->target;
  if (!o->target) o->target = tf_emit_target(0, NULL);
  bool kernels = false;
  if (!is_target(o->target, &kernels))
    no_target(o->target, d);
  else if (!kernels && (o->out || o->measure))
    tf_fail(d, (tf_loc){0}, TF_E_USAGE,
            "--target %s has no kernels, only loops: --dump-ir without -o and --measure",
            o->target);
  else if (kernels)
    check_able(o, d);
  if (!o->out && !o->dump_ir && !is_read(o))
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "emit needs -o DIR, a folder that is not there yet");
  if (o->out && !strcmp(o->out, "-"))
    tf_fail(d, (tf_loc){0}, TF_E_USAGE,
            "emit writes a folder, which cannot go to stdout: -o DIR (./- for a folder called -)");
  if (o->name) tf_emit_can_name(o->name, d);
  if (o->live && !is_here(o))
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "--live is of --target %s alone", able(TF_EMIT_HERE));
  if (o->live && (!o->out || (o->isa && !strcmp(o->isa, "multi"))))
    tf_fail(d, (tf_loc){0}, TF_E_USAGE,
            "--live is of a kernel for one instruction set, not multi, with -o DIR");
  if (o->tuned && o->schedule)
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "--tuned and --schedule each say which mapping");
  if ((o->tuned || o->schedule) && o->measure)
    tf_fail(d, (tf_loc){0}, TF_E_USAGE,
            "--measure looks for a mapping, --tuned and --schedule say which");
  if ((o->tuned || o->schedule) && !tf_emit_able(o->target, TF_EMIT_TUNED))
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "--tuned and --schedule are of --target %s alone",
            able(TF_EMIT_TUNED));
  if (o->measure && !o->out)
    tf_fail(d, (tf_loc){0}, TF_E_USAGE, "--measure needs -o DIR, where the fastest kernel goes");
}

static void show_groups(void *ctx, const tf_progress *p) {
  char groups[48];
  snprintf(groups, sizeof groups, "%s groups mapped", cli_count(p->shapes).s);
  cli_meter_show(ctx, p->evals, p->seconds, groups);
}

/* Emits a network: of a plan, which determines everything except the name and the machine of its
 * kernels, or of one that is made first. */
static cli_status run_network(const emit_options *o) {
  const char *isa = o->isa || !is_here(o) ? o->isa : tf_emit_isa(o->dtype);
  cli_text command = {0};
  if (!tf_emit_able(o->target, TF_EMIT_NETWORKS) || o->measure || o->dump_ir || !o->out) {
    cli_text able = cli_network_targets();
    fprintf(stderr,
            "tileflow: error[E_USAGE]: a plan is emitted for --target %s, with -o, and without "
            "--measure and --dump-ir\n",
            able.text ? able.text : "");
    cli_text_free(&able);
    return CLI_BAD_INPUT;
  }
  reproduce(o, isa, &command);
  const tf_emit_options e = {.isa = isa,
                             .dtype = o->dtype,
                             .micro = o->micro,
                             .name = o->name,
                             .live = o->live,
                             .version = TILEFLOW_VERSION,
                             .command = command.text};
  cli_meter meter = cli_meter_new(o->in.quiet);
  const tf_net_opts plan = {.objective = o->look.objective,
                            .isa = isa,
                            .target = o->target,
                            .dtype = o->dtype,
                            .budget = {.max_evals = o->look.evals,
                                       .time_limit = o->look.time_limit,
                                       .threads = o->look.threads,
                                       .seed = o->look.seed,
                                       .stop = cli_interrupted,
                                       .progress = meter.enabled ? show_groups : NULL,
                                       .ctx = &meter}};
  const cli_status status = cli_emit_network(&o->in, o->out, &e, &plan);
  cli_meter_end(&meter);
  cli_text_free(&command);
  return status;
}

/* Whether kernels of a network are wanted: of a plan, or of a model, for a target that fuses all
 * ops of none. */
static bool is_network(emit_options *o, char *target, size_t size) {
  if (!cli_has_plan(&o->in))
    return tf_emit_able(o->target, TF_EMIT_NETWORKS) && !is_here(o) && cli_has_model(&o->in);
  if (o->own_target && cli_plan_target(&o->in, target, size) &&
      tf_emit_able(target, TF_EMIT_NETWORKS))
    o->target = target; /* what is no target of networks is reported with the plan */
  return true;
}

/* ---- what was tuned -------------------------------------------------------------------------- */
/* A schedule names its instruction set, which must be one of this computer's, or the one given. */
static tf_tree *of_schedule(cli_session *s, emit_options *o) {
  const char *isas[32];
  tf_schedule beside = {0};
  int n = 0;
  tf_text text = tf_text_read(o->schedule, s->diags);
  if (!text.text) return NULL;
#define X(key, what)                                                                               \
  if (n < 32 && (o->isa ? !strcmp(o->isa, key) : tf_emit_runs(key))) isas[n++] = key;
  TF_ISAS(X)
#undef X
  tf_tree *mapping =
      tf_tune_mapping(s->spec->arch, s->spec->workload, n, isas, text, &beside, s->diags);
  if (mapping) o->isa = beside.isa;
  if (mapping) o->choices = beside.choices;
  free((void *)(uintptr_t)text.text);
  return mapping;
}

/* The store's best schedule for this computer; none if it was tuned for another instruction set
 * than the one asked for. */
static tf_tree *of_store(cli_session *s, emit_options *o) {
  const char *isa = NULL;
  tf_tree *t = cli_measured_mapping(o->tuned, s->spec, o->dtype, &isa, &o->choices, s->diags);
  if (!t && tf_diags_errors(s->diags) == 0) {
    char *here = cli_machine();
    tf_fail(s->diags, (tf_loc){0}, TF_E_STORE,
            "%.100s has no kernel of this workload and architecture that ran on %.80s", o->tuned,
            here ? here : "");
    free(here);
  }
  if (t && o->isa && isa && strcmp(o->isa, isa) != 0) {
    tf_fail(s->diags, (tf_loc){0}, TF_E_USAGE,
            "the fastest kernel in %.100s is for %.20s: leave out --isa", o->tuned, isa);
    tf_tree_free(t);
    return NULL;
  }
  if (t) o->isa = isa;
  return t;
}

/* The mapping that was tuned becomes the session's. */
static cli_status use_tuned(cli_session *s, emit_options *o) {
  if (s->tree) {
    fputs("tileflow: error[E_USAGE]: a mapping is given, and another by --tuned or --schedule\n",
          stderr);
    return CLI_BAD_INPUT;
  }
  tf_tree *mapping = o->tuned ? of_store(s, o) : of_schedule(s, o);
  if (mapping) return cli_adopt(s, mapping, "tune");
  cli_complain(s->diags);
  return CLI_BAD_INPUT;
}

/* From here on inputs and outputs have their ranks in the order in which they lie. */
static cli_status hand_over(cli_session *s, const char *target, tf_handed **handed) {
  tf_handed *h = *handed = tf_handed_new(s->spec->arch, s->spec->workload);
  tf_tree *tree = h && s->tree ? tf_tree_copy(s->tree, h->arch, h->workload, s->diags) : NULL;
  if (!h || (s->tree && !tree)) {
    if (!tf_diags_errors(s->diags)) tf_fail(s->diags, (tf_loc){0}, TF_E_LIMIT, "out of memory");
    cli_complain(s->diags);
    return CLI_BAD_INPUT;
  }
  if (!tf_emit_takes_layouts(target, h->arch, h->workload, s->diags)) {
    tf_tree_free(tree);
    cli_complain(s->diags);
    return CLI_BAD_INPUT;
  }
  s->spec->arch = h->arch;
  s->spec->workload = h->workload;
  tf_tree_free(s->tree);
  s->tree = tree;
  return CLI_DONE;
}

/* Prints a warning at a place of the session's files. */
TF_PRINTF(3, 4)
static void warn_at(const cli_session *s, tf_loc at, const char *fmt, ...) {
  tf_diags *own = cli_diags();
  if (!own) return;
  const char *text = at.line ? tf_diags_file_text(s->diags, at.file) : NULL;
  if (text)
    at.file = tf_diags_add_file(own, tf_diags_file_name(s->diags, at.file), text, strlen(text));
  char said[400];
  va_list args;
  va_start(args, fmt);
  vsnprintf(said, sizeof said, fmt, args);
  va_end(args);
  tf_warn(own, text ? at : (tf_loc){0}, "%s", said);
  cli_complain(own);
  tf_diags_free(own);
}

/* Scales and biases of which int8 makes bytes, as nothing says that they are wider: one warning, at
 * the first. */
static void warn_of_bytes(const cli_session *s, const emit_options *o) {
  int first;
  const tf_workload *wl = s->spec->workload;
  if (!o->dtype || strcmp(o->dtype, "int8") != 0) return;
  const int n = tf_emit_made_bytes(wl, &first);
  if (!n) return;
  char more[40] = "";
  if (n > 1) snprintf(more, sizeof more, " and %d more", n - 1);
  warn_at(s, wl->tensors[first].at,
          "'%.40s'%s become%s int8 though no product of bytes reads %s: scales and biases stay "
          "float32 where the workload says so, 'tensors: {%.40s: {word-bits: 32}}'",
          wl->tensors[first].name, more, n > 1 ? "" : "s", n > 1 ? "them" : "it",
          wl->tensors[first].name);
}

/* Layouts of the files that no kernel follows: one warning, at the first. */
static void warn_of_layouts(const cli_session *s) {
  const tf_arch *a = s->spec->arch;
  const tf_laid *first = NULL;
  const tf_memory *in = NULL;
  int more = 0;
  for (int l = 0; l < a->n_memories; l++)
    for (int i = 0; i < a->memories[l].laid.n; i++) {
      const tf_laid *at = &a->memories[l].laid.list[i];
      if (tf_layout_followed(a, s->spec->workload, at) || !at->tensor.at.line) continue;
      if (first) more++;
      if (!first) first = at, in = &a->memories[l];
    }
  if (!first) return;
  warn_at(s, first->tensor.at,
          "the kernel does not follow how '%.40s' lies in %.40s: a caller hands tensors over with "
          "whole ranks, and what is copied lies as the kernel's own tiles need it%s",
          first->tensor.name, in->name, more ? "; nor does it follow the layouts below" : "");
}

static cli_status run_emit(const void *options) {
  emit_options own = *(const emit_options *)options;
  emit_options *o = &own;
  char target[16];
  if (!o->in.quiet) cli_note_unused_isa(o->target, o->isa, o->dtype);
  if (is_network(o, target, sizeof target)) return run_network(o);
  cli_session s;
  job r = {.o = o};
  tf_planned *p = NULL;
  cli_status status = cli_open(&s, &o->in);
  if (status == CLI_DONE) status = cli_check_sections(&s);
  if (status == CLI_DONE && (o->tuned || o->schedule)) status = use_tuned(&s, o);
  if (status == CLI_DONE && tf_arch_lines(s.spec->arch))
    status = hand_over(&s, o->target, &r.handed);
  if (status == CLI_DONE && !(r.instrs = tf_emit_instrs_new(s.spec, s.diags))) {
    cli_complain(s.diags);
    status = CLI_BAD_INPUT;
  }
  if (status == CLI_DONE) {
    r.plan = options_of(&r, s.spec->workload);
    status = plan(&s, &r, &p);
    if (status == CLI_DONE) status = write_kernels(p, &r, s.diags);
    if (status == CLI_DONE && !o->in.quiet) warn_of_layouts(&s), warn_of_bytes(&s, o);
  }
  if (status == CLI_INTERRUPTED) fputs("tileflow: interrupted; nothing is written\n", stderr);
  cli_text_free(&r.command);
  tf_planned_free(p);
  tf_emit_instrs_free(r.instrs);
  cli_close(&s);
  tf_handed_free(r.handed);
  return status;
}

const cli_command cmd_emit = {
    .name = "emit",
    .summary = "write a fused kernel for the mapping",
    .about =
        "Writes a new folder with the mapping as C17 (kernel.c, kernel.h), CUDA C++ or OpenCL C "
        "(--target cuda, opencl), a test that holds it against a plain evaluation in double, a "
        "benchmark, a Makefile, a CMake file, a README and a manifest.  Where no mapping is given, "
        "or some of it is open, one is searched for first.  A kernel for the CPU runs its test "
        "once before the folder appears, where there are make and a compiler.  Of a network's plan "
        "(docs/HOWTO-plan.md), a kernel for each of its groups, and network.c (network.cu), which "
        "calls them in order, for the NPU one program of all; none is tested.  Of an ONNX model "
        "without a plan --target cuda and npu make one first.  --target hints says what CUDA's "
        "kernels are in the words of Triton, TileLang, Helion and CUTLASS, without -o to stdout.\n"
        "Exit status: 0, 1 if the kernel fails its test (nothing is written), 2 for bad input (or "
        "a folder that is there already), 3 if the mapping does not fit.\n",
    .example = "arch-specs/host-template.yaml workloads/gemm-chain/g1.yaml \\\n"
               "    workloads/dataflows/cpu/gemm-chain-rows.yaml -o g1-kernel",
    .size = sizeof(emit_options),
    CLI_SLOTS(slots),
    .check = check_emit,
    .run = run_emit,
};
