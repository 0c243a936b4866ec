/* Solving a problem in its canonical form (search/common/canon.h). */
#ifndef SEARCH_CLOSED_CANONICAL_H
#define SEARCH_CLOSED_CANONICAL_H
#include "tileflow/solve.h"

typedef tf_solve_result *tf_solving(const tf_arch *arch, const tf_workload *wl,
                                    const tf_solve_opts *o, tf_diags *d);

/* Solves the canonical form; the result's tree is of the caller's problem.  NULL with errors in
 * d. */
tf_solve_result *tf_solve_as_canon(tf_solving *solve, const tf_arch *arch, const tf_workload *wl,
                                   const tf_solve_opts *o, tf_diags *d);
#endif
