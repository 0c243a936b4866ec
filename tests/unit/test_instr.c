/* Instructions: the counts of the thesis's table 5.3, each mapping by its execution, fig. 5.2 and
 * table 5.4. */
#include "tests/unit/case.h"
#include "tileflow/instr.h"

/* ---- what is mapped ------------------------------------------------------------------------- */
#define MMA                                                                                        \
  "instructions:\n"                                                                                \
  "- {name: mma, compute: 'D[i1, i2] += A[i1, r1] * B[r1, i2]', sizes: {i1: 2, i2: 2, r1: 2}}\n"

/* Extents are small and no multiples of 2, so that tiles are padded. */
static const struct {
  int line;
  const char *name;
  int64_t paper, all;
  const char *dims, *expr;
} ops[] = {
    {__LINE__, "GMV", 1, 1, "i: 3, u: 1, k: 5", "O[i,u] += A[i,k] * B[k,u]"},
    {__LINE__, "GMM", 1, 1, "i: 3, j: 5, k: 3", "O[i,j] += A[i,k] * B[k,j]"},
    {__LINE__, "C1D", 6, 9, "n: 2, k: 3, p: 3, c: 2, r: 3", "O[n,k,p] += I[n,c,p+r] * W[k,c,r]"},
    {__LINE__, "C2D", 35, 49, "n: 2, k: 2, p: 3, q: 2, c: 2, r: 2, s: 3",
     "O[n,k,p,q] += I[n,c,p+r,q+s] * W[k,c,r,s]"},
    {__LINE__, "C3D", 180, 225, "n: 2, k: 2, d: 2, p: 2, q: 2, c: 2, t: 2, r: 2, s: 2",
     "O[n,k,d,p,q] += I[n,c,d+t,p+r,q+s] * W[k,c,t,r,s]"},
    {__LINE__, "T2D", 7, 49, "n: 2, k: 2, p: 3, q: 2, c: 2, r: 3, s: 2",
     "O[n,k,p,q] += I[n,c,p+r,q+s] * W[c,k,2-r,1-s]"},
    {__LINE__, "GRP", 35, 49, "n: 2, g: 2, k: 2, p: 3, q: 2, c: 2, r: 2, s: 2",
     "O[n,g,k,p,q] += I[n,g,c,p+r,q+s] * W[g,k,c,r,s]"},
    {__LINE__, "DIL", 35, 49, "n: 2, k: 2, p: 3, q: 2, c: 2, r: 2, s: 2",
     "O[n,k,p,q] += I[n,c,p+2*r,q+2*s] * W[k,c,r,s]"},
    {__LINE__, "DEP", 11, 21, "n: 2, c: 3, k: 2, p: 3, q: 2, r: 2, s: 2",
     "O[n,c,k,p,q] += I[n,c,p+r,q+s] * W[c,k,r,s]"},
    {__LINE__, "CAP", 105, 147, "n: 2, k: 2, p: 2, q: 2, v: 2, c: 2, r: 2, s: 2",
     "O[n,k,p,q,v] += I[n,c,p+r,q+s] * W[k,c,r,s,v]"},
    {__LINE__, "BCV", 11, 21, "n: 2, k: 2, p: 3, q: 2, c: 2, r: 2, s: 2",
     "O[n,k,p,q] += I[n,c,p+r,q+s] * W[n,k,c,r,s]"},
    {__LINE__, "GFC", 1, 1, "n: 3, g: 2, k: 3, c: 5", "O[n,g,k] += I[n,g,c] * W[g,k,c]"},
    {__LINE__, "MEN", 1, 1, "i: 3, u: 1, k: 5", "O[i,u] += A[i,k] * N[k,u]"},
    {__LINE__, "VAR", 1, 1, "i: 3, u: 1, k: 5", "O[i,u] += D[i,k] * N[k,u]"},
    {__LINE__, "SCN", 1, 1, "i: 3, j: 5, k: 5", "O[i,j] += A[i,k] * L[k,j]"},
};
enum { N_OPS = sizeof ops / sizeof *ops, C2D = 3, C3D = 4, T2D = 5, DEP = 8 };

/* The op on the instructions; ends the program where they are wrong. */
static test_case case_instr(const char *instrs, const char *dims, const char *expr) {
  char text[2000];
  snprintf(text, sizeof text, "workload:\n  dims: {%s}\n  ops:\n  - %s\n", dims, expr);
  return case_of(instrs, text);
}

