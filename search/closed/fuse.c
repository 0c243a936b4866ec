/* Fused shapes: shared loops in every order of their groups, tiles by Eq. 3.18 to 3.21, own Tiles
 * for each op. */
#include "search/closed/fuse.h"
#include "base/checked.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/common/ops.h"

enum { SPREADS = 4, VIEWS = 6, ORDERS = 600 };

typedef struct {
  tf_c_ops *ops;
  const tf_c_shape *shape;
  tf_chain chain;
  tf_c_problem p;
  bool shared[TF_C_DIMS];
  int own[TF_C_OPS][TF_C_DIMS]; /* own loop of an op's dim; -1: tiled by shared loops */
  tf_c_spread spread[TF_C_LEVELS];
  int slot_loop[TF_C_LOOPS]; /* [slot of the spread] its shared loop */
  tf_c_take *take;
  void *ctx;
  bool whole; /* own loops are not tiled: each op runs in one piece */
  bool stop;
} fuse;

/* ---- which loops are shared ------------------------------------------------------------------ */
static bool reduced_before(const tf_workload *wl, int dim) {
  for (int k = 0; k + 1 < wl->n_ops; k++) {
    const tf_op *op = &wl->ops[wl->topo[k]];
    for (int i = op->n_out_dims; i < op->n_dims; i++)
      if (op->dims[i] == dim) return true;
  }
  return false;
}

/* Shared dims: those of the last op that some producer depends on. */
static bool find_shared(fuse *f) {
  const tf_workload *wl = f->ops->wl;
  const tf_op *last = &wl->ops[wl->topo[wl->n_ops - 1]];
  if (wl->n_dims > TF_C_DIMS) return false;
  for (int i = 0; i < last->n_dims; i++) {
    int d = last->dims[i];
    bool reduced = i >= last->n_out_dims;
    f->shared[d] = !tf_ops_window(wl, d) && (f->shape->stream || !reduced_before(wl, d)) &&
                   !(f->shape->own && reduced);
  }
  if (!tf_chain_of(wl, -1, f->shared, &f->chain)) return false;
  for (int l = 0; l < f->chain.n_shared; l++)
    if (f->chain.loops[l].ops == UINT32_C(1) << (f->chain.n_ops - 1))
      f->shared[f->chain.loops[l].dim] = false;
  return tf_chain_of(wl, -1, f->shared, &f->chain);
}

static void find_own(fuse *f) {
  for (int k = 0; k < f->chain.n_ops; k++)
    for (int i = 0; i < f->ops->wl->ops[f->chain.ops[k]].n_dims; i++) {
      f->own[k][i] = -1;
      for (int l = f->chain.n_shared; l < f->chain.n_loops; l++)
        if (f->chain.loops[l].op == f->chain.ops[k] &&
            f->chain.loops[l].dim == f->ops->wl->ops[f->chain.ops[k]].dims[i])
          f->own[k][i] = l;
    }
}

/* Whether tiling an own loop is worthwhile: it moves an input or output, and is no window. */
static bool worth_tiling(const fuse *f, int l) {
  if (f->whole || tf_ops_window(f->ops->wl, f->chain.loops[l].dim)) return false;
  for (int i = 0; i < f->chain.n_uses; i++)
    if (f->chain.uses[i].io && (f->chain.uses[i].moves >> l & 1)) return true;
  return false;
}

/* ---- spatial unrolling ----------------------------------------------------------------------- */
/* Shared loops that may be spread over instances: those over output dims. */
static int spreadable(const fuse *f, int *loops) {
  const tf_op *last = &f->ops->wl->ops[f->chain.ops[f->chain.n_ops - 1]];
  int n = 0;
  for (int l = 0; l < f->chain.n_shared; l++)
    for (int i = 0; i < last->n_out_dims; i++)
      if (last->dims[i] == f->chain.loops[l].dim) loops[n++] = l;
  return n;
}

static bool same_spread(const tf_c_spread *a, const tf_c_spread *b) {
  bool same = a->n == b->n;
  for (int i = 0; i < a->n && same; i++)
    same = a->slot[i] == b->slot[i] && a->axis[i] == b->axis[i] && a->factor[i] == b->factor[i];
  return same;
}

