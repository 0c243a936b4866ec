/* What one mapping of one op costs, counted from the definition (docs/SEMANTICS.md sections 3 to 6,
 * D15, D18).
 *
 * All loops stand on one path.  A cut is a place among them; what lies inside it is a block, and
 * the loops of a dim outside of it number that dim's blocks 0, 1, ... as digits number integers:
 * block c begins at c times the block's length, and happens if that is before the end of the dim.
 * So dims are looked through one by one, block by block, and a sum over all blocks of all dims is
 * the product of the dims' sums. */
#include <string.h>

#include "certify/certify.h"

enum { ALL = -1, FIRST = LOOPS }; /* classes of steps, besides the number of a loop */

/* Which blocks count. */
typedef struct {
  int cut;  /* number of loops outside */
  int step; /* a loop: those in which it is the innermost in time that is not at its start; or ALL,
               FIRST */
  int from; /* loops in space before this one stand at 0: the first instance */
  int inside; /* those from this one on that do not move the tensor, too: who shares a block counts
                 once */
  bool anew;  /* loops in time that do not move it stand at 0: its elements are met for the first
                 time */
} which;

typedef struct {
  const problem *p;
  const mapping *m;
  int cut_of[MEMORIES]; /* [memory] loops outside of its Tile; -1: it has none, and holds nothing */
  unsigned bypass[MEMORIES]; /* bit z */
} state;

static bool counts(const state *s, const which *w, const tensor *z, int k, int64_t digit) {
  const loop *l = &s->m->loop[k];
  const bool other = z && !indexes(z, l->dim);
  if (l->axis != IN_TIME) return digit == 0 || !(k < w->from || (k >= w->inside && other));
  if (digit && w->anew && other) return false;
  if (w->step == ALL) return true;
  if (w->step == FIRST || k > w->step) return digit == 0;
  return k < w->step || digit > 0;
}

/* Sums over the blocks of a dim that count: their number and lengths; and the same of those that
 * are the only one for the loops in time inside of w->step, so that the step before had the same
 * block. */
typedef struct {
  wide n, length, n_same, length_same;
} sums;

static sums look_through(const state *s, const which *w, const tensor *z, int d) {
  const int64_t end = s->p->extent[d];
  int at[LOOPS], n = 0;
  int64_t length = 1;
  sums all = {0, 0, 0, 0};
  for (int k = 0; k < s->m->n_loops; k++) {
    if (s->m->loop[k].dim != d) continue;
    if (k < w->cut) at[n++] = k;
    if (k >= w->cut && length < end) length *= s->m->loop[k].trip;
  }
  for (int64_t c = 0; c * length < end; c++) {
    bool in = true, only = true;
    int64_t left = c, width = length;
    for (int i = n; in && i-- > 0; left /= s->m->loop[at[i]].trip) {
      const loop *l = &s->m->loop[at[i]];
      in = counts(s, w, z, at[i], left % l->trip);
      if (w->step >= 0 && w->step < FIRST && at[i] > w->step && l->axis == IN_TIME && l->trip > 1)
        only &= width > end ||
                c * length + width >= end; /* its second step would begin beyond the end */
      if (width <= end) width *= l->trip;
    }
    if (!in || left) continue;
    const int64_t here = length < end - c * length ? length : end - c * length;
    all.n++;
    all.length += here;
    all.n_same += only;
    all.length_same += only ? here : 0;
  }
  return all;
}

/* Words of the tensor's blocks that count; loads: less those that the step before had, too. */
static wide words_of(const state *s, const which *w, const tensor *z, bool loads) {
  wide words = 1, same = 1;
  const bool may_stay =
      loads && w->step >= 0 && w->step < FIRST && !indexes(z, s->m->loop[w->step].dim);
  for (int d = 0; d < s->p->n_dims; d++) {
    const sums k = look_through(s, w, z, d);
    words = times(words, indexes(z, d) ? k.length : k.n);
    same = times(same, indexes(z, d) ? k.length_same : k.n);
  }
  return words - (may_stay ? same : 0);
}

