/* The report of an evaluation: one screen. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/os/safe_write.h"
#include "cli/report/node_text.h"
#include "cli/report/report.h"
#include "cli/table.h"
#include "tileflow/tree.h"

static const char *star(bool from_table) { return from_table ? "*" : ""; }

/* ---- as sources differ -------------------------------------------------------------- */
cli_span cli_energy_range(const cli_session *s) {
  tf_margin r;
  cli_span f = {""};
  if (tf_energy_range(s->model, &r))
    snprintf(f.s, sizeof f.s, "%s to %s", cli_si(r.low * 1e-12, "J").s,
             cli_si(r.high * 1e-12, "J").s);
  return f;
}

cli_span cli_area_range(const cli_session *s) {
  tf_margin r;
  cli_span f = {""};
  if (tf_area_range(s->spec->arch, &r))
    snprintf(f.s, sizeof f.s, "%.4g to %.4g mm2", r.low * 1e-6, r.high * 1e-6);
  return f;
}

/* ---- head --------------------------------------------------------------------------- */
static void put_title(const cli_session *s, cli_text *out) {
  const tf_loc at = s->tree->nodes[0].at;
  if (s->found.method)
    cli_report_found(s, out);
  else
    cli_printf(out, "%s on %s, mapping given in %s:%u\n", s->spec->workload->name,
               s->spec->arch->name, tf_diags_file_name(s->diags, at.file), (unsigned)at.line);
  if (!s->result.feasible) cli_printf(out, "INFEASIBLE, it does not fit:\n");
  for (int i = 0; i < s->result.n_violations; i++) {
    const tf_violation *v = &s->result.violations[i];
    cli_printf(out, "  ");
    cli_violation_line(s, v, out);
    cli_printf(out, ", at '");
    cli_node_line(s->tree, v->node, out);
    cli_printf(out, "' in line %u\n", (unsigned)s->tree->nodes[v->node].at.line);
  }
  cli_printf(out, "\n");
}

static void put_totals(const cli_session *s, cli_text *out) {
  const tf_result *r = &s->result;
  const tf_bounds *b = &s->bounds;
  double traffic = cli_outer_traffic(s);
  cli_table t = {.align = "llll"};
  cli_cell(&t, "cycles");
  cli_cell(&t, "%s", cli_real(r->cycles).s);
  cli_cell(&t, "%s the bound", cli_times(r->cycles, b->cycles).s);
  cli_cell(&t, "%s at %.4g GHz", cli_si(r->seconds, "s").s, s->spec->arch->clock_hz * 1e-9);
  if (s->expected.target) {
    cli_cell(&t, "on %s", s->expected.target);
    cli_cell(&t, "%s", cli_real(s->expected.cycles).s);
    cli_cell(&t, "%s the model", cli_times(s->expected.cycles, r->cycles).s);
    cli_cell(&t, "cycles expected of its kernel");
  }
  cli_cell(&t, "energy");
  cli_cell(&t, "%s", cli_si(r->energy_pj * 1e-12, "J").s);
  cli_cell(&t, "%s the bound", cli_times(r->energy_pj, b->energy_pj).s);
  const cli_span range = cli_energy_range(s), areas = cli_area_range(s);
  cli_cell(&t, "energy x delay %s%s%s", cli_si(r->energy_pj * 1e-12 * r->seconds, "J s").s,
           *range.s ? "; as sources differ " : "", range.s);
  if (r->leakage_pj > 0) {
    cli_cell(&t, "of it leakage");
    cli_cell(&t, "%s", cli_si(r->leakage_pj * 1e-12, "J").s);
    cli_cell(&t, "%s", cli_percent(r->leakage_pj, r->energy_pj).s);
    cli_cell(&t, "of all instances that the machine has");
  }
  cli_cell(&t, "%s words", s->spec->arch->memories[0].name);
  cli_cell(&t, "%s", cli_real(traffic).s);
  cli_cell(&t, "%s the bound", cli_times(traffic, (double)b->traffic_words).s);
  cli_cell(&t, cli_word_sizes_differ(s) ? "read and written, in words of the tensors"
                                        : "read and written");
  cli_cell(&t, "utilisation");
  cli_cell(&t, "%s", cli_percent(r->compute_utilization, 1).s);
  cli_skip(&t, 1);
  cli_cell(&t, "of the peak of the kinds of unit in use; %s points", cli_count(r->points).s);
  tf_area_source source;
  double area = tf_arch_area(s->spec->arch, &source);
  cli_cell(&t, "area");
  cli_cell(&t, "%.4g mm2%s", area * 1e-6, star(source != TF_AREA_GIVEN));
  cli_skip(&t, 1);
  cli_cell(&t, "of memories and units on the chip%s%s", *areas.s ? "; as sources differ " : "",
           areas.s);
  cli_table_end(&t, out);
  if (tf_workload_masked(s->spec->workload))
    cli_printf(out, "%s points are skipped, in steps that the mask leaves nothing of.\n",
               cli_count(r->skipped).s);
}

