/* Race detection: the last accesses of every two bytes of each memory. An access must be ordered
 * after those it conflicts with, by flags, barriers or the order within a queue; vector clocks tell
 * whether it is. */
#include <inttypes.h>
#include <string.h>

#include "codegen/backend/npu/sim/run.h"

bool npu_report(npu_run *r, const npu_step *s, npu_fault what) {
  r->ok = false;
  if (r->reported[s->instr] >> what & 1) return false;
  r->reported[s->instr] |= (uint8_t)(1u << what);
  return true;
}

/* Name of the memory, or tensor, and the byte offset in it. */
static const char *name_of(const npu_run *r, const npu_instr *i, int operand, int64_t *at) {
  const npu_operand *o = npu_operand_of(i, operand);
  if (o->tensor < 0) return r->p->machine.memory[o->memory].name;
  *at -= r->p->tensor[o->tensor].offset;
  return r->p->tensor[o->tensor].name;
}

bool npu_inside(npu_run *r, const npu_step *s, int operand, int64_t lo, int64_t hi) {
  const npu_instr *i = npu_instr_of(r, s);
  const npu_operand *o = npu_operand_of(i, operand);
  const npu_memory *m = &r->p->machine.memory[o->memory];
  const bool outer = o->tensor >= 0; /* in global memory */
  const npu_tensor t = outer ? r->p->tensor[o->tensor] : (npu_tensor){0};
  const int64_t begin = t.offset, size = npu_type_bytes(o->type);
  const int64_t bytes = outer ? t.words * npu_type_bytes(t.type) : m->bytes;
  int64_t from = s->place[operand] + lo, to = s->place[operand] + hi, at = s->place[operand];
  /* a window, and the source of a gather, are accessed element by element */
  const bool single = i->op == NPU_LOAD || (i->op == NPU_GATHER && operand > 0);
  const int64_t align = outer || single ? size : m->align;
  if (at % size || at % align) {
    if (!npu_report(r, s, NPU_MISALIGNED)) return false;
    const char *name = name_of(r, i, operand, &at);
    return tf_fail(r->d, o->loc, TF_E_RANGE, "%s[%" PRId64 "] is not aligned to %" PRId64 " bytes",
                   name, at, align);
  }
  if (from >= begin && to <= begin + bytes) return true;
  if (!npu_report(r, s, NPU_OUTSIDE)) return false;
  const char *name = name_of(r, i, operand, &from);
  return tf_fail(r->d, o->loc, TF_E_CAPACITY,
                 "bytes %" PRId64 " .. %" PRId64 " of '%s', which has %" PRId64, from,
                 from + hi - lo - 1, name, bytes);
}

/* Reports that the step conflicts with step n of queue `other`, and nothing orders them. */
static void report_order(npu_run *r, const npu_step *s, int operand, int64_t at, const char *does,
                         int other, uint32_t n) {
  if (!npu_report(r, s, NPU_ORDER)) return;
  const npu_instr *i = npu_instr_of(r, s), *met = npu_instr_of(r, &r->steps[r->list[other][n - 1]]);
  const char *name = name_of(r, i, operand, &at);
  tf_fail(r->d, npu_operand_of(i, operand)->loc, TF_E_HAZARD,
          "%s byte %" PRId64 " of '%s', and no flag puts it behind the '%s' of queue '%s'", does,
          at, name, npu_facts_of(met->op)->name, r->p->machine.queue[other]);
  tf_note(r->d, met->loc, "that one");
}

void npu_reads(npu_run *r, int queue, const npu_step *s, int operand, int64_t at) {
  const npu_instr *i = npu_instr_of(r, s);
  const npu_operand *o = npu_operand_of(i, operand);
  npu_shadow *b = &r->shadow[o->memory][at / 2];
  for (int64_t k = 0; k < npu_type_bytes(o->type) / 2; k++, b++) {
    if (!b->set && npu_report(r, s, NPU_UNSET)) {
      int64_t in = at;
      const char *name = name_of(r, i, operand, &in);
      tf_fail(r->d, o->loc, TF_E_UNWRITTEN, "reads byte %" PRId64 " of '%s', which nobody wrote",
              in + 2 * k, name);
    }
    if (b->write > r->known_ended[queue][b->queue])
      report_order(r, s, operand, at, "reads", b->queue, b->write);
    b->read[queue] = r->known_ended[queue][queue];
  }
}

void npu_writes(npu_run *r, int queue, const npu_step *s, int64_t at) {
  const npu_operand *o = &npu_instr_of(r, s)->to;
  npu_shadow *b = &r->shadow[o->memory][at / 2];
  for (int64_t k = 0; k < npu_type_bytes(o->type) / 2; k++, b++) {
    if (b->write > r->known_ended[queue][b->queue])
      report_order(r, s, 0, at, "writes", b->queue, b->write);
    for (int q = 0; q < r->p->machine.n_queues; q++)
      if (b->read[q] > r->known_ended[queue][q]) report_order(r, s, 0, at, "writes", q, b->read[q]);
    b->write = r->known_ended[queue][queue];
    b->queue = (uint8_t)queue;
    b->set = true;
  }
}
