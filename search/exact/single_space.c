/* The space of all trip counts of one op: its variables, orders and bypasses, and how boxes of
 * mappings are split. */
#include <math.h>
#include <string.h>

#include "model/tree/build.h"
#include "search/exact/single.h"

#define NEARLY 1.1 /* lengths that enter a Tile are narrowed to this ratio before its steps */

/* ---- boxes ---------------------------------------------------------------------------------- */
tf_single_span *tf_single_span_of(tf_single_part *p, const tf_single_var *v) {
  if (v->axis == TF_SINGLE_BLOCK) return &p->b.block[v->tile][v->dim];
  return v->axis >= 0 ? &p->b.spread[v->tile][v->axis][v->dim] : &p->b.steps[v->tile][v->dim];
}

/* Without an order all loops are at the same place, and none counts as outside of another. */
void tf_single_put_in_order(const tf_single_space *s, int tile, int32_t order, tf_single_part *p) {
  p->order[tile] = order;
  for (int d = 0; d < s->op.n_dims; d++) {
    p->b.place[tile][d] = 0;
    for (int k = 0; k < s->n_groups && order >= 0; k++)
      if (s->order[order][k] == s->t->tiles[0].group[d]) p->b.place[tile][d] = k + 1;
  }
}

static uint32_t all_tensors(const tf_single_space *s) {
  return (UINT32_C(1) << s->op.n_tensors) - 1;
}

void tf_single_ones(const tf_single_space *s, tf_single_part *p) {
  for (int l = 0; l < s->op.n_tiles; l++) {
    tf_single_put_in_order(s, l, TF_SINGLE_NO_ORDER, p);
    p->b.held[l] = l ? 0 : all_tensors(s);
    p->b.past[l] = 0;
    for (int d = 0; d < s->op.n_dims; d++) {
      p->b.spread[l][0][d] = p->b.spread[l][1][d] = p->b.steps[l][d] = (tf_single_span){1, 1};
      p->b.block[l][d] = (tf_single_span){1, (int32_t)s->op.extent[d]};
    }
  }
}

/* No memory further out than its home holds a tensor; nor do instances spread a sum that lives in
 * each of them. */
static void restrict_to_home(const tf_single_space *s, int z, tf_single_part *p) {
  const tf_single_tensor *t = &s->op.tensor[z];
  p->b.held[t->home] |= UINT32_C(1) << z;
  for (int l = 0; l < t->home; l++) {
    p->b.held[l] &= ~(UINT32_C(1) << z);
    if (l) p->b.past[l] |= UINT32_C(1) << z;
    for (int d = 0; t->made && d < s->op.n_dims; d++)
      if (!(t->dims >> d & 1)) p->b.spread[l][0][d].hi = p->b.spread[l][1][d].hi = 1;
  }
}

void tf_single_all(const tf_single_space *s, tf_single_part *p) {
  tf_single_ones(s, p);
  for (int i = 0; i < s->n_vars; i++) {
    const tf_single_var *v = &s->var[i];
    const double extent = s->op.extent[v->dim];
    tf_single_span_of(p, v)->hi =
        (int32_t)(v->axis < 0 ? extent : fmin((double)s->op.mesh[v->tile][v->axis], extent));
  }
  for (int z = 0; z < s->op.n_tensors; z++)
    if (s->op.tensor[z].home) restrict_to_home(s, z, p);
}

tf_single_span tf_single_steps(const tf_single_space *s, const tf_single_box *b, int tile, int d) {
  double lo = 1, hi = 1;
  if (tile > 0) return b->steps[tile][d];
  for (int l = 0; l < s->op.n_tiles; l++) {
    const tf_single_span x = b->spread[l][0][d], y = b->spread[l][1][d];
    lo *= (double)x.lo * y.lo * (l ? b->steps[l][d].lo : 1);
    hi *= (double)x.hi * y.hi * (l ? b->steps[l][d].hi : 1);
  }
  return (tf_single_span){(int32_t)fmax(1, ceil(s->op.extent[d] / hi)),
                          (int32_t)fmax(1, ceil(s->op.extent[d] / lo))};
}

