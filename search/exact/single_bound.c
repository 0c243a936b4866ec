/* Lower bounds for the mappings of a box: words, cycles and energy by a real relaxation, from the
 * shortest or longest lengths of the box, whichever costs less. */
#include <math.h>

#include "model/cost/access.h"
#include "search/exact/single.h"

/* For operands that are never NaN: faster than fmax and fmin. */
static inline double more(double a, double b) { return a > b ? a : b; }
static inline double less(double a, double b) { return a < b ? a : b; }

/* Lengths and numbers of steps of a box.  Tile l's memory is entered in the steps of Tiles 0 .. l
 * - 1. */
typedef struct {
  const tf_single_op *op;
  const tf_single_box *b;
  /* instances, over both axes */
  double spread_lo[TF_SINGLE_TILES][TF_SINGLE_DIMS], spread_hi[TF_SINGLE_TILES][TF_SINGLE_DIMS];
  /* [tile][dim] length of a dim that reaches the Tile, where it is full; [n_tiles]: 1 */
  double reach_lo[TF_SINGLE_TILES + 1][TF_SINGLE_DIMS],
      reach_hi[TF_SINGLE_TILES + 1][TF_SINGLE_DIMS];
  /* length of a step of its temporal loop */
  double step_lo[TF_SINGLE_TILES][TF_SINGLE_DIMS], step_hi[TF_SINGLE_TILES][TF_SINGLE_DIMS];
  /* that loop's trip count */
  double steps_lo[TF_SINGLE_TILES][TF_SINGLE_DIMS], steps_hi[TF_SINGLE_TILES][TF_SINGLE_DIMS];
  /* most instances over which Tiles 0 .. l - 1 spread the dim */
  double above[TF_SINGLE_TILES + 1][TF_SINGLE_DIMS];
  /* settings of the temporal loops of Tiles 0 .. l that occur */
  double runs_lo[TF_SINGLE_TILES][TF_SINGLE_DIMS], runs_hi[TF_SINGLE_TILES][TF_SINGLE_DIMS];
  /* [memory][tensor] the memory that certainly serves it, or the units ([n_tiles]), with the
   * tensor; -1: it need not hold the tensor, or its server is not known */
  int server[TF_SINGLE_TILES + 1][TF_SINGLE_TENSORS];
} lengths;

/* ---- lengths --------------------------------------------------------------------------------- */
/* False if no mapping of the box has all steps, and all instances of an axis, begin before the
 * end. */
static bool measure_dim(lengths *c, int d) {
  const double extent = c->op->extent[d];
  const int n = c->op->n_tiles;
  c->reach_lo[n][d] = c->reach_hi[n][d] = 1;
  for (int l = n - 1; l >= 0; l--) {
    const tf_single_span x = c->b->spread[l][0][d], y = c->b->spread[l][1][d],
                         t = c->b->steps[l][d];
    c->spread_lo[l][d] = (double)x.lo * y.lo;
    c->spread_hi[l][d] = (double)x.hi * y.hi;
    double lo = c->spread_lo[l][d] * c->reach_lo[l + 1][d],
           hi = c->spread_hi[l][d] * c->reach_hi[l + 1][d];
    if ((x.lo > 1 && (x.lo - 1) * (lo / x.lo) >= extent) ||
        (y.lo > 1 && (y.lo - 1) * (lo / y.lo) >= extent))
      return false;
    const tf_single_span block = l ? c->b->block[l][d] : (tf_single_span){1, (int32_t)extent};
    const double longest = block.hi < extent ? (double)block.hi : INFINITY;
    double most_steps = l ? less(t.hi, floor(longest / lo)) : INFINITY, least_steps = l ? t.lo : 1;
    if (l > 0) least_steps = more(least_steps, ceil(block.lo / hi));
    if (least_steps > most_steps) return false;
    if (l > 0 && least_steps > 1) {
      if ((least_steps - 1) * lo >= extent) return false;
      hi = less(hi, floor((extent - 1) / (least_steps - 1)));
    }
    if (l > 0) hi = less(hi, floor(longest / least_steps));
    if (l > 0) lo = more(lo, ceil(block.lo / most_steps));
    if (lo > hi) return false;
    c->step_lo[l][d] = lo;
    c->step_hi[l][d] = hi;
    c->steps_lo[l][d] = l ? least_steps : more(1, ceil(extent / hi));
    c->steps_hi[l][d] = l ? most_steps : more(1, ceil(extent / lo));
    c->reach_lo[l][d] = more(block.lo, c->steps_lo[l][d] * lo);
    c->reach_hi[l][d] = less(less(c->steps_hi[l][d] * hi, extent - 1 + hi), longest);
  }
  double most = 1, runs = 1;
  for (int l = 0; l < n; l++) {
    c->above[l][d] = most;
    most *= c->spread_hi[l][d];
    runs *= c->steps_hi[l][d];
    c->runs_lo[l][d] = more(1, ceil(extent / (most * c->reach_hi[l + 1][d])));
    c->runs_hi[l][d] = runs;
  }
  c->above[n][d] = most;
  return true;
}

