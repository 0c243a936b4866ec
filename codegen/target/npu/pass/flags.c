/* Inserts sets and waits of flags: before each instruction that touches what an earlier one of another queue touched,
 * unless the order follows from other flags (vector clocks, one for every two bytes).  A wait refers to one
 * instruction, and its flag is set right after that, so that nobody waits longer than necessary; each is needed:
 * without it nothing orders the two. */
#include <stdlib.h>
#include <string.h>

#include "codegen/target/npu/pass/pass.h"
#include "codegen/target/npu/sim/touch.h"

typedef struct {
  uint32_t write, read[NPU_QUEUES]; /* place in its queue, from 1 */
  uint8_t queue;
} cell;

typedef struct {
  tf_npu *p;
  cell *cells[NPU_MEMORIES];
  uint32_t (*clock)[NPU_QUEUES];            /* [instruction] what is known to have ended when it ends */
  uint32_t *nth[NPU_QUEUES], n[NPU_QUEUES]; /* instructions of a queue */
  uint32_t seen[NPU_QUEUES][NPU_QUEUES];
  uint32_t need[NPU_QUEUES]; /* of the current instruction */
  uint64_t *waits, *sets;    /* [instruction] bit for each other queue, 8 a queue */
} flagger;

static void need(flagger *f, int queue, uint32_t n) {
  if (n > f->need[queue]) f->need[queue] = n;
}

/* Notes what an operand must wait for: what was written there, and before a write also what was read there. */
static void need_access(void *ctx, const npu_instr *i, int operand, int64_t byte) {
  flagger *f = ctx;
  const npu_operand *o = operand ? &i->from[operand - 1] : &i->to;
  cell *c = &f->cells[o->memory][byte / 2];
  for (int64_t k = 0; k < npu_type_bytes(o->type) / 2; k++, c++) {
    if (c->write) need(f, c->queue, c->write);
    for (int q = 0; q < NPU_QUEUES && operand == 0; q++)
      need(f, q, c->read[q]);
  }
}

static void mark(void *ctx, const npu_instr *i, int operand, int64_t byte) {
  flagger *f = ctx;
  const npu_operand *o = operand ? &i->from[operand - 1] : &i->to;
  cell *c = &f->cells[o->memory][byte / 2];
  for (int64_t k = 0; k < npu_type_bytes(o->type) / 2; k++, c++) {
    if (operand) {
      c->read[i->queue] = f->n[i->queue];
      continue;
    }
    memset(c, 0, sizeof *c);
    c->write = f->n[i->queue];
    c->queue = (uint8_t)i->queue;
  }
}

/* Whether the order after queue q follows from that after another queue. */
static bool follows(const flagger *f, int q) {
  bool any = false;
  for (int k = 0; k < NPU_QUEUES; k++)
    if (k != q && f->need[k]) any |= f->clock[f->nth[k][f->need[k] - 1]][q] >= f->need[q];
  return any;
}

static void order(flagger *f, size_t at) {
  npu_instr *i = &f->p->instr[at];
  uint32_t *seen = f->seen[i->queue];
  memset(f->need, 0, sizeof f->need);
  npu_touch(f->p, i, need_access, f);
  for (int q = 0; q < NPU_QUEUES; q++)
    if (q == i->queue || f->need[q] <= seen[q]) f->need[q] = 0;
  for (int q = 0; q < NPU_QUEUES; q++)
    if (f->need[q] && follows(f, q)) f->need[q] = 0;
  for (int q = 0; q < NPU_QUEUES; q++) {
    if (!f->need[q]) continue;
    const uint32_t from = f->nth[q][f->need[q] - 1];
    f->sets[from] |= UINT64_C(1) << i->queue;
    f->waits[at] |= UINT64_C(1) << q;
    for (int k = 0; k < NPU_QUEUES; k++)
      seen[k] = f->clock[from][k] > seen[k] ? f->clock[from][k] : seen[k];
  }
  f->nth[i->queue][f->n[i->queue]++] = (uint32_t)at;
  seen[i->queue] = f->n[i->queue];
  memcpy(f->clock[at], seen, sizeof f->clock[at]);
  npu_touch(f->p, i, mark, f);
}

/* Builds the program again with flags. */
static bool put_flags(flagger *f, const npu_instr *old, size_t n) {
  for (size_t k = 0; k < n; k++) {
    for (int q = 0; q < NPU_QUEUES; q++) {
      npu_instr *i = f->waits[k] >> q & 1 ? npu_add(f->p, NPU_WAIT) : NULL;
      if (!i && f->waits[k] >> q & 1) return false;
      if (i) i->queue = q, i->flag.to = old[k].queue;
    }
    npu_instr *same = npu_add(f->p, old[k].op);
    if (!same) return false;
    *same = old[k];
    for (int q = 0; q < NPU_QUEUES; q++) {
      npu_instr *i = f->sets[k] >> q & 1 ? npu_add(f->p, NPU_SET) : NULL;
      if (!i && f->sets[k] >> q & 1) return false;
      if (i) i->queue = old[k].queue, i->flag.to = q;
    }
  }
  return true;
}

static bool make(flagger *f) {
  const tf_npu *p = f->p;
  bool ok = true;
  for (int m = 0; m < p->machine.n_memories; m++) {
    const size_t bytes = (size_t)(m ? p->machine.memory[m].bytes : p->tensor_at[p->n_tensors]);
    f->cells[m] = calloc(bytes / 2 + 1, sizeof(cell));
    ok = ok && f->cells[m];
  }
  for (int q = 0; q < NPU_QUEUES; q++) {
    f->nth[q] = calloc(p->n + 1, sizeof *f->nth[q]);
    ok = ok && f->nth[q];
  }
  f->clock = calloc(p->n + 1, sizeof *f->clock);
  f->waits = calloc(p->n + 1, sizeof *f->waits);
  f->sets = calloc(p->n + 1, sizeof *f->sets);
  return ok && f->clock && f->waits && f->sets;
}

static void end(flagger *f) {
  for (int m = 0; m < NPU_MEMORIES; m++)
    free(f->cells[m]);
  for (int q = 0; q < NPU_QUEUES; q++)
    free(f->nth[q]);
  free(f->clock);
  free(f->waits);
  free(f->sets);
  free(f);
}

bool npu_flags_add(tf_npu *p) {
  flagger *f = calloc(1, sizeof *f);
  if (!f) return false;
  f->p = p;
  bool ok = make(f);
  for (size_t k = 0; k < p->n && ok; k++)
    order(f, k);
  npu_instr *old = p->instr;
  const size_t n = p->n;
  if (ok) {
    p->instr = NULL;
    p->n = 0;
    ok = put_flags(f, old, n);
    free(old);
  }
  end(f);
  return ok;
}
