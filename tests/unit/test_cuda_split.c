/* Sums in parts (split.c of the CUDA target): which loops are split, what comes of them against the
 * whole workload, and that ir_check tells what is wrong with parts that are put together. */
#include "codegen/backend/cuda/cuda.h"
#include "codegen/backend/cuda/pass/pass.h"
#include "codegen/lower/lower.h"
#include "tests/kernels/whole.h"
#include "tests/unit/case.h"

#define PRODUCT                                                                                    \
  "workload:\n  name: p\n  dims: {m: 8, n: 16, k: 60}\n  ops:\n  - C[m,n] += A[m,k] * "            \
  "B[k,n]\nmapping: |\n"
#define STREAM                                                                                     \
  "workload:\n  name: s\n  dims: {m: 4, l: 24, n: 5}\n  ops:\n  - \"X[m] max= S[m,l]\"\n"          \
  "  - \"E[m,l] = exp(S[m,l] - X[m])\"\n  - \"Z[m] += E[m,l]\"\n  - \"P[m,l] = E[m,l] / Z[m]\"\n"  \
  "  - \"O[m,n] += P[m,l] * V[l,n]\"\nmapping: |\n"
#define OPS                                                                                        \
  "      Seq keep X@SMEM E@SMEM Z@SMEM P@SMEM stream X Z O\n        SMEM for m=2 l=4\n          "  \
  "op X\n"                                                                                         \
  "        SMEM for m=2 l=4\n          op E\n        SMEM for m=2 l=4\n          op Z\n        "   \
  "SMEM for m=2 l=4\n"                                                                             \
  "          op P\n        SMEM for m=2 l=4 n=5\n          op O\n"
#define MANY(rows)                                                                                 \
  "workload:\n  name: s\n  dims: {h: 9, m: " rows                                                  \
  ", l: 24, n: 5}\n  ops:\n  - \"X[h,m] max= S[h,m,l]\"\n"                                         \
  "  - \"E[h,m,l] = exp(S[h,m,l] - X[h,m])\"\n  - \"Z[h,m] += E[h,m,l]\"\n"                        \
  "  - \"P[h,m,l] = E[h,m,l] / Z[h,m]\"\n  - \"O[h,m,n] += P[h,m,l] * V[h,l,n]\"\nmapping: |\n"    \
  "  HBM for h=9 l=3\n    HBM for l=2\n      Seq keep X@SMEM E@SMEM Z@SMEM P@SMEM stream X Z O\n"  \
  "        SMEM for m=" rows " l=4\n          op X\n        SMEM for m=" rows                      \
  " l=4\n          op E\n"                                                                         \
  "        SMEM for m=" rows " l=4\n          op Z\n        SMEM for m=" rows                      \
  " l=4\n          op P\n"                                                                         \
  "        SMEM for m=" rows " l=4 n=5\n          op O\n"
#define APART(sum, last)                                                                           \
  STREAM "  HBM\n    Seq stream X Z O\n      SMEM for m=4 l=24\n        op X\n      SMEM for m=4 " \
         "l=24\n        op E\n"                                                                    \
         "      " sum "\n          op Z\n      SMEM for m=4 l=24\n        op P\n      " last       \
         "\n          op O\n"
#define TWO                                                                                        \
  "workload:\n  name: s\n  dims: {m: 4, l: 24, n: 5}\n  ops:\n  - \"X[m] max= S[m,l]\"\n"          \
  "  - \"E[m,l] = exp(S[m,l] - X[m])\"\n  - \"Z[m] += E[m,l]\"\n  - \"O[m,n] += E[m,l] / Z[m] * "  \
  "V[l,n]\"\n"                                                                                     \
  "  - \"Y[m,n] += E[m,l] / Z[m] * U[l,n]\"\nmapping: |\n  HBM\n    Seq stream X Z O Y\n"          \
  "      SMEM for m=4 l=24\n        op X\n      SMEM for m=4 l=24\n        op E\n      SMEM for "  \
  "m=4 l=24\n"                                                                                     \
  "        op Z\n      HBM spatial l=4@x\n        Seq\n          SMEM for m=4 l=6 n=5\n          " \
  "  op O\n"                                                                                       \
  "          SMEM for m=4 l=6 n=5\n            op Y\n"

static const char *const arch =
    "architecture:\n  name: gpu\n  clock: 1 GHz\n  memories:\n  - {name: HBM, bandwidth: 64}\n"
    "  - {name: SMEM, capacity: 4 MiB, bandwidth: 64, mesh: [4, 2]}\n  compute:\n"
    "  - {name: u, ops: [mac, mul, add, sub, max, exp, div], below: SMEM, mesh: [16, 16]}\n";

