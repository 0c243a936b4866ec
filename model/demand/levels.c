/* First loads and last stores of an op at the ports of all memories, mesh by mesh.
 *
 * The Tiles of memory t spread over one mesh, that of memory t + 1, or of the units.  So dim d has
 * a number of instances on each side of each mesh, and on a side their product over the dims is at
 * most its length.  Let s[l][d] be the product of those outside of memory l: over so many of its
 * instances the dim is spread.  Then, with q and w as in exposed.c:
 *
 * 1. Of the values at work in the first step the first instance of memory l has no fewer than any
 * other, so at least w[d] / s[l][d]; so has the mean one, which counts where borders clip, and
 * where several ops share loops.
 * 2. If memory l holds tensor Z, its words at work in an instance enter it through its write port,
 * and the read port of the next memory m further out that holds Z, of which an instance passes at
 * least those at work in it.  Nothing hides them at the Tile of l: it takes its child's time, its
 * longest leg of loads and its longest leg of stores. So these add up over the memories, innermost
 * first.
 * 3. If m is the innermost that holds Z, units read (or update) there, step by step: at least the
 * words that an instance touches, times the q[d] of the dims that Z does not have.
 * 4. No Tile takes less than any port needs for what passes at it and below it, before its own ends
 * are added further out.
 *
 * 5. What has no room passes again (again.c).
 *
 * The bound is the least over all of these numbers, q, and memories that hold each tensor. */
#include <math.h>
#include <string.h>

#include "model/demand/again.h"
#include "model/demand/ended.h"
#include "model/demand/on_mesh.h"

enum {
  DIMS = TF_ENDED_DIMS,
  INNER = TF_ENDED_INNER,
  SIDES = TF_ENDED_SIDES,
  TENSORS = TF_ENDED_TENSORS
};
enum {
  NODES = 6000,
  CHOICES = 512, /* of the memories that hold each tensor */
  LOOKS = 200000 /* at choices, in all: some 20 ms */
};

typedef struct {
  tf_ended op;
  bool busiest; /* the first instance of a memory counts, instead of the mean */
  int inner;    /* memories inside of the outermost, down to the unit's */
  int n_sides, nodes, looks;
  int level[SIDES];              /* of the Tiles that spread over the side */
  double outer[INNER + 1][DIMS]; /* s, of the dims so far */
  double steps[DIMS], wide[DIMS], units[DIMS];
  double best;
  tf_again *again; /* NULL: reloads are not known */
} search;

/* For one spread: words of each tensor, in an instance of each memory. */
typedef struct {
  double first[TENSORS][INNER + 1];   /* at work in the first step */
  double touched[TENSORS][INNER + 1]; /* in all steps */
  double direct[TENSORS]
               [INNER + 1]; /* that units read or update there, as no memory further in holds it */
  double again[TENSORS][INNER + 1]; /* of an output: updates that read partial sums */
} words;

/* Words that pass the ports of each memory. */
typedef struct {
  double read[INNER + 1], write[INNER + 1];
} traffic;

/* ---- words ---------------------------------------------------------------------------------- */
/* Different words in an instance of memory l that has `of` values of each dim, shared among the
 * instances. */
static double box(const search *s, const tf_ended_part *z, int l, const double *of) {
  double n = 1;
  for (int r = 0; r < z->n_ranks; r++) {
    double here = 1;
    for (int d = 0; d < s->op.n; d++) {
      if (!(z->rank[r] >> d & 1)) continue;
      const double own = of[d] / s->outer[l][d];
      here += (s->busiest ? ceil(own * (1 - 1e-12)) : own) - 1;
    }
    n *= fmax(0, here - z->outside[r]);
  }
  return n;
}

