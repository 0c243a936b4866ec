/* The NPU's simulator: values against plain loops, cycles and words by hand, half floats all of
 * them, and the example with each of its flags left out. */
#include <stdlib.h>

#include "codegen/backend/npu/sim/program.h"
#include "tests/unit/case.h"

/* ---- half floats ---------------------------------------------------------------------------- */
/* From the definition: sign, exponent, fraction. */
static double half_slow(unsigned h) {
  const int e = (int)(h >> 10 & 31), sign = (int)(h >> 15);
  const double f = (double)(h & 1023) / 1024;
  const double v = e == 31 ? (h & 1023 ? NAN : INFINITY) : e ? ldexp(1 + f, e - 15) : ldexp(f, -14);
  return sign ? -v : v;
}

static void check_halves(void) {
  int wrong = 0;
  for (unsigned h = 0; h < 65536; h++) {
    const double v = half_slow(h);
    if (isnan(v)) continue;
    wrong += (double)npu_from_half((uint16_t)h) != v || npu_to_half((float)v) != h;
    /* between this one and the next, and half-way to it: to the nearer, to the even one */
    if ((h & 0x7fff) >= 0x7bff) continue;
    const double next = half_slow(h + 1), middle = (v + next) / 2;
    wrong += npu_to_half((float)middle) != (h & 1 ? h + 1 : h);
    wrong += npu_to_half((float)(middle + (next - v) / 8)) != h + 1;
    wrong += npu_to_half((float)(middle - (next - v) / 8)) != h;
  }
  CHECK_I64(wrong, 0);
}

/* ---- programs ------------------------------------------------------------------------------- */
static tf_npu *read_program(const char *text, tf_diags *d) {
  const tf_text t = {"p.npu", text, strlen(text)};
  return tf_npu_read(&t, d);
}

/* The number of faults; *cycles. */
static int run(const char *text, double *const *data, double *cycles) {
  tf_diags *d = tf_diags_new();
  tf_npu *p = read_program(text, d);
  tf_npu_result r = {0};
  if (p) tf_npu_run(p, NULL, data, &r, d);
  const int n = (int)tf_diags_errors(d);
  if (cycles) *cycles = r.cycles;
  if (p) tf_npu_result_free(&r);
  tf_npu_free(p);
  tf_diags_free(d);
  return n;
}

static void check_product(const char *text) {
  enum { M = 32, N = 32, K = 64 };
  static double a[M * K], b[K * N], c[M * N];
  double *const data[3] = {a, b, c};
  double cycles = 0;
  int wrong = 0;
  for (int i = 0; i < M * K; i++)
    a[i] = i * 7 % 11 - 5;
  for (int i = 0; i < K * N; i++)
    b[i] = (i * 5 % 13 - 6) / 4.0;
  CHECK_I64(run(text, data, &cycles), 0);
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < K; k++)
        sum += a[i * K + k] * b[k * N + j];
      wrong += c[i * N + j] != sum;
    }
  CHECK_I64(wrong, 0);
  /* B, then two tiles of A: 64 + 32 + 32; then the last tile's own way: 16 + 8 + 8 + 16, of which
   * B's blocks are made beside A's first tile. */
  CHECK_NEAR(cycles, 176, 1e-12);
}

/* Leaves out each line that sets or waits: a hazard, or nobody ever comes. */
static void check_flags(const char *text) {
  int flags = 0, found = 0;
  char *less = malloc(strlen(text) + 1);
  for (const char *line = text, *end; *line; line = end) {
    const char *first = line + strspn(line, " ");
    end = line + strcspn(line, "\n") + 1;
    if (strncmp(first, "set ", 4) != 0 && strncmp(first, "wait ", 5) != 0) continue;
    memcpy(less, text, (size_t)(line - text));
    strcpy(less + (line - text), end);
    flags++;
    found += run(less, NULL, NULL) > 0;
  }
  free(less);
  /* a `set` that nobody waits for is left behind where its `wait` is gone: the data race is what is
   * found */
  CHECK_I64(flags, 10);
  CHECK_I64(found, flags);
}

#define MACHINE                                                                                    \
  "machine m\nmemory GM\nmemory L1 bytes 4096 align 2\nmemory UB bytes 4096 align 2\nqueue "       \
  "mte2\nqueue mte1\n"                                                                             \
  "queue vector\nqueue mte3\npath GM L1 mte2 words 4 latency 3\npath L1 UB mte1 words 8\npath UB " \
  "GM mte3 words 4\n"                                                                              \
  "path GM UB mte2 words 2\nvector vector UB lanes 16 latency 2\n"

