/* The cost of the CUDA target: blocks of a multiprocessor and waves against dealing blocks out one
 * by one; what may only grow; lanes that share a sum; tiles that blocks of a wave share; steps that
 * a mask leaves nothing of. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "codegen/backend/cuda/cuda.h"
#include "codegen/backend/cuda/pass/pass.h"
#include "codegen/lower/lower.h"
#include "tests/unit/case.h"

/* ---- a multiprocessor ---- */

/* One more block at a time, while each of its 8 warps finds registers, in pieces of 256, and all of
 * it threads and shared memory, of which the system takes a KiB for each block. */
static int fill(int registers, int shared) {
  int blocks = 0;
  for (int left = 65536, bytes = 228 * 1024, threads = 2048;; blocks++) {
    for (int warp = 0; warp < 8; warp++)
      for (int taken = 0; taken < registers * 32; taken += 256)
        left -= 256;
    bytes -= shared + 1024;
    threads -= 256;
    if (left < 0 || bytes < 0 || threads < 0) return blocks ? blocks : 1;
  }
}

static void check_resident(void) {
  const tf_multiprocessor h100 = tf_multiprocessor_usual();
  for (int registers = 1; registers <= 255; registers++)
    for (int shared = 0; shared <= 256 * 1024; shared += 3 * 1024)
      CHECK_I64((int64_t)cu_resident(&h100, registers, shared), fill(registers, shared));
  CHECK(cu_resident(&h100, 400, 0) == cu_resident(&h100, 255, 0)); /* the rest spills */
  tf_multiprocessor odd = h100;
  odd.threads = 1000; /* threads that are left over make no block */
  CHECK(cu_resident(&odd, 32, 0) == 3);
}

/* ---- waves ---- */

enum { MULTIPROCESSORS = 8 };

/* wide: one block gets as much of the memory's rate as all do else. */
#define ARCH(rate)                                                                                 \
  "architecture:\n  name: gpu\n  clock: 1 GHz\n  memories:\n  - {name: HBM, bandwidth: " rate      \
  "}\n"                                                                                            \
  "  - {name: SMEM, capacity: 4 MiB, bandwidth: 64, mesh: [4, 2]}\n  compute:\n"                   \
  "  - {name: u, ops: [mac, add], below: SMEM, mesh: [16, 16]}\n"
static const char *const arch = ARCH("64"), *const wide = ARCH("512");

/* The case's kernel as the target's passes leave it; NULL: an error in e->d. */
static ir_program *lowered(test_case *e, const char *dtype, const char *isa) {
  const tf_emit_options o = {.dtype = dtype, .isa = isa};
  ir_machine machine;
  case_prepare(e);
  return e->tree && tf_target_cuda.machine(&o, &machine, e->d)
             ? lower_kernel(e->tree, &tf_target_cuda.lower, &machine, e->d)
             : NULL;
}

/* Cost, and blocks that a multiprocessor has at a time of the first part.  No unit is busy for
 * longer than that. */
static double cost_of(const char *machine_of, const char *workload, const char *dtype,
                      int *at_once) {
  test_case e = case_of(machine_of, workload);
  ir_program *p = lowered(&e, dtype, NULL);
  CHECK(p != NULL);
  if (!p) case_complain(e.d);
  const tf_times t = p ? cu_times(p) : (tf_times){.cycles = 0};
  double shared = 0;
  for (int u = 0; u < TF_N_TIMES; u++)
    CHECK(t.unit[u] <= t.cycles * (1 + 1e-9) && t.unit[u] <= t.unit[t.bound]);
  for (int i = 0; p && i < p->n_buffers; i++)
    if (p->buffers[i].space == CU_SHARED) shared += (double)cu_bytes(&p->buffers[i]);
  for (int i = 0; p && at_once && i < p->body.n; i++)
    if (p->body.s[i]->kind == IR_FOR)
      *at_once =
          (int)cu_resident(&p->tree->arch->multiprocessor, cu_registers(p, p->body.s[i]), shared);
  ir_free(p);
  case_drop(&e);
  return t.cycles;
}

