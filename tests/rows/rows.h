/* Rows that tests/rows adds to four tables of the house, without an edit of the files that have them: those are
 * compiled once more, after this header. */
#ifndef TESTS_ROWS_ROWS_H
#define TESTS_ROWS_ROWS_H
#include "net/net.h"
#include "sweep/section/section.h"
#include "tileflow/import.h"

/* cli/cmd/commands.h: `toy FILE... [--threads N]` */
#define CLI_MORE_COMMANDS(X) X(toy)

/* sweep/section/section.c: `first: N` keeps the first N values of each param. */
bool toy_first(tf_reader *r, const tf_ynode *node, sweep_section *out);
#define SWEEP_MORE_FIELDS {{"first", TF_Y_SCALAR, false}, toy_first},

/* model/import/import.c: files that begin with "toy" and have three extents are products of matrices. */
bool toy_is(const tf_text *text);
bool toy_is_root(const tf_ynode *root);
char *toy_import(const tf_text *texts, size_t n, const tf_setting *set, size_t n_set, tf_diags *d);
#define TF_MORE_IMPORTERS {toy_is, toy_is_root, toy_import},

/* net/plan.c: groups tell their number of ops for a bottleneck. */
bool toy_pass(net_planning *s);
#define NET_MORE_PASSES toy_pass,
#endif