/* ---- bottleneck --------------------------------------------------------------------- */
static int busier_first(const void *pa, const void *pb) {
  const cli_resource *a = pa, *b = pb;
  if (a->cycles != b->cycles) return a->cycles < b->cycles ? 1 : -1;
  return strcmp(a->name, b->name);
}

cli_resource *cli_resources(const cli_session *s, int *n) {
  const tf_arch *a = s->spec->arch;
  cli_resource *list = calloc((size_t)(2 * a->n_memories + a->n_units), sizeof *list);
  *n = 0;
  for (int l = 0; list && l < a->n_memories; l++)
    list[(*n)++] = (cli_resource){a->memories[l].name, false, s->result.levels[l].cycles};
  for (int l = 0; list && l < a->n_memories; l++)
    if (s->result.levels[l].network)
      list[(*n)++] =
          (cli_resource){s->result.levels[l].network, false, s->result.levels[l].link_cycles};
  for (int u = 0; list && u < a->n_units; u++)
    list[(*n)++] = (cli_resource){a->units[u].name, true, s->result.units[u].cycles};
  if (list) qsort(list, (size_t)*n, sizeof *list, busier_first);
  return list;
}

/* Slack is the share of all cycles in which a resource is idle. */
void cli_report_bottleneck(const cli_session *s, cli_text *out) {
  int n, shown = 0;
  cli_resource *list = cli_resources(s, &n);
  out->bad |= !list;
  if (!list) return;
  double all = s->result.cycles, busy = list[0].cycles < all ? list[0].cycles : all;
  cli_printf(out, "The bottleneck is %s, busy %s of the time.\n", s->result.bottleneck,
             cli_percent(busy, all).s);
  for (int i = 0; i < n; i++) {
    if (cli_is_bottleneck(s, list[i].name, list[i].unit)) continue;
    double idle = list[i].cycles < all ? all - list[i].cycles : 0;
    cli_printf(out, "%s%s %s", shown++ ? ", " : "Slack of the others: ", list[i].name,
               cli_percent(idle, all).s);
  }
  if (shown) cli_printf(out, ".\n");
  free(list);
}

/* ---- memories ----------------------------------------------------------------------- */
static void put_counts(cli_table *t, const cli_words *c) {
  cli_cell(t, "%s", cli_real(c->fill).s);
  cli_cell(t, "%s", cli_real(c->read).s);
  cli_cell(t, "%s", cli_real(c->update).s);
  cli_cell(t, "%s", cli_real(c->drain).s);
  cli_cell(t, "%s", cli_real(c->peak).s);
}

static void put_level(const cli_session *s, int l, cli_table *t) {
  const tf_memory *m = &s->spec->arch->memories[l];
  const tf_level_result *r = &s->result.levels[l];
  const cli_words sum = cli_level_words(s, l);
  if (r->instances > 1)
    cli_cell(t, "%s x %s", m->name, cli_count(r->instances).s);
  else
    cli_cell(t, "%s", m->name);
  cli_skip(t, 1);
  put_counts(t, &sum);
  cli_cell(t, "%s", m->capacity_words < 0 ? "-" : cli_count(m->capacity_words).s);
  cli_cell(t, "%s", cli_percent((double)r->peak, (double)m->capacity_words).s);
  cli_cell(t, "%s", cli_percent(r->cycles, s->result.cycles).s);
  cli_cell(t, "%s", cli_si(r->energy_pj * 1e-12, "J").s);
  cli_cell(t, "%s", star(m->energy_from_table));
}

