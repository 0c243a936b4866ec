/* Hints: what they say of a kernel against its blocks, gone through one by one; and the order in
 * which Triton's, Helion's and CUTLASS's own formulas take blocks, given these parameters, against
 * the order in which the kernel does.
 */
#include <inttypes.h>

#include "base/rng.h"
#include "codegen/backend/hints/hints.h"
#include "codegen/backend/target.h"
#include "model/yaml/node.h"
#include "tests/unit/case.h"
#include "tileflow/planner.h"

enum { CASES = 24, MOST = 1024 };

/* ---- a kernel's blocks, from its lets ------------------------------------------------------- */

typedef struct {
  const ir_program *p;
  int64_t value[4096];
} numbers;

static int64_t of(const numbers *v, ir_atom a) { return (a.var < 0 ? 0 : v->value[a.var]) + a.off; }

static void let(numbers *v, const ir_stmt *s) {
  const ir_expr *e = &s->let.expr;
  int64_t sum = 0;
  for (int i = 0; i < e->n && e->fn == IR_SUM; i++)
    sum += e->coef[i] * of(v, e->arg[i]);
  if (e->fn == IR_DIV) sum = of(v, e->arg[0]) / of(v, e->arg[1]);
  if (e->fn == IR_MOD) sum = of(v, e->arg[0]) % of(v, e->arg[1]);
  if (e->fn == IR_MIN)
    sum = of(v, e->arg[0]) < of(v, e->arg[1]) ? of(v, e->arg[0]) : of(v, e->arg[1]);
  v->value[s->let.var] = sum;
}

/* Lets in front of the product in the first step of every loop. */
static bool go(numbers *v, const ir_body *b, const ir_stmt *to) {
  for (int i = 0; i < b->n; i++) {
    if (b->s[i] == to) return true;
    if (b->s[i]->kind == IR_LET) let(v, b->s[i]);
    if (go(v, &b->s[i]->body, to)) return true;
  }
  return false;
}

/* Where a block's rows, columns and sum begin. */
typedef struct {
  int64_t row, column, sum;
} corner;

static corner corner_of(const ir_program *p, const hint_kernel *k, int64_t block) {
  const ir_stmt *s = k->product[0].nest;
  const cu_matrices *f = cu_of(s)->fragments;
  static numbers v;
  memset(&v, 0, sizeof v);
  v.p = p, v.value[k->part->loop.var] = block;
  CHECK(go(&v, &k->part->body, s));
  return (corner){of(&v, s->range[f->m].lo), of(&v, s->range[f->n].lo), of(&v, s->range[f->k].lo)};
}

/* ---- what others do with the parameters ----------------------------------------------------- */

static const char *value_of(const hint_words *w, const char *name) {
  for (int i = 0; i < w->n; i++)
    if (!strcmp(w->word[i].name, name)) return w->word[i].value;
  return NULL;
}

static int64_t number_of(const hint_words *w, const char *name, int64_t none) {
  const char *text = value_of(w, name);
  return text ? strtoll(text, NULL, 10) : none;
}

typedef struct {
  int64_t row, column; /* of blocks */
} place;

/* Tutorial 03: groups of rows, in each rows first. */
static place by_group(int64_t pid, int64_t rows, int64_t columns, int64_t group) {
  const int64_t in_group = group * columns, first = pid / in_group * group;
  const int64_t size = rows - first < group ? rows - first : group;
  return (place){first + pid % in_group % size, pid % in_group / size};
}

static place of_triton(const hint_words *w, int64_t pid, int64_t rows, int64_t columns) {
  return by_group(pid, rows, columns, number_of(w, "GROUP_M", 0));
}

/* The first of loop_orders is fastest, in groups of l2_groupings. */
static place of_helion(const hint_words *w, int64_t pid, int64_t rows, int64_t columns) {
  int first = 0, second = 0;
  CHECK(sscanf(value_of(w, "loop_orders"), "[[%d, %d]]", &first, &second) == 2);
  const int64_t group = strtoll(value_of(w, "l2_groupings") + 1, NULL, 10);
  const int64_t a = first ? columns : rows, b = first ? rows : columns;
  const place at = group > 1 ? by_group(pid, a, b, group) : (place){pid % a, pid / a};
  return first ? (place){at.column, at.row} : at;
}

