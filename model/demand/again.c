/* Words that enter a memory again for lack of capacity (reloads), in any mapping of one op.
 *
 * Let memory l hold tensor Z: the outermost that does, inside of the outermost memory, or any that
 * is asked for.  Where its Tile begins, an instance has blocks of c[d] values of dim d, which is
 * spread over up to s[d] instances.  Let P be the innermost temporal loop of several steps that
 * moves Z outside of the Tile, and N[d] the number of steps of the loops on d there, P and those
 * outside of it, in the first instance.
 *
 * 1. In the first step the first instance holds a whole block of Z.  All loops on a dim that Z has
 * are P or outside of it, so c[d] >= E[d] / (s[d] N[d]).  All tensors that a memory holds fit.
 * 2. Z enters at least T times, T the product of the N[e] of the dims that it does not have:
 * between two of these times P has replaced it.
 * 3. Except for what P does not move: the last of the blocks into which the loops outside of P
 * split its dim may have a single step, in all instances or in some.  `spared` is the most values
 * for which that is true, for any number of instances inside of P and any blocks that fit, in as
 * many steps as units take in all.  Words that instances share are read once: only the words of
 * instances that are the first along the dims that Z does not have count.  Of the loops on a dim e
 * that Z does not have, these values are spared only where a loop outside of them splits P's dim:
 * instances, or a temporal loop.  A temporal loop is also outside of the place of each tensor that
 * has e, if all these loops are outside of that tensor's Tile.  And P is not on a dim of a tensor
 * with a place further out, if that tensor's Tile is not further out: it would be that tensor's P.
 * 4. The first step has no fewer values of a dim than any other, so at least E[d] / N[d]; and a
 * whole block in the first instance.
 * 5. The places of all tensors, just inside of their P, are on one nest, so from the outermost in
 * N[d] never falls.  For an order of the tensors, a dim should have few steps where the tensor has
 * it, and many where it does not.  So it has one value outside of the first tensor that has it, and
 * no more than the units leave inside of the last that does not; all between share a number, which
 * is enumerated.  (For at most three tensors; for more there is no bound.)
 * 6. P may be on a dim that all tensors have.  Each value of such a dim counts by itself: the
 * mapping without the other values moves no more of this value's words, so nothing is spared.
 * 7. All loops outside of a Tile on a dim that its tensor has are P or outside of it.  So tensors
 * in one memory have the same N and c of a dim that they share, and one further out has no larger
 * N.
 */
#include "model/demand/again.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

enum {
  DIMS = TF_ENDED_DIMS,
  TENSORS = TF_ENDED_TENSORS,
  INNER = TF_ENDED_INNER,
  COUNTED = 3,   /* most tensors */
  LISTS = 64,    /* of values spared along a dim, by the number of its instances */
  NUMBERS = 256, /* of numbers of steps of a dim */
  LONGEST = 4096,
  LOOKS = 6000000 /* most numbers of steps that are tried, in all */
};

/* Values spared along a dim with up to `instances` instances, in each of which up to `inside` units
 * take up to `steps` steps, and blocks of up to c values: by[false][c] where only instances split
 * it outside of P, by[true][c] with temporal loops. */
typedef struct {
  int64_t instances, inside, steps;
  double *by[2];
} sparing;

struct tf_again {
  const tf_ended *op;
  int looks; /* left */
  sparing lists[DIMS][LISTS];
  /* the query */
  const tf_again_way *way;
  int asked;
  tf_again_time time;
  const void *of;
  double least, best;
  int n, z[COUNTED], level[COUNTED]; /* tensors that count, in the order that is tried */
  unsigned of_all;                   /* dims that all of these have */
  int n_open, open[DIMS];            /* dims whose numbers of steps are tried */
  int n_numbers[DIMS];
  double number[DIMS][NUMBERS];
  /* at the place of each tensor: least and most steps; 0: as many as the units leave */
  double steps[COUNTED][DIMS], most[COUNTED][DIMS];
  double block[COUNTED][DIMS]; /* least values in an instance of its memory */
  double room[INNER + 1];      /* bits that each memory has left for the tensors that count */
};

tf_again *tf_again_new(const tf_ended *op) {
  tf_again *a = calloc(1, sizeof *a);
  if (a) a->op = op, a->looks = LOOKS;
  return a;
}

