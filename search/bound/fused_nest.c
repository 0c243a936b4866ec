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
 * 7. P is on one dim.  What has that dim, and its own P further in, is moved by P, too.
 * 8. Two tensors of one memory have one Tile there (6): a step on a dim covers as many values of
 * both, and there is room for these.
 *
 * Some words are *spared* in 2: those in an instance for which P has a single step, so that nothing
 * replaces them (fused_steps.c).  Of these, too, all enter for each of the loops outside of a
 * place further out that does not have their dims, but for those of which an instance has a single
 * step inside of that place in each dim, and a single one of the P of that place, where that is on
 * one of their dims.  Instances spread dims alike whatever the other dims: such shares multiply.  A
 * share above an even one takes room in each dim, and this room multiplies, too.
 *
 * Branch and bound finds the least of all numbers of steps and dims for P.  A box has a range of
 * steps for each place and dim.  Each of the terms counts with the end that is least for it: blocks
 * and what is spared with many steps, times with few.  The box with the least is split where both
 * halves gain most.  When the looks are gone, the least of all open boxes is the bound. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/grow.h"
#include "model/demand/on_mesh.h"
#include "search/bound/fused.h"
#include "search/bound/fused_steps.h"

static const double NEAR = 1e-9;

enum {
  DIMS = TF_F_DIMS,
  PARTS = TF_F_PARTS,
  LEVELS = TF_F_LEVELS,
  CLASSES = TF_F_CLASSES,
  VECTORS = 400,
  NONE = DIMS,        /* P is on no dim */
  GRID = 6,           /* parts of the room that dims share */
  TRIES = 20,         /* numbers of values */
  ENTRIES = 1 << 16,  /* of a table */
  SPREADS_A_LOOK = 16 /* take as long as one */
};

/* Ways to spread the dims of a tensor, of which none is better than another. */
typedef struct {
  int n; /* 0: too many to list */
  int64_t on[VECTORS][DIMS];
} spreads;

/* Mappings: where each part is, and the classes of steps, from lo to hi, at its place. */
typedef struct {
  double least;                       /* words of any of them */
  int64_t number;                     /* of the box */
  bool fine;                          /* that the slacks of all dims have one product counts */
  uint8_t level[PARTS], order[PARTS]; /* order: from the outermost place in */
  uint8_t lo[PARTS][DIMS], hi[PARTS][DIMS];
  uint32_t on[PARTS]; /* dims, as bits, that P may be on; NONE: no loop moves the part */
} box;

struct tf_f_nest {
  const tf_f_op *op;
  tf_f_classes steps[DIMS];
  double instances[LEVELS];     /* of each memory; behind the last of units */
  double *block[PARTS][LEVELS]; /* [level]: least words in an instance, by classes of steps; below
                                 * 0: not yet known */
  /* the question */
  tf_f_pin *pin;
  int64_t *looks;
  bool fine;   /* as above */
  double best; /* words of a point */
  double lost; /* the least of what is no longer open */
  box *open;   /* a heap */
  int64_t n_open, number;
  spreads on[PARTS][LEVELS]; /* the last one, as most of it is never touched */
};

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

static size_t entry(const tf_f_nest *n, unsigned dims, const uint8_t *at) {
  size_t i = 0;
  for (int d = 0; d < n->op->n_dims; d++)
    if (dims >> d & 1) i = i * (size_t)n->steps[d].n + (size_t)at[d];
  return i;
}

static double least_block(const tf_f_nest *n, unsigned dims, int l, const spreads *s,
                          const uint8_t *at) {
  double least = INFINITY, all = 1;
  for (int d = 0; d < n->op->n_dims; d++)
    if (dims >> d & 1) all *= (double)n->steps[d].of[at[d]].len;
  if (!s->n) return fmax(1, all / n->instances[l] * (1 - 1e-12));
  for (int i = 0; i < s->n; i++) {
    double words = 1;
    for (int d = 0; d < n->op->n_dims; d++)
      if (dims >> d & 1) words *= (double)tf_f_divided_up(n->steps[d].of[at[d]].len, s->on[i][d]);
    if (words < least) least = words;
  }
  return least;
}

