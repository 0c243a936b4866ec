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
  int level[PARTS], order[PARTS]; /* order: from the outermost place in */
  uint8_t at[PARTS][DIMS];        /* classes of steps at the place of each */
  int on[PARTS];                  /* the dim of P of each; -1: none */
  double best;
} slow;

static double slow_at(const slow *s, int i, int at) {
  double times = 1;
  for (int d = 0; d < s->n->op->n_dims; d++)
    if (!(s->n->op->part[i].dims >> d & 1)) times *= (double)s->n->steps[d].of[s->at[at][d]].lo;
  return times;
}

static double slow_bits(const slow *s, int i) {
  const tf_f_part *p = &s->n->op->part[i];
  const bool twice = s->n->op->arch->memories[s->level[i]].double_buffered;
  return p->role <= TF_F_OUT && twice ? 2 * p->bits : p->bits;
}

static double slow_block(const slow *s, int i) { return block_at(s->n, i, s->level[i], s->at[i]); }

static bool slow_room(const slow *s) {
  double left[LEVELS];
  bool ok = true;
  for (int l = 1; l <= s->n->op->inner; l++)
    left[l] = room_of(s->n, l);
  for (int i = 0; i < s->n->op->n; i++)
    if (s->level[i] > s->n->op->inner)
      ok &= slow_block(s, i) <= 1;
    else
      left[s->level[i]] -= slow_block(s, i) * slow_bits(s, i);
  for (int l = 1; l <= s->n->op->inner; l++)
    ok &= left[l] >= 0;
  return ok;
}

/* Whether part i has room where a step of dim d covers so many values. */
static bool slow_fits(const slow *s, int i, int d, double values) {
  const tf_f_nest *n = s->n;
  const tf_f_part *p = n->op->part;
  double bits = 0;
  for (int k = 0; k < n->op->n; k++) {
    double words = slow_block(s, k), each = 1 / n->instances[s->level[i]];
    if (s->level[k] != s->level[i]) continue;
    for (int e = 0; e < n->op->n_dims; e++)
      if (e != d && p[k].dims >> e & 1) each *= (double)n->steps[e].of[s->at[k][e]].len;
    if (k == i || (p[i].role <= TF_F_OUT && p[k].role <= TF_F_OUT && p[k].dims >> d & 1))
      words = fmax(words, ceil(each * values * (1 - 1e-12)));
    bits += words * slow_bits(s, k);
  }
  return bits <= room_of(n, s->level[i]);
}

/* How many values of dim d a step of part i could cover, in the room there is. */
static double slow_values(const slow *s, int i, int d) {
  int64_t values = 1, step = 1;
  while (slow_fits(s, i, d, (double)(values + step)))
    values += step, step *= 2;
  for (; step; step /= 2)
    if (slow_fits(s, i, d, (double)(values + step))) values += step;
  return (double)values;
}

/* The room of part i's steps of dim d, in the instances of memory l. */
static tf_f_room slow_room_of(const slow *s, int i, int d, int l, double values) {
  const double share = (double)s->n->op->extent[d] / (double)s->n->steps[d].of[s->at[i][d]].hi;
  return (tf_f_room){fmax(1, values / share), values, s->n->instances[l]};
}

/* The share that P of part k spares on dim d, in the instances of memory l. */
static double slow_spared(const slow *s, int k, int d, int l, double values) {
  const tf_f_room r = slow_room_of(s, k, d, l, values);
  return tf_f_spared(&s->n->steps[d].of[s->at[k][d]], s->n->op->deep[d], &r);
}

/* How many times an even share of all dims the words of part i could be, in the room there is. */
static double slow_slack(const slow *s, int i) {
  const tf_f_nest *n = s->n;
  double bits = room_of(n, s->level[i]);
  for (int k = 0; k < n->op->n; k++)
    if (k != i && s->level[k] == s->level[i]) bits -= slow_block(s, k) * slow_bits(s, k);
  double all = bits / slow_bits(s, i) * n->instances[s->level[i]];
  for (int d = 0; d < n->op->n_dims; d++)
    if (n->op->part[i].dims >> d & 1)
      all *= (double)n->steps[d].of[s->at[i][d]].hi / (double)n->op->extent[d];
  return fmax(1, all);
}

/* Where words of part i enter once only for the loops outside of part k's place. */
typedef struct {
  int i, k, first; /* first: dim of the part */
  bool extra;      /* not all loops there count */
  const double (*values)[DIMS];
  double slack;
} slow_where;

