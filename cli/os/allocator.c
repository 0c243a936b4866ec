/* Stands before malloc and what calls it, for everything that the tool links itself (the linker's --wrap,
 * CMakeLists.txt).  tests/memory puts an allocator of its own here. */
#define _GNU_SOURCE 1
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/os/memory.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
FILE *__real_open_memstream(char **text, size_t *n);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);
FILE *__wrap_open_memstream(char **text, size_t *n);

void *__wrap_malloc(size_t size) { return cli_had(__real_malloc(size), size); }

void *__wrap_calloc(size_t n, size_t size) {
  size_t bytes;
  void *p = __real_calloc(n, size);
  return cli_had(p, __builtin_mul_overflow(n, size, &bytes) ? SIZE_MAX : bytes);
}

void *__wrap_realloc(void *p, size_t size) { return cli_had(__real_realloc(p, size), size); }
char *__wrap_strdup(const char *s) { return cli_had(__real_strdup(s), 1); }
char *__wrap_strndup(const char *s, size_t n) { return cli_had(__real_strndup(s, n), 1); }
FILE *__wrap_open_memstream(char **text, size_t *n) { return cli_had(__real_open_memstream(text, n), 1); }
