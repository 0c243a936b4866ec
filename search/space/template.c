/* The fused template: all ops in one Seq below the loops that they can share, with each op's own
 * loops below, and all trip counts open. */
#include <stdlib.h>
#include <string.h>

#include "model/input/dims.h"
#include "model/tree/build.h"
#include "tileflow/search.h"

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  uint64_t *reach; /* [op][dim] dims of the workload's outputs that move the dim's range */
  int home; /* of intermediates: the level whose instances are independent, or the near memory */
  tf_build *out;
} builder;

static uint64_t *reach(const builder *b, int o, int dim) {
  return &b->reach[o * b->wl->n_dims + dim];
}

static bool is_output(const builder *b, int o) {
  return b->wl->tensors[b->wl->ops[o].out].n_consumers == 0;
}

/* Adds the dims that move op o's output, as consumer c reads it. */
static void add_reach(builder *b, int o, int c, const tf_ref *ref) {
  for (int r = 0; r < b->wl->ops[o].n_out_dims; r++)
    for (int t = 0; t < ref->index[r].n_terms; t++)
      *reach(b, o, b->wl->ops[o].dims[r]) |= *reach(b, c, ref->index[r].terms[t].dim);
}

static void find_reach(builder *b) {
  for (int i = b->wl->n_ops - 1; i >= 0; i--) {
    int o = b->wl->topo[i];
    const tf_op *op = &b->wl->ops[o];
    for (int k = 0; k < op->n_out_dims && is_output(b, o); k++)
      *reach(b, o, op->dims[k]) |= UINT64_C(1) << op->dims[k];
    const tf_tensor *z = &b->wl->tensors[op->out];
    for (int i_c = 0; i_c < z->n_consumers; i_c++) {
      int c = z->consumers[i_c];
      for (int k = 0; k < b->wl->ops[c].n_reads; k++)
        if (b->wl->ops[c].reads[k].tensor == op->out) add_reach(b, o, c, &b->wl->ops[c].reads[k]);
    }
  }
}

static void mesh_of(const builder *b, int level, int o, int64_t mesh[2]) {
  mesh[0] = mesh[1] = 1;
  if (level + 1 < b->arch->n_memories) {
    memcpy(mesh, b->arch->memories[level + 1].mesh, 2 * sizeof *mesh);
    return;
  }
  for (int u = b->arch->n_units - 1; u >= 0; u--)
    if (o >= 0 && !(b->wl->ops[o].kinds & ~b->arch->units[u].kinds))
      memcpy(mesh, b->arch->units[u].mesh, 2 * sizeof *mesh);
}

static bool is_moved(const tf_workload *wl, const tf_ref *ref, int d) {
  return tf_ref_moves(ref, wl->tensors[ref->tensor].rank, d);
}

/* The only read that dim d moves; NULL if it moves none, or more than one. */
static const tf_ref *only_read(const tf_workload *wl, const tf_op *op, int d) {
  const tf_ref *found = NULL;
  for (int i = 0; i < op->n_reads; i++) {
    if (!is_moved(wl, &op->reads[i], d)) continue;
    if (found) return NULL;
    found = &op->reads[i];
  }
  return found;
}

static bool slides(const tf_workload *wl, const tf_ref *ref) {
  for (int r = 0; r < wl->tensors[ref->tensor].rank; r++)
    if (ref->index[r].n_terms > 1 ||
        (ref->index[r].n_terms == 1 && ref->index[r].terms[0].coef != 1))
      return true;
  return false;
}

/* Number of dims of the output that move the read. */
static int out_dims_of(const tf_workload *wl, const tf_op *op, const tf_ref *ref) {
  int n = 0;
  for (int k = 0; k < op->n_out_dims; k++)
    n += is_moved(wl, ref, op->dims[k]);
  return n;
}

enum {
  TILE_VECTORS = 4
}; /* vectors of a register tile: rows that fill them need no channel lanes */

