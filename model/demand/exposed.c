/* First loads and last stores of one op.
 *
 * Theorem.  Let a workload have one op, without a mask, on one kind of unit, and the machine have `overlap:
 * double-buffer` or `none`.  A mapping runs dim d, of E[d] values, in q[d] steps (settings of the temporal loops), in
 * the first of which w[d] values are worked on at once.  Then, if all steps take q = q[0] q[1] ..:
 *
 * 1. w[d] >= ceil(E[d] / q[d]).  No step has more values at work than the first: where it ends is clipped least.
 *    The w fit on the mesh: w[d] <= x[d] y[d], and the products of the x and of the y are at most its sides.
 * 2. A tensor Z whose indices are single dims, each in one rank, has w[Z] = product of its w[d] different words at work
 *    in the first step.  If some memory inside of the outermost holds Z, they are all among what the outermost Tile
 *    that does takes in, or gives back, in its own first step.  That is all in one port, the outermost memory's,
 *    whatever the number of instances, and nothing hides it (SEMANTICS D18): the Tile takes its child's time, and
 *    these w[Z] words at that port's width besides.  A Tile adds the loads of all its tensors and their stores, and
 *    Tiles further out add theirs.
 * 3. If none holds Z, each step reads (or updates) its words there: in all |Z| times the q[d] of the dims that Z does
 *    not have, as each value of a dim is worked on in one of its steps.  The op takes no less than that port needs.
 *
 * So with the held tensors H the run takes at least
 *
 *      max(q / rate, port(Z not in H)) + pipeline + sum of w[Z] / width, Z in H,
 *
 * and no less than the port needs for all.  The bound is the least of that over all H, q and meshes.  What is not
 * known of a tensor (windows, padding, several references, another home) counts as no words. */
#include "model/demand/exposed.h"

#include <math.h>

#include "model/demand/on_mesh.h"
#include "model/spec/dims.h"

enum { DIMS = 16, TENSORS = 6, NODES = 40000 };

/* A tensor: its dims as bits of places in `extent`. */
typedef struct {
  unsigned dims;
  double words, weight; /* weight: words of the outermost memory that one of its words takes */
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
  double best;
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

/* What nothing hides if one does. */
static double exposed(const search *s, const part *z) {
  double words = z->weight;
  for (int d = 0; d < s->n; d++)
    if (z->dims >> d & 1) words *= s->wide[d];
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
    best = fmin(best, fmax(time, port(s->memory, in + all_in, back + all_back)));
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

/* ---- the op ---------------------------------------------------------------------------------------------------------
 */
/* Its dims longer than 1, shortest first: the last takes all that is left of the mesh.  place[i]: of dim i of the op;
 * -1: it is 1. */
static bool find_dims(search *s, const tf_demand *d, int *place) {
  const tf_op *op = &d->wl->ops[0];
  for (int i = 0; i < op->n_dims; i++) {
    const int64_t e = d->wl->dims[op->dims[i]].extent;
    if (tf_demanded(d, 0, op->dims[i]) != e) return false;
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

/* Adds the tensor, by its only reference (NULL: the output), if its words are known. */
static void add_part(search *s, const tf_arch *a, const tf_workload *wl, int z, const tf_ref *ref, const int *place) {
  const tf_op *op = &wl->ops[0];
  const tf_tensor *t = &wl->tensors[z];
  part p = {.words = 1, .weight = (double)t->word_bits / s->memory->word_bits, .out = !ref};
  if (s->n_parts == TENSORS || tf_arch_home(a, t) != 0) return;
  for (int r = 0; r < t->rank; r++) {
    const tf_index *ix = ref ? &ref->index[r] : NULL;
    const int slot = !ref ? r : ix->n_terms == 1 ? tf_op_slot(op, ix->terms[0].dim) : -1;
    if (t->pad[r] > 0 || (ix && ix->n_terms > 1) || (slot < 0 && ix && ix->n_terms)) return;
    if (slot < 0 || place[slot] < 0) continue;
    if (p.dims >> place[slot] & 1) return;
    p.dims |= 1u << place[slot];
    p.words *= (double)s->extent[place[slot]];
  }
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

double tf_least_exposed(const tf_arch *a, const tf_demand *d, int u) {
  const tf_workload *wl = d->wl;
  const tf_op *op = &wl->ops[0];
  const tf_unit *unit = &a->units[u];
  search s = {.memory = &a->memories[0], .nodes = NODES, .rate = unit->rate, .fill = unit->pipeline, .best = INFINITY};
  int64_t x = unit->mesh[0], y = unit->mesh[1];
  int place[DIMS];
  if (wl->n_ops != 1 || a->overlap == TF_OVERLAP_PERFECT || d->masked || op->n_dims > DIMS || peers(a)) return 0;
  for (int l = 1; l <= unit->below; l++)
    x *= a->memories[l].mesh[0], y *= a->memories[l].mesh[1];
  if (!find_dims(&s, d, place)) return 0;
  add_part(&s, a, wl, op->out, NULL, place);
  for (int i = 0; i < op->n_reads; i++)
    if (once(op, i)) add_part(&s, a, wl, op->reads[i].tensor, &op->reads[i], place);
  spread_dim(&s, 0, x, y, 1);
  return s.nodes >= 0 && isfinite(s.best) ? s.best : 0;
}
