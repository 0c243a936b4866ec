/* Words that pass again for lack of room, in any mapping of one op.
 *
 * Let memory l hold tensor Z: the outermost that does, inside of the outermost one, or any that is
 * asked for.  Where its Tile begins, dim d has blocks of c[d] values in an instance, and is spread
 * over up to s[d] instances. Let P be the innermost temporal loop of several steps that moves Z
 * further out than the Tile, and N[d] the steps that the loops on d take there, P and what is
 * outside of it, in the first instance.
 *
 * 1. In the first step the first instance holds a whole block of Z.  All loops on a dim that Z has
 * are P or stand outside, so c[d] >= E[d] / (s[d] N[d]).  All tensors that a memory holds fit.
 * 2. Z enters T times at least, T the product of the N[e] of the dims that it does not have:
 * between two of these times P has put something else in its place.
 * 3. But for what P does not move: of the last of the blocks into which the loops outside of P cut
 * its dim there may be one step only, in all instances or in some.  `spared` has the most values of
 * which that is true, for any number of instances inside of P and blocks that there is room for,
 * in as many steps as units take in all.
 * What instances share is read once: of those that are the first along the dims that Z does not
 * have the words count.  Of the loops on a dim e that Z does not have these values are spared only
 * where what cuts P's dim stands outside of them: instances, or a temporal loop.  If it is the
 * latter, it stands outside of the place of each tensor that has e, too, if all these loops are
 * outside of that one's Tile.  Nor can P be on a dim of a tensor with a place further out, if that
 * one's Tile is not: it would be that one's P.
 * 4. In the first step no fewer values of a dim are met than in any other, so E[d] / N[d] at least;
 * and a whole block in the first instance.
 * 5. The places of all tensors, just inside of their P, lie on one nest, so from the outermost in
 * N[d] never falls.  For an order of the tensors a dim should have few steps where it is not of the
 * tensor, and many where it is.  So it has one value outside of the first tensor that has it, and
 * no more than the units leave inside of the last that does not; all between share a number, which
 * is tried.  (Of three tensors; of more nothing is said.)
 * 6. P may be on a dim that all tensors have.  Such a dim counts for each of its values alone: the
 * mapping without the other values moves no more of what belongs to this one, so nothing is spared.
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
  LISTS = 64,    /* of what is spared of a dim, by the number of its instances */
  NUMBERS = 256, /* of steps of a dim */
  LONGEST = 4096,
  LOOKS = 6000000 /* at numbers of steps, in all */
};

/* What may be spared of a dim with up to so many instances, in each of which up to `inside` units
 * take up to `steps` steps, and blocks of up to c: by[false][c] where instances alone cut it
 * further out than P, by[true][c] with temporal loops. */
typedef struct {
  int64_t instances, inside, steps;
  double *by[2];
} sparing;