static tf_instr_maps find(const test_case *e, bool paper) {
  tf_instr_maps m;
  if (!CHECK(tf_instr_find(e->spec->workload, 0, e->spec->instrs, paper, &m, e->d)))
    case_complain(e->d);
  return m;
}

/* ---- one mapping executed ------------------------------------------------------------------- */
enum { ROOM = 1 << 13, MOST = 64 };
typedef struct {
  const tf_workload *wl;
  const tf_op *op, *body;
  const tf_instr *in;
  const tf_instr_map *map;
  const tf_instr_place *p;
  int64_t at[MOST];                     /* setting of the op's loops */
  double data[TF_INSTR_OPERANDS][ROOM]; /* the op's tensors */
  double want[ROOM];
  double packed[TF_INSTR_OPERANDS][ROOM]; /* the calls' */
  int owner[TF_INSTR_OPERANDS][ROOM]; /* 1 + which element of the tensor stands there; 0: none */
} run;
static run r; /* one at a time */

/* The element of operand o's tensor that the setting reaches. */
static int64_t element(int o) {
  const tf_tensor *t = &r.wl->tensors[o < r.op->n_reads ? r.op->reads[o].tensor : r.op->out];
  int64_t e = 0;
  for (int x = 0; x < t->rank; x++) {
    int64_t v = 0;
    if (o == r.op->n_reads) v = r.at[x];
    for (int d = 0; o < r.op->n_reads && d < r.op->n_dims; d++)
      for (int k = 0; k < r.op->reads[o].index[x].n_terms; k++)
        if (r.op->reads[o].index[x].terms[k].dim == r.op->dims[d])
          v += r.op->reads[o].index[x].terms[k].coef * r.at[d];
    if (o < r.op->n_reads) v += r.op->reads[o].index[x].c - t->lo[x];
    e = e * t->extent[x] + v;
  }
  return e;
}

/* Where the setting stands in packed operand o: tile number and place in the tile, loop by loop. */
static int64_t place(int o) {
  int64_t a = 0;
  for (int d = 0; d < r.op->n_dims; d++)
    a += r.at[d] * r.p->operand[o].outer_step[d];
  for (int l = 0; l < r.in->n_loops; l++) {
    int64_t v = 0;
    for (int d = 0; d < r.op->n_dims; d++)
      if (r.map->set[l] >> d & 1) v = v * r.wl->dims[r.op->dims[d]].extent + r.at[d];
    a += v / r.in->size[l] * r.p->operand[o].tile_step[l];
    for (int k = 0; k < r.in->operand[o].n_layout; k++) {
      const tf_layout *y = &r.in->operand[o].layout[k];
      int64_t in = v % r.in->size[l];
      if (y->loop == l) a += y->stride * (y->part == TF_LAYOUT_MOD ? in % y->by : in / y->by);
    }
  }
  return a;
}

static bool next(int64_t at[], int n, const int64_t extent[]) {
  for (int d = n - 1; d >= 0; d--) {
    if (++at[d] < extent[d]) return true;
    at[d] = 0;
  }
  return false;
}

/* Two elements in one place, or (of what is made) one in two places: no operand can be packed so.
 */
static bool pack(const int64_t extent[]) {
  static int home[ROOM];
  const int made = r.op->n_reads;
  memset(home, 0, sizeof home);
  memset(r.want, 0, sizeof r.want);
  memset(r.at, 0, sizeof r.at);
  for (int o = 0; o <= made; o++) {
    if (!CHECK(r.p->operand[o].words <= ROOM)) return false;
    memset(r.owner[o], 0, (size_t)r.p->operand[o].words * sizeof **r.owner);
    memset(r.packed[o], 0, (size_t)r.p->operand[o].words * sizeof **r.packed);
  }
  do {
    for (int o = 0; o <= made; o++) {
      int64_t e = element(o), a = place(o);
      if (e >= ROOM || a >= ROOM || a >= r.p->operand[o].words) return CHECK(false);
      if (r.owner[o][a] && r.owner[o][a] != e + 1) return false;
      r.owner[o][a] = (int)e + 1;
      if (o < made) r.packed[o][a] = r.data[o][e];
      if (o < made) continue;
      if (home[e] && home[e] != a + 1) return false;
      home[e] = (int)a + 1;
      r.want[e] += r.data[0][element(0)] * r.data[1][element(1)];
    }
  } while (next(r.at, r.op->n_dims, extent));
  return true;
}

