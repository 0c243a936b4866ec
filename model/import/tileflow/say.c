/* What goes wrong, and what is not modelled. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/import/tileflow/tileflow.h"

bool ti_no_memory(ti_case *c) { return tf_out_of_memory(c->diags); }

void ti_warn(ti_case *c, tf_loc at, const char *fmt, ...) {
  char msg[240];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(msg, sizeof msg, fmt, ap);
  va_end(ap);
  for (char *p = msg; *p; p++)
    if ((unsigned char)*p < 0x20 || *p == 0x7f) *p = '?';
  tf_warn(c->diags, at, "%s", msg);
  const char *path = tf_diags_file_name(c->diags, at.file), *slash = strrchr(path, '/');
  size_t n = strcspn(slash ? slash + 1 : path, "\r\n");
  tf_page_add(c->notes, "# %.*s:%u: %s\n", (int)(n < 80 ? n : 80), slash ? slash + 1 : path,
              (unsigned)at.line, msg);
}
