/* The count with remainders: see uneven.h. */
#include "model/cost/quick/uneven.h"

#include <string.h>

#include "model/cost/peers.h"
#include "model/cost/quick/uneven_plan.h"
#include "model/flow/apart.h"

/* A slice, and its tables, which are made once per tree. */
typedef struct {
  const tf_slice *s;
  const tf_even_slice *v;
  const tf_uneven_slice *u;
} piece;

static piece piece_of(const struct tf_model *m, int i) {
  return (piece){&m->plan->slices[i], &m->even->slices[i], &m->uneven->slice[i]};
}

/* Loops that are at their first setting when results of runs of scope `run` (-1: none) are
 * computed. */
static uint64_t still_of(const struct tf_model *m, int run) {
  return run < 0 ? 0 : m->uneven->still[run];
}

static tf_uneven_sum of_all(const struct tf_model *m, const piece *x) {
  return (tf_uneven_sum){.v = x->v,
                         .groups = &x->u->self,
                         .node = x->s->node,
                         .zero = still_of(m, x->u->run),
                         .stepping = -1};
}

/* Sums over all settings. */
static bool sum_all(struct tf_model *m, const piece *x, tf_uneven_sums *sums) {
  const tf_uneven_sum w = of_all(m, x);
  return tf_uneven_sum_up(m, &w, sums);
}

/* What is summed over for the entries in a class.  keeps: the previous content is there.  run: only
 * entries in runs of that scope that compute something; -1: all. */
static tf_uneven_sum of_class(const struct tf_model *m, const piece *x, int class, bool keeps,
                              int run) {
  const tf_plan *p = m->plan;
  const tf_reuse_case *c = &x->s->classes[class];
  const tf_path *path = &p->path[x->s->node];
  tf_uneven_sum w = {.v = x->v, .groups = &x->u->self, .node = x->s->node, .stepping = c->stepping};
  if (c->zero_from < path->n) w.zero = path->temporal & ~UINT64_C(0) << c->zero_from;
  w.zero |= still_of(m, run);
  if (keeps) {
    w.q = &m->even->slices[c->prev];
    w.from = p->slices[c->prev].node;
    w.sibling = c->common >= 0;
  }
  if (w.sibling) w.groups = &x->u->sibling[class], w.n_common = p->path[c->common].n;
  return w;
}

/* Over these entries. */
static bool sum_class(struct tf_model *m, const piece *x, int class, bool keeps, int run,
                      tf_uneven_sums *sums) {
  const tf_uneven_sum w = of_class(m, x, class, keeps, run);
  return tf_uneven_sum_up(m, &w, sums);
}

/* Fills how far loops move the ops below node n. */
static void fill_steps(struct tf_model *m, int n) {
  for (int k = 0; k < m->plan->path[n].n; k++) {
    const int l = m->plan->path[n].loops[k];
    m->uneven->node[n].step[k] =
        m->mixed_steps ? tf_step(&m->ev, n, l) : m->value[m->even->step[l]];
  }
}

/* Moments at node n, all instances together counted once (width: instances of the first moment).
 * stepping: only those at which the loop at that position steps; -1: all. */
static bool count_steps_at(struct tf_model *m, int n, bool width, int stepping, int64_t *out) {
  static const tf_even_slice none;
  const tf_path *path = &m->plan->path[n];
  tf_uneven_sum w = {
      .v = &none, .groups = &m->uneven->node[n].steps, .node = n, .stepping = stepping};
  tf_uneven_sums sum = {.n = 1};
  w.zero = (width ? path->temporal : ~path->temporal) | still_of(m, m->uneven->node[n].run);
  if (stepping >= 0) w.zero |= ~UINT64_C(0) << stepping << 1;
  if (!tf_uneven_sum_up(m, &w, &sum)) return false;
  *out = sum.total[0].box;
  return true;
}

static void find_turning_loops(struct tf_model *m, int n);