tf_single_span tf_single_group_steps(const tf_single_space *s, const tf_single_box *b, int tile,
                                     int group) {
  tf_single_span most = {1, 1};
  for (int d = 0; d < s->op.n_dims; d++) {
    if (s->t->tiles[0].group[d] != group) continue;
    const tf_single_span t = tf_single_steps(s, b, tile, d);
    if (t.lo > most.lo) most.lo = t.lo;
    if (t.hi > most.hi) most.hi = t.hi;
  }
  return most;
}

int tf_single_symmetric_tile(const tf_single_space *s, const tf_single_part *p) {
  for (int l = 0; l + 1 < s->op.n_tiles; l++) {
    const int *g = s->order[p->order[l] < 0 ? 0 : p->order[l]];
    for (int i = 0; i < s->n_groups && p->order[l] >= 0; i++)
      for (int j = i + 1; j < s->n_groups && tf_single_group_steps(s, &p->b, l, g[i]).hi == 1;
           j++) {
        const tf_single_span inner = tf_single_group_steps(s, &p->b, l, g[j]);
        if (inner.lo > 1 || (inner.hi == 1 && g[i] > g[j])) return l;
      }
  }
  return -1;
}

/* ---- spreads -------------------------------------------------------------------------------- */
/* Narrows the spans of an axis to what the mesh holds; false if nothing is left.  If a dim is
 * spread along one axis at most, its part on this axis excludes the other. */
static bool tighten(const tf_single_space *s, int tile, int axis, tf_single_box *b) {
  tf_single_span *p = b->spread[tile][axis], *other = b->spread[tile][1 - axis];
  int64_t least = 1;
  int on = 0;
  for (int d = 0; d < s->op.n_dims; d++) {
    least *= p[d].lo;
    on += p[d].lo > 1;
    if (least > s->op.mesh[tile][axis] || on > TF_SINGLE_ON_AN_AXIS) return false;
    if (p[d].lo == 1 || !s->t->tiles[tile].one_side) continue;
    if (other[d].lo > 1) return false;
    other[d].hi = 1;
  }
  for (int d = 0; d < s->op.n_dims; d++) {
    const int64_t most =
        on == TF_SINGLE_ON_AN_AXIS && p[d].lo == 1 ? 1 : s->op.mesh[tile][axis] / (least / p[d].lo);
    if (p[d].hi > most) p[d].hi = (int32_t)most;
  }
  return true;
}

typedef struct {
  const tf_single_space *s;
  int tile, on[2];
  int64_t used[2];
  int64_t all[TF_SINGLE_DIMS],
      x[TF_SINGLE_DIMS]; /* instances of each dim, and those of them on X */
} layout;

/* Lays out dims d .., with as much as possible on X, first dims first. */
static bool lay_out(layout *y, int d) {
  if (d == y->s->op.n_dims) return true;
  const int64_t *mesh = y->s->op.mesh[y->tile];
  const int64_t room = mesh[0] / y->used[0];
  for (int64_t x = y->all[d] < room ? y->all[d] : room; x > 0; x--) {
    const int64_t on[2] = {x, y->all[d] / x};
    if (y->all[d] % x || on[1] > mesh[1] / y->used[1]) continue;
    if (y->on[0] + (on[0] > 1) > TF_SINGLE_ON_AN_AXIS ||
        y->on[1] + (on[1] > 1) > TF_SINGLE_ON_AN_AXIS)
      continue;
    if (y->s->t->tiles[y->tile].one_side && on[0] > 1 && on[1] > 1) continue;
    layout next = *y;
    next.x[d] = x;
    for (int a = 0; a < 2; a++) {
      next.used[a] *= on[a];
      next.on[a] += on[a] > 1;
    }
    if (lay_out(&next, d + 1)) {
      *y = next;
      return true;
    }
  }
  return false;
}

