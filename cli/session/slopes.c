/* Finite differences over the machine and over params: each is an evaluation on a changed
 * machine. */
#include "cli/session/slopes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/session/input.h"
#include "tileflow/tree.h"

enum { HALVINGS = 40 };
#define MOST_FACTOR 1e9 /* the largest factor that is looked for */

typedef struct {
  const cli_session *s;
  tf_arch arch; /* a copy to change */
  tf_memory *memories;
  tf_unit *units;
} bench;

static void restore(bench *b) {
  const tf_arch *a = b->s->spec->arch;
  b->arch = *a;
  memcpy(b->memories, a->memories, (size_t)a->n_memories * sizeof *a->memories);
  if (a->n_units) memcpy(b->units, a->units, (size_t)a->n_units * sizeof *a->units);
  b->arch.memories = b->memories;
  b->arch.units = b->units;
}

/* The mapping's cycles on that machine; NAN if it is not valid there. */
static double cycles_of(const tf_tree *mapping, const tf_arch *a, bool *fits) {
  tf_diags *d = a->n_memories == mapping->arch->n_memories ? tf_diags_new() : NULL;
  if (!d) return NAN;
  tf_tree *tree = tf_tree_copy(mapping, a, mapping->workload, d);
  tf_model *m = tree ? tf_model_new(tree, d) : NULL;
  tf_result r;
  bool ok = m && tf_model_eval(m, NULL, &r);
  if (ok && fits) *fits = r.feasible;
  double cycles = ok ? r.cycles : NAN;
  tf_model_free(m);
  tf_tree_free(tree);
  tf_diags_free(d);
  return cycles;
}

static void apply_knob(bench *b, const cli_knob *k, double factor) {
  switch (k->kind) {
  case KNOB_BANDWIDTH:
    b->memories[k->index].read_bw *= factor;
    b->memories[k->index].write_bw *= factor;
    break;
  case KNOB_LATENCY:
    b->memories[k->index].latency /= factor;
    b->memories[k->index].issue /= factor;
    break;
  case KNOB_RATE: b->units[k->index].rate *= factor; break;
  case KNOB_PIPELINE: b->units[k->index].pipeline /= factor; break;
  case KNOB_LINKS: b->memories[k->index].link_bw *= factor; break;
  case KNOB_HOPS: b->memories[k->index].hop_latency /= factor; break;
  }
}

static double with_knobs(bench *b, const cli_knob *all, const int *which, int n, double factor) {
  restore(b);
  for (int i = 0; i < n; i++)
    apply_knob(b, &all[which[i]], factor);
  return cycles_of(b->s->tree, &b->arch, NULL);
}

/* Rounds up to four digits, so that what is printed is what was evaluated. */
static double four_digits(double v) {
  double unit = pow(10, floor(log10(v)) - 3);
  return ceil(v / unit - 1e-9) * unit;
}

/* The least factor, to four digits, that reaches the goal, which exists. */
static double least_factor(bench *b, const cli_slopes *p, const int *which, int n, double *cycles) {
  double lo = 0, hi = log(MOST_FACTOR);
  for (int i = 0; i < HALVINGS; i++) {
    double mid = (lo + hi) / 2;
    if (with_knobs(b, p->knobs, which, n, exp(mid)) <= p->goal)
      hi = mid;
    else
      lo = mid;
  }
  double factor = four_digits(exp(hi));
  *cycles = with_knobs(b, p->knobs, which, n, factor);
  return factor;
}

static void add_knob(bench *b, cli_slopes *p, cli_knob_kind kind, int at) {
  const int i = p->n++;
  p->knobs[i] = (cli_knob){.kind = kind, .index = at};
  p->knobs[i].tenth = with_knobs(b, p->knobs, &i, 1, 1.1);
  p->knobs[i].without = with_knobs(b, p->knobs, &i, 1, INFINITY);
  if (with_knobs(b, p->knobs, &i, 1, MOST_FACTOR) <= p->goal)
    p->knobs[i].factor = least_factor(b, p, &i, 1, &p->knobs[i].reached);
}

static void add_knobs(bench *b, cli_slopes *p) {
  const tf_arch *a = b->s->spec->arch;
  for (int l = 0; l < a->n_memories; l++) {
    if (isfinite(a->memories[l].read_bw) || isfinite(a->memories[l].write_bw))
      add_knob(b, p, KNOB_BANDWIDTH, l);
    if (a->memories[l].latency > 0 || a->memories[l].issue > 0) add_knob(b, p, KNOB_LATENCY, l);
    if (!b->s->result.levels[l].network) continue;
    if (isfinite(a->memories[l].link_bw)) add_knob(b, p, KNOB_LINKS, l);
    if (a->memories[l].hop_latency > 0) add_knob(b, p, KNOB_HOPS, l);
  }
  for (int u = 0; u < a->n_units; u++) {
    if (b->s->result.units[u].points > 0) add_knob(b, p, KNOB_RATE, u);
    if (a->units[u].pipeline > 0) add_knob(b, p, KNOB_PIPELINE, u);
  }
}

