/* Tables of keys as JSON Schema: tf_arch_schema (tileflow/spec.h) is of all of them. */
#ifndef MODEL_SPEC_TABLE_SCHEMA_H
#define MODEL_SPEC_TABLE_SCHEMA_H
#include <stdio.h>

#include "model/spec/table/keys.h"

/* The members of an object with the table's own keys (part ""), or those of a map (its key). */
void tf_schema_object(FILE *out, const tf_table *t, const char *part);
#endif