static void find_words(const search *s, words *w) {
  double all[DIMS];
  for (int d = 0; d < s->op.n; d++)
    all[d] = (double)s->op.extent[d];
  for (int z = 0; z < s->op.n_parts; z++)
    for (int l = 0; l <= s->inner; l++) {
      const tf_ended_part *p = &s->op.parts[z];
      const double weight = p->bits / s->op.memory[l].word_bits;
      double times = 1, summed = 1;
      for (int d = 0; d < s->op.n; d++)
        if (!(p->dims >> d & 1)) times *= s->steps[d], summed *= s->outer[l][d];
      const double own = l ? box(s, p, l, all) : p->words;
      w->first[z][l] = weight * box(s, p, l, s->wide);
      w->touched[z][l] = weight * own;
      w->direct[z][l] = weight * own * times;
      w->again[z][l] = !l || (s->busiest && summed == 1) ? weight * own * (times - 1) : 0;
    }
}

/* ---- time ----------------------------------------------------------------------------------- */
static double longest_port(const search *s, const traffic *t) {
  double time = 0;
  for (int l = 0; l <= s->inner; l++) {
    const tf_memory *m = &s->op.memory[l];
    const double read = t->read[l] / m->read_bw, write = t->write[l] / m->write_bw;
    time = fmax(time, m->one_port ? read + write : fmax(read, write));
  }
  return time;
}

/* The next memory further out than l that holds a tensor; held: bit l - 1 of memory l. */
static int server(unsigned held, int l) {
  for (int m = l - 1; m > 0; m--)
    if (held >> (m - 1) & 1) return m;
  return 0;
}

/* Exposed time at the Tile of memory l; words that pass there are added to the traffic. */
static double ends_at(const search *s, const words *w, const tf_again_words *again,
                      const unsigned *held, int l, traffic *t) {
  double in[INNER + 1] = {0}, out[INNER + 1] = {0}, load = 0, store = 0;
  for (int z = 0; z < s->op.n_parts; z++) {
    if (!(held[z] >> (l - 1) & 1)) continue;
    const int m = server(held[z], l);
    double *way = s->op.parts[z].out ? out : in;
    double from = w->first[z][m], to = w->first[z][l];
    if (again && l == (again->level ? again->level : __builtin_ctz(held[z]) + 1)) {
      const double bits = s->op.parts[z].bits;
      if (!m) from = fmax(from, again->first[z] * bits / s->op.memory[m].word_bits);
      if (s->busiest) from = fmax(from, again->block[z] * bits / s->op.memory[m].word_bits);
      if (s->busiest) to = fmax(to, again->block[z] * bits / s->op.memory[l].word_bits);
    }
    way[m] += from;
    way[l] += to;
    t->read[s->op.parts[z].out ? l : m] += w->touched[z][s->op.parts[z].out ? l : m];
    t->write[s->op.parts[z].out ? m : l] += w->touched[z][s->op.parts[z].out ? m : l];
  }
  for (int m = 0; m <= l; m++) {
    load = fmax(load, in[m] / (m == l ? s->op.memory[m].write_bw : s->op.memory[m].read_bw));
    store = fmax(store, out[m] / (m == l ? s->op.memory[m].read_bw : s->op.memory[m].write_bw));
  }
  return load + store;
}

/* Words of tensor z that memory m gives, or takes, beyond those that pass once: in its first
 * instance at least the mean of the instances that share the tensor. */
static double more_words(const search *s, const words *w, int z, int m, double times) {
  const tf_ended_part *p = &s->op.parts[z];
  double all = p->words * p->bits / s->op.memory[m].word_bits;
  if (!m) return all * (times - 1);
  for (int d = 0; d < s->op.n; d++)
    if (p->dims >> d & 1) all /= s->outer[m][d];
  return s->busiest ? fmax(0, all * times - w->touched[z][m]) : 0;
}

static void add_again(const search *s, const words *w, const tf_again_words *again,
                      const unsigned *held, traffic *t) {
  for (int z = 0; z < s->op.n_parts; z++) {
    if (!(again->times[z] > 1)) continue;
    const int m = server(held[z], again->level ? again->level : __builtin_ctz(held[z]) + 1);
    const double more = more_words(s, w, z, m, again->times[z]);
    t->read[m] += more;
    t->write[m] += s->op.parts[z].out ? more : 0;
  }
}

