/* For targets whose memories are filled by copies: tiles of the workload's inputs.  A memory keeps
 * of a tensor what the last tile that touched it left there; entering the next tile copies what is
 * missing from the nearest memory further out that holds it (docs/SEMANTICS.md section 3).  With
 * double buffering, the next tile's part is fetched into the other half during the current one. */
#include <string.h>

#include "codegen/lower/lower.h"

static int *stage_of(const lowering *w, int level, int z) {
  return &w->stage[level * w->plan->wl->n_tensors + z];
}

static bool is_mtile(const tf_plan *p, int n) {
  return p->tree->nodes[n].kind == TF_TILE && p->tree->nodes[n].level > 0 &&
         tf_plan_mtile(p, n, p->tree->nodes[n].level) == n;
}

static bool holds(const tf_plan *p, int n, int z) {
  return p->wl->tensors[z].producer < 0 && is_mtile(p, n) && tf_plan_tile_holds(p, n, z);
}

static void add_buffer(lowering *w, int level, int z) {
  const tf_memory *m = &w->plan->arch->memories[level];
  int *at = stage_of(w, level, z);
  if (*at >= 0) return;
  int i = lower_buffer(w, z, w->plan->wl->tensors[z].name, false, level);
  if (lower_failed(w)) return;
  ir_buffer *b = &w->p->buffers[i];
  b->role = IR_TILES;
  for (int k = w->p->platform->n_spaces - 1; k > 0; k--)
    if (w->p->platform->spaces[k].filled) b->space = k;
  b->slots = w->target->depth > 1 && m->double_buffered ? 2 : 1;
  if (b->slots > 1) b->slot = (ir_atom){lower_var(w, "half_%s_", b->id), 0};
  for (int r = 0; r < b->rank; r++) {
    b->extent[r] = 0;
    b->base[r] = (ir_atom){lower_var(w, "at_%s_", b->id), 0};
  }
  *at = i;
}

void lower_stage_start(lowering *w) {
  const tf_plan *p = w->plan;
  size_t n = (size_t)p->wl->n_tensors, all = n * (size_t)p->arch->n_memories;
  w->source = TF_ARRAY(w->p->arena, int, n);
  w->stage = TF_ARRAY(w->p->arena, int, all);
  w->chain = TF_ARRAY(w->p->arena, ir_range, (size_t)(p->wl->n_ops * p->wl->n_dims) + 1);
  if (lower_failed(w)) return;
  memset(w->stage, -1, all * sizeof *w->stage);
  for (int i = 0; i < p->tree->n_nodes && w->target->copies; i++)
    for (int z = 0; z < p->wl->n_tensors; z++)
      if (holds(p, i, z)) add_buffer(w, p->tree->nodes[i].level, z);
  for (int z = 0; z < p->wl->n_tensors; z++)
    w->source[z] = -1;
}

/* The node from which on loops step through tiles of n within one tile of the memory further out:
 * the nearest Tile outside that holds the tensor, or the child of the nearest scope. */
static int chain_start(const tf_plan *p, int n, int z) {
  int up = p->tree->nodes[n].parent;
  while (up >= 0 && p->tree->nodes[up].kind == TF_TILE) {
    n = up;
    if (holds(p, n, z)) return n;
    up = p->tree->nodes[n].parent;
  }
  return n;
}

/* Sets the ranges to those of the next step, from node `top` inwards; *last: 1 where there is none.
 */
static void step_ahead(lowering *w, int n, int top, ir_atom *last) {
  const tf_plan *p = w->plan;
  const tf_path *path = &p->path[n];
  ir_atom carry = ir_number(1);
  memcpy(w->cur, w->chain, (size_t)(p->wl->n_ops * p->wl->n_dims) * sizeof *w->cur);
  ir_atom *digit = TF_ARRAY(w->p->arena, ir_atom, (size_t)path->n + 1);
  for (int k = path->n - 1; k >= 0 && !lower_failed(w); k--) {
    int l = path->loops[k];
    digit[k] = (ir_atom){w->var_of[l], 0};
    if (w->run.trip[l] == 1) digit[k] = ir_number(0);
    if (w->run.trip[l] == 1 || !tf_plan_above(p, top, p->loops[l].node)) continue;
    ir_atom next = lower_sum(w, "next", digit[k], 1, carry);
    ir_range there = {.lo = next, .hi = ir_number(w->run.trip[l])};
    carry = lower_select(w, "carry", there, ir_number(0), ir_number(1));
    digit[k] = lower_select(w, "next", there, next, ir_number(0));
  }
  for (int k = 0; k < path->n && !lower_failed(w); k++)
    if (w->run.trip[path->loops[k]] > 1 &&
        p->depth[p->loops[path->loops[k]].node] >= w->chain_depth)
      lower_split_leaders(w, path->loops[k], digit[k]);
  *last = carry;
}

