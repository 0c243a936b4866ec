/* Assigns storage to banks in their memories: shared by banks with disjoint live ranges, with
 * several slots for what is prefetched. */
#include "codegen/backend/npu/pass/pass.h"

/* Whether the bank's content outlives a run of Seq n, the outermost: it belongs to a Tile above, or
 * a stream continues. */
static bool outlives(const npu_build *b, const npu_bank *k, int n) {
  const int maker = b->p->wl->tensors[k->tensor].producer;
  bool does = maker >= 0 && b->p->stream_scope[maker] == n;
  for (int i = 0; i < b->p->n_tile_slices; i++)
    does |= b->p->slices[i].node < n && b->p->slices[i].tensor == k->tensor &&
            b->p->slices[i].level == k->level;
  return does;
}

/* Whether loops are above the outermost scope, so that its children repeat. */
static bool is_repeated(const npu_build *b) {
  const tf_node *nodes = b->p->tree->nodes;
  bool is = false;
  for (int n = 0; nodes[n].kind == TF_TILE; n = nodes[n].children[0])
    for (int k = 0; k < nodes[n].n_loops; k++)
      is |= b->ev.trip[b->p->first_loop[n] + k] > 1;
  return is;
}

/* Whether the bank is only filled by loads from further out. */
static bool is_only_read(const npu_build *b, const npu_bank *k) {
  bool only =
      k->level > 0 && b->p->home_level[k->tensor] != k->level && (!k->blocks || k->role > 0);
  for (int i = 0; i < b->p->n_tile_slices && !k->blocks; i++)
    only &= b->p->slices[i].tensor != k->tensor || b->p->slices[i].level != k->level ||
            !b->p->slices[i].makes;
  return only;
}

/* Whether the child of the outermost Seq uses the bank, or lets it keep its content. If no child
 * repeats, the content of a bank that is only loaded matters to the children that read it there. */
static bool uses(const npu_build *b, const npu_bank *k, int child) {
  bool does = false;
  if (is_repeated(b) || !is_only_read(b, k)) return tf_node_touches(b->p->facts, child, k->tensor);
  for (int i = 0; i < b->p->n_tile_slices; i++) {
    const tf_slice *s = &b->p->slices[i];
    const bool here = s->node == child || tf_plan_above(b->p, child, s->node);
    for (int t = 0; here && s->tensor == k->tensor && s->level == k->level && t < s->n_touch; t++)
      does |= !k->blocks || s->touch[t].ref == k->role - 1;
  }
  return does;
}

/* The live range of the bank: the children of the outermost Seq that use it. After the last of them
 * its bytes are reused; flags make later users wait. */
static void find_life(const npu_build *b, npu_bank *k) {
  const tf_node *nodes = b->p->tree->nodes;
  int n = 0;
  while (nodes[n].kind == TF_TILE)
    n = nodes[n].children[0];
  if (!tf_plan_drops(&nodes[n]) || outlives(b, k, n)) return;
  k->first = INT32_MAX;
  k->last = -1;
  for (int c = 0; c < nodes[n].n_children; c++) {
    if (!uses(b, k, nodes[n].children[c])) continue;
    k->first = c < k->first ? c : k->first;
    k->last = c;
  }
}

static bool live_together(const npu_bank *a, const npu_bank *c) {
  return a->first <= c->last && c->first <= a->last;
}

/* First fit: places the i-th bank at the lowest offset that is free during its live range. */
static void first_fit(npu_build *b, int i) {
  npu_bank *k = &b->bank[i];
  k->offset = 0;
  for (int j = 0; j < i; j++) {
    const npu_bank *q = &b->bank[j];
    const bool meets = q->memory == k->memory && live_together(q, k) &&
                       k->offset < q->offset + q->slots * q->bytes &&
                       q->offset < k->offset + k->slots * k->bytes;
    if (!meets) continue;
    k->offset = q->offset + q->slots * q->bytes;
    j = -1; /* it may overlap with an earlier one */
  }
}

/* Bytes needed for all banks of the memory. */
static int64_t pack(npu_build *b, int memory) {
  int64_t end = 0;
  for (int i = 0; i < b->n_banks; i++) {
    const npu_bank *k = &b->bank[i];
    if (k->memory != memory) continue;
    first_fit(b, i);
    end = k->offset + k->slots * k->bytes > end ? k->offset + k->slots * k->bytes : end;
  }
  return end;
}

/* One slot for each, then one more for each in turn, as far as there is room, for prefetching.
 * Returns how many of those that should have two have one. */
