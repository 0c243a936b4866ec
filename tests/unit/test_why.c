/* Causes of words, worked out by hand.  That they add up is held on random cases by test_cost and
 * by the oracle. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/eval/hooks.h"
#include "tests/unit/case.h"
#include "tileflow/tileflow.h"

/* Two memories; %s: what stands after Buf's name. */
#define MACHINE(buf)                                                                               \
  "architecture:\n  name: two\n  clock: 1 GHz\n  memories:\n  - {name: DRAM, bandwidth: 2}\n"      \
  "  - {name: Buf, bandwidth: 4" buf                                                               \
  "}\n  compute:\n  - {name: pe, ops: [mac, add, mul, exp, max, div], below: Buf}\n"
#define PRODUCT                                                                                    \
  "workload:\n  name: w\n  dims: {m: 4, n: 4, k: 4}\n  ops:\n  - C[m,n] += A[m,k] * "              \
  "B[k,n]\nmapping: |\n"
#define TWO                                                                                        \
  "workload:\n  name: w\n  dims: {m: 4, x: 2, y: 2, k: 3}\n  ops:\n  - C[m,x] += A[m,k] * "        \
  "B[k,x]\n"                                                                                       \
  "  - E[m,y] += A[m,k] * D[k,y]\nmapping: |\n"
#define CHAIN                                                                                      \
  "workload:\n  name: w\n  dims: {m: 4, l: 3, k: 2, n: 5}\n  ops:\n  - C[m,l] += A[m,k] * "        \
  "B[k,l]\n"                                                                                       \
  "  - E[m,n] += C[m,l] * D[l,n]\nmapping: |\n"
#define WINDOW                                                                                     \
  "workload:\n  name: w\n  dims: {p: 4, q: 4, r: 3, s: 3}\n  ops:\n  - O[p,q] += I[p+r,q+s] * "    \
  "W[r,s]\nmapping: |\n"

typedef struct {
  int line;
  const char *text, *tensor;
  int64_t cause;  /* tf_cause */
  tf_counts want; /* of all rows of the tensor that enter Buf for that cause */
  int64_t dim;    /* of the loop: letter; 0: none */
} row;

