/* Machines that are not at hand: plans for other caches keep their structure.  Each op is one nest
 * below the loops that all ops share, and rows of a softmax are whole in it, or streamed a block of
 * keys at a time. */
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "model/input/table/energy.h"
#include "model/input/table/spread.h"
#include "tests/unit/case.h"
#include "tileflow/emit.h"
#include "tileflow/planner.h"
#include "tileflow/why.h"

/* A core of AVX-512 behind such caches, in KiB; 0: it has none.  net: whether the file says that
 * each core fetches on its own, which a file of one core may leave out. */
typedef struct {
  int l1, l2, l3, cores;
  bool net;
} caches;

static const caches machines[] = {{32, 512, 0, 1, true},  {48, 512, 16384, 2, true},
                                  {32, 1024, 0, 1, true}, {32, 1024, 25344, 1, false},
                                  {48, 2048, 0, 2, true}, {48, 2048, 107520, 1, true},
                                  {64, 4096, 0, 1, true}, {48, 3072, 32768, 1, false}};
enum { N_MACHINES = sizeof machines / sizeof *machines };

static void describe(const caches *c, char *text, size_t size) {
  char l3[80] = "", mesh[96];
  if (c->l3) snprintf(l3, sizeof l3, "  - {name: L3, capacity: %d KiB}\n", c->l3);
  snprintf(mesh, sizeof mesh, "mesh: [%d, 1], %s", c->cores,
           c->net ? "network: {multicast: false, reduce: false}, " : "");
  snprintf(
      text, size,
      "architecture:\n  name: host\n  clock: 2 GHz\n  word-bits: 32\n  memories:\n"
      "  - {name: DRAM, bandwidth: 20 GB/s}\n%s  - {name: L2, %scapacity: %d KiB, bandwidth: 16}\n"
      "  - {name: L1, capacity: %d KiB, bandwidth: {read: 32, write: 16}}\n"
      "  - {name: REG, capacity: 512}\n  compute:\n"
      "  - {name: fma, below: REG, mesh: [16, 2], ops: [mac, add, sub, mul, max, min, select]}\n"
      "  - {name: math, below: REG, mesh: [16, 2], rate: 0.1, ops: [add, sub, mul, max, min, div, "
      "exp]}\n",
      l3, mesh, c->l2, c->l1);
}

static const char chain[] = "workload:\n"
                            "  name: chain\n"
                            "  dims: {b: 2, m: 256, l: 512, k: 64, n: 64}\n"
                            "  ops:\n"
                            "  - \"C[b,m,l] += A[b,m,k] * B[b,k,l]\"\n"
                            "  - \"E[b,m,n] += C[b,m,l] * D[b,l,n]\"\n";
static const char attention[] = "workload:\n"
                                "  name: attention\n"
                                "  dims: {h: 4, m: 512, l: 512, a: 64, n: 64}\n"
                                "  ops:\n"
                                "  - \"S[h,m,l] += Q[h,m,a] * K[h,l,a]\"\n"
                                "  - \"X[h,m] max= S[h,m,l]\"\n"
                                "  - \"D[h,m,l] = S[h,m,l] - X[h,m]\"\n"
                                "  - \"E[h,m,l] = exp(D[h,m,l])\"\n"
                                "  - \"Z[h,m] += E[h,m,l]\"\n"
                                "  - \"P[h,m,l] = E[h,m,l] / Z[h,m]\"\n"
                                "  - \"O[h,m,n] += P[h,m,l] * V[h,l,n]\"\n";

/* The loops of the kernel that is planned; NULL: there is none. */
static char *planned_loops(const test_case *e) {
  const tf_planner_opts o = {.kernel.isa = "avx512",
                             .budget = {.seed = 1, .threads = 1, .max_evals = 600}};
  tf_planned *p = tf_planner_run(e->spec->arch, e->spec->workload, NULL, &o, e->d);
  char *text = p && p->tree ? tf_emit_ir(p->tree, "cpu", &o.kernel, e->d) : NULL;
  tf_planned_free(p);
  return text;
}

static int count(const char *text, const char *word) {
  int n = 0;
  for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
    n++;
  return n;
}

/* How often l is what it is in the first nest. */
static int count_alike(const char *first) {
  char range[64] = "";
  const char *at = strstr(first, " l["), *end = at ? strchr(at, ']') : NULL;
  if (end && (size_t)(end - at) < sizeof range) snprintf(range, (size_t)(end - at) + 2, "%s", at);
  return *range ? count(first, range) : 0;
}

/* All loops begin before the first nest, and l is all, or the block that is streamed, in each nest
 * that has it. */