/* Spreads of the outermost mesh to try: for each dim that an axis may take first, the one that
 * fills most. */
static int list_spreads(const fuse *f, const int *loops, int n, const int64_t *left,
                        tf_c_spread *list) {
  const tf_c_mesh mesh = {f->ops->arch->memories[1].mesh, f->ops->one_side};
  double most = 0;
  int count = 0;
  for (int pass = 0; pass < 2; pass++)
    for (unsigned only = 1; only < 1u << n && n < 6; only++) {
      int use[TF_C_LOOPS];
      double filled = 1;
      for (int i = 0; i < n; i++)
        use[i] = only >> i & 1;
      tf_c_spread s = tf_c_fill(&mesh, left, use, n, NULL, 0);
      for (int i = 0; i < s.n; i++)
        filled *= (double)s.factor[i];
      most = fmax(most, filled);
      bool known = pass == 0 || filled < most;
      for (int i = 0; i < count; i++)
        known |= same_spread(&list[i], &s);
      if (!known && count < SPREADS) list[count++] = s;
    }
  (void)loops;
  if (count == 0) list[count++] = (tf_c_spread){0};
  return count;
}

/* Takes the k-th spread of the outermost mesh; the meshes further in get the spread that fills them
 * most. */
static bool choose_spread(fuse *f, int k) {
  int loops[TF_C_LOOPS], use[TF_C_LOOPS], n = spreadable(f, loops);
  int64_t left[TF_C_LOOPS];
  tf_c_spread list[SPREADS];
  for (int i = 0; i < n; i++) {
    left[i] = f->chain.loops[loops[i]].extent;
    use[i] = 1;
    f->slot_loop[i] = loops[i];
  }
  memset(list, 0, sizeof list);
  if (k >= list_spreads(f, loops, n, left, list)) return false;
  for (int d = 0; d < f->shape->home; d++) {
    const tf_c_mesh mesh = {f->ops->arch->memories[d + 1].mesh, f->ops->one_side};
    f->spread[d] = d ? tf_c_fill(&mesh, left, use, n, NULL, 0) : list[k];
    for (int i = 0; i < f->spread[d].n; i++)
      left[f->spread[d].slot[i]] /= f->spread[d].factor[i];
  }
  return true;
}

/* ---- the problem ---------------------------------------------------------------------------- */
/* Eq. 3.7: tiles are multiples of the lanes that the ops' meshes take in one step.  A map fills its
 * mesh with any dims, so a long chain of ops has hardly a tile that suits all of them: then the ops
 * that sum say it alone. */
static void find_lanes(fuse *f, double *lanes) {
  const tf_chain *c = &f->chain;
  for (int l = 0; l < c->n_loops; l++)
    lanes[l] = 1;
  for (int k = 0; k < c->n_ops; k++) {
    const tf_op *op = &f->ops->wl->ops[c->ops[k]];
    int64_t len[TF_C_DIMS], here[TF_C_DIMS];
    if (f->shape->loose && op->n_dims == op->n_out_dims) continue;
    for (int i = 0; i < op->n_dims; i++) {
      len[i] = f->ops->wl->dims[op->dims[i]].extent;
      for (int l = 0; l < c->n_shared; l++)
        if (c->range[k][i].per[l] == 1 && c->range[k][i].one == 0)
          len[i] = (int64_t)((double)c->loops[l].extent / f->p.spread[f->p.n - 1][l]);
    }
    tf_c_lanes(f->ops, c->ops[k], f->shape->home, len, here);
    for (int i = 0; i < op->n_dims; i++)
      for (int l = 0; l < c->n_loops; l++) {
        bool same = l == f->own[k][i] ||
                    (l < c->n_shared && c->range[k][i].per[l] == 1 && c->range[k][i].one == 0);
        if (same && (double)here[i] > lanes[l]) lanes[l] = (double)here[i];
      }
  }
}

