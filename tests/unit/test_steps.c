/* The least steps of ops on a mesh against all ways to spread one op, and all ways to split the
 * units among few; what nothing hides of one op against all of these and all sets of tensors that
 * memories hold, at the outermost port, and at those of all memories.  What has no room against
 * nests that are run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "model/demand/again.h"
#include "model/demand/ended.h"
#include "model/demand/ends.h"
#include "model/demand/steps.h"
#include "tests/unit/case.h"

enum { CASES = 150, LEVELS = 60, DIMS = 3, MOST_UNITS = 64 };

typedef struct {
  int extent[DIMS];
  double steps[MOST_UNITS + 1]; /* [n] with any spread over up to n units */
  double whole;                 /* with both axes of the mesh */
} op_twin;

static int pick(tf_rng *r, int lo, int hi) {
  return lo + (int)tf_rng_below(r, (uint32_t)(hi - lo + 1));
}
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
    best =
        fmin(best, least_of_set(o, part, units, whole) + least_of_set(o, set ^ part, units, whole));
    for (int n = 1; n < units; n++)
      best = fmin(best, fmax(least_of_set(o, part, n, false),
                             least_of_set(o, set ^ part, units - n, false)));
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
    fprintf(f, "  - C%d[d0,d%d] += C%d[d0,d%d] * W%d[d%d,d%d]\n", i + 1, i + 2, i, i + 1, i, i + 1,
            i + 2);
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
  double twin = least_of_set(o, (1u << n) - 1, units, true);
  for (int i = 0; i < n; i++) /* none has more than the whole mesh */
    twin = fmax(twin, o[i].whole);
  const double got = tf_least_steps(&need, mine, mesh, fill, 0);
  if (!CHECK(got <= twin * (1 + 1e-12))) /* a lower bound, */
    printf("%d ops of %d %d %d %d %d on %g x %g, fill %d: %.10g of %.10g\n", n, length[0],
           length[1], length[2], length[3], length[4], mesh[0], mesh[1], fill, got, twin);
  CHECK(got >= points / units * (1 - 1e-12));
  if (n == 1) CHECK(got == twin); /* exact for one op, */
  /* and near for several, of which units are counted in parts of a thousand */
  if (!CHECK(got >= twin * (1 - 1e-2)))
    printf("%d ops on %g x %g: %g of %g\n", n, mesh[0], mesh[1], got, twin);
  tf_demand_free(&need);
  tf_spec_free(s);
  tf_diags_free(d);
}

/* ---- first loads and last stores ------------------------------------------------------------ */
/* A product C[m,n] += A[m,k] * B[k,n] of which dim d takes q[d] steps, w[d] values in the first;
 * words per cycle of the outermost memory: one port if `back` is 0. */
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
  exposed_twin p = {.in = pick(r, 1, 12),
                    .back = pick(r, 0, 1) * pick(r, 1, 12),
                    .fill = pick(r, 0, 1) * pick(r, 1, 9)};
  const int x = pick(r, 1, 3), y = pick(r, 1, 4);
  char text[800], width[60];
  for (int i = 0; i < DIMS; i++)
    p.extent[i] = pick(r, 1, 9);
  snprintf(width, sizeof width, p.back > 0 ? "{read: %g, write: %g}" : "%g", p.in, p.back);
  snprintf(text, sizeof text,
           "architecture: {name: a, memories: [{name: M, bandwidth: %s}, {name: L, mesh: [1, "
           "%d]}], compute: [{name: u, ops: [mac], below: L, mesh: [%d, 1], pipeline: %g}]}\n"
           "workload: {dims: {m: %d, n: %d, k: %d}, ops: ['C[m,n] += A[m,k] * B[k,n]']}\n",
           width, y, x, p.fill, p.extent[0], p.extent[1], p.extent[2]);
  tf_diags *d = tf_diags_new();
  tf_spec *s = case_spec(text, d);
  tf_demand need = {0};
  if (CHECK(s && tf_demand_of(s->workload, &need))) {
    const double twin = least_exposed(&p, 0, x, y),
                 got = tf_least_exposed(s->arch, &need, 0, false);
    if (!CHECK(fabs(got - twin) <= 1e-12 * twin)) printf("%s%g of %g\n", text, got, twin);
  }
  tf_demand_free(&need);
  tf_spec_free(s);
  tf_diags_free(d);
}