static double block_at(const tf_f_nest *n, int i, int l, const uint8_t *at) {
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
    ok = tf_f_find_classes(op->extent[d], most, &n->steps[d]);
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
  if (n) free(n->open);
  free(n);
}

int tf_f_nest_classes(const tf_f_nest *n, int dim) { return n->steps[dim].n; }

/* ---- boxes ---------------------------------------------------------------------------------- */
static const tf_f_part *part_of(const tf_f_nest *n, int i) { return &n->op->part[i]; }

static bool has_dim(const tf_f_nest *n, int i, int d) { return part_of(n, i)->dims >> d & 1; }

/* Whether loops on dim d move the Tile of the memory that holds part i: all of these are P or
 * outside of it. */
static bool moves(const tf_f_nest *n, int i, int d) {
  return part_of(n, i)->role <= TF_F_OUT && has_dim(n, i, d);
}

/* Of dim d: no fewer steps further in (3), nor at a Tile than at one further out (6).  False: there
 * are no such numbers. */
static bool narrow_dim(const tf_f_nest *n, int d, box *b) {
  const int parts = n->op->n;
  for (bool changed = true; changed;) {
    changed = false;
    for (int x = 0; x < parts; x++)
      for (int y = 0; y < parts; y++) {
        const int i = b->order[x], k = b->order[y];
        const bool tied = moves(n, i, d) && moves(n, k, d) && b->level[i] <= b->level[k];
        if (x == y || (x > y && !tied) || (x < y && y > x + 1 && !tied)) continue;
        if (b->hi[i][d] > b->hi[k][d]) b->hi[i][d] = b->hi[k][d], changed = true;
        if (b->lo[k][d] < b->lo[i][d]) b->lo[k][d] = b->lo[i][d], changed = true;
      }
  }
  for (int i = 0; i < parts; i++)
    if (b->lo[i][d] > b->hi[i][d]) return false;
  return true;
}

/* ---- room ----------------------------------------------------------------------------------- */
static double room_of(const tf_f_nest *n, int l) {
  const tf_memory *m = &n->op->arch->memories[l];
  if (m->capacity_words < 0) return INFINITY;
  return (double)m->capacity_words * m->word_bits;
}

/* Bits that a word of part i takes in memory l that holds it: twice its own where that is double
 * buffered, but for what has its home there. */
static double bits_in(const tf_f_nest *n, int i, int l) {
  const tf_f_part *p = part_of(n, i);
  return p->role <= TF_F_OUT && n->op->arch->memories[l].double_buffered ? 2 * p->bits : p->bits;
}

/* Bits that memory l has left where the box leaves most; below 0: too little. */
static double left_in(const tf_f_nest *n, const box *b, int l) {
  double left = room_of(n, l);
  for (int i = 0; i < n->op->n; i++)
    if (b->level[i] == l) left -= block_at(n, i, l, b->hi[i]) * bits_in(n, i, l);
  return left;
}

static bool has_room(const tf_f_nest *n, const box *b) {
  for (int l = 1; l <= n->op->inner; l++)
    if (left_in(n, b, l) < 0) return false;
  for (int i = 0; i < n->op->n; i++)
    if (b->level[i] > n->op->inner && block_at(n, i, b->level[i], b->hi[i]) > 1) return false;
  return true;
}

/* Whether there is room where part i has no more steps of dim d. */
static bool has_room_with(const tf_f_nest *n, const box *b, int i, int d, int most) {
  box now = *b;
  now.hi[i][d] = (uint8_t)most;
  return narrow_dim(n, d, &now) && has_room(n, &now);
}

/* The fewest steps of dim d of part i, of `least` to the most it may have, that leave room. */
static int fewest(const tf_f_nest *n, const box *b, int i, int d, int least) {
  for (int most = b->hi[i][d]; least < most;) {
    const int middle = (least + most) / 2;
    if (has_room_with(n, b, i, d, middle))
      most = middle;
    else
      least = middle + 1;
  }
  return least;
}

