/* Placement of tensors in the machine's memories. */
#include <string.h>

#include "codegen/target/npu/pass/pass.h"

static const npu_memory *memory_of(const npu_build *b, const npu_bank *k) { return &b->t.machine.memory[k->memory]; }

/* Global memory holds tensors in row-major order; of a chain's link as it says. */
static void be_global(npu_build *b, npu_bank *k) {
  const tf_tensor *z = &b->p->wl->tensors[k->tensor];
  int64_t step = 1;
  for (int r = z->rank - 1; r >= 0; r--) {
    k->ext[r] = z->extent[r];
    k->org[r] = z->lo[r];
    k->stride[r] = step;
    step *= z->extent[r];
  }
  k->held = true;
  if (!b->lent) return;
  k->at = b->lent[k->tensor].begin * npu_type_bytes(npu_type_of(z));
  memcpy(k->stride, b->lent[k->tensor].stride, sizeof *k->stride * (size_t)z->rank);
}

/* Whether the vector unit sums the tensor there, element by element: in float32, as the cube does. */
static bool is_summed(const npu_build *b, int tensor, int memory) {
  const int maker = b->p->wl->tensors[tensor].producer;
  return memory && memory == b->t.machine.vector.memory && maker >= 0 && !b->product[maker] &&
         (b->p->wl->ops[maker].reduce == TF_REDUCE_ADD || b->p->wl->ops[maker].reduce == TF_REDUCE_MUL);
}

int npu_bank_of(npu_build *b, int tensor, int memory, int level) {
  if (memory == 0) level = 0;
  for (int i = 0; i < b->n_banks; i++)
    if (b->bank[i].tensor == tensor && b->bank[i].memory == memory && b->bank[i].level == level && b->bank[i].turn == 0)
      return npu_bank_turned(b, i);
  if (b->n_banks == NPU_BANKS) {
    npu_stop(b, (tf_loc){0}, "more than %d places of tensors", NPU_BANKS);
    return -1;
  }
  npu_bank *k = &b->bank[b->n_banks];
  const tf_tensor *z = &b->p->wl->tensors[tensor];
  *k = (npu_bank){.memory = memory, .tensor = tensor, .level = level, .rank = z->rank, .slots = 1, .owner = -1};
  k->type = is_summed(b, tensor, memory) ? NPU_F32 : npu_type_of(z);
  k->doubled = b->t.doubled;
  if (memory == 0) be_global(b, k);
  return b->n_banks++;
}

int npu_bank_turned(npu_build *b, int bank) {
  if (b->turn == 0 || b->bank[bank].memory == 0) return bank;
  for (int i = 0; i < b->n_banks; i++)
    if (b->bank[i].turn == b->turn && b->bank[i].first_turn == bank) return i;
  if (b->n_banks == NPU_BANKS) {
    npu_stop(b, (tf_loc){0}, "more than %d places of tensors", NPU_BANKS);
    return -1;
  }
  npu_bank *k = &b->bank[b->n_banks];
  *k = b->bank[bank];
  k->turn = b->turn;
  k->first_turn = bank;
  k->at += b->turn * b->turn_bytes;
  k->held = k->dirty = false;
  k->owner = -1;
  return b->n_banks++;
}

void npu_bank_open(npu_build *b, npu_bank *k, const tf_ival *box) {
  k->slot = (k->slot + 1) % k->slots;
  for (int r = 0; r < k->rank; r++) {
    k->org[r] = box[r].lo;
    if (b->dry && box[r].len > k->ext[r]) k->ext[r] = box[r].len;
  }
  memcpy(k->box, box, sizeof *box * (size_t)k->rank);
  if (b->dry && k->blocks) {
    const npu_tile t = npu_tile_of(b, k, box);
    const int64_t bytes = t.batch * t.words * npu_type_bytes(k->type);
    k->bytes = bytes > k->bytes ? bytes : k->bytes;
  }
  k->held = true;
  k->dirty = false;
}

