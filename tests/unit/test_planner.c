/* The planner: what it finds, what it may be told to leave, and whose word decides which kernel is
 * the fastest. */
#include <stdlib.h>

#include "tests/unit/case.h"
#include "tests/unit/page.h"
#include "tileflow/emit.h"
#include "tileflow/planner.h"

static const char arch[] = "architecture:\n"
                           "  name: small\n"
                           "  clock: 1 GHz\n"
                           "  memories:\n"
                           "  - {name: DRAM, bandwidth: 4}\n"
                           "  - {name: L1, capacity: 8 KiB, bandwidth: 64}\n"
                           "  - {name: REG, capacity: 256, bandwidth: 64}\n"
                           "  compute:\n"
                           "  - {name: u, ops: [mac, add], below: REG, mesh: [8, 1]}\n";
static const char chain[] = "workload:\n"
                            "  name: chain\n"
                            "  dims: {m: 32, n: 32, k: 32, l: 32}\n"
                            "  ops:\n"
                            "  - \"C[m,l] += A[m,k] * B[k,l]\"\n"
                            "  - \"E[m,n] += C[m,l] * D[l,n]\"\n";

static tf_planned *plan(const test_case *e, tf_planner_opts *o) {
  o->budget.seed = 1;
  o->budget.threads = 1;
  o->budget.max_evals = 400;
  o->kernel.isa = "portable";
  return tf_planner_run(e->spec->arch, e->spec->workload, e->tree, o, e->d);
}

static char *kernel_text(const test_case *e) {
  tf_planner_opts o = {.n_time = 0};
  tf_planned *p = plan(e, &o);
  tf_emitted *k = p && p->tree ? tf_planned_emit(p, &o, e->d) : NULL;
  char *text = calloc(1, 1 << 20);
  for (int i = 0; text && k && i < k->n; i++)
    if (!strcmp(k->file[i].name, "kernel.c")) snprintf(text, 1 << 20, "%s", k->file[i].text);
  CHECK(p && p->found == p->tree && p->result.feasible && p->evals > 0 && p->n_measured == 0);
  tf_emitted_free(k);
  tf_planned_free(p);
  return text;
}

static void test_found(void) {
  test_case e = case_of(arch, chain);
  char *a = kernel_text(&e), *b = kernel_text(&e);
  CHECK(a && *a);
  CHECK_TEXT(a, b);
  free(a);
  free(b);
  case_drop(&e);
}

static void test_given(void) {
  test_case e = case_of(arch, chain);
  tf_planner_opts o = {.n_time = 0};
  tf_planned *p = plan(&e, &o);
  char *text = p ? tf_tree_text(p->tree) : NULL;
  e.tree = text ? tf_tree_parse(text, (tf_loc){0}, e.spec->arch, e.spec->workload, e.d) : NULL;
  tf_planned *same = plan(&e, &o);
  CHECK(same && same->tree == e.tree && !same->found && same->evals == 0);
  CHECK(p && same && p->result.cycles == same->result.cycles);
  tf_planned_free(same);
  tf_planned_free(p);
  free(text);
  case_drop(&e);
}

/* A clock by which the last of the kernels is the fastest and the first cannot be run. */
typedef struct {
  int calls, n;
  bool gives_up;
} clock_of_test;

static bool time_them(void *ctx, const tf_emitted *const *kernels, int n, tf_measured *m) {
  clock_of_test *c = ctx;
  c->calls++;
  c->n = n;
  for (int i = 0; i < n; i++) {
    CHECK(kernels[i]->n > 0 && m[i].measured < 0 && m[i].predicted > 0);
    if (i > 0) m[i].measured = n - i;
  }
  return !c->gives_up;
}

static void test_timed(void) {
  test_case e = case_of(arch, chain);
  clock_of_test clock = {.n = 0};
  tf_planner_opts o = {.n_time = 3, .time = time_them, .budget.ctx = &clock};
  tf_planned *p = plan(&e, &o);
  CHECK_I64(clock.calls, 1);
  CHECK_I64(clock.n, 3);
  CHECK(p && p->n_measured == 3 && p->chosen == 2);
  CHECK(p && fabs(p->measured[2].predicted - p->result.seconds) <= 1e-12 * p->result.seconds);
  tf_planned_free(p);
  clock.gives_up = true;
  CHECK(!plan(&e, &o));
  CHECK_I64((int64_t)tf_diags_errors(e.d), 0);
  case_drop(&e);
}

