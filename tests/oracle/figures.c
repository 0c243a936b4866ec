/* From what the walk saw: counters, corrections, words held (docs/SEMANTICS.md sections 3 and 4).
 */
#include "tests/oracle/oracle.h"

/* ---- counters -------------------------------------------------------------------------------- */

int leaf_server(const oracle *o, int op, int z) {
  return server(o, o->tree->op_node[op], z, o->arch->n_memories);
}

/* The op's scope reads, and may update, elements of what it makes, in the memory that holds it
 * there: in every run, or once a production. */
static void treat(oracle *o, int op, bool once, bool updates) {
  int z = o->wl->ops[op].out, nt = o->wl->n_tensors, scope = stream_scope(o, op);
  const int64_t n = once ? o->corrected_once[op] : o->corrected[op];
  words *at[] = {&o->moved[server(o, scope, z, o->arch->n_memories) * nt + z],
                 &o->rescaled[scope * nt + z]};
  for (int i = 0; i < 2; i++) {
    at[i]->read += n;
    at[i]->update += updates ? n : 0;
  }
  for (int i = 0; i < o->up_corrected[op].n; i++) {
    const words *w = &o->up_corrected[op].of[i].w;
    words *to = share_at(&o->up_rescaled[scope * nt + z], o->up_corrected[op].of[i].instance);
    to->read += once ? w->update : w->read;
    to->update += !updates ? 0 : once ? w->update : w->read;
  }
}

static void correct(oracle *o, int op, fix kind, bool once) {
  const int64_t n = once ? o->corrected_once[op] : o->corrected[op];
  o->fixes[op * N_FIXES + (int)kind] += n;
  o->saw[SAW_FIXES] |= n > 0;
  if (kind != FIX_EXP) treat(o, op, once, true);
}

/* What the op's step leaves out; the division that waited, on each element of its sum. */
static void put_off(oracle *o, int op, const late_step *step) {
  const int n = o->wl->ops[op].n_reads, by = step->divided_by;
  if (step->no_points) o->points[op] = o->skipped[op] = 0;
  for (int r = 0; r <= n; r++)
    if (r < n ? step->left_out[r] : step->idle) {
      o->by_ref[op * 16 + r] = (words){0, 0, 0, 0};
      o->up_by_ref[op * 16 + r].n = 0;
      if (o->lines)
        o->lines_by_ref[op * 16 + r] = (words){0, 0, 0, 0}, o->bank_up_by_ref[op * 16 + r].n = 0;
    }
  if (by < 0) return;
  correct(o, op, FIX_DIV, true);
  treat(o, by, true, false);
}

void find_moves(oracle *o) {
  late_step step[MAX_OPS];
  find_late(o, step);
  for (int op = 0; op < o->wl->n_ops; op++) {
    put_off(o, op, &step[op]);
    if (stream_scope(o, op) >= 0)
      correct(o, op, o->wl->ops[op].reduce == TF_REDUCE_ADD ? FIX_MUL : FIX_EXP, false);
  }
  for (int op = 0; op < o->wl->n_ops; op++)
    for (int r = 0; r <= o->wl->ops[op].n_reads; r++) {
      int z = r < o->wl->ops[op].n_reads ? o->wl->ops[op].reads[r].tensor : o->wl->ops[op].out;
      words *w = &o->moved[leaf_server(o, op, z) * o->wl->n_tensors + z];
      w->read += o->by_ref[op * 16 + r].read;
      w->update += o->by_ref[op * 16 + r].update;
      if (!o->lines) continue;
      w = &o->line_moved[leaf_server(o, op, z) * o->wl->n_tensors + z];
      w->read += o->lines_by_ref[op * 16 + r].read;
      w->update += o->lines_by_ref[op * 16 + r].update;
    }
}

/* ---- words held (SEMANTICS D12) -------------------------------------------------------------- */

static int64_t twice(const oracle *o, int level) {
  return o->arch->memories[level].double_buffered || (o->part && o->part->double_buffered) ? 2 : 1;
}

