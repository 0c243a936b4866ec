/* Lines and banks (docs/SEMANTICS.md section 9): sums over places against every place by itself,
 * and figures found by hand.  The oracle holds whole mappings (oracle_test --lines). */
#include "base/rng.h"
#include "model/eval/hooks.h"
#include "model/layout/sum.h"
#include "tests/unit/case.h"
#include "tileflow/best.h"
#include "tileflow/search.h"

/* ---- sums over places ----------------------------------------------------------------------- */

static int pick(tf_rng *g, int lo, int hi) {
  return lo + (int)tf_rng_below(g, (uint32_t)(hi - lo + 1));
}

enum { MOST_LINES = 1 << 12, RANKS = 3 };

/* A memory and a tensor in it: how it lies, its room. */
typedef struct {
  tf_memory mem;
  tf_tensor z;
  tf_laid laid;
  tf_laid_part parts[2 * RANKS];
  int64_t room[RANKS];
  tf_elements elements;
  int64_t points[8 * RANKS];
  int n_loops;
  tf_place_loop loops[3];
  int64_t at[RANKS];
} drawn;

static void draw_layout(tf_rng *g, drawn *c) {
  int n = 0;
  for (int r = 0; r < c->z.rank; r++) {
    const int64_t by = pick(g, 1, 5);
    const bool cut = !pick(g, 0, 2);
    if (cut) c->parts[n++] = (tf_laid_part){r, TF_LAYOUT_DIV, by};
    c->parts[n++] = (tf_laid_part){r, cut ? TF_LAYOUT_MOD : TF_LAYOUT_WHOLE, cut ? by : 1};
  }
  for (int i = n - 1; i > 0; i--) {
    const int k = pick(g, 0, i);
    const tf_laid_part swap = c->parts[i];
    c->parts[i] = c->parts[k];
    c->parts[k] = swap;
  }
  c->laid = (tf_laid){.tensor = {.name = "A"}, .n = n, .parts = c->parts};
  c->mem.laid = (tf_laids){pick(g, 0, 3) > 0, &c->laid};
}

static void draw(tf_rng *g, drawn *c) {
  memset(c, 0, sizeof *c);
  c->mem = (tf_memory){
      .line = pick(g, 1, 9), .banks = pick(g, 1, 5), .bank_ports = pick(g, 1, 2), .word_bits = 8};
  c->z = (tf_tensor){
      .name = "A", .rank = pick(g, 1, RANKS), .word_bits = pick(g, 0, 2) ? 8 : pick(g, 3, 20)};
  const bool points = !pick(g, 0, 3);
  c->elements = (tf_elements){.lacks = !points && !pick(g, 0, 2),
                              .n_points = points ? pick(g, 1, 8) : 0,
                              .points = c->points};
  for (int r = 0; r < c->z.rank; r++) {
    c->room[r] = pick(g, 1, 9);
    c->at[r] = pick(g, -9, 12);
    c->elements.len[r] = pick(g, 1, (int)c->room[r]);
    c->elements.gap_lo[r] = pick(g, 0, (int)c->elements.len[r] - 1);
    c->elements.gap_len[r] = pick(g, 1, (int)(c->elements.len[r] - c->elements.gap_lo[r]));
  }
  for (int i = 0; i < c->elements.n_points * c->z.rank; i++)
    c->points[i] = pick(g, 0, (int)c->room[i % c->z.rank] - 1);
  c->n_loops = pick(g, 0, 3);
  for (int k = 0; k < c->n_loops; k++) {
    c->loops[k] = (tf_place_loop){.from = pick(g, 0, 1), .n = pick(g, 1, 9)};
    for (int r = 0; r < c->z.rank; r++)
      c->loops[k].by[r] = !pick(g, 0, 1)  ? 0
                          : pick(g, 0, 3) ? c->room[r] * pick(g, 0, 1) + pick(g, 0, 5)
                                          : pick(g, -9, 9);
  }
  draw_layout(g, c);
}

