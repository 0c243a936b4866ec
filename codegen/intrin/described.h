/* Instructions that files describe, as kernels of products. */
#ifndef CODEGEN_INTRIN_DESCRIBED_H
#define CODEGEN_INTRIN_DESCRIBED_H
#include "codegen/intrin/micro.h"

/* The kernel that calls it; requires in->emit, whose texts it borrows.  False with every reason in
 * d: loops, sizes, types or a layout that no generator of kernels has, or an instruction set that
 * is not there or has no such registers.
 */
bool tf_micro_describe(const tf_instr *in, tf_micro_kernel *out, tf_diags *d);
/* extend.c: the instruction set with what the caller has described for it and the type of data;
 * itself where that is nothing. plain: only what needs no options beside those of the set. */
const tf_micro_isa *tf_micro_isa_with(const tf_emit_instrs *e, const tf_micro_isa *isa,
                                      ir_type data, bool plain);
#endif