static void make_problem(fuse *f, double fraction) {
  tf_c_problem *p = &f->p;
  double instances = 1, lanes[TF_C_LOOPS];
  *p = (tf_c_problem){.chain = &f->chain, .kind = f->shape->kind, .n = f->shape->home};
  for (int d = 0; d < p->n; d++) {
    tf_c_describe(f->ops->arch, d + 1, fraction, instances, d, p);
    for (int l = 0; l < f->chain.n_loops; l++)
      p->spread[d][l] = d ? p->spread[d - 1][l] : 1;
    for (int i = 0; i < f->spread[d].n; i++) {
      p->spread[d][f->slot_loop[f->spread[d].slot[i]]] *= (double)f->spread[d].factor[i];
      instances *= (double)f->spread[d].factor[i];
    }
  }
  find_lanes(f, lanes);
  for (int l = 0; l < f->chain.n_loops; l++) {
    p->low[l] = lanes[l];
    double outside = 1; /* instances of the meshes between a level and the home */
    for (int d = p->n - 1; d >= 0; d--) {
      p->need[d][l] = lanes[l] * outside;
      outside *= p->spread[d][l] / (d ? p->spread[d - 1][l] : 1);
    }
  }
}

/* ---- orders --------------------------------------------------------------------------------- */
typedef struct {
  int n, loops[TF_C_LOOPS], group[TF_C_LOOPS], n_groups;
} loop_groups;

/* Groups shared loops (op -1), or an op's own. */
static void group_loops(const fuse *f, int op, loop_groups *s) {
  s->n = 0;
  for (int l = 0; l < f->chain.n_loops; l++)
    if (f->chain.loops[l].op == op && f->chain.loops[l].extent > 1 &&
        (op < 0 || worth_tiling(f, l)))
      s->loops[s->n++] = l;
  s->n_groups = tf_c_groups(&f->chain, s->loops, s->n, s->group);
}

static bool add_order(tf_c_problem *p, const loop_groups *s, int k) {
  int turn[5];
  if (!tf_c_permutation(s->n_groups, k, turn)) return false;
  for (int g = -1; g < s->n_groups; g++)
    for (int i = 0; i < s->n; i++)
      if (s->group[i] == (g < 0 ? -1 : turn[g])) p->order[p->n_order++] = s->loops[i];
  return true;
}

static int count_orders(const loop_groups *s) {
  int n = 1;
  for (int i = 2; i <= s->n_groups; i++)
    n *= i;
  return n;
}

/* Sets the k-th order: shared loops first, then own loops op by op. */
static bool set_order(fuse *f, int k) {
  loop_groups s;
  f->p.n_order = 0;
  for (int i = -1; i < f->chain.n_ops; i++) {
    group_loops(f, i < 0 ? -1 : f->chain.ops[i], &s);
    for (int j = 0; j < s.n; j++)
      f->p.pin[s.loops[j]] = s.group[j] < 0;
    int n = count_orders(&s);
    if (!add_order(&f->p, &s, k % n)) return false;
    k /= n;
  }
  return k == 0;
}

/* ---- nodes ---------------------------------------------------------------------------------- */
static int64_t whole(double x) { return (int64_t)(x + 0.5); }

/* Emits shared Tile d, from the tiles of level d - 1 (level 0: the extents) to those of level d. */
static void shared_tile(const fuse *f, const tf_c_tiles *t, int d, tf_c_tile *out) {
  const tf_c_problem *p = &f->p;
  out->n = 0;
  for (int i = 0; i < p->n_order; i++) {
    int l = p->order[i];
    if (f->chain.loops[l].op >= 0) continue;
    int64_t from = d ? whole(t->tile[d - 1][l]) : f->chain.loops[l].extent;
    int64_t to = whole(t->tile[d][l] * p->spread[d][l] / (d ? p->spread[d - 1][l] : 1));
    tf_c_add(out, f->chain.loops[l].dim, tf_ceil_div(from, to), TF_TEMPORAL);
  }
  for (int i = 0; i < f->spread[d].n; i++)
    tf_c_add(out, f->chain.loops[f->slot_loop[f->spread[d].slot[i]]].dim, f->spread[d].factor[i],
             f->spread[d].axis[i] ? TF_SPATIAL_Y : TF_SPATIAL_X);
}

