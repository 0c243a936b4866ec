/* What the rows call that tests/CMakeLists.txt adds to copies of the files with four tables of the
 * house: a row is all that an addition needs. */
#ifndef TESTS_ROWS_ROWS_H
#define TESTS_ROWS_ROWS_H
#include "net/net.h"
#include "sweep/section/section.h"
#include "tileflow/import.h"

/* sweep/section/section.c: `first: N` keeps the first N values of each param. */
bool toy_first(tf_reader *r, const tf_ynode *node, sweep_section *out);

/* model/import/import.c: files that begin with "toy" and have three extents are products of
 * matrices. */
bool toy_is(const tf_text *text);
bool toy_is_root(const tf_ynode *root);
char *toy_import(const tf_text *texts, size_t n, const tf_setting *set, size_t n_set, tf_diags *d);

/* net/plan.c: groups tell their number of ops for a bottleneck. */
bool toy_pass(net_planning *s);
#endif