static bool at_once(void *ctx) {
  int *asked = ctx;
  ++*asked;
  return true;
}

static void test_stopped(void) {
  test_case e = case_of(arch, chain);
  int asked = 0;
  tf_planner_opts o = {.budget = {.stop = at_once, .ctx = &asked}};
  tf_planned *p = plan(&e, &o);
  CHECK(p && p->stopped_by == TF_STOP_INTERRUPT && asked > 0);
  tf_planned_free(p);
  case_drop(&e);
}

/* A core with vectors of 16 words. */
static const char core[] =
    "architecture:\n"
    "  name: core\n"
    "  clock: 1 GHz\n"
    "  overlap: double-buffer\n"
    "  memories:\n"
    "  - {name: DRAM, bandwidth: 8}\n"
    "  - {name: L3, capacity: 32 MiB, bandwidth: 8}\n"
    "  - {name: L2, capacity: 1 MiB, bandwidth: 16, network: {multicast: false, reduce: false}}\n"
    "  - {name: L1, capacity: 48 KiB, bandwidth: 32}\n"
    "  - {name: REG, capacity: 512}\n"
    "  compute:\n"
    "  - {name: u, ops: [mac, add, mul, max, relu], below: REG, mesh: [16, 2]}\n";
/* The first two products of a gated MLP, whose rows of sums are pages apart. */
static const char gated[] = "workload:\n"
                            "  name: gated\n"
                            "  dims: {m: 64, k: 2048, l: 8192, n: 2048}\n"
                            "  ops:\n"
                            "  - \"U[m,l] += X[m,k] * A[k,l]\"\n"
                            "  - \"V[m,l] += X[m,k] * B[k,l]\"\n"
                            "  - \"G[m,l] = U[m,l] * sigmoid(U[m,l]) * V[m,l]\"\n"
                            "  - \"Y[m,n] += G[m,l] * C[l,n]\"\n";

/* The loops that an op has for itself in the mapping: those between the scope, or the op before it,
 * and the op. */
static void loops_of(const char *mapping, const char *before, const char *op, char *loops,
                     size_t room) {
  const char *from = strstr(mapping, before), *to = from ? strstr(from, op) : NULL;
  CHECK(to && (size_t)(to - from) < room + strlen(before));
  if (to)
    snprintf(loops, room, "%.*s", (int)(to - from - (ptrdiff_t)strlen(before)),
             from + strlen(before));
}

/* kernel.c among the files; NULL: it is not there. */
static const char *source_of(const tf_emitted *k) {
  const char *text = NULL;
  for (int i = 0; k && i < k->n; i++)
    if (!strcmp(k->file[i].name, "kernel.c")) text = k->file[i].text;
  return text;
}

/* Two ops like each other, of which the search treats one better: the other one has its loops, too,
 * in the end.  In int8, whose kernel has the mapping's tiles: weights of float32 pass by whatever
 * these are.  There, rows of sums stand further apart than pages. */
static void test_twins(void) {
  static const char math[] =
      "  - {name: v, ops: [mul, sigmoid], below: REG, mesh: [16, 2], rate: 0.08}\n";
  static const tf_emit_options kernel[] = {{.isa = "avx512_vnni", .dtype = "int8"},
                                           {.isa = "avx512"}};
  char machine[1024], u[512] = "", v[512] = "";
  snprintf(machine, sizeof machine, "%s%s", core, math);
  test_case e = case_of(machine, gated);
  for (int i = 0; i < 2; i++) {
    tf_planner_opts o = {.budget = {.seed = 2, .threads = 1, .max_evals = 2000},
                         .kernel = kernel[i]};
    tf_planned *p = tf_planner_run(e.spec->arch, e.spec->workload, NULL, &o, e.d);
    tf_emitted *k = p && p->tree ? tf_planned_emit(p, &o, e.d) : NULL;
    const char *text = source_of(k);
    char *mapping = p && p->tree ? tf_tree_text(p->tree) : NULL;
    CHECK(text && mapping);
    if (mapping && i == 0) {
      loops_of(mapping, "Seq\n", "op U\n", u, sizeof u),
          loops_of(mapping, "op U\n", "op V\n", v, sizeof v);
      CHECK_TEXT(u, v);
    }
    CHECK(!text || i == 0 || strstr(text, "U[(d_m) * 8208 + "));
    free(mapping);
    tf_emitted_free(k);
    tf_planned_free(p);
  }
  case_drop(&e);
}

