/* A generic machine whose memories are filled by copies, double-buffered where the architecture
 * says so; prints loops only. */
#include "codegen/backend/target.h"
#include "codegen/intrin/micro.h"
#include "codegen/lower/lower.h"

static const ir_space spaces[] = {{"memory", IR_SERIAL, false}, {"near", IR_SERIAL, true}};
static const ir_platform platform = {.maps = 1u << IR_SERIAL, .n_spaces = 2, .spaces = spaces};

static const lower_pass passes[] = {
    {"share", lower_share}, {"unused", lower_drop_unused}, {NULL, NULL}};

/* It has no instructions, but checks the names all the same. */
static bool machine_of(const tf_emit_options *o, ir_machine *machine, tf_diags *d) {
  const tf_micro_isa *isas[TF_MICRO_MOST_ISAS];
  ir_type data;
  *machine = (ir_machine){.data = IR_F32};
  return tf_micro_isas(o, isas, d) && tf_micro_data(o->dtype, &data, d);
}

const tf_target tf_target_staged = {
    .name = "staged",
    .description = "loops alone",
    .lower = {.platform = &platform, .copies = true, .depth = 2, .passes = passes},
    .machine = machine_of,
    .ranked_as = "cpu",
    .run = ir_run,
};