/* Bits that m-tile n holds at most: of a part, the most of each tensor. */
static int64_t tile_bits(const oracle *o, int n) {
  int64_t sum = 0;
  if (!o->part) return o->held[n];
  for (int z = 0; z < o->wl->n_tensors; z++)
    if (holds(o, n, z) && in_part(o, o->tree->nodes[n].level, n, z))
      sum += held_bits(o, z, o->largest[n * o->wl->n_tensors + z]);
  return sum;
}

/* Homes at `level` of scopes from node n down; `only`: of the scope n alone. */
static int64_t homes(const oracle *o, int n, int level, bool only) {
  int64_t sum = 0;
  for (int z = 0; z < o->wl->n_tensors; z++)
    if (home_scope(o, z) >= 0 && home_level(o, z) == level &&
        (only ? home_scope(o, z) == n : below(o, home_scope(o, z), n)) && in_part(o, level, 0, z))
      sum += held_bits(o, z, o->home[z]);
  return sum;
}

bool share_instance(const oracle *o, int scope, int level) {
  int from = 0;
  for (int n = scope; n >= 0; n = o->tree->nodes[n].parent)
    if (o->tree->nodes[n].kind == TF_TILE && o->tree->nodes[n].level > from)
      from = o->tree->nodes[n].level;
  for (int l = from + 1; l <= level; l++)
    if (o->arch->memories[l].mesh[0] > 1 || o->arch->memories[l].mesh[1] > 1) return false;
  return true;
}

/* Words that Shar's children hold of z beyond the box around what each of them holds. */
static int64_t double_count(const oracle *o, int scope, int level, int z) {
  const tf_node *t = &o->tree->nodes[scope];
  int64_t sum = 0, all = 1, extent[MAX_RANK] = {0};
  int holders = 0, nt = o->wl->n_tensors;
  for (int c = 0; c < t->n_children; c++) {
    int64_t largest = 0;
    for (int n = t->children[c]; n < o->tree->nodes[t->children[c]].end; n++) {
      if (o->tree->nodes[n].level != level || !holds(o, n, z) || !in_part(o, level, n, z)) continue;
      largest = o->largest[n * nt + z] > largest ? o->largest[n * nt + z] : largest;
      for (int r = 0; r < o->wl->tensors[z].rank; r++) {
        int64_t e = o->extent[(n * nt + z) * MAX_RANK + r];
        extent[r] = e > extent[r] ? e : extent[r];
      }
    }
    holders += largest > 0;
    sum += largest;
  }
  for (int r = 0; r < o->wl->tensors[z].rank; r++)
    all *= extent[r];
  return holders > 1 ? sum - all : 0;
}

static int64_t need(const oracle *o, int n, int level) {
  const tf_node *t = &o->tree->nodes[n];
  if (t->kind == TF_OP || (t->kind == TF_TILE && t->level > level)) return 0;
  if (t->kind == TF_TILE)
    return t->level == level ? tile_bits(o, n) * twice(o, level) + homes(o, n, level, false)
                             : need(o, t->children[0], level);
  int64_t sum = 0, largest = 0;
  for (int c = 0; c < t->n_children; c++) {
    int64_t k = need(o, t->children[c], level);
    sum += k;
    largest = k > largest ? k : largest;
  }
  for (int z = 0; z < o->wl->n_tensors && t->scope == TF_SHAR; z++)
    sum -= held_bits(o, z, double_count(o, n, level, z)) * twice(o, level);
  bool add = t->scope == TF_SHAR || (t->scope != TF_SEQ && share_instance(o, n, level));
  return (add ? sum : largest) + homes(o, n, level, true);
}

