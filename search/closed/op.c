/* The own Tiles of one op: spatial unrolling first (Eq. 3.7), then tiles level by level (Eq. 3.21),
 * over all orders of its loop groups. */
#include "search/closed/op.h"
#include "base/checked.h"

#include <math.h>
#include <string.h>

#include "search/common/ops.h"

bool tf_c_permutation(int n, int k, int *out) {
  int left[5] = {0, 1, 2, 3, 4}, count = 1;
  for (int i = 2; i <= n; i++)
    count *= i;
  if (k >= count) return false;
  for (int i = 0; i < n; i++) {
    count /= n - i;
    int at = k / count;
    k %= count;
    out[i] = left[at];
    memmove(left + at, left + at + 1, (size_t)(n - i - 1 - at) * sizeof *left);
  }
  return true;
}

static uint64_t moved_by(const tf_chain *c, int l) {
  uint64_t bits = 0;
  for (int i = 0; i < c->n_uses; i++)
    bits |= (uint64_t)(c->uses[i].moves >> l & 1) << i;
  return bits;
}

int tf_c_groups(const tf_chain *c, const int *loops, int n, int *group) {
  uint64_t all = c->n_uses == 64 ? ~UINT64_C(0) : (UINT64_C(1) << c->n_uses) - 1;
  int n_groups = 0;
  for (int i = 0; i < n; i++) {
    uint64_t mine = moved_by(c, loops[i]);
    group[i] = mine == all ? -1 : n_groups < 4 ? n_groups : 3;
    for (int j = 0; j < i; j++)
      if (moved_by(c, loops[j]) == mine) group[i] = group[j];
    if (group[i] == n_groups) n_groups++;
  }
  return n_groups;
}

int tf_c_unit_level(const tf_arch *a, const tf_workload *wl, int op) {
  int u = tf_ops_unit(a, wl, op);
  return u < 0 ? 0 : a->units[u].below;
}

void tf_c_describe(const tf_arch *a, int level, double fraction, double instances, int d,
                   tf_c_problem *p) {
  const tf_memory *m = &a->memories[level], *up = &a->memories[level - 1];
  p->capacity[d] = m->capacity_words < 0 ? INFINITY : fmax(1, (double)m->capacity_words * fraction);
  p->word_bits[d] = m->word_bits;
  p->twice[d] = m->double_buffered;
  p->rate[d] = isinf(up->read_bw) ? 1e9 * instances : up->read_bw * instances;
}

/* ---- spatial unrolling ---------------------------------------------------------------------- */
enum { MOST_FACTOR = 1 << 16 };

static int64_t divisor(int64_t n, int64_t most) {
  int64_t k = n < most ? n : most;
  if (n > most && k > MOST_FACTOR) k = MOST_FACTOR;
  while (k > 1 && n % k)
    k--;
  return k < 1 ? 1 : k;
}

static void put_factor(tf_c_spread *s, int64_t *len, int slot, int axis, int64_t *room) {
  int64_t f = slot < 0 ? 1 : divisor(len[slot], *room);
  if (f <= 1 || s->n == 4) return;
  s->slot[s->n] = slot;
  s->axis[s->n] = axis;
  s->factor[s->n++] = f;
  len[slot] /= f;
  *room /= f;
}

/* The slot that fills most of the room left on an axis, other than `not_this`. */
static int best_slot(const int64_t *len, const int *use, int n, int64_t room, int not_this) {
  int best = -1;
  int64_t most = 1;
  for (int pass = 1; pass <= 2; pass++)
    for (int i = 0; i < n; i++)
      if (use[i] == pass && i != not_this && divisor(len[i], room) > most) {
        most = divisor(len[i], room);
        best = i;
      }
  return best;
}

/* Chooses the second factor of an axis: the one that fills most of it; `one_side`: among dims that
 * are not spread along the other axis. */
static void put_second(tf_c_spread *s, int64_t *left, const int *use, int n, int axis,
                       int64_t *room, bool one_side) {
  int free_use[TF_C_DIMS], first = -1;
  memcpy(free_use, use, (size_t)n * sizeof *use);
  for (int k = 0; k < s->n; k++) {
    if (s->axis[k] == axis) first = s->slot[k];
    if (one_side && s->axis[k] != axis) free_use[s->slot[k]] = 0;
  }
  if (*room > 1) put_factor(s, left, best_slot(left, free_use, n, *room, first), axis, room);
}

