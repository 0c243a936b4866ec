/* The open mappings that suit an NPU, for the planner to search if none is given. All ops are fused
 * below the loops that they share, with intermediates in UB, or in L1 if the cube reads them; if
 * they share none they run in sequence, with intermediates in global memory. If there is a softmax,
 * also with its keys streamed: a block of them at a time is in L1, where the results are kept. If
 * there is a vector unit, also with its results in whole lines of its memory: its ops are not split
 * near it, and further out into blocks of sixteen. If results can be computed in parts along dims
 * that not all ops have (convolutions), also below loops over these: of each intermediate only what
 * a part needs is computed, and what children read in each part stays in L1. (The planner itself
 * also plans each op alone.) The model, which ranks completions, does not see how many instructions
 * a program has: where none of those found is short enough, the same forms with the largest tiles
 * of the cube are searched. */
#include <math.h>

#include "codegen/backend/npu/pass/pass.h"
#include "model/tree/build.h"

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  npu_target t;
  int global, buffer, unit, cube; /* memory levels: outermost; L1, UB, L0; of an array the
                                   outermost, its buffer twice, its registers */
  bool fused;
  bool lines; /* ops of the vector unit are in whole lines */
  bool cut;   /* results are computed in parts, with the parts of intermediates that they need */
  bool large; /* the cube's tiles are as large as its memories hold: the fewest instructions */
  int keys;   /* the streamed dim; -1: none */
  tf_build *out;
} former;

static int level_in(const former *f, int memory) {
  int level = -1;
  for (int l = 0; l < f->arch->n_memories && l < NPU_LEVELS; l++)
    if (f->t.memory_of[l] == memory) level = l;
  return level;
}

static bool is_window(const tf_workload *wl, const tf_op *op, int dim) {
  bool is = false;
  for (int i = 0; i < op->n_reads; i++)
    for (int r = 0; r < wl->tensors[op->reads[i].tensor].rank; r++)
      for (int t = 0; op->reads[i].index[r].n_terms > 1 && t < op->reads[i].index[r].n_terms; t++)
        is |= op->reads[i].index[r].terms[t].dim == op->dims[dim];
  return is && dim >= op->n_out_dims;
}

/* ---- loops ---------------------------------------------------------------------------------- */
static void open_loop(const former *f, int dim) {
  tf_build_loop(f->out, (tf_loop){.dim = dim, .axis = TF_TEMPORAL});
}

/* Whether the dim is contiguous in the output of some op. */
static bool is_line(const tf_workload *wl, int dim) {
  bool is = false;
  for (int o = 0; o < wl->n_ops; o++)
    is |= wl->ops[o].n_out_dims > 0 && wl->ops[o].dims[wl->ops[o].n_out_dims - 1] == dim;
  return is;
}

/* A loop over blocks: with lines, of sixteen contiguous elements times a power of two. */
static void open_blocks(const former *f, int dim) {
  enum { LINE = 16, MOST = 12 };
  const int64_t extent = f->wl->dims[dim].extent;
  int64_t counts[MOST];
  int n = 0;
  if (!f->lines || !is_line(f->wl, dim)) {
    open_loop(f, dim);
    return;
  }
  for (int64_t block = LINE; n < MOST - 1 && block < extent; block *= 2)
    counts[n++] = (extent + block - 1) / block;
  counts[n++] = 1;
  tf_build_loop(f->out,
                (tf_loop){.dim = dim, .axis = TF_TEMPORAL, .n_choices = n, .choices = counts});
}

/* Reduced dims are innermost, so that sums stay in place; windows only near the cube, except where
 * its tiles are so large that L1 may not hold all their weights. */
static void open_loops(const former *f, const tf_op *op, bool windows) {
  for (int k = 0; k < op->n_dims; k++)
    if (windows || !is_window(f->wl, op, k)) open_loop(f, op->dims[k]);
}

static void spread(const former *f, int dim, tf_axis axis, int64_t most) {
  const int64_t extent = dim < 0 ? 1 : f->wl->dims[dim].extent,
                trip = extent < most ? extent : most;
  if (trip > 1) tf_build_loop(f->out, (tf_loop){.dim = dim, .axis = axis, .trip = trip});
}