/* Elements of a dim that the first instance below Tile 0 gets, where each holds `len` of them at
 * once: all its full steps, and its part of the last one. */
static double first_part(double extent, double spread, double len) {
  const double full = floor(extent / (spread * len));
  return full * len + less(len, extent - full * spread * len);
}

/* The fewest steps in which units work on a dim, other dims aside.  The first instance has no fewer
 * steps than its share; and more, where no number of full steps ends at the extent: between two
 * lengths that do, its part grows and then falls again. */
static double work_on(const lengths *c, int d) {
  const int n = c->op->n_tiles;
  const double extent = c->op->extent[d], lo = c->reach_lo[1][d], hi = c->reach_hi[1][d],
               s = c->spread_hi[0][d];
  const double inside = c->above[n][d] / s;
  double part = extent / s;
  if (c->spread_lo[0][d] == s && floor(extent / (s * lo)) < extent / (s * hi))
    part = less(first_part(extent, s, lo), first_part(extent, s, hi));
  return more(1, ceil(part / inside * (1 - 1e-14)));
}

static bool moves(const tf_single_tensor *z, int d) { return z->dims >> d & 1; }

/* ---- which memory holds what ---------------------------------------------------------------- */
/* Whether the memory certainly holds the tensor; may hold it; certainly is filled with it (its home
 * is not). */
static bool holds(const lengths *c, int l, int z) {
  return l == c->op->tensor[z].home || (l > c->op->tensor[z].home && c->b->held[l] >> z & 1);
}
static bool may_hold(const lengths *c, int l, int z) {
  return l == c->op->tensor[z].home || (l > c->op->tensor[z].home && !(c->b->past[l] >> z & 1));
}
static bool enters(const lengths *c, int l, int z) {
  return l != c->op->tensor[z].home && holds(c, l, z);
}

static void find_servers(lengths *c) {
  for (int z = 0; z < c->op->n_tensors; z++)
    for (int l = 1; l <= c->op->n_tiles; l++) {
      int m = l - 1;
      while (m > 0 && !may_hold(c, m, z))
        m--;
      c->server[l][z] =
          l > c->op->tensor[z].home && holds(c, m, z) && (l == c->op->n_tiles || holds(c, l, z))
              ? m
              : -1;
    }
}

/* Words of a tensor's box with these lengths. */
static double box_of(const lengths *c, const tf_single_tensor *z, const double *len) {
  double words = 1;
  for (int d = 0; d < c->op->n_dims; d++)
    if (moves(z, d)) words *= less(c->op->extent[d], len[d]);
  return words;
}

/* Words of a tensor that an instance of its home, memory l, is accessed for over the run: along
 * each dim at least a block, and at least its share. */
static double box_at_home(const lengths *c, const tf_single_tensor *z, int l) {
  double words = 1;
  for (int d = 0; d < c->op->n_dims; d++)
    if (moves(z, d))
      words *=
          less(c->op->extent[d], more(c->reach_lo[l][d], ceil(c->op->extent[d] / c->above[l][d])));
  return words;
}

/* Words that the Tile's memory, or a part of it, needs for the shortest lengths of the box.  The
 * op's tensors are its output, then its reads. */
