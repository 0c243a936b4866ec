/* The ski-slope of a workload: proved and attained words for each capacity. */
#include "tileflow/slope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/locale.h"
#include "search/common/budget_clock.h"
#include "tileflow/bound.h"
#include "tileflow/solve.h"
#include "tileflow/tree.h"

/* The machine of the slope: one memory on chip and one unit that runs everything, as only traffic
 * matters. */
typedef struct {
  tf_memory memories[3];
  tf_unit unit;
  tf_arch arch;
} chip;

static void make_chip(chip *c, int n_memories, int word_bits, int64_t capacity) {
  const tf_memory memory = {.mesh = {1, 1},
                            .word_bits = word_bits,
                            .read_bw = INFINITY,
                            .write_bw = INFINITY,
                            .multicast = true,
                            .reduce = true,
                            .capacity_words = -1,
                            .read_pj = 1,
                            .write_pj = 1};
  c->memories[0] = c->memories[1] = c->memories[2] = memory;
  c->memories[0].name = "DRAM";
  c->memories[1].name = "Chip";
  c->memories[2].name = "Inner";
  c->memories[1].capacity_words = capacity;
  c->unit = (tf_unit){.name = "unit",
                      .kinds = UINT32_MAX,
                      .below = n_memories - 1,
                      .mesh = {1, 1},
                      .rate = 1,
                      .pj = 1,
                      .multicast = true,
                      .reduce = true};
  c->arch = (tf_arch){.name = "chip",
                      .clock_hz = 1e9,
                      .word_bits = word_bits,
                      .technology_nm = 45,
                      .overlap = TF_OVERLAP_PERFECT,
                      .n_memories = n_memories,
                      .memories = c->memories,
                      .n_units = 1,
                      .units = &c->unit};
}

/* Keeps the mapping if it is better.  False: out of memory. */
static bool offer(tf_slope_point *p, double value, const tf_tree *tree) {
  if (!tree || value >= p->attained) return true;
  free(p->text);
  p->attained = value;
  p->text = tf_tree_text(tree);
  return p->text;
}

static char *copy(const char *text) {
  char *c = text ? malloc(strlen(text) + 1) : NULL;
  return c ? strcpy(c, text) : NULL;
}

/* A slope being built. */
typedef struct {
  const tf_workload *wl;
  const tf_slope_opts *o;
  const tf_bound_slope *mappings; /* the capacity bound, which holds for every mapping */
  tf_budget_clock clock;
  tf_slope *s;
} sweep;

/* Reports the progress of solver and search as progress of the whole slope. */
typedef struct {
  const sweep *whole;
  int64_t capacity, before; /* before: mappings tried for earlier capacities */
} part;

static bool part_stop(void *ctx) { return tf_clock_asked(&((const part *)ctx)->whole->clock); }

static void part_progress(void *ctx, const tf_progress *now) {
  const part *p = ctx;
  tf_progress all = *now;
  all.capacity = p->capacity;
  all.evals += p->before;
  tf_clock_report(&p->whole->clock, all);
}

/* The best mapping that solver and search find at a capacity, beginning with that of a smaller one,
 * which fits, too. */
static bool attain(const sweep *whole, const tf_slope_point *smaller) {
  tf_slope *s = whole->s;
  tf_slope_point *p = &s->at[s->n - 1];
  part here = {whole, p->capacity, s->evals};
  chip c;
  tf_diags *d = tf_diags_new(); /* finding nothing that fits is no error here */
  tf_budget budget = whole->o->budget;
  budget.stop = part_stop;
  budget.progress = part_progress;
  budget.ctx = &here;
  const tf_solve_opts so = {.objective = TF_TRAFFIC, .budget = budget, .alone = true};
  budget.max_evals = budget.max_evals / 2 + 1;
  budget.seed = 1;
  const tf_search_opts go = {.objective = TF_TRAFFIC, .budget = budget};
  make_chip(&c, 2, whole->o->word_bits, p->capacity);
  tf_solve_result *r = d ? tf_solve_exact(&c.arch, whole->wl, &so, d) : NULL;
  here.before += r ? r->evals : 0;
  tf_search_result *g =
      d && !(r && r->proved) ? tf_search_run(&c.arch, whole->wl, NULL, &go, d) : NULL;
  bool ok = d != NULL; /* nor is a solver that gives up */
  if (r) ok = offer(p, r->value, r->tree) && ok;
  if (g && g->n_best) ok = offer(p, g->best[0].value, g->best[0].tree) && ok;
  s->evals = here.before + (g ? g->evals : 0);
  if (smaller && smaller->attained < p->attained) {
    free(p->text);
    p->text = copy(smaller->text);
    p->attained = smaller->attained;
    ok = ok && p->text;
  }
  tf_solve_free(r);
  tf_search_free(g);
  tf_diags_free(d);
  return ok;
}