/* Greedy: adds the knob that saves most, until the goal is met. */
static void find_together(bench *b, cli_slopes *p) {
  for (int i = 0; i < p->n; i++)
    if (p->knobs[i].factor > 0) return;
  double best = p->cycles;
  while (best > p->goal && p->n_together < p->n) {
    int next = -1;
    for (int i = 0; i < p->n; i++) {
      bool in = false;
      for (int k = 0; k < p->n_together; k++)
        in |= p->together[k] == i;
      if (in) continue;
      p->together[p->n_together] = i;
      double c = with_knobs(b, p->knobs, p->together, p->n_together + 1, MOST_FACTOR);
      if (next < 0 || c < best) next = i;
      best = fmin(best, c);
    }
    p->together[p->n_together++] = next;
  }
  if (best <= p->goal)
    p->together_factor = least_factor(b, p, p->together, p->n_together, &p->together_cycles);
  else
    p->n_together = 0;
}

/* ---- params ------------------------------------------------------------------------------- */
/* Evaluates the machine with arch.NAME set to `next`.  False: it is the same machine. */
static bool try_param(const bench *b, const tf_setting *user, size_t n_user, cli_param_slope *p) {
  tf_diags *d = tf_diags_new();
  tf_setting *set = calloc(n_user + 1, sizeof *set);
  char name[200], value[40];
  cli_input in = *b->s->in;
  size_t n = 0;
  snprintf(name, sizeof name, "arch.%.180s", p->name);
  snprintf(value, sizeof value, "%.15g", p->next);
  for (size_t i = 0; set && i < n_user; i++)
    if (strcmp(user[i].name, name) != 0) set[n++] = user[i];
  if (set) set[n++] = (tf_setting){name, value};
  in.set = set;
  in.n_set = n;
  in.quiet = true;
  tf_spec *spec = d && set ? cli_read_spec(&in, d) : NULL;
  bool other = !(spec && spec->arch && tf_arch_same(spec->arch, b->s->spec->arch));
  p->cycles = other && spec && spec->arch ? cycles_of(b->s->tree, spec->arch, &p->fits) : NAN;
  tf_spec_free(spec);
  free(set);
  tf_diags_free(d);
  return other;
}

static bool seen(const cli_slopes *p, const char *name) {
  for (int i = 0; i < p->n_params; i++)
    if (!strcmp(p->params[i].name, name)) return true;
  return false;
}

static bool add_params(bench *b, cli_slopes *p) {
  const cli_input *in = b->s->in;
  double value;
  const char *name;
  size_t n = 0;
  for (size_t i = 0; i < in->n_files; i++)
    if (!strcmp(in->files[i], "-")) return true; /* stdin can be read only once */
  while (tf_spec_param(b->s->spec, n, NULL))
    n++;
  p->params = calloc(n + 1, sizeof *p->params);
  for (size_t i = 0; p->params && (name = tf_spec_param(b->s->spec, i, &value)); i++) {
    if (seen(p, name)) continue;
    cli_param_slope *q = &p->params[p->n_params++];
    double step = floor(value) == value ? fmax(1, round(fabs(value) / 10)) : fabs(value) / 10;
    *q = (cli_param_slope){.name = name, .value = value, .next = value + step};
    if (!try_param(b, in->set, in->n_set, q)) p->n_params--;
  }
  return p->params != NULL;
}

bool cli_slopes_of(const cli_session *s, cli_slopes *out) {
  const tf_arch *a = s->spec->arch;
  const size_t most = (size_t)(4 * a->n_memories + 2 * a->n_units);
  bench b = {.s = s,
             .memories = calloc((size_t)a->n_memories, sizeof *b.memories),
             .units = calloc((size_t)a->n_units + 1, sizeof *b.units)};
  *out = (cli_slopes){.cycles = s->result.cycles, .goal = 0.9 * s->result.cycles};
  out->knobs = calloc(most + 1, sizeof *out->knobs);
  out->together = calloc(most + 1, sizeof *out->together);
  bool ok = b.memories && b.units && out->knobs && out->together;
  if (ok) {
    add_knobs(&b, out);
    find_together(&b, out);
    ok = add_params(&b, out);
  }
  free(b.memories);
  free(b.units);
  return ok;
}

void cli_slopes_free(cli_slopes *p) {
  free(p->knobs);
  free(p->params);
  free(p->together);
  *p = (cli_slopes){0};
}