/* The same over all steps: only loads ask which of them. */
static wide loads_of(const state *s, which w, const tensor *z) {
  if (w.step != ALL) return words_of(s, &w, z, true);
  wide words = 0;
  w.step = FIRST;
  words = words_of(s, &w, z, true);
  for (int k = 0; k < w.cut; k++) {
    if (s->m->loop[k].axis != IN_TIME) continue;
    w.step = k;
    words = plus(words, words_of(s, &w, z, true));
  }
  return words;
}

/* Steps of a block's Tile: settings of the loops in time outside of it at which some instance runs,
 * as the first does.
 */
static wide steps_of(const state *s, int cut, int step) {
  const which w = {.cut = cut, .step = step, .from = cut, .inside = LOOPS};
  wide n = 1;
  for (int d = 0; d < s->p->n_dims; d++)
    n = times(n, look_through(s, &w, NULL, d).n);
  return n;
}

/* Nothing further out than its home holds a tensor, and nothing enters that. */
static bool enters(const state *s, int l, int z) {
  return l > s->p->tensor[z].home && s->cut_of[l] >= 0 && !(s->bypass[l] >> z & 1);
}

static bool holds(const state *s, int l, int z) {
  return l == s->p->tensor[z].home || enters(s, l, z);
}

/* The memory that serves memory l (or the unit, l = n) with tensor z. */
static int server(const state *s, int l, int z) {
  do
    l--;
  while (!holds(s, l, z));
  return l;
}

static int outside_of(const state *s, int l) { return l ? s->cut_of[l] : 0; }

/* ---- what one tensor moves between a memory and the one that serves it ---------------------- */
typedef struct {
  wide fill, drain;  /* of the memory */
  wide read, update; /* of the one that serves */
} moved;

/* Words of memory l in steps of one class, of all instances, or of the first instance of each of
 * the two. */
static moved move(const state *s, int l, int z, int step, bool first) {
  const tensor *t = &s->p->tensor[z];
  const resource *own = &s->p->memory[l];
  const int up = outside_of(s, server(s, l, z));
  const which each = {
      .cut = s->cut_of[l], .step = step, .from = first ? s->cut_of[l] : 0, .inside = LOOPS};
  which above = {.cut = each.cut, .step = step, .from = first ? up : 0, .inside = up},
        again = above;
  const bool share = t->produced ? own->reduce : own->multicast;
  if (!t->produced) {
    const wide fill = loads_of(s, each, t);
    above.inside = share ? up : LOOPS;
    return (moved){.fill = fill, .read = loads_of(s, above, t)};
  }
  again.anew = true; /* what has been made in part is loaded, once for those that share */
  const wide part = loads_of(s, above, t) - loads_of(s, again, t);
  moved k = {.drain = loads_of(s, each, t), .read = part};
  above.inside = share ? up : LOOPS;
  k.update = loads_of(s, above, t);
  const which mine = {.cut = each.cut, .step = step, .from = each.from, .inside = up},
              new = {each.cut, step, each.from, up, true};
  k.fill = loads_of(s, mine, t) - loads_of(s, new, t);
  return k;
}

/* What the units read and update in the memory that serves them. */
static moved use(const state *s, int z, bool first) {
  const tensor *t = &s->p->tensor[z];
  const int up = outside_of(s, server(s, s->p->n, z)), from = first ? up : 0;
  const bool share = t->produced ? s->p->unit.reduce : s->p->unit.multicast;
  const which each = {
      .cut = s->m->n_loops, .step = ALL, .from = from, .inside = share ? up : LOOPS};
  const which new = {.cut = s->m->n_loops, .step = ALL, .from = from, .inside = up, .anew = true};
  const wide all = words_of(s, &each, t, false);
  return t->produced ? (moved){.read = all - words_of(s, &new, t, false), .update = all}
                     : (moved){.read = all};
}

/* ---- time ----------------------------------------------------------------------------------- */
typedef struct {
  wide read, write;
} transfer; /* of one port, in words of its memory, in fixed point */

static wide weighed(const state *s, wide n, int z, int l) {
  return scaled(times(n, ONE), s->p->tensor[z].bits, s->p->memory[l].bits);
}

static wide port_time(const resource *m, transfer w) {
  return m->one_port ? plus(over(w.read, m->read), over(w.write, m->write))
                     : most(over(w.read, m->read), over(w.write, m->write));
}

