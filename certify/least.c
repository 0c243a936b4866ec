/* What no mapping of a box costs less than.  The rules:
 * docs/CERTIFICATE.md, "Costs and bounds". Numbers of elements are whole; times and energies are
 * rounded down. */
#include <string.h>

#include "certify/certify.h"

/* What the spans say of each Tile (the n-th: the unit) and dim, as the least and the most. */
typedef struct {
  const problem *p;
  const box *b;
  wide spread_lo[MEMORIES][DIMS], spread_hi[MEMORIES][DIMS]; /* instances, both axes */
  wide block_lo[MEMORIES + 1][DIMS],
      block_hi[MEMORIES + 1][DIMS]; /* length of a full block that enters the Tile */
  wide step_lo[MEMORIES][DIMS],
      step_hi[MEMORIES][DIMS]; /* of its loop in time: what all instances take at once */
  wide trips_lo[MEMORIES][DIMS], trips_hi[MEMORIES][DIMS];
  wide runs_lo[MEMORIES + 1][DIMS],
      runs_hi[MEMORIES + 1][DIMS]; /* settings of the loops in time of the Tiles before */
  wide among[MEMORIES + 1][DIMS];  /* most instances of the Tiles before */
} view;

static bool begins_too_late(int64_t n, wide all, wide end) {
  return n > 1 && all / n * (n - 1) >= end;
}

/* Of one dim, from within; false: beyond the end. */
static bool measure(view *v, int d) {
  const problem *p = v->p;
  const wide end = p->extent[d];
  v->block_lo[p->n][d] = v->block_hi[p->n][d] = 1;
  for (int l = p->n - 1; l >= 0; l--) {
    const span x = v->b->spread[l][0][d], y = v->b->spread[l][1][d], t = v->b->steps[l][d];
    v->spread_lo[l][d] = times(x.lo, y.lo);
    v->spread_hi[l][d] = times(x.hi, y.hi);
    const wide lo = times(v->spread_lo[l][d], v->block_lo[l + 1][d]);
    wide hi = times(v->spread_hi[l][d], v->block_hi[l + 1][d]);
    if (begins_too_late(x.lo, lo, end) || begins_too_late(y.lo, lo, end)) return false;
    const span length = l ? v->b->length[l][d] : (span){1, p->extent[d]};
    const bool ends = length.hi < p->extent[d]; /* else it may be any that is longer */
    wide trips_lo = t.lo, trips_hi = t.hi;
    if (l > 0) {
      trips_lo = most(trips_lo, ceiling(length.lo, hi));
      if (ends) trips_hi = least(trips_hi, length.hi / lo);
      if (trips_lo > trips_hi || times(trips_lo - 1, lo) >= end) return false;
      if (trips_lo > 1) hi = least(hi, (end - 1) / (trips_lo - 1));
      if (ends) hi = least(hi, length.hi / trips_lo);
    }
    const wide step = l ? most(lo, ceiling(length.lo, trips_hi)) : lo;
    if (step > hi) return false;
    v->step_lo[l][d] = step;
    v->step_hi[l][d] = hi;
    v->trips_lo[l][d] = l ? trips_lo : ceiling(end, hi);
    v->trips_hi[l][d] = l ? trips_hi : ceiling(end, step);
    v->block_lo[l][d] = most(length.lo, times(v->trips_lo[l][d], step));
    v->block_hi[l][d] = least(times(v->trips_hi[l][d], hi), end - 1 + hi);
    if (ends) v->block_hi[l][d] = least(v->block_hi[l][d], length.hi);
  }
  v->among[0][d] = v->runs_lo[0][d] = v->runs_hi[0][d] = 1;
  for (int l = 0; l < p->n; l++) {
    v->among[l + 1][d] = times(v->among[l][d], v->spread_hi[l][d]);
    v->runs_hi[l + 1][d] = times(v->runs_hi[l][d], v->trips_hi[l][d]);
    v->runs_lo[l + 1][d] = ceiling(end, times(v->among[l + 1][d], v->block_hi[l + 1][d]));
  }
  return true;
}