static int add_slots(npu_build *b, int memory) {
  int single = 0;
  for (int slots = 2; slots <= NPU_SLOTS; slots++)
    for (int i = 0; i < b->n_banks; i++) {
      npu_bank *k = &b->bank[i];
      if (k->memory != memory || !k->doubled || k->slots != slots - 1) continue;
      k->slots = slots;
      if (pack(b, memory) > b->t.machine.memory[memory].bytes) k->slots = slots - 1;
      single += k->slots == 1;
    }
  pack(b, memory);
  return single;
}

/* All banks of the memory with one slot, and live throughout, or (by_turns) while children use
 * them. */
static int64_t begin_places(npu_build *b, int memory, bool by_turns) {
  for (int i = 0; i < b->n_banks; i++) {
    npu_bank *k = &b->bank[i];
    if (k->memory != memory) continue;
    k->slots = 1;
    k->first = 0;
    k->last = INT32_MAX;
    if (by_turns) find_life(b, k);
  }
  return pack(b, memory);
}

/* One slot each, in storage that children share, and as many turns as fit: while one waits the
 * others run. False: not even two fit. */
static bool place_turns(npu_build *b, int memory) {
  const int64_t bytes = b->turn_tile < 0 ? 0 : begin_places(b, memory, true);
  const int64_t turns = bytes > 0 ? b->t.machine.memory[memory].bytes / bytes : 0;
  b->turns = turns < NPU_SLOTS ? (int)turns : NPU_SLOTS;
  b->turn_bytes = bytes;
  if (b->turns < 2) b->turn_tile = -1;
  return b->turns >= 2;
}

/* Bytes needed for shared storage if values within expressions take at most `most` bytes, or their
 * least part; *fewer: whether that reduces some. */
static int64_t shrink_values(npu_build *b, int memory, int64_t most, bool *fewer) {
  *fewer = false;
  for (int i = 0; i < b->n_banks; i++) {
    npu_bank *k = &b->bank[i];
    if (k->memory != memory || !k->values_of || k->bytes <= most) continue;
    const int64_t least = npu_least_part(b, k), bytes = least > most ? least : most;
    *fewer |= bytes < k->bytes;
    k->in_parts |= bytes < k->bytes;
    k->bytes = bytes < k->bytes ? bytes : k->bytes;
  }
  return begin_places(b, memory, true);
}

/* Bytes needed for shared storage, with parts of values within expressions as large as fit. */
static int64_t place_values(npu_build *b, int memory, int64_t used) {
  int64_t most = 0;
  bool fewer = true;
  for (int i = 0; i < b->n_banks; i++)
    if (b->bank[i].memory == memory && b->bank[i].values_of && b->bank[i].bytes > most)
      most = b->bank[i].bytes;
  while (used > b->t.machine.memory[memory].bytes && fewer) {
    most = most / 2 / b->t.machine.memory[memory].align * b->t.machine.memory[memory].align;
    used = shrink_values(b, memory, most, &fewer);
  }
  return used;
}

/* Chooses separate storage for all banks if there is room for two slots each, so that no child
 * waits for the one before, or for one slot each if children repeat. Otherwise shared storage, if
 * more banks then have two slots: it costs a wait between children, while a missing second slot
 * costs one for each tile. */
static bool place_buffers(npu_build *b, int memory) {
  const npu_memory *m = &b->t.machine.memory[memory];
  if (place_turns(b, memory)) return true;
  const bool own = begin_places(b, memory, false) <= m->bytes;
  const int single = own ? add_slots(b, memory) : INT32_MAX;
  if (single == 0 || (own && is_repeated(b))) return true;
  const int64_t used = place_values(b, memory, begin_places(b, memory, true));
  if (used > m->bytes) {
    npu_stop(b, (tf_loc){0}, "the tiles take %lld bytes of '%s', which has %lld: make them smaller",
             (long long)used, m->name, (long long)m->bytes);
    return false;
  }
  if (add_slots(b, memory) < single) return true;
  begin_places(b, memory, false);
  add_slots(b, memory);
  return true;
}

bool npu_banks_place(npu_build *b) {
  bool ok = true;
  for (int i = 0; i < b->n_banks; i++)
    if (b->bank[i].memory) npu_bank_lay_out(b, &b->bank[i]);
  for (int m = 1; m < b->t.machine.n_memories; m++)
    ok = place_buffers(b, m) && ok;
  npu_banks_empty(b);
  return ok;
}
