#include "cli/os/os_memory.h"

#include <unistd.h>

#include "cli/cli.h"
#include "cli/os/interrupt.h"

static const size_t most = (size_t)1 << 30;

/* Must not allocate, nor flush what was printed so far: nobody should see a part of a report. */
static void end(void) {
  static const char said[] = "tileflow: error[E_LIMIT]: out of memory\n";
  ssize_t n = write(2, said, sizeof said - 1);
  (void)n;
  _exit(CLI_FAILED);
}

void *cli_had(void *p, size_t bytes) {
  if (!p && bytes > 0 && bytes <= most && !cli_writing()) end();
  return p;
}