static bool look(view *v, const problem *p, const box *b) {
  *v = (view){.p = p, .b = b};
  for (int d = 0; d < p->n_dims; d++)
    if (!measure(v, d)) return false;
  return true;
}

span steps_at(const problem *p, const box *b, int tile, int d) {
  wide lo = 1, hi = 1;
  if (tile > 0) return b->steps[tile][d];
  for (int l = 0; l < p->n; l++) {
    lo = times(times(lo, b->spread[l][0][d].lo),
               times(b->spread[l][1][d].lo, l ? b->steps[l][d].lo : 1));
    hi = times(times(hi, b->spread[l][0][d].hi),
               times(b->spread[l][1][d].hi, l ? b->steps[l][d].hi : 1));
  }
  return (span){(int64_t)ceiling(p->extent[d], hi), (int64_t)ceiling(p->extent[d], lo)};
}

bool beyond_end(const problem *p, const box *b) {
  view v;
  return !look(&v, p, b);
}

/* Elements of a tensor's block with these lengths. */
static wide block_of(const view *v, const tensor *z, const wide *length) {
  wide n = 1;
  for (int d = 0; d < v->p->n_dims; d++)
    if (indexes(z, d)) n = times(n, least(v->p->extent[d], length[d]));
  return n;
}

static bool enters(const view *v, int l, int z) {
  return surely_held(v->b, l, z) && l > v->p->tensor[z].home;
}

/* Elements that an instance of a tensor's home, memory l, meets: of each dim no less than a block,
 * nor than its share.
 */
static wide met_at_home(const view *v, const tensor *z, int l) {
  wide n = 1;
  for (int d = 0; d < v->p->n_dims; d++)
    if (indexes(z, d))
      n = times(n, least(v->p->extent[d],
                         most(v->block_lo[l][d], ceiling(v->p->extent[d], v->among[l][d]))));
  return n;
}

/* Bits of what memory l, or a part of it, surely holds: the shortest blocks, and what lives there.
 */
static wide least_bits(const view *v, int l, const mem_part *k) {
  const problem *p = v->p;
  wide bits = 0, living = 0;
  for (int z = 0; z < p->n_tensors; z++) {
    const int64_t width = k && k->bits > p->tensor[z].bits ? k->bits : p->tensor[z].bits;
    if (!surely_held(v->b, l, z) || !is_for(p, k, z)) continue;
    if (enters(v, l, z))
      bits = plus(bits, times(block_of(v, &p->tensor[z], v->block_lo[l]), width));
    else
      living = plus(living, times(met_at_home(v, &p->tensor[z], l), width));
  }
  return plus(doubled(&p->memory[l], k, bits), living);
}

bool too_large(const problem *p, const box *b, int l) {
  view v;
  const resource *m = &p->memory[l];
  if (!look(&v, p, b)) return false;
  bool large = overflows(m, NULL, least_bits(&v, l, NULL));
  for (int i = 0; i < m->n_parts; i++)
    large |= overflows(m, &m->part[i], least_bits(&v, l, &m->part[i]));
  return large;
}

/* ---- words that enter a memory -------------------------------------------------------------- */
/* A loop in time. */
typedef struct {
  int tile, dim;
} at;

static bool outside(const view *v, at a, at b) {
  return a.tile < b.tile ||
         (a.tile == b.tile && v->b->place[a.tile][a.dim] < v->b->place[b.tile][b.dim]);
}

/* Of 2 E parts of the dim's elements, how many are surely in instances of memory l that see two
 * steps of the loop. */
static wide seen_twice(const view *v, int l, at a) {
  const wide end = v->p->extent[a.dim], hi = v->block_hi[a.tile][a.dim];
  const wide lo = times(v->trips_lo[a.tile][a.dim], v->step_lo[a.tile][a.dim]);
  wide last = 2 * end;
  bool spreads = false;
  for (int k = a.tile; k < l; k++)
    spreads |= v->spread_hi[k][a.dim] > 1;
  if (spreads && v->trips_lo[a.tile][a.dim] < 3)
    last = least(last, 4 * most(1, end - v->step_hi[a.tile][a.dim]));
  if (a.tile == 0 || lo >= end) return last;
  const wide full = lo == hi ? end / lo * lo * 2 : most(end, 2 * (end - hi));
  return hi >= end ? least(last, full) : full;
}