static void own_tile(const fuse *f, const tf_c_tiles *t, int k, tf_c_tile *out) {
  const tf_c_problem *p = &f->p;
  out->n = 0;
  for (int i = 0; i < p->n_order; i++) {
    int l = p->order[i];
    int64_t to = whole(t->tile[p->n - 1][l]);
    if (f->chain.loops[l].op == f->chain.ops[k])
      tf_c_add(out, f->chain.loops[l].dim, tf_ceil_div(f->chain.loops[l].extent, to), TF_TEMPORAL);
  }
}

/* Lengths of an op's dims in one run of its Tile of memory `home`. */
static void lengths(const fuse *f, const tf_c_tiles *t, int k, int64_t *len) {
  const tf_op *op = &f->ops->wl->ops[f->chain.ops[k]];
  const double *s = t->tile[f->p.n - 1];
  for (int i = 0; i < op->n_dims; i++) {
    double x = f->own[k][i] >= 0 ? s[f->own[k][i]] : tf_chain_length(&f->chain.range[k][i], s);
    double extent = (double)f->ops->wl->dims[op->dims[i]].extent;
    len[i] = whole(fmax(1, fmin(x, extent)));
  }
}

static void put_names(const fuse *f, tf_build *b) {
  const tf_workload *wl = f->ops->wl;
  for (int k = 0; k < wl->n_ops; k++) {
    int z = wl->ops[wl->topo[k]].out;
    if (wl->tensors[z].n_consumers > 0 && !f->shape->loose)
      tf_build_keep(b, (tf_keep){.tensor = z, .level = f->shape->home});
    if (f->shape->stream && tf_ops_streamed(wl, wl->topo[k]))
      tf_build_stream(b, (tf_named){.tensor = z});
  }
}

static bool put_op(const fuse *f, const tf_c_tiles *t, int k, int parent, tf_build *b,
                   tf_closed_figures *say) {
  int64_t len[TF_C_DIMS];
  tf_c_tile own;
  lengths(f, t, k, len);
  const tf_c_op *o = tf_c_op_tiles(f->ops, f->chain.ops[k], f->shape->home, len);
  if (!o->found) return false;
  own_tile(f, t, k, &own);
  if (own.n) parent = tf_c_put(b, parent, f->shape->home - 1, &own);
  tf_c_put_op(b, parent, o);
  if (o->lanes[0] * o->lanes[1] > say->lanes[0] * say->lanes[1])
    memcpy(say->lanes, o->lanes, sizeof say->lanes);
  return true;
}

static tf_build *build_tree(const fuse *f, const tf_c_tiles *t, tf_closed_figures *say) {
  tf_build *b = tf_build_new(f->ops->arch, f->ops->wl, NULL);
  bool ok = b != NULL;
  int above = -1;
  if (!b) return NULL;
  for (int d = 0; d < f->shape->home; d++) {
    tf_c_tile shared;
    shared_tile(f, t, d, &shared);
    above = tf_c_put(b, above, d, &shared);
  }
  if (f->shape->loose) above = tf_build_tile(b, above, f->shape->home);
  above = tf_build_scope(b, above, f->shape->kind);
  put_names(f, b);
  for (int k = 0; k < f->chain.n_ops && ok; k++)
    ok = put_op(f, t, k, above, b, say);
  if (ok) return b;
  tf_build_free(b);
  return NULL;
}

/* ---- one order ------------------------------------------------------------------------------ */
static void describe(const fuse *f, const tf_c_tiles *real, const tf_c_tiles *t,
                     tf_closed_figures *say) {
  const tf_c_problem *p = &f->p;
  double s[TF_C_LOOPS], held;
  for (int l = 0; l < f->chain.n_loops; l++)
    s[l] = fmin(t->tile[0][l] * p->spread[0][l], (double)f->chain.loops[l].extent);
  tf_chain_algorithm1(&f->chain, p->order, p->n_order, s, &say->formula_words, &held);
  say->tree_words = tf_c_level_words(p, t, 0);
  say->real_words = tf_c_real_words(p, real);
  say->limit = tf_c_round_limit(p, real);
  say->rounding = say->real_words > 0 ? say->tree_words / say->real_words : 1;
  say->fused = f->shape->home;
}