/* The op's longest dim, the last among equals, on that side of its output (or, for the left
 * operand, reduced); -1: none. */
static int longest_dim(const former *f, const tf_op *op, int role, npu_side side) {
  int found = -1;
  for (int k = 0; k < op->n_dims; k++) {
    const bool has = role ? k >= op->n_out_dims : k < op->n_out_dims;
    if (!has || npu_side_of(f->wl, op, role, k) != side) continue;
    if (found < 0 || f->wl->dims[op->dims[k]].extent >= f->wl->dims[found].extent)
      found = op->dims[k];
  }
  return found;
}

static const tf_unit *unit_of(const former *f, const tf_op *op) {
  for (int u = 0; u < f->arch->n_units; u++)
    if (!(op->kinds & ~f->arch->units[u].kinds)) return &f->arch->units[u];
  return NULL;
}

/* ---- tiles ---------------------------------------------------------------------------------- */
static int home_of(const former *f, int z) {
  const tf_tensor *t = &f->wl->tensors[z];
  bool cube = false;
  if (t->producer < 0 || t->n_consumers == 0 || !f->fused) return f->global;
  for (int i = 0; i < t->n_consumers; i++)
    cube |= npu_is_product(&f->wl->ops[t->consumers[i]], f->wl);
  return cube ? f->buffer : f->unit;
}

/* Bypasses the memory with what it does not hold. */
static void bypass(const former *f, const tf_op *op, int level, bool reads, bool result) {
  for (int i = 0; reads && i < op->n_reads; i++) {
    bool again = false;
    for (int k = 0; k < i; k++)
      again |= op->reads[k].tensor == op->reads[i].tensor;
    if (!again && home_of(f, op->reads[i].tensor) != level)
      tf_build_bypass(f->out, (tf_named){.tensor = op->reads[i].tensor});
  }
  if (result && home_of(f, op->out) != level)
    tf_build_bypass(f->out, (tf_named){.tensor = op->out});
}

/* Chooses a power of two of blocks along one side, limited by the extent and the memory; of large
 * tiles the most. */
static void blocks(const former *f, int dim, int64_t side, int64_t most) {
  int64_t counts[16];
  int n = 0;
  const int64_t all = dim < 0 ? 1 : (f->wl->dims[dim].extent + side - 1) / side;
  for (int64_t c = 1; n < 16 && c <= most && (c == 1 || c < 2 * all); c *= 2)
    counts[n++] = c < all ? c : all;
  if (dim >= 0 && all > 1 && f->large)
    tf_build_loop(f->out, (tf_loop){.dim = dim, .axis = TF_TEMPORAL, .trip = counts[n - 1]});
  else if (dim >= 0 && all > 1)
    tf_build_loop(f->out,
                  (tf_loop){.dim = dim, .axis = TF_TEMPORAL, .n_choices = n, .choices = counts});
}

/* A square of sums that fits in L0C, and the longest part of the sum that L0A and L0B can hold for
 * it; of large tiles in two slots. */
static void open_cube_tile(const former *f, const tf_op *op, int parent) {
  const tf_unit *u = unit_of(f, op);
  const npu_machine *m = &f->t.machine;
  const int64_t side = (int64_t)sqrt((double)u->mesh[0]), wide = u->mesh[1];
  const int row = longest_dim(f, op, 0, NPU_ROW), column = longest_dim(f, op, 0, NPU_COLUMN),
            sum = longest_dim(f, op, 1, NPU_COLUMN);
  const int64_t sums = (int64_t)sqrt((double)m->memory[m->cube.sums].bytes / 4) / side;
  const int64_t left = m->memory[m->cube.left].bytes * 8 / f->arch->word_bits / (f->large ? 2 : 1);
  parent = tf_build_tile(f->out, parent, f->cube);
  blocks(f, row, side, sums);
  blocks(f, column, wide, sums);
  blocks(f, sum, side, left / (sums * side * side));
  spread(f, row, TF_SPATIAL_X, side);
  spread(f, column, TF_SPATIAL_Y, wide);
  spread(f, sum, TF_SPATIAL_X, side);
  tf_build_op(f->out, parent, (int)(op - f->wl->ops));
}

