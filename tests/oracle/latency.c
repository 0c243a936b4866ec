/* Time, from what the walk saw: docs/SEMANTICS.md D11, D15, D18 and D19, sentence by sentence.
 * Where the text leaves a choice it is marked "Choice:". */
#include <stdlib.h>

#include "tests/oracle/oracle.h"

static double larger(double a, double b) { return a > b ? a : b; }

/* ---- words on ports -------------------------------------------------------------------------- */

typedef struct {
  double read, write; /* in words of the memory */
} ports;

/* What of a first load passed before its node began, memory by memory. */
typedef struct {
  ports passed[MAX_LEVELS];
} early;

/* The end of a node: the m-tile with entries that came last in it (-1: none), and how much later
 * all of it ended than what is not work of that m-tile's last step. */
typedef struct {
  int last;
  double room;
} ending;

static double weight(const oracle *o, int level, int z) {
  return (double)o->wl->tensors[z].word_bits / o->arch->memories[level].word_bits;
}

static bool same_index(const tf_index *a, const tf_index *b) {
  bool same = a->c == b->c && a->n_terms == b->n_terms;
  for (int t = 0; same && t < a->n_terms; t++)
    same = a->terms[t].dim == b->terms[t].dim && a->terms[t].coef == b->terms[t].coef;
  return same;
}

static bool same_place(const oracle *o, const tf_ref *a, const tf_ref *b) {
  bool same = a->tensor == b->tensor;
  for (int r = 0; same && r < o->wl->tensors[a->tensor].rank; r++)
    same = same_index(&a->index[r], &b->index[r]);
  return same || a->tensor != b->tensor;
}

bool mean_allowed(oracle *o) {
  const tf_workload *wl = o->wl;
  bool may = !splits_alike(o);
  for (int z = 0; z < wl->n_tensors; z++)
    for (int r = 0; r < wl->tensors[z].rank; r++)
      may |= wl->tensors[z].pad[r] > 0;
  for (int n = 0; n < o->tree->n_nodes; n++)
    may |= o->tree->nodes[n].kind == TF_SCOPE && o->tree->nodes[n].n_retain > 0;
  for (int a = 0; a < wl->n_ops; a++)
    for (int b = 0; b < wl->n_ops; b++)
      for (int i = 0; i < wl->ops[a].n_reads * wl->ops[b].n_reads; i++)
        may |= !same_place(o, &wl->ops[a].reads[i % wl->ops[a].n_reads],
                           &wl->ops[b].reads[i / wl->ops[a].n_reads]);
  return may;
}

/* Words on the ports of a memory, instance by instance; kept from one use to the next. */
typedef struct {
  int n, room;
  struct {
    uint64_t instance;
    ports w;
  } * of;
} tally;

static ports *tally_at(tally *t, uint64_t instance) {
  for (int i = 0; i < t->n; i++)
    if (t->of[i].instance == instance) return &t->of[i].w;
  if (t->n == t->room) {
    t->room = t->room ? 2 * t->room : 64;
    t->of = realloc(t->of, (size_t)t->room * sizeof *t->of);
    if (!t->of) abort();
  }
  t->of[t->n].instance = instance;
  t->of[t->n].w = (ports){0, 0};
  return &t->of[t->n++].w;
}

/* own: fill and drain count, else read and update; k: words of the memory for a word. */
static void tally_add(tally *t, const shares *s, bool own, double k) {
  for (int i = 0; i < s->n; i++) {
    const words *w = &s->of[i].w;
    ports *to = tally_at(t, s->of[i].instance);
    to->read += k * (double)(own ? w->drain : w->read);
    to->write += k * (double)(own ? w->fill : w->update);
  }
}

static ports busier(const oracle *o, int level, ports a, ports b) {
  if (o->arch->memories[level].one_port) return a.read + a.write < b.read + b.write ? b : a;
  return (ports){larger(a.read, b.read), larger(a.write, b.write)};
}

