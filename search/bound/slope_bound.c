/* The least words through the outermost memory, for any execution with so much on chip
 * (tileflow/slope.h).
 *
 * Cut an execution into phases in each of which X words pass: those read from the outermost memory,
 * those written to it, and, counted as reads, the words of outputs at their first use (no more than
 * the final writes).  What an op touches in a phase was on chip when the phase began, in a memory
 * or in a unit's operands (S words at most), or passes in it: a budget of S + X. So a phase
 * computes at most V(S + X) points of an op, V from slope_hbl.c, and of N points there are at least
 * ceil(N / V) - 1 full phases: X words each.
 *
 * Intermediates need not pass.  An element of one either *crosses*: it is on chip when the phase
 * begins or ends, or passes in it, which holds for 2 S + X words at most with all the rest.  Or it
 * lives in this phase alone; then all that makes it is touched in it, too: for each element, its
 * producer's whole reduction. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/demand/demand.h"
#include "model/input/dims.h"
#include "model/input/reader.h"
#include "search/bound/slope_hbl.h"
#include "search/bound/slope_in_bounds.h"
#include "tileflow/model.h"
#include "tileflow/slope.h"

typedef struct {
  const tf_workload *wl;
  const tf_op *op;
  /* Sets of dims are of the op's, in its order. */
  uint64_t window; /* window dims, added to a longer dim in some index: one value is fixed, results
                      are summed over values */
  int64_t extents[TF_MAX_OP_DIMS];
  double points;
  int tensor[HBL_MAX_SETS]; /* tensors of the sets: each tensor's words count once, as all tensors
                               together share the budget */
  int n_own, n; /* n_own: inputs or outputs of the workload that the op itself touches; n: also
                   those that the producers of its operands need */
  hbl_set set[HBL_MAX_SETS];
} subject;

static bool is_intermediate(const tf_tensor *t) { return t->producer >= 0 && t->n_consumers > 0; }

/* Of the dims that one index adds up, all but the longest. */
static uint64_t windows_of(const tf_workload *wl, const tf_op *op) {
  uint64_t window = 0;
  for (int i = 0; i < op->n_reads; i++)
    for (int r = 0; r < wl->tensors[op->reads[i].tensor].rank; r++) {
      const tf_index *ix = &op->reads[i].index[r];
      int longest = 0;
      for (int t = 1; t < ix->n_terms; t++)
        if (wl->dims[ix->terms[t].dim].extent > wl->dims[ix->terms[longest].dim].extent)
          longest = t;
      for (int t = 0; t < ix->n_terms; t++)
        if (t != longest) window |= UINT64_C(1) << tf_op_slot(op, ix->terms[t].dim);
    }
  return window;
}

/* The only dim of the op that changes an index while window dims are fixed, or the only dim it has;
 * -1: none. */
static int pure_dim(const tf_op *op, const tf_index *ix, uint64_t window) {
  int dim = ix->n_terms == 1 ? tf_op_slot(op, ix->terms[0].dim) : -1;
  for (int t = 0; t < ix->n_terms && ix->n_terms > 1; t++) {
    const int slot = tf_op_slot(op, ix->terms[t].dim);
    if (!(window >> slot & 1)) dim = dim == -1 ? slot : -2;
  }
  return dim < 0 ? -1 : dim;
}

static uint64_t dims_of(const tf_workload *wl, const tf_op *op, const tf_ref *ref,
                        uint64_t window) {
  uint64_t dims = 0;
  for (int r = 0; r < wl->tensors[ref->tensor].rank; r++) {
    int d = pure_dim(op, &ref->index[r], window);
    if (d >= 0) dims |= UINT64_C(1) << d;
  }
  return dims;
}

/* Dropping sets that exceed the limit only weakens the bound. */
static void add_set(subject *s, int z, uint64_t dims, double fiber) {
  for (int i = 0; i < s->n; i++)
    if (s->tensor[i] == z) return;
  if (s->n == HBL_MAX_SETS - 1) return;
  s->tensor[s->n] = z;
  s->set[s->n++] = (hbl_set){dims, fiber, (double)tf_tensor_words(&s->wl->tensors[z])};
}

