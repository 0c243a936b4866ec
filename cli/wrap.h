/* Text for a terminal of 80 columns. */
#ifndef CLI_WRAP_H
#define CLI_WRAP_H
#include <stdio.h>

/* Prints words up to column 79, `left` blanks before each line but the first, whose first word stands at column `left`;
 * then a line's end.  A line's end in the text stays one. */
void cli_wrap(FILE *out, const char *text, int left);
#endif
