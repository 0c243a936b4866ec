/* The oracle against counts worked out by hand from docs/SEMANTICS.md: it must not be right only
 * where the model is. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/oracle.h"

static int failed;

static void same(const char *test, const char *what, int64_t got, int64_t want) {
  if (got == want) return;
  printf("%s: %s is %" PRId64 ", by hand %" PRId64 "\n", test, what, got, want);
  failed++;
}

typedef struct {
  int level;
  const char *tensor;
  words want;
  int64_t peak;
} row;

typedef struct {
  const char *name, *text;
  row rows[8];
  const char *op; /* one op's points; NULL: not looked at */
  int64_t points;
  double cycles[3]; /* by tf_overlap: what `@` in the text stands for; 0: not looked at */
} test;

static const test tests[] = {
    /* C[4,4] += A[4,4] B[4,4], a row of C at a time, k in two halves: A's 8 slices of 2 once each;
     * B's 8 slices of 8, none kept; C's row enters once per m and stays for both halves: 16 out, of
     * its 64 updates 16 are first ones.  DRAM moves 96 words at 2 a cycle (48); 64 points at 1; Buf
     * reads 192, a port of 4. */
    {"gemm",
     "architecture:\n  name: two\n  overlap: @\n  clock: 1 GHz\n  memories:\n"
     "  - {name: DRAM, bandwidth: 2}\n  - {name: Buf, bandwidth: {read: 4, write: 4}}\n"
     "  compute:\n  - {name: pe, ops: [mac]}\n"
     "workload:\n  name: w\n  dims: {m: 4, n: 4, k: 4}\n  ops:\n  - C[m,n] += A[m,k] * B[k,n]\n"
     "mapping: |\n  DRAM for m=4 k=2\n    Buf for n=4 k=2\n      op C\n",
     {{1, "A", {16, 64, 0, 0}, 2},
      {1, "B", {64, 64, 0, 0}, 8},
      {1, "C", {0, 48, 64, 16}, 4},
      {0, "B", {0, 64, 0, 0}, 16},
      {0, "C", {0, 0, 16, 0}, 16}},
     "C",
     64,
     {64}},
    /* k outermost: C's row comes back with partial sums at the second half: 16 of its 32 entries.
     */
    {"partial sums",
     "architecture:\n  name: two\n  memories:\n  - {name: DRAM}\n  - {name: Buf}\n"
     "  compute:\n  - {name: pe, ops: [mac]}\n"
     "workload:\n  name: w\n  dims: {m: 4, n: 4, k: 4}\n  ops:\n  - C[m,n] += A[m,k] * B[k,n]\n"
     "mapping: |\n  DRAM for k=2 m=4\n    Buf for n=4 k=2\n      op C\n",
     {{1, "C", {16, 48, 64, 32}, 4}, {0, "C", {0, 16, 32, 0}, 16}, {1, "B", {16, 64, 0, 0}, 8}},
     NULL,
     0,
     {0}},
    /* Two instances with a row of C each share B by multicast; without reduction k over instances
     * gives two updates per element of C. */
    {"multicast",
     "architecture:\n  name: two\n  memories:\n  - {name: DRAM}\n"
     "  - {name: Buf, mesh: [2, 2], network: {multicast: true, reduce: false}}\n"
     "  compute:\n  - {name: pe, ops: [mac]}\n"
     "workload:\n  name: w\n  dims: {m: 2, n: 3, k: 2}\n  ops:\n  - C[m,n] += A[m,k] * B[k,n]\n"
     "mapping: |\n  DRAM spatial m=2@x k=2@y\n    Buf for n=3\n      op C\n",
     {{1, "B", {12, 12, 0, 0}, 3},
      {0, "B", {0, 6, 0, 0}, 6},
      {1, "C", {0, 0, 12, 12}, 3},
      {0, "C", {0, 0, 12, 0}, 6}},
     NULL,
     0,
     {0}},
    /* A sliding window of 3 over 8: steps of 2 outputs read 4 and keep 2; Buf holds 4. */
    {"window",
     "architecture:\n  name: two\n  memories:\n  - {name: DRAM}\n  - {name: Buf}\n"
     "  compute:\n  - {name: pe, ops: [mac]}\n"
     "workload:\n  name: w\n  dims: {p: 6, r: 3}\n  ops:\n  - O[p] += I[p+r] * W[r]\n"
     "mapping: |\n  DRAM for p=3\n    Buf for p=2 r=3\n      op O\n",
     {{1, "I", {8, 18, 0, 0}, 4}, {1, "W", {3, 18, 0, 0}, 3}, {0, "I", {0, 8, 0, 0}, 8}},
     NULL,
     0,
     {0}},
    /* Fused: T's 3 rows for each of 2 tiles of outputs are made afresh; its home is DRAM. */
    {"recompute",
     "architecture:\n  name: two\n  memories:\n  - {name: DRAM}\n  - {name: Buf}\n"
     "  compute:\n  - {name: pe, ops: [mac, mul]}\n"
     "workload:\n  name: w\n  dims: {h: 5, p: 4, r: 2}\n  ops:\n"
     "  - T[h] = I[h] * 2\n  - O[p] += T[p + r] * W[r]\n"
     "mapping: |\n  DRAM for p=2\n    Seq\n      Buf for h=3\n        op T\n"
     "      Buf for p=2 r=2\n        op O\n",
     {{1, "T", {0, 8, 6, 6}, 3}, {0, "T", {0, 0, 6, 0}, 3}},
     "T",
     6,
     {0}},
    /* Retained: the second tile makes 2 of its 3 rows; a new production, so the third is loaded
       again. */
    {"retain",
     "architecture:\n  name: two\n  memories:\n  - {name: DRAM}\n  - {name: Buf}\n"
     "  compute:\n  - {name: pe, ops: [mac, mul]}\n"
     "workload:\n  name: w\n  dims: {h: 5, p: 4, r: 2}\n  ops:\n"
     "  - T[h] = I[h] * 2\n  - O[p] += T[p + r] * W[r]\n"
     "mapping: |\n  DRAM for p=2\n    Seq retain T\n      Buf for h=3\n        op T\n"
     "      Buf for p=2 r=2\n        op O\n",
     {{0, "I", {0, 5, 0, 0}, 5}, {1, "T", {1, 8, 5, 5}, 3}},
     "T",
     5,
     {0}},
    /* Time.  The first step is a load of A and B (4 + 2 words at 1 a cycle), a quarter of the work
     * (16 points and 5 of pipeline, / 4) and a store of 2: 6 + 5.25 + 2; the other three together
     * work 15.75, which is more than the 12 words of A and C at DRAM's one port; L1's 5 of latency
     * and issue once.  `none`: 21 of work, 12 words in, 8 out, 4 times 5.  `perfect`: the 20 words
     * at DRAM.  DRAM's own latency is nobody's: no Tile of it loads. */
    {"three overlaps",
     "architecture:\n  name: t\n  overlap: @\n  memories:\n"
     "  - {name: DRAM, bandwidth: 1, latency: 7}\n"
     "  - {name: L1, bandwidth: {read: 4, write: 2}, latency: 3, issue: 2}\n"
     "  compute: [{name: pe, ops: [mac], pipeline: 5}]\n"
     "workload:\n  name: w\n  dims: {m: 4, n: 2, k: 2}\n  ops:\n  - C[m,n] += A[m,k] * B[k,n]\n"
     "mapping: |\n  DRAM for m=4\n    L1 for n=2 k=2\n      op C\n",
     {{1, "C", {0, 8, 16, 8}, 2}},
     "C",
     16,
     {20, 34, 61}},
    /* Two products of 192 words each, no Tile of DRAM, one word a cycle: 384, though each alone
       takes 193. */
    {"Para at the root",
     "architecture:\n  name: a\n  overlap: @\n"
     "  memories: [{name: DRAM, bandwidth: 1}, {name: L0}]\n"
     "  compute: [{name: alu, ops: [mac], below: L0, mesh: [64, 64]}]\n"
     "workload:\n  name: two\n  dims: {m: 8, n: 8, k: 8}\n"
     "  ops: ['C[m,n] += A[m,k] * B[k,n]', 'E[m,n] += F[m,k] * G[k,n]']\n"
     "mapping: |\n  Para\n    L0 spatial m=8@x n=8@y k=8@x\n      op C\n"
     "    L0 spatial m=8@x n=8@y k=8@x\n      op E\n",
     {{1, "A", {64, 64, 0, 0}, 64}},
     "C",
     512,
     {384, 384, 384}},
    {"Para below a Tile of DRAM",
     "architecture:\n  name: a\n  overlap: @\n"
     "  memories: [{name: DRAM, bandwidth: 1}, {name: L0}]\n"
     "  compute: [{name: alu, ops: [mac], below: L0, mesh: [64, 64]}]\n"
     "workload:\n  name: two\n  dims: {m: 8, n: 8, k: 8}\n"
     "  ops: ['C[m,n] += A[m,k] * B[k,n]', 'E[m,n] += F[m,k] * G[k,n]']\n"
     "mapping: |\n  DRAM\n    Para\n      L0 spatial m=8@x n=8@y k=8@x\n        op C\n"
     "      L0 spatial m=8@x n=8@y k=8@x\n        op E\n",
     {{1, "A", {64, 64, 0, 0}, 64}},
     "C",
     512,
     {384, 384, 384}},
    /* C: 16 of A, 16 of C, 128 of B past L1, one a step: L0's first step 1 + 1, the others 127, so
     * 129; L1 16 + 129 + 16 = 161.  E: 272 in, 4 of work, 16 out: 292.  E's load cannot hide: in
     * L1's one step of 129, DRAM's port brings 128 of B and stores 16.  453.  Ports alone: 160 +
     * 288.  `none`: L0 128 + 128, and 32; 292. */
    {"Seq at the root",
     "architecture:\n  name: a\n  overlap: @\n"
     "  memories: [{name: DRAM, bandwidth: 1}, {name: L1}, {name: L0}]\n"
     "  compute: [{name: alu, ops: [mac], below: L0, mesh: [8, 8]}]\n"
     "workload:\n  name: two\n  dims: {m: 2, n: 8, k: 8, q: 16, r: 16}\n"
     "  ops: ['C[m,n] += A[m,k] * B[k,n]', 'E[q] += F[r] * G[r,q]']\n"
     "mapping: |\n  Seq\n    DRAM\n      L1 for m=2 n=8 k=8 bypass B\n        L0\n          op C\n"
     "    DRAM\n      L1\n        L0 for q=2 r=2 spatial q=8@x r=8@y\n          op E\n",
     {{0, "B", {0, 128, 0, 0}, 64}},
     "C",
     128,
     {448, 453, 580}},
    /* The stages share Buf: their operands are 112 reads each, and E leaves with 16: 240 at 4 a
     * cycle.  Stage by stage it would be 28 (its reads; 16 of work) and 32: 32 + 28 / 4 runs = 39
     * for `perfect`. */
    {"Pipe over one buffer",
     "architecture:\n  name: s\n  overlap: @\n"
     "  memories: [{name: DRAM}, {name: Buf, bandwidth: {read: 4, write: 4}}]\n"
     "  compute: [{name: mac, ops: [mac], mesh: [2, 2]}]\n"
     "workload:\n  name: w\n  dims: {m: 4, n: 4, k: 4, p: 4}\n"
     "  ops: ['C[m,n] += A[m,k] * B[k,n]', 'E[m,p] += C[m,n] * D[n,p]']\n"
     "mapping: |\n  DRAM for m=2 n=2\n    Pipe keep C@Buf\n"
     "      DRAM\n        Buf for m=2 k=2 spatial k=2@x n=2@y\n          op C\n"
     "      DRAM\n        Buf for p=2 m=2 spatial p=2@x n=2@y\n          op E\n",
     {{1, "A", {16, 32, 0, 0}, 8},
      {1, "B", {32, 64, 0, 0}, 8},
      {1, "C", {0, 48, 32, 0}, 4},
      {1, "D", {32, 64, 0, 0}, 8},
      {1, "E", {0, 16, 32, 16}, 8}},
     "C",
     64,
     {60, 60, 60}},
    /* k is 5 in steps of 2: three, and one that is idle.  12 instances of L1 hold rows m..n of A,
     * 38 in all, of which DRAM serves 36 (two have the same box): 72, 72 and 36 words at 8.  Work:
     * 228 words of operands at L1 (120 of A, 108 of C) by 12 ports of 6 = 19/6, a third of it a
     * step.  9 + 19/18 + 12 (C leaves, 12 words at 1); then 13.5. */
    {"last store",
     "architecture:\n  name: wild\n  overlap: @\n  memories:\n"
     "  - {name: L0, bandwidth: {read: 8, write: 1}}\n"
     "  - {name: L1, bandwidth: 6, mesh: [8, 8], network: {multicast: true, reduce: false}}\n"
     "  - {name: L2, bandwidth: 4, mesh: [4, 4]}\n  - {name: L3, bandwidth: 3, mesh: [8, 8]}\n"
     "  compute: [{name: alu, ops: [mac], below: L3, mesh: [16, 16], rate: 2}]\n"
     "workload:\n  name: gram\n  dims: {m: 2, n: 6, k: 5}\n  ops: ['C[m,n] += A[m,k] * A[n,k]']\n"
     "mapping: |\n  L0 for k=4 spatial m=2@y n=6@x\n    L1 for k=2\n      op C\n",
     {{1, "A", {190, 120, 0, 0}, 12}, {0, "A", {0, 180, 0, 0}, 30}},
     "C",
     60,
     {22.5, 9 + 19. / 18 + 12 + 13.5, 19. / 6 + 34.5}},
    /* Three steps, not four.  The first: a word in, a point, a word out; the two others wait for
       the port's 4 words. */
    {"idle step",
     "architecture:\n  name: t\n  overlap: @\n"
     "  memories: [{name: DRAM, bandwidth: 1}, {name: L1, latency: 2}]\n"
     "  compute: [{name: pe, ops: [mul]}]\n"
     "workload:\n  name: w\n  dims: {m: 3}\n  ops: ['C[m] = A[m] * 2']\n"
     "mapping: |\n  DRAM for m=4\n    L1\n      op C\n",
     {{1, "A", {3, 3, 0, 0}, 1}},
     "C",
     3,
     {6, 3 + 4 + 2, 9 + 3 * 2}},
    /* C in two steps: 2 in, 2 of work, 2 out, then 2; E 4 + 4 + 4, of which the load hides for the
     * 2 of C's last step. */
    {"hidden load",
     "architecture:\n  name: t\n  overlap: @\n"
     "  memories: [{name: DRAM, bandwidth: {read: 1, write: 1}}, {name: L1}]\n"
     "  compute: [{name: pe, ops: [mul]}]\n"
     "workload:\n  name: w\n  dims: {m: 4, n: 4}\n  ops: ['C[m] = A[m] * 2', 'E[n] = B[n] * 3']\n"
     "mapping: |\n  Seq\n    DRAM for m=2\n      L1 for m=2\n        op C\n"
     "    L1 for n=4\n      op E\n",
     {{1, "A", {4, 4, 0, 0}, 2}},
     "C",
     4,
     {8, 6 + 2 + 12 - 2, 24}},
    /* E's 0, 1, 2 and 3 words of B follow C's entries: a quarter of the 6 each step.  C: 1 + 1 + 1,
     * then three of its stores; E: 1.5 + 1 + 1, of which 1 hides, then 4.5 of loads. */
    {"after a sibling",
     "architecture:\n  name: t\n  overlap: @\n"
     "  memories: [{name: DRAM, bandwidth: {read: 1, write: 1}}, {name: L1}]\n"
     "  compute: [{name: pe, ops: [mul, add]}]\n"
     "workload:\n  name: w\n  dims: {m: 4}\n  ops: ['C[m] = B[m] * 2', 'E[m] = B[m] + B[2*m]']\n"
     "mapping: |\n  DRAM for m=4\n    Seq\n      L1\n        op C\n      L1\n        op E\n",
     {{0, "B", {0, 8, 0, 0}, 7}},
     "E",
     4,
     {10, 6 + 8 - 1, 24}},
    /* v exponentiates with two units of rate 2; corrections: 4 points of exp for X and 4 of mul for
     * Z, a cycle each, so 9, 8 (E's stores), 9; but with the 4 words that Z's corrections write
     * DRAM's port is busy for 28. */
    {"corrections",
     "architecture:\n  name: t\n  overlap: @\n"
     "  memories: [{name: DRAM, bandwidth: {read: 100, write: 1}}]\n"
     "  compute:\n  - {name: u, ops: [max, add]}\n"
     "  - {name: v, ops: [exp, mul, sub], mesh: [2, 1], rate: 2}\n"
     "workload:\n  name: w\n  dims: {m: 2, l: 4}\n"
     "  ops: ['X[m] max= S[m,l]', 'E[m,l] = exp(S[m,l] - X[m])', 'Z[m] += E[m,l]']\n"
     "mapping: |\n  DRAM for l=2\n    Seq stream X Z\n      DRAM for m=2 l=2\n        op X\n"
     "      DRAM for l=2 spatial m=2@x\n        op E\n      DRAM for m=2 l=2\n        op Z\n",
     {{0, "Z", {0, 10, 12, 0}, 2}},
     "X",
     8,
     {28, 28, 28}},
};

