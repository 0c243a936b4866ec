#include "base/grow.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool tf_grow(void *start, int64_t n, size_t size) {
  assert(n >= 0 && size > 0);
  if (n & (n - 1)) return true;
  void *array;
  memcpy(&array, start, sizeof array); /* whatever type it points to */
  array = realloc(array, (n ? 2 * (size_t)n : 1) * size);
  if (array) memcpy(start, &array, sizeof array);
  return array != NULL;
}

bool tf_grow_text(char **text, size_t *room, size_t need) {
  if (need <= *room) return true;
  const size_t wider = need > 2 * *room ? need : 2 * *room;
  char *bigger = realloc(*text, wider);
  if (!bigger) return false;
  *text = bigger;
  *room = wider;
  return true;
}
