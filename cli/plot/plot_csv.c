/* Comma-separated values, each cell with its location. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/nearest.h"
#include "cli/plot/plot.h"

typedef struct {
  const char *p, *end, *line_start;
  uint32_t line;
  uint16_t file;
  char *to; /* where the next cell's text is stored */
  plot_cell *cells;
  size_t n;
  tf_diags *d;
} scanner;

static tf_loc place_of(const scanner *s, const char *p) {
  return (tf_loc){s->file, s->line, (uint32_t)(p - s->line_start) + 1, 1};
}

static bool add_cell(scanner *s, plot_cell cell) {
  if (!CLI_GROW(s->cells, s->n)) return tf_out_of_memory(s->d);
  s->cells[s->n++] = cell;
  return true;
}

static bool at_cell_end(const scanner *s) {
  return s->p == s->end || *s->p == ',' || *s->p == '\n' ||
         (*s->p == '\r' && s->p + 1 < s->end && s->p[1] == '\n');
}

/* Reads the rest of a quoted cell. */
static bool read_quoted(scanner *s, tf_loc at) {
  while (s->p < s->end && (*s->p != '"' || (s->p + 1 < s->end && s->p[1] == '"'))) {
    if (*s->p == '"') s->p++;
    if (*s->p == '\n') {
      s->line++;
      s->line_start = s->p + 1;
    }
    *s->to++ = *s->p++;
  }
  if (s->p == s->end) return tf_fail(s->d, at, TF_E_SYNTAX, "this quote is never closed");
  s->p++;
  if (at_cell_end(s)) return true;
  return tf_fail(s->d, place_of(s, s->p), TF_E_SYNTAX,
                 "a quoted cell ends at its quote: a comma or a line's end follows");
}

static bool read_cell(scanner *s) {
  plot_cell cell = {s->to, place_of(s, s->p)};
  const char *from = s->p;
  bool ok = true;
  if (s->p < s->end && *s->p == '"') {
    s->p++;
    ok = read_quoted(s, cell.at);
  } else {
    while (!at_cell_end(s))
      *s->to++ = *s->p++;
  }
  *s->to++ = '\0';
  if (s->p > from && cell.at.line == s->line) cell.at.len = (uint32_t)(s->p - from);
  return ok && add_cell(s, cell);
}

/* One line's cells; false after an error. */
static bool read_row(scanner *s) {
  while (read_cell(s)) {
    if (s->p == s->end) return true;
    if (*s->p == ',') {
      s->p++;
      continue;
    }
    s->p += *s->p == '\r' ? 2 : 1;
    s->line++;
    s->line_start = s->p;
    return true;
  }
  return false;
}

static bool check_width(const scanner *s, size_t from, int wanted) {
  int have = (int)(s->n - from);
  if (have == wanted || !s->cells) return true;
  return tf_fail(s->d, s->cells[have > wanted ? from + (size_t)wanted : s->n - 1].at, TF_E_SYNTAX,
                 "this row has %d cells, the row of names %d", have, wanted);
}

static bool check_names(const plot_table *t, tf_diags *d) {
  bool ok = true;
  for (int i = 0; t->cells && i < t->n_columns; i++)
    for (int k = 0; k < i; k++)
      if (!strcmp(t->cells[i].text, t->cells[k].text)) {
        ok = tf_fail(d, t->cells[i].at, TF_E_DUP, "two columns have the name '%.60s'",
                     t->cells[i].text);
        break;
      }
  return ok;
}

bool plot_table_read(const tf_text *from, uint16_t file, plot_table *out, tf_diags *d) {
  *out = (plot_table){.texts = malloc(2 * from->len + 2)};
  if (!out->texts) return tf_out_of_memory(d);
  scanner s = {.p = from->text,
               .end = from->text + from->len,
               .line = 1,
               .file = file,
               .to = out->texts,
               .d = d};
  if (from->len >= 3 && !memcmp(from->text, "\xef\xbb\xbf", 3)) s.p += 3;
  s.line_start = s.p;
  const size_t errors = tf_diags_errors(d);
  if (s.p == s.end)
    tf_fail(d, place_of(&s, s.p), TF_E_MISSING, "the file is empty: a row of names stands first");
  while (s.p < s.end) {
    size_t first = s.n;
    if (*s.p == '\n' && s.n) { /* an empty line */
      s.p++, s.line++, s.line_start = s.p;
      continue;
    }
    if (!read_row(&s)) break;
    if (first == 0) {
      out->n_columns = (int)s.n;
      continue;
    }
    if (!check_width(&s, first, out->n_columns)) s.n = first;
    out->n_rows += s.n > first;
  }
  out->cells = s.cells;
  if (tf_diags_errors(d) == errors) check_names(out, d);
  return tf_diags_errors(d) == errors;
}

void plot_table_free(plot_table *t) {
  free(t->cells);
  free(t->texts);
  *t = (plot_table){0};
}

const plot_cell *plot_cell_at(const plot_table *t, int row, int column) {
  return &t->cells[(size_t)(row + 1) * (size_t)t->n_columns + (size_t)column];
}

int plot_column(const plot_table *t, const char *name, tf_diags *d) {
  cli_nearest near = cli_nearest_to(name);
  for (int i = 0; i < t->n_columns; i++) {
    if (!strcmp(t->cells[i].text, name)) return i;
    cli_nearest_offer(&near, t->cells[i].text);
  }
  if (!d) return -1;
  tf_loc at = t->cells[0].at;
  if (near.best)
    tf_fail(d, at, TF_E_NAME, "no column '%.60s', did you mean '%.60s'?", name, near.best);
  else
    tf_fail(d, at, TF_E_NAME, "no column '%.60s'", name);
  return -1;
}

bool plot_number(const plot_table *t, int row, int column, double *out, tf_diags *d) {
  const plot_cell *c = plot_cell_at(t, row, column);
  char *end;
  *out = NAN;
  if (!*c->text) return true;
  if (!strcmp(c->text, "true") || !strcmp(c->text, "false")) {
    *out = c->text[0] == 't';
    return true;
  }
  *out = strtod(c->text, &end);
  if (!*end && isfinite(*out))
    return plot_can_draw(*out) ||
           tf_fail(d, c->at, TF_E_RANGE, "no figure shows numbers like %.40s", c->text);
  return tf_fail(d, c->at, TF_E_TYPE, "column '%.60s' needs numbers, not '%.40s'",
                 t->cells[column].text, c->text);
}
