/* Networks with a topology: the links that words take from the memory above to the instances of a
 * memory, and back (docs/SEMANTICS.md section 5).
 *
 * Loops that fill the network either move a tensor's box, or their steps share it.  So every word
 * goes to a regular set of columns times a regular set of rows, and the links of all words follow
 * from the loops of each side alone.  Words are taken to be spread evenly over the instances in
 * use, as they are wherever steps are full. */
#include "model/cost/network.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "model/cost/peers.h"

enum {
  MOST_OVER = 1 << 12
}; /* most instances of a mapping that does not fit for which routes are counted */

/* ---- one side ------------------------------------------------------------------------------- */

/* Levels of links of a binary tree with so many leaves. */
static int depth_of(int64_t leaves) {
  int depth = 0;
  for (; depth < 62 && INT64_C(1) << depth < leaves; depth++) {
  }
  return depth;
}

/* The links that reach some instances, visited in their order. */
typedef struct {
  int64_t up, down; /* a mesh: farthest; a torus: farthest each way round */
  int64_t links, last;
  bool any, cross[2];
} reach;

static void go_to(reach *r, const tf_net_line *l, int64_t at) {
  const int depth = depth_of(l->side);
  int same = 0;
  if (l->topology != TF_TREE) {
    const bool back = l->topology == TF_TORUS && at > l->side / 2;
    int64_t *most = back ? &r->down : &r->up;
    const int64_t way = back ? l->side - at : at;
    *most = way > *most ? way : *most;
    r->links = r->up + r->down;
    r->cross[0] = r->up > 0;
    r->cross[1] = r->down > 0;
    return;
  }
  while (r->any && same < depth && r->last >> (depth - 1 - same) == at >> (depth - 1 - same))
    same++;
  r->links += depth - same;
  if (depth) r->cross[at >> (depth - 1) & 1] = true;
  r->last = at;
  r->any = true;
}

static void add_reach(tf_net_way *to, const reach *r, double share) {
  to->hops += share * (double)r->links;
  for (int i = 0; i < 2; i++)
    to->cross[i] += r->cross[i] ? share : 0;
}

tf_net_side tf_net_along(const tf_net_line *l) {
  const int64_t apart = tf_net_settings(l, false), shared = tf_net_settings(l, true);
  tf_net_side s = {.distinct = (double)apart, .shared = (double)shared};
  for (int64_t i = 0; i < apart; i++) {
    reach all = {0};
    for (int64_t k = 0; k < shared; k++) {
      reach one = {0};
      const int64_t at = l->start + tf_net_place(l, false, i) + tf_net_place(l, true, k);
      go_to(&all, l, at);
      go_to(&one, l, at);
      add_reach(&s.alone, &one, 1 / (s.distinct * s.shared));
      if (k == 0) add_reach(&s.first, &one, 1 / s.distinct);
    }
    add_reach(&s.all, &all, 1 / s.distinct);
  }
  return s;
}

int64_t tf_net_farthest(const tf_net_line *l) {
  const int64_t apart = tf_net_settings(l, false), shared = tf_net_settings(l, true);
  const int64_t last = tf_sat_mul(apart, shared) - 1;
  reach all = {0};
  if (l->topology == TF_TREE) return depth_of(l->side);
  for (int64_t i = 0; i < apart * shared && l->placed; i++)
    go_to(&all, l,
          l->start + tf_net_place(l, false, i / shared) + tf_net_place(l, true, i % shared));
  if (l->placed) return all.up > all.down ? all.up : all.down;
  return l->topology == TF_TORUS && last > l->side / 2 ? l->side / 2 : last;
}

/* ---- both sides ----------------------------------------------------------------------------- */

/* columns: those to which a word goes; part: the share of words that go to one column. */
static tf_net_route join_ways(const tf_net_way *x, const tf_net_way *y, double columns,
                              double part) {
  return (tf_net_route){x->hops + columns * y->hops,
                        {x->cross[0], x->cross[1], part * y->cross[0], part * y->cross[1]}};
}

/* A bus moves each word once, to any number of instances; a crossbar has a link for the memory
 * above and one for each instance. */