/* The address of an element, digit by digit. */
static int64_t address(const drawn *c, const int64_t *y) {
  int64_t at = 0;
  for (int k = 0; k < (c->mem.laid.n ? c->laid.n : c->z.rank); k++) {
    const tf_laid_part p = c->mem.laid.n ? c->parts[k] : (tf_laid_part){k, TF_LAYOUT_WHOLE, 1};
    const int64_t all = c->room[p.rank];
    if (p.part == TF_LAYOUT_WHOLE) at = at * all + y[p.rank];
    if (p.part == TF_LAYOUT_DIV) at = at * ((all + p.by - 1) / p.by) + y[p.rank] / p.by;
    if (p.part == TF_LAYOUT_MOD) at = at * (p.by < all ? p.by : all) + y[p.rank] % p.by;
  }
  return at;
}

static void mark(const drawn *c, const int64_t *e, const int64_t *moved, unsigned char *line) {
  int64_t y[RANKS];
  for (int r = 0; r < c->z.rank; r++)
    y[r] = ((c->at[r] + moved[r] + e[r]) % c->room[r] + c->room[r]) % c->room[r];
  const int64_t first = address(c, y) * c->z.word_bits;
  for (int64_t b = first; b < first + c->z.word_bits; b++)
    line[b / (c->mem.line * 8)] = 1;
}

static bool in_gap(const drawn *c, const int64_t *e) {
  bool in = c->elements.lacks;
  for (int r = 0; r < c->z.rank; r++)
    in = in && e[r] >= c->elements.gap_lo[r] &&
         e[r] < c->elements.gap_lo[r] + c->elements.gap_len[r];
  return in;
}

static tf_touched touch_one(const drawn *c, const int64_t *moved) {
  static unsigned char line[MOST_LINES];
  tf_touched t = {0, 0};
  int64_t e[RANKS] = {0}, bank[8] = {0}, most = 0;
  memset(line, 0, sizeof line);
  for (int i = 0; i < c->elements.n_points; i++)
    mark(c, &c->points[i * c->z.rank], moved, line);
  for (bool more = !c->elements.n_points; more;) {
    if (!in_gap(c, e)) mark(c, e, moved, line);
    more = false;
    for (int r = 0; r < c->z.rank && !more; r++) {
      more = ++e[r] < c->elements.len[r];
      if (!more) e[r] = 0;
    }
  }
  for (int k = 0; k < MOST_LINES; k++) {
    t.lines += line[k];
    bank[k % c->mem.banks] += line[k];
  }
  for (int b = 0; b < 8; b++)
    most = bank[b] > most ? bank[b] : most;
  t.cycles = (most + c->mem.bank_ports - 1) / c->mem.bank_ports;
  return t;
}

/* All settings of all loops, one by one. */
static tf_touched touch_all(const drawn *c) {
  tf_touched sum = {0, 0};
  int64_t i[3] = {0};
  for (bool more = true; more;) {
    int64_t moved[RANKS] = {0};
    for (int k = 0; k < c->n_loops; k++)
      for (int r = 0; r < c->z.rank; r++)
        moved[r] += c->loops[k].by[r] * (c->loops[k].from + i[k]);
    const tf_touched t = touch_one(c, moved);
    sum.lines += t.lines;
    sum.cycles += t.cycles;
    more = false;
    for (int k = 0; k < c->n_loops && !more; k++) {
      more = ++i[k] < c->loops[k].n;
      if (!more) i[k] = 0;
    }
  }
  return sum;
}

static void check_sums(void) {
  tf_rng g = tf_rng_new(5, 9);
  tf_line_set set = {.n = 0};
  int differ = 0;
  for (int k = 0; k < 2000; k++) {
    static drawn c;
    tf_places p;
    tf_touched sum;
    draw(&g, &c);
    CHECK(tf_places_make(&c.mem, &c.z, c.room, &p));
    CHECK(tf_touched_sum(&p, c.at, &c.elements, c.loops, c.n_loops, &set, &sum));
    const tf_touched told = touch_all(&c);
    differ += sum.lines != told.lines || sum.cycles != told.cycles;
  }
  CHECK_I64(differ, 0);
  tf_line_set_free(&set);
}

