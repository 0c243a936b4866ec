#include "model/import/common/machine.h"

#include <inttypes.h>

void tf_page_bandwidth(tf_page *p, bool one_port, double read, double write) {
  if (one_port && read > 0)
    tf_page_add(p, "    bandwidth: %.15g\n", read);
  else if (read > 0 && write > 0)
    tf_page_add(p, "    bandwidth: {read: %.15g, write: %.15g}\n", read, write);
  else if (read > 0 || write > 0)
    tf_page_add(p, "    bandwidth: {%s: %.15g}\n", read > 0 ? "read" : "write",
                read > 0 ? read : write);
}

void tf_page_mesh(tf_page *p, int64_t x, int64_t y) {
  if (x > 1 || y > 1) tf_page_add(p, "    mesh: [%" PRId64 ", %" PRId64 "]\n", x, y);
}