/* The same where ops advance by different steps, and none goes on longest along all loops. */
static bool count_steps(struct tf_model *m, int n, bool width, int stepping, int64_t *out) {
  int ops[TF_MOST_APART];
  if (!m->mixed_steps || !tf_mixed_at(&m->ev, n) || tf_one_longest(&m->ev, n))
    return count_steps_at(m, n, width, stepping, out);
  const unsigned all = 1U << tf_apart_ops(&m->ev, n, ops);
  bool ok = true;
  *out = 0;
  for (unsigned with = 1; with <= all && ok; with++) {
    int64_t one = 0;
    tf_apart_take(&m->ev, n, ops, with < all ? with : 0);
    fill_steps(m, n);
    m->uneven->evaluation++;
    find_turning_loops(m, n);
    ok = with == all || count_steps_at(m, n, width, stepping, &one);
    *out += __builtin_popcount(with) % 2 ? one : -one;
  }
  return ok;
}

/* Whether the mean over the instances is used for the busiest one. */
static bool mean_counts(const struct tf_model *m) {
  return m->plan->clips || m->plan->n_retains || m->means || (m->mixed_steps && !m->first_busiest);
}

/* Sides on which the first instance counts, and the total. */
static int sides(const struct tf_model *m) { return mean_counts(m) ? 1 : TF_N_SIDES; }

/* Whether no sum over the slice's settings exceeds 2^61: classes of entries have disjoint
 * settings. */
static bool small(const struct tf_model *m, const piece *x) {
  const tf_path *path = &m->plan->path[x->s->node];
  double most = 1;
  for (int k = 0; k < path->n; k++)
    most *= (double)m->ev.trip[path->loops[k]];
  for (int r = 0; r < x->v->n_rank; r++)
    most *= (double)m->len[x->v->range[r]];
  return most < 0x1p61;
}

/* The index among the requested sums of the one with these loops at their first setting.  joins:
 * boxes that instances share count once. */
static int request_index(const struct tf_model *m, const piece *x, uint64_t zero, bool joins,
                         tf_uneven_sums *sums) {
  const uint64_t turning = m->uneven->node[x->s->node].turning,
                 join = joins ? x->u->join & turning : 0;
  int i = 0;
  zero &= turning;
  while (i < sums->n && (sums->total[i].zero != zero || sums->total[i].join != join))
    i++;
  if (i == sums->n) sums->total[sums->n++] = (tf_uneven_total){.zero = zero, .join = join};
  return i;
}

static int request(const struct tf_model *m, const piece *x, uint64_t zero, tf_uneven_sums *sums) {
  return request_index(m, x, zero, false, sums);
}

/* Whether loops of several chains put results in one place, which only the general count can
 * separate. */
static bool results_meet(const struct tf_model *m, const piece *x) {
  const uint64_t on = x->u->join & m->uneven->node[x->s->node].turning;
  return x->s->makes && on & (on - 1);
}

/* The sums that determine what enters a slice on one side; -1: none. */
typedef struct {
  int all, groups, first;
} wanted;

/* joins: on the side of the serving memory, instances that share a transfer count once.  first:
 * words of a production may enter for the first time. */
static wanted request_entry(const struct tf_model *m, const piece *x, int side, bool joins,
                            bool first, tf_uneven_sums *sums) {
  const uint64_t still = x->u->still[side], same = x->u->same;
  wanted w = {-1, -1, -1};
  if (side != TF_SERVING || !joins) w.all = request(m, x, still, sums);
  if (x->s->makes || joins) w.groups = request_index(m, x, still | same, true, sums);
  if (x->s->makes && first) w.first = request(m, x, still | same | x->u->again, sums);
  return w;
}

/* Sums over the entries in a class of which only some runs of a scope leave the content found. */
static bool sum_found(struct tf_model *m, const piece *x, int class, bool keeps,
                      tf_uneven_sums *sums) {
  const int run = keeps ? tf_run_found(m->plan, x->s, &x->s->classes[class]) : -1;
  tf_uneven_sums found = *sums;
  if (run < 0) return sum_class(m, x, class, keeps, x->u->run, sums);
  if (!sum_class(m, x, class, false, -1, sums) || !sum_class(m, x, class, true, run, &found))
    return false;
  for (int k = 0; k < sums->n; k++)
    sums->total[k].kept = found.total[k].kept;
  return true;
}

