/* From what the walk saw: counters, words held, the `perfect` latency (model.md sections 3 to 5). */
#include "tests/oracle/oracle.h"

/* ---- counters -------------------------------------------------------------------------------- */

/* The streamed sum by which op divides, so that its division waits (DECISIONS 11); -1: none. */
static int late_divisor(const oracle *o, int op) {
  const tf_op *p = &o->wl->ops[op];
  for (int i = 0; i < p->n_expr; i++) {
    if (p->expr[i].what != TF_X_CALL || p->expr[i].call != TF_K_DIV)
      continue;
    const tf_expr *by = &p->expr[p->expr[i].arg[1]];
    for (int q = 0; q < o->wl->n_ops && by->what == TF_X_READ; q++)
      if (o->wl->ops[q].out == p->reads[by->ref].tensor && stream_scope(o, q) >= 0 &&
          o->wl->ops[q].reduce == TF_REDUCE_ADD)
        return q;
  }
  return -1;
}

static int leaf_server(const oracle *o, int op, int z) {
  return server(o, o->tree->op_node[op], z, o->arch->n_memories);
}

static words *treated(oracle *o, int op) {
  int z = o->wl->ops[op].out;
  return &o->moved[server(o, stream_scope(o, op), z, o->arch->n_memories) * o->wl->n_tensors + z];
}

static void correct(oracle *o, int op, int64_t n, bool in_place) {
  o->points[op] += n;
  treated(o, op)->read += in_place ? n : 0;
  treated(o, op)->update += in_place ? n : 0;
}

/* Op hands its operand on; the division happens once, on each accumulator that reads what it makes. */
static void put_off(oracle *o, int op, int sum) {
  o->points[op] = 0;
  for (int r = 0; r < o->wl->ops[op].n_reads; r++)
    if (o->wl->ops[op].reads[r].tensor == o->wl->ops[sum].out)
      o->by_ref[op * 16 + r] = (words){0, 0, 0, 0};
  for (int q = 0; q < o->wl->n_ops; q++)
    if (stream_scope(o, q) >= 0 && touches(o, q, o->wl->ops[op].out) && q != op)
      correct(o, q, o->corrected_once[q], true);
  treated(o, sum)->read += o->corrected_once[sum];
}

void find_moves(oracle *o) {
  for (int op = 0; op < o->wl->n_ops; op++) {
    if (late_divisor(o, op) >= 0)
      put_off(o, op, late_divisor(o, op));
    if (stream_scope(o, op) >= 0)
      correct(o, op, o->corrected[op], o->wl->ops[op].reduce == TF_REDUCE_ADD);
  }
  for (int op = 0; op < o->wl->n_ops; op++)
    for (int r = 0; r <= o->wl->ops[op].n_reads; r++) {
      int z = r < o->wl->ops[op].n_reads ? o->wl->ops[op].reads[r].tensor : o->wl->ops[op].out;
      words *w = &o->moved[leaf_server(o, op, z) * o->wl->n_tensors + z];
      w->read += o->by_ref[op * 16 + r].read;
      w->update += o->by_ref[op * 16 + r].update;
    }
}

/* ---- words held (DECISIONS 12) ------------------------------------------------------------------ */

static int64_t bits(const oracle *o, int z, int64_t n) {
  return n * o->wl->tensors[z].word_bits;
}

static int64_t twice(const oracle *o, int level) {
  return o->arch->memories[level].double_buffered ? 2 : 1;
}

/* Homes at `level` of scopes from node n down; `only`: of the scope n alone. */
static int64_t homes(const oracle *o, int n, int level, bool only) {
  int64_t sum = 0;
  for (int z = 0; z < o->wl->n_tensors; z++)
    if (home_scope(o, z) >= 0 && home_level(o, z) == level &&
        (only ? home_scope(o, z) == n : below(o, home_scope(o, z), n)))
      sum += bits(o, z, o->home[z]);
  return sum;
}