static tf_net_routes at_once(const tf_net_side *x, const tf_net_side *y, bool bus) {
  const double shared = x->shared * y->shared, apart = x->distinct * y->distinct,
               used = apart * shared;
  tf_net_routes r = {{1, {1}}, {bus ? 1 : shared, {1}}, {1, {1}}, shared, bus};
  if (bus) return r;
  r.alone.cross[1] = 1 / used;
  r.all.cross[1] = r.first.cross[1] = 1 / apart;
  return r;
}

tf_net_routes tf_net_across(const tf_net_line side[2]) {
  const tf_net_side x = tf_net_along(&side[0]), y = tf_net_along(&side[1]);
  const tf_topology t = side[0].topology;
  if (t == TF_BUS || t == TF_CROSSBAR) return at_once(&x, &y, t == TF_BUS);
  return (tf_net_routes){join_ways(&x.alone, &y.alone, 1, 1 / (x.distinct * x.shared)),
                         join_ways(&x.all, &y.all, x.shared, 1 / x.distinct),
                         join_ways(&x.first, &y.first, 1, 1 / x.distinct), x.shared * y.shared,
                         false};
}

/* ---- a mapping ------------------------------------------------------------------------------ */

/* As many steps of the loop at position k of a path as any setting of the loops outside has: where
 * borders clip ranges, or reads move apart, the first may have few.  Each of these loops in turn
 * takes the best of some settings, until the steps are as many as without borders. */
static int64_t most_steps(const struct tf_model *m, const tf_path *path, int k) {
  const int l = path->loops[k];
  const size_t bytes = (size_t)m->plan->n_loops * sizeof(int64_t);
  int64_t *dg = m->scratch.cur, most = tf_most_steps(&m->ev, l, m->scratch.zero);
  tf_eval inside = m->ev;
  inside.noclip = true;
  const int64_t whole = m->ev.parts ? m->ev.trip[l] : tf_most_steps(&inside, l, m->scratch.zero);
  memset(dg, 0, bytes);
  for (int j = 0; j < k && most < whole; j++) {
    const int64_t last = tf_most_steps(&m->ev, path->loops[j], dg) - 1;
    const int64_t tries[] = {1, last / 2, last - 1, last};
    int64_t best = 0;
    for (int t = 0; t < 4; t++) {
      if (tries[t] < 1 || tries[t] > last) continue;
      dg[path->loops[j]] = tries[t];
      const int64_t steps = tf_most_steps(&m->ev, l, dg);
      if (steps > most) most = steps, best = tries[t];
    }
    dg[path->loops[j]] = best;
  }
  memset(dg, 0, bytes);
  return most;
}

/* The steps of the loop at position k of a path, of which those past the range do not happen. */
static int64_t steps_in_use(const struct tf_model *m, const tf_path *path, int k) {
  if (m->quick && !m->partial) return m->ev.trip[path->loops[k]];
  if (m->plan->cuts || m->ev.parts) return most_steps(m, path, k);
  return tf_most_steps(&m->ev, path->loops[k], m->scratch.zero);
}

/* Where the loops of these sides stand if the network is one that stages share. */
static void place_lines(const struct tf_model *m, int slice, int level, tf_net_line side[2]) {
  const tf_tree *t = m->plan->tree;
  const tf_spot *spots = &m->spots[(size_t)(level - 1) * (size_t)t->n_nodes];
  const tf_path *path = &m->plan->path[m->plan->slices[slice].node];
  int n = m->plan->slices[slice].node, i = path->n - 1, at[2] = {side[0].n, side[1].n};
  int64_t block[2] = {0, 0};
  while (t->nodes[n].kind == TF_TILE) /* a stage of one instance is what stands in it */
    n = t->nodes[n].children[0];
  for (int a = 0; a < 2; a++)
    side[a].placed = true, side[a].start = 0;
  for (; n >= 0; n = t->nodes[n].parent) {
    for (int a = 0; a < 2; a++) {
      side[a].start += spots[n].at[a];
      if (spots[n].block[a]) block[a] = spots[n].block[a];
    }
    for (; i >= 0 && m->plan->loops[path->loops[i]].node == n; i--) {
      const tf_ploop *l = &m->plan->loops[path->loops[i]];
      const int a = l->axis == TF_SPATIAL_Y;
      if (l->axis == TF_TEMPORAL || t->nodes[n].level != level - 1) continue;
      side[a].block[--at[a]] = block[a];
      block[a] = 0;
    }
  }
}

