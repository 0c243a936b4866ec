#include "cli/wrap.h"

#include <string.h>

enum { COLUMNS = 79 };

void cli_wrap(FILE *out, const char *text, int left) {
  int at = left, blanks = 0; /* blanks: between the previous word and the next */
  for (; *text; text++) {
    int n = (int)strcspn(text, " \n");
    if (n > 0 && at > left && at + blanks + n > COLUMNS) {
      fprintf(out, "\n%*s", left, "");
      at = left;
    }
    if (n > 0) at += fprintf(out, "%*s%.*s", at > left ? blanks : 0, "", n, text);
    text += n;
    blanks = n > 0 ? 1 : blanks + 1;
    if (*text == '\n' && text[1]) {
      fprintf(out, "\n%*s", left, "");
      at = left;
    }
    if (!*text) break;
  }
  fputc('\n', out);
}