void find_peaks(oracle *o) {
  int nt = o->wl->n_tensors;
  int64_t outer = 0;
  for (int z = 0; z < nt; z++) {
    int64_t whole = 1;
    for (int r = 0; r < o->wl->tensors[z].rank; r++)
      whole *= o->wl->tensors[z].extent[r];
    const bool always = home_scope(o, z) < 0, here = always && home_level(o, z) == 0;
    o->peak[home_level(o, z) * nt + z] = here ? whole : always ? home_room(o, z) : o->home[z];
    outer += here ? held_bits(o, z, o->peak[z]) : 0;
  }
  for (int l = 0; l < o->arch->n_memories; l++) {
    int64_t b = need(o, 0, l) + (l ? home_bits(o, l) : outer),
            word = o->arch->memories[l].word_bits;
    o->level_peak[l] = (b + word - 1) / word;
    for (int i = 0; i < o->arch->memories[l].parts.n; i++) {
      o->part = &o->arch->memories[l].parts.list[i];
      o->part_peak[l][i] = (need(o, 0, l) + (l ? home_bits(o, l) : 0) + word - 1) / word;
      o->part = NULL;
    }
  }
  find_parts(o);
}

/* ---- energy (docs/SEMANTICS.md section 6) ---------------------------------------------------- */

/* What leaks in a cycle: all instances that the machine has, or those in use. */
static double leak_pj(const oracle *o) {
  double pj = 0, n = 1;
  for (int l = 0; l < o->arch->n_memories; l++) {
    const tf_memory *m = &o->arch->memories[l];
    n *= (double)m->mesh[0] * (double)m->mesh[1];
    pj += (m->gated ? (double)o->level_instances[l] : n) * m->leak_pj;
    for (int u = 0; u < o->arch->n_units; u++) {
      const tf_unit *k = &o->arch->units[u];
      const double all =
          k->gated ? (double)o->unit_use[u] : n * (double)k->mesh[0] * (double)k->mesh[1];
      pj += k->below == l ? all * k->leak_pj : 0;
    }
  }
  return pj;
}

/* Words of memory l that `n` words of `width` bits take: whole lines, or each instance in use has
 * its share of the bits, and takes access after access until it has moved it. */
static double taken(const oracle *o, int l, int64_t n, int width, int64_t lines) {
  const tf_memory *m = &o->arch->memories[l];
  const double whole = (double)lines * (double)m->line, plain = (double)n * width / m->word_bits;
  if (m->line) return whole > plain ? whole : plain;
  if (m->access == 1) return (double)n * width / m->word_bits;
  const int64_t used = o->level_instances[l], line = m->access * m->word_bits;
  int64_t accesses = n * width / (line * used);
  while (accesses * line * used < n * width)
    accesses++;
  return (double)(accesses * used * m->access);
}

/* Words cross half of the mesh's sides on their way, in the mean. */
double energy_of(const oracle *o) {
  double pj = 0;
  for (int l = 0; l < o->arch->n_memories; l++) {
    const tf_memory *m = &o->arch->memories[l];
    const double drained = m->drain_given ? m->drain_pj : m->read_pj;
    const double hops = ((double)m->mesh[0] - 1) / 2 + ((double)m->mesh[1] - 1) / 2;
    for (int z = 0; z < o->wl->n_tensors; z++) {
      const words *w = &o->moved[l * o->wl->n_tensors + z];
      const words none = {0, 0, 0, 0},
                  *k = o->lines ? &o->line_moved[l * o->wl->n_tensors + z] : &none;
      const int width = o->wl->tensors[z].word_bits;
      pj += taken(o, l, w->read, width, k->read) * m->read_pj +
            taken(o, l, w->drain, width, k->drain) * drained;
      pj += (taken(o, l, w->fill, width, k->fill) + taken(o, l, w->update, width, k->update)) *
            m->write_pj;
      if (m->topology == TF_NO_TOPOLOGY)
        pj += (double)(w->fill + w->drain) * hops * m->hop_pj * width / m->word_bits;
    }
    pj += o->networks[l].hops * m->hop_pj;
  }
  return pj + work_pj(o) + leak_pj(o) * o->cycles;
}