static double held(const lengths *c, int l, const tf_mem_part *part) {
  static const int role[] = {TF_ROLE_RESULT, TF_ROLE_LEFT, TF_ROLE_RIGHT};
  const tf_memory *mem = &c->op->arch->memories[l];
  double bits = 0, at_home = 0;
  for (int z = 0; z < c->op->n_tensors; z++) {
    const tf_single_tensor *t = &c->op->tensor[z];
    const double width = part && part->word_bits > t->bits ? part->word_bits : t->bits;
    if (!holds(c, l, z) || (part && tf_part_for(mem, z < TF_N_ROLES ? role[z] : -1) != part))
      continue;
    if (enters(c, l, z))
      bits += box_of(c, t, c->reach_lo[l]) * width;
    else
      at_home += box_at_home(c, t, l) * width;
  }
  if (mem->double_buffered || (part && part->double_buffered)) bits *= 2;
  return ceil((bits + at_home) / mem->word_bits);
}

/* Whether they fit. */
static bool fits(const lengths *c, int l) {
  const tf_memory *mem = &c->op->arch->memories[l];
  bool fit = mem->capacity_words < 0 || held(c, l, NULL) <= (double)mem->capacity_words;
  for (int i = 0; i < mem->parts.n && fit; i++)
    fit = held(c, l, &mem->parts.list[i]) <= (double)mem->parts.list[i].capacity_words;
  return fit;
}

/* ---- words ----------------------------------------------------------------------------------- */
/* The share of a tensor's elements that are certainly in an instance of memory l for two or more
 * steps of the loop on dim d of Tile q, which has two steps.  If a loop further out splits the dim,
 * that is so in all its full steps; if none does, an instance may have no part in the last step,
 * and then has one step of two. */
static double reloaded_share(const lengths *c, int l, int q, int d) {
  const double extent = c->op->extent[d], lo = c->steps_lo[q][d] * c->step_lo[q][d],
               hi = c->reach_hi[q][d];
  double outermost = 1, inside = 1;
  bool spreads = false;
  for (int k = q; k < l; k++)
    spreads |= c->spread_hi[k][d] > 1;
  if (spreads && c->steps_lo[q][d] < 3)
    outermost = less(1, 2 * more(1, extent - c->step_hi[q][d]) / extent);
  if (q == 0 || lo >= extent) return outermost;
  inside = lo == hi ? floor(extent / lo) * lo / extent : more(0.5, 1 - hi / extent);
  return hi >= extent ? less(outermost, inside) : inside;
}

/* Whether loop (q, d) is outside of loop (p, e). */
static bool outside(const lengths *c, int q, int d, int p, int e) {
  return q < p || (q == p && c->b->place[q][d] < c->b->place[p][e]);
}

/* The words of a tensor that enter memory l, words shared by instances counted once: the whole
 * tensor, and the `reloaded_share` of it again whenever a loop that does not move it steps outside
 * of the innermost loop that certainly does. */
static double entered(const lengths *c, const tf_single_tensor *z, int l) {
  int p = -1, e = -1;
  for (int q = 0; q < l; q++)
    for (int d = 0; d < c->op->n_dims; d++)
      if (moves(z, d) && c->steps_lo[q][d] > 1 && (p < 0 || outside(c, p, e, q, d))) p = q, e = d;
  if (p < 0) return z->words;
  double times = 1;
  for (int d = 0; d < c->op->n_dims; d++)
    if (!moves(z, d))
      times *= outside(c, p, d, p, e) ? c->runs_lo[p][d] : p ? c->runs_lo[p - 1][d] : 1;
  return z->words * (1 + (times - 1) * reloaded_share(c, l, p, e));
}

typedef struct {
  double read, write;
} traffic;

static double port_time(const tf_memory *mem, traffic w) {
  const double read = w.read / mem->read_bw, write = w.write / mem->write_bw;
  return mem->one_port ? read + write : more(read, write);
}

/* Words that pass the busiest instance of memory `at` because memory l is filled: at = l, or the
 * memory that serves it.  A tensor's words are divided among instances that hold different
 * parts. */
static traffic passed(const lengths *c, const tf_single_tensor *z, int l, int at, double all) {
  double share = z->bits / c->op->arch->memories[at].word_bits;
  for (int d = 0; d < c->op->n_dims; d++)
    if (moves(z, d)) share /= c->above[at][d];
  const double in = z->made ? all - z->words : all, out = z->made ? all : 0;
  return at == l ? (traffic){out * share, in * share} : (traffic){in * share, out * share};
}

