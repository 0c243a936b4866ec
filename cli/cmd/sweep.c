/* tileflow sweep: a grid of points into a store. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cmd/commands.h"
#include "cli/os/interrupt.h"
#include "cli/os/meter.h"
#include "cli/report/sweep_report.h"

typedef struct {
  cli_meter meter;
  const tf_sweep_grid *g;
} shown;

static void show(void *ctx, const tf_sweep_progress *p) {
  shown *s = ctx;
  char best[64] = "", front[32] = "", left[32] = "";
  if (!s->meter.on || (s->meter.last >= 0 && p->seconds - s->meter.last < 0.1)) return;
  s->meter.last = p->seconds;
  double rate = p->seconds > 0 ? (double)p->found / p->seconds : 0;
  if (isfinite(p->best))
    snprintf(best, sizeof best, ", best %s %s", cli_real(p->best).s, tf_goal_key((int)s->g->goals[0]));
  if (p->front > 0) snprintf(front, sizeof front, ", front of %d", p->front);
  if (rate > 0) snprintf(left, sizeof left, ", %.0f s left", (double)(p->total - p->done) / rate);
  cli_meter_say(&s->meter, "%s of %s points, %s/s%s%s%s ", cli_count(p->done).s, cli_count(p->total).s,
                cli_real(rate).s, best, front, left);
}

/* NAME.tfdb; of a name's '/' another folder would be made. */
static bool name_store(const cli_options *o, const tf_sweep_grid *g, char **out) {
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

/* A file that cannot be read or written is the machine's fault. */
static cli_status complain(const tf_diags *d) {
  bool io = false;
  for (size_t i = 0; i < tf_diags_count(d); i++)
    io |= tf_diags_at(d, i)->code == TF_E_IO;
  cli_complain(d);
  return io ? CLI_FAILED : CLI_BAD_INPUT;
}

static cli_status report(tf_store *store, const cli_options *o, tf_diags *d) {
  cli_text t = {0};
  if (o->quiet) return CLI_DONE;
  tf_sweep_summary *s = tf_sweep_summary_of(store, d);
  if (!s) return complain(d);
  cli_sweep_text(tf_store_grid(store), s, &t);
  if (t.text) fputs(t.text, stdout);
  fflush(stdout);
  tf_sweep_summary_free(s);
  cli_text_free(&t);
  return CLI_DONE;
}

static cli_status run(const tf_sweep *sweep, tf_store *store, const cli_options *o, tf_diags *d) {
  shown line = {cli_meter_new(o), tf_sweep_grid_of(sweep)};
  tf_sweep_opts opts = {.threads = o->threads,
                        .shard = o->shards[0],
                        .shards = o->shards[1],
                        .full = o->full,
                        .time_limit = o->time_limit,
                        .stop = cli_interrupted,
                        .progress = line.meter.on ? show : NULL,
                        .ctx = &line};
  cli_hold_interrupt(0);
  bool ok = tf_sweep_run(sweep, store, &opts, NULL, d);
  cli_release_interrupt();
  cli_meter_end(&line.meter);
  return ok ? report(store, o, d) : complain(d);
}

static cli_status sweep_into(const tf_sweep *sweep, const char *path, const cli_options *o, tf_diags *d) {
  struct stat st;
  if (o->resume && stat(path, &st) != 0) {
    fprintf(stderr, "%s: error[E_IO]: there is no store to go on with; without --resume one is made\n", path);
    return CLI_BAD_INPUT;
  }
  tf_store *store = tf_store_of(path, sweep, d);
  cli_status status = store ? run(sweep, store, o, d) : complain(d);
  tf_store_close(store);
  return status;
}

cli_status cmd_sweep(const cli_options *o) {
  tf_diags *d = tf_diags_new();
  tf_sweep *sweep = d ? tf_sweep_read(o->files, o->n_files, o->set, o->n_set, d) : NULL;
  char *path = NULL;
  cli_status status = CLI_BAD_INPUT;
  if (!d || (sweep && !name_store(o, tf_sweep_grid_of(sweep), &path))) {
    fputs("tileflow: error[E_LIMIT]: out of memory\n", stderr);
    status = CLI_FAILED;
  } else if (!sweep) {
    cli_complain(d);
  } else {
    status = sweep_into(sweep, path, o, d);
  }
  free(path);
  tf_sweep_free(sweep);
  tf_diags_free(d);
  return status;
}
