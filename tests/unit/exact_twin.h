/* A slow twin of the exact solver: every mapping of the space of docs/HOWTO-solve.md, one after the
 * other, each written as text, parsed and evaluated.  Nothing is pruned, and nothing of search/ is
 * used.  Of a single op, on demand, with all trip counts. */
#ifndef EXACT_TWIN_H
#define EXACT_TWIN_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tileflow/tileflow.h"

enum { TW_DIMS = 16, TW_TILES = 24, TW_LOOPS = 64 };

typedef struct {
  int dim, axis; /* axis: -1 temporal, 0 x, 1 y */
  int trip;
} tw_loop;

typedef struct {
  int level, op; /* -1: shared */
  bool spread, last, outer;
  unsigned past; /* bit z: bypasses the tensor */
  int n_loops;
  tw_loop loop[TW_LOOPS];
} tw_tile;

typedef struct {
  const tf_arch *a;
  const tf_workload *w;
  tf_objective goal;
  int shared, keep, kind; /* kind -1: nothing is fused */
  bool runs, stream;
  bool any, bypass;  /* trip counts need not divide; memories may be bypassed; of a single op */
  bool cut[TW_DIMS]; /* a loop further out splits the dim: what is inside is exact */
  int wide[TW_DIMS]; /* of a dim that is not cut: the instances over which the current Tile spreads
                        it */
  int n_tiles;
  tw_tile tile[TW_TILES];
  long tried, most; /* most: gives up past it */
  double best;
  double tie_pj;   /* the least energy of those that are as good as the best, but for rounding */
  char text[8192]; /* of the best */
} twin;

/* ---- ranges ---------------------------------------------------------------------------------- */
static int tw_last(const twin *t) { return t->w->topo[t->w->n_ops - 1]; }

static bool tw_window(const twin *t, int dim) {
  for (int o = 0; o < t->w->n_ops; o++)
    for (int k = 0; k < t->w->ops[o].n_reads; k++) {
      const tf_ref *ref = &t->w->ops[o].reads[k];
      for (int r = 0; r < t->w->tensors[ref->tensor].rank; r++) {
        bool in = false, longer = false;
        for (int j = 0; j < ref->index[r].n_terms; j++) {
          in |= ref->index[r].terms[j].dim == dim;
          longer |= t->w->dims[ref->index[r].terms[j].dim].extent > t->w->dims[dim].extent;
        }
        if (in && longer) return true;
      }
    }
  return false;
}

/* Lengths of every op's dims where the last op's are len: producers make what is read of them. */
static void tw_infer(const twin *t, const int *len, int out[][TW_DIMS]) {
  for (int o = 0; o < t->w->n_ops; o++)
    for (int i = 0; i < t->w->ops[o].n_dims; i++) {
      int d = t->w->ops[o].dims[i];
      out[o][d] = o == tw_last(t)               ? len[d]
                  : i < t->w->ops[o].n_out_dims ? 1
                                                : (int)t->w->dims[d].extent;
    }
  for (int k = t->w->n_ops - 1; k >= 0; k--) {
    int c = t->w->topo[k];
    for (int q = 0; q < t->w->ops[c].n_reads; q++) {
      const tf_ref *ref = &t->w->ops[c].reads[q];
      int p = t->w->tensors[ref->tensor].producer;
      for (int r = 0; p >= 0 && r < t->w->tensors[ref->tensor].rank; r++) {
        int d = t->w->ops[p].dims[r], n = 1;
        for (int j = 0; j < ref->index[r].n_terms; j++)
          n += (int)labs(ref->index[r].terms[j].coef) * (out[c][ref->index[r].terms[j].dim] - 1);
        if (n > t->w->dims[d].extent) n = (int)t->w->dims[d].extent;
        if (n > out[p][d]) out[p][d] = n;
      }
    }
  }
}

