/* Ranks mappings with equal figures by what their kernels do besides multiply-adds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/planner.h"
#include "tileflow/tree.h"

/* If a target predicts cycles of kernels without making them: how many candidates of each of its
 * forms (of the last, and all after it, together) get a prediction, from the best by the model on
 * (more, while programs are short), and by how much these may be slower by the model than the best
 * has become; in addition, the one with each op planned alone. */
enum { WHOLE_SCORED = 16, WHOLE_SCORED_OF_SHORT = 24, WHOLE_BEHIND = 2, WHOLE_FORMS = 8 };
/* Of the forms of the shortest programs, which are long. */
enum { WHOLE_SCORED_OF_LONG = 6 };
/* Instructions that may be evaluated for predictions. After that the best so far is taken; if there
 * is none, predictions go on for longer. */
enum { WHOLE_WORK = 100000, WHOLE_WORK_FOR_ANY = 4 * WHOLE_WORK };
/* Programs count as short while fewer have been evaluated. */
enum { WHOLE_SHORT = 10000 };
/* Candidates that may turn out not to fit before each is tested at once. */
enum { WHOLE_REFUSED = 3 };
/* Candidates whose partial tiles are counted. */
enum { COUNTED = 8 };
/* A mapping is dropped at so many times its baseline: if the target's cycles are the whole cost;
 * and if kernels and memories are counted apart, by the maximum of both, which improvement rarely
 * reduces that much. */
static const double LOST_WHOLE = 3, LOST = 1.15;

bool plan_cannot_win(const planner *p, double cycles, double value) {
  const char *target = p->o->target;
  if (tf_emit_cycles_whole(target)) return cycles > value && tf_emit_cycles_expected(target);
  return tf_emit_share(p->kernel.dtype, p->arch, p->wl) * cycles > value;
}

bool plan_is_lost(const planner *p, const plan_candidate *c) {
  if (!(p->o->baseline > 0)) return false;
  return tf_emit_cycles_whole(p->o->target) ? c->value > LOST_WHOLE * p->o->baseline
                                            : fmax(c->cycles, c->kernel) > LOST * p->o->baseline;
}

static int better(const void *a, const void *b) {
  const plan_candidate *x = a, *y = b;
  if (x->value != y->value) return (x->value > y->value) - (x->value < y->value);
  if (x->cycles != y->cycles) return (x->cycles > y->cycles) - (x->cycles < y->cycles);
  return strcmp(x->text, y->text);
}

static int fewer_cycles(const void *a, const void *b) {
  const plan_candidate *x = a, *y = b;
  if (x->cycles != y->cycles) return (x->cycles > y->cycles) - (x->cycles < y->cycles);
  return strcmp(x->text, y->text);
}

static bool fits(const planner *p, const plan_candidate *c) {
  tf_diags *d = tf_diags_new();
  const bool fits = d && tf_emit_fits(c->tree, p->o->target, d);
  tf_diags_free(d);
  return fits;
}

static bool said_last(const tf_diags *d, const char *what) {
  const size_t n = tf_diags_count(d);
  return n && strstr(tf_diags_at(d, n - 1)->msg, what);
}

/* If the target can make none of the mappings found: reports the reason for the first. */
static bool refuse_all(planner *p) {
  if (p->n == 0 || p->given || plan_over(p)) return true;
  tf_diags *d = tf_diags_new();
  if (d && !tf_emit_fits(p->candidate[0].tree, p->o->target, d) && tf_diags_errors(d) &&
      !said_last(p->d, tf_diags_at(d, 0)->msg))
    tf_warn(p->d, tf_diags_at(d, 0)->at,
            "target %s makes none of the mappings found.  The first: %.180s", p->o->target,
            tf_diags_at(d, 0)->msg);
  tf_diags_free(d);
  tf_tree_free(p->plan->found);
  p->plan->tree = p->plan->found = NULL;
  return true;
}

/* The best candidate by the target's cycles alone, on which the model's are no bound, without those
 * refused; of equal ones the first; -1: none. `sure`: each new best is tested for whether it
 * fits. */
static int best_expected(planner *p, bool sure) {
  int scored[WHOLE_FORMS] = {0}, best = -1;
  int64_t work = 0;
  p->kernel.most_cycles = INFINITY;
  p->kernel.work = &work;
  for (int i = 0; i < p->n && !plan_over(p); i++) {
    plan_candidate *c = &p->candidate[i];
    int *asked = &scored[c->form < WHOLE_FORMS ? c->form : WHOLE_FORMS - 1];
    const bool enough = work > (best < 0 ? WHOLE_WORK_FOR_ANY : WHOLE_WORK);
    const int scored_most = p->shortest          ? WHOLE_SCORED_OF_LONG
                            : work < WHOLE_SHORT ? WHOLE_SCORED_OF_SHORT
                                                 : WHOLE_SCORED;
    const bool behind =
        enough || *asked >= scored_most || c->cycles > WHOLE_BEHIND * p->kernel.most_cycles;
    if (c->refused || (behind && !c->per_op)) continue;
    c->value = plan_score(p, c);
    *asked += !c->per_op && isfinite(c->value);
    c->refused = !isfinite(c->value);
    if (c->value >= p->kernel.most_cycles || (sure && !fits(p, c))) continue;
    p->kernel.most_cycles = c->value;
    best = i;
  }
  p->kernel.work = NULL;
  return best;
}