/* The instruction's own loops over one tile of each operand, which begin at base. */
static void call(const int64_t base[]) {
  int64_t at[TF_INSTR_LOOPS] = {0};
  do {
    int64_t a[3];
    for (int o = 0; o < 3; o++) {
      a[o] = base[o];
      for (int k = 0; k < r.in->operand[o].n_layout; k++) {
        const tf_layout *y = &r.in->operand[o].layout[k];
        a[o] += y->stride * (y->part == TF_LAYOUT_MOD ? at[y->loop] % y->by : at[y->loop] / y->by);
      }
    }
    r.packed[2][a[2]] += r.packed[0][a[0]] * r.packed[1][a[1]];
  } while (next(at, r.in->n_loops, r.in->size));
}

/* All calls, in the order of the loops around, then of the tiles; how many there are. */
static int64_t call_all(void) {
  int64_t extent[MOST], at[MOST] = {0}, calls = 0;
  uint64_t mapped = 0;
  const int n = r.op->n_dims;
  for (int l = 0; l < r.in->n_loops; l++)
    mapped |= r.map->set[l], extent[n + l] = r.p->tiles[l];
  for (int d = 0; d < n; d++)
    extent[d] = mapped >> d & 1 ? 1 : r.wl->dims[r.op->dims[d]].extent;
  do {
    int64_t base[3] = {0};
    for (int o = 0; o < 3; o++) {
      for (int d = 0; d < n; d++)
        base[o] += at[d] * r.p->operand[o].outer_step[d];
      for (int l = 0; l < r.in->n_loops; l++)
        base[o] += at[n + l] * r.p->operand[o].tile_step[l];
    }
    call(base);
    calls++;
  } while (next(at, n + r.in->n_loops, extent));
  return calls;
}

/* Whether the calls make what the plain loops make; counts of the library are checked on the way.
 */
static bool computes(const test_case *e, const tf_instr_map *map) {
  tf_instr_place p;
  int64_t extent[MOST];
  r.wl = e->spec->workload;
  r.op = &r.wl->ops[0];
  r.in = e->spec->instrs;
  r.map = map;
  r.p = &p;
  if (!CHECK(tf_instr_place_of(r.wl, 0, r.in, map, (tf_instr_timing){0}, &p, e->d))) return false;
  for (int d = 0; d < r.op->n_dims; d++)
    extent[d] = r.wl->dims[r.op->dims[d]].extent;
  if (!pack(extent)) return false;
  if (call_all() != p.calls) return CHECK(false);
  for (int a = 0; a < p.operand[2].words; a++)
    if (r.owner[2][a] && r.packed[2][a] != r.want[r.owner[2][a] - 1]) return false;
  return true;
}

/* ---- counts ---------------------------------------------------------------------------------- */
static bool same_sets(const tf_instr_map *a, const tf_instr_map *b) {
  return !memcmp(a->set, b->set, sizeof a->set);
}

static bool listed(const tf_instr_maps *m, const tf_instr_map *map) {
  for (int64_t k = 0; k < m->n; k++)
    if (same_sets(&m->maps[k], map)) return true;
  return false;
}

/* Every mapping listed computes the op. */
static void test_executed(void) {
  for (int i = 0; i < N_OPS; i++) {
    test_case e = case_instr(MMA, ops[i].dims, ops[i].expr);
    tf_instr_maps m = find(&e, false), paper = find(&e, true);
    CHECK_ROW_I64(&ops[i], m.n, ops[i].all);
    CHECK_ROW_I64(&ops[i], paper.n, ops[i].paper);
    for (int64_t k = 0; k < m.n; k++)
      CHECK_ROW(&ops[i], computes(&e, &m.maps[k]));
    for (int64_t k = 0; k < paper.n; k++)
      CHECK_ROW(&ops[i], paper.maps[k].executable && listed(&m, &paper.maps[k]));
    tf_instr_maps_free(&m);
    tf_instr_maps_free(&paper);
    case_drop(&e);
  }
}

