/* The model against two things: counts worked out by hand, and, on random small cases, the exact
 * walk of the execution (model/cost/exact/walk.c), which shares the ranges but none of the sums. */
#include <stdlib.h>

#include "base/rng.h"
#include "model/cost/state.h"
#include "tests/draw_arch.h"
#include "tests/unit/case.h"
#include "tests/unit/odds_twin.h"
#include "tests/unit/page.h"
#include "tileflow/why.h"

/* How counts are found: as the model chooses, not the quick way (model/cost/quick/even.h), by the
 * walk, by a walk that walks each iteration (model/cost/exact/fast_forward.h). */
typedef enum { FREELY, BY_SUMS, BY_WALK, BY_STEPS } way;

/* A walk that reports its entries walks all of them. */
static void ignore(struct tf_model *m, int i, const tf_move *v) { (void)m, (void)i, (void)v; }

static test_case evaluate(const char *text, way how) {
  test_case e = {0};
  case_read(&e, text);
  if (!e.model) return e;
  e.model->to_walk = how >= BY_WALK;
  if (how == BY_STEPS) e.model->note = ignore;
  if (how == BY_SUMS) e.model->to_sum = true;
  case_evaluate(&e);
  return e;
}

/* ---- by hand --------------------------------------------------------------------------------- */

/* docs/MODEL.md, worked example: C[4,4] += A[4,4] * B[4,4], one row of C at a time in the buffer.
 */
static const char *const worked =
    "architecture:\n  name: two\n  clock: 1 GHz\n  overlap: perfect\n  memories:\n"
    "  - {name: DRAM, bandwidth: 2}\n  - {name: Buf, bandwidth: {read: 4, write: 4}}\n"
    "  compute:\n  - {name: pe, ops: [mac]}\n"
    "workload:\n  name: w\n  dims: {m: 4, n: 4, k: 4}\n  ops:\n"
    "  - C[m,n] += A[m,k] * B[k,n]\n"
    "mapping: |\n  DRAM for m=4 k=2\n    Buf for n=4 k=2\n      op C\n";

static void check_worked(void) {
  static const struct {
    int line, level;
    const char *tensor;
    tf_counts want;
  } rows[] = {
      /* A: each of the 8 slices of 2 words once.  B: all 8 slices of 8 words, none kept. */
      {__LINE__, 1, "A", {16, 64, 0, 0, 2}},
      {__LINE__, 1, "B", {64, 64, 0, 0, 8}},
      /* C: a row enters once per m and stays for both k: 16 words out; 64 updates, 16 of them
         first. */
      {__LINE__, 1, "C", {0, 48, 64, 16, 4}},
      {__LINE__, 0, "A", {0, 16, 0, 0, 16}},
      {__LINE__, 0, "B", {0, 64, 0, 0, 16}},
      {__LINE__, 0, "C", {0, 0, 16, 0, 16}},
  };
  test_case e = evaluate(worked, FREELY);
  CHECK(e.ok);
  for (size_t i = 0; e.ok && i < sizeof rows / sizeof rows[0]; i++)
    for (int z = 0; z < e.spec->workload->n_tensors; z++) {
      if (strcmp(e.spec->workload->tensors[z].name, rows[i].tensor)) continue;
      const tf_counts *got = &e.r.counts[rows[i].level * e.spec->workload->n_tensors + z];
      CHECK_ROW_I64(&rows[i], got->fill, rows[i].want.fill);
      CHECK_ROW_I64(&rows[i], got->read, rows[i].want.read);
      CHECK_ROW_I64(&rows[i], got->update, rows[i].want.update);
      CHECK_ROW_I64(&rows[i], got->drain, rows[i].want.drain);
      CHECK_ROW_I64(&rows[i], got->peak, rows[i].want.peak);
    }
  /* DRAM moves 96 words at 2 a cycle; 64 points at one a cycle; Buf reads 64 + 64 + 48 + 16 at 4.
   */
  CHECK_NEAR(e.r.cycles, 64, 1e-12);
  case_drop(&e);
}

/* A halo: 4 output rows in 2 tiles of 2 read 3 + 3 rows of T; recomputed, or one of them retained.
 */
static void check_halo(void) {
  static const char *const scope[] = {"Seq", "Seq retain T"};
  static const int64_t points[] = {6, 5};
  for (int i = 0; i < 2; i++) {
    page p = {.len = 0};
    say(&p,
        "architecture:\n  name: two\n  memories:\n  - {name: DRAM}\n  - {name: Buf}\n"
        "  compute:\n  - {name: pe, ops: [mac, mul]}\n"
        "workload:\n  name: w\n  dims: {h: 5, p: 4, r: 2}\n  ops:\n"
        "  - T[h] = I[h] * 2\n  - O[p] += T[p + r] * W[r]\n"
        "mapping: |\n  DRAM for p=2\n    Buf\n      %s\n        Buf for h=3\n          op T\n"
        "        Buf for p=2 r=2\n          op O\n",
        scope[i]);
    test_case e = evaluate(p.text, FREELY);
    if (CHECK(e.ok)) {
      CHECK_I64(e.r.ops[0].points, points[i]);
      CHECK_I64(e.r.ops[0].recomputed, points[i] - 5);
      CHECK_I64(e.r.ops[1].points, 8);
    }
    case_drop(&e);
  }
}

/* The same with a level more, where no memory is ever waited for: a cycle a point, and none for a
 * step that has nothing left to make. */
