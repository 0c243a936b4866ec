/* AMX's tiles in plain C, for computers without them: included before an emitted kernel, it takes
 * the intrinsics' places. Written from the instructions' definitions (Intel's manual, volume 2:
 * LDTILECFG, TILELOADD, TILESTORED, TDPBF16PS, TDPBSSD). One thread. */
#ifndef TESTS_KERNELS_AMX_EMULATION_H
#define TESTS_KERNELS_AMX_EMULATION_H
#include <immintrin.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TILES_ALLOWED() 1

typedef struct {
  int open, rows[8], bytes[8];
  unsigned char row[8][16][64];
} amx_tiles;

static amx_tiles amx_now;

static inline void amx_need(int yes) {
  if (!yes) abort();
}

static inline void amx_open(const void *shape) {
  const unsigned char *p = shape;
  amx_need(p[0] == 1);
  memset(&amx_now, 0, sizeof amx_now);
  amx_now.open = 1;
  for (int t = 0; t < 8; t++) {
    amx_now.bytes[t] = p[16 + 2 * t] | p[17 + 2 * t] << 8;
    amx_now.rows[t] = p[48 + t];
    amx_need(amx_now.bytes[t] <= 64 && amx_now.rows[t] <= 16);
  }
}

static inline void amx_close(void) { amx_now.open = 0; }

static inline void amx_zero(int t) {
  amx_need(amx_now.open);
  memset(amx_now.row[t], 0, sizeof amx_now.row[t]);
}

static inline void amx_load(int t, const void *from, int64_t step) {
  amx_zero(t);
  for (int r = 0; r < amx_now.rows[t]; r++)
    memcpy(amx_now.row[t][r], (const char *)from + r * step, (size_t)amx_now.bytes[t]);
}

static inline void amx_store(int t, void *to, int64_t step) {
  amx_need(amx_now.open);
  for (int r = 0; r < amx_now.rows[t]; r++)
    memcpy((char *)to + r * step, amx_now.row[t][r], (size_t)amx_now.bytes[t]);
}

static inline float amx_half(const unsigned char *p) {
  uint32_t u = (uint32_t)p[1] << 24 | (uint32_t)p[0] << 16;
  float v;
  memcpy(&v, &u, sizeof v);
  return v;
}

/* c[m][n] += a[m][pairs] . b[pairs][n]; a's columns are b's rows. */
static inline void amx_bf16(int c, int a, int b) {
  amx_need(amx_now.open && amx_now.bytes[a] / 4 == amx_now.rows[b]);
  for (int m = 0; m < amx_now.rows[c]; m++)
    for (int k = 0; k < amx_now.bytes[a] / 4; k++)
      for (int n = 0; n < amx_now.bytes[c] / 4; n++) {
        float v;
        memcpy(&v, &amx_now.row[c][m][4 * n], 4);
        for (int e = 0; e < 2; e++)
          v += amx_half(&amx_now.row[a][m][4 * k + 2 * e]) *
               amx_half(&amx_now.row[b][k][4 * n + 2 * e]);
        memcpy(&amx_now.row[c][m][4 * n], &v, 4);
      }
}

static inline void amx_int8(int c, int a, int b) {
  amx_need(amx_now.open && amx_now.bytes[a] / 4 == amx_now.rows[b]);
  for (int m = 0; m < amx_now.rows[c]; m++)
    for (int k = 0; k < amx_now.bytes[a] / 4; k++)
      for (int n = 0; n < amx_now.bytes[c] / 4; n++) {
        int32_t v;
        memcpy(&v, &amx_now.row[c][m][4 * n], 4);
        for (int e = 0; e < 4; e++)
          v += (int8_t)amx_now.row[a][m][4 * k + e] * (int8_t)amx_now.row[b][k][4 * n + e];
        memcpy(&amx_now.row[c][m][4 * n], &v, 4);
      }
}

#undef _tile_loadconfig
#undef _tile_release
#undef _tile_zero
#undef _tile_loadd
#undef _tile_stored
#undef _tile_dpbf16ps
#undef _tile_dpbssd
#define _tile_loadconfig(p) amx_open(p)
#define _tile_release() amx_close()
#define _tile_zero(t) amx_zero(t)
#define _tile_loadd(t, p, step) amx_load(t, p, step)
#define _tile_stored(t, p, step) amx_store(t, p, step)
#define _tile_dpbf16ps(c, a, b) amx_bf16(c, a, b)
#define _tile_dpbssd(c, a, b) amx_int8(c, a, b)
#endif
