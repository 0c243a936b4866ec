/* Shapes and their trees. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/tree/build.h"
#include "search/common/ops.h"
#include "search/exact/exact.h"

/* ---- properties of the workload -------------------------------------------------------------- */
static int unit_level(const tf_arch *arch, const tf_workload *wl, int o) {
  int u = tf_ops_unit(arch, wl, o);
  return u < 0 ? 0 : arch->units[u].below;
}

static int outermost_unit_level(const tf_arch *arch, const tf_workload *wl) {
  int least = arch->n_memories - 1;
  for (int o = 0; o < wl->n_ops; o++)
    if (unit_level(arch, wl, o) < least) least = unit_level(arch, wl, o);
  return least;
}

static int last_op(const tf_workload *wl) { return wl->topo[wl->n_ops - 1]; }

/* Runs of consecutive ops on one kind of unit: run[k] is that of the k-th op in order. */
static int find_runs(const tf_arch *arch, const tf_workload *wl, int *run) {
  int n = 0;
  for (int k = 0; k < wl->n_ops; k++) {
    if (k && tf_ops_unit(arch, wl, wl->topo[k]) != tf_ops_unit(arch, wl, wl->topo[k - 1])) n++;
    run[k] = n;
  }
  return n + 1;
}

/* ---- the list of shapes ---------------------------------------------------------------------- */
/* Enumerates the scopes below `shared` Tiles: each kind over all ops; if there are fewer runs than
 * ops, also Shar over runs, and Para and Pipe over runs only; and the streamed variants. */
static bool below_at(const tf_arch *arch, const tf_workload *wl, int *k, tf_x_shape *s) {
  int run[TF_X_OPS], n_runs = find_runs(arch, wl, run);
  bool nests = n_runs > 1 && n_runs < wl->n_ops;
  for (int kind = 0; kind < TF_N_SCOPES; kind++)
    for (int runs = 0; runs <= nests; runs++)
      for (int stream = 0; stream <= tf_ops_some_streamed(wl); stream++) {
        const tf_scope_row *row = tf_scope_at((tf_scope)kind);
        if (stream && (runs || row->at_once)) continue;
        if (runs && row->drops) continue;
        if (nests && !runs && row->at_once) continue;
        if ((*k)-- > 0) continue;
        s->kind = (tf_scope)kind;
        s->runs = runs;
        s->stream = stream;
        return true;
      }
  return false;
}

bool tf_x_shape_at(const tf_arch *arch, const tf_workload *wl, int k, tf_x_shape *out) {
  int least = outermost_unit_level(arch, wl);
  *out = (tf_x_shape){.kind = TF_SEQ};
  if (k-- == 0) return true;
  if (wl->n_ops < 2 || !tf_ops_one_end(wl)) return false;
  for (int shared = 1; shared <= least + 1; shared++)
    for (int keep = shared == 1 && least >= 1; keep >= 0; keep--) {
      if (shared == 1 && !keep && least >= 1)
        continue; /* intermediates would pass through the outermost memory */
      out->shared = shared;
      out->keep = keep;
      if (below_at(arch, wl, &k, out)) return true;
    }
  return false;
}

/* ---- groups of dims -------------------------------------------------------------------------- */
int tf_x_sequence(int n, int place[16]) {
  static const int sequences[5][12] = {
      {0}, {0}, {0, 1, 0}, {0, 1, 2, 0, 1, 0, 2}, {0, 1, 2, 3, 0, 1, 2, 0, 3, 1, 0, 2}};
  static const int lengths[5] = {0, 1, 3, 7, 12};
  for (int i = 0; i < lengths[n]; i++)
    place[i] = sequences[n][i];
  return lengths[n];
}

unsigned tf_x_skips(const tf_arch *arch, const tf_workload *wl, const tf_x_shape *s, int op,
                    int level) {
  if (op < 0) return s->stream ? TF_X_SKIP_WINDOWS : TF_X_SKIP_WINDOWS | TF_X_SKIP_REDUCED;
  return level < unit_level(arch, wl, op) - 1 ? TF_X_SKIP_WINDOWS : 0;
}

static bool reduced_elsewhere(const tf_workload *wl, int dim) {
  for (int o = 0; o < wl->n_ops; o++)
    for (int i = wl->ops[o].n_out_dims; i < wl->ops[o].n_dims; i++)
      if (o != last_op(wl) && wl->ops[o].dims[i] == dim) return true;
  return false;
}

static bool is_skipped(const tf_workload *wl, unsigned skip, int dim) {
  return wl->dims[dim].extent <= 1 || (skip & TF_X_SKIP_WINDOWS && tf_ops_window(wl, dim)) ||
         (skip & TF_X_SKIP_REDUCED && reduced_elsewhere(wl, dim));
}

