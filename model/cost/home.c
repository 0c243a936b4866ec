/* Capacity for inputs and outputs that live in an inner memory: they are held throughout the run
 * (docs/SEMANTICS.md section 4). */
#include "base/checked.h"
#include "model/cost/state.h"
#include "model/sparse/sparse.h"

static int64_t more(int64_t a, int64_t b) { return a > b ? a : b; }

bool tf_is_packed(const struct tf_model *m, int level, int tensor) {
  const tf_sparse *s = m->plan->sparse;
  return s && s->packed[level * m->plan->wl->n_tensors + tensor].format;
}

int64_t tf_held_bits(const struct tf_model *m, int level, int tensor, int64_t words) {
  const tf_workload *wl = m->plan->wl;
  const int bits = wl->tensors[tensor].word_bits;
  if (m->part && m->part->word_bits > bits) return tf_sat_mul(words, m->part->word_bits);
  if (m->sizing == TF_SIZE_WORDS) return tf_sat_mul(words, bits);
  if (m->sizing == TF_SIZE_LIKELY)
    return tf_sat_add(tf_sparse_likely(m->plan->sparse, level, tensor, words, m->doubt,
                                       m->in_blocks[tensor]),
                      TF_HELD_ONE - 1) /
           TF_HELD_ONE;
  const tf_packed *k = &m->plan->sparse->packed[level * wl->n_tensors + tensor];
  return (tf_sat_add(tf_sat_mul(words, m->sizing == TF_SIZE_KEPT ? k->held : k->worst),
                     TF_HELD_ONE - 1)) /
         TF_HELD_ONE;
}

/* ---- parts that instances touch ------------------------------------------------------------- */

/* CORNERS: of a spatial loop, its first step, the last but one, which is whole, and the last.
 * MOST_LOOPS: spatial loops of which all corners are examined.
 * MOST_PULLED: loops that move two terms of an index, likewise. */
enum { CORNERS = 3, MOST_LOOPS = 8, MOST_PULLED = 6 };

/* The last digit of loop l, those of loops further out as set. */
static int64_t last_digit(const tf_eval *ev, int n, int l, const int64_t *digit) {
  const int64_t last = (tf_loop_range(ev, n, l, digit).len - 1) / tf_step(ev, n, l);
  return last < 0 ? 0 : last < ev->trip[l] ? last : ev->trip[l] - 1;
}

/* The next spatial loop on the path of the slice's node that has steps, from position *pos on; -1:
 * none. */
static int next_spatial(const tf_eval *ev, const tf_slice *s, int *pos) {
  const tf_path *path = &ev->plan->path[s->node];
  while (*pos < path->n) {
    const int l = path->loops[(*pos)++];
    if (ev->plan->loops[l].axis != TF_TEMPORAL && ev->plan->loops[l].op >= 0 && ev->trip[l] > 1)
      return l;
  }
  return -1;
}

/* 0: they are too many. */
static int n_corners(const tf_eval *ev, const tf_slice *s) {
  int n = 1, loops = 0;
  for (int pos = 0; next_spatial(ev, s, &pos) >= 0 && loops <= MOST_LOOPS; loops++)
    n *= CORNERS;
  return loops <= MOST_LOOPS ? n : 0;
}

/* Loops that stand one after another while the ranges at their first, last but one and last
 * settings are joined: no setting between these reaches further, as none is cut by a border. */
typedef struct {
  const tf_eval *ev;
  const tf_slice *s;
  int r;
  int64_t *digit;
  int n, loop[MOST_PULLED + 1];
  tf_ival all;
} joined;

static void join_from(joined *j, int k) {
  if (k == j->n) {
    j->all = tf_hull(j->all, tf_slice_rank(j->ev, j->s, j->r, j->digit));
    return;
  }
  const int l = j->loop[k], loops = j->ev->plan->n_loops;
  const tf_ploop *loop = &j->ev->plan->loops[l];
  for (int i = 0; i < loop->n_leader; i++) {
    const int o = loop->leaders[i];
    const int64_t step = j->ev->step[o * loops + l],
                  n = (tf_split_range(j->ev, o, l, j->digit).len + step - 1) / step,
                  last = n > j->ev->trip[l] ? j->ev->trip[l] - 1
                         : n > 0            ? n - 1
                                            : 0;
    for (int64_t at = i ? 1 : 0; at <= last; at = at < last - 1 ? last - 1 : at + 1) {
      j->digit[l] = at;
      join_from(j, k + 1);
    }
    j->digit[l] = 0;
  }
}

