/* First loads and last stores of an op.
 *
 * Theorem.  Let a workload have one op, without a mask, on one kind of unit, and the machine have `overlap:
 * double-buffer` or `none`.  A mapping runs dim d, of E[d] values, in q[d] steps (settings of the temporal loops), in
 * the first of which w[d] values are worked on at once.  Then, if all steps take q = q[0] q[1] ..:
 *
 * 1. w[d] >= ceil(E[d] / q[d]).  No step has more values at work than the first: where it ends is clipped least.
 *    The w fit on the mesh: w[d] <= x[d] y[d], and the products of the x and of the y are at most its sides.
 * 2. A tensor Z has w[Z] different words at work in the first step: the product over its ranks of the different
 *    coordinates.  An index that adds up dims has no fewer than the sum of their w[d], less one for each but the first
 *    (sums of two sets of integers); those outside of the tensor, at most as many as it can ever reach there, are not
 *    loaded.  If some memory inside of the outermost holds Z, they are all among what the outermost Tile that does
 *    takes in, or gives back, in its own first step.  That is all in one port, the outermost memory's, whatever the
 *    number of instances, and nothing hides it (SEMANTICS D18): the Tile takes its child's time, and these w[Z] words
 *    at that port's width besides.  A Tile adds the loads of all its tensors and their stores, and Tiles further out
 *    add theirs.
 * 3. If none holds Z, each step reads (or updates) its words there: in all |Z| times the q[d] of the dims that Z does
 *    not have, as each value of a dim is worked on in one of its steps; |Z| the words that any execution touches.  The
 *    op takes no less than that port needs.
 *
 * So with the held tensors H the run takes at least
 *
 *      max(q / rate, port(Z not in H)) + pipeline + sum of w[Z] / width, Z in H,
 *
 * and no less than the port needs for all.  The bound is the least of that over all H, q and meshes.  What is not
 * known of a tensor (several references, a dim in two ranks, another home) counts as no words.  Of several ops
 * ends.c says whose loads and stores count. */
#include "model/demand/exposed.h"

#include <math.h>

#include "model/demand/on_mesh.h"
#include "model/input/dims.h"

enum { DIMS = 16, TENSORS = 6, RANKS = 8, NODES = 100000 };

/* A tensor: its dims as bits of places in `extent`. */
typedef struct {
  unsigned dims;
  int n_ranks;
  unsigned rank[RANKS];  /* the dims of each */
  double outside[RANKS]; /* coordinates beyond the tensor that its index can reach */
  double words, weight;  /* weight: words of the outermost memory that one of its words takes */
  bool out;
} part;

typedef struct {
  const tf_memory *memory;
  int n, n_parts, nodes;
  int64_t extent[DIMS];
  double behind[DIMS + 1];        /* points of the dims from each on */
  double steps[DIMS], wide[DIMS]; /* q and w of the dims so far */
  part parts[TENSORS];
  double rate, fill;
  bool alone; /* no other op has words to pass */
  double best;
  double floor;     /* what none is less than; 0: not known */
  double *by_units; /* [units - 1] the least with just so many; NULL: on the mesh */
} search;

/* ---- one way to spread ------------------------------------------------------------------------------------------- */
static double port(const tf_memory *m, double in, double back) {
  if (m->one_port) return (in + back) / m->read_bw;
  return fmax(in / m->read_bw, back / m->write_bw);
}

/* Words that pass if no memory holds the tensor: read, and updated. */
static void direct(const search *s, const part *z, double *in, double *back) {
  double words = z->words;
  for (int d = 0; d < s->n; d++)
    if (!(z->dims >> d & 1)) words *= s->steps[d];
  *in += z->weight * (z->out ? words - z->words : words);
  *back += z->out ? z->weight * words : 0;
}

/* The different coordinates at work in a rank, in the first step. */
static double coordinates(const search *s, const part *z, int r) {
  double n = 1;
  for (int d = 0; d < s->n; d++)
    if (z->rank[r] >> d & 1) n += s->wide[d] - 1;
  return fmax(0, n - z->outside[r]);
}

/* What nothing hides if one does. */
static double exposed(const search *s, const part *z) {
  double words = z->weight;
  for (int r = 0; r < z->n_ranks; r++)
    words *= coordinates(s, z, r);
  return words / (z->out ? s->memory->write_bw : s->memory->read_bw);
}

/* The least over the sets of tensors that memories hold. */
static double least_held(const search *s, double steps) {
  double best = INFINITY;
  for (unsigned held = 0; held < 1u << s->n_parts; held++) {
    double in = 0, back = 0, all_in = 0, all_back = 0, alone = 0;
    for (int z = 0; z < s->n_parts; z++) {
      const part *p = &s->parts[z];
      if (held >> z & 1) {
        alone += exposed(s, p);
        *(p->out ? &all_back : &all_in) += p->weight * p->words;
      } else {
        direct(s, p, &in, &back);
      }
    }
    const double time = fmax(steps / s->rate, port(s->memory, in, back)) + s->fill + alone;
    best = fmin(best, s->alone ? fmax(time, port(s->memory, in + all_in, back + all_back)) : time);
  }
  return best;
}

