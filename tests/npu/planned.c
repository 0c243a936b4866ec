/* Workloads without a mapping: what the planner finds is emitted for the NPU, right, and takes the
 * cycles that it expects. */
#include <stdlib.h>

#include "codegen/backend/npu/pass/pass.h"
#include "model/cost/state.h"
#include "tests/npu/cases.h"
#include "tests/npu/draw.h"
#include "tests/npu/roll.h"
#include "tileflow/planner.h"

static const char line[] =
    "architecture:\n  name: line\n  word-bits: 16\n  overlap: double-buffer\n  memories:\n"
    "  - {name: GM, bandwidth: {read: 32, write: 32}}\n"
    "  - {name: L1, capacity: 64 KiB, bandwidth: {read: 256}}\n"
    "  - {name: UB, capacity: 64 KiB, bandwidth: {read: 128}}\n" NPU_SMALL_CUBE
    "  - {name: vector, ops: [add, sub, mul, div, max, exp, relu, select], below: UB, mesh: [64, "
    "1], rate: 1}\n";

static const char *const workloads[] = {
    "workload:\n  name: product\n  dims: {m: 150, n: 70, k: 90}\n  ops:\n"
    "  - C[m,n] += A[m,k] * B[k,n]\n",
    "workload:\n  name: conv\n  dims: {n: 2, k: 24, p: 14, q: 14, c: 20, r: 3, s: 3}\n  tensors:\n"
    "    I: {pad: [0, 0, 1, 1], shape: [2, 20, 28, 28]}\n  ops:\n"
    "  - O[n,k,p,q] += I[n, c, 2*p + r - 1, 2*q + s - 1] * F[k,c,r,s]\n",
    /* padded along three ranks, of which a window has two */
    "workload:\n  name: video\n  dims: {k: 9, t: 4, p: 6, q: 7, c: 5, d: 3, r: 3, s: 3}\n"
    "  tensors:\n    I: {pad: [0, 1, 1, 1], shape: [5, 4, 6, 7]}\n  ops:\n"
    "  - O[k,t,p,q] += I[c, t + d - 1, p + r - 1, q + s - 1] * F[k,c,d,r,s]\n",
    "workload:\n  name: separable\n  dims: {k: 24, p: 12, q: 12, c: 18, r: 3, s: 3}\n  tensors:\n"
    "    I: {pad: [0, 1, 1], shape: [18, 12, 12]}\n  ops:\n"
    "  - D[c,p,q] += I[c, p + r - 1, q + s - 1] * W[c,r,s]\n"
    "  - E[c,p,q] = relu(D[c,p,q])\n  - O[k,p,q] += E[c,p,q] * F[k,c]\n",
    "workload:\n  name: chain\n  dims: {m: 80, l: 50, k: 40, n: 30}\n  ops:\n"
    "  - C[m,l] += A[m,k] * B[k,l]\n"
    "  - F[m,l] = exp(C[m,l] * 0.125)\n  - E[m,n] += F[m,l] * D[l,n]\n",
    "workload:\n  name: attention\n  dims: {h: 2, m: 40, l: 72, k: 32, n: 32}\n  ops:\n"
    "  - S[h,m,l] += Q[h,m,k] * K[h,l,k]\n  - X[h,m] max= S[h,m,l]\n"
    "  - P[h,m,l] = exp(S[h,m,l] - X[h,m])\n"
    "  - D[h,m] += P[h,m,l]\n  - R[h,m,l] = P[h,m,l] / D[h,m]\n"
    "  - O[h,m,n] += R[h,m,l] * V[h,l,n]\n",
    /* elements of a pair, and of a window written out: all but one read begin beside the others */
    "workload:\n  name: rope\n  dims: {h: 3, m: 29, a: 16}\n  ops:\n"
    "  - Y[h,m,a] = x[h,m,2*a] * c[m,a] - x[h,m,2*a + 1] * s[m,a]\n",
    "workload:\n  name: stencil\n  dims: {i: 37, j: 45}\n  ops:\n"
    "  - B[i,j] = A[i+1,j] + A[i,j+1] * 0.5 + A[i+1,j+2] * A[i+2,j+1]\n",
    /* so many keys that UB does not hold a block of rows, of which each sums more than binary16
       could */
    "workload:\n  name: keys\n  dims: {m: 20, l: 2500, k: 16, n: 16}\n  ops:\n"
    "  - S[m,l] += Q[m,k] * K[l,k]\n  - T[m,l] = select(l <= m + 2480, S[m,l], -inf)\n"
    "  - X[m] max= T[m,l]\n"
    "  - P[m,l] = exp(T[m,l] - X[m])\n  - D[m] += P[m,l]\n  - R[m,l] = P[m,l] / D[m]\n"
    "  - O[m,n] += R[m,l] * V[l,n]\n"};

