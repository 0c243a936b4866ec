/* Which kernel is for the bytes of a product. */
#include "codegen/intrin/micro.h"
#include "codegen/target/cpu/pass/pass.h"

const ir_kernel *low_suited(const lowering *w, const tf_op *op, int a, const ir_kernel *kernel) {
  if (kernel != w->p->machine.whole) return kernel;
  const tf_workload *wl = w->plan->wl;
  ir_operand of[2];
  for (int i = 0; i < 2; i++) {
    const int z = op->reads[i].tensor;
    of[i] = ir_operand_of(wl, z, w->p->buffers[w->p->buffer_of[z]].type);
  }
  const ir_kernel *fours = tf_micro_fours(&w->p->machine, &of[a], &of[1 - a]);
  return fours ? fours : kernel;
}