bool tf_again_ended(const tf_again *a) { return a->looks <= 0; }

void tf_again_free(tf_again *a) {
  for (int d = 0; a && d < DIMS; d++)
    for (int i = 0; i < LISTS; i++)
      free(a->lists[d][i].by[0]);
  free(a);
}

/* ---- values that are spared ----------------------------------------------------------------- */
/* Values of a dim that occur in only one step of P, with `inside` instances inside of P, which has
 * `steps` steps. */
static int64_t in_one_step(int64_t extent, int64_t block, int64_t inside, int64_t steps) {
  const int64_t step = block * inside, last = extent % (step * steps);
  if (last <= step) return last;
  return last < 2 * step ? step - block * tf_ceil_div(last - step, block) : 0;
}

/* Least steps of the first instance, if P takes `steps` steps in each block of its dim, each of
 * `each` values, and the blocks are divided among `among` instances. */
static int64_t first_steps(int64_t steps, int64_t each, int64_t blocks, int64_t among) {
  const int64_t own = tf_ceil_div(blocks, among);
  return own > 1 ? (own - 1) * steps * each + 1 : steps * each;
}

/* The same for one block of two steps. */
static int64_t first_steps_two(int64_t extent, int64_t block, int64_t step, int64_t inside) {
  const int64_t left = extent - step;
  return tf_ceil_div(block, inside) + tf_ceil_div(left < block ? left : block, inside);
}

/* The most values spared with blocks of this length. */
static void spared_by(tf_again *a, int64_t extent, const sparing *of, int64_t block, double *still,
                      double *most) {
  const int64_t each = tf_ceil_div(block, of->inside);
  for (int64_t n = 1; n <= of->instances && n * block < extent; n++)
    for (int64_t steps = 2; a->looks-- > 0; steps++) {
      const int64_t blocks = tf_ceil_div(extent, steps * n * block), among = of->instances / n;
      const int64_t takes = blocks > 1 ? first_steps(steps, each, blocks, among)
                                       : first_steps_two(extent, block, n * block, of->inside);
      const double alone = (double)in_one_step(extent, block, n, steps);
      if (takes <= of->steps && steps * each <= of->steps + each) {
        *most = fmax(*most, alone);
        if (blocks <= among) *still = fmax(*still, alone);
      }
      if (blocks == 1 || steps * each > of->steps) break;
    }
}

/* The values spared along dim d in memory l; NULL without memory. */
static const sparing *find_spared(tf_again *a, int l, int d) {
  const int64_t e = a->op->extent[d];
  const double wide = a->way->wide[d], s = a->way->outer[l][d];
  sparing of = {.instances = (int64_t)s,
                .inside = (int64_t)ceil(a->way->units[d] / s * (1 - 1e-12)),
                .steps = wide > 1 ? (int64_t)ceil((double)e / (wide - 1) * (1 - 1e-12)) - 1 : e};
  sparing *list = &a->lists[d][(of.instances + 5 * of.inside + 11 * of.steps) % LISTS];
  if (list->by[0] && list->instances == of.instances && list->inside == of.inside &&
      list->steps == of.steps)
    return list;
  of.by[0] = list->by[0] ? list->by[0] : malloc((2 * (size_t)e + 2) * sizeof(double));
  if (!of.by[0]) return NULL;
  of.by[1] = of.by[0] + e + 1;
  of.by[0][0] = of.by[1][0] = 0;
  *list = of;
  for (int64_t c = 1; c <= e; c++) {
    for (int k = 0; k < 2; k++)
      of.by[k][c] = of.by[k][c - 1];
    spared_by(a, e, &of, c, &of.by[0][c], &of.by[1][c]);
  }
  return list;
}

/* ---- capacity ------------------------------------------------------------------------------- */
static bool has(const tf_again *a, int i, int d) { return a->op->parts[a->z[i]].dims >> d & 1; }

/* The shortest block of dim d in an instance of memory l, if the loops outside take `steps`
 * steps. */
static double block_of(const tf_again *a, int l, int d, double steps) {
  const double least = ceil(a->way->wide[d] / a->way->outer[l][d] * (1 - 1e-12));
  const double whole = (double)a->op->extent[d] / a->way->outer[l][d];
  return steps > 0 ? fmax(least, ceil(whole / steps * (1 - 1e-12))) : least;
}