static void check_structure(const test_case *e, const char *loops, int line) {
  const char *first = loops ? strstr(loops, "nest ") : NULL;
  if (!check_at(first != NULL, __FILE__, line, "a plan")) return;
  bool ok = check_at(!strstr(first, "for i_"), __FILE__, line, "no op falls apart");
  ok &= check_i64_at(count(loops, "nest "), e->spec->workload->n_ops, __FILE__, line,
                     "a nest for each op");
  ok &= check_i64_at(count_alike(first), count(first, " l["), __FILE__, line,
                     "rows are whole, or of one block");
  if (!ok) printf("%s", first);
}

static void test_structure(void) {
  static const char *const workload[] = {chain, attention};
  for (int i = 0; i < 2 * N_MACHINES; i++) {
    char arch[2048];
    describe(&machines[i / 2], arch, sizeof arch);
    test_case e = case_of(arch, workload[i % 2]);
    char *loops = planned_loops(&e);
    check_structure(&e, loops, 100 + i);
    free(loops);
    case_drop(&e);
  }
}

/* What a plan is ranked by: the model's cycles, and those of its kernel.  Infinite: there is none.
 */
static double planned_value(const caches *c, const char *workload) {
  char arch[2048];
  describe(c, arch, sizeof arch);
  test_case e = case_of(arch, workload);
  const tf_planner_opts o = {.kernel.isa = "avx512",
                             .budget = {.seed = 1, .threads = 1, .max_evals = 600}};
  tf_planned *p = tf_planner_run(e.spec->arch, e.spec->workload, NULL, &o, e.d);
  const double value =
      p && p->tree ? p->result.cycles + tf_emit_cycles(p->tree, "cpu", &o.kernel, e.d) : INFINITY;
  tf_planned_free(p);
  case_drop(&e);
  return value;
}

/* Any plan for a machine is one for the same machine with a larger cache, too: the plan for that
 * takes no longer, but for what is left to chance. */
static void test_growing(void) {
  static const char *const workload[] = {chain, attention};
  for (int i = 0; i < 2 * N_MACHINES; i++) {
    caches small = machines[i / 2], large = small;
    if (small.l3 && i / 2 % 2)
      large.l3 *= 2;
    else if (i / 2 % 3)
      large.l2 *= 2;
    else
      large.l1 += 16;
    const double before = planned_value(&small, workload[i % 2]),
                 after = planned_value(&large, workload[i % 2]);
    check_at(after <= 1.03 * before, __FILE__, 200 + i, "no longer with a larger cache");
  }
}

/* Blocks stay in L2, whatever its size and whether the file has one core or several. */
static void test_close(void) {
  for (int i = 0; i < N_MACHINES; i++) {
    char arch[2048];
    describe(&machines[i], arch, sizeof arch);
    test_case e = case_of(arch, chain);
    const tf_arch *a = e.spec->arch;
    CHECK_TEXT(a->memories[tf_arch_near_cache(a)].name, "L2");
    case_drop(&e);
  }
}

static int close_of(const char *memories) {
  char arch[1024];
  snprintf(arch, sizeof arch,
           "architecture:\n  name: a\n  clock: 1 GHz\n  memories:\n  - {name: DRAM}\n%s  compute:\n"
           "  - {name: u, ops: [mac, add]}\n",
           memories);
  test_case e = case_of(arch, chain);
  const int level = tf_arch_near_cache(e.spec->arch);
  case_drop(&e);
  return level;
}

/* Machines that are no CPUs, and files that say little. */
static void test_few(void) {
  CHECK_I64(close_of(""), 0);
  CHECK_I64(close_of("  - {name: A}\n"), 0);
  CHECK_I64(close_of("  - {name: A, capacity: 64}\n"), 1);
  CHECK_I64(close_of("  - {name: A}\n  - {name: B, capacity: 64}\n"), 2);
  CHECK_I64(close_of("  - {name: A, capacity: 4096}\n  - {name: B, capacity: 4, mesh: [16, 16]}\n"),
            1);
  CHECK_I64(close_of("  - {name: A, capacity: 4096}\n  - {name: B, capacity: 512, mesh: [2, 1]}\n"
                     "  - {name: C, capacity: 4}\n"),
            2);
}

/* ---- arrays that compute --------------------------------------------------------------------- */
static test_case example(const char *path) {
  size_t len;
  char *text = case_file(path, &len);
  test_case e = {.d = tf_diags_new()};
  case_read(&e, text);
  free(text);
  if (!CHECK(case_evaluate(&e))) case_complain(e.d);
  return e;
}

static bool near(double a, double b, double part) { return fabs(a - b) <= part * b; }

/* What ISAAC's table (ISCA 2016) gives of one IMA at work: mW and mm2 of its parts, and of the chip
 * of 12 IMAs in each of 168 tiles 478.95 GOPS per mm2 of its 85.4 mm2. */
