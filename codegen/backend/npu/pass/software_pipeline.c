/* Interleaves iterations, as an array's controller does: each load is waited for, but while one
 * iteration waits the others load and compute. The order of instructions expresses it; flags follow
 * from it. */
#include <stdlib.h>
#include <string.h>

#include "codegen/backend/npu/pass/pass.h"

/* Whether no iteration uses what an earlier one left: each child of the Seq drops what it does not
 * access, and intermediates are computed anew. */
static bool leaves_nothing(const npu_build *b, int seq) {
  const tf_node *t = &b->p->tree->nodes[seq];
  bool none = true;
  for (int z = 0; z < b->p->wl->n_tensors; z++) {
    const tf_tensor *tensor = &b->p->wl->tensors[z];
    bool dropped = false;
    for (int c = 0; c < t->n_children; c++)
      dropped |= !tf_node_touches(b->p->facts, t->children[c], z);
    if (tensor->producer >= 0 && tensor->n_consumers)
      none &= b->p->home_level[z] > 0 && b->p->home_scope[z] == seq;
    else
      none &= dropped;
  }
  for (int i = 0; i < b->p->n_tile_slices; i++)
    none &= b->p->slices[i].node > seq;
  return none;
}

void npu_turns_find(npu_build *b) {
  const tf_node *nodes = b->p->tree->nodes;
  int n = 0, above = -1;
  b->turn_tile = -1;
  for (; nodes[n].kind == TF_TILE; n = nodes[n].children[0])
    above = n;
  if (!b->t.flat || !b->t.doubled || above < 0 || !tf_plan_drops(&nodes[n])) return;
  const tf_node *t = &nodes[above];
  if (t->n_temporal && npu_is_shared(b->p->wl, t->loops[t->n_temporal - 1].dim) &&
      leaves_nothing(b, n))
    b->turn_tile = above;
}

static bool is_load(const npu_instr *i) { return i->via >= 0 && i->from[0].memory == 0; }

/* The end of the step that begins at k. */
static size_t step_end(const npu_instr *list, size_t k, size_t end) {
  bool computed = false;
  for (; k < end && !(computed && is_load(&list[k])); k++)
    computed |= list[k].via < 0;
  return k;
}

void npu_turns_interleave(npu_build *b, const size_t *begin, int n) {
  size_t at[NPU_SLOTS], made = 0;
  const size_t all = begin[n] - begin[0];
  npu_instr *woven = all ? malloc(all * sizeof *woven) : NULL;
  if (all && !woven) npu_stop(b, (tf_loc){0}, "out of memory");
  memcpy(at, begin, (size_t)n * sizeof *at);
  while (woven && made < all)
    for (int c = 0; c < n; c++) {
      const size_t end = step_end(b->out->instr, at[c], begin[c + 1]);
      memcpy(&woven[made], &b->out->instr[at[c]], (end - at[c]) * sizeof *woven);
      made += end - at[c];
      at[c] = end;
    }
  if (woven) memcpy(&b->out->instr[begin[0]], woven, all * sizeof *woven);
  free(woven);
}
