#include "cli/host/host_kernels.h"

#include <stddef.h>

/* ---- one copy of the loops for each vector width -------------------------------------------- */
#define BY_ASM(a, x, y) __asm__ volatile("vfmadd213ps %2, %1, %0" : "+v"(a) : "v"(x), "v"(y))
#if defined(__x86_64__)
#define OF(name) name##_16
#define TARGET __attribute__((noinline, target("avx512f,avx512dq,fma")))
#define LANES 16
#define FUSE BY_ASM
#include "cli/host/host_loops.h"
#undef OF
#undef TARGET
#undef LANES
#define OF(name) name##_8
#define TARGET __attribute__((noinline, target("avx2,fma")))
#define LANES 8
#include "cli/host/host_loops.h"
#undef OF
#undef TARGET
#undef LANES
#undef FUSE
#endif
#define OF(name) name##_4
#define TARGET __attribute__((noinline))
#define LANES 4
#if defined(__aarch64__)
#define FUSE(a, x, y)                                                                              \
  do {                                                                                             \
    vec_4 to_ = (y);                                                                               \
    __asm__ volatile("fmla %0.4s, %1.4s, %2.4s" : "+w"(to_) : "w"(a), "w"(x));                     \
    (a) = to_;                                                                                     \
  } while (0)
#else
#define FUSE(a, x, y) (a) = (a) * (x) + (y)
#endif
#include "cli/host/host_loops.h"

/* The loops of one width. */
typedef struct {
  int lanes;
  float (*multiply_adds)(int64_t n, float x);
  float (*chain)(int64_t n, float x);
  uint64_t (*read)(const uint64_t *p, int64_t n);
  void (*write)(uint64_t *p, int64_t n, uint64_t v);
  void (*exp)(const float *from, float *to, int64_t n);
} loops;

static loops widest(void) {
#define ROW(lanes)                                                                                 \
  ((loops){lanes, multiply_adds_##lanes, multiply_add_chain_##lanes, read_##lanes, write_##lanes,  \
           exp_##lanes})
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return ROW(16);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return ROW(8);
#endif
  return ROW(4);
}

int host_lanes(void) { return widest().lanes; }
float host_multiply_adds(int64_t n, float x) { return widest().multiply_adds(n, x); }
float host_multiply_add_chain(int64_t n, float x) { return widest().chain(n, x); }
uint64_t host_read(const uint64_t *p, int64_t n) { return widest().read(p, n); }
void host_write(uint64_t *p, int64_t n, uint64_t v) { widest().write(p, n, v); }
void host_exp(const float *from, float *to, int64_t n) { widest().exp(from, to, n); }

/* ---- other loops ---------------------------------------------------------------------------- */
#define FOUR(text) text text text text
bool host_adds(int64_t n, uint64_t *sum) {
  uint64_t x = 0;
#if defined(__x86_64__)
  for (int64_t i = 0; i < n;
       i += 8) /* of a register, as current processors combine additions of constants */
    __asm__ volatile(FOUR("add %1, %0\n\t") FOUR("add %1, %0\n\t")
                     : "+r"(x)
                     : "r"(UINT64_C(1))
                     : "cc");
#elif defined(__aarch64__)
  for (int64_t i = 0; i < n; i += 8)
    __asm__ volatile(FOUR("add %0, %0, %1\n\t") FOUR("add %0, %0, %1\n\t")
                     : "+r"(x)
                     : "r"(UINT64_C(1)));
#else
  (void)n;
  return false;
#endif
  *sum = x;
  return true;
}

__attribute__((noinline)) static int64_t called(int64_t x) {
  __asm__ volatile("" : "+r"(x));
  return x;
}

int64_t host_calls(int64_t n) {
  int64_t (*volatile f)(int64_t) = called;
  int64_t x = 0;
  for (int64_t i = 0; i < n; i++)
    x = f(x) + 1;
  return x;
}

bool host_tiles(int64_t n) {
#if defined(__x86_64__)
  static const struct {
    uint8_t palette, start, none[14];
    uint16_t bytes[16];
    uint8_t rows[16];
  } shape = {.palette = 1, .bytes = {64, 64, 64, 64, 64, 64}, .rows = {16, 16, 16, 16, 16, 16}};
  __asm__ volatile("ldtilecfg %0\n\ttilezero %%tmm0\n\ttilezero %%tmm1\n\ttilezero %%tmm2\n"
                   "\ttilezero %%tmm3\n\ttilezero %%tmm4\n\ttilezero %%tmm5" ::"m"(shape));
  for (int64_t i = 0; i < n; i++)
    __asm__ volatile("tdpbf16ps %tmm5, %tmm4, %tmm0\n\ttdpbf16ps %tmm5, %tmm4, %tmm1\n"
                     "\ttdpbf16ps %tmm5, %tmm4, %tmm2\n\ttdpbf16ps %tmm5, %tmm4, %tmm3");
  __asm__ volatile("tilerelease");
  return true;
#else
  (void)n;
  return false;
#endif
}
