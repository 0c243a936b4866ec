/* Columns that line up. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H
#include "cli/text.h"

/* Initialised as {.align = "lrr"}: one letter a column, l left, r right.  Cells are given row by
 * row; a row is complete when all its columns are. */
typedef struct {
  const char *align;
  cli_text cells; /* NUL-terminated, one after the other */
  size_t n;
} cli_table;

void cli_cell(cli_table *t, const char *fmt, ...) TF_PRINTF(2, 3);
/* Adds n empty cells. */
void cli_skip(cli_table *t, int n);
/* Prints the table, two blanks between columns and no trailing blanks, and frees it. */
void cli_table_end(cli_table *t, cli_text *out);
#endif