/* ---- the ports of all memories -------------------------------------------------------------- */
/* The same product on a machine of so many inner memories: on[t][axis][d] instances of dim d on a
 * side of the mesh that Tiles of memory t spread over. */
enum { INNER = 2 };
typedef struct {
  int inner, extent[DIMS], q[DIMS], w[DIMS], on[INNER + 1][2][DIMS];
  int side[INNER + 1][2];
  double read[INNER + 1], write[INNER + 1], fill; /* write 0: one port */
} levels_twin;

/* Words of tensor z in an instance of memory l that has, with the others, `of` values of each dim.
 */
static double words_in(const levels_twin *p, int z, int l, const int *of) {
  double words = 1;
  for (int d = 0; d < DIMS; d++) {
    int instances = 1;
    for (int t = 0; t < l; t++)
      instances *= p->on[t][0][d] * p->on[t][1][d];
    if (d != z) words *= ceil_div(of[d], instances);
  }
  return words;
}

static bool is_summed_on(const levels_twin *p, int l) { /* k is dim 2 */
  for (int t = 0; t < l; t++)
    if (p->on[t][0][2] * p->on[t][1][2] > 1) return true;
  return false;
}

static double longest_of(const levels_twin *p, const double *in, const double *out) {
  double time = 0;
  for (int l = 0; l <= p->inner; l++)
    time = fmax(time, p->write[l] > 0 ? fmax(in[l] / p->read[l], out[l] / p->write[l])
                                      : (in[l] + out[l]) / p->read[l]);
  return time;
}

/* at[z][i]: the memories that hold tensor z, outermost first, the outermost of all in front; n[z]
 * of them. */
static double time_of_levels(const levels_twin *p, int at[DIMS][INNER + 1], const int *n) {
  double in[INNER + 1] = {0}, out[INNER + 1] = {0}, load[INNER + 1][INNER + 1] = {{0}},
                    store[INNER + 1][INNER + 1] = {{0}};
  for (int z = 0; z < DIMS; z++) {
    const int m = at[z][n[z] - 1];
    const double words = words_in(p, z, m, p->extent);
    in[m] += z < 2 ? words * p->q[z] : m == 0 || !is_summed_on(p, m) ? words * (p->q[z] - 1) : 0;
    out[m] += z < 2 ? 0 : words * p->q[z];
  }
  double time = fmax((double)p->q[0] * p->q[1] * p->q[2], longest_of(p, in, out)) + p->fill;
  for (int l = p->inner; l > 0; l--) {
    double loads = 0, stores = 0;
    for (int z = 0; z < DIMS; z++)
      for (int i = 1; i < n[z]; i++) {
        const int m = at[z][i - 1];
        if (at[z][i] != l) continue;
        (z < 2 ? load : store)[l][m] += words_in(p, z, m, p->w);
        (z < 2 ? load : store)[l][l] += words_in(p, z, l, p->w);
        in[z < 2 ? m : l] += words_in(p, z, z < 2 ? m : l, p->extent);
        out[z < 2 ? l : m] += words_in(p, z, z < 2 ? l : m, p->extent);
      }
    for (int m = 0; m <= l; m++) {
      const double write = p->write[m] > 0 ? p->write[m] : p->read[m];
      loads = fmax(loads, load[l][m] / (m == l ? write : p->read[m]));
      stores = fmax(stores, store[l][m] / (m == l ? p->read[m] : write));
    }
    time = fmax(time + loads + stores, longest_of(p, in, out));
  }
  return time;
}