static double bits_of(const tf_again *a, int i) {
  const tf_ended_part *p = &a->op->parts[a->z[i]];
  double bits = p->bits;
  for (int d = 0; d < a->op->n; d++)
    if (p->dims >> d & 1) bits *= a->block[i][d];
  return bits;
}

/* Bits that memory l has left; negative if what it holds does not fit. */
static double room_at(const tf_again *a, int l) {
  double bits = a->room[l];
  for (int i = 0; i < a->n; i++)
    if (a->level[i] == l) bits -= bits_of(a, i);
  return bits;
}

/* The longest block of dim d for which memory l has room: all its tensors have the same (7). */
static double longest_block(const tf_again *a, int l, int d) {
  double left = a->room[l], each = 0;
  for (int i = 0; i < a->n; i++) {
    const double bits = a->level[i] == l ? bits_of(a, i) : 0;
    *(has(a, i, d) ? &each : &left) += has(a, i, d) ? bits / a->block[i][d] : -bits;
  }
  return fmin((double)a->op->extent[d], isinf(left) ? left : floor(left / each * (1 + 1e-12)));
}

/* Bits of a tensor of which memory l holds only what units work on at once. */
static double least_bits(const tf_again *a, int l, const tf_ended_part *p) {
  double bits = p->bits;
  for (int r = 0; r < p->n_ranks; r++) {
    double here = 1;
    for (int d = 0; d < a->op->n; d++)
      if (p->rank[r] >> d & 1) here += block_of(a, l, d, 0) - 1;
    bits *= fmax(0, here - p->outside[r]);
  }
  return bits;
}

/* The capacity of memory l less what it holds besides the tensors that count there. */
static double find_room(const tf_again *a, int l) {
  const tf_memory *m = &a->op->memory[l];
  if (m->capacity_words < 0) return INFINITY;
  double bits = (double)m->capacity_words * m->word_bits / (m->double_buffered ? 2 : 1);
  for (int z = 0; z < a->op->n_parts; z++) {
    bool counts = false;
    for (int i = 0; i < a->n; i++)
      counts |= a->z[i] == z && a->level[i] == l;
    if (!counts && (a->way->held[z] >> (l - 1) & 1)) bits -= least_bits(a, l, &a->op->parts[z]);
  }
  return bits;
}

/* ---- cost ----------------------------------------------------------------------------------- */
/* Whether loops on dim e of the i-th tensor may be inside of a temporal loop that splits dim d. */
static bool may_cut(const tf_again *a, int i, int e, int d) {
  for (int k = 0; k < i; k++)
    if (has(a, k, e) && a->level[k] >= a->level[i] && a->steps[k][d] == 1) return false;
  return true;
}

/* Whether P of the i-th tensor may be on dim d.  If a tensor has that dim, its place not further in
 * and its Tile not further out, its P is the same loop. */
static bool may_be_on(const tf_again *a, int i, int d) {
  const int l = a->level[i];
  const double room = room_at(a, l) + bits_of(a, i);
  for (int k = 0; k < i; k++) {
    double bits = a->op->parts[a->z[i]].bits;
    if (!has(a, k, d) || a->level[k] < l) continue;
    for (int e = 0; e < a->op->n; e++) {
      if (a->most[k][e] > 0 && a->most[k][e] < a->steps[i][e]) return false;
      if (has(a, i, e))
        bits *= a->most[k][e] > 0 ? block_of(a, l, e, a->most[k][e]) : a->block[i][e];
    }
    if (bits > room) return false;
  }
  return true;
}

/* How often the i-th tensor enters, averaged over its words, if P is on dim d. */
static double times_with(tf_again *a, int i, int d) {
  const double e = (double)a->op->extent[d], steps = a->steps[i][d];
  const int l = a->level[i];
  double block = longest_block(a, l, d), all = 1, kept = 1;
  if (steps > 1) block = fmin(block, ceil(e / (steps - 1)) - 1);
  for (int k = 0; k < a->op->n; k++) {
    if (has(a, i, k)) continue;
    all *= fmax(1, a->steps[i][k]);
    if (!may_cut(a, i, k, d)) kept *= fmax(1, a->steps[i][k]);
  }
  const sparing *spared = block >= 1 ? find_spared(a, l, d) : NULL;
  if (!spared) return block >= 1 ? 1 : all;
  const double still = spared->by[0][(int64_t)block] / e, most = spared->by[1][(int64_t)block] / e;
  return fmin(all - still * (all - 1), all - most * (all - kept));
}