/* Which tensors' boxes grow with a dim: below a Tile of op (-1: of all), all other lengths 1. */
static unsigned tw_moves(const twin *t, int op, int dim) {
  int len[TW_DIMS], got[16][TW_DIMS], base[16][TW_DIMS];
  unsigned bits = 0;
  for (int d = 0; d < TW_DIMS; d++)
    len[d] = 1;
  tw_infer(t, len, base);
  len[dim] = 2;
  tw_infer(t, len, got);
  for (int o = 0; o < t->w->n_ops; o++) {
    const tf_op *p = &t->w->ops[o];
    if (op >= 0 && o != op) continue;
    for (int k = -1; k < p->n_reads; k++) {
      int z = k < 0 ? p->out : p->reads[k].tensor;
      for (int r = 0; r < t->w->tensors[z].rank; r++)
        for (int j = 0; j < (k < 0 ? 1 : p->reads[k].index[r].n_terms); j++) {
          int d = k < 0 ? p->dims[r] : p->reads[k].index[r].terms[j].dim;
          bool grows = op >= 0 ? d == dim : got[o][d] > base[o][d];
          if (grows) bits |= 1u << z;
        }
    }
  }
  return bits;
}

static unsigned tw_all(const twin *t, int op) {
  unsigned bits = 0;
  for (int o = 0; o < t->w->n_ops; o++)
    for (int k = -1; k < t->w->ops[o].n_reads; k++)
      if (op < 0 || o == op)
        bits |= 1u << (k < 0 ? t->w->ops[o].out : t->w->ops[o].reads[k].tensor);
  return bits;
}

/* ---- text and value -------------------------------------------------------------------------- */
static char *tw_put(char *p, const char *s) { return p + sprintf(p, "%s", s); }

static char *tw_put_tile(const twin *t, const tw_tile *x, int depth, char *p) {
  p += sprintf(p, "%*s%s", 2 * depth, "", t->a->memories[x->level].name);
  for (int part = 0; part < 2; part++) {
    bool any = false;
    for (int i = 0; i < x->n_loops; i++) {
      const tw_loop *l = &x->loop[i];
      if ((l->axis >= 0) != part || l->trip == 1) continue;
      if (!any) p = tw_put(p, part ? " spatial" : " for");
      any = true;
      p += sprintf(p, " %s=%d%s", t->w->dims[l->dim].name, l->trip,
                   l->axis < 0 ? ""
                   : l->axis   ? "@y"
                               : "@x");
    }
  }
  for (int z = 0, any = 0; z < t->w->n_tensors; z++)
    if (x->past >> z & 1) p += sprintf(p, "%s %s", any++ ? "" : " bypass", t->w->tensors[z].name);
  return tw_put(p, "\n");
}

static int tw_unit(const twin *t, int o) {
  for (int u = 0; u < t->a->n_units; u++)
    if (!(t->w->ops[o].kinds & ~t->a->units[u].kinds)) return u;
  return -1;
}

/* The k-th op begins a run: the one before stands on another kind of unit, or runs do not matter.
 */
static bool tw_begins(const twin *t, int k) {
  return k == 0 || !t->runs || tw_unit(t, t->w->topo[k]) != tw_unit(t, t->w->topo[k - 1]);
}

static int tw_run(const twin *t, int k) {
  int run = 0;
  for (int i = 1; i <= k; i++)
    run += tw_begins(t, i);
  return run;
}

static bool tw_streamed(const twin *t, int o) {
  bool yes = false;
  for (int i = t->w->ops[o].n_out_dims; i < t->w->ops[o].n_dims; i++)
    for (int j = 0; j < t->w->ops[tw_last(t)].n_dims; j++)
      yes |= t->w->ops[o].dims[i] == t->w->ops[tw_last(t)].dims[j] &&
             t->w->dims[t->w->ops[o].dims[i]].extent > 1;
  return yes;
}

/* Intermediates that only ops of run r touch, or of several runs (r = -1), are kept by its scope.
 */
