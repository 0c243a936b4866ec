/* Latency of every node over all its executions (model.md section 5; thesis Eq. 3.22; DECISIONS 15). */
#include <math.h>
#include <string.h>

#include "model/cost/state.h"

static double more(double a, double b) {
  return a > b ? a : b;
}

/* Cycles per word of a memory's ports, over all its instances in use. */
typedef struct {
  double read, write;
  bool one_port; /* the words of both pass one after the other */
} pace;

static pace pace_of(const tf_memory *mem, double instances) {
  pace p = {1 / mem->read_bw, 1 / mem->write_bw, mem->one_port};
  if (instances > 1) {
    p.read /= instances;
    p.write /= instances;
  }
  return p;
}

static double port_time(pace p, tf_ports w) {
  double read = w.read * p.read, write = w.write * p.write;
  return p.one_port ? read + write : more(read, write);
}

/* The pace of a leg's memory, by its instances in use on the path. */
static pace leg_pace(const struct tf_model *m, const tf_leg *leg) {
  return pace_of(&m->plan->arch->memories[leg->level],
                 leg->inst < 0 ? 1 : (double)m->width[leg->inst]);
}

static double op_time(struct tf_model *m, int n) {
  const tf_plan *p = m->plan;
  const tf_view *v = &m->views->node[n];
  int o = p->tree->nodes[n].op;
  tf_op_result *r = &m->res.ops[o];
  const tf_unit *u = &p->arch->units[r->unit];
  double t = r->units ? (double)r->points / ((double)r->units * u->rate) : 0;
  for (int l = 0; l < v->n_legs; l++) {
    tf_ports w = {0, 0};
    for (int i = p->op_slice[o]; i <= p->op_slice[o] + p->wl->ops[o].n_reads; i++)
      if (m->views->leg[i] == l) {
        w.read += (double)m->moves[i].read * m->views->up[i];
        w.write += (double)m->moves[i].update * m->views->up[i];
      }
    t = more(t, port_time(leg_pace(m, &v->legs[l]), w));
  }
  r->cycles = t;
  return t + (p->arch->overlap != TF_OVERLAP_PERFECT ? u->pipeline : 0);
}

/* What tile v's memory moves for the nodes below it and for itself. */
static tf_ports own_ports(const struct tf_model *m, const tf_view *v, tf_ports self) {
  for (int k = 0; k < v->n_served; k++) {
    int i = v->served[k];
    self.read += (double)m->moves[i].read * m->views->up[i];
    self.write += (double)m->moves[i].update * m->views->up[i];
  }
  return self;
}

/* What tile v's own entries move through one of its legs. */
static tf_ports entries(const struct tf_model *m, const tf_view *v, int leg) {
  const tf_views *w = m->views;
  tf_ports sum = {0, 0};
  for (int i = v->first; i < v->first + v->n_slices; i++) {
    const tf_move *k = &m->moves[i];
    if (leg == 0) {
      sum.read += (double)k->drain * w->own[i];
      sum.write += (double)k->fill * w->own[i];
    } else if (w->leg[i] == leg) {
      sum.read += (double)k->read * w->up[i];
      sum.write += (double)k->update * w->up[i];
    }
  }
  return sum;
}

/* The longest leg over the totals. */
static double busiest(const struct tf_model *m, const tf_view *v, const pace *paces) {
  double t = 0;
  for (int l = 0; l < v->n_legs; l++) {
    tf_ports w = entries(m, v, l);
    t = more(t, port_time(paces[l], l ? w : own_ports(m, v, w)));
  }
  return t;
}

/* Loads of a leg: words read from the memory that serves, or written into the Tile's own. */
static tf_ports loads(tf_ports w, int leg) {
  return leg ? (tf_ports){w.read, 0} : (tf_ports){0, w.write};
}

static tf_ports stores(tf_ports w, int leg) {
  return leg ? (tf_ports){0, w.write} : (tf_ports){w.read, 0};
}

