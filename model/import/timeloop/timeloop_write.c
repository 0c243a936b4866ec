/* The native sections that mean what Timeloop's files say. */
#include <inttypes.h>
#include <string.h>

#include "base/names.h"
#include "model/import/common/machine.h"
#include "model/import/timeloop/timeloop.h"

/* The memory above level i: a spread between them is only a place of loops. */
static const tl_level *level_above(const tl_case *c, int i) {
  while (i > 0 && c->level[i - 1].kind == TL_SPREAD)
    i--;
  return i ? &c->level[i - 1] : NULL;
}

void tl_spread_alone(tl_case *c, int memory) {
  for (int i = 0; i < c->n_levels; i++)
    if (c->level[i].kind == TL_MEMORY && memory-- == 0) c->level[i].alone = true;
}

static void write_numbers(const tl_case *c, int i, tf_page *out) {
  const tl_level *l = &c->level[i];
  if ((i || c->any_op) && l->words >= 0) tf_page_add(out, "    capacity: %" PRId64 "\n", l->words);
  tf_page_bandwidth(out, l->one_port, l->read_bw, l->write_bw);
  if (l->read_pj >= 0)
    tf_page_add(out, "    energy: {read: %.17g pJ, write: %.17g pJ, drain: 0 pJ}\n", l->read_pj,
                l->write_pj);
  if (l->read_pj >= 0 && l->block > 1) tf_page_add(out, "    access: %" PRId64 "\n", l->block);
}

/* What a unit must run: of two operands a product and its sum are one step; TileFlow does not say
 * what its units can compute. */
static const char *kinds_of(const tl_case *c) {
  if (c->any_op) return "[mac" TF_KINDS_BUT_MAC;
  return c->has_problem && c->problem.n_spaces != 3
             ? "[mac, mul, add]   # one cycle and one energy a point"
             : "[mac]";
}

static void write_level(const tl_case *c, int i, tf_page *out) {
  const tl_level *l = &c->level[i], *up = level_above(c, i);
  tf_page_add(out, "  - name: %s\n", l->name);
  if (up) tf_page_mesh(out, tl_fan(up, l, false), tl_fan(up, l, true));
  if (up && up->alone) tf_page_add(out, "    network: {multicast: false, reduce: false}\n");
  if (l->leak_pj > 0)
    tf_page_add(out, "    leakage: %.17g pJ\n    power-gated: true\n", l->leak_pj);
  if (l->area >= 0) tf_page_add(out, "    area: %.17g um2\n", l->area);
  if (l->kind == TL_MEMORY) {
    write_numbers(c, i, out);
  } else {
    tf_page_add(out, "    below: %s\n    ops: %s\n", up->name, kinds_of(c));
    if (l->read_pj >= 0) tf_page_add(out, "    energy: %.17g pJ\n", l->read_pj);
  }
  tl_write_sparse(c, l, out);
}

void tl_write_architecture(const tl_case *c, tf_page *out) {
  tf_page_add(out, "architecture:\n  name: imported\n");
  if (c->cycle_seconds > 0)
    tf_page_add(out, "  clock: %.15g MHz\n", 1e-6 / c->cycle_seconds);
  else
    tf_page_add(out, "  clock: 1 GHz   # Timeloop counts cycles\n");
  if (c->level[0].word_bits) tf_page_add(out, "  word-bits: %" PRId64 "\n", c->level[0].word_bits);
  if (c->technology) tf_page_add(out, "  technology: %" PRId64 " nm\n", c->technology);
  tf_page_add(out, "  overlap: perfect   # Timeloop takes the longest of compute and each memory\n"
                   "  memories:\n");
  for (int i = 0; i < c->n_levels; i++) {
    if (c->level[i].kind == TL_COMPUTE) tf_page_add(out, "  compute:\n");
    if (c->level[i].kind != TL_SPREAD) write_level(c, i, out);
  }
}

static void write_reference(const tl_problem *p, const tl_space *s, tf_page *out) {
  tf_page_add(out, "%s[", s->name);
  for (int r = 0; r < s->rank; r++) {
    for (int t = 0; t < s->index[r].n; t++) {
      const tl_term *term = &s->index[r].term[t];
      tf_page_add(out, "%s", t ? " + " : r ? ", " : "");
      if (term->coef != 1) tf_page_add(out, "%" PRId64 "*", term->coef);
      tf_page_add(out, "%s", p->dim[term->dim]);
    }
    if (!s->index[r].n) tf_page_add(out, "%s0", r ? ", " : "");
  }
  tf_page_add(out, "]");
}

static const tl_space *output_of(const tl_problem *p) {
  for (int i = 0; i < p->n_spaces; i++)
    if (p->space[i].output) return &p->space[i];
  return &p->space[0];
}

/* Text that is no plain name is quoted. */
static void write_text(const char *text, tf_page *out) {
  if (tf_is_name(text, strlen(text), true)) {
    tf_page_add(out, "%s", text);
    return;
  }
  tf_page_add(out, "\"");
  for (const char *p = text; *p; p++)
    tf_page_add(out, *p == '"' || *p == '\\' ? "\\%c" : "%c", (unsigned char)*p < 0x20 ? ' ' : *p);
  tf_page_add(out, "\"");
}