static const char *file_of(const tf_emitted *e, const char *name) {
  for (int i = 0; e && i < e->n; i++)
    if (!strcmp(e->file[i].name, name)) return e->file[i].text;
  return "";
}

/* Of rounds of tiles and slots the number of the last, its cycles, and those of the first. */
static int last_round(const char *said, double *first, double *last) {
  int n = 0, at;
  *first = *last = -1;
  for (const char *round = said; round; round = strchr(round, '\n')) {
    double cycles;
    round += *round == '\n';
    if (sscanf(round, "%d. %lf cycles", &at, &cycles) == 2 && CHECK(at == n + 1))
      n = at, *last = cycles, *first = n == 1 ? cycles : *first;
  }
  return n;
}

/* What is emitted is the mapping of the last round, which ends no later than that of the first, the
 * search's.  Whether it ends sooner. */
static bool check_adopted(const tf_planned *p, const tf_planner_opts *o, const tf_npu *program,
                          tf_diags *d) {
  double first, last;
  const int rounds = last_round(p->settled, &first, &last);
  const double cycles = npu_clock_program(program, d), near = 1e-5;
  tf_emitted *e = tf_planned_emit(p, o, d);
  char *mapping = tf_tree_text(p->tree);
  const char *schedule = file_of(e, "schedule.txt");
  CHECK(rounds > 0 && (rounds == 1 || last < first * (1 + near)) && fabs(cycles / last - 1) < 0.02);
  CHECK(mapping && strstr(schedule, p->settled) && strstr(schedule, mapping) && p->result.feasible);
  free(mapping);
  tf_emitted_free(e);
  return rounds > 1;
}

/* Words are half as wide as in the cases drawn: sums of some hundred products of numbers below 1.
 * Whether the mapping that the search found was settled on another. */
static bool plan_case(const char *workload) {
  char text[4096];
  const tf_planner_opts o = {.target = "npu", .budget = {.seed = 1, .max_evals = 1500}};
  test_case e = {.d = tf_diags_new()};
  snprintf(text, sizeof text, "%s%s", line, workload);
  case_read(&e, text);
  tf_planned *p = e.spec ? tf_planner_run(e.spec->arch, e.spec->workload, NULL, &o, e.d) : NULL;
  tf_npu *program = p && p->tree ? npu_compile(p->tree, e.d) : NULL;
  tf_npu_result r = {0};
  if (!CHECK(program && run_values(&e, program, &r, 2e-2) &&
             fabs(r.cycles / npu_clock_program(program, e.d) - 1) < 1e-9)) {
    puts(workload);
    case_complain(e.d);
  }
  CHECK(program && roll_is_even(program));
  const bool settled = program && check_adopted(p, &o, program, e.d);
  tf_npu_result_free(&r);
  tf_npu_free(program);
  tf_planned_free(p);
  tf_tree_free(e.tree);
  tf_spec_free(e.spec);
  tf_diags_free(e.d);
  return settled;
}

