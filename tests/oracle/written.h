/* Reads with quotients and remainders as a case has them, of which the reader makes affine ones
 * over parts of dims. */
#ifndef TESTS_ORACLE_WRITTEN_H
#define TESTS_ORACLE_WRITTEN_H
#include "tests/oracle/oracle.h"

/* From now on the text says what reads touch, point by point, and not the indices of the tree's
 * workload; NULL: these do. Dims are named by one letter. */
void written_use(const char *text, const tf_workload *wl);
bool written_in_use(void);
/* Coordinates of rank r of what op's read touches while its dims run over the ranges. */
span written_span(const tf_workload *wl, int op, int read, int r, const span *range);
#endif
