#include "model/import/common/page.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Room for n more bytes and an end. */
static bool grow(tf_page *p, size_t n) {
  if (p->room - p->len > n) return true;
  size_t room = p->room ? 2 * p->room : 1024;
  while (room - p->len <= n)
    room *= 2;
  char *bigger = realloc(p->text, room);
  if (!bigger) return false;
  p->text = bigger;
  p->room = room;
  return true;
}

void tf_page_add(tf_page *p, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(NULL, 0, fmt, ap);
  va_end(ap);
  p->bad |= n < 0 || !grow(p, (size_t)n);
  if (p->bad) return;
  va_start(ap, fmt);
  vsnprintf(p->text + p->len, (size_t)n + 1, fmt, ap);
  va_end(ap);
  p->len += (size_t)n;
}