static double least_of_holders(const levels_twin *p) {
  double best = INFINITY;
  for (int sets = 0; sets < 1 << (DIMS * p->inner); sets++) {
    int at[DIMS][INNER + 1] = {{0}}, n[DIMS];
    for (int z = 0; z < DIMS; z++) {
      n[z] = 1;
      for (int l = 1; l <= p->inner; l++)
        if (sets >> (z * p->inner + l - 1) & 1) at[z][n[z]++] = l;
    }
    best = fmin(best, time_of_levels(p, at, n));
  }
  return best;
}

/* Dim d on side i (of 2 for each mesh) and those behind it, on so many instances so far; any number
 * of steps. */
static double least_levels(levels_twin *p, int d, int i, int instances) {
  double best = INFINITY;
  if (d == DIMS) return least_of_holders(p);
  if (i == 2 * (p->inner + 1)) {
    for (int q = ceil_div(p->extent[d], instances); q <= p->extent[d]; q++) {
      p->q[d] = q, p->w[d] = ceil_div(p->extent[d], q);
      best = fmin(best, least_levels(p, d + 1, 0, 1));
    }
    return best;
  }
  int *side = &p->side[i / 2][i % 2];
  const int all = *side;
  for (int on = 1; on <= all; on++) {
    p->on[i / 2][i % 2][d] = on;
    *side = all / on;
    best = fmin(best, least_levels(p, d, i + 1, instances * on));
  }
  *side = all;
  return best;
}

static void put_ports(tf_rng *r, double *read, double *write, char *text, size_t size) {
  *read = pick(r, 1, 12), *write = pick(r, 0, 1) * pick(r, 1, 12);
  snprintf(text, size, *write > 0 ? "{read: %g, write: %g}" : "%g", *read, *write);
}

/* Whether the ports of inner memories make the bound larger. */
static bool compare_levels(tf_rng *r) {
  levels_twin p = {.inner = pick(r, 1, INNER), .fill = pick(r, 0, 1) * pick(r, 1, 9)};
  char text[1200], width[60];
  put_ports(r, &p.read[0], &p.write[0], width, sizeof width);
  int n = snprintf(text, sizeof text,
                   "architecture: {name: a, memories: [{name: M0, bandwidth: %s}", width);
  for (int l = 1; l <= p.inner + 1; l++) {
    p.side[l - 1][0] = pick(r, 1, 3), p.side[l - 1][1] = pick(r, 1, l > p.inner ? 1 : 2);
    if (l > p.inner) break;
    put_ports(r, &p.read[l], &p.write[l], width, sizeof width);
    n += snprintf(text + n, sizeof text - (size_t)n, ", {name: M%d, mesh: [%d, %d], bandwidth: %s}",
                  l, p.side[l - 1][0], p.side[l - 1][1], width);
  }
  for (int i = 0; i < DIMS; i++)
    p.extent[i] = pick(r, 1, 6);
  snprintf(text + n, sizeof text - (size_t)n,
           "], compute: [{name: u, ops: [mac], below: M%d, mesh: [%d, %d], pipeline: %g}]}\n"
           "workload: {dims: {m: %d, n: %d, k: %d}, ops: ['C[m,n] += A[m,k] * B[k,n]']}\n",
           p.inner, p.side[p.inner][0], p.side[p.inner][1], p.fill, p.extent[0], p.extent[1],
           p.extent[2]);
  tf_diags *d = tf_diags_new();
  tf_spec *s = case_spec(text, d);
  tf_demand need = {0};
  bool larger = false;
  if (CHECK(s && tf_demand_of(s->workload, &need))) {
    const tf_end end = {.op = 0, .unit = 0, .sides = TF_END_LOADS | TF_END_STORES};
    tf_room room;
    CHECK(tf_room_of(s->arch, 0, &room));
    const double got = tf_end_in_room(s->arch, &need, &end, &room),
                 twin = least_levels(&p, 0, 0, 1);
    if (!CHECK(fabs(got - twin) <= 1e-12 * twin)) printf("%s%g of %g\n", text, got, twin);
    for (int l = 1; l <= p.inner; l++)
      p.read[l] = p.write[l] = INFINITY;
    larger = twin > least_levels(&p, 0, 0, 1) * (1 + 1e-12);
  }
  tf_demand_free(&need);
  tf_spec_free(s);
  tf_diags_free(d);
  return larger;
}