static double product(int blocks, int k, const char *dtype, int *at_once) {
  char text[512];
  snprintf(text, sizeof text,
           "workload:\n  name: p\n  dims: {b: %d, m: 64, n: 64, k: %d}\n  ops:\n"
           "  - C[b,m,n] += A[b,m,k] * B[b,k,n]\n"
           "mapping: |\n  HBM for b=%d\n    SMEM for m=64 n=64 k=%d\n      op C\n",
           blocks, k, blocks, k);
  return cost_of(arch, text, dtype, at_once);
}

/* Blocks are dealt out in turn, as many at once as there is room; a wave takes what its fullest
 * multiprocessor takes, and that follows from as many blocks everywhere. */
static void check_waves(const char *dtype) {
  int at_once = 0;
  product(MULTIPROCESSORS, 512, dtype, &at_once); /* few blocks are lowered otherwise */
  CHECK(at_once >= 1 && at_once <= 8);
  double full[9] = {0}; /* [blocks everywhere] with the kernel's start */
  for (int n = 1; n <= at_once; n++)
    full[n] = product(n * MULTIPROCESSORS, 512, dtype, NULL);
  const double wave = product(2 * at_once * MULTIPROCESSORS, 512, dtype, NULL) - full[at_once];
  double before = 0;
  for (int blocks = MULTIPROCESSORS; blocks <= 3 * at_once * MULTIPROCESSORS + 3; blocks += 3) {
    double want = full[at_once] - wave; /* the start */
    for (int left = blocks; left > 0;) {
      int has[MULTIPROCESSORS] = {0}, most = 0;
      for (int i = 0; i < at_once * MULTIPROCESSORS && left > 0; i++, left--)
        if (++has[i % MULTIPROCESSORS] > most) most = has[i % MULTIPROCESSORS];
      want += full[most] - (full[at_once] - wave);
    }
    const double cost = product(blocks, 512, dtype, NULL);
    CHECK_NEAR(cost, want, 1e-9);
    CHECK(cost >= before);
    before = cost;
  }
  CHECK(product(8, 1024, dtype, NULL) > product(8, 512, dtype, NULL));
}

/* ---- sums ---- */

static double row_sums(int n, int k) {
  char text[512];
  snprintf(
      text, sizeof text,
      "workload:\n  name: p\n  dims: {m: 8, n: %d, k: %d}\n  ops:\n  - \"C[m,n] += A[m,n,k]\"\n"
      "mapping: |\n  HBM\n    SMEM for m=8 n=%d k=%d\n      op C\n",
      n, k, n, k);
  return cost_of(wide, text, "f32", NULL);
}

/* Up to 8 columns a warp's lanes share each sum; of 16 every thread sums alone, and waits for each
 * of its points. */
static void check_sums(void) {
  const double shared = row_sums(8, 4096) - row_sums(8, 2048),
               alone = row_sums(16, 4096) - row_sums(16, 2048);
  CHECK(shared > 0);
  CHECK(alone > 3 * shared);
}

/* ---- tiles of a wave ---- */

/* Blocks (i, j) of a product in the order of their numbers, i * columns + j, bring rows i and
 * columns j: how many different rows and columns, wave after wave. */
static void check_shared_tiles(int rows, int columns, int wave) {
  char text[512];
  snprintf(text, sizeof text,
           "workload:\n  name: p\n  dims: {m: %d, n: %d, k: 128}\n  ops:\n"
           "  - C[m,n] += A[m,k] * B[k,n]\n"
           "mapping: |\n  HBM for m=%d n=%d k=2\n    SMEM for m=128 n=128 k=64\n      op C\n",
           128 * rows, 128 * columns, rows, columns);
  test_case e = case_of(arch, text);
  ir_program *p = lowered(&e, "bf16", NULL);
  CHECK(p && p->body.n == 1 && p->body.s[0]->loop.trip == rows * columns);
  double of[8] = {0}, want[2] = {0};
  if (p) cu_shared_tiles(p, p->body.s[0], wave, 2, of); /* the first pieces of both operands */
  for (int first = 0; first < rows * columns; first += wave)
    for (int side = 0; side < 2; side++)
      for (int x = 0; x < (side ? columns : rows); x++) {
        bool any = false;
        for (int b = first; b < first + wave && b < rows * columns; b++)
          any |= (side ? b % columns : b / columns) == x;
        want[side] += any;
      }
  CHECK_NEAR(of[0], want[0], 1e-9);
  CHECK_NEAR(of[1], want[1], 1e-9);
  ir_free(p);
  case_drop(&e);
}

