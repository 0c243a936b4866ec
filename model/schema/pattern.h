/* What texts within files look like, as regular expressions that JavaScript's, Python's and Rust's
 * engines read alike, within JSON: no backslash but that of a line's end. */
#ifndef MODEL_SCHEMA_PATTERN_H
#define MODEL_SCHEMA_PATTERN_H
#include <stdio.h>

#define TF_RE_SYMBOL "[A-Za-z_][A-Za-z0-9_]*"
/* A tensor with its indices, and what is done with the right side. */
#define TF_RE_OP "[ \\n]*" TF_RE_SYMBOL "[ \\n]*[[][^]=]*[]][ \\n]*(?:[+*]|max|min)?=(?!=)"

/* Every line of a mapping is a memory, a scope or an op with clauses that such a line may have, or
 * empty.  Names are not known here, and whether clauses are twice or a scope has children is left
 * to the reader of files. */
void tf_write_mapping_pattern(FILE *out);
#endif
