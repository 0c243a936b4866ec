/* Lowers a tile tree to loop IR. */
#include "codegen/lower/lower.h"

#include <string.h>

static void lower_node(lowering *w, int n);
static void lower_op(lowering *w, int n);
static void lower_steps(lowering *w, int n, int k);

/* ---- buffers --------------------------------------------------------------------------------- */

static bool makes_dim(const tf_op *op, int dim) {
  for (int r = 0; r < op->n_out_dims; r++)
    if (op->dims[r] == dim) return true;
  return false;
}

/* Whether loops over instances are inside the loop over which z is streamed: then each instance
 * needs its own running value. An error where z is the same for several instances. */
static bool interleaved(lowering *w, int z) {
  const tf_plan *p = w->plan;
  int o = p->wl->tensors[z].producer, scope = p->stream_scope[o];
  const tf_path *path = scope < 0 ? NULL : &p->path[scope];
  bool inside = false, found = false;
  for (int k = 0; path && k < path->n; k++) {
    const tf_ploop *l = &p->loops[path->loops[k]];
    if (w->run.trip[path->loops[k]] == 1) continue;
    bool streamed = l->dim == p->wl->ops[o].dims[p->wl->ops[o].n_out_dims];
    if (inside && !streamed && !makes_dim(&p->wl->ops[o], l->dim))
      tf_fail(w->d, p->tree->nodes[scope].at, TF_E_STREAM,
              "emit: instances over '%.40s' would each keep their own '%.40s'; put that loop "
              "outside of '%.40s'",
              p->wl->dims[l->dim].name, p->wl->tensors[z].name,
              p->wl->dims[p->wl->ops[o].dims[p->wl->ops[o].n_out_dims]].name);
    found |= inside && !streamed;
    inside |= streamed;
  }
  return found;
}

/* Opens the buffers of the tensors whose home scope is n: the box of one run. */
static void open_homes(lowering *w, int n) {
  const tf_plan *plan = w->plan;
  for (int z = 0; z < plan->wl->n_tensors; z++) {
    if (plan->home_scope[z] != n || w->keeps[z]) continue;
    int i = lower_buffer(w, z, plan->wl->tensors[z].name, false, plan->home_level[z]);
    if (lower_failed(w)) return;
    ir_buffer *b = &w->p->buffers[i];
    if (interleaved(w, z)) b->role = IR_LASTING;
    b->space = b->role == IR_LASTING ? 0 : lower_space(w);
    if (lower_is_narrow(w, z)) b->type = w->p->machine.data, w->narrow[z] = i;
    b->words = b->role == IR_LASTING ? b->words : 1;
    for (int r = 0; r < b->rank; r++) {
      ir_range v = lower_demand(w, z, r, n, LOWER_HELD);
      if (b->role == IR_LASTING) continue;
      b->extent[r] = v.most;
      b->base[r] = v.lo;
      b->words *= v.most;
    }
    w->p->buffer_of[z] = i;
  }
}

/* ---- nodes ---------------------------------------------------------------------------------- */

bool lower_independent(const lowering *w, int n, int l) {
  const tf_plan *p = w->plan;
  for (int o = 0; o < p->wl->n_ops; o++) {
    const tf_op *op = &p->wl->ops[o];
    if (!tf_plan_above(p, n, p->tree->op_node[o])) continue;
    if (!tf_plan_leads(p, o, n)) { /* if its home is further in, each step has its own */
      if (!tf_plan_above(p, n, p->home_scope[op->out])) return false;
      continue;
    }
    bool split = false;
    for (int i = 0; i < p->loops[l].n_leader; i++)
      split |= p->loops[l].leaders[i] == o;
    bool out = false;
    for (int r = 0; r < op->n_out_dims; r++)
      out |= op->dims[r] == p->loops[l].dim;
    if (!split || !out) return false;
  }
  return true;
}

/* Whether loop l of Tile n is over instances of a memory; those over units are lanes of vectors. */
static bool over_instances(const lowering *w, int n, int l) {
  return w->plan->loops[l].axis != TF_TEMPORAL &&
         w->plan->tree->nodes[n].level + 1 < w->plan->arch->n_memories && w->run.trip[l] > 1;
}

/* Whether some loop at or below l is over instances. */
static bool spreads(const lowering *w, int n, int l) {
  const tf_plan *p = w->plan;
  for (int i = n; i < p->tree->nodes[n].end; i++)
    for (int k = 0; p->tree->nodes[i].kind == TF_TILE && k < p->tree->nodes[i].n_loops; k++)
      if (p->first_loop[i] + k >= l && over_instances(w, i, p->first_loop[i] + k)) return true;
  return false;
}

