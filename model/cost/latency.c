/* Latency of every node over all its executions (docs/SEMANTICS.md section 5, D15, D18, D19;
 * thesis Eq. 3.22). */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "model/cost/network.h"
#include "model/cost/zeros.h"

static double more(double a, double b) { return a > b ? a : b; }

/* Cycles in which units work in lockstep: a step in which some of them have a point takes as long
 * as a full one.  The order of operations is that of lanes_cost.c, so that both agree to the
 * bit. */
static double step_time(const struct tf_model *m, int o) {
  const tf_op_result *r = &m->res.ops[o];
  const double slots = (double)m->steps[m->plan->tree->op_node[o]] * (double)r->units;
  const double time =
      r->points ? slots / ((double)r->units * m->plan->arch->units[r->unit].rate) : 0;
  return m->zeros ? time * m->zeros->work[o].share[TF_LEFT_TIME] : time;
}

double tf_work_time(const struct tf_model *m, int o) {
  const tf_op_result *r = &m->res.ops[o];
  const tf_unit *units = m->plan->arch->units;
  double t = step_time(m, o);
  for (int k = 2 * o; k < 2 * o + 2 && r->corrections; k++)
    if (m->corrections[k].points)
      t += (double)m->corrections[k].points /
           ((double)m->corrections[k].units * units[m->corrections[k].unit].rate);
  return t;
}

static double op_time(struct tf_model *m, int n) {
  tf_op_result *r = &m->res.ops[m->plan->tree->nodes[n].op];
  r->cycles = more(tf_work_time(m, m->plan->tree->nodes[n].op), tf_busiest_port(m, n, true, -1));
  bool fills = m->plan->arch->overlap != TF_OVERLAP_PERFECT && r->points;
  return r->cycles + (fills ? m->plan->arch->units[r->unit].pipeline : 0);
}

/* Loads through a leg: words read from the serving memory, or written into the Tile's own. */
static tf_ports loads(tf_ports w, int leg) {
  return leg ? (tf_ports){w.read, 0} : (tf_ports){0, w.write};
}

static tf_ports stores(tf_ports w, int leg) {
  return leg ? (tf_ports){0, w.write} : (tf_ports){w.read, 0};
}

/* The time of all loads plus that of all stores, without overlap. */
static double in_turn(const struct tf_model *m, int n) {
  const tf_view *v = &m->views->node[n];
  double load = 0, store = 0;
  for (int l = 0; l < v->n_legs; l++) {
    tf_ports w = tf_leg_ports(m, v, l);
    tf_port_rate rate = tf_port_rate_at(m, v->legs[l].pass);
    load = more(load, tf_port_time(rate, loads(w, l)));
    store = more(store, tf_port_time(rate, stores(w, l)));
  }
  return load + store;
}

/* Loads through leg l of Tile f in its first step. */
static tf_ports first_loads(const struct tf_model *m, const tf_view *f, int l) {
  return loads(m->cells[f->cell + (f->n_rows - 1) * f->n_legs + l], l);
}

/* How long the port of leg l's loads into Tile f is idle at the end of the previous node. */
static double free_time(const struct tf_model *m, int before, const tf_view *f, int l) {
  const int last = m->overlaps[before].last;
  const double room = m->overlaps[before].room;
  if (last < 0 || !m->steps[last]) return 0;
  int level = f->legs[l].level,
      child = tf_pass_of(m->views, m->plan->tree->nodes[last].children[0], level);
  int own = tf_pass_of(m->views, last, level);
  const tf_view *v = &m->views->node[last];
  if (own < 0) return room;
  tf_ports w = child < 0 ? (tf_ports){0, 0} : m->below[child];
  for (int k = 0; k < v->n_legs; k++)
    if (v->legs[k].level == level) {
      tf_ports passed = stores(tf_leg_ports(m, v, k), k);
      w.read += passed.read;
      w.write += passed.write;
    }
  tf_port_rate rate = tf_port_rate_at(m, own);
  if (!rate.one_port) w = l ? (tf_ports){w.read, 0} : (tf_ports){0, w.write};
  return more(0, room - tf_port_time(rate, w) / (double)m->steps[last]);
}

/* The exposed time of Tile f's first load, if control comes from the end of node `before` (-1:
 * none); words that pass before f begins are hidden. */
