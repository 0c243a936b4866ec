/* The tables of keys of architectures as JSON Schema; model/schema has the whole. */
#ifndef MODEL_INPUT_TABLE_SCHEMA_H
#define MODEL_INPUT_TABLE_SCHEMA_H
#include <stdio.h>

#include "model/input/table/keys.h"

/* The members of an object with the table's own keys (part ""), or those of a map (its key). */
void tf_schema_object(FILE *out, const tf_table *t, const char *part);
/* All of them, members of "$defs". */
void tf_schema_arch_defs(FILE *out);
#endif
