/* One evaluation: chooses the quick, the general or the exact count, and derives the result from
 * it. */
#include "model/eval/hooks.h"

#include <string.h>

#include "base/locale.h"
#include "model/cost/exact/walk.h"
#include "model/cost/general/beside.h"
#include "model/cost/general/general.h"
#include "model/cost/network.h"
#include "model/cost/peers.h"
#include "model/cost/quick/even.h"
#include "model/cost/quick/uneven.h"
#include "model/cost/zeros.h"
#include "model/eval/bare.h"
#include "model/eval/lines_even.h"
#include "model/eval/lines_uneven.h"
#include "model/flow/apart.h"
#include "model/flow/layout.h"
#include "model/flow/retain.h"
#include "model/flow/skip.h"
#include "model/tree/cover.h"

/* Effort of an evaluation, in units of a quick one without partial tiles (3 us).  A quick one with
 * partial tiles counts half of its time, so that budgets in these units still reach enough mappings
 * of ranges that nothing divides; if borders cut ranges, one unit more for a number of settings of
 * loops near them, likewise at half.  The general count has a fixed part, and a unit for a number
 * of settings visited, or steps walked. */
enum {
  PARTIAL = TF_EFFORT_PARTIAL,
  CHOSEN_A_QUICK = 1,
  GENERAL_FIXED = 10,
  VISITS_A_QUICK = 48,
  WALKED_A_QUICK = 1
};

/* The most settings that the sums of one evaluation visit: about a minute.  The walk, the only
 * alternative then, also stops there. */
#define SUM_MOST (INT64_C(1) << 28)

