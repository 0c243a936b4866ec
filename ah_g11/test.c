/* Holds the kernel against attention-g11 evaluated plainly in double. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

/* Numbers that any machine draws alike. */
static double number(unsigned long long i, unsigned tensor) {
  double v = (double)((i * 37 + tensor * 11ULL) % 101);
  return (v - 50) / 256;
}

static void *room(size_t n, size_t size) {
  void *p = calloc(n ? n : 1, size);
  if (!p) exit(2);
  return p;
}

int main(void) {
  kernel_args args;
  int bad = 0;
  memset(&args, 0, sizeof args);
  double *r_S = room(294912, sizeof(double));
  double *r_Q = room(49152, sizeof(double));
  float *k_Q = room(51456, sizeof(float));
  args.Q = k_Q;
  args.Q_stride[2] = 67;
  args.Q_stride[1] = 51456;
  args.Q_stride[0] = 51456;
  for (long long i = 0; i < 49152; i++) {
    float v = (float)number((unsigned long long)i, 1);
    r_Q[i] = v;
    k_Q[i / 64 * 67 + i % 64] = v;
  }
  double *r_K = room(24576, sizeof(double));
  float *k_K = room(25728, sizeof(float));
  args.K = k_K;
  args.K_stride[2] = 67;
  args.K_stride[1] = 25728;
  args.K_stride[0] = 25728;
  for (long long i = 0; i < 24576; i++) {
    float v = (float)number((unsigned long long)i, 2);
    r_K[i] = v;
    k_K[i / 64 * 67 + i % 64] = v;
  }
  double *r_X = room(768, sizeof(double));
  double *r_D = room(294912, sizeof(double));
  double *r_E = room(294912, sizeof(double));
  double *r_Z = room(768, sizeof(double));
  double *r_P = room(294912, sizeof(double));
  double *r_O = room(49152, sizeof(double));
  float *k_O = room(51456, sizeof(float));
  args.O = k_O;
  args.O_stride[2] = 67;
  args.O_stride[1] = 51456;
  args.O_stride[0] = 51456;
  double *r_V = room(24576, sizeof(double));
  float *k_V = room(25728, sizeof(float));
  args.V = k_V;
  args.V_stride[2] = 67;
  args.V_stride[1] = 25728;
  args.V_stride[0] = 25728;
  for (long long i = 0; i < 24576; i++) {
    float v = (float)number((unsigned long long)i, 9);
    r_V[i] = v;
    k_V[i / 64 * 67 + i % 64] = v;
  }
  for (long long i = 0; i < 294912; i++) r_S[i] = 0;
  for (long long d_b = 0; d_b < 1; d_b++)
  for (long long d_h = 0; d_h < 1; d_h++)
  for (long long d_m = 0; d_m < 768; d_m++)
  for (long long d_l = 0; d_l < 384; d_l++)
  for (long long d_a = 0; d_a < 64; d_a++)
  {
    double *at = &r_S[0 + (d_l - 0) * 1 + (d_m - 0) * 384 + (d_h - 0) * 294912 + (d_b - 0) * 294912], v = (r_Q[0 + ((0 + 1 * d_b) - 0) * 49152LL + ((0 + 1 * d_h) - 0) * 49152LL + ((0 + 1 * d_m) - 0) * 64LL + ((0 + 1 * d_a) - 0) * 1LL] * r_K[0 + ((0 + 1 * d_b) - 0) * 24576LL + ((0 + 1 * d_h) - 0) * 24576LL + ((0 + 1 * d_l) - 0) * 64LL + ((0 + 1 * d_a) - 0) * 1LL]);
    *at = *at + v;
  }
  for (long long i = 0; i < 768; i++) r_X[i] = -INFINITY;
  for (long long d_b = 0; d_b < 1; d_b++)
  for (long long d_h = 0; d_h < 1; d_h++)
  for (long long d_m = 0; d_m < 768; d_m++)
  for (long long d_l = 0; d_l < 384; d_l++)
  {
    double *at = &r_X[0 + (d_m - 0) * 1 + (d_h - 0) * 768 + (d_b - 0) * 768], v = r_S[0 + ((0 + 1 * d_b) - 0) * 294912LL + ((0 + 1 * d_h) - 0) * 294912LL + ((0 + 1 * d_m) - 0) * 384LL + ((0 + 1 * d_l) - 0) * 1LL];
    *at = fmax(*at, v);
  }
  for (long long i = 0; i < 294912; i++) r_D[i] = 0;
  for (long long d_b = 0; d_b < 1; d_b++)
  for (long long d_h = 0; d_h < 1; d_h++)
  for (long long d_m = 0; d_m < 768; d_m++)
  for (long long d_l = 0; d_l < 384; d_l++)
  {
    double *at = &r_D[0 + (d_l - 0) * 1 + (d_m - 0) * 384 + (d_h - 0) * 294912 + (d_b - 0) * 294912], v = (r_S[0 + ((0 + 1 * d_b) - 0) * 294912LL + ((0 + 1 * d_h) - 0) * 294912LL + ((0 + 1 * d_m) - 0) * 384LL + ((0 + 1 * d_l) - 0) * 1LL] - r_X[0 + ((0 + 1 * d_b) - 0) * 768LL + ((0 + 1 * d_h) - 0) * 768LL + ((0 + 1 * d_m) - 0) * 1LL]);
    *at = v;
  }
  for (long long i = 0; i < 294912; i++) r_E[i] = 0;
  for (long long d_b = 0; d_b < 1; d_b++)
  for (long long d_h = 0; d_h < 1; d_h++)
  for (long long d_m = 0; d_m < 768; d_m++)
  for (long long d_l = 0; d_l < 384; d_l++)
  {
    double *at = &r_E[0 + (d_l - 0) * 1 + (d_m - 0) * 384 + (d_h - 0) * 294912 + (d_b - 0) * 294912], v = exp(r_D[0 + ((0 + 1 * d_b) - 0) * 294912LL + ((0 + 1 * d_h) - 0) * 294912LL + ((0 + 1 * d_m) - 0) * 384LL + ((0 + 1 * d_l) - 0) * 1LL]);
    *at = v;
  }
  for (long long i = 0; i < 768; i++) r_Z[i] = 0;
  for (long long d_b = 0; d_b < 1; d_b++)
  for (long long d_h = 0; d_h < 1; d_h++)
  for (long long d_m = 0; d_m < 768; d_m++)
  for (long long d_l = 0; d_l < 384; d_l++)
  {
    double *at = &r_Z[0 + (d_m - 0) * 1 + (d_h - 0) * 768 + (d_b - 0) * 768], v = r_E[0 + ((0 + 1 * d_b) - 0) * 294912LL + ((0 + 1 * d_h) - 0) * 294912LL + ((0 + 1 * d_m) - 0) * 384LL + ((0 + 1 * d_l) - 0) * 1LL];
    *at = *at + v;
  }
  for (long long i = 0; i < 294912; i++) r_P[i] = 0;
  for (long long d_b = 0; d_b < 1; d_b++)
  for (long long d_h = 0; d_h < 1; d_h++)
  for (long long d_m = 0; d_m < 768; d_m++)
  for (long long d_l = 0; d_l < 384; d_l++)
  {
    double *at = &r_P[0 + (d_l - 0) * 1 + (d_m - 0) * 384 + (d_h - 0) * 294912 + (d_b - 0) * 294912], v = (r_E[0 + ((0 + 1 * d_b) - 0) * 294912LL + ((0 + 1 * d_h) - 0) * 294912LL + ((0 + 1 * d_m) - 0) * 384LL + ((0 + 1 * d_l) - 0) * 1LL] / r_Z[0 + ((0 + 1 * d_b) - 0) * 768LL + ((0 + 1 * d_h) - 0) * 768LL + ((0 + 1 * d_m) - 0) * 1LL]);
    *at = v;
  }
  for (long long i = 0; i < 49152; i++) r_O[i] = 0;
  for (long long d_b = 0; d_b < 1; d_b++)
  for (long long d_h = 0; d_h < 1; d_h++)
  for (long long d_m = 0; d_m < 768; d_m++)
  for (long long d_n = 0; d_n < 64; d_n++)
  for (long long d_l = 0; d_l < 384; d_l++)
  {
    double *at = &r_O[0 + (d_n - 0) * 1 + (d_m - 0) * 64 + (d_h - 0) * 49152 + (d_b - 0) * 49152], v = (r_P[0 + ((0 + 1 * d_b) - 0) * 294912LL + ((0 + 1 * d_h) - 0) * 294912LL + ((0 + 1 * d_m) - 0) * 384LL + ((0 + 1 * d_l) - 0) * 1LL] * r_V[0 + ((0 + 1 * d_b) - 0) * 24576LL + ((0 + 1 * d_h) - 0) * 24576LL + ((0 + 1 * d_l) - 0) * 64LL + ((0 + 1 * d_n) - 0) * 1LL]);
    *at = *at + v;
  }
  size_t bytes = kernel_workspace();
  void *workspace = room(bytes, 1);
  memset(workspace, 0xff, bytes);
  if (kernel(&args, workspace, bytes) != kernel_done) return 2;
  if (kernel(&args, workspace, bytes - 1) != kernel_small_workspace || kernel(NULL, NULL, 0) != kernel_bad_argument) return 2;
  {
    double off = 0, norm = 0;
    for (long long i = 0; i < 49152; i++) {
      double want = r_O[i], got = k_O[i / 64 * 67 + i % 64];
      off += (got - want) * (got - want);
      norm += want * want;
    }
    double error = norm > 0 ? sqrt(off / norm) : sqrt(off);
    printf("O: error %.2g of the norm\n", error);
    if (!(error <= 1e-5)) bad = 1;
  }
  free(r_S);
  free(r_Q);
  free(k_Q);
  free(r_K);
  free(k_K);
  free(r_X);
  free(r_D);
  free(r_E);
  free(r_Z);
  free(r_P);
  free(r_O);
  free(k_O);
  free(r_V);
  free(k_V);
  free(workspace);
  return bad;
}