/* Raises the fewest steps of dim d of a part that has it to those that leave room. */
static void raise_low(const tf_f_nest *n, box *b, int i, int d) {
  const int least = b->lo[i][d];
  if (least == b->hi[i][d] || has_room_with(n, b, i, d, least)) return;
  b->lo[i][d] = (uint8_t)fewest(n, b, i, d, least + 1);
}

/* P has several steps of its dim. */
static bool narrow_on(const tf_f_nest *n, box *b) {
  for (int i = 0; i < n->op->n; i++) {
    const uint32_t none = UINT32_C(1) << NONE;
    for (int d = 0; d < n->op->n_dims; d++) {
      const uint32_t bit = UINT32_C(1) << d;
      if (!has_dim(n, i, d)) continue;
      if (b->on[i] == none) b->hi[i][d] = 0;
      if (b->on[i] == bit && !b->lo[i][d]) b->lo[i][d] = 1;
      if (!b->hi[i][d]) b->on[i] &= ~bit;
      if (b->lo[i][d]) b->on[i] &= ~none;
    }
    if (!b->on[i]) return false;
  }
  return true;
}

/* False: no mapping is in it. */
static bool narrow(const tf_f_nest *n, box *b) {
  if (!narrow_on(n, b)) return false;
  for (int d = 0; d < n->op->n_dims; d++)
    if (!narrow_dim(n, d, b)) return false;
  if (!has_room(n, b)) return false;
  for (int d = 0; d < n->op->n_dims; d++) {
    for (int i = 0; i < n->op->n; i++)
      if (has_dim(n, i, d)) raise_low(n, b, i, d);
    if (!narrow_dim(n, d, b)) return false;
  }
  return narrow_on(n, b);
}

/* ---- what is spared ------------------------------------------------------------------------- */
/* Words that a part has in an instance of memory l, at least, for each value that a step of dim d
 * covers: one covers an even share of the others. */
static double words_each(const tf_f_nest *n, const box *b, int i, int d, int l) {
  double words = 1 / n->instances[l];
  for (int e = 0; e < n->op->n_dims; e++)
    if (e != d && has_dim(n, i, e)) words *= (double)n->steps[e].of[b->hi[i][e]].len;
  return words * (1 - 1e-12);
}

/* Whether a step of P of part i on dim d covers as many values of another part, too: 6. */
static bool shares_step(const tf_f_nest *n, const box *b, int i, int d, int other) {
  return other == i || (b->level[i] == b->level[other] && moves(n, i, d) && moves(n, other, d));
}

/* Bits in the memory of part i where a step of its P on dim d covers so many values.  next: fewer,
 * that take fewer words of one part; 0: there are none. */
static double bits_with(const tf_f_nest *n, const box *b, int i, int d, double values,
                        double *next) {
  const int l = b->level[i];
  double bits = 0;
  *next = 0;
  for (int k = 0; k < n->op->n; k++) {
    if (b->level[k] != l) continue;
    double words = block_at(n, k, l, b->hi[k]);
    const double each = shares_step(n, b, i, d, k) ? words_each(n, b, k, d, l) : 0;
    if (ceil(each * values) > words) {
      words = ceil(each * values);
      *next = fmax(*next, floor((words - 1) / each));
    }
    bits += words * bits_in(n, k, l);
  }
  return bits;
}

/* How many values a step of P of part i on dim d covers, at most, where the box leaves most room.
 */
static double values_of(const tf_f_nest *n, const box *b, int i, int d) {
  const int l = b->level[i];
  double left = room_of(n, l), each = 0, next;
  if (isinf(left)) return left;
  for (int k = 0; k < n->op->n; k++)
    if (shares_step(n, b, i, d, k))
      each += words_each(n, b, k, d, l) * bits_in(n, k, l);
    else if (b->level[k] == l)
      left -= block_at(n, k, l, b->hi[k]) * bits_in(n, k, l);
  double values = floor(left / each);
  for (int tries = 0; tries < TRIES; tries++) {
    if (bits_with(n, b, i, d, values, &next) <= room_of(n, l) || next <= 0) break;
    values = next;
  }
  return values;
}

/* Of one number of steps. */
static tf_f_room room_at(const tf_f_nest *n, int d, int at, double values, double instances) {
  const double share = (double)n->op->extent[d] / (double)n->steps[d].of[at].hi;
  return (tf_f_room){fmax(1, values / share), values, instances};
}