static tf_c_spread spread_by(const tf_c_mesh *m, const int64_t *len, const int *use, int n, int x,
                             int y) {
  tf_c_spread s = {0};
  int64_t left[TF_C_DIMS], room[2] = {m->size[0], m->size[1]};
  memcpy(left, len, (size_t)n * sizeof *len);
  put_factor(&s, left, x, 0, &room[0]);
  put_factor(&s, left, y, 1, &room[1]);
  for (int axis = 0; axis < 2; axis++)
    put_second(&s, left, use, n, axis, &room[axis], m->one_side);
  return s;
}

/* Instances filled; ties by fewer reduced dims, then by the density of Eq. 3.6, points per word. */
static double score(const tf_c_spread *s, const int *use, const uint64_t *words, int n_words) {
  double filled = 1, sum = 0;
  int reduced = 0;
  for (int i = 0; i < s->n; i++) {
    filled *= (double)s->factor[i];
    reduced += use[s->slot[i]] == 2;
  }
  for (int w = 0; w < n_words; w++) {
    double here = 1;
    for (int i = 0; i < s->n; i++)
      if (words[w] >> s->slot[i] & 1) here *= (double)s->factor[i];
    sum += here;
  }
  return filled * (1 - 1e-3 * reduced) * (1 + 1e-6 / (1 + sum / filled));
}

tf_c_spread tf_c_fill(const tf_c_mesh *mesh, const int64_t *len, const int *use, int n,
                      const uint64_t *words, int n_words) {
  tf_c_spread best = {0};
  double most = -1;
  if (mesh->size[0] <= 1 && mesh->size[1] <= 1) return best;
  for (int x = -1; x < n; x++)
    for (int y = -1; y < n; y++) {
      if ((x >= 0 && !use[x]) || (y >= 0 && !use[y]) || (mesh->one_side && x >= 0 && x == y))
        continue;
      tf_c_spread s = spread_by(mesh, len, use, n, x, y);
      double here = score(&s, use, words, n_words);
      if (here > most) {
        most = here;
        best = s;
      }
    }
  return best;
}

static const int64_t *mesh_below(const tf_c_ops *s, const tf_c_op *o, int level) {
  if (level < o->unit_level) return s->arch->memories[level + 1].mesh;
  return s->arch->units[tf_ops_unit(s->arch, s->wl, o->op)].mesh;
}

/* The dims of the op that index a reference, as bits. */
static uint64_t indexed(const tf_workload *wl, const tf_op *op, const tf_ref *ref) {
  uint64_t bits = 0;
  for (int r = 0; r < wl->tensors[ref->tensor].rank; r++)
    for (int t = 0; t < ref->index[r].n_terms; t++)
      for (int i = 0; i < op->n_dims; i++)
        if (op->dims[i] == ref->index[r].terms[t].dim) bits |= UINT64_C(1) << i;
  return bits;
}

/* Fills mesh by mesh, from the innermost or from the outermost; left[]: what is left of the
 * lengths.  Returns how many instances are filled. */
static double spread_from(const tf_c_ops *s, const tf_c_op *o, bool outside, tf_c_spread *spread,
                          int64_t *left) {
  const tf_op *op = &s->wl->ops[o->op];
  int use[TF_C_DIMS];
  memcpy(left, o->len, (size_t)op->n_dims * sizeof *left);
  for (int i = 0; i < op->n_dims; i++)
    use[i] = tf_ops_window(s->wl, op->dims[i]) ? 0 : i < op->n_out_dims ? 1 : 2;
  uint64_t words[TF_C_USES];
  int n_words = op->n_reads < TF_C_USES ? op->n_reads : TF_C_USES;
  double filled = 1;
  for (int r = 0; r < n_words; r++)
    words[r] = indexed(s->wl, op, &op->reads[r]);
  for (int k = o->top; k <= o->unit_level; k++) {
    int l = outside ? k : o->unit_level - (k - o->top);
    const tf_c_mesh mesh = {mesh_below(s, o, l), s->one_side};
    spread[l] = tf_c_fill(&mesh, left, use, op->n_dims, words, n_words);
    for (int i = 0; i < spread[l].n; i++) {
      left[spread[l].slot[i]] /= spread[l].factor[i];
      filled *= (double)spread[l].factor[i];
    }
  }
  return filled;
}