/* Bytes are packed anew in each call.  The form that takes all of k at once packs short pieces of
 * rows that are pages apart, which the model does not see: the kernel takes many times its cycles,
 * and forms that cut k are tried. */
static void test_beside(void) {
  static const char host[] =
      "architecture:\n"
      "  name: host\n"
      "  clock: 4.417 GHz\n"
      "  word-bits: 32\n"
      "  overlap: double-buffer\n"
      "  memories:\n"
      "  - {name: DRAM, bandwidth: 40.1 GB/s, capacity: 24 GiB}\n"
      "  - {name: L3, capacity: 32 MiB, bandwidth: 5.65}\n"
      "  - {name: L2, capacity: 1 MiB, bandwidth: 14.5}\n"
      "  - {name: L1, capacity: 48 KiB, bandwidth: {read: 28.6, write: 12.7}}\n"
      "  - {name: REG, capacity: 512}\n"
      "  compute:\n"
      "  - {name: fma, below: REG, mesh: [16, 2], rate: 0.927, ops: [mac, add]}\n";
  test_case e =
      case_of(host, "workload:\n  name: bytes\n  dims: {m: 16, k: 4096, n: 4096}\n  ops:\n"
                    "  - \"Y[m,n] += X[m,k] * W[k,n]\"\n");
  const tf_planner_opts o = {.budget = {.seed = 1, .threads = 1},
                             .kernel = {.isa = "avx512_vnni", .dtype = "int8"}};
  tf_planned *p = tf_planner_run(e.spec->arch, e.spec->workload, NULL, &o, e.d);
  tf_emitted *k = p && p->tree ? tf_planned_emit(p, &o, e.d) : NULL;
  const char *text = source_of(k);
  if (!CHECK(text)) case_complain(e.d);
  CHECK(!text || (!strstr(text, "n_k = 4096") && !strstr(text, "least(4096, 4096 - o_k)")));
  tf_emitted_free(k);
  tf_planned_free(p);
  case_drop(&e);
}

/* Few rows by weights much larger than any cache: some rows at a time fit close to the core with
 * all of k, and would bring the weights several times, in as many cycles.  The kernel lets them
 * pass by once, for all rows, whatever the mapping's tiles; so does the mapping, whose prediction
 * is the kernel's then. */
static void test_once(void) {
  static const char slow[] =
      "architecture:\n"
      "  name: slow\n"
      "  clock: 3.8 GHz\n"
      "  word-bits: 32\n"
      "  overlap: double-buffer\n"
      "  memories:\n"
      "  - {name: DRAM, bandwidth: 2.1}\n"
      "  - {name: L3, capacity: 32 MiB, bandwidth: 10}\n"
      "  - {name: L2, capacity: 1 MiB, bandwidth: 14}\n"
      "  - {name: L1, capacity: 48 KiB, bandwidth: {read: 30, write: 13}}\n"
      "  - {name: REG, capacity: 512}\n"
      "  compute:\n"
      "  - {name: fma, ops: [mac, add, mul, max], below: REG, mesh: [16, 2]}\n"
      "  core: {latency: 4, page: 4096 B, l1-resident: 32 KiB}\n";
  static const char rows[] = "workload:\n"
                             "  name: rows\n"
                             "  dims: {m: 64, n: 11008, k: 4096}\n"
                             "  ops:\n"
                             "  - \"C[m,n] += A[m,k] * B[k,n]\"\n";
  test_case e = case_of(slow, rows);
  tf_planner_opts o = {.budget = {.seed = 1, .threads = 1}, .kernel.isa = "avx512"};
  tf_planned *p = tf_planner_run(e.spec->arch, e.spec->workload, NULL, &o, e.d);
  tf_emitted *k = p && p->tree ? tf_planned_emit(p, &o, e.d) : NULL;
  const char *text = source_of(k);
  CHECK(p && p->result.feasible &&
        tf_result_traffic(e.spec->workload, &p->result) < 1.25 * 4096 * 11008);
  CHECK(text && strstr(text, "{ /* C: a product") &&
        strstr(strstr(text, "{ /* C: a product"), "stream_f32_64_11008_"));
  tf_emitted_free(k);
  tf_planned_free(p);
  case_drop(&e);
}