/* The most of `spared` over the box: of three steps or more, the fewest spare most, and the most
 * slack is that of the most. */
static double most_spared(const tf_f_nest *n, const box *b, int i, int d, double values,
                          double instances) {
  const int lo = b->lo[i][d], hi = b->hi[i][d];
  const double deep = n->op->deep[d];
  double most = 0;
  for (int at = lo; at <= hi && at < 2; at++) {
    const tf_f_room r = room_at(n, d, at, values, instances);
    most = fmax(most, tf_f_spared(&n->steps[d].of[at], deep, &r));
  }
  if (hi < 2) return most;
  const tf_f_room r = room_at(n, d, hi, values, instances);
  return fmax(most, tf_f_spared(&n->steps[d].of[lo > 2 ? lo : 2], deep, &r));
}

/* The most of `single` over the box: of many steps it is less with more. */
static double most_single(const tf_f_nest *n, const box *b, int i, int place, int d,
                          double values) {
  const tf_f_steps *c = n->steps[d].of, out = {c[b->lo[place][d]].lo, c[b->hi[place][d]].hi, 0};
  const double deep = n->op->deep[d];
  double most = 0;
  for (int at = b->lo[i][d]; at <= b->hi[i][d] && most < 1; at++) {
    const tf_f_room r = room_at(n, d, at, values, n->instances[b->level[i]]);
    most = fmax(most, tf_f_single(&c[at], &out, deep, &r));
    if ((double)c[at].lo > (2 + deep + (out.hi > 1)) * (double)out.hi) break;
  }
  return most;
}

/* The product of the fewest steps of dims that part i does not have, at the place of another. */
static double times_at(const tf_f_nest *n, const box *b, int i, int place) {
  double times = 1;
  for (int d = 0; d < n->op->n_dims; d++)
    if (!has_dim(n, i, d)) times *= (double)n->steps[d].of[b->lo[place][d]].lo;
  return times;
}

/* What is known of a part in a box, by the dim that its P is on. */
typedef struct {
  double values[DIMS], spares[DIMS];
  double slack; /* the most that the slacks of all dims multiply to */
} known;

static void find_known(const tf_f_nest *n, const box *b, int i, known *k) {
  const int l = b->level[i];
  if (l > n->op->inner) return;
  k->slack = n->instances[l] * (block_at(n, i, l, b->hi[i]) + left_in(n, b, l) / bits_in(n, i, l));
  for (int d = 0; d < n->op->n_dims; d++) {
    if (!has_dim(n, i, d)) continue;
    k->slack *= (double)n->steps[d].of[b->hi[i][d]].hi / (double)n->op->extent[d];
    k->values[d] = values_of(n, b, i, d);
    k->spares[d] = most_spared(n, b, i, d, k->values[d], n->instances[l]);
  }
}

/* Whether loops outside of a place on all dims that part i does not have are P of that place, or
 * outside of it. */
static bool counts_all(const tf_f_nest *n, const box *b, int i, int place) {
  bool all = true;
  for (int d = 0; d < n->op->n_dims && part_of(n, place)->role == TF_F_READ; d++)
    all &= has_dim(n, i, d) || has_dim(n, place, d) || !b->hi[place][d];
  return all;
}

/* Shares of a part in each of its dims, by the slack of that: the GRID-th root of all slack, its
 * square, and so on. */
typedef struct {
  int n, dim[DIMS];
  double of[DIMS][GRID + 1];
} shares;

/* Of which an instance has a single step inside of a place further out, in each dim; and in d also
 * of the part's own P. */
static void find_shares(const tf_f_nest *n, const box *b, const known *k, int i, int d, int place,
                        shares *s) {
  const double instances = n->instances[b->level[i]], root = pow(fmax(1, k->slack), 1.0 / GRID);
  s->n = 0;
  for (int e = 0; e < n->op->n_dims; e++) {
    if (!has_dim(n, i, e)) continue;
    double *of = s->of[s->n], values = k->values[e];
    const double even = (double)n->op->extent[e] / (double)n->steps[e].of[b->hi[i][e]].hi;
    for (int g = GRID; g >= (n->fine ? 0 : GRID); g--) {
      if (g < GRID) values = fmin(k->values[e], even * pow(root, g));
      of[g] = most_single(n, b, i, place, e, values);
      if (e == d) of[g] = fmin(of[g], most_spared(n, b, i, e, values, instances));
    }
    s->dim[s->n++] = e;
  }
}

