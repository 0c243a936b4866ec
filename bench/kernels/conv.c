/* A convolution, or two with or without a ReLU between them (CHAIN, RELU): our kernel against oneDNN and a plain nest.
 * shape.h has FIRST and, of a chain, SECOND, as initialisers of a window; kernel.h is what `tileflow emit` wrote for it. */
#define _POSIX_C_SOURCE 200809L
#include <stdbool.h>

#include "dnnl_conv.h"
#include <kernel.h>
#include "rounds.h"
#include <shape.h>

#if defined(RELU)
enum { WITH_RELU = 1 };
#else
enum { WITH_RELU = 0 };
#endif
#if defined(CHAIN)
enum { STEPS = 2 };
static const window shape[STEPS] = {FIRST, SECOND};
#else
enum { STEPS = 1 };
static const window shape[STEPS] = {FIRST};
#endif

static float *source, *between, *sink, *weights[2], *want;
static kernel_args args;
static void *workspace;
static size_t bytes;

static void ours(void) {
  if (kernel(&args, workspace, bytes)) exit(2);
}

static convolved plain[STEPS], blocked[STEPS];

static void chain(convolved *c) {
  for (int i = 0; i < STEPS; i++)
    take(&c[i].s);
  finish();
}
static void dnnl(void) { chain(plain); }
static void dnnl_own_layouts(void) { chain(blocked); }

/* As one writes it down. */
static void one_naive(window w, const float *restrict from, const float *restrict by, float *restrict to, bool relu) {
  for (int b = 0; b < w.batch; b++)
    for (int f = 0; f < w.f; f++)
      for (int p = 0; p < w.p; p++)
        for (int q = 0; q < w.q; q++) {
          float sum = 0;
          for (int c = 0; c < w.c; c++)
            for (int r = 0; r < w.r; r++)
              for (int s = 0; s < w.r; s++) {
                int y = p * w.stride + r - w.pad, x = q * w.stride + s - w.pad;
                if (y < 0 || y >= w.h || x < 0 || x >= w.w) continue;
                sum += from[((size_t)(b * w.c + c) * (size_t)w.h + (size_t)y) * (size_t)w.w + (size_t)x] *
                       by[((f * w.c + c) * w.r + r) * w.r + s];
              }
          to[((size_t)(b * w.f + f) * (size_t)w.p + (size_t)p) * (size_t)w.q + (size_t)q] = relu && sum < 0 ? 0 : sum;
        }
}

static void naive(void) {
  for (int i = 0; i < STEPS; i++)
    one_naive(shape[i], i ? between : source, weights[i], i == STEPS - 1 ? sink : between, WITH_RELU && i < STEPS - 1);
}

static size_t words_in(window w) { return (size_t)w.batch * (size_t)w.c * (size_t)w.h * (size_t)w.w; }
static size_t words_out(window w) { return (size_t)w.batch * (size_t)w.f * (size_t)w.p * (size_t)w.q; }

static void prepare(void) {
  window last = shape[STEPS - 1];
  source = numbers(words_in(shape[0])), sink = numbers(words_out(last)), want = numbers(words_out(last));
  between = numbers(words_out(shape[0]));
  for (int i = 0; i < STEPS; i++)
    weights[i] = numbers((size_t)shape[i].f * (size_t)shape[i].c * (size_t)shape[i].r * (size_t)shape[i].r);
  kernel_dense(&args);
  args.I = source, args.O = sink;
#if defined(CHAIN)
  args.W1 = weights[0], args.W2 = weights[1];
#else
  args.F = weights[0];
#endif
  bytes = kernel_workspace();
  workspace = malloc(bytes);
  start();
  for (int i = 0; i < STEPS; i++) {
    bool relu = WITH_RELU && i < STEPS - 1;
    plain[i] = convolution(shape[i], NULL, NULL, i ? between : source, weights[i], i == STEPS - 1 ? sink : between, false, relu);
    blocked[i] = convolution(shape[i], i ? &blocked[0].dst_md : NULL, i ? blocked[0].dst : NULL, source, weights[i], NULL, true, relu);
  }
}

static double flops(void) {
  double sum = 0;
  for (int i = 0; i < STEPS; i++)
    sum += 2.0 * (double)words_out(shape[i]) * shape[i].c * shape[i].r * shape[i].r;
  return sum;
}

/* The result of a contestant in `sink`; the blocked one's stands elsewhere. */
static void fetch(const contestant *c) {
  if (c->run != dnnl_own_layouts) return;
  window w = shape[STEPS - 1];
  dnnl_dims_t dims = {w.batch, w.f, w.p, w.q};
  dnnl_memory_desc_t nchw = described(dims, dnnl_nchw);
  reorder(blocked[STEPS - 1].dst, memory(&nchw, sink));
}

int main(int argc, char **argv) {
  prepare();
  const size_t out = words_out(shape[STEPS - 1]);
  contestant all[] = {{"tileflow", ours, {0}}, {"oneDNN", dnnl, {0}}, {"oneDNN blocked", dnnl_own_layouts, {0}}, {"gcc -O3", naive, {0}}};
  int n = threads() > 1 ? 3 : 4; /* the nest is for one core */
  naive();
  memcpy(want, sink, out * sizeof *sink);
  for (int i = 0; i < 3; i++) {
    memset(sink, 0, out * sizeof *sink);
    all[i].run();
    fetch(&all[i]);
    if (!(error_of(sink, want, out) < 1e-5)) {
      fprintf(stderr, "%s: %s is wrong by %g\n", argv[0], all[i].name, error_of(sink, want, out));
      return 1;
    }
  }
  rounds(argc > 1 ? argv[1] : "conv", flops(), all, n);
  return 0;
}