static int64_t entered(const tf_uneven_sums *sums, int i) {
  return i < 0 ? 0 : sums->total[i].box - sums->total[i].kept;
}

/* Whether children of a retaining scope that are computed in its runs drop what class c would find:
 * they have points in the runs in which slice x itself is computed; in other runs if a loop steps
 * that needs another tile. */
static bool drops(const struct tf_model *m, const piece *x, const tf_reuse_case *c) {
  if (!(c->if_idle[0] | c->if_idle[1])) return false;
  return x->u->run >= 0 || !(still_of(m, x->u->needs) >> c->stepping & 1);
}

/* Whether something may enter in class c. */
static bool enters(const struct tf_model *m, const piece *x, int c) {
  const int stepping = x->s->classes[c].stepping;
  return stepping < 0 || (m->ev.trip[m->plan->path[x->s->node].loops[stepping]] > 1 &&
                          !(still_of(m, x->u->run) >> stepping & 1)); /* nothing is made there */
}

/* Whether what an entry of class c finds is still there. */
static bool is_there(const struct tf_model *m, const piece *x, int c) {
  return !drops(m, x, &x->s->classes[c]) && tf_even_survives(m, x->v, &x->s->classes[c]);
}

/* Counts what enters a slice in class c of its entries, on each side. */
static bool count_class(struct tf_model *m, const piece *x, int c, bool joins, tf_entry *e) {
  const int stepping = x->s->classes[c].stepping;
  tf_uneven_sums sums = {.n = 0};
  wanted w[TF_N_SIDES];
  memset(e, 0, TF_N_SIDES * sizeof *e);
  if (!enters(m, x, c)) return true;
  for (int k = 0; k < sides(m); k++)
    w[k] = request_entry(m, x, k, joins, stepping < 0 || !(x->u->again >> stepping & 1), &sums);
  if (!sum_found(m, x, c, is_there(m, x, c), &sums)) return false;
  for (int k = 0; k < sides(m); k++)
    e[k] = (tf_entry){entered(&sums, w[k].all), entered(&sums, w[k].groups),
                      entered(&sums, w[k].first)};
  return true;
}

/* Counts words that enter for the first time in their production, on each side. */
static bool count_first(struct tf_model *m, const piece *x, tf_entry *sum) {
  tf_uneven_sums sums = {.n = 0};
  int at[TF_N_SIDES] = {0};
  if (!x->s->makes) return true;
  for (int k = 0; k < sides(m); k++)
    at[k] = request(m, x, x->u->still[k] | x->u->same | x->u->again, &sums);
  if (!sum_all(m, x, &sums)) return false;
  for (int k = 0; k < sides(m); k++)
    sum[k].first = sums.total[at[k]].box;
  return true;
}

/* Fills the box at the first setting, which is the largest without borders. */
static void fill_box(struct tf_model *m, int i) {
  const tf_even_slice *v = &m->even->slices[i];
  m->box[i] = 1;
  for (int r = 0; r < v->n_rank; r++)
    m->box[i] *= m->rank_len[m->views->rank_at[i] + r] = m->len[v->range[r]];
}

/* Fills the longest part of each rank within borders.  No chain moves two of them, so that one
 * setting has all.  False if a Tile has two clipped boxes, which need not be largest at the same
 * moment. */