/* The most of the product of the shares, each no more than its own limit, where that of their
 * slacks is `all` roots; 0: whatever it is. */
static double most_product(const shares *s, const double *limit, int all) {
  double most[GRID + 1];
  const int from = GRID - all;
  for (int g = from; g <= GRID; g++)
    most[g] = fmin(limit[0], s->of[0][g]);
  for (int k = 1; k < s->n; k++)
    for (int g = GRID; g >= from; g--) {
      double best = 0;
      for (int own = 0; own <= g - from; own++) { /* this one's slack is up to the next root */
        const int up_to = own < all ? own + 1 : GRID;
        best = fmax(best, fmin(limit[k], s->of[k][up_to]) * most[g - own]);
      }
      most[g] = best;
    }
  return most[GRID];
}

/* The words of part i, of which P is on dim d, that enter once only for all loops outside of a
 * place further out: those of which an instance has a single step inside of that place, in each of
 * the dims, and of the P of that place, too, where that is on one of them. */
static double share_of(const tf_f_nest *n, const box *b, const known *k, int i, int d, int place) {
  shares s;
  double most = 0, limit[DIMS];
  const bool all = counts_all(n, b, i, place);
  const int l = b->level[i] > b->level[place] ? b->level[i] : b->level[place];
  find_shares(n, b, &k[i], i, d, place, &s);
  for (int on = 0; on <= NONE && most < 1; on++) {
    if (!(b->on[place] >> on & 1)) continue;
    for (int e = 0; e < s.n; e++)
      limit[e] = s.dim[e] == on && all
                     ? most_spared(n, b, place, on, k[place].values[on], n->instances[l])
                     : 1;
    most = fmax(most, most_product(&s, limit, n->fine ? GRID : 0));
  }
  return most;
}

/* The times that the words of part i enter, at least, on the average, in all of the box. */
static double times_of(const tf_f_nest *n, const box *b, const known *k, int i) {
  const double times = times_at(n, b, i, i);
  double least = times;
  if (times <= 1 || b->level[i] > n->op->inner) return times;
  for (int d = 0; d < n->op->n_dims; d++) {
    if (!(b->on[i] >> d & 1)) continue;
    double share = k[i].spares[d], before = times, all = times;
    int p = 0;
    while (b->order[p] != i)
      p++;
    for (p--; p >= 0 && share > 0; p--) {
      const double outside = times_at(n, b, i, b->order[p]);
      if (outside <= 1) break;
      all -= share * (before - outside);
      share = fmin(share, share_of(n, b, k, i, d, b->order[p]));
      before = outside;
    }
    least = fmin(least, all - share * (before - 1));
  }
  return fmax(1, least);
}

static double words_of(const tf_f_nest *n, const box *b) {
  known k[PARTS];
  double words = 0;
  for (int i = 0; i < n->op->n; i++)
    find_known(n, b, i, &k[i]);
  for (int i = 0; i < n->op->n; i++) {
    const tf_f_part *p = part_of(n, i);
    if (p->role <= TF_F_OUT)
      words += p->words * (times_of(n, b, k, i) - 1) * (p->role == TF_F_OUT ? 2 : 1);
  }
  return words;
}

/* ---- branch and bound ----------------------------------------------------------------------- */
/* Finds the least words of a box, narrower; false: none is of use. */
static bool look(tf_f_nest *n, box *b) {
  --*n->looks;
  n->fine = b->fine = false;
  if (!narrow(n, b)) return false;
  b->least = fmax(b->least, words_of(n, b));
  return b->least < n->best;
}

/* The one with less words first; of equals the newer. */
static bool is_before(const box *a, const box *b) {
  return a->least < b->least || (a->least == b->least && a->number > b->number);
}