/* Whether one read is an image (two or more output dims) and the other one weights with one channel
 * dim: a 1 x 1 convolution.  Rows of images may not fill vectors; channels do. */
static bool is_pointwise(const tf_workload *wl, const tf_op *op, const tf_ref *rows,
                         const tf_ref *weights) {
  return out_dims_of(wl, op, rows) > 1 && out_dims_of(wl, op, weights) == 1 &&
         wl->tensors[weights->tensor].producer < 0;
}

/* The dim that is spread over units: the output's last.  If that slides a window or has a stride,
 * or the op is a 1 x 1 convolution whose rows do not fill tiles: another output dim that alone
 * moves the other operand (a convolution's channels) and is long enough for all units of a row. */
static int unit_dim(const builder *b, const tf_op *op, int64_t units) {
  const int last = op->n_out_dims - 1;
  if (last < 0) return op->n_dims ? op->dims[0] : -1;
  const tf_ref *rows = op->n_reads == 2 ? only_read(b->wl, op, op->dims[last]) : NULL;
  const bool fills_tiles = b->wl->dims[op->dims[last]].extent % (TILE_VECTORS * units) == 0;
  for (int k = 0; k < last && rows; k++) {
    const tf_ref *other = only_read(b->wl, op, op->dims[k]);
    if (other && other != rows && b->wl->dims[op->dims[k]].extent >= units &&
        (slides(b->wl, rows) || (!fills_tiles && is_pointwise(b->wl, op, rows, other))))
      return op->dims[k];
  }
  return op->dims[last];
}

/* Whether dim d is a reduced dim that slides a window of the op. */
static bool is_window(const builder *b, const tf_op *op, int k) {
  for (int i = 0; i < op->n_reads && k >= op->n_out_dims; i++)
    for (int r = 0; r < b->wl->tensors[op->reads[i].tensor].rank; r++)
      for (int t = 0; op->reads[i].index[r].n_terms > 1 && t < op->reads[i].index[r].n_terms; t++)
        if (op->reads[i].index[r].terms[t].dim == op->dims[k]) return true;
  return false;
}

/* A loop whose trip count is open. */
static void open_loop(const builder *b, int dim, tf_axis axis) {
  tf_build_loop(b->out, (tf_loop){.dim = dim, .axis = axis});
}

/* Writes the op's own loops at one level: the output's last dim first, then its other dims, reduced
 * dims last.  Without `near` the last dim and windows are left to the levels further in. */
static void own_loops(const builder *b, const tf_op *op, bool near) {
  int last = op->n_out_dims - 1;
  for (int k = last; k < op->n_dims; k++) {
    if (k < 0) continue;
    if (k == last + 1)
      for (int i = 0; i < last; i++)
        open_loop(b, op->dims[i], TF_TEMPORAL);
    if (near || (k != last && !is_window(b, op, k))) open_loop(b, op->dims[k], TF_TEMPORAL);
  }
  for (int i = 0; i < last && last + 1 == op->n_dims; i++)
    open_loop(b, op->dims[i], TF_TEMPORAL);
}

/* The dim that is spread over units; *channels: whether it is other than the output's last. */
static int units_of(const builder *b, int o, bool *channels) {
  const tf_op *op = &b->wl->ops[o];
  int64_t mesh[2];
  mesh_of(b, b->arch->n_memories - 1, o, mesh);
  const int dim = unit_dim(b, op, mesh[0]);
  *channels = op->n_out_dims > 0 && dim != op->dims[op->n_out_dims - 1];
  return dim;
}

/* Whether one row of what the op reads, in all channels and at one place of the window, takes at
 * most half of the home: true for rows of images, perhaps not where the whole image is one row. */
