/* The least steps of ops on a mesh against all ways to spread one op, and all ways to split the units among few; what
 * nothing hides of one op against all of these and all sets of tensors that memories hold. */
#include <math.h>

#include "base/rng.h"
#include "model/demand/exposed.h"
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

/* ---- first loads and last stores ------------------------------------------------------------------------ */
/* A product C[m,n] += A[m,k] * B[k,n] of which dim d takes q[d] steps, w[d] values in the first; words per cycle of the
 * outermost memory: one port if `back` is 0. */
typedef struct {
  int extent[DIMS], q[DIMS], w[DIMS];
  double in, back, fill;
} exposed_twin;

static double port_of(const exposed_twin *p, double in, double back) {
  return p->back > 0 ? fmax(in / p->in, back / p->back) : (in + back) / p->in;
}

/* m, n, k are dims 0, 1, 2; tensor z lacks dim z: B[k,n], A[m,k], C[m,n]. */
static double least_of_sets(const exposed_twin *p) {
  const double steps = (double)p->q[0] * p->q[1] * p->q[2];
  double best = INFINITY;
  for (int held = 0; held < 8; held++) {
    double in = 0, back = 0, all_in = 0, all_back = 0, alone = 0;
    for (int z = 0; z < DIMS; z++) {
      const int a = (z + 1) % DIMS, b = (z + 2) % DIMS;
      const double words = (double)p->extent[a] * p->extent[b], each = words * p->q[z],
                   first = (double)p->w[a] * p->w[b];
      const double width = z == 2 && p->back > 0 ? p->back : p->in;
      if (held >> z & 1) alone += first / width;
      if (z < 2) *(held >> z & 1 ? &all_in : &in) += held >> z & 1 ? words : each;
      if (z == 2) *(held >> z & 1 ? &all_back : &back) += held >> z & 1 ? words : each;
      if (z == 2 && !(held >> z & 1)) in += each - words; /* partial sums come back */
    }
    const double time = fmax(steps, port_of(p, in, back)) + p->fill + alone;
    best = fmin(best, fmax(time, port_of(p, in + all_in, back + all_back)));
  }
  return best;
}

static double least_exposed(exposed_twin *p, int d, int x, int y) {
  if (d == DIMS) return least_of_sets(p);
  double best = INFINITY;
  for (int i = 1; i <= x; i++)
    for (int j = 1; j <= y; j++)
      for (int q = ceil_div(p->extent[d], i * j); q <= p->extent[d]; q++) {
        p->q[d] = q, p->w[d] = ceil_div(p->extent[d], q);
        best = fmin(best, least_exposed(p, d + 1, x / i, y / j));
      }
  return best;
}

static void compare_exposed(tf_rng *r) {
  exposed_twin p = {
      .in = pick(r, 1, 12), .back = pick(r, 0, 1) * pick(r, 1, 12), .fill = pick(r, 0, 1) * pick(r, 1, 9)};
  const int x = pick(r, 1, 3), y = pick(r, 1, 4);
  char text[800], width[60];
  for (int i = 0; i < DIMS; i++)
    p.extent[i] = pick(r, 1, 9);
  snprintf(width, sizeof width, p.back > 0 ? "{read: %g, write: %g}" : "%g", p.in, p.back);
  snprintf(
      text, sizeof text,
      "architecture: {name: a, memories: [{name: M, bandwidth: %s}, {name: L, mesh: [1, %d]}], compute: [{name: u, "
      "ops: [mac], below: L, mesh: [%d, 1], pipeline: %g}]}\nworkload: {dims: {m: %d, n: %d, k: %d}, ops: "
      "['C[m,n] += A[m,k] * B[k,n]']}\n",
      width, y, x, p.fill, p.extent[0], p.extent[1], p.extent[2]);
  tf_diags *d = tf_diags_new();
  tf_spec *s = case_spec(text, d);
  tf_demand need = {0};
  if (CHECK(s && tf_demand_of(s->workload, &need))) {
    const double twin = least_exposed(&p, 0, x, y), got = tf_least_exposed(s->arch, &need, 0);
    if (!CHECK(fabs(got - twin) <= 1e-12 * twin)) printf("%s%g of %g\n", text, got, twin);
  }
  tf_demand_free(&need);
  tf_spec_free(s);
  tf_diags_free(d);
}

int main(void) {
  tf_rng r = tf_rng_new(3, 0);
  for (int k = 0; k < CASES; k++)
    compare_exposed(&r);
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