static bool clip_box(struct tf_model *m, int i) {
  const piece x = piece_of(m, i);
  int64_t *len = &m->rank_len[m->views->rank_at[i]];
  const tf_uneven_sum w = {.v = x.v, .groups = &x.u->self, .node = x.s->node, .stepping = -1};
  bool clipped = false;
  for (int g = 0; g < w.groups->n; g++) {
    const tf_chain_group *of = &w.groups->group[g];
    if (!of->clipped) continue;
    clipped = true;
    if (!tf_uneven_longest(m, &w, of, &len[of->rank[0]])) return false;
  }
  if (!clipped) return true;
  if (m->clipped == x.s->node) return false;
  m->clipped = x.s->node;
  m->box[i] = 1;
  for (int r = 0; r < x.v->n_rank; r++)
    m->box[i] *= len[r];
  return m->box[i] > 0;
}

/* Whether, if borders cut ranges, all clipped ranges of a Tile are longest at one setting. */
static bool full_tile(struct tf_model *m, int n) {
  tf_uneven_node *u = &m->uneven->node[n];
  const tf_uneven_sum w = {.v = u->held, .groups = &u->most, .node = n, .stepping = -1};
  return u->held && tf_uneven_fullest(m, &w);
}

/* Fills the box of m-tile slice i at that setting. */
static void full_box(struct tf_model *m, int i) {
  const tf_even_slice *v = &m->even->slices[i];
  m->box[i] = 1;
  for (int r = 0; r < v->n_rank; r++)
    m->box[i] *= m->rank_len[m->views->rank_at[i] + r] = tf_uneven_most(m, v->range[r]);
}

/* Fills the sizes of all m-tiles, and of intermediates at home, if borders cut ranges. */
static bool cut_sizes(struct tf_model *m) {
  const tf_plan *p = m->plan;
  bool ok = true;
  for (int n = 0; n < p->tree->n_nodes && ok; n++) {
    const tf_view *v = &m->views->node[n];
    if (!v->n_slices) continue;
    ok = full_tile(m, n);
    for (int i = v->first; i < v->first + v->n_slices && ok; i++)
      full_box(m, i);
  }
  for (int z = 0; z < p->wl->n_tensors && ok; z++) {
    const tf_uneven_sum w = {.v = &m->uneven->home[z],
                             .groups = &m->uneven->homes[z],
                             .node = p->home_scope[z],
                             .stepping = -1};
    if (p->home_scope[z] >= 0) ok = tf_uneven_fullest(m, &w) && !tf_even_home_brings(m, z);
  }
  return ok;
}

/* Whether instances may share by chance, as boxes of several cover a padded tensor. */
static bool covers(const struct tf_model *m, const piece *x) {
  bool may = false;
  for (int g = 0; g < x->u->self.n; g++) {
    const tf_chain_group *of = &x->u->self.group[g];
    const uint64_t on = x->s->merge & m->uneven->node[x->s->node].turning;
    for (int i = 0; i < of->n_rank && of->cut; i++)
      may |= tf_uneven_meets(m, &m->plan->path[x->s->node], x->v->range[of->rank[i]], on);
    if (!of->clipped) continue;
    const int range = x->v->range[of->rank[0]];
    const tf_even_range *r = &m->even->ranges[range];
    may |= m->len[range] > r->to - r->from && r->moves & on;
  }
  return may;
}

/* Counts the words that slice i moves. */
static bool count_tile(struct tf_model *m, int i) {
  const piece x = piece_of(m, i);
  const tf_memory *mem = &m->plan->arch->memories[x.s->level];
  tf_entry sum[TF_N_SIDES] = {{0, 0, 0}}, e[TF_N_SIDES];
  if (x.u->off || !small(m, &x) || covers(m, &x) || results_meet(m, &x)) return false;
  for (int c = 0; c < x.s->n_class; c++) {
    if (!count_class(m, &x, c, x.s->makes ? mem->reduce : mem->multicast, e)) return false;
    m->uneven->flows[c] = tf_flow_of(m, i, e);
    for (int k = 0; k < TF_N_SIDES; k++) {
      sum[k].all += e[k].all;
      sum[k].groups += e[k].groups;
    }
  }
  if (!count_first(m, &x, sum)) return false;
  for (int c = 0; c < x.s->n_class && m->by_steps; c++)
    tf_cells_add(m, i, c, &m->uneven->flows[c]);
  m->moves[i] = tf_move_of(x.s, mem, sum[TF_ALL]);
  m->flows[i] = tf_flow_of(m, i, sum);
  return true;
}