static bool share_instance(const oracle *o, int scope, int level) {
  int from = 0;
  for (int n = scope; n >= 0; n = o->tree->nodes[n].parent)
    if (o->tree->nodes[n].kind == TF_TILE && o->tree->nodes[n].level > from)
      from = o->tree->nodes[n].level;
  for (int l = from + 1; l <= level; l++)
    if (o->arch->memories[l].mesh[0] > 1 || o->arch->memories[l].mesh[1] > 1)
      return false;
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
      if (o->tree->nodes[n].level != level || !holds(o, n, z))
        continue;
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
  if (t->kind == TF_OP || (t->kind == TF_TILE && t->level > level))
    return 0;
  if (t->kind == TF_TILE)
    return t->level == level ? o->held[n] * twice(o, level) + homes(o, n, level, false)
                             : need(o, t->children[0], level);
  int64_t sum = 0, largest = 0;
  for (int c = 0; c < t->n_children; c++) {
    int64_t k = need(o, t->children[c], level);
    sum += k;
    largest = k > largest ? k : largest;
  }
  for (int z = 0; z < o->wl->n_tensors && t->scope == TF_SHAR; z++)
    sum -= bits(o, z, double_count(o, n, level, z)) * twice(o, level);
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
    o->peak[home_level(o, z) * nt + z] = home_scope(o, z) < 0 ? whole : o->home[z];
    outer += home_level(o, z) == 0 ? bits(o, z, o->peak[z]) : 0;
  }
  for (int l = 0; l < o->arch->n_memories; l++) {
    int64_t b = l ? need(o, 0, l) : outer, word = o->arch->memories[l].word_bits;
    o->level_peak[l] = (b + word - 1) / word;
  }
}

/* ---- latency, overlap `perfect` (DECISIONS 15) ---------------------------------------------------- */

typedef struct {
  double read, write;
} ports;

static double larger(double a, double b) {
  return a > b ? a : b;
}

static double port_time(const oracle *o, int n, int level, ports w) {
  const tf_memory *mem = &o->arch->memories[level];
  int tile = mtile(o, n, level);
  double k = tile < 0 || o->width[tile] < 1 ? 1 : (double)o->width[tile];
  if (mem->one_port)
    return (w.read + w.write) / (k * mem->read_bw);
  return larger(w.read / (k * mem->read_bw), w.write / (k * mem->write_bw));
}

static void add(const oracle *o, ports *to, int level, int z, int64_t read, int64_t write) {
  double k = (double)o->wl->tensors[z].word_bits / o->arch->memories[level].word_bits;
  to->read += k * (double)read;
  to->write += k * (double)write;
}

static void add_refs(const oracle *o, ports *to, int level, int op) {
  const tf_op *p = &o->wl->ops[op];
  for (int r = 0; r <= p->n_reads; r++) {
    int z = r < p->n_reads ? p->reads[r].tensor : p->out;
    if (leaf_server(o, op, z) == level)
      add(o, to, level, z, o->by_ref[op * 16 + r].read, o->by_ref[op * 16 + r].update);
  }
}

static double op_time(const oracle *o, int n) {
  int op = o->tree->nodes[n].op;
  double t = o->units[op] ? (double)o->points[op] /
                                ((double)o->units[op] * o->arch->units[o->unit[op]].rate)
                          : 0;
  for (int l = 0; l < o->arch->n_memories; l++) {
    ports w = {0, 0};
    add_refs(o, &w, l, op);
    t = larger(t, port_time(o, n, l, w));
  }
  return t;
}

static double tile_time(const oracle *o, int n, double child) {
  int nt = o->wl->n_tensors, level = o->tree->nodes[n].level;
  ports own = {0, 0};
  for (int z = 0; z < nt; z++) {
    add(o, &own, level, z, o->by_node[n * nt + z].drain, o->by_node[n * nt + z].fill);
    for (int k = 0; k < o->tree->n_nodes; k++)
      if (k != n && below(o, k, n) && holds(o, k, z) &&
          server(o, k, z, o->tree->nodes[k].level) == level)
        add(o, &own, level, z, o->by_node[k * nt + z].read, o->by_node[k * nt + z].update);
  }
  for (int op = 0; op < o->wl->n_ops; op++)
    if (op_below(o, op, n))
      add_refs(o, &own, level, op);
  double t = larger(child, port_time(o, n, level, own));
  for (int l = 0; l < level; l++) {
    ports w = {0, 0};
    for (int z = 0; z < nt; z++)
      if (holds(o, n, z) && server(o, n, z, level) == l)
        add(o, &w, l, z, o->by_node[n * nt + z].read, o->by_node[n * nt + z].update);
    t = larger(t, port_time(o, n, l, w));
  }
  return t;
}

static double node_time(const oracle *o, int n) {
  const tf_node *t = &o->tree->nodes[n];
  double sum = 0, longest = 0;
  if (t->kind == TF_OP)
    return op_time(o, n);
  for (int c = 0; c < t->n_children; c++) {
    double k = node_time(o, t->children[c]);
    sum += k;
    longest = larger(longest, k);
  }
  if (t->kind == TF_TILE)
    return tile_time(o, n, sum);
  if (t->scope == TF_PARA)
    return longest;
  if (t->scope == TF_PIPE)
    return longest + (o->runs[n] ? (sum - longest) / (double)o->runs[n] : 0);
  return sum;
}

void find_latency(oracle *o) {
  o->cycles = node_time(o, 0);
}
