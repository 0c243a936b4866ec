/* Rows of genes: starts derived from the graph, and random changes of a row. */
#include <string.h>

#include "base/bits.h"
#include "model/input/dims.h"
#include "model/input/reader.h"
#include "search/space/genes.h"
#include "tileflow/tree.h"

enum { RARE_ONE_IN = 12 };

int32_t tf_shapes_draw(const tf_shapes *s, int i, tf_rng *rng) {
  uint32_t value = tf_rng_below(rng, s->size[i]);
  return s->rare[i] && tf_rng_below(rng, RARE_ONE_IN) != 0 ? 0 : (int32_t)value;
}

/* ---- structure ------------------------------------------------------------------------------ */
/* How fused ops run: scope and clauses. */
typedef struct {
  tf_scope kind;
  bool run, stream;
} style;

static const style styles[] = {{TF_SEQ, false, false},  {TF_PIPE, true, false},
                               {TF_SEQ, false, true},   {TF_SHAR, false, false},
                               {TF_PIPE, false, false}, {TF_SHAR, false, true}};
enum { STYLES = sizeof styles / sizeof styles[0] };

static void apply_style(const tf_shapes *s, int o, const style *how, int32_t *genes) {
  const tf_column *c = &s->columns[o];
  for (int l = 0; l <= s->arch->n_memories; l++) {
    genes[c->kind + l] = (int32_t)how->kind;
    genes[c->stream + l] = how->stream;
    genes[c->run + l] = how->run && s->size[c->run + l] > 1;
  }
}

/* Genes that fuse everything down to `depth` memories (0: nothing), all in one style.  keep:
 * outputs stay one memory further in. */
static void structure(const tf_shapes *s, int depth, const style *how, bool keep, int32_t *genes) {
  for (int o = 0; o < s->wl->n_ops; o++) {
    const tf_column *c = &s->columns[o];
    genes[c->level] = (int32_t)(depth < s->size[c->level] ? depth : s->size[c->level] - 1);
    apply_style(s, o, how, genes);
    for (int l = 0; l <= s->arch->n_memories; l++)
      genes[c->keep + l] = keep && s->size[c->keep + l] > 1;
  }
}

/* ---- dims that all ops share ----------------------------------------------------------------- */
/* Adds the dims of `among` that move what is read by ref. */
static void add_moved(const tf_shapes *s, const tf_ref *ref, const uint64_t *among, uint64_t *all) {
  for (int r = 0; r < s->wl->tensors[ref->tensor].rank; r++)
    for (int t = 0; t < ref->index[r].n_terms; t++)
      if (tf_bits_has(among, ref->index[r].terms[t].dim))
        tf_bits_add(all, ref->index[r].terms[t].dim);
}

bool tf_shapes_find_shared(tf_shapes *s) {
  const size_t words = tf_bits_words((size_t)s->wl->n_dims);
  uint64_t *decide = TF_ARRAY(s->arena, uint64_t, (size_t)s->wl->n_ops * words + 1);
  s->shared = TF_ARRAY(s->arena, uint64_t, words + 1);
  if (!decide || !s->shared) return false;
  memset(s->shared, 0xff, words * sizeof *s->shared);
  for (int i = s->wl->n_ops - 1; i >= 0; i--) {
    const int o = s->wl->topo[i];
    const tf_op *op = &s->wl->ops[o];
    const tf_tensor *z = &s->wl->tensors[op->out];
    uint64_t *own = decide + (size_t)o * words;
    for (int k = 0; k < op->n_out_dims && z->n_consumers == 0; k++)
      tf_bits_add(own, op->dims[k]);
    for (int k = 0; k < z->n_consumers; k++) {
      const tf_op *c = &s->wl->ops[z->consumers[k]];
      for (int r = 0; r < c->n_reads; r++)
        if (c->reads[r].tensor == op->out)
          add_moved(s, &c->reads[r], decide + (size_t)z->consumers[k] * words, own);
    }
    for (size_t w = 0; w < words; w++)
      s->shared[w] &= own[w];
  }
  return true;
}

/* ---- Tiles ---------------------------------------------------------------------------------- */
/* A random order: the place of each dim. */
static void shuffle(const tf_shapes *s, tf_rng *rng, int *place) {
  int dims[TF_MAX_DIMS];
  for (int d = 0; d < s->wl->n_dims; d++) {
    int k = (int)tf_rng_below(rng, (uint32_t)d + 1);
    dims[d] = dims[k];
    dims[k] = d;
  }
  for (int d = 0; d < s->wl->n_dims; d++)
    place[dims[d]] = d;
}

