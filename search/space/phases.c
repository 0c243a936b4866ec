/* Phases: which ops run together, and the Tiles above them. */
#include "search/space/phases.h"

#include "model/input/dims.h"
#include "model/tree/build.h"
#include "search/common/ops.h"

enum { PARTS = 4, OPS = 16, DIMS = 64 };
/* Each partition has two variants: tensors are held in every memory that has Tiles; or
 * intermediates bypass the innermost memory, and outputs of the workload memory 1, too. */
enum { PASTS = 2 };

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  int n_parts, part[PARTS + 1]; /* part p: ops part[p] .. part[p + 1] - 1 in topological order */
  int home[OPS];                /* [place in the order] the op's phase */
  bool past;
  uint64_t dims_that_move_all; /* dims that move every tensor of every op */
  tf_build *out;
} phases;

static const tf_op *op_at(const phases *p, int k) { return &p->wl->ops[p->wl->topo[k]]; }
static bool makes_end(const phases *p, const tf_op *op) {
  return p->wl->tensors[op->out].n_consumers == 0;
}

static int floor_at(const phases *p, int k) {
  return p->arch->units[tf_ops_unit(p->arch, p->wl, p->wl->topo[k])].below;
}

/* ---- parts ---------------------------------------------------------------------------------- */
static bool find_parts(phases *p) {
  const tf_workload *wl = p->wl;
  if (wl->n_ops > OPS || wl->n_dims > DIMS || p->arch->n_memories < 2 || !tf_ops_one_end(wl))
    return false;
  for (int k = 0, before = -1; k < wl->n_ops; k++) {
    const int u = tf_ops_unit(p->arch, wl, wl->topo[k]);
    if (u < 0 || p->arch->units[u].below < 1) return false;
    if (u != before && p->n_parts == PARTS) return false;
    if (u != before) p->part[p->n_parts++] = k;
    before = u;
  }
  if (p->n_parts == 1 && wl->n_ops <= PARTS) /* all on one kind: each op by itself */
    for (p->n_parts = 0; p->n_parts < wl->n_ops; p->n_parts++)
      p->part[p->n_parts] = p->n_parts;
  p->part[p->n_parts] = wl->n_ops;
  return p->n_parts > 1;
}

/* Whether parts that run together share the same units in turn. */
static bool shares_units(const phases *p, int first) {
  const tf_workload *wl = p->wl;
  const int k = p->part[first];
  return tf_ops_unit(p->arch, wl, wl->topo[k]) ==
         tf_ops_unit(p->arch, wl, wl->topo[p->part[first + 1]]);
}

/* The dims that all ops from one to before another share: loops over them may be above all of
 * these, and recompute nothing. */
static uint64_t shared_by(const phases *p, int from, int to) {
  uint64_t moves[OPS] = {0}, all = ~UINT64_C(0);
  for (int k = to - 1; k >= from; k--) {
    const tf_op *op = op_at(p, k);
    bool leads = true;
    for (int c = k + 1; c < to; c++)
      for (int r = 0; r < op_at(p, c)->n_reads; r++) {
        const tf_ref *ref = &op_at(p, c)->reads[r];
        if (ref->tensor != op->out) continue;
        leads = false;
        for (int i = 0; i < p->wl->tensors[op->out].rank; i++)
          for (int t = 0; t < ref->index[i].n_terms; t++)
            moves[k] |= moves[c] & UINT64_C(1) << ref->index[i].terms[t].dim;
      }
    for (int i = 0; i < op->n_out_dims && leads; i++)
      moves[k] |= UINT64_C(1) << op->dims[i];
    all &= moves[k];
  }
  return all;
}

static uint64_t dims_that_move_all(const phases *p) {
  uint64_t all = ~UINT64_C(0);
  for (int k = 0; k < p->wl->n_ops; k++)
    for (int r = -1; r < op_at(p, k)->n_reads; r++) {
      const tf_op *op = op_at(p, k);
      uint64_t moves = 0;
      for (int i = 0; i < op->n_out_dims && r < 0; i++)
        moves |= UINT64_C(1) << op->dims[i];
      for (int d = 0; d < p->wl->n_dims && r >= 0; d++)
        if (tf_ref_moves(&op->reads[r], p->wl->tensors[op->reads[r].tensor].rank, d))
          moves |= UINT64_C(1) << d;
      all &= moves;
    }
  return all;
}

/* ---- Tiles ---------------------------------------------------------------------------------- */
/* Tiles inside of the outermost memory have no loops over dims that move everything: there is no
 * reuse. */
static void open_loop(const phases *p, int dim, tf_axis axis) {
  if (p->wl->dims[dim].extent > 1) tf_build_loop(p->out, (tf_loop){.dim = dim, .axis = axis});
}

static void open_loops(const phases *p, uint64_t dims, tf_axis axis) {
  for (int d = 0; d < p->wl->n_dims; d++)
    if (dims >> d & 1) open_loop(p, d, axis);
}

static void spread(const phases *p, const tf_op *op, const int64_t mesh[2]) {
  for (int a = 0; a < 2; a++)
    for (int i = 0; i < op->n_dims && mesh[a] > 1; i++)
      if (!tf_ops_window(p->wl, op->dims[i]) && !(p->dims_that_move_all >> op->dims[i] & 1))
        open_loop(p, op->dims[i], a ? TF_SPATIAL_Y : TF_SPATIAL_X);
}