/* ---- masks ---- */

static const char *const hopper =
    "architecture:\n  name: gpu\n  clock: 1 GHz\n  word-bits: 16\n  memories:\n"
    "  - {name: HBM, bandwidth: 64}\n"
    "  - {name: SMEM, capacity: 227 KiB, bandwidth: 64, mesh: [4, 2]}\n  compute:\n"
    "  - {name: u, ops: [mac, add, sub, div, exp, max, select], below: SMEM, mesh: [16, 16]}\n";

/* Cycles of tensor cores for attention of one head in blocks of 128 rows and steps of 64 keys, by
 * warpgroups. */
static double tensor_of(int length, const char *mask) {
  char text[1024];
  int n = snprintf(
      text, sizeof text,
      "workload:\n  name: p\n  dims: {m: %d, l: %d, a: 64, n: 64}\n  ops:\n"
      "  - \"S[m,l] += Q[m,a] * K[l,a]\"\n  - \"T[m,l] = select(%s, S[m,l], -inf)\"\n"
      "  - \"X[m] max= T[m,l]\"\n  - \"E[m,l] = exp(T[m,l] - X[m])\"\n  - \"Z[m] += E[m,l]\"\n"
      "  - \"P[m,l] = E[m,l] / Z[m]\"\n  - \"O[m,n] += P[m,l] * V[l,n]\"\nmapping: |\n"
      "  HBM for m=%d l=%d\n    Seq keep S@SMEM T@SMEM X@SMEM E@SMEM Z@SMEM P@SMEM stream X Z O\n",
      length, length, mask, length / 128, length / 64);
  static const char *const ops[] = {"S", "T", "X", "E", "Z", "P", "O"};
  for (int i = 0; i < 7; i++)
    n += snprintf(text + n, sizeof text - (size_t)n, "      SMEM for m=128 l=64%s\n        op %s\n",
                  i == 0   ? " a=64"
                  : i == 6 ? " n=64"
                           : "",
                  ops[i]);
  test_case e = case_of(hopper, text);
  ir_program *p = lowered(&e, "bf16", "sm_90a");
  CHECK(p && p->body.n == 1 && cu_is_groups(p->body.s[0]));
  const double cycles = p ? cu_times(p).unit[TF_TIME_TENSOR] : 0;
  ir_free(p);
  case_drop(&e);
  return cycles;
}

/* Blocks of rows times steps of keys with at least one pair l - m in lo .. hi, of all. */
static double left_of(int length, int lo, int hi) {
  int left = 0, all = 0;
  for (int m = 0; m < length; m += 128)
    for (int l = 0; l < length; l += 64) {
      bool any = false;
      for (int i = m; i < m + 128; i++)
        for (int k = l; k < l + 64; k++)
          any |= k - i >= lo && k - i <= hi;
      left += any;
      all++;
    }
  return (double)left / all;
}

static void check_masks(void) {
  for (int length = 256; length <= 1024; length += 256) {
    const double all = tensor_of(length, "l <= m + 100000");
    CHECK_NEAR(tensor_of(length, "l <= m"), all * left_of(length, -length, 0), 1e-9);
    CHECK_NEAR(tensor_of(length, "l <= m + 70"), all * left_of(length, -length, 70), 1e-9);
    CHECK_NEAR(tensor_of(length, "l >= m - 100"), all * left_of(length, -100, length), 1e-9);
  }
}

/* ---- what a warp issues ---- */

