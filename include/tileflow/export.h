/* Architecture, workload and mapping in the formats of other tools, for a second opinion. */
#ifndef TILEFLOW_EXPORT_H
#define TILEFLOW_EXPORT_H
#include "tileflow/spec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A mapping: tree.h, for who looks inside it. */
typedef struct tf_tree tf_tree;

enum { TF_EXPORT_MAX_FILES = 5 };

/* Files of one folder: names are static, texts malloc'd.  tf_export_free(NULL) is allowed. */
typedef struct {
  int n;
  struct {
    const char *name;
    char *text;
  } file[TF_EXPORT_MAX_FILES];
} tf_export;
TF_API void tf_export_free(tf_export *e);

/* The names of the formats ("timeloop", "tileflow"); NULL past the last, and before the first. */
TF_API const char *tf_export_format(int i);

/* Writes architecture and problem, and the mapping if `tree` is not NULL, in the format of that
 * name (another is E_NAME).  What the format cannot express and would change a count (several ops,
 * scopes, a loop twice in one nest, ...) is an error in d, at its place; what it cannot express and
 * would change only times or energies (other units, `overlap`, ...) is a warning in d and a comment
 * in the files. tf_import (include/tileflow/import.h) reads the files back to the same tree.  To be
 * freed by tf_export_free.  NULL after an error. */
TF_API tf_export *tf_export_write(const char *format, const tf_arch *arch, const tf_workload *wl,
                                  const tf_tree *tree, tf_diags *d);

#ifdef __cplusplus
}
#endif
#endif