/* What the mapping spreads over instances runs in parallel.  The parallel loop is not that loop
 * itself, but the outermost one around it whose steps are independent and enough for all threads,
 * so that these synchronise seldom. */
static bool runs_parallel(const lowering *w, int n, int l) {
  enum { ENOUGH = 4 };
  return !w->in_parallel && lower_threads(w) &&
         (over_instances(w, n, l) || w->run.trip[l] >= ENOUGH) && spreads(w, n, l) &&
         lower_independent(w, n, l);
}

static int only_op(const tf_plan *p, int n) {
  int found = -1;
  for (int o = 0; o < p->wl->n_ops; o++) {
    if (!tf_plan_above(p, n, p->tree->op_node[o])) continue;
    if (found >= 0) return -1;
    found = o;
  }
  return found;
}

/* Whether a loop of Tile n from k on, or of a Tile below, was hoisted and its split is still to be
 * done. */
static bool awaits_hoisted(const lowering *w, int n, int k) {
  const tf_plan *p = w->plan;
  for (; p->tree->nodes[n].kind == TF_TILE; n = p->tree->nodes[n].children[0], k = 0)
    for (; k < p->tree->nodes[n].n_loops; k++)
      if (w->hoisted[p->first_loop[n] + k] >= 0 && !w->split_early[p->first_loop[n] + k])
        return true;
  return false;
}

/* Whether one of these loops, of op o alone, is over instances and may run in parallel: a product
 * is then spread first, and each core's part is one nest.  A map or sum that fits close to a core
 * ends about as soon as threads have begun.
 */
static bool awaits_threads(const lowering *w, int n, int k, int o) {
  const tf_plan *p = w->plan;
  if (w->in_parallel || !lower_threads(w) || !ir_is_product(&p->wl->ops[o])) return false;
  for (; p->tree->nodes[n].kind == TF_TILE; n = p->tree->nodes[n].children[0], k = 0)
    for (; k < p->tree->nodes[n].n_loops; k++)
      if (over_instances(w, n, p->first_loop[n] + k) &&
          lower_independent(w, n, p->first_loop[n] + k))
        return true;
  return false;
}

/* Opens the loop, unless it was hoisted; false: out of memory. */
static bool open_loop(lowering *w, int n, int l, ir_atom *digit) {
  *digit = (ir_atom){w->hoisted[l], 0};
  if (w->hoisted[l] >= 0) return true;
  ir_stmt *s = lower_add(w, IR_FOR);
  if (!s) return false;
  s->loop.dim = w->plan->loops[l].dim;
  s->loop.var = lower_var(w, "i_%s_", w->p->dim_id[s->loop.dim]);
  s->loop.trip = w->run.trip[l];
  lower_span_loop(w, s->loop.var, s->loop.trip);
  w->var_of[l] = s->loop.var;
  s->loop.map = runs_parallel(w, n, l) ? IR_THREAD : IR_SERIAL;
  w->in_parallel |= ir_is_parallel(s);
  w->parallel = ir_is_parallel(s) ? l : w->parallel;
  lower_open(w, &s->body);
  *digit = (ir_atom){s->loop.var, 0};
  lower_keep_instance(w, n, l);
  return !lower_failed(w);
}

static void lower_loops(lowering *w, int n, int k) {
  const tf_plan *p = w->plan;
  const tf_node *t = &p->tree->nodes[n];
  while (k < t->n_loops && w->run.trip[p->first_loop[n] + k] == 1)
    k++;
  int alone = only_op(p, n);
  if (alone >= 0 && w->target->close_by && w->target->close_by(w, alone) &&
      !awaits_hoisted(w, n, k) && !awaits_threads(w, n, k, alone)) {
    lower_op(w, p->tree->op_node[alone]);
    return;
  }
  if (k == t->n_loops) {
    lower_node(w, t->children[0]);
    return;
  }
  lower_sums sums = lower_open_sums(w, n, k, -1);
  const lower_sums carries = lower_open_carries(w, n, k, -1);
  lower_steps(w, n, k);
  lower_close_carries(w, carries);
  lower_save_sums(w, sums);
}

