/* The CPU target: memories are caches, which fill themselves; instances are threads; products go to
 * micro-kernels. */
#include "codegen/backend/cpu/cpu.h"

#include "codegen/backend/cpu/expect/expect.h"
#include "codegen/backend/cpu/pass/cost.h"
#include "codegen/backend/cpu/pass/pass.h"

static void join_rows(lowering *w) {
  if (w->p->machine.choices.at[TF_CHOICE_AT] != LOW_AT_APART) lower_join_rows(w);
}

static const lower_pass passes[] = {
    {"late", lower_divide_late},
    {"windows", lower_windows},
    {"rows", join_rows},
    {"share", lower_share},
    {"round", lower_fuse_rounding},
    {"again", lower_cache_panels},
    {"prefetch", lower_prefetch},
    {"merge", lower_merge_rows},
    {"blocks", lower_block_channels},
    {"around", lower_widen_slabs},
    {"unused", lower_drop_unused},
    {"apart", lower_pad_pitch},
    {"ahead", lower_overlap_producers},
    {"once", lower_hoist_copies},
    {NULL, NULL},
};

static bool machine_of(const tf_emit_options *o, ir_machine *machine, tf_diags *d) {
  const tf_micro_isa *isas[TF_MICRO_MOST_ISAS];
  ir_type data;
  if (!tf_micro_isas(o, isas, d) || !tf_micro_data(o->dtype, &data, d)) return false;
  *machine = tf_micro_machine(isas[0], data);
  machine->choices = o->choices;
  return true;
}

/* The kernel of the best instruction set that the options name; NULL: an error. */
static ir_program *kernel_of(const tf_tree *tree, const tf_emit_options *o,
                             const tf_micro_isa **isa, tf_diags *d) {
  const tf_micro_isa *isas[TF_MICRO_MOST_ISAS];
  ir_machine machine;
  if (!machine_of(o, &machine, d) || !tf_micro_isas(o, isas, d)) return NULL;
  *isa = isas[0];
  machine = tf_cpu_machine(isas[0], machine.data, tree->workload);
  machine.choices = o->choices;
  return lower_kernel(tree, &tf_target_cpu.lower, &machine, d);
}

static double cycles_of(const tf_tree *tree, const tf_emit_options *o, tf_diags *d) {
  const tf_micro_isa *isa;
  ir_program *p = kernel_of(tree, o, &isa, d);
  const double cycles = p ? tf_cost(p, isa) : -1;
  if (p && cycles < 0) tf_out_of_memory(d);
  ir_free(p);
  return cycles;
}

static bool expected_of(const tf_tree *tree, const tf_emit_options *o, tf_expected *e,
                        tf_diags *d) {
  const tf_micro_isa *isa;
  ir_program *p = kernel_of(tree, o, &isa, d);
  const bool ok = p && (cpu_expected(p, isa, o->result, e) || tf_out_of_memory(d));
  ir_free(p);
  return ok;
}

/* Multiply-adds of the chosen data type per vector operation, by the fastest kernel that exists for
 * any operands. Kernels of tiles multiply whole groups of k for m_round rows at once. */
static double rate_of(const tf_emit_options *o, tf_diags *d) {
  static const ir_operand without_sign = {IR_U8, 0, UINT8_MAX}, small = {IR_I8, -32, 32};
  const tf_micro_isa *isas[TF_MICRO_MOST_ISAS];
  ir_machine machine;
  if (!machine_of(o, &machine, d) || !tf_micro_isas(o, isas, d)) return 1;
  const ir_kernel *k = machine.data == IR_I8     ? machine.whole
                       : machine.data == IR_BF16 ? machine.real
                                                 : NULL;
  if (machine.data == IR_I8) tf_micro_in_fours(isas[0], true, &machine);
  if (machine.fours) k = tf_micro_fours(&machine, &without_sign, &small);
  return k ? (k->m_round > 1 ? k->m_round : 1) * k->group / tf_micro_group_time(k) : 1;
}

const tf_target tf_target_cpu = {
    .name = "cpu",
    .description = "C17 with micro-kernels",
    .lower = {.platform = &lower_cpu_platform,
              .depth = 1,
              .skips = true,
              .close_by = lower_fits_near_cache,
              .nest = lower_product,
              .terms = lower_terms_of,
              .passes = passes},
    .machine = machine_of,
    .print = tf_cpu_print,
    .cycles = cycles_of,
    .expected = expected_of,
    .rate = rate_of,
    .able = TF_EMIT_HERE | TF_EMIT_TUNED | TF_EMIT_NETWORKS | TF_EMIT_MICRO | TF_EMIT_BLOCKS,
    .run = ir_run,
};