/* What passes the busiest instance; all: the number of instances, of which the mean counts. */
static ports busiest(const oracle *o, int level, const tally *t, int64_t all) {
  ports most = {0, 0}, sum = {0, 0};
  for (int i = 0; i < t->n; i++) {
    most = busier(o, level, most, t->of[i].w);
    sum = (ports){sum.read + t->of[i].w.read, sum.write + t->of[i].w.write};
  }
  const double n = all > 1 ? (double)all : 1;
  return o->mean || o->banks ? (ports){sum.read / n, sum.write / n} : most;
}

/* What node n itself causes at the memory: words, or cycles of its banks. */
static void add_caused(const oracle *o, int n, int level, tally *t) {
  const tf_node *node = &o->tree->nodes[n];
  const int nt = o->wl->n_tensors;
  const tf_op *p = node->kind == TF_OP ? &o->wl->ops[node->op] : NULL;
  const shares *by_ref = o->banks ? o->bank_up_by_ref : o->up_by_ref;
  const shares *own = o->banks ? o->bank_own_by_node : o->own_by_node;
  const shares *up = o->banks ? o->bank_up_by_node : o->up_by_node;
  for (int r = 0; p && r <= p->n_reads; r++) {
    const int z = r < p->n_reads ? p->reads[r].tensor : p->out;
    if (leaf_server(o, node->op, z) == level)
      tally_add(t, &by_ref[node->op * 16 + r], false, o->banks ? 1 : weight(o, level, z));
  }
  for (int z = 0; z < nt; z++) {
    const double k = o->banks ? 1 : weight(o, level, z);
    if (!o->banks && node->kind == TF_SCOPE && o->up_rescaled[n * nt + z].n &&
        server(o, n, z, o->arch->n_memories) == level)
      tally_add(t, &o->up_rescaled[n * nt + z], false, k);
    if (!holds(o, n, z)) continue;
    if (node->level == level)
      tally_add(t, &own[n * nt + z], true, k);
    else if (server(o, n, z, node->level) == level)
      tally_add(t, &up[n * nt + z], false, k);
  }
}

/* Choice: a child without an m-tile of the level adds nothing to the sum of Para and Pipe; "one
 * where there is none" is said of the whole. */
static int64_t in_use(const oracle *o, int n, int level) {
  const tf_node *t = &o->tree->nodes[n];
  int64_t sum = 0, largest = 0;
  if (mtile(o, n, level) >= 0) return o->width[mtile(o, n, level)];
  for (int c = 0; c < t->n_children; c++) {
    int64_t k = in_use(o, t->children[c], level);
    sum += k;
    largest = k > largest ? k : largest;
  }
  bool apart = t->kind == TF_SCOPE && (t->scope == TF_PARA || t->scope == TF_PIPE) &&
               !share_instance(o, n, level);
  return apart ? sum : largest;
}

static double instances(const oracle *o, int n, int level) {
  int64_t k = in_use(o, n, level);
  return k > 1 ? (double)k : 1;
}

static bool side_by_side(const tf_node *t) {
  return t->kind == TF_SCOPE && (t->scope == TF_PARA || t->scope == TF_PIPE);
}

/* What nodes at or below n cause in the busiest instance of the memory: below an m-tile of the
 * level that is one of its instances, the same for all.  Above, what children cause in turns adds
 * up; of those that run at once in instances of their own, the busier one counts. */
static ports caused(const oracle *o, int n, int level) {
  static tally t;
  const tf_node *node = &o->tree->nodes[n];
  const int tile = mtile(o, n, level);
  t.n = 0;
  for (int k = n; tile >= 0 && k < node->end; k++)
    add_caused(o, k, level, &t);
  if (tile >= 0) return busiest(o, level, &t, o->width[tile]);
  add_caused(o, n, level, &t);
  ports sum = {0, 0}, beside = {0, 0};
  for (int i = 0; i < t.n; i++)
    sum = (ports){sum.read + t.of[i].w.read / instances(o, n, level),
                  sum.write + t.of[i].w.write / instances(o, n, level)};
  for (int c = 0; c < node->n_children; c++) {
    const ports w = caused(o, node->children[c], level);
    if (side_by_side(node) && !share_instance(o, n, level))
      beside = busier(o, level, beside, w);
    else
      sum = (ports){sum.read + w.read, sum.write + w.write};
  }
  return (ports){sum.read + beside.read, sum.write + beside.write};
}

