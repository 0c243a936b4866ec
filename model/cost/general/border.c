/* Where borders clip boxes, the largest of them need not be the first: the settings that make a box, or the
 * instances in use, largest are climbed to, loop by loop.  Away from borders all settings are
 * alike, and the lengths that a loop gives are unimodal along it: first, middle and last suffice. */
#include <string.h>

#include "model/cost/general/general.h"
#include "model/flow/retain.h"

typedef int64_t measure(struct tf_model *m, const void *what, const int64_t *digits);

/* Moves digits[] of the loops to where the measure is largest near by. */
static void climb_from(struct tf_model *m, const int *loops, int n_loops, measure *size, const void *what,
                       int64_t *digits) {
  int64_t best = size(m, what, digits);
  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < n_loops; k++) {
      int l = loops[k];
      int64_t n = tf_turns(&m->ev, l, digits);
      const int64_t tries[] = {0, (n - 1) / 2, n / 2, n - 1};
      int64_t kept = digits[l];
      for (int t = 0; t < 4; t++) {
        digits[l] = tries[t];
        int64_t now = size(m, what, digits);
        if (now > best) {
          best = now;
          kept = tries[t];
        }
      }
      digits[l] = kept;
    }
}

/* What is looked at: the loops that matter, and where the largest was found. */
typedef struct {
  struct tf_model *m;
  measure *size;
  const void *what;
  int n, loops[TF_MAX_PATH];
  int64_t *digits, *top, best;
} hunt;

static void keep_larger(hunt *h) {
  int64_t now = h->size(h->m, h->what, h->digits);
  if (now <= h->best) return;
  h->best = now;
  memcpy(h->top, h->digits, (size_t)h->m->plan->n_loops * sizeof *h->top);
}

/* Settings of all loops together. */
static double settings(const hunt *h) {
  double n = 1;
  for (int i = 0; i < h->n; i++)
    n *= (double)h->m->ev.trip[h->loops[i]];
  return n;
}

/* Every combination of the loops from i on. */
static void try_every(hunt *h, int i) {
  if (i == h->n) {
    keep_larger(h);
    return;
  }
  int64_t *digit = &h->digits[h->loops[i]];
  *digit = 0;
  for (int64_t n = tf_turns(&h->m->ev, h->loops[i], h->digits), t = 0; t < n; t++) {
    *digit = t;
    try_every(h, i + 1);
  }
  *digit = 0;
}

/* Every combination of first, middle and last settings of the loops from i on. */
static void try_all(hunt *h, int i) {
  if (i == h->n) {
    keep_larger(h);
    return;
  }
  int64_t *digit = &h->digits[h->loops[i]];
  *digit = 0;
  int64_t n = tf_turns(&h->m->ev, h->loops[i], h->digits);
  const int64_t tries[] = {0, (n - 1) / 2, n / 2, n - 1};
  for (int t = 0; t < 4; t++) {
    *digit = tries[t];
    if (t == 0 || tries[t] != tries[t - 1]) try_all(h, i + 1);
  }
  *digit = 0;
}

/* The loops of the path, of those in `mask`, that may make a difference. */
static void list_loops(hunt *h, int node, bool temporal, bool spatial, uint64_t mask) {
  const tf_plan *p = h->m->plan;
  const tf_path *path = &p->path[node];
  for (int k = 0; k < path->n; k++) {
    int l = path->loops[k];
    bool wanted = p->loops[l].axis == TF_TEMPORAL ? temporal : spatial;
    if (mask >> k & 1 && wanted && h->m->ev.trip[l] > 1 && p->loops[l].op >= 0) h->loops[h->n++] = l;
  }
}

enum {
  TF_TRY_ALL = 6,    /* loops of which first, middle and last are tried in every combination */
  TF_TRY_EVERY = 256 /* settings that are all tried: boxes narrower than the padding may meet the tensor anywhere */
};

/* The largest measure, and in scratch.prv the setting that has it, of the loops in `mask`: among all settings where
 * they are few, among first, middle and last ones of few loops, else climbing from the first, the middle and the last.
 */
static int64_t climb(struct tf_model *m, int node, bool temporal, bool spatial, uint64_t mask, measure *size,
                     const void *what) {
  int64_t *digits = m->scratch.prv;
  hunt h = {.m = m, .size = size, .what = what, .digits = digits, .top = m->scratch.top, .best = -1};
  size_t bytes = (size_t)m->plan->n_loops * sizeof *digits;
  list_loops(&h, node, temporal, spatial, m->plan->n_retains ? ~UINT64_C(0) : mask);
  memset(digits, 0, bytes);
  bool every = settings(&h) <= TF_TRY_EVERY;
  if (every)
    try_every(&h, 0);
  else if (h.n <= TF_TRY_ALL)
    try_all(&h, 0);
  for (int start = 0; start < 3 && !every && h.n > TF_TRY_ALL; start++) {
    memset(digits, 0, bytes);
    for (int i = 0; i < h.n && start; i++) {
      int64_t n = tf_turns(&m->ev, h.loops[i], digits);
      digits[h.loops[i]] = start == 1 ? n / 2 : n - 1;
    }
    climb_from(m, h.loops, h.n, size, what, digits);
    keep_larger(&h);
  }
  memcpy(digits, h.top, bytes);
  return h.best;
}