/* ---- windows -------------------------------------------------------------------------------- */
/* O[p] += I[a*p + b*r + c] * W[r] on one memory's port: of I's elements the fewest that any so many
 * values of p and r read are loaded first. */
typedef struct {
  int p, r, a, b, c, lo, end; /* I has lo .. end - 1 */
  double in, touched;
} windows_twin;

static int elements_of(const windows_twin *t, int p, int r) { /* sets of values, as bits */
  unsigned long long met = 0;
  for (int i = 0; i < t->p; i++)
    for (int k = 0; k < t->r; k++) {
      const int x = t->a * i + t->b * k + t->c;
      if (p >> i & 1 && r >> k & 1 && x >= t->lo && x < t->end) met |= 1ULL << (x - t->lo);
    }
  return __builtin_popcountll(met);
}

static int fewest(const windows_twin *t, int wp, int wr) {
  int least = 64;
  for (int p = 1; p < 1 << t->p; p++)
    for (int r = 1; r < 1 << t->r; r++)
      if (__builtin_popcount((unsigned)p) == wp && __builtin_popcount((unsigned)r) == wr) {
        const int n = elements_of(t, p, r);
        least = n < least ? n : least;
      }
  return least;
}

static double least_windows(const windows_twin *t, int x, int y) {
  double best = INFINITY;
  for (int px = 1; px <= x; px++)
    for (int py = 1; py <= y; py++)
      for (int qp = ceil_div(t->p, px * py); qp <= t->p; qp++)
        for (int qr = ceil_div(t->r, (x / px) * (y / py)); qr <= t->r; qr++) {
          const int wp = ceil_div(t->p, qp), wr = ceil_div(t->r, qr);
          const double first[] = {fewest(t, wp, wr), wr, wp}, words[] = {t->touched, t->r, t->p};
          const int again[] = {1, qp, qr};
          for (int held = 0; held < 8; held++) {
            double pass = 0, all = 0, alone = 0;
            for (int z = 0; z < 3; z++) {
              alone += held >> z & 1 ? first[z] / t->in : 0;
              all += held >> z & 1 ? words[z] : 0;
              pass += held >> z & 1
                          ? 0
                          : words[z] * again[z] + (z == 2 ? words[z] * (again[z] - 1) : 0);
            }
            best = fmin(best, fmax(fmax(qp * qr, pass / t->in) + alone, (pass + all) / t->in));
          }
        }
  return best;
}

/* Never more than the twin; whether it is the same. */
static bool compare_windows(tf_rng *r) {
  windows_twin t = {pick(r, 1, 6),
                    pick(r, 1, 3),
                    pick(r, 1, 3),
                    pick(r, 1, 3),
                    pick(r, -2, 2),
                    0,
                    0,
                    pick(r, 1, 6),
                    0};
  const int x = pick(r, 1, 3), y = pick(r, 1, 3);
  char text[800];
  snprintf(text, sizeof text,
           "architecture: {name: a, memories: [{name: M, bandwidth: %g}, {name: L, mesh: [%d, "
           "1]}], compute: [{name: u, ops: [mac], below: L, mesh: [1, %d]}]}\n"
           "workload: {dims: {p: %d, r: %d}, tensors: {I: {pad: [%d]}}, ops: ['O[p] += I[%d*p + "
           "%d*r + %d] * W[r]']}\n",
           t.in, x, y, t.p, t.r, pick(r, 0, 2) + (t.c < 0 ? -t.c : 0), t.a, t.b, t.c);
  tf_diags *d = tf_diags_new();
  tf_spec *s = case_spec(text, d);
  tf_demand need = {0};
  bool same = false;
  if (s && CHECK(tf_demand_of(s->workload,
                              &need))) { /* a tensor that is nothing but padding is refused */
    const tf_tensor *i = &s->workload->tensors[s->workload->ops[0].reads[0].tensor];
    t.lo = (int)i->lo[0], t.end = (int)(i->lo[0] + i->extent[0]);
    t.touched = elements_of(&t, (1 << t.p) - 1, (1 << t.r) - 1);
    const double twin = least_windows(&t, x, y), got = tf_least_exposed(s->arch, &need, 0, false);
    if (!CHECK(got <= twin * (1 + 1e-12))) printf("%s%g of %g\n", text, got, twin);
    same = got >= twin * (1 - 1e-12);
  }
  if (s) tf_demand_free(&need);
  tf_spec_free(s);
  tf_diags_free(d);
  return same;
}

