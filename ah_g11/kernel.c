/* kernel: attention-g11 for avx512.  Written by tileflow; see README.md. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-pre") /* it takes loops' first steps apart, and they stay scalar */
#endif
#include "kernel.h"

#include <stdlib.h>

#include "parts.h"

static APART void tile_6_4_0(int64_t k, const float *a, int64_t a_m, int64_t a_k, const float *b,
                        int64_t b_k, float *c, int64_t c_m, int add) {
  vec c0_0 = vec_zero();
  vec c0_1 = vec_zero();
  vec c0_2 = vec_zero();
  vec c0_3 = vec_zero();
  vec c1_0 = vec_zero();
  vec c1_1 = vec_zero();
  vec c1_2 = vec_zero();
  vec c1_3 = vec_zero();
  vec c2_0 = vec_zero();
  vec c2_1 = vec_zero();
  vec c2_2 = vec_zero();
  vec c2_3 = vec_zero();
  vec c3_0 = vec_zero();
  vec c3_1 = vec_zero();
  vec c3_2 = vec_zero();
  vec c3_3 = vec_zero();
  vec c4_0 = vec_zero();
  vec c4_1 = vec_zero();
  vec c4_2 = vec_zero();
  vec c4_3 = vec_zero();
  vec c5_0 = vec_zero();
  vec c5_1 = vec_zero();
  vec c5_2 = vec_zero();
  vec c5_3 = vec_zero();
  const float *a4 = a + 4 * a_m;
  for (; k > 0; k--) {
    const vec b0 = vec_load(b + 0);
    const vec b1 = vec_load(b + 16);
    const vec b2 = vec_load(b + 32);
    const vec b3 = vec_load(b + 48);
    const vec x0 = vec_splat(a[0 * a_m]);
    c0_0 = vec_fma(x0, b0, c0_0);
    c0_1 = vec_fma(x0, b1, c0_1);
    c0_2 = vec_fma(x0, b2, c0_2);
    c0_3 = vec_fma(x0, b3, c0_3);
    const vec x1 = vec_splat(a[1 * a_m]);
    c1_0 = vec_fma(x1, b0, c1_0);
    c1_1 = vec_fma(x1, b1, c1_1);
    c1_2 = vec_fma(x1, b2, c1_2);
    c1_3 = vec_fma(x1, b3, c1_3);
    const vec x2 = vec_splat(a[2 * a_m]);
    c2_0 = vec_fma(x2, b0, c2_0);
    c2_1 = vec_fma(x2, b1, c2_1);
    c2_2 = vec_fma(x2, b2, c2_2);
    c2_3 = vec_fma(x2, b3, c2_3);
    const vec x3 = vec_splat(a[3 * a_m]);
    c3_0 = vec_fma(x3, b0, c3_0);
    c3_1 = vec_fma(x3, b1, c3_1);
    c3_2 = vec_fma(x3, b2, c3_2);
    c3_3 = vec_fma(x3, b3, c3_3);
    const vec x4 = vec_splat(a4[0 * a_m]);
    c4_0 = vec_fma(x4, b0, c4_0);
    c4_1 = vec_fma(x4, b1, c4_1);
    c4_2 = vec_fma(x4, b2, c4_2);
    c4_3 = vec_fma(x4, b3, c4_3);
    const vec x5 = vec_splat(a4[1 * a_m]);
    c5_0 = vec_fma(x5, b0, c5_0);
    c5_1 = vec_fma(x5, b1, c5_1);
    c5_2 = vec_fma(x5, b2, c5_2);
    c5_3 = vec_fma(x5, b3, c5_3);
    a += a_k;
    b += b_k;
    a4 += a_k;
  }
  if (add & ADDS) {
    c0_0 = vec_add(vec_load(c + 0 * c_m + 0), c0_0);
    c0_1 = vec_add(vec_load(c + 0 * c_m + 16), c0_1);
    c0_2 = vec_add(vec_load(c + 0 * c_m + 32), c0_2);
    c0_3 = vec_add(vec_load(c + 0 * c_m + 48), c0_3);
    c1_0 = vec_add(vec_load(c + 1 * c_m + 0), c1_0);
    c1_1 = vec_add(vec_load(c + 1 * c_m + 16), c1_1);
    c1_2 = vec_add(vec_load(c + 1 * c_m + 32), c1_2);
    c1_3 = vec_add(vec_load(c + 1 * c_m + 48), c1_3);
    c2_0 = vec_add(vec_load(c + 2 * c_m + 0), c2_0);
    c2_1 = vec_add(vec_load(c + 2 * c_m + 16), c2_1);
    c2_2 = vec_add(vec_load(c + 2 * c_m + 32), c2_2);
    c2_3 = vec_add(vec_load(c + 2 * c_m + 48), c2_3);
    c3_0 = vec_add(vec_load(c + 3 * c_m + 0), c3_0);
    c3_1 = vec_add(vec_load(c + 3 * c_m + 16), c3_1);
    c3_2 = vec_add(vec_load(c + 3 * c_m + 32), c3_2);
    c3_3 = vec_add(vec_load(c + 3 * c_m + 48), c3_3);
    c4_0 = vec_add(vec_load(c + 4 * c_m + 0), c4_0);
    c4_1 = vec_add(vec_load(c + 4 * c_m + 16), c4_1);
    c4_2 = vec_add(vec_load(c + 4 * c_m + 32), c4_2);
    c4_3 = vec_add(vec_load(c + 4 * c_m + 48), c4_3);
    c5_0 = vec_add(vec_load(c + 5 * c_m + 0), c5_0);
    c5_1 = vec_add(vec_load(c + 5 * c_m + 16), c5_1);
    c5_2 = vec_add(vec_load(c + 5 * c_m + 32), c5_2);
    c5_3 = vec_add(vec_load(c + 5 * c_m + 48), c5_3);
  }
  vec_store(c + 0 * c_m + 0, c0_0);
  vec_store(c + 0 * c_m + 16, c0_1);
  vec_store(c + 0 * c_m + 32, c0_2);
  vec_store(c + 0 * c_m + 48, c0_3);
  vec_store(c + 1 * c_m + 0, c1_0);
  vec_store(c + 1 * c_m + 16, c1_1);
  vec_store(c + 1 * c_m + 32, c1_2);
  vec_store(c + 1 * c_m + 48, c1_3);
  vec_store(c + 2 * c_m + 0, c2_0);
  vec_store(c + 2 * c_m + 16, c2_1);
  vec_store(c + 2 * c_m + 32, c2_2);
  vec_store(c + 2 * c_m + 48, c2_3);
  vec_store(c + 3 * c_m + 0, c3_0);
  vec_store(c + 3 * c_m + 16, c3_1);
  vec_store(c + 3 * c_m + 32, c3_2);
  vec_store(c + 3 * c_m + 48, c3_3);
  vec_store(c + 4 * c_m + 0, c4_0);
  vec_store(c + 4 * c_m + 16, c4_1);
  vec_store(c + 4 * c_m + 32, c4_2);
  vec_store(c + 4 * c_m + 48, c4_3);
  vec_store(c + 5 * c_m + 0, c5_0);
  vec_store(c + 5 * c_m + 16, c5_1);
  vec_store(c + 5 * c_m + 32, c5_2);
  vec_store(c + 5 * c_m + 48, c5_3);
}

