/* What lowering asks of a target: facts, a callback for nests, and a list of passes.  An `if
 * (cuda)` in lowering means that a field is missing here. */
#ifndef CODEGEN_LOWER_TARGET_H
#define CODEGEN_LOWER_TARGET_H
#include "codegen/ir/ir.h"

typedef struct lowering lowering;

/* A pass over the whole program, after lowering. */
typedef struct {
  const char *name;
  void (*run)(lowering *w);
} lower_pass;

/* How a nest sums: the most terms of an element that it may sum at once; how many additions to the
 * element those make that it has, one after the other (0: there is no limit); how many of these may
 * follow each other; and how many of the sums that they come to. */
typedef struct {
  int64_t most, adds, limit, next;
} lower_terms;

typedef struct {
  /* Which loop mappings, spaces and queues exist.  With IR_THREAD, instances are threads that share
   * memory: loops over them run in parallel, at the outermost loop that can. */
  const ir_platform *platform;
  bool copies; /* memories are filled by explicit copies (IR_STAGE), from which nests read; else
                  they fill themselves, as caches do */
  int depth;   /* of `copies`, where the architecture says `double-buffered`: 1 or 2 tiles at once;
                  with 2 the next one is fetched meanwhile */
  bool skips;  /* what a mask leaves nothing of is skipped (lower/mask.c) */
  /* Whether intermediate z is kept in the data's type, because no reader needs more.
   * NULL: none is. */
  bool (*narrow)(const lowering *w, int z);
  bool (*close_by)(const lowering *w,
                   int op); /* whether one nest may cover the rest of op's own loops; NULL: never */
  void (*nest)(
      lowering *w,
      ir_stmt *nest); /* selects the target's implementation of the nest; NULL: point by point */
  void (*terms)(const lowering *w, const ir_stmt *nest,
                lower_terms *t); /* of a sum; NULL: they have no limit */
  const lower_pass *passes;      /* ends with one without `run` */
} lower_target;

/* Lowers a mapping without open parts (machine NULL: float32, no vectors).  NULL with the reason in
 * d: what cannot be lowered is named in an error. */
ir_program *lower_kernel(const tf_tree *tree, const lower_target *target, const ir_machine *machine,
                         tf_diags *d);
#endif