static wide whole_of(const tensor *z) { return times(z->words, ONE); }

/* Words of a tensor that enter memory l, once for those that share, in fixed point. */
static wide entering(const view *v, const tensor *z, int l) {
  at in = {-1, -1}; /* the innermost loop that surely has two steps and moves it */
  wide again = 1;
  for (int q = 0; q < l; q++)
    for (int d = 0; d < v->p->n_dims; d++)
      if (indexes(z, d) && v->trips_lo[q][d] > 1 && (in.tile < 0 || outside(v, in, (at){q, d})))
        in = (at){q, d};
  if (in.tile < 0) return whole_of(z);
  for (int d = 0; d < v->p->n_dims; d++)
    if (!indexes(z, d))
      again = times(again, v->runs_lo[in.tile + outside(v, (at){in.tile, d}, in)][d]);
  const int64_t part = (int64_t)seen_twice(v, l, in);
  return plus(whole_of(z), scaled(times(whole_of(z), again - 1), part, 2 * v->p->extent[in.dim]));
}

/* ---- ports ---------------------------------------------------------------------------------- */
typedef struct {
  wide read, write;
} transfer; /* of one instance, in words of its memory, in fixed point */

static void add_transfer(transfer *a, transfer b) {
  a->read = plus(a->read, b.read);
  a->write = plus(a->write, b.write);
}

static wide port_time(const resource *m, transfer w) {
  const wide read = over(w.read, m->read), write = over(w.write, m->write);
  return m->one_port ? plus(read, write) : most(read, write);
}

/* The part of the busiest instance of a memory in words of a tensor, if all instances share in the
 * dims of `by`. */
static wide share(const view *v, const tensor *z, int l, wide n, unsigned by) {
  wide part = scaled(n, z->bits, v->p->memory[l].bits);
  for (int d = 0; d < v->p->n_dims; d++)
    if (by >> d & 1) part /= v->among[l][d];
  return part;
}

/* What memory a passes as n words of a tensor enter memory l: a = l, or the one that serves it. */
static transfer passed(const view *v, const tensor *z, int l, int a, wide n) {
  const wide in = share(v, z, a, z->produced ? n - whole_of(z) : n, z->dims),
             out = z->produced ? share(v, z, a, n, z->dims) : 0;
  return a == l ? (transfer){out, in} : (transfer){in, out};
}

/* What the units use of a tensor in memory l, in words: all points, those of one step that share an
 * element once. */
static wide used(const view *v, const tensor *z, int l) {
  wide n = ONE;
  for (int d = 0; d < v->p->n_dims; d++) {
    n = times(n, v->p->extent[d]);
    for (int k = l; k < v->p->n && !indexes(z, d); k++)
      n /= v->spread_hi[k][d];
  }
  return most(n, whole_of(z));
}

static transfer used_of_one(const view *v, const tensor *z, int l) {
  const int64_t bits = v->p->memory[l].bits;
  wide all = scaled(used(v, z, l), z->bits, bits);
  for (int d = 0; d < v->p->n_dims; d++)
    all /= v->among[l][d];
  return z->produced ? (transfer){most(0, all - scaled_up(whole_of(z), z->bits, bits)), all}
                     : (transfer){all, 0};
}

/* Words of each tensor that enter each memory. */
typedef struct {
  wide in[MEMORIES][TENSORS];
} entries;

/* The memory that surely serves memory l, which surely holds the tensor, or the units (l = n); -1:
 * there is none. */
static int sure_server(const view *v, int l, int z) {
  int m = l - 1;
  if (l <= v->p->tensor[z].home) return -1;
  while (!may_be_held(v->b, m, z))
    m--;
  return surely_held(v->b, m, z) && (l == v->p->n || surely_held(v->b, l, z)) ? m : -1;
}