/* Words that units read and write in memory m: one per point, or one per group of points that share
 * an element. */
static double used(const lengths *c, const tf_single_tensor *z, int m) {
  double times = c->op->points;
  for (int l = m; l < c->op->n_tiles; l++)
    for (int d = 0; d < c->op->n_dims; d++)
      if (!moves(z, d)) times /= c->spread_hi[l][d];
  return more(times, z->words);
}

/* The same for the busiest instance. */
static traffic used_in_one(const lengths *c, const tf_single_tensor *z, int m) {
  const double ratio = z->bits / c->op->arch->memories[m].word_bits;
  double all = used(c, z, m) * ratio;
  for (int d = 0; d < c->op->n_dims; d++)
    all /= c->above[m][d];
  return z->made ? (traffic){more(0, all - z->words * ratio), all} : (traffic){all, 0};
}

typedef struct {
  double entered[TF_SINGLE_TILES][TF_SINGLE_TENSORS]; /* [memory >= 1] */
} flow;

/* The words of tensor z that memory m, which holds it, passes further in: to the next memory that
 * holds it, or the units.  If that is not known, the minimum over the candidates.  *one: of the
 * busiest instance. */
static double passed_inward(const lengths *c, const flow *f, int z, int m, traffic *one) {
  const tf_single_tensor *t = &c->op->tensor[z];
  double words = INFINITY;
  traffic least = {INFINITY, INFINITY};
  for (int l = m + 1; l <= c->op->n_tiles; l++) {
    const bool units = l == c->op->n_tiles;
    if (!units && !may_hold(c, l, z)) continue;
    const traffic own = units ? used_in_one(c, t, m) : passed(c, t, l, m, f->entered[l][z]);
    words = less(words, units ? used(c, t, m) : f->entered[l][z]);
    least = (traffic){less(least.read, own.read), less(least.write, own.write)};
    if (!units && holds(c, l, z)) break;
  }
  if (one) *one = least;
  return words;
}

/* ---- cycles ---------------------------------------------------------------------------------- */
/* Steps in which units work: at least what the spreads allow dim by dim, and what the meshes
 * allow. */
static double work_of(const lengths *c) {
  const tf_single_op *op = c->op;
  double steps = 1, units = 1;
  for (int d = 0; d < op->n_dims; d++)
    steps *= work_on(c, d);
  for (int l = 0; l < op->n_tiles; l++)
    for (int a = 0; a < 2; a++) {
      double spread = 1;
      for (int d = 0; d < op->n_dims; d++)
        spread *= c->b->spread[l][a][d].hi;
      units *= less(spread, (double)op->mesh[l][a]);
    }
  return more(steps, op->points / units) / op->unit->rate;
}

/* Whether memory `at` certainly passes words of tensor z because memory l is filled. */
static bool certainly_passes(const lengths *c, int l, int at, int z) {
  return at == l ? enters(c, l, z) : c->server[l][z] == at;
}

/* Time of a memory's port for words of one tensor that enter in the first step (loads) or leave
 * after it (stores).  However far out the serving memory is, it passes at least what one step of
 * Tile l - 1 spreads. */
static double first_time(const lengths *c, const tf_single_tensor *z, int l, int at) {
  const tf_memory *mem = &c->op->arch->memories[at];
  const double words =
      box_of(c, z, at == l ? c->reach_lo[l] : c->step_lo[l - 1]) * z->bits / mem->word_bits;
  return words / ((at == l) == z->made ? mem->read_bw : mem->write_bw);
}

/* The tensors that no loop inside of the place (q, place) may move, above memory l: bit z. */
static unsigned still_inside(const lengths *c, int l, int q, int place) {
  uint32_t moving = 0;
  unsigned still = 0;
  for (int k = q; k < l; k++)
    for (int d = 0; d < c->op->n_dims; d++)
      if (c->steps_hi[k][d] > 1 && (k > q || c->b->place[k][d] > place)) moving |= UINT32_C(1) << d;
  for (int z = 0; z < c->op->n_tensors; z++)
    still |= (unsigned)!(c->op->tensor[z].dims & moving) << z;
  return still;
}