/* Time of the busier port of the memory. */
static double port_time(const oracle *o, int level, ports w) {
  const tf_memory *mem = &o->arch->memories[level];
  if (mem->one_port) return (w.read + w.write) / mem->read_bw;
  return larger(w.read / mem->read_bw, w.write / mem->write_bw);
}

double bank_time(oracle *o, int n, int level) {
  if (!o->lines) return 0;
  o->banks = true;
  const ports w = caused(o, n, level);
  o->banks = false;
  return o->arch->memories[level].one_port ? w.read + w.write : larger(w.read, w.write);
}

/* Of what passes while n runs: less what of its first load was there before. */
static double busiest_port(oracle *o, int n, const early *e) {
  double t = 0;
  for (int l = 0; l < o->arch->n_memories; l++) {
    ports w = caused(o, n, l);
    w.read -= e ? e->passed[l].read : 0;
    w.write -= e ? e->passed[l].write : 0;
    t = larger(t, larger(port_time(o, l, w), bank_time(o, n, l)));
  }
  return t;
}

/* ---- ops and units -------------------------------------------------------------------------- */

/* A correction runs on the first unit that lists its kind and stands at or below every Tile above
 * the scope. */
static int unit_for(const oracle *o, int op, tf_kind kind) {
  int deepest = 0;
  for (int n = stream_scope(o, op); n >= 0; n = o->tree->nodes[n].parent)
    if (o->tree->nodes[n].kind == TF_TILE && o->tree->nodes[n].level > deepest)
      deepest = o->tree->nodes[n].level;
  for (int u = 0; u < o->arch->n_units; u++)
    if ((o->arch->units[u].kinds >> kind & 1) && o->arch->units[u].below >= deepest) return u;
  return o->unit[op];
}

/* Choice: an op that divides late has no points, and yet counts with the units that its steps would
 * use. */
static int64_t units_for(const oracle *o, int op, int unit) {
  int scope = stream_scope(o, op);
  int64_t most = 0;
  for (int q = 0; q < o->wl->n_ops; q++)
    if (op_below(o, q, scope) && o->unit[q] == unit && o->units[q] > most) most = o->units[q];
  return most > 0 ? most : o->width[scope];
}

static const struct {
  tf_kind kind;
  size_t at;
} fix_kinds[N_FIXES] = {{TF_K_EXP, FIX_EXP}, {TF_K_MUL, FIX_MUL}, {TF_K_DIV, FIX_DIV}};

/* Time that the op's points and corrections take of one kind of unit. */
static double work_on(const oracle *o, int op, int unit) {
  double t = 0;
  if (o->unit[op] == unit && o->points[op] > 0)
    t = (double)o->runs[o->tree->op_node[op]] / o->arch->units[unit].rate;
  for (int i = 0; i < N_FIXES; i++) {
    int64_t n = o->fixes[op * N_FIXES + (int)fix_kinds[i].at];
    if (n > 0 && unit_for(o, op, fix_kinds[i].kind) == unit)
      t += (double)n / ((double)units_for(o, op, unit) * o->arch->units[unit].rate);
  }
  return t;
}

double work_pj(const oracle *o) {
  double pj = 0;
  for (int op = 0; op < o->wl->n_ops; op++) {
    pj += (double)o->points[op] * o->arch->units[o->unit[op]].pj;
    for (int i = 0; i < N_FIXES; i++)
      pj += (double)o->fixes[op * N_FIXES + (int)fix_kinds[i].at] *
            o->arch->units[unit_for(o, op, fix_kinds[i].kind)].pj;
  }
  return pj;
}

static double op_time(const oracle *o, int op) {
  double t = 0;
  for (int u = 0; u < o->arch->n_units; u++)
    t += work_on(o, op, u);
  return t;
}