struct tf_again {
  const tf_ended *op;
  int looks; /* left */
  sparing lists[DIMS][LISTS];
  /* the question */
  const tf_again_way *way;
  int asked;
  tf_again_time time;
  const void *of;
  double least, best;
  int n, z[COUNTED], level[COUNTED]; /* tensors that count, in the order that is tried */
  unsigned of_all;                   /* dims that all of these have */
  int n_open, open[DIMS];            /* dims of which numbers of steps are tried */
  int n_numbers[DIMS];
  double number[DIMS][NUMBERS];
  /* at the place of each: no fewer steps, and no more; 0: as many as the units leave */
  double steps[COUNTED][DIMS], most[COUNTED][DIMS];
  double block[COUNTED][DIMS]; /* values in an instance of its memory, at least */
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

/* ---- what is spared ------------------------------------------------------------------------- */
/* Values of a dim that are met in one step of P only, with `inside` instances inside of P, which
 * takes `steps` steps. */
static int64_t left_alone(int64_t extent, int64_t block, int64_t inside, int64_t steps) {
  const int64_t step = block * inside, last = extent % (step * steps);
  if (last <= step) return last;
  return last < 2 * step ? step - block * tf_ceil_div(last - step, block) : 0;
}

/* Steps of the first instance, at least, if P takes so many steps in each block of its dim, each of
 * which takes `each`, and blocks are shared out among so many instances. */
static int64_t first_takes(int64_t steps, int64_t each, int64_t blocks, int64_t among) {
  const int64_t own = tf_ceil_div(blocks, among);
  return own > 1 ? (own - 1) * steps * each + 1 : steps * each;
}

/* The same if there is one block, of two steps. */
static int64_t first_takes_two(int64_t extent, int64_t block, int64_t step, int64_t inside) {
  const int64_t left = extent - step;
  return tf_ceil_div(block, inside) + tf_ceil_div(left < block ? left : block, inside);
}

/* What is spared at most by blocks of such a length. */
static void spared_by(tf_again *a, int64_t extent, const sparing *of, int64_t block, double *still,
                      double *most) {
  const int64_t each = tf_ceil_div(block, of->inside);
  for (int64_t n = 1; n <= of->instances && n * block < extent; n++)
    for (int64_t steps = 2; a->looks-- > 0; steps++) {
      const int64_t blocks = tf_ceil_div(extent, steps * n * block), among = of->instances / n;
      const int64_t takes = blocks > 1 ? first_takes(steps, each, blocks, among)
                                       : first_takes_two(extent, block, n * block, of->inside);
      const double alone = (double)left_alone(extent, block, n, steps);
      if (takes <= of->steps && steps * each <= of->steps + each) {
        *most = fmax(*most, alone);
        if (blocks <= among) *still = fmax(*still, alone);
      }
      if (blocks == 1 || steps * each > of->steps) break;
    }
}

/* In memory l; NULL without memory. */
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

/* ---- room ----------------------------------------------------------------------------------- */
/* The least block of dim d in an instance of memory l, where loops outside take so many steps. */
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

/* Bits that memory l has left, below 0 if what it holds does not fit. */
static double room_at(const tf_again *a, int l) {
  double bits = a->room[l];
  for (int i = 0; i < a->n; i++)
    if (a->level[i] == l) bits -= bits_of(a, i);
  return bits;
}

/* Bits of a tensor of which memory l holds what units work on at once. */
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

/* The room of memory l less what it holds besides the tensors that count there. */
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
static bool has(const tf_again *a, int i, int d) { return a->op->parts[a->z[i]].dims >> d & 1; }

/* Whether loops on dim e of the i-th tensor may stand inside of a temporal loop that cuts dim d. */
static bool may_cut(const tf_again *a, int i, int e, int d) {
  for (int k = 0; k < i; k++)
    if (has(a, k, e) && a->level[k] >= a->level[i] && a->steps[k][d] == 1) return false;
  return true;
}

/* Whether P of the i-th tensor may be on dim d.  If a tensor has the dim whose place is not further
 * in, and whose Tile is not further out, its P is the same loop. */
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

/* The times that the i-th tensor enters, on the average of its words, if P is on dim d.  room: the
 * times that its block may be as large. */
static double times_with(tf_again *a, int i, int d, double room) {
  const double e = (double)a->op->extent[d], steps = a->steps[i][d];
  const int l = a->level[i];
  double block = fmin(e, floor(room * a->block[i][d] * (1 + 1e-12))), all = 1, kept = 1;
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

/* The times that the i-th tensor enters, at least, on the average of its words. */
static double times_of(tf_again *a, int i) {
  const double room = 1 + room_at(a, a->level[i]) / bits_of(a, i);
  double all = 1;
  for (int d = 0; d < a->op->n; d++)
    if (!has(a, i, d)) all *= fmax(1, a->steps[i][d]);
  double least = all;
  for (int d = 0; d < a->op->n && all > 1; d++)
    if (has(a, i, d) && !(a->of_all >> d & 1) && a->steps[i][d] != 1 && may_be_on(a, i, d))
      least = fmin(least, times_with(a, i, d, room));
  return least;
}

/* Values of a dim that are met in the first step, at least. */
static double met(const tf_again *a, int i, int d) {
  const double e = (double)a->op->extent[d];
  return a->most[i][d] > 0 ? fmax(a->way->wide[d], ceil(e / a->most[i][d] * (1 - 1e-12)))
                           : a->way->wide[d];
}

static void find_words(tf_again *a, int i, tf_again_words *w) {
  const int z = a->z[i];
  w->first[z] = 1;
  for (int d = 0; d < a->op->n; d++)
    w->first[z] *= has(a, i, d) ? met(a, i, d) : 1;
  w->block[z] = bits_of(a, i) / a->op->parts[z].bits;
  w->times[z] = times_of(a, i);
}

/* The least time with the numbers of steps so far; INFINITY: there is no room. */
static double look_at(tf_again *a) {
  tf_again_words w = {a->asked, {0}, {0}, {0}};
  for (int l = 1; l <= a->way->inner; l++)
    if (room_at(a, l) < 0) return INFINITY;
  for (int i = 0; i < a->n; i++)
    find_words(a, i, &w);
  a->looks -= 10;
  return a->time(a->of, &w);
}

/* ---- all numbers of steps ------------------------------------------------------------------- */
/* The first tensor, from outside in, that has dim d, and the last that does not. */
static void span(const tf_again *a, int d, int *first, int *last) {
  *first = a->n, *last = -1;
  for (int i = 0; i < a->n; i++) {
    if (has(a, i, d) && *first == a->n) *first = i;
    if (!has(a, i, d)) *last = i;
  }
}

/* `before`: steps outside of the first tensor that has the dim, at least. */
static void set_steps(tf_again *a, int d, double before, double steps, double most) {
  int first, last;
  span(a, d, &first, &last);
  for (int i = 0; i < a->n; i++) {
    a->steps[i][d] = i < first ? before : i > last ? 0 : steps;
    a->most[i][d] = i < first ? (before > 1 ? (double)a->op->extent[d] : 1) : i > last ? 0 : most;
    if (has(a, i, d)) a->block[i][d] = block_of(a, a->level[i], d, a->most[i][d]);
  }
}

static void all_steps(tf_again *a, int k);

static void next_steps(tf_again *a, int k) {
  const double least = look_at(a);
  if (least < a->best && k + 1 == a->n_open) a->best = least;
  if (least < a->best) all_steps(a, k + 1);
}

/* Dim k of those that are open, and those behind it: numbers of steps from few on, where the first
 * have no room. */
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

/* The least numbers of steps with each block, in any memory.  False: too many. */
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

/* False: it is too much. */
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
    a->best = fmin(a->best, look_at(a));
  return a->looks > 0;
}

static void swap(tf_again *a, int i, int k) {
  const int z = a->z[i], level = a->level[i];
  a->z[i] = a->z[k], a->level[i] = a->level[k];
  a->z[k] = z, a->level[k] = level;
}

/* All orders, each from the one before by one exchange. */
static bool all_orders(tf_again *a) {
  static const int with[] = {0, 1, 0, 1, 0}, orders[] = {1, 1, 2, 6};
  bool ok = try_order(a);
  for (int i = 1; i < orders[a->n] && ok; i++) {
    swap(a, with[i - 1], with[i - 1] + 1);
    ok = try_order(a);
  }
  return ok;
}

/* ---- the question --------------------------------------------------------------------------- */
/* Whether the words of a tensor are a box of the op's dims, and no other op's. */
static bool plain(const tf_ended *op, const tf_ended_part *p) {
  double words = 1;
  for (int r = 0; r < p->n_ranks; r++)
    if (p->outside[r] > 0 || (p->rank[r] & (p->rank[r] - 1))) return false;
  for (int d = 0; d < op->n; d++)
    if (p->dims >> d & 1) words *= (double)op->extent[d];
  return p->own && words == p->words;
}

/* The tensors that count.  False: none, or too many. */
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
