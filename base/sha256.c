/* FIPS 180-4, sections 4.1.2, 4.2.2, 5.1.1 and 6.2: names as there. */
#include "base/sha256.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#if defined(__x86_64__) && defined(__GNUC__)
#define HAS_OWN 1
#else
#define HAS_OWN 0
#endif

enum { BLOCK = 64 };

static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turn(uint32_t x, int n) { return (x >> n) | (x << (32 - n)); }

static void schedule(const uint8_t *block, uint32_t w[64]) {
  for (int t = 0; t < 16; t++)
    w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
           (uint32_t)block[4 * t + 2] << 8 | (uint32_t)block[4 * t + 3];
  for (int t = 16; t < 64; t++) {
    uint32_t a = w[t - 2], b = w[t - 15];
    w[t] = (turn(a, 17) ^ turn(a, 19) ^ (a >> 10)) + w[t - 7] +
           (turn(b, 7) ^ turn(b, 18) ^ (b >> 3)) + w[t - 16];
  }
}

/* Round t with K + w, where a .. h stand from v[8 - t % 8] on, going round: they stay in place and
 * registers. */
static inline void add_word(uint32_t v[8], int t, uint32_t word) {
  const uint32_t a = v[(8 - t) % 8], b = v[(9 - t) % 8], c = v[(10 - t) % 8], e = v[(12 - t) % 8],
                 f = v[(13 - t) % 8], g = v[(14 - t) % 8], h = v[(15 - t) % 8];
  const uint32_t t1 = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + word;
  v[(11 - t) % 8] += t1;
  v[(15 - t) % 8] = t1 + (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
}

static void add_block(uint32_t h[8], const uint8_t *block) {
  uint32_t w[64], v[8];
  schedule(block, w);
  memcpy(v, h, sizeof v);
  for (int t = 0; t < 64; t += 8)
    for (int i = 0; i < 8; i++)
      add_word(v, i, K[t + i] + w[t + i]);
  for (int i = 0; i < 8; i++)
    h[i] += v[i];
}

#if HAS_OWN
/* ---- by the processor's own instructions, some six times as fast ------------------------------
 */
#define OWN __attribute__((target("sha,sse4.1,ssse3")))
typedef int four __attribute__((vector_size(16)));
typedef unsigned unsigned_four __attribute__((vector_size(16)));
typedef struct {
  four abef, cdgh, w[4];
} own;

OWN static inline four plus(four a, four b) { return (four)((unsigned_four)a + (unsigned_four)b); }

/* Four rounds from 4 * r on by words r % 4, which become those of four rounds further on. */
OWN static inline void four_rounds(own *s, int r) {
  four k, next = s->w[(r + 1) % 4], near = s->w[(r + 2) % 4], last = s->w[(r + 3) % 4];
  memcpy(&k, K + 4 * (size_t)r, sizeof k);
  k = plus(k, s->w[r % 4]);
  s->cdgh = __builtin_ia32_sha256rnds2(s->cdgh, s->abef, k);
  s->abef = __builtin_ia32_sha256rnds2(s->abef, s->cdgh, (four){k[2], k[3], 0, 0});
  const four before = {near[1], near[2], near[3], last[0]};
  s->w[r % 4] =
      __builtin_ia32_sha256msg2(plus(__builtin_ia32_sha256msg1(s->w[r % 4], next), before), last);
}

OWN static void add_blocks_own(uint32_t h[8], const uint8_t *p, size_t n) {
  int v[8];
  memcpy(v, h, sizeof v);
  own s = {{v[5], v[4], v[1], v[0]}, {v[7], v[6], v[3], v[2]}, {{0}}};
  for (; n; n--, p += BLOCK) {
    const four abef = s.abef, cdgh = s.cdgh;
    uint32_t w[16];
    memcpy(w, p, sizeof w);
    for (int i = 0; i < 16; i++)
      w[i] = __builtin_bswap32(w[i]);
    memcpy(s.w, w, sizeof w);
    for (int r = 0; r < 16; r += 4)
      four_rounds(&s, r), four_rounds(&s, r + 1), four_rounds(&s, r + 2), four_rounds(&s, r + 3);
    s.abef = plus(s.abef, abef);
    s.cdgh = plus(s.cdgh, cdgh);
  }
  const four a = s.abef, c = s.cdgh;
  memcpy(h, (int[]){a[3], a[2], c[3], c[2], a[1], a[0], c[1], c[0]}, sizeof v);
}

static bool has_own(void) {
  unsigned a, b, c, d, simd;
  const unsigned needed = 1U << 9 | 1U << 19, sha = 1U << 29; /* SSSE3 and SSE4.1 */
  __asm__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(0), "c"(0));
  if (a < 7) return false;
  __asm__("cpuid" : "=a"(a), "=b"(b), "=c"(simd), "=d"(d) : "a"(1), "c"(0));
  __asm__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(7), "c"(0));
  return (simd & needed) == needed && (b & sha);
}
#else
static void add_blocks_own(uint32_t h[8], const uint8_t *p, size_t n) { (void)h, (void)p, (void)n; }
static bool has_own(void) { return false; }
#endif

static void add_blocks(uint32_t h[8], const uint8_t *p, size_t n, bool plain) {
  if (!plain) {
    add_blocks_own(h, p, n);
    return;
  }
  for (size_t i = 0; i < n; i++)
    add_block(h, p + i * BLOCK);
}

void tf_sha256_by(const void *bytes, size_t n, bool plain, char out[TF_SHA256_TEXT]) {
  uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const uint8_t *p = bytes;
  uint8_t last[2 * BLOCK] = {0};
  size_t left = n % BLOCK, padded = left < BLOCK - 8 ? BLOCK : 2 * BLOCK;
  plain = plain || !has_own();
  add_blocks(h, p, n / BLOCK, plain);
  if (left) memcpy(last, p + (n - left), left);
  last[left] = 0x80;
  for (size_t i = 0; i < 8; i++)
    last[padded - 1 - i] = (uint8_t)((uint64_t)n * 8 >> (8 * i));
  add_blocks(h, last, padded / BLOCK, plain);
  for (int i = 0; i < 8; i++)
    snprintf(out + (size_t)i * 8, 9, "%08x", (unsigned)h[i]);
}

void tf_sha256_text(const void *bytes, size_t n, char out[TF_SHA256_TEXT]) {
  tf_sha256_by(bytes, n, false, out);
}