/* Words of a tensor that memory l, which surely holds it, passes to the next that does, or to the
 * units: of all that may be it, the fewest.  *one: the same of its busiest instance. */
static wide passed_on(const view *v, const entries *e, int z, int l, transfer *one) {
  const tensor *t = &v->p->tensor[z];
  const wide none = (wide)1 << 126;
  wide n = none;
  bool met = false;
  *one = (transfer){none, none};
  for (int k = l + 1; k <= v->p->n && !met; k++) {
    const bool units = k == v->p->n;
    if (!units && !may_be_held(v->b, k, z)) continue;
    const transfer w = units ? used_of_one(v, t, l) : passed(v, t, k, l, e->in[k][z]);
    n = least(n, units ? used(v, t, l) : e->in[k][z]);
    *one = (transfer){least(one->read, w.read), least(one->write, w.write)};
    met = !units && surely_held(v->b, k, z);
  }
  return n;
}

/* ---- time ----------------------------------------------------------------------------------- */
/* Elements of the first instance below the outermost Tile, where each takes `length` of them in a
 * step. */
static wide first_part(wide end, wide n, wide length) {
  const wide full = end / (n * length);
  return full * length + least(length, end - full * n * length);
}

/* Steps in which units work on a dim. */
static wide work_on(const view *v, int d) {
  const wide end = v->p->extent[d], n = most(1, v->spread_hi[0][d]),
             inside = v->among[v->p->n][d] / n;
  const wide lo = v->block_lo[1][d], hi = v->block_hi[1][d];
  if (v->spread_lo[0][d] == n && end / (n * lo) * n * hi < end)
    return ceiling(least(first_part(end, n, lo), first_part(end, n, hi)), inside);
  return ceiling(end, times(n, inside));
}

static wide work_of(const view *v) {
  wide steps = 1, points = ONE, units = 1;
  for (int d = 0; d < v->p->n_dims; d++) {
    steps = times(steps, work_on(v, d));
    points = times(points, v->p->extent[d]);
  }
  for (int l = 0; l < v->p->n; l++)
    for (int a = 0; a < 2; a++) {
      wide n = 1;
      for (int d = 0; d < v->p->n_dims; d++)
        n = times(n, v->b->spread[l][a][d].hi);
      units = times(units, least(n, below(v->p, l)->mesh[a]));
    }
  return over(most(times(steps, ONE), points / units), v->p->unit.rate);
}

/* Whether memory a surely passes words of the tensor as they enter memory l. */
static bool takes_part(const view *v, int l, int a, int z) {
  return a == l ? enters(v, l, z) : sure_server(v, l, z) == a;
}

/* Time of memory a's port for the block of a tensor that enters memory l first, or leaves last. */
static wide first_time(const view *v, const tensor *z, int l, int a) {
  const resource *m = &v->p->memory[a];
  const wide n = block_of(v, z, a == l ? v->block_lo[l] : v->step_lo[l - 1]);
  return over(scaled(times(n, ONE), z->bits, m->bits),
              (a == l) == z->produced ? m->read : m->write);
}

/* Tensors that no loop inside of a place among the loops above memory l can move. */
static unsigned still_inside(const view *v, int l, int tile, int place) {
  unsigned moving = 0, still = 0;
  for (int k = tile; k < l; k++)
    for (int d = 0; d < v->p->n_dims; d++)
      if (v->trips_hi[k][d] > 1 && (k > tile || v->b->place[k][d] > place)) moving |= 1u << d;
  for (int z = 0; z < v->p->n_tensors; z++)
    if (!(v->p->tensor[z].dims & moving)) still |= 1u << z;
  return still;
}

/* The child's time in the steps in which no loop up to the place carries. */
static wide time_of_others(const view *v, int l, at a, wide child) {
  wide carried = child;
  for (int d = 0; d < v->p->n_dims; d++) {
    const wide runs = v->runs_lo[l][d],
               before = v->runs_hi[a.tile + (v->b->place[a.tile][d] <= a.dim)][d];
    if (runs > before) carried = ceiling(times(carried, before), runs);
  }
  return child - carried;
}

