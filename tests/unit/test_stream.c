/* A quotient that leaves its stream is divided where it is made: no sum of the stream would do it
 * later. */
#include <stdlib.h>

#include "tests/unit/case.h"
#include "tileflow/emit.h"

enum { ROWS = 8, LONG = 16 };

/* Softmax whose rows stream in one step; `more` ops may read the quotients, `last` is where they
 * stand. */
static char *text_of(const char *more, const char *names, const char *last) {
  char *text = NULL;
  FILE *f = case_text(&text);
  fprintf(f,
          "architecture:\n"
          "  name: small\n"
          "  clock: 1 GHz\n"
          "  memories:\n"
          "  - {name: DRAM, bandwidth: 4}\n"
          "  - {name: L1, capacity: 16 KiB, bandwidth: 64}\n"
          "  compute:\n"
          "  - {name: u, ops: [mac, add, mul, max, div, exp, sub], below: L1}\n"
          "workload:\n"
          "  name: soft\n"
          "  dims: {m: %d, n: %d%s}\n"
          "  ops:\n"
          "  - X[m] max= S[m,n]\n"
          "  - E[m,n] = exp(S[m,n] - X[m])\n"
          "  - Z[m] += E[m,n]\n"
          "  - P[m,n] = E[m,n] / Z[m]\n%smapping: |\n"
          "  DRAM\n"
          "    L1\n"
          "      Seq stream X Z%s\n",
          ROWS, LONG, strchr(more, 'k') ? ", k: 4" : "", more, names);
  for (const char *op = "XEZP"; *op; op++)
    fprintf(f, "        L1 for m=%d n=%d\n          op %c\n", ROWS, LONG, *op);
  fputs(last, f);
  return fclose(f) == 0 ? text : NULL;
}

/* Whether the kernel divides by the sum where quotients are made; and points that the model counts
 * for them. */
static void one(const char *more, const char *names, const char *last, bool waits) {
  char *text = text_of(more, names, last);
  test_case e = {0};
  case_read(&e, text);
  if (CHECK(case_evaluate(&e))) CHECK(e.r.ops[3].points == (waits ? 0 : ROWS * LONG));
  const tf_emit_options o = {.isa = "portable"};
  tf_emitted *files = e.tree ? tf_emit(e.tree, "cpu", &o, e.d) : NULL;
  if (!CHECK(files != NULL)) case_complain(e.d);
  for (int i = 0; files && i < files->n; i++)
    if (!strcmp(files->file[i].name, "kernel.c"))
      CHECK(waits || !strstr(files->file[i].text, "/ 1.0f"));
  tf_emitted_free(files);
  case_drop(&e);
  free(text);
}

int main(void) {
  one("", "", "", false);
  one("  - O[m,k] += P[m,n] * V[n,k]\n", " O", "        L1 for m=8 n=16 k=4\n          op O\n",
      true);
  one("  - O[m,n] = P[m,n] * G[n]\n", "", "        L1 for m=8 n=16\n          op O\n", false);
  return check_report();
}
