/* Architectures and workloads as texts by which they are recognised: equal where they mean the
 * same, and else not. */
#ifndef MODEL_IDENTITY_PRINT_H
#define MODEL_IDENTITY_PRINT_H
#include <stdio.h>

#include "model/input/table/keys.h"

/* All that a file can say of a machine but its own name; values as bytes. */
void tf_arch_print(FILE *out, const tf_arch *a);
/* The fields of a part of it by the rows of its table. */
void tf_keys_print(FILE *out, const tf_table *t, const void *s);
/* All that a file can say of a workload but its own name. */
void tf_workload_print(FILE *out, const tf_workload *wl);
#endif
