/* A timeline: when each step of a tree loads, works and stores; the terms of latency.c placed in
 * time. */
#include "tileflow/trace.h"

#include <limits.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/locale.h"
#include "base/names.h"
#include "model/cost/state.h"

typedef struct {
  struct tf_model *m;
  tf_trace *out;
  bool failed;
  int64_t *cur; /* [n_loops] settings of the temporal loops */
} tracer;

/* A time span in which a node does a `share` of all its work. */
typedef struct {
  double begin, end, share;
} span;

static double more(double a, double b) { return a > b ? a : b; }

static double part(double whole, const span *in) { return in->share > 0 ? whole / in->share : 0; }

static void add_interval(tracer *t, tf_interval x) {
  tf_trace *out = t->out;
  if (t->failed || x.end <= x.begin || x.words <= 0) return;
  t->failed = out->n == INT_MAX || !TF_GROW(out->at, out->n);
  if (!t->failed) out->at[out->n++] = x;
}

/* ---- words that pass ------------------------------------------------------------------------- */

/* Words of all instances per word of the busiest one, among those that the node's own slices
 * move. */
static tf_ports instances(const struct tf_model *m, int node, int at) {
  const tf_views *w = m->views;
  tf_ports all = {0, 0}, one = {0, 0};
  for (int i = 0; i < m->plan->n_slices; i++) {
    const tf_move *v = &m->moves[i];
    const tf_flow *f = &m->flows[i];
    if (m->plan->slices[i].node != node) continue;
    if (w->up_pass[i] == at) {
      all = (tf_ports){all.read + (double)v->read * w->up[i],
                       all.write + (double)v->update * w->up[i]};
      one = (tf_ports){one.read + f->read * w->up[i], one.write + f->update * w->up[i]};
    }
    if (w->own_pass[i] == at) {
      all = (tf_ports){all.read + (double)v->drain * w->own[i],
                       all.write + (double)v->fill * w->own[i]};
      one = (tf_ports){one.read + f->drain * w->own[i], one.write + f->fill * w->own[i]};
    }
  }
  return (tf_ports){one.read > 0 ? all.read / one.read : 1,
                    one.write > 0 ? all.write / one.write : 1};
}

/* Adds the words that pass a memory's ports within a span: loads from its beginning, stores up to
 * its end, neither for longer than the span.  w: of the busiest instance, which determines the
 * time; words of all instances are shown. */
static void pass(tracer *t, int node, int level, int at, tf_ports w, bool inner, const span *in) {
  const tf_ports all = instances(t->m, node, at);
  const tf_port_rate rate = tf_port_rate_at(t->m, at);
  const double load = tf_port_time(rate, inner ? (tf_ports){0, w.write} : (tf_ports){w.read, 0});
  const double store = tf_port_time(rate, inner ? (tf_ports){w.read, 0} : (tf_ports){0, w.write});
  const double whole = in->end - in->begin;
  tf_interval x = {
      TF_TRACE_LOAD, level, -1, node, -1, in->begin, in->begin + (load < whole ? load : whole), 0};
  x.words = inner ? w.write * all.write : w.read * all.read;
  add_interval(t, x);
  x.kind = TF_TRACE_STORE;
  x.begin = store < whole ? in->end - store : in->begin;
  x.end = in->end;
  x.words = inner ? w.read * all.read : w.write * all.write;
  add_interval(t, x);
}

static tf_ports scaled(tf_ports w, double by) { return (tf_ports){w.read * by, w.write * by}; }

/* Adds all that a Tile moves, times the share of the span. */
static void pass_all(tracer *t, int n, const span *in) {
  const tf_view *v = &t->m->views->node[n];
  for (int l = 0; l < v->n_legs && in->share > 0; l++)
    pass(t, n, v->legs[l].level, v->legs[l].pass, scaled(tf_leg_ports(t->m, v, l), 1 / in->share),
         l == 0, in);
}

/* ---- words held ------------------------------------------------------------------------------ */

static void hold(tracer *t, int node, int level, int z, double words, const span *in) {
  const double width =
      (double)t->m->plan->wl->tensors[z].word_bits / t->m->plan->arch->memories[level].word_bits;
  add_interval(t,
               (tf_interval){TF_TRACE_HOLD, level, -1, node, z, in->begin, in->end, words * width});
}

