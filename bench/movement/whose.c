/* Whose words enter the first cache: reads what Valgrind's Lackey traces of bench/movement/beside.c on stdin, and
 * prints a line for each tensor: words that enter 48 KiB in 12 ways, and in one set of 768 lines, in which sets do not
 * matter. Both drop what was used longest ago. whose PLACES    the lines of `beside WHO PARTS where`: name, from, to.
 * Words between two writes to `mark` count. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64, LINES = 768, CACHES = 2, MOST = 16 };

static const int ways[CACHES] = {12, LINES};
static uint64_t lines[CACHES][LINES]; /* of each set, the youngest first */

static struct {
  char name[16];
  uint64_t from, to, entered[CACHES];
} places[MOST + 1];

/* Whether it was not there. */
static int enters(int cache, uint64_t line) {
  uint64_t *set = lines[cache] + line % (uint64_t)(LINES / ways[cache]) * (uint64_t)ways[cache];
  int at = 0;
  while (at < ways[cache] - 1 && set[at] != line)
    at++;
  const int new = set[at] != line;
  memmove(set + 1, set, (size_t)at * sizeof *set);
  set[0] = line;
  return new;
}

int main(int argc, char **argv) {
  FILE *f = argc == 2 ? fopen(argv[1], "r") : NULL;
  if (!f) return 2;
  int n = 0;
  while (n < MOST && fscanf(f, "%15s %" SCNx64 " %" SCNx64, places[n].name, &places[n].from, &places[n].to) == 3)
    n++;
  fclose(f);
  strcpy(places[n].name, "other"), places[n].to = UINT64_MAX;
  static char text[256];
  int marks = 0; /* the first place is the mark */
  while (fgets(text, sizeof text, stdin)) {
    char *end;
    const uint64_t from = text[0] == ' ' && strchr("LSM", text[1]) ? strtoull(text + 3, &end, 16) : 0;
    if (!from || *end != ',') continue; /* an instruction, or what Valgrind says besides */
    const uint64_t last = from + strtoull(end + 1, NULL, 10) - 1;
    int p = 0;
    while (from < places[p].from || from >= places[p].to)
      p++;
    marks += p == 0 && text[1] == 'S';
    for (int c = 0; c < CACHES; c++) {
      uint64_t new = 0;
      for (uint64_t line = from / LINE; line <= last / LINE; line++)
        new += (uint64_t)enters(c, line);
      if (marks == 1) places[p].entered[c] += new;
    }
  }
  if (marks != 2) return 1;
  printf("tensor,words_12_ways,words_one_set\n");
  for (int p = 1; p <= n; p++)
    printf("%s,%" PRIu64 ",%" PRIu64 "\n", places[p].name, places[p].entered[0] * LINE / 4,
           places[p].entered[1] * LINE / 4);
  return 0;
}