/* A mapping that is given is obeyed, and schedule.txt says what would end sooner; of an open one,
 * what it says. */
static void given_case(void) {
  static const char closed[] =
      "mapping: |\n  GM for m=2 n=1 k=1\n    L1 for k=4 bypass C\n"
      "      L0 for m=4 n=6 k=4 spatial m=16@x n=16@y k=16@x\n        op C\n";
  static const char open[] =
      "mapping: |\n  GM for m=? n=? k=1\n    L1 for k=4 bypass C\n"
      "      L0 for m=? n=? k=4 spatial m=16@x n=16@y k=16@x\n        op C\n";
  const tf_planner_opts o = {.target = "npu", .budget = {.seed = 1, .max_evals = 300}};
  size_t n;
  char *arch = case_file("arch-specs/npu.yaml", &n);
  for (int k = 0; k < 2; k++) {
    const char *mapping = k ? open : closed;
    char text[1024];
    snprintf(text, sizeof text,
             "workload:\n  name: product\n  dims: {m: 128, n: 96, k: 256}\n  ops:\n"
             "  - C[m,n] += A[m,k] * B[k,n]\n%s",
             mapping);
    test_case e = case_of(arch, text);
    double first, last;
    case_prepare(&e);
    tf_planned *p = tf_planner_run(e.spec->arch, e.spec->workload, e.tree, &o, e.d);
    tf_emitted *made = p && p->tree ? tf_planned_emit(p, &o, e.d) : NULL;
    char *has = p && p->tree ? tf_tree_text(p->tree) : NULL;
    CHECK(made && !p->settled && has && strstr(has, "L1 for k=4 bypass C") &&
          strstr(has, " k=4 spatial"));
    const int rounds = last_round(file_of(made, "schedule.txt"), &first, &last);
    if (k == 0) CHECK(p && p->tree == e.tree && rounds == 2 && last < 0.97 * first);
    free(has);
    tf_emitted_free(made);
    tf_planned_free(p);
    case_drop(&e);
  }
  free(arch);
}

/* Norms, sums and maps alone, on every architecture that we ship for this target: what the planner
 * chooses can be made, and is right. */
static void vectors_case(const char *file, int cases, int *none) {
  static char text[4096];
  size_t len;
  char *arch = case_file(file, &len);
  for (int seed = 1; arch && len && seed <= cases; seed++) {
    const tf_planner_opts o = {.target = "npu", .budget = {.seed = 1, .max_evals = 300}};
    draw_npu_vectors((uint64_t)seed, text, sizeof text);
    test_case e = case_of(arch, text);
    tf_npu_result r = {0};
    tf_planned *p = tf_planner_run(e.spec->arch, e.spec->workload, NULL, &o, e.d);
    tf_npu *program = p && p->tree ? npu_compile(p->tree, e.d) : NULL;
    *none += p && !p->tree;
    if (!CHECK(p && (!p->tree || (program && run_values(&e, program, &r, 2e-2))))) {
      printf("%s, seed %d\n%s", file, seed, text);
      case_complain(e.d);
    }
    tf_npu_result_free(&r);
    tf_npu_free(program);
    tf_planned_free(p);
    case_drop(&e);
  }
  CHECK(arch && len);
  free(arch);
}

void vectors(int cases) {
  static const char *const archs[] = {"arch-specs/npu.yaml", "arch-specs/ascend910.yaml",
                                      "arch-specs/rtl-core.yaml"};
  int none = 0;
  for (size_t i = 0; i < sizeof archs / sizeof *archs; i++)
    vectors_case(archs[i], cases, &none);
  printf("%d vector workloads on each architecture, for %d of them all no mapping\n", cases, none);
  CHECK(none * 10 <= 2 * cases);
}