/* Double buffering, seen from places among the loops above: tensors that are still inside of one
 * enter only in steps in which a loop up to there carries, which hide nothing of the other steps'
 * work. */
static wide time_by_places(const view *v, int l, const wide *n, wide child) {
  wide time = 0;
  for (int tile = 0; tile < l; tile++)
    for (int place = 0; place <= v->p->n_dims; place++) {
      const unsigned still = still_inside(v, l, tile, place);
      if (!still) continue;
      const wide others = time_of_others(v, l, (at){tile, place}, child);
      for (int a = 0; a <= l; a++) {
        transfer w = {0, 0};
        wide first = 0;
        for (int z = 0; z < v->p->n_tensors; z++) {
          if (!takes_part(v, l, a, z)) continue;
          if (still >> z & 1)
            add_transfer(&w, passed(v, &v->p->tensor[z], l, a, n[z]));
          else
            first = plus(first, first_time(v, &v->p->tensor[z], l, a));
        }
        time = most(time, plus(plus(others, first), port_time(&v->p->memory[a], w)));
      }
    }
  return time;
}

/* The first load and the last store; in_turn: all loads and all stores. */
static wide loads_and_stores(const view *v, int l, const wide *n, bool in_turn) {
  wide load = 0, store = 0;
  for (int a = 0; a <= l; a++) {
    const resource *m = &v->p->memory[a];
    wide in = 0, out = 0;
    transfer w = {0, 0};
    for (int z = 0; z < v->p->n_tensors; z++) {
      if (!takes_part(v, l, a, z)) continue;
      const tensor *t = &v->p->tensor[z];
      const wide time = first_time(v, t, l, a);
      in = plus(in, t->produced ? 0 : time);
      out = plus(out, t->produced ? time : 0);
      add_transfer(&w, passed(v, t, l, a, n[z]));
    }
    const wide read = over(w.read, m->read), write = over(w.write, m->write);
    load = most(load, in_turn ? (a == l ? write : read) : in);
    store = most(store, in_turn ? (a == l ? read : write) : out);
  }
  return plus(load, store);
}

static wide tile_time(const view *v, int l, const wide *n, wide child) {
  const resource *m = &v->p->memory[l];
  bool any = false;
  for (int z = 0; z < v->p->n_tensors; z++)
    any |= enters(v, l, z);
  if (v->p->overlap == PERFECT || !any) return child;
  wide time = plus(child, loads_and_stores(v, l, n, v->p->overlap == NO_OVERLAP));
  if (v->p->overlap == DOUBLE_BUFFER) time = most(time, time_by_places(v, l, n, child));
  return plus(time, plus(of(ONE, m->latency), of(ONE, m->issue)));
}

/* The units' work, and the ports of memories that surely serve them. */
static wide time_of_units(const view *v) {
  wide time = work_of(v);
  for (int l = 0; l < v->p->n; l++) {
    transfer w = {0, 0};
    for (int z = 0; z < v->p->n_tensors; z++)
      if (sure_server(v, v->p->n, z) == l) add_transfer(&w, used_of_one(v, &v->p->tensor[z], l));
    time = most(time, port_time(&v->p->memory[l], w));
  }
  return time;
}

static wide cycles_of(const view *v, const entries *e) {
  const problem *p = v->p;
  wide time = time_of_units(v);
  if (p->overlap != PERFECT) time = plus(time, of(ONE, p->unit.pipeline));
  for (int l = p->n - 1; l > 0; l--)
    time = tile_time(v, l, e->in[l], time);
  for (int l = 0; l < p->n; l++) {
    transfer w = {0, 0}, on;
    for (int z = 0; z < p->n_tensors; z++) {
      if (!surely_held(v->b, l, z)) continue;
      if (enters(v, l, z)) add_transfer(&w, passed(v, &p->tensor[z], l, l, e->in[l][z]));
      passed_on(v, e, z, l, &on);
      add_transfer(&w, on);
    }
    time = most(time, port_time(&p->memory[l], w));
  }
  return time;
}