/* c (48 x 384) = or += a b */
static void block_48_384(int64_t k, const float *a, int64_t a_m, int64_t a_k,
    const float *b, int64_t b_k, float *c, int64_t c_m, int add) {
  for (int64_t j = 0; j < 384; j += 64) {
    for (int64_t i = 0; i < 48; i += 6) {
      if (j == 0 && add & FAR_A) fetch_rows((uintptr_t)a + (uintptr_t)((i + 6) * a_m * 4), a_m * 4, 6, k * 4);
      if ((add & (ADDS | FAR_C)) == FAR_C) fetch_rows((uintptr_t)(c + i * c_m + j), c_m * 4, 6, 256);
      tile_6_4_0(k, a + i * a_m, a_m, a_k, b + j, b_k, c + i * c_m + j, c_m, add);
    }
  }
}

typedef struct {
  float *at0;
  int64_t step0;
  const float *at1;
  int64_t step1;
  float *at2;
  int64_t step2;
  const float *at3;
  int64_t step3;
  const float *at4;
  int64_t step4;
  float *at5;
  int64_t step5;
  const float *at6;
  int64_t step6;
  float *at7;
  int64_t step7;
  const float *at8;
  int64_t step8;
} ahead0;

static APART void ahead0_rows(const ahead0 *of, int64_t from, int64_t to) {
  for (int64_t i = from; i < to; i++) {
    {
      float *const at0 = of->at0 + i * of->step0;
      (void)at0;
      const float *const at1 = of->at1 + i * of->step1;
      (void)at1;
      vec all_X = vec_splat(-INFINITY);
      int64_t d_l = 0;
      for (; d_l + LANES <= 384; d_l += LANES) {
        all_X = vec_max(all_X, vec_load(&at1[d_l]));
      }
      {
        const float all = vec_most(all_X);
        at0[0] = all;
      }
    }
    {
      float *const at2 = of->at2 + i * of->step2;
      (void)at2;
      const float *const at3 = of->at3 + i * of->step3;
      (void)at3;
      const float *const at4 = of->at4 + i * of->step4;
      (void)at4;
      float *const at5 = of->at5 + i * of->step5;
      (void)at5;
      const float *const at6 = of->at6 + i * of->step6;
      (void)at6;
      float *const at7 = of->at7 + i * of->step7;
      (void)at7;
      const float *const at8 = of->at8 + i * of->step8;
      (void)at8;
      const vec s_D_1 = vec_splat(at4[0]);
      vec all_Z = vec_splat(0.0f);
      int64_t d_l = 0;
      for (; d_l + LANES <= 384; d_l += LANES) {
        const vec v_D = vec_sub(vec_load(&at3[d_l]), s_D_1);
        const vec v_E = vec_exp_low(v_D);
        vec_store(&at5[d_l], v_E);
        all_Z = vec_add(all_Z, v_E);
      }
      {
        const float all = vec_sum(all_Z);
        at7[0] = all;
      }
    }
  }
}

