/* Heron's rules of generation: constraint systems from the ops, the instructions and the memories.
 *
 * An op that works element by element and whose output others read is inlined.  Each other op has a
 * root stage; one that reads data again (it has reduced dims) a cached stage, too, that computes
 * what the root writes. CPU: root: unroll, parallel (fused), tile for the cache, vectorize.  Cached
 * stage: computed at a place of the root, a band of all loops for each cache. Instructions that
 * read from a memory of their own (scratchpads): inputs are copied into that memory and from there
 *        next to the units, sums go the way back, each at a place of the stage it serves.  Root:
 * unroll, block, thread, warp, vectorize; calls of the instruction innermost; what the copies hold
 * is at most what the memory has. */
#ifndef TUNE_RULES_RULES_H
#define TUNE_RULES_RULES_H
#include "tileflow/instr.h"
#include "tune/rules/rules_stage.h"

enum { RULE_FAMILY = 32, RULE_SCOPES = 4, RULE_STAGES = TF_INSTR_OPERANDS * (RULE_SCOPES + 1) };

/* Instructions that differ in their sizes alone, and what their loops are of the op. */
typedef struct {
  int n; /* 0: none computes the op with each of its loops one loop of the op, in whole calls */
  const tf_instr *instr[RULE_FAMILY];
  int dim[TF_INSTR_LOOPS]; /* of the workload */
  bool sum[TF_INSTR_LOOPS];
  int size[TF_INSTR_LOOPS]; /* variables */
  int n_scopes;
  int scope[RULE_SCOPES]; /* memories that sources are read from, outermost first: their own, within
                             the chip */
} rule_family;

typedef struct {
  rule_system sys;
  const tf_spec *spec;
  const tf_op *op;
  rule_family family;
  int n_stages;
  rule_stage stage[RULE_STAGES];
  int position[RULE_STAGES];    /* of each stage but the root: the knob */
  int computed_at[RULE_STAGES]; /* and the stage in which it is computed */
} rules;

/* family.c: the instructions for the op, their sizes as variables of the system. */
void rules_find_family(rules *r);
void rules_add_sizes(rules *r);
/* The innermost part of each axis that the instruction has is as long as its size. */
void rules_call(rules *r, rule_stage *st);

/* scratchpad.c: the stages of an op with instructions, before their loops are split; and their
 * loops. */
void rules_prepare(rules *r);
void rules_schedule(rules *r);
#endif
