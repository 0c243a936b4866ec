/* Candidates of ways.c in one process, in turn, with oneDNN: processor time of one thread, medians;
 * all must give the same output. shape.h, which ways.sh writes, has WAY(i) for each kernel; the
 * layer's extents are macros. */
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "dnnl_help.h"

#if defined(TYPE_INT8)
typedef int8_t datum;
typedef int32_t made;
#else
typedef uint16_t datum, made;
#endif
enum { N = OF_N, C = OF_C, H = OF_H, W = OF_W, K = OF_K, R = OF_R, ST = OF_ST, PAD = OF_PAD };
enum {
  MOST = 80,
  ROUNDS = 61,
  FAR = 100,
  P = (H + 2 * PAD - R) / ST + 1,
  IN = N * C * H * W,
  OUT = N * K * P * P,
  WEIGHTS = K * C * R * R
};
static datum *in, *weights;
static made *out, *want;

typedef struct {
  char name[40];
  void (*run)(void);
  double took[ROUNDS];
} contestant;
static contestant who[MOST];
static int n_who;

static void *room(size_t bytes) {
  void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (!p) exit(2);
  memset(p, 0, bytes);
  return p;
}

static void joins(const char *name, void (*run)(void)) {
  snprintf(who[n_who].name, sizeof who[n_who].name, "%s", name);
  who[n_who++].run = run;
}