static APART void ahead0_tile_6_4_0(int64_t k, const float *a, int64_t a_m, int64_t a_k, const float *b,
                        int64_t b_k, float *c, int64_t c_m, int add, const ahead0 *of, int64_t from, int64_t to) {
  vec c0_0 = vec_zero();
  vec c0_1 = vec_zero();
  vec c0_2 = vec_zero();
  vec c0_3 = vec_zero();
  vec c1_0 = vec_zero();
  vec c1_1 = vec_zero();
  vec c1_2 = vec_zero();
  vec c1_3 = vec_zero();
  vec c2_0 = vec_zero();
  vec c2_1 = vec_zero();
  vec c2_2 = vec_zero();
  vec c2_3 = vec_zero();
  vec c3_0 = vec_zero();
  vec c3_1 = vec_zero();
  vec c3_2 = vec_zero();
  vec c3_3 = vec_zero();
  vec c4_0 = vec_zero();
  vec c4_1 = vec_zero();
  vec c4_2 = vec_zero();
  vec c4_3 = vec_zero();
  vec c5_0 = vec_zero();
  vec c5_1 = vec_zero();
  vec c5_2 = vec_zero();
  vec c5_3 = vec_zero();
  const float *a4 = a + 4 * a_m;
  if (from < to) {
    {
      float *const at0 = of->at0 + from * of->step0;
      (void)at0;
      const float *const at1 = of->at1 + from * of->step1;
      (void)at1;
      vec all_X = vec_splat(-INFINITY);
      int64_t d_l = 0;
      for (; d_l + LANES <= 384; d_l += LANES) {
        all_X = vec_max(all_X, vec_load(&at1[d_l]));
      }
      {
        const float all = vec_most(all_X);
        at0[0] = all;
      }
    }
  }
  for (int64_t i = from; i < to; i++) {
    const int64_t next = i + 1 < to ? i + 1 : i;
    float *const at0 = of->at0 + next * of->step0;
    (void)at0;
    const float *const at1 = of->at1 + next * of->step1;
    (void)at1;
    vec all_X = vec_splat(-INFINITY);
    float *const at2 = of->at2 + i * of->step2;
    (void)at2;
    const float *const at3 = of->at3 + i * of->step3;
    (void)at3;
    const float *const at4 = of->at4 + i * of->step4;
    (void)at4;
    float *const at5 = of->at5 + i * of->step5;
    (void)at5;
    const float *const at6 = of->at6 + i * of->step6;
    (void)at6;
    float *const at7 = of->at7 + i * of->step7;
    (void)at7;
    const float *const at8 = of->at8 + i * of->step8;
    (void)at8;
    const vec s_D_1 = vec_splat(at4[0]);
    vec all_Z = vec_splat(0.0f);
  int64_t d_l = 0;
  for (; d_l + LANES <= 384; d_l += LANES) {
    {
    const vec b0 = vec_load(b + 0);
    const vec b1 = vec_load(b + 16);
    const vec b2 = vec_load(b + 32);
    const vec b3 = vec_load(b + 48);
    const vec x0 = vec_splat(a[0 * a_m]);
    c0_0 = vec_fma(x0, b0, c0_0);
    c0_1 = vec_fma(x0, b1, c0_1);
    c0_2 = vec_fma(x0, b2, c0_2);
    c0_3 = vec_fma(x0, b3, c0_3);
    const vec x1 = vec_splat(a[1 * a_m]);
    c1_0 = vec_fma(x1, b0, c1_0);
    c1_1 = vec_fma(x1, b1, c1_1);
    c1_2 = vec_fma(x1, b2, c1_2);
    c1_3 = vec_fma(x1, b3, c1_3);
    const vec x2 = vec_splat(a[2 * a_m]);
    c2_0 = vec_fma(x2, b0, c2_0);
    c2_1 = vec_fma(x2, b1, c2_1);
    c2_2 = vec_fma(x2, b2, c2_2);
    c2_3 = vec_fma(x2, b3, c2_3);
    const vec x3 = vec_splat(a[3 * a_m]);
    c3_0 = vec_fma(x3, b0, c3_0);
    c3_1 = vec_fma(x3, b1, c3_1);
    c3_2 = vec_fma(x3, b2, c3_2);
    c3_3 = vec_fma(x3, b3, c3_3);
    const vec x4 = vec_splat(a4[0 * a_m]);
    c4_0 = vec_fma(x4, b0, c4_0);
    c4_1 = vec_fma(x4, b1, c4_1);
    c4_2 = vec_fma(x4, b2, c4_2);
    c4_3 = vec_fma(x4, b3, c4_3);
    const vec x5 = vec_splat(a4[1 * a_m]);
    c5_0 = vec_fma(x5, b0, c5_0);
    c5_1 = vec_fma(x5, b1, c5_1);
    c5_2 = vec_fma(x5, b2, c5_2);
    c5_3 = vec_fma(x5, b3, c5_3);
    a += a_k;
    b += b_k;
    a4 += a_k;
    }
    {
    const vec b0 = vec_load(b + 0);
    const vec b1 = vec_load(b + 16);
    const vec b2 = vec_load(b + 32);
    const vec b3 = vec_load(b + 48);
    const vec x0 = vec_splat(a[0 * a_m]);
    c0_0 = vec_fma(x0, b0, c0_0);
    c0_1 = vec_fma(x0, b1, c0_1);
    c0_2 = vec_fma(x0, b2, c0_2);
    c0_3 = vec_fma(x0, b3, c0_3);
    const vec x1 = vec_splat(a[1 * a_m]);
    c1_0 = vec_fma(x1, b0, c1_0);
    c1_1 = vec_fma(x1, b1, c1_1);
    c1_2 = vec_fma(x1, b2, c1_2);
    c1_3 = vec_fma(x1, b3, c1_3);
    const vec x2 = vec_splat(a[2 * a_m]);
    c2_0 = vec_fma(x2, b0, c2_0);
    c2_1 = vec_fma(x2, b1, c2_1);
    c2_2 = vec_fma(x2, b2, c2_2);
    c2_3 = vec_fma(x2, b3, c2_3);
    const vec x3 = vec_splat(a[3 * a_m]);
    c3_0 = vec_fma(x3, b0, c3_0);
    c3_1 = vec_fma(x3, b1, c3_1);
    c3_2 = vec_fma(x3, b2, c3_2);
    c3_3 = vec_fma(x3, b3, c3_3);
    const vec x4 = vec_splat(a4[0 * a_m]);
    c4_0 = vec_fma(x4, b0, c4_0);
    c4_1 = vec_fma(x4, b1, c4_1);
    c4_2 = vec_fma(x4, b2, c4_2);
    c4_3 = vec_fma(x4, b3, c4_3);
    const vec x5 = vec_splat(a4[1 * a_m]);
    c5_0 = vec_fma(x5, b0, c5_0);
    c5_1 = vec_fma(x5, b1, c5_1);
    c5_2 = vec_fma(x5, b2, c5_2);
    c5_3 = vec_fma(x5, b3, c5_3);
    a += a_k;
    b += b_k;
    a4 += a_k;
    }
    const vec v_D = vec_sub(vec_load(&at3[d_l]), s_D_1);
    const vec v_E = vec_exp_low(v_D);
    vec_store(&at5[d_l], v_E);
    all_Z = vec_add(all_Z, v_E);
    all_X = vec_max(all_X, vec_load(&at1[d_l]));
  }
  k -= 48;
    {
      const float all = vec_sum(all_Z);
      at7[0] = all;
    }
    if (i + 1 < to) {
      {
        const float all = vec_most(all_X);
        at0[0] = all;
      }
    }
  }
  for (; k > 0; k--) {
    const vec b0 = vec_load(b + 0);
    const vec b1 = vec_load(b + 16);
    const vec b2 = vec_load(b + 32);
    const vec b3 = vec_load(b + 48);
    const vec x0 = vec_splat(a[0 * a_m]);
    c0_0 = vec_fma(x0, b0, c0_0);
    c0_1 = vec_fma(x0, b1, c0_1);
    c0_2 = vec_fma(x0, b2, c0_2);
    c0_3 = vec_fma(x0, b3, c0_3);
    const vec x1 = vec_splat(a[1 * a_m]);
    c1_0 = vec_fma(x1, b0, c1_0);
    c1_1 = vec_fma(x1, b1, c1_1);
    c1_2 = vec_fma(x1, b2, c1_2);
    c1_3 = vec_fma(x1, b3, c1_3);
    const vec x2 = vec_splat(a[2 * a_m]);
    c2_0 = vec_fma(x2, b0, c2_0);
    c2_1 = vec_fma(x2, b1, c2_1);
    c2_2 = vec_fma(x2, b2, c2_2);
    c2_3 = vec_fma(x2, b3, c2_3);
    const vec x3 = vec_splat(a[3 * a_m]);
    c3_0 = vec_fma(x3, b0, c3_0);
    c3_1 = vec_fma(x3, b1, c3_1);
    c3_2 = vec_fma(x3, b2, c3_2);
    c3_3 = vec_fma(x3, b3, c3_3);
    const vec x4 = vec_splat(a4[0 * a_m]);
    c4_0 = vec_fma(x4, b0, c4_0);
    c4_1 = vec_fma(x4, b1, c4_1);
    c4_2 = vec_fma(x4, b2, c4_2);
    c4_3 = vec_fma(x4, b3, c4_3);
    const vec x5 = vec_splat(a4[1 * a_m]);
    c5_0 = vec_fma(x5, b0, c5_0);
    c5_1 = vec_fma(x5, b1, c5_1);
    c5_2 = vec_fma(x5, b2, c5_2);
    c5_3 = vec_fma(x5, b3, c5_3);
    a += a_k;
    b += b_k;
    a4 += a_k;
  }
  if (add & ADDS) {
    c0_0 = vec_add(vec_load(c + 0 * c_m + 0), c0_0);
    c0_1 = vec_add(vec_load(c + 0 * c_m + 16), c0_1);
    c0_2 = vec_add(vec_load(c + 0 * c_m + 32), c0_2);
    c0_3 = vec_add(vec_load(c + 0 * c_m + 48), c0_3);
    c1_0 = vec_add(vec_load(c + 1 * c_m + 0), c1_0);
    c1_1 = vec_add(vec_load(c + 1 * c_m + 16), c1_1);
    c1_2 = vec_add(vec_load(c + 1 * c_m + 32), c1_2);
    c1_3 = vec_add(vec_load(c + 1 * c_m + 48), c1_3);
    c2_0 = vec_add(vec_load(c + 2 * c_m + 0), c2_0);
    c2_1 = vec_add(vec_load(c + 2 * c_m + 16), c2_1);
    c2_2 = vec_add(vec_load(c + 2 * c_m + 32), c2_2);
    c2_3 = vec_add(vec_load(c + 2 * c_m + 48), c2_3);
    c3_0 = vec_add(vec_load(c + 3 * c_m + 0), c3_0);
    c3_1 = vec_add(vec_load(c + 3 * c_m + 16), c3_1);
    c3_2 = vec_add(vec_load(c + 3 * c_m + 32), c3_2);
    c3_3 = vec_add(vec_load(c + 3 * c_m + 48), c3_3);
    c4_0 = vec_add(vec_load(c + 4 * c_m + 0), c4_0);
    c4_1 = vec_add(vec_load(c + 4 * c_m + 16), c4_1);
    c4_2 = vec_add(vec_load(c + 4 * c_m + 32), c4_2);
    c4_3 = vec_add(vec_load(c + 4 * c_m + 48), c4_3);
    c5_0 = vec_add(vec_load(c + 5 * c_m + 0), c5_0);
    c5_1 = vec_add(vec_load(c + 5 * c_m + 16), c5_1);
    c5_2 = vec_add(vec_load(c + 5 * c_m + 32), c5_2);
    c5_3 = vec_add(vec_load(c + 5 * c_m + 48), c5_3);
  }
  vec_store(c + 0 * c_m + 0, c0_0);
  vec_store(c + 0 * c_m + 16, c0_1);
  vec_store(c + 0 * c_m + 32, c0_2);
  vec_store(c + 0 * c_m + 48, c0_3);
  vec_store(c + 1 * c_m + 0, c1_0);
  vec_store(c + 1 * c_m + 16, c1_1);
  vec_store(c + 1 * c_m + 32, c1_2);
  vec_store(c + 1 * c_m + 48, c1_3);
  vec_store(c + 2 * c_m + 0, c2_0);
  vec_store(c + 2 * c_m + 16, c2_1);
  vec_store(c + 2 * c_m + 32, c2_2);
  vec_store(c + 2 * c_m + 48, c2_3);
  vec_store(c + 3 * c_m + 0, c3_0);
  vec_store(c + 3 * c_m + 16, c3_1);
  vec_store(c + 3 * c_m + 32, c3_2);
  vec_store(c + 3 * c_m + 48, c3_3);
  vec_store(c + 4 * c_m + 0, c4_0);
  vec_store(c + 4 * c_m + 16, c4_1);
  vec_store(c + 4 * c_m + 32, c4_2);
  vec_store(c + 4 * c_m + 48, c4_3);
  vec_store(c + 5 * c_m + 0, c5_0);
  vec_store(c + 5 * c_m + 16, c5_1);
  vec_store(c + 5 * c_m + 32, c5_2);
  vec_store(c + 5 * c_m + 48, c5_3);
}