static void add_words(transfer *a, wide read, wide write) {
  a->read = plus(a->read, read);
  a->write = plus(a->write, write);
}

/* The words of each memory's first instance that pass because memory l's Tile is entered: [l] its
 * own, the others'. */
static void legs_of(const state *s, int l, int step, transfer leg[MEMORIES]) {
  memset(leg, 0, MEMORIES * sizeof *leg);
  for (int z = 0; z < s->p->n_tensors; z++) {
    if (!enters(s, l, z)) continue;
    const int up = server(s, l, z);
    const moved k = move(s, l, z, step, true);
    add_words(&leg[l], weighed(s, k.drain, z, l), weighed(s, k.fill, z, l));
    add_words(&leg[up], weighed(s, k.read, z, up), weighed(s, k.update, z, up));
  }
}

/* The longest of the loads, and of the stores. */
static void in_turn(const state *s, int l, const transfer leg[MEMORIES], wide *load, wide *store) {
  *load = *store = 0;
  for (int a = 0; a <= l; a++) {
    const wide read = over(leg[a].read, s->p->memory[a].read),
               write = over(leg[a].write, s->p->memory[a].write);
    *load = most(*load, a == l ? write : read);
    *store = most(*store, a == l ? read : write);
  }
}

/* The words of one step are loaded, and those of the one before stored, while the step between them
 * works. */
static wide double_buffered(const state *s, int l, wide child) {
  const wide steps = steps_of(s, s->cut_of[l], ALL);
  wide time = child / steps, load, store;
  transfer leg[MEMORIES];
  for (int k = 0; k < s->cut_of[l]; k++) {
    if (s->m->loop[k].axis != IN_TIME) continue;
    const wide n = steps_of(s, s->cut_of[l], k);
    if (n == 0) continue;
    legs_of(s, l, k, leg);
    wide longest = times(child, n) / steps;
    for (int a = 0; a <= l; a++)
      longest = most(longest, port_time(&s->p->memory[a], leg[a]));
    time = plus(time, longest);
  }
  legs_of(s, l, FIRST, leg);
  in_turn(s, l, leg, &load, &store);
  return plus(time, plus(load, store));
}

static wide tile_time(const state *s, int l, wide child) {
  const resource *m = &s->p->memory[l];
  const wide wait = plus(of(ONE, m->latency), of(ONE, m->issue));
  transfer leg[MEMORIES];
  wide load, store;
  bool any = false;
  for (int z = 0; z < s->p->n_tensors; z++)
    any |= enters(s, l, z);
  if (!any || s->p->overlap == PERFECT) return child;
  if (s->p->overlap == DOUBLE_BUFFER) return plus(double_buffered(s, l, child), wait);
  legs_of(s, l, ALL, leg);
  in_turn(s, l, leg, &load, &store);
  return plus(child, plus(plus(load, store), times(wait, steps_of(s, s->cut_of[l], ALL))));
}

/* Nothing takes less than any port needs for all that is caused within it. */
static wide no_less_than_ports(const state *s, wide time, const transfer busy[MEMORIES]) {
  for (int l = 0; l < s->p->n; l++)
    time = most(time, port_time(&s->p->memory[l], busy[l]));
  return time;
}

static wide cycles_of(const state *s) {
  const problem *p = s->p;
  transfer busy[MEMORIES] = {{0, 0}}, leg[MEMORIES];
  for (int z = 0; z < p->n_tensors; z++) {
    const moved k = use(s, z, true);
    const int up = server(s, p->n, z);
    add_words(&busy[up], weighed(s, k.read, z, up), weighed(s, k.update, z, up));
  }
  wide time = over(times(steps_of(s, s->m->n_loops, ALL), ONE), p->unit.rate);
  time = no_less_than_ports(s, time, busy);
  if (p->overlap != PERFECT) time = plus(time, of(ONE, p->unit.pipeline));
  for (int l = p->n - 1; l > 0; l--) {
    if (s->cut_of[l] < 0) continue;
    legs_of(s, l, ALL, leg);
    for (int a = 0; a <= l; a++)
      add_words(&busy[a], leg[a].read, leg[a].write);
    time = no_less_than_ports(s, tile_time(s, l, time), busy);
  }
  return time;
}

