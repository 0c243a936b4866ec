/* Bounds of boxes of trip counts (search/exact/whole.h) against the model: whatever machine, product and box, no
 * mapping of it costs less than its bound in cycles, energy or traffic; and what a box is said not to have does not
 * fit. */
#include <math.h>

#include "base/rng.h"
#include "search/exact/whole.h"
#include "tests/draw_arch.h"
#include "tests/unit/case.h"
#include "tests/unit/page.h"

static int pick(tf_rng *g, int lo, int hi) { return lo + (int)tf_rng_below(g, (uint32_t)(hi - lo + 1)); }

/* ---- problems ----------------------------------------------------------------------------------- */
static const char *const ops[] = {"C[m,l] += A[m,k] * B[k,l]",     "C[b,m,l] += A[b,m,k] * B[b,k,l]",
                                  "y[m] += A[m,k] * x[k]",         "C[m,l] = exp(A[m,l])",
                                  "C[m,l] += A[m,k,n] * B[k,n,l]", "C[m,l] += A[m,k] * B[k,l] * D[m]"};
enum { N_OPS = sizeof ops / sizeof *ops };

static int put_machine(tf_rng *g, page *p) {
  const int n = pick(g, 2, 4);
  say(p, "architecture:%s\n  memories:\n", draw_some(g, DRAW_ARCH, "\n  ", ""));
  for (int i = 0; i < n; i++)
    say(p, "  - {name: L%d%s}\n", i, draw_some(g, DRAW_MEMORY, ", ", i ? "" : " mesh network capacity "));
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
  if (strchr(op, 'A') && !pick(g, 0, 2)) say(p, "  tensors: {A: {word-bits: %d}}\n", pick(g, 1, 4) * 8);
  say(p, "  ops:\n  - %s\n", op);
}

/* ---- mappings ----------------------------------------------------------------------------------- */
/* One mapping, and what of the problem it needs. */
typedef struct {
  const tf_whole_op *op;
  const tf_x_template *t;
  const tf_x_tile *x; /* of its outermost Tile */
  int spread[TF_WHOLE_TILES][2][TF_WHOLE_DIMS], steps[TF_WHOLE_TILES][TF_WHOLE_DIMS];
  int place[TF_WHOLE_TILES][TF_WHOLE_DIMS];
} mapping;

/* A number of steps or instances whose step begins before the end, as chance has it small or what fills the dim. */
static int draw_number(tf_rng *g, double extent, double step, double most) {
  const double fill = fmin(most, ceil(extent / step));
  const int kind = pick(g, 0, 3);
  return fill <= 1 || kind == 0 ? 1 : kind == 1 ? (int)fill : pick(g, 1, (int)fmin(fill, kind == 2 ? 4 : fill));
}

/* Numbers from the innermost loop outwards; Tile 0 takes what is left. */
static void draw_mapping(tf_rng *g, mapping *m) {
  double step[TF_WHOLE_DIMS];
  for (int d = 0; d < m->op->n_dims; d++)
    step[d] = 1;
  for (int l = m->op->n_tiles - 1; l >= 0; l--) {
    double left[2] = {(double)m->op->mesh[l][0], (double)m->op->mesh[l][1]};
    const int turn = pick(g, 0, m->op->n_dims - 1);
    int places[TF_WHOLE_DIMS + 1];
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
      m->steps[l][d] = l ? draw_number(g, m->op->extent[d], step[d], 1e9) : (int)ceil(m->op->extent[d] / step[d]);
      step[d] *= m->steps[l][d];
      m->place[l][d] = m->x->group[d] < 0 ? 0 : places[m->x->group[d]];
    }
  }
}

/* The loops of a Tile, temporal ones by their place; what it bypasses, or "". */
static void put_tile(const mapping *m, const tf_workload *wl, int l, const char *bypass, page *p) {
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
        say(p, "%s %s=%d@%c", any ? "" : " spatial", wl->dims[m->x->dims[d]].name, m->spread[l][a][d], "xy"[a]);
        any = true;
      }
  say(p, *bypass ? " bypass %s\n" : "\n%s", bypass);
}

static void put_mapping(const mapping *m, const tf_workload *wl, const char *bypass, page *p) {
  p->len = 0;
  for (int l = 0; l < m->op->n_tiles; l++)
    put_tile(m, wl, l, l == 1 ? bypass : "", p);
  say(p, "%*sop %s\n", 2 * m->op->n_tiles, "", wl->ops[0].name);
}

/* Whether each axis of each Tile has as many dims as the space has at most. */
static bool few_on_an_axis(const mapping *m) {
  bool few = true;
  for (int l = 0; l < m->op->n_tiles; l++)
    for (int a = 0; a < 2; a++) {
      int on = 0;
      for (int d = 0; d < m->op->n_dims; d++)
        on += m->spread[l][a][d] > 1;
      few &= on <= TF_WHOLE_ON_AN_AXIS;
    }
  return few;
}

/* A mapping lies in the space, but where too much lies on an axis; with a bypass it never does. */
static void check_has(const mapping *m, const tf_spec *s, const tf_tree *tree, tf_diags *d) {
  static page p;
  put_mapping(m, s->workload, s->workload->tensors[s->workload->ops[0].out].name, &p);
  tf_tree *past = tf_tree_parse(p.text, (tf_loc){0}, s->arch, s->workload, d);
  CHECK(tf_whole_has(m->t, tree) == few_on_an_axis(m));
  CHECK(past && !tf_whole_has(m->t, past));
  tf_tree_free(past);
}

