#include "search/space/pairs.h"

#include <string.h>

#include "model/demand/on_mesh.h"
#include "model/input/dims.h"
#include "model/tree/build.h"
#include "search/common/ops.h"

/* The only op below the node; -1: there are several. */
static int only_op(const tf_tree *t, int node) {
  int op = -1, n = 0;
  for (int i = node; i < t->nodes[node].end; i++)
    if (t->nodes[i].kind == TF_OP) op = t->nodes[i].op, n++;
  return n == 1 ? op : -1;
}

static bool indexes(const tf_workload *wl, const tf_op *op, int tensor, int dim) {
  bool does = false;
  for (int r = 0; r < op->n_reads; r++)
    does |=
        op->reads[r].tensor == tensor && tf_ref_moves(&op->reads[r], wl->tensors[tensor].rank, dim);
  return does;
}

static void open_loop(tf_build *b, const tf_workload *wl, int dim, tf_axis axis) {
  if (wl->dims[dim].extent > 1) tf_build_loop(b, (tf_loop){.dim = dim, .axis = axis});
}

/* The op's own Tiles from memory 1 on. */
static void put_op(tf_build *b, const tf_tree *t, int o, int parent) {
  const tf_op *op = &t->workload->ops[o];
  const tf_unit *unit = &t->arch->units[tf_ops_unit(t->arch, t->workload, o)];
  for (int l = 1; l <= unit->below; l++) {
    const int64_t *mesh = l == unit->below ? unit->mesh : t->arch->memories[l + 1].mesh;
    parent = tf_build_tile(b, parent, l);
    for (int i = 0; i < op->n_dims; i++)
      open_loop(b, t->workload, op->dims[i], TF_TEMPORAL);
    for (int a = 0; a < 2; a++)
      for (int i = 0; i < op->n_dims && mesh[a] > 1; i++)
        if (!tf_ops_window(t->workload, op->dims[i]))
          open_loop(b, t->workload, op->dims[i], a ? TF_SPATIAL_Y : TF_SPATIAL_X);
  }
  tf_build_op(b, parent, o);
}

/* Loops over what the second op makes are outside of those over what it sums; what both read stays
 * from run to run. */
static void put_pair(tf_build *b, const tf_tree *t, int first, int second) {
  const tf_op *last = &t->workload->ops[second];
  const int z = t->workload->ops[first].out;
  const int tile = tf_build_tile(b, 0, 0);
  for (int i = 0; i < last->n_dims; i++)
    if (indexes(t->workload, last, z, last->dims[i]))
      open_loop(b, t->workload, last->dims[i], TF_TEMPORAL);
  const int scope = tf_build_scope(b, tile, TF_SHAR);
  tf_build_keep(b, (tf_keep){.tensor = z, .level = 1});
  put_op(b, t, first, scope);
  put_op(b, t, second, scope);
}

static bool lies_below(const tf_tree *t, int o) {
  const int u = tf_ops_unit(t->arch, t->workload, o);
  return u >= 0 && t->arch->units[u].below >= 1;
}

/* Copies the tree's nodes before and after those of the pair; by: how much lower the numbers of the
 * latter become. */
static void put_others(tf_build *b, const tf_tree *t, int from, int to, int by) {
  for (int n = from; n < to; n++) {
    tf_node like = t->nodes[n];
    if (like.parent >= from && from > 0) like.parent -= by;
    tf_build_node(b, &like);
    for (int k = 0; k < like.n_loops; k++)
      tf_build_loop(b, t->nodes[n].loops[k]);
  }
}

tf_tree *tf_pairs_fused(const tf_tree *t, int node) {
  const tf_node *root = &t->nodes[0];
  const int next = node > 0 && node < t->n_nodes ? t->nodes[node].end : 0;
  const bool in_turn =
      root->kind == TF_SCOPE && !root->scope_open && !tf_scope_at(root->scope)->at_once;
  if (!in_turn || next >= t->n_nodes || t->nodes[node].parent || t->nodes[next].parent) return NULL;
  const int first = only_op(t, node), second = only_op(t, next);
  if (first < 0 || second < 0 || !lies_below(t, first) || !lies_below(t, second)) return NULL;
  const tf_tensor *z = &t->workload->tensors[t->workload->ops[first].out];
  if (z->n_consumers != 1 || z->consumers[0] != second) return NULL;
  tf_build *b = tf_build_new(t->arch, t->workload, NULL);
  if (!b) return NULL;
  put_others(b, t, 0, node, 0);
  put_pair(b, t, first, second);
  const int behind = t->nodes[next].end;
  put_others(b, t, behind, t->n_nodes, behind - tf_build_draft(b)->n_nodes);
  return tf_build_tree(b);
}