/* ---- energy and traffic --------------------------------------------------------------------- */
static wide access_pj(const state *s, int l, int z, wide reads, wide writes, wide crossed) {
  const resource *m = &s->p->memory[l];
  const wide hops =
      of(weighed(s, crossed, z, l), m->hop_pj) * (m->mesh[0] - 1 + m->mesh[1] - 1) / 2;
  return plus(
      plus(of(weighed(s, reads, z, l), m->read_pj), of(weighed(s, writes, z, l), m->write_pj)),
      hops);
}

static wide energy_of(const state *s) {
  const problem *p = s->p;
  wide points = 1, pj = 0;
  for (int d = 0; d < p->n_dims; d++)
    points = times(points, p->extent[d]);
  pj = of(times(points, ONE), p->unit.pj);
  for (int z = 0; z < p->n_tensors; z++)
    for (int l = p->tensor[z].home + 1; l <= p->n; l++) {
      if (l < p->n && !enters(s, l, z)) continue;
      const moved k = l < p->n ? move(s, l, z, ALL, false) : use(s, z, false);
      if (l < p->n) pj = plus(pj, access_pj(s, l, z, k.drain, k.fill, k.drain + k.fill));
      pj = plus(pj, access_pj(s, server(s, l, z), z, k.read, k.update, 0));
    }
  return pj;
}

static wide traffic_of(const state *s) {
  wide words = 0;
  for (int z = 0; z < s->p->n_tensors; z++)
    for (int l = s->p->tensor[z].home + 1; l <= s->p->n; l++) {
      if ((l < s->p->n && !enters(s, l, z)) || server(s, l, z) != 0) continue;
      const moved k = l < s->p->n ? move(s, l, z, ALL, false) : use(s, z, false);
      words = plus(words, plus(k.read, k.update));
    }
  return times(words, ONE);
}

/* ---- what fits ------------------------------------------------------------------------------ */
/* The role of the z-th tensor: the output, or the first or second input; -1: a later one. */
static int role_of(const problem *p, int z) {
  int before = 0;
  if (p->tensor[z].produced) return RESULT;
  for (int i = 0; i < z; i++)
    before += !p->tensor[i].produced;
  return before == 0 ? LEFT : before == 1 ? RIGHT : -1;
}

bool is_for(const problem *p, const mem_part *k, int z) {
  const int role = role_of(p, z);
  return !k || (role >= 0 && (k->holds >> role & 1));
}

bool overflows(const resource *m, const mem_part *k, wide bits) {
  const int64_t capacity = k ? k->capacity : m->capacity;
  return capacity >= 0 && ceiling(bits, m->bits) > capacity;
}

wide doubled(const resource *m, const mem_part *k, wide bits) {
  return m->twice || (k && k->twice) ? plus(bits, bits) : bits;
}

/* How much of a dim an instance of memory l meets in the whole run, from the first element to the
 * last. */
static wide met_of(const state *s, int l, int d) {
  wide inside = 1, side = 0;
  for (int i = s->m->n_loops; i-- > 0;) {
    const loop *k = &s->m->loop[i];
    if (k->dim != d) continue;
    if (i < s->cut_of[l] && k->axis == IN_TIME) side = plus(side, times(inside, k->trip - 1));
    inside = least(times(inside, k->trip), s->p->extent[d]);
    if (i >= s->cut_of[l]) side = inside;
  }
  return least(most(side, 1), s->p->extent[d]);
}

/* Bits of the tensors that live in memory l, in one instance; of those of a part of it. */
static wide bits_at_home(const state *s, int l, const mem_part *k) {
  const problem *p = s->p;
  wide bits = 0;
  for (int z = 0; z < p->n_tensors; z++) {
    wide held = k && k->bits > p->tensor[z].bits ? k->bits : p->tensor[z].bits;
    if (p->tensor[z].home != l || !is_for(p, k, z)) continue;
    for (int d = 0; d < p->n_dims; d++)
      if (indexes(&p->tensor[z], d)) held = times(held, l ? met_of(s, l, d) : p->extent[d]);
    bits = plus(bits, held);
  }
  return bits;
}