#define FIRST "  - M[k,p,q] += I[c, p + r - 1, q + s - 1] * W[k,c,r,s]\n"
#define SECOND "  - O[f,x,y] += M[k, x + u - 1, y + v - 1] * V[f,k,u,v]\n"
#define FIRST_DIMS "c: 16, k: 64, p: 14, q: 14, r: 3, s: 3"
#define SECOND_DIMS "f: 64, x: 14, y: 14, u: 3, v: 3"
#define FIRST_PAD "I: {pad: [0, 1, 1]}"
#define SECOND_PAD "M: {pad: [0, 1, 1]}"
#define CONVS(dims, tensors, ops)                                                                  \
  "workload:\n  name: convs\n  dims: {" dims "}\n  tensors: {" tensors "}\n  ops:\n" ops

/* Cycles of the program of the mapping found; -1: none. */
static double planned_cycles(const char *workload) {
  const tf_planner_opts o = {.target = "npu", .budget = {.seed = 1, .max_evals = 1500}};
  test_case e = case_of(line, workload);
  tf_planned *p = tf_planner_run(e.spec->arch, e.spec->workload, NULL, &o, e.d);
  tf_npu *program = p && p->tree ? npu_compile(p->tree, e.d) : NULL;
  const double cycles = program ? npu_clock_program(program, e.d) : -1;
  tf_npu_free(program);
  tf_planned_free(p);
  tf_spec_free(e.spec);
  tf_diags_free(e.d);
  return cycles;
}

/* A chain for which a search over both ops finds nothing as fast takes no longer than the two
 * alone, but for what slots of L1 that one leaves to the other cost: less than 1 %. */
static void apart_case(void) {
  const double first = planned_cycles(CONVS(FIRST_DIMS, FIRST_PAD, FIRST));
  const double second = planned_cycles(CONVS("k: 64, " SECOND_DIMS, SECOND_PAD, SECOND));
  const double both =
      planned_cycles(CONVS(FIRST_DIMS ", " SECOND_DIMS, FIRST_PAD ", " SECOND_PAD, FIRST SECOND));
  CHECK(first > 0 && second > 0 && both > 0 && both < 1.01 * (first + second));
}

/* Two convolutions whose intermediate is larger than L1: made part by part, with halos of rows
 * where the second has windows, they are right; and faster than the two alone where global memory
 * bounds both. */
static void convs_fused_case(void) {
#define MORE "  - M[k,p,q] += I[c, p, q] * W[k,c]\n"
#define MORE_DIMS "c: 16, k: 48, p: 40, q: 28"
#define LESS "  - O[f,x,y] += M[k, x + u - 1, y + v - 1] * V[f,k,u,v]\n"
#define LESS_DIMS "f: 16, x: 40, y: 28, u: 3, v: 3"
  static const char both[] = CONVS(MORE_DIMS ", " LESS_DIMS, SECOND_PAD, MORE LESS);
  const double first = planned_cycles(CONVS(MORE_DIMS, "", MORE));
  const double second =
      planned_cycles(CONVS("k: 48, " LESS_DIMS, "M: {pad: [0, 1, 1], shape: [48, 40, 28]}", LESS));
  const double fused = planned_cycles(both);
  CHECK(first > 0 && second > 0 && fused > 0 && fused < 0.8 * (first + second));
  plan_case(both);
}

