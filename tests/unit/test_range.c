/* The three passes that infer ranges (model/tree/infer.h) against each other on random mappings,
 * whole, partial, padded, streamed and nested: at every node, for every dim of every op, at
 * settings drawn at random, the walk of the checks (model/tree/range.c) and the single question of
 * the counts (model/flow/range.c) give the same interval; and where the quick path holds, its
 * products (model/cost/quick/range.c) are the lengths of the slices and the steps by which loops
 * move them. */
#include "base/rng.h"
#include "model/cost/quick/even.h"
#include "model/cost/state.h"
#include "model/flow/range_memo.h"
#include "model/tree/check.h"
#include "model/tree/range.h"
#include "tests/oracle/gen.h"
#include "tests/unit/case.h"

enum { CASES = 1500, SETTINGS = 6, NEEDED = 200, KEPT = 200 };

typedef struct {
  tf_eval ev;
  const int64_t *digits;
  long intervals, empty, lengths, steps, odd;
  long unmoved;       /* loops that do not move a rank that depends on them */
  long streamed, led; /* intervals that follow the leader of a stream; that loops split */
  long kept;          /* that could be kept */
  long needed;        /* what readers outside of a branch need of what is made in it */
} tally;

/* ---- the walk against single questions ------------------------------------------------------- */

static void compare_op(tally *t, const tf_ranges *r, int o, int n) {
  const tf_op *op = &r->f->wl->ops[o];
  for (int i = 0; i < op->n_dims; i++) {
    tf_ival a = r->range[r->f->dim_from[o] + i],
            b = tf_dim_range(&t->ev, o, op->dims[i], n, t->digits);
    tf_range_from from = tf_range_source(r->f, o, op->dims[i], n);
    t->intervals++;
    t->streamed += from.rule == TF_BY_LEADER;
    t->led += from.rule == TF_BY_LOOPS;
    if (a.len <= 0 && b.len <= 0) {
      t->empty++;
      continue;
    }
    if (a.lo == b.lo && a.len == b.len) continue;
    if (t->odd++ < 4)
      printf("op %d, dim %d, node %d: %" PRId64 "+%" PRId64 ", %" PRId64 "+%" PRId64 "\n", o,
             op->dims[i], n, a.lo, a.len, b.lo, b.len);
  }
}

static void compare_node(tf_ranges *r, int n) {
  for (int k = r->f->leaf_from[n]; k < r->f->leaf_end[n]; k++)
    compare_op(r->user, r, r->f->leaf_op[k], n);
}

/* What a branch makes in a run is all that is needed up to the home scope, at any setting: the rule
 * that was checked without going through settings (model/tree/check_found.c). */
static void hold_needed(tf_ranges *r, int o, int i, int n, tf_ival needed) {
  tally *t = r->user;
  const tf_tree *tree = r->f->tree;
  const int home = r->f->home_scope[r->f->wl->ops[o].out], up = tree->nodes[n].parent;
  if (up < 0 || tree->nodes[up].kind != TF_SCOPE || !tf_is_above(r->f, home, up) || needed.len <= 0)
    return;
  const tf_ival made = tf_common_part(needed, r->range[r->f->dim_from[o] + i]);
  t->needed++;
  if (made.len == needed.len) return;
  if (t->odd++ < 4) printf("op %d, dim %d, node %d: not all made that is needed\n", o, i, n);
}

static void draw_setting(tf_rng *g, const tf_eval *ev, int64_t *digits) {
  for (int l = 0; l < ev->plan->n_loops; l++)
    digits[l] = tf_rng_below(g, 4)
                    ? tf_rng_below(g, (uint32_t)(ev->trip[l] < 1000 ? ev->trip[l] : 1000))
                    : ev->trip[l] - 1;
}