/* ---- held by the units' memories ------------------------------------------------------------- */
enum { RANKS = 4, SIDES = 16, CUT = 64 /* most steps of the loops that both share */ };

/* What is held, how it is spread, and how often what both share steps. */
typedef struct {
  int64_t on[SIDES][RANKS]; /* [2 * memory + axis] instances of a rank */
  int64_t steps[RANKS], rest[RANKS];
  double words; /* that pass the outermost memory, but for those that are held */
} held_way;

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  int ops[2], home;     /* the first one makes what the second reads */
  int n, dim[2][RANKS]; /* of each op, by ranks */
  int64_t extent[RANKS];
  bool shared[RANKS]; /* loops over it may be outside of both */
  held_way now, best[TF_PAIRS_HELD];
  int n_best;
} holding;

/* Words of the op's other tensors, where each passes for all steps of the ranks that it lacks. */
static double words_past(const holding *h, int which) {
  const tf_op *op = &h->wl->ops[h->ops[which]];
  const int z = h->wl->ops[h->ops[0]].out;
  double all = 0;
  for (int r = 0; r < op->n_reads; r++) {
    const tf_ref *ref = &op->reads[r];
    const tf_tensor *t = &h->wl->tensors[ref->tensor];
    double words = (double)tf_tensor_words(t);
    if (ref->tensor == z) continue;
    for (int k = 0; k < h->n; k++)
      if (!tf_ref_moves(ref, t->rank, h->dim[which][k])) words *= (double)h->now.steps[k];
    all += words;
  }
  return all;
}

static void keep_way(holding *h) {
  int at = h->n_best < TF_PAIRS_HELD ? h->n_best++ : TF_PAIRS_HELD;
  h->now.words = words_past(h, 0) + words_past(h, 1);
  for (; at > 0 && h->best[at - 1].words > h->now.words; at--)
    if (at < TF_PAIRS_HELD) h->best[at] = h->best[at - 1];
  if (at < TF_PAIRS_HELD) h->best[at] = h->now;
}

/* Whether the block of an instance fits, with so many steps of a rank. */
static bool block_fits(holding *h, int rank, int64_t steps) {
  const tf_memory *m = &h->arch->memories[h->home];
  double bits = h->wl->tensors[h->wl->ops[h->ops[0]].out].word_bits;
  for (int k = 0; k < h->n; k++) {
    int64_t left = tf_ceil_div(h->extent[k], k == rank ? steps : 1);
    for (int i = 0; i < SIDES; i++)
      left = tf_ceil_div(left, h->now.on[i][k]);
    h->now.steps[k] = k == rank ? steps : 1;
    h->now.rest[k] = left;
    bits *= (double)left;
  }
  return m->capacity_words < 0 || bits <= (double)m->capacity_words * m->word_bits;
}

/* With the fewest steps of one rank that fit. */
static void cut_ways(holding *h) {
  for (int k = 0; k < h->n; k++)
    for (int64_t steps = 1; h->shared[k] && steps <= CUT && steps <= h->extent[k]; steps++)
      if (block_fits(h, k, steps)) {
        if (steps > 1 || !k) keep_way(h);
        break;
      }
}

/* Spreads ranks over side i and those further in: up to two share a side. */
static void spread_ways(holding *h, int i) {
  if (i == 2 * h->home) {
    cut_ways(h);
    return;
  }
  const int64_t side = h->arch->memories[i / 2 + 1].mesh[i % 2];
  for (int k = 0; k < h->n; k++)
    h->now.on[i][k] = 1;
  if (side == 1) {
    spread_ways(h, i + 1);
    return;
  }
  for (int a = 0; a < h->n; a++)
    for (int64_t x = side; x > 0; x = tf_spread_fewer(side, x))
      for (int b = 0; b < h->n; b++) {
        if (a == b || (x == side && b > (a == 0)) || x == 1 || (x * x < side && a > b)) continue;
        h->now.on[i][a] = x, h->now.on[i][b] = side / x;
        spread_ways(h, i + 1);
        h->now.on[i][a] = h->now.on[i][b] = 1;
      }
}

static bool is_cut_alike(const tf_tensor *z, const tf_ref *ref, int k) {
  return ref->index[k].n_terms == 1 && !ref->index[k].c && ref->index[k].terms[0].coef == 1 &&
         !z->pad[k];
}

/* The two ops, if the units of both are fed by one memory that has more room, in all, than another
 * one further out. */