/* Seven tiles of m on an array: four in turns, then three. */
static const char turns[] =
    "architecture:\n  name: array\n  word-bits: 32\n  overlap: double-buffer\n  memories:\n"
    "  - {name: DRAM, bandwidth: {read: 4, write: 4}, issue: 6}\n"
    "  - {name: Buffer, capacity: 64 KiB, bandwidth: {read: 32}}\n"
    "  - {name: Reg, mesh: [16, 16], capacity: 3}\n"
    "  compute:\n  - {name: matrix, ops: [mac], below: Reg, rate: 1, pipeline: 56}\n"
    "  - {name: vector, ops: [relu], below: Buffer, mesh: [16, 3], rate: 1, pipeline: 10}\n"
    "workload:\n  name: chain\n  dims: {m: 224, l: 48, k: 32, n: 40}\n  ops:\n"
    "  - C[m,l] += A[m,k] * B[k,l]\n"
    "  - F[m,l] = relu(C[m,l])\n  - E[m,n] += F[m,l] * D[l,n]\n"
    "mapping: |\n  DRAM for m=7\n    Seq keep C@Buffer F@Buffer\n      DRAM for k=2\n"
    "        Buffer for k=1 m=2 l=48 spatial m=16@x k=16@y\n          Reg\n            op C\n"
    "      Buffer for m=32 l=3 spatial l=16@x\n        op F\n      DRAM for l=3\n"
    "        Buffer for l=1 m=2 n=40 spatial m=16@x l=16@y\n          Reg\n            op E\n";

/* Values and flags of tiles in turns, and their order: both steps of C for all four before any of
 * E. */
static void turns_case(void) {
  test_case e = {.d = tf_diags_new()};
  static tally t;
  tf_npu_result r = {0};
  case_read(&e, turns);
  tf_npu *p = e.tree ? npu_compile(e.tree, e.d) : NULL;
  if (!CHECK(p && run_values(&e, p, &r, 1e-4) &&
             fabs(r.cycles / npu_clock_program(p, e.d) - 1) < 1e-9))
    case_complain(e.d);
  char loads[18] = "";
  for (size_t i = 0, n = 0; p && i < p->n && n < sizeof loads - 1; i++)
    if (p->instr[i].via >= 0 && p->instr[i].from[0].memory == 0) loads[n++] = p->instr[i].tag[0];
  CHECK(!strcmp(loads, "ABABABABABABABABD"));
  if (p) plant(&e, p, 0, &t);
  CHECK(t.planted >= 3);
  CHECK_I64(t.found, t.planted);
  tf_npu_result_free(&r);
  tf_npu_free(p);
  tf_model_free(e.model);
  tf_tree_free(e.tree);
  tf_spec_free(e.spec);
  tf_diags_free(e.d);
}

/* Each op through global memory; the left operand of the first takes all of L0A for two slots, of
 * which the second op, which comes later, reads what the first makes. */
static const char later[] = "workload:\n  name: later\n"
                            "  dims: {m: 256, k: 256, l: 16, n: 16}\n  ops:\n"
                            "  - C[m,l] += A[m,k] * B[k,l]\n"
                            "  - E[m,n] += C[m,l] * D[l,n]\n"
                            "mapping: |\n  GM\n    Seq\n      GM for m=4\n"
                            "        L1 for m=4 k=2\n"
                            "          L0 for k=8 spatial m=16@x l=16@y k=16@x\n"
                            "            op C\n      GM for m=4\n        L1 for m=4\n"
                            "          L0 spatial m=16@x n=16@y l=16@x\n"
                            "            op E\n";

/* An operand has the bytes of another child's, though that child touches its tensor elsewhere: two
 * slots of each. */
static void later_case(void) {
  char text[4096];
  test_case e = {.d = tf_diags_new()};
  tf_npu_result r = {0};
  int left = 0;
  snprintf(text, sizeof text, "%s%s", line, later);
  case_read(&e, text);
  npu_build *b = e.tree ? npu_build_new(e.tree, e.d) : NULL;
  tf_npu *p = e.tree ? npu_compile(e.tree, e.d) : NULL;
  for (int i = 0; b && i < b->n_banks; i++)
    if (b->bank[i].blocks && b->bank[i].role == 1) left += b->bank[i].slots >= 2;
  CHECK_I64(left, 2);
  if (!CHECK(p && run_values(&e, p, &r, 1e-2))) case_complain(e.d);
  tf_npu_result_free(&r);
  tf_npu_free(p);
  npu_build_free(b);
  tf_model_free(e.model);
  tf_tree_free(e.tree);
  tf_spec_free(e.spec);
  tf_diags_free(e.d);
}

