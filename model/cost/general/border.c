/* With borders, the first box need not be the largest.  Searches for the settings at which a box,
 * the total of an m-tile, or the number of instances in use, is largest (most.h). */
#include <string.h>

#include "base/checked.h"
#include "model/cost/general/general.h"
#include "model/cost/general/most.h"
#include "model/flow/retain.h"
#include "model/input/dims.h"

/* ---- words held by m-tiles ------------------------------------------------------------------ */

/* The retaining scope whose runs determine what slice s holds; NULL: none. */
static const tf_retain *decider(const tf_plan *p, const tf_slice *s) {
  int above = p->retain_at[s->node];
  for (int i = 0; i < s->n_touch && above >= 0; i++)
    if (p->made_in[s->touch[i].op] == above) return &p->retains[above];
  return NULL;
}

/* The loops that tell its runs apart. */
static uint64_t runs_of(const tf_plan *p, const tf_retain *h) {
  return h->moves | p->path[h->scope].temporal;
}

/* Applies what runs of that scope compute, at the current loop settings.  False: slice s is not
 * entered there. */
static bool apply_decider(struct tf_model *m, const tf_slice *s, const int64_t *digits,
                          tf_made *made) {
  const tf_retain *h = m->ev.whole ? NULL : decider(m->plan, s);
  if (!h || runs_of(m->plan, h) & ~m->most->loops) return true;
  tf_retain_at(&m->ev, &m->scratch, h, digits, made);
  return tf_retain_touched(&m->ev, h, s, digits);
}

/* Computes lengths which[0 .. n), all of one slice. */
static void slice_lengths(struct tf_model *m, const int *which, int n, const int64_t *digits,
                          tf_ival *out) {
  const tf_slice *s = &m->plan->slices[m->most->slice[which[0]]];
  tf_made made;
  bool any = apply_decider(m, s, digits, &made);
  for (int k = 0; k < n; k++) {
    const int r = m->most->rank[which[k]];
    out[k] = r == TF_MOST_THERE ? (tf_ival){0, 1} : tf_slice_rank(&m->ev, s, r, digits);
    any &= out[k].len > 0;
  }
  m->ev.made = NULL;
  for (int k = 0; k < n && !any && !m->ev.whole; k++)
    out[k].len = 0;
}

static void tile_lengths(struct tf_model *m, const int *which, int n, const int64_t *digits,
                         tf_ival *out) {
  for (int k = 0, end; k < n; k = end) {
    for (end = k + 1; end < n && m->most->slice[which[end]] == m->most->slice[which[k]];)
      end++;
    slice_lengths(m, &which[k], end - k, digits, &out[k]);
  }
}

/* ---- producers whose ranges begin late ------------------------------------------------------ */

/* Whether some step of the loops on dim d of op o may be partial. */
static bool partial(const struct tf_model *m, int o, int d) {
  const tf_plan *p = m->plan;
  int64_t trips = 1;
  for (int l = 0; l < p->n_loops; l++)
    for (int i = 0; i < p->loops[l].n_leader && p->loops[l].dim == d; i++)
      if (p->loops[l].leaders[i] == o) trips = tf_sat_mul(trips, m->ev.trip[l]);
  return trips > 1 && (p->home_scope[p->wl->ops[o].out] >= 0 || p->wl->dims[d].extent % trips != 0);
}

/* Whether an op reads an intermediate by an index that decreases with a dim of which a step may be
 * partial.  Such a step does not read the low end, so that the producer's range begins later, and
 * all its steps with it. */
static bool begins_late(const struct tf_model *m) {
  const tf_workload *wl = m->plan->wl;
  for (int o = 0; o < wl->n_ops; o++)
    for (int i = 0; i < wl->ops[o].n_reads; i++) {
      const tf_ref *ref = &wl->ops[o].reads[i];
      for (int r = 0; r < wl->tensors[ref->tensor].rank && wl->tensors[ref->tensor].producer >= 0;
           r++)
        for (int t = 0; t < ref->index[r].n_terms; t++)
          if (ref->index[r].terms[t].coef < 0 && partial(m, o, ref->index[r].terms[t].dim))
            return true;
    }
  return false;
}