/* The least number of steps of memory l for one of the loops up to a place. */
static double steps_inside(const lengths *c, int l, int q, int place) {
  double steps = 1;
  for (int d = 0; d < c->op->n_dims; d++) {
    const double before = c->b->place[q][d] <= place ? c->runs_hi[q][d]
                          : q                        ? c->runs_hi[q - 1][d]
                                                     : 1;
    steps *= more(1, c->runs_lo[l - 1][d] / before);
  }
  return steps;
}

/* Loops above a memory, seen from a place among them: the share of its steps in which no loop
 * outside of the place steps, and the tensors that move in the other steps alone. */
typedef struct {
  double others;
  unsigned still;
} view;

/* Double buffering: moves that occur only in steps in which a loop up to a place steps can be
 * hidden only by the work of those steps; the other steps take their own work. */
static double time_at_place(const lengths *c, int l, int at, const double *all, const view *v,
                            double child) {
  traffic w = {0, 0};
  double first = 0;
  for (int z = 0; z < c->op->n_tensors; z++) {
    const tf_single_tensor *t = &c->op->tensor[z];
    if (!certainly_passes(c, l, at, z)) continue;
    if (!(v->still >> z & 1)) {
      first += first_time(c, t, l, at);
      continue;
    }
    const traffic own = passed(c, t, l, at, all[z]);
    w.read += own.read;
    w.write += own.write;
  }
  return v->others * child + port_time(&c->op->arch->memories[at], w) + first;
}

/* The maximum over places.  Of places at which the same tensors do not move, the outermost leaves
 * most steps to the others. */
static double time_at_places(const lengths *c, int l, const double *all, double child) {
  double time = 0;
  view v = {0, 0};
  for (int q = 0; q < l; q++)
    for (int place = 0; place <= c->op->n_dims; place++) {
      const unsigned still = still_inside(c, l, q, place);
      if (still == v.still) continue;
      v = (view){1 - 1 / steps_inside(c, l, q, place), still};
      for (int at = 0; at <= l; at++)
        time = more(time, time_at_place(c, l, at, all, &v, child));
    }
  return time;
}

/* Without overlap: the longest of the ports' loads, and of their stores. */
static double time_in_turn(const lengths *c, int l, const double *all) {
  double load = 0, store = 0;
  for (int at = 0; at <= l; at++) {
    const tf_memory *mem = &c->op->arch->memories[at];
    traffic w = {0, 0};
    for (int z = 0; z < c->op->n_tensors; z++) {
      if (!certainly_passes(c, l, at, z)) continue;
      const traffic own = passed(c, &c->op->tensor[z], l, at, all[z]);
      w.read += own.read;
      w.write += own.write;
    }
    const double read = w.read / mem->read_bw, write = w.write / mem->write_bw;
    load = more(load, at == l ? write : read);
    store = more(store, at == l ? read : write);
  }
  return load + store;
}

/* The time of Tile l, given that of its child. */
static double time_of_tile(const lengths *c, int l, const double *all, double child) {
  const tf_overlap overlap = c->op->arch->overlap;
  const tf_memory *mem = &c->op->arch->memories[l];
  double load = 0, store = 0;
  bool any = false;
  for (int z = 0; z < c->op->n_tensors; z++)
    any |= enters(c, l, z);
  if (overlap == TF_OVERLAP_PERFECT || !any) return child;
  if (overlap == TF_OVERLAP_NONE)
    return child + time_in_turn(c, l, all) + mem->latency + mem->issue;
  for (int at = 0; at <= l; at++) {
    double in = 0, out = 0;
    for (int z = 0; z < c->op->n_tensors; z++)
      if (certainly_passes(c, l, at, z))
        *(c->op->tensor[z].made ? &out : &in) += first_time(c, &c->op->tensor[z], l, at);
    load = more(load, in);
    store = more(store, out);
  }
  return more(child + load + store, time_at_places(c, l, all, child)) + mem->latency + mem->issue;
}