#define QUOTIENT                                                                                   \
  "workload:\n  name: quotient\n  dims: {m: 37, n: 43, l: 53}\n  ops:\n  - O[m,n] += E[m,l] / "    \
  "Z[m] * V[l,n]\n"
/* All values of an expression at once would take five times UB. */
static const char parts[] =
    QUOTIENT "mapping: |\n  GM\n    UB for m=37 n=43 l=4 spatial l=16@x\n      op O\n";

/* They are computed in parts, none larger than their room, which sum to the whole. */
static void parts_case(void) {
  char text[4096];
  test_case e = {.d = tf_diags_new()};
  tf_npu_result r = {0};
  int sums = 0;
  snprintf(text, sizeof text, "%s%s", line, parts);
  case_read(&e, text);
  tf_npu *p = e.tree ? npu_compile(e.tree, e.d) : NULL;
  for (size_t i = 0; p && i < p->n; i++)
    sums += p->instr[i].op == NPU_RADD;
  CHECK(sums >= 5 && sums <= 36); /* 3 x 3 x 4 of sixteen each */
  if (!CHECK(p && run_values(&e, p, &r, 1e-2))) case_complain(e.d);
  tf_npu_result_free(&r);
  tf_npu_free(p);
  tf_model_free(e.model);
  tf_tree_free(e.tree);
  tf_spec_free(e.spec);
  tf_diags_free(e.d);
}

/* A product row by row, of more instructions than a program may have. */
static const char rows[] = "workload:\n  name: rows\n  dims: {m: 701, k: 701, n: 701}\n"
                           "  ops:\n  - C[m,n] += A[m,k] * B[k,n]\n"
                           "mapping: |\n  GM for m=701 n=44 k=11\n    L1\n"
                           "      L0 for k=4 spatial n=16@y k=16@x\n        op C\n";

/* That it is too long is told by a few hundred instructions, by none of which it is timed. */
static void long_case(void) {
  char text[4096];
  test_case e = {.d = tf_diags_new()};
  npu_terms terms;
  snprintf(text, sizeof text, "%s%s", line, rows);
  case_read(&e, text);
  CHECK(e.tree && !npu_predict(e.tree, (npu_limits){INFINITY, NPU_LONGEST}, &terms, e.d));
  CHECK(terms.counted > 0 && terms.counted < 500 && terms.work == 0);
  CHECK(tf_diags_errors(e.d) == 1 && strstr(tf_diags_at(e.d, 0)->msg, "too long"));
  tf_model_free(e.model);
  tf_tree_free(e.tree);
  tf_spec_free(e.spec);
  tf_diags_free(e.d);
}

/* Attention of an odd number of tokens, of which UB holds few, has a plan that can be made, within
 * the default budget.
 */
static void odd_case(void) {
  static const char attention[] =
      "workload:\n  name: attention\n  dims: {h: 4, m: 701, l: 701, a: 80, n: 80}\n  ops:\n"
      "  - S[h,m,l] += Q[h,m,a] * K[h,l,a]\n  - X[h,m] max= S[h,m,l]\n"
      "  - E[h,m,l] = exp(S[h,m,l] - X[h,m])\n"
      "  - Z[h,m] += E[h,m,l]\n  - O[h,m,n] += E[h,m,l] / Z[h,m] * V[h,l,n]\n";
  size_t len;
  char *arch = case_file("arch-specs/npu.yaml", &len);
  const tf_planner_opts o = {.target = "npu", .budget = {.seed = 1}};
  test_case e = case_of(arch, attention);
  tf_planned *p = tf_planner_run(e.spec->arch, e.spec->workload, NULL, &o, e.d);
  if (!CHECK(p && p->tree && npu_fits(p->tree, e.d) && p->evals < 40000)) case_complain(e.d);
  tf_planned_free(p);
  case_drop(&e);
  free(arch);
}