/* Of a product of 128 x 128 in steps of 64 by mma.sync: as count.c counts products and loads, whose
 * places are 3 instructions for each of the step's four pieces of A's rows and of 16 of B's
 * columns, a warp's 32; the lane's row and piece of A take 8, those of B, which is turned, 5; two
 * tiles of four pieces a thread.  Sums begin before the loop.  The number
 * of steps changes nothing but that a single one is no loop: then it is all of the block, which
 * stores two sums at a time. */
static void check_step(int steps) {
  char text[512];
  snprintf(text, sizeof text,
           "workload:\n  name: p\n  dims: {m: 256, n: 256, k: %d}\n  ops:\n"
           "  - C[m,n] += A[m,k] * B[k,n]\n"
           "mapping: |\n  HBM for m=2 n=2 k=%d\n    SMEM for m=128 n=128 k=64\n      op C\n",
           64 * steps, steps);
  test_case e = case_of(arch, text);
  ir_program *p = lowered(&e, "bf16", NULL);
  CHECK(p && p->body.n == 1);
  if (p) {
    const cu_step step = cu_step_of(p, p->body.s[0]);
    const cu_counts n = cu_count(p, p->body.s[0]);
    enum {
      WARPS = 8,
      POINTS = 16 * 8 * 16,
      SUMS = 128 * 128 / (8 * 32),
      PIECES = 128 * 64 * 2 / 16 / (8 * 32)
    };
    const int steps_of_a = 64 / 16, columns_of_b = 32 / 16;
    const double once = steps > 1 ? 20 : SUMS / 2 * 18 + 50;
    CHECK_I64(n.loaded, steps_of_a * (64 / 16 + columns_of_b));
    CHECK_NEAR(step.multiplied * WARPS * POINTS, 128 * 128 * 64, 1e-9);
    /* the thread's own, two tiles, sums, four registers and an address of 16 rows or columns */
    CHECK_NEAR(cu_registers(p, p->body.s[0]),
               16 + 2 * 7 + SUMS + (64 / 16 + columns_of_b) * (4 + 1), 1e-9);
    CHECK_NEAR(step.multiplied, (double)n.multiplied, 1e-9);
    CHECK_NEAR(step.issued,
               (double)(n.multiplied + n.loaded + 3 * (steps_of_a + columns_of_b) + 8 + 5 +
                        2 * (55 + 3 * PIECES)) +
                   once,
               1e-9);
  }
  ir_free(p);
  case_drop(&e);
}

/* ---- few blocks, few warps ---- */

/* Attention of 8 heads, four queries each, in blocks of a head and steps of 128 keys: one warp does
 * what is for its rows, so that a step takes no less than five cycles an instruction, and begins
 * two products. */
static void check_few_rows(void) {
  static const char *const few =
      "architecture:\n  name: gpu\n  clock: 1 GHz\n  word-bits: 16\n  memories:\n"
      "  - {name: HBM, bandwidth: 65536}\n"
      "  - {name: SMEM, capacity: 227 KiB, bandwidth: 64, mesh: [4, 2]}\n  compute:\n"
      "  - {name: u, ops: [mac, add, sub, div, exp, max, select], below: SMEM, mesh: [16, 16]}\n";
  static const char *const text =
      "workload:\n  name: p\n  dims: {h: 8, m: 4, l: 4096, a: 64, n: 64}\n  ops:\n"
      "  - \"S[h,m,l] += Q[h,m,a] * K[h,l,a]\"\n  - \"X[h,m] max= S[h,m,l]\"\n"
      "  - \"E[h,m,l] = exp(S[h,m,l] - X[h,m])\"\n  - \"Z[h,m] += E[h,m,l]\"\n"
      "  - \"P[h,m,l] = E[h,m,l] / Z[h,m]\"\n  - \"O[h,m,n] += P[h,m,l] * V[h,l,n]\"\nmapping: |\n"
      "  HBM for h=8 l=32\n    Seq keep S@SMEM X@SMEM E@SMEM Z@SMEM P@SMEM stream X Z O\n"
      "      SMEM for m=4 l=128 a=64\n        op S\n      SMEM for m=4 l=128\n        op X\n"
      "      SMEM for m=4 l=128\n        op E\n      SMEM for m=4 l=128\n        op Z\n"
      "      SMEM for m=4 l=128\n        op P\n      SMEM for m=4 l=128 n=64\n        op O\n";
  test_case e = case_of(few, text);
  ir_program *p = lowered(&e, "bf16", NULL);
  CHECK(p && p->body.n == 1 && p->body.s[0]->loop.trip == 8);
  if (p) {
    enum { STEPS = 32, CYCLES = 5, BEGUN = 22, MULTIPLIED = 2 * (128 / 16) * (64 / 8) };
    const cu_step step = cu_step_of(p, p->body.s[0]);
    CHECK_NEAR(step.multiplied, MULTIPLIED, 1e-9);
    CHECK(step.issued > MULTIPLIED + 2 * BEGUN);
    CHECK(cu_times(p).cycles >= STEPS * CYCLES * step.issued);
  } else {
    case_complain(e.d);
  }
  ir_free(p);
  case_drop(&e);
}