static void try_order(fuse *f) {
  tf_c_tiles real, t;
  double cost;
  if (!tf_c_solve_gemm(&f->p, &real, &cost) && !tf_c_solve(&f->p, &real, &cost)) return;
  if (!tf_c_round(&f->p, &real, &t)) return;
  tf_c_found found = {.figures = {.orders = 1}};
  found.tree = build_tree(f, &t, &found.figures);
  describe(f, &real, &t, &found.figures);
  f->stop = !f->take(f->ctx, &found);
}

/* Solves the thesis's problem first, then variants: with reloads of partial sums counted, and with
 * fractions of the capacity.  The formulas ignore that the first load and the last store, which are
 * shorter for smaller tiles, are exposed, and that tiles which do not affect the volume may cost
 * work further in. */
static void try_spread(fuse *f) {
  static const struct {
    double fraction;
    bool reloads, whole;
  } view[VIEWS] = {{1, false, false},     {1, true, false}, {0.25, true, false},
                   {0.0625, true, false}, {1, true, true},  {0.25, true, true}};
  for (int i = 0; i < VIEWS && !f->stop; i++) {
    if (f->shape->loose && !view[i].whole) continue;
    make_problem(f, view[i].fraction);
    f->p.reloads = view[i].reloads;
    f->whole = view[i].whole;
    for (int k = 0; k < ORDERS && !f->stop && set_order(f, k); k++)
      try_order(f);
  }
}

bool tf_c_fuse(tf_c_ops *ops, const tf_c_shape *shape, tf_c_take *take, void *ctx) {
  fuse *f = calloc(1, sizeof *f);
  if (!f) return false;
  f->ops = ops, f->shape = shape, f->take = take, f->ctx = ctx;
  if (find_shared(f)) {
    find_own(f);
    for (int k = 0; k < SPREADS && !f->stop && choose_spread(f, k); k++)
      try_spread(f);
  }
  bool go_on = !f->stop;
  free(f);
  return go_on;
}

/* ---- without fusion ------------------------------------------------------------------------- */
bool tf_c_unfused(tf_c_ops *ops, tf_c_found *out) {
  const tf_workload *wl = ops->wl;
  tf_build *b = tf_build_new(ops->arch, wl, NULL);
  bool ok = b != NULL;
  int parent = b && wl->n_ops > 1 ? tf_build_scope(b, -1, TF_SEQ) : -1;
  *out = (tf_c_found){0};
  for (int k = 0; k < wl->n_ops && ok; k++) {
    int64_t len[TF_C_DIMS];
    const tf_op *op = &wl->ops[wl->topo[k]];
    for (int i = 0; i < op->n_dims && op->n_dims <= TF_C_DIMS; i++)
      len[i] = wl->dims[op->dims[i]].extent;
    const tf_c_op *o = op->n_dims <= TF_C_DIMS ? tf_c_op_tiles(ops, wl->topo[k], 0, len) : NULL;
    ok = o && o->found;
    if (!ok) break;
    tf_c_put_op(b, parent, o);
    out->figures.orders += o->orders;
    out->figures.formula_words += o->formula;
    out->figures.real_words += o->real;
    out->figures.tree_words += o->tree;
    out->figures.limit = fmax(out->figures.limit, o->limit);
    if (o->lanes[0] * o->lanes[1] > out->figures.lanes[0] * out->figures.lanes[1])
      memcpy(out->figures.lanes, o->lanes, sizeof o->lanes);
  }
  if (out->figures.real_words > 0)
    out->figures.rounding = out->figures.tree_words / out->figures.real_words;
  if (ok)
    out->tree = b;
  else
    tf_build_free(b);
  return ok;
}
