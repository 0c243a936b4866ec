/* Ranks mappings with equal figures by what their kernels do besides multiply-adds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/planner.h"
#include "tileflow/tree.h"

/* Where a target expects cycles of kernels that it has not made: how many candidates of each of its
 * forms (of the last, and all behind it, together) are asked for them, from the best by the model
 * on (more, while programs are short), and by how much these may be slower by the model than the
 * best has become; besides, that in which each op is as if alone. */
enum { WHOLE_SCORED = 16, WHOLE_SCORED_OF_SHORT = 24, WHOLE_BEHIND = 2, WHOLE_FORMS = 8 };
/* Instructions that may be looked at for them.  After more, the best so far is taken; where there
 * is none, it goes on for longer. */
enum { WHOLE_WORK = 100000, WHOLE_WORK_FOR_ANY = 4 * WHOLE_WORK };
/* Programs are short while fewer have been looked at. */
enum { WHOLE_SHORT = 10000 };
/* Candidates that do not fit after all before each is asked at once. */
enum { WHOLE_REFUSED = 3 };
/* Candidates whose partial tiles are counted. */
enum { COUNTED = 8 };
/* How many times as long as its baseline a mapping takes that is left: where the target's cycles
 * are all; and where kernels and memories are counted apart, by the longer of both, which improving
 * rarely brings down so much. */
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

/* No mapping found is one that the target makes: says what stands against the first, once. */
static bool refuse_all(planner *p) {
  if (p->n == 0 || p->given || plan_over(p)) return true;
  tf_diags *d = tf_diags_new();
  if (d && !tf_emit_fits(p->at[0].tree, p->o->target, d) && tf_diags_errors(d) &&
      !said_last(p->d, tf_diags_at(d, 0)->msg))
    tf_warn(p->d, tf_diags_at(d, 0)->at,
            "target %s makes none of the mappings found.  The first: %.180s", p->o->target,
            tf_diags_at(d, 0)->msg);
  tf_diags_free(d);
  tf_tree_free(p->plan->found);
  p->plan->tree = p->plan->found = NULL;
  return true;
}

/* By cycles that are the target's alone, on which the model's are no bound: the best candidate but
 * for those refused, of those that take as long the first; -1: none.  `sure`: each that becomes the
 * best is asked whether it fits. */
static int best_expected(planner *p, bool sure) {
  int scored[WHOLE_FORMS] = {0}, best = -1;
  int64_t work = 0;
  p->kernel.most_cycles = INFINITY;
  p->kernel.work = &work;
  for (int i = 0; i < p->n && !plan_over(p); i++) {
    plan_candidate *c = &p->at[i];
    int *asked = &scored[c->form < WHOLE_FORMS ? c->form : WHOLE_FORMS - 1];
    const bool enough = work > (best < 0 ? WHOLE_WORK_FOR_ANY : WHOLE_WORK);
    const int scored_most = work < WHOLE_SHORT ? WHOLE_SCORED_OF_SHORT : WHOLE_SCORED;
    const bool behind =
        enough || *asked >= scored_most || c->cycles > WHOLE_BEHIND * p->kernel.most_cycles;
    if (c->refused || (behind && !c->apart)) continue;
    c->value = plan_score(p, c);
    *asked += !c->apart && isfinite(c->value);
    c->refused = !isfinite(c->value);
    if (c->value >= p->kernel.most_cycles || (sure && !fits(p, c))) continue;
    p->kernel.most_cycles = c->value;
    best = i;
  }
  p->kernel.work = NULL;
  return best;
}

/* Adopts the mapping as its target settles it, if it fits; one that was given keeps what it says,
 * and that of one op of several is settled with the others'.  What a target settles otherwise fits.
 * False: it does not fit. */