/* again: reloads of held tensors; NULL: each enters once, whatever the capacity. */
static double with_held(const search *s, const words *w, const unsigned *held, double steps,
                        const tf_again_words *again) {
  traffic t = {{0}, {0}};
  for (int z = 0; z < s->op.n_parts; z++) {
    const int m = server(held[z], s->inner + 1);
    const bool out = s->op.parts[z].out;
    t.read[m] += out ? w->again[z][m] : w->direct[z][m];
    t.write[m] += out ? w->direct[z][m] : 0;
  }
  if (again) add_again(s, w, again, held, &t);
  double time = fmax(steps / s->op.rate, longest_port(s, &t)) + s->op.fill;
  for (int l = s->inner; l > 0; l--) {
    time += ends_at(s, w, again, held, l, &t);
    if (s->op.alone) time = fmax(time, longest_port(s, &t));
  }
  return time;
}

typedef struct {
  const search *s;
  const words *w;
  const unsigned *held;
  double steps;
} one_way;

static double time_of(const void *of, const tf_again_words *again) {
  const one_way *way = of;
  return with_held(way->s, way->w, way->held, way->steps, again);
}

/* The time with limited capacity, if it is below `most`. */
static double in_room(search *s, const words *w, const unsigned *held, double steps, double most) {
  const double once = with_held(s, w, held, steps, NULL);
  const tf_again_way way = {s->inner, s->outer, s->units, s->wide, held};
  const one_way of = {s, w, held, steps};
  double least = once;
  for (int l = 0; l <= s->inner && least < most && s->again; l++) {
    const double range[2] = {once, most};
    if (l != 1) least = fmax(least, tf_again_least(s->again, &way, l, range, time_of, &of));
  }
  return least;
}

/* The least over the memories that hold each tensor. */
static double least_held(search *s, double steps) {
  words w;
  double best = INFINITY;
  const unsigned sets = 1u << s->inner;
  unsigned held[TENSORS] = {0};
  find_words(s, &w);
  for (bool more = true; more;) {
    best = fmin(best, in_room(s, &w, held, steps, fmin(best, s->best)));
    s->looks--;
    more = false;
    for (int z = 0; z < s->op.n_parts && !more; z++) {
      more = ++held[z] < sets;
      if (!more) held[z] = 0;
    }
  }
  return best;
}

/* ---- enumeration of spreads ----------------------------------------------------------------- */
static void spread_dim(search *s, int k, const int64_t *room, double steps);

/* Tries dim k on `units` units, from the fewest steps on, while that may be the minimum. */
static void step_dim(search *s, int k, int64_t units, const int64_t *room, double steps) {
  const int64_t e = s->op.extent[k];
  double left = 1;
  s->units[k] = (double)units;
  for (int i = 0; i < s->n_sides; i++)
    left *= (double)room[i];
  for (int64_t wide = e < units ? e : units; wide >= 1 && s->looks > 0; wide--) {
    const int64_t q = tf_ceil_div(e, wide);
    const double now = steps * (double)q;
    wide = tf_ceil_div(e, q);
    if (now * fmax(1, s->op.behind[k + 1] / left) / s->op.rate + s->op.fill >= s->best) return;
    s->steps[k] = (double)q, s->wide[k] = (double)wide;
    spread_dim(s, k + 1, room, now);
  }
}

/* Tries dim k on side i and later ones: among numbers that leave the other dims as many instances,
 * the largest; the last dim takes all that is left. */