/* Lowers loop k of Tile n, and all inside it. */
static void lower_steps(lowering *w, int n, int k) {
  const tf_plan *p = w->plan;
  size_t ranges = (size_t)(p->wl->n_ops * p->wl->n_dims);
  ir_range *before = TF_ARRAY(w->p->arena, ir_range, ranges),
           *guard = TF_ARRAY(w->p->arena, ir_range, (size_t)p->wl->n_ops);
  size_t tensors = (size_t)p->wl->n_tensors;
  ir_atom *slot = TF_ARRAY(w->p->arena, ir_atom, tensors);
  bool outer = w->in_parallel;
  lower_mark mark = {w->into, w->n_lets};
  ir_atom digit;
  if (lower_failed(w)) return;
  memcpy(before, w->cur, ranges * sizeof *before);
  memcpy(slot, w->slot, tensors * sizeof *slot);
  if (!open_loop(w, n, p->first_loop[n] + k, &digit)) return;
  lower_keep_step(w, n, p->first_loop[n] + k, digit);
  const int n_guard = w->split_early[p->first_loop[n] + k]
                          ? 0
                          : lower_split_guarded(w, p->first_loop[n] + k, digit, guard);
  if (n_guard) {
    ir_stmt *may = lower_add(w, IR_IF);
    if (!may) return;
    may->guard.n = n_guard;
    may->guard.range = guard;
    lower_open(w, &may->body);
  }
  lower_loops(w, n, k + 1);
  lower_close(w, mark);
  w->in_parallel = outer;
  memcpy(w->slot, slot, tensors * sizeof *slot);
  memcpy(w->cur, before, ranges * sizeof *before);
}

/* Whether both loops split the same ranges. */
static bool split_alike(const tf_ploop *a, const tf_ploop *b) {
  return a->dim == b->dim && a->n_leader == b->n_leader &&
         !memcmp(a->leaders, b->leaders, (size_t)a->n_leader * sizeof *a->leaders);
}

/* How many steps the loops around l that split the same ranges take in turn; 0: another one does.
 */
static int64_t steps_around(const lowering *w, int l) {
  int64_t steps = 1;
  for (int i = 0; i < l; i++) {
    if (w->run.trip[i] == 1 || w->plan->loops[i].dim != w->plan->loops[l].dim || w->split_early[i])
      continue;
    if (!split_alike(&w->plan->loops[i], &w->plan->loops[l]) ||
        w->plan->loops[i].axis != TF_TEMPORAL)
      return 0;
    steps *= w->run.trip[i]; /* a factor of the outermost loop's step */
  }
  return steps;
}

/* Has each instance take neighbouring pieces, one after the other, where the mapping deals them in
 * turn: blocks are then as large as an instance's caches hold, and of weights as wide as panels
 * that are packed once for many calls. Not where a mask makes pieces unequal, which dealing evens
 * out, or a scope retains what the piece before needed. */
static void take_neighbours(lowering *w, int l, ir_atom digit) {
  const tf_plan *p = w->plan;
  const int64_t steps =
      w->mask.scope >= 0 || p->n_retains || w->target->copies ? 0 : steps_around(w, l);
  if (steps < 2) return;
  for (int i = 0; i < p->loops[l].n_leader; i++) {
    int64_t *const step = &w->run.step[p->loops[l].leaders[i] * p->n_loops];
    for (int k = 0; k < l; k++)
      if (p->loops[k].dim == p->loops[l].dim && w->run.trip[k] > 1 && !w->split_early[k])
        step[k] /= w->run.trip[l];
    step[l] *= steps;
  }
  lower_split_leaders(w, l, digit);
  w->split_early[l] = true;
}

/* Hoists loops over instances that are above all branches outside of all other loops: each instance
 * then runs its own steps, and what it has packed stays valid. */
static void hoist(lowering *w) {
  const tf_plan *p = w->plan;
  for (int n = 0; p->tree->nodes[n].kind == TF_TILE; n = p->tree->nodes[n].children[0])
    for (int k = 0; k < p->tree->nodes[n].n_loops; k++) {
      int l = p->first_loop[n] + k;
      ir_atom digit;
      if (!over_instances(w, n, l) || !lower_independent(w, n, l) || lower_has_sums(w, n, k) ||
          !open_loop(w, n, l, &digit))
        continue;
      w->hoisted[l] = digit.var;
      take_neighbours(w, l, digit);
    }
}