/* ---- the ends of several ops ---------------------------------------------------------------- */
/* A chain of n products, op i of d0 by d[i + 2] by d[i + 1]: the first loads two inputs, the others
 * one. */
typedef struct {
  exposed_twin machine; /* of it the widths and `fill` */
  int n, length[7], x, y;
  int q[DIMS], w[DIMS];
} ends_twin;

/* What op i takes with these q and w, where what the sides say is held, or passes. */
static double with_ends(const ends_twin *t, int i, int sides) {
  const exposed_twin *p = &t->machine;
  const double e[DIMS] = {t->length[0], t->length[i + 2], t->length[i + 1]};
  double best = INFINITY;
  for (int held = 0; held < 8; held++) {
    double in = 0, back = 0, alone = 0;
    for (int z = 0; z < DIMS; z++) { /* as above: z lacks dim z */
      const int a = (z + 1) % DIMS, b = (z + 2) % DIMS;
      const bool counts = z == 2 ? sides & TF_END_STORES && i == t->n - 1
                                 : sides & TF_END_LOADS && (z == 0 || i == 0);
      const double words = e[a] * e[b], each = words * t->q[z];
      if (!counts) continue;
      if (held >> z & 1)
        alone += (double)t->w[a] * t->w[b] / (z == 2 && p->back > 0 ? p->back : p->in);
      if (!(held >> z & 1)) *(z == 2 ? &back : &in) += each;
      if (z == 2 && !(held >> z & 1)) in += each - words;
    }
    const double steps = (double)t->q[0] * t->q[1] * t->q[2];
    best = fmin(best, fmax(steps, port_of(p, in, back)) + p->fill + alone);
  }
  return best;
}

/* All ways to spread it on x by y units (y 0: on x, whatever the axes). */
static double least_with_ends(ends_twin *t, int i, int sides, int d, int x, int y) {
  if (d == DIMS) return with_ends(t, i, sides);
  const int extent = t->length[d == 0 ? 0 : d == 1 ? i + 2 : i + 1];
  double best = INFINITY;
  for (int a = 1; a <= x; a++)
    for (int b = 1; b <= (y ? y : 1); b++)
      for (int q = ceil_div(extent, a * b); q <= extent; q++) {
        t->q[d] = q, t->w[d] = ceil_div(extent, q);
        best = fmin(best, least_with_ends(t, i, sides, d + 1, x / a, y / b));
      }
  return best;
}

/* Two ops with the mesh, beside each other: a line parts one of its sides. */
static double least_beside(ends_twin *t, int from, int load, int store) {
  double best = INFINITY;
  for (int c = 1; c < t->x; c++)
    best = fmin(best, fmax(least_with_ends(t, from, load, 0, c, t->y),
                           least_with_ends(t, from + 1, store, 0, t->x - c, t->y)));
  for (int c = 1; c < t->y; c++)
    best = fmin(best, fmax(least_with_ends(t, from, load, 0, t->x, c),
                           least_with_ends(t, from + 1, store, 0, t->x, t->y - c)));
  return best;
}

/* Ops i and k, of which k comes later, with x by y units. */
static double least_of_pair(ends_twin *t, int i, int k, int sides, int x, int y) {
  const int load = sides & TF_END_LOADS, store = sides & TF_END_STORES;
  double best = least_with_ends(t, i, load, 0, x, y) + least_with_ends(t, k, store, 0, x, y);
  for (int n = 1; n < x * y; n++)
    best = fmin(best, fmax(least_with_ends(t, i, load, 0, n, 0),
                           least_with_ends(t, k, store, 0, x * y - n, 0)));
  return best;
}