/* Every assignment of loops to a loop of the instruction, or to none: those that execute right are
 * those listed. */
static void test_all_assignments(const char *instrs, const char *dims, const char *expr,
                                 int64_t want) {
  test_case e = case_instr(instrs, dims, expr);
  tf_instr_maps m = find(&e, false);
  const int n = e.spec->workload->ops[0].n_dims, loops = e.spec->instrs->n_loops;
  int64_t found = 0, extent[MOST], to[MOST] = {0};
  for (int d = 0; d < n; d++)
    extent[d] = loops + 1;
  do {
    tf_instr_map map = {.executable = true};
    bool all = true;
    for (int d = 0; d < n; d++)
      if (to[d] < loops) map.set[to[d]] |= 1ull << d;
    for (int l = 0; l < loops; l++)
      all = all && map.set[l];
    if (!all) continue;
    bool right = computes(&e, &map);
    found += right;
    CHECK(right == listed(&m, &map));
  } while (next(to, n, extent));
  CHECK_I64(found, want);
  tf_instr_maps_free(&m);
  case_drop(&e);
}

/* ---- the thesis's count by closing the one-loop matches under union ------------------------- */
/* Picks that leave of each operand what the matrix product has: written for it alone. */
static bool plain_match(const tf_op *op, const tf_workload *wl, const int pick[3]) {
  static const int want[3][3] = {
      {1, 0, 1}, {0, 1, 1}, {1, 1, 0}}; /* image, weight, made by i1, i2, r1 */
  for (int o = 0; o < 2; o++) {
    int seen[3] = {0};
    for (int x = 0; x < wl->tensors[op->reads[o].tensor].rank; x++) {
      int here = 0;
      for (int l = 0; l < 3; l++)
        for (int k = 0; k < op->reads[o].index[x].n_terms; k++)
          if (op->reads[o].index[x].terms[k].dim == op->dims[pick[l]]) {
            if (op->reads[o].index[x].terms[k].coef < 0) return false;
            here++;
            seen[l]++;
          }
      if (here > 1) return false;
    }
    for (int l = 0; l < 3; l++)
      if (seen[l] != want[o][l]) return false;
  }
  return pick[0] < op->n_out_dims && pick[1] < op->n_out_dims && pick[2] >= op->n_out_dims &&
         pick[0] != pick[1];
}

static void test_unions(void) {
  enum { MAPS = 1024 };
  static uint64_t set[MAPS][3];
  for (int i = 0; i < N_OPS; i++) {
    test_case e = case_instr(MMA, ops[i].dims, ops[i].expr);
    const tf_workload *wl = e.spec->workload;
    const tf_op *op = &wl->ops[0];
    int n = 0, atoms;
    for (int v = 0; v < op->n_dims * op->n_dims * op->n_dims; v++) {
      int pick[3] = {v / op->n_dims / op->n_dims, v / op->n_dims % op->n_dims, v % op->n_dims};
      if (!plain_match(op, wl, pick)) continue;
      for (int l = 0; l < 3; l++)
        set[n][l] = 1ull << pick[l];
      n++;
    }
    atoms = n;
    for (int a = 0; a < n; a++)
      for (int b = 0; b < atoms; b++) {
        bool known = false;
        for (int l = 0; l < 3; l++)
          set[n][l] = set[a][l] | set[b][l];
        for (int k = 0; k < n && !known; k++)
          known = !memcmp(set[k], set[n], sizeof set[n]);
        n += !known;
      }
    CHECK_ROW_I64(&ops[i], n, ops[i].paper);
    case_drop(&e);
  }
}

/* ---- other instructions: 5.7.4, and those of CPUs ------------------------------------------- */
#define ONE(compute, sizes)                                                                        \
  "instructions:\n- {name: x, compute: '" compute "', sizes: {" sizes "}}\n"
#define GEMV ONE("D[i] += A[r] * B[i, r]", "i: 2, r: 2")
#define DOT ONE("D[] += A[r] * B[r]", "r: 2")
#define CONV ONE("D[x, y, z] += A[c, y, z] * B[x, c]", "x: 4, y: 4, z: 4, c: 4")