static bool row_fits(const builder *b, const tf_op *op) {
  const int last = op->n_out_dims - 1;
  const int64_t room = b->arch->memories[b->home].capacity_words;
  double words = 0;
  for (int i = 0; i < op->n_reads; i++) {
    double row = is_moved(b->wl, &op->reads[i], op->dims[last]);
    for (int k = last; k < op->n_dims; k++)
      if (is_moved(b->wl, &op->reads[i], op->dims[k]) && !is_window(b, op, k))
        row *= (double)b->wl->dims[op->dims[k]].extent;
    words += row;
  }
  return room < 0 || 2 * words <= (double)room;
}

/* The row dims that a micro-kernel walks while its lanes hold channels.  Tiling them slows it down
 * and adds overlap. */
static uint64_t rows(const builder *b) {
  uint64_t all = 0;
  for (int o = 0; o < b->wl->n_ops; o++) {
    const tf_op *op = &b->wl->ops[o];
    bool channels;
    units_of(b, o, &channels);
    if (channels && row_fits(b, op)) all |= *reach(b, o, op->dims[op->n_out_dims - 1]);
  }
  return all;
}

/* The dims that all ops share: loops over them may be above all. */
static uint64_t shared(const builder *b) {
  uint64_t all = ~UINT64_C(0);
  for (int o = 0; o < b->wl->n_ops; o++) {
    uint64_t any = 0;
    for (int d = 0; d < b->wl->n_dims; d++)
      any |= *reach(b, o, d);
    all &= any;
  }
  return all & ~rows(b) ? all & ~rows(b) : all;
}

static void open_loops(const builder *b, uint64_t dims, tf_axis axis) {
  for (int d = 0; d < b->wl->n_dims; d++)
    if (dims >> d & 1) open_loop(b, d, axis);
}

/* Spreads a dim over instances: over all of them, or with an open count. */
static void over_units(const builder *b, int dim, const int64_t mesh[2], bool all) {
  for (int axis = 0; axis < 2 && dim >= 0; axis++)
    if (mesh[axis] > 1)
      tf_build_loop(b->out, (tf_loop){.dim = dim,
                                      .axis = axis ? TF_SPATIAL_Y : TF_SPATIAL_X,
                                      .trip = all ? mesh[axis] : 0});
}

/* Writes own Tiles where units are spread over channels: rows in registers, and windows whole and
 * right outside, as the micro-kernel has them. */
static void own_tiles(const builder *b, int o, int parent, int from) {
  const tf_op *op = &b->wl->ops[o];
  const int inmost = b->arch->n_memories - 1, last = op->n_out_dims - 1;
  bool channels;
  const int units = units_of(b, o, &channels);
  channels = channels && inmost > from;
  for (int l = from; l <= inmost; l++) {
    int64_t mesh[2];
    mesh_of(b, l, o, mesh);
    parent = tf_build_tile(b->out, parent, l);
    if (channels && l == inmost)
      open_loop(b, op->dims[last], TF_TEMPORAL);
    else
      own_loops(b, op, !channels || l == inmost - 1);
    over_units(b, units, mesh,
               channels && l == inmost && b->wl->dims[units].extent % (mesh[0] * mesh[1]) == 0);
  }
  tf_build_op(b->out, parent, o);
}

/* The first memory whose instances work independently; if there is none, the one in which a core's
 * blocks stay. */
static int home_of(const tf_arch *a) {
  for (int l = 1; l < a->n_memories; l++)
    if (a->memories[l].mesh[0] * a->memories[l].mesh[1] > 1) return l;
  const int close = tf_arch_near_cache(a);
  return close ? close : a->n_memories > 1;
}

/* The scope keeps all intermediates in their home. */
static void keep_homes(const builder *b) {
  for (int z = 0; z < b->wl->n_tensors; z++)
    if (b->wl->tensors[z].producer >= 0 && b->wl->tensors[z].n_consumers)
      tf_build_keep(b->out, (tf_keep){.tensor = z, .level = b->home});
}

