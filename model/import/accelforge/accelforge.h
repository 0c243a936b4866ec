/* AccelForge's files as native text. */
#ifndef MODEL_IMPORT_ACCELFORGE_ACCELFORGE_H
#define MODEL_IMPORT_ACCELFORGE_ACCELFORGE_H
#include "model/yaml/node.h"
#include "tileflow/import.h"

/* Whether it is a file of AccelForge: Einsums, or an architecture or a mapping of its nodes. */
bool tf_accelforge_root(const tf_ynode *root);
/* Whether a text is a template of one of its files, which is no YAML yet. */
bool tf_accelforge_text(const tf_text *text);
/* As tf_import_timeloop.  A setting gives a template's variable its value. */
char *tf_import_accelforge(const tf_text *texts, size_t n, const tf_setting *set, size_t n_set,
                           tf_diags *d);
#endif