static const row rows[] = {
    /* The page's worked example: B passes four times, once for each m; 16 words are needed, m's
       other three steps bring 48. */
    {__LINE__,
     MACHINE("") PRODUCT "  DRAM for m=4 k=2\n    Buf for n=4 k=2\n      op C\n",
     "B",
     TF_WHY_FIRST,
     {16, 16, 0, 0, 0},
     0},
    {__LINE__,
     MACHINE("") PRODUCT "  DRAM for m=4 k=2\n    Buf for n=4 k=2\n      op C\n",
     "B",
     TF_WHY_LOOP,
     {48, 48, 0, 0, 0},
     'm'},
    {__LINE__,
     MACHINE("") PRODUCT "  DRAM for m=4 k=2\n    Buf for n=4 k=2\n      op C\n",
     "A",
     TF_WHY_FIRST,
     {16, 16, 0, 0, 0},
     0},
    /* k outermost: C leaves once for each of its two steps, and half of that comes back. */
    {__LINE__,
     MACHINE("") PRODUCT "  DRAM for k=2 m=4\n    Buf for n=4 k=2\n      op C\n",
     "C",
     TF_WHY_PARTIAL,
     {16, 16, 16, 16, 0},
     'k'},
    {__LINE__,
     MACHINE("") PRODUCT "  DRAM for k=2 m=4\n    Buf for n=4 k=2\n      op C\n",
     "C",
     TF_WHY_FIRST,
     {0, 0, 16, 16, 0},
     0},
    /* Four instances, one a row of C: each has its own B, and without multicast DRAM is read for
       each. */
    {__LINE__,
     MACHINE(", mesh: [4, 1]") PRODUCT "  DRAM spatial m=4@x\n    Buf for n=4 k=4\n      op C\n",
     "B",
     TF_WHY_COPIES,
     {48, 0, 0, 0, 0},
     'm'},
    {__LINE__,
     MACHINE(", mesh: [4, 1], network: {multicast: false}") PRODUCT
     "  DRAM spatial m=4@x\n    Buf for n=4 k=4\n      op C\n",
     "B",
     TF_WHY_COPIES,
     {48, 48, 0, 0, 0},
     'm'},
    /* B is given up while E is made: three of four m bring it anew.  A is touched by both and
       stays. */
    {__LINE__,
     MACHINE("") TWO "  DRAM for m=4\n    Seq\n      Buf for x=2 k=3\n        op C\n"
                     "      Buf for y=2 k=3\n        op E\n",
     "B",
     TF_WHY_SEQ,
     {18, 18, 0, 0, 0},
     0},
    {__LINE__,
     MACHINE("") TWO "  DRAM for m=4\n    Seq\n      Buf for x=2 k=3\n        op C\n"
                     "      Buf for y=2 k=3\n        op E\n",
     "A",
     TF_WHY_FIRST,
     {12, 12, 0, 0, 0},
     0},
    {__LINE__,
     MACHINE("") TWO "  DRAM for m=4\n    Shar\n      Buf for x=2 k=3\n        op C\n"
                     "      Buf for y=2 k=3\n        op E\n",
     "B",
     TF_WHY_SEQ,
     {0, 0, 0, 0, 0},
     0},
    /* Side by side each child reads A for itself. */
    {__LINE__,
     MACHINE(", mesh: [2, 1]") TWO "  DRAM\n    Para\n      Buf for m=4 x=2 k=3\n        op C\n"
                                   "      Buf for m=4 y=2 k=3\n        op E\n",
     "A",
     TF_WHY_SPLIT,
     {12, 12, 0, 0, 0},
     0},
    /* One child has A spread over two instances, the other whole in one: what the first left is of
       no use. */
    {__LINE__,
     MACHINE(", mesh: [2, 1]") TWO
     "  DRAM\n    Seq\n      DRAM spatial m=2@x\n        Buf for m=2 x=2 k=3\n          op C\n"
     "      Buf for m=4 y=2 k=3\n        op E\n",
     "A",
     TF_WHY_LAYOUT,
     {12, 12, 0, 0, 0},
     0},
    /* 4 x 4 outputs by 2 x 2 tiles read 6 x 6 inputs; 4 tiles of 4 x 4, of which a step finds 8, 4
       and 8 words: 44 in all. */
    {__LINE__,
     MACHINE("") WINDOW "  DRAM for p=2 q=2\n    Buf for p=2 q=2 r=3 s=3\n      op O\n",
     "I",
     TF_WHY_FIRST,
     {36, 36, 0, 0, 0},
     0},
    {__LINE__,
     MACHINE("") WINDOW "  DRAM for p=2 q=2\n    Buf for p=2 q=2 r=3 s=3\n      op O\n",
     "I",
     TF_WHY_HALO,
     {8, 8, 0, 0, 0},
     0},
    /* C passes through DRAM between the ops; n asks for it again. */
    {__LINE__,
     MACHINE("") CHAIN
     "  DRAM\n    Seq\n      Buf for m=4 l=3 k=2\n        op C\n      DRAM for n=5\n"
     "        DRAM for m=4\n          Buf for l=3\n            op E\n",
     "C",
     TF_WHY_LOOP,
     {48, 48, 0, 0, 0},
     'n'},
};

static tf_counts sum_of(const row *r, const tf_tree *tree, const tf_why *w) {
  tf_counts sum = {0};
  for (int i = 0; i < w->n; i++) {
    const tf_why_row *x = &w->rows[i];
    if (strcmp(tree->workload->tensors[x->tensor].name, r->tensor) != 0 || x->level != 1 ||
        (int64_t)x->cause != r->cause)
      continue;
    sum.fill += x->words.fill;
    sum.read += x->words.read;
    sum.update += x->words.update;
    sum.drain += x->words.drain;
    bool loop = x->at >= 0 && x->slot >= 0;
    int dim = loop ? tree->workload->dims[tree->nodes[x->at].loops[x->slot].dim].name[0] : 0;
    CHECK_ROW_I64(r, dim, r->dim);
    if (x->cause == TF_WHY_SEQ)
      CHECK(tree->nodes[x->at].kind == TF_SCOPE && tree->nodes[x->at].scope == TF_SEQ);
  }
  return sum;
}

