/* The NPU: its programs are generated from the mapping itself, step by step; the loop IR is only
 * for display, with memories that are filled by copies. */
#include "codegen/backend/npu/npu.h"

#include <math.h>
#include <string.h>

#include "codegen/backend/npu/pass/pass.h"
#include "codegen/lower/lower.h"

static const ir_space spaces[] = {{"memory", IR_SERIAL, false}, {"near", IR_SERIAL, true}};
static const ir_platform platform = {.maps = 1u << IR_SERIAL, .n_spaces = 2, .spaces = spaces};
static const lower_pass passes[] = {
    {"share", lower_share}, {"unused", lower_drop_unused}, {NULL, NULL}};

/* Types follow from the words of the workload's tensors. */
static bool machine_of(const tf_emit_options *o, ir_machine *machine, tf_diags *d) {
  *machine = (ir_machine){.data = IR_F32};
  if (!o->dtype || !strcmp(o->dtype, "f32")) return true;
  return tf_fail(d, (tf_loc){0}, TF_E_NAME,
                 "target npu has no data of '%.40s': types follow from word-bits", o->dtype);
}

static double npu_cycles(const tf_tree *tree, const tf_emit_options *o, tf_diags *d) {
  npu_terms terms;
  const npu_limits most = {o->most_cycles > 0 ? o->most_cycles : INFINITY, NPU_LONGEST};
  if (o->most_cycles > 0)
    npu_predict_once(o->memo, tree, most, &terms, d);
  else
    npu_expect(tree, &terms, d);
  if (o->work) *o->work += terms.work;
  return terms.cycles;
}

static bool suits(const tf_arch *arch, tf_diags *d) {
  npu_target t;
  return npu_target_of(arch, &t, d);
}

/* Programs access tensors in the outermost memory; caches shared by cores hold no tensors of their
 * own. */
static bool reaches(const tf_arch *arch, int level) {
  npu_target t;
  tf_diags *d = tf_diags_new();
  const bool known = d && npu_target_of(arch, &t, d);
  tf_diags_free(d);
  return !known || t.memory_of[level] == 0;
}

const tf_target tf_target_npu = {
    .name = "npu",
    .description = "programs of the NPU's simulator",
    .lower = {.platform = &platform, .copies = true, .depth = 2, .passes = passes},
    .machine = machine_of,
    .form = npu_form,
    .cycles = npu_cycles,
    .whole = true,
    .fits = npu_fits,
    .settle = npu_settle,
    .reaches = reaches,
    .suits = suits,
    .able = TF_EMIT_NETWORKS,
    .print = tf_npu_print,
    .run = ir_run,
};
