/* The oracle against counts worked out by hand from contract/model.md: it must not be right only where the
 * model is. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/oracle.h"

static int failed;

static void same(const char *test, const char *what, int64_t got, int64_t want) {
  if (got == want)
    return;
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
  const char *op; /* one op's points and the latency; NULL: not looked at */
  int64_t points;
  double cycles;
} test;

static const test tests[] = {
    /* C[4,4] += A[4,4] B[4,4], a row of C at a time, k in two halves: A's 8 slices of 2 once each; B's 8
     * slices of 8, none kept; C's row enters once per m and stays for both halves: 16 out, of its 64 updates
     * 16 are first ones.  DRAM moves 96 words at 2 a cycle (48); 64 points at 1; Buf reads 192, a port of 4. */
    {"gemm",
     "architecture:\n  name: two\n  overlap: perfect\n  clock: 1 GHz\n  memories:\n"
     "  - {name: DRAM, bandwidth: 2}\n  - {name: Buf, bandwidth: {read: 4, write: 4}}\n"
     "  compute:\n  - {name: pe, ops: [mac]}\n"
     "workload:\n  name: w\n  dims: {m: 4, n: 4, k: 4}\n  ops:\n  - C[m,n] += A[m,k] * B[k,n]\n"
     "mapping: |\n  DRAM for m=4 k=2\n    Buf for n=4 k=2\n      op C\n",
     {{1, "A", {16, 64, 0, 0}, 2}, {1, "B", {64, 64, 0, 0}, 8}, {1, "C", {0, 48, 64, 16}, 4},
      {0, "B", {0, 64, 0, 0}, 16}, {0, "C", {0, 0, 16, 0}, 16}},
     "C", 64, 64},
    /* k outermost: C's row comes back with partial sums at the second half: 16 of its 32 entries. */
    {"partial sums",
     "architecture:\n  name: two\n  memories:\n  - {name: DRAM}\n  - {name: Buf}\n"
     "  compute:\n  - {name: pe, ops: [mac]}\n"
     "workload:\n  name: w\n  dims: {m: 4, n: 4, k: 4}\n  ops:\n  - C[m,n] += A[m,k] * B[k,n]\n"
     "mapping: |\n  DRAM for k=2 m=4\n    Buf for n=4 k=2\n      op C\n",
     {{1, "C", {16, 48, 64, 32}, 4}, {0, "C", {0, 16, 32, 0}, 16}, {1, "B", {16, 64, 0, 0}, 8}},
     NULL, 0, 0},
    /* Two instances with a row of C each share B by multicast; without reduction k over instances gives
     * two updates per element of C. */
    {"multicast",
     "architecture:\n  name: two\n  memories:\n  - {name: DRAM}\n"
     "  - {name: Buf, mesh: [2, 2], network: {multicast: true, reduce: false}}\n"
     "  compute:\n  - {name: pe, ops: [mac]}\n"
     "workload:\n  name: w\n  dims: {m: 2, n: 3, k: 2}\n  ops:\n  - C[m,n] += A[m,k] * B[k,n]\n"
     "mapping: |\n  DRAM spatial m=2@x k=2@y\n    Buf for n=3\n      op C\n",
     {{1, "B", {12, 12, 0, 0}, 3}, {0, "B", {0, 6, 0, 0}, 6}, {1, "C", {0, 0, 12, 12}, 3},
      {0, "C", {0, 0, 12, 0}, 6}},
     NULL, 0, 0},
    /* A sliding window of 3 over 8: steps of 2 outputs read 4 and keep 2; Buf holds 4. */
    {"window",
     "architecture:\n  name: two\n  memories:\n  - {name: DRAM}\n  - {name: Buf}\n"
     "  compute:\n  - {name: pe, ops: [mac]}\n"
     "workload:\n  name: w\n  dims: {p: 6, r: 3}\n  ops:\n  - O[p] += I[p+r] * W[r]\n"
     "mapping: |\n  DRAM for p=3\n    Buf for p=2 r=3\n      op O\n",
     {{1, "I", {8, 18, 0, 0}, 4}, {1, "W", {3, 18, 0, 0}, 3}, {0, "I", {0, 8, 0, 0}, 8}},
     NULL, 0, 0},
    /* Fused: T's 3 rows for each of 2 tiles of outputs are made afresh; its home is DRAM. */
    {"recompute",
     "architecture:\n  name: two\n  memories:\n  - {name: DRAM}\n  - {name: Buf}\n"
     "  compute:\n  - {name: pe, ops: [mac, mul]}\n"
     "workload:\n  name: w\n  dims: {h: 5, p: 4, r: 2}\n  ops:\n"
     "  - T[h] = I[h] * 2\n  - O[p] += T[p + r] * W[r]\n"
     "mapping: |\n  DRAM for p=2\n    Seq\n      Buf for h=3\n        op T\n      Buf for p=2 r=2\n        op O\n",
     {{1, "T", {0, 8, 6, 6}, 3}, {0, "T", {0, 0, 6, 0}, 3}}, "T", 6, 0},
    /* Retained: the second tile makes 2 of its 3 rows; a new production, so the third is loaded again. */
    {"retain",
     "architecture:\n  name: two\n  memories:\n  - {name: DRAM}\n  - {name: Buf}\n"
     "  compute:\n  - {name: pe, ops: [mac, mul]}\n"
     "workload:\n  name: w\n  dims: {h: 5, p: 4, r: 2}\n  ops:\n"
     "  - T[h] = I[h] * 2\n  - O[p] += T[p + r] * W[r]\n"
     "mapping: |\n  DRAM for p=2\n    Seq retain T\n      Buf for h=3\n        op T\n      Buf for p=2 r=2\n        op O\n",
     {{0, "I", {0, 5, 0, 0}, 5}, {1, "T", {1, 8, 5, 5}, 3}}, "T", 5, 0},
};