/* Slots of the op's dims by their places. */
static void sort_slots(const tf_op *op, const int *place, int slot[TF_MAX_OP_DIMS]) {
  for (int i = 0; i < op->n_dims; i++) {
    int k = i;
    for (; k > 0 && place[op->dims[slot[k - 1]]] > place[op->dims[i]]; k--)
      slot[k] = slot[k - 1];
    slot[k] = i;
  }
}

/* Gives the dims of `among` (NULL: all) priorities in their order; the others keep theirs.  The
 * op's first dims are spread: x, y, x, y.  twice: the first dim is spread over y, too. */
static void lay_dims(const tf_shapes *s, int o, const int *order, const uint64_t *among, bool twice,
                     int32_t *tile) {
  const tf_op *op = &s->wl->ops[o];
  static const int slots[4] = {0, 2, 1, 3};
  int32_t *spread = tile + op->n_dims;
  int n = 0, place = 0, sorted[TF_MAX_OP_DIMS];
  memset(spread, 0, 4 * sizeof *spread);
  sort_slots(op, order, sorted);
  for (int k = 0; k < op->n_dims; k++) {
    const int i = sorted[k];
    if (among && !tf_bits_has(among, op->dims[i])) continue;
    tile[i] = (int32_t)(place < TF_PRIORITIES ? place : TF_PRIORITIES - 1);
    place++;
    if (s->wl->dims[op->dims[i]].extent == 1) continue;
    if (n < 4) spread[slots[n++]] = (int32_t)(i + 1);
    if (n == 1 && twice) spread[slots[n++]] = (int32_t)(i + 1);
  }
  if (n == 1) spread[slots[1]] = spread[slots[0]]; /* a single dim may fill both axes */
}

/* Gives ops on one kind of unit the same loop orders and spreads.  Tiles above all ops spread only
 * dims that all share.  Without `keep`, the outer Tile of each memory spreads nothing and leaves
 * its instances to the Tiles below. */
static void lay_tiles(const tf_shapes *s, int depth, bool keep, tf_rng *rng, int32_t *genes) {
  int order[TF_MAX_DIMS];
  for (int u = 0; u < s->arch->n_units; u++)
    for (int t = 0; t < 2 * s->arch->n_memories; t++) {
      shuffle(s, rng, order);
      bool twice = tf_rng_below(rng, 4) == 0;
      for (int o = 0; o < s->wl->n_ops; o++) {
        int32_t *tile = &genes[s->columns[o].tile[t]];
        if (s->columns[o].unit != u) continue;
        bool all = o == s->wl->topo[s->wl->n_ops - 1] && t / 2 + (t & 1) < depth;
        lay_dims(s, o, order, all ? s->shared : NULL, twice, tile);
        if (t % 2 == 0 && !keep) memset(tile + s->wl->ops[o].n_dims, 0, 4 * sizeof *tile);
      }
    }
}

void tf_shapes_seed(const tf_shapes *s, int k, tf_rng *rng, int32_t *genes) {
  for (int i = 0; i < s->n; i++) {
    int32_t value = tf_shapes_draw(s, i, rng);
    genes[i] = s->rare[i] ? 0 : value;
  }
  k += k > 0 ? 2 * STYLES - 1 : 0; /* without fusion one style is enough */
  lay_tiles(s, k / (2 * STYLES), k & 1, rng, genes);
  structure(s, k / (2 * STYLES), &styles[k / 2 % STYLES], k & 1, genes);
}

int tf_shapes_seeds(const tf_shapes *s) {
  return s->given ? 0 : 1 + 2 * STYLES * s->arch->n_memories;
}

/* ---- variations ----------------------------------------------------------------------------- */
/* Gives a gene that was read another value; false: none was found in a few tries. */
static bool change_one(const tf_shapes *s, tf_rng *rng, const uint32_t *order, int32_t *genes) {
  for (int tries = 0; tries < 200; tries++) {
    int i = (int)tf_rng_below(rng, (uint32_t)s->n), size = s->size[i];
    if (size < 2 || !tf_was_read(order, i)) continue;
    genes[i] = (int32_t)((genes[i] + 1 + (int)tf_rng_below(rng, (uint32_t)size - 1)) % size);
    return true;
  }
  return false;
}