static char *tw_keeps(const twin *t, int r, char *p) {
  bool any = false;
  for (int z = 0; z < t->w->n_tensors && t->keep; z++) {
    int in = -2;
    for (int k = 0; k < t->w->n_ops; k++) {
      const tf_op *op = &t->w->ops[t->w->topo[k]];
      bool touches = op->out == z;
      for (int i = 0; i < op->n_reads; i++)
        touches |= op->reads[i].tensor == z;
      if (touches) in = in == -2 || in == tw_run(t, k) ? tw_run(t, k) : -1;
    }
    if (in != r || t->w->tensors[z].producer < 0 || t->w->tensors[z].n_consumers == 0) continue;
    p += sprintf(p, "%s %s@%s", any ? "" : " keep", t->w->tensors[z].name,
                 t->a->memories[t->shared].name);
    any = true;
  }
  return p;
}

static void tw_text(const twin *t, char *p) {
  static const char *const kinds[] = {"Seq", "Shar", "Para", "Pipe"};
  int depth = 0;
  for (int i = 0; i < t->n_tiles; i++)
    if (t->tile[i].op < 0) p = tw_put_tile(t, &t->tile[i], depth++, p);
  if (t->w->n_ops > 1) {
    p += sprintf(p, "%*s%s", 2 * depth++, "", t->kind < 0 ? "Seq" : kinds[t->kind]);
    p = tw_keeps(t, -1, p);
    for (int k = 0, any = 0; k < t->w->n_ops && t->stream; k++)
      if (tw_streamed(t, t->w->topo[k]))
        p += sprintf(p, "%s %s", any++ ? "" : " stream",
                     t->w->tensors[t->w->ops[t->w->topo[k]].out].name);
    p = tw_put(p, "\n");
  }
  for (int k = 0; k < t->w->n_ops; k++) {
    int o = t->w->topo[k], d = depth;
    bool inner = !tw_begins(t, k) || (k + 1 < t->w->n_ops && !tw_begins(t, k + 1));
    if (inner && tw_begins(t, k)) {
      p += sprintf(p, "%*sSeq", 2 * d, "");
      p = tw_put(tw_keeps(t, tw_run(t, k), p), "\n");
    }
    d += inner;
    for (int i = 0; i < t->n_tiles; i++)
      if (t->tile[i].op == o) p = tw_put_tile(t, &t->tile[i], d++, p);
    p += sprintf(p, "%*sop %s\n", 2 * d, "", t->w->ops[o].name);
  }
}

static double tw_value(const twin *t, const tf_result *r) {
  double words = 0;
  for (int z = 0; z < t->w->n_tensors; z++)
    words += (double)(r->counts[z].read + r->counts[z].update);
  return t->goal == TF_LATENCY  ? r->cycles
         : t->goal == TF_ENERGY ? r->energy_pj
         : t->goal == TF_EDP    ? r->energy_pj * r->seconds
                                : words;
}

static void tw_take(twin *t, const tf_result *r, const char *text) {
  double value = tw_value(t, r);
  if (value <= t->best * (1 - 1e-12)) t->tie_pj = INFINITY;
  if (value <= t->best * (1 + 1e-12)) t->tie_pj = fmin(t->tie_pj, r->energy_pj);
  if (value >= t->best) return;
  t->best = value;
  strcpy(t->text, text);
}

static void tw_try_one(twin *t) {
  char text[8192];
  tf_result r;
  t->tried++;
  tw_text(t, text);
  tf_diags *d = tf_diags_new();
  tf_tree *tree = tf_tree_parse(text, (tf_loc){0}, t->a, t->w, d);
  tf_model *m = tree ? tf_model_new(tree, d) : NULL;
  if (m && tf_model_eval(m, NULL, &r) && r.feasible) tw_take(t, &r, text);
  tf_model_free(m);
  tf_tree_free(tree);
  tf_diags_free(d);
}

/* The loops are complete: with every set of bypasses of the Tiles i .., or with none. */
static void tw_try(twin *t, int i) {
  if (i >= t->n_tiles || !t->bypass) {
    tw_try_one(t);
    return;
  }
  for (unsigned past = 0; past <= tw_all(t, 0) && t->tried <= t->most; past++) {
    t->tile[i].past = past & tw_all(t, 0);
    if (t->tile[i].past == past) tw_try(t, i + 1);
  }
  t->tile[i].past = 0;
}

