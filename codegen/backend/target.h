/* A target is a row: how mappings are lowered for it, what is printed, what it costs, what runs it.
 */
#ifndef CODEGEN_BACKEND_TARGET_H
#define CODEGEN_BACKEND_TARGET_H
#include "codegen/ir/memo.h"
#include "codegen/lower/target.h"
#include "tileflow/emit.h"

typedef struct tf_target tf_target;
struct tf_target {
  const char *name, *description;
  lower_target lower;
  /* The machine that the options ask for (of several instruction sets, the best).  False with the
   * reason in d. */
  bool (*machine)(const tf_emit_options *o, ir_machine *machine, tf_diags *d);
  /* As tf_emit, of the row itself; NULL: it only has loop IR. */
  tf_emitted *(*print)(const tf_target *t, const tf_tree *tree, const tf_emit_options *o,
                       tf_diags *d);
  /* As tf_emit_form; NULL: those of tf_search_template. */
  tf_tree *(*form)(const tf_arch *arch, const tf_workload *wl, int k);
  /* As tf_emit_cycles; NULL: it has no kernels of its own, and mappings are ranked as those of the
   * target of that name.
   */
  double (*cycles)(const tf_tree *tree, const tf_emit_options *o, tf_diags *d);
  const char *ranked_as;
  /* As tf_emit_expected; NULL: it expects nothing. */
  bool (*expected)(const tf_tree *tree, const tf_emit_options *o, tf_expected *e, tf_diags *d);
  /* As tf_emit_rate; NULL: 1. */
  double (*rate)(const tf_emit_options *o, tf_diags *d);
  bool whole; /* `cycles` are all that the kernel takes; else they come on top of the model's */
  /* As tf_emit_fits, where `cycles` do not say whether the mapping can be emitted; NULL: they do.
   */
  bool (*fits)(const tf_tree *tree, tf_diags *d);
  /* As tf_emit_settled; NULL: a mapping found stays as it is. */
  tf_tree *(*settle)(const tf_tree *tree, tf_emit_memo *memo, char **settled, tf_diags *d);
  /* Whether a kernel finds inputs, and leaves outputs, in memory `level`; NULL: it may be any, as
   * all are one address space to it. */
  bool (*reaches)(const tf_arch *arch, int level);
  /* As tf_emit_suits; NULL: any does. */
  bool (*suits)(const tf_arch *arch, tf_diags *d);
  /* Bits of tf_emit_ability. */
  unsigned able;
  /* Instruction sets of its own, as messages list them, and whether a name is one of them; NULL: it
   * has none. */
  const char *isas;
  bool (*owns)(const char *isa);
  /* As tf_emit_isa_unused, of one of its own; NULL: each changes what is printed. */
  const char *(*unused)(const char *isa, const char *dtype);
  /* Runs a program lowered for it, as ir_run. */
  bool (*run)(const ir_program *p, double *const *data, const ir_counts *counts);
};

/* The rows; each target has its folder, codegen/backend/NAME.  The first is meant where no name is
 * given. */
#define TF_TARGET_ROWS(X) X(cpu) X(cuda) X(opencl) X(npu) X(hints) X(staged) X(model)
#define X(name) extern const tf_target tf_target_##name;
TF_TARGET_ROWS(X)
#undef X

/* tf_emit and tf_emit_ir for a row, which need not be one of those above. */
tf_emitted *tf_target_emit(const tf_target *t, const tf_tree *tree, const tf_emit_options *o,
                           tf_diags *d);
char *tf_target_ir(const tf_target *t, const tf_tree *tree, const tf_emit_options *o, tf_diags *d);
#endif