/* Not for an op that never runs or divides late: it has no points. */
static double pipeline(const oracle *o, int op) {
  return o->arch->overlap != TF_OVERLAP_PERFECT && o->points[op] > 0
             ? o->arch->units[o->unit[op]].pipeline
             : 0;
}

static double unit_time(const oracle *o, int n, int unit) {
  const tf_node *t = &o->tree->nodes[n];
  double sum = 0, longest = 0;
  if (t->kind == TF_OP) return work_on(o, t->op, unit);
  for (int c = 0; c < t->n_children; c++) {
    double k = unit_time(o, t->children[c], unit);
    sum += k;
    longest = larger(longest, k);
  }
  return side_by_side(t) ? longest : sum;
}

/* Choice: units that only corrections use are in use at their scope. */
static int64_t units_in_use(const oracle *o, int n, int unit) {
  const tf_node *t = &o->tree->nodes[n];
  int64_t sum = 0, largest = 0;
  if (t->kind == TF_OP) return o->unit[t->op] == unit ? o->units[t->op] : 0;
  for (int c = 0; c < t->n_children; c++) {
    int64_t k = units_in_use(o, t->children[c], unit);
    sum += k;
    largest = k > largest ? k : largest;
  }
  int64_t most = side_by_side(t) ? sum : largest;
  for (int op = 0; op < o->wl->n_ops; op++)
    for (int i = 0; i < N_FIXES && stream_scope(o, op) == n; i++)
      if (o->fixes[op * N_FIXES + (int)fix_kinds[i].at] > 0 &&
          unit_for(o, op, fix_kinds[i].kind) == unit && units_for(o, op, unit) > most)
        most = units_for(o, op, unit);
  return most;
}

/* ---- a Tile's transfers --------------------------------------------------------------------- */

static bool has_entries(const oracle *o, int n) {
  for (int z = 0; z < o->wl->n_tensors; z++)
    if (holds(o, n, z)) return true;
  return false;
}

/* Words of m-tile n on its leg at one memory, in the busiest instance: its own memory, or one that
 * serves its entries. */
typedef struct {
  double load, store;
} leg;

/* The steps of the class among those of the first step and of all loops above node n below the
 * scope s that the entries follow; 0: it is not among them. */
static double share_of(const oracle *o, int n, int class, int s) {
  place path[MAX_PATH];
  const int len = path_to(o, n, path);
  int64_t all = 1;
  for (int i = 0; i < len; i++)
    all += below(o, s, path[i].node) ? o->class_steps[n * MAX_CLASSES + 1 + i] : 0;
  if (class && !below(o, s, path[class - 1].node)) return 0;
  return (double)o->class_steps[n * MAX_CLASSES + class] / (double)all;
}

/* Words of leg n at the level, instance by instance.  class -1: all of them; of a class its own
 * words, and its share of those that follow a sibling's. */
static void leg_tally(const oracle *o, int n, int class, int level, tally *t) {
  const int own = o->tree->nodes[n].level, nt = o->wl->n_tensors;
  t->n = 0;
  for (int z = 0; z < nt; z++) {
    const double k = weight(o, level, z);
    if (!holds(o, n, z) || (level != own && server(o, n, z, own) != level)) continue;
    const int in_class = (n * MAX_CLASSES + class) * nt + z;
    if (class < 0)
      tally_add(t, &(level == own ? o->own_by_node : o->up_by_node)[n * nt + z], level == own, k);
    else
      tally_add(t, &(level == own ? o->own_by_class : o->up_by_class)[in_class], level == own, k);
    for (int s = 0; class >= 0 && s < o->tree->n_nodes; s++) {
      const shares *w =
          &(level == own ? o->own_by_scope : o->up_by_scope)[(n * o->tree->n_nodes + s) * nt + z];
      if (w->n) tally_add(t, w, level == own, k * share_of(o, n, class, s));
    }
  }
}

