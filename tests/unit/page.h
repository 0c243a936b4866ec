/* A text that a test writes piece by piece, for cases that are drawn. */
#ifndef TESTS_UNIT_PAGE_H
#define TESTS_UNIT_PAGE_H
#include <stdarg.h>
#include <stdio.h>

#include "tileflow/diag.h"

typedef struct {
  char text[8192];
  size_t len;
} page;

static void say(page *p, const char *fmt, ...) TF_PRINTF(2, 3);
static void say(page *p, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(p->text + p->len, sizeof p->text - p->len, fmt, ap);
  va_end(ap);
  p->len += n > 0 ? (size_t)n : 0;
}
#endif