/* Three: one of them on one side of the line, with the first load, the last store, both or none. */
static double least_of_three(ends_twin *t, int from, int sides) {
  double best = INFINITY;
  for (int one = 0; one < 3; one++)
    for (int own = 0; own < TF_END_SIDES; own++) {
      const int single = from + one, i = from + (one == 0), k = from + (one == 2 ? 1 : 2),
                rest = sides & ~own;
      if ((own & sides) != own) continue;
      for (int c = 1; c < t->x; c++)
        best = fmin(best, fmax(least_with_ends(t, single, own, 0, c, t->y),
                               least_of_pair(t, i, k, rest, t->x - c, t->y)));
      for (int c = 1; c < t->y; c++)
        best = fmin(best, fmax(least_with_ends(t, single, own, 0, t->x, c),
                               least_of_pair(t, i, k, rest, t->x, t->y - c)));
    }
  return best;
}

/* Ops from .. to - 1, with the mesh (units 0) or so many units. */
static double least_of_part(ends_twin *t, int from, int to, int sides, int units) {
  if (to == from + 1)
    return units ? least_with_ends(t, from, sides, 0, units, 0)
                 : least_with_ends(t, from, sides, 0, t->x, t->y);
  double in_turn = INFINITY, apart = INFINITY;
  const int load = sides & TF_END_LOADS, store = sides & TF_END_STORES,
            all = units ? units : t->x * t->y;
  for (int at = from + 1; at < to; at++) {
    in_turn = fmin(in_turn, least_of_part(t, from, at, load, units) +
                                least_of_part(t, at, to, store, units));
    for (int n = 1; n < all; n++)
      apart = fmin(apart, fmax(least_of_part(t, from, at, load, n),
                               least_of_part(t, at, to, store, all - n)));
  }
  if (!units && to == from + 2) apart = fmax(apart, least_beside(t, from, load, store));
  if (!units && to == from + 3) apart = fmax(apart, least_of_three(t, from, sides));
  return fmin(in_turn, apart);
}

/* inner: the first and the last op run on other units. */
static void compare_ends(tf_rng *r, bool inner) {
  ends_twin t = {.machine = {.in = pick(r, 1, 12),
                             .back = pick(r, 0, 1) * pick(r, 1, 12),
                             .fill = pick(r, 0, 1) * pick(r, 1, 9)},
                 .n = pick(r, 2, 3)};
  t.x = pick(r, 1, t.n == 2 ? 3 : 2), t.y = pick(r, 2, 3);
  bool mine[5];
  for (int i = 0; i < 5; i++)
    mine[i] = !inner || (i > 0 && i <= t.n);
  for (int i = 0; i < 7; i++)
    t.length[i] = pick(r, 1, t.n == 2 ? 7 : 5);
  char arch[500], width[60];
  snprintf(width, sizeof width, t.machine.back > 0 ? "{read: %g, write: %g}" : "%g", t.machine.in,
           t.machine.back);
  snprintf(arch, sizeof arch,
           "architecture: {name: a, memories: [{name: M, bandwidth: %s}, {name: L, mesh: [1, "
           "%d]}], compute: [{name: u, ops: [mac], below: L, mesh: [%d, 1], pipeline: %g}]}\n",
           width, t.y, t.x, t.machine.fill);
  tf_diags *d = tf_diags_new();
  tf_spec *a = case_spec(arch, d), *s = chain(t.n + (inner ? 2 : 0), t.length, d);
  tf_demand need = {0};
  if (CHECK(a && s && tf_demand_of(s->workload, &need))) {
    const double twin =
        least_of_part(&t, inner, t.n + inner, inner ? 0 : TF_END_LOADS | TF_END_STORES, 0);
    const double got = tf_least_ends(a->arch, &need, 0, mine, 0);
    if (!CHECK(fabs(got - twin) <= 1e-12 * twin))
      printf("%s%d ops, %g of %g\n", arch, t.n, got, twin);
  }
  tf_demand_free(&need);
  tf_spec_free(a);
  tf_spec_free(s);
  tf_diags_free(d);
}