/* Spreads from the innermost mesh, unless the other way fills more instances. */
static void spread_all(const tf_c_ops *s, const tf_c_op *o, tf_c_spread *spread, int64_t *left) {
  double inside = spread_from(s, o, false, spread, left);
  if (spread_from(s, o, true, spread, left) <= inside) spread_from(s, o, false, spread, left);
}

void tf_c_lanes(const tf_c_ops *s, int op, int top, const int64_t *len, int64_t *lanes) {
  tf_c_op o = {.op = op, .top = top, .unit_level = tf_c_unit_level(s->arch, s->wl, op)};
  tf_c_spread spread[TF_C_LEVELS + 1] = {0};
  int64_t left[TF_C_DIMS];
  memcpy(o.len, len, (size_t)s->wl->ops[op].n_dims * sizeof *len);
  if (o.unit_level <= TF_C_LEVELS) spread_all(s, &o, spread, left);
  for (int i = 0; i < s->wl->ops[op].n_dims; i++)
    lanes[i] = o.unit_level <= TF_C_LEVELS && left[i] > 0 ? len[i] / left[i] : 1;
}

/* ---- tiles ---------------------------------------------------------------------------------- */
static int slot_of(const tf_op *op, int dim) {
  int i = 0;
  while (op->dims[i] != dim)
    i++;
  return i;
}

/* The op as a chain of its own with these lengths, and its problem without the loop order. */
static bool make_problem(const tf_c_ops *s, const tf_c_op *o, const tf_c_spread *spread,
                         tf_chain *c, tf_c_problem *p) {
  const tf_op *op = &s->wl->ops[o->op];
  if (!tf_chain_of(s->wl, o->op, NULL, c)) return false;
  *p = (tf_c_problem){.chain = c, .kind = TF_SEQ, .n = o->unit_level - o->top};
  double instances = 1;
  for (int l = 0; l < c->n_loops; l++) {
    c->loops[l].extent = o->len[slot_of(op, c->loops[l].dim)];
    double inner = 1;
    for (int k = 0; k < spread[o->unit_level].n; k++)
      if (op->dims[spread[o->unit_level].slot[k]] == c->loops[l].dim)
        inner *= (double)spread[o->unit_level].factor[k];
    p->low[l] = inner;
  }
  for (int d = 0; d < p->n; d++) {
    tf_c_describe(s->arch, o->top + d + 1, 1, instances, d, p);
    for (int l = 0; l < c->n_loops; l++) {
      p->spread[d][l] = d ? p->spread[d - 1][l] : 1;
      for (int k = 0; k < spread[o->top + d].n; k++)
        if (op->dims[spread[o->top + d].slot[k]] == c->loops[l].dim)
          p->spread[d][l] *= (double)spread[o->top + d].factor[k];
    }
    for (int k = 0; k < spread[o->top + d].n; k++)
      instances *= (double)spread[o->top + d].factor[k];
  }
  return true;
}

/* The order: loops that move all uses, then group by group as the permutation says. */
static void set_order(tf_c_problem *p, const int *loops, int n, const int *group,
                      const int *permutation, int n_groups) {
  p->n_order = 0;
  for (int g = -1; g < n_groups; g++)
    for (int i = 0; i < n; i++)
      if (group[i] == (g < 0 ? -1 : permutation[g])) p->order[p->n_order++] = loops[i];
}

static double cost_of(const tf_c_ops *s, const tf_c_op *o, const tf_c_problem *p,
                      const tf_c_tiles *t) {
  double worst = 0, sum = 0, energy = 0;
  for (int d = 0; d < p->n; d++) {
    double words = tf_c_level_words(p, t, d);
    worst = fmax(worst, words / p->rate[d]);
    sum += words / p->rate[d];
    energy += words *
              (s->arch->memories[o->top + d].read_pj + s->arch->memories[o->top + d + 1].write_pj);
  }
  return s->objective == TF_ENERGY ? energy : worst + 0.01 * sum;
}