static void stage(lowering *w, int n, int z) {
  const tf_plan *p = w->plan;
  const tf_tensor *t = &p->wl->tensors[z];
  const size_t ranges = (size_t)(p->wl->n_ops * p->wl->n_dims), rank = (size_t)t->rank + 1;
  ir_range *now = TF_ARRAY(w->p->arena, ir_range, rank),
           *ahead = TF_ARRAY(w->p->arena, ir_range, rank);
  ir_range *before = TF_ARRAY(w->p->arena, ir_range, ranges);
  int i = *stage_of(w, p->tree->nodes[n].level, z);
  ir_atom last = ir_number(1);
  if (lower_failed(w)) return;
  memcpy(before, w->cur, ranges * sizeof *before);
  lower_infer(w, n);
  const lower_mark mark = lower_guard_nonempty(w, n, z); /* a tile without points is not entered */
  for (int r = 0; r < t->rank; r++)
    now[r] = lower_demand(w, z, r, n, LOWER_TOUCHED);
  if (w->p->buffers[i].slots > 1) {
    step_ahead(w, n, chain_start(p, n, z), &last);
    lower_infer(w, n);
    for (int r = 0; r < t->rank; r++)
      ahead[r] = lower_demand(w, z, r, n, LOWER_TOUCHED);
  }
  memcpy(w->cur, before, ranges * sizeof *before);
  ir_stmt *s = lower_add(w, IR_STAGE);
  if (w->into != mark.into) lower_close(w, mark);
  if (!s) return;
  ir_buffer *b = &w->p->buffers[i];
  b->words = 1;
  for (int r = 0; r < t->rank; r++) {
    b->extent[r] = now[r].most > b->extent[r] ? now[r].most : b->extent[r];
    b->words *= b->extent[r];
  }
  s->range = now;
  s->stage.node = n;
  s->stage.buffer = i;
  s->stage.from = w->source[z] >= 0 ? w->source[z] : w->p->buffer_of[z];
  s->stage.ahead = last.var >= 0 ? ahead : NULL;
  s->stage.last = last;
  w->source[z] = i;
}

void lower_stage(lowering *w, int n) {
  for (int z = 0; z < w->plan->wl->n_tensors && w->target->copies; z++)
    if (holds(w->plan, n, z)) stage(w, n, z);
}

/* Whether a Tile of that level below Seq n holds z. */
static bool held_below(const tf_plan *p, int n, int level, int z) {
  for (int i = n; i < p->tree->nodes[n].end; i++)
    if (p->tree->nodes[i].kind == TF_TILE && p->tree->nodes[i].level == level && holds(p, i, z))
      return true;
  return false;
}

void lower_stage_pass(lowering *w, int n, int child) {
  const tf_plan *p = w->plan;
  if (!w->target->copies || !tf_plan_drops(&p->tree->nodes[n])) return;
  for (int level = 1; level < p->arch->n_memories; level++)
    for (int z = 0; z < p->wl->n_tensors; z++) {
      if (*stage_of(w, level, z) < 0 || tf_node_touches(p->facts, child, z) ||
          !held_below(p, n, level, z))
        continue;
      lower_mark mark = lower_guard_nonempty(w, child, -1);
      ir_stmt *s = lower_add(w, IR_FORGET);
      if (s) s->forget.tensor = z, s->forget.buffer = *stage_of(w, level, z), s->forget.node = n;
      lower_close(w, mark);
    }
}
