/* Text for a terminal of 80 columns. */
#ifndef CLI_WRAP_H
#define CLI_WRAP_H
#include <stdio.h>

/* Prints words up to column 79, with `left` blanks before each line but the first, whose first word
 * is at column `left`; then a line end.  Line ends in the text are kept. */
void cli_wrap(FILE *out, const char *text, int left);
#endif