/* The loops of the order, then the others, which the last Tile takes whole. */
static void all_loops(const tf_c_problem *p, int *loops) {
  int n = 0;
  uint32_t cut = 0;
  for (int i = 0; i < p->n_order; i++) {
    loops[n++] = p->order[i];
    cut |= UINT32_C(1) << p->order[i];
  }
  for (int l = 0; l < p->chain->n_loops; l++)
    if (!(cut >> l & 1)) loops[n++] = l;
}

static void write_tiles(const tf_op *op, const tf_c_problem *p, const tf_c_tiles *t,
                        const tf_c_spread *spread, tf_c_op *o) {
  const tf_chain *c = p->chain;
  int loops[TF_C_LOOPS];
  all_loops(p, loops);
  for (int m = o->top; m <= o->unit_level; m++) {
    int d = m - o->top; /* tile[d - 1] is what reaches Tile m */
    tf_c_tile *w = &o->tile[m];
    w->n = 0;
    for (int i = 0; i < c->n_loops; i++) {
      int l = loops[i];
      int64_t from = d ? (int64_t)(t->tile[d - 1][l] + 0.5) : c->loops[l].extent;
      int64_t to = m < o->unit_level ? (int64_t)(t->tile[d][l] + 0.5) : 1;
      for (int k = 0; k < spread[m].n; k++)
        if (op->dims[spread[m].slot[k]] == c->loops[l].dim)
          to = tf_sat_mul(to, spread[m].factor[k]);
      tf_c_add(w, c->loops[l].dim, tf_ceil_div(from, to), TF_TEMPORAL);
    }
    for (int k = 0; k < spread[m].n; k++)
      tf_c_add(w, op->dims[spread[m].slot[k]], spread[m].factor[k],
               spread[m].axis[k] ? TF_SPATIAL_Y : TF_SPATIAL_X);
  }
}

/* Takes the least tile of each loop that is tiled, where no real solution fits. */
static void least_tiles(const tf_c_problem *p, tf_c_tiles *t) {
  for (int d = 0; d < p->n; d++)
    for (int l = 0; l < p->chain->n_loops; l++)
      t->tile[d][l] = p->need[d][l];
}

static bool fits(const tf_c_problem *p, const tf_c_tiles *t) {
  for (int d = 0; d < p->n; d++)
    if (!tf_c_fits(p, t, d)) return false;
  return true;
}

/* Finds the numbers of which tiles must be multiples: what the meshes further in take of the
 * loop. */
static void find_needs(const tf_c_ops *s, const tf_c_op *o, const tf_c_spread *spread,
                       tf_c_problem *p) {
  const tf_op *op = &s->wl->ops[o->op];
  for (int d = 0; d < p->n; d++)
    for (int l = 0; l < p->chain->n_loops; l++) {
      p->need[d][l] = 1;
      for (int m = o->top + d + 1; m <= o->unit_level; m++)
        for (int k = 0; k < spread[m].n; k++)
          if (op->dims[spread[m].slot[k]] == p->chain->loops[l].dim)
            p->need[d][l] *= (double)spread[m].factor[k];
    }
}

/* The innermost mesh of more than one instance. */
static void find_axes(const tf_c_ops *s, tf_c_op *o, const tf_c_spread *spread) {
  o->lanes[0] = o->lanes[1] = 1;
  for (int l = o->unit_level; l >= o->top; l--) {
    const int64_t *mesh = mesh_below(s, o, l);
    if (mesh[0] * mesh[1] <= 1) continue;
    for (int k = 0; k < spread[l].n; k++)
      o->lanes[spread[l].axis[k]] *= spread[l].factor[k];
    return;
  }
}

static tf_c_tiles all_instances(const tf_c_problem *p, const tf_c_tiles *t) {
  tf_c_tiles all = *t;
  for (int l = 0; l < p->chain->n_loops; l++)
    all.tile[0][l] = fmin(t->tile[0][l] * p->spread[0][l], (double)p->chain->loops[l].extent);
  return all;
}