/* How often the i-th tensor enters at least, averaged over its words. */
static double times_of(tf_again *a, int i) {
  double all = 1;
  for (int d = 0; d < a->op->n; d++)
    if (!has(a, i, d)) all *= fmax(1, a->steps[i][d]);
  double least = all;
  for (int d = 0; d < a->op->n && all > 1; d++)
    if (has(a, i, d) && !(a->of_all >> d & 1) && a->steps[i][d] != 1 && may_be_on(a, i, d))
      least = fmin(least, times_with(a, i, d));
  return least;
}

/* The least number of values of a dim in the first step. */
static double least_values(const tf_again *a, int i, int d) {
  const double e = (double)a->op->extent[d];
  return a->most[i][d] > 0 ? fmax(a->way->wide[d], ceil(e / a->most[i][d] * (1 - 1e-12)))
                           : a->way->wide[d];
}

static void find_words(tf_again *a, int i, tf_again_words *w) {
  const int z = a->z[i];
  w->first[z] = 1;
  for (int d = 0; d < a->op->n; d++)
    w->first[z] *= has(a, i, d) ? least_values(a, i, d) : 1;
  w->block[z] = bits_of(a, i) / a->op->parts[z].bits;
  w->times[z] = times_of(a, i);
}

/* The least time with the numbers of steps chosen so far; INFINITY: they do not fit. */
static double evaluate(tf_again *a) {
  tf_again_words w = {.level = a->asked};
  for (int l = 1; l <= a->way->inner; l++)
    if (room_at(a, l) < 0) return INFINITY;
  for (int i = 0; i < a->n; i++)
    find_words(a, i, &w);
  a->looks -= 10;
  return a->time(a->of, &w);
}

/* ---- enumeration of the numbers of steps ---------------------------------------------------- */
/* The first tensor, from outside in, that has dim d, and the last that does not. */
static void span(const tf_again *a, int d, int *first, int *last) {
  *first = a->n, *last = -1;
  for (int i = 0; i < a->n; i++) {
    if (has(a, i, d) && *first == a->n) *first = i;
    if (!has(a, i, d)) *last = i;
  }
}

/* Whether the i-th tensor has as many steps of dim d as one of those from `first` to `last`: 7. */
static bool is_tied(const tf_again *a, int i, int d, int first, int last) {
  for (int k = first; k <= last; k++)
    if (has(a, i, d) && has(a, k, d) && a->level[k] >= a->level[i]) return true;
  return false;
}

/* Whether a tensor further in, up to `last`, may have more steps of dim d than the i-th. */
static bool may_have_fewer(const tf_again *a, int i, int d, int last) {
  for (int k = i + 1; k <= last; k++)
    if (has(a, i, d) && has(a, k, d) && a->level[k] > a->level[i]) return true;
  return false;
}

/* `before`: least steps outside of the first tensor that has the dim. */
static void set_steps(tf_again *a, int d, double before, double steps, double most) {
  int first, last;
  span(a, d, &first, &last);
  for (int i = 0; i < a->n; i++) {
    const bool open = i > last && !is_tied(a, i, d, first, last);
    a->steps[i][d] = i < first ? before : open || may_have_fewer(a, i, d, last) ? 0 : steps;
    a->most[i][d] = i < first ? (before > 1 ? (double)a->op->extent[d] : 1) : open ? 0 : most;
    if (has(a, i, d)) a->block[i][d] = block_of(a, a->level[i], d, a->most[i][d]);
  }
}

static void all_steps(tf_again *a, int k);

static void next_steps(tf_again *a, int k) {
  const double least = evaluate(a);
  if (least < a->best && k + 1 == a->n_open) a->best = least;
  if (least < a->best) all_steps(a, k + 1);
}

