/* The least words of one op of a graph (search/bound/fused_nest.c) against its slow twin: every
 * number of steps at every place.  Its search leaves most of them out, and may find less; it must
 * never find more.  test_fused [CASES [SEED]] */
#include "search/bound/fused_nest.c"

#include <stdio.h>

#include "base/rng.h"
#include "tests/unit/case.h"

enum { MOST = 8 };

static int pick(tf_rng *r, int lo, int hi) {
  return lo + (int)tf_rng_below(r, (uint32_t)(hi - lo + 1));
}

/* ---- the slow twin -------------------------------------------------------------------------- */
typedef struct {
  tf_f_nest *n;
  double best;
} slow;

static double slow_at(const tf_f_nest *n, int i, int at) {
  double times = 1;
  for (int d = 0; d < n->op->n_dims; d++)
    if (!(n->op->part[i].dims >> d & 1)) times *= (double)n->steps[d].of[n->at[at][d]].lo;
  return times;
}

/* The times of part i with just these steps. */
static double slow_times(const tf_f_nest *n, int i, const double *left) {
  const double times = slow_at(n, i, i);
  double most = 0;
  if (times <= 1 || n->level[i] > n->op->inner) return times;
  const double slack = slack_of(n, i, left);
  for (int d = 0; d < n->op->n_dims; d++)
    if (n->op->part[i].dims >> d & 1)
      most = fmax(most, spared(&n->steps[d].of[n->at[i][d]], n->op->deep[d], slack,
                               n->instances[n->level[i]]));
  double least = times - most * (times - 1);
  for (int p = 0; n->order[p] != i; p++) {
    const double outside = slow_at(n, i, n->order[p]);
    double share = 1;
    for (int d = 0; d < n->op->n_dims; d++)
      if (n->op->part[i].dims >> d & 1)
        share = fmin(share, single(&n->steps[d].of[n->at[i][d]],
                                   &n->steps[d].of[n->at[n->order[p]][d]], n->op->deep[d], slack));
    least = fmax(least, times - most * (times - outside) - share * (outside - 1));
  }
  return fmax(1, least);
}

static void slow_look(slow *s) {
  const tf_f_nest *n = s->n;
  double left[LEVELS], words = 0;
  if (!find_room(n, left)) return;
  for (int i = 0; i < n->op->n; i++) {
    const tf_f_part *p = &n->op->part[i];
    if (p->role <= TF_F_OUT)
      words += p->words * (slow_times(n, i, left) - 1) * (p->role == TF_F_OUT ? 2 : 1);
  }
  s->best = fmin(s->best, words);
}

/* Whether no Tile has more steps of the dim than one further in: of all parts up to a place that
 * have the dim, but for what has its home there. */
static bool is_nested(const tf_f_nest *n, int d, int place) {
  const int i = n->order[place];
  const tf_f_part *p = n->op->part;
  for (int k = 0; k < place; k++) {
    const int j = n->order[k];
    if (p[i].role > TF_F_OUT || p[j].role > TF_F_OUT || !(p[i].dims & p[j].dims & 1u << d))
      continue;
    if (n->level[i] <= n->level[j] && n->at[i][d] > n->at[j][d]) return false;
    if (n->level[j] <= n->level[i] && n->at[j][d] > n->at[i][d]) return false;
  }
  return true;
}

/* Every number of steps of dim d from a place in, no fewer than outside of it. */
static void slow_dim(slow *s, int d, int place, int least) {
  tf_f_nest *n = s->n;
  if (d == n->op->n_dims) {
    slow_look(s);
    return;
  }
  if (place == n->op->n) {
    slow_dim(s, d + 1, 0, 0);
    return;
  }
  const int i = n->order[place];
  const bool has = n->op->part[i].dims >> d & 1, pinned = has && n->pin->part == i,
             made = n->op->part[i].role == TF_F_MADE && !has;
  for (int k = least; k < n->steps[d].n; k++) {
    if ((pinned && k != n->pin->steps[d]) || (made && k > 0)) continue;
    n->at[i][d] = k;
    if (!is_nested(n, d, place)) continue;
    slow_dim(s, d, place + 1, k);
  }
}

static void slow_orders(slow *s, int k) {
  tf_f_nest *n = s->n;
  if (k >= n->op->n || k >= PARTS) {
    if (is_in_order(n)) slow_dim(s, 0, 0, 0);
    return;
  }
  for (int i = k; i < n->op->n && i < PARTS; i++) {
    const int a = n->order[k];
    n->order[k] = n->order[i], n->order[i] = a;
    slow_orders(s, k + 1);
    n->order[i] = n->order[k], n->order[k] = a;
  }
}

static void slow_levels(slow *s, int i) {
  tf_f_nest *n = s->n;
  if (i >= n->op->n || i >= PARTS) {
    slow_orders(s, 0);
    return;
  }
  const int most = n->op->inner + (n->op->part[i].role <= TF_F_OUT);
  for (int l = 1; l <= most; l++) {
    if (n->pin->part == i && n->pin->level != l) continue;
    n->level[i] = l;
    slow_levels(s, i + 1);
  }
}

static double slow_least(tf_f_nest *n, const tf_f_pin *pin) {
  int64_t looks = INT64_MAX / 2;
  slow s = {n, INFINITY};
  n->pin = pin, n->looks = &looks;
  for (int i = 0; i < n->op->n; i++)
    n->order[i] = i;
  slow_levels(&s, 0);
  return s.best;
}

