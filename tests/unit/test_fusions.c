/* train: benefits of fusions against the table of levels.md 2.5 (thesis figure 4.5), and against
 * kernels of plain sets; the front of memory against time. */
#include "base/rng.h"
#include "tests/unit/case.h"
#include "tests/unit/page.h"
#include "tileflow/net.h"

/* 4 words and 8 points a cycle. */
static const char arch[] =
    "architecture:\n  name: plain\n  word-bits: 32\n  memories:\n  - {name: DRAM, bandwidth: 4}\n"
    "  - {name: Buffer, capacity: 64 KiB, bandwidth: 64}\n  compute:\n"
    "  - {name: alu, below: Buffer, mesh: [8, 1], ops: [mac, add, sub, mul, div, max, exp, tanh, "
    "sqrt, select, relu]}\n";

static tf_train *weigh(test_case *e, const char *workload, const tf_train_opts *o) {
  *e = case_of(arch, workload);
  tf_train *t = tf_train_of(e->spec->arch, e->spec->workload, o, e->d);
  if (!t) case_complain(e->d);
  return t;
}

/* ---- the table ------------------------------------------------------------------------------- */
/* Operators with one input are linear maps (their gradient reads no input), those with several
 * products.  F is what stands behind the pair: the loss. */
static const struct {
  int line;
  const char *ops, *by;
  bool many_first, many_second;
  double words, points, kernels;
} table[] = {
    /* A 12 x 10 -1- B 12 x 10 -2- C 12 x 5: 4 T_B */
    {__LINE__, "  - B[i,j] = A[i,j] * 3\n  - C[i] += B[i,j] * 0.5\n  - L[] += C[i] * C[i]\n", "A",
     false, false, 4 * 120, 0, 2},
    /* A -1- B; B, C -2- D: 5 T_B - T_A and op 1 again */
    {__LINE__,
     "  - B[i,j] += A[i,j,k] * 3\n  - D[i,l] += B[i,j] * C[j,l]\n  - L[] += D[i,l] * D[i,l]\n",
     "A,C", false, true, 5 * 120 - 840, -840, 2},
    /* A, B -1- C -2- D: 5 T_C - T_D and the gradient of op 2 again */
    {__LINE__, "  - C[i,j] += A[i,k] * B[k,j]\n  - D[i] += C[i,j] * 0.5\n  - L[] += D[i] * D[i]\n",
     "A,B", true, false, 5 * 120 - 12, -120, 2},
    /* A, B -1- C; C, D -2- E: 6 T_C - T_D - T_E - T_A - T_B, op 1 and the gradient of op 2 by C
       again */
    {__LINE__,
     "  - C[i,j] += A[i,k] * B[k,j]\n  - E[i,l] += C[i,j] * D[j,l]\n  - L[] += E[i,l] * E[i,l]\n",
     "A,B,D", true, true, 6 * 120 - 50 - 60 - 84 - 70, -840 - 600, 2},
};

static void test_table(void) {
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    page p = {.len = 0};
    say(&p, "workload:\n  dims: {i: 12, j: 10%s%s}\n  ops:\n%s",
        strstr(table[i].ops, ",k]") ? ", k: 7" : "", strstr(table[i].ops, "l]") ? ", l: 5" : "",
        table[i].ops);
    test_case e;
    const tf_train_opts o = {.step = {.of = "L", .by = table[i].by, .step = TF_UPDATE_SGD},
                             .launch = 100};
    tf_train *t = weigh(&e, p.text, &o);
    const tf_train_fusion *f = t ? t->fusions : NULL;
    CHECK_ROW(&table[i], f && t->n_fusions == 2);
    CHECK_ROW(&table[i],
              f && f->many_first == table[i].many_first && f->many_second == table[i].many_second);
    CHECK_ROW(&table[i], f && f->words == table[i].words && f->points == table[i].points);
    CHECK_ROW_I64(&table[i], f ? f->kernels : 0, (int64_t)table[i].kernels);
    CHECK_ROW(&table[i],
              f && fabs(f->benefit - (table[i].words / 4 + table[i].points / 8 + 200)) < 1e-9);
    tf_train_free(t);
    case_drop(&e);
  }
}

/* ---- the front ------------------------------------------------------------------------------- */
static const char deep[] =
    "workload:\n  dims: {m: 16, k: 16, l: 16}\n  ops:\n  - H1[m,l] += X[m,k] * W1[k,l]\n"
    "  - G1[m,l] = tanh(H1[m,l])\n  - H2[m,l] += G1[m,k] * W2[k,l]\n  - G2[m,l] = tanh(H2[m,l])\n"
    "  - H3[m,l] += G2[m,k] * W3[k,l]\n  - G3[m,l] = tanh(H3[m,l])\n"
    "  - H4[m,l] += G3[m,k] * W4[k,l]\n  - L[] += H4[m,l] * H4[m,l]\n";

static void test_front(void) {
  test_case e;
  const tf_train_opts o = {
      .step = {.of = "L", .by = "W1,W2,W3,W4", .step = TF_UPDATE_SGD},
      .front = true,
      .plan = {.max_ops = 3, .budget = {.max_evals = 20, .threads = 1, .seed = 1}}};
  tf_train *t = weigh(&e, deep, &o);
  if (!CHECK(t != NULL)) return;
  CHECK(t->all && t->weighed == (int64_t)1 << t->n_kept && t->n_points > 1);
  for (int i = 0; i < t->n_points; i++) {
    const tf_train_point *p = &t->points[i];
    if (i) CHECK(p->figures.cycles > p[-1].figures.cycles && p->bytes < p[-1].bytes);
    /* the same plan of the same step, made apart */
    tf_grad_options again = o.step;
    again.again = p->n_again ? p->again : NULL;
    char *yaml = tf_grad(e.spec->workload, &again, e.d);
    tf_spec *s = yaml ? case_spec(yaml, e.d) : NULL;
    tf_net_plan *plan = s ? tf_net_plan_of(e.spec->arch, s->workload, &o.plan, e.d) : NULL;
    tf_net_memory memory = {0};
    CHECK(plan && tf_net_memory_of(plan, s->workload, 0, &memory, e.d));
    CHECK_I64(memory.bytes, p->bytes);
    CHECK(plan && plan->total.cycles == p->figures.cycles);
    tf_net_memory_free(&memory);
    tf_net_plan_free(plan);
    tf_spec_free(s);
    free(yaml);
  }
  tf_train_free(t);
  case_drop(&e);
}

int main(void) {
  test_table();
  test_front();
  return check_report();
}
