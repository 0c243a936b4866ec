/* What the model says beside what the walk saw, and what can never be. */
#include <math.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/oracle/oracle.h"
#include "tileflow/why.h"

static void differs(note *n, const char *what, const char *of, int64_t model, int64_t oracle_) {
  if (model == oracle_ || n->len > sizeof n->text - 200) return;
  n->len += (size_t)snprintf(n->text + n->len, sizeof n->text - n->len,
                             "# %s of %s: model %" PRId64 ", oracle %" PRId64 "\n", what, of, model,
                             oracle_);
}

static bool apart(double a, double b) {
  double gap = a - b, size = b < 0 ? -b : b;
  return !(gap <= 1e-9 * size && gap >= -1e-9 * size);
}

static void differ_by(note *n, const char *what, const char *of, double model, double oracle_) {
  if (!apart(model, oracle_) || n->len > sizeof n->text - 200) return;
  n->len += (size_t)snprintf(n->text + n->len, sizeof n->text - n->len,
                             "# %s of %s: model %.12g, oracle %.12g\n", what, of, model, oracle_);
}

/* What can never be: `least` is above `value`. */
static void never_below(note *n, const char *what, const char *of, double value, double least) {
  if (value >= least * (1 - 1e-9) || n->len > sizeof n->text - 200) return;
  n->len += (size_t)snprintf(n->text + n->len, sizeof n->text - n->len,
                             "# %s: %.12g, but %s needs %.12g\n", what, value, of, least);
}

static void compare_parts(note *n, const oracle *o, const tf_result *r, int l) {
  const tf_memory *m = &o->arch->memories[l];
  for (int i = 0; i < m->parts.n; i++) {
    const tf_part_result *p = &r->levels[l].parts[i];
    const words *w = &o->part_moved[l][i];
    char of[200];
    snprintf(of, sizeof of, "part %s of %s", m->parts.list[i].name, m->name);
    differs(n, "peak words", of, p->peak, o->part_peak[l][i]);
    differs(n, "fill", of, p->fill, w->fill);
    differs(n, "read", of, p->read, w->read);
    differs(n, "update", of, p->update, w->update);
    differs(n, "drain", of, p->drain, w->drain);
  }
}

static void compare_counts(note *n, const oracle *o, const tf_result *r) {
  char of[200];
  for (int l = 0; l < o->arch->n_memories; l++)
    for (int z = 0; z < o->wl->n_tensors; z++) {
      const tf_counts *c = &r->counts[l * o->wl->n_tensors + z];
      const words *w = &o->moved[l * o->wl->n_tensors + z];
      snprintf(of, sizeof of, "%s in %s", o->wl->tensors[z].name, o->arch->memories[l].name);
      differs(n, "fill", of, c->fill, w->fill);
      differs(n, "read", of, c->read, w->read);
      differs(n, "update", of, c->update, w->update);
      differs(n, "drain", of, c->drain, w->drain);
      differs(n, "peak", of, c->peak, o->peak[l * o->wl->n_tensors + z]);
    }
  for (int l = 0; l < o->arch->n_memories; l++)
    differs(n, "peak words", o->arch->memories[l].name, r->levels[l].peak, o->level_peak[l]);
  for (int l = 0; l < o->arch->n_memories; l++)
    compare_parts(n, o, r, l);
}

static void compare_work(note *n, const oracle *o, const tf_result *r) {
  for (int op = 0; op < o->wl->n_ops; op++) {
    int64_t fixes = 0;
    for (int i = 0; i < N_FIXES; i++)
      fixes += o->fixes[op * N_FIXES + i];
    differs(n, "points", o->wl->ops[op].name, r->ops[op].points, o->points[op]);
    differs(n, "skipped points", o->wl->ops[op].name, r->ops[op].skipped, o->skipped[op]);
    differs(n, "corrections", o->wl->ops[op].name, r->ops[op].corrections, fixes);
    differs(n, "reads of what is not there", o->wl->ops[op].name, 0, o->lost[op]);
    differs(n, "units", o->wl->ops[op].name, r->ops[op].units, o->units[op]);
    differs(n, "kind of unit", o->wl->ops[op].name, r->ops[op].unit, o->unit[op]);
  }
  for (int k = 0; k < o->tree->n_nodes; k++) {
    char of[40];
    int64_t loads = 0, stores = 0;
    for (int z = 0; z < o->wl->n_tensors; z++) {
      loads += o->by_node[k * o->wl->n_tensors + z].fill;
      stores += o->by_node[k * o->wl->n_tensors + z].drain;
    }
    snprintf(of, sizeof of, "node %d", k);
    differs(n, "runs", of, r->nodes[k].runs, o->runs[k]);
    differs(n, "loads", of, r->nodes[k].loads, loads);
    differs(n, "stores", of, r->nodes[k].stores, stores);
  }
}

static void compare_time(note *n, const oracle *o, const tf_result *r) {
  for (int k = 0; k < o->tree->n_nodes; k++) {
    char of[40];
    snprintf(of, sizeof of, "node %d", k);
    differ_by(n, "cycles", of, r->nodes[k].cycles, o->node_cycles[k]);
  }
  differ_by(n, "cycles", "all", r->cycles, o->cycles);
  for (int l = 0; l < o->arch->n_memories; l++) {
    differ_by(n, "port", o->arch->memories[l].name, r->levels[l].cycles, o->level_cycles[l]);
    differs(n, "instances", o->arch->memories[l].name, r->levels[l].instances,
            o->level_instances[l]);
    never_below(n, "oracle's cycles", o->arch->memories[l].name, o->cycles, o->level_cycles[l]);
    never_below(n, "model's cycles", o->arch->memories[l].name, r->cycles, r->levels[l].cycles);
  }
  for (int u = 0; u < o->arch->n_units; u++) {
    differ_by(n, "cycles", o->arch->units[u].name, r->units[u].cycles, o->unit_cycles[u]);
    differs(n, "units in use", o->arch->units[u].name, r->units[u].units, o->unit_use[u]);
    never_below(n, "oracle's cycles", o->arch->units[u].name, o->cycles, o->unit_cycles[u]);
    never_below(n, "model's cycles", o->arch->units[u].name, r->cycles, r->units[u].cycles);
  }
}

