/* Traces (tileflow/trace.h) against the evaluation they lay out: words and points add up to what
 * was counted, nothing lasts longer than the whole, and no memory holds more than its peak; on
 * random trees, machines and trip counts. */
#include "tileflow/trace.h"

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "tests/unit/case.h"
#include "tests/unit/page.h"

enum { CASES = 80 };

static int pick(tf_rng *g, int lo, int hi) {
  return lo + (int)tf_rng_below(g, (uint32_t)(hi - lo + 1));
}

/* A divisor of *left, which keeps the rest. */
static bool uneven; /* trip counts need not divide */

static int split_off(tf_rng *g, int *left) {
  int d = pick(g, 1, *left);
  while (*left % d && !uneven)
    d = pick(g, 1, *left);
  *left = (*left + d - 1) / d;
  return d;
}

static void draw(tf_rng *g, page *p) {
  static const char *const overlap[] = {"perfect", "double-buffer", "double-buffer", "none"};
  static const char *const scope[] = {"Seq", "Shar"};
  int m = uneven ? 11 : 12, l = uneven ? 7 : 8, k = uneven ? 5 : 6, n = uneven ? 3 : 4, m2, l2;
  say(p,
      "architecture:\n  name: a\n  clock: 1 GHz\n  overlap: %s\n  memories:\n"
      "  - {name: DRAM, bandwidth: %d}\n",
      overlap[pick(g, 0, 3)], pick(g, 1, 8));
  say(p, "  - {name: Buf, mesh: [2, 1], bandwidth: %d, word-bits: %d}\n", pick(g, 1, 16),
      pick(g, 1, 2) * 8);
  say(p, "  - {name: Reg, mesh: [4, 4], bandwidth: 4}\n  compute:\n"
         "  - {name: u, ops: [mac], below: Reg}\n");
  say(p, "  word-bits: 16\nworkload:\n  name: w\n  dims: {m: %d, k: %d, l: %d, n: %d}\n", m, k, l,
      n);
  say(p, "  ops: ['C[m,l] += A[m,k] * B[k,l]', 'E[m,n] += C[m,l] * D[l,n]']\nmapping: |\n");
  say(p, "  DRAM for m=%d", split_off(g, &m));
  say(p, " l=%d\n    Buf for m=%d\n      %s\n", split_off(g, &l), split_off(g, &m),
      scope[pick(g, 0, 1)]);
  m2 = m, l2 = l;
  const int lo = split_off(g, &l), ko = split_off(g, &k), no = split_off(g, &n),
            lo2 = split_off(g, &l2);
  say(p, "        Buf for l=%d k=%d\n          Reg for k=%d l=%d m=%d\n            op C\n", lo, ko,
      k, l, m);
  say(p, "        Buf for n=%d l=%d\n          Reg for m=%d n=%d l=%d\n            op E\n", no, lo2,
      m2, n, l2);
}

static double width(const test_case *e, int level, int z) {
  return (double)e->spec->workload->tensors[z].word_bits / e->spec->arch->memories[level].word_bits;
}

static bool near(double a, double b) { return fabs(a - b) <= 1e-6 * (1 + fabs(b)); }

/* Words through both ports of a memory. */
static double counted(const test_case *e, const tf_result *r, int level) {
  const int nt = e->spec->workload->n_tensors;
  double sum = 0;
  for (int z = 0; z < nt; z++) {
    const tf_counts *c = &r->counts[level * nt + z];
    sum += (double)(c->fill + c->read + c->update + c->drain) * width(e, level, z);
  }
  return sum;
}

static double held_at(const tf_trace *t, int level, double when) {
  double sum = 0;
  for (int i = 0; i < t->n; i++)
    if (t->at[i].kind == TF_TRACE_HOLD && t->at[i].level == level && t->at[i].begin <= when &&
        when < t->at[i].end)
      sum += t->at[i].words;
  return sum;
}

typedef struct {
  int traces, whole, refused,
      full; /* full: of memories, those that hold their peak at some moment */
} tally;

static void check_trace(const test_case *e, const tf_trace *t, const tf_result *r, tally *k) {
  const int levels = e->spec->arch->n_memories;
  double words[8] = {0}, most[8] = {0}, points = 0, last = 0;
  for (int i = 0; i < t->n; i++) {
    const tf_interval *x = &t->at[i];
    CHECK(x->begin >= 0 && x->end >= x->begin && x->end <= r->cycles * (1 + 1e-9));
    last = fmax(last, x->end);
    if (x->kind == TF_TRACE_WORK) points += x->words;
    if (x->kind == TF_TRACE_LOAD || x->kind == TF_TRACE_STORE) words[x->level] += x->words;
    if (x->kind ==
        TF_TRACE_HOLD) /* at no moment where neighbours may meet, and by rounding overlap */
      most[x->level] =
          fmax(most[x->level], held_at(t, x->level, x->begin + 0.381966 * (x->end - x->begin)));
  }
  CHECK(near(last, r->cycles) && near(t->cycles, r->cycles));
  CHECK(near(points, (double)r->points));
  for (int l = 0; l < levels; l++) {
    CHECK(near(words[l], counted(e, r, l)));
    CHECK(most[l] <= (double)r->levels[l].peak + 1e-6);
    k->full += most[l] > (double)r->levels[l].peak - 1;
  }
  k->traces++;
  k->whole += t->whole;
}

int main(void) {
  tally k = {0};
  for (uint64_t seed = 1; seed <= CASES; seed++) {
    tf_rng g = tf_rng_new(seed, 3);
    page p = {.len = 0};
    test_case e = {0};
    uneven = seed % 3 == 0;
    draw(&g, &p);
    case_read(&e, p.text);
    tf_result r;
    if (!e.model && uneven) { /* too few steps for what a reader needs */
      k.refused++;
      case_drop(&e);
      continue;
    }
    if (!e.model || !tf_model_eval(e.model, NULL, &r)) {
      CHECK(false);
      case_complain(e.d);
      return check_report();
    }
    const int64_t most[] = {0, 1, 6, 1 << 20};
    for (int i = 0; i < 4; i++) {
      tf_trace *t = tf_trace_of(e.model, most[i], e.d);
      CHECK(t != NULL);
      if (t) check_trace(&e, t, &r, &k);
      tf_trace_free(t);
    }
    case_drop(&e);
  }
  printf("%d traces, %d whole, %d memories full at some moment\n", k.traces, k.whole, k.full);
  CHECK(k.refused < CASES / 6);
  CHECK(k.whole + k.refused >= CASES && k.full > k.traces);
  return check_report();
}