static void compare_walks(tally *t, tf_rng *g, tf_arena *arena, int64_t *digits) {
  tf_ranges r;
  if (!tf_ranges_init(&r, arena, t->ev.plan->facts)) exit(2);
  r.user = t;
  r.entered = compare_node;
  r.inferred = hold_needed;
  r.digits = digits;
  bool nested = false;
  for (int o = 0; o < r.f->wl->n_ops; o++)
    nested |= tf_made_nested(r.f, o);
  for (int i = 0; i < (nested ? NEEDED : SETTINGS); i++) {
    if (i == SETTINGS) r.entered = NULL;
    tf_ranges_reset(&r);
    tf_ranges_walk(&r, 0);
    draw_setting(g, &t->ev, digits);
  }
}

/* What is kept of a setting (model/flow/range_memo.h) against what is found anew, as loops step one
 * by one, with and without borders, in tiles that are whole or not. */
static void compare_kept(tally *t, tf_rng *g, tf_arena *arena, int64_t *digits) {
  const tf_plan *p = t->ev.plan;
  tf_eval anew = t->ev, kept;
  anew.exact = false;
  kept = anew;
  if (p->n_loops == 0 || !(kept.keep = tf_keep_new(arena, p))) return;
  for (int i = 0; i < KEPT; i++) {
    const int l = (int)tf_rng_below(g, (uint32_t)p->n_loops),
              o = (int)tf_rng_below(g, (uint32_t)p->wl->n_ops);
    const tf_op *op = &p->wl->ops[o];
    const int d = op->dims[tf_rng_below(g, (uint32_t)op->n_dims)],
              n = (int)tf_rng_below(g, (uint32_t)p->tree->n_nodes);
    anew.noclip = kept.noclip = tf_rng_below(g, 8) == 0;
    anew.whole = kept.whole = tf_rng_below(g, 8) == 0;
    digits[l] = tf_rng_below(g, (uint32_t)(anew.trip[l] < 1000 ? anew.trip[l] : 1000));
    if (!tf_op_below(p->facts, o, n)) continue;
    const tf_ival a = tf_dim_range(&anew, o, d, n, digits),
                  b = tf_dim_range(&kept, o, d, n, digits);
    t->kept += kept.keep->entry_of[(n * p->wl->n_ops + o) * p->wl->n_dims + d] > 0;
    if (a.lo == b.lo && a.len == b.len) continue;
    if (t->odd++ < 4)
      printf("op %d, dim %d, node %d: kept is %" PRId64 "+%" PRId64 "\n", o, d, n, b.lo, b.len);
  }
  memset(digits, 0, (size_t)p->n_loops * sizeof *digits);
}

/* ---- products against intervals -------------------------------------------------------------- */

/* Whether the lower end of each rank moves when a loop takes its first step. */
static void compare_moved(tally *t, const tf_slice *s, const tf_even_loop *l, int64_t *digits) {
  for (int r = 0; r < t->ev.plan->wl->tensors[s->tensor].rank && t->ev.trip[l->loop] > 1; r++) {
    const int64_t from = tf_slice_rank(&t->ev, s, r, digits).lo;
    digits[l->loop] = 1;
    const bool moved = tf_slice_rank(&t->ev, s, r, digits).lo != from;
    digits[l->loop] = 0;
    t->odd += moved != tf_slice_moved(t->ev.plan, s, r, l->pos);
    t->unmoved += !moved && tf_slice_mask(t->ev.plan, s, r) >> l->pos & 1;
  }
}

/* By how much the lower end of each rank moves when a loop takes its first step. */
static void compare_steps(tally *t, const tf_model *m, const tf_slice *s, const tf_even_loop *l,
                          int64_t *digits) {
  if (t->ev.trip[l->loop] < 2) return;
  for (int i = 0; i < l->n; i++) {
    int64_t from = tf_slice_rank(&t->ev, s, l->shift[i].rank, digits).lo;
    digits[l->loop] = 1;
    int64_t to = tf_slice_rank(&t->ev, s, l->shift[i].rank, digits).lo;
    digits[l->loop] = 0;
    t->steps++;
    t->odd += to - from != l->shift[i].k * m->value[m->even->step[l->loop]];
  }
}