/* A 3 x 3 window over a padded image, as columns. */
static void check_window(void) {
  enum { H = 4, W = 5 };
  static double image[H * W], columns[H * W * 9];
  double *const data[2] = {image, columns};
  int wrong = 0;
  for (int i = 0; i < H * W; i++)
    image[i] = i + 1;
  CHECK_I64(
      run(MACHINE
          "tensor I f16 20 in\ntensor O f16 180 out\ncopy L1[0]:f16 I[0] 20:1:1\nset mte2 mte1 0\n"
          "wait mte2 mte1 0\n"
          "load UB[0]:f16 L1[-12]:f16 at -1 -1 in 4 5 4:45:5:1:0 5:9:1:0:1 3:3:5:1:0 3:1:1:0:1\n"
          "set mte1 mte3 0\nwait mte1 mte3 0\ncopy O[0] UB[0]:f16 180:1:1\n",
          data, NULL),
      0);
  for (int p = 0; p < H; p++)
    for (int q = 0; q < W; q++)
      for (int t = 0; t < 9; t++) {
        const int y = p + t / 3 - 1, x = q + t % 3 - 1;
        const double want = y < 0 || y >= H || x < 0 || x >= W ? 0 : image[y * W + x];
        wrong += columns[(p * W + q) * 9 + t] != want;
      }
  CHECK_I64(wrong, 0);
}

/* Softmax of rows, with its cycles: what a path takes, what the vector unit takes. */
static void check_rows(void) {
  enum { M = 3, N = 20 };
  static double x[M * N], y[M * N];
  double *const data[2] = {x, y};
  double cycles = 0;
  int wrong = 0;
  for (int i = 0; i < M * N; i++)
    x[i] = (i * 7 % 23) / 4.0;
  CHECK_I64(
      run(MACHINE
          "tensor X f32 60 in\ntensor Y f32 60 out\ncopy UB[0]:f32 X[0] 60:1:1\nset mte2 vector 0\n"
          "wait mte2 vector 0\nmov UB[1000]:f32 -1e30 3:1:0\n"
          "rmax UB[1000]:f32 UB[0]:f32 3:1:20 20:0:1\n"
          "sub UB[0]:f32 UB[0]:f32 UB[1000]:f32 3:20:20:1 20:1:1:0\n"
          "exp UB[0]:f32 UB[0]:f32 60:1:1\n"
          "mov UB[1000]:f32 0 3:1:0\nradd UB[1000]:f32 UB[0]:f32 3:1:20 20:0:1\n"
          "div UB[0]:f32 UB[0]:f32 UB[1000]:f32 3:20:20:1 20:1:1:0\nset vector mte3 0\n"
          "wait vector mte3 0\ncopy Y[0] UB[0]:f32 60:1:1\n",
          data, &cycles),
      0);
  CHECK_NEAR(cycles, 60 / 2.0 + 2 * (2 + 1) + 5 * (2 + 4) + 60 / 4.0, 1e-12);
  for (int m = 0; m < M; m++) {
    double most = -1e30, sum = 0;
    for (int n = 0; n < N; n++)
      most = x[m * N + n] > most ? x[m * N + n] : most;
    for (int n = 0; n < N; n++)
      sum += exp(x[m * N + n] - most);
    for (int n = 0; n < N; n++)
      wrong += fabs(y[m * N + n] - exp(x[m * N + n] - most) / sum) > 1e-6;
  }
  CHECK_I64(wrong, 0);
}

/* A number as a source grows by its steps: 10 + 3 i - j. */
static void check_numbers(void) {
  double y[12] = {0};
  double *const data[1] = {y};
  int wrong = 0;
  CHECK_I64(run(MACHINE "tensor Y f32 12 out\nmov UB[0]:f32 10 3:4:3 4:1:-1\n"
                        "set vector mte3 0\nwait vector mte3 0\n"
                        "copy Y[0] UB[0]:f32 12:1:1\n",
                data, NULL),
            0);
  for (int i = 0; i < 12; i++)
    wrong += y[i] != 10 + 3 * (i / 4) - i % 4;
  CHECK_I64(wrong, 0);
}

/* A product beside vector operations that take a quarter of its port: 300 columns are at 150 when
 * two operations of 100 cycles have ended, and go on at full speed.  Then 4 columns, while which a
 * block of 8 cycles is loaded: 7.5 of them beside an operation of 10.  Whichever begins first. */
static void check_port(void) {
  static const char *const queues[] = {"queue c\nqueue v\n", "queue v\nqueue c\n"};
  for (int i = 0; i < 2; i++) {
    char text[1024];
    double cycles = 0;
    snprintf(text, sizeof text,
             "machine array\nmemory GM\nmemory B bytes 65536\nqueue q\n%spath GM B q\n"
             "cube c B B B rows m 16 n 1 k 16 fill 8\nvector v B lanes 16 port 0.25\n"
             "tensor X f32 5056 in\n"
             "copy B[0]:f32 X[0] 5056:1:1\nbarrier\n"
             "mad B[20224]:f32 B[0]:f32 B[1024]:f32 16 300 16 set ld 300 16 300\n"
             "mov B[40000]:f32 1 1600:1:0\nmov B[40000]:f32 2 1600:1:0\nbarrier\n"
             "mad B[20224]:f32 B[0]:f32 B[1024]:f32 16 4 16 set ld 300 16 300\n"
             "mov B[40000]:f32 3 160:1:0\n",
             queues[i]);
    CHECK_I64(run(text, NULL, &cycles), 0);
    CHECK_NEAR(cycles, 350 + 10.5, 1e-9);
  }
}

int main(void) {
  size_t len;
  char *example = case_file("examples/product.npu", &len);
  check_halves();
  check_product(example);
  check_flags(example);
  check_window();
  check_rows();
  check_numbers();
  check_port();
  free(example);
  return check_report();
}