/* A block of the array's mesh, in both directions, in a tile of the buffer whose loops stream. */
static void open_array_tile(const former *f, const tf_op *op, int parent) {
  const int64_t *mesh = f->arch->memories[f->cube].mesh;
  parent = tf_build_tile(f->out, parent, f->buffer);
  open_loops(f, op, true);
  spread(f, longest_dim(f, op, 0, NPU_ROW), TF_SPATIAL_X, mesh[0]);
  spread(f, longest_dim(f, op, 1, NPU_COLUMN), TF_SPATIAL_Y, mesh[1]);
  parent = tf_build_tile(f->out, parent, f->cube);
  tf_build_op(f->out, parent, (int)(op - f->wl->ops));
}

static void open_product(const former *f, const tf_op *op, int parent) {
  if (!f->fused) {
    parent = tf_build_tile(f->out, parent, f->global);
    open_loops(f, op, f->large);
  }
  if (f->t.flat) {
    open_array_tile(f, op, parent);
    return;
  }
  parent = tf_build_tile(f->out, parent, f->buffer);
  open_loops(f, op, true);
  if (f->keys < 0) bypass(f, op, f->buffer, false, home_of(f, op->out) == f->global);
  if (f->unit >= 0 && home_of(f, op->out) == f->unit) {
    parent = tf_build_tile(f->out, parent, f->unit);
    bypass(f, op, f->unit, true, false);
  }
  open_cube_tile(f, op, parent);
}

static void vector(const former *f, const tf_op *op, int parent) {
  const tf_unit *u = unit_of(f, op);
  const int last = op->n_dims - 1;
  if (f->keys < 0) {
    parent = tf_build_tile(f->out, parent, f->fused ? f->buffer : f->global);
    for (int k = 0; k < op->n_dims && f->lines && !f->fused; k++)
      open_blocks(f, op->dims[k]);
    if (!f->lines || f->unit == f->buffer) open_loops(f, op, true);
    if (f->fused) bypass(f, op, f->buffer, true, true);
  }
  if (!f->fused || f->unit != f->buffer) parent = tf_build_tile(f->out, parent, f->unit);
  if (!f->fused || f->unit != f->buffer) open_loops(f, op, true);
  if (last >= 0 && u && u->below == f->unit) spread(f, op->dims[last], TF_SPATIAL_X, u->mesh[0]);
  tf_build_op(f->out, parent, (int)(op - f->wl->ops));
}

/* ---- forms of mappings ---------------------------------------------------------------------- */

static bool reduces(const tf_op *op, int dim) {
  bool does = false;
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    does |= op->dims[k] == dim;
  return does;
}

/* The dim that an inner maximum and a sum reduce, and no result has: a softmax's keys. -1: none. */
static int keys_of(const tf_workload *wl) {
  int found = -1;
  for (int d = wl->n_dims - 1; d >= 0; d--) {
    bool most = false, sum = false, kept = false;
    for (int o = 0; o < wl->n_ops; o++) {
      const bool leaves = wl->tensors[wl->ops[o].out].n_consumers == 0;
      most |= reduces(&wl->ops[o], d) && wl->ops[o].reduce == TF_REDUCE_MAX && !leaves;
      sum |= reduces(&wl->ops[o], d) && wl->ops[o].reduce == TF_REDUCE_ADD;
      for (int k = 0; k < wl->ops[o].n_out_dims; k++)
        kept |= leaves && wl->ops[o].dims[k] == d;
    }
    if (most && sum && !kept) found = d;
  }
  return found;
}

/* Whether results can be computed in parts along the dim, with parts of intermediates: every result
 * has it, it moves reads of intermediates, and no sum reduces it. */
static bool is_cut(const tf_workload *wl, int dim) {
  bool all = true, moves = false;
  for (int o = 0; o < wl->n_ops; o++) {
    const tf_op *op = &wl->ops[o];
    bool has = false;
    for (int k = 0; k < op->n_out_dims; k++)
      has |= op->dims[k] == dim;
    all = all && (has || wl->tensors[op->out].n_consumers > 0) && !reduces(op, dim);
    for (int i = 0; i < op->n_reads; i++)
      moves |= wl->tensors[op->reads[i].tensor].producer >= 0 && npu_read_has(wl, op, i, dim);
  }
  return all && moves;
}