/* The range along rank r of what slice s touches in the whole run, in the instance whose spatial
 * loops' digits are set, or in all.  Where loops move two terms of an index what it reaches is less
 * than what its terms reach; with too many of them it is taken as that. */
static tf_ival over_run(const tf_eval *ev, const tf_slice *s, int r, int64_t *digit) {
  const tf_plan *p = ev->plan;
  const tf_path *path = &p->path[s->node];
  joined j = {.ev = ev, .s = s, .r = r, .digit = digit};
  for (uint64_t at = p->pulled[(s - p->at_home) * TF_MAX_RANK + r]; at && j.n <= MOST_PULLED;
       at &= at - 1) {
    const int l = path->loops[__builtin_ctzll(at)];
    if (ev->trip[l] > 1 && p->loops[l].op >= 0 &&
        (p->loops[l].axis == TF_TEMPORAL || ev->over == TF_UNION_ALL))
      j.loop[j.n++] = l;
  }
  if (j.n > MOST_PULLED) j.n = 0;
  for (int k = 0; k < j.n; k++)
    ev->stand[j.loop[k]] = true;
  join_from(&j, 0);
  for (int k = 0; k < j.n; k++)
    ev->stand[j.loop[k]] = false;
  return j.all;
}

/* The range along rank r that the instance at that corner touches in the whole run. */
static tf_ival touched_at(const tf_eval *ev, const tf_slice *s, int corner, int r, int64_t *digit) {
  int pos = 0;
  for (int l = next_spatial(ev, s, &pos); l >= 0;
       l = next_spatial(ev, s, &pos), corner /= CORNERS) {
    const int64_t last = corner % CORNERS ? last_digit(ev, s->node, l, digit) : 0;
    digit[l] = corner % CORNERS == 1 && last > 0 ? last - 1 : last;
  }
  const tf_ival met = over_run(ev, s, r, digit);
  for (int k = 0; k < ev->plan->n_loops; k++)
    digit[k] = 0;
  return met;
}

/* An instance that touches nothing at one node needs no more capacity for it. */
static bool same(tf_ival a, tf_ival b) {
  return a.len <= 0 || b.len <= 0 || (a.len == b.len && a.lo == b.lo);
}

/* Whether the same spatial loops are above both, so that an instance has the same digits for
 * both. */
static bool same_loops(const tf_eval *ev, const tf_slice *a, const tf_slice *b) {
  int at = 0, bt = 0;
  for (;;) {
    const int k = next_spatial(ev, a, &at), l = next_spatial(ev, b, &bt);
    if (k < 0 || l < 0) return k == l;
    const tf_ploop *x = &ev->plan->loops[k], *y = &ev->plan->loops[l];
    if (x->axis != y->axis || ev->trip[k] != ev->trip[l] ||
        ev->plan->tree->nodes[x->node].level != ev->plan->tree->nodes[y->node].level)
      return false;
  }
}

/* Whether each instance touches the same range of rank r for both. */
static bool alike(const tf_eval *ev, const tf_slice *a, const tf_slice *b, int r, int64_t *digit) {
  const tf_ival first = touched_at(ev, a, 0, r, digit);
  const bool loops = same_loops(ev, a, b);
  bool each = loops, still = true;
  for (int k = 0; k < n_corners(ev, a); k++) {
    const tf_ival met = touched_at(ev, a, k, r, digit);
    each = each && same(met, touched_at(ev, b, k, r, digit));
    still &= same(met, first);
  }
  for (int k = 0; k < n_corners(ev, b); k++)
    still &= same(touched_at(ev, b, k, r, digit), first);
  return each || still;
}

/* ---- capacity ------------------------------------------------------------------------------- */

/* The m-tiles' slices from node n down that touch z; room for p->n_at_home. */
static int slices_below(const tf_plan *p, int n, int z, const tf_slice **list) {
  int found = 0;
  for (int i = 0; i < p->n_at_home; i++)
    if (p->at_home[i].tensor == z && tf_plan_above(p, n, p->at_home[i].node))
      list[found++] = &p->at_home[i];
  return found;
}

