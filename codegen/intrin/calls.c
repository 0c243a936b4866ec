/* Types and rows by their kernel, and calls of instructions, as C. */
#include <string.h>

#include "codegen/intrin/micro.h"

const char *tf_micro_type(ir_type t) {
  static const char *const name[] = {
      [IR_F32] = "float", [IR_BF16] = "uint16_t", [IR_F16] = "uint16_t", [IR_F8] = "uint8_t",
      [IR_I8] = "int8_t", [IR_I16] = "int16_t",   [IR_I32] = "int32_t",  [IR_I64] = "int64_t"};
  return name[t];
}

const tf_micro_kernel *tf_micro_kernel_of(const ir_kernel *kernel) { return (const void *)kernel; }

void tf_micro_call(FILE *out, const tf_micro_kernel *k, const char *const with[3]) {
  for (const char *p = k->call; *p;) {
    const size_t n = strspn(p, "_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
    const char *put = NULL;
    for (int m = 0; m < 3 && n; m++)
      if (strlen(k->operand[m]) == n && !strncmp(p, k->operand[m], n)) put = with[m];
    if (put)
      fputs(put, out);
    else
      fprintf(out, "%.*s", n ? (int)n : 1, p);
    p += n ? n : 1;
  }
}
