/* The least words of one op of a graph, with so much room in each instance of each memory.
 *
 * On the path to the op stands one nest of loops.  Let memory l hold tensor Z of the op: the
 * outermost inner one that does.  Let P be the innermost temporal loop of several steps that moves
 * Z outside of the Tile of l, and N[d] the temporal steps that the loops on dim d take in the first
 * instance, P and what is outside of it.  A dim is spread over s[d] instances of l.
 *
 * 1. In the first step the first instance holds a whole block: c[d] >= E[d] / (s[d] N[d]) of each
 * dim of Z.  The blocks of all tensors that a memory holds fit.  s is chosen for each tensor alone.
 * 2. Z enters T times, T the product of the N[e] of the dims e that it does not have: between two
 * of these times P puts something else in its place.
 * 3. The places just inside of P of all tensors lie on one nest: N never falls inwards.  So in an
 * order of tensors what moves one should be cut far outside, and all else far inside.
 * 4. What stays in an inner memory has its place at its home scope.  No loop on a dim that its
 * maker reduces stands outside of that.
 * 5. What no inner memory holds is read, or updated, in every step: as if units held one word of
 * it, and its place were the innermost.
 * 6. One Tile of a memory stands on the path.  All loops outside of it on a dim that moves a tensor
 * that it holds are that tensor's P, or outside of it.  So N is the same for all such tensors, and
 * no less for those of memories further in.  What has its home there is no such tensor.
 * 7. Not all numbers of steps are looked at: a place with more steps of the dims that its part has
 * leaves the most room, and one with fewer of the others lets it enter least.  One look stands for
 * all mappings between.  It counts the most that any of these spares: in two steps, or in the
 * fewest of more for which there is room (6), with all numbers of another dim.  A look is exact
 * where it has just so many steps.
 *
 * Some words are *spared* in 2: those in an instance for which P has a single step, so that nothing
 * replaces them.  The loops of one op cut a range in equal steps but for the last.  Let P's step
 * cover x values, in all instances inside of it.  A *run* is what the loops of ops behind this one
 * leave of the dim: all runs are equally long, but for one shorter in each op's range.
 * - A run of several rounds of P has at most the last round of a single step: a third of it, and
 *   1 / (N - 1) of the dim where the op is the only one that cuts it.
 * - A run of one round of two steps, L long, spares 2 x - L.  So with N = 2, where there is one
 * run, the blocks must have 1 + f times the words of an even share for f of them to be spared.
 * - A shorter run may be of a single step, and spares all.  With m whole runs and `deep` ops behind
 *   there are at most deep m of these.  Whole runs that spare a third are 3 x long, so at most
 *   (m + deep m) / (3 m + deep m) is spared; those of two steps want (2 + deep) / (2 + 2 deep) of
 *   the words of 1 + f even shares.
 * - Inside of the home scope of what the op makes, all rounds of a run pass within one run of that
 *   scope.  So what the last round of several spares enters for each run of the scope. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "model/demand/on_mesh.h"
#include "search/bound/fused.h"

enum {
  DIMS = TF_F_DIMS,
  PARTS = TF_F_PARTS,
  LEVELS = TF_F_LEVELS,
  CLASSES = TF_F_CLASSES,
  ALL_CLASSES = 4096,
  VECTORS = 400,
  ENTRIES = 1 << 16,  /* of a table */
  SPREADS_A_LOOK = 16 /* take as long as one */
};

/* Numbers of steps that are alike: from lo to hi, of `len` values or more each. */
typedef struct {
  int64_t lo, hi, len;
} steps_class;

typedef struct {
  int n;
  steps_class of[CLASSES];
} classes;

/* Ways to spread the dims of a tensor, of which none is better than another. */
typedef struct {
  int n; /* 0: too many to list */
  int64_t on[VECTORS][DIMS];
} spreads;

