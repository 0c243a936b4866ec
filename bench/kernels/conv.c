/* A convolution, or two with or without a ReLU between them (CHAIN, RELU): our kernel against
 * oneDNN, libxsmm, OpenBLAS and a plain nest. shape.h has FIRST and, of a chain, SECOND, as
 * initialisers of a window; kernel.h is what `tileflow emit` wrote for it. */
#define _GNU_SOURCE
#include "dnnl_conv.h"
#include "openblas_conv.h"
#include "ours.h"
#include "xsmm_conv.h"
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

static float *source, *between, *sink, *weights[STEPS], *want;

/* Of a step: where it reads and writes plain images, and whether a ReLU follows. */
static float *from(int i) { return i ? between : source; }
static float *to(int i) { return i == STEPS - 1 ? sink : between; }
static bool relu(int i) { return WITH_RELU && i < STEPS - 1; }

static convolved plain[STEPS], blocked[STEPS];

static void onednn_packed(void) {
  for (int i = 0; i < STEPS; i++)
    take(&plain[i].s);
  finish();
}
static void onednn(void) { /* weights within the clock */
  for (int i = 0; i < STEPS; i++)
    take(&plain[i].lay), take(&plain[i].s);
  finish();
}
static void onednn_own_layouts(void) {
  for (int i = 0; i < STEPS; i++)
    take(&blocked[i].s);
  finish();
}

static by_columns columns[STEPS];
static void openblas(void) {
  for (int i = 0; i < STEPS; i++)
    by_openblas(&columns[i], from(i), weights[i], to(i), relu(i));
}

static layer layers[STEPS];
static void xsmm_layers(void) {
  for (int i = 0; i < STEPS; i++)
    layer_run(&layers[i], relu(i));
}

static by_hand hands[STEPS];
static float *laid[STEPS], *laid_now[STEPS];
static void xsmm_packed(void) {
  for (int i = 0; i < STEPS; i++)
    hand_run(&hands[i], from(i), laid[i], to(i), relu(i));
}
static void xsmm(void) { /* weights within the clock */
  for (int i = 0; i < STEPS; i++) {
    hand_weights(shape[i], weights[i], laid_now[i]);
    hand_run(&hands[i], from(i), laid_now[i], to(i), relu(i));
  }
}

/* As one writes it down. */
static void one_naive(window w, const float *restrict src, const float *restrict by,
                      float *restrict dst, bool positive) {
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
                sum += src[((size_t)(b * w.c + c) * (size_t)w.h + (size_t)y) * (size_t)w.w +
                           (size_t)x] *
                       by[((f * w.c + c) * w.r + r) * w.r + s];
              }
          dst[((size_t)(b * w.f + f) * (size_t)w.p + (size_t)p) * (size_t)w.q + (size_t)q] =
              positive && sum < 0 ? 0 : sum;
        }
}

static void naive(void) {
  for (int i = 0; i < STEPS; i++)
    one_naive(shape[i], from(i), weights[i], to(i), relu(i));
}

static bool with_layers = true, with_hands = true;

static void prepare(void) {
  source = numbers(words_in(shape[0])), between = numbers(words_out(shape[0]));
  sink = numbers(words_out(shape[STEPS - 1])), want = numbers(words_out(shape[STEPS - 1]));
  start();
  for (int i = 0; i < STEPS; i++) {
    weights[i] = numbers(words_of_weights(shape[i])), laid[i] = numbers(words_of_weights(shape[i])),
    laid_now[i] = numbers(words_of_weights(shape[i]));
    plain[i] = convolution(
        shape[i], (arrays){.plain_src = from(i), .weights = weights[i], .plain_dst = to(i)},
        relu(i));
    arrays all = {.plain_src = source, .weights = weights[i], .blocked = true};
    if (i) all.src_md = &blocked[0].dst_md, all.src = blocked[0].dst;
    blocked[i] = convolution(shape[i], all, relu(i));
    columns[i] = columns_of(shape[i]);
    with_layers =
        with_layers && layer_make(&layers[i], shape[i], i < STEPS - 1 ? shape[i + 1].pad : 0,
                                  i ? &layers[i - 1] : NULL, source, weights[i]);
    with_hands = with_hands && hand_make(&hands[i], shape[i]);
    hand_weights(shape[i], weights[i], laid[i]);
  }
  kernel_dense(&args);
  args.I = source, args.O = sink;
#if defined(CHAIN)
  args.W1 = weights[0], args.W2 = weights[1];
#else
  args.F = weights[0];
#endif
  ready_ours();
}

static double flops(void) {
  double sum = 0;
  for (int i = 0; i < STEPS; i++)
    sum += 2.0 * (double)words_out(shape[i]) * shape[i].c * shape[i].r * shape[i].r;
  return sum;
}

/* The result of a contestant in `sink`, if it stands elsewhere. */
static void fetch(const contestant *c) {
  if (c->run == xsmm_layers) layer_result(&layers[STEPS - 1], sink);
  if (c->run != onednn_own_layouts) return;
  window w = shape[STEPS - 1];
  dnnl_dims_t dims = {w.batch, w.f, w.p, w.q};
  reorder(blocked[STEPS - 1].dst, memory(described(dims, dnnl_nchw), sink));
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "conv";
  prepare();
  const size_t out = words_out(shape[STEPS - 1]);
  party p = of_ours();
  joins(&p, "oneDNN", onednn, 0);
  joins(&p, "oneDNN packed", onednn_packed, p.packed);
  joins(&p, "oneDNN blocked", onednn_own_layouts, p.packed);
  if (with_hands)
    joins(&p, "libxsmm rows", xsmm, 0), joins(&p, "libxsmm rows packed", xsmm_packed, p.packed);
  if (with_layers) joins(&p, "libxsmm blocked", xsmm_layers, p.packed);
  joins(&p, "openblas", openblas, 0);
  naive();
  memcpy(want, sink, out * sizeof *sink);
  if (!all_right(name, p.who, p.n,
                 &(result){.raw = sink,
                           .bytes = out * sizeof *sink,
                           .got = sink,
                           .want = want,
                           .n = out,
                           .limit = 1e-5,
                           .fetch = fetch}))
    return 1;
  if (threads() == 1) joins(&p, "gcc -O3", naive, 0); /* the nest is for one core */
  rounds(name, (work){{[F32] = flops()}}, p.who, p.n);
  return 0;
}
