/* Inserts sets and waits of flags: before each instruction that accesses what an earlier one of
 * another queue accessed, unless other flags imply the order (by vector clocks, one for every piece
 * of a memory). A wait refers to one instruction, whose flag is set right after it, so that no wait
 * is longer than necessary. Every flag is necessary: nothing else orders the two instructions. */
#include <stdlib.h>
#include <string.h>

#include "codegen/backend/npu/pass/bytes.h"
#include "codegen/backend/npu/pass/pass.h"

typedef struct {
  uint32_t write, read[NPU_QUEUES]; /* number of the instruction in its queue, from 1 */
  uint8_t queue;
} cell;

typedef struct {
  tf_npu *p;
  npu_pieces cells[NPU_MEMORIES];
  uint32_t (*clock)[NPU_QUEUES]; /* [instruction] what is known to have ended when it ends */
  uint32_t *nth[NPU_QUEUES], n[NPU_QUEUES]; /* the instructions of a queue */
  uint32_t known_ended[NPU_QUEUES][NPU_QUEUES];
  int queue;                 /* of the current instruction: */
  uint32_t need[NPU_QUEUES]; /* ... what it must wait for */
  uint64_t *waits, *sets;    /* [instruction] a bit for each other queue, 8 per queue */
} flagger;

static void need(flagger *f, int queue, uint32_t n) {
  if (n > f->need[queue]) f->need[queue] = n;
}

/* Records what an operand must wait for: writes there and, if it writes, reads there. */
static void need_access(void *ctx, int operand, int memory, int64_t at, int64_t end) {
  flagger *f = ctx;
  npu_pieces *of = &f->cells[memory];
  npu_pieces_cut(of, at, end);
  for (; at < end; at = npu_pieces_next(of, at)) {
    const cell *c = npu_pieces_value(of, at);
    if (c->write) need(f, c->queue, c->write);
    for (int q = 0; q < NPU_QUEUES && operand == 0; q++)
      need(f, q, c->read[q]);
  }
}

static void mark_read(flagger *f, npu_pieces *of, int64_t at, int64_t end) {
  for (; at < end; at = npu_pieces_next(of, at))
    ((cell *)npu_pieces_value(of, at))->read[f->queue] = f->n[f->queue];
}

static void mark(void *ctx, int operand, int memory, int64_t at, int64_t end) {
  flagger *f = ctx;
  if (operand)
    mark_read(f, &f->cells[memory], at, end);
  else
    *(cell *)npu_pieces_join(&f->cells[memory], at, end) =
        (cell){.write = f->n[f->queue], .queue = (uint8_t)f->queue};
}

/* Whether waiting for another queue implies the wait for queue q. */
static bool follows(const flagger *f, int q) {
  bool any = false;
  for (int k = 0; k < NPU_QUEUES; k++)
    if (k != q && f->need[k]) any |= f->clock[f->nth[k][f->need[k] - 1]][q] >= f->need[q];
  return any;
}

static void order(flagger *f, size_t at) {
  npu_instr *i = &f->p->instr[at];
  uint32_t *seen = f->known_ended[i->queue];
  const int sources = npu_facts_of(i->op)->sources;
  memset(f->need, 0, sizeof f->need);
  f->queue = i->queue;
  for (int k = sources; k >= 0; k--)
    npu_runs(f->p, i, k, false, need_access, f);
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
  for (int k = sources; k >= 0; k--)
    npu_runs(f->p, i, k, false, mark, f);
}

/* Rebuilds the program with flags. */
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

static bool make_flagger(flagger *f) {
  const tf_npu *p = f->p;
  bool ok = npu_pieces_new(f->cells, p, sizeof(cell));
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
  npu_pieces_free(f->cells);
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
  bool ok = make_flagger(f);
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