/* PersistentTileSchedulerSm90: a swizzle of the other side, then along the raster. */
static place of_cutlass(const hint_words *w, int64_t pid, int64_t rows, int64_t columns) {
  const bool along_n = !strcmp(value_of(w, "raster_order"), "\"AlongN\"");
  const int64_t swizzle = number_of(w, "max_swizzle_size", 0), major = along_n ? columns : rows;
  const int64_t offset = pid % swizzle, extra = pid / swizzle;
  const int64_t minor_at = extra / major * swizzle + offset, major_at = extra % major;
  return along_n ? (place){minor_at, major_at} : (place){major_at, minor_at};
}

/* ---- checks --------------------------------------------------------------------------------- */

typedef struct {
  int products, groups, split, grouped, orders;
} tally;

/* Each element of the output is of one block for each part of the sum. */
static void check_cover(const ir_program *p, const hint_kernel *k, int64_t m, int64_t n) {
  static unsigned char of_cell[MOST][MOST];
  const hint_product *h = &k->product[0];
  memset(of_cell, 0, sizeof of_cell);
  for (int64_t b = 0; b < k->blocks; b++) {
    const corner c = corner_of(p, k, b);
    for (int64_t i = c.row; i < c.row + h->rows && i < m; i++)
      for (int64_t j = c.column; j < c.column + h->columns && j < n; j++)
        of_cell[i][j]++;
  }
  int wrong = 0;
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++)
      wrong += of_cell[i][j] != k->split;
  CHECK_I64(wrong, 0);
}

/* The digits give each block's corner. */
static void check_digits(const ir_program *p, const hint_kernel *k) {
  const hint_product *h = &k->product[0];
  const corner first = corner_of(p, k, 0);
  int64_t all = 1;
  for (int i = 0; i < k->n_digits; i++)
    all *= k->digit[i].count;
  if (!CHECK_I64(all, k->blocks)) return;
  for (int64_t b = 0; b < k->blocks; b++) {
    const corner c = corner_of(p, k, b);
    corner want = first;
    int64_t rest = b;
    for (int i = 0; i < k->n_digits; i++) {
      const int64_t at = rest % k->digit[i].count * k->digit[i].step;
      rest /= k->digit[i].count;
      if (k->digit[i].dim == hint_row_dim(p, h))
        want.row += at;
      else if (k->digit[i].dim == hint_column_dim(p, h))
        want.column += at;
      else
        want.sum += at;
    }
    CHECK(c.row == want.row && c.column == want.column && c.sum == want.sum);
  }
}

/* The blocks of the two fastest digits, in the order of a framework. */
static void check_order(const ir_program *p, const hint_kernel *k, int framework,
                        place (*next)(const hint_words *w, int64_t pid, int64_t rows,
                                      int64_t columns)) {
  const hint_product *h = &k->product[0];
  hint_words w = {.n = 0};
  int64_t rows = 1, columns = 1;
  hint_frameworks[framework].say(p, k, &w);
  for (int i = 0; i < k->n_digits; i++)
    *(k->digit[i].dim == hint_row_dim(p, h) ? &rows : &columns) *= k->digit[i].count;
  for (int64_t b = 0; b < k->digit[0].count * (k->n_digits > 1 ? k->digit[1].count : 1); b++) {
    const corner c = corner_of(p, k, b);
    const place at = next(&w, b, rows, columns);
    CHECK_I64(at.row, c.row / h->rows);
    CHECK_I64(at.column, c.column / h->columns);
  }
}

static void check_product(const ir_program *p, const hint_kernel *k, tally *t) {
  const tf_dim *dims = p->tree->workload->dims;
  const hint_product *h = &k->product[0];
  const int64_t m = dims[hint_row_dim(p, h)].extent, n = dims[hint_column_dim(p, h)].extent;
  const hint_order o = hint_order_of(p, k);
  check_cover(p, k, m, n);
  check_digits(p, k);
  CHECK(k->stages * (h->rows + h->columns) * h->depth * ir_bytes(p->machine.data) <= k->shared);
  CHECK(h->rows <= h->warp_rows * k->warps &&
        h->warp_rows * h->warp_columns * k->warps >= h->rows * h->columns);
  t->products++, t->groups += k->groups > 0, t->split += k->split > 1;
  if (k->split > 1 || k->n_digits == 0) return;
  t->grouped += o.group < o.total, t->orders++;
  if (!o.columns_first) check_order(p, k, 0, of_triton);
  check_order(p, k, 2, of_helion);
  if (k->groups && o.group <= 8) check_order(p, k, 3, of_cutlass);
}