int tf_x_dims(const tf_workload *wl, int op, unsigned skip, int *dims) {
  const tf_op *o = &wl->ops[op < 0 ? last_op(wl) : op];
  int n = 0;
  for (int i = 0; i < o->n_dims; i++)
    if (!is_skipped(wl, skip, o->dims[i])) {
      if (n == TF_X_DIMS) return -1;
      dims[n++] = o->dims[i];
    }
  return n;
}

static bool uses(const tf_index *ix, const bool *dim) {
  for (int t = 0; t < ix->n_terms; t++)
    if (dim[ix->terms[t].dim]) return true;
  return false;
}

/* Marks the tensors that loops over the dims move, from op o up through its producers. */
static void mark_moved(const tf_workload *wl, int o, const bool *dim, bool further, bool *moved) {
  const tf_op *op = &wl->ops[o];
  for (int i = 0; i < op->n_out_dims; i++)
    if (dim[op->dims[i]]) moved[op->out] = true;
  for (int k = 0; k < op->n_reads; k++) {
    const tf_tensor *z = &wl->tensors[op->reads[k].tensor];
    bool next[256] = {false}, any = false;
    for (int r = 0; r < z->rank; r++)
      if (uses(&op->reads[k].index[r], dim)) {
        any = true;
        if (z->producer >= 0 && wl->ops[z->producer].dims[r] < 256)
          next[wl->ops[z->producer].dims[r]] = true;
      }
    moved[op->reads[k].tensor] |= any;
    if (any && further && z->producer >= 0) mark_moved(wl, z->producer, next, true, moved);
  }
}

static uint64_t signature(const tf_workload *wl, int op, int dim) {
  bool dims[256] = {false}, moved[64] = {false};
  uint64_t bits = 0;
  dims[dim] = true;
  mark_moved(wl, op < 0 ? last_op(wl) : op, dims, op < 0, moved);
  for (int z = 0; z < wl->n_tensors; z++)
    bits |= (uint64_t)moved[z] << z;
  return bits;
}

static uint64_t all_tensors(const tf_workload *wl, int op) {
  uint64_t bits = 0;
  for (int o = 0; o < wl->n_ops; o++) {
    if (op >= 0 && o != op) continue;
    bits |= UINT64_C(1) << wl->ops[o].out;
    for (int k = 0; k < wl->ops[o].n_reads; k++)
      bits |= UINT64_C(1) << wl->ops[o].reads[k].tensor;
  }
  return bits;
}

int tf_x_groups(const tf_workload *wl, int op, const int *dims, int n, int *group) {
  uint64_t sign[TF_X_DIMS], all = all_tensors(wl, op);
  int n_groups = 0;
  for (int i = 0; i < n; i++) {
    sign[i] = signature(wl, op, dims[i]);
    group[i] = sign[i] == all ? -1 : n_groups;
    for (int j = 0; j < i; j++)
      if (sign[j] == sign[i]) group[i] = group[j];
    if (group[i] == n_groups && n_groups < TF_X_GROUPS - 1)
      n_groups++;
    else if (group[i] == n_groups)
      group[i] = n_groups; /* the last group takes all that are left */
  }
  for (int i = 0; i < n; i++)
    if (group[i] >= n_groups) n_groups = group[i] + 1;
  return n_groups;
}

/* ---- trees ---------------------------------------------------------------------------------- */
typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  const tf_x_shape *s;
  tf_build *out;
} writer;

static void put_loop(const writer *w, int dim, tf_axis axis) {
  tf_build_loop(w->out, (tf_loop){.dim = dim, .axis = axis});
}

static void put_temporal(const writer *w, int op, const int *dims, int n, bool last) {
  int group[TF_X_DIMS], place[16], n_groups = tf_x_groups(w->wl, op, dims, n, group);
  int n_places = last ? 0 : tf_x_sequence(n_groups, place);
  for (int i = 0; i < n; i++)
    if (last || group[i] < 0) put_loop(w, dims[i], TF_TEMPORAL);
  for (int p = 0; p < n_places; p++)
    for (int i = 0; i < n; i++)
      if (group[i] == place[p]) put_loop(w, dims[i], TF_TEMPORAL);
}

/* Whether a Tile of op (-1: of all) at a level must not spread the dim: instances would get partial
 * sums of a tensor that lives further in. */