static bool size_tile(struct tf_model *m, int i) {
  fill_box(m, i);
  return !m->plan->clips || m->plan->cuts || clip_box(m, i);
}

static bool count_leaf(struct tf_model *m, int i, const tf_unit *unit) {
  const piece x = piece_of(m, i);
  const bool joins = x.s->makes ? unit->reduce : unit->multicast;
  const uint64_t same = joins ? x.u->same : 0, still = mean_counts(m) ? 0 : x.u->still[TF_SERVING],
                 once = x.u->same | x.u->again;
  tf_uneven_sums sums = {.n = 0};
  if (x.u->off) return false;
  const int all = request_index(m, &x, same, joins, &sums),
            one = request_index(m, &x, same | still, joins, &sums);
  int first = all, of_one = one;
  if (x.s->makes) first = request(m, &x, once, &sums), of_one = request(m, &x, once | still, &sums);
  if (!small(m, &x) || covers(m, &x) || results_meet(m, &x) || !sum_all(m, &x, &sums)) return false;
  const int64_t words = sums.total[all].box, in_one = sums.total[one].box;
  m->moves[i] = (tf_move){.read = words};
  m->flows[i] = (tf_flow){.read = (double)in_one};
  if (x.s->makes) {
    m->moves[i] = (tf_move){.read = words - sums.total[first].box, .update = words};
    m->flows[i] =
        (tf_flow){.read = (double)(in_one - sums.total[of_one].box), .update = (double)in_one};
  }
  if (mean_counts(m))
    m->flows[i] = tf_mean_flow(m, i, &m->moves[i]); /* at the border, instances differ */
  return true;
}

/* Counts op o: its points, and the words that it moves, with its output. */
static bool count_op(struct tf_model *m, int o) {
  const tf_plan *p = m->plan;
  const int out = p->op_slice[o] + p->wl->ops[o].n_reads;
  const piece x = piece_of(m, out);
  tf_op_result *r = &m->res.ops[o];
  tf_uneven_sums sum = {.n = 1};
  bool all = true;
  for (int i = p->op_slice[o]; i <= out; i++)
    all &= m->counted[i] = count_leaf(m, i, &p->arch->units[p->unit[o]]);
  if (!m->counted[out]) return false;
  if (!sum_all(m, &x, &sum)) return m->counted[out] = false;
  *r = (tf_op_result){
      .unit = p->unit[o], .units = m->width[p->tree->op_node[o]], .points = sum.total[0].box};
  r->recomputed = r->points > p->space[o] ? r->points - p->space[o] : 0;
  return all;
}

static bool count_rescaled(struct tf_model *m, int o) {
  const piece x = {&m->plan->stream[o], &m->even->stream[o],
                   &m->uneven->slice[m->plan->n_slices + o]};
  const uint64_t once = x.u->same | x.u->again, still = mean_counts(m) ? 0 : x.u->still[TF_SERVING];
  tf_uneven_sums sums = {.n = 0};
  const int at[4] = {request(m, &x, 0, &sums), request(m, &x, once, &sums),
                     request(m, &x, still, &sums), request(m, &x, still | once, &sums)};
  if (x.u->off || !small(m, &x) || results_meet(m, &x) || !sum_all(m, &x, &sums)) return false;
  for (int k = 0; k < 2; k++) {
    m->rescaled[2 * o + k] = sums.total[at[k]].box;
    m->rescaled_flow[2 * o + k] = (double)sums.total[at[2 + k]].box;
  }
  if (mean_counts(m)) tf_rescaled_share(m, o);
  return true;
}