/* Whether the Tile's layout on the two axes is the canonical one: counts depend only on the product
 * of a dim's instances on both.  Known once the Tile's spread is. */
static bool is_canonical(const tf_single_space *s, int tile, const tf_single_box *b) {
  layout y = {.s = s, .tile = tile, .used = {1, 1}};
  for (int d = 0; d < s->op.n_dims; d++) {
    const tf_single_span on_x = b->spread[tile][0][d], on_y = b->spread[tile][1][d];
    if (on_x.lo < on_x.hi || on_y.lo < on_y.hi) return true;
    y.all[d] = (int64_t)on_x.lo * on_y.lo;
  }
  bool first = lay_out(&y, 0);
  for (int d = 0; d < s->op.n_dims; d++)
    first &= y.x[d] == b->spread[tile][0][d].lo;
  return first;
}

/* ---- bypasses ------------------------------------------------------------------------------- */
/* Traffic depends only on the Tiles outside of the outermost memories that hold each tensor, of
 * which Tile `last` is the innermost: it can take all steps, and nothing further in is spread. */
static void take_all_steps(const tf_single_space *s, int last, tf_single_part *p) {
  for (int l = last; l < s->op.n_tiles; l++) {
    tf_single_put_in_order(s, l, TF_SINGLE_ANY_ORDER, p);
    for (int d = 0; d < s->op.n_dims; d++) {
      p->b.spread[l][0][d] = p->b.spread[l][1][d] = p->b.steps[l][d] = (tf_single_span){1, 1};
      if (l == last)
        p->b.steps[l][d].hi = (int32_t)s->op.extent[d];
      else
        p->b.block[l][d] = (tf_single_span){1, (int32_t)s->op.extent[d]};
    }
  }
}

/* A tensor need not be held further in than by its outermost holder. */
static void forget_inside(const tf_single_space *s, tf_single_part *p) {
  uint32_t met = 0; /* held further out */
  int last = 0;
  for (int l = 1; l < s->op.n_tiles; l++) {
    p->b.past[l] |= met;
    p->b.held[l] &= ~met;
    if (p->b.held[l]) last = l;
    met |= p->b.held[l];
  }
  if (met == all_tensors(s)) take_all_steps(s, last, p);
}

void tf_single_hold_all(const tf_single_space *s, tf_single_part *p) {
  for (int l = 1; l < s->op.n_tiles; l++)
    p->b.held[l] = all_tensors(s);
  if (s->objective == TF_TRAFFIC) take_all_steps(s, 1, p);
}

/* The first tensor for which it is open whether the Tile holds it; -1: none. */
static int first_open_bypass(const tf_single_space *s, const tf_single_part *p, int tile) {
  for (int z = 0; z < s->op.n_tensors; z++)
    if (!((p->b.held[tile] | p->b.past[tile]) >> z & 1)) return z;
  return -1;
}

/* ---- splitting ------------------------------------------------------------------------------ */
/* The variable of a kind with the widest span, of one Tile, or of all (tile -1); -1: all are single
 * numbers.  *ratio: of its largest to its least value. */
static int widest(const tf_single_space *s, tf_single_part *p, int axis, int tile, double *ratio) {
  int best = -1;
  *ratio = 1;
  for (int i = 0; i < s->n_vars; i++) {
    const tf_single_var *v = &s->var[i];
    const tf_single_span k = *tf_single_span_of(p, v);
    if ((v->axis >= 0 ? 0 : v->axis) != axis || (tile >= 0 && v->tile != tile)) continue;
    if ((double)k.hi / k.lo > *ratio) *ratio = (double)k.hi / k.lo, best = i;
  }
  return best;
}

