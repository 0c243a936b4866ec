/* Executes the mapping step by step, as docs/SEMANTICS.md defines: entering a tile loads what it
 * lacks, leaving it stores its results, and an op is computed for all of its innermost tile at
 * once. */
#include <string.h>

#include "codegen/backend/npu/pass/pass.h"
#include "model/flow/range_memo.h"
#include "model/flow/skip.h"

static const tf_workload *workload(const npu_build *b) { return b->p->wl; }

/* Moves a loop of node n to its i-th step. */
static void step(npu_build *b, int n, int loop, int64_t i) {
  b->cur[loop] = i;
  tf_memo_step(b->p, n);
}

/* Whether a mask leaves nothing of this step of node n, which contains all that is masked. Steps
 * further in are executed, as readers of skipped results may not be skipped themselves. */
static bool is_left_out(const npu_build *b, int n) {
  const tf_skips *k = b->p->skips;
  if (!k || !k->node[n].may) return false;
  for (int o = 0; o < workload(b)->n_ops; o++)
    if ((k->mask.constant_outside[o] || k->mask.fully_masked[o]) &&
        !tf_plan_above(b->p, n, b->p->tree->op_node[o]))
      return false;
  return tf_skip_out(&b->ev, n, b->cur);
}

/* Whether some op below node n has points that are needed. */
static bool has_needed_points(const npu_build *b, int n) {
  if (is_left_out(b, n)) return false;
  for (int i = n; i < b->p->tree->nodes[n].end; i++)
    if (b->p->tree->nodes[i].kind == TF_OP &&
        !tf_op_idle(&b->ev, b->p->tree->nodes[i].op, n, b->cur))
      return true;
  return false;
}

/* The only op below node n, if no scope is in between; else -1. */
static int only_op(const npu_build *b, int n) {
  const tf_node *nodes = b->p->tree->nodes;
  while (nodes[n].kind == TF_TILE)
    n = nodes[n].children[0];
  return nodes[n].kind == TF_OP ? nodes[n].op : -1;
}

/* ---- entering a tile ------------------------------------------------------------------------ */
/* What a Tile enters: the box that is loaded; and the box for the vector unit, extended by zeros
 * where it reads padding. */
typedef struct {
  tf_ival box[TF_MAX_RANK], wide[TF_MAX_RANK];
  int padded; /* the op that reads padding; -1: the boxes are equal */
} entry;

/* Loads a part of the entry. */
static void load_part(npu_build *b, npu_bank *from, npu_bank *to, const entry *e,
                      const tf_ival *part) {
  tf_ival in[TF_MAX_RANK];
  bool padding = false;
  for (int r = 0; r < to->rank; r++) {
    in[r] = tf_common_part(part[r], e->box[r]);
    padding |= in[r].len < part[r].len;
  }
  if (padding && e->padded >= 0) npu_zero(b, to, e->padded, part);
  if (tf_ival_volume(in, to->rank) > 0) npu_move(b, from, to, in);
}

/* Loads what is not in `old`: rank by rank, the parts before and after it. */
static void load_rest(npu_build *b, npu_bank *from, npu_bank *to, const entry *e,
                      const tf_ival *old) {
  tf_ival rest[TF_MAX_RANK];
  memcpy(rest, e->wide, sizeof rest);
  for (int r = 0; r < to->rank; r++) {
    const tf_ival all = rest[r], both = tf_common_part(all, old[r]);
    rest[r] = (tf_ival){all.lo, both.lo - all.lo};
    if (rest[r].len > 0) load_part(b, from, to, e, rest);
    rest[r] = (tf_ival){both.lo + both.len, all.lo + all.len - both.lo - both.len};
    if (rest[r].len > 0) load_part(b, from, to, e, rest);
    rest[r] = both;
  }
}

