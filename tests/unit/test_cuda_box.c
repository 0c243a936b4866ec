/* Boxes of rows: how many there are against all boxes, tried one by one; what they are for known
 * layers; and what a block's copies bring of them, element by element; what leaves by boxes. */
#include "codegen/backend/cuda/box/box.h"

#include <string.h>

#include "codegen/backend/cuda/cuda.h"
#include "codegen/backend/cuda/pass/pass.h"
#include "codegen/lower/lower.h"
#include "tests/unit/case.h"

static const char *const arch =
    "architecture:\n  name: gpu\n  clock: 1 GHz\n  memories:\n  - {name: HBM, bandwidth: 64}\n"
    "  - {name: SMEM, capacity: 4 MiB, bandwidth: 64, mesh: [8, 8]}\n  compute:\n"
    "  - {name: u, ops: [mac, add], below: SMEM, mesh: [16, 16]}\n";

/* A convolution of p x q pixels with a window of r x r and that stride. */
static test_case convolution(int n, int p, int q, int r, int stride, const char *mapping) {
  char text[800];
  snprintf(text, sizeof text,
           "workload:\n  name: c\n  dims: {n: %d, p: %d, q: %d, k: 64, c: 64, r: %d, s: %d}\n"
           "  tensors: {I: {shape: [%d, %d, %d, 64]}}\n  ops:\n"
           "  - \"O[n,p,q,k] += I[n,p*%d+r,q*%d+s,c] * W[k,r,s,c]\"\n%s",
           n, p, q, r, r, n, (p - 1) * stride + r, (q - 1) * stride + r, stride, stride, mapping);
  return case_of(arch, text);
}

static int64_t parts(int64_t n, int64_t by) { return (n + by - 1) / by; }

static double boxes_of(const int64_t *extent, const int64_t *side) {
  double n = 1;
  for (int i = 0; i < 3; i++)
    n *= (double)parts(extent[i], side[i]);
  return n;
}

/* The fewest boxes of so many points; whether they divide their dims does not count here. */
static double fewest(const int64_t *extent, int64_t points) {
  double least = 1e18;
  for (int64_t a = 1; a <= extent[0] && a <= points; a++)
    for (int64_t b = 1; b <= extent[1] && a * b <= points; b++)
      for (int64_t c = 1; c <= extent[2] && a * b * c <= points; c++) {
        const double n = boxes_of(extent, (const int64_t[]){a, b, c});
        if (n < least) least = n;
      }
  return least;
}

/* At most 5 % more for each end that is ragged, and for halves that are no boxes. */
static void check_fewest(void) {
  static const int points[] = {16, 64, 128};
  for (int n = 2; n <= 32; n *= 4)
    for (int p = 5; p <= 56; p += 3)
      for (size_t i = 0; i < 3; i++) {
        test_case e = convolution(n, p, p + 2, 3, 1, "");
        cu_box b;
        const tf_op *op = &e.spec->workload->ops[0];
        const int64_t extent[3] = {n, p, p + 2};
        CHECK(cu_box_find(e.spec->workload, op, &b) && b.n == 3 && b.rows == 0);
        cu_box_fit(e.spec->workload, op, points[i], &b);
        CHECK(b.side[0] * b.side[1] * b.side[2] <= points[i]);
        CHECK(boxes_of(extent, b.side) <= 1.2 * fewest(extent, points[i]));
        case_drop(&e);
      }
}

static const struct {
  int line, n, p, r, stride, points, side[3];
} known[] = {
    {__LINE__, 32, 56, 3, 1, 128, {2, 8, 8}},  {__LINE__, 32, 28, 3, 1, 128, {8, 4, 4}},
    {__LINE__, 32, 14, 3, 2, 128, {32, 2, 2}}, {__LINE__, 32, 7, 3, 1, 128, {16, 1, 7}},
    {__LINE__, 1, 7, 3, 1, 128, {1, 7, 7}},    {__LINE__, 32, 56, 1, 1, 64, {1, 8, 8}},
};

static void check_known(void) {
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    test_case e = convolution(known[i].n, known[i].p, known[i].p, known[i].r, known[i].stride, "");
    cu_box b;
    CHECK(cu_box_find(e.spec->workload, &e.spec->workload->ops[0], &b));
    cu_box_fit(e.spec->workload, &e.spec->workload->ops[0], known[i].points, &b);
    for (int k = 0, at = b.n - 3; k < 3; k++, at++)
      if ((at < 0 ? 1 : b.side[at]) != known[i].side[k])
        printf("line %d: side %d is %d\n", known[i].line, k, at < 0 ? 1 : (int)b.side[at]),
            CHECK(false);
    case_drop(&e);
  }
}

/* ---- what copies bring ---- */