static void lower_scope(lowering *w, int n) {
  const tf_plan *p = w->plan;
  const tf_node *t = &p->tree->nodes[n];
  size_t ranges = (size_t)(p->wl->n_ops * p->wl->n_dims);
  ir_range *before = TF_ARRAY(w->p->arena, ir_range, ranges);
  if (lower_failed(w) || !lower_stream_check(w, n)) return;
  memcpy(before, w->cur, ranges * sizeof *before);
  lower_infer(w, n);
  lower_mask_open(w, n);
  open_homes(w, n);
  lower_sums sums = lower_open_sums(w, n, 0, -1);
  const lower_mark mark = lower_mask_visit(w, n);
  for (int c = 0; c < t->n_children; c++) {
    lower_keep_pass(w, n, t->children[c]);
    lower_stage_pass(w, n, t->children[c]);
    lower_stream_before(w, n, t->children[c]);
    lower_node(w, t->children[c]);
    lower_stream_after(w, n, t->children[c]);
  }
  if (mark.into) lower_close(w, mark);
  lower_stream_end(w, n);
  lower_save_sums(w, sums);
  lower_mask_close(w, n);
  memcpy(w->cur, before, ranges * sizeof *before);
}

static void lower_op(lowering *w, int n) {
  if (lower_is_idle(w, w->plan->tree->nodes[n].op)) return;
  lower_sums sums = lower_open_sums(w, n, 0, w->plan->tree->nodes[n].op);
  const lower_sums carries = lower_open_carries(w, n, 0, w->plan->tree->nodes[n].op);
  lower_carried_nest(w, n);
  lower_close_carries(w, carries);
  lower_save_sums(w, sums);
}

/* Stages the inputs of a Tile; after it, the outer tiles are read again. */
static void lower_tile(lowering *w, int n) {
  const tf_plan *p = w->plan;
  const int up = p->tree->nodes[n].parent, depth = w->chain_depth;
  const size_t tensors = (size_t)p->wl->n_tensors, ranges = (size_t)(p->wl->n_ops * p->wl->n_dims);
  int *from = TF_ARRAY(w->p->arena, int, tensors);
  ir_range *chain = TF_ARRAY(w->p->arena, ir_range, ranges + 1);
  if (lower_failed(w)) return;
  memcpy(from, w->source, tensors * sizeof *from);
  memcpy(chain, w->chain, ranges * sizeof *chain);
  if (up < 0 || p->tree->nodes[up].kind == TF_SCOPE) {
    memcpy(w->chain, w->cur, ranges * sizeof *chain);
    w->chain_depth = p->depth[n];
  }
  lower_stage(w, n);
  lower_loops(w, n, 0);
  memcpy(w->source, from, tensors * sizeof *from);
  memcpy(w->chain, chain, ranges * sizeof *chain);
  w->chain_depth = depth;
}