static bool alloc_state(struct tf_model *m) {
  m->walk_max = TF_WALK_MAX;
  tf_arena *a = m->arena;
  const tf_plan *p = m->plan;
  size_t loops = (size_t)p->n_loops + 1, nodes = (size_t)p->tree->n_nodes;
  m->views = tf_views_new(a, p);
  if (!m->views) return false;
  m->cells = TF_ARRAY(a, tf_ports, (size_t)m->views->n_cells + 1);
  m->box = TF_ARRAY(a, int64_t, (size_t)p->n_tile_slices + 1);
  m->at_once = TF_ARRAY(a, int64_t, nodes);
  m->overlaps = TF_ARRAY(a, tf_overlapping, nodes);
  m->hidden = TF_ARRAY(a, tf_ports, (size_t)m->views->n_legs + 1);
  m->class_steps = TF_ARRAY(a, double, (size_t)m->views->n_rows + 1);
  m->below = TF_ARRAY(a, tf_ports, (size_t)m->views->n_passes + 1);
  m->concurrent = TF_ARRAY(a, tf_ports, (size_t)m->views->n_passes + 1);
  m->in_use = TF_ARRAY(a, int64_t, (size_t)m->views->n_passes + 1);
  m->corrections = TF_ARRAY(a, tf_correction, (size_t)p->wl->n_ops * 2);
  m->own_trip = TF_ARRAY(a, int64_t, loops);
  m->by_steps = p->arch->overlap == TF_OVERLAP_DOUBLE_BUFFER;
  for (int l = 0; m->own_trip && l < p->n_loops; l++)
    m->own_trip[l] = p->tree->nodes[p->loops[l].node].loops[p->loops[l].slot].trip;
  m->rank_len = TF_ARRAY(a, int64_t, (size_t)m->views->n_ranks + 1);
  m->home_digit = TF_ARRAY(a, int64_t, loops);
  m->home_stand = TF_ARRAY(a, bool, loops);
  m->home_slices = TF_ARRAY(a, const tf_slice *, (size_t)p->n_at_home + 1);
  m->home_words = TF_ARRAY(a, int64_t, (size_t)p->wl->n_tensors);
  m->rescaled = TF_ARRAY(a, int64_t, (size_t)p->wl->n_ops * 2);
  m->rescaled_flow = TF_ARRAY(a, double, (size_t)p->wl->n_ops * 2);
  for (int z = 0; m->home_words && z < p->wl->n_tensors; z++)
    m->home_words[z] = tf_tensor_words(&p->wl->tensors[z]);
  m->rects = TF_ARRAY(a, tf_rect, (size_t)p->wl->n_ops + 1);
  m->ev.plan = p;
  m->ev.work_most = SUM_MOST;
  m->ev.trip = TF_ARRAY(a, int64_t, loops);
  m->ev.parted = TF_ARRAY(a, bool, loops);
  m->ev.step = TF_ARRAY(a, int64_t, loops * (size_t)p->wl->n_ops);
  const bool shares = tf_shares_loops(p);
  m->ev.apart = shares ? tf_apart_new(a, p) : NULL;
  m->counted_node = TF_ARRAY(a, bool, nodes);
  m->counted = TF_ARRAY(a, bool, (size_t)(p->n_slices + p->wl->n_ops));
  m->still = TF_ARRAY(a, uint64_t, (size_t)p->n_slices + 1);
  m->moves = TF_ARRAY(a, tf_move, (size_t)p->n_slices + 1);
  m->flows = TF_ARRAY(a, tf_flow, (size_t)p->n_slices + 1);
  m->steps = TF_ARRAY(a, int64_t, nodes);
  m->width = TF_ARRAY(a, int64_t, nodes);
  m->res.counts = TF_ARRAY(a, tf_counts, (size_t)(p->arch->n_memories * p->wl->n_tensors));
  m->res.levels = TF_ARRAY(a, tf_level_result, (size_t)p->arch->n_memories);
  m->res.units = TF_ARRAY(a, tf_unit_result, (size_t)p->arch->n_units + 1);
  m->res.ops = TF_ARRAY(a, tf_op_result, (size_t)p->wl->n_ops);
  m->res.nodes = TF_ARRAY(a, tf_node_result, nodes);
  return m->cells && m->box && m->at_once && m->overlaps && m->hidden && m->class_steps &&
         m->below && m->concurrent && m->in_use && m->corrections && m->own_trip && m->rank_len &&
         m->home_digit && m->home_stand && m->home_slices && m->home_words && m->rescaled &&
         m->rescaled_flow && m->ev.trip && m->ev.parted && m->ev.step && (m->ev.apart || !shares) &&
         m->counted_node && m->counted && m->still && m->moves && m->flows && m->steps &&
         m->width && m->rects && tf_networks_prepare(m) && m->res.counts && m->res.levels &&
         m->res.units && m->res.ops && m->res.nodes;
}

static bool alloc_parts(struct tf_model *m) {
  const tf_arch *a = m->plan->arch;
  bool ok = true;
  for (int l = 0; l < a->n_memories; l++)
    if (a->memories[l].parts.n) {
      m->res.levels[l].parts = TF_ARRAY(m->arena, tf_part_result, (size_t)a->memories[l].parts.n);
      ok = ok && m->res.levels[l].parts;
    }
  return ok;
}

static bool alloc_even(struct tf_model *m) {
  bool oom;
  m->even = tf_even_new(m->arena, m->plan, &oom);
  return !oom && (!m->even || tf_even_room(m->arena, m));
}

/* NULL: the tree is too large, or memory ran out. */
static tf_model *make_model(const tf_tree *tree) {
  tf_arena *a = tf_arena_new();
  tf_model *m = a ? TF_NEW(a, tf_model) : NULL;
  if (m) {
    m->arena = a;
    m->plan = tf_plan_new(a, tree);
  }
  if (m && m->plan && alloc_state(m) && alloc_parts(m) && alloc_even(m) && tf_zeros_new(m) &&
      tf_tiles_new(m) && tf_lines_new(m))
    return m;
  tf_arena_free(a);
  return NULL;
}