static void put_part(const tf_mem_part *p, const tf_part_result *r, cli_table *t) {
  const cli_words words = {r->own.fill, r->own.read, r->own.update, r->own.drain, (double)r->peak};
  cli_cell(t, "  %s", p->name);
  cli_skip(t, 1);
  put_counts(t, &words);
  cli_cell(t, "%s", cli_count(p->capacity_words).s);
  cli_cell(t, "%s", cli_percent((double)r->peak, (double)p->capacity_words).s);
  cli_skip(t, 3);
}

static bool silent(const tf_counts *c) {
  return !c->fill && !c->read && !c->update && !c->drain && !c->peak;
}

static void put_tensor(const cli_session *s, int l, int z, cli_table *t) {
  const tf_counts *c = &s->result.counts[l * s->spec->workload->n_tensors + z];
  if (silent(c)) return;
  const cli_words words = cli_tensor_words(s, l, z);
  cli_skip(t, 1);
  cli_cell(t, "%s", s->spec->workload->tensors[z].name);
  put_counts(t, &words);
  cli_skip(t, 5);
}

static void put_headers(cli_table *t, const char *const *names) {
  for (; *names; names++)
    cli_cell(t, "%s", *names);
}

static void put_levels(const cli_session *s, cli_text *out) {
  static const char *const names[] = {"memory", "tensor", "fill",     "read", "update",
                                      "drain",  "peak",   "capacity", "full", "busy",
                                      "energy", "",       NULL};
  cli_table t = {.align = "llrrrrrrrrrl"};
  put_headers(&t, names);
  for (int l = 0; l < s->spec->arch->n_memories; l++) {
    const tf_mem_parts *parts = &s->spec->arch->memories[l].parts;
    put_level(s, l, &t);
    for (int i = 0; i < parts->n; i++)
      put_part(&parts->list[i], &s->result.levels[l].parts[i], &t);
    for (int z = 0; z < s->spec->workload->n_tensors; z++)
      put_tensor(s, l, z, &t);
  }
  cli_printf(out, "\n");
  cli_table_end(&t, out);
}

/* ---- networks ----------------------------------------------------------------------- */
static void put_networks(const cli_session *s, cli_text *out) {
  static const char *const names[] = {"network",      "topology", "",  "words x hops",
                                      "busiest link", "busy",     NULL};
  bool any = false;
  for (int l = 0; l < s->spec->arch->n_memories; l++)
    any |= s->result.levels[l].network != NULL;
  if (!any) return;
  cli_table t = {.align = "lllrrr"};
  put_headers(&t, names);
  for (int l = 0; l < s->spec->arch->n_memories; l++) {
    const tf_memory *m = &s->spec->arch->memories[l];
    const tf_level_result *r = &s->result.levels[l];
    if (!r->network) continue;
    cli_cell(&t, "%s", r->network);
    cli_cell(&t, "%s", tf_topology_key(m->topology));
    cli_cell(&t, "%lld x %lld", (long long)m->mesh[0], (long long)m->mesh[1]);
    cli_cell(&t, "%s", cli_real(r->hops).s);
    cli_cell(&t, "%s cycles", cli_real(r->link_cycles).s);
    cli_cell(&t, "%s", cli_percent(r->link_cycles, s->result.cycles).s);
  }
  cli_printf(out, "\n");
  cli_table_end(&t, out);
}

/* ---- lines and banks ---------------------------------------------------------------- */
/* Lines of one tensor in a memory, and the share of their words that is asked for. */
static void put_lines_of(const cli_session *s, int l, int z, cli_table *t) {
  const tf_memory *m = &s->spec->arch->memories[l];
  const int at = l * s->spec->workload->n_tensors + z;
  const tf_counts *c = &s->result.counts[at], *n = &s->result.lines->counts[at];
  const double words = ((double)c->fill + (double)c->read + (double)c->update + (double)c->drain) *
                       s->spec->workload->tensors[z].word_bits / m->word_bits;
  const double lines = (double)n->fill + (double)n->read + (double)n->update + (double)n->drain;
  if (lines <= 0) return;
  cli_cell(t, "%s", m->name);
  cli_cell(t, "%s", s->spec->workload->tensors[z].name);
  cli_cell(t, "%s", cli_count(n->fill).s);
  cli_cell(t, "%s", cli_count(n->read).s);
  cli_cell(t, "%s", cli_count(n->update).s);
  cli_cell(t, "%s", cli_count(n->drain).s);
  cli_cell(t, "%s", cli_percent(words, lines * (double)m->line).s);
}

