/* The least steps of ops on a mesh against all ways to spread one op, and all ways to split the units among few. */
#include <math.h>

#include "base/rng.h"
#include "model/demand/steps.h"
#include "tests/unit/case.h"

enum { CASES = 150, DIMS = 3, MOST_UNITS = 64 };

typedef struct {
  int extent[DIMS];
  double steps[MOST_UNITS + 1]; /* [n] with any spread over up to n units */
  double whole;                 /* with both axes of the mesh */
} op_twin;

static int pick(tf_rng *r, int lo, int hi) { return lo + (int)tf_rng_below(r, (uint32_t)(hi - lo + 1)); }
static int ceil_div(int a, int b) { return (a + b - 1) / b; }

/* All instances of each dim on each axis. */
static double least_whole(const op_twin *o, int k, int x, int y) {
  if (k == DIMS) return 1;
  double best = INFINITY;
  for (int i = 1; i <= x; i++)
    for (int j = 1; j <= y; j++)
      best = fmin(best, ceil_div(o->extent[k], i * j) * least_whole(o, k + 1, x / i, y / j));
  return best;
}

static double least_of(const op_twin *o, int k, int units) {
  if (k == DIMS) return 1;
  double best = INFINITY;
  for (int i = 1; i <= units; i++)
    best = fmin(best, ceil_div(o->extent[k], i) * least_of(o, k + 1, units / i));
  return best;
}

/* The least of the ops of a set; whole: they have the mesh, else any so many units. */
static double least_of_set(const op_twin *o, unsigned set, int units, bool whole) {
  const op_twin *one = &o[__builtin_ctz(set)];
  if (!(set & (set - 1))) return whole ? one->whole : one->steps[units];
  double best = INFINITY;
  for (unsigned part = (set - 1) & set; part; part = (part - 1) & set) {
    best = fmin(best, least_of_set(o, part, units, whole) + least_of_set(o, set ^ part, units, whole));
    for (int n = 1; n < units; n++)
      best = fmin(best, fmax(least_of_set(o, part, n, false), least_of_set(o, set ^ part, units - n, false)));
  }
  return best;
}

/* A chain of n products; op i multiplies by a matrix of its own. */
static tf_spec *chain(int n, const int *length, tf_diags *d) {
  char *text;
  FILE *f = case_text(&text);
  fputs("workload:\n  name: w\n  dims: {", f);
  for (int i = 0; i < n + 2; i++)
    fprintf(f, "%sd%d: %d", i ? ", " : "", i, length[i]);
  fputs("}\n  ops:\n", f);
  for (int i = 0; i < n; i++)
    fprintf(f, "  - C%d[d0,d%d] += C%d[d0,d%d] * W%d[d%d,d%d]\n", i + 1, i + 2, i, i + 1, i, i + 1, i + 2);
  fclose(f);
  tf_spec *s = case_spec(text, d);
  free(text);
  return s;
}

static void compare(int n, const int *length, const double *mesh, int fill) {
  op_twin o[3];
  bool mine[3] = {true, true, true};
  tf_diags *d = tf_diags_new();
  tf_spec *s = chain(n, length, d);
  tf_demand need = {0};
  double points = 0;
  const int units = (int)(mesh[0] * mesh[1]);
  if (!CHECK(s && tf_demand_of(s->workload, &need))) return;
  for (int i = 0; i < n; i++) {
    o[i] = (op_twin){.extent = {length[0], length[i + 1], length[i + 2]}};
    o[i].whole = fill + least_whole(&o[i], 0, (int)mesh[0], (int)mesh[1]);
    for (int u = 1; u <= units; u++)
      o[i].steps[u] = fill + least_of(&o[i], 0, u);
    points += (double)length[0] * length[i + 1] * length[i + 2];
  }
  const double twin = least_of_set(o, (1u << n) - 1, units, true);
  const double got = tf_least_steps(&need, mine, mesh, fill, 0);
  CHECK(got <= twin * (1 + 1e-12)); /* a lower bound, */
  CHECK(got >= points / units * (1 - 1e-12));
  if (n == 1) CHECK(got == twin); /* exact for one op, */
  /* and near for several, of which units are counted in parts of a thousand */
  if (!CHECK(got >= twin * (1 - 1e-2))) printf("%d ops on %g x %g: %g of %g\n", n, mesh[0], mesh[1], got, twin);
  tf_demand_free(&need);
  tf_spec_free(s);
  tf_diags_free(d);
}

int main(void) {
  tf_rng r = tf_rng_new(3, 0);
  for (int k = 0; k < CASES; k++) {
    const int n = pick(&r, 1, 3), most = n == 3 ? 4 : 8;
    int length[5];
    for (int i = 0; i < 5; i++)
      length[i] = pick(&r, 1, pick(&r, 0, 3) ? 40 : 12);
    const double mesh[2] = {pick(&r, 1, most), pick(&r, 1, most)};
    compare(n, length, mesh, pick(&r, 0, 1) * pick(&r, 1, 30));
  }
  /* 17 rows on 16 units take two steps */
  const double mesh[2] = {16, 1};
  compare(1, (int[]){17, 1, 1, 1, 1}, mesh, 0);
  return check_report();
}