/* c (48 x 64) = or += a b, and a's rows before they are read */
static void ahead0_48_64(int64_t k, const float *a, int64_t a_m, int64_t a_k,
    const float *b, int64_t b_k, float *c, int64_t c_m, int add, const ahead0 *of) {
  ahead0_rows(of, 0, 6);
  for (int64_t i = 0; i < 48; i += 6) {
    if ((add & (ADDS | FAR_C)) == FAR_C) fetch_rows((uintptr_t)(c + i * c_m), c_m * 4, 6, 256);
    ahead0_tile_6_4_0(k, a + i * a_m, a_m, a_k, b, b_k, c + i * c_m, c_m, add, of, i + 6, i + 6 + (i + 6 < 48 ? 6 : 0));
  }
}

static void run(const kernel_args *args, float *workspace) {
  const float *const Q = args->Q;
  const int64_t Q_s0 = args->Q_stride[0];
  const int64_t Q_s1 = args->Q_stride[1];
  const int64_t Q_s2 = args->Q_stride[2];
  (void)Q_s0;
  (void)Q_s1;
  (void)Q_s2;
  const float *const K = args->K;
  const int64_t K_s0 = args->K_stride[0];
  const int64_t K_s1 = args->K_stride[1];
  const int64_t K_s2 = args->K_stride[2];
  (void)K_s0;
  (void)K_s1;
  (void)K_s2;
  float *const O = args->O;
  const int64_t O_s0 = args->O_stride[0];
  const int64_t O_s1 = args->O_stride[1];
  const int64_t O_s2 = args->O_stride[2];
  (void)O_s0;
  (void)O_s1;
  (void)O_s2;
  const float *const V = args->V;
  const int64_t V_s0 = args->V_stride[0];
  const int64_t V_s1 = args->V_stride[1];
  const int64_t V_s2 = args->V_stride[2];
  (void)V_s0;
  (void)V_s1;
  (void)V_s2;
  (void)workspace;
#if defined(_OPENMP)
#pragma omp parallel
#endif
  {
    float *const own = workspace + 0 + thread_number() * INT64_C(43104);
    (void)own;
    float *const S = own + 0;
    float *const X = own + 18432;
    float *const D = own + 0;
    (void)D;
    float *const E = own + 0;
    (void)E;
    float *const Z = own + 18480;
    float *const P = own + 0;
    (void)P;
    float *const S_pack10 = own + 18528;
    const float *S_pack10_of = NULL;
    int64_t S_pack10_k = 0, S_pack10_n = 0;
#if defined(_OPENMP)
#pragma omp for schedule(static)
#endif
    for (int64_t i_m_0 = 0; i_m_0 < 2; i_m_0++) {
      for (int64_t i_m_1 = 0; i_m_1 < 8; i_m_1++) {
        const int64_t m_2 = 96 * i_m_1;
        const int64_t m_3 = m_2 + 48 * i_m_0;
        { /* S: a product over m, l and a */
          const int64_t d_m = m_3;
          const int64_t d_l = 0;
          const int64_t d_a = 0;
          const int64_t n_n = 384, n_k = 64, o_l = d_l, o_a = d_a;
          (void)o_l, (void)o_a;
          for (int64_t d_b = 0; d_b < 1; d_b++) {
            for (int64_t d_h = 0; d_h < 1; d_h++) {
              const int add = 0;
              {
                const float *const from = &K[(d_b) * K_s0 + (d_h) * K_s1 + (d_l) * K_s2 + (d_a)];
                if (from != S_pack10_of || n_k != S_pack10_k || n_n != S_pack10_n) {
                  S_pack10_of = from, S_pack10_k = n_k, S_pack10_n = n_n;
                  turn_words(&K[(d_b) * K_s0 + (d_h) * K_s1 + (d_l) * K_s2 + (d_a)], (int64_t)4 * (K_s2), S_pack10, 4 * n_n, n_n, n_k / 1);
                }
              }
              block_48_384(n_k, &Q[(d_b) * Q_s0 + (d_h) * Q_s1 + (d_m) * Q_s2 + (d_a)], Q_s2, 1, S_pack10, n_n, &S[(d_b) * 18432 + (d_h) * 18432 + (d_m - (m_3)) * 384 + (d_l)], 384, add | FAR_A);
            }
          }
        }
        { /* O: a product over m, n and l */
          const int64_t d_m = m_3;
          const int64_t d_n = 0;
          const int64_t d_l = 0;
          const int64_t n_k = 384;
          for (int64_t d_b = 0; d_b < 1; d_b++) {
            for (int64_t d_h = 0; d_h < 1; d_h++) {
              const int add = 0;
              const ahead0 of = {&X[(d_b) * 48 + (d_h) * 48 + (d_m - (m_3))], 1, &S[(d_b) * 18432 + (d_h) * 18432 + (d_m - (m_3)) * 384 + (d_l)], 384, &D[(d_b) * 18432 + (d_h) * 18432 + (d_m - (m_3)) * 384 + (d_l)], 384, &S[(d_b) * 18432 + (d_h) * 18432 + (d_m - (m_3)) * 384 + (d_l)], 384, &X[(d_b) * 48 + (d_h) * 48 + (d_m - (m_3))], 1, &E[(d_b) * 18432 + (d_h) * 18432 + (d_m - (m_3)) * 384 + (d_l)], 384, &D[(d_b) * 18432 + (d_h) * 18432 + (d_m - (m_3)) * 384 + (d_l)], 384, &Z[(d_b) * 48 + (d_h) * 48 + (d_m - (m_3))], 1, &E[(d_b) * 18432 + (d_h) * 18432 + (d_m - (m_3)) * 384 + (d_l)], 384};
              ahead0_48_64(n_k, &P[(d_b) * 18432 + (d_h) * 18432 + (d_m - (m_3)) * 384 + (d_l)], 384, 1, &V[(d_b) * V_s0 + (d_h) * V_s1 + (d_l) * V_s2 + (d_n)], V_s2, &O[(d_b) * O_s0 + (d_h) * O_s1 + (d_m) * O_s2 + (d_n)], O_s2, add | FAR_C, &of);
            }
          }
        }
        for (int64_t d_b = 0; d_b < 1; d_b++) {
          for (int64_t d_h = 0; d_h < 1; d_h++) {
            for (int64_t d_m = m_3; d_m < m_3 + 48; d_m++) {
              const float by = 1.0f / Z[(d_b) * 48 + (d_h) * 48 + (d_m - (m_3))];
              #pragma omp simd
              for (int64_t d_n = 0; d_n < 64; d_n++) {
                O[(d_b) * O_s0 + (d_h) * O_s1 + (d_m) * O_s2 + (d_n)] *= by;
              }
            }
          }
        }
      }
    }
  }
}

size_t kernel_workspace(void) {
  return (size_t)(INT64_C(16) + most_threads() * INT64_C(43104)) * sizeof(float);
}

int kernel(const kernel_args *args, void *workspace, size_t bytes) {
  if (!args) return kernel_bad_argument;
  if (!args->Q) return kernel_bad_argument;
  if (!args->K) return kernel_bad_argument;
  if (!args->O) return kernel_bad_argument;
  if (!args->V) return kernel_bad_argument;
  void *own = NULL;
  if (!workspace) {
    bytes = kernel_workspace();
    workspace = own = malloc(bytes);
    if (!own) return kernel_no_memory;
  }
  if (bytes < kernel_workspace()) return kernel_small_workspace;
  /* buffers start on a cache line */
  run(args, (float *)(((uintptr_t)workspace + 63) / 64 * 64));
  free(own);
  return kernel_done;
}
