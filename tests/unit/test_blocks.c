/* Blocks of keys that a mask leaves nothing of: the emitted kernel of a streamed attention visits
 * those that the model counts, and a plain count over the rows of each block says the same.  A mask
 * that is added: the kernel visits the first block and those with a key that counts, and cuts rows
 * that stand whole behind the last one, whatever the data.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "codegen/backend/target.h"
#include "tests/kernels/whole.h"
#include "tests/unit/case.h"

enum { DEPTH = 2, OPS = 7 };

/* Queries m and keys l, in blocks of so many; l - m lies in lo .. hi where the condition holds. */
typedef struct {
  int m, l, block_m, block_l, lo, hi;
} shape;

static const char architecture[] =
    "architecture:\n  name: small\n  memories:\n  - {name: DRAM, bandwidth: 4}\n"
    "  - {name: L1, bandwidth: 64}\n"
    "  compute:\n  - {name: u, ops: [mac, add, mul, max, min, div, exp, sub, select], below: L1}\n";

static char *text_of(const shape *s) {
  static const char names[] = "STXEZPO";
  char *text = NULL;
  FILE *f = case_text(&text);
  fprintf(f,
          "%sworkload:\n  name: masked\n  dims: {m: %d, l: %d, a: %d, n: %d}\n  ops:\n"
          "  - S[m,l] += Q[m,a] * K[l,a]\n"
          "  - T[m,l] = select(l - m <= %d and m - l <= %d, S[m,l], -inf)\n"
          "  - X[m] max= T[m,l]\n  - E[m,l] = exp(T[m,l] - X[m])\n  - Z[m] += E[m,l]\n"
          "  - P[m,l] = E[m,l] / Z[m]\n  - O[m,n] += P[m,l] * V[l,n]\n"
          "mapping: |\n  DRAM for m=%d l=%d\n    L1\n      Seq stream X Z O\n",
          architecture, s->m, s->l, DEPTH, DEPTH, s->hi, -s->lo, s->m / s->block_m,
          s->l / s->block_l);
  for (const char *op = names; *op; op++)
    fprintf(f, "        L1 for m=%d l=%d%s\n          op %c\n", s->block_m, s->block_l,
            *op == 'S'   ? " a=2"
            : *op == 'O' ? " n=2"
                         : "",
            *op);
  return fclose(f) == 0 ? text : NULL;
}

/* Blocks with a pair of the band. */
static int64_t blocks_by_hand(const shape *s) {
  int64_t n = 0;
  for (int m = 0; m < s->m; m += s->block_m)
    for (int l = 0; l < s->l; l += s->block_l) {
      bool any = false;
      for (int i = m; i < m + s->block_m; i++)
        for (int k = l; k < l + s->block_l; k++)
          any |= k - i >= s->lo && k - i <= s->hi;
      n += any;
    }
  return n;
}

/* Whether every row has a key: a row without one has a block in the kernel, and none in the model.
 */
static bool all_see(const shape *s) {
  for (int i = 0; i < s->m; i++)
    if (i + s->hi < 0 || i + s->lo > s->l - 1) return false;
  return s->lo <= s->hi;
}

/* Points of each op that the kernel runs. */
static bool run_kernel(const test_case *e, int64_t *points) {
  ir_program *p = lower_kernel(e->tree, &tf_target_cpu.lower, &(ir_machine){.data = IR_F32}, e->d);
  double **data = whole_new(e->spec->workload);
  ir_counts c = {calloc(p ? (size_t)p->n_buffers + 1 : 1, sizeof *c.buffer), points};
  const bool ran = p && data && c.buffer && ir_run(p, data, &c);
  free(c.buffer);
  whole_free(e->spec->workload, data);
  ir_free(p);
  return ran;
}

static bool one(const shape *s, int64_t *left_out) {
  char *text = text_of(s);
  test_case e = {0};
  int64_t points[OPS] = {0};
  case_read(&e, text);
  bool same = CHECK(case_evaluate(&e)) && CHECK(run_kernel(&e, points));
  const int64_t blocks = blocks_by_hand(s), each = (int64_t)s->block_m * s->block_l;
  for (int o = 0; same && o < OPS; o++) {
    const int64_t deep = o == 0 || o == OPS - 1 ? DEPTH : 1;
    if (o == 5) continue; /* the quotient costs no points in a stream */
    same = CHECK_I64(e.r.ops[o].points, blocks * each * deep);
    same = CHECK_I64(points[o], blocks * each * deep) && same;
    *left_out += o == 0 ? e.r.ops[0].skipped : 0;
  }
  if (!same)
    printf("m %d in %d, l %d in %d, band %d .. %d: %" PRId64 " blocks\n", s->m, s->block_m, s->l,
           s->block_l, s->lo, s->hi, blocks);
  case_drop(&e);
  free(text);
  return same;
}

/* ---- masks that are added ---- */

/* Heads h, of which each has a mask of its own where it is `apart`; streamed, or rows whole. */
typedef struct {
  int h, m, l, block_m, block_l;
  bool apart, stream;
} added;

enum { ALIKE = 64 }; /* whole rows end at a multiple of it */