/* ---- what has no room ------------------------------------------------------------------------ */
/* One memory inside of the outermost, and a nest above its Tile: of each dim an outer temporal
 * loop, instances, an inner temporal loop, and blocks. */
enum { LOOPS = 2 * DIMS, WORDS = 512 };
typedef struct {
  int extent[DIMS], outer[DIMS], x[DIMS], inner[DIMS], block[DIMS];
  int order[LOOPS]; /* temporal loops, outermost first: d the outer one of dim d, DIMS + d the inner
                     */
} nest;
typedef struct {
  double words, first;
  int steps[DIMS]; /* values that the first instance meets one after another */
} nest_words;

static const unsigned of_product[DIMS] = {3, 5, 6}; /* the dims of A, B, C */

static nest draw_nest(tf_rng *r) {
  nest n;
  for (int d = 0; d < DIMS; d++) {
    const int e = n.extent[d] = pick(r, 1, 7);
    n.block[d] = pick(r, 1, pick(r, 1, e));
    n.x[d] = pick(r, 1, 3);
    n.inner[d] = pick(r, 1, ceil_div(e, n.block[d]));
    n.outer[d] = ceil_div(e, n.block[d] * n.x[d] * n.inner[d]);
  }
  int at[LOOPS];
  for (int i = 0; i < LOOPS; i++)
    at[i] = i;
  for (int i = 0; i < LOOPS; i++) {
    const int k = pick(r, i, LOOPS - 1), t = at[k];
    at[k] = at[i], at[i] = t;
  }
  bool met[DIMS] = {false};
  for (int i = 0; i < LOOPS; i++) { /* the outer loop of a dim stands outside */
    const int d = at[i] % DIMS;
    n.order[i] = met[d] ? DIMS + d : d;
    met[d] = true;
  }
  return n;
}

/* The words of tensor z that all instances hold in a step, one flag each, and whose instance has
 * them; false: the first instance has nothing to do. */
static bool held_in(const nest *n, const int *digit, int who, unsigned z, bool *held) {
  int lo[DIMS] = {0}, hi[DIMS] = {1, 1, 1}, rest = who;
  for (int d = 0; d < DIMS; d++) {
    const int x = rest % n->x[d], part = n->block[d] * n->inner[d];
    rest /= n->x[d];
    lo[d] = digit[d] * part * n->x[d] + x * part + digit[DIMS + d] * n->block[d];
    hi[d] = lo[d] + n->block[d] < n->extent[d] ? lo[d] + n->block[d] : n->extent[d];
    if (lo[d] >= n->extent[d]) return false;
    if (!(z >> d & 1)) lo[d] = 0, hi[d] = 1;
  }
  memset(held, 0, WORDS * sizeof *held);
  for (int i = lo[0]; i < hi[0]; i++)
    for (int j = lo[1]; j < hi[1]; j++)
      for (int k = lo[2]; k < hi[2]; k++)
        held[(i * 8 + j) * 8 + k] = true;
  return true;
}

/* Runs the nest, step by step. */
static nest_words run_nest(const nest *n) {
  static bool had[27][DIMS][WORDS], now[WORDS], loaded[WORDS];
  nest_words w = {0};
  int digit[LOOPS] = {0}, trips[LOOPS];
  memset(had, 0, sizeof had);
  for (int d = 0; d < DIMS; d++) {
    trips[d] = n->outer[d], trips[DIMS + d] = n->inner[d];
    for (int v = 0; v < n->extent[d]; v++)
      w.steps[d] += v / (n->block[d] * n->inner[d]) % n->x[d] == 0;
  }
  for (bool more = true, first = true; more; first = false) {
    for (int z = 0; z < DIMS; z++) {
      memset(loaded, 0, sizeof loaded);
      for (int who = 0; who < n->x[0] * n->x[1] * n->x[2]; who++) {
        if (!held_in(n, digit, who, of_product[z], now)) continue;
        for (int i = 0; i < WORDS; i++)
          loaded[i] |= now[i] && !had[who][z][i];
        memcpy(had[who][z], now, sizeof now);
      }
      for (int i = 0; i < WORDS; i++)
        w.words += loaded[i], w.first += first && loaded[i];
    }
    more = false;
    for (int i = LOOPS - 1; i >= 0 && !more; i--) {
      more = ++digit[n->order[i]] < trips[n->order[i]];
      if (!more) digit[n->order[i]] = 0;
    }
  }
  return w;
}

