/* Machines that differ in one key. */
#ifndef TESTS_UNIT_DIFFER_H
#define TESTS_UNIT_DIFFER_H
#include <string.h>

#include "model/identity/print.h"
#include "tests/unit/case.h"

/* Each of these cases has another architecture, to those who compare and to those who write down;
 * drops them. */
static inline void check_differ(int n, test_case *e) {
  char **text = calloc((size_t)n, sizeof *text);
  if (!text) exit(2);
  for (int i = 0; i < n; i++) {
    FILE *f = case_text(&text[i]);
    tf_arch_print(f, e[i].spec->arch);
    fclose(f);
  }
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) {
      CHECK(tf_arch_same(e[i].spec->arch, e[k].spec->arch) == (i == k));
      CHECK(!strcmp(text[i], text[k]) == (i == k));
    }
  for (int i = 0; i < n; i++) {
    case_drop(&e[i]);
    free(text[i]);
  }
  free(text);
}
#endif