/* ---- all ways ------------------------------------------------------------------------------------------------------
 */
static int64_t parts_of(int64_t n, int64_t by) { return (n + by - 1) / by; }

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static void spread_dim(search *s, int k, int64_t x, int64_t y, double steps);

/* Dim k on up to `most` instances, from the fewest steps on, while that may be the least: the others have x by y. */
static void step_dim(search *s, int k, int64_t most, int64_t x, int64_t y, double steps) {
  const int64_t e = s->extent[k];
  for (int64_t wide = least(e, most); wide >= 1; wide--) {
    const int64_t q = parts_of(e, wide);
    const double now = steps * (double)q;
    wide = parts_of(e, q); /* the fewest with so many steps */
    if (s->best <= s->floor) return;
    if (now * fmax(1, s->behind[k + 1] / ((double)x * (double)y)) / s->rate + s->fill >= s->best) return;
    s->steps[k] = (double)q, s->wide[k] = (double)wide;
    spread_dim(s, k + 1, x, y, now);
  }
}

static void spread_dim(search *s, int k, int64_t x, int64_t y, double steps) {
  if (k == s->n) {
    s->best = fmin(s->best, least_held(s, steps));
    return;
  }
  if (s->nodes-- <= 0) return;
  if (k == s->n - 1) {
    step_dim(s, k, x * y, 1, 1, steps);
    return;
  }
  for (tf_spread way = {s->extent[k], x, y, 0, 0}; tf_spread_next(&way);)
    step_dim(s, k, way.on_x * way.on_y, x / way.on_x, y / way.on_y, steps);
}

/* Dim k on up to `left` units: any spread, whatever the axes. */
static void spread_units(search *s, int k, int64_t used, int64_t left, double steps) {
  if (k == s->n) {
    s->by_units[used - 1] = fmin(s->by_units[used - 1], least_held(s, steps));
    return;
  }
  if (s->nodes-- <= 0) return;
  const int64_t e = s->extent[k];
  for (int64_t wide = least(e, left); wide >= 1; wide--) {
    const int64_t q = parts_of(e, wide);
    const double now = steps * (double)q;
    wide = parts_of(e, q);
    if (now / s->rate + s->fill > s->best) return;
    if (now * s->behind[k + 1] / (double)(left / wide) / s->rate + s->fill > s->best) continue;
    s->steps[k] = (double)q, s->wide[k] = (double)wide;
    spread_units(s, k + 1, used * wide, left / wide, now);
  }
}

/* ---- the op ---------------------------------------------------------------------------------------------------------
 */
/* Its dims longer than 1, shortest first: the last takes all that is left of the mesh.  place[i]: of dim i of the op;
 * -1: it is 1. */
static bool find_dims(search *s, const tf_demand *d, int o, int *place) {
  const tf_op *op = &d->wl->ops[o];
  if (op->n_dims > DIMS) return false;
  for (int i = 0; i < op->n_dims; i++) {
    const int64_t e = d->wl->dims[op->dims[i]].extent;
    if (tf_demanded(d, o, op->dims[i]) != e) return false;
    place[i] = -1;
    if (e > 1) {
      int at = s->n++;
      for (; at > 0 && s->extent[at - 1] > e; at--)
        s->extent[at] = s->extent[at - 1];
      s->extent[at] = e;
      for (int k = 0; k < i; k++)
        place[k] += place[k] >= at;
      place[i] = at;
    }
  }
  s->behind[s->n] = 1;
  for (int k = s->n - 1; k >= 0; k--)
    s->behind[k] = s->behind[k + 1] * (double)s->extent[k];
  return true;
}

/* Adds rank r of the tensor, by its index (NULL: the output, dim r of the op).  False: it is not known. */
static bool add_rank(part *p, const tf_workload *wl, const tf_op *op, const tf_tensor *t, int r, const tf_index *ix,
                     const int *place) {
  const tf_term own = {.dim = ix ? 0 : op->dims[r], .coef = 1}; /* an input may have more ranks than the op dims */
  const int n = ix ? ix->n_terms : 1;
  int64_t lo = ix ? ix->c : 0, hi = lo;
  if (p->n_ranks == RANKS) return false;
  p->rank[p->n_ranks] = 0;
  for (int k = 0; k < n; k++) {
    const tf_term *term = ix ? &ix->terms[k] : &own;
    const int slot = tf_op_slot(op, term->dim);
    int64_t reach;
    if (slot < 0 || !term->coef) return false;
    if (__builtin_mul_overflow(wl->dims[term->dim].extent - 1, term->coef, &reach)) return false;
    if (__builtin_add_overflow(*(reach < 0 ? &lo : &hi), reach, reach < 0 ? &lo : &hi)) return false;
    if (place[slot] < 0) continue;
    if (p->dims >> place[slot] & 1) return false;
    p->dims |= 1u << place[slot];
    p->rank[p->n_ranks] |= 1u << place[slot];
  }
  const double last = (double)t->lo[r] + (double)t->extent[r] - 1;
  p->outside[p->n_ranks++] = fmax(0, (double)t->lo[r] - (double)lo) + fmax(0, (double)hi - last);
  return true;
}