static void swap_open(tf_f_nest *n, int64_t a, int64_t b) {
  const box was = n->open[a];
  n->open[a] = n->open[b], n->open[b] = was;
}

static void push(tf_f_nest *n, const box *b) {
  if (!TF_GROW(n->open, n->n_open)) {
    n->lost = fmin(n->lost, b->least);
    return;
  }
  int64_t k = n->n_open++;
  n->open[k] = *b, n->open[k].number = n->number++;
  for (; k && is_before(&n->open[k], &n->open[(k - 1) / 2]); k = (k - 1) / 2)
    swap_open(n, k, (k - 1) / 2);
}

static box pop(tf_f_nest *n) {
  const box first = n->open[0];
  n->open[0] = n->open[--n->n_open];
  for (int64_t k = 0;;) {
    int64_t next = 2 * k + 1;
    if (next + 1 < n->n_open && is_before(&n->open[next + 1], &n->open[next])) next++;
    if (next >= n->n_open || !is_before(&n->open[next], &n->open[k])) return first;
    swap_open(n, k, next);
    k = next;
  }
}

/* Takes the fewest steps of a dim that a part does not have for which there is room. */
static void take_few(const tf_f_nest *n, box *b, int i, int d) {
  b->hi[i][d] = (uint8_t)fewest(n, b, i, d, b->lo[i][d]);
  narrow_dim(n, d, b);
}

/* Takes one dim for P of each part in turn, that with which the words are least. */
static void take_on(tf_f_nest *n, box *b) {
  n->fine = false;
  for (int i = 0; i < n->op->n; i++) {
    const uint32_t all = b->on[i];
    uint32_t best = all;
    double least = INFINITY;
    for (int d = 0; d <= NONE && (all & (all - 1)); d++) {
      if (!(all >> d & 1)) continue;
      b->on[i] = UINT32_C(1) << d;
      const double words = words_of(n, b);
      if (words < least) least = words, best = b->on[i];
    }
    b->on[i] = best;
  }
}

/* Finds a point of the box, and its words. */
static void dive(tf_f_nest *n, const box *from) {
  box b = *from;
  --*n->looks;
  for (int p = 0; p < n->op->n; p++)
    for (int d = 0; d < n->op->n_dims; d++)
      if (!has_dim(n, b.order[p], d)) take_few(n, &b, b.order[p], d);
  for (int d = 0; d < n->op->n_dims; d++)
    for (int i = 0; i < n->op->n; i++)
      b.lo[i][d] = b.hi[i][d];
  if (!narrow_on(n, &b)) return;
  take_on(n, &b);
  n->fine = true;
  const double words = words_of(n, &b);
  if (!(words < n->best)) return;
  n->best = words;
  for (int d = 0; d < n->op->n_dims && n->pin->part >= 0; d++)
    n->pin->found[d] = b.lo[n->pin->part][d];
}

/* Looks at both halves of a box; the more, the more it gains. */
static double look_at(tf_f_nest *n, const box *b, box half[2], bool use[2]) {
  const double small = 1e-6 * (1 + b->least);
  double gain = 1;
  for (int k = 0; k < 2; k++) {
    use[k] = look(n, &half[k]);
    const double most = isfinite(n->best) ? n->best : 4 * (1 + b->least);
    gain *= small + (use[k] ? fmin(half[k].least, most) : most) - b->least;
  }
  return gain;
}

/* Cuts the box in half by part i's steps of dim d, or for NONE by the dim that its P is on.  False:
 * there are no two. */
static bool halve(const tf_f_nest *n, const box *b, int i, int d, box half[2]) {
  half[0] = half[1] = *b;
  if (d == NONE) {
    const uint32_t first = b->on[i] & -b->on[i];
    half[0].on[i] = first, half[1].on[i] &= ~first;
    return half[1].on[i];
  }
  const int middle = (b->lo[i][d] + b->hi[i][d]) / 2;
  half[0].hi[i][d] = (uint8_t)middle, half[1].lo[i][d] = (uint8_t)(middle + 1);
  for (int k = 0; k < i; k++)
    if (moves(n, i, d) && moves(n, k, d) && b->level[i] == b->level[k]) return false;
  return b->lo[i][d] < b->hi[i][d];
}