static bool overlaps(const npu_bank *k, const tf_ival *box) {
  tf_ival both[TF_MAX_RANK];
  for (int r = 0; r < k->rank; r++)
    both[r] = tf_common_part(box[r], k->box[r]);
  return k->held && tf_ival_volume(both, k->rank) > 0;
}

static void enter_input(npu_build *b, npu_bank *k, const tf_slice *s, const entry *e) {
  npu_bank *from = npu_bank_above(b, s);
  if (!from) return;
  if (!k->blocks && overlaps(k, e->wide)) {
    tf_ival old[TF_MAX_RANK];
    memcpy(old, k->box, sizeof old);
    load_rest(b, from, k, e, old);
    memcpy(k->box, e->wide, sizeof *e->wide * (size_t)k->rank);
    for (int r = 0; r < k->rank && b->dry; r++)
      k->ext[r] = e->wide[r].len > k->ext[r] ? e->wide[r].len : k->ext[r];
    return;
  }
  npu_bank_open(b, k, e->wide);
  load_part(b, from, k, e, e->wide);
}

static void enter_result(npu_build *b, npu_bank *k, const tf_slice *s, const tf_ival *box) {
  const tf_tensor *z = &workload(b)->tensors[s->tensor];
  const tf_op *op = &workload(b)->ops[z->producer];
  bool on = false;
  for (int d = op->n_out_dims; d < op->n_dims; d++)
    on |= tf_dim_range(&b->ev, z->producer, op->dims[d], s->node, b->cur).lo !=
          npu_origin(b, z->producer, d);
  if (overlaps(k, box))
    npu_stop(b, op->at, "tiles of '%.40s' that overlap: keep it in a memory that holds both",
             z->name);
  npu_bank *from = on ? npu_bank_above(b, s) : NULL;
  npu_bank_open(b, k, box);
  if (from) npu_move(b, from, k, box);
  k->dirty = true;
}

/* The cube's bank for the role of the tensor in the op. */
static int bank_in_cube(npu_build *b, const tf_slice *s) {
  const int o = only_op(b, s->node);
  if (o < 0 || !b->product[o]) {
    npu_stop(b, b->p->tree->nodes[s->node].at,
             "below a Tile of L0 stands one product of two tensors");
    return -1;
  }
  const tf_op *op = &workload(b)->ops[o];
  const int role = op->out == s->tensor ? 0 : op->reads[0].tensor == s->tensor ? 1 : 2;
  const npu_cube *c = &b->t.machine.cube;
  const int k = npu_bank_of(b, s->tensor,
                            role == 0   ? c->sums
                            : role == 1 ? c->left
                                        : c->right,
                            s->level);
  if (k < 0) return -1;
  if (b->bank[k].blocks && b->bank[k].op == o && b->bank[k].role == role) return k;
  if (b->bank[k].op != o) b->bank[k].held = false;
  b->bank[k].blocks = true;
  b->bank[k].op = o;
  b->bank[k].role = role;
  npu_operand_dims(b, &b->bank[k]);
  if (role == 0) b->bank[k].type = NPU_F32;
  return k;
}

static int bank_of_slice(npu_build *b, const tf_slice *s) {
  if (s->level == b->t.deep && !b->t.flat) return bank_in_cube(b, s);
  return npu_bank_of(b, s->tensor, b->t.memory_of[s->level], s->level);
}

/* The box of the slice as the bank has it: of an operand of the cube the ranges of its dims, so
 * that padding and overlapping windows are laid out as the cube reads them. */
static void box_of(npu_build *b, const tf_slice *s, const npu_bank *k, tf_ival *box) {
  for (int r = 0; r < k->rank; r++)
    box[r] =
        k->blocks && k->role
            ? tf_dim_range(&b->ev, k->op, workload(b)->ops[k->op].dims[k->dims[r]], s->node, b->cur)
            : tf_slice_rank(&b->ev, s, r, b->cur);
}

