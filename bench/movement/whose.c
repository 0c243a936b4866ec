/* Whose words enter the first cache: kernels that gcc compiles with -fsanitize=thread call a
 * function of these before each load and store.  Lines of whose_print: an array; its words that
 * enter 48 KiB in 12 ways; and in one set of 768 lines, in which sets do not matter.  Both drop
 * what was used longest ago.  Registers that spill are not seen. */
#include "bench/movement/whose.h"
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64, LINES = 768, CACHES = 2, MOST = 8 };

static const int ways[CACHES] = {12, LINES};
static uintptr_t lines[CACHES][LINES]; /* of each set, the youngest first */

static struct {
  const char *name;
  uintptr_t from, to;
  uint64_t entered[CACHES];
} places[MOST + 1] = {{.name = "other", .to = UINTPTR_MAX}};

static int many; /* arrays: the place after them is all else */

void whose_place(const char *name, const void *from, size_t bytes) {
  if (many == MOST) exit(2);
  places[many + 1] = places[many];
  places[many].name = name, places[many].from = (uintptr_t)from,
  places[many].to = (uintptr_t)from + bytes;
  many++;
}

void whose_print(void) {
  for (int p = 0; p <= many; p++)
    printf("%s,%" PRIu64 ",%" PRIu64 "\n", places[p].name,
           places[p].entered[0] * LINE / sizeof(float),
           places[p].entered[1] * LINE / sizeof(float));
}

/* Whether it was not there. */
static bool enters(int cache, uintptr_t line) {
  uintptr_t *set = lines[cache] + line % (uintptr_t)(LINES / ways[cache]) * (uintptr_t)ways[cache];
  int at = 0;
  while (at < ways[cache] - 1 && set[at] != line)
    at++;
  const bool new = set[at] != line;
  memmove(set + 1, set, (size_t)at * sizeof *set);
  set[0] = line;
  return new;
}

static void use(const volatile void *address, size_t bytes) {
  const uintptr_t from = (uintptr_t)address, last = (from + bytes - 1) / LINE;
  int p = 0;
  while (p < many && (from < places[p].from || from >= places[p].to))
    p++;
  for (uintptr_t line = from / LINE; line <= last; line++)
    for (int c = 0; c < CACHES; c++)
      places[p].entered[c] += enters(c, line);
}

/* The functions that gcc calls. */
#define OF(bytes)                                                                                  \
  void __tsan_read##bytes(const void *from);                                                       \
  void __tsan_write##bytes(const void *from);                                                      \
  void __tsan_read##bytes(const void *from) { use(from, bytes); }                                  \
  void __tsan_write##bytes(const void *from) { use(from, bytes); }                                 \
  void __tsan_read##bytes(const void *from)

OF(1);
OF(2);
OF(4);
OF(8);
OF(16);

void __tsan_read_range(const void *from, size_t bytes);
void __tsan_write_range(const void *from, size_t bytes);
void __tsan_init(void);
void __tsan_func_entry(const void *caller);
void __tsan_func_exit(void);

void __tsan_read_range(const void *from, size_t bytes) { use(from, bytes); }
void __tsan_write_range(const void *from, size_t bytes) { use(from, bytes); }
void __tsan_init(void) {}
void __tsan_func_entry(const void *caller) { (void)caller; }
void __tsan_func_exit(void) {}
