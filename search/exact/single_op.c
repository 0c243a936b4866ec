/* The op whose trip counts are all searched, and which mappings are in that space. */
#include "search/common/ops.h"
#include "search/exact/single.h"

static bool plain_read(const tf_workload *wl, const tf_ref *r) {
  const tf_tensor *z = &wl->tensors[r->tensor];
  bool ok = z->producer < 0 && !z->view_of;
  for (int k = 0; k < z->rank; k++) {
    const tf_index *ix = &r->index[k];
    ok &= ix->n_terms == 1 && ix->terms[0].coef == 1 && ix->c == 0 && !z->pad[k];
    for (int j = 0; j < k && ok; j++)
      ok &= r->index[j].terms[0].dim != ix->terms[0].dim;
  }
  return ok;
}

static bool plain_op(const tf_workload *wl) {
  const tf_op *o = &wl->ops[0];
  if (o->n_reads + 1 > TF_SINGLE_TENSORS || tf_workload_masked(wl)) return false;
  for (int r = 0; r < wl->tensors[o->out].rank; r++)
    if (wl->tensors[o->out].pad[r]) return false;
  for (int k = 0; k < o->n_reads; k++) {
    if (!plain_read(wl, &o->reads[k])) return false;
    for (int j = 0; j < k; j++)
      if (o->reads[j].tensor == o->reads[k].tensor) return false;
  }
  return true;
}

static uint32_t bit_of(const tf_x_tile *x, int dim) {
  for (int i = 0; i < x->n_dims; i++)
    if (x->dims[i] == dim) return UINT32_C(1) << i;
  return 0;
}

static void add_tensor(const tf_workload *wl, const tf_x_tile *x, int k, tf_single_op *op) {
  const tf_op *o = &wl->ops[0];
  const int z = k < 0 ? o->out : o->reads[k].tensor;
  tf_single_tensor *t = &op->tensor[op->n_tensors++];
  *t = (tf_single_tensor){.words = 1, .bits = wl->tensors[z].word_bits, .made = k < 0};
  t->home = tf_arch_home(op->arch, &wl->tensors[z]);
  for (int r = 0; r < wl->tensors[z].rank; r++) {
    const int dim = k < 0 ? o->dims[r] : o->reads[k].index[r].terms[0].dim;
    t->dims |= bit_of(x, dim);
    t->words *= (double)wl->dims[dim].extent;
  }
}

/* Whether dims of one group move the same tensors, as they do unless there are too many groups. */
static bool alike(const tf_single_op *op, const tf_x_tile *x) {
  for (int z = 0; z < op->n_tensors; z++)
    for (int i = 0; i < op->n_dims; i++)
      for (int j = 0; j < i; j++)
        if (x->group[i] == x->group[j] &&
            (op->tensor[z].dims >> i & 1) != (op->tensor[z].dims >> j & 1))
          return false;
  return true;
}

bool tf_single_op_of(const tf_x_template *t, tf_single_op *op) {
  const tf_workload *wl = t->facts->wl;
  const int n = t->tree->n_nodes - 1; /* Tiles of one op */
  const int unit = wl->n_ops == 1 ? tf_ops_unit(t->facts->arch, wl, 0) : -1;
  if (unit < 0 || !plain_op(wl) || n < 2 || n > TF_SINGLE_TILES ||
      t->tiles[0].n_dims > TF_SINGLE_DIMS)
    return false;
  const tf_x_tile *x = &t->tiles[0];
  *op = (tf_single_op){.arch = t->facts->arch, .n_dims = x->n_dims, .n_tiles = n, .points = 1};
  op->unit = &op->arch->units[unit];
  for (int i = 0; i < x->n_dims; i++)
    op->points *= op->extent[i] = (double)wl->dims[x->dims[i]].extent;
  for (int l = 0; l < n; l++)
    for (int a = 0; a < 2; a++)
      op->mesh[l][a] = l < t->n_tiles ? t->tiles[l].mesh[a] : 1;
  for (int k = -1; k < wl->ops[0].n_reads; k++)
    add_tensor(wl, x, k, op);
  return alike(op, x);
}

/* ---- mappings of the space ------------------------------------------------------------------ */
/* Whether a Tile's temporal loops are as in the space: each dim once, dims that move all tensors
 * outside, the others group by group. */
static bool in_groups(const tf_x_tile *x, const tf_node *tile) {
  int group = -1, dim = -1; /* of the previous loop */
  uint32_t met = 0;
  for (int k = 0; k < tile->n_temporal; k++) {
    int i = 0;
    while (i < x->n_dims && x->dims[i] != tile->loops[k].dim)
      i++;
    if (tile->loops[k].trip == 1) continue;
    if (i == x->n_dims) return false;
    const int own = x->group[i];
    if (own == group ? i <= dim : own < 0 || met >> own & 1) return false;
    group = own;
    dim = i;
    if (own >= 0) met |= UINT32_C(1) << own;
  }
  return true;
}

/* Whether no axis has more dims than a Tile of the space spreads on it, and none of them twice. */
static bool spread_as_in_space(const tf_x_tile *x, const tf_node *tile) {
  int on[2] = {0, 0};
  uint32_t dims[2] = {0, 0};
  for (int k = tile->n_temporal; k < tile->n_loops; k++) {
    const int a = tile->loops[k].axis == TF_SPATIAL_Y;
    const uint32_t bit = bit_of(x, tile->loops[k].dim);
    if (tile->loops[k].trip == 1) continue;
    if (!bit || dims[a] & bit || (x->one_side && dims[1 - a] & bit) ||
        ++on[a] > TF_SINGLE_ON_AN_AXIS)
      return false;
    dims[a] |= bit;
  }
  return true;
}

bool tf_single_has(const tf_x_template *t, const tf_tree *tree, bool bypasses) {
  const int n = t->tree->n_nodes - 1;
  bool in = tree->n_nodes == n + 1;
  for (int l = 0; l < n && in; l++) {
    const tf_node *tile = &tree->nodes[l];
    in = tile->kind == TF_TILE && tile->level == l && (bypasses || !tile->n_bypass) &&
         (l == n - 1 || in_groups(&t->tiles[0], tile)) && spread_as_in_space(&t->tiles[0], tile);
  }
  return in;
}