/* A convolution, and one over its padded result. */
static const char convs[] = "workload:\n"
                            "  name: convs\n"
                            "  dims: {c: 32, k: 32, j: 64, p: 28, q: 28, r: 3, s: 3}\n"
                            "  tensors:\n"
                            "    I: {pad: [0, 1, 1], shape: [32, 28, 28]}\n"
                            "    A: {pad: [0, 1, 1]}\n"
                            "  ops:\n"
                            "  - \"O[k,p,q] += I[c, p + r - 1, q + s - 1] * W[k,c,r,s]\"\n"
                            "  - \"A[k,p,q] = relu(O[k,p,q])\"\n"
                            "  - \"Y[j,p,q] += A[k, p + r - 1, q + s - 1] * V[j,k,r,s]\"\n";
/* Blocks of rows, so that the first convolution's range is clipped at the border. */
static const char blocks[] = "DRAM for p=4\n"
                             "  L3\n"
                             "    L2\n"
                             "      Seq\n"
                             "        L2 for p=9\n"
                             "          L1 for c=32 r=3 s=3\n"
                             "            REG for q=28 spatial k=16@x k=2@y\n"
                             "              op O\n"
                             "        L2 for p=9\n"
                             "          L1 for k=32\n"
                             "            REG for q=2 spatial q=14@x\n"
                             "              op A\n"
                             "        L2 for p=7 j=2\n"
                             "          L1 for k=32 r=3 s=3\n"
                             "            REG for q=28 spatial j=16@x j=2@y\n"
                             "              op Y\n";

static double kernel_cycles(const test_case *e, const tf_tree *t) {
  return tf_emit_cycles(t, NULL, &(tf_emit_options){.isa = "avx512"}, e->d);
}

/* Fused convolutions are products in every block of rows, those at the border too: of 32
 * multiply-adds a cycle the kernel promises no less than 14.  Scalar loops would cost more than a
 * cycle for each multiply-add. */
static void test_fused_convolutions(void) {
  test_case e = case_of(core, convs);
  const double macs = 9.0 * 32 * (32 * (9 + 9 + 9 + 9) + 64 * 28) * 28;
  tf_tree *t = tf_tree_parse(blocks, (tf_loc){0}, e.spec->arch, e.spec->workload, e.d);
  const double cycles = t ? kernel_cycles(&e, t) : -1;
  if (!CHECK(cycles > 0 && cycles < macs / 14)) {
    printf("%.0f cycles of %.0f multiply-adds\n", cycles, macs);
    case_complain(e.d);
  }
  tf_tree_free(t);
  case_drop(&e);
}

/* A plan that is far behind what it competes with is not polished, but stands; one that may win is
 * as without. */
static void test_rival(void) {
  static const double baselines[] = {0, 1, 1e15};
  int64_t evals[3] = {0};
  double cycles[3] = {0};
  test_case e = case_of(core, convs);
  for (int i = 0; i < 3; i++) {
    tf_planner_opts o = {.baseline = baselines[i]};
    tf_planned *p = plan(&e, &o);
    CHECK(p && p->tree && p->result.feasible);
    if (p) evals[i] = p->evals, cycles[i] = p->result.cycles;
    tf_planned_free(p);
  }
  CHECK(evals[1] < evals[0] && evals[2] == evals[0] && cycles[2] == cycles[0]);
  case_drop(&e);
}

/* Two products of one map, of other rows each, so that no template has them below the same loops.
 */
