#include "model/import/common/import_page.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/grow.h"

void tf_page_add(tf_page *p, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(NULL, 0, fmt, ap);
  va_end(ap);
  p->bad |= n < 0 || !tf_grow_text(&p->text, &p->room, p->len + (size_t)n + 1);
  if (p->bad) return;
  va_start(ap, fmt);
  vsnprintf(p->text + p->len, (size_t)n + 1, fmt, ap);
  va_end(ap);
  p->len += (size_t)n;
}