static void by_hand(const row *r) {
  test_case e = {0};
  case_read(&e, r->text);
  tf_why why;
  if (CHECK(case_evaluate(&e) && tf_why_of(e.model, &why))) {
    tf_counts got = sum_of(r, e.tree, &why);
    CHECK_ROW_I64(r, got.fill, r->want.fill);
    CHECK_ROW_I64(r, got.read, r->want.read);
    CHECK_ROW_I64(r, got.update, r->want.update);
    CHECK_ROW_I64(r, got.drain, r->want.drain);
    tf_why_free(&why);
  } else {
    printf("%s:%d:\n", __FILE__, r->line);
    case_complain(e.d);
  }
  case_drop(&e);
}

/* One number, a part of which each of four instances makes, in a mapping whose causes are walked
 * for, as its last step is partial: words by hand, before and after the causes are told. */
static void number(void) {
  static const int64_t want[2][4] = {{0, 1, 1, 0}, {4, 8, 6, 4}};
  test_case e = {0};
  case_read(&e, MACHINE(", mesh: [2, 2]") "workload:\n  name: w\n  dims: {m: 6}\n  ops:\n"
                                          "  - N[] max= M[m]\n  - F[m] = M[m] * N[]\n"
                                          "mapping: |\n  Seq\n"
                                          "    DRAM for m=2 spatial m=2@x m=2@y\n      Buf\n"
                                          "        op N\n"
                                          "    DRAM for m=2 spatial m=2@x m=2@y\n      Buf\n"
                                          "        op F\n");
  tf_why why = {0};
  CHECK(case_evaluate(&e));
  for (int after = 0; after < 2; after++) {
    for (int l = 0; l < 2; l++) {
      const tf_counts *c = &e.r.counts[l * e.spec->workload->n_tensors];
      CHECK_I64(c->fill, want[l][0]);
      CHECK_I64(c->read, want[l][1]);
      CHECK_I64(c->update, want[l][2]);
      CHECK_I64(c->drain, want[l][3]);
    }
    if (!after) CHECK(tf_why_of(e.model, &why));
  }
  tf_why_free(&why);
  case_drop(&e);
}

/* The maker of one number runs where some reader has work: not in the instance that the last step
 * leaves idle, whether sums count or a walk does. */
static void asked_for(void) {
  for (int walk = 0; walk < 2; walk++) {
    test_case e = {0};
    case_read(&e, MACHINE(", mesh: [2, 1]") "workload:\n  name: w\n  dims: {b: 33}\n  ops:\n"
                                            "  - T[] = H[] * 2\n  - O[b] = I[b] * T[]\n"
                                            "mapping: |\n  DRAM for b=9 spatial b=2@x\n"
                                            "    Buf for b=2\n      Pipe\n        Buf\n"
                                            "          op T\n        Buf\n          op O\n");
    if (CHECK(e.model)) {
      if (walk) tf_model_to_walk(e.model);
      CHECK(tf_model_eval(e.model, NULL, &e.r));
      CHECK_I64(e.r.ops[0].points, 33);
      CHECK_I64(e.r.ops[1].points, 33);
    }
    case_drop(&e);
  }
}