static tf_single_split halve(const tf_single_space *s, tf_single_part *p, int var) {
  const tf_single_span all = *tf_single_span_of(p, &s->var[var]);
  const double mid = fmin(all.hi - 1, fmax(all.lo, floor(sqrt((double)all.lo * all.hi))));
  return (tf_single_split){.n = 2, .var = var, .mid = (int32_t)mid, .tile = -1, .tensor = -1};
}

/* Splits what Tile l holds, the order of the loops above it, and the lengths that enter it. */
static bool split_tile(const tf_single_space *s, tf_single_part *p, int l, tf_single_split *c) {
  const bool timed = s->objective == TF_LATENCY || s->objective == TF_EDP;
  double ratio;
  const int either = first_open_bypass(s, p, l),
            spread = timed ? -1 : widest(s, p, 0, l - 1, &ratio);
  if (either >= 0)
    *c = (tf_single_split){.n = 2, .var = -1, .tile = l, .tensor = either};
  else if (spread >= 0)
    *c = halve(s, p, spread);
  else if (p->order[l - 1] == TF_SINGLE_NO_ORDER && (l == 1 || l + 1 < s->op.n_tiles))
    *c = (tf_single_split){.n = s->n_orders, .var = -1, .tile = l - 1, .tensor = -1};
  else {
    const int block = widest(s, p, TF_SINGLE_BLOCK, l, &ratio);
    if (ratio <= NEARLY) return false;
    *c = halve(s, p, block);
  }
  return true;
}

tf_single_split tf_single_split_of(const tf_single_space *s, tf_single_part *p) {
  const bool timed = s->objective == TF_LATENCY || s->objective == TF_EDP;
  tf_single_split c;
  double ratio;
  const int spread = timed ? widest(s, p, 0, -1, &ratio) : -1;
  if (spread >= 0) return halve(s, p, spread);
  for (int l = 1; l < s->op.n_tiles; l++)
    if (split_tile(s, p, l, &c)) return c;
  const int last = widest(s, p, 0, -1, &ratio), steps = widest(s, p, TF_SINGLE_STEPS, -1, &ratio);
  if (last >= 0 || steps >= 0) return halve(s, p, last >= 0 ? last : steps);
  for (int l = 0; l + 1 < s->op.n_tiles; l++)
    if (p->order[l] == TF_SINGLE_NO_ORDER)
      return (tf_single_split){.n = s->n_orders, .var = -1, .tile = l, .tensor = -1};
  return (tf_single_split){.n = 0, .var = -1, .tile = -1, .tensor = -1};
}

static void hold(const tf_single_space *s, int tile, int tensor, bool past, tf_single_part *p) {
  *(past ? &p->b.past[tile] : &p->b.held[tile]) |= UINT32_C(1) << tensor;
  if (s->objective == TF_TRAFFIC) forget_inside(s, p);
}

tf_single_kept tf_single_piece(const tf_single_space *s, const tf_single_split *c, int k,
                               tf_single_part *p) {
  if (c->tile >= 0 && c->tensor >= 0)
    hold(s, c->tile, c->tensor, k == 1, p);
  else if (c->tile >= 0)
    tf_single_put_in_order(s, c->tile, k, p);
  if (c->tile >= 0) return TF_SINGLE_KEPT;
  const tf_single_var *v = &s->var[c->var];
  tf_single_span *span = tf_single_span_of(p, v);
  *span = k ? (tf_single_span){c->mid + 1, span->hi} : (tf_single_span){span->lo, c->mid};
  if (v->axis < 0) return TF_SINGLE_KEPT;
  if (!tighten(s, v->tile, v->axis, &p->b)) return TF_SINGLE_OFF_MESH;
  return is_canonical(s, v->tile, &p->b) ? TF_SINGLE_KEPT : TF_SINGLE_EQUIVALENT;
}

