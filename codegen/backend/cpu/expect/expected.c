/* Expected time of a call: the time of its nests, and that in which memories deliver their data. */
#include "codegen/backend/cpu/expect/expect.h"

#include <math.h>

#include "codegen/backend/cpu/pass/cost.h"
#include "tileflow/tree.h"

/* Words of the architecture that an element of the tensor takes. */
static double words_each(const ir_program *p, int tensor) {
  const int b = p->buffer_of[tensor];
  const ir_type type = b < 0 ? IR_F32 : p->buffers[b].type;
  return (double)ir_bytes(type) / (double)sizeof(float);
}

/* Cycles in which a memory delivers what is read, and takes what is written: a line that is written
 * is fetched before. */
static double memory_cycles(const ir_program *p, const tf_result *r, int level) {
  enum { BOTH_WAYS = 2 };
  const tf_arch *a = p->tree->arch;
  const int n = p->tree->workload->n_tensors;
  double words = 0, instances = 1;
  for (int z = 0; z < n; z++) {
    const tf_counts *c = &r->counts[level * n + z];
    if (tf_cost_in_registers(p, z)) continue;
    words += ((double)c->read + BOTH_WAYS * (double)c->update) * words_each(p, z);
  }
  for (int l = 1; l <= level; l++)
    instances *= (double)(a->memories[l].mesh[0] * a->memories[l].mesh[1]);
  return words / a->memories[level].read_bw / instances;
}

_Static_assert(CPU_EXPECT_PARTS == (int)TF_COST_PARTS + (int)CPU_EXPECT_MEMORIES, "all parts");

const char *const cpu_expect_names[CPU_EXPECT_PARTS] = {
    [TF_COST_F32] = "f32",
    [TF_COST_BF16] = "bf16",
    [TF_COST_BYTES] = "int8",
    [TF_COST_FEW] = "few",
    [TF_COST_CHANNELS] = "channels",
    [TF_COST_GONE] = "gone",
    [TF_COST_WAITS] = "waits",
    [TF_COST_REST] = "rest",
    [TF_COST_WINDOW] = "window",
    [TF_COST_SIMPLE] = "simple",
    [TF_COST_ACCESS] = "access",
    [TF_COST_NARROW] = "narrow",
    [TF_COST_BYTE] = "byte",
    [TF_COST_QUOTIENT] = "quotient",
    [TF_COST_ROOT] = "root",
    [TF_COST_EXP] = "exp",
    [TF_COST_ERF] = "erf",
    [TF_COST_TRIG] = "trig",
    [TF_COST_SCATTER] = "scatter",
    [TF_COST_SCATTER_NARROW] = "scatter-narrow",
    [TF_COST_STRIDED] = "strided",
    [TF_COST_ROW] = "row",
    [TF_COST_SUM] = "sum",
    [TF_COST_SCALAR] = "scalar",
    [TF_COST_PARTS] = "memory-0",
    [TF_COST_PARTS + 1] = "memory-1",
    [TF_COST_PARTS + 2] = "memory-2",
};

/* Cycles of each unit of a part (arch-specs/cores/fitted.csv); of a part that is counted in cycles
 * of its cost, the factor of cycles that a core is seen to take. */
static const double cycles_each[CPU_EXPECT_PARTS] = {
    [TF_COST_F32] = 0.93,      [TF_COST_BF16] = 0.8,
    [TF_COST_BYTES] = 0.8,     [TF_COST_FEW] = 1.4,
    [TF_COST_CHANNELS] = 0.83, [TF_COST_GONE] = 0.069,
    [TF_COST_WAITS] = 0.098,   [TF_COST_REST] = 0,
    [TF_COST_WINDOW] = 0.65,   [TF_COST_SIMPLE] = 0.82,
    [TF_COST_ACCESS] = 0.15,   [TF_COST_NARROW] = 0.47,
    [TF_COST_BYTE] = 1.6,      [TF_COST_QUOTIENT] = 1.8,
    [TF_COST_ROOT] = 81,       [TF_COST_EXP] = 5.3,
    [TF_COST_ERF] = 12,        [TF_COST_TRIG] = 20,
    [TF_COST_SCATTER] = 0.28,  [TF_COST_SCATTER_NARROW] = 0.42,
    [TF_COST_STRIDED] = 0.048, [TF_COST_ROW] = 1.1,
    [TF_COST_SUM] = 0,         [TF_COST_SCALAR] = 2.6,
    [TF_COST_PARTS] = 1.1,     [TF_COST_PARTS + 1] = 0.63,
    [TF_COST_PARTS + 2] = 1,
};

