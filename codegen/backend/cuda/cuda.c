/* CUDA: independent loops become the blocks of a grid, points become threads, and tiles are copied
 * to shared memory. */
#include "codegen/backend/cuda/cuda.h"

#include <stdio.h>
#include <string.h>

#include "codegen/backend/cuda/pass/pass.h"
#include "codegen/backend/cuda/window/window.h"

const lower_pass tf_cuda_passes[] = {
    {"grid", lower_cuda_grid},
    {"split", lower_cuda_split},
    {"rows", lower_cuda_tensor_rows},
    {"tile", lower_cuda_tile},
    {"window", lower_cuda_window},
    {"tensor", lower_cuda_tensor},
    {"stage", lower_cuda_stage},
    {"threads", lower_cuda_threads},
    {"spaces", lower_cuda_spaces},
    {"unused", lower_drop_unused},
    {NULL, NULL},
};

/* The device features that kernels may use; a CPU's instruction set is ignored. sm_80 is the
 * default, and runs on all later devices; wmma is the portable baseline: fragments as C++ defines
 * them. */
static bool isa_of(const tf_emit_options *o, ir_machine *machine, tf_diags *d) {
  const char *isa = o->isa ? o->isa : "";
  machine->target_bits = !strcmp(isa, "sm_90a") && ir_is_coded(machine->data) ? CU_MAY_GROUP : 0;
  if (strncmp(isa, "sm_", 3) != 0 || !strcmp(isa, "sm_80") || !strcmp(isa, "sm_90a")) return true;
  return tf_fail(d, (tf_loc){0}, TF_E_NAME,
                 "target cuda has no isa '%.40s'; known: sm_80, sm_90a, wmma", isa);
}

static bool machine_of(const tf_emit_options *o, ir_machine *machine, tf_diags *d) {
  char known[80] = "f32";
  const bool wmma = o->isa && !strcmp(o->isa, "wmma");
  size_t n = wmma ? 0 : strlen(known);
  if (cu_machine(o->dtype, wmma, machine)) return isa_of(o, machine, d);
  for (int i = 0; cu_mma_at(i) && n < sizeof known; i++)
    if (cu_mma_at(i)->wmma == wmma)
      n +=
          (size_t)snprintf(known + n, sizeof known - n, "%s%s", n ? ", " : "", cu_mma_at(i)->dtype);
  if (wmma)
    return tf_fail(d, (tf_loc){0}, TF_E_NAME, "target cuda has no wmma of '%.40s'; known: %s",
                   o->dtype ? o->dtype : "f32", known);
  return tf_fail(d, (tf_loc){0}, TF_E_NAME, "target cuda has no data of '%.40s'; known: %s",
                 o->dtype, known);
}

static bool owns(const char *isa) { return !strncmp(isa, "sm_", 3) || !strcmp(isa, "wmma"); }

const char *tf_cuda_unused(const char *isa, const char *dtype) {
  ir_machine machine;
  if (strcmp(isa, "sm_90a") != 0 || !cu_machine(dtype, false, &machine) ||
      ir_is_coded(machine.data))
    return NULL;
  return dtype ? "sm_90a's warpgroups multiply bf16, f16 and f8 alone: the kernel is that of sm_80"
               : "without --dtype data are float32, which sm_90a's warpgroups do not multiply: "
                 "--dtype bf16, f16 or f8";
}

static double cycles_of(const tf_tree *tree, const tf_emit_options *o, tf_diags *d) {
  ir_machine machine;
  return machine_of(o, &machine, d) ? cu_cycles(tree, &tf_target_cuda.lower, &machine, d) : -1;
}

const tf_target tf_target_cuda = {
    .name = "cuda",
    .description = "CUDA C++: products on tensor cores, or in float32",
    .lower = CU_LOWER,
    .machine = machine_of,
    .print = tf_cuda_print,
    .form = cu_form,
    .cycles = cycles_of,
    .whole = true,
    .reaches = cu_reaches,
    .able = TF_EMIT_NETWORKS | TF_EMIT_CHANNELS_LAST | TF_EMIT_BLOCKS,
    .isas = "sm_80, sm_90a and wmma",
    .owns = owns,
    .unused = tf_cuda_unused,
    .run = ir_run,
};