static bool find_holding(holding *h) {
  const tf_workload *wl = h->wl;
  double instances = 1, room[SIDES / 2] = {0};
  if (wl->n_ops != 2) return false;
  h->ops[0] = wl->topo[0], h->ops[1] = wl->topo[1];
  const tf_op *reader = &wl->ops[h->ops[1]];
  const tf_tensor *z = &wl->tensors[wl->ops[h->ops[0]].out];
  const tf_ref *ref = NULL;
  for (int r = 0; r < reader->n_reads; r++)
    if (&wl->tensors[reader->reads[r].tensor] == z) ref = ref ? NULL : &reader->reads[r];
  const int u = tf_ops_unit(h->arch, wl, h->ops[0]), v = tf_ops_unit(h->arch, wl, h->ops[1]);
  if (!ref || z->rank > RANKS || u < 0 || v < 0) return false;
  h->home = h->arch->units[u].below;
  if (h->arch->units[v].below != h->home || 2 * h->home >= SIDES) return false;
  bool more = false;
  for (int l = 1; l <= h->home; l++) {
    const tf_memory *m = &h->arch->memories[l];
    instances *= (double)m->mesh[0] * (double)m->mesh[1];
    room[l] = m->capacity_words < 0 ? -1 : instances * (double)m->capacity_words * m->word_bits;
  }
  for (int l = 1; l < h->home; l++)
    more |= room[l] >= 0 && (room[h->home] < 0 || room[h->home] > room[l]);
  for (int k = 0; k < z->rank && more; k++) {
    if (!is_cut_alike(z, ref, k)) return false;
    const int d = ref->index[k].terms[0].dim;
    h->dim[0][h->n] = wl->ops[h->ops[0]].dims[k], h->dim[1][h->n] = d;
    h->extent[h->n] = wl->dims[d].extent;
    h->shared[h->n++] = tf_op_slot(reader, d) < reader->n_out_dims;
  }
  return more && h->n > 1;
}

static void put_loop(tf_build *b, int dim, int64_t trip, tf_axis axis) {
  if (trip > 1) tf_build_loop(b, (tf_loop){.dim = dim, .axis = axis, .trip = trip});
}

/* An op's Tiles: its own dims are outside of all that is spread. */
static void put_held(const holding *h, const held_way *w, int which, tf_build *b, int parent) {
  const tf_op *op = &h->wl->ops[h->ops[which]];
  const int z = h->wl->ops[h->ops[0]].out;
  for (int l = 0; l <= h->home; l++) {
    parent = tf_build_tile(b, parent, l);
    for (int i = 0; i < op->n_dims && !l; i++) {
      bool own = true;
      for (int k = 0; k < h->n; k++)
        own &= h->dim[which][k] != op->dims[i];
      if (own) put_loop(b, op->dims[i], h->wl->dims[op->dims[i]].extent, TF_TEMPORAL);
    }
    for (int k = 0; k < h->n && l == h->home; k++)
      put_loop(b, h->dim[which][k], w->rest[k], TF_TEMPORAL);
    for (int i = 0; i < 2 && l < h->home; i++)
      for (int k = 0; k < h->n; k++)
        put_loop(b, h->dim[which][k], w->on[2 * l + i][k], i ? TF_SPATIAL_Y : TF_SPATIAL_X);
    if (l < h->home) continue;
    if (op->out != z) tf_build_bypass(b, (tf_named){.tensor = op->out});
    for (int r = 0; r < op->n_reads; r++)
      if (op->reads[r].tensor != z) tf_build_bypass(b, (tf_named){.tensor = op->reads[r].tensor});
  }
  tf_build_op(b, parent, h->ops[which]);
}

static tf_tree *held_tree(const holding *h, const held_way *w) {
  tf_build *b = tf_build_new(h->arch, h->wl, NULL);
  if (!b) return NULL;
  const int tile = tf_build_tile(b, -1, 0);
  for (int k = 0; k < h->n; k++)
    put_loop(b, h->dim[1][k], w->steps[k], TF_TEMPORAL);
  const int scope = tf_build_scope(b, tile, TF_SEQ);
  tf_build_keep(b, (tf_keep){.tensor = h->wl->ops[h->ops[0]].out, .level = h->home});
  put_held(h, w, 0, b, scope);
  put_held(h, w, 1, b, scope);
  return tf_build_tree(b);
}

int tf_pairs_held(const tf_arch *arch, const tf_workload *wl, tf_tree *trees[TF_PAIRS_HELD]) {
  holding h = {.arch = arch, .wl = wl};
  int n = 0;
  if (!find_holding(&h)) return 0;
  for (int i = 0; i < SIDES; i++)
    for (int k = 0; k < RANKS; k++)
      h.now.on[i][k] = 1;
  spread_ways(&h, 0);
  for (int k = 0; k < h.n_best; k++)
    if ((trees[n] = held_tree(&h, &h.best[k]))) n++;
  return n;
}
