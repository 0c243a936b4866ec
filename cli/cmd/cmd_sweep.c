/* tileflow sweep: a grid of points into a store. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cmd/commands.h"
#include "cli/os/interrupt.h"
#include "cli/os/meter.h"
#include "cli/os/ranks.h"
#include "cli/report/sweep_report.h"

typedef struct {
  cli_input in;
  const char *store, *out; /* out: synonym of store */
  int threads;
  int shards[2]; /* I of N; 0 of 0: all */
  double time_limit;
  bool full, resume;
} sweep_options;
static const cli_slot slots[] = {
    CLI_AT(sweep_options, STORE, store),
    CLI_AT_SAYS(sweep_options, OUT, out, "the same as --store (-o, too)"),
    CLI_AT(sweep_options, THREADS, threads),
    CLI_AT(sweep_options, SHARD, shards),
    CLI_AT_SAYS(sweep_options, TIME_LIMIT, time_limit, "seconds until no further point is begun"),
    CLI_AT(sweep_options, FULL, full),
    CLI_AT_SAYS(sweep_options, RESUME, resume,
                "fail if there is no store yet; it goes on from one in either case")};

typedef struct {
  cli_meter meter;
  const tf_sweep_grid *g;
} shown;

static void show(void *ctx, const tf_sweep_progress *p) {
  shown *s = ctx;
  char best[64] = "", front[32] = "", left[32] = "";
  if (!s->meter.enabled || (s->meter.last >= 0 && p->seconds - s->meter.last < 0.1)) return;
  s->meter.last = p->seconds;
  double rate = p->seconds > 0 ? (double)p->found / p->seconds : 0;
  if (isfinite(p->best))
    snprintf(best, sizeof best, ", best %s %s", cli_real(p->best).s,
             tf_goal_key((int)s->g->goals[0]));
  if (p->front > 0) snprintf(front, sizeof front, ", front of %d", p->front);
  if (rate > 0) snprintf(left, sizeof left, ", %.0f s left", (double)(p->total - p->done) / rate);
  if (p->to_try) {
    cli_meter_line(&s->meter, "mappings of other machines: tried at %s of %s points ",
                   cli_count(p->tried).s, cli_count(p->to_try).s);
    return;
  }
  cli_meter_line(&s->meter, "%s of %s points, %s/s%s%s%s ", cli_count(p->done).s,
                 cli_count(p->total).s, cli_real(rate).s, best, front, left);
}

/* NAME.tfdb; a '/' in the name would refer to another folder. */
static bool name_store(const sweep_options *o, const tf_sweep_grid *g, char **out) {
  const char *name = o->store ? o->store : g->name;
  *out = malloc(strlen(name) + 6);
  if (!*out) return false;
  strcpy(*out, name);
  if (o->store) return true;
  for (char *p = *out; *p; p++)
    if (*p == '/') *p = '-';
  strcat(*out, ".tfdb");
  return true;
}

static cli_status complain(const tf_diags *d) {
  cli_complain(d);
  return cli_status_of(d);
}

static cli_status report(tf_store *store, const sweep_options *o, tf_diags *d) {
  cli_text t = {0};
  if (o->in.quiet) return CLI_DONE;
  tf_sweep_summary *s = tf_sweep_summary_of(store, d);
  if (!s) return complain(d);
  cli_sweep_text(tf_store_grid(store), s, &t);
  if (t.text) fputs(t.text, stdout);
  fflush(stdout);
  tf_sweep_summary_free(s);
  cli_text_free(&t);
  return CLI_DONE;
}

