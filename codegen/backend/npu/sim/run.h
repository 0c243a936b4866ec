/* State of one run, shared by the simulator's files. */
#ifndef CODEGEN_BACKEND_NPU_SIM_RUN_H
#define CODEGEN_BACKEND_NPU_SIM_RUN_H
#include "codegen/backend/npu/sim/program.h"

/* An instruction as it is issued: where its operands begin. */
typedef struct {
  uint32_t instr;
  int64_t at[4]; /* bytes in their memories: to, from[]; of LOAD the window's origin behind them */
} npu_step;

/* What is known of two bytes of a memory: who wrote them last (place in its queue, from 1; 0:
 * nobody, or the host), and who read them last, queue by queue. */
typedef struct {
  uint32_t write, read[NPU_QUEUES];
  uint8_t queue;
  bool set; /* somebody wrote them */
} npu_shadow;

/* A flag that was set and not yet waited for. */
typedef struct npu_flag {
  double time;
  uint32_t seen[NPU_QUEUES];
  struct npu_flag *next;
} npu_flag;

typedef struct {
  npu_flag *first, **last;
} npu_flags;

typedef struct {
  const tf_npu *p;
  const tf_npu_options *o;
  tf_diags *d;
  tf_arena *arena;
  int64_t left; /* elements that may still be touched */
  size_t n_steps;
  npu_step *steps;
  uint32_t *list[NPU_QUEUES]; /* of each queue, its steps in order; barriers are in all */
  size_t n[NPU_QUEUES], pos[NPU_QUEUES];
  double time[NPU_QUEUES], busy[NPU_QUEUES];
  double mad_end, vector_end; /* of the last ones that have begun */
  size_t last_span[NPU_QUEUES];
  uint32_t seen[NPU_QUEUES][NPU_QUEUES]; /* [queue][of another] steps that have surely ended */
  npu_flags flags[NPU_QUEUES][NPU_QUEUES][NPU_FLAGS];
  uint8_t *bytes[NPU_MEMORIES];
  npu_shadow *shadow[NPU_MEMORIES];
  uint8_t *told; /* [instr] faults that were told: bit by npu_fault */
  bool ok;
} npu_run;

typedef enum { NPU_ORDER, NPU_UNSET, NPU_OUTSIDE, NPU_MISALIGNED } npu_fault;

/* issue.c: the steps, queue by queue.  False: too many, or out of memory, which is told. */
bool npu_issue(npu_run *r);
/* exec.c: the step computes, and what it touches is checked. */
void npu_exec(npu_run *r, int queue, const npu_step *s);
/* shadow.c: the step at the head of the queue reads or writes the element at that byte; faults are
 * told. */
void npu_reads(npu_run *r, int queue, const npu_step *s, int operand, int64_t at);
void npu_writes(npu_run *r, int queue, const npu_step *s, int64_t at);
/* Whether the bytes at + lo .. at + hi - 1 of the operand are inside its memory, and aligned; if
 * not, that is told. */
bool npu_inside(npu_run *r, const npu_step *s, int operand, int64_t lo, int64_t hi);
/* Tells a fault of an instruction once. */
bool npu_tell(npu_run *r, const npu_step *s, npu_fault what);

static inline const npu_instr *npu_instr_of(const npu_run *r, const npu_step *s) {
  return &r->p->instr[s->instr];
}
static inline const npu_operand *npu_operand_of(const npu_instr *i, int k) {
  return k ? &i->from[k - 1] : &i->to;
}
#endif