tf_model *tf_model_new(const tf_tree *tree, tf_diags *d) {
  TF_IN_C_LOCALE;
  tf_model *m = make_model(tree);
  if (m) return m;
  tf_fail(d, tree->nodes[0].at, TF_E_LIMIT,
          "the mapping is too large: more than %d loops above one node, or out of memory",
          TF_MAX_PATH);
  return NULL;
}

void tf_model_free(tf_model *m) {
  if (!m) return;
  tf_each_free(m->each);
  tf_peers_free(m->peers);
  tf_model_free(m->bare);
  tf_lines_free(m->lines);
  tf_arena_free(m->arena);
}

int tf_model_n_loops(const tf_model *m) { return m->plan->n_loops; }

/* Whether every leaf is a single point. */
static bool single(tf_model *m) {
  const tf_plan *p = m->plan;
  bool ok = true;
  for (int o = 0; o < p->wl->n_ops; o++)
    for (int d = 0; d < p->wl->ops[o].n_dims; d++)
      ok &= (p->cuts ? tf_border_range(m, o, p->wl->ops[o].dims[d])
                     : tf_dim_range(&m->ev, o, p->wl->ops[o].dims[d], p->tree->op_node[o],
                                    m->scratch.zero)
                           .len) <= 1;
  return ok;
}

/* Whether the trip counts cover the ranges; in a partial mapping, whether every leaf is a single
 * point. */
static bool covered(tf_model *m) {
  return m->open ? single(m) : tf_cover_all(m->cover, m->ev.trip);
}

/* Adds the moves of every slice to the counters per level and tensor. */
static bool tally(tf_model *m) {
  const tf_plan *p = m->plan;
  int nt = p->wl->n_tensors;
  bool ok = true;
  for (int i = 0; i < p->n_slices; i++) {
    const tf_slice *s = &p->slices[i];
    const tf_move *v = &m->moves[i];
    tf_counts *up = &m->res.counts[s->above * nt + s->tensor];
    ok &= !__builtin_add_overflow(up->read, v->read, &up->read);
    ok &= !__builtin_add_overflow(up->update, v->update, &up->update);
    if (s->leaf) continue;
    tf_counts *own = &m->res.counts[s->level * nt + s->tensor];
    ok &= !__builtin_add_overflow(own->fill, v->fill, &own->fill);
    ok &= !__builtin_add_overflow(own->drain, v->drain, &own->drain);
    tf_node_result *node = &m->res.nodes[s->node];
    ok &= !__builtin_add_overflow(node->loads, v->fill, &node->loads);
    ok &= !__builtin_add_overflow(node->stores, v->drain, &node->stores);
  }
  return ok;
}

static void clear(tf_model *m, tf_result *out) {
  const tf_plan *p = m->plan;
  memset(m->res.counts, 0, (size_t)(p->arch->n_memories * p->wl->n_tensors) * sizeof(tf_counts));
  memset(m->res.nodes, 0, (size_t)p->tree->n_nodes * sizeof(tf_node_result));
  tf_each_free(m->each);
  tf_peers_free(m->peers);
  m->each = NULL;
  m->peers = NULL;
  if (m->lines && !m->note) tf_lines_clear(m);
  *out = (tf_result){.feasible = true,
                     .counts = m->res.counts,
                     .levels = m->res.levels,
                     .units = m->res.units,
                     .ops = m->res.ops,
                     .nodes = m->res.nodes,
                     .kept = m->zeros ? &m->zeros->res : NULL,
                     .lines = m->lines ? &m->lines->res : NULL};
}