/* The sides of the network that feeds memory `level`, as filled by the loops above a slice's
 * node.  in_use: by the steps of these that happen; the rest of a loop's instances gets nothing. */
static void lines_of(const struct tf_model *m, int slice, int level, bool in_use,
                     tf_net_line side[2]) {
  const tf_slice *s = &m->plan->slices[slice];
  const tf_memory *mem = &m->plan->arch->memories[level];
  const tf_path *path = &m->plan->path[s->node];
  const uint64_t shares = tf_shares_of(&m->ev, m->views, slice, m->home_digit);
  int64_t filled[2] = {1, 1};
  for (int a = 0; a < 2; a++) {
    side[a].topology = mem->topology;
    side[a].side = mem->mesh[a];
    side[a].n = 0;
    side[a].placed = false;
    side[a].start = 0;
  }
  for (int i = 0; i < path->n; i++) {
    const tf_ploop *l = &m->plan->loops[path->loops[i]];
    if (l->axis == TF_TEMPORAL || m->plan->tree->nodes[l->node].level != level - 1) continue;
    const int a = l->axis == TF_SPATIAL_Y;
    tf_net_line *on = &side[a];
    const int64_t trip = m->ev.trip[path->loops[i]];
    filled[a] = tf_sat_mul(filled[a], trip);
    on->trip[on->n] = in_use ? steps_in_use(m, path, i) : trip;
    on->shared[on->n++] = shares >> i & 1;
  }
  for (int a = 0; a < 2; a++) { /* a mapping that does not fit is counted on a network that it does
                                   fit, if that is small */
    if (filled[a] > side[a].side && filled[a] > MOST_OVER)
      side[a].n = 0;
    else
      side[a].side = filled[a] > side[a].side ? filled[a] : side[a].side;
  }
  if (m->placed >> level & 1) place_lines(m, slice, level, side);
}

/* Networks of memory `level` that slice i uses at once; apart: those with different words; the
 * first of the others gets what goes to one alone. */
static double networks_at(const struct tf_model *m, int i, int level, bool apart) {
  const tf_path *path = &m->plan->path[m->plan->slices[i].node];
  const uint64_t shares = tf_shares_of(&m->ev, m->views, i, m->home_digit);
  double n = 1;
  for (int k = 0; k < path->n; k++) {
    const tf_ploop *l = &m->plan->loops[path->loops[k]];
    if (l->axis == TF_TEMPORAL || m->plan->tree->nodes[l->node].level >= level - 1) continue;
    if (!apart || !(shares >> k & 1)) n *= (double)steps_in_use(m, path, k);
  }
  return n;
}

/* Words on the links of one network of a level: outwards and back, along X and along a column. */
typedef struct {
  double out[4], back[4], hops;
  double *columns; /* [4 * column]: outwards, back; NULL: all columns in use carry as much */
} load;

/* How words go: all those of `line` (along X), or the first of each that share a word. */
typedef struct {
  const tf_net_route *r;
  const tf_net_line *line;
  bool first, back;
} going;

static void add_links(load *to, const going *g, double words) {
  const int64_t apart = tf_net_settings(g->line, false),
                shared = g->first ? 1 : tf_net_settings(g->line, true);
  for (int i = 0; i < (to->columns ? 2 : 4); i++)
    (g->back ? to->back : to->out)[i] += words * g->r->cross[i];
  for (int64_t i = 0; i < apart * shared && to->columns; i++) {
    const int64_t x = g->line->start + tf_net_place(g->line, false, i / shared) +
                      tf_net_place(g->line, true, i % shared);
    for (int k = 0; k < 2; k++)
      to->columns[4 * x + 2 * g->back + k] += words * g->r->cross[2 + k];
  }
}

static void add_route(load *to, const going *g, double words, double networks) {
  to->hops += words * g->r->hops;
  add_links(to, g, words / networks);
}

/* Adds the words of slice i through the network to memory l, where links are added up one by one:
 * words out, out to the first, and back. */
static void pass_exactly(struct tf_model *m, int i, int l, const tf_net_line side[2],
                         const double words[3]) {
  const tf_memory *mem = &m->plan->arch->memories[l];
  const double wide =
      (double)m->plan->wl->tensors[m->plan->slices[i].tensor].word_bits / mem->word_bits;
  const bool handed = tf_hands(m, i);
  if (handed && l == m->plan->slices[i].level) return; /* as the walk has counted */
  if (words[0] + words[1] > 0)
    tf_peers_pass(
        m, i, l, side,
        (tf_peer_words){wide * words[0], wide * words[1], mem->multicast && !handed, false});
  if (words[2] > 0)
    tf_peers_pass(m, i, l, side, (tf_peer_words){wide * words[2], 0, mem->reduce, true});
}