static const char apart[] =
    "workload:\n"
    "  name: apart\n"
    "  dims: {k: 8, i: 8, j: 8, p: 12, q: 12, u: 6, v: 6, r: 3, s: 3}\n"
    "  tensors: {A: {pad: [0, %d, %d]}}\n"
    "  ops:\n"
    "  - \"A[k,p,q] = relu(I[k,p,q])\"\n"
    "  - \"Y[j,p,q] += A[k, p + %d * r - %d, q + %d * s - %d] * V[j,k,r,s]\"\n"
    "  - \"Z[i,u,v] += A[k, 2 * u, 2 * v] * W[i,k]\"\n";

/* Whether the group has a plan. */
static bool is_planned(int border, double baseline) {
  char text[1024];
  snprintf(text, sizeof text, apart, border, border, border, border, border, border);
  test_case e = case_of(core, text);
  tf_planner_opts o = {.baseline = baseline};
  tf_planned *p = plan(&e, &o);
  const bool there = p && p->tree;
  CHECK(p && (there ? p->result.feasible && p->evals > 0 : p->evals == 0) &&
        tf_diags_errors(e.d) == 0);
  tf_planned_free(p);
  case_drop(&e);
  return there;
}

/* Where kernels of single ops compete, no mapping of any shape is looked for if borders make that
 * slow: there is no plan then.  One that nothing competes with has a plan whatever it takes. */
static void test_hopeless(void) {
  CHECK(is_planned(0, 0) && is_planned(0, 1e15) && is_planned(1, 0) && !is_planned(1, 1e15));
}

/* A first convolution that is dear, one over windows of its result, and a core that holds a few
 * rows: each row is made once.  Where windows do not overlap nothing is retained. */
static void test_halos(void) {
  static const char text[] = "params: {s: 1}\n"
                             "workload:\n"
                             "  name: halo\n"
                             "  dims: {c: 256, k: 32, j: 32, p: 56, q: 56, x: floor((56 - 3) / s) "
                             "+ 1, y: 54, r: 3, t: 3}\n"
                             "  ops:\n"
                             "  - \"O[k,p,q] += I[c,p,q] * W[k,c]\"\n"
                             "  - \"A[k,p,q] = relu(O[k,p,q])\"\n"
                             "  - \"Y[j,x,y] += A[k, s * x + r, y + t] * V[j,k,r,t]\"\n";
  for (int step = 1; step <= 3; step += 2) {
    char workload[1024], *found;
    snprintf(workload, sizeof workload, "%s", text);
    *strchr(workload, '1') = (char)('0' + step);
    test_case e = case_of(core, workload);
    tf_planner_opts o = {.budget = {.seed = 1, .threads = 1}, .kernel.isa = "avx512"};
    tf_planned *p = tf_planner_run(e.spec->arch, e.spec->workload, NULL, &o, e.d);
    found = p && p->tree ? tf_tree_text(p->tree) : NULL;
    if (!CHECK(found && !strstr(found, "retain O") == (step == 3) && !strstr(found, "retain A")))
      printf("%s\n", found ? found : "no plan"), case_complain(e.d);
    free(found);
    tf_planned_free(p);
    case_drop(&e);
  }
}

/* Weights of 1 x 1 and rows of 7: vectors are filled by channels. */
static void test_pointwise(void) {
  test_case e = case_of(core, "workload:\n"
                              "  name: w\n"
                              "  dims: {k: 64, c: 64, p: 7, q: 7}\n"
                              "  ops:\n"
                              "  - \"O[k,p,q] += I[c,p,q] * W[k,c,0,0]\"\n");
  tf_planner_opts o = {.kernel.isa = "avx512",
                       .budget = {.seed = 1, .threads = 1, .max_evals = 100}};
  tf_planned *p = tf_planner_run(e.spec->arch, e.spec->workload, NULL, &o, e.d);
  char *text = p && p->tree ? tf_tree_text(p->tree) : NULL;
  CHECK(text && strstr(text, "k=16@x"));
  CHECK(p && p->tree && kernel_cycles(&e, p->tree) < 64 * 64 * 49 / 8.0);
  free(text);
  tf_planned_free(p);
  case_drop(&e);
}