/* Splits the box where that raises both halves most. */
static void split(tf_f_nest *n, const box *b) {
  box half[2], best[2];
  bool use[2], best_use[2] = {false, false};
  double most = -1;
  for (int d = 0; d <= NONE; d++)
    for (int i = 0; i < n->op->n; i++) {
      if ((d < NONE && d >= n->op->n_dims) || !halve(n, b, i, d, half)) continue;
      const double gain = look_at(n, b, half, use);
      if (gain <= most) continue;
      most = gain;
      memcpy(best, half, sizeof best);
      memcpy(best_use, use, sizeof best_use);
    }
  for (int k = 0; k < 2; k++)
    if (best_use[k] && best[k].least < n->best) push(n, &best[k]);
}

/* ---- memories and orders -------------------------------------------------------------------- */
/* What units take past all memories has its place inside of all others. */
static bool is_in_order(const tf_f_nest *n, const box *b) {
  for (int p = 1; p < n->op->n; p++)
    if (b->level[b->order[p - 1]] > n->op->inner && b->level[b->order[p]] <= n->op->inner)
      return false;
  return true;
}

/* All numbers of steps: those of a pinned part, and no loop outside of the home scope on a dim that
 * its maker reduces (4). */
static void all_steps(tf_f_nest *n, const box *of) {
  box b = *of;
  for (int i = 0; i < n->op->n; i++)
    for (int d = 0; d < n->op->n_dims; d++) {
      const bool pinned = n->pin->part == i && has_dim(n, i, d);
      b.lo[i][d] = (uint8_t)(pinned ? n->pin->lo[d] : 0);
      b.hi[i][d] = (uint8_t)(pinned ? n->pin->hi[d] : n->steps[d].n - 1);
      if (part_of(n, i)->role == TF_F_MADE && !has_dim(n, i, d)) b.hi[i][d] = 0;
    }
  for (int i = 0; i < n->op->n; i++)
    b.on[i] = part_of(n, i)->dims | UINT32_C(1) << NONE;
  if (look(n, &b)) push(n, &b);
}

static void all_orders(tf_f_nest *n, box *b, int k) {
  if (k >= n->op->n || k >= PARTS) {
    if (is_in_order(n, b)) all_steps(n, b);
    return;
  }
  for (int i = k; i < n->op->n && i < PARTS; i++) {
    const uint8_t a = b->order[k];
    b->order[k] = b->order[i], b->order[i] = a;
    all_orders(n, b, k + 1);
    b->order[i] = b->order[k], b->order[k] = a;
  }
}

/* The memories that hold part i, and those behind it. */
static void all_levels(tf_f_nest *n, box *b, int i) {
  if (i >= n->op->n || i >= PARTS) {
    all_orders(n, b, 0);
    return;
  }
  const int most = n->op->inner + (part_of(n, i)->role <= TF_F_OUT);
  for (int l = 1; l <= most; l++) {
    if (n->pin->part == i && n->pin->level != l) continue;
    b->level[i] = (uint8_t)l;
    all_levels(n, b, i + 1);
  }
}

double tf_f_nest_least(tf_f_nest *n, tf_f_pin *pin, double enough, int64_t *looks) {
  box all = {.least = 0};
  n->pin = pin, n->looks = looks, n->best = n->lost = INFINITY, n->n_open = n->number = 0;
  for (int i = 0; i < n->op->n; i++)
    all.order[i] = (uint8_t)i;
  all_levels(n, &all, 0);
  while (n->n_open && n->open[0].least < fmin(enough, n->best * (1 - NEAR)) && *looks >= 0) {
    box b = pop(n);
    if (!b.fine) {
      --*looks;
      n->fine = b.fine = true;
      b.least = fmax(b.least, words_of(n, &b));
      push(n, &b);
      continue;
    }
    dive(n, &b);
    if (b.least < n->best * (1 - NEAR))
      split(n, &b);
    else
      n->lost = fmin(n->lost, b.least);
  }
  const double open = n->n_open ? n->open[0].least : INFINITY;
  return fmin(fmin(n->best, n->lost), open);
}