/* Whether slice s has a box of an op whose range its readers determine. */
static bool follows_readers(const tf_plan *p, const tf_slice *s) {
  for (int i = 0; i < s->n_touch; i++)
    if (p->home_scope[p->wl->ops[s->touch[i].op].out] >= 0) return true;
  return false;
}

/* ---- the search's input --------------------------------------------------------------------- */

/* The loops on which rank r of the slice depends. */
static uint64_t rank_loops(const tf_slice *s, int r) {
  for (int c = 0; c < s->n_comp; c++)
    for (int k = 0; k < s->comp[c].n_rank; k++)
      if (s->comp[c].rank[k] == r) return s->comp[c].loops;
  return 0;
}

static void ask_rank(struct tf_model *m, int slice, int z, int r, uint64_t loops) {
  tf_most *q = m->most;
  const tf_tensor *t = &m->plan->wl->tensors[z];
  q->slice[q->n] = slice;
  q->rank[q->n] = r;
  q->mask[q->n] = loops;
  q->from[q->n] = t->lo[r];
  q->moved_by_runs[q->n] = false;
  q->loose[q->n] = false;
  q->extent[q->n++] = t->extent[r];
}

/* Whether loops may move the ends of a slice differently: it is the hull of reads with different
 * indices; or of what several ops touch, some in tiles of what their readers need, which are
 * elsewhere where a border cuts that. */
static bool spreads(const tf_plan *p, const tf_slice *s) {
  const tf_tensor *t = &p->wl->tensors[s->tensor];
  const tf_index *first = NULL;
  bool several = false, cut = false, unlike = p->unlike_reads;
  for (int i = 0; i < s->n_touch; i++) {
    const tf_touch *at = &s->touch[i];
    const int lead = p->lead[at->op];
    several |= at->op != s->touch[0].op;
    cut |= p->tree->nodes[lead].parent >= 0 && tf_plan_above(p, lead, s->node);
    if (at->ref < 0) continue;
    const tf_index *own = p->wl->ops[at->op].reads[at->ref].index;
    first = first ? first : own;
    for (int r = 0; r < t->rank; r++)
      unlike |= !tf_index_moves_as(&own[r], &first[r]);
  }
  return unlike || (several && cut);
}

/* Of a slice that only some runs of scope h enter: whether it is there, where no rank of it depends
 * on the run. */
static void ask_there(struct tf_model *m, int i, const tf_retain *h) {
  tf_most *q = m->most;
  const tf_slice *s = &m->plan->slices[i];
  const uint64_t runs = runs_of(m->plan, h);
  bool told = false;
  for (int r = 0; r < m->plan->wl->tensors[s->tensor].rank; r++)
    told |= !(runs & ~rank_loops(s, r));
  if (told) return;
  q->slice[q->n] = i;
  q->rank[q->n] = TF_MOST_THERE;
  q->mask[q->n] = runs;
  q->from[q->n] = 0;
  q->moved_by_runs[q->n] = q->loose[q->n] = true;
  q->extent[q->n++] = 1;
}

static void ask_tile(struct tf_model *m, int n, const tf_view *v, bool late) {
  tf_most *q = m->most;
  q->node = n;
  q->n = 0;
  q->uniform_steps =
      !m->plan->cuts && !m->ev.parts; /* ranges clipped by a border are no longer split equally */
  q->bounded = m->plan->cuts && !m->ev.parts;
  q->skip = 0;
  q->look = tile_lengths;
  for (int i = v->first; i < v->first + v->n_slices; i++) {
    const tf_slice *s = &m->plan->slices[i];
    const tf_retain *h = decider(m->plan, s);
    const bool drifts = h != NULL;
    for (int r = 0; r < m->plan->wl->tensors[s->tensor].rank; r++) {
      ask_rank(m, i, s->tensor, r, rank_loops(s, r));
      q->loose[q->n - 1] = drifts || spreads(m->plan, s);
      q->moved_by_runs[q->n - 1] = (drifts && m->plan->wl->tensors[s->tensor].pad[r] > 0) ||
                                   (late && follows_readers(m->plan, s));
    }
    if (h) ask_there(m, i, h);
  }
}

