/* Bounds of boxes of trip counts (search/exact/single.h) against the model: whatever machine,
 * product and box, no mapping of it costs less than its bound in cycles, energy or traffic; and
 * what a box is said not to have does not fit. */
#include "tests/unit/draw_single.h"

/* Whether each axis of each Tile has as many dims as the space has at most. */
static bool few_on_an_axis(const mapping *m) {
  bool few = true;
  for (int l = 0; l < m->op->n_tiles; l++)
    for (int a = 0; a < 2; a++) {
      int on = 0;
      for (int d = 0; d < m->op->n_dims; d++)
        on += m->spread[l][a][d] > 1;
      few &= on <= TF_SINGLE_ON_AN_AXIS;
    }
  return few;
}

/* ---- boxes ----------------------------------------------------------------------------------- */
/* A span around a number: that alone, or from a smaller to a larger one. */
static tf_single_span around(tf_rng *g, int n, int wide) {
  if (pick(g, 0, 3) >= wide) return (tf_single_span){n, n};
  return (tf_single_span){pick(g, 1, n), pick(g, n, 1 + 3 * n)};
}

/* The same of the length that enters a Tile; half of all boxes say nothing of it. */
static tf_single_span block_around(tf_rng *g, double length, double extent, int wide) {
  const int n = (int)fmin(length, extent);
  if (pick(g, 0, 1)) return (tf_single_span){1, (int)extent};
  const tf_single_span b = around(g, n, wide);
  return (tf_single_span){b.lo, (int)fmin(b.hi, extent)};
}

static tf_single_box box_around(tf_rng *g, const mapping *m, int wide) {
  tf_single_box b;
  for (int d = 0; d < m->op->n_dims; d++) {
    double length = 1;
    for (int l = m->op->n_tiles - 1; l >= 0; l--) {
      length *= (double)m->spread[l][0][d] * m->spread[l][1][d] * m->steps[l][d];
      b.block[l][d] = block_around(g, length, m->op->extent[d], wide);
    }
  }
  for (int l = 0; l < m->op->n_tiles; l++) {
    b.past[l] = l ? m->past[l] : 0;
    b.held[l] = ~b.past[l] & ((UINT32_C(1) << m->op->n_tensors) - 1);
    for (int z = 0; z < m->op->n_tensors && l; z++)
      if (pick(g, 0, 5) < wide) b.held[l] &= ~(UINT32_C(1) << z), b.past[l] &= ~(UINT32_C(1) << z);
    for (int d = 0; d < m->op->n_dims; d++) {
      for (int a = 0; a < 2; a++)
        b.spread[l][a][d] = around(g, m->spread[l][a][d], m->op->mesh[l][a] > 1 ? wide : 0);
      b.steps[l][d] = around(g, m->steps[l][d], wide);
      b.place[l][d] = m->place[l][d];
    }
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
    const tf_single_box b = box_around(g, m, wide);
    const tf_single_cost least = tf_single_bound(m->op, &b);
    const bool ok = least.empty ? !r->feasible
                                : least.cycles <= r->cycles * more &&
                                      least.energy_pj <= r->energy_pj * more &&
                                      least.traffic_words <= words * more;
    CHECK(ok);
    if (!ok)
      printf(
          "%s\nwide %d, empty %d: %.17g of %.17g cycles, %.17g of %.17g pJ, %.17g of %.17g words\n",
          text, wide, least.empty, least.cycles, r->cycles, least.energy_pj, r->energy_pj,
          least.traffic_words, words);
    n->boxes++;
    n->tight += wide == 0 && !least.empty && least.cycles >= 0.98 * r->cycles;
  }
}

/* ---- cases ----------------------------------------------------------------------------------- */
static void try_mapping(tf_rng *g, const tf_spec *s, mapping *m, const char *problem, seen *n) {
  static page p;
  draw_mapping(g, m);
  put_mapping(m, s->workload, &p);
  tf_diags *d = tf_diags_new();
  tf_tree *tree = tf_tree_parse(p.text, (tf_loc){0}, s->arch, s->workload, d);
  tf_model *model = tree ? tf_model_new(tree, d) : NULL;
  tf_result r;
  char whole[sizeof p.text + 8192];
  snprintf(whole, sizeof whole, "%s%s", problem, p.text);
  CHECK(model != NULL);
  if (!model) printf("%s", whole);
  if (!model) case_complain(d);
  if (tree)
    CHECK(tf_single_has(m->t, tree, true) ==
          few_on_an_axis(m)); /* it lies in the space, but where too much lies on an axis */
  if (model && tf_model_eval(model, NULL, &r)) compare(g, m, &r, whole, n);
  tf_model_free(model);
  tf_tree_free(tree);
  tf_diags_free(d);
}

static void try_problem(tf_rng *g, seen *n) {
  enum { MAPPINGS = 20 };
  static page p;
  tf_diags *d = tf_diags_new();
  tf_spec *s = draw_problem(g, &p, d);
  const tf_x_shape alone = {.kind = TF_SEQ};
  tf_x_template *t = s ? tf_x_template_new(s->arch, s->workload, &alone, d) : NULL;
  tf_single_op op;
  CHECK(t != NULL);
  if (!t) printf("%s", p.text);
  if (!t) case_complain(d);
  for (int i = 0; t && tf_single_op_of(t, &op) && op.n_dims && i < MAPPINGS; i++) {
    mapping m = {.op = &op, .t = t, .x = &t->tiles[0]};
    try_mapping(g, s, &m, p.text, n);
  }
  tf_x_template_free(t);
  tf_spec_free(s);
  tf_diags_free(d);
}

int main(int argc, char **argv) { /* test_single CASES SEED: others */
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