/* Adds the padding that the vector unit reads below the slice's Tile. */
static void add_padding(npu_build *b, const tf_slice *s, const npu_bank *k, entry *e) {
  const tf_tensor *z = &workload(b)->tensors[s->tensor];
  memcpy(e->wide, e->box, sizeof e->wide);
  e->padded = -1;
  if (k->blocks || s->makes || k->memory != b->t.machine.vector.memory) return;
  b->ev.noclip = true;
  for (int t = 0; t < s->n_touch; t++)
    for (int r = 0; r < k->rank && s->touch[t].ref >= 0 && !b->product[s->touch[t].op]; r++) {
      if (!z->pad[r]) continue;
      e->wide[r] = tf_hull(e->wide[r], tf_touch_rank(&b->ev, s->touch[t], r, s->node, b->cur));
      if (e->wide[r].len > e->box[r].len) e->padded = s->touch[t].op;
    }
  b->ev.noclip = false;
  bool between = false;
  for (int r = 0; r < k->rank && tf_ival_volume(e->box, k->rank) > 0; r++)
    between |= tf_clip(z, r, e->wide[r]).len != e->box[r].len;
  if (between)
    npu_stop(
        b, b->p->tree->nodes[s->node].at,
        "reads of '%.40s' of which some are in its padding alone: let this Tile hold more of it",
        z->name);
}

static void enter(npu_build *b, int i) {
  const tf_slice *s = &b->p->slices[i];
  entry e;
  bool touched = false;
  for (int t = 0; t < s->n_touch; t++)
    touched |= !tf_op_idle(&b->ev, s->touch[t].op, s->node, b->cur);
  if (!touched) return;
  if (b->t.memory_of[s->level] < 0 || b->t.memory_of[s->above] < 0) {
    npu_stop(b, b->p->tree->nodes[s->node].at,
             "the machine has no memory of its own for this Tile, or outside of it");
    return;
  }
  if (b->t.memory_of[s->level] == 0) return; /* it stays in global memory */
  const int at = bank_of_slice(b, s);
  if (at < 0) return;
  npu_bank *k = &b->bank[at];
  box_of(b, s, k, e.box);
  add_padding(b, s, k, &e);
  const bool none =
      tf_ival_volume(e.box, k->rank) == 0; /* it only reads padding, and keeps nothing */
  if (none && e.padded < 0) {
    k->held &= s->makes || k->dirty;
    return;
  }
  const bool same = !none && k->held && !memcmp(e.wide, k->box, sizeof *e.wide * (size_t)k->rank);
  if (!same) npu_flush(b, s->tensor, s->makes ? s->level : s->above + 1);
  if (none && b->ok) {
    npu_bank_open(b, k, e.wide);
    npu_zero(b, k, e.padded, e.wide);
    k->held = false;
    return;
  }
  if (!same && b->ok && s->makes) enter_result(b, k, s, e.box);
  if (!same && b->ok && !s->makes) enter_input(b, k, s, &e);
  if (s->makes) k->dirty = true;
  k->owner = i;
}

/* ---- ops ------------------------------------------------------------------------------------ */
/* The bank from which op o reads the tensor: in its innermost tile, or at its home; -1: not at that
 * level. */
static int operand_bank(npu_build *b, int o, int tensor, int level) {
  const int leaf = b->p->tree->op_node[o];
  for (int i = 0; i < b->p->n_tile_slices; i++) {
    const tf_slice *s = &b->p->slices[i];
    if (s->tensor == tensor && s->level == level && tf_plan_above(b->p, s->node, leaf))
      return bank_of_slice(b, s);
  }
  if (b->p->home_level[tensor] == level && level > 0 && (b->t.flat || level < b->t.deep))
    return npu_bank_of(b, tensor, b->t.memory_of[level], level);
  npu_stop(b, workload(b)->ops[o].at, "'%.40s' of '%.40s' needs a Tile of %s",
           workload(b)->tensors[tensor].name, workload(b)->ops[o].name,
           b->p->arch->memories[level].name);
  return -1;
}

