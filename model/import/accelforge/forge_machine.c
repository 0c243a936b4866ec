/* The native architecture that AccelForge's says. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "model/import/accelforge/forge.h"
#include "model/import/common/machine.h"

/* Along which side of the mesh a fanout runs: the first one along X, all others along Y. */
bool fg_along_y(const forge *f, int part, int fan) {
  int before = 0;
  for (int i = 0; i <= part; i++) {
    const fg_part *c = &f->part[i];
    if (fg_gap(f, i) != fg_gap(f, part) || (i < part && c->kind == FG_COMPUTE)) continue;
    for (int k = 0; k < c->n_fans && (i < part || k < fan); k++)
      before += c->fan[k].fanout > 1;
  }
  return before > 0;
}

int fg_gap(const forge *f, int part) {
  return f->part[part].level - (f->part[part].kind == FG_MEMORY);
}

/* The mesh of a memory or unit: the arrays between it and the memory above, and its own. */
static bool write_mesh(forge *f, int part, tf_page *out) {
  double side[2] = {1, 1};
  for (int i = 0; i <= part; i++) {
    const fg_part *c = &f->part[i];
    if (fg_gap(f, i) != fg_gap(f, part)) continue;
    if (i < part && c->kind != FG_CONTAINER) continue;
    for (int k = 0; k < c->n_fans; k++)
      side[fg_along_y(f, i, k)] *= (double)c->fan[k].fanout;
  }
  if (side[0] > (1 << 24) || side[1] > (1 << 24))
    return tf_fail(f->diags, f->part[part].at, TF_E_RANGE,
                   "more than 2^24 instances along one side");
  tf_page_mesh(out, (int64_t)side[0], (int64_t)side[1]);
  return true;
}

/* Whether words are sent to each instance by themselves: as the mapping's loops need, else if
 * nothing may be reused along any array. */
static bool alone(const forge *f, int part) {
  bool any = false, all = true;
  if (f->part[part].shares) return f->part[part].shares < 0;
  for (int i = 0; i <= part; i++)
    for (int k = 0; k < f->part[i].n_fans; k++) {
      if (fg_gap(f, i) != fg_gap(f, part)) continue;
      const tf_ynode *reuse = f->part[i].fan[k].reuse;
      any = true;
      all &= reuse && tf_ynode_is(reuse, "Nothing");
    }
  return any && all;
}

static double words(const forge *f, const fg_part *c, double bits) {
  return bits / f->word_bits / c->widen;
}

static bool write_memory(forge *f, int l, tf_page *out) {
  const fg_part *c = &f->part[f->memory[l]];
  const double room = floor(words(f, c, c->size));
  tf_page_add(out, "  - name: %s\n", c->name);
  if (l && !write_mesh(f, f->memory[l], out)) return false;
  if (l && alone(f, f->memory[l]))
    tf_page_add(out, "    network: {multicast: false, reduce: false}\n");
  if (room < 1)
    return tf_fail(f->diags, c->at, TF_E_RANGE, "'%s' has %g bits, less than a word of %g", c->name,
                   c->size, f->word_bits * c->widen);
  if (room < 9e15) tf_page_add(out, "    capacity: %.0f\n", room);
  const double read = c->read_rate > 0 && c->read_rate < INFINITY ? c->read_rate : 0,
               write = c->write_rate > 0 && c->write_rate < INFINITY ? c->write_rate : 0;
  tf_page_bandwidth(out, !c->two_ports, words(f, c, read) / f->clock,
                    words(f, c, write) / f->clock);
  if (c->read_j >= 0 && c->write_j >= 0)
    tf_page_add(out, "    energy: {read: %.15g pJ, write: %.15g pJ}\n",
                c->read_j * f->word_bits * c->widen * 1e12,
                c->write_j * f->word_bits * c->widen * 1e12);
  return true;
}

/* Leakage and area; the outermost memory is off chip. */
static void write_rest(const forge *f, const fg_part *c, bool outermost, tf_page *out) {
  bool gated = c->gated;
  for (int i = 0; i < f->n_parts && &f->part[i] < c; i++)
    gated |= f->part[i].gated && f->part[i].kind != FG_COMPUTE;
  if (c->leak > 0) tf_page_add(out, "    leakage: %.15g pJ\n", c->leak / f->clock * 1e12);
  if (c->leak > 0 && gated) tf_page_add(out, "    power-gated: true\n");
  if (c->area >= 0 && !outermost) tf_page_add(out, "    area: %.15g um2\n", c->area * 1e12);
  if (c->area > 0 && outermost)
    tf_warn(f->diags, c->at,
            "not modelled: the area of the outermost memory '%s', which is off chip", c->name);
}