/* The share of dim d where its step covers so many values. */
static double slow_one(const slow *s, const slow_where *w, int d, double values) {
  const tf_f_steps *of = s->n->steps[d].of;
  const int i = w->i, k = w->k, l = s->level[i] > s->level[k] ? s->level[i] : s->level[k];
  const tf_f_room r = slow_room_of(s, i, d, s->level[i], values);
  double here = tf_f_single(&of[s->at[i][d]], &of[s->at[k][d]], s->n->op->deep[d], &r);
  if (s->on[i] == d) here = fmin(here, slow_spared(s, i, d, s->level[i], values));
  if (s->on[k] == d && !w->extra) here = fmin(here, slow_spared(s, k, d, l, w->values[k][d]));
  return here;
}

/* The product of the shares of dims from d down, between which `left` of GRID is dealt: all but the
 * first dim have slack of one more. */
static double slow_product(const slow *s, const slow_where *w, int d, int left) {
  double most = 0;
  if (d < 0) return 1;
  if (!(s->n->op->part[w->i].dims >> d & 1)) return slow_product(s, w, d - 1, left);
  const double even = (double)s->n->op->extent[d] / (double)s->n->steps[d].of[s->at[w->i][d]].hi;
  for (int own = d == w->first ? left : 0; own <= left; own++) {
    const int up_to = d == w->first ? own : own + 1;
    const double root = pow(w->slack, (double)up_to / GRID), most_values = w->values[w->i][d];
    const double values = up_to >= GRID ? most_values : fmin(most_values, even * root);
    most = fmax(most, slow_one(s, w, d, values) * slow_product(s, w, d - 1, left - own));
  }
  return most;
}

static double slow_share(const slow *s, int i, int k, const double (*values)[DIMS]) {
  const tf_f_nest *n = s->n;
  const tf_f_part *p = n->op->part;
  slow_where w = {.i = i, .k = k, .values = values, .slack = slow_slack(s, i)};
  while (!(p[i].dims >> w.first & 1))
    w.first++;
  for (int d = 0; d < n->op->n_dims; d++)
    w.extra |= p[k].role == TF_F_READ && !((p[i].dims | p[k].dims) >> d & 1) && s->at[k][d];
  return slow_product(s, &w, n->op->n_dims - 1, GRID);
}

/* The times of part i with just these steps, and P on just these dims. */
static double slow_times(const slow *s, int i, const double (*values)[DIMS]) {
  const double times = slow_at(s, i, i);
  if (times <= 1 || s->level[i] > s->n->op->inner || s->on[i] < 0) return times;
  double share = slow_spared(s, i, s->on[i], s->level[i], values[i][s->on[i]]), all = times,
         before = times;
  int p = 0;
  while (s->order[p] != i)
    p++;
  for (p--; p >= 0; p--) {
    const double outside = slow_at(s, i, s->order[p]);
    all -= share * (before - outside);
    share = fmin(share, slow_share(s, i, s->order[p], values));
    before = outside;
  }
  return all - share * (before - 1);
}

/* With P of each part from i on on any dim that has several steps. */
static void slow_on(slow *s, int i, const double (*values)[DIMS]) {
  const tf_f_nest *n = s->n;
  double words = 0;
  if (i < n->op->n) {
    bool none = true;
    for (int d = 0; d < n->op->n_dims; d++) {
      if (!(n->op->part[i].dims >> d & 1) || !s->at[i][d]) continue;
      none = false;
      s->on[i] = d;
      slow_on(s, i + 1, values);
    }
    s->on[i] = -1;
    if (none) slow_on(s, i + 1, values);
    return;
  }
  for (int k = 0; k < n->op->n; k++) {
    const tf_f_part *p = &n->op->part[k];
    if (p->role <= TF_F_OUT)
      words += p->words * (slow_times(s, k, values) - 1) * (p->role == TF_F_OUT ? 2 : 1);
  }
  s->best = fmin(s->best, words);
}

static void slow_look(slow *s) {
  double values[PARTS][DIMS] = {0};
  if (!slow_room(s)) return;
  for (int i = 0; i < s->n->op->n; i++)
    for (int d = 0; d < s->n->op->n_dims && s->level[i] <= s->n->op->inner; d++)
      if (s->n->op->part[i].dims >> d & 1) values[i][d] = slow_values(s, i, d);
  slow_on(s, 0, (const double(*)[DIMS])values);
}

