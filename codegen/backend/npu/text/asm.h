/* Programs as text, in C and in assembler. */
#ifndef CODEGEN_BACKEND_NPU_TEXT_ASM_H
#define CODEGEN_BACKEND_NPU_TEXT_ASM_H
#include <stdio.h>

#include "codegen/backend/npu/sim/program.h"

/* npu.h: the intrinsics, in C; each prints its line of the program. */
void npu_c_intrinsics(FILE *out);
/* kernel.c over them: it prints the program, without loops. */
void npu_c_text(FILE *out, const tf_npu *p, const char *what);
/* asm_write.c: the lines of the machine, and of the tensors. */
void npu_put_head(FILE *out, const tf_npu *p);
#endif