static void test_isaac(void) {
  static const double published[] = {0, 1.24, 0.23, 4, 16 + 0.01 + 0.2,
                                     0, 2.4}; /* the last: the arrays' cells */
  static const int64_t actions[] = {0,    1024, 8,
                                    1024, 1024, 0}; /* in a cycle; results in 16 of them */
  test_case e = example("examples/cim-isaac.yaml");
  if (!e.ok) return;
  const tf_arch *a = e.spec->arch;
  const double seconds = e.r.cycles / a->clock_hz,
               points = (double)e.r.ops[0].points / (16 * 8); /* bits of X, cells of W */
  tf_area_source source;
  double mw = 0;
  for (int l = 0; l <= a->n_memories; l++) {
    const double here =
        (l < a->n_memories ? e.r.levels[l].energy_pj : e.r.units[0].energy_pj) * 1e-9 / seconds;
    if (!CHECK(near(here, published[l], 1e-6))) printf("part %d: %g mW\n", l, here);
    mw += here;
  }
  CHECK(near(mw, 24.08, 1e-6) && near(tf_arch_area(a, &source), 0.01312e6, 1e-6));
  CHECK(near(2 * points / seconds * 12 * 168, 478.95e9 * 85.4, 0.01));
  for (int l = 1; l < a->n_memories - 1; l++) {
    const tf_counts *c = &e.r.counts[l * 3];
    const int64_t done = l == 2 || l == 4 ? c[0].update + c[1].update + c[2].update
                                          : c[0].read + c[1].read + c[2].read;
    CHECK_I64(done, actions[l] * 64);
  }
  CHECK_I64(e.r.counts[0].read + e.r.counts[1].read + e.r.counts[2].read,
            4 * 8 * 128 * 16 + 8 * 128 * 16 * 8); /* W once */
  case_drop(&e);
}

/* A macro's 372.4 GOPS and 351 TOPS/W; half of its rows take no less. */
static void test_sram(void) {
  test_case e = example("examples/cim-sram.yaml");
  if (!e.ok) return;
  const double seconds = e.r.cycles / e.spec->arch->clock_hz, done = 2 * (double)e.r.ops[0].points;
  CHECK(near(done / seconds, 372.4e9, 0.001) &&
        near(done / (e.r.energy_pj * 1e-12), 351e12, 0.001));
  const double whole = e.r.energy_pj;
  case_drop(&e);
  size_t len;
  char *text = case_file("examples/cim-sram.yaml", &len), *k = strstr(text, "k: 64"),
       *rows = strstr(text, "k=64");
  if (CHECK(k && rows)) memcpy(k, "k: 32", 5), memcpy(rows, "k=32", 4);
  test_case half = {.d = tf_diags_new()};
  case_read(&half, text);
  CHECK(case_evaluate(&half) && near(half.r.energy_pj, whole, 1e-9));
  CHECK_I64(half.r.ops[0].points, 100 * 16 * 32);
  free(text);
  case_drop(&half);
}

/* ---- energies as sources differ -------------------------------------------------------------- */
/* A machine whose energies come from the tables but for one memory's; drawn: its sizes and its
 * node. */
static const char ranged_dense[] = "architecture:\n"
                                   "  technology: %d nm\n"
                                   "  word-bits: %d\n"
                                   "  memories:\n"
                                   "  - {name: DRAM, bandwidth: 4}\n"
                                   "  - {name: Buffer, capacity: %d KiB, access: %d, leakage: 2 "
                                   "pJ, mesh: [2, 1], network: {energy-per-hop: 3 pJ}}\n"
                                   "  - {name: Spad, capacity: %d B}\n"
                                   "  - {name: Regs, capacity: 32, energy: 5 pJ}\n"
                                   "  compute: [{name: mac, ops: [mac], mesh: [4, 1]}]\n"
                                   "workload:\n"
                                   "  dims: {m: 16, n: 12, k: 9}\n"
                                   "  tensors: {A: {word-bits: %d}}\n"
                                   "  ops: [\"C[m,n] += A[m,k] * B[k,n]\"]\n"
                                   "mapping: |\n"
                                   "  DRAM for m=4 spatial m=2@x\n"
                                   "    Buffer for n=3 k=3\n"
                                   "      Spad for k=3\n"
                                   "        Regs for m=2 spatial n=4@x\n"
                                   "          op C\n";
