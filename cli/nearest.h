/* The name that a misspelt word probably meant. */
#ifndef CLI_NEAREST_H
#define CLI_NEAREST_H
#include <stddef.h>

typedef struct {
  const char *want;
  const char *best; /* NULL: none is near */
  size_t distance;
} cli_nearest;

cli_nearest cli_nearest_to(const char *want);
void cli_nearest_offer(cli_nearest *near, const char *name);
#endif