/* The time of all loads, and then of all stores, where nothing overlaps. */
static double in_turn(const struct tf_model *m, const tf_view *v, const pace *paces) {
  double load = 0, store = 0;
  for (int l = 0; l < v->n_legs; l++) {
    tf_ports w = entries(m, v, l);
    load = more(load, port_time(paces[l], loads(w, l)));
    store = more(store, port_time(paces[l], stores(w, l)));
  }
  return load + store;
}

/* Steps of the view's loops, idle ones (where ranges end, and where a retaining scope has nothing to make) among them. */
static double all_steps(const struct tf_model *m, const tf_view *v) {
  double n = 1;
  for (int j = 0; j < v->n_rows - 1; j++)
    n *= (double)m->run.trip[v->row_loop[j]];
  return n;
}

/* While a step works, the next one's words are loaded and those of the one before are stored: the maximum, class
 * by class, plus what nothing hides, the first load and the last store. */
static double stepwise(struct tf_model *m, int n, const pace *paces, double child) {
  const tf_view *v = &m->views->node[n];
  double work = child / all_steps(m, v), total = work, outer = 1;
  for (int j = v->n_rows - 2; j >= 0; j--) {
    double trip = (double)m->run.trip[v->row_loop[j]], t;
    if (trip <= 1)
      continue;
    t = (trip - 1) * outer * work;
    for (int l = 0; l < v->n_legs; l++)
      t = more(t, port_time(paces[l], m->cells[v->cell + j * v->n_legs + l]));
    total += t;
    outer *= trip;
  }
  double load = 0, store = 0;
  const tf_ports *first = &m->cells[v->cell + (v->n_rows - 1) * v->n_legs];
  for (int l = 0; l < v->n_legs; l++) {
    load = more(load, port_time(paces[l], loads(first[l], l)));
    store = more(store, port_time(paces[l], stores(first[l], l)));
  }
  m->heads[n] = (tf_head){load, work};
  return total + load + store;
}

static bool moves_words(const struct tf_model *m, const tf_view *v) {
  for (int i = v->first; i < v->first + v->n_slices; i++)
    if (m->moves[i].fill || m->moves[i].drain)
      return true;
  return false;
}

static double tile_time(struct tf_model *m, int n, double child) {
  const tf_arch *a = m->plan->arch;
  const tf_view *v = &m->views->node[n];
  const tf_memory *mem = &a->memories[m->plan->tree->nodes[n].level];
  pace paces[TF_MAX_LEGS];
  for (int l = 0; l < v->n_legs; l++)
    paces[l] = leg_pace(m, &v->legs[l]);
  double busy = busiest(m, v, paces);
  if (!v->n_slices)
    m->heads[n] = m->heads[n + 1];
  if (a->overlap == TF_OVERLAP_PERFECT || !v->n_slices)
    return a->overlap == TF_OVERLAP_NONE ? child : more(child, busy);
  double wait = moves_words(m, v) ? mem->latency + mem->issue : 0;
  if (a->overlap == TF_OVERLAP_NONE)
    return child + in_turn(m, v, paces) + wait * (double)m->steps[n];
  return more(stepwise(m, n, paces, child) + wait, busy);
}

/* How the times of a scope's children combine: by their sum, or by the longest. */
static bool at_once(const tf_node *t) {
  return t->kind == TF_SCOPE && (t->scope == TF_PARA || t->scope == TF_PIPE);
}

/* What children that follow one another hide: the first load of one behind the last step of the one before. */
static double hidden(struct tf_model *m, int n) {
  const tf_node *t = &m->plan->tree->nodes[n];
  double sum = 0;
  for (int c = 1; c < t->n_children && m->by_steps; c++) {
    double load = m->heads[t->children[c]].first_load, work = m->heads[t->children[c - 1]].work;
    sum += load < work ? load : work;
  }
  m->heads[n] = m->heads[t->children[0]];
  return sum;
}

