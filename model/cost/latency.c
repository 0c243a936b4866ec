/* Latency of every node over all its executions (model.md section 5; thesis Eq. 3.22; DECISIONS 15). */
#include <math.h>
#include <stdio.h>

#include "model/cost/state.h"

/* Words through the two ports of one memory, and the instances that share them. */
typedef struct {
  double read, write;
} ports;

static double more(double a, double b) {
  return a > b ? a : b;
}

static double port_time(const tf_memory *mem, ports w, double instances) {
  double n = instances > 1 ? instances : 1;
  if (mem->one_port)
    return isinf(mem->read_bw) ? 0 : (w.read + w.write) / (n * mem->read_bw);
  double r = isinf(mem->read_bw) ? 0 : w.read / (n * mem->read_bw);
  double u = isinf(mem->write_bw) ? 0 : w.write / (n * mem->write_bw);
  return more(r, u);
}

/* A tensor narrower than the memory's word moves less. */
static double scale(const tf_plan *p, const tf_slice *s, int level) {
  return (double)p->wl->tensors[s->tensor].word_bits / p->arch->memories[level].word_bits;
}

/* Instances of memory `level` in use on the path to node n. */
static double instances(const struct tf_model *m, int n, int level) {
  int t = tf_plan_mtile(m->plan, n, level);
  return t < 0 ? 1 : (double)m->width[t];
}

static double op_time(struct tf_model *m, int n) {
  const tf_plan *p = m->plan;
  int o = p->tree->nodes[n].op;
  tf_op_result *r = &m->res.ops[o];
  const tf_unit *u = &p->arch->units[r->unit];
  double t = r->units ? (double)r->points / ((double)r->units * u->rate) : 0;
  for (int l = 0; l < p->arch->n_memories; l++) {
    ports w = {0, 0};
    for (int i = 0; i <= p->wl->ops[o].n_reads; i++) {
      const tf_slice *s = &p->slices[p->op_slice[o] + i];
      if (s->above != l)
        continue;
      w.read += (double)m->moves[p->op_slice[o] + i].read * scale(p, s, l);
      w.write += (double)m->moves[p->op_slice[o] + i].update * scale(p, s, l);
    }
    t = more(t, port_time(&p->arch->memories[l], w, instances(m, n, l)));
  }
  r->cycles = t;
  return t;
}

/* Everything nodes below n cause at memory `level`, and its own fills and drains. */
static ports own_ports(const struct tf_model *m, int n, int level) {
  const tf_plan *p = m->plan;
  ports w = {0, 0};
  for (int i = 0; i < p->n_slices; i++) {
    const tf_slice *s = &p->slices[i];
    double k = scale(p, s, level);
    if (s->above == level && tf_plan_above(p, n, s->node)) {
      w.read += (double)m->moves[i].read * k;
      w.write += (double)m->moves[i].update * k;
    }
    if (s->node == n && !s->leaf) {
      w.read += (double)m->moves[i].drain * k;
      w.write += (double)m->moves[i].fill * k;
    }
  }
  return w;
}

/* Time of what tile n loads and stores; a share of it, as fractions of all its words. */
typedef struct {
  double load, store;
} transfer;

static transfer transfers(const struct tf_model *m, int n) {
  const tf_plan *p = m->plan;
  transfer t = {0, 0};
  int level = p->tree->nodes[n].level;
  ports own = {0, 0};
  for (int l = 0; l < level; l++) {
    ports w = {0, 0};
    for (int i = 0; i < p->n_tile_slices; i++) {
      const tf_slice *s = &p->slices[i];
      if (s->node != n || s->above != l)
        continue;
      w.read += (double)m->moves[i].read * scale(p, s, l);
      w.write += (double)m->moves[i].update * scale(p, s, l);
      own.read += (double)m->moves[i].drain * scale(p, s, level);
      own.write += (double)m->moves[i].fill * scale(p, s, level);
    }
    double inst = instances(m, n, l);
    t.load = more(t.load, port_time(&p->arch->memories[l], (ports){w.read, 0}, inst));
    t.store = more(t.store, port_time(&p->arch->memories[l], (ports){0, w.write}, inst));
  }
  double inst = instances(m, n, level);
  t.load = more(t.load, port_time(&p->arch->memories[level], (ports){0, own.write}, inst));
  t.store = more(t.store, port_time(&p->arch->memories[level], (ports){own.read, 0}, inst));
  return t;
}

