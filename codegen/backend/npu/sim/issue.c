/* The scalar unit: executes the program's loops and gives each instruction to its queue. */
#include <stdlib.h>

#include "base/grow.h"
#include "codegen/backend/npu/sim/run.h"

typedef struct {
  npu_run *r;
  int64_t iteration[NPU_DEPTH]; /* of each open loop */
  int depth;
  bool ok;
} issuer;

static int64_t moved(const issuer *s, int64_t at, const int64_t *step) {
  for (int k = 0; k < s->depth; k++)
    at += step[k] * s->iteration[k];
  return at;
}

static int64_t address_of(const tf_npu *p, const issuer *s, const npu_operand *o) {
  int64_t slot = o->ring.at;
  for (int k = 0; k < s->depth && o->ring.n; k++)
    slot += o->ring.step[k] * s->iteration[k];
  return moved(s, o->base, o->step) + (o->ring.n ? slot % o->ring.n * o->ring.bytes : 0) +
         (o->tensor >= 0 ? p->tensor[o->tensor].offset : 0);
}

static void add_to_queue(issuer *s, int queue, uint32_t step) {
  npu_run *r = s->r;
  s->ok = s->ok && TF_GROW(r->list[queue], r->n[queue]);
  if (s->ok) r->list[queue][r->n[queue]++] = step;
}

static void issue(issuer *s, size_t k) {
  npu_run *r = s->r;
  const npu_instr *i = &r->p->instr[k];
  const int queue = i->op == NPU_WAIT ? i->flag.to : i->queue;
  s->ok = s->ok && TF_GROW(r->steps, r->n_steps);
  if (!s->ok) return;
  npu_step *step = &r->steps[r->n_steps];
  step->instr = (uint32_t)k;
  for (int o = 0; o <= npu_facts_of(i->op)->sources; o++)
    step->place[o] = address_of(r->p, s, npu_operand_of(i, o));
  for (int e = 0; e < 2 && i->op == NPU_LOAD; e++)
    step->place[2 + e] = moved(s, i->window.origin[e], i->window.step[e]);
  for (int q = 0; q < r->p->machine.n_queues; q++)
    if (i->op == NPU_BARRIER || q == queue) add_to_queue(s, q, (uint32_t)r->n_steps);
  r->n_steps++;
}

/* Issues instruction k, or opens or steps a loop; returns the number of the next instruction. */
static size_t advance(issuer *s, const tf_npu *p, size_t k) {
  const npu_instr *i = &p->instr[k];
  if (i->op == NPU_FOR) {
    s->iteration[s->depth++] = 0;
  } else if (i->op == NPU_END) {
    if (++s->iteration[s->depth - 1] < p->instr[i->loop.match].loop.trip) return i->loop.match + 1;
    s->depth--;
  } else if ((i->op != NPU_SET && i->op != NPU_WAIT) || npu_is_due(i, s->iteration, s->depth)) {
    issue(s, k);
  }
  return k + 1;
}

bool npu_issue(npu_run *r) {
  issuer s = {.r = r, .ok = true};
  const int64_t most = r->o->most ? r->o->most : INT64_C(1) << 22;
  int64_t walked = 0; /* loops count, too: they may be empty */
  r->left = most * 4096;
  for (size_t k = 0; k < r->p->n && s.ok; k = advance(&s, r->p, k))
    if (++walked > 4 * most || (int64_t)r->n_steps >= most)
      return tf_fail(r->d, r->p->instr[k].loc, TF_E_LIMIT, "more than %lld instructions would run",
                     (long long)most);
  return s.ok || tf_out_of_memory(r->d);
}