/* ---- the space ------------------------------------------------------------------------------ */
/* All orders of the groups. */
static void list_orders(tf_single_space *s, int *order, int n, unsigned used) {
  if (n == s->n_groups) {
    memcpy(s->order[s->n_orders++], order, (size_t)n * sizeof *order);
    return;
  }
  for (int g = 0; g < s->n_groups && n < TF_X_GROUPS; g++)
    if (!(used >> g & 1)) {
      order[n] = g;
      list_orders(s, order, n + 1, used | 1u << g);
    }
}

static void list_variables(tf_single_space *s) {
  for (int l = 0; l < s->op.n_tiles; l++)
    for (int d = 0; d < s->op.n_dims; d++) {
      for (int a = 0; a < 2; a++)
        if (s->op.mesh[l][a] > 1) s->var[s->n_vars++] = (tf_single_var){a, l, d};
      if (l > 0) s->var[s->n_vars++] = (tf_single_var){TF_SINGLE_STEPS, l, d};
      if (l > 0 && l + 1 < s->op.n_tiles)
        s->var[s->n_vars++] = (tf_single_var){TF_SINGLE_BLOCK, l, d};
    }
}

bool tf_single_space_of(const tf_x_template *t, tf_objective objective, tf_single_space *s) {
  int order[TF_X_GROUPS] = {0};
  *s = (tf_single_space){.t = t, .objective = objective};
  if (!tf_single_op_of(t, &s->op)) return false;
  s->n_groups = t->tiles[0].n_groups;
  list_orders(s, order, 0, 0);
  list_variables(s);
  return true;
}

/* ---- mappings ------------------------------------------------------------------------------- */
/* Writes one Tile of the box's only mapping. */
static void write_tile(const tf_single_space *k, const tf_single_part *b, int l, int64_t *trips) {
  const tf_x_template *t = k->t;
  const tf_op *op = &t->facts->wl->ops[0];
  const bool last = l == k->op.n_tiles - 1;
  int32_t steps[TF_X_DIMS] = {1};
  int turning[TF_X_GROUPS], n = 0;
  tf_x_spread spread;
  for (int d = 0; d < k->op.n_dims; d++) {
    steps[d] = tf_single_steps(k, &b->b, l, d).lo;
    for (int a = 0; a < 2; a++)
      spread.trips[a][d] = b->b.spread[l][a][d].lo;
  }
  const int *order = k->order[b->order[l] < 0 ? 0 : b->order[l]];
  for (int g = 0; g < k->n_groups && !last; g++)
    if (tf_single_group_steps(k, &b->b, l, order[g]).lo > 1) turning[n++] = order[g];
  if (l < t->n_tiles) tf_x_write(&t->tiles[l], &spread, steps, turning, n, trips);
  for (int i = 0; i < op->n_dims && last; i++)
    for (int d = 0; d < k->op.n_dims; d++)
      if (t->tiles[0].dims[d] == op->dims[i]) trips[t->rest[0][i]] = steps[d];
}

void tf_single_trips(const tf_single_space *s, const tf_single_part *p, int64_t *trips) {
  for (int l = 0; l < s->t->n_loops; l++)
    trips[l] = 1;
  for (int l = 0; l < s->op.n_tiles; l++)
    write_tile(s, p, l, trips);
}

tf_tree *tf_single_tree(const tf_single_space *s, const tf_single_part *p) {
  const tf_tree *open = s->t->tree;
  const tf_op *op = &open->workload->ops[0];
  tf_build *b = tf_build_new(open->arch, open->workload, NULL);
  for (int i = 0; b && i < open->n_nodes; i++) {
    tf_build_node(b, &open->nodes[i]);
    for (int z = 0; z < s->op.n_tensors && i < s->op.n_tiles; z++)
      if (p->b.past[i] >> z & 1)
        tf_build_bypass(b, (tf_named){.tensor = z ? op->reads[z - 1].tensor : op->out});
    for (int k = 0; k < open->nodes[i].n_loops; k++)
      tf_build_loop(b, open->nodes[i].loops[k]);
  }
  return b ? tf_build_tree(b) : NULL;
}