static void check_rows(const test *t, const oracle *o) {
  for (const row *r = t->rows; r->tensor; r++)
    for (int z = 0; z < o->wl->n_tensors; z++) {
      if (strcmp(o->wl->tensors[z].name, r->tensor) != 0) continue;
      char what[64];
      const words *w = &o->moved[r->level * o->wl->n_tensors + z];
      snprintf(what, sizeof what, "%s at level %d, fill", r->tensor, r->level);
      same(t->name, what, w->fill, r->want.fill);
      same(t->name, "  read", w->read, r->want.read);
      same(t->name, "  update", w->update, r->want.update);
      same(t->name, "  drain", w->drain, r->want.drain);
      same(t->name, "  peak", o->peak[r->level * o->wl->n_tensors + z], r->peak);
    }
  for (int op = 0; op < o->wl->n_ops; op++)
    if (t->op && !strcmp(o->wl->ops[op].name, t->op))
      same(t->name, "points", o->points[op], t->points);
}

/* A tensor with more elements than a set has room for is refused; one with as many is not. */
static void check_room(int extent, bool refused) {
  char text[400];
  const int len = snprintf(
      text, sizeof text,
      "architecture:\n  name: t\n  memories: [{name: DRAM}]\n  compute: [{name: u, ops: [neg]}]\n"
      "workload:\n  name: w\n  dims: {m: %d}\n  ops: ['B[m] = -A[m]']\n"
      "mapping: |\n  DRAM for m=%d\n    op B\n",
      extent, extent);
  tf_diags *d = tf_diags_new();
  tf_text file = {"room", text, (size_t)len};
  tf_spec *s = tf_spec_read_texts(&file, 1, NULL, 0, d);
  tf_tree *tree = s ? tf_tree_parse(s->mapping_text, s->mapping_at, s->arch, s->workload, d) : NULL;
  oracle *o = tree ? oracle_run(tree, 2 * MAX_ELEMENTS) : NULL;
  same("room", "refused", o ? o->gave_up : -1, refused);
  if (o) oracle_free(o);
  tf_tree_free(tree);
  tf_spec_free(s);
  tf_diags_free(d);
}