static void spread_side(search *s, int k, int i, int64_t units, int64_t *room, double steps) {
  if (i == s->n_sides) {
    step_dim(s, k, units, room, steps);
    return;
  }
  const int64_t all = room[i], need = tf_ceil_div(s->op.extent[k], units);
  double before[INNER + 1];
  for (int l = 0; l <= s->inner; l++)
    before[l] = s->outer[l][k];
  for (int64_t on = all < need ? all : need; on > 0;
       on = k == s->op.n - 1 ? 0 : tf_spread_fewer(all, on)) {
    for (int l = s->level[i] + 1; l <= s->inner; l++)
      s->outer[l][k] = before[l] * (double)on;
    room[i] = all / on;
    spread_side(s, k, i + 1, units * on, room, steps);
  }
  room[i] = all;
  for (int l = 0; l <= s->inner; l++)
    s->outer[l][k] = before[l];
}

static void spread_dim(search *s, int k, const int64_t *room, double steps) {
  int64_t left[SIDES] = {0};
  if (k == s->op.n) {
    s->best = fmin(s->best, least_held(s, steps));
    return;
  }
  if (s->nodes-- <= 0 || s->looks <= 0) return;
  memcpy(left, room, (size_t)s->n_sides * sizeof *left);
  for (int l = 0; l <= s->inner; l++)
    s->outer[l][k] = 1;
  spread_side(s, k, 0, 1, left, steps);
}

/* ---- the op --------------------------------------------------------------------------------- */
/* Whether the first instance of a memory is the one to count. */
static bool first_counts(const tf_ended *op, const tf_workload *wl) {
  bool first = op->alone;
  for (int z = 0; z < wl->n_tensors; z++)
    for (int r = 0; r < wl->tensors[z].rank; r++)
      first &= !wl->tensors[z].pad[r];
  for (int i = 0; first && i < wl->ops[0].n_reads; i++)
    for (int k = 0; k < i; k++)
      first &= wl->ops[0].reads[i].tensor != wl->ops[0].reads[k].tensor;
  return first;
}

/* The minimum over all spreads, if it is below `most`.  False: that takes too long. */
static bool least_spread(search *s, const int64_t *sides, double most) {
  s->nodes = NODES, s->looks = LOOKS, s->best = most;
  spread_dim(s, 0, sides, 1);
  return s->nodes >= 0 && s->looks > 0 && isfinite(s->best);
}

/* The time with limited capacity, starting from the one with unlimited capacity: first with a limit
 * slightly above that, which is decided quickly. */
static double in_all_room(search *s, const int64_t *sides, double least) {
  double most = least;
  s->again = tf_again_new(&s->op);
  for (double by = 2e-5; s->again && by < 4; by *= 3) {
    if (!least_spread(s, sides, least * (1 + by)) || tf_again_ended(s->again)) break;
    most = s->best;
    if (most < least * (1 + by)) break;
  }
  tf_again_free(s->again);
  return most;
}

double tf_end_in_room(const tf_arch *a, const tf_demand *d, const tf_end *e, const tf_room *room) {
  search s = {.inner = a->units[e->unit].below};
  int64_t sides[SIDES];
  double choices = 1;
  if (s.inner > INNER || !tf_ended_of(a, d, e, &s.op)) return 0;
  s.busiest = first_counts(&s.op, d->wl);
  for (int z = 0; z < s.op.n_parts; z++)
    choices *= 1 << s.inner;
  if (choices > CHOICES) return 0;
  for (int t = 0; t <= s.inner; t++)
    for (int axis = 0; axis < 2; axis++)
      if (room->side[t][axis] > 1) {
        s.level[s.n_sides] = t;
        sides[s.n_sides++] = room->side[t][axis];
      }
  if (!least_spread(&s, sides, INFINITY)) return 0;
  return e->reloads ? in_all_room(&s, sides, s.best) : s.best;
}

bool tf_room_of(const tf_arch *a, int u, tf_room *room) {
  const int below = a->units[u].below;
  if (below > TF_ENDED_INNER) return false;
  for (int t = 0; t <= below; t++)
    for (int axis = 0; axis < 2; axis++)
      room->side[t][axis] = t < below ? a->memories[t + 1].mesh[axis] : a->units[u].mesh[axis];
  return true;
}