/* Enumerates the numbers of steps of free dims k and later, from the fewest that fit. */
static void all_steps(tf_again *a, int k) {
  const int d = a->open[k];
  int first, last;
  span(a, d, &first, &last);
  for (int before = 1; before <= (first > 0 ? 2 : 1); before++) {
    if (first > last) {
      set_steps(a, d, before, 0, 0);
      next_steps(a, k);
      continue;
    }
    for (int i = 0; i < a->n_numbers[d] && a->looks > 0 && a->best > a->least; i++) {
      const double e = (double)a->op->extent[d], steps = a->number[d][i];
      if (steps < before) continue;
      set_steps(a, d, before, steps, i + 1 < a->n_numbers[d] ? a->number[d][i + 1] - 1 : e);
      next_steps(a, k);
    }
  }
  set_steps(a, d, 1, 0, 0);
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The least number of steps for each block, in any memory.  False: too many. */
static bool find_numbers(tf_again *a, int d) {
  const double e = (double)a->op->extent[d];
  double *list = a->number[d];
  int n = 0, to = 0;
  for (int l = 1; l <= a->way->inner; l++)
    for (double steps = 1; steps <= e;) {
      const double block = ceil(e / (a->way->outer[l][d] * steps) * (1 - 1e-12));
      if (n == NUMBERS) return false;
      list[n++] = steps;
      if (block <= 1) break;
      steps = fmax(steps + 1, ceil(e / (a->way->outer[l][d] * (block - 1)) * (1 - 1e-12)));
    }
  if (n == NUMBERS) return false;
  if (e > 1) list[n++] = 2;
  qsort(list, (size_t)n, sizeof *list, ascending);
  for (int i = 1; i < n; i++)
    if (list[i] > list[to]) list[++to] = list[i];
  a->n_numbers[d] = to + 1;
  return true;
}

/* False: that takes too long. */
static bool try_order(tf_again *a) {
  a->n_open = 0;
  for (int d = 0; d < a->op->n; d++) {
    int first, last;
    span(a, d, &first, &last);
    set_steps(a, d, 1, 0, 0);
    if (first == a->n || (first == 0 && last < 0)) continue;
    if (first < last && (a->op->extent[d] > LONGEST || !find_numbers(a, d))) return false;
    if (first < last || first > 0) a->open[a->n_open++] = d;
  }
  if (a->n_open)
    all_steps(a, 0);
  else
    a->best = fmin(a->best, evaluate(a));
  return a->looks > 0;
}

static void swap(tf_again *a, int i, int k) {
  const int z = a->z[i], level = a->level[i];
  a->z[i] = a->z[k], a->level[i] = a->level[k];
  a->z[k] = z, a->level[k] = level;
}

/* Tries all orders, each by one exchange from the order before. */
static bool all_orders(tf_again *a) {
  static const int with[] = {0, 1, 0, 1, 0}, orders[] = {1, 1, 2, 6};
  bool ok = try_order(a);
  for (int i = 1; i < orders[a->n] && ok; i++) {
    swap(a, with[i - 1], with[i - 1] + 1);
    ok = try_order(a);
  }
  return ok;
}

/* ---- the query ------------------------------------------------------------------------------ */
/* Whether the words of a tensor are a box of the op's dims, and no other op uses it. */
static bool plain(const tf_ended *op, const tf_ended_part *p) {
  double words = 1;
  for (int r = 0; r < p->n_ranks; r++)
    if (p->outside[r] > 0 || (p->rank[r] & (p->rank[r] - 1))) return false;
  for (int d = 0; d < op->n; d++)
    if (p->dims >> d & 1) words *= (double)op->extent[d];
  return p->own && words == p->words;
}

/* Finds the tensors that count.  False: none, or too many. */
static bool find_counted(tf_again *a) {
  a->n = 0, a->of_all = ~0u;
  for (int z = 0; z < a->op->n_parts; z++) {
    const unsigned held = a->way->held[z];
    if (!held || (a->asked && !(held >> (a->asked - 1) & 1)) || !plain(a->op, &a->op->parts[z]))
      continue;
    if (a->n == COUNTED) return false;
    a->z[a->n] = z, a->level[a->n++] = a->asked ? a->asked : __builtin_ctz(held) + 1;
    a->of_all &= a->op->parts[z].dims;
  }
  return a->n > 0;
}

double tf_again_least(tf_again *a, const tf_again_way *way, int level, const double range[2],
                      tf_again_time time, const void *of) {
  a->way = way, a->asked = level, a->time = time, a->of = of;
  a->least = range[0], a->best = range[1];
  if (a->looks <= 0 || !find_counted(a)) return a->least;
  for (int l = 1; l <= way->inner; l++)
    a->room[l] = find_room(a, l);
  return all_orders(a) ? a->best : a->least;
}