static void write_workload(const tl_case *c, tf_page *out) {
  const tl_problem *p = &c->problem;
  bool first = true, listed = false;
  tf_page_add(out, "workload:\n  name: ");
  write_text(p->name, out);
  tf_page_add(out, "\n  dims: {");
  for (int d = 0; d < p->n_dims; d++)
    tf_page_add(out, "%s%s: %" PRId64, d ? ", " : "", p->dim[d], p->extent[d]);
  tf_page_add(out, "}\n");
  for (int i = 0; i < p->n_spaces; i++) {
    const tl_space *s = &p->space[i];
    if (!(s->density > 0) && !s->banded) continue;
    if (!listed) tf_page_add(out, "  tensors:\n");
    listed = true;
    if (s->banded)
      tf_page_add(out,
                  "    %s: {density: {band: [%s, %s], below: %" PRId64 ", above: %" PRId64 "}}\n",
                  s->name, p->dim[s->index[0].term[0].dim], p->dim[s->index[1].term[0].dim],
                  s->band, s->band);
    else
      tf_page_add(out, "    %s: {density: %.17g}\n", s->name, s->density);
  }
  tf_page_add(out, "  ops:\n  - \"");
  write_reference(p, output_of(p), out);
  tf_page_add(out, " += ");
  for (int i = 0; i < p->n_spaces; i++) {
    if (p->space[i].output) continue;
    tf_page_add(out, "%s", first ? "" : " * ");
    write_reference(p, &p->space[i], out);
    first = false;
  }
  tf_page_add(out, "\"\n");
}

static void write_trips(const tl_loops *loops, int d, tf_page *out) {
  if (loops->trips[d] != TL_OPEN)
    tf_page_add(out, "%" PRId64, loops->trips[d]);
  else if (loops->most[d])
    tf_page_add(out, "?<=%" PRId64, loops->most[d]);
  else
    tf_page_add(out, "?");
}

/* Outer to inner; in braces where the order is open. */
static void write_temporal(const tl_case *c, const tl_loops *loops, tf_page *out) {
  int n = 0;
  for (int d = 0; d < c->problem.n_dims; d++)
    n += loops->trips[d] != 1;
  bool braces = !loops->given && !loops->ordered && n > 1;
  const char *sep = braces ? " for {" : " for ";
  for (int i = c->problem.n_dims - 1; i >= 0; i--) {
    int d = loops->given || loops->ordered ? loops->order[i] : i;
    if (loops->trips[d] == 1) continue;
    tf_page_add(out, "%s%s=", sep, c->problem.dim[d]);
    write_trips(loops, d, out);
    sep = " ";
  }
  if (braces) tf_page_add(out, "}");
}

/* Along which sides the i-th dim from inside may go: bit 0 X, bit 1 Y. */
static int sides(const tl_case *c, int l, int i, bool open) {
  const tl_nest *n = &c->level[l].nest;
  bool x = tl_fan(&c->level[l], &c->level[l + 1], false) > 1,
       y = tl_fan(&c->level[l], &c->level[l + 1], true) > 1;
  bool ordered = n->spatial.given || n->spatial.ordered;
  if (n->split >= 0 && ordered) return i < n->split ? 1 : 2;
  return y && !x ? 2 : y && open ? 3 : 1;
}

static void write_spatial(const tl_case *c, int l, const char **sep, tf_page *out) {
  const tl_loops *loops = &c->level[l].nest.spatial;
  for (int y = 0; y < 2; y++)
    for (int i = c->problem.n_dims - 1; i >= 0; i--) {
      int d = loops->given || loops->ordered ? loops->order[i] : i;
      if (loops->trips[d] == 1 || !(sides(c, l, i, loops->trips[d] == TL_OPEN) >> y & 1)) continue;
      tf_page_add(out, "%s%s=", *sep, c->problem.dim[d]);
      write_trips(loops, d, out);
      tf_page_add(out, "@%c", y ? 'y' : 'x');
      *sep = " ";
    }
}

/* A memory that nothing is kept in, and that loops over nothing, is none of the tree's. */
static bool is_passed_by(const tl_case *c, int l) {
  bool all = l > 0;
  for (int z = 0; z < c->problem.n_spaces; z++)
    all &= c->level[l].nest.bypass[z];
  for (int i = l; i < c->n_levels && (i == l || c->level[i].kind == TL_SPREAD); i++)
    for (int d = 0; d < c->problem.n_dims; d++)
      all &= c->level[i].nest.temporal.trips[d] == 1 && c->level[i].nest.spatial.trips[d] == 1;
  return all;
}

static void write_tile(const tl_case *c, int l, tf_page *out) {
  const char *sep = " spatial ";
  write_temporal(c, &c->level[l].nest.temporal, out);
  for (int i = l; i < c->n_levels && (i == l || c->level[i].kind == TL_SPREAD); i++)
    write_spatial(c, i, &sep, out);
  sep = " bypass ";
  for (int z = 0; z < c->problem.n_spaces; z++) {
    if (!c->level[l].nest.bypass[z]) continue;
    tf_page_add(out, "%s%s", sep, c->problem.space[z].name);
    sep = " ";
  }
}

static void write_mapping(const tl_case *c, tf_page *out) {
  int indent = 2;
  tf_page_add(out, "mapping: |\n");
  for (int l = 0; l < c->n_levels; l++) {
    if (c->level[l].kind != TL_MEMORY || is_passed_by(c, l)) continue;
    tf_page_add(out, "%*s%s", indent, "", c->level[l].name);
    write_tile(c, l, out);
    tf_page_add(out, "\n");
    indent += 2;
  }
  tf_page_add(out, "%*sop %s\n", indent, "", output_of(&c->problem)->name);
}

void tl_write(const tl_case *c, tf_page *out) {
  if (c->n_levels) tl_write_architecture(c, out);
  if (c->has_problem) write_workload(c, out);
  if (c->has_mapping) write_mapping(c, out);
}