/* A convolution of which all programs that the model thinks best have more instructions than may
 * be: larger tiles of the cube make it, which keep the cube busy most of the time. */
static void large_case(void) {
  static const char convolution[] =
      "workload:\n  name: large\n  dims: {k: 443, c: 238, p: 93, q: 93, r: 5, s: 5}\n  ops:\n"
      "  - O[k,p,q] += I[c,p+r,q+s] * W[k,c,r,s]\n";
  size_t len;
  char *arch = case_file("arch-specs/npu.yaml", &len);
  const tf_planner_opts o = {.target = "npu", .budget = {.seed = 1}};
  test_case e = case_of(arch, convolution);
  npu_terms terms = {.cycles = 0};
  tf_planned *p = tf_planner_run(e.spec->arch, e.spec->workload, NULL, &o, e.d);
  if (!CHECK(p && p->tree && npu_fits(p->tree, e.d) &&
             npu_predict(p->tree, NPU_UNLIMITED, &terms, e.d)))
    case_complain(e.d);
  CHECK(terms.busy > 0.6 * terms.cycles && terms.length <= NPU_LONGEST);
  tf_planned_free(p);
  case_drop(&e);
  free(arch);
}

/* What is expected of long loops whose queues have to catch up with what others did before them: a
 * depthwise convolution, a map and a product, row by row (half of the cycles before each queue went
 * on at its own pace). */
static void check_catching_up(void) {
  static const char mapping[] =
      "mapping: |\n  GM for p=56\n    Seq keep D@UB A@L1 E@UB\n"
      "      L1 for c=32 p=2 r=3\n        UB bypass I F\n"
      "          L0 for q=7 spatial q=16@x s=3@x\n            op D\n      L1 bypass D\n"
      "        UB for c=32 p=2 spatial q=112@x\n          op A\n      L1 for p=2\n"
      "        UB bypass A G\n"
      "          L0 for q=7 k=4 c=2 spatial q=16@x k=16@y c=16@x\n            op E\n"
      "      L1 bypass E Y\n"
      "        UB for k=64 p=2 spatial q=112@x\n          op Y\n";
  size_t n;
  char *arch = case_file("arch-specs/npu.yaml", &n),
       *workload = case_file("workloads/depthwise-separable.yaml", &n);
  tf_text texts[] = {{"a.yaml", arch, strlen(arch)},
                     {"w.yaml", workload, strlen(workload)},
                     {"m.yaml", mapping, strlen(mapping)}};
  test_case e = {.d = tf_diags_new()};
  e.spec = tf_spec_read_texts(texts, 3, NULL, 0, e.d);
  case_prepare(&e);
  tf_npu *program = e.tree ? npu_compile(e.tree, e.d) : NULL;
  tf_npu_result r = {0};
  if (CHECK(program && tf_npu_run(program, &(tf_npu_options){.timing_only = true}, NULL, &r, e.d)))
    CHECK_NEAR(tf_emit_cycles(e.tree, "npu", &(tf_emit_options){0}, e.d) / r.cycles, 1, 1e-6);
  else
    case_complain(e.d);
  tf_npu_result_free(&r);
  tf_npu_free(program);
  case_drop(&e);
  free(arch), free(workload);
}

/* The first workloads, all where there are no more: then the longer cases, too. */
int plans(size_t most) {
  const size_t n = sizeof workloads / sizeof *workloads;
  int settled = 0;
  check_catching_up();
  turns_case();
  later_case();
  parts_case();
  long_case();
  odd_case();
  large_case();
  for (size_t i = 0; i < n && i < most; i++)
    settled += plan_case(workloads[i]);
  given_case();
  if (most < n) return check_report();
  printf("%d of %zu plans with other tiles than the search's\n", settled, n);
  CHECK(settled > 0);
  apart_case();
  convs_fused_case();
  vectors(12);
  return check_report();
}