static void summarize(tf_model *m, tf_result *out) {
  const tf_plan *p = m->plan;
  double peak = 0;
  for (int n = 0; n < p->tree->n_nodes; n++)
    m->res.nodes[n].runs = m->steps[n];
  for (int o = 0; o < p->wl->n_ops; o++) {
    out->overflow |= __builtin_add_overflow(out->points, m->res.ops[o].points, &out->points);
    out->overflow |= __builtin_add_overflow(out->points, m->res.ops[o].corrections, &out->points);
    out->overflow |= __builtin_add_overflow(out->skipped, m->res.ops[o].skipped, &out->skipped);
  }
  for (int u = 0; u < p->arch->n_units; u++)
    peak += m->res.units[u].points ? m->views->peak[u] : 0;
  double points = (double)out->points;
  for (int o = 0; o < p->wl->n_ops && m->zeros; o++)
    points -= m->zeros->res.ops[o].skipped;
  out->compute_utilization = out->cycles > 0 && peak > 0 ? points / (out->cycles * peak) : 0;
}

/* Counts as if every step had a whole tile, with trip counts that cover the ranges. */
static bool count_whole(tf_model *m) {
  m->whole_tiles = true;
  m->estimated = tf_even_count(m);
  m->whole_tiles = false;
  return m->estimated;
}

/* The same after the walk gave up. */
static bool estimate(tf_model *m) {
  if (!m->gave_up || !m->estimates || !m->even || m->plan->n_retains) return false;
  m->gave_up = !count_whole(m);
  if (m->lines && !m->open && !m->note && !m->gave_up) {
    tf_lines_clear(m);
    m->gave_up = !tf_lines_even(m) && !m->starved;
  }
  return !m->gave_up && !m->starved;
}

/* Counts a tree in which some tiles may be partial. */
static bool count_partial(tf_model *m) {
  if (m->fills) return tf_even_values(m, true) && count_whole(m);
  if (!tf_uneven_count(m)) return false;
  m->ev.irregular |= m->views->peers && !tf_beside_count(m); /* nor would other sums help */
  return !m->ev.irregular;
}

/* Lines of what closed sums have counted.  False: a walk must note them. */
static bool sum_lines(struct tf_model *m) {
  const bool even = m->quick && !m->partial && !m->plan->clips && !m->plan->cuts;
  if (even ? tf_lines_even(m) : tf_lines_uneven(m)) return true;
  if (!m->starved) tf_lines_clear(m);
  return false;
}

/* Counts by sums over classes what the closed sums have not counted.  closed: in scopes that
 * retain, the closed sums may have counted a part. */
static bool sum_classes(tf_model *m, bool closed) {
  const bool nodes = m->plan->n_retains && closed && tf_uneven_nodes(m);
  if (!nodes && !tf_count_nodes(m)) return false;
  if (m->plan->n_retains && m->partly_counted)
    m->quick = tf_uneven_slices(m) && nodes && !m->plan->clips;
  return m->quick || (tf_count_slices(m) && tf_count_rescaled(m));
}

/* Finds the largest slices; sets ev->irregular where only the walk can count. */
static void sizes(struct tf_model *m) {
  tf_home_sizes(m);
  tf_sizes(m);
}

/* Whether something does not fit, whatever the counts; fills in the words held and the
 * violations. */
static bool does_not_fit(tf_model *m, tf_result *out) {
  tf_resources(m, out);
  if (!out->feasible) return true;
  /* this is filled in again after all is counted */
  memset(m->res.nodes, 0, (size_t)m->plan->tree->n_nodes * sizeof *m->res.nodes);
  return false;
}

/* Whether the counts may be omitted if a row does not fit. */
static bool may_omit_counts(const tf_model *m) {
  return m->fits_first && !m->open && !m->zeros && !m->fills;
}

/* Networks ask how many steps of a loop happen, which closed sums over partial tiles leave open. */
static bool ready_for_networks(tf_model *m) {
  const bool asks = m->views->networks && !m->open && m->quick && m->partial;
  return !asks || (tf_general_ready(m) && tf_eval_steps(&m->ev));
}

/* Counts trip counts that do not divide evenly: by sums over classes, or by a walk where sums do
 * not apply.  *misfit: it does not fit, and is not counted. */