static const ir_stmt *first_copy(const ir_body *b) {
  const ir_stmt *found = NULL;
  for (int i = 0; i < b->n && !found; i++)
    found = b->s[i]->kind == IR_COPY ? b->s[i] : first_copy(&b->s[i]->body);
  return found;
}

/* Of a block of 8 x 16 pixels: a tile has as many rows; between its first place of the window and
 * its last lies all that they read. */
static void check_copies(int window, int stride) {
  char mapping[200];
  snprintf(mapping, sizeof mapping,
           "mapping: |\n  HBM for p=2\n    SMEM for p=8 q=16 k=64 r=%d s=%d c=64\n      op O\n",
           window, window);
  test_case e = convolution(1, 16, 16, window, stride, mapping);
  ir_machine machine;
  case_prepare(&e);
  const tf_emit_options o = {.dtype = "bf16", .isa = "sm_90a"};
  ir_program *p = e.tree && tf_target_cuda.machine(&o, &machine, e.d)
                      ? lower_kernel(e.tree, &tf_target_cuda.lower, &machine, e.d)
                      : NULL;
  const ir_stmt *copy = p ? first_copy(&p->body) : NULL;
  double words = 0, share[64] = {0};
  CHECK(p && p->n_buffers <= 64);
  CHECK(copy && copy->copy.queue == CU_BOXES);
  for (int i = 0; copy && i < p->body.n; i++)
    if (p->body.s[i]->kind == IR_FOR) cu_spanned(p, p->body.s[i], 1, &words, share);
  if (copy) CHECK_I64(cu_copied(p, copy), (int64_t)8 * 16 * 64);
  if (copy)
    CHECK_NEAR(share[copy->copy.from], window < stride ? 0.25 : 1,
               1e-12); /* every other one along both */
  CHECK_NEAR(words, (7.0 * stride + window) * (15.0 * stride + window) * 64, 1e-12);
  ir_free(p);
  case_drop(&e);
}

/* ---- channels before pixels ---- */

enum { CHANNELS = 48 };

static test_case channels_first(int window, int stride, const char *weights) {
  char text[1200];
  snprintf(text, sizeof text,
           "workload:\n  name: c\n  dims: {k: 32, p: 8, q: 8, c: %d, r: %d, s: %d}\n"
           "  tensors: {I: {shape: [%d, %d, %d]}}\n  ops:\n"
           "  - \"O[k,p,q] += I[c,p*%d+r,q*%d+s] * W[%s]\"\n"
           "mapping: |\n  HBM for p=2\n    SMEM for p=4 q=8 k=32 r=%d s=%d c=%d\n      op O\n",
           CHANNELS, window, window, CHANNELS, 7 * stride + window, 7 * stride + window, stride,
           stride, weights, window, window, CHANNELS);
  test_case e = case_of(arch, text);
  case_prepare(&e);
  return e;
}

/* Of a chunk of channels a block of pixels reads so many elements, counted one by one. */
static int64_t read_of_chunk(const ir_stack *pixels, int window, int stride, int64_t chunk) {
  static bool seen[64][64];
  int64_t n = 0;
  memset(seen, 0, sizeof seen);
  for (int p = 0; p < pixels->length[0]; p++)
    for (int q = 0; q < pixels->length[1]; q++)
      for (int r = 0; r < window; r++)
        for (int s = 0; s < window; s++)
          n += !seen[p * stride + r][q * stride + s], seen[p * stride + r][q * stride + s] = true;
  return n * chunk;
}

static int count_together(const ir_program *p, const ir_body *b) {
  int n = 0;
  for (int i = 0; i < b->n; i++)
    n += (b->s[i]->kind == IR_COPY && cu_has_contiguous_rows(p, b->s[i])) +
         count_together(p, &b->s[i]->body);
  return n;
}

/* A tile is of a chunk of the channels and all of the window, of pixels as of weights, whose rows
 * stand together if the window is right behind the channels; weights in another order are taken
 * place by place.  Copies of a tile are two: before the loop, and in it. */