static double first_load(struct tf_model *m, int f, int before) {
  const tf_view *v = &m->views->node[f];
  double left = 0;
  for (int l = 0; l < v->n_legs; l++) {
    tf_ports w = first_loads(m, v, l);
    double load = tf_port_time(tf_port_rate_at(m, v->legs[l].pass), w);
    double free = before < 0 ? 0 : free_time(m, before, v, l);
    double share = before < 0 ? 0 : free < load ? free / load : 1;
    m->hidden[v->leg + l] = (tf_ports){share * w.read, share * w.write};
    m->overlaps[f].load = more(m->overlaps[f].load, load);
    left = more(left, load - (free < load ? free : load));
  }
  return left;
}

/* Double buffering: during a step the next step's words are loaded and the previous step's are
 * stored.  The maximum of work and transfer, class by class, plus the first load and the last
 * store, which no step of the Tile hides (SEMANTICS D18). */
static double stepwise(struct tf_model *m, int n, double child, int before) {
  const tf_view *v = &m->views->node[n];
  const double *steps = &m->class_steps[v->row];
  /* if a mask leaves a streamed op no step, its corrections still take time */
  double work = m->steps[n] ? child / (double)m->steps[n] : child, total = 0, store = 0;
  for (int j = 0; j < v->n_rows - 1; j++) {
    double t = steps[j] * work;
    for (int l = 0; l < v->n_legs && steps[j] > 0; l++)
      t = more(t, tf_port_time(tf_port_rate_at(m, v->legs[l].pass),
                               m->cells[v->cell + j * v->n_legs + l]));
    total += t;
  }
  const tf_ports *first = &m->cells[v->cell + (v->n_rows - 1) * v->n_legs];
  for (int l = 0; l < v->n_legs; l++)
    store = more(store, tf_port_time(tf_port_rate_at(m, v->legs[l].pass), stores(first[l], l)));
  m->overlaps[n] = (tf_overlapping){n, n, 0, work};
  return total + first_load(m, n, before) + work + store;
}

static bool moves_words(const struct tf_model *m, const tf_view *v) {
  for (int i = v->first; i < v->first + v->n_slices; i++)
    if (m->moves[i].fill || m->moves[i].drain) return true;
  return false;
}

static double node_time(struct tf_model *m, int n, int before);

static double tile_time(struct tf_model *m, int n, int before) {
  const tf_arch *a = m->plan->arch;
  const tf_view *v = &m->views->node[n];
  const tf_memory *mem = &a->memories[m->plan->tree->nodes[n].level];
  const bool passes = !v->n_slices || a->overlap == TF_OVERLAP_PERFECT;
  const double child = node_time(m, n + 1, passes ? before : -1);
  double time = child;
  if (passes) {
    m->overlaps[n] = m->overlaps[n + 1];
  } else {
    double wait = moves_words(m, v) ? mem->latency + mem->issue + tf_network_wait(m, n) : 0;
    if (a->overlap == TF_OVERLAP_NONE)
      time = child + in_turn(m, n) + wait * (double)m->steps[n];
    else
      time = stepwise(m, n, child, before) + wait;
  }
  double all = more(time, tf_busiest_port(m, n, false, before < 0 ? -1 : m->overlaps[n].first));
  m->overlaps[n].room += all - time;
  return all;
}

/* The sum of the children's times.  The first load of each may be hidden behind the previous one;
 * children that never run are skipped. */
static double in_turns(struct tf_model *m, int n, int before) {
  const tf_node *t = &m->plan->tree->nodes[n];
  const int outer = before;
  double sum = 0;
  bool may_hide = false;
  tf_overlapping head = {-1, -1, 0, 0};
  for (int c = 0; c < t->n_children; c++) {
    const int child = t->children[c];
    sum += node_time(m, child, before);
    if (!m->steps[child]) continue;
    const tf_overlapping *h = &m->overlaps[child];
    may_hide |= before != outer && h->first >= 0 && m->overlaps[before].last >= 0;
    if (before == outer) head.first = h->first;
    head.last = h->last;
    head.room = h->room;
    if (m->by_steps) before = child;
  }
  double all = more(sum, tf_busiest_port(m, n, may_hide, outer < 0 ? -1 : head.first));
  head.room += all - sum;
  m->overlaps[n] = head;
  return all;
}

/* Units of kind u that the ops below a node need: points of open ops, units of decided ones. */
typedef struct {
  double points, taken;
} demand;