/* What the ops below a node ask of units of kind u: points of those that are open, units of those that are not. */
typedef struct {
  double points, taken;
} demand;

static demand demand_of(const struct tf_model *m, int n, int u) {
  const tf_node *t = &m->plan->tree->nodes[n];
  demand all = {0, 0};
  if (t->kind == TF_OP) {
    const tf_op_result *r = &m->res.ops[t->op];
    if (r->unit != u)
      return all;
    return m->open->node[n] ? (demand){(double)r->points, 0} : (demand){0, (double)r->units};
  }
  for (int c = 0; c < t->n_children; c++) {
    demand k = demand_of(m, t->children[c], u);
    all.points += k.points;
    all.taken = at_once(t) ? all.taken + k.taken : more(all.taken, k.taken);
  }
  return all;
}

/* Children that run at once share the units: those that are open have what the others leave. */
static double shared_units_time(const struct tf_model *m, int n) {
  double t = 0;
  for (int u = 0; u < m->plan->arch->n_units && m->open->all; u++) {
    demand d = {0, 0};
    for (int c = 0; c < m->plan->tree->nodes[n].n_children; c++) {
      demand k = demand_of(m, m->plan->tree->nodes[n].children[c], u);
      d.points += k.points;
      d.taken += k.points > 0 ? 0 : k.taken; /* a child with open ops may take turns on what its others have */
    }
    if (d.points > 0)
      t = more(t, d.taken < m->open->all[u]
                      ? d.points / ((m->open->all[u] - d.taken) * m->plan->arch->units[u].rate)
                      : INFINITY);
  }
  return t;
}

/* No completion of what stands at and below node n takes less: its ops on all the units they can have, and nothing
 * moved.  A Tile takes no less than its child, whatever it moves; Seq and Shar hide no more of a child than its first
 * load, which comes on top of its child's time; of Para's and Pipe's children the longest counts, and all of them
 * need their units at once. */
static double least_time(const struct tf_model *m, int n) {
  const tf_node *t = &m->plan->tree->nodes[n];
  double sum = 0, most = 0;
  if (t->kind == TF_OP) {
    const tf_op_result *r = &m->res.ops[t->op];
    double busy = (double)r->points / (m->open->units[t->op] * m->plan->arch->units[r->unit].rate);
    return m->open->time ? more(busy, m->open->time[t->op]) : busy;
  }
  for (int c = 0; c < t->n_children; c++) {
    double k = least_time(m, t->children[c]);
    sum += k;
    most = more(most, k);
  }
  return at_once(t) ? more(most, shared_units_time(m, n)) : sum;
}

static double node_time(struct tf_model *m, int n) {
  const tf_node *t = &m->plan->tree->nodes[n];
  double sum = 0, most = 0, time;
  bool open = m->open && m->open->node[n];
  for (int c = 0; c < t->n_children && !open; c++) {
    double k = node_time(m, t->children[c]);
    sum += k;
    most = more(most, k);
  }
  m->heads[n] = (tf_head){0, 0};
  if (open)
    time = least_time(m, n);
  else if (t->kind == TF_OP)
    time = op_time(m, n);
  else if (t->kind == TF_TILE)
    time = tile_time(m, n, sum);
  else if (!at_once(t))
    time = sum - hidden(m, n);
  else
    time = (m->open ? more(most, shared_units_time(m, n)) : most) +
           (t->scope == TF_PIPE && m->steps[n] ? (sum - most) / (double)m->steps[n] : 0);
  m->res.nodes[n].cycles = time;
  return time;
}

/* Units of a kind in use at once below a node, and the time they cannot do without. */
typedef struct {
  int64_t units;
  double cycles;
} load;

static load op_load(const struct tf_model *m, int o, int u) {
  const tf_op_result *r = &m->res.ops[o];
  if (r->unit != u || !r->units)
    return (load){0, 0};
  return (load){r->units, (double)r->points / ((double)r->units * m->plan->arch->units[u].rate)};
}