/* The product of slice i's lengths in vector v of group g. */
static int64_t words_of(const tf_most *q, const tf_most_group *g, int v, int i) {
  int64_t words = 1;
  for (int k = 0; k < g->n; k++)
    if (q->slice[q->which[g->first + k]] == i) words = tf_sat_mul(words, tf_most_len(q, g, v, k));
  return words;
}

/* The largest box of slice i by itself. */
static int64_t largest_box(const tf_most *q, int i) {
  int64_t words = 1;
  for (int g = 0; g < q->n_groups; g++) {
    int64_t best = 0;
    for (int v = 0; v < q->group[g].n_front && q->group[g].n; v++) {
      const int64_t now = words_of(q, &q->group[g], v, i);
      best = now > best ? now : best;
    }
    words = q->group[g].n ? tf_sat_mul(words, best) : words;
  }
  return words;
}

/* The largest value of each length, where the box is not always empty. */
static void largest_lengths(struct tf_model *m, const tf_view *v) {
  const tf_most *q = m->most;
  const tf_plan *p = m->plan;
  for (int i = v->first; i < v->first + v->n_slices; i++)
    memset(&m->rank_len[m->views->rank_at[i]], 0,
           (size_t)p->wl->tensors[p->slices[i].tensor].rank * sizeof *m->rank_len);
  for (int g = 0; g < q->n_groups; g++)
    for (int k = 0; k < q->group[g].n; k++) {
      const int f = q->which[q->group[g].first + k], i = q->slice[f];
      if (q->rank[f] == TF_MOST_THERE) continue;
      int64_t *most = &m->rank_len[m->views->rank_at[i] + q->rank[f]];
      for (int w = 0; w < q->group[g].n_front && m->box[i]; w++) {
        const int64_t len = tf_most_len(q, &q->group[g], w, k);
        *most = len > *most ? len : *most;
      }
    }
}

/* Bits of an m-tile with the picked vector of each group. */
static int64_t bits_at(const struct tf_model *m, const tf_view *v, const int *pick) {
  const tf_most *q = m->most;
  int64_t bits = 0;
  for (int i = v->first; i < v->first + v->n_slices; i++) {
    int64_t words = 1;
    for (int g = 0; g < q->n_groups; g++)
      words = tf_sat_mul(words, words_of(q, &q->group[g], pick[g], i));
    bits = tf_sat_add(bits,
                      tf_sat_mul(words, m->plan->wl->tensors[m->plan->slices[i].tensor].word_bits));
  }
  return bits;
}

enum { MOST_PICKS = 4096 };

/* The most bits that an m-tile holds at one moment: the maximum over all combinations of one vector
 * per group.  -1: there are too many. */
static int64_t most_bits(const struct tf_model *m, const tf_view *v) {
  const tf_most *q = m->most;
  int pick[TF_MAX_PATH + 1] = {0}, g = 0, left = MOST_PICKS;
  int64_t most = 0;
  while (g < q->n_groups && left-- > 0) {
    const int64_t now = bits_at(m, v, pick);
    most = now > most ? now : most;
    for (g = 0; g < q->n_groups && pick[g] + 1 >= q->group[g].n_front; g++)
      pick[g] = 0;
    if (g < q->n_groups) pick[g]++;
  }
  return g < q->n_groups ? -1 : most;
}

void tf_border_sizes(struct tf_model *m) {
  const tf_plan *p = m->plan;
  const bool late = begins_late(m);
  for (int n = 0; n < p->tree->n_nodes && !m->ev.irregular; n++) {
    const tf_view *v = &m->views->node[n];
    if (!v->n_slices) continue;
    ask_tile(m, n, v, late);
    m->ev.irregular |= !tf_most_find(m, m->most);
    for (int i = v->first; i < v->first + v->n_slices; i++)
      m->box[i] = largest_box(m->most, i);
    largest_lengths(m, v);
    m->at_once[n] = most_bits(m, v);
    m->ev.irregular |= m->at_once[n] < 0;
  }
}

/* ---- intermediates at home ------------------------------------------------------------------ */

