#include "cli/os/meter.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/text.h"

static const double pause_between = 0.1; /* seconds */

cli_meter cli_meter_new(bool quiet) {
  return (cli_meter){.enabled = !quiet && isatty(2), .last = -1};
}

static void put_line(cli_meter *m, const char *line) {
  m->shown = true;
  fprintf(stderr, "\r%s\033[K", line);
  fflush(stderr);
}

/* Seconds until the first limit is reached; INFINITY: there is none, or the rate is not known yet.
 */
static double left_of(const cli_meter *m, int64_t evals, double seconds) {
  double left = m->limit > 0 ? m->limit - seconds : INFINITY;
  if (m->max_evals > 0 && evals > 0)
    left = fmin(left, (double)(m->max_evals - evals) * seconds / (double)evals);
  return fmax(left, 0);
}

void cli_meter_show_best(cli_meter *m, int64_t evals, double seconds, double best,
                         const char *more) {
  char words[120], text[80] = "nothing fits yet";
  if (isfinite(best))
    snprintf(text, sizeof text, "best %s, %s the bound", cli_real(best).s,
             cli_times(best, m->bound).s);
  snprintf(words, sizeof words, "%s%s%s", more ? more : "", more ? ", " : "", text);
  cli_meter_show(m, evals, seconds, words);
}

void cli_meter_show(cli_meter *m, int64_t evals, double seconds, const char *more) {
  if (seconds < m->last) m->last = -1; /* the next of several searches */
  if (!m->enabled || (m->last >= 0 && seconds - m->last < pause_between)) return;
  cli_text t = {0};
  double left = left_of(m, evals, seconds);
  m->last = seconds;
  cli_printf(&t, "%s evaluations, %s/s, ", cli_count(evals).s,
             cli_real(seconds > 0 ? (double)evals / seconds : 0).s);
  if (more) cli_printf(&t, "%s, ", more);
  if (isfinite(left))
    cli_printf(&t, "%.0f s left ", left);
  else
    cli_printf(&t, "%.0f s ", seconds);
  if (!t.bad) put_line(m, t.text);
  cli_text_free(&t);
}

void cli_meter_line(cli_meter *m, const char *fmt, ...) {
  char line[160];
  va_list args;
  if (!m->enabled) return;
  va_start(args, fmt);
  vsnprintf(line, sizeof line, fmt, args);
  va_end(args);
  put_line(m, line);
}

void cli_meter_end(cli_meter *m) {
  if (m->shown) fputs("\r\033[K", stderr);
  m->shown = false;
}