/* Spreads the longest of some dims over all instances. */
static void fill(const phases *p, uint64_t among, const int64_t mesh[2]) {
  int longest = -1;
  for (int d = 0; d < p->wl->n_dims; d++)
    if (among >> d & 1 && (longest < 0 || p->wl->dims[d].extent > p->wl->dims[longest].extent))
      longest = d;
  for (int a = 0; a < 2 && longest >= 0; a++)
    if (mesh[a] > 1)
      tf_build_loop(
          p->out,
          (tf_loop){.dim = longest, .axis = a ? TF_SPATIAL_Y : TF_SPATIAL_X, .trip = mesh[a]});
}

/* Writes the op's own Tiles from a memory on.  In those between, the last output dim is outside of
 * the others, too. */
static void put_op(const phases *p, int k, int parent, int from) {
  const tf_op *op = op_at(p, k);
  const int to = floor_at(p, k);
  for (int l = from; l <= to; l++) {
    parent = tf_build_tile(p->out, parent, l);
    if (p->past && ((l == to && l > 1) || (l == 1 && from == 0 && makes_end(p, op))))
      tf_build_bypass(p->out, (tf_named){.tensor = op->out});
    if (op->n_out_dims && l > 0 && l < to) open_loop(p, op->dims[op->n_out_dims - 1], TF_TEMPORAL);
    for (int i = 0; i < op->n_dims; i++)
      if (!l || !(p->dims_that_move_all >> op->dims[i] & 1)) open_loop(p, op->dims[i], TF_TEMPORAL);
    if (l == to)
      spread(p, op, p->arch->units[tf_ops_unit(p->arch, p->wl, p->wl->topo[k])].mesh);
    else if (l > 0)
      spread(p, op, p->arch->memories[l + 1].mesh);
  }
  tf_build_op(p->out, parent, p->wl->topo[k]);
}

/* Writes parts side by side below Tiles that they share; `alone`: the Tile above is theirs
 * alone. */
static void put_together(const phases *p, int first, int end, int parent, bool alone) {
  const uint64_t shared = shared_by(p, p->part[first], p->part[end]);
  const tf_op *last = op_at(p, p->part[end] - 1);
  for (int l = alone; l < 2; l++) {
    parent = tf_build_tile(p->out, parent, l);
    if (l && makes_end(p, last) && p->past)
      tf_build_bypass(p->out, (tf_named){.tensor = last->out});
    open_loops(p, l ? shared & ~p->dims_that_move_all : shared, TF_TEMPORAL);
  }
  const int pipe = end - first > 1
                       ? tf_build_scope(p->out, parent, shares_units(p, first) ? TF_SEQ : TF_PIPE)
                       : parent;
  for (int i = first; i < end; i++) {
    const int seq = p->part[i + 1] - p->part[i] > 1 ? tf_build_scope(p->out, pipe, TF_SEQ) : pipe;
    for (int k = p->part[i]; k < p->part[i + 1]; k++)
      put_op(p, k, seq, 1);
  }
}

/* Memory 1 keeps tensors that one phase makes and another reads. */
static void keep_between(const phases *p) {
  for (int k = 0; k < p->wl->n_ops; k++) {
    bool passes = false;
    for (int c = k + 1; c < p->wl->n_ops; c++)
      for (int r = 0; r < op_at(p, c)->n_reads; r++)
        passes |= op_at(p, c)->reads[r].tensor == op_at(p, k)->out && p->home[c] != p->home[k];
    if (passes) tf_build_keep(p->out, (tf_keep){.tensor = op_at(p, k)->out, .level = 1});
  }
}

/* ---- the tree ------------------------------------------------------------------------------- */
int tf_phases_ways(const tf_arch *arch, const tf_workload *wl) {
  phases p = {.arch = arch, .wl = wl};
  return find_parts(&p) ? PASTS << (p.n_parts - 1) : 0;
}

tf_tree *tf_phases_tree(const tf_arch *arch, const tf_workload *wl, int way) {
  phases p = {.arch = arch, .wl = wl, .past = way % PASTS, .out = tf_build_new(arch, wl, NULL)};
  const unsigned cuts = (unsigned)way / PASTS; /* bit i: a phase ends with part i */
  if (!p.out || !find_parts(&p)) {
    tf_build_free(p.out);
    return NULL;
  }
  for (int i = 0, phase = 0; i < p.n_parts; phase += (int)(cuts >> i & 1), i++)
    for (int k = p.part[i]; k < p.part[i + 1]; k++)
      p.home[k] = phase;
  const uint64_t shared = shared_by(&p, 0, wl->n_ops);
  p.dims_that_move_all = dims_that_move_all(&p);
  int parent = tf_build_tile(p.out, -1, 0);
  open_loops(&p, shared, TF_TEMPORAL);
  fill(&p, shared, arch->memories[1].mesh);
  if (cuts) {
    parent = tf_build_scope(p.out, parent, TF_SEQ);
    keep_between(&p);
  }
  for (int first = 0, end = 1; first < p.n_parts; first = end++) {
    while (end < p.n_parts && !(cuts >> (end - 1) & 1))
      end++;
    if (p.part[end] - p.part[first] > 1)
      put_together(&p, first, end, parent, !cuts);
    else
      put_op(&p, p.part[first], parent, 0);
  }
  return tf_build_tree(p.out);
}