/* No memory holds the tensors. */
static void test_none_fits(void) {
  static const char tiny[] = "architecture:\n"
                             "  name: tiny\n"
                             "  clock: 1 GHz\n"
                             "  memories:\n"
                             "  - {name: DRAM, capacity: 100, bandwidth: 4}\n"
                             "  - {name: L1, capacity: 2, bandwidth: 64}\n"
                             "  compute:\n"
                             "  - {name: u, ops: [mac, add], below: L1}\n";
  test_case e = case_of(tiny, chain);
  tf_planner_opts o = {.n_time = 0};
  tf_planned *p = plan(&e, &o);
  CHECK(p && !p->tree && !p->found);
  CHECK_I64((int64_t)tf_diags_errors(e.d), 0);
  tf_planned_free(p);
  case_drop(&e);
}

/* The gradient of three small ops whose indices share no dim: no template suits it, and of mappings
 * drawn hardly any fits. Each op has one that does. */
static void test_unshared(void) {
  static const char gradient[] =
      "workload:\n"
      "  name: gradient\n"
      "  dims: {i: 7, j: 9, k: 9, r: 3, z: 31, q: 11, s: 3, t: 3, one: 1}\n"
      "  tensors:\n"
      "    A: {shape: [25, 21], pad: [0, 16]}\n"
      "    B: {shape: [31, 9], pad: [24, 0]}\n"
      "    C: {shape: [9, 9]}\n"
      "    d_Y: {shape: [9, 3], pad: [2, 0]}\n"
      "    in_7: {pad: [2]}\n"
      "    in_1: {pad: [32]}\n"
      "    in_3: {pad: [8]}\n"
      "  ops:\n"
      "  - T[i,j] += sigmoid(A[3*j,2*j + 2*r]) * B[3*r + 3*k,k]\n"
      "  - U[i,k] += sigmoid(T[i,j]) * C[j,j]\n"
      "  - d_U[i,k] += d_Y[j,r] * T[i,j] * exp(U[i,k])\n"
      "  - part_T[i,j] += d_Y[j,r] * exp(U[i,k])\n"
      "  - in_7[i] = 1\n"
      "  - part_D[q,s] += 9 * (-d_Y[q - t,r] * in_7[s + 3*t])\n"
      "  - in_1[one] = 1\n"
      "  - d_D[z] += part_D[q,s] * in_1[z - s - 3*q]\n"
      "  - part_T_2[i,j] += d_U[i,k] * C[j,j] * sigmoid(T[i,j]) * (1 - sigmoid(T[i,j]))\n"
      "  - d_T[i,j] = part_T[i,j] + part_T_2[i,j]\n"
      "  - in_3[r] = 1\n"
      "  - part_B[q,s,k] += d_T[i,j] * sigmoid(A[3*j,2*j + 2*q - 2*k]) * (in_1[s] * in_3[q - k])\n"
      "  - d_B[z,k] += part_B[q,s,k] * in_1[z - s - 3*q]\n";
  static const char machine[] =
      "architecture:\n"
      "  name: small\n"
      "  memories:\n"
      "  - {name: DRAM, bandwidth: 4}\n"
      "  - {name: L1, capacity: %d, bandwidth: 64}\n"
      "  - {name: REG, capacity: %d, bandwidth: 64}\n"
      "  compute:\n"
      "  - {name: u, ops: [mac, add, sub, mul, neg, exp, sigmoid], below: REG, mesh: [8, 1]}\n";
  for (int words = 8; words <= 8192; words *= 32) {
    page p = {.len = 0};
    say(&p, machine, words, words);
    test_case e = case_of(p.text, gradient);
    tf_planner_opts o = {.n_time = 0};
    tf_planned *found = plan(&e, &o);
    tf_emitted *k = found && found->tree ? tf_planned_emit(found, &o, e.d) : NULL;
    CHECK(k && found->result.feasible);
    tf_emitted_free(k);
    tf_planned_free(found);
    case_drop(&e);
  }
}

/* What the search alone finds of a form of the template, by the cost that plans go by; at least 0.
 */