static demand demand_of(const struct tf_model *m, int n, int u) {
  const tf_node *t = &m->plan->tree->nodes[n];
  demand all = {0, 0};
  if (t->kind == TF_OP) {
    const tf_op_result *r = &m->res.ops[t->op];
    if (r->unit != u) return all;
    return m->open->node[n] ? (demand){(double)r->points * tf_zeros_work(m, t->op, TF_LEFT_TIME), 0}
                            : (demand){0, (double)r->units};
  }
  for (int c = 0; c < t->n_children; c++) {
    demand k = demand_of(m, t->children[c], u);
    all.points += k.points;
    all.taken = tf_plan_at_once(t) ? all.taken + k.taken : more(all.taken, k.taken);
  }
  return all;
}

/* Children that run at once share the units: open ones can use those that decided ones leave. */
static double shared_units_time(const struct tf_model *m, int n) {
  double t = 0;
  for (int u = 0; u < m->plan->arch->n_units && m->open->all; u++) {
    demand d = {0, 0};
    for (int c = 0; c < m->plan->tree->nodes[n].n_children; c++) {
      demand k = demand_of(m, m->plan->tree->nodes[n].children[c], u);
      d.points += k.points;
      d.taken += k.points > 0
                     ? 0
                     : k.taken; /* in a child, open ops may use the units of decided ops in turn */
    }
    if (d.points > 0)
      t = more(t, d.taken < m->open->all[u]
                      ? d.points / ((m->open->all[u] - d.taken) * m->plan->arch->units[u].rate)
                      : INFINITY);
  }
  return t;
}

/* A lower bound for all completions of node n and below: ops use all units that they can get, and
 * nothing is moved.  It is a bound because a Tile takes at least as long as its child, whatever it
 * moves; Seq and Shar hide at most a child's first load, which is in addition to its time; of
 * Para's and Pipe's children the longest counts, and together they need their units at once. */
static double least_time(const struct tf_model *m, int n) {
  const tf_node *t = &m->plan->tree->nodes[n];
  double sum = 0, most = 0;
  if (t->kind == TF_OP) {
    const tf_op_result *r = &m->res.ops[t->op];
    const double points = (double)r->points * tf_zeros_work(m, t->op, TF_LEFT_TIME);
    double busy = points / (m->open->units[t->op] * m->plan->arch->units[r->unit].rate);
    return m->open->time ? more(busy, m->open->time[t->op]) : busy;
  }
  for (int c = 0; c < t->n_children; c++) {
    double k = least_time(m, t->children[c]);
    sum += k;
    most = more(most, k);
  }
  return tf_plan_at_once(t) ? more(most, shared_units_time(m, n)) : sum;
}

static double at_once(struct tf_model *m, int n) {
  const tf_node *t = &m->plan->tree->nodes[n];
  double sum = 0, most = 0;
  for (int c = 0; c < t->n_children; c++) {
    double k = node_time(m, t->children[c], -1);
    sum += k;
    most = more(most, k);
  }
  double time = (m->open ? more(most, shared_units_time(m, n)) : most) +
                (tf_scope_at(t->scope)->time == TF_TAKES_STAGES && m->steps[n]
                     ? (sum - most) / (double)m->steps[n]
                     : 0);
  return more(time, tf_busiest_port(m, n, false, -1));
}

/* before: the last node run before control comes here; -1: none, or nothing hides. */
static double node_time(struct tf_model *m, int n, int before) {
  const tf_node *t = &m->plan->tree->nodes[n];
  double time;
  m->overlaps[n] = (tf_overlapping){-1, -1, 0, 0};
  if (m->open && m->open->node[n])
    time = more(least_time(m, n), tf_busiest_port(m, n, false, -1));
  else if (t->kind == TF_OP)
    time = op_time(m, n);
  else if (t->kind == TF_TILE)
    time = tile_time(m, n, before);
  else
    time = tf_plan_at_once(t) ? at_once(m, n) : in_turns(m, n, before);
  m->res.nodes[n].cycles = time;
  return time;
}

/* Units of a kind in use at once below a node, and the cycles for which they are busy. */
typedef struct {
  int64_t units;
  double cycles;
} load;

static load in_order(load a, load b) {
  return (load){a.units > b.units ? a.units : b.units, a.cycles + b.cycles};
}

static double correction_time(const struct tf_model *m, const tf_correction *k) {
  return (double)k->points / ((double)k->units * m->plan->arch->units[k->unit].rate);
}

/* The load of op o on units of kind u, with the time of corrections, whose units are in use at the
 * scope that streams. */