/* ---- energy --------------------------------------------------------------------------------- */
static wide energy_of(const view *v, const entries *e) {
  const problem *p = v->p;
  wide points = ONE;
  for (int d = 0; d < p->n_dims; d++)
    points = times(points, p->extent[d]);
  wide pj = of(points, p->unit.pj);
  for (int l = 0; l < p->n; l++)
    for (int z = 0; z < p->n_tensors; z++) {
      const tensor *t = &p->tensor[z];
      const resource *m = &p->memory[l];
      transfer one;
      if (!surely_held(v->b, l, z)) continue;
      const wide whole = whole_of(t), own = enters(v, l, z) ? e->in[l][z] : 0;
      const wide in = passed_on(v, e, z, l, &one),
                 again = t->produced && enters(v, l, z) ? own - whole : 0;
      const wide read = t->produced ? plus(most(0, in - whole), own) : in,
                 write = t->produced ? plus(in, again) : own;
      const wide hop = of(scaled(plus(own, again), t->bits, m->bits), m->hop_pj);
      pj = plus(pj, of(scaled(read, t->bits, m->bits), m->read_pj));
      pj = plus(pj, of(scaled(write, t->bits, m->bits), m->write_pj));
      pj = plus(pj, times(hop, m->mesh[0] - 1 + m->mesh[1] - 1) / 2);
    }
  return pj;
}

wide least_cost(const problem *p, const box *b) {
  view v;
  entries e;
  wide words = 0;
  if (!look(&v, p, b)) return 0;
  for (int z = 0; z < p->n_tensors; z++) {
    transfer one;
    for (int l = 1; l < p->n; l++)
      e.in[l][z] = l > p->tensor[z].home ? entering(&v, &p->tensor[z], l) : 0;
    if (p->tensor[z].home) continue;
    const wide n = passed_on(&v, &e, z, 0, &one);
    words = plus(words, p->tensor[z].produced ? 2 * n - whole_of(&p->tensor[z]) : n);
  }
  const objective o = p->objective;
  if (o == TRAFFIC) return words;
  const wide cycles = o == ENERGY ? 0 : cycles_of(&v, &e),
             pj = o == LATENCY ? 0 : energy_of(&v, &e);
  return o == LATENCY ? cycles : o == ENERGY ? pj : product(cycles, pj);
}

/* Words of the tensors that live in memory l, in words of it. */
static transfer living_in(const problem *p, int l) {
  transfer w = {0, 0};
  for (int z = 0; z < p->n_tensors; z++) {
    const wide n = scaled(whole_of(&p->tensor[z]), p->tensor[z].bits, p->memory[l].bits);
    if (p->tensor[z].home == l)
      add_transfer(&w, p->tensor[z].produced ? (transfer){0, n} : (transfer){n, 0});
  }
  return w;
}

/* Of any mapping whatever, in the space or not: each element passes the memory in which it lives
 * once, that is one of its instances, each point takes a unit. */
wide floor_of(const problem *p) {
  const bool powered = p->objective == ENERGY || p->objective == EDP;
  wide points = ONE, units = 1, elements = 0, pj = 0, cycles = 0;
  for (int d = 0; d < p->n_dims; d++)
    points = times(points, p->extent[d]);
  for (int l = 0; l < p->n; l++) {
    const transfer w = living_in(p, l);
    if (powered)
      pj = plus(pj, plus(of(w.read, p->memory[l].read_pj), of(w.write, p->memory[l].write_pj)));
    cycles = most(cycles, port_time(&p->memory[l], (transfer){w.read / units, w.write / units}));
    units = times(units, times(below(p, l)->mesh[0], below(p, l)->mesh[1]));
  }
  for (int z = 0; z < p->n_tensors; z++)
    elements = plus(elements, p->tensor[z].home ? 0 : whole_of(&p->tensor[z]));
  if (p->objective == TRAFFIC) return elements;
  if (powered) pj = plus(of(points, p->unit.pj), pj);
  if (p->objective == ENERGY) return pj;
  cycles = most(over(points / units, p->unit.rate), cycles);
  return p->objective == LATENCY ? cycles : product(cycles, pj);
}