/* Counts the steps of Tile n in which the loop of each row steps, if the Tile has entries. */
static bool count_rows(struct tf_model *m, int n) {
  const tf_view *v = &m->views->node[n];
  const tf_path *path = &m->plan->path[n];
  if (!v->n_slices) return true;
  for (int k = path->n - 1, j = 0; k >= 0; k--) {
    int64_t steps = 0;
    if (!(path->temporal >> k & 1)) continue;
    if (m->ev.trip[path->loops[k]] > 1 && !count_steps(m, n, false, k, &steps)) return false;
    m->class_steps[v->row + j++] = (double)steps;
  }
  m->class_steps[v->row + v->n_rows - 1] = 1;
  return true;
}

/* Whether no moment uses more instances than the first; if borders cut ranges that spatial loops
 * split, whether the first uses all. */
static bool widest_first(struct tf_model *m, int n) {
  static const tf_even_slice none;
  const tf_uneven_node *u = &m->uneven->node[n];
  const tf_path *path = &m->plan->path[n];
  bool ok = true;
  for (int g = 0; g < u->steps.n && ok; g++) {
    const tf_chain_groups one = {.n = 1, .group = &u->steps.group[g]};
    const tf_uneven_sum w = {
        .v = &none, .groups = &one, .node = n, .zero = path->temporal, .stepping = -1};
    tf_uneven_sums sum = {.n = 1};
    int64_t all = 1;
    if (!(one.group->idle & u->turning)) continue;
    for (uint64_t left = one.group->positions & u->turning & ~path->temporal; left;
         left &= left - 1)
      all *= m->ev.trip[path->loops[__builtin_ctzll(left)]];
    ok = tf_uneven_sum_up(m, &w, &sum) && sum.total[0].box == all;
  }
  return ok;
}

static bool count_node(struct tf_model *m, int n) {
  const tf_uneven_node *u = &m->uneven->node[n];
  return !u->to_general && (u->run < 0 || m->uneven->tells[u->run]) &&
         count_steps(m, n, false, -1, &m->steps[n]) && count_steps(m, n, true, -1, &m->width[n]) &&
         (!m->plan->cuts || widest_first(m, n)) && (!m->by_steps || count_rows(m, n));
}

/* Finds the loops of a chain that take more than one step. */
static void begin_chain(const struct tf_model *m, const tf_path *path, const int64_t *steps,
                        tf_path_chain *c) {
  c->len = m->len[m->even->chains[c->chain].base];
  int64_t rest = c->len - 1;
  c->n_turn = 0;
  for (int i = 0; i < c->n; i++) {
    const int64_t trip = m->ev.trip[path->loops[c->pos[i]]], step = steps[c->pos[i]];
    if (trip <= 1) continue;
    const int64_t bound = rest / step;
    rest -= bound * step;
    c->turn[c->n_turn++] = (tf_turn){UINT64_C(1) << c->pos[i], trip, step, bound};
  }
}

/* Finds which loops above node n take more than one step. */
static void find_turning_loops(struct tf_model *m, int n) {
  tf_uneven_node *u = &m->uneven->node[n];
  u->turning = 0;
  for (int c = 0; c < u->n; c++) {
    begin_chain(m, &m->plan->path[n], u->step, &u->chain[c]);
    for (int i = 0; i < u->chain[c].n_turn; i++)
      u->turning |= u->chain[c].turn[i].bit;
  }
}

/* Begins an evaluation. */
static void begin(struct tf_model *m) {
  m->uneven->evaluation++;
  for (int n = 0; n < m->plan->tree->n_nodes; n++)
    find_turning_loops(m, n);
}

/* Fills how far loops move the ops below each node.  False: ops that share a loop advance by
 * different steps, which closed sums do not count. */
static bool find_steps(struct tf_model *m) {
  const tf_plan *p = m->plan;
  if (m->mixed_steps) {
    if (p->cuts || p->n_retains || m->open || !tf_eval_steps(&m->ev) || m->ev.irregular)
      return false;
    m->first_busiest &= tf_even_alike(m);
  }
  for (int n = 0; n < p->tree->n_nodes; n++)
    fill_steps(m, n);
  return true;
}