bool cpu_expect_parts(const ir_program *p, const tf_micro_isa *isa, const tf_result *r,
                      double *part) {
  const int near = tf_arch_near_cache(p->tree->arch);
  for (int l = 0; l < CPU_EXPECT_MEMORIES; l++)
    part[TF_COST_PARTS + l] = l < near ? memory_cycles(p, r, l) : 0;
  return tf_cost_parts(p, isa, part);
}

/* The share of the settings of an index's dims at which it lies inside the tensor: a kernel may
 * skip the others. */
static double inside_share(const tf_workload *wl, const tf_ref *ref, int r) {
  const tf_tensor *z = &wl->tensors[ref->tensor];
  const tf_index *x = &ref->index[r];
  if (!z->pad[r]) return 1;
  if (x->n_terms < 1 || x->n_terms > 2) return 0;
  const tf_term one = x->terms[0], two = x->terms[x->n_terms - 1];
  const int64_t n = wl->dims[one.dim].extent, m = x->n_terms > 1 ? wl->dims[two.dim].extent : 1;
  int64_t in = 0;
  for (int64_t i = 0; i < n * m; i++) {
    const int64_t at = x->c + one.coef * (i / m) + two.coef * (i % m);
    in += at >= z->lo[r] && at < z->lo[r] + z->extent[r];
  }
  return (double)in / (double)(n * m);
}

/* Multiply-adds of float32 that every kernel of the op has to do; 0: unknown. */
static double multiply_adds(const ir_program *p, const tf_result *r, int o) {
  const tf_workload *wl = p->tree->workload;
  const tf_op *op = &wl->ops[o];
  double all = (double)r->ops[o].points;
  if (op->kinds != 1u << TF_K_MAC || words_each(p, op->out) < 1 || tf_workload_masked(wl)) return 0;
  for (int i = 0; i < op->n_reads; i++) {
    const int z = op->reads[i].tensor;
    if (words_each(p, z) < 1) return 0;
    for (int k = 0; k < wl->tensors[z].rank; k++)
      all *= inside_share(wl, &op->reads[i], k);
  }
  return all;
}

/* Cycles in which the multipliers do them. */
static double multiply_cycles(const ir_program *p, const tf_result *r) {
  const tf_arch *a = p->tree->arch;
  double cycles = 0;
  for (int o = 0; o < p->tree->workload->n_ops; o++) {
    const tf_unit *u = &a->units[r->ops[o].unit];
    double rate = u->rate * (double)(u->mesh[0] * u->mesh[1]);
    for (int l = 0; l <= u->below; l++)
      rate *= (double)(a->memories[l].mesh[0] * a->memories[l].mesh[1]);
    cycles += multiply_adds(p, r, o) / rate;
  }
  return cycles;
}

bool cpu_expected(const ir_program *p, const tf_micro_isa *isa, const tf_result *r,
                  tf_expected *e) {
  enum { CALL = 610 };
  double part[CPU_EXPECT_PARTS];
  if (!cpu_expect_parts(p, isa, r, part)) return false;
  *e = (tf_expected){.busy = CALL,
                     .outer = cycles_each[TF_COST_PARTS] * part[TF_COST_PARTS],
                     .unsure = cpu_expect_unsure(p->tree->workload)};
  for (int i = 0; i < TF_COST_PARTS; i++)
    e->busy += cycles_each[i] * part[i];
  e->busy = fmax(e->busy, multiply_cycles(p, r));
  for (int i = TF_COST_PARTS + 1; i < CPU_EXPECT_PARTS; i++)
    e->inner = fmax(e->inner, cycles_each[i] * part[i]);
  return true;
}

/* The longer of both, and more where they are similar, as neither hides all of the other. */
double tf_expected_cycles(const tf_expected *e, double left) {
  enum { APART = 3 };
  const double moves = fmax((1 - left) * e->outer, e->inner);
  return pow(pow(e->busy, APART) + pow(moves, APART), 1.0 / APART);
}