/* The retaining scope whose runs determine how much of intermediate z its home holds; NULL: none.
 */
static const tf_retain *home_decider(const tf_plan *p, int z) {
  int in = p->made_in[p->wl->tensors[z].producer];
  return in >= 0 && tf_plan_above(p, p->retains[in].scope, p->home_scope[z]) ? &p->retains[in]
                                                                             : NULL;
}

static void home_lengths(struct tf_model *m, const int *which, int n, const int64_t *digits,
                         tf_ival *out) {
  const int z = *(const int *)m->most->what;
  tf_ival box[TF_MAX_RANK];
  uint64_t ranks = 0;
  for (int k = 0; k < n; k++)
    ranks |= UINT64_C(1) << m->most->rank[which[k]];
  tf_home_box(m, z, home_decider(m->plan, z), ranks, digits, box);
  for (int k = 0; k < n; k++)
    out[k] = box[m->most->rank[which[k]]];
}

typedef void (*lengths)(struct tf_model *m, const int *which, int n, const int64_t *digits,
                        tf_ival *out);

/* Prepares a search of n lengths below the loops above a node. */
static void ask(tf_most *q, int node, int n, lengths look, const void *what) {
  q->node = node;
  q->n = n;
  q->uniform_steps = q->bounded = false;
  q->skip = 0;
  q->look = look;
  q->what = what;
}

/* Prepares the search for the lengths of z at home; tf_home_box enumerates the loops that bring
 * several runs into one memory. */
static void ask_home(struct tf_model *m, const int *z) {
  tf_most *q = m->most;
  const tf_plan *p = m->plan;
  const int node = p->home_scope[*z], o = p->wl->tensors[*z].producer;
  const tf_path *path = &p->path[node];
  ask(q, node, 0, home_lengths, z);
  for (int k = 0; k < path->n; k++)
    q->skip |= (uint64_t)tf_plan_brings(p, *z, path->loops[k]) << k;
  const tf_retain *h = home_decider(p, *z);
  q->bounded = !p->unlike_reads && !m->ev.parts; /* what a run makes is part of what it needs */
  for (int r = 0; r < p->wl->ops[o].n_out_dims; r++) {
    const uint64_t all = path->n ? ~UINT64_C(0) >> (TF_MAX_PATH - path->n) : 0;
    ask_rank(m, *z, *z, r, h ? all : tf_dim_mask(p, o, p->wl->ops[o].dims[r], node));
  }
}

/* The product over the groups of the largest share that any of its vectors gives. */
static int64_t home_words(struct tf_model *m, int z) {
  const tf_most *q = m->most;
  int64_t words = 1;
  for (int g = 0; g < q->n_groups; g++) {
    int64_t best = q->group[g].n ? 0 : 1;
    for (int v = 0; v < q->group[g].n_front && q->group[g].n; v++) {
      tf_ival box[TF_MAX_RANK];
      for (int r = 0; r < TF_MAX_RANK; r++)
        box[r] = (tf_ival){0, 1};
      for (int k = 0; k < q->group[g].n; k++)
        box[q->rank[q->which[q->group[g].first + k]]].len = tf_most_len(q, &q->group[g], v, k);
      const int64_t now = tf_home_share(m, z, box);
      best = now > best ? now : best;
    }
    words = tf_sat_mul(words, best);
  }
  return words;
}

void tf_border_homes(struct tf_model *m) {
  const tf_plan *p = m->plan;
  for (int z = 0; z < p->wl->n_tensors && !m->ev.irregular; z++) {
    if (p->home_scope[z] < 0) continue;
    ask_home(m, &z);
    m->ev.irregular |= tf_home_runs(m, z) > TF_MOST_RUNS || !tf_most_find(m, m->most);
    m->home_words[z] = home_words(m, z);
  }
}

/* ---- ranges, instances ---------------------------------------------------------------------- */

static void range_lengths(struct tf_model *m, const int *which, int n, const int64_t *digits,
                          tf_ival *out) {
  const int *od = m->most->what;
  (void)which;
  for (int k = 0; k < n; k++)
    out[k] = tf_dim_range(&m->ev, od[0], od[1], m->plan->tree->op_node[od[0]], digits);
}

