/* Evaluates in the mapping's own order, as the model counts: like the CPU, without its passes that
 * move work between ops. Tests compare counts with it. */
#include "codegen/backend/cpu/pass/pass.h"
#include "codegen/backend/target.h"

static const lower_pass passes[] = {
    {"rows", lower_join_rows}, {"share", lower_share}, {"unused", lower_drop_unused}, {NULL, NULL}};

static bool machine_of(const tf_emit_options *o, ir_machine *machine, tf_diags *d) {
  (void)o, (void)d;
  *machine = (ir_machine){.data = IR_F32};
  return true;
}

const tf_target tf_target_model = {
    .name = "model",
    .description = "loops in the mapping's own order",
    .lower = {.platform = &lower_cpu_platform,
              .depth = 1,
              .close_by = lower_fits_near_cache,
              .nest = lower_product,
              .passes = passes},
    .machine = machine_of,
    .ranked_as = "cpu",
    .run = ir_run,
};
