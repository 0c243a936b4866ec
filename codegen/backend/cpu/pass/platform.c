/* What programs may use of a CPU: caches fill themselves, and each thread has its own part of the
 * workspace. */
#include "codegen/backend/cpu/pass/pass.h"

static const ir_space spaces[] = {{"memory", IR_SERIAL, false}, {"own", IR_THREAD, false}};

static const ir_notes notes = {.dump = cpu_dump,
                               .check = cpu_check,
                               .check_all = cpu_check_packs,
                               .uses = cpu_uses,
                               .begin = cpu_count_packs,
                               .enter = cpu_count_copies};

const ir_platform lower_cpu_platform = {
    .maps = 1u << IR_SERIAL | 1u << IR_THREAD, .n_spaces = 2, .spaces = spaces, .notes = &notes};