static bool settle(planner *p, const plan_candidate *c, bool *ok) {
  tf_diags *d = p->given || p->of_one || plan_over(p) ? NULL : tf_diags_new();
  tf_tree *t = d ? tf_emit_settled(c->tree, p->o->target, &p->plan->settled, d) : NULL;
  char *text = t ? tf_tree_text(t) : NULL;
  const bool other = text && strcmp(text, c->text) != 0,
             fit = other || p->of_one || plan_over(p) || fits(p, c);
  if (fit) *ok = plan_adopt(p, t ? t : c->tree);
  if (!fit) free(p->plan->settled), p->plan->settled = NULL;
  free(text);
  tf_tree_free(t);
  tf_diags_free(d);
  return fit;
}

/* What is expected of a mapping says nearly always whether it fits, too, and to be sure is dear:
 * only the best is asked, and as a rule fits. */
static bool rank_expected(planner *p) {
  bool ok = false;
  int best = best_expected(p, false);
  for (int i = 1; best >= 0 && !settle(p, &p->at[best], &ok); i++) {
    p->at[best].refused = true;
    best = best_expected(p, i >= WHOLE_REFUSED);
  }
  return best < 0 ? refuse_all(p) : ok;
}

/* Drops the candidates that cannot be emitted, and sorts the others by value. */
static void sort(planner *p) {
  int n = 0;
  for (int i = 0; i < p->n; i++)
    if (isfinite(p->at[i].value))
      p->at[n++] = p->at[i];
    else
      plan_candidate_clear(&p->at[i]);
  p->n = n;
  if (n > 0) qsort(p->at, (size_t)n, sizeof *p->at, better);
}

/* Of mappings with one kernel, which take as long by the model, the first is the one that moves the
 * least: a kernel may go round its mapping's loops, as it does where weights pass by once for all
 * rows (codegen/intrin/stream.c), and then moves no more than the best of them. */
static void settle_ties(planner *p) {
  const double close = 1.005, same = 1e-9;
  int least = 0;
  for (int i = 1; i < p->n; i++) {
    if (p->at[i].value <= close * p->at[0].value &&
        fabs(p->at[i].kernel - p->at[0].kernel) <= same * p->at[0].kernel &&
        p->at[i].traffic < p->at[least].traffic)
      least = i;
  }
  const plan_candidate c = p->n > 0 ? p->at[least] : (plan_candidate){0};
  if (least > 0) memmove(&p->at[1], &p->at[0], (size_t)least * sizeof *p->at);
  if (least > 0) p->at[0] = c;
}

/* Counts the candidate's partial tiles; false: memory ran out. */
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

/* Candidates were found with all tiles taken to be whole: the first are counted as they are, and
 * sorted anew. */
static bool count_first(planner *p) {
  bool ok = true;
  for (int i = 0; ok && i < p->n && i < COUNTED && !plan_over(p); i++)
    ok = count_partial(p, &p->at[i]);
  sort(p);
  return ok;
}

bool plan_rank(planner *p) {
  double least = INFINITY;
  if (p->n > 0) qsort(p->at, (size_t)p->n, sizeof *p->at, fewer_cycles);
  if (p->n > 0 && p->n_time == 0 && tf_emit_cycles_expected(p->o->target)) return rank_expected(p);
  for (int i = 0; i < p->n; i++) {
    const bool behind = p->n_time == 0 && plan_cannot_win(p, p->at[i].cycles, least);
    if (!p->at[i].is_scored)
      p->at[i].value = behind || plan_over(p) ? INFINITY : plan_score(p, &p->at[i]);
    least = p->at[i].value < least ? p->at[i].value : least;
  }
  sort(p);
  if (!count_first(p)) return false;
  if (!p->given && p->n > 0 && !plan_is_lost(p, &p->at[0]) && !plan_halos(p)) return false;
  sort(p);
  if (!tf_emit_cycles_whole(p->o->target)) settle_ties(p);
  return p->n == 0 ||
         plan_adopt(p, p->at[0].tree); /* if none can be emitted, emitting the best reports why */
}