int64_t tf_border_range(struct tf_model *m, int o, int d) {
  tf_most *q = m->most;
  const int what[2] = {o, d}, leaf = m->plan->tree->op_node[o];
  ask(q, leaf, 1, range_lengths, what);
  q->mask[0] = tf_dim_mask(m->plan, o, d, leaf);
  q->loose[0] = false;
  q->from[0] = 0;
  q->extent[0] = m->plan->wl->dims[d].extent;
  if (!tf_most_find(m, q)) m->ev.irregular = true;
  int64_t most = 0;
  for (int g = 0; g < q->n_groups; g++)
    if (q->group[g].n) most = tf_most_len(q, &q->group[g], 0, 0);
  return most;
}

enum { TF_WIDTH_LOOKS = 4096 };

/* Instances in use at once, by one component of node n's loops: the maximum over its steps. */
typedef struct {
  struct tf_model *m;
  const tf_slice *at; /* restricted to that component */
  int n, loops[TF_MAX_PATH], left;
  int64_t all, most; /* instances that may be in use, and the most that are */
} width_search;

/* At the settings that are fixed. */
static bool widen_by(width_search *b) {
  tf_sum sum;
  const bool ok = b->left-- > 0 &&
                  tf_sum_over(&b->m->ev, &b->m->scratch, b->at, NULL, false, TF_OVER_WIDTH, &sum);
  b->most = ok && sum.box > b->most ? sum.box : b->most;
  return ok;
}

/* Evaluates settings away from borders, where most instances are in use; and the first setting
 * without borders, which is an upper bound. */
static bool widen_inside(width_search *b) {
  int64_t *fixed = b->m->scratch.fixed;
  tf_sum sum;
  if (!b->n || b->m->plan->unlike_reads || b->m->ev.parts) return true;
  b->m->ev.noclip = true;
  bool ok = tf_sum_over(&b->m->ev, &b->m->scratch, b->at, NULL, false, TF_OVER_WIDTH, &sum);
  b->m->ev.noclip = false;
  b->all = ok && sum.box < b->all ? sum.box : b->all;
  for (int i = 0; i < b->n; i++)
    fixed[b->loops[i]] = (tf_nonempty_steps(&b->m->ev, b->at->node, b->loops[i], fixed) - 1) / 2;
  ok = ok && widen_by(b);
  for (int i = 0; i < b->n; i++)
    fixed[b->loops[i]] = 0;
  return ok;
}

static bool widen(width_search *b, int i) {
  int64_t *fixed = b->m->scratch.fixed;
  if (b->most >= b->all) return true;
  if (i == b->n) return widen_by(b);
  bool ok = true;
  fixed[b->loops[i]] = 0;
  for (int64_t n = tf_nonempty_steps(&b->m->ev, b->at->node, b->loops[i], fixed), t = 0;
       t < n && ok; t = tf_most_next(b->m, b->at->node, b->loops[i], t, n)) {
    fixed[b->loops[i]] = t;
    ok = widen(b, i + 1);
  }
  fixed[b->loops[i]] = 0;
  return ok;
}

int64_t tf_border_width(struct tf_model *m, int n) {
  const tf_path *path = &m->plan->path[n];
  int64_t width = 1;
  for (int c = 0; c < m->plan->node_slice[n].n_comp; c++) {
    tf_slice at = m->plan->node_slice[n];
    width_search b = {.m = m, .at = &at, .left = TF_WIDTH_LOOKS, .all = 1};
    at.comp = &at.comp[c];
    at.n_comp = 1;
    for (int k = 0; k < path->n; k++) {
      if (!(at.comp->loops >> k & 1) || m->ev.trip[path->loops[k]] <= 1 ||
          m->plan->loops[path->loops[k]].op < 0)
        continue;
      if (path->temporal >> k & 1)
        b.loops[b.n++] = path->loops[k];
      else
        b.all = tf_sat_mul(b.all, m->ev.trip[path->loops[k]]);
    }
    m->ev.irregular |= !widen_inside(&b) || !widen(&b, 0);
    width = tf_sat_mul(width, b.most);
  }
  return width;
}