/* Adopts the mapping as its target settles it, if it fits; a given mapping stays as it is, and that
 * of a single op is settled with the others'. What a target settles otherwise fits. False: it does
 * not fit. */
static bool settle(planner *p, const plan_candidate *c, bool *ok) {
  tf_diags *d = p->given || p->single_op || plan_over(p) ? NULL : tf_diags_new();
  tf_tree *t =
      d ? tf_emit_settled(c->tree, p->o->target, p->kernel.memo, &p->plan->settled, d) : NULL;
  char *text = t ? tf_tree_text(t) : NULL;
  const bool other = text && strcmp(text, c->text) != 0,
             fit = other || p->single_op || plan_over(p) || fits(p, c);
  if (fit) *ok = plan_adopt(p, t ? t : c->tree);
  if (!fit) free(p->plan->settled), p->plan->settled = NULL;
  free(text);
  tf_tree_free(t);
  tf_diags_free(d);
  return fit;
}

/* Adopts the best candidate by the target's cycles. A prediction nearly always tells whether a
 * mapping fits, too, and a full test takes long: only the best is tested, and usually fits. *none:
 * the target can make none. */
static bool adopt_expected(planner *p, bool *none) {
  bool ok = true;
  int best = best_expected(p, false);
  for (int i = 1; best >= 0 && !settle(p, &p->candidate[best], &ok); i++) {
    p->candidate[best].refused = true;
    best = best_expected(p, i >= WHOLE_REFUSED);
  }
  *none = best < 0;
  return ok;
}

static bool rank_expected(planner *p) {
  bool none;
  if (!adopt_expected(p, &none)) return false;
  const bool last = p->shortest || p->given;
  p->shortest |= none;
  return !none || !last || refuse_all(p);
}

/* Drops the candidates that cannot be emitted, and sorts the others by value. */
static void sort(planner *p) {
  int n = 0;
  for (int i = 0; i < p->n; i++)
    if (isfinite(p->candidate[i].value))
      p->candidate[n++] = p->candidate[i];
    else
      plan_candidate_clear(&p->candidate[i]);
  p->n = n;
  if (n > 0) qsort(p->candidate, (size_t)n, sizeof *p->candidate, better);
}

/* Of mappings with the same kernel and equal cycles by the model, the first is the one that moves
 * least: a kernel may bypass its mapping's loops, as it does if weights are streamed once for all
 * rows (codegen/intrin/stream.c), and then moves no more than the best of them. */
static void settle_ties(planner *p) {
  const double close = 1.005, same = 1e-9;
  int least = 0;
  for (int i = 1; i < p->n; i++) {
    if (p->candidate[i].value <= close * p->candidate[0].value &&
        fabs(p->candidate[i].kernel - p->candidate[0].kernel) <= same * p->candidate[0].kernel &&
        p->candidate[i].traffic < p->candidate[least].traffic)
      least = i;
  }
  const plan_candidate c = p->n > 0 ? p->candidate[least] : (plan_candidate){0};
  if (least > 0) memmove(&p->candidate[1], &p->candidate[0], (size_t)least * sizeof *p->candidate);
  if (least > 0) p->candidate[0] = c;
}

/* Counts the candidate's partial tiles; false: out of memory. */
static bool count_partial(planner *p, plan_candidate *c) {
  tf_result r;
  tf_model *m = tf_model_new(c->tree, p->d);
  if (!m) return false;
  tf_model_walk_limit(m, 0);
  tf_model_all_points(m);
  if (tf_model_eval(m, NULL, &r) && r.feasible) {
    c->cycles = r.cycles;
    c->traffic = tf_result_traffic(p->wl, &r);
    c->value =
        tf_emit_value(p->o->target, p->kernel.dtype, c->tree, c->cycles, c->traffic, c->kernel);
  }
  tf_model_free(m);
  p->plan->evals++;
  return true;
}

/* Candidates were found with all tiles taken to be whole: the first ones are counted exactly, and
 * sorted again. */
static bool count_first(planner *p) {
  bool ok = true;
  for (int i = 0; ok && i < p->n && i < COUNTED && !plan_over(p); i++)
    ok = count_partial(p, &p->candidate[i]);
  sort(p);
  return ok;
}

bool plan_rank(planner *p) {
  double least = INFINITY;
  if (p->n > 0) qsort(p->candidate, (size_t)p->n, sizeof *p->candidate, fewer_cycles);
  if (p->n > 0 && p->n_time == 0 && tf_emit_cycles_expected(p->o->target)) return rank_expected(p);
  for (int i = 0; i < p->n; i++) {
    const bool behind = p->n_time == 0 && plan_cannot_win(p, p->candidate[i].cycles, least);
    if (!p->candidate[i].is_scored)
      p->candidate[i].value = behind || plan_over(p) ? INFINITY : plan_score(p, &p->candidate[i]);
    least = p->candidate[i].value < least ? p->candidate[i].value : least;
  }
  sort(p);
  if (!count_first(p)) return false;
  if (!p->given && p->n > 0 && !plan_is_lost(p, &p->candidate[0]) && !plan_halos(p)) return false;
  sort(p);
  if (!tf_emit_cycles_whole(p->o->target)) settle_ties(p);
  return p->n == 0 ||
         plan_adopt(
             p, p->candidate[0].tree); /* if none can be emitted, emitting the best reports why */
}