/* The size of all tensors together: beyond it, more capacity changes nothing. */
static double all_words(const tf_workload *wl, const tf_slope_opts *o) {
  double all = 0;
  for (int z = 0; z < wl->n_tensors; z++) {
    double words = (double)wl->tensors[z].word_bits / o->word_bits;
    for (int r = 0; r < wl->tensors[z].rank; r++)
      words *= (double)wl->tensors[z].extent[r];
    all += words;
  }
  return all;
}

/* The most elements that so many words on chip can hold: of the narrowest tensor. */
static double elements(const tf_workload *wl, int64_t capacity, const tf_slope_opts *o) {
  int narrowest = o->word_bits;
  for (int z = 0; z < wl->n_tensors; z++)
    narrowest = wl->tensors[z].word_bits < narrowest ? wl->tensors[z].word_bits : narrowest;
  return (double)capacity * o->word_bits / narrowest;
}

/* Two bounds: of any execution, and of any mapping (tighter, as its loops are nested). */
static void prove(const sweep *whole, tf_slope_point *p) {
  const tf_workload *wl = whole->wl;
  double here = elements(wl, p->capacity, whole->o), hand = whole->o->hand;
  p->bound = fmax(tf_slope_bound(wl, here + tf_slope_operands(wl)),
                  tf_bound_at(whole->mappings, (double)p->capacity));
  p->all_units = hand > 0 ? fmin(tf_slope_bound(wl, here + hand), p->bound) : p->bound;
}

static bool add_capacity(const sweep *whole, int64_t capacity) {
  tf_slope *s = whole->s;
  if (!TF_GROW(s->at, s->n)) return false;
  s->at[s->n] = (tf_slope_point){.capacity = capacity, .attained = INFINITY};
  prove(whole, &s->at[s->n]);
  const tf_slope_point *smaller = s->n ? &s->at[s->n - 1] : NULL;
  s->n++;
  bool ok = attain(whole, smaller);
  if (tf_clock_asked(&whole->clock)) { /* interrupted: more time would find more */
    free(s->at[--s->n].text);
    return ok;
  }
  /* nothing fits yet: of such capacities the last is enough */
  if (s->n > 1 && isinf(s->at[s->n - 1].attained)) {
    s->at[s->n - 2] = s->at[s->n - 1];
    s->n--;
  }
  return ok;
}

/* Goes through the capacities in ascending order, with `own` inserted. */
static bool sweep_capacities(const sweep *whole) {
  const tf_slope *s = whole->s;
  int64_t own = whole->o->own;
  double all = all_words(whole->wl, whole->o);
  bool ok = true, done = false;
  for (int64_t c = 16; ok && !done && c < INT64_C(1) << 50; c *= 2) {
    if (own > c / 2 && own < c) ok = add_capacity(whole, own);
    if (!tf_clock_asked(&whole->clock)) ok = ok && add_capacity(whole, c);
    done = tf_clock_asked(&whole->clock) ||
           (ok && s->n > 0 && (s->at[s->n - 1].attained <= s->compulsory || (double)c >= all));
  }
  return ok;
}

tf_slope *tf_slope_of(const tf_workload *wl, const tf_slope_opts *o, tf_diags *d) {
  TF_IN_C_LOCALE;
  tf_slope *s = calloc(1, sizeof *s);
  tf_bound_slope *mappings = NULL;
  sweep whole = {.wl = wl, .o = o, .s = s};
  if (!s) {
    tf_out_of_memory(d);
    return NULL;
  }
  tf_clock_begin(&whole.clock, &o->budget);
  s->compulsory = tf_slope_bound(wl, INFINITY);
  bool ok = s->compulsory >= 0 || tf_fail(d, wl->at, TF_E_OVERFLOW, "a bound passes 2^63 - 1");
  if (ok) ok = (mappings = tf_bound_slope_of(wl, o->word_bits, d)) != NULL;
  if (ok) {
    s->op_left_out = mappings->left_out;
    whole.mappings = mappings;
    ok = sweep_capacities(&whole) || tf_out_of_memory(d);
  }
  tf_bound_slope_free(mappings);
  if (ok) return s;
  tf_slope_free(s);
  return NULL;
}

void tf_slope_free(tf_slope *s) {
  for (int i = 0; s && i < s->n; i++)
    free(s->at[i].text);
  if (s) free(s->at);
  free(s);
}