static uint64_t output_dims(const tf_op *op) {
  uint64_t dims = 0;
  for (int r = 0; r < op->n_out_dims; r++)
    dims |= UINT64_C(1) << r;
  return dims;
}

static bool reads_already(const tf_op *op, int i) {
  for (int k = 0; k < i; k++)
    if (op->reads[k].tensor == op->reads[i].tensor) return true;
  return false;
}

/* The reducing op behind an intermediate, found by going up through ops that compute each element
 * from one element at the same place (differences, quotients, exponentials); -1: there is none. */
static int maker_of(const tf_workload *wl, int z) {
  for (int steps = 0; steps < wl->n_ops; steps++) {
    int o = wl->tensors[z].producer;
    const tf_op *op = o >= 0 ? &wl->ops[o] : NULL;
    if (!op) return -1;
    if (op->n_dims > op->n_out_dims) return op->reduce == TF_ASSIGN ? -1 : o;
    int from = -1;
    for (int i = 0; i < op->n_reads && from < 0; i++) {
      const tf_tensor *t = &wl->tensors[op->reads[i].tensor];
      bool same = is_intermediate(t) && t->rank == op->n_out_dims;
      for (int r = 0; r < t->rank && same; r++)
        same = t->pad[r] == 0 && op->reads[i].index[r].n_terms == 1 &&
               op->reads[i].index[r].terms[0].coef == 1 && !op->reads[i].index[r].c &&
               op->reads[i].index[r].terms[0].dim == op->dims[r];
      if (same) from = op->reads[i].tensor;
    }
    if (from < 0) return -1;
    z = from;
  }
  return -1;
}

/* Adds what the producer of the intermediate that `ref` reads has to touch for each element: its
 * own inputs along all its reduced dims, indexed by the reader's dims. */
static void add_maker(subject *s, const tf_ref *ref) {
  int o = maker_of(s->wl, ref->tensor);
  if (o < 0) return;
  const tf_op *maker = &s->wl->ops[o];
  uint64_t window = windows_of(s->wl, maker);
  for (int i = 0; i < maker->n_reads; i++) {
    int z = maker->reads[i].tensor;
    if (is_intermediate(&s->wl->tensors[z]) || reads_already(maker, i)) continue;
    uint64_t need = dims_of(s->wl, maker, &maker->reads[i], window), dims = 0;
    if (!slope_fibre(s->wl, o, &maker->reads[i], need)) continue;
    double fiber = 1;
    for (int d = maker->n_out_dims; d < maker->n_dims; d++)
      if (need >> d & 1) fiber *= (double)s->wl->dims[maker->dims[d]].extent;
    for (int r = 0; r < maker->n_out_dims; r++) {
      int d = need >> r & 1 ? pure_dim(s->op, &ref->index[r], s->window) : -1;
      if (d >= 0) dims |= UINT64_C(1) << d;
    }
    add_set(s, z, dims, fiber);
  }
}

static void gather_sets(subject *s, const tf_demand *need, int o) {
  const tf_workload *wl = need->wl;
  const tf_op *op = &wl->ops[o];
  *s = (subject){
      .wl = wl, .op = op, .window = windows_of(wl, op), .points = slope_in_bounds(need, o)};
  for (int d = 0; d < op->n_dims; d++)
    s->extents[d] = wl->dims[op->dims[d]].extent;
  if (!is_intermediate(&wl->tensors[op->out])) add_set(s, op->out, output_dims(op), 1);
  for (int i = 0; i < op->n_reads; i++)
    if (!is_intermediate(&wl->tensors[op->reads[i].tensor]) && !reads_already(op, i))
      add_set(s, op->reads[i].tensor, dims_of(wl, op, &op->reads[i], s->window), 1);
  s->n_own = s->n;
  for (int i = 0; i < op->n_reads; i++)
    if (is_intermediate(&wl->tensors[op->reads[i].tensor]) && !reads_already(op, i))
      add_maker(s, &op->reads[i]);
}