/* A random Tile of an op whose genes were read; NULL: none was found in a few tries. */
static int32_t *some_tile(const tf_shapes *s, tf_rng *rng, const uint32_t *order, int32_t *genes,
                          int *op, int *tile) {
  for (int tries = 0; tries < 50; tries++) {
    int o = (int)tf_rng_below(rng, (uint32_t)s->wl->n_ops);
    if (tf_rng_below(rng, 3) == 0)
      o = s->wl->topo[s->wl->n_ops - 1]; /* where all are fused, its Tiles are shared by all */
    int t = (int)tf_rng_below(rng, 2 * (uint32_t)s->arch->n_memories), at = s->columns[o].tile[t];
    bool read = false;
    for (int i = 0; i < s->wl->ops[o].n_dims + 4; i++)
      read |= tf_was_read(order, at + i);
    if (!read) continue;
    *op = o;
    *tile = t;
    return &genes[at];
  }
  return NULL;
}

/* Swaps two loops of a Tile, or the first dims spread over x and y. */
static void swap_two(const tf_shapes *s, tf_rng *rng, const uint32_t *order, int32_t *genes) {
  int o, t;
  int32_t *tile = some_tile(s, rng, order, genes, &o, &t);
  if (!tile) return;
  uint32_t n = (uint32_t)s->wl->ops[o].n_dims;
  const bool spreads = tf_rng_below(rng, 2) || n == 0; /* an op of scalars has no loop */
  uint32_t base = spreads ? n : 0, of = spreads ? 4 : n;
  uint32_t i = tf_rng_below(rng, of), k = tf_rng_below(rng, of);
  int32_t held = tile[base + i];
  tile[base + i] = tile[base + k];
  tile[base + k] = held;
}

/* Spreads another dim. */
static void spread_one(const tf_shapes *s, tf_rng *rng, const uint32_t *order, int32_t *genes) {
  int o, t;
  int32_t *tile = some_tile(s, rng, order, genes, &o, &t);
  if (!tile) return;
  const tf_op *op = &s->wl->ops[o];
  uint32_t dim = tf_rng_below(rng, (uint32_t)op->n_dims + 1);
  if (dim == 0 || s->wl->dims[op->dims[dim - 1]].extent > 1)
    tile[(uint32_t)op->n_dims + tf_rng_below(rng, 4)] = (int32_t)dim;
}

/* Copies the loop order and spreads of this Tile to the other ops on the same unit. */
static void copy_tile(const tf_shapes *s, tf_rng *rng, const uint32_t *order, int32_t *genes) {
  int from, t;
  const int32_t *tile = some_tile(s, rng, order, genes, &from, &t);
  if (!tile) return;
  const tf_op *a = &s->wl->ops[from];
  for (int o = 0; o < s->wl->n_ops; o++) {
    const tf_op *b = &s->wl->ops[o];
    int32_t *to = &genes[s->columns[o].tile[t]];
    if (o == from || s->columns[o].unit != s->columns[from].unit) continue;
    for (int i = 0; i < a->n_dims; i++) {
      int k = tf_op_slot(b, a->dims[i]);
      if (k >= 0) to[k] = tile[i];
    }
    for (int i = 0; i < 4; i++) {
      int pick = tile[a->n_dims + i], k = pick ? tf_op_slot(b, a->dims[pick - 1]) : -1;
      to[b->n_dims + i] = (int32_t)(k + 1);
    }
  }
}

/* Runs a fused group in another style: changing a single gene would break the scopes that belong
 * together. */
static void change_style(const tf_shapes *s, tf_rng *rng, int32_t *genes) {
  const style *how = &styles[tf_rng_below(rng, STYLES)];
  for (int o = 0; o < s->wl->n_ops; o++)
    apply_style(s, o, how, genes);
}

void tf_shapes_vary(const tf_shapes *s, tf_rng *rng, const uint32_t *order, int32_t *genes) {
  uint32_t lot = s->given ? 9 : tf_rng_below(rng, 11);
  if (lot == 10)
    change_style(s, rng, genes);
  else if (lot < 2)
    swap_two(s, rng, order, genes);
  else if (lot < 4)
    copy_tile(s, rng, order, genes);
  else if (lot < 7)
    spread_one(s, rng, order, genes);
  else
    change_one(s, rng, order, genes);
  for (int more = 0; more < 10 && tf_rng_below(rng, 2); more++)
    change_one(s, rng, order, genes);
}
