/* One kernel on data of several kinds: does its time hang on them?  Of attention, with a mask
 * (MASKED) or without, or of softmax as the output (NO_PRODUCT): scores whose deviation is 1, 8 or
 * 24, and masks of -inf.  Of float32, TYPE_BF16 or TYPE_INT8 (a mask of -128).  Everything is
 * divided by the time of deviation 1, which is called tileflow. */
#define _GNU_SOURCE
#include "ours.h"

enum { HEADS = 4, M = 256, L = 512, A = 64, N = 64 };
#if defined(TYPE_BF16)
typedef uint16_t datum;
static const kind of_products = BF16;
#elif defined(TYPE_INT8)
typedef int8_t datum;
static const kind of_products = INT8;
#else
typedef float datum;
static const kind of_products = F32;
#endif

static datum of_float(float f) {
#if defined(TYPE_BF16)
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
#elif defined(TYPE_INT8)
  return (int8_t)(f < -128 ? -128 : f);
#else
  return f;
#endif
}

static uint32_t drawn(void) {
  static uint64_t state = 1;
  state = state * 6364136223846793005U + 1442695040888963407U;
  return (uint32_t)(state >> 33);
}

/* Of deviation 1 about 0: a sum of four of twelve even numbers. */
static float normal(void) {
  float sum = 0;
  for (int i = 0; i < 4; i++)
    sum += (float)(drawn() % 4096) / 4096 - 0.5F;
  return sum * 1.7320508F;
}

/* Such that products of two sums over A have that deviation.  Whole numbers: -1, 0 and 1 as often
 * as it takes, or more than 1. */
static datum *operand(size_t n, double deviation) {
  datum *p = room(n * sizeof *p);
  for (size_t i = 0; i < n; i++) {
#if defined(TYPE_INT8)
    const double each = sqrt(deviation / sqrt(A)); /* of one operand */
    const int size = each > 1 ? (int)(each + 0.5) : 1,
              often = (int)(4096 * each * each / size / size);
    p[i] = (datum)((int)(drawn() % 4096) < often ? drawn() % 2 ? size : -size : 0);
#else
    p[i] = of_float(normal() * (float)sqrt(deviation / sqrt(A)));
#endif
  }
  return p;
}

typedef enum { ALL, CAUSAL, FEW } mask;

static datum *masked(mask how) {
  datum *p = room((size_t)M * L * sizeof *p);
  for (int m = 0; m < M; m++)
    for (int l = 0; l < L; l++) {
      const bool sees = how == ALL || l == 0 || (how == CAUSAL ? l <= 2 * m : drawn() % 10 == 0);
      p[m * L + l] = of_float(sees ? 0 : -INFINITY);
    }
  return p;
}

/* What is drawn; a kernel without a mask has the first three. */
static const struct {
  const char *name;
  double deviation;
  mask how;
} settings[] = {{"tileflow", 1, ALL},     {"deviation 8", 8, ALL},      {"deviation 24", 24, ALL},
                {"half -inf", 1, CAUSAL}, {"half -inf 24", 24, CAUSAL}, {"most -inf", 1, FEW},
                {"most -inf 24", 24, FEW}};
#if defined(MASKED)
enum { SETTINGS = 7 };
#else
enum { SETTINGS = 3 };
#endif

static kernel_args on[SETTINGS];

static void setting(int i) { ran(kernel(&on[i], workspace, bytes)); }
static void on_0(void) { setting(0); }
static void on_1(void) { setting(1); }
static void on_2(void) { setting(2); }
#if defined(MASKED)
static void on_3(void) { setting(3); }
static void on_4(void) { setting(4); }
static void on_5(void) { setting(5); }
static void on_6(void) { setting(6); }
static void (*const runs[])(void) = {on_0, on_1, on_2, on_3, on_4, on_5, on_6};
#else
static void (*const runs[])(void) = {on_0, on_1, on_2};
#endif

static void prepare(void) {
#if defined(NO_PRODUCT)
  void *out = room((size_t)HEADS * M * L * sizeof(float));
#else
  void *out = room((size_t)HEADS * M * N * sizeof(float)),
       *values = operand((size_t)HEADS * L * N, 1);
#endif
  for (int i = 0; i < SETTINGS; i++) {
    kernel_args *a = &on[i];
    kernel_dense(a);
    a->Q = operand((size_t)HEADS * M * A, settings[i].deviation);
    a->K = operand((size_t)HEADS * L * A, settings[i].deviation);
#if defined(MASKED)
    a->Mask = masked(settings[i].how);
#endif
#if defined(NO_PRODUCT)
    a->P = out;
#else
    a->V = values, a->O = out;
#endif
  }
  args = on[0];
  ready_ours();
}

int main(int argc, char **argv) {
  party p = {.n = 0};
  (void)of_ours, (void)numbers, (void)all_right, (void)masked;
  prepare();
  for (int i = 0; i < SETTINGS; i++)
    joins(&p, settings[i].name, runs[i], 0);
  work w = {{0}};
  w.flop[of_products] = 2.0 * HEADS * M * (double)L * A;
#if !defined(NO_PRODUCT)
  w.flop[of_products == INT8 ? F32 : of_products] += 2.0 * HEADS * M * (double)L * N;
#endif
  rounds(argc > 1 ? argv[1] : "data", w, p.who, p.n);
  return 0;
}