static void run_op(npu_build *b, int o, const tf_ival *range) {
  const tf_op *op = &workload(b)->ops[o];
  enum { MOST_READS = 64 }; /* the most reads of an op */
  npu_bank *bank[MOST_READS + 1] = {NULL};
  if (op->n_reads > MOST_READS)
    npu_stop(b, op->at, "an op that reads more than %d times", MOST_READS);
  for (int i = 0; i <= op->n_reads && b->ok; i++) {
    if (i < op->n_reads) npu_flush(b, op->reads[i].tensor, npu_level_of(b, o) + 1);
    const int k =
        operand_bank(b, o, i < op->n_reads ? op->reads[i].tensor : op->out, npu_level_of(b, o));
    if (k < 0) return;
    bank[i] = &b->bank[k];
  }
  if (!b->ok) return;
  if (!b->product[o]) {
    npu_vector_op(b, o, range, bank);
    return;
  }
  npu_bank *const operands[3] = {bank[2], bank[0], bank[1]};
  for (int i = 0; i < 3 && operands[i]; i++) {
    operands[i]->op = o;
    operands[i]->role = i;
  }
  npu_product(b, o, range, operands);
}

/* The ranges of the op's dims at its leaf, from the first setting of the loops of Tile n from the
 * k-th on, and of all inner ones, to the last. */
static void leaf_ranges(npu_build *b, int o, int n, int k, tf_ival *range) {
  const tf_plan *p = b->p;
  const tf_op *op = &p->wl->ops[o];
  const int leaf = p->tree->op_node[o];
  const tf_path *path = &p->path[leaf];
  tf_ival first[TF_MAX_RANK];
  for (int d = 0; d < op->n_dims; d++)
    first[d] = tf_dim_range(&b->ev, o, op->dims[d], leaf, b->cur);
  for (int i = 0; i < path->n; i++) {
    const int l = path->loops[i];
    const bool inside =
        p->loops[l].node == n ? p->loops[l].slot >= k : tf_plan_above(p, n, p->loops[l].node);
    if (inside) step(b, p->loops[l].node, l, b->ev.trip[l] - 1);
  }
  for (int d = 0; d < op->n_dims; d++) {
    const tf_ival last = tf_dim_range(&b->ev, o, op->dims[d], leaf, b->cur),
                  all = tf_dim_range(&b->ev, o, op->dims[d], n, b->cur);
    const int64_t end = last.len > 0 ? last.lo + last.len : all.lo + all.len;
    range[d] = (tf_ival){first[d].lo, end - first[d].lo};
  }
  for (int i = 0; i < path->n; i++)
    if (p->loops[path->loops[i]].node > n ||
        (p->loops[path->loops[i]].node == n && p->loops[path->loops[i]].slot >= k))
      step(b, p->loops[path->loops[i]].node, path->loops[i], 0);
}

/* What steps of the loop change in op o's product: columns, for which the array's block stays;
 * rows; or the matrix. */
static npu_side side_of_loop(const npu_build *b, int o, const tf_loop *loop) {
  const tf_op *op = &workload(b)->ops[o];
  for (int i = 0; i < op->n_out_dims; i++)
    if (op->dims[i] == loop->dim) return npu_side_of(workload(b), op, 0, i);
  return NPU_ROW; /* reduced: blocks change as for rows */
}

/* The first of the temporal loops of Tile n, the innermost Tile of the array's level, that one
 * instruction executes: loops over columns are innermost, those over blocks around them. */
static int first_whole_loop(const npu_build *b, int o, int n) {
  const tf_node *t = &b->p->tree->nodes[n];
  int from = t->n_temporal ? t->n_temporal - 1 : 0;
  if (t->n_temporal == 0 || side_of_loop(b, o, &t->loops[from]) != NPU_COLUMN) return from;
  while (from > 0 && side_of_loop(b, o, &t->loops[from - 1]) == NPU_ROW)
    from--;
  return from;
}