/* ---- enumeration ----------------------------------------------------------------------------- */
static void tw_stage(twin *t, int i, int len[16][TW_DIMS]);

/* Whether an op but the last reduces the dim: then it is no loop above a scope. */
static bool tw_reduced(const twin *t, int dim) {
  for (int o = 0; o < t->w->n_ops; o++)
    for (int i = t->w->ops[o].n_out_dims; o != tw_last(t) && i < t->w->ops[o].n_dims; i++)
      if (t->w->ops[o].dims[i] == dim) return true;
  return false;
}

static int tw_dims_of(const twin *t, const tw_tile *x, int *dims) {
  const tf_op *op = &t->w->ops[x->op < 0 ? tw_last(t) : x->op];
  int n = 0;
  for (int i = 0; i < op->n_dims; i++)
    if (t->w->dims[op->dims[i]].extent > 1 && !(x->outer && tw_window(t, op->dims[i])) &&
        !(x->op < 0 && !t->stream && tw_reduced(t, op->dims[i])))
      dims[n++] = op->dims[i];
  return n;
}

/* What is to be put in order. */
typedef struct {
  int n, n_groups;
  const int *dims, *trip;
  unsigned sign[TW_DIMS], group[TW_DIMS];
  bool placed[TW_DIMS];
} tw_order;

static void tw_put_group(tw_tile *x, const tw_order *q, unsigned sign) {
  for (int k = 0; k < q->n; k++)
    if (q->sign[k] == sign) x->loop[x->n_loops++] = (tw_loop){q->dims[k], -1, q->trip[k]};
}

static void tw_permute(twin *t, int i, int len[16][TW_DIMS], tw_order *q, int depth) {
  tw_tile *x = &t->tile[i];
  int before = x->n_loops;
  if (depth == q->n_groups) tw_stage(t, i + 1, len);
  for (int g = 0; g < q->n_groups && depth < q->n_groups; g++) {
    if (q->placed[g]) continue;
    q->placed[g] = true;
    tw_put_group(x, q, q->group[g]);
    tw_permute(t, i, len, q, depth + 1);
    x->n_loops = before;
    q->placed[g] = false;
  }
}

/* The Tile's loops are complete but for their order: dims that all tensors use outermost, then the
 * groups that turn in every order; none where the Tile is an op's last. */
static void tw_orders(twin *t, int i, int len[16][TW_DIMS], const int *dims, const int *trip,
                      int n) {
  tw_tile *x = &t->tile[i];
  int before = x->n_loops;
  unsigned all = tw_all(t, x->op);
  tw_order q = {.n = n, .dims = dims, .trip = trip};
  for (int k = 0; k < n; k++)
    q.sign[k] = x->last ? all : tw_moves(t, x->op, dims[k]);
  for (int k = 0; k < n; k++) {
    bool known = trip[k] == 1 || q.sign[k] == all;
    for (int g = 0; g < q.n_groups; g++)
      known |= q.group[g] == q.sign[k];
    if (!known) q.group[q.n_groups++] = q.sign[k];
  }
  tw_put_group(x, &q, all);
  tw_permute(t, i, len, &q, 0);
  x->n_loops = before;
}

static void tw_trips(twin *t, int i, int len[16][TW_DIMS], const int *dims, int *trip, int n,
                     int k);

/* Every length inside of a dim that no loop cuts yet, with as many steps as cover it; as it is if
 * nothing here does. */
static void tw_any_trips(twin *t, int i, int len[16][TW_DIMS], const int *dims, int *trip, int n,
                         int k) {
  const int o = t->tile[i].op, whole = len[o][dims[k]], wide = t->wide[dims[k]];
  for (int inside = 1; inside <= (t->tile[i].last ? 1 : whole); inside++) {
    trip[k] = (whole + wide * inside - 1) / (wide * inside);
    if (trip[k] == 1 && wide == 1 && inside < whole) continue;
    t->cut[dims[k]] = trip[k] > 1 || wide > 1;
    len[o][dims[k]] = inside;
    tw_trips(t, i, len, dims, trip, n, k + 1);
  }
  t->cut[dims[k]] = false;
  len[o][dims[k]] = whole;
}