static void test_others(void) {
  static const struct {
    int line;
    const char *instrs;
    int op;
    int64_t paper, all;
  } rows[] = {
      {__LINE__, ONE("D[i] += A[i] * B[]", "i: 2"), C3D, 15, 15},
      {__LINE__, GEMV, C2D, 7, 7}, /* the thesis says 7 of C3D, which has 15 */
      {__LINE__, GEMV, C3D, 15, 15},
      {__LINE__, GEMV, DEP, 3, 3},
      {__LINE__, DOT, C2D, 7, 7},
      {__LINE__, DOT, C3D, 15, 15},
      {__LINE__, DOT, DEP, 3, 3},
      {__LINE__, CONV, C3D, 31, 750}, /* more than 15 matches: each alone, and all together */
      {__LINE__, ONE("D[i] max= A[i] * B[i]", "i: 2"), C2D, 0, 0},
      {__LINE__, ONE("D[i] += A[i] + B[i]", "i: 2"), C2D, 0, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    test_case e = case_instr(rows[i].instrs, ops[rows[i].op].dims, ops[rows[i].op].expr);
    tf_instr_maps m = find(&e, false), paper = find(&e, true);
    CHECK_ROW_I64(&rows[i], m.n, rows[i].all);
    CHECK_ROW_I64(&rows[i], paper.n, rows[i].paper);
    tf_instr_maps_free(&m);
    tf_instr_maps_free(&paper);
    case_drop(&e);
  }
}

/* An instruction that slides over its operand: Algorithm 4 knows operands, not elements, and would
 * let all through. */
#define SLIDE ONE("D[x] += A[x + y] * B[y]", "x: 2, y: 3")

static void test_assignments(void) {
  for (int i = 0; i <= T2D; i++)
    if (i != C3D) test_all_assignments(MMA, ops[i].dims, ops[i].expr, ops[i].all);
  test_all_assignments(GEMV, ops[C2D].dims, ops[C2D].expr, 7);
  test_all_assignments(SLIDE, "p: 5, r: 3", "O[p] += I[p+r] * W[r]", 1);
  test_all_assignments(SLIDE, "p: 5, r: 3", "O[p] += I[2*p+2*r] * W[r]", 1);
  test_all_assignments(SLIDE, "p: 5, r: 3", "O[p] += I[2*p+r] * W[r]", 0);
  test_all_assignments(SLIDE, "p: 5, q: 4, r: 3, s: 3", "O[p,q] += I[p+r,q+s] * W[r,s]", 5);
  test_all_assignments(ONE("D[x] += A[2*x + y] * B[y]", "x: 2, y: 3"), "p: 5, r: 3",
                       "O[p] += I[2*p+r] * W[r]", 1);
  test_all_assignments("instructions:\n- name: amx\n  compute: D[i, j] += A[i, r] * B[r, j]\n"
                       "  sizes: {i: 2, j: 3, r: 4}\n  operands: {B: {layout: [r/2, j, r%2]}}\n",
                       "n: 2, k: 4, p: 3, c: 2, r: 3", "O[n,k,p] += I[n,c,p+r] * W[k,c,r]", 9);
}

/* ---- figure 5.2 and table 5.4 --------------------------------------------------------------- */
/* The mapping of these names, by loop of the instruction: "npq", "k", "crs". */
static tf_instr_map map_of(const tf_workload *wl, const char *const names[], int n) {
  tf_instr_map map = {.executable = true};
  for (int l = 0; l < n; l++)
    for (int d = 0; d < wl->ops[0].n_dims; d++)
      if (strchr(names[l], wl->dims[wl->ops[0].dims[d]].name[0])) map.set[l] |= 1ull << d;
  return map;
}

static void test_figure(void) {
  static const char *const names[] = {"npq", "k", "crs"};
  test_case e = case_instr(MMA, "n: 1, k: 4, p: 2, q: 2, c: 1, r: 3, s: 3", ops[C2D].expr);
  tf_instr_map map = map_of(e.spec->workload, names, 3);
  tf_instr_place p;
  CHECK(
      tf_instr_place_of(e.spec->workload, 0, e.spec->instrs, &map, (tf_instr_timing){0}, &p, e.d));
  static const int64_t extent[] = {4, 4, 9}, tiles[] = {2, 2, 5}, words[] = {40, 40, 16};
  static const int64_t step[3][3] = {
      {20, 0, 4}, {0, 4, 8}, {8, 4, 0}}; /* image, weight, output by i1, i2, r1 */
  for (int l = 0; l < 3; l++) {
    CHECK_I64(p.extent[l], extent[l]);
    CHECK_I64(p.tiles[l], tiles[l]);
    CHECK_I64(p.operand[l].words, words[l]);
    for (int o = 0; o < 3; o++)
      CHECK_I64(p.operand[o].tile_step[l], step[o][l]);
    const tf_operand *x = &e.spec->instrs->operand[l];
    CHECK_I64(x->words, 4);
    CHECK_I64(x->n_layout, 2);
    CHECK_I64(x->layout[1].stride, 2); /* that of the rows: the last index stands first */
  }
  CHECK_I64(p.calls, 20);
  CHECK_NEAR(p.utilization, 0.9, 1e-12);
  CHECK(computes(&e, &map));
  case_drop(&e);
}

static void test_layers(void) {
  static const struct {
    int line, c, k, p, r;
    const char *i1, *r1;
    int64_t calls, fewest;
    double used;
  } rows[] = {
      {__LINE__, 3, 64, 112, 7, "nq", "crs", 501760, 501760, 0.9187},
      {__LINE__, 64, 64, 56, 3, "nq", "cr", 451584, 451584, 1},
      {__LINE__, 64, 64, 56, 1, "pq", "c", 50176, 50176, 1},
      {__LINE__, 64, 128, 28, 3, "npq", "cs", 225792, 225792, 1},
      {__LINE__, 64, 128, 28, 1, "pq", "c", 25088, 25088, 1},
      {__LINE__, 128, 128, 28, 3, "pq", "c", 451584, 451584, 1},
      {__LINE__, 128, 256, 14, 3, "n", "cs", 225792, 225792, 1},
      {__LINE__, 128, 256, 14, 1, "npq", "c", 25088, 25088, 1},
      {__LINE__, 256, 256, 14, 3, "pq", "c", 479232, 451584, 0.9423},
      {__LINE__, 256, 512, 7, 3, "npq", "crs", 225792, 225792, 1},
      {__LINE__, 256, 512, 7, 1, "npq", "c", 25088, 25088, 1},
      {__LINE__, 512, 512, 7, 3, "n", "crs", 451584, 451584, 1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char dims[120];
    snprintf(dims, sizeof dims, "n: 16, k: %d, p: %d, q: %d, c: %d, r: %d, s: %d", rows[i].k,
             rows[i].p, rows[i].p, rows[i].c, rows[i].r, rows[i].r);
    test_case e = case_instr(ONE("D[i1, i2] += A[i1, r1] * B[r1, i2]", "i1: 16, i2: 16, r1: 16"),
                             dims, ops[C2D].expr);
    const char *names[] = {rows[i].i1, "k", rows[i].r1};
    tf_instr_map map = map_of(e.spec->workload, names, 3);
    tf_instr_maps m = find(&e, true);
    tf_instr_place p;
    int64_t fewest = INT64_MAX;
    CHECK_ROW(&rows[i], listed(&m, &map));
    CHECK_ROW(&rows[i], tf_instr_place_of(e.spec->workload, 0, e.spec->instrs, &map,
                                          (tf_instr_timing){0}, &p, e.d));
    CHECK_ROW_I64(&rows[i], p.calls, rows[i].calls);
    CHECK_ROW(&rows[i], fabs(p.utilization - rows[i].used) < 5e-5);
    CHECK_ROW_I64(&rows[i], m.effective, rows[i].r == 1 ? 7 : 35);
    for (int64_t k = 0; k < m.n; k++)
      if (tf_instr_place_of(e.spec->workload, 0, e.spec->instrs, &m.maps[k], (tf_instr_timing){0},
                            &p, e.d) &&
          p.calls < fewest)
        fewest = p.calls;
    CHECK_ROW_I64(&rows[i], fewest, rows[i].fewest);
    tf_instr_maps_free(&m);
    case_drop(&e);
  }
}

int main(void) {
  for (int o = 0; o < 2; o++)
    for (unsigned k = 0; k < ROOM; k++)
      r.data[o][k] = 1 + (k * 2654435761u >> (7 + o)) % 13;
  test_unions();
  test_executed();
  test_assignments();
  test_others();
  test_figure();
  test_layers();
  return check_report();
}