/* Times of all ports a tile needs, over the totals. */
static double total_ports(const struct tf_model *m, int n) {
  const tf_plan *p = m->plan;
  int level = p->tree->nodes[n].level;
  double t = port_time(&p->arch->memories[level], own_ports(m, n, level), instances(m, n, level));
  for (int l = 0; l < level; l++) {
    ports w = {0, 0};
    for (int i = 0; i < p->n_tile_slices; i++) {
      const tf_slice *s = &p->slices[i];
      if (s->node != n || s->above != l)
        continue;
      w.read += (double)m->moves[i].read * scale(p, s, l);
      w.write += (double)m->moves[i].update * scale(p, s, l);
    }
    t = more(t, port_time(&p->arch->memories[l], w, instances(m, n, l)));
  }
  return t;
}

/* Share of tile n's entering words that enter in the step class of path position `carry`
 * (-1: the first step). */
static double class_share(const struct tf_model *m, int n, int carry, double steps) {
  const tf_plan *p = m->plan;
  double words = 0, all = 0;
  for (int i = 0; i < p->n_tile_slices; i++) {
    const tf_slice *s = &p->slices[i];
    if (s->node != n)
      continue;
    int hit = s->n_class - 1;
    for (int c = 0; c < s->n_class; c++) {
      all += (double)m->class_words[m->class_first[i] + c];
      if (carry >= 0 && s->classes[c].carry == carry)
        hit = c;
    }
    double w = (double)m->class_words[m->class_first[i] + hit];
    if (s->classes[hit].carry < 0 && s->classes[hit].zero_from > 0) {
      double runs = 1;
      for (int k = 0; k < s->classes[hit].zero_from; k++)
        if (p->loops[p->path[n].loops[k]].axis == TF_TEMPORAL)
          runs *= (double)m->run.trip[p->path[n].loops[k]];
      w *= steps / more(runs, steps);
    } else if (s->classes[hit].carry < 0 && carry >= 0) {
      w = 0;
    }
    words += w;
  }
  return all > 0 ? words / all : 0;
}

/* Steps of tile n in which the temporal loop at path position k steps on. */
static double class_steps(const struct tf_model *m, int n, int k) {
  const tf_path *path = &m->plan->path[n];
  double steps = (double)m->run.trip[path->loops[k]] - 1;
  for (int j = 0; j < k; j++)
    if (m->plan->loops[path->loops[j]].axis == TF_TEMPORAL)
      steps *= (double)m->run.trip[path->loops[j]];
  return steps;
}

/* Transfers overlap the work of the steps beside them: the maximum class by class, plus what
 * nothing hides, the first load and the last store. */
static double stepwise(const struct tf_model *m, int n, double child) {
  const tf_path *path = &m->plan->path[n];
  double steps = (double)m->steps[n], total = 0, left = steps, rest = 1;
  transfer all = transfers(m, n);
  if (steps < 1 || (all.load <= 0 && all.store <= 0))
    return child;
  double work = child / steps;
  for (int k = path->n - 1; k >= 0; k--) {
    if (m->plan->loops[path->loops[k]].axis != TF_TEMPORAL || m->run.trip[path->loops[k]] <= 1)
      continue;
    double n_k = class_steps(m, n, k);
    n_k = n_k < left - 1 ? n_k : left - 1;
    double share = class_share(m, n, k, n_k);
    share = share < rest ? share : rest;
    if (n_k < 1)
      continue;
    total += n_k * more(work, more(all.load, all.store) * share / n_k);
    left -= n_k;
    rest -= share;
  }
  double first = all.load * rest / left, last = all.store * rest / left;
  total += left * more(work, left > 1 ? more(first, last) : 0);
  return total + first + last;
}