static void put_lines(const cli_session *s, cli_text *out) {
  static const char *const names[] = {"lines in",        "of", "fill", "read", "update", "drain",
                                      "words asked for", NULL};
  if (!s->result.lines) return;
  cli_table t = {.align = "llrrrrr"};
  put_headers(&t, names);
  for (int l = 0; l < s->spec->arch->n_memories; l++)
    for (int z = 0; s->spec->arch->memories[l].line && z < s->spec->workload->n_tensors; z++)
      put_lines_of(s, l, z, &t);
  cli_printf(out, "\n");
  cli_table_end(&t, out);
  for (int l = 0; l < s->spec->arch->n_memories; l++)
    if (s->spec->arch->memories[l].line)
      cli_printf(out, "Banks of %s: %s cycles, %s of the time\n", s->spec->arch->memories[l].name,
                 cli_real(s->result.lines->cycles[l]).s,
                 cli_percent(s->result.lines->cycles[l], s->result.cycles).s);
}

/* ---- work --------------------------------------------------------------------------- */
static bool any_corrections(const cli_session *s) {
  for (int o = 0; o < s->spec->workload->n_ops; o++)
    if (s->result.ops[o].corrections) return true;
  return false;
}

/* Corrections (of streaming) get a column if there are any: they run on the unit that rescales, not
 * on the op's own. */
static void put_ops(const cli_session *s, cli_text *out) {
  static const char *const names[] = {"op", "points", "recomputed", "unit", "used", "cycles", NULL};
  static const char *const streamed[] = {"op",   "points", "recomputed", "rescaling",
                                         "unit", "used",   "cycles",     NULL};
  bool corrections = any_corrections(s);
  cli_table t = {.align = corrections ? "lrrrlrr" : "lrrlrr"};
  put_headers(&t, corrections ? streamed : names);
  for (int o = 0; o < s->spec->workload->n_ops; o++) {
    const tf_op_result *r = &s->result.ops[o];
    cli_cell(&t, "%s", s->spec->workload->ops[o].name);
    cli_cell(&t, "%s", cli_count(r->points).s);
    cli_cell(&t, "%s", cli_count(r->recomputed).s);
    if (corrections) cli_cell(&t, "%s", cli_count(r->corrections).s);
    cli_cell(&t, "%s", s->spec->arch->units[r->unit].name);
    cli_cell(&t, "%s", cli_count(r->units).s);
    cli_cell(&t, "%s", cli_real(r->cycles).s);
  }
  cli_printf(out, "\n");
  cli_table_end(&t, out);
}

static void put_units(const cli_session *s, cli_text *out) {
  static const char *const names[] = {"unit", "points", "used", "of", "cycles",
                                      "busy", "energy", "",     NULL};
  cli_table t = {.align = "lrrrrrrl"};
  put_headers(&t, names);
  for (int u = 0; u < s->spec->arch->n_units; u++) {
    const tf_unit *unit = &s->spec->arch->units[u];
    const tf_unit_result *r = &s->result.units[u];
    cli_cell(&t, "%s", unit->name);
    cli_cell(&t, "%s", cli_count(r->points).s);
    cli_cell(&t, "%s", cli_count(r->units).s);
    cli_cell(&t, "%s", cli_real(tf_bounds_units(s->spec->arch, u)).s);
    cli_cell(&t, "%s", cli_real(r->cycles).s);
    cli_cell(&t, "%s", cli_percent(r->cycles, s->result.cycles).s);
    cli_cell(&t, "%s", cli_si(r->energy_pj * 1e-12, "J").s);
    cli_cell(&t, "%s", star(unit->energy_from_table));
  }
  cli_printf(out, "\n");
  cli_table_end(&t, out);
}

/* ---- what zeros leave --------------------------------------------------------------- */
static const tf_kept_counts *kept_at(const cli_session *s, int l, int z) {
  return &s->result.kept->counts[l * s->spec->workload->n_tensors + z];
}

