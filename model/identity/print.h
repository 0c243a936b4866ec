/* Architectures and workloads as texts by which they are recognised: equal where they mean the same, and else not. */
#ifndef MODEL_IDENTITY_PRINT_H
#define MODEL_IDENTITY_PRINT_H
#include <stdio.h>

#include "tileflow/spec.h"

/* All that a file can say of a machine but its own name; values as bytes. */
void tf_arch_print(FILE *out, const tf_arch *a);
/* All that a file can say of a workload but its own name. */
void tf_workload_print(FILE *out, const tf_workload *wl);
#endif
