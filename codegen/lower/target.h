/* What lowering asks of a target: columns, what it does with a nest, and a list of passes.  An `if (cuda)` in lowering
 * is a missing column. */
#ifndef CODEGEN_LOWER_TARGET_H
#define CODEGEN_LOWER_TARGET_H
#include "codegen/ir/ir.h"

typedef struct lowering lowering;

/* Goes over the whole program, when all of it is there. */
typedef struct {
  const char *name;
  void (*run)(lowering *w);
} low_pass;

typedef struct {
  /* What loops may be mapped to, spaces and queues.  Where it has IR_THREAD, instances are threads, which share memory:
   * loops over them run in parallel, at the outermost loop that can. */
  const ir_platform *platform;
  bool copies; /* memories are filled by copies (IR_STAGE), which nests read from; else they fill themselves, as caches
                  do */
  int depth;  /* copies, where the architecture says `double-buffered`: tiles held at once, 1 or 2, the next one fetched
                 while one is worked on */
  bool skips; /* what a mask leaves nothing of is not visited (lower/mask.c) */
  /* Whether intermediate z is kept in the data's type: nobody who reads it wants more of it.  NULL: none is. */
  bool (*narrow)(const lowering *w, int z);
  bool (*close_by)(const lowering *w, int op); /* whether one nest may take the rest of op's own loops; NULL: never */
  void (*nest)(lowering *w, ir_stmt *nest); /* finds what the target has for the nest; NULL: it goes point by point */
  const low_pass *passes;                   /* the last one has no `run` */
} low_target;

/* Lowers a mapping without open parts (machine NULL: float32, without vectors).  NULL with the reason in d: what cannot
 * be lowered is an error that names it. */
ir_program *low_lower(const tf_tree *tree, const low_target *target, const ir_machine *machine, tf_diags *d);
#endif