static void check_chunk(int window, int stride) {
  static const struct {
    const char *weights;
    bool chunk, together;
  } ways[] = {{"k,c,r,s", true, true},
              {"c,k,r,s", true, false},
              {"k,r,s,c", false, false},
              {"k,c,s,r", false, false}};
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    test_case e = channels_first(window, stride, ways[i].weights);
    ir_machine machine;
    const tf_emit_options o = {.dtype = "bf16", .isa = "sm_80"};
    ir_program *p = e.tree && tf_target_cuda.machine(&o, &machine, e.d)
                        ? lower_kernel(e.tree, &tf_target_cuda.lower, &machine, e.d)
                        : NULL;
    const int64_t chunk = cu_chunk(e.spec->workload, &e.spec->workload->ops[0]);
    const ir_stmt *copy = p ? first_copy(&p->body) : NULL;
    CHECK((chunk > 0) == ways[i].chunk);
    CHECK(copy != NULL &&
          (!ways[i].chunk || (count_together(p, &p->body) > 0) == ways[i].together));
    if (copy && ways[i].chunk) {
      CHECK(CHANNELS % chunk == 0 && chunk * window * window <= 512);
      CHECK(cu_is_gathered(p, copy) && !cu_has_contiguous_rows(p, copy));
      const ir_stack *pixels = cu_stack(&p->buffers[copy->copy.to]);
      CHECK(pixels->n == 2);
      CHECK_I64(cu_copied(p, copy),
                pixels->length[0] * pixels->length[1] * chunk * window * window);
      CHECK_NEAR(cu_distinct(p, copy), (double)read_of_chunk(pixels, window, stride, chunk), 1e-12);
      const cu_tile t = cu_tile_of(&p->buffers[copy->copy.to]);
      CHECK(cu_share_of(p, copy) * 256 >= t.rows * t.pieces);
    }
    ir_free(p);
    case_drop(&e);
  }
}

/* Digits: all settings of the dim and the other one, tried one by one, read different elements. */
static void check_digits(void) {
  for (int step = 1; step <= 6; step++)
    for (int f = 2; f <= 6; f++) {
      char text[400];
      bool seen[64] = {false}, apart = true;
      snprintf(
          text, sizeof text,
          "workload:\n  name: t\n  dims: {f: %d, k: 8, p: 9, c: 8, t: 3}\n"
          "  tensors: {I: {pad: [0, 2]}}\n  ops:\n  - \"O[f,k,p] += I[c,p-t] * W[k,%d*t+f,c]\"\n",
          f, step);
      test_case e = case_of(arch, text);
      cu_box b;
      const tf_workload *wl = e.spec->workload;
      const tf_op *op = &wl->ops[0];
      for (int t = 0; t < 3; t++)
        for (int i = 0; i < f; i++)
          apart &= !seen[step * t + i], seen[step * t + i] = true;
      CHECK(cu_box_has_digit(wl, &op->reads[1], op->dims[0]) == apart);
      CHECK(!cu_box_has_digit(wl, &op->reads[0], op->dims[2]) &&
            !cu_box_has_digit(wl, &op->reads[1], op->dims[1]));
      CHECK((cu_window(wl, op) == 0) == apart);
      if (apart)
        CHECK(cu_box_find(wl, op, &b) && b.n == 1 && b.column != op->dims[0] &&
              b.dim[0] != op->dims[0]);
      case_drop(&e);
    }
}

/* ---- stacked phases ---- */

/* The copies of the tensor to a tile whose rows are stacked along the rank, each of as many
 * elements as pixels and channels are; -1: a product reads the tensor itself. */
static int count_pixels(const ir_program *p, const ir_body *b, int tensor, int rank, int64_t k) {
  int n = 0;
  for (int i = 0; i < b->n && n >= 0; i++) {
    const ir_stmt *s = b->s[i];
    const tf_op *op = s->kind == IR_NEST ? &p->tree->workload->ops[s->op] : NULL;
    for (int r = 0; op && ir_is_product(op) && r < op->n_reads; r++)
      if (op->reads[r].tensor == tensor && p->buffers[s->nest.from[r]].role != IR_COPIED) return -1;
    if (s->kind == IR_COPY && p->buffers[s->copy.to].tensor == tensor) {
      const ir_stack *rows = cu_stack(&p->buffers[s->copy.to]);
      CHECK(rows && rows->n == 1 && rows->axis[0] == rank);
      if (rows) CHECK_I64(cu_copied(p, s), rows->length[0] * k);
      n++;
    }
    const int inside = count_pixels(p, &s->body, tensor, rank, k);
    n = inside < 0 ? -1 : n + inside;
  }
  return n;
}

/* Phases of fewer than eight channels, but of as many together, are the rows of a product, whose
 * columns' pixels are gathered into tiles, in all mappings that are proposed. */
static void check_phases(int step, int c) {
  enum { K = 16, J = 2 };
  char text[500];
  snprintf(text, sizeof text,
           "workload:\n  name: t\n  dims: {f: %d, c: %d, i: 4, j: 40, k: %d, t: 2}\n"
           "  tensors: {I: {pad: [0, 0, 1]}}\n  ops:\n"
           "  - \"P[f,c,i,j] += I[k,i,j-t] * W[k,c,%d*t+f]\"\n",
           step, c, K, step);
  test_case e = case_of(arch, text);
  ir_machine machine;
  const tf_workload *wl = e.spec->workload;
  const bool is = step > 1 && c > 1 && c < 8 && step * c >= 8;
  CHECK_I64(cu_stacked_phases(wl, &wl->ops[0]), is ? 1 : -1);
  CHECK(tf_target_cuda.machine(&(tf_emit_options){.dtype = "bf16", .isa = "sm_80"}, &machine, e.d));
  int forms = 0;
  for (tf_tree *t; is && (t = cu_form(e.spec->arch, wl, forms)) != NULL; forms++) {
    ir_program *p = lower_kernel(t, &tf_target_cuda.lower, &machine, e.d);
    CHECK(p && count_pixels(p, &p->body, wl->ops[0].reads[0].tensor, J, K) > 0);
    ir_free(p);
    tf_tree_free(t);
  }
  CHECK(forms > 0 || !is);
  case_drop(&e);
}

