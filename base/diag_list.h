/* The list behind tf_diags, shared by diag.c and diag_text.c only. */
#ifndef BASE_DIAG_LIST_H
#define BASE_DIAG_LIST_H
#include "tileflow/diag.h"

typedef struct {
  char *name, *text; /* owned; text is NUL-ended, but may hold NULs */
  size_t len;
} tf_source;

struct tf_diags {
  tf_source *files; /* file number i is files[i - 1] */
  size_t n_files;
  tf_diag *entries; /* an error, then its notes */
  size_t n_entries;
  size_t n_errors; /* reported, stored or not */
};
#endif