static double best_of(const test_case *e, tf_template form) {
  const tf_emit_options k = {.isa = "portable"};
  const tf_search_opts so = {
      .objective = TF_EDP,
      .whole_tiles = true,
      .variants = 256,
      .budget = {.seed = 1, .threads = 1, .max_evals = form == TF_TEMPLATE_WHOLE ? 400 : 200}};
  tf_tree *t = tf_search_template(e->spec->arch, e->spec->workload, form);
  tf_search_result *r = t ? tf_search_run(e->spec->arch, e->spec->workload, t, &so, e->d) : NULL;
  double best = INFINITY;
  for (int i = 0; r && i < r->n_variants; i++)
    best = fmin(best, r->variants[i].figures.cycles +
                          tf_emit_cycles(r->variants[i].tree, "cpu", &k, e->d));
  tf_search_free(r);
  tf_tree_free(t);
  return best;
}

/* A plan costs no more than the best that its searches found, and somewhere less: factors moved on
 * from there. */
static void test_polished(void) {
  static const char wide[] = "workload:\n"
                             "  name: wide\n"
                             "  dims: {m: 48, n: 96, k: 96, l: 192}\n"
                             "  ops:\n"
                             "  - \"C[m,l] += A[m,k] * B[k,l]\"\n"
                             "  - \"E[m,n] += C[m,l] * D[l,n]\"\n";
  const tf_emit_options k = {.isa = "portable"};
  int less = 0;
  for (int i = 0; i < 2; i++) {
    test_case e = case_of(arch, i ? wide : chain);
    tf_planner_opts o = {.n_time = 0};
    tf_planned *p = plan(&e, &o);
    double best = best_of(&e, TF_TEMPLATE_WHOLE);
    if (!isfinite(best))
      best = fmin(best_of(&e, TF_TEMPLATE_PARTS), best_of(&e, TF_TEMPLATE_OUTSIDE));
    const double cost =
        p && p->tree ? p->result.cycles + tf_emit_cycles(p->tree, "cpu", &k, e.d) : INFINITY;
    CHECK(isfinite(cost) && cost <= best * (1 + 1e-12));
    less += cost < 0.99 * best;
    tf_planned_free(p);
    case_drop(&e);
  }
  CHECK(less > 0);
}

/* Of the kernel that this mapping is. */
static double mapped_cycles(const char *machine, const char *work, const char *mapping) {
  test_case e = case_of(machine, work);
  tf_tree *t = tf_tree_parse(mapping, (tf_loc){0}, e.spec->arch, e.spec->workload, e.d);
  const double cycles = t ? kernel_cycles(&e, t) : -1;
  if (!CHECK(cycles > 0)) case_complain(e.d);
  tf_tree_free(t);
  case_drop(&e);
  return cycles;
}

/* Maps of 16 x 1024 words that a core's second memory holds, of which the first keeps 4096. */
static const char maps[] = "workload:\n"
                           "  name: maps\n"
                           "  dims: {m: 16, n: 1024}\n"
                           "  ops:\n"
                           "  - \"B[m,n] = A[m,n] * 2\"\n"
                           "  - \"X[n] max= B[m,n]\"\n"
                           "  - \"C[m,n] = B[m,n] - X[n]\"\n"
                           "  - \"D[m,n] = C[m,n] * A[m,n]\"\n";

static double cycles_at(const char *mapping, int bandwidth) {
  page p = {.len = 0};
  say(&p,
      "architecture:\n  name: two\n  clock: 1 GHz\n  memories:\n  - {name: DRAM, bandwidth: 4}\n"
      "  - {name: L2, mesh: [2, 1], capacity: 1 MiB, bandwidth: %d}\n"
      "  - {name: L1, capacity: 32 KiB, bandwidth: 64}\n"
      "  compute:\n  - {name: u, ops: [mac, add, sub, mul, max], below: L1, mesh: [16, 1]}\n"
      "  core: {l1-resident: 16 KiB}\n",
      bandwidth);
  return mapped_cycles(p.text, maps, mapping);
}

/* Words that come and go, where a map is made as a whole before the next: B comes to be written,
 * goes, comes for X and for C, which stands in its place and goes once D has read it.  Some columns
 * at a time nothing does. */
