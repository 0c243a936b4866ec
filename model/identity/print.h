/* Architectures and workloads as texts by which they are recognised: equal where they mean the
 * same, and else not. */
#ifndef MODEL_IDENTITY_PRINT_H
#define MODEL_IDENTITY_PRINT_H
#include <stdio.h>

#include "model/input/table/keys.h"

/* Prints everything that a file can specify of a machine except its own name; values as bytes. */
void tf_arch_print(FILE *out, const tf_arch *a);
/* The fields of a part of it by the rows of its table. */
void tf_keys_print(FILE *out, const tf_table *t, const void *s);
/* Prints everything that a file can specify of a workload except its own name. */
void tf_workload_print(FILE *out, const tf_workload *wl);
#endif