static load together(load a, load b) {
  return (load){a.units + b.units, more(a.cycles, b.cycles)};
}

static load in_order(load a, load b) {
  return (load){a.units > b.units ? a.units : b.units, a.cycles + b.cycles};
}

static load unit_load(const struct tf_model *m, int n, int u) {
  const tf_node *t = &m->plan->tree->nodes[n];
  if (t->kind == TF_OP)
    return op_load(m, t->op, u);
  load all = {0, 0};
  for (int c = 0; c < t->n_children; c++) {
    load k = unit_load(m, t->children[c], u);
    all = at_once(t) ? together(all, k) : in_order(all, k);
  }
  return all;
}

/* The same where all scopes run their children in order. */
static load serial_load(const struct tf_model *m, int u) {
  load all = {0, 0};
  for (int o = 0; o < m->plan->wl->n_ops; o++)
    all = in_order(all, op_load(m, o, u));
  return all;
}

/* The largest time so far, and what it is the time of. */
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
      r->points += m->res.ops[o].unit == u ? m->res.ops[o].points : 0;
    if (r->cycles > top->most)
      *top = (limit){r->cycles, m->views->unit_name[u]};
  }
}

/* The busiest port of every level and what the units need: the largest names the bottleneck. */
static void bottleneck(struct tf_model *m, tf_result *out) {
  const tf_plan *p = m->plan;
  limit top = {-1, ""};
  unit_times(m, &top);
  for (int l = 0; l < p->arch->n_memories; l++) {
    const tf_memory *mem = &p->arch->memories[l];
    const double *k = &m->views->ratio[l * p->wl->n_tensors];
    tf_ports w = {0, 0};
    for (int z = 0; z < p->wl->n_tensors; z++) {
      const tf_counts *c = &m->res.counts[l * p->wl->n_tensors + z];
      w.read += (double)(c->read + c->drain) * k[z];
      w.write += (double)(c->fill + c->update) * k[z];
    }
    double t = port_time(pace_of(mem, (double)m->res.levels[l].instances), w);
    m->res.levels[l].cycles = t;
    bool writes = mem->one_port ? w.read < w.write : w.read / mem->read_bw < w.write / mem->write_bw;
    if (t > top.most)
      top = (limit){t, m->views->port_name[2 * l + writes]};
  }
  memcpy(out->bottleneck, top.name, strlen(top.name) + 1);
}

/* Instances of memory l in use at once below node n. */
static int64_t in_use(const struct tf_model *m, int n, int l) {
  const tf_node *t = &m->plan->tree->nodes[n];
  if (t->kind == TF_OP || (t->kind == TF_TILE && t->level >= l))
    return t->kind == TF_TILE && t->level == l ? m->width[n] : 0;
  int64_t most = 0, sum = 0;
  for (int c = 0; c < t->n_children; c++) {
    int64_t k = in_use(m, t->children[c], l);
    most = most > k ? most : k;
    sum += k;
  }
  return at_once(t) && !tf_shared_instance(m->views, n, l) ? sum : most;
}

static void level_instances(struct tf_model *m) {
  const tf_tree *t = m->plan->tree;
  for (int l = 0; l < m->plan->arch->n_memories; l++) {
    int64_t n = m->views->splits ? in_use(m, 0, l) : 1;
    m->res.levels[l].instances = n > 1 ? n : 1;
  }
  for (int n = 0; n < t->n_nodes && !m->views->splits; n++)
    if (t->nodes[n].kind == TF_TILE && m->views->node[n].legs[0].inst == n &&
        m->width[n] > m->res.levels[t->nodes[n].level].instances)
      m->res.levels[t->nodes[n].level].instances = m->width[n];
}

void tf_latency(struct tf_model *m, tf_result *out) {
  level_instances(m);
  out->cycles = node_time(m, 0);
  out->seconds = out->cycles / m->plan->arch->clock_hz;
  bottleneck(m, out);
}