/* Boxes of more rows than after which lines and banks repeat. */
static void check_long(void) {
  tf_rng g = tf_rng_new(6, 9);
  tf_line_set set = {.n = 0};
  int differ = 0;
  for (int k = 0; k < 2000; k++) {
    static drawn c;
    const int64_t none[RANKS] = {0};
    tf_places p;
    do
      draw(&g, &c);
    while (c.z.rank > 2 || c.elements.n_points);
    for (int r = 0; r < c.z.rank; r++) {
      c.room[r] = pick(&g, 1, c.z.rank == 1 ? 1500 : 38);
      c.at[r] = pick(&g, 0, (int)c.room[r] - 1);
      c.elements.len[r] = pick(&g, 1, (int)c.room[r]);
      c.elements.gap_lo[r] = pick(&g, 0, (int)c.elements.len[r] - 1);
      c.elements.gap_len[r] = pick(&g, 1, (int)(c.elements.len[r] - c.elements.gap_lo[r]));
    }
    CHECK(tf_places_make(&c.mem, &c.z, c.room, &p));
    const tf_touched told = touch_one(&c, none),
                     sum = tf_touched_by(&p, c.at, 0, &c.elements, &set);
    differ += sum.lines != told.lines || sum.cycles != told.cycles;
  }
  CHECK_I64(differ, 0);
  tf_line_set_free(&set);
}

/* Extents that nobody could walk. */
static void check_large(void) {
  const tf_memory mem = {.line = 64, .banks = 16, .bank_ports = 1, .word_bits = 16};
  const tf_tensor z = {.name = "A", .rank = 2, .word_bits = 16};
  const int64_t room[2] = {1 << 20, 1 << 20}, at[2] = {0, 0};
  const tf_elements tile = {.len = {32, 48}};
  const tf_place_loop loops[2] = {{0, 1 << 15, {32, 0}}, {0, 21845, {0, 48}}};
  tf_line_set set = {.n = 0};
  tf_places p;
  tf_touched sum;
  CHECK(tf_places_make(&mem, &z, room, &p));
  CHECK(tf_touched_sum(&p, at, &tile, loops, 2, &set, &sum));
  /* a row of 48 words begins at 0, 48, 32 or 16 of a line: 1, 2, 2, 1 lines; the last of 21845 rows
   * at 0 */
  CHECK_I64(sum.lines, INT64_C(32) * (1 << 15) * (21844 / 4 * 6 + 1));
  tf_line_set_free(&set);
}

/* ---- figures found by hand ------------------------------------------------------------------ */

/* Eight units read a column of A (of 8 words a row, lines of 4 in 4 banks): eight lines, all in the
 * banks 0 and 2. */
static const char by_hand[] =
    "architecture:\n"
    "  memories: [{name: D, energy: 1 pJ}, {name: B, energy: 1 pJ, line: 4, banks: 4}]\n"
    "  compute: [{name: u, ops: [mac], mesh: [8, 1], energy: 0 pJ}]\n"
    "workload:\n"
    "  dims: {m: 8, k: 8}\n"
    "  ops: ['C[m] += A[m,k] * X[k]']\n"
    "%smapping: |\n"
    "  D\n"
    "    B for k=8 spatial m=8@x\n"
    "      op C\n";

