/* Bands that ops make: a window of attention, by -inf before a softmax or by 0 after the
 * exponential, beside a count of the pairs that the condition lets pass (model/sparse/bands.c). */
#include "tests/unit/case.h"

enum { M = 12, L = 12, N = 4 };

static bool causal(int m, int l) { return l <= m; }
static bool sliding(int m, int l) { return l <= m && m - l < 4; }
static bool both_ways(int m, int l) { return m - l <= 2 && l - m <= 1; }
static bool diagonal(int m, int l) { return l == m; }

/* The condition as the workload writes it, and as C. */
static const struct {
  int line;
  const char *text;
  bool (*in)(int m, int l);
} windows[] = {{__LINE__, "l <= m", causal},
               {__LINE__, "l <= m and m - l < 4", sliding},
               {__LINE__, "m - l <= 2 and l - m <= 1", both_ways},
               {__LINE__, "l == m", diagonal}};

/* Blocks of 4 x 3 scores: with -inf those outside of the window do not happen. */
static char *page(const char *window, bool infinite, const char *more) {
  char *text;
  FILE *f = case_text(&text);
  fprintf(f, "architecture:\n  memories:\n  - {name: DRAM, format: [{ranks: [coordinate]}]}\n"
             "  - {name: Buffer}\n  compute:\n"
             "  - {name: mac, ops: [mac], skipping: [{on: [E]}]}\n"
             "  - {name: vector, ops: [select, exp, add, sub, max, min, div]}\n");
  fprintf(f, "workload:\n  dims: {m: %d, l: %d, n: %d}\n  ops:\n", M, L, N);
  if (infinite)
    fprintf(f,
            "  - T[m,l] = select(%s, S[m,l], -inf)\n  - X[m] max= T[m,l]\n"
            "  - E[m,l] = exp(T[m,l] - X[m])\n",
            window);
  else
    fprintf(f, "  - E[m,l] = select(%s%s, exp(S[m,l]), 0)\n", window, more);
  fprintf(f, "  - Z[m] += E[m,l]\n  - O[m,n] += E[m,l] * V[l,n]\nmapping: |\n  Seq\n");
  for (const char *op = infinite ? "TXEZO" : "EZO"; *op; op++)
    fprintf(f, "    DRAM for m=3 l=4\n      Buffer for m=4 l=3%s\n        op %c\n",
            *op == 'O' ? " n=4" : "", *op);
  fclose(f);
  return text;
}

static int pairs_of(bool (*in)(int m, int l)) {
  int n = 0;
  for (int m = 0; m < M; m++)
    for (int l = 0; l < L; l++)
      n += in(m, l);
  return n;
}

static int tensor_named(const test_case *e, const char *name) {
  int z = 0;
  while (strcmp(e->spec->workload->tensors[z].name, name))
    z++;
  return z;
}

static void check_windows(void) {
  for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
    for (int infinite = 0; infinite < 2; infinite++) {
      char *text = page(windows[i].text, infinite, "");
      test_case e = {0};
      case_read(&e, text);
      if (CHECK_ROW(&windows[i], e.model && case_evaluate(&e) && e.r.kept)) {
        const int pairs = pairs_of(windows[i].in), o = e.spec->workload->n_ops - 1;
        const tf_kept_points *p = &e.r.kept->ops[o];
        const double run = (double)e.r.ops[o].points;
        CHECK_NEAR(p->points, pairs * N, 1e-9);
        CHECK_NEAR(p->skipped, run - pairs * N, 1e-9);
        CHECK_ROW(&windows[i], infinite ? run < M * L * N : run >= M * L * N);
        CHECK_NEAR(e.r.kept->share[tensor_named(&e, "E")], (double)pairs / (M * L), 1e-12);
        CHECK_NEAR(e.r.kept->share[tensor_named(&e, "Z")], 1, 0);
        /* what DRAM takes of E: the elements of the band; where steps are left out it is not told
         */
        const tf_kept_counts *c = &e.r.kept->counts[tensor_named(&e, "E")];
        if (!infinite) CHECK_NEAR(c->metadata > 0 ? c->update : 0, pairs, 1e-9);
      } else if (e.d) {
        case_complain(e.d);
      }
      case_drop(&e);
      free(text);
    }
}

/* A condition that says more than a band, or an operand with zeros of its own: none is known. */
static void check_others(void) {
  char *text = page("l <= m", false, " and l != 3");
  test_case e = {0};
  case_read(&e, text);
  CHECK(e.model && case_evaluate(&e) && !e.r.kept);
  case_drop(&e);
  free(text);
}

int main(void) {
  check_windows();
  check_others();
  return check_report();
}
