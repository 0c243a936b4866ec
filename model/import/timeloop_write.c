/* The native sections that mean what Timeloop's files say. */
#include <inttypes.h>

#include "model/import/timeloop.h"

static int64_t mesh(const tl_level *up, const tl_level *l, bool y) {
  int64_t x = l->mesh_x ? l->mesh_x : l->instances, ux = up->mesh_x ? up->mesh_x : up->instances;
  return y ? (l->instances / x) / (up->instances / ux) : x / ux;
}

/* A tool that asks nothing of its units has units for everything. */
#define ALL_BUT_MAC                                                                                            \
  ", add, sub, mul, div, max, min, neg, exp, log, sqrt, tanh, erf, sigmoid, relu, gelu, abs, select]   " \
  "# it takes one cycle and one energy for whatever an op computes"

static void write_network(const tl_level *up, tf_page *out) {
  if (up->alone) tf_page_say(out, "    network: {multicast: false, reduce: false}\n");
}

void tl_spread_alone(tl_case *c, int memory) {
  for (int i = 0; i < c->n_levels; i++)
    if (c->level[i].memory && memory-- == 0) c->level[i].alone = true;
}

static void write_level(const tl_case *c, int i, tf_page *out) {
  const tl_level *l = &c->level[i], *up = i ? &c->level[i - 1] : l;
  tf_page_say(out, "  - name: %s\n", l->name);
  if (i && (mesh(up, l, false) > 1 || mesh(up, l, true) > 1))
    tf_page_say(out, "    mesh: [%" PRId64 ", %" PRId64 "]\n", mesh(up, l, false), mesh(up, l, true));
  if (!l->memory) {
    tf_page_say(out, "    below: %s\n    ops: [mac%s\n", up->name, c->any_op ? ALL_BUT_MAC : "]");
    write_network(up, out);
    return;
  }
  if (i) write_network(up, out);
  if ((i || c->any_op) && l->words >= 0) tf_page_say(out, "    capacity: %" PRId64 "\n", l->words);
  if (l->read_bw > 0 && l->write_bw > 0)
    tf_page_say(out, "    bandwidth: {read: %.17g, write: %.17g}\n", l->read_bw, l->write_bw);
  else if (l->read_bw > 0 || l->write_bw > 0)
    tf_page_say(out, "    bandwidth: {%s: %.17g}\n", l->read_bw > 0 ? "read" : "write",
                l->read_bw > 0 ? l->read_bw : l->write_bw);
  if (l->word_bits && l->word_bits != c->level[0].word_bits)
    tf_page_say(out, "    word-bits: %" PRId64 "\n", l->word_bits);
}

void tl_write_architecture(const tl_case *c, tf_page *out) {
  tf_page_say(out, "architecture:\n  name: imported\n  clock: 1 GHz   # Timeloop counts cycles\n");
  if (c->level[0].word_bits) tf_page_say(out, "  word-bits: %" PRId64 "\n", c->level[0].word_bits);
  tf_page_say(out, "  overlap: perfect   # Timeloop takes the longest of compute and each memory\n  memories:\n");
  for (int i = 0; i < c->n_levels; i++) {
    if (!c->level[i].memory) tf_page_say(out, "  compute:\n");
    write_level(c, i, out);
  }
}

static void write_reference(const tl_problem *p, const tl_space *s, tf_page *out) {
  tf_page_say(out, "%s[", s->name);
  for (int r = 0; r < s->rank; r++) {
    for (int t = 0; t < s->index[r].n; t++) {
      const tl_term *term = &s->index[r].term[t];
      tf_page_say(out, "%s", t ? " + " : r ? ", " : "");
      if (term->coef != 1) tf_page_say(out, "%" PRId64 "*", term->coef);
      tf_page_say(out, "%s", p->dim[term->dim]);
    }
    if (!s->index[r].n) tf_page_say(out, "%s0", r ? ", " : "");
  }
  tf_page_say(out, "]");
}

static const tl_space *output_of(const tl_problem *p) {
  for (int i = 0; i < p->n_spaces; i++)
    if (p->space[i].output) return &p->space[i];
  return &p->space[0];
}

static void write_workload(const tl_case *c, tf_page *out) {
  const tl_problem *p = &c->problem;
  bool first = true;
  tf_page_say(out, "workload:\n  name: %s\n  dims: {", p->name);
  for (int d = 0; d < p->n_dims; d++)
    tf_page_say(out, "%s%s: %" PRId64, d ? ", " : "", p->dim[d], p->extent[d]);
  tf_page_say(out, "}\n  ops:\n  - \"");
  write_reference(p, output_of(p), out);
  tf_page_say(out, " += ");
  for (int i = 0; i < p->n_spaces; i++) {
    if (p->space[i].output) continue;
    tf_page_say(out, "%s", first ? "" : " * ");
    write_reference(p, &p->space[i], out);
    first = false;
  }
  tf_page_say(out, "\"\n");
}

static void write_tile(const tl_case *c, int l, tf_page *out) {
  const tl_nest *n = &c->nest[l];
  const char *sep = " for";
  for (int i = n->n_t - 1; i >= 0; i--) {
    int d = n->t_order[i];
    if (n->temporal[d] == 1) continue;
    tf_page_say(out, "%s %s=%" PRId64, sep, c->problem.dim[d], n->temporal[d]);
    sep = "";
  }
  sep = " spatial";
  for (int i = n->n_s - 1; i >= 0; i--) {
    int d = n->s_order[i];
    if (n->spatial[d] == 1) continue;
    tf_page_say(out, "%s %s=%" PRId64 "@%s", sep, c->problem.dim[d], n->spatial[d],
                n->split < 0 || i < n->split ? "x" : "y");
    sep = "";
  }
  sep = " bypass";
  for (int z = 0; z < c->problem.n_spaces; z++) {
    if (!n->bypass[z]) continue;
    tf_page_say(out, "%s %s", sep, c->problem.space[z].name);
    sep = "";
  }
}

static void write_mapping(const tl_case *c, tf_page *out) {
  int indent = 2;
  tf_page_say(out, "mapping: |\n");
  for (int l = 0; l < c->n_levels && c->level[l].memory; l++, indent += 2) {
    tf_page_say(out, "%*s%s", indent, "", c->level[l].name);
    write_tile(c, l, out);
    tf_page_say(out, "\n");
  }
  tf_page_say(out, "%*sop %s\n", indent, "", output_of(&c->problem)->name);
}

void tl_write(const tl_case *c, tf_page *out) {
  if (c->n_levels) tl_write_architecture(c, out);
  if (c->has_problem) write_workload(c, out);
  if (c->has_mapping) write_mapping(c, out);
}