static const struct {
  int line;
  const char *text;
  int merges, parts;
} row[] = {
    {__LINE__, PRODUCT "  HBM for m=2 spatial k=4@x\n    SMEM for m=4 n=16 k=15\n      op C\n", 1,
     4},
    {__LINE__, PRODUCT "  HBM spatial k=4@x\n    SMEM for m=8 n=16 k=15\n      op C\n", 1,
     4}, /* one block, else */
    /* the last part is shorter */
    {__LINE__, PRODUCT "  HBM for m=2 spatial k=4@x\n    SMEM for m=4 n=16 k=16\n      op C\n", 1,
     4},
    /* as many blocks as multiprocessors, or more */
    {__LINE__, PRODUCT "  HBM for m=8 spatial k=4@x\n    SMEM for m=1 n=16 k=15\n      op C\n", 0,
     0},
    {__LINE__, PRODUCT "  HBM for m=2 k=4\n    SMEM for m=4 n=16 k=15\n      op C\n", 0,
     0}, /* nobody asks */
    {__LINE__, STREAM "  HBM for m=2 l=3\n    HBM for l=2\n" OPS, 3, 3},
    {__LINE__, STREAM "  HBM for m=2\n    HBM for l=6\n" OPS, 0, 0},
    /* of few rows, more blocks than multiprocessors; with more rows not */
    {__LINE__, MANY("2"), 3, 3},
    {__LINE__, MANY("17"), 0, 0},
    {__LINE__, STREAM "  HBM for m=2 l=2\n    HBM for l=4\n" OPS, 0,
     0}, /* the last steps have nothing to do */
    /* the division, behind the last product alone, is of the whole: done when the parts are put
       together */
    {__LINE__,
     APART("SMEM\n        SMEM for m=4 l=24", "HBM spatial l=4@x\n        SMEM for m=4 l=6 n=5"), 1,
     4},
    {__LINE__,
     APART("SMEM\n        SMEM for m=4 l=24",
           "HBM for m=2 spatial l=4@x\n        SMEM for m=2 l=6 n=5"),
     1, 4},
    {__LINE__,
     APART("HBM spatial l=3@x\n        SMEM for m=4 l=8",
           "HBM spatial l=3@x\n        SMEM for m=4 l=8 n=5"),
     2, 3},
    /* two results of a kernel that others divide are not summed in parts */
    {__LINE__, TWO, 0, 0},
};
enum { N_ROWS = sizeof row / sizeof *row };

static ir_program *lowered(test_case *e, const char *text, const char *dtype) {
  *e = case_of(arch, text);
  ir_machine machine;
  case_prepare(e);
  const tf_emit_options o = {.dtype = dtype};
  ir_program *p = e->tree && tf_target_cuda.machine(&o, &machine, e->d)
                      ? lower_kernel(e->tree, &tf_target_cuda.lower, &machine, e->d)
                      : NULL;
  if (!p) case_complain(e->d);
  return p;
}

static int find_merges(const ir_body *b, ir_stmt **s, int n, int most) {
  for (int i = 0; i < b->n; i++) {
    if (b->s[i]->kind == IR_MERGE && n < most) s[n++] = b->s[i];
    n = find_merges(&b->s[i]->body, s, n, most);
  }
  return n;
}

static void check_splits(const char *dtype) {
  for (int i = 0; i < N_ROWS; i++) {
    test_case e;
    ir_stmt *s[8];
    char why[200] = "";
    ir_program *p = lowered(&e, row[i].text, dtype);
    if (CHECK_ROW(&row[i], p != NULL)) {
      const tf_workload *wl = p->asked ? p->asked : p->tree->workload;
      double **want = whole_new(wl), **got = whole_new(wl);
      const int n = find_merges(&p->body, s, 0, 8);
      CHECK_ROW_I64(&row[i], n, row[i].merges);
      for (int k = 0; k < n; k++)
        CHECK_ROW_I64(&row[i], s[k]->merge.parts, row[i].parts);
      CHECK_ROW(&row[i], ir_check(p, why, sizeof why));
      whole_run(wl, want);
      CHECK_ROW(&row[i], ir_run_why(p, got, NULL, why, sizeof why) && whole_equal(wl, want, got));
      if (*why) printf("  said: %s\n", why);
      whole_free(wl, want);
      whole_free(wl, got);
    }
    ir_free(p);
    case_drop(&e);
  }
}

/* ---- faults ---- */

static void too_few(ir_program *p, ir_stmt *s) { (void)p, s->merge.parts--; }
static void into_parts(ir_program *p, ir_stmt *s) { (void)p, s->merge.to = s->merge.from; }
static void half_corrected(ir_program *p, ir_stmt *s) { (void)p, s->merge.after = -1; }
static void by_one_part(ir_program *p, ir_stmt *s) { (void)p, s->merge.before = s->merge.after; }
static void another_tensor(ir_program *p, ir_stmt *s) { (void)p, s->merge.from = s->merge.before; }
static void unmade_divisor(ir_program *p, ir_stmt *s) {
  p->buffers[p->n_buffers] = p->buffers[s->merge.divisor];
  s->merge.divisor = p->n_buffers++; /* nobody has put anything there */
}

static void check_faults(void) {
  static const struct {
    int line;
    void (*plant)(ir_program *p, ir_stmt *s);
    const char *told;
  } fault[] = {
      {__LINE__, too_few, "merge: 2 of 3 parts"},
      {__LINE__, into_parts, "merge: not from one buffer"},
      {__LINE__, half_corrected, "merge: corrected by half"},
      {__LINE__, by_one_part, "merge: corrected by as many values as parts"},
      {__LINE__, another_tensor, "merge: not from one buffer"},
      {__LINE__, unmade_divisor, "nothing has been put into"},
  };
  for (size_t i = 0; i < sizeof fault / sizeof *fault; i++) {
    test_case e;
    ir_stmt *s[8];
    char why[200] = "";
    ir_program *p = lowered(&e, row[5].text, "f32");
    if (p) cu_grow(&(lowering){.p = p}, 1);
    const int n = p ? find_merges(&p->body, s, 0, 8) : 0;
    if (CHECK_ROW(&fault[i], n == 3)) {
      fault[i].plant(p, s[n - 1]); /* quotients come last */
      CHECK_ROW(&fault[i], !ir_check(p, why, sizeof why) && strstr(why, fault[i].told));
    }
    ir_free(p);
    case_drop(&e);
  }
}

int main(void) {
  check_splits("f32");
  check_splits("bf16");
  check_faults();
  return check_report();
}