static bool splits_sums(const writer *w, int op, int level, int dim) {
  const tf_op *o = &w->wl->ops[op < 0 ? last_op(w->wl) : op];
  const tf_tensor *z = &w->wl->tensors[o->out];
  bool reduced = false;
  for (int i = o->n_out_dims; i < o->n_dims; i++)
    reduced |= o->dims[i] == dim;
  return reduced && z->n_consumers == 0 && tf_arch_home(w->arch, z) > level;
}

static void put_spatial(const writer *w, int op, int level, const int64_t mesh[2]) {
  int dims[TF_X_DIMS], n = tf_x_dims(w->wl, op, tf_x_skips(w->arch, w->wl, w->s, op, level), dims);
  for (int a = 0; a < 2; a++)
    for (int i = 0; i < n && mesh[a] > 1; i++)
      if (!tf_ops_window(w->wl, dims[i]) && !splits_sums(w, op, level, dims[i]))
        put_loop(w, dims[i], a ? TF_SPATIAL_Y : TF_SPATIAL_X);
}

/* The mesh that a Tile of op (-1: of all) at a level spreads over. */
static const int64_t *mesh_below(const writer *w, int op, int level) {
  int u = op < 0 ? -1 : tf_ops_unit(w->arch, w->wl, op);
  if (u >= 0 && w->arch->units[u].below == level) return w->arch->units[u].mesh;
  return level + 1 < w->arch->n_memories ? w->arch->memories[level + 1].mesh : NULL;
}

static int put_tile(const writer *w, int parent, int op, int level, bool spread, bool last) {
  int dims[TF_X_DIMS], n = tf_x_dims(w->wl, op, tf_x_skips(w->arch, w->wl, w->s, op, level), dims);
  int tile = tf_build_tile(w->out, parent, level);
  put_temporal(w, op, dims, n, last);
  if (spread && mesh_below(w, op, level)) put_spatial(w, op, level, mesh_below(w, op, level));
  return tile;
}

static void put_op(const writer *w, int parent, int op) {
  int from = w->s->shared == 0 ? 0 : w->s->keep ? w->s->shared : w->s->shared - 1;
  int to = unit_level(w->arch, w->wl, op);
  for (int l = from; l <= to; l++)
    parent = put_tile(w, parent, op, l, true, l == to);
  tf_build_op(w->out, parent, op);
}

/* The run that contains all ops that touch tensor z; -1: there is none. */
static int run_of(const writer *w, const int *run, int z) {
  int r = -2;
  for (int k = 0; k < w->wl->n_ops; k++) {
    const tf_op *op = &w->wl->ops[w->wl->topo[k]];
    bool touches = op->out == z;
    for (int i = 0; i < op->n_reads; i++)
      touches |= op->reads[i].tensor == z;
    if (touches) r = r == -2 || r == run[k] ? run[k] : -1;
  }
  return r;
}

static void put_clauses(const writer *w, const int *run, int r) {
  const tf_workload *wl = w->wl;
  for (int k = 0; k < wl->n_ops; k++) {
    int z = wl->ops[wl->topo[k]].out;
    if (w->s->keep && wl->tensors[z].n_consumers > 0 && run_of(w, run, z) == r)
      tf_build_keep(w->out, (tf_keep){.tensor = z, .level = w->s->shared});
    if (w->s->stream && tf_ops_streamed(wl, wl->topo[k]))
      tf_build_stream(w->out, (tf_named){.tensor = z});
  }
}

static void put_scope(const writer *w, int parent) {
  int run[TF_X_OPS], n = find_runs(w->arch, w->wl, run);
  for (int k = 0; k < w->wl->n_ops && !w->s->runs; k++)
    run[k] = k;
  int scope = tf_build_scope(w->out, parent, w->s->kind);
  put_clauses(w, run, -1);
  for (int r = 0, k = 0; r < (w->s->runs ? n : w->wl->n_ops); r++) {
    int end = k, below = scope;
    while (end < w->wl->n_ops && run[end] == r)
      end++;
    if (end - k > 1) {
      below = tf_build_scope(w->out, scope, TF_SEQ);
      put_clauses(w, run, r);
    }
    for (; k < end; k++)
      put_op(w, below, w->wl->topo[k]);
  }
}

tf_tree *tf_x_tree(const tf_arch *arch, const tf_workload *wl, const tf_x_shape *s) {
  writer w = {arch, wl, s, tf_build_new(arch, wl, NULL)};
  int above = -1;
  if (!w.out) return NULL;
  for (int l = 0; l < s->shared; l++) /* at the innermost the instances are left to the ops */
    above = put_tile(&w, above, -1, l, l + 1 < s->shared || s->keep, false);
  if (wl->n_ops == 1)
    put_op(&w, -1, 0);
  else
    put_scope(&w, above);
  return tf_build_tree(w.out);
}