static void lower_node(lowering *w, int n) {
  const tf_node *t = &w->plan->tree->nodes[n];
  if (lower_failed(w)) return;
  if (t->kind == TF_TILE)
    lower_tile(w, n);
  else if (t->kind == TF_SCOPE)
    lower_scope(w, n);
  else
    lower_op(w, n);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool set_up(lowering *w, const tf_tree *tree) {
  tf_arena *a = w->p->arena;
  tf_plan *p = tf_plan_new(a, tree);
  w->plan = p;
  if (!p || !lower_stream_steps(w, p)) return false;
  const tf_workload *wl = p->wl;
  size_t loops = (size_t)p->n_loops + 1;
  w->run.plan = p;
  w->run.trip = TF_ARRAY(a, int64_t, loops);
  w->run.step = TF_ARRAY(a, int64_t, loops * (size_t)wl->n_ops);
  w->cur = TF_ARRAY(a, ir_range, (size_t)(wl->n_ops * wl->n_dims) + 1);
  w->p->buffer_of = TF_ARRAY(a, int, (size_t)wl->n_tensors);
  w->p->buffers = TF_ARRAY(a, ir_buffer,
                           (3 + (size_t)tree->arch->n_memories) * (size_t)wl->n_tensors +
                               8 * (size_t)wl->n_ops);
  w->p->notes = TF_ARRAY(a, const ir_note *, (size_t)wl->n_ops);
  w->summed = TF_ARRAY(a, bool, (size_t)wl->n_ops);
  w->carry = TF_ARRAY(a, lower_carry, (size_t)wl->n_ops);
  w->narrow = TF_ARRAY(a, int, (size_t)wl->n_tensors + 1);
  w->hoisted = TF_ARRAY(a, int, loops);
  w->split_early = TF_ARRAY(a, bool, loops);
  w->var_of = TF_ARRAY(a, int, loops);
  if (!w->hoisted || !w->split_early || !w->var_of || !w->summed || !w->carry || !w->narrow ||
      !w->p->notes || !w->run.trip || !w->run.step || !w->cur || !w->p->buffer_of || !w->p->buffers)
    return false;
  for (int l = 0; l < p->n_loops; l++)
    w->run.trip[l] = tree->nodes[p->loops[l].node].loops[p->loops[l].slot].trip;
  for (int o = 0; o < wl->n_ops; o++)
    for (int d = 0; d < wl->n_dims; d++)
      *lower_range(w, o, d) = lower_whole_range(wl, d);
  for (int z = 0; z < wl->n_tensors; z++)
    w->p->buffer_of[z] = w->narrow[z] = -1;
  for (int l = 0; l < p->n_loops; l++)
    w->hoisted[l] = w->var_of[l] = -1;
  w->into = &w->p->body;
  return lower_keep_start(w);
}

static const char **identifiers(ir_program *p, c_named what,
                                const char *(*name)(const tf_workload *, int), int n) {
  const char **id = TF_ARRAY(p->arena, const char *, (size_t)n + 1);
  for (int i = 0; id && i < n; i++)
    if (!(id[i] = c_identifier(p->arena, what, name(p->tree->workload, i), i))) return NULL;
  return id;
}

static const char *tensor_name(const tf_workload *wl, int i) { return wl->tensors[i].name; }
static const char *dim_name(const tf_workload *wl, int i) { return wl->dims[i].name; }
static const char *op_name(const tf_workload *wl, int i) { return wl->ops[i].name; }

static bool name_all(ir_program *p) {
  const tf_workload *wl = p->tree->workload;
  p->tensor_id = identifiers(p, C_TENSOR, tensor_name, wl->n_tensors);
  p->dim_id = identifiers(p, C_DIM, dim_name, wl->n_dims);
  p->op_id = identifiers(p, C_OP, op_name, wl->n_ops);
  return p->tensor_id && p->dim_id && p->op_id;
}

static void add_arguments(lowering *w) {
  const tf_workload *wl = w->plan->wl;
  for (int z = 0; z < wl->n_tensors; z++)
    if (wl->tensors[z].producer < 0 || wl->tensors[z].n_consumers == 0)
      w->p->buffer_of[z] = lower_buffer(w, z, wl->tensors[z].name, true, 0);
}

/* What a pass leaves must pass the verifier: in builds with asserts after each pass, in others
 * after the last, so that no kernel is printed whose variables are not declared where they are
 * used.  A fault is reported with the name of the pass. */
static void check(lowering *w, const char *pass, bool last) {
  char why[200];
#ifndef NDEBUG
  last = true;
#endif
  if (last && !lower_failed(w) && !ir_check(w->p, why, sizeof why))
    tf_fail(w->d, w->plan->tree->nodes[0].at, TF_E_LOOP, "wrong loops after pass '%s': %s", pass,
            why);
}

/* Runs the target's passes, if the mapping could be lowered. */
static void run_passes(lowering *w, size_t errors) {
  const lower_pass *pass = w->target->passes;
  if (tf_diags_errors(w->d) == errors) check(w, "lower", !pass->run);
  for (; pass->run && !lower_failed(w) && tf_diags_errors(w->d) == errors; pass++) {
    pass->run(w);
    check(w, pass->name, !pass[1].run);
  }
}

ir_program *lower_kernel(const tf_tree *tree, const lower_target *target, const ir_machine *machine,
                         tf_diags *d) {
  tf_arena *a = tf_arena_new();
  ir_program *p = TF_NEW(a, ir_program);
  lowering w = {.p = p, .target = target, .d = d};
  size_t errors = tf_diags_errors(d);
  bool ready = true;
  if (p) {
    p->arena = a;
    p->tree = tree;
    p->platform = target->platform;
    if (machine) p->machine = *machine;
  }
  if (tree->open) {
    tf_fail(d, tree->nodes[0].at, TF_E_OPEN, "emit needs a mapping without open parts");
  } else if (!p || !name_all(p) || !set_up(&w, tree)) {
    ready = false;
  } else if (!tf_eval_steps(&w.run)) {
    tf_fail(d, tree->nodes[0].at, TF_E_OVERFLOW, "the product of trip counts passes 2^63 - 1");
  } else {
    add_arguments(&w);
    lower_mask_find(&w);
    if (lower_threads(&w)) hoist(&w);
    lower_stage_start(&w);
    lower_keep_plan(&w);
    lower_node(&w, 0);
    run_passes(&w, errors);
  }
  if (!ready || tf_arena_failed(a)) tf_out_of_memory(d);
  if (tf_diags_errors(d) == errors) return p;
  tf_arena_free(a);
  return NULL;
}