/* In a class the words of the instance that has the most of them in all. */
static leg leg_at(const oracle *o, int n, int class, int level) {
  static tally all, now;
  const bool own = level == o->tree->nodes[n].level;
  const int tile = mtile(o, n, level);
  leg most = {0, 0}, sum = {0, 0}, busy = {0, 0};
  leg_tally(o, n, -1, level, &all);
  leg_tally(o, n, class, level, &now);
  for (int i = 0; i < all.n; i++) {
    const ports w = all.of[i].w, v = *tally_at(&now, all.of[i].instance);
    const leg g = own ? (leg){w.write, w.read} : (leg){w.read, w.write};
    const leg k = own ? (leg){v.write, v.read} : (leg){v.read, v.write};
    if (g.load > most.load) busy.load = k.load;
    if (g.store > most.store) busy.store = k.store;
    most = (leg){larger(most.load, g.load), larger(most.store, g.store)};
    sum = (leg){sum.load + k.load, sum.store + k.store};
  }
  const double width = tile >= 0 && o->width[tile] > 1 ? (double)o->width[tile] : 1;
  return o->mean ? (leg){sum.load / width, sum.store / width} : busy;
}

static leg leg_time(const oracle *o, int n, int class, int level) {
  const tf_memory *mem = &o->arch->memories[level];
  bool own = level == o->tree->nodes[n].level;
  leg g = leg_at(o, n, class, level);
  return (leg){g.load / (own ? mem->write_bw : mem->read_bw),
               g.store / (own ? mem->read_bw : mem->write_bw)};
}

/* The longest load leg and the longest store leg. */
static leg longest_legs(const oracle *o, int n, int class) {
  leg most = {0, 0};
  for (int l = 0; l <= o->tree->nodes[n].level; l++) {
    leg g = leg_time(o, n, class, l);
    most.load = larger(most.load, g.load);
    most.store = larger(most.store, g.store);
  }
  return most;
}

/* Of a class behind the first. */
static double class_time(const oracle *o, int n, int class, double work) {
  leg most = longest_legs(o, n, class);
  double t =
      larger(work * (double)o->class_steps[n * MAX_CLASSES + class], larger(most.load, most.store));
  for (int l = 0; l <= o->tree->nodes[n].level; l++) {
    leg g = leg_time(o, n, class, l);
    if (o->arch->memories[l].one_port) t = larger(t, g.load + g.store);
  }
  return t;
}

/* Time for which a port of the memory is free behind the steps of what came last before. */
static double free_time(const oracle *o, ending e, int level, bool write) {
  const tf_memory *mem = &o->arch->memories[level];
  const int n = e.last;
  bool own = level == o->tree->nodes[n].level;
  ports w = caused(o, o->tree->nodes[n].children[0], level);
  double store = leg_at(o, n, -1, level).store, busy;
  if (own)
    w.read += store;
  else
    w.write += store;
  if (mem->one_port)
    busy = (w.read + w.write) / mem->read_bw;
  else
    busy = write ? w.write / mem->write_bw : w.read / mem->read_bw;
  double f = e.room - busy / (double)o->runs[n];
  return f > 0 ? f : 0;
}

/* What is left to m-tile n of its first load; *e: what passed before. */
static double left_to_load(oracle *o, int n, const ending *before, early *e) {
  const int own = o->tree->nodes[n].level;
  double all = 0, left = 0;
  for (int l = 0; l <= own; l++) {
    double a = leg_time(o, n, 0, l).load, load = leg_at(o, n, 0, l).load;
    double room = before && before->last >= 0 && o->runs[before->last]
                      ? free_time(o, *before, l, l == own)
                      : 0;
    double share = a > 0 ? (room < a ? room / a : 1) : 0;
    if (l == own)
      e->passed[l].write = share * load;
    else
      e->passed[l].read = share * load;
    all = larger(all, a);
    left = larger(left, a - share * a);
  }
  o->saw[SAW_HIDDEN] |= left < all;
  o->saw[SAW_NO_ROOM] |= left > 0 && before && all <= before->room;
  return left;
}

static double node_time(oracle *o, int n, const ending *before, ending *end, early *e);