/* Blocks on two thirds of the multiprocessors get all of the memory's rate, and fewer as much less
 * as they are. */
static void check_readers(void) {
  double of[MULTIPROCESSORS + 1] = {0};
  for (int blocks = 2; blocks <= MULTIPROCESSORS; blocks++) {
    char text[512];
    snprintf(text, sizeof text,
             "workload:\n  name: p\n  dims: {b: %d, m: 64, n: 64, k: 512}\n  ops:\n"
             "  - C[b,m,n] += A[b,m,k] * B[b,k,n]\n"
             "mapping: |\n  HBM for b=%d\n    SMEM for m=64 n=64 k=512\n      op C\n",
             blocks, blocks);
    test_case e = case_of(arch, text);
    ir_program *p = lowered(&e, "bf16", NULL);
    CHECK(p && p->body.n == 1 && p->body.s[0]->loop.trip == blocks);
    if (p) of[blocks] = cu_times(p).unit[TF_TIME_MEMORY] / blocks;
    ir_free(p);
    case_drop(&e);
  }
  for (int blocks = 2; blocks <= MULTIPROCESSORS; blocks++) {
    const double rate = 3.0 * blocks < 2.0 * MULTIPROCESSORS ? 1.5 * blocks / MULTIPROCESSORS : 1;
    CHECK_NEAR(of[blocks] * rate, of[MULTIPROCESSORS], 1e-9);
  }
}

/* ---- rows that do not begin on 16 bytes ---- */

static const ir_stmt *find_copy(const ir_program *p, const ir_body *b, const char *tensor) {
  const ir_stmt *found = NULL;
  for (int i = 0; i < b->n && !found; i++) {
    const ir_stmt *s = b->s[i];
    if (s->kind == IR_COPY &&
        !strcmp(p->tree->workload->tensors[p->buffers[s->copy.from].tensor].name, tensor))
      found = s;
    if (!found) found = find_copy(p, &s->body, tensor);
  }
  return found;
}

/* Rows of B of n elements each, in blocks of 64 columns: the power of two on which all of them
 * begin, one by one; and that nothing is cheaper than rows on 16 bytes, nor words than what is put
 * together. */
static void check_rows(const char *dtype, int bytes) {
  double cost[17] = {0};
  for (int n = 65; n <= 97; n++) {
    char text[512];
    snprintf(text, sizeof text,
             "workload:\n  name: p\n  dims: {m: 128, n: %d, k: 4096}\n  ops:\n"
             "  - C[m,n] += A[m,k] * B[k,n]\n"
             "mapping: |\n  HBM for m=2 n=2\n    SMEM for m=64 n=64 k=4096\n      op C\n",
             n);
    test_case e = case_of(arch, text);
    ir_program *p = lowered(&e, dtype, NULL);
    const ir_stmt *b = p ? find_copy(p, &p->body, "B") : NULL;
    CHECK(b != NULL);
    int want = 16;
    for (int row = 0; row < 16; row++)
      for (int column = 0; column < n; column += 64)
        while ((row * n + column) * bytes % want)
          want /= 2;
    if (b) CHECK_I64(cu_row_alignment(p, b), want);
    if (b && n > 96 - 16 && n <= 96) cost[want] = fmax(cost[want], cu_times(p).cycles);
    ir_free(p);
    case_drop(&e);
  }
  for (int i = 1; i < 16; i *= 2)
    if (cost[i] > 0) CHECK(cost[i] > cost[16] && (i >= 4 || cost[4] <= 0 || cost[i] > cost[4]));
}