#define WAY_BEGIN(i)                                                                               \
  static w##i##_args args##i;                                                                      \
  static void *space##i;                                                                           \
  static void run##i(void) {                                                                       \
    args##i.O = out;                                                                               \
    if (w##i(&args##i, space##i, w##i##_workspace())) exit(2);                                     \
  }                                                                                                \
  static void ready##i(void) {                                                                     \
    w##i##_dense(&args##i);                                                                        \
    args##i.I = in, args##i.F = weights, args##i.O = out;                                          \
    space##i = room(w##i##_workspace() + 1);                                                       \
    joins(#i, run##i);
#define WAY_PACK(i)                                                                                \
  void *packed = room(w##i##_packed());                                                            \
  if (w##i##_pack(&args##i, packed, w##i##_packed())) exit(2);                                     \
  args##i.packed = packed;
#define WAY_END }
#include <shape.h>

#if defined(TYPE_INT8)
static const dnnl_data_type_t type_in = dnnl_u8, type_w = dnnl_s8, type_out = dnnl_s32;
#else
static const dnnl_data_type_t type_in = dnnl_bf16, type_w = dnnl_bf16, type_out = dnnl_bf16;
#endif
static step own; /* in the layouts that it likes best: plain ones of these types it has in a slow
                    reference only */
static void onednn(void) { take(&own), finish(); }

static step convolution(void) {
  const dnnl_dims_t ds = {N, C, H, W}, dw = {K, C, R, R}, dd = {N, K, P, P}, st = {ST, ST},
                    close = {0, 0}, pad = {PAD, PAD},
                    behind = {(P - 1) * ST + R - H - PAD, (P - 1) * ST + R - W - PAD};
  const dnnl_format_tag_t tag = dnnl_format_tag_any;
  dnnl_primitive_desc_t pd;
  step s = {.n = 3};
  CHECK(dnnl_convolution_forward_primitive_desc_create(
      &pd, engine, dnnl_forward_inference, dnnl_convolution_auto, tagged(4, ds, type_in, tag),
      tagged(4, dw, type_w, dnnl_format_tag_any), NULL, tagged(4, dd, type_out, tag), st, close,
      pad, behind, NULL));
  CHECK(dnnl_primitive_create(&s.p, pd));
  dnnl_memory_t laid = memory(asked(pd, dnnl_query_weights_md), NULL),
                src = memory(asked(pd, dnnl_query_src_md), NULL);
  reorder(memory(tagged(4, dw, type_w, dnnl_oihw), weights), laid);
  reorder(memory(tagged(4, ds, type_in, dnnl_nchw), in), src);
  s.args[0] = (dnnl_exec_arg_t){DNNL_ARG_SRC, src};
  s.args[1] = (dnnl_exec_arg_t){DNNL_ARG_WEIGHTS, laid};
  s.args[2] = (dnnl_exec_arg_t){DNNL_ARG_DST, memory(asked(pd, dnnl_query_dst_md), NULL)};
  return s;
}

static double value(made x) {
#if defined(TYPE_INT8)
  return x;
#else
  const uint32_t bits = (uint32_t)x << 16;
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
#endif
}

static void fill(void) {
  for (int i = 0; i < IN; i++)
    in[i] =
#if defined(TYPE_INT8)
        (datum)(i * 37 % 101);
#else
        (datum)(0x3f00 + i * 37 % 101);
#endif
  for (int i = 0; i < WEIGHTS; i++)
    weights[i] =
#if defined(TYPE_INT8)
        (datum)(i * 53 % 97 - 48);
#else
        (datum)((i % 3 ? 0x3c00 : 0xbc00) + i * 53 % 97);
#endif
}

/* Whether all give what the first gives. */
static bool same(void) {
  double most = 0, off = 0;
  for (int i = 0; i < OUT; i++) {
    const double x = value(want[i]), d = fabs(value(out[i]) - x);
    if (fabs(x) > most) most = fabs(x);
    if (d > off) off = d;
  }
  return off <= (sizeof(made) == 4 ? 0 : 1e-2) * most;
}

static double busy(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int later(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Sorts them. */
static double median(double *took, int n) {
  qsort(took, (size_t)n, sizeof *took, later);
  return took[n / 2];
}

/* Who is the i-th in a round: in each round another order, so that nobody always finds what the
 * same one has left in the caches. */
static int turn(int round, int i) {
  static int order[MOST];
  static uint32_t state = 1;
  if (i) return order[i];
  for (int w = 0; w < n_who; w++)
    order[w] = w;
  for (int w = n_who - 1; w > 0 && round; w--) {
    state = state * 1664525u + 1013904223u;
    const int with = (int)((uint64_t)state * (uint64_t)(w + 1) >> 32), other = order[with];
    order[with] = order[w], order[w] = other;
  }
  return order[0];
}

int main(void) {
  double first[MOST], least = 1e9;
  in = room(IN * sizeof *in), weights = room(WEIGHTS * sizeof *weights),
  out = room(OUT * sizeof *out), want = room(OUT * sizeof *want);
  fill();
  start();
  ready_all();
  own = convolution();
  joins("oneDNN", onednn);
  for (int w = 0; w < n_who; w++) {
    memset(out, 1, OUT * sizeof *out);
    const double from = busy();
    who[w].run();
    first[w] = busy() - from;
    if (w + 1 == n_who)
      reorder(own.args[2].memory,
              memory(tagged(4, (dnnl_dims_t){N, K, P, P}, type_out, dnnl_nchw), out));
    if (w == 0) memcpy(want, out, OUT * sizeof *out);
    if (!same()) fprintf(stderr, "%s differs\n", who[w].name), exit(3);
    if (first[w] < least) least = first[w];
  }
  for (int r = 0; r < ROUNDS; r++)
    for (int i = 0; i < n_who; i++) {
      const int w = turn(r, i);
      who[w].took[r] = first[w];
      if (first[w] > FAR * least && r) continue; /* one call says enough */
      const double from = busy();
      who[w].run();
      who[w].took[r] = busy() - from;
    }
  for (int w = 0; w < n_who; w++) {
    double *const took = who[w].took;
    const double early = median(took, ROUNDS / 2), late = median(took + ROUNDS / 2, ROUNDS / 2),
                 all = median(took, ROUNDS);
    printf("%s,%.6g,%.6g,%.6g,%.6g\n", who[w].name, all, took[0], early, late);
  }
  return 0;
}
