# A kernel is handed tensors as the section `layout` has them lie: B by columns, C the other way round, of a window channels last. What it makes of them is compared with loops written by hand; B and C in blocks, of which the last ones are not whole, likewise; what the NPU cannot take is told at its place.
cat >$OUT/product.yaml <<'Y'
architecture:
  memories: [{name: DRAM, line: 16}, {name: L1, capacity: 8192}]
  compute: [{name: mac, ops: [mac], mesh: [16, 1]}]
workload:
  dims: {m: 24, n: 40, k: 20}
  ops: ["C[m,n] += A[m,k] * B[k,n]"]
layout:
  DRAM: {B: [n, k], C: [1, 0]}
mapping: |
  DRAM for m=2 n=5
    L1 for n=8 m=12 k=20
      op C
Y
cat >$OUT/window.yaml <<'Y'
architecture:
  memories: [{name: DRAM, line: 16}, {name: L1, capacity: 8192}]
  compute: [{name: mac, ops: [mac], mesh: [16, 1]}]
workload:
  dims: {o: 6, c: 5, p: 9, q: 7, r: 3, s: 2}
  ops: ["O[o,p,q] += I[c,p+r,q+s] * W[o,c,r,s]"]
layout:
  DRAM: {I: [1, 2, c], O: [p, q, o], W: [r, s, c, o]}
mapping: |
  DRAM for p=9 o=6
    L1 for q=7 c=5 r=3 s=2
      op O
Y
cat >$OUT/product.c <<'C'
#include "product/kernel.h"
#include <math.h>
#include <stdio.h>
static float a[24 * 20], b[40 * 20], c[40 * 24];
int main(void) {
  float(*A)[20] = (void *)a, (*B)[20] = (void *)b, (*C)[24] = (void *)c;
  for (int i = 0; i < 24 * 20; i++) a[i] = (float)(i * 37 % 101) / 101 - 0.5f;
  for (int i = 0; i < 40 * 20; i++) b[i] = (float)(i * 53 % 97) / 97 - 0.5f;
  kernel_args args = {.A = a, .B = b, .C = c};
  kernel_dense(&args);
  int wrong = kernel(&args, NULL, 0) != kernel_done;
  for (int m = 0; m < 24; m++)
    for (int n = 0; n < 40; n++) {
      double sum = 0;
      for (int k = 0; k < 20; k++) sum += (double)A[m][k] * B[n][k];
      wrong += !(fabs(sum - C[n][m]) < 1e-5);
    }
  printf("%d wrong\n", wrong);
}
C
cat >$OUT/window.c <<'C'
#include "window/kernel.h"
#include <math.h>
#include <stdio.h>
static float i0[11 * 8 * 5], w0[3 * 2 * 5 * 6], o0[9 * 7 * 6];
int main(void) {
  float(*I)[8][5] = (void *)i0, (*W)[2][5][6] = (void *)w0, (*O)[7][6] = (void *)o0;
  for (int i = 0; i < 11 * 8 * 5; i++) i0[i] = (float)(i * 37 % 101) / 101 - 0.5f;
  for (int i = 0; i < 3 * 2 * 5 * 6; i++) w0[i] = (float)(i * 53 % 97) / 97 - 0.5f;
  kernel_args args = {.I = i0, .W = w0, .O = o0};
  kernel_dense(&args);
  int wrong = kernel(&args, NULL, 0) != kernel_done;
  for (int o = 0; o < 6; o++)
    for (int p = 0; p < 9; p++)
      for (int q = 0; q < 7; q++) {
        double sum = 0;
        for (int c = 0; c < 5; c++)
          for (int r = 0; r < 3; r++)
            for (int s = 0; s < 2; s++) sum += (double)I[p + r][q + s][c] * W[r][s][c][o];
        wrong += !(fabs(sum - O[p][q][o]) < 1e-5);
      }
  printf("%d wrong\n", wrong);
}
C
for what in product window; do
  tileflow emit $OUT/$what.yaml -o $OUT/$what --no-test --isa portable | sed "s,$OUT/,,g"
  sed -n '/const float \*/p; /float \*[CO];/p' $OUT/$what/kernel.h
  ${CC:-cc} -O1 -I$OUT -o $OUT/run $OUT/$what.c $OUT/$what/kernel.c -lm && $OUT/run
done
sed 's|B: \[n, k\], C: \[1, 0\]|B: [n/16, k, n%16], C: [m/7, n/16, m%7, n%16]|' $OUT/product.yaml >$OUT/cut.yaml
cat >$OUT/cut.c <<'C'
#include "cut/kernel.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
static float a[24 * 20], b[3 * 20 * 16], c[4 * 3 * 7 * 16];
int main(void) {
  float(*A)[20] = (void *)a, (*B)[20][16] = (void *)b, (*C)[3][7][16] = (void *)c;
  memset(b, 0xff, sizeof b), memset(c, 0xff, sizeof c);
  for (int i = 0; i < 24 * 20; i++) a[i] = (float)(i * 37 % 101) / 101 - 0.5f;
  for (int i = 0; i < 40 * 20; i++) B[i / 20 / 16][i % 20][i / 20 % 16] = (float)(i * 53 % 97) / 97 - 0.5f;
  kernel_args args = {.A = a, .B = b, .C = c};
  kernel_dense(&args);
  int wrong = kernel(&args, NULL, 0) != kernel_done;
  for (int m = 0; m < 4 * 7; m++)
    for (int n = 0; n < 3 * 16; n++) {
      double sum = 0;
      for (int k = 0; k < 20 && m < 24 && n < 40; k++) sum += (double)A[m][k] * B[n / 16][k][n % 16];
      wrong += !(fabs(sum - C[m / 7][n / 16][m % 7][n % 16]) < 1e-5);
    }
  printf("%d wrong\n", wrong);
}
C
for isa in portable multi; do
  rm -rf $OUT/cut
  tileflow emit $OUT/cut.yaml -o $OUT/cut --no-test --isa $isa 2>&1 | sed "s,$OUT/,,g"
  make -s -C $OUT/cut libkernel.a
  ${CC:-cc} -O1 -I$OUT -o $OUT/run $OUT/cut.c $OUT/cut/libkernel.a -fopenmp -lm && $OUT/run
done
sed -n '/const float \*/p; /float \*C/p; /Of some arrays/,/rows.h/p' $OUT/cut/kernel.h
sed -n '/"layout": ".n/p' $OUT/cut/manifest.json
tileflow emit $OUT/cut.yaml -o $OUT/live --live --isa portable 2>&1 | sed "s,$OUT/,,g"
sed 's/^  - name: DRAM/&\n    line: 16/' examples/npu.yaml >$OUT/npu.yaml
printf 'layout: {DRAM: {B: [n/16, k, n%%16]}}\n' >$OUT/lie.yaml
tileflow emit $OUT/npu.yaml examples/npu-gemm.yaml $OUT/lie.yaml --target npu -o $OUT/npu 2>&1 | sed "s,$OUT/,,g"