/* The retaining scope whose runs decide what slice s holds, NULL: none. */
static const tf_retain *decider(const tf_plan *p, const tf_slice *s) {
  int above = p->retain_at[s->node];
  for (int i = 0; i < s->n_touch && above >= 0; i++)
    if (p->made_in[s->touch[i].op] == above) return &p->retains[above];
  return NULL;
}

/* The lengths of slice s at the digits; false: it is not entered there. */
static bool lengths(struct tf_model *m, const tf_slice *s, const int64_t *digits, int64_t *len) {
  const tf_retain *h = decider(m->plan, s);
  bool any = true;
  tf_made made;
  if (h) tf_retain_at(&m->ev, &m->scratch, h, digits, &made);
  for (int r = 0; r < m->plan->wl->tensors[s->tensor].rank; r++) {
    len[r] = tf_slice_rank(&m->ev, s, r, digits).len;
    any &= len[r] > 0;
  }
  any &= !h || tf_retain_touched(&m->ev, h, s, digits);
  m->ev.made = NULL;
  return any;
}

static int64_t box_at(struct tf_model *m, const void *what, const int64_t *digits) {
  const tf_slice *s = what;
  int64_t words = 1, len[TF_MAX_RANK];
  if (!lengths(m, s, digits, len)) return 0;
  for (int r = 0; r < m->plan->wl->tensors[s->tensor].rank; r++)
    if (__builtin_mul_overflow(words, len[r], &words)) return INT64_MAX;
  return words;
}

/* Bits that m-tile `what` holds at the digits. */
static int64_t tile_at(struct tf_model *m, const void *what, const int64_t *digits) {
  const tf_view *v = what;
  int64_t bits = 0;
  for (int i = v->first; i < v->first + v->n_slices; i++) {
    int64_t b, word = m->plan->wl->tensors[m->plan->slices[i].tensor].word_bits;
    if (__builtin_mul_overflow(box_at(m, &m->plan->slices[i], digits), word, &b) ||
        __builtin_add_overflow(bits, b, &bits))
      return INT64_MAX;
  }
  return bits;
}

/* The retaining scope whose runs decide how much of intermediate z its home holds, NULL: none. */
static const tf_retain *home_decider(const tf_plan *p, int z) {
  int in = p->made_in[p->wl->tensors[z].producer];
  return in >= 0 && tf_plan_above(p, p->retains[in].scope, p->home_scope[z]) ? &p->retains[in] : NULL;
}

static int64_t home_at(struct tf_model *m, const void *what, const int64_t *digits) {
  int z = *(const int *)what;
  return tf_home_words(m, z, home_decider(m->plan, z), digits);
}

/* Instances in use at the step of the digits. */
static int64_t width_at(struct tf_model *m, const void *what, const int64_t *digits) {
  tf_sum sum;
  memcpy(m->scratch.fixed, digits, (size_t)m->plan->n_loops * sizeof *digits);
  bool ok = tf_sum_over(&m->ev, &m->scratch, what, NULL, false, TF_OVER_WIDTH, &sum);
  memset(m->scratch.fixed, 0, (size_t)m->plan->n_loops * sizeof *digits);
  return ok ? sum.box : 0;
}

/* Positions of the loops that move slice s. */
static uint64_t movers(const tf_plan *p, const tf_slice *s) {
  uint64_t mask = 0;
  for (int r = 0; r < p->wl->tensors[s->tensor].rank; r++)
    mask |= tf_slice_mask(p, s, r);
  return mask;
}

static int64_t range_of(struct tf_model *m, const void *what, const int64_t *digits) {
  const int *od = what;
  return tf_dim_range(&m->ev, od[0], od[1], m->plan->tree->op_node[od[0]], digits).len;
}

int64_t tf_border_range(struct tf_model *m, int o, int d) {
  const int what[2] = {o, d};
  const int leaf = m->plan->tree->op_node[o];
  return climb(m, leaf, true, true, tf_dim_mask(m->plan, o, d, leaf), range_of, what);
}

void tf_border_homes(struct tf_model *m) {
  const tf_plan *p = m->plan;
  for (int z = 0; z < p->wl->n_tensors; z++) {
    if (p->home_scope[z] < 0) continue;
    uint64_t mask = 0;
    const tf_op *maker = &p->wl->ops[p->wl->tensors[z].producer];
    for (int r = 0; r < maker->n_out_dims; r++)
      mask |= tf_dim_mask(p, p->wl->tensors[z].producer, maker->dims[r], p->home_scope[z]);
    m->home_words[z] = climb(m, p->home_scope[z], true, true, mask, home_at, &z);
  }
}

/* The bits that m-tile v holds where all its slices are largest at one moment: in the first, the middle or the last
 * setting of the loops; -1: in none of them.  No setting has more. */