/* Aligns rows so that operands may begin there; except short rows that only transfers read, which may go element by
 * element. */
void npu_bank_lay_out(const npu_build *b, npu_bank *k) {
  const int64_t align = memory_of(b, k)->align, size = npu_type_bytes(k->type);
  int64_t step = 1;
  if (k->blocks) {
    k->bytes = (k->bytes + align - 1) / align * align;
    return;
  }
  for (int r = k->rank - 1; r >= 0; r--) {
    k->stride[r] = step;
    step *= k->ext[r];
    if (r == k->rank - 1 && (step * size >= align || k->memory == b->t.machine.vector.memory))
      step = (step * size + align - 1) / align * align / size;
  }
  k->bytes = (step * size + align - 1) / align * align;
}

/* ---- places ---------------------------------------------------------------------------------------------------- */
/* Whether what the bank holds outlives a run of Seq n, the outermost: it belongs to a Tile above, or a stream goes on.
 */
static bool outlives(const npu_build *b, const npu_bank *k, int n) {
  const int maker = b->p->wl->tensors[k->tensor].producer;
  bool does = maker >= 0 && b->p->stream_scope[maker] == n;
  for (int i = 0; i < b->p->n_tile_slices; i++)
    does |= b->p->slices[i].node < n && b->p->slices[i].tensor == k->tensor && b->p->slices[i].level == k->level;
  return does;
}

/* Whether loops stand above the outermost scope: its children follow on each other again and again. */
static bool is_repeated(const npu_build *b) {
  const tf_node *nodes = b->p->tree->nodes;
  bool is = false;
  for (int n = 0; nodes[n].kind == TF_TILE; n = nodes[n].children[0])
    for (int k = 0; k < nodes[n].n_loops; k++)
      is |= b->ev.trip[b->p->first_loop[n] + k] > 1;
  return is;
}

/* Whether nothing but reads from further out fills the bank. */
static bool is_only_read(const npu_build *b, const npu_bank *k) {
  bool only = k->level > 0 && b->p->home_level[k->tensor] != k->level && (!k->blocks || k->role > 0);
  for (int i = 0; i < b->p->n_tile_slices && !k->blocks; i++)
    only &= b->p->slices[i].tensor != k->tensor || b->p->slices[i].level != k->level || !b->p->slices[i].makes;
  return only;
}

/* Whether the child of the outermost Seq uses the bank, or leaves its tensor as it is there.  Where no child runs
 * again, what a bank that is only read holds matters to those alone that read it there. */
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

/* The live range of the bank: the children of the outermost Seq that use it.  After the last of them its bytes are
 * reused; flags make later users wait. */
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

static bool live_together(const npu_bank *a, const npu_bank *c) { return a->first <= c->last && c->first <= a->last; }

/* First fit: puts the i-th bank at the first place that is free during its live range. */
static void first_fit(npu_build *b, int i) {
  npu_bank *k = &b->bank[i];
  k->at = 0;
  for (int j = 0; j < i; j++) {
    const npu_bank *q = &b->bank[j];
    const bool meets = q->memory == k->memory && live_together(q, k) && k->at < q->at + q->slots * q->bytes &&
                       q->at < k->at + k->slots * k->bytes;
    if (!meets) continue;
    k->at = q->at + q->slots * q->bytes;
    j = -1; /* which may overlap an earlier one */
  }
}

/* Bytes needed for all banks of the memory. */
static int64_t pack(npu_build *b, int memory) {
  int64_t end = 0;
  for (int i = 0; i < b->n_banks; i++) {
    const npu_bank *k = &b->bank[i];
    if (k->memory != memory) continue;
    first_fit(b, i);
    end = k->at + k->slots * k->bytes > end ? k->at + k->slots * k->bytes : end;
  }
  return end;
}

/* One slot for all, then one more for each in turn, as far as there is room: what is fetched early waits in them.
 * Returns how many that should have two have one. */
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

