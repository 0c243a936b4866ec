#include "cli/nearest.h"

#include <stdint.h>
#include <string.h>

enum { LONGEST = 24 }; /* longer than any command or option */

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Letters to insert, delete or replace (Levenshtein). */
static size_t distance(const char *a, const char *b) {
  size_t na = strlen(a), nb = strlen(b), row[LONGEST + 1];
  if (na > LONGEST || nb > LONGEST) return SIZE_MAX;
  for (size_t j = 0; j <= nb; j++)
    row[j] = j;
  for (size_t i = 1; i <= na; i++) {
    size_t corner = row[0];
    row[0] = i;
    for (size_t j = 1; j <= nb; j++) {
      size_t replaced = corner + (a[i - 1] != b[j - 1]);
      corner = row[j];
      row[j] = least(replaced, least(row[j], row[j - 1]) + 1);
    }
  }
  return row[nb];
}

cli_nearest cli_nearest_to(const char *want) {
  return (cli_nearest){.want = want, .distance = SIZE_MAX};
}

/* At most one edit in three letters counts as near. */
void cli_nearest_offer(cli_nearest *near, const char *name) {
  size_t d = distance(near->want, name);
  if (d > (strlen(name) + 2) / 3 || d >= near->distance) return;
  near->best = name;
  near->distance = d;
}