/* Words that share a transfer beyond the mean: some loops' last steps leave instances without, and
 * what fewer share takes the links to them as well.  The memory that serves counts each once. */
static double left_over(const struct tf_model *m, int i, double mean, bool back) {
  const tf_move *v = &m->moves[i];
  const double served = (double)(back ? v->update : m->plan->slices[i].makes ? 0 : v->read) - mean;
  return served > 0 ? served : 0;
}

/* Adds what slice i moves through the networks from the memory that serves it down to its own. */
static void pass(struct tf_model *m, int i, load *of) {
  const tf_slice *s = &m->plan->slices[i];
  const tf_move *v = &m->moves[i];
  const bool handed = m->peers && tf_hands(m, i);
  double out = s->makes ? 0 : (double)(handed ? v->read : v->fill),
         first = s->makes ? (double)v->fill : 0;
  double back = handed ? 0 : (double)v->drain;
  const tf_memory *own = &m->plan->arch->memories[s->level]; /* its network shares, or not (D5) */
  if (!v->fill && !v->drain) return;
  for (int l = s->level; l > s->above; l--) {
    const tf_memory *mem = &m->plan->arch->memories[l];
    tf_net_line side[2];
    lines_of(m, i, l, !(m->peers && mem->peers), side);
    const tf_net_routes r = tf_net_across(side);
    const double wide = tf_kept_words(m->plan, s->tensor, l); /* it moves as it is held */
    const double networks = networks_at(m, i, l, false);
    const bool merges = mem->multicast && !handed;
    if (merges) out /= r.shared;
    if (mem->reduce) back /= r.shared;
    if (m->peers && mem->peers) {
      pass_exactly(m, i, l, side, (const double[]){out, first, back});
      continue;
    }
    const tf_net_route *down = merges ? &r.all : &r.alone, *up = mem->reduce ? &r.all : &r.alone;
    const going to = {down, side, false, false}, one = {&r.first, side, true, false},
                from = {up, side, false, !r.one_way};
    add_route(&of[l], &to, wide * out, networks);
    add_route(&of[l], &one, wide * first, networks_at(m, i, l, true));
    add_route(&of[l], &from, wide * back, networks);
    if (l > s->above + 1) continue;
    if (own->multicast && !handed)
      add_links(&of[l], &to, wide * left_over(m, i, out, false) / networks);
    if (own->reduce) add_links(&of[l], &from, wide * left_over(m, i, back, true) / networks);
  }
}

/* Adds what units read of slice i, an op's operand, or update in it, through the networks from the
 * memory that serves it down to the one below which they stand. */
static void pass_units(struct tf_model *m, int i, load *of) {
  const tf_slice *s = &m->plan->slices[i];
  const tf_unit *u = &m->plan->arch->units[m->plan->unit[s->touch[0].op]];
  const tf_move *v = &m->moves[i];
  double down = s->makes ? 0 : (double)v->read, back = (double)v->update, copies = 1;
  const double partial = s->makes ? (double)v->read : 0;
  if (u->below <= s->above) return;
  tf_net_routes routes[TF_NET_LEVELS];
  tf_net_line side[TF_NET_LEVELS][2];
  for (int l = u->below; l > s->above; l--) {
    lines_of(m, i, l, !(m->peers && m->plan->arch->memories[l].peers), side[l]);
    routes[l] = tf_net_across(side[l]);
    copies *= routes[l].shared;
  }
  if (u->multicast) down *= copies;
  if (u->reduce) back *= copies;
  for (int l = u->below; l > s->above; l--) {
    const tf_memory *mem = &m->plan->arch->memories[l];
    const tf_net_routes *r = &routes[l];
    const double wide = (double)m->plan->wl->tensors[s->tensor].word_bits / mem->word_bits;
    const double networks = networks_at(m, i, l, false);
    if (mem->multicast) down /= r->shared;
    if (mem->reduce) back /= r->shared;
    if (m->peers && mem->peers) {
      pass_exactly(m, i, l, side[l], (const double[]){down, partial, back});
      continue;
    }
    const going to = {mem->multicast ? &r->all : &r->alone, side[l], false, false},
                one = {u->reduce ? &r->first : &r->alone, side[l], u->reduce, false},
                from = {mem->reduce ? &r->all : &r->alone, side[l], false, !r->one_way};
    add_route(&of[l], &to, wide * down, networks);
    add_route(&of[l], &one, wide * partial, u->reduce ? networks_at(m, i, l, true) : networks);
    add_route(&of[l], &from, wide * back, networks);
  }
}