static void check_idle_steps(void) {
  static const char *const scope[] = {"Seq", "Seq retain T"};
  for (int i = 0; i < 2; i++) {
    page p = {.len = 0};
    say(&p,
        "architecture:\n  name: three\n  memories:\n  - {name: DRAM}\n  - {name: Buf}\n"
        "  - {name: Reg}\n"
        "  compute:\n  - {name: pe, ops: [mac, mul]}\n"
        "workload:\n  name: w\n  dims: {h: 9, p: 8, r: 2, c: 4}\n  ops:\n"
        "  - T[h] += I[h,c] * V[c]\n  - O[p] += T[p + r] * W[r]\n"
        "mapping: |\n  DRAM for p=8\n    Buf\n      %s\n        Buf for h=2 c=2\n"
        "          Reg for c=2\n            op T\n"
        "        Buf for r=2\n          op O\n",
        scope[i]);
    test_case e = evaluate(p.text, FREELY);
    if (CHECK(e.ok)) {
      CHECK_I64(e.r.ops[0].points, i ? 9 * 4 : 16 * 4);
      CHECK_NEAR(e.r.cycles, (double)(e.r.ops[0].points + e.r.ops[1].points), 1e-12);
    }
    case_drop(&e);
  }
}

/* Two convolutions in one dim, p = 6 outputs in tiles of 2 (3 runs of the scope) for each of n = 2
 * filters; T's 8 rows h = 0..7; O reads T[p + t], t < 3.  T's home is Buf: the m-tile that holds
 * what comes from DRAM is above the scope, and Reg's m-tiles are below it.
 *
 * Needed of T in runs 0, 1, 2: rows 0..3, 2..5, 4..7.  With n outside p, the second n finds
 * rows 4..7 held and needs 0..3: nothing in common, all is made again: 4 + 2 + 2 rows for either n,
 * 16 points of T (times r = 2). With n inside p, the second n of every tile finds all of it: 4 + 2
 * + 2 rows in all; T's branch runs 3 times.
 *
 * Reg, branch of T: its m-tile is entered once per row h (R of I: the 2 rows h, h + 1; of T: row h;
 * of V: 2 words). Seq passes to O's branch in every run, which touches neither I nor V: both are
 * dropped then, and a run of T's branch starts with nothing.  I: 2 words for a run's first row, 1
 * for each other, since h + 1 is there: rows made 4, 2, 2: 5 + 3 + 3 = 11.  V: 2 for each run: 6.
 * T: each row drains once: 8. n outside: all that twice. Branch of O, one m-tile per p with all of
 * t: T's rows p, p + 1, p + 2; what T's branch left in Reg is its last row, the last that the run
 * needs, and the first p of a tile does not read it: 3 words for p = 0, 1 for p = 1, 4 a run, 6
 * runs: 24.  W (3 words): stays for the second p; dropped when Seq passes to T's branch. n outside
 * p: T's branch runs each time: 3 x 6 = 18.  n inside: at the second n it has nothing to do, but
 * the filter is another one then: 18, too.  O: each of 12 elements enters and leaves once. */
static void check_retain(void) {
  static const struct {
    int line;
    const char *loops;
    int64_t points, runs, i, v, t_drain, t_fill, w;
  } rows[] = {
      {__LINE__, "n=2 p=3", 32, 6, 22, 12, 16, 24, 18},
      {__LINE__, "p=3 n=2", 16, 3, 11, 6, 8, 24, 18},
  };
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    page p = {.len = 0};
    say(&p,
        "architecture:\n  name: three\n  memories:\n  - {name: DRAM}\n  - {name: Buf}\n"
        "  - {name: Reg}\n"
        "  compute:\n  - {name: pe, ops: [mac]}\n"
        "workload:\n  name: w\n  dims: {h: 8, r: 2, p: 6, t: 3, n: 2}\n  ops:\n"
        "  - T[h] += I[h + r] * V[r]\n  - O[p,n] += T[p + t] * W[n,t]\n"
        "mapping: |\n  DRAM\n    Buf for %s\n      Seq retain T\n        Buf for h=4\n"
        "          Reg for r=2\n"
        "            op T\n        Buf for p=2\n          Reg for t=3\n            op O\n",
        rows[k].loops);
    for (way how = FREELY; how <= BY_WALK; how++) {
      test_case e = evaluate(p.text, how);
      if (CHECK(e.ok)) {
        const tf_counts *reg = e.r.counts + 2 * e.spec->workload->n_tensors;
        int z[5] = {0};
        static const char *const name[] = {"T", "I", "V", "O", "W"};
        for (int j = 0; j < 5; j++)
          for (int q = 0; q < e.spec->workload->n_tensors; q++)
            z[j] = strcmp(e.spec->workload->tensors[q].name, name[j]) ? z[j] : q;
        CHECK(e.model->ev.irregular == (how == BY_WALK));
        CHECK_ROW_I64(&rows[k], e.r.ops[0].points, rows[k].points);
        CHECK_ROW_I64(&rows[k], e.r.nodes[3].runs, rows[k].runs);
        CHECK_ROW_I64(&rows[k], reg[z[0]].drain, rows[k].t_drain);
        CHECK_ROW_I64(&rows[k], reg[z[0]].fill, rows[k].t_fill);
        CHECK_ROW_I64(&rows[k], reg[z[1]].fill, rows[k].i);
        CHECK_ROW_I64(&rows[k], reg[z[2]].fill, rows[k].v);
        CHECK_ROW_I64(&rows[k], reg[z[3]].drain, 12);
        CHECK_ROW_I64(&rows[k], reg[z[4]].fill, rows[k].w);
      }
      case_drop(&e);
    }
  }
}

/* ---- random, against the walk ---------------------------------------------------------------- */

typedef struct {
  const char *name;
  int n_dims;
  char dim[8];
  int extent[8];
} nest_op;

static int pick(tf_rng *g, int lo, int hi) {
  return lo + (int)tf_rng_below(g, (uint32_t)(hi - lo + 1));
}

static int up(int a, int b) { return (a + b - 1) / b; }

/* `n` factors whose product reaches `extent`, often past it. */
static void factors(tf_rng *g, int extent, int n, int *out) {
  int turn = pick(g, 0, n - 1);
  for (int i = 0; i < n; i++) {
    int k = (turn + i) % n;
    out[k] = extent <= 1 ? 1 : i == n - 1 ? extent : pick(g, 1, extent);
    extent = up(extent, out[k]);
  }
}

