/* The only file that includes GLPK, whose arrays start at 1 and which aborts on wrong calls. */
#include "search/exact/ilp.h"

#ifdef TF_GLPK
#include <glpk.h>
#include <math.h>
#include <stdlib.h>

enum { FACTORS = 512, SLOTS = 32 };

bool tf_ilp_there(void) { return true; }

/* A prime factor of a length, and its multiplicity. */
typedef struct {
  int64_t prime;
  int times;
} factor;

static int factors_of(int64_t n, factor *out, int room) {
  int count = 0;
  for (int64_t p = 2; n > 1 && count < room; p++) {
    if (p * p > n) p = n;
    factor f = {p, 0};
    for (; n % p == 0; n /= p)
      f.times++;
    if (f.times) out[count++] = f;
  }
  return count;
}

/* Rows: the multiplicity of each factor; the room of each slot.  Columns: how often a factor is put
 * into a slot. */
static void fill_problem(glp_prob *lp, const factor *f, int n, const int64_t *room, int n_slots) {
  glp_set_obj_dir(lp, GLP_MAX);
  glp_add_rows(lp, n + n_slots);
  glp_add_cols(lp, n * n_slots);
  for (int i = 0; i < n; i++)
    glp_set_row_bnds(lp, 1 + i, GLP_UP, 0, f[i].times);
  for (int s = 0; s < n_slots; s++)
    glp_set_row_bnds(lp, 1 + n + s, GLP_UP, 0, log((double)room[s]) + 1e-9);
  for (int i = 0; i < n; i++)
    for (int s = 0; s < n_slots; s++) {
      int col = 1 + i * n_slots + s, rows[] = {0, 1 + i, 1 + n + s};
      double of[] = {0, 1, log((double)f[i].prime)};
      glp_set_col_bnds(lp, col, GLP_DB, 0, f[i].times);
      glp_set_col_kind(lp, col, GLP_IV);
      glp_set_obj_coef(lp, col, of[2]);
      glp_set_mat_col(lp, col, 2, rows, of);
    }
}

/* Branch and bound while it runs. */
typedef struct {
  tf_ilp_limit *limit;
  double bound; /* upper bound of the open nodes when it was stopped; INFINITY: it was not */
} run;

/* GLPK asks for the next node to be solved. */
static void watch(glp_tree *tree, void *ctx) {
  run *r = ctx;
  if (glp_ios_reason(tree) != GLP_ISELECT) return;
  if (r->limit->spent++ < r->limit->nodes && !(r->limit->over && r->limit->over(r->limit->ctx)))
    return;
  const int best = glp_ios_best_node(tree);
  r->bound = best ? glp_ios_node_bound(tree, best) : 0;
  glp_ios_terminate(tree);
}

/* The logarithm of an integer as that integer, up to rounding. */
static double whole_of(double log_of) { return floor(exp(log_of) * (1 + 1e-7)); }

static bool solve(glp_prob *lp, tf_ilp_limit *limit, double *most, double *relaxed) {
  glp_smcp simplex;
  glp_iocp whole;
  run r = {limit, INFINITY};
  glp_init_smcp(&simplex);
  glp_init_iocp(&whole);
  simplex.msg_lev = whole.msg_lev = GLP_MSG_OFF;
  whole.mip_gap = 0;
  whole.cb_func = watch;
  whole.cb_info = &r;
  if (glp_simplex(lp, &simplex) || glp_get_status(lp) != GLP_OPT) return false;
  *relaxed = exp(glp_get_obj_val(lp));
  const int how = glp_intopt(lp, &whole), status = glp_mip_status(lp);
  /* stopped: the optimum is at most the larger of the best found and the open nodes' bound */
  if (isfinite(r.bound)) {
    const double found = status == GLP_FEAS || status == GLP_OPT ? glp_mip_obj_val(lp) : 0;
    *most = whole_of(fmin(fmax(found, r.bound), log(*relaxed)));
    return true;
  }
  if (how || status != GLP_OPT) return false;
  *most = whole_of(glp_mip_obj_val(lp));
  return true;
}

bool tf_ilp_most_spread(const int64_t *len, int n, const int64_t *room, int n_slots,
                        tf_ilp_limit *limit, double *most, double *relaxed) {
  factor f[FACTORS];
  int count = 0;
  limit->spent = 0;
  *most = *relaxed = 1;
  for (int i = 0; i < n; i++)
    if (len[i] < 1) return false;
  for (int s = 0; s < n_slots; s++)
    if (room[s] < 1) return false;
  for (int i = 0; i < n && count < FACTORS; i++)
    count += factors_of(len[i], f + count, FACTORS - count);
  if (n_slots > SLOTS || count == FACTORS) return false;
  if (count == 0 || n_slots == 0) return true;
  bool ours = glp_init_env() ==
              0; /* GLPK has one environment per thread: one that the caller made is kept */
  glp_prob *lp = glp_create_prob();
  fill_problem(lp, f, count, room, n_slots);
  bool ok = solve(lp, limit, most, relaxed);
  glp_delete_prob(lp);
  if (ours) glp_free_env();
  return ok;
}
#else
bool tf_ilp_there(void) { return false; }

bool tf_ilp_most_spread(const int64_t *len, int n, const int64_t *room, int n_slots,
                        tf_ilp_limit *limit, double *most, double *relaxed) {
  (void)len, (void)n, (void)room, (void)n_slots;
  limit->spent = 0;
  *most = *relaxed = 1;
  return false;
}
#endif