static void compare_slices(tally *t, const tf_model *m, int64_t *digits) {
  const tf_plan *p = m->plan;
  memset(digits, 0, (size_t)p->n_loops * sizeof *digits);
  for (int i = 0; i < p->n_slices; i++) {
    const tf_even_slice *s = &m->even->slices[i];
    for (int r = 0; r < s->n_rank; r++, t->lengths++)
      t->odd += m->len[s->range[r]] != tf_slice_rank(&t->ev, &p->slices[i], r, digits).len;
    for (int k = 0; k < s->n_temporal + s->n_spatial; k++) {
      const tf_even_loop *l = k < s->n_temporal ? &s->temporal[k] : &s->spatial[k - s->n_temporal];
      compare_steps(t, m, &p->slices[i], l, digits);
      compare_moved(t, &p->slices[i], l, digits);
    }
  }
}

/* ---- one mapping ---------------------------------------------------------------------------- */

static void compare_all(tally *t, tf_rng *g, tf_model *m) {
  const tf_plan *p = m->plan;
  tf_result r;
  tf_arena *arena = tf_arena_new();
  int64_t *digits = TF_ARRAY(arena, int64_t, (size_t)p->n_loops + 1);
  t->ev = (tf_eval){.plan = p, .trip = m->own_trip, .exact = true};
  t->ev.step = TF_ARRAY(arena, int64_t, (size_t)(p->wl->n_ops * p->n_loops) + 1);
  if (!digits || !t->ev.step || !tf_eval_steps(&t->ev)) exit(2);
  t->digits = digits;
  compare_kept(t, g, arena, digits);
  compare_walks(t, g, arena, digits);
  tf_model_walk_limit(m, 0);
  if (tf_model_eval(m, NULL, &r) && m->quick && !m->partial && !p->clips)
    compare_slices(t, m, digits);
  tf_arena_free(arena);
}

/* T[x, 4 - x] is all that is read, so that x + y of T is 4, wherever x stands. */
static void compare_cancelled(tally *t) {
  tf_rng g = tf_rng_new(1, 1);
  test_case e = {0};
  case_read(&e, "architecture:\n"
                "  memories: [{name: DRAM}, {name: L1, mesh: [3, 1]}]\n"
                "  compute: [{name: u, ops: [max, exp], below: L1}]\n"
                "workload:\n"
                "  dims: {x: 3, y: 5}\n"
                "  ops:\n"
                "  - \"T[x, y] = max(A[x + y], B[y, 4 - y])\"\n"
                "  - \"O[x] = exp(T[x, 4 - x])\"\n"
                "mapping: |\n"
                "  DRAM spatial x=3@x\n"
                "    Seq\n"
                "      L1\n"
                "        op T\n"
                "      L1\n"
                "        op O\n");
  if (CHECK(e.model != NULL)) compare_all(t, &g, e.model);
  case_drop(&e);
}

static void compare_case(tally *t, uint64_t seed) {
  static page p;
  tf_rng g = tf_rng_new(seed, 1);
  test_case e = {0};
  unsigned features = seed % 4 == 0 ? 1U << GEN_PAD : 0;
  const char *kind;
  p.len = 0;
  if (!gen_case(seed, &p, &features, &kind)) return;
  case_read(&e, p.text);
  long odd = t->odd;
  if (e.model) compare_all(t, &g, e.model);
  if (t->odd > odd && odd < 4) printf("seed %" PRIu64 "\n%s\n", seed, p.text);
  case_drop(&e);
}

int main(void) {
  tally t = {0};
  for (uint64_t seed = 1; seed <= CASES; seed++)
    compare_case(&t, seed);
  compare_cancelled(&t);
  printf("%ld intervals (%ld by loops, %ld by a stream's leader, %ld empty), %ld lengths, %ld "
         "steps, %ld unmoved, %ld needed, %ld kept\n",
         t.intervals, t.led, t.streamed, t.empty, t.lengths, t.steps, t.unmoved, t.needed, t.kept);
  CHECK_I64(t.odd, 0);
  CHECK(t.led > 1000 && t.streamed > 100 && t.empty > 100 && t.lengths > 1000 && t.steps > 100 &&
        t.needed > 1000 && t.kept > 10000 && t.unmoved > 0);
  return check_report();
}