static char *text_of_added(const added *s) {
  static const char names[] = "STXEZPO";
  char *text = NULL;
  FILE *f = case_text(&text);
  fprintf(
      f,
      "%sworkload:\n  name: added\n  dims: {h: %d, m: %d, l: %d, a: %d, n: %d}\n  ops:\n"
      "  - S[h,m,l] += Q[h,m,a] * K[h,l,a]\n  - T[h,m,l] = S[h,m,l] * 0.5 + B[%sm,l]\n"
      "  - X[h,m] max= T[h,m,l]\n  - E[h,m,l] = exp(T[h,m,l] - X[h,m])\n  - Z[h,m] += E[h,m,l]\n"
      "  - P[h,m,l] = E[h,m,l] / Z[h,m]\n  - O[h,m,n] += P[h,m,l] * V[h,l,n]\n"
      "mapping: |\n  DRAM for h=%d m=%d l=%d\n    L1\n      Seq%s\n",
      architecture, s->h, s->m, s->l, DEPTH, DEPTH, s->apart ? "h," : "", s->h, s->m / s->block_m,
      s->stream ? s->l / s->block_l : 1, s->stream ? " stream X Z O" : "");
  for (const char *op = names; *op; op++)
    fprintf(f, "        L1 for m=%d l=%d%s\n          op %c\n", s->block_m,
            s->stream ? s->block_l : s->l,
            *op == 'S'   ? " a=2"
            : *op == 'O' ? " n=2"
                         : "",
            *op);
  if (fclose(f) != 0) return NULL;
  return text;
}

/* Of that head's block of rows: the keys that count in l0 .. l1 - 1, as the end behind which there
 * is none. */
static int end_of(const added *s, const double *b, int h, int m, int l0, int l1) {
  int end = l0;
  for (int i = m; i < m + s->block_m; i++)
    for (int k = l0; k < l1; k++)
      if (b[((s->apart ? h : 0) * s->m + i) * s->l + k] != -INFINITY && k >= end) end = k + 1;
  return end;
}

/* Points of T. */
static int64_t points_by_hand(const added *s, const double *b) {
  int64_t n = 0;
  for (int h = 0; h < s->h; h++)
    for (int m = 0; m < s->m; m += s->block_m)
      if (s->stream) {
        for (int l = 0; l < s->l; l += s->block_l)
          n += l == 0 || end_of(s, b, h, m, l, l + s->block_l) > l ? s->block_m * s->block_l : 0;
      } else {
        const int end = end_of(s, b, h, m, 0, s->l), up = (end + ALIKE - 1) / ALIKE * ALIKE;
        n += (int64_t)s->block_m * (up < ALIKE ? ALIKE : up < s->l ? up : s->l);
      }
  return n;
}

static double *mask_of(const test_case *e, double **data) {
  for (int z = 0; data && z < e->spec->workload->n_tensors; z++)
    if (e->spec->workload->tensors[z].name[0] == 'B') return data[z];
  return NULL;
}

static bool runs_as_counted(const added *s, const test_case *e) {
  const tf_workload *wl = e->spec->workload;
  ir_program *p = lower_kernel(e->tree, &tf_target_cpu.lower, &(ir_machine){.data = IR_F32}, e->d);
  double **got = whole_new(wl), **want = whole_new(wl);
  int64_t points[OPS] = {0};
  ir_counts c = {calloc(p ? (size_t)p->n_buffers + 1 : 1, sizeof *c.buffer), points};
  bool same = p && got && want && c.buffer && CHECK(ir_run(p, got, &c));
  if (same) {
    whole_run(wl, want);
    same = CHECK(whole_equal(wl, want, got)) &&
           CHECK_I64(points[1], points_by_hand(s, mask_of(e, got)));
  }
  free(c.buffer);
  whole_free(wl, got), whole_free(wl, want);
  ir_free(p);
  return same;
}

static void check_added(void) {
  int wrong = 0;
  tf_rng g = tf_rng_new(1, 17);
  for (int i = 0; i < 60 && wrong < 3; i++) {
    added s = {.h = 1 + i % 2, .apart = i / 2 % 2, .stream = i % 3 > 0};
    s.block_m = 1 + (int)tf_rng_below(&g, 4), s.m = s.block_m * (1 + (int)tf_rng_below(&g, 3));
    s.block_l = 1 + (int)tf_rng_below(&g, 5),
    s.l = s.stream ? s.block_l * (2 + (int)tf_rng_below(&g, 4)) : 256;
    char *text = text_of_added(&s);
    test_case e = {0};
    case_read(&e, text);
    if (!(CHECK(e.tree != NULL) && runs_as_counted(&s, &e))) {
      wrong++;
      printf("case %d: h %d, m %d in %d, l %d in %d\n", i, s.h, s.m, s.block_m, s.l, s.block_l);
    }
    case_drop(&e);
    free(text);
  }
}

int main(void) {
  int64_t left_out = 0;
  int n = 0, wrong = 0;
  for (int block_m = 1; block_m <= 4; block_m++)
    for (int block_l = 1; block_l <= 4; block_l++)
      for (int hi = -1; hi <= 3; hi++)
        for (int lo = -9; lo <= 1; lo += 2) {
          const shape s = {3 * block_m, block_l * (2 + (hi + 1) % 3), block_m, block_l, lo, hi};
          if (!all_see(&s) || wrong > 3) continue;
          n++;
          wrong += !one(&s, &left_out);
        }
  CHECK(n > 60 && left_out > 1000);
  check_added();
  return check_report();
}