/* Zeros, in a format whose entries have an energy of their own, and in one whose bits are words. */
static const char ranged_zeros[] =
    "architecture:\n"
    "  technology: 7 nm\n"
    "  word-bits: 8\n"
    "  memories:\n"
    "  - {name: DRAM, bandwidth: 4, format: [{tensors: [W], ranks: [{as: coordinate, bits: 2}], "
    "energy: 3 pJ}]}\n"
    "  - name: Buffer\n"
    "    capacity: 64 KiB\n"
    "    format: [{ranks: [bitmask]}]\n"
    "    skipping: [{target: '*', on: [W]}]\n"
    "  compute: [{name: mac, ops: [mac], mesh: [8, 1]}]\n"
    "workload:\n"
    "  dims: {m: 16, n: 16, k: 32}\n"
    "  tensors: {W: {density: {n: 2, m: 4, dim: k}}, X: {density: 0.3}}\n"
    "  ops: [\"Y[m,n] += X[m,k] * W[k,n]\"]\n"
    "mapping: |\n"
    "  DRAM for m=4\n"
    "    Buffer for k=32 m=4 n=2 spatial n=8@x\n"
    "      op Y\n";

/* The energy on a machine whose energies are those of the tables times what one side of the sources
 * says. */
static double energy_at(const char *text, bool high) {
  test_case e = {.d = tf_diags_new()};
  e.spec = case_spec(text, e.d);
  if (!CHECK(e.spec != NULL)) return NAN;
  tf_arch *a = (tf_arch *)(uintptr_t)e.spec->arch;
  for (int l = 0; l < a->n_memories; l++) {
    tf_memory *m = &a->memories[l];
    const tf_spread s =
        tf_spread_word(tf_table_bytes(m), a->technology_nm, tf_table_off_chip(a, l));
    if (m->energy_from_table) m->read_pj = m->write_pj *= high ? s.high : s.low;
  }
  for (int u = 0; u < a->n_units; u++) {
    const tf_spread s = tf_spread_point(a->units[u].kinds, a->word_bits, a->technology_nm);
    a->units[u].pj *= high ? s.high : s.low;
  }
  case_prepare(&e);
  if (!CHECK(case_evaluate(&e))) case_complain(e.d);
  const double pj = e.ok ? e.r.energy_pj : NAN;
  case_drop(&e);
  return pj;
}

/* Figures that the architecture gives are as certain as it says. */
static void test_given(void) {
  test_case e = example("examples/systolic-row.yaml");
  tf_margin r = {0};
  CHECK(e.ok && !tf_energy_range(e.model, &r) && near(r.low, e.r.energy_pj, 1e-12) &&
        near(r.high, r.low, 1e-12));
  case_drop(&e);
}

static void test_ranges(const char *text) {
  test_case e = {.d = tf_diags_new()};
  case_read(&e, text);
  tf_margin whole = {0}, part, sum = {0};
  if (!CHECK(case_evaluate(&e))) case_complain(e.d);
  CHECK(e.ok && tf_energy_range(e.model, &whole) && whole.low <= e.r.energy_pj &&
        e.r.energy_pj <= whole.high);
  CHECK(near(whole.low, energy_at(text, false), 1e-9) &&
        near(whole.high, energy_at(text, true), 1e-9));
  for (int l = 0; e.ok && l < e.spec->arch->n_memories; l++) {
    tf_level_energy_range(e.model, l, &part);
    CHECK(part.low <= e.r.levels[l].energy_pj && e.r.levels[l].energy_pj <= part.high);
    sum.low += part.low, sum.high += part.high;
  }
  for (int u = 0; e.ok && u < e.spec->arch->n_units; u++) {
    tf_unit_energy_range(e.model, u, &part);
    sum.low += part.low, sum.high += part.high;
  }
  CHECK(near(sum.low + e.r.leakage_pj, whole.low, 1e-9) &&
        near(sum.high + e.r.leakage_pj, whole.high, 1e-9));
  case_drop(&e);
}

static void test_ranges_drawn(void) {
  static const int nodes[] = {3, 4, 7, 10, 16, 28, 45, 65, 90},
                   sizes[] = {1, 8, 20, 64, 128, 700, 1024, 4096};
  tf_rng g = tf_rng_new(41, 0);
  for (int i = 0; i < 200; i++) {
    char text[sizeof ranged_dense + 80];
    const int nm = nodes[tf_rng_below(&g, 9)], bits = 8 * (1 + (int)tf_rng_below(&g, 5));
    snprintf(text, sizeof text, ranged_dense, nm, bits, sizes[tf_rng_below(&g, 8)],
             1 + (int)tf_rng_below(&g, 4), 8 << tf_rng_below(&g, 8), bits >> tf_rng_below(&g, 2));
    test_ranges(text);
  }
}

int main(void) {
  test_isaac();
  test_sram();
  test_given();
  test_ranges_drawn();
  test_ranges(ranged_zeros);
  test_close();
  test_few();
  test_structure();
  test_growing();
  return check_report();
}