/* The number of points that touch crossing elements of tensor z. */
static double crossing(const subject *s, int z, uint64_t dims, double budget) {
  hbl_set set[HBL_MAX_SETS];
  memcpy(set, s->set, sizeof set);
  set[s->n_own] = (hbl_set){dims, 1, (double)tf_tensor_words(&s->wl->tensors[z])};
  return hbl_points(set, s->n_own + 1, s->extents, s->op->n_dims, budget);
}

/* The most points of the op in a phase of X words: those that touch only intermediates of this
 * phase, plus, for each intermediate, those that touch crossing elements of it. */
static double most_points(const subject *s, double capacity, double x) {
  const tf_workload *wl = s->wl;
  const tf_op *op = s->op;
  double points = 0, budget = 2 * capacity + x;
  bool any = is_intermediate(&wl->tensors[op->out]);
  if (any) points += crossing(s, op->out, output_dims(op), budget);
  for (int i = 0; i < op->n_reads; i++) {
    if (!is_intermediate(&wl->tensors[op->reads[i].tensor]) || reads_already(op, i)) continue;
    points += crossing(s, op->reads[i].tensor, dims_of(wl, op, &op->reads[i], s->window), budget);
    any = true;
  }
  return points + hbl_points(s->set, s->n, s->extents, s->op->n_dims, any ? budget : capacity + x);
}

/* Each phase length gives a valid bound: the best one of a grid. */
static double op_bound(const tf_demand *need, int o, double capacity) {
  subject s;
  double best = 0;
  gather_sets(&s, need, o);
  if (s.n == 0) return 0;
  double x = 1, last = 64 * capacity + 64;
  while (x < last) {
    double phases = ceil(s.points / most_points(&s, capacity, x) * (1 - 1e-9)) - 1;
    best = phases * x > best ? phases * x : best;
    x = ceil(x * 1.15);
  }
  return floor(best * (1 - 1e-9));
}

/* Compulsory words: inputs and outputs of the workload, each once: tf_bounds_of on a machine with
 * one memory. */
static double compulsory(const tf_workload *wl) {
  tf_memory memory = {.name = "DRAM",
                      .mesh = {1, 1},
                      .capacity_words = -1,
                      .word_bits = 16,
                      .read_bw = 1,
                      .write_bw = 1};
  tf_unit unit = {.name = "unit", .kinds = UINT32_MAX, .mesh = {1, 1}, .rate = 1};
  tf_arch arch = {.name = "chip",
                  .clock_hz = 1,
                  .word_bits = 16,
                  .n_memories = 1,
                  .memories = &memory,
                  .n_units = 1,
                  .units = &unit};
  tf_bounds b;
  if (!tf_bounds_of(&arch, wl, &b)) return -1;
  double words = (double)b.traffic_words; /* above 2^53 it may have been rounded up */
  return words > 0x1p53 ? nextafter(words, 0) : words;
}

int tf_slope_operands(const tf_workload *wl) {
  int most = 0;
  for (int o = 0; o < wl->n_ops; o++)
    most = wl->ops[o].n_reads + 1 > most ? wl->ops[o].n_reads + 1 : most;
  return most;
}

double tf_slope_hand(const tf_arch *arch, const tf_workload *wl) {
  double units = 0;
  for (int u = 0; u < arch->n_units; u++)
    units += tf_bounds_units(arch, u);
  return units * tf_slope_operands(wl);
}

double tf_slope_bound(const tf_workload *wl, double capacity) {
  double best = compulsory(wl);
  tf_demand need;
  if (best < 0 || !(capacity < 1e18)) return best;
  bool *may_wait = tf_bounds_may_wait(wl);
  const bool known = tf_demand_of(wl, &need) && may_wait;
  for (int o = 0; o < wl->n_ops && known; o++) {
    if (may_wait[o]) continue;
    double words = op_bound(&need, o, capacity);
    best = words > best ? words : best;
  }
  free(may_wait);
  tf_demand_free(&need);
  return best;
}
