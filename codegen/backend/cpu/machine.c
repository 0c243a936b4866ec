/* The machine that kernels are lowered for, with what a workload's bytes need. */
#include "codegen/backend/cpu/cpu.h"
#include "codegen/ir/ir.h"

ir_machine tf_cpu_machine(const tf_micro_isa *isa, ir_type data, const tf_workload *wl) {
  ir_machine machine = tf_micro_machine(isa, data);
  bool ranged = false;
  for (int z = 0; z < wl->n_tensors; z++)
    ranged |= wl->tensors[z].ranged;
  if (ir_reads_unsigned(wl)) tf_micro_no_sign(isa, &machine);
  if (data == IR_I8) tf_micro_in_fours(isa, ranged, &machine);
  return machine;
}
