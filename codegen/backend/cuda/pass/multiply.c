/* Tensor-core instructions, one row each. All are m16n8 with k = 8 * group. Register i of a, in
 * lane l: elements group * (l % 4) + e, e < group, of half i / 2 of the sum, in row l / 4 + 8 * (i
 * % 2). Register i of b: elements of half i in column l / 4. Sums as in print/fragment.c (PTX ISA,
 * 9.7.14). */
#include "codegen/backend/cuda/pass/pass.h"

#include <string.h>

enum { HALF = 16, TF32 = 8, BYTES = 32 }; /* of the sum, for one instruction */

static const cu_mma rows[] = {
    {{"mma_bf16", IR_BF16, IR_BF16, IR_F32, HALF / 8, 16, 8, HALF, IR_F32, false},
     "bf16",
     "bf16",
     "m16n8k16.row.col.f32.bf16.bf16.f32",
     "HMMA.16816.F32.BF16",
     true,
     false},
    {{"mma_f16", IR_F16, IR_F16, IR_F32, HALF / 8, 16, 8, HALF, IR_F32, false},
     "f16",
     "f16",
     "m16n8k16.row.col.f32.f16.f16.f32",
     "HMMA.16816.F32",
     true,
     false},
    {{"mma_tf32", IR_F32, IR_F32, IR_F32, TF32 / 8, 16, 8, TF32, IR_F32, false},
     "tf32",
     "tf32",
     "m16n8k8.row.col.f32.tf32.tf32.f32",
     "HMMA.1688.F32.TF32",
     false,
     false},
    {{"mma_s8", IR_I8, IR_I8, IR_I32, BYTES / 8, 16, 8, BYTES, IR_I32, false},
     "int8",
     "s8",
     "m16n8k32.row.col.s32.s8.s8.s32",
     "IMMA.16832.S8.S8",
     false,
     false},
    {{"mma_e4m3", IR_F8, IR_F8, IR_F32, BYTES / 8, 16, 8, BYTES, IR_F32, false},
     "f8",
     "e4m3",
     "m16n8k32.row.col.f32.e4m3.e4m3.f32",
     "QMMA.16832.F32.E4M3.E4M3",
     false,
     false},
    {{"wmma_bf16", IR_BF16, IR_BF16, IR_F32, HALF / 8, 16, 16, HALF, IR_F32, false},
     "bf16",
     "bf16",
     "nvcuda::wmma 16 x 16 x 16",
     "HMMA.16816.F32.BF16",
     true,
     true},
    {{"wmma_f16", IR_F16, IR_F16, IR_F32, HALF / 8, 16, 16, HALF, IR_F32, false},
     "f16",
     "f16",
     "nvcuda::wmma 16 x 16 x 16",
     "HMMA.16816.F32",
     true,
     true},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

const cu_mma *cu_mma_at(int i) { return i >= 0 && i < N_ROWS ? &rows[i] : NULL; }

const cu_mma *cu_mma_of(const ir_program *p) {
  const ir_kernel *k = p->machine.data == IR_I8 ? p->machine.whole : p->machine.real;
  for (int i = 0; k && i < N_ROWS; i++)
    if (k == &rows[i].kernel) return &rows[i];
  return NULL;
}

bool cu_has_short_sums(const ir_program *p) { return p->machine.data == IR_F8; }

bool cu_is_wmma(const ir_program *p) { return cu_mma_of(p) && cu_mma_of(p)->wmma; }

bool cu_machine(const char *dtype, bool wmma, ir_machine *machine) {
  *machine = (ir_machine){.data = IR_F32, .separate_sums = true};
  if (!wmma && (!dtype || !strcmp(dtype, "f32"))) return true;
  for (int i = 0; i < N_ROWS; i++)
    if (dtype && !strcmp(dtype, rows[i].dtype) && rows[i].wmma == wmma) {
      const bool whole = rows[i].kernel.c == IR_I32;
      machine->data = rows[i].kernel.a;
      *(whole ? &machine->whole : &machine->real) = &rows[i].kernel;
      return true;
    }
  return false;
}

double cu_rate(const ir_program *p) {
  const tf_arch *a = p->tree->arch;
  const int home = cu_home(a);
  const cu_mma *mma = cu_mma_of(p);
  double best = a->multiprocessor.plain;
  for (int u = 0; u < a->n_units; u++) {
    double n = (double)(a->units[u].mesh[0] * a->units[u].mesh[1]);
    for (int l = home + 1; l <= a->units[u].below; l++)
      n *= (double)(a->memories[l].mesh[0] * a->memories[l].mesh[1]);
    if (a->units[u].kinds >> TF_K_MAC & 1 && n > best) best = n;
  }
  return mma ? best * mma->kernel.group / 2 : best;
}

/* The outermost memory with independent instances: that of blocks. */
int cu_home(const tf_arch *a) {
  for (int l = 1; l < a->n_memories; l++)
    if (a->memories[l].mesh[0] * a->memories[l].mesh[1] > 1) return l;
  return 0;
}

bool cu_reaches(const tf_arch *a, int level) {
  const int home = cu_home(a);
  return !home || level < home;
}

int cu_group_columns(const ir_program *p) {
  return cu_has_short_sums(p) ? CU_GROUP_COLUMNS / 2 : CU_GROUP_COLUMNS;
}
