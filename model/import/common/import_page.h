/* Text that grows. */
#ifndef MODEL_IMPORT_COMMON_IMPORT_PAGE_H
#define MODEL_IMPORT_COMMON_IMPORT_PAGE_H
#include <stddef.h>

#include "tileflow/diag.h"

/* Starts as {0}; bad once memory ran out. */
typedef struct {
  char *text;
  size_t len, room;
  bool bad;
} tf_page;
void tf_page_add(tf_page *p, const char *fmt, ...) TF_PRINTF(2, 3);
#endif