/* A product of rows: one instruction for each setting of the tile's loops that it does not execute
 * itself. */
static void stream_product(npu_build *b, int o, int n, int k) {
  const tf_node *t = &b->p->tree->nodes[n], *child = &b->p->tree->nodes[t->children[0]];
  const bool last = child->kind != TF_TILE || child->level != t->level;
  tf_ival range[TF_MAX_RANK];
  if (k < (last ? first_whole_loop(b, o, n) : t->n_temporal)) {
    const int l = b->p->first_loop[n] + k;
    for (int64_t i = 0; i < b->ev.trip[l] && b->ok; i++) {
      step(b, n, l, i);
      stream_product(b, o, n, k + 1);
    }
    step(b, n, l, 0);
  } else if (!last) {
    stream_product(b, o, t->children[0], 0);
  } else if (has_needed_points(b, b->p->tree->op_node[o])) {
    leaf_ranges(b, o, n, k, range);
    run_op(b, o, range);
  }
}

static void run_here(npu_build *b, int o, int n) {
  const tf_op *op = &workload(b)->ops[o];
  tf_ival range[TF_MAX_RANK];
  if (b->t.flat && b->product[o]) {
    stream_product(b, o, n, 0);
    return;
  }
  for (int d = 0; d < op->n_dims; d++)
    range[d] = tf_dim_range(&b->ev, o, op->dims[d], n, b->cur);
  run_op(b, o, range);
}

/* ---- nodes ---------------------------------------------------------------------------------- */
static void node(npu_build *b, int n);

/* Iterations of the loop, some of them interleaved. */
static void interleave(npu_build *b, int n, int loop) {
  for (int64_t i = 0; i < b->ev.trip[loop] && b->ok; i += b->turns) {
    size_t begin[NPU_SLOTS + 1] = {b->out->n};
    int turns = 0;
    b->interleaving = true;
    for (; turns < b->turns && i + turns < b->ev.trip[loop]; begin[turns] = b->out->n) {
      b->turn = turns;
      step(b, n, loop, i + turns++);
      node(b, b->p->tree->nodes[n].children[0]);
    }
    npu_turns_interleave(b, begin, turns);
    b->interleaving = false;
    if (b->clock) npu_clock_run(b);
  }
  b->turn = 0;
  step(b, n, loop, 0);
}

/* Whether the program is only timed, and has exceeded its limits. */
static bool is_late(const npu_build *b) {
  return b->clock && (npu_clock_end(b->clock) > b->most.cycles || b->length > b->most.length);
}

/* The settings of the temporal loops of Tile n from its k-th on, and of inner Tiles, of which a
 * mask leaves something. */
static int64_t settings_left(npu_build *b, int n, int k);

/* The same for steps `lo` up to `end` of the k-th loop, at the current setting of other loops. */
static int64_t settings_between(npu_build *b, int n, int k, int64_t lo, int64_t end) {
  const int l = b->p->first_loop[n] + k;
  const int64_t was = b->cur[l];
  int64_t sum = 0;
  for (int64_t i = lo; i < end; i++) {
    step(b, n, l, i);
    sum += settings_left(b, n, k + 1);
  }
  step(b, n, l, was);
  return sum;
}

static int64_t settings_left(npu_build *b, int n, int k) {
  const tf_node *t = &b->p->tree->nodes[n];
  if (k < t->n_temporal) return settings_between(b, n, k, 0, b->ev.trip[b->p->first_loop[n] + k]);
  const int child = t->children[0];
  if (is_left_out(b, child)) return 0;
  return b->p->tree->nodes[child].kind == TF_TILE && b->p->skips->node[child].may
             ? settings_left(b, child, 0)
             : 1;
}

/* Whether some of the loop's steps may be smaller than others, or empty, because of a mask. */
static bool is_uneven(const npu_build *b, int64_t steps) {
  return b->clock && !b->every_step && !b->interleaving && b->p->skips && steps > NPU_LONG;
}

