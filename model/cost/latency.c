/* Latency of every node over all its executions (model.md section 5; thesis Eq. 3.22; DECISIONS 15). */
#include <string.h>

#include "model/cost/state.h"

static double more(double a, double b) {
  return a > b ? a : b;
}

static double port_time(const tf_memory *mem, tf_ports w, double instances) {
  if (mem->one_port)
    return (w.read + w.write) / (instances * mem->read_bw);
  return more(w.read / mem->read_bw, w.write / mem->write_bw) / instances;
}

/* Instances of a leg's memory in use on the path. */
static double instances(const struct tf_model *m, const tf_leg *leg) {
  return leg->inst < 0 || m->width[leg->inst] < 1 ? 1 : (double)m->width[leg->inst];
}

static double leg_time(const struct tf_model *m, const tf_leg *leg, tf_ports w) {
  return port_time(&m->plan->arch->memories[leg->level], w, instances(m, leg));
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
    t = more(t, leg_time(m, &v->legs[l], w));
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

/* Times of all ports a tile needs, over the totals; `none`: loads and stores one after the other. */
typedef struct {
  double busy, load, store;
} totals;

static totals total_ports(const struct tf_model *m, const tf_view *v) {
  totals t = {0, 0, 0};
  for (int l = 0; l < v->n_legs; l++) {
    tf_ports w = entries(m, v, l), in = {w.read, 0}, out = {0, w.write};
    if (l == 0)
      in = (tf_ports){0, w.write}, out = (tf_ports){w.read, 0};
    t.load = more(t.load, leg_time(m, &v->legs[l], in));
    t.store = more(t.store, leg_time(m, &v->legs[l], out));
    t.busy = more(t.busy, leg_time(m, &v->legs[l], l ? w : own_ports(m, v, w)));
  }
  return t;
}

/* The longest leg of row j; only its loads or its stores where asked. */
static double row_time(const struct tf_model *m, const tf_view *v, int j, bool loads, bool stores) {
  double t = 0;
  for (int l = 0; l < v->n_legs; l++) {
    tf_ports w = m->cells[v->cell + j * v->n_legs + l];
    if (l == 0 ? !stores : !loads)
      w.read = 0;
    if (l == 0 ? !loads : !stores)
      w.write = 0;
    t = more(t, leg_time(m, &v->legs[l], w));
  }
  return t;
}

/* While a step works, the next one's words are loaded and those of the one before are stored: the maximum, class
 * by class, plus what nothing hides, the first load and the last store. */
static double stepwise(const struct tf_model *m, int n, double child) {
  const tf_view *v = &m->views->node[n];
  double work = m->steps[n] > 0 ? child / (double)m->steps[n] : 0, total = work, outer = 1;
  for (int j = v->n_rows - 2; j >= 0; j--) {
    double trip = (double)m->run.trip[v->row_loop[j]];
    if (trip > 1)
      total += more((trip - 1) * outer * work, row_time(m, v, j, true, true));
    outer *= trip;
  }
  return total + row_time(m, v, v->n_rows - 1, true, false) +
         row_time(m, v, v->n_rows - 1, false, true);
}

static double tile_time(const struct tf_model *m, int n, double child) {
  const tf_arch *a = m->plan->arch;
  const tf_view *v = &m->views->node[n];
  const tf_memory *mem = &a->memories[m->plan->tree->nodes[n].level];
  totals t = total_ports(m, v);
  double wait = t.load > 0 || t.store > 0 ? mem->latency + mem->issue : 0;
  switch (a->overlap) {
  case TF_OVERLAP_PERFECT:
    return more(child, t.busy);
  case TF_OVERLAP_NONE:
    return child + t.load + t.store + wait * (double)m->steps[n];
  default:
    return more(v->n_slices ? stepwise(m, n, child) + wait : child, t.busy);
  }
}

/* How the times of a scope's children combine: by their sum, or by the longest. */
static bool at_once(const tf_node *t) {
  return t->kind == TF_SCOPE && (t->scope == TF_PARA || t->scope == TF_PIPE);
}

static double node_time(struct tf_model *m, int n) {
  const tf_node *t = &m->plan->tree->nodes[n];
  double sum = 0, most = 0, time;
  for (int c = 0; c < t->n_children; c++) {
    double k = node_time(m, t->children[c]);
    sum += k;
    most = more(most, k);
  }
  if (t->kind == TF_OP)
    time = op_time(m, n);
  else if (t->kind == TF_TILE)
    time = tile_time(m, n, sum);
  else if (!at_once(t))
    time = sum;
  else
    time = most + (t->scope == TF_PIPE && m->steps[n] ? (sum - most) / (double)m->steps[n] : 0);
  m->res.nodes[n].cycles = time;
  return time;
}

/* Units of a kind in use at once below a node, and the time they cannot do without. */
typedef struct {
  int64_t units;
  double cycles;
} load;

static load unit_load(const struct tf_model *m, int n, int u) {
  const tf_node *t = &m->plan->tree->nodes[n];
  load all = {0, 0};
  if (t->kind == TF_OP) {
    const tf_op_result *r = &m->res.ops[t->op];
    if (r->unit == u && r->units)
      all = (load){r->units, (double)r->points / ((double)r->units * m->plan->arch->units[u].rate)};
    return all;
  }
  for (int c = 0; c < t->n_children; c++) {
    load k = unit_load(m, t->children[c], u);
    if (at_once(t)) {
      all.units += k.units;
      all.cycles = more(all.cycles, k.cycles);
    } else {
      all.units = all.units > k.units ? all.units : k.units;
      all.cycles += k.cycles;
    }
  }
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
    load k = unit_load(m, 0, u);
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
    double t = port_time(mem, w, (double)m->res.levels[l].instances);
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
  for (int l = 0; l < m->plan->arch->n_memories; l++) {
    int64_t n = in_use(m, 0, l);
    m->res.levels[l].instances = n > 1 ? n : 1;
  }
}

void tf_latency(struct tf_model *m, tf_result *out) {
  level_instances(m);
  out->cycles = node_time(m, 0);
  out->seconds = out->cycles / m->plan->arch->clock_hz;
  bottleneck(m, out);
}