static int64_t all_largest(struct tf_model *m, const hunt *h, const tf_view *v) {
  int64_t most = 0, *digits = m->scratch.prv;
  for (int i = v->first; i < v->first + v->n_slices; i++) {
    int64_t b, word = m->plan->wl->tensors[m->plan->slices[i].tensor].word_bits;
    if (__builtin_mul_overflow(m->box[i], word, &b) || __builtin_add_overflow(most, b, &most)) return -1;
  }
  for (int at = 0; at < 3; at++) {
    memset(digits, 0, (size_t)m->plan->n_loops * sizeof *digits);
    for (int i = 0; i < h->n && at; i++) {
      const int64_t n = tf_turns(&m->ev, h->loops[i], digits);
      digits[h->loops[i]] = at == 1 ? n / 2 : n - 1;
    }
    if (tile_at(m, v, digits) == most) return most;
  }
  return -1;
}

/* Most bits that m-tile n holds at one moment, of the loops in `mask`: of too many settings to try all, climbing also
 * from where each of its slices is largest. */
static int64_t most_at_once(struct tf_model *m, int n, const tf_view *v, uint64_t mask) {
  const tf_plan *p = m->plan;
  hunt h = {.m = m};
  list_loops(&h, n, true, true, p->n_retains ? ~UINT64_C(0) : mask);
  int64_t most = all_largest(m, &h, v);
  if (most >= 0) return most;
  most = climb(m, n, true, true, mask, tile_at, v);
  for (int i = v->first; i < v->first + v->n_slices && settings(&h) > TF_TRY_EVERY; i++) {
    climb(m, n, true, true, movers(p, &p->slices[i]), box_at, &p->slices[i]);
    climb_from(m, h.loops, h.n, tile_at, v, m->scratch.prv);
    int64_t now = tile_at(m, v, m->scratch.prv);
    most = now > most ? now : most;
  }
  return most;
}

void tf_border_sizes(struct tf_model *m) {
  const tf_plan *p = m->plan;
  for (int i = 0; i < p->n_tile_slices; i++) {
    const tf_slice *s = &p->slices[i];
    m->box[i] = climb(m, s->node, true, true, movers(p, s), box_at, s);
    lengths(m, s, m->scratch.prv, &m->rank_len[m->views->rank_at[i]]);
  }
  for (int n = 0; n < p->tree->n_nodes; n++) {
    const tf_view *v = &m->views->node[n];
    uint64_t mask = 0;
    for (int i = v->first; i < v->first + v->n_slices; i++)
      mask |= movers(p, &p->slices[i]);
    if (v->n_slices) m->at_once[n] = most_at_once(m, n, v, mask);
  }
}

int64_t tf_border_width(struct tf_model *m, int n) {
  const tf_plan *p = m->plan;
  uint64_t mask = 0;
  for (int k = 0; k < p->path[n].n; k++) { /* all that the spatial loops' ranges depend on */
    const tf_ploop *l = &p->loops[p->path[n].loops[k]];
    if (l->axis == TF_TEMPORAL || l->op < 0) continue;
    for (int i = 0; i < l->n_leader; i++)
      mask |= tf_base_mask(p, l->leaders[i], l->dim);
    for (int j = 0; j < k; j++)
      mask |= (uint64_t)(p->loops[p->path[n].loops[j]].lead == l->lead && p->loops[p->path[n].loops[j]].dim == l->dim)
              << j;
  }
  return climb(m, n, true, false, mask, width_at, &p->at[n]);
}

/* The shortest range of dim d that consumers below node n ask of op o, borders left out: of full tiles, or of those cut
 * short at the end of every loop. */
static int64_t shortest(struct tf_model *m, int o, int d, int n) {
  const tf_path *path = &m->plan->path[n];
  int64_t *digits = m->scratch.cur, full = tf_dim_range(&m->ev, o, d, n, m->scratch.zero).len;
  memset(digits, 0, (size_t)m->plan->n_loops * sizeof *digits);
  for (int k = 0; k < path->n; k++)
    if (m->plan->loops[path->loops[k]].op >= 0) digits[path->loops[k]] = tf_turns(&m->ev, path->loops[k], digits) - 1;
  int64_t cut = tf_dim_range(&m->ev, o, d, n, digits).len;
  memset(digits, 0, (size_t)m->plan->n_loops * sizeof *digits);
  return cut < full ? cut : full;
}

bool tf_border_empties(struct tf_model *m) {
  const tf_plan *p = m->plan;
  bool found = false;
  m->ev.noclip = true;
  for (int o = 0; o < p->wl->n_ops; o++) {
    const tf_op *op = &p->wl->ops[o];
    const tf_tensor *z = &p->wl->tensors[op->out];
    int up = p->tree->nodes[p->lead[o]].parent;
    for (int r = 0; r < op->n_out_dims && up >= 0; r++) {
      int64_t len = shortest(m, o, op->dims[r], up);
      /* Of a tile cut short nobody knows what is left, but one element is. */
      if (p->retained[op->out] && tf_retain_cut(&m->ev, up, m->scratch.zero)) len = 1;
      found |= z->pad[r] > 0 && len <= z->pad[r];
    }
  }
  m->ev.noclip = false;
  return found;
}