/* Whether there are such dims that some op does not have. */
static bool can_be_cut(const tf_workload *wl) {
  bool any = false;
  for (int d = 0; d < wl->n_dims; d++)
    any |= is_cut(wl, d) && !npu_is_shared(wl, d);
  return any;
}

/* The Seq below a Tile that keeps results across blocks of keys. */
static int streams(const former *f, int parent) {
  open_loop(f, f->keys);
  parent = tf_build_scope(f->out, tf_build_tile(f->out, parent, f->buffer), TF_SEQ);
  for (int i = 0; i < f->wl->n_ops; i++) {
    const tf_op *op = &f->wl->ops[f->wl->topo[i]];
    if (reduces(op, f->keys)) tf_build_stream(f->out, (tf_named){.tensor = op->out});
  }
  return parent;
}

static void keep_homes(const former *f) {
  for (int z = 0; z < f->wl->n_tensors; z++)
    if (home_of(f, z) != f->global)
      tf_build_keep(f->out, (tf_keep){.tensor = z, .level = home_of(f, z)});
}

static void build(const former *f) {
  int parent = tf_build_tile(f->out, -1, f->global);
  for (int d = 0; d < f->wl->n_dims && f->fused; d++)
    if (npu_is_shared(f->wl, d) || (f->cut && is_cut(f->wl, d))) open_blocks(f, d);
  if (f->wl->n_ops > 1) {
    parent = f->keys < 0 ? tf_build_scope(f->out, parent, f->cut ? TF_SHAR : TF_SEQ)
                         : streams(f, parent);
    keep_homes(f);
  }
  for (int i = 0; i < f->wl->n_ops; i++) {
    const tf_op *op = &f->wl->ops[f->wl->topo[i]];
    if (npu_is_product(op, f->wl))
      open_product(f, op, parent);
    else
      vector(f, op, parent);
  }
}

static bool has_vectors(const tf_workload *wl) {
  bool any = false;
  for (int o = 0; o < wl->n_ops; o++)
    any |= !npu_is_product(&wl->ops[o], wl);
  return any;
}

/* Fills in the architecture and all that does not depend on the form. */
static bool make_former(former *f) {
  tf_diags *d = tf_diags_new(); /* an architecture of another kind has no form */
  const bool is = d && npu_target_of(f->arch, &f->t, d);
  tf_diags_free(d);
  if (!is) return false;
  bool shared = false;
  for (int i = 0; i < f->wl->n_dims; i++)
    shared |= npu_is_shared(f->wl, i);
  f->buffer = level_in(f, 1);
  f->cube = f->t.flat ? f->buffer + 1 : f->t.deep;
  f->unit = f->t.vector_level;
  f->fused = f->wl->n_ops > 1 && shared;
  return f->unit >= 0 || !has_vectors(f->wl);
}

tf_tree *npu_form(const tf_arch *arch, const tf_workload *wl, int k) {
  former f = {.arch = arch, .wl = wl, .keys = -1, .large = k < 0};
  if (!make_former(&f)) return NULL;
  const bool on_core = wl->n_ops > 1 && !f.t.flat, vectors = has_vectors(wl);
  const int keys = on_core && f.fused ? keys_of(wl) : -1;
  const former as[] = {{.keys = -1},
                       {.keys = keys},
                       {.keys = -1, .lines = true},
                       {.keys = -1, .lines = vectors, .cut = true}};
  const bool is[] = {true, keys >= 0, vectors, on_core && can_be_cut(wl)};
  int which = -1;
  for (int i = 0, nth = 0; i < 4 && which < 0; i++)
    if (is[i] && nth++ == (f.large ? -1 - k : k)) which = i;
  if (which < 0) return NULL;
  f.keys = as[which].keys;
  f.lines = as[which].lines;
  f.cut = as[which].cut;
  f.fused |= f.cut;
  f.out = tf_build_new(arch, wl, NULL);
  if (f.out) build(&f);
  return tf_build_tree(f.out);
}
