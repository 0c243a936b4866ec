/* Time of a call: what nests take, beside what memories deliver. */
#include "codegen/backend/cpu/expect/expect.h"

#include <math.h>

#include "codegen/backend/cpu/pass/cost.h"
#include "tileflow/tree.h"

/* Words of the architecture that an element of the tensor takes. */
static double width(const ir_program *p, int tensor) {
  const int b = p->buffer_of[tensor];
  const ir_type type = b < 0 ? IR_F32 : p->buffers[b].type;
  return (double)ir_bytes(type) / (double)sizeof(float);
}

/* Cycles in which a memory delivers what is read from it, and takes what is written: a line that is
 * written arrives before, and leaves afterwards. */
static double memory(const ir_program *p, const tf_result *r, int level) {
  enum { BOTH_WAYS = 2 };
  const tf_arch *a = p->tree->arch;
  const int n = p->tree->workload->n_tensors;
  double words = 0, instances = 1;
  for (int z = 0; z < n; z++) {
    const tf_counts *c = &r->counts[level * n + z];
    words += ((double)c->read + BOTH_WAYS * (double)c->update) * width(p, z);
  }
  for (int l = 1; l <= level; l++)
    instances *= (double)(a->memories[l].mesh[0] * a->memories[l].mesh[1]);
  return words / a->memories[level].read_bw / instances;
}

double cpu_expected(const ir_program *p, const tf_micro_isa *isa, const tf_result *r) {
  double cycles = tf_cost(p, isa);
  if (cycles < 0) return cycles;
  for (int l = 0; l < tf_arch_near_cache(p->tree->arch); l++)
    cycles = fmax(cycles, memory(p, r, l));
  return cycles;
}
