#include "cli/wrap.h"

#include <string.h>

enum { COLUMNS = 79 };

void cli_wrap(FILE *out, const char *text, int left) {
  int at = left;
  while (*text) {
    int n = (int)strcspn(text, " \n");
    if (at > left && at + 1 + n > COLUMNS) {
      fprintf(out, "\n%*s", left, "");
      at = left;
    }
    at += fprintf(out, "%s%.*s", at > left ? " " : "", n, text);
    text += n;
    while (*text == ' ')
      text++;
    if (*text == '\n' && text[1]) {
      fprintf(out, "\n%*s", left, "");
      at = left;
    }
    text += *text == '\n';
  }
  fputc('\n', out);
}
