/* Rows of trip counts evaluated many at once (tf_model_eval_batch) against each of them by itself:
 * the same bits, on random trees, machines and rows, among them rows that do not fit, do not
 * divide, or cover nothing; and the same where inputs and outputs live in inner memories, and where
 * memories have parts. */
#include <stdlib.h>

#include "base/rng.h"
#include "model/cost/quick/lanes.h"
#include "model/eval/hooks.h"
#include "tests/draw_arch.h"
#include "tests/unit/case.h"
#include "tests/unit/page.h"

enum { ROWS = 75, CASES = 600, HOMES = 900 }; /* two full sets of lanes and a ragged one */

static int pick(tf_rng *g, int lo, int hi) {
  return lo + (int)tf_rng_below(g, (uint32_t)(hi - lo + 1));
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Which trees are drawn: plain ones, with inputs and outputs in inner memories, on memories that
 * have parts. */
typedef enum { PLAIN, AT_HOME, IN_PARTS } way;

static int machine(tf_rng *g, page *p, way as) {
  int n = pick(g, 2, 3);
  say(p, "architecture:%s\n  memories:\n", draw_some(g, DRAW_ARCH, "\n  ", ""));
  for (int i = 0; i < n; i++)
    if (as == IN_PARTS && i) {
      say(p, "  - {name: L%d%s", i, draw_some(g, DRAW_MEMORY, ", ", " capacity "));
      say(p, ", parts: %s}\n", draw_value(g, DRAW_MEMORY, "parts"));
    } else {
      say(p, "  - {name: L%d%s}\n", i, draw_some(g, DRAW_MEMORY, ", ", i ? "" : " mesh network "));
    }
  say(p, "  compute:\n  - {name: u, ops: [mac, exp], below: L%d%s}\n", n - 1,
      draw_some(g, DRAW_UNIT, ", ", ""));
  return n;
}

/* A Tile of every dim of the op, turned somehow, some loops spatial.  Trip counts are those of the
 * rows; here only one that covers everything is asked for. */
static void tile(tf_rng *g, page *p, int indent, int level, const char *dims, int trip) {
  char spatial[128] = "";
  int n = (int)strlen(dims), turn = pick(g, 0, n - 1);
  bool any = false;
  say(p, "  %*sL%d", indent, "", level);
  for (int i = 0; i < n; i++) {
    char d = dims[(turn + i) % n];
    size_t at = strlen(spatial);
    if (pick(g, 0, 3) == 0) {
      snprintf(spatial + at, sizeof spatial - at, " %c=%d@%c", d, trip, pick(g, 0, 1) ? 'x' : 'y');
      continue;
    }
    say(p, "%s %c=%d", any ? "" : " for", d, trip);
    any = true;
  }
  say(p, "%s%s\n", *spatial ? " spatial" : "", spatial);
}

static void nest(tf_rng *g, page *p, int indent, const char *op, const char *dims, int level,
                 int n_levels) {
  int n = pick(g, 1, 3);
  for (int i = 0; i < n; i++, indent += 2) {
    level = pick(g, level, n_levels - 1);
    tile(g, p, indent, level, dims, i == n - 1 ? 24 : 1);
  }
  say(p, "  %*sop %s\n", indent, "", op);
}

typedef struct {
  const char *text; /* dims and ops */
  int n;
  const char *op[3], *dims[3];
  const char *outer; /* dims of the loops above all ops */
} family;

static const family families[] = {
    {"dims: {m: 12, l: 24, k: 6}\n  ops:\n  - C[m,l] += A[m,k] * B[k,l]\n",
     1,
     {"C"},
     {"mlk"},
     "mlk"},
    {"dims: {m: 12, l: 24, k: 6, n: 8}\n  ops:\n  - C[m,l] += A[m,k] * B[k,l]\n"
     "  - E[m,n] += C[m,l] * D[l,n]\n",
     2,
     {"C", "E"},
     {"mlk", "mnl"},
     "ml"},
    {"dims: {m: 12, k: 6, x: 4, y: 8}\n  ops:\n  - C[m,x] += A[m,k] * B[k,x]\n"
     "  - E[m,y] += A[m,k] * D[k,y]\n",
     2,
     {"C", "E"},
     {"mxk", "myk"},
     "m"},
    {"dims: {m: 12, l: 8, k: 6, n: 4}\n  ops:\n  - C[m,l] += A[m,k] * B[k,l]\n"
     "  - F[m,l] = exp(C[m,l])\n"
     "  - E[m,n] += F[m,l] * D[l,n]\n",
     3,
     {"C", "F", "E"},
     {"mlk", "ml", "mnl"},
     "ml"},
    {"dims: {p: 12, k: 4, c: 2, r: 3}\n  ops:\n  - C[p,k] += A[c,2*p+r] * B[k,c,r]\n",
     1,
     {"C"},
     {"pkcr"},
     "pk"},
    {"dims: {h: 14, k: 3, r: 2, p: 12, n: 2, t: 3}\n  ops:\n  - C[h,k] += A[h+r] * B[k,r]\n"
     "  - E[p,n] += C[p+t,k] * D[n,k,t]\n",
     2,
     {"C", "E"},
     {"hkr", "pnkt"},
     "pn"},
    {"dims: {p: 12, c: 4, r: 3}\n  tensors:\n    A: {pad: [0, 1]}\n  ops:\n"
     "  - C[p] += A[c,p+r-1] * B[c,r]\n",
     1,
     {"C"},
     {"pcr"},
     "p"},
    /* with homes only: one input that two ops meet elsewhere, by other steps and by the same */
    {"dims: {p: 12, k: 4, c: 2, n: 3}\n  ops:\n  - C[p,k] += A[p,c] * B[k,c]\n"
     "  - E[p,n] += A[p+5,c] * D[n,c]\n",
     2,
     {"C", "E"},
     {"pkc", "pnc"},
     "p"},
    {"dims: {p: 12, k: 4, c: 2, n: 3}\n  ops:\n  - C[p,k] += A[p,c] * B[k,c]\n"
     "  - E[p,n] += A[2*p+3,c] * D[n,c]\n",
     2,
     {"C", "E"},
     {"pkc", "pnc"},
     "p"},
    {"dims: {p: 4, k: 4, c: 6, n: 3}\n  ops:\n  - C[p,k] += A[p,c] * B[k,c]\n"
     "  - E[p,n] += A[2*p,c] * D[n,c]\n",
     2,
     {"C", "E"},
     {"pkc", "pnc"},
     "p"},
    {"dims: {p: 4, c: 6}\n  ops:\n  - C[p] += A[p,c] * A[2*p+1,c]\n", 1, {"C"}, {"pc"}, "p"},
    {"dims: {p: 4, c: 3, r: 3}\n  ops:\n  - C[p] += A[p,c] * B[c]\n  - E[p] += A[p+r,c] * D[r,c]\n",
     2,
     {"C", "E"},
     {"pc", "prc"},
     "p"},
};
enum { N_FAMILIES = sizeof families / sizeof families[0], N_PLAIN = N_FAMILIES - 5 };

/* One input or output in two lives further in; what no instance would have whole is refused, with
 * the tree. */
static void homes(tf_rng *g, page *p, const family *f, int n_levels) {
  const char *any = "home: {";
  for (const char *z = "ABDCE"; *z; z++) {
    const bool made = *z == 'C' || *z == 'E';
    if (!strchr(f->text, *z) || (made && *z != *f->op[f->n - 1]) || pick(g, 0, 1)) continue;
    say(p, "%s%c: L%d", any, *z, pick(g, 1, n_levels - 1));
    any = ", ";
  }
  if (*any == ',') say(p, "}\n");
}

static void draw(tf_rng *g, page *p, way as) {
  static const char *const scope[] = {"Seq", "Seq", "Shar", "Shar", "Pipe"};
  int n = machine(g, p, as), level = pick(g, 0, n - 2);
  const family *f = &families[pick(g, 0, (as == AT_HOME ? N_FAMILIES : N_PLAIN) - 1)];
  say(p, "workload:\n  name: w\n  %s", f->text);
  if (!strstr(f->text, "tensors:") && pick(g, 0, 1))
    say(p, "  tensors: {A: {word-bits: %d}, C: {word-bits: %d}}\n", pick(g, 1, 64), pick(g, 1, 64));
  if (as == AT_HOME) homes(g, p, f, n);
  say(p, "mapping: |\n");
  tile(g, p, 0, level, f->outer, 1);
  const int inner =
      f->n == 3 ? pick(g, -1, 1) : -1; /* the first of two ops in a scope of their own */
  if (f->n > 1) say(p, "    %s\n", scope[pick(g, 0, 4)]);
  for (int i = 0; i < f->n; i++) {
    const bool within = inner >= 0 && (i == inner || i == inner + 1);
    if (i == inner) say(p, "      %s\n", scope[pick(g, 0, 3)]);
    nest(g, p, (f->n > 1 ? 4 : 2) + (within ? 2 : 0), f->op[i], f->dims[i], level, n);
  }
}

/* ---- rows ----------------------------------------------------------------------------------- */

static int divisor(tf_rng *g, int64_t n) {
  for (;;) {
    int d = pick(g, 1, (int)n);
    if (n % d == 0) return d;
  }
}

/* Trip counts that divide the extents, chain by chain; `outer` loops first, and a later op may find
 * them too many. */
static void row_of(tf_rng *g, const tf_model *m, bool ragged, int64_t *row) {
  const tf_plan *p = m->plan;
  memset(row, 0, (size_t)p->n_loops * sizeof *row);
  for (int o = p->wl->n_ops - 1; o >= 0; o--) {
    const tf_path *path = &p->path[p->tree->op_node[o]];
    for (int i = 0; i < p->wl->ops[o].n_dims; i++) {
      int d = p->wl->ops[o].dims[i], last = -1;
      int64_t left = p->wl->dims[d].extent;
      for (int k = 0; k < path->n; k++) {
        int l = path->loops[k];
        if (p->loops[l].dim != d) continue;
        if (!row[l]) {
          bool spatial = p->loops[l].axis != TF_TEMPORAL;
          row[l] = pick(g, 0, spatial ? 3 : 1) ? 1 : divisor(g, left);
          last = l;
        }
        left = left % row[l] ? 1 : left / row[l];
      }
      if (last >= 0) row[last] *= left;
    }
  }
  if (pick(g, 0, 9) == 0) row[pick(g, 0, p->n_loops - 1)] = pick(g, 1, 5);
  for (int k = ragged ? pick(g, 1, 3) : 0; k > 0;
       k--) { /* a count that divides no more, mostly one that still covers */
    int64_t *trip = &row[pick(g, 0, p->n_loops - 1)];
    *trip += *trip > 1 || pick(g, 0, 4) == 0 ? pick(g, 0, 3) : 0;
  }
  if (pick(g, 0, 99) == 0) row[pick(g, 0, p->n_loops - 1)] = INT64_C(1) << pick(g, 20, 50);
}

typedef struct {
  int trees, lanes; /* trees evaluated; those that have a program for lanes, and of their rows: */
  int counted, infeasible, odd; /* counted at all, that do not fit, that differ */
  int unlike;                   /* rows that fit or do not only if all is counted */
  int quick, in_lanes;          /* of the last set of lanes: counted the quick way, in lanes */
  int partial, loose; /* rows that leave remainders: counted the quick way; of these, in lanes */
} tally;

/* Bit for bit. */
static uint64_t bits(double x) {
  uint64_t b;
  memcpy(&b, &x, sizeof b);
  return b;
}

static bool same(const tf_model *m, const tf_brief *a, bool ok, const tf_result *r) {
  const tf_arch *arch = m->plan->arch;
  const tf_workload *wl = m->plan->wl;
  if (a->counted != ok || !ok) return a->counted == ok;
  return a->feasible == r->feasible && bits(a->cycles) == bits(r->cycles) &&
         bits(a->energy_pj) == bits(r->energy_pj) &&
         bits(a->traffic_words) == bits(tf_result_traffic(wl, r)) &&
         bits(a->held_words) == bits(tf_result_held(arch, r));
}

/* Whether the row is told to fit, or what of it does not, alike where what does not fit is not
 * counted. */
static bool fits_alike(tf_model *m, const int64_t *row, const tf_result *r) {
  tf_result own;
  tf_model_fits_first(m);
  bool same = tf_model_eval(m, row, &own) && own.feasible == r->feasible &&
              own.n_violations == r->n_violations;
  m->fits_first = false;
  for (int i = 0; same && i < own.n_violations; i++)
    same = own.violations[i].code == r->violations[i].code &&
           own.violations[i].need == r->violations[i].need;
  return same && (!r->feasible || (bits(own.cycles) == bits(r->cycles) &&
                                   bits(own.energy_pj) == bits(r->energy_pj)));
}

/* What a search learns from: the sum of the nodes' cycles, and the effort. */
static bool quick_alike(tf_model *m, const int64_t *row, const tf_result *r, tally *t) {
  tf_quick_row g;
  const bool partial = tf_model_quick(m) && m->partial;
  const int64_t effort = tf_model_effort(m);
  double nodes = 0;
  for (int n = 0; n < m->plan->tree->n_nodes; n++)
    nodes += r->nodes[n].cycles < r->cycles ? r->nodes[n].cycles : r->cycles;
  const bool there = tf_model_quick_rows(m, row, 1, &g) != 0;
  t->partial += m->lanes && partial;
  t->loose += there && g.effort == TF_EFFORT_PARTIAL;
  return !there || (bits(nodes) == bits(g.nodes) && (!tf_model_quick(m) || g.effort == effort));
}

static void compare(tf_model *m, const int64_t *rows, int n, tally *t) {
  tf_brief out[ROWS];
  tf_model_walk_limit(m, 20000);
  tf_model_eval_batch(m, rows, n, out);
  t->trees++;
  t->lanes += m->lanes != NULL;
  for (int i = 0; i < n; i++) {
    tf_result r;
    bool ok = tf_model_eval(m, &rows[i * m->plan->n_loops], &r), equal = same(m, &out[i], ok, &r);
    if (m->lanes && i >= (n - 1) / TF_LANES * TF_LANES) {
      t->quick += tf_model_quick(m) && !m->partial;
      t->in_lanes += m->lanes->slots[m->lanes->out[TF_LANE_COUNTS]].i[i % TF_LANES] != 0;
    }
    t->counted += ok && m->lanes;
    t->infeasible += ok && !r.feasible && m->lanes;
    t->unlike += ok && !fits_alike(m, &rows[i * m->plan->n_loops], &r);
    t->odd += !equal;
    if (!equal && t->odd < 4)
      printf("row %d: counted %d / %d, fits %d / %d, cycles %.17g / %.17g, pj %.17g / %.17g\n", i,
             out[i].counted, ok, out[i].feasible, r.feasible, out[i].cycles, r.cycles,
             out[i].energy_pj, r.energy_pj);
  }
  for (int i = 0; i < n; i++) {
    const int64_t *row = &rows[i * m->plan->n_loops];
    tf_result r;
    t->odd += tf_model_eval(m, row, &r) && !quick_alike(m, row, &r, t);
  }
}

/* What is set aside decides whether a row fits: every memory is as large as some row needs it. */
static void fit_tightly(tf_rng *g, test_case *e, const int64_t *rows, int n) {
  tf_result r;
  for (int l = 1; l < e->spec->arch->n_memories; l++) {
    const int64_t *row = &rows[pick(g, 0, n - 1) * e->model->plan->n_loops];
    if (tf_model_eval(e->model, row, &r) && r.levels[l].peak > 0 &&
        r.levels[l].peak < INT64_C(1) << 40)
      e->spec->arch->memories[l].capacity_words = r.levels[l].peak;
  }
  tf_model_free(e->model);
  e->model = tf_model_new(e->tree, e->d);
}

static void check_random(uint64_t seed, way as, tally *t) {
  tf_rng g = tf_rng_new(seed, 1);
  page p = {.len = 0};
  test_case e = {0};
  draw(&g, &p, as);
  case_read(&e, p.text);
  if (e.model && e.model->plan->n_loops && (as == AT_HOME) == (e.model->plan->n_at_home > 0)) {
    int n = pick(&g, 1, ROWS), n_loops = e.model->plan->n_loops;
    int64_t *rows = calloc((size_t)(ROWS * n_loops), sizeof *rows);
    for (int i = 0; rows && i < n; i++)
      row_of(&g, e.model, pick(&g, 0, 2) == 0, &rows[i * n_loops]);
    int odd = t->odd;
    if (rows && as == AT_HOME && pick(&g, 0, 3)) fit_tightly(&g, &e, rows, n);
    if (rows && e.model) compare(e.model, rows, n, t);
    if (t->odd > odd && odd < 4) printf("seed %" PRIu64 "\n%s\n", seed, p.text);
    free(rows);
  }
  case_drop(&e);
}

/* Two ops whose loops spread one input alike, along X and along Y: no instance meets the same for
 * both. */
static void check_places(tally *t) {
  static const char text[] =
      "architecture:\n  memories:\n  - {name: L0}\n  - {name: L1, mesh: [4, 4], capacity: 11}\n"
      "  compute: [{name: u, ops: [mac], below: L1}]\n"
      "workload:\n  name: w\n  dims: {p: 4, c: 2}\n  ops:\n  - C[p] += A[p,c] * B[c]\n"
      "  - E[p] += A[p,c] * D[c]\n"
      "home: {A: L1}\n"
      "mapping: |\n  L0 for c=1\n    Seq\n      L0 spatial p=2@x\n"
      "        L1 for p=2 c=2\n          op C\n"
      "      L0 spatial p=2@y\n        L1 for p=2 c=2\n          op E\n";
  static const int64_t rows[][7] = {
      {1, 2, 2, 2, 2, 2, 2}, {1, 4, 1, 2, 4, 1, 2}, {1, 2, 2, 2, 4, 1, 2}, {1, 1, 4, 2, 1, 4, 2}};
  test_case e = {0};
  case_read(&e, text);
  if (CHECK(e.model && e.model->plan->n_loops == 7)) compare(e.model, rows[0], 4, t);
  case_drop(&e);
}

static void report(const char *what, const tally *t) {
  printf("%s: %d trees, %d in lanes; their rows: %d counted, %d do not fit; %d in lanes of %d that "
         "are quick\n",
         what, t->trees, t->lanes, t->counted, t->infeasible, t->in_lanes, t->quick);
  printf("  %d of %d that leave remainders\n", t->loose, t->partial);
  CHECK_I64(t->odd, 0);
  CHECK_I64(t->unlike, 0);
  CHECK(t->loose <= t->partial);
  CHECK(t->in_lanes > t->lanes && t->in_lanes <= t->quick &&
        t->quick - t->in_lanes <= t->quick / 50);
}

int main(void) {
  tally t = {0}, h = {0}, parts = {0};
  for (uint64_t seed = 1; seed <= CASES; seed++)
    check_random(seed, PLAIN, &t);
  static const uint64_t rare[] = {
      4963, 5437}; /* a scope that a port holds up, before a load that hides */
  for (int i = 0; i < 2; i++)
    check_random(rare[i], PLAIN, &t);
  for (uint64_t seed = 1; seed <= HOMES; seed++)
    check_random(seed, AT_HOME, &h);
  check_places(&h);
  report("from the outermost memory", &t);
  for (uint64_t seed = 1; seed <= CASES / 2; seed++)
    check_random(seed, IN_PARTS, &parts);
  report("from inner memories", &h);
  report("in parts of memories", &parts);
  CHECK(t.lanes > CASES / 2 && t.infeasible > t.lanes && t.counted - t.infeasible > t.lanes);
  CHECK(t.loose > CASES && parts.loose > CASES / 2);
  CHECK(parts.lanes > CASES / 4 && parts.infeasible > parts.lanes &&
        parts.counted > parts.infeasible);
  CHECK(h.lanes > HOMES / 10 && h.infeasible > h.lanes && h.counted - h.infeasible > h.lanes);
  return check_report();
}