static bool none_left(const tf_kept_counts *c) {
  return !(c->fill > 0 || c->read > 0 || c->update > 0 || c->drain > 0 || c->metadata > 0);
}

static void put_left(const cli_session *s, int l, int z, cli_table *t) {
  const tf_kept_counts *c = kept_at(s, l, z);
  if (none_left(c)) return;
  cli_skip(t, 1);
  cli_cell(t, "%s", s->spec->workload->tensors[z].name);
  cli_cell(t, "%s", cli_percent(s->result.kept->share[z], 1).s);
  cli_cell(t, "%s", cli_real(c->fill).s);
  cli_cell(t, "%s", cli_real(c->read).s);
  cli_cell(t, "%s", cli_real(c->update).s);
  cli_cell(t, "%s", cli_real(c->drain).s);
  cli_cell(t, "%s", cli_real(c->metadata).s);
  cli_skip(t, 4);
}

/* With which probability what is held fits: down to a whole percent, or to as many nines as there
 * are. */
static void put_fit(const cli_session *s, const tf_fit *fit, int l, cli_table *t) {
  if (fit)
    cli_cell(t, "%s", cli_count(fit->words).s);
  else
    cli_skip(t, 1);
  cli_cell(t, "%s", cli_count(s->result.kept->most[l]).s);
  if (!fit || s->spec->arch->memories[l].capacity_words < 0)
    cli_skip(t, 1);
  else if (fit->fits >= 1)
    cli_cell(t, "always");
  else
    cli_cell(t, "%.*f %%", fit->fits > 0.99 ? 4 : 0, floor(fit->fits * 1e6) / 1e4);
}

static void put_left_levels(const cli_session *s, cli_text *out) {
  tf_fit *fit = calloc((size_t)s->spec->arch->n_memories, sizeof *fit);
  if (fit && !tf_model_fits(s->model, CLI_CONFIDENCE, fit)) free(fit), fit = NULL;
  static const char *const names[] = {"memory", "tensor", "nonzero", "fill",
                                      "read",   "update", "drain",   "metadata",
                                      "held",   "99.9 %", "at most", "fits"};
  cli_table t = {.align = "llrrrrrrrrrr"};
  for (int i = 0; i < 12; i++)
    cli_cell(&t, "%s", names[i]);
  for (int l = 0; l < s->spec->arch->n_memories; l++) {
    cli_cell(&t, "%s", s->spec->arch->memories[l].name);
    cli_skip(&t, 7);
    cli_cell(&t, "%s", cli_count(s->result.kept->held[l]).s);
    put_fit(s, fit ? &fit[l] : NULL, l, &t);
    for (int z = 0; z < s->spec->workload->n_tensors; z++)
      put_left(s, l, z, &t);
  }
  cli_table_end(&t, out);
  free(fit);
}

static void put_left_ops(const cli_session *s, cli_text *out) {
  cli_table t = {.align = "lrrrr"};
  double *busiest = calloc((size_t)s->spec->workload->n_ops, sizeof *busiest);
  const bool known = busiest && tf_model_busiest(s->model, busiest);
  cli_cell(&t, "op");
  cli_cell(&t, "computed");
  cli_cell(&t, "gated");
  cli_cell(&t, "skipped");
  cli_cell(&t, "busiest unit");
  for (int o = 0; o < s->spec->workload->n_ops; o++) {
    const tf_kept_points *p = &s->result.kept->ops[o];
    cli_cell(&t, "%s", s->spec->workload->ops[o].name);
    cli_cell(&t, "%s", cli_real(p->points).s);
    cli_cell(&t, "%s", cli_real(p->gated).s);
    cli_cell(&t, "%s", cli_real(p->skipped).s);
    if (known && !isnan(busiest[o]))
      cli_cell(&t, "%.3f of the mean", busiest[o]);
    else
      cli_skip(&t, 1);
  }
  free(busiest);
  cli_printf(out, "\n");
  cli_table_end(&t, out);
}