/* JSON is YAML: a list of as many kernels as the program has parts, each with all frameworks. */
static void check_json(const ir_program *p, const tf_emit_options *o, tf_diags *d, int parts) {
  char *text;
  tf_arena *a = tf_arena_new();
  FILE *out = case_text(&text);
  hint_json(out, p, o);
  fclose(out);
  const tf_ynode *root = tf_yaml_read(a, 0, text, strlen(text), d),
                 *kernels = root ? tf_ymap_get(root, "kernels") : NULL;
  if (CHECK(kernels && tf_diags_errors(d) == 0) && CHECK_I64((int64_t)kernels->n, parts))
    for (int i = 0; i < parts; i++)
      for (int f = 0; f < HINT_N_FRAMEWORKS; f++)
        CHECK(tf_ymap_get(tf_ymap_get(kernels->items[i], "frameworks"), hint_frameworks[f].name));
  tf_arena_free(a);
  free(text);
}

static void check_program(const ir_program *p, const tf_emit_options *o, tf_diags *d, tally *t) {
  int number = 0;
  for (int i = 0; i < p->body.n; i++) {
    hint_kernel k;
    if (p->body.s[i]->kind == IR_LET) continue;
    hint_find(p, p->body.s[i], number++, &k);
    if (k.kind == HINT_PRODUCT) check_product(p, &k, t);
  }
  check_json(p, o, d, number);
}

static void one(const char *arch, tf_rng *r, tally *t) {
  static const char *const dtypes[] = {"bf16", "f16", "tf32", "int8"}, *const isas[] = {"sm_80",
                                                                                        "sm_90a"};
  static const int64_t few[] = {16, 64, 128}, many[] = {256, 512, 768, 1000, 1024},
                       deep[] = {64, 512, 4096, 16384};
  const int64_t m = tf_rng_below(r, 3) ? many[tf_rng_below(r, 5)] : few[tf_rng_below(r, 3)];
  const int64_t n = tf_rng_below(r, 3) ? many[tf_rng_below(r, 5)] : few[tf_rng_below(r, 3)];
  char text[256];
  snprintf(text, sizeof text,
           "workload:\n  name: product\n  dims: {m: %" PRId64 ", n: %" PRId64 ", k: %" PRId64
           "}\n  ops:\n  - \"C[m,n] += A[m,k] * B[%s]\"\n",
           m, n, deep[tf_rng_below(r, 4)], tf_rng_below(r, 2) ? "k,n" : "n,k");
  test_case e = case_of(arch, text);
  const tf_planner_opts o = {
      .target = "hints",
      .kernel = {.dtype = dtypes[tf_rng_below(r, 4)], .isa = isas[tf_rng_below(r, 2)]},
      .budget = {.threads = 1}};
  tf_planned *plan = tf_planner_run(e.spec->arch, e.spec->workload, NULL, &o, e.d);
  ir_machine machine;
  if (CHECK(plan && plan->tree) && CHECK(tf_target_hints.machine(&o.kernel, &machine, e.d))) {
    ir_program *p = lower_kernel(plan->tree, &tf_target_hints.lower, &machine, e.d);
    if (CHECK(p)) check_program(p, &o.kernel, e.d, t);
    ir_free(p);
  }
  tf_planned_free(plan);
  case_drop(&e);
}

int main(int argc, char **argv) {
  const int cases = argc > 1 ? atoi(argv[1]) : CASES;
  size_t n;
  char *arch = case_file("arch-specs/h100.yaml", &n);
  tally t = {0};
  tf_rng r = tf_rng_new(38, 1);
  for (int i = 0; i < cases; i++)
    one(arch, &r, &t);
  free(arch);
  printf("%d products, %d of warpgroups, %d with sums in parts; %d orders, %d in groups\n",
         t.products, t.groups, t.split, t.orders, t.grouped);
  CHECK(t.products >= cases && t.groups > 0 && t.split > 0 && t.orders > 0 && t.grouped > 0);
  return check_report();
}