static void solve(tf_c_ops *s, tf_c_op *o) {
  tf_c_spread spread[TF_C_LEVELS + 1] = {0};
  int64_t left[TF_C_DIMS];
  tf_chain chain;
  tf_c_problem p;
  double least = INFINITY, cost;
  int cut[TF_C_LOOPS] = {0}, group[TF_C_LOOPS], permutation[5], n = 0;
  spread_all(s, o, spread, left);
  if (!make_problem(s, o, spread, &chain, &p)) return;
  find_needs(s, o, spread, &p);
  find_axes(s, o, spread);
  for (int l = 0; l < chain.n_loops; l++)
    if (chain.loops[l].extent > 1) {
      p.late[l] = tf_ops_window(s->wl, chain.loops[l].dim);
      cut[n++] = l;
    }
  int n_groups = tf_c_groups(&chain, cut, n, group);
  p.reloads = true;
  for (int i = 0; i < n; i++)
    p.pin[cut[i]] = group[i] < 0;
  for (int k = 0; tf_c_permutation(n_groups, k, permutation); k++) {
    tf_c_tiles real, whole;
    set_order(&p, cut, n, group, permutation, n_groups);
    o->orders++;
    for (int way = 0; way < 2; way++) {
      if (way)
        least_tiles(&p, &whole);
      else if (p.n == 0)
        memset(&whole, 0, sizeof whole);
      else if (!tf_c_solve(&p, &real, &cost) || !tf_c_round(&p, &real, &whole))
        continue;
      if (!fits(&p, &whole)) continue;
      double here = cost_of(s, o, &p, &whole);
      if (o->found && here >= least * (1 - 1e-12)) continue;
      least = here;
      o->found = true;
      if (p.n) {
        double held;
        o->tree = tf_c_level_words(&p, &whole, 0);
        o->real = tf_c_real_words(&p, way ? &whole : &real);
        o->limit = tf_c_round_limit(&p, way ? &whole : &real);
        tf_chain_algorithm1(&chain, p.order, p.n_order, all_instances(&p, &whole).tile[0],
                            &o->formula, &held);
      }
      write_tiles(&s->wl->ops[o->op], &p, &whole, spread, o);
    }
    if (p.n == 0) break;
  }
}

const tf_c_op *tf_c_op_tiles(tf_c_ops *s, int op, int top, const int64_t *len) {
  size_t bytes = (size_t)s->wl->ops[op].n_dims * sizeof *len;
  for (int i = 0; i < s->n; i++)
    if (s->list[i].op == op && s->list[i].top == top && !memcmp(s->list[i].len, len, bytes))
      return &s->list[i];
  if (s->n == TF_C_MEMO) s->n = 0; /* full: empty the cache */
  tf_c_op *o = &s->list[s->n++];
  memset(o, 0, sizeof *o);
  o->op = op;
  o->top = top;
  o->unit_level = tf_c_unit_level(s->arch, s->wl, op);
  memcpy(o->len, len, bytes);
  if (o->unit_level - top < TF_C_LEVELS && o->unit_level >= top) solve(s, o);
  s->orders += o->orders;
  return o;
}

/* ---- nodes ---------------------------------------------------------------------------------- */
void tf_c_add(tf_c_tile *t, int dim, int64_t trip, tf_axis axis) {
  if (trip <= 1 || t->n == TF_C_TILE_LOOPS) return;
  t->dim[t->n] = dim;
  t->trip[t->n] = trip;
  t->axis[t->n++] = axis;
}

int tf_c_put(tf_build *b, int parent, int level, const tf_c_tile *t) {
  int n = tf_build_tile(b, parent, level);
  for (int i = 0; i < t->n; i++)
    tf_build_loop(b, (tf_loop){.dim = t->dim[i], .trip = t->trip[i], .axis = t->axis[i]});
  return n;
}

void tf_c_put_op(tf_build *b, int parent, const tf_c_op *o) {
  for (int m = o->top; m <= o->unit_level; m++)
    parent = tf_c_put(b, parent, m, &o->tile[m]);
  tf_build_op(b, parent, o->op);
}