/* Whether it applies to the trip counts; fills the values that follow from these alone. */
static bool applies(struct tf_model *m) {
  if (!m->uneven) m->uneven = tf_uneven_new(m->arena, m->plan, m->views, m->even);
  return m->uneven && m->uneven->applies && tf_even_values(m, true) && tf_even_together(m) &&
         find_steps(m);
}

bool tf_uneven_ready(struct tf_model *m) {
  if (!applies(m)) return false;
  begin(m);
  tf_run_begin(m);
  return true;
}

bool tf_uneven_entries(const struct tf_model *m, int i, int c, tf_uneven_sum *w) {
  const piece x = piece_of(m, i);
  if (!enters(m, &x, c)) return false;
  *w = of_class(m, &x, c, is_there(m, &x, c), x.u->run);
  return true;
}

tf_uneven_sum tf_uneven_settings(const struct tf_model *m, int i) {
  const piece x = piece_of(m, i);
  return of_all(m, &x);
}

bool tf_uneven_tells(const struct tf_model *m, int i) {
  const piece x = piece_of(m, i);
  return !x.u->off && small(m, &x) && !covers(m, &x) && !results_meet(m, &x);
}

bool tf_quick_sizes(struct tf_model *m) {
  const tf_plan *p = m->plan;
  if (p->clips || p->cuts) return false;
  m->partial = !tf_even_values(m, false);
  if (m->partial && (!applies(m) || m->mixed_steps)) return false;
  for (int i = 0; i < p->n_tile_slices; i++) {
    double words = 1;
    for (int r = 0; r < m->even->slices[i].n_rank; r++)
      words *= (double)m->len[m->even->slices[i].range[r]];
    if (words >= 0x1p57) return false;
    fill_box(m, i);
  }
  for (int z = 0; z < p->wl->n_tensors; z++)
    if (p->home_scope[z] >= 0) tf_even_home_uneven(m, z);
  return true;
}

bool tf_uneven_nodes(struct tf_model *m) {
  const tf_plan *p = m->plan;
  bool all = true;
  m->partly_counted = applies(m);
  if (!m->partly_counted) return false;
  m->clipped = -1;
  m->partial = true;
  begin(m);
  tf_run_begin(m);
  memset(m->cells, 0, (size_t)m->views->n_cells * sizeof *m->cells);
  memset(m->counted, 0, (size_t)(p->n_slices + p->wl->n_ops) * sizeof *m->counted);
  for (int n = 0; n < p->tree->n_nodes; n++)
    all &= m->counted_node[n] = count_node(m, n);
  return all;
}

/* The loops at whose first step alone slice i is entered; ~0: sums cannot tell. */
static uint64_t entered_at(const struct tf_model *m, int i) {
  const piece x = piece_of(m, i);
  bool tells = !x.u->off;
  for (int c = 0; c < x.s->n_class && tells; c++)
    tells = tf_run_found(m->plan, x.s, &x.s->classes[c]) < 0;
  return tells ? still_of(m, x.u->run) : ~UINT64_C(0);
}

bool tf_uneven_slices(struct tf_model *m) {
  const tf_plan *p = m->plan;
  bool all = true;
  for (int i = 0; i < p->n_tile_slices; i++)
    if (tf_hands(m, i)) m->still[i] = entered_at(m, i);
  for (int i = 0; i < p->n_tile_slices; i++)
    all &= (m->counted[i] = tf_hands(m, i) || count_tile(m, i)) && size_tile(m, i);
  for (int o = 0; o < p->wl->n_ops; o++) {
    all &= count_op(m, o);
    if (p->stream[o].node >= 0) all &= m->counted[p->n_slices + o] = count_rescaled(m, o);
  }
  all = all && (!p->cuts || cut_sizes(m));
  for (int z = 0; z < p->wl->n_tensors && all; z++)
    if (p->home_scope[z] >= 0) tf_even_home_uneven(m, z);
  return all;
}

bool tf_uneven_count(struct tf_model *m) {
  if (!tf_uneven_nodes(m)) return m->partly_counted = false;
  return tf_uneven_slices(m);
}