static int count_boxed(const ir_body *b) {
  int n = 0;
  for (int i = 0; i < b->n; i++)
    n += (b->s[i]->kind == IR_SAVE && cu_of(b->s[i])->by_boxes) + count_boxed(&b->s[i]->body);
  return n;
}

/* How many results leave by boxes, and the type of the last output. */
static void check_boxed(const char *text, const char *dtype, int want, ir_type type) {
  test_case e = case_of(arch, text);
  ir_machine machine;
  case_prepare(&e);
  ir_program *p = e.tree && tf_target_cuda.machine(
                                &(tf_emit_options){.dtype = dtype, .isa = "sm_90a"}, &machine, e.d)
                      ? lower_kernel(e.tree, &tf_target_cuda.lower, &machine, e.d)
                      : NULL;
  CHECK(p != NULL);
  if (!p) case_complain(e.d);
  if (p) CHECK_I64(count_boxed(&p->body), want);
  for (int i = 0; p && i < p->n_buffers; i++)
    if (p->buffers[i].role == IR_ARGUMENT &&
        e.spec->workload->tensors[p->buffers[i].tensor].n_consumers == 0)
      CHECK_I64(p->buffers[i].type, type);
  ir_free(p);
  case_drop(&e);
}

/* What two products are put together to leaves by boxes where it lies between two kernels, of which
 * the second reads it by boxes; not where its rows are no multiples of 16 bytes. */
static void check_leaves(int inner, int want) {
  char text[1024];
  snprintf(
      text, sizeof text,
      "workload:\n  name: gated\n  dims: {m: 256, k: 128, l: %d, n: 128}\n  ops:\n"
      "  - U[m,l] += X[m,k] * W[k,l]\n  - V[m,l] += X[m,k] * Z[k,l]\n  - G[m,l] = U[m,l] + V[m,l]\n"
      "  - Y[m,n] += G[m,l] * W2[l,n]\n"
      "mapping: |\n  HBM\n    Seq\n      HBM for m=2\n        Seq keep U@SMEM V@SMEM\n"
      "          SMEM for m=128 l=%d k=128\n            op U\n"
      "          SMEM for m=128 l=%d k=128\n            op V\n"
      "          SMEM for m=128 l=%d\n            op G\n"
      "      HBM for m=2\n        SMEM for m=128 n=128 l=%d\n          op Y\n",
      inner, inner, inner, inner, inner);
  check_boxed(text, "bf16", want, IR_BF16);
}

/* Results of float8 are as narrow as their words, where these differ; parts of a sum, of which a
 * block has one, do not leave by boxes, whose place is the same for all blocks. */
static void check_float8(const char *tensors, int parts, int want, ir_type type) {
  char text[1024];
  snprintf(text, sizeof text,
           "workload:\n  name: product\n  dims: {m: 128, n: 128, k: 256}\n  tensors: {%s}\n"
           "  ops:\n  - C[m,n] += A[m,k] * B[n,k]\nmapping: |\n  HBM for m=1 spatial k=%d@x\n"
           "    SMEM for m=128 n=128 k=%d\n      op C\n",
           tensors, parts, 256 / parts);
  check_boxed(text, "f8", want, type);
}

int main(void) {
  check_leaves(128, 2);
  check_leaves(124, 0);
  check_float8("", 1, 1, IR_F32);
  check_float8("", 2, 0, IR_F32);
  check_float8("A: {word-bits: 8}", 1, 1, IR_BF16);
  check_float8("A: {word-bits: 8}", 2, 0, IR_BF16);
  check_float8("A: {word-bits: 8}, C: {word-bits: 8}", 1, 1, IR_F8);
  check_float8("A: {word-bits: 8}, C: {word-bits: 32}", 1, 1, IR_F32);
  check_digits();
  for (int step = 1; step <= 4; step++)
    for (int c = 1; c <= 9; c++)
      check_phases(step, c);
  check_fewest();
  check_known();
  check_copies(3, 1);
  check_copies(3, 2);
  check_copies(1, 2);
  for (int window = 1; window <= 5; window++)
    for (int stride = 1; stride <= 3; stride++)
      check_chunk(window, stride);
  return check_report();
}