static void tw_trips(twin *t, int i, int len[16][TW_DIMS], const int *dims, int *trip, int n,
                     int k) {
  tw_tile *x = &t->tile[i];
  int o = x->op < 0 ? tw_last(t) : x->op;
  if (t->tried > t->most) return;
  if (k == n) {
    tw_orders(t, i, len, dims, trip, n);
    return;
  }
  if (t->any && !t->cut[dims[k]]) {
    tw_any_trips(t, i, len, dims, trip, n, k);
    return;
  }
  int whole = len[o][dims[k]];
  for (trip[k] = x->last ? whole : 1; trip[k] <= whole; trip[k]++) {
    if (whole % trip[k]) continue;
    len[o][dims[k]] = whole / trip[k];
    tw_trips(t, i, len, dims, trip, n, k + 1);
  }
  len[o][dims[k]] = whole;
}

static void tw_mesh(const twin *t, const tw_tile *x, int64_t mesh[2]) {
  mesh[0] = mesh[1] = 1;
  if (!x->spread) return;
  const int64_t *m = x->level + 1 < t->a->n_memories ? t->a->memories[x->level + 1].mesh : NULL;
  for (int u = 0; u < t->a->n_units && x->op >= 0; u++)
    if (!(t->w->ops[x->op].kinds & ~t->a->units[u].kinds)) {
      if (t->a->units[u].below == x->level) m = t->a->units[u].mesh;
      break;
    }
  if (m) mesh[0] = m[0], mesh[1] = m[1];
}

/* Nothing of what is on y would fit on x, which spreads at most two dims. */
static bool tw_filled(const tw_tile *x, const int64_t mesh[2], const int *dims, int n) {
  int64_t used = 1;
  int on_x = 0;
  for (int i = 0; i < x->n_loops; i++)
    if (x->loop[i].axis == 0) used *= x->loop[i].trip, on_x++;
  for (int k = 0; k < n; k++) {
    int y = 1, there = 0;
    for (int i = 0; i < x->n_loops; i++) {
      if (x->loop[i].dim == dims[k] && x->loop[i].axis == 1) y = x->loop[i].trip;
      there |= x->loop[i].dim == dims[k] && x->loop[i].axis == 0;
    }
    for (int p = 2; p <= y; p++)
      if (y % p == 0 && used * p <= mesh[0] && mesh[0] > 1 && (there || on_x < 2)) return false;
  }
  return true;
}

/* Dims k .. of an axis; at most two of them are spread on it. */
static void tw_spread(twin *t, int i, int len[16][TW_DIMS], const int *dims, int n, int axis,
                      int k) {
  tw_tile *x = &t->tile[i];
  int o = x->op < 0 ? tw_last(t) : x->op, on = 0, trip[TW_DIMS];
  int64_t mesh[2], used = 1;
  tw_mesh(t, x, mesh);
  if (axis == 2) {
    if (tw_filled(x, mesh, dims, n)) tw_trips(t, i, len, dims, trip, n, 0);
    return;
  }
  if (k == n) {
    tw_spread(t, i, len, dims, n, axis + 1, 0);
    return;
  }
  for (int l = 0; l < x->n_loops; l++)
    if (x->loop[l].axis == axis) on++, used *= x->loop[l].trip;
  tw_spread(t, i, len, dims, n, axis, k + 1);
  int whole = len[o][dims[k]];
  for (int s = 2; s <= whole && on < 2 && !tw_window(t, dims[k]); s++) {
    const bool free = t->any && !t->cut[dims[k]];
    if ((!free && whole % s) || used * s > mesh[axis]) continue;
    x->loop[x->n_loops++] = (tw_loop){dims[k], axis, s};
    if (free)
      t->wide[dims[k]] *= s;
    else
      len[o][dims[k]] = whole / s;
    tw_spread(t, i, len, dims, n, axis, k + 1);
    if (free) t->wide[dims[k]] /= s;
    len[o][dims[k]] = whole;
    x->n_loops--;
  }
}

