/* AccelForge's workloads as native text. */
#ifndef MODEL_IMPORT_ACCELFORGE_ACCELFORGE_H
#define MODEL_IMPORT_ACCELFORGE_ACCELFORGE_H
#include "model/yaml/node.h"
#include "tileflow/import.h"

/* Whether it is a file of AccelForge: Einsums, or an architecture or a mapping of its nodes. */
bool tf_accelforge_root(const tf_ynode *root);
/* As tf_import_timeloop. */
char *tf_import_accelforge(const tf_text *texts, size_t n, tf_diags *d);
#endif
