/* Banks: the storage of tensors in the machine's memories. */
#include <string.h>

#include "codegen/backend/npu/pass/pass.h"

static const npu_memory *memory_of(const npu_build *b, const npu_bank *k) {
  return &b->t.machine.memory[k->memory];
}

/* Global memory holds tensors in row-major order; those of a link in a chain as the link says. */
static void lay_out_global(npu_build *b, npu_bank *k) {
  const tf_tensor *z = &b->p->wl->tensors[k->tensor];
  int64_t step = 1;
  for (int r = z->rank - 1; r >= 0; r--) {
    k->ext[r] = z->extent[r];
    k->org[r] = z->lo[r];
    k->stride[r] = step;
    step *= z->extent[r];
  }
  k->held = true;
  if (!b->tensor_places) return;
  k->offset = b->tensor_places[k->tensor].begin * npu_type_bytes(npu_type_of(z));
  memcpy(k->stride, b->tensor_places[k->tensor].stride, sizeof *k->stride * (size_t)z->rank);
}

/* Whether the vector unit accumulates the tensor there, element by element: then in float32, as in
 * the cube. */
static bool is_summed(const npu_build *b, int tensor, int memory) {
  const int maker = b->p->wl->tensors[tensor].producer;
  return memory && memory == b->t.machine.vector.memory && maker >= 0 && !b->product[maker] &&
         (b->p->wl->ops[maker].reduce == TF_REDUCE_ADD ||
          b->p->wl->ops[maker].reduce == TF_REDUCE_MUL);
}

int npu_bank_of(npu_build *b, int tensor, int memory, int level) {
  if (memory == 0) level = 0;
  for (int i = 0; i < b->n_banks; i++)
    if (b->bank[i].tensor == tensor && b->bank[i].memory == memory && b->bank[i].level == level &&
        b->bank[i].turn == 0)
      return npu_bank_turned(b, i);
  if (b->n_banks == NPU_BANKS) {
    npu_stop(b, (tf_loc){0}, "more than %d places of tensors", NPU_BANKS);
    return -1;
  }
  npu_bank *k = &b->bank[b->n_banks];
  const tf_tensor *z = &b->p->wl->tensors[tensor];
  *k = (npu_bank){
      .memory = memory, .tensor = tensor, .level = level, .rank = z->rank, .slots = 1, .owner = -1};
  k->type = is_summed(b, tensor, memory) ? NPU_F32 : npu_type_of(z);
  k->doubled = b->t.doubled;
  if (memory == 0) lay_out_global(b, k);
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
  k->offset += b->turn * b->turn_bytes;
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

/* Aligns rows so that operands may begin there; except short rows that only transfers access, which
 * may go element by element. */
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
  npu_operand o = {.memory = k->memory,
                   .tensor = k->memory ? -1 : b->global[k->tensor],
                   .type = k->type,
                   .base = at};
  if (k->memory && k->slots > 1) {
    o.ring = (npu_ring){.bytes = k->bytes, .n = (uint8_t)k->slots, .at = (uint8_t)k->slot};
    o.base -= k->slot * k->bytes;
  }
  return o;
}
