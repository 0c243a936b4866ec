/* Which instruction sets the computer can run. */
#define _DEFAULT_SOURCE /* syscall */
#include <string.h>

#include "codegen/intrin/micro.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <stdint.h>
#if defined(__linux__)
#include <unistd.h>
#endif

/* Bit of a register of CPUID's leaf 7 (Intel's manual, volume 2, CPUID). */
static bool leaf7(unsigned sub, int which, int bit) {
  unsigned r[4] = {0};
  return __get_cpuid_count(7, sub, &r[0], &r[1], &r[2], &r[3]) && (r[which] >> bit & 1);
}

static bool has_avx2(void) {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi2");
}

static bool has_avxvnni(void) {
  enum { EAX = 0, AVXVNNI = 4 };
  return has_avx2() && leaf7(1, EAX, AVXVNNI);
}

static bool has_avx512(void) {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512cd");
}

static bool has_vnni(void) { return has_avx512() && __builtin_cpu_supports("avx512vnni"); }

static bool has_bf16(void) { return has_vnni() && __builtin_cpu_supports("avx512bf16"); }

/* AMX needs the hardware and the system's permission to use tile registers. */
static bool has_amx(void) {
#if defined(__linux__)
  enum {
    ARCH_PRCTL = 158,
    REQ_XCOMP_PERM = 0x1023,
    TILE_DATA = 18,
    EDX = 3,
    BF16 = 22,
    TILE = 24,
    INT8 = 25
  };
  return has_bf16() && leaf7(0, EDX, TILE) && leaf7(0, EDX, BF16) && leaf7(0, EDX, INT8) &&
         syscall(ARCH_PRCTL, REQ_XCOMP_PERM, TILE_DATA) == 0;
#else
  return false;
#endif
}

static bool always(void) { return true; }

/* In ascending order of preference. */
static const struct {
  const char *isa;
  bool (*has)(void);
} rows[] = {
    {"portable", always},      {"sse2", always},       {"avx2", has_avx2},
    {"avxvnni", has_avxvnni},  {"avx512", has_avx512}, {"avx512_vnni", has_vnni},
    {"avx512_bf16", has_bf16}, {"amx", has_amx},
};
#else
static bool always(void) { return true; }

static const struct {
  const char *isa;
  bool (*has)(void);
} rows[] = {
    {"portable", always},
#if defined(__aarch64__)
    {"neon", always},
#endif
};
#endif
enum { N_ROWS = sizeof rows / sizeof *rows };

const char *tf_emit_isa(const char *dtype) {
  const char *best = rows[0].isa;
  for (int i = 0; i < N_ROWS; i++)
    if (strstr(tf_micro_isa_find(rows[i].isa)->data, dtype ? dtype : "f32") && rows[i].has())
      best = rows[i].isa;
  return best;
}

bool tf_emit_runs(const char *isa) {
  for (int i = 0; i < N_ROWS; i++)
    if (!strcmp(rows[i].isa, isa)) return rows[i].has();
  return false;
}
