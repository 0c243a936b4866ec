/* Functions that the linker calls in place of malloc and similar ones (--wrap), and the names under
 * which the originals remain.  The tool's are in allocator.c, those that fail on demand in
 * tests/memory/allocator.c. */
#ifndef CLI_WRAP_H
#define CLI_WRAP_H
#include <stddef.h>
#include <stdio.h>

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
#endif
