/* Random machines, products of up to four dims, and mappings of any trip counts and bypasses of
 * them, for tests of search/exact/single.h and of certificates. */
#ifndef TESTS_UNIT_DRAW_WHOLE_H
#define TESTS_UNIT_DRAW_WHOLE_H
#include <math.h>

#include "base/rng.h"
#include "search/exact/single.h"
#include "tests/draw_arch.h"
#include "tests/unit/case.h"
#include "tests/unit/page.h"

static int pick(tf_rng *g, int lo, int hi) {
  return lo + (int)tf_rng_below(g, (uint32_t)(hi - lo + 1));
}

/* ---- problems -------------------------------------------------------------------------------- */
static const char *const ops[] = {
    "C[m,l] += A[m,k] * B[k,l]",     "C[b,m,l] += A[b,m,k] * B[b,k,l]",
    "y[m] += A[m,k] * x[k]",         "C[m,l] = exp(A[m,l])",
    "C[m,l] += A[m,k,n] * B[k,n,l]", "C[m,l] += A[m,k] * B[k,l] * D[m]"};
enum { N_OPS = sizeof ops / sizeof *ops };

static int put_machine(tf_rng *g, page *p) {
  const int n = pick(g, 2, 4);
  say(p, "architecture:%s\n  memories:\n", draw_some(g, DRAW_ARCH, "\n  ", ""));
  for (int i = 0; i < n; i++)
    say(p, "  - {name: L%d%s}\n", i,
        draw_some(g, DRAW_MEMORY, ", ", i ? "" : " mesh network capacity "));
  say(p, "  compute:\n  - {name: u, ops: [mac, add, mul, exp], below: L%d%s}\n", n - 1,
      draw_some(g, DRAW_UNIT, ", ", ""));
  return n;
}

static void put_workload(tf_rng *g, page *p) {
  const char *op = ops[pick(g, 0, N_OPS - 1)];
  bool named[128] = {false}, in = false;
  say(p, "workload:\n  name: w\n  dims: {");
  for (const char *s = op, *between = ""; *s; s++) {
    in = *s == '[' || (in && *s != ']');
    if (!in || *s < 'a' || *s > 'z' || named[(int)*s]) continue;
    named[(int)*s] = true;
    say(p, "%s%c: %d", between, *s, pick(g, 1, pick(g, 0, 2) ? 13 : 90));
    between = ", ";
  }
  say(p, "}\n");
  if (strchr(op, 'A') && !pick(g, 0, 2))
    say(p, "  tensors: {A: {word-bits: %d}}\n", pick(g, 1, 4) * 8);
  say(p, "  ops:\n  - %s\n", op);
}

/* A machine and a workload, whose text stays in p; NULL with errors in d. */
static tf_spec *draw_problem(tf_rng *g, page *p, tf_diags *d) {
  p->len = 0;
  put_machine(g, p);
  put_workload(g, p);
  return case_spec(p->text, d);
}

/* ---- mappings -------------------------------------------------------------------------------- */
/* One mapping, and what of the problem it needs. */
typedef struct {
  const tf_single_op *op;
  const tf_x_template *t;
  const tf_x_tile *x; /* of its outermost Tile */
  int spread[TF_SINGLE_TILES][2][TF_SINGLE_DIMS], steps[TF_SINGLE_TILES][TF_SINGLE_DIMS];
  int place[TF_SINGLE_TILES][TF_SINGLE_DIMS];
  uint32_t past[TF_SINGLE_TILES]; /* bit z: the Tile bypasses the tensor */
} mapping;

/* A number of steps or instances whose step begins before the end, as chance has it small or what
 * fills the dim. */
static int draw_number(tf_rng *g, double extent, double step, double most) {
  const double fill = fmin(most, ceil(extent / step));
  const int kind = pick(g, 0, 3);
  return fill <= 1 || kind == 0 ? 1
         : kind == 1            ? (int)fill
                                : pick(g, 1, (int)fmin(fill, kind == 2 ? 4 : fill));
}

/* Numbers from the innermost loop outwards; Tile 0 takes what is left.  Most memories hold most
 * tensors. */
static void draw_mapping(tf_rng *g, mapping *m) {
  double step[TF_SINGLE_DIMS];
  const int often = pick(g, 0, 3);
  for (int l = 1; l < m->op->n_tiles; l++) {
    m->past[l] = 0;
    for (int z = 0; z < m->op->n_tensors; z++)
      m->past[l] |= (uint32_t)(pick(g, 0, 5) < often) << z;
  }
  for (int d = 0; d < m->op->n_dims; d++)
    step[d] = 1;
  for (int l = m->op->n_tiles - 1; l >= 0; l--) {
    double left[2] = {(double)m->op->mesh[l][0], (double)m->op->mesh[l][1]};
    const int turn = pick(g, 0, m->op->n_dims - 1);
    int places[TF_SINGLE_DIMS + 1];
    for (int k = 0; k < m->x->n_groups; k++) { /* a random order of the groups */
      const int to = pick(g, 0, k);
      places[k] = places[to];
      places[to] = k + 1;
    }
    for (int i = 0; i < m->op->n_dims; i++) {
      const int d = (i + turn) % m->op->n_dims;
      int *y = &m->spread[l][1][d], *x = &m->spread[l][0][d];
      *y = draw_number(g, m->op->extent[d], step[d], left[1]);
      *x = draw_number(g, m->op->extent[d], step[d] * *y, left[0]);
      while (*y > 1 && (*y - 1) * *x * step[d] >= m->op->extent[d])
        --*y;
      left[0] = floor(left[0] / *x);
      left[1] = floor(left[1] / *y);
      step[d] *= *x * *y;
      m->steps[l][d] = l ? draw_number(g, m->op->extent[d], step[d], 1e9)
                         : (int)ceil(m->op->extent[d] / step[d]);
      step[d] *= m->steps[l][d];
      m->place[l][d] = m->x->group[d] < 0 ? 0 : places[m->x->group[d]];
    }
  }
}

/* The loops of a Tile, temporal ones by their place; what it bypasses. */
static void put_tile(const mapping *m, const tf_workload *wl, int l, page *p) {
  const tf_op *op = &wl->ops[0];
  say(p, "%*sL%d", 2 * l, "", l);
  bool any = false;
  for (int place = 0; place <= m->op->n_dims; place++)
    for (int d = 0; d < m->op->n_dims; d++)
      if (m->place[l][d] == place && m->steps[l][d] > 1) {
        say(p, "%s %s=%d", any ? "" : " for", wl->dims[m->x->dims[d]].name, m->steps[l][d]);
        any = true;
      }
  any = false;
  for (int a = 0; a < 2; a++)
    for (int d = 0; d < m->op->n_dims; d++)
      if (m->spread[l][a][d] > 1) {
        say(p, "%s %s=%d@%c", any ? "" : " spatial", wl->dims[m->x->dims[d]].name,
            m->spread[l][a][d], "xy"[a]);
        any = true;
      }
  for (int z = 0; z < m->op->n_tensors; z++)
    if (m->past[l] >> z & 1)
      say(p, "%s %s", m->past[l] & ((UINT32_C(1) << z) - 1) ? "" : " bypass",
          wl->tensors[z ? op->reads[z - 1].tensor : op->out].name);
  say(p, "\n");
}

static void put_mapping(const mapping *m, const tf_workload *wl, page *p) {
  p->len = 0;
  for (int l = 0; l < m->op->n_tiles; l++)
    put_tile(m, wl, l, p);
  say(p, "%*sop %s\n", 2 * m->op->n_tiles, "", wl->ops[0].name);
}
#endif