/* A Tile line with the loops given, some of them spatial. */
static void tile(tf_rng *g, page *p, int indent, int level, const nest_op *o, const int *trip) {
  char spatial[256] = "";
  bool any = false;
  say(p, "  %*sL%d", indent, "", level);
  int turn = pick(g, 0, o->n_dims - 1);
  for (int i = 0; i < o->n_dims; i++) {
    int d = (turn + i) % o->n_dims;
    if (trip[d] == 1) continue;
    if (trip[d] <= 4 && pick(g, 0, 2) == 0) {
      size_t at = strlen(spatial);
      snprintf(spatial + at, sizeof spatial - at, " %c=%d@%c", o->dim[d], trip[d],
               pick(g, 0, 1) ? 'x' : 'y');
      continue;
    }
    say(p, "%s %c=%d", any ? "" : " for", o->dim[d], trip[d]);
    any = true;
  }
  say(p, "%s%s\n", *spatial ? " spatial" : "", spatial);
}

/* One op's own nest of Tiles from `level` inwards. */
static void nest(tf_rng *g, page *p, int indent, const nest_op *o, int level, int n_levels) {
  int f[8][4], trip[8], n = pick(g, 1, 3);
  for (int d = 0; d < o->n_dims; d++)
    factors(g, o->extent[d], n, f[d]);
  for (int i = 0; i < n; i++, indent += 2) {
    level = pick(g, level, n_levels - 1);
    for (int d = 0; d < o->n_dims; d++)
      trip[d] = f[d][i];
    tile(g, p, indent, level, o, trip);
  }
  say(p, "  %*sop %s\n", indent, "", o->name);
}

static int machine(tf_rng *g, page *p) {
  int n = pick(g, 2, 3);
  say(p, "architecture:%s\n  memories:\n", draw_some(g, DRAW_ARCH, "\n  ", ""));
  for (int i = 0; i < n; i++)
    say(p, "  - {name: L%d%s}\n", i, draw_some(g, DRAW_MEMORY, ", ", i ? "" : " mesh network "));
  say(p, "  compute:\n  - {name: u, ops: [mac], below: L%d%s}\n", n - 1,
      draw_some(g, DRAW_UNIT, ", ", ""));
  return n;
}

static const char *scope_name(tf_rng *g) {
  static const char *const row[] = {"Seq", "Seq", "Shar", "Pipe"};
  return row[pick(g, 0, 3)];
}

/* What a scope says of its intermediates: nothing, or that it retains some of them. */
static const char *retain(tf_rng *g, const char *all, const char *some) {
  static char text[64];
  int n = pick(g, 0, 3);
  snprintf(text, sizeof text, "%s%s", n < 2 ? "" : " retain ", n < 2 ? "" : n == 2 ? all : some);
  return text;
}