/* ---- totals ---------------------------------------------------------------------------------- */
/* The time that memory l's port takes over the run. */
static double time_of_port(const lengths *c, int l, const flow *f) {
  traffic w = {0, 0};
  for (int z = 0; z < c->op->n_tensors; z++) {
    if (!holds(c, l, z)) continue;
    const traffic own =
        enters(c, l, z) ? passed(c, &c->op->tensor[z], l, l, f->entered[l][z]) : (traffic){0, 0};
    traffic in;
    passed_inward(c, f, z, l, &in);
    w.read += own.read + in.read;
    w.write += own.write + in.write;
  }
  return port_time(&c->op->arch->memories[l], w);
}

/* The time of units: their work, and the ports of memories that surely serve them. */
static double time_of_units(const lengths *c) {
  double time = work_of(c);
  for (int l = 0; l < c->op->n_tiles; l++) {
    traffic w = {0, 0};
    for (int z = 0; z < c->op->n_tensors; z++) {
      if (c->server[c->op->n_tiles][z] != l) continue;
      const traffic own = used_in_one(c, &c->op->tensor[z], l);
      w.read += own.read;
      w.write += own.write;
    }
    time = more(time, port_time(&c->op->arch->memories[l], w));
  }
  return time;
}

static double cycles_of(const lengths *c, const flow *f) {
  const int n = c->op->n_tiles;
  double time = time_of_units(c), port = 0;
  if (c->op->arch->overlap != TF_OVERLAP_PERFECT) time += c->op->unit->pipeline;
  for (int l = n - 1; l > 0; l--)
    time = time_of_tile(c, l, f->entered[l], time);
  for (int l = 0; l < n; l++)
    port = more(port, time_of_port(c, l, f));
  return more(time, port);
}

/* Energy of the words that memory l passes further in, and of those that enter it. */
static double energy_of(const lengths *c, int l, const flow *f) {
  const tf_memory *mem = &c->op->arch->memories[l];
  const double ways =
      mem->topology == TF_NO_TOPOLOGY ? (double)(mem->mesh[0] - 1 + mem->mesh[1] - 1) / 2 : 0;
  const double hops = ways * mem->hop_pj; /* a topology may have shorter routes */
  double pj = 0;
  for (int z = 0; z < c->op->n_tensors; z++) {
    const tf_single_tensor *t = &c->op->tensor[z];
    if (!holds(c, l, z)) continue;
    const double in = passed_inward(c, f, z, l, NULL), own = enters(c, l, z) ? f->entered[l][z] : 0;
    double read = in, write = own, cross = own, out_pj = mem->read_pj;
    if (t->made) {
      const double again = enters(c, l, z) ? own - t->words : 0;
      read = more(0, in - t->words) +
             own; /* spread sums may read fewer of these, and drain as many more */
      out_pj = fmin(mem->read_pj, tf_drain_pj(mem));
      write = in + again;
      cross = own + again;
    }
    pj += t->bits / mem->word_bits * (read * out_pj + write * mem->write_pj + cross * hops);
  }
  return pj;
}

tf_single_cost tf_single_bound(const tf_single_op *op, const tf_single_box *b) {
  lengths c = {.op = op, .b = b};
  flow f;
  tf_single_cost least = {.empty = true};
  for (int d = 0; d < op->n_dims; d++)
    if (!measure_dim(&c, d)) return least;
  for (int l = 1; l < op->n_tiles; l++) {
    least.full = l;
    if (!fits(&c, l)) return least;
  }
  least.full = 0;
  least.empty = false;
  find_servers(&c);
  for (int z = 0; z < op->n_tensors; z++) {
    const tf_single_tensor *t = &op->tensor[z];
    for (int l = t->home + 1; l < op->n_tiles; l++)
      if (may_hold(&c, l, z)) f.entered[l][z] = entered(&c, t, l);
    if (t->home) continue;
    const double words = passed_inward(&c, &f, z, 0, NULL);
    least.traffic_words += t->made ? 2 * words - t->words : words;
  }
  least.cycles = cycles_of(&c, &f);
  least.energy_pj = op->points * op->unit->pj;
  for (int l = 0; l < op->n_tiles; l++)
    least.energy_pj += energy_of(&c, l, &f);
  least.energy_pj += tf_arch_leakage(op->arch) * least.cycles;
  return least;
}
