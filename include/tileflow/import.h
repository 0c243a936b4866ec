/* Descriptions that other tools read, as native YAML. */
#ifndef TILEFLOW_IMPORT_H
#define TILEFLOW_IMPORT_H
#include "tileflow/spec.h"

/* Reads Timeloop's architecture (version 0.2 to 0.4), problem (`shape`, `instance`) and
 * mapping (temporal, spatial and bypass directives) from n named texts, in any split, and writes the
 * sections `architecture`, `workload` and `mapping` of docs/FORMATS.md that mean the same; what the texts lack is left
 * out.  What is read but has no place in the model stands as a comment in the result.  Malloc'd, the caller
 * frees; NULL with every error in d, placed in the foreign text. */
char *tf_import_timeloop(const tf_text *texts, size_t n, tf_diags *d);

/* The same of TileFlow's files: architecture, problem (`ops`, `io`), mapping (as a tree of nodes, or in loop-nest
 * notation), macro, check.  A setting gives a macro its value.  What is said and has no effect here is a warning in d,
 * too. */
char *tf_import_tileflow(const tf_text *texts, size_t n, const tf_setting *set, size_t n_set, tf_diags *d);

/* Whether a text is a file of one of the two, and no native one. */
bool tf_import_foreign(const tf_text *text);

/* Whichever of the two the texts are: TileFlow's where one of them has what only TileFlow has. */
char *tf_import(const tf_text *texts, size_t n, const tf_setting *set, size_t n_set, tf_diags *d);

#endif