/* The length along rank r that each instance reserves: the longest that any of them touches; if
 * m-tiles give them different parts, or there are too many loops, the hull of all. */
static int64_t side_of(const tf_eval *ev, const tf_slice *const *list, int n, int r,
                       int64_t *digit) {
  int64_t most = 0;
  bool all_alike = true;
  tf_ival all = {0, 0};
  const bool first =
      n == 1 && list[0]->n_touch == 1 && tf_plan_leads(ev->plan, list[0]->touch[0].op, 0);
  for (int i = 0; i < n; i++) {
    const int corners = first ? 1 : n_corners(ev, list[i]);
    for (int k = 0; k < corners; k++)
      most = more(most, touched_at(ev, list[i], k, r, digit).len);
    all_alike = all_alike && corners > 0;
    all_alike = all_alike && (i == 0 || alike(ev, list[0], list[i], r, digit));
  }
  if (all_alike) return most;
  tf_eval whole = *ev;
  whole.over = TF_UNION_ALL;
  for (int i = 0; i < n; i++)
    all = tf_hull(all, over_run(&whole, list[i], r, digit));
  return all.len;
}

/* Words of z that an instance holds for the m-tiles from node n down. */
static int64_t words_below(struct tf_model *m, const tf_eval *ev, int n, int z) {
  const tf_tensor *t = &m->plan->wl->tensors[z];
  const int found = slices_below(m->plan, n, z, m->home_slices);
  int64_t words = found > 0;
  for (int k = 0; k < m->plan->n_loops; k++)
    m->home_digit[k] = 0;
  for (int r = 0; r < t->rank && found; r++) {
    const int64_t side = side_of(ev, m->home_slices, found, r, m->home_digit);
    words = tf_sat_mul(words, side < t->extent[r] ? side : t->extent[r]);
  }
  return words;
}

/* Whether the scope's children run at once in instances of their own; whether some scope from node
 * n down has such children. */
static bool splits_instances(const struct tf_model *m, int n, int level) {
  return tf_plan_at_once(&m->plan->tree->nodes[n]) && !tf_shared_instance(m->views, n, level);
}

static bool splits_instances_below(const struct tf_model *m, int n, int level) {
  const tf_node *t = &m->plan->tree->nodes[n];
  bool any = splits_instances(m, n, level);
  for (int c = 0; c < t->n_children && !any; c++)
    any = splits_instances_below(m, t->children[c], level);
  return any;
}

static int64_t bits_below(struct tf_model *m, const tf_eval *ev, int n, int level) {
  const tf_plan *p = m->plan;
  const tf_node *t = &p->tree->nodes[n];
  int64_t all = 0;
  if (splits_instances_below(m, n, level)) {
    for (int c = 0; c < t->n_children; c++) {
      const int64_t one = bits_below(m, ev, t->children[c], level);
      all = splits_instances(m, n, level) ? more(all, one) : tf_sat_add(all, one);
    }
    return all;
  }
  for (int z = 0; z < p->wl->n_tensors; z++)
    if (p->home_scope[z] < 0 && p->home_level[z] == level && tf_counts_home(m, z))
      all = tf_sat_add(all, tf_held_bits(m, level, z, words_below(m, ev, n, z)));
  return all;
}

/* An evaluation of the ranges touched in the whole run, as if no tensor had borders.  False: a step
 * exceeds 2^63 - 1, which evaluations have found before. */
static bool of_whole_run(struct tf_model *m, tf_eval *ev) {
  *ev = m->ev;
  ev->over = TF_UNION_INSTANCE;
  ev->noclip = true;
  ev->exact = ev->whole = ev->demand = false;
  ev->made = NULL;
  ev->stand = m->home_stand;
  return tf_eval_steps(ev);
}

int64_t tf_home_bits(struct tf_model *m, int level) {
  tf_eval ev;
  if (!m->plan->n_at_home || m->open || !of_whole_run(m, &ev)) return 0;
  return bits_below(m, &ev, 0, level);
}

void tf_home_rooms(struct tf_model *m) {
  const tf_plan *p = m->plan;
  tf_eval ev;
  if (!p->n_at_home || !of_whole_run(m, &ev)) return;
  for (int z = 0; z < p->wl->n_tensors; z++)
    if (p->home_scope[z] < 0 && p->home_level[z] > 0)
      m->home_words[z] = m->open ? 0 : words_below(m, &ev, 0, z);
}