static double tile_time(const struct tf_model *m, int n, double child) {
  const tf_arch *a = m->plan->arch;
  const tf_memory *mem = &a->memories[m->plan->tree->nodes[n].level];
  double ports_busy = total_ports(m, n), wait = mem->latency + mem->issue;
  transfer t = transfers(m, n);
  bool moves = t.load > 0 || t.store > 0;
  switch (a->overlap) {
  case TF_OVERLAP_PERFECT:
    return more(child, ports_busy);
  case TF_OVERLAP_NONE:
    return child + t.load + t.store + (moves ? wait * (double)m->steps[n] : 0);
  default:
    return more(stepwise(m, n, child) + (moves ? wait : 0), ports_busy);
  }
}

static double node_time(struct tf_model *m, int n) {
  const tf_node *t = &m->plan->tree->nodes[n];
  double sum = 0, most = 0, time = 0;
  if (t->kind == TF_OP) {
    time = op_time(m, n);
    const tf_unit *u = &m->plan->arch->units[m->res.ops[t->op].unit];
    if (m->plan->arch->overlap != TF_OVERLAP_PERFECT)
      time += u->pipeline;
  }
  for (int c = 0; c < t->n_children; c++) {
    double k = node_time(m, t->children[c]);
    sum += k;
    most = more(most, k);
  }
  if (t->kind == TF_TILE)
    time = tile_time(m, n, sum);
  else if (t->kind == TF_SCOPE && t->scope == TF_PARA)
    time = most;
  else if (t->kind == TF_SCOPE && t->scope == TF_PIPE)
    time = most + (m->steps[n] ? (sum - most) / (double)m->steps[n] : 0);
  else if (t->kind == TF_SCOPE)
    time = sum;
  m->res.nodes[n].cycles = time;
  return time;
}

/* The busiest port of every level and what the units need: the largest names the bottleneck. */
static void bottleneck(struct tf_model *m, tf_result *out) {
  const tf_plan *p = m->plan;
  double most = -1;
  for (int u = 0; u < p->arch->n_units; u++) {
    tf_unit_result *r = &m->res.units[u];
    *r = (tf_unit_result){0};
    for (int o = 0; o < p->wl->n_ops; o++) {
      const tf_op_result *op = &m->res.ops[o];
      if (op->unit != u || !op->units)
        continue;
      r->points += op->points;
      r->units = r->units > op->units ? r->units : op->units;
      r->cycles += (double)op->points / ((double)op->units * p->arch->units[u].rate);
    }
    if (r->cycles > most) {
      most = r->cycles;
      snprintf(out->bottleneck, sizeof out->bottleneck, "%.40s compute", p->arch->units[u].name);
    }
  }
  for (int l = 0; l < p->arch->n_memories; l++) {
    const tf_memory *mem = &p->arch->memories[l];
    ports w = {0, 0};
    for (int z = 0; z < p->wl->n_tensors; z++) {
      const tf_counts *c = &m->res.counts[l * p->wl->n_tensors + z];
      double k = (double)p->wl->tensors[z].word_bits / mem->word_bits;
      w.read += (double)(c->read + c->drain) * k;
      w.write += (double)(c->fill + c->update) * k;
    }
    double t = port_time(mem, w, (double)m->res.levels[l].instances);
    bool reads = mem->one_port ? w.read >= w.write
                               : isinf(mem->write_bw) || w.read / mem->read_bw >= w.write / mem->write_bw;
    m->res.levels[l].cycles = t;
    if (t > most) {
      most = t;
      snprintf(out->bottleneck, sizeof out->bottleneck, "%.40s %s", mem->name,
               reads ? "read" : "write");
    }
  }
}

void tf_latency(struct tf_model *m, tf_result *out) {
  const tf_plan *p = m->plan;
  for (int l = 0; l < p->arch->n_memories; l++) {
    int64_t most = 1;
    for (int n = 0; n < p->tree->n_nodes; n++)
      if (p->tree->nodes[n].kind == TF_TILE && p->tree->nodes[n].level == l &&
          tf_plan_mtile(p, n, l) == n && m->width[n] > most)
        most = m->width[n];
    m->res.levels[l].instances = most;
  }
  out->cycles = node_time(m, 0);
  out->seconds = out->cycles / p->arch->clock_hz;
  bottleneck(m, out);
}