/* ---- drawn ops ------------------------------------------------------------------------------ */
/* One inner memory, rarely two. */
static test_case draw_machine(tf_rng *r) {
  char text[600], reg[100] = "";
  int side[4];
  const bool two = !pick(r, 0, 7);
  for (int k = 0; k < 4; k++)
    side[k] = pick(r, 0, 2) ? 1 : pick(r, 2, 4);
  if (two)
    snprintf(reg, sizeof reg, "  - {name: Reg, mesh: [%d, %d], capacity: %d}\n", side[2], side[3],
             pick(r, 1, 4));
  snprintf(text, sizeof text,
           "architecture:\n  name: a\n  memories:\n  - {name: DRAM}\n"
           "  - {name: Buf, mesh: [%d, %d], capacity: %d, double-buffered: %s}\n%s"
           "  compute: [{name: u, ops: [mac], below: %s}]\n",
           side[0], side[1], pick(r, 2, 30), pick(r, 0, 3) ? "false" : "true", reg,
           two ? "Reg" : "Buf");
  return case_of(text, "workload:\n  name: w\n  dims: {m: 2, n: 2, k: 2}\n"
                       "  ops:\n  - C[m,n] += A[m,k] * B[k,n]\n");
}

/* A product, or an op of two or three tensors on any dims; one of its tensors may stay inside. */
static void draw_op(tf_rng *r, const tf_arch *a, tf_f_op *op) {
  static const unsigned product[] = {5, 6, 3};
  const bool plain = pick(r, 0, 2) > 0;
  *op = (tf_f_op){.arch = a,
                  .inner = a->n_memories - 1,
                  .mesh = {1, 1},
                  .n_dims = 3,
                  .n = pick(r, 0, 3) ? 3 : 2};
  for (int d = 0; d < 3; d++)
    op->extent[d] = pick(r, 2, MOST), op->deep[d] = pick(r, 0, 3) ? 0 : pick(r, 1, 2);
  const int inside = pick(r, 0, 1) ? pick(r, 0, op->n - 1) : -1;
  for (int i = 0; i < op->n; i++) {
    tf_f_part *p = &op->part[i];
    *p = (tf_f_part){plain ? product[i] : (unsigned)pick(r, 1, 6), 16, 1, TF_F_IN};
    if (i == op->n - 1) p->role = TF_F_OUT;
    if (i == inside) p->role = i == op->n - 1 ? TF_F_MADE : TF_F_READ;
    for (int d = 0; d < 3; d++)
      p->words *= p->dims >> d & 1 ? (double)op->extent[d] : 1;
  }
}

static void draw_pin(tf_rng *r, const tf_f_nest *n, tf_f_pin *pin) {
  *pin = (tf_f_pin){.part = -1};
  for (int i = 0; i < n->op->n && pick(r, 0, 3); i++)
    if (n->op->part[i].role > TF_F_OUT) pin->part = i;
  if (pin->part < 0) return;
  pin->level = pick(r, 1, n->op->inner);
  for (int d = 0; d < 3; d++)
    if (n->op->part[pin->part].dims >> d & 1)
      pin->steps[d] = pick(r, 0, tf_f_nest_classes(n, d) - 1);
}

typedef struct {
  int known, equal, room, coarse;
  double share;
} tally;

static void check_op(tf_rng *r, int number, tally *t) {
  tf_f_op op;
  tf_f_pin pin;
  int64_t looks = INT64_MAX / 2;
  test_case c = draw_machine(r);
  draw_op(r, c.spec->arch, &op);
  tf_f_nest *n = tf_f_nest_new(&op, TF_F_CLASSES), *few = tf_f_nest_new(&op, 3);
  if (CHECK(n && few)) {
    draw_pin(r, n, &pin);
    const double all = slow_least(n, &pin), fast = tf_f_nest_least(n, &pin, &looks);
    if (!CHECK(fast <= all * (1 + 1e-9))) printf("case %d: %g, twin %g\n", number, fast, all);
    t->room += isfinite(all);
    if (isfinite(all) && all > 0) {
      t->known++, t->equal += fast >= all * (1 - 1e-9), t->share += fast / all;
    }
    if (pin.part < 0) {
      const double joined = tf_f_nest_least(few, &pin, &looks);
      if (!CHECK(joined <= all * (1 + 1e-9)))
        printf("case %d: %g joined, %g\n", number, joined, all);
    }
  }
  tf_f_nest_free(n);
  tf_f_nest_free(few);
  case_drop(&c);
}

int main(int argc, char **argv) {
  const int cases = argc > 1 ? atoi(argv[1]) : 300;
  tf_rng r = tf_rng_new(argc > 2 ? strtoull(argv[2], NULL, 10) : 1, 9);
  tally t = {0};
  for (int i = 0; i < cases; i++)
    check_op(&r, i, &t);
  CHECK(t.known * 12 > cases);
  CHECK(t.equal * 4 > t.known * 3 && t.share > 0.9 * t.known); /* mostly nothing is lost */
  printf("%d fit, %d move words again; %d equal, the others too: %.4f of the twin's\n", t.room,
         t.known, t.equal, t.share / t.known);
  return check_report();
}