static cli_status run_sweep(const tf_sweep *sweep, tf_store *store, const sweep_options *o,
                            cli_ranks *ranks, tf_diags *d) {
  shown line = {cli_meter_new(o->in.quiet), tf_sweep_grid_of(sweep)};
  tf_sweep_opts opts = {.threads = ranks && !o->threads ? 1 : o->threads,
                        .workers = cli_ranks_workers(ranks),
                        .shard = o->shards[0],
                        .shards = o->shards[1],
                        .full = o->full,
                        .time_limit = o->time_limit,
                        .stop = cli_interrupted,
                        .progress = line.meter.enabled ? show : NULL,
                        .ctx = &line};
  cli_hold_interrupt(0);
  bool ok = tf_sweep_run(sweep, store, &opts, NULL, d);
  cli_release_interrupt();
  cli_meter_end(&line.meter);
  return ok ? report(store, o, d) : complain(d);
}

/* A rank other than 0: works for rank 0, which owns the store and prints the report. */
static cli_status serve(const tf_sweep *sweep, cli_ranks *ranks) {
  const tf_sweep_owner owner = cli_ranks_owner(ranks);
  const tf_sweep_opts opts = {.stop = cli_interrupted};
  cli_hold_interrupt(0);
  bool ok = tf_sweep_serve(sweep, &owner, &opts);
  cli_release_interrupt();
  return ok ? CLI_DONE : CLI_FAILED;
}

static cli_status sweep_into(const tf_sweep *sweep, const char *path, const sweep_options *o,
                             cli_ranks *ranks, tf_diags *d) {
  struct stat st;
  if (o->resume && stat(path, &st) != 0) {
    cli_complain_of(path, TF_E_IO, "there is no store to go on with; without --resume one is made");
    return CLI_BAD_INPUT;
  }
  tf_store *store = tf_store_of(path, sweep, d);
  cli_status status = store ? run_sweep(sweep, store, o, ranks, d) : complain(d);
  tf_store_close(store);
  return status;
}

static void check_sweep(void *options, tf_diags *d) {
  sweep_options *o = options;
  const tf_loc nowhere = {0};
  if (o->store && o->out) tf_fail(d, nowhere, TF_E_USAGE, "--store and --out name the store twice");
  if (!o->store) o->store = o->out;
  if (o->store && !strcmp(o->store, "-"))
    tf_fail(d, nowhere, TF_E_USAGE, "--store needs a file, not stdout");
}

static cli_status sweep(const void *options) {
  const sweep_options *o = options;
  cli_ranks *ranks = cli_ranks_begin();
  const bool mine = cli_ranks_mine(ranks) == 0;
  tf_diags *d = tf_diags_new();
  tf_sweep *read = d ? tf_sweep_read(o->in.files, o->in.n_files, o->in.set, o->in.n_set, d) : NULL;
  char *path = NULL;
  cli_status status = CLI_BAD_INPUT;
  if (!d || (read && !name_store(o, tf_sweep_grid_of(read), &path))) {
    cli_complain(NULL);
    status = CLI_FAILED;
  } else if (!read) {
    if (mine) cli_complain(d); /* all ranks read the same files */
  } else {
    status = mine ? sweep_into(read, path, o, ranks, d) : serve(read, ranks);
  }
  cli_ranks_end(ranks, !read || !mine || status == CLI_DONE, (int)status);
  free(path);
  tf_sweep_free(read);
  tf_diags_free(d);
  return status;
}

const cli_command cmd_sweep = {
    .name = "sweep",
    .summary = "a grid of machines and workloads, each point's result kept in a store",
    .about = "Reads the section 'sweep' (docs/HOWTO-sweep.md) and finds every point that the store "
             "lacks: bounds, the given mapping's figures, or a mapping.  Machines whose bounds a "
             "result beats are not solved.  The store is whole whenever the sweep is stopped or "
             "killed, and the same command goes on; rows are the same with any number of threads.  "
             "Ends with the front, and what of it is proved.\n"
             "Exit status: 0, 1 where the store cannot be written, 2 for bad input or a store of "
             "another sweep, 130 if interrupted.\n",
    .example = "examples/sweep.yaml --store edge-family.tfdb",
    .size = sizeof(sweep_options),
    CLI_SLOTS(slots),
    .check = check_sweep,
    .run = sweep,
};