/* The steps of the k-th loop of Tile n, without those at both ends that a mask leaves empty. */
static tf_ival steps_of(npu_build *b, int n, int k) {
  tf_ival all = {0, b->ev.trip[b->p->first_loop[n] + k]};
  if (!is_uneven(b, all.len)) return all;
  for (; all.len > 0 && !settings_between(b, n, k, all.lo, all.lo + 1); all.len--)
    all.lo++;
  for (; all.len > 0 && !settings_between(b, n, k, all.lo + all.len - 1, all.lo + all.len);
       all.len--) {
  }
  return all;
}

/* After step i: the number of steps that are passed over. */
static int64_t pass_over(npu_build *b, npu_loop_timing *pace, int n, int k, int64_t i,
                         tf_ival all) {
  const int64_t steps = npu_clock_step(b, pace, i - all.lo, all.len - 1);
  double times = (double)steps / pace->measured;
  if (steps && is_uneven(b, all.len)) {
    const int64_t measured = settings_between(b, n, k, i + 1 - pace->measured, i + 1);
    times =
        (double)settings_between(b, n, k, i + 1, i + 1 + steps) / (double)(measured ? measured : 1);
  }
  if (steps) npu_clock_pass(b, pace, steps, times);
  return steps;
}

static void loops(npu_build *b, int n, int k);

/* Adds the instructions of the steps of the k-th loop of Tile n to those counted. */
static void count_loop(npu_build *b, int n, int k) {
  const int l = b->p->first_loop[n] + k;
  const int64_t steps = b->ev.trip[l];
  for (int64_t i = 0; i < steps && b->ok && b->length <= b->most.length;
       i = i == 1 && steps > 3 ? steps - 1 : i + 1) {
    const double begin = b->length;
    step(b, n, l, i);
    loops(b, n, k + 1);
    npu_count_made(b);
    if (i == 1 && steps > 3) b->length += (double)(steps - 3) * (b->length - begin);
  }
  step(b, n, l, 0);
}

static void loops(npu_build *b, int n, int k) {
  const tf_node *t = &b->p->tree->nodes[n];
  const int l = b->p->first_loop[n] + k;
  if (k == t->n_temporal) {
    node(b, t->children[0]);
    return;
  }
  if (b->counting) {
    count_loop(b, n, k);
    return;
  }
  if (!b->dry && n == b->turn_tile && k == t->n_temporal - 1) {
    interleave(b, n, l);
    return;
  }
  const tf_ival all = steps_of(b, n, k);
  const int64_t last = all.lo + all.len - 1;
  /* the first, second and last steps have the largest boxes and, if none is skipped, use all
   * banks */
  const bool skips = b->dry && !b->p->clips && !b->p->skips;
  npu_loop_timing pace;
  npu_clock_begin(b, &pace);
  for (int64_t i = all.lo; i <= last && b->ok && !is_late(b);
       i = skips && i == 1 && last > 1 ? last : i + 1) {
    step(b, n, l, i);
    loops(b, n, k + 1);
    if (b->clock && b->every_step && !b->interleaving) npu_clock_run(b);
    if (b->clock && !b->every_step && !b->interleaving) i += pass_over(b, &pace, n, k, i, all);
    if (b->drops_made && !b->interleaving) npu_count_made(b);
  }
  step(b, n, l, 0);
}

static void tile(npu_build *b, int n) {
  const tf_node *t = &b->p->tree->nodes[n];
  const int o = only_op(b, n);
  if (o >= 0 && t->level == npu_level_of(b, o)) {
    run_here(b, o, n);
    return;
  }
  for (int k = t->n_temporal; k < t->n_loops; k++)
    if (b->ev.trip[b->p->first_loop[n] + k] > 1)
      npu_stop(b, t->at, "one core: no loop spreads tiles over instances of a memory");
  if (b->ok) loops(b, n, 0);
}