static void test_traffic(void) {
  static const struct {
    int line;
    const char *outside;
    int inside;
    double words;
  } cases[] = {{__LINE__, "", 64, 5 * 16384}, {__LINE__, " for n=16", 4, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    page p = {.len = 0};
    say(&p, "DRAM%s\n  L2\n    Seq\n", cases[i].outside);
    for (int o = 0; o < 4; o++)
      say(&p, "      L2 for m=16\n        L1 for n=%d spatial n=16@x\n          op %c\n",
          cases[i].inside, "BXCD"[o]);
    const double words = (cycles_at(p.text, 4) - cycles_at(p.text, 8)) * 8;
    CHECK_ROW(&cases[i], words > cases[i].words - 1e-6 && words < cases[i].words + 1e-6);
  }
}

/* What boxes of an image wait for that comes from further out: counted element by element, where
 * the next one is a line or more away a piece ends. */
static double waits_of(int64_t channels, int64_t side, const int64_t box[2]) {
  enum { LINE = 16 };
  double all = 0;
  int64_t first = 0, last = -1;
  for (int64_t c = 0; c < channels; c++)
    for (int64_t p = 0; p < box[0]; p++)
      for (int64_t q = 0; q < box[1]; q++) {
        const int64_t at = (c * side + p) * side + q;
        if (last >= 0 && at - last > LINE)
          all += (double)(last + 1 - first + LINE) / 2 + 60 / 2, first = at;
        last = at;
      }
  return all + (double)(last + 1 - first + LINE) / 2 + 60 / 2;
}

static double box_cycles(const char *fetches, const char *mapping) {
  page p = {.len = 0};
  say(&p,
      "architecture:\n  name: far\n  clock: 1 GHz\n  memories:\n  - {name: DRAM, bandwidth: 4}\n"
      "  - {name: L2, capacity: 16 KiB, bandwidth: 16}\n"
      "  - {name: L1, capacity: 8 KiB, bandwidth: 64}\n"
      "  compute:\n  - {name: u, ops: [mac, add, mul, max], below: L1, mesh: [16, 2]}\n"
      "  core: {%s}\n",
      fetches);
  return mapped_cycles(p.text,
                       "workload:\n  name: strided\n  dims: {k: 32, p: 16, q: 16, c: 8}\n"
                       "  tensors:\n    I: {shape: [8, 32, 32]}\n  ops:\n"
                       "  - \"O[k,p,q] += I[c,2*p,2*q] * W[k,c]\"\n",
                       mapping);
}

/* Whole rows of an image that are more than a line apart, several rows one behind the other, and
 * parts of rows. */
static void test_pieces(void) {
  static const struct {
    int line;
    const char *mapping;
    int64_t boxes, box[2];
  } rows[] = {
      {__LINE__,
       "DRAM for p=16\n  L2 for c=8\n    L1 for q=16 spatial k=16@x k=2@y\n      op O\n",
       16,
       {1, 31}},
      {__LINE__,
       "DRAM for p=4\n  L2 for p=4 c=8\n    L1 for q=16 spatial k=16@x k=2@y\n      op O\n",
       4,
       {7, 31}},
      {__LINE__,
       "DRAM for q=2 p=4\n  L2 for p=4 c=8\n    L1 for q=8 spatial k=16@x k=2@y\n      op O\n",
       8,
       {7, 15}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const double waits = box_cycles("jump: 60, stream: 2", rows[i].mapping) -
                         box_cycles("jump: 0, stream: 1e9", rows[i].mapping);
    CHECK_ROW_NEAR(&rows[i], waits, (double)rows[i].boxes * waits_of(8, 32, rows[i].box), 1e-3);
  }
}

int main(void) {
  test_pieces();
  test_traffic();
  test_found();
  test_given();
  test_timed();
  test_twins();
  test_beside();
  test_once();
  test_stopped();
  test_none_fits();
  test_unshared();
  test_polished();
  test_fused_convolutions();
  test_rival();
  test_hopeless();
  test_halos();
  test_pointwise();
  return check_report();
}