/* Dims of the op from its k-th to the one before the n-th. */
static uint64_t dims_of(const tf_op *op, int k, int n) {
  uint64_t all = 0;
  for (; k < n; k++)
    all |= UINT64_C(1) << op->dims[k];
  return all;
}

/* The dim that both a maximum and a sum reduce, and that no output has: a softmax's keys.  -1:
 * there is none. */
static int stream_dim(const builder *b) {
  uint64_t most = 0, sums = 0, kept = 0;
  for (int o = 0; o < b->wl->n_ops; o++) {
    const tf_op *op = &b->wl->ops[o];
    const uint64_t reduced = dims_of(op, op->n_out_dims, op->n_dims);
    if (is_output(b, o)) kept |= dims_of(op, 0, op->n_out_dims);
    if (op->reduce == TF_REDUCE_ADD) sums |= reduced;
    if (op->reduce == TF_REDUCE_MAX && !is_output(b, o)) most |= reduced;
  }
  const uint64_t can = most & sums & ~kept;
  return can ? __builtin_ctzll(can) : -1;
}

/* Words of inputs per key, with the shared dims at one value. */
static double words_of_key(const builder *b, int dim) {
  const uint64_t around = shared(b) | UINT64_C(1) << dim;
  double all = 0;
  for (int o = 0; o < b->wl->n_ops; o++)
    for (int i = 0; i < b->wl->ops[o].n_reads; i++) {
      const tf_ref *ref = &b->wl->ops[o].reads[i];
      double words = 1;
      bool moves = false;
      for (int r = 0; r < b->wl->tensors[ref->tensor].rank; r++)
        for (int t = 0; t < ref->index[r].n_terms; t++) {
          moves |= ref->index[r].terms[t].dim == dim;
          if (!(around >> ref->index[r].terms[t].dim & 1))
            words *= (double)b->wl->dims[ref->index[r].terms[t].dim].extent;
        }
      if (moves && b->wl->tensors[ref->tensor].producer < 0) all += words;
    }
  return all;
}

/* The number of blocks of keys: a block's inputs take about an eighth of their memory, which leaves
 * room for scores and results.  0: too few keys; -1: the memory's size is unknown. */
static int64_t key_blocks(const builder *b) {
  enum { SHARE = 8 };
  const int dim = stream_dim(b);
  if (dim < 0) return 0;
  const double words = words_of_key(b, dim),
               room = (double)b->arch->memories[b->home].capacity_words / SHARE;
  if (room <= 0 || words <= 0) return -1;
  const double keys = room / words, extent = (double)b->wl->dims[dim].extent;
  return extent < keys || extent < 2 ? 0 : (int64_t)(extent / (keys < 1 ? 1 : keys));
}

/* Keys that the units of a row take at once: the op that makes the scores spreads them. */
static int64_t keys_at_once(const builder *b, int dim) {
  for (int i = 0; i < b->wl->n_ops; i++) {
    const int o = b->wl->topo[i];
    const tf_op *op = &b->wl->ops[o];
    int64_t mesh[2];
    bool channels;
    if (op->n_out_dims == 0 || units_of(b, o, &channels) != dim) continue;
    mesh_of(b, b->arch->n_memories - 1, o, mesh);
    return mesh[0];
  }
  return 1;
}

/* The number of blocks from two thirds to four thirds of n that fill the units best: with whole
 * rows of keys, and a full last block.  Of equal ones the largest blocks. */
static int64_t whole_blocks(int64_t n, int64_t extent, int64_t row) {
  int64_t best = n, least = INT64_MAX;
  for (int64_t c = n > 2 ? (2 * n + 2) / 3 : 2; c <= n + n / 3 && c <= extent; c++) {
    const int64_t keys = (extent + c - 1) / c, rows = (keys + row - 1) / row,
                  words = c * rows * row;
    if (words >= least) continue;
    best = c;
    least = words;
  }
  return best;
}

