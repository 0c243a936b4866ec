/* Kernels of products: how operands of a type are taken in, as text over an instruction set's vectors. */
#include <string.h>

#include "codegen/micro.h"

const char *tf_micro_type(ir_type t) {
  static const char *const name[] = {[IR_F32] = "float", [IR_BF16] = "uint16_t", [IR_I8] = "int8_t", [IR_U8] = "uint8_t",
                                     [IR_I16] = "int16_t", [IR_I32] = "int32_t"};
  return name[t];
}

static const char portable_int8[] =
  "typedef int32_t int8s;\n"
  "typedef int32_t ivec;\n"
  "static inline ivec ivec_zero(void) { return 0; }\n"
  "static inline ivec ivec_add(ivec a, ivec b) { return a + b; }\n"
  "static inline ivec ivec_load(const int32_t *p) { return *p; }\n"
  "static inline void ivec_store(int32_t *p, ivec v) { *p = v; }\n"
  "static inline int8s int8_splat(const int8_t *p) { return *p; }\n"
  "static inline int8s int8_load(const int8_t *p) { return *p; }\n"
  "static inline ivec int8_add(int8s x, int8s b, ivec c) { return c + x * b; }\n";

static const tf_micro_kernel kernels[] = {
  {{"f32", IR_F32, IR_F32, IR_F32, 1, 1, 1, 1}, 0, false, NULL, "vec", ""},
  {{"int8", IR_I8, IR_I8, IR_I32, 1, 1, 1, 1}, 1, false, "int8", "ivec", portable_int8},
};
enum { N_KERNELS = sizeof kernels / sizeof *kernels };

const tf_micro_kernel *tf_micro_kernel_find(const char *name) {
  for (int i = 0; i < N_KERNELS; i++)
    if (!strcmp(kernels[i].kernel.name, name)) return &kernels[i];
  return NULL;
}

ir_target tf_micro_target(const tf_micro_isa *isa, ir_type data) {
  const char *real = data == IR_BF16 && isa->bf16 ? isa->bf16 : "f32", *whole = isa->int8 ? isa->int8 : "int8";
  return (ir_target){data, &tf_micro_kernel_find(real)->kernel, data == IR_I8 ? &tf_micro_kernel_find(whole)->kernel : NULL};
}

void tf_micro_kernel_text(FILE *out, const ir_target *t) {
  if (t->real) fputs(tf_micro_kernel_find(t->real->name)->text, out);
  if (t->whole) fputs(tf_micro_kernel_find(t->whole->name)->text, out);
}
