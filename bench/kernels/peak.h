/* Multiply-adds that touch nothing but registers: what a core can do at most, by the type of its
 * operands. */
#ifndef BENCH_PEAK_H
#define BENCH_PEAK_H
#include <stdint.h>
#include <string.h>

#if defined(__AMX_TILE__)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

typedef enum { F32, BF16, INT8, KINDS } kind;

enum { TURNS = 100000 };

/* TURNS times INSN on SUMS sums; operands are ones. */
#define ON_REGISTERS(INSN, R, ONE, OTHER, SUMS, ...)                                               \
  do {                                                                                             \
    __asm__ volatile("vpbroadcastd %0, %%" R ONE "\n\tvmovaps %%" R ONE ", %%" R OTHER             \
                     "\n\t" ::"m"(ones)                                                            \
                     : "xmm" ONE, "xmm" OTHER);                                                    \
    for (int i = 0; i < TURNS; i++)                                                                \
      __asm__ volatile(SUMS(INSN, R, ONE, OTHER)::: __VA_ARGS__);                                  \
  } while (0)
#define SUM(INSN, R, A, B, N) INSN " %%" R A ", %%" R B ", %%" R N "\n\t"
/* clang-format off */
#define TWELVE(I, R, A, B)                                                                                       \
  SUM(I, R, A, B, "0") SUM(I, R, A, B, "1") SUM(I, R, A, B, "2") SUM(I, R, A, B, "3") SUM(I, R, A, B, "4")       \
  SUM(I, R, A, B, "5") SUM(I, R, A, B, "6") SUM(I, R, A, B, "7") SUM(I, R, A, B, "8") SUM(I, R, A, B, "9")       \
  SUM(I, R, A, B, "10") SUM(I, R, A, B, "11")
/* clang-format on */
/* clang-format off */
#define TWENTY_FOUR(I, R, A, B) /* vdpbf16ps waits for sums if they are twelve (Zen 5) */                        \
  TWELVE(I, R, A, B)                                                                                             \
  SUM(I, R, A, B, "12") SUM(I, R, A, B, "13") SUM(I, R, A, B, "14") SUM(I, R, A, B, "15") SUM(I, R, A, B, "16")  \
  SUM(I, R, A, B, "17") SUM(I, R, A, B, "18") SUM(I, R, A, B, "19") SUM(I, R, A, B, "20") SUM(I, R, A, B, "21")  \
  SUM(I, R, A, B, "22") SUM(I, R, A, B, "23")
/* clang-format on */
#define USED_12                                                                                    \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11"
#define USED_24                                                                                    \
  USED_12, "xmm12", "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20",        \
      "xmm21", "xmm22", "xmm23"

#if defined(__AMX_TILE__)
/* Eight tiles of 16 rows of 64 bytes; Linux lends them when asked. */
static int tiles(void) {
  struct {
    uint8_t palette, start, zero[14];
    uint16_t bytes[16];
    uint8_t rows[16];
  } shape = {.palette = 1};
  enum { ASK = 0x1023, TILE_DATA = 18 };
  for (int i = 0; i < 8; i++)
    shape.bytes[i] = 64, shape.rows[i] = 16;
  if (syscall(SYS_arch_prctl, ASK, TILE_DATA)) return 0;
  _tile_loadconfig(&shape);
  return 1;
}
/* Six sums hide the latency. */
#define EACH_SUM(F, ...)                                                                           \
  do {                                                                                             \
    F(0 __VA_ARGS__);                                                                              \
    F(1 __VA_ARGS__);                                                                              \
    F(2 __VA_ARGS__);                                                                              \
    F(3 __VA_ARGS__);                                                                              \
    F(4 __VA_ARGS__);                                                                              \
    F(5 __VA_ARGS__);                                                                              \
  } while (0)
#define SIX_AND_SEVEN , 6, 7
#define ON_TILES(DOT)                                                                              \
  do {                                                                                             \
    EACH_SUM(_tile_zero);                                                                          \
    _tile_zero(6);                                                                                 \
    _tile_zero(7);                                                                                 \
    for (int i = 0; i < TURNS / 10; i++)                                                           \
      EACH_SUM(DOT, SIX_AND_SEVEN);                                                                \
  } while (0)
#endif

/* Operations (two a multiply-add) done in one go; 0: the instruction set has nothing that this
 * knows. */
static double multiply_on_registers(kind k) {
  static const uint32_t one_of[KINDS] = {0x3f800000, 0x3f803f80, 0x01010101};
  const uint32_t ones = one_of[k];
  (void)ones;
#if defined(__AMX_TILE__)
  const double of_tile = 2.0 * 16 * 16 * 6 * (TURNS / 10);
  if (k != F32 && tiles()) {
    if (k == BF16)
      ON_TILES(_tile_dpbf16ps);
    else
      ON_TILES(_tile_dpbssd);
    _tile_release();
    return of_tile * (k == BF16 ? 32 : 64);
  }
#endif
#if defined(__AVX512F__)
  if (k == F32) ON_REGISTERS("vfmadd231ps", "zmm", "30", "31", TWENTY_FOUR, USED_24);
#if defined(__AVX512BF16__)
  if (k == BF16) ON_REGISTERS("vdpbf16ps", "zmm", "30", "31", TWENTY_FOUR, USED_24);
#else
  if (k == BF16) return 0;
#endif
#if defined(__AVX512VNNI__)
  if (k == INT8) ON_REGISTERS("vpdpbusd", "zmm", "30", "31", TWENTY_FOUR, USED_24);
#else
  if (k == INT8) return 0;
#endif
  return 24.0 * 32 * TURNS * (k == F32 ? 1 : k == BF16 ? 2 : 4);
#elif defined(__AVX2__)
  if (k == BF16) return 0;
  if (k == F32) ON_REGISTERS("vfmadd231ps", "ymm", "14", "15", TWELVE, USED_12);
#if defined(__AVXVNNI__)
  if (k == INT8) ON_REGISTERS("%{vex%} vpdpbusd", "ymm", "14", "15", TWELVE, USED_12);
#else
  if (k == INT8) return 0;
#endif
  return 12.0 * 16 * TURNS * (k == F32 ? 1 : 4);
#else
  return 0;
#endif
}
#endif