/* Writes the loop over blocks of keys: about as many as key_blocks says, or twice or half as many;
 * half as many may leave more room for rows. */
static void key_loop(const builder *b) {
  const int dim = stream_dim(b);
  const int64_t blocks = key_blocks(b), extent = b->wl->dims[dim].extent,
                row = keys_at_once(b, dim);
  int64_t counts[4];
  int n = 0;
  for (int64_t c = blocks > 3   ? blocks / 2
                   : blocks > 1 ? blocks
                                : 2;
       n < 4 && c <= 2 * blocks; c *= 2)
    counts[n++] = whole_blocks(c, extent, row);
  tf_build_loop(b->out,
                (tf_loop){.dim = dim, .axis = TF_TEMPORAL, .n_choices = n, .choices = counts});
}

/* Makes the scope stream all reductions over the dim. */
static void stream_over(const builder *b, int dim) {
  for (int i = 0; i < b->wl->n_ops; i++) {
    const tf_op *op = &b->wl->ops[b->wl->topo[i]];
    for (int k = op->n_out_dims; k < op->n_dims; k++)
      if (op->dims[k] == dim) tf_build_stream(b->out, (tf_named){.tensor = op->out});
  }
}

/* Writes the Tiles above the Seq: shared dims over the outermost memory and over instances, key
 * blocks inside these.  Returns the innermost of them. */
static int tiles_above(const builder *b, tf_template form) {
  const uint64_t dims = shared(b);
  const int own = form == TF_TEMPLATE_FAR ? b->home - 1 : b->home;
  int parent = -1;
  for (int l = 0; l < own; l++) {
    int64_t mesh[2];
    mesh_of(b, l, -1, mesh);
    parent = tf_build_tile(b->out, parent, l);
    if (l == 0) open_loops(b, dims, TF_TEMPORAL);
    if (mesh[0] > 1) open_loops(b, dims, TF_SPATIAL_X);
  }
  if (form == TF_TEMPLATE_STREAM) {
    parent = tf_build_tile(b->out, parent, b->home - 1);
    key_loop(b);
  }
  if (form == TF_TEMPLATE_WHOLE || form == TF_TEMPLATE_STREAM)
    parent = tf_build_tile(b->out, parent, b->home);
  return parent;
}

static void whole(const builder *b, tf_template form) {
  const int passes =
      form == TF_TEMPLATE_FAR ? 2 : form == TF_TEMPLATE_PARTS || form == TF_TEMPLATE_OUTSIDE;
  int parent = tiles_above(b, form);
  if (b->wl->n_ops > 1) {
    parent = tf_build_scope(b->out, parent, TF_SEQ);
    if (form == TF_TEMPLATE_PARTS) keep_homes(b);
    if (form == TF_TEMPLATE_STREAM) stream_over(b, stream_dim(b));
  }
  for (int i = 0; i < b->wl->n_ops; i++)
    own_tiles(b, b->wl->topo[i], parent, b->home - passes);
}

tf_tree *tf_search_template(const tf_arch *arch, const tf_workload *wl, tf_template form) {
  builder b = {.arch = arch, .wl = wl, .home = home_of(arch)};
  if (wl->n_dims > 64) return NULL; /* sets of dims are 64-bit words */
  b.reach = calloc((size_t)wl->n_ops * (size_t)wl->n_dims + 1, sizeof *b.reach);
  if (!b.reach) return NULL;
  find_reach(&b);
  bool there = shared(&b) && b.home != 0 &&
               ((form != TF_TEMPLATE_OUTSIDE && form != TF_TEMPLATE_FAR) || b.home >= 2) &&
               (form != TF_TEMPLATE_STREAM || key_blocks(&b) != 0);
  b.out = there ? tf_build_new(arch, wl, NULL) : NULL;
  if (b.out) whole(&b, form);
  free(b.reach);
  return tf_build_tree(b.out);
}