/* No mapping that fits beats the bounds in time, or in energy that time takes; none at all in words
 * and their energy.
 */
static void compare_bounds(note *n, const oracle *o, const tf_result *r) {
  tf_bounds b;
  double moved = 0;
  if (!tf_bounds_of(o->arch, o->wl, &b)) return;
  for (int z = 0; z < o->wl->n_tensors; z++)
    moved +=
        (double)(r->counts[z].fill + r->counts[z].read + r->counts[z].update + r->counts[z].drain);
  never_below(n, "words through the outermost memory", "the bound", moved, (double)b.traffic_words);
  if (r->feasible || !(r->leakage_pj > 0))
    never_below(n, "energy", "the bound", r->energy_pj, b.energy_pj);
  if (r->feasible) never_below(n, "cycles", "the bound", r->cycles, b.cycles);
}

/* Part of the walked load of the busiest link that the model's mean has at least, where some moment
 * is uneven. */
#define MEAN_LINK 0.5

/* Links are walked word by word; the model takes instances to move alike, so that where some moment
 * is uneven its figures stand in. */
static void compare_links(note *n, oracle *o, const tf_result *r) {
  for (int l = 0; l < o->arch->n_memories; l++) {
    const char *name = o->arch->memories[l].name;
    const tf_memory *mem = &o->arch->memories[l];
    if (o->networks[l].uneven) {
      if (!mem->peers)
        never_below(n, "busiest link of the mean", name, r->levels[l].link_cycles,
                    MEAN_LINK * link_time(o, l));
      o->networks[l].hops = r->levels[l].hops;
      o->networks[l].n = 0;
      o->networks[l].told = isinf(mem->link_bw) ? 0 : r->levels[l].link_cycles * mem->link_bw;
    }
    differ_by(n, "hops", name, r->levels[l].hops, o->networks[l].hops);
    differ_by(n, "busiest link", name, r->levels[l].link_cycles, link_time(o, l));
    never_below(n, "model's cycles", name, r->cycles, r->levels[l].link_cycles);
  }
}

static void compare_lines(note *n, oracle *o, const tf_result *r) {
  char of[200];
  differs(n, "lines that are told", "all", r->lines != NULL, o->lines);
  for (int i = 0; i < o->arch->n_memories * o->wl->n_tensors && r->lines && o->lines; i++) {
    const tf_counts *c = &r->lines->counts[i];
    const words *w = &o->line_moved[i];
    snprintf(of, sizeof of, "%s in %s", o->wl->tensors[i % o->wl->n_tensors].name,
             o->arch->memories[i / o->wl->n_tensors].name);
    differs(n, "lines filled", of, c->fill, w->fill);
    differs(n, "lines read", of, c->read, w->read);
    differs(n, "lines updated", of, c->update, w->update);
    differs(n, "lines drained", of, c->drain, w->drain);
  }
  for (int l = 0; l < o->arch->n_memories && r->lines; l++)
    differ_by(n, "cycles of banks", o->arch->memories[l].name, r->lines->cycles[l],
              bank_time(o, 0, l));
}

void compare_results(note *n, oracle *o, const tf_result *r) {
  if (o->topologies) compare_links(n, o, r);
  if (o->topologies) find_latency(o, r->mean_ports);
  if (r->mean_ports) find_latency(o, true);
  if (r->mean_ports) differs(n, "mean instance", "all", mean_allowed(o), true);
  compare_counts(n, o, r);
  compare_lines(n, o, r);
  compare_work(n, o, r);
  compare_time(n, o, r);
  differ_by(n, "energy", "all", r->energy_pj, energy_of(o));
  differs(n, "room", "all", r->feasible, fits(o));
  compare_bounds(n, o, r);
}

/* The words of all causes are the words counted. */
void compare_causes(note *n, const oracle *o, tf_model *m, const tf_result *r) {
  int nz = o->wl->n_tensors;
  tf_why why;
  tf_counts *sum = calloc((size_t)(o->arch->n_memories * nz), sizeof *sum);
  if (!sum || !tf_why_of(m, &why)) abort();
  for (int i = 0; i < why.n; i++) {
    const tf_why_row *row = &why.rows[i];
    tf_counts *above = &sum[row->above * nz + row->tensor],
              *own = &sum[(row->level < 0 ? 0 : row->level) * nz + row->tensor];
    above->read += row->words.read;
    above->update += row->words.update;
    own->fill += row->words.fill;
    own->drain += row->words.drain;
    if (row->words.fill < 0 || row->words.drain < 0 || row->words.read < 0 || row->words.update < 0)
      differs(n, "words by one cause", o->wl->tensors[row->tensor].name, -1, 0);
  }
  for (int i = 0; i < o->arch->n_memories * nz; i++) {
    char of[200];
    snprintf(of, sizeof of, "causes, %s in %s", o->wl->tensors[i % nz].name,
             o->arch->memories[i / nz].name);
    differs(n, "fill", of, sum[i].fill, r->counts[i].fill);
    differs(n, "read", of, sum[i].read, r->counts[i].read);
    differs(n, "update", of, sum[i].update, r->counts[i].update);
    differs(n, "drain", of, sum[i].drain, r->counts[i].drain);
  }
  tf_why_free(&why);
  free(sum);
}