static double words_and_first(const void *of, const tf_again_words *w) {
  const tf_ended *op = of;
  double all = 0;
  for (int z = 0; z < DIMS; z++)
    all += op->parts[z].words * w->times[z] + w->first[z];
  return all;
}

/* No nest that fits moves less than what is said of those with its instances and steps.  The twin's
 * words over what is said; 0: it says no more than that each word passes. */
static double compare_again(tf_rng *r) {
  nest n = draw_nest(r);
  const nest_words twin = run_nest(&n);
  tf_memory memory[2] = {{.word_bits = 1, .capacity_words = -1}, {.word_bits = 1}};
  tf_ended op = {.memory = memory, .n = DIMS, .n_parts = DIMS};
  double outer[TF_ENDED_INNER + 1][TF_ENDED_DIMS] = {{0}}, wide[DIMS], units[DIMS], once = 0;
  unsigned held[TF_ENDED_TENSORS] = {1, 1, 1};
  for (int z = 0; z < DIMS; z++) {
    tf_ended_part *p = &op.parts[z];
    *p = (tf_ended_part){.dims = of_product[z], .words = 1, .bits = 1, .weight = 1, .own = true};
    int64_t block = 1;
    for (int d = 0; d < DIMS; d++)
      if (p->dims >> d & 1) {
        p->rank[p->n_ranks++] = 1u << d;
        p->words *= n.extent[d];
        block *= n.block[d];
      }
    memory[1].capacity_words += block;
    once += p->words;
  }
  for (int d = 0; d < DIMS; d++) {
    op.extent[d] = n.extent[d];
    outer[1][d] = units[d] = n.x[d];
    wide[d] = ceil_div(n.extent[d], twin.steps[d]);
  }
  const tf_again_way way = {1, outer, units, wide, held};
  tf_again *a = tf_again_new(&op);
  const double least = tf_again_least(a, &way, 0, (double[]){0, 1e9}, words_and_first, &op);
  tf_again_free(a);
  if (!CHECK(least <= twin.words + twin.first + 1e-9)) {
    printf("%g of %g + %g\n", least, twin.words, twin.first);
    for (int d = 0; d < DIMS; d++)
      printf("%d: %d %d@x %d %d\n", n.extent[d], n.outer[d], n.x[d], n.inner[d], n.block[d]);
  }
  return least > once + 3 ? (twin.words + twin.first) / least : 0;
}

/* test_steps [SEED] */
int main(int argc, char **argv) {
  tf_rng r = tf_rng_new(argc > 1 ? strtoull(argv[1], NULL, 10) : 3, 0);
  int same = 0, larger = 0;
  for (int k = 0; k < LEVELS; k++)
    larger += compare_levels(&r);
  CHECK(larger > 0);
  for (int k = 0; k < CASES; k++)
    compare_ends(&r, k % 4 == 3);
  for (int k = 0; k < CASES; k++)
    same += compare_windows(&r);
  CHECK(same > CASES / 2);
  for (int k = 0; k < CASES; k++)
    compare_exposed(&r);
  int tight = 0;
  for (int k = 0; k < 20 * CASES; k++) {
    const double over = compare_again(&r);
    tight += over > 0 && over < 1 + 1e-9;
  }
  if (!CHECK(tight > CASES / 2)) printf("%d tight\n", tight);
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