/* ---- boxes -------------------------------------------------------------------------------------- */
/* A span around a number: that alone, or from a smaller to a larger one. */
static tf_whole_span around(tf_rng *g, int n, int wide) {
  if (pick(g, 0, 3) >= wide) return (tf_whole_span){n, n};
  return (tf_whole_span){pick(g, 1, n), pick(g, n, 1 + 3 * n)};
}

static tf_whole_box box_around(tf_rng *g, const mapping *m, int wide) {
  tf_whole_box b;
  for (int l = 0; l < m->op->n_tiles; l++)
    for (int d = 0; d < m->op->n_dims; d++) {
      for (int a = 0; a < 2; a++)
        b.spread[l][a][d] = around(g, m->spread[l][a][d], m->op->mesh[l][a] > 1 ? wide : 0);
      b.steps[l][d] = around(g, m->steps[l][d], wide);
      b.place[l][d] = m->place[l][d];
    }
  for (int l = 0; l < m->op->n_tiles && !pick(g, 0, 5); l++) /* no order */
    for (int d = 0; d < m->op->n_dims; d++)
      b.place[l][d] = 0;
  return b;
}

typedef struct {
  int64_t boxes, tight; /* tight: within 2 % of the model in cycles */
} seen;

/* Boxes around one mapping, narrower and narrower. */
static void compare(tf_rng *g, const mapping *m, const tf_result *r, const char *text, seen *n) {
  const double more = 1 + 1e-9;
  double words = 0;
  for (int z = 0; z < m->op->n_tensors; z++) /* of the outermost memory */
    words += (double)(r->counts[z].read + r->counts[z].update);
  for (int wide = 4; wide >= 0; wide--) {
    const tf_whole_box b = box_around(g, m, wide);
    const tf_whole_least least = tf_whole_bound(m->op, &b);
    const bool ok = least.empty ? !r->feasible
                                : least.cycles <= r->cycles * more && least.energy_pj <= r->energy_pj * more &&
                                      least.traffic_words <= words * more;
    CHECK(ok);
    if (!ok)
      printf("%s\nwide %d, empty %d: %.17g of %.17g cycles, %.17g of %.17g pJ, %.17g of %.17g words\n", text, wide,
             least.empty, least.cycles, r->cycles, least.energy_pj, r->energy_pj, least.traffic_words, words);
    n->boxes++;
    n->tight += wide == 0 && !least.empty && least.cycles >= 0.98 * r->cycles;
  }
}

/* ---- cases -------------------------------------------------------------------------------------- */
static void try_mapping(tf_rng *g, const tf_spec *s, mapping *m, const char *problem, seen *n) {
  static page p;
  draw_mapping(g, m);
  put_mapping(m, s->workload, "", &p);
  tf_diags *d = tf_diags_new();
  tf_tree *tree = tf_tree_parse(p.text, (tf_loc){0}, s->arch, s->workload, d);
  tf_model *model = tree ? tf_model_new(tree, d) : NULL;
  tf_result r;
  char whole[sizeof p.text + 8192];
  snprintf(whole, sizeof whole, "%s%s", problem, p.text);
  CHECK(model != NULL);
  if (!model) printf("%s", whole);
  if (!model) case_complain(d);
  if (tree) check_has(m, s, tree, d);
  if (model && tf_model_eval(model, NULL, &r)) compare(g, m, &r, whole, n);
  tf_model_free(model);
  tf_tree_free(tree);
  tf_diags_free(d);
}

static void try_problem(tf_rng *g, seen *n) {
  enum { MAPPINGS = 20 };
  static page p;
  p.len = 0;
  put_machine(g, &p);
  put_workload(g, &p);
  tf_diags *d = tf_diags_new();
  tf_spec *s = case_spec(p.text, d);
  const tf_x_shape alone = {.kind = TF_SEQ};
  tf_x_template *t = s ? tf_x_template_new(s->arch, s->workload, &alone, d) : NULL;
  tf_whole_op op;
  CHECK(t != NULL);
  if (!t) printf("%s", p.text);
  if (!t) case_complain(d);
  for (int i = 0; t && tf_whole_op_of(t, &op) && op.n_dims && i < MAPPINGS; i++) {
    mapping m = {.op = &op, .t = t, .x = &t->tiles[0]};
    try_mapping(g, s, &m, p.text, n);
  }
  tf_x_template_free(t);
  tf_spec_free(s);
  tf_diags_free(d);
}

int main(int argc, char **argv) { /* test_whole CASES SEED: others */
  const int cases = argc > 2 ? atoi(argv[1]) : 400;
  tf_rng g = tf_rng_new(argc > 2 ? (uint64_t)atoll(argv[2]) : 1, 35);
  seen n = {0, 0};
  for (int i = 0; i < cases; i++)
    try_problem(&g, &n);
  CHECK(n.boxes >= 60 * cases);   /* else most problems were of no kind that boxes are made for */
  CHECK(n.tight * 40 >= n.boxes); /* bounds that are always far too low would hold, too */
  printf("%lld boxes, %lld tight\n", (long long)n.boxes, (long long)n.tight);
  return check_report();
}
