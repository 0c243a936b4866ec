/* Where buffers are: what one loop over blocks alone touches is each block's own, in shared memory as far as there is
 * room, the smallest first. */
#include "codegen/target/cuda/pass/pass.h"

static bool touches_points(const ir_program *p, const ir_stmt *s, int buffer) {
  const tf_op *op = &p->tree->workload->ops[s->op];
  bool any = p->buffer_of[op->out] == buffer;
  for (int i = 0; s->kind == IR_NEST && i < op->n_reads; i++)
    any |= (s->nest.from ? s->nest.from[i] : p->buffer_of[op->reads[i].tensor]) == buffer;
  return any;
}

static bool touches(const ir_program *p, const ir_stmt *s, int buffer) {
  bool any = ir_names(s, buffer) || (ir_facts_of(s)->points && touches_points(p, s, buffer));
  for (int i = 0; i < s->body.n && !any; i++)
    any = touches(p, s->body.s[i], buffer);
  return any;
}

static bool is_blocks_own(const ir_program *p, int buffer) {
  int n = 0;
  for (int i = 0; i < p->body.n; i++)
    n += touches(p, p->body.s[i], buffer);
  return n == 1 && p->buffers[buffer].role != IR_ARGUMENT && p->buffers[buffer].role != IR_LASTING;
}

static int64_t words_of(const ir_buffer *b) { return b->words * b->slots; }

void low_cuda_spaces(lowering *w) {
  ir_program *p = w->p;
  int64_t room = CU_SHARED_WORDS;
  for (int i = 0; i < p->n_buffers; i++) {
    if (p->buffers[i].role == IR_COPIED)
      room -= words_of(&p->buffers[i]);
    else if (is_blocks_own(p, i))
      p->buffers[i].space = CU_SCRATCH;
  }
  for (;;) {
    int least = -1;
    for (int i = 0; i < p->n_buffers; i++)
      if (p->buffers[i].space == CU_SCRATCH && (least < 0 || words_of(&p->buffers[i]) < words_of(&p->buffers[least])))
        least = i;
    if (least < 0 || words_of(&p->buffers[least]) > room) return;
    p->buffers[least].space = CU_SHARED;
    room -= words_of(&p->buffers[least]);
  }
}