static bool count(tf_model *m, bool closed, tf_result *out, bool *misfit) {
  tf_find_parted(&m->ev, &m->scratch);
  m->ev.irregular |= m->plan->cuts && !m->plan->n_retains && tf_terms_cancel(&m->ev, &m->scratch);
  m->ev.irregular |= tf_leaders_part(&m->ev, &m->scratch);
  m->ev.irregular |= m->plan->skips && tf_skip_uneven(&m->ev, m->scratch.zero);
  const bool sized = !m->ev.irregular && !m->plan->n_retains && may_omit_counts(m);
  if (sized) sizes(m);
  *misfit = sized && !m->ev.irregular && does_not_fit(m, out);
  if (*misfit) return true;
  if (!m->ev.irregular && !sum_classes(m, closed)) return false;
  m->ev.irregular |= !m->ev.irregular && m->views->peers && !tf_beside_count(m);
  if (!m->ev.irregular && !sized) sizes(m);
  m->ev.irregular |= !m->ev.irregular && m->lines && !m->open && !sum_lines(m);
  if (!m->ev.irregular) return true;
  const bool walked = tf_walk(m);
  m->gave_up = !walked && !m->starved;
  return walked || estimate(m);
}

int64_t tf_model_effort(const tf_model *m) {
  m = tf_evaluated(m);
  const int64_t chosen = m->plan->cuts ? m->chosen / CHOSEN_A_QUICK : 0;
  if (m->quick) return !m->partial ? 1 : PARTIAL + chosen;
  return GENERAL_FIXED + chosen + m->ev.work / VISITS_A_QUICK + m->walked / WALKED_A_QUICK;
}

int64_t tf_model_walked(const tf_model *m) { return tf_evaluated(m)->walked; }

bool tf_model_quick(const tf_model *m) { return tf_evaluated(m)->quick; }

bool tf_model_gave_up(const tf_model *m) { return tf_evaluated(m)->gave_up; }

void tf_model_to_walk(tf_model *m) { m->to_walk = true; }

void tf_model_all_points(tf_model *m) {
  m->plan->skips = NULL;
  m->scratch.boxes = NULL; /* what was made for sums joins loops that decide what is left out */
}

bool tf_model_starved(const tf_model *m) {
  m = tf_evaluated(m);
  return m->starved || tf_arena_failed(m->arena);
}

void tf_model_walk_limit(tf_model *m, int64_t steps) { m->walk_max = steps; }

void tf_model_estimate(tf_model *m) { m->estimates = true; }

void tf_model_whole_tiles(tf_model *m) { m->fills = true; }

void tf_model_fits_first(tf_model *m) { m->fits_first = true; }

void tf_model_sum_limit(tf_model *m, int64_t settings) { m->ev.work_most = settings; }

/* Slices of open nodes move nothing. */
static void drop_open(tf_model *m) {
  const tf_plan *p = m->plan;
  for (int i = 0; i < p->n_slices; i++)
    if (m->open->node[p->slices[i].node]) m->moves[i] = (tf_move){0}, m->flows[i] = (tf_flow){0};
}

/* Whether the quick count applies and the row does not fit. */
static bool misfits(tf_model *m, tf_result *out) {
  if (!may_omit_counts(m) || m->ev.irregular || !tf_quick_sizes(m)) return false;
  m->quick = true;
  return does_not_fit(m, out);
}

/* Drops the lines of transfers that streaming leaves out. */
static void drop_lines(struct tf_model *m) {
  static const tf_move none = {0};
  if (!m->lines || m->open || m->note) return;
  for (int i = 0; i < m->plan->n_slices; i++)
    if (!memcmp(&m->moves[i], &none, sizeof none)) m->lines->moved[i] = m->lines->cycles[i] = none;
}