/* ---- products of the same rows ---- */

static int count_copies(const ir_program *p, const ir_body *b, const char *tensor) {
  int n = 0;
  for (int i = 0; i < b->n; i++) {
    const ir_stmt *s = b->s[i];
    n += s->kind == IR_COPY &&
         !strcmp(p->tree->workload->tensors[p->buffers[s->copy.from].tensor].name, tensor);
    n += count_copies(p, &s->body, tensor);
  }
  return n;
}

/* Two products in blocks of 128 x 128, of A's rows and of those of `other`: what L2 is busy with,
 * and how often the text brings A for each time that it brings the columns of the first. */
static double of_two(const char *other, const char *isa, double *each) {
  char text[1024];
  snprintf(
      text, sizeof text,
      "workload:\n  name: p\n  dims: {m: 256, l: 256, k: 512}\n  ops:\n"
      "  - \"U[m,l] += A[m,k] * B[k,l]\"\n"
      "  - \"V[m,l] += %s[m,k] * C[k,l]\"\n  - \"G[m,l] = max(U[m,l] + V[m,l], 0)\"\nmapping: |\n"
      "  HBM for m=2 l=2\n    Seq keep U@SMEM V@SMEM\n      SMEM for m=128 l=128 k=512\n"
      "        op U\n"
      "      SMEM for m=128 l=128 k=512\n        op V\n      SMEM for m=128 l=128\n        op G\n",
      other);
  test_case e = case_of(hopper, text);
  ir_program *p = lowered(&e, "bf16", isa);
  CHECK(p && p->body.n == 1 && cu_is_groups(p->body.s[0]) == (isa != NULL));
  if (p && isa) /* two warpgroups multiply, one brings: all of a multiprocessor's, in eights */
    CHECK_NEAR(cu_registers(p, p->body.s[0]), 65536 / (3 * 128) / 8 * 8, 1e-9);
  double l2 = 0;
  if (p) {
    const int of_a = count_copies(p, &p->body, "A"), of_b = count_copies(p, &p->body, "B");
    CHECK_I64(of_b, count_copies(p, &p->body, "C"));
    *each = (double)of_a / of_b;
    l2 = cu_times(p).unit[TF_TIME_L2];
  } else {
    case_complain(e.d);
  }
  ir_free(p);
  case_drop(&e);
  return l2;
}

/* Rows that both have come once: of a step's tiles, of which a cluster has the columns in common,
 * two instead of three.
 */
static void check_beside(void) {
  double each = 0, apart = 0;
  const double beside = of_two("A", "sm_90a", &each), four = of_two("D", "sm_90a", &apart);
  CHECK_NEAR(beside / four, 2.0 / 3, 1e-9);
  CHECK_NEAR(each, 1, 1e-9);
  CHECK_NEAR(apart, 1, 1e-9);
  of_two("A", NULL, &each);
  CHECK_NEAR(each, 1, 1e-9);
}

/* ---- memory of the device ---- */

/* A kernel says that it needs memory beside its arguments where sums are in parts, and else not; so
 * does its text. */
