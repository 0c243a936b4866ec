/* State of one run, shared by the simulator's files. */
#ifndef CODEGEN_BACKEND_NPU_SIM_RUN_H
#define CODEGEN_BACKEND_NPU_SIM_RUN_H
#include "codegen/backend/npu/sim/program.h"

/* An instruction as it is issued, with the places of its operands. */
typedef struct {
  uint32_t instr;
  int64_t
      place[4]; /* bytes in their memories: to, from[]; of LOAD followed by the window's origin */
} npu_step;

/* The shadow of two bytes of a memory: the last write (its number in its queue, from 1; 0: none, or
 * the host), and the last read of each queue. */
typedef struct {
  uint32_t write, read[NPU_QUEUES];
  uint8_t queue;
  bool set; /* they have been written */
} npu_shadow;

/* A flag that is set and not yet waited for. */
typedef struct npu_flag {
  double time;
  uint32_t known_ended[NPU_QUEUES];
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
  int64_t left; /* element accesses that are left */
  size_t n_steps;
  npu_step *steps;
  uint32_t *list[NPU_QUEUES]; /* each queue's steps in order; barriers are in all */
  size_t n[NPU_QUEUES], pos[NPU_QUEUES];
  double time[NPU_QUEUES], busy[NPU_QUEUES];
  double mad_end, vector_end; /* of the latest ones that have begun */
  size_t last_span[NPU_QUEUES];
  uint32_t known_ended[NPU_QUEUES]
                      [NPU_QUEUES]; /* [queue][of another] steps that are known to have ended */
  npu_flags flags[NPU_QUEUES][NPU_QUEUES][NPU_FLAGS];
  uint8_t *bytes[NPU_MEMORIES];
  npu_shadow *shadow[NPU_MEMORIES];
  uint8_t *reported; /* [instr] faults that were reported, a bit for each npu_fault */
  bool ok;
} npu_run;

typedef enum { NPU_ORDER, NPU_UNSET, NPU_OUTSIDE, NPU_MISALIGNED } npu_fault;

/* issue.c: the steps of each queue. False: too many, or out of memory, which is reported. */
bool npu_issue(npu_run *r);
/* exec.c: computes the step, and checks its accesses. */
void npu_exec(npu_run *r, int queue, const npu_step *s);
/* shadow.c: the step at the head of the queue reads or writes the element at that byte; faults are
 * reported. */
void npu_reads(npu_run *r, int queue, const npu_step *s, int operand, int64_t at);
void npu_writes(npu_run *r, int queue, const npu_step *s, int64_t at);
/* Whether the bytes at + lo .. at + hi - 1 of the operand are inside its memory, and aligned;
 * otherwise that is reported. */
bool npu_inside(npu_run *r, const npu_step *s, int operand, int64_t lo, int64_t hi);
/* Reports a fault of an instruction, once. */
bool npu_report(npu_run *r, const npu_step *s, npu_fault what);

static inline const npu_instr *npu_instr_of(const npu_run *r, const npu_step *s) {
  return &r->p->instr[s->instr];
}
static inline const npu_operand *npu_operand_of(const npu_instr *i, int k) {
  return k ? &i->from[k - 1] : &i->to;
}
#endif