static void run(const test *t) {
  tf_diags *d = tf_diags_new();
  tf_text text = {t->name, t->text, strlen(t->text)};
  tf_spec *s = tf_spec_read_texts(&text, 1, NULL, 0, d);
  tf_tree *tree = s ? tf_tree_parse(s->mapping_text, s->mapping_at, s->arch, s->workload, d) : NULL;
  if (!tree) {
    char *why = tf_diags_text(d);
    printf("%s: %s", t->name, why ? why : "?");
    free(why);
    failed++;
  } else {
    oracle *o = oracle_run(tree, 100000);
    for (const row *r = t->rows; r->tensor; r++)
      for (int z = 0; z < o->wl->n_tensors; z++) {
        if (strcmp(o->wl->tensors[z].name, r->tensor))
          continue;
        char what[64];
        const words *w = &o->moved[r->level * o->wl->n_tensors + z];
        snprintf(what, sizeof what, "%s at level %d,", r->tensor, r->level);
        printf("%s", "");
        same(t->name, strcat(what, " fill"), w->fill, r->want.fill);
        same(t->name, "  read", w->read, r->want.read);
        same(t->name, "  update", w->update, r->want.update);
        same(t->name, "  drain", w->drain, r->want.drain);
        same(t->name, "  peak", o->peak[r->level * o->wl->n_tensors + z], r->peak);
      }
    for (int op = 0; op < o->wl->n_ops; op++)
      if (t->op && !strcmp(o->wl->ops[op].name, t->op))
        same(t->name, "points", o->points[op], t->points);
    if (t->cycles > 0)
      same(t->name, "cycles", (int64_t)(o->cycles * 1000), (int64_t)(t->cycles * 1000));
    oracle_free(o);
  }
  tf_tree_free(tree);
  tf_spec_free(s);
  tf_diags_free(d);
}

int main(void) {
  int n = (int)(sizeof tests / sizeof tests[0]);
  for (int i = 0; i < n; i++)
    run(&tests[i]);
  printf("oracle_selfcheck: %d cases by hand, %d wrong\n", n, failed);
  return failed > 0;
}