/* Whether no Tile has more steps of the dim than one further in: of all parts up to a place that
 * have the dim, but for what has its home there. */
static bool is_nested(const slow *s, int d, int place) {
  const int i = s->order[place];
  const tf_f_part *p = s->n->op->part;
  for (int k = 0; k < place; k++) {
    const int j = s->order[k];
    if (p[i].role > TF_F_OUT || p[j].role > TF_F_OUT || !(p[i].dims & p[j].dims & 1u << d))
      continue;
    if (s->level[i] <= s->level[j] && s->at[i][d] > s->at[j][d]) return false;
    if (s->level[j] <= s->level[i] && s->at[j][d] > s->at[i][d]) return false;
  }
  return true;
}

/* Every number of steps of dim d from a place in, no fewer than outside of it. */
static void slow_dim(slow *s, int d, int place, int least) {
  const tf_f_nest *n = s->n;
  if (d == n->op->n_dims) {
    slow_look(s);
    return;
  }
  if (place == n->op->n) {
    slow_dim(s, d + 1, 0, 0);
    return;
  }
  const int i = s->order[place];
  const bool has = n->op->part[i].dims >> d & 1, pinned = has && n->pin->part == i,
             made = n->op->part[i].role == TF_F_MADE && !has;
  for (int k = least; k < n->steps[d].n; k++) {
    if ((pinned && (k < n->pin->lo[d] || k > n->pin->hi[d])) || (made && k > 0)) continue;
    s->at[i][d] = (uint8_t)k;
    if (!is_nested(s, d, place)) continue;
    slow_dim(s, d, place + 1, k);
  }
}

static void slow_orders(slow *s, int k) {
  const tf_f_nest *n = s->n;
  if (k >= n->op->n || k >= PARTS) {
    for (int p = 1; p < n->op->n; p++)
      if (s->level[s->order[p - 1]] > n->op->inner && s->level[s->order[p]] <= n->op->inner) return;
    slow_dim(s, 0, 0, 0);
    return;
  }
  for (int i = k; i < n->op->n && i < PARTS; i++) {
    const int a = s->order[k];
    s->order[k] = s->order[i], s->order[i] = a;
    slow_orders(s, k + 1);
    s->order[i] = s->order[k], s->order[k] = a;
  }
}

static void slow_levels(slow *s, int i) {
  const tf_f_nest *n = s->n;
  if (i >= n->op->n || i >= PARTS) {
    slow_orders(s, 0);
    return;
  }
  const int most = n->op->inner + (n->op->part[i].role <= TF_F_OUT);
  for (int l = 1; l <= most; l++) {
    if (n->pin->part == i && n->pin->level != l) continue;
    s->level[i] = l;
    slow_levels(s, i + 1);
  }
}

static double slow_least(tf_f_nest *n, tf_f_pin *pin) {
  int64_t looks = INT64_MAX / 2;
  slow s = {.n = n, .best = INFINITY};
  n->pin = pin, n->looks = &looks;
  for (int i = 0; i < n->op->n; i++)
    s.order[i] = i;
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
      pin->lo[d] = pick(r, 0, tf_f_nest_classes(n, d) - 1),
      pin->hi[d] = pick(r, 0, 1) ? pin->lo[d] : pick(r, pin->lo[d], tf_f_nest_classes(n, d) - 1);
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
    const double all = slow_least(n, &pin), fast = tf_f_nest_least(n, &pin, INFINITY, &looks);
    if (!CHECK(fast <= all * (1 + 1e-9))) printf("case %d: %g, twin %g\n", number, fast, all);
    t->room += isfinite(all);
    if (isfinite(all) && all > 0) {
      t->known++, t->equal += fast >= all * (1 - 1e-9), t->share += fast / all;
    }
    if (pin.part < 0) {
      const double joined = tf_f_nest_least(few, &pin, INFINITY, &looks);
      if (!CHECK(joined <= all * (1 + 1e-9)))
        printf("case %d: %g joined, %g\n", number, joined, all);
    }
  }
  tf_f_nest_free(n);
  tf_f_nest_free(few);
  case_drop(&c);
}

int main(int argc, char **argv) {
  const int cases = argc > 1 ? atoi(argv[1]) : 150;
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