static double tile_time(oracle *o, int n, const ending *before, ending *end, early *e) {
  const tf_memory *mem = &o->arch->memories[o->tree->nodes[n].level];
  const bool steps =
      o->arch->overlap == TF_OVERLAP_DOUBLE_BUFFER && has_entries(o, n) && o->runs[n];
  const double child = node_time(o, o->tree->nodes[n].children[0], steps ? NULL : before, end, e);
  leg all = leg_at(o, n, -1, o->tree->nodes[n].level), most = longest_legs(o, n, -1);
  bool moves = all.load + all.store > 0;
  const double wait = mem->latency + mem->issue + (o->topologies && moves ? network_wait(o, n) : 0);
  if (!steps && (o->arch->overlap != TF_OVERLAP_NONE || !has_entries(o, n) || !o->runs[n]))
    return child;
  if (!steps) return child + most.load + most.store + (moves ? (double)o->runs[n] * wait : 0);
  const double work = child / (double)o->runs[n];
  *e = (early){0};
  double sum = left_to_load(o, n, before, e) + work + longest_legs(o, n, 0).store;
  for (int c = 1; c < MAX_CLASSES; c++)
    if (o->class_steps[n * MAX_CLASSES + c] > 0) sum += class_time(o, n, c, work);
  *end = (ending){n, work};
  return sum + (moves ? wait : 0);
}

/* ---- scopes --------------------------------------------------------------------------------- */

static double beside_time(oracle *o, int n, ending *end, early *e) {
  const tf_node *t = &o->tree->nodes[n];
  double sum = 0, longest = 0;
  for (int c = 0; c < t->n_children; c++) {
    double k = node_time(o, t->children[c], NULL, end, e);
    sum += k;
    longest = larger(longest, k);
  }
  *end = (ending){-1, 0};
  *e = (early){0};
  return longest + (t->scope == TF_PIPE && o->runs[n] ? (sum - longest) / (double)o->runs[n] : 0);
}

/* Choice: children that never run are passed over. */
static double row_time(oracle *o, int n, const ending *before, ending *end, early *e) {
  const tf_node *t = &o->tree->nodes[n];
  double sum = 0;
  bool began = false;
  ending at = before ? *before : (ending){-1, 0};
  for (int c = 0; c < t->n_children; c++) {
    ending own = {-1, 0};
    early passed = {0};
    sum += node_time(o, t->children[c], &at, &own, &passed);
    if (!o->runs[t->children[c]]) continue;
    if (!began) *e = passed;
    began = true;
    at = own;
  }
  if (began) *end = at;
  return sum;
}

static double node_time(oracle *o, int n, const ending *before, ending *end, early *e) {
  const tf_node *t = &o->tree->nodes[n];
  *end = (ending){-1, 0};
  *e = (early){0};
  double k = t->kind == TF_OP     ? op_time(o, t->op)
             : t->kind == TF_TILE ? tile_time(o, n, before, end, e)
             : side_by_side(t)    ? beside_time(o, n, end, e)
                                  : row_time(o, n, before, end, e);
  const double all = larger(k, busiest_port(o, n, e));
  o->saw[SAW_FLOOR] |= t->kind == TF_SCOPE && all > k * (1 + 1e-12);
  end->room += all - k;
  return o->node_cycles[n] = all + (t->kind == TF_OP ? pipeline(o, t->op) : 0);
}

void find_latency(oracle *o, bool mean) {
  ending end;
  early e;
  o->mean = mean;
  o->cycles = node_time(o, 0, NULL, &end, &e);
  for (int l = 0; l < o->arch->n_memories; l++)
    o->cycles = larger(o->cycles, link_time(o, l));
  o->node_cycles[0] = o->cycles;
  for (int l = 0; l < o->arch->n_memories; l++) {
    o->level_cycles[l] = larger(port_time(o, l, caused(o, 0, l)), bank_time(o, 0, l));
    o->saw[SAW_PORTS] |= o->level_cycles[l] > 0 && o->level_cycles[l] >= o->cycles;
    o->level_instances[l] = (int64_t)instances(o, 0, l);
  }
  for (int u = 0; u < o->arch->n_units; u++) {
    o->unit_cycles[u] = unit_time(o, 0, u);
    o->unit_use[u] = units_in_use(o, 0, u);
  }
}