/* All banks of the memory with one slot, and living through the whole, or between the children that touch them. */
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

/* One slot of each, in bytes that children share, and as many turns as there is room for: while one waits the others
 * go on.  False: not even two. */
static bool place_turns(npu_build *b, int memory) {
  const int64_t bytes = b->turn_tile < 0 ? 0 : begin_places(b, memory, true);
  const int64_t turns = bytes > 0 ? b->t.machine.memory[memory].bytes / bytes : 0;
  b->turns = turns < NPU_SLOTS ? (int)turns : NPU_SLOTS;
  b->turn_bytes = bytes;
  if (b->turns < 2) b->turn_tile = -1;
  return b->turns >= 2;
}

/* Bytes needed by turns where values within expressions take `most` bytes, or the least of which a part can be; *fewer:
 * whether some do that took more. */
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

/* Bytes needed by turns, with values within expressions in as large parts as there is room for. */
static int64_t place_values(npu_build *b, int memory, int64_t used) {
  int64_t most = 0;
  bool fewer = true;
  for (int i = 0; i < b->n_banks; i++)
    if (b->bank[i].memory == memory && b->bank[i].values_of && b->bank[i].bytes > most) most = b->bank[i].bytes;
  while (used > b->t.machine.memory[memory].bytes && fewer) {
    most = most / 2 / b->t.machine.memory[memory].align * b->t.machine.memory[memory].align;
    used = shrink_values(b, memory, most, &fewer);
  }
  return used;
}

/* Places of their own where there is room for two slots of each, so that no child waits for the one before, or for one
 * if children repeat.  Else those of others' by turns, if more have two slots then: a wait from child to child is one,
 * without a second slot there is one for each tile. */
static bool place(npu_build *b, int memory) {
  const npu_memory *m = &b->t.machine.memory[memory];
  if (place_turns(b, memory)) return true;
  const bool own = begin_places(b, memory, false) <= m->bytes;
  const int single = own ? add_slots(b, memory) : INT32_MAX;
  if (single == 0 || (own && is_repeated(b))) return true;
  const int64_t used = place_values(b, memory, begin_places(b, memory, true));
  if (used > m->bytes) {
    npu_stop(b, (tf_loc){0}, "the tiles take %lld bytes of '%s', which has %lld", (long long)used, m->name,
             (long long)m->bytes);
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
    ok = place(b, m) && ok;
  npu_banks_empty(b);
  return ok;
}

void npu_banks_empty(npu_build *b) {
  for (int i = 0; i < b->n_banks; i++) {
    b->bank[i].held = b->bank[i].memory == 0;
    b->bank[i].dirty = false;
    b->bank[i].slot = 0;
    b->bank[i].owner = -1;
  }
}

int64_t npu_bank_at(const npu_bank *k, const int64_t *x) {
  int64_t at = 0;
  for (int r = 0; r < k->rank; r++) {
    const int64_t ext = k->ext[r] ? k->ext[r] : 1, off = (x[r] - k->org[r]) % ext;
    at += (off < 0 ? off + ext : off) * k->stride[r];
  }
  return npu_slot_at(k) + at * npu_type_bytes(k->type);
}

bool npu_bank_runs(const npu_bank *k, int r, tf_ival v) {
  const int64_t ext = k->ext[r] ? k->ext[r] : 1, off = (v.lo - k->org[r]) % ext;
  return (off < 0 ? off + ext : off) + v.len <= ext;
}

bool npu_bank_whole(const npu_bank *k, const tf_ival *box) {
  bool whole = true;
  for (int r = 0; r < k->rank; r++)
    whole &= npu_bank_runs(k, r, box[r]);
  return whole;
}

npu_operand npu_operand_at(const npu_build *b, const npu_bank *k, int64_t at) {
  return (npu_operand){.memory = k->memory, .tensor = k->memory ? -1 : b->global[k->tensor], .type = k->type, .at = at};
}