static void tw_stage(twin *t, int i, int len[16][TW_DIMS]) {
  int dims[TW_DIMS], below[16][TW_DIMS];
  if (t->tried > t->most) return;
  if (i == t->n_tiles) {
    tw_try(t, 1);
    return;
  }
  tw_tile *x = &t->tile[i];
  memcpy(below, len, sizeof below);
  if (i > 0 && t->tile[i - 1].op < 0 && x->op >= 0) tw_infer(t, len[tw_last(t)], below);
  x->n_loops = 0;
  int wide[TW_DIMS];
  memcpy(wide, t->wide, sizeof wide);
  for (int d = 0; d < TW_DIMS; d++)
    t->wide[d] = 1;
  tw_spread(t, i, below, dims, tw_dims_of(t, x, dims), 0, 0);
  memcpy(t->wide, wide, sizeof wide);
  x->n_loops = 0;
}

static int tw_floor(const twin *t, int o) {
  for (int u = 0; u < t->a->n_units; u++)
    if (!(t->w->ops[o].kinds & ~t->a->units[u].kinds)) return t->a->units[u].below;
  return 0;
}

static void tw_shape(twin *t, int shared, int keep, int kind, bool runs, bool stream) {
  int len[16][TW_DIMS] = {{0}};
  t->shared = shared, t->keep = keep, t->kind = kind, t->n_tiles = 0;
  t->runs = runs, t->stream = stream;
  for (int l = 0; l < shared; l++)
    t->tile[t->n_tiles++] =
        (tw_tile){.level = l, .op = -1, .spread = l + 1 < shared || keep, .outer = true};
  for (int k = 0; k < t->w->n_ops; k++) {
    int o = t->w->topo[k], floor = tw_floor(t, o);
    for (int l = shared == 0 ? 0 : keep ? shared : shared - 1; l <= floor; l++)
      t->tile[t->n_tiles++] = (tw_tile){
          .level = l, .op = o, .spread = true, .last = l == floor, .outer = l < floor - 1};
    for (int i = 0; i < t->w->ops[o].n_dims; i++)
      len[o][t->w->ops[o].dims[i]] = (int)t->w->dims[t->w->ops[o].dims[i]].extent;
  }
  tw_stage(t, 0, len);
}

/* Each kind of scope; over runs of ops, too, where they are fewer than the ops (Para and Pipe over
 * them alone); and streamed. */
static void tw_kinds(twin *t, int shared, int keep) {
  int n_runs = 1, n_streamed = 0;
  t->runs = true;
  for (int k = 1; k < t->w->n_ops; k++)
    n_runs += tw_begins(t, k);
  for (int o = 0; o < t->w->n_ops; o++)
    n_streamed += tw_streamed(t, o);
  bool nests = n_runs > 1 && n_runs < t->w->n_ops;
  for (int kind = 0; kind < 4; kind++) {
    if (kind < 2 || !nests) tw_shape(t, shared, keep, kind, false, false);
    if (kind > 0 && nests) tw_shape(t, shared, keep, kind, true, false);
    if (kind < 2 && n_streamed > 1) tw_shape(t, shared, keep, kind, false, true);
  }
}

/* The least value of the objective, INFINITY if nothing fits, stands in t->best then; false if
 * there are more than t->most mappings. */
static bool tw_best(twin *t) {
  const tf_workload *w = t->w;
  t->best = t->tie_pj = INFINITY;
  t->tried = 0;
  int least = 99, ends = 0;
  for (int o = 0; o < w->n_ops; o++) {
    if (tw_floor(t, o) < least) least = tw_floor(t, o);
    ends += w->tensors[w->ops[o].out].n_consumers == 0;
  }
  tw_shape(t, 0, 0, -1, false, false);
  for (int shared = 1; w->n_ops > 1 && ends == 1 && shared <= least + 1; shared++) {
    if (shared == 1 && least >= 1) tw_kinds(t, 1, 1);
    if (shared > 1 || least < 1) tw_kinds(t, shared, 0);
  }
  return t->tried <= t->most;
}
#endif