/* Bits of the blocks that enter memory l, in one instance; of those of a part of it. */
static wide bits_entered(const state *s, int l, const mem_part *k) {
  const problem *p = s->p;
  wide bits = 0;
  for (int z = 0; z < p->n_tensors; z++) {
    wide held = k && k->bits > p->tensor[z].bits ? k->bits : p->tensor[z].bits;
    if (!enters(s, l, z) || !is_for(p, k, z)) continue;
    for (int d = 0; d < p->n_dims; d++) {
      wide length = 1;
      for (int i = s->cut_of[l]; i < s->m->n_loops; i++)
        if (s->m->loop[i].dim == d) length = least(times(length, s->m->loop[i].trip), p->extent[d]);
      if (indexes(&p->tensor[z], d)) held = times(held, length);
    }
    bits = plus(bits, held);
  }
  return bits;
}

static wide bits_held(const state *s, int l, const mem_part *k) {
  const wide entered = l && s->cut_of[l] >= 0 ? bits_entered(s, l, k) : 0;
  return plus(doubled(&s->p->memory[l], k, entered), bits_at_home(s, l, k));
}

/* What lives in an inner memory needs its Tile, and no instances further out that have parts of the
 * same sum. */
static const char *not_at_home(const state *s) {
  for (int z = 0; z < s->p->n_tensors; z++) {
    const tensor *t = &s->p->tensor[z];
    if (!t->home) continue;
    if (s->cut_of[t->home] < 0 || s->bypass[t->home] >> z & 1)
      return "a tensor's home is passed by";
    for (int k = 0; k < s->cut_of[t->home]; k++)
      if (t->produced && s->m->loop[k].axis != IN_TIME && s->m->loop[k].trip > 1 &&
          !indexes(t, s->m->loop[k].dim))
        return "instances have parts of a sum that lives in one";
  }
  return NULL;
}

static const char *too_much(const state *s) {
  const problem *p = s->p;
  for (int l = 0; l < p->n; l++) {
    const resource *m = &p->memory[l];
    if (overflows(m, NULL, bits_held(s, l, NULL))) return "a memory overflows";
    for (int i = 0; i < m->n_parts; i++)
      if (overflows(m, &m->part[i], bits_held(s, l, &m->part[i])))
        return "a part of a memory overflows";
  }
  for (int l = 0; l < p->n; l++)
    for (int a = 0; a < 2; a++) {
      wide n = 1;
      for (int k = 0; k < s->m->n_loops; k++)
        if (s->m->level[s->m->loop[k].tile] == l && s->m->loop[k].axis == a)
          n = times(n, s->m->loop[k].trip);
      if (n > below(p, l)->mesh[a]) return "a mesh has too few instances";
    }
  for (int d = 0; d < p->n_dims; d++) {
    wide reach = 1;
    for (int k = s->m->n_loops; k-- > 0;) {
      if (s->m->loop[k].dim != d || s->m->loop[k].trip == 1) continue;
      if (times(reach, s->m->loop[k].trip - 1) >= p->extent[d])
        return "a step would begin beyond the end";
      reach = times(reach, s->m->loop[k].trip);
    }
    if (reach < p->extent[d]) return "the trip counts do not cover a dim";
  }
  return NULL;
}

bool count(const problem *p, const mapping *m, wide *value, const char **why) {
  state s = {.p = p, .m = m};
  for (int l = 0; l < p->n; l++)
    s.cut_of[l] = -1;
  for (int t = m->n_tiles - 1; t >= 0; t--) { /* of Tiles of one memory the outermost counts */
    s.cut_of[m->level[t]] = m->first[t];
    s.bypass[m->level[t]] = m->bypass[t];
  }
  *why = not_at_home(&s);
  if (!*why) *why = too_much(&s);
  if (*why) return false;
  const objective o = p->objective;
  const wide cycles = o == LATENCY || o == EDP ? cycles_of(&s) : 0,
             pj = o == ENERGY || o == EDP ? energy_of(&s) : 0;
  *value = o == LATENCY   ? cycles
           : o == ENERGY  ? pj
           : o == TRAFFIC ? traffic_of(&s)
                          : product(cycles, pj);
  return true;
}