static double busiest(const load *of, int64_t columns) {
  double most = 0;
  for (int i = 0; i < 4; i++)
    most = fmax(most, fmax(of->out[i], of->back[i]));
  for (int64_t i = 0; i < 4 * columns && of->columns; i++)
    most = fmax(most, of->columns[i]);
  return most;
}

bool tf_networks_prepare(struct tf_model *m) {
  const tf_arch *a = m->plan->arch;
  const int n = a->n_memories;
  if (!m->views->networks || !m->views->splits) return true;
  m->columns = TF_ARRAY(m->arena, double *, (size_t)n);
  m->spots = TF_ARRAY(m->arena, tf_spot, (size_t)n * (size_t)m->plan->tree->n_nodes);
  bool ok = m->columns && m->spots;
  for (int l = 1; l < n && ok; l++) {
    const tf_memory *mem = &a->memories[l];
    const bool at =
        mem->topology == TF_MESH || mem->topology == TF_TORUS || mem->topology == TF_TREE;
    if (!at || mem->peers || mem->mesh[0] > TF_NET_COLUMNS) continue;
    m->columns[l] = TF_ARRAY(m->arena, double, (size_t)(4 * mem->mesh[0]));
    ok = m->columns[l] != NULL;
  }
  return ok;
}

void tf_networks(struct tf_model *m) {
  const tf_arch *a = m->plan->arch;
  load of[TF_NET_LEVELS];
  for (int l = 0; l < a->n_memories; l++)
    m->res.levels[l].network = NULL, m->res.levels[l].hops = m->res.levels[l].link_cycles = 0;
  if (!m->views->networks || m->open) return;
  memset(of, 0, sizeof of);
  m->placed = 0;
  for (int l = 1; l < a->n_memories && m->columns; l++) {
    if (!m->columns[l] || !tf_mesh_place(m, l - 1)) continue;
    m->placed |= UINT32_C(1) << l;
    of[l].columns = m->columns[l];
    memset(of[l].columns, 0, (size_t)(4 * a->memories[l].mesh[0]) * sizeof *of[l].columns);
  }
  for (int i = 0; i < m->plan->n_tile_slices; i++)
    pass(m, i, of);
  for (int i = m->plan->n_tile_slices; i < m->plan->n_slices; i++)
    pass_units(m, i, of);
  for (int l = 0; l < a->n_memories; l++) {
    if (a->memories[l].topology == TF_NO_TOPOLOGY) continue;
    m->res.levels[l].network = m->views->net_name[l];
    double hops = of[l].hops, most = busiest(&of[l], a->memories[l].mesh[0]);
    if (m->peers && a->memories[l].peers) tf_peers_links(m, l, &hops, &most);
    m->res.levels[l].hops = hops;
    m->res.levels[l].link_cycles = most / a->memories[l].link_bw;
  }
}

double tf_network_wait(const struct tf_model *m, int n) {
  const tf_view *v = &m->views->node[n];
  double most = 0;
  for (int i = v->first; i < v->first + v->n_slices && m->views->networks && !m->open; i++) {
    const tf_slice *s = &m->plan->slices[i];
    double wait = 0;
    for (int l = s->level; l > s->above; l--) {
      const tf_memory *mem = &m->plan->arch->memories[l];
      tf_net_line side[2];
      lines_of(m, i, l, false, side);
      const bool at_once = mem->topology == TF_BUS || mem->topology == TF_CROSSBAR;
      const double hops =
          at_once ? 1 : (double)(tf_net_farthest(&side[0]) + tf_net_farthest(&side[1]));
      if (mem->topology != TF_NO_TOPOLOGY) wait += hops * mem->hop_latency;
    }
    most = fmax(most, wait);
  }
  return most;
}