static void check_by_hand(const char *layout, int64_t read, double cycles) {
  char text[2000];
  snprintf(text, sizeof text, by_hand, layout);
  test_case c = {.d = tf_diags_new()};
  c.spec = case_spec(text, c.d);
  case_prepare(&c);
  case_evaluate(&c);
  CHECK(c.ok && c.r.lines);
  if (c.ok && c.r.lines) {
    const tf_workload *wl = c.spec->workload;
    int a = 0;
    while (strcmp(wl->tensors[a].name, "A") != 0)
      a++;
    CHECK_I64(c.r.lines->counts[wl->n_tensors + a].read, read);
    CHECK_I64(c.r.lines->counts[wl->n_tensors + a].fill, 16);
    CHECK(c.r.lines->cycles[1] == cycles);
  }
  case_drop(&c);
}

/* ---- closed form and walk ------------------------------------------------------------------- */

/* Trip counts that leave a remainder, in time and over instances; a padded window, of which units
 * take two rows at once; a chain whose first product's tiles are partial, without a reducing
 * network. */
static const char uneven[] =
    "architecture:\n"
    "  memories:\n"
    "  - {name: D, line: 24}\n"
    "  - {name: B, line: 8, banks: 6, bank-ports: 2, mesh: [2, 2]}\n"
    "  compute: [{name: u, ops: [mac], mesh: [4, 4], network: {multicast: false}}]\n"
    "workload:\n"
    "  dims: {k: 7, c: 11, p: 29, q: 23, r: 3, s: 3}\n"
    "  ops: ['O[k,p,q] += I[c,2*p+r,q+s] * W[k,c,r,s]']\n"
    "%smapping: |\n"
    "  D for p=8 k=1 q=2 c=2 spatial q=2@x k=2@y\n"
    "    B for p=2 q=6 r=3 c=3 spatial k=4@x p=2@y\n"
    "      B for s=3 spatial c=2@y\n"
    "        op O\n";
static const char padded[] = "architecture:\n"
                             "  memories:\n"
                             "  - {name: D, line: 24}\n"
                             "  - {name: B, line: 8, banks: 3, mesh: [2, 1]}\n"
                             "  compute: [{name: u, ops: [mac], mesh: [2, 1]}]\n"
                             "workload:\n"
                             "  dims: {k: 5, c: 3, p: 19, q: 17, r: 3, s: 3}\n"
                             "  tensors: {I: {pad: [0, 1, 1]}}\n"
                             "  ops: ['O[k,p,q] += I[c,p+r-1,q+s-1] * W[k,c,r,s]']\n"
                             "%smapping: |\n"
                             "  D for p=5 k=5 spatial q=2@x\n"
                             "    B for c=3 p=2 r=3 q=9 spatial p=2@x\n"
                             "      B for s=3\n"
                             "        op O\n";
static const char chain[] =
    "architecture:\n"
    "  memories: [{name: D, line: 16}, {name: B, line: 7, banks: 2, mesh: [2, 1]}]\n"
    "  compute: [{name: u, ops: [mac], mesh: [3, 2], network: {reduce: false}}]\n"
    "workload:\n"
    "  dims: {k: 7, c: 11, l: 13, m: 29}\n"
    "  ops: ['T[m,l] += I[m,c] * V[c,l]', 'O[m,k] += T[m,l] * W[l,k]']\n"
    "%smapping: |\n"
    "  D for m=3 spatial m=2@x\n"
    "    B for m=2\n"
    "      Shar\n"
    "        B for l=13 m=3 c=4 spatial c=3@x\n"
    "          op T\n"
    "        B for l=7 m=3 k=3 spatial k=3@x l=2@y\n"
    "          op O\n";

/* More than the oracle walks: a window that slides over instances, and rings in which it lies. */
static const char *const layouts[] = {
    "", "layout: {D: {I: [1/4, 0, 2, 1%4]}, B: {W: [3, 2, 1, 0], I: [1, 2, 0]}}\n",
    "layout: {D: {O: [2, 0/8, 1, 0%8]}, B: {O: [2, 1, 0], I: [2, 0, 1/3, 1%3]}}\n"};
