/* Wraps malloc and similar functions for everything that the tool itself links (the linker's
 * --wrap, CMakeLists.txt). tests/memory replaces this file by an allocator of its own. */
#include <stdint.h>

#include "cli/os/os_memory.h"
#include "cli/os/os_wrap.h"

void *__wrap_malloc(size_t size) { return cli_had(__real_malloc(size), size); }

void *__wrap_calloc(size_t n, size_t size) {
  size_t bytes;
  void *p = __real_calloc(n, size);
  return cli_had(p, __builtin_mul_overflow(n, size, &bytes) ? SIZE_MAX : bytes);
}

void *__wrap_realloc(void *p, size_t size) { return cli_had(__real_realloc(p, size), size); }
char *__wrap_strdup(const char *s) { return cli_had(__real_strdup(s), 1); }
char *__wrap_strndup(const char *s, size_t n) { return cli_had(__real_strndup(s, n), 1); }
FILE *__wrap_open_memstream(char **text, size_t *n) {
  return cli_had(__real_open_memstream(text, n), 1);
}
