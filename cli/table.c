#include "cli/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { CELL = 1024, COLUMNS = 24 };

void cli_cell(cli_table *t, const char *fmt, ...) {
  char cell[CELL];
  va_list args;
  va_start(args, fmt);
  vsnprintf(cell, sizeof cell, fmt, args);
  va_end(args);
  cli_printf(&t->cells, "%s%c", cell, '\0');
  t->n++;
}

void cli_skip(cli_table *t, int n) {
  for (int i = 0; i < n; i++)
    cli_cell(t, "%s", "");
}

static const char *next(const char *cell) { return cell + strlen(cell) + 1; }

static void measure(const cli_table *t, size_t columns, size_t width[COLUMNS]) {
  const char *cell = t->cells.text;
  for (size_t i = 0; i < t->n; i++, cell = next(cell)) {
    size_t n = cli_columns(cell);
    if (n > width[i % columns]) width[i % columns] = n;
  }
}

static void put_row(const char *cell, const char *align, const size_t *width, cli_text *out) {
  size_t owed = 0; /* blanks, printed once another cell follows */
  for (size_t c = 0; align[c]; c++, cell = next(cell)) {
    size_t n = cli_columns(cell), pad = width[c] - n;
    if (align[c] == 'r') owed += pad;
    if (n) {
      cli_printf(out, "%*s%s", (int)owed, "", cell);
      owed = 0;
    } else {
      owed += align[c] == 'r' ? 0 : pad;
    }
    if (n && align[c] != 'r') owed = pad;
    owed += 2;
  }
  cli_printf(out, "\n");
}

void cli_table_end(cli_table *t, cli_text *out) {
  size_t columns = strlen(t->align), width[COLUMNS] = {0};
  out->bad |= t->cells.bad;
  if (t->cells.text && !t->cells.bad && columns <= COLUMNS) {
    measure(t, columns, width);
    const char *cell = t->cells.text;
    for (size_t i = 0; i + columns <= t->n; i += columns) {
      put_row(cell, t->align, width, out);
      for (size_t c = 0; c < columns; c++)
        cell = next(cell);
    }
  }
  cli_text_free(&t->cells);
  t->n = 0;
}