static const char window[] =
    "architecture:\n"
    "  memories:\n"
    "  - {name: D, line: 24}\n"
    "  - {name: B, line: 8, banks: 6, bank-ports: 2, mesh: [2, 2]}\n"
    "  compute: [{name: u, ops: [mac], mesh: [4, 4], network: {multicast: false}}]\n"
    "workload:\n"
    "  dims: {k: 8, c: 8, p: 8, q: 6, r: 3, s: 3}\n"
    "  ops: ['O[k,p,q] += I[c,2*p+r,q+s] * W[k,c,r,s]']\n"
    "%smapping: |\n"
    "  D for p=2 k=1 q=1 c=2 spatial q=2@x k=2@y\n"
    "    B for p=2 q=3 r=3 c=2 spatial k=4@x p=2@y\n"
    "      B for s=3 spatial c=2@y\n"
    "        op O\n";

static void check_walk(const char *mapping, const char *layout) {
  char text[2000];
  snprintf(text, sizeof text, mapping, layout);
  test_case sums = {.d = tf_diags_new()}, walk = {.d = tf_diags_new()};
  case_read(&sums, text);
  case_read(&walk, text);
  if (!sums.model) case_complain(sums.d);
  if (walk.model) tf_model_to_walk(walk.model);
  CHECK(case_evaluate(&sums) && case_evaluate(&walk) && tf_model_quick(sums.model) &&
        !tf_model_quick(walk.model));
  for (int i = 0; sums.ok && walk.ok && i < 2 * sums.spec->workload->n_tensors; i++)
    CHECK(!memcmp(&sums.r.lines->counts[i], &walk.r.lines->counts[i],
                  sizeof sums.r.lines->counts[i]));
  for (int l = 0; sums.ok && walk.ok && l < 2; l++)
    CHECK_NEAR(sums.r.lines->cycles[l], walk.r.lines->cycles[l], 1e-9);
  case_drop(&sums);
  case_drop(&walk);
}

/* Of the same product the layout is found: A by columns. */
static void check_found(void) {
  char text[2000];
  snprintf(text, sizeof text, by_hand, "");
  test_case c = {.d = tf_diags_new()};
  case_read(&c, text);
  case_evaluate(&c);
  tf_layouts_result *r = c.ok ? tf_layouts_best(c.tree, TF_LATENCY, c.d) : NULL;
  CHECK(r != NULL);
  if (r) {
    CHECK_NEAR(r->value, 24, 1e-9);
    CHECK_I64(r->arch->memories[1].laid.n, 1);
    const tf_laid *l = r->arch->memories[1].laid.list;
    CHECK_TEXT(l->tensor.name, "A");
    CHECK(l->n == 2 && l->parts[0].rank == 1 && l->parts[1].rank == 0 &&
          l->parts[1].part == TF_LAYOUT_WHOLE);
    CHECK_I64(c.spec->arch->memories[1].laid.n, 0); /* the machine stays as it was */
  }
  tf_layouts_free(r);
  case_drop(&c);
}

/* Odd lengths, two banks: found together, mapping and layouts take less than the layouts of a
 * mapping given, and no more than the least that the units allow; the machine stays as it was. */
