/* Transfers of boxes between banks. */
#include <string.h>

#include "codegen/backend/npu/pass/pass.h"

/* ---- boxes ---------------------------------------------------------------------------------- */
static void copy_box(npu_build *b, const npu_bank *from, const npu_bank *to, const tf_ival *box) {
  int64_t x[TF_MAX_RANK];
  for (int r = 0; r < from->rank; r++)
    x[r] = box[r].lo;
  npu_instr *i = npu_copy(b, npu_operand_at(b, to, npu_bank_at(to, x)),
                          npu_operand_at(b, from, npu_bank_at(from, x)), from->tensor);
  for (int r = 0; r < from->rank && i; r++)
    npu_dim_add(b, i, (npu_dim){box[r].len, {to->stride[r], from->stride[r]}, 0, 0});
}

/* The elements of v up to the bank's seam (where its ring buffer wraps around). */
static int64_t before_seam(const npu_bank *k, int r, tf_ival v) {
  const int64_t off = ((v.lo - k->org[r]) % k->ext[r] + k->ext[r]) % k->ext[r];
  return v.len < k->ext[r] - off ? v.len : k->ext[r] - off;
}

static void zero_pieces(npu_build *b, const npu_bank *k, int op, tf_ival *box, int r) {
  if (r == k->rank) {
    int64_t x[TF_MAX_RANK] = {0};
    npu_term to = {.o = {.memory = -1}}, zero = {.o = {.memory = -1, .tensor = -1}};
    for (int i = 0; i < r; i++) {
      x[i] = box[i].lo;
      to.step[i] = k->stride[i];
    }
    to.o = npu_operand_at(b, k, npu_bank_at(k, x));
    npu_vector_add(b, op, NPU_MOV, box, r, &to, &zero);
    return;
  }
  const tf_ival all = box[r];
  for (tf_ival rest = all; rest.len > 0 && b->ok;) {
    const int64_t n = before_seam(k, r, rest);
    box[r] = (tf_ival){rest.lo, n};
    zero_pieces(b, k, op, box, r + 1);
    rest = (tf_ival){rest.lo + n, rest.len - n};
  }
  box[r] = all;
}

void npu_zero(npu_build *b, const npu_bank *k, int op, const tf_ival *box) {
  tf_ival part[TF_MAX_RANK];
  if (b->dry || !b->ok) return;
  memcpy(part, box, sizeof *box * (size_t)k->rank);
  zero_pieces(b, k, op, part, 0);
}

/* Divides the box at seams of both banks, rank by rank. */
static void copy_pieces(npu_build *b, const npu_bank *from, const npu_bank *to, tf_ival *box,
                        int r) {
  if (r == from->rank) {
    copy_box(b, from, to, box);
    return;
  }
  const tf_ival all = box[r];
  for (tf_ival rest = all; rest.len > 0 && b->ok;) {
    const int64_t a = before_seam(from, r, rest), c = before_seam(to, r, rest), n = a < c ? a : c;
    box[r] = (tf_ival){rest.lo, n};
    copy_pieces(b, from, to, box, r + 1);
    rest = (tf_ival){rest.lo + n, rest.len - n};
  }
  box[r] = all;
}

static void move_direct(npu_build *b, npu_bank *from, npu_bank *to, const tf_ival *box) {
  tf_ival part[TF_MAX_RANK];
  b->again[from->tensor] |= from->memory == 0;
  if (b->dry || !b->ok) return;
  if (from->blocks || to->blocks) {
    npu_move_blocks(b, from->blocks ? from : to, from->blocks ? to : from, box, from->blocks);
    return;
  }
  memcpy(part, box, sizeof *box * (size_t)from->rank);
  copy_pieces(b, from, to, part, 0);
}

/* The memory from which that one can be filled; the outermost if there is none. */
static const char *source_of(const npu_machine *m, int memory) {
  int from = 0;
  for (int i = m->n_paths - 1; i >= 0; i--)
    if (m->path[i].to == memory) from = m->path[i].from;
  return m->memory[from].name;
}

/* Moves via the vector unit's memory if there is no direct path, unless the target is the cube. */
void npu_move(npu_build *b, npu_bank *from, npu_bank *to, const tf_ival *box) {
  const npu_machine *m = &b->t.machine;
  if (npu_path_of(m, from->memory, to->memory) >= 0 || m->vector.queue < 0 ||
      from->memory == to->memory) {
    move_direct(b, from, to, box);
    return;
  }
  if (to->blocks && to->role) {
    npu_stop(
        b, (tf_loc){0},
        "'%.40s' comes to the cube from '%s' alone: it needs a Tile there, or to be kept there",
        b->p->wl->tensors[to->tensor].name, source_of(m, to->memory));
    return;
  }
  int *way = &b->transit[from->tensor];
  if (*way < 0 && b->n_banks < NPU_BANKS) {
    *way = b->n_banks;
    b->bank[b->n_banks++] = (npu_bank){.memory = m->vector.memory,
                                       .tensor = from->tensor,
                                       .level = -1,
                                       .type = npu_type_of(&b->p->wl->tensors[from->tensor]),
                                       .rank = from->rank,
                                       .doubled = b->t.doubled,
                                       .slots = 1,
                                       .owner = -1};
  }
  if (*way < 0) {
    npu_stop(b, (tf_loc){0}, "more than %d places of tensors", NPU_BANKS);
    return;
  }
  const int turned = npu_bank_turned(b, *way);
  if (turned < 0) return;
  npu_bank_open(b, &b->bank[turned], box);
  move_direct(b, from, &b->bank[turned], box);
  move_direct(b, &b->bank[turned], to, box);
}

/* ---- storing results ------------------------------------------------------------------------ */
npu_bank *npu_bank_above(npu_build *b, const tf_slice *s) {
  const int k = npu_bank_of(b, s->tensor, b->t.memory_of[s->above], s->above);
  return k < 0 ? NULL : &b->bank[k];
}

static void drain(npu_build *b, npu_bank *k) {
  const int at = (int)(k - b->bank);
  npu_bank *to = npu_bank_above(b, &b->p->slices[k->owner]);
  if (!to) return;
  npu_move(b, &b->bank[at], to, b->bank[at].box);
  b->bank[at].dirty = false;
  to->dirty = to->owner >= 0;
}

void npu_flush(npu_build *b, int tensor, int level) {
  for (int l = b->t.deep; l >= level; l--)
    for (int i = 0; i < b->n_banks && b->ok; i++)
      if (b->bank[i].dirty && b->bank[i].turn == b->turn && b->bank[i].level == l &&
          (tensor < 0 || b->bank[i].tensor == tensor))
        drain(b, &b->bank[i]);
}