/* Adds the tensor, by its only reference (NULL: the output), if its words are known. */
static void add_part(search *s, const tf_arch *a, const tf_demand *d, int o, const tf_ref *ref, const int *place) {
  const tf_workload *wl = d->wl;
  const tf_op *op = &wl->ops[o];
  const int z = ref ? ref->tensor : op->out;
  const tf_tensor *t = &wl->tensors[z];
  const int64_t words = ref ? tf_demand_touched(d, z) : tf_demand_made(d, z);
  part p = {.words = (double)words, .weight = (double)t->word_bits / s->memory->word_bits, .out = !ref};
  if (s->n_parts == TENSORS || tf_arch_home(a, t) != 0 || words < 0) return;
  for (int r = 0; r < t->rank; r++)
    if (!add_rank(&p, wl, op, t, r, ref ? &ref->index[r] : NULL, place)) return;
  s->parts[s->n_parts++] = p;
}

static bool once(const tf_op *op, int i) {
  for (int k = 0; k < op->n_reads; k++)
    if (k != i && op->reads[k].tensor == op->reads[i].tensor) return false;
  return op->reads[i].tensor != op->out;
}

static bool peers(const tf_arch *a) {
  for (int l = 0; l < a->n_memories; l++)
    if (a->memories[l].peers) return true;
  return false;
}

static bool views(const tf_workload *wl) {
  for (int z = 0; z < wl->n_tensors; z++)
    if (wl->tensors[z].view_of) return true;
  return false;
}

bool tf_ends_show(const tf_arch *a, const tf_demand *d) {
  return a->overlap != TF_OVERLAP_PERFECT && !d->masked && !peers(a) && !views(d->wl);
}

/* Op o on units of kind u, with the tensors whose ends count. */
static bool begin(search *s, const tf_arch *a, const tf_demand *d, const tf_end *e) {
  const tf_workload *wl = d->wl;
  const tf_op *op = &wl->ops[e->op];
  const tf_unit *unit = &a->units[e->unit];
  int place[DIMS];
  *s = (search){.memory = &a->memories[0],
                .nodes = NODES,
                .rate = unit->rate,
                .fill = unit->pipeline,
                .alone = wl->n_ops == 1,
                .best = INFINITY};
  if (!find_dims(s, d, e->op, place)) return false;
  if ((e->sides & TF_END_STORES) && !wl->tensors[op->out].n_consumers) add_part(s, a, d, e->op, NULL, place);
  for (int i = 0; i < op->n_reads && (e->sides & TF_END_LOADS); i++)
    if (once(op, i) && wl->tensors[op->reads[i].tensor].producer < 0) add_part(s, a, d, e->op, &op->reads[i], place);
  return true;
}

/* All words of an op that is alone pass the port, whatever is held. */
static double all_words(const search *s) {
  double in = 0, back = 0;
  for (int z = 0; z < s->n_parts && s->alone; z++)
    *(s->parts[z].out ? &back : &in) += s->parts[z].weight * s->parts[z].words;
  return port(s->memory, in, back);
}

double tf_end_on_mesh(const tf_arch *a, const tf_demand *d, const tf_end *e) {
  search s;
  int64_t x = a->units[e->unit].mesh[0], y = a->units[e->unit].mesh[1];
  for (int l = 1; l <= a->units[e->unit].below; l++)
    x *= a->memories[l].mesh[0], y *= a->memories[l].mesh[1];
  if (!begin(&s, a, d, e)) return 0;
  s.floor = all_words(&s);
  spread_dim(&s, 0, x, y, 1);
  return s.nodes >= 0 && isfinite(s.best) ? s.best : 0;
}

bool tf_end_by_units(const tf_arch *a, const tf_demand *d, const tf_end *e, int units, double most, double *least_of) {
  search s;
  if (!begin(&s, a, d, e)) return false;
  s.best = most, s.by_units = least_of;
  for (int k = 0; k < units; k++)
    least_of[k] = INFINITY;
  spread_units(&s, 0, 1, units, 1);
  for (int k = 1; k < units; k++)
    least_of[k] = fmin(least_of[k], least_of[k - 1]);
  return s.nodes >= 0;
}

double tf_least_exposed(const tf_arch *a, const tf_demand *d, int u) {
  const tf_end both = {.op = 0, .unit = u, .sides = TF_END_LOADS | TF_END_STORES};
  return d->wl->n_ops == 1 && tf_ends_show(a, d) ? tf_end_on_mesh(a, d, &both) : 0;
}