/* ---- units ----------------------------------------------------------------------------------- */

/* What each of several units runs: the Einsums that the mapping puts there, or that enable it. */
static bool share_out(forge *f, int n_units) {
  bool ok = true;
  for (int i = 0; i < f->n_parts && n_units > 1; i++) {
    fg_part *c = &f->part[i];
    if (c->kind != FG_COMPUTE) continue;
    for (int e = 0; e < f->n_einsums && !f->root && c->enabled; e++) {
      const fg_value v = fg_eval(f, c->enabled->text, e, i);
      if (v.is == FG_UNKNOWN)
        return tf_fail(f->diags, c->enabled->at, TF_E_SYNTAX,
                       "whether '%s' is enabled cannot be told: %s", c->name, v.why);
      if (v.is == FG_SET ? !v.set : v.number == 0) continue;
      c->kinds |= f->einsum[e].kinds;
      c->runs = true;
    }
    if (!f->n_einsums && c->enabled)
      tf_warn(f->diags, c->enabled->at,
              "not modelled: which Einsums enable '%s': give the workload's file, too", c->name);
    const bool open = !f->root && (!c->enabled || !f->n_einsums);
    c->runs |= open;
    for (int k = 0; k < i && !open && ok; k++)
      if (f->part[k].kind == FG_COMPUTE && f->part[k].runs && c->runs &&
          (f->part[k].kinds & c->kinds))
        ok = tf_fail(f->diags, c->at, TF_E_UNITKIND,
                     "'%s' and '%s' run Einsums of the same kind: here the first unit that can run "
                     "an op does",
                     f->part[k].name, c->name);
  }
  return ok;
}

static bool write_unit(forge *f, int part, bool only, tf_page *out) {
  const fg_part *c = &f->part[part];
  tf_page_add(out, "  - name: %s\n    below: %s\n", c->name, f->part[f->memory[c->level]].name);
  if (only || !c->kinds)
    tf_page_add(out, "    ops: [mac" TF_KINDS_BUT_MAC "\n");
  else
    tf_page_add(out, "    ops: [%s%s%s%s%s]\n", c->kinds & FG_MAC ? "mac" : "",
                c->kinds & FG_MAC && c->kinds > FG_MAC ? ", " : "", c->kinds & FG_MUL ? "mul" : "",
                c->kinds & FG_MUL && c->kinds & FG_ADD ? ", " : "", c->kinds & FG_ADD ? "add" : "");
  if (!write_mesh(f, part, out)) return false;
  if (alone(f, part)) tf_page_add(out, "    network: {multicast: false, reduce: false}\n");
  const double rate = c->read_rate >= 0 ? c->read_rate / f->clock : 1;
  if (rate != 1) tf_page_add(out, "    rate: %.15g\n", rate < 1e12 ? rate : 1e12);
  if (c->read_j >= 0) tf_page_add(out, "    energy: %.15g pJ\n", c->read_j * 1e12);
  write_rest(f, c, false, out);
  return true;
}

bool fg_write_arch(forge *f, tf_page *out) {
  int n_units = 0;
  bool ok = true;
  for (int i = 0; i < f->n_parts; i++)
    n_units += f->part[i].kind == FG_COMPUTE;
  if (!share_out(f, n_units)) return false;
  tf_page_add(
      out,
      "architecture:\n  name: imported\n  clock: %.15g Hz   # a cycle is a point of the "
      "units\n  word-bits: %.0f\n"
      "  overlap: perfect   # AccelForge takes the longest of all components\n  memories:\n",
      f->clock, f->word_bits);
  for (int l = 0; l < f->n_memories && ok; l++) {
    ok = write_memory(f, l, out);
    write_rest(f, &f->part[f->memory[l]], l == 0, out);
  }
  tf_page_add(out, "  compute:\n");
  for (int i = 0; i < f->n_parts && ok; i++)
    if (f->part[i].kind == FG_COMPUTE && (n_units == 1 || f->part[i].runs))
      ok = write_unit(f, i, n_units == 1, out);
  return ok;
}