static void check_workspace(int parts) {
  char text[512];
  snprintf(text, sizeof text,
           "workload:\n  name: p\n  dims: {m: 64, n: 64, k: 512}\n  ops:\n"
           "  - C[m,n] += A[m,k] * B[k,n]\n"
           "mapping: |\n  HBM%s\n    SMEM for m=64 n=64 k=%d\n      op C\n",
           parts > 1 ? " spatial k=4@x" : "", 512 / parts);
  test_case e = case_of(arch, text);
  case_prepare(&e);
  tf_emitted *of =
      e.tree ? tf_emit(e.tree, "cuda", &(tf_emit_options){.dtype = "bf16"}, e.d) : NULL;
  CHECK(of != NULL);
  if (!of) case_complain(e.d);
  for (int i = 0; of && i < of->n; i++)
    if (!strcmp(of->file[i].name, "kernel.cu"))
      CHECK(!strstr(of->file[i].text, "_device_workspace(void) { return 0; }") ==
            (of->workspace > 0));
  if (of) CHECK_I64(of->workspace, parts > 1 ? (int64_t)parts * 64 * 64 * 4 : 0);
  if (of) tf_emitted_free(of);
  case_drop(&e);
}

/* ---- float8 that becomes wider ---- */

static int products(const ir_body *b) {
  int n = 0;
  for (int i = 0; i < b->n; i++)
    n += (b->s[i]->kind == IR_NEST && cu_of(b->s[i])->fragments) + products(&b->s[i]->body);
  return n;
}

/* So many products are on tensor cores, and so many tiles of each type. */
static void check_tiles(const char *ops, int multiplied, int of_bytes, int of_halves) {
  char text[1024];
  snprintf(text, sizeof text, "workload:\n  name: w\n  dims: {m: 64, k: 64, n: 64%s}\n  ops:\n%s",
           multiplied > 1 ? ", l: 64" : "", ops);
  test_case e = case_of(wide, text);
  ir_program *p = lowered(&e, "f8", NULL);
  int bytes = 0, halves = 0;
  CHECK(p != NULL);
  if (!p) case_complain(e.d);
  for (int i = 0; p && i < p->n_buffers; i++) {
    bytes += p->buffers[i].role == IR_COPIED && cu_is_matrix(&p->buffers[i]) &&
             p->buffers[i].type == IR_F8;
    halves += p->buffers[i].role == IR_COPIED && cu_is_matrix(&p->buffers[i]) &&
              p->buffers[i].type == IR_BF16;
  }
  if (p)
    CHECK_I64(products(&p->body), multiplied), CHECK_I64(bytes, of_bytes),
        CHECK_I64(halves, of_halves);
  ir_free(p);
  case_drop(&e);
}

static void check_float8(void) {
#define ONE "mapping: |\n  HBM\n    SMEM for m=64 n=64 k=64\n      op C\n"
#define TWO                                                                                        \
  "mapping: |\n  HBM\n    Seq keep C@SMEM\n      SMEM for m=64 l=64 k=64\n        op C\n"          \
  "      SMEM for m=64 n=64 l=64\n        op E\n"
  check_tiles("  - C[m,n] += A[m,k] * B[n,k]\n" ONE, 1, 2, 0);
  check_tiles("  - C[m,n] += A[m,k] * B[k,n]\n" ONE, 1, 0, 2); /* an operand across the sum */
  check_tiles("  - C[m,n] += A[k,m] * B[n,k]\n" ONE, 1, 0, 2);
  /* by what the kernel made, which stays in registers */
  check_tiles("  - C[m,l] += A[m,k] * B[l,k]\n  - E[m,n] += C[m,l] * D[l,n]\n" TWO, 2, 2, 1);
  check_tiles("  - C[m,l] += A[m,k] * B[l,k]\n  - E[m,n] += C[m,l] * D[n,l]\n" TWO, 2, 2, 1);
}

int main(void) {
  check_float8();
  check_beside();
  check_workspace(1);
  check_workspace(4);
  check_rows("bf16", 2);
  check_rows("tf32", 4);
  check_few_rows();
  check_readers();
  check_step(1);
  check_step(4);
  check_step(16);
  check_resident();
  check_waves("bf16");
  check_waves("f32");
  check_sums();
  for (int wave = 1; wave <= 9; wave += 2)
    check_shared_tiles(4, 6, wave);
  check_masks();
  return check_report();
}