/* Two ops fused below loops on the outputs of the last. */
static void fused(tf_rng *g, page *p, int n, nest_op *a, nest_op *b, int stride, int window) {
  int level = pick(g, 0, n - 2), trip[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  for (int d = 0; d < 2; d++) {
    trip[d] = pick(g, 1, b->extent[d]);
    b->extent[d] = up(b->extent[d], trip[d]);
  }
  tile(g, p, 0, level, b, trip);
  say(p, "    %s%s\n", scope_name(g), retain(g, "C", "C"));
  int rows = stride * (b->extent[0] - 1) + window;
  a->extent[0] = rows < a->extent[0] ? rows : a->extent[0];
  nest(g, p, 4, a, level, n);
  nest(g, p, 4, b, level, n);
}

static void chain(tf_rng *g, page *p, int n) {
  int m = pick(g, 1, 6), l = pick(g, 1, 6), k = pick(g, 1, 4), e = pick(g, 1, 4);
  nest_op a = {"C", 3, "mlk", {m, l, k}}, b = {"E", 3, "mnl", {m, e, l}};
  say(p,
      "workload:\n  name: w\n  dims: {m: %d, l: %d, k: %d, n: %d}\n  ops:\n"
      "  - C[m,l] += A[m,k] * B[k,l]\n  - E[m,n] += C[m,l] * D[l,n]\nmapping: |\n",
      m, l, k, e);
  fused(g, p, n, &a, &b, 1, 1);
}

static void conv_chain(tf_rng *g, page *p, int n) {
  int q = pick(g, 1, 6), t = pick(g, 1, 3), s = pick(g, 1, 2), k = pick(g, 1, 3), r = pick(g, 1, 3);
  int h = s * (q - 1) + t, e = pick(g, 1, 2);
  nest_op a = {"C", 3, "hkr", {h, k, r}}, b = {"E", 4, "pnkt", {q, e, k, t}};
  say(p,
      "workload:\n  name: w\n  dims: {h: %d, k: %d, r: %d, p: %d, n: %d, t: %d}\n  ops:\n"
      "  - C[h,k] += A[h+r] * B[k,r]\n  - E[p,n] += C[%d*p+t,k] * D[n,k,t]\nmapping: |\n",
      h, k, r, q, e, t, s);
  fused(g, p, n, &a, &b, s, t);
}

/* Three convolutions, the last padded at times. */
static void conv_chain_3(tf_rng *g, page *p, int n) {
  int q = pick(g, 1, 6), u = pick(g, 1, 3), t = pick(g, 1, 3), k = pick(g, 1, 2), e = pick(g, 1, 2);
  int d = pick(g, 0, 1) && u == 3, i = q + u - 1 - 2 * d, h = i + t - 1, level = pick(g, 0, n - 2);
  nest_op a = {"C", 3, "hkr", {h, k, 2}}, b = {"E", 3, "ikt", {i, k, t}},
          c = {"F", 4, "pnku", {q, e, k, u}};
  if (i < 1) {
    conv_chain(g, p, n);
    return;
  }
  say(p,
      "workload:\n  name: w\n  dims: {h: %d, k: %d, r: 2, i: %d, t: %d, p: %d, n: %d, u: %d}\n"
      "  tensors:\n    E: {pad: [%d, 0]}\n  ops:\n"
      "  - C[h,k] += A[h+r] * B[k,r]\n  - E[i,k] += C[i+t,k] * D[k,t]\n"
      "  - F[p,n] += E[p+u-%d,k] * G[n,k,u]\nmapping: |\n",
      h, k, i, t, q, e, u, d, d);
  int trip[8] = {pick(g, 1, q), pick(g, 1, e), 1, 1};
  tile(g, p, 0, level, &c, trip);
  c.extent[0] = up(c.extent[0], trip[0]);
  c.extent[1] = up(c.extent[1], trip[1]);
  say(p, "    %s%s\n", scope_name(g), retain(g, "C E", pick(g, 0, 1) ? "C" : "E"));
  int rows = c.extent[0] + u - 1 < i ? c.extent[0] + u - 1 : i;
  b.extent[0] = rows;
  a.extent[0] = rows + t - 1 < h ? rows + t - 1 : h;
  nest(g, p, 4, &a, level, n);
  nest(g, p, 4, &b, level, n);
  nest(g, p, 4, &c, level, n);
}

static void conv(tf_rng *g, page *p, int n) {
  int s = pick(g, 1, 2), k = pick(g, 1, 3), q = pick(g, 1, 6), c = pick(g, 1, 3), r = pick(g, 1, 3);
  nest_op a = {"C", 4, "pkcr", {q, k, c, r}};
  say(p,
      "workload:\n  name: w\n  dims: {p: %d, k: %d, c: %d, r: %d}\n  ops:\n"
      "  - C[p,k] += A[c,%d*p+r] * B[k,c,r]\nmapping: |\n",
      q, k, c, r, s);
  nest(g, p, 0, &a, 0, n);
}

/* Two products that read one matrix, below a loop of both. */
static void shared(tf_rng *g, page *p, int n) {
  int m = pick(g, 1, 6), k = pick(g, 1, 5), x = pick(g, 1, 4), y = pick(g, 1, 4), f = pick(g, 1, m);
  nest_op a = {"C", 3, "mxk", {up(m, f), x, k}}, b = {"E", 3, "myk", {up(m, f), y, k}};
  int swap = pick(g, 0, 1);
  say(p,
      "workload:\n  name: w\n  dims: {m: %d, k: %d, x: %d, y: %d}\n  ops:\n"
      "  - C[m,x] += A[m,k] * B[k,x]\n  - E[m,y] += A[m,k] * D[k,y]\nmapping: |\n"
      "  L0 for m=%d\n    %s\n",
      m, k, x, y, f, pick(g, 0, 1) ? "Seq" : "Shar");
  nest(g, p, 4, swap ? &b : &a, 0, n);
  nest(g, p, 4, swap ? &a : &b, 0, n);
}

static bool near(double a, double b) { return a - b < 1e-9 * b + 1e-9 && b - a < 1e-9 * b + 1e-9; }

/* The walk does not know step classes: only the `perfect` latency is comparable there. */
static bool same_run(const test_case *a, const test_case *b, bool latency) {
  int n = a->spec->workload->n_tensors * a->spec->arch->n_memories;
  bool same = memcmp(a->r.counts, b->r.counts, (size_t)n * sizeof *a->r.counts) == 0;
  for (int o = 0; o < a->spec->workload->n_ops; o++)
    same &= a->r.ops[o].points == b->r.ops[o].points && a->r.ops[o].units == b->r.ops[o].units;
  for (int i = 0; i < a->tree->n_nodes; i++)
    same &= a->r.nodes[i].runs == b->r.nodes[i].runs && a->r.nodes[i].held == b->r.nodes[i].held;
  return same && (!latency || near(a->r.cycles, b->r.cycles));
}

/* Prints where two evaluations of one mapping part. */
static void show(const char *who, const test_case *a, const test_case *b) {
  const tf_workload *wl = a->spec->workload;
  for (int i = 0; a->ok && b->ok && i < wl->n_tensors * a->spec->arch->n_memories; i++) {
    const tf_counts *x = &a->r.counts[i], *y = &b->r.counts[i];
    if (memcmp(x, y, sizeof *x))
      printf("  %s: L%d %s: fill %" PRId64 " / %" PRId64 ", read %" PRId64 " / %" PRId64
             ", update %" PRId64 " / %" PRId64 ", drain %" PRId64 " / %" PRId64 "\n",
             who, i / wl->n_tensors, wl->tensors[i % wl->n_tensors].name, x->fill, y->fill, x->read,
             y->read, x->update, y->update, x->drain, y->drain);
  }
  for (int o = 0; a->ok && b->ok && o < wl->n_ops; o++)
    if (a->r.ops[o].points != b->r.ops[o].points)
      printf("  %s: op %d: points %" PRId64 " / %" PRId64 "\n", who, o, a->r.ops[o].points,
             b->r.ops[o].points);
  for (int i = 0; a->ok && b->ok && i < a->tree->n_nodes; i++)
    if (a->r.nodes[i].runs != b->r.nodes[i].runs || a->r.nodes[i].held != b->r.nodes[i].held)
      printf("  %s: node %d: runs %" PRId64 " / %" PRId64 ", held %" PRId64 " / %" PRId64 "\n", who,
             i, a->r.nodes[i].runs, b->r.nodes[i].runs, a->r.nodes[i].held, b->r.nodes[i].held);
  printf("  %s: cycles %g / %g\n", who, a->r.cycles, b->r.cycles);
}

static bool same_cause(const tf_why_row *a, const tf_why_row *b) {
  return a->tensor == b->tensor && a->above == b->above && a->level == b->level &&
         a->node == b->node && a->cause == b->cause && a->at == b->at && a->slot == b->slot &&
         !memcmp(&a->words, &b->words, sizeof a->words);
}

/* Causes found by sums and by the walk are the same, word for word; false after saying where they
 * are not.  Where nothing that is retained is found, they are those of the tree without `retain`.
 */
static bool same_causes(const test_case *a, const test_case *b) {
  tf_why x = {0}, y = {0};
  tf_result again;
  tf_model *walk = a->model->as_bare ? a->model->bare : b->model;
  bool same = tf_why_of(a->model, &x);
  if (walk != b->model) walk->to_walk = true;
  same = same && tf_model_eval(walk, NULL, &again) && tf_why_of(walk, &y) && x.n == y.n;
  if (walk != b->model) walk->to_walk = false;
  for (int i = 0; same && i < x.n; i++)
    same = same_cause(&x.rows[i], &y.rows[i]);
  for (int i = 0; !same && i < (x.n > y.n ? x.n : y.n); i++)
    for (int k = 0; k < 2; k++) {
      const tf_why_row *r = k ? &y.rows[i] : &x.rows[i];
      if (i < (k ? y.n : x.n))
        printf("  %s: %s L%d -> L%d node %d %s %d.%d: fill %" PRId64 " read %" PRId64
               " update %" PRId64 " drain %" PRId64 "\n",
               k ? "walk" : "sums", a->spec->workload->tensors[r->tensor].name, r->above, r->level,
               r->node, tf_cause_key(r->cause), r->at, r->slot, r->words.fill, r->words.read,
               r->words.update, r->words.drain);
    }
  tf_why_free(&x);
  tf_why_free(&y);
  return same;
}

typedef struct {
  int retains, retained; /* cases that retain; those of them that were not walked */
  int closed, quick;     /* cases that were not walked; those that went the quick way */
  int partial;           /* those of these in which tiles may have been partial */
  int repeated;          /* cases in which the walk fast-forwards */
} tally;

/* A model that has evaluated other trip counts before finds what a new one finds: a few loops at a
 * time take more steps, or those of the tree again. */
static bool same_anew(test_case *a, tf_rng *g) {
  enum { ROUNDS = 6 };
  const int n = tf_model_n_loops(a->model),
            figures = a->spec->workload->n_tensors * a->spec->arch->n_memories;
  int64_t *own = a->model->own_trip, *trips = calloc((size_t)n + 1, sizeof *trips);
  bool same = trips != NULL;
  for (int i = 0; same && i < ROUNDS; i++) {
    for (int l = 0; l < n; l++)
      trips[l] = own[l] + (tf_rng_below(g, 4) ? 0 : (int64_t)tf_rng_below(g, 3));
    tf_model *fresh = tf_model_new(a->tree, a->d);
    tf_result then;
    const bool ok = tf_model_eval(a->model, trips, &a->r);
    same = fresh && ok == tf_model_eval(fresh, trips, &then);
    if (same && ok)
      same = !memcmp(a->r.counts, then.counts, (size_t)figures * sizeof *then.counts) &&
             memcmp(&a->r.cycles, &then.cycles, sizeof then.cycles) == 0;
    tf_model_free(fresh);
  }
  free(trips);
  return same;
}

static void twin(uint64_t seed, tally *t) {
  static void (*const kind[])(tf_rng *, page *, int) = {chain, conv_chain, conv_chain_3, conv,
                                                        shared};
  tf_rng g = tf_rng_new(seed, 1);
  page p = {.len = 0};
  int n = machine(&g, &p);
  kind[pick(&g, 0, 4)](&g, &p, n);
  test_case a = evaluate(p.text, FREELY), b = evaluate(p.text, BY_WALK),
            c = evaluate(p.text, BY_SUMS), d = evaluate(p.text, BY_STEPS);
  bool perfect = a.spec && a.spec->arch->overlap == TF_OVERLAP_PERFECT;
  bool equal = a.ok == b.ok && (!a.ok || same_run(&a, &b, perfect)) && a.ok == c.ok &&
               (!a.ok || same_run(&a, &c, perfect || !c.model->ev.irregular)) && b.ok == d.ok &&
               (!b.ok || same_run(&b, &d, true));
  t->repeated += b.ok && d.ok && b.model->ev.work < d.model->ev.work;
  t->closed += a.ok && !a.model->ev.irregular;
  t->quick += a.ok && a.model->quick;
  t->partial += a.ok && a.model->quick && a.model->partial;
  t->retains += a.ok && a.model->plan->n_retains;
  t->retained += a.ok && a.model->plan->n_retains && !a.model->ev.irregular;
  if (!CHECK(equal)) {
    printf("seed %" PRIu64 ":\n%s\n", seed, p.text);
    show("freely / walk", &a, &b);
    show("freely / sums", &a, &c);
    show("walk / steps", &b, &d);
  }
  if (a.ok && equal && !CHECK(same_causes(&a, &b))) printf("seed %" PRIu64 ":\n%s\n", seed, p.text);
  if (a.ok && a.model->quick && !CHECK(same_anew(&a, &g)))
    printf("anew, seed %" PRIu64 ":\n%s\n", seed, p.text);
  case_drop(&a);
  case_drop(&b);
  case_drop(&c);
  case_drop(&d);
}

/* 17 rows on four buffers of one port, a word a cycle: the first has five of them, each filled,
 * read, updated and drained once; and nine of the second op's, which takes two buffers. */
static const char *const shared_rows =
    "architecture:\n  overlap: perfect\n  memories:\n  - {name: D}\n"
    "  - {name: B, mesh: [4, 1], bandwidth: 1}\n"
    "  compute:\n  - {name: u, ops: [mul]}\n"
    "workload:\n  name: w\n  dims: {m: 17}\n  ops:\n  - O[m] = A[m] * 2\n  - P[m] = O[m] * 3\n"
    "mapping: |\n  D\n    Seq\n      D spatial m=4@x\n        B for m=5\n          op O\n"
    "      D spatial m=2@x\n        B for m=9\n          op P\n";

static void check_busiest(void) {
  for (int how = FREELY; how <= BY_WALK; how++) {
    test_case e = evaluate(shared_rows, (way)how);
    CHECK(e.ok && !e.r.mean_ports && e.r.levels[1].instances == 4);
    CHECK(e.ok && e.r.levels[1].cycles == 4 * 5 + 4 * 9);
    case_drop(&e);
  }
}

/* Two convolutions, padded, of a million rows that no trip count divides, each spread over four
 * buffers, of which the first keeps what the next tile reads again: every point is computed once,
 * and few of the steps are looked at. */
static void check_far(void) {
  static const char *const text =
      "architecture:\n  overlap: perfect\n  memories:\n  - {name: D}\n"
      "  - {name: B, mesh: [4, 1], bandwidth: 1}\n"
      "  compute:\n  - {name: u, ops: [mac]}\n"
      "workload:\n  name: w\n  dims: {p: 999983, r: 3, x: 999983, s: 5}\n"
      "  tensors: {I: {pad: [1]}, T: {pad: [2]}}\n"
      "  ops:\n  - T[p] += I[p+r-1] * W[r]\n  - O[x] += T[x+s-2] * V[s]\n"
      "mapping: |\n  D for x=996\n    Seq retain T\n      D spatial p=4@x\n"
      "        B for p=252 r=3\n          op T\n"
      "      D spatial x=4@x\n        B for x=251 s=5\n          op O\n";
  test_case e = evaluate(text, FREELY);
  CHECK(e.ok && !e.model->ev.irregular);
  CHECK(e.ok && e.r.ops[0].points == 3 * 999983 && e.r.ops[1].points == 5 * 999983);
  CHECK(e.ok && e.model->ev.work < 10000);
  case_drop(&e);
}

/* C is retained, and never found again.  Of what a tree of links takes then, B and F go to all four
 * buffers at once: 35 words in 6 links each; A, C and E each have 2 links for a word, of which
 * there are 48. */
static void check_kept_links(void) {
  static const char *const text =
      "architecture:\n  overlap: none\n  memories:\n  - {name: D, bandwidth: 7}\n"
      "  - {name: B, mesh: [1, 4], network: {multicast: true, reduce: true, topology: tree, width: "
      "0.5}}\n"
      "  compute:\n  - {name: u, ops: [mac], mesh: [3, 1], rate: 16}\n"
      "workload:\n  name: w\n  dims: {m: 4, l: 5, k: 4, n: 3}\n  ops:\n"
      "  - C[m,l] += A[m,k] * B[k,l]\n"
      "  - E[m,n] += C[m,l] * F[l,n]\nmapping: |\n  D spatial m=4@y\n    Shar retain C\n"
      "      B for l=5 k=4\n"
      "        op C\n      B for l=6 n=3\n        op E\n";
  for (int how = FREELY; how <= BY_STEPS; how++) {
    test_case e = evaluate(text, (way)how);
    CHECK(e.ok && e.r.levels[1].hops == 35 * 6 + 48 * 2);
    case_drop(&e);
  }
}

/* Mappings whose closed sums must tell what the walk tells. */
static void check_closed(void) {
  static const char *const machine = "architecture:\n  overlap: %s\n  memories:\n"
                                     "  - {name: D, bandwidth: 3}\n"
                                     "  - {name: B, mesh: [3, 1], bandwidth: 2}\n"
                                     "  - {name: R, mesh: [4, 1]}\n  compute:\n"
                                     "  - {name: u, ops: [mac, max, exp, div, sub, add]}\n%s";
  static const char *const closed[] = {
      /* what is retained is found by none: each step needs another tile */
      "workload:\n  name: w\n  dims: {m: 23, l: 17, n: 5}\n  ops:\n  - X[m] max= S[m,l]\n"
      "  - E[m,l] = exp(S[m,l] - X[m])\n  - Z[m] += E[m,l]\n  - P[m,l] = E[m,l] / Z[m]\n"
      "  - O[m,n] += P[m,l] * V[l,n]\n"
      "mapping: |\n  D for m=4 l=5\n    Seq retain E P stream X Z O\n"
      "      B for m=6 l=4\n        op X\n"
      "      B for m=6 l=4\n        op E\n      B for m=6 l=4\n        op Z\n"
      "      B for m=6 l=4\n        op P\n"
      "      B for m=6 l=4 n=5\n        op O\n",
      /* by all but the first of the inner steps, which need nothing anew */
      "workload:\n  name: w\n  dims: {m: 23, l: 17, k: 11, n: 13}\n  ops:\n"
      "  - C[m,l] += A[m,k] * B[k,l]\n"
      "  - E[m,n] += C[m,l] * F[l,n]\nmapping: |\n  D for m=4 l=3 n=3\n"
      "    Pipe retain C\n      B for k=3 m=2 l=3\n"
      "        R for m=4 k=4 l=2\n          op C\n      B for n=2\n"
      "        R for n=3 spatial m=4@x\n          R for m=2 l=6\n"
      "            op E\n",
      "workload:\n  name: w\n  dims: {m: 24, l: 17, k: 11, n: 13}\n  ops:\n"
      "  - C[m,l] += A[m,k] * B[k,l]\n"
      "  - E[m,n] += C[m,l] * F[l,n]\nmapping: |\n  D for l=3 n=2 m=4 n=2 spatial n=3@x\n"
      "    B\n      Pipe retain C\n"
      "        R for k=11 m=6 l=6\n          op C\n        R for n=2 m=6 l=6\n          op E\n",
      /* ops that share loops with different steps */
      "workload:\n  name: w\n  dims: {m: 61, n: 7, k: 83, o: 5}\n  ops:\n"
      "  - C[m,n] += A[m,k] * B[k,n]\n"
      "  - E[m,o] += A[m,k] * F[k,o]\nmapping: |\n  D for m=31 k=28\n    Para\n"
      "      B for n=7\n        R for m=2 k=3\n"
      "          op C\n      B for m=2 spatial k=2@x\n        R for m=3 k=4 o=5\n          op E\n",
      "workload:\n  name: w\n  dims: {m: 19, n: 7, k: 31, o: 5}\n  ops:\n"
      "  - C[m,n] += A[m,k] * B[k,n]\n"
      "  - E[m,o] += G[m,k] * F[k,o]\n  - H[m] += I[m,k] * J[k]\nmapping: |\n"
      "  D for m=3 k=2 m=2\n    D for k=4\n      Pipe\n"
      "        B for n=7\n          R for m=4 k=4\n            op C\n"
      "        B spatial m=2@x\n          R for m=3 k=5 o=5\n"
      "            op E\n        B for k=7 spatial m=3@x\n          R for m=3\n            op H\n"};
  static const char *const overlap[] = {"perfect", "none", "double-buffer"};
  for (size_t i = 0; i < 3 * sizeof closed / sizeof *closed; i++) {
    page p = {.len = 0};
    say(&p, machine, overlap[i % 3], closed[i / 3]);
    test_case a = evaluate(p.text, FREELY), b = evaluate(p.text, BY_STEPS);
    const bool ok = a.ok && b.ok && tf_model_quick(a.model) && same_run(&a, &b, i % 3 < 2);
    if (!CHECK(ok)) show("closed sums", &a, &b), printf("%s", p.text);
    case_drop(&a);
    case_drop(&b);
  }
}

/* Ops that share loops with different steps, of hundreds of thousands of rows: one ends long before
 * the other. */
static void check_unlike_steps(void) {
  static const char *const text =
      "architecture:\n  memories:\n  - {name: D}\n  - {name: B}\n  - {name: R, mesh: [4, 1]}\n"
      "  compute:\n  - {name: u, ops: [mac]}\n"
      "workload:\n  name: w\n  dims: {m: %d, n: 7, k: %d, o: 5}\n"
      "  ops:\n  - C[m,n] += A[m,k] * B[k,n]\n  - E[m,o] += A[m,k] * F[k,o]\n"
      "mapping: |\n  D for m=%d k=%d\n    %s\n      B for n=7\n        R for m=2 k=3\n"
      "          op C\n"
      "      B for m=2 spatial k=2@x\n        R for m=3 k=4 o=5\n          op E\n";
  static const char *const scope[] = {"Para", "Seq", "Shar"};
  for (int i = 0; i < 3; i++) {
    page few = {.len = 0}, many = {.len = 0};
    say(&few, text, 61, 83, 31, 28, scope[i]);
    say(&many, text, 799999, 599999, 400000, 200000, scope[i]);
    test_case a = evaluate(few.text, BY_WALK), b = evaluate(few.text, BY_STEPS),
              c = evaluate(many.text, FREELY);
    CHECK(a.ok && b.ok && same_run(&a, &b, true));
    CHECK(c.ok && (i == 0 ? c.model->quick : c.model->walked > 0 && c.model->walked < 5000));
    CHECK(c.ok && c.r.ops[0].points == INT64_C(599999) * 7 * 799999);
    CHECK(c.ok && c.r.ops[1].points == INT64_C(599999) * 5 * 799999);
    case_drop(&a);
    case_drop(&b);
    case_drop(&c);
  }
}

/* The same where borders clip what the ops read or make, where spatial loops move them unlike, and
 * beside a mask: sums tell what the walk of each step tells. */
static void check_apart(void) {
  static const char *const machine =
      "architecture:\n  overlap: %s\n  memories:\n  - {name: D, bandwidth: 3}\n"
      "  - {name: B, mesh: [4, 1], bandwidth: 2}\n  - {name: R}\n"
      "  compute:\n  - {name: u, ops: [mac, max, select]}\n%s";
  static const char *const apart[] = {
      "workload:\n  name: w\n  dims: {p: 23, r: 3, s: 2, c: 5}\n  tensors: {I: {pad: [0, 1]}}\n"
      "  ops:\n  - \"T[p] += I[c,p+r-1] * W[c,r]\"\n  - \"Y[p] += I[c,p+s-1] * V[c,s]\"\n"
      "mapping: |\n  D for p=4 c=2\n    Para\n      B for r=3\n        R for c=3 p=6\n"
      "          op T\n      B spatial s=2@x\n        R for p=7 c=3\n          op Y\n",
      "workload:\n  name: w\n  dims: {m: 61, n: 7, k: 13, o: 5}\n  ops:\n"
      "  - C[m,n] += A[m,k] * B[k,n]\n  - E[m,o] += G[m,k] * F[k,o]\n"
      "mapping: |\n  D for m=4 k=2 spatial m=4@x\n    Pipe\n      B for n=7 m=5\n"
      "        R for k=7\n          op C\n      B for m=4 k=3\n        R for k=4 o=5\n"
      "          op E\n",
      "workload:\n  name: w\n  dims: {h: 19, p: 19, k: 3, r: 3, t: 3}\n"
      "  tensors: {I: {pad: [1]}, T: {pad: [0, 1]}}\n  ops:\n"
      "  - \"T[k,h] += I[h+r-1] * V[k,r]\"\n  - \"O[p] += T[k,p+t-1] * W[k,t]\"\n"
      "  - \"Y[p] += T[k,p+t-1] * X[k,t]\"\nmapping: |\n  D\n    Seq\n      B for h=19 k=3 r=3\n"
      "        op T\n      D for p=5\n        Para\n          B for p=4 k=3 t=3\n            op O\n"
      "          B for p=6 k=3 t=3\n            op Y\n",
      "workload:\n  name: w\n  dims: {m: 24, l: 24, n: 5}\n  ops:\n"
      "  - \"T[m,l] = select(l <= m + 2, S[m,l], -inf)\"\n  - X[m] max= T[m,l]\n"
      "  - O[m,n] += G[m,n] * K[n]\nmapping: |\n  D for m=4\n    Para\n      D for l=4\n"
      "        B\n          Seq\n            R for m=6 l=6\n              op T\n"
      "            R for m=6 l=6\n              op X\n      B for m=8 n=5\n        op O\n"};
  static const char *const overlap[] = {"perfect", "none", "double-buffer"};
  for (size_t i = 0; i < 3 * sizeof apart / sizeof *apart; i++) {
    page p = {.len = 0};
    say(&p, machine, overlap[i % 3], apart[i / 3]);
    test_case a = evaluate(p.text, FREELY), b = evaluate(p.text, BY_STEPS);
    const bool ok = a.ok && b.ok && !a.model->walked && same_run(&a, &b, i % 3 < 2);
    if (!CHECK(ok)) show("apart", &a, &b), printf("%s", p.text);
    case_drop(&a);
    case_drop(&b);
  }
}

/* Trip counts that do not cover the extents are refused, and no overflow. */
static void check_cover(void) {
  static const char *const paths[] = {"examples/matmul.yaml"};
  static const int64_t short_of[][5] = {{1, 1, 1, 1, 1},
                                        {4, 4, 1, 16, 16},
                                        {3, 4, 64, 16, 16},
                                        {4, 4, 64, 16, 15},
                                        {0, 5, 64, 16, 15}};
  static const int64_t cover[5] = {4, 5, 64, 16, 15};
  test_case e = {.d = tf_diags_new()};
  e.spec = tf_spec_read(paths, 1, NULL, 0, e.d);
  case_prepare(&e);
  for (int i = 0; CHECK(e.model) && i < 5; i++)
    CHECK(!tf_model_eval(e.model, short_of[i], &e.r) && !e.r.overflow);
  CHECK(e.model && tf_model_eval(e.model, cover, &e.r));
  case_drop(&e);
}

/* 10^14 words in memory words that are no whole parts of each other: what an iteration of a walk
 * that fast-forwarding adds is found again of sums 10^12 times as large, to the last digits. */
static void check_long_repeats(void) {
  static const char *const text =
      "architecture:\n  word-bits: 32\n  memories:\n"
      "  - {name: L0, bandwidth: {write: 0.5, read: 0.5}, word-bits: 24}\n"
      "  - {name: L1, word-bits: 10}\n"
      "  - {name: L2, mesh: [3, 3], bandwidth: 1.5, network: {multicast: true}}\n"
      "  - {name: L3, mesh: [1, 5], bandwidth: {write: 0.5, read: 16}, word-bits: 18,\n"
      "     network: {multicast: true}}\n"
      "  compute:\n  - {name: u, ops: [mac], mesh: [2, 2], rate: 0.5}\n"
      "workload:\n  name: w\n  dims: {m: 1817, n: 712581, k: 52381}\n  ops:\n"
      "  - C[m,n] += A[m,k] * B[k,n]\n"
      "mapping: |\n  L1 for m=1261 n=237527 k=26382\n    L2 spatial n=3@y bypass A\n"
      "      L3 spatial k=2@y m=2@y bypass C\n        op C\n";
  test_case sums = evaluate(text, FREELY), walk = evaluate(text, BY_WALK);
  if (CHECK(sums.ok && walk.ok) && CHECK(sums.model->quick && walk.model->walked > 0)) {
    CHECK_NEAR(walk.r.cycles / sums.r.cycles, 1, 1e-14);
    for (int n = 0; n < sums.tree->n_nodes; n++)
      CHECK_NEAR(walk.r.nodes[n].cycles / sums.r.nodes[n].cycles, 1, 1e-14);
  }
  case_drop(&sums);
  case_drop(&walk);
}

/* The mapping's spatial loops share out eight experts: one at a time among two groups of units,
 * or unevenly, or not at all; the second op has none. */
static void check_routing(void) {
  static const char *const text =
      "architecture:\n  memories:\n  - {name: D}\n  - {name: B, mesh: [3, 1]}\n"
      "  compute:\n  - {name: u, ops: [mac, mul], mesh: [2, 1]}\n"
      "workload:\n  name: w\n  routing: {dim: e, tokens: 16, top: 2, experts: 8}\n"
      "  dims: {e: 8, m: 4, k: 3, n: 2}\n  ops:\n  - O[e,m] += X[e,m,k] * W[e,k]\n"
      "  - P[n] = Q[n] * 2\n"
      "mapping: |\n  D\n    Seq\n      D %s\n          op O\n      B for n=2\n        op P\n";
  static const struct {
    const char *loops;
    int64_t parts;
  } of[] = {{"spatial e=2@x\n        B for e=4 m=4 k=3", 2},
            {"spatial e=2@x\n        B for m=4 k=3 e=2 spatial e=2@x", 4},
            {"spatial e=3@x\n        B for e=3 m=4 k=3", 0},
            {"for e=8\n        B for m=4 k=3", 1}};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    char all[1000];
    snprintf(all, sizeof all, text, of[i].loops);
    test_case e = evaluate(all, FREELY);
    CHECK(e.ok && tf_model_routed(e.model, 0) == of[i].parts);
    CHECK(e.ok && tf_model_routed(e.model, 1) == 0);
    const tf_routing *r = e.ok ? &e.spec->workload->routing : NULL;
    CHECK(r && tf_routing_busiest(r, 1) == 32 && isnan(tf_routing_busiest(r, 3)));
    case_drop(&e);
  }
}

/* test_cost [CASES] */
int main(int argc, char **argv) {
  tf_rng odds = tf_rng_new(5, 13);
  CHECK_I64(check_odds(&odds, 200), 0);
  CHECK_I64(check_routed(&odds, 200), 0);
  uint64_t cases = argc > 1 ? strtoull(argv[1], NULL, 10) : 3000;
  tally t = {0};
  check_worked();
  check_halo();
  check_idle_steps();
  check_retain();
  check_cover();
  check_busiest();
  check_routing();
  check_far();
  check_kept_links();
  check_closed();
  check_unlike_steps();
  check_apart();
  check_long_repeats();
  for (uint64_t seed = 1; seed <= cases; seed++)
    twin(seed, &t);
  if (argc > 1)
    printf("closed %d quick %d partial %d retains %d of them closed %d repeated %d\n", t.closed,
           t.quick, t.partial, t.retains, t.retained, t.repeated);
  CHECK((uint64_t)t.closed > cases / 2);
  CHECK((uint64_t)t.quick > cases / 6);
  CHECK((uint64_t)t.partial > cases / 10);
  CHECK((uint64_t)t.retained > cases / 5);
  CHECK((uint64_t)t.repeated > cases / 5);
  return check_report();
}
