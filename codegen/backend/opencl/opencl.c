/* OpenCL C, for whatever device has a compiler for it: CUDA's kernels of the plain units, which use
 * no more of a device than OpenCL promises of all. */
#include "codegen/backend/opencl/opencl.h"

#include <string.h>

#include "codegen/backend/cuda/box/box.h"
#include "codegen/backend/cuda/pass/pass.h"

static const lower_pass passes[] = {
    {"grid", lower_cuda_grid},       {"split", lower_cuda_split},
    {"tile", lower_cuda_tile},       {"stage", lower_cuda_stage},
    {"threads", lower_cuda_threads}, {"spaces", lower_cuda_spaces},
    {"unused", lower_drop_unused},   {NULL, NULL},
};

static const struct {
  const char *dtype;
  ir_type type;
} types[] = {{"f32", IR_F32}, {"bf16", IR_BF16}, {"f16", IR_F16}, {"int8", IR_I8}};

/* A dot product of four bytes by four (Mali's arm_dot, cl_khr_integer_dot_product's dot), added to
 * a sum of 32 bits. */
static const ir_kernel dot = {"dot", IR_I8, IR_I8, IR_I32, 4, 1, 1, 4, IR_I32, false};

static bool owns(const char *isa) { return !strcmp(isa, "dot") || !strcmp(isa, "plain"); }

static bool machine_of(const tf_emit_options *o, ir_machine *machine, tf_diags *d) {
  const char *dtype = o->dtype ? o->dtype : "f32";
  *machine = (ir_machine){.separate_sums = true, .target_bits = CU_IS_LEAST};
  if (!o->isa || strcmp(o->isa, "plain") != 0) machine->whole = &dot;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (!strcmp(dtype, types[i].dtype)) {
      machine->data = types[i].type;
      return true;
    }
  return tf_fail(d, (tf_loc){0}, TF_E_NAME,
                 "target opencl has no data of '%.40s'; known: f32, bf16, f16, int8", dtype);
}

static double cycles_of(const tf_tree *tree, const tf_emit_options *o, tf_diags *d) {
  ir_machine machine;
  return machine_of(o, &machine, d) ? cu_cycles(tree, &tf_target_opencl.lower, &machine, d) : -1;
}

/* Products of windows are for tensor cores in boxes; those of the plain units are searched. */
static tf_tree *form(const tf_arch *arch, const tf_workload *wl, int k) {
  bool windows = false;
  for (int o = 0; o < wl->n_ops; o++)
    for (int i = 0; i < wl->ops[o].n_reads; i++)
      windows |= cu_box_is_window(wl, &wl->ops[o].reads[i]);
  return windows ? NULL : cu_form(arch, wl, k);
}

const tf_target tf_target_opencl = {
    .name = "opencl",
    .description =
        "OpenCL C: CUDA's kernels in float32, or by dot products of int8, for any device",
    .lower = {.platform = &lower_cuda_platform,
              .depth = 1,
              .close_by = lower_cuda_close_by,
              .passes = passes},
    .machine = machine_of,
    .print = cl_print,
    .form = form,
    .cycles = cycles_of,
    .whole = true,
    .reaches = cu_reaches,
    .able = TF_EMIT_BLOCKS,
    .isas = "dot and plain",
    .owns = owns,
    .run = ir_run,
};