static void run(const test *t, tf_overlap mode) {
  static const char *const name[] = {"perfect", "double-buffer", "none"};
  char said[4096];
  const char *at = strchr(t->text, '@');
  bool any = strstr(t->text, "overlap: @");
  snprintf(said, sizeof said, "%.*s%s%s", any ? (int)(at - t->text) : 0, t->text,
           any ? name[mode] : "", any ? at + 1 : t->text);
  tf_diags *d = tf_diags_new();
  tf_text text = {t->name, said, strlen(said)};
  tf_spec *s = tf_spec_read_texts(&text, 1, NULL, 0, d);
  tf_tree *tree = s ? tf_tree_parse(s->mapping_text, s->mapping_at, s->arch, s->workload, d) : NULL;
  if (!tree) {
    char *why = tf_diags_text(d);
    printf("%s: %s", t->name, why ? why : "?");
    free(why);
    failed++;
  } else {
    oracle *o = oracle_run(tree, 100000);
    check_rows(t, o);
    double gap = o->cycles - t->cycles[mode];
    if (t->cycles[mode] > 0 && (gap > 1e-9 || gap < -1e-9)) {
      printf("%s, %s: %.9g cycles, by hand %.9g\n", t->name, name[mode], o->cycles,
             t->cycles[mode]);
      failed++;
    }
    oracle_free(o);
  }
  tf_tree_free(tree);
  tf_spec_free(s);
  tf_diags_free(d);
}

int main(void) {
  int n = (int)(sizeof tests / sizeof tests[0]);
  for (int i = 0; i < n; i++)
    for (int mode = 0; mode < (tests[i].cycles[1] > 0 ? 3 : 1); mode++)
      run(&tests[i], (tf_overlap)mode);
  check_room(MAX_ELEMENTS, false);
  check_room(MAX_ELEMENTS + 1, true);
  printf("oracle_selfcheck: %d cases by hand, %d wrong\n", n, failed);
  return failed > 0;
}