/* Begins a run of the scope: tensors that live in it are computed anew, unless a stream
 * continues. */
static void begin_scope(npu_build *b, int n) {
  for (int z = 0; z < workload(b)->n_tensors; z++) {
    const int o = workload(b)->tensors[z].producer, level = b->p->home_level[z];
    tf_ival box[TF_MAX_RANK];
    if (b->p->home_scope[z] != n || (b->p->stream_scope[o] == n && !npu_stream_begins(b, o)))
      continue;
    for (int i = 0; i < b->n_banks; i++)
      if (b->bank[i].tensor == z && b->bank[i].turn == b->turn && b->bank[i].owner >= 0)
        b->bank[i].held = b->bank[i].dirty = false;
    if (b->t.memory_of[level] == 0) continue;
    for (int r = 0; r < workload(b)->tensors[z].rank; r++)
      box[r] = tf_dim_range(&b->ev, o, workload(b)->ops[o].dims[r], n, b->cur);
    if (b->t.memory_of[level] < 0 || (!b->t.flat && level == b->t.deep))
      npu_stop(b, b->p->tree->nodes[n].at, "'%.40s' cannot live in that memory",
               workload(b)->tensors[z].name);
    const int k = b->ok ? npu_bank_of(b, z, b->t.memory_of[level], level) : -1;
    if (k >= 0) npu_bank_open(b, &b->bank[k], box);
  }
}

/* Seq n proceeds to the child: inner memories drop what it does not access. */
static void pass(npu_build *b, int n, int child) {
  for (int i = 0; i < b->n_banks; i++) {
    npu_bank *k = &b->bank[i];
    if (!k->held || k->owner < 0 || k->turn != b->turn ||
        tf_node_touches(b->p->facts, child, k->tensor) ||
        !tf_plan_above(b->p, n, b->p->slices[k->owner].node))
      continue;
    npu_flush(b, k->tensor, k->level);
    k->held = false;
  }
}

static void scope(npu_build *b, int n) {
  const tf_node *t = &b->p->tree->nodes[n];
  if (tf_plan_at_once(t) || t->n_retain)
    npu_stop(b, t->at, "of scopes there are Seq and Shar, without retain");
  if (b->ok && npu_stream_check(b, n)) begin_scope(b, n);
  for (int c = 0; c < t->n_children && b->ok; c++) {
    if (!has_needed_points(b, t->children[c])) continue;
    if (tf_plan_drops(t)) pass(b, n, t->children[c]);
    npu_stream_before(b, n, t->children[c]);
    if (b->ok) node(b, t->children[c]);
    npu_stream_after(b, n, t->children[c]);
  }
}

static void node(npu_build *b, int n) {
  const tf_node *t = &b->p->tree->nodes[n];
  if (!b->ok || !has_needed_points(b, n)) return;
  for (int i = 0; i < b->p->n_tile_slices && b->ok; i++)
    if (b->p->slices[i].node == n && b->p->slices[i].level <= b->t.deep) enter(b, i);
  if (!b->ok) return;
  if (t->kind == TF_TILE)
    tile(b, n);
  else if (t->kind == TF_SCOPE)
    scope(b, n);
  else
    npu_stop(b, t->at, "'%.40s' needs a Tile of %s", workload(b)->ops[t->op].name,
             npu_level_of(b, t->op) < 0 ? "a vector unit"
                                        : b->p->arch->memories[npu_level_of(b, t->op)].name);
}

bool npu_walk(npu_build *b) {
  memset(b->cur, 0, sizeof *b->cur * (size_t)b->p->n_loops);
  tf_memo_hold(b->p);
  node(b, 0);
  for (b->turn = 0; b->turn == 0 || b->turn < b->turns; b->turn++)
    if (b->ok) npu_flush(b, -1, 1);
  b->turn = 0;
  if (b->counting) npu_count_made(b);
  if (b->clock && !b->counting) npu_clock_run(b);
  return b->ok;
}