/* Causes of what neighbours hand on come from a walk, which knows other times: the result stays. */
static void result_stays(void) {
  test_case e = {0};
  tf_why why = {0};
  case_read(&e, "architecture:\n  name: n\n  overlap: double-buffer\n  memories:\n"
                "  - {name: L0, bandwidth: 2}\n"
                "  - {name: L1, bandwidth: {write: 7, read: 0.5}, latency: 3, mesh: [1, 3],\n"
                "     network: {topology: mesh, peers: true}}\n"
                "  - {name: L2, bandwidth: 3, latency: 1, mesh: [4, 2],\n"
                "     network: {topology: mesh, hop-latency: 3, peers: true}}\n"
                "  - {name: L3, bandwidth: 1, leakage: 20.5 pJ, mesh: [4, 3]}\n"
                "  compute:\n  - {name: u, ops: [mac], below: L3, mesh: [2, 3]}\n"
                "workload:\n  name: w\n  dims: {p: 4, q: 3, k: 1, r: 2, t: 1}\n  ops:\n"
                "  - \"O[k,p,q] += I[p+r,q+t] * W[k,r,t]\"\nmapping: |\n"
                "  L0 for r=2 spatial p=2@y\n    L1 for p=2\n      L2\n        L3 for q=3\n"
                "          op O\n");
  if (CHECK(e.model) && CHECK(tf_model_eval(e.model, NULL, &e.r))) {
    double cycles[4], leaks = 0;
    for (int l = 0; l < 4; l++)
      cycles[l] = e.r.levels[l].cycles;
    CHECK(tf_why_of(e.model, &why));
    for (int l = 0; l < 4; l++)
      CHECK(cycles[l] == e.r.levels[l].cycles);
    for (int l = 0; l < 4; l++)
      leaks += e.r.levels[l].leakage_pj;
    CHECK(e.r.leakage_pj > 0 && fabs(leaks / e.r.leakage_pj - 1) < 1e-12);
    tf_why_free(&why);
  }
  case_drop(&e);
}

/* A chain of numbers, each made of two that are made of the one before: whether the first has work
 * is asked once, not along each of 2^40 paths. */
static void long_chain(void) {
  enum { LAYERS = 40 };
  static const char op[] = "        Buf\n          op ";
  char text[32768];
  int n = snprintf(text, sizeof text,
                   MACHINE(", mesh: [2, 1]") "workload:\n  name: w\n  dims: {b: 33}\n  ops:\n"
                                             "  - N0[] = G[] * 2\n  - O[b] = I[b] * N%d[]\n",
                   LAYERS);
  for (int i = 0; i < LAYERS; i++)
    n += snprintf(text + n, sizeof text - (size_t)n,
                  "  - A%d[] = N%d[] * 2\n  - B%d[] = N%d[] * 3\n  - N%d[] = A%d[] * B%d[]\n", i, i,
                  i, i, i + 1, i, i);
  n +=
      snprintf(text + n, sizeof text - (size_t)n,
               "mapping: |\n  DRAM for b=9 spatial b=2@x\n    Buf for b=2\n      Pipe\n%sN0\n", op);
  for (int i = 0; i < LAYERS; i++)
    n += snprintf(text + n, sizeof text - (size_t)n, "%sA%d\n%sB%d\n%sN%d\n", op, i, op, i, op,
                  i + 1);
  snprintf(text + n, sizeof text - (size_t)n, "%sO\n", op);
  for (int walk = 0; walk < 2; walk++) {
    test_case e = {0};
    case_read(&e, text);
    if (CHECK(e.model)) {
      if (walk) tf_model_to_walk(e.model);
      CHECK(tf_model_eval(e.model, NULL, &e.r));
      CHECK_I64(e.r.ops[0].points, 33);
      CHECK_I64(e.r.points, 33 * (3 * LAYERS + 2));
    }
    case_drop(&e);
  }
}

/* Every function of the library that frees takes NULL. */
static void nothing(void) {
  tf_best_free(NULL), tf_bound_slope_free(NULL), tf_bytes_free(NULL), tf_certificate_free(NULL);
  tf_condition_free(NULL), tf_diags_free(NULL), tf_emit_instrs_free(NULL), tf_emitted_free(NULL);
  tf_export_free(NULL), tf_group_free(NULL), tf_instr_maps_free(NULL), tf_ladder_free(NULL);
  tf_layouts_free(NULL), tf_model_free(NULL), tf_net_inputs_free(NULL), tf_net_memory_free(NULL);
  tf_net_plan_free(NULL), tf_npu_free(NULL), tf_npu_result_free(NULL), tf_planned_free(NULL);
  tf_search_free(NULL), tf_slope_free(NULL), tf_solve_free(NULL), tf_space_size_free(NULL);
  tf_spec_free(NULL), tf_sweep_free(NULL), tf_sweep_summary_free(NULL), tf_trace_free(NULL);
  tf_train_free(NULL), tf_tree_free(NULL), tf_tuned_free(NULL), tf_why_free(NULL);
}

int main(void) {
  nothing();
  number();
  long_chain();
  asked_for();
  result_stays();
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    by_hand(&rows[i]);
  return check_report();
}