struct tf_f_nest {
  const tf_f_op *op;
  classes steps[DIMS];
  double instances[LEVELS];     /* of each memory; behind the last of units */
  double *block[PARTS][LEVELS]; /* [level]: least words in an instance, by classes of steps; below
                                 * 0: not yet known */
  /* the question */
  const tf_f_pin *pin;
  int64_t *looks;
  int level[PARTS], order[PARTS]; /* order: from the outermost place in */
  int at[PARTS][DIMS];            /* classes at the place of each */
  bool just[PARTS][DIMS];         /* it has this one: 7 */
  int low[PARTS][DIMS];           /* the fewest that it can have */
  double best;
  spreads on[PARTS][LEVELS]; /* the last one, as most of it is never touched */
};

/* ---- numbers of steps ----------------------------------------------------------------------- */
static int64_t divided_up(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/* Joins neighbours whose numbers are nearest; one and two steps stay alone. */
static void join_classes(steps_class *c, int *n, int most) {
  while (*n > most) {
    int best = 2;
    for (int j = 2; j + 1 < *n; j++)
      if ((double)c[j + 1].hi * (double)c[best].lo < (double)c[best + 1].hi * (double)c[j].lo)
        best = j;
    c[best].hi = c[best + 1].hi, c[best].len = c[best + 1].len;
    memmove(&c[best + 1], &c[best + 2], (size_t)(*n - best - 2) * sizeof *c);
    --*n;
  }
}

/* False: too many. */
static bool find_classes(int64_t extent, int most, classes *out) {
  steps_class *c = malloc(ALL_CLASSES * sizeof *c);
  int n = 0;
  for (int64_t steps = 1; c && steps <= extent && n < ALL_CLASSES;) {
    const int64_t len = divided_up(extent, steps);
    const int64_t hi = len > 1 ? divided_up(extent, len - 1) - 1 : extent;
    c[n++] = (steps_class){steps, hi, len};
    steps = hi + 1;
  }
  const bool ok = c && n < ALL_CLASSES;
  if (ok) {
    join_classes(c, &n, most);
    memcpy(out->of, c, (size_t)n * sizeof *c);
    out->n = n;
  }
  free(c);
  return ok;
}

/* ---- blocks --------------------------------------------------------------------------------- */
/* Whether all of a are at least b's. */
static bool covers(const int64_t *a, const int64_t *b) {
  for (int d = 0; d < DIMS; d++)
    if (a[d] < b[d]) return false;
  return true;
}

/* False: there are too many. */
static bool add_spread(spreads *s, const int64_t *on) {
  int n = 0;
  for (int i = 0; i < s->n; i++)
    if (covers(s->on[i], on)) return true;
  for (int i = 0; i < s->n; i++)
    if (!covers(on, s->on[i])) memmove(s->on[n++], s->on[i], sizeof s->on[0]);
  s->n = n;
  if (n == VECTORS) return false;
  memcpy(s->on[s->n++], on, sizeof s->on[0]);
  return true;
}

/* All ways to add a side of the mesh, of which `room` is left, from dim d on. */
static bool add_side(const tf_f_op *op, unsigned dims, int d, int64_t room, int64_t *on,
                     spreads *out) {
  if (!(dims >> d)) return add_spread(out, on);
  if (!(dims >> d & 1)) return add_side(op, dims, d + 1, room, on, out);
  const int64_t before = on[d];
  bool ok = true;
  for (int64_t x = room; x > 0 && ok; x = dims >> d == 1 ? 0 : tf_spread_fewer(room, x)) {
    on[d] = before > op->extent[d] / x ? op->extent[d] : before * x;
    ok = add_side(op, dims, d + 1, room / x, on, out);
  }
  on[d] = before;
  return ok;
}

/* Over the instances of memory l, from those of the memory outside of it on; behind the last memory
 * over units. */
static void spread_further(const tf_f_op *op, unsigned dims, int l, spreads *now, spreads *next) {
  for (int axis = 0; axis < 2; axis++) {
    const int64_t side = l > op->inner ? op->mesh[axis] : op->arch->memories[l].mesh[axis];
    if (side == 1) continue;
    next->n = 0;
    for (int i = 0; i < now->n; i++)
      if (!add_side(op, dims, 0, side, now->on[i], next)) {
        now->n = 0;
        return;
      }
    now->n = next->n;
    memcpy(now->on, next->on, (size_t)next->n * sizeof next->on[0]);
  }
}

static size_t entries_of(const tf_f_nest *n, unsigned dims) {
  size_t all = 1;
  for (int d = 0; d < n->op->n_dims && all <= ENTRIES; d++)
    if (dims >> d & 1) all *= (size_t)n->steps[d].n;
  return all;
}

static size_t entry(const tf_f_nest *n, unsigned dims, const int *at) {
  size_t i = 0;
  for (int d = 0; d < n->op->n_dims; d++)
    if (dims >> d & 1) i = i * (size_t)n->steps[d].n + (size_t)at[d];
  return i;
}

static double least_block(const tf_f_nest *n, unsigned dims, int l, const spreads *s,
                          const int *at) {
  double least = INFINITY, all = 1;
  for (int d = 0; d < n->op->n_dims; d++)
    if (dims >> d & 1) all *= (double)n->steps[d].of[at[d]].len;
  if (!s->n) return fmax(1, all / n->instances[l] * (1 - 1e-12));
  for (int i = 0; i < s->n; i++) {
    double words = 1;
    for (int d = 0; d < n->op->n_dims; d++)
      if (dims >> d & 1) words *= (double)divided_up(n->steps[d].of[at[d]].len, s->on[i][d]);
    if (words < least) least = words;
  }
  return least;
}

static double block_at(const tf_f_nest *n, int i, int l, const int *at) {
  const unsigned dims = n->op->part[i].dims;
  double *block = &n->block[i][l][entry(n, dims, at)];
  if (*block < 0) {
    *block = least_block(n, dims, l, &n->on[i][l], at);
    *n->looks -= n->on[i][l].n / SPREADS_A_LOOK;
  }
  return *block;
}

static bool find_blocks(tf_f_nest *n, int i, spreads *work) {
  const unsigned dims = n->op->part[i].dims;
  const size_t entries = entries_of(n, dims);
  if (entries > ENTRIES) return false;
  work[0].n = 1;
  for (int d = 0; d < DIMS; d++)
    work[0].on[0][d] = 1;
  for (int l = 1; l <= n->op->inner + 1; l++) {
    double *block = n->block[i][l] = malloc(entries * sizeof *block);
    if (!block) return false;
    spread_further(n->op, dims, l, &work[0], &work[1]);
    n->on[i][l].n = work[0].n;
    memcpy(n->on[i][l].on, work[0].on, (size_t)work[0].n * sizeof work[0].on[0]);
    for (size_t k = 0; k < entries; k++)
      block[k] = -1;
  }
  return true;
}

tf_f_nest *tf_f_nest_new(const tf_f_op *op, int most) {
  tf_f_nest *n = malloc(sizeof *n);
  spreads *work = malloc(2 * sizeof *work);
  bool ok = n && work && op->inner + 1 < LEVELS;
  if (n) {
    memset(n, 0, offsetof(tf_f_nest, on));
    n->op = op;
  }
  for (int d = 0; d < op->n_dims && ok; d++)
    ok = find_classes(op->extent[d], most, &n->steps[d]);
  double all = 1;
  for (int l = 1; l <= op->inner + 1 && ok; l++) {
    const int64_t *mesh = l > op->inner ? op->mesh : op->arch->memories[l].mesh;
    n->instances[l] = all *= (double)mesh[0] * (double)mesh[1];
  }
  for (int i = 0; i < op->n && ok; i++)
    ok = find_blocks(n, i, work);
  free(work);
  if (ok) return n;
  tf_f_nest_free(n);
  return NULL;
}

void tf_f_nest_free(tf_f_nest *n) {
  for (int i = 0; n && i < PARTS; i++)
    for (int l = 0; l < LEVELS; l++)
      free(n->block[i][l]);
  free(n);
}

int tf_f_nest_classes(const tf_f_nest *n, int dim) { return n->steps[dim].n; }

/* ---- room ----------------------------------------------------------------------------------- */
static const tf_f_part *part_of(const tf_f_nest *n, int i) { return &n->op->part[i]; }

static double block_of(const tf_f_nest *n, int i) { return block_at(n, i, n->level[i], n->at[i]); }

static double room_of(const tf_f_nest *n, int l) {
  const tf_memory *m = &n->op->arch->memories[l];
  if (m->capacity_words < 0) return INFINITY;
  return (double)m->capacity_words * m->word_bits;
}

/* Bits that a word of part i takes in the memory that holds it: twice its own where that is double
 * buffered, but for what has its home there. */
static double bits_of(const tf_f_nest *n, int i) {
  const tf_f_part *p = part_of(n, i);
  return p->role <= TF_F_OUT && n->op->arch->memories[n->level[i]].double_buffered ? 2 * p->bits
                                                                                   : p->bits;
}

/* Bits that each memory has left; false: it is too little. */
static bool find_room(const tf_f_nest *n, double *left) {
  for (int l = 1; l <= n->op->inner; l++)
    left[l] = room_of(n, l);
  for (int i = 0; i < n->op->n; i++) {
    const double words = block_of(n, i);
    if (n->level[i] > n->op->inner) {
      if (words > 1) return false;
      continue;
    }
    left[n->level[i]] -= words * bits_of(n, i);
  }
  for (int l = 1; l <= n->op->inner; l++)
    if (left[l] < 0) return false;
  return true;
}

/* ---- what is spared ------------------------------------------------------------------------- */
/* How many times an even share the words of a tensor could be, in the room there is. */
static double slack_of(const tf_f_nest *n, int i, const double *left) {
  const tf_f_part *p = part_of(n, i);
  const int l = n->level[i];
  double words = (block_of(n, i) + left[l] / bits_of(n, i)) * n->instances[l];
  for (int d = 0; d < n->op->n_dims; d++)
    if (p->dims >> d & 1)
      words *= (double)n->steps[d].of[n->at[i][d]].hi / (double)n->op->extent[d];
  return words;
}

static double in_range(double x, double lo, double hi) { return fmin(fmax(x, lo), hi); }

/* The share of a dim whose runs have two steps, and shorter ones of a single step. */
static double of_two_steps(double slack, double deep) {
  return in_range(slack * (2 + 2 * deep) / (2 + deep) - 1, deep / (2 + deep), 1);
}

/* The share of the words that P on a dim spares, at most, with such numbers of steps. */
static double spared(const steps_class *c, double deep, double slack, double instances) {
  double most = 0;
  if (c->lo <= 2 && c->hi >= 2) most = in_range(slack - 1, 0, (instances - 1) / instances);
  if (c->hi < 3) return most;
  const double steps = c->lo > 3 ? (double)c->lo : 3;
  if (deep <= 0) return fmax(most, steps > 3 ? 1 / (steps - 1) : 1.0 / 3);
  return fmax(most, fmax((1 + deep) / (3 + deep), of_two_steps(slack, deep)));
}

/* The share of a dim of which an instance has a single step, at most, inside of a place with `out`
 * steps, where c are all steps. */
static double single(const steps_class *c, const steps_class *out, double deep, double slack) {
  if (c->lo <= out->hi) return 1;
  const double steps = ceil((double)c->lo / (double)out->hi), cuts = deep + (out->hi > 1) + 1;
  const double share = cuts / (steps + cuts);
  if (steps >= 2 + cuts) return share;
  if (out->hi == 1 && c->hi == 2) return in_range(slack - 1, 0, 1);
  return fmax(share, of_two_steps(slack, cuts - 1));
}

/* The product of the steps of dims that part i does not have, at the place of part `at`. */
static double times_at(const tf_f_nest *n, int i, int at) {
  double times = 1;
  for (int d = 0; d < n->op->n_dims; d++)
    if (!(part_of(n, i)->dims >> d & 1)) times *= (double)n->steps[d].of[n->at[at][d]].lo;
  return times;
}

/* The places that `look` is shown stand for all mappings that have no more steps of a dim at the
 * places of parts that have it, and no fewer at those of parts that lack it; but for those that are
 * fixed, and those that do not matter. */
typedef enum { NO_MORE, NO_FEWER, JUST, UNKNOWN } stands;
static stands stands_for(const tf_f_nest *n, int place, int d);

/* Whether loops on dim d move the Tile of the memory that holds part i: all of these are P or
 * outside of it. */
static bool moves(const tf_f_nest *n, int i, int d) {
  return part_of(n, i)->role <= TF_F_OUT && part_of(n, i)->dims >> d & 1;
}

/* A part with no more steps of some dims than these, and what its memory has left then. */
typedef struct {
  int part, most[DIMS];
  double left;
} limits;

/* Whether there is room for it, and for what has no more steps then: 6. */
static bool has_room(const tf_f_nest *n, limits *m) {
  const int inner = n->level[m->part];
  for (int l = inner; l >= 1; l--) {
    double left = room_of(n, l);
    for (int k = 0; k < n->op->n; k++) {
      int at[DIMS];
      if (n->level[k] != l) continue;
      for (int d = 0; d < n->op->n_dims; d++)
        at[d] = moves(n, k, d) && m->most[d] < n->at[k][d] ? m->most[d] : n->at[k][d];
      left -= block_at(n, k, l, at) * bits_of(n, k);
    }
    if (left < 0) return false;
    if (l == inner) m->left = left;
  }
  return true;
}

/* Limits dim d to as few steps, `least` or more, as leave room. */
static void limit(const tf_f_nest *n, int d, int least, limits *m) {
  int most = n->at[m->part][d];
  while (least < most) {
    m->most[d] = (least + most) / 2;
    if (has_room(n, m))
      most = m->most[d];
    else
      least = m->most[d] + 1;
  }
  m->most[d] = most;
}

/* How many times an even share the words of a part could be, with such limits. */
static double slack_within(const tf_f_nest *n, const limits *m) {
  const int i = m->part, l = n->level[i];
  int at[DIMS];
  double share = n->instances[l];
  for (int d = 0; d < n->op->n_dims; d++) {
    at[d] = m->most[d] < n->at[i][d] ? m->most[d] : n->at[i][d];
    if (part_of(n, i)->dims >> d & 1)
      share *= (double)n->steps[d].of[at[d]].hi / (double)n->op->extent[d];
  }
  return (block_at(n, i, l, at) + m->left / bits_of(n, i)) * share;
}

/* What P spares at most, with the limit's steps of some dims; of others, with these or more. */
typedef struct {
  unsigned just, from;
  double most;
} sparing;

/* The most of `single` of dim d with the limit's steps or more, up to `most`: of many it is less
 * with more, and of few it depends on the room. */
static double single_from(const tf_f_nest *n, int d, int most, const limits *m,
                          const steps_class *out) {
  const double deep = n->op->deep[d], cuts = deep + (out->hi > 1) + 1;
  double share = 0;
  bool many = false;
  for (limits now = *m; now.most[d] <= most && !many && share < 1; now.most[d]++) {
    const steps_class *c = &n->steps[d].of[now.most[d]];
    if (!has_room(n, &now)) continue;
    share = fmax(share, single(c, out, deep, slack_within(n, &now)));
    many = (double)c->lo > (1 + cuts) * (double)out->hi;
  }
  return share;
}

/* The words of part i that enter only once for each of the loops outside of a place further out:
 * no more than those of which an instance has a single step there, in each of the dims. */
static double share_outside(const tf_f_nest *n, int place, const limits *m, const sparing *s) {
  const int i = m->part;
  double share = 1;
  for (int d = 0; d < n->op->n_dims; d++) {
    const stands what = stands_for(n, place, d);
    const int out = n->at[n->order[place]][d];
    limits now = *m;
    if (!(part_of(n, i)->dims >> d & 1) || (what != NO_MORE && what != JUST)) continue;
    for (int e = 0; e < n->op->n_dims; e++)
      if (e != d && s->from >> e & 1) now.most[e] = CLASSES;
    if (!((s->just | s->from) >> d & 1)) limit(n, d, n->low[i][d], &now);
    share = fmin(share, single_from(n, d, s->just >> d & 1 ? now.most[d] : n->at[i][d], &now,
                                    &n->steps[d].of[out]));
  }
  return share;
}

/* The fewest times that the loops outside of a place make part i enter. */
static double times_outside(const tf_f_nest *n, int i, int place) {
  double times = 1;
  for (int d = 0; d < n->op->n_dims; d++)
    if (!(part_of(n, i)->dims >> d & 1))
      times *= (double)n->steps[d].of[n->low[n->order[place]][d]].lo;
  return times;
}

/* The times that the words of a part enter where so much is spared. */
static double times_with(const tf_f_nest *n, const limits *m, const sparing *s) {
  const int i = m->part;
  const double times = times_at(n, i, i);
  double least = times - s->most * (times - 1);
  for (int p = 0; n->order[p] != i; p++) {
    const double share = share_outside(n, p, m, s);
    if (share < s->most)
      least =
          fmax(least, times * (1 - s->most) + share + times_outside(n, i, p) * (s->most - share));
  }
  return least;
}

/* The least times where P is on dim d in two steps: what it spares is what the room says.  Less
 * room that way is more where a single step of another dim, e, counts: all of its numbers are
 * tried. */
static double times_two(const tf_f_nest *n, int d, int e, limits *m) {
  const int i = m->part;
  const double all = n->instances[n->level[i]], deep = n->op->deep[d];
  double least = times_at(n, i, i);
  sparing two = {.just = 1u << d | 1u << e};
  for (m->most[e] = e == d ? 1 : n->low[i][e]; m->most[e] <= n->at[i][e]; m->most[e]++) {
    if (!has_room(n, m)) continue;
    two.most = spared(&n->steps[d].of[1], deep, slack_within(n, m), all);
    if (two.most > 0) least = fmin(least, times_with(n, m, &two));
    if (e == d || two.most >= (all - 1) / all) break;
  }
  m->most[e] = e == d ? 1 : CLASSES;
  return least;
}

/* The least times of part i where P is on dim d.  Of more than two steps, the fewest that leave
 * room spare most, or all the same but for the room. */
static double times_on(const tf_f_nest *n, int i, int d, double slack) {
  const unsigned dims = part_of(n, i)->dims;
  const int all = n->at[i][d];
  double times = times_at(n, i, i);
  limits m = {.part = i};
  for (int e = 0; e < DIMS; e++)
    m.most[e] = CLASSES;
  if (n->low[i][d] <= 1 && all >= 1) {
    double two = 0;
    m.most[d] = 1;
    for (int e = 0; e < n->op->n_dims; e++)
      if (dims >> e & 1 && (e != d || dims == 1u << d)) two = fmax(two, times_two(n, d, e, &m));
    times = fmin(times, two);
  }
  if (all < 2) return times;
  limit(n, d, n->low[i][d] > 2 ? n->low[i][d] : 2, &m);
  const sparing more = {
      .from = 1u << d,
      .most = spared(&n->steps[d].of[m.most[d]], n->op->deep[d], slack, n->instances[n->level[i]])};
  return fmin(times, times_with(n, &m, &more));
}

/* The times that the words of part i enter, at least, on the average, in all mappings that the
 * places stand for. */
static double times_of(const tf_f_nest *n, int i, const double *left) {
  const double times = times_at(n, i, i);
  if (times <= 1 || n->level[i] > n->op->inner) return times;
  const double slack = slack_of(n, i, left);
  double least = times;
  for (int d = 0; d < n->op->n_dims; d++)
    if (part_of(n, i)->dims >> d & 1) least = fmin(least, times_on(n, i, d, slack));
  return fmax(1, least);
}

/* ---- places --------------------------------------------------------------------------------- */
/* Lowers what stands for more steps than a Tile further in, or the same one, has: 6. */
static void tie(tf_f_nest *n) {
  int at[PARTS][DIMS];
  memcpy(at, n->at, sizeof at);
  for (int i = 0; i < n->op->n; i++)
    for (int k = 0; k < n->op->n; k++)
      for (int d = 0; d < n->op->n_dims && n->level[i] <= n->level[k]; d++)
        if (moves(n, i, d) && moves(n, k, d) && n->at[i][d] > at[k][d]) n->at[i][d] = at[k][d];
}

/* The fewest steps of dim d at each place: those that it has, or that leave room; no fewer than
 * those outside of it, and at a Tile no fewer than at one further out. */
static void find_low(tf_f_nest *n, int d) {
  int least = 0;
  for (int p = 0; p < n->op->n; p++) {
    const int i = n->order[p];
    const stands what = stands_for(n, p, d);
    limits m = {.part = i};
    for (int e = 0; e < DIMS; e++)
      m.most[e] = CLASSES;
    if (what == NO_FEWER || what == JUST) least = n->at[i][d];
    if (what == NO_MORE && n->level[i] <= n->op->inner && least < n->at[i][d]) {
      limit(n, d, least, &m);
      least = m.most[d];
    }
    n->low[i][d] = least;
  }
  for (int i = 0; i < n->op->n; i++)
    for (int k = 0; k < n->op->n && moves(n, i, d); k++)
      if (moves(n, k, d) && n->level[k] <= n->level[i] && n->low[k][d] > n->low[i][d])
        n->low[i][d] = n->low[k][d];
}

static void look_tied(tf_f_nest *n) {
  double left[LEVELS], words = 0;
  --*n->looks;
  if (!find_room(n, left)) return;
  for (int d = 0; d < n->op->n_dims; d++)
    find_low(n, d);
  for (int i = 0; i < n->op->n && words < n->best; i++) {
    const tf_f_part *p = part_of(n, i);
    if (p->role > TF_F_OUT) continue;
    words += p->words * (times_of(n, i, left) - 1) * (p->role == TF_F_OUT ? 2 : 1);
  }
  n->best = fmin(n->best, words);
}

static void look(tf_f_nest *n) {
  int at[PARTS][DIMS];
  memcpy(at, n->at, sizeof at);
  tie(n);
  look_tied(n);
  memcpy(n->at, at, sizeof at);
}

/* What a place wants of the steps of a dim: as many as there may be, few, nothing, or so many. */
typedef enum { MANY, FEW, ANY, FIXED } wish;

static wish wish_of(const tf_f_nest *n, int place, int d, int *fixed) {
  const int i = n->order[place];
  const tf_f_part *p = part_of(n, i);
  const bool has = p->dims >> d & 1;
  *fixed = 0;
  if (p->role == TF_F_MADE && !has) return FIXED;
  if (has && n->pin->part == i) {
    *fixed = n->pin->steps[d];
    return FIXED;
  }
  if (has) return MANY;
  return p->role == TF_F_READ ? ANY : FEW; /* its maker works again for loops on these: no matter */
}

static stands stands_for(const tf_f_nest *n, int place, int d) {
  static const stands of[] = {[MANY] = NO_MORE, [FEW] = NO_FEWER, [ANY] = UNKNOWN, [FIXED] = JUST};
  int fixed;
  const wish what = wish_of(n, place, d, &fixed);
  return what != ANY && n->just[n->order[place]][d] ? JUST : of[what];
}

static void place_dim(tf_f_nest *n, int d, int place, int least);

/* The most steps that what is fixed at a place from `from` in allows. */
static int most_steps(const tf_f_nest *n, int d, int from) {
  for (int p = from, fixed; p < n->op->n; p++)
    if (wish_of(n, p, d, &fixed) == FIXED) return fixed;
  return n->steps[d].n - 1;
}

/* The places from .. to - 1 want many steps of the dim: all that there may be, if the next one does
 * not want few. */
static void place_many(tf_f_nest *n, int d, int from, int to, int least) {
  int fixed;
  const int most = most_steps(n, d, to);
  const bool open = to < n->op->n && wish_of(n, to, d, &fixed) == FEW;
  const int last = n->order[to - 1];
  n->just[last][d] = open && part_of(n, last)->dims >> d & 1;
  for (int k = open ? least : most; k >= least && k <= most && n->best > 0; k++) {
    for (int p = from; p < to; p++)
      n->at[n->order[p]][d] = k;
    place_dim(n, d, to, k);
  }
  n->just[last][d] = false;
}

/* A place wants few steps of the dim: it has just as many as those outside of it, or more. */
static void place_few(tf_f_nest *n, int d, int place, int least) {
  const int i = n->order[place];
  bool matters = false;
  for (int p = place + 1; p < n->op->n; p++)
    matters |= moves(n, n->order[p], d);
  n->at[i][d] = least;
  n->just[i][d] = matters;
  place_dim(n, d, place + 1, least);
  n->just[i][d] = false;
  if (!matters || least + 1 == n->steps[d].n) return;
  n->at[i][d] = least + 1;
  place_dim(n, d, place + 1, least + 1);
}

/* Steps of dim d at the places from `place` in, no fewer than outside; then of the dims behind. */
static void place_dim(tf_f_nest *n, int d, int place, int least) {
  int fixed, to = place;
  if (*n->looks < 0) return;
  if (d == n->op->n_dims) {
    look(n);
    return;
  }
  if (place == n->op->n) {
    place_dim(n, d + 1, 0, 0);
    return;
  }
  const wish what = wish_of(n, place, d, &fixed);
  if (what == FIXED && fixed < least) return;
  if (what == MANY) {
    for (; to < n->op->n; to++) {
      const wish next = wish_of(n, to, d, &fixed);
      if (next == FEW || next == FIXED) break;
    }
    place_many(n, d, place, to, least);
    return;
  }
  if (what == FEW) {
    place_few(n, d, place, least);
    return;
  }
  n->at[n->order[place]][d] = what == FIXED ? fixed : least;
  place_dim(n, d, place + 1, what == FIXED ? fixed : least);
}

/* What units take past all memories has its place inside of all others. */
static bool is_in_order(const tf_f_nest *n) {
  for (int p = 1; p < n->op->n; p++)
    if (n->level[n->order[p - 1]] > n->op->inner && n->level[n->order[p]] <= n->op->inner)
      return false;
  return true;
}

static void all_orders(tf_f_nest *n, int k) {
  if (k >= n->op->n || k >= PARTS) {
    if (is_in_order(n)) place_dim(n, 0, 0, 0);
    return;
  }
  for (int i = k; i < n->op->n && i < PARTS; i++) {
    const int a = n->order[k];
    n->order[k] = n->order[i], n->order[i] = a;
    all_orders(n, k + 1);
    n->order[i] = n->order[k], n->order[k] = a;
  }
}

/* The memories that hold part i, and those behind it. */
static void all_levels(tf_f_nest *n, int i) {
  if (i >= n->op->n || i >= PARTS) {
    all_orders(n, 0);
    return;
  }
  const int most = n->op->inner + (n->op->part[i].role <= TF_F_OUT);
  for (int l = 1; l <= most; l++) {
    if (n->pin->part == i && n->pin->level != l) continue;
    n->level[i] = l;
    all_levels(n, i + 1);
  }
}

/* Whether the pinned part has room: else no look is needed. */
static bool has_room_itself(tf_f_nest *n) {
  const tf_f_pin *pin = n->pin;
  if (pin->part < 0) return true;
  --*n->looks;
  return block_at(n, pin->part, pin->level, pin->steps) * part_of(n, pin->part)->bits <=
         room_of(n, pin->level);
}

double tf_f_nest_least(tf_f_nest *n, const tf_f_pin *pin, int64_t *looks) {
  n->pin = pin, n->looks = looks, n->best = INFINITY;
  for (int i = 0; i < n->op->n; i++)
    n->order[i] = i;
  if (has_room_itself(n)) all_levels(n, 0);
  return n->best;
}