static void put_zeros(const cli_session *s, cli_text *out) {
  if (!s->result.kept) return;
  cli_printf(out, "\n"
                  "What zeros leave, as expectations; metadata in bits.  Cycles, busy times and "
                  "energies are of this, all other figures count as if there were no zeros.\n");
  put_left_levels(s, out);
  put_left_ops(s, out);
  if (s->result.kept->upper)
    cli_printf(out, "Some of it are upper bounds: accesses that several units share, zeros in "
                    "padding, or densities that are derived.\n");
}

/* Of ops that spread experts over units: that their busiest ones are late. */
static void put_routing(const cli_session *s, cli_text *out) {
  const tf_routing *r = &s->spec->workload->routing;
  cli_table t = {.align = "lrrr"};
  bool any = false;
  if (!r->experts) return;
  const double mean = (double)r->tokens * (double)r->top / (double)r->experts;
  cli_printf(out,
             "\nEach of %s tokens goes to %s of %s experts, all choices as likely: the busiest "
             "expert is expected to have %s, the mean one %s.  Times are those of the mean.\n",
             cli_count(r->tokens).s, cli_count(r->top).s, cli_count(r->experts).s,
             cli_real(tf_routing_busiest(r, r->experts)).s, cli_real(mean).s);
  for (int o = 0; o < s->spec->workload->n_ops; o++) {
    const int64_t parts = tf_model_routed(s->model, o);
    if (parts < 2) continue;
    const double most = tf_routing_busiest(r, parts);
    if (!any) {
      cli_cell(&t, "op");
      cli_cell(&t, "experts spread over");
      cli_cell(&t, "tokens of the busiest");
      cli_cell(&t, "over the mean");
    }
    any = true;
    cli_cell(&t, "%s", s->spec->workload->ops[o].name);
    cli_cell(&t, "%s", cli_count(parts).s);
    cli_cell(&t, "%s", cli_real(most).s);
    cli_cell(&t, "%.3f", most * (double)parts / ((double)r->tokens * (double)r->top));
  }
  if (any) cli_table_end(&t, out);
}

static void put_legend(const cli_session *s, cli_text *out) {
  const tf_arch *a = s->spec->arch;
  tf_area_source source;
  tf_arch_area(a, &source);
  bool table = source != TF_AREA_GIVEN;
  for (int l = 0; l < a->n_memories; l++)
    table |= a->memories[l].energy_from_table;
  for (int u = 0; u < a->n_units; u++)
    table |= a->units[u].energy_from_table;
  cli_printf(out, "\n"
                  "Counts are words, over all instances and the whole run; peak and capacity are "
                  "those of one instance.\n");
  if (cli_word_sizes_differ(s)) cli_put_word_sizes(a, out);
  if (table)
    cli_printf(out,
               "* from the tables of default energies and areas: the architecture gives none\n");
}

void cli_report_text(const cli_session *s, cli_text *out) {
  put_title(s, out);
  put_totals(s, out);
  cli_printf(out, "\n");
  cli_report_bottleneck(s, out);
  put_levels(s, out);
  put_networks(s, out);
  put_lines(s, out);
  cli_report_why(s, out);
  put_ops(s, out);
  put_units(s, out);
  put_zeros(s, out);
  put_routing(s, out);
  put_legend(s, out);
}

bool cli_write_figures(const cli_session *s, const cli_figures *f, bool nodes) {
  bool ok = true;
  if (f->json) {
    cli_text t = {0};
    cli_report_json(s, nodes, &t);
    ok = cli_put_text(f->json, &t);
  }
  if (f->csv) {
    cli_text t = {0};
    cli_report_csv(s, &t);
    ok = cli_put_text(f->csv, &t) && ok;
  }
  return ok;
}

bool cli_print_report(const cli_session *s) {
  cli_text t = {0};
  cli_report_text(s, &t);
  bool ok = cli_put_text("-", &t);
  fflush(stdout); /* before anything goes to stderr */
  return ok;
}

bool cli_write_found(const cli_session *s, const cli_input *in, const cli_figures *f,
                     const char *mapping) {
  bool ok = cli_write_figures(s, f, false);
  if (mapping) {
    cli_text t = {0};
    cli_mapping_yaml(s, &t);
    ok = cli_put_text(mapping, &t) && ok;
  }
  if (!in->quiet && !in->stdout_taken) ok = cli_print_report(s) && ok;
  return ok;
}