static void hold_slices(tracer *t, int n, const span *in) {
  const tf_view *v = &t->m->views->node[n];
  for (int i = v->first; i < v->first + v->n_slices; i++) {
    const tf_slice *s = &t->m->plan->slices[i];
    const int times = t->m->plan->arch->memories[s->level].double_buffered ? 2 : 1;
    hold(t, n, s->level, s->tensor, (double)t->m->box[i] * times, in);
  }
}

/* Adds the tensors whose home scope is n; for n = 0 also those that are at home all the time. */
static void hold_homes(tracer *t, int n, const span *in) {
  const tf_plan *p = t->m->plan;
  for (int z = 0; z < p->wl->n_tensors; z++) {
    const int level = p->home_level[z];
    const bool here = level == 0 || p->home_scope[z] < 0 ? n == 0 : p->home_scope[z] == n;
    if (here) hold(t, n, level, z, (double)t->m->res.counts[level * p->wl->n_tensors + z].peak, in);
  }
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void place_node(tracer *t, int n, const span *in);

/* Time of node n in the span; if one run is shown by itself, of this run. */
static double time_of(tracer *t, int n, const span *in);

static void place_op(tracer *t, int n, const span *in) {
  const struct tf_model *m = t->m;
  const tf_op_result *r = &m->res.ops[m->plan->tree->nodes[n].op];
  const tf_view *v = &m->views->node[n];
  const double work = part(tf_work_time(m, m->plan->tree->nodes[n].op), in),
               all = in->end - in->begin;
  const double points = part((double)r->points + (double)r->corrections, in);
  add_interval(t, (tf_interval){TF_TRACE_WORK, -1, r->unit, n, -1, in->begin,
                                in->begin + (work < all ? work : all), points});
  for (int i = v->first_pass; i < v->first_pass + v->n_passes && in->share > 0; i++)
    pass(t, n, m->views->passes[i].level, i, scaled(m->below[i], 1 / in->share), false, in);
}

/* Places children one after another, each in proportion to its time; or all at the beginning. */
static void place_scope(tracer *t, int n, const span *in) {
  const tf_node *node = &t->m->plan->tree->nodes[n];
  const bool at_once = tf_plan_at_once(node);
  double sum = 0, at = in->begin;
  for (int c = 0; c < node->n_children; c++)
    sum = at_once ? more(sum, time_of(t, node->children[c], in))
                  : sum + time_of(t, node->children[c], in);
  const double scale = sum > 0 ? (in->end - in->begin) / sum : 0;
  for (int c = 0; c < node->n_children; c++) {
    const double end = at + time_of(t, node->children[c], in) * scale;
    place_node(t, node->children[c], &(span){at, end < in->end ? end : in->end, in->share});
    if (!at_once) at = end;
  }
}

/* ---- runs of a Tile ------------------------------------------------------------------------- */

/* A run of a Tile: loads before its work, transfers during it, and stores after it. */
typedef struct {
  double before, time, after;
  double work; /* of the child, over the Tile's loops; may be less than `time` */
  int row;     /* row of its words in the Tile's table; -1: an equal share of all */
  bool stores; /* it stores, during the work or after it */
} run;

static bool by_steps(const tracer *t, int n) {
  return t->m->by_steps && t->m->views->node[n].n_slices;
}

/* The row of the current run: that of the innermost loop above that is not at its start; the last
 * row is the first run. */
static int row_of(const tracer *t, int n) {
  const tf_view *v = &t->m->views->node[n];
  int row = 0;
  while (row < v->n_rows - 1 && t->cur[v->row_loop[row]] == 0)
    row++;
  return row;
}

static bool last_of_all(const tracer *t, int n) {
  const tf_view *v = &t->m->views->node[n];
  bool last = true;
  for (int j = 0; j < v->n_rows - 1; j++)
    last &= t->cur[v->row_loop[j]] + 1 >= t->m->ev.trip[v->row_loop[j]];
  return last;
}

static int64_t trips_of(const tracer *t, int n) {
  const tf_node *node = &t->m->plan->tree->nodes[n];
  int64_t all = 1;
  for (int l = 0; l < node->n_temporal; l++)
    all *= t->m->ev.trip[t->m->plan->first_loop[n] + l];
  return all;
}

/* Runs of a node that are shown: settings of the loops above it, those included that pass an end
 * and do not happen.  All have the same share of what it does. */
static double shown(const tracer *t, int n) {
  const tf_tree *tree = t->m->plan->tree;
  double all = 1;
  for (int at = tree->nodes[n].parent; at >= 0; at = tree->nodes[at].parent)
    all *= (double)trips_of(t, at);
  return all;
}

/* Of these, the runs of a row. */
static double shown_of_row(const tracer *t, int n, int row) {
  const tf_view *v = &t->m->views->node[n];
  double all = 1;
  for (int j = row; j < v->n_rows - 1; j++)
    all *= (double)(t->m->ev.trip[v->row_loop[j]] - (j == row));
  return all;
}

static tf_ports leg_words(const tracer *t, int n, int row, int leg) {
  const tf_view *v = &t->m->views->node[n];
  const double runs = row < 0 ? shown(t, n) : shown_of_row(t, n, row);
  if (runs <= 0) return (tf_ports){0, 0};
  return scaled(row < 0 ? tf_leg_ports(t->m, v, leg) : t->m->cells[v->cell + row * v->n_legs + leg],
                1 / runs);
}

/* The longest times of a run's words at any port: of loads, of stores, of both together. */
static void leg_times(const tracer *t, int n, int row, double *load, double *store, double *both) {
  const tf_view *v = &t->m->views->node[n];
  *load = *store = *both = 0;
  for (int l = 0; l < v->n_legs; l++) {
    const tf_port_rate rate = tf_port_rate_at(t->m, v->legs[l].pass);
    const tf_ports w = leg_words(t, n, row, l);
    const double read = tf_port_time(rate, (tf_ports){w.read, 0}),
                 write = tf_port_time(rate, (tf_ports){0, w.write});
    *load = more(*load, l ? read : write);
    *store = more(*store, l ? write : read);
    *both = more(*both, tf_port_time(rate, w));
  }
}

static void set_step(tracer *t, int n, int64_t k) {
  for (int l = t->m->plan->tree->nodes[n].n_temporal - 1; l >= 0; l--) {
    const int loop = t->m->plan->first_loop[n] + l;
    t->cur[loop] = k % t->m->ev.trip[loop];
    k /= t->m->ev.trip[loop];
  }
}

/* Whether runs of the Tile's child are shown one by one. */
static bool opens(const tracer *t, int n) {
  return shown(t, t->m->plan->tree->nodes[n].children[0]) <= (double)t->out->most;
}

/* Places the child in each step of the Tile's loops, one after another from `begin` on, each for
 * `scale` times its time; scale 0: nothing is placed.  Returns their total time. */
static double place_steps(tracer *t, int n, double begin, double scale) {
  const int child = t->m->plan->tree->nodes[n].children[0];
  const bool apart = opens(t, n);
  const double share = shown(t, apart ? child : n);
  double sum = 0;
  for (int64_t k = 0; k < (apart ? trips_of(t, n) : 1) && !t->failed; k++) {
    set_step(t, n, k);
    span in = {begin + sum * scale, 0, share};
    const double one = time_of(t, child, &in);
    in.end = in.begin + one * scale;
    if (scale > 0) place_node(t, child, &in);
    sum += one;
  }
  set_step(t, n, 0);
  t->out->whole &= apart;
  return sum;
}

/* The current run by the rules of latency.c: transfers during the previous run's work
 * (double-buffer), except for the first load and the last store; all at once (perfect); or one
 * after another (none). */
static run run_of(tracer *t, int n) {
  const double work = place_steps(t, n, 0, 0);
  const int row = by_steps(t, n) ? row_of(t, n) : -1, first = t->m->views->node[n].n_rows - 1;
  double load, store, both, end = 0, unused;
  leg_times(t, n, row, &load, &store, &both);
  if (by_steps(t, n) && last_of_all(t, n)) leg_times(t, n, first, &unused, &end, &unused);
  if (row == first) return (run){load, work, end, work, row, false};
  if (t->m->plan->arch->overlap == TF_OVERLAP_NONE)
    return (run){load, work, store, work, row, true};
  return (run){0, more(work, both), end, work, row, true};
}

static double length(const run *r) { return r->before + r->time + r->after; }

/* Words of a row that the current run loads or stores. */
static void pass_row(tracer *t, int n, int row, bool loads, bool stores, const span *in) {
  const tf_view *v = &t->m->views->node[n];
  for (int l = 0; l < v->n_legs; l++) {
    tf_ports w = leg_words(t, n, row, l);
    if (!loads) *(l ? &w.read : &w.write) = 0;
    if (!stores) *(l ? &w.write : &w.read) = 0;
    pass(t, n, v->legs[l].level, v->legs[l].pass, w, l == 0, in);
  }
}

/* Places one run, stretched to the span. */
static void place_run(tracer *t, int n, const span *in) {
  const run r = run_of(t, n);
  const double whole = length(&r), scale = whole > 0 ? (in->end - in->begin) / whole : 0;
  const double start = in->begin + r.before * scale, tail = in->end - r.after * scale;
  const bool apart =
      by_steps(t, n) && last_of_all(t, n); /* the last store has the words of the first run */
  pass_row(t, n, r.row, true, r.stores, &(span){in->begin, apart ? tail : in->end, 1});
  if (apart)
    pass_row(t, n, t->m->views->node[n].n_rows - 1, false, true, &(span){tail, in->end, 1});
  if (scale > 0) place_steps(t, n, start, scale);
}

/* Whether the span is one run of the node. */
static bool one_run(const tracer *t, int n, const span *in) {
  const double runs = shown(t, n);
  return in->share >= runs && in->share <= runs;
}

static double time_of(tracer *t, int n, const span *in) {
  const tf_node *node = &t->m->plan->tree->nodes[n];
  if (node->kind == TF_TILE && one_run(t, n, in)) {
    const run r = run_of(t, n);
    return length(&r);
  }
  if (node->kind != TF_SCOPE) return part(t->m->res.nodes[n].cycles, in);
  double time = 0;
  for (int c = 0; c < node->n_children; c++) {
    const double one = time_of(t, node->children[c], in);
    time = tf_plan_at_once(node) ? more(time, one) : time + one;
  }
  return time;
}

static void place_tile(tracer *t, int n, const span *in) {
  const int child = t->m->plan->tree->nodes[n].children[0];
  hold_slices(t, n, in);
  if (one_run(t, n, in)) {
    place_run(t, n, in);
    return;
  }
  t->out->whole = false;
  pass_all(t, n, in);
  const double end = in->begin + time_of(t, child, in);
  place_node(t, child, &(span){in->begin, end < in->end ? end : in->end, in->share});
}

static void place_node(tracer *t, int n, const span *in) {
  const tf_node *node = &t->m->plan->tree->nodes[n];
  if (n == 0 || node->kind == TF_SCOPE) hold_homes(t, n, in);
  if (node->kind == TF_OP)
    place_op(t, n, in);
  else if (node->kind == TF_TILE)
    place_tile(t, n, in);
  else
    place_scope(t, n, in);
}

tf_trace *tf_trace_of(tf_model *m, int64_t most, tf_diags *d) {
  TF_IN_C_LOCALE;
  tf_result r;
  const tf_loc at = m->plan->tree->nodes[0].at;
  if (!tf_model_eval(m, NULL, &r)) {
    tf_fail(d, at, TF_E_OVERFLOW, "the mapping cannot be counted");
    return NULL;
  }
  tracer t = {.m = m->as_bare ? m->bare : m,
              .out = calloc(1, sizeof *t.out),
              .cur = calloc((size_t)m->plan->n_loops + 1, sizeof *t.cur)};
  t.failed = !t.out || !t.cur;
  if (!t.failed) {
    t.out->most = most;
    t.out->cycles = r.cycles;
    t.out->whole = true;
    place_node(&t, 0, &(span){0, r.cycles, 1});
  }
  free(t.cur);
  if (!t.failed) return t.out;
  tf_trace_free(t.out);
  tf_out_of_memory_at(d, at);
  return NULL;
}

void tf_trace_free(tf_trace *t) {
  if (t) free(t->at);
  free(t);
}

const char *tf_trace_key(tf_trace_kind kind) {
  static const char *const keys[] = {TF_TRACES(TF_NAME_ROW)};
  return keys[kind];
}