static void check_together(void) {
  static const char text[] = "architecture:\n"
                             "  memories:\n"
                             "  - {name: D, bandwidth: 8, energy: 100 pJ, line: 32}\n"
                             "  - {name: B, capacity: 1024, bandwidth: {read: 16, write: 16}, "
                             "energy: 1 pJ, line: 8, banks: "
                             "2}\n"
                             "  compute: [{name: u, ops: [mac], mesh: [4, 1], energy: 0.5 pJ}]\n"
                             "workload:\n"
                             "  dims: {m: 10, n: 14, k: 14}\n"
                             "  ops: ['C[m,n] += A[m,k] * B[k,n]']\n"
                             "mapping: |\n"
                             "  D for m=3 n=14\n"
                             "    B for k=14 spatial m=4@x\n"
                             "      op C\n";
  test_case c = {.d = tf_diags_new()};
  case_read(&c, text);
  case_evaluate(&c);
  const tf_layouts_opts o = {.objective = TF_LATENCY,
                             .budget = {.max_evals = 3000, .seed = 1, .threads = 1}};
  tf_layouts_result *alone = c.ok ? tf_layouts_best(c.tree, TF_LATENCY, c.d) : NULL,
                    *both = c.ok ? tf_layouts_search(c.tree, &o, c.d) : NULL;
  CHECK(alone && both);
  if (alone && both) {
    CHECK(both->value < 0.8 * alone->value && both->value >= 10.0 * 14 * 14 / 4);
    CHECK(both->evals <= 3000 + alone->evals && both->tree->arch == both->arch);
    /* what it says of itself: by a search, from the value of the mapping given as tensors lay */
    CHECK(both->method && !strcmp(both->method, tf_search_strategy(0, NULL)));
    CHECK_NEAR(both->before, c.r.cycles, 1e-9);
    CHECK(both->stopped_by == TF_STOP_BUDGET && both->seconds >= 0);
    CHECK(!alone->method && alone->before == both->before && alone->value <= alone->before);
    CHECK_I64(c.spec->arch->memories[1].laid.n, 0);
    tf_model *m = tf_model_new(both->tree, c.d); /* its value is that of its own tree */
    tf_result r;
    CHECK(m && tf_model_eval(m, NULL, &r) && r.feasible);
    CHECK_NEAR(r.cycles, both->value, 1e-9);
    tf_model_free(m);
  }
  tf_layouts_free(alone);
  tf_layouts_free(both);
  case_drop(&c);
}

static bool stop_now(void *ctx) {
  ++*(int *)ctx;
  return true;
}

/* Told to stop it lays out nothing, and says why; with few evaluations it lays out what it begins
 * with and no other. */
static void check_ended(void) {
  char text[2000];
  snprintf(text, sizeof text, by_hand, "");
  test_case c = {.d = tf_diags_new()};
  case_read(&c, text);
  case_evaluate(&c);
  int asked = 0;
  tf_layouts_opts o = {.objective = TF_LATENCY,
                       .budget = {.max_evals = 3000, .stop = stop_now, .ctx = &asked}};
  tf_layouts_result *none = c.ok ? tf_layouts_search(c.tree, &o, c.d) : NULL;
  o.budget = (tf_budget){.max_evals = 1};
  tf_layouts_result *few = c.ok ? tf_layouts_search(c.tree, &o, c.d) : NULL;
  if (CHECK(none && few)) {
    CHECK(none->evals == 1 && none->stopped_by == TF_STOP_INTERRUPT && asked > 0);
    CHECK(none->value == c.r.cycles && none->before == none->value && !none->method);
    CHECK(few->stopped_by == TF_STOP_BUDGET && !few->method && few->before == none->value);
    CHECK_NEAR(few->value, 24, 1e-9);
  }
  tf_layouts_free(none);
  tf_layouts_free(few);
  case_drop(&c);
}

int main(void) {
  check_sums();
  check_long();
  check_large();
  /* A: 8 lines a step by rows, 4 in a bank; 2 lines by columns, each in a bank of its own.  X: a
   * line a step.  C: two lines, read (but for the first step) and drained once, updated 8 times. No
   * bandwidth: reads and writes apart */
  check_by_hand("", 64, 8 * 4 + 8 + 7 + 1);
  check_by_hand("layout: {B: {A: [k, m]}}\n", 16, 8 + 8 + 7 + 1);
  check_found();
  check_together();
  check_ended();
  for (int i = 0; i < 3; i++)
    check_walk(window, layouts[i]), check_walk(uneven, layouts[i]), check_walk(padded, layouts[i]);
  check_walk(chain, "");
  check_walk(chain, "layout: {B: {T: [1, 0/3, 0%3], I: [1, 0]}, D: {O: [1, 0]}}\n");
  return check_report();
}