static load op_load(const struct tf_model *m, int o, int u) {
  const tf_op_result *r = &m->res.ops[o];
  load all = {0, 0};
  if (r->unit == u && r->units) all = (load){r->units, step_time(m, o)};
  for (int k = 2 * o; k < 2 * o + 2 && r->corrections; k++)
    if (m->corrections[k].unit == u && m->corrections[k].points)
      all.cycles += correction_time(m, &m->corrections[k]);
  return all;
}

/* Units of kind u that corrections at node n use, of any node if n is below 0. */
static int64_t correction_units(const struct tf_model *m, int n, int u) {
  int64_t units = 0;
  for (int o = 0; o < m->plan->wl->n_ops; o++)
    for (int k = 2 * o; k < 2 * o + 2 && m->res.ops[o].corrections; k++) {
      const tf_correction *c = &m->corrections[k];
      const bool here = n < 0 || m->plan->stream_scope[o] == n;
      if (here && c->unit == u && c->points && c->units > units) units = c->units;
    }
  return units;
}

static load together(load a, load b) { return (load){a.units + b.units, more(a.cycles, b.cycles)}; }

static load unit_load(const struct tf_model *m, int n, int u) {
  const tf_node *t = &m->plan->tree->nodes[n];
  if (t->kind == TF_OP) return op_load(m, t->op, u);
  load all = {0, 0};
  for (int c = 0; c < t->n_children; c++) {
    load k = unit_load(m, t->children[c], u);
    all = tf_plan_at_once(t) ? together(all, k) : in_order(all, k);
  }
  if (t->kind == TF_SCOPE) all = in_order(all, (load){correction_units(m, n, u), 0});
  return all;
}

/* The same where every scope runs its children in order. */
static load serial_load(const struct tf_model *m, int u) {
  load all = {correction_units(m, -1, u), 0};
  for (int o = 0; o < m->plan->wl->n_ops; o++)
    all = in_order(all, op_load(m, o, u));
  return all;
}

static int64_t points_on(const struct tf_model *m, int o, int u) {
  int64_t points = m->res.ops[o].unit == u ? m->res.ops[o].points : 0;
  for (int k = 2 * o; k < 2 * o + 2; k++)
    points += m->corrections[k].unit == u ? m->corrections[k].points : 0;
  return points;
}

/* The largest time so far, and its cause. */
typedef struct {
  double most;
  const char *name;
} limit;

static void unit_times(struct tf_model *m, limit *top) {
  const tf_plan *p = m->plan;
  for (int u = 0; u < p->arch->n_units; u++) {
    load k = m->views->splits ? unit_load(m, 0, u) : serial_load(m, u);
    tf_unit_result *r = &m->res.units[u];
    *r = (tf_unit_result){.units = k.units, .cycles = k.cycles};
    for (int o = 0; o < p->wl->n_ops; o++)
      (void)__builtin_add_overflow(r->points, points_on(m, o, u),
                                   &r->points); /* model.c reports it if all are too many */
    if (r->cycles > top->most) *top = (limit){r->cycles, m->views->unit_name[u]};
  }
}

/* The busiest port of each level, and the busy time of the units: the largest is the bottleneck. */
static void bottleneck(struct tf_model *m, tf_result *out) {
  const tf_plan *p = m->plan;
  limit top = {-1, ""};
  unit_times(m, &top);
  for (int l = 0; l < p->arch->n_memories; l++) {
    bool writes;
    tf_level_ports(m, l, &writes);
    if (m->res.levels[l].cycles > top.most)
      top = (limit){m->res.levels[l].cycles, m->views->port_name[2 * l + writes]};
  }
  for (int l = 0; l < p->arch->n_memories; l++)
    if (m->res.levels[l].link_cycles > top.most)
      top = (limit){m->res.levels[l].link_cycles, m->views->net_name[l]};
  assert(m->open ||
         out->cycles >= top.most * (1 - 1e-9)); /* nothing is busy for longer than the whole */
  memcpy(out->bottleneck, top.name, strlen(top.name) + 1);
}

void tf_latency(struct tf_model *m, tf_result *out) {
  tf_ports_fill(m);
  out->cycles = node_time(m, 0, -1);
  for (int l = 0; l < m->plan->arch->n_memories; l++)
    out->cycles = more(out->cycles, m->res.levels[l].link_cycles);
  m->res.nodes[0].cycles = out->cycles;
  out->seconds = out->cycles / m->plan->arch->clock_hz;
  bottleneck(m, out);
}
