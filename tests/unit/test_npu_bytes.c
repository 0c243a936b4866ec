/* What instructions touch, in runs and in pieces, beside elements one by one and an array. */
#include <stdlib.h>

#include "base/rng.h"
#include "codegen/backend/npu/pass/bytes.h"
#include "codegen/backend/npu/sim/touch.h"
#include "tests/unit/case.h"

enum { UNITS = 4096, ALIGN = 32 };

static tf_npu *machine(bool rows) {
  tf_npu *p = npu_new();
  p->machine.n_memories = 1;
  p->machine.memory[0] = (npu_memory){"M", 0, ALIGN};
  p->machine.cube = (npu_cube){.m = 4, .n = rows ? 1 : 2, .k = 8, .rows = rows};
  npu_add_tensor(p, (npu_tensor){.name = "T", .type = NPU_F16, .words = UNITS, .out = true});
  return p;
}

/* ---- runs ----------------------------------------------------------------------------------- */
typedef struct {
  const tf_npu *p;
  int operand;
  bool in[UNITS];
} touched;

static void by_run(void *ctx, int operand, int memory, int64_t at, int64_t end) {
  touched *t = ctx;
  CHECK(operand == t->operand && memory == 0 && at < end && at >= 0 && end <= UNITS);
  for (; at < end; at++)
    t->in[at] = true;
}

static void by_element(void *ctx, const npu_instr *i, int operand, int64_t byte) {
  touched *t = ctx;
  const npu_operand *o = operand ? &i->from[operand - 1] : &i->to;
  for (int64_t k = 0; k < npu_type_bytes(o->type) && operand == t->operand; k += NPU_UNIT)
    t->in[(byte + k) / NPU_UNIT] = true;
}

static npu_operand somewhere(tf_rng *rng) {
  return (npu_operand){
      .tensor = 0, .type = tf_rng_below(rng, 2) ? NPU_F32 : NPU_F16, .base = UNITS / 2 * NPU_UNIT};
}

/* A copy, a window or a vector operation over dims that stay in memory, some of them backwards; or
 * a product. */
static npu_instr drawn(tf_rng *rng, bool rows) {
  static const npu_op ops[] = {NPU_COPY, NPU_LOAD, NPU_ADD, NPU_MAD};
  npu_instr i = {.op = ops[tf_rng_below(rng, 4)], .to = somewhere(rng)};
  for (int k = 0; k < 3; k++)
    i.from[k] = somewhere(rng);
  if (i.op == NPU_MAD) {
    i.mad.m = 1 + tf_rng_below(rng, 10), i.mad.n = 1 + tf_rng_below(rng, 10),
    i.mad.k = 1 + tf_rng_below(rng, 20);
    for (int k = 0; k < 3; k++)
      i.mad.ld[k] = rows ? 20 + tf_rng_below(rng, 9) : tf_rng_below(rng, 2) * 120;
    return i;
  }
  i.n_dims = (int)tf_rng_below(rng, 4);
  for (int n = 0; n < i.n_dims; n++) {
    i.dim[n].count = 1 + tf_rng_below(rng, 5);
    for (int k = 0; k < 3; k++)
      i.dim[n].step[k] = (int64_t)tf_rng_below(rng, 61) - 20;
    if (tf_rng_below(rng, 2)) i.dim[n].step[tf_rng_below(rng, 3)] = 1;
  }
  if (i.op != NPU_LOAD) return i;
  for (int e = 0; e < 2; e++) {
    i.window.origin[e] = (int64_t)tf_rng_below(rng, 5) - 2;
    i.window.size[e] = 1 + tf_rng_below(rng, 6);
  }
  for (int n = 0; n < i.n_dims; n++)
    *(tf_rng_below(rng, 2) ? &i.dim[n].high : &i.dim[n].wide) = (int64_t)tf_rng_below(rng, 5) - 2;
  return i;
}

static void check_runs(uint64_t seed) {
  tf_rng rng = tf_rng_new(seed, 0);
  tf_npu *p = machine(seed % 2);
  const npu_instr i = drawn(&rng, seed % 2);
  for (int k = 0; k <= npu_facts_of(i.op)->sources; k++) {
    touched runs = {p, k, {false}}, loose = {p, k, {false}}, elements = {p, k, {false}};
    int wrong = 0, lost = 0;
    npu_runs(p, &i, k, false, by_run, &runs);
    npu_runs(p, &i, k, true, by_run, &loose);
    npu_touch(p, &i, by_element, &elements);
    for (int u = 0; u < UNITS; u++) {
      wrong += runs.in[u] != elements.in[u];
      lost += elements.in[u] && !loose.in[u];
    }
    CHECK_I64(wrong, 0);
    CHECK_I64(lost, 0);
    if (wrong || lost)
      printf("seed %llu, operand %d of '%s'\n", (unsigned long long)seed, k,
             npu_facts_of(i.op)->name);
  }
  tf_npu_free(p);
}

/* ---- pieces --------------------------------------------------------------------------------- */
/* Sums over ranges by pieces, and by units: some add, some set. */
static void check_pieces(uint64_t seed) {
  tf_rng rng = tf_rng_new(seed, 0);
  static int want[UNITS];
  npu_pieces of[NPU_MEMORIES] = {{0}};
  tf_npu *p = machine(false);
  if (!CHECK(npu_pieces_new(of, p, sizeof(int)))) return;
  memset(want, 0, sizeof want);
  for (int k = 1; k < 200; k++) {
    const int64_t at = tf_rng_below(&rng, UNITS - 1),
                  end = at + 1 + tf_rng_below(&rng, (uint32_t)(UNITS - at));
    const bool sets = tf_rng_below(&rng, 3) == 0;
    for (int64_t u = at; u < end; u++)
      want[u] = sets ? k : want[u] + k;
    if (sets) *(int *)npu_pieces_join(&of[0], at, end) = k;
    if (!sets) npu_pieces_cut(&of[0], at, end);
    for (int64_t u = at; u < end && !sets; u = npu_pieces_next(&of[0], u))
      *(int *)npu_pieces_value(&of[0], u) += k;
    int wrong = 0;
    for (int64_t u = 0; u < UNITS; u = npu_pieces_next(&of[0], u))
      for (int64_t v = u; v < npu_pieces_next(&of[0], u) && v < UNITS; v++)
        wrong += *(int *)npu_pieces_value(&of[0], u) != want[v];
    if (!CHECK_I64(wrong, 0)) break;
  }
  npu_pieces_free(of);
  tf_npu_free(p);
}

int main(void) {
  for (uint64_t seed = 1; seed <= 4000; seed++)
    check_runs(seed);
  for (uint64_t seed = 1; seed <= 40; seed++)
    check_pieces(seed);
  return check_report();
}
