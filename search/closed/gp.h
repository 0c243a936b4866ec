/* Geometric programs, solved by a barrier method in logarithms, where they are convex: the general
 * Lagrangian solution of thesis 3.4.3.  Source: S. Boyd, L. Vandenberghe, Convex Optimization
 * (2004), sections 4.5, 11.3. */
#ifndef SEARCH_CLOSED_GP_H
#define SEARCH_CLOSED_GP_H
#include <stdbool.h>

enum { TF_GP_VARS = 64, TF_GP_SUMS = 160, TF_GP_TERMS = 1024, TF_GP_FACTORS = 24 };

/* exp(log_coef) * product of x[var[i]] ^ power[i]. */
typedef struct {
  double log_coef;
  int n, var[TF_GP_FACTORS];
  double power[TF_GP_FACTORS];
} tf_gp_term;

/* Minimise x[0] subject to lo <= x <= hi for the other variables, and to sums of terms <= 1.  All
 * in logarithms. */
typedef struct {
  int n_vars; /* x[0] is minimised; its bounds are not used */
  double lo[TF_GP_VARS], hi[TF_GP_VARS];
  int n_sums, first[TF_GP_SUMS + 1]; /* terms of sum i: first[i] .. first[i + 1] - 1 */
  int n_terms;
  tf_gp_term terms[TF_GP_TERMS];
} tf_gp;

void tf_gp_init(tf_gp *g, int n_vars);
/* Begins a sum; terms are added to the last one begun.  False: too many. */
bool tf_gp_sum(tf_gp *g);
bool tf_gp_add(tf_gp *g, const tf_gp_term *t);
void tf_gp_times(tf_gp_term *t, int var, double power);

/* The minimiser: y[] are logarithms.  start: strictly inside the bounds and in every sum without
 * x[0] below 1.  The value found exceeds the least by a factor of at most 1 + gap.  False: start is
 * not inside, or the numbers lost precision. */
bool tf_gp_solve(const tf_gp *g, const double *start, double gap, double *y);
#endif
