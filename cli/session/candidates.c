/* The mappings that emit --measure chooses from. */
#include <stdlib.h>
#include <string.h>

#include "cli/session/measure.h"

bool cli_candidates_add(cli_candidates *c, const tf_found *found, int n) {
  if (c->n + n > c->room) {
    cli_candidate *at = realloc(c->at, (size_t)(c->n + n) * sizeof *at);
    if (!at) return false;
    c->at = at;
    c->room = c->n + n;
  }
  for (int i = 0; i < n; i++) {
    size_t bytes = strlen(found[i].text) + 1;
    char *text = malloc(bytes);
    if (!text) return false;
    memcpy(text, found[i].text, bytes);
    c->at[c->n++] = (cli_candidate){found[i].value, found[i].figures.cycles, text};
  }
  return true;
}

static int better(const void *a, const void *b) {
  const cli_candidate *x = a, *y = b;
  if (x->value != y->value) return (x->value > y->value) - (x->value < y->value);
  return strcmp(x->text, y->text);
}

void cli_candidates_sort(cli_candidates *c) {
  if (c->n) qsort(c->at, (size_t)c->n, sizeof *c->at, better);
}

void cli_candidates_free(cli_candidates *c) {
  for (int i = 0; i < c->n; i++)
    free(c->at[i].text);
  free(c->at);
  *c = (cli_candidates){0};
}