static bool evaluate(tf_model *m, const int64_t *trips, tf_result *out) {
  clear(m, out);
  memcpy(m->ev.trip, trips ? trips : m->own_trip, (size_t)m->plan->n_loops * sizeof *trips);
  m->ev.irregular = m->plan->irregular || m->to_walk;
  m->ev.work = 0;
  m->ev.parts = m->ev.mixed = false;
  m->gave_up = m->estimated = false;
  m->walked = m->chosen = 0;
  tf_tiles_begin(m);
  /* of a partial mapping the mean instance counts, as it may in what completes it; where the quick
   * count applies, loops move all alike */
  m->first_busiest = !m->open && !m->means && !m->plan->clips && !m->plan->n_retains && m->even;
  const bool even =
      m->even && !m->to_sum && !m->plan->skips && (!m->views->peers || tf_general_ready(m));
  const bool lines = m->lines && !m->open;
  const bool all = even && !m->plan->n_retains; /* the closed sums may count all */
  bool misfit = false;
  m->partly_counted = false;
  if (all && misfits(m, out)) return true;
  bool ok = m->quick = all && !m->ev.irregular && (tf_even_count(m) || count_partial(m));
  const bool noted = lines && (ok ? !m->note && !sum_lines(m) : !even || m->note);
  ok = m->quick = ok && !noted;
  /* otherwise such lines are walked, and most of what neighbours hand on */
  m->ev.irregular |= noted || (m->views->peers && !tf_beside_may(m));
  if (!ok) {
    out->overflow = !tf_general_ready(m) || !tf_eval_steps(&m->ev);
    if (out->overflow || !covered(m)) return false;
    m->ev.irregular |= m->plan->n_retains && !tf_always_drops(m->plan, m);
    m->ev.irregular |= m->ev.mixed && (m->open || m->views->peers);
    const bool busiest = m->first_busiest;
    m->first_busiest = busiest && tf_even_alike(m);
    m->partly_counted &=
        m->first_busiest == busiest; /* the counts are those of the busiest instance */
    ok = count(m, even, out, &misfit);
    if (misfit) return true;
  }
  if (m->open) drop_open(m);
  tf_put_off(m);
  if (ok) drop_lines(m);
  if (!ok || !tally(m) || !tf_count_stream(m) || !ready_for_networks(m)) {
    out->overflow = true;
    return false;
  }
  out->estimated = m->estimated;
  out->mean_ports = !m->first_busiest;
  tf_zeros_take(m);
  tf_resources(m, out);
  tf_parts_fill(m);
  tf_networks(m);
  if (m->lines) tf_lines_ports(m);
  tf_latency(m, out);
  tf_energy(m, out);
  summarize(m, out);
  return !out->overflow;
}

/* The model of the tree without `retain`, if it gives the same counts at these trip counts; NULL:
 * it does not. */
static tf_model *bare_of(tf_model *m, const int64_t *trips) {
  if (!m->plan->n_retains || m->to_walk || m->to_sum || m->note) return NULL;
  if (!m->bare_made) {
    const tf_tree *t = tf_bare_tree(m);
    m->bare_made = true;
    m->bare = t ? make_model(t) : NULL;
    if (m->bare && !tf_bare_prepare(m)) {
      tf_model_free(m->bare);
      m->bare = NULL;
    }
  }
  return m->bare && tf_bare_counts(m, trips) ? m->bare : NULL;
}

bool tf_model_eval(tf_model *m, const int64_t *trips, tf_result *out) {
  struct tf_model *bare = bare_of(m, trips);
  m->open = NULL;
  m->as_bare = bare != NULL;
  if (!bare) return evaluate(m, trips, out);
  const bool ok = evaluate(bare, trips, out);
  if (!ok || tf_bare_holds(m)) return ok;
  m->as_bare = false;
  return evaluate(m, trips, out);
}

double tf_model_first_load(const tf_model *m, int n) {
  m = tf_evaluated(m);
  int first = m->overlaps[n].first;
  return m->by_steps && first >= 0 ? m->overlaps[first].load : 0;
}

bool tf_model_partial(tf_model *m, const int64_t *trips, const tf_open *open, tf_result *out) {
  m->open = open;
  m->as_bare = false;
  return evaluate(m, trips, out);
}
