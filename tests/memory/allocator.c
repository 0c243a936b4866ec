/* Stands before malloc and what calls it, for everything that this program links itself
 * (-Wl,--wrap). */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/os/os_memory.h"
#include "cli/os/os_wrap.h"
#include "tests/memory/starve.h"

static atomic_long calls;
static long first;
static bool all_behind, of_tool;

void starve_from(long nth, bool all) {
  first = nth;
  all_behind = all;
  atomic_store(&calls, 0);
}

void starve_tool(void) { of_tool = true; }

long starve_calls(void) { return atomic_load(&calls); }

static bool fails(void) {
  const long call = atomic_fetch_add(&calls, 1) + 1;
  const bool now = first > 0 && (call == first || (all_behind && call > first));
  if (now) errno = ENOMEM;
  return now;
}

/* What the caller gets who is given nothing: in the tool, the end. */
static void *nothing(void) { return of_tool ? cli_had(NULL, 1) : NULL; }

void *__wrap_malloc(size_t size) { return fails() ? nothing() : __real_malloc(size); }
void *__wrap_calloc(size_t n, size_t size) { return fails() ? nothing() : __real_calloc(n, size); }
void *__wrap_realloc(void *p, size_t size) { return fails() ? nothing() : __real_realloc(p, size); }
FILE *__wrap_open_memstream(char **text, size_t *n) {
  return fails() ? nothing() : __real_open_memstream(text, n);
}

char *__wrap_strndup(const char *s, size_t n) {
  const size_t length = strnlen(s, n);
  char *copy = __wrap_malloc(length + 1);
  if (!copy) return NULL;
  memcpy(copy, s, length);
  copy[length] = '\0';
  return copy;
}

char *__wrap_strdup(const char *s) { return __wrap_strndup(s, strlen(s)); }
